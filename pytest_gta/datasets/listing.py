"""What a publisher's own list of a release says of a file: its sum."""

from __future__ import annotations

import json
import re

from pytest_gta.datasets.connection import open_url

_TIMEOUT_S = 10.0
_MOST_BYTES = 4 << 20
_SUM = re.compile(r"sha256:([0-9a-f]{64})")


def listed_sha256(url: str, file: str) -> str:
    """Return the sum that the list at `url`, in the shape of GitHub's API, has of a file.

    Returns:
        "" when it has none of it: GitHub has them of files since the middle of 2025.

    Raises:
        OSError: When the list cannot be had, an HTTP status that is an error included.
        HTTPException: When the answer is not HTTP, or breaks off.
        FetchError: When the certificates that the environment names cannot be read, or a redirect leads elsewhere.
        ValueError: When what came is not such a list.
    """
    with open_url(url, {"Accept": "application/vnd.github+json"}, timeout_s=_TIMEOUT_S) as answer:
        body = answer.read(_MOST_BYTES)
    try:
        digest = next((asset.get("digest") for asset in json.loads(body)["assets"] if asset["name"] == file), "")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError("what came is not a list of files") from None
    found = _SUM.fullmatch(str(digest))
    return found[1] if found else ""
