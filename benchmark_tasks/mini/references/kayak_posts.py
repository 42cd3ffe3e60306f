"""Reference deliverables of task 44: newsletter, subject lines, open questions."""

from __future__ import annotations

import csv
from pathlib import Path

from benchmark_tasks.mini.sources.kayak_posts import CHILD_FEE, EVENT, FEE

QUESTIONS = (
    ("I cannot swim well. Is that a problem?",
     "No. Everybody wears a life jacket, and the river is waist deep at the boathouse."),
    ("From what age can children come along?", "From 8 years; up to 12 together with an adult in the boat."),
    ("Do I need my own gear?", "No. Boats, paddles and jackets are included. Bring shoes that may get wet."),
    ("And if it pours?", "Rain is fine. In a thunderstorm we move to Sunday 29 June."),
)  # fmt: skip
SUBJECTS = (
    ("Not a strong swimmer? Try a kayak anyway", "fear of water", "Life jackets for all, waist-deep river"),
    ("No kayak, no paddle? No problem", "no gear", "Boats, paddles and jackets are included"),
    ("Kayaking with the kids, from age 8", "children", "Up to 12 with an adult in the boat"),
    ("Rain or shine: kayaks on 22 June", "bad weather", "Only a thunderstorm moves us to 29 June"),
    ("Two hours on the river, then hot soup", "last year's fun", "What people who came last year remember"),
    ("Five of us are coming. Are you?", "families join in", "Two adults and three children: $42"),
)


def make(files: Path) -> str:
    """Write the deliverables to `files` and return the final answer."""
    (files / "Newsletter.html").write_text(_page(), encoding="utf-8")
    with (files / "Subject_Lines.csv").open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(["subject", "angle", "preheader"])
        rows.writerows(SUBJECTS)
    (files / "Open_Questions.md").write_text(
        "# Before you send it\n\n"
        "## Asked but not answered\n\n"
        "- Is parking free? (keen_bean; it was a nightmare last year)\n\n"
        "## Not to be used\n\n"
        "- spam_bot_77: an advertisement for paddles, score -12\n",
        encoding="utf-8",
    )
    return "The newsletter, six subject lines and the open questions (parking!) are ready."


def _page() -> str:
    family = 2 * FEE + 3 * CHILD_FEE
    answers = "\n".join(f"<dt>{question}</dt><dd>{answer}</dd>" for question, answer in QUESTIONS)
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{EVENT["name"]}</title>
<style>
body {{ font-family: sans-serif; max-width: 36em; margin: 0 auto; padding: 1em; color: #123b4a }}
dt {{ font-weight: bold; margin-top: .6em }}
.button {{ display: inline-block; background: #d9542b; color: white; padding: .7em 1.4em; border-radius: .4em }}
blockquote {{ border-left: 4px solid #3c8dad; margin: 1em 0; padding-left: 1em; font-style: italic }}
</style></head>
<body>
<h1>{EVENT["name"]}</h1>
<p><strong>{EVENT["date"]}, {EVENT["time"]}</strong><br>{EVENT["place"]}</p>
<p>${FEE} for adults, ${CHILD_FEE} for children, soup and tea included.
Two adults and three children pay ${family}.</p>
<p><a class="button" href="mailto:{EVENT["register"]}">Register by {EVENT["closes"]}</a><br>{EVENT["register"]}</p>
<h2>You asked</h2>
<dl>
{answers}
</dl>
<h2>From last year</h2>
<blockquote>Two hours on the water flew by, and the soup afterwards was great.</blockquote>
<p>old_salt</p>
<p>See you on the river,<br>Mill River Canoe Club</p>
</body>
</html>
"""
