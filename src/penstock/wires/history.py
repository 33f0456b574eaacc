"""What was said, and what of it is still shown? A history that only grows; forgetting is an edit, and the original stays.

Laws: a visible result has its call; an edit never touches a neighbour, a signature, an id or a role. Keeps out: what should be
forgotten (compaction), and where the whole is kept (a handle is only carried).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

from penstock.errors import CallerError
from penstock.text import stand_ins
from penstock.text.json_access import copied, string
from penstock.text.json_access import field as field_of
from penstock.wires import placeholders
from penstock.wires.entries import Entry, Opaque, Reasoning, Text, ToolResult, Turn
from penstock.wires.portable import Instruction, portable_turns
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.text.json_access import Json
    from penstock.wires.entries import Role, ToolCall
    from penstock.wires.portable import PortableTurn

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """The result of a call is shown as `text`; the whole can be had under `handle`."""

    index: int
    call_id: str
    text: str
    handle: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Collapsed:
    """The entries from `first` to `last` are shown as a note: a line, a structural summary or one by a model."""

    first: int
    last: int
    note: str
    handle: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """The entry stays as it is."""

    index: int


Edit = Cleared | Collapsed | Pinned
_EDITS: dict[str, type[Cleared | Collapsed | Pinned]] = {"cleared": Cleared, "collapsed": Collapsed, "pinned": Pinned}


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """The messages of one conversation on one wire. A value: what changes it gives a new one.

    `entries` holds everything that was ever said, `edits` what was forgotten since; `visible()` is the one under the other.
    `system` and `tools` are the request's own fields, carried as they are.
    """

    wire: str
    entries: tuple[Entry, ...] = ()
    edits: tuple[Edit, ...] = ()
    system: Json = None
    tools: Json = field(default=None, repr=False)

    # ── growing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def append(self, *messages: Json) -> Transcript:
        """With these messages or items of the same wire at the end."""
        read = wire_named(self.wire).codec.read
        made = list(self.entries)
        for raw in copied(list(messages)):
            place = len(made)
            role, parts = read(raw, made[-1].raw if made else None)
            made.append(Entry(index=place, last_index=place, wire=self.wire, role=role, parts=parts, raw=raw))
        grown = replace(self, entries=tuple(made))
        shown = self.__dict__.get("_visible")
        if (
            shown and not shown[-1].is_note and shown[-1].role != "system"
        ):  # a note's neighbours decide how it is written
            grown.__dict__["_visible"] = shown + grown.entries[len(self.entries) :]
        return grown

    def replace_result(self, index: int, call_id: str, text: str, handle: str | None = None) -> Transcript:
        """With `text` in place of a call's result in the entry at `index`: id, role, error mark and neighbours stay."""
        return self.replace_results([Cleared(index=index, call_id=call_id, text=text, handle=handle)])

    def replace_results(self, cleared: Iterable[Cleared]) -> Transcript:
        """The same for many at once. `CallerError` for a result that is not shown, is pinned, or cannot be text."""
        wanted = tuple(cleared)
        shown = {entry.index: entry for entry in self.visible() if not entry.is_note}
        for edit in wanted:
            entry = shown.get(edit.index)
            found = [] if entry is None else [part for part in entry.results if part.call_id == edit.call_id]
            if entry is None or not found:
                raise CallerError(f"entry {edit.index} shows no result of call {edit.call_id!r}")
            if entry.pinned or not all(part.is_clearable for part in found):
                raise CallerError(f"the result of call {edit.call_id!r} in entry {edit.index} has to stay as it is")
        return replace(self, edits=self.edits + wanted)

    def drop_span(self, first: int, last: int, note: str, handle: str | None = None) -> Transcript:
        """With a note in place of the entries from `first` to `last`, which are whole turns; older notes in it go too.

        `CallerError` where the span cuts a turn, or holds what has to stay: see `protected`.
        """
        if not note.strip():
            raise CallerError("a span is left out with a note that says something")
        turns = [turn for turn in self.turns() if turn.first <= last and turn.last >= first]
        if not turns or turns[0].first != first or turns[-1].last != last:
            raise CallerError(f"the entries from {first} to {last} are no whole turns")
        if kept := sorted(index for index in self.protected() if first <= index <= last):
            raise CallerError(
                f"entry {kept[0]} has to stay: an instruction, the task, the newest user message or a pin"
            )
        return replace(self, edits=(*self.edits, Collapsed(first=first, last=last, note=note, handle=handle)))

    def pin(self, index: int) -> Transcript:
        """With the entry at `index` kept as it is from now on."""
        if not any(entry.index == index and not entry.is_note for entry in self.visible()):
            raise CallerError(f"entry {index} is not shown")
        return replace(self, edits=(*self.edits, Pinned(index=index)))

    def afresh(self, text: str, *, newest: bool = True) -> Transcript:
        """A new transcript: the instructions and tools of this one, `text` as its first message, the user's newest words.

        Without these it waits for the user's next.
        """
        write = wire_named(self.wire).codec.text_message
        begun = replace(self, entries=(), edits=()).append(*(e.raw for e in self.entries if e.role == "system"))
        begun = begun.append(write("user", text), write("assistant", placeholders.NOTED))
        last = self.newest_user() if newest else None
        if last is None:
            return begun
        # Some wires put results into the user's message; their calls are gone.
        return begun.append(wire_named(self.wire).codec.without_results(last.raw) if last.results else last.raw)

    # ── what is shown ────────────────────────────────────────────────────────────────────────────────────────────

    def visible(self) -> tuple[Entry, ...]:
        """The entries as a request shows them, in their order; `index` still names the original."""
        return self._visible

    @cached_property
    def _visible(self) -> tuple[Entry, ...]:
        if not self.edits:
            return self.entries
        shown: list[Entry | Collapsed | None] = list(self.entries)
        for edit in self.edits:
            match edit:
                case Collapsed():
                    shown[edit.first : edit.last + 1] = [edit, *[None] * (edit.last - edit.first)]
                case Cleared():
                    shown[edit.index] = self._cleared(shown[edit.index], edit)
                case Pinned():
                    entry = shown[edit.index]
                    shown[edit.index] = replace(entry, pinned=True) if isinstance(entry, Entry) else entry
        return tuple(self._with_notes([item for item in shown if item is not None]))

    def _cleared(self, entry: Entry | Collapsed | None, edit: Cleared) -> Entry | Collapsed | None:
        if not isinstance(entry, Entry):
            return entry
        codec = wire_named(self.wire).codec
        before = self.entries[edit.index - 1].raw if edit.index else None
        raw = codec.with_result(entry.raw, edit.call_id, edit.text, before)
        return replace(entry, raw=raw, parts=codec.read(raw, before)[1])

    def _with_notes(self, shown: list[Entry | Collapsed]) -> list[Entry]:
        """Notes as messages that keep roles alternating where they did, without a change to any neighbour."""
        made: list[Entry] = []
        for place, item in enumerate(shown):
            if isinstance(item, Entry):
                made.append(item)
                continue
            if place and isinstance(shown[place - 1], Collapsed):
                continue  # written with the first of the row
            row = [item]
            for following in shown[place + 1 :]:
                if isinstance(following, Entry):
                    break
                row.append(following)
            before = next((_speaker(entry) for entry in reversed(made) if entry.role != "system"), None)
            rest = (entry for entry in shown[place + len(row) :] if isinstance(entry, Entry))
            after = next((_speaker(entry) for entry in rest if entry.role != "system"), None)
            made += self._notes(row, before, after)
        return made

    def _notes(self, row: list[Collapsed], before: str | None, after: str | None) -> list[Entry]:
        text = "\n".join(edit.note for edit in row).strip()
        said: list[tuple[Role, str]] = [("user", text)]
        if before == "user" and after == "user":
            said = [("assistant", text)]
        elif before == "user":
            said = [("assistant", placeholders.LEFT_OUT), *said]
        elif after == "user":
            said = [*said, ("assistant", placeholders.NOTED)]
        return [
            Entry(
                index=row[0].first,
                last_index=row[-1].last,
                wire=self.wire,
                role=role,
                parts=(Text(words),),
                raw=wire_named(self.wire).codec.text_message(role, words),
                is_note=True,
            )
            for role, words in said
        ]

    # ── what belongs together ────────────────────────────────────────────────────────────────────────────────────

    def turns(self) -> tuple[Turn, ...]:
        """What is visible, in pieces that are kept or left out whole."""
        return self._turns

    @cached_property
    def _turns(self) -> tuple[Turn, ...]:
        shown = self.visible()
        ends = _ends(shown)
        made: list[Turn] = []
        start = 0
        while start < len(shown):
            end, reached = start, ends[start]
            while end < reached:
                end += 1
                reached = max(reached, ends[end])
            made.append(Turn(kind=_kind(shown[start]), entries=shown[start : reached + 1]))
            start = reached + 1
        spoke = self.newest_user()
        return tuple(_with_their_reasoning(made, -1 if spoke is None else spoke.index))

    def task(self) -> Entry | None:
        """The first message of the user, as it was said."""
        return next((entry for entry in self.entries if entry.speaks), None)

    def newest_user(self) -> Entry | None:
        """The last message in which the user speaks, as it was said."""
        return next((entry for entry in reversed(self.entries) if entry.speaks), None)

    def protected(self) -> frozenset[int]:
        """The entries that no span may hold: instructions, the task, the newest user message, pins."""
        kept = {entry.index for entry in self.visible() if entry.pinned or entry.role == "system"}
        kept |= {entry.index for entry in (self.task(), self.newest_user()) if entry is not None}
        return frozenset(kept)

    def handles(self) -> tuple[str, ...]:
        """Every handle under which something forgotten can be had, oldest first."""
        return tuple(edit.handle for edit in self.edits if not isinstance(edit, Pinned) and edit.handle is not None)

    # ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────

    def to_dict(self) -> dict[str, Json]:
        """As JSON for the journal; `from_dict` gives an equal transcript."""
        names = {kind: name for name, kind in _EDITS.items()}
        return {
            "schema": SCHEMA,
            "wire": self.wire,
            "system": copied(self.system),
            "tools": copied(self.tools),
            "messages": copied([entry.raw for entry in self.entries]),
            "edits": [
                {"edit": names[type(edit)], **{key: getattr(edit, key) for key in edit.__slots__}}
                for edit in self.edits
            ],
        }

    @classmethod
    def from_dict(cls, value: dict[str, Json]) -> Transcript:
        """The transcript that `to_dict` wrote; `CallerError` for another schema or what is no transcript."""
        if not isinstance(value, dict) or value.get("schema") != SCHEMA:
            raise CallerError(f"no transcript of schema {SCHEMA}")
        try:
            edits = tuple(
                _EDITS[edit["edit"]](**{k: v for k, v in edit.items() if k != "edit"}) for edit in value["edits"]
            )
            made = cls(wire=value["wire"], system=copied(value["system"]), tools=copied(value["tools"]))
            read = replace(made.append(*value["messages"]), edits=edits)
            read.visible()  # an edit of an entry that is not there shows now
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise CallerError(f"this is no transcript that was written whole: {error}") from error
        return read


