"""Is the cost of a page independent of its content?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.growth import BOUND, growth, times_as_long

from penstock import Tools
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PAGE_BYTES = 262_144


def pages_of(folder: Path, pair: str) -> Callable[[], object]:
    """Return a function that reads ten full pages of lines that repeat two characters."""
    folder.mkdir()
    (folder / "f").write_text((pair * 40 + "\n") * 8_000)
    tools = Tools(folder, read_seconds=None)
    return lambda: [tools.read_file("f", start_byte=0, max_bytes=PAGE_BYTES) for _ in range(10)]


@pytest.mark.proves("L-10")
@pytest.mark.parametrize(("escaped", "printable"), [("a\x01", "ab"), ("a\u200b", "a本")])
def test_a_page_that_is_half_escapes_costs_at_most_ten_plain_ones(tmp_path: Path, escaped: str, printable: str) -> None:
    """It once cost eight hundred, because each escape was a call and the page was rendered seven times."""
    odd, plain = pages_of(tmp_path / "odd", escaped), pages_of(tmp_path / "plain", printable)
    assert times_as_long(odd, plain) < BOUND


@pytest.mark.proves("L-10")
@pytest.mark.parametrize("pair", ["a\x01", "\r\\", "a\u200b", "\ud800\U000e0001"])
def test_escaping_takes_linear_time(pair: str) -> None:
    """Four times the text takes about four times as long, whatever has to be escaped in it."""

    def work(size: int) -> Callable[[], object]:
        return lambda: escape.show(pair * size)

    assert growth(work, 50_000) < BOUND
