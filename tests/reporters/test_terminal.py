from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.results import JudgeRecord, RunResult, TaskStatus
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.benchmark.usage import Tokens, Usage
from pytest_gta.reporters.outcome import GateLimits, Measured, judge_run, over_agents
from pytest_gta.reporters.terminal import header_lines, headline, lines_of, shown_path, write_summary
from tests.domain import a_run, an_agent, by_id, graded, inner, leaf, not_graded, scored

LIMITS = GateLimits(None, None, 0, 7)


def lines(run: RunResult, **options: Any) -> list[str]:
    outcome = judge_run(run.summary, LIMITS)
    parts = [Measured("", run, outcome)]
    return [line.text for line in lines_of(parts, outcome, [Path("run/results.json")], **options)]


MIXED = (
    graded("1", 9.25),
    graded("2", 4.0, category="creative_design", analysis="The poster has no date. " * 20),
    not_graded("3", TaskStatus.UNSCORED, (2, 8), error="2 of 9 leaves have no score (judge_error: timed out)"),
    not_graded("4", TaskStatus.NOT_RUN),
)


def test_the_whole_summary() -> None:
    assert lines(a_run(*MIXED)) == [
        "Root SR@7 50.0 % [9.5, 90.5]  (1 of 2 graded tasks)",
        "Root Score 6.62 / 10 [4.00, 9.25]  Leaf SR 50.0 %  Tool SR -",
        "1 task unscored, 1 task not run; Root SR between 25.0 and 75.0 %",
        "",
        "category             tasks    Root SR  Root Score   Leaf SR",
        "creative_design          1      0.0 %        4.00     0.0 %",
        "planning                 3    100.0 %        9.25   100.0 %",
        "",
        "Look at first",
        "      -  planning_3  2 of 9 leaves have no score (judge_error: timed out)",
        "   4.00  creative_design_2  cp1: The poster has no date. The poster has no ...",
        "",
        "Agent    $0.50, 1,800 tokens in (600 cached), 240 out, 24 s in all",
        "Judge    $0.0200, 200 tokens in, 20 out, 2 calls",
        "Time     1 min 35 s",
        "Reports  run/results.json",
        "FAIL (exit 1): 1 of 2 graded tasks below 7 points",
    ]


def test_the_table_by_capability_is_shown_when_more_is_wanted() -> None:
    tasks = (
        graded("1", 9.0, capabilities=("perception", "logic"), capability_basis="stated"),
        graded("2", 4.0, capabilities=("logic",), capability_basis="inferred"),
        graded("3", 5.0, capabilities=("creativity",), capability_basis="inferred"),
    )
    text = lines(a_run(*tasks), verbose=True)
    start = text.index("capability           tasks    Root SR  Root Score   Leaf SR")
    assert text[start + 1 : start + 5] == [
        "perception               1    100.0 %        9.00   100.0 %",
        "logic                    2     50.0 %        6.50    50.0 %  1 of 2 inferred",
        "creativity               1      0.0 %        5.00     0.0 %  inferred",
        "",
    ]
    assert not any(line.startswith("capability") for line in lines(a_run(*tasks)))
    old = a_run(*tasks)
    del old.summary["by_capability"]
    assert not any(line.startswith("capability") for line in lines(old, verbose=True))


def test_quiet_is_headline_and_meaning() -> None:
    assert lines(a_run(graded("1", 9)), quiet=True) == [
        "Root SR@7 100.0 % [20.7, 100.0]  (1 of 1 graded task)",
        "Root Score 9.00 / 10   Leaf SR 100.0 %  Tool SR -",
        "PASS (exit 0): the graded task reaches 7 points",
    ]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lines_fit_the_terminal(width: int) -> None:
    large = Usage(calls=99999, tokens=Tokens(input=2 * 10**6, cached=10**6, output=10**5), cost_usd=4.5)
    tasks = [
        graded(str(n), n % 10, analysis="long words " * 50, agent=an_agent(usage=large), judge=JudgeRecord(usage=large))
        for n in range(30)
    ]
    for text in lines(a_run(*tasks), width=width)[3:-1]:
        assert len(text) < max(width, 80), text


def test_what_is_shown_first_is_bounded_and_the_rest_is_counted() -> None:
    tasks = [graded(str(n), 1 + n / 10) for n in range(9)]
    text = lines(a_run(*tasks))
    start = text.index("Look at first")
    assert [line.split()[1] for line in text[start + 1 : start + 6]] == [f"planning_{n}" for n in range(5)]
    assert text[start + 6] == "         and 4 more"


def test_a_reason_that_begins_with_a_long_path_is_not_all_left_out() -> None:
    path = "/home/someone/projects/agent/.gta/runs/20260301-100000-tools/tasks/planning_1/workspace"
    text = lines(a_run(not_graded("1", TaskStatus.ERROR, error=f"{path} cannot be written: No space left on device")))
    (line,) = [line for line in text if "planning_1  " in line]
    assert line == "      -  planning_1  /home/so...anning_1/workspace cannot be written: No ..."


