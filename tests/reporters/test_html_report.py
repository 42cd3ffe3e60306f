# ruff: noqa: RUF001 - the signs the page shows
from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from PIL import Image

from pytest_gta.benchmark.comparison import compare
from pytest_gta.benchmark.coverage import Coverage
from pytest_gta.benchmark.gate import Gate
from pytest_gta.benchmark.results import LeafStatus, Opinion, RunResult, StopReason, TaskStatus
from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.reporters.html import room, steps
from pytest_gta.reporters.html.page import write_report
from pytest_gta.reporters.pytest_html import score_sheet_block
from tests.domain import a_file, a_run, an_agent, by_id, graded, inner, leaf, not_graded, scored, unscored
from tests.reporters.made_run import made_run

HOSTILE = (
    "<img src=x onerror=hit=1></script><script>hit=1</script></textarea></template><!-- --!>'\"><svg onload=hit=1>\n"
    "\u2028\u2029\x00\x1b[2J\u202eabc\ud800 {{7*7}} ${7*7} ]]> &lt;b&gt;"
)


def hostile_run(root: Path) -> RunResult:
    """A run in which every text a stranger writes is hostile, with a run directory that is as well."""
    nodes = (inner("cp1", 2, leaf(HOSTILE, 1, HOSTILE)), leaf("cp2", 1, HOSTILE))
    verdicts = by_id(scored(HOSTILE, 3, HOSTILE, evidence_note=HOSTILE), scored("cp2", 9, HOSTILE))
    tree = score_tree(nodes, verdicts)
    agent = an_agent(label=HOSTILE, stop_reason=StopReason.AGENT_ERROR, stop_detail=HOSTILE, final_answer=HOSTILE)
    below = graded(
        "1", 4.5, run_key="planning_1", category=HOSTILE, kinds=(HOSTILE,), nodeid=HOSTILE, notes=(HOSTILE,),
        checkpoints=tree.checkpoints, agent=agent,
        deliverables=(
            a_file("page.html", media_type=HOSTILE, evidence=HOSTILE, note=HOSTILE),
            a_file(HOSTILE, note=HOSTILE),
            a_file("../../../../../etc/passwd", note="outside"),
            a_file("x.csv"),
        ),
    )  # fmt: skip
    broken = not_graded("2", TaskStatus.ERROR, run_key=HOSTILE, error=HOSTILE)
    others = [graded(name, 8, run_key=HOSTILE + name) for name in "34"]
    task = RunDirectory(root).task("planning_1")
    task.workspace.mkdir(parents=True)
    (task.workspace / "page.html").write_text(
        "<html><head><meta http-equiv=refresh content='0;url=http://evil.example/'><base href=http://evil.example/>"
        "<link rel=preconnect href=//evil.example><script>parent.hit=1</script></head>"
        "<body onload='parent.hit=1' background=http://evil.example/a><h1>Hi</h1><img src=http://evil.example/p.png>"
        "<a href='javascript:hit=1'>go</a><iframe srcdoc='<script>top.hit=1</script>'></iframe>"
        "<form action=http://evil.example><button>send</button></form></body></html>"
    )
    (task.workspace / "x.csv").write_text("name,count\n<script>hit=1</script>,2\n'\"><img src=x onerror=hit=1>,3\n")
    step = {"kind": HOSTILE, "name": HOSTILE, "text": HOSTILE, "turn": 1}
    task.transcript.write_text(json.dumps({"kind": "user", "text": HOSTILE}) + "\n" + json.dumps(step) + "\n")
    return a_run(
        below, broken, *others, gate=Gate(verdict="fail", reasons=(HOSTILE,)), command=HOSTILE,
        agent={"kind": "cmd", "label": HOSTILE, "model": HOSTILE, "settings": {HOSTILE: HOSTILE}},
        judge={"model": HOSTILE, "prompt_version": HOSTILE}, sandbox=HOSTILE, started_at=HOSTILE,
        dataset={"name": HOSTILE, "sha256": HOSTILE, "tasks": 4},
    )  # fmt: skip


