from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from pytest_gta.options import OPTIONS
from pytest_gta.settings import Settings, SettingsError, resolve


def settle(
    command_line: dict[str, str] | None = None,
    ini: dict[str, str] | None = None,
    environment: dict[str, str] | None = None,
) -> Settings | None:
    """Resolve options by their keys: ``settle({"model": "m"})`` is ``--gta-model=m``."""
    given = {f"gta_{key}": value for key, value in (command_line or {}).items()}
    texts = {f"gta_{key}": value for key, value in (ini or {}).items()}
    return resolve(given.get, lambda name: texts.get(name, ""), environment or {})


def active(**command_line: str) -> Settings:
    settings = settle({"model": "m", **command_line})
    assert settings is not None
    return settings


def complaint(
    command_line: dict[str, str] | None = None,
    ini: dict[str, str] | None = None,
    environment: dict[str, str] | None = None,
) -> str:
    with pytest.raises(SettingsError) as caught:
        settle({"model": "m", **(command_line or {})}, ini, environment)
    return str(caught.value)


def test_without_model_or_agent_there_are_no_settings_whatever_else_is_set() -> None:
    assert settle() is None
    assert settle({"threshold": "nonsense"}, {"limit": "3"}, {"OPENAI_BASE_URL": "x", "GTA_JUDGE_MODEL": "j"}) is None
    assert settle(environment={"GTA_MODEL": "  "}) is None


@pytest.mark.parametrize("key", ["model", "agent"])
def test_a_model_or_agent_from_any_source_makes_a_run(key: str) -> None:
    value = "cmd:my-agent"
    for source in (
        {"command_line": {key: value}},
        {"ini": {key: value}},
        {"environment": {f"GTA_{key.upper()}": value}},
    ):
        settings = settle(**source)  # type: ignore[arg-type]
        assert settings is not None
        assert getattr(settings, key) == value


