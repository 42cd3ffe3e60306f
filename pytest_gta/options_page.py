"""The page of the documentation that lists every option, made from the table."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gta.options import OPTIONS

PAGE_HEAD = """# Options

Every option can be given on the command line, as an environment variable, or in the ini file (`pyproject.toml` under
`[tool.pytest.ini_options]`, `pytest.ini`). The command line wins over the environment, the environment over the ini
file, the ini file over the default. A resumed run goes on with the options it was started with; only the command line
changes those. Where several variables are named, the first that is set counts. A relative path starts from the current
folder; one in the ini file, and `.gta` by default, from pytest's root, wherever in the project `pytest` is run.

Setting a model or an agent makes the plugin active; without either it does nothing.
"""


def options_page() -> str:
    """Return the options page of the documentation, in Markdown."""
    return "\n".join((PAGE_HEAD.rstrip(), *options_table())) + "\n"


def options_table() -> Iterator[str]:
    """Yield the lines of the options page of the documentation, in Markdown."""
    group = ""
    for option in OPTIONS:
        if option.group != group:
            group = option.group
            yield from (
                "",
                f"## {group.capitalize()}",
                "",
                "| option | ini | environment | default | meaning |",
                "|---|---|---|---|---|",
            )
        variables = ", ".join(f"`{name}`" for name in (option.variable, *option.environment))
        default = option.shown_default or (f"`{option.default}`" if option.default else "-")
        metavar = option.metavar.replace("|", "\\|")
        meaning = option.help.replace("|", "\\|")
        yield f"| `{f'{option.flag} {metavar}'.strip()}` | `{option.ini}` | {variables} | {default} | {meaning} |"
