"""Every number a leaf of `mini` asks for, worked out a second time from the input files alone.

What stands in pictures (the hall plan, the menu board) is transcribed here as a person reads it.
"""

from __future__ import annotations

import csv
import json
import re
import struct
import wave
from collections import defaultdict
from datetime import date, datetime
from html.parser import HTMLParser
from itertools import pairwise
from math import cos, pi, sin
from pathlib import Path
from statistics import median

import openpyxl
import pypdf
import pytest

MINI = Path(__file__).parents[2] / "benchmark_tasks" / "mini"
INPUTS = MINI / "resources"


@pytest.fixture(scope="module")
def leaves() -> dict[str, str]:
    """Text of every leaf by ``<task id>/<leaf id>``."""
    found: dict[str, str] = {}

    def walk(task_id: str, node: dict) -> None:
        for child in node.get("sub_tasks", []):
            walk(task_id, child)
        if not node.get("sub_tasks"):
            found[f"{task_id}/{node['id']}"] = node["requirements"]

    for task_id, record in json.loads((MINI / "end.json").read_text("utf-8")).items():
        for node in record["sub_tasks"]:
            walk(task_id, node)
    return found


def holds(text: str, *values: object) -> None:
    """Assert that `text` has all values as whole words or numbers, in this order."""
    at = 0
    for value in values:
        hit = re.compile(rf"(?<![\w.,]){re.escape(str(value))}(?![\w]|[.,]\d)").search(text, at)
        assert hit, f"{value!r} is not in {text[at:]!r}"
        at = hit.end()


# -- 11: farm shop orders --------------------------------------------------------------------------------------------


def typed_date(cell: object) -> date:
    if isinstance(cell, datetime):
        return cell.date()
    for form in ("%d/%m/%Y", "%Y-%m-%d", "%d %b %Y", "%d.%m.%y"):
        try:
            return datetime.strptime(str(cell), form).date()
        except ValueError:
            continue
    raise AssertionError(cell)


def number(cell: object) -> float:
    text = str(cell or 0).replace("EUR", "").strip()
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def test_farm_shop(leaves: dict[str, str]) -> None:
    book = openpyxl.load_workbook(INPUTS / "files/11-orders_q3.xlsx")
    lines, repeated, totals = {}, 0, 0
    for row in book["Orders"].iter_rows(min_row=2, values_only=True):
        if row[0].lower().startswith("total"):
            totals += 1
        elif row[0].upper() in lines:
            repeated += 1
        else:
            lines[row[0].upper()] = row
    cancelled = [key for key, row in lines.items() if row[4] is None]
    for key in cancelled:
        del lines[key]
    net_month: dict[str, float] = defaultdict(float)
    net_product: dict[str, float] = defaultdict(float)
    returned = {r[0].upper(): number(r[1]) for r in book["Returns"].iter_rows(min_row=2, values_only=True)}
    assert set(returned) <= set(lines)
    refunds = 0.0
    for key, (_, day, _, product, units, price, discount) in lines.items():
        when = typed_date(day)
        assert date(2025, 7, 1) <= when <= date(2025, 9, 30)
        paid = number(price) * (1 - number(discount))
        refunds += returned.get(key, 0) * paid
        amount = (number(units) - returned.get(key, 0)) * paid
        net_month[when.strftime("%B")] += amount
        net_product[product.strip()] += amount
    months = [net_month[m] for m in ("July", "August", "September")]
    ranked = sorted(net_product, key=lambda name: -net_product[name])

    assert len(net_product) == 6
    holds(leaves["11/cp1-1"], f"{sum(months):,.2f}")
    holds(leaves["11/cp1-2"], *(f"{amount:,.2f}" for amount in months))
    best, worst = ranked[0], ranked[-1]
    holds(leaves["11/cp1-3"], best, f"{net_product[best]:,.2f}", worst, f"{net_product[worst]:,.2f}")
    holds(leaves["11/cp1-4"], f"{refunds:,.2f}")
    holds(leaves["11/cp2-1"], len(lines))
    holds(leaves["11/cp3-2"], max(net_month, key=lambda m: net_month[m]), best)
    holds(leaves["11/cp3-3"], repeated, len(cancelled), totals)
    gap = sorted(net_product.values())
    assert min(b - a for a, b in pairwise(gap)) > 2, "the order of products must not hang on cents"


# -- 21: ear training ------------------------------------------------------------------------------------------------


NOTE_NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


