"""What was said, and what of it is still shown? A history that only grows; forgetting is an edit, and the original stays.

`entries` are what came, `edits` what was forgotten, in order; `visible()` applies the edits to the entries. So everything that was
ever cut can be recovered, an index keeps its meaning forever, and a journal consists of the two lists.

Forgetting has three consequences. It happens by turns (`turns()`), since a call without its result is refused. What lies under an
earlier note may be left out again, together with its note. And a note is written for its place: roles alternate on some wires, so
a note between two user messages is the assistant's, and may need a second message next to it.

Laws: a visible result has its call; an edit never touches a neighbour, a signature, an id or a role; no method changes the
transcript that it is called on. Leaves to others: what should be forgotten (`context`), and where originals are kept (a handle is
only carried).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

from penstock.errors import CallerError
from penstock.text import stand_ins
from penstock.text.json_access import copied, string, type_of
from penstock.text.json_access import field as field_of
from penstock.wires import placeholders
from penstock.wires.entries import Entry, Opaque, Reasoning, Text, ToolCall, ToolResult, Turn
from penstock.wires.portable import Instruction, portable_turns
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.text.json_access import Json
    from penstock.wires.entries import Part, Role
    from penstock.wires.portable import PortableTurn

SCHEMA = 1
"""The version of what `Transcript.to_dict` writes; any other version is refused, never guessed at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleared:
    """An edit that shows another text in place of a call's result."""

    index: int
    """The entry with the result."""
    call_id: str
    """Which result of that entry; a batch has several."""
    text: str
    """What is shown instead of the result."""
    handle: str | None = None
    """The handle of the original; None if it is not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collapsed:
    """An edit that shows a note in place of adjacent entries."""

    first: int
    """The first entry that is left out."""
    last: int
    """The last entry that is left out, inclusive."""
    note: str
    """What is shown instead: a line, a structural summary or a model's summary."""
    handle: str | None = None
    """The handle of the originals; None if they are not kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """An edit that keeps an entry unchanged from then on."""

    index: int
    """The entry that stays."""


Edit = Cleared | Collapsed | Pinned
"""A single act of forgetting, or of preventing it."""
_EDITS: dict[str, type[Cleared | Collapsed | Pinned]] = {"cleared": Cleared, "collapsed": Collapsed, "pinned": Pinned}


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """The messages of one conversation on one wire. It is a value: every change returns a new one.

    `load` makes one from a message list, `begin` an empty one.
    """

    wire: str
    """The name of the wire on which the messages are written."""
    entries: tuple[Entry, ...] = ()
    """Everything that was ever said, in order."""
    edits: tuple[Edit, ...] = ()
    """What has been forgotten or pinned, in order."""
    system: Json = None
    """The request's own instructions, unchanged, if they are outside the messages; else None."""
    tools: Json = field(default=None, repr=False)
    """The request's own tools, unchanged."""
    reply_schema: Json = field(default=None, repr=False)
    """The form that the request wants its reply to have, unchanged."""

    # ── growing ──────────────────────────────────────────────────────────────────────────────────────────────────

    def append(self, *messages: Json) -> Transcript:
        """Return the transcript with more messages at its end.

        Args:
            messages: messages or items of the same wire, any JSON; they are copied.
        """
        made = list(self.entries)
        for raw in copied(list(messages)):
            made.append(entry_of(raw, self.wire, len(made), made[-1].raw if made else None))
        grown = replace(self, entries=tuple(made))
        shown = self.__dict__.get("_visible")
        # What was shown stays shown, so that a growing history is not processed again at every step; except if a note comes last,
        # whose form depends on who speaks after it.
        if shown and not shown[-1].is_note and shown[-1].role != "system":
            grown.__dict__["_visible"] = shown + grown.entries[len(self.entries) :]
        return grown

    def replace_result(self, index: int, call_id: str, text: str, handle: str | None = None) -> Transcript:
        """Return the transcript showing `text` in place of a call's result: id, role, error mark and neighbours stay.

        Args:
            index: the entry with the result.
            call_id: which of its results.
            text: what is shown instead.
            handle: the handle of the original.

        Raises:
            CallerError: for a result that is not shown, is pinned, or that the wire does not accept as text.
        """
        return self.replace_results([Cleared(index=index, call_id=call_id, text=text, handle=handle)])

    def replace_results(self, cleared: Iterable[Cleared]) -> Transcript:
        """Return the transcript showing other texts in place of many results at once; all of them, or none and an error.

        Raises:
            CallerError: for a result that is not shown, is pinned, or that the wire does not accept as text.
        """
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
        """Return the transcript with a note in place of adjacent entries; older notes among them go too.

        Args:
            first: the first entry that is left out, where a turn begins.
            last: the last one, inclusive, where a turn ends.
            note: what is shown instead; its neighbours determine who says it.
            handle: the handle of the originals.

        Raises:
            CallerError: for an empty note, and for a span that cuts a turn or holds what has to stay (`protected`).
        """
        if not note.strip():
            raise CallerError("a span is left out with a note that says something")
        turns = [turn for turn in self.turns() if turn.first <= last and turn.last >= first]
        if not turns or turns[0].first != first or turns[-1].last != last:
            raise CallerError(f"the entries from {first} to {last} are not whole turns")
        if kept := sorted(index for index in self.protected() if first <= index <= last):
            raise CallerError(
                f"entry {kept[0]} has to stay: an instruction, the task, the newest user message or a pin"
            )
        return replace(self, edits=(*self.edits, Collapsed(first=first, last=last, note=note, handle=handle)))

    def pin(self, index: int) -> Transcript:
        """Return the transcript with an entry kept unchanged from now on.

        Raises:
            CallerError: for an entry that is not shown.
        """
        if not any(entry.index == index and not entry.is_note for entry in self.visible()):
            raise CallerError(f"entry {index} is not shown")
        return replace(self, edits=(*self.edits, Pinned(index=index)))

    def afresh(self, text: str, *, newest: bool = True) -> Transcript:
        """Return a new transcript that begins with `text`: for a session that continues from a handoff.

        Args:
            text: the first message, the user's; a short message of the assistant acknowledges it, so that roles alternate.
            newest: whether the user's newest words follow, verbatim. Without them the transcript waits for the user's next ones.

        Returns:
            A transcript with the instructions and tools of this one, and nothing else of it.
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
        """Return the entries as a request shows them, in order; `index` still names the original.

        Computed once for each transcript, in time linear in its entries and edits.
        """
        return self._visible

    @cached_property
    def _visible(self) -> tuple[Entry, ...]:
        if not self.edits:
            return self.entries
        # Edits apply in the order in which they were made. A span leaves its note at its first position and nothing at the others,
        # so that positions stay those of the entries; a later span over it takes the note with it.
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
        """Return an entry with one result cleared; if it has since been left out, there is nothing to clear."""
        if not isinstance(entry, Entry):
            return entry
        codec = wire_named(self.wire).codec
        before = self.entries[edit.index - 1].raw if edit.index else None
        raw = codec.with_result(entry.raw, edit.call_id, edit.text, before)
        return replace(entry, raw=raw, parts=codec.read(raw, before)[1])

    def _with_notes(self, shown: list[Entry | Collapsed]) -> list[Entry]:
        """Return what is shown with notes as messages: roles alternate where they did, and no neighbour is changed.

        Adjacent notes become one message (or two, see `_notes`); instructions do not count as neighbours, since they take no turn.
        """
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
        """Return the messages of adjacent notes, depending on who speaks before and after them."""
        # Roles have to alternate on some wires, and merging a note into its neighbour would change what was said there:
        #
        #   before     after      written
        #   user       user       the note as the assistant's
        #   user       assistant  the assistant's LEFT_OUT, then the note as the user's
        #   assistant  user       the note as the user's, then the assistant's NOTED
        #   assistant  assistant  the note as the user's
        text = "\n".join(edit.note for edit in row).strip()
        beside: list[tuple[Role, str]] = [("assistant", words) for words in _beside_note(before, after)]
        note: tuple[Role, str] = ("assistant" if before == after == "user" else "user", text)
        said = [*beside, note] if before == "user" else [note, *beside]
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

    def beside_note(self, first: int, last: int) -> tuple[str, ...]:
        """Return the words of the message that a note in place of these entries needs next to it, so that roles alternate.

        Args:
            first: the first entry that the note stands for.
            last: the last one, inclusive.

        Returns:
            At most one text; none if the note alone fits between its neighbours.
        """
        shown = self.visible()
        start, end = (bisect_left(shown, place, key=lambda entry: entry.index) for place in (first, last + 1))
        before = next((_speaker(shown[at]) for at in range(start - 1, -1, -1) if shown[at].role != "system"), None)
        after = next((_speaker(shown[at]) for at in range(end, len(shown)) if shown[at].role != "system"), None)
        return _beside_note(before, after)

    # ── what belongs together ────────────────────────────────────────────────────────────────────────────────────

    def turns(self) -> tuple[Turn, ...]:
        """Return what is visible, divided into turns that are kept or left out as a whole."""
        return self._turns

    @cached_property
    def _turns(self) -> tuple[Turn, ...]:
        # Each entry extends to the last one from which it cannot be separated; a turn is a run of such overlapping intervals,
        # merged. Calls may be answered in any order and results may be separate messages, so pairs interleave.
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
        """Return the first message in which the user speaks, as originally said; None if there is none."""
        return next((entry for entry in self.entries if entry.speaks), None)

    def newest_user(self) -> Entry | None:
        """Return the last message in which the user speaks, as originally said; None if there is none."""
        return next((entry for entry in reversed(self.entries) if entry.speaks), None)

    def protected(self) -> frozenset[int]:
        """Return the positions of entries that no span may hold: instructions, the task, the newest user message, pins."""
        return self._protected

    @cached_property
    def _protected(self) -> frozenset[int]:
        kept = {entry.index for entry in self.visible() if entry.pinned or entry.role == "system"}
        kept |= {entry.index for entry in (self.task(), self.newest_user()) if entry is not None}
        return frozenset(kept)

    def handles(self) -> tuple[str, ...]:
        """Return the handle of everything forgotten that was kept, oldest first."""
        return tuple(edit.handle for edit in self.edits if not isinstance(edit, Pinned) and edit.handle is not None)

    def standing_cuts(self) -> tuple[Cleared | Collapsed, ...]:
        """Return the cuts in effect now: of several cuts of one result the newest, and none that a later span took."""
        covered: set[int] = set()
        cleared: set[tuple[int, str]] = set()
        standing: list[Cleared | Collapsed] = []
        for edit in reversed(self.edits):
            if isinstance(edit, Collapsed):
                if not covered.issuperset(span := range(edit.first, edit.last + 1)):
                    standing.append(edit)
                covered.update(span)
            elif isinstance(edit, Cleared) and edit.index not in covered and (edit.index, edit.call_id) not in cleared:
                cleared.add((edit.index, edit.call_id))
                standing.append(edit)
        return tuple(reversed(standing))

    # ── the journal ──────────────────────────────────────────────────────────────────────────────────────────────

    def to_dict(self) -> dict[str, Json]:
        """Return the transcript as JSON for a journal; `from_dict` reads it back to an equal one."""
        return {
            "schema": SCHEMA,
            "wire": self.wire,
            "system": copied(self.system),
            "tools": copied(self.tools),
            "reply_schema": copied(self.reply_schema),
            "messages": copied([entry.raw for entry in self.entries]),
            "edits": edits_to(self.edits),
        }

    @classmethod
    def from_dict(cls, value: dict[str, Json]) -> Transcript:
        """Return the transcript that `to_dict` wrote.

        Raises:
            CallerError: for another schema, and for anything that is not a completely written transcript.
        """
        if not isinstance(value, dict) or value.get("schema") != SCHEMA:
            raise CallerError(f"no transcript of schema {SCHEMA}")
        try:
            edits = edits_from(value["edits"])
            made = cls(wire=value["wire"], system=copied(value["system"]), tools=copied(value["tools"]))
            schema = copied(value.get("reply_schema"))  # older versions did not write it
            read = replace(made.append(*value["messages"]), edits=edits, reply_schema=schema)
            read.visible()  # an edit of a missing entry shows now
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise CallerError(f"this is not a complete transcript: {error}") from error
        return read


def edits_to(edits: Iterable[Edit]) -> list[Json]:
    """Return edits as JSON; `edits_from` reads them back to equal ones."""
    names = {kind: name for name, kind in _EDITS.items()}
    return [{"edit": names[type(edit)], **{key: getattr(edit, key) for key in edit.__slots__}} for edit in edits]


def edits_from(value: Json) -> tuple[Edit, ...]:
    """Return edits from the JSON that `edits_to` wrote; for anything else Python's own errors are raised."""
    return tuple(_EDITS[edit["edit"]](**{key: held for key, held in edit.items() if key != "edit"}) for edit in value)


