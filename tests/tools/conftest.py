"""A workspace with an input, a toolbox on it, and pictures to place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image

from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.workspace.confinement import choose_confinement
from pytest_gta.workspace.workspace import Workspace


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what confined processes cache out of the user's home."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


def make_workspace(root: Path) -> Workspace:
    (root / "resources" / "files").mkdir(parents=True)
    (root / "resources" / "files" / "sales.csv").write_text("region,sales\nNorth,120\nSouth,80\n")
    return Workspace.open(root, ["resources/files/sales.csv"])


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path / "workspace")


@pytest.fixture(scope="module")
def toolbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Toolbox]:
    """A toolbox in the strongest confinement there is here, used by all tests of a module."""
    with Toolbox(make_workspace(tmp_path_factory.mktemp("tools") / "workspace"), choose_confinement()) as made:
        yield made


@pytest.fixture
def picture(tmp_path: Path) -> Callable[..., Path]:
    """Return a maker of pictures in `tmp_path`: name, width, height, colour."""

    def make(name: str, width: int = 200, height: int = 100, colour: str = "navy") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (width, height), colour).save(path)
        return path

    return make
