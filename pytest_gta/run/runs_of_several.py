"""Runs of several agents, looked at again: rebuilt from their directory, or the shards of a CI matrix made one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pytest_gta.benchmark.run_directory import RunDirectory, write_atomic
from pytest_gta.reporters.harnesses import write_json, write_page, write_summary
from pytest_gta.reporters.outcome import Measured, Outcome, over_agents
from pytest_gta.run.finished_run import baseline_of
from pytest_gta.run.merging import OF_A_PART, Merged, merge, read_part, write_merged
from pytest_gta.run.run_report import RebuiltRun, rebuild_run
from pytest_gta.run.written_reports import COMPARISON, beside, relative_links
from pytest_gta.settings import SettingsError

GATES = ("fail_under", "fail_under_score", "baseline")
"""Options of a gate over the run."""

Part = TypeVar("Part", RebuiltRun, Merged)


@dataclass(frozen=True, slots=True)
class Several(Generic[Part]):
    """A run of several agents.

    Attributes:
        parts: Each agent's part, by label; without agents that no task was selected for.
        outcome: What the whole means.
        manifest: How it was made.
    """

    parts: Mapping[str, Part]
    outcome: Outcome
    manifest: Mapping[str, object]

    @property
    def measured(self) -> tuple[Measured, ...]:
        """The parts, as reports take them."""
        return tuple(Measured(label, part.result, part.outcome) for label, part in self.parts.items())


def rebuild_agents(folder: Path, *, threshold: str | None = None, baseline: str | None = None) -> Several[RebuiltRun]:
    """Rebuild each agent's part of a run from its directory.

    Args:
        folder: The directory of the whole run.
        threshold: Points from which a task succeeds, as a text; the run's own unless given.
        baseline: A run to hold each against, or its own part of that; the run's own unless given.

    Raises:
        SettingsError: When a part is not a run directory, the threshold is not a number of 0 to 10, or the baseline
            that was given cannot be compared with a part.
    """
    run = RunDirectory(folder)
    rebuilt = {}
    for label in run.agents():
        held = str(_own(baseline, label)) if baseline else None
        rebuilt[label] = rebuild_run(run.of_agent(label).root, threshold=threshold, baseline=held)
    with_tasks = {label: one for label, one in rebuilt.items() if one.result.tasks} or rebuilt
    outcome = over_agents(
        {label: one.outcome for label, one in with_tasks.items()}, gated=any(one.gated for one in with_tasks.values())
    )
    return Several(with_tasks, outcome, run.manifest())


def write_rebuilt(rebuilt: Several[RebuiltRun], folder: Path | None, wanted: Mapping[str, Path]) -> list[Path]:
    """Write each agent's results.json, the table of all, and the reports that are wanted; return what was written.

    Args:
        rebuilt: The run.
        folder: Its directory; None leaves the results there as they are.
        wanted: Where to write ``json``, ``html``, ``junit`` and ``markdown``; what belongs to one agent goes beside.
    """
    measured, outcome = rebuilt.measured, rebuilt.outcome
    files = []
    if folder is not None:
        files = [one.run.write_results(one.result) for one in rebuilt.parts.values()]
        files.append(write_comparison(measured, outcome, folder / COMPARISON))
    if "json" in wanted:
        target = wanted["json"]
        files.extend(one.run.write_results(one.result, beside(target, label)) for label, one in rebuilt.parts.items())
        files.append(write_comparison(measured, outcome, target))
    if "html" in wanted:
        from pytest_gta.reporters.html.page import write_report

        pages = {label: beside(wanted["html"], label) for label in rebuilt.parts}
        files.extend(write_report(one.result, one.run, pages[label]) for label, one in rebuilt.parts.items())
        files.append(write_page(measured, outcome, wanted["html"], relative_links(wanted["html"], pages)))
    if "junit" in wanted:
        from pytest_gta.reporters.junit import junit_of_several

        gated = any(one.gated for one in rebuilt.parts.values())
        write_atomic(wanted["junit"], junit_of_several(measured, gated=gated))
        files.append(wanted["junit"])
    if "markdown" in wanted:
        files.append(write_summary(measured, outcome, wanted["markdown"]))
    return files


def merge_agents(folders: Sequence[Path], overrides: Mapping[str, str]) -> Several[Merged]:
    """Make one run of several agents of its shards: of each agent's parts one.

    Args:
        folders: The directories of the runs.
        overrides: Options of the gate, by key, that replace those of the runs.

    Raises:
        SettingsError: When they were not made alike.
    """
    runs = [RunDirectory(folder) for folder in folders]
    labels = runs[0].agents()
    for run in runs:
        if run.agents() != labels:
            raise SettingsError(
                f"{run.root} has {', '.join(run.agents()) or 'one agent'} and {runs[0].root} "
                f"{', '.join(labels) or 'one agent'}: merge runs of the same agents"
            )
    merged = {}
    for label in labels:
        own = dict(overrides)
        if "baseline" in own:
            own["baseline"] = str(_own(own["baseline"], label))
        try:
            merged[label] = merge([read_part(run.of_agent(label).root) for run in runs], own)
        except SettingsError as error:
            raise SettingsError(f"agent {label}: {error}") from None
    gated = any(key in one.options for one in merged.values() for key in GATES)
    outcome = over_agents({label: one.outcome for label, one in merged.items()}, gated=gated)
    first = runs[0].manifest()
    options = {key: text for key, text in dict(first.get("options") or {}).items() if key not in OF_A_PART}
    return Several(merged, outcome, {**first, "shard": None, "options": options | dict(overrides)})


def _own(baseline: str, label: str) -> Path:
    return baseline_of(Path(baseline).expanduser().absolute(), label)


def write_agents(merged: Several[Merged], root: Path) -> list[Path]:
    """Write a merged run of several agents as a run directory, and return its results and its table.

    Raises:
        SettingsError: When there is something already.
    """
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise SettingsError(f"-o {root}: there is something already; name another directory")
    run = RunDirectory(root)
    run.write_manifest({**merged.manifest, "id": root.name})
    files = [write_merged(one, run.of_agent(label).root) for label, one in merged.parts.items()]
    return [*files, write_comparison(merged.measured, merged.outcome, root / COMPARISON)]


def write_comparison(measured: Sequence[Measured], outcome: Outcome, target: Path) -> Path:
    """Write the table of the agents as JSON and return where; how long the whole took is not known any more."""
    return write_json(measured, outcome, target, wall_s=None)
