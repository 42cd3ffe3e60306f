"""JUnit: what the run as a whole adds to the XML that pytest writes."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gta.benchmark.results import RunResult


def run_properties(result: RunResult) -> Iterator[tuple[str, str]]:
    """Yield the properties of the test suite element: metrics, and what they were measured on, as plain texts."""
    run, summary = result.run, result.summary
    yield "gta_dataset", run["dataset"]["name"]
    yield "gta_dataset_sha256", run["dataset"]["sha256"]
    yield "gta_agent", run["agent"]["label"]
    yield "gta_model", run["agent"]["model"] or ""
    yield "gta_judge_model", run["judge"]["model"]
    yield "gta_judge_prompt_version", run["judge"]["prompt_version"]
    yield "gta_version", run["pytest_gta_version"]
    yield "gta_threshold", f"{run['threshold']:g}"
    for name in ("tasks", "graded", "unscored", "errors", "not_run"):
        yield f"gta_{name}", str(summary[name])
    for name in ("root_score", "root_sr", "leaf_sr", "tool_sr"):
        yield f"gta_{name}", _number(summary[name])
    for k, value in summary["root_sr_at"].items():
        yield f"gta_root_sr_at_{k}", _number(value)
    for who, cost in summary["cost_usd"].items():
        yield f"gta_{who}_cost_usd", "unknown" if cost is None else f"{cost:.6f}"
    yield "gta_verdict", result.gate.verdict


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.4f}"
