"""What do google-genai and boto3 see of a loopback provider? A Python that has them runs this; it prints one JSON object of cases.

    python -m tests.testing.cloud_sdk_driver    (with penstock's source and tests on PYTHONPATH)

Nothing is judged here: `test_cloud_sdks.py` does that, each case in a test of its own.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
import sys
import traceback
from contextlib import closing
from functools import partial
from importlib import import_module
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from penstock.carrier.execution import aexecute, execute
from penstock.models import call, calls, load_model, say
from penstock.models.signing import aws_signer
from penstock.overflow import diagnose, parse
from penstock.store import open_store
from penstock.testing import LoopbackProvider
from penstock.wires import violations

if TYPE_CHECKING:
    from collections.abc import Callable

import_module("tests.testing.plain_http")  # before any client

boto3: Any = import_module("boto3")
botocore_config: Any = import_module("botocore.config")
genai: Any = import_module("google.genai")
types: Any = import_module("google.genai.types")

WINDOW = 2_000
MODEL = "eu.some-model:1"
TEXT = "Looking at both: naïve “quotes”, 漢字, a line\nand another. " * 3
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
FORMS = {"gemini": ("plain", "streamed", "async", "async streamed"), "bedrock": ("plain", "streamed")}
Turn = tuple[str, list[list[Any]], Any]


# ── sending ──────────────────────────────────────────────────────────────────────────────────────────────────────


def google(provider: LoopbackProvider) -> Any:
    """Return google-genai's client, as its users make it."""
    return genai.Client(api_key="none", http_options=types.HttpOptions(base_url=provider.base_url))


def amazon(provider: LoopbackProvider) -> Any:
    """Return boto3's client, as its users make it, without its retries."""
    return boto3.client(
        "bedrock-runtime",
        region_name="eu-west-1",
        endpoint_url=provider.base_url,
        aws_access_key_id="AKIDEXAMPLE",
        aws_secret_access_key="secret",
        config=botocore_config.Config(retries={"total_max_attempts": 1}),
    )


def sender(provider: LoopbackProvider, form: str) -> Callable[[Any], Any]:
    """Return a send function that returns what the SDK does: an object, or a stream that nobody has read yet."""
    if provider.wire == "bedrock":
        client = amazon(provider)
        return lambda body: (client.converse_stream if form == "streamed" else client.converse)(**body)
    client = google(provider)
    models = client.aio.models if form.startswith("async") else client.models

    def send(body: Any) -> Any:
        _ = client  # kept open as long as the function
        return (models.generate_content_stream if "streamed" in form else models.generate_content)(**body)

    return send


def whole(provider: LoopbackProvider, form: str, body: Any) -> Any:
    """Return the answer to a body, gathered if it is a stream."""
    send = sender(provider, form)  # holds its client, which ends with it
    answer = send(body)
    return asyncio.run(gathered_async(answer)) if form.startswith("async") else gathered(answer)


def gathered(answer: Any) -> Any:
    """Return what an answer says, whatever its form."""
    if isinstance(answer, dict) and "stream" in answer:
        return list(answer["stream"])
    return answer if isinstance(answer, dict) or hasattr(answer, "candidates") else list(answer)


async def gathered_async(answer: Any) -> Any:
    """Return the same of an answer that is awaited."""
    answer = await answer if hasattr(answer, "__await__") else answer
    return [chunk async for chunk in answer] if hasattr(answer, "__aiter__") else answer


def body(wire: str, messages: list[Any], *, tools: bool = False) -> dict[str, Any]:
    """Return the arguments of the SDK's own call."""
    function = {"name": "read_file", "description": "Reads a file."}
    if wire == "gemini":
        declared = [{"function_declarations": [{**function, "parameters_json_schema": SCHEMA}]}]
        config = {"system_instruction": "Be brief.", "max_output_tokens": 300, **({"tools": declared} if tools else {})}
        return {"model": MODEL, "contents": messages, "config": config}
    offered = [{"toolSpec": {**function, "inputSchema": {"json": SCHEMA}}}]
    return {
        "modelId": MODEL,
        "messages": messages,
        "system": [{"text": "Be brief."}],
        "inferenceConfig": {"maxTokens": 300},
        **({"toolConfig": {"tools": offered}} if tools else {}),
    }


def user(wire: str, text: str) -> Any:
    """Return a message of the user."""
    return {"role": "user", "parts" if wire == "gemini" else "content": [{"text": text}]}


