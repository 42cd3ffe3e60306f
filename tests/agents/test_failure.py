"""Whose fault a failure is."""

from __future__ import annotations

import httpx
import openai
import pytest

from pytest_gta.agents.failure import (
    context_exceeded,
    endpoint_fault,
    failure_line,
    reads_like_an_outage,
    request_rejected,
    without_held_keys,
)
from pytest_gta.llm.model_error import ModelError, ModelErrorKind


def answered(status: int) -> openai.APIStatusError:
    response = httpx.Response(status, request=httpx.Request("POST", "http://model/v1"))
    return openai.APIStatusError("said", response=response, body=None)


def caused_by(cause: BaseException, *, suppressed: bool = False) -> BaseException:
    error = RuntimeError("all retries failed")
    error.__context__ = cause
    error.__suppress_context__ = suppressed
    return error


@pytest.mark.parametrize("status", [401, 402, 403, 404, 429, 500, 502, 503, 504, 529])
def test_an_endpoint_that_does_not_serve(status: int) -> None:
    assert endpoint_fault(answered(status))
    assert endpoint_fault(caused_by(answered(status)))
    assert endpoint_fault(ExceptionGroup("tasks", [ValueError(), answered(status)]))


@pytest.mark.parametrize(
    "error",
    [
        answered(400),
        answered(422),
        caused_by(answered(503), suppressed=True),
        ConnectionError("a web page is down"),
        httpx.ConnectError("a web page is down"),
        ValueError("503 Service Unavailable"),
    ],
)
def test_what_is_the_agents_own(error: BaseException) -> None:
    assert not endpoint_fault(error)


def test_no_connection_to_a_model() -> None:
    request = httpx.Request("POST", "http://model/v1")
    assert endpoint_fault(openai.APIConnectionError(request=request))
    assert endpoint_fault(openai.APITimeoutError(request=request))


@pytest.mark.parametrize(
    "answer",
    [
        "[AgentError] HTTPError: 503 Server Error: Service Unavailable for url: https://x",
        "Error code: 429 - Too Many Requests",
        "openai.RateLimitError: You exceeded your current quota",
        "Your credit balance is too low to access the API.",
        "ERROR: Quota exceeded. Check your plan and billing details.",
        'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        "[API Error: got status: UNAVAILABLE. The model is overloaded.]",
        "gta (m) returned a billing error - your API key has run out of credits",
        "requests.exceptions.ConnectionError: Max retries exceeded with url: /v1",
    ],
)
def test_an_answer_that_reads_like_an_outage(answer: str) -> None:
    assert reads_like_an_outage(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "I analysed 503 rows; the report is in report.pdf.",
        "The service was available on 500 of 502 days.",
        "Here is the incident report. " + "Much was written. " * 20 + "503 Service Unavailable",
        "Room 503: the server is kind.",
        "The quarter's invoices are in billing.xlsx; two customers are out of stock.",
    ],
)
def test_an_answer_that_does_not(answer: str) -> None:
    assert not reads_like_an_outage(answer)


def test_one_clean_line() -> None:
    assert failure_line(ValueError("a\nb\x1b[31m")) == "ValueError: a b [31m"
    assert failure_line(KeyError()) == "KeyError"
    assert len(failure_line(ValueError("x" * 9_000))) == 300
    assert failure_line(ValueError("token is my-secret-1"), ["my-secret-1"]) == "ValueError: token is [secret]"


def test_only_keys_that_are_held_leave_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "abcdef-0123456789")
    monkeypatch.setenv("SHORT_API_KEY", "report")
    text = "password: hunter22, the report, sk-looks-like-one-123456, abcdef-0123456789"
    assert without_held_keys(text) == "password: hunter22, the report, sk-looks-like-one-123456, [secret]"


def test_errors_of_our_own_client() -> None:
    assert endpoint_fault(caused_by(ModelError(ModelErrorKind.NO_CREDIT, "no credit")))
    assert not endpoint_fault(ModelError(ModelErrorKind.BAD_REQUEST, "no such model"))
    assert context_exceeded(ModelError(ModelErrorKind.CONTEXT_EXCEEDED, "too long"))


def test_a_request_that_is_rejected() -> None:
    assert request_rejected(caused_by(answered(400)))
    assert request_rejected(answered(422))
    assert request_rejected(ModelError(ModelErrorKind.BAD_REQUEST, "no such model"))
    assert not request_rejected(answered(500))
    assert not request_rejected(ModelError(ModelErrorKind.TIMEOUT, "no answer"))
    assert not request_rejected(ValueError("400"))


def test_a_conversation_that_is_too_long() -> None:
    response = httpx.Response(400, request=httpx.Request("POST", "http://model/v1"))
    too_long = openai.BadRequestError("maximum context length is 8192 tokens", response=response, body=None)
    assert context_exceeded(caused_by(too_long)) and not endpoint_fault(too_long)
    assert not context_exceeded(answered(400)) and not context_exceeded(ValueError("maximum context length"))