def test_every_option_is_a_field_and_every_field_an_option() -> None:
    assert {option.key for option in OPTIONS} == {field.name for field in dataclasses.fields(Settings)} - {"given"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        active().threshold = 3.0  # type: ignore[misc]


def test_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = active()
    assert settings == Settings(
        model="m",
        base_url=None,
        agent="tools",
        max_turns=50,
        task_timeout=1800.0,
        tool_timeout=120.0,
        feedback="none",
        repeat=1,
        dataset=(),
        task=(),
        category=(),
        limit=None,
        shard=None,
        vision_model=None,
        vision_base_url=None,
        speech_model=None,
        speech_base_url=None,
        image_model=None,
        image_base_url=None,
        search_backend=None,
        search_url=None,
        search_record=None,
        search_replay=None,
        judge_model="gpt-5.2",
        judge_base_url=None,
        judge_samples=1,
        judge_panel=(),
        judge_api="auto",
        judge_concurrency=16,
        cache=tmp_path / ".gta" / "verdicts",
        render="auto",
        threshold=7.0,
        fail_under=None,
        fail_under_score=None,
        baseline=None,
        max_error_rate=0.0,
        max_cost=None,
        max_tokens=None,
        estimate=False,
        run_dir=None,
        resume=None,
        rejudge=None,
        sandbox="auto",
        json=None,
        report=None,
        markdown=None,
        given=(("model", "m"),),
    )
    assert not settings.gated
    assert not settings.uses_local_model


def test_command_line_over_environment_over_ini_over_default() -> None:
    ini, environment = {"threshold": "3"}, {"GTA_THRESHOLD": "4"}
    assert active().threshold == 7
    assert settle({"model": "m"}, ini).threshold == 3  # type: ignore[union-attr]
    assert settle({"model": "m"}, ini, environment).threshold == 4  # type: ignore[union-attr]
    assert settle({"model": "m", "threshold": "5"}, ini, environment).threshold == 5  # type: ignore[union-attr]


def test_the_judges_own_variables_win_over_the_shared_ones() -> None:
    shared = {"OPENAI_BASE_URL": "http://shared/v1", "EVAL_OPENAI_MODEL": "judge-1"}
    settings = settle({"model": "m"}, environment=shared)
    assert settings is not None
    assert (settings.base_url, settings.judge_base_url, settings.judge_model) == (
        "http://shared/v1",
        "http://shared/v1",
        "judge-1",
    )
    own = shared | {"EVAL_OPENAI_BASE_URL": "http://eval/v1"}
    settings = settle({"model": "m"}, environment=own)
    assert settings is not None
    assert (settings.base_url, settings.judge_base_url) == ("http://shared/v1", "http://eval/v1")
    own |= {"GTA_JUDGE_BASE_URL": "http://gta/v1", "GTA_JUDGE_MODEL": "judge-2"}
    settings = settle({"model": "m"}, environment=own)
    assert settings is not None
    assert (settings.judge_base_url, settings.judge_model) == ("http://gta/v1", "judge-2")


@pytest.mark.parametrize("given", [{}, {"judge_model": "gpt-5.2"}, {"judge_panel": "a, b"}])
def test_questions_with_answers_have_no_judge(given: dict[str, str]) -> None:
    settings = active(dataset="atomic", **given)
    assert (settings.judge_model, settings.judges, settings.judge_panel) == ("answer-key", (), ())
    assert active(judge_model="answer-key").judges == ()


def test_the_local_model_judges_itself_unless_told_otherwise() -> None:
    assert active(model="local").judge_model == "local"
    assert active(model="local", judge_model="gpt-5.2").judge_model == "gpt-5.2"
    assert active(model="local", judge_model="gpt-5.2").uses_local_model
    assert active(judge_model="local").uses_local_model


WHOLE = "is not a whole number of at least 1"
BAD_VALUES = [
    ("model", " ", "is empty"),
    ("agent", "", "is empty"),
    ("max_turns", "0", WHOLE),
    ("max_turns", "ten", WHOLE),
    ("max_turns", "1.5", WHOLE),
    ("limit", "-1", WHOLE),
    ("judge_concurrency", "0", WHOLE),
    ("task_timeout", "0", "is not a number above 0"),
    ("task_timeout", "inf", "is not a number above 0"),
    ("tool_timeout", "soon", "is not a number above 0"),
    ("tool_timeout", "-3", "is not a number above 0"),
    ("dataset", " ", "is empty"),
    ("shard", "2", "is not of the form I/N with 1 <= I <= N, such as 2/4"),
    ("shard", "0/4", "is not of the form I/N with 1 <= I <= N, such as 2/4"),
    ("shard", "5/4", "is not of the form I/N with 1 <= I <= N, such as 2/4"),
    ("shard", "1/x", "is not of the form I/N with 1 <= I <= N, such as 2/4"),
    ("threshold", "10.5", "is not a number from 0 to 10"),
    ("threshold", "nan", "is not a number from 0 to 10"),
    ("threshold", "seven", "is not a number from 0 to 10"),
    ("fail_under", "101", "is not a number from 0 to 100"),
    ("fail_under_score", "-1", "is not a number from 0 to 10"),
    ("max_error_rate", "200", "is not a number from 0 to 100"),
    ("rejudge", "some", "is not one of failed, all"),
    ("sandbox", "docker", "is not one of auto, sandlock, bwrap, process, off"),
    ("run_dir", " ", "is empty"),
    ("cache", " ", "is empty"),
    ("json", "", "is empty"),
]


@pytest.mark.parametrize(("key", "value", "reason"), BAD_VALUES)
def test_a_bad_value_is_one_line_with_its_source_and_what_is_valid(key: str, value: str, reason: str) -> None:
    flag = f"--gta-{key.replace('_', '-')}"
    assert complaint({key: value}) == f"{flag}: {value!r} {reason}"
    if value.strip():  # an empty variable or ini line counts as not set
        variable = f"GTA_{key.upper()}"
        assert complaint(environment={variable: value}) == f"{variable}: {value!r} {reason}"
        assert complaint(ini={key: value}) == f"gta_{key}: {value!r} {reason}"


@pytest.mark.parametrize(
    "url", ["localhost:8000", "http://", "http://host:port/v1", "ftp://x", "sk-secret", "http://[x"]
)
def test_an_address_that_is_none_is_not_repeated(url: str) -> None:
    """A key pasted in the wrong place must not come out in a log."""
    assert complaint({"base_url": url}) == "--gta-base-url is not an http:// or https:// address"
    assert complaint(environment={"OPENAI_BASE_URL": url}) == "OPENAI_BASE_URL is not an http:// or https:// address"


@pytest.mark.parametrize(
    "url",
    [
        "https://user:sk-secret@host/v1",
        "https://sk-secret@host/v1",
        "https://host/v1?api_key=sk-secret",
        "https://host/v1?x=1&subscription-key=sk-secret",
        "https://host/v1?token=sk-secret",
        "https://host/v1?API_KEY=sk-secret",
    ],
)
@pytest.mark.parametrize("key", ["base_url", "judge_base_url"])
def test_a_key_in_an_address_is_refused_and_not_repeated(key: str, url: str) -> None:
    text = complaint({key: url})
    assert "holds a key; put the key in OPENAI_API_KEY" in text
    assert "sk-secret" not in text
    assert "sk-secret" not in complaint(environment={"OPENAI_BASE_URL": url})


def test_lists_take_commas_and_blanks_and_drop_repeats() -> None:
    assert active(task="7, 12 7,,a1").task == ("7", "12", "a1")
    assert active(category="planning,education").category == ("planning", "education")


def test_paths_are_absolute_and_know_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/somebody")
    settings = active(run_dir="runs/x", json="~/out.json", cache="off")
    assert (settings.run_dir, settings.json, settings.cache) == (
        tmp_path / "runs" / "x",
        Path("/home/somebody/out.json"),
        None,
    )
    assert active(shard="2/4").shard == (2, 4)


def test_relative_paths_start_where_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project, here = tmp_path / "project", tmp_path / "project" / "sub"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    ini = {"gta_agent": "mine=outputs:done\npack:p.json\ncmd:x", "gta_dataset": "mini, tasks", "gta_json": "r.json"}

    def run(**command_line: str) -> Settings:
        given = {f"gta_{key}": text for key, text in command_line.items()}
        settings = resolve(given.get, lambda name: ini.get(name, ""), {"GTA_MARKDOWN": "s.md"}, folder=project)
        assert settings is not None
        return settings

    settings = run()
    assert settings.agents == (f"mine=outputs:{project / 'done'}", f"pack:{project / 'p.json'}", "cmd:x")
    assert settings.dataset == ("mini", str(project / "tasks"))
    assert (settings.json, settings.markdown) == (project / "r.json", here / "s.md")
    assert settings.cache == project / ".gta" / "verdicts"
    kept = dict(settings.given)
    assert (kept["agent"], kept["dataset"]) == (settings.agent, f"mini,{project / 'tasks'}")
    typed = run(agent="outputs:done", dataset="tasks", cache="off")
    assert (typed.agent, typed.dataset, typed.cache) == (f"outputs:{here / 'done'}", (str(here / "tasks"),), None)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"rejudge": "all"}, "--gta-rejudge needs the run to judge again: add --gta-resume=DIR"),
        ({"resume": "/nope"}, "--gta-resume: /nope is not a run directory (it has no readable run.json)"),
    ],
)
def test_options_that_need_others(given: dict[str, str], text: str) -> None:
    assert complaint(given) == text


