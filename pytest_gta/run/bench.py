"""One agent of a run, in one process: its tasks, its run directory, its endpoints; and the workshop it is judged in.

The controller makes the run; a worker joins it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pytest_gta import __version__
from pytest_gta.benchmark.atomic import AtomicDataset
from pytest_gta.benchmark.run_directory import MANIFEST, OWN_FOLDER, RunDirectory
from pytest_gta.llm.addresses import place
from pytest_gta.options import OPTIONS
from pytest_gta.run import local_profile
from pytest_gta.run.agent_under_test import AgentUnderTest
from pytest_gta.run.run_place import check_unused, hold, new_run_dir
from pytest_gta.run.selection import DatasetFinder, repeats, select_tasks, task_id, why_nothing
from pytest_gta.run.workshop import Workshop, fetched_datasets
from pytest_gta.settings import LOCAL_MODEL, NothingSelected, Settings, SettingsError

if TYPE_CHECKING:
    from pytest_gta.agents.protocol import Agent
    from pytest_gta.agents.specification import AgentSpec
    from pytest_gta.benchmark.dataset import Dataset
    from pytest_gta.benchmark.results import RunResult, Verdict
    from pytest_gta.benchmark.task import Task, TaskFault
    from pytest_gta.formats.renderers import Renderers
    from pytest_gta.judge.evidence import EvidenceBudget
    from pytest_gta.judge.protocol import TaskJudge
    from pytest_gta.judge.waits import Waits
    from pytest_gta.llm.endpoint import Endpoint
    from pytest_gta.llm.run_control import RunControl
    from pytest_gta.tools.endpoints import ToolEndpoints
    from pytest_gta.tools.tool import Tool
    from pytest_gta.tools.toolbox import Toolbox
    from pytest_gta.workspace.confinement import Confinement
    from pytest_gta.workspace.workspace import Workspace

MODEL_KEYS = ("OPENAI_API_KEY",)
"""Where the key of the model under test is looked for."""


class Bench:
    """What one process needs to measure one agent.

    Args:
        settings: The resolved options, of one agent.
        folder: Where relative defaults start from (pytest's rootdir).
        environment: The environment variables, for keys.
        run_dir: The run's directory when another process made it; None in the process that makes it.
        local_url: Where the bundled model is served, when another process serves it.
        workshop: What it shares with the other agents of the run; one of its own unless given.
        find_dataset: Gives the path of a dataset by its name, None for a name it does not know.
        agent_under_test: The agent, when it has been looked at already.
        among: The tasks of the run, of which it takes those that the agent can; selected by the options unless given.

    Attributes:
        tasks: The selected tasks, a bad one as its fault.
        run: The agent's run directory.

    Raises:
        SettingsError: When the dataset, the tasks, the agent or a key is missing or wrong: before anything is spent.
    """

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        environment: Mapping[str, str] = os.environ,
        *,
        run_dir: Path | None = None,
        local_url: str | None = None,
        workshop: Workshop | None = None,
        find_dataset: DatasetFinder = lambda _name: None,
        agent_under_test: AgentUnderTest | None = None,
        among: Sequence[Task | TaskFault] | None = None,
    ) -> None:
        from pytest_gta.benchmark.dataset import DatasetError

        self.settings = settings
        self.folder = folder
        self._environment = environment
        self.agent_under_test = agent_under_test or AgentUnderTest(settings, folder)
        self.agent_spec: AgentSpec = self.agent_under_test.spec
        self.started_at = datetime.now(UTC)
        self.run = RunDirectory(
            run_dir
            or settings.resume
            or settings.run_dir
            or new_run_dir(self.folder, self.started_at, self.agent_spec.label)
        )
        self._held: IO[str] | None = None
        self.workshop = workshop or Workshop(settings, environment, self.run.whole, local_url, find_dataset)
        try:
            recorded = self.agent_under_test.recorded_ids
            if among is None:
                self.tasks = select_tasks(self.release, settings, recorded)
            else:
                self.tasks = tuple(task for task in among if recorded is None or task_id(task) in recorded)
        except DatasetError as error:
            raise SettingsError(str(error)) from None
        self.agent_under_test.hide(
            *self.release.paths,
            fetched_datasets(environment),
            settings.cache,
            settings.baseline,
            # Results hold rubrics: this run's, and those of earlier ones.
            self.workshop.root,
            *(found.parent for found in self.workshop.root.parent.glob(f"*/{MANIFEST}")),
            *(place / OWN_FOLDER for place in (self.folder, Path.cwd())),
        )

    # -- what it shares with other agents ------------------------------------------------------------------------------

    @property
    def release(self) -> Dataset:
        """The dataset."""
        return self.workshop.release

    @property
    def confinement(self) -> Confinement:
        """How tools and file readers are confined on this machine."""
        return self.workshop.confinement

    @property
    def control(self) -> RunControl:
        """What all processes of the run share."""
        return self.workshop.control

    @property
    def judge(self) -> TaskJudge:
        """Who judges."""
        return self.workshop.judge

    @property
    def waits(self) -> Waits:
        """What the judge's client says while it waits to try again."""
        return self.workshop.waits

    @property
    def evidence_budget(self) -> EvidenceBudget:
        """How much of the deliverables the judge is shown."""
        return self.workshop.evidence_budget

    @property
    def renderers(self) -> Renderers:
        """What draws deliverables for the judge."""
        return self.workshop.renderers

    def close(self) -> None:
        """End what this process started, and let others into the run directory."""
        self.workshop.close()
        if self._held is not None:
            self._held.close()

    # -- made by the controller ----------------------------------------------------------------------------------------

    def check(self) -> None:
        """Find what would fail later, before anything is spent.

        Raises:
            SettingsError: When a key is missing, the agent cannot be imported, or the run directory is not usable.
            NothingSelected: When there is no task to run.
        """
        if not self.tasks and not self.settings.shard:
            recorded = self.agent_under_test.is_recorded
            raise NothingSelected(why_nothing(self.release, self.settings, recorded=recorded))
        if self.settings.model and self.agent_under_test.needs_model_key:
            self.workshop.key("model", self.settings.model, self.settings.base_url, MODEL_KEYS)
        self.tool_endpoints("")
        self.workshop.check()
        self.agent_under_test.check()
        from pytest_gta.run.spending_limit import check_prices

        check_prices(self.settings, model_runs=self.agent_spec.runs_the_model)
        self.baseline  # noqa: B018 - read now, so that one that does not fit is found before anything is spent
        if self.settings.resume:
            self._check_same_run()
        else:
            check_unused(self.run.root)

    @cached_property
    def baseline(self) -> RunResult | None:
        """The run that this one is compared with."""
        if self.settings.baseline is None:
            return None
        from pytest_gta.run.finished_run import read_baseline

        return read_baseline(self.settings.baseline, self.manifest(), [task.base_slug for task in self.tasks])

    def begin(self) -> None:
        """Make the run directory, keep other runs out of it and write how the run is made.

        Raises:
            SettingsError: When another run is at work in it, or was meanwhile.
            OSError: When it cannot be written.
        """
        self._held = hold(self.run, resumed=self.settings.resume is not None)
        self.control.lift_halt()
        self.run.write_manifest(self.manifest())

    def select(self, run_keys: Collection[str]) -> None:
        """Note on disk which tasks are to run, besides those of earlier sessions: a report counts those never begun.

        Raises:
            NotWritten: When it cannot be noted.
        """
        manifest = self.manifest()
        earlier = manifest["selected"] if self.settings.resume else []
        places = {task.slug: place for place, task in enumerate(repeats(self.release.tasks(), self.settings.repeat))}
        selected = sorted({*earlier, *run_keys}, key=lambda run_key: (places.get(run_key, len(places)), run_key))
        self.run.write_manifest({**manifest, "selected": selected})

    def manifest(self) -> dict[str, Any]:
        """Return how the run is made: what `results.json` has under ``run``, and the options to go on with it."""
        earlier = self.run.manifest() if self.settings.resume else {}
        from pytest_gta.judge.prompt import PROMPT_VERSION
        from pytest_gta.judge.transport import interfaces_used

        return {
            "id": self.run.id,
            "started_at": earlier.get("started_at") or self.started_at.isoformat(timespec="seconds"),
            "pytest_gta_version": __version__,
            "python": sys.version.split()[0],
            "command": earlier.get("command") or " ".join(["pytest", *sys.argv[1:]]),
            "dataset": {
                "name": self.release.name,
                "path": self.release.location,
                "sha256": self.release.sha256,
                "tasks": len(self.release.task_ids),
            },
            "agent": {
                "kind": self.agent_spec.kind,
                "label": self.agent_spec.label,
                "model": self.settings.model,
                "base_url": self.settings.base_url,
                "settings": self.agent_under_test.conditions,
            },
            "judge": {
                "name": self._judge_name,
                "model": self.settings.judge_model,
                "base_url": self.settings.judge_base_url,
                "api": interfaces_used(self.run.control) or self.settings.judge_api,
                "samples": self.settings.judge_samples,
                "panel": [address.name for address in self.settings.judge_panel],
                "prompt_version": PROMPT_VERSION,
            },
            "sandbox": self.confinement.backend,
            "threshold": self.settings.threshold,
            "shard": self.settings.shard,
            "options": dict(self.settings.given),
            "selected": earlier.get("selected", [task.slug for task in self.tasks]),
        }

    @property
    def _judge_name(self) -> str:
        """All that a judge's scores depend on. By which interface it is asked is known only once it has been."""
        from pytest_gta.judge.prompt import PROMPT_VERSION

        where = f" at {place(self.settings.judge_base_url)}" if self.settings.judge_base_url else ""
        answers = f", {self.settings.judge_samples} answers a leaf" if self.settings.judge_samples > 1 else ""
        return f"{self.settings.judge_model}{where}{answers}, prompt {PROMPT_VERSION}"

    # -- what a task needs ---------------------------------------------------------------------------------------------

    @property
    def inputs_required(self) -> bool:
        """Whether a missing input stops a task: a live agent needs its inputs, finished outputs do not."""
        return not self.agent_under_test.is_recorded

    @property
    def keeps_scores(self) -> bool:
        """Whether scores on disk, of earlier sessions of the run, stand as long as it goes on with its judge."""
        return not self.settings.resume or self.settings.rejudge != "all"

    def may_reuse(self, verdict: Verdict) -> bool:
        """Whether a verdict on disk may stand, when it is of the same evidence."""
        return self.settings.rejudge != "all"

    def toolbox(
        self, task: Task, workspace: Workspace, contributed: Sequence[Tool], only: Sequence[str] | None = None
    ) -> Toolbox:
        """Return the tools of one task, those named in `only` if given, bound to its workspace."""
        from pytest_gta.tools.table import TOOLS
        from pytest_gta.tools.toolbox import Toolbox

        metadata: Mapping[str, Mapping[str, Any]] = self.release.tools_of(task)
        if self.settings.model == LOCAL_MODEL and not isinstance(self.release, AtomicDataset):
            specs = [tool.spec for tool in TOOLS]
            metadata = local_profile.tool_metadata(workspace.request, workspace.inputs, specs)
        return Toolbox(
            workspace,
            self.confinement,
            only=only,
            metadata=metadata,
            timeout_s=self.settings.tool_timeout,
            extra=contributed,
            endpoints=self.tool_endpoints(task.slug),
        )

    def tool_endpoints(self, scope: str) -> ToolEndpoints:
        """Return the models and the web search that tools ask, for one task.

        Args:
            scope: The task's run key, by which its searches are told apart in the record.

        Raises:
            SettingsError: When one of them is not usable.
        """
        from pytest_gta.tools.endpoint_settings import EndpointSettingsError, endpoints_from
        from pytest_gta.tools.endpoints import ToolEndpoints

        chosen = {option.variable: text for option in OPTIONS if (text := dict(self.settings.given).get(option.key))}
        try:
            endpoints = endpoints_from({**self._environment, **chosen})
        except EndpointSettingsError as error:
            raise SettingsError(str(error)) from None
        record = endpoints.search_settings.record or self.run.root / "searches.jsonl"
        search = replace(endpoints.search_settings, scope=scope, record=record)
        return ToolEndpoints(endpoints.vision, endpoints.speech, endpoints.images, search)

    def agent(self) -> Agent:
        """Return the agent under test for one task."""
        return self.agent_under_test.build(lambda: self.model_endpoint, self.control)

    @cached_property
    def model_endpoint(self) -> Endpoint:
        """Where the model under test is."""
        return self.workshop.endpoint("model", self.settings.model or "", self.settings.base_url, MODEL_KEYS)

    def _check_same_run(self) -> None:
        earlier = self.run.manifest()
        for what, before, now in (
            ("dataset", earlier["dataset"]["sha256"], self.release.sha256),
            ("agent", earlier["agent"]["label"], self.agent_spec.label),
            ("model", earlier["agent"]["model"], self.settings.model),
            # Second attempts can be added to a run that had none.
            ("--gta-feedback", _feedback(earlier) or self.settings.feedback, self.settings.feedback),
            # Run keys end in _r1, _r2 with repeats only; more repeats can be added to repeats.
            ("--gta-repeat", _times(earlier["options"].get("repeat")), _times(self.settings.repeat)),
        ):
            if before != now:
                raise SettingsError(
                    f"--gta-resume: {self.run.root} was made with another {what} ({str(before)[:40]}, "
                    f"now {str(now)[:40]}); leave that option out, or start a new run"
                )


def _times(repeat: str | int | None) -> str:
    return "1" if str(repeat or 1) == "1" else "several"


def _feedback(manifest: Mapping[str, Any]) -> str | None:
    given = manifest["options"].get("feedback")
    return None if given == "none" else given
