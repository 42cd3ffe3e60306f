from __future__ import annotations

from pytest_gta.judge.waits import Waits


def test_the_newest_remark_is_told_and_not_too_often() -> None:
    told: list[str] = []
    waits = Waits(every_s=60)
    waits.put("before anybody listens")
    waits.tell()
    waits.told = told.append
    waits.tell()
    assert told == []
    waits.put("retrying in 1 s: 503")
    waits.put("retrying in 2 s: 503")
    waits.tell()
    waits.put("retrying in 4 s: 503")
    waits.tell()
    assert told == ["retrying in 2 s: 503"]
