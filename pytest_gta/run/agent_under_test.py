"""The agent that a run measures: which tasks it can be given, what must be there before it starts, how it is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gta.run import local_profile
from pytest_gta.settings import LOCAL_MODEL, Settings, SettingsError

if TYPE_CHECKING:
    from pytest_gta.agents.limits import Limits
    from pytest_gta.agents.protocol import Agent
    from pytest_gta.agents.seclusion import Seclusion
    from pytest_gta.llm.endpoint import Endpoint
    from pytest_gta.llm.run_control import RunControl


class AgentUnderTest:
    """What ``--gta-agent`` names.

    Args:
        settings: The resolved options.
        folder: pytest's root, where an ``import`` agent is looked for first.

    Attributes:
        spec: The specification, read.

    Raises:
        SettingsError: When it is not spelled in a known form.
    """

    def __init__(self, settings: Settings, folder: Path) -> None:
        from pytest_gta.agents.specification import AgentSpecError, parse_agent_spec

        self._settings = settings
        self._hidden: tuple[Path, ...] = ()
        self.import_paths: Sequence[Path] = (folder, Path.cwd())
        try:
            self.spec = parse_agent_spec(settings.agent, model=settings.model)
        except AgentSpecError as error:
            raise SettingsError(str(error)) from None

    @property
    def is_recorded(self) -> bool:
        """Whether its work is done already: it needs no inputs, and no key of a model."""
        return self.spec.kind in ("outputs", "pack")

    @property
    def needs_model_key(self) -> bool:
        """Whether ``--gta-model`` is asked with a key of ours; other agents may have a login of their own."""
        return self.spec.runs_the_model or bool(self.spec.harness)

    @cached_property
    def recorded_ids(self) -> frozenset[str] | None:
        """The tasks that have finished outputs; None for an agent that can be given any task.

        Raises:
            SettingsError: When the outputs cannot be read.
        """
        from pytest_gta.agents.specification import AgentSpecError

        try:
            if self.spec.kind == "outputs":
                from pytest_gta.agents.recorded_tasks import available_ids

                return frozenset(available_ids(self.spec.path))
            if self.spec.kind == "pack":
                from pytest_gta.agents.recorded_tasks import packed_ids

                return frozenset(packed_ids(self.spec.path))
        except AgentSpecError as error:
            raise SettingsError(str(error)) from None
        return None

    def check(self) -> None:
        """Find what would fail later, before anything is spent.

        Raises:
            SettingsError: When the agent is not there.
        """
        from pytest_gta.agents.specification import AgentSpecError

        if self.is_recorded and self._settings.repeat > 1:
            raise SettingsError(
                f"--gta-repeat={self._settings.repeat} runs the agent anew each time, but {self.spec.label} is work "
                "that is done already and the same each time; leave it out (`pytest-gta aa` shows the judge's noise)"
            )
        if self.spec.harness and self._settings.model in (None, LOCAL_MODEL):
            raise SettingsError(
                f"--gta-agent={self.spec.harness} needs a model of its own: add --gta-model=NAME (and "
                "--gta-base-url=URL); the bundled one, local, is for --gta-agent=tools and react"
            )
        if self.spec.kind == "manus" and not os.environ.get("MANUS_API_KEY", "").strip():
            raise SettingsError("--gta-agent=manus needs a key: set MANUS_API_KEY")
        if self.is_recorded and self._settings.feedback != "none":
            raise SettingsError(
                f"--gta-feedback={self._settings.feedback} lets the agent go on with its work, but {self.spec.label} "
                "is work that is done already; leave it out, or run the agent itself"
            )
        try:
            if self.spec.kind == "import":
                from pytest_gta.agents.imported import check_import

                check_import(self.spec.target, self.import_paths)
            elif self.spec.kind == "cmd":
                from pytest_gta.agents.command import read_command

                read_command(self.spec.target, self.import_paths)
        except AgentSpecError as error:
            if self.spec.harness:
                # That it is an import is our affair; what is missing is the user's.
                why = str(error).rpartition("ImportError: ")[2]
                raise SettingsError(f"--gta-agent={self.spec.harness}: {why}") from None
            raise SettingsError(str(error)) from None

    def hide(self, *paths: Path | None) -> None:
        """Name what a command must not see: the dataset, the run, verdicts of other runs."""
        self._hidden = tuple(path for path in paths if path is not None)

    @cached_property
    def seclusion(self) -> Seclusion | None:
        """What a command is kept from; None for any other agent."""
        if self.spec.kind != "cmd":
            return None
        from pytest_gta.agents.seclusion import choose_seclusion

        return choose_seclusion(self._settings.sandbox, self._hidden, self.import_paths)

    @property
    def limits(self) -> Limits:
        """The budgets of one task."""
        from pytest_gta.agents.limits import Limits

        limits = Limits(max_turns=self._settings.max_turns, task_timeout_s=self._settings.task_timeout)
        chosen = "max_turns" in dict(self._settings.given)
        if self.spec.follows_the_paper and not chosen:
            from pytest_gta.agents.react import MAX_TURNS

            limits = replace(limits, max_turns=MAX_TURNS)
        if self._settings.model == LOCAL_MODEL:
            turns = limits.max_turns if chosen else local_profile.TURNS
            limits = replace(limits, max_turns=turns, identical_calls=local_profile.IDENTICAL_CALLS)
        return limits

    @property
    def conditions(self) -> dict[str, int | float | str]:
        """What results say of how it works: its budgets, and the feedback it is given."""
        return {
            "max_turns": self.limits.max_turns,
            "task_timeout": self._settings.task_timeout,
            "tool_timeout": self._settings.tool_timeout,
            "feedback": self._settings.feedback,
        }

    def build(self, endpoint: Callable[[], Endpoint], control: RunControl) -> Agent:
        """Return the agent for one task.

        Args:
            endpoint: Gives the model under test; asked only when the agent is that model.
            control: What all processes of the run share.
        """
        from pytest_gta.agents.building import EXPOSED, build_agent

        told = {"GTA_MODEL": self._settings.model, "GTA_BASE_URL": self._settings.base_url}
        return build_agent(
            self.spec,
            self.limits,
            endpoint=endpoint() if self.spec.runs_the_model else None,
            control=control,
            import_paths=self.import_paths,
            environment={name: value for name, value in told.items() if value},
            seclusion=self.seclusion or EXPOSED,
        )
