"""How does a model read what was taken from view? With two tools in its requests, and the answers to their calls (R-7).

A stub names the call that shows the whole content. That works only if the model has the tool: `ways_back` provides it on
any wire, and for a request without it `call_syntax` makes stubs name a command instead. Law: whoever reads a stub can do
what it names. Leaves to others: where artifacts are kept (`store`), and how a page is made (`tools`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.carrier.replies import plain
from penstock.errors import CallerError
from penstock.store import default_url
from penstock.text.allowance import Allowance
from penstock.text.calls import CommandLine, mcp
from penstock.text.notices import not_an_object
from penstock.tools import TOOLS, Tools
from penstock.wires import ToolCall, answer_messages, load, result_messages, tool_definitions, wire_named

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from penstock.store import Store
    from penstock.text.calls import Dialect
    from penstock.text.json_access import Json

PREFIX = "ctx_"
"""The default prefix of the two tools' names."""
_OFFERED = ("page", "find")
# As for every other tool (G-1).
MAX_RESULT_CHARS = 28_000
"""The most characters of one answer, its notice included."""


class WaysBack:
    """Two tools that read back what was kept, on one wire.

    Args:
        wire: the API's name, one of `penstock.transcript.WIRES`.
        store: where the texts are kept; the user's default store if omitted.
        prefix: what precedes `page` and `find` in the tool names.
        max_result_chars: the most characters of one answer.

    Example:
        >>> from penstock import ways_back
        >>> [tool["function"]["name"] for tool in ways_back("openai-chat").definitions]
        ['ctx_page', 'ctx_find']
    """

    def __init__(
        self,
        wire: str,
        store: Store | None = None,
        *,
        prefix: str = PREFIX,
        max_result_chars: int = MAX_RESULT_CHARS,
    ) -> None:
        self._wire, self._prefix = wire_named(wire), prefix
        allowance = Allowance.chars(max_result_chars)
        self._tools = Tools(allowance=allowance, dialect=mcp(prefix), store=store)
        self._offered = [tool._replace(name=prefix + tool.name) for tool in TOOLS if tool.name in _OFFERED]

    @property
    def definitions(self) -> list[Json]:
        """The two tools as a request of this wire carries them; add them to your own."""
        return tool_definitions(self._offered, self._wire.name)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the two tools."""
        return tuple(tool.name for tool in self._offered)

    @property
    def dialect(self) -> Dialect:
        """The syntax in which a notice names the two tools, for `wrap_tool` and `guard_output` in the same program."""
        return self._tools.dialect

    def is_own(self, call: Any) -> bool:
        """Return whether a call, as an answer of this wire holds it, is for one of the two tools."""
        return any(made.name in self.names for made in self._calls_of(call))

    def answer(self, call: Any) -> Json:
        """Return the message that answers one call, given as an answer holds it: JSON or an SDK's object.

        Raises:
            CallerError: for a call of another tool.
        """
        calls = self._calls_of(call)
        if len(calls) != 1 or calls[0].name not in self.names:
            raise CallerError(f"this is not a call of {' or '.join(self.names)}")
        return self._results(calls)[0]

    def answer_all(self, body: Any) -> list[Json]:
        """Return the messages that answer every call of these tools in an answer's body.

        Calls of other tools are yours.

        Args:
            body: the answer: JSON or an SDK's object.
        """
        return self._results(self.calls_in(body))

    def calls_in(self, body: Any) -> list[ToolCall]:
        """Return the calls of these tools in an answer's body: JSON or an SDK's object."""
        entries = load(answer_messages(plain(body), self._wire.name), self._wire.name).entries
        return [call for entry in entries for call in entry.calls if call.name in self.names]

    def _calls_of(self, call: Any) -> list[ToolCall]:
        """Return the calls in a part of an answer, read by the wire's own codec."""
        if isinstance(call, ToolCall):
            return [call]
        _, parts = self._wire.codec.read(self._wire.codec.call_message(plain(call)))
        return [part for part in parts if isinstance(part, ToolCall)]

    def _results(self, calls: Sequence[ToolCall]) -> list[Json]:
        """Return the messages with the results of some calls; a mistake of the model becomes a result that says so."""
        rows = []
        for call in calls:
            if (unread := call.unread) is not None:  # paging without them would answer another question
                rows.append((call, not_an_object(unread), True))
                continue
            result = self._tools.call(call.name.removeprefix(self._prefix), call.values)
            rows.append((call, f"{result.text}", result.is_error))
        return result_messages(self._wire.name, rows) if rows else []


def ways_back(wire: str, store: Store | None = None, *, prefix: str = PREFIX) -> WaysBack:
    """Return two tools that let a model read back what was kept, for requests of a wire.

    Args:
        wire: the API's name, one of `penstock.transcript.WIRES`.
        store: where the texts are kept; the user's default store if omitted.
        prefix: what precedes `page` and `find` in the tool names.
    """
    return WaysBack(wire, store, prefix=prefix)


def offered_prefix(names: Collection[str]) -> str | None:
    """Return the prefix of the two tools if their names are among a request's tools; else None.

    A host puts its own prefix first, as in `mcp__penstock__ctx_page`. A `page` alone belongs to somebody else: `create_page`.
    """
    page, find = _OFFERED
    heads = [name.removesuffix(page) for name in names if name == page or name.endswith(f"_{page}")]
    return next((head for head in heads if head.endswith(PREFIX) or head + find in names), None)


def call_syntax(request: Json, wire: str, store_url: str | None = None) -> Dialect:
    """Return the syntax in which a request's stubs name the way back: the request's own tools, else the command line.

    Args:
        request: the body, whose tools decide.
        wire: the name of its wire.
        store_url: where the texts are kept, None for the user's own store; a command names any other store.
    """
    spoken = wire_named(wire)
    names = spoken.codec.tool_names(spoken.body.tools_of(request))
    if (prefix := offered_prefix(names)) is not None:
        return mcp(prefix)
    is_named = store_url is not None and store_url != default_url()
    return CommandLine(store=store_url if is_named else None)
