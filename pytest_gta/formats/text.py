"""Plain text of every kind: prose, code, JSON, tables of comma-separated values, notebooks; decoded by trial."""

from __future__ import annotations

import ast
import codecs
import csv
import json
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pytest_gta.formats.legacy_encoding import encoding_of
from pytest_gta.formats.reading import Reading, Source, Unreadable
from pytest_gta.formats.wording import plural, spans

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DELIMITERS = (",", ";", "\t", "|")
_MOST_SAMPLE = 60_000
_DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=-]+)*;base64,[A-Za-z0-9+/=\s]{400,}")


def read(source: Source, reading: Reading) -> None:
    """Read a text file; what can be checked of its kind (JSON, Python, CSV) is, and becomes facts."""
    data = source.beginning(reading.limits.max_part_bytes, reading)
    text, encoding = decode(data)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if encoding not in ("utf-8", "ascii"):
        reading.facts["encoding"] = encoding
    if "\ufffd" in text and encoding == "utf-8":
        reading.fault("bytes that are not UTF-8 are shown as \ufffd")
    if "\x00" in text:
        reading.note(f"{plural(text.count(chr(0)), 'zero byte')} in the text")
    suffix = source.suffix
    reading.facts["lines"] = text.count("\n") + (0 if text.endswith("\n") or not text else 1)
    if not text.strip():
        reading.note("the file holds nothing but white space")
    if suffix in ("csv", "tsv"):
        _table_facts(text, suffix, reading)
    elif suffix == "json":
        _json_facts(text, reading)
    elif suffix == "jsonl":
        _json_lines_facts(text, reading)
    elif suffix == "ipynb" and _notebook(text, reading):
        return
    elif suffix == "py":
        _python_facts(text, reading)
    else:
        reading.facts["words"] = len(text.split())
    reading.add(shorten_data(text))


