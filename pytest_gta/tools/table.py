"""Every tool of this project, in one table: what a model sees of it, what runs, which of its arguments are files."""

from __future__ import annotations

from pytest_gta.tools import (
    document_files,
    document_readers,
    image_making,
    picture_marks,
    sound_character,
    sound_editing,
    speech,
    table_files,
    video_editing,
    video_making,
    video_sight,
    video_text,
    vision,
)
from pytest_gta.tools.calculator import CALCULATOR
from pytest_gta.tools.google_search import GOOGLE_SEARCH
from pytest_gta.tools.image_quality import IMAGE_QUALITY_TEST
from pytest_gta.tools.ocr import OCR
from pytest_gta.tools.prover import PROVER
from pytest_gta.tools.python_code import PLOT, SOLVER
from pytest_gta.tools.tool import Tool

TOOLS: tuple[Tool, ...] = (
    CALCULATOR,
    PLOT,
    SOLVER,
    PROVER,
    *document_files.TOOLS,
    *table_files.TOOLS,
    *document_readers.TOOLS,
    *sound_editing.TOOLS,
    *sound_character.TOOLS,
    *speech.TOOLS,
    *video_editing.TOOLS,
    *video_sight.TOOLS,
    *video_text.TOOLS,
    *video_making.TOOLS,
    OCR,
    IMAGE_QUALITY_TEST,
    *vision.TOOLS,
    *picture_marks.TOOLS,
    *image_making.TOOLS,
    GOOGLE_SEARCH,
)
