"""Where does the table of list prices come from? It is cut from genai-prices: models that are known by name, and their makers'
token prices.

    scripts/prices      runs it in an environment of its own, with the newest genai-prices

It keeps the prices of a text request: input, output, cache; tiers, and prices that apply from a day or at some hours. Left out are
providers that only serve other makers' models, and prices for sound, images and searches.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from genai_prices.data import providers

RATES = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok")


def pattern(clause: Any) -> str:
    """A clause of genai-prices as one regular expression, for lower-case names."""
    (key, value), *_ = vars(clause).items()
    match key:
        case "or_":
            return "|".join(f"(?:{one})" if "|" in one else one for one in map(pattern, value))
        case "and_":
            return r"\A" + "".join(f"(?=.*?(?:{pattern(one)}))" for one in value)
        case "regex":
            return str(value)
    word = re.escape(value.lower()).replace(r"\-", "-")
    return {"equals": rf"\A{word}\Z", "starts_with": rf"\A{word}", "ends_with": rf"{word}\Z", "contains": word}[key]


def rate(price: Any) -> Any:
    """Dollars per million tokens; if that grows with the request, `[base, [above this many tokens, dollars], …]`."""
    if hasattr(price, "tiers"):
        return [number(price.base), *([tier.start, number(tier.price)] for tier in price.tiers)]
    return number(price)


def number(decimal: Any) -> float | int:
    return int(decimal) if decimal == int(decimal) else float(decimal)


def rates(price: Any, constraint: Any = None) -> dict[str, Any]:
    """The rates of one price, and when it applies."""
    when = {key: value.isoformat() for key, value in vars(constraint).items()} if constraint is not None else {}
    return when | {key: rate(value) for key in RATES if (value := getattr(price, key)) is not None}


def prices(model: Any) -> list[dict[str, Any]]:
    """All prices of a model, of which the last applicable one counts; empty if it is not sold by input and output tokens.

    Such a model keeps its row: otherwise the next one with the same beginning of its name would be taken for it.
    """
    listed = model.prices if isinstance(model.prices, list) else [model.prices]
    made = [rates(getattr(one, "prices", one), getattr(one, "constraint", None)) for one in listed]
    return made if all({"input_mtok", "output_mtok"} <= one.keys() for one in made) else []


def main() -> None:
    makers = []
    for provider in providers:
        if provider.model_match is None:
            continue
        models = [[pattern(model.match), prices(model)] for model in provider.models]
        if any(listed for _, listed in models):
            makers.append((provider.id, pattern(provider.model_match), models))
    package = importlib.metadata.distribution("genai-prices")
    (licence,) = (file for file in package.files or [] if file.name == "LICENSE")
    head = {
        "source": f"genai-prices {package.version}, https://github.com/pydantic/genai-prices",
        "as_of": datetime.now(UTC).date().isoformat(),
        "license": licence.read_text(),
    }
    lines = [f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head.items()]
    # One model per line, so that changes are readable as a diff.
    blocks = [
        f"    [{json.dumps(name)}, {json.dumps(match)}, [\n"
        + ",\n".join(f"      {json.dumps(model)}" for model in models)
        + "\n    ]]"
        for name, match, models in makers
    ]
    content = "{\n" + "".join(lines) + '  "makers": [\n' + ",\n".join(blocks) + "\n  ]\n}\n"
    Path(sys.argv[1]).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
