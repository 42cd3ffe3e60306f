"""A web page, or a file of one, made of what a model wrote: fences taken off, a fragment made a whole page."""

from __future__ import annotations

import contextlib
import re
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pytest_gta.tools.bare_links import with_bare_links
from pytest_gta.tools.footnotes import with_notes_at_end
from pytest_gta.tools.printable_text import printable, with_real_line_ends

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n]*$", re.MULTILINE)
_MARKUP = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>")
_STYLE = """
body { margin: 2rem auto; max-width: 52rem; padding: 0 1.25rem; color: #1a1a1a; background: #fff;
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans CJK SC", "PingFang SC",
  "Microsoft YaHei", sans-serif; }
h1, h2, h3, h4 { color: #1f3864; line-height: 1.25; margin: 1.6em 0 0.5em; }
h1 { margin-top: 0; }
a { color: #0563c1; }
img, video, svg, canvas { max-width: 100%; height: auto; }
table { border-collapse: collapse; margin: 1em 0; width: 100%; }
th, td { border: 1px solid #bfbfbf; padding: 0.4em 0.7em; text-align: left; vertical-align: top; }
th { background: #1f3864; color: #fff; }
tr:nth-child(even) td { background: #f2f5fa; }
pre { background: #f3f3f3; padding: 0.8em 1em; overflow-x: auto; border-radius: 4px; }
code { font-family: Consolas, "DejaVu Sans Mono", monospace; font-size: 0.92em; }
blockquote { border-left: 4px solid #bfbfbf; margin: 1em 0; padding: 0.1em 1em; color: #595959; }
@media print { body { margin: 0; max-width: none; } }
""".strip()


def write_html(target: Path, text: str) -> list[str]:
    """Write a page.

    Args:
        target: The file. Unless its suffix says it is a page, the text is written as it is, without its fence.
        text: A whole page, a fragment of one, or markdown; in a fence or not.

    Returns:
        A line on what was made of the text, one that names files the page refers to and that are not there, and one on
        what it loads from the web.

    Raises:
        OSError: The file cannot be written.
    """
    code = taken_from_fence(with_real_line_ends(printable(text)))
    if target.suffix.lower() not in (".html", ".htm", ".xhtml"):
        target.write_text(code.rstrip() + "\n", encoding="utf-8", newline="\n")
        return ["Written as given."]
    page, what = _page(code, target.stem)
    target.write_text(page, encoding="utf-8", newline="\n")
    references = _references(page)
    lines = [what]
    missing = [name for name in filter(None, map(_local_file, references)) if not (target.parent / name).exists()]
    if missing:
        named = ", ".join(dict.fromkeys(missing[:10]))
        lines.append(f"The page refers to files that are not there yet: {named}. Paths are relative to the page.")
    distant = [value for value in references if re.match(r"(?:https?:)?//", value, re.IGNORECASE)]
    if distant:
        named = ", ".join(dict.fromkeys(value[:120] for value in distant[:5]))
        lines.append(
            f"It loads from the web: {named}. Without a network it is shown without these; a page that stands "
            "alone has its scripts, styles and pictures in it or beside it."
        )
    return lines


def taken_from_fence(text: str) -> str:
    """Return what stands in a text's code fence, or the text when it has none.

    Fences inside the code stay: the one that closes is the last that can. Prose before and after is dropped only when
    what is fenced is markup.
    """
    opening = _opening_fence(text)
    if opening is None:
        return text.strip("\n") + "\n"
    inside = text[opening.end() + 1 :]
    end = re.search(r".*</html\s*>", inside, re.DOTALL | re.IGNORECASE)
    if end:
        return end.group() + "\n"
    return inside[: _closing_fence(inside, opening.group(1))].strip("\n") + "\n"


def _opening_fence(text: str) -> re.Match[str] | None:
    """Return the fence a page or file starts with; None when the text is the page itself."""
    first = _FENCE.search(text)
    if first is None:
        return None
    before = text[: first.start()]
    if _MARKUP.search(before):
        return None
    if not before.strip():
        return first
    for fence in _FENCE.finditer(text):
        if fence.group(2).lower() in ("html", "xhtml", "svg") or re.match(
            r"\s*<(?:!doctype|html|[a-z])", text[fence.end() :], re.I
        ):
            return fence
    return None


