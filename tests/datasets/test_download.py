from __future__ import annotations

import io
import socket
import ssl
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPMessage
from pathlib import Path

import pytest

from pytest_gta.datasets.connection import _Redirects
from pytest_gta.datasets.download import Download, Patience
from pytest_gta.datasets.partial_file import PartialFile
from pytest_gta.datasets.sources import FetchError
from tests.file_server import FileServer, Trouble

CONTENT = b"PK\x03\x04" + bytes(range(256)) * 4000
"""About 1 MB: more than what a socket takes at once."""
SIZE = len(CONTENT)


@dataclass
class Watch:
    """Downloads without waiting, and keeps what was told."""

    target: Path
    lines: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    rooms: list[int] = field(default_factory=list)
    progress: list[tuple[int, int | None]] = field(default_factory=list)

    def run(self, url: str, *, silence_s: float = 20.0, attempts: int = 3) -> bytes:
        self.partial = PartialFile(self.target)
        Download(
            beginning=b"PK\x03\x04",
            room=self.rooms.append,
            on_progress=lambda done, total: self.progress.append((done, total)),
            on_wait=self.lines.append,
            patience=Patience(attempts=attempts, silence_s=silence_s),
            sleep=self.waits.append,
        ).run(url, self.partial)
        return self.partial.path.read_bytes()


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path / "d.zip")


@pytest.fixture(autouse=True)
def _content(server: FileServer) -> None:
    server.content = CONTENT


def ranges(server: FileServer) -> list[str]:
    return [asked.range for asked in server.asked]


def test_a_good_server(server: FileServer, watch: Watch) -> None:
    assert watch.run(server.url) == CONTENT
    assert watch.rooms == [SIZE]
    assert watch.progress[0] == (0, SIZE)
    assert watch.progress[-1] == (SIZE, SIZE)
    assert watch.partial.is_whole(server.url)
    assert server.asked[0].headers["accept-encoding"] == "identity"
    assert server.asked[0].headers["user-agent"].startswith("pytest-gta/")


def test_a_whole_part_is_not_asked_for_again(server: FileServer, watch: Watch) -> None:
    watch.run(server.url)
    watch.run(server.url)
    assert len(server.asked) == 1


@pytest.mark.parametrize("reset", [False, True])
def test_a_broken_connection_is_gone_on_with(server: FileServer, watch: Watch, reset: bool) -> None:
    server.troubles = [Trouble(cut_at=300_000, reset=reset), Trouble(cut_at=700_000, reset=reset)]
    assert watch.run(server.url) == CONTENT
    assert len(watch.lines) == 2
    starts = [int(asked.removeprefix("bytes=").rstrip("-")) for asked in ranges(server)[1:]]
    assert ranges(server)[0] == ""
    assert starts == sorted(starts)
    assert server.asked[1].headers["if-range"] == '"one"'
    if not reset:  # a reset may throw away what is on its way
        assert starts == [300_000, 700_000]
        assert watch.rooms == [SIZE, SIZE - 300_000, SIZE - 700_000]
        assert watch.lines[0].startswith(f"127.0.0.1 broke off at 300,000 of {SIZE:,} bytes; trying again in ")


def test_another_process_goes_on(server: FileServer, watch: Watch) -> None:
    server.always = Trouble(cut_at=500_000)
    with pytest.raises(FetchError, match="3 times in a row; the same command goes on from the 500,000 bytes"):
        watch.run(server.url)
    server.always = Trouble()
    assert Watch(watch.target).run(server.url) == CONTENT
    assert ranges(server)[-1] == "bytes=500000-"


def test_progress_makes_patient(server: FileServer, watch: Watch) -> None:
    server.troubles = [Trouble(cut_at=100_000 * n) for n in range(1, 10)]
    assert watch.run(server.url, attempts=2) == CONTENT
    assert len(watch.waits) == 9
    assert max(watch.waits) <= 1.0


def test_without_ranges_it_starts_again(server: FileServer, watch: Watch) -> None:
    server.troubles = [Trouble(cut_at=600_000), Trouble(no_ranges=True)]
    assert watch.run(server.url) == CONTENT
    assert watch.rooms == [SIZE, SIZE]


def test_without_ranges_a_server_that_always_breaks_is_given_up(server: FileServer, watch: Watch) -> None:
    server.always = Trouble(cut_at=600_000, no_ranges=True)
    with pytest.raises(FetchError, match="broke off at 600,000 of"):
        watch.run(server.url)
    assert len(server.asked) == 3


def test_without_a_validator_it_starts_again(server: FileServer, watch: Watch) -> None:
    server.etag = ""
    server.troubles = [Trouble(cut_at=600_000)]
    assert watch.run(server.url) == CONTENT
    assert ranges(server) == ["", ""]


