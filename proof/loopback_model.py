"""How is a coding agent driven without a provider? By a model on 127.0.0.1 that asks for one tool call and then says "done", in
every wire format.

    with LoopbackModel("ctx_read_file", {"path": "a.py"}) as model:
        ...  # a host whose base URL is model.url
    model.received  # what the host gave the model as the tool's result

OpenAI Responses and chat completions, Anthropic messages, Gemini generateContent; JSON or server-sent events, as requested.
Law: it calls nothing that the host did not offer. Leaves to others: which host it is.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

Body = dict[str, Any]
# Hosts treat answers with the same id as one.
_NUMBERS = itertools.count(1)
_USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{10000,}")


class Call(NamedTuple):
    """A call of a tool."""

    name: str
    namespace: str | None
    arguments: dict[str, object]
    number: str
    """The suffix that makes its id differ from the first call's."""


class LoopbackModel:
    """`tool` is the end of the host's name for our tool; `received` are results that came back, `bodies` requests."""

    def __init__(self, tool: str, arguments: dict[str, object]) -> None:
        self.tool = tool
        self.arguments = arguments
        self.received: list[str] = []
        self.offered: list[str] = []
        self.bodies: list[Body] = []
        self.usage = dict(_USAGE)
        self.asked = False
        self.answer = "done"
        """Its answer when it calls nothing."""
        self.later: list[tuple[str, dict[str, object]]] = []
        """Further calls after the first, each as the end of the tool's name and its arguments."""
        self.max_image_bytes: int | None = None
        """A request with an image whose base64 is longer is refused in the provider's words. None accepts all."""
        self.calls = 0
        self.window_tokens: int | None = None
        """Its window, at four bytes a token; a larger request is refused in the provider's words. None accepts all."""
        self.refused = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def counted(self, sent: bytes) -> int:
        """Return the size of a request in its tokens."""
        return len(sent) // 4

    def measures(self, sent: bytes) -> bool:
        """Include a request in the figures of the next answer; False if it is too large."""
        if self.window_tokens is None:
            return True
        tokens = self.counted(sent)
        self.usage = {"input_tokens": tokens, "output_tokens": 1, "total_tokens": tokens + 1}
        self.refused += tokens > self.window_tokens
        return tokens <= self.window_tokens

    def turn(self, body: Body) -> Call | None:
        """The next call, by the offered name and namespace; None: say done."""
        self.bodies.append(body)
        self.received += [result for result in _results(body) if result not in self.received]
        names = list(_offered(body))
        self.offered += [name for name, _ in names if name not in self.offered]
        if self.asked and self.later:
            (self.tool, self.arguments), self.asked = self.later.pop(0), False
        found = next((offer for offer in names if offer[0].endswith(self.tool)), None)
        if found is None or self.asked:
            return None
        self.asked = True
        self.calls += 1
        return Call(*found, self.arguments, str(self.calls) if self.calls > 1 else "")

    def takes_images(self, sent: bytes) -> bool:
        """Whether no image in a request is too large."""
        longest = max(map(len, _BASE64.findall(sent)), default=0)
        is_taken = self.max_image_bytes is None or longest <= self.max_image_bytes
        self.refused += not is_taken
        return is_taken


def _offered(body: Body) -> Iterator[tuple[str, str | None]]:
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":  # Codex wraps the tools of one MCP server
            for inner in tool.get("tools", []):
                yield inner["name"], tool["name"]
        elif "functionDeclarations" in tool:
            for inner in tool["functionDeclarations"]:
                yield inner["name"], None
        elif "function" in tool:
            yield tool["function"]["name"], None
        elif "name" in tool:
            yield tool["name"], None


