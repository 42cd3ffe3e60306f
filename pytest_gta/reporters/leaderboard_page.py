"""The comparison of runs as one HTML page, without scripts and without network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from pytest_gta.reporters.leaderboard import Entry, markdown_lines, task_lines

TITLE = "GTA-Workflow: runs compared"

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; max-width: 110rem; margin: 2rem auto; padding: 0 1rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .4rem .55rem; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); }}
th {{ text-align: left; }}
td {{ white-space: nowrap; }}
tr > :first-child {{ position: sticky; left: 0; background: Canvas; white-space: normal; min-width: 7rem; }}
</style>
</head>
<body>
<main>
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def comparison_page(
    table: Sequence[Entry], threshold: float, *, published: bool, title: str = TITLE, notes: Sequence[str] = ()
) -> str:
    """Return the page: the same table and remarks as in Markdown, which keeps names from acting as markup.

    Args:
        table: The runs, each against the first.
        threshold: Points from which a task succeeds.
        published: Whether to add the figures the benchmark's paper gives, labelled so.
        title: The page's heading.
        notes: Markdown to put above the table, a paragraph each.
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    lines = [
        *(line for note in notes for line in (note, "")),
        *markdown_lines(table, threshold, published=published),
        "",
        "## Tasks",
        "",
        *task_lines(table, threshold),
    ]
    body = markdown.render("\n".join(lines))
    # Each table scrolls by itself: one bar for the whole page would be at its very end.
    body = body.replace("<table>", '<div class="wide" tabindex="0">\n<table>').replace("</table>", "</table>\n</div>")
    return _PAGE.format(title=escape(title), body=body)
