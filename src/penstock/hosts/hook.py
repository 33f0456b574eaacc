"""Answer an event of a host: a result that is too large is cut and kept whole, a compaction is bridged (H-1, H-4, H-5).

Laws: what is below the budget gets no answer and opens no store; what is cut is within the budget, notice included, and the
whole is at its handle, byte for byte, as far as the host handed it over or named a file with it. Whatever fails, the host goes on
with its own result, and the person is told. Keeps out: how a host writes its events (`results`), and how its JSON (`spelling`).
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.hosts import spelling, turns
from penstock.hosts.results import context_reply, is_ours, tool_of
from penstock.hosts.whole_file import size_of_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.hosts.handing_on import HandingOn
    from penstock.hosts.results import Event, HookHost, Slot
    from penstock.store import Store
    from penstock.text.calls import Dialect

MAX_EVENT_BYTES = 64 << 20
"""How large an event may be: hosts were seen to hand over 1.4 MB, and a hook must not fill the memory of its host's machine."""
TURN_SECONDS = 2.0
"""How long results count as parallel, from the first, where the host does not say which calls its model made together."""
_NAMED_TURN_SECONDS = 3_600.0  # one call of a turn may take as long
TURN_BUDGETS = 2
"""How many times the budget of one result all parallel ones may take, before each gets no more than an eighth."""
GIVEN_SECONDS = 5.0
"""How long the same handoff is not given to a session again."""
_CUT_BUDGETS = 2  # what the relay shows is at most so many times what a hook does
_LEAST_SHARE = 8  # a result is never cut below this part of its budget, however many came with it
_NOTICE_CHARS = 1_000
_COUNTS = 4  # a result below this part of its budget does not count towards its turn


