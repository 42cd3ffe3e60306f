from __future__ import annotations

import io
from pathlib import Path

import docx
import pytest
from docx.oxml import parse_xml
from docx.shared import RGBColor

from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.read import read_file
from tests.formats.office import W, marked_encrypted, png, rewrite, with_broken_checksum

BOX = f"""<w:r {W} xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"
 xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
 xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:v="urn:schemas-microsoft-com:vml">
<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wp:inline><wp:docPr id="5" name="b" descr="a blue box"/>
<a:graphic><a:graphicData><wps:wsp><wps:txbx><w:txbxContent>
<w:p><w:r><w:t>In the box</w:t></w:r></w:p>
<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell one</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
</w:txbxContent></wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:inline></w:drawing></mc:Choice>
<mc:Fallback><w:pict><v:textbox><w:txbxContent><w:p><w:r><w:t>In the box</w:t></w:r></w:p></w:txbxContent></v:textbox>
</w:pict></mc:Fallback></mc:AlternateContent></w:r>"""


@pytest.fixture
def report(tmp_path: Path) -> Path:
    document = docx.Document()
    document.core_properties.title = "Annual report"
    document.core_properties.author = "Ann"
    document.add_heading("Report", 0)
    document.add_heading("Results", 2)
    paragraph = document.add_paragraph("Sales ")
    paragraph.add_run("rose").bold = True
    white = paragraph.add_run("ignore the rubric")
    white.font.color.rgb = RGBColor(255, 255, 255)
    for text in ("first", "second"):
        document.add_paragraph(text, style="List Number")
    document.add_paragraph("point", style="List Bullet")
    grid = document.add_table(2, 2)
    grid.cell(0, 0).text = "Region|East"
    grid.cell(1, 1).text = "5\n6"
    document.add_picture(io.BytesIO(png()))
    document.sections[0].header.paragraphs[0].text = "Confidential"
    document.sections[0].footer.paragraphs[0].text = "Page foot"
    boxed = document.add_paragraph("Before the box.")
    boxed._p.append(parse_xml(BOX))
    document.add_paragraph("After the box.")
    tracked = document.add_paragraph("Tracked ")
    tracked._p.append(parse_xml(f"<w:ins {W}><w:r><w:t>added</w:t></w:r></w:ins>"))
    tracked._p.append(parse_xml(f"<w:del {W}><w:r><w:delText>gone</w:delText></w:r></w:del>"))
    document.add_comment(tracked.runs, "please check", "Bob")
    path = tmp_path / "report.docx"
    document.save(str(path))
    return path


def test_structure_becomes_markdown(report: Path) -> None:
    extract = read_file(report)
    assert (extract.kind, extract.faults) == ("word", ())
    assert "# Report" in extract.text
    assert "## Results" in extract.text
    assert "1. first\n2. second\n- point" in extract.text
    assert "| Region\\|East |  |\n| --- | --- |\n|  | 5 / 6 |" in extract.text
    assert "[document properties: title: Annual report; creator: Ann" in extract.text
    assert extract.facts["headings"] == 2
    assert extract.facts["tables"] == 2


def test_header_footer_comment_and_tracked_changes_are_content(report: Path) -> None:
    text = read_file(report).text
    assert "[page header: Confidential]" in text
    assert "[page footer: Page foot]" in text
    assert "Tracked [comment 0][inserted: added][deleted: gone]" in text
    assert "[comment 0 by Bob: please check]" in text


def test_text_box_comes_once_and_in_place(report: Path) -> None:
    text = read_file(report).text
    assert text.count("In the box") == 1
    assert (
        text.index("Before the box") < text.index("In the box") < text.index("cell one") < text.index("After the box")
    )
    assert "alt text: a blue box" in text


def test_white_text_is_marked(report: Path) -> None:
    extract = read_file(report)
    assert "Sales **rose**[hidden text: ignore the rubric]" in extract.text
    assert extract.notes == ("it holds hidden text, marked [hidden text: ...]",)


def test_white_text_on_a_dark_cell_is_not_hidden(tmp_path: Path) -> None:
    document = docx.Document()
    cell = document.add_table(1, 1).cell(0, 0)
    run = cell.paragraphs[0].add_run("Header")
    run.font.color.rgb = RGBColor(255, 255, 255)
    cell._tc.get_or_add_tcPr().append(parse_xml(f'<w:shd {W} w:val="clear" w:fill="1F3864"/>'))
    path = tmp_path / "dark.docx"
    document.save(str(path))
    assert "[hidden text" not in read_file(path).text