def test_a_weak_tag_does_not_vouch_for_bytes(server: FileServer, watch: Watch) -> None:
    server.etag, server.last_modified = 'W/"one"', "Mon, 20 Apr 2026 06:00:00 GMT"
    server.troubles = [Trouble(cut_at=600_000)]
    assert watch.run(server.url) == CONTENT
    assert server.asked[1].headers["if-range"] == "Mon, 20 Apr 2026 06:00:00 GMT"


@pytest.mark.parametrize("ignores_if_range", [False, True])
def test_a_file_that_changes_meanwhile_is_not_mixed(server: FileServer, watch: Watch, ignores_if_range: bool) -> None:
    server.troubles = [Trouble(cut_at=600_000)]
    with pytest.raises(FetchError):
        watch.run(server.url, attempts=1)
    server.content, server.etag = b"PK\x03\x04" + b"new" * 200_000, '"two"'
    server.troubles = [Trouble(ignores_if_range=ignores_if_range)]
    assert watch.run(server.url) == server.content
    assert ranges(server) == (["", "bytes=600000-", ""] if ignores_if_range else ["", "bytes=600000-"])


def test_another_part_than_asked_for_is_not_taken(server: FileServer, watch: Watch) -> None:
    server.troubles = [Trouble(cut_at=600_000), Trouble(wrong_part=True)]
    assert watch.run(server.url) == CONTENT
    assert ranges(server) == ["", "bytes=600000-", ""]


def test_a_range_that_is_refused(server: FileServer, watch: Watch) -> None:
    server.troubles = [Trouble(cut_at=600_000), Trouble(status=416)]
    assert watch.run(server.url) == CONTENT
    assert ranges(server) == ["", "bytes=600000-", ""]


def test_more_is_promised_than_comes(server: FileServer, watch: Watch) -> None:
    server.always = Trouble(promised=SIZE + 5)
    with pytest.raises(FetchError, match=f"broke off at {SIZE:,} of {SIZE + 5:,} bytes, 3 times in a row"):
        watch.run(server.url)


def test_no_size_is_said(server: FileServer, watch: Watch) -> None:
    server.troubles = [Trouble(no_length=True)]
    assert watch.run(server.url) == CONTENT
    assert watch.progress[-1] == (SIZE, None)
    assert watch.partial.is_whole(server.url)
    assert watch.rooms == []


def test_a_page_to_log_in_is_not_taken_for_the_file(server: FileServer, watch: Watch) -> None:
    server.troubles = [Trouble(body=b"<!DOCTYPE html>" + b" " * SIZE)]
    with pytest.raises(FetchError, match="not the archive but something else, such as a page to log in"):
        watch.run(server.url)
    assert watch.partial.size == 0
    assert len(server.asked) == 1


def test_silence_is_not_waited_for_for_ever(server: FileServer, watch: Watch) -> None:
    server.troubles = [Trouble(cut_at=400_000, silent=True)]
    assert watch.run(server.url, silence_s=2.0, attempts=20) == CONTENT
    assert watch.lines[0].startswith("127.0.0.1 was silent for 2.0 s; trying again in ")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_is_busy_is_asked_again(server: FileServer, watch: Watch, status: int) -> None:
    server.troubles = [Trouble(status=status), Trouble(status=status, headers={"Retry-After": "7"})]
    assert watch.run(server.url) == CONTENT
    assert 0.5 <= watch.waits[0] <= 1.0
    assert 7.0 <= watch.waits[1] <= 8.0
    assert watch.lines[0].startswith(f"127.0.0.1 answers HTTP {status} (")


def test_a_server_that_asks_for_hours_is_not_waited_for(server: FileServer, watch: Watch) -> None:
    server.troubles = [Trouble(status=503, headers={"Retry-After": "7200"})]
    with pytest.raises(FetchError, match="asks to wait 2 h 0 min; nothing has come of it"):
        watch.run(server.url)
    assert watch.waits == []


def test_back_off_doubles(server: FileServer, watch: Watch) -> None:
    server.always = Trouble(status=503)
    with pytest.raises(FetchError, match=r"HTTP 503 .* 6 times in a row; nothing has come of it"):
        watch.run(server.url, attempts=6)
    assert [wait <= 2.0**n and wait >= 2.0**n / 2 for n, wait in enumerate(watch.waits)] == [True] * 5


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_file_that_is_not_there_is_said_at_once(server: FileServer, watch: Watch, status: int) -> None:
    server.troubles = [Trouble(status=status)]
    with pytest.raises(FetchError, match=f"HTTP {status}.*--mirror URL"):
        watch.run(server.url)
    assert len(server.asked) == 1


