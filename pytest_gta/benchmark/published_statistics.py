"""What GTA-2 (arXiv 2604.15715) says its GTA-Workflow consists of. It was not counted by this program.

From its table IV and the charts beside it; the number of tasks with input files is from the dataset's own page.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TASKS = 132
LEAVES = 1156
TOOLS = 37
TASKS_WITH_INPUTS = 46

CATEGORIES: Mapping[str, int] = MappingProxyType(
    {
        "data_analysis": 34,
        "education": 31,
        "planning": 21,
        "marketing": 16,
        "creative_design": 16,
        "retrieval_qa": 14,
    }
)
"""Tasks of each category."""

LEAVES_A_TASK: Mapping[int, int] = MappingProxyType(
    {3: 1, 4: 1, 5: 5, 6: 18, 7: 26, 8: 19, 9: 19, 10: 17, 11: 4, 12: 9, 13: 6, 14: 1, 15: 4, 18: 1, 19: 1}
)
"""Leaves to the number of tasks that have so many; read off an unlabelled chart, and right in both sums."""

DELIVERABLES: Mapping[str, float] = MappingProxyType(
    {"image": 25.9, "docx": 16.4, "pdf": 15.9, "html": 10.1, "text": 9.5, "csv": 7.2, "code": 4.0, "other": 11.0}
)
"""Share of each kind among the deliverables, per cent."""

INPUT_KINDS = ("image", "audio", "video", "pdf", "csv", "xlsx")
"""Kinds of input files; how many of each is not published."""

TOOLS_BY_CAPABILITY: Mapping[str, int] = MappingProxyType(
    {"perception": 9, "operation": 19, "logic": 6, "creativity": 3}
)
"""Tools of each class."""

TASKS_BY_CAPABILITY: Mapping[str, int] = MappingProxyType(
    {"perception": 47, "operation": 131, "logic": 86, "creativity": 24}
)
"""Tasks whose tools include one of the class, summed from the chart of combinations; table VI divides by others."""
