"""How is a host's event answered: an oversized result cut and kept whole, a compaction bridged (H-1, H-4, H-5)?

Laws: a result below the budget gets no reply and opens no store; a cut result is within the budget, notice included, and the whole
is at its handle, byte for byte, as far as the host handed it over or named a file with it. Whatever fails, the host continues with
its own result, and the person is told. Leaves to others: how a host writes its events (`results`) and its JSON (`verbatim_json`).
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError
from penstock.hosts import turns, verbatim_json
from penstock.hosts.results import context_reply, is_ours, tool_of
from penstock.hosts.whole_file import size_of_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.hosts.handing_on import HandingOn
    from penstock.hosts.results import Event, HookHost, Slot
    from penstock.store import Store
    from penstock.text.calls import Dialect

MAX_EVENT_BYTES = 64 << 20
"""The size limit of an event: hosts were seen to hand over 1.4 MB, and a hook must not fill the memory of its host's machine."""
TURN_SECONDS = 2.0
"""How long after the first one results count as parallel, if the host does not say which calls its model made together."""
_NAMED_TURN_SECONDS = 3_600.0  # one call of a turn may take that long
TURN_BUDGETS = 2
"""How many single-result budgets all parallel results may take together, before each gets no more than an eighth."""
GIVEN_SECONDS = 5.0
"""How long a handoff is not given to the same session again."""
_CUT_BUDGETS = 2  # the relay shows at most this many times as much as a hook
_LEAST_SHARE = 8  # a result is never cut below this fraction of its budget, however many came with it
_NOTICE_CHARS = 1_000
_COUNTS = 4  # a result below this fraction of its budget does not count towards its turn


class Hook:
    """One host's hook, with what it may use; its only operation is `answer`."""

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
            open_store: called when something is to be kept.
            find_dialect: called when something is cut: how its model can make the calls that show the rest.
            budget: the limit for a result, in the host's unit; None for what suits the host and the tool.
            turns_folder: where the sizes of a turn's results are counted; None for the user's own.
            handing_on: where handoffs are kept, and how much of one is given back; None for the user's own folder.
        """
        self._host = host
        self._open = open_store
        self._find_dialect = find_dialect
        self._budget = budget
        self._turns_folder = turns_folder
        self._handing_on = handing_on
        self._opened: Store | None = None

    def answer(self, raw: bytes) -> bytes:
        """Return what to print for an event: JSON that the host understands, or nothing if nothing changes.

        Args:
            raw: the event as the host wrote it.
        """
        try:
            try:
                return self._answer(verbatim_json.read(raw))
            except RecursionError:  # Python's parser accepts deeper nesting than the code here can walk
                return self._answer(verbatim_json.read_shallow(raw))
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
        # If the host keeps the whole text somewhere and it cannot be read, the host's own words about it are better than ours.
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
        # Rarely needed, and half of the start-up time.
        from penstock.hosts.cutting import Kept, cut_result
        from penstock.text.allowance import Allowance

        allowance = Allowance(room, self._host.unit, max_lines=most)
        return cut_result(self._host, event, sizes, allowance, Kept(self._store, self._find_dialect()))

    def _budget_for(self, event: Event) -> int:
        return self._budget or self._host.budget_of(tool_of(event))

    def _has_our_cut(self, slot: Slot) -> bool:
        """Return whether the relay or the guard has already cut a text, or it is a page from the relay: a second cut would lead
        from one handle to another. The text that the notice names is kept here.

        Forging such a notice takes a handle of this user's store, and gains only two budgets.
        """
        from penstock.text import stand_ins
        from penstock.text.calls import handle_in

        if slot.whole_path is not None:
            return False
        at = f"\n{slot.text}".find(f"\n{stand_ins.TRUNCATED}")
        # A page begins with the handle of its text.
        page = re.match(r"([0-9A-Za-z]{22}): ", slot.text)
        handle = handle_in(slot.text[at : at + _NOTICE_CHARS]) if at >= 0 else page[1] if page else ""
        try:
            return bool(handle and self._store().info(handle))
        except PenstockError:
            return False

    def _around_compaction(self, event: Event) -> Event | None:
        """Write the handoff of a session about to be compacted, or give one to a session that continues or begins."""
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
        # Codex reports a new session and the end of a compaction at the same moment: what the first got is already there.
        folder = self._turns_folder or turns.folder_for(os.environ)
        is_given = turns.spend(handing_on.stamp(host, event), 1, window_seconds=GIVEN_SECONDS, folder=folder)
        return None if is_given else context_reply(event, text)

    def _room(self, event: Event, size: int) -> int:
        """Return the room for a result, given those that arrived with it."""
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
    """Return the size of a text with its frame; if its host keeps it in a file, that file's size in bytes, or None without the
    file.
    """
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
    # A lone surrogate, left by a cut within a character, is not valid UTF-8: it is written as an escape.
    return verbatim_json.write(reply).encode("utf-8", "backslashreplace") + b"\n"
