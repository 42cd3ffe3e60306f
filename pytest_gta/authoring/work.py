"""The road of one task in the making: read, draft, criticise. Each step is on disk before the next begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from pytest_gta.authoring.author import Author
from pytest_gta.authoring.critique import Proposal, proposals_in_order
from pytest_gta.authoring.draft import DraftAnswer, draft_nodes
from pytest_gta.authoring.raw_request import RawRequest, shown_inputs
from pytest_gta.authoring.review import Reviewed, after_review
from pytest_gta.authoring.session import Session
from pytest_gta.benchmark.task import Checkpoint
from pytest_gta.benchmark.usage import Usage
from pytest_gta.workspace.confined_process import ConfinedProcess
from pytest_gta.workspace.confinement import choose_confinement


class AuthoringWork:
    """One task in the making.

    Args:
        raw: What it is made from.
        session: Its state.
        tell: Told in a line of every step.
    """

    def __init__(self, raw: RawRequest, session: Session, tell: Callable[[str], None]) -> None:
        self._raw, self.session, self._tell = raw, session, tell

    @cached_property
    def inputs(self) -> tuple[tuple[str, str], ...]:
        """The input files as a model is shown them, read in a confined process."""
        with reading([file.path for file in self._raw.files]) as process:
            return tuple(shown_inputs(self._raw.files, process))

    def ask(self, author: Author, spent: Callable[[str, Usage], None]) -> None:
        """Have the task drafted and the draft criticised, as far as that is not done yet.

        Args:
            author: Asks the model.
            spent: Told what each step took.

        Raises:
            NoAnswer: When the model gives nothing of use; what was done before stays done.
        """
        if self.session.state.draft is None:
            self._tell("drafting")
            draft = author.draft(self._raw, self.inputs, lambda usage: self._spend("draft", usage, spent))
            self.session.record(draft=draft)
        if self.session.state.critique is None:
            self._tell("criticising the draft")
            critique = author.critique(
                self._raw, self.inputs, self.draft, lambda usage: self._spend("critique", usage, spent)
            )
            self.session.record(critique=critique)

    def _spend(self, step: str, usage: Usage, spent: Callable[[str, Usage], None]) -> None:
        self.session.spend(step, usage)
        spent(step, usage)

    @property
    def draft(self) -> DraftAnswer:
        """The draft."""
        draft = self.session.state.draft
        assert draft is not None
        return draft

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """The draft's tree."""
        return draft_nodes(self.draft)

    @property
    def proposals(self) -> list[Proposal]:
        """The critic's proposals, one a node, in the draft's order."""
        critique = self.session.state.critique
        assert critique is not None
        return proposals_in_order(critique, self.checkpoints)

    @property
    def undecided(self) -> list[str]:
        """The nodes on which nothing is decided yet."""
        return [proposal.node for proposal in self.proposals if proposal.node not in self.session.decisions]

    def reviewed(self) -> Reviewed:
        """Return what comes of the decisions; there has to be one on every node."""
        return after_review(self.draft.request.strip(), self.checkpoints, self.proposals, self.session.decisions)


@contextmanager
def reading(paths: Sequence[Path]) -> Iterator[ConfinedProcess]:
    """Give a confined process that may read some files, and end it.

    Args:
        paths: The files.
    """
    process = ConfinedProcess(choose_confinement("auto"), readable=list(paths))
    try:
        yield process
    finally:
        process.close()
