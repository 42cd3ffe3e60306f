"""What an endpoint turned out to accept: parameters it rejects are renamed or left out once, and remembered.

Nothing is looked up by model name: an alias, a proxy or next month's model would be wrong in such a list. The first
request asks for all it wants; what the endpoint's error blames is given up, a step at a time.
"""

from __future__ import annotations

import re
import threading
from functools import cache
from typing import Any

from pytest_gta.llm.api_fault import ApiFault

FORMATS = ("json_schema", "json_schema_loose", "json_object", "text")
"""Ways to ask for JSON, strictest first; the last only asks for it in words."""
LIMITS = ("max_completion_tokens", "max_tokens", "")
"""Names of the output limit; "" sends none."""

_COMPLAINTS = (400, 404, 405, 415, 422, 500, 501)
_REJECTED = (
    r"(?:not (?:been )?(?:support|enabl|allow|permit|recogni)\w*|n't support|unsupported|unrecogni[sz]ed|unknown"
)
_REJECTED += r"|unexpected|extra (?:inputs?|fields?)|requires?|invalid|not implemented|no endpoints found|deprecated)"
_TOOLS = re.compile(
    rf"(?:\btools?\b|tool_choice|tool[- ]use|function[- ]call).{{0,120}}{_REJECTED}|{_REJECTED}.{{0,80}}"
    r"(?:\btools?\b|tool_choice|tool[- ]use|function[- ]call)",
    re.IGNORECASE | re.DOTALL,
)
_FORMAT = re.compile(r"response_format|json_schema|json_object|structured output|json mode|grammar", re.IGNORECASE)
_STRICT = re.compile(r"\bstrict\b", re.IGNORECASE)


class Capabilities:
    """What one endpoint's model accepts, as far as it has been found out; shared by all clients of the process."""

    def __init__(self, native_tools: bool = True) -> None:
        self.temperature = True
        self.limit = LIMITS[0]
        self.format = FORMATS[0]
        self.native_tools = native_tools
        self.stop = True
        self._lock = threading.Lock()
        self._notes: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """What was given up, in words, in the order it was found out."""
        return tuple(self._notes)

    def learn(self, fault: ApiFault, sent: dict[str, Any]) -> bool:
        """Give up what an error blames.

        Args:
            fault: The endpoint's answer.
            sent: The request's parameters, without messages. Other requests may have taught the same lesson
                meanwhile, so what was sent is compared, not what would be sent now.

        Returns:
            Whether the request is worth sending again, in another form.
        """
        if fault.status not in _COMPLAINTS or fault.param.startswith("messages"):
            return False
        with self._lock:
            return (
                self._learn_temperature(fault, sent)
                or self._learn_limit(fault, sent)
                or self._learn_stop(fault, sent)
                or self._learn_tools(fault, sent)
                or self._learn_format(fault, sent)
            )

    def _learn_temperature(self, fault: ApiFault, sent: dict[str, Any]) -> bool:
        if "temperature" not in sent or not _blames(fault, "temperature"):
            return False
        if self.temperature:
            self.temperature = False
            self._notes.append("temperature is not sent: the endpoint rejects it")
        return True

    def _learn_stop(self, fault: ApiFault, sent: dict[str, Any]) -> bool:
        if "stop" not in sent or not _blames(fault, "stop"):
            return False
        if self.stop:
            self.stop = False
            self._notes.append("no stop sequence is sent: the endpoint rejects it")
        return True

    def _learn_limit(self, fault: ApiFault, sent: dict[str, Any]) -> bool:
        name = next((limit for limit in LIMITS if limit and limit in sent), None)
        if name is None or not (_blames(fault, name) or any(_blames(fault, other) for other in LIMITS if other)):
            return False
        if self.limit == name:
            self.limit = LIMITS[LIMITS.index(name) + 1]
            instead = f"{self.limit} is sent instead of it" if self.limit else "no output limit is sent"
            self._notes.append(f"{name} is rejected by the endpoint: {instead}")
        return True

    def _learn_tools(self, fault: ApiFault, sent: dict[str, Any]) -> bool:
        if "tools" not in sent:
            return False
        # A fault in one tool's description is ours to mend, not a sign that tools do not work.
        if fault.param and fault.param not in ("tools", "tool_choice"):
            return False
        if not fault.param and not _TOOLS.search(fault.message):
            return False
        if self.native_tools:
            self.native_tools = False
            self._notes.append("tools are offered in words, calls read from JSON: the endpoint rejects `tools`")
        return True

    def _learn_format(self, fault: ApiFault, sent: dict[str, Any]) -> bool:
        asked = sent.get("response_format")
        if asked is None or not (
            fault.param.startswith("response_format")
            or _FORMAT.search(fault.message)
            or (_STRICT.search(fault.message) and not fault.param)
        ):
            return False
        used = format_of(asked)
        if self.format == used:
            self.format = FORMATS[FORMATS.index(used) + 1]
            how = {"json_schema_loose": "without strict", "json_object": "as json_object", "text": "in words only"}
            self._notes.append(f"JSON replies are asked for {how[self.format]}: the endpoint rejects more")
        return True


def format_of(response_format: dict[str, Any]) -> str:
    """Return which of `FORMATS` a request's ``response_format`` is."""
    if response_format["type"] != "json_schema":
        return "json_object"
    return "json_schema" if response_format["json_schema"].get("strict") else "json_schema_loose"


@cache
def capabilities_of(base_url: str | None, model: str, native_tools: bool) -> Capabilities:
    """Return the process's one memory of an endpoint's model."""
    return Capabilities(native_tools)


def _blames(fault: ApiFault, name: str) -> bool:
    if fault.param:
        return fault.param == name
    return re.search(rf"(?<![\w]){name}(?![\w])", fault.message) is not None
