"""What a run means: the gate's verdict, the last line and the exit code, all from one function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_gta.benchmark.comparison import ChangeVerdict, Comparison
from pytest_gta.benchmark.gate import Gate
from pytest_gta.benchmark.metrics import percent
from pytest_gta.benchmark.results import RunResult
from pytest_gta.reporters.change import reasons as reasons_of_change
from pytest_gta.reporters.wording import points_against, told_apart

EXIT_OK, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_NOTHING_MEASURED, EXIT_INCONCLUSIVE = 0, 1, 2, 5, 10
_WORST_FIRST = (EXIT_FAILED, EXIT_INCONCLUSIVE, EXIT_NOTHING_MEASURED, EXIT_OK)


@dataclass(frozen=True, slots=True)
class GateLimits:
    """What the run has to reach.

    Attributes:
        fail_under: Root SR in percent, None for no such gate.
        fail_under_score: Mean Root Score in points, None for no such gate.
        max_error_rate: Percentage of tasks that may be without a score.
        threshold: Points from which a task succeeds.
        baseline: Whether it has to be no worse than a baseline.
    """

    fail_under: float | None
    fail_under_score: float | None
    max_error_rate: float
    threshold: float
    baseline: bool = False

    @property
    def gated(self) -> bool:
        """Whether the run as a whole is gated, rather than each task."""
        return self.fail_under is not None or self.fail_under_score is not None or self.baseline


@dataclass(frozen=True, slots=True)
class Outcome:
    """The meaning of a run.

    Attributes:
        gate: The verdict and its reasons.
        exit_code: 0 fine, 1 below threshold or gate, 5 nothing measured, 10 inconclusive; else pytest's own.
        line: The last line of the terminal summary, which says the same in words.
    """

    gate: Gate
    exit_code: int
    line: str


def judge_run(
    summary: Mapping[str, Any],
    limits: GateLimits,
    other_failures: int = 0,
    *,
    comparison: Comparison | None = None,
    stopped: str | None = None,
    gap: str | None = None,
) -> Outcome:
    """Return the outcome of a run.

    A failure that no missing score could turn is a failure; else too many missing scores make it inconclusive.

    Args:
        summary: The run's summary (`pytest_gta.benchmark.metrics.summarize`).
        limits: The gate.
        other_failures: Tests of the same session that failed for reasons of their own.
        comparison: The run against its baseline; None when there is none, or no task has a score in both.
        stopped: Why the run was ended before all its tasks had been run; None when it was not.
        gap: What of the run is not there at all, so that nothing can be said of the whole; None when all is.
    """
    code, reasons = _code(summary, limits, comparison, stopped)
    if gap and code != EXIT_NOTHING_MEASURED:
        code, reasons = EXIT_INCONCLUSIVE, (gap, *reasons)
    return _outcome(code, reasons, other_failures, gated=limits.gated, comparison=comparison)


def over_agents(outcomes: Mapping[str, Outcome], other_failures: int = 0, *, gated: bool) -> Outcome:
    """Return the outcome of a run of several agents: a gate holds for each of them, and the worst decides.

    Args:
        outcomes: What each agent's part means, by label.
        other_failures: Tests of the same session that failed for reasons of their own.
        gated: Whether a gate over the run decides.
    """
    worst = next(
        (code for code in _WORST_FIRST if any(outcome.exit_code == code for outcome in outcomes.values())),
        EXIT_NOTHING_MEASURED,
    )
    reasons = [
        f"{label}: {reason}"
        for label, outcome in outcomes.items()
        if outcome.exit_code == worst
        for reason in outcome.gate.reasons
    ]
    return _outcome(worst, tuple(reasons) or ("no task was selected",), other_failures, gated=gated)


def _outcome(
    code: int, reasons: tuple[str, ...], other_failures: int, *, gated: bool, comparison: Comparison | None = None
) -> Outcome:
    if other_failures:
        reasons = (*reasons, f"{other_failures} other test{'s' * (other_failures != 1)} failed")
        code = EXIT_FAILED if code in (EXIT_OK, EXIT_NOTHING_MEASURED) else code
    verdict = {EXIT_OK: "pass", EXIT_FAILED: "fail"}.get(code, "inconclusive")
    words = {
        EXIT_OK: "PASS",
        EXIT_FAILED: "FAIL",
        EXIT_NOTHING_MEASURED: "NOTHING MEASURED",
        EXIT_INCONCLUSIVE: "INCONCLUSIVE",
    }[code]
    line = f"{words} (exit {code}): {'; '.join(reasons)}"
    gate = Gate(
        verdict=verdict if gated or code > EXIT_FAILED else "none",
        reasons=reasons,
        baseline=comparison.as_json() if comparison else None,
    )
    return Outcome(gate, code, line)


@dataclass(frozen=True, slots=True)
class Measured:
    """One agent's part of a run.

    Attributes:
        label: What the run calls the agent; "" when it is the only one.
        result: Its result.
        outcome: What it means by itself.
    """

    label: str
    result: RunResult
    outcome: Outcome


def ended_early(
    outcome: Outcome, exit_code: int, summaries: Sequence[Mapping[str, Any]], run_directory: str
) -> Outcome:
    """Return the outcome of a run that pytest itself ended: by Ctrl-C, by ``pytest.exit`` or by an error of its own.

    Args:
        outcome: What is known would mean by itself.
        exit_code: pytest's, which stays.
        summaries: The summary of each agent's part.
        run_directory: Where to go on.
    """
    not_run, tasks = (sum(summary[key] for summary in summaries) for key in ("not_run", "tasks"))
    word = "INTERRUPTED" if exit_code == EXIT_INTERRUPTED else "ENDED EARLY"
    line = (
        f"{word} (exit {exit_code}): {not_run} of {tasks} {_noun(summaries[0], tasks)} not run; "
        f"go on with --gta-resume={run_directory}"
    )
    return replace(outcome, exit_code=exit_code, line=line)


def _code(
    summary: Mapping[str, Any], limits: GateLimits, comparison: Comparison | None, stopped: str | None
) -> tuple[int, tuple[str, ...]]:
    missing = summary["unscored"] + summary["errors"] + summary["not_run"]
    if summary["graded"] == 0:
        if missing == 0:
            return EXIT_NOTHING_MEASURED, ("no task was selected",)
        why = f"; {stopped}" if stopped else ""
        several = f"none of {summary['tasks']} {_noun(summary, 2)} has a score"
        return EXIT_INCONCLUSIVE, (
            f"{several if summary['tasks'] > 1 else f'the {_noun(summary, 1)} has no score'}{why}",
        )
    failures = [*_failures(summary, limits), *_drops(comparison)]
    certain = [reason for reason, is_certain in failures if is_certain]
    if certain:
        return EXIT_FAILED, tuple(certain)
    rate = percent(missing, summary["tasks"]) or 0.0
    if stopped and summary["not_run"]:
        return EXIT_INCONCLUSIVE, (f"{summary['not_run']} of {_tasks(summary)} not run: {stopped}",)
    if rate > limits.max_error_rate:
        parts = (("unscored", summary["unscored"]), ("in error", summary["errors"]), ("not run", summary["not_run"]))
        detail = ", ".join(f"{count} {name}" for name, count in parts if count)
        return EXIT_INCONCLUSIVE, (
            f"{missing} of {_tasks(summary)} without a score ({detail}), {limits.max_error_rate:g} % allowed",
        )
    if failures:
        return EXIT_FAILED, tuple(reason for reason, _ in failures)
    if limits.baseline and comparison is None:
        return EXIT_INCONCLUSIVE, ("no task has a score in both the baseline and this run",)
    if comparison is not None and comparison.verdict is ChangeVerdict.INCONCLUSIVE:
        return EXIT_INCONCLUSIVE, reasons_of_change(comparison)
    return EXIT_OK, (*_success(summary, limits), *(reasons_of_change(comparison) if comparison else ()))


def _tasks(summary: Mapping[str, Any]) -> str:
    return f"{summary['tasks']} {_noun(summary, summary['tasks'])}"


def _noun(summary: Mapping[str, Any], number: int) -> str:
    return ("run" if summary.get("repeats") else "task") + "s" * (number != 1)


def _drops(comparison: Comparison | None) -> list[tuple[str, bool]]:
    """Return what dropped significantly against the baseline, each with whether missing scores could not turn it."""
    if comparison is None or comparison.verdict is not ChangeVerdict.FAIL:
        return []
    return [(reason, comparison.certain) for reason in reasons_of_change(comparison)]


def _failures(summary: Mapping[str, Any], limits: GateLimits) -> list[tuple[str, bool]]:
    """Return what is below its limit, each with whether it stays so whatever the missing scores would be."""
    found: list[tuple[str, bool]] = []
    below = summary["graded"] - summary["succeeded"]
    if not limits.gated and below:
        graded = summary["graded"]
        found.append((f"{below} of {graded} graded {_noun(summary, graded)} below {limits.threshold:g} points", True))
    if limits.fail_under is not None and summary["root_sr"] < limits.fail_under:
        certain = summary["root_sr_bounds"][1] < limits.fail_under
        found.append(
            (f"Root SR {told_apart(summary['root_sr'], limits.fail_under, 1)} % < {limits.fail_under:g} %", certain)
        )
    if limits.fail_under_score is not None and summary["root_score"] < limits.fail_under_score:
        certain = summary["root_score_bounds"][1] < limits.fail_under_score
        score = points_against(summary["root_score"], limits.fail_under_score)
        found.append((f"Root Score {score} < {limits.fail_under_score:g}", certain))
    return found


def _success(summary: Mapping[str, Any], limits: GateLimits) -> list[str]:
    if not limits.gated:
        graded = summary["graded"]
        several = f"all {graded} graded {_noun(summary, 2)} reach"
        return [f"{several if graded > 1 else f'the graded {_noun(summary, 1)} reaches'} {limits.threshold:g} points"]
    reached = []
    if limits.fail_under is not None:
        reached.append(f"Root SR {summary['root_sr']:.1f} % >= {limits.fail_under:g} %")
    if limits.fail_under_score is not None:
        score = points_against(summary["root_score"], limits.fail_under_score)
        reached.append(f"Root Score {score} >= {limits.fail_under_score:g}")
    return reached
