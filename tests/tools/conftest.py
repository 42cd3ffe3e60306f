"""Files that the tests of the tools work on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image


@pytest.fixture
def picture(tmp_path: Path) -> Callable[..., Path]:
    """Return a maker of pictures: name, width, height, colour."""

    def make(name: str, width: int = 200, height: int = 100, colour: str = "navy") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (width, height), colour).save(path)
        return path

    return make
