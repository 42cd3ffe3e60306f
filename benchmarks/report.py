"""What the HTML report of a whole benchmark takes: 132 tasks, each with three files and a transcript of 5 MB.

Three judges scored every leaf, the failures are diagnosed, and there is a baseline.

Aims: built in under 10 s, the page under 5 MB, memory that does not grow with the transcripts (the ratio to the same
run with transcripts of 50 kB). Each report is built in a process of its own. ``python benchmarks/report.py``.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

TASKS = 132
LONG, SHORT = 5_000_000, 50_000
AIM_S, AIM_BYTES, AIM_MEMORY = 10.0, 5_000_000, 1.1


def build(folder: Path) -> None:
    """Build the report of a run directory; print seconds, bytes and the most memory this process had, in kB."""
    from pytest_gta.benchmark.run_directory import RunDirectory
    from pytest_gta.reporters.html.page import write_report

    run = RunDirectory(folder)
    result = run.results()
    assert result is not None
    started = time.monotonic()
    page = write_report(result, run, folder / "report.html")
    seconds = time.monotonic() - started
    print(seconds, page.stat().st_size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def main() -> int:
    """Measure, print, and return 1 when an aim is missed."""
    if len(sys.argv) > 1:
        build(Path(sys.argv[1]))
        return 0
    from pytest_gta.benchmark.run_directory import RunDirectory
    from tests.reporters.made_run import diagnosed_and_compared, made_run

    measured = {}
    with tempfile.TemporaryDirectory() as temporary:
        for name, size in (("short", SHORT), ("long", LONG)):
            folder = Path(temporary) / name
            result = diagnosed_and_compared(folder, made_run(folder, tasks=TASKS, transcript_bytes=size))
            RunDirectory(folder).write_results(result)
            told = subprocess.run(
                [sys.executable, __file__, str(folder)], check=True, capture_output=True, text=True
            ).stdout.split()
            measured[name] = (float(told[0]), int(told[1]), int(told[2]))
            print(
                f"{name} transcripts: {told[0][:5]} s, {int(told[1]) / 1e6:.2f} MB, {int(told[2]) / 1e3:.0f} MB memory"
            )
    seconds, size, memory = measured["long"]
    ratio = memory / measured["short"][2]
    print(f"{seconds:.1f} s (aim: below {AIM_S:g}), {size:,} bytes (aim: below {AIM_BYTES:,})")
    print(f"memory {ratio:.2f}x that of short transcripts (aim: at most {AIM_MEMORY:g}x)")
    return 1 if seconds >= AIM_S or size >= AIM_BYTES or ratio > AIM_MEMORY else 0


if __name__ == "__main__":
    sys.exit(main())
