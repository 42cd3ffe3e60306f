"""Task 44: a post with comments on a kayak club, to be made into a newsletter with subject lines to test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw

from benchmark_tasks.mini.sources.authored import Derived
from benchmark_tasks.mini.sources.drawing import centred, save_png

POST = "resources/reddit_data/44/post.json"
FLYER = "resources/reddit_data/44/flyer.png"
EVENT = {
    "name": "Try-a-Kayak Day",
    "date": "Sunday 22 June",
    "time": "10:00 to 16:00",
    "place": "Boathouse, Quay Lane 8",
    "register": "kayak@millriver.example",
    "closes": "15 June",
}
FEE, CHILD_FEE = 12, 6


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment; `asks` is the question in it, by its key in `ANSWERS`, or "" when there is none."""

    author: str
    score: int
    text: str
    asks: str = ""


POST_TEXT = (
    "Our club offers a Try-a-Kayak Day again, flyer attached. Questions welcome, I answer below. What would make you "
    "come? What would keep you away?"
)
COMMENTS = (
    Comment("blue_heron", 34, "I cannot swim well. Is that a problem?", "swim"),
    Comment(
        "club_secretary", 21, "@blue_heron Everybody wears a life jacket and the river is waist deep at the boathouse."
    ),
    Comment("two_left_feet", 18, "Do I need my own gear? I have nothing.", "gear"),
    Comment(
        "club_secretary", 15, "@two_left_feet Boats, paddles and jackets are included. Bring shoes that may get wet."
    ),
    Comment("mum_of_three", 27, "From what age can children come along?", "age"),
    Comment("club_secretary", 19, "@mum_of_three From 8 years, up to 12 together with an adult in the boat."),
    Comment("rainyday", 9, "And if it pours?", "rain"),
    Comment("club_secretary", 11, "@rainyday Rain is fine. In a thunderstorm we move to Sunday 29 June."),
    Comment("old_salt", 7, "Went last year. Two hours on the water flew by, and the soup afterwards was great."),
    Comment("keen_bean", 5, "Is parking free? Last year it was a nightmare.", "parking"),
    Comment("spam_bot_77", -12, "CHEAP PADDLES!!! visit my profile"),
    Comment("mum_of_three", 4, "Thanks, we are in, all five of us."),
)
ANSWERS = {"swim": "life jacket", "gear": "included", "age": "8 years", "rain": "29 June"}
"""Questions that the secretary answers; parking is not answered."""


def make_inputs(folder: Path) -> None:
    """Write the post with its comments, and draw the flyer."""
    path = folder / POST
    path.parent.mkdir(parents=True, exist_ok=True)
    post = {
        "title": "Try-a-Kayak Day is back: ask us anything",
        "author": "club_secretary",
        "subforum": "MillRiver",
        "score": 112,
        "text": POST_TEXT,
        "image": "flyer.png",
        "comments": [{"author": c.author, "score": c.score, "text": c.text} for c in COMMENTS],
    }
    path.write_text(json.dumps(post, indent=1) + "\n", encoding="utf-8", newline="\n")
    save_png(_flyer(), folder / FLYER)


def _flyer() -> Image.Image:
    image = Image.new("RGB", (640, 820), "#dff0f5")
    draw = ImageDraw.Draw(image)
    draw.polygon(
        [(0, 560), (120, 530), (260, 560), (400, 530), (540, 560), (640, 540), (640, 820), (0, 820)], fill="#3c8dad"
    )
    draw.polygon([(150, 520), (320, 560), (490, 520), (430, 575), (210, 575)], fill="#d9542b")
    draw.line((230, 450, 410, 590), fill="#6b4a2b", width=8)
    centred(draw, (320, 80), EVENT["name"], 58, "#123b4a")
    centred(draw, (320, 150), "Mill River Canoe Club", 32, "#123b4a")
    for i, line in enumerate((f"{EVENT['date']}, {EVENT['time']}", EVENT["place"])):
        centred(draw, (320, 230 + 46 * i), line, 32, "#123b4a")
    fees = f"$ {FEE} adults, $ {CHILD_FEE} children"
    for i, line in enumerate((fees, "Soup and tea included", f"Register by {EVENT['closes']}:", EVENT["register"])):
        centred(draw, (320, 630 + 46 * i), line, 30, "#ffffff")
    return image


def values() -> dict[str, Derived]:
    """Return what the rubric asks for: what flyer and comments say."""
    questions = sorted((c for c in COMMENTS if c.asks), key=lambda c: -c.score)
    return {
        "date": Derived(EVENT["date"], "flyer"),
        "time": Derived(EVENT["time"], "flyer"),
        "place": Derived(EVENT["place"], "flyer"),
        "fee": Derived(FEE, "flyer, USD"),
        "child_fee": Derived(CHILD_FEE, "flyer, USD"),
        "closes": Derived(EVENT["closes"], "flyer"),
        "register": Derived(EVENT["register"], "flyer"),
        "family": Derived(2 * FEE + 3 * CHILD_FEE, "2 x 12 + 3 x 6"),
        "questions": Derived(
            [c.asks for c in questions if c.asks in ANSWERS], "questions with an answer, highest score first"
        ),
        "spare_day": Derived("Sunday 29 June", "comment of the secretary on thunderstorms"),
        "quote_author": Derived("old_salt", "the one comment of somebody who was there last year"),
    }
