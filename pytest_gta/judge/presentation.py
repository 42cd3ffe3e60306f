"""The evidence of a task in the form an endpoint takes, and the prompt prefix made of it."""

from __future__ import annotations

import re

from pytest_gta.benchmark.coverage import Coverage
from pytest_gta.benchmark.task import Brief
from pytest_gta.formats.wording import one_line
from pytest_gta.judge.evidence import Evidence, TextPart
from pytest_gta.judge.excerpts import excerpt
from pytest_gta.judge.prompt import Message, PromptStyle, boundary_token, leaf_messages, shared_messages
from pytest_gta.judge.reduction import half_of, has_pictures, without_pictures
from pytest_gta.judge.search import Passage, PassageIndex, SourceText
from pytest_gta.judge.shown import coverage
from pytest_gta.judge.suspicion import suspicious_passages
from pytest_gta.llm.model_error import ModelError, ModelErrorKind

ANSWER_LIMIT = {PromptStyle.FULL: 60_000, PromptStyle.COMPACT: 1_200}
"""Characters of a final answer that are shown: a dumped file must not crowd out the files."""

_ABOUT_PICTURES = re.compile(
    r"image|picture|vision|multi-?modal|content (?:type|parts?|must|should)|expected (?:a )?string|sequence",
    re.IGNORECASE,
)


class Presentation:
    """What all leaves of a task are shown. It gets smaller, once for all of them, when the endpoint cannot take it.

    Args:
        brief: The task.
        final_answer: The agent's last message.
        evidence: What was delivered.
        secret: What the boundary token is derived from.
        style: Which of the prompts.

    Attributes:
        edition: Raised with every change.
        messages: The prompt's prefix in the current edition.
    """

    def __init__(self, brief: Brief, final_answer: str, evidence: Evidence, secret: bytes, style: PromptStyle) -> None:
        self._brief, self._answer, self._style = brief, final_answer, style
        self._whole_answer = final_answer
        self._boundary = boundary_token(secret, evidence, final_answer, style)
        self._evidence = evidence
        self._unseen: list[str] = []
        """What is not shown beyond what the evidence says itself."""
        self._suspicions = suspicious_passages(final_answer, evidence)
        self._halved = False
        if len(final_answer) > ANSWER_LIMIT[style]:
            self._shorten_answer(ANSWER_LIMIT[style])
        self.edition = 0
        self.messages: list[Message] = []
        self._render()

    @property
    def note(self) -> str:
        """What the judge is not shown, and text that seems to speak to it rather than to the user."""
        found = [f"text that may be meant for the judge, read it yourself: {' / '.join(self._suspicions)}"]
        seen = [self._evidence.note] if self._evidence.note else []
        return "; ".join([*seen, *self._unseen, *(found if self._suspicions else [])])

    def note_for(self, requirement: str) -> str:
        """Return `note`, and what of the files was found for one requirement."""
        places: dict[str, list[str]] = {}
        for passage in self._found(requirement):
            wheres = places.setdefault(passage.name, [])
            if passage.where not in wheres:
                wheres.append(passage.where)
        found = "; ".join(f"{name}: {', '.join(wheres)}" for name, wheres in places.items())
        added = [f"shown for this requirement, found by its words: {one_line(found, 300)}"] if found else []
        return "; ".join(filter(None, [self.note, *added]))

    def coverage_for(self, requirement: str) -> Coverage | None:
        """Return how much of the delivered files a question about one requirement shows; None when it is not known."""
        if not self._evidence.contents and any(file.evidence != "not_taken" for file in self._evidence.files):
            return None
        shown = [part.shown for part in self._evidence.parts if part.shown is not None]
        return coverage(self._evidence.contents, shown, self._found(requirement))

    def question(self, requirement: str, correction: str = "") -> list[Message]:
        """Return the messages that ask about one requirement.

        Args:
            requirement: The leaf's requirement.
            correction: What was wrong with the last reply, for a second attempt.
        """
        return leaf_messages(
            self.messages,
            requirement,
            boundary=self._boundary,
            passages=self._found(requirement),
            style=self._style,
            correction=correction,
        )

    def reduce(self, error: ModelError, edition: int) -> bool:
        """Give up what an endpoint does not take.

        Args:
            error: What it said.
            edition: The edition that was sent; when there is a newer one, that one is worth sending.

        Returns:
            Whether the question is worth sending again.
        """
        if edition != self.edition:
            return error.kind in (ModelErrorKind.CONTEXT_EXCEEDED, ModelErrorKind.BAD_REQUEST)
        if error.kind is ModelErrorKind.CONTEXT_EXCEEDED and not self._halved:
            self._halved = True
            if len(self._answer) > ANSWER_LIMIT[PromptStyle.COMPACT]:
                self._shorten_answer(max(len(self._answer) // 2, ANSWER_LIMIT[PromptStyle.COMPACT]))
            self._replace(half_of(self._evidence), "half of the evidence was left out: too long for the judge")
            return True
        # The model's name stands before the endpoint's words, and may itself speak of vision.
        words = str(error).partition(": ")[2]
        if error.kind is ModelErrorKind.BAD_REQUEST and has_pictures(self._evidence) and _ABOUT_PICTURES.search(words):
            self._replace(without_pictures(self._evidence), "pictures were not shown: the judge's endpoint takes none")
            return True
        return False

    def _shorten_answer(self, limit: int) -> None:
        self._unseen.append(f"the final answer was cut from {len(self._answer)} to about {limit} characters")
        self._answer = excerpt(self._answer, limit)[0]

    def _replace(self, evidence: Evidence, note: str) -> None:
        self._evidence = evidence
        self._unseen.append(note)
        self.edition += 1
        self._render()

    def _found(self, requirement: str) -> tuple[Passage, ...]:
        if self._index is None:
            return ()
        if requirement not in self._passages:
            room = self._evidence.leaf_characters
            self._passages[requirement] = self._index.best(requirement, room, self._shown_text)
        return self._passages[requirement]

    def _render(self) -> None:
        self._passages: dict[str, tuple[Passage, ...]] = {}
        self._shown_text = "\n".join(part.text for part in self._evidence.parts if isinstance(part, TextPart))
        cut = [source for source in self._evidence.sources if source.text not in self._shown_text]
        if self._evidence.leaf_characters and self._answer != self._whole_answer:
            cut.append(SourceText("the final answer", self._whole_answer))
        self._index = PassageIndex(cut) if cut and self._evidence.leaf_characters else None
        self.messages = shared_messages(
            self._brief,
            self._answer,
            self._evidence,
            boundary=self._boundary,
            style=self._style,
            note="; ".join(self._unseen),
        )
