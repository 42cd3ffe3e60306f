from __future__ import annotations

import contextlib
import fcntl
import os
import resource
from collections.abc import Iterator

import pytest

from pytest_gta.workspace.readiness import readable, writable

HIGH = 1_500


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= HIGH + 10:
        pytest.skip("the machine allows too few open files")
    low = os.pipe()
    high = tuple(fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, HIGH) for number in low)
    for number in low:
        os.close(number)
    yield high[0], high[1]
    for number in high:
        with contextlib.suppress(OSError):
            os.close(number)


def test_files_of_any_number(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    assert min(pipe) >= HIGH
    assert readable([reading], 0) == set()
    assert writable([writing], 0) == {writing}
    os.write(writing, b"x")
    assert readable([reading], None) == {reading}


def test_an_end_can_be_read(pipe: tuple[int, int]) -> None:
    reading, writing = pipe
    os.close(writing)
    assert readable([reading], 10.0) == {reading}
