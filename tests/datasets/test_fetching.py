from __future__ import annotations

import fcntl
import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_gta.datasets.download import Patience
from pytest_gta.datasets.fetching import MARGIN, NO_SUM_KNOWN, Fetched, Fetcher, Told
from pytest_gta.datasets.record import read_record, record_path
from pytest_gta.datasets.sources import SOURCES, FetchError
from tests.file_server import FileServer, Trouble
from tests.release_factory import make_release

LINES: list[str] = []


@pytest.fixture
def release(tmp_path: Path, server: FileServer) -> Path:
    path = make_release(tmp_path / "made" / "d.zip", tasks=6)
    server.content = path.read_bytes()
    return path


@pytest.fixture
def fetcher(tmp_path: Path, server: FileServer, release: Path) -> Fetcher:
    told = Told(lambda _stage: None, lambda _done, _total: None, LINES.append)
    LINES.clear()
    source = replace(SOURCES["workflow"], url=f"{server.url}/official.zip", listing="")
    return Fetcher(source, tmp_path / "data", told, patience=Patience(attempts=2, base_s=0.0))


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


KEPT = [".gta_workflow_dataset.zip.lock", "gta_workflow_dataset.zip", "gta_workflow_dataset.zip.json"]


def test_the_first_time(fetcher: Fetcher, server: FileServer) -> None:
    fetched = fetcher.fetch()
    assert fetched.new
    assert fetched.path.read_bytes() == server.content
    assert fetched.tasks == 6
    assert [f"GTA-Workflow v0.2.0, from {server.url}/official.zip"] == LINES
    assert names(fetcher.folder) == KEPT
    record = json.loads(record_path(fetched.path).read_text())
    assert record.pop("taken_at").endswith("+00:00")
    assert record == {
        "dataset": "workflow",
        "version": "v0.2.0",
        "bytes": len(server.content),
        "sha256": sha256(server.content),
        "url": f"{server.url}/official.zip",
        "compared_with": NO_SUM_KNOWN,
    }


def test_what_is_there_is_not_fetched_again(fetcher: Fetcher, server: FileServer) -> None:
    first = fetcher.fetch()
    again = fetcher.fetch()
    assert again == replace(first, new=False)
    assert len(server.asked) == 1


def test_what_is_there_needs_no_network(fetcher: Fetcher) -> None:
    fetcher.fetch()
    away = replace(fetcher, source=replace(fetcher.source, url="http://127.0.0.1:9/d.zip"))
    assert away.fetch().tasks == 6
    assert away.check().tasks == 6


def test_another_file_is_not_taken(fetcher: Fetcher, server: FileServer, tmp_path: Path) -> None:
    before = fetcher.fetch()
    assert before.record is not None
    old = server.content
    server.content, server.etag = make_release(tmp_path / "other.zip", tasks=7).read_bytes(), '"two"'
    with pytest.raises(FetchError) as refused:
        fetcher.fetch(force=True)
    assert str(refused.value) == (
        "GTA-Workflow HAS CHANGED, OR THIS IS NOT IT: it was not taken\n"
        f"  sha256 found     {sha256(server.content)}\n"
        f"  sha256 expected  {sha256(old)}  (the one recorded on {before.record.taken_at[:10]})\n"
        "Get it anew: pytest-gta fetch workflow --force\n"
        f"Take it, if you know that it is right: pytest-gta fetch workflow --sha256={sha256(server.content)}"
    )
    assert fetcher.archive.read_bytes() == old
    assert fetcher.fetch() == replace(before, new=False)


def test_another_file_is_taken_by_its_sum_without_a_second_download(
    fetcher: Fetcher, server: FileServer, tmp_path: Path
) -> None:
    fetcher.fetch()
    fetcher.archive.unlink()
    server.content, server.etag = make_release(tmp_path / "other.zip", tasks=7).read_bytes(), '"two"'
    with pytest.raises(FetchError, match="it was not taken"):
        fetcher.fetch()
    with pytest.raises(FetchError, match="it was not taken"):
        fetcher.fetch()
    taken = replace(fetcher, sha256=sha256(server.content).upper()).fetch()
    assert taken.tasks == 7
    assert taken.record is not None
    assert taken.record.compared_with == "the one given by --sha256"
    assert len(server.asked) == 2
    assert names(fetcher.folder) == KEPT
    assert fetcher.fetch().tasks == 7


