"""What one process of a run shares: dataset, tasks, run directory, endpoints, judge, confinement.

The controller makes the run; a worker joins it. Everything heavy is made on first use.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_gta import __version__, local_profile
from pytest_gta.agent_under_test import AgentUnderTest
from pytest_gta.benchmark.release import Release
from pytest_gta.benchmark.run_directory import CONTROL, RunDirectory
from pytest_gta.options import OPTIONS
from pytest_gta.selection import open_dataset, select_tasks
from pytest_gta.settings import LOCAL_MODEL, Settings, SettingsError

if TYPE_CHECKING:
    from pytest_gta.agents.protocol import Agent
    from pytest_gta.agents.specification import AgentSpec
    from pytest_gta.benchmark.results import RunResult, Verdict
    from pytest_gta.formats.renderers import Renderers
    from pytest_gta.judge.evidence import EvidenceBudget
    from pytest_gta.judge.judge import Judge
    from pytest_gta.judge.protocol import TaskJudge
    from pytest_gta.judge.waits import Waits
    from pytest_gta.judge_address import JudgeAddress
    from pytest_gta.llm.client import ChatClient
    from pytest_gta.llm.endpoint import Endpoint
    from pytest_gta.llm.local_model import LocalModelServer
    from pytest_gta.llm.run_control import RunControl
    from pytest_gta.tools.endpoints import ToolEndpoints
    from pytest_gta.tools.tool import Tool
    from pytest_gta.tools.toolbox import Toolbox
    from pytest_gta.workspace.confinement import Confinement
    from pytest_gta.workspace.workspace import Workspace

JUDGE_DEADLINE_S = 600.0
"""Seconds one leaf's verdict may take, retries and re-asks included."""


