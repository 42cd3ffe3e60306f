"""What evidence costs and what of it reaches the judge, next to the published protocol on the same deliverables.

    python benchmarks/evidence.py OUTPUTS [--dataset DATASET] [--limit N] [--render]

OUTPUTS is a folder of finished work (`<task id>/final.txt`, `<task id>/files/**`). Each task is judged against a server
on loopback, once as here and once by the published protocol: one call a leaf, the requirement before the files, every
file uploaded again for each leaf; images and PDFs as they are, web pages and plain text as PDF, video as frames, sound
by name only, every other kind not at all. It is simulated: conversions count as the file's own bytes, and take no time.
Tokens: four characters of text are one, a picture is 1,000; a page of a PDF is both, as the API reads it. A prompt
cache holds a prefix that an earlier request of the task has sent.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pytest_gta.benchmark.release import Release  # noqa: E402
from pytest_gta.benchmark.task import Brief, Checkpoint, Task  # noqa: E402
from pytest_gta.formats.renderers import Renderers, find_renderers  # noqa: E402
from pytest_gta.judge.drawing import Drawer  # noqa: E402
from pytest_gta.judge.evidence import Evidence, build_evidence  # noqa: E402
from pytest_gta.judge.judge import Judge  # noqa: E402
from pytest_gta.judge.transport import JudgeApi  # noqa: E402
from pytest_gta.llm.client import ChatClient  # noqa: E402
from pytest_gta.llm.endpoint import Endpoint  # noqa: E402
from pytest_gta.workspace.confined_process import ConfinedProcess  # noqa: E402
from pytest_gta.workspace.confinement import choose_confinement  # noqa: E402
from pytest_gta.workspace.workspace import Workspace  # noqa: E402
from tests.openai_server import OpenAIServer, RecordedRequest, judge  # noqa: E402

PICTURE_TOKENS = 1_000
INSTRUCTIONS = "x" * 1_200
"""As long as the published prompt's own words."""
UPLOADED = ("png", "jpg", "jpeg", "webp", "pdf", "html", "txt", "md", "json", "mp4", "mov", "webm", "mp3", "wav", "m4a")
UNUSED = ("mp4", "mov", "webm", "mp3", "wav", "m4a")
"""Uploaded, but not among what the model is shown."""
MADE_UP_LEAVES = 9
KEYS = ("bytes", "uploaded", "tokens", "uploads", "shown")


@dataclass
class Sums:
    """What was added up over the tasks."""

    tasks: int = 0
    leaves: int = 0
    files: int = 0
    cpu_s: list[float] = field(default_factory=list)
    peak_bytes: int = 0
    ours: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KEYS, 0.0))
    theirs: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KEYS, 0.0))


