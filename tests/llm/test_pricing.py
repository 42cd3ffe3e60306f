"""Prices come from the bundled list; what is not in it is unknown."""

from __future__ import annotations

import socket

import pytest

from pytest_gta.benchmark.usage import Tokens
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.pricing import price

TOKENS = Tokens(input=1_000_000, cached=400_000, output=100_000)


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("the price list must not be fetched")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_openai_models_have_a_price_and_cached_tokens_a_lower_one():
    endpoint = Endpoint("gpt-5", None, "k")
    full = price(endpoint, TOKENS.model_copy(update={"cached": 0}))
    part = price(endpoint, TOKENS)
    assert full == pytest.approx(1.25 + 1.0)  # USD 1.25 a million in, 10 out
    assert part == pytest.approx(0.6 * 1.25 + 0.4 * 0.125 + 1.0)


@pytest.mark.parametrize(
    ("model", "url"), [("gpt-99-ultra", None), ("gpt-5", "http://127.0.0.1:1/v1"), ("local", "https://example.org/v1")]
)
def test_what_is_not_in_the_list_is_unknown(model, url):
    assert price(Endpoint(model, url, "k"), TOKENS) is None


def test_more_cached_than_read_is_not_believed():
    assert price(Endpoint("gpt-5", None, "k"), Tokens(input=10, cached=20)) == pytest.approx(10 * 0.125e-6)
