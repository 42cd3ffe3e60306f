"""Pictures come from the image model; filters stand in for it, named as such; nothing is ever made up."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PIL import Image, ImageDraw

from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.retry import RetryPolicy
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.picture_filters import FILTERS, filters_for
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import Confinement
from pytest_gta.workspace.workspace import Workspace
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, fails
from tests.tools.pictures import saved

np = pytest.importorskip("numpy")


class Painter:
    """An image model that answers as it is told to, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[RecordedRequest] = []
        self.data = b""
        self.failure: Answer | None = None

    def __call__(self, request: RecordedRequest) -> Any:
        self.asked.append(request)
        return self.failure or Answer(body={"data": [{"b64_json": base64.b64encode(self.data).decode()}]})

    def paints(self, colour: str, form: str = "PNG") -> None:
        out = io.BytesIO()
        Image.new("RGB", (64, 48), colour).save(out, form)
        self.data = out.getvalue()


def photo() -> Image.Image:
    picture = Image.new("RGB", (300, 200), (40, 110, 200))
    ImageDraw.Draw(picture).rectangle((102, 61, 201, 141), fill=(230, 200, 40))
    return picture


@pytest.fixture
def painter() -> Painter:
    return Painter()


@pytest.fixture
def tools(workspace: Workspace, openai_server: Callable[..., OpenAIServer], painter: Painter) -> Iterator[Toolbox]:
    saved(photo(), workspace.root / "photo.png")
    server = openai_server(routes={"/v1/images/generations": painter, "/v1/images/edits": painter})
    retry = RetryPolicy(attempts=2, base_s=0.01, cap_s=0.01)
    endpoints = ToolEndpoints(images=Endpoint("painter", server.base_url, "sk-test-0123456789"), retry=retry)
    with Toolbox(workspace, Confinement("off", ""), endpoints=endpoints) as made:
        yield made


@pytest.fixture
def bare(workspace: Workspace) -> Iterator[Toolbox]:
    """Tools without a model."""
    saved(photo(), workspace.root / "photo.png")
    with Toolbox(workspace, Confinement("off", "")) as made:
        yield made


def opened(tools: Toolbox, name: str) -> Image.Image:
    with Image.open(tools.workspace.root / name) as picture:
        return picture.convert("RGB")


def test_a_picture_is_made(tools: Toolbox, painter: Painter) -> None:
    painter.paints("teal", "WEBP")
    answer = tools.call("TextToImage", {"keywords": "a calm sea, teal"})
    assert (answer.text, answer.files) == ("Made generated_image.png, 64 x 48 pixels.", ("generated_image.png",))
    assert opened(tools, "generated_image.png").getpixel((5, 5)) == pytest.approx((0, 128, 128), abs=3)
    assert painter.asked[0].json == {"model": "painter", "prompt": "a calm sea, teal", "size": "1024x1024"}
    assert tools.call("TextToImage", {"keywords": "again"}).files == ("generated_image_2.png",)


def test_without_a_model_there_is_no_picture(bare: Toolbox) -> None:
    answer = bare.call("TextToImage", {"keywords": "a calm sea"})
    assert answer.is_error and "--gta-image-model" in answer.text and "GTA_IMAGE_MODEL" in answer.text
    assert not list(bare.workspace.root.glob("*generated*"))


def test_a_model_that_fails_or_sends_no_picture_makes_none(tools: Toolbox, painter: Painter) -> None:
    painter.data = b"<html>sorry</html>"
    assert "no picture" in tools.call("TextToImage", {"keywords": "sea"}).text
    painter.failure = fails(503, "busy")
    answer = tools.call("TextToImage", {"keywords": "sea"})
    assert answer.is_error and "503 busy" in answer.text
    assert not list(tools.workspace.root.glob("*generated*"))


