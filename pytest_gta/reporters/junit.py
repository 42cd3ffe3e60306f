"""JUnit: what a run adds to the XML that pytest writes, and the same XML for a run that pytest could not finish."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence

from pytest_gta.benchmark.results import RunResult, TaskResult, TaskStatus
from pytest_gta.reporters.outcome import Measured
from pytest_gta.reporters.score_sheet import headline, score_sheet

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def run_properties(result: RunResult, label: str = "") -> Iterator[tuple[str, str]]:
    """Yield the properties of the test suite element: metrics, and what they were measured on, as plain texts.

    Args:
        result: The run.
        label: Which agent of several it is of: ``gta_root_sr`` is ``gta_<label>_root_sr`` then.
    """
    for name, value in _run_properties(result):
        yield (name.replace("gta_", f"gta_{label}_", 1) if label else name), value


def _run_properties(result: RunResult) -> Iterator[tuple[str, str]]:
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
    if feedback := summary.get("feedback"):
        yield "gta_feedback", feedback["mode"]
        yield "gta_feedback_tasks", str(feedback["tasks"])
        for name in ("root_score", "root_sr"):
            yield f"gta_feedback_{name}", _number(feedback[name]["after"])
            yield f"gta_feedback_{name}_gain", _number(feedback[name]["gain"])
    yield "gta_verdict", result.gate.verdict


def _number(value: float | None) -> str:
    return "not measured" if value is None else f"{value:.4f}"


def task_properties(result: TaskResult) -> Iterator[tuple[str, str]]:
    """Yield the properties of a task's test case, as plain texts."""
    yield "gta_status", result.status.value
    if result.root_score is not None:
        yield "gta_root_score", f"{result.root_score:.4f}"
    else:
        yield "gta_root_bounds", f"{result.root_bounds[0]:.4f}..{result.root_bounds[1]:.4f}"
    for leaf in result.leaves():
        yield f"gta_leaf_{leaf.id}", leaf.status if leaf.score is None else f"{leaf.score:g}"
    if result.agent:
        yield "gta_stop_reason", result.agent.stop_reason.value
        yield "gta_agent_cost_usd", _money(result.agent.usage.cost_usd)
        yield "gta_judge_cost_usd", _money(result.judge.usage.cost_usd)
    if result.feedback:
        yield "gta_feedback_status", "carried_over" if result.feedback.carried_over else result.feedback.status.value
        yield "gta_feedback_root_score", _number(result.feedback.root_score)


def junit_xml(result: RunResult, *, gated: bool) -> str:
    """Return a run as JUnit XML: one test case a task, ``failure`` below the threshold, ``error`` without a score.

    Args:
        result: The run.
        gated: Whether a gate over the run decides, so that a low score fails no test case.
    """
    return _document([_suite(result, "pytest", gated)])


def junit_of_several(measured: Sequence[Measured], *, gated: bool) -> str:
    """Return a run of several agents as JUnit XML: a suite of test cases for each."""
    return _document([_suite(one.result, one.label, gated) for one in measured])


def _document(suites: Sequence[ElementTree.Element]) -> str:
    root = ElementTree.Element("testsuites")
    root.extend(suites)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(result: RunResult, name: str, gated: bool) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name=name)
    _add_properties(suite, run_properties(result))
    for task in result.tasks:
        _add_case(suite, task, float(result.run["threshold"]), gated)
    for count, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("tests", str(len(result.tasks)))
    suite.set("timestamp", str(result.run.get("started_at") or ""))
    return suite


def _add_case(suite: ElementTree.Element, task: TaskResult, threshold: float, gated: bool) -> None:
    path, _, name = task.nodeid.partition("::")
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=_legal(path.removesuffix(".py").replace("/", ".") or "gta"),
        name=_legal(name or task.run_key),
        time=f"{(task.agent.wall_s if task.agent else 0.0) + task.judge.wall_s:.3f}",
    )
    _add_properties(case, task_properties(task))
    if task.status is TaskStatus.NOT_RUN:
        ElementTree.SubElement(case, "skipped", message=_legal(task.error or "not run"))
    elif task.status is not TaskStatus.GRADED:
        error = ElementTree.SubElement(case, "error", message=_legal(task.error or task.status.value))
        error.text = _legal(score_sheet(task, threshold))
    elif not task.success and not gated:
        failure = ElementTree.SubElement(case, "failure", message=headline(task, threshold))
        failure.text = _legal(score_sheet(task, threshold, lost_only=True))


def _add_properties(parent: ElementTree.Element, properties: Iterable[tuple[str, str]]) -> None:
    holder = ElementTree.SubElement(parent, "properties")
    for name, value in properties:
        ElementTree.SubElement(holder, "property", name=_legal(name), value=_legal(value))


def _legal(text: str) -> str:
    """Return `text` with what XML cannot hold written out, as pytest does."""
    return _NOT_XML.sub(lambda found: f"#x{ord(found[0]):02X}", text)


def _money(amount: float | None) -> str:
    return "unknown" if amount is None else f"{amount:.6f}"