def test_a_sum_that_is_known_beforehand(fetcher: Fetcher, server: FileServer) -> None:
    wrong = replace(fetcher, source=replace(fetcher.source, sha256="0" * 64))
    with pytest.raises(FetchError, match=r"expected  0{64}  \(the one pytest-gta knows\)"):
        wrong.fetch()
    assert not fetcher.archive.exists()
    right = replace(fetcher, source=replace(fetcher.source, sha256=sha256(server.content)))
    record = right.fetch().record
    assert record is not None
    assert record.compared_with == "the one pytest-gta knows"


@pytest.mark.parametrize("genuine", [True, False])
def test_the_sum_that_github_lists(fetcher: Fetcher, server: FileServer, genuine: bool) -> None:
    digest = sha256(server.content) if genuine else "1" * 64
    listing = {"assets": [{"name": "x", "digest": None}, {"name": fetcher.source.file, "digest": f"sha256:{digest}"}]}
    listed = replace(fetcher, source=replace(fetcher.source, listing=f"{server.url}/releases/tags/v0.2.0"))
    server.troubles = [Trouble(), Trouble(body=json.dumps(listing).encode())]
    if genuine:
        record = listed.fetch().record
        assert record is not None
        assert record.compared_with == "the one GitHub lists"
    else:
        with pytest.raises(FetchError, match=r"expected  1{64}  \(the one GitHub lists\)"):
            listed.fetch()
    assert [asked.path for asked in server.asked] == ["/official.zip", "/releases/tags/v0.2.0"]


@pytest.mark.parametrize(
    "answer",
    [
        Trouble(body=b'{"assets": [{"name": "gta_workflow_dataset.zip", "digest": null}]}'),
        Trouble(body=b'{"assets": [{"name": "gta_workflow_dataset.zip", "digest": "md5:0"}]}'),
        Trouble(body=b'{"assets": [{"name": "gta_workflow_dataset.zip"}]}'),
        Trouble(body=b'{"assets": []}'),
    ],
)
def test_a_list_without_the_sum(fetcher: Fetcher, server: FileServer, answer: Trouble) -> None:
    server.troubles = [Trouble(), answer]
    record = replace(fetcher, source=replace(fetcher.source, listing=f"{server.url}/list")).fetch().record
    assert record is not None
    assert record.compared_with == NO_SUM_KNOWN
    assert len(LINES) == 1


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Trouble(status=403), "HTTP Error 403: Forbidden"),
        (Trouble(body=b"<html>"), "what came is not a list of files"),
        (Trouble(body=b"[]"), "what came is not a list of files"),
        (Trouble(body=b'{"assets": 3}'), "what came is not a list of files"),
    ],
)
def test_a_list_that_cannot_be_had_is_told(fetcher: Fetcher, server: FileServer, answer: Trouble, why: str) -> None:
    server.troubles = [Trouble(), answer]
    record = replace(fetcher, source=replace(fetcher.source, listing=f"{server.url}/list")).fetch().record
    assert record is not None
    assert record.compared_with == NO_SUM_KNOWN
    assert LINES[1:] == [f"127.0.0.1, which may list its sum, could not be asked ({why}): compare it yourself"]


def test_the_list_is_asked_for_with_the_certificates_of_the_download(
    fetcher: Fetcher, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "none.pem"))
    replace(fetcher, source=replace(fetcher.source, listing="https://127.0.0.1:9/list")).fetch()
    assert "could not be asked (the certificates in " in LINES[1]