def _results(body: Body) -> Iterator[str]:
    """Every tool result in a request, as text."""
    for item in body.get("input") or []:
        if isinstance(item, dict) and item.get("type") == "function_call_output":
            yield _text(item["output"])
    for message in body.get("messages") or []:
        if message["role"] == "tool":
            yield _text(message["content"])
        elif isinstance(message["content"], list):
            for block in message["content"]:
                if block.get("type") == "tool_result":
                    yield _text(block["content"])
    for content in body.get("contents") or []:
        for part in content.get("parts", []):
            if "functionResponse" in part:
                response = part["functionResponse"]["response"]
                yield _text(response.get("output", response))


def _text(content: object) -> str:
    if isinstance(content, list):
        return "".join(_text(block) for block in content)
    if isinstance(content, dict):
        return str(content.get("text") or content.get("output") or json.dumps(content))
    return str(content)


def _responses(call: Call | None, usage: Body, words: str) -> list[Body]:
    item: Body = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    item["content"] = [{"type": "output_text", "text": words, "annotations": []}]
    if call:
        item = {"type": "function_call", "id": f"f{call.number}", "call_id": f"c{call.number}"}
        item |= {"name": call.name, "arguments": json.dumps(call.arguments)}
        item |= {"status": "completed"} | ({"namespace": call.namespace} if call.namespace else {})
    answer = {"id": "r", "object": "response", "status": "completed", "output": [item], "usage": usage}
    return [
        {"type": "response.created", "response": {**answer, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": answer},
    ]


def _chat(call: Call | None, usage: Body, words: str, *, stream: bool) -> list[Body]:
    message: Body = {"role": "assistant", "content": words}
    if call:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        message = {"role": "assistant", "content": None}
        message["tool_calls"] = [{"index": 0, "id": f"c{call.number}", "type": "function", "function": function}]
    part, kind = ("delta", "chat.completion.chunk") if stream else ("message", "chat.completion")
    frame: Body = {"id": "x", "object": kind, "created": 1, "model": "m"}
    usage = {"prompt_tokens": usage["input_tokens"], "completion_tokens": 1, "total_tokens": usage["total_tokens"]}
    finish = {"index": 0, "finish_reason": "tool_calls" if call else "stop"}
    if not stream:
        return [{**frame, "choices": [{**finish, part: message}], "usage": usage}]
    first = {**frame, "choices": [{"index": 0, part: message, "finish_reason": None}]}
    return [first, {**frame, "choices": [{**finish, part: {}}], "usage": usage}]


def _messages(call: Call | None, usage: Body, words: str, *, stream: bool) -> list[Body]:
    block: Body = {"type": "text", "text": words}
    if call:
        block = {"type": "tool_use", "id": f"toolu_1{call.number}", "name": call.name, "input": call.arguments}
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    message = {
        "id": f"msg_{next(_NUMBERS)}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": usage,
    }
    if not stream:
        return [{**message, **stop, "content": [block]}]
    delta: Body = {"type": "text_delta", "text": words}
    if call:
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
    empty = {**block, "input": {}} if call else {"type": "text", "text": ""}
    return [
        {"type": "message_start", "message": {**message, "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def _as_asked(body: Body, words: str) -> str:
    """Return the answer in the form that a Gemini request asks for.

    Gemini CLI asks every few turns whether it is going in circles, and keeps asking for minutes if the answer is not JSON.
    """
    form = body.get("generationConfig") or {}
    if form.get("responseMimeType") != "application/json":
        return words
    properties = (form.get("responseJsonSchema") or form.get("responseSchema") or {}).get("properties", {})
    return json.dumps({name: 0 if one.get("type") == "number" else words for name, one in properties.items()})


def _gemini(call: Call | None, used: Body, words: str) -> list[Body]:
    part: Body = {"text": words}
    if call:
        part = {"functionCall": {"name": call.name, "args": call.arguments}}
    content = {"role": "model", "parts": [part]}
    usage = {
        "promptTokenCount": used["input_tokens"],
        "candidatesTokenCount": 1,
        "totalTokenCount": used["total_tokens"],
    }
    return [{"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}]


def _refusal(path: str, tokens: int, most: int) -> tuple[list[Body], int]:
    """The refusals of the four wires' providers in 2026, and the status."""
    if path.endswith("/responses"):
        words = "Your input exceeds the context window of this model. Please adjust your input and try again."
        error = {"code": "context_length_exceeded", "message": words}
        failed = {"id": "r", "object": "response", "status": "failed", "error": error, "output": []}
        return [{"type": "response.failed", "response": failed}], 200
    if path.endswith("/messages"):
        words = f"prompt is too long: {tokens} tokens > {most} maximum"
        return [{"type": "error", "error": {"type": "invalid_request_error", "message": words}}], 400
    if path.endswith("/chat/completions"):
        words = (
            f"This model's maximum context length is {most} tokens. However, your messages resulted in {tokens} "
            "tokens. Please reduce the length of the messages."
        )
        return [{"error": {"message": words, "type": "invalid_request_error", "code": "context_length_exceeded"}}], 400
    words = f"The input token count ({tokens}) exceeds the maximum number of tokens allowed ({most})."
    return [{"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}], 400


def _image_refusal(path: str, length: int, most: int) -> tuple[list[Body], int]:
    """The refusals of Anthropic, Google and OpenAI for an image that is too large."""
    if path.endswith("enerateContent"):
        words = f"Request payload size exceeds the limit: {most} bytes."
        return [{"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}], 400
    if path.endswith("/messages"):
        words = f"messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: {length} bytes > {most} bytes"
        return [{"type": "error", "error": {"type": "invalid_request_error", "message": words}}], 400
    words = f"Invalid image: image size {length} bytes exceeds the maximum of {most} bytes per image."
    error = {"message": words, "type": "invalid_request_error", "param": "input", "code": "image_too_large"}
    return [{"error": error}], 400


def _handler(model: LoopbackModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # otherwise a second answer waits 40 ms for an acknowledgement

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._answer([{"object": "list", "data": [{"id": "m", "object": "model"}], "models": []}], stream=False)

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(sent or b"{}")
            path = self.path.partition("?")[0]
            stream = bool(body.get("stream")) or "streamGenerateContent" in path
            if path.endswith(("count_tokens", "countTokens")):
                self._answer([{"input_tokens": 1, "totalTokens": 1}], stream=False)
            elif not model.takes_images(sent):
                frames, status = _image_refusal(path, len(sent), model.max_image_bytes or 0)
                self._answer(frames, stream=status == 200, status=status)
            elif not model.measures(sent):
                frames, status = _refusal(path, model.counted(sent), model.window_tokens or 0)
                self._answer(frames, stream=status == 200, status=status)
            elif path.endswith("/responses"):
                frames = _responses(model.turn(body), model.usage, model.answer)
                self._answer(frames if stream else [frames[-1]["response"]], stream=stream)
            elif path.endswith("/chat/completions"):
                self._answer(
                    _chat(model.turn(body), model.usage, model.answer, stream=stream),
                    stream=stream,
                    last=b"data: [DONE]\n\n",
                )
            elif path.endswith("/messages"):
                self._answer(_messages(model.turn(body), model.usage, model.answer, stream=stream), stream=stream)
            elif path.endswith("enerateContent"):
                self._answer(_gemini(model.turn(body), model.usage, _as_asked(body, model.answer)), stream=stream)
            else:
                self._answer([{}], stream=False)

        def _answer(self, frames: list[Body], *, stream: bool, last: bytes = b"", status: int = 200) -> None:
            sent = json.dumps(frames[0]).encode()
            if stream:
                sent = last if frames[0].get("object") == "chat.completion.chunk" else b""
                sent = b"".join(self._event(frame) for frame in frames) + sent
            self.send_response(status)
            self.send_header("content-type", "text/event-stream" if stream else "application/json")
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def _event(self, frame: Body) -> bytes:
            name = f"event: {frame['type']}\n" if "type" in frame else ""
            return f"{name}data: {json.dumps(frame)}\n\n".encode()

    return Handler
