"""A request costs what it brings: what is small is not read, what is known is not read again (W-9). Figures: bench/gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.carrier.stream_watch import StreamWatch
from penstock.gateway import conversations
from penstock.gateway.provider import Provider, Windows
from penstock.text.tokens import Tokens
from tests.gateway.standing import RecordingUpstream, Said, standing
from tests.gateway.stories import body_of, story

if TYPE_CHECKING:
    from pathlib import Path


def counted(monkeypatch: pytest.MonkeyPatch, of: Any, name: str) -> list[Any]:
    """Note each call of a function, which is called all the same."""
    kept, calls = getattr(of, name), []

    def noting(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return kept(*given, **named)

    monkeypatch.setattr(of, name, noting)
    return calls


@pytest.mark.proves("W-9")
def test_what_surely_fits_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No token has less than a byte."""
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
    """A turn brings two messages, whatever came before them."""
    with (
        RecordingUpstream(lambda _: Said()) as behind,
        standing(tmp_path, behind.url, windows=Windows((("m", 50_000),))) as gateway,
    ):
        gateway.ask("/v1/messages", body_of("anthropic", story(30)))
        digests = counted(monkeypatch, conversations, "_digest")
        texts = counted(monkeypatch, Tokens, "count")
        gateway.ask("/v1/messages", body_of("anthropic", story(31)))
    assert len(digests) == 4  # the two that are new, and the first, by which cuts and turns are found
    assert len(texts) <= 4


@pytest.mark.proves("W-9")
def test_a_stream_that_nobody_learns_from_is_read_to_its_first_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows passes unread."""
    looked, later = counted(monkeypatch, StreamWatch, "has_begun"), counted(monkeypatch, StreamWatch, "look")
    said = Said(200, (("content-type", "text/event-stream"),), (b"data: x\n\n",) * 50)
    with RecordingUpstream(lambda _: said) as behind, standing(tmp_path, behind.url) as gateway:
        assert gateway.ask("/v1/messages", {"messages": [], "stream": True}).body == b"data: x\n\n" * 50
    assert len(looked) == 1
    assert not later
