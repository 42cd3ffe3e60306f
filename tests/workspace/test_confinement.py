"""The confinement is the strongest that works here, found by trying."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gta.workspace import confinement
from pytest_gta.workspace.confinement import BACKENDS, ConfinementUnavailable, choose_confinement


@pytest.fixture(autouse=True)
def _tried_anew() -> None:
    confinement._fault_of.cache_clear()


def test_auto_takes_the_first_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = {"sandlock": "Landlock is too old", "bwrap": "", "process": ""}
    monkeypatch.setattr(confinement, "_fault_of", lambda backend: faults[backend])
    assert choose_confinement().backend == "bwrap"
    faults["bwrap"] = "no user namespaces"
    chosen = choose_confinement("auto")
    assert chosen.backend == "process"
    assert chosen.note.startswith("WARNING process limits only")
    assert "sandlock: Landlock is too old; bwrap: no user namespaces" in chosen.note


def test_one_that_is_asked_for_and_does_not_work_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement.shutil, "which", lambda name: None)
    with pytest.raises(ConfinementUnavailable, match=r"--gta-sandbox=bwrap does not work here: bubblewrap is not inst"):
        choose_confinement("bwrap")


def test_what_the_backend_itself_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ConfinementUnavailable) as refused:
        choose_confinement("bwrap")
    assert str(refused.value) == (
        "--gta-sandbox=bwrap does not work here: bwrap: No permissions to create new namespace; auto takes what does"
    )


def test_an_unknown_one_names_those_there_are() -> None:
    with pytest.raises(ValueError, match="there are auto, sandlock, bwrap, process, off"):
        choose_confinement("docker")


def test_a_leaking_confinement_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    # Limits alone keep nothing from being read: posing as a stronger one, they are found out.
    real = confinement.Confinement
    monkeypatch.setattr(confinement, "Confinement", lambda backend, note: real("process", note))
    monkeypatch.setattr(confinement.shutil, "which", lambda name: "/usr/bin/bwrap")
    assert confinement._fault_of("bwrap") == "files outside the workspace can be read in it"


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_works_or_says_why_not(backend: str) -> None:
    try:
        chosen = choose_confinement(backend)
    except ConfinementUnavailable as unavailable:
        assert str(unavailable).startswith(f"--gta-sandbox={backend} does not work here: ")
    else:
        assert chosen.backend == backend
        assert "\n" not in chosen.note
