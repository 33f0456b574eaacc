"""What do the official clients see of a loopback provider? A Python that has them runs this; it prints one JSON object of cases.

    python -m tests.testing.sdk_driver    (with penstock's source and tests on PYTHONPATH, and openai and anthropic installed)

Nothing is judged here: `test_sdks.py` does that, each case in a test of its own.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
import traceback
from functools import partial
from importlib import import_module
from itertools import product
from operator import attrgetter
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from penstock.carrier.execution import execute
from penstock.models import ScriptMismatch, call, calls, fail, say
from penstock.models.sizes import size_of
from penstock.overflow import diagnose, parse
from penstock.store import open_store
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from collections.abc import Callable

import_module("tests.testing.plain_http")  # before any client

openai: Any = import_module("openai")
anthropic: Any = import_module("anthropic")

WIRES = ("openai-chat", "openai-responses", "anthropic")
FORMS = ("openai", "anthropic", "vllm", "vllm-input", "vllm-lower-bound")
MODES = ("plain", "streamed", "in stream")
WINDOW = 2_000
OVERSIZE = {  # characters of the message, tokens asked for the reply, tools
    "input": (5_000, None, False),
    "input and tools": (5_000, None, True),
    "input and reply": (5_000, 300, False),
    "input, tools and reply": (5_000, 300, True),
    "reply": (500, 1_900, False),
}
TEXT = "Looking at both: naïve “quotes”, 漢字, a line\nand another. " * 3
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
Turn = tuple[str, list[list[Any]], Any]


def client(provider: LoopbackProvider) -> Any:
    """Return the official client, as its users make it."""
    make = anthropic.Anthropic if provider.wire == "anthropic" else openai.OpenAI
    return make(base_url=provider.base_url, api_key="none")


def ask(provider: LoopbackProvider, messages: list[Any], *, streamed: bool, reply: int | None, tools: bool) -> Any:
    """Send one request by the client; return its answer, gathered if it is a stream."""
    return sent(provider, body(provider.wire, messages, reply, tools=tools), streamed=streamed)


def sent(provider: LoopbackProvider, request: dict[str, Any], *, streamed: bool) -> Any:
    """Send a body by the client."""
    with client(provider) as asking:
        if provider.wire == "openai-chat":
            if not streamed:
                return asking.chat.completions.create(**request)
            options = {"stream_options": {"include_usage": True}}
            with asking.chat.completions.stream(**request, **options) as stream:
                return stream.get_final_completion()
        if provider.wire == "openai-responses":
            if not streamed:
                return asking.responses.create(**request)
            with asking.responses.stream(**request) as stream:
                return stream.get_final_response()
        if not streamed:
            return asking.messages.create(**request)
        with asking.messages.stream(**request) as stream:
            return stream.get_final_message()


def body(wire: str, messages: list[Any], reply: int | None, *, tools: bool) -> dict[str, Any]:
    """Return a request's body."""
    made: dict[str, Any] = {"model": "any", "input" if wire == "openai-responses" else "messages": messages}
    function = {"name": "read_file", "description": "Reads a file."}
    if wire == "openai-chat":
        made |= {"max_tokens": reply} if reply is not None else {}
        offered: list[Any] = [{"type": "function", "function": {**function, "parameters": SCHEMA}}]
    elif wire == "openai-responses":
        made |= {"max_output_tokens": reply} if reply is not None else {}
        offered = [{"type": "function", **function, "parameters": SCHEMA, "strict": False}]
    else:
        made["max_tokens"] = 100 if reply is None else reply
        offered = [{**function, "input_schema": SCHEMA}]
    return {**made, "tools": offered} if tools else made


