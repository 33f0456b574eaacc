"""Batches of calls that the next message of the user answers: who answers whom, checked and mended, for wires of that form.

On such a wire a message of the assistant holds one or more calls, and the message behind it is the user's and holds the result of
each. `BatchForm` says how a wire writes that; checking and mending are the same for all of them.

Mending is two passes. The first goes from the end and finds which result each call gets; the second goes from the beginning and
writes the rows, with each call's results in the message right behind it. Nothing is searched for twice.

Laws: a result goes to the nearest call before it; the work grows with the list, not with its square. Keeps out: every other rule
of a wire.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from penstock.text.json_access import blocks, role_of
from penstock.wires.draft import orphan_text, with_blocks
from penstock.wires.message_list import Pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.text.json_access import Json
    from penstock.wires.draft import RepairDraft, RepairStep
    from penstock.wires.message_list import Finding, MessageList

UNNAMED = "function:"
"""What the id of a call begins with that has none on its wire: name and place stand in for it, in one batch only."""


class BlockPlace(NamedTuple):
    """A call or a result: which block of its message it is, and the id that pairs it."""

    block: int
    call_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchForm:
    """How a wire writes batches of calls."""

    content_key: str
    """The key of a message's blocks."""
    assistant: str
    """The role of the messages that call."""
    calls: Callable[[Json], list[BlockPlace]]
    """The calls of an assistant's message."""
    results: Callable[[Json, Json], list[BlockPlace]]
    """The results in a user's message, given the assistant's message that they answer, or None."""
    closing: Callable[[Json, str], Json]
    """The block that closes a call of that id of which no result is known, given the call's block."""
    text: Callable[[str], Json]
    """A block of words."""
    result_text: Callable[[Json], str]
    """The words of a result's block."""
    ids_are_unique: bool
    """Whether an id may never be used again, rather than not in the same batch."""
    joins_turns: bool = False
    """Whether messages of one role in a row are checked as one: where roles alternate, that they do not is its own finding."""

    def is_assistants(self, message: Json) -> bool:
        """Whether a message is the assistant's."""
        return role_of(message) == self.assistant

    def blocks(self, message: Json) -> list[dict[str, Json]]:
        """Return the blocks of a message; content that is a text is one block."""
        return blocks(message.get(self.content_key)) if isinstance(message, dict) else []


def batch_pairs(form: BatchForm) -> Callable[[MessageList], Pairs]:
    """Return the function that holds the calls of a list against its results, for a wire that writes batches as `form` says."""

    def look(seen: MessageList) -> Pairs:
        # `ever` holds ids of the whole list, `asked` those that are open now, `answered` those of them that have a result.
        pairs, ever = Pairs(), dict[str, int]()
        asked: dict[str, int] = {}
        answered: set[str] = set()
        caller: Json = None
        turn = ""
        for index, message in enumerate(seen.messages):
            if not isinstance(message, dict):
                continue
            is_assistants, role = form.is_assistants(message), role_of(message)
            # The calls of a message before can no longer be answered, unless both are one turn.
            if is_assistants and not (form.joins_turns and turn == role):
                pairs.close(asked, answered)
                asked, answered = {}, set()
            if is_assistants:
                caller = message
                for _, call in form.calls(message):
                    known = ever if form.ids_are_unique else asked
                    pairs.ask(index, call, known)
                    if known[call] == index:  # an id that was used before is a finding, and waits for no second result
                        asked[call] = index
            else:
                for _, call in form.results(message, caller):
                    pairs.answer(index, call, asked, answered)
                if not form.joins_turns:
                    pairs.close(asked, answered)
                    asked, answered, caller = {}, set(), None
            # A system message is nobody's turn.
            turn = role if is_assistants or role == "user" else turn
        pairs.close(asked, answered)
        return pairs

    return look


def bad_ids(form: BatchForm, allowed: str) -> Callable[[MessageList], Iterator[Finding]]:
    """Return the check that finds every call whose id is not made as the wire demands.

    Args:
        form: how the wire writes batches.
        allowed: a regular expression for a whole id.
    """

    def check(seen: MessageList) -> Iterator[Finding]:
        for index, message in enumerate(seen.messages):
            for _, call in form.calls(message) if isinstance(message, dict) and form.is_assistants(message) else ():
                if re.fullmatch(allowed, call) is None:
                    yield index, call

    return check


