"""Error answers that are large or odd are read in no time."""

from __future__ import annotations

import json

import pytest

from pytest_gta.llm.api_fault import read_fault
from pytest_gta.llm.model_error import ModelErrorKind

LARGE = 2_000_000


@pytest.mark.parametrize("piece", ["<", "<title ", "<title>", "input ", "prompt is too "])
def test_a_page_of_megabytes_is_not_read_to_its_end(piece: str) -> None:
    # Read to its end, such a page would keep all other calls of the process waiting for hours.
    fault = read_fault(500, piece * (LARGE // len(piece)), {})
    assert (fault.kind, fault.retryable) == (ModelErrorKind.UNAVAILABLE, True)
    assert len(fault.message) <= 10_000


def test_an_error_that_quotes_a_large_request_is_understood() -> None:
    body = json.dumps({"error": {"code": "context_length_exceeded", "message": "Too long: " + "x" * LARGE}})
    fault = read_fault(400, body, {})
    assert (fault.kind, fault.code) == (ModelErrorKind.CONTEXT_EXCEEDED, "context_length_exceeded")
    assert fault.message.startswith("Too long: xxx") and len(fault.message) == 10_000


def test_a_page_with_a_title_is_told_by_it() -> None:
    page = "<html><head><title lang=en> 502 Bad\nGateway </title></head>" + "<p>sorry</p>" * 100_000
    assert read_fault(502, page, {}).message == "502 Bad\nGateway"
    assert read_fault(502, "<h1>Bad</h1> <p>gateway</p>", {}).message.split() == ["Bad", "gateway"]
