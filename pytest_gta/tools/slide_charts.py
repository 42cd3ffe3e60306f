"""Charts on slides, drawn by the reading program from data that stays editable."""

from __future__ import annotations

from typing import Any

from pytest_gta.tools.slide_design import WHITE, colour
from pytest_gta.tools.slide_visuals import Chart

_KINDS = {
    "bar": "BAR_CLUSTERED",
    "horizontalbar": "BAR_CLUSTERED",
    "line": "LINE_MARKERS",
    "pie": "PIE",
    "doughnut": "DOUGHNUT",
    "area": "AREA",
    "stacked": "COLUMN_STACKED",
}


def add_chart(slide: Any, chart: Chart, box: tuple[float, float, float, float]) -> None:
    """Add a chart in a box (left, top, width, height, in points). An unknown kind becomes columns."""
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE, XL_LABEL_POSITION, XL_LEGEND_POSITION
    from pptx.util import Pt

    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = chart.categories
    for name, values in chart.series:
        filled = (*values, *[None] * (len(chart.categories) - len(values)))
        data.add_series(name, filled[: len(chart.categories)])
    kind = _KINDS.get(chart.kind.replace("_", "").replace(" ", "").removesuffix("chart"), "COLUMN_CLUSTERED")
    frame = slide.shapes.add_chart(getattr(XL_CHART_TYPE, kind), *(Pt(value) for value in box), data)
    drawn = frame.chart
    drawn.font.size = Pt(12)
    drawn.has_title = bool(chart.title)
    if chart.title:
        drawn.chart_title.text_frame.text = chart.title
    drawn.has_legend = len(chart.series) > 1 or kind in ("PIE", "DOUGHNUT")
    if drawn.has_legend:
        drawn.legend.position = XL_LEGEND_POSITION.BOTTOM
        drawn.legend.include_in_layout = False
    if kind in ("PIE", "DOUGHNUT"):
        drawn.plots[0].has_data_labels = True
        labels = drawn.plots[0].data_labels
        labels.show_percentage, labels.show_value = True, False
        if kind == "PIE":
            labels.position = XL_LABEL_POSITION.OUTSIDE_END
        else:
            labels.font.color.rgb = colour(WHITE)  # they stand on the ring
