"""Plot and Solver run what models really write, save every figure, and name the model's own line when it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_gta.tools import python_code
from pytest_gta.tools.python_code import source_of
from pytest_gta.tools.tool import ToolFault
from pytest_gta.tools.toolbox import Toolbox


def test_the_code_is_the_first_python_fence_else_the_first_fence_else_all() -> None:
    assert source_of("x = 1\n") == "x = 1\n"
    assert source_of("Here:\n```python\na\n```\n```python\nb\n```") == "a\n"
    assert source_of("```bash\nls\n```\n```py\na\n```") == "a\n"
    assert source_of("```\na\n```") == "a\n"
    assert source_of("```Python title=x\na\n") == "a\n"
    assert source_of("~~~python\ns = '```'\n~~~") == "s = '```'\n"
    assert source_of("```python\ns = '```'\nt = 1\n```") == "s = '```'\nt = 1\n"


def test_solver_knows_sympy_and_returns_text(toolbox: Toolbox) -> None:
    result = toolbox.call(
        "Solver", {"command": "def solution():\n    x = symbols('x')\n    return solve(Eq(x**2 - 4, 0), x)"}
    )
    assert (result.text, result.is_error) == ("[-2, 2]", False)
    result = toolbox.call(
        "Solver", {"command": "def solution():\n    t = Symbol('t')\n    return integrate(t**2, (t, 0, 3))"}
    )
    assert result.text == "9"


def test_solver_reads_inputs_and_its_files_are_delivered(toolbox: Toolbox) -> None:
    command = """```python
import csv
def solution():
    rows = list(csv.DictReader(open('resources/files/sales.csv')))
    total = sum(int(row['sales']) for row in rows)
    with open('total.txt', 'w') as out:
        out.write(str(total))
    print('rows:', len(rows))
    return total
```"""
    result = toolbox.call("Solver", {"command": command})
    assert result.text == "200\n\nPrinted:\nrows: 2\nFiles: total.txt"
    assert result.files == ("total.txt",)
    assert (toolbox.workspace.root / "total.txt").read_text() == "200"


def test_printing_alone_is_an_answer(toolbox: Toolbox) -> None:
    assert toolbox.call("Solver", {"command": "print(6 * 7)"}).text == "42"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "def solution():\n    return 1 / 0",
            "Solver failed: ZeroDivisionError in line 2 of the code: division by zero\n"
            "    line 2, in solution: return 1 / 0",
        ),
        (
            "def solution(:\n    pass",
            "Solver failed: SyntaxError in line 1 of the code: invalid syntax\n    def solution(:",
        ),
        (
            "import no_such_module",
            "Solver failed: ModuleNotFoundError in line 1 of the code: No module named 'no_such_module'",
        ),
        ("x = 5", "Solver failed: the code defines no solution() and prints nothing"),
        ("", "Solver failed: the code is empty"),
        ("```python\n```", "Solver failed: the code is empty"),
        ("exit()", "Solver failed: the code called exit()"),
        ("import json\ndef solution(): return json.loads('{')", "Solver failed: JSONDecodeError in line 2 of the code"),
        ("def solution(): return undefined_thing", "Solver failed: NameError in line 1 of the code"),
        (
            "def solution():\n    raise ValueError('no\\nsuch')",
            "Solver failed: ValueError in line 2 of the code: no\nsuch",
        ),
        ("def solution(): return open('nope.csv')", "Solver failed: FileNotFoundError in line 1 of the code"),
    ],
)
def test_what_failed_is_told_with_the_models_line(toolbox: Toolbox, command: str, said: str) -> None:
    result = toolbox.call("Solver", {"command": command})
    assert result.is_error
    assert result.text.startswith(said)
    assert str(toolbox.workspace.root) not in result.text
    assert "site-packages" not in result.text
    assert sys.prefix not in result.text


def test_names_a_model_defines_itself_are_its_own(toolbox: Toolbox) -> None:
    command = "def solve(a, b): return a + b\nS = 5\ndef solution(): return solve(S, 2)"
    assert toolbox.call("Solver", {"command": command}).text == "7"


# -- Plot -------------------------------------------------------------------------------------------------------------


def png_size(path: Path) -> tuple[int, int]:
    from PIL import Image

    with Image.open(path) as picture:
        picture.load()
        return picture.size


def test_plot_saves_every_figure_under_a_free_name(toolbox: Toolbox) -> None:
    pytest.importorskip("matplotlib")
    root = toolbox.workspace.root
    (root / "plot_2.png").write_text("the agent's own")
    command = (
        "def solution():\n    a, ax = plt.subplots()\n    ax.plot([1, 2])\n"
        "    plt.figure()\n    plt.plot([2, 1])\n    return a"
    )
    result = toolbox.call("Plot", {"command": command})
    assert (result.text, result.files) == ("Saved plot_1.png, plot_3.png.", ("plot_1.png", "plot_3.png"))
    assert min(png_size(root / "plot_1.png")) > 300
    assert (root / "plot_2.png").read_text() == "the agent's own"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("def solution():\n    fig, ax = plt.subplots()\n    fig.savefig('own.png')\n    return fig", ("own.png",)),
        ("plt.bar(['a'], [1])\nplt.savefig('bars.svg')\nplt.close()", ("bars.svg",)),
        ("import os\nos.makedirs('charts')\nplt.plot([1])\nplt.savefig('charts/a.png')\nplt.show()", ("charts/a.png",)),
        ("from PIL import Image\nImage.new('RGB', (9, 9)).save('drawn.png')", ("drawn.png",)),
    ],
)
def test_figures_the_code_saves_keep_their_names(toolbox: Toolbox, command: str, files: tuple[str, ...]) -> None:
    pytest.importorskip("matplotlib")
    result = toolbox.call("Plot", {"command": command})
    assert not result.is_error, result.text
    assert result.files == files


def test_an_axes_or_a_list_of_figures_will_do(toolbox: Toolbox) -> None:
    pytest.importorskip("matplotlib")
    result = toolbox.call("Plot", {"command": "def solution():\n    return [plt.figure(), plt.subplots()[1]]"})
    assert len(result.files) == 2


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("def solution(): return 3", "made no figure: let solution() return a matplotlib figure. It returned: int."),
        ("def solution(): return plt.figure(figsize=(500, 2))", "at most 8000 a side"),
        (
            "def solution():\n    plt.plot([1, 2], [1])",
            "ValueError in line 2 of the code: x and y must have same first",
        ),
    ],
)
def test_what_is_no_figure_is_told(toolbox: Toolbox, command: str, said: str) -> None:
    pytest.importorskip("matplotlib")
    result = toolbox.call("Plot", {"command": command})
    assert result.is_error
    assert said in result.text


def test_a_missing_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib", raising=False)
    monkeypatch.delitem(sys.modules, "sympy", raising=False)
    monkeypatch.setattr(python_code.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolFault, match=r"Plot needs matplotlib, .*pip install 'pytest-gta\[tools\]'"):
        python_code.plot("def solution(): return plt.figure()")
    with pytest.raises(ToolFault, match=r"Solver needs sympy, .*pip install 'pytest-gta\[tools\]'"):
        python_code.solve("def solution(): return symbols('x')")
    assert python_code.solve("def solution(): return 2")["text"] == "2"
