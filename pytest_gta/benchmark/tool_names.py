"""The names of the benchmark's 37 tools, and the class of ability each stands for."""

from __future__ import annotations

PERCEPTION = (
    "OCR",
    "ImageDescription",
    "RegionAttributeDescription",
    "ImageQualityTest",
    "SoundCharacteristicExtraction",
    "VideoDescription",
    "VideoObjectDetection",
    "VideoOCR",
    "SpeechToText",
)
OPERATION = (
    "GoogleSearch",
    "DrawBox",
    "AddText",
    "CsvFileGenerator",
    "DocxFileGenerator",
    "PdfFileGenerator",
    "PptxFileGenerator",
    "XlsxFileGenerator",
    "ReadCSV",
    "ReadDOCX",
    "ReadPDF",
    "ReadPPTX",
    "ReadXLSX",
    "AudioClipTool",
    "NoiseReduction",
    "PitchShifting",
    "VideoClip",
    "AddTextVideoTool",
    "HtmlFileGenerator",
)
LOGIC = ("Calculator", "Plot", "Solver", "CountGivenObject", "MathOCR", "Prover")
CREATIVITY = ("TextToImage", "ImageStylization", "TextToVideoTool")

TOOL_CAPABILITIES: dict[str, str] = {
    **dict.fromkeys(PERCEPTION, "perception"),
    **dict.fromkeys(OPERATION, "operation"),
    **dict.fromkeys(LOGIC, "logic"),
    **dict.fromkeys(CREATIVITY, "creativity"),
}
"""Tool name to ``perception``, ``operation``, ``logic`` or ``creativity``."""
