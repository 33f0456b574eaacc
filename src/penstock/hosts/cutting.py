"""How are a result's texts cut to the room available, and each kept whole?

Laws: a replacement text is within its share, notice and the host's frame included; what is left out of a list is behind a handle,
together with the whole result as JSON. Leaves to others: how large the room is (`hook`), where a host has its texts (`results`),
and where a list ends (`shortening`).
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import PenstockError
from penstock.guard import stream
from penstock.guard.output import chars_per_token
from penstock.hosts import verbatim_json
from penstock.hosts.results import SHELLS, Slot, tool_of, with_context
from penstock.hosts.whole_file import open_whole
from penstock.store import as_kept
from penstock.text import fitting, stand_ins
from penstock.text.calls import CommandLine
from penstock.text.fitting import Guarded, Keep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.hosts.results import Event, HookHost
    from penstock.store import Store
    from penstock.text.allowance import Allowance
    from penstock.text.calls import Dialect

MAX_CUT = 16
"""How many texts of one result are cut individually: a thousand notices would be no shorter than a thousand texts."""
_LEAST_CUT = 600  # a notice with its handle, and some text
_READ_BYTES = 1 << 20
_NOTE = 600  # the note on a list that ends early


class Unkept(PenstockError):
    """The whole could not be kept, so nothing is cut: the host shows its result as it would without Penstock."""


class Kept(NamedTuple):
    """Where cut texts are kept, and how the calls that show the rest are written."""

    open_store: Callable[[], Store]
    dialect: Dialect


def cut_result(host: HookHost, event: Event, sizes: Sequence[int], room: Allowance, kept: Kept) -> Event:
    """Return what a hook replies for a result that is too large.

    Args:
        host: how to reply.
        event: the result.
        sizes: the size of each of its texts, in the unit of `room`.
        room: the size limit of the result: small texts stay whole, the largest are cut alike.
        kept: where the whole is kept.

    Raises:
        Unkept: the store fails.
    """
    slots, frame, note = host.slots(event), host.frame(event), ""
    if host.shorten is not None and (
        frame > room.limit // 2 or len(_too_large(slots, sizes, fitting.of(room, room.limit - frame))) > MAX_CUT
    ):
        shortened = host.shorten(event, max(0, room.limit - _NOTE))
        if shortened != event:
            note = _note_of(event, shortened, room, kept)
            event, slots, frame = shortened, host.slots(shortened), host.frame(shortened)
            sizes = [room.measure(slot.before + slot.text + slot.after) for slot in slots]
    left = fitting.of(room, max(1, room.limit - frame - len(note)))
    reply = host.reply(event, _cut_slots(slots, sizes, left, event, kept))
    return with_context(reply, note) if note else reply


def _too_large(slots: Sequence[Slot], sizes: Sequence[int], room: Allowance) -> list[tuple[Slot, int]]:
    """Return the texts that do not fit, each with its share, and any text of which the host handed over only a part."""
    shares = fitting.share(sizes, max(0, room.limit))
    most = inf if room.max_lines is None else room.max_lines
    return [
        (slot, share)
        for slot, size, share in zip(slots, sizes, shares, strict=True)
        if size > share or slot.whole_path is not None or slot.text.count("\n") >= most
    ]


def _cut_slots(
    slots: Sequence[Slot], sizes: Sequence[int], room: Allowance, event: Event, kept: Kept
) -> list[tuple[Slot, Guarded]]:
    """Return the texts of a result that are too large, each with its replacement."""
    tool, too_large = tool_of(event), _too_large(slots, sizes, room)
    if len(too_large) > MAX_CUT:
        return list(_cut_in_order(slots, sizes, room, event, kept))
    return [(slot, _cut(slot, tool, fitting.of(room, share), kept)) for slot, share in too_large]


def _note_of(event: Event, shortened: Event, room: Allowance, kept: Kept) -> str:
    """Return the note on a result whose lists end early; the whole is kept as JSON, one list entry per line."""
    whole = _json_of(event)
    shown = _cut(Slot((), whole), tool_of(event), fitting.of(room, _NOTE), kept)
    # The remaining texts are cut later, to the room that is left.
    tokens = int(min(len(_json_of(shortened)), room.limit) / chars_per_token())
    assert shown.handle is not None  # noqa: S101 - otherwise `_cut` raised Unkept
    way = fitting.way_to_whole(shown.handle, shown.whole, kept.dialect)
    notice = stand_ins.truncated(tool_of(event), shown.whole_tokens, tokens, "head", way)
    return f"{notice}\nLists in the result end early; the whole is all of it as JSON, an entry on a line."


def _json_of(event: Event) -> str:
    return verbatim_json.write_lines(event["tool_response"])


def _cut_in_order(
    slots: Sequence[Slot], sizes: Sequence[int], room: Allowance, event: Event, kept: Kept
) -> Iterator[tuple[Slot, Guarded]]:
    """Yield the changes for a result with so many texts that a notice for each would leave no room for them.

    The first texts stay; one notice for all replaces the next, and the others become empty.
    """
    notice = min(_LEAST_CUT, room.limit)
    left, is_told = room.limit - notice, False
    for slot, size in zip(slots, sizes, strict=True):
        left -= size
        if left >= 0:
            continue
        left = -1
        if not is_told:
            yield slot, _cut(Slot((), _json_of(event)), tool_of(event), fitting.of(room, notice), kept)
        else:
            yield slot, fitting.fit("", room)
        is_told = True


def _cut(slot: Slot, tool: str, share: Allowance, kept: Kept) -> Guarded:
    """Return a text cut to its share, its notice and the host's frame included."""
    open_store, dialect = kept
    # Errors appear at the end of a command's output; in a list or a page the beginning matters more.
    keep = Keep.ENDS if tool in SHELLS else Keep.HEAD
    allowance = fitting.of(share, max(1, share.limit - share.measure(slot.before + slot.after)))
    passed = stream.drain(
        as_kept(_pieces(slot)),
        allowance,
        keep,
        name=tool,
        open_store=open_store,
        dialect=dialect,
        chars_per_token=chars_per_token(),
    )
    shown = passed.result
    if passed.fault:
        raise Unkept(passed.fault)
    if slot.lost and shown.handle:
        # This whole is incomplete: what the host had already cut is not behind the handle.
        guard = dialect.mention("guard") if isinstance(dialect, CommandLine) else "penstock guard"
        way = (
            f"{fitting.way_to_whole(shown.handle, shown.whole, dialect)}\n"
            f"The host had cut it before, {slot.lost}: of `{guard} -- COMMAND` all is kept."
        )
        shown = fitting.fit(
            slot.text,
            allowance,
            keep,
            shown.handle,
            name=tool,
            way=way,
            dialect=dialect,
            chars_per_token=chars_per_token(),
        )
    return shown


def _pieces(slot: Slot) -> Iterator[bytes]:
    """Yield a text: from the file in which its host keeps all of it, otherwise as it was handed over."""
    if slot.whole_path is None:
        yield slot.text.encode("utf-8", "surrogatepass")
        return
    with open_whole(slot.whole_path) as (file, size):
        left = size  # no more than its initial size: it may grow forever
        while left > 0 and (part := file.read(min(_READ_BYTES, left))):
            left -= len(part)
            yield part
