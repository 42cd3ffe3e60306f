"""What all agents of a run share in one process: dataset, judge, confinement, the run's control, the bundled model.

Everything heavy is made on first use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_gta.benchmark.atomic import AtomicDataset
from pytest_gta.benchmark.dataset import Dataset, DatasetError
from pytest_gta.benchmark.run_directory import CONTROL
from pytest_gta.option_values import ATOMIC
from pytest_gta.run import local_profile
from pytest_gta.run.selection import DatasetFinder, find_datasets, open_dataset
from pytest_gta.settings import ANSWER_KEY, LOCAL_MODEL, Settings, SettingsError

if TYPE_CHECKING:
    from pytest_gta.formats.renderers import Renderers
    from pytest_gta.judge.drawing_cache import DrawingCache
    from pytest_gta.judge.evidence import EvidenceBudget
    from pytest_gta.judge.judge import Judge
    from pytest_gta.judge.protocol import TaskJudge
    from pytest_gta.judge.waits import Waits
    from pytest_gta.judge_address import JudgeAddress
    from pytest_gta.llm.client import ChatClient
    from pytest_gta.llm.endpoint import Endpoint
    from pytest_gta.llm.local_model import LocalModelServer
    from pytest_gta.llm.run_control import RunControl
    from pytest_gta.workspace.confinement import Confinement

JUDGE_DEADLINE_S = 600.0
"""Seconds one leaf's verdict may take, retries and re-asks included."""

JUDGE_ATTEMPT_S = 150.0
"""Seconds in which the first request for a verdict must be answered; the second has twice as long."""