def test_the_tools_agent_needs_a_model() -> None:
    with pytest.raises(SettingsError, match=r"^--gta-agent=tools needs a model: add --gta-model=NAME"):
        settle({"agent": "tools"})
    assert settle({"agent": "outputs:x"}) is not None


def test_a_gate_is_a_limit_on_the_run() -> None:
    assert active(fail_under="10").gated
    assert active(fail_under_score="5").gated
    assert not active(max_error_rate="10").gated


# -- a resumed run ----------------------------------------------------------------------------------------------------


@pytest.fixture
def earlier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    first = active(
        threshold="6",
        fail_under="20",
        judge_model="j",
        cache="cache",
        json="x.json",
        report="x.html",
        markdown="x.md",
        run_dir="r",
    )
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "run.json").write_text(json.dumps({"options": dict(first.given)}))
    return tmp_path / "r"


def test_a_resumed_run_goes_on_with_its_options(earlier: Path) -> None:
    ini, environment = {"threshold": "1"}, {"GTA_JUDGE_MODEL": "other"}
    settings = settle({"resume": str(earlier)}, ini, environment)
    assert settings is not None
    assert (settings.model, settings.threshold, settings.fail_under) == ("m", 6.0, 20.0)
    assert (settings.judge_model, settings.cache) == ("j", earlier.parent / "cache")
    assert (settings.resume, settings.run_dir) == (earlier, None)
    beside = earlier.parent
    assert (settings.json, settings.report, settings.markdown) == (
        beside / "x.json", beside / "x.html", beside / "x.md",
    )  # fmt: skip


def test_the_command_line_changes_a_resumed_run(earlier: Path) -> None:
    settings = settle({"resume": str(earlier), "threshold": "8", "rejudge": "all"})
    assert settings is not None
    assert (settings.threshold, settings.rejudge) == (8.0, "all")
    with pytest.raises(SettingsError, match="name two places for one run: leave one of them out"):
        settle({"resume": str(earlier), "run_dir": "elsewhere"})


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"options": 3}', "{"])
def test_a_damaged_manifest_is_no_run(earlier: Path, content: str) -> None:
    (earlier / "run.json").write_text(content)
    with pytest.raises(SettingsError, match="is not a run directory"):
        settle({"resume": str(earlier)})


def test_secrets_are_in_no_option_that_is_kept(earlier: Path) -> None:
    environment = {"OPENAI_API_KEY": "sk-secret", "EVAL_OPENAI_API_KEY": "sk-secret"}
    settings = settle({"model": "m"}, environment=environment)
    assert "sk-secret" not in repr(settings)


@pytest.mark.parametrize(("text", "value"), [("on", True), ("TRUE", True), ("1", True), ("off", False), ("no", False)])
def test_a_switch_has_words_in_ini_file_and_environment(text: str, value: bool) -> None:
    settings = resolve({"gta_model": "m"}.get, lambda _name: "", {"GTA_ESTIMATE": text})
    assert settings is not None
    assert settings.estimate is value


def test_a_baseline_is_a_gate() -> None:
    assert not active().gated
    settings = resolve({"gta_model": "m", "gta_baseline": "main.json"}.get, lambda _name: "", {})
    assert settings is not None
    assert settings.gated