class Report:
    """A written report, taken apart."""

    def __init__(self, result: RunResult, root: Path, target: Path | None = None, **options: Any) -> None:
        self.path = write_report(result, RunDirectory(root), target or root / "report.html", **options)
        self.text = self.path.read_text("utf-8")
        self.page = html.document_fromstring(self.path.read_bytes())

    def all(self, css: str) -> list[Any]:
        return self.page.cssselect(css)

    def words(self, css: str) -> str:
        return " ".join(self.page.cssselect(css)[0].text_content().split())

    def cells(self, task: str) -> list[str]:
        row = next(row for row in self.all("#table tbody tr") if row.get("data-task") == f"task-{task}")
        return [" ".join(cell.text_content().split()) for cell in row]


SHOWN = Coverage(files=2, files_shown=1, pages=9, pages_shown=3, characters=1_200, characters_shown=900)


@pytest.fixture
def two(tmp_path: Path) -> RunResult:
    """A success and a task below, the second with inputs for every part of its page."""
    nodes = (
        inner("cp1", 3, leaf("cp1-1", 1, "The plan names three hotels."), leaf("cp1-2", 3, "All prices are given.")),
        leaf("cp2", 1, "The file opens."),
    )
    verdicts = by_id(
        scored("cp1-1", 8, "Three hotels on page 1.", evidence_note="pages 4 to 9", coverage=SHOWN),
        scored("cp1-2", 2, "Only one price."),
        scored("cp2", 10, cached=True),
    )
    tree = score_tree(nodes, verdicts)
    low = graded(
        "3", 5.125, run_key="planning_3", kinds=("csv", "pdf"), checkpoints=tree.checkpoints,
        agent=an_agent(tool_calls=9, tool_errors=2, final_answer="See plan.csv.", stop_detail=""),
        deliverables=(a_file("plan.csv"), a_file("link.txt", sha256=None, evidence="not_taken", note="a link")),
    )  # fmt: skip
    task = RunDirectory(tmp_path).task("planning_3")
    task.workspace.mkdir(parents=True)
    (task.workspace / "plan.csv").write_text("day,price\nMonday,40\nTuesday,55\n")
    lines = [{"kind": "user", "text": "Plan three days."}, {"kind": "tool_result", "name": "OCR", "is_error": True}]
    task.transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return a_run(graded("9", 9, category="education"), low)


def test_the_headline_says_how_good_the_agent_is(tmp_path: Path, two: RunResult) -> None:
    report = Report(two, tmp_path)
    assert report.words("#title") == "tools on m1"
    assert report.words(".hero") == "Root SR tasks with 7 points or more 50.0 % 1 of 2 graded tasks · 95 % [9.5, 90.5]"
    tiles = {tile[0].text: " ".join(tile[1].text_content().split()) for tile in report.all(".tiles > div")}
    assert tiles["Root Score"].startswith("7.06 / 10")
    assert tiles["Leaf SR"] == "75.0 % of 4 leaves with a score".replace("75.0 % of", "75.0 %of")
    assert tiles["Cost"].startswith("$0.52")
    assert "planning_3" in report.words(".first")
    assert "cp1-2 −4.5: All prices are given." in report.words(".first")


def test_a_leaf_says_how_much_of_the_files_its_judge_was_shown(tmp_path: Path, two: RunResult) -> None:
    report = Report(two, tmp_path)
    said = [text for p in report.all(".rubric p") if "Shown to the judge" in (text := p.text_content())]
    assert said == ["Shown to the judge: 1 of 2 files, 3 of 9 pages, 900 of 1,200 characters of text, 0 pictures"]
    sheet = score_sheet_block(two.tasks[1], 7, [])
    assert sheet.count(said[0]) == 1


def test_what_is_not_measured_is_said_with_its_bounds(tmp_path: Path) -> None:
    tree = score_tree((leaf("cp1"), leaf("cp2")), by_id(scored("cp1", 8), unscored("cp2")))
    open_task = not_graded("2", TaskStatus.UNSCORED, tree.bounds, checkpoints=tree.checkpoints, error=None)
    report = Report(a_run(graded("1", 9), open_task, not_graded("3", TaskStatus.NOT_RUN)), tmp_path)
    assert report.words(".missing").startswith(
        "Not all is measured. 1 task unscored, 1 task not run. With them, Root SR lies between 33.3 and 100.0 %."
    )
    assert report.cells("planning_2")[2:4] == ["Unscored", "-"]
    assert "could be 4.00 to 9.00" in report.words("#task-planning_2 .result")
    assert "judge error, could be 0.00 to 10.00" in report.words("#task-planning_2 .rubric")


