"""Pictures are measured: blurred ones are less sharp, noise, darkness, flatness and burnt-out areas are seen."""

from __future__ import annotations

import pytest
from PIL import Image, ImageFilter

from pytest_gta.tools import image_quality
from pytest_gta.tools.image_quality import measure, measure_file
from pytest_gta.tools.tool import ToolFault
from pytest_gta.tools.toolbox import Toolbox
from tests.tools.pictures import saved, written

np = pytest.importorskip("numpy")
pytest.importorskip("matplotlib")


def checked(size: int = 240, cell: int = 12, dark: int = 60, light: int = 190) -> Image.Image:
    rows, columns = np.indices((size, size)) // cell
    return Image.fromarray(np.where((rows + columns) % 2, light, dark).astype(np.uint8)).convert("RGB")


def noisy(deviation: float) -> Image.Image:
    noise = np.random.default_rng(7).normal(128, deviation, (200, 200))
    return Image.fromarray(noise.clip(0, 255).astype(np.uint8)).convert("RGB")


def test_the_laplacian_is_the_usual_one() -> None:
    pixels = np.zeros((5, 5), dtype=np.uint8)
    pixels[2, 2] = 100
    # One -400, four 100s, of 25: the mean is 0.
    assert measure(Image.fromarray(pixels).convert("RGB")).laplacian == pytest.approx((400**2 + 4 * 100**2) / 25)


def test_blurring_lowers_sharpness_step_by_step() -> None:
    pictures = [checked().filter(ImageFilter.GaussianBlur(radius)) for radius in (0, 1, 2, 4)]
    values = [measure(picture).laplacian for picture in pictures]
    assert values == sorted(values, reverse=True) and values[0] > 1000
    assert not measure(pictures[0]).blurry and measure(pictures[3]).blurry


@pytest.mark.parametrize("deviation", [2.0, 8.0, 20.0])
def test_noise_is_estimated(deviation: float) -> None:
    assert measure(noisy(deviation)).noise == pytest.approx(deviation, rel=0.12)


def test_edges_are_no_noise() -> None:
    assert measure(checked()).noise < 1
    assert measure(written(((20, 20), "Sharp letters everywhere"))).noise < 1


def test_light_is_measured() -> None:
    dark, light = measure(checked(dark=0, light=40)), measure(checked(dark=215, light=255))
    assert dark.brightness == pytest.approx(20) and light.brightness == pytest.approx(235)
    assert dark.black_pct == pytest.approx(50) and light.white_pct == pytest.approx(50)
    assert "very dark" in dark.as_text() and "50.0 % of the pixels are pure black" in dark.as_text()
    assert "very bright" in light.as_text() and "50.0 % are pure white" in light.as_text()
    assert measure(checked()).contrast == pytest.approx(65) and "good" in measure(checked()).as_text()


def test_the_answer_begins_with_the_sharpness(toolbox: Toolbox) -> None:
    saved(checked().filter(ImageFilter.GaussianBlur(5)), toolbox.workspace.root / "soft.png")
    answer = toolbox.call("ImageQualityTest", {"image": "soft.png"})
    first, *rest = answer.text.splitlines()
    assert first.startswith("Laplacian variance: ") and first.endswith(", Blurry: True")
    assert rest[-1] == "Resolution: low, 240 x 240 pixels (0.06 megapixels)"


def test_the_smallest_picture_can_be_measured() -> None:
    assert measure(Image.new("RGB", (1, 1), "white")).laplacian == 0.0


def test_without_numpy_the_answer_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_quality.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ToolFault, match=r"pytest-gta\[tools\]"):
        measure_file("x.png")
