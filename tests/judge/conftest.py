"""What the tests of the judge share: a task, evidence, and judges that talk to a local server."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from pytest_gta.benchmark.results import DeliverableRecord, Verdict
from pytest_gta.benchmark.task import Brief, Checkpoint
from pytest_gta.judge.evidence import Evidence, PicturePart, TextPart
from pytest_gta.judge.judge import Judge
from pytest_gta.llm.client import ChatClient
from pytest_gta.llm.endpoint import Endpoint
from pytest_gta.llm.retry import RetryPolicy
from tests.openai_server import Answer, OpenAIServer, says

PNG = b"\x89PNG\r\n\x1a\n made by the test"

BRIEF = Brief("7", "planning", ("Plan a trip. Write plan.md.",), ("resources/files/7-1.pdf",))


def leaves(count: int) -> list[Checkpoint]:
    return [Checkpoint(f"cp1-{i}", f"Requirement number {i} is met.", 1.0) for i in range(1, count + 1)]


def record(path: str = "plan.md", size: int = 20, evidence: str = "full", note: str = "") -> DeliverableRecord:
    return DeliverableRecord(
        path=path, bytes=size, sha256="0" * 64, media_type="text/markdown", evidence=evidence, note=note
    )


def evidence(
    *parts: str | TextPart | PicturePart, files: tuple[DeliverableRecord, ...] | None = None, note: str = ""
) -> Evidence:
    files = (record(),) if files is None else files
    manifest = TextPart("\n".join([f"FILES DELIVERED: {len(files)}", *(f"- {file.path}" for file in files)]))
    shown = (manifest, *(TextPart(part) if isinstance(part, str) else part for part in parts))
    digest = hashlib.sha256(repr(shown).encode()).hexdigest()
    return Evidence(parts=shown, files=files, digest=digest, note=note)


def picture(label: str = "chart.png") -> PicturePart:
    return PicturePart(label=label, media_type="image/png", data=PNG)


def client(server: OpenAIServer, **settings: Any) -> ChatClient:
    endpoint = Endpoint(model="judge-1", base_url=server.base_url, api_key="sk-test-0123456789abcdef")
    return ChatClient(endpoint, retry=RetryPolicy(attempts=2, base_s=0.01, cap_s=0.02), **settings)


@pytest.fixture
def make_judge() -> Callable[..., Judge]:
    def make(server: OpenAIServer, *, control: Any = None, **settings: Any) -> Judge:
        settings = {"deadline_s": 20.0, **settings}
        return Judge(client(server, control=control), control=control, **settings)

    return make


MakeJudge = Callable[..., Judge]
StartServer = Callable[..., OpenAIServer]

EVIDENCE = evidence("# Plan\nthree towns")


def verdict_of(score: Any) -> Answer:
    return says(json.dumps({"analysis": "plan.md decides", "score": score}))


def run(judge: Judge, count: int = 3, shown: Evidence = EVIDENCE, **more: Any) -> dict[str, Verdict]:
    more.setdefault("final_answer", "Done.")
    return judge.judge_task(BRIEF, leaves(count), shown, **more)


def statuses(verdicts: dict[str, Verdict]) -> list[str]:
    return [verdict.status.value for verdict in verdicts.values()]