def told(wire: str, answer: Any) -> tuple[Turn, list[Any]]:
    """Return words, calls and usage of an answer as the SDK gives them, and the messages that carry it back with results."""
    if wire == "gemini":
        chunks = answer if isinstance(answer, list) else [answer]
        parts = [p for c in chunks for p in (c.candidates[0].content.parts or [] if c.candidates else [])]
        asked = [[p.function_call.id, p.function_call.name, p.function_call.args] for p in parts if p.function_call]
        content = {"role": "model", "parts": [p.model_dump(exclude_none=True) for p in parts]}
        results = [
            types.Part.from_function_response(name=name, response={"result": args["path"]}) for _, name, args in asked
        ]
        usage = chunks[-1].usage_metadata
        back = [content, {"role": "user", "parts": [part.model_dump(exclude_none=True) for part in results]}]
        counted = [usage.prompt_token_count, usage.candidates_token_count]
        return ("".join(p.text or "" for p in parts), asked, counted), back if asked else back[:1]
    if isinstance(answer, list):
        message, usage = joined(answer)
    else:
        message, usage = answer["output"]["message"], answer["usage"]
    used = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    asked = [[one["toolUseId"], one["name"], one["input"]] for one in used]
    results = [{"toolResult": {"toolUseId": i, "content": [{"text": args["path"]}]}} for i, _, args in asked]
    said = "".join(block.get("text", "") for block in message["content"])
    back = [message, {"role": "user", "content": results}]
    return (said, asked, [usage["inputTokens"], usage["outputTokens"]]), back if asked else back[:1]


def joined(events: list[Any]) -> tuple[Any, Any]:
    """Return a message and its usage from the events that boto3 read, assembled as its documentation does."""
    blocks: dict[int, Any] = {}
    usage: Any = None
    for event in events:
        if "contentBlockStart" in event:
            started = event["contentBlockStart"]
            blocks[started["contentBlockIndex"]] = {"toolUse": {**started["start"]["toolUse"], "input": ""}}
        elif "contentBlockDelta" in event:
            delta, index = event["contentBlockDelta"]["delta"], event["contentBlockDelta"]["contentBlockIndex"]
            if "text" in delta:
                blocks.setdefault(index, {"text": ""})["text"] += delta["text"]
            else:
                blocks[index]["toolUse"]["input"] += delta["toolUse"]["input"]
        elif "metadata" in event:
            usage = event["metadata"]["usage"]
    content = [blocks[index] for index in sorted(blocks)]
    for block in content:
        if "toolUse" in block:
            block["toolUse"]["input"] = json.loads(block["toolUse"]["input"])
    return {"role": "assistant", "content": content}, usage


# ── cases ────────────────────────────────────────────────────────────────────────────────────────────────────────


def conversation(wire: str, form: str) -> Any:
    """Play parallel calls with words, their results, and an answer that needs both."""
    steps = [
        calls(call("read_file", path="alpha.py"), call("read_file", path="b/β.py"), text=TEXT),
        say("done", requires=["alpha", "β"]),
    ]
    with LoopbackProvider(wire, 100_000, script=steps) as provider:
        messages: list[Any] = [user(wire, "Read both.")]
        first, back = told(wire, whole(provider, form, body(wire, messages, tools=True)))
        messages += back
        second, _ = told(wire, whole(provider, form, body(wire, messages, tools=True)))
    return {
        "turns": [first, second],
        "counted": [received.input_tokens for received in provider.requests],
        "outcomes": [received.outcome for received in provider.requests],
        "faults": [v.code for v in violations(messages, wire)],
    }


def refused(wire: str, form: str, in_stream: bool) -> Any:
    """Return what the client raises for a request above the window, and what Penstock reads in it."""
    with LoopbackProvider(wire, WINDOW, script=[], count=len, refuse_in_stream=in_stream) as provider:
        error = raised(lambda: whole(provider, form, body(wire, [user(wire, "x" * 5_000)])))
    found = parse(error)
    return {
        "raised": type(error).__name__,
        "kind": diagnose(error).kind,
        "overflow": None if found is None else dataclasses.asdict(found),
        "input": provider.requests[0].input_tokens,
        "requests": len(provider.requests),
    }


def raised(ask_it: Callable[[], Any]) -> Exception:
    """Return the exception that results."""
    try:
        answer = ask_it()
    except Exception as error:  # whatever the client makes of a refusal is examined
        return error
    raise AssertionError(f"answered: {answer}")


def flooded(wire: str) -> list[Any]:
    """Return a question, a call, and a flood of its output."""
    flood = "\n".join(f"{n}: a line of output number {n}" for n in range(4_000))
    if wire == "gemini":
        asked = {
            "role": "model",
            "parts": [{"function_call": {"name": "run", "args": {"n": 1}}, "thought_signature": b"sig"}],
        }
        back = {"role": "user", "parts": [{"function_response": {"name": "run", "response": {"output": flood}}}]}
    else:
        use = {"toolUseId": "tooluse_1", "name": "run", "input": {"n": 1}}
        asked = {"role": "assistant", "content": [{"toolUse": use}]}
        result = {
            "toolUseId": "tooluse_1",
            "content": [{"text": flood}, {"image": {"format": "png", "source": {"bytes": b"PNG"}}}],
        }
        back = {"role": "user", "content": [{"toolResult": result}]}
    return [user(wire, "At most how many?"), asked, back]