def entry_of(raw: Json, wire: str, place: int, before: Json = None) -> Entry:
    """Return one message as an entry.

    Args:
        raw: the message; the entry holds this very value.
        wire: the name of its wire.
        place: its position in the transcript.
        before: the message before it, None for the first.
    """
    role, parts = wire_named(wire).codec.read(raw, before)
    return Entry(index=place, last_index=place, wire=wire, role=role, parts=parts, raw=raw)


def result_messages(wire: str, returned: Iterable[tuple[ToolCall, str, bool]]) -> list[Json]:
    """Return the messages that answer calls, each given as the call, the text of its result, and whether it failed."""
    rows = list(returned)
    results = [ToolResult(call_id=call.id, text=text, is_error=failed) for call, text, failed in rows]
    return wire_named(wire).codec.result_messages(results, [call for call, _, _ in rows])


def text_message(wire: str, role: Literal["user", "assistant"], text: str) -> Json:
    """Return a message that consists of one text."""
    return wire_named(wire).codec.text_message(role, text)


def load(messages: list[Json] | str, wire: str, *, system: Json = None, tools: Json = None) -> Transcript:
    """Return the transcript of a message list, valid or not.

    Our own notes in it, from an earlier compaction, become notes again: nobody's words.

    Args:
        messages: the list, or a text if the wire takes one in its place.
        wire: the name of the wire.
        system: the request's own instructions, if they are outside the messages; carried along.
        tools: the request's own tools; carried along.

    Raises:
        CallerError: for an unknown wire, and for messages that are not a list.
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

    What another wire cannot carry is named in its place; reasoning means nothing there and is left out.
    """
    target = wire_named(wire).codec
    if wire == transcript.wire:
        return cast("list[Any]", copied([entry.raw for entry in transcript.visible()]))
    return target.write(_turns_of(transcript)).messages