class Bench:
    """What one process of an active run shares.

    Args:
        settings: The resolved options.
        folder: Where relative defaults start from (pytest's rootdir).
        environment: The environment variables, for keys.
        run_dir: The run's directory when another process made it; None in the process that makes it.
        local_url: Where the bundled model is served, when another process serves it.

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
    ) -> None:
        from pytest_gta.benchmark.release import DatasetError

        self.settings = settings
        self.folder = folder
        self._environment = environment
        self._local_url = local_url
        self._local_server: LocalModelServer | None = None
        self.on_progress: Callable[[str], None] = lambda _line: None
        """Told in one line before something takes long."""
        self.agent_under_test = AgentUnderTest(settings, folder)
        self.agent_spec: AgentSpec = self.agent_under_test.spec
        try:
            self.release: Release = open_dataset(settings.dataset, fetched_datasets(environment))
            self.release.tool_metadata  # noqa: B018 - read now, so that a broken one is found before anything is spent
            self.tasks = select_tasks(self.release, settings, self.agent_under_test.recorded_ids)
        except DatasetError as error:
            raise SettingsError(str(error)) from None
        self.started_at = datetime.now(UTC)
        self.run = RunDirectory(run_dir or settings.resume or settings.run_dir or self._new_run_dir())
        self.agent_under_test.hide(self.release.path, fetched_datasets(environment), self.run.root, settings.cache)

    # -- made by the controller ----------------------------------------------------------------------------------------

    def check(self) -> None:
        """Find what would fail later, before anything is spent.

        Raises:
            SettingsError: When a key is missing, the agent cannot be imported, or the run directory is not usable.
        """
        if not self.tasks and not self.settings.shard:
            raise SettingsError(
                f"no task of {self.release.path} is selected; see --gta-task, --gta-category"
                + (" and what --gta-agent holds" if self.agent_under_test.is_recorded else "")
            )
        if self.settings.model and not self.agent_under_test.is_recorded:
            self._key("model", self.settings.model, self.settings.base_url, ("OPENAI_API_KEY",))
        self.tool_endpoints("")
        for address in self.settings.judges:
            self._key("judge", address.model, self._judge_url(address), address.key_variables)
        self.agent_under_test.check()
        from pytest_gta.spending_limit import check_prices

        check_prices(self.settings, model_runs=self.agent_spec.runs_the_model)
        self.baseline  # noqa: B018 - read now, so that one that does not fit is found before anything is spent
        if self.settings.resume:
            self._check_same_run()
        elif (self.run.root / "run.json").exists():
            raise SettingsError(
                f"--gta-run-dir: {self.run.root} already holds a run; go on with it by --gta-resume={self.run.root}, "
                "or name another directory"
            )

    @cached_property
    def baseline(self) -> RunResult | None:
        """The run that this one is compared with."""
        if self.settings.baseline is None:
            return None
        from pytest_gta.finished_run import read_baseline

        return read_baseline(self.settings.baseline, self.manifest(), [task.base_slug for task in self.tasks])

    def begin(self) -> None:
        """Make the run directory and write how the run is made."""
        self.control.lift_halt()
        self.run.write_manifest(self.manifest())

    def manifest(self) -> dict[str, Any]:
        """Return how the run is made: what `results.json` has under ``run``, and the options to go on with it."""
        earlier = self.run.manifest() if self.settings.resume else {}
        judge_model = self.settings.judge_model
        from pytest_gta.judge.prompt import PROMPT_VERSION
        from pytest_gta.judge.transport import interfaces_used

        return {
            "id": self.run.root.name,
            "started_at": earlier.get("started_at") or self.started_at.isoformat(timespec="seconds"),
            "pytest_gta_version": __version__,
            "python": sys.version.split()[0],
            "command": earlier.get("command") or " ".join(["pytest", *sys.argv[1:]]),
            "dataset": {
                "name": self.release.name,
                "path": str(self.release.path),
                "sha256": self.release.sha256,
                "tasks": len(self.release.task_ids),
            },
            "agent": {
                "kind": self.agent_spec.kind,
                "label": self.agent_spec.label,
                "model": self.settings.model,
                "base_url": self.settings.base_url,
                "settings": {
                    "max_turns": self.agent_under_test.limits.max_turns,
                    "task_timeout": self.settings.task_timeout,
                    "tool_timeout": self.settings.tool_timeout,
                },
            },
            "judge": {
                "model": judge_model,
                "base_url": self.settings.judge_base_url,
                "api": interfaces_used(self.run.root / CONTROL) or self.settings.judge_api,
                "samples": self.settings.judge_samples,
                "panel": [address.name for address in self.settings.judge_panel],
                "prompt_version": PROMPT_VERSION,
            },
            "sandbox": self.confinement.backend,
            "threshold": self.settings.threshold,
            "shard": self.settings.shard,
            "options": dict(self.settings.given),
            "selected": [task.slug for task in self.tasks],
        }

    def start_local_model(self) -> str | None:
        """Serve the bundled model, when the run uses it, and return its address; once, for all workers."""
        if self._local_url is None and self.settings.uses_local_model:
            from pytest_gta.llm.local_model import LocalModelServer
            from pytest_gta.llm.local_weights import LocalModelUnavailable

            log = self.run.root / "local-model.log"
            server = self._local_server = LocalModelServer(log=log, on_progress=self.on_progress)
            try:
                self._local_url = server.start().base_url
            except LocalModelUnavailable as error:
                raise SettingsError(str(error)) from None
        return self._local_url

    def close(self) -> None:
        """End what this process started."""
        if self._local_server is not None:
            self._local_server.stop()
            self._local_server = None

    # -- what a task needs ---------------------------------------------------------------------------------------------

    @property
    def inputs_required(self) -> bool:
        """Whether a missing input stops a task: a live agent needs its inputs, finished outputs do not."""
        return not self.agent_under_test.is_recorded

    @cached_property
    def confinement(self) -> Confinement:
        """How tools and file readers are confined on this machine."""
        from pytest_gta.workspace.confinement import ConfinementUnavailable, choose_confinement

        try:
            return choose_confinement(self.settings.sandbox)
        except ConfinementUnavailable as error:
            raise SettingsError(f"--gta-sandbox: {error}") from None

    @cached_property
    def control(self) -> RunControl:
        """What all processes of the run share: judge calls in flight, pauses, and the order to stop."""
        from pytest_gta.llm.run_control import RunControl

        return RunControl(self.run.root / CONTROL, slots=self.settings.judge_concurrency)

    @cached_property
    def judge(self) -> TaskJudge:
        """The judge or the panel, with clients, cache and limits."""
        judges = {address.name: self._judge_at(address) for address in self.settings.judges}
        if len(judges) == 1:
            return next(iter(judges.values()))
        from pytest_gta.judge.panel import Panel

        return Panel(judges, self.waits)

    @cached_property
    def waits(self) -> Waits:
        """What the judge's client says while it waits to try again."""
        from pytest_gta.judge.waits import Waits

        return Waits()

    def _judge_at(self, address: JudgeAddress) -> Judge:
        from pytest_gta.judge.cache import VerdictCache
        from pytest_gta.judge.judge import Judge
        from pytest_gta.judge.prompt import PromptStyle
        from pytest_gta.judge.transport import JudgeApi

        # What is judged anew is kept for later, and nothing earlier is looked up.
        kept, anew = self.settings.cache, self.settings.rejudge == "all"
        return Judge(
            self._client(self._endpoint("judge", address.model, self._judge_url(address), address.key_variables)),
            control=self.control,
            style=PromptStyle.COMPACT if address.model == LOCAL_MODEL else PromptStyle.FULL,
            samples=self.settings.judge_samples,
            deadline_s=JUDGE_DEADLINE_S,
            cache=VerdictCache(kept, reads=not anew) if kept else None,
            api=JudgeApi(self.settings.judge_api),
            waits=self.waits,
        )

    def _judge_url(self, address: JudgeAddress) -> str | None:
        return address.base_url or self.settings.judge_base_url

    @cached_property
    def evidence_budget(self) -> EvidenceBudget:
        """How much of the deliverables the judge is shown."""
        from pytest_gta.judge.evidence import EvidenceBudget

        if self.settings.judge_model == LOCAL_MODEL:
            return EvidenceBudget(characters=local_profile.EVIDENCE_CHARACTERS, pictures=0)
        return EvidenceBudget()

    @cached_property
    def renderers(self) -> Renderers:
        """What draws deliverables for the judge on this machine; nothing when it is shown no pictures."""
        from pytest_gta.formats.renderers import Renderers, find_renderers

        wanted = self.settings.render == "auto" and self.evidence_budget.pictures > 0
        return find_renderers() if wanted else Renderers()

    def may_reuse(self, verdict: Verdict) -> bool:
        """Whether a verdict on disk may stand, when it is of the same evidence."""
        return self.settings.rejudge != "all"

    def toolbox(self, workspace: Workspace, contributed: Sequence[Tool], scope: str) -> Toolbox:
        """Return the tools of one task, bound to its workspace."""
        from pytest_gta.tools.table import TOOLS
        from pytest_gta.tools.toolbox import Toolbox

        metadata: Mapping[str, Mapping[str, Any]] = self.release.tool_metadata
        if self.settings.model == LOCAL_MODEL:
            specs = [tool.spec for tool in TOOLS]
            metadata = local_profile.tool_metadata(workspace.request, workspace.inputs, specs)
        return Toolbox(
            workspace,
            self.confinement,
            metadata=metadata,
            timeout_s=self.settings.tool_timeout,
            extra=contributed,
            endpoints=self.tool_endpoints(scope),
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
        return self._endpoint("model", self.settings.model or "", self.settings.base_url, ("OPENAI_API_KEY",))

    # -- keys, addresses, places ---------------------------------------------------------------------------------------

    def _client(self, endpoint: Endpoint) -> ChatClient:
        from pytest_gta.llm.client import ChatClient

        return ChatClient(endpoint, control=self.control, on_wait=self.waits.put)

    def _endpoint(self, role: str, model: str, base_url: str | None, variables: Sequence[str]) -> Endpoint:
        from pytest_gta.llm.endpoint import Endpoint

        if model == LOCAL_MODEL:
            return Endpoint(LOCAL_MODEL, self.start_local_model(), "local", native_tools=False)
        return Endpoint(model, base_url, self._key(role, model, base_url, variables))

    def _key(self, role: str, model: str, base_url: str | None, variables: Sequence[str]) -> str:
        """Return the key of an endpoint; a server of the user's own may need none."""
        if model == LOCAL_MODEL:
            return "local"
        for variable in variables:
            if self._environment.get(variable, "").strip():
                return self._environment[variable].strip()
        if base_url and urlsplit(base_url).hostname != "api.openai.com":
            return "not-needed"
        option = "--gta-model" if role == "model" else "--gta-judge-model"
        raise SettingsError(
            f"no API key for the {role} {model!r}: set {' or '.join(variables)}, or use {option}=local (needs no key)"
        )

    def _new_run_dir(self) -> Path:
        stamp = self.started_at.strftime("%Y%m%dT%H%M%SZ")
        runs = self.folder / ".gta" / "runs"
        name = f"{stamp}-{self.agent_spec.label}"
        taken = next(n for n in itertools.count(1) if not (runs / (name if n == 1 else f"{name}-{n}")).exists())
        return runs / (name if taken == 1 else f"{name}-{taken}")

    def _check_same_run(self) -> None:
        earlier = self.run.manifest()
        for what, before, now in (
            ("dataset", earlier["dataset"]["sha256"], self.release.sha256),
            ("agent", earlier["agent"]["label"], self.agent_spec.label),
            ("model", earlier["agent"]["model"], self.settings.model),
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


def fetched_datasets(environment: Mapping[str, str]) -> Path:
    """Return the folder of fetched datasets: ``$GTA_DATA``, else pytest-gta's folder in the user's cache."""
    given = environment.get("GTA_DATA", "").strip()
    if given:
        return Path(given).expanduser().absolute()
    cache = environment.get("XDG_CACHE_HOME", "").strip() or "~/.cache"
    return Path(cache).expanduser() / "pytest-gta" / "datasets"
