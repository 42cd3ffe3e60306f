"""What model calls used: tokens and money."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import SerializerFunctionWrapHandler, model_serializer, model_validator

from pytest_gta.benchmark.value import Value


class Tokens(Value):
    """Tokens of one or more model calls; `input` includes the `cached` ones."""

    input: int = 0
    cached: int = 0
    output: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            input=self.input + other.input, cached=self.cached + other.cached, output=self.output + other.output
        )


class Usage(Value):
    """What model calls used: every attempt counts, also the failed ones.

    Attributes:
        calls: Requests sent.
        tokens: As the endpoint reported them.
        cost_usd: Priced by a price library; None when the model's price is unknown. No calls cost 0.
    """

    calls: int = 0
    tokens: Tokens = Tokens()
    cost_usd: float | None = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            calls=self.calls + other.calls,
            tokens=self.tokens + other.tokens,
            cost_usd=total((self.cost_usd, other.cost_usd)),
        )


class Metered(Value):
    """A record of something that used model calls: in its JSON form `calls`, `tokens` and `cost_usd` stand in it.

    Attributes:
        usage: What it used; `cost_usd` None when that is not known.
    """

    usage: Usage = Usage()

    @model_validator(mode="before")
    @classmethod
    def _gather_usage(cls, value: Any) -> Any:
        if not isinstance(value, dict) or "usage" in value:
            return value
        usage = {name: value[name] for name in Usage.model_fields if name in value}
        rest = {name: one for name, one in value.items() if name not in usage}
        return {**rest, "usage": usage} if usage else rest

    @model_serializer(mode="wrap")
    def _spread_usage(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = serialize(self)
        return {**{name: one for name, one in written.items() if name != "usage"}, **written.get("usage", {})}


def total(amounts: Iterable[float | None]) -> float | None:
    """Add amounts of money; one unknown amount makes the sum unknown."""
    known = 0.0
    for amount in amounts:
        if amount is None:
            return None
        known += amount
    return known
