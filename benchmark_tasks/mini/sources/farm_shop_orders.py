"""Task 11: a quarter of a farm shop's orders, exported badly, to be cleaned and added up."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path

import openpyxl
from openpyxl.styles import Font

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.office_file import save_office

ORDERS = "resources/files/11-orders_q3.xlsx"
PRICES = {
    "Apple juice 1 l": 3.20,
    "Honey 500 g": 7.50,
    "Goat cheese 200 g": 5.40,
    "Rye bread": 4.10,
    "Eggs (10)": 3.60,
    "Plum jam": 4.80,
}
CUSTOMERS = ("Birch Inn", "Cafe Linden", "Mill Bakery", "Harbour Deli", "Oak Street School", "Nordhus B&B")
MONTHS = {7: "July", 8: "August", 9: "September"}
CANCELLED = (1009, 1026, 1041)
NO_CUSTOMER = (1005, 1018, 1033, 1046)
REPEATED = (1007, 1015, 1029, 1038)
RETURNED = {1004: 3, 1012: 5, 1021: 2, 1030: 6, 1037: 4, 1044: 1}


@dataclass(frozen=True, slots=True)
class Order:
    """One order line: `quantity` is None when it was cancelled, `discount` a share of 1."""

    number: int
    day: date
    customer: str
    product: str
    quantity: int | None
    price: float
    discount: float

    @property
    def unit_paid(self) -> float:
        """Price of a unit after the discount."""
        return self.price * (1 - self.discount)


def orders() -> list[Order]:
    """Return the 48 orders as they really were, by date."""
    rng = random.Random(11)  # noqa: S311 - made-up data, the same in every build
    names = tuple(PRICES)
    made = []
    for i in range(48):
        number = 1001 + i
        product = names[rng.randrange(len(names))]
        made.append(
            Order(
                number=number,
                day=date(2025, 7, 1) + timedelta(days=int(i * 91.5 / 48) + rng.randrange(2)),
                customer="" if number in NO_CUSTOMER else CUSTOMERS[rng.randrange(len(CUSTOMERS))],
                product=product,
                quantity=None if number in CANCELLED else rng.randrange(6, 41),
                price=PRICES[product],
                discount=(0.0, 0.0, 0.0, 0.05, 0.1)[rng.randrange(5)],
            )
        )
    return made


def kept() -> list[Order]:
    """Return the orders that count: those that were not cancelled."""
    return [order for order in orders() if order.quantity is not None]


def gross(order: Order) -> float:
    """What the customer paid for an order."""
    return (order.quantity or 0) * order.unit_paid


def refund(order: Order) -> float:
    """What the customer got back for returned units."""
    return RETURNED.get(order.number, 0) * order.unit_paid


def net_by_month() -> dict[str, float]:
    """Net revenue by the month of the order."""
    sums: dict[str, float] = defaultdict(float)
    for order in kept():
        sums[MONTHS[order.day.month]] += gross(order) - refund(order)
    return dict(sums)


def net_by_product() -> dict[str, float]:
    """Net revenue by product, the best first."""
    sums: dict[str, float] = defaultdict(float)
    for order in kept():
        sums[order.product] += gross(order) - refund(order)
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def make_inputs(folder: Path) -> None:
    """Write the export: repeated lines, dates and numbers as text, blanks, subtotals, a sheet of returns."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Orders"
    sheet.append(["Order ID", "Order date", "Customer", "Product", "Qty", "Unit price", "Discount"])
    lines: list[Order | str] = []
    month = 7
    for order in orders():
        if order.day.month != month:
            lines.append(f"Total {MONTHS[month]}")
            month = order.day.month
        lines.append(order)
    for number in REPEATED:
        again = next(order for order in orders() if order.number == number)
        lines.insert(next(i for i, o in enumerate(lines) if isinstance(o, Order) and o.number == number + 4), again)
    lines.append("TOTAL Q3")
    seen: set[int] = set()
    start = 0
    for row, line in enumerate(lines):
        if isinstance(line, str):
            first = 0 if row == len(lines) - 1 else start
            summed = sum(above.quantity or 0 for above in lines[first:row] if isinstance(above, Order))
            sheet.append([line, None, None, None, summed, None, None])
            start = row
            sheet.cell(sheet.max_row, 1).font = Font(bold=True)
            continue
        typed = replace(line, product=line.product + " ") if line.number in seen else line
        seen.add(line.number)
        sheet.append(_typed(typed, row))
    returns = workbook.create_sheet("Returns")
    returns.append(["Order ID", "Units returned", "Reason"])
    reasons = ("broken jar", "wrong item", "late", "torn label", "past date", "ordered twice")
    for row, (number, units) in enumerate(RETURNED.items()):
        label = f"o-{number}" if row == 1 else f"O-{number}"
        returns.append([label, str(units) if row == 3 else units, reasons[row]])
    for target, widths in ((sheet, (11, 14, 19, 20, 7, 11, 10)), (returns, (11, 15, 15))):
        for column, width in enumerate(widths):
            target.column_dimensions["ABCDEFG"[column]].width = width
    save_office(workbook, folder / ORDERS)


def _typed(order: Order, row: int) -> list[object]:
    """Return the order's cells as different people typed them."""
    day = order.day
    typed_day = (
        datetime(day.year, day.month, day.day),
        day.strftime("%d/%m/%Y"),
        day.strftime("%Y-%m-%d"),
        f"{day.day} {day.strftime('%b %Y')}",
        day.strftime("%d.%m.%y"),
    )[row % 5]
    quantity: object = order.quantity
    if order.quantity is not None and row % 6 == 4:
        quantity = f" {order.quantity}"
    price: object = f"EUR {order.price:.2f}" if row % 7 == 3 else order.price
    discount: object = f"{order.discount:.0%}" if order.discount and row % 2 else order.discount or None
    return [f"O-{order.number}", typed_day, order.customer or None, order.product, quantity, price, discount]


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, worked out from the orders."""
    months, products = net_by_month(), net_by_product()
    line = "units x unit price x (1 - discount), minus returned units at the same price"
    best_month = max(months, key=lambda name: months[name])
    best, worst = next(iter(products)), list(products)[-1]
    return {
        "net": Derived(round(sum(months.values()), 2), f"sum over the order lines that count of {line}"),
        **{
            name.lower(): Derived(round(amount, 2), f"{line}; summed over the orders dated in {name}")
            for name, amount in months.items()
        },
        "best_month": Derived(best_month, "the month with the largest net revenue"),
        "best_product": Derived(best, "the product with the largest net revenue"),
        "best_product_net": Derived(round(products[best], 2), f"{line}; summed over the lines of {best}"),
        "worst_product": Derived(worst, "the product with the smallest net revenue"),
        "worst_product_net": Derived(round(products[worst], 2), f"{line}; summed over the lines of {worst}"),
        "refunds": Derived(
            round(sum(refund(order) for order in kept()), 2),
            "sum over the sheet Returns of units x unit price x (1 - discount) of that order",
        ),
        "lines": Derived(len(kept()), "different Order IDs in the sheet Orders, minus those without a quantity"),
        "repeated": Derived(len(REPEATED), "lines whose Order ID stands further up already"),
        "cancelled": Derived(len(CANCELLED), "different Order IDs without a quantity"),
        "totals": Derived(len(MONTHS), "lines whose first cell begins with Total"),
    }
