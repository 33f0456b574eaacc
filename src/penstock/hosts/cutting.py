"""Cut the texts of a result to the room that it has, and keep each whole.

Law: what takes a text's place is within its share, the notice and the host's frame included. Keeps out: how large that room is
(`hook`), and where a host has its texts (`results`).
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.guard import stream
from penstock.hosts.results import Slot
from penstock.hosts.whole_file import open_whole
from penstock.store import as_kept
from penstock.text import fitting
from penstock.text.calls import CommandLine
from penstock.text.fitting import Guarded, Keep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from penstock.store import Store
    from penstock.text.allowance import Allowance
    from penstock.text.calls import Dialect

MAX_CUT = 16
"""How many texts of one result are cut each for itself: a notice for each of a thousand would be no shorter than they are."""
_LEAST_CUT = 600  # a notice with its handle, and some text
_READ_BYTES = 1 << 20
# What went wrong stands at the end of these; of a list or a page the beginning is worth more.
_SHELLS = frozenset(
    {"Bash", "bash", "BashOutput", "TaskOutput", "run_shell_command", "read_background_output", "shell"}
)


class Unkept(PenstockError):
    """The whole could not be kept, so nothing is cut: the host shows of its result what it would without us."""


def cut_slots(
    slots: Sequence[Slot],
    sizes: Sequence[int],
    room: Allowance,
    tool: str,
    *,
    open_store: Callable[[], Store],
    dialect: Dialect,
) -> list[tuple[Slot, Guarded]]:
    """Return the texts of a result that are too large, each with what is to be shown in its place.

    Args:
        slots: all texts of the result.
        sizes: what each takes, in the unit of `room`.
        room: what all of them may take: the small ones stay whole, the largest are cut alike.
        tool: how the notice calls what made them.
        open_store: where the whole is kept.
        dialect: how the calls that show the rest are written.

    Raises:
        Unkept: the store fails.
    """
    shares = fitting.share(sizes, room.limit)
    most = inf if room.max_lines is None else room.max_lines
    too_large = [at for at in range(len(slots)) if sizes[at] > shares[at] or slots[at].text.count("\n") >= most]
    if len(too_large) > MAX_CUT:
        return list(_cut_in_order(slots, sizes, room, tool, open_store, dialect))
    return [(slots[at], _cut(slots[at], tool, fitting.of(room, shares[at]), open_store, dialect)) for at in too_large]


def _cut_in_order(
    slots: Sequence[Slot],
    sizes: Sequence[int],
    room: Allowance,
    tool: str,
    open_store: Callable[[], Store],
    dialect: Dialect,
) -> Iterator[tuple[Slot, Guarded]]:
    """Yield what changes where a result is in so many texts that a notice for each would leave no room for them.

    The first ones stay; in the place of the next stands one notice for all, and the others are empty.
    """
    notice = min(_LEAST_CUT, room.limit)
    left, is_told = room.limit - notice, False
    for slot, size in zip(slots, sizes, strict=True):
        left -= size
        if left >= 0:
            continue
        left = -1
        if not is_told:
            whole = Slot((), "\n".join(slot.text for slot in slots))
            yield slot, _cut(whole, tool, fitting.of(room, notice), open_store, dialect)
        else:
            yield slot, fitting.fit("", room)
        is_told = True


def _cut(slot: Slot, tool: str, share: Allowance, open_store: Callable[[], Store], dialect: Dialect) -> Guarded:
    """Return a text within its share, its notice and the host's frame included."""
    keep = Keep.ENDS if tool in _SHELLS else Keep.HEAD
    allowance = fitting.of(share, max(1, share.limit - share.measure(slot.before + slot.after)))
    passed = stream.drain(as_kept(_pieces(slot)), allowance, keep, name=tool, open_store=open_store, dialect=dialect)
    shown = passed.result
    if passed.fault:
        raise Unkept(passed.fault)
    if slot.lost and shown.handle:
        # The notice of a whole that is none: what the host had cut before is not behind the handle.
        guard = dialect.mention("guard") if isinstance(dialect, CommandLine) else "penstock guard"
        whole = fitting.Whole(shown.whole_chars, shown.whole_bytes, shown.whole_lines, shown.whole_tokens)
        way = (
            f"{fitting.way_to_whole(shown.handle, whole, dialect)}\n"
            f"The host had cut it before, {slot.lost}: of `{guard} -- COMMAND` all is kept."
        )
        shown = fitting.fit(slot.text, allowance, keep, shown.handle, name=tool, way=way, dialect=dialect)
    return shown


def _pieces(slot: Slot) -> Iterator[bytes]:
    """Yield a text: from the file in which its host keeps all of it, else as it was handed over."""
    if slot.whole_path is None:
        yield slot.text.encode("utf-8", "surrogatepass")
        return
    with open_whole(slot.whole_path) as (file, size):
        left = size  # no more than there was: it may grow for ever
        while left > 0 and (part := file.read(min(_READ_BYTES, left))):
            left -= len(part)
            yield part
