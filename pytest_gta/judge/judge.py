"""A judge: scores the leaves of a task from the evidence, and never makes up a number."""

from __future__ import annotations

import hashlib
import json
import secrets
import warnings
from collections.abc import Callable, Mapping, Sequence

from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.task import Brief, Checkpoint
from pytest_gta.judge.cache import VerdictCache, reused
from pytest_gta.judge.evidence import Evidence
from pytest_gta.judge.following import follow
from pytest_gta.judge.inquiry import AskSettings, Inquiry
from pytest_gta.judge.prompt import PROMPT_VERSION, PromptStyle
from pytest_gta.judge.transport import JudgeApi
from pytest_gta.judge.verdict import scale_warning
from pytest_gta.judge.waits import Waits
from pytest_gta.llm.addresses import place
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.run_control import RunControl

REPLY_ROOM = {PromptStyle.FULL: 4096, PromptStyle.COMPACT: 256}
"""Tokens of a first reply. A verdict takes about 150; the rest is for models that think aloud or in hiding."""


class JudgeScaleWarning(UserWarning):
    """A task's scores look like a scale from 0 to 1."""


class Judge:
    """Scores leaves with a model.

    Args:
        client: The judge's model.
        label: What reports and keys call the judge; default: the model's name.
        style: Which prompt; `PromptStyle.COMPACT` for a small local model.
        samples: Independent answers a leaf; the score is their median, and all of them must be readable.
        deadline_s: Seconds for one answer, all its calls and retries included.
        temperature: 0.2 as in the published protocol; dropped by the client where an endpoint rejects it.
        max_output_tokens: Room of a first reply; default by style.
        control: Limits the calls in flight over all processes of the run; None for no limit.
        cache: Verdicts of earlier runs; None to always ask.
        api: By which interface the model is asked; no part of a verdict's key.
        waits: What the client says while it waits, told while verdicts are waited for.

    Raises:
        ValueError: When `samples` is below 1.
    """

    def __init__(
        self,
        client: ChatClient,
        *,
        label: str = "",
        style: PromptStyle = PromptStyle.FULL,
        samples: int = 1,
        deadline_s: float = 300.0,
        temperature: float | None = 0.2,
        max_output_tokens: int | None = None,
        control: RunControl | None = None,
        cache: VerdictCache | None = None,
        api: JudgeApi = JudgeApi.CHAT,
        waits: Waits | None = None,
    ) -> None:
        if samples < 1:
            raise ValueError(f"a judge needs at least 1 sample a leaf, not {samples}")
        self.client = client
        self.label = label or client.endpoint.model
        self._settings = AskSettings(
            style=style,
            samples=samples,
            deadline_s=deadline_s,
            temperature=temperature,
            max_output_tokens=max_output_tokens or REPLY_ROOM[style],
            api=api,
        )
        self._control, self._cache, self._waits = control, cache, waits
        self._secret = secrets.token_bytes(32)

    def key(self, brief: Brief, final_answer: str, evidence: Evidence, requirement: str) -> str:
        """Return the digest of all that a verdict depends on.

        That is: the judge (label, model, host), the prompt's version and style, how it is asked, the evidence, the
        request, its inputs, the final answer and the requirement. No ids, weights or thresholds.
        """
        settings = self._settings
        parts = [
            self.label,
            self.client.endpoint.model,
            place(self.client.endpoint.base_url),
            PROMPT_VERSION,
            settings.style.value,
            settings.samples,
            settings.temperature,
            evidence.digest,
            brief.request,
            brief.inputs,
            final_answer,
            requirement,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

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
        """Judge the leaves of one task.

        Args:
            brief: The task, without its rubric.
            leaves: What to judge.
            evidence: What was delivered.
            on_verdict: Called in the calling thread with each verdict as soon as there is one.
            known: Verdicts by leaf id that an earlier attempt reached; those with the same key and a score are reused.
            final_answer: The agent's last message.

        Returns:
            A verdict for every leaf, in the order of `leaves`. What could not be judged has a status that says so.

        Raises:
            KeyboardInterrupt: Or whatever else ends the calling thread's wait. Calls in flight are given up; verdicts
                that were already there have been handed to `on_verdict`.
        """
        verdicts: dict[str, Verdict] = {}

        def settle(verdict: Verdict) -> None:
            verdicts[verdict.leaf_id] = verdict
            self.keep(verdict)
            on_verdict(verdict)

        asked: list[tuple[Checkpoint, str]] = []
        nothing = nothing_delivered(final_answer, evidence)
        for leaf in leaves:
            key = self.key(brief, final_answer, evidence, leaf.requirements)
            if nothing:
                settle(Verdict(leaf_id=leaf.id, status=LeafStatus.NOT_DELIVERED, score=0.0, analysis=nothing, key=key))
            elif (old := self.reusable(leaf.id, key, (known or {}).get(leaf.id))) is not None:
                settle(old)
            else:
                asked.append((leaf, key))
        if asked:
            inquiry = self.inquiry(brief, final_answer, evidence)
            follow(lambda done: inquiry.run(asked, done), settle, self._waits)
        warn_of_scale(verdicts)
        return {leaf.id: verdicts[leaf.id] for leaf in leaves}

    def inquiry(self, brief: Brief, final_answer: str, evidence: Evidence) -> Inquiry:
        """Return the questions about one task, ready to be asked."""
        return Inquiry(self.client, self._control, self._settings, brief, final_answer, evidence, self._secret)

    def reusable(self, leaf_id: str, key: str, known: Verdict | None) -> Verdict | None:
        """Return a verdict that takes no call: the known one, or a cached one, when it is a score under this key."""
        if known is not None and known.key == key and known.status is LeafStatus.SCORED:
            return reused(known, leaf_id)
        return self._cache.get(key, leaf_id) if self._cache is not None else None

    def keep(self, verdict: Verdict) -> None:
        """Put a verdict of this judge into the cache, if there is one."""
        if self._cache is not None:
            self._cache.put(verdict)


def nothing_delivered(final_answer: str, evidence: Evidence) -> str:
    """Return why there is nothing to judge: no answer, and no file with a byte in it. "" when there is something."""
    if final_answer.strip(" \t\r\n\f\v\u00a0\u200b\u200c\u200d\u2060\ufeff"):
        return ""
    taken = [file for file in evidence.files if file.evidence != "not_taken"]
    if any(file.bytes > 0 for file in taken):
        return ""
    if taken:
        return f"nothing was delivered: no final answer, and only empty files ({', '.join(f.path for f in taken)})"
    return "nothing was delivered: no final answer and no files"


def warn_of_scale(verdicts: Mapping[str, Verdict]) -> None:
    """Warn when the scores of a task look like a scale from 0 to 1."""
    given = [v.score for v in verdicts.values() if v.status is LeafStatus.SCORED and v.score is not None]
    if len(given) == len(verdicts) and (text := scale_warning(given)):
        warnings.warn(text, JudgeScaleWarning, stacklevel=3)
