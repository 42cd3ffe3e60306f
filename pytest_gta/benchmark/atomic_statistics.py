"""What a dataset in GTA-Atomic's shape consists of, all questions counted, and what is published of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pytest_gta.benchmark.answer_key import OPEN, PICTURE
from pytest_gta.benchmark.atomic import AtomicDataset


@dataclass(frozen=True, slots=True)
class AtomicStatistics:
    """Counts of questions.

    Attributes:
        questions: All of them.
        keyed: Those with an answer key, which can be run.
        open: Those with an open answer.
        pictures: Those whose answer is a picture.
        files: Different input files.
        tools_a_question: Number of tools to the number of questions that offer so many.
        tools: Tool to the number of questions that offer it, most first.
    """

    questions: int
    keyed: int
    open: int
    pictures: int
    files: int
    tools_a_question: Mapping[int, int]
    tools: Mapping[str, int]


PUBLISHED_QUESTIONS, PUBLISHED_TEXTS, PUBLISHED_PICTURES, PUBLISHED_FILES, PUBLISHED_TOOLS = 229, 172, 57, 252, 14
PUBLISHED_TOOLS_A_QUESTION: Mapping[int, int] = MappingProxyType({1: 17, 2: 147, 3: 50, 4: 15})
"""Published of GTA-Atomic; not counted by this program."""


def atomic_statistics(dataset: AtomicDataset) -> AtomicStatistics:
    """Count a dataset; no input file is read."""
    offered = [dataset.offered(question) for question in dataset.question_ids]
    tools = Counter(name for names in offered for name in names)
    return AtomicStatistics(
        questions=len(dataset.question_ids),
        keyed=len(dataset.answer_keys),
        open=dataset.left_out.get(OPEN, 0),
        pictures=dataset.left_out.get(PICTURE, 0),
        files=len({path for question in dataset.question_ids for path in dataset.files_of(question)}),
        tools_a_question=dict(sorted(Counter(map(len, offered)).items())),
        tools=dict(sorted(tools.items(), key=lambda item: (-item[1], item[0]))),
    )
