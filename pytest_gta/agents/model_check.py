"""Tells an outage of an agent's model from a failure of the agent, where the agent itself does not.

A program whose model is down ends as it likes: with the server's own words, with an apology for an answer, or trying
until its time is up. So an agent that left no file is not believed to have failed before its model is asked.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from pytest_gta.agents.failure import reads_like_an_outage
from pytest_gta.agents.protocol import AgentRun
from pytest_gta.benchmark.results import StopReason
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.endpoint import NO_KEY, Endpoint, key_of
from pytest_gta.llm.model_error import ModelError, ModelErrorKind
from pytest_gta.llm.retry import RetryPolicy

APOLOGY_LIMIT = 500
"""Characters of an answer that may be nothing but an error message."""
CHECK_S = 30.0
"""Seconds the model has to say anything."""

_OUTAGES = (ModelErrorKind.UNAVAILABLE, ModelErrorKind.RATE_LIMITED, ModelErrorKind.NO_CREDIT)
"""Not a refused key: the agent may have another one."""


def outage_behind(run: AgentRun, told: Mapping[str, str]) -> str:
    """Return why the model of an agent that left no file does not serve; "" when it does or is not known.

    Args:
        run: How the agent ended.
        told: The variables that tell it its model, ``GTA_MODEL`` and ``GTA_BASE_URL``, if any.
    """
    answer = run.final_answer.strip()
    apology = len(answer) <= APOLOGY_LIMIT and reads_like_an_outage(answer)
    return "" if run.stop_reason is StopReason.FINISHED and answer and not apology else why_not_serving(told)


def why_not_serving(told: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> str:
    """Ask a model for a word, and return why it gives none; "" when it does, or nobody knows where it is.

    Args:
        told: ``GTA_MODEL`` and ``GTA_BASE_URL``.
        environment: Where its key is.
    """
    model, base_url = told.get("GTA_MODEL", ""), told.get("GTA_BASE_URL", "")
    if not model or not base_url:
        return ""
    key = key_of(base_url, ("OPENAI_API_KEY",), environment) or NO_KEY
    retry = RetryPolicy(attempts=2, rate_limited_attempts=3, bad_replies=1, more_room=0)
    try:
        ChatClient(Endpoint(model, base_url, key), retry=retry).chat_blocking(
            [{"role": "user", "content": "Hello"}], deadline_s=CHECK_S, max_output_tokens=16
        )
    except ModelError as error:
        return str(error) if error.kind in _OUTAGES else ""
    return ""
