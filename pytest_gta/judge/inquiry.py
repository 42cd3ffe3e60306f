"""The questions of one task on their way to the model: one call a leaf, the first alone, the others together.

What happens to a call that gives no score:

* unreadable reply: asked again with the fault named, at most twice;
* refusal: asked once in other words, then `judge_refused`;
* pictures not taken, or evidence too long: the evidence is made smaller once for the whole task, and asked again;
* a `ModelError` (the client has already retried, and given a reply that was cut more room): `judge_error` with its
  line. After one that concerns every call (no credit, key refused, run halted) nothing more is asked: the rest is
  `not_run`.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field

from pytest_gta.benchmark.coverage import Coverage, least
from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.task import Brief, Checkpoint
from pytest_gta.benchmark.usage import Usage
from pytest_gta.judge.evidence import Evidence
from pytest_gta.judge.presentation import Presentation
from pytest_gta.judge.prompt import CORRECTION, REWORDED, PromptStyle
from pytest_gta.judge.transport import JudgeApi, Transport
from pytest_gta.judge.verdict import (
    CompactJudgeAnswer,
    JudgeAnswer,
    ParsedVerdict,
    Refused,
    Unreadable,
    parse_verdict,
)
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.model_error import ModelError, ModelErrorKind
from pytest_gta.llm.redaction import one_line, redact
from pytest_gta.llm.reply import Reply
from pytest_gta.llm.run_control import RunControl

RE_ASKS = 2
"""How often an unreadable reply is asked for again."""

_STOPS = {ModelErrorKind.AUTH, ModelErrorKind.NO_CREDIT, ModelErrorKind.HALTED}


@dataclass(frozen=True, slots=True)
class AskSettings:
    """How a judge is asked.

    Attributes:
        style: Which of the prompts.
        samples: Independent answers a leaf; the median counts.
        deadline_s: Seconds for all calls of one answer, the client's retries included; waiting for a slot is not.
        temperature: As sent; None leaves it to the endpoint.
        max_output_tokens: Room of a first reply; the client gives more to one that is cut.
        api: By which interface.
    """

    style: PromptStyle
    samples: int
    deadline_s: float
    temperature: float | None
    max_output_tokens: int
    api: JudgeApi = JudgeApi.CHAT


class _NotAskedError(Exception):
    """The run was stopped before this question was sent."""


@dataclass(slots=True)
class _Answer:
    """One sample of one leaf: what came of it, what it took, and what the call that was answered showed."""

    result: ParsedVerdict | tuple[LeafStatus, str]
    usage: Usage
    coverage: Coverage | None


@dataclass(slots=True)
class _Spent:
    """What the calls for one sample have taken so far, and what the one that was answered last showed."""

    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    coverage: Coverage | None = None


class Inquiry:
    """All questions about one task.

    Args:
        client: The judge's model.
        control: Limits the calls in flight over all processes; None for no limit.
        settings: How to ask.
        brief: The task.
        final_answer: The agent's last message.
        evidence: What was delivered.
        secret: What boundary tokens are derived from.
    """

    def __init__(
        self,
        client: ChatClient,
        control: RunControl | None,
        settings: AskSettings,
        brief: Brief,
        final_answer: str,
        evidence: Evidence,
        secret: bytes,
    ) -> None:
        self._client, self._control, self._settings = client, control, settings
        self._transport = Transport(client, control, settings.api)
        self._shown = Presentation(brief, final_answer, evidence, secret, settings.style)
        self._schema = CompactJudgeAnswer if settings.style is PromptStyle.COMPACT else JudgeAnswer
        self._primed = asyncio.Event()
        self._stopped = ""

    async def run(self, leaves: Sequence[tuple[Checkpoint, str]], done: Callable[[Verdict], None]) -> None:
        """Ask about every leaf.

        Args:
            leaves: Each leaf and the key of its verdict.
            done: Called with each verdict as it is reached, on this loop.
        """
        try:
            await self._transport.open(self._shown.messages)
            async with asyncio.TaskGroup() as group:
                for number, (leaf, key) in enumerate(leaves):
                    group.create_task(self._settle(leaf, key, number == 0, done))
        finally:
            await self._transport.close()

    async def _settle(self, leaf: Checkpoint, key: str, first: bool, done: Callable[[Verdict], None]) -> None:
        if not first:
            # A first call that hangs must not double the time of all: the price is a prefix that is paid again.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._primed.wait(), self._settings.deadline_s / 4)
        started = time.monotonic()
        answers = [await self._sample(leaf)] if first else []
        self._primed.set()
        answers += await asyncio.gather(*(self._sample(leaf) for _ in range(self._settings.samples - len(answers))))
        done(self._verdict(leaf, key, answers, time.monotonic() - started))

    async def _sample(self, leaf: Checkpoint) -> _Answer:
        spent = _Spent()
        return _Answer(await self._result(leaf, spent), spent.usage, spent.coverage)

    async def _result(self, leaf: Checkpoint, spent: _Spent) -> ParsedVerdict | tuple[LeafStatus, str]:
        try:
            result = await self._until_settled(leaf, spent)
        except _NotAskedError:
            failed = LeafStatus.JUDGE_ERROR if spent.usage.calls else LeafStatus.NOT_RUN
            return failed, f"not asked: {self._stopped}"
        except ModelError as error:
            if error.kind in _STOPS:
                self._stopped = self._stopped or str(error)
            if error.kind is ModelErrorKind.HALTED and not spent.usage.calls:
                return LeafStatus.NOT_RUN, str(error)
            return LeafStatus.JUDGE_ERROR, f"{error.kind.value}: {error}"
        except Exception as error:
            # Ours or a library's fault: it costs this leaf its score, not the others theirs.
            words = one_line(redact(f"{type(error).__name__}: {error}", (self._client.endpoint.api_key,)))
            return LeafStatus.JUDGE_ERROR, f"unexpected error: {words}"
        if isinstance(result, Refused):
            return LeafStatus.JUDGE_REFUSED, f"the judge declined twice: {result.reason}"
        if isinstance(result, Unreadable):
            return LeafStatus.JUDGE_ERROR, f"no readable verdict: {result.reason}"
        return result

    async def _until_settled(self, leaf: Checkpoint, spent: _Spent) -> ParsedVerdict | Unreadable | Refused:
        correction = ""
        re_asks, reworded = RE_ASKS, False
        while True:
            parsed = parse_verdict(await self._reply(leaf, correction, spent))
            # The provider has the prefix now, whatever this leaf still needs.
            self._primed.set()
            if isinstance(parsed, ParsedVerdict):
                return parsed
            if isinstance(parsed, Refused):
                if reworded:
                    return parsed
                reworded, correction = True, REWORDED
                continue
            if not re_asks:
                return parsed
            re_asks -= 1
            correction = CORRECTION.format(fault=parsed.reason)

    async def _reply(self, leaf: Checkpoint, correction: str, spent: _Spent) -> Reply:
        """Call until there is a reply, making the evidence smaller when the endpoint does not take it."""
        while True:
            async with self._slot():
                if self._stopped:
                    raise _NotAskedError
                left = self._settings.deadline_s - spent.seconds
                if left <= 0:
                    raise ModelError(
                        ModelErrorKind.TIMEOUT, f"no readable verdict within {self._settings.deadline_s:g} seconds"
                    )
                edition = self._shown.edition
                messages = self._shown.question(leaf.requirements, correction)
                coverage = self._shown.coverage_for(leaf.requirements)
                started = time.monotonic()
                try:
                    reply = await self._transport.chat(
                        messages,
                        schema=self._schema,
                        deadline_s=left,
                        temperature=self._settings.temperature,
                        max_output_tokens=self._settings.max_output_tokens,
                    )
                except ModelError as error:
                    spent.usage += error.usage
                    if not self._shown.reduce(error, edition):
                        raise
                else:
                    spent.usage += reply.usage
                    spent.coverage = coverage
                    return reply
                finally:
                    spent.seconds += time.monotonic() - started

    def _slot(self) -> AbstractAsyncContextManager[object]:
        return self._control.slot() if self._control is not None else nullcontext()

    def _verdict(self, leaf: Checkpoint, key: str, answers: Sequence[_Answer], wall_s: float) -> Verdict:
        usage = sum((answer.usage for answer in answers), Usage())
        known = Verdict(
            leaf_id=leaf.id,
            status=LeafStatus.NOT_RUN,
            key=key,
            evidence_note=self._shown.note_for(leaf.requirements),
            usage=usage,
            wall_s=wall_s,
            coverage=least(answer.coverage for answer in answers),
        )
        failures = [answer.result for answer in answers if not isinstance(answer.result, ParsedVerdict)]
        if failures:
            status, reason = next((f for f in failures if f[0] is not LeafStatus.NOT_RUN), failures[0])
            if len(answers) > 1:
                reason = f"{len(failures)} of {len(answers)} samples without a score: {reason}"
            return known.model_copy(update={"status": status, "analysis": reason})
        parsed = [answer.result for answer in answers if isinstance(answer.result, ParsedVerdict)]
        score, analysis = _median(parsed)
        samples = tuple(sample.score for sample in parsed) if len(parsed) > 1 else ()
        scored = {"status": LeafStatus.SCORED, "score": score, "analysis": analysis, "samples": samples}
        return Verdict(**{**dict(known), **scored})


def _median(samples: Sequence[ParsedVerdict]) -> tuple[float, str]:
    """Return the median score, and the reason of the sample nearest to it with all the scores named."""
    score = statistics.median(sample.score for sample in samples)
    nearest = min(samples, key=lambda sample: abs(sample.score - score))
    if len(samples) == 1:
        return score, nearest.analysis
    spread = ", ".join(f"{value:g}" for value in sorted(sample.score for sample in samples))
    return score, f"[median of {len(samples)} samples: {spread}] {nearest.analysis}"
