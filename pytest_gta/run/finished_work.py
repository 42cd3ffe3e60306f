"""A run's finished work, opened to be looked at again: nothing of the run is changed, counted or stopped."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.benchmark.run_directory import MANIFEST, RunDirectory
from pytest_gta.benchmark.task import Task
from pytest_gta.run.bench import Bench
from pytest_gta.run.finished_run import refuse_several
from pytest_gta.run.selection import repeats
from pytest_gta.settings import ANSWER_KEY, Settings, SettingsError


@dataclass(frozen=True, slots=True)
class FinishedWork:
    """A run and what judges it.

    Attributes:
        run: The run's directory; only read.
        bench: The judge, the confinement and the dataset. Its own run directory is a temporary one, so that nothing it
            keeps account of reaches the run.
        tasks: The dataset's tasks by run key.
    """

    run: RunDirectory
    bench: Bench
    tasks: Mapping[str, Task]


@contextmanager
def open_finished_work(
    folder: Path, resolved: Callable[[Mapping[str, str]], Settings], environment: Mapping[str, str] = os.environ
) -> Iterator[FinishedWork]:
    """Open a run with its own settings of the judge, as far as the command line does not give others.

    Args:
        folder: The run directory.
        resolved: Resolves the command line, given the options that are decided here, by ini name.
        environment: The environment variables, for keys.

    Raises:
        SettingsError: When this is not a run directory or has no judge, its dataset is gone or changed, or the judge is
            not usable.
    """
    refuse_several(folder)
    run = RunDirectory(folder)
    try:
        manifest = run.manifest()
        dataset, sha256 = str(manifest["dataset"]["path"]), str(manifest["dataset"]["sha256"])
        judge = manifest["judge"]["model"]
    except (OSError, ValueError, KeyError, TypeError):
        raise SettingsError(f"{folder} is not a run directory (it has no readable {MANIFEST})") from None
    if judge == ANSWER_KEY:
        raise SettingsError(
            f"{folder} is a run of GTA-Atomic, whose answers are compared with a key: there is no judge to ask"
        )
    fixed = {
        "gta_resume": str(folder),
        # Whatever made the work is not asked for anything: it need not be there any more.
        "gta_agent": "fixture",
        "gta_dataset": dataset,
        "gta_cache": "off",
    }
    with tempfile.TemporaryDirectory(prefix="gta-again-", ignore_cleanup_errors=True) as aside:
        settings = resolved(fixed)
        try:
            bench = Bench(settings, Path.cwd(), environment, run_dir=Path(aside))
        except SettingsError as error:
            raise SettingsError(f"{folder}: the run's tasks cannot be opened: {error}") from None
        if bench.release.sha256 != sha256:
            raise SettingsError(f"the dataset {bench.release.location} has changed since the run {folder} was made")
        try:
            known = repeats(bench.release.tasks(), settings.repeat)
        except DatasetError as error:
            raise SettingsError(str(error)) from None
        try:
            yield FinishedWork(run, bench, {task.slug: task for task in known if isinstance(task, Task)})
        finally:
            bench.close()