def result_messages(wire: str, returned: Iterable[tuple[ToolCall, str, bool]]) -> list[Json]:
    """Return the messages that answer calls, each given as the call, the text of its result, and whether it failed."""
    rows = list(returned)
    results = [ToolResult(call_id=call.id, text=text, is_error=failed) for call, text, failed in rows]
    return wire_named(wire).codec.result_messages(results, [call for call, _, _ in rows])


def text_message(wire: str, role: Literal["user", "assistant"], text: str) -> Json:
    """Return a message of nothing but words."""
    return wire_named(wire).codec.text_message(role, text)


def load(messages: list[Json] | str, wire: str, *, system: Json = None, tools: Json = None) -> Transcript:
    """Return the transcript of a message list, valid or not.

    Our own notes in it, from an earlier compaction, are notes again: nobody's words.

    Args:
        messages: the list, or a text where the wire takes one in its place.
        wire: the name of the wire.
        system: the request's own instructions, where they stand beside the messages; carried along.
        tools: the request's own tools; carried along.

    Raises:
        CallerError: for a wire that is none, and for messages that are no list.
    """
    wire_named(wire)
    if isinstance(messages, str):
        messages = [wire_named(wire).codec.text_message("user", messages)]
    if not isinstance(messages, list):
        raise CallerError(f"messages are a list, not {type(messages).__name__}")
    read = Transcript(wire=wire, system=copied(system), tools=copied(tools)).append(*messages)
    entries = [replace(entry, is_note=True) if stand_ins.is_note(entry.text) else entry for entry in read.entries]
    return replace(read, entries=tuple(entries))


