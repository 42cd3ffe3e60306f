"""What a vision model is asked about a picture: to describe it or a part, to count, to read a formula."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import Any

from pytest_gta.tools.backend import RAPIDOCR, TESSERACT, VISION
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import ConfinedCall, Tool, ToolFault
from pytest_gta.workspace.confined_process import ConfinedError
from pytest_gta.workspace.workspace import Workspace

IMAGE = ToolParameter("image", "image", "The picture: PNG, JPEG, WebP, BMP, GIF, TIFF.", example="resources/photo.png")
BOX = ToolParameter(
    "bbox",
    "text",
    'The part meant, "(x1, y1, x2, y2)" in pixels: left, top, right, bottom.',
    example="(40, 60, 200, 180)",
    lists=True,
)

_DESCRIBE = (
    "Describe this picture in detail for someone who cannot see it: what kind of picture it is, what it shows and "
    "where, people, things, colours, setting. Write out any text in it exactly, and give the numbers of charts and "
    "tables. Say only what can be seen."
)
_ATTRIBUTE = (
    "This is a part cut from a larger picture. Describe this attribute of what it shows: {attribute}. Answer in one or "
    "two sentences, with what can be seen and nothing else; when it cannot be seen, say so."
)
_COUNT = (
    "Count in this picture: {text}. Go over the picture part by part, name each one you find, count those that are "
    "partly hidden or cut off too, and none twice. Then end with a line of its own: COUNT: and the whole number (0 "
    "when there is none), or COUNT: unknown when it cannot be told."
)
_FORMULA = (
    "Write the mathematics in this picture as LaTeX, exactly as it is there, mistakes included. Answer with LaTeX "
    "only, without dollar signs, fences or words; one formula a line, text between formulas in \\text{}. When there is "
    "no mathematics and no text in it, answer NONE."
)
_COUNTED = re.compile(
    r"\bcount\W{0,12}?(?:(?<![-.,])(\d[\d,]*+)(?!\.\d|\s*(?:[-\u2013]|to\b|or\b)\s*\d)|(unknown|none|zero|no\b))", re.I
)
_SAYS_COUNT = re.compile(r"\bcount\W{0,3}[:=]", re.I)
_WHOLE_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?![\w]|[.,]\d)")
_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_FENCED = re.compile(r"\A```\w*\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_DELIMITERS = (("$$", "$$"), ("\\[", "\\]"), ("\\(", "\\)"), ("$", "$"))


def describe_image(workspace: Workspace, confined: ConfinedCall, endpoints: ToolEndpoints, image: str) -> str:
    """Return what a vision model sees in a picture."""
    _needs_vision(endpoints)
    answer, _ = _ask(workspace, confined, endpoints, _DESCRIBE, image)
    return answer


def describe_attribute(
    workspace: Workspace, confined: ConfinedCall, endpoints: ToolEndpoints, image: str, bbox: Any, attribute: str
) -> str:
    """Return what a vision model says of one attribute of a part of a picture."""
    _needs_vision(endpoints)
    wanted = attribute.strip()
    if not wanted:
        raise ToolFault("`attribute` is empty: name what to describe, such as colour or material")
    if not bbox or not str(bbox).strip():
        raise ToolFault('`bbox` is empty: name the part of the picture, such as "(40, 60, 200, 180)"')
    answer, remark = _ask(workspace, confined, endpoints, _ATTRIBUTE.format(attribute=wanted), image, bbox)
    return f"{answer}\n{remark}".strip()


def count_objects(
    workspace: Workspace, confined: ConfinedCall, endpoints: ToolEndpoints, image: str, text: str, bbox: Any = None
) -> str:
    """Return how many of something a vision model counts in a picture.

    Raises:
        ToolFault: It gave no number; that is never a 0.
    """
    _needs_vision(endpoints)
    wanted = text.strip()
    if not wanted:
        raise ToolFault("`text` is empty: name what to count, such as red apples")
    answer, remark = _ask(workspace, confined, endpoints, _COUNT.format(text=wanted), image, bbox)
    number = count_in(answer)
    if number is None:
        raise ToolFault(f"the vision model gave no count of {wanted!r}; it said: {answer[:500]}")
    return f"{number}\n{remark}".strip()


def read_formula(workspace: Workspace, confined: ConfinedCall, endpoints: ToolEndpoints, image: str) -> str:
    """Return the mathematics in a picture as LaTeX; without a vision model its plain text, which is then said."""
    if endpoints.vision is None:
        why = "no vision model is set up (GTA_VISION_MODEL), so this is not LaTeX"
    else:
        try:
            answer, _ = _ask(workspace, confined, endpoints, _FORMULA, image)
        except ToolFault as fault:
            why = f"{fault}; so this is not LaTeX"
        else:
            latex = latex_in(answer)
            return latex or "No formula was found in the picture."
    try:
        lines = confined("pytest_gta.tools.ocr:read_text", {"image": workspace.relative(Path(image))})
    except ConfinedError as error:
        raise ToolFault(f"{why.removesuffix(', so this is not LaTeX')}, and plain OCR failed: {error}") from None
    return f"[Plain text with boxes from OCR, in which fractions, powers and signs may be lost: {why}.]\n{lines}"


def count_in(answer: str) -> int | None:
    """Return the number a model counted; None when its answer does not say one without doubt."""
    said = [(number or word).lower() for number, word in _COUNTED.findall(answer.replace("*", ""))]
    if said:
        last = said[-1]
        if last == "unknown":
            return None
        return 0 if last in ("none", "zero", "no") else int(last.replace(",", ""))
    if _SAYS_COUNT.search(answer):
        return None
    bare = answer.strip().strip("*`.! \n").lower()
    if bare in ("none", "zero"):
        return 0
    if bare in _WORDS:
        return _WORDS.index(bare)
    numbers = {int(found.replace(",", "")) for found in _WHOLE_NUMBER.findall(answer)}
    return numbers.pop() if len(numbers) == 1 else None


def latex_in(answer: str) -> str:
    """Return the LaTeX in an answer without what models wrap it in; "" when it says that there is none."""
    text = answer.strip()
    if fenced := _FENCED.match(text):
        text = fenced[1].strip()
    if text.strip(" .`").upper() == "NONE":
        return ""
    lines = [_bare(line) for line in text.splitlines()] if "\\begin" not in text else [_bare(text)]
    return "\n".join(line for line in lines if line)


def _bare(formula: str) -> str:
    formula = formula.strip()
    for opening, closing in _DELIMITERS:
        inner = formula[len(opening) : -len(closing)]
        if len(formula) > len(opening) + len(closing) and formula.startswith(opening) and formula.endswith(closing):
            return inner.strip() if opening not in inner else formula
    return "" if formula in ("$$", "\\[", "\\]") else formula


def _needs_vision(endpoints: ToolEndpoints) -> None:
    """Say that there is no model before a picture is made ready for one."""
    if endpoints.vision is None:
        endpoints.describe("", [])


def _ask(
    workspace: Workspace, confined: ConfinedCall, endpoints: ToolEndpoints, prompt: str, image: str, bbox: Any = None
) -> tuple[str, str]:
    """Return what the model says of a picture or a part of it, and a remark on the part."""
    arguments = {"image": workspace.relative(Path(image)), "bbox": bbox}
    ready = confined("pytest_gta.tools.picture_input:prepare", arguments)
    answer = endpoints.describe(prompt, [(base64.b64decode(ready["data"]), str(ready["media_type"]))])
    return answer, str(ready["remark"])


TOOLS = (
    Tool(
        ToolSpec(
            "ImageDescription",
            "perception",
            "Looks at a picture and describes it in detail: what it shows, text in it, numbers of charts.",
            (IMAGE,),
        ),
        describe_image,
        reads=("image",),
        backends=(VISION,),
    ),
    Tool(
        ToolSpec(
            "RegionAttributeDescription",
            "perception",
            "Looks at a part of a picture and describes one attribute of what is there.",
            (
                IMAGE,
                BOX,
                ToolParameter(
                    "attribute", "text", "What to describe: colour, material, age, ...", example="colour of the car"
                ),
            ),
        ),
        describe_attribute,
        reads=("image",),
        backends=(VISION,),
    ),
    Tool(
        ToolSpec(
            "CountGivenObject",
            "logic",
            "Counts objects of a kind in a picture, or in a part of it; answers a whole number.",
            (
                IMAGE,
                ToolParameter("text", "text", "What to count, in English.", example="red apples"),
                ToolParameter(
                    "bbox",
                    "text",
                    'Count only in this part: "(x1, y1, x2, y2)" in pixels. All of the picture unless given.',
                    optional=True,
                    lists=True,
                ),
            ),
        ),
        count_objects,
        reads=("image",),
        backends=(VISION,),
    ),
    Tool(
        ToolSpec(
            "MathOCR",
            "logic",
            "Reads mathematics in a picture and returns it as LaTeX.",
            (IMAGE,),
        ),
        read_formula,
        reads=("image",),
        backends=(VISION, RAPIDOCR, TESSERACT),
    ),
)
