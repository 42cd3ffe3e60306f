"""Reference deliverables of task 33: comparison with formulas, recommendation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmark_tasks.mini.sources.kitchen_quotes import QUOTES, VAT, WEIGHTS, Quote, score

PARTS = ("units", "worktop", "fitting", "delivery", "removal")


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    import xlsxwriter  # type: ignore[import-untyped]

    with xlsxwriter.Workbook(str(files / "Kitchen_Decision.xlsx")) as workbook:
        _costs(workbook)
        _scores(workbook)
    _recommendation(files / "Kitchen_Recommendation.docx")
    best = max(QUOTES, key=score)
    return f"{best.firm} comes out first with {score(best):.1f} of 100 points and GBP {best.total:,.2f}."


def _part(quote: Quote, part: str) -> tuple[float, str]:
    """Return a part's price with VAT and the formula for it."""
    if part in quote.net:
        net, discount = quote.net[part], quote.discount
        value = net * (100 - discount) / 100 * (100 + VAT) / 100
        return value, f"={net}*(1-{discount}%)*(1+$B$10)" if discount else f"={net}*(1+$B$10)"
    return float(quote.gross[part]), f"={quote.gross[part]}"


def _costs(workbook: Any) -> None:
    sheet = workbook.add_worksheet("Costs")
    sheet.set_column(0, 4, 20)
    money, percent = workbook.add_format({"num_format": "#,##0.00"}), workbook.add_format({"num_format": "0%"})
    sheet.write_row(0, 0, ["GBP including VAT", *(quote.firm for quote in QUOTES)])
    for row, part in enumerate(PARTS, 1):
        sheet.write(row, 0, part)
        for column, quote in enumerate(QUOTES, 1):
            value, formula = _part(quote, part)
            sheet.write_formula(row, column, formula, money, value)
    sheet.write(6, 0, "Total")
    for column, quote in enumerate(QUOTES, 1):
        letter = "ABCD"[column]
        sheet.write_formula(6, column, f"=SUM({letter}2:{letter}6)", money, quote.total)
    sheet.write(9, 0, "VAT")
    sheet.write_number(9, 1, VAT / 100, percent)
    sheet.write(10, 0, "Ashdown: worktop as corrected on 7 March. Brightwell: 10 % off units, worktop and fitting.")
    sheet.write(11, 0, "Copperline: the tap with boiling water is left out.")


def _scores(workbook: Any) -> None:
    sheet = workbook.add_worksheet("Scores")
    sheet.set_column(0, 5, 20)
    points = workbook.add_format({"num_format": "0.0"})
    sheet.write_row(0, 0, ["Criterion", "Weight", *(quote.firm for quote in QUOTES)])
    facts: list[list[float]] = [
        [quote.total for quote in QUOTES],
        [quote.weeks for quote in QUOTES],
        [quote.warranty for quote in QUOTES],
        [quote.rating for quote in QUOTES],
    ]
    for row, (name, weight) in enumerate(WEIGHTS.items(), 1):
        sheet.write_row(row, 0, [f"{name}: points", weight])
        sheet.write(
            row + 7, 0, {"price": "price (GBP)", "weeks": "weeks", "warranty": "warranty (years)"}.get(name, "stars")
        )
        own, low = facts[row - 1], name in ("price", "weeks")
        for column, value in enumerate(own, 2):
            letter, line = "ABCDE"[column], row + 8
            if name == "price":
                sheet.write_formula(row + 7, column, f"=Costs!{'ABCD'[column - 1]}7", None, value)
            else:
                sheet.write_number(row + 7, column, value)
            share = min(own) / value if low else value / max(own)
            best = f"MIN($C{line}:$E{line})" if low else f"MAX($C{line}:$E{line})"
            ratio = f"{best}/{letter}{line}" if low else f"{letter}{line}/{best}"
            sheet.write_formula(row, column, f"=$B{row + 1}*{ratio}", points, weight * share)
    sheet.write(5, 0, "Score")
    sheet.write_formula(5, 1, "=SUM(B2:B5)", None, 100)
    for column, quote in enumerate(QUOTES, 2):
        letter = "ABCDE"[column]
        sheet.write_formula(5, column, f"=SUM({letter}2:{letter}5)", points, score(quote))


def _recommendation(path: Path) -> None:
    import docx

    ranked = sorted(QUOTES, key=score, reverse=True)
    best = ranked[0]
    page = docx.Document()
    page.add_heading("Which kitchen?", 0)
    page.add_heading("Ranking", 1)
    for quote in ranked:
        page.add_paragraph(f"{quote.firm}: {score(quote):.1f} points, GBP {quote.total:,.2f}", style="List Number")
    page.add_paragraph(
        f"We recommend {best.firm}: the lowest price with everything included, and the longest warranty "
        f"({best.warranty} years)."
    )
    page.add_heading("What speaks against it", 1)
    page.add_paragraph(f"It has the longest wait ({best.weeks} weeks) and the fewest stars ({best.rating}).")
    page.add_heading("To ask before signing", 1)
    for question in (
        "Does the 10 % discount hold if we order by 31 March and you fit in June?",
        "Do the 10 years of warranty cover the worktop and the fitting as well?",
        "What happens, and who pays, if the ten weeks are not kept?",
    ):
        page.add_paragraph(question, style="List Bullet")
    page.save(str(path))
