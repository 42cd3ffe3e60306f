"""What a run means: the gate's verdict, the last line and the exit code, all from one function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_gta.benchmark.metrics import percent
from pytest_gta.benchmark.results import Gate
from pytest_gta.reporters.wording import told_apart

EXIT_OK, EXIT_FAILED, EXIT_NOTHING_MEASURED, EXIT_INCONCLUSIVE = 0, 1, 5, 10


@dataclass(frozen=True, slots=True)
class GateLimits:
    """What the run has to reach.

    Attributes:
        fail_under: Root SR in percent, None for no such gate.
        fail_under_score: Mean Root Score in points, None for no such gate.
        max_error_rate: Percentage of tasks that may be without a score.
        threshold: Points from which a task succeeds.
    """

    fail_under: float | None
    fail_under_score: float | None
    max_error_rate: float
    threshold: float

    @property
    def gated(self) -> bool:
        """Whether the run as a whole is gated, rather than each task."""
        return self.fail_under is not None or self.fail_under_score is not None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The meaning of a run.

    Attributes:
        gate: The verdict and its reasons.
        exit_code: 0 fine, 1 below threshold or gate, 5 nothing measured, 10 inconclusive.
        line: The last line of the terminal summary, which says the same in words.
    """

    gate: Gate
    exit_code: int
    line: str


def judge_run(summary: Mapping[str, Any], limits: GateLimits, other_failures: int = 0) -> Outcome:
    """Return the outcome of a run.

    A failure that no missing score could turn is a failure; else too many missing scores make it inconclusive.

    Args:
        summary: The run's summary (`pytest_gta.benchmark.metrics.summarize`).
        limits: The gate.
        other_failures: Tests of the same session that failed for reasons of their own.
    """
    code, reasons = _code(summary, limits)
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
    return Outcome(Gate(verdict=verdict if limits.gated or code > EXIT_FAILED else "none", reasons=reasons), code, line)


def _code(summary: Mapping[str, Any], limits: GateLimits) -> tuple[int, tuple[str, ...]]:
    missing = summary["unscored"] + summary["errors"] + summary["not_run"]
    if summary["graded"] == 0:
        if missing == 0:
            return EXIT_NOTHING_MEASURED, ("no task was selected",)
        return EXIT_INCONCLUSIVE, (f"none of {summary['tasks']} tasks has a score",)
    failures = _failures(summary, limits)
    certain = [reason for reason, is_certain in failures if is_certain]
    if certain:
        return EXIT_FAILED, tuple(certain)
    rate = percent(missing, summary["tasks"]) or 0.0
    if rate > limits.max_error_rate:
        parts = (("unscored", summary["unscored"]), ("in error", summary["errors"]), ("not run", summary["not_run"]))
        detail = ", ".join(f"{count} {name}" for name, count in parts if count)
        return EXIT_INCONCLUSIVE, (
            f"{missing} of {summary['tasks']} tasks without a score ({detail}), {limits.max_error_rate:g} % allowed",
        )
    if failures:
        return EXIT_FAILED, tuple(reason for reason, _ in failures)
    return EXIT_OK, (_success(summary, limits),)


def _failures(summary: Mapping[str, Any], limits: GateLimits) -> list[tuple[str, bool]]:
    """Return what is below its limit, each with whether it stays so whatever the missing scores would be."""
    found: list[tuple[str, bool]] = []
    below = summary["graded"] - summary["succeeded"]
    if not limits.gated and below:
        found.append((f"{below} of {summary['graded']} graded tasks below {limits.threshold:g} points", True))
    if limits.fail_under is not None and summary["root_sr"] < limits.fail_under:
        certain = summary["root_sr_bounds"][1] < limits.fail_under
        found.append(
            (f"Root SR {told_apart(summary['root_sr'], limits.fail_under, 1)} % < {limits.fail_under:g} %", certain)
        )
    if limits.fail_under_score is not None and summary["root_score"] < limits.fail_under_score:
        certain = summary["root_score_bounds"][1] < limits.fail_under_score
        score = told_apart(summary["root_score"], limits.fail_under_score)
        found.append((f"Root Score {score} < {limits.fail_under_score:g}", certain))
    return found


def _success(summary: Mapping[str, Any], limits: GateLimits) -> str:
    if not limits.gated:
        return f"all {summary['graded']} graded tasks reach {limits.threshold:g} points"
    reached = []
    if limits.fail_under is not None:
        reached.append(f"Root SR {summary['root_sr']:.1f} % >= {limits.fail_under:g} %")
    if limits.fail_under_score is not None:
        reached.append(f"Root Score {summary['root_score']:.2f} >= {limits.fail_under_score:g}")
    return "; ".join(reached)
