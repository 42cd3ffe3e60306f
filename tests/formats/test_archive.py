from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

from pytest_gta.formats.limits import MIB, ReadLimits
from pytest_gta.formats.read import read_file
from tests.formats.office import marked_encrypted, png, with_broken_checksum


def make(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_members_are_listed_and_read(tmp_path: Path) -> None:
    path = make(
        tmp_path / "site.zip", {"site/index.html": b"<h1>Hi</h1>", "site/a.png": png(), "raw.bin": b"\x00\x01\x02" * 50}
    )
    extract = read_file(path)
    assert (extract.kind, extract.facts["files inside"]) == ("archive", 3)
    assert "          11  site/index.html" in extract.text
    assert "=== member site/index.html (11 bytes" in extract.text
    assert "# Hi" in extract.text
    assert [p.where for p in extract.pictures] == ["site/a.png"]
    assert extract.faults == ("member raw.bin: file of unknown type: nothing is known to read it with",)


def test_encrypted_members(tmp_path: Path) -> None:
    extract = read_file(marked_encrypted(make(tmp_path / "shut.zip", {"a.txt": b"secret words"})))
    assert extract.faults == ("1 of 1 members are encrypted and need a password",)
    assert "a.txt (encrypted)" in extract.text
    assert "secret words" not in extract.text


def test_bomb_is_listed_and_not_opened(tmp_path: Path) -> None:
    path = make(tmp_path / "bomb.zip", {"zeros.txt": b"\0" * 40_000_000})
    extract = read_file(path)
    assert extract.facts["bytes unpacked"] == 40_000_000
    assert extract.faults[0].startswith("its members are not opened:")
    assert len(extract.text) < 1_000


def test_an_archive_in_an_archive_is_not_opened(tmp_path: Path) -> None:
    inner = make(tmp_path / "inner.zip", {"a.txt": b"deep"}).read_bytes()
    extract = read_file(make(tmp_path / "outer.zip", {"inner.zip": inner}))
    assert "deep" not in extract.text
    assert extract.faults[0].startswith("member inner.zip: zip archive")


def test_one_damaged_member_leaves_the_others(tmp_path: Path) -> None:
    path = make(tmp_path / "half.zip", {"a.txt": b"first words here", "b.txt": b"second words here"})
    extract = read_file(with_broken_checksum(path, "a.txt"))
    assert extract.faults == ("member a.txt is damaged (its checksum is wrong)",)
    assert "second words here" in extract.text


def test_a_member_whose_packed_data_is_damaged_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "half.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.txt", b"first words here")
        archive.writestr("b.txt", b"second words here")
        start = archive.getinfo("a.txt").header_offset + 30 + len("a.txt") + 9  # past the header of LZMA
    data = bytearray(path.read_bytes())
    data[start : start + 8] = b"\xff" * 8
    path.write_bytes(data)
    extract = read_file(path)
    assert extract.faults == ("member a.txt is damaged (its packed data is damaged)",)
    assert "second words here" in extract.text


def test_truncated_zip(tmp_path: Path) -> None:
    path = make(tmp_path / "cut.zip", {"a.txt": b"words " * 500})
    path.write_bytes(path.read_bytes()[:40])
    assert read_file(path).faults == (
        "zip archive: the file is incomplete or damaged: the directory at the end of the zip is missing",
    )


def test_tar_with_links_and_gzip(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("notes.txt")
        info.size = 5
        archive.addfile(info, io.BytesIO(b"hello"))
        link = tarfile.TarInfo("passwd")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    extract = read_file(path)
    assert "passwd (link or special file, not followed)" in extract.text
    assert "hello" in extract.text
    assert "root:" not in extract.text


def test_gzip_bomb_stops(tmp_path: Path) -> None:
    path = tmp_path / "bomb.txt.gz"
    with gzip.open(path, "wb") as out:
        for _ in range(80):
            out.write(b"\0" * MIB)
    extract = read_file(path, ReadLimits(max_unpacked_bytes=64 * MIB))
    assert extract.text == ""
    assert len(extract.faults) == 1
