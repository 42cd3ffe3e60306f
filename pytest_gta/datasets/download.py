"""Downloading one large file over a bad line: what is there is kept, and gone on with."""

from __future__ import annotations

import errno
import http.client
import random
import re
import socket
import ssl
import time
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPResponse
from pathlib import Path

from pytest_gta.datasets.connection import host_of, open_url
from pytest_gta.datasets.connection import shown as shown_address
from pytest_gta.datasets.partial_file import Origin, PartialFile
from pytest_gta.datasets.sources import FetchError
from pytest_gta.llm.api_fault import retry_after
from pytest_gta.llm.redaction import one_line, redact
from pytest_gta.reporters.wording import duration

_CHUNK = 1 << 18
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524})
_OF_THE_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG})
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long to try again.

    Attributes:
        attempts: Requests in a row, at most, that bring nothing new.
        base_s: Seconds before the second of them; doubled each time.
        cap_s: Seconds of the longest wait of our own.
        asked_s: Seconds of the longest wait that a server is granted.
        silence_s: Seconds without a byte after which a connection is given up.
    """

    attempts: int = 6
    base_s: float = 1.0
    cap_s: float = 30.0
    asked_s: float = 600.0
    silence_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Download:
    """How a file is downloaded.

    Attributes:
        beginning: The bytes such a file begins with: a web page in its place is found at once.
        room: Told how many bytes are still to come, before they come; raises `FetchError` when there is no room.
        on_progress: Told the bytes so far and in all (None when unknown).
        on_wait: Told in one line why, before something is waited for.
        patience: How often to try again.
        sleep: Waits for so many seconds.
    """

    beginning: bytes
    room: Callable[[int], None]
    on_progress: Callable[[int, int | None], None]
    on_wait: Callable[[str], None]
    patience: Patience = Patience()
    sleep: Callable[[float], None] = time.sleep

    def run(self, url: str, partial: PartialFile) -> None:
        """Bring the whole file at `url` into `partial`, going on with what is there of it.

        Raises:
            FetchError: When the server does not have it, or does not bring it however often it is asked.
        """
        shown = shown_address(url)
        failures, furthest = 0, partial.size
        while not partial.is_whole(shown):
            try:
                self._once(url, shown, partial)
                return
            except _Setback as setback:
                if partial.size > furthest:
                    failures, furthest = 0, partial.size
                failures += 1
                wait = self._wait(setback, failures)
                if wait is None:
                    raise FetchError(_given_up(setback, failures, host_of(url), partial.size)) from None
                self.on_wait(f"{setback}; trying again in {duration(wait)}")
                self.sleep(wait)

    def _wait(self, setback: _Setback, failures: int) -> float | None:
        """Return the seconds to wait after so many failures in a row; None to give up."""
        if failures >= self.patience.attempts or (setback.asked_s or 0.0) > self.patience.asked_s:
            return None
        own = min(self.patience.cap_s, self.patience.base_s * 2.0 ** (failures - 1)) * random.uniform(0.5, 1.0)  # noqa: S311
        return own if setback.asked_s is None else setback.asked_s + own / 4

    def _once(self, url: str, shown: str, partial: PartialFile) -> None:
        origin = partial.origin(shown)
        headers = {}
        if origin is not None and partial.size and origin.validator:
            headers = {"Range": f"bytes={partial.size}-", "If-Range": origin.validator}
        try:
            with open_url(url, headers, timeout_s=self.patience.silence_s) as answer:
                origin = self._begin_or_go_on(answer, shown, partial, origin if headers else None)
                self._receive(answer, partial, origin)
        except urllib.error.HTTPError as error:
            with error:
                _refused(error, shown, partial)
        except FetchError:
            raise
        except ssl.SSLCertVerificationError as error:
            raise FetchError(
                f"{host_of(url)} cannot be believed ({error.verify_message}); behind a proxy that opens TLS, name its "
                "certificate in SSL_CERT_FILE"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise _Setback(_what_failed(error, host_of(url), self.patience.silence_s)) from None

    def _begin_or_go_on(self, answer: HTTPResponse, shown: str, partial: PartialFile, before: Origin | None) -> Origin:
        """Return what comes, with `partial` ready for it."""
        if answer.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity"):
            raise FetchError(f"{host_of(shown)} sends the file squeezed once more; fetch it from another place")
        sent = _number(answer.headers.get("Content-Length"))
        origin = Origin(
            shown, sent, answer.headers.get("ETag", "").strip(), answer.headers.get("Last-Modified", "").strip()
        )
        if answer.status == http.client.PARTIAL_CONTENT:
            if before is None or not _goes_on(answer, origin, before, partial.size):
                partial.discard()
                raise _Setback(f"{host_of(shown)} has another file now, or sends another part than was asked for")
            origin = before
        elif answer.status == http.client.OK:
            partial.begin(origin)
        else:
            raise FetchError(f"{shown}: HTTP {answer.status} instead of the file; try again, or --mirror URL")
        if origin.total is not None:
            self.room(origin.total - partial.size)
        return origin

    def _receive(self, answer: HTTPResponse, partial: PartialFile, origin: Origin) -> None:
        have = partial.size
        self.on_progress(have, origin.total)
        with _writing(partial.path), partial.appending() as out:
            while chunk := answer.read1(_CHUNK):
                out.write(chunk)
                out.flush()  # so that nothing is lost with the process
                early, have = have < len(self.beginning), have + len(chunk)
                if early:
                    self._check_beginning(partial, origin.url)
                self.on_progress(have, origin.total)
        if origin.total is None:
            partial.ended(replace(origin, total=have))
        elif have < origin.total:
            raise _Setback(f"{host_of(origin.url)} broke off at {have:,} of {origin.total:,} bytes")
        elif have > origin.total:
            partial.discard()
            raise _Setback(f"{host_of(origin.url)} sent more than the {origin.total:,} bytes it had promised")

    def _check_beginning(self, partial: PartialFile, shown: str) -> None:
        if not partial.begins_with(self.beginning):
            partial.discard()
            raise FetchError(
                f"{shown} is not the archive but something else, such as a page to log in; open the address in a "
                "browser, or fetch from another place: --mirror URL"
            )


class _Setback(Exception):
    """A request that brought nothing, or not all; another may."""

    def __init__(self, what: str, asked_s: float | None = None) -> None:
        super().__init__(what)
        self.asked_s = asked_s


def _goes_on(answer: HTTPResponse, now: Origin, before: Origin, size: int) -> bool:
    """Whether a partial answer is the rest of the same file."""
    found = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", "").strip())
    if found is None or int(found[1]) != size:
        return False
    same_tag = not (now.etag and before.etag) or now.etag == before.etag
    return same_tag and before.total in (None, int(found[3]))


def _refused(error: urllib.error.HTTPError, shown: str, partial: PartialFile) -> None:
    host = host_of(shown)
    if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
        partial.discard()
        raise _Setback(f"{host} has no such part any more; from the beginning") from None
    if error.code in _TRANSIENT:
        said = retry_after({name.lower(): value for name, value in error.headers.items()})
        raise _Setback(f"{host} answers HTTP {error.code} ({_reason(error)})", said) from None
    if error.code in (404, 410):
        raise FetchError(
            f"{shown}: HTTP {error.code}, the file is not there; give another place by --mirror URL, or see in "
            "docs/datasets.md how to copy it by hand"
        ) from None
    if error.code == http.client.PROXY_AUTHENTICATION_REQUIRED:
        raise FetchError("the proxy wants a password: HTTPS_PROXY=http://user:password@host:port") from None
    raise FetchError(f"{shown}: HTTP {error.code} ({_reason(error)}); give another place by --mirror URL") from None


def _reason(error: urllib.error.HTTPError) -> str:
    return redact(one_line(str(error.reason), 80)) or "no reason given"


def _what_failed(error: Exception, host: str, silence_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"{host} was silent for {duration(silence_s)}"
    if isinstance(error, socket.gaierror):
        return f"the name {host} is not known here"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"the connection to {host} failed ({redact(one_line(said, 160)) or type(error).__name__})"


def _given_up(setback: _Setback, failures: int, host: str, kept: int) -> str:
    if setback.asked_s is not None and failures == 1:
        so_far = f" and asks to wait {duration(setback.asked_s)}"
    else:
        so_far = f", {failures} times in a row"
    rest = f"the same command goes on from the {kept:,} bytes that are there" if kept else "nothing has come of it"
    return (
        f"{setback}{so_far}; {rest}\n"
        "Behind a proxy set HTTPS_PROXY; from another place: --mirror URL; without a network copy it: docs/datasets.md"
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.strip().isdecimal() else None


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Tell a full disk from a broken line."""
    try:
        yield
    except OSError as error:
        if error.errno not in _OF_THE_DISK:
            raise
        raise FetchError(f"{path} cannot be written: {error.strerror}; make room, the same command goes on") from None