def read(wire: str, answer: Any) -> tuple[Turn, list[Any]]:
    """Return words, calls and usage of an answer, and the messages that carry it back, with a result for each call."""
    if wire == "openai-chat":
        message = answer.choices[0].message
        asked = [[c.id, c.function.name, json.loads(c.function.arguments)] for c in message.tool_calls or []]
        back: list[Any] = [message.model_dump(exclude_none=True, include={"role", "content", "tool_calls"})]
        back += [{"role": "tool", "tool_call_id": key, "content": contents(given)} for key, _, given in asked]
        usage = [answer.usage.prompt_tokens, answer.usage.completion_tokens]
        return (message.content or "", asked, usage), back
    usage = [answer.usage.input_tokens, answer.usage.output_tokens]
    if wire == "openai-responses":
        asked = [[i.call_id, i.name, json.loads(i.arguments)] for i in answer.output if i.type == "function_call"]
        back = [item.model_dump(exclude_none=True) for item in answer.output]
        back += [{"type": "function_call_output", "call_id": key, "output": contents(given)} for key, _, given in asked]
        return (answer.output_text, asked, usage), back
    asked = [[b.id, b.name, b.input] for b in answer.content if b.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": key, "content": contents(given)} for key, _, given in asked]
    back = [{"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]}]
    said = "".join(block.text for block in answer.content if block.type == "text")
    return (said, asked, usage), [*back, {"role": "user", "content": results}]


def contents(given: dict[str, Any]) -> str:
    """Return the tool's result: the path, once or often."""
    return str(given["path"]) * int(given.get("times", 1))


def conversation(wire: str, *, streamed: bool) -> Any:
    """Play parallel calls with words, their results, and an answer that needs both."""
    steps = [
        calls(call("read_file", path="alpha.py"), call("read_file", path="b/β.py"), text=TEXT),
        say("done", requires=["alpha", "β"]),
    ]
    with LoopbackProvider(wire, 100_000, script=steps) as provider:
        messages: list[Any] = [{"role": "user", "content": "Read both."}]
        first, back = read(wire, ask(provider, messages, streamed=streamed, reply=None, tools=True))
        messages += back
        second, _ = read(wire, ask(provider, messages, streamed=streamed, reply=None, tools=True))
    return {
        "turns": [first, second],
        "counted": [received.input_tokens for received in provider.requests],
        "outcomes": [received.outcome for received in provider.requests],
    }


def refused(wire: str, form: Any, mode: str, oversize: str) -> Any:
    """Return what the client raises for a request above the window, and what Penstock reads in it."""
    characters, reply, tools = OVERSIZE[oversize]
    with LoopbackProvider(
        wire, WINDOW, script=[], refusal=form, count=len, refuse_in_stream=mode == "in stream"
    ) as provider:
        messages = [{"role": "user", "content": "x" * characters}]
        error = raised(lambda: ask(provider, messages, streamed=mode != "plain", reply=reply, tools=tools))
    received = provider.requests
    found = parse(error)
    return {
        "raised": type(error).__name__,
        "kind": diagnose(error).kind,
        "overflow": None if found is None else dataclasses.asdict(found),
        "size": size_of(received[0].request, wire, len),
        "statuses": [one.status for one in received],
        "refused": provider.refused,
    }


def raised(ask_it: Callable[[], Any]) -> Exception:
    """Return the exception that results."""
    try:
        answer = ask_it()
    except Exception as error:  # whatever the client makes of a refusal is examined
        return error
    raise AssertionError(f"answered: {answer}")


def invalid(wire: str) -> Any:
    """Send a result whose call is missing."""
    orphans: dict[str, Any] = {
        "openai-chat": {"role": "tool", "tool_call_id": "gone", "content": "x"},
        "openai-responses": {"type": "function_call_output", "call_id": "gone", "output": "x"},
        "anthropic": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "gone", "content": "x"}]},
    }
    with LoopbackProvider(wire, WINDOW, script=[]) as provider:
        error = raised(lambda: ask(provider, [orphans[wire]], streamed=False, reply=None, tools=False))
    told = diagnose(error)
    return [type(error).__name__, str(error), told.kind, told.overflow, provider.requests[0].outcome]


def failed(wire: str) -> Any:
    """Send a status and a body of the script's own."""
    script = [fail(418, {"error": {"type": "teapot", "message": "short and stout"}})]
    with LoopbackProvider(wire, WINDOW, script=script) as provider:
        error = raised(
            lambda: ask(provider, [{"role": "user", "content": "x"}], streamed=True, reply=None, tools=False)
        )
    return [getattr(error, "status_code", None), "short and stout" in str(error), provider.requests[0].outcome]


def left(wire: str) -> Any:
    """Send a request that the script does not allow: the client is told little, the test everything."""
    client_saw: Exception | None = None
    try:
        with LoopbackProvider(wire, WINDOW, script=[say("x", requires="prompt is too long")]) as provider:
            messages = [{"role": "user", "content": "hello"}]
            client_saw = raised(lambda: ask(provider, messages, streamed=False, reply=None, tools=False))
    except ScriptMismatch as mismatch:
        return [type(client_saw).__name__, parse(client_saw), f"{mismatch}. {mismatch.__notes__[0]}"]
    return None


def beside(wire: str) -> Any:
    """Send the other requests of a client."""
    with LoopbackProvider(wire, WINDOW, script=[], count=len, model="m-1") as provider, client(provider) as asking:
        counted = None
        if wire == "anthropic":
            messages = [{"role": "user", "content": "x"}]
            counted = asking.messages.count_tokens(model="any", messages=messages).input_tokens
        if wire == "openai-responses":
            counted = asking.responses.input_tokens.count(model="any", input="x").input_tokens
        listed = [model.id for model in asking.models.list()]
        return [listed, asking.models.retrieve("m-1").id, counted, len(provider.requests)]


