"""The sound and video tools take what the benchmark's own take, and say what they need."""

from __future__ import annotations

import pytest

from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES
from pytest_gta.tools import (
    sound_character,
    sound_editing,
    speech,
    video_editing,
    video_making,
    video_sight,
    video_text,
)
from pytest_gta.tools.table import TOOLS

MODULES = (sound_character, sound_editing, speech, video_editing, video_making, video_sight, video_text)
MINE = {tool.name: tool for module in MODULES for tool in module.TOOLS}

REFERENCE = {
    "AudioClipTool": "audio:text start_time:float? end_time:float? filename:text? output_dir:text?",
    "NoiseReduction": "audio:text output_dir:text?",
    "PitchShifting": "audio:text output_dir:text?",
    "SoundCharacteristicExtraction": "audio:text",
    "SpeechToText": "audio:text",
    "VideoClip": "video:text start_time:float? end_time:float? filename:text? output_dir:text?",
    "VideoDescription": "video:text frame_skip:int?",
    "VideoObjectDetection": "video:text frame_skip:int?",
    "VideoOCR": "video:text frame_skip:int?",
    "AddTextVideoTool": "video:text output_dir:text? text:text? position:text? font:int? font_scale:float? color:text? "
    "thickness:int? filename:text?",
    "TextToVideoTool": "description:text output_dir:text? num_frames:int? resolution:text? fps:int? filename:text?",
}
ADDED = {
    "PitchShifting": ["semitones"],
    "SpeechToText": ["start_time", "end_time"],
    "AddTextVideoTool": ["start_time", "end_time"],
    "TextToVideoTool": ["seconds"],
}


@pytest.mark.parametrize("name", REFERENCE)
def test_parameters_are_those_of_the_benchmark(name: str) -> None:
    parameters = MINE[name].spec.parameters
    shown = [f"{p.name}:{p.type}{'?' if p.optional else ''}" for p in parameters]
    reference = REFERENCE[name].split()
    assert shown[: len(reference)] == reference
    assert [p.name for p in parameters[len(reference) :]] == ADDED.get(name, [])
    assert all(p.optional for p in parameters[len(reference) :])


def test_all_are_offered_under_their_capability() -> None:
    offered = {tool.name: tool for tool in TOOLS}
    assert set(MINE) == set(REFERENCE)
    for name, tool in MINE.items():
        assert offered[name] is tool
        assert tool.spec.capability == TOOL_CAPABILITIES[name]
        assert tool.backends


def test_defaults_that_the_benchmark_states() -> None:
    defaults = {p.name: p.default for p in MINE["TextToVideoTool"].spec.parameters if p.default is not None}
    assert defaults == {"num_frames": 8, "resolution": "128,128", "fps": 8}
