"""Searching the web: backends behind one interface, and the record of a run's searches, from which it is replayed."""

from __future__ import annotations

import difflib
import json
import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from pytest_gta.benchmark.run_directory import append_line, read_lines
from pytest_gta.llm.http_request import HttpAnswer, fetch
from pytest_gta.llm.redaction import one_line, redact
from pytest_gta.tools.tool import ToolFault

SERPER_URL = "https://google.serper.dev/search"
MOST_HITS = 100
_ATTEMPTS = 3
_FIRST_WAIT_S = 0.5
_MOST_BYTES = 8 * 1024**2
_TRANSIENT = frozenset((408, 425, 429, 500, 502, 503, 504))
BACKENDS = ("serper", "searxng", "replay")


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How the web is searched.

    Attributes:
        backend: ``serper``, ``searxng``, ``replay``, or "" for the first of them that the other fields allow.
        url: The server; needed for SearXNG, Serper's own unless given.
        api_key: Serper's key.
        record: JSON-lines file that every search and what it found is added to; None for none.
        replay: Such a file; searches are answered from it and nothing else, and the web is not asked.
        scope: Whose searches they are, such as a task's id: kept in the record, so that each gets its own back.
    """

    backend: str = ""
    url: str = ""
    api_key: str = field(default="", repr=False)
    record: Path | None = None
    replay: Path | None = None
    scope: str = ""

    def __post_init__(self) -> None:
        if self.backend not in ("", *BACKENDS):
            raise ValueError(f"search backend {self.backend!r} is none of {', '.join(BACKENDS)}")
        if self.record is not None and self.record == self.replay:
            raise ValueError(f"searches cannot be recorded to the file they are replayed from: {self.record}")

    @property
    def chosen(self) -> str:
        """The backend searches go to; "" when there is none."""
        if self.backend:
            return self.backend
        if self.replay is not None:
            return "replay"
        if self.api_key:
            return "serper"
        return "searxng" if self.url else ""

    @property
    def missing(self) -> str:
        """What the chosen backend cannot do without and has not, with what to set; "" when it has all it needs."""
        if self.chosen == "serper" and not self.api_key:
            return "Serper needs a key and none is set: set SERPER_API_KEY"
        if self.chosen == "searxng" and not self.url:
            return "SearXNG needs the address of a server and none is set: set GTA_SEARCH_URL"
        if self.chosen == "replay" and self.replay is None:
            return "searches are to be replayed and no record is named: set GTA_SEARCH_REPLAY"
        if self.chosen == "replay" and self.replay is not None and not self.replay.is_file():
            return f"searches are to be replayed from {self.replay}, and there is no such file"
        return ""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One page that was found.

    Attributes:
        title: Its title.
        url: Its address.
        snippet: What the search engine shows of it.
    """

    title: str
    url: str
    snippet: str


@dataclass(frozen=True, slots=True)
class SearchHits:
    """What one search found.

    Attributes:
        query: What was asked.
        answers: What the search engine says itself: an answer box, facts on the subject.
        hits: Pages, best first.
    """

    query: str
    answers: tuple[str, ...] = ()
    hits: tuple[SearchHit, ...] = ()

    def as_text(self) -> str:
        """Return it for a model to read."""
        if not self.answers and not self.hits:
            return f"No results for {self.query!r}."
        pages = [
            f"{number} - {hit.title or hit.url}: {hit.snippet or '(no snippet)'}\n    {hit.url}"
            for number, hit in enumerate(self.hits, 1)
        ]
        return "\n\n".join((*self.answers, *pages) if pages else (*self.answers, "No pages were found."))


