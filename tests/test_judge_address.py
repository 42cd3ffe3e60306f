"""Who judges, where, and with which key."""

from __future__ import annotations

from pytest_gta.judge_address import JudgeAddress, panel


def test_a_panel_is_a_list_of_names_some_with_an_address() -> None:
    assert panel("gpt-5.2, @cf/big@https://judge.example:8443/v1,gpt-5.2") == (
        JudgeAddress("gpt-5.2"),
        JudgeAddress("@cf/big", "https://judge.example:8443/v1"),
    )


def test_the_same_model_in_two_places_has_two_names() -> None:
    assert [judge.name for judge in panel("m,m@http://other/v1")] == ["m", "m@other"]


def test_a_server_of_its_own_is_never_sent_a_shared_key() -> None:
    here, elsewhere = panel("gpt-5.2,big-one@https://judge.example/v1")
    assert here.key_variables == ("EVAL_OPENAI_API_KEY_GPT_5_2", "EVAL_OPENAI_API_KEY", "OPENAI_API_KEY")
    assert elsewhere.key_variables == ("EVAL_OPENAI_API_KEY_BIG_ONE",)
