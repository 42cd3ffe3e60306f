"""What the environment sets up for tools to ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gta.tools.endpoint_settings import EndpointSettingsError, endpoints_from, set_up


def test_nothing_is_set_up_by_a_key_alone() -> None:
    assert set_up(endpoints_from({"OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": "https://h/v1"})) == frozenset()


def test_a_model_of_its_own_server_and_key() -> None:
    given = endpoints_from(
        {
            "GTA_VISION_MODEL": " seer ",
            "GTA_VISION_BASE_URL": "http://localhost:8000/v1",
            "GTA_VISION_API_KEY": "sk-own",
            "GTA_SPEECH_MODEL": "whisper-1",
            "OPENAI_API_KEY": "sk-common",
        }
    )
    assert given.vision is not None and given.speech is not None
    assert (given.vision.model, given.vision.base_url, given.vision.api_key) == (
        "seer",
        "http://localhost:8000/v1",
        "sk-own",
    )
    assert (given.speech.base_url, given.speech.api_key) == (None, "sk-common")
    assert set_up(given) == {"vision", "speech"}


def test_the_common_server_goes_with_the_common_key() -> None:
    given = endpoints_from({"GTA_IMAGE_MODEL": "painter", "OPENAI_BASE_URL": "https://h/v1", "OPENAI_API_KEY": "sk-x"})
    assert given.images is not None
    assert (given.images.base_url, given.images.api_key) == ("https://h/v1", "sk-x")


def test_searches() -> None:
    serper = endpoints_from({"SERPER_API_KEY": "k", "GTA_SEARCH_RECORD": "r.jsonl"}).search_settings
    assert (serper.chosen, serper.record) == ("serper", Path.cwd() / "r.jsonl")
    assert set_up(endpoints_from({"GTA_SEARCH_URL": "http://s:8080"})) == {"search"}
    both = {"SERPER_API_KEY": "k", "GTA_SEARCH_URL": "http://s:8080", "GTA_SEARCH_BACKEND": "SearXNG"}
    assert endpoints_from(both).search_settings.chosen == "searxng"


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"GTA_VISION_MODEL": "m", "GTA_VISION_BASE_URL": "ftp://h"}, "GTA_VISION_BASE_URL"),
        ({"GTA_SEARCH_BACKEND": "bing"}, "GTA_SEARCH_BACKEND.*serper, searxng, replay"),
        ({"GTA_SEARCH_BACKEND": "serper"}, "set SERPER_API_KEY"),
        ({"GTA_SEARCH_BACKEND": "searxng", "SERPER_API_KEY": "k"}, "set GTA_SEARCH_URL"),
        ({"GTA_SEARCH_BACKEND": "replay"}, "set GTA_SEARCH_REPLAY"),
        ({"GTA_SEARCH_REPLAY": "nowhere/r.jsonl"}, "nowhere/r.jsonl, and there is no such file"),
    ],
)
def test_what_is_not_usable_is_named(environment: dict[str, str], named: str) -> None:
    with pytest.raises(EndpointSettingsError, match=named):
        endpoints_from(environment)


def test_a_key_that_is_none_is_not_repeated() -> None:
    with pytest.raises(EndpointSettingsError) as fault:
        endpoints_from({"GTA_VISION_MODEL": "m", "GTA_VISION_API_KEY": "sk-secr\u00e9t"})
    assert "secr" not in str(fault.value)
