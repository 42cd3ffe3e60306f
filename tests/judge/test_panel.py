"""A panel: the median of several judges, what each said, and what happens when one of them fails."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

from pytest_gta.benchmark.results import LeafStatus, Verdict
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.judge.cache import VerdictCache
from pytest_gta.judge.panel import Panel
from tests.judge.conftest import BRIEF, EVIDENCE, MakeJudge, StartServer, leaves, verdict_of
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, fails, hangs, in_turn, judge, refuses, says


def ask(panel: Panel, count: int = 1, **more: object) -> dict[str, Verdict]:
    more.setdefault("final_answer", "Done.")
    return panel.judge_task(BRIEF, leaves(count), EVIDENCE, **more)  # type: ignore[arg-type]


@pytest.fixture
def three(openai_server: StartServer) -> list[OpenAIServer]:
    return [openai_server(judge({}, default=score)) for score in (9, 4, 7)]


def panel_of(make_judge: MakeJudge, servers: list[OpenAIServer], **settings: object) -> Panel:
    names = "ABCDE"
    return Panel({n: make_judge(s, label=n, **settings) for n, s in zip(names, servers, strict=False)})


def test_the_median_counts_and_each_opinion_is_kept(make_judge: MakeJudge, three: list[OpenAIServer]) -> None:
    verdict = ask(panel_of(make_judge, three))["cp1-1"]
    assert (verdict.status, verdict.score, verdict.spread) == (LeafStatus.SCORED, 7, 5)
    assert [(o.judge, o.score, o.status.value) for o in verdict.panel] == [
        ("A", 9, "scored"),
        ("B", 4, "scored"),
        ("C", 7, "scored"),
    ]
    assert verdict.analysis == "[median of 3 of 3 judges: A 9, B 4, C 7] scripted reason"
    assert verdict.usage.calls == 3
    node = score_tree(leaves(1), {"cp1-1": verdict}).checkpoints[0]
    assert (node.score, node.spread, [o.score for o in node.panel]) == (7, 5, [9, 4, 7])


def test_an_even_panel_takes_the_middle(make_judge: MakeJudge, three: list[OpenAIServer]) -> None:
    verdict = ask(panel_of(make_judge, three[:2]))["cp1-1"]
    assert (verdict.score, verdict.spread) == (6.5, 5)


def test_samples_of_one_judge_are_kept_with_their_spread(openai_server: StartServer, make_judge: MakeJudge) -> None:
    server = openai_server(in_turn(verdict_of(8), verdict_of(3), verdict_of(9)))
    verdict = make_judge(server, samples=3).judge_task(BRIEF, leaves(1), EVIDENCE, final_answer="Done.")["cp1-1"]
    assert (verdict.score, sorted(verdict.samples), verdict.spread, verdict.panel) == (8, [3, 8, 9], 6, ())
    node = score_tree(leaves(1), {"cp1-1": verdict}).checkpoints[0]
    assert (sorted(node.samples), node.spread) == ([3, 8, 9], 6)


def test_one_answer_has_no_spread(openai_server: StartServer, make_judge: MakeJudge) -> None:
    verdict = make_judge(openai_server(judge({}, default=8))).judge_task(
        BRIEF, leaves(1), EVIDENCE, final_answer="Done."
    )["cp1-1"]
    assert (verdict.samples, verdict.spread) == ((), None)


def test_a_minority_that_fails_is_named_and_the_rest_counts(make_judge: MakeJudge, three: list[OpenAIServer]) -> None:
    three[1].respond = in_turn(fails(500, "the second judge is down"))
    verdict = ask(panel_of(make_judge, three))["cp1-1"]
    assert (verdict.status, verdict.score, verdict.spread) == (LeafStatus.SCORED, 8, 2)
    assert [o.status.value for o in verdict.panel] == ["scored", "judge_error", "scored"]
    assert "[median of 2 of 3 judges: A 9, C 7; no score by B: " in verdict.analysis
    assert "the second judge is down" in verdict.analysis


@pytest.mark.parametrize(
    ("answers", "status"),
    [
        ([says("no idea"), fails(500, "down"), None], LeafStatus.JUDGE_ERROR),
        ([refuses(), refuses(), None], LeafStatus.JUDGE_REFUSED),
        ([refuses(), fails(500, "down"), None], LeafStatus.JUDGE_ERROR),
    ],
    ids=["errors", "refusals", "both"],
)
def test_without_a_majority_there_is_no_score(
    make_judge: MakeJudge, three: list[OpenAIServer], answers: list[Answer | None], status: LeafStatus
) -> None:
    for server, answer in zip(three, answers, strict=True):
        if answer is not None:
            server.respond = in_turn(answer)
    verdict = ask(panel_of(make_judge, three))["cp1-1"]
    assert (verdict.status, verdict.score) == (status, None)
    assert verdict.analysis.startswith("2 of 3 judges without a score: A: ")
    assert [o.score for o in verdict.panel] == [None, None, 7]


def test_half_of_a_panel_is_no_majority(make_judge: MakeJudge, three: list[OpenAIServer]) -> None:
    three[0].respond = in_turn(fails(500, "down"))
    assert ask(panel_of(make_judge, three[:2]))["cp1-1"].status is LeafStatus.JUDGE_ERROR


def test_only_the_missing_opinion_is_asked_again(make_judge: MakeJudge, three: list[OpenAIServer]) -> None:
    good = three[1].respond
    three[1].respond = in_turn(says("no idea"))
    first = ask(panel_of(make_judge, three), 2)
    assert [v.score for v in first.values()] == [8, 8], "the median of 9 and 7"
    three[1].respond = good
    before = [len(s.requests) for s in three]
    again = ask(panel_of(make_judge, three), 2, known=first)
    assert [len(s.requests) - n for s, n in zip(three, before, strict=True)] == [0, 2, 0]
    assert [v.score for v in again.values()] == [7, 7]
    assert [o.cached for o in again["cp1-1"].panel] == [True, False, True]
    assert not again["cp1-1"].cached
    complete = ask(panel_of(make_judge, three), 2, known=again)
    assert [len(s.requests) - n for s, n in zip(three, before, strict=True)] == [0, 2, 0]
    assert complete["cp1-1"].cached
    assert complete["cp1-1"].usage.calls == 0
    assert complete["cp1-1"].key == again["cp1-1"].key


def test_each_judge_has_its_own_cache_entry_shared_with_the_judge_alone(
    make_judge: MakeJudge, three: list[OpenAIServer], tmp_path: Path
) -> None:
    cache = VerdictCache(tmp_path)
    alone = make_judge(three[0], label="A", cache=cache)
    alone.judge_task(BRIEF, leaves(1), EVIDENCE, final_answer="Done.")
    ask(panel_of(make_judge, three, cache=cache))
    assert [len(s.requests) for s in three] == [1, 1, 1]
    turned = Panel({n: make_judge(three["ABC".index(n)], label=n, cache=cache) for n in "CBA"})
    again = ask(turned)["cp1-1"]
    assert [len(s.requests) for s in three] == [1, 1, 1]
    assert (again.score, again.cached, [o.judge for o in again.panel]) == (7, True, ["C", "B", "A"])


def test_a_cache_that_is_only_written_judges_anew(
    openai_server: StartServer, make_judge: MakeJudge, tmp_path: Path
) -> None:
    server = openai_server(judge({}, default=7))
    make_judge(server, cache=VerdictCache(tmp_path)).judge_task(BRIEF, leaves(1), EVIDENCE, final_answer="Done.")
    server.respond = judge({}, default=5)
    anew = make_judge(server, cache=VerdictCache(tmp_path, reads=False))
    assert anew.judge_task(BRIEF, leaves(1), EVIDENCE, final_answer="Done.")["cp1-1"].score == 5
    later = make_judge(server, cache=VerdictCache(tmp_path))
    assert later.judge_task(BRIEF, leaves(1), EVIDENCE, final_answer="Done.")["cp1-1"].score == 5
    assert len(server.requests) == 2


def test_an_interrupt_hands_over_the_opinions_that_are_there(make_judge: MakeJudge, three: list[OpenAIServer]) -> None:
    good = three[2].respond

    def slow(request: RecordedRequest) -> Answer:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        return hangs()

    three[2].respond = slow
    kept: dict[str, Verdict] = {}
    with pytest.raises(KeyboardInterrupt):
        ask(panel_of(make_judge, three), on_verdict=lambda v: kept.update({v.leaf_id: v}))
    assert (kept["cp1-1"].status, [o.judge for o in kept["cp1-1"].panel]) == (LeafStatus.NOT_RUN, ["A", "B"])
    three[2].respond = good
    done = ask(panel_of(make_judge, three), known=kept)
    assert done["cp1-1"].score == 7
    assert [len(s.requests) for s in three] == [1, 1, 2]


def test_nothing_delivered_asks_nobody(make_judge: MakeJudge, three: list[OpenAIServer]) -> None:
    from tests.judge.conftest import evidence

    verdicts = panel_of(make_judge, three).judge_task(BRIEF, leaves(2), evidence(files=()), final_answer=" ")
    assert [v.status.value for v in verdicts.values()] == ["not_delivered"] * 2
    assert [len(s.requests) for s in three] == [0, 0, 0]


def test_a_panel_of_one_is_a_mistake(make_judge: MakeJudge, three: list[OpenAIServer]) -> None:
    with pytest.raises(ValueError, match="at least 2 judges"):
        panel_of(make_judge, three[:1])


def test_a_panel_s_verdict_survives_its_json_form(make_judge: MakeJudge, three: list[OpenAIServer]) -> None:
    verdict = ask(panel_of(make_judge, three))["cp1-1"]
    assert Verdict.model_validate_json(verdict.model_dump_json()) == verdict