def test_a_mirror_is_asked_alone(fetcher: Fetcher, server: FileServer) -> None:
    source = replace(fetcher.source, url="http://127.0.0.1:9/x.zip", listing="http://127.0.0.1:9/list")
    mirrored = replace(fetcher, source=source, mirror=f"{server.url}/gta/")
    assert mirrored.fetch().tasks == 6
    assert [asked.path for asked in server.asked] == ["/gta/gta_workflow_dataset.zip"]


def test_a_damaged_archive_is_fetched_afresh(fetcher: Fetcher, server: FileServer, release: Path) -> None:
    good = server.content
    server.content = good.replace(b"PK\x01\x02", b"PK\x01\x03", 1)
    with pytest.raises(FetchError, match=r"/official\.zip: gta_workflow_dataset\.zip\.part is not a whole zip"):
        fetcher.fetch()
    place = good.index(b"end.json") + 200  # within the first file's bytes
    server.content = good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :]
    with pytest.raises(FetchError, match="in the archive is damaged"):
        fetcher.fetch()
    server.content = good
    assert fetcher.fetch().tasks == 6
    assert [asked.range for asked in server.asked] == ["", "", ""]


def test_another_archive_is_not_taken(fetcher: Fetcher, server: FileServer) -> None:
    with pytest.raises(FetchError, match=r"holds no dataset\.json, so it is another archive"):
        replace(fetcher, source=replace(fetcher.source, index="dataset.json")).fetch()
    assert names(fetcher.folder) == [".gta_workflow_dataset.zip.lock"]


def test_no_room(fetcher: Fetcher, server: FileServer) -> None:
    size = len(server.content)
    with pytest.raises(FetchError, match=r"data has 0\.3 GB free, and 0\.0 GB are still to come .*--to DIR"):
        replace(fetcher, free=lambda _: MARGIN + size - 1).fetch()
    assert replace(fetcher, free=lambda _: MARGIN + size).fetch().new


def test_no_room_to_unpack(fetcher: Fetcher) -> None:
    fetcher.fetch()
    with pytest.raises(FetchError, match="are still to come"):
        replace(fetcher, free=lambda _: MARGIN).fetch(unpacked=True)
    assert not fetcher.unpacked.exists()


def test_a_copy_made_by_hand(fetcher: Fetcher, server: FileServer, release: Path) -> None:
    fetcher.folder.mkdir()
    fetcher.archive.write_bytes(release.read_bytes())
    checked = fetcher.check()
    assert not checked.new
    assert read_record(fetcher.archive) == checked.record
    assert checked.record is not None
    assert (checked.record.url, checked.record.compared_with) == ("", NO_SUM_KNOWN)
    assert fetcher.fetch() == checked
    assert server.asked == []


@pytest.mark.parametrize("use", [Fetcher.check, Fetcher.fetch])
def test_a_copy_that_was_replaced(fetcher: Fetcher, tmp_path: Path, use: Callable[[Fetcher], Fetched]) -> None:
    fetcher.fetch()
    make_release(fetcher.archive, tasks=7)
    with pytest.raises(FetchError, match="HAS CHANGED, OR THIS IS NOT IT: it was left as it is"):
        use(fetcher)
    sum_now = sha256(fetcher.archive.read_bytes())
    assert use(replace(fetcher, sha256=sum_now)).tasks == 7
    assert use(fetcher).tasks == 7


def test_a_copy_of_the_same_size_that_was_changed(fetcher: Fetcher, server: FileServer) -> None:
    fetcher.fetch()
    data = bytearray(fetcher.archive.read_bytes())
    data[data.index(b"end.json") + 200] ^= 1
    fetcher.archive.write_bytes(data)
    with pytest.raises(FetchError):
        fetcher.check()
    assert fetcher.fetch(force=True).new
    assert fetcher.check().tasks == 6


def test_half_a_copy(fetcher: Fetcher, release: Path) -> None:
    fetcher.folder.mkdir()
    fetcher.archive.write_bytes(release.read_bytes()[:1000])
    for use in (fetcher.check, fetcher.fetch):
        with pytest.raises(FetchError, match=r"not a whole zip .*\. Get it anew by: pytest-gta fetch workflow --force"):
            use()
    assert fetcher.fetch(force=True).tasks == 6


