"""Figures whose letters matplotlib's own font has not."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from pytest_gta.tools.figure_fonts import FigureFonts
from pytest_gta.tools.font_files import FontFolders
from pytest_gta.tools.toolbox import Toolbox
from tests.tools.fonts import square_font

figure = pytest.importorskip("matplotlib.figure")


def test_letters_get_a_font_that_has_them_and_those_without_are_known(tmp_path: Path) -> None:
    square_font(tmp_path / "SquareCJK.ttf", "字")
    made = figure.Figure((2, 2), dpi=100)
    # An axis makes its labels as it is drawn.
    axes = made.subplots()
    axes.bar(["字", "b"], [1, 2], color="w")
    axes.set_title("\u0378 plain إيرادات", fontfamily="SimHei, which is not here")
    target = tmp_path / "out.png"
    fonts = FigureFonts(FontFolders([tmp_path]))

    def save() -> None:
        made.savefig(target)

    fonts.save(made, save, again=save)
    assert fonts.missing == {"\u0378"}
    label = axes.get_xticklabels()[0]
    assert label.get_text() == "字" and label.get_fontfamily()[-1] == "SquareCJK"
    box = label.get_window_extent()
    with Image.open(target) as picture:
        inside = (box.x0 + 2, picture.height - box.y1 + 2, box.x1 - 2, picture.height - box.y0 - 2)
        assert picture.convert("L").crop(tuple(map(round, inside))).getextrema() == (0, 0)


def test_plot_says_which_letters_have_no_font(toolbox: Toolbox) -> None:
    code = "def solution():\n    fig, ax = plt.subplots()\n    ax.set_title('\\u0378 x')\n    return fig"
    result = toolbox.call("Plot", {"command": code})
    assert not result.is_error and "No font on this machine has \u0378: drawn as empty boxes" in result.text
    code = "def solution():\n    fig, ax = plt.subplots()\n    ax.set_title('Größe x²')\n    return fig"
    assert "No font" not in toolbox.call("Plot", {"command": code}).text
