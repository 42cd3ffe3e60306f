"""The endpoints that tools ask, as environment variables set them up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from pytest_gta.llm.endpoint import NO_KEY, Endpoint
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.web_search import SearchSettings


class EndpointSettingsError(Exception):
    """A variable that the user has to change: the message names it and the reason, never its value."""


def endpoints_from(environment: Mapping[str, str] = os.environ) -> ToolEndpoints:
    """Return what the environment sets up for tools to ask.

    For each of ``VISION``, ``SPEECH`` and ``IMAGE``: ``GTA_..._MODEL`` names the model; ``GTA_..._BASE_URL`` the
    server, else ``OPENAI_BASE_URL``, else OpenAI; ``GTA_..._API_KEY`` the key, else ``OPENAI_API_KEY``. For searches:
    ``SERPER_API_KEY``, or ``GTA_SEARCH_URL`` for a SearXNG server; ``GTA_SEARCH_BACKEND`` when both are set;
    ``GTA_SEARCH_RECORD`` and ``GTA_SEARCH_REPLAY`` name the files to record to and to answer from.

    Raises:
        EndpointSettingsError: When a variable holds nothing usable.
    """

    def value(*names: str) -> str:
        return next((text for name in names if (text := environment.get(name, "").strip())), "")

    def endpoint(kind: str) -> Endpoint | None:
        model = value(f"GTA_{kind}_MODEL")
        if not model:
            return None
        address = value(f"GTA_{kind}_BASE_URL", "OPENAI_BASE_URL")
        key = value(f"GTA_{kind}_API_KEY", "OPENAI_API_KEY")
        try:
            return Endpoint(model, address or None, key or (NO_KEY if address else ""))
        except ValueError as error:
            raise EndpointSettingsError(f"GTA_{kind}_BASE_URL or its key is not usable: {error}") from None

    def path(name: str) -> Path | None:
        return Path(value(name)).expanduser().absolute() if value(name) else None

    try:
        search = SearchSettings(
            value("GTA_SEARCH_BACKEND").lower(),
            value("GTA_SEARCH_URL"),
            value("SERPER_API_KEY"),
            path("GTA_SEARCH_RECORD"),
            path("GTA_SEARCH_REPLAY"),
        )
    except ValueError as error:
        raise EndpointSettingsError(f"GTA_SEARCH_BACKEND: {error}") from None
    if search.missing:
        raise EndpointSettingsError(search.missing)
    return ToolEndpoints(endpoint("VISION"), endpoint("SPEECH"), endpoint("IMAGE"), search)


def set_up(endpoints: ToolEndpoints) -> frozenset[str]:
    """Return which kinds of endpoints there are, in the words of `pytest_gta.tools.backend.SETTINGS`."""
    there = {
        "vision": endpoints.vision,
        "speech": endpoints.speech,
        "image": endpoints.images,
        "search": endpoints.search_settings.chosen,
    }
    return frozenset(kind for kind, value in there.items() if value)
