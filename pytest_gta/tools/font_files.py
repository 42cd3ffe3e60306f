"""Font files of this machine: where they are, and which characters each one has."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_gta.formats.font_packages import SUFFIXES, font_packages

_MOST_FILES = 4000
_MOST_TRIED = 40
"""Files opened in search of one set of characters before it is given up."""

_SCRIPTS: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(f"[{characters}]"), re.compile(names, re.IGNORECASE))
    for characters, names in (
        ("\u3040-\u30ff", r"CJK.?jp|CJK-|SansJP|IPA|Takao|Gothic|Hiragino|CJK|DroidSansFallback|unifont"),
        ("\uac00-\ud7af\u1100-\u11ff", r"CJK.?kr|CJK-|SansKR|Nanum|Malgun|CJK|unifont"),
        (
            "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff",
            r"CJK.?sc|CJK-|SansSC|SourceHan|msyh|simhei|PingFang|wqy|uming|ukai|CJK|DroidSansFallback|unifont",
        ),
        ("\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff", r"DejaVuSans\b|Arabic|Naskh|Amiri|Arial"),
        ("\u2190-\u2bff\U0001f000-\U0001faff", r"DejaVuSans\b|NotoEmoji|Symbol|Emoji(?!.*Color)"),
    )
)
_NO_INSTRUCTIONS = (
    "maxZones",
    "maxTwilightPoints",
    "maxStorage",
    "maxFunctionDefs",
    "maxInstructionDefs",
    "maxStackElements",
    "maxSizeOfInstructions",
    "maxPoints",
    "maxContours",
    "maxCompositePoints",
    "maxCompositeContours",
    "maxComponentElements",
    "maxComponentDepth",
)
"""Fields that a TrueType font has and a converted one has to be given."""
_PLAIN = re.compile(r"bold|italic|oblique|black|light|thin|medium|condensed|mono|serif|display|color", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FontFile:
    """One font of a file that can be put into a document.

    Attributes:
        path: The file; of a collection its font number `index` is meant.
        index: 0 for a file with one font.
        outlines: ``truetype``, or ``cff``, which has to be converted before a PDF can embed it.
        glyphs: The characters it has.
    """

    path: Path
    index: int
    outlines: str
    glyphs: frozenset[int] = field(repr=False)

    def has(self, text: str) -> bool:
        """Return whether all of a text's characters are in it."""
        return all(ord(char) in self.glyphs for char in text)


class FontFolders:
    """The fonts found in some folders, opened when first asked for."""

    def __init__(self, folders: Sequence[Path] | None = None) -> None:
        """Look in `folders`, or where this system and its Python packages keep fonts."""
        self._folders = tuple(folders) if folders is not None else tuple(_usual_folders())
        self._files: list[Path] | None = None
        self._opened: dict[Path, FontFile | None] = {}

    def files(self) -> list[Path]:
        """Return all font files, in a stable order."""
        if self._files is None:
            self._files = list(_font_files(self._folders))
        return self._files

    def named(self, stem: str) -> FontFile | None:
        """Return the font whose file is called `stem`, whatever its suffix."""
        found = next((path for path in self.files() if path.stem == stem), None)
        return self.open(found) if found else None

    def open(self, path: Path) -> FontFile | None:
        """Return a file's font, None when it is of no use."""
        if path not in self._opened:
            self._opened[path] = _read(path)
        return self._opened[path]

    def with_characters(self, characters: Iterable[str]) -> FontFile | None:
        """Return the font that has most of some characters, the likeliest by name first; None if none has any."""
        wanted = {ord(char) for char in characters}
        best: FontFile | None = None
        for path in self._likeliest("".join(map(chr, wanted)))[:_MOST_TRIED]:
            font = self.open(path)
            if font and len(font.glyphs & wanted) > (len(best.glyphs & wanted) if best else 0):
                best = font
                if wanted <= font.glyphs:
                    break
        return best

    def colour_emoji(self) -> Path | None:
        """Return a colour emoji font whose pictures Pillow can draw."""
        return next((path for path in self.files() if re.search(r"NotoColorEmoji", path.name)), None)

    def _likeliest(self, characters: str) -> list[Path]:
        known = next((names for pattern, names in _SCRIPTS if pattern.search(characters)), None)
        # "TAMIL LETTER KA" is likely to be in a file called NotoSansTamil.
        script = unicodedata.name(characters[:1] or " ", "?").split()[0].lower()

        def rank(path: Path) -> tuple[bool, bool, bool, str]:
            named = known.search(path.name) if known else script in path.name.lower()
            odd = bool(re.search("serif", path.name, re.IGNORECASE))
            return (not named, bool(_PLAIN.search(path.name)), odd, path.name)

        return sorted(self.files(), key=rank)


