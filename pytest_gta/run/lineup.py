"""The agents of a run: each with a bench and a run directory of its own, all with the same tasks and the same judge."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pytest_gta.agents.specification import split_name
from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.benchmark.run_directory import MANIFEST, RunDirectory
from pytest_gta.run.agent_under_test import AgentUnderTest
from pytest_gta.run.bench import MODEL_KEYS, Bench
from pytest_gta.run.pairing import Pairing, pairings
from pytest_gta.run.run_place import check_unused, hold, new_run_dir
from pytest_gta.run.selection import DatasetFinder, select_tasks
from pytest_gta.run.workshop import Workshop
from pytest_gta.settings import Settings, SettingsError

if TYPE_CHECKING:
    from pytest_gta.benchmark.task import Task, TaskFault


@dataclass(frozen=True, slots=True)
class Contender:
    """One agent of a run.

    Attributes:
        label: What ids, folders and reports call it; "" when it is the only one.
        bench: What measures it.
    """

    label: str
    bench: Bench

    def key(self, run_key: str) -> str:
        """Return what tells one of its tasks from those of all agents: the id of the test item."""
        return f"{run_key}-{self.label}" if self.label else run_key


class Lineup:
    """The agents of a run.

    Args:
        settings: The resolved options.
        folder: Where relative defaults start from (pytest's rootdir).
        environment: The environment variables, for keys.
        run_dir: The run's directory when another process made it; None in the process that makes it.
        local_url: Where the bundled model is served, when another process serves it.
        find_dataset: Gives the path of a dataset by its name, None for a name it does not know.

    Attributes:
        settings: The options of the whole run.
        contenders: The agents, in the order in which they were given.
        tasks: The tasks of the run, a bad one as its fault; an agent with finished outputs may have only some.
        run: The directory of the whole run.
        workshop: What they share.

    Raises:
        SettingsError: When the dataset, the tasks, or an agent is missing or wrong; it names the agent.
    """

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        environment: Mapping[str, str] = os.environ,
        *,
        run_dir: Path | None = None,
        local_url: str | None = None,
        find_dataset: DatasetFinder = lambda _name: None,
    ) -> None:
        self.settings, self.folder = settings, folder
        self._held: IO[str] | None = None
        chosen = pairings(settings)
        if len(chosen) == 1:
            alone = replace(settings, agent=chosen[0].spec, model=chosen[0].model)
            bench = Bench(alone, folder, environment, run_dir=run_dir, local_url=local_url, find_dataset=find_dataset)
            self.contenders: tuple[Contender, ...] = (Contender("", bench),)
            self.run, self.workshop, self.tasks = bench.run, bench.workshop, bench.tasks
            return
        label = "-".join(pairing.label for pairing in chosen)[:60].rstrip("-_")
        root = run_dir or settings.resume or settings.run_dir or new_run_dir(folder, datetime.now(UTC), label)
        self.run = RunDirectory(root)
        self.workshop = Workshop(settings, environment, root, local_url, find_dataset)
        several = [(pairing.label, _of_one(settings, pairing, self.run)) for pairing in chosen]
        agents = {}
        for name, own in several:
            with _naming(name):
                agents[name] = AgentUnderTest(own, folder)
        self.tasks = self._tasks(agents)
        made = []
        for name, own in several:
            with _naming(name):
                bench = Bench(
                    own,
                    folder,
                    environment,
                    run_dir=self.run.of_agent(name).root,
                    workshop=self.workshop,
                    agent_under_test=agents[name],
                    among=self.tasks,
                )
            made.append(Contender(name, bench))
        self.contenders = tuple(made)

    @property
    def is_several(self) -> bool:
        """Whether there is more than one agent."""
        return len(self.contenders) > 1

    def items(self) -> Iterator[tuple[Contender, Task | TaskFault]]:
        """Yield what is to be run: all agents on the first task, then all on the next, so that none is far ahead."""
        places = {task.slug: place for place, task in enumerate(self.tasks)}
        pairs = [(contender, task) for contender in self.contenders for task in contender.bench.tasks]
        yield from sorted(pairs, key=lambda pair: (places[pair[1].slug], pair[0].label))

    @cached_property
    def tasks_by_key(self) -> Mapping[str, tuple[Contender, str]]:
        """The agent and the run key of each item, by the item's id."""
        return {contender.key(task.slug): (contender, task.slug) for contender, task in self.items()}

    # -- made by the controller ----------------------------------------------------------------------------------------

    def check(self) -> None:
        """Find what would fail later, before anything is spent.

        Raises:
            SettingsError: When a key is missing, an agent cannot be used, or the run directory is not usable.
        """
        if not self.is_several:
            self._check_is_of_one()
            self.contenders[0].bench.check()
        else:
            self._check_several()
        # Imported here: it knows what results are, which a list of tests need not wait for.
        from pytest_gta.run.written_reports import check_targets

        check_targets(self.settings)
        # A resumed run may have all it needs.
        if not self.settings.resume:
            self._look()

    def _check_several(self) -> None:
        if self.settings.resume:
            self._check_same_agents()
        else:
            check_unused(self.run.root)
        self.workshop.check()
        self.contenders[0].bench.tool_endpoints("")
        for contender in self.contenders:
            with _naming(contender.label):
                contender.bench.check()

    def _look(self) -> None:
        """Have a first look at every model that the run asks."""
        benches = [contender.bench for contender in self.contenders]
        for model, url in dict.fromkeys(
            (bench.settings.model, bench.settings.base_url)
            for bench in benches
            if bench.settings.model and bench.agent_under_test.needs_model_key
        ):
            self.workshop.look("model", model, url, MODEL_KEYS, may_be_away=False)
        self.workshop.look_at_judges(may_be_away=all(bench.agent_under_test.is_recorded for bench in benches))

    def begin(self) -> None:
        """Make the run directory, keep other runs out of it and write how the run is made.

        Raises:
            SettingsError: When another run is at work in it, or was meanwhile.
            OSError: When it cannot be written.
        """
        if self.is_several:
            self._held = hold(self.run, resumed=self.settings.resume is not None)
            self.run.write_manifest(self.manifest())
        for contender in self.contenders:
            contender.bench.begin()

    def manifest(self) -> dict[str, Any]:
        """Return how a run of several agents is made: what they have in common, and who they are."""
        own = ("agent", "selected")
        common = {key: value for key, value in self.contenders[0].bench.manifest().items() if key not in own}
        agents = [
            {"label": one.label, "kind": one.bench.agent_spec.kind, "model": one.bench.settings.model}
            for one in self.contenders
        ]
        return common | {"id": self.run.root.name, "options": dict(self.settings.given), "agents": agents}

    def close(self) -> None:
        """End what this process started."""
        for contender in self.contenders:
            contender.bench.close()
        if self._held is not None:
            self._held.close()
            self._held = None

    def _tasks(self, agents: Mapping[str, AgentUnderTest]) -> tuple[Task | TaskFault, ...]:
        """Return the tasks of the run, of which each agent takes those that it can: the same for all."""
        recorded = []
        for name, agent in agents.items():
            with _naming(name):
                recorded.append(agent.recorded_ids)
        only: Collection[str] | None = None
        if all(ids is not None for ids in recorded):
            only = frozenset(task_id for ids in recorded if ids is not None for task_id in ids)
        try:
            return select_tasks(self.workshop.release, self.settings, only)
        except DatasetError as error:
            raise SettingsError(str(error)) from None

    def _check_is_of_one(self) -> None:
        agents = RunDirectory(self.settings.resume).agents() if self.settings.resume else ()
        if agents:
            raise SettingsError(
                f"--gta-resume: {self.run.root} is a run of several agents ({', '.join(agents)}); leave --gta-agent "
                f"and --gta-model out, or go on with one of them: --gta-resume={self.run.of_agent(agents[0]).root}"
            )

    def _check_same_agents(self) -> None:
        earlier, now = self.run.agents(), [contender.label for contender in self.contenders]
        if not earlier:
            raise SettingsError(
                f"--gta-resume: {self.run.root} is a run of one agent, now there are {len(now)}; leave --gta-agent and "
                "--gta-model out, or start a new run"
            )
        missing = [label for label in earlier if label not in now]
        if missing:
            raise SettingsError(
                f"--gta-resume: {self.run.root} was made with {', '.join(missing)} as well; agents can be added to a "
                "run, not taken away (choose among them with -k)"
            )


def _of_one(settings: Settings, pairing: Pairing, run: RunDirectory) -> Settings:
    """Return the options of one agent of several: those of a run that measures it alone, with the same judge."""
    # Imported here: both know what results are, which costs a tenth of a second that a list of tests need not pay.
    from pytest_gta.run.finished_run import baseline_of
    from pytest_gta.run.written_reports import beside

    root = run.of_agent(pairing.label).root
    agent = f"{pairing.label}={split_name(pairing.spec)[1]}"
    given = dict(settings.given) | {"agent": agent, "judge_model": settings.judge_model}
    if pairing.model is None:
        given.pop("model", None)
    else:
        given["model"] = pairing.model
    if settings.judge_panel:
        given.pop("judge_model")
    baseline = baseline_of(settings.baseline, pairing.label) if settings.baseline else None
    if baseline is not None:
        given["baseline"] = str(baseline)
    given.pop("markdown", None)
    json = beside(settings.json, pairing.label) if settings.json else None
    report = beside(settings.report, pairing.label) if isinstance(settings.report, Path) else settings.report
    given |= {key: str(file) for key, file in (("json", json), ("report", report)) if file is not None}
    return replace(
        settings,
        agent=agent,
        model=pairing.model,
        run_dir=None,
        resume=root if settings.resume and (root / MANIFEST).is_file() else None,
        baseline=baseline,
        json=json,
        report=report,
        markdown=None,
        given=tuple(given.items()),
    )


@contextmanager
def _naming(label: str) -> Iterator[None]:
    """Let a complaint about an agent say which."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"agent {label}: {error}") from None
