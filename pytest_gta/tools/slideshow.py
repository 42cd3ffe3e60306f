"""A narrated slideshow of a text, written as a video: what TextToVideoTool makes in the confined process."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.formats.wording import plural
from pytest_gta.tools.call_clock import CallClock
from pytest_gta.tools.document_files import answer, written
from pytest_gta.tools.media_input import need_media
from pytest_gta.tools.media_output import VideoOutput
from pytest_gta.tools.narration import VOICE_HZ, Narrator
from pytest_gta.tools.storyboard import Scene, merged, scenes_of, sentences
from pytest_gta.tools.tool import ToolFault

if TYPE_CHECKING:
    import numpy as np

    from pytest_gta.tools.slide_cards import Card

PRELOAD = ("numpy", "av", "PIL.Image", "PIL.ImageDraw", "PIL.ImageFont")

SHORTEST_SCENE_S = 1.5
_FASTEST = 1.3
_PAUSE_S = 0.25
_LEAD_S = 0.25
_PASSING_S = 0.3


@dataclass(frozen=True, slots=True)
class _Voice:
    """What is spoken in the video.

    Attributes:
        scenes: The sentences of each scene, as sound.
        remarks: What to say about it.
    """

    scenes: tuple[tuple[np.ndarray[Any, Any], ...], ...]
    remarks: tuple[str, ...]

    def seconds(self, scene: int) -> float:
        """How long a scene is spoken, pauses included."""
        return sum(len(part) / VOICE_HZ + _PAUSE_S for part in self.scenes[scene])


def compose(
    target: str,
    description: str,
    num_frames: int,
    width: int,
    height: int,
    fps: int,
    pictures: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> dict[str, Any]:
    """Write the video, in the current folder, which is the workspace.

    Args:
        target: The new file.
        description: The text.
        num_frames: How many frames it has.
        width: Pixels.
        height: Pixels.
        fps: Frames a second.
        pictures: One for each scene, in base64; none for cards with text.
        remarks: What the answer says besides.

    Raises:
        ToolFault: The text is empty, or so many frames cannot be made in the time of a call.
    """
    need_media("TextToVideoTool")
    from PIL import Image

    from pytest_gta.tools.slide_cards import Card, PictureCard
    from pytest_gta.tools.text_picture import TextPainter

    clock = CallClock()
    seconds = num_frames / fps
    scenes = merged(scenes_of(description), int(seconds / SHORTEST_SCENE_S))
    if not scenes:
        raise ToolFault("description is empty; give what the video is to show and say")
    size = width // 2 * 2, height // 2 * 2
    painter = TextPainter()
    cards: list[Card] = []
    unusable: list[str] = []
    for number, scene in enumerate(scenes):
        cards.append(Card(scene, number, size, painter))
        if not pictures:
            continue
        try:
            with Image.open(io.BytesIO(base64.b64decode(pictures[min(number, len(pictures) - 1)]))) as opened:
                cards[-1] = PictureCard(scene, number, size, painter, opened)
        except (OSError, ValueError, SyntaxError):  # what Pillow raises on damaged files
            unusable.append("What the image model made for a scene is no picture; a card is shown there.")
    voice = _voice(scenes, seconds)
    lengths = _lengths(scenes, voice, num_frames, fps)
    spoken = _sound(voice, lengths, fps, seconds)

    def write(path: Path) -> None:
        with VideoOutput(path, size, Fraction(fps), (VOICE_HZ, 1) if spoken is not None else None) as output:
            if spoken is not None:
                output.with_sound(iter([spoken[None, at : at + 8192] for at in range(0, len(spoken), 8192)]))
            for frame in _frames(cards, lengths, fps):
                output.write(frame)
                if clock.expired():
                    raise ToolFault(
                        f"only {output.frames} of {num_frames} frames of {size[0]} x {size[1]} could be made in the "
                        "time of a call; ask for fewer frames a second, a smaller resolution or a shorter video"
                    )

    replaced, _ = written(target, write)
    notes = [*remarks, *unusable, *voice.remarks]
    if any(card.cut for card in cards):
        notes.append(
            "The picture is too small, or the video too short, for all of the text; what has no room ends in \u2026. "
            "Give a larger resolution or more frames."
        )
    if remark := painter.remark():
        notes.append(remark)
    facts = f"{seconds:.3f} s, {size[0]} x {size[1]}, {fps} fps, {plural(num_frames, 'frame')}"
    return answer(target, replaced, f"{facts}, {plural(len(scenes), 'scene')}", notes)


# -- the voice ---------------------------------------------------------------------------------------------------------


def _voice(scenes: Sequence[Scene], seconds: float) -> _Voice:
    """Have the scenes spoken, as much of them as there is time for."""
    texts = [sentences(scene.spoken) for scene in scenes]
    flat = [(number, text) for number, lines in enumerate(texts) for text in lines]
    silent: tuple[tuple[Any, ...], ...] = tuple(() for _ in scenes)
    narrator = Narrator(" ".join(text for _, text in flat))
    if not narrator.name:
        return _Voice(silent, (f"It has no narration: {narrator.why_silent}.",))
    room = seconds - _LEAD_S
    # What is far too long is not all spoken first.
    likely = _within(flat, room * 2, lambda entry: len(entry[1]) / 15)
    sounds = narrator.speak([text for _, text in likely])
    needed = sum(len(sound) / VOICE_HZ + _PAUSE_S for sound in sounds)
    speed = min(_FASTEST, needed / max(room, 0.1))
    if len(likely) == len(flat) and speed > 1:
        sounds = narrator.speak([text for _, text in likely], speed * 1.02)
    kept = _within(list(zip(likely, sounds, strict=True)), room, lambda entry: len(entry[1]) / VOICE_HZ + _PAUSE_S)
    if not kept:
        return _Voice(
            silent, (f"It has no narration: {round(seconds, 3):g} s are too short to speak its first sentence.",)
        )
    by_scene = tuple(tuple(sound for (number, _), sound in kept if number == at) for at in range(len(scenes)))
    spoken = sum(len(sound) / VOICE_HZ for _, sound in kept)
    remark = f"Narrated by the {narrator.name} voice ({spoken:.1f} s of speech)."
    if len(kept) < len(flat):
        remark += f" There is time for {len(kept)} of {len(flat)} sentences only; give it more frames for the rest."
    return _Voice(by_scene, (remark,))


def _within(entries: Sequence[Any], room: float, seconds: Any) -> list[Any]:
    """The first of some entries that fit into a time."""
    kept = []
    for entry in entries:
        room -= seconds(entry)
        if room < -_PAUSE_S:
            break
        kept.append(entry)
    return kept


def _lengths(scenes: Sequence[Scene], voice: _Voice, num_frames: int, fps: int) -> list[int]:
    """Share the frames out: each scene as long as it is spoken, and a part of what is left by its words."""
    spoken = [voice.seconds(number) for number in range(len(scenes))]
    left = max(0.0, num_frames / fps - sum(spoken))
    weights: list[float] = [len(scene.spoken) + 25 for scene in scenes]
    # What is not spoken has to be read in its own time.
    weights = [weight * (1 if not said else 0.4) for weight, said in zip(weights, spoken, strict=True)]
    ends, at = [], 0.0
    for said, weight in zip(spoken, weights, strict=True):
        at += said + left * weight / sum(weights)
        ends.append(min(num_frames, round(at * fps)))
    ends[-1] = num_frames
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


def _sound(voice: _Voice, lengths: Sequence[int], fps: int, seconds: float) -> np.ndarray[Any, Any] | None:
    """Put the sentences where their scenes are."""
    import numpy as np

    if not any(voice.scenes):
        return None
    track = np.zeros(round(seconds * VOICE_HZ), np.float32)
    scene_at, free = 0.0, 0.0
    for length, parts in zip(lengths, voice.scenes, strict=True):
        at = max(free, scene_at + (_LEAD_S if length / fps > 1 else 0.0))
        for part in parts:
            start = round(at * VOICE_HZ)
            piece = part[: max(0, len(track) - start)]
            track[start : start + len(piece)] += piece
            at += len(part) / VOICE_HZ + _PAUSE_S
        free = at
        scene_at += length / fps
    return track


# -- the pictures ------------------------------------------------------------------------------------------------------


def _frames(cards: Sequence[Card], lengths: Sequence[int], fps: int) -> Iterator[Any]:
    import av

    from pytest_gta.tools.slide_cards import pushed, with_progress

    total, done = sum(lengths), 0
    before: Any = None
    for card, length in zip(cards, lengths, strict=True):
        passing = min(round(_PASSING_S * fps), length // 3)
        picture: Any = None
        for number in range(length):
            picture = card.at(number / max(1, length - 1))
            shown = (
                picture
                if before is None or number >= passing
                else pushed(before, picture, (number + 1) / (passing + 1))
            )
            done += 1
            yield av.VideoFrame.from_ndarray(with_progress(shown, done / total, card.accent), format="rgb24")
        before = picture if picture is not None else before
