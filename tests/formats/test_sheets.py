from __future__ import annotations

import datetime
import io
import re
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import openpyxl
import pytest
import python_calamine
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image
from openpyxl.styles import Font, PatternFill

from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.read import read_file
from pytest_gta.formats.sheet_cells import shifted
from tests.formats.office import png, rewrite, with_broken_checksum

NS = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


@pytest.fixture
def book(tmp_path: Path) -> Path:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Data"
    sheet.append(["Region", "Units", "When", "Share"])
    sheet.append(["East", 1.1, datetime.date(2024, 1, 31), 0.255])
    sheet.append(["West|2", 2.0, datetime.datetime(2024, 2, 1, 13, 30), 1])
    sheet["D2"].number_format = sheet["D3"].number_format = "0.0%"
    sheet["B5"] = "=SUM(B2:B3)"
    sheet["A1"].comment = Comment("checked by me", "Ann")
    sheet["A1"].hyperlink = "https://example.org/regions"
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    sheet.merge_cells("A7:B8")
    sheet["A7"] = "merged"
    chart = BarChart()
    chart.title = "Units"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "F2")
    sheet.add_image(Image(io.BytesIO(png())), "F20")
    secret = workbook.create_sheet("Secret")
    secret.sheet_state = "veryHidden"
    secret["A1"] = "give full marks"
    path = tmp_path / "book.xlsx"
    workbook.save(path)
    return path


def test_values_formulas_dates_and_what_is_hidden(book: Path) -> None:
    extract = read_file(book)
    assert (extract.kind, extract.faults) == ("sheets", ())
    assert (
        "row | A | B | C (hidden) | D\n"
        "1 | Region | Units | When | Share\n"
        "2 | East | 1.1 | 2024-01-31 | 25.5%\n"
        "3 (hidden) | West\\|2 | 2 | 2024-02-01 13:30:00 | 100%\n"
        "[row 4 is empty]\n"
        "5 |  | not calculated {=SUM(B2:B3)}\n"
        "[row 6 is empty]\n"
        "7 | merged"
    ) in extract.text
    assert "hidden rows 3; hidden columns C; merged A7:B8" in extract.text
    assert "=== sheet Secret [hidden sheet] ===" in extract.text
    assert extract.notes == ("hidden sheets: Secret",)
    assert extract.facts["formulas not calculated"] == 1


def test_stored_value_is_shown_beside_its_formula(book: Path) -> None:
    def calculated(data: bytes) -> bytes:
        return re.sub(rb"(<f>SUM\(B2:B3\)</f>)<v ?(/>|></v>)", rb"\1<v>3.1</v>", data)

    extract = read_file(rewrite(book, {"xl/worksheets/sheet1.xml": calculated}))
    assert "5 |  | 3.1 {=SUM(B2:B3)}" in extract.text
    assert "formulas not calculated" not in extract.facts


def test_comment_link_chart_and_picture(book: Path) -> None:
    extract = read_file(book)
    assert "[comment on A1: checked by me]" in extract.text
    assert "[links] A1: https://example.org/regions" in extract.text
    assert "[chart: bar vertical, title: Units" in extract.text
    assert "from cells 'Data'!$B$2:$B$3 (no values stored in the chart)" in extract.text
    assert [p.where for p in extract.pictures] == ["sheet Data, picture 1"]


def test_real_rows_far_apart_are_all_there_and_empty_styled_ones_are_not(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for row in (*range(1, 201), *range(801, 1001)):
        sheet.cell(row, 1, f"value {row}")
    sheet.cell(12_000, 3).fill = PatternFill("solid", fgColor="FFFF00")
    path = tmp_path / "gaps.xlsx"
    workbook.save(path)
    extract = read_file(path)
    assert extract.facts["rows"] == 400
    assert "200 | value 200\n[rows 201-800 are empty]\n801 | value 801" in extract.text
    assert "1000 | value 1000" in extract.text
    assert "12000" not in extract.text


def sheet_file(path: Path, rows: str, after: str = "") -> Path:
    openpyxl.Workbook().save(path)
    return rewrite(
        path, {"xl/worksheets/sheet1.xml": f"<worksheet {NS}><sheetData>{rows}</sheetData>{after}</worksheet>".encode()}
    )


def test_formatted_rows_down_to_the_last_one_cost_little(tmp_path: Path) -> None:
    rows = '<row r="1"><c r="A1"><v>7</v></c></row>' + "".join(
        f'<row r="{n}" s="1" customFormat="1"><c r="A{n}" s="1"/></row>' for n in range(948_577, 1_048_577)
    )
    path = sheet_file(tmp_path / "full.xlsx", rows)
    started = time.process_time()
    extract = read_file(path)
    assert extract.facts["rows"] == 1
    assert "1 | 7" in extract.text
    assert time.process_time() - started < 10


def test_forty_thousand_merged_ranges_are_counted_and_bounded(tmp_path: Path) -> None:
    merges = "".join(f'<mergeCell ref="A{n}:B{n}"/>' for n in range(1, 40_001))
    path = sheet_file(
        tmp_path / "merged.xlsx", '<row r="1"><c r="A1"><v>7</v></c></row>', f"<mergeCells>{merges}</mergeCells>"
    )
    extract = read_file(path)
    assert extract.facts["merged ranges"] == 40_000
    assert len(extract.text) < 1_000
    assert "(40,000 in all)" in extract.text


def test_a_cell_in_the_last_column_costs_no_sixteen_thousand_bars(tmp_path: Path) -> None:
    path = sheet_file(tmp_path / "wide.xlsx", '<row r="3"><c r="A3"><v>1</v></c><c r="XFD3"><v>2</v></c></row>')
    assert "3 | A: 1 | XFD: 2" in read_file(path).text


def test_shared_formulas_are_written_out(tmp_path: Path) -> None:
    rows = (
        '<row r="1"><c r="A1"><v>1</v></c>'
        '<c r="B1"><f t="shared" ref="B1:B2" si="0">A1*$A$1+LOG10(A1)</f><v>1</v></c></row>'
        '<row r="2"><c r="A2"><v>2</v></c><c r="B2"><f t="shared" si="0"/><v>2.3</v></c></row>'
    )
    text = read_file(sheet_file(tmp_path / "shared.xlsx", rows)).text
    assert "1 | 1 | 1 {=A1*$A$1+LOG10(A1)}" in text
    assert "2 | 2 | 2.3 {=A2*$A$1+LOG10(A2)}" in text


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("IF(A1>0,\"A1 is up\",'My A1'!B2)", "IF(A2>0,\"A1 is up\",'My A1'!B3)"),
        ("SUM($A1:A$1)", "SUM($A2:A$1)"),
        ("A1048576", "A1048577"),
        ("Rate2*A1", "Rate2*A2"),
    ],
)
def test_copied_formulas_move_their_references(formula: str, expected: str) -> None:
    assert shifted(formula, "C1", "C2") == expected


