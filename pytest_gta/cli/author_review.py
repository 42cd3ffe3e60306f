"""The review of a drafted task, as ``pytest-gta author`` has it done: in the terminal, by a file, or unseen."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_gta.settings import SettingsError

if TYPE_CHECKING:
    from pytest_gta.authoring.raw_request import RawRequest
    from pytest_gta.authoring.work import AuthoringWork


def accept_all(work: AuthoringWork) -> None:
    """Accept every proposal that is not decided on, and record that nobody looked."""
    from pytest_gta.authoring.review import Choice, Decision
    from pytest_gta.authoring.session import now

    for node in work.undecided:
        work.session.decide(Decision(node=node, choice=Choice.ACCEPT, by="--yes", at=now()))


def review_by_file(work: AuthoringWork, path: Path, *, named: bool) -> None:
    """Write the review, or read what a person has filled in.

    Args:
        work: The task in the making.
        path: The file.
        named: Whether the user named it, rather than having no terminal to be asked in.

    Raises:
        SettingsError: When the file cannot be used.
    """
    from pytest_gta.authoring.review_file import ReviewFault, read_review, write_review
    from pytest_gta.authoring.session import now

    key = work.session.folder.name
    again = "the same command" if named else f"the same command with --review-file {shlex.quote(str(path))}"
    if not path.exists():
        write_review(path, key, work.draft.request, work.checkpoints, work.proposals, work.session.decisions)
        print(f"written  {path}")
        print(f"next     give every entry a decision in it, then run {again}")
        return
    if not named:
        print(f"open     {len(work.undecided)} decisions; make them in {path}, then run {again}")
        return
    try:
        decisions, missing = read_review(path, key, work.proposals, now())
    except ReviewFault as error:
        raise SettingsError(str(error)) from None
    if missing:
        shown = ", ".join(missing[:8]) + (" ..." if len(missing) > 8 else "")
        print(f"open     {len(missing)} of {len(work.proposals)} entries of {path} have no decision: {shown}")
        return
    for decision in decisions:
        work.session.decide(decision)


def review_by_terminal(work: AuthoringWork) -> None:
    """Ask for every decision that is open; what is decided stays decided when the person stops."""
    from pytest_gta.authoring.session import now
    from pytest_gta.authoring.terminal_review import ReviewStopped, TerminalReview

    review = TerminalReview(input, print, edited, now)
    decided = set(work.session.decisions)
    try:
        for decision in review.decide(work.draft.request, work.checkpoints, work.proposals, decided):
            work.session.decide(decision)
    except ReviewStopped:
        print()
        print(f"stopped  {len(work.undecided)} of {len(work.proposals)} are open; the same command goes on from here")


def edited(text: str) -> str:
    """Return a text as the user changes it: in ``$VISUAL`` or ``$EDITOR`` where one is set, else typed anew.

    Raises:
        EOFError: When the input ends before the text does.
    """
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not editor:
        if "\n" not in text:
            return input("new words: ")
        print("new words; a line with only a dot ends them (set EDITOR to change them in an editor)")
        return "\n".join(iter(input, "."))
    with tempfile.TemporaryDirectory(prefix="gta-author-") as folder:
        file = Path(folder) / "words.txt"
        file.write_text(text + "\n", "utf-8")
        try:
            code = subprocess.run([*editor, str(file)], check=False).returncode  # noqa: S603 - the user's own editor
        except OSError as error:
            print(f"{editor[0]} cannot be started: {error.strerror}", file=sys.stderr)
            return ""
        changed = file.read_text("utf-8", "replace").strip()
    return "" if code or changed == text.strip() else changed


def critique_preview(raw: RawRequest, inputs: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """Return what the critic would be told, with words in place of the draft that does not exist yet."""
    from pytest_gta.authoring.draft import Category, DraftAnswer, DraftGroup
    from pytest_gta.authoring.prompts import critique_messages

    group = DraftGroup(requirement="(the drafted checkpoints)", weight=1, leaves=[])
    draft = DraftAnswer(name="draft", category=Category.PLANNING, request="(the drafted request)", checkpoints=[group])
    return critique_messages(raw.text, inputs, draft, (), "")
