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

LOOK_S = 10.0
"""Seconds a request of the first look may take; an endpoint that is slower is not found fault with."""

_NO_SUCH_MODEL = re.compile(
    r"model.{0,200}(?:not found|n[o']t exist|is unknown)|(?:unknown|invalid|no such) model", re.IGNORECASE | re.DOTALL
)


def first_look(endpoint: Endpoint) -> ApiFault | None:
    """Return why no request to an endpoint can succeed, None when one may.

    Its list of models is asked for, which costs nothing. Only when that cannot tell (it lacks the model, as lists lack
    aliases; there is none; it wants another key) is the model itself said hello to.

    Returns:
        A fault of the kind `UNAVAILABLE` when nobody is there, `AUTH` or `NO_CREDIT` when the key will not do,
        `BAD_REQUEST` when there is no such model or no such address. Its message is one line without secrets.
    """
    import openai

    with blocking_connection(endpoint, LOOK_S) as client:
        names: list[str] = []
        try:
            names = _names(client.models.with_raw_response.list().http_response.content)
        except openai.APIStatusError as error:
            if error.status_code >= 500:
                return None
        except openai.APITimeoutError:
            return None
        except openai.APIConnectionError as error:
            return _shown(no_answer(error), endpoint)
        else:
            if not names or endpoint.model in names:
                return None
        try:
            client.chat.completions.with_raw_response.create(
                model=endpoint.model, messages=[{"role": "user", "content": "Hello"}]
            )
        except openai.APIStatusError as error:
            fault = read_fault(error.status_code, error.response.content, error.response.headers)
        except openai.APIConnectionError:
            return None
        else:
            return None
    if fault.kind.halts_the_run:
        return _shown(fault, endpoint)
    if fault.status == 404 or fault.code == "model_not_found" or _NO_SUCH_MODEL.search(fault.message):
        return _shown(replace(fault, message=_what_there_is(endpoint.model, names) or fault.message), endpoint)
    return None


def _what_there_is(model: str, names: list[str]) -> str:
    if not names:
        return ""
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
