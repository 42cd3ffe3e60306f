"""The shares of stages and levels in lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

MEANINGS = {"A": "A  single leaves", "B": "B  composition", "C": "C  deliverable"}


def share_lines(shares: Mapping[str, Mapping[str, Mapping[str, float]]], failed: Mapping[str, int]) -> Iterator[str]:
    """Yield a table of the labels.

    Args:
        shares: Under ``stages`` and ``levels``, for each label, its ``count`` and ``percent``.
        failed: How many leaves (``stages``) and tasks (``levels``) had failed.
    """
    for group, noun in (("stages", "failed leaves by stage"), ("levels", "failed tasks by level")):
        given = shares.get(group, {})
        labelled = int(sum(share["count"] for share in given.values()))
        yield f"{noun}: {labelled} of {failed[group]} labelled"
        for label, share in given.items():
            yield f"  {MEANINGS.get(label, label):<20}{int(share['count']):>6}{share['percent']:>8.1f} %"
