"""A review in the terminal: one node after the other, every decision recorded as it is made."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence

from pytest_gta.authoring.critique import REQUEST, Action, Proposal
from pytest_gta.authoring.review import Choice, Decision, choices_for
from pytest_gta.benchmark.task import Checkpoint
from pytest_gta.reporters.visible_text import visible

TERMINAL = "terminal"
"""How a decision says that it was made here."""
WIDTH = 79


class ReviewStopped(Exception):
    """The person stopped before everything was decided; what was decided is recorded."""


class TerminalReview:
    """Asks a person.

    Args:
        ask: Shows a prompt and returns the line that was typed; EOFError when there is none.
        say: Shows a line.
        edit: Returns a text as the person changed it, "" when they did not.
        now: The time, as it is recorded.
    """

    def __init__(
        self, ask: Callable[[str], str], say: Callable[[str], None], edit: Callable[[str], str], now: Callable[[], str]
    ) -> None:
        self._ask, self._say, self._edit, self._now = ask, say, edit, now

    def decide(
        self, request: str, checkpoints: Sequence[Checkpoint], proposals: Sequence[Proposal], decided: set[str]
    ) -> Iterator[Decision]:
        """Yield a decision on every node that has none.

        Args:
            request: As drafted.
            checkpoints: As drafted.
            proposals: One a node, in order.
            decided: The nodes that have one already.

        Raises:
            ReviewStopped: When the person stops.
        """
        nodes = {node.id: node for top in checkpoints for node in top.walk()}
        for number, proposal in enumerate(proposals, 1):
            if proposal.node in decided:
                continue
            node = nodes.get(proposal.node)
            self._show(f"{number}/{len(proposals)}", request if node is None else node.requirements, node, proposal)
            yield self._decision(proposal, request if node is None else node.requirements, node)

    def _show(self, position: str, drafted: str, node: Checkpoint | None, proposal: Proposal) -> None:
        what = (
            "request" if node is None else f"{node.id}, {'leaf' if node.is_leaf else 'group'}, weight {node.weight:g}"
        )
        self._say("")
        self._say(f"[{position}] {what}")
        self._block("  ", drafted)
        self._block(f"  critic: {proposal.action.value} - ", proposal.reason)
        if proposal.action in (Action.AUGMENT, Action.REFINE):
            weight = f" (weight {proposal.weight})" if proposal.weight and node is not None else ""
            self._say(f"  {'adds' if proposal.action is Action.AUGMENT and node else 'proposes'}{weight}:")
            self._block("  > ", proposal.text)

    def _decision(self, proposal: Proposal, drafted: str, node: Checkpoint | None) -> Decision:
        choices = choices_for(proposal)
        keys = {choice.value[0]: choice for choice in choices}
        offered = ", ".join(f"[{choice.value[0]}]{choice.value[1:]}" for choice in choices)
        while True:
            typed = self._typed(self._ask, f"{offered}, [q]uit? ").strip().lower()
            if typed in ("q", "quit"):
                raise ReviewStopped
            choice = keys.get(typed) or next((c for c in choices if c.value == typed), None)
            if choice is None:
                self._say(f"  {typed!r} is none of them")
                continue
            if choice is not Choice.EDIT:
                return Decision(node=proposal.node, choice=choice, by=TERMINAL, at=self._now())
            words = self._typed(self._edit, proposal.text.strip() or drafted).strip()
            if not words:
                self._say("  nothing was changed")
                continue
            weight = None if proposal.node == REQUEST else self._weight(float(proposal.weight), node)
            return Decision(node=proposal.node, choice=choice, text=words, weight=weight, by=TERMINAL, at=self._now())

    def _weight(self, proposed: float, node: Checkpoint | None) -> float | None:
        usual = proposed or (node.weight if node else 1.0)
        while True:
            typed = self._typed(self._ask, f"weight [{usual:g}]: ").strip()
            if not typed:
                return None
            try:
                weight = float(typed)
            except ValueError:
                weight = 0.0
            if 0 < weight < 1e6:
                return weight
            self._say("  a weight is a number above 0")

    @staticmethod
    def _typed(how: Callable[[str], str], shown: str) -> str:
        try:
            return how(shown)
        except (EOFError, KeyboardInterrupt):
            raise ReviewStopped from None

    def _block(self, lead: str, text: str) -> None:
        """Show a text, wrapped below its lead, its own lines kept."""
        for paragraph in visible(text).strip().splitlines() or [""]:
            for line in textwrap.wrap(paragraph, WIDTH - 4, initial_indent=lead, subsequent_indent="    ") or [""]:
                self._say(line)
            lead = "  > " if lead == "  > " else "  "
