"""Are list prices right: figures from makers' pages, names in every spelling, and genai-prices itself as the reference?"""

from __future__ import annotations

import json
import os
import re
import subprocess
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.inspection.story import FillTurn, Story
from penstock.models import prices
from penstock.models.prices import Price, Rate, as_of, price_of, priced

NOON = "2026-11-23T12:00:00.000Z"


def dollars(model: str, when: str = NOON, *, uncached_tokens: int = 0, **tokens: Any) -> float:
    """Return what a request costs with a known model."""
    price = price_of(model, when)
    assert price is not None, model
    return price.dollars(uncached_tokens=uncached_tokens, **tokens)


@pytest.mark.parametrize(
    ("model", "tokens", "expected"),
    [
        ("claude-sonnet-4-5", {"uncached_tokens": 1_000, "output_tokens": 100}, 0.0045),
        ("claude-sonnet-4-5", {"uncached_tokens": 200_000}, 0.6),
        # Above 200,000 tokens all of them cost the higher price, including those from the cache and those of the answer.
        ("claude-sonnet-4-5", {"uncached_tokens": 200_001}, 1.200006),
        ("claude-sonnet-4-5", {"cached_tokens": 200_001, "output_tokens": 1_000}, 0.1200006 + 0.0225),
        ("claude-opus-5", {"cached_tokens": 100_000, "written_tokens": 10_000, "uncached_tokens": 2}, 0.11251),
        ("claude-opus-5", {"written_hour_tokens": 10_000}, 0.1),
        ("gpt-5-codex", {"uncached_tokens": 1_000_000, "output_tokens": 100_000}, 2.25),
        ("gpt-5-codex", {"cached_tokens": 1_000_000}, 0.125),
        # OpenAI's list has no separate price for cache writes, which are ordinary input.
        ("gpt-5-codex", {"written_tokens": 1_000_000, "written_hour_tokens": 1_000_000}, 2.5),
        ("gemini-2.5-pro", {"uncached_tokens": 100_000, "output_tokens": 1_000}, 0.135),
    ],
)
def test_a_request_costs_what_the_list_says(model: str, tokens: dict[str, Any], expected: float) -> None:
    """The figures are from the makers' own pages, worked out by hand."""
    assert dollars(model, **tokens) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("written", "listed"),
    [
        ("claude-opus-5[1m]", "claude-opus-5"),
        ("anthropic/claude-opus-4-5", "claude-opus-4-5"),
        ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("CLAUDE-OPUS-4-5-20251101", "claude-opus-4-5"),
        ("claude-opus-4-6[1m]", "claude-opus-4-6"),
        ("claude-opus-5@20260801", "claude-opus-5"),
        ("openrouter/anthropic/claude-opus-4.5:thinking", "claude-opus-4-5"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("google/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gpt-5.2-20251211", "gpt-5.2"),
        (" openai/gpt-5.2-2025-12-11 ", "gpt-5.2"),
    ],
)
def test_a_model_is_known_by_every_spelling_of_its_name(written: str, listed: str) -> None:
    """Providers, gateways and clouds add prefixes and suffixes."""
    assert price_of(written, NOON) == price_of(listed, NOON)
    assert price_of(written, NOON) is not None


@pytest.mark.parametrize(
    "model", ["", "nobody-7b", "<synthetic>", "/", "anthropic/", "claude", "deepseek-chat:free", "gpt-" + "x" * 10**6]
)
def test_what_is_not_known_has_no_price(model: str) -> None:
    """The price is None, not zero: a gateway's free variant says nothing about the maker's list."""
    assert price_of(model, NOON) is None