def system_of(transcript: Transcript, wire: str) -> Json:
    """Return the instructions that accompany `dump(transcript, wire)` in a request; None if they are messages."""
    target = wire_named(wire).codec
    if wire == transcript.wire:
        return copied(transcript.system)
    return target.write(_turns_of(transcript)).system


def _turns_of(transcript: Transcript) -> list[PortableTurn]:
    """Return what is visible as turns that any wire can write, beginning with the instructions outside the messages."""
    turns = portable_turns(transcript.visible())
    if transcript.system is None:
        return turns
    text = wire_named(transcript.wire).codec.read_system(transcript.system)
    return [Instruction(text), *turns] if text.strip() else turns


def _beside_note(before: str | None, after: str | None) -> tuple[str, ...]:
    """Return the message next to a note, depending on who speaks before and after it: the table in `Transcript._notes`."""
    if before == "user":
        return () if after == "user" else (placeholders.LEFT_OUT,)
    return (placeholders.NOTED,) if after == "user" else ()


def _speaker(entry: Entry) -> Literal["user", "assistant"]:
    """Return whose turn an entry takes where roles alternate: results are the user's."""
    return "assistant" if entry.role == "assistant" else "user"


def _kind(entry: Entry) -> Literal["system", "user", "assistant", "note"]:
    """Return the kind of a turn that begins with this entry: results whose calls are gone are the user's."""
    if entry.is_note:
        return "note"
    return "user" if entry.role == "tool" else entry.role