class Hook:
    """One host's hook, with what it may use; `answer` is all that it does."""

    def __init__(
        self,
        host: HookHost,
        open_store: Callable[[], Store],
        find_dialect: Callable[[], Dialect],
        *,
        budget: int | None = None,
        turns_folder: str | None = None,
        handing_on: HandingOn | None = None,
    ) -> None:
        """Make the hook of a host.

        Args:
            host: how its events are read and answered.
            open_store: called where something is to be kept.
            find_dialect: called where something is cut: how its model can make the calls that show the rest.
            budget: what a result may measure, in what the host counts; None for what suits the host and the tool.
            turns_folder: where is counted what the results of a turn take; None for the user's own.
            handing_on: where handoffs lie, and how much of one is given back; None for the user's own folder.
        """
        self._host = host
        self._open = open_store
        self._find_dialect = find_dialect
        self._budget = budget
        self._turns_folder = turns_folder
        self._handing_on = handing_on
        self._opened: Store | None = None

    def answer(self, raw: bytes) -> bytes:
        """Return what to print for an event: JSON as the host takes it, or nothing where nothing changes.

        Args:
            raw: the event as the host wrote it.
        """
        try:
            try:
                return self._answer(spelling.read(raw))
            except RecursionError:  # Python reads more levels than are followed here
                return self._answer(spelling.read_shallow(raw))
        except Exception as error:  # noqa: BLE001 - a hook that fails must not cost the host its result (H-5)
            reason = _reason(error)
            if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
                reason = f"Standard input holds no JSON event of a host ({reason})."
            ended = reason if reason.endswith((".", "!", "?")) else f"{reason}."
            return _written({"systemMessage": f"penstock hook: {ended} Nothing was changed."})
        finally:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _answer(self, event: Any) -> bytes:
        reply = self._reply(event) if isinstance(event, dict) else None
        return b"" if reply is None else _written(reply)

    def _reply(self, event: Event) -> Event | None:
        event = self._host.read(event)
        name = event.get("hook_event_name")
        if name != self._host.result_event:
            return self._around_compaction(event) if name and name in self._host.events else None
        if is_ours(self._host, event):
            return None
        slots = self._host.slots(event)
        # Where the host has all of a text somewhere and that cannot be had, its own words about it are better than ours.
        sizes = [size for slot in slots if (size := _size_of(slot, self._host.unit)) is not None]
        if len(sizes) < len(slots):
            return None
        size = sum(sizes) + self._host.frame(event)
        room = self._room(event, size)
        most = self._host.max_lines
        if size <= room and (most is None or all(slot.text.count("\n") < most for slot in slots)):
            return None
        budget = self._budget_for(event)
        if room == budget and size <= _CUT_BUDGETS * budget and any(map(self._has_our_cut, slots)):
            return None
        # What nearly no event needs, and half of the time of a start.
        from penstock.hosts.cutting import Kept, cut_result
        from penstock.text.allowance import Allowance

        allowance = Allowance(room, self._host.unit, max_lines=most)
        return cut_result(self._host, event, sizes, allowance, Kept(self._store, self._find_dialect()))

    def _budget_for(self, event: Event) -> int:
        return self._budget or self._host.budget_of(tool_of(event))

    def _has_our_cut(self, slot: Slot) -> bool:
        """Return whether a text is what the relay or the guard has cut, or a page that the relay gave of it: a second cut would
        lead from a handle to a handle. What it names is kept here.

        To write such a notice takes a handle of this user's store, and who has been told one gains two budgets by it.
        """
        from penstock.text import stand_ins
        from penstock.text.calls import handle_in

        if slot.whole_path is not None:
            return False
        at = f"\n{slot.text}".find(f"\n{stand_ins.TRUNCATED}")
        # A page begins with the handle that it is of.
        page = re.match(r"([0-9A-Za-z]{22}): ", slot.text)
        handle = handle_in(slot.text[at : at + _NOTICE_CHARS]) if at >= 0 else page[1] if page else ""
        try:
            return bool(handle and self._store().info(handle))
        except PenstockError:
            return False

    def _around_compaction(self, event: Event) -> Event | None:
        """Write the handoff of a session that is about to be compacted; give it back to one that goes on, or begins."""
        from penstock.hosts.handing_on import HandingOn, folder_for

        name, host = event["hook_event_name"], self._host
        handing_on = self._handing_on or HandingOn(folder=folder_for(os.environ))
        if name == host.before_compaction:
            handing_on.write(host, event, self._find_dialect)
            return None
        if name != host.start and not handing_on.is_due(host, event):
            return None
        text = handing_on.given(host, event)
        if not text:
            return None
        # Codex begins a session anew and after its compaction in one breath: what is given with the first is there.
        folder = self._turns_folder or turns.folder_for(os.environ)
        is_given = turns.spend(handing_on.stamp(host, event), 1, window_seconds=GIVEN_SECONDS, folder=folder)
        return None if is_given else context_reply(event, text)

    def _room(self, event: Event, size: int) -> int:
        """Return what a result may take beside those that arrived with it."""
        budget = self._budget_for(event)
        if size <= budget // _COUNTS:
            return budget
        turn = self._host.turn(event)
        name = f"{self._host.name} {str(event.get('session_id', ''))[:200]} {turn or ''}"
        seconds = _NAMED_TURN_SECONDS if turn else TURN_SECONDS
        folder = self._turns_folder or turns.folder_for(os.environ)
        spent = turns.spend(name, min(size, budget), window_seconds=seconds, folder=folder)
        return min(budget, max(TURN_BUDGETS * budget - spent, budget // _LEAST_SHARE))

    def _store(self) -> Store:
        if self._opened is None:
            self._opened = self._open()
        return self._opened


def _size_of(slot: Slot, unit: str) -> int | None:
    """Return what a text takes with its frame; of one that its host keeps in a file the bytes of that, None without it."""
    text = slot.before + slot.text + slot.after
    size = len(text) if unit == "characters" or text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if slot.whole_path is None:
        return size
    whole = size_of_whole(slot.whole_path, slot.text, is_end=slot.is_end)
    return None if whole is None else max(size, whole)


def _reason(error: Exception) -> str:
    """Return why a hook failed, in words for a person."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{str(error.filename)[:200]}: {error.strerror}"
    return str(error)[:300] or type(error).__name__


def _written(reply: dict[str, Any]) -> bytes:
    # Half a character, as a cut within one leaves it, is no UTF-8: it goes as it came, as an escape.
    return spelling.write(reply).encode("utf-8", "backslashreplace") + b"\n"