class Workshop:
    """What all agents of a run share in one process.

    Args:
        settings: The resolved options.
        environment: The environment variables, for keys.
        root: The directory of the whole run.
        local_url: Where the bundled model is served, when another process serves it.
        find_dataset: Gives the path of a dataset by its name, None for a name it does not know.

    Attributes:
        release: The dataset.
        found_datasets: The paths that `find_dataset` gave, by name.

    Raises:
        SettingsError: When the dataset is missing or wrong.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Mapping[str, str],
        root: Path,
        local_url: str | None = None,
        find_dataset: DatasetFinder = lambda _name: None,
    ) -> None:
        self.settings = settings
        self.environment = environment
        self.root = root
        self._local_url = local_url
        self._local_server: LocalModelServer | None = None
        self.on_progress: Callable[[str], None] = lambda _line: None
        """Told in one line before something takes long."""
        self.found_datasets = find_datasets(settings.dataset, find_dataset)
        try:
            chosen = [self.found_datasets.get(name, name) for name in settings.dataset]
            self.release: Dataset = open_dataset(chosen, fetched_datasets(environment))
            self.release.check()
        except DatasetError as error:
            raise SettingsError(f"--gta-dataset: {error}") from None
        _check_judge(settings, self.release)

    def check(self) -> None:
        """Find what would fail later, before anything is spent.

        Raises:
            SettingsError: When the key of a judge is missing, or its reasons must not be told to the agent.
        """
        if self.settings.feedback == "checkpoint" and isinstance(self.release, AtomicDataset):
            raise SettingsError(
                "--gta-feedback=checkpoint: the reason of an answer key names the answer; use --gta-feedback=coarse"
            )
        for address in self.settings.judges:
            self.key("judge", address.model, self._judge_url(address), address.key_variables)

    def look(self, role: str, model: str, base_url: str | None, variables: Sequence[str], *, may_be_away: bool) -> None:
        """Have a first look at a model: found now, what would fail every task costs nothing.

        Args:
            role: "model" or "judge".
            model: Its name.
            base_url: Its server, None for OpenAI's.
            variables: Where its key is looked for, in this order.
            may_be_away: Whether the run may do without it, with verdicts that were kept.

        Raises:
            SettingsError: When nobody answers, the key is refused or there is no such model.
        """
        from pytest_gta.llm.first_look import first_look
        from pytest_gta.llm.model_error import ModelErrorKind

        if model == LOCAL_MODEL:
            return
        endpoint = self.endpoint(role, model, base_url, variables)
        fault = first_look(endpoint)
        if fault is None or (may_be_away and fault.kind is ModelErrorKind.UNAVAILABLE):
            return
        option = "--gta-" if role == "model" else "--gta-judge-"
        step = {
            ModelErrorKind.UNAVAILABLE: f"; is the server running, and is {option}base-url right?",
            ModelErrorKind.AUTH: f"; is the key in {' or '.join(variables)} right?",
        }.get(fault.kind, "")
        status = f"{fault.status} " if fault.status else ""
        raise SettingsError(f"{option}model={model} at {endpoint.shown_url}: {status}{fault.message}{step}")

    def look_at_judges(self, *, may_be_away: bool) -> None:
        """Have a first look at each judge, as `look` does.

        Raises:
            SettingsError: When one of them cannot judge.
        """
        for address in self.settings.judges:
            self.look("judge", address.model, self._judge_url(address), address.key_variables, may_be_away=may_be_away)

    def start_local_model(self) -> str | None:
        """Serve the bundled model, when the run uses it, and return its address; once, for all workers."""
        if self._local_url is None and self.settings.uses_local_model:
            from pytest_gta.llm.local_model import LocalModelServer
            from pytest_gta.llm.local_weights import LocalModelUnavailable

            log = self.root / "local-model.log"
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

        return RunControl(self.root / CONTROL, slots=self.settings.judge_concurrency)

    @cached_property
    def judge(self) -> TaskJudge:
        """The judge or the panel, with clients, cache and limits; for questions with answers, their key."""
        if isinstance(self.release, AtomicDataset):
            from pytest_gta.judge.answer_rule import AnswerRule

            return AnswerRule(self.release.answer_keys)
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
            self._client(self.endpoint("judge", address.model, self._judge_url(address), address.key_variables)),
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

    @cached_property
    def drawings(self) -> DrawingCache | None:
        """What renderers have drawn before, beside the verdicts; None when nothing is kept."""
        from pytest_gta.judge.drawing_cache import FOLDER, DrawingCache

        kept = self.settings.cache
        return DrawingCache(kept / FOLDER) if kept else None

    def _client(self, endpoint: Endpoint) -> ChatClient:
        from pytest_gta.llm.client import ChatClient
        from pytest_gta.llm.retry import RetryPolicy

        # The bundled model may have a queue before it on a small machine, and does not hang.
        retry = RetryPolicy(attempt_s=None if endpoint.model == LOCAL_MODEL else JUDGE_ATTEMPT_S)
        return ChatClient(endpoint, control=self.control, on_wait=self.waits.put, retry=retry)

    def endpoint(self, role: str, model: str, base_url: str | None, variables: Sequence[str]) -> Endpoint:
        """Return where a model is, with its key.

        Args:
            role: "model" or "judge".
            model: Its name.
            base_url: Its server, None for OpenAI's.
            variables: Where its key is looked for, in this order.

        Raises:
            SettingsError: When its key is missing.
        """
        from pytest_gta.llm.endpoint import Endpoint

        if model == LOCAL_MODEL:
            return Endpoint(LOCAL_MODEL, self.start_local_model(), "local", native_tools=False)
        return Endpoint(model, base_url, self.key(role, model, base_url, variables))

    def key(self, role: str, model: str, base_url: str | None, variables: Sequence[str]) -> str:
        """Return the key of an endpoint; a server of the user's own may need none."""
        if model == LOCAL_MODEL:
            return "local"
        from pytest_gta.llm.endpoint import key_of

        key = key_of(base_url, variables, self.environment)
        if key is not None:
            return key
        option = "--gta-model" if role == "model" else "--gta-judge-model"
        raise SettingsError(
            f"no API key for the {role} {model!r}: set {' or '.join(variables)}, or use {option}=local (needs no key)"
        )


def _check_judge(settings: Settings, dataset: Dataset) -> None:
    for member in dataset.members:
        if isinstance(member, AtomicDataset) and member is not dataset:
            raise SettingsError(
                f"--gta-dataset: {member.location} is GTA-Atomic, whose questions are scored by their answers and not "
                "by a judge; run it by itself"
            )
    has_answers = isinstance(dataset, AtomicDataset)
    if has_answers and settings.judge_model != ANSWER_KEY:
        raise SettingsError(
            f"{dataset.location} is GTA-Atomic, whose questions are scored by their answers and not by a judge: "
            f"--gta-dataset={ATOMIC}, or --gta-judge-model={ANSWER_KEY}"
        )
    if settings.judge_model == ANSWER_KEY and not has_answers:
        raise SettingsError(f"--gta-judge-model={ANSWER_KEY}: {dataset.location} has no answers to compare with")


def fetched_datasets(environment: Mapping[str, str]) -> Path:
    """Return the folder of fetched datasets: ``$GTA_DATA``, else pytest-gta's folder in the user's cache."""
    given = environment.get("GTA_DATA", "").strip()
    if given:
        return Path(given).expanduser().absolute()
    cache = environment.get("XDG_CACHE_HOME", "").strip() or "~/.cache"
    return Path(cache).expanduser() / "pytest-gta" / "datasets"