def _closing_fence(inside: str, marks: str) -> int:
    """Return where the code ends: at the fence that closes the first, with fences inside counted in pairs."""
    open_inside = 0
    last_bare = None
    for fence in _FENCE.finditer(inside):
        if fence.group(1)[0] != marks[0] or len(fence.group(1)) < len(marks):
            continue
        if fence.group(2):
            open_inside += 1
        elif open_inside:
            open_inside -= 1
        else:
            last_bare = fence
            # Nothing but prose may follow; markup after it means that it closed nothing.
            if not _MARKUP.search(inside[fence.end() :]):
                break
    return last_bare.start() if last_bare else len(inside)


def _page(code: str, name: str) -> tuple[str, str]:
    if re.search(r"<html[\s>]|<!doctype\s+html", code, re.IGNORECASE):
        return _with_charset(code), "A whole page, kept as it is."
    if _MARKUP.search(code) and not re.match(r"\s*#{1,6} ", code):
        head, body = _own_head(code)
        return _wrapped(
            body, _title(code, name), head
        ), "A fragment, made a whole page (charset, title, viewport, style)."
    return _wrapped(_rendered(code), _title(_rendered(code), name), ""), "Markdown or plain text, made a whole page."


def _with_charset(code: str) -> str:
    """Declare UTF-8, which the file is written in, where a page declares nothing."""
    head = code[:4096]
    declared = re.search(r"""<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)""", head, re.IGNORECASE)
    if declared:
        if declared.group(1).lower() in ("utf-8", "utf8"):
            return code
        return code[: declared.start(1)] + "utf-8" + code[declared.end(1) :]
    for tag in (r"<head(?:\s[^>]*)?>", r"<html(?:\s[^>]*)?>", r"<!doctype[^>]*>"):
        found = re.search(tag, code, re.IGNORECASE)
        if found:
            return f'{code[: found.end()]}\n<meta charset="utf-8">{code[found.end() :]}'
    return code


def _own_head(code: str) -> tuple[str, str]:
    """Part a fragment's own <style>, <link> and <meta> at its start from its body."""
    found = re.match(
        r"(?:\s*(?:<style\b.*?</style>|<link\b[^>]*>|<meta\b[^>]*>|<title\b.*?</title>|<!--.*?-->))*",
        code,
        re.DOTALL | re.IGNORECASE,
    )
    end = found.end() if found else 0
    head = re.sub(r"<title\b.*?</title>|<meta\b[^>]*charset[^>]*>", "", code[:end], flags=re.DOTALL | re.IGNORECASE)
    body = re.sub(r"</?(?:head|body)\b[^>]*>", "", code[end:], flags=re.IGNORECASE)
    return head.strip(), body


def _title(code: str, name: str) -> str:
    found = re.search(r"<title\b[^>]*>(.*?)</title>|<h1\b[^>]*>(.*?)</h1>", code, re.DOTALL | re.IGNORECASE)
    words = re.sub(r"<[^>]+>", "", next((g for g in found.groups() if g), "")) if found else ""
    return " ".join(words.split()) or escape(name.replace("_", " "))


def _rendered(markdown: str) -> str:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return str(parser.render(with_bare_links(with_notes_at_end(markdown))))


def _wrapped(body: str, title: str, head: str) -> str:
    language = "zh" if re.search("[\u4e00-\u9fff]", body) else "en"
    style = "" if re.search(r"<style\b|<link\b", head, re.IGNORECASE) else f"<style>\n{_STYLE}\n</style>\n"
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n{style}'
        f"{head + chr(10) if head else ''}</head>\n<body>\n{body.strip()}\n</body>\n</html>\n"
    )


def _references(page: str) -> list[str]:
    """Return the addresses of what is loaded with a page."""
    found: list[str] = []
    loaded = {"img": "src", "script": "src", "video": "src", "audio": "src", "source": "src", "iframe": "src"}

    class Collector(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            given = dict(attrs)
            style = tag == "link" and (given.get("rel") or "").lower() in ("stylesheet", "icon")
            found.append(given.get("href" if style else loaded.get(tag, ""), "") or "")

    with contextlib.suppress(AssertionError):  # the parser's answer to "<![" that is no marked section
        Collector().feed(page)
    return [address for address in found if address]


def _local_file(address: str) -> str:
    """Return the path that an address names, relative to the page; "" when it is elsewhere."""
    parts = urlsplit(address)
    here = not parts.scheme and not parts.netloc and not parts.path.startswith(("/", "{", "$"))
    return unquote(parts.path) if here else ""
