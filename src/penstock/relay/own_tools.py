"""How are the two tools offered that read what was cut, and their calls answered?

Law: a call gets one answer, whatever it says. Leaves to others: what a page is (`tools`, `store`).
"""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING

from penstock.mcp_server.entries import entry_of
from penstock.mcp_server.hosts import allowance_for
from penstock.relay.messages import result_of
from penstock.text.calls import mcp
from penstock.tools import MIN_ALLOWANCE, Tools
from penstock.tools.kept import FIND, PAGE

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.relay.messages import OwnCall
    from penstock.store import Store
    from penstock.text.allowance import Allowance

_ANSWER_SECONDS = 32.0
"""How long calls may take after everything else has ended: as long as the slowest call."""
_CALLS_AT_ONCE = 8


def entries(prefix: str) -> bytes:
    """Return our tools as list entries, separated by a comma."""
    return b",".join(_written(entry_of(tool, prefix)) for tool in (PAGE, FIND))


class OwnTools:
    """Answers calls of our tools.

    Args:
        open_store: opens the store in which they look.
        budget: the limit of a page in characters; None for what the host shows.
    """

    def __init__(self, open_store: Callable[[], Store], budget: int | None) -> None:
        self._open_store = open_store
        self._budget = budget

    def answer(self, call: OwnCall) -> bytes:
        """Return the message that answers a call, as JSON on one line."""
        # These two tools read no files; the root only has to exist.
        tools = Tools(os.sep, dialect=mcp(call.prefix), store=self._open_store)
        answer = tools.call(call.tool, call.arguments, allowance=self._allowance(call.client))
        result: dict[str, object] = {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}
        if answer.is_error:
            result["_meta"] = {"penstock/code": answer.code}
        # Since 2026-07-28 each result says whether it is complete or asks for more; an older client may refuse an unknown member.
        if call.is_modern:
            result["resultType"] = "complete"
        message = result_of(call.id_json, _written(result))
        return b"[" + message + b"]" if call.is_in_batch else message

    def _allowance(self, client: str | None) -> Allowance:
        room = allowance_for(client, self._budget)
        return room if room.limit >= MIN_ALLOWANCE else type(room).chars(MIN_ALLOWANCE)


class AnswerThreads:
    """Answers calls in threads, some at once: they read a store, which may be slow, and no message waits for that.

    Args:
        tools: answers a call.
        write: receives each call with its answer.
    """

    def __init__(self, tools: OwnTools, write: Callable[[OwnCall, bytes], None]) -> None:
        self._tools, self._write = tools, write
        self._places = threading.Semaphore(_CALLS_AT_ONCE)
        self._pending = 0
        self._changed = threading.Condition()

    def start(self, call: OwnCall) -> None:
        """Begin to answer a call."""
        with self._changed:  # held until it is counted: the answer cannot be over before
            threading.Thread(target=self._answer, args=(call,), daemon=True, name="penstock-answer").start()
            self._pending += 1  # not reached if the system has no thread left

    def finish(self) -> None:
        """Wait for the answers that are pending, for a bounded time."""
        with self._changed:
            self._changed.wait_for(lambda: not self._pending, _ANSWER_SECONDS)

    def _answer(self, call: OwnCall) -> None:
        try:
            with self._places:
                answer = self._tools.answer(call)
            self._write(call, answer)
        finally:
            with self._changed:
                self._pending -= 1
                self._changed.notify_all()


def _written(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")