def dump(transcript: Transcript, wire: str) -> list[Json]:
    """Return the message list of what is visible: on its own wire byte for byte, on another one converted.

    What another wire has no place for is named in its place; reasoning means nothing there and is left out.
    """
    target = wire_named(wire).codec
    if wire == transcript.wire:
        return cast("list[Any]", copied([entry.raw for entry in transcript.visible()]))
    return target.write(_turns_of(transcript)).messages


def system_of(transcript: Transcript, wire: str) -> Json:
    """Return what goes beside `dump(transcript, wire)` as the request's instructions; None where they are messages."""
    target = wire_named(wire).codec
    if wire == transcript.wire:
        return copied(transcript.system)
    return target.write(_turns_of(transcript)).system


def _turns_of(transcript: Transcript) -> list[PortableTurn]:
    turns = portable_turns(transcript.visible())
    if transcript.system is None:
        return turns
    text = wire_named(transcript.wire).codec.read_system(transcript.system)
    return [Instruction(text), *turns] if text.strip() else turns


def _speaker(entry: Entry) -> Literal["user", "assistant"]:
    return "assistant" if entry.role == "assistant" else "user"


def _kind(entry: Entry) -> Literal["system", "user", "assistant", "note"]:
    if entry.is_note:
        return "note"
    return "user" if entry.role == "tool" else entry.role


