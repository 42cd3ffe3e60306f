"""How much of a file is read: bounds on bytes, characters, pictures and time, so that no file can hold a run up."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bounds on reading one file. What they cut is said in the extract's faults.

    Attributes:
        max_bytes: Largest file that is opened at all, in bytes.
        max_unpacked_bytes: Most bytes that all parts of a container (docx, pptx, xlsx, zip, tar.gz) may unpack to.
        max_part_bytes: Most bytes of one part that is held in memory as a whole.
        max_chars: Most characters of text returned, counted from `offset`.
        offset: Characters of the text to skip, for paging.
        max_cells: Most cells of a workbook that are read.
        max_pages: Most pages of a PDF, or slides of a deck, that are read.
        max_pictures: Most pictures returned, spread over the file; 0 for none.
        max_picture_px: Longest side of a returned picture, in pixels.
        max_image_px: Largest image that is decoded, in pixels (width times height).
        max_seconds: Time after which a reader stops and returns what it has, in seconds.
        repeats: False gives a text that a file holds twice only once; for a reader that does not want the file itself.
        details: False leaves out what costs most to find (links, annotations, attachments of a PDF).
    """

    max_bytes: int = 256 * MIB
    max_unpacked_bytes: int = 512 * MIB
    max_part_bytes: int = 48 * MIB
    max_chars: int = 2_000_000
    offset: int = 0
    max_cells: int = 1_000_000
    max_pages: int = 2_000
    max_pictures: int = 8
    max_picture_px: int = 1_200
    max_image_px: int = 50_000_000
    max_seconds: float = 30.0
    details: bool = True
    repeats: bool = True