class WebSearch:
    """Searches as the settings say, records what comes of it, and answers from a record instead when told to."""

    def __init__(self, settings: SearchSettings) -> None:
        """Take the settings; nothing is asked or read yet."""
        self._settings = settings
        self._lock = threading.Lock()
        self._replayed: dict[tuple[str, int], int] = {}
        self._records: list[dict[str, Any]] | None = None

    def find(self, query: str, k: int, *, deadline_s: float) -> SearchHits:
        """Search; what comes of it, a failure too, is added to the record.

        Args:
            query: Search words.
            k: Pages at most, from 1 to 100.
            deadline_s: Seconds it may take in all.

        Raises:
            ToolFault: Nothing is set up, or there was no answer.
        """
        backend = self._settings.chosen
        if not backend:
            raise ToolFault(
                "it needs a search service and none is set up: set SERPER_API_KEY (serper.dev), or GTA_SEARCH_URL to "
                "the address of a SearXNG server. This cannot be changed from within a task: go on without this tool"
            )
        if self._settings.missing:
            raise ToolFault(self._settings.missing)
        query, k = one_line(query, 2_000), min(k, MOST_HITS)
        if not query:
            raise ToolFault("the query is empty")
        if k < 1:
            raise ToolFault("`k` must be at least 1")
        if backend == "replay":
            found, error = self._replay(query, k)
        else:
            try:
                found, error = _BACKENDS[backend](self._settings, query, k, deadline_s), ""
            except ToolFault as fault:
                found, error = SearchHits(query), str(fault)
        self._record(found, k, backend, error)
        if error:
            raise ToolFault(error)
        return found

    def _record(self, found: SearchHits, k: int, backend: str, error: str) -> None:
        if self._settings.record is None:
            return
        line: dict[str, Any] = {"scope": self._settings.scope, "backend": backend, "k": k, "at": round(time.time(), 3)}
        line |= asdict(found) | ({"error": error} if error else {})
        with self._lock:
            append_line(self._settings.record, json.dumps(line, ensure_ascii=False))

    def _replay(self, query: str, k: int) -> tuple[SearchHits, str]:
        """Return what was recorded for a search: the first time what it found first, and so on; the last stays."""
        with self._lock:
            if self._records is None:
                assert self._settings.replay is not None
                lines = read_lines(self._settings.replay)
                self._records = [line for line in lines if isinstance(line.get("query"), str)]
            same = [line for line in self._records if line["query"] == query and line.get("k") == k]
            own = [line for line in same if line.get("scope") == self._settings.scope] or same
            time_before = self._replayed.get((query, k), 0)
            self._replayed[query, k] = time_before + 1
            queries = [line["query"] for line in self._records]
        if not own:
            close = difflib.get_close_matches(query, queries, n=3, cutoff=0.5)
            hint = f"; it holds {', '.join(map(repr, close))}" if close else ""
            return SearchHits(query), f"the recorded run did not search for {query!r} with k={k}{hint}"
        line = own[min(time_before, len(own) - 1)]
        hits = tuple(_hit(entry, "url", "snippet") for entry in _entries(line.get("hits")))
        answers = tuple(text for text in line.get("answers") or () if isinstance(text, str))
        return SearchHits(query, answers, hits), str(line.get("error") or "")


# -- backends ---------------------------------------------------------------------------------------------------------


def _serper(settings: SearchSettings, query: str, k: int, deadline_s: float) -> SearchHits:
    """Ask Serper, which asks Google."""
    body = json.dumps({"q": query, "num": k}).encode()
    headers = {"X-API-KEY": settings.api_key, "Content-Type": "application/json"}
    found = _json("Serper", settings, settings.url or SERPER_URL, body, headers, deadline_s)
    answers = []
    box = found.get("answerBox")
    if isinstance(box, Mapping) and (text := _words(box, "answer") or _words(box, "snippet")):
        answers.append(f"Answer: {text}{_source(box, 'link')}")
    known = found.get("knowledgeGraph")
    if isinstance(known, Mapping) and (text := _knowledge(known)):
        answers.append(text)
    hits = [_hit(entry, "link", "snippet") for entry in _entries(found.get("organic"))]
    return SearchHits(query, tuple(answers), tuple(hits[:k]))


