"""``pytest-gta calibrate LABELS RUN``: how far a judge agrees with people, or with another judge."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_gta.judge.calibration.ratings import Ratings
    from pytest_gta.reporters.calibration import Concordance


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "calibrate",
        help="say how far a judge agrees with people, or with another judge",
        description="Compare the scores of a run's judge with labels by people, or with another run's judge. With "
        "labels of several people they are compared with each other as well. The exit code is 0, or 5 when there is "
        "nothing to compare.",
    )
    parser.add_argument(
        "labels",
        metavar="LABELS",
        type=Path,
        help="labels as CSV or JSON (see docs/calibration.md), or another run: its directory or results.json",
    )
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="a run directory or a results.json")
    parser.add_argument("--threshold", metavar="X", type=_points, help="points from which a leaf passes; the run's own")
    parser.add_argument(
        "--resamples", metavar="N", type=_whole, default=1000, help="of each interval (default 1000); 0 for none"
    )
    parser.add_argument("--html", metavar="FILE", type=Path, help="write a page with a scatter plot here")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the numbers here")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Compare, print, write; return 5 when no mark is common to labels and runs."""
    from pytest_gta.benchmark.run_directory import write_atomic
    from pytest_gta.judge.calibration.agreement import StatisticsUnavailable, agreement
    from pytest_gta.judge.calibration.labels import LabelError
    from pytest_gta.judge.calibration.ratings import consensus
    from pytest_gta.reporters.calibration import table_lines
    from pytest_gta.settings import SettingsError

    try:
        people = _references(given.labels)
        judges, threshold = _judges(given.runs, given.threshold, {rater.rater for rater in people})
        reference = consensus(people) if len(people) > 1 else people[0]
        compared = [(reference, judge) for judge in judges]
        if len(people) > 1:
            compared += [(person, judge) for judge in judges for person in people]
            compared += [(one, other) for n, one in enumerate(people) for other in people[n + 1 :]]
        pairs = [agreement(first, second, threshold=threshold, resamples=given.resamples) for first, second in compared]
        concordance = _concordance((*people, *judges))
    except (LabelError, StatisticsUnavailable) as error:
        raise SettingsError(str(error)) from None
    if not any(pair.roots.tasks or pair.leaves.judged for pair in pairs[: len(judges)]):
        print(
            f"pytest-gta: nothing to compare: {given.labels} and {', '.join(map(str, given.runs))} "
            "have no task or leaf in common",
            file=sys.stderr,
        )
        return 5
    for line in table_lines(pairs, concordance):
        print(line)
    for judge in judges:
        for status, number in sorted(judge.missing.items()):
            print(f"{judge.rater}: {number} without a score ({status}), left out")
    if given.json:
        numbers = {"pairs": [asdict(pair) for pair in pairs], "concordance": concordance and asdict(concordance)}
        write_atomic(given.json, json.dumps(numbers, indent=1, allow_nan=False) + "\n")
    if given.html:
        from pytest_gta.reporters.calibration_page import NO_PLOT, calibration_page, scatter_plot

        write_atomic(given.html, calibration_page(pairs, concordance))
        if scatter_plot(pairs[:1]) is None:
            print(f"pytest-gta: {NO_PLOT}", file=sys.stderr)
    return 0


def _points(text: str) -> float:
    from pytest_gta.option_values import number

    try:
        return float(number(0, 10)(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} {error}") from None


def _whole(text: str) -> int:
    from pytest_gta.option_values import whole_number

    try:
        return int(whole_number(0)(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} {error}") from None


def _references(path: Path) -> tuple[Ratings, ...]:
    """Return the labels, or what another run's judge says."""
    from pytest_gta.judge.calibration.labels import read_labels
    from pytest_gta.judge.calibration.ratings import ratings_of_run
    from pytest_gta.run.finished_run import read_run

    if path.is_dir() or _is_results(path):
        return (ratings_of_run(read_run(path)),)
    return read_labels(path)


def _is_results(path: Path) -> bool:
    try:
        return "schema_version" in json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, TypeError):
        return False


def _judges(runs: Sequence[Path], threshold: float | None, taken: set[str]) -> tuple[list[Ratings], float]:
    """Return what each run's judge says, each under a name of its own, and the threshold."""
    from pytest_gta.judge.calibration.ratings import ratings_of_run
    from pytest_gta.run.finished_run import read_run

    judges = []
    for path in runs:
        result = read_run(path)
        if threshold is None:
            threshold = float(result.run.get("threshold") or 7.0)
        name = ratings_of_run(result).rater
        if name in taken:
            name = f"{name} ({path.parent.name if path.is_file() else path.name})"
        unique = next(n for n in (name, *(f"{name} {i}" for i in range(2, 1000))) if n not in taken)
        taken.add(unique)
        judges.append(ratings_of_run(result, unique))
    return judges, 7.0 if threshold is None else threshold


def _concordance(raters: Sequence[Ratings]) -> Concordance | None:
    """Return how far three or more raters rank the tasks alike; None with fewer raters or tasks."""
    from pytest_gta.judge.calibration.agreement import kendall_w
    from pytest_gta.reporters.calibration import Concordance

    with_roots = [rater for rater in raters if rater.roots]
    if len(with_roots) < 3:
        return None
    common = set.intersection(*({t for t, m in rater.roots.items() if m.score is not None} for rater in with_roots))
    tasks = sorted(common)
    if len(tasks) < 3:
        return None
    scores = [[rater.roots[task].score or 0.0 for task in tasks] for rater in with_roots]
    return Concordance(tuple(rater.rater for rater in with_roots), len(tasks), kendall_w(scores))
