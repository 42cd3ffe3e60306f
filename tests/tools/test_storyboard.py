from __future__ import annotations

import pytest

from pytest_gta.tools.storyboard import Scene, merged, scenes_of, sentences


def test_numbered_scenes_under_a_title() -> None:
    text = "The River Festival\n\nScene 1: Opening: Boats leave.\nScene 2 (0:05-0:10): **Music** on it.\nMore of it."
    assert scenes_of(text) == (
        Scene("The River Festival", ""),
        Scene("Opening", "Boats leave."),
        Scene("", "Music on it. More of it."),
    )


def test_markdown_headings_and_lists() -> None:
    text = "# Plan\n\n## First\nDo *this* and [that](http://x.org).\n\n- one\n- two\n---\n**Last**\n"
    assert scenes_of(text) == (
        Scene("Plan", ""),
        Scene("First", "Do this and that."),
        Scene("", "one"),
        Scene("", "two"),
        Scene("Last", ""),
    )


def test_running_text_becomes_sentences() -> None:
    assert scenes_of("A cat sleeps. It wakes up! Then it eats.") == (
        Scene("", "A cat sleeps."),
        Scene("", "It wakes up!"),
        Scene("", "Then it eats."),
    )
    assert scenes_of("A red car drives along the coast") == (Scene("", "A red car drives along the coast"),)
    assert sentences("你好。再见。") == ["你好。", "再见。"]


def test_a_text_escaped_twice_has_its_lines() -> None:
    assert len(scenes_of("Title\\nScene 1: a.\\nScene 2: b.")) == 3


@pytest.mark.parametrize("text", ["", "  \n\n", "---", "\u200b"])
def test_nothing_is_no_scene(text: str) -> None:
    assert [scene for scene in scenes_of(text) if scene.spoken.strip("\u200b")] == []


def test_scenes_are_joined_without_losing_a_word() -> None:
    scenes = scenes_of("Title\n1. One is here.\n2. Two: It is there.\n3. Three goes on for quite a while longer.")
    assert len(scenes) == 4
    two = merged(scenes, 2)
    assert two == (Scene("Title", "One is here. Two. It is there."), scenes[3])
    assert (
        merged(scenes, 0)[0].spoken == "Title. One is here. Two. It is there. Three goes on for quite a while longer."
    )
    assert merged(scenes, 9) == scenes
