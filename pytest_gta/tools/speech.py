"""SpeechToText: what is said in a recording, by the user's speech endpoint or the recogniser of the ``stt`` extra."""

from __future__ import annotations

import base64
import importlib.util
import tempfile
from pathlib import Path
from typing import Any

from pytest_gta.formats.speech import MODULES, can_hear
from pytest_gta.formats.wording import plural
from pytest_gta.tools.backend import SPEECH, Backend
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.sound_editing import AUDIO
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import ConfinedCall, Tool, ToolFault
from pytest_gta.workspace.workspace import Workspace

_SENT_S = 1_200.0
"""Length of a piece that is sent to an endpoint: it stays below the size that such endpoints take."""


def preload(function: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the libraries a call needs."""
    return ("numpy", "av", "faster_whisper") if function == "recognise" else ("numpy", "av")


def write_down(
    workspace: Workspace,
    confined: ConfinedCall,
    endpoints: ToolEndpoints,
    audio: str,
    start_time: float | None = None,
    end_time: float | None = None,
) -> str:
    """Return what is said in a recording.

    Raises:
        ToolFault: There is nothing to recognise it with, or the file cannot be read.
    """
    part = {"audio": workspace.relative(Path(audio)), "start_time": start_time, "end_time": end_time}
    if endpoints.speech is not None:
        if importlib.util.find_spec("av") is None and start_time is None and end_time is None:
            # Without a decoder the file goes out as it is, if the endpoint knows its format.
            return endpoints.transcribe(Path(audio)).strip() or "No speech was heard."
        return _asked(endpoints, confined("pytest_gta.tools.speech:prepare", part))
    if not can_hear():
        raise ToolFault(
            "SpeechToText has nothing to recognise speech with here: pip install 'pytest-gta[stt]' (works offline), or "
            "set GTA_SPEECH_MODEL for an endpoint. This cannot be changed from within a task: go on without this tool"
        )
    return str(confined("pytest_gta.tools.speech:recognise", part))


def _asked(endpoints: ToolEndpoints, ready: dict[str, Any]) -> str:
    pieces = ready["pieces"]
    texts = []
    with tempfile.TemporaryDirectory(prefix="pytest-gta-") as folder:
        for number, piece in enumerate(pieces):
            path = Path(folder) / f"part_{number + 1}.mp3"
            path.write_bytes(base64.b64decode(piece["data"]))
            text = endpoints.transcribe(path).strip()
            if text:
                texts.append(f"[from {piece['start']:.0f} s]\n{text}" if len(pieces) > 1 else text)
    return "\n".join(
        ["\n".join(texts) or f"No speech was heard in {ready['seconds']:.1f} s of sound.", *ready["notes"]]
    )


def prepare(audio: str, start_time: float | None = None, end_time: float | None = None) -> dict[str, Any]:
    """Return a recording as MP3s of one channel, each small enough to send.

    Returns:
        ``pieces``, each with ``start`` in seconds and ``data`` in base64; ``seconds``; ``notes``.

    Raises:
        ToolFault: The file cannot be read, or the part is empty.
    """
    from pytest_gta.tools.media_input import MediaInput, need_media
    from pytest_gta.tools.media_output import SoundOutput
    from pytest_gta.tools.sound_editing import damage

    need_media("SpeechToText")
    from pytest_gta.formats.speech import SPEECH_HZ

    notes: list[str] = []
    pieces = []
    with MediaInput(audio) as media, tempfile.TemporaryDirectory() as folder:
        start, end = _part(media, start_time, end_time, notes)
        at, output, path = start, None, Path(folder) / "part.mp3"
        for block in media.blocks(start, end, rate=SPEECH_HZ, mono=True):
            if output is None:
                output = SoundOutput(path, SPEECH_HZ, 1)
            output.write(block)
            if output.samples >= _SENT_S * SPEECH_HZ:
                pieces.append(_finished(output, path, at))
                at, output = at + output.samples / SPEECH_HZ, None
        if output is not None:
            pieces.append(_finished(output, path, at))
            at += output.samples / SPEECH_HZ
        damage(media, notes)
    if not pieces:
        raise ToolFault(f"no sound could be decoded in {audio!r}")
    return {"pieces": pieces, "seconds": at - start, "notes": notes}


def recognise(audio: str, start_time: float | None = None, end_time: float | None = None) -> str:
    """Return what is said in a recording, sentence by sentence with times, by the offline recogniser.

    Raises:
        ToolFault: The file cannot be read, the part is empty, or the weights are broken.
    """
    from pytest_gta.formats.speech import SPEECH_HZ, NoRecogniser, transcribe
    from pytest_gta.tools.call_clock import CallClock
    from pytest_gta.tools.media_input import MediaInput
    from pytest_gta.tools.sound_editing import damage

    clock = CallClock()
    notes: list[str] = []
    with MediaInput(audio) as media:
        start, end = _part(media, start_time, end_time, notes)
        blocks = (block[0] for block in media.blocks(start, end, rate=SPEECH_HZ, mono=True))
        try:
            transcript = transcribe(blocks, clock.expired)
        except NoRecogniser as fault:
            raise ToolFault(f"SpeechToText cannot work here: {fault}") from None
        damage(media, notes)
    if not transcript.heard_s:
        raise ToolFault(f"no sound could be decoded in {audio!r}")
    if not transcript.whole:
        reached = start + transcript.heard_s
        notes.append(
            f"The time of the call was over at {reached:.0f} s of the recording; call SpeechToText again with "
            f'"start_time": {reached:.0f} for the rest.'
        )
    if not transcript.parts:
        return "\n".join([f"No speech was heard in {transcript.heard_s:.1f} s of sound.", *notes])
    head = f"{transcript.language}, {transcript.heard_s:.1f} s, {plural(len(transcript.parts), 'part')}:"
    lines = [f"[{start + part.start:.1f}-{start + part.end:.1f} s] {part.text}" for part in transcript.parts]
    return "\n".join([head, *lines, *notes])


def _part(media: Any, start: float | None, end: float | None, notes: list[str]) -> tuple[float, float]:
    import math

    from pytest_gta.tools.sound_editing import clip_range

    media.need_sound()
    seconds = media.seconds()
    begin, until = clip_range(start, math.inf if end is None else end, seconds, [] if end is None else notes, "sound")
    return begin, math.inf if until >= seconds else until


def _finished(output: Any, path: Path, at: float) -> dict[str, Any]:
    output.__exit__(None, None, None)
    return {"start": round(at, 1), "data": base64.b64encode(path.read_bytes()).decode("ascii")}


SPEECH_TO_TEXT = Tool(
    ToolSpec(
        "SpeechToText",
        "perception",
        "Writes down what is said in a recording or a video, in whatever language it is, with times. Recognisers can "
        "mishear names and numbers.",
        (
            AUDIO,
            ToolParameter("start_time", "float", "Where to begin, in seconds. Left out: 0", optional=True),
            ToolParameter("end_time", "float", "Where to stop, in seconds. Left out: the end", optional=True),
        ),
    ),
    write_down,
    reads=("audio",),
    backends=(SPEECH, Backend("Whisper base, offline", MODULES, "stt")),
)
TOOLS = (SPEECH_TO_TEXT,)
"""The tools of this module."""
