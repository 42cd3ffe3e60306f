"""One HTTP request for a file, by the proxies and certificates that the environment names."""

from __future__ import annotations

import base64
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from http.client import HTTPMessage, HTTPResponse, HTTPSConnection
from typing import IO, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from pytest_gta import __version__
from pytest_gta.datasets.sources import FetchError
from pytest_gta.llm.addresses import is_loopback

_CERTIFICATES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def shown(url: str) -> str:
    """Return an address as it may be shown and kept: without a user, and without a query, which may hold a key."""
    return urlunsplit(urlsplit(_without_user(url))._replace(query="", fragment=""))


def host_of(url: str) -> str:
    """Return the server's name, for messages."""
    return urlsplit(url).hostname or url


def open_url(url: str, headers: Mapping[str, str], *, timeout_s: float) -> HTTPResponse:
    """Ask for a file, following redirects, and return the answer once its headers are there.

    Args:
        url: An http or https address; a user and password in it are sent to that server only.
        headers: Further headers.
        timeout_s: Seconds that the server may be silent, now and while the answer is read.

    Raises:
        urllib.error.HTTPError: For a status that is an error.
        OSError: No connection, `TimeoutError` and `ssl.SSLCertVerificationError` included.
        FetchError: When a redirect leads to where nothing is to be fetched from.
    """
    request = urllib.request.Request(_without_user(url), headers=dict(headers))  # noqa: S310 - sources allow http(s)
    request.add_header("User-Agent", f"pytest-gta/{__version__}")
    # What was asked to be squeezed on the way could not be gone on with from the middle.
    request.add_header("Accept-Encoding", "identity")
    parts = urlsplit(url)
    if parts.username:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(secret.encode()).decode()}")
    handlers: list[Any] = [_Redirects(), _Https()]
    if is_loopback(url):
        handlers.append(urllib.request.ProxyHandler({}))
    try:
        answer: HTTPResponse = urllib.request.build_opener(*handlers).open(request, timeout=timeout_s)
    except urllib.error.HTTPError:
        raise
    except urllib.error.URLError as error:
        reason = error.reason
        raise reason if isinstance(reason, OSError) else OSError(str(reason)) from error
    return answer


def _without_user(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _trust() -> ssl.SSLContext:
    """Return which certificates are believed: the system's, or those that the environment names."""
    named = next((os.environ[name] for name in _CERTIFICATES if os.environ.get(name)), None)
    try:
        if named and os.path.isdir(named):  # noqa: PTH112 - a setting, not a path of ours
            return ssl.create_default_context(capath=named)
        return ssl.create_default_context(cafile=named)
    except OSError as error:
        raise FetchError(
            f"the certificates in {named} cannot be read ({error}); see {', '.join(_CERTIFICATES)}"
        ) from None


class _Https(urllib.request.HTTPSHandler):
    """Reads the certificates when they are needed: that takes longer than a request nearby."""

    def https_open(self, request: urllib.request.Request) -> HTTPResponse:
        return self.do_open(HTTPSConnection, request, context=_trust())


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but not out of https and not to a file or an FTP server."""

    def redirect_request(
        self,
        request: urllib.request.Request,
        answer: IO[bytes],
        code: int,
        message: str,
        headers: HTTPMessage,
        to: str,
    ) -> urllib.request.Request | None:
        before, after = urlsplit(request.full_url).scheme, urlsplit(to).scheme
        if after not in ("http", "https") or (before == "https" and after == "http"):
            raise FetchError(
                f"{host_of(request.full_url)} redirects from {before} to {after}, where anyone could change the file; "
                "fetch it from another place: --mirror URL"
            )
        return super().redirect_request(request, answer, code, message, headers, _without_user(to))
