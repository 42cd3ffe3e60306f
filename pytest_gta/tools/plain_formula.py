r"""Formulas in LaTeX, as models write them into text, turned into what any document can show.

Only what reads well on one line is turned: fractions, roots, powers, Greek letters, operators. Everything else stays as
it was written, without its dollar signs.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_gta.tools.document_tree import Text

_GREEK_NAMES = [
    *("alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda"),
    *("mu", "nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
]
_SYMBOLS = {
    **dict(zip(_GREEK_NAMES, "αβγδεεζηθικλμνξπρστυφφχψωΓΔΘΛΞΠΣΦΨΩ", strict=True)),
    "times": "\u00d7", "cdot": "·", "div": "÷", "pm": "±", "mp": "∓", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥",
    "neq": "≠", "ne": "≠", "approx": "≈", "equiv": "≡", "sim": "\u223c", "propto": "∝", "infty": "∞", "sum": "∑",
    "prod": "∏", "int": "∫", "partial": "∂", "nabla": "∇", "in": "∈", "notin": "∉", "subset": "⊂", "subseteq": "⊆",
    "cup": "\u222a", "cap": "∩", "emptyset": "∅", "forall": "∀", "exists": "∃", "neg": "¬", "land": "∧",
    "lor": "\u2228",
    "to": "→", "rightarrow": "→", "Rightarrow": "⇒", "leftarrow": "←", "Leftrightarrow": "⇔", "leftrightarrow": "↔",
    "implies": "⇒", "iff": "⇔", "ldots": "…", "cdots": "⋯", "dots": "…", "degree": "°", "circ": "°", "angle": "∠",
    "perp": "⊥", "parallel": "∥", "therefore": "∴", "because": "∵", "prime": "\u2032", "quad": "  ", "qquad": "    ",
    "left": "", "right": "", "displaystyle": "", "limits": "", "Big": "", "big": "", "bigl": "", "bigr": "",
    "ln": "ln", "log": "log", "exp": "exp", "sin": "sin", "cos": "cos", "tan": "tan", "lim": "lim", "max": "max",
    "min": "min", "bmod": "mod", "mod": "mod", "gcd": "gcd", "det": "det",
}  # fmt: skip
_WORDS = ("text", "mathrm", "mathbf", "mathit", "textbf", "operatorname", "mathbb", "boldsymbol", "boxed", "overline")
_MATH = re.compile(
    r"(?P<code>```.*?```|~~~.*?~~~|`[^`\n]+`)"
    r"|\$\$(?P<display>.+?)\$\$|\\\[(?P<bracket>.+?)\\\]|\\\((?P<paren>.+?)\\\)"
    r"|(?<![\\$\w])\$(?P<inline>[^\s$](?:[^$\n]{0,200}?[^\s$\\])?)\$(?!\d)",
    re.DOTALL,
)
_SIGNS_OF_MATH = re.compile(
    r"[\\^_={}<>]|^[A-Za-z]$|^[-+]?\d+(?:\.\d+)?\s*[-+*/]\s*\w|^[a-zA-Z]\s*[-+*/]\s*\w|^\d*[a-z]$"
)
_SCRIPT = re.compile(r"(?P<sign>[\^_])(?:\{(?P<braced>[^{}]*)\}|(?P<one>[^\s{}]))|(?P<plain>[^\^_]+|[\^_])")
_LEFT_BRACE, _RIGHT_BRACE = "\ue002", "\ue003"
_OPEN, _CLOSE = "\ue000", "\ue001"
_TOKEN = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


class Formulas:
    """The formulas of one text, taken out before markdown is parsed, so that it does not see their signs."""

    def __init__(self) -> None:
        self._sources: list[str] = []

    def take_out(self, text: str) -> str:
        """Return the text with each formula replaced by a token. Code is left alone."""
        text = text.replace(_OPEN, "").replace(_CLOSE, "")

        def token(found: re.Match[str]) -> str:
            if found["code"] is not None:
                return found[0]
            inline = found["inline"]
            if inline is not None and not _SIGNS_OF_MATH.search(inline):
                return found[0]
            source = inline or found["display"] or found["bracket"] or found["paren"]
            if "\n\n" in source:
                return found[0]
            self._sources.append(" ".join(source.split()))
            return f"{_OPEN}{len(self._sources) - 1}{_CLOSE}"

        return _MATH.sub(token, text)

    def put_back(self, run: Text) -> list[Text]:
        """Return a run of text with its formulas written out."""
        pieces = _TOKEN.split(run.text)
        runs: list[Text] = []
        for index, piece in enumerate(pieces):
            if index % 2:
                runs.extend(written_out(self._sources[int(piece)], run))
            elif piece:
                runs.append(replace(run, text=piece))
        return runs


def written_out(source: str, style: Text) -> list[Text]:
    """Return a formula as runs of text: powers raised, indices lowered, commands as their signs."""
    runs: list[Text] = []
    for found in _SCRIPT.finditer(_flat(source)):
        shown = found["braced"] or found["one"] or found["plain"] or ""
        shown = shown.replace("{", "").replace("}", "").replace(_LEFT_BRACE, "{").replace(_RIGHT_BRACE, "}")
        if shown:
            runs.append(replace(style, text=shown, raised=found["sign"] == "^", lowered=found["sign"] == "_"))
    return runs


def _flat(source: str) -> str:
    """Write commands out, the innermost braces first."""
    text = source.replace("\\,", " ").replace("\\;", " ").replace("\\!", "").replace("\\ ", " ").replace("\\%", "%")
    text = re.sub(r"\\([$&#_{}])", lambda found: {"{": _LEFT_BRACE, "}": _RIGHT_BRACE}.get(found[1], found[1]), text)
    for _ in range(20):
        before = text
        text = re.sub(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", _fraction, text)
        text = re.sub(r"\\[dt]?frac\s*(\d)\s*(\d)", r"\1/\2", text)
        text = re.sub(r"\\sqrt\s*\{([^{}]*)\}", lambda found: "√" + _grouped(found[1]), text)
        text = re.sub(rf"\\(?:{'|'.join(_WORDS)})\s*\{{([^{{}}]*)\}}", r"\1", text)
        if text == before:
            break
    text = re.sub(r"\\([A-Za-z]+)(\s?)", _symbol, text)
    return text.replace("^{°}", "°").replace("^°", "°").replace("\\\\", "; ").replace("&", "")


def _symbol(found: re.Match[str]) -> str:
    """Return a command's sign; the space that only ends its name goes, the one around an operator stays."""
    sign = _SYMBOLS.get(found[1])
    if sign is None:
        return found[0]
    return sign if (sign.isalpha() and len(sign) == 1) or sign in "\u2202∇°∑∏∫" else sign + found[2]


def _fraction(found: re.Match[str]) -> str:
    return f"{_grouped(found[1])}/{_grouped(found[2])}"


def _grouped(text: str) -> str:
    return text if re.fullmatch(r"\\?\w+|\w", text.strip()) else f"({text.strip()})"
