"""A regular file: one that ends. A device or a pipe may never do, and whoever reads one waits with it."""

from __future__ import annotations

import errno
import stat
from pathlib import Path


def size_of_regular(path: Path, most: int) -> int:
    """Return a file's size in bytes.

    Args:
        path: The file.
        most: Bytes that it may have.

    Raises:
        OSError: When it is not there, is a folder or a special file, or has more bytes than that.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "a device or a pipe"
        raise OSError(errno.EINVAL, f"it is {what}, not a file", str(path))
    if status.st_size > most:
        raise OSError(errno.EFBIG, f"it has {status.st_size:,} bytes; {most:,} are the most", str(path))
    return status.st_size
