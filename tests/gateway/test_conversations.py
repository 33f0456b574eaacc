"""Is a history recognised by what it says, and only for the client that said it (W-2)?"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from penstock.gateway import conversations
from penstock.gateway.conversations import Conversations
from penstock.store import StoreFault, open_store
from penstock.wires import dump, load
from tests.gateway.stories import story

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from penstock.gateway.conversations import KnownHistory
    from penstock.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path}/store.db")
    yield opened
    opened.close()


def messages_of(turns: int, *words: str) -> list[Any]:
    """Return a history with words of the user after the turns."""
    said = [{"role": "user", "content": text} for text in words]
    return dump(load([*story(turns, 300), *said], "openai-chat"), "anthropic")


def recalled(memory: Conversations, messages: list[Any], owner: str = "me") -> KnownHistory:
    return memory.recall(owner, "anthropic", messages, 1_000)


@pytest.mark.proves("W-2")
@pytest.mark.parametrize("process", ["the same", "another"])
def test_a_history_that_went_another_way_has_no_cuts(process: str, store: Store) -> None:
    """One early message differs, and all later ones are the same."""
    memory = Conversations(store)
    known = recalled(memory, messages_of(6))
    memory.remember(known, known.transcript.drop_span(1, 6, "left out"))
    again = memory if process == "the same" else Conversations(store)
    changed = messages_of(6)
    changed[1] = {"role": "assistant", "content": [*changed[1]["content"], {"type": "text", "text": "otherwise"}]}
    assert recalled(again, messages_of(7)).transcript.edits
    assert not recalled(again, changed).transcript.edits
    assert not recalled(again, messages_of(7), "somebody else").transcript.edits


@pytest.mark.proves("W-2")
def test_one_character_of_a_long_text_makes_it_another(store: Store) -> None:
    """Long texts are identified by a digest, and a text that looks like a digest is not taken for one."""
    memory = Conversations(store)
    long = [{"role": "user", "content": "x" * 5_000}, *messages_of(6)[1:]]
    known = recalled(memory, long)
    memory.remember(known, known.transcript.drop_span(1, 6, "left out"))
    assert recalled(Conversations(store), [*long, {"role": "assistant", "content": "more"}]).transcript.edits
    other = [{"role": "user", "content": "x" * 4_999 + "y"}, *long[1:]]
    digest = hashlib.blake2b(b"x" * 5_000, digest_size=16).hexdigest()
    for first in (other[0]["content"], digest, "x" * 4_999):
        again = Conversations(store)
        assert not recalled(again, [{"role": "user", "content": first}, *long[1:]]).transcript.edits


@pytest.mark.proves("W-2")
def test_a_growing_cut_is_kept_once(store: Store) -> None:
    """It contains the cuts of a shorter beginning."""
    memory = Conversations(store)
    first = recalled(memory, messages_of(6))
    memory.remember(first, first.transcript.drop_span(1, 2, "one turn"))
    size = len((store.learned(first.name) or ("", 0))[0])
    second = recalled(memory, messages_of(8))
    assert len(second.transcript.edits) == 1
    memory.remember(second, second.transcript.drop_span(3, 4, "another turn"))
    assert len(recalled(memory, messages_of(8)).transcript.edits) == 2
    assert len((store.learned(first.name) or ("", 0))[0]) < 2.5 * size


@pytest.mark.proves("W-2")
def test_a_client_that_goes_back_sees_what_was_left_out(store: Store) -> None:
    """The newest words of the user, and what was done last, are shown whatever was cut when the conversation was longer."""
    memory = Conversations(store)
    long = messages_of(4, "Now do the second part.") + messages_of(4)[1:] + messages_of(1, "And the third.")[1:]
    known = recalled(memory, long)
    spoken = next(place for place, message in enumerate(long) if "second part" in str(message))
    memory.remember(known, known.transcript.drop_span(1, spoken + 2, "left out"))
    assert recalled(memory, long).transcript.edits
    assert not recalled(memory, long[: spoken + 4]).transcript.edits


class GoingStore:
    """A store that becomes unavailable, for reading and writing or only for writing."""

    def __init__(self, store: Store) -> None:
        self.store, self.away = store, ""
        self.meanwhile: Callable[[], None] | None = None
        """A callback for what happens in another thread while the store is read."""

    def learned(self, name: str) -> Any:
        if self.away == "gone":
            raise StoreFault("unreachable", "The database is away.")
        told = self.store.learned(name)
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        return told

    def learn(self, name: str, value: str) -> None:
        if self.away:
            raise StoreFault("full", "The disk is full.")
        self.store.learn(name, value)


@pytest.mark.proves("W-2")
@pytest.mark.parametrize("away", ["gone", "full"])
def test_cuts_hold_while_the_store_is_away(away: str, store: Store) -> None:
    """Made before or meanwhile, they are the same in each turn of this process, and stored once the store is available again."""
    going = GoingStore(store)
    memory = Conversations(going)  # type: ignore[arg-type]  # no other method of a store is used
    known = recalled(memory, messages_of(6))
    memory.remember(known, known.transcript.drop_span(1, 4, "left out"))
    going.away = away
    known = recalled(memory, messages_of(7))
    assert len(known.transcript.edits) == 1
    more = known.transcript.drop_span(5, 8, "left out too")
    with pytest.raises(StoreFault):
        memory.remember(known, more)
    known = recalled(memory, messages_of(8))
    assert known.transcript.edits == more.edits
    going.away = ""
    memory.remember(known, known.transcript.drop_span(9, 10, "and this"))
    assert len(recalled(Conversations(store), messages_of(9)).transcript.edits) == 3


@pytest.mark.proves("W-2")
def test_a_cut_that_is_made_while_another_turn_is_read_holds(store: Store) -> None:
    """The store is full, so only this process knows of it."""
    going = GoingStore(store)
    memory = Conversations(going)  # type: ignore[arg-type]  # no other method of a store is used
    known = recalled(memory, messages_of(6))
    cut = known.transcript.drop_span(1, 4, "left out")

    def cut_meanwhile() -> None:
        with pytest.raises(StoreFault):
            memory.remember(known, cut)

    going.away, going.meanwhile = "full", cut_meanwhile
    assert recalled(memory, messages_of(7)).transcript.edits == cut.edits
    assert recalled(memory, messages_of(8)).transcript.edits == cut.edits


@pytest.mark.proves("W-8")
def test_what_is_held_of_histories_is_bounded_however_short_they_are(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest are held; one that grows counts once, in its present state."""
    monkeypatch.setattr(conversations, "MAX_HELD_BYTES", 10 * (conversations.MESSAGE_BYTES + 1))
    memory = Conversations(store)
    for number in [*range(40), *[39] * 20]:
        memory.recall("me", "anthropic", [{"role": "user", "content": f"question {number}"}], 1)
        assert len(memory._read) == min(number + 1, 10)


@pytest.mark.proves("W-1")
def test_a_history_is_known_however_deep_its_arguments_are(store: Store) -> None:
    """JSON can be parsed deeper than a Python function can recurse."""
    memory, deep = Conversations(store), json.loads("[" * 800 + "]" * 800)
    messages = messages_of(6)
    messages[1] = {"role": "assistant", "content": [{"type": "tool_use", "id": "call_0", "name": "r", "input": deep}]}
    known = recalled(memory, messages)
    memory.remember(known, known.transcript.drop_span(3, 4, "left out"))
    assert recalled(memory, messages).transcript.edits