def strength(samples: list[float], rate: int, pitch: float) -> float:
    """Amplitude of one frequency in the samples."""
    real = sum(s * cos(2 * pi * pitch * i / rate) for i, s in enumerate(samples))
    imaginary = sum(s * sin(2 * pi * pitch * i / rate) for i, s in enumerate(samples))
    return (real**2 + imaginary**2) ** 0.5 / len(samples)


def test_ear_training(leaves: dict[str, str]) -> None:
    with wave.open(str(INPUTS / "audio/21-warmup.wav")) as recording:
        rate, frames = recording.getframerate(), recording.getnframes()
        assert (recording.getnchannels(), recording.getsampwidth()) == (1, 2)
        samples = [s / 32768 for s in struct.unpack(f"<{frames}h", recording.readframes(frames))]
    window = rate // 200
    loud = [max(abs(s) for s in samples[i : i + window]) for i in range(0, frames - window, window)]
    # An onset is loudness after silence: every sound of the recording ends before the next one starts.
    onsets = [i * window / rate for i, level in enumerate(loud) if level > 0.02 and (i == 0 or loud[i - 1] <= 0.02)]
    names, clicks = [], 0
    for start in onsets:
        chunk = samples[round((start + 0.01) * rate) : round((start + 0.11) * rate)]
        if max(abs(s) for s in chunk[len(chunk) // 2 :]) < 0.02:
            clicks += 1
            continue
        # Fundamental: the lowest semitone between C3 and C6 that is at least half as strong as the strongest.
        power = {m: strength(chunk[::2], rate // 2, 440 * 2 ** ((m - 69) / 12)) for m in range(48, 85)}
        pitch = next(m for m in power if power[m] > 0.7 * max(power.values()))
        names.append((NOTE_NAMES[pitch % 12] + str(pitch // 12 - 1), pitch))
    steps = [b - a for a, b in pairwise(onsets)]
    tempo = 60 / (sum(steps) / len(steps))
    assert abs(tempo - 96) < 0.5
    assert max(steps) - min(steps) < 0.02, "the tune keeps the tempo of the count-in"
    last = (frames / rate - onsets[-1]) * tempo / 60
    assert abs(last - 2) < 0.05

    holds(leaves["21/cp1-1"], round(tempo), clicks)
    holds(leaves["21/cp1-2"], len(names), *(name for name, _ in names))
    holds(leaves["21/cp1-3"], 1, names[-1][0], round(last))
    pitches = [pitch for _, pitch in names]
    leap = max(abs(b - a) for a, b in pairwise(pitches))
    holds(leaves["21/cp1-4"], min(names, key=lambda n: n[1])[0], max(names, key=lambda n: n[1])[0], leap)
    holds(leaves["21/cp1-5"], f"{frames / rate:.3f}")
    holds(leaves["21/cp2-1"], len(names))


# -- 31: craft fair --------------------------------------------------------------------------------------------------

PLAN_AS_READ = {  # room: (tables, sockets, sink)
    "Main Hall": (10, True, False),
    "Library": (5, True, False),
    "Foyer": (4, False, False),
    "Annex": (6, True, True),
}


def test_craft_fair(leaves: dict[str, str]) -> None:
    with (INPUTS / "files/31-applications.csv").open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    tables = sum(int(row["tables"] or 1) for row in rows)
    fees = {r["trader"]: 15 * int(r["tables"] or 1) + 6 * (r["needs_power"] == "yes") for r in rows}
    unpaid = [row["trader"] for row in rows if row["fee_paid"] != "yes"]
    power = sum(row["needs_power"] == "yes" for row in rows)
    free = sum(room[0] for room in PLAN_AS_READ.values()) - tables

    holds(leaves["31/cp1-1"], len(rows), tables)
    holds(leaves["31/cp1-2"], *(word for name, room in PLAN_AS_READ.items() for word in (name, room[0])))
    sinks = [name for name, (_, _, sink) in PLAN_AS_READ.items() if sink]
    assert sinks == ["Annex"]
    holds(leaves["31/cp1-3"], *(row["trader"] for row in rows if row["kind"] == "food"), sinks[0])
    dark = [name for name, (_, sockets, _) in PLAN_AS_READ.items() if not sockets]
    assert dark == ["Foyer"]
    holds(leaves["31/cp1-4"], power, dark[0])
    holds(leaves["31/cp2-1"], sum(fees.values()))
    holds(leaves["31/cp2-2"], *(w for name in unpaid for w in (name, fees[name])), sum(fees[n] for n in unpaid))
    holds(leaves["31/cp2-3"], *(row["trader"] for row in rows if not row["email"]))
    holds(leaves["31/cp3-1"], tables, free)


# -- 41: mug forum ---------------------------------------------------------------------------------------------------


class Thread(HTMLParser):
    """Author, date, likes and text of each article of the saved page."""

    def __init__(self) -> None:
        super().__init__()
        self.posts: list[dict[str, str]] = []
        self._field = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "article":
            self.posts.append(defaultdict(str))
        elif tag == "time":
            self.posts[-1]["date"] = given["datetime"] or ""
        self._field = {"span": "author", "p": "text", "footer": "likes"}.get(tag, "")

    def handle_endtag(self, tag: str) -> None:
        self._field = ""

    def handle_data(self, data: str) -> None:
        if self._field and self.posts:
            self.posts[-1][self._field] += data


def theme_of(text: str) -> str:
    """Main point of a post by its words, as a person sorts it."""
    low = text.lower()
    if re.search(r"leak|drip", low):
        return "leak"
    if re.search(r"\bhot\b|insulation|ice cubes", low):
        return "heat"
    if re.search(r"holder|too wide", low):
        return "size"
    return "price" if re.search(r"steep|sale|expensive", low) else "none"


def test_mug_forum(leaves: dict[str, str]) -> None:
    page = Thread()
    page.feed((INPUTS / "files/41-mug_thread.html").read_text("utf-8"))
    posts = page.posts
    likes = sum(int(re.match(r"(\d+) likes?", post["likes"])[1]) for post in posts)
    counts: dict[str, int] = defaultdict(int)
    people: dict[str, set[str]] = defaultdict(set)
    for post in posts:
        counts[theme_of(post["text"])] += 1
        people[theme_of(post["text"])].add(post["author"])
    named = [(p["author"], int(m)) for p in posts for m in re.findall(r"(?:pay|At|worth) \$(\d+)", p["text"])]
    prices = [price for _, price in named]

    holds(leaves["41/cp1-1"], len(posts), posts[0]["date"], posts[-1]["date"], likes)
    order = ("leak", "size", "price", "heat", "none")
    holds(leaves["41/cp1-2"], *(word for theme in order for word in (theme, counts[theme])))
    holds(leaves["41/cp1-3"], *(word for pair in named for word in pair), 42)
    holds(leaves["41/cp2-1"], *(word for theme in order[:4] for word in (theme, len(people[theme]))))
    assert max(people, key=lambda theme: len(people[theme])) == "leak"
    holds(leaves["41/cp2-2"], "leaking lid")
    holds(leaves["41/cp2-3"], min(prices), max(prices), f"{median(prices):g}")


# -- 51: cafe menu ---------------------------------------------------------------------------------------------------

BOARD_AS_READ = """
SOUPS & TOAST
Leek soup 6.20
Fish chowder* 8.90
Cheese toast 5.40
-Crab toast 11.50
MAINS
Mussels & fries* 14.80
Mushroom pie 12.25
Baked cod 16.50
Beet burger 11.90
SWEET & HOT
Lemon tart* 4.80
Sea salt brownie 4.25
Flat white 3.60
-Rum cocoa 6.50
"""


def test_cafe_menu(leaves: dict[str, str]) -> None:
    from decimal import ROUND_CEILING, Decimal

    sections: list[list[tuple[str, str]]] = []
    stars, gone, old = [], [], set()
    for line in BOARD_AS_READ.strip().splitlines():
        if line.isupper():
            sections.append([])
            continue
        name, price = line.rsplit(" ", 1)
        if name.startswith("-"):
            gone.append(name[1:])
            continue
        dimes = (Decimal(price) * Decimal("1.08") * 10).to_integral_value(ROUND_CEILING)
        dish = (name.rstrip("*"), f"{dimes / 10:.2f}")
        old.add(price)
        sections[-1].append(dish)
        if name.endswith("*"):
            stars.append(dish)
    for leaf, dishes in zip(("51/cp1-1", "51/cp1-2", "51/cp1-3"), sections, strict=True):
        holds(leaves[leaf], *(word for dish in dishes for word in dish))
    assert not old & {price for dishes in sections for _, price in dishes}, "an old price must not be another's new one"
    holds(leaves["51/cp1-4"], *gone)
    holds(leaves["51/cp1-5"], "Cafe Halyard", *(name for name, _ in stars))
    holds(leaves["51/cp2-2"], *(word for dish in stars for word in dish))


# -- 61: pet cover ---------------------------------------------------------------------------------------------------


def find(pages: list[str], pattern: str) -> tuple[str, int]:
    """The pattern's group 1 and the page it is on; it must be in the booklet once."""
    hits = [(m.group(1), i) for i, page in enumerate(pages, 1) for m in re.finditer(pattern, page)]
    assert len(hits) == 1, (pattern, hits)
    return hits[0]


def test_pet_cover(leaves: dict[str, str]) -> None:
    pages_a, pages_b = (
        [re.sub(r"\s+", " ", page.extract_text()) for page in pypdf.PdfReader(INPUTS / "files" / name).pages]
        for name in ("61-pawsure_essential.pdf", "61-tailguard_plus.pdf")
    )
    assert (len(pages_a), len(pages_b)) == (3, 2)
    nine = r"9 years and over GBP [\d.]+ GBP ([\d.]+)"
    (premium_a, p1), (premium_b, q1) = find(pages_a, nine), find(pages_b, nine)
    (excess_a, p2), (excess_b, q2) = find(pages_a, r"excess is GBP (\d+)"), find(pages_b, r"excess of GBP (\d+)")
    (copay_a, p3), (copay_b, q3) = (
        find(pages_a, r"9 years and over (\d+) %"),
        find(pages_b, r"7 years and over (\d+) %"),
    )
    (year_a, p4), (year_b, q4) = find(pages_a, r"fees up to GBP ([\d,]+)"), find(pages_b, r"policy year GBP ([\d,]+)")
    (_, p5), (cond_b, q5) = find(pages_a, "(no limit per condition)"), find(pages_b, r"one condition GBP ([\d,]+)")
    physio = r"[Pp]hysiotherapy(?: and hydrotherapy)? GBP (\d+)"
    (physio_a, p6), (physio_b, q6) = find(pages_a, physio), find(pages_b, physio)
    dental = r"Dental.*?(accidents.*?\d+) a year"
    (dental_a, p7), (dental_b, q7) = find(pages_a, dental), find(pages_b, dental)
    (ill_a, p8), (ill_b, q8) = (
        find(pages_a, r"Illness is covered after (\d+)"),
        find(pages_b, r"that is after (\d+) days"),
    )
    (joint_a, p9), (joint_b, q9) = (
        find(pages_a, r"elbows are covered after (\d+)"),
        find(pages_b, r"ligaments: after (\d+)"),
    )
    claims = r"within (\d+) days of treatment"
    (claim_a, p10), (claim_b, q10) = find(pages_a, claims), find(pages_b, claims)
    (_, p11), (abroad_b, q11) = find(pages_a, "Treatment abroad (not covered)"), find(pages_b, r"up to (\d+) days")
    (stop_a, p12), (stop_b, q12) = find(pages_a, r"cancel within (\d+)"), find(pages_b, r"Cooling-off period: (\d+)")

    def plain(text: str) -> float:
        return float(text.replace(",", ""))

    surgery, treatment = 1840.0, 260.0
    a = (surgery + min(treatment, plain(physio_a)) - plain(excess_a)) * (1 - plain(copay_a) / 100)
    capped = min(surgery + min(treatment, plain(physio_b)), plain(cond_b))
    b = (capped - plain(excess_b)) * (1 - plain(copay_b) / 100)
    cost_a = 12 * plain(premium_a) + surgery + treatment - a
    cost_b = 12 * plain(premium_b) + surgery + treatment - b

    holds(leaves["61/cp1-1"], premium_a, premium_b, excess_a, excess_b, copay_a, copay_b)
    last = [text.split()[-1] for text in (dental_a, dental_b)]
    assert "only" in dental_a and "illness" in dental_b
    holds(leaves["61/cp1-2"], year_a, year_b, "none", cond_b, physio_a, physio_b, *last)
    periods = (ill_a, ill_b, joint_a, joint_b, claim_a, claim_b)
    holds(leaves["61/cp1-3"], *periods, "not covered", abroad_b, stop_a, stop_b)
    holds(leaves["61/cp2-1"], f"{a:,.2f}", f"{b:,.2f}")
    holds(leaves["61/cp2-2"], f"{cost_a:,.2f}", f"{cost_b:,.2f}")
    assert cost_b < cost_a
    holds(leaves["61/cp2-3"], "TailGuard Plus", f"{cost_a - cost_b:,.2f}")
    assert [p1, p2, p3, p4, p5] == [1] * 5
    assert [p6, p7, p8, p9, p11] == [2] * 5
    assert [p10, p12] == [3, 3]
    assert [q1, q8, q9, q10, q12] == [2] * 5
    assert [q2, q3, q4, q5, q6, q7, q11] == [1] * 7
    holds(leaves["61/cp3-2"], "Pawsure", 1, 2, 3, "TailGuard", 2, 1)
