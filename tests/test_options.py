from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gta.options import OPTIONS
from pytest_gta.options_page import options_page

DOCS = Path(__file__).parents[1] / "docs" / "options.md"


def test_the_documented_table_is_the_table() -> None:
    assert DOCS.read_text("utf-8") == options_page(), "run `pytest-gta options > docs/options.md`"


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_every_option_has_three_names_a_help_and_a_default_that_parses(option: object) -> None:
    from pytest_gta.option import Option

    assert isinstance(option, Option)
    assert option.flag == f"--gta-{option.key.replace('_', '-')}"
    assert (option.ini, option.variable) == (f"gta_{option.key}", f"GTA_{option.key.upper()}")
    assert option.help.endswith(".")
    assert option.help[0].isupper()
    if option.default is not None:
        option.parse(option.default)
    assert f"`{option.flag} {option.metavar}".strip().replace("|", "\\|") in options_page()


def test_keys_are_unique() -> None:
    assert len({option.key for option in OPTIONS}) == len(OPTIONS)


def test_options_of_a_group_stand_together() -> None:
    groups = [option.group for option in OPTIONS]
    assert groups == sorted(groups, key=groups.index)


def test_pipes_do_not_break_the_table() -> None:
    rows = [line for line in options_page().splitlines() if line.startswith("| `")]
    assert len(rows) == len(OPTIONS)
    assert {row.replace("\\|", "").count("|") for row in rows} == {6}
