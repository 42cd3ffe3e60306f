"""What all clients of an endpoint share: retries and waits, the run's halt and pauses, errors in one clean line."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from pytest_gta.benchmark.usage import Usage
from pytest_gta.llm.api_fault import ApiFault
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.model_error import ModelError, ModelErrorKind
from pytest_gta.llm.redaction import one_line, redact
from pytest_gta.llm.retry import RetryPolicy
from pytest_gta.llm.run_control import RunControl

_POLL_HALT_S = 1.0
_REMARK_SHARE = 0.4
"""Of a request's time, after which it is said that there is no answer yet."""

Answer = TypeVar("Answer")


@dataclass
class Progress:
    """What has happened in one call so far.

    Attributes:
        deadline: When an answer must be there, on `time.monotonic`'s clock.
        usage: What all requests used.
        waited_s: Seconds spent waiting to retry.
        failures: How often it failed, by kind.
        last: The latest failure.
    """

    deadline: float
    usage: Usage = field(default_factory=Usage)
    waited_s: float = 0.0
    failures: dict[ModelErrorKind, int] = field(default_factory=dict)
    last: ApiFault | None = None


class EndpointClient:
    """A client of one endpoint that tries again within a deadline, and says in one line why there is no answer.

    Args:
        endpoint: Whom to ask.
        control: Shared by all processes of the run: its halt flag is obeyed (and set when the key or the credit is
            gone), its pauses are kept.
        on_wait: Told in one line whenever the client waits: ``"retrying in 4 s: 503 overloaded"``.
        retry: How often and how long to try again.

    Attributes:
        waited_s: Seconds spent waiting to retry in all calls so far. It grows while a call waits, so that a budget
            for the model's own time can leave it out.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        control: RunControl | None = None,
        on_wait: Callable[[str], None] | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.waited_s = 0.0
        self._control = control
        self._on_wait = on_wait
        self._retry = retry or RetryPolicy()

    async def _within_limit(self, answer: Awaitable[Answer], progress: Progress) -> Answer | ApiFault:
        """Wait for the answer to one request as long as the retry policy gives it.

        A connection that was taken and then says nothing would use up the time of the whole call.
        """
        limit = self._retry.attempt_limit_s(progress.failures.get(ModelErrorKind.TIMEOUT, 0))
        if limit is None:
            return await answer
        said = f"no answer for {limit * _REMARK_SHARE:.3g} s; it is asked again after {limit:.3g} s"
        remark = asyncio.get_running_loop().call_later(limit * _REMARK_SHARE, self._say, said)
        try:
            async with asyncio.timeout(limit):
                return await answer
        except TimeoutError:
            return ApiFault(0, ModelErrorKind.TIMEOUT, True, f"no whole answer within {limit:.3g} s")
        finally:
            remark.cancel()

    async def _back_off(self, fault: ApiFault, progress: Progress) -> None:
        """Wait before the next request; raise when there shall be none."""
        progress.last = fault
        failures = progress.failures[fault.kind] = progress.failures.get(fault.kind, 0) + 1
        if not self._retry.allows(fault, failures):
            raise self._final(fault, progress)
        wait = self._retry.wait_s(fault, failures)
        if fault.retry_after_s is not None and self._control is not None:
            self._control.pause_until(time.time() + fault.retry_after_s, self.endpoint.host)
        if time.monotonic() + wait >= progress.deadline:
            raise self._error(fault.kind, f"{self._words(fault)}; no time is left to wait {wait:.3g} s", progress)
        await self._sleep(wait, f"retrying in {wait:.2g} s: {self._words(fault)}", progress)

    async def _hold(self, progress: Progress) -> None:
        """Keep the run's halt and pauses."""
        if self._control is None:
            return
        while True:
            reason = self._control.halted()
            if reason is not None:
                raise self._error(ModelErrorKind.HALTED, f"the run was halted: {reason}", progress)
            pause = self._control.paused_for(self.endpoint.host)
            if pause <= 0:
                return
            if time.monotonic() + pause >= progress.deadline:
                raise self._error(
                    ModelErrorKind.RATE_LIMITED,
                    f"{self.endpoint.host} asked for a pause of another {pause:.3g} s, longer than the time left",
                    progress,
                )
            await self._sleep(pause, f"waiting {pause:.2g} s: {self.endpoint.host} asked for a pause", progress)

    async def _sleep(self, seconds: float, why: str, progress: Progress) -> None:
        """Sleep, waking up when the run is halted, and book the time as it passes."""
        self._say(why)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            started = time.monotonic()
            try:
                await asyncio.sleep(min(left, _POLL_HALT_S))
            finally:
                slept = time.monotonic() - started
                progress.waited_s += slept
                self.waited_s += slept
            if self._control is not None and self._control.halted() is not None:
                return

    def _timed_out(self, deadline_s: float, progress: Progress) -> ModelError:
        """Return the error for a call whose time is over."""
        last = f"; before that: {self._words(progress.last)}" if progress.last else ""
        asked = f"{progress.usage.calls} request{'' if progress.usage.calls == 1 else 's'}"
        return self._error(
            ModelErrorKind.TIMEOUT, f"no whole answer within {round(deadline_s, 2):g} s ({asked}){last}", progress
        )

    def _final(self, fault: ApiFault, progress: Progress) -> ModelError:
        """Return the error for a fault that stays, and halt the run when no call can do better."""
        words = self._words(fault)
        if fault.kind is ModelErrorKind.BAD_REQUEST and fault.no_pictures:
            words = f"takes no pictures: {words}"
        elif fault.status == 404 and not fault.code:
            words = f"{words}; is the base URL right? It usually ends in /v1"
        if progress.failures[fault.kind] > 1:
            words = f"{words} ({progress.failures[fault.kind]} times)"
        error = self._error(fault.kind, words, progress)
        if fault.kind.halts_the_run and self._control is not None:
            self._control.halt(str(error))
        return error

    def _error(self, kind: ModelErrorKind, words: str, progress: Progress) -> ModelError:
        text = one_line(redact(f"{self.endpoint.shown}: {words}", self.endpoint.secrets))
        return ModelError(kind, text, usage=progress.usage, waited_s=progress.waited_s)

    def _words(self, fault: ApiFault) -> str:
        said = one_line(redact(fault.message, self.endpoint.secrets), 300)
        return f"{fault.status} {said}" if fault.status not in (0, 200) else said

    def _say(self, text: str) -> None:
        if self._on_wait is not None:
            self._on_wait(text)
