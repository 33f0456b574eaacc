"""What do a client and a server say to each other, in tests of what is between them?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from penstock.relay.conversation import Conversation
from penstock.relay.frames import Lines
from penstock.relay.guarding import Guard
from penstock.store import open_store

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from penstock.store import Store

FLOOD = "".join(f"line {number} of a flood\n" for number in range(5_000))


def request(method: str, number: object = 1, **params: object) -> bytes:
    """Return a request of the older era."""
    return line({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def call(tool: str = "flood", number: object = 1, **arguments: object) -> bytes:
    """Return a call of a tool."""
    return request("tools/call", number, name=tool, arguments=arguments)


def modern(method: str, number: object = 1, client: str = "test", **params: object) -> bytes:
    """Return a request of 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": client, "version": "1"},
    }
    return request(method, number, **params, _meta=meta)


def answer(result: object, number: object = 1) -> bytes:
    """Return an answer."""
    return line({"jsonrpc": "2.0", "id": number, "result": result})


def text_result(*texts: str, **more: object) -> dict[str, Any]:
    """Return a result of texts."""
    return {"content": [{"type": "text", "text": text} for text in texts], **more}


def line(message: object) -> bytes:
    """Return a message as one line, as most servers write it."""
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


class Desk:
    """A conversation with a store, without pipes."""

    def __init__(self, folder: Path | str, budget: int | None = None, client: str | None = None) -> None:
        self.store: Store = open_store(str(folder))
        self.said: list[str] = []
        self.guard = Guard(lambda: self.store, budget, self.said.append)
        self.talk = Conversation(self.guard, client=client)

    def ask(self, raw: bytes) -> bytes:
        """Return what a server gets of a client's message."""
        return self.talk.from_client(raw).forward

    def down(self, parts: Iterable[bytes], max_held_bytes: int = 1 << 20) -> bytes:
        """Return what a client gets of what a server writes."""
        lines = Lines(self.talk.is_plain_for_client, lambda: self.talk.is_idle, max_held_bytes)
        return self._through(lines, parts, self.talk.from_server)

    def up(self, parts: Iterable[bytes], max_held_bytes: int = 1 << 20) -> bytes:
        """Return what a server gets of what a client writes."""
        lines = Lines(self.talk.is_plain_for_server, lambda: False, max_held_bytes)
        return self._through(lines, parts, lambda raw: self.talk.from_client(raw).forward)

    @staticmethod
    def _through(lines: Lines, parts: Iterable[bytes], decide: Any) -> bytes:
        out: list[bytes] = []
        for part in parts:
            out += [decide(frame.raw) if frame.is_message else frame.raw for frame in lines.feed(part)]
        out += [decide(frame.raw) for frame in lines.end()]
        return b"".join(out)

    def result(self, result: object, tool: str = "flood", number: object = 1) -> dict[str, Any]:
        """Return what a client gets if a server answers a call with this result."""
        self.ask(call(tool, number))
        got = json.loads(self.down([answer(result, number)]))["result"]
        assert isinstance(got, dict)
        return got

    def kept(self, handle: str) -> bytes:
        """Return everything behind a handle."""
        return self.store.read(handle, 0, self.store.info(handle).bytes)


# ── hostile JSON ─────────────────────────────────────────────────────────────────────────────────────────────────

_BLANKS = st.sampled_from([b"", b"", b"", b" ", b"\t", b"\r", b"  "])
_CHARACTERS = st.sampled_from(
    [b"a", b"\xc3\xa9", b"\xf0\x9f\x98\x80", b"\\n", b'\\"', b"\\\\", b"\\/", b"\\u00e9", b"\\ud83d\\ude00", b"\\ud83d",
     b"\\udc00", b"\\u0000", b"{", b"}", b"[", b"]", b",", b":", b" ", b"id", b"method"]
)  # fmt: skip
texts_json = st.lists(_CHARACTERS, max_size=40).map(lambda parts: b'"' + b"".join(parts) + b'"')
"""Texts as JSON: escapes of every kind, halves of pairs, brackets and quotes."""
_SCALARS = st.one_of(
    texts_json,
    st.sampled_from(
        [b"0", b"-0", b"1", b"1.0", b"1e400", b"-1E-7", b"123456789012345678901234567890", b"true", b"false", b"null"]
    ),
)
_NAMES = st.sampled_from(
    [b'"a"', b'"id"', b'"result"', b'"method"', b'"content"', b'"tools"', b'"text"', b'"\\u0069d"', b'""', b'"jsonrpc"']
)


@st.composite
def _array(draw: st.DrawFn, values: st.SearchStrategy[bytes]) -> bytes:
    items = [draw(_BLANKS) + item + draw(_BLANKS) for item in draw(st.lists(values, max_size=4))]
    return b"[" + b",".join(items) + (b"" if items else draw(_BLANKS)) + b"]"


@st.composite
def _object(draw: st.DrawFn, values: st.SearchStrategy[bytes]) -> bytes:
    pairs = draw(st.lists(st.tuples(_NAMES, values), max_size=5))
    members = [b"".join([draw(_BLANKS), n, draw(_BLANKS), b":", draw(_BLANKS), v, draw(_BLANKS)]) for n, v in pairs]
    return b"{" + b",".join(members) + (b"" if members else draw(_BLANKS)) + b"}"


values_json = st.recursive(_SCALARS, lambda inner: st.one_of(_array(inner), _object(inner)), max_leaves=12)
"""Any value as JSON: duplicate names, numbers beyond floats, spaces anywhere."""
objects_json = _object(values_json)


def cut_anywhere(raw: bytes, places: list[int]) -> list[bytes]:
    """Return bytes in parts, cut at places of any size."""
    ends = sorted({place % (len(raw) + 1) for place in places})
    return [raw[start:end] for start, end in zip([0, *ends], [*ends, len(raw)], strict=True)]
