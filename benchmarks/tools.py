"""What tools cost: the process of a task, a call over its channel, and the readers against the fastest library.

    python benchmarks/tools.py [--calls 50]

Prints processor seconds of the child processes and ratios; a busy machine slows both sides of a ratio alike. A reader's
seconds are those beyond the task's process, which all tools share.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pytest_gta.tools.toolbox import Toolbox  # noqa: E402
from pytest_gta.workspace.confinement import choose_confinement  # noqa: E402
from pytest_gta.workspace.workspace import Workspace  # noqa: E402

PAGES, ROWS, COLUMNS = 200, 50_000, 8


def cpu() -> float:
    """Return the processor seconds that this process and its ended children have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Return the wall and processor seconds of some work."""
    wall, before = time.monotonic(), cpu()
    work()
    return time.monotonic() - wall, cpu() - before


def make_files(folder: Path) -> None:
    """Write a PDF of 200 pages and a workbook of 50,000 rows."""
    import xlsxwriter
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(folder / "report.pdf"))
    for page in range(PAGES):
        for line in range(40):
            canvas.drawString(
                40, 800 - 18 * line, f"Page {page + 1}, line {line + 1}: the harbour counted {line} ships."
            )
        canvas.showPage()
    canvas.save()
    with xlsxwriter.Workbook(str(folder / "table.xlsx"), {"constant_memory": True}) as book:
        sheet = book.add_worksheet()
        for row in range(ROWS):
            sheet.write_row(row, 0, [f"town {row}", *(row * k for k in range(1, COLUMNS))])


def fastest_pdf(path: Path) -> int:
    """Read the text of all pages with pypdfium2, the fastest maintained library."""
    import pypdfium2

    with pypdfium2.PdfDocument(path) as document:
        return sum(len(page.get_textpage().get_text_bounded()) for page in document)


def fastest_xlsx(path: Path) -> int:
    """Read all cells with calamine, the fastest maintained library, and write them as text."""
    from python_calamine import CalamineWorkbook

    rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    return len("\n".join(",".join(map(str, row)) for row in rows))


def one_task(folder: Path, work: Callable[[Toolbox], object]) -> tuple[float, float]:
    """Return what a task costs that does this much with its tools: its process from start to end."""

    def run() -> None:
        with Toolbox(Workspace.open(folder, ()), choose_confinement("auto")) as tools:
            work(tools)

    return spent(run)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=50, help="calls that a call's time is the median of")
    given = parser.parse_args()
    print(f"confined by {choose_confinement('auto').backend}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_files(folder)
        wall, used = one_task(folder, lambda tools: tools.call("Calculator", {"expression": "6 * 7"}))
        print(f"{'ready process, first call':<34}{wall:7.2f} s wall {used:7.2f} s cpu   (aim: under 1 s cpu)")

        times: list[float] = []

        def many(tools: Toolbox) -> None:
            for _ in range(given.calls + 1):
                times.append(spent(lambda: tools.call("Calculator", {"expression": "6 * 7"}))[0])

        one_task(folder, many)
        print(f"{'a later call, median':<34}{median(times[1:]) * 1e3:7.1f} ms wall            (aim: under 20 ms)")
        for tool, argument, fastest in (
            ("ReadPDF", "report.pdf", fastest_pdf),
            ("ReadXLSX", "table.xlsx", fastest_xlsx),
        ):
            bare = min(
                spent(lambda fastest=fastest, argument=argument: fastest(folder / argument))[1] for _ in range(3)
            )
            ours = min(
                one_task(folder, lambda tools, tool=tool, argument=argument: tools.call(tool, {"file": argument}))[1]
                for _ in range(3)
            )
            ours -= used
            print(
                f"{tool + ', first page of the answer':<34}{ours:7.2f} s cpu, library alone, all of it {bare:5.2f} s: "
                f"{ours / bare:4.2f}x   (aim: 2x)"
            )


if __name__ == "__main__":
    main()
