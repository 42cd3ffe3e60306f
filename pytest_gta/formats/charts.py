"""Charts of Office files as text: type, titles, categories and the values of each series."""

from __future__ import annotations

from pytest_gta.formats.markup import Element, all_text, attribute, child, children, descendants, local
from pytest_gta.formats.package import Package
from pytest_gta.formats.reading import Reading, Unreadable
from pytest_gta.formats.wording import one_line

_MOST_POINTS = 60
_DIMENSIONS = {"barChart", "bar3DChart"}


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
            categories = _points(child(series, "cat") or child(series, "xVal"))
            if categories and categories != shown_categories:
                lines.append(f"  categories: {_listed(categories)}")
                shown_categories = categories
            name = " ".join(_points(child(series, "tx"))) or one_line(all_text(child(series, "tx"), "v"), 120) or f"{number}"
            lines.append(f"  series {name}: {_listed(_points(_values(series)))}{_reference(series)}")
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
    value = child(series, "val")
    return value if value is not None else child(series, "yVal")


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
    declared = child(next(iter(descendants(holder, "ptCount")), None))
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


def _reference(series: Element) -> str:
    """Say which cells a series without stored values points at, as a workbook written by a library does."""
    value = _values(series)
    if value is None or _points(value):
        return ""
    formula = all_text(value, "f")
    return f" from cells {formula}" if formula else ""


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
