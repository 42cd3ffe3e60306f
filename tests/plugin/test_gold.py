"""The gold set from end to end: made, judged, and the judge compared with what is known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_gta.cli import main
from tests.openai_server import OpenAIServer, judge
from tests.plugin.conftest import SUITE

CASES = ("62-complete", "62-empty", "63-broken", "63-complete")


def test_a_generous_judge_is_found_out(
    pytester: pytest.Pytester, openai_server: Callable[..., OpenAIServer], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gold", "gold"]) == 0
    assert "34 cases, 299 leaves with a known verdict, in gold" in capsys.readouterr().out
    server = openai_server(judge({}, default=10))
    pytester.makepyfile(test_suite=SUITE)
    pytester.runpytest_inprocess(
        "--gta-agent=outputs:gold/outputs",
        "--gta-dataset=gold/dataset",
        f"--gta-task={','.join(CASES)}",
        f"--gta-judge-base-url={server.base_url}",
        "--gta-judge-model=generous",
        "--gta-run-dir=run",
        "--gta-cache=off",
        "--gta-fail-under=0",
        "--gta-render=off",
        "--gta-report=off",
        "-p",
        "no:cacheprovider",
    ).assert_outcomes(passed=4)
    capsys.readouterr()
    assert main(["calibrate", "gold/labels.json", "run", "--json", "out.json", "--resamples=0"]) == 0
    leaves = json.loads(Path("out.json").read_text())["pairs"][0]["leaves"]
    # 10 + 10 leaves of task 62 of which Actions.csv is one, 9 + 8 of task 63 of which the invented answer is one.
    assert (leaves["judged"], leaves["only_second"], leaves["both_fail"]) == (37, 2, 0)
    assert leaves["accuracy"]["value"] == pytest.approx(100 * 35 / 37)
    assert leaves["kappa"]["value"] == pytest.approx(0)
