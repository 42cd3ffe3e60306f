"""How a task is worded: leaves that are steps, say too little or repeat each other, requests that give things away.

These are signs, found by patterns: a person decides on each. Nothing here looks at what words mean.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from pytest_gta.benchmark.file_names import file_names
from pytest_gta.benchmark.finding import Finding, Level
from pytest_gta.benchmark.kinds import kind_of, mentioned_kinds
from pytest_gta.benchmark.task import Checkpoint, Task
from pytest_gta.benchmark.tool_names import TOOL_CAPABILITIES

SHORT_REQUIREMENT = 12
"""Characters below which a leaf hardly says what is expected."""

USUAL_LEAVES = (3, 19)
"""The fewest and the most leaves of a task of the benchmark."""

NEAR = 0.7
"""Share of words that two leaves have in common from which they ask for the same."""


def wording_findings(task: Task) -> Iterator[Finding]:
    """Yield what is odd in the words of one task."""
    yield from _leaves(task)
    yield from _near_leaves(task)
    yield from _request(task)
    yield from _answers_given(task)
    yield from _deliverables(task)


def _warning(check: str, task: Task, node_id: str | None, message: str) -> Finding:
    return Finding(Level.WARNING, check, task.id, node_id, message)


# -- leaves -----------------------------------------------------------------------------------------------------------

_VERBS = (
    "read|open|load|search|browse|look|use|call|run|execute|invoke|extract|parse|download|fetch|import|transcribe|inspect|"
    "gather|collect|identify|analy[sz]e|review|calculate|compute|determine|check|verify|convert|process"
)
_OBJECT = r"(?:the|all|each|every|both|its|their|a|an|any|for|through|into|up|in|from|with|\S+\.[a-z][a-z0-9]{1,4})"
_STEP = re.compile(
    rf"\A(?:step \d+\b|(?:first|then|next|finally|to begin)\b,?\s+(?:{_VERBS})\b)"
    rf"|\A(?:{_VERBS})\s+{_OBJECT}(?=\s|\Z)"
    r"|\b(?:the|an?) (?:ai )?(?:agent|assistant|model)\b (?:must |should |has to |first )*"
    rf"(?:\w+ly )?(?:{_VERBS})(?:s|es|ed)?\b"
    r"|\b(?:before|after|by) (?:reading|opening|searching|extracting|calling|running|using|parsing|downloading)\b"
    r"|\b(?:uses?|used|using|calls?|called|invokes?|runs?|ran) (?:the |an? )?[\w-]+ (?:tool|api|function|library)\b",
    re.IGNORECASE,
)


def step_in(text: str) -> str:
    """Return the words of a requirement that describe a step rather than a result, "" when there are none."""
    match = _STEP.search(" ".join(text.split()))
    return match.group().strip() if match else ""


def _leaves(task: Task) -> Iterator[Finding]:
    same: dict[str, list[str]] = defaultdict(list)
    for leaf in task.leaves:
        text = " ".join(leaf.requirements.split())
        same[text.casefold()].append(leaf.id)
        if len(text) < SHORT_REQUIREMENT:
            message = f"the requirement {text!r} is too short to be judged alike twice"
            yield _warning("leaf-short", task, leaf.id, message)
        for name in named_tools(text):
            message = f"the requirement names the tool {name}; it should state a result, not a step"
            yield _warning("leaf-names-tool", task, leaf.id, message)
        if step := step_in(text):
            message = f"{step!r} is a step, which the deliverables do not show; state what must be true of the result"
            yield _warning("leaf-is-step", task, leaf.id, message)
    for ids in same.values():
        if len(ids) > 1:
            message = f"has the same requirement as {', '.join(ids[:-1])}: it counts {len(ids)} times"
            yield _warning("leaf-twice", task, ids[-1], message)
    fewest, most = USUAL_LEAVES
    if not fewest <= len(task.leaves) <= most:
        leaves = "1 leaf" if len(task.leaves) == 1 else f"{len(task.leaves)} leaves"
        message = f"has {leaves}; tasks of the benchmark have {fewest} to {most}"
        yield Finding(Level.NOTE, "leaf-count", task.id, None, message)


_WORD = re.compile(r"[^\W_]+(?:[.,'-][^\W_]+)*")
_SHORT_WORD = 3
"""Letters of a word that says too little to be compared."""


def _near_leaves(task: Task) -> Iterator[Finding]:
    """Compare the words of leaves; two that differ in a number or a name ask for different things."""
    seen: list[tuple[Checkpoint, tuple[str, ...], frozenset[str]]] = []
    for leaf in task.leaves:
        written = [match.group() for match in _WORD.finditer(leaf.requirements)]
        telling = tuple(w for n, w in enumerate(written) if _is_telling(w) and (n or not w.istitle()))
        plain = frozenset(_stem(w.casefold()) for w in written if len(w) > _SHORT_WORD)
        for other, its_telling, its_plain in seen:
            alike = len(plain & its_plain) / max(1, len(plain | its_plain))
            if telling == its_telling and alike >= NEAR and _squeezed(leaf) != _squeezed(other):
                message = f"asks for nearly the same as {other.id}: what one is worth would count twice"
                yield _warning("leaf-near", task, leaf.id, message)
                break
        seen.append((leaf, telling, plain))


def _is_telling(word: str) -> bool:
    """Whether a word is a number or a name by its look."""
    return not word.islower() or any(sign.isdigit() for sign in word)


def _stem(word: str) -> str:
    return re.sub(r"(?:ies|es|s|ed|ing)$", "", word) if len(word) > 4 else word


def _squeezed(leaf: Checkpoint) -> str:
    return " ".join(leaf.requirements.split()).casefold()


# -- the request ------------------------------------------------------------------------------------------------------

_RUBRIC_WORDS = re.compile(
    r"\b(?:checkpoints? (?:tree|list|ids?)|you(?:r work)? (?:will|are going to) be (?:graded|scored|judged)"
    r"|cp\d+(?:-\d+)+)\b",
    re.IGNORECASE,
)
_TOLERANCE = re.compile(r"\b(?:within|at most|at least|up to) \S+", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")


def _request(task: Task) -> Iterator[Finding]:
    for name in named_tools(task.request):
        message = f"the request names the tool {name}, and so gives a step away"
        yield _warning("request-names-tool", task, None, message)
    if found := _RUBRIC_WORDS.search(task.request):
        message = f"the request speaks of how it is graded ({found.group()!r}); a person would not"
        yield _warning("request-names-rubric", task, None, message)


def _answers_given(task: Task) -> Iterator[Finding]:
    """Find leaves all of whose figures stand in the request: there is nothing to find out."""
    stated = set(_figures(task.request))
    for leaf in task.leaves:
        figures = _figures(leaf.requirements)
        if figures and stated.issuperset(figures):
            shown = ", ".join(dict.fromkeys(figures.values()))
            message = f"the request already states what this leaf expects ({shown}); ask for it, do not tell it"
            yield _warning("answer-given", task, leaf.id, message)


def _figures(text: str) -> dict[str, str]:
    """Return the numbers of a text that are no counts, years or tolerances by their look, as they are written."""
    for name in file_names(text):
        text = text.replace(name, " ")
    text = _TOLERANCE.sub(" ", text)
    found = {}
    for match in _NUMBER.finditer(text):
        plain = match.group().replace(",", "").rstrip(".")
        whole = plain.isdigit()
        if (whole and len(plain) < 4) or (whole and 1900 <= int(plain) <= 2100):
            continue
        found[plain] = match.group()
    return found


# -- tools and files that are named -----------------------------------------------------------------------------------


def named_tools(text: str) -> list[str]:
    """Return the benchmark's tools that a text names, sorted; a plain word such as Plot only when called a tool."""
    return sorted({match.group().split()[0].strip("`\"'") for match in _TOOL_NAMES.finditer(text)})


