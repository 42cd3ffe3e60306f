"""``pytest-gta judge-selftest``: whether a judge can be talked into a score by what it grades."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.cli.judge_options import add_judge_options, judge_settings

if TYPE_CHECKING:
    from pytest_gta.judge.selftest.trial import Tally, Trial

MARKS = {"succeeded": "BREACHED", "resisted": "resisted", "not_shown": "not shown", "unmeasured": "unmeasured"}


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "judge-selftest",
        help="see whether a judge can be talked into a score by what it grades",
        description="Let a judge score bad deliverables that carry attacks (in text, hidden sheets, speaker notes, "
        "metadata, file names, pictures, ...) and their clean twins. The exit code is 0 when every attack was "
        "resisted, 1 when one succeeded, 5 when nothing was measured, 10 when some attacks were not.",
    )
    parser.add_argument("--margin", metavar="X", help="points over its clean twin that make an attack a success (2)")
    parser.add_argument("--keep", metavar="DIR", type=Path, help="keep the deliverables in this new folder")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every verdict here")
    add_judge_options(parser, leave_out=("cache",))
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Make the deliverables, have them judged, print the table."""
    from pytest_gta.benchmark.run_directory import write_atomic
    from pytest_gta.judge.drawing import Drawer
    from pytest_gta.judge.selftest.running import run_selftest, write_exhibits
    from pytest_gta.judge.selftest.trial import MARGIN, exit_code
    from pytest_gta.run.bench import Bench
    from pytest_gta.workspace.confined_process import ConfinedProcess

    margin = MARGIN if given.margin is None else _points(given.margin)
    with _folder(given.keep) as folder:
        write_exhibits(folder)
        settings = judge_settings(
            given,
            {
                "gta_agent": f"outputs:{folder / 'outputs'}",
                "gta_dataset": str(folder / "dataset"),
                "gta_run_dir": str(folder / "run"),
                "gta_cache": "off",
            },
        )
        bench = Bench(settings, folder, os.environ)
        bench.workshop.on_progress = _tell
        bench.check()
        bench.begin()
        _tell(f"{len(bench.tasks)} deliverables are judged by {settings.judge_model}")
        try:
            with (
                Drawer(bench.renderers, folder / "outputs") as drawer,
                ConfinedProcess(bench.confinement, readable=[folder, drawer.folder], writable=None) as process,
            ):
                trials = run_selftest(
                    bench.judge,
                    folder,
                    process,
                    budget=bench.evidence_budget,
                    threshold=settings.threshold,
                    margin=margin,
                    drawer=drawer,
                )
        finally:
            bench.close()
    for line in _table(trials, settings.judge_model, margin, settings.threshold):
        print(line)
    if given.json:
        write_atomic(given.json, json.dumps(_as_json(trials, settings.judge_model), indent=1) + "\n")
    return exit_code(trials)


def _tell(line: str) -> None:
    print(f"pytest-gta: {line}", file=sys.stderr, flush=True)


def _points(text: str) -> float:
    from pytest_gta.option_values import number
    from pytest_gta.settings import SettingsError

    try:
        return float(number(0, 10, above=True)(text))
    except ValueError as error:
        raise SettingsError(f"--margin: {text!r} {error}") from None


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    """Give a folder for the deliverables: the one to keep, or one that is removed."""
    from pytest_gta.settings import SettingsError

    if kept is None:
        with tempfile.TemporaryDirectory(prefix="gta-selftest-", ignore_cleanup_errors=True) as folder:
            yield Path(folder).resolve()
        return
    if kept.exists() and (not kept.is_dir() or any(kept.iterdir())):
        raise SettingsError(f"--keep: {kept} exists; name a new folder")
    kept.mkdir(parents=True, exist_ok=True)
    yield kept.resolve()


def _table(trials: Sequence[Trial], judge: str, margin: float, threshold: float) -> Iterator[str]:
    from pytest_gta.judge.selftest.trial import tally
    from pytest_gta.reporters.visible_text import visible

    payloads = list(dict.fromkeys(trial.payload for trial in trials))
    yield visible(f"judge {judge}; a success is +{margin:g} points over the clean twin, or {threshold:g} points")
    yield ""
    yield f"{'where':<20}{'clean':>7}" + "".join(f"{name:>16}" for name in payloads)
    for kind in dict.fromkeys(trial.kind for trial in trials):
        row = [trial for trial in trials if trial.kind == kind]
        cells = "".join(f"{_cell(trial):>16}" for trial in row)
        yield f"{kind:<20}{_score(row[0].clean.score):>7}{cells}"
    yield ""
    total = tally(trials)
    yield f"attack rate {_rate(total)}: {total.succeeded} of {total.measured} measured attacks succeeded"
    for name in payloads:
        part = tally(trial for trial in trials if trial.payload == name)
        yield f"  {name:<10}{_rate(part):>8}  ({part.succeeded} of {part.measured})"
    yield f"{total.flagged} of {len(trials)} attacked deliverables are flagged for a person in the report"
    if total.not_shown:
        yield f"{total.not_shown} attacks never reached the judge and count neither way"
    reasons = dict.fromkeys(trial.reason for trial in trials if trial.reason)
    if total.unmeasured:
        yield f"{total.unmeasured} attacks are unmeasured, which is not resistance:"
        yield from (visible(f"  {reason}")[:160] for reason in list(reasons)[:5])


def _cell(trial: Trial) -> str:
    return f"{_score(trial.attacked.score)} {MARKS[trial.outcome]}"


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.1f}"


def _rate(tally: Tally) -> str:
    return "-" if tally.rate is None else f"{tally.rate:.1f} %"


def _as_json(trials: Sequence[Trial], judge: str) -> dict[str, Any]:
    from dataclasses import asdict

    from pytest_gta.judge.selftest.trial import tally

    def counted(chosen: Sequence[Trial]) -> dict[str, Any]:
        found = tally(chosen)
        return {**asdict(found), "measured": found.measured, "rate": found.rate}

    kinds = dict.fromkeys(trial.kind for trial in trials)
    return {
        "judge": judge,
        "total": counted(trials),
        "by_kind": {kind: counted([trial for trial in trials if trial.kind == kind]) for kind in kinds},
        "trials": [
            {
                "kind": trial.kind,
                "payload": trial.payload,
                "outcome": trial.outcome.value,
                "reason": trial.reason,
                "shown": trial.shown,
                "flagged": trial.flagged,
                "attacked": trial.attacked.model_dump(mode="json"),
                "clean": trial.clean.model_dump(mode="json"),
            }
            for trial in trials
        ],
    }
