"""Which tasks of a dataset a run takes: by id, by category, by number, by shard. The same in every process."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from pytest_gta.benchmark.atomic import AtomicDataset
from pytest_gta.benchmark.dataset import TASK_SUFFIXES, CombinedDataset, Dataset, DatasetError
from pytest_gta.benchmark.release import INDEX, Release
from pytest_gta.benchmark.task import Task, TaskFault
from pytest_gta.datasets.sources import SOURCES
from pytest_gta.option_values import DATASETS, words
from pytest_gta.settings import Settings, SettingsError

SELECTING = ("task", "category", "limit")
"""Options that leave tasks out, besides the shard, which may well be empty."""


def dataset_folder(name: str, fetched: Path) -> Path | None:
    """Return where the dataset of that name lies, None when it has not been fetched.

    Args:
        name: ``mini`` (bundled), ``workflow`` or ``atomic`` (the official releases).
        fetched: The folder that fetched datasets are kept in.
    """
    if name == "mini":
        return Path(__file__).parents[2] / "benchmark_tasks" / "mini"
    source = SOURCES[name]
    candidates = (fetched / source.folder, fetched / source.file)
    return next((path for path in candidates if path.exists()), None)


DatasetFinder = Callable[[str], Path | str | None]
"""Gives the path of a dataset by its name, None for a name it does not know."""


def find_datasets(names: Iterable[str], find: DatasetFinder) -> dict[str, str]:
    """Return the absolute paths of the datasets that a finder knows, by the names they were asked for."""
    found = {name: find(name) for name in names if name not in DATASETS}
    return {name: str(Path(path).absolute()) for name, path in found.items() if path is not None}


def open_dataset(chosen: tuple[str, ...] | list[str], fetched: Path) -> Dataset:
    """Open the datasets that were asked for as one; without any, the fetched release, or else the bundled tasks.

    Args:
        chosen: Names and paths.
        fetched: The folder that fetched datasets are kept in.

    Raises:
        SettingsError: When the release is asked for by name and has not been fetched.
        DatasetError: When what was asked for is not a dataset.
    """
    if not chosen:
        release = dataset_folder("workflow", fetched)
        return Release(release, "workflow") if release else _open("mini", fetched)
    opened = [_open(name, fetched) for name in chosen]
    return opened[0] if len(opened) == 1 else CombinedDataset(opened)


def _open(chosen: str, fetched: Path) -> Dataset:
    if chosen not in DATASETS:
        path = Path(chosen).expanduser()
        if ":" in chosen and not path.is_absolute() and not path.exists():
            raise SettingsError(
                f"--gta-dataset: {chosen!r} is known to no plugin or conftest.py (hook pytest_gta_dataset)"
            )
        return _open_path(path.absolute())
    folder = dataset_folder(chosen, fetched)
    if folder is None:
        raise SettingsError(
            f"--gta-dataset={chosen}: the release is not in {fetched}; get it by: pytest-gta fetch {chosen}"
            + (" (or give the path of its zip or folder: --gta-dataset=PATH)" if chosen == "workflow" else "")
        )
    return AtomicDataset(folder) if chosen == "atomic" else Release(folder, chosen)


def _open_path(path: Path) -> Dataset:
    """Open a folder, a zip or a YAML file by what it holds."""
    if path.is_dir():
        in_it = list(path.iterdir())
        has_tasks = any(file.suffix.lower() in TASK_SUFFIXES for file in in_it)
        below = () if has_tasks else in_it
        places = (path, *below)
        in_release_shape = any(
            (folder / index).is_file() for folder in places for index in (INDEX, AtomicDataset.index)
        )
    else:
        in_release_shape = path.suffix.lower() not in TASK_SUFFIXES
        if not path.exists():
            near = difflib.get_close_matches(path.name, DATASETS, n=1)
            meant = f"; did you mean {near[0]}, of the datasets {', '.join(DATASETS)}?" if near else ""
            raise DatasetError(f"{path}: no such file or folder{meant}")
    if in_release_shape:
        return _open_release(path)
    from pytest_gta.benchmark.task_pack import TaskPack

    return TaskPack(path)


def _open_release(path: Path) -> Release:
    try:
        return Release(path)
    except DatasetError as error:
        try:
            return AtomicDataset(path)
        except DatasetError:
            raise error from None


def select_tasks(
    release: Dataset, settings: Settings, only: Collection[str] | None = None
) -> tuple[Task | TaskFault, ...]:
    """Return the tasks of a run in id order, a bad one as its fault.

    Args:
        release: The dataset.
        settings: Gives ids, categories, limit and shard.
        only: When given, the ids that can be run at all (those with finished outputs).

    Raises:
        SettingsError: When an id or category is not in the dataset, or two ids make the same test id.
    """
    _check_names("--gta-task", settings.task, release.task_ids)
    tasks = [task for task in release.tasks() if not settings.task or task_id(task) in settings.task]
    if settings.category:
        categories = sorted({task.category for task in release.tasks() if isinstance(task, Task)})
        _check_names("--gta-category", settings.category, categories)
        tasks = [task for task in tasks if isinstance(task, Task) and task.category in settings.category]
    if only is not None:
        tasks = [task for task in tasks if task_id(task) in only]
    tasks = tasks[: settings.limit]
    if settings.shard:
        index, count = settings.shard
        tasks = tasks[index - 1 :: count]
    repeated = repeats(tasks, settings.repeat)
    _check_slugs(repeated)
    return repeated


def why_nothing(release: Dataset, settings: Settings, *, recorded: bool) -> str:
    """Return why no task is selected, and what to change.

    Args:
        release: The dataset.
        settings: Says which tasks were asked for.
        recorded: Whether only tasks with finished outputs can be run.
    """
    if not release.task_ids:
        return f"the dataset {release.location} has no tasks; name another with --gta-dataset"
    given = dict(settings.given)
    asked = [f"--gta-{key}={given[key]}" for key in SELECTING if key in given]
    if recorded:
        asked.append(f"--gta-agent={settings.agent}")
    together = "; together they leave none" if len(asked) > 1 else ""
    return f"no task of {release.location} is selected by {' with '.join(asked)}{together}"


def repeats(tasks: Iterable[Task | TaskFault], times: int) -> tuple[Task | TaskFault, ...]:
    """Return each task once for each of its independent runs; what is not a task stays what it is."""
    return tuple(run for task in tasks for run in (task.repeated(times) if isinstance(task, Task) else (task,)))


def task_id(task: Task | TaskFault) -> str:
    """Return the dataset's id of a task, also of one that cannot be used."""
    return task.id if isinstance(task, Task) else task.task_id


def _check_names(option: str, wanted: Sequence[str], known: Sequence[str]) -> None:
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.3) or list(known[:10])
            near = [f'"{name}"' if words(name) != (name,) else name for name in near]
            more = "" if len(known) <= len(near) else f" (of {len(known)})"
            raise SettingsError(f"{option}: {name!r} is not in the dataset; it has {', '.join(near)}{more}")


def _check_slugs(tasks: Sequence[Task | TaskFault]) -> None:
    """Two ids that differ only in signs a test id cannot hold would share a run directory."""
    seen: dict[str, str] = {}
    for task in tasks:
        if seen.setdefault(task.slug, task_id(task)) != task_id(task):
            raise SettingsError(
                f"tasks {seen[task.slug]!r} and {task_id(task)!r} have the same test id {task.slug}; rename one"
            )
