# ruff: noqa: RUF001 - the signs the page shows
"""The report in a real browser: opened, sorted, filtered, linked into, steered by keys, and checked by axe."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_gta.benchmark.run_directory import RunDirectory
from pytest_gta.reporters.html.page import write_report
from pytest_gta.reporters.pytest_html import STYLE, score_sheet_block
from tests.domain import a_file, a_run, an_agent, graded
from tests.reporters.made_run import diagnosed_and_compared, made_run
from tests.reporters.test_html_report import HOSTILE, hostile_run

playwright = pytest.importorskip("playwright.sync_api", reason="needs axe-playwright-python")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
ARGUMENTS = ["--disable-gpu", "--no-first-run", "--disable-background-networking"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("run")
    result = diagnosed_and_compared(root, made_run(root, tasks=14))
    return write_report(result, RunDirectory(root), root / "report.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if os.getuid() == 0 else [])]
    with playwright.sync_playwright() as started:
        running = started.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield running
        running.close()


class Watched:
    """A page of the browser, with all it asked for and complained of."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))

    def outside(self) -> list[str]:
        """What it asked of the network."""
        return [url for url in self.asked if not url.startswith(("file:", "data:", "about:"))]

    def names(self) -> list[str]:
        """The tasks in the table, in order."""
        return list(self.page.locator("#table tbody tr:visible th").all_inner_texts())


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    contexts = []

    def open_page(path: Path, place: str = "", **options: Any) -> Watched:
        options = {"viewport": {"width": 1400, "height": 900}, **options}
        contexts.append(browser.new_context(**options))
        watched = Watched(contexts[-1].new_page())
        watched.page.goto(path.as_uri() + place)
        return watched

    yield open_page
    for context in contexts:
        context.close()


def scores(watched: Watched) -> list[float | None]:
    texts = watched.page.locator("#table tbody tr:visible td.scored").all_inner_texts()
    return [None if text.strip() == "-" else float(text) for text in texts]


def test_the_table_sorts_up_and_down_with_missing_scores_last(opened: Any, report: Path) -> None:
    watched = opened(report)
    head = watched.page.get_by_role("button", name="Score", exact=True)
    for _ in range(2):  # the page comes sorted upwards; twice is down and up
        head.click()
    assert watched.page.locator("th[data-key=score]").get_attribute("aria-sort") == "ascending"
    known = [score for score in scores(watched) if score is not None]
    assert known == sorted(known)
    head.focus()
    watched.page.keyboard.press("Enter")
    assert watched.page.locator("th[data-key=score]").get_attribute("aria-sort") == "descending"
    known = [score for score in scores(watched) if score is not None]
    assert known == sorted(known, reverse=True)
    assert None not in scores(watched)[: len(known)]
    watched.page.get_by_role("button", name="Task", exact=True).click()
    assert watched.page.locator("th[aria-sort]").count() == 1
    assert watched.names()[0].startswith("creative_design_")
    assert watched.complaints == []


def test_filters_narrow_the_table_and_are_kept_in_the_address(opened: Any, report: Path) -> None:
    watched = opened(report)
    page = watched.page
    page.get_by_label("Category").select_option("education")
    wanted = [name for name in watched.names() if name.startswith("education_")]
    assert wanted
    assert watched.names() == wanted
    assert page.locator("#shown").inner_text() == f"{len(wanted)} of 14 tasks"
    assert page.url.endswith("#?category=education")
    page.get_by_label("Search in all texts of the tasks").fill("no such words anywhere")
    assert watched.names() == []
    assert page.locator("#none").is_visible()
    page.get_by_role("button", name="Clear").click()
    playwright.expect(page.locator("#table tbody tr:visible")).to_have_count(14)
    page.get_by_label("Capability").select_option("perception")
    assert 0 < len(watched.names()) < 14
    assert page.url.endswith("#?capability=perception")
    page.get_by_role("button", name="Clear").click()
    playwright.expect(page.locator("#table tbody tr:visible")).to_have_count(14)
    page.get_by_label("Stage of failure").select_option("HANDOFF")
    assert 0 < len(watched.names()) < 14
    again = opened(report, "#?category=planning&status=below")
    assert again.names()
    assert all(name.startswith("planning_") for name in again.names())
    assert again.page.get_by_role("combobox", name="Status").input_value() == "below"


def test_search_finds_what_only_the_details_say(opened: Any, report: Path) -> None:
    watched = opened(report)
    last = watched.names()[-1]
    reason = watched.page.locator(f"#task-{last} .reason").first.text_content()
    watched.page.get_by_label("Search in all texts of the tasks").fill(" ".join(reason.upper().split()[:24]))
    found = watched.names()
    assert last in found
    assert len(found) < 14
    watched.page.locator(f"#table a[href='#task-{found[0]}']").click()
    assert watched.page.locator("#position").inner_text() == f"1 of {len(found)}"


