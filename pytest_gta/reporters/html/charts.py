"""The charts of the report: drawn by pygal, coloured by the page, each with its numbers in words and as a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from markupsafe import Markup

from pytest_gta.benchmark.results import TaskResult
from pytest_gta.reporters.visible_text import visible
from pytest_gta.reporters.wording import count, money, points, quantity

WIDTH, HEIGHT = 420, 230
_KEPT = frozenset(("class", "d", "x", "y", "cx", "cy", "r", "rx", "ry", "width", "height", "transform", "text-anchor",
                   "viewBox", "xmlns", "points"))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart and what it says to those who do not see it.

    Attributes:
        title: What it shows.
        svg: The drawing.
        summary: The drawing in words.
        head: The heads of its numbers' columns.
        rows: Its numbers, as they are written.
    """

    title: str
    svg: Markup
    summary: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def root_sr_chart(rates: Mapping[str, float | None], threshold: float) -> Chart | None:
    """Return Root SR over the thresholds 5 to 9, None when nothing was measured."""
    known = {k: value for k, value in rates.items() if value is not None}
    if not known:
        return None
    chart = _bars(top=100, formatter=lambda value: f"{value:.0f} %", x_title="from this many points a task succeeds")
    chart.x_labels = list(known)
    chart.add("Root SR", [round(value, 2) for value in known.values()])
    told = ", ".join(f"{value:.1f} % from {k} points" for k, value in known.items())
    return Chart(
        "Root SR over thresholds",
        _drawn(chart, f"Bar chart of Root SR: {told}.", marked=lambda x: float(x) == threshold),
        f"Bar chart of Root SR: {told}.",
        ("Threshold", "Root SR"),
        tuple((k, f"{value:.1f} %") for k, value in known.items()),
    )


def leaf_chart(tasks: Sequence[TaskResult], threshold: float) -> Chart | None:
    """Return how the scores of leaves are spread, None when no leaf has one."""
    scores = [leaf.score for task in tasks for leaf in task.leaves() if leaf.score is not None]
    if not scores:
        return None
    bins = [0] * 10
    for score in scores:
        bins[min(int(score), 9)] += 1
    names = [f"{low}\u2013{low + 1}" for low in range(10)]
    chart = _bars(top=None, formatter=lambda value: f"{value:.0f}" if value else "", x_title="score of a leaf, points")
    chart.x_labels = names
    chart.add("Leaves", bins)
    chart.y_labels = _ticks(max(bins), least=1)
    chart.range = (0, max(bins))
    low, high = sum(bins[:2]), sum(bins[8:])
    told = (
        f"Histogram of {count(len(scores), 'leaf')}: {low} have less than 2 points, {high} have 8 or more, "
        f"{sum(score >= threshold for score in scores)} reach {threshold:g}."
    )
    drawn = _drawn(chart, told, marked=lambda name: int(name.split("\u2013")[0]) >= threshold)
    rows = tuple((name, str(number)) for name, number in zip(names, bins, strict=True))
    return Chart("Scores of leaves", drawn, told, ("Points", "Leaves"), rows)


def spending_chart(tasks: Sequence[TaskResult], anchors: Mapping[str, str]) -> Chart | None:
    """Return score over what a task cost - or its tokens or seconds, where that is all that is known.

    Args:
        tasks: The tasks.
        anchors: Where each task is in the page, by run key.
    """
    for title, axis, written, amount in _MEASURES:
        found = [(amount(task), task) for task in tasks if task.root_score is not None and task.agent]
        dots = [(value, task) for value, task in found if value is not None]
        if len(dots) >= 3 and len(dots) == len(found) and max(value for value, _ in dots) > 0:
            return _scatter(title, axis, written, dots, anchors)
    return None


def _cost(task: TaskResult) -> float | None:
    return task.agent.usage.cost_usd if task.agent else None


def _tokens(task: TaskResult) -> float | None:
    tokens = task.agent.usage.tokens if task.agent else None
    return None if tokens is None or not (tokens.input or tokens.output) else (tokens.input + tokens.output) / 1000


def _seconds(task: TaskResult) -> float | None:
    return task.agent.wall_s if task.agent and task.agent.wall_s >= 1 else None


_Measure = tuple[str, str, Callable[[float], str], Callable[[TaskResult], float | None]]
_MEASURES: tuple[_Measure, ...] = (
    ("Cost against score", "cost of a task, USD", money, _cost),
    ("Tokens against score", "tokens of a task, thousands", lambda k: f"{quantity(round(k * 1000))} tokens", _tokens),
    ("Time against score", "time of a task, seconds", lambda s: f"{s:.0f} s", _seconds),
)


