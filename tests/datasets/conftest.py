from __future__ import annotations

import pytest

from tests.file_server import FileServer


@pytest.fixture
def server(file_server: FileServer) -> FileServer:
    """The file server, under a short name."""
    return file_server
