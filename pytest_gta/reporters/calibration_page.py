"""Agreement between raters as one HTML page, with a scatter plot of the root scores."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pytest_gta.reporters.calibration import PAPER, ROWS, Concordance, cell, name, remarks, sizes

if TYPE_CHECKING:
    from pytest_gta.judge.calibration.agreement import Agreement

NO_PLOT = "no scatter plot: matplotlib is not installed (pip install 'pytest-gta[tools]')"

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>How far the judge agrees</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .25rem .9rem; text-align: left; border-bottom: 1px solid #8884; }
td { font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.part th { padding-top: 1rem; }
img { max-width: 100%; background: white; }
</style></head><body>
<h1>How far the judge agrees</h1>
<table>
<tr><th></th>{% for pair in pairs %}<th>{{ name(pair) }}</th>{% endfor %}<th>paper</th></tr>
{% for part, title in parts %}
<tr class="part"><th>{{ title }}</th>{% for pair in pairs %}<td>{{ sizes(pair, part) }}</td>{% endfor %}<td></td></tr>
{% for where, label in rows if where.startswith(part) %}
<tr><th>{{ label }}</th>{% for pair in pairs %}<td>{{ cell(pair, where) }}</td>{% endfor %}\
<td>{{ paper.get(where, "-") }}</td></tr>
{% endfor %}{% endfor %}
</table>
<p>In brackets: 95 % bootstrap over tasks. A dash: not defined, or not published.
Paper: GTA-2, arXiv 2604.15715, its judge against people.</p>
{% for text in texts %}<p>{{ text }}</p>{% endfor %}
{% if plot %}<img alt="Scatter plot of the root scores of each pair" src="data:image/png;base64,{{ plot }}">
{% else %}<p>{{ no_plot }}</p>{% endif %}
</body></html>
"""


def calibration_page(pairs: Sequence[Agreement], concordance: Concordance | None = None) -> str:
    """Return the page. Without matplotlib it says so in the place of the plot."""
    from jinja2 import Environment

    texts = [text for pair in pairs for text in remarks(pair)]
    if concordance is not None and concordance.w is not None:
        texts.append(
            f"Ranking of {concordance.tasks} tasks by {', '.join(concordance.raters)}: Kendall's W {concordance.w:.3f}"
        )
    template = Environment(autoescape=True).from_string(_PAGE)
    return template.render(
        pairs=pairs,
        parts=(("roots", "root scores"), ("leaves", "leaves")),
        rows=ROWS,
        paper=PAPER,
        cell=cell,
        name=name,
        sizes=sizes,
        texts=texts,
        plot=scatter_plot(pairs),
        no_plot=NO_PLOT,
    )


def scatter_plot(pairs: Sequence[Agreement]) -> str | None:
    """Return the root scores of each pair as a PNG in base64, None when matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(pairs), 4.2), layout="constrained", dpi=110)
    for number, pair in enumerate(pairs, 1):
        axes = figure.add_subplot(1, len(pairs), number, aspect="equal")
        axes.plot((0, 10), (0, 10), color="0.7", linewidth=1)
        points = list(pair.root_scores.values())
        axes.scatter([a for a, _ in points], [b for _, b in points], s=28, alpha=0.6)
        axes.axhline(pair.threshold, color="0.85", linewidth=1, zorder=0)
        axes.axvline(pair.threshold, color="0.85", linewidth=1, zorder=0)
        # Names are data: without this, matplotlib reads a dollar sign as the beginning of a formula.
        axes.set_xlabel(f"{pair.first}, points", parse_math=False)
        axes.set_ylabel(f"{pair.second}, points", parse_math=False)
        axes.set_xlim(-0.3, 10.3)
        axes.set_ylim(-0.3, 10.3)
    image = io.BytesIO()
    figure.savefig(image, format="png")
    return base64.b64encode(image.getvalue()).decode()
