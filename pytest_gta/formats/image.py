"""Image files: the picture itself, oriented and sized for a model, with what was measured of it."""

from __future__ import annotations

from pytest_gta.formats.extract import Picture
from pytest_gta.formats.markup import all_text, descendants, local, parse
from pytest_gta.formats.pictures import decode
from pytest_gta.formats.reading import PictureCandidate, Reading, Source, Unreadable
from pytest_gta.formats.text import decode as decode_text
from pytest_gta.formats.text import shorten_data
from pytest_gta.formats.wording import one_line, plural


def read(source: Source, reading: Reading) -> None:
    """Read an image file.

    Raises:
        Unreadable: When it cannot be decoded.
    """
    if _is_svg(source):
        _read_svg(source, reading)
        return
    decoded = decode(source.stream, "", reading.limits)
    reading.facts["pixels"] = f"{decoded.width} x {decoded.height}"
    reading.facts["format"] = decoded.format
    reading.facts["colours"] = decoded.mode
    if decoded.frames > 1:
        reading.facts["frames"] = decoded.frames
        reading.fault(f"it has {plural(decoded.frames, 'frame')}, of which the first is shown")
    if decoded.single_colour:
        reading.note(f"every pixel has the same colour, {decoded.single_colour}")
    for name, text in decoded.texts.items():
        reading.add(f"[stored in the image, {one_line(name, 60)}: {one_line(text, 2000)}]")
    picture: Picture = decoded.picture
    reading.candidates.append(PictureCandidate("", lambda: picture))


def _is_svg(source: Source) -> bool:
    head = source.data(4096).lower()
    return b"<svg" in head or (source.suffix == "svg" and b"<" in head[:200])


def _read_svg(source: Source, reading: Reading) -> None:
    """A drawing in text form is given as its words and its source: nothing here draws it."""
    data = source.data()
    text, _ = decode_text(data)
    try:
        root = parse(data)
    except Unreadable as fault:
        reading.fault(f"SVG drawing: {fault}")
    else:
        size = root.get("width", ""), root.get("height", "")
        if all(size):
            reading.facts["size"] = f"{size[0]} x {size[1]}"
        if root.get("viewBox"):
            reading.facts["view box"] = str(root.get("viewBox"))
        shapes = ("path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "image", "use", "g")
        counts: dict[str, int] = {}
        for element in descendants(root, *shapes):
            counts[local(element)] = counts.get(local(element), 0) + 1
        reading.facts["elements"] = ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"
        words = [one_line("".join(e.itertext()), 500) for e in descendants(root, "title", "desc", "text")]
        if any(words):
            reading.add("[words in the drawing]\n" + "\n".join(word for word in words if word) + "\n[end of words]")
        if all_text(root, "script").strip():
            reading.note("the drawing holds script")
    reading.fault("the drawing is given as its source, not as a picture")
    reading.add(shorten_data(text))
