"""What does `execute` make of every client, way of asking and wording? A Python that has the clients runs this; it prints JSON.

    python -m tests.testing.carried_driver CLIENT…

It needs penstock's source and tests on PYTHONPATH, and takes openai, anthropic, google, amazon, litellm.

Send functions return what the clients return, including streams that nobody has read yet. Nothing is judged here:
`test_carried.py` does that.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import traceback
from contextlib import closing
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from itertools import count
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from penstock.carrier import aexecute, execute
from penstock.carrier.replies import plain
from penstock.carrier.stream_watch import StreamRefused
from penstock.models import fail, say
from penstock.overflow import parse
from penstock.store import open_store
from penstock.testing import LoopbackProvider
from penstock.wires import answer_words, dump, load, wire_named
from penstock.wires.wire import AnswerContent, RequestSize

if TYPE_CHECKING:
    from collections.abc import Callable

import_module("tests.testing.plain_http")  # before any client

EVERY_CELL = os.environ.get("PENSTOCK_EVERY_CELL") == "1"
"""True if all pairs of form and wording are tried, which takes minutes."""
WINDOW, BELIEVED = 4_000, 66_000
SAID = "At most 250."
SIZE = RequestSize(prompt_tokens=13_300)
"""About the size of `history`: three windows, and a fifth of the assumed window."""
MODEL = "some-model"


# ── wordings ─────────────────────────────────────────────────────────────────────────────────────────────────────


def exact(size: RequestSize, limit: int) -> str:
    """State both numbers."""
    return f"This model's maximum context length is {limit} tokens. However, your messages resulted in {size.input_tokens} tokens."


def lower_bound(size: RequestSize, limit: int) -> str:
    """State a limit, and that there is more."""
    del size
    return (
        f"This model's maximum context length is {limit} tokens. However, your prompt contains at least {limit + 1} input "
        "tokens. Please reduce the length of the input prompt."
    )


def total_only(size: RequestSize, limit: int) -> str:
    """State a total, and no limit."""
    del limit
    return (
        f"Requested token count exceeds the model's maximum context length: you requested {size.input_tokens} tokens."
    )


def limit_only(size: RequestSize, limit: int) -> str:
    """State a limit, and not what was counted."""
    del size
    return f"This model's maximum context length is {limit} tokens. Please reduce the length of the messages."


def code_only(size: RequestSize, limit: int) -> dict[str, Any]:
    """State a code, and a sentence without content; only OpenAI's form has a place for a code."""
    del size, limit
    said = {"message": "The request could not be processed.", "type": "invalid_request_error"}
    return {"error": {**said, "code": "context_length_exceeded"}}


def no_numbers(size: RequestSize, limit: int) -> str:
    """State a sentence without a number."""
    del size, limit
    return "Your input exceeds the context window of this model. Please adjust your input and try again."


WORDINGS: dict[str, Any] = {
    "own": None,  # exact numbers for chat, Anthropic and Gemini; a code for responses; only words for Bedrock
    "exact": exact,
    "lower bound": lower_bound,
    "total only": total_only,
    "limit only": limit_only,
    "code only": code_only,
    "no numbers": no_numbers,
}


# ── clients ──────────────────────────────────────────────────────────────────────────────────────────────────────


def of_openai(provider: LoopbackProvider) -> dict[str, Callable[[Any], Any]]:
    """Return every way in which OpenAI's client asks."""
    openai: Any = import_module("openai")
    made, awaited = (
        make(base_url=provider.base_url, api_key="none", max_retries=0) for make in (openai.OpenAI, openai.AsyncOpenAI)
    )
    if provider.wire == "openai-responses":
        return {
            "plain": lambda body: made.responses.create(**body),
            "streamed": lambda body: made.responses.create(**body, stream=True),
            "managed stream": lambda body: made.responses.stream(**body),
            "async": lambda body: awaited.responses.create(**body),
            "async streamed": lambda body: awaited.responses.create(**body, stream=True),
            "async managed stream": lambda body: awaited.responses.stream(**body),
        }
    usage = {"stream_options": {"include_usage": True}}
    return {
        "plain": lambda body: made.chat.completions.create(**body),
        "streamed": lambda body: made.chat.completions.create(**body, stream=True),
        "managed stream": lambda body: made.chat.completions.stream(**body, **usage),
        "async": lambda body: awaited.chat.completions.create(**body),
        "async streamed": lambda body: awaited.chat.completions.create(**body, stream=True),
        "async managed stream": lambda body: awaited.chat.completions.stream(**body, **usage),
    }


