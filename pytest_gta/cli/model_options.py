"""The model of commands that ask one outside of pytest: named as for a run, environment variables included."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pytest_gta.option import Option
from pytest_gta.options import OPTIONS
from pytest_gta.settings import LOCAL_MODEL, SettingsError

if TYPE_CHECKING:
    from pytest_gta.llm.endpoint import Endpoint

KEY = "OPENAI_API_KEY"


def _rows() -> tuple[Option, ...]:
    return tuple(option for option in OPTIONS if option.key in ("model", "base_url"))


def add_model_options(parser: argparse.ArgumentParser, purpose: str) -> None:
    """Add ``--model`` and ``--base-url``; each may be written ``--gta-...`` as well, as for pytest.

    Args:
        parser: The subcommand.
        purpose: What the model does, to follow "the model that".
    """
    group = parser.add_argument_group("model", f"as for a run; its key is in {KEY}")
    texts = {"model": f"the model that {purpose}", "base_url": "its OpenAI-compatible server (default: OpenAI)"}
    for option in _rows():
        short = option.flag.replace("--gta-", "--")
        variables = ", ".join((option.variable, *option.environment))
        group.add_argument(
            short, option.flag, dest=option.ini, metavar=option.metavar, help=f"{texts[option.key]}; env {variables}"
        )


def chosen_model(given: argparse.Namespace, environment: Mapping[str, str] = os.environ) -> tuple[str, str | None]:
    """Return the model's name and its server, None for OpenAI.

    Raises:
        SettingsError: When no model is named, or a value is not usable.
    """
    values: dict[str, str | None] = {}
    for option in _rows():
        texts = {option.flag.replace("--gta-", "--"): getattr(given, option.ini, None)}
        texts |= {name: environment.get(name, "") for name in (option.variable, *option.environment)}
        source, text = next(((source, text) for source, text in texts.items() if text and text.strip()), ("", ""))
        try:
            values[option.key] = option.parse(text) if text else None
        except ValueError as error:
            raise SettingsError(f"{source} {error}") from None
    model = values["model"]
    if model is None:
        raise SettingsError("no model is named: add --model=NAME (and --base-url=URL for a server of your own)")
    return model, values["base_url"]


def endpoint_of(model: str, base_url: str | None, environment: Mapping[str, str] = os.environ) -> Endpoint:
    """Return where a model is, with its key; a server of the user's own may need none.

    Raises:
        SettingsError: When it needs a key and has none, or cannot do what it is asked for.
    """
    from pytest_gta.llm.endpoint import Endpoint, key_of

    if model == LOCAL_MODEL:
        raise SettingsError("--model=local: the bundled model is too small for this; name another one")
    key = key_of(base_url, (KEY,), environment)
    if key is None:
        raise SettingsError(f"no API key for the model {model!r}: set {KEY}")
    try:
        return Endpoint(model, base_url, key)
    except ValueError as error:
        raise SettingsError(str(error)) from None
