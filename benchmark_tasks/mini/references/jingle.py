"""Reference deliverables of task 52: the finished jingle and the sheet for the band."""

from __future__ import annotations

import math
import wave
from array import array
from pathlib import Path

from benchmark_tasks.mini.sources import jingle as source

MARGIN = 0.05


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    take = Path(source.__file__).parents[1] / source.TAKE
    with wave.open(str(take)) as recording:
        rate = recording.getframerate()
        samples = [s / 32768 for s in array("h", recording.readframes(recording.getnframes()))]
    start, end = source.bounds()
    cut = samples[round((start - MARGIN) * rate) : round((end + MARGIN) * rate)]
    done = _gate(_raise(cut, 2 ** (source.UP / 12), rate), rate)
    with wave.open(str(files / "Jingle_Final.wav"), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(array("h", (round(32767 * max(-0.98, min(0.98, s))) for s in done)).tobytes())
    length = len(done) / rate
    (files / "Jingle_Sheet.html").write_text(_page(length), encoding="utf-8")
    return f"Jingle_Final.wav lasts {length:.2f} seconds and is two semitones up; the sheet is Jingle_Sheet.html."


def _raise(samples: list[float], ratio: float, rate: int) -> list[float]:
    """Raise the pitch and keep the length: read each piece `ratio` times as fast, and join pieces where they fit.

    Overlap-add with a search for the best joint (WSOLA): pieces of 40 ms, joints within 10 ms.
    """
    fast_length = round(len(samples) / ratio)

    def sample(position: float) -> float:
        i = int(position)
        part = position - i
        return samples[i] * (1 - part) + samples[i + 1] * part if 0 <= i < len(samples) - 1 else 0.0

    fast = [sample(i * ratio) for i in range(fast_length)]
    piece, search = round(0.04 * rate), round(0.01 * rate)
    hop = piece // 2
    window = [0.5 - 0.5 * math.cos(2 * math.pi * i / piece) for i in range(piece)]
    out = [0.0] * (len(samples) + piece)
    follow = fast[:piece]
    for at in range(0, len(samples), hop):
        wanted = round(at / ratio)
        near = range(max(0, wanted - search), min(max(0, wanted + search), max(1, len(fast) - piece)), 3)
        best = max(near or (0,), key=lambda start: _likeness(follow, fast[start : start + piece]))
        for i, value in enumerate(fast[best : best + piece]):
            out[at + i] += value * window[i]
        follow = fast[best + hop : best + hop + piece]
    return out[: len(samples)]


def _likeness(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left[::4], right[::4], strict=False))


def _gate(samples: list[float], rate: int) -> list[float]:
    """Turn down what is as quiet as the hiss, softly."""
    size = round(0.01 * rate)
    levels = [max(map(abs, samples[i : i + size])) for i in range(0, len(samples), size)]
    gains = [1.0 if level > 0.03 else 0.05 for level in levels]
    smooth = [sum(gains[max(0, i - 1) : i + 2]) / len(gains[max(0, i - 1) : i + 2]) for i in range(len(gains))]
    return [value * smooth[i // size] for i, value in enumerate(samples)]


def _page(length: float) -> str:
    first = source.JINGLE[0][1]
    rows = "\n".join(
        f"<tr><td>{i}<td>{note}<td>{source.raised(note)}<td>{at - first:.1f}<td>{span:.1f}</tr>"
        for i, ((note, at), span) in enumerate(zip(source.JINGLE, source.LENGTHS, strict=True), 1)
    )
    marks = "\n".join(
        f'<rect x="{20 + 100 * (at - first):.0f}" y="{150 - 10 * _height(note)}" width="{95 * span:.0f}" height="9"/>'
        f'<text x="{22 + 100 * (at - first):.0f}" y="{145 - 10 * _height(note)}">{source.raised(note)}</text>'
        for (note, at), span in zip(source.JINGLE, source.LENGTHS, strict=True)
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Jingle</title>
<style>
body {{ font-family: sans-serif; max-width: 40em; margin: 2em auto }}
td, th {{ padding: .3em 1em; border-bottom: 1px solid #ccc; text-align: left }}
rect {{ fill: #2b5f75 }} text {{ font-size: 11px }}
</style></head>
<body>
<h1>The jingle</h1>
<p>Jingle_Final.wav lasts {length:.2f} seconds. Starts count from the first note.</p>
<table>
<tr><th></th><th>As recorded</th><th>As raised</th><th>Start (s)</th><th>Length (s)</th></tr>
{rows}
</table>
<svg viewBox="0 0 400 170" width="400" role="img" aria-label="rise and fall of the melody">
{marks}
</svg>
</body>
</html>
"""


def _height(note: str) -> int:
    return {"C4": 0, "D4": 2, "E4": 4, "G4": 7, "C5": 12}[note]
