"""Does reading a body with what was read of an earlier one give the same as reading it whole (W-1, W-9)?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.gateway import known_bodies
from penstock.gateway.known_bodies import KnownBodies
from penstock.text.json_access import parsed

if TYPE_CHECKING:
    from collections.abc import Callable

_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=12)
    | st.sampled_from([1.5, "messages", "]}", '"[', "\u00e9\U0001f600"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "messages", "b"]), inner, max_size=3)
    ),
    max_leaves=6,
)
_BLANKS = st.sampled_from(["", " ", "\n", "\t \r\n"])
_ROUNDS = st.lists(
    st.sampled_from(["more", "edited", "shorter", "spoiled", "doubled", "nested"]), min_size=1, max_size=6
)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use chunks of a few bytes, so that short bodies have many."""
    monkeypatch.setattr(known_bodies, "_LEAST_BYTES", 1)
    monkeypatch.setattr(known_bodies, "_CHUNK_BYTES", 8)


def _read(read: Callable[[], tuple[bool, Any]]) -> str:
    """Return the result of reading, including types and order."""
    try:
        return repr(read())
    except UnicodeDecodeError:
        return "no text"


@pytest.mark.proves("W-1")
@given(st.data())
def test_a_body_reads_as_it_would_alone(data: st.DataObject) -> None:
    """Two clients' bodies continue, are edited, cut short, damaged at a byte, or have their messages twice or elsewhere."""
    known = KnownBodies("messages")
    blank, is_ascii = data.draw(_BLANKS), data.draw(st.booleans())
    messages = data.draw(st.lists(_VALUES, max_size=4))
    for kind in data.draw(_ROUNDS):
        if kind == "more":
            messages = [*messages, *data.draw(st.lists(_VALUES, min_size=1, max_size=2))]
        elif kind == "edited" and messages:
            messages = [*messages[:-1], data.draw(_VALUES)]
        elif kind == "shorter":
            messages = messages[: data.draw(st.integers(0, 4))]
        held = f"{blank},{blank}".join(json.dumps(message, ensure_ascii=is_ascii) for message in messages)
        text = f'{blank}{{"model":"m",{blank}"messages"{blank}:{blank}[{blank}{held}{blank}]{blank},"n":1{blank}}}'
        if kind == "doubled":
            text = text.replace(',"n":1', ',"messages":[2]')
        elif kind == "nested":
            text = f'{{"body":{text}}}'
        raw = text.encode("utf-8", "surrogatepass")
        if kind == "spoiled":
            place = data.draw(st.integers(0, len(raw) - 1))
            raw = raw[:place] + data.draw(st.binary(max_size=2)) + raw[place + 1 :]
        owner = data.draw(st.sampled_from(["one", "other"]))
        assert _read(lambda: known.parsed(raw, owner)) == _read(lambda: parsed(raw.decode())), raw  # noqa: B023


def _body(messages: list[Any]) -> bytes:
    return json.dumps({"model": "m", "messages": messages, "tools": [{"name": "t"}]}, ensure_ascii=False).encode()


@pytest.mark.proves("W-1")
def test_a_byte_that_differs_is_seen_wherever_it_stands() -> None:
    """It may be in what was read before or in what is new, in a continued history with multi-byte characters."""
    messages: list[Any] = [{"role": "user", "content": "é\U0001f600"}, 1, 22, "333", [4, 4], {"é": 5}, 61, "é7", 8]
    for place in range(len(_body(messages))):
        known = KnownBodies("messages")
        for raw in (_body(messages[:-2]), _body(messages)):
            other = raw[:place] + b"6" + raw[place + 1 :]
            assert _read(lambda: known.parsed(raw, "one")) == _read(lambda: parsed(raw.decode()))  # noqa: B023
            assert _read(lambda: known.parsed(other, "one")) == _read(lambda: parsed(other.decode())), other  # noqa: B023


@pytest.mark.proves("W-9")
def test_messages_read_before_are_the_same_values_for_one_client_only() -> None:
    """A turn thereby costs only its new content."""
    known = KnownBodies("messages")
    messages: list[Any] = [{"role": "user", "content": f"{number} é"} for number in range(20)]
    _, first = known.parsed(_body(messages), "one")
    _, next_turn = known.parsed(_body([*messages, {"role": "user", "content": "new"}]), "one")
    assert all(old is new for old, new in zip(first["messages"], next_turn["messages"], strict=False))
    _, other = known.parsed(_body(messages), "other")
    assert not any(old is new for old, new in zip(first["messages"], other["messages"], strict=True))


def test_what_is_held_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least recently used body is dropped first; a continued history is held once."""
    monkeypatch.setattr(known_bodies, "MAX_HELD_BYTES", 2_000)
    known = KnownBodies("messages")
    for session in range(4):
        for turns in range(1, 9):
            known.parsed(_body([{"session": session, "text": "x" * 50}] * turns), "one")
    held = [body.messages[0]["session"] for body in known._held]
    assert held == sorted(held)
    assert held[-1] == 3
    assert len(held) == len(set(held)) >= 2
    assert sum(body.ends[-1] for body in known._held) <= 2_000
