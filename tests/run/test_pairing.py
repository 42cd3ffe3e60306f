from __future__ import annotations

import pytest

from pytest_gta.run.pairing import Pairing, pairings
from pytest_gta.settings import Settings, SettingsError, resolve


def settled(agents: list[str], models: list[str]) -> Settings:
    given = {"gta_agent": agents or None, "gta_model": models or None}
    settings = resolve(given.get, lambda _name: "", {})
    assert settings is not None
    return settings


@pytest.mark.parametrize(
    ("agents", "models", "expected"),
    [
        (["tools"], ["gpt-5"], [("", "gpt-5")]),
        (["a=tools"], ["gpt-5"], [("", "gpt-5")]),
        ([], ["gpt-5", "o3", "gpt-5"], [("gpt-5", "gpt-5"), ("o3", "o3")]),
        ([], ["org/Model:8b", "gpt-5.2"], [("org-model-8b", "org/Model:8b"), ("gpt-5-2", "gpt-5.2")]),
        (["tools", "react"], ["gpt-5"], [("tools", "gpt-5"), ("react", "gpt-5")]),
        (
            ["tools", "react"],
            ["m", "n"],
            [("tools-m", "m"), ("tools-n", "n"), ("react-m", "m"), ("react-n", "n")],
        ),
        (["x=tools"], ["m", "n"], [("x-m", "m"), ("x-n", "n")]),
        (["cmd:claude", "import:pkg.mod:run"], [], [("claude", None), ("pkg-mod-run", None)]),
        (["cmd:claude", "outputs:old"], ["m", "n"], [("claude-m", "m"), ("claude-n", "n"), ("outputs-old", None)]),
        (["cmd:./a.sh --fast", "cmd:./a.sh --slow"], [], [("a-sh", None), ("a-sh-2", None)]),
        (["cmd:./a.sh", "a-sh=cmd:b"], [], [("a-sh-2", None), ("a-sh", None)]),
        (["Fast_1=cmd:a", "slow=cmd:FOO=1 sh"], [], [("fast_1", None), ("slow", None)]),
    ],
)
def test_each_agent_with_each_model_under_a_label_of_its_own(
    agents: list[str], models: list[str], expected: list[tuple[str, str | None]]
) -> None:
    assert [(pairing.label, pairing.model) for pairing in pairings(settled(agents, models))] == expected


def test_the_specification_stays_as_it_was_written() -> None:
    found = pairings(settled(["a=cmd:FOO=1 sh -c 'x=2'", "cmd:BAR=2 sh"], []))
    assert found == (Pairing("a", "a=cmd:FOO=1 sh -c 'x=2'", None), Pairing("bar-2", "cmd:BAR=2 sh", None))


@pytest.mark.parametrize(
    ("agents", "models", "message"),
    [
        (["a=cmd:x", "A=cmd:y"], [], "--gta-agent: a=cmd:x and A=cmd:y have the same name 'a'; give each its own"),
        (["cmd:x", "robot"], [], "--gta-agent=robot: not a known agent; valid: "),
        (["cmd:x", "a=robot"], [], "--gta-agent=robot: not a known agent; valid: "),
        (["fixture"], ["m", "n"], "--gta-agent=fixture is one agent for all tasks and cannot be one of several"),
    ],
)
def test_what_cannot_be_measured_is_said(agents: list[str], models: list[str], message: str) -> None:
    with pytest.raises(SettingsError) as refused:
        pairings(settled(agents, models))
    assert str(refused.value).startswith(message)


def test_lines_of_the_ini_file_and_the_environment() -> None:
    texts = {"gta_agent": ["a=cmd:x", "b=cmd:y, z"]}
    from_ini = resolve(lambda _name: None, lambda name: texts.get(name, ""), {})
    from_environment = resolve(lambda _name: None, lambda _name: "", {"GTA_AGENT": "\n a=cmd:x \n\nb=cmd:y, z\n"})
    assert from_ini is not None
    assert from_environment is not None
    assert from_ini.agents == from_environment.agents == ("a=cmd:x", "b=cmd:y, z")
    assert dict(from_ini.given)["agent"] == "a=cmd:x\nb=cmd:y, z"
