"""Are packed requests read, and passed on packed if nothing in them changes (W-1, W-4)?"""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from penstock.gateway.provider import Windows
from tests.gateway.standing import RecordingUpstream, Said, standing
from tests.gateway.stories import body_of, story

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable

ANSWER = b'{"content": [{"type": "text", "text": "So."}], "usage": {"input_tokens": 5}}'
PACKINGS = [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstd.compress), ("GZIP", gzip.compress)]


@pytest.mark.proves("W-1", "W-4")
@pytest.mark.parametrize(("coding", "pack"), PACKINGS, ids=[name for name, _ in PACKINGS])
def test_a_packed_request_is_read_and_passes_packed(coding: str, pack: Callable[[bytes], bytes], tmp_path: Any) -> None:
    """It is unchanged if it fits; otherwise it is sent plain and cut, never with both encodings."""
    small, large = ({**body_of("anthropic", story(turns)), "model": "m"} for turns in (1, 30))
    with (
        RecordingUpstream(lambda _: Said(parts=(ANSWER,))) as behind,
        standing(tmp_path, behind.url, windows=Windows((("m", 8_000),))) as gateway,
    ):
        headers = {"content-type": "application/json", "x-api-key": "k", "content-encoding": coding}
        sent: list[bytes] = []
        for body in (small, large):
            sent.append(pack(json.dumps(body).encode()))  # once: gzip writes the time
            assert gateway.post("/v1/messages", sent[-1], headers).status == 200
        kept, cut = behind.came
        assert kept.body == sent[0]
        assert ("content-encoding", coding) in [(name.lower(), value) for name, value in kept.headers]
        assert json.loads(cut.body)["messages"][0] == large["messages"][0]
        assert len(cut.body) < len(json.dumps(large)) / 2
        assert "content-encoding" not in [name.lower() for name, _ in cut.headers]


@pytest.mark.proves("W-1", "W-8")
def test_a_request_that_cannot_be_unpacked_passes(tmp_path: Any) -> None:
    """A request that is damaged, claims too much, or is packed twice or unknown is left to the provider."""
    whole = gzip.compress(json.dumps(body_of("anthropic", story(30))).encode())
    bomb = gzip.compress(json.dumps(body_of("anthropic", story(30))).encode() + b" " * (33 << 20))
    cases = [("gzip", whole[:-9]), ("gzip", bomb), ("gzip", whole + whole), ("br", whole), ("gzip, gzip", whole)]
    with (
        RecordingUpstream(lambda _: Said()) as behind,
        standing(tmp_path, behind.url, windows=Windows((("m", 8_000),))) as gateway,
    ):
        for coding, body in cases:
            headers = {"content-type": "application/json", "content-encoding": coding}
            assert gateway.post("/v1/messages", body, headers).status == 200
        assert [came.body for came in behind.came] == [body for _, body in cases]


@pytest.mark.proves("W-1", "W-4")
def test_a_mark_of_utf_8_before_a_request_is_read_over(tmp_path: Any) -> None:
    """It passes if nothing is cut, and is not put in front of what is rewritten."""
    small, large = (b"\xef\xbb\xbf" + json.dumps(body_of("anthropic", story(turns))).encode() for turns in (1, 30))
    with (
        RecordingUpstream(lambda _: Said(parts=(ANSWER,))) as behind,
        standing(tmp_path, behind.url, windows=Windows((("m", 8_000),))) as gateway,
    ):
        for body in (small, large):
            assert gateway.post("/v1/messages", body).status == 200
    kept, cut = behind.came
    assert kept.body == small
    assert json.loads(cut.body)["messages"]
    assert len(cut.body) < len(large) / 2
