"""Plot and Solver: Python code a model wrote, run in the task's confined process with the workspace as its folder."""

from __future__ import annotations

import ast
import builtins
import contextlib
import importlib.util
import io
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pytest_gta.tools.backend import Backend
from pytest_gta.tools.figure_fonts import FigureFonts
from pytest_gta.tools.font_files import lacking
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

_ALGEBRA = re.compile(
    r"\b(?:sympy|symbols?|Symbol|Eq|n?solve\w*|linsolve|dsolve|simplify|expand|factor|integrate|diff|Derivative|Integral"
    r"|limit|series|Matrix|Rational|Poly|S|oo|Sum|Product|Piecewise|lambdify|latex|sympify)\b"
)


def preload(function: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the libraries a call will most likely need, to import once for this call and all later ones."""
    if function == "plot":
        return ("numpy", "matplotlib.backends.backend_agg", "matplotlib.pyplot")
    return ("sympy",) if _ALGEBRA.search(str(arguments.get("command", ""))) else ()


_FENCED = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_SOURCE = "<your code>"
_MAX_PRINTED = 20_000
_MAX_PICTURES = 20
_MAX_SIDE_PX = 8_000

PLOT = Tool(
    ToolSpec(
        "Plot",
        "logic",
        "Runs Python code that draws with matplotlib and saves every figure as a PNG in the workspace. The code runs "
        "in the workspace folder: it may read the input files (csv, json, openpyxl; numpy is there, pandas if "
        "installed) and write files, which count as delivered. There is no network. `plt` is imported already.",
        (
            ToolParameter(
                "command",
                "text",
                "Python source, in a ```python fence or bare. Define solution() returning a matplotlib figure (or a "
                "list of figures); figures left open are saved as well. To choose the file name call "
                "fig.savefig('name.png') yourself.",
                example="def solution():\n    fig, ax = plt.subplots()\n    ax.bar(['a', 'b'], [3, 5])\n    return fig",
            ),
        ),
    ),
    "pytest_gta.tools.python_code:plot",
    backends=(Backend("matplotlib", ("matplotlib", "numpy"), "tools"),),
)

SOLVER = Tool(
    ToolSpec(
        "Solver",
        "logic",
        "Runs Python code and returns what solution() returns, and what it prints, as text: equations with sympy, "
        "statistics, simulations, computing with the input files. The code runs in the workspace folder: it may read "
        "the input files and write files, which count as delivered. There is no network. sympy's names (symbols, Eq, "
        "solve, integrate, ...) are imported already.",
        (
            ToolParameter(
                "command",
                "text",
                "Python source, in a ```python fence or bare, that defines solution().",
                example="def solution():\n    x = symbols('x')\n    return solve(Eq(x**2 - 4, 0), x)",
            ),
        ),
    ),
    "pytest_gta.tools.python_code:solve",
    backends=(Backend("Python with sympy", ("sympy",), "tools"),),
)


def plot(command: str) -> dict[str, Any]:
    """Run drawing code and save its figures.

    Args:
        command: What the model wrote.

    Raises:
        ToolFault: When it fails or draws nothing; names the model's own line.
    """
    _need("matplotlib", "Plot")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    before = _pictures()
    saved: list[str] = []
    fonts = FigureFonts()
    _record_saving(saved, fonts)
    with _captured() as printed:
        # A model calls show() where there is no screen; matplotlib would only warn.
        value = _run(command, {"plt": plt, "matplotlib": matplotlib}, solution_needed=False)
    figures = _figures(value, plt)
    if not figures and not saved and _pictures() == before:
        returned = "" if value is None else f" It returned: {type(value).__name__}."
        raise ToolFault(f"the code ran but made no figure: let solution() return a matplotlib figure.{returned}")
    files = list(dict.fromkeys(name for name in (*saved, *sorted(_pictures() - before)) if Path(name).is_file()))
    for figure in figures[:_MAX_PICTURES]:
        if getattr(figure, "_gta_saved", False):
            continue
        name = _free_name("plot")
        with _as_models_fault(len(command.splitlines())):
            width, height = (side * figure.dpi for side in figure.get_size_inches())
            if max(width, height) > _MAX_SIDE_PX:
                raise ToolFault(f"the figure is {width:.0f} x {height:.0f} pixels; at most {_MAX_SIDE_PX} a side")
            figure.savefig(name, bbox_inches="tight")
        files.append(name)
    left = len(figures) - _MAX_PICTURES
    text = f"Saved {', '.join(files)}." + (f" {left} more figures were not saved." if left > 0 else "")
    if fonts.missing:
        text += f"\n{lacking(fonts.missing)}"
    return {"text": _with_printed(text, printed), "files": files}


def solve(command: str) -> dict[str, Any]:
    """Run code and return what ``solution()`` returns, as text.

    Args:
        command: What the model wrote.

    Raises:
        ToolFault: When it fails; names the model's own line.
    """
    names: dict[str, Any] = {}
    if _unknown_names(source_of(command)):
        _need("sympy", "Solver")
        exec("from sympy import *", names)  # noqa: S102 - our own words; gives the code all names at once
        names.pop("__builtins__", None)
    before = {path: _stamp(path) for path in _visible_files()}
    with _captured() as printed:
        value = _run(command, names, solution_needed=True)
        with _as_models_fault(len(command.splitlines())):
            text = str(value) if value is not None or not printed.getvalue().strip() else ""
    files = [path for path in _visible_files() if before.get(path) != _stamp(path)]
    return {"text": _with_printed(text, printed), "files": files}


def source_of(command: str) -> str:
    """Return the code in what a model wrote: the first Python fence, else the first fence, else all of it."""
    fences = [(match[2].lower(), match[3]) for match in _FENCED.finditer(command)]
    for language, code in fences:
        if language in ("python", "py", "python3"):
            return code
    return fences[0][1] if fences else command


# -- running ----------------------------------------------------------------------------------------------------------


def _run(command: str, names: dict[str, Any], *, solution_needed: bool) -> Any:
    """Run a model's code and its ``solution()``."""
    source = source_of(command)
    if not source.strip():
        raise ToolFault("the code is empty")
    space = {"__name__": "__main__", "__builtins__": builtins, **names}
    given = dict(space)
    linecache.cache[_SOURCE] = (len(source), None, source.splitlines(keepends=True), _SOURCE)
    with _as_models_fault(len(source.splitlines())):
        exec(compile(source, _SOURCE, "exec"), space)  # noqa: S102 - what the tool is for; the process is confined
        solution = space.get("solution")
        if callable(solution) and solution is not given.get("solution"):
            return solution()
    if solution_needed:
        printed = getattr(sys.stdout, "getvalue", str)().strip()
        if not printed:
            raise ToolFault("the code defines no solution() and prints nothing: define solution() and return a value")
    return None


def _unknown_names(source: str) -> set[str]:
    """The names that code uses and nowhere defines: the ones that sympy is to supply."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()  # running it will tell
    used: set[str] = set()
    defined = {*dir(builtins), "__name__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.alias):
            if node.name == "*":
                return set()
            defined.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
            defined.add(node.name)
    return used - defined


class _as_models_fault(contextlib.AbstractContextManager[None]):  # noqa: N801 - reads as a verb
    """Turns what a model's code raises into a `ToolFault` that tells line and message, and no path of the host."""

    def __init__(self, lines: int) -> None:
        self._lines = lines

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, ToolFault | MemoryError):
            return
        if isinstance(error, SystemExit):
            raise ToolFault("the code called exit(); return from solution() instead") from None
        if isinstance(error, KeyboardInterrupt):
            return
        raise ToolFault(_described(error)) from None


