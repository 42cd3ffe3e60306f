from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.judge.judge import Judge
from pytest_gta.judge.transport import JudgeApi, interfaces_used
from pytest_gta.llm.run_control import RunControl
from tests.judge.conftest import MakeJudge, StartServer, evidence, picture, run, statuses, verdict_of
from tests.openai_server import OpenAIServer, RecordedRequest, fails, hangs, judge, refuses, says

SHOWN = evidence("# Plan", picture("a.png"), picture("b.png"))


def big(name: str, size: int) -> Any:
    from pytest_gta.judge.evidence import PicturePart

    return PicturePart(name, "image/png", name.encode() * size)


def asked(server: OpenAIServer) -> list[RecordedRequest]:
    return [request for request in server.requests if request.is_chat or request.is_response]


@pytest.fixture
def judged(make_judge: MakeJudge, tmp_path: Path) -> Callable[..., Judge]:
    def make(server: OpenAIServer, api: str) -> Judge:
        return make_judge(server, control=RunControl(tmp_path / "control", slots=8), api=JudgeApi(api))

    return make


@pytest.mark.parametrize("api", ["auto", "responses"])
def test_each_picture_is_uploaded_once_and_removed_afterwards(
    openai_server: StartServer, judged: Callable[..., Judge], tmp_path: Path, api: str
) -> None:
    server = openai_server(judge({}, default=8), responses=True)
    shown = evidence("# Plan", big("a.png", 20_000), big("b.png", 20_000), big("a.png", 20_000))
    verdicts = run(judged(server, api), 5, shown)
    assert [verdict.score for verdict in verdicts.values()] == [8.0] * 5
    assert len(server.uploads) == 2, "the same picture twice is one file"
    assert [request.path for request in asked(server)] == ["/v1/responses"] * 5
    assert all(request.pictures == 3 for request in asked(server))
    assert sorted(server.deleted) == ["file-1", "file-2"]
    assert max(len(request.body) for request in asked(server)) < 20_000
    inline = openai_server(judge({}, default=8))
    run(judged(inline, "chat"), 5, shown)
    ratio = sum(len(r.body) for r in server.requests) / sum(len(r.body) for r in inline.requests)
    assert ratio < 0.25, "two uploads instead of three pictures for each of five leaves"
    assert interfaces_used(tmp_path / "control") == "chat and responses"
    assert verdicts["cp1-1"].usage.tokens.input > 0


def test_chat_uploads_nothing(openai_server: StartServer, judged: Callable[..., Judge]) -> None:
    server = openai_server(judge({}, default=8), responses=True)
    run(judged(server, "chat"), 3, SHOWN)
    assert not server.uploads
    assert {request.path for request in server.requests} == {"/v1/chat/completions"}


def test_without_pictures_auto_asks_by_chat(openai_server: StartServer, judged: Callable[..., Judge]) -> None:
    server = openai_server(judge({}, default=8), responses=True)
    run(judged(server, "auto"), 2)
    assert {request.path for request in server.requests} == {"/v1/chat/completions"}


def test_an_endpoint_without_a_store_is_asked_once_and_gets_pictures_inline(
    openai_server: StartServer, judged: Callable[..., Judge], tmp_path: Path
) -> None:
    server = openai_server(judge({}, default=8), store=False, responses=True)
    made = judged(server, "auto")
    run(made, 3, SHOWN)
    tried = [request for request in server.requests if request.path == "/v1/files"]
    assert 1 <= len(tried) <= 2
    assert [r.pictures for r in server.chats] == [2, 2, 2]
    run(judged(server, "auto"), 3, evidence("# Other", picture("a.png")))
    assert len([request for request in server.requests if request.path == "/v1/files"]) == len(tried), "remembered"
    assert interfaces_used(tmp_path / "control") == "chat"


def test_an_endpoint_that_stores_but_does_not_respond_is_asked_by_chat(
    openai_server: StartServer, judged: Callable[..., Judge]
) -> None:
    server = openai_server(judge({}, default=8))
    verdicts = run(judged(server, "auto"), 3, SHOWN)
    assert statuses(verdicts) == ["scored"] * 3
    assert [request.path for request in asked(server)].count("/v1/responses") == 1
    assert [r.pictures for r in server.chats] == [2, 2, 2]
    assert len(server.deleted) == len(server.uploads) > 0
    before = len(server.uploads)
    run(judged(server, "auto"), 2, evidence("# Other", picture("a.png")))
    assert len(server.uploads) == before, "remembered"


def test_forced_responses_without_a_store_sends_pictures_inline(
    openai_server: StartServer, judged: Callable[..., Judge]
) -> None:
    server = openai_server(judge({}, default=8), store=False, responses=True)
    verdicts = run(judged(server, "responses"), 2, SHOWN)
    assert statuses(verdicts) == ["scored"] * 2
    assert {request.path for request in asked(server)} == {"/v1/responses"}
    assert all(b"data:image/png;base64" in request.body for request in asked(server))


def test_a_key_that_may_not_upload_does_not_stop_the_run(
    openai_server: StartServer, judged: Callable[..., Judge]
) -> None:
    server = openai_server(judge({}, default=8), routes={"/v1/files": lambda _: fails(403, "no files for this key")})
    assert statuses(run(judged(server, "auto"), 2, SHOWN)) == ["scored"] * 2


def test_replies_of_responses_are_read_like_those_of_chat(
    openai_server: StartServer, judged: Callable[..., Judge]
) -> None:
    answers = {
        "Requirement number 1 is met.": refuses("I can't help with that."),
        "Requirement number 2 is met.": says("", finish_reason="length"),
        "Requirement number 3 is met.": fails(400, "too long", code="context_length_exceeded"),
        "Requirement number 4 is met.": verdict_of(9),
    }

    def respond(request: RecordedRequest) -> Any:
        return answers[request.last_user_text.rpartition("\n")[2]]

    verdicts = run(judged(openai_server(respond, responses=True), "responses"), 4, SHOWN)
    assert statuses(verdicts) == ["judge_refused", "judge_error", "judge_error", "scored"]
    assert "4096" in verdicts["cp1-2"].analysis or "output limit" in verdicts["cp1-2"].analysis
    assert verdicts["cp1-3"].analysis.startswith("context_exceeded")


def test_what_the_endpoint_rejects_is_given_up_by_its_own_name(
    openai_server: StartServer, judged: Callable[..., Judge]
) -> None:
    def respond(request: RecordedRequest) -> Any:
        for name in ("temperature", "max_output_tokens"):
            if name in request.json:
                body = {"error": {"message": f"Unsupported parameter: '{name}'", "param": name, "code": "unsupported"}}
                from tests.openai_server import Answer

                return Answer(status=400, body=body)
        return verdict_of(7)

    server = openai_server(respond, responses=True)
    assert statuses(run(judged(server, "responses"), 2, SHOWN)) == ["scored"] * 2
    last = asked(server)[-1].json
    assert "temperature" not in last
    assert "max_output_tokens" not in last
    assert last["text"]["format"]["type"] == "json_schema"
    assert last["store"] is False


def test_a_hanging_store_costs_its_time_only(
    openai_server: StartServer, judged: Callable[..., Judge], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_gta.judge.transport.UPLOAD_S", 0.2)
    server = openai_server(judge({}, default=8), routes={"/v1/files": lambda _: hangs()})
    assert statuses(run(judged(server, "auto"), 2, SHOWN)) == ["scored"] * 2