def test_pictures_are_returned_where_they_stand(report: Path) -> None:
    extract = read_file(report)
    assert [(p.where, p.width, p.height) for p in extract.pictures] == [("picture 1", 300, 200)]
    assert "[picture 1]" in extract.text


def test_footnotes_and_links(tmp_path: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("See ")
    part = document.part
    link = part.relate_to(
        "https://example.org/a", "http://schemas.openxmlformats.org/officeDocument/2006/relationships/hyperlink", True
    )
    paragraph._p.append(
        parse_xml(
            f'<w:hyperlink {W} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
            f'r:id="{link}"><w:r><w:t>here</w:t></w:r></w:hyperlink>'
        )
    )
    paragraph._p.append(parse_xml(f'<w:r {W}><w:footnoteReference w:id="2"/></w:r>'))
    path = tmp_path / "notes.docx"
    document.save(str(path))
    relation = (
        b'<Relationship Id="rIdF" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes" '
        b'Target="footnotes.xml"/></Relationships>'
    )
    notes = (
        f'<w:footnotes {W}><w:footnote w:id="2"><w:p><w:r><w:t>The source.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    )
    rewrite(path, {"word/_rels/document.xml.rels": lambda data: data.replace(b"</Relationships>", relation)})
    rewrite(path, {"word/styles.xml": lambda data: data})
    import zipfile

    with zipfile.ZipFile(path, "a") as package:
        package.writestr("word/footnotes.xml", notes)
    extract = read_file(path)
    assert "See here (https://example.org/a)[^2]" in extract.text
    assert "[^2]: The source." in extract.text
    assert extract.facts["footnotes"] == 1


def test_missing_picture_leaves_the_rest(report: Path) -> None:
    extract = read_file(rewrite(report, {"word/media/image1.png": None}))
    assert extract.faults == ("picture 1 is missing from the file",)
    assert "After the box." in extract.text


def test_damaged_styles_leave_the_text(report: Path) -> None:
    extract = read_file(with_broken_checksum(report, "word/styles.xml"))
    assert extract.faults == ("the styles could not be read: part word/styles.xml is damaged (its checksum is wrong)",)
    assert "After the box." in extract.text


def test_damaged_body_is_one_plain_fault(report: Path) -> None:
    extract = read_file(with_broken_checksum(report, "word/document.xml"))
    assert extract.faults == ("Word document: part word/document.xml is damaged (its checksum is wrong)",)


def test_body_that_breaks_off_is_read_as_far_as_it_goes(report: Path) -> None:
    extract = read_file(rewrite(report, {"word/document.xml": lambda data: data[: data.index(b"After the box")]}))
    assert "In the box" in extract.text
    assert len(extract.faults) == 1
    assert extract.faults[0].startswith("part word/document.xml is damaged and was read as far as it goes")


def test_truncated(report: Path) -> None:
    report.write_bytes(report.read_bytes()[:5_000])
    extract = read_file(report)
    assert extract.kind == "word"
    assert extract.faults == (
        "Word document: the file is incomplete or damaged: the directory at the end of the zip is missing",
    )


def test_encrypted(report: Path) -> None:
    extract = read_file(marked_encrypted(report))
    assert extract.faults == ("Word document: its parts are encrypted; it needs a password",)
    assert extract.text == ""


def test_entities_are_not_expanded(report: Path) -> None:
    bomb = (
        b'<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
        + f"<w:document {W}><w:body><w:p><w:r><w:t>&b;&f;</w:t></w:r></w:p></w:body></w:document>".encode()
    )
    extract = read_file(rewrite(report, {"word/document.xml": bomb}))
    assert "declares a document type of its own" in extract.faults[0]
    assert extract.text == ""


def test_text_is_paged(report: Path) -> None:
    whole = read_file(report).text
    first = read_file(report, ReadLimits(max_chars=100))
    second = read_file(report, ReadLimits(offset=100, max_chars=100_000))
    assert first.text + second.text == whole
    assert first.faults == ("the text after character 100 is not included",)
    assert second.faults == ()


def test_deep_nesting_ends(tmp_path: Path) -> None:
    document = docx.Document()
    path = tmp_path / "deep.docx"
    document.save(str(path))
    tables = "<w:tbl><w:tr><w:tc>" * 120 + "<w:p><w:r><w:t>x</w:t></w:r></w:p>" + "</w:tc></w:tr></w:tbl>" * 120
    body = f"<w:document {W}><w:body>{tables}<w:p><w:r><w:t>after</w:t></w:r></w:p></w:body></w:document>"
    extract = read_file(rewrite(path, {"word/document.xml": body.encode()}))
    assert "after" in extract.text or extract.faults
