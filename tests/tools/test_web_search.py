"""Searches go to the service set up; whatever comes of them is a plain result, recorded, and can be replayed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from pytest_gta.tools import web_search
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.tool import ToolFault
from pytest_gta.tools.toolbox import Toolbox
from pytest_gta.tools.web_search import SearchHits, SearchSettings, WebSearch
from pytest_gta.workspace.confinement import Confinement
from pytest_gta.workspace.workspace import Workspace
from tests.openai_server import Answer, OpenAIServer, RecordedRequest, drips, hangs

Start = Callable[..., OpenAIServer]
KEY = "serper-key-0123456789"

GOOGLE = {
    "answerBox": {"title": "Lisbon", "answer": "545,923 (2021)", "link": "https://example.org/census"},
    "knowledgeGraph": {
        "title": "Lisbon",
        "type": "Capital of Portugal",
        "description": "A city\non the Tagus",
        "website": "https://example.org/lisboa",
        "attributes": {"Area": "100 km²"},
    },
    "organic": [
        {"title": "Census 2021", "link": "https://example.org/1", "snippet": "Lisbon had 545,923.", "date": "2022"},
        {"title": "Lisbon", "link": "https://example.org/2", "snippet": "The capital."},
        {"title": "No snippet", "link": "https://example.org/3"},
    ],
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_search, "_FIRST_WAIT_S", 0.01)


def serper(server: OpenAIServer, **more: Any) -> SearchSettings:
    return SearchSettings("serper", server.base_url.replace("/v1", "/search"), KEY, **more)


def searxng(server: OpenAIServer, **more: Any) -> SearchSettings:
    return SearchSettings("searxng", server.base_url.removesuffix("/v1"), **more)


def always(body: Any, **more: Any) -> Callable[[RecordedRequest], Answer]:
    return lambda _request: Answer(body=body, **more)


def test_results_have_titles_snippets_and_addresses(workspace: Workspace, openai_server: Start) -> None:
    server = openai_server(routes={"/search": always(GOOGLE)})
    with Toolbox(workspace, Confinement("off", ""), endpoints=ToolEndpoints(search=serper(server))) as tools:
        answer = tools.call("GoogleSearch", {"query": "population of  Lisbon", "k": 2})
    assert not answer.is_error
    assert answer.text == (
        "Answer: 545,923 (2021)\n    https://example.org/census\n\n"
        "Lisbon, Capital of Portugal: A city on the Tagus; Area: 100 km²\n    https://example.org/lisboa\n\n"
        "1 - Census 2021: 2022 - Lisbon had 545,923.\n    https://example.org/1\n\n"
        "2 - Lisbon: The capital.\n    https://example.org/2"
    )
    [request] = server.requests
    assert request.json == {"q": "population of Lisbon", "num": 2} and request.headers["x-api-key"] == KEY


def test_searxng_is_asked_page_by_page(openai_server: Start) -> None:
    def respond(request: RecordedRequest) -> Answer:
        asked = parse_qs(request.query)
        assert (asked["q"], asked["format"]) == (["où est Łódź"], ["json"])
        first = 10 * (int(asked["pageno"][0]) - 1)
        results = [
            {"title": f"T{n}", "url": f"https://e.org/{n}", "content": f"c{n}"} for n in range(first, first + 10)
        ]
        return Answer(body={"results": results if first < 20 else [], "answers": ["42", {"answer": "43"}]})

    server = openai_server(routes={"/search": respond})
    found = WebSearch(searxng(server)).find("où est Łódź", 15, deadline_s=30)
    assert [hit.url for hit in found.hits] == [f"https://e.org/{n}" for n in range(15)]
    assert found.answers == ("Answer: 42", "Answer: 43") and len(server.requests) == 2
    assert len(WebSearch(searxng(server)).find("où est Łódź", 50, deadline_s=30).hits) == 20


@pytest.mark.parametrize("body", [{"searchParameters": {}}, {"organic": None}, {"organic": []}])
def test_no_hits_are_a_plain_result(openai_server: Start, body: Any) -> None:
    server = openai_server(routes={"/search": always(body)})
    found = WebSearch(serper(server)).find("xqzw", 5, deadline_s=30)
    assert found == SearchHits("xqzw") and found.as_text() == "No results for 'xqzw'."


def test_an_answer_without_pages_is_kept(openai_server: Start) -> None:
    server = openai_server(routes={"/search": always({"answerBox": {"snippet": "It is 7."}, "organic": ["odd", 3]})})
    assert WebSearch(serper(server)).find("q", 5, deadline_s=30).as_text() == "Answer: It is 7.\n\nNo pages were found."


@pytest.mark.parametrize(
    ("answer", "words", "requests"),
    [
        (Answer(status=403, body={"message": f"Unauthorized {KEY}"}), r"403 \(Unauthorized \[secret\]\).*SERPER", 1),
        (Answer(status=400, body={"message": "Query not allowed"}), r"400 \(Query not allowed\)", 1),
        (Answer(status=503, body="<html>busy</html>"), "answered 503", 3),
        (Answer(status=200, body="<html>login</html>"), "not a JSON object", 1),
        (Answer(status=200, body=[1]), "not a JSON object", 1),
        (Answer(status=302, body="", headers={"Location": "http://127.0.0.1:9/"}), "answered 302", 1),
        (Answer(hang_up=True), "gave no results", 3),
    ],
)
def test_failures_are_one_plain_line(openai_server: Start, answer: Answer, words: str, requests: int) -> None:
    server = openai_server(routes={"/search": lambda _r: answer})
    with pytest.raises(ToolFault, match=words) as fault:
        WebSearch(serper(server)).find("q", 5, deadline_s=30)
    assert KEY not in str(fault.value) and "\n" not in str(fault.value) and len(server.requests) == requests


@pytest.mark.parametrize("answer", [hangs(), drips("x" * 200, 0.2)])
def test_time_is_bounded_however_slowly_the_answer_comes(openai_server: Start, answer: Answer) -> None:
    server = openai_server(routes={"/search": lambda _r: answer})
    with pytest.raises(ToolFault, match=r"within|timed out"):
        WebSearch(serper(server)).find("q", 5, deadline_s=0.5)


def test_searxng_without_json_is_explained(openai_server: Start) -> None:
    server = openai_server(routes={"/search": always("<html>Forbidden</html>", status=403)})
    with pytest.raises(ToolFault, match=r"search\.formats"):
        WebSearch(searxng(server)).find("q", 5, deadline_s=30)


@pytest.mark.parametrize(("query", "k", "words"), [("  ", 3, "empty"), ("q", 0, "at least 1")])
def test_what_cannot_be_searched_asks_nobody(openai_server: Start, query: str, k: int, words: str) -> None:
    server = openai_server()
    with pytest.raises(ToolFault, match=words):
        WebSearch(serper(server)).find(query, k, deadline_s=30)
    assert not server.requests


def test_settings_choose_the_backend() -> None:
    assert SearchSettings().chosen == ""
    assert SearchSettings(api_key=KEY, url="http://x").chosen == "serper"
    assert SearchSettings(url="http://x").chosen == "searxng"
    assert SearchSettings(api_key=KEY, replay=Path("r.jsonl")).chosen == "replay"
    assert KEY not in repr(SearchSettings(api_key=KEY))
    with pytest.raises(ValueError, match="bing"):
        SearchSettings("bing")
    with pytest.raises(ValueError, match="recorded to the file they are replayed from"):
        SearchSettings(record=Path("r.jsonl"), replay=Path("r.jsonl"))
    with pytest.raises(ToolFault, match="GTA_SEARCH_URL"):
        WebSearch(SearchSettings()).find("q", 1, deadline_s=1)


# -- recorded and replayed --------------------------------------------------------------------------------------------


def test_a_run_is_replayed_exactly(openai_server: Start, tmp_path: Path) -> None:
    numbers = iter(range(100))

    def respond(request: RecordedRequest) -> Answer:
        if request.json["q"] == "bad":
            return Answer(status=400, body={"message": "no"})
        return Answer(body={"organic": [{"title": f"N{next(numbers)}", "link": "https://e.org", "snippet": "s"}]})

    server = openai_server(routes={"/search": respond})
    record = tmp_path / "run" / "searches.jsonl"
    asked = [("cats", 3), ("dogs", 3), ("cats", 3), ("bad", 2), ("cats", 5)]

    def outcomes(settings: SearchSettings) -> list[str]:
        search, told = WebSearch(settings), []
        for query, k in asked:
            try:
                told.append(search.find(query, k, deadline_s=30).as_text())
            except ToolFault as fault:
                told.append(f"fault: {fault}")
        return told

    first = outcomes(serper(server, record=record))
    assert len(set(first)) == 5
    again = outcomes(SearchSettings(replay=record, record=tmp_path / "again.jsonl"))
    assert again == first and len(server.requests) == 5
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(line["query"], line["k"]) for line in lines] == asked
    assert lines[0]["hits"] == [{"title": "N0", "url": "https://e.org", "snippet": "s"}]
    assert KEY not in record.read_text()
    assert outcomes(SearchSettings(replay=tmp_path / "again.jsonl")) == first


def test_each_task_gets_its_own_results_back(openai_server: Start, tmp_path: Path) -> None:
    numbers = iter(range(100))
    server = openai_server(
        routes={"/search": lambda _r: Answer(body={"organic": [{"title": f"N{next(numbers)}", "link": "u"}]})}
    )
    record = tmp_path / "searches.jsonl"
    for scope in ("task_2", "task_1"):
        WebSearch(serper(server, record=record, scope=scope)).find("cats", 3, deadline_s=30)
    titles = [
        WebSearch(SearchSettings(replay=record, scope=scope)).find("cats", 3, deadline_s=30).hits[0].title
        for scope in ("task_1", "task_2", "task_3")
    ]
    assert titles == ["N1", "N0", "N0"]


def test_what_was_not_searched_is_not_replayed(tmp_path: Path) -> None:
    record = tmp_path / "searches.jsonl"
    record.write_text('{"query": "red cats", "k": 3, "hits": [], "answers": []}\n{"torn\n')
    search = WebSearch(SearchSettings(replay=record))
    assert search.find("red cats", 3, deadline_s=1).as_text() == "No results for 'red cats'."
    with pytest.raises(ToolFault, match="did not search for 'red cat' with k=3; it holds 'red cats'"):
        search.find("red cat", 3, deadline_s=1)
    with pytest.raises(ToolFault, match="no such file"):
        WebSearch(SearchSettings(replay=tmp_path / "none.jsonl")).find("q", 3, deadline_s=1)
