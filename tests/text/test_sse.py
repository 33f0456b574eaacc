"""Are streams of events read right, however they are split?"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import BOUND, growth

from penstock.text.sse import EventSplitter, data_of, empty_line, lines_of

if TYPE_CHECKING:
    from collections.abc import Callable

STREAMS = st.text("\r\n:dx", max_size=30).map(str.encode)
EMPTY_LINE = re.compile(rb"(?:\r\n?+|\n)(?:\r\n?+|\n)")


@given(STREAMS, st.integers(0, 30))
def test_an_empty_line_is_found_where_the_standard_has_it(stream: bytes, start: int) -> None:
    """It is recognised after each of the three line ends."""
    found, expected = empty_line(stream, start), EMPTY_LINE.search(stream, start)
    assert (found and found.span()) == (expected and expected.span())


@given(STREAMS, st.lists(st.integers(0, 30)))
def test_the_events_of_a_stream_tile_it_however_it_is_cut(stream: bytes, cuts: list[int]) -> None:
    """Each event ends with its empty line, and the remainder has none."""
    splitter = EventSplitter()
    events = [event for at, end in pairwise(sorted({0, len(stream), *cuts})) for event in splitter.feed(stream[at:end])]
    assert b"".join([*events, splitter.end()]) == stream
    assert not EMPTY_LINE.search(splitter.end())
    for event in events:
        found = EMPTY_LINE.search(event)
        assert found is not None
        assert found.end() == len(event)


@given(st.binary(max_size=3), st.integers(0, 5_000), STREAMS, st.integers(0, 5_000), STREAMS)
def test_lines_of_any_length_end_where_they_end(begin: bytes, some: int, mid: bytes, more: int, end: bytes) -> None:
    """This includes lines longer than what is searched at once."""
    event = begin + b"x" * some + mid + b"x" * more + end
    assert [event[at:stop] for at, stop in lines_of(event)] == re.split(rb"\r\n|\r|\n", event)


def test_a_long_event_costs_no_more_a_byte() -> None:
    """The held part is not searched again with each part that arrives."""

    def work(kilobytes: int) -> Callable[[], object]:
        def feed() -> None:
            splitter = EventSplitter()
            for _ in range(kilobytes):
                assert list(splitter.feed(b"x" * 1024)) == []

        return feed

    assert growth(work, 2_000) < BOUND


@pytest.mark.parametrize("end", [b"\r", b"\n"])
def test_many_lines_cost_no_more_a_line(end: bytes) -> None:
    """Whichever line end a stream has, the other is not searched for to the end of the stream."""

    def work(lines: int) -> Callable[[], object]:
        event = (b"data: x" + end) * lines
        return lambda: data_of(event)

    assert growth(work, 10_000) < BOUND
