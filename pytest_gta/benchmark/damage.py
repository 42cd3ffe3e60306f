"""What reading a damaged, encrypted or absurdly nested file or member of an archive raises."""

from __future__ import annotations

import lzma
import zipfile
import zlib

DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, RuntimeError)
