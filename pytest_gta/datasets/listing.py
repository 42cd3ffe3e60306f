"""What a publisher's own list of a release says of a file: its sum."""

from __future__ import annotations

import json
import re

from pytest_gta.llm.http_request import fetch

_TIMEOUT_S = 10.0
_MOST_BYTES = 4 << 20
_SUM = re.compile(r"sha256:([0-9a-f]{64})")


def listed_sha256(url: str, file: str) -> str:
    """Return the sum that the list at `url`, in the shape of GitHub's API, has of a file.

    Returns:
        "" when the list cannot be had or has no sum of it: GitHub has them of files since the middle of 2025.
    """
    try:
        answer = fetch(
            url,
            headers={"Accept": "application/vnd.github+json", "User-Agent": "pytest-gta"},
            timeout_s=_TIMEOUT_S,
            most_bytes=_MOST_BYTES,
            redirects=True,
        )
        assets = json.loads(answer.body)["assets"] if answer.status == 200 else []
        digest = next((asset["digest"] for asset in assets if asset["name"] == file), "")
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    found = _SUM.fullmatch(str(digest))
    return found[1] if found else ""
