from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from pytest_gta.formats.limits import ReadLimits
from pytest_gta.formats.read import read_file
from pytest_gta.formats.text import delimiter_of
from tests.formats.office import png


def write(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize(
    "suffix",
    [
        *("md", "txt", "py", "js", "ts", "css", "java", "c", "cpp", "h", "go", "rs", "r", "sql", "sh", "yaml", "yml"),
        *("xml", "toml", "ini", "cfg", "tex", "srt", "vtt", "log", "bat", "ps1", "php", "rb", "kt", "lua"),
    ],
)
def test_code_and_prose_are_shown_as_they_are(tmp_path: Path, suffix: str) -> None:
    extract = read_file(write(tmp_path / f"file.{suffix}", "first = 1\nsecond = 2\n"))
    assert (extract.kind, extract.text, extract.faults) == ("text", "first = 1\nsecond = 2\n", ())
    assert extract.facts["lines"] == 2


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8-sig", "naïve café"),
        ("utf-16", "naïve café 漢字"),
        ("utf-16-le", "plain words without a mark, long enough to tell " * 4),
        ("cp1252", "Grüße aus Zürich: schöne Straße, über fünf Äpfel. " * 5),
        ("shift_jis", "これは日本語の文章です。東京は大きな都市です。" * 5),
    ],
)
def test_encodings(tmp_path: Path, encoding: str, text: str) -> None:
    extract = read_file(write(tmp_path / "odd.txt", text.encode(encoding)))
    assert extract.text.strip() == text.strip()
    assert "encoding" in extract.facts


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "姓名;金额;代码\n张三;1,5;007\n李四;2,5;\n"),
        ("gb18030", "产品,价格\n苹果,5\n"),
        ("big5", "日期,地區,銷售額\n2024-01-01,臺北,120\n"),
        ("cp949", "이름,금액\n홍길동,15\n김철수,25\n"),
        ("cp932", "日付,地域,売上\n2024-01-01,東京,120\nカタカナ,ひらがな,1\n"),
        ("euc_jp", "名前,金額\n山田太郎,15\nカタカナ,ひらがな,1\n"),
        ("cp1252", "Müller,1\n"),
        ("cp1252", "naïve café,1\nélève,2\n"),
        ("cp1251", "Имя,Сумма\nИван,15\nПётр,25\n"),  # noqa: RUF001 - Cyrillic it is
        ("cp1250", "Łódź,Kraków\nżółty,1\n"),
    ],
)
def test_a_few_words_are_enough_to_tell_the_encoding(tmp_path: Path, encoding: str, text: str) -> None:
    extract = read_file(write(tmp_path / "odd.csv", text.encode(encoding)))
    assert (extract.text, extract.facts["encoding"]) == (text, encoding)


def test_a_stray_byte_is_a_slip_not_another_encoding(tmp_path: Path) -> None:
    extract = read_file(write(tmp_path / "slip.txt", "wörter und täler ".encode() * 50 + b"\xff end"))
    assert "wörter und täler" in extract.text
    assert extract.faults == ("bytes that are not UTF-8 are shown as \ufffd",)


def test_control_bytes_and_surrogates_survive_json(tmp_path: Path) -> None:
    extract = read_file(write(tmp_path / "control.txt", b"a\x1b[31mred\x12\r\nb\xef\xbf\xbe"))
    assert extract.text == "a\ufffd[31mred\ufffd\nb\ufffd"
    assert json.loads(json.dumps(extract.to_json()))["text"] == extract.text


@pytest.mark.parametrize(
    ("suffix", "delimiter", "name"), [("csv", ",", "comma"), ("csv", ";", "semicolon"), ("tsv", "\t", "tab")]
)
def test_tables_are_measured(tmp_path: Path, suffix: str, delimiter: str, name: str) -> None:
    rows = [["a", "b", "c"], ["1", '"x, y; z"', "3"], ["4", "5"], [], ["6", "7", "8"]]
    path = write(tmp_path / f"t.{suffix}", "\n".join(delimiter.join(row) for row in rows))
    extract = read_file(path)
    assert (extract.facts["rows"], extract.facts["columns"], extract.facts["delimiter"]) == (4, 3, name)
    assert extract.notes == ("1 row not as wide as the first (3 columns): row 3",)


def test_delimiter_by_what_splits_evenly() -> None:
    assert delimiter_of("name;note\nx;a, b, c\ny;d\n") == ";"


def test_json_is_checked(tmp_path: Path) -> None:
    assert read_file(write(tmp_path / "a.json", '{"x": [1, 2]}')).facts["JSON"] == "object with 1 key"
    broken = read_file(write(tmp_path / "b.json", '{"x": 1,\n "y": }'))
    assert broken.notes == ("it is not valid JSON (line 2: Expecting value)",)
    assert broken.text == '{"x": 1,\n "y": }'
    deep = read_file(write(tmp_path / "c.json", "[" * 100_000))
    assert deep.notes[0].startswith("it is not valid JSON")


def test_python_is_checked(tmp_path: Path) -> None:
    assert read_file(write(tmp_path / "a.py", "x = 1\n")).facts["Python syntax"] == "valid"
    assert read_file(write(tmp_path / "b.py", "def f(:\n")).notes[0].startswith("it is not valid Python (line 1")


def test_notebook_cells_outputs_and_pictures(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Title"]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"output_type": "display_data", "data": {"image/png": base64.b64encode(png()).decode()}},
                {"output_type": "error", "ename": "ValueError", "evalue": "no"},
            ],
        },
    ]
    extract = read_file(write(tmp_path / "n.ipynb", json.dumps({"cells": cells})))
    assert "=== cell 1 (markdown) ===\n# Title" in extract.text
    assert "=== cell 2 (code) ===\nprint(1)\n[output]\n1\n\n[picture]\n[output]\nValueError: no" in extract.text
    assert [p.where for p in extract.pictures] == ["cell 2"]


def test_long_text_is_paged_without_loss(tmp_path: Path) -> None:
    text = "".join(f"line {n}\n" for n in range(2_000))
    path = write(tmp_path / "long.txt", text)
    pages = [read_file(path, ReadLimits(offset=at, max_chars=5_000)).text for at in range(0, len(text), 5_000)]
    assert "".join(pages) == text
    beyond = read_file(path, ReadLimits(offset=10**7))
    assert beyond.faults[0].startswith(f"the text ends at character {len(text):,}")