def _ends(shown: tuple[Entry, ...]) -> list[int]:
    """For each entry the last one that it cannot be parted from: of an assistant's run, of the results of its calls."""
    ends = list(range(len(shown)))
    callers: dict[str, int] = {}
    for place, entry in enumerate(shown):
        if place:
            before = shown[place - 1]
            same_run = entry.role == before.role == "assistant" and entry.is_note == before.is_note
            if same_run or (entry.is_note and before.is_note and entry.index == before.index):
                ends[place - 1] = place
        for asked in _asked(entry):
            callers[asked] = place
        for answered in _answered(entry):
            if (caller := callers.get(answered)) is not None:
                ends[caller] = max(ends[caller], place)
    return ends


def _asked(entry: Entry) -> list[str]:
    """The ids under which results can come: of calls, and of what the provider itself runs."""
    running = [string(field_of(part.raw, "id")) for part in entry.parts if isinstance(part, Opaque)]
    return [call.id for call in entry.calls] + [call for call in running if call]


def _answered(entry: Entry) -> list[str]:
    """The ids that its results name."""
    returned = [string(field_of(part.raw, "tool_use_id")) for part in entry.parts if isinstance(part, Opaque)]
    return [result.call_id for result in entry.results] + [call for call in returned if call]


def _with_their_reasoning(turns: list[Turn], since: int) -> list[Turn]:
    """A step without reasoning of its own that goes on with a tool loop stays with the step whose signed reasoning led to it.

    Only in the loop that goes on since the user spoke last: of those before it providers look at no reasoning.
    """
    made: list[Turn] = []
    for turn in turns:
        last = made[-1] if made and turn.first > since else None
        goes_on = last is not None and last.kind == turn.kind == "assistant" and not any(e.speaks for e in last.entries)
        if last is not None and goes_on and any(e.is_signed for e in last.entries) and not _reasons(turn):
            made[-1] = Turn(kind="assistant", entries=last.entries + turn.entries)
        else:
            made.append(turn)
    return made


def _reasons(turn: Turn) -> bool:
    return any(isinstance(part, Reasoning) and part.signed for entry in turn.entries for part in entry.parts)
