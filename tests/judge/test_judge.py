"""The judge against a real local server: requests sent, verdicts given, nothing made up."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.usage import Tokens, Usage
from pytest_gta.judge.judge import Judge, JudgeScaleWarning, nothing_delivered
from pytest_gta.judge.prompt import PromptStyle
from pytest_gta.judge.waits import Waits
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.retry import RetryPolicy
from pytest_gta.llm.run_control import RunControl
from tests.judge.conftest import (
    MakeJudge,
    StartServer,
    evidence,
    leaves,
    picture,
    record,
    run,
    statuses,
    verdict_of,
)
from tests.openai_server import (
    Answer,
    RecordedRequest,
    drips,
    fails,
    hangs,
    in_turn,
    judge,
    refuses,
    says,
)
from tests.waiting import eventually

# What is sent


def test_one_call_a_leaf_the_requirement_last_and_one_prefix(openai_server: StartServer, make_judge: MakeJudge) -> None:
    scores = {leaf.requirements: score for leaf, score in zip(leaves(5), (0, 3, 5.5, 7, 10), strict=True)}
    server = openai_server(judge(scores))
    verdicts = run(make_judge(server), 5)
    assert [v.score for v in verdicts.values()] == [0, 3, 5.5, 7, 10]
    assert list(verdicts) == ["cp1-1", "cp1-2", "cp1-3", "cp1-4", "cp1-5"]
    assert all(v.status is LeafStatus.SCORED and v.analysis == "scripted reason" for v in verdicts.values())
    assert all(v.usage.calls == 1 and v.wall_s > 0 and len(v.key) == 64 and not v.cached for v in verdicts.values())
    assert len(server.requests) == 5
    assert server.uploads == []
    texts = [request.last_user_text for request in server.chats]
    prefixes = {text.rpartition("\nRequirement:\n")[0] for text in texts}
    assert len(prefixes) == 1
    assert sorted(text.rpartition("\nRequirement:\n")[2] for text in texts) == sorted(scores)
    assert len({json.dumps(request.messages[0]) for request in server.chats}) == 1
    # The bodies are equal up to the requirement, which is what a provider's cache looks at.
    starts = {request.body.decode().rpartition("Requirement number ")[0] for request in server.chats}
    assert len(starts) == 1
    assert server.chats[0].schema is not None
    assert list(server.chats[0].schema["properties"]) == ["analysis", "score"]
    assert {request.json["temperature"] for request in server.chats} == {0.2}


def test_pictures_go_along_with_every_call_and_are_never_uploaded(
    openai_server: StartServer, make_judge: MakeJudge
) -> None:
    server = openai_server(judge({}, default=7))
    run(make_judge(server), 3, evidence("text", picture(), picture("page 2")))
    assert [request.pictures for request in server.chats] == [2, 2, 2]
    assert server.uploads == []
    assert server.chats[0].texts[1].count("BEGIN evidence") == 3


def test_the_first_leaf_goes_alone_the_others_together(openai_server: StartServer, make_judge: MakeJudge) -> None:
    together = threading.Barrier(8)

    def respond(request: RecordedRequest) -> Answer:
        if request.number:
            together.wait(60)
            return verdict_of(7)
        return replace(verdict_of(7), delay_s=0.2)

    server = openai_server(respond)
    run(make_judge(server), 9)
    first, *others = server.chats
    assert first.last_user_text.endswith("Requirement number 1 is met.")
    assert all(other.at - first.at >= 0.2 for other in others)
    assert server.peak == 8, "all of the others at once"


def test_a_judge_that_fails_to_prime_does_not_hold_up_the_others(
    openai_server: StartServer, make_judge: MakeJudge
) -> None:
    def respond(request: RecordedRequest) -> Answer:
        if "number 1 is" not in request.last_user_text:
            return verdict_of(7)
        if request.number:
            eventually(lambda: len(server.chats) >= 5)
        return says("prose")

    server = openai_server(respond)
    assert statuses(run(make_judge(server), 4)) == ["judge_error", "scored", "scored", "scored"]
    order = [request.last_user_text[-len("Requirement number 1 is met.") :] for request in server.chats]
    assert order[0] == "Requirement number 1 is met."
    assert sorted(order[1:5]) == [f"Requirement number {i} is met." for i in (1, 2, 3, 4)], "not after all re-asks"
    assert len(order) == 6


def test_the_compact_style_is_short_and_bounded(openai_server: StartServer, make_judge: MakeJudge) -> None:
    server = openai_server(judge({}, default=7))
    run(make_judge(server, style=PromptStyle.COMPACT), 1)
    (request,) = server.chats
    assert sum(map(len, request.texts)) < 1500
    assert request.schema is not None
    assert (
        request.schema["properties"]["score"] | {"minimum": 0, "maximum": 10} == request.schema["properties"]["score"]
    )
    assert request.json["max_completion_tokens"] == 256


# What comes back


def test_verdicts_are_handed_over_in_the_calling_thread_as_they_come(
    openai_server: StartServer, make_judge: MakeJudge
) -> None:
    seen: list[tuple[str, threading.Thread, int]] = []
    server = openai_server(judge({}, default=7))

    def delay(request: RecordedRequest) -> Answer:
        # Answered only once the verdict of the third leaf has been handed over.
        if "number 2 is" in request.last_user_text:
            eventually(lambda: len(seen) == 2)
        return verdict_of(7)

    server.respond = delay

    def on_verdict(verdict: Verdict) -> None:
        seen.append((verdict.leaf_id, threading.current_thread(), len(server.chats)))

    run(make_judge(server), 3, on_verdict=on_verdict)
    assert [leaf_id for leaf_id, _, _ in seen] == ["cp1-1", "cp1-3", "cp1-2"]
    assert {thread for _, thread, _ in seen} == {threading.current_thread()}


@pytest.mark.parametrize(
    "bad",
    ["10/10", "8-9", "score: 85", "HTTP 429: 8 tries left", verdict_of(90), verdict_of(-1), verdict_of(None),
     verdict_of([8]), verdict_of("10/10"), says('{"analysis": "x", "score": NaN}'), says("")],
)  # fmt: skip
def test_an_unreadable_verdict_is_asked_again_with_the_fault_named_then_is_an_error(
    openai_server: StartServer, make_judge: MakeJudge, bad: Any
) -> None:
    server = openai_server(in_turn(bad))
    verdict = run(make_judge(server), 1)["cp1-1"]
    assert verdict.status is LeafStatus.JUDGE_ERROR
    assert verdict.score is None
    assert verdict.analysis.startswith("no readable verdict: ")
    assert verdict.usage.calls == len(server.requests) == 3
    fault = verdict.analysis.removeprefix("no readable verdict: ")
    assert "could not be used" not in server.chats[0].last_user_text
    for again in server.chats[1:]:
        assert f"Your last reply could not be used: {fault}." in again.last_user_text
        assert again.last_user_text.endswith("Requirement number 1 is met.")


def test_a_second_answer_that_is_readable_counts_and_both_are_paid(
    openai_server: StartServer, make_judge: MakeJudge
) -> None:
    server = openai_server(
        in_turn(
            replace(says("I think 8."), usage={"input": 100, "cached": 0, "output": 10}),
            replace(verdict_of("\uff18"), usage={"input": 110, "cached": 90, "output": 20}),
        )
    )
    verdict = run(make_judge(server), 1)["cp1-1"]
    assert (verdict.status, verdict.score, verdict.analysis) == (LeafStatus.SCORED, 8.0, "plan.md decides")
    assert verdict.usage == Usage(calls=2, tokens=Tokens(input=210, cached=90, output=30), cost_usd=None)


def test_half_an_object_gets_more_room(openai_server: StartServer, make_judge: MakeJudge) -> None:
    cut = says('{"analysis": "the plan', finish_reason="length")
    server = openai_server(in_turn(cut, verdict_of(6)))
    assert run(make_judge(server), 1)["cp1-1"].score == 6
    assert [request.json["max_completion_tokens"] for request in server.chats] == [4096, 16384]


def test_hidden_reasoning_that_eats_all_room_is_named_and_no_zero(
    openai_server: StartServer, make_judge: MakeJudge
) -> None:
    hidden = says("", finish_reason="length", usage={"input": 9, "output": 4096, "reasoning": 4096})
    server = openai_server(in_turn(hidden))
    verdict = run(make_judge(server), 1)["cp1-1"]
    assert (verdict.status, verdict.score) == (LeafStatus.JUDGE_ERROR, None)
    assert "4096 tokens of hidden reasoning" in verdict.analysis
    assert verdict.usage.calls == len(server.requests)


@pytest.mark.parametrize(
    "refusal",
    [
        refuses("I can't fulfil this"),
        says("I can't fulfil this"),
        says("", finish_reason="content_filter"),
        fails(400, "I can't fulfil this: content management policy", code="content_filter"),
    ],
)
def test_a_refusal_is_asked_once_in_other_words_then_counted_apart(
    openai_server: StartServer, make_judge: MakeJudge, refusal: Answer
) -> None:
    server = openai_server(in_turn(refusal))
    verdict = run(make_judge(server), 1)["cp1-1"]
    assert (verdict.status, verdict.score) == (LeafStatus.JUDGE_REFUSED, None)
    assert verdict.usage.calls == len(server.requests) == 2
    first, second = (request.last_user_text for request in server.chats)
    assert "routine quality control" not in first
    assert "routine quality control" in second
    server.respond = in_turn(refusal, verdict_of(4))
    assert run(make_judge(server), 1)["cp1-1"].score == 4


def test_the_judge_s_own_think_block_is_not_the_verdict(openai_server: StartServer, make_judge: MakeJudge) -> None:
    server = openai_server(in_turn('<think>{"score":2}</think>{"analysis": "ok", "score":9}'))
    assert run(make_judge(server), 1)["cp1-1"].score == 9


def test_a_rejected_temperature_is_left_out_once_for_all(openai_server: StartServer, make_judge: MakeJudge) -> None:
    def respond(request: RecordedRequest) -> Answer:
        if "temperature" in request.json:
            return fails(400, "Unsupported value: 'temperature' does not support 0.2 with this model.")
        return verdict_of(7)

    server = openai_server(respond)
    assert statuses(run(make_judge(server), 4)) == ["scored"] * 4
    assert len(server.requests) == 5


# Failures


def test_one_failed_leaf_leaves_the_others_alone(openai_server: StartServer, make_judge: MakeJudge) -> None:
    def respond(request: RecordedRequest) -> Answer:
        return fails(500, "the model crashed, score 10") if "number 2 is" in request.last_user_text else verdict_of(8)

    server = openai_server(respond)
    verdicts = run(make_judge(server), 3)
    assert statuses(verdicts) == ["scored", "judge_error", "scored"]
    assert verdicts["cp1-2"].score is None
    assert verdicts["cp1-2"].analysis.startswith("unavailable: judge-1 at http://127.0.0.1:")
    assert verdicts["cp1-2"].usage.calls == 2
    assert "\n" not in verdicts["cp1-2"].analysis


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (fails(429, "You exceeded your current quota", code="insufficient_quota"), "no_credit"),
        (fails(402, "pay first"), "no_credit"),
        (fails(401, "Incorrect API key sk-test-0123456789abcdef"), "auth"),
    ],
)
def test_no_credit_and_a_refused_key_stop_everything_at_once(
    openai_server: StartServer, make_judge: MakeJudge, tmp_path: Path, fault: Answer, kind: str
) -> None:
    server = openai_server(in_turn(fault))
    control = RunControl(tmp_path / "control", slots=16)
    verdicts = run(make_judge(server, control=control), 4)
    assert statuses(verdicts) == ["judge_error", "not_run", "not_run", "not_run"]
    assert verdicts["cp1-1"].analysis.startswith(f"{kind}: ")
    assert verdicts["cp1-2"].analysis.startswith("not asked: ")
    assert "0123456789abcdef" not in json.dumps([v.analysis for v in verdicts.values()])
    assert len(server.requests) == 1
    # Another process of the run, another task.
    other = make_judge(server, control=RunControl(tmp_path / "control", slots=16))
    assert statuses(run(other, 2)) == ["not_run", "not_run"]
    assert len(server.requests) == 1


def test_out_of_credit_in_the_middle_keeps_what_is_judged(openai_server: StartServer, make_judge: MakeJudge) -> None:
    def respond(request: RecordedRequest) -> Answer:
        return verdict_of(8) if request.number == 0 else fails(402, "pay first")

    verdicts = run(make_judge(openai_server(respond), control=None), 3)
    assert statuses(verdicts)[0] == "scored"
    assert set(statuses(verdicts)[1:]) <= {"judge_error", "not_run"}


@pytest.mark.parametrize("silent", [hangs(), drips(seconds=0.2)])
def test_the_deadline_is_for_the_whole_answer(
    openai_server: StartServer, make_judge: MakeJudge, silent: Answer
) -> None:
    server = openai_server(in_turn(silent))
    verdict = run(make_judge(server, deadline_s=0.5), 1)["cp1-1"]
    assert verdict.status is LeafStatus.JUDGE_ERROR
    assert verdict.analysis.startswith("timeout: ")


def test_a_judge_that_hangs_once_costs_a_retry_and_not_the_leaf(openai_server: StartServer) -> None:
    told: list[str] = []
    waits = Waits()
    waits.told = told.append
    server = openai_server(lambda _request: verdict_of(8) if told else hangs())
    endpoint = Endpoint(model="judge-1", base_url=server.base_url, api_key="none")
    client = ChatClient(endpoint, on_wait=waits.put, retry=RetryPolicy(attempt_s=1.5, base_s=0.01, cap_s=0.02))
    verdict = run(Judge(client, deadline_s=120.0, waits=waits), 1)["cp1-1"]
    assert (verdict.status, verdict.score) == (LeafStatus.SCORED, 8)
    assert verdict.usage.calls >= 2
    assert "asked again after" in told[0] or "no whole answer within" in told[0]


def test_re_asks_share_one_deadline(
    openai_server: StartServer, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = openai_server(in_turn(replace(says("prose"), delay_s=1.5), hangs()))
    asked = make_judge(server, deadline_s=4.0)
    left: list[float] = []
    chat = asked.client.chat

    async def watched(messages: Any, **more: Any) -> Any:
        left.append(more["deadline_s"])
        return await chat(messages, **more)

    monkeypatch.setattr(asked.client, "chat", watched)
    verdict = run(asked, 1)["cp1-1"]
    assert left[0] <= 4.0 and left[1] <= 2.5
    assert verdict.status is LeafStatus.JUDGE_ERROR
    assert len(server.requests) == 2


def test_a_fault_of_ours_costs_one_leaf_its_score_and_not_the_others_theirs(
    openai_server: StartServer, make_judge: MakeJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = openai_server(judge({}, default=7))
    broken = make_judge(server)
    chat = broken.client.chat

    async def sometimes(messages: Any, **more: Any) -> Any:
        if "number 2 is" in str(messages):
            raise RuntimeError("a bug that quotes sk-test-0123456789abcdef")
        return await chat(messages, **more)

    monkeypatch.setattr(broken.client, "chat", sometimes)
    verdicts = run(broken, 3)
    assert statuses(verdicts) == ["scored", "judge_error", "scored"]
    assert verdicts["cp1-2"].analysis == "unexpected error: RuntimeError: a bug that quotes [secret]"


def test_a_first_call_that_hangs_does_not_keep_the_others_waiting(
    openai_server: StartServer, make_judge: MakeJudge
) -> None:
    server = openai_server(lambda request: hangs() if "number 1 is" in request.last_user_text else verdict_of(7))
    asked: dict[str, list[str]] = {}

    def note(verdict: Verdict) -> None:
        asked[verdict.leaf_id] = [request.last_user_text for request in server.chats]

    verdicts = run(make_judge(server, deadline_s=8.0), 3, on_verdict=note)
    assert statuses(verdicts) == ["judge_error", "scored", "scored"]
    assert list(asked)[-1] == "cp1-1", "the others had their verdicts before the first was given up"
    assert all(any(f"number {n} is" in text for text in asked["cp1-1"]) for n in (2, 3))


# Nothing delivered


def test_nothing_delivered_is_zero_without_a_call(openai_server: StartServer, make_judge: MakeJudge) -> None:
    server = openai_server(judge({}, default=9))
    seen: list[Verdict] = []
    verdicts = run(make_judge(server), 2, evidence(files=()), final_answer=" \n\u200b", on_verdict=seen.append)
    assert [(v.status, v.score) for v in verdicts.values()] == [(LeafStatus.NOT_DELIVERED, 0.0)] * 2
    assert seen == list(verdicts.values())
    assert verdicts["cp1-1"].analysis == "nothing was delivered: no final answer and no files"
    assert server.requests == []


def test_an_answer_or_a_file_with_a_byte_is_something(openai_server: StartServer, make_judge: MakeJudge) -> None:
    server = openai_server(judge({}, default=9))
    assert run(make_judge(server), 1, evidence(files=()), final_answer="42")["cp1-1"].score == 9
    assert run(make_judge(server), 1, evidence("", files=(record(size=1),)), final_answer="")["cp1-1"].score == 9
    assert len(server.requests) == 2
    assert nothing_delivered("", evidence(files=(record(size=0),))).endswith("only empty files (plan.md)")
    assert nothing_delivered("", evidence(files=(record(size=9, evidence="not_taken"),)))


# Samples and scales


def test_the_median_of_the_samples_counts_and_the_spread_is_kept(
    openai_server: StartServer, make_judge: MakeJudge
) -> None:
    server = openai_server(in_turn(verdict_of(3), verdict_of(9), verdict_of(8)))
    verdict = run(make_judge(server, samples=3), 1)["cp1-1"]
    assert verdict.score == 8
    assert verdict.analysis == "[median of 3 samples: 3, 8, 9] plan.md decides"
    assert verdict.usage.calls == len(server.requests) == 3


def test_a_sample_without_a_score_is_not_passed_over(openai_server: StartServer, make_judge: MakeJudge) -> None:
    def respond(request: RecordedRequest) -> Answer:
        return verdict_of(3) if request.number == 0 else refuses()

    verdict = run(make_judge(openai_server(respond), samples=3), 1)["cp1-1"]
    assert (verdict.status, verdict.score) == (LeafStatus.JUDGE_REFUSED, None)
    assert verdict.analysis.startswith("2 of 3 samples without a score: ")
    with pytest.raises(ValueError, match="at least 1 sample"):
        make_judge(openai_server(), samples=0)


def test_a_scale_from_0_to_1_is_kept_and_warned_of(openai_server: StartServer, make_judge: MakeJudge) -> None:
    server = openai_server(judge({}, default=0.9))
    with pytest.warns(JudgeScaleWarning, match=r"all 3 leaf scores are at most 1 of 10 points \(0.9, 0.9, 0.9\)"):
        verdicts = run(make_judge(server), 3)
    assert [v.score for v in verdicts.values()] == [0.9] * 3


# Many at once


def test_the_limit_holds_within_one_process(openai_server: StartServer, make_judge: MakeJudge, tmp_path: Path) -> None:
    server = openai_server(judge({}, default=7, delay_s=0.05))
    assert statuses(run(make_judge(server, control=RunControl(tmp_path, slots=3)), 12)) == ["scored"] * 12
    assert len(server.requests) == 12
    assert server.peak == 3


WORKER = """
import sys
from pathlib import Path
from pytest_gta.llm.run_control import RunControl
from pytest_gta.judge.judge import Judge
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.endpoint import Endpoint
from tests.judge.conftest import BRIEF, evidence, leaves
url, folder, name = sys.argv[1:]
control = RunControl(Path(folder), slots=3)
judge = Judge(ChatClient(Endpoint("judge-1", url, "k"), control=control), control=control)
verdicts = judge.judge_task(BRIEF, leaves(10), evidence(name), final_answer=name)
print(sum(v.score for v in verdicts.values()))
"""


def test_the_limit_holds_over_two_processes_and_the_endpoint_s_own_is_kept(
    openai_server: StartServer, tmp_path: Path
) -> None:
    server = openai_server(judge({}, default=7, delay_s=0.05), limit=3)
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, server.base_url, str(tmp_path), name],
            cwd=Path(__file__).parents[2],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in ("one", "two")
    ]
    for worker in workers:
        out, errors = worker.communicate(timeout=60)
        assert out.decode().strip() == "70.0", errors.decode()
    assert server.peak == 3
    assert len(server.requests) == 20, "no call was turned away, none was made twice"
