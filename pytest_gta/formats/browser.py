"""A web page as pictures: a headless Chromium, without a network, driven over two pipes by its own protocol.

The page is opened in a window of a desktop's size, scrolled to its end once (much appears only then), and pictured
piece by piece. A page that says it adapts to the screen is then shown once more as on a phone, from its top.
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from pytest_gta.formats.font_packages import give_fonts
from pytest_gta.formats.wording import spread
from pytest_gta.workspace.confined_program import Program, ProgramFailed, Watch, running
from pytest_gta.workspace.readiness import readable

WIDTH, HEIGHT = 1_280, 900
"""The window, in CSS pixels: elements that fill "the screen" fill this."""

PHONE_WIDTH, PHONE_HEIGHT = 375, 812
"""The screen of a phone, in CSS pixels: the smallest that pages are commonly made for."""

_PIECE = 1_280
_MOST_HEIGHT = 40_000
_MOST_WIDTH = 2_400
_LOAD_S = 12.0
_SETTLE_S = 0.6
_MOST_BYTES = 64 * 1024**2
_ARGUMENTS = (
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-default-browser-check",
    "--hide-scrollbars",
    "--mute-audio",
    "--force-color-profile=srgb",
    "--lang=en-US",
    # Said twice over: where the process has a network, it is not to be used either.
    "--proxy-server=http://127.0.0.1:9",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
_SCROLL = """(async () => {
  const step = innerHeight, pause = () => new Promise(done => setTimeout(done, 60));
  for (let y = 0, n = 0; y < document.documentElement.scrollHeight && n < 40; y += step, n++) {
    scrollTo(0, y); await pause();
  }
  scrollTo(0, 0); await pause();
})()"""


@dataclass(frozen=True, slots=True)
class WebPictures:
    """A page as it was drawn.

    Attributes:
        files: Pictures, from top to bottom: where in the page, and the PNG file.
        phone: The page as on a phone, from its top: what of it, and the PNG file; None when it was not asked for.
        height: Of the page, in CSS pixels.
        pieces: How many pieces the page has in all.
        not_loaded: Hosts of the web that it wanted something from.
        loaded: Whether it was done loading in its time.
    """

    files: tuple[tuple[str, Path], ...]
    phone: tuple[str, Path] | None
    height: int
    pieces: int
    not_loaded: tuple[str, ...]
    loaded: bool


def picture_page(
    binary: Path,
    page: Path,
    folder: Path,
    *,
    site: Path,
    confined: bool,
    most: int,
    longest_px: int,
    seconds: float,
    phone: bool = False,
) -> WebPictures:
    """Picture a page.

    Args:
        binary: The browser.
        page: The HTML file.
        folder: An empty folder for the browser's profile and the pictures.
        site: The folder it may read other files of, the page's own or one above it.
        confined: Whether to run it under bubblewrap.
        most: How many pictures at most, spread over the page; the phone's is one of them.
        longest_px: Longest side of a picture.
        seconds: Time for all of it.
        phone: Whether to show it as on a phone as well; not when there is room for one picture alone.

    Raises:
        ProgramFailed: When there is no picture.
    """
    arguments = [*_ARGUMENTS, f"--user-data-dir={folder / 'profile'}", f"--window-size={WIDTH},{HEIGHT}"]
    # Its own sandbox needs rights that bubblewrap has taken away.
    arguments += ["--no-sandbox"] if confined else []
    give_fonts(folder)
    program = Program("Chromium", (str(binary), *arguments, "about:blank"), folder, (site,), confined)
    with running(program, piped=True) as process:
        session = _Session(process.stdin, process.stdout, Watch(program, process, seconds))
        return _Page(session).picture(page, folder, most, longest_px, phone=phone and most > 1)


class _Session:
    """The conversation with a browser: JSON messages that end with a zero byte."""

    def __init__(self, to: Any, back: Any, watch: Watch) -> None:
        self._to, self._back, self._watch = to.fileno(), back.fileno(), watch
        self._buffer = bytearray()
        self._number = 0
        self._target = ""
        self.loaded = False
        self.wanted: dict[str, None] = {}

    @property
    def left_s(self) -> float:
        return self._watch.left_s

    def open(self) -> None:
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._target = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]

    def ask(self, method: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Send a command and return its result; events that come meanwhile are noted."""
        number = self._send(method, parameters)
        while True:
            message = self._receive(self._watch.left_s)
            if message is None or message.get("id") != number:
                continue
            if "error" in message:
                raise ProgramFailed(f"Chromium refused {method}")
            result = message.get("result")
            return result if isinstance(result, dict) else {}

    def wait_for_load(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self.loaded and (left := until - time.monotonic()) > 0:
            self._receive(left)

    def settle(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._receive(left)

    def _send(self, method: str, parameters: Mapping[str, Any] | None = None) -> int:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": dict(parameters or {})}
        if self._target:
            message["sessionId"] = self._target
        try:
            os.write(self._to, json.dumps(message).encode() + b"\0")
        except OSError:
            raise ProgramFailed("Chromium ended before it had drawn the page") from None
        return self._number

    def _receive(self, seconds: float) -> dict[str, Any] | None:
        until = time.monotonic() + seconds
        while (at := self._buffer.find(b"\0")) < 0:
            self._watch.look()
            if time.monotonic() >= until:
                return None
            if not readable([self._back], min(0.1, until - time.monotonic())):
                continue
            piece = os.read(self._back, 1 << 20)
            if not piece:
                raise ProgramFailed("Chromium ended before it had drawn the page")
            self._buffer += piece
            if len(self._buffer) > _MOST_BYTES:
                raise ProgramFailed("Chromium answered with too much")
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 1]
        try:
            message = json.loads(line)
        except ValueError:
            return None
        if not isinstance(message, dict):
            return None
        self._note(message)
        return message

    def _note(self, message: Mapping[str, Any]) -> None:
        method, given = message.get("method"), message.get("params")
        given = given if isinstance(given, dict) else {}
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Page.javascriptDialogOpening":
            self._send("Page.handleJavaScriptDialog", {"accept": True})
        elif method == "Network.requestWillBeSent":
            request = given.get("request")
            url = urlsplit(str(request.get("url", ""))) if isinstance(request, dict) else urlsplit("")
            if url.scheme in ("http", "https") and url.hostname and len(self.wanted) < 50:
                self.wanted.setdefault(url.hostname[:100])


class _Page:
    """One page in a browser."""

    def __init__(self, session: _Session) -> None:
        self._session = session

    def picture(self, page: Path, folder: Path, most: int, longest_px: int, *, phone: bool) -> WebPictures:
        ask = self._session.ask
        self._session.open()
        for domain in ("Page", "Network"):
            ask(f"{domain}.enable")
        self._screen(WIDTH, HEIGHT, mobile=False)
        # Pages that move in what they show stand still then.
        ask("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
        ask("Page.navigate", {"url": "file://" + quote(str(page))})
        self._session.wait_for_load(min(_LOAD_S, self._session.left_s / 2))
        self._session.settle(_SETTLE_S)
        ask("Runtime.evaluate", {"expression": _SCROLL, "awaitPromise": True, "timeout": 6_000})
        self._session.settle(_SETTLE_S)
        width, height = self._size(WIDTH)
        pieces = max(1, -(-height // _PIECE))
        files = []
        for index in spread(pieces, most - phone):
            top = index * _PIECE
            tall = min(_PIECE, height - top) if pieces > 1 else height
            place = self._shoot(folder / f"piece-{index + 1}.png", top, width, tall, longest_px)
            files.append((f"part {index + 1} of {pieces}" if pieces > 1 else "page", place))
        small = self._on_phone(folder / "phone.png", longest_px) if phone else None
        return WebPictures(tuple(files), small, height, pieces, tuple(self._session.wanted), self._session.loaded)

    def _on_phone(self, place: Path, longest_px: int) -> tuple[str, Path]:
        self._screen(PHONE_WIDTH, PHONE_HEIGHT, mobile=True)
        self._session.ask("Runtime.evaluate", {"expression": "scrollTo(0, 0)"})
        self._session.settle(_SETTLE_S)
        # Not wider than the screen: what does not fit is cut off, as it is there.
        _, height = self._size(PHONE_WIDTH)
        tall = min(height, _PIECE)
        what = "page" if tall == height else f"first {tall:,} of {height:,} pixels"
        return f"{what} as on a phone, {PHONE_WIDTH} pixels wide", self._shoot(place, 0, PHONE_WIDTH, tall, longest_px)

    def _screen(self, width: int, height: int, *, mobile: bool) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}
        self._session.ask("Emulation.setDeviceMetricsOverride", size)

    def _shoot(self, place: Path, top: int, width: int, tall: int, longest_px: int) -> Path:
        clip = {"x": 0, "y": top, "width": width, "height": tall, "scale": min(longest_px / max(width, tall), 1.0)}
        made = self._session.ask(
            "Page.captureScreenshot", {"format": "png", "clip": clip, "captureBeyondViewport": True}
        )
        place.write_bytes(base64.b64decode(str(made.get("data", ""))))
        return place

    def _size(self, least_width: int) -> tuple[int, int]:
        metrics = self._session.ask("Page.getLayoutMetrics")
        size = metrics.get("cssContentSize") or metrics.get("contentSize") or {}
        width, height = (int(size.get(name, 0) or 0) for name in ("width", "height"))
        return min(max(width, least_width), _MOST_WIDTH), min(max(height, 100), _MOST_HEIGHT)
