"""Several judges for one task: the median of their scores, and what each of them said.

Every judge is asked as it would be alone, with its own key and cache entry, all of them at once. A leaf has a score
when more than half of the judges gave one: the median of those. A judge that failed is named in the leaf's reason, and
asked again when the run is resumed; the others' opinions are not paid twice. Without a majority the leaf has no score.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from pytest_gta.benchmark.coverage import least
from pytest_gta.benchmark.results import LeafStatus, Opinion, Verdict
from pytest_gta.benchmark.task import Brief, Checkpoint
from pytest_gta.benchmark.usage import Usage
from pytest_gta.judge.evidence import Evidence
from pytest_gta.judge.following import follow
from pytest_gta.judge.judge import Judge, nothing_delivered, warn_of_scale
from pytest_gta.judge.prompt import PROMPT_VERSION
from pytest_gta.judge.waits import Waits

Said = dict[str, Verdict]
"""What the judges said of one leaf, by the judge's name."""


class Panel:
    """Judges that score the same leaves.

    Args:
        judges: By the name that reports show.
        waits: What their clients say while they wait, told while verdicts are waited for.

    Raises:
        ValueError: When there are fewer than two.
    """

    def __init__(self, judges: Mapping[str, Judge], waits: Waits | None = None) -> None:
        if len(judges) < 2:
            raise ValueError("a panel needs at least 2 judges")
        self.judges, self._waits = dict(judges), waits
        self.label = " + ".join(judges)

    def judge_task(
        self,
        brief: Brief,
        leaves: Sequence[Checkpoint],
        evidence: Evidence,
        on_verdict: Callable[[Verdict], None] = lambda _verdict: None,
        known: Mapping[str, Verdict] | None = None,
        *,
        final_answer: str,
    ) -> dict[str, Verdict]:
        """Judge the leaves of one task by every judge; arguments and result as of `Judge.judge_task`.

        Raises:
            KeyboardInterrupt: Or whatever else ends the wait. Leaves on which some judges had answered have then been
                handed to `on_verdict` as not run, with those opinions, for a resumed run to go on from.
        """
        verdicts: dict[str, Verdict] = {}
        said: dict[str, Said] = {leaf.id: {} for leaf in leaves}
        asked: dict[str, list[tuple[Checkpoint, str]]] = {name: [] for name in self.judges}
        nothing = nothing_delivered(final_answer, evidence)

        def settle(leaf_id: str) -> None:
            verdicts[leaf_id] = self._combined(leaf_id, said[leaf_id])
            on_verdict(verdicts[leaf_id])

        def heard(answer: tuple[str, Verdict]) -> None:
            name, verdict = answer
            self.judges[name].keep(verdict)
            said[verdict.leaf_id][name] = verdict
            if len(said[verdict.leaf_id]) == len(self.judges):
                settle(verdict.leaf_id)

        for leaf in leaves:
            keys = {
                name: judge.key(brief, final_answer, evidence, leaf.requirements) for name, judge in self.judges.items()
            }
            if nothing:
                verdicts[leaf.id] = Verdict(
                    leaf_id=leaf.id, status=LeafStatus.NOT_DELIVERED, score=0.0, analysis=nothing, key=_joint(keys)
                )
                on_verdict(verdicts[leaf.id])
                continue
            earlier = _by_key((known or {}).get(leaf.id))
            for name, judge in self.judges.items():
                old = judge.reusable(leaf.id, keys[name], earlier.get(keys[name]))
                if old is None:
                    asked[name].append((leaf, keys[name]))
                else:
                    said[leaf.id][name] = old
            if len(said[leaf.id]) == len(self.judges):
                settle(leaf.id)

        async def ask(done: Callable[[tuple[str, Verdict]], None]) -> None:
            async with asyncio.TaskGroup() as group:
                for name, questions in asked.items():
                    if questions:
                        inquiry = self.judges[name].inquiry(brief, final_answer, evidence)
                        group.create_task(inquiry.run(questions, lambda verdict, name=name: done((name, verdict))))  # type: ignore[misc]

        if any(asked.values()):
            try:
                follow(ask, heard, self._waits)
            except BaseException:
                with suppress(Exception):
                    for leaf_id in said:
                        if leaf_id not in verdicts and said[leaf_id]:
                            on_verdict(self._interrupted(leaf_id, said[leaf_id]))
                raise
        warn_of_scale(verdicts)
        return {leaf.id: verdicts[leaf.id] for leaf in leaves}

    def _combined(self, leaf_id: str, said: Said) -> Verdict:
        scored = {name: v for name in self.judges if (v := said[name]).score is not None}
        if len(scored) * 2 <= len(self.judges):
            return self._without_score(leaf_id, said, len(self.judges) - len(scored))
        score = statistics.median(v.score for v in scored.values() if v.score is not None)
        nearest = min(scored.values(), key=lambda v: abs((v.score or 0.0) - score))
        failed = {name: v for name, v in said.items() if name not in scored}
        given = ", ".join(f"{name} {v.score:g}" for name, v in scored.items())
        reasons = "".join(f"; no score by {name}: {v.analysis}" for name, v in failed.items())
        return Verdict(
            **self._shared(leaf_id, said),
            status=LeafStatus.SCORED,
            score=score,
            analysis=f"[median of {len(scored)} of {len(self.judges)} judges: {given}{reasons}] {nearest.analysis}",
        )

    def _without_score(self, leaf_id: str, said: Said, failures: int) -> Verdict:
        failed = {name: v for name in self.judges if (v := said[name]).score is None}
        kinds = {v.status for v in failed.values()}
        reasons = "; ".join(f"{name}: {v.analysis}" for name, v in failed.items())
        return Verdict(
            **self._shared(leaf_id, said),
            status=kinds.pop() if len(kinds) == 1 else LeafStatus.JUDGE_ERROR,
            analysis=f"{failures} of {len(self.judges)} judges without a score: {reasons}",
        )

    def _interrupted(self, leaf_id: str, said: Said) -> Verdict:
        missing = ", ".join(name for name in self.judges if name not in said)
        return Verdict(
            **self._shared(leaf_id, said),
            status=LeafStatus.NOT_RUN,
            analysis=f"interrupted before an answer of {missing}",
        )

    def _shared(self, leaf_id: str, said: Said) -> dict[str, Any]:
        present = {name: said[name] for name in self.judges if name in said}
        return {
            "leaf_id": leaf_id,
            "key": _joint({name: verdict.key for name, verdict in present.items()}),
            "evidence_note": _notes(present),
            "cached": all(verdict.cached for verdict in present.values()),
            "usage": sum((verdict.usage for verdict in present.values()), Usage()),
            "wall_s": max(verdict.wall_s for verdict in present.values()),
            "panel": tuple(
                Opinion(
                    judge=name,
                    status=verdict.status,
                    score=verdict.score,
                    samples=verdict.samples,
                    analysis=verdict.analysis,
                    key=verdict.key,
                    cached=verdict.cached,
                    coverage=verdict.coverage,
                )
                for name, verdict in present.items()
            ),
            "coverage": least(verdict.coverage for verdict in present.values() if verdict.status.is_score),
        }


def _joint(keys: Mapping[str, str]) -> str:
    """Return the key of a panel's verdict: the judges' keys, in whatever order they were named."""
    return hashlib.sha256(json.dumps(["panel", PROMPT_VERSION, sorted(keys.values())]).encode()).hexdigest()


def _by_key(known: Verdict | None) -> dict[str, Verdict]:
    """Return the single judges' scores that an earlier verdict of the leaf holds, by their keys."""
    if known is None:
        return {}
    opinions = {
        opinion.key: Verdict(
            leaf_id=known.leaf_id,
            status=opinion.status,
            score=opinion.score,
            analysis=opinion.analysis,
            key=opinion.key,
            evidence_note=known.evidence_note,
            samples=opinion.samples,
            coverage=opinion.coverage,
        )
        for opinion in known.panel
    }
    return opinions or {known.key: known}


def _notes(said: Said) -> str:
    """Return what was not shown: once when all judges saw the same, else by judge."""
    distinct = {verdict.evidence_note for verdict in said.values()}
    if len(distinct) == 1:
        return distinct.pop()
    return "; ".join(f"{name}: {verdict.evidence_note}" for name, verdict in said.items() if verdict.evidence_note)