def of_anthropic(provider: LoopbackProvider) -> dict[str, Callable[[Any], Any]]:
    """Return every way in which Anthropic's client asks."""
    anthropic: Any = import_module("anthropic")
    made, awaited = (
        make(base_url=provider.base_url, api_key="none", max_retries=0)
        for make in (anthropic.Anthropic, anthropic.AsyncAnthropic)
    )
    return {
        "plain": lambda body: made.messages.create(**body),
        "streamed": lambda body: made.messages.create(**body, stream=True),
        "managed stream": lambda body: made.messages.stream(**body),
        "async": lambda body: awaited.messages.create(**body),
        "async streamed": lambda body: awaited.messages.create(**body, stream=True),
        "async managed stream": lambda body: awaited.messages.stream(**body),
    }


def of_google(provider: LoopbackProvider) -> dict[str, Callable[[Any], Any]]:
    """Return every way in which google-genai asks."""
    genai, types = import_module("google.genai"), import_module("google.genai.types")
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=provider.base_url))
    held = {"client": client}  # a client that nobody holds closes itself
    return {
        "plain": lambda body: held["client"].models.generate_content(**body),
        "streamed": lambda body: held["client"].models.generate_content_stream(**body),
        "async": lambda body: held["client"].aio.models.generate_content(**body),
        "async streamed": lambda body: held["client"].aio.models.generate_content_stream(**body),
    }


def of_amazon(provider: LoopbackProvider) -> dict[str, Callable[[Any], Any]]:
    """Return every way in which boto3 asks; it has no asynchronous one."""
    client = import_module("boto3").client(
        "bedrock-runtime",
        region_name="eu-west-1",
        endpoint_url=provider.base_url,
        aws_access_key_id="AKIDEXAMPLE",
        aws_secret_access_key="secret",
        config=import_module("botocore.config").Config(retries={"total_max_attempts": 1}),
    )
    return {
        "plain": lambda body: client.converse(**body),
        "streamed": lambda body: client.converse_stream(**body),
    }


def of_litellm(provider: LoopbackProvider) -> dict[str, Callable[[Any], Any]]:
    """Return every way in which LiteLLM asks, whatever the provider: its own form is OpenAI's chat."""
    litellm: Any = import_module("litellm")
    prefix = "anthropic" if provider.wire == "anthropic" else "openai"
    about = {"api_base": provider.base_url, "api_key": "none", "num_retries": 0, "max_retries": 0}

    def asked(make: Any, body: Any, **more: Any) -> Any:
        return make(**{**body, "model": f"{prefix}/{MODEL}"}, **about, **more)

    return {
        "plain": lambda body: asked(litellm.completion, body),
        "streamed": lambda body: asked(litellm.completion, body, stream=True),
        "async": lambda body: asked(litellm.acompletion, body),
        "async streamed": lambda body: asked(litellm.acompletion, body, stream=True),
    }


CLIENTS: dict[str, tuple[Callable[[LoopbackProvider], dict[str, Callable[[Any], Any]]], tuple[str, ...]]] = {
    "openai": (of_openai, ("openai-chat", "openai-responses")),
    "anthropic": (of_anthropic, ("anthropic",)),
    "google": (of_google, ("gemini",)),
    "amazon": (of_amazon, ("bedrock",)),
    "litellm": (of_litellm, ("openai-chat", "anthropic")),
}
"""Each client, and the wires of the providers that it asks here."""


# ── one request ──────────────────────────────────────────────────────────────────────────────────────────────────


def history() -> list[Any]:
    """Return six steps of a task as OpenAI's chat has them, one of which printed far too much."""
    messages: list[Any] = [{"role": "user", "content": "At most how many?"}]
    for number in range(6):
        function = {"name": "run", "arguments": json.dumps({"n": number})}
        lines = 1_000 if number == 4 else 50
        messages += [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}],
            },
            {
                "role": "tool",
                "tool_call_id": f"call_{number}",
                "content": "\n".join(f"{n}: a line of output number {n}" for n in range(lines)),
            },
        ]
    return messages


def body_for(wire: str) -> dict[str, Any]:
    """Return the arguments of the client's own call."""
    messages = dump(load(history(), "openai-chat"), wire)
    if wire == "gemini":
        return {"model": MODEL, "contents": messages, "config": {"max_output_tokens": 300}}
    if wire == "bedrock":
        return {"modelId": MODEL, "messages": messages, "inferenceConfig": {"maxTokens": 300}}
    if wire == "openai-responses":
        return {"model": MODEL, "input": messages}
    return {"model": MODEL, "messages": messages, "max_tokens": 300}


