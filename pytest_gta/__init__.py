"""pytest-gta: run the GTA-Workflow benchmark of general tool agents under pytest."""

__version__ = "0.1.0"
