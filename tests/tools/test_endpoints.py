"""Tools ask models through `ToolEndpoints`: what is not set up is said, what fails is one clean line."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.retry import RetryPolicy
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import ConfinedCall, Tool, ToolFault
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import Confinement
from pytest_gta.workspace.workspace import Workspace
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, fails, hangs, refuses, says

Start = Callable[..., OpenAIServer]
KEY = "sk-test-vision-0123456789"
QUICK = RetryPolicy(attempts=3, rate_limited_attempts=3, base_s=0.01, cap_s=0.02)


def png(colour: str = "red", size: tuple[int, int] = (8, 6)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def picture_answer(data: bytes) -> Answer:
    return Answer(body={"created": 1, "data": [{"b64_json": base64.b64encode(data).decode()}]})


def endpoint(server: OpenAIServer) -> Endpoint:
    return Endpoint("seer", server.base_url, KEY)


def endpoints(server: OpenAIServer) -> ToolEndpoints:
    there = endpoint(server)
    return ToolEndpoints(vision=there, speech=there, images=there, retry=QUICK)


@pytest.mark.parametrize(
    ("call", "variable"),
    [
        (lambda e: e.describe("What is it?", [(png(), "image/png")]), "GTA_VISION_MODEL"),
        (lambda e: e.transcribe(Path(__file__)), "GTA_SPEECH_MODEL"),
        (lambda e: e.generate_image("a cat"), "GTA_IMAGE_MODEL"),
        (lambda e: e.edit_image(png(), "bluer"), "GTA_IMAGE_MODEL"),
        (lambda e: e.search("cats", 3), "SERPER_API_KEY"),
    ],
)
def test_what_is_not_set_up_is_said(call: Callable[[ToolEndpoints], object], variable: str) -> None:
    with pytest.raises(ToolFault, match=variable):
        call(ToolEndpoints())


def test_a_picture_is_described(openai_server: Start) -> None:
    server = openai_server(lambda _: says("<think>red?</think> A red field. "))
    asked = endpoints(server)
    assert asked.describe("What is it?", [(png(), "image/png"), (png("blue"), "image/png")]) == "A red field."
    [request] = server.chats
    assert request.pictures == 2 and request.texts == ["What is it?"] and request.api_key == KEY
    assert asked.usage.calls == 1 and asked.usage.tokens.output > 0


def test_failures_are_tried_again_and_then_told_without_the_key(openai_server: Start) -> None:
    server = openai_server(lambda r: fails(503) if r.number < 2 else says("there"))
    assert endpoints(server).describe("?", [(png(), "image/png")]) == "there"
    server.respond = lambda r: fails(400, f"bad header Authorization: Bearer {KEY}")
    with pytest.raises(ToolFault) as fault:
        endpoints(server).describe("?", [(png(), "image/png")])
    assert "the vision model gave no answer" in str(fault.value) and KEY not in str(fault.value)
    server.respond = lambda _: hangs()
    with pytest.raises(ToolFault, match=r"within 0\.2 s"):
        endpoints(server).describe("?", [(png(), "image/png")], deadline_s=0.2)


def test_a_refusal_and_an_empty_answer_are_no_descriptions(openai_server: Start) -> None:
    server = openai_server(lambda _: refuses("I will not look."))
    with pytest.raises(ToolFault, match="declined: I will not look"):
        endpoints(server).describe("?", [(png(), "image/png")])
    server.respond = lambda _: says("  ")
    with pytest.raises(ToolFault, match="empty"):
        endpoints(server).describe("?", [(png(), "image/png")])


def test_a_recording_is_written_down(openai_server: Start, tmp_path: Path) -> None:
    asked: list[RecordedRequest] = []

    def respond(request: RecordedRequest) -> Answer:
        asked.append(request)
        return Answer(body={"text": " Hello there. "})

    server = openai_server(routes={"/v1/audio/transcriptions": respond})
    sound = tmp_path / "memo.wav"
    sound.write_bytes(b"RIFF-sound")
    assert endpoints(server).transcribe(sound) == "Hello there."
    assert b'filename="memo.wav"' in asked[0].body and b"RIFF-sound" in asked[0].body and b"seer" in asked[0].body


def test_a_picture_is_made_in_the_endpoint_s_size_when_it_refuses_the_one_asked_for(openai_server: Start) -> None:
    def respond(request: RecordedRequest) -> Answer:
        if request.json.get("size") == "640x480":
            return fails(400, "Invalid value: '640x480'. Supported sizes are ...", code="invalid_value")
        return picture_answer(png("green"))

    server = openai_server(routes={"/v1/images/generations": respond})
    assert endpoints(server).generate_image("a meadow", "640x480") == png("green")
    assert [r.json.get("size") for r in server.requests] == ["640x480", None]
    assert server.requests[-1].json["prompt"] == "a meadow"


def test_a_picture_behind_an_address_is_fetched_without_the_key(openai_server: Start) -> None:
    server = openai_server(
        routes={
            "/v1/images/generations": lambda r: Answer(body={"data": [{"url": f"http://{r.headers['host']}/pic"}]}),
            "/pic": lambda _: Answer(body=png("blue"), headers={"Content-Type": "image/png"}),
        }
    )
    assert endpoints(server).generate_image("x", "") == png("blue")
    assert "authorization" in server.requests[0].headers and "authorization" not in server.requests[1].headers


def test_a_picture_is_edited(openai_server: Start) -> None:
    server = openai_server(routes={"/v1/images/edits": lambda _: picture_answer(png("navy"))})
    assert endpoints(server).edit_image(png(), "make it navy") == png("navy")
    body = server.requests[0].body
    assert png() in body and b"make it navy" in body


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(body={"data": []}), "holds no picture"),
        (Answer(body="<html>hi</html>", headers={"Content-Type": "text/html"}), "not JSON"),
        (fails(401, "no such key"), "401"),
        (fails(400, "not allowed by our policy", code="content_policy_violation"), "declined"),
        (Answer(body={"data": [{"url": "file:///etc/passwd"}]}), "holds no picture"),
        (Answer(body={"error": {"message": "overloaded", "code": 400}}), "overloaded"),
    ],
)
def test_answers_that_are_no_pictures(openai_server: Start, answer: Answer, words: str) -> None:
    server = openai_server(routes={"/v1/images/generations": lambda _: answer})
    with pytest.raises(ToolFault, match=words):
        endpoints(server).generate_image("x", "")


# -- in the toolbox ---------------------------------------------------------------------------------------------------


def test_a_tool_asks_endpoints_and_hands_its_file_work_to_the_confined_process(
    workspace: Workspace, openai_server: Start
) -> None:
    server = openai_server(lambda _: says("a table"))

    def look(workspace: Workspace, confined: ConfinedCall, endpoints: ToolEndpoints, file: str) -> str:
        assert workspace.relative(Path(file)) == "resources/files/sales.csv"
        value = confined("pytest_gta.tools.calculator:calculate", {"expression": "6*7"})
        return f"{value} {endpoints.describe('?', [])}"

    spec = ToolSpec("Look", "perception", ".", (ToolParameter("file", "file", "."),))
    look_tool = Tool(spec, look, reads=("file",))
    given = endpoints(server)
    with Toolbox(workspace, Confinement("off", ""), only=["Look"], extra=[look_tool], endpoints=given) as tools:
        assert tools.call("Look", {"file": "sales.csv"}).text == "42 a table"
    assert given.usage.calls == 1


def test_an_endpoint_gets_no_more_time_than_the_tool_call(workspace: Workspace, openai_server: Start) -> None:
    server = openai_server(lambda _: hangs())

    def look(endpoints: ToolEndpoints) -> str:
        return endpoints.describe("?", [])

    tool = Tool(ToolSpec("Look", "perception", "."), look, timeout_s=0.3)
    with Toolbox(workspace, Confinement("off", ""), only=["Look"], extra=[tool], endpoints=endpoints(server)) as tools:
        answer = tools.call("Look", "{}")
    assert answer.is_error and "no whole answer within 0.3" in answer.text