def test_every_task_has_a_row_those_that_need_attention_first_and_a_place(tmp_path: Path) -> None:
    result = made_run(tmp_path, tasks=30)
    report = Report(result, tmp_path, preview_seconds=0)
    rows = report.all("#table tbody tr")
    places = [row.get("data-task") for row in rows]
    assert sorted(places) == sorted(article.get("id") for article in report.all("article.task"))
    assert len(set(places)) == 30
    scores = [row.cssselect("td.scored")[0].get("data-value") for row in rows]
    known = [float(score) for score in scores if score]
    assert known == sorted(known)
    assert scores[: scores.count("")] == [""] * scores.count("")
    by_key = {task.run_key: task for task in result.tasks}
    for row in rows:
        task = by_key[row.get("data-task").removeprefix("task-")]
        assert row.get("data-category") == task.category
        assert row.cssselect("td.scored .score")[0].text == (
            "-" if task.root_score is None else f"{task.root_score:.2f}"
        )


def test_a_task_shows_its_rubric_with_scores_weights_reasons_and_what_they_cost(tmp_path: Path, two: RunResult) -> None:
    report = Report(two, tmp_path)
    leaves = [" ".join(li.text_content().split()) for li in report.all("#task-planning_3 .rubric li.leaf")]
    assert leaves[0] == (
        "8−0.38 of the root scorecp1-1 ×1 The plan names three hotels.Three hotels on page 1."
        "Shown to the judge: 1 of 2 files, 3 of 9 pages, 900 of 1,200 characters of text, 0 pictures"
        "The judge was not shown: pages 4 to 9"
    )
    assert leaves[1] == "2−4.50 of the root scorecp1-2 ×3 All prices are given.Only one price."
    assert leaves[2] == "10cp2 ×1 The file opens.verdict reused"
    assert [li.get("class") for li in report.all("#task-planning_3 .rubric > li")] == ["inner below", "leaf reached"]
    assert report.words("#task-planning_3 .prose") == "Plan three days."
    assert "See plan.csv." in report.words("#task-planning_3")
    facts = {one[0].text: one[1].text for one in report.all("#task-planning_3 .facts > div")}
    assert facts["Ended"] == "finished"
    assert facts["Tool calls"] == "9, 2 errors"
    assert facts["Cost"] == "$0.25"
    assert report.words("#task-planning_3 .steps .failed") == "Tool result OCR error"


def test_deliverables_are_shown_as_pictures_rows_and_text(tmp_path: Path) -> None:
    report = Report(made_run(tmp_path, tasks=2, seed=1), tmp_path)
    article = report.all("article.task")[0]
    image = article.cssselect(".files img")[0]
    kind, data = image.get("src").split(",")
    assert kind == "data:image/webp;base64"
    with Image.open(io.BytesIO(base64.b64decode(data))) as picture:
        assert picture.size == (480, 300) == (int(image.get("width")), int(image.get("height")))
    assert image.get("alt") == "Picture of cover.png, reduced"
    table = article.cssselect("table.rows tr")
    assert [cell.text for cell in table[0]] == ["city", "days", "cost"]
    assert [cell.text for cell in table[1]] == ["Porto", "3", "410"]
    assert "the judge saw a part" in article.text_content()
    frame = article.cssselect("iframe")[0]
    assert frame.get("sandbox") == ""
    assert "<h1>Report</h1>" in frame.get("srcdoc")


