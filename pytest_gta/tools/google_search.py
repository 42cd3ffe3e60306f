"""GoogleSearch: the web, through whatever search service is set up."""

from __future__ import annotations

from pytest_gta.tools.backend import SEARCH
from pytest_gta.tools.endpoints import ToolEndpoints
from pytest_gta.tools.specification import ToolParameter, ToolSpec
from pytest_gta.tools.tool import Tool


def search(endpoints: ToolEndpoints, query: str, k: int = 10) -> str:
    """Return what a search found: answers of the search engine, then pages with title, snippet and address.

    Args:
        endpoints: Holds the search service.
        query: Search words.
        k: Pages at most.

    Raises:
        ToolFault: None is set up, or it gave no answer.
    """
    return endpoints.search(query, k).as_text()


GOOGLE_SEARCH = Tool(
    ToolSpec(
        "GoogleSearch",
        "operation",
        "Searches the web. Answers numbered results: title, snippet and address of each page.",
        (
            ToolParameter("query", "text", "Search words.", example="population of Lisbon 2021 census"),
            ToolParameter("k", "int", "How many results at most, up to 100.", optional=True, default=10, example=5),
        ),
    ),
    search,
    backends=(SEARCH,),
)
