"""Reference deliverables of task 51: the A5 card, the square picture, the palette."""

from __future__ import annotations

import json
import math
from pathlib import Path

from benchmark_tasks.mini.sources.cafe_menu import CAFE, dollars, kept
from benchmark_tasks.mini.sources.drawing import centred, font

PALETTE = {
    "Sea mist": ("#eaf2f2", "background"),
    "Deep harbour": ("#12394a", "text and headings"),
    "Tide": ("#5fa3b0", "waves and lines"),
    "Shallow water": ("#b7d8dc", "second wave"),
    "Rope": ("#a8702d", "marks of house favourites"),
}
MIST, HARBOUR, TIDE, SHALLOW, ROPE = (shade for shade, _ in PALETTE.values())


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    _card(files / "Menu_Card.pdf")
    _post(files / "Menu_Post.png")
    palette = [{"name": name, "hex": shade, "use": use} for name, (shade, use) in PALETTE.items()]
    (files / "palette.json").write_text(json.dumps(palette, indent=2), encoding="utf-8")
    return "The card (Menu_Card.pdf, A5), the picture (Menu_Post.png, 1080 x 1080) and palette.json are ready."


def _card(path: Path) -> None:
    from reportlab.lib.colors import HexColor
    from reportlab.lib.pagesizes import A5
    from reportlab.pdfgen.canvas import Canvas

    width, height = A5
    page = Canvas(str(path), pagesize=A5)
    page.setTitle(f"{CAFE} menu")
    page.setFillColor(HexColor(MIST))
    page.rect(0, 0, width, height, stroke=0, fill=1)
    for base, shade in ((46, SHALLOW), (26, TIDE)):
        page.setFillColor(HexColor(shade))
        wave = page.beginPath()
        wave.moveTo(0, 0)
        for x in range(0, int(width) + 6, 5):
            wave.lineTo(x, base + 9 * math.sin(x / 26 + base))
        wave.lineTo(width, 0)
        wave.close()
        page.drawPath(wave, stroke=0, fill=1)
    page.setFillColor(HexColor(HARBOUR))
    page.setFont("Times-Bold", 32)
    page.drawCentredString(width / 2, height - 66, CAFE)
    y = height - 116
    for section, dishes in kept().items():
        page.setFillColor(HexColor(HARBOUR))
        page.setFont("Times-Bold", 16)
        page.drawString(48, y, section.title())
        page.setStrokeColor(HexColor(TIDE))
        page.line(48, y - 6, width - 48, y - 6)
        y -= 28
        for dish in dishes:
            page.setFillColor(HexColor(HARBOUR))
            page.setFont("Times-Roman", 14)
            page.drawString(58, y, dish.name)
            page.drawRightString(width - 52, y, dollars(dish.new_cents))
            if dish.star:
                page.setFillColor(HexColor(ROPE))
                page.setFont("Times-Bold", 14)
                page.drawString(44, y - 1, "*")
            y -= 22
        y -= 18
    page.setFillColor(HexColor(ROPE))
    page.setFont("Times-Italic", 12)
    page.drawCentredString(width / 2, 76, "* house favourite      prices in $")
    page.save()


def _post(path: Path) -> None:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (1080, 1080), MIST)
    draw = ImageDraw.Draw(image)
    for base, shade in ((890, SHALLOW), (960, TIDE)):
        crest = [(x, base + 26 * math.sin(x / 90 + base)) for x in range(0, 1085, 5)]
        draw.polygon([*crest, (1080, 1080), (0, 1080)], fill=shade)
    centred(draw, (540, 170), CAFE, 120, HARBOUR)
    centred(draw, (540, 290), "New menu from Friday", 60, HARBOUR)
    draw.line((240, 360, 840, 360), fill=TIDE, width=6)
    for i, dish in enumerate(d for dishes in kept().values() for d in dishes if d.star):
        y = 470 + 130 * i
        draw.text((150, y), dish.name, font=font(64), fill=HARBOUR, anchor="lm")
        draw.text((930, y), f"$ {dollars(dish.new_cents)}", font=font(64), fill=HARBOUR, anchor="rm")
    centred(draw, (540, 1030), "our three house favourites", 44, HARBOUR)
    image.save(path)
