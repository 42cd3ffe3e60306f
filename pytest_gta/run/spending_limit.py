"""How ``--gta-max-cost`` and ``--gta-max-tokens`` act on a run: what is priced, and which task may still begin."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_gta.benchmark.results import TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory, TaskDirectory
from pytest_gta.benchmark.usage import Tokens
from pytest_gta.llm.endpoint import OPENAI_URL, Endpoint
from pytest_gta.llm.pricing import price
from pytest_gta.llm.run_control import RunControl
from pytest_gta.llm.spending import Budget, Ledger
from pytest_gta.settings import LOCAL_MODEL, Settings, SettingsError

if TYPE_CHECKING:
    from pytest_gta.run.bench import Bench


def budget_of(settings: Settings) -> Budget:
    """Return what a run may spend."""
    return Budget(settings.max_cost, settings.max_tokens)


def paid_models(settings: Settings, *, model_runs: bool) -> Iterator[tuple[str, str, str | None]]:
    """Yield who is asked in a run: "model" or "judge", the name, and the server (None for OpenAI).

    Args:
        settings: The options.
        model_runs: Whether the agent is the model of ``--gta-model`` itself.
    """
    if model_runs and settings.model:
        yield "model", settings.model, settings.base_url
    for judge in settings.judges:
        yield "judge", judge.model, judge.base_url or settings.judge_base_url


def is_priced(model: str, base_url: str | None) -> bool:
    """Return whether the price of a model is known; the bundled one costs nothing."""
    return model == LOCAL_MODEL or price(Endpoint(model, base_url, ""), Tokens(input=1)) is not None


def check_prices(settings: Settings, *, model_runs: bool) -> None:
    """Refuse a limit of money where money cannot be counted.

    Raises:
        SettingsError: When the price of a model that the run asks is not known.
    """
    if settings.max_cost is None:
        return
    for role, model, base_url in paid_models(settings, model_runs=model_runs):
        if not is_priced(model, base_url):
            raise SettingsError(
                f"--gta-max-cost: the price of the {role} {model!r} at {base_url or OPENAI_URL} is not known, so "
                "what it costs cannot be counted; limit it by --gta-max-tokens instead"
            )


def remarks(settings: Settings, *, counted: bool) -> Iterator[str]:
    """Yield what is not counted against a budget, a line each.

    Args:
        settings: The options.
        counted: Whether each model call of the agents is seen; else they count by what they report.
    """
    if settings.max_cost is None and settings.max_tokens is None:
        return
    if not counted:
        yield "budget: an agent of your own counts by what it reports, once a task has ended"
    if any((settings.vision_model, settings.speech_model, settings.image_model)):
        yield "budget: the models that tools ask are not counted"


def why_not_begin(bench: Bench, directory: TaskDirectory) -> str | None:
    """Return why a task shall not begin: the run was halted, or its budget is reached. None when it may.

    A task whose agent has ended is still judged after a halt, but not when the budget is reached.
    """
    halted = bench.control.halted()
    if halted and directory.agent() is None:
        return halted
    reached = budget_of(bench.settings).reached(bench.control.ledger.spent())
    if reached is None:
        return None
    earlier = directory.result()
    return None if earlier is not None and earlier.status is TaskStatus.GRADED else reached


def why_stopped(run: RunDirectory, settings: Settings) -> str | None:
    """Return why a run stopped beginning tasks, None when it did not.

    Args:
        run: The run directory.
        settings: Its options.
    """
    control = run.control
    if not control.is_dir():
        return None
    return RunControl(control, slots=1).halted() or budget_of(settings).reached(Ledger(control).spent())