def test_the_leaf_named_is_the_one_that_took_most_from_the_root() -> None:
    nodes = (inner("a", 9, leaf("a-1", 1), leaf("a-2", 1)), inner("b", 1, leaf("b-1", 5)))
    verdicts = (scored("a-1", 5, "half of it"), scored("a-2", 9), scored("b-1", 0, "none of it"))
    tree = score_tree(nodes, by_id(*verdicts))
    text = lines(a_run(graded("1", tree.score or 0, root_score=tree.score, checkpoints=tree.checkpoints)))
    assert "   6.30  planning_1  a-1: half of it" in text


def test_nothing_graded_is_dashes_and_not_zeros() -> None:
    run = a_run(not_graded("1", TaskStatus.ERROR, error="input missing"))
    assert headline(run.summary, 7) == [
        "Root SR@7 -   (0 of 0 graded tasks)",
        "Root Score - / 10   Leaf SR -  Tool SR -",
        "1 task in error; Root SR between 0.0 and 100.0 %",
    ]


def test_unknown_costs_and_times_are_said_to_be_unknown() -> None:
    unknown = Usage(calls=1, cost_usd=None)
    run = a_run(graded("1", 9, agent=an_agent(usage=unknown), judge=JudgeRecord(usage=unknown, cached_leaves=3)))
    run.summary["wall_s"] = None
    text = "\n".join(lines(run))
    assert "Agent    usage not told, " in text
    assert "Judge    cost unknown, 0 tokens in, 0 out, 1 call, 3 leaves reused" in text
    assert "Time     unknown" in text


class _Reporter:
    """Stands for pytest's terminal reporter."""

    def __init__(self, verbosity: int) -> None:
        self.written: list[tuple[str, dict[str, bool]]] = []
        self.config = self
        self._verbosity = verbosity
        self.fullwidth = 80

    def get_verbosity(self) -> int:
        return self._verbosity

    def get_terminal_writer(self) -> _Reporter:
        return self

    def write_sep(self, sep: str, title: str, **marks: bool) -> None:
        self.written.append((f"{sep} {title}", marks))

    def write_line(self, text: str, **marks: bool) -> None:
        self.written.append((text, marks))


@pytest.mark.parametrize("verbosity", [-1, 0])
def test_pytest_writes_the_same_lines_with_marks(verbosity: int) -> None:
    run = a_run(*MIXED)
    reporter = _Reporter(verbosity)
    outcome = judge_run(run.summary, LIMITS)
    write_summary(reporter, [Measured("", run, outcome)], outcome, [Path("run/results.json")])
    assert [text for text, _ in reporter.written] == ["= GTA-Workflow", *lines(run, quiet=verbosity < 0)]
    assert reporter.written[1][1] == {"bold": True}
    assert reporter.written[-1][1] == {"bold": True, "red": True}


@pytest.mark.parametrize(
    ("tasks", "colour"),
    [([graded("1", 9)], "green"), ([graded("1", 2)], "red"), ([not_graded("1", TaskStatus.ERROR)], "yellow")],
)
def test_the_last_line_has_the_colour_of_its_meaning(tasks: list[Any], colour: str) -> None:
    run = a_run(*tasks)
    outcome = judge_run(run.summary, LIMITS)
    *_, last = lines_of([Measured("", run, outcome)], outcome, [])
    assert last.marks == ("bold", colour)


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (
            80,
            [
                "FAIL (exit 1): claude: 1 of 1 graded task below 7 points",
                "               codex: 2 of 2 graded tasks below 7 points",
            ],
        ),
        (120, ["FAIL (exit 1): claude: 1 of 1 graded task below 7 points; codex: 2 of 2 graded tasks below 7 points"]),
    ],
)
def test_what_several_agents_come_to_fits_the_terminal(width: int, expected: list[str]) -> None:
    runs = {"claude": a_run(graded("1", 2)), "codex": a_run(graded("1", 2), graded("2", 2))}
    measured = [Measured(label, run, judge_run(run.summary, LIMITS)) for label, run in runs.items()]
    outcome = over_agents({one.label: one.outcome for one in measured}, gated=False)
    last = list(lines_of(measured, outcome, [], width=width, quiet=True))[-len(expected) :]
    assert [line.text for line in last] == expected
    assert {line.marks for line in last} == {("bold", "red")}


def test_a_path_is_shown_as_it_can_be_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    assert shown_path(tmp_path / "sub" / "run" / "results.json") == "run/results.json"
    assert shown_path(Path("run/results.json")) == "run/results.json"
    assert shown_path(tmp_path / "run" / "results.json") == str(tmp_path / "run" / "results.json")


@pytest.mark.parametrize(("dataset", "told"), [(None, True), ("mini", False)])
def test_the_header_says_that_the_release_is_not_here_when_nobody_chose(
    tmp_path: Path, dataset: str | None, told: bool
) -> None:
    from pytest_gta.run.lineup import Lineup
    from pytest_gta.settings import resolve

    given = {
        "gta_agent": ["cmd:cat"],
        "gta_dataset": dataset,
        "gta_judge_model": "j",
        "gta_run_dir": str(tmp_path / "r"),
    }
    settings = resolve(given.get, lambda _name: "", {})
    assert settings is not None
    lineup = Lineup(settings, tmp_path, {"GTA_DATA": str(tmp_path), "OPENAI_API_KEY": "k"})
    line = "gta: these are the bundled tasks; pytest-gta fetch workflow brings the release"
    assert (line in header_lines(lineup)) is told
    lineup.close()