def test_files_are_linked_only_beside_the_page_and_never_when_a_browser_would_run_them(tmp_path: Path) -> None:
    result = made_run(tmp_path / "run", tasks=1)
    key = result.tasks[0].run_key
    beside = Report(result, tmp_path / "run", preview_seconds=0)
    links = [link.get("href") for link in beside.all(f"#task-{key} .files a")]
    assert links == [f"tasks/{key}/workspace/cover.png", f"tasks/{key}/workspace/table.csv"]
    assert [link.get("href") for link in beside.all(f"#task-{key} .steps ~ p a")] == [f"tasks/{key}/transcript.jsonl"]
    above = Report(result, tmp_path / "run", tmp_path / "report.html", preview_seconds=0)
    assert above.all(".files a")[0].get("href") == f"run/tasks/{key}/workspace/cover.png"
    elsewhere = Report(result, tmp_path / "run", tmp_path / "pages" / "report.html", preview_seconds=0)
    assert elsewhere.all(".files a") == []


def test_sound_and_video_are_played_from_the_run_directory(tmp_path: Path) -> None:
    task = RunDirectory(tmp_path).task("planning_1")
    task.workspace.mkdir(parents=True)
    (task.workspace / "my clip#1.mp4").write_bytes(b"\0" * 64)
    (task.workspace / "voice.mp3").write_bytes(b"\0" * 64)
    files = (a_file("my clip#1.mp4", media_type="video/mp4"), a_file("voice.mp3"), a_file("gone.mp3"))
    report = Report(a_run(graded("1", 5, deliverables=files)), tmp_path)
    assert [one.get("src") for one in report.all("video")] == ["tasks/planning_1/workspace/my%20clip%231.mp4"]
    assert [one.get("src") for one in report.all("audio")] == ["tasks/planning_1/workspace/voice.mp3"]
    assert report.all("audio")[0].get("preload") == "none"


