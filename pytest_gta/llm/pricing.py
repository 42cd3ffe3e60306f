"""What a call costs, by the price list that the genai-prices package brings along; nothing is fetched."""

from __future__ import annotations

from pytest_gta.benchmark.usage import Tokens
from pytest_gta.llm.endpoint import OPENAI_URL, Endpoint

LOCAL = "local"
"""The bundled model, which costs nothing."""


def price(endpoint: Endpoint, tokens: Tokens) -> float | None:
    """Return the cost of one call in USD, or None when the endpoint or its model is not in the list.

    A model's name alone is not enough: another server may offer a model of that name at another price, so the
    address decides whose list counts. Batch, priority and other special tariffs are not known here.
    """
    if endpoint.model == LOCAL and endpoint.is_loopback:
        return 0.0
    import genai_prices

    usage = genai_prices.Usage(
        input_tokens=tokens.input, cache_read_tokens=min(tokens.cached, tokens.input), output_tokens=tokens.output
    )
    try:
        priced = genai_prices.calc_price(usage, endpoint.model, provider_api_url=endpoint.base_url or OPENAI_URL)
    except (LookupError, ValueError):
        return None
    return float(priced.total_price)
