"""Without a model or agent the plugin stays out of the way."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import SUITE


def test_items_skip_with_one_reason(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SUITE + "\ndef test_other():\n    assert True\n")
    result = pytester.runpytest_subprocess("-rs")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*no agent to measure: pass --gta-model=NAME or --gta-agent=SPEC*"])
    result.stdout.no_fnmatch_line("*gta: *")
    assert not (pytester.path / ".gta").exists()


def test_nothing_heavy_is_imported(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        HEAVY = {"openai", "pydantic", "docx", "pptx", "openpyxl", "pypdf", "PIL", "numpy", "matplotlib", "httpx"}

        def test_imports():
            assert HEAVY & set(sys.modules) == set()
        """
    )
    pytester.runpytest_subprocess("-p", "no:html", "-p", "no:metadata").assert_outcomes(passed=1)


def test_help_lists_every_option_without_an_active_run(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_subprocess("--help", "--gta-model=m")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*--gta-model=NAME*", "*--gta-fail-under=PCT*", "*gta_threshold*"])
