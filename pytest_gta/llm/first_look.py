"""A first look at an endpoint: what would make every request of a run fail is found while nothing has been spent."""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import replace

from pytest_gta.llm.api_fault import ApiFault, no_answer, read_fault
from pytest_gta.llm.connection import blocking_connection
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.redaction import one_line, redact

LOOK_S = 5.0
"""Seconds a request of the first look may take; an endpoint that is slower is not found fault with."""

_NO_SUCH_MODEL = re.compile(
    r"model.{0,200}(?:not found|n[o']t exist|is unknown)|(?:unknown|invalid|no such) model", re.IGNORECASE | re.DOTALL
)
_LIMITED_KEY = re.compile(r"scope|permission", re.IGNORECASE)
"""A key may be good for answers and not for the list of models."""


def first_look(endpoint: Endpoint) -> ApiFault | None:
    """Return why no request to an endpoint can succeed, None when one may.

    Its list of models is asked for, and of one that is not listed what it is: both cost nothing. What they cannot tell
    (lists lack aliases and deployments, some endpoints have none) is left to the run.

    Returns:
        A fault of the kind `UNAVAILABLE` when nobody is there, `AUTH` when the key is refused, `BAD_REQUEST` when there
        is no such model. Its message is one line without secrets.
    """
    import openai

    with blocking_connection(endpoint, LOOK_S) as client:
        names: list[str] = []
        try:
            names = _names(client.models.with_raw_response.list().http_response.content)
            if names and endpoint.model not in names:
                client.models.with_raw_response.retrieve(endpoint.model)
        except openai.APIStatusError as error:
            fault = read_fault(error.status_code, error.response.content, error.response.headers)
        except openai.APITimeoutError:
            return None
        except openai.APIConnectionError as error:
            return None if names else _shown(no_answer(error), endpoint)
        else:
            return None
    if fault.status == 401 and not _LIMITED_KEY.search(fault.message):
        return _shown(fault, endpoint)
    if fault.status == 404 and names and (fault.code == "model_not_found" or _NO_SUCH_MODEL.search(fault.message)):
        return _shown(replace(fault, message=_what_there_is(endpoint.model, names)), endpoint)
    return None


def _what_there_is(model: str, names: list[str]) -> str:
    near = difflib.get_close_matches(model, names, n=3, cutoff=0.3) or names[:5]
    more = "" if len(names) <= len(near) else f" (of {len(names)})"
    return f"there is no such model; it has {', '.join(near)}{more}"


def _names(body: bytes) -> list[str]:
    """Return the names in a list of models; none when it is not one, as an endpoint may keep none."""
    try:
        return [str(entry["id"]) for entry in json.loads(body)["data"]]
    except (ValueError, KeyError, TypeError):
        return []


def _shown(fault: ApiFault, endpoint: Endpoint) -> ApiFault:
    return replace(fault, message=one_line(redact(fault.message, endpoint.secrets), 300))
