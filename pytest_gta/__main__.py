"""``python -m pytest_gta``: the same as the command ``pytest-gta``."""

from __future__ import annotations

import sys

from pytest_gta.cli import main

if __name__ == "__main__":
    sys.exit(main())
