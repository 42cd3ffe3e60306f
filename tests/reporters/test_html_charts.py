from __future__ import annotations

from lxml import etree

from pytest_gta.benchmark.scoring import score_tree
from pytest_gta.reporters.html.charts import leaf_chart
from tests.domain import by_id, graded, leaf, scored


def test_leaves_are_counted_in_whole_numbers() -> None:
    root = score_tree((leaf("cp1"), leaf("cp2")), by_id(scored("cp1", 8), scored("cp2", 8)))
    chart = leaf_chart([graded("1", 8, checkpoints=root.checkpoints)], 7)
    assert chart is not None
    ticks = etree.fromstring(str(chart.svg)).iterfind(".//g[@class='axis y always_show']/g/text")
    assert [tick.text for tick in ticks] == [None, "1", "2"]