def mend_ids(form: BatchForm, allowed: str, renamed: Callable[[Json, str], Json], max_chars: int = 64) -> RepairStep:
    """Return the repair that gives calls whose id the wire refuses a new one, and their results the same.

    Args:
        form: how the wire writes batches.
        allowed: a regular expression for a whole id.
        renamed: the block of a call or a result under another id.
        max_chars: how long the new id may be.
    """

    def mend(draft: RepairDraft) -> None:
        places = [
            (form.calls if form.is_assistants(message) else _all_results(form))(message) for _, message in draft.rows
        ]
        ids = dict.fromkeys(place.call_id for row in places for place in row)
        bad = [call for call in ids if re.fullmatch(allowed, call) is None]
        names: dict[str, str] = {}
        for call in bad:
            plain = re.sub(r"[^a-zA-Z0-9_-]", "_", call)[: max_chars - 8]
            number = 1
            while (name := plain if number == 1 else f"{plain}_{number}") in ids:
                number += 1
            names[call] = name
            ids[name] = None
        if not names:
            return
        rows: list[tuple[int, Json]] = []
        for (place, message), row in zip(draft.rows, places, strict=True):
            held, mended = form.blocks(message), message
            wanted = {number: names[call] for number, call in row if call in names}
            if wanted:
                draft.note(place, f"gave calls an id that the provider takes ({len(wanted)})")
                written = [renamed(block, wanted[n]) if n in wanted else block for n, block in enumerate(held)]
                mended = {**message, form.content_key: written}
            rows.append((place, mended))
        draft.rows = rows

    return mend


def _all_results(form: BatchForm) -> Callable[[Json], list[BlockPlace]]:
    """Return the function that finds the results of a message that name their call themselves."""
    return lambda message: form.results(message, None)


def pair_batches(form: BatchForm) -> Callable[[RepairDraft], None]:
    """Return the repair that puts behind each message with calls one of the user that begins with their results."""
    return lambda draft: _Pairing(form, draft).mend()


