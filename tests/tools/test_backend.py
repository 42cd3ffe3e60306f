"""Whether a tool is ready is told from what it declares, before it is called."""

from __future__ import annotations

import pytest

from pytest_gta.tools.backend import BUILT_IN, SETTINGS, VISION, Backend, Readiness, readiness

LIBRARY = Backend("a library", ("no_such_module_here",), "sight")
DEPENDENCY = Backend("a dependency", ("no_such_module_here", "json"))


def test_a_tool_that_declares_nothing_is_ready() -> None:
    assert readiness((), ()) == Readiness("built in")
    assert readiness((), ()).words == "ready"


def test_what_is_missing_is_named_with_what_brings_it() -> None:
    assert readiness((LIBRARY,), ()).words == "needs pip install 'pytest-gta[sight]'"
    assert readiness((DEPENDENCY,), ()).words == "needs pip install no_such_module_here"
    assert readiness((VISION,), ()).words == "needs set GTA_VISION_MODEL"
    assert readiness((Backend("p", program="no-such-program"),), ()).words == "needs the program no-such-program"
    both = readiness((VISION, LIBRARY), ())
    assert (both.ready, both.backend) == (False, "vision endpoint or a library")
    assert both.needs == ("set GTA_VISION_MODEL", "pip install 'pytest-gta[sight]'")


def test_the_first_backend_that_is_there_is_used_and_a_better_one_named() -> None:
    state = readiness((VISION, LIBRARY, BUILT_IN), ())
    assert (state.ready, state.backend, state.words) == (True, "built in", "ready (better: set GTA_VISION_MODEL)")
    state = readiness((VISION, BUILT_IN), {"vision"})
    assert (state.backend, state.words) == ("vision endpoint", "ready")


def test_an_endpoint_of_no_known_kind_is_a_mistake() -> None:
    with pytest.raises(ValueError, match=f"none of {', '.join(SETTINGS)}"):
        Backend("x", endpoint="telepathy")
