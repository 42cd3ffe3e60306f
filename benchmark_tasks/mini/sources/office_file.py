"""Office files whose bytes do not change from build to build."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

_EPOCH = (2025, 1, 1, 0, 0, 0)
_STAMP = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(<)")


def save_office(document: Any, path: Path) -> None:
    """Save a workbook (openpyxl), document (python-docx) or deck (python-pptx) with fixed times inside.

    So a rebuild changes nothing.
    """
    buffer = BytesIO()
    document.save(buffer)
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(buffer) as made, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name in made.namelist():
            data = made.read(name)
            if name == "docProps/core.xml":
                data = _STAMP.sub(rb"\g<1>2025-01-01T00:00:00Z\g<2>", data)
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(entry, data)
