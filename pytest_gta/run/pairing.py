"""Which agents a run measures: each agent with each model, under a label of its own. The same in every process."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_gta.agents.specification import AgentSpec, AgentSpecError, parse_agent_spec, split_name
from pytest_gta.settings import Settings, SettingsError

WITHOUT_MODEL = ("outputs", "pack")
"""Kinds of agents that are the same whatever the model."""

_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Pairing:
    """One agent, with the model it is given.

    Attributes:
        label: What ids, folders and reports call it, in ``[a-z0-9_-]``; "" when it is the only one.
        spec: Its specification, as ``--gta-agent`` takes it.
        model: The model; None for none.
    """

    label: str
    spec: str
    model: str | None


def pairings(settings: Settings) -> tuple[Pairing, ...]:
    """Return the agents of a run, in the order in which they were given.

    Raises:
        SettingsError: When one is not spelled in a known form, is given twice, or can only be measured alone.
    """
    found: dict[Pairing, AgentSpec] = {}
    for text in settings.agents:
        for model in settings.models or (None,):
            spec = _parsed(text, model)
            alone = spec.kind in WITHOUT_MODEL and len(settings.models) > 1
            found.setdefault(Pairing("", text, None if alone else model), spec)
    if len(found) == 1:
        return tuple(found)
    _check_alone(found.values())
    labels = _labels(list(found), several_models=len(settings.models) > 1, several_agents=len(settings.agents) > 1)
    return tuple(replace(pairing, label=label) for pairing, label in zip(found, labels, strict=True))


def _parsed(text: str, model: str | None) -> AgentSpec:
    try:
        return parse_agent_spec(text, model=model)
    except AgentSpecError as error:
        raise SettingsError(str(error)) from None


def _check_alone(specs: Iterable[AgentSpec]) -> None:
    if any(spec.kind == "fixture" for spec in specs):
        raise SettingsError(
            "--gta-agent=fixture is one agent for all tasks and cannot be one of several; give yours as "
            "import:pkg.mod:name, or run it alone and use `pytest-gta compare`"
        )


def _labels(found: Sequence[Pairing], *, several_agents: bool, several_models: bool) -> list[str]:
    """Return a label for each: its name or kind, and its model, as far as these tell it from others; else a number.

    Raises:
        SettingsError: When two have the same name and model.
    """
    named: dict[str, str] = {}
    parts: list[tuple[bool, str]] = []
    for pairing in found:
        name, _ = split_name(pairing.spec)
        agent = (name or _parsed(pairing.spec, None).label) if several_agents or name else None
        model = pairing.model if several_models else None
        label = _slug("-".join(filter(None, (agent, model))))
        if name is not None and named.setdefault(label, pairing.spec) != pairing.spec:
            raise SettingsError(
                f"--gta-agent: {named[label]} and {pairing.spec} have the same name {label!r}; give each its own"
            )
        parts.append((name is not None, label))
    taken = set(named)
    labels = []
    for is_named, label in parts:
        numbered = label if is_named else next(n for n in _numbered(label) if n not in taken)
        taken.add(numbered)
        labels.append(numbered)
    return labels


def _numbered(label: str) -> Iterator[str]:
    yield label
    yield from (f"{label}-{number}" for number in itertools.count(2))


def _slug(text: str) -> str:
    slug = re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-_")
    return slug[:_LONGEST].rstrip("-_") or "agent"