def _ends(shown: tuple[Entry, ...]) -> list[int]:
    """Return for each entry the position of the last one from which it cannot be separated, itself at least."""
    # Consecutive assistant messages are one answer (as are items of the responses API); the messages of one note are one note; a
    # message with calls extends to the last of their results. If an id is called again, a result belongs to the newest call before
    # it, since local servers repeat the same ids in every turn.
    ends = list(range(len(shown)))
    callers: dict[str | None, int] = {}
    for place, entry in enumerate(shown):
        if place:
            before = shown[place - 1]
            same_run = entry.role == before.role == "assistant" and entry.is_note == before.is_note
            if same_run or (entry.is_note and before.is_note and entry.index == before.index):
                ends[place - 1] = place
        for part in entry.parts:
            if (asked := _asked(part)) is not None:
                callers[asked] = place
        for part in entry.parts:
            caller = callers.get(_answered(part))
            if caller is not None:
                ends[caller] = max(ends[caller], place)
    return ends


def _asked(part: Part) -> str | None:
    """Return the id under which a result can come: of a call, and of what the provider itself runs; None for anything else."""
    if isinstance(part, ToolCall):
        return part.id
    if not isinstance(part, Opaque) or _is_output(part):
        return None
    return string(field_of(part.raw, "call_id")) or string(field_of(part.raw, "id")) or None


def _answered(part: Part) -> str | None:
    """Return the id that a result names, or that of a tool that the provider itself ran; None for anything else."""
    if isinstance(part, ToolResult):
        return part.call_id
    if not isinstance(part, Opaque):
        return None
    return string(field_of(part.raw, "call_id" if _is_output(part) else "tool_use_id")) or None


def _is_output(part: Opaque) -> bool:
    """Whether an item is what something that OpenAI ran came to: a program, a search for tools."""
    return type_of(part.raw).endswith("_output")


def _with_their_reasoning(turns: list[Turn], since: int) -> list[Turn]:
    """Return turns joined where a step rests on signed reasoning of the step before it.

    A step without reasoning of its own that continues a tool loop stays with the step whose signed reasoning led to it: by itself
    it would be an assistant's turn without the thinking that its provider wants to see. This applies only to the loop since the
    user spoke last: providers look at no reasoning before that.

    Args:
        turns: the turns in order.
        since: the position of the user's last message, -1 if there is none.
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
    """Whether a turn holds signed reasoning."""
    return any(isinstance(part, Reasoning) and part.signed for entry in turn.entries for part in entry.parts)