def _usual_folders() -> Iterator[Path]:
    # matplotlib carries DejaVu; finding it does not import it.
    found = importlib.util.find_spec("matplotlib")
    if found and found.origin:
        yield Path(found.origin).parent / "mpl-data" / "fonts" / "ttf"
    yield from font_packages()
    yield from (Path("/usr/share/fonts"), Path("/usr/local/share/fonts"))
    with contextlib.suppress(RuntimeError):  # a confined process may have no home
        home = Path.home()
        yield from (home / ".fonts", home / ".local/share/fonts", home / "Library/Fonts")
    yield from (Path("/Library/Fonts"), Path("/System/Library/Fonts"), Path("C:/Windows/Fonts"))


def _font_files(folders: Sequence[Path]) -> Iterator[Path]:
    seen: set[str] = set()
    for folder in folders:
        try:
            found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
        except OSError:
            continue
        for path in found:
            if path.name not in seen and len(seen) < _MOST_FILES:
                seen.add(path.name)
                yield path


def _read(path: Path) -> FontFile | None:
    from reportlab.pdfbase.ttfonts import TTFError, TTFontFile

    try:
        face = TTFontFile(str(path), charInfo=1, validate=0)
        return FontFile(path, 0, "truetype", frozenset(face.charToGlyph))
    except TTFError as error:
        return _read_cff(path) if "postscript" in str(error).lower() else None
    except Exception:  # a broken font file can raise anything, and one font fewer is no fault of the document
        return None


def _read_cff(path: Path) -> FontFile | None:
    try:
        ttlib = importlib.import_module("fontTools.ttLib")
        with ttlib.TTFont(path, fontNumber=0, lazy=True) as font:
            return FontFile(path, 0, "cff", frozenset(font.getBestCmap()))
    except Exception:  # see _read; without fontTools such a font is of no use
        return None


def lacking(characters: Iterable[str]) -> str:
    """Say that characters have no font here, and what brings one."""
    wanted = sorted(set(characters))
    more = f" and {len(wanted) - 20} more" if len(wanted) > 20 else ""
    return (
        f"No font on this machine has {' '.join(wanted[:20])}{more}: drawn as empty boxes. Use other words or signs, "
        "or have a font installed that has them: pip install 'pytest-gta[fonts]'."
    )


def truetype_subset(font: FontFile, characters: Iterable[str], target: Any) -> None:
    """Write the glyphs that some characters need from a ``cff`` font to the binary file `target`, as TrueType.

    Raises:
        ImportError: fontTools, which comes with matplotlib, is not installed.
    """
    # Optional, and without types: imported by name.
    subset = importlib.import_module("fontTools.subset")
    quadratic = importlib.import_module("fontTools.pens.cu2quPen")
    pens = importlib.import_module("fontTools.pens.ttGlyphPen")
    ttlib = importlib.import_module("fontTools.ttLib")
    options = subset.Options()
    options.layout_features, options.notdef_outline, options.glyph_names = [], True, False
    options.drop_tables += ["vhea", "vmtx", "VORG", "GSUB", "GPOS", "GDEF", "BASE", "DSIG"]
    with ttlib.TTFont(font.path, fontNumber=font.index, lazy=True) as source:
        cutter = subset.Subsetter(options)
        cutter.populate(unicodes=[ord(char) for char in characters])
        cutter.subset(source)
        order, shapes = source.getGlyphOrder(), source.getGlyphSet()
        glyphs = {}
        for name in order:
            pen = pens.TTGlyphPen(None)
            shapes[name].draw(quadratic.Cu2QuPen(pen, max_err=1.0, reverse_direction=True))
            glyphs[name] = pen.glyph()
        source["loca"], source["glyf"] = ttlib.newTable("loca"), ttlib.newTable("glyf")
        source["glyf"].glyphOrder, source["glyf"].glyphs = order, glyphs
        source["maxp"].tableVersion = 0x00010000
        for name in _NO_INSTRUCTIONS:
            setattr(source["maxp"], name, 1 if name == "maxZones" else 0)
        source["post"].formatType = 3.0
        for tag in ("CFF ", "CFF2"):
            if tag in source:
                del source[tag]
        source.sfntVersion = "\x00\x01\x00\x00"
        source.save(target)
