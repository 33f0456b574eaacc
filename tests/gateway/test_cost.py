"""Is a request's cost that of its new content, with small bodies unread and known ones not reread (W-9)? Figures: bench/gateway."""

from __future__ import annotations

import gc
import json
import time
import weakref
from typing import TYPE_CHECKING, Any

import pytest

from penstock.carrier.stream_watch import StreamWatch
from penstock.gateway import conversations
from penstock.gateway.provider import Provider, Windows
from penstock.text.tokens import Tokens
from penstock.wires import digests
from tests.gateway.standing import RecordingUpstream, Said, standing
from tests.gateway.stories import body_of, story

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.gateway.passage import Passage

_USAGE = {"input_tokens": 9, "output_tokens": 1}
_ANSWER = json.dumps(
    {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Fine."}], "usage": _USAGE}
).encode()
_STREAM: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": [], "usage": _USAGE}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Fine."}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}},
    {"type": "message_stop"},
]


def counted(monkeypatch: pytest.MonkeyPatch, of: Any, name: str) -> list[Any]:
    """Count the calls of a function, which still runs."""
    kept, calls = getattr(of, name), []

    def noting(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return kept(*given, **named)

    monkeypatch.setattr(of, name, noting)
    return calls


@pytest.mark.proves("W-9")
def test_what_surely_fits_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token has at least one byte."""
    read = counted(monkeypatch, Provider, "begin")
    with (
        RecordingUpstream(lambda _: Said()) as behind,
        standing(tmp_path, behind.url, windows=Windows((("m", 50_000),))) as gateway,
    ):
        gateway.ask("/v1/messages", body_of("anthropic", story(10)))
        assert not read
        gateway.ask("/v1/messages", body_of("anthropic", story(20)))
        assert len(read) == 1


@pytest.mark.proves("W-9")
def test_what_is_known_is_neither_read_nor_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn adds two messages, whatever came before them; another model of the same family adds none."""
    with (
        RecordingUpstream(lambda _: Said()) as behind,
        standing(tmp_path, behind.url, windows=Windows((("*", 50_000),))) as gateway,
    ):
        gateway.ask("/v1/messages", body_of("anthropic", story(30)))
        known, opening = (counted(monkeypatch, room, "next_digest") for room in (conversations, digests))
        texts = counted(monkeypatch, Tokens, "count")
        gateway.ask("/v1/messages", body_of("anthropic", story(31)))
        assert len(known) == 2  # the two that are new
        assert len(opening) == 2  # the messages by which cuts and turns are found
        assert len(texts) <= 4
        before, compared = len(texts), counted(monkeypatch, Tokens, "__eq__")
        gateway.ask("/v1/messages", body_of("anthropic", story(31), model="n"))
        assert len(texts) <= before + 2  # what is next to the messages is counted for each request
        assert not compared


@pytest.mark.proves("W-9")
@pytest.mark.parametrize("is_stream", [False, True])
def test_what_was_held_of_a_request_goes_with_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_stream: bool
) -> None:
    """Nothing waits for the garbage collector, which runs rarely: a request may have 32 MiB."""
    held: list[weakref.ref[Passage]] = []
    begin = Provider.begin

    def noting(*given: Any, **named: Any) -> Passage | None:
        passage = begin(*given, **named)
        held.extend([weakref.ref(passage)] if passage else [])
        return passage

    monkeypatch.setattr(Provider, "begin", noting)
    events = b"".join(b"data: %s\n\n" % json.dumps(one).encode() for one in _STREAM)
    said = Said(200, (("content-type", "text/event-stream"),), (events,)) if is_stream else Said(parts=(_ANSWER,))
    with (
        RecordingUpstream(lambda _: said) as behind,
        standing(tmp_path, behind.url, windows=Windows((("m", 50_000),))) as gateway,
    ):
        gc.disable()
        try:
            assert gateway.ask("/v1/messages", body_of("anthropic", story(30))).status == 200
            until = time.monotonic() + 5  # the client has the end before the gateway releases it
            while held[0]() is not None and time.monotonic() < until:
                time.sleep(0.005)
            assert [one() for one in held] == [None]
        finally:
            gc.enable()


@pytest.mark.proves("W-9")
def test_a_stream_without_lessons_is_read_to_its_first_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What follows passes unread."""
    looked, later = counted(monkeypatch, StreamWatch, "has_begun"), counted(monkeypatch, StreamWatch, "look")
    said = Said(200, (("content-type", "text/event-stream"),), (b"data: x\n\n",) * 50)
    with RecordingUpstream(lambda _: said) as behind, standing(tmp_path, behind.url) as gateway:
        assert gateway.ask("/v1/messages", {"messages": [], "stream": True}).body == b"data: x\n\n" * 50
    assert len(looked) == 1
    assert not later
