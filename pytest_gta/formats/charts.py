"""Charts of Office files as text: type, titles, categories and the values of each series."""

from __future__ import annotations

from pytest_gta.formats.markup import Element, all_text, attribute, child, children, descendants, local
from pytest_gta.formats.package import Package
from pytest_gta.formats.reading import Reading, Unreadable
from pytest_gta.formats.wording import one_line

_MOST_POINTS = 60


def describe_chart(package: Package, part: str, where: str, reading: Reading) -> str:
    """Return a chart as text; one that cannot be read is a visible placeholder and a fault."""
    reading.count("charts")
    try:
        root = package.xml(part)
        return _newer_chart(root) if "chartex" in str(root.tag) else _chart(root)
    except Unreadable as fault:
        reason = str(fault)
    except (ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
        reason = f"unexpected content ({type(error).__name__})"
    reading.fault(f"a chart in {where} could not be read: {reason}")
    return f"[chart that could not be read: {reason}]"


def _chart(root: Element) -> str:
    chart = child(root, "chart")
    area = child(chart, "plotArea")
    if area is None:
        raise Unreadable("it has no plot")
    lines = []
    title = _title(child(chart, "title"))
    plots = [element for element in area if local(element).endswith("Chart")]
    kinds = " + ".join(_kind(plot) for plot in plots) or "unknown type"
    lines.append(f"[chart: {kinds}" + (f", title: {title}" if title else ", no title"))
    for axis in area:
        if local(axis).endswith("Ax") and (name := _title(child(axis, "title"))):
            lines.append(f"  axis title: {name}")
    shown_categories: list[str] | None = None
    for plot in plots:
        for number, series in enumerate(children(plot, "ser"), 1):
            categories = _points(_first(series, "cat", "xVal"))
            if categories and categories != shown_categories:
                lines.append(f"  categories: {_listed(categories)}")
                shown_categories = categories
            elif not categories and (cells := _cells(child(series, "cat"))) and number == 1:
                lines.append(f"  categories from cells {cells}")
            lines.append(f"  series {_name(series, number)}: {_series_values(series)}")
            sizes = _points(child(series, "bubbleSize"))
            if sizes:
                lines.append(f"    bubble sizes: {_listed(sizes)}")
    return "\n".join(lines) + "]"


def _kind(plot: Element) -> str:
    name = local(plot)[: -len("Chart")]
    direction = attribute(child(plot, "barDir"), "val")
    grouping = attribute(child(plot, "grouping"), "val")
    words = [name]
    if direction:
        words.append("horizontal" if direction == "bar" else "vertical")
    if grouping and grouping not in ("standard", "clustered"):
        words.append(grouping)
    return " ".join(words)


def _values(series: Element) -> Element | None:
    return _first(series, "val", "yVal")


def _first(holder: Element, *names: str) -> Element | None:
    return next(children(holder, *names), None)


def _points(holder: Element | None) -> list[str]:
    """Return the points of a cache in order; a gap is ``(none)``. Multi-level categories are joined by a slash."""
    if holder is None:
        return []
    levels = list(descendants(holder, "lvl")) or [holder]
    columns = []
    for level in levels:
        points = {int(p.get("idx", "0")): one_line(all_text(p, "v"), 80) for p in descendants(level, "pt")}
        columns.append(points)
    count = max((max(points, default=-1) for points in columns), default=-1) + 1
    count = min(count, 10_000)
    declared = next(descendants(holder, "ptCount"), None)
    if declared is not None:
        count = max(count, min(int(declared.get("val", "0") or 0), 10_000))
    rows = [" / ".join(points[i] for points in reversed(columns) if i in points) for i in range(count)]
    return [row or "(none)" for row in rows]


def _listed(points: list[str]) -> str:
    if not points:
        return "(no stored values)"
    shown = ", ".join(_rounded(point) for point in points[:_MOST_POINTS])
    return shown + (f", … ({len(points)} points)" if len(points) > _MOST_POINTS else "")


def _rounded(point: str) -> str:
    try:
        return f"{float(point):.10g}"
    except ValueError:
        return point


def _name(series: Element, number: int) -> str:
    holder = child(series, "tx")
    stored = " ".join(_points(holder)) or (one_line(all_text(holder, "v"), 120) if holder is not None else "")
    cells = _cells(holder)
    return stored or (f"{number} (named by cell {cells})" if cells else str(number))


def _series_values(series: Element) -> str:
    """Return the stored values, or the cells they come from: a library that writes a chart stores no values."""
    values = _values(series)
    points = _points(values)
    cells = _cells(values)
    return _listed(points) if points or not cells else f"from cells {cells} (no values stored in the chart)"


def _cells(holder: Element | None) -> str:
    return one_line(all_text(holder, "f"), 200) if holder is not None else ""


def _title(title: Element | None) -> str:
    if title is None:
        return ""
    return one_line(all_text(title, "t", "v"), 200)


def _newer_chart(root: Element) -> str:
    """Describe a chart of the 2016 kinds (waterfall, treemap, funnel, ...)."""
    series = list(descendants(root, "series"))
    kinds = " + ".join(sorted({attribute(s, "layoutId") for s in series})) or "unknown type"
    title = next((one_line(all_text(t, "t", "v"), 200) for t in descendants(root, "title")), "")
    lines = [f"[chart: {kinds}" + (f", title: {title}" if title else ", no title")]
    for data in descendants(root, "strDim", "numDim"):
        points = [one_line(p.text or "", 80) for p in descendants(data, "pt")]
        lines.append(f"  {attribute(data, 'type') or local(data)}: {_listed(points)}")
    return "\n".join(lines) + "]"
