"""What the installed and unused plugin adds to a session. Aim: less than 5 ms of processor time.

Whole processes in turns, with the plugin and with ``-p no:gta``. ``python benchmarks/startup.py``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.interleaved import measure, table  # noqa: E402

AIM_MS = 5.0


def main() -> int:
    """Measure, print, and return 1 when the aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    missed = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "pytest.ini").write_text("[pytest]\n")
        (folder / "test_one.py").write_text("def test_one():\n    pass\n")
        pytest = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
        for title, arguments in (("--version", ["--version"]), ("one test", ["-q"])):
            commands = {
                f"{title}, no plugin": [*pytest, "-p", "no:gta", *arguments],
                f"{title}, plugin unused": [*pytest, *arguments],
            }
            timings = measure(commands, folder, runs=runs)
            base, ours = timings.values()
            added = median(mine - bare for mine, bare in zip(ours.cpu, base.cpu, strict=True)) * 1e3
            print(table(timings, f"{title}, no plugin"))
            print(f"{title}: the unused plugin adds {added:.1f} ms (aim: below {AIM_MS:g})\n")
            missed |= added >= AIM_MS
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
