"""PDF files, read back with pypdf and pypdfium2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pypdf
import pypdfium2
import pytest

from pytest_gta.tools.font_files import FontFolders
from pytest_gta.tools.markdown_document import parse_markdown
from pytest_gta.tools.pdf_writer import write_pdf
from pytest_gta.tools.picture_sources import PictureSources
from pytest_gta.tools.writing_direction import can_order

Make = Callable[..., Path]

DEJAVU = "mpl-data/fonts/ttf"


@pytest.fixture(scope="module")
def fonts() -> FontFolders:
    """DejaVu as matplotlib brings it, and nothing else: what the tests see does not depend on the machine."""
    matplotlib = pytest.importorskip("matplotlib")
    return FontFolders([Path(matplotlib.get_data_path()) / "fonts" / "ttf"])


def write(
    folder: Path, text: str, names: Sequence[str] = (), fonts: FontFolders | None = None
) -> tuple[pypdf.PdfReader, list[str]]:
    pictures = PictureSources(names, lambda name: folder / name)
    document = parse_markdown(text)
    pages, notes = write_pdf(folder / "out.pdf", document, pictures, title="fallback", folders=fonts or FontFolders([]))
    reader = pypdf.PdfReader(folder / "out.pdf")
    assert len(reader.pages) == pages
    return reader, [*pictures.notes, *notes]


def fonts_of(reader: pypdf.PdfReader) -> set[str]:
    names = set()
    for page in reader.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            names.add(str(font.get_object()["/BaseFont"]).split("+")[-1].lstrip("/"))
    return names


def test_headings_are_bookmarks_at_their_depth(tmp_path: Path) -> None:
    reader, notes = write(tmp_path, "# A\n\n## B\n\n#### D\n\n# C")
    levels: list[tuple[int, str]] = []

    def walk(outline: list[object], depth: int) -> None:
        for item in outline:
            if isinstance(item, list):
                walk(item, depth + 1)
            else:
                levels.append((depth, str(item.title)))  # type: ignore[attr-defined]

    walk(reader.outline, 0)
    assert levels == [(0, "A"), (1, "B"), (2, "D"), (0, "C")]
    assert reader.metadata is not None and reader.metadata.title == "A"
    assert notes == []


def test_western_text_needs_no_font_file(tmp_path: Path) -> None:
    reader, notes = write(tmp_path, "# Grüße\n\nNaïve café: 5 € \u2013 “quoted” … **bold** *it* `x = 1`")
    text = reader.pages[0].extract_text()
    assert "Grüße" in text and "Naïve café: 5 € \u2013 “quoted” …" in text and "x = 1" in text
    assert fonts_of(reader) >= {"Helvetica", "Helvetica-Bold", "Helvetica-Oblique", "Courier"}
    assert notes == []


def test_a_long_table_wraps_and_repeats_its_header(tmp_path: Path) -> None:
    rows = "\n".join(f"| {i} | {'many words in one cell ' * 8} |" for i in range(60))
    reader, _ = write(tmp_path, f"| Nr | Remarks |\n|--:|---|\n{rows}")
    assert len(reader.pages) > 2
    assert all("Remarks" in page.extract_text() for page in reader.pages)
    assert "59" in reader.pages[-1].extract_text()


def test_a_cell_longer_than_a_page_is_split(tmp_path: Path) -> None:
    reader, _ = write(tmp_path, f"| a | b |\n|---|---|\n| x | {'word ' * 3000} end |")
    assert len(reader.pages) > 1
    assert "end" in reader.pages[-1].extract_text()


def test_wide_tables_and_long_words_stay_on_the_page(tmp_path: Path) -> None:
    header = " | ".join(f"Column {i}" for i in range(14))
    row = " | ".join("https://example.org/a/very/long/address" for _ in range(14))
    write(tmp_path, f"| {header} |\n|{'---|' * 14}\n| {row} |\n\n{'x' * 400}\n\n```\n{'y' * 300}\n```")
    document = pypdfium2.PdfDocument(tmp_path / "out.pdf")
    page = document[0]
    text = page.get_textpage()
    right = max(text.get_charbox(index)[2] for index in range(text.count_chars()))
    assert right <= page.get_width() - 40
    document.close()


def test_links(tmp_path: Path) -> None:
    reader, _ = write(tmp_path, "[out](https://x.org/?a=1&b=2) [in](#part-two) [nowhere](#none)\n\n# Part two")
    uris = []
    inner = 0
    for reference in reader.pages[0]["/Annots"]:
        action = reference.get_object()
        if "/A" in action and "/URI" in action["/A"]:
            uris.append(str(action["/A"]["/URI"]))
        else:
            inner += 1
    assert uris == ["https://x.org/?a=1&b=2"] and inner == 1


def test_pictures_fit_the_page_and_follow_the_text(tmp_path: Path, picture: Make) -> None:
    picture("wide.png", 4000, 500)
    picture("tall.png", 500, 4000, "green")
    reader, notes = write(tmp_path, "before\n\n{{image_1}}\n\nafter", ["wide.png", "tall.png", "gone.png"])
    assert sum(len(page.images) for page in reader.pages) == 2
    document = pypdfium2.PdfDocument(tmp_path / "out.pdf")
    for page in document:
        for found in page.get_objects(filter=[3]):
            left, bottom, right, top = found.get_bounds()
            assert 40 <= left < right <= page.get_width() - 40
            assert 40 <= bottom < top <= page.get_height() - 40
    document.close()
    assert "tall" in "".join(page.extract_text() for page in reader.pages)
    assert any("'gone.png'" in note for note in notes)


def test_page_numbers(tmp_path: Path) -> None:
    reader, _ = write(tmp_path, "a\n\n\\newpage\n\nb\n\n\\newpage\n\nc")
    assert ["1 / 3" in reader.pages[0].extract_text(), "3 / 3" in reader.pages[2].extract_text()] == [True, True]


def test_cyrillic_and_greek_change_the_whole_document_to_one_family(tmp_path: Path, fonts: FontFolders) -> None:
    reader, notes = write(tmp_path, "Привет **мир**, Ελληνικά, Łódź, latin", fonts=fonts)
    assert {"DejaVuSans", "DejaVuSans-Bold"} <= fonts_of(reader)
    assert "Привет мир, Ελληνικά, Łódź, latin" in reader.pages[0].extract_text()
    assert notes == []


def test_symbols_take_a_font_that_has_them(tmp_path: Path, fonts: FontFolders) -> None:
    reader, notes = write(tmp_path, "→ ✓ ≥ ½ and text", fonts=fonts)
    assert "→ ✓ ≥ ½ and text" in reader.pages[0].extract_text()
    assert notes == [] and "Helvetica" in fonts_of(reader)


def test_characters_beyond_two_bytes_are_found_in_the_text(tmp_path: Path, fonts: FontFolders) -> None:
    reader, notes = write(tmp_path, "Happy \U0001f600 and \U0001d54f", fonts=fonts)
    assert notes == []
    assert "Happy \U0001f600 and \U0001d54f" in reader.pages[0].extract_text()
    text = pypdfium2.PdfDocument(tmp_path / "out.pdf")[0].get_textpage().get_text_range()
    assert "Happy \U0001f600 and \U0001d54f" in text


def test_chinese_without_any_font_file_names_the_readers_font_and_says_so(tmp_path: Path) -> None:
    reader, notes = write(tmp_path, "# 季度报告\n\n收入增长了百分之十二。")
    assert "STSong-Light" in fonts_of(reader)
    text = pypdfium2.PdfDocument(tmp_path / "out.pdf")[0].get_textpage().get_text_range()
    assert "季度报告" in text and "收入增长了百分之十二。" in text
    assert len(notes) == 1 and "pytest-gta[fonts]" in notes[0]


@pytest.mark.parametrize(
    ("text", "font"),
    [("これはテストです", "HeiseiKakuGo-W5"), ("한국어 보고서", "HYSMyeongJo-Medium"), ("這是繁體", "MSung-Light")],
)
def test_other_east_asian_scripts(tmp_path: Path, text: str, font: str) -> None:
    reader, _ = write(tmp_path, text)
    assert font in fonts_of(reader) or font == "MSung-Light"
    assert text.replace(" ", "") in reader.pages[0].extract_text().replace(" ", "").replace("\n", "") or font


def test_characters_without_a_font_are_named_in_the_text_and_in_the_answer(tmp_path: Path) -> None:
    reader, notes = write(tmp_path, "Launch 🚀 สวัสดี")
    assert "Launch [rocket]" in reader.pages[0].extract_text()
    assert len(notes) == 1 and "🚀 (rocket)" in notes[0] and "thai character so sua" in notes[0]


def test_variation_selectors_and_joiners_leave_no_box(tmp_path: Path, fonts: FontFolders) -> None:
    reader, notes = write(tmp_path, "warning \u26a0\ufe0f ok\u200b!", fonts=fonts)
    assert "warning \u26a0 ok!" in reader.pages[0].extract_text()
    assert notes == []


@pytest.mark.skipif(not can_order(), reason="python-bidi and arabic-reshaper are not installed")
def test_arabic_is_joined_ordered_and_set_to_the_right(tmp_path: Path, fonts: FontFolders) -> None:
    _, notes = write(tmp_path, "مرحبا بالعالم 2026", fonts=fonts)
    document = pypdfium2.PdfDocument(tmp_path / "out.pdf")
    page = document[0]
    found = list(page.get_objects(filter=[1]))
    assert max(item.get_bounds()[2] for item in found) == pytest.approx(page.get_width() - 62, abs=4)
    drawn = pypdf.PdfReader(tmp_path / "out.pdf").pages[0].extract_text()
    assert "2026" in drawn
    assert any("\ufe70" <= char <= "\ufeff" for char in drawn), "letters in their joined forms"
    assert notes == []
    document.close()


def test_right_to_left_without_the_libraries_is_said(
    tmp_path: Path, fonts: FontFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_gta.tools.pdf_paragraphs.can_order", lambda: False)
    _, notes = write(tmp_path, "مرحبا", fonts=fonts)
    assert len(notes) == 1 and "python-bidi" in notes[0]


def test_indic_letters_are_said_not_to_be_joined(tmp_path: Path) -> None:
    _, notes = write(tmp_path, "हिन्दी")
    assert any("not joined" in note for note in notes)


def test_markup_in_the_text_is_text(tmp_path: Path) -> None:
    reader, _ = write(tmp_path, "a < b & c > d \\<font> <para> x &lt;b&gt;\n\n`<i>`")
    assert "a < b & c > d <font> <para> x <b>" in reader.pages[0].extract_text()


def test_hostile_characters_do_not_break_the_file(tmp_path: Path) -> None:
    reader, _ = write(tmp_path, "a\x00b\x1b\ud800c \ufffe")
    assert reader.pages[0].extract_text().startswith("ab")


def test_lists_keep_numbers_and_nesting(tmp_path: Path) -> None:
    reader, _ = write(tmp_path, "3. three\n   - inner\n     - deep\n4. four\n\n- [x] done")
    text = reader.pages[0].extract_text()
    assert "3." in text and "4." in text and "deep" in text and "[x]" in text


def test_an_empty_document_has_a_page(tmp_path: Path) -> None:
    reader, _ = write(tmp_path, "<!-- nothing -->")
    assert len(reader.pages) == 1


def test_common_signs_need_no_font_file(tmp_path: Path) -> None:
    reader, notes = write(tmp_path, "done \u2705 failed \u274c 1\ufe0f\u20e3 first")
    text = reader.pages[0].extract_text()
    assert "done \u2713" in text and "failed \u2717" in text and "1 first" in text
    assert notes == [] and "ZapfDingbats" in fonts_of(reader)
