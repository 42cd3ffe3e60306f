"""What both suites share: the benchmark in `benchmark_tasks`, the project's own tests in `tests`."""

pytest_plugins = ("pytester",)
