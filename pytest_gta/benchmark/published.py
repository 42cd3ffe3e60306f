"""Figures that GTA-2 (arXiv 2604.15715) publishes, to set beside one's own. They were not measured by this program.

Rates are percentages, scores points of 10. The success threshold they were taken with is not published.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """A row of a published table.

    Attributes:
        name: The model or harness.
        root_sr: Root SR.
        root_score: Root Score.
        leaf_sr: Leaf SR.
        tool_sr: Tool SR; None where it is not given.
        minutes: Total time; None where it is not given.
        cost_usd: Total cost; None where it is not given.
        score_per_usd: Root Score / cost as printed; None where it is not given.
    """

    name: str
    root_sr: float
    root_score: float
    leaf_sr: float
    tool_sr: float | None = None
    minutes: float | None = None
    cost_usd: float | None = None
    score_per_usd: float | None = None


MODELS = (
    PublishedRow("Gemini-2.5-Pro", 14.39, 3.64, 28.46, 91.20),
    PublishedRow("GPT-5", 11.36, 3.66, 26.30, 87.31),
    PublishedRow("Grok-4", 9.85, 3.56, 25.17, 87.47),
    PublishedRow("Claude-Sonnet-4.5", 9.09, 3.50, 26.21, 88.02),
    PublishedRow("Qwen3-235B-A22B", 10.61, 3.59, 26.04, 88.98),
    PublishedRow("Llama-4-Scout", 10.61, 3.65, 27.51, 87.74),
    PublishedRow("Deepseek-V3.2", 9.09, 3.56, 25.61, 88.81),
    PublishedRow("Kimi-K2", 8.33, 3.50, 25.35, 89.85),
    PublishedRow("Llama-3.1-70B-Instruct", 0.76, 1.55, 3.37, 28.71),
    PublishedRow("Qwen3-30B-A3B", 0.76, 1.21, 1.30, 1.94),
    PublishedRow("Llama-3.2-3B-Instruct", 0.76, 1.02, 0.78, 0.10),
    PublishedRow("Qwen3-8B", 0.0, 1.81, 0.69, 16.97),
    PublishedRow("Llama-3.1-8B-Instruct", 0.0, 1.18, 1.47, 13.44),
)
"""Table VI: models, GTA-Workflow, 132 tasks."""

HARNESSES = (
    PublishedRow("Lagent (Claude-Sonnet-4.5)", 0.0, 2.49, 10.14, None, 50.1, 10, 0.249),
    PublishedRow("OpenClaw (Claude-Sonnet-4.5)", 50.0, 6.82, 73.55, None, 136.0, 35, 0.195),
    PublishedRow("Manus (unknown model)", 53.3, 6.94, 66.67, None, 138.6, 15, 0.463),
    PublishedRow("Kortix (unknown model)", 53.3, 6.83, 71.74, None, 113.8, 27, 0.253),
)
"""Table VII: harnesses, a subset of 30 tasks."""

TABLES = (("Table VI, models, 132 tasks", MODELS), ("Table VII, harnesses, 30 tasks", HARNESSES))
