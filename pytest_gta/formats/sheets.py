"""Workbooks: every used cell with value and formula, what is hidden, comments, charts, pictures."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_gta.benchmark.damage import DAMAGE
from pytest_gta.formats.charts import describe_chart
from pytest_gta.formats.drawing import paragraphs
from pytest_gta.formats.markup import Element, all_text, attribute, child, children, descendants, local
from pytest_gta.formats.package import Package, Relation, damage, open_zip
from pytest_gta.formats.reading import Reading, Source, Unreadable
from pytest_gta.formats.sheet_cells import CellReader, NumberFormat, Row, SheetMeasure, column_letters, shared_strings
from pytest_gta.formats.wording import one_line, plural, spans

_BUILT_IN: dict[int, NumberFormat] = {
    **{
        number: NumberFormat(is_date=True)
        for number in (*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59))
    },
    9: NumberFormat(is_percent=True),
    10: NumberFormat(is_percent=True),
}
_MOST_CELL_CHARS = 4_000
_BROKEN = (Unreadable, *DAMAGE, ValueError, KeyError, IndexError, AttributeError, TypeError)


@dataclass(frozen=True, slots=True)
class _Sheet:
    name: str
    state: str
    part: str


def read(source: Source, reading: Reading) -> None:
    """Read a workbook sheet by sheet; one that is broken is a placeholder and a fault, the others are read.

    Raises:
        Unreadable: When the package or its list of sheets cannot be read.
    """
    if not _is_open_xml(source):
        from pytest_gta.formats.sheets_legacy import read as read_legacy

        read_legacy(source, reading)
        return
    package = Package(source.stream, reading.limits)
    main = next(iter(package.related("", "officeDocument")), "") or "xl/workbook.xml"
    workbook = package.xml(main)
    sheets = _sheets(package, main, workbook)
    package.add_properties(reading)
    reading.facts["sheets"] = len(sheets)
    hidden = [sheet.name for sheet in sheets if sheet.state != "visible"]
    if hidden:
        reading.note(f"hidden sheets: {one_line(', '.join(hidden), 400)}")
    for name in (
        children(child(workbook, "definedNames"), "definedName") if child(workbook, "definedNames") is not None else ()
    ):
        if not name.get("name", "").startswith("_xlnm"):
            reading.count("defined names")
    if any("vbaproject" in name.lower() for name in package.names("xl/")):
        reading.note("the workbook holds macros")
    reader = CellReader(_shared(package, main, reading), _formats(package, main, reading), _since_1904(workbook))
    left = reading.limits.max_cells
    for number, sheet in enumerate(sheets):
        if left <= 0 or reading.full or reading.expired:
            reading.fault(f"{plural(len(sheets) - number, 'sheet')} not read: the limit for this file was reached")
            break
        try:
            left -= _read_sheet(package, sheet, reader, reading, left)
        except _BROKEN as error:
            reason = _reason(error)
            reading.add(f"[sheet {sheet.name!r}: the rest could not be read: {reason}]")
            reading.fault(f"sheet {sheet.name!r} could not be read to its end: {reason}")
    package.report_damage(reading)


def _reason(error: Exception) -> str:
    if isinstance(error, Unreadable):
        return str(error)
    return damage(error) if isinstance(error, DAMAGE) else f"unexpected content ({type(error).__name__})"


def _is_open_xml(source: Source) -> bool:
    """Whether the workbook is in the format read here; .xls, .xlsb and .ods are read by a library instead."""
    if not source.data(4).startswith(b"PK"):
        return False
    names = {name.lower() for name in open_zip(source.stream).namelist()}
    return "xl/workbook.bin" not in names and "content.xml" not in names


def _sheets(package: Package, main: str, workbook: Element) -> list[_Sheet]:
    found = []
    relations = package.relations(main)
    for item in descendants(workbook, "sheet"):
        relation = relations.get(next((v for k, v in item.attrib.items() if k.endswith("}id")), ""))
        part = relation.target if relation is not None and not relation.external else ""
        found.append(_Sheet(item.get("name", "?"), item.get("state", "visible"), part))
    return found


def _shared(package: Package, main: str, reading: Reading) -> list[str]:
    texts: list[str] = []
    for part in package.related(main, "sharedStrings"):
        try:
            with package.open(part) as stream:
                size = 0
                for text in shared_strings(stream):
                    texts.append(text[:_MOST_CELL_CHARS])
                    size += len(texts[-1])
                    if size > 60_000_000:
                        reading.fault("the workbook holds more text than is read; cells after that are marked")
                        break
        except _BROKEN as error:
            reading.fault(f"the texts of the cells could not be read to their end: {_reason(error)}")
    return texts


def _formats(package: Package, main: str, reading: Reading) -> list[NumberFormat]:
    for part in package.related(main, "styles"):
        try:
            root = package.xml(part)
            own = {
                int(item.get("numFmtId", "0")): NumberFormat.of(item.get("formatCode", ""))
                for item in descendants(root, "numFmt")
            }
            white = _white_fonts(root)
            formats = []
            for style in children(child(root, "cellXfs"), "xf"):
                number = int(style.get("numFmtId", "0"))
                shown = own.get(number) or _BUILT_IN.get(number, NumberFormat())
                # Fill 0 is none; on any other, white letters may well be seen.
                unseen = style.get("fillId", "0") == "0" and int(style.get("fontId", "0")) in white
                formats.append(replace(shown, is_unseen=shown.is_unseen or unseen))
            return formats
        except _BROKEN as error:
            reading.fault(f"the formats of the cells could not be read, dates are shown as numbers: {_reason(error)}")
    return []


def _white_fonts(styles: Element) -> set[int]:
    fonts = child(styles, "fonts")
    if fonts is None:
        return set()
    return {n for n, font in enumerate(fonts) if attribute(child(font, "color"), "rgb")[-6:].upper() == "FFFFFF"}


def _since_1904(workbook: Element) -> bool:
    return attribute(child(workbook, "workbookPr"), "date1904") in ("1", "true")


def _read_sheet(package: Package, sheet: _Sheet, reader: CellReader, reading: Reading, most: int) -> int:
    state = {"visible": "", "hidden": " [hidden sheet]", "veryHidden": " [hidden sheet]"}.get(sheet.state, "")
    reading.add(f"\n=== sheet {sheet.name}{state} ===")
    if not sheet.part:
        raise Unreadable("the workbook lists it but does not hold it")
    measure = SheetMeasure()
    lines: list[str] = []
    size = 0
    failure: Exception | None = None
    try:
        with package.open(sheet.part) as part:
            last = 0
            for row in reader.rows(part, measure, most):
                if last and row.number > last + 1:
                    lines.append(_gap(last + 1, row.number - 1))
                last = row.number
                lines.append(_line(row))
                size += len(lines[-1])
                if size > reading.limits.offset + reading.limits.max_chars or reading.expired:
                    measure.cut = True
                    reading.fault(f"sheet {sheet.name!r} was read up to row {row.number:,}: the limit was reached")
                    break
    except _BROKEN as error:
        failure = error
    reading.add(_summary(measure))
    reading.add("\n".join(_with_column_names(lines, measure)))
    _count(measure, reading)
    if measure.unseen:
        reading.note(f"sheet {sheet.name!r} holds cells that are not seen, marked [hidden text: ...]")
    _surroundings(package, sheet, measure, reading)
    if failure is not None:
        raise failure
    return measure.cells


def _gap(first: int, last: int) -> str:
    return f"[row {first} is empty]" if first == last else f"[rows {first}-{last} are empty]"


def _line(row: Row) -> str:
    last = max(row.cells)
    texts = [_cell(row.cells.get(column, "")) for column in range(1, last + 1)] if last <= 60 else _sparse(row)
    return f"{row.number}{' (hidden)' if row.hidden else ''} | " + " | ".join(texts)


def _sparse(row: Row) -> list[str]:
    """Cells far apart are named one by one: a value in column XFD must not cost 16,000 bars."""
    return [f"{column_letters(column)}: {_cell(text)}" for column, text in sorted(row.cells.items())]


def _cell(text: str) -> str:
    text = " / ".join(part for part in text[:_MOST_CELL_CHARS].splitlines() if part.strip()) if "\n" in text else text
    return text.replace("|", "\\|")


def _with_column_names(lines: list[str], measure: SheetMeasure) -> list[str]:
    if not lines:
        return ["[no cell of this sheet holds anything]"]
    hidden = {n for low, high in measure.hidden_columns for n in range(low, min(high, 16_384, low + 2_000) + 1)}
    if measure.last_column > 60:
        return lines
    names = [column_letters(n) + (" (hidden)" if n in hidden else "") for n in range(1, measure.last_column + 1)]
    return ["row | " + " | ".join(names), *lines]


def _summary(measure: SheetMeasure) -> str:
    if not measure.cells:
        return ""
    start = f"{column_letters(measure.first_column)}{measure.first_row}"
    end = f"{column_letters(measure.last_column)}{measure.last_row}"
    said = [f"used range {start}:{end}", plural(measure.rows, "row"), plural(measure.cells, "cell")]
    if measure.formulas:
        said.append(plural(measure.formulas, "formula"))
    if measure.uncalculated:
        said.append(f"{measure.uncalculated:,} of them not calculated (the file stores no value)")
    if measure.errors:
        said.append(plural(measure.errors, "error value"))
    if measure.hidden_rows:
        said.append(f"hidden rows {one_line(spans(measure.hidden_rows), 200)}")
    if measure.hidden_columns:
        said.append("hidden columns " + ", ".join(_columns(a, b) for a, b in measure.hidden_columns[:30]))
    if measure.merged_count:
        more = f", … ({measure.merged_count:,} in all)" if measure.merged_count > len(measure.merged) else ""
        said.append(f"merged {', '.join(measure.merged)}{more}")
    said.extend(f"{name}: {count}" for name, count in measure.features.items())
    return f"({'; '.join(said)})"


def _columns(low: int, high: int) -> str:
    return column_letters(low) if low == high else f"{column_letters(low)}-{column_letters(min(high, 16_384))}"


def _count(measure: SheetMeasure, reading: Reading) -> None:
    for name, value in (
        ("rows", measure.rows),
        ("cells", measure.cells),
        ("formulas", measure.formulas),
        ("formulas not calculated", measure.uncalculated),
        ("error values", measure.errors),
        ("merged ranges", measure.merged_count),
        *measure.features.items(),
    ):
        if value:
            reading.count(name, value)


def _surroundings(package: Package, sheet: _Sheet, measure: SheetMeasure, reading: Reading) -> None:
    """Add what lies on and around the cells: links, comments, tables, pivot tables, charts, pictures, shapes."""
    relations = package.relations(sheet.part)
    links = []
    for place, target in measure.links.items():
        relation = relations.get(target)
        links.append(f"{place}: {one_line(relation.target if relation is not None else target, 300)}")
    if links:
        reading.add("[links] " + "; ".join(links))
    for relation in relations.values():
        kind = relation.type.rsplit("/", 1)[-1]
        if relation.external or kind not in ("comments", "threadedComment", "table", "pivotTable", "drawing"):
            continue
        try:
            if kind == "drawing":
                _drawing(package, sheet, relation.target, reading)
            else:
                _attached(package.xml(relation.target), kind, reading)
        except _BROKEN as error:
            reading.fault(f"a {kind} of sheet {sheet.name!r} could not be read: {_reason(error)}")
            reading.add(f"[a {kind} that could not be read]")


def _attached(root: Element, kind: str, reading: Reading) -> None:
    if kind in ("comments", "threadedComment"):
        for comment in descendants(root, "comment", "threadedComment"):
            text = one_line(all_text(comment, "t", "text"), 2_000)
            if text:
                reading.count("comments")
                reading.add(f"[comment on {comment.get('ref', '?')}: {text}]")
    elif kind == "table":
        reading.count("tables")
        reading.add(f"[table {root.get('displayName', '')} over {root.get('ref', '')}]")
    else:
        reading.count("pivot tables")
        reading.add(f"[pivot table {root.get('name', '')} at {attribute(child(root, 'location'), 'ref')}]")


def _drawing(package: Package, sheet: _Sheet, part: str, reading: Reading) -> None:
    root = package.xml(part)
    relations: dict[str, Relation] = package.relations(part)
    where = f"sheet {sheet.name}"
    for element in descendants(root, "chart", "blip", "txBody"):
        kind = local(element)
        if kind == "txBody":
            text = paragraphs(element, relations)
            if text:
                reading.add(f"[shape: {text}]")
            continue
        relation = relations.get(attribute(element, "id" if kind == "chart" else "embed"))
        if relation is None or relation.external:
            continue
        if kind == "chart":
            reading.add(describe_chart(package, relation.target, where, reading))
        else:
            reading.count("pictures")
            number = reading.facts["pictures"]
            reading.add(f"[picture {number}]")
            reading.candidates.append(package.picture(relation.target, f"{where}, picture {number}"))
