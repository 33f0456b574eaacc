"""What can be found out without a language model? `LocalModel` answers questions about files by rules.

It turns a question into searches, listings and views, one call at a time, and answers with lines that it quotes, each with file
and number. It needs no key and no download. Law: a pure function of the request: the same request, the same answer. Keeps out:
files (the caller runs the tools), sessions, and everything that would have to be understood.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.models import sizes
from penstock.models.provider import Provider
from penstock.models.steps import Asked, ScriptedReply
from penstock.wires.table import wire_named

if TYPE_CHECKING:
    from penstock.text.json_access import Json

WINDOW_TOKENS = 16_000


class LocalModel:
    """A `Model` on any wire with a window that it keeps to: what does not fit is refused as the wire's provider does.

    It calls the tools of `penstock.tools` that a request offers, under whatever prefix: `search` at least, `view`, `list_files`,
    `outline`, `page` and `find` where they are there.
    """

    name = "penstock-local"

    def __init__(self, wire: str = "openai-chat", window_tokens: int = WINDOW_TOKENS) -> None:
        if window_tokens < 1:
            raise CallerError(f"a window holds a token at least, not {window_tokens}")
        self.wire = wire_named(wire).name
        self.window_tokens = window_tokens
        self._provider = Provider(wire, self.name)

    def send(self, request: dict[str, Json], /) -> dict[str, Json]:
        """The body of an answer. Raises `Refused` for a request that is too large, `CallerError` for what is none."""
        from penstock.models.local.investigation import reply

        if not isinstance(request, dict):
            raise CallerError(f"a request is the body of {self.wire}, an object, not {type(request).__name__}")
        size = self._provider.size_of(request)
        refused = self._provider.refusal_of(size, self.window_tokens)
        if refused is not None:
            return refused.returned()
        room = self.window_tokens - size.input_tokens
        text, call = reply(request, self.wire, room)
        calls = () if call is None else (Asked(call.tool, json.dumps(call.arguments, ensure_ascii=False)),)
        number = zlib.crc32(
            sizes.text_of(request).encode("utf-8", "surrogatepass")
        )  # so that ids differ where requests do
        return self._provider.perform(ScriptedReply(text=text, calls=calls), size, number).returned()
