"""The options of a run. One table drives the command line, the ini file, the environment, ``--help`` and the docs.

An option ``--gta-x`` has the ini twin ``gta_x`` and the environment twin ``GTA_X``; the command line wins over the
environment, that over the ini file, that over the default. A resumed run goes on with the options it was started with;
only the command line wins over those. Everything is resolved once, into a frozen `Settings`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_gta.agents.specification import MODEL_KINDS, split_name
from pytest_gta.judge_address import JudgeAddress
from pytest_gta.option import Option
from pytest_gta.option_values import ATOMIC, HiddenValue
from pytest_gta.options import OPTIONS

NOT_RESUMED = ("estimate", "run_dir", "resume", "rejudge")
"""Options that are about one session of a run rather than about the run."""

_RESUME = next(option for option in OPTIONS if option.key == "resume")

LOCAL_MODEL = "local"
"""The name by which the bundled small model is asked for."""

ANSWER_KEY = "answer-key"
"""What is named as the judge where replies are compared with the dataset's own answers, and no model judges."""


class SettingsError(Exception):
    """A value the user has to change: the message names the option, the reason and the valid values."""


class NothingSelected(Exception):
    """Options that are right, each for itself, and together leave no task: nothing to measure."""


@dataclass(frozen=True, slots=True)
class Settings:
    """A run's options, resolved and checked. Paths are absolute.

    The meaning of each field is the help text of its option in `OPTIONS`. Of a run of several agents `agent` and
    `model` have one a line; `pytest_gta.run.lineup` gives each agent settings of its own.
    """

    model: str | None
    base_url: str | None
    agent: str
    max_turns: int
    task_timeout: float
    tool_timeout: float
    feedback: str
    repeat: int
    dataset: tuple[str, ...]
    task: tuple[str, ...]
    category: tuple[str, ...]
    limit: int | None
    shard: tuple[int, int] | None
    vision_model: str | None
    vision_base_url: str | None
    speech_model: str | None
    speech_base_url: str | None
    image_model: str | None
    image_base_url: str | None
    search_backend: str | None
    search_url: str | None
    search_record: Path | None
    search_replay: Path | None
    judge_model: str
    judge_base_url: str | None
    judge_samples: int
    judge_panel: tuple[JudgeAddress, ...]
    judge_api: str
    judge_concurrency: int
    cache: Path | None
    render: str
    threshold: float
    fail_under: float | None
    fail_under_score: float | None
    baseline: Path | None
    max_error_rate: float
    max_cost: float | None
    max_tokens: int | None
    estimate: bool
    run_dir: Path | None
    resume: Path | None
    rejudge: str | None
    sandbox: str
    json: Path | None
    report: Path | str | None
    markdown: Path | None
    given: tuple[tuple[str, str], ...] = ()
    """What was set, by key, as it would be written on the command line: what a resumed run goes on with."""

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents, as they were given."""
        return tuple(self.agent.splitlines())

    @property
    def models(self) -> tuple[str, ...]:
        """The models under test; empty when none is named."""
        return tuple((self.model or "").splitlines())

    @property
    def gated(self) -> bool:
        """Whether a gate over the whole run decides, rather than each task for itself."""
        return any(limit is not None for limit in (self.fail_under, self.fail_under_score, self.baseline))

    @property
    def judges(self) -> tuple[JudgeAddress, ...]:
        """Which models judge: the panel, or the one judge, or none."""
        if self.judge_model == ANSWER_KEY:
            return ()
        return self.judge_panel or (JudgeAddress(self.judge_model),)

    @property
    def uses_local_model(self) -> bool:
        """Whether the agent or the judge runs on the bundled small model."""
        return LOCAL_MODEL in (*self.models, self.judge_model)


Given = str | Sequence[str] | None
"""What an option was set to: a text, or the texts of one that may be given several times."""


def resolve(
    command_line: Callable[[str], Given],
    ini: Callable[[str], Given],
    environment: Mapping[str, str] = os.environ,
    *,
    folder: Path | None = None,
) -> Settings | None:
    """Resolve all options, or return None when neither a model nor an agent is chosen (the plugin is then inert).

    Args:
        command_line: Gives the value of an option by its ini name, None when it was not given; a list of values when
            it was given several times.
        ini: Gives the ini value by the same name, empty when there is none.
        environment: The environment variables.
        folder: What relative paths in the ini file and in defaults start from: pytest's root. Those of the command line
            and the environment start from the current folder, as do all without it.

    Raises:
        SettingsError: On the first value that is not usable.
    """
    root = folder or Path.cwd()

    def look_up(option: Option) -> tuple[str, str] | None:
        found = _given(option, command_line, earlier, ini, environment)
        return found and (found[0], _placed(option, found[1], root if found[0] == option.ini else Path.cwd()))

    earlier: dict[str, str] = {}
    resumed = look_up(_RESUME)
    if resumed:
        earlier = _options_of(_parse(_RESUME, *resumed))
    given = {option.key: found for option in OPTIONS if (found := look_up(option))}
    if not resumed and not any(option.key in given for option in OPTIONS if option.activates):
        return None
    values: dict[str, Any] = {}
    for option in OPTIONS:
        found = given.get(option.key)
        if found is None and option.default is not None:
            found = (option.flag, _placed(option, option.default, root))
        values[option.key] = None if found is None else _parse(option, *found)
    values["judge_panel"] = values["judge_panel"] or ()
    values["dataset"] = values["dataset"] or ()
    if values["judge_panel"]:
        values["judge_model"] = " + ".join(address.name for address in values["judge_panel"])
    if ATOMIC in values["dataset"]:
        values["judge_model"], values["judge_panel"] = ANSWER_KEY, ()
    if values["judge_model"] is None:
        # All agents are judged alike: by the bundled model only when it is all there is.
        values["judge_model"] = LOCAL_MODEL if values["model"] == LOCAL_MODEL else "gpt-5.2"
    texts = {key: text for key, (_, text) in given.items() if key not in NOT_RESUMED}
    settings = Settings(**values, given=tuple(texts.items()))
    _check_together(settings)
    return settings


def _options_of(run: Path) -> dict[str, str]:
    """Return the options an earlier run was started with."""
    try:
        options = json.loads((run / "run.json").read_text("utf-8"))["options"]
        return {str(key): str(text) for key, text in options.items()}
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        raise SettingsError(f"--gta-resume: {run} is not a run directory (it has no readable run.json)") from None


def _given(
    option: Option,
    command_line: Callable[[str], Given],
    earlier: Mapping[str, str],
    ini: Callable[[str], Given],
    environment: Mapping[str, str],
) -> tuple[str, str] | None:
    """Return where the option was set and the text it was set to; an empty text counts as not set."""
    given = command_line(option.ini)
    if given is not None:
        return option.flag, _text(option, given)
    if option.key in earlier:
        return f"{option.key} in run.json", earlier[option.key]
    for variable in (option.variable, *option.environment):
        if environment.get(variable, "").strip():
            return variable, environment[variable]
    text = _text(option, ini(option.ini))
    return (option.ini, text) if text.strip() else None


def _placed(option: Option, text: str, folder: Path) -> str:
    """Return the text of an option so that it means the same from another folder."""
    return option.place(text, folder) if option.place else text


def _text(option: Option, given: Given) -> str:
    return given if isinstance(given, str) else option.joined_by.join(given or ())


def _parse(option: Option, source: str, text: str) -> Any:
    try:
        return option.parse(text)
    except HiddenValue as error:
        raise SettingsError(f"{source} {error}") from None
    except ValueError as error:
        raise SettingsError(f"{source}: {text!r} {error}") from None


def _check_together(settings: Settings) -> None:
    if ATOMIC in settings.dataset and len(settings.dataset) > 1:
        raise SettingsError(f"--gta-dataset={ATOMIC}: its questions are scored by their answers; run it by itself")
    for agent in settings.agents:
        if settings.model is None and split_name(agent)[1] in MODEL_KINDS:
            raise SettingsError(
                f"--gta-agent={agent} needs a model: add --gta-model=NAME (or --gta-model=local, no key needed)"
            )
    if settings.rejudge and not settings.resume:
        raise SettingsError("--gta-rejudge needs the run to judge again: add --gta-resume=DIR")
    if settings.resume and settings.run_dir:
        raise SettingsError("--gta-run-dir and --gta-resume name two places for one run: leave one of them out")
