"""Which provider stands behind R27? A separate process that counts 30 % more than anybody would, and refuses what is too long.

An answer is derived from its question, so that an answer to another question can be recognized; a request whose key is not the
asker's is refused. Some answers read back what was cut. Leaves to others: everything that is slow to import, since it is killed all
the time.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import secrets
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

WINDOW_TOKENS = 4_000
_FACTOR = 1.3 / 4  # tokens per byte, by this provider's count


def answer_to(question: str) -> str:
    """The one right answer to a question."""
    return f"{question} is {hashlib.sha256(question.encode()).hexdigest()}"


_ASKED = re.compile(rb"I ask (question-[0-9a-f]+-([0-9]+))")
_STUB = re.compile(rb"ctx_page\(handle=\\*\"([A-Za-z0-9]{22})")


def said(body: bytes, key: bytes, *, is_count: bool = False) -> tuple[int, Any]:
    """The provider's reply to a request: a status and the content of its answer, or an error."""
    # The newest question has the highest number, wherever it is: a read-back result after it may contain earlier questions.
    asked = max(_ASKED.findall(body), key=lambda found: int(found[1]), default=(b"question--0", b"0"))[0]
    if not asked.split(b"-")[1] or asked.split(b"-")[1] not in key:
        return 401, {"type": "authentication_error", "message": "another client's key"}
    tokens = int(len(body) * _FACTOR)
    if is_count:
        return 200, {"input_tokens": tokens}
    if tokens > WINDOW_TOKENS:
        message = f"prompt is too long: {tokens} tokens > {WINDOW_TOKENS} maximum"
        return 400, {"type": "invalid_request_error", "message": message}
    question = asked.decode()
    handle = _STUB.search(body)
    is_read = body.rfind(b"toolu_back") > body.rfind(asked)
    if handle and b'"ctx_page"' in body and not is_read and int(question.rpartition("-")[2]) % 4 == 0:
        arguments = {"handle": handle[1].decode(), "start_byte": 0, "max_bytes": 200}
        call = {"type": "tool_use", "id": f"toolu_back{secrets.token_hex(4)}", "name": "ctx_page", "input": arguments}
        return 200, [call]
    return 200, [{"type": "text", "text": answer_to(question)}]


def message(content: list[Any]) -> dict[str, Any]:
    """An answer that is not a stream."""
    reason = "tool_use" if content[0]["type"] == "tool_use" else "end_turn"
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    return {**head, "content": content, "stop_reason": reason, "usage": {"input_tokens": 9, "output_tokens": 1}}


def events_of(content: list[Any]) -> Iterator[bytes]:
    """The events of an answer, with its text in several."""
    (block,) = content
    is_text = block["type"] == "text"
    started = {**message(content), "content": [], "stop_reason": None}
    opened = {**block, "text": ""} if is_text else {**block, "input": {}}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": started},
        {"type": "content_block_start", "index": 0, "content_block": opened},
    ]
    whole = block["text"] if is_text else json.dumps(block["input"])
    for at in range(0, len(whole), 20):
        part = whole[at : at + 20]
        delta = {"type": "text_delta", "text": part} if is_text else {"type": "input_json_delta", "partial_json": part}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    events += [
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": message(content)["stop_reason"]},
            "usage": {"output_tokens": 1},
        },
        {"type": "message_stop"},
    ]
    for event in events:
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


class _Connection(asyncio.Protocol):
    """A client of the provider. Events are written one by one, so that a kill falls between them."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._under_way: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for answers."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer complete requests: clients wait for an answer before they ask again."""
        self._held += data
        at = self._held.find(b"\r\n\r\n")
        if at < 0:
            return
        head = bytes(self._held[:at]).lower()
        size = int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0] or b"0")
        if len(self._held) < at + 4 + size:
            return
        body = bytes(self._held[at + 4 : at + 4 + size])
        del self._held[: at + 4 + size]
        key = head.partition(b"x-api-key: ")[2].partition(b"\r\n")[0]
        is_count = b"count_tokens" in head.partition(b"\r\n")[0]
        status, content = said(body, key, is_count=is_count)
        if status != 200:
            self._write(status, {"type": "error", "error": content})
        elif is_count:
            self._write(200, content)
        elif b'"stream": true' in body:
            self._under_way = asyncio.ensure_future(self._stream(content))
        else:
            self._write(200, message(content))

    async def _stream(self, content: list[Any]) -> None:
        self._transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for event in events_of(content):
            self._transport.write(b"%x\r\n%s\r\n" % (len(event), event))
            await asyncio.sleep(0)
        self._transport.write(b"0\r\n\r\n")

    def _write(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        head = f"HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        self._transport.write(head.encode() + body)


async def serve_provider(port: int) -> None:
    """Serve as the provider on a port."""
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", port, backlog=1_024)
    await server.serve_forever()