class PrefixCache:
    """A provider's prompt cache: counts the tokens of requests that no earlier one has sent as its beginning."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def uncached(self, pieces: Sequence[tuple[str, int]]) -> int:
        """Return the tokens of a request that are new: pieces are its content in order, each with its tokens."""
        fresh, state = 0, hashlib.sha256()
        for content, tokens in _cut(pieces):
            state.update(content.encode("utf-8", "surrogatepass"))
            here = state.digest()
            if here not in self._seen:
                self._seen.add(here)
                fresh += tokens
        return fresh


def _cut(pieces: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    """Cut texts into blocks of 128 tokens, the unit in which providers keep prefixes."""
    for content, tokens in pieces:
        if tokens != len(content) // 4:
            yield content, tokens
            continue
        for start in range(0, len(content), 512):
            block = content[start : start + 512]
            yield block, len(block) // 4


def pieces_of(request: RecordedRequest) -> list[tuple[str, int]]:
    """Return a request's content in order, with tokens."""
    found: list[tuple[str, int]] = []
    for message in request.messages:
        content = message["content"]
        parts: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for part in parts:
            if part["type"] == "text":
                found.append((part["text"], len(part["text"]) // 4))
            else:
                found.append((part["image_url"]["url"], PICTURE_TOKENS))
    return found


def reference_task(brief: Brief, answer: str, leaves: Sequence[Checkpoint], files: Sequence[Path], sums: Sums) -> None:
    """Add up what the published protocol sends for a task."""
    cache = PrefixCache()
    sent = [file for file in files if file.suffix.lower().lstrip(".") in UPLOADED]
    shown = [(file, _tokens(file)) for file in sent if file.suffix.lower().lstrip(".") not in UNUSED]
    sums.theirs["shown"] += len(shown)
    for leaf in leaves:
        text = f"{INSTRUCTIONS}{brief.request}{answer}{leaf.requirements}"
        pieces = [(text, len(text) // 4), *((str(file), tokens) for file, tokens in shown)]
        sums.theirs["tokens"] += cache.uncached(pieces)
        sums.theirs["uploaded"] += sum(file.stat().st_size for file in sent)
        sums.theirs["bytes"] += sum(file.stat().st_size for file in sent) + len(text.encode())
        sums.theirs["uploads"] += len(sent)


def _tokens(file: Path) -> int:
    """Return the tokens of a file as the published protocol shows it."""
    suffix = file.suffix.lower()
    if suffix in (".html", ".txt", ".md", ".json"):
        size = file.stat().st_size
        return max(1, size // 3_000) * PICTURE_TOKENS + size // 4
    if suffix != ".pdf":
        return PICTURE_TOKENS
    import pypdfium2

    document = pypdfium2.PdfDocument(file)
    return sum(PICTURE_TOKENS + page.get_textpage().count_chars() // 4 for page in document)


def our_task(
    brief: Brief, answer: str, leaves: Sequence[Checkpoint], folder: Path, tools: Renderers, sums: Sums
) -> None:
    """Build the evidence of a task, judge it, and add up what that took."""
    workspace = Workspace.open(folder, ())
    deliverables = workspace.deliverables()
    started = _cpu()
    with (
        Drawer(tools, workspace.root) as drawer,
        ConfinedProcess(choose_confinement(), readable=[workspace.root, drawer.folder]) as process,
    ):
        evidence = build_evidence(brief, answer, workspace, deliverables, process=process, drawer=drawer)
    sums.cpu_s.append(_cpu() - started)
    sums.ours["shown"] += _with_content(evidence)
    with OpenAIServer(judge({}, default=7), responses=True) as server:
        made = Judge(ChatClient(Endpoint("judge", server.base_url, "none")), api=JudgeApi.AUTO)
        made.judge_task(brief, leaves, evidence, final_answer=answer)
        cache = PrefixCache()
        for request in server.requests:
            if request.is_chat or request.is_response:
                sums.ours["tokens"] += cache.uncached(pieces_of(request))
        sums.ours["bytes"] += sum(len(request.body) for request in server.requests)
        sums.ours["uploaded"] += sum(len(request.body) for request in server.uploads)
        sums.ours["uploads"] += len(server.uploads)


def _with_content(evidence: Evidence) -> int:
    return sum(file.evidence in ("full", "partial") for file in evidence.files)


def _cpu() -> float:
    """Return the processor time of this process and of those it started that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def tasks_of(outputs: Path, dataset: Path | None) -> Iterator[tuple[str, Brief, list[Checkpoint]]]:
    """Yield the tasks that have outputs: from the dataset, or made up when there is none."""
    known: dict[str, Task] = {}
    if dataset is not None:
        release = Release(dataset)
        known = {task.id: task for task in release.tasks() if isinstance(task, Task)}
    for folder in sorted(outputs.iterdir()):
        task = known.get(folder.name)
        if task is not None:
            yield folder.name, task.brief, list(task.leaves)
        elif folder.is_dir():
            leaves = [
                Checkpoint(f"cp{n}", f"Requirement {n} of the report is met.", 1.0) for n in range(MADE_UP_LEAVES)
            ]
            yield folder.name, Brief(folder.name, "planning", ("Do the work.",), ()), leaves


def report(sums: Sums) -> None:
    """Print the sums side by side."""
    cpu = sorted(sums.cpu_s)
    print(f"{sums.tasks} tasks, {sums.leaves} leaves, {sums.files} deliverables")
    print(f"{'':<34}{'here':>14}{'published':>14}{'ratio':>9}")
    for what, key, per in (
        ("deliverables shown with content", "shown", sums.files),
        ("uploads a deliverable", "uploads", sums.files),
        ("bytes of uploads a leaf", "uploaded", sums.leaves),
        ("bytes sent in all a leaf", "bytes", sums.leaves),
        ("uncached input tokens a leaf", "tokens", sums.leaves),
    ):
        ours, theirs = sums.ours[key] / per, sums.theirs[key] / per
        print(f"{what:<34}{ours:>14,.2f}{theirs:>14,.2f}{ours / theirs if theirs else float('nan'):>9.3f}")
    shown = sums.ours["shown"] / max(sums.theirs["shown"], 1)
    each = sums.ours["tokens"] / max(sums.theirs["tokens"], 1) / max(shown, 1)
    print(f"{'the same, by deliverables shown':<34}{'':<28}{each:>9.3f}")
    print(f"1 / leaves a task                 {'':<28}{sums.tasks / sums.leaves:>9.3f}")
    print(f"CPU seconds a task: median {cpu[len(cpu) // 2]:.2f}, mean {sum(cpu) / len(cpu):.2f}, most {cpu[-1]:.2f}")
    print(f"largest process: {sums.peak_bytes / 1024**2:,.0f} MB")


def main() -> int:
    """Measure all tasks; the exit code is 1 when a deliverable reached the judge without content."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("outputs", type=Path)
    options.add_argument("--dataset", type=Path)
    options.add_argument("--limit", type=int, default=1_000)
    options.add_argument("--render", action="store_true", help="draw with LibreOffice and Chromium as well")
    given = options.parse_args()
    renderers = find_renderers() if given.render else Renderers()
    sums = Sums()
    started = time.perf_counter()
    for name, brief, leaves in list(tasks_of(given.outputs, given.dataset))[: given.limit]:
        folder = given.outputs / name
        final = folder / "final.txt"
        answer = final.read_text("utf-8", "replace") if final.is_file() else ""
        files = sorted(file for file in (folder / "files").rglob("*") if file.is_file())
        sums.tasks, sums.leaves, sums.files = sums.tasks + 1, sums.leaves + len(leaves), sums.files + len(files)
        with tempfile.TemporaryDirectory() as scratch:
            work = Path(scratch) / "work"
            work.mkdir()
            for file in files:
                place = work / file.relative_to(folder / "files")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.read_bytes())
            our_task(brief, answer, leaves, work, renderers, sums)
        reference_task(brief, answer, leaves, files, sums)
    sums.peak_bytes = 1024 * max(
        resource.getrusage(w).ru_maxrss for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    report(sums)
    print(f"wall: {time.perf_counter() - started:.0f} s; drawn by: {', '.join(renderers.names) or 'nothing'}")
    return 0 if sums.ours["shown"] == sums.files else 1


if __name__ == "__main__":
    sys.exit(main())