def test_a_picture_is_changed_by_the_model(tools: Toolbox, painter: Painter) -> None:
    painter.paints("purple")
    answer = tools.call("ImageStylization", {"image": "photo.png", "instruction": "make it purple"})
    assert answer.files == ("photo_styled.png",) and "The image model changed" in answer.text
    assert opened(tools, "photo_styled.png").getpixel((5, 5)) == (128, 0, 128)
    assert b"make it purple" in painter.asked[0].body and b"\x89PNG" in painter.asked[0].body


def test_a_filter_stands_in_and_says_so(bare: Toolbox) -> None:
    answer = bare.call("ImageStylization", {"image": "photo.png", "instruction": "Turn it into a pencil sketch"})
    assert not answer.is_error and answer.files == ("photo_styled.png",)
    assert "not the work of an image model" in answer.text and "pencil sketch (from 'pencil')" in answer.text
    assert "GTA_IMAGE_MODEL" in answer.text
    drawn = np.asarray(opened(bare, "photo_styled.png"))
    assert np.ptp(drawn, axis=2).max() == 0  # grey
    assert drawn[100, 150, 0] > 240 and drawn[20, 20, 0] > 240  # paper inside the shapes
    assert drawn[50:70, 150, 0].min() < 200  # a line where they end


def test_a_failing_model_is_replaced_and_named(tools: Toolbox, painter: Painter) -> None:
    painter.failure = fails(500, "out of paint")
    answer = tools.call("ImageStylization", {"image": "photo.png", "instruction": "sepia"})
    assert not answer.is_error and "out of paint" in answer.text
    red, green, blue = opened(tools, "photo_styled.png").getpixel((5, 5))
    assert red > green > blue


def test_what_no_filter_can_do_is_refused_with_what_there_is(bare: Toolbox) -> None:
    answer = bare.call("ImageStylization", {"image": "photo.png", "instruction": "add a hat to the man"})
    assert answer.is_error and "watercolour-like" in answer.text and "GTA_IMAGE_MODEL" in answer.text
    assert not (bare.workspace.root / "photo_styled.png").exists()


@pytest.mark.parametrize(
    ("instruction", "names"),
    [
        ("Make it look like an oil painting", ["oil-like"]),
        ("in the style of a watercolor", ["watercolour-like"]),
        ("Convert to black and white", ["grey"]),
        ("black and white pencil drawing", ["pencil sketch"]),
        ("a cartoon with vivid colors", ["comic", "vivid"]),
        ("colored pencil", ["coloured pencil"]),
        ("vintage, not black and white", ["vintage"]),
        ("Make the boiling kettle taller", []),
        ("brighter and sharper", ["brighter", "sharpen"]),
    ],
)
def test_words_name_filters(instruction: str, names: list[str]) -> None:
    assert [entry.name for entry, _ in filters_for(instruction)] == names


@pytest.mark.parametrize("entry", FILTERS, ids=lambda entry: entry.name)
def test_every_filter_changes_a_picture_and_keeps_its_size(entry: Any) -> None:
    changed = entry.apply(photo())
    assert (changed.mode, changed.size) == ("RGB", (300, 200))
    assert changed.tobytes() != photo().tobytes()
    assert entry.apply(Image.new("RGB", (1, 1), "grey")).size == (1, 1)


def test_filters_do_what_they_are_called() -> None:
    made = {entry.name: np.asarray(entry.apply(photo())).astype(int) for entry in FILTERS}
    plain = np.asarray(photo()).astype(int)
    assert (made["negative"] == 255 - plain).all()
    assert np.ptp(made["grey"], axis=2).max() == 0
    assert made["brighter"].mean() > plain.mean() > made["darker"].mean() > made["night"].mean()
    assert np.ptp(made["vivid"], axis=2).mean() > np.ptp(plain, axis=2).mean()
    assert (made["warm"] - plain)[..., 0].mean() > 0 > (made["warm"] - plain)[..., 2].mean()
    assert made["comic"][55:65, 150].min() < 40  # a black outline
    assert len(np.unique(made["pop art"].reshape(-1, 3), axis=0)) <= 64
