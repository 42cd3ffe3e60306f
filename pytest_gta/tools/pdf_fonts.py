"""Which font each character of a PDF is written in."""

from __future__ import annotations

import hashlib
import io
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from pytest_gta.tools.font_files import FontFile, FontFolders, truetype_subset

Style = tuple[bool, bool]
"""Bold and italic."""

_FAMILIES: tuple[tuple[str, str, str, str], ...] = (
    ("LiberationSans-Regular", "LiberationSans-Bold", "LiberationSans-Italic", "LiberationSans-BoldItalic"),
    ("Arial", "Arial Bold", "Arial Italic", "Arial Bold Italic"),
    ("arial", "arialbd", "ariali", "arialbi"),
    ("NotoSans-Regular", "NotoSans-Bold", "NotoSans-Italic", "NotoSans-BoldItalic"),
    ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSans-Oblique", "DejaVuSans-BoldOblique"),
)
_STYLES: tuple[Style, ...] = ((False, False), (True, False), (False, True), (True, True))
_HELVETICA: dict[Style, str] = dict(
    zip(_STYLES, ("Helvetica", "Helvetica-Bold", "Helvetica-Oblique", "Helvetica-BoldOblique"), strict=True)
)
_COURIER: dict[Style, str] = dict(
    zip(_STYLES, ("Courier", "Courier-Bold", "Courier-Oblique", "Courier-BoldOblique"), strict=True)
)
_READER_FONTS: tuple[tuple[str, str], ...] = (
    ("STSong-Light", "gbk"),
    ("MSung-Light", "big5"),
    ("HeiseiKakuGo-W5", "shift_jis"),
    ("HYSMyeongJo-Medium", "euc_kr"),
)
"""Fonts a PDF may name without embedding: the reading program brings its own. With the characters each one has."""

_EUROPEAN = re.compile("[\u0100-\u058f\u1e00-\u1fff]")
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u231a-\u23ff\u2b50\u2b55\u2b1b\u2b1c\U0001f1e6-\U0001f1ff]")
_UNSEEN = re.compile("[\u20e3\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\u00ad\U000e0020-\U000e007f]")
_SKIN = re.compile("[\U0001f3fb-\U0001f3ff]")

_ALIKE = {
    **dict.fromkeys("\u2705\u2611\u2714", "\u2713"),
    **dict.fromkeys("\u274c\u274e\u2612", "\u2717"),
    **dict.fromkeys("\u2b50\U0001f31f", "\u2605"),
    **dict.fromkeys("\U0001f534\U0001f7e0\U0001f7e1\U0001f7e2\U0001f535\u26aa\u26ab", "\u25cf"),
    **dict.fromkeys("\u27a1\U0001f449", "\u2794"),
    **dict.fromkeys("\u2757\u2755", "!"),
    **dict.fromkeys("\u2753\u2754", "?"),
}
"""Signs that say the same as a common emoji, for when no font has that."""

Kind = Literal["font", "picture"]