def decode(data: bytes) -> tuple[str, str]:
    """Return text and the name of its encoding: by its mark, as UTF-8, else by what fits its letters best."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").lstrip("\ufeff"), encoding.replace("-sig", " with a mark")
    for encoding, zeros in (("utf-16-le", data[1:200:2]), ("utf-16-be", data[0:200:2])):
        # Plain text in UTF-16 is valid UTF-8 as well, with a zero after every letter.
        if len(zeros) > 4 and zeros.count(0) > 0.8 * len(zeros):
            return data.decode(encoding, "replace"), encoding
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        # One stray byte in a long UTF-8 text is a slip, not another encoding.
        text = data.decode("utf-8", "replace")
        wide = sum(byte >= 0x80 for byte in data[:_MOST_SAMPLE])
        if text.count("\ufffd") * 10 <= wide or error.start > 200_000:
            return text, "utf-8"
    return _guess(data)


def _guess(data: bytes) -> tuple[str, str]:
    encoding = encoding_of(data[:_MOST_SAMPLE])
    try:
        return data.decode(encoding), encoding
    except (UnicodeDecodeError, LookupError):
        return data.decode("cp1252", "replace"), "cp1252"


def shorten_data(text: str) -> str:
    """Return text in which long base64 ``data:`` addresses are replaced by their type and length."""
    if "base64," not in text:
        return text
    return _DATA_URI.sub(lambda m: f"{m.group(0).split(',', 1)[0]},[{len(m.group(0)):,} characters]", text)


def delimiter_of(text: str, suffix: str = "csv") -> str:
    """Return what separates the columns of a table: the one of ``, ; tab |`` that splits its rows most evenly."""
    if suffix == "tsv":
        return "\t"
    lines = text[:_MOST_SAMPLE].splitlines()[:60]
    best, best_score = ",", 0.0
    for delimiter in _DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        if not widths:
            continue
        width, count = Counter(widths).most_common(1)[0]
        if width > 1:
            score = count / len(widths) + min(width, 50) / 1000
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text one by one: a copy of all of them would be many times its size."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


def _table_facts(text: str, suffix: str, reading: Reading) -> None:
    try:
        delimiter = delimiter_of(text, suffix)
        widths: Counter[int] = Counter()
        ragged: list[int] = []
        header: list[str] = []
        blank = 0
        for number, row in enumerate(csv.reader(_lines(text), delimiter=delimiter), 1):
            if not row or not any(value.strip() for value in row):
                blank += 1
                continue
            header = header or row
            widths[len(row)] += 1
            if len(row) != len(header) and len(ragged) < 10:
                ragged.append(number)
    except csv.Error as error:
        reading.fault(f"its rows cannot be told apart ({error}); it is shown as plain text")
        return
    rows = sum(widths.values())
    reading.facts["rows"] = rows
    reading.facts["columns"] = len(header)
    reading.facts["delimiter"] = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}[delimiter]
    uneven = rows - widths[len(header)]
    if uneven:
        more = "" if uneven <= len(ragged) else ", ..."
        reading.note(
            f"{plural(uneven, 'row')} not as wide as the first ({len(header)} columns): row {spans(ragged)}{more}"
        )
    if blank:
        reading.facts["blank rows"] = blank


def _json_facts(text: str, reading: Reading) -> None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f"line {error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        reading.note(f"it is not valid JSON ({where})")
        return
    if isinstance(value, dict):
        reading.facts["JSON"] = f"object with {plural(len(value), 'key')}"
    elif isinstance(value, list):
        reading.facts["JSON"] = f"list of {plural(len(value), 'item')}"
    else:
        reading.facts["JSON"] = "a single value"


def _json_lines_facts(text: str, reading: Reading) -> None:
    good, bad = 0, []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                json.loads(line)
                good += 1
            except (ValueError, RecursionError):
                bad.append(number)
    reading.facts["records"] = good
    if bad:
        reading.note(f"lines that are not valid JSON: {spans(bad[:20])}{', ...' if len(bad) > 20 else ''}")


def _python_facts(text: str, reading: Reading) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
        reading.facts["Python syntax"] = "valid"
    except SyntaxError as error:
        reading.note(f"it is not valid Python (line {error.lineno}: {error.msg})")
    except (ValueError, RecursionError, MemoryError):
        reading.note("it is not valid Python")


def _notebook(text: str, reading: Reading) -> bool:
    """Add a notebook's cells and outputs; False when it is not one, and is to be shown as text."""
    try:
        cells = json.loads(text)["cells"]
        if not isinstance(cells, list):
            return False
        for number, cell in enumerate(cells, 1):
            kind = cell.get("cell_type", "cell")
            reading.count(f"{kind} cells")
            reading.add(f"\n=== cell {number} ({kind}) ===\n{_joined(cell.get('source'))}")
            for output in cell.get("outputs", []):
                _notebook_output(output, number, reading)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        reading.fault("it is not a valid notebook; it is shown as plain text")
        return False
    return True


def _notebook_output(output: dict[str, Any], number: int, reading: Reading) -> None:
    data = output.get("data", {})
    said = _joined(output.get("text")) or _joined(data.get("text/plain"))
    if output.get("output_type") == "error":
        said = f"{output.get('ename')}: {output.get('evalue')}"
    if said:
        reading.add(f"[output]\n{said}")
    for kind in ("image/png", "image/jpeg"):
        if kind in data:
            _notebook_picture(_joined(data[kind]), f"cell {number}", reading)


def _notebook_picture(encoded: str, where: str, reading: Reading) -> None:
    import base64
    import binascii

    from pytest_gta.formats.pictures import embedded

    def content() -> bytes:
        try:
            return base64.b64decode(encoded)
        except binascii.Error:
            raise Unreadable("it is not base64") from None

    reading.count("pictures")
    reading.add("[picture]")
    reading.candidates.append(embedded("output", where, content, reading.limits, ""))


def _joined(value: Any) -> str:
    if isinstance(value, list):
        return "".join(str(part) for part in value)
    return value if isinstance(value, str) else ""
