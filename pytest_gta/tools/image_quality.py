"""How good a picture is, measured: sharpness, noise, brightness, contrast, exposure, resolution."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_gta.tools.backend import Backend
from pytest_gta.tools.picture_input import flattened, open_picture
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool, ToolFault

if TYPE_CHECKING:
    from PIL.Image import Image

BLURRY_BELOW = 100.0
"""Variance of the Laplacian under which a picture counts as blurry."""
_COMMON_SIDE = 1024
"""Pixels of the longer side at which pictures of any size are compared."""

IMAGE_QUALITY_TEST = Tool(
    ToolSpec(
        "ImageQualityTest",
        "perception",
        "Measures a picture: sharpness (variance of the Laplacian, and whether it is blurry), noise, brightness, "
        "contrast, burnt-out and black areas, resolution; in numbers and words.",
        (ToolParameter("image", "image", "The picture.", example="resources/photo.jpg"),),
    ),
    "pytest_gta.tools.image_quality:measure_file",
    reads=("image",),
    backends=(Backend("numpy", ("numpy",), "tools"),),
)


def preload(function: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Return the libraries a call needs, to import once."""
    return ("numpy", "PIL.Image")


@dataclass(frozen=True, slots=True)
class ImageQuality:
    """What was measured of a picture, on its grey values from 0 to 255.

    Attributes:
        width: Pixels.
        height: Pixels.
        laplacian: Variance of the Laplacian: high for sharp pictures, and for noisy ones.
        laplacian_common: The same with the longer side at 1024 pixels, to compare pictures of different sizes.
        noise: Standard deviation of the noise, estimated where a smooth picture would have none.
        brightness: Mean.
        contrast: Standard deviation.
        low: The value that 1 % of the pixels lie below.
        high: The value that 1 % of the pixels lie above.
        black_pct: Per cent of the pixels without any light (at most 2).
        white_pct: Per cent of the pixels burnt out (at least 253).
    """

    width: int
    height: int
    laplacian: float
    laplacian_common: float
    noise: float
    brightness: float
    contrast: float
    low: float
    high: float
    black_pct: float
    white_pct: float

    @property
    def blurry(self) -> bool:
        """Whether it counts as blurry."""
        return self.laplacian < BLURRY_BELOW

    def as_text(self) -> str:
        """Return it in numbers and words, for a model to read."""
        megapixels = self.width * self.height / 1e6
        noise = _word(self.noise, (2, "hardly any"), (6, "little"), (15, "visible"), beyond="strong")
        inflated = "; noise raises the sharpness value, so look at the picture too" if self.noise >= 6 else ""
        sharp = _word(
            self.laplacian, (BLURRY_BELOW, "blurry"), (300, "a little soft"), (1000, "sharp"), beyond="very sharp"
        )
        bright = _word(
            self.brightness, (50, "very dark"), (90, "dark"), (170, "well lit"), (215, "bright"), beyond="very bright"
        )
        contrast = _word(self.contrast, (20, "flat"), (40, "low"), (80, "good"), beyond="high")
        size = _word(
            megapixels, (0.3, "low"), (1, "small, fit for the screen"), (6, "good"), beyond="high, fit for large print"
        )
        clipped = [
            *([f"{self.black_pct:.1f} % of the pixels are pure black"] if self.black_pct >= 1 else []),
            *([f"{self.white_pct:.1f} % are pure white"] if self.white_pct >= 1 else []),
        ]
        exposure = f"{' and '.join(clipped)}: detail may be lost there" if clipped else "nothing black or burnt out"
        return (
            f"Laplacian variance: {self.laplacian:.2f}, Blurry: {self.blurry}\n"
            f"Sharpness: {sharp} (variance below {BLURRY_BELOW:g} counts as blurry; {self.laplacian_common:.2f} with "
            f"the longer side at {_COMMON_SIDE} pixels, for comparing pictures of different sizes)\n"
            f"Noise: {noise}, about {self.noise:.1f} of 255{inflated}\n"
            f"Brightness: {bright}, mean {self.brightness:.1f} of 255\n"
            f"Contrast: {contrast}, standard deviation {self.contrast:.1f}; 98 % of the pixels lie between "
            f"{self.low:.0f} and {self.high:.0f}\n"
            f"Exposure: {exposure}\n"
            f"Resolution: {size}, {self.width} x {self.height} pixels ({megapixels:.2f} megapixels)"
        )


def measure_file(image: str) -> str:
    """Return the quality of a picture file in numbers and words.

    Raises:
        ToolFault: It is no picture.
    """
    if importlib.util.find_spec("numpy") is None:
        raise ToolFault("it needs numpy, which is not installed here: pip install 'pytest-gta[tools]'")
    return measure(flattened(open_picture(image))).as_text()


def measure(picture: Image) -> ImageQuality:
    """Measure an RGB picture."""
    import numpy as np

    grey = picture.convert("L")
    pixels = np.asarray(grey, dtype=np.float32)
    scale = _COMMON_SIDE / max(grey.size)
    common = grey.resize((max(1, round(grey.width * scale)), max(1, round(grey.height * scale))))
    return ImageQuality(
        width=picture.width,
        height=picture.height,
        laplacian=_laplacian_variance(pixels),
        laplacian_common=_laplacian_variance(np.asarray(common, dtype=np.float32)),
        noise=_noise(pixels),
        brightness=float(pixels.mean()),
        contrast=float(pixels.std()),
        low=float(np.percentile(pixels, 1)),
        high=float(np.percentile(pixels, 99)),
        black_pct=float((pixels <= 2).mean() * 100),
        white_pct=float((pixels >= 253).mean() * 100),
    )


def _laplacian_variance(pixels: Any) -> float:
    """Return the variance of the sum of each pixel's four neighbours less four times itself."""
    import numpy as np

    # The rows and columns beyond the edge mirror those inside, as in the usual implementations.
    wide = np.pad(pixels, 1, mode="reflect" if min(pixels.shape) > 1 else "edge")
    laplacian = wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] - 4 * pixels
    return float(laplacian.astype(np.float64).var())


def _noise(pixels: Any) -> float:
    """Estimate the noise from what differs between Laplacians of two kinds, which edges hardly touch.

    The median keeps the places with texture out of it.
    """
    import numpy as np

    if min(pixels.shape) < 3:
        return 0.0
    corners = pixels[:-2, :-2] + pixels[:-2, 2:] + pixels[2:, :-2] + pixels[2:, 2:]
    sides = pixels[:-2, 1:-1] + pixels[2:, 1:-1] + pixels[1:-1, :-2] + pixels[1:-1, 2:]
    rest = np.abs(corners - 2 * sides + 4 * pixels[1:-1, 1:-1])
    # The mask's weights have a sum of squares of 36; the median of |noise| is 0.6745 of its deviation.
    return float(np.median(rest)) / (6 * 0.6745)


def _word(value: float, *steps: tuple[float, str], beyond: str) -> str:
    return next((word for limit, word in steps if value < limit), beyond)
