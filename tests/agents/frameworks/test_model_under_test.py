from __future__ import annotations

import pytest

from pytest_gta.agents.frameworks.framework_agent import model_under_test
from pytest_gta.llm.endpoint import Endpoint


def test_a_server_of_the_users_own_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("GTA_MODEL", "m")
    monkeypatch.setenv("GTA_BASE_URL", "http://localhost:1/v1")
    assert model_under_test() == Endpoint("m", "http://localhost:1/v1", "not-needed")


def test_a_key_that_is_there_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " key ")
    monkeypatch.setenv("GTA_MODEL", "m")
    monkeypatch.setenv("GTA_BASE_URL", "")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:2/v1")
    assert model_under_test() == Endpoint("m", "http://localhost:2/v1", "key")
