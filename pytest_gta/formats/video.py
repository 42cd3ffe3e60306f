"""Video files: length, size, frames spread over the length and what is said, where what that takes is installed."""

from __future__ import annotations

from typing import Any

from pytest_gta.formats.extract import Picture
from pytest_gta.formats.media import add_media_facts, has_av, iso_duration, iso_tracks, open_media
from pytest_gta.formats.pictures import encode
from pytest_gta.formats.reading import PictureCandidate, Reading, Source
from pytest_gta.formats.speech import add_transcript
from pytest_gta.formats.wording import one_line

_MOST_FRAMES = 8


def read(source: Source, reading: Reading) -> None:
    """Measure a video and take frames from it."""
    if has_av():
        add_media_facts(source, reading)
        if "pixels" in reading.facts and reading.limits.max_pictures > 0:
            _frames(source, reading)
        sound = ""
        if "it has no sound" not in reading.notes:
            heard = add_transcript(source, reading)
            sound = ", of its sound what is said" if heard else ", its sound is not transcribed"
        reading.fault(f"the video is given as facts and single frames{sound}")
        return
    seconds = iso_duration(source)
    if seconds is not None:
        reading.facts["seconds"] = round(seconds, 3)
    tracks = iso_tracks(source)
    for kind, width, height in tracks:
        if kind == "video" and width:
            reading.facts["pixels"] = f"{width} x {height}"
    if tracks and not any(kind == "sound" for kind, _, _ in tracks):
        reading.note("it has no sound")
    if source.data(12)[4:8] == b"ftyp" and not tracks:
        reading.fault("no tracks are stored where they should be; the file may be incomplete")
    reading.fault("its frames cannot be shown without a video decoder; `pip install av` adds one")


def _frames(source: Source, reading: Reading) -> None:
    """Take frames spread evenly over the length, each decoded from the key frame before it."""
    seconds = float(reading.facts.get("seconds", 0) or 0)
    count = min(_MOST_FRAMES, reading.limits.max_pictures)
    frames: list[Picture] = []
    try:
        with open_media(source) as container:
            stream = container.streams.video[0]
            stream.thread_type = "NONE"
            for index in range(count):
                if reading.expired:
                    reading.fault("the time for this file was over before all frames were taken")
                    break
                frame = _frame_at(container, stream, seconds * (index + 0.5) / count)
                if frame is None:
                    break
                at = float(frame.time or 0)
                picture = _picture(frame, f"at {at:.1f} s", reading)
                if not any(picture.where == other.where for other in frames):
                    frames.append(picture)
                if not seconds:
                    break
    except (OSError, ValueError, EOFError) as error:
        reading.fault(f"frames could not be taken to its end ({one_line(str(error), 120)})")
    for picture in frames:
        reading.candidates.append(PictureCandidate(picture.where, lambda kept=picture: kept))  # type: ignore[misc]


def _frame_at(container: Any, stream: Any, seconds: float) -> Any:
    if stream.time_base:
        container.seek(int(seconds / stream.time_base), stream=stream, backward=True)
    found = None
    for number, frame in enumerate(container.decode(stream)):
        found = frame
        if frame.time is None or frame.time >= seconds or number > 600:
            break
    return found


def _picture(frame: Any, where: str, reading: Reading) -> Picture:
    image = frame.to_image()
    longest = max(image.size)
    if longest > reading.limits.max_picture_px:
        scale = reading.limits.max_picture_px / longest
        image = image.resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))))
    return encode(image.convert("RGB"), where)
