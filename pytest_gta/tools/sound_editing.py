"""The tools that make a sound file from another: AudioClipTool, NoiseReduction, PitchShifting."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

from pytest_gta.formats.wording import plural
from pytest_gta.tools.backend import PYAV, Backend
from pytest_gta.tools.document_files import answer, written
from pytest_gta.tools.media_input import MediaInput, need_media
from pytest_gta.tools.media_output import SOUND_SUFFIXES, SoundOutput
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

PRELOAD = ("numpy", "av")

CLIP_S = 10.0
"""Where a clip ends when no end is given."""
_LONGEST_SHIFT = 36.0
_SHIFT_BLOCK_S = 90.0
_SHIFT_JOIN_S = 0.05
_SHIFT_LAG_S = 0.01

AUDIO = ToolParameter(
    "audio",
    "text",
    "Path of the sound file in the workspace (wav, mp3, m4a, flac, ogg, ...), or of a video, whose sound is taken.",
    example="resources/audio/interview.mp3",
)
OUTPUT_DIR = ToolParameter(
    "output_dir", "text", "Folder of the workspace to save in; made if needed. Leave out for the top.", optional=True
)
START = ToolParameter("start_time", "float", "Where the clip starts, in seconds. Left out: 0.0", optional=True)
END = ToolParameter("end_time", "float", "Where the clip ends, in seconds. Left out: 10.0", optional=True)

AUDIO_CLIP = Tool(
    ToolSpec(
        "AudioClipTool",
        "operation",
        "Cuts a part out of a sound file, exact to the sample, or takes the sound out of a video. Times beyond the "
        "file are drawn in, which the answer says. Returns the path of the clip and its length.",
        (
            AUDIO,
            START,
            END,
            ToolParameter(
                "filename",
                "text",
                "Name of the clip; its suffix chooses the format (.mp3, .wav, .flac, .ogg, .m4a), .mp3 when it has "
                "none. Left out: <audio>_clip.mp3",
                optional=True,
                example="intro.mp3",
            ),
            OUTPUT_DIR,
        ),
    ),
    "pytest_gta.tools.sound_editing:clip_audio",
    reads=("audio",),
    writes=".mp3",
    writes_also=SOUND_SUFFIXES,
    writes_as="{audio}_clip",
    backends=(PYAV,),
)
NOISE_REDUCTION = Tool(
    ToolSpec(
        "NoiseReduction",
        "operation",
        "Lowers steady background noise (hiss, hum, fans, tape) in a recording and keeps the rest, without delay, "
        "with the same length, rate and channels. Writes <audio>_denoised.wav and says by how much the noise floor "
        "went down.",
        (AUDIO, OUTPUT_DIR),
    ),
    "pytest_gta.tools.sound_editing:reduce_noise",
    reads=("audio",),
    writes=".wav",
    writes_as="{audio}_denoised",
    backends=(PYAV,),
)
PITCH_SHIFTING = Tool(
    ToolSpec(
        "PitchShifting",
        "operation",
        "Makes a sound file higher or lower in pitch without changing its length. Writes <audio>_pitch.wav.",
        (
            AUDIO,
            OUTPUT_DIR,
            ToolParameter(
                "semitones",
                "float",
                "By how many semitones: 12 is an octave up, -12 an octave down, 1 a half tone up; fractions are fine. "
                "Without it nothing is shifted, so give it.",
                optional=True,
                default=0.0,
                example=4,
            ),
        ),
    ),
    "pytest_gta.tools.sound_editing:shift_pitch",
    reads=("audio",),
    writes=".wav",
    writes_as="{audio}_pitch",
    backends=(Backend("PyAV and python-stretch", ("av", "numpy", "python_stretch"), "media"),),
)
TOOLS = (AUDIO_CLIP, NOISE_REDUCTION, PITCH_SHIFTING)
"""The tools of this module."""


def clip_range(
    start: float | None, end: float | None, seconds: float, notes: list[str], what: str
) -> tuple[float, float]:
    """Return where a clip starts and ends within a file's length; what was drawn in becomes a note.

    Raises:
        ToolFault: Nothing of the file lies between the two.
    """
    begin = start or 0.0
    until = end if end is not None else (CLIP_S if begin < CLIP_S else begin + CLIP_S)
    if until <= begin:
        raise ToolFault(
            f"the clip would end at {until:g} s, not after its start at {begin:g} s; the {what} is {seconds:.2f} s long"
        )
    if begin >= seconds > 0:
        raise ToolFault(f"the {what} is {seconds:.2f} s long; nothing of it lies after {begin:g} s")
    if until <= 0:
        raise ToolFault(f"times are in seconds from the start of the {what}, and {until:g} is before it")
    if begin < 0:
        notes.append(f"start_time {begin:g} is before the beginning; the clip starts at 0 s.")
        begin = 0.0
    if until > seconds > 0:
        if end is not None and until - seconds > 0.05:
            notes.append(f"end_time {until:g} s is after the end; the {what} is {seconds:.2f} s long.")
        until = seconds
    return begin, until


def other_file(target: str, source: str) -> None:
    """Make sure that a tool does not write over the file it reads.

    Raises:
        ToolFault: When the two are one.
    """
    if Path(target).exists() and Path(target).samefile(source):
        raise ToolFault(f"{target!r} is the file to read; give the new file another name")


def damage(media: MediaInput, notes: list[str]) -> None:
    """Say that parts of a file could not be decoded."""
    if media.damaged:
        notes.append(f"The file is damaged: {plural(media.damaged, 'part')} of it could not be decoded and is missing.")


def clip_audio(
    target: str, audio: str, start_time: float | None = None, end_time: float | None = None
) -> dict[str, Any]:
    """Cut a part out of a sound file, in the current folder, which is the workspace.

    Raises:
        ToolFault: The file cannot be read, or nothing of it lies between the times.
    """
    need_media("AudioClipTool")
    other_file(target, audio)
    notes: list[str] = []
    with MediaInput(audio) as media:
        media.need_sound()
        start, end = clip_range(start_time, end_time, media.seconds(), notes, "sound")
        # A stored length may be a little short: the end of the file is where its last sample is.
        last = math.inf if end >= media.seconds() else end
        rate, channels = media.rate, media.channels

        def write(path: Path) -> int:
            with SoundOutput(path, rate, channels) as output:
                for block in media.blocks(start, last):
                    output.write(block)
                if not output.samples:
                    raise ToolFault(f"no sound could be decoded between {start:g} and {end:g} s")
                return output.samples

        replaced, samples = written(target, write)
        damage(media, notes)
    length = samples / rate
    facts = f"{length:.3f} s, from {start:g} to {round(start + length, 3):g} s, {_channels(channels)}, {rate} Hz"
    return answer(target, replaced, facts, notes)


def reduce_noise(target: str, audio: str) -> dict[str, Any]:
    """Write a sound file with less noise, in the current folder, which is the workspace.

    Raises:
        ToolFault: The file cannot be read or holds no sound.
    """
    from pytest_gta.tools.noise_gate import NoiseGate, NoiseProfile

    need_media("NoiseReduction")
    other_file(target, audio)
    notes: list[str] = []
    with MediaInput(audio) as media:
        media.need_sound()
        rate, channels = media.rate, media.channels
        profile = NoiseProfile(rate, channels)
        for block in media.blocks():
            profile.listen(block)
    if not profile.samples:
        raise ToolFault(f"no sound could be decoded in {audio!r}")
    with MediaInput(audio) as media:
        gate = NoiseGate(profile, media.blocks())

        def write(path: Path) -> None:
            with SoundOutput(path, rate, channels) as output:
                for block in gate.blocks():
                    output.write(block)

        replaced, _ = written(target, write)
        damage(media, notes)
    facts = f"{profile.samples / rate:.3f} s, {_channels(channels)}, {rate} Hz"
    return answer(target, replaced, facts, [*gate.findings(), *notes])


def shift_pitch(target: str, audio: str, semitones: float = 0.0) -> dict[str, Any]:
    """Write a sound file of another pitch, in the current folder, which is the workspace.

    Raises:
        ToolFault: The file cannot be read, or the shift is out of range.
    """
    need_media("PitchShifting")
    if importlib.util.find_spec("python_stretch") is None:
        raise ToolFault("PitchShifting needs python-stretch, not installed here: pip install 'pytest-gta[media]'")
    if not abs(semitones) <= _LONGEST_SHIFT:
        raise ToolFault(f"semitones is {semitones:g}; it goes from -{_LONGEST_SHIFT:g} to {_LONGEST_SHIFT:g}")
    other_file(target, audio)
    notes: list[str] = []
    with MediaInput(audio) as media:
        media.need_sound()
        rate, channels = media.rate, media.channels

        def write(path: Path) -> int:
            with SoundOutput(path, rate, channels) as output:
                for block in _shifted(media, semitones):
                    output.write(block)
                if not output.samples:
                    raise ToolFault(f"no sound could be decoded in {audio!r}")
                return output.samples

        replaced, samples = written(target, write)
        damage(media, notes)
    if semitones == 0:
        notes.insert(0, "The pitch is as before: semitones is 0 or was left out. Give it to shift, e.g. 4 or -2.5.")
    else:
        factor = 2 ** (semitones / 12)
        notes.insert(0, f"Every frequency is {factor:.4f} times what it was (440 Hz becomes {440 * factor:.1f} Hz).")
    facts = f"{semitones:+g} semitones, {samples / rate:.3f} s, {_channels(channels)}, {rate} Hz"
    return answer(target, replaced, facts, notes)


def _shifted(media: MediaInput, semitones: float) -> Any:
    """Shift a long sound part by part, each faded into the next."""
    import numpy as np
    import python_stretch

    rate, channels = media.rate, media.channels
    size = int(_SHIFT_BLOCK_S * rate)
    stretch = python_stretch.Signalsmith.Stretch()
    stretch.preset(channels, float(rate))
    stretch.setTransposeSemitones(float(semitones))

    def shifted(part: Any) -> Any:
        if semitones == 0:
            return part
        stretch.reset()
        # The library looks ahead and back; silence around the part gives it something to look at.
        room = rate // 4
        padded = np.pad(part, ((0, 0), (room, room)))
        out: Any = stretch.process(np.ascontiguousarray(padded, dtype=np.float32))
        return out[:, room : room + part.shape[1]]

    joint = _Joint(int(_SHIFT_JOIN_S * rate), int(_SHIFT_LAG_S * rate))
    pieces = [np.zeros((channels, 0), np.float32)]
    left = 0
    for block in media.blocks():
        pieces.append(block)
        left += block.shape[1]
        if sum(piece.shape[1] for piece in pieces) < size + 4 * joint.overlap:
            continue
        whole = np.concatenate(pieces, axis=1)
        out = joint.add(shifted(whole[:, :size]), last=False)
        left -= out.shape[1]
        yield out
        pieces = [whole[:, size - joint.overlap :]]
    whole = np.concatenate(pieces, axis=1)
    if whole.shape[1]:
        out = joint.add(shifted(whole), last=True)
        # Joining moves parts by a few milliseconds; the length stays what it was.
        yield np.pad(out, ((0, 0), (0, max(0, left - out.shape[1]))))[:, :left]


class _Joint:
    """Joins parts of a sound that overlap, each faded into the next where their waves fit best."""

    def __init__(self, fade: int, lag: int) -> None:
        self._fade, self._lag = max(1, fade), max(1, lag)
        self.overlap = self._fade + self._lag
        self._tail: Any = None

    def add(self, part: Any, *, last: bool) -> Any:
        """Return what is finished of a part; its end is kept back for the next, unless it is the last."""
        import numpy as np

        tail = self._tail
        if tail is not None and part.shape[1] > self._fade + 2 * self._lag:
            head = part[:, : self._fade + 2 * self._lag].mean(axis=0)
            part = part[:, int(np.correlate(head, tail.mean(axis=0), "valid").argmax()) :].copy()
            ramp = np.linspace(0.0, 1.0, self._fade, dtype=np.float32)
            part[:, : self._fade] = part[:, : self._fade] * ramp + tail * (1 - ramp)
        if last:
            return part
        self._tail = part[:, -self._fade :].copy()
        return part[:, : -self._fade]


def _channels(count: int) -> str:
    return {1: "mono", 2: "stereo"}.get(count, f"{count} channels")