def recovered(wire: str, form: str, in_stream: bool) -> Any:
    """Carry a flood, by `execute` or `aexecute` over the client, to a provider that holds far less than assumed."""

    def policy(_: Any) -> Any:
        return say("At most 250.", requires="At most how many")

    with (
        TemporaryDirectory() as folder,
        closing(open_store(f"sqlite:///{folder}/store.db")) as store,
        LoopbackProvider(wire, 16_000, policy=policy, refuse_in_stream=in_stream) as provider,
    ):
        request, send = body(wire, flooded(wire)), sender(provider, form)
        if form.startswith("async"):

            async def carried() -> tuple[Any, Any]:
                result = await aexecute(send, request, wire=wire, window_tokens=200_000, store=store)
                return result, await gathered_async(result.response)

            result, answer = asyncio.run(carried())
        else:
            result = execute(send, request, wire=wire, window_tokens=200_000, store=store)
            answer = gathered(result.response)
        said = told(wire, answer)[0][0]
    return {
        "said": said,
        "strategy": result.strategy,
        "outcomes": [received.outcome for received in provider.requests],
        "sizes": [received.input_tokens for received in provider.requests],
        "signature": wire != "gemini" or result.request["contents"][1] == request["contents"][1],
    }


def counted(wire: str) -> Any:
    """Return the API's own count of tokens, and the list of models."""
    with LoopbackProvider(wire, WINDOW, script=[], count=len, model="m-1") as provider:
        if wire == "gemini":
            asking = google(provider)
            number = asking.models.count_tokens(model="m-1", contents=[user(wire, "x")]).total_tokens
            return [number, [model.name for model in asking.models.list()], asking.models.get(model="m-1").name]
        asking = amazon(provider)
        converse = {"converse": {"messages": [user(wire, "x")]}}
        return [asking.count_tokens(modelId="m-1", input=converse)["inputTokens"]]


def remote() -> Any:
    """Compare our own client with boto3: signed if there are credentials, with one address and one body."""
    environment = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "eu-west-1"}
    with LoopbackProvider("bedrock", 10_000, policy=lambda _: say(TEXT)) as provider:
        ours = load_model(f"bedrock:{MODEL}", base_url=provider.base_url, environment=environment)
        request = body("bedrock", [user("bedrock", "hi")])
        pieces: list[str] = []
        plain = ours.send({key: value for key, value in request.items() if key != "modelId"})
        ours.send(request, on_text=pieces.append)  # type: ignore[call-arg]
        theirs = amazon(provider).converse(**request)
        bodies = [received.request for received in provider.requests]
    signer = aws_signer("bedrock", "eu-west-1", environment)
    assert signer is not None
    url = f"https://bedrock-runtime.eu-west-1.amazonaws.com/model/{MODEL.replace(':', '%3A')}/converse"
    return {
        "same": plain["output"] == theirs["output"],
        "pieces": "".join(pieces) == TEXT,
        "bodies": bodies[0] == bodies[1] == bodies[2],
        "signed": ours_signed_as_theirs(signer, url),
    }


def ours_signed_as_theirs(signer: Any, url: str) -> bool:
    """Return whether botocore's own client puts the same signature on the same request at the same second."""
    headers = signer(url, b"{}")
    scope = re.search(r"Credential=AKIDEXAMPLE/\d{8}/eu-west-1/bedrock/aws4_request", headers["authorization"])
    auth, request = import_module("botocore.auth"), import_module("botocore.awsrequest")
    credentials = import_module("botocore.credentials").Credentials("AKIDEXAMPLE", "secret")
    again = request.AWSRequest("POST", url, data=b"{}", headers={"content-type": "application/json"})
    again.context["timestamp"] = headers["x-amz-date"]
    again.headers["X-Amz-Date"] = headers["x-amz-date"]
    signing = auth.SigV4Auth(credentials, "bedrock", "eu-west-1")
    text = signing.string_to_sign(again, signing.canonical_request(again))
    return bool(scope) and headers["authorization"].endswith(f"Signature={signing.signature(text, again)}")


def cases() -> dict[str, Callable[[], Any]]:
    """Yield every case by its name."""
    made: dict[str, Callable[[], Any]] = {"remote": remote}
    for wire, forms in FORMS.items():
        made[f"counted/{wire}"] = partial(counted, wire)
        for form in forms:
            made[f"conversation/{wire}/{form}"] = partial(conversation, wire, form)
            for in_stream in (False, True) if "streamed" in form else (False,):
                mode = f"{form}/in stream" if in_stream else form
                made[f"refused/{wire}/{mode}"] = partial(refused, wire, form, in_stream)
                made[f"recovered/{wire}/{mode}"] = partial(recovered, wire, form, in_stream)
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
