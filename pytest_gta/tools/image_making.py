"""TextToImage and ImageStylization: pictures made or changed by an image model; filters where there is none."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from pytest_gta.tools.backend import IMAGES, Backend
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import ConfinedCall, Tool, ToolFault
from pytest_gta.workspace.confined_process import ConfinedError
from pytest_gta.workspace.workspace import Workspace

_SIZE = "1024x1024"


def text_to_image(
    workspace: Workspace, confined: ConfinedCall, endpoints: ToolEndpoints, keywords: str, target: str
) -> dict[str, Any]:
    """Have a picture made of what keywords say.

    Args:
        workspace: The task's folder.
        confined: Writes the file.
        endpoints: Holds the image model.
        keywords: What it shows.
        target: The new file, absolute.

    Raises:
        ToolFault: No model is set up, or it made no picture.
    """
    prompt = keywords.strip()
    if not prompt:
        raise ToolFault("`keywords` is empty: say what the picture shows")
    made = endpoints.generate_image(prompt, _SIZE)
    size = _store(workspace, confined, made, target)
    name = workspace.relative(Path(target))
    return {"text": f"Made {name}, {size} pixels.", "files": [name]}


def stylize(
    workspace: Workspace,
    confined: ConfinedCall,
    endpoints: ToolEndpoints,
    image: str,
    instruction: str,
    target: str,
) -> dict[str, Any]:
    """Change a picture as an instruction says: by the image model, else by filters, and say which.

    Args:
        workspace: The task's folder.
        confined: Reads and writes the files.
        endpoints: Holds the image model, if any.
        image: The picture, absolute.
        instruction: What to change.
        target: The new file, absolute.

    Raises:
        ToolFault: Neither could do it.
    """
    wish = instruction.strip()
    if not wish:
        raise ToolFault("`instruction` is empty: say how to change the picture")
    name, source = workspace.relative(Path(target)), workspace.relative(Path(image))
    if endpoints.images is None:
        why = "no image model is set up (GTA_IMAGE_MODEL)"
    else:
        try:
            ready = confined("pytest_gta.tools.picture_input:as_png", {"image": source})
            made = endpoints.edit_image(base64.b64decode(ready), wish)
            size = _store(workspace, confined, made, target)
        except ToolFault as fault:
            why = str(fault)
        else:
            return {"text": f"The image model changed the picture: {name}, {size} pixels.", "files": [name]}
    arguments = {"image": source, "instruction": wish, "target": name}
    try:
        done = confined("pytest_gta.tools.picture_filters:apply_words", arguments)
    except ConfinedError as error:
        raise ToolFault(f"{why}; and without it only filters are there: {error}") from None
    applied = ", ".join(f"{f} (from {word!r})" for f, word in zip(done["filters"], done["words"], strict=True))
    return {
        "text": f"Saved {name}, {done['size']} pixels. This is a classical filter, not the work of an image model: "
        f"{why}. Applied: {applied}. Nothing else of the instruction was understood.",
        "files": [name],
    }


def _store(workspace: Workspace, confined: ConfinedCall, made: bytes, target: str) -> str:
    """Write what the model answered; return its size."""
    arguments = {"data": base64.b64encode(made).decode("ascii"), "target": workspace.relative(Path(target))}
    try:
        stored = confined("pytest_gta.tools.picture_input:store", arguments)
    except ConfinedError as error:
        raise ToolFault(str(error)) from None
    return f"{stored['width']} x {stored['height']}"


TEXT_TO_IMAGE = Tool(
    ToolSpec(
        "TextToImage",
        "creativity",
        "Makes a picture of what keywords say, by an image model. Returns the new file's path.",
        (
            ToolParameter(
                "keywords",
                "text",
                "What the picture shows, as keywords with commas or a sentence.",
                example="a lighthouse at dusk, watercolour, calm sea",
            ),
        ),
    ),
    text_to_image,
    writes=".png",
    writes_as="generated_image",
    backends=(IMAGES,),
)
IMAGE_STYLIZATION = Tool(
    ToolSpec(
        "ImageStylization",
        "creativity",
        "Changes a copy of a picture as an instruction says, by an image model; where none is set up by classical "
        "filters (sketch, oil, watercolour, comic, sepia, black and white, ...), and says so. Returns the new file's "
        "path.",
        (
            ToolParameter("image", "image", "The picture.", example="resources/photo.png"),
            ToolParameter(
                "instruction", "text", "How to change it, in English.", example="turn it into a pencil sketch"
            ),
        ),
    ),
    stylize,
    reads=("image",),
    writes=".png",
    writes_as="{image}_styled",
    backends=(IMAGES, Backend("classical filters", ("numpy",), "tools")),
)
TOOLS = (TEXT_TO_IMAGE, IMAGE_STYLIZATION)
