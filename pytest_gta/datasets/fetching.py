"""Fetching a published dataset: one download however many ask, checked before it has its name.

The archive is kept as it is: inputs are read out of it when a task needs them, so nothing is unpacked unless that is
asked for, and what is there can be compared with its sum at any time.
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.client import HTTPException
from pathlib import Path

from pytest_gta.benchmark.run_directory import NotWritten
from pytest_gta.datasets.archive import BEGINNING, Contents, look_into, read_member, read_through, unpack
from pytest_gta.datasets.connection import host_of, shown
from pytest_gta.datasets.download import Download, Patience
from pytest_gta.datasets.listing import listed_sha256
from pytest_gta.datasets.partial_file import PartialFile
from pytest_gta.datasets.record import FetchRecord, read_record, sha256_of, write_record
from pytest_gta.datasets.sources import FetchError, Source
from pytest_gta.llm.redaction import one_line, redact

MARGIN = 256 << 20
"""Bytes of a disk that a fetch leaves free."""

NO_SUM_KNOWN = ""
"""Stands for what a sum was compared with where none was known: the first fetch, by nobody's word."""


@dataclass(frozen=True, slots=True)
class Told:
    """Whom a fetch tells how far it is.

    Attributes:
        stage: Told what begins, such as ``downloading``.
        progress: Told the bytes done and in all (None when unknown).
        line: Told in one line what else is to be known.
    """

    stage: Callable[[str], None]
    progress: Callable[[int, int | None], None]
    line: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A dataset that is there.

    Attributes:
        path: The archive, or the folder when only that is there.
        contents: What the archive holds; None when only the folder is there.
        record: What is known of the archive; None when only the folder is there.
        tasks: How many tasks it lists.
        new: Whether it was downloaded now.
    """

    path: Path
    contents: Contents | None
    record: FetchRecord | None
    tasks: int
    new: bool = False


def free_bytes(folder: Path) -> int:
    """Return the free bytes of the disk that a folder is on."""
    return shutil.disk_usage(folder).free


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Fetches a dataset into a folder.

    Attributes:
        source: The dataset.
        folder: Where fetched datasets are kept.
        told: Whom to tell.
        mirror: Where to fetch it from instead of the official address.
        sha256: The sum it must have, when the user knows it.
        places: The options that named the folder and the mirror, as a command to type next has them.
        patience: How often to try again.
        free: Returns the free bytes of the disk that a folder is on.
    """

    source: Source
    folder: Path
    told: Told
    mirror: str = ""
    sha256: str = ""
    places: str = ""
    patience: Patience = field(default_factory=Patience)
    free: Callable[[Path], int] = free_bytes

    @property
    def command(self) -> str:
        """The command that fetches it from where and to where this does."""
        return f"pytest-gta fetch {self.source.name}{self.places}"

    @property
    def archive(self) -> Path:
        """Where the archive is kept."""
        return self.folder / self.source.file

    @property
    def unpacked(self) -> Path:
        """Where the unpacked dataset is kept."""
        return self.folder / self.source.folder

    def fetch(self, *, force: bool = False, unpacked: bool = False) -> Fetched:
        """Bring the dataset, unless it is there.

        Args:
            force: Whether to download it again although it is there.
            unpacked: Whether to unpack it as well.

        Raises:
            FetchError: When it cannot be fetched, or is not what it should be; what was there before is still there.
        """
        url = self.source.address(self.mirror)
        with self._alone():
            if not force and self.archive.exists():
                fetched = self._at_hand()
            elif not force and self.unpacked.exists():
                return Fetched(self.unpacked, None, None, self._tasks_in_folder())
            else:
                fetched = self._download(url, anew=force)
                if self.unpacked.exists():
                    self.told.line(f"{self.unpacked} is used first, and may be of an earlier archive: remove it")
            if unpacked:
                self._unpack(fetched)
            return fetched

    def check(self) -> Fetched:
        """Compare what is there with what is known of it; nothing is downloaded.

        Raises:
            FetchError: When it is not there, or not what it should be.
        """
        if self.archive.exists():
            return self._at_hand(thorough=True)
        if self.unpacked.exists():
            validate = f"pytest-gta validate {self.unpacked}"
            raise FetchError(f"{self.unpacked} is a folder, which has no sum; check its tasks by: {validate}")
        raise FetchError(f"{self.archive} is not there; get it by: {self.command}")

    def _at_hand(self, *, thorough: bool = False) -> Fetched:
        """Return the archive that is there; its sum is taken when it may not be the one that was recorded."""
        try:
            contents, tasks = self._look_into(self.archive)
        except FetchError as error:
            raise FetchError(f"{error}. Get it anew by: {self.command} --force") from None
        record = read_record(self.archive)
        wanted = (self.sha256 or self.source.sha256).lower()
        if (
            thorough
            or record is None
            or record.bytes != self.archive.stat().st_size
            or wanted not in ("", record.sha256)
        ):
            record = self._accept(self.archive, "")
        return Fetched(self.archive, contents, record, tasks)

    def _download(self, url: str, *, anew: bool) -> Fetched:
        partial = PartialFile(self.archive)
        if anew:
            partial.discard()
        self.told.line(f"{self.source.title} {self.source.version}, from {shown(url)}")
        self.told.stage("downloading")
        Download(
            beginning=BEGINNING,
            room=self._room,
            on_progress=self.told.progress,
            on_wait=self.told.line,
            patience=self.patience,
        ).run(url, partial)
        try:
            contents, tasks = self._look_into(partial.path)
        except FetchError as error:
            partial.discard()
            raise FetchError(f"{shown(url)}: {error}. Fetch it from another place: --mirror URL") from None
        record = self._accept(partial.path, shown(url))
        partial.become(self.archive)
        return Fetched(self.archive, contents, record, tasks, new=True)

    def _look_into(self, path: Path) -> tuple[Contents, int]:
        contents = look_into(path, self.source.index)
        return contents, _count_tasks(read_member(path, contents.root + self.source.index), self.source.index)

    def _tasks_in_folder(self) -> int:
        try:
            return _count_tasks((self.unpacked / self.source.index).read_bytes(), self.source.index)
        except OSError as error:
            raise FetchError(
                f"{self.unpacked} holds no {self.source.index} that can be read ({error.strerror}); move it away, "
                f"or give another folder by --to DIR"
            ) from None

    def _accept(self, path: Path, url: str) -> FetchRecord:
        """Compare the sum of an archive with the best that is known, and record it.

        Args:
            path: The archive, perhaps not under its name yet.
            url: Where it was downloaded from; "" when it was there.
        """
        self.told.stage("checking")
        found, before = sha256_of(path, self.told.progress), read_record(self.archive)
        expected, by = self._expected(before)
        if expected and found != expected:
            raise FetchError(self._differs(path, found, expected, by))
        if not expected:
            self.told.stage("checking every file in it")
            try:
                read_through(path, self.told.progress)
            except FetchError as error:
                PartialFile(self.archive).discard()
                again = f"get it anew by: {self.command} --force"
                raise FetchError(f"{self.source.file}: {error}; {again}") from None
        now = datetime.now(UTC).isoformat(timespec="seconds")
        record = FetchRecord(self.source.name, self.source.version, path.stat().st_size, found, url, now, by)
        if before is not None and before.sha256 == found:
            record = replace(
                record, url=url or before.url, taken_at=before.taken_at, compared_with=before.compared_with
            )
        if record != before:
            try:
                write_record(self.archive, record)
            except NotWritten as error:
                raise FetchError(f"{error}; the sum is to be recorded there") from None
        return record

    def _expected(self, before: FetchRecord | None) -> tuple[str, str]:
        """Return the sum that an archive is to have, and whose it is; "" when nobody knows it."""
        if self.sha256:
            return self.sha256.lower(), "the one given by --sha256"
        if self.source.sha256:
            return self.source.sha256, "the one pytest-gta knows"
        if before is not None:
            return before.sha256, f"the one recorded on {before.taken_at[:10]}"
        if self.source.listing and not self.mirror and (listed := self._listed()):
            return listed, "the one GitHub lists"
        return "", NO_SUM_KNOWN

    def _listed(self) -> str:
        """Return the sum that the publisher lists; "" when there is none, or the list cannot be had, which is said."""
        try:
            return listed_sha256(self.source.listing, self.source.file)
        except (OSError, HTTPException, ValueError, FetchError) as error:
            why = redact(one_line(str(error), 160))
            host = host_of(self.source.listing)
            self.told.line(f"{host}, which may list its sum, could not be asked ({why}): compare it yourself")
            return ""

    def _differs(self, path: Path, found: str, expected: str, by: str) -> str:
        kept = "it was left as it is" if path == self.archive else "it was not taken"
        return (
            f"{self.source.title} HAS CHANGED, OR THIS IS NOT IT: {kept}\n"
            f"  sha256 found     {found}\n  sha256 expected  {expected}  ({by})\n"
            f"Get it anew: {self.command} --force\n"
            f"Take it, if you know that it is right: {self.command} --sha256={found}"
        )

    def _unpack(self, fetched: Fetched) -> None:
        if fetched.contents is None:
            return
        if self.unpacked.exists():
            self.told.line(f"{self.unpacked} is there already and was left as it is")
            return
        self._room(fetched.contents.bytes)
        self.told.stage("unpacking")
        unpack(self.archive, fetched.contents, self.unpacked, self.told.progress)

    def _room(self, needed: int) -> None:
        free = self.free(self.folder)
        if needed > 0 and free < needed + MARGIN:
            raise FetchError(
                f"{self.folder} has {free / 1e9:.1f} GB free, and {needed / 1e9:.1f} GB are still to come "
                f"({MARGIN / 1e9:.1f} GB stay free); make room, or choose another disk by --to DIR"
            )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other processes from fetching the same dataset into the same folder."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / f".{self.source.file}.lock").open("a")
        except OSError as error:
            raise FetchError(
                f"{self.folder} cannot be written to: {error.strerror}; choose another by --to DIR or GTA_DATA"
            ) from None
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.told.line("another process is fetching this dataset; waiting for it")
                fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _count_tasks(data: bytes, index: str) -> int:
    try:
        tasks = json.loads(data)
    except ValueError as error:
        raise FetchError(f"{index} in it cannot be read ({error})") from None
    if not isinstance(tasks, dict | list):
        raise FetchError(f"{index} in it holds no tasks")
    return len(tasks)
