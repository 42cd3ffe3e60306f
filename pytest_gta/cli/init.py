"""``pytest-gta init``: the benchmark put into a user's repository, ready to run."""

from __future__ import annotations

import argparse
import keyword
import re
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Any

from pytest_gta.settings import SettingsError

AGENT = "my_agent:run"
"""The agent that the templates name."""

SUITE, WORKFLOW = "test_gta.py", ".github/workflows/gta.yml"


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "init",
        help="put the benchmark into a repository: suite, agent, workflow",
        description=f"Write {SUITE}, an agent that works and is yours to replace, and {WORKFLOW} into a repository. "
        "What exists already is left as it is and named.",
    )
    parser.add_argument("directory", metavar="DIR", type=Path, nargs="?", default=Path(), help="the repository (here)")
    parser.add_argument("--agent", metavar="MODULE:NAME", default=AGENT, help=f"where your agent is (default {AGENT})")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Write what is missing, say what was there, and print how to go on."""
    module, name = _agent(given.agent)
    folder = given.directory.expanduser()
    if folder.exists() and not folder.is_dir():
        raise SettingsError(f"{folder} is not a directory")
    spec = f"import:{module}:{name}"
    wanted = {
        SUITE: _template("test_gta.py.txt"),
        f"{module.replace('.', '/')}.py": _template("agent.py.txt").replace("def run(", f"def {name}("),
        WORKFLOW: _template("gta.yml").replace(f"import:{AGENT}", spec),
    }
    package = folder / module.replace(".", "/")
    for path, text in wanted.items():
        target = folder / path
        if package.is_dir() and target == package.with_suffix(".py"):
            print(f"exists   {package}/ (your agent; {name} is looked for there)")
            continue
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("x", encoding="utf-8") as out:
                out.write(text)
            print(f"written  {target}")
        except FileExistsError:
            print(f"exists   {target} (left as it is)")
        except OSError as error:
            raise SettingsError(f"{target} cannot be written: {error.strerror or error}") from None
    for line in _next_steps(folder, spec):
        print(line)
    return 0


def _template(name: str) -> str:
    return files("pytest_gta.cli").joinpath("templates", name).read_text("utf-8")


def _agent(text: str) -> tuple[str, str]:
    module, colon, name = text.removeprefix("import:").partition(":")
    parts = [*module.split("."), name]
    if not colon or not all(re.fullmatch(r"[A-Za-z_]\w*", part) and not keyword.iskeyword(part) for part in parts):
        raise SettingsError(f"--agent: {text!r} is not of the form MODULE:NAME, such as {AGENT}")
    return module, name


def _next_steps(folder: Path, spec: str) -> list[str]:
    where = [] if folder.resolve() == Path.cwd() else [f"  cd {shlex.quote(str(folder))}"]
    return [
        "",
        "Try it without a key, on two of the bundled tasks and with the bundled small judge:",
        *where,
        f"  pytest {SUITE} --gta-agent={spec} --gta-judge-model=local --gta-limit=2",
        "With OPENAI_API_KEY set, leave --gta-judge-model out for the judge of the benchmark.",
        "",
        "To write less, in pyproject.toml (with gta_agent there, every pytest run measures):",
        "  [tool.pytest.ini_options]",
        f'  gta_agent = "{spec}"',
        '  gta_judge_model = "gpt-5.2"',
        '  gta_max_cost = "20"',
        "",
        "In .gitignore: .gta/",
        f"In CI: set the secret OPENAI_API_KEY; see {WORKFLOW} and docs/ci.md.",
    ]