def test_redirects_are_followed_with_the_range(server: FileServer, watch: Watch) -> None:
    there = {"Location": f"{server.url}/elsewhere?signed=1"}
    server.troubles = [
        Trouble(status=302, headers=there),
        Trouble(cut_at=600_000),
        Trouble(status=302, headers=there),
    ]
    assert watch.run(f"{server.url}/official.zip") == CONTENT
    paths = [(asked.path, asked.range) for asked in server.asked]
    assert paths[-2:] == [("/official.zip", "bytes=600000-"), ("/elsewhere?signed=1", "bytes=600000-")]


@pytest.mark.parametrize("to", ["ftp://example.org/d.zip", "file:///etc/passwd"])
def test_redirects_to_other_kinds_of_places_are_not(server: FileServer, watch: Watch, to: str) -> None:
    server.troubles = [Trouble(status=302, headers={"Location": to})]
    with pytest.raises(FetchError):
        watch.run(server.url)
    assert watch.partial.size == 0


def test_a_redirect_without_end_is(server: FileServer, watch: Watch) -> None:
    server.always = Trouble(status=302, headers={"Location": server.url})
    with pytest.raises(FetchError, match="HTTP 302"):
        watch.run(server.url)


def test_what_is_secret_goes_to_its_server_only(server: FileServer, watch: Watch) -> None:
    server.troubles = [Trouble(status=302, headers={"Location": f"{server.url}/elsewhere"}), Trouble(cut_at=9)]
    with pytest.raises(FetchError) as failed:
        watch.run(server.url.replace("://", "://me:sesame@") + "/d.zip?X-Signature=sesame", attempts=1)
    assert server.asked[0].headers["authorization"] == "Basic bWU6c2VzYW1l"
    assert server.asked[0].path == "/d.zip?X-Signature=sesame"
    assert "authorization" not in server.asked[1].headers
    assert "sesame" not in str(failed.value)
    assert all("sesame" not in file.read_text("latin-1") for file in watch.target.parent.iterdir())


def test_nobody_listens(tmp_path: Path, watch: Watch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(FetchError, match=r"the connection to 127.0.0.1 failed \(Connection refused\), 2 times"):
            watch.run(f"http://127.0.0.1:{unused.getsockname()[1]}/d.zip", attempts=2)


def test_the_proxy_of_the_environment_is_used(
    server: FileServer, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    monkeypatch.setenv("no_proxy", "")
    assert watch.run("http://dataset.invalid/d.zip") == CONTENT
    assert server.asked[0].path == "http://dataset.invalid/d.zip"


def test_a_proxy_that_wants_a_password(server: FileServer, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    server.troubles = [Trouble(status=407)]
    with pytest.raises(FetchError, match="the proxy wants a password: HTTPS_PROXY="):
        watch.run("http://dataset.invalid/d.zip")


def test_a_server_that_cannot_be_believed(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        error = ssl.SSLCertVerificationError("certificate verify failed")
        error.verify_message = "self-signed certificate in certificate chain"
        raise error

    monkeypatch.setattr("pytest_gta.datasets.download.open_url", refuse)
    with pytest.raises(FetchError) as failed:
        watch.run("https://dataset.invalid/d.zip")
    assert str(failed.value) == (
        "dataset.invalid cannot be believed (self-signed certificate in certificate chain); behind a proxy that opens "
        "TLS, name its certificate in SSL_CERT_FILE"
    )
    assert watch.waits == []


def test_out_of_https_no_redirect_is_followed(server: FileServer, watch: Watch) -> None:
    request = urllib.request.Request("https://dataset.invalid/d.zip")
    with pytest.raises(FetchError, match=r"dataset\.invalid redirects from https to http, where anyone could change"):
        _Redirects().redirect_request(request, io.BytesIO(), 302, "Found", HTTPMessage(), "http://evil.invalid/d.zip")


def test_certificates_that_are_not_there(watch: Watch, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "none.pem"))
    with pytest.raises(FetchError, match=r"the certificates in .*none\.pem cannot be read"):
        watch.run("https://127.0.0.1:9/d.zip")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_is_full(server: FileServer, watch: Watch) -> None:
    PartialFile(watch.target).path.symlink_to("/dev/full")
    with pytest.raises(FetchError, match=r"d\.zip\.part cannot be written: No space left on device; make room"):
        watch.run(server.url)


def test_no_room_is_said_before_anything_comes(server: FileServer, watch: Watch) -> None:
    def full(needed: int) -> None:
        raise FetchError(f"no room for {needed}")

    with pytest.raises(FetchError, match=f"no room for {SIZE}"):
        Download(b"PK", full, lambda *_: None, watch.lines.append).run(server.url, PartialFile(watch.target))
    assert PartialFile(watch.target).size == 0