def at_once(wire: str) -> Any:
    """Send forty requests of the asynchronous client at once, a third of them too large."""
    texts = ["x" * 3_000 if n % 3 == 0 else f"number {n}" for n in range(40)]

    async def all_of_them(provider: LoopbackProvider) -> list[str]:
        make = anthropic.AsyncAnthropic if wire == "anthropic" else openai.AsyncOpenAI
        async with make(base_url=provider.base_url, api_key="none") as asking:
            place = {"openai-chat": "chat.completions", "openai-responses": "responses", "anthropic": "messages"}[wire]
            create = attrgetter(f"{place}.create")(asking)
            bodies = [body(wire, [{"role": "user", "content": text}], None, tools=False) for text in texts]
            answers = await asyncio.gather(*(create(**one) for one in bodies), return_exceptions=True)
        return [type(a).__name__ if isinstance(a, Exception) else read(wire, a)[0][0] for a in answers]

    def echo(request: dict[str, Any]) -> Any:
        return say(request["input" if wire == "openai-responses" else "messages"][0]["content"])

    with LoopbackProvider(wire, WINDOW, policy=echo, count=len) as provider:
        answered = asyncio.run(all_of_them(provider))
    expected = ["BadRequestError" if len(text) > WINDOW else text for text in texts]
    return [answered == expected, len(provider.requests), provider.refused]


def tool_runner(*, streamed: bool) -> Any:
    """Let Anthropic's own loop call a tool twice: it begins a thread on the server, and goes on without one if there is none."""

    @anthropic.beta_tool  # type: ignore[untyped-decorator]  # Any, where the package is not installed
    def read_file(path: str) -> str:
        """Read a file."""
        return f"{path} says so"

    script = [call("read_file", path="a"), call("read_file", path="b", requires="a says so"), say("done")]
    with LoopbackProvider("anthropic", WINDOW, script=script) as provider, client(provider) as asking:
        messages = [{"role": "user", "content": "Read both."}]
        asked = {"model": "any", "max_tokens": 100, "tools": [read_file], "messages": messages, "stream": streamed}
        answers = [(a.get_final_message() if streamed else a) for a in asking.beta.messages.tool_runner(**asked)]
    return [answers[-1].content[0].text, [(one.outcome, len(one.request["messages"])) for one in provider.requests]]


def recovered(wire: str, form: Any, mode: str) -> Any:
    """Carry a flood of a tool's output, by `execute` over the client, to a provider that holds far less than assumed."""

    def policy(request: dict[str, Any]) -> Any:
        return say("At most 250." if "never above 250" in json.dumps(request) else "I do not know.")

    messages: list[Any] = [{"role": "user", "content": "What is the limit? It is never above 250."}]
    with LoopbackProvider(wire, 100_000, script=[call("read_file", path="a line\n", times=8_000)]) as earlier:
        messages += read(wire, ask(earlier, messages, streamed=False, reply=None, tools=True))[1]
    with (
        LoopbackProvider(wire, 8_192, policy=policy, refusal=form, refuse_in_stream=mode == "in stream") as provider,
        TemporaryDirectory() as folder,
    ):
        result = execute(
            lambda request: sent(provider, request, streamed=mode != "plain"),
            body(wire, messages, 500, tools=True),
            wire=wire,
            window_tokens=200_000,
            store=open_store(f"{folder}/store"),
        )
    return {
        "said": read(wire, result.response)[0][0] if result.success else str(result.error),
        "outcomes": [received.outcome for received in provider.requests],
        "sizes": [received.input_tokens for received in provider.requests],
        "attempts": result.attempts,
    }


def cases() -> dict[str, Callable[[], Any]]:
    """Yield everything that is checked, by name."""
    made: dict[str, Callable[[], Any]] = {}
    for wire in WIRES:
        for streamed in (False, True):
            made[f"conversation/{wire}/{streamed}"] = partial(conversation, wire, streamed=streamed)
        for look in (invalid, failed, left, beside, at_once):
            made[f"{look.__name__}/{wire}"] = partial(look, wire)
    made |= {f"tool_runner/{streamed}": partial(tool_runner, streamed=streamed) for streamed in (False, True)}
    for wire, form, mode, oversize in product(WIRES, FORMS, MODES, OVERSIZE):
        if mode != "plain" and oversize != "input and reply":
            continue  # how it is sent does not affect what is counted
        if (wire, form, oversize) == ("openai-responses", "openai", "reply"):
            continue  # which that provider accepts
        # Each form is tried over each wire, and in each mode, but not every form in every mode over every wire.
        if oversize == "input and reply" and (WIRES.index(wire) + FORMS.index(form)) % len(MODES) == MODES.index(mode):
            made[f"recovered/{wire}/{form}/{mode}"] = partial(recovered, wire, form, mode)
        name = f"refused/{wire}/{form}/{mode}/{oversize}"
        made[name] = partial(refused, wire, form, mode, oversize)
    return made


def main() -> None:
    """Run all cases; one that breaks reports how, and the others continue."""
    results = {}
    for name, case in cases().items():
        try:
            results[name] = case()
        except Exception:  # the test of this case shows it
            results[name] = {"broke": traceback.format_exc()}
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