def _scatter(
    title: str,
    axis: str,
    written: Callable[[float], str],
    dots: Sequence[tuple[float, TaskResult]],
    anchors: Mapping[str, str],
) -> Chart:
    import pygal

    largest = max(value for value, _ in dots)
    chart = pygal.XY(
        **_common(axis), stroke=False, dots_size=4, range=(0, 10), y_labels=[0, 2, 4, 6, 8, 10],
        xrange=(0, largest * 1.03), x_labels=_ticks(largest), y_title="root score",
    )  # fmt: skip
    chart.x_value_formatter = lambda value: f"{value:g}"
    chart.value_formatter = lambda value: f"{value:g}"
    for reached in (True, False):
        chart.add(
            "reached" if reached else "below",
            [
                {"value": (value, task.root_score), "label": visible(task.run_key)}
                for value, task in dots
                if bool(task.success) == reached
            ],
        )
    middle = sorted(value for value, _ in dots)[len(dots) // 2]
    told = (
        f"Scatter chart of {count(len(dots), 'task')}: half of them took at most {written(middle)}, "
        f"the largest {written(largest)}. The table of tasks has every number."
    )
    dearest = sorted(dots, key=lambda dot: -dot[0])[:12]
    rows = tuple((task.run_key, written(value), points(task.root_score)) for value, task in dearest)
    places = {visible(task.run_key): (written(value), anchors[task.run_key]) for value, task in dots}
    drawn = _drawn(chart, told, places=places)
    return Chart(title, drawn, told, ("Most expensive tasks", "Took", "Root score"), rows)


def _ticks(largest: float, least: float = 0) -> list[float]:
    """Return at most six round numbers from 0 up to the largest, so far apart at least."""
    unit = 10.0 ** floor(log10(largest / 5))
    step = max(least, next(unit * factor for factor in (1, 2, 5, 10) if largest / (unit * factor) <= 5))
    return [round(step * i, 10) for i in range(int(largest / step) + 1)]


def _common(x_title: str) -> dict[str, Any]:
    from pygal.style import Style

    style = Style(label_font_size=11, major_label_font_size=11, value_font_size=11, title_font_size=11)
    return {
        "width": WIDTH, "height": HEIGHT, "style": style, "show_legend": False, "disable_xml_declaration": True,
        "js": (), "margin": 6, "spacing": 6, "x_title": x_title, "no_data_text": "",
    }  # fmt: skip


def _bars(*, top: float | None, formatter: Callable[[float], str], x_title: str) -> Any:
    import pygal

    chart = pygal.Bar(**_common(x_title), print_values=True, print_values_position="top", margin_top=16)
    chart.value_formatter = formatter
    if top is not None:
        chart.range = (0, top)
        chart.y_labels = [0, top / 4, top / 2, 3 * top / 4, top]
    return chart


def _drawn(
    chart: Any,
    label: str,
    *,
    marked: Callable[[str], bool] | None = None,
    places: Mapping[str, tuple[str, str]] | None = None,
) -> Markup:
    """Return a chart as SVG without pygal's own styles, scripts and descriptions: the page has its own.

    Args:
        chart: The chart.
        label: The drawing in words.
        marked: Says of a bar's label whether it is set apart.
        places: For dots: what a label cost, and where it is in the page.
    """
    from lxml import etree

    root = etree.fromstring(chart.render().strip())
    for element in [*root.iter()]:
        if isinstance(element.tag, str):
            element.tag = etree.QName(element).localname
    for title in root.findall("title"):
        root.remove(title)
    for bar in root.iterfind(".//g[@class='bar']"):
        name, value = (bar.findtext(f"desc[@class='{what}']") or "" for what in ("x_label", "value"))
        if marked is not None and marked(name):
            bar.set("class", "bar marked")
        etree.SubElement(bar, "title").text = f"{name}: {value or 0}"
    for dot in root.iterfind(".//g[@class='dots']"):
        name = dot.findtext("desc[@class='label']") or ""
        took, anchor = (places or {}).get(name, ("", ""))
        score = (dot.findtext("desc[@class='value']") or "").rpartition(" ")[2]
        etree.SubElement(dot, "title").text = f"{name}: {score} points, {took}"
        dot.set("data-task", anchor)
    dropped = ("defs", "desc", "script", "style")
    for element in [*root.iter()]:
        parent, marks = element.getparent(), (element.get("class") or "").split()
        of_an_axis = element.tag == "title" and "guides" in (parent.get("class") or "")
        if not isinstance(element.tag, str) or element.tag in dropped or "tooltip" in marks or of_an_axis:
            parent.remove(element)
        else:
            _tidy(element)
    root.set("role", "img")
    root.set("aria-label", label)
    root.set("class", "chart")
    etree.cleanup_namespaces(root)
    return Markup(etree.tostring(root, encoding="unicode", with_tail=False))  # noqa: S704 - built, not pasted


def _tidy(element: Any) -> None:
    for name, value in list(element.attrib.items()):
        if name not in _KEPT and name != "data-task":
            del element.attrib[name]
        elif name in ("x", "y", "cx", "cy", "width", "height") and "." in value:
            element.set(name, f"{float(value):.1f}")
