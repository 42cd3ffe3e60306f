"""``pytest-gta doctor``: what is here, what is missing and what brings it, without a key in its words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_gta.cli import main
from pytest_gta.datasets.record import FetchRecord, write_record
from pytest_gta.formats import renderers
from pytest_gta.formats.renderers import Renderer, Renderers
from pytest_gta.run import machine
from pytest_gta.run.machine import Finding, State, inspect
from tests.openai_server import Answer, OpenAIServer, RecordedRequest
from tests.release_factory import make_release

SUBJECTS = [
    "Basics",
    "Confinement of tools",
    "Extras",
    "Tools",
    "Renderers",
    "Fonts",
    "Models on this machine",
    "Datasets",
    "Keys",
    "Endpoints",
]
KEY = "sk-planted-0123456789"


@pytest.fixture(autouse=True)
def _clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "EVAL_OPENAI_API_KEY", "EVAL_OPENAI_BASE_URL", "GTA_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_it_looks_at_everything_and_shows_no_key(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line and not line.startswith(" ")][:-1] == SUBJECTS
    assert re.search(r"ok  pytest +\d", out)
    assert re.search(r"ok  OPENAI_API_KEY +set ", out)
    assert "(not asked; --online asks)" in out
    assert KEY not in out
    assert out.endswith("Nothing is missing that every run needs.\n")


def test_json_holds_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    assert list(seen) == SUBJECTS
    python = next(finding for finding in seen["Basics"] if finding["what"] == "Python")
    assert python["state"] == "ok"


def test_what_every_run_needs_is_the_only_thing_that_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "_requirements", lambda: ["pytest>=999", "no-such-thing>=1", "nope; extra == 'tools'"])
    findings = dict(inspect({}))
    broken = [finding for found in findings.values() for finding in found if finding.state is State.BROKEN]
    assert broken == [
        Finding(
            State.BROKEN,
            "dependencies",
            "missing or too old: pytest, no-such-thing",
            "pip install --upgrade pytest no-such-thing",
        )
    ]
    extra = next(finding for finding in findings["Extras"] if finding.what == "tools")
    assert (extra.state, extra.remedy) == (State.MISSING, "pip install 'pytest-gta[tools]'")
    assert extra.detail.endswith("missing: nope")
    assert main(["doctor"]) == 1
    assert "!!  dependencies" in capsys.readouterr().out


def test_renderers_are_those_that_a_run_would_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("soffice", "google-chrome"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    chrome = Renderer("Chromium", tmp_path / "google-chrome", "Chrome 999")

    def found(*programs: Renderer | None, confined: bool = True, path: str = str(tmp_path)) -> list[str]:
        monkeypatch.setenv("PATH", path)
        monkeypatch.setattr(renderers, "find_renderers", lambda: Renderers(*programs, confined=confined))
        return [f"{finding.state.value} {finding.what}: {finding.detail}" for finding in machine._renderers()]

    dead = f"missing LibreOffice: {tmp_path}/soffice is there and does not start, so no run uses it"
    assert found(None, chrome) == [dead, "ok Chromium: Chrome 999"]
    weak = ", with limits on time and memory only: bubblewrap does not work here"
    assert found(None, chrome, confined=False)[1] == f"ok Chromium: Chrome 999{weak}"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert found(None, None, confined=False)[1] == (
        f"missing Chromium: {tmp_path}/google-chrome is not used: for root it needs bubblewrap, which does not work"
    )
    absent = [f"missing {what}: not found; no run needs it" for what in ("LibreOffice", "Chromium")]
    assert found(None, None, path=str(tmp_path / "nowhere")) == absent


def test_online_asks_each_endpoint() -> None:
    def models(request: RecordedRequest) -> Answer:
        return Answer(body={"data": []}) if request.api_key == KEY else Answer(status=401, body={})

    with OpenAIServer(routes={"/v1/models": models}) as server:
        environment = {
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": server.base_url,
            "EVAL_OPENAI_API_KEY": "sk-other-0123456789",
            "GTA_VISION_MODEL": "seer",
            "GTA_VISION_BASE_URL": "http://127.0.0.1:9/v1",
        }
        found = {f.what: f for f in machine._endpoints(environment, online=True)}
    assert found["model"].state is State.OK and found["model"].detail.endswith(": answers")
    assert found["judge"].detail.endswith("refuses the key (401)")
    assert "cannot be reached" in found["vision"].detail
    assert {r.path for r in server.requests} == {"/v1/models"}
    assert not any(KEY in finding.detail for finding in found.values())


def test_an_address_that_is_none_is_said_without_its_key() -> None:
    environment = {"GTA_BASE_URL": f"ftp://user:{KEY}@host/v1"}
    [finding] = machine._endpoints(environment, online=True)
    assert finding.state is State.MISSING and KEY not in finding.detail


def test_the_release_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = next(found for subject, found in inspect({"GTA_DATA": str(tmp_path)}) if subject == "Datasets")
    assert missing == [
        Finding(State.MISSING, "workflow", "runs take the bundled tasks, mini", "pytest-gta fetch workflow")
    ]
    archive = make_release(tmp_path / "gta_workflow_dataset.zip", tasks=1)
    write_record(archive, FetchRecord("workflow", "v0.2.0", 1, "ab" * 32, "", "2026-01-31", ""))
    found = next(found for subject, found in inspect({"GTA_DATA": str(tmp_path)}) if subject == "Datasets")
    assert found == [Finding(State.OK, "workflow", f"{archive}, sha256 abababababab")]
