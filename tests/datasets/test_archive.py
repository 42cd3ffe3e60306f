from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from pytest_gta.datasets.archive import ArchiveLimits, Contents, look_into, read_member, read_through, unpack
from pytest_gta.datasets.sources import FetchError
from tests.release_factory import make_release

FILES = {"set/end.json": b'{"1": {}}', "set/resources/a.txt": b"hello" * 100, "README": b"-"}


def make_zip(path: Path, files: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return path


def no_progress(_done: int, _total: int | None) -> None:
    pass


def test_what_a_release_holds(tmp_path: Path) -> None:
    path = make_release(tmp_path / "d.zip", tasks=6)
    contents = look_into(path, "end.json")
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    assert contents == Contents("gta_workflow_dataset/", len(members), sum(member.file_size for member in members))


def test_only_the_dataset_counts(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "d.zip", {**FILES, "__MACOSX/set/._end.json": b"x", "set/deep/end.json": b"{}"})
    assert look_into(path, "end.json") == Contents("set/", 3, 511)
    assert read_member(path, "set/end.json") == b'{"1": {}}'


@pytest.mark.parametrize(
    "name",
    ["../evil", "set/../../evil", "/etc/passwd", "C:/evil", "..\\evil", "set\\evil", "set/..", "//host/evil", "a\0b"],
)
def test_names_that_lead_out(tmp_path: Path, name: str) -> None:
    path = make_zip(tmp_path / "d.zip", FILES)
    with zipfile.ZipFile(path, "a") as archive:
        member = zipfile.ZipInfo("x")
        member.filename = name
        archive.writestr(member, b"evil")
    with pytest.raises(FetchError, match="a name that leads out of its folder; nothing of it was used"):
        look_into(path, "end.json")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_special_files(tmp_path: Path, kind: int) -> None:
    path = make_zip(tmp_path / "d.zip", FILES)
    with zipfile.ZipFile(path, "a") as archive:
        member = zipfile.ZipInfo("set/link")
        member.create_system = 3
        member.external_attr = (kind | 0o777) << 16
        archive.writestr(member, b"/etc/passwd")
    with pytest.raises(FetchError, match="'set/link', a link or a special file"):
        look_into(path, "end.json")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("set/Report.pdf", "set/report.PDF"),
        ("set/a\u0301.txt", "set/\u00e1.txt"),
        ("set/stra\u00dfe", "set/STRASSE"),
        ("set/a", "set/a/b"),
        ("set/A/b", "set/a"),
    ],
)
def test_two_files_for_one_name(tmp_path: Path, one: str, other: str) -> None:
    path = make_zip(tmp_path / "d.zip", {**FILES, one: b"1", other: b"2"})
    with pytest.raises(FetchError, match="has two files for one name"):
        look_into(path, "end.json")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_name_twice(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "d.zip", FILES)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("set/end.json", b"{}")
    with pytest.raises(FetchError, match=r"two files for one name, 'set/end\.json'"):
        look_into(path, "end.json")


def test_folders_may_be_listed(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "d.zip", {"set/": b"", "set/resources/": b"", **FILES})
    assert look_into(path, "end.json").files == 2


def test_an_encrypted_file(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "d.zip", FILES, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(FetchError, match="which is encrypted"):
        look_into(path, "end.json")


def test_a_bomb_by_what_it_says(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "d.zip", {**FILES, "set/zeros": bytes(3_000_000)})
    with pytest.raises(FetchError, match=r"unpacks to 3,000,5\d\d; nothing of it was used"):
        look_into(path, "end.json", ArchiveLimits(ratio_from=1_000_000))
    with pytest.raises(FetchError, match=r"unpacks to 3,000,5\d\d"):
        look_into(path, "end.json", ArchiveLimits(bytes=2_000_000))
    with pytest.raises(FetchError, match="holds 4 files, more than 3"):
        look_into(path, "end.json", ArchiveLimits(files=3))
    assert look_into(path, "end.json").files == 3


def lie(path: Path, name: str, size: int) -> Path:
    """Let a file's entry in the directory say another unpacked size."""
    data = bytearray(path.read_bytes())
    place = data.index(name.encode(), data.index(b"PK\x01\x02")) - 46
    data[place + 24 : place + 28] = size.to_bytes(4, "little")
    path.write_bytes(data)
    return path


def test_a_bomb_by_what_it_is(tmp_path: Path) -> None:
    path = lie(make_zip(tmp_path / "d.zip", {**FILES, "set/zeros": bytes(3_000_000)}), "set/zeros", 10)
    contents = look_into(path, "end.json")
    assert contents.bytes == 519
    with pytest.raises(FetchError, match="'set/zeros' in the archive is damaged"):
        unpack(path, contents, tmp_path / "out", no_progress)
    with pytest.raises(FetchError, match="'set/zeros' in the archive is damaged"):
        read_through(path, no_progress)
    assert [file.name for file in tmp_path.iterdir()] == ["d.zip"]


def test_files_that_overlap(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "d.zip", {**FILES, "set/b": bytes(range(256)) * 8, "set/c": b"c"}, zipfile.ZIP_STORED)
    data = bytearray(path.read_bytes())
    place = data.index(b"set/c", data.index(b"PK\x01\x02")) - 46
    data[place + 20 : place + 24] = (1 << 20).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(FetchError, match="overlap"):
        look_into(path, "end.json")


@pytest.mark.parametrize("cut", [0, 10, 300])
def test_half_a_zip(tmp_path: Path, cut: int) -> None:
    path = make_zip(tmp_path / "d.zip", FILES)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(FetchError, match=r"d\.zip is not a whole zip"):
        look_into(path, "end.json")


def test_another_archive(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match=r"d\.zip holds no dataset\.json, so it is another archive"):
        look_into(make_zip(tmp_path / "d.zip", FILES), "dataset.json")


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "d.zip", FILES, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"hellohello", b"jellohello", 1))
    with pytest.raises(FetchError, match=r"'set/resources/a\.txt' in the archive is damaged \(Bad CRC-32"):
        read_through(path, no_progress)


def test_unpacking(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "d.zip", FILES)
    told: list[tuple[int, int | None]] = []
    (tmp_path / ".out.unpacking-1").mkdir()
    (tmp_path / ".out.unpacking-1" / "half").write_text("")
    unpack(path, look_into(path, "end.json"), tmp_path / "out", lambda done, total: told.append((done, total)))
    assert {str(file.relative_to(tmp_path / "out")): file.read_bytes() for file in tmp_path.glob("out/**/*.*")} == {
        "end.json": b'{"1": {}}',
        "resources/a.txt": b"hello" * 100,
    }
    assert told[-1] == (509, 509)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o755
    assert sorted(file.name for file in tmp_path.iterdir()) == ["d.zip", "out"]


def test_an_index_too_large_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_gta.datasets.archive._MOST_IN_MEMORY", 8)
    with pytest.raises(FetchError, match=r"set/end\.json in the archive has 9 bytes, too many"):
        read_member(make_zip(tmp_path / "d.zip", FILES), "set/end.json")
