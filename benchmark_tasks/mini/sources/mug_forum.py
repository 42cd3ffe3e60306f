"""Task 41: a saved forum thread about a travel mug, to be made into a table of posts and a deck."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import median

from benchmark_tasks.mini.sources.authored import Derived

THREAD = "resources/files/41-mug_thread.html"


@dataclass(frozen=True, slots=True)
class Post:
    """A post; `theme` is what it is about and `price` the sum in USD its author would pay, if it says so."""

    author: str
    day: int
    likes: int
    text: str
    theme: str
    price: int | None = None


POSTS = (
    Post("moss_green", 3, 12, "Bought the Kestrel mug in week one. The lid leaks as soon as it lies on its side. "
         "My bag smells of oat milk now.", "leak"),
    Post("trailmix", 3, 31, "Mine keeps coffee hot from 6 am until lunch, no joke. Best thermos I have owned.", "heat"),
    Post("dana_w", 4, 8, "$42 is steep for a mug. I would pay $30, not more.", "price", 30),
    Post("commuter77", 4, 47, "Same leak here. The lid seal slips out of its groove when you wash it. "
         "Please sell spare seals!", "leak"),
    Post("ilse", 5, 5, "Does not fit the cup holder of my car, about 5 mm too wide. Such a pity.", "size"),
    Post("moss_green", 5, 3, "Update: the replacement lid leaks too.", "leak"),
    Post("forum_moderator", 6, 0, "Moved this thread to Kitchen & Travel. Please stay friendly.", "none"),
    Post("runar", 6, 22, "Love how hot it stays. I would pay $40 for a bigger one.", "heat", 40),
    Post("teapot_tim", 7, 9, "Lid dripped on my laptop. Lid closed, I swear.", "leak"),
    Post("ilse", 8, 2, "Measured again: base is 78 mm, my holder takes 72.", "size"),
    Post("north_by_bike", 8, 16, "Too wide for a standard bottle cage as well. Fix the size and I am in.", "size"),
    Post("penny", 9, 11, "Waiting for a sale. At $35 I would take two.", "price", 35),
    Post("gustav", 10, 6, "Drips when I shake it. The lid again, not the body.", "leak"),
    Post("trailmix", 10, 4, "Ice cubes survived a night in the tent. Insulation is superb.", "heat"),
    Post("sol_and_sea", 11, 14, "Honestly worth $45 if the lid stayed dry. It leaked on day two.", "leak", 45),
    Post("dana_w", 12, 1, "Saw it for less in the airport shop, still too expensive for me.", "price"),
)  # fmt: skip
THEMES = {"leak": "leaking lid", "size": "too wide", "price": "price too high", "heat": "keeps drinks hot (praise)"}


def authors(theme: str) -> list[str]:
    """Return the different authors who wrote about a theme, in order of appearance."""
    return list(dict.fromkeys(post.author for post in POSTS if post.theme == theme))


def _likes(post: Post) -> str:
    return "1 like" if post.likes == 1 else f"{post.likes} likes"


def make_inputs(folder: Path) -> None:
    """Write the thread as a browser saves it."""
    articles = "\n".join(
        f'<article class="post" id="p{i}">\n'
        f'<header><span class="author">{post.author}</span> '
        f'<time datetime="2025-03-{post.day:02}">{post.day} March 2025'
        f"</time></header>\n<p>{escape(post.text)}</p>\n<footer>{_likes(post)}</footer>\n</article>"
        for i, post in enumerate(POSTS, 1)
    )
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Kestrel 450 travel mug - worth it? | Kitchen &amp; Travel | TalkGear</title>
<style>
body{{font-family:sans-serif;max-width:44em;margin:auto}}
.post{{border-top:1px solid #bbb;padding:.5em 0}}
</style>
</head>
<body>
<nav>TalkGear &gt; Kitchen &amp; Travel &gt; Mugs</nav>
<h1>Kestrel 450 travel mug - worth it?</h1>
{articles}
<aside>Related threads: Best moka pot? | Cleaning limescale | Kestrel 700 flask</aside>
<footer>TalkGear is a fictional forum. Saved 14 March 2025.</footer>
</body>
</html>
"""
    path = folder / THREAD
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8", newline="\n")


def values() -> dict[str, Derived]:
    """Return what the rubric asks for, counted from the posts."""
    counts = Counter(post.theme for post in POSTS)
    named = [f"{post.author} {post.price}" for post in POSTS if post.price is not None]
    prices = [post.price for post in POSTS if post.price is not None]
    people = {theme: len(authors(theme)) for theme in THEMES}
    return {
        "posts": Derived(len(POSTS), "article elements of the page"),
        "first_day": Derived(f"2025-03-{POSTS[0].day:02}", "date of the first post"),
        "last_day": Derived(f"2025-03-{POSTS[-1].day:02}", "date of the last post"),
        "likes": Derived(sum(post.likes for post in POSTS), "sum over the posts"),
        "posts_by_theme": Derived(
            [f"{theme} {counts[theme]}" for theme in (*THEMES, "none")], "main point of each post"
        ),
        "named": Derived(named, "dollar amounts that an author would pay or finds a mug worth"),
        "people_by_theme": Derived(
            [f"{theme} {count}" for theme, count in people.items()], "different authors of the posts on a theme"
        ),
        "complaint": Derived("leaking lid", "the complaint with the most different people and posts"),
        "low": Derived(min(prices), f"smallest of {prices}"),
        "high": Derived(max(prices), f"largest of {prices}"),
        "median": Derived(median(prices), f"median of {prices}"),
    }
