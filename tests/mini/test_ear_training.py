"""Task 21: the numbers of its leaves from the inputs alone, and its reference deliverables."""

from __future__ import annotations

import json
import struct
import wave
from itertools import pairwise
from pathlib import Path

from tests.mini.rubric import INPUTS, holds
from tests.mini.sound import name_of, strength


def test_the_leaves_follow_from_the_inputs(leaves: dict[str, str]) -> None:
    with wave.open(str(INPUTS / "audio/21-warmup.wav")) as recording:
        rate, frames = recording.getframerate(), recording.getnframes()
        assert (recording.getnchannels(), recording.getsampwidth()) == (1, 2)
        samples = [s / 32768 for s in struct.unpack(f"<{frames}h", recording.readframes(frames))]
    window = rate // 200
    loud = [max(abs(s) for s in samples[i : i + window]) for i in range(0, frames - window, window)]
    # An onset is loudness after silence: every sound of the recording ends before the next one starts.
    onsets = [i * window / rate for i, level in enumerate(loud) if level > 0.02 and (i == 0 or loud[i - 1] <= 0.02)]
    names, clicks = [], 0
    for start in onsets:
        chunk = samples[round((start + 0.01) * rate) : round((start + 0.11) * rate)]
        if max(abs(s) for s in chunk[len(chunk) // 2 :]) < 0.02:
            clicks += 1
            continue
        # Fundamental: the lowest semitone between C3 and C6 nearly as strong as the strongest.
        power = {m: strength(chunk[::2], rate // 2, 440 * 2 ** ((m - 69) / 12)) for m in range(48, 85)}
        pitch = next(m for m in power if power[m] > 0.7 * max(power.values()))
        names.append((name_of(pitch), pitch))
    steps = [b - a for a, b in pairwise(onsets)]
    tempo = 60 / (sum(steps) / len(steps))
    assert abs(tempo - 96) < 0.5
    assert max(steps) - min(steps) < 0.02, "the tune keeps the tempo of the count-in"
    last = (frames / rate - onsets[-1]) * tempo / 60
    assert abs(last - 2) < 0.05

    holds(leaves["21/cp1-1"], round(tempo), clicks)
    holds(leaves["21/cp1-2"], len(names), *(name for name, _ in names))
    holds(leaves["21/cp1-3"], 1, names[-1][0], round(last))
    pitches = [pitch for _, pitch in names]
    leap = max(abs(b - a) for a, b in pairwise(pitches))
    holds(leaves["21/cp1-4"], min(names, key=lambda n: n[1])[0], max(names, key=lambda n: n[1])[0], leap)
    holds(leaves["21/cp1-5"], f"{frames / rate:.3f}")
    holds(leaves["21/cp2-1"], len(names))


def test_the_reference_keeps_to_the_leaves(outputs: Path) -> None:
    import docx

    key = json.loads((outputs / "21/files/Answer_Key.json").read_text("utf-8"))
    assert len(key) == 8 and len(key["question_answers"]) == 6
    sheet = docx.Document(str(outputs / "21/files/Ear_Training_Sheet.docx"))
    (table,) = sheet.tables
    assert [cell.text for cell in table.columns[0].cells[1:]] == [str(i) for i in range(1, 9)]
    assert not any(cell.text for column in list(table.columns)[1:] for cell in column.cells[1:])
    text = " ".join(paragraph.text for paragraph in sheet.paragraphs)
    assert (
        sum(paragraph.text.endswith("?") and paragraph.style.name == "List Number" for paragraph in sheet.paragraphs)
        == 6
    )
    assert "96" not in text and not any(note["name"] in text for note in key["notes"])
