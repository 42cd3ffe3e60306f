"""DrawingML text as slides, SmartArt and shapes in workbooks share it: paragraphs, bullets, links."""

from __future__ import annotations

from pytest_gta.formats.markup import Element, all_text, attribute, child, children, descendants, local
from pytest_gta.formats.package import Package, Relation
from pytest_gta.formats.reading import Unreadable
from pytest_gta.formats.wording import one_line

_MOST_SMARTART_LINES = 400


def paragraphs(body: Element, relations: dict[str, Relation], bulleted: bool = False) -> str:
    """Return the paragraphs of a text body, indented by level; `bulleted` when its kind has bullets by default."""
    lines = []
    for paragraph in children(body, "p"):
        text = _runs(paragraph, relations)
        if not text.strip():
            continue
        properties = child(paragraph, "pPr")
        level = int(attribute(properties, "lvl", "0") or 0)
        lines.append("  " * min(level, 8) + _bullet(properties, bulleted) + text)
    return "\n".join(lines)


def _bullet(properties: Element | None, bulleted: bool) -> str:
    if properties is not None:
        for mark in properties:
            name = local(mark)
            if name == "buNone":
                return ""
            if name in ("buChar", "buBlip"):
                return "- "
            if name == "buAutoNum":
                return "1. "
    return "- " if bulleted else ""


def _runs(paragraph: Element, relations: dict[str, Relation]) -> str:
    said = []
    for run in paragraph:
        name = local(run)
        if name == "br":
            said.append("\n")
        elif name in ("r", "fld"):
            text = all_text(run, "t")
            link = child(run, "rPr", "hlinkClick")
            target = relations.get(attribute(link, "id")) if link is not None else None
            if target is not None and target.external and text.strip():
                text = f"{text} ({one_line(target.target, 300)})"
            said.append(text)
        elif name == "AlternateContent":
            said.append(all_text(child(run, "Choice") if child(run, "Choice") is not None else run, "t"))
        elif name == "m":
            said.append(all_text(run, "t"))
    return "".join(said)


def smartart(package: Package, part: str, frame: Element) -> str:
    """Return the texts of a SmartArt diagram, its points indented by their depth.

    Raises:
        Unreadable: When its data part is missing or damaged.
    """
    ids = next(iter(descendants(frame, "relIds")), None)
    relation = package.relations(part).get(attribute(ids, "dm"))
    if relation is None:
        raise Unreadable("its data is missing")
    model = package.xml(relation.target)
    texts: dict[str, str] = {}
    roots: list[str] = []
    for point in descendants(model, "pt"):
        if point.get("type") in (None, "node", "asst", "doc"):
            texts[point.get("modelId", "")] = one_line(" ".join(all_text(p, "t") for p in descendants(point, "p")), 500)
            if point.get("type") == "doc":
                roots.append(point.get("modelId", ""))
    below: dict[str, list[tuple[int, str]]] = {}
    for link in descendants(model, "cxn"):
        if link.get("type") in (None, "parOf"):
            place = (int(link.get("srcOrd", "0") or 0), link.get("destId", ""))
            below.setdefault(link.get("srcId", ""), []).append(place)
    lines: list[str] = []
    seen: set[str] = set()

    def walk(node: str, depth: int) -> None:
        if node in seen or depth > 30 or len(lines) > _MOST_SMARTART_LINES:
            return
        seen.add(node)
        if texts.get(node):
            lines.append("  " * max(depth - 1, 0) + "- " + texts[node])
        for _, deeper in sorted(below.get(node, [])):
            walk(deeper, depth + 1)

    for root in roots:
        walk(root, 0)
    for node, text in texts.items():
        if text and node not in seen:
            lines.append(f"- {text}")
    return "\n".join(lines)