def test_nothing_is_there(fetcher: Fetcher, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"zip is not there; get it by: pytest-gta fetch workflow"):
        fetcher.check()
    assert not fetcher.folder.exists()


def test_a_folder_is_there(fetcher: Fetcher, server: FileServer) -> None:
    make_release(fetcher.unpacked, tasks=5)
    assert fetcher.fetch() == Fetched(fetcher.unpacked, None, None, 5)
    assert server.asked == []
    with pytest.raises(FetchError, match="which has no sum; check its tasks by: pytest-gta validate"):
        fetcher.check()
    assert fetcher.fetch(force=True).new
    assert LINES[1:] == [f"{fetcher.unpacked} is used first, and may be of an earlier archive: remove it"]


def test_a_folder_without_tasks(fetcher: Fetcher) -> None:
    fetcher.unpacked.mkdir(parents=True)
    with pytest.raises(FetchError, match=r"holds no end\.json that can be read .*move it away"):
        fetcher.fetch()


def test_unpacking(fetcher: Fetcher) -> None:
    fetched = fetcher.fetch(unpacked=True)
    assert fetched.path == fetcher.archive
    assert len(json.loads((fetcher.unpacked / "end.json").read_bytes())) == 6
    assert fetcher.fetch(unpacked=True) == replace(fetched, new=False)
    assert LINES[1:] == [f"{fetcher.unpacked} is there already and was left as it is"]


def test_a_folder_that_cannot_be_made(fetcher: Fetcher, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FetchError, match="cannot be written to: Not a directory; choose another by --to DIR"):
        replace(fetcher, folder=tmp_path / "file" / "data").fetch()


def test_one_download_for_many(fetcher: Fetcher, server: FileServer) -> None:
    done: list[Fetched] = []
    threads = [threading.Thread(target=lambda: done.append(fetcher.fetch())) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(fetched.new for fetched in done) == [False] * 5 + [True]
    assert len(server.asked) == 1


def test_waiting_is_said(fetcher: Fetcher) -> None:
    fetcher.folder.mkdir()
    with (fetcher.folder / KEPT[0]).open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        said = threading.Event()
        told = Told(lambda _: None, lambda *_: None, lambda line: (LINES.append(line), said.set())[0])
        thread = threading.Thread(target=replace(fetcher, told=told).fetch)
        thread.start()
        assert said.wait(60)
    thread.join(60)
    assert LINES[:1] == ["another process is fetching this dataset; waiting for it"]
    assert fetcher.archive.exists()


@pytest.mark.parametrize(
    ("mirror", "address"),
    [
        ("", "https://github.com/open-compass/GTA/releases/download/v0.2.0/gta_workflow_dataset.zip"),
        ("https://m.example/gta", "https://m.example/gta/gta_workflow_dataset.zip"),
        ("https://m.example", "https://m.example/gta_workflow_dataset.zip"),
        ("http://m.example:8080/x/renamed.ZIP", "http://m.example:8080/x/renamed.ZIP"),
        (" https://m.example/a b/?token=1#x ", "https://m.example/a%20b/gta_workflow_dataset.zip?token=1"),
    ],
)
def test_addresses(mirror: str, address: str) -> None:
    assert SOURCES["workflow"].address(mirror) == address


@pytest.mark.parametrize("mirror", ["m.example/gta", "file:///data", "ftp://m.example", "http://", "https://m:x/"])
def test_what_is_no_mirror(mirror: str) -> None:
    with pytest.raises(FetchError, match=r"--mirror \(GTA_MIRROR\): an http:// or https:// address is needed"):
        SOURCES["workflow"].address(mirror)


def test_the_official_addresses() -> None:
    assert {name: source.url for name, source in SOURCES.items()} == {
        "workflow": "https://github.com/open-compass/GTA/releases/download/v0.2.0/gta_workflow_dataset.zip",
        "atomic": "https://github.com/open-compass/GTA/releases/download/v0.1.0/gta_dataset.zip",
    }
