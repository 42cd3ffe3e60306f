"""What is asked of a vision model: the right part of the picture goes out, and no answer is made up."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PIL import Image

from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.retry import RetryPolicy
from pytest_gta.tools import ocr
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.tools.vision import count_in, latex_in
from pytest_gta.workspace.confinement import Confinement
from pytest_gta.workspace.workspace import Workspace
from tests.openai_server import OpenAIServer, RecordedRequest, fails, says
from tests.tools.pictures import saved, written

Seen = Callable[[], Image.Image]


class Seer:
    """A vision model that keeps what it was shown and says what it is told to."""

    def __init__(self) -> None:
        self.answer: Any = "a picture"
        self.prompts: list[str] = []
        self.pictures: list[Image.Image] = []

    def __call__(self, request: RecordedRequest) -> Any:
        self.prompts.append(request.last_user_text)
        for part in request.messages[-1]["content"]:
            if part["type"] == "image_url":
                data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
                self.pictures.append(Image.open(io.BytesIO(data)).convert("RGB"))
        return self.answer


@pytest.fixture
def seer() -> Seer:
    return Seer()


@pytest.fixture
def tools(workspace: Workspace, openai_server: Callable[..., OpenAIServer], seer: Seer) -> Iterator[Toolbox]:
    picture = Image.new("RGB", (200, 100), "white")
    picture.paste((0, 0, 255), (100, 0, 200, 100))
    saved(picture, workspace.root / "half.png")
    server = openai_server(seer)
    retry = RetryPolicy(attempts=2, base_s=0.01, cap_s=0.01)
    endpoints = ToolEndpoints(vision=Endpoint("seer", server.base_url, "sk-test-0123456789"), retry=retry)
    with Toolbox(workspace, Confinement("off", ""), endpoints=endpoints) as made:
        yield made


def test_a_picture_is_described(tools: Toolbox, seer: Seer) -> None:
    seer.answer = "The left half is white, the right half blue."
    answer = tools.call("ImageDescription", {"image": "half.png"})
    assert (answer.text, answer.is_error) == (seer.answer, False)
    assert seer.pictures[0].size == (200, 100) and "in detail" in seer.prompts[0]


def test_an_attribute_is_asked_of_the_part_alone(tools: Toolbox, seer: Seer) -> None:
    seer.answer = "It is blue."
    arguments = {"image": "half.png", "bbox": "(120, 10, 190, 90)", "attribute": "main colour"}
    assert tools.call("RegionAttributeDescription", arguments).text == "It is blue."
    assert seer.pictures[0].size == (70, 80) and seer.pictures[0].getcolors() == [(5600, (0, 0, 255))]
    assert "main colour" in seer.prompts[0]


def test_a_box_that_was_put_right_is_said_and_an_impossible_one_asks_nobody(tools: Toolbox, seer: Seer) -> None:
    arguments = {"image": "half.png", "bbox": "(190, 90, 120, 10)", "attribute": "colour"}
    assert "corners were put in order" in tools.call("RegionAttributeDescription", arguments).text
    outside = tools.call("RegionAttributeDescription", {**arguments, "bbox": "(900, 0, 950, 20)"})
    assert outside.is_error and "200 x 100 pixels" in outside.text and len(seer.pictures) == 1
    empty = tools.call("RegionAttributeDescription", {**arguments, "bbox": " "})
    assert empty.is_error and "`bbox` is empty" in empty.text


def test_objects_are_counted(tools: Toolbox, seer: Seer) -> None:
    seer.answer = "One at the left, one at the right.\n**COUNT: 2**"
    assert tools.call("CountGivenObject", {"image": "half.png", "text": "birds"}).text == "2"
    boxed = {"image": "half.png", "text": "birds", "bbox": "(0, 0, 100, 100)"}
    assert tools.call("CountGivenObject", boxed).text == "2"
    assert seer.pictures[1].size == (100, 100) and "birds" in seer.prompts[1]


@pytest.mark.parametrize("said", ["I cannot tell.\nCOUNT: unknown", "There are 3 or 4 of them.", "", "COUNT: 3-5"])
def test_no_count_is_no_zero(tools: Toolbox, seer: Seer, said: str) -> None:
    seer.answer = says(said)
    answer = tools.call("CountGivenObject", {"image": "half.png", "text": "birds"})
    assert answer.is_error and not answer.text.startswith("0")


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("COUNT: 7", 7),
        ("count = 12.", 12),
        ("I count 3 near and 2 far. COUNT: 5", 5),
        ("COUNT: 1,204", 1204),
        ("COUNT: none", 0),
        ("COUNT: 0", 0),
        ("3", 3),
        ("There are 4 cars.", 4),
        ("Three.", 3),
        ("COUNT: 2.5", None),
        ("COUNT: -3", None),
        ("between 10 and 12", None),
        ("Model v2.1 sees nothing", None),
        ("many", None),
    ],
)
def test_a_count_is_read(answer: str, number: int | None) -> None:
    assert count_in(answer) == number


@pytest.mark.parametrize(
    ("answer", "latex"),
    [
        ("\\frac{a}{b}", "\\frac{a}{b}"),
        ("```latex\n\\frac{a}{b}\n```", "\\frac{a}{b}"),
        ("$$x^2$$\n$y_1$\n\\[z\\]", "x^2\ny_1\nz"),
        ("$a$ and $b$", "$a$ and $b$"),
        ("$$\n\\begin{matrix}1\\\\2\\end{matrix}\n$$", "\\begin{matrix}1\\\\2\\end{matrix}"),
        ("NONE.", ""),
    ],
)
def test_latex_is_taken_out_of_its_wrapping(answer: str, latex: str) -> None:
    assert latex_in(answer) == latex


def test_a_formula_is_read(tools: Toolbox, seer: Seer) -> None:
    seer.answer = "$$\\int_0^1 x\\,dx$$"
    assert tools.call("MathOCR", {"image": "half.png"}).text == "\\int_0^1 x\\,dx"
    seer.answer = "NONE"
    assert tools.call("MathOCR", {"image": "half.png"}).text == "No formula was found in the picture."


@pytest.mark.skipif(ocr.engine() != "rapidocr", reason="rapidocr is not installed")
def test_plain_text_for_a_formula_says_that_it_is_plain_text(tools: Toolbox, seer: Seer) -> None:
    saved(written(((30, 30), "2x + 5 = 17")), tools.workspace.root / "formula.png")
    seer.answer = fails(400, "no pictures here")
    failed = tools.call("MathOCR", {"image": "formula.png"})
    assert not failed.is_error and failed.text.startswith("[Plain text with boxes from OCR")
    assert "no pictures here" in failed.text and failed.text.endswith("2x + 5 = 17")
    with Toolbox(tools.workspace, Confinement("off", "")) as without:
        plain = without.call("MathOCR", {"image": "formula.png"})
    assert "GTA_VISION_MODEL" in plain.text and plain.text.endswith("2x + 5 = 17")


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("ImageDescription", {}),
        ("RegionAttributeDescription", {"bbox": "(0, 0, 5, 5)", "attribute": "colour"}),
        ("CountGivenObject", {"text": "birds"}),
    ],
)
def test_without_a_model_the_answer_says_what_to_set(
    workspace: Workspace, name: str, more: dict[str, str], tools: Toolbox
) -> None:
    with Toolbox(workspace, Confinement("off", "")) as without:
        answer = without.call(name, json.dumps({"image": "half.png", **more}))
    assert answer.is_error and "--gta-vision-model" in answer.text and "GTA_VISION_BASE_URL" in answer.text


def test_a_failing_model_is_told_and_no_input_leaves_the_workspace(tools: Toolbox, seer: Seer) -> None:
    seer.answer = fails(503, "overloaded")
    answer = tools.call("ImageDescription", {"image": "half.png"})
    assert answer.is_error and "503 overloaded" in answer.text
    refused = tools.call("ImageDescription", {"image": "/etc/passwd"})
    assert refused.is_error and len(seer.pictures) == 2
