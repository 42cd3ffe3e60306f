"""Where the official datasets are published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit, urlunsplit

from pytest_gta.benchmark.dataset import DatasetError
from pytest_gta.llm.addresses import is_http

MIRROR = "GTA_MIRROR"
"""The environment variable that names another place to fetch from."""

_REPOSITORY = "open-compass/GTA"


class FetchError(DatasetError):
    """A dataset that could not be fetched, or is not what it should be: names it, the reason and the next step."""


@dataclass(frozen=True, slots=True)
class Source:
    """A published dataset.

    Attributes:
        name: What it is called on the command line.
        title: What its authors call it.
        version: The release that it is part of.
        file: The name of its archive.
        index: The file inside the archive that lists its tasks.
        url: The official address.
        listing: Where the publisher lists the release's files, in the shape of GitHub's API; "" when nowhere.
        sha256: The archive's sum; "" when it is not known beforehand.
    """

    name: str
    title: str
    version: str
    file: str
    index: str
    url: str
    listing: str = ""
    sha256: str = ""

    @property
    def folder(self) -> str:
        """The name of its folder once it is unpacked."""
        return self.file.removesuffix(".zip")

    def address(self, mirror: str = "") -> str:
        """Return where to fetch it from.

        Args:
            mirror: The address of a zip, or of the folder on a server that the archive lies in; "" for the official
                address.

        Raises:
            FetchError: When the mirror is not an http or https address.
        """
        mirror = mirror.strip()
        if not mirror:
            return self.url
        if not is_http(mirror):
            raise FetchError(f"--mirror ({MIRROR}): an http:// or https:// address is needed")
        parts = urlsplit(mirror)
        path = parts.path if parts.path.lower().endswith(".zip") else f"{parts.path.rstrip('/')}/{self.file}"
        return urlunsplit(parts._replace(path=quote(path, safe="/%:@!$&'()*+,;=~"), fragment=""))


def _released(name: str, title: str, version: str, file: str, index: str) -> Source:
    return Source(
        name,
        title,
        version,
        file,
        index,
        url=f"https://github.com/{_REPOSITORY}/releases/download/{version}/{file}",
        listing=f"https://api.github.com/repos/{_REPOSITORY}/releases/tags/{version}",
    )


SOURCES: Mapping[str, Source] = {
    source.name: source
    for source in (
        _released("workflow", "GTA-Workflow", "v0.2.0", "gta_workflow_dataset.zip", "end.json"),
        _released("atomic", "GTA-Atomic", "v0.1.0", "gta_dataset.zip", "dataset.json"),
    )
}
"""The official datasets by name. Their authors publish no sums; GitHub's list has one of newer files."""
