"""What do the vendors' clients receive through a gateway? A Python that has them runs this; it prints one JSON object.

    python -m tests.gateway.sdk_driver '{"anthropic": "http://127.0.0.1:…", …}' < requests.json

Clients get the address as an argument, and once by the variables that docs/gateway.md names. Nothing is judged here:
`test_sdks.py` does that. Streams are assembled by the clients' own helpers, which check the order of events.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def anthropic(url: str | None, body: dict[str, Any], *, streamed: bool) -> str:
    client = import_module("anthropic").Anthropic(base_url=url, api_key="none", max_retries=0)
    with client:
        if not streamed:
            answer = client.messages.create(**body)
        else:
            with client.messages.stream(**body) as stream:
                answer = stream.get_final_message()
    assert all(block.type == "text" for block in answer.content), answer
    return "".join(block.text for block in answer.content)


def openai_chat(url: str | None, body: dict[str, Any], *, streamed: bool) -> str:
    with import_module("openai").OpenAI(base_url=url and f"{url}/v1", api_key="none", max_retries=0) as client:
        if not streamed:
            answer = client.chat.completions.create(**body)
        else:
            with client.chat.completions.stream(**body) as stream:
                answer = stream.get_final_completion()
    assert not answer.choices[0].message.tool_calls, answer
    return str(answer.choices[0].message.content)


def openai_responses(url: str | None, body: dict[str, Any], *, streamed: bool) -> str:
    with import_module("openai").OpenAI(base_url=url and f"{url}/v1", api_key="none", max_retries=0) as client:
        if not streamed:
            answer = client.responses.create(**body)
        else:
            with client.responses.stream(**body) as stream:
                answer = stream.get_final_response()
    assert all(item.type == "message" for item in answer.output), answer
    return str(answer.output_text)


def gemini(url: str | None, body: dict[str, Any], *, streamed: bool) -> str:
    genai, types = import_module("google.genai"), import_module("google.genai.types")
    config = types.GenerateContentConfig(
        tools=[types.Tool(**tool) for tool in body.get("tools", [])],
        max_output_tokens=500,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    asked = {"model": "m", "contents": body["contents"], "config": config}
    with genai.Client(api_key="none", http_options=url and types.HttpOptions(base_url=url)) as client:
        if not streamed:
            answers = [client.models.generate_content(**asked)]
        else:
            answers = list(client.models.generate_content_stream(**asked))
    assert not any(answer.function_calls for answer in answers), answers
    return "".join(answer.text or "" for answer in answers)


def bedrock(url: str | None, body: dict[str, Any], *, streamed: bool) -> str:
    # Over plain HTTP this client sends no bearer token.
    os.environ |= {"AWS_ACCESS_KEY_ID": "AKIDCLIENT", "AWS_SECRET_ACCESS_KEY": "client's secret"}
    config = import_module("botocore.config").Config(retries={"total_max_attempts": 1})
    client = import_module("boto3").client("bedrock-runtime", region_name="eu-west-1", endpoint_url=url, config=config)
    try:
        if not streamed:
            answer = client.converse(modelId="m", **body)
            return "".join(block["text"] for block in answer["output"]["message"]["content"])
        stream = client.converse_stream(modelId="m", **body)["stream"]
        deltas = [event["contentBlockDelta"]["delta"] for event in stream if "contentBlockDelta" in event]
        return "".join(delta["text"] for delta in deltas)
    finally:
        client.close()


CLIENTS = {
    "anthropic": anthropic,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "gemini": gemini,
    "bedrock": bedrock,
}


VARIABLES = {
    "anthropic": ("ANTHROPIC_BASE_URL", ""),
    "openai-chat": ("OPENAI_BASE_URL", "/v1"),
    "openai-responses": ("OPENAI_BASE_URL", "/v1"),
    "gemini": ("GOOGLE_GEMINI_BASE_URL", ""),
    "bedrock": ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", ""),
}
"""The variable that holds the address if no argument does, and the path that follows the gateway's own address in it."""


def main() -> None:
    """Ask each gateway, plain and streamed, with a history that fits and with one that does not."""
    urls, requests = json.loads(sys.argv[1]), json.load(sys.stdin)
    heard = {}
    for wire, url in urls.items():
        for form in ("plain", "streamed"):
            ask, is_streamed = CLIENTS[wire], form == "streamed"
            for size in ("small", "large"):
                heard[f"{wire} {size} {form}"] = ask(url, requests[wire][size], streamed=is_streamed)
            name, path = VARIABLES[wire]
            os.environ[name] = url + path
            heard[f"{wire} by its variable {form}"] = ask(None, requests[wire]["small"], streamed=is_streamed)
            del os.environ[name]
    print(json.dumps(heard))


if __name__ == "__main__":
    main()