def words_of(wire: str, answer: Any) -> str:
    """Return what an answer says, plain or streamed, by our own reading of what the client returns."""
    if isinstance(answer, list):
        reader = wire_named(wire).answers.stream()
        for event in answer:
            reader.feed(plain(event))
        return answer_words(reader.body(), wire)
    return answer_words(plain(answer), wire)


def gathered(answer: Any) -> Any:
    """Return a stream as the list of its events; anything else as it is."""
    if isinstance(answer, dict) and "stream" in answer:
        return list(answer["stream"])
    if hasattr(answer, "__enter__") and not hasattr(answer, "model_dump"):
        with answer as stream:
            return list(stream)
    return answer if isinstance(answer, dict) or hasattr(answer, "model_dump") else list(answer)


async def agathered(answer: Any) -> Any:
    """Return the same of a stream that may be asynchronous."""
    if hasattr(answer, "model_dump"):
        return answer
    if hasattr(answer, "__aenter__"):
        async with answer as stream:
            return [event async for event in stream]
    return [chunk async for chunk in answer] if hasattr(answer, "__aiter__") else gathered(answer)


def carried(client: str, wire: str, form: str, wording: str, *, in_stream: bool) -> Any:
    """Carry a request of three windows, assumed to fit five times, to its answer over a client."""

    def policy(_: Any) -> Any:
        return say(SAID, requires="At most how many")

    make = CLIENTS[client][0]
    spoken = "openai-chat" if client == "litellm" else wire
    with (
        TemporaryDirectory() as folder,
        closing(open_store(f"sqlite:///{folder}/store.db")) as store,
        LoopbackProvider(
            wire, WINDOW, policy=policy, refusal=WORDINGS[wording], refuse_in_stream=in_stream
        ) as provider,
    ):
        request = body_for(spoken)
        about: Any = {"wire": spoken, "window_tokens": BELIEVED, "store": store}

        async def all_of_it() -> tuple[Any, Any]:
            result = await aexecute(make(provider)[form], request, **about)
            return result, await agathered(result.response)

        if "async" in form:
            result, answer = asyncio.run(all_of_it())
        else:
            result = execute(make(provider)[form], request, **about)
            answer = gathered(result.response)
        told = wire_events(spoken, form, answer) if result.success else str(result.error)
    return {
        "said": told,
        "outcomes": [received.outcome for received in provider.requests],
        "statuses": [received.status for received in provider.requests],
        "sizes": [received.input_tokens for received in provider.requests],
        "attempts": result.attempts,
        "warnings": result.warnings,
        "severity": result.overflow_severity,
    }


def wire_events(wire: str, form: str, answer: Any) -> str:
    """Return what was said; for a managed stream, by the client's own reading of its events."""
    if "managed" in form:
        spoken = {"content.delta": "delta", "text": "text", "response.output_text.delta": "delta"}
        return "".join(str(getattr(event, spoken[event.type])) for event in answer if event.type in spoken)
    return words_of(wire, answer)


def error_in_200(client: str, wire: str, form: str) -> Any:
    """Answer first with HTTP 200 and an error in place of the answer, as some gateways do."""
    error = wire_named(wire).double.error(no_numbers(SIZE, 0), 400)
    script = [fail(200, error), say(SAID)]
    spoken = "openai-chat" if client == "litellm" else wire
    with (
        TemporaryDirectory() as folder,
        closing(open_store(f"sqlite:///{folder}/store.db")) as store,
        LoopbackProvider(wire, 100_000, script=script) as provider,
    ):
        about: Any = {"wire": spoken, "window_tokens": BELIEVED, "store": store}

        async def all_of_it() -> Any:
            return await aexecute(CLIENTS[client][0](provider)[form], body_for(spoken), **about)

        if "async" in form:
            result = asyncio.run(all_of_it())
        else:
            result = execute(CLIENTS[client][0](provider)[form], body_for(spoken), **about)
        said = words_of(spoken, result.response) if result.success else str(result.error)
    return {"said": said, "attempts": result.attempts, "sizes": [one.input_tokens for one in provider.requests]}


