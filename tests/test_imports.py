"""Which module may import which: the layers, and what importing the plugin must not load."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "pytest_gta"

LAYERS = (
    "benchmark", "llm", "workspace", "formats", "tools", "agents", "judge", "reporters", "datasets", "authoring",
    "settings", "run", "pytest layer",
)  # fmt: skip
"""From the bottom up: a module imports from its own layer and from those below."""

SETTINGS = ("judge_address", "option", "option_values", "options", "options_page", "settings")
"""The modules beside the packages that are a layer of their own: what a run is told."""

WITH_PYTEST = (
    "checkpoint_reports", "collection", "controller", "fixtures", "hookspecs", "html_rows", "keys", "live_lines",
    "plugin", "task_reports",
)  # fmt: skip
"""The modules that pytest drives. All others do without it, and without these."""

HEAVY = (
    "openai", "pydantic", "docx", "pptx", "openpyxl", "pypdf", "pypdfium2", "PIL", "numpy", "matplotlib", "sympy",
    "httpx", "reportlab", "lxml", "pandas", "sandlock", "z3", "av", "genai_prices", "python_calamine",
    "yaml", "tqdm", "jinja2", "pygal",
)  # fmt: skip


def _modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE)


def _layer(module: str) -> str:
    parts = module.split(".")
    if len(parts) > 1 and parts[1] in SETTINGS:
        return "settings"
    if len(parts) > 2 and parts[1] in LAYERS:
        return parts[1]
    return "pytest layer"


def _name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and module of every import that can run, also inside functions; not those for type checkers."""
    tree = ast.parse(path.read_text("utf-8"))
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        for statement in block.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            module = node.module or ""
            for alias in node.names:
                below = (PACKAGE.parent / module.replace(".", "/") / f"{alias.name}.py").is_file()
                yield node.lineno, f"{module}.{alias.name}" if below else module


def test_imports_are_found_wherever_they_stand(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from pytest_gta.run.bench import Bench\n"
        "def f():\n    from pytest_gta.judge import judge\n    import openai.types\n"
    )
    assert list(_imports(tmp_path / "m.py")) == [(1, "typing"), (5, "pytest_gta.judge.judge"), (6, "openai.types")]
    names = ("pytest_gta.judge.judge", "pytest_gta.options", "pytest_gta.run.road", "pytest_gta.fixtures")
    assert [_layer(name) for name in names] == ["judge", "settings", "run", "pytest layer"]


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_imports_go_down(path: Path) -> None:
    own = LAYERS.index(_layer(_name(path)))
    upward = [
        f"line {line}: {imported}"
        for line, imported in _imports(path)
        if imported.startswith("pytest_gta.") and LAYERS.index(_layer(imported)) > own
    ]
    assert upward == []


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_only_what_pytest_drives_imports_pytest_and_only_llm_imports_openai(path: Path) -> None:
    imported = {name for _, name in _imports(path)}
    roots = {name.partition(".")[0] for name in imported}
    name = _name(path)
    assert "_pytest" not in roots
    driven = {f"pytest_gta.{module}" for module in WITH_PYTEST}
    if name not in driven:
        assert "pytest" not in roots
        assert imported & driven == set()
    if _layer(name) != "llm":
        assert "openai" not in roots


def test_the_modules_that_pytest_drives_are_there() -> None:
    assert [name for name in WITH_PYTEST if not (PACKAGE / f"{name}.py").is_file()] == []


def _loaded_by(statement: str) -> set[str]:
    script = f"import sys, json; {statement}; print(json.dumps(sorted(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(ended.stdout)}


@pytest.mark.parametrize(
    "statement",
    ["import pytest_gta.plugin", "import pytest_gta.cli", "import pytest_gta.settings, pytest_gta.run.selection"],
)
def test_nothing_heavy_is_loaded(statement: str) -> None:
    assert _loaded_by(statement) & set(HEAVY) == set()


def test_the_domain_loads_no_more_than_pydantic() -> None:
    statement = (
        "import pytest_gta.benchmark.metrics, pytest_gta.benchmark.run_directory, pytest_gta.benchmark.validation"
    )
    assert _loaded_by(statement) & (set(HEAVY) | {"pytest", "_pytest"}) <= {"pydantic"}


def test_listing_tasks_needs_no_results() -> None:
    modules = ("plugin", "collection", "run.lineup", "agents.recorded_tasks")
    assert "pydantic" not in _loaded_by("; ".join(f"import pytest_gta.{name}" for name in modules))


def test_what_is_imported_for_types_is_used_in_types_only() -> None:
    """Nothing else finds it: to a linter and a type checker such a name is there, and at run time it is not."""
    assert [use for path in sorted(PACKAGE.rglob("*.py")) for use in _used_beyond_types(path)] == []


def test_a_use_beyond_types_is_found(tmp_path: Path) -> None:
    head = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import B, C\n"
    (tmp_path / "m.py").write_text(head + "def f(x: B) -> C:\n    return C\n\ndef g():\n    from a import B\n    B\n")
    assert list(_used_beyond_types(tmp_path / "m.py")) == ["m.py:5 C"]


def _used_beyond_types(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text("utf-8"))
    for_types: set[str] = set()
    in_types: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for_types |= _imported(node)
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(annotation, ast.AST):
                in_types |= {id(part) for part in ast.walk(annotation)}

    def uses(node: ast.AST, known: frozenset[str]) -> Iterator[str]:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            known |= _imported(node)
        if isinstance(node, ast.Name) and node.id in for_types - known and id(node) not in in_types:
            yield f"{path.name}:{node.lineno} {node.id}"
        for child in ast.iter_child_nodes(node):
            yield from uses(child, known)

    yield from uses(tree, frozenset())


def _imported(below: ast.AST) -> set[str]:
    found = (node for node in ast.walk(below) if isinstance(node, ast.Import | ast.ImportFrom))
    return {(alias.asname or alias.name).partition(".")[0] for node in found for alias in node.names}


def test_the_page_for_contributors_names_what_is_there() -> None:
    page = (PACKAGE.parent / "docs" / "development.md").read_text("utf-8")
    named = re.findall(r"`(?:python )?([\w./]+(?:\.py|/))`", page)
    missing = [name for name in named if not any((root / name).exists() for root in (PACKAGE, PACKAGE.parent))]
    assert len(named) > 60 and missing == []
    assert " < ".join(LAYERS) in " ".join(page.split())
