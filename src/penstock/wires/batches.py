"""Who answers whom, on wires where the user's next message answers a batch of calls? Checking and mending for all of them.

On such a wire a message of the assistant holds one or more calls, and the message after it is the user's and holds the result of
each. `BatchForm` describes how a wire writes that; checking and mending are the same for all of them.

Mending takes two passes. The first goes backwards and finds which result each call gets; the second goes forwards and writes the
rows, with each call's results in the message right after it. Nothing is searched for twice.

Laws: a result goes to the nearest call before it; the work is linear in the list, not quadratic. Leaves to others: every other rule
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
    from collections.abc import Callable

    from penstock.text.json_access import Json
    from penstock.wires.draft import RepairDraft, RepairStep
    from penstock.wires.message_list import Finding, MessageList

UNNAMED = "function:"
"""The prefix of a call's id if its wire gives it none: name and position stand in for it, within one batch only."""
_ID_CHARS = 64  # Bedrock takes no more


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
    """The block that closes a call of a given id without a known result, given the call's block."""
    text: Callable[[str], Json]
    """A block of words."""
    result_text: Callable[[Json], str]
    """The words of a result's block."""
    ids_are_unique: bool
    """Whether an id may never be reused, instead of just not within its batch."""
    joins_turns: bool = False
    """Whether consecutive messages of one role are checked as one; where roles alternate, their repetition is its own finding."""

    def is_assistants(self, message: Json) -> bool:
        """Whether a message is the assistant's."""
        return role_of(message) == self.assistant

    def blocks(self, message: Json) -> list[dict[str, Json]]:
        """Return the blocks of a message; a text as content is one block."""
        return blocks(message.get(self.content_key)) if isinstance(message, dict) else []


def batch_pairs(form: BatchForm) -> Callable[[MessageList], Pairs]:
    """Return the function that matches the calls of a list with its results, for a wire that writes batches as `form` says."""

    def look(seen: MessageList) -> Pairs:
        # `ever` holds the ids of the whole list, `asked` the currently open ones, `answered` those of them that have a result.
        pairs, ever = Pairs(), dict[str, int]()
        asked: dict[str, int] = {}
        answered: set[str] = set()
        caller: Json = None
        turn = ""
        is_elsewhere = seen.continues  # the calls before the first answer in the list may be in what the provider keeps
        for index, (message, role) in enumerate(zip(seen.messages, seen.roles, strict=True)):
            if not isinstance(message, dict):
                continue
            is_assistants = role == form.assistant
            is_elsewhere = is_elsewhere and not is_assistants
            # The calls of an earlier message can no longer be answered, unless both messages are one turn.
            if is_assistants and not (form.joins_turns and turn == role):
                pairs.close(asked, answered)
                asked, answered = {}, set()
            if is_assistants:
                caller = message
                for _, call in form.calls(message):
                    known = ever if form.ids_are_unique else asked
                    pairs.ask(index, call, known)
                    if known[call] == index:  # a reused id is a finding, and expects no second result
                        asked[call] = index
            else:
                for _, call in form.results(message, caller):
                    if is_elsewhere:
                        asked.setdefault(call, index)
                    pairs.answer(index, call, asked, answered)
                if not form.joins_turns:
                    pairs.close(asked, answered)
                    asked, answered, caller = {}, set(), None
            # A system message is nobody's turn.
            turn = role if is_assistants or role == "user" else turn
        pairs.close(asked, answered)
        return pairs

    return look


def bad_ids(look: Callable[[MessageList], Pairs], allowed: str) -> Callable[[MessageList], list[Finding]]:
    """Return the check that finds every call whose id does not have the form that the wire demands.

    Args:
        look: how the wire matches calls with results.
        allowed: a regular expression for a whole id.
    """
    is_allowed = re.compile(allowed).fullmatch
    return lambda seen: [(index, call) for index, call in seen.once(look).calls if not is_allowed(call)]


def mend_ids(form: BatchForm, allowed: str, renamed: Callable[[Json, str], Json]) -> RepairStep:
    """Return the repair that gives calls whose id the wire refuses a new id, and their results the same one.

    Args:
        form: how the wire writes batches.
        allowed: a regular expression for a whole id.
        renamed: returns the block of a call or a result under another id.
    """

    def mend(draft: RepairDraft) -> None:
        places = [
            (form.calls if form.is_assistants(message) else _all_results(form))(message) for _, message in draft.rows
        ]
        ids = dict.fromkeys(place.call_id for row in places for place in row)
        bad = [call for call in ids if re.fullmatch(allowed, call) is None]
        names: dict[str, str] = {}
        for call in bad:
            plain = re.sub(r"[^a-zA-Z0-9_-]", "_", call)[: _ID_CHARS - 8]
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
    """Return the repair that puts a user message that begins with their results after each message with calls."""
    return lambda draft: _Pairing(form, draft).mend()


class _Pairing:
    """One repair of one list: which result goes to which call is decided before any row is written."""

    def __init__(self, form: BatchForm, draft: RepairDraft) -> None:
        # The original rows: positions in `claimed` and `taken` refer to them, whatever is written meanwhile.
        self._form, self._draft, self._before = form, draft, draft.rows
        self._blocks = [form.blocks(message) for _, message in draft.rows]
        self._results = self._places_of_results()
        self._claimed = self._first_results()
        self._taken = {place for found in self._claimed.values() for place in found.values()}
        self._answers: dict[str, list[Json]] = {}
        """The results that calls of each id have received so far."""

    def mend(self) -> None:
        """Rewrite the rows of the draft, with each call's results at the start of the message after it, or in an added one."""
        form, draft = self._form, self._draft
        rows: list[tuple[int, Json]] = []
        # The results of the calls just before that are not yet in a message.
        open_results = self._of_calls_elsewhere() if draft.continues else []
        for at, (place, message) in enumerate(self._before):
            is_systems = role_of(message) == "system"
            if not form.is_assistants(message) and not is_systems:
                # The user's message that the calls before it wait for, and its other content besides results given to their calls.
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
        """Return the results of each row; one without an id is identified by the calls before it, however far back they are."""
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
        """Return for each message with calls where the first result of each id is before that id is called again."""
        # One backward pass. `behind` holds the nearest result of each id after the row; a message that calls an id removes it, so
        # that earlier calls cannot claim what a later call claimed. If ids are unique, only the first call of an id may claim: a
        # later one is a repetition and is dropped.
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

    def _of_calls_elsewhere(self) -> list[Json]:
        """Return the results before the first message of the assistant: the calls that they answer are kept by the provider."""
        found: list[Json] = []
        for at, (_, message) in enumerate(self._before):
            if self._form.is_assistants(message):
                break
            for number, call in self._results[at]:
                if call not in self._answers:
                    self._taken.add((at, number))
                    self._answers[call] = [self._blocks[at][number]]
                    found += self._answers[call]
        return found

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
        """Return the results of a message's calls, in the order in which they are found; a call without one is closed."""
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
        """Whether only results come before a result, so that it is the result of its own number."""
        results = self._results[at]
        return number < len(results) and results[number].block == number

    def _others(self, at: int, place: int, message: Json) -> list[Json]:
        """Return the content of a user's message except the results given to their calls."""
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
        """Whether an unclaimed result repeats an earlier one: by its id, or word for word if calls have no ids."""
        earlier = self._answers.get(call, [])
        return block in earlier if call.startswith(UNNAMED) else bool(earlier)

    def _users(self, blocks: list[Json]) -> Json:
        return {"role": "user", self._form.content_key: blocks}