class PdfFonts:
    """The fonts of one document, chosen for the characters it has.

    Helvetica serves Western text; other European scripts change the whole document to one family that has them all;
    whatever is left gets, character by character, a font that has it.

    Attributes:
        missing: Characters no font of this machine has.
        borrowed: Names of fonts that are not embedded: the reading program must bring one of its own.
    """

    def __init__(self, characters: Iterable[str], workroom: Path, folders: FontFolders | None = None) -> None:
        """Choose fonts for some characters.

        Args:
            characters: All that the document has.
            workroom: A folder for pictures of emoji; they must stay there until the document is written.
            folders: Where fonts are looked for; by default where the machine keeps them.
        """
        self._workroom = workroom
        self._folders = folders or FontFolders()
        self._characters = {char for char in characters if not char.isspace() and not _UNSEEN.match(char)}
        self._family_glyphs: frozenset[int] = frozenset()
        self._family = self._choose_family()
        self._chosen: dict[str, dict[Style, str] | None] = {}
        self._emoji_font = self._folders.colour_emoji()
        self._emoji_pictures: dict[str, str | None] = {}
        self.missing: set[str] = set()
        self.borrowed: set[str] = set()
        self._choose()

    def runs(
        self, text: str, *, bold: bool = False, italic: bool = False, mono: bool = False
    ) -> Iterator[tuple[Kind, str, str]]:
        """Split text into runs of one font.

        Yields:
            ``("font", font name, text)`` or ``("picture", name of a PNG file, the emoji)``. A character that no
            font has is written as its name in brackets when it is a symbol, else as an empty box.
        """
        style = (bold, italic)
        name, run = "", ""
        for char in text:
            if _UNSEEN.match(char) or (_SKIN.match(char) and self._emoji_font):
                continue
            picture = self._emoji_picture(char)
            if picture:
                if run:
                    yield "font", name, run
                run = ""
                yield "picture", picture, char
                continue
            chosen, shown = self._font(char, style, mono=mono)
            if chosen != name and run:
                yield "font", name, run
                run = ""
            name, run = chosen, run + shown
        if run:
            yield "font", name, run

    @property
    def body(self) -> str:
        """The font most of the text is in."""
        return self._family[(False, False)]

    def has_wide(self, text: str) -> bool:
        """Return whether a text holds Chinese, Japanese or Korean, whose lines break between any two characters."""
        return bool(_WIDE.search(text))

    def _font(self, char: str, style: Style, *, mono: bool) -> tuple[str, str]:
        if mono and _in_western(char):
            return _COURIER[style], char
        fonts = self._family if char.isspace() or _in_western(char) else self._chosen.get(char, self._family)
        if fonts is not None:
            return fonts[style], char
        if char in _ALIKE:
            return self._font(_ALIKE[char], style, mono=mono)
        if _SKIN.match(char):
            return self._family[style], ""
        name = unicodedata.name(char, "").lower()
        if unicodedata.category(char) == "So" and name:
            return self._family[style], f"[{name}]"
        return "ZapfDingbats", "\u274f"

    def _choose_family(self) -> dict[Style, str]:
        european = {char for char in self._characters if _EUROPEAN.match(char)}
        if european:
            for names in _FAMILIES:
                files = [self._folders.named(name) for name in names]
                if all(file and file.outlines == "truetype" and file.has("".join(european)) for file in files):
                    registered = [name for file in files if file and (name := _register(file))]
                    if len(registered) == len(_STYLES):
                        self._family_glyphs = files[0].glyphs if files[0] else frozenset()
                        return dict(zip(_STYLES, registered, strict=True))
        return _HELVETICA

    def _choose(self) -> None:
        left = {char for char in self._characters if not _in_western(char)}
        of_family = {char for char in left if ord(char) in self._family_glyphs}
        self._chosen.update(dict.fromkeys(of_family, self._family))
        left -= of_family
        groups: dict[str, set[str]] = {}
        for char in sorted(left):
            groups.setdefault(_script(char), set()).add(char)
        for group in groups.values():
            self._take(group)
        dingbats = {char for char in (*left, *_ALIKE.values()) if char not in self._chosen and _is_dingbat(char)}
        self._chosen.update(dict.fromkeys(dingbats, dict.fromkeys(_STYLES, "ZapfDingbats")))
        self.missing = {
            char
            for char in left
            if char not in self._chosen
            and char not in _ALIKE
            and not _SKIN.match(char)
            and not (self._emoji_font and _EMOJI.match(char))
        }
        self._chosen.update(dict.fromkeys(left - self._chosen.keys()))

    def _take(self, group: set[str]) -> None:
        """Find fonts for a group of characters: the one that has the most, then for the rest."""
        while group:
            font = self._folders.with_characters(group)
            taken = {char for char in group if font and ord(char) in font.glyphs}
            if not font or not taken or not self._use(font, taken):
                self._borrow(group)
                return
            group = group - taken

    def _use(self, font: FontFile, characters: set[str]) -> bool:
        regular = _register(font, characters)
        if regular is None:
            return False
        bold = None
        for stem in (font.path.stem.replace("Regular", "Bold"), font.path.stem + "-Bold"):
            other = self._folders.named(stem) if stem != font.path.stem else None
            if other and other.has("".join(characters)):
                bold = _register(other, characters)
        styles = {style: (bold if style[0] and bold else regular) for style in _STYLES}
        self._chosen.update(dict.fromkeys(characters, styles))
        return True

    def _borrow(self, characters: set[str]) -> None:
        from reportlab.pdfbase import pdfmetrics
        from reportlab.pdfbase.cidfonts import UnicodeCIDFont

        left = {char for char in characters if _WIDE.match(char)}
        fonts = sorted(_READER_FONTS, key=lambda font: -sum(_encodes(char, font[1]) for char in left))
        if any(re.match("[\u3040-\u30ff]", char) for char in left):
            fonts.sort(key=lambda font: font[1] != "shift_jis")
        for name, encoding in fonts:
            taken = {char for char in left if _encodes(char, encoding)}
            if taken:
                pdfmetrics.registerFont(UnicodeCIDFont(name))
                self.borrowed.add(name)
                self._chosen.update(dict.fromkeys(taken, dict.fromkeys(_STYLES, name)))
                left -= taken

    def _emoji_picture(self, char: str) -> str | None:
        if self._emoji_font is None or not _EMOJI.match(char):
            return None
        # A plain symbol (a check mark, a star) stays text where a font has it.
        if ord(char) < 0x1F000 and self._chosen.get(char, self._family) is not None:
            return None
        if char not in self._emoji_pictures:
            self._emoji_pictures[char] = _draw_emoji(self._emoji_font, char, self._workroom)
            if self._emoji_pictures[char] is None and self._chosen.get(char) is None:
                self.missing.add(char)
        return self._emoji_pictures[char]


