"""``pytest-gta aa RUN``: the same outputs judged twice, so that a team knows the noise of its gate."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.cli.judge_options import add_judge_options, judge_settings

if TYPE_CHECKING:
    from pytest_gta.run.second_judging import SecondJudging


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "aa",
        help="judge a run's outputs a second time, to know the judge's noise",
        description="Judge the finished outputs of a run again, without any cache, and say how far the two judgings "
        "differ and what that means for a gate. The judge's settings are the run's own; with others (--samples 3, "
        "another model) every task is judged twice in that way. Nothing of the run is changed. The exit code is 0, 5 "
        "when nothing was judged twice, 10 when some leaves or tasks were not.",
    )
    parser.add_argument("directory", metavar="RUN", type=Path, help="the run directory (it holds run.json)")
    parser.add_argument("--samples", dest="gta_judge_samples", metavar="N", help="the same as --judge-samples")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the numbers and every pair of scores here")
    add_judge_options(parser, leave_out=("cache",))
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Judge again, print what came of it, and say by the exit code whether all was measured."""
    from pytest_gta.benchmark.run_directory import write_atomic
    from pytest_gta.formats.wording import plural
    from pytest_gta.reporters.judge_noise import noise_lines
    from pytest_gta.reporters.visible_text import visible
    from pytest_gta.run.finished_work import open_finished_work
    from pytest_gta.run.second_judging import judge_again

    folder = given.directory.expanduser().absolute()
    with open_finished_work(folder, lambda fixed: judge_settings(given, fixed)) as work:
        work.bench.workshop.on_progress = _tell
        judged = judge_again(work, _tell)
        model = work.bench.settings.judge_model
    for key, reason in judged.left_out.items():
        _tell(f"{key} is left out: {reason}")
    for leaf, reason in list(judged.unscored.items())[:5]:
        _tell(visible(f"{leaf} has no score: {reason}")[:200])
    anew = sum(twice.anew for twice in judged.tasks)
    print(visible(f"judge {model}"))
    for line in noise_lines(judged.noise):
        print(line)
    if anew:
        print(
            f"{plural(anew, 'task')} had not been judged in this way, and {'was' if anew == 1 else 'were'} judged twice"
        )
    if judged.unscored:
        print(f"leaves without a score in one of the judgings, left out: {len(judged.unscored)}")
    if given.json:
        write_atomic(given.json, json.dumps(_as_json(judged, model), indent=1, allow_nan=False) + "\n")
    if not judged.noise.leaves.pairs and not judged.noise.tasks.pairs:
        return 5
    return 10 if judged.unscored or judged.left_out else 0


def _tell(line: str) -> None:
    print(f"pytest-gta: {line}", file=sys.stderr, flush=True)


def _as_json(judged: SecondJudging, model: str) -> dict[str, Any]:
    return {
        "judge": model,
        **judged.noise.as_json(),
        "usage": judged.usage.model_dump(mode="json"),
        "left_out": dict(judged.left_out),
        "unscored": dict(judged.unscored),
        "pairs": [
            {"task": twice.task.slug, "leaf": leaf_id, "first": twice.first[leaf_id].score, "second": second.score}
            for twice in judged.tasks
            for leaf_id, second in twice.second.items()
        ],
    }