class _Pairing:
    """One repair of one list: which result goes to which call is decided before any row is written."""

    def __init__(self, form: BatchForm, draft: RepairDraft) -> None:
        # The rows as they were: places in `claimed` and `taken` are places in them, whatever is written meanwhile.
        self._form, self._draft, self._before = form, draft, draft.rows
        self._blocks = [form.blocks(message) for _, message in draft.rows]
        self._results = self._places_of_results()
        self._claimed = self._first_results()
        self._taken = {place for found in self._claimed.values() for place in found.values()}
        self._answers: dict[str, list[Json]] = {}
        """The results that calls of each id have got so far."""

    def mend(self) -> None:
        """Write the rows of the draft anew, each call's results in front of the message behind it, or in one that is added."""
        form, draft = self._form, self._draft
        rows: list[tuple[int, Json]] = []
        open_results: list[Json] = []  # of the calls just before, not yet in a message
        for at, (place, message) in enumerate(self._before):
            is_systems = role_of(message) == "system"
            if not form.is_assistants(message) and not is_systems:
                # The user's message that the calls before it wait for, and what it holds beside results that went to their calls.
                kept = [*open_results, *self._others(at, place, message)]
                open_results = []
                if kept:
                    rows.append((place, with_blocks(message, form.content_key, kept)))
                continue
            # None came: the results get a message of their own, with -1 as its place since nobody sent it.
            if open_results:
                rows.append((-1, self._users(open_results)))
            if is_systems:
                rows.append((place, message))
                open_results = []
                continue
            caller = self._without_repeated_ids(place, message)
            open_results = self._answered(at, place, caller)
            if form.blocks(caller):
                rows.append((place, caller))
        draft.rows = [*rows, (-1, self._users(open_results))] if open_results else rows

    def _places_of_results(self) -> list[list[BlockPlace]]:
        """Return the results of each row; one without an id is told by the calls before it, however far back they stand."""
        caller: Json = None
        found: list[list[BlockPlace]] = []
        for _, message in self._before:
            if self._form.is_assistants(message):
                caller = message if self._form.calls(message) else caller
                found.append([])
            else:
                found.append(self._form.results(message, caller))
        return found

    def _first_results(self) -> dict[int, dict[str, tuple[int, int]]]:
        """Return for each message with calls where the first result of each id stands before that id is called again."""
        # One pass from the end. `behind` holds the nearest result of each id behind the row; a message that calls an id takes it
        # away, so that what a call claims is no longer there for the calls before it. Where ids are unique only the first call
        # of an id may claim: a later one is a repetition, and is dropped.
        first = self._first_callers() if self._form.ids_are_unique else {}
        claimed: dict[int, dict[str, tuple[int, int]]] = {}
        behind: dict[str, tuple[int, int]] = {}
        for at in range(len(self._before) - 1, -1, -1):
            message = self._before[at][1]
            for number, call in reversed(self._results[at]):
                behind[call] = at, number
            if self._form.is_assistants(message):
                ids = dict.fromkeys(call for _, call in self._form.calls(message))
                claimed[at] = {call: behind.pop(call) for call in ids if call in behind and first.get(call, at) == at}
        return claimed

    def _first_callers(self) -> dict[str, int]:
        """Return the row that uses each id first: a later call of that id is dropped and claims nothing."""
        first: dict[str, int] = {}
        for at, (_, message) in enumerate(self._before):
            for _, call in self._form.calls(message) if self._form.is_assistants(message) else ():
                first.setdefault(call, at)
        return first

    def _without_repeated_ids(self, place: int, message: Json) -> Json:
        """Return the message without calls whose id was used before."""
        seen: set[str] = set()
        repeated: set[int] = set()
        for number, call in self._form.calls(message):
            if call in seen or (self._form.ids_are_unique and call in self._answers):
                self._draft.note(place, f"dropped a call that repeats the id {call!r}")
                repeated.add(number)
            seen.add(call)
        if not repeated:
            return message
        kept = [block for number, block in enumerate(self._form.blocks(message)) if number not in repeated]
        return {**message, self._form.content_key: kept}

    def _answered(self, at: int, place: int, caller: Json) -> list[Json]:
        """Return the results of a message's calls, in the order in which they stand; a call without one is closed."""
        calls = self._form.calls(caller)
        found, blocks = self._claimed[at], self._form.blocks(caller)
        results: list[Json] = []
        for where, call in sorted((where, call) for call, where in found.items()):
            if where[0] != at + 1:
                self._draft.note(self._before[where[0]][0], f"moved the result of {call!r} to its call")
            elif not self._is_in_front(*where):
                self._draft.note(self._before[where[0]][0], "put the results first")
            results.append(self._blocks[where[0]][where[1]])
            self._answers.setdefault(call, []).append(results[-1])
        for number, call in calls:
            if call not in found:
                self._draft.note(place, f"closed call {call!r} with a result that says there is none")
                results.append(self._form.closing(blocks[number], call))
                self._answers.setdefault(call, []).append(results[-1])
        return results

    def _is_in_front(self, at: int, number: int) -> bool:
        """Whether nothing but results stands before a result: then it is the result of its own number."""
        results = self._results[at]
        return number < len(results) and results[number].block == number

    def _others(self, at: int, place: int, message: Json) -> list[Json]:
        """Return what a user's message holds beside the results that went to their calls."""
        ids = dict(self._results[at])
        rest: list[Json] = []
        for number, block in enumerate(self._form.blocks(message)):
            call = ids.get(number)
            if call is None:
                rest.append(block)
            elif (at, number) in self._taken:
                continue
            elif self._is_repeated(call, block):
                self._draft.note(place, f"dropped a second result of {call!r}")
            elif (words := orphan_text(self._draft, place, self._form.result_text(block))) is not None:
                rest.append(self._form.text(words))
        return rest

    def _is_repeated(self, call: str, block: Json) -> bool:
        """Whether a result that no call claimed has one before it: of its id, or word for word where calls have no ids."""
        earlier = self._answers.get(call, [])
        return block in earlier if call.startswith(UNNAMED) else bool(earlier)

    def _users(self, blocks: list[Json]) -> Json:
        return {"role": "user", self._form.content_key: blocks}