def _tool_pattern() -> re.Pattern[str]:
    plain = [name for name in TOOL_CAPABILITIES if name.isupper() or name[1:].islower()]
    telling = [name for name in TOOL_CAPABILITIES if name not in plain]
    words = "|".join(plain)
    return re.compile(rf"\b(?:{'|'.join(telling)})\b|\b(?:{words}) tool\b|(?P<quote>[`\"'])(?:{words})(?P=quote)")


_TOOL_NAMES = _tool_pattern()


def _deliverables(task: Task) -> Iterator[Finding]:
    """Compare the files that the request and the leaves name: they should name the same ones."""
    given = {name.casefold() for resource in task.resources for name in file_names(resource.path)}
    asked = {name.casefold(): name for name in file_names(task.request)}
    leaves = {leaf.id: leaf.requirements for leaf in task.leaves}
    judged = {name.casefold() for text in leaves.values() for name in file_names(text)}
    kinds = set().union(*(mentioned_kinds(text) for text in leaves.values()))
    groups = {
        name.casefold(): node.id for node in task.nodes() if not node.is_leaf for name in file_names(node.requirements)
    }
    for key, name in asked.items():
        if key in given | judged or kind_of(name) in kinds:
            continue
        if key in groups:
            message = f"names {name}, and its leaves do not: each leaf is judged by its own words"
            yield Finding(Level.NOTE, "deliverable-in-group", task.id, groups[key], message)
        else:
            message = f"the request asks for {name}, and no leaf speaks of it"
            yield _warning("deliverable-not-judged", task, None, message)
    for leaf_id, text in leaves.items():
        for name in file_names(text):
            if name.casefold() not in given and name.casefold() not in asked:
                message = f"the requirement expects {name}, and the request does not name it"
                yield _warning("deliverable-not-asked", task, leaf_id, message)