def _searxng(settings: SearchSettings, query: str, k: int, deadline_s: float) -> SearchHits:
    """Ask a SearXNG server."""
    base = settings.url.rstrip("/")
    base = base if base.endswith("/search") else f"{base}/search"
    hits: list[SearchHit] = []
    answers: list[str] = []
    until = time.monotonic() + deadline_s
    # A page holds ten or more; a next page without anything new is the end.
    for page in range(1, 11):
        address = f"{base}?{urlencode({'q': query, 'format': 'json', 'pageno': page})}"
        try:
            found = _json("SearXNG", settings, address, None, {}, until - time.monotonic())
        except ToolFault:
            if page == 1:
                raise
            break
        if page == 1:
            answers = [f"Answer: {text}" for entry in found.get("answers") or () if (text := _answer_words(entry))]
            boxes = _entries(found.get("infoboxes"))
            answers += [f"{_words(box, 'infobox')}: {text}" for box in boxes if (text := _words(box, "content"))]
        known = {hit.url for hit in hits}
        new = [hit for e in _entries(found.get("results")) if (hit := _hit(e, "url", "content")).url not in known]
        hits += new
        if not new or len(hits) >= k:
            break
    return SearchHits(query, tuple(answers), tuple(hits[:k]))


_BACKENDS: dict[str, Callable[[SearchSettings, str, int, float], SearchHits]] = {
    "serper": _serper,
    "searxng": _searxng,
}


def _json(
    who: str, settings: SearchSettings, url: str, body: bytes | None, headers: Mapping[str, str], deadline_s: float
) -> Mapping[str, Any]:
    """Ask until there is an answer, and return it.

    Raises:
        ToolFault: There is none; one line without secrets.
    """
    until = time.monotonic() + deadline_s
    for attempt in range(_ATTEMPTS):
        answer: HttpAnswer | None = None
        try:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no answer within {deadline_s:.3g} s")
            headers = {"Accept": "application/json", "User-Agent": "pytest-gta", **headers}
            answer = fetch(url, data=body, headers=headers, timeout_s=left, most_bytes=_MOST_BYTES)
            wrong = "" if answer.status == 200 else _status_words(who, answer)
        except (OSError, ValueError) as error:
            wrong = str(error) or type(error).__name__
        if not wrong and answer is not None:
            try:
                found = json.loads(answer.body)
            except ValueError:
                found = None
            if isinstance(found, Mapping):
                return found
            wrong = "it answered 200 with something that is not a JSON object"
        wait = _FIRST_WAIT_S * 2**attempt * random.uniform(0.5, 1.0)  # noqa: S311
        again = answer is None or answer.status in _TRANSIENT
        if not again or attempt == _ATTEMPTS - 1 or time.monotonic() + wait >= until:
            break
        time.sleep(wait)
    secrets = (settings.api_key,) if settings.api_key else ()
    raise ToolFault(one_line(redact(f"{who} gave no results: {wrong}", secrets)))


def _status_words(who: str, answer: HttpAnswer) -> str:
    text = answer.body.decode("utf-8", "replace")
    try:
        parsed = json.loads(text)
        said = parsed.get("message") or parsed.get("error") if isinstance(parsed, Mapping) else None
    except ValueError:
        said = None if "<" in text else text
    hint = ""
    if who == "Serper" and answer.status in (401, 403):
        hint = "; is SERPER_API_KEY right?"
    elif who == "SearXNG" and answer.status == 403:
        hint = "; the server gives JSON only when its settings list `json` under search.formats"
    return f"it answered {answer.status}{f' ({one_line(str(said), 200)})' if said else ''}{hint}"


def _entries(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _hit(entry: Mapping[str, Any], url: str, snippet: str) -> SearchHit:
    date = _words(entry, "date")
    text = _words(entry, snippet)
    return SearchHit(_words(entry, "title"), _words(entry, url), f"{date} - {text}" if date and text else text or date)


def _words(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    return one_line(str(value), 2_000) if isinstance(value, str | int | float) else ""


def _answer_words(entry: Any) -> str:
    return one_line(entry, 2_000) if isinstance(entry, str) else _words(entry, "answer") if entry else ""


def _source(entry: Mapping[str, Any], name: str) -> str:
    url = _words(entry, name)
    return f"\n    {url}" if url else ""


def _knowledge(known: Mapping[str, Any]) -> str:
    title = ", ".join(text for text in (_words(known, "title"), _words(known, "type")) if text)
    attributes = known.get("attributes")
    facts = [f"{name}: {value}" for name, value in attributes.items()] if isinstance(attributes, Mapping) else []
    told = [text for text in (_words(known, "description"), *(one_line(fact, 300) for fact in facts)) if text]
    if not title or not told:
        return ""
    return f"{title}: {'; '.join(told)}{_source(known, 'website') or _source(known, 'descriptionLink')}"
