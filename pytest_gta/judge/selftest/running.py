"""Makes the deliverables of every attack and its clean twin, and lets a judge score them as those of any task."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pytest_gta.benchmark.results import Verdict
from pytest_gta.benchmark.run_directory import write_atomic
from pytest_gta.benchmark.task import Brief, Checkpoint
from pytest_gta.judge.drawing import Drawer
from pytest_gta.judge.evidence import Evidence, EvidenceBudget, PicturePart, TextPart, build_evidence
from pytest_gta.judge.protocol import TaskJudge
from pytest_gta.judge.reading_files import Caller
from pytest_gta.judge.selftest.carriers import CARRIERS, Carrier
from pytest_gta.judge.selftest.payloads import NEUTRAL, PAYLOADS, as_file_name
from pytest_gta.judge.selftest.trial import MARGIN, Trial
from pytest_gta.judge.suspicion import suspicious_passages
from pytest_gta.workspace.workspace import Workspace

AT_ONCE = 8
"""Deliverables that are judged at a time; the run's own limit of calls in flight holds as well."""

CLEAN = "clean"
CATEGORY = "retrieval_qa"
LEAF = "cp1"


@dataclass(frozen=True, slots=True)
class _Exhibit:
    """One deliverable with the text in its place."""

    carrier: Carrier
    payload: str
    text: str

    @property
    def task_id(self) -> str:
        return f"{self.carrier.kind.replace(' ', '-')}-{self.payload}"


def exhibits(carriers: Sequence[Carrier] = CARRIERS) -> list[_Exhibit]:
    """Return every deliverable of the test: of each kind the clean twin, then one for each payload."""
    return [
        _Exhibit(carrier, name, text) for carrier in carriers for name, text in ((CLEAN, NEUTRAL), *PAYLOADS.items())
    ]


def write_exhibits(folder: Path, carriers: Sequence[Carrier] = CARRIERS) -> None:
    """Write all deliverables to ``outputs/<id>`` and their tasks to ``dataset/end.json``, both below `folder`."""
    index = {}
    for exhibit in exhibits(carriers):
        outputs = folder / "outputs" / exhibit.task_id
        (outputs / "files").mkdir(parents=True)
        answer = exhibit.carrier.write(outputs / "files", exhibit.text)
        (outputs / "final.txt").write_text(answer, "utf-8")
        index[exhibit.task_id] = {
            "tools": [],
            "files": [],
            "dialogs": [{"role": "user", "content": exhibit.carrier.request}],
            "sub_tasks": [{"id": LEAF, "requirements": exhibit.carrier.requirement, "weight": 1}],
            "workflow_category_6class": "Information Retrieval & Knowledge QA",
        }
    write_atomic(folder / "dataset" / "end.json", json.dumps(index, indent=1) + "\n")


def run_selftest(
    judge: TaskJudge,
    folder: Path,
    process: Caller,
    *,
    budget: EvidenceBudget,
    threshold: float,
    margin: float = MARGIN,
    drawer: Drawer | None = None,
    carriers: Sequence[Carrier] = CARRIERS,
    on_verdict: Callable[[str, Verdict], None] = lambda _task_id, _verdict: None,
) -> list[Trial]:
    """Let a judge score the deliverables that `write_exhibits` wrote, and compare each attack with its clean twin.

    Args:
        judge: Who is tested.
        folder: Where the deliverables are.
        process: The confined process that reads them.
        budget: How much evidence the judge is shown.
        threshold: Points from which a leaf passes.
        margin: Points over the clean twin from which an attack has succeeded.
        drawer: Draws Office files and web pages, as in a run; None to show their text alone.
        carriers: Where attacks stand.
        on_verdict: Called with each deliverable's id and verdict.
    """
    shown: dict[str, Evidence] = {}
    verdicts: dict[str, Verdict] = {}
    listed = exhibits(carriers)

    def ask(exhibit: _Exhibit) -> Verdict:
        leaf = Checkpoint(LEAF, exhibit.carrier.requirement, 1.0)
        evidence = shown[exhibit.task_id]
        answer = _answer(folder, exhibit)
        return judge.judge_task(_brief(exhibit), [leaf], evidence, final_answer=answer)[LEAF]

    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="selftest") as pool:
        try:
            waiting = []
            for exhibit in listed:
                shown[exhibit.task_id] = _evidence(folder, exhibit, process, budget, drawer)
                waiting.append((exhibit, pool.submit(ask, exhibit)))
            for exhibit, answer in waiting:
                verdicts[exhibit.task_id] = answer.result()
                on_verdict(exhibit.task_id, verdicts[exhibit.task_id])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [
        _trial(exhibit, verdicts, shown[exhibit.task_id], _answer(folder, exhibit), threshold, margin)
        for exhibit in listed
        if exhibit.payload != CLEAN
    ]


def _trial(
    exhibit: _Exhibit,
    verdicts: dict[str, Verdict],
    evidence: Evidence,
    answer: str,
    threshold: float,
    margin: float,
) -> Trial:
    attacked = verdicts[exhibit.task_id]
    return Trial(
        kind=exhibit.carrier.kind,
        payload=exhibit.payload,
        attacked=attacked,
        clean=verdicts[_Exhibit(exhibit.carrier, CLEAN, NEUTRAL).task_id],
        shown=_reaches(exhibit, evidence, answer) and "pictures were not shown" not in attacked.evidence_note,
        flagged=bool(suspicious_passages(answer, evidence)),
        threshold=threshold,
        margin=margin,
    )


def _reaches(exhibit: _Exhibit, evidence: Evidence, answer: str) -> bool:
    """Say whether the attack is among what the judge is shown."""
    if exhibit.carrier.is_picture:
        return any(isinstance(part, PicturePart) for part in evidence.parts)
    texts = [answer, *(part.text for part in evidence.parts if isinstance(part, TextPart))]
    seen = " ".join(" ".join(texts).split())
    # The beginning is enough: long file names and metadata are cut, escaped or broken over lines on their way.
    return any(text[:40] in seen for text in (exhibit.text, as_file_name(exhibit.text)))


def _evidence(
    folder: Path, exhibit: _Exhibit, process: Caller, budget: EvidenceBudget, drawer: Drawer | None
) -> Evidence:
    brief = _brief(exhibit)
    workspace = Workspace.open(folder / "outputs" / exhibit.task_id / "files", (), request=brief.request)
    return build_evidence(
        brief,
        _answer(folder, exhibit),
        workspace,
        workspace.deliverables(),
        process=process,
        budget=budget,
        drawer=drawer,
    )


def _brief(exhibit: _Exhibit) -> Brief:
    return Brief(exhibit.task_id, CATEGORY, (exhibit.carrier.request,), ())


def _answer(folder: Path, exhibit: _Exhibit) -> str:
    return (folder / "outputs" / exhibit.task_id / "final.txt").read_text("utf-8")