def test_files_outside_the_workspace_are_neither_opened_nor_linked(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret words")
    task = RunDirectory(tmp_path).task("planning_1")
    task.workspace.mkdir(parents=True)
    (task.workspace / "link.txt").symlink_to(secret)
    files = tuple(a_file(path) for path in ("link.txt", "../../../secret.txt", str(secret)))
    report = Report(a_run(graded("1", 5, deliverables=files)), tmp_path)
    assert "the secret words" not in report.text
    assert report.all(".files a") == []
    secret.rename(tmp_path / "transcript.jsonl").write_text(json.dumps({"kind": "user", "text": "the secret words"}))
    assert "the secret words" not in Report(a_run(graded("1", 5, run_key="../")), tmp_path / "run").text


def test_the_page_asks_nothing_of_the_network_and_runs_only_its_own_script(tmp_path: Path) -> None:
    report = Report(made_run(tmp_path, tasks=3), tmp_path)
    policy = dict(part.strip().split(" ", 1) for part in report.all("meta[http-equiv]")[0].get("content").split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["img-src"] == "data:"
    assert "http" not in " ".join(policy.values())
    (script,) = report.all("script")
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    assert policy["script-src"] == f"'sha256-{digest}'"
    for element in report.page.iter():
        if isinstance(element.tag, str):
            for name, value in element.attrib.items():
                assert not name.startswith("on")
                if name in ("src", "href", "action"):
                    assert not re.match(r"(?i)\s*(https?:|//|javascript:)", value)


def test_whatever_a_stranger_wrote_is_shown_as_text(tmp_path: Path) -> None:
    report = Report(hostile_run(tmp_path), tmp_path)
    assert len(report.all("script")) == 1
    assert report.all("img") == report.all("textarea") == report.all("template") == []
    assert all(name != "onload" for element in report.page.iter() for name in getattr(element, "attrib", ()))
    assert not re.search("[\x00-\x08\x0b-\x1f\u2028-\u202e\ud800-\udfff]", report.text)
    shown = "<img src=x onerror=hit=1></script><script>hit=1</script>"
    article = report.all("#task-planning_1")[0].text_content()
    # two requirements, two reasons, an id, an unseen note, request, steps, answer, files, notes, facts
    assert article.count(shown) >= 15
    assert " ".join(report.all("svg g.dots title")[0].text.split()).startswith("<img src=x onerror=hit=1></script>")
    assert "‹U+2028›‹U+2029›␀␛[2J‹U+202E›abc‹U+D800›" in article
    assert "{{7*7}} ${7*7}" in article
    assert "root:" not in report.text
    (frame,) = report.all("iframe")
    inside = html.document_fromstring(frame.get("srcdoc"))
    assert [element for tag in ("script", "meta", "base", "link", "iframe") for element in inside.iter(tag)] == []
    assert "evil.example" not in frame.get("srcdoc")
    assert "javascript" not in frame.get("srcdoc")
    rows = report.all("table.rows tbody tr")
    assert rows[0][0].text == "<script>hit=1</script>"


def test_charts_have_words_and_numbers_beside_them(tmp_path: Path, two: RunResult) -> None:
    report = Report(two, tmp_path)
    charts = {card.cssselect("h2")[0].text: card for card in report.all(".charts .card")}
    assert list(charts) == ["Root SR over thresholds", "Scores of leaves"]
    rates = charts["Root SR over thresholds"]
    label = rates.cssselect("svg")[0].get("aria-label")
    assert label.startswith("Bar chart of Root SR: 100.0 % from 5 points, 50.0 % from 6 points")
    numbers = [[cell.text for cell in row] for row in rates.cssselect("tbody tr")]
    assert numbers[-1] == ["9", "50.0 %"]
    assert len(rates.cssselect("svg .bar.marked")) == 1
    spread = [row[1].text for row in charts["Scores of leaves"].cssselect("tbody tr")]
    assert spread == ["0", "0", "1", "0", "0", "0", "0", "0", "1", "2"]
    many = Report(made_run(tmp_path / "made", tasks=12), tmp_path / "made", preview_seconds=0)
    dots = many.all(".charts svg g.dots")
    assert len(dots) == sum(row.get("data-state") in ("reached", "below") for row in many.all("#table tbody tr"))
    assert {dot.get("data-task") for dot in dots} <= {article.get("id") for article in many.all("article.task")}


def test_the_change_against_a_baseline_is_shown_with_the_tasks_that_flipped(tmp_path: Path) -> None:
    before, now = [graded("1", 9), graded("2", 5), graded("3", 5)], [graded("1", 4), graded("2", 5), graded("3", 8)]
    gate = Gate(verdict="pass", baseline=compare(before, now, 7).as_json())
    report = Report(a_run(*now, gate=gate), tmp_path)
    rows = [[cell.text_content() for cell in row][:4] for row in report.all(".change tbody tr")]
    assert rows == [["Root SR, %", "33.3", "33.3", "+0.0"], ["Root Score", "6.33", "5.67", "−0.67"]]
    assert [" ".join(p.text_content().split()) for p in report.all(".change p")] == [
        "1 lost planning_1",
        "1 won planning_3",
    ]
    assert report.all(".change p a")[0].get("href") == "#task-planning_1"


def test_repeats_have_their_rates_and_name_the_least_steady(tmp_path: Path) -> None:
    runs = [graded("1", score, run_key=f"planning_1_r{n}", repeat=n) for n, score in enumerate((9, 4, 8), 1)]
    report = Report(a_run(*runs), tmp_path)
    assert "2 of 3 graded runs of 1 task" in report.words(".hero")
    rows = [[cell.text_content() for cell in row] for row in report.all("#repeats ~ div tr")]
    assert rows[1] == ["pass@k, one of k succeeds", "66.7 %", "100.0 %", "100.0 %"]
    assert rows[2] == ["pass^k, all k succeed", "66.7 %", "33.3 %", "0.0 %"]
    assert "planning_1 (4.00 to 9.00, 2 of 3 succeed)" in report.words(".change p")
    assert report.all(".change p a")[0].get("href") == "#task-planning_1_r1"


def test_groups_are_tables_that_filter(tmp_path: Path, two: RunResult) -> None:
    report = Report(two, tmp_path)
    rows = [[" ".join(cell.text_content().split()) for cell in row] for row in report.all(".groups")[0].iter("tr")]
    assert rows[1] == ["Education", "1", "100.0 %", "9.00", "100.0 %"]
    assert report.all(".groups tbody a")[0].get("href") == "#?category=education"


def test_capabilities_are_a_table_that_filters_and_say_what_is_inferred(tmp_path: Path) -> None:
    tasks = (
        graded("1", 9, capabilities=("perception", "logic"), capability_basis="stated"),
        graded("2", 5, capabilities=("logic",), capability_basis="inferred"),
    )
    report = Report(a_run(*tasks), tmp_path)
    (card,) = [card for card in report.all(".groups") if card.cssselect("h2")[0].text == "Capabilities asked for"]
    rows = [[" ".join(cell.text_content().split()) for cell in row] for row in card.cssselect("tbody tr")]
    assert rows == [
        ["perception", "1", "100.0 %", "9.00", "100.0 %"],
        ["logic 1 of 2 inferred", "2", "50.0 %", "7.00", "50.0 %"],
    ]
    assert [link.get("href") for link in card.cssselect("a")] == ["#?capability=perception", "#?capability=logic"]
    assert [option.text for option in report.all("select[name=capability] option")] == [
        "All capabilities", "perception", "logic"
    ]  # fmt: skip
    assert [row.get("data-capabilities") for row in report.all("#table tbody tr")] == ["logic", "perception logic"]
    assert report.words("#task-planning_1 header .quiet") == "Planning · perception, logic · task 1"
    assert report.words("#task-planning_2 header .quiet") == "Planning · logic (inferred) · task 2"
    old = a_run(graded("1", 9))
    del old.summary["by_capability"]
    assert Report(old, tmp_path).all("select[name=capability]") == []


def test_the_change_of_every_task_against_the_baseline_is_shown(tmp_path: Path) -> None:
    before = [graded("1", 9), graded("2", 5.5), graded("4", 8)]
    now = [graded("1", 4), graded("2", 8), graded("3", 6), graded("4", 8)]
    gate = Gate(verdict="fail", reasons=("it fell",), baseline=compare(before, now, 7).as_json())
    report = Report(a_run(*now, gate=gate), tmp_path)
    assert [report.cells(f"planning_{n}")[4] for n in range(1, 5)] == ["−5.00", "+2.50", "–", "+0.00"]
    assert "needed; 9.00 in the baseline (−5.00)" in report.words("#task-planning_1 .result")
    assert "baseline" not in report.words("#task-planning_3 .result")
    old = gate.model_copy(update={"baseline": {k: v for k, v in (gate.baseline or {}).items() if k != "by_task"}})
    assert Report(a_run(*now, gate=old), tmp_path).cells("planning_1")[4] == "–"


def diagnosed(root: Path) -> RunResult:
    """A run of two tasks below, one of which is diagnosed."""
    nodes = (leaf("cp1"), leaf("cp2"), leaf("cp3"))
    tree = score_tree(nodes, by_id(scored("cp1", 2), scored("cp2", 4), scored("cp3", 9)))
    low = graded("1", 5, root_score=tree.score, checkpoints=tree.checkpoints)
    entry = {"task": "planning_1", "score": 2.0}
    shares = {"stages": {"EXECUTE": {"count": 1, "percent": 100.0}, "PLAN": {"count": 0, "percent": 0.0}}, "levels": {}}
    value = {
        "judge": "j1", "threshold": 7.0, "shares": shares,
        "leaves": [
            {**entry, "leaf": "cp1", "label": "EXECUTE", "quote": "Traceback <b>", "reason": "The call failed."},
            {**entry, "leaf": "cp2", "label": None, "reason": "the model declined"},
        ],
        "tasks": [{**entry, "leaf": "", "label": "B", "quote": "no chart", "reason": "A part is missing."}],
    }  # fmt: skip
    (root / "diagnosis.json").write_text(json.dumps(value))
    return a_run(low, graded("2", 4))


def test_a_diagnosed_run_shows_stages_and_levels_with_what_bears_them_out(tmp_path: Path) -> None:
    report = Report(diagnosed(tmp_path), tmp_path)
    (card,) = [card for card in report.all(".groups") if card.cssselect("h2")[0].text == "Stages of failed leaves"]
    (row,) = card.cssselect("tbody tr")
    assert [" ".join(cell.text_content().split()) for cell in row][1:] == ["1", "100.0 %"]
    assert card.cssselect("a")[0].get("href") == "#?stage=EXECUTE"
    assert "1 of 2 leaves below 7 points labelled by j1" in card.text_content()
    told = [" ".join(p.text_content().split()) for p in report.all("#task-planning_1 .failure")]
    assert told == [
        "B, composition A part is missing. no chart",
        "EXECUTE The call failed. Traceback <b>",
        "No label: the model declined",
    ]
    assert {row.get("data-task"): row.get("data-stages") for row in report.all("#table tbody tr")} == {
        "task-planning_1": "EXECUTE", "task-planning_2": ""
    }  # fmt: skip
    assert report.all("#task-planning_2 .failure") == []


@pytest.mark.parametrize("content", ["", "{}", '{"judge": 1}', "null"])
def test_a_damaged_diagnosis_is_no_obstacle(tmp_path: Path, content: str) -> None:
    (tmp_path / "diagnosis.json").write_text(content)
    assert Report(a_run(graded("1", 4)), tmp_path).all(".failure, select[name=stage]") == []


def test_what_a_score_was_made_of_is_shown_and_how_far_apart_it_is(tmp_path: Path) -> None:
    panel = (
        Opinion(judge="strict", status=LeafStatus.SCORED, score=4, samples=(4, 5), analysis="No total."),
        Opinion(judge="kind", status=LeafStatus.SCORED, score=8, analysis="Good <b>enough</b>."),
        Opinion(judge="gone", status=LeafStatus.JUDGE_ERROR, analysis="timed out"),
    )
    nodes = (leaf("cp1"), leaf("cp2"), leaf("cp3"))
    verdicts = by_id(scored("cp1", 6, panel=panel), scored("cp2", 7, samples=(6, 7, 7)), scored("cp3", 9))
    tree = score_tree(nodes, verdicts)
    several = graded("1", tree.score or 0, root_score=tree.score, checkpoints=tree.checkpoints)
    report = Report(a_run(several, graded("2", 3)), tmp_path)
    leaves = report.all("#task-planning_1 .rubric li.leaf")
    assert "3 judges, 1 without a score: 4, 8; median 6, spread 4" in leaves[0].text_content()
    assert [" ".join(li.text_content().split()) for li in leaves[0].cssselect(".judges li")] == [
        "strict 4 (answers 4, 5)No total.", "kind 8Good <b>enough</b>.", "gone judge errortimed out"
    ]  # fmt: skip
    assert "3 answers: 6, 7, 7; median 7, spread 1" in leaves[1].text_content()
    assert "median" not in leaves[2].text_content()
    assert report.words(".apart").startswith(
        "How far scores of a leaf are apart 2 leaves have more than one score, 2.5 points apart on average. "
        "For 2 of them some scores reach 7 points and others do not. Furthest apart: planning_1 cp1 (4 points), "
    )
    assert [report.cells(f"planning_{n}")[4] for n in (1, 2)] == ["4", "–"]
    assert Report(a_run(graded("2", 3)), tmp_path).all(".apart, th[data-key=spread]") == []


def test_the_page_is_built_of_landmarks_heads_and_tables(tmp_path: Path, two: RunResult) -> None:
    report = Report(two, tmp_path)
    assert report.page.get("lang") == "en"
    assert len(report.all("main")) == len(report.all("#overview h1")) == 1
    assert len(report.all("article > header h1")) == 2
    assert report.all("a.skip")[0].get("href") == "#main"
    assert report.all("#table th[aria-sort]")[0].get("data-key") == "score"
    assert all(head.get("scope") == "col" for head in report.all("#table thead th"))
    ids = [element.get("id") for element in report.all("[id]")]
    assert len(ids) == len(set(ids))


def test_a_run_without_its_directory_or_without_tasks_has_a_page_too(tmp_path: Path) -> None:
    report = Report(a_run(graded("1", 5, deliverables=(a_file(),))), tmp_path / "gone", tmp_path / "report.html")
    assert "Not in the run directory." in report.words("#task-planning_1")
    assert report.words("#task-planning_1 .files .name") == "report.docx"
    empty = Report(a_run(), tmp_path, tmp_path / "empty.html")
    assert empty.words(".hero .big") == "–"
    assert empty.all("#table tbody tr") == empty.all(".charts .card") == []


def test_requests_can_be_given(tmp_path: Path, two: RunResult) -> None:
    report = Report(two, tmp_path, requests={"planning_3": "Plan it all.", "education_9": "Teach."})
    assert report.words("#task-planning_3 .prose") == "Plan it all."
    assert report.words("#task-education_9 .prose") == "Teach."


def test_the_benchmarks_132_tasks_with_long_transcripts_make_a_small_page(tmp_path: Path) -> None:
    result = made_run(tmp_path, transcript_bytes=5_000_000)
    report = Report(result, tmp_path, preview_seconds=300)
    assert 3_000_000 < report.path.stat().st_size < 5_000_000
    assert len(report.all("article.task")) == 132
    pictures = len(report.all(".files img"))
    assert pictures > 100
    assert "characters not shown" in report.text


def test_memory_does_not_grow_with_the_transcripts(tmp_path: Path) -> None:
    def peak(size: int) -> int:
        root = tmp_path / str(size)
        result = made_run(root, tasks=10, transcript_bytes=size)
        tracemalloc.start()
        write_report(result, RunDirectory(root), root / "report.html", preview_seconds=0)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(10_000)  # what is imported and compiled once
    assert peak(20_000_000) < peak(500_000) * 1.3 + 1_000_000


def test_very_large_texts_are_cut_and_say_so(tmp_path: Path) -> None:
    nodes = tuple(leaf(f"cp{n}", 1, "é<" * 4_000) for n in range(40))
    tree = score_tree(nodes, by_id(*(scored(node.id, 5, "&" * 20_000) for node in nodes)))
    task = graded("1", 5, checkpoints=tree.checkpoints, agent=an_agent(final_answer="a" * 9_000_000))
    tasks = [task.model_copy(update={"run_key": f"planning_{n}"}) for n in range(60)]
    report = Report(a_run(*tasks), tmp_path, preview_seconds=0)
    assert report.path.stat().st_size < 5_000_000
    assert len(report.all("article.task")) == 60
    assert "characters not shown" in report.words("#task-planning_59 .rubric")


@given(st.text(), st.integers(40, 400), st.sampled_from([0.0, 0.3]))
def test_fitted_text_takes_no_more_than_it_may(text: str, most: int, tail: float) -> None:
    cut = room.fit(text * 9, most, tail=tail)
    assert room.size(cut.head) + room.size(cut.tail) <= most
    assert (cut.left_out == 0) == (room.size(cut.head) == room.size(room.fit(text * 9, 10**9).head))


def test_a_transcript_is_read_at_its_ends(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    lines = [json.dumps({"kind": "note", "text": f"step {n} " + "x" * 9_000}) for n in range(300)]
    path.write_text("\n".join(lines) + "\n")
    excerpt = steps.read_excerpt(path)
    assert not excerpt.whole
    assert excerpt.bytes == path.stat().st_size
    assert [step.text.split()[1] for step in excerpt.head] == [str(n) for n in range(14)]
    assert [step.text.split()[1] for step in excerpt.tail] == [str(n) for n in range(290, 300)]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe{", b"[1]\nnull\n", b'{"kind": "note"', b"x" * 3_000_000])
def test_a_damaged_transcript_is_no_obstacle(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(content)
    excerpt = steps.read_excerpt(path)
    assert len(excerpt.head) + len(excerpt.tail) == (content == b"{}")


def test_a_transcript_of_a_few_steps_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "transcript.jsonl"
    path.write_text("".join(json.dumps({"kind": "note", "text": str(n)}) + "\n" for n in range(20)))
    excerpt = steps.read_excerpt(path)
    assert [step.text for step in (*excerpt.head, *excerpt.tail)] == [str(n) for n in range(20)]
    assert excerpt.whole


def test_a_score_just_below_the_threshold_is_not_shown_at_it(tmp_path: Path) -> None:
    root = score_tree((leaf("cp1"),), by_id(scored("cp1", 6.999)))
    run = a_run(graded("1", 6.999, checkpoints=root.checkpoints))
    page = html.fromstring(write_report(run, RunDirectory(tmp_path), tmp_path / "report.html").read_text())
    shown = {element.text_content().strip() for element in page.iter("span") if "score" in element.get("class", "")}
    assert shown == {"6.99"}