def test_a_link_into_a_task_opens_it_and_going_back_shows_the_table(opened: Any, report: Path) -> None:
    watched = opened(report)
    page = watched.page
    second = watched.names()[1]
    direct = opened(report, f"#task-{second}").page
    assert direct.locator("article:visible").count() == 1
    assert direct.locator("article:visible h1").inner_text() == second
    assert direct.title().startswith(f"{second} – ")
    page.locator(f"#table a[href='#task-{watched.names()[0]}']").click()
    assert not page.locator("#overview").is_visible()
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.keyboard.press("ArrowRight")
    playwright.expect(page.locator("article.open h1")).to_have_text(second)
    assert page.locator("article:visible h1").inner_text() == second
    page.keyboard.press("Escape")
    page.wait_for_selector("#overview", state="visible")
    assert page.locator("article:visible").count() == 0
    page.go_back()
    page.wait_for_selector("article:visible")
    assert watched.complaints == []
    assert watched.outside() == []


def test_a_web_page_is_shown_without_scripts_and_in_its_own_colours(opened: Any, report: Path) -> None:
    watched = opened(report, "#task-" + opened(report).names()[-1])
    watched.page.locator("article.open").get_by_text("As a page").click()
    frame = watched.page.frame_locator("article.open iframe")
    assert frame.locator("h1").inner_text() == "Report"
    assert frame.locator("h1").evaluate("one => getComputedStyle(one).color") == "rgb(0, 0, 128)"
    assert watched.outside() == []


def test_hostile_texts_do_nothing_in_a_browser(opened: Any, tmp_path: Path) -> None:
    result = hostile_run(tmp_path)
    path = write_report(result, RunDirectory(tmp_path), tmp_path / "report.html")
    watched = opened(path)
    watched.page.locator("#table tbody a").first.click()
    watched.page.wait_for_selector("article.open")
    for summary in watched.page.locator("article.open summary").all():
        summary.click()
    assert HOSTILE.splitlines()[0][:20] in watched.page.locator("article.open").inner_text()
    assert watched.page.evaluate("typeof window.hit") == "undefined"
    assert watched.complaints == []
    assert watched.outside() == []


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_axe_finds_no_violation(opened: Any, report: Path, colours: str, width: int) -> None:
    watched = opened(report, color_scheme=colours, viewport={"width": width, "height": 900})
    page = watched.page
    for place in ("overview", "task"):
        if place == "task":
            page.locator("#table tbody a").last.click()
            page.wait_for_selector("article.open")
            for summary in page.locator("article.open summary:visible").all():
                summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        found = axe.Axe().run(page).response["violations"]
        assert [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found] == []


LONG_WORD = "1.1." * 400


@pytest.mark.parametrize("renders", ["report", "pytest-html"])
def test_a_word_without_end_does_not_widen_a_page(opened: Any, tmp_path: Path, renders: str) -> None:
    agent = an_agent(final_answer=LONG_WORD, stop_detail=LONG_WORD)
    result = graded("1", 3, analysis=LONG_WORD, agent=agent, deliverables=(a_file("a.md"),), notes=(LONG_WORD,))
    page_of_it = tmp_path / "page.html"
    if renders == "report":
        run = RunDirectory(tmp_path)
        run.write_manifest({"id": "made"})
        write_report(a_run(result), run, page_of_it)
    else:
        page_of_it.write_text(f"<!doctype html>{STYLE}{score_sheet_block(result, 7, [('out', LONG_WORD)])}")
    place = "#task-planning_1" if renders == "report" else ""
    page = opened(page_of_it, place, viewport={"width": 1000, "height": 900}).page
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 1000


def test_without_scripts_everything_is_there(opened: Any, report: Path) -> None:
    page = opened(report, java_script_enabled=False).page
    assert page.locator("#table tbody tr:visible").count() == 14
    assert page.locator("article:visible").count() == 14
    assert not page.locator("#filters").is_visible()


def test_paper_shows_the_open_task_whole(opened: Any, report: Path) -> None:
    watched = opened(report)
    watched.page.locator("#table tbody a").last.click()
    watched.page.wait_for_selector("article.open")
    watched.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    watched.page.emulate_media(media="print")
    assert watched.page.locator("article.open .steps").first.is_visible()
    assert not watched.page.locator("header.top").is_visible()
    watched.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert watched.page.locator("article.open details[data-printed]").count() == 0
