"""Reference deliverables of task 42: table of channels, deck."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmark_tasks.mini.sources.ad_campaigns import (
    CHANNELS,
    GOAL,
    ROWS,
    cost_per_customer,
    counted,
    return_on_spend,
    sums,
)


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    import openpyxl

    book = openpyxl.Workbook()
    table = book.active
    table.title = "Channels"
    table.append(["Channel", "Spend EUR", "New customers", "Revenue EUR", "Cost per customer EUR", "Revenue per euro"])
    total = sums(counted())
    for channel in CHANNELS:
        spend, customers, revenue = total[channel]
        figures = (round(spend, 2), customers, revenue, round(spend / customers, 2), round(revenue / spend, 2))
        table.append([channel, *figures])
    spend, revenue = (sum(row[i] for row in total.values()) for i in (0, 2))
    customers = sum(row[1] for row in total.values())
    table.append(["Total", spend, customers, revenue, round(spend / customers, 2), round(revenue / spend, 2)])
    left_out = book.create_sheet("Left out")
    left_out.append(["Month", "Channel", "Why"])
    for row in ROWS:
        if row.customers is None:
            left_out.append([row.month, row.channel, "customers not tracked; spend and revenue left out as well"])
    left_out.append([ROWS[7].month, ROWS[7].channel, "line exported twice, counted once"])
    for sheet in book:
        for letter in "ABCDEF":
            sheet.column_dimensions[letter].width = 22
    book.save(files / "Campaign_Table.xlsx")
    _deck(files / "Campaign_Review.pptx", spend, customers)
    return (
        f"A new customer cost EUR {spend / customers:.2f} on average; see Campaign_Table.xlsx and Campaign_Review.pptx."
    )


def _deck(path: Path, spend: float, customers: int) -> None:
    from pptx import Presentation
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches, Pt

    deck: Any = Presentation()

    def slide(heading: str, points: tuple[str, ...], layout: int = 1) -> Any:
        page = deck.slides.add_slide(deck.slide_layouts[layout])
        page.shapes.title.text = heading
        if points:
            page.placeholders[1].text_frame.text = "\n".join(points)
            for paragraph in page.placeholders[1].text_frame.paragraphs:
                paragraph.font.size = Pt(22)
        return page

    slide(
        "January to June 2025 in one sentence",
        (
            f"EUR {spend:,.0f} brought {customers} new customers at EUR {spend / customers:.2f} each, just over our "
            "limit of 25.",
        ),
    )
    page = slide("Cost per customer: three channels are above 25 EUR", (), layout=5)
    data: Any = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = CHANNELS
    data.add_series("EUR per new customer", [round(cost_per_customer(channel), 2) for channel in CHANNELS])
    data.add_series("Limit of 25 EUR", [GOAL] * len(CHANNELS))
    place = (Inches(0.6), Inches(1.6), Inches(8.8), Inches(5.4))
    chart = page.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.has_legend = True
    chart.legend.include_in_layout = False
    chart.plots[0].has_data_labels = True
    chart.plots[0].overlap = -10
    ranked = sorted(CHANNELS, key=cost_per_customer)
    slide(
        "Best and worst",
        tuple(
            f"{word}: {channel}, EUR {cost_per_customer(channel):.2f} per customer, {return_on_spend(channel):.2f} "
            "EUR per euro"
            for word, channel in (("Best", ranked[0]), ("Worst", ranked[-1]))
        ),
    )
    radio = [row for row in counted() if row.channel == "Radio"]
    slide(
        "The radio gets better every month",
        (
            *(
                f"{row.month}: {row.customers} customers, EUR {row.euros / (row.customers or 1):.2f} each"
                for row in radio
            ),
            "March is left out: tracking failed",
        ),
    )
    slide(
        "Budget from July (per month)",
        (
            "Newsletter: EUR 320 to 600, the cheapest channel by far",
            "Search: keep EUR 2,000, well below the limit",
            "Radio: EUR 900 to 1,200; June was exactly at the limit and the trend is down",
            "Social video: cut from EUR 1,440 to 500, half again too dear",
            "Trade fair: EUR 0 for now; 72 EUR per customer, though it also brings wholesale contacts we do not track",
        ),
    )
    deck.save(str(path))
