"""What is known of a fetched archive, kept beside it: ``<file>.json``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from pytest_gta.benchmark.run_directory import write_atomic

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class FetchRecord:
    """What an archive was when it was taken.

    Attributes:
        dataset: The dataset's name.
        version: Its release.
        bytes: Size.
        sha256: Sum.
        url: Where it was fetched from; "" for a file that was put there by hand.
        taken_at: When, as a UTC date and time.
        compared_with: Which sum it was compared with then, in words; "" when none was known.
    """

    dataset: str
    version: str
    bytes: int
    sha256: str
    url: str
    taken_at: str
    compared_with: str


def record_path(archive: Path) -> Path:
    """Return where the record of an archive is."""
    return archive.with_name(f"{archive.name}.json")


def read_record(archive: Path) -> FetchRecord | None:
    """Return the record of an archive, None when there is none (or it is not readable)."""
    try:
        return FetchRecord(**json.loads(record_path(archive).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_record(archive: Path, record: FetchRecord) -> None:
    """Write the record of an archive."""
    write_atomic(record_path(archive), json.dumps(asdict(record), indent=1) + "\n")


def sha256_of(path: Path, on_progress: Callable[[int, int | None], None]) -> str:
    """Return the sum of a file."""
    digest, done, total = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            done += len(chunk)
            on_progress(done, total)
    return digest.hexdigest()
