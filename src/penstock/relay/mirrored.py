"""Which headers repeat what the body of an HTTP request says, for servers that route by them?

Source: the transports of MCP 2026-07-28: `Mcp-Method`, `Mcp-Name`, and `Mcp-Param-…` for arguments whose schema has `x-mcp-header`.
Law: a server that compares them with the body finds no difference. Leaves to others: who sends them (`bridge`).
"""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

from penstock.relay.messages import MODERN, text_in
from penstock.text.json_slices import NotJson, decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from penstock.relay.messages import RpcMessage

_MARK = b'"x-mcp-header"'
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN = re.compile(r"(?!=\?base64\?)[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?\Z")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")

Path = tuple[str, ...]


class Mirror:
    """What to repeat in headers, as learned from lists of tools."""

    def __init__(self) -> None:
        self._of_tool: dict[str, dict[Path, str]] = {}

    def learn(self, raw: bytes) -> None:
        """Learn from a message which arguments of which tools are repeated; most messages have none."""
        if _MARK not in raw:
            return
        try:
            tools = json.loads(raw)["result"]["tools"]
            # Decoded by the standard library, although everything else here slices bytes: few servers use the mark, and a schema is
            # walked to its leaves.
            self._of_tool.update({tool["name"]: dict(_headers_in(tool["inputSchema"], ())) for tool in tools})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):  # not a list of tools
            return

    def headers(self, raw: bytes, message: RpcMessage) -> list[tuple[bytes, bytes]]:
        """Return the headers of a request of the modern era; none for an older one.

        Args:
            raw: the bytes that the message is in.
            message: the request.
        """
        version = text_in(raw, message.params, "_meta", MODERN)
        if version is None or message.method is None:
            return []
        found = {"mcp-protocol-version": version, "mcp-method": message.method}
        name = text_in(raw, message.params, _NAMED_BY.get(message.method, ""))
        if name is not None:
            found["mcp-name"] = name
        return [(key.encode(), _written(value)) for key, value in found.items()] + self._arguments(raw, message, name)

    def _arguments(self, raw: bytes, message: RpcMessage, tool: str | None) -> list[tuple[bytes, bytes]]:
        if message.method != "tools/call" or not (paths := self._of_tool.get(tool or "")) or message.params is None:
            return []
        try:
            params = decode(raw, message.params)
        except NotJson:
            return []
        arguments: Any = params.get("arguments") if isinstance(params, dict) else None
        found = ((token, _at(arguments, path)) for path, token in paths.items())
        return [(b"mcp-param-" + token.lower().encode(), _written(text)) for token, text in found if text is not None]


def _headers_in(schema: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the paths of arguments that are repeated, with the suffixes of their headers' names."""
    properties: Mapping[str, Any] = schema.get("properties") or {}
    for name, inner in properties.items():
        if isinstance(inner, dict):
            token = inner.get("x-mcp-header")
            if isinstance(token, str) and _TOKEN.match(token):
                yield (*path, name), token
            yield from _headers_in(inner, (*path, name))


def _at(value: Any, path: Path) -> str | None:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int) else None


def _written(text: str) -> bytes:
    """Return a value in the form of a header: unchanged if it is plain, otherwise in Base64."""
    if not text or _PLAIN.match(text):
        return text.encode("ascii")
    return b"=?base64?" + base64.b64encode(text.encode("utf-8", "replace")) + b"?="
