"""How a text becomes the value of an option; a bad one raises ValueError with a clause to follow it: "is not ..."."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pytest_gta.llm.addresses import is_http

ATOMIC = "atomic"
"""The dataset of short questions that have one right answer."""

DATASETS = ("mini", "workflow", ATOMIC)
"""Datasets that are known by name."""

Parser = Callable[[str], Any]


def text(value: str) -> str:
    """Return a text without blanks around it; an empty one is refused."""
    if not value.strip():
        raise ValueError("is empty")
    return value.strip()


def lines(value: str) -> str:
    """Return a list of texts, one a line, each once and without blanks around it; an empty list is refused."""
    return text("\n".join(dict.fromkeys(line.strip() for line in value.splitlines() if line.strip())))


def words(value: str) -> tuple[str, ...]:
    """Return the words of a list separated by commas or blanks, each once; one that holds such is in double quotes."""
    lexer = shlex.shlex(value, posix=True)
    lexer.whitespace, lexer.quotes, lexer.escape, lexer.commenters = ", \t\r\n", '"', "", ""
    lexer.whitespace_split = True
    try:
        return tuple(dict.fromkeys(lexer))
    except ValueError:
        raise ValueError("has a double quote that is not closed") from None


def path(value: str) -> Path:
    """Return a path, made absolute from the current folder."""
    return Path(text(value)).expanduser().absolute()


def placed(value: str, folder: Path) -> str:
    """Return the text of a path as an absolute one, from `folder`; an empty one and ``off`` stay what they are."""
    return str(folder / Path(value.strip()).expanduser()) if value.strip().lower() not in ("", "off") else value


_SOURCE = re.compile(r"[a-z][a-z0-9+-]+:\S")


def datasets(value: str) -> tuple[str, ...]:
    """Return the datasets of a list separated by commas: known names, absolute paths, names such as ``tracker:web``."""
    return _datasets(text(value), Path.cwd())


def placed_datasets(value: str, folder: Path) -> str:
    """Return the text of such a list with its paths as absolute ones, from `folder`; an empty one stays what it is."""
    return ",".join(_datasets(value.strip(), folder)) if value.strip(" ,") else value


def _datasets(whole: str, folder: Path) -> tuple[str, ...]:
    # A path may hold a comma.
    held = Path(placed(whole, folder)).exists()
    parts = [whole] if held else [part.strip() for part in whole.split(",") if part.strip()]
    if not parts:
        raise ValueError("names no dataset")
    return tuple(dict.fromkeys(_dataset(part, folder) for part in parts))


def _dataset(name: str, folder: Path) -> str:
    at = placed(name, folder)
    return name if name in DATASETS or (_SOURCE.match(name) and not Path(at).exists()) else at


def folder_or_off(value: str) -> Path | None:
    """Return a folder, or None for ``off``."""
    return None if value.strip().lower() == "off" else path(value)


def file_or_off(value: str) -> Path | str:
    """Return a path, or ``off`` itself."""
    return "off" if value.strip().lower() == "off" else path(value)


def whole_number(minimum: int) -> Parser:
    """Return a parser of whole numbers from `minimum`."""

    def parse(value: str) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError(f"is not a whole number of at least {minimum}") from None
        if number < minimum:
            raise ValueError(f"is not a whole number of at least {minimum}")
        return number

    return parse


def number(low: float, high: float, *, above: bool = False) -> Parser:
    """Return a parser of numbers from `low` to `high`, without `low` itself when `above`."""
    wanted = f"above {low:g}" if above and high == math.inf else f"from {low:g} to {high:g}"

    def parse(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            raise ValueError(f"is not a number {wanted}") from None
        if not math.isfinite(number) or not low <= number <= high or (above and number == low):
            raise ValueError(f"is not a number {wanted}")
        return number

    return parse


def choice(*names: str) -> Parser:
    """Return a parser that takes one of the names."""

    def parse(value: str) -> str:
        if value not in names:
            raise ValueError(f"is not one of {', '.join(names)}")
        return value

    return parse


def switch(value: str) -> bool:
    """Return whether a switch is on."""
    known = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}
    word = value.strip().lower()
    if word not in known:
        raise ValueError("is not one of on, off")
    return known[word]


def shard(value: str) -> tuple[int, int]:
    """Return ``I/N`` as two numbers."""
    index, slash, count = value.partition("/")
    if not (slash and index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
        raise ValueError("is not of the form I/N with 1 <= I <= N, such as 2/4")
    return int(index), int(count)


class HiddenValue(ValueError):
    """What is wrong with a value that is not to be repeated, as it may hold a key."""


_KEY_IN_QUERY = re.compile(r"[?&][^=&]*(?:key|token|secret|password|signature|sig)[^=&]*=", re.IGNORECASE)


def address(value: str) -> str:
    """Return an http address that holds no key."""
    value = value.strip()
    if not is_http(value):
        raise HiddenValue("is not an http:// or https:// address")
    parts = urlsplit(value)
    if parts.username or parts.password or _KEY_IN_QUERY.search(value):
        raise HiddenValue("holds a key; put the key in OPENAI_API_KEY (the judge's in EVAL_OPENAI_API_KEY) instead")
    return value