class _Midway(BaseHTTPRequestHandler):
    """A provider that sends half of its answer, and then refuses the request."""

    wire: str

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Log nothing."""

    def do_POST(self) -> None:
        """Answer any request."""
        self.rfile.read(int(self.headers["content-length"]))
        spoken = wire_named(self.wire)
        content = AnswerContent(text=SAID * 20, calls=(), number=1, model=MODEL, input_tokens=10, output_tokens=80)
        events = list(spoken.double.answer_events(spoken.double.answer(content), {"stream": True}))
        half = [
            *events[: len(events) // 2],
            *spoken.double.error_events(spoken.double.error(exact(SIZE, 32_000), 400), 1),
        ]
        self.send_response(200)
        self.send_header("content-type", spoken.answers.stream_type)
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(b"".join(half))


def midway(client: str, wire: str, form: str) -> Any:
    """Return what the caller gets of a stream that is refused after its first content."""
    handler = type("Handler", (_Midway,), {"wire": wire})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    spoken = "openai-chat" if client == "litellm" else wire
    provider: Any = SimpleNamespace(
        wire=wire, base_url=f"http://127.0.0.1:{server.server_port}{wire_named(wire).double.root}"
    )
    events: list[Any] = []

    async def read_all(result: Any) -> None:
        async with contextlib.AsyncExitStack() as opened:
            answer = result.response
            stream = await opened.enter_async_context(answer) if hasattr(answer, "__aenter__") else answer
            async for event in stream:  # one by one: what came before the error is checked
                events.append(event)  # noqa: PERF401

    async def all_of_it(send: Any, **about: Any) -> Any:
        result = await aexecute(send, body_for(spoken), **about)
        await read_all(result)

    try:
        send = CLIENTS[client][0](provider)[form]
        if "async" in form:
            asyncio.run(all_of_it(send, wire=spoken, window_tokens=BELIEVED))
        else:
            answer = execute(send, body_for(spoken), wire=spoken, window_tokens=BELIEVED).response
            answer = answer["stream"] if isinstance(answer, dict) else answer
            with answer if hasattr(answer, "__enter__") else contextlib.nullcontext(answer) as stream:
                events.extend(iter(stream))
    except StreamRefused as error:
        found = parse(error)
        return {
            "said": SAID if error.received and (SAID * 20).startswith(error.received) else error.received,
            "kind": found.kind if found else None,
            "named": str(error)[:80],
            "is ours": error.overflow is not None,
        }
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    return {"said": "ended as if nothing had been", "kind": None, "named": "", "is ours": False}


def wordings_of(client: str, wire: str) -> list[str]:
    """Return the wordings with which a client is tried."""
    # LiteLLM calls an error in Anthropic's stream an internal server error, and such words are believed only with numbers.
    if (client, wire) == ("litellm", "anthropic"):
        return ["own", "exact"]
    return [wording for wording in WORDINGS if wording != "code only" or "openai" in wire]


def forms_of(client: str, wire: str) -> list[str]:
    """Return the ways in which a client asks."""
    with LoopbackProvider(wire, 1_000, script=[]) as provider:
        return list(CLIENTS[client][0](provider))


def cases(clients: list[str]) -> dict[str, Callable[[], Any]]:
    """Yield every case by its name: client, wire, form, wording, and whether the refusal is an event of the stream."""
    made: dict[str, Callable[[], Any]] = {}
    turn = count()
    for client in clients:
        for wire in CLIENTS[client][1]:
            for form in forms_of(client, wire):
                for wording in wordings_of(client, wire):
                    for late in (False, True) if "stream" in form else (False,):
                        # The short form takes every wording and every form, but not every pair of them.
                        if not EVERY_CELL and next(turn) % 7:
                            continue
                        name = f"carried/{client}/{wire}/{form}/{wording}{'/in stream' if late else ''}"
                        made[name] = partial(carried, client, wire, form, wording, in_stream=late)
                if "stream" in form:
                    made[f"midway/{client}/{wire}/{form}"] = partial(midway, client, wire, form)
                else:
                    made[f"error in 200/{client}/{wire}/{form}"] = partial(error_in_200, client, wire, form)
    return made


def main() -> None:
    """Run all cases; one that breaks reports how, and the others continue."""
    results: dict[str, Any] = {}
    output, sys.stdout = sys.stdout, sys.stderr  # some clients print their opinion of an error
    for name, case in cases(sys.argv[1:]).items():
        try:
            results[name] = case()
        except Exception:  # the test of this case shows it
            results[name] = {"broke": traceback.format_exc()}
    json.dump(results, output)


if __name__ == "__main__":
    main()
