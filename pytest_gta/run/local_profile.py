"""What the bundled model is given: it reads about 100 tokens a second, so prompts are kept near 1,000 tokens.

Few tools, in few words; excerpts of the evidence; few turns. The reports say so (`reporters.wording.caution`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_gta.benchmark.kinds import file_kinds, kind_of

if TYPE_CHECKING:
    from pytest_gta.tools.specification import ToolSpec

EVIDENCE_CHARACTERS = 1600
"""How much of the deliverables it is shown as a judge."""

TURNS = 4
"""Model turns of a task, unless ``--gta-max-turns`` says otherwise."""

IDENTICAL_CALLS = 1
"""It repeats itself: the second equal call of a tool is not run."""

_READERS = {"csv": "ReadCSV", "docx": "ReadDOCX", "pdf": "ReadPDF", "pptx": "ReadPPTX", "xlsx": "ReadXLSX"}
_WRITERS = {
    "html": "HtmlFileGenerator",
    "csv": "CsvFileGenerator",
    "docx": "DocxFileGenerator",
    "pdf": "PdfFileGenerator",
    "xlsx": "XlsxFileGenerator",
    "pptx": "PptxFileGenerator",
}
_MOST_WRITERS = 2


def tool_metadata(request: str, inputs: Sequence[str], specs: Sequence[ToolSpec]) -> dict[str, Mapping[str, Any]]:
    """Return the tools to offer for one task, in the form of a release's ``toolmeta.json``.

    Args:
        request: The user's words; the kinds of files they ask for choose the writers.
        inputs: The input files; their kinds choose the readers.
        specs: The tools there are.
    """
    given = {kind_of(path) for path in inputs}
    asked = [kind for kind in _WRITERS if kind in file_kinds(request, ())] or ["html"]
    names = [_READERS[kind] for kind in sorted(given & set(_READERS))] + [_WRITERS[k] for k in asked[:_MOST_WRITERS]]
    by_name = {spec.name: spec for spec in specs}
    return {name: _briefly(by_name[name]) for name in names}


def _briefly(spec: ToolSpec) -> Mapping[str, Any]:
    """Describe a tool by its first sentence and the arguments it cannot do without."""
    return {
        "name": spec.name,
        "description": f"{spec.description.split('. ')[0].rstrip('.')}.",
        "inputs": [
            {"type": parameter.type, "name": parameter.name, "description": None, "optional": False}
            for parameter in spec.parameters
            if not parameter.optional
        ],
    }
