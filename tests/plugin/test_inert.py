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


@pytest.mark.parametrize("folder", ["main-run/tasks/planning_1/workspace", "both/agents/a/tasks/planning_1/workspace"])
def test_what_an_agent_left_is_not_collected(folder: str, pytester: pytest.Pytester) -> None:
    """A ``conftest.py`` of an agent's would run with the user's rights, and a link to / be walked for ever."""
    pytester.makepyfile("def test_of_the_project():\n    pass\n")
    workspace = pytester.path / folder
    workspace.mkdir(parents=True)
    (workspace / "conftest.py").write_text("raise RuntimeError('an agent got out')")
    (workspace / "test_of_the_agent.py").write_text("def test_it():\n    pass\n")
    (workspace / "all").symlink_to("/")
    (pytester.path / folder.partition("/")[0] / "run.json").write_text('{"pytest_gta_version": "0.1.0"}')
    own = pytester.mkpydir("own")
    (own / "run.json").write_text('{"runs": 3}')
    (own / "test_own.py").write_text("def test_own():\n    pass\n")
    result = pytester.runpytest_subprocess("-v", str(pytester.path))
    result.assert_outcomes(passed=2)
