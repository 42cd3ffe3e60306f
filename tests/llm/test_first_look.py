"""A first look at an endpoint: what it finds fault with, and what it leaves to the run."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.first_look import first_look
from pytest_gta.llm.model_error import ModelErrorKind
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, Responder, fails, hangs_up, says

KEY = "sk-test-0123456789abcdef"
UNKNOWN = fails(404, "The model `typo` does not exist.", code="model_not_found")


def look(model: str, respond: Responder, **server: Any) -> tuple[tuple[ModelErrorKind, str] | None, list[str]]:
    """Return what was found, and the paths that were asked for."""
    with OpenAIServer(respond, **server) as double:
        fault = first_look(Endpoint(model, double.base_url, KEY))
    asked = [request.path.removeprefix("/v1/") for request in double.requests]
    return (fault.kind, fault.message) if fault else None, asked


def test_a_listed_model_takes_one_free_request() -> None:
    assert look("m", lambda _: UNKNOWN, models=("m", "n")) == (None, ["models"])


def test_a_server_that_lists_nothing_takes_any_name() -> None:
    assert look("m", lambda _: UNKNOWN, models=()) == (None, ["models"])


def test_a_model_that_is_not_there_is_told_with_those_that_are() -> None:
    found, asked = look("jugde", lambda _: UNKNOWN, models=("judge", *map(str, range(9))))
    assert found == (ModelErrorKind.BAD_REQUEST, "there is no such model; it has judge (of 10)")
    assert asked == ["models", "chat/completions"]


def test_a_name_that_is_not_listed_and_yet_answers_is_good() -> None:
    assert look("alias", lambda _: says("Hello!"), models=("m",)) == (None, ["models", "chat/completions"])


@pytest.mark.parametrize(
    "answer",
    [
        fails(400, "Unsupported parameter: 'messages' is not supported with this model."),
        fails(429, "slow down"),
        fails(503, "overloaded"),
        hangs_up(),
    ],
)
def test_other_faults_are_left_to_the_run(answer: Answer) -> None:
    assert look("alias", lambda _: answer, models=("m",))[0] is None


def no_list(status: int) -> dict[str, Responder]:
    return {"/v1/models": lambda _: fails(status, "no list for this key")}


def test_a_key_that_may_not_see_the_list_may_still_ask_the_model() -> None:
    assert look("m", lambda _: says("Hello!"), routes=no_list(403))[0] is None


def test_a_refused_key_is_found() -> None:
    def refuse(request: RecordedRequest) -> Answer:
        return fails(401, f"Incorrect API key provided: {request.api_key}", code="invalid_api_key")

    found, _ = look("m", refuse, routes={"/v1/models": refuse})
    assert found is not None and found[0] is ModelErrorKind.AUTH
    assert found[1].startswith("Incorrect API key provided: ") and KEY not in found[1]


def test_an_account_without_credit_is_found() -> None:
    broke = fails(429, "You exceeded your current quota", code="insufficient_quota")
    found, _ = look("m", lambda _: broke, routes=no_list(403))
    assert found == (ModelErrorKind.NO_CREDIT, "You exceeded your current quota")


def test_an_address_that_is_no_api_is_found() -> None:
    with OpenAIServer(lambda _: Answer(status=404, body="Not Found")) as double:
        fault = first_look(Endpoint("m", double.base_url.removesuffix("/v1") + "/api", KEY))
    assert fault is not None and (fault.status, fault.code) == (404, "")


@pytest.mark.parametrize("status", [500, 503])
def test_a_server_in_trouble_is_waited_for_later(status: int) -> None:
    assert look("m", lambda _: UNKNOWN, routes=no_list(status)) == (None, ["models"])


def test_nobody_there_is_found() -> None:
    with OpenAIServer() as double:
        endpoint = Endpoint("m", double.base_url, KEY)
    fault = first_look(endpoint)
    assert fault is not None and fault.kind is ModelErrorKind.UNAVAILABLE
    assert fault.message.startswith("no connection: ")
