"""How numbers are written for people. What was not measured is written as a dash or "unknown", never as 0."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_gta.benchmark.coverage import Coverage
from pytest_gta.reporters.visible_text import visible

BUNDLED_MODEL = "local"
"""What the bundled model goes by in options and results."""


def benchmark_name(dataset: Mapping[str, Any]) -> str:
    """Return which of the two benchmarks a run is of, by its ``dataset``."""
    return "GTA-Atomic" if dataset.get("name") == "atomic" else "GTA-Workflow"


def agent_name(agent: Mapping[str, Any]) -> str:
    """Return what an agent goes by and the model it runs on: ``careful on gpt-5``, ``gpt-5`` for the model itself.

    Args:
        agent: The agent as a run has it: its ``label`` and ``model``.
    """
    return " on ".join(filter(None, dict.fromkeys((agent.get("label"), agent.get("model")))))


def caution(run: Mapping[str, Any]) -> str:
    """Return what to keep in mind with every number of a run of the bundled model, "" for other runs.

    Args:
        run: The run as results have it: ``agent`` and ``judge`` with their models.
    """
    panel = [one if isinstance(one, str) else one.get("model") for one in run["judge"].get("panel") or ()]
    as_agent = run["agent"].get("model") == BUNDLED_MODEL
    as_judge = BUNDLED_MODEL in (run["judge"].get("model"), *panel)
    if not (as_agent or as_judge):
        return ""
    given = ["as an agent it has few tools and turns"] * as_agent + ["as a judge it sees excerpts"] * as_judge
    return (
        f"The bundled model is tiny ({'; '.join(given)}): scores show that everything runs, not how good anything is."
    )


def money(amount: float | None) -> str:
    """Return an amount of USD: ``$1.24``, ``$0.0031`` below ten cents, ``cost unknown`` for None."""
    if amount is None:
        return "cost unknown"
    return f"${amount:.2f}" if amount >= 0.1 or amount == 0 else f"${amount:.4f}"


def points(score: float | None, digits: int = 2) -> str:
    """Return a score of 0-10 with its decimals, a dash for None.

    It is never rounded up to a tenth that it does not reach: 6.999 is ``6.99``, for ``7.00`` would be a success.
    """
    if score is None:
        return "-"
    text = f"{score:.{digits}f}"
    shown = float(text)
    too_high = shown - score > 1e-9 and shown == round(shown, 1)
    return f"{shown - 10**-digits:.{digits}f}" if too_high else text


def told_apart(value: float, limit: float, digits: int = 2) -> str:
    """Return a number with enough decimals to show on which side of a limit it is: 6.998 is not ``7.00`` below 7."""
    shown = (f"{value:.{n}f}" for n in range(digits, 17))
    return next((text for text in shown if (float(text) >= limit) == (value >= limit)), repr(value))


def points_against(score: float, limit: float) -> str:
    """Return a score as `points` writes it, with more decimals where these hide on which side of a limit it is."""
    text = points(score)
    return text if (float(text) >= limit) == (score >= limit) else told_apart(score, limit, 3)


def rate(value: float | None) -> str:
    """Return a percentage with one decimal, a dash for None."""
    return "-" if value is None else f"{value:.1f} %"


def interval(bounds: Sequence[float] | None, digits: int = 1) -> str:
    """Return an interval as ``[4.2, 20.1]``, "" for None."""
    return "" if bounds is None else f"[{bounds[0]:.{digits}f}, {bounds[1]:.{digits}f}]"


def duration(seconds: float | None) -> str:
    """Return a time span: ``48 s``, ``12 min 5 s``, ``3 h 2 min``, ``unknown`` for None."""
    if seconds is None:
        return "unknown"
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def quantity(number: int) -> str:
    """Return a large number in few signs: ``1,800``, ``66.0M``."""
    return f"{number:,}" if number < 100_000 else f"{number / 1e6:,.1f}M"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 task``, ``1,156 leaves``."""
    plural = f"{noun[:-1]}ves" if noun == "leaf" else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def shortened(text: str, room: int) -> str:
    """Return a text on one line of at most so many characters, what cannot be seen made visible.

    Words are left out at its end. A word that would take more than half of the room, such as a path, loses its middle
    first: else a text that begins with one would be all left out.
    """
    line = " ".join(visible(text).split())
    if len(line) <= room:
        return line
    longest = max(room // 2, 12)
    line = " ".join(word if len(word) <= longest else _without_middle(word, longest) for word in line.split())
    return textwrap.shorten(line, width=room, placeholder=" ...")


def _without_middle(word: str, length: int) -> str:
    """Return the beginning and the end of a word; of a path the end says more."""
    kept = length - 3
    beginning = kept // 3
    return f"{word[:beginning]}...{word[len(word) - (kept - beginning) :]}"


def shown_to_judge(coverage: Coverage | None) -> str:
    """Return what a judge was shown of the delivered files, "" when that is not known.

    E.g. ``all 4 files, 7 of 9 pages, 21,285 of 30,120 characters of text (2 passages found for this requirement),
    9 pictures``.
    """
    if coverage is None:
        return ""
    if not coverage.files:
        return "no file was delivered"
    said = [_shown_of(coverage.files_shown, coverage.files, "file")]
    if coverage.pages:
        said.append(_shown_of(coverage.pages_shown, coverage.pages, "page"))
    if coverage.characters:
        found = f" ({count(coverage.passages, 'passage')} found for this requirement)" if coverage.passages else ""
        said.append(f"{_shown_of(coverage.characters_shown, coverage.characters, 'character')} of text{found}")
    said.append(count(coverage.pictures_shown, "picture"))
    return ", ".join(said)


def _shown_of(shown: int, there: int, noun: str) -> str:
    if shown < there:
        return f"{shown:,} of {count(there, noun)}"
    return f"all {count(there, noun)}" if there > 1 else f"1 {noun}"


def inferred(row: Mapping[str, Any]) -> str:
    """Return how many of a group's tasks were put in it by a rule: ``inferred``, ``2 of 9 inferred``, "" for none."""
    number = row.get("inferred", 0)
    if not number:
        return ""
    return "inferred" if number == row["tasks"] else f"{number:,} of {row['tasks']:,} inferred"
