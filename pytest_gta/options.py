"""The table of options: what can be set, and what ``--help`` and the docs say of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_gta import option_values as values
from pytest_gta.agents import specification
from pytest_gta.judge_address import panel


@dataclass(frozen=True, slots=True)
class Option:
    """One row of the options table.

    Attributes:
        key: The field of `Settings`; ``--gta-key``, ``gta_key`` and ``GTA_KEY`` are made from it.
        group: The heading it is documented under.
        metavar: How ``--help`` writes the value; "" for a switch, which has none on the command line.
        help: What it does, in the imperative, without the default.
        parse: Makes a text into a value; raises ValueError with a clause that follows the text ("is not ...").
        default: The text of the default, None when there is none.
        shown_default: How to write the default in the docs when it is not a plain text.
        environment: Further environment variables that are looked at after ``GTA_KEY``, in this order.
        activates: Whether setting it makes the plugin active.
        joined_by: What joins its values when it may be given several times on the command line; "" when it may not.
            With a line break there is one value a line in the ini file and the environment.
        place: Makes relative paths in the text absolute, from a folder; None when it names none.
    """

    key: str
    group: str
    metavar: str
    help: str
    parse: values.Parser
    default: str | None = None
    shown_default: str = ""
    environment: tuple[str, ...] = ()
    activates: bool = False
    joined_by: str = ""
    place: Callable[[str, Path], str] | None = None

    @property
    def flag(self) -> str:
        """The command line option."""
        return "--gta-" + self.key.replace("_", "-")

    @property
    def ini(self) -> str:
        """The ini twin; also the name under which pytest keeps the command line value."""
        return "gta_" + self.key

    @property
    def variable(self) -> str:
        """The environment twin."""
        return "GTA_" + self.key.upper()


OPTIONS: tuple[Option, ...] = (
    Option(
        "model",
        "agent",
        "NAME",
        "Name the model under test; 'local' is the bundled small model (no key needed). May be given several times: "
        "each agent is measured with each.",
        values.lines,
        activates=True,
        joined_by="\n",
    ),
    Option(
        "base_url",
        "agent",
        "URL",
        "Send the model's requests to this OpenAI-compatible server.",
        values.address,
        environment=("OPENAI_BASE_URL",),
        shown_default="OpenAI",
    ),
    Option(
        "agent",
        "agent",
        "SPEC",
        "Choose the agent: tools (native tool calls), react (plain text), import:pkg.mod:name (your own), cmd:COMMAND "
        "(any program), http:URL, fixture (of your conftest.py), outputs:DIR or pack:FILE (finished work). NAME=SPEC "
        "names it. May be given several times: every task is given to each.",
        values.lines,
        "tools",
        activates=True,
        joined_by="\n",
        place=specification.placed,
    ),
    Option(
        "max_turns",
        "agent",
        "N",
        "End the agent after this many model turns of one task.",
        values.whole_number(1),
        "50",
        "50; 10 for react",
    ),
    Option(
        "task_timeout",
        "agent",
        "S",
        "End the agent after this many seconds on one task.",
        values.number(0, math.inf, above=True),
        "1800",
    ),
    Option(
        "tool_timeout",
        "agent",
        "S",
        "End a tool call after this many seconds.",
        values.number(0, math.inf, above=True),
        "120",
    ),
    Option(
        "feedback",
        "agent",
        "none|coarse|checkpoint",
        "Tell the agent how its work was judged (one remark, or the reasons of the leaves that failed), let it go on, "
        "and judge it again; the first attempt is the one that counts.",
        values.choice("none", "coarse", "checkpoint"),
        "none",
    ),
    Option("repeat", "agent", "N", "Run each task N times, each time independently.", values.whole_number(1), "1"),
    Option(
        "dataset",
        "tasks",
        "NAME|PATH",
        "Take the tasks from mini (bundled), workflow or atomic (fetched), a folder or zip in their shape, or YAML "
        "tasks of your own (a folder or a file). Give several separated by commas, or the option several times.",
        values.datasets,
        shown_default="workflow if it has been fetched, else mini",
        joined_by=",",
        place=values.placed_datasets,
    ),
    Option(
        "task", "tasks", "IDS", 'Run only these task ids, separated by commas ("a, b" is one).', values.words, "", "all"
    ),
    Option(
        "category",
        "tasks",
        "SLUGS",
        "Run only tasks of these categories, separated by commas.",
        values.words,
        "",
        "all",
    ),
    Option(
        "limit",
        "tasks",
        "N",
        "Run only the first N of the selected tasks.",
        values.whole_number(1),
        shown_default="all",
    ),
    Option(
        "shard", "tasks", "I/N", "Run only every N-th of the selected tasks, beginning with the I-th.", values.shard
    ),
    Option(
        "vision_model",
        "tools",
        "NAME",
        "Name the model that looks at pictures and films for tools.",
        values.text,
        shown_default="none",
    ),
    Option(
        "vision_base_url",
        "tools",
        "URL",
        "Send its requests to this OpenAI-compatible server.",
        values.address,
        environment=("OPENAI_BASE_URL",),
        shown_default="OpenAI",
    ),
    Option(
        "speech_model",
        "tools",
        "NAME",
        "Name the model that writes down recordings for tools.",
        values.text,
        shown_default="none",
    ),
    Option(
        "speech_base_url",
        "tools",
        "URL",
        "Send its requests to this OpenAI-compatible server.",
        values.address,
        environment=("OPENAI_BASE_URL",),
        shown_default="OpenAI",
    ),
    Option(
        "image_model",
        "tools",
        "NAME",
        "Name the model that makes and changes pictures for tools.",
        values.text,
        shown_default="none",
    ),
    Option(
        "image_base_url",
        "tools",
        "URL",
        "Send its requests to this OpenAI-compatible server.",
        values.address,
        environment=("OPENAI_BASE_URL",),
        shown_default="OpenAI",
    ),
    Option(
        "search_backend",
        "tools",
        "NAME",
        "Search the web with serper, searxng or replay.",
        values.choice("serper", "searxng", "replay"),
        shown_default="the first that is set up",
    ),
    Option(
        "search_url",
        "tools",
        "URL",
        "Search with the SearXNG server at this address.",
        values.address,
    ),
    Option(
        "search_record",
        "tools",
        "FILE",
        "Add every search and what it found to this file.",
        values.path,
        shown_default="searches.jsonl in the run directory",
        place=values.placed,
    ),
    Option(
        "search_replay",
        "tools",
        "FILE",
        "Answer searches from this recorded file, never from the web.",
        values.path,
        place=values.placed,
    ),
    Option(
        "judge_model",
        "judge",
        "NAME",
        "Name the model that judges the leaves.",
        values.text,
        shown_default="gpt-5.2; local when the model under test is local",
        environment=("EVAL_OPENAI_MODEL",),
    ),
    Option(
        "judge_base_url",
        "judge",
        "URL",
        "Send the judge's requests to this OpenAI-compatible server.",
        values.address,
        environment=("EVAL_OPENAI_BASE_URL", "OPENAI_BASE_URL"),
        shown_default="OpenAI",
    ),
    Option(
        "judge_samples",
        "judge",
        "N",
        "Ask the judge N times about each leaf; the median of its scores counts.",
        values.whole_number(1),
        "1",
    ),
    Option(
        "judge_panel",
        "judge",
        "A,B,..",
        "Judge each leaf by several models (NAME, or NAME@URL on another server); the median of their scores counts.",
        panel,
        shown_default="none: one judge",
    ),
    Option(
        "judge_api",
        "judge",
        "auto|responses|chat",
        "Ask by Chat Completions (pictures inline) or Responses (pictures uploaded once a task); auto tries.",
        values.choice("auto", "responses", "chat"),
        "auto",
    ),
    Option(
        "judge_concurrency",
        "judge",
        "N",
        "Keep at most N judge calls in flight, over all workers together.",
        values.whole_number(1),
        "16",
    ),
    Option(
        "cache",
        "judge",
        "DIR|off",
        "Keep verdicts and drawings here and reuse them for unchanged evidence and requirement.",
        values.folder_or_off,
        ".gta/verdicts",
        place=values.placed,
    ),
    Option(
        "render",
        "judge",
        "auto|off",
        "Draw Office files and web pages for the judge with what is installed (LibreOffice, Chromium), or do not.",
        values.choice("auto", "off"),
        "auto",
    ),
    Option(
        "threshold", "score", "X", "Let a task or leaf succeed from this many points of 10.", values.number(0, 10), "7"
    ),
    Option(
        "fail_under",
        "gate",
        "PCT",
        "Fail the run when Root SR is below this percentage; tasks alone do not fail it.",
        values.number(0, 100),
    ),
    Option(
        "fail_under_score",
        "gate",
        "X",
        "Fail the run when the mean Root Score is below this many points; tasks alone do not fail it.",
        values.number(0, 10),
    ),
    Option(
        "baseline",
        "gate",
        "FILE",
        "Fail the run when it is significantly worse than this one (its results.json or directory), task by task.",
        values.path,
        place=values.placed,
    ),
    Option(
        "max_error_rate",
        "gate",
        "PCT",
        "Accept this percentage of tasks without a score before the run counts as inconclusive.",
        values.number(0, 100),
        "0",
    ),
    Option(
        "max_cost",
        "budget",
        "USD",
        "Begin no further task once the run has cost this much, over all workers and resumed sessions.",
        values.number(0, math.inf, above=True),
    ),
    Option(
        "max_tokens",
        "budget",
        "N",
        "Begin no further task once the run has used this many tokens, over all workers and resumed sessions.",
        values.whole_number(1),
    ),
    Option(
        "estimate",
        "budget",
        "",
        "Print what the selected tasks would take in calls, tokens and money, and run nothing.",
        values.switch,
        "off",
    ),
    Option(
        "run_dir",
        "run",
        "DIR",
        "Keep the run's files here.",
        values.path,
        shown_default=".gta/runs/<utc>-<agent>",
        place=values.placed,
    ),
    Option(
        "resume",
        "run",
        "DIR",
        "Go on with the run in this directory: finished agents and leaves are not paid again.",
        values.path,
        activates=True,
        place=values.placed,
    ),
    Option(
        "rejudge",
        "run",
        "failed|all",
        "With --gta-resume: judge again the leaves without a score, or all of them.",
        values.choice("failed", "all"),
        shown_default="failed",
    ),
    Option(
        "sandbox",
        "run",
        "NAME",
        "Confine tools with auto (the strongest that works), sandlock, bwrap, process or off.",
        values.choice("auto", "sandlock", "bwrap", "process", "off"),
        "auto",
    ),
    Option(
        "json",
        "report",
        "FILE",
        "Write results.json here as well as into the run directory.",
        values.path,
        place=values.placed,
    ),
    Option(
        "report",
        "report",
        "FILE|off",
        "Write the report of the run, one HTML page, here.",
        values.file_or_off,
        shown_default="report.html in the run directory",
        place=values.placed,
    ),
    Option(
        "markdown",
        "report",
        "FILE",
        "Write a summary for a pull request here; in GitHub Actions it is added to the job's summary by itself.",
        values.path,
        place=values.placed,
    ),
)
