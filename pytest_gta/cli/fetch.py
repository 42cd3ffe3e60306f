"""``pytest-gta fetch DATASET``: an official dataset brought to this machine, checked, where runs find it."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.cli.transfer_display import TransferDisplay, size
from pytest_gta.settings import SettingsError

if TYPE_CHECKING:
    from pytest_gta.datasets.fetching import Fetched, Fetcher

DATASETS = ("workflow", "atomic")


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "fetch",
        help="bring an official dataset to this machine",
        description="Download an official dataset, check it, and put it where runs find it. What was stopped is gone "
        "on with by the same command. The archive is kept as it is: runs read the input files out of it.",
    )
    parser.add_argument("dataset", choices=DATASETS, help="GTA-Workflow (several GB) or GTA-Atomic")
    parser.add_argument(
        "--to", metavar="DIR", type=Path, help="keep it there instead of in $GTA_DATA or ~/.cache/pytest-gta/datasets"
    )
    parser.add_argument(
        "--mirror", metavar="URL", help="fetch from there: a zip's address, or the folder it is in (env GTA_MIRROR)"
    )
    parser.add_argument("--sha256", metavar="SUM", default="", help="the sum that the archive must have")
    parser.add_argument("--unpack", action="store_true", help="unpack it as well, beside the archive")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--force", action="store_true", help="download it again although it is there")
    how.add_argument("--check", action="store_true", help="download nothing; compare what is there with its sum")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Fetch, and say what is there now and how to use it."""
    from pytest_gta.datasets.fetching import Fetcher
    from pytest_gta.datasets.sources import MIRROR, SOURCES
    from pytest_gta.run.workshop import fetched_datasets

    if given.sha256 and not re.fullmatch(r"[0-9a-fA-F]{64}", given.sha256):
        raise SettingsError("--sha256: a sum of 64 hexadecimal digits is needed")
    usual = fetched_datasets(os.environ)
    folder = given.to.expanduser().absolute() if given.to else usual
    mirror = given.mirror if given.mirror is not None else os.environ.get(MIRROR, "")
    display = TransferDisplay()
    fetcher = Fetcher(SOURCES[given.dataset], folder, display.told(), mirror, given.sha256, _places(given))
    try:
        fetched = fetcher.check() if given.check else fetcher.fetch(force=given.force, unpacked=given.unpack)
    except KeyboardInterrupt:
        display.line(f"stopped; the same command goes on from what is there: {fetcher.command}")
        raise
    finally:
        display.close()
    for line in _what_is_there(fetched, fetcher, checked=given.check):
        print(line)
    for line in _next(given.dataset, fetched, fetcher, where_runs_look=folder == usual):
        print(line)
    return 0


def _places(given: argparse.Namespace) -> str:
    """Return the options that say from where and to where, without a key that an address may hold."""
    from pytest_gta.datasets.connection import shown

    named = (("--mirror", given.mirror and shown(given.mirror)), ("--to", given.to))
    return "".join(f" {option} {shlex.quote(str(value))}" for option, value in named if value)


def _what_is_there(fetched: Fetched, fetcher: Fetcher, *, checked: bool) -> Iterator[str]:
    from pytest_gta.reporters.wording import count

    yield f"{'checked' if checked else 'fetched' if fetched.new else 'is there'} {fetched.path}"
    tasks = count(fetched.tasks, "task" if fetcher.source.name == "workflow" else "question")
    if fetched.contents is None or fetched.record is None:
        yield f"         {tasks}; a folder, of which no sum is known"
        return
    yield f"         {tasks}, {count(fetched.contents.files, 'file')}, {size(fetched.record.bytes)}"
    yield f"sha256   {fetched.record.sha256}"
    known = fetched.record.compared_with or f"recorded on {fetched.record.taken_at[:10]}, as no other is known"
    yield f"         {known}; what is fetched later must have it too"
    if fetcher.unpacked.exists():
        yield f"unpacked {fetcher.unpacked}"


def _next(dataset: str, fetched: Fetched, fetcher: Fetcher, *, where_runs_look: bool) -> Iterator[str]:
    if dataset == "atomic" and not where_runs_look:
        yield f"next     export GTA_DATA={shlex.quote(str(fetcher.folder))}"
        where_runs_look = True
    chosen = dataset if where_runs_look else shlex.quote(str(fetched.path))
    yield f"next     pytest --gta-dataset={chosen} --gta-model=MODEL -n 8"
    yield f"         pytest-gta validate {chosen}"
    yield f"         pytest-gta stats {chosen}"