def _script(char: str) -> str:
    """Return a name for the characters that are likely to be in one font with this one."""
    if _WIDE.match(char):
        return "wide"
    if _EMOJI.match(char):
        return "emoji"
    return "symbols" if "\u2000" <= char <= "\u2bff" else unicodedata.name(char, "?").split()[0]


def _is_dingbat(char: str) -> bool:
    """Return whether ZapfDingbats has a character: one of the fonts that every PDF program has."""
    # The encoding is registered by this import.
    from reportlab.pdfbase import pdfmetrics

    return char > "\u2000" and pdfmetrics.getFont("ZapfDingbats") is not None and _encodes(char, "zapfdingbats")


def _in_western(char: str) -> bool:
    return _encodes(char, "cp1252")


def _encodes(char: str, encoding: str) -> bool:
    try:
        char.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _name(font: FontFile) -> str:
    return "gta-" + hashlib.sha256(f"{font.path}#{font.index}".encode()).hexdigest()[:12]


def _register(font: FontFile, characters: Iterable[str] = ()) -> str | None:
    """Make a font known to reportlab and return the name it goes by; None when it cannot be embedded."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFError

    from pytest_gta.tools.pdf_embedded_font import EmbeddedFont

    name = _name(font)
    source: str | io.BytesIO = str(font.path)
    if font.outlines == "cff":
        wanted = "".join(sorted(set(characters)))
        name += hashlib.sha256(wanted.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        source = io.BytesIO()
        try:
            truetype_subset(font, wanted, source)
        except Exception:  # an odd font: another, or one the reader brings, will do
            return None
        source.seek(0)
    if name not in pdfmetrics.getRegisteredFontNames():
        try:
            pdfmetrics.registerFont(
                EmbeddedFont(name, source, subfontIndex=font.index if font.outlines != "cff" else 0)
            )
        except TTFError:
            return None
    return name


def _draw_emoji(font: Path, char: str, workroom: Path) -> str | None:
    from PIL import Image, ImageDraw, ImageFont

    try:
        drawn = ImageFont.truetype(str(font), 109)  # the one size a bitmap emoji font has
        picture = Image.new("RGBA", (136, 128), (255, 255, 255, 0))
        ImageDraw.Draw(picture).text((0, 0), char, font=drawn, embedded_color=True)
    except (OSError, ValueError):
        return None
    if picture.getbbox() is None:
        return None
    target = workroom / f"{ord(char):x}.png"
    picture.resize((68, 64)).save(target, "PNG")
    return str(target)
