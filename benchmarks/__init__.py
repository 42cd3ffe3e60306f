"""Measurements of what pytest-gta costs, each a ratio within one run: ``python benchmarks/<name>.py``."""
