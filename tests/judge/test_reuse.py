"""No leaf is paid twice: known verdicts, the cache, interruption."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gta.benchmark.results import Verdict
from pytest_gta.benchmark.task import Checkpoint
from pytest_gta.benchmark.usage import Usage
from pytest_gta.judge.cache import VerdictCache
from pytest_gta.judge.prompt import PromptStyle
from tests.judge.conftest import (
    BRIEF,
    EVIDENCE,
    MakeJudge,
    StartServer,
    evidence,
    leaves,
    run,
    verdict_of,
)
from tests.openai_server import (
    Answer,
    RecordedRequest,
    hangs,
    in_turn,
    judge,
    refuses,
)


def test_known_verdicts_are_reused_without_a_call(openai_server: StartServer, make_judge: MakeJudge) -> None:
    server = openai_server(judge({}, default=7))
    first = run(make_judge(server), 3)
    kept = {
        "cp1-1": first["cp1-1"],
        "cp1-2": first["cp1-2"].model_copy(update={"status": "judge_error", "score": None}),
    }
    again = run(make_judge(server), 3, known=kept)
    assert len(server.requests) == 3 + 2
    assert again["cp1-1"] == first["cp1-1"].model_copy(update={"cached": True, "usage": Usage()})
    assert [v.cached for v in again.values()] == [True, False, False]


def test_the_cache_serves_another_judge_of_the_same_kind_and_only_that(
    openai_server: StartServer, make_judge: MakeJudge, tmp_path: Path
) -> None:
    server = openai_server(judge({}, default=7))
    cache = VerdictCache(tmp_path)
    fresh = run(make_judge(server, cache=cache), 2)
    again = run(make_judge(server, cache=cache), 2)
    assert len(server.requests) == 2
    assert again == {k: v.model_copy(update={"cached": True, "usage": Usage()}) for k, v in fresh.items()}

    def requests_of(action: Callable[[], object]) -> int:
        before = len(server.requests)
        action()
        return len(server.requests) - before

    reweighted = [Checkpoint(f"other-{leaf.id}", leaf.requirements, 99.0) for leaf in leaves(2)]
    same = make_judge(server, cache=cache)
    assert requests_of(lambda: same.judge_task(BRIEF, reweighted, EVIDENCE, final_answer="Done.")) == 0
    reworded = [Checkpoint("cp1-1", "Requirement number 1 is met!", 1.0), leaves(2)[1]]
    assert requests_of(lambda: same.judge_task(BRIEF, reworded, EVIDENCE, final_answer="Done.")) == 1
    assert requests_of(lambda: run(same, 2, evidence("# Plan\nthree towns!"))) == 2
    assert requests_of(lambda: run(same, 2, final_answer="Done!")) == 2
    assert requests_of(lambda: run(make_judge(server, cache=cache, samples=2), 1)) == 2
    assert requests_of(lambda: run(make_judge(server, cache=cache, style=PromptStyle.COMPACT), 1)) == 1
    assert requests_of(lambda: run(make_judge(server, cache=cache, label="judge 2"), 1)) == 1


def test_the_prompt_s_version_and_the_judge_s_host_are_part_of_the_key(
    openai_server: StartServer, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make_judge(openai_server())
    other_port = make_judge(openai_server())
    key = one.key(BRIEF, "a", EVIDENCE, "r")
    assert other_port.key(BRIEF, "a", EVIDENCE, "r") == key, "a local server's port says nothing"
    object.__setattr__(other_port.client.endpoint, "base_url", "https://judge.example/v1")
    assert other_port.key(BRIEF, "a", EVIDENCE, "r") != key
    monkeypatch.setattr("pytest_gta.judge.judge.PROMPT_VERSION", "other")
    assert one.key(BRIEF, "a", EVIDENCE, "r") != key


def test_errors_and_refusals_are_asked_again(openai_server: StartServer, make_judge: MakeJudge, tmp_path: Path) -> None:
    server = openai_server(in_turn(refuses()))
    cache = VerdictCache(tmp_path)
    failed = run(make_judge(server, cache=cache), 1)
    server.respond = judge({}, default=7)
    assert run(make_judge(server, cache=cache), 1, known=failed)["cp1-1"].score == 7


def test_an_interrupt_keeps_what_is_judged_and_gives_up_the_rest(
    openai_server: StartServer, make_judge: MakeJudge, tmp_path: Path
) -> None:
    def respond(request: RecordedRequest) -> Answer:
        return verdict_of(8) if request.number < 3 else hangs()

    server = openai_server(respond)
    cache = VerdictCache(tmp_path)
    kept: dict[str, Verdict] = {}

    def on_verdict(verdict: Verdict) -> None:
        kept[verdict.leaf_id] = verdict
        if len(kept) == 3:
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

    with pytest.raises(KeyboardInterrupt):
        run(make_judge(server, cache=cache), 6, on_verdict=on_verdict)
    assert len(kept) == 3
    assert all(verdict.score == 8 for verdict in kept.values())
    server.respond = judge({}, default=7)
    before = len(server.requests)
    done = run(make_judge(server, cache=cache), 6, known=kept)
    assert len(server.requests) - before == 3
    assert sorted(v.score for v in done.values() if v.score is not None) == [7, 7, 7, 8, 8, 8]


def test_a_callback_that_fails_ends_the_wait(openai_server: StartServer, make_judge: MakeJudge) -> None:
    def full(_verdict: Verdict) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        run(make_judge(openai_server(judge({}, default=7))), 3, on_verdict=full)
