"""A first look at an endpoint: what it finds fault with, and what it leaves to the run."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.first_look import first_look
from pytest_gta.llm.model_error import ModelErrorKind
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, Responder, fails, hangs_up

KEY = "sk-test-0123456789abcdef"
UNKNOWN = fails(404, "The model `typo` does not exist.", code="model_not_found")


def look(model: str, about_it: Answer = UNKNOWN, **server: Any) -> tuple[tuple[ModelErrorKind, str] | None, list[str]]:
    """Return what was found, and the paths that were asked for."""
    routes: dict[str, Responder] = {f"/v1/models/{model}": lambda _: about_it, **server.pop("routes", {})}
    with OpenAIServer(lambda _: UNKNOWN, routes=routes, **server) as double:
        fault = first_look(Endpoint(model, double.base_url, KEY))
    asked = [request.path.removeprefix("/v1/") for request in double.requests]
    return (fault.kind, fault.message) if fault else None, asked


def test_a_listed_model_takes_one_request() -> None:
    assert look("m", models=("m", "n")) == (None, ["models"])


def test_a_server_that_lists_nothing_takes_any_name() -> None:
    assert look("m", models=()) == (None, ["models"])


@pytest.mark.parametrize(
    "answer", [UNKNOWN, fails(404, "The model `jugde` does not exist."), fails(404, "model 'jugde' not found")]
)
def test_a_model_that_is_not_there_is_told_with_those_that_are(answer: Answer) -> None:
    found, asked = look("jugde", answer, models=("judge", *map(str, range(9))))
    assert found == (ModelErrorKind.BAD_REQUEST, "there is no such model; it has judge (of 10)")
    assert asked == ["models", "models/jugde"]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body={"id": "alias", "object": "model"}),
        fails(404, "Not Found"),
        fails(403, "not for this key"),
        fails(429, "slow down"),
        fails(503, "overloaded"),
        hangs_up(),
    ],
    ids=["it is there", "no such address", "forbidden", "too many", "overloaded", "hangs up"],
)
def test_what_the_list_lacks_may_be_there(answer: Answer) -> None:
    assert look("alias", answer, models=("m",)) == (None, ["models", "models/alias"])


@pytest.mark.parametrize("status", [403, 404, 405, 429, 500, 503])
def test_a_server_without_a_list_is_found_out_by_the_run(status: int) -> None:
    assert look("m", routes={"/v1/models": lambda _: fails(status, "no list")}) == (None, ["models"])


def test_a_refused_key_is_found() -> None:
    def refuse(request: RecordedRequest) -> Answer:
        return fails(401, f"Incorrect API key provided: {request.api_key}", code="invalid_api_key")

    found, _ = look("m", routes={"/v1/models": refuse})
    assert found is not None and found[0] is ModelErrorKind.AUTH
    assert found[1].startswith("Incorrect API key provided: ") and KEY not in found[1]


def test_a_key_that_may_not_see_the_list_may_be_good_for_answers() -> None:
    limited = fails(401, "You have insufficient permissions. Missing scopes: api.model.read.")
    assert look("m", routes={"/v1/models": lambda _: limited}) == (None, ["models"])


def test_nobody_there_is_found() -> None:
    with OpenAIServer() as double:
        endpoint = Endpoint("m", double.base_url, KEY)
    fault = first_look(endpoint)
    assert fault is not None and fault.kind is ModelErrorKind.UNAVAILABLE
    assert fault.message.startswith("no connection: ")