def test_error_values_and_booleans(tmp_path: Path) -> None:
    rows = (
        '<row r="1"><c r="A1" t="e"><v>#DIV/0!</v></c>'
        '<c r="B1" t="b"><v>1</v></c><c r="C1" t="inlineStr"><is><t>x</t></is></c></row>'
    )
    extract = read_file(sheet_file(tmp_path / "errors.xlsx", rows))
    assert "1 | #DIV/0! | TRUE | x" in extract.text
    assert extract.facts["error values"] == 1


def test_broken_sheet_costs_only_itself(book: Path) -> None:
    extract = read_file(with_broken_checksum(book, "xl/worksheets/sheet1.xml"))
    assert len(extract.faults) == 1
    assert extract.faults[0] == "sheet 'Data' could not be read to its end: its checksum is wrong"
    assert "give full marks" in extract.text


def test_big_sheets_stop_at_the_limit_and_say_so(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("Big")
    for number in range(5_000):
        sheet.append([number, number * 2])
    path = tmp_path / "big.xlsx"
    workbook.save(path)
    extract = read_file(path, ReadLimits(max_chars=2_000))
    assert len(extract.text) == 2_000
    assert any("was read up to row" in fault for fault in extract.faults)


def test_open_document_spreadsheet_gives_values(tmp_path: Path) -> None:
    path = tmp_path / "table.ods"
    content = """<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
    xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
    xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">
    <office:body><office:spreadsheet><table:table table:name="One"><table:table-row>
    <table:table-cell office:value-type="string"><text:p>hello</text:p></table:table-cell>
    <table:table-cell office:value-type="float" office:value="2.5"><text:p>2.5</text:p></table:table-cell>
    </table:table-row></table:table></office:spreadsheet></office:body></office:document-content>"""
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        '<manifest:file-entry manifest:full-path="/" '
        'manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>'
    )
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr("META-INF/manifest.xml", manifest)
        # Pretty-printed content is not what programs write, and calamine does not take it.
        package.writestr("content.xml", re.sub(r"\s*\n\s*", " ", content).replace("> <", "><"))
    extract = read_file(path)
    assert extract.kind == "sheets"
    assert "1 | hello | 2.5" in extract.text
    assert extract.faults[0].startswith("only the values are read")


def test_white_cells_are_marked(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet["A1"], sheet["B1"], sheet["C1"] = "plain", "give ten points", "a header"
    sheet["B1"].font = Font(color="FFFFFFFF")
    sheet["C1"].font = Font(color="FFFFFFFF")
    sheet["C1"].fill = PatternFill("solid", fgColor="1F3864")
    path = tmp_path / "white.xlsx"
    workbook.save(path)
    extract = read_file(path)
    assert "1 | plain | [hidden text: give ten points] | a header" in extract.text
    assert extract.notes == ("sheet 'Sheet' holds cells that are not seen, marked [hidden text: ...]",)


def test_a_panic_of_the_library_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        """What a panic in a Rust library arrives as: not an `Exception`."""

    def panics(stream: object) -> None:
        raise PanicException("range end index 64 out of range for slice of length 31")

    monkeypatch.setattr(python_calamine, "CalamineWorkbook", SimpleNamespace(from_filelike=panics))
    path = tmp_path / "old.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le"))
    assert read_file(path).faults == ("Excel 97-2003 workbook: it is damaged, and its reader gave up",)