def _described(error: BaseException) -> str:
    name, message = type(error).__name__, str(error)
    if isinstance(error, SyntaxError) and error.filename == _SOURCE:
        line = (error.text or "").strip()
        return f"{name} in line {error.lineno} of the code: {error.msg}" + (f"\n    {line}" if line else "")
    where = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _SOURCE]
    if isinstance(error, ModuleNotFoundError):
        message += "; it is not installed here and cannot be"
    if not where:
        return f"{name}: {message}"
    lines = [f"{name} in line {where[-1].lineno} of the code: {message}"]
    lines += [f"    line {frame.lineno}, in {frame.name}: {(frame.line or '').strip()}" for frame in where[-5:]]
    return "\n".join(lines)


def _need(library: str, tool: str) -> None:
    if library not in sys.modules and importlib.util.find_spec(library) is None:
        raise ToolFault(f"{tool} needs {library}, which is not installed here: pip install 'pytest-gta[tools]'")


@contextlib.contextmanager
def _captured() -> Any:
    printed = _Printed()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        yield printed


class _Printed(io.StringIO):
    """What was printed, up to a bound: code that prints without end fills no memory."""

    lost = 0

    def write(self, text: str) -> int:
        room = _MAX_PRINTED - self.tell()
        self.lost += max(0, len(text) - max(0, room))
        if room > 0:
            super().write(text[:room])
        return len(text)


def _with_printed(text: str, printed: _Printed) -> str:
    output = printed.getvalue().rstrip()
    if printed.lost:
        output += f"\n[cut: {printed.lost:,} more characters were printed]"
    if not output:
        return text
    return f"{text}\n\nPrinted:\n{output}" if text else output


# -- figures and files ------------------------------------------------------------------------------------------------


def _figures(value: Any, plt: Any) -> list[Any]:
    """The figures a run left: what was returned, then what is open, each once."""
    from matplotlib.figure import Figure

    returned = value if isinstance(value, list | tuple) else [value]
    found = [getattr(item, "figure", None) for item in returned]
    found += [plt.figure(number) for number in plt.get_fignums()]
    figures = [figure for figure in found if isinstance(figure, Figure)]
    return [figure for at, figure in enumerate(figures) if all(figure is not other for other in figures[:at])]


def _record_saving(saved: list[str], fonts: FigureFonts) -> None:
    """Note which figures the code saves itself, and under what names in the workspace; all get `fonts`."""
    from matplotlib.figure import Figure

    original: Callable[..., Any] = Figure.savefig

    def savefig(self: Any, target: Any, *arguments: Any, **options: Any) -> Any:
        def save() -> Any:
            return original(self, target, *arguments, **options)

        result = fonts.save(self, save, again=save if isinstance(target, str | os.PathLike) else None)
        with contextlib.suppress(TypeError, ValueError, OSError):
            saved.append(Path(target).resolve().relative_to(Path.cwd()).as_posix())
            self._gta_saved = True
        return result

    Figure.savefig = savefig  # type: ignore[method-assign, assignment]


def _pictures() -> set[str]:
    return {
        path for path in _visible_files() if path.lower().endswith((".png", ".jpg", ".jpeg", ".svg", ".pdf", ".gif"))
    }


def _visible_files() -> list[str]:
    found = (path.relative_to(".").as_posix() for path in Path().rglob("*") if path.is_file())
    return sorted(path for path in found if not any(part.startswith(".") for part in path.split("/")))[:5_000]


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = Path(path).stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _free_name(stem: str) -> str:
    number = 1
    while Path(f"{stem}_{number}.png").exists():
        number += 1
    return f"{stem}_{number}.png"
