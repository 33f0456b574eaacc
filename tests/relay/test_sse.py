"""Are server-sent events separated wherever they are cut, and is only what changes rewritten?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.carrier.raw_events import RawEvents
from penstock.relay.sse import Events, StreamPlace
from penstock.text.sse import EventSplitter, data_of, field_of, with_data
from tests.growth import BOUND, growth
from tests.relay.test_conversation import quiet_talk
from tests.relay.traffic import FLOOD, answer, call, cut_anywhere, text_result

if TYPE_CHECKING:
    from collections.abc import Callable

ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])
LINES = st.sampled_from(
    [b"data: {}", b"data:x", b"data", b": comment", b"id: 7", b"event: message", b"retry: 5", b"dat", b""]
)


@st.composite
def events(draw: st.DrawFn) -> list[bytes]:
    """Return events with their ends."""
    end = draw(ENDS)
    lines = st.lists(LINES.filter(bool), min_size=1, max_size=4)
    return [end.join([*some, b"", b""]) for some in draw(st.lists(lines, max_size=5))]


@given(events(), st.lists(st.integers(0, 10_000), max_size=6), st.booleans(), st.sampled_from([1 << 20, 9]))
@example([b"data: {}\r\n\r\n", b"data:x\r\n\r\n"], [11, 12, 13, 14], False, 1 << 20)
def test_events_pass_byte_for_byte_wherever_they_are_cut(
    said: list[bytes], places: list[int], is_idle: bool, max_held: int
) -> None:
    """Each is one message; only if the last byte of a CRLF comes late does it belong to no event."""
    stream = Events(quiet_talk().is_plain_for_client, lambda: is_idle, max_held)
    raw = b"".join(said)
    frames = [frame for part in cut_anywhere(raw, places) for frame in stream.feed(part)] + list(stream.end())
    assert b"".join(frame.raw for frame in frames) == raw
    if not is_idle and max_held > 9:
        got = [frame.raw.strip(b"\r\n") for frame in frames if frame.raw.strip(b"\r\n")]
        assert got == [event.strip(b"\r\n") for event in said]


@given(events())
def test_an_answer_is_looked_for_from_the_event_after_its_question(said: list[bytes]) -> None:
    """Nothing was asked when the first event began."""
    idle = True
    stream = Events(quiet_talk().is_plain_for_client, lambda: idle)
    first = [frame for frame in stream.feed(b"data: half") if frame.raw]
    idle = False
    frames = [*first, *stream.feed(b" of it\n\n" + b"".join(said)), *stream.end()]
    assert b"".join(frame.raw for frame in frames) == b"data: half of it\n\n" + b"".join(said)
    assert [frame.raw.strip() for frame in frames if frame.is_message and frame.raw.strip()] == [
        e.strip() for e in said
    ]


def test_data_is_read_and_written_among_the_other_fields() -> None:
    """Several lines of it are one text."""
    event = b": hello\r\nid: 5\r\ndata: {\r\ndata:  1}\r\nretry:10\r\n\r\n"
    assert data_of(event) == b"{\n 1}"
    assert (field_of(event, b"id"), field_of(event, b"retry"), field_of(event, b"event")) == (b"5", b"10", None)
    assert with_data(event, b"[2\n]") == b": hello\r\nid: 5\r\ndata: [2\r\ndata: ]\r\nretry:10\r\n\r\n"
    assert data_of(b"id: 1\n\n") is None
    assert data_of(b"data\rdatas: 1\rdata: 2\r\r") == b"\n2"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("beside", [b"", b"id: 7"])
def test_an_answer_over_several_lines_of_data_is_held(end: bytes, beside: bytes) -> None:
    """Servers that print JSON for people write it so: its envelope is not complete on the first line."""
    talk = quiet_talk()
    talk.from_client(call())
    stream = Events(talk.is_plain_for_client, lambda: talk.is_idle)
    lines = json.dumps(json.loads(answer(text_result(FLOOD))), indent=1).encode().split(b"\n")
    event = end.join([*(line for data in lines for line in (b"data: " + data, beside) if line), b"", b""])
    frames = [frame for part in cut_anywhere(event, list(range(0, len(event), 900))) for frame in stream.feed(part)]
    assert [frame.raw.strip() for frame in frames if frame.is_message] == [event.strip()]


def test_a_long_event_passes_before_its_end_unless_it_may_be_an_answer() -> None:
    """A notification of megabytes is not held."""
    talk = quiet_talk()
    talk.from_client(call())
    stream = Events(talk.is_plain_for_client, lambda: talk.is_idle)
    note = b'data: {"method":"notifications/message","params":"' + b"x" * 10_000
    assert [frame.raw for frame in stream.feed(note)] == [note]
    assert [frame.raw for frame in stream.feed(b'"}\n\n')] == [b'"}\n\n']
    held = b"data: " + answer(text_result(FLOOD)).strip()
    assert list(stream.feed(held)) == []
    (frame,) = stream.feed(b"\n\n")
    assert frame.is_message
    assert json.loads(data_of(frame.raw) or b"")["id"] == 1


@pytest.mark.parametrize("reader", [EventSplitter, lambda: RawEvents("openai-chat")], ids=["splitter", "events"])
def test_a_long_event_takes_a_time_that_grows_with_it(reader: Callable[[], Any]) -> None:
    """It comes in blocks, and what is held of it is not rescanned with each."""

    def work(blocks: int) -> Callable[[], object]:
        def run() -> None:
            made = reader()
            for block in (b'data: {"a": 1}\n\ndata: {"b": "', *[b"x" * 4_096] * blocks, b'"}\n\n'):
                assert len([*made.feed(block)]) <= 1

        return run

    assert growth(work, 1_000) < BOUND


@pytest.mark.parametrize(("said", "seconds"), [(b"0", 0.1), (b"2500", 2.5), (b"9999999", 30.0), (b"-1", 1.0)])
def test_a_server_does_not_decide_that_its_stream_is_opened_in_a_busy_loop(said: bytes, seconds: float) -> None:
    """Nor that it is never opened again."""
    place = StreamPlace()
    place.read(b"retry: " + said + b"\n\n")
    assert place.retry_seconds == seconds
