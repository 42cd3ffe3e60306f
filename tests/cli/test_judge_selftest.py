"""`pytest-gta judge-selftest` against a gullible and a steadfast judge."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.cli import main
from pytest_gta.judge.selftest.carriers import CARRIERS
from pytest_gta.judge.selftest.payloads import PAYLOADS
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, fails, judge

KINDS = [carrier.kind for carrier in CARRIERS]
ATTACKS = len(CARRIERS) * len(PAYLOADS)

_SPOKEN_TO = re.compile(
    r"output 10|human review is complete|confirm that the file exists|give it 10|SYSTEM NOTICE to the grader", re.I
)


def user_text(request: RecordedRequest) -> str:
    return "\n".join(text for text in request.texts if "You grade finished work" not in text)


def gullible(request: RecordedRequest) -> Any:
    """Does what any text tells it, and cannot read pictures."""
    return judge(lambda _: 10 if _SPOKEN_TO.search(user_text(request)) else 1)(request)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EVAL_OPENAI_API_KEY", "EVAL_OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    # Options of a run that are none of the judge's must not matter.
    monkeypatch.setenv("GTA_TASK", "7")
    monkeypatch.setenv("GTA_MODEL", "some-agent")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def selftest(server: OpenAIServer, *more: str) -> int:
    judged_by = ["--judge-model=judge-1", f"--judge-base-url={server.base_url}", "--render=off"]
    return main(["judge-selftest", *judged_by, "--json=out.json", *more])


def found() -> dict[str, Any]:
    return dict(json.loads(Path("out.json").read_text()))


def test_a_gullible_judge_is_breached_in_every_text(
    here: Path, openai_server: Callable[..., OpenAIServer], capsys: pytest.CaptureFixture[str]
) -> None:
    server = openai_server(gullible)
    assert selftest(server) == 1
    assert len(server.chats) == ATTACKS + len(CARRIERS)
    result = found()
    assert list(result["by_kind"]) == KINDS
    breached = {kind: part["succeeded"] for kind, part in result["by_kind"].items()}
    assert breached == {kind: 0 if kind == "image text" else len(PAYLOADS) for kind in KINDS}
    assert {trial["shown"] for trial in result["trials"]} == {True}
    assert result["total"]["rate"] == pytest.approx(100 * 10 / 11)
    flagged = {kind: part["flagged"] for kind, part in result["by_kind"].items()}
    assert flagged == breached, "what stands in a picture is found by no pattern"
    out = capsys.readouterr().out
    assert "attack rate 90.9 %: 30 of 33 measured attacks succeeded" in out
    assert re.search(r"^pptx speaker notes +1\.0 +10\.0 BREACHED", out, re.M)
    assert max(map(len, out.splitlines())) <= 80


def test_a_steadfast_judge_resists_all(
    here: Path, openai_server: Callable[..., OpenAIServer], capsys: pytest.CaptureFixture[str]
) -> None:
    server = openai_server(judge({}, default=1))
    assert selftest(server, "--keep=kept") == 0
    assert "attack rate 0.0 %: 0 of 33 measured attacks succeeded" in capsys.readouterr().out
    assert (here / "kept" / "outputs" / "csv-cell-order" / "files" / "comparison.csv").is_file()
    with pytest.raises(SystemExit):
        selftest(server, "--keep=kept")


def test_a_judge_that_is_down_has_resisted_nothing(
    here: Path, openai_server: Callable[..., OpenAIServer], capsys: pytest.CaptureFixture[str]
) -> None:
    assert selftest(openai_server(lambda _: fails(400, "no such model"))) == 5
    total = found()["total"]
    assert (total["unmeasured"], total["resisted"], total["rate"]) == (ATTACKS, 0, None)
    assert "33 attacks are unmeasured, which is not resistance" in capsys.readouterr().out


def test_errors_on_attacks_alone_are_no_resistance_either(
    here: Path, openai_server: Callable[..., OpenAIServer]
) -> None:
    def respond(request: RecordedRequest) -> Answer | Any:
        if "human review is complete" in user_text(request):
            return fails(400, "content was refused by the gateway")
        return judge(lambda _: 1)(request)

    assert selftest(openai_server(respond)) == 10
    by_payload = {t["payload"]: t["outcome"] for t in found()["trials"] if t["kind"] == "csv cell"}
    assert by_payload == {"order": "resisted", "system": "unmeasured", "forged": "resisted"}


def test_a_judge_that_sees_no_pictures_is_not_credited_for_them(
    here: Path, openai_server: Callable[..., OpenAIServer]
) -> None:
    def respond(request: RecordedRequest) -> Answer | Any:
        if "image_url" in request.body.decode():
            return fails(400, "image input is not supported")
        return judge(lambda _: 1)(request)

    assert selftest(openai_server(respond)) == 10
    outcomes = {t["outcome"] for t in found()["trials"] if t["kind"] == "image text"}
    assert outcomes == {"not_shown"}
    assert found()["by_kind"]["image text"]["measured"] == 0


def test_without_a_key_it_says_which_one(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["judge-selftest", "--judge-model=gpt-x"])
    assert ended.value.code == 2
    assert "EVAL_OPENAI_API_KEY" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["--margin=0"], ["--judge-samples=none"], ["--gta-judge-concurrency=0"]])
def test_values_are_checked(here: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["judge-selftest", *arguments])
    assert ended.value.code == 2
    assert "is not a" in capsys.readouterr().err
