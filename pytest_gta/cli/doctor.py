"""``pytest-gta doctor``: what is here for a run, what is missing, and the command that brings each of it."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict
from typing import Any

_MARKS = {"ok": "ok", "missing": "--", "broken": "!!"}


def add_to(subcommands: Any) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser(
        "doctor",
        help="show what is installed and set up, and what brings the rest",
        description="Show what is installed and set up, and what brings the rest. Keys are never shown. "
        "The exit code is 1 when something is broken that even the simplest run needs, else 0.",
    )
    parser.add_argument("--online", action="store_true", help="ask the endpoints that are set up whether they answer")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Look, print, and return 1 when something is broken."""
    from pytest_gta.run.machine import State, inspect

    broken = 0
    seen = {}
    for subject, findings in inspect(os.environ, online=given.online):
        seen[subject] = [asdict(finding) for finding in findings]
        broken += sum(finding.state is State.BROKEN for finding in findings)
        if given.json:
            continue
        print(subject, flush=True)
        width = max((len(finding.what) for finding in findings), default=0)
        for finding in findings:
            print(f"  {_MARKS[finding.state]}  {finding.what:<{width}}  {finding.detail}".rstrip())
            if finding.remedy:
                print(f"      {'':<{width}}  > {finding.remedy}")
        print(flush=True)
    if given.json:
        print(json.dumps(seen, indent=1, ensure_ascii=False))
    else:
        print("A run would fail: see the lines marked !!" if broken else "Nothing is missing that every run needs.")
    return 1 if broken else 0
