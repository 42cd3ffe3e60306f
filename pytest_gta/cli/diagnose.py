"""``pytest-gta diagnose RUN``: where the failures of a run come from."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pytest_gta.cli.judge_options import add_judge_options, judge_settings

_SHOWN = 5


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "diagnose",
        help="say where the failures of a run come from",
        description="Let the judge's model label each failed leaf with the stage at which it was lost (PLAN, REASON, "
        "EXECUTE, GROUNDING, REFINE, ASSEMBLE, HANDOFF, VERIFY, OTHER) and each failed task with the level (A leaf, "
        "B composition, C deliverable), each with a passage that bears it out. Labels go to diagnosis.json in the run "
        "directory; asked again, only what has no label is asked for. The exit code is 0, 5 when nothing has a label, "
        "10 when some failures have none.",
    )
    parser.add_argument("directory", metavar="RUN", type=Path, help="the run directory (it holds run.json)")
    parser.add_argument("--json", action="store_true", help="print diagnosis.json instead of the shares")
    add_judge_options(parser, leave_out=("cache", "judge_samples", "judge_panel", "render"))
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Diagnose, print the shares, and say by the exit code whether every failure has a label."""
    from pytest_gta.benchmark.diagnosis import DIAGNOSIS
    from pytest_gta.judge.failure_analysis import FailureAnalyst
    from pytest_gta.judge.judge import Judge
    from pytest_gta.judge.panel import Panel
    from pytest_gta.reporters.diagnosis import share_lines
    from pytest_gta.reporters.visible_text import visible
    from pytest_gta.run.diagnosis import diagnose
    from pytest_gta.run.finished_work import open_finished_work
    from pytest_gta.run.run_report import rebuild_run
    from pytest_gta.run.workshop import JUDGE_DEADLINE_S

    folder = given.directory.expanduser().absolute()
    with open_finished_work(folder, lambda fixed: judge_settings(given, fixed)) as work:
        work.bench.workshop.on_progress = _tell
        results = rebuild_run(folder, threshold=given.gta_threshold).result.tasks
        judge: Any = work.bench.judge
        # Of a panel the first is asked: a label is no score, and several have no median.
        asked: Judge = next(iter(judge.judges.values())) if isinstance(judge, Panel) else judge
        model = asked.client.endpoint.model
        analyst = FailureAnalyst(asked.client, work.bench.control, deadline_s=JUDGE_DEADLINE_S)
        diagnosis = diagnose(work, results, analyst, model=model, tell=_tell)
    if given.json:
        print(json.dumps(diagnosis.model_dump(mode="json"), indent=1))
    else:
        print(visible(f"diagnosed by {model}, failed below {diagnosis.threshold:g} points"))
        failed = {"stages": len(diagnosis.leaves), "levels": len(diagnosis.tasks)}
        for line in share_lines(diagnosis.shares, failed):
            print(line)
        for entry in diagnosis.unlabelled[:_SHOWN]:
            print(visible(f"no label: {entry.task} {entry.leaf or 'as a whole'}: {entry.reason}")[:200])
        print(f"written: {folder / DIAGNOSIS}")
    found = [*diagnosis.leaves, *diagnosis.tasks]
    if not found:
        return 0 if results else 5
    if len(diagnosis.unlabelled) == len(found):
        return 5
    return 10 if diagnosis.unlabelled else 0


def _tell(line: str) -> None:
    print(f"pytest-gta: {line}", file=sys.stderr, flush=True)
