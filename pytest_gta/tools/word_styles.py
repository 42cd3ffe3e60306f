"""The look of a Word document: its fonts, colours and styles."""

from __future__ import annotations

from typing import Any

AFTER_SHADING = ("w:tabs", "w:bidi", "w:spacing", "w:ind", "w:contextualSpacing", "w:jc", "w:outlineLvl", "w:rPr")
"""What has to follow a paragraph's shading and direction in its properties."""
ACCENT = "1F3864"
_LINK = "0563C1"
_LATIN_FONT = "Calibri"
_WIDE_FONT = "Microsoft YaHei"
_MONO_FONT = "Consolas"


def colour(value: str) -> Any:
    """Return a colour from its six hexadecimal digits."""
    from docx.shared import RGBColor

    return RGBColor.from_string(value)


def prepare_styles(document: Any) -> None:
    """Give a document's styles their look, and add those the template has not."""
    from docx.enum.style import WD_STYLE_TYPE
    from docx.shared import Pt

    styles = document.styles
    _set_fonts(styles["Normal"], _LATIN_FONT)
    styles["Normal"].font.size = Pt(11)
    styles["Normal"].paragraph_format.space_after = Pt(8)
    styles["Normal"].paragraph_format.line_spacing = 1.15
    for level, size in enumerate((20, 16, 13, 12, 11, 11), start=1):
        style = styles[f"Heading {level}"]
        _set_fonts(style, _LATIN_FONT)
        style.font.size, style.font.bold, style.font.italic = Pt(size), True, level == 6
        style.font.color.rgb = colour(ACCENT)
        style.paragraph_format.space_before, style.paragraph_format.space_after = Pt(18 - 2 * level), Pt(6)
        style.paragraph_format.keep_with_next = True
    for name in ("List Bullet", "List Number", "List Bullet 2", "List Number 2", "List Bullet 3", "List Number 3"):
        styles[name].paragraph_format.space_after = Pt(3)
    styles["Quote"].font.color.rgb = colour("595959")
    styles["Quote"].paragraph_format.left_indent = Pt(24)
    styles["Caption"].font.size, styles["Caption"].font.color.rgb = Pt(9), colour("595959")
    styles["Caption"].font.bold, styles["Caption"].font.italic = False, True
    code = styles.add_style("Code", WD_STYLE_TYPE.PARAGRAPH)
    code.base_style, code.font.size = styles["Normal"], Pt(9.5)
    _set_fonts(code, _MONO_FONT)
    code.paragraph_format.line_spacing, code.paragraph_format.left_indent = 1.0, Pt(6)
    code.element.get_or_add_pPr().insert_element_before(shading("F3F3F3"), *AFTER_SHADING)
    table_text = styles.add_style("Table Text", WD_STYLE_TYPE.PARAGRAPH)
    table_text.base_style, table_text.font.size = styles["Normal"], Pt(10)
    table_text.paragraph_format.space_after, table_text.paragraph_format.line_spacing = Pt(2), 1.0
    inline = styles.add_style("Inline Code", WD_STYLE_TYPE.CHARACTER)
    inline.font.size = Pt(10)
    _set_fonts(inline, _MONO_FONT)
    link = styles.add_style("Hyperlink", WD_STYLE_TYPE.CHARACTER)
    link.font.underline, link.font.color.rgb = True, colour(_LINK)


def _set_fonts(style: Any, latin: str) -> None:
    from docx.oxml.ns import qn

    style.font.name = latin
    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    for name in list(fonts.attrib):
        if "Theme" in name:
            del fonts.attrib[name]
    for attribute, font in (("ascii", latin), ("hAnsi", latin), ("eastAsia", _WIDE_FONT), ("cs", "Arial")):
        fonts.set(qn(f"w:{attribute}"), font)


def shading(fill: str) -> Any:
    """Return the element that shades a cell or paragraph."""
    return element("w:shd", val="clear", color="auto", fill=fill)


def element(tag: str, **attributes: str) -> Any:
    """Return a new element of Word's own vocabulary, e.g. ``element("w:shd", fill="FFFFFF")``."""
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    element = OxmlElement(tag)
    for name, value in attributes.items():
        element.set(qn(f"w:{name}"), value)
    return element
