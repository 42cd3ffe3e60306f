"""Which models judge, and where each of them is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from pytest_gta.option_values import address, text

SHARED_KEYS = ("EVAL_OPENAI_API_KEY", "OPENAI_API_KEY")
"""Where the key of a judge at the common address is looked for, in this order."""


@dataclass(frozen=True, slots=True)
class JudgeAddress:
    """One judge.

    Attributes:
        model: The model's name.
        base_url: Its server, when it has one of its own; None for where ``--gta-judge-base-url`` says.
    """

    model: str
    base_url: str | None = None

    @property
    def name(self) -> str:
        """What reports call it."""
        return self.model if self.base_url is None else f"{self.model}@{urlsplit(self.base_url).netloc}"

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Where its key is looked for. A server of its own is never sent the key of another."""
        own = "EVAL_OPENAI_API_KEY_" + re.sub(r"[^A-Z0-9]+", "_", self.model.upper()).strip("_")
        return (own,) if self.base_url is not None else (own, *SHARED_KEYS)


def panel(value: str) -> tuple[JudgeAddress, ...]:
    """Return the judges of a list like ``gpt-5.2,other@https://host/v1``.

    Raises:
        ValueError: When there are fewer than two different ones, or an address is not one.
    """
    judges = dict.fromkeys(_judge(entry) for entry in text(value).split(",") if entry.strip())
    if len(judges) < 2:
        raise ValueError("does not name two different judges; a panel is a list such as gpt-5.2,other-model")
    return tuple(judges)


def _judge(entry: str) -> JudgeAddress:
    model, at, url = entry.strip().partition("@http")
    if not model or model == "local":
        raise ValueError("holds a judge that cannot sit on a panel: write NAME or NAME@URL, and not local")
    return JudgeAddress(model, address("http" + url) if at else None)
