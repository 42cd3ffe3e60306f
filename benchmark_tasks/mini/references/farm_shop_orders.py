"""Reference deliverables of task 11: cleaned workbook, bar chart, summary."""

from __future__ import annotations

from pathlib import Path

from benchmark_tasks.mini.sources import farm_shop_orders as source

COLUMNS = (
    "Order ID",
    "Date",
    "Customer",
    "Product",
    "Qty",
    "Unit price EUR",
    "Discount",
    "Gross EUR",
    "Refund EUR",
    "Net EUR",
)


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    months, products = source.net_by_month(), source.net_by_product()
    _workbook(files / "Q3_Clean.xlsx", months, products)
    _chart(files / "monthly_net_revenue.png", months)
    net, refunds = sum(months.values()), sum(source.refund(order) for order in source.kept())
    best_month, best_product = max(months, key=lambda name: months[name]), next(iter(products))
    summary = f"""# Third quarter 2025

- **Net revenue:** EUR {net:,.2f} (after refunds)
- **Total refunds:** EUR {refunds:,.2f} for {len(source.RETURNED)} orders
- **Best month:** {best_month} with EUR {months[best_month]:,.2f}
- **Best product:** {best_product} with EUR {products[best_product]:,.2f}

## Taken out of the export

- {len(source.REPEATED)} repeated order lines ({_numbers(source.REPEATED)}): exported twice, one line kept each
- {len(source.CANCELLED)} cancelled orders ({_numbers(source.CANCELLED)}): no quantity
- 3 total lines (July, August, whole quarter): sums, not orders

{len(source.kept())} order lines remain. Orders without a customer name were kept.
"""
    (files / "Q3_Summary.md").write_text(summary, encoding="utf-8")
    return (
        f"Net revenue of the third quarter is EUR {net:,.2f} after EUR {refunds:,.2f} of refunds. I made "
        "Q3_Clean.xlsx, monthly_net_revenue.png and Q3_Summary.md."
    )


def _numbers(numbers: tuple[int, ...]) -> str:
    return ", ".join(f"O-{number}" for number in numbers)


def _workbook(path: Path, months: dict[str, float], products: dict[str, float]) -> None:
    import openpyxl

    workbook = openpyxl.Workbook()
    lines = workbook.active
    lines.title = "Orders"
    lines.append(
        [
            "Order ID",
            "Date",
            "Customer",
            "Product",
            "Qty",
            "Unit price EUR",
            "Discount",
            "Gross EUR",
            "Refund EUR",
            "Net EUR",
        ]
    )
    for order in source.kept():
        paid, back = source.gross(order), source.refund(order)
        lines.append(
            [
                f"O-{order.number}",
                order.day,
                order.customer or "(not given)",
                order.product,
                order.quantity,
                order.price,
                order.discount,
                round(paid, 2),
                round(back, 2),
                round(paid - back, 2),
            ]
        )
        lines.cell(lines.max_row, 2).number_format = "yyyy-mm-dd"
        lines.cell(lines.max_row, 7).number_format = "0%"
    for title, sums in (("By month", months), ("By product", products)):
        sheet = workbook.create_sheet(title)
        sheet.append([title[3:].capitalize(), "Net revenue EUR"])
        for name, amount in sums.items():
            sheet.append([name, round(amount, 2)])
        sheet.append(["Total", round(sum(sums.values()), 2)])
        sheet.column_dimensions["A"].width = sheet.column_dimensions["B"].width = 20
    for column in "ABCDEFGHIJ":
        lines.column_dimensions[column].width = 16
    workbook.save(path)


def _chart(path: Path, months: dict[str, float]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    bars = axes.bar(list(months), list(months.values()), color="#4f7f52")
    axes.bar_label(bars, fmt="{:,.2f}", padding=3)
    axes.set_title("Net revenue by month, third quarter 2025")
    axes.set_ylabel("Net revenue (EUR)")
    axes.set_ylim(0, max(months.values()) * 1.12)
    figure.savefig(path, dpi=110)