def test_a_model_that_is_not_sold_by_tokens_is_not_taken_for_its_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps its row in the table, without a price."""
    assert any(not listed for _, _, rows in prices._table()["makers"] for _, listed in rows)
    assert price_of("text-embedding-3-small", NOON) is None
    rows = [[r"\Awonder-voice", []], [r"\Awonder", [{"input_mtok": 1, "output_mtok": 2}]]]
    monkeypatch.setattr(prices, "_table", lambda: {"as_of": "2026-11-23", "makers": [["m", "wonder", rows]]})
    assert price_of("wonder-text", NOON) is not None
    assert price_of("wonder-voice", NOON) is None


def test_a_price_is_that_of_the_day_and_of_the_hour() -> None:
    """Prices change on a day, and some are lower at night; without a time the day of the table counts."""
    long = {"uncached_tokens": 300_000}
    assert dollars("claude-sonnet-4-6", "2026-03-01T00:00:00Z", **long) == pytest.approx(1.8)
    assert dollars("claude-sonnet-4-6", "2026-10-01T00:00:00Z", **long) == pytest.approx(0.9)
    assert dollars("claude-sonnet-4-6", "", **long) == dollars("claude-sonnet-4-6", f"{as_of()}T00:00:00Z", **long)
    assert dollars("claude-sonnet-4-6", "2026-03-13T05:00:00+10:00", **long) == pytest.approx(1.8), "the 12th in UTC"
    assert dollars("claude-sonnet-4-6", "2026-03-13T05:00:00", **long) == pytest.approx(0.9)
    million = {"uncached_tokens": 1_000_000}
    assert dollars("deepseek-reasoner", "2026-01-01T12:00:00Z", **million) == pytest.approx(0.55)
    assert dollars("deepseek-reasoner", "2026-01-01T20:00:00Z", **million) == pytest.approx(0.135)
    # 12:00 in UTC, given in another zone.
    assert dollars("deepseek-reasoner", "2026-01-01T22:00:00+10:00", **million) == pytest.approx(0.55)


def test_the_step_that_holds_is_the_highest_that_was_passed() -> None:
    """A list may have several."""
    rate = Rate(1.0, ((100, 2.0), (1_000, 3.0)))
    assert [rate.at(tokens) for tokens in (0, 100, 101, 1_000, 1_001)] == [1.0, 1.0, 2.0, 2.0, 3.0]


@given(st.text(max_size=60), st.text(max_size=30))
def test_any_name_at_any_time_is_answered(model: str, at: str) -> None:
    """Records of hosts may contain any name and time."""
    price_of(model, at)
    assert price_of("claude-opus-5", at) is not None


@given(st.lists(st.integers(0, 10**9), min_size=5, max_size=5), st.lists(st.integers(1, 100), min_size=5, max_size=5))
def test_every_token_is_charged_once(tokens: list[int], rates: list[int]) -> None:
    """A cost is the sum of what each kind of token costs."""
    names = ("input", "cache_read", "cache_write", "cache_write_hour", "output")
    price = Price(**{name: Rate(float(rate)) for name, rate in zip(names, rates, strict=True)})
    kinds = ("uncached_tokens", "cached_tokens", "written_tokens", "written_hour_tokens", "output_tokens")
    cost = price.dollars(**dict(zip(kinds, tokens, strict=True)))
    assert cost * 1_000_000 == pytest.approx(sum(a * b for a, b in zip(tokens, rates, strict=True)))


def test_the_table_says_where_it_is_from_and_of_which_day() -> None:
    """Its licence requires its notice, and a price needs a day."""
    table = prices._table()
    assert date.fromisoformat(as_of()) > date(2026, 11, 1)
    assert "genai-prices" in table["source"]
    assert "Permission is hereby granted, free of charge" in table["license"]
    assert "Pydantic" in table["license"]
    for _, sign, rows in table["makers"]:
        assert [re.compile(pattern) for pattern in (sign, *(name for name, _ in rows))]


def test_a_story_is_priced() -> None:
    """The model and the time of each turn decide."""
    turn = FillTurn(1, 1_000, {}, 1_000, 1_000, is_measured=True, output_tokens=100, model="claude-sonnet-4-5", at=NOON)
    money = priced(Story(turns=(turn,))).money
    assert money is not None
    assert [money.dollars, money.uncached_dollars] == pytest.approx([0.0045, 0.0045])
    assert (money.priced_turns, money.as_of) == (1, as_of())


# ── genai-prices itself ──────────────────────────────────────────────────────────────────────────────────────────

WITH_GENAI_PRICES = os.environ.get("PENSTOCK_TEST_PRICES")
JUDGE = """
import importlib.metadata, json, sys
from datetime import datetime
from genai_prices import Usage, calc_price
from genai_prices.data import providers

def words(clause):
    for value in vars(clause).values():
        for one in value if isinstance(value, list) else [value]:
            yield from [one] if isinstance(one, str) else words(one)

names = sorted({word for maker in providers if maker.model_match for model in maker.models for word in words(model.match)})
judged = []
for name in names:
    for at in ("2026-01-10T03:00:00+00:00", "2026-11-23T12:00:00+00:00"):
        for given, read, written, hour, made in json.load(open(sys.argv[1])):
            usage = Usage(input_tokens=given, cache_read_tokens=read, cache_write_tokens=written,
                          cache_write_1h_tokens=hour, output_tokens=made)
            try:
                found = calc_price(usage, name, genai_request_timestamp=datetime.fromisoformat(at))
            except LookupError:
                continue
            by_tokens = found.model_price.input_mtok is not None and found.model_price.output_mtok is not None
            judged.append([name, at, [given, read, written, hour, made], float(found.total_price) if by_tokens else None])
json.dump([importlib.metadata.version("genai-prices"), judged], sys.stdout)
"""


@pytest.mark.skipif(
    not WITH_GENAI_PRICES, reason="PENSTOCK_TEST_PRICES=PYTHON names a Python that has genai-prices installed"
)
def test_genai_prices_says_the_same(tmp_path: Any) -> None:
    """This covers every name in its lists, at two times, on both sides of every tier."""
    usages = [(1_000, 0, 0, 0, 100), (90_000, 60_000, 20_000, 5_000, 3_000), (300_000, 200_000, 50_000, 0, 9_000)]
    (tmp_path / "usages.json").write_text(json.dumps(usages))
    command = [str(WITH_GENAI_PRICES), "-W", "ignore", "-c", JUDGE, str(tmp_path / "usages.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    version, judged = json.loads(done.stdout)
    if f"genai-prices {version}," not in prices._table()["source"]:
        pytest.skip(f"genai-prices {version} is not the version that the table is of: scripts/prices cuts it anew")
    assert len(judged) > 2_000
    wrong = []
    for model, at, (taken, read, written, hour, made), expected in judged:
        price = price_of(model, at)
        cost = price and price.dollars(
            uncached_tokens=taken - read - written,
            cached_tokens=read,
            written_tokens=written - hour,
            written_hour_tokens=hour,
            output_tokens=made,
        )
        if cost != (expected if expected is None else pytest.approx(expected, rel=1e-9)):
            wrong.append((model, at, cost, expected))
    assert wrong == []
