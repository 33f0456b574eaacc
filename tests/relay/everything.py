"""What do the conformance suites call? A server of the official SDK: `python -m tests.relay.everything [PORT]`."""

from __future__ import annotations

import base64
import sys
import warnings
from typing import Annotated

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context  # noqa: TC002 - the SDK reads annotations
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import (
    AudioContent,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from pydantic import BaseModel, Field

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
SILENCE = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0").decode()
server = MCPServer("everything")


class Answer(BaseModel):
    """What a person is asked for."""

    response: str = Field(description="An answer")


class Rows(BaseModel):
    """Structured content with a schema."""

    rows: list[int]


def _text(text: str) -> TextContent:
    return TextContent(text=text)


def _image() -> ImageContent:
    return ImageContent(data=PIXEL, mime_type="image/png")


def _embedded(uri: str, kind: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type=kind, text=text))


@server.tool()
def test_simple_text() -> str:
    """A text."""
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> list[ImageContent]:
    """A picture."""
    return [_image()]


@server.tool()
def test_audio_content() -> list[AudioContent]:
    """A sound."""
    return [AudioContent(data=SILENCE, mime_type="audio/wav")]


@server.tool()
def test_embedded_resource() -> list[EmbeddedResource]:
    """A resource."""
    return [_embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


@server.tool()
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """All of these."""
    text = _text("Multiple content types test:")
    return [
        text,
        _image(),
        _embedded("test://mixed-content-resource", "application/json", '{"test": "data", "value": 123}'),
    ]


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Notifications before the result."""
    for what in ("execution started", "processing data", "execution completed"):
        await ctx.info(f"Tool {what}")
    return "Tool with logging executed successfully"


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Progress before the result."""
    for step in (0, 50, 100):
        await ctx.report_progress(progress=step, total=100, message=f"Completed step {step} of 100")
    return "done"


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """A question to the client's model, in the older era."""
    asked = [SamplingMessage(role="user", content=_text(prompt))]
    got = await ctx.session.create_message(messages=asked, max_tokens=100, related_request_id=ctx.request_id)
    return f"LLM response: {got.content.text if got.content.type == 'text' else 'none'}"


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """A question to the client's person, in the older era."""
    got = await ctx.elicit(message=message, schema=Answer)
    return (
        f"User response: action={got.action}, content={got.data.model_dump_json() if got.action == 'accept' else '{}'}"
    )


@server.tool()
async def test_input_required_result_elicitation(ctx: Context) -> str | InputRequiredResult:
    """A question back, in the modern era."""
    answer = (ctx.input_responses or {}).get("user_name")
    if isinstance(answer, ElicitResult) and answer.content:
        return f"Hello, {answer.content.get('name')}!"
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    params = ElicitRequestFormParams(message="What is your name?", requested_schema=schema)
    return InputRequiredResult(input_requests={"user_name": ElicitRequest(params=params)})


@server.tool()
def test_error_handling() -> str:
    """An error."""
    raise RuntimeError("This tool intentionally returns an error for testing")


@server.tool()
def test_x_mcp_header(
    region: Annotated[
        str, Field(description="Repeated in a header", json_schema_extra={"x-mcp-header": "Region"})
    ] = "",  # noqa: PT028 - it is no test, but the suites call it so
) -> str:
    """An argument that a header repeats."""
    return f"region={region}"


@server.tool()
def rows(count: int) -> Rows:
    """Rows with a schema."""
    return Rows(rows=list(range(count)))


@server.tool(annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False))
def lines(count: int) -> str:
    """Lines of text."""
    return "".join(f"{at}: a line\n" for at in range(count))


@server.resource("test://static-text")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary")
def static_binary() -> bytes:
    """A picture."""
    return base64.b64decode(PIXEL)


@server.resource("test://template/{id}/data")
def template(id: str) -> str:  # noqa: A002 - the suites' name
    """A template."""
    return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'


@server.prompt()
def test_simple_prompt() -> list[UserMessage]:
    """A prompt."""
    return [UserMessage(content=_text("This is a simple prompt for testing."))]


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    """A prompt with arguments."""
    return [UserMessage(content=_text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))]


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # what the modern era deprecates is needed by the older one
    if len(sys.argv) > 1:
        # h11 is used, as in the relay: httptools, which uvicorn prefers if installed, leaves spaces around the value of a header.
        uvicorn.run(server.streamable_http_app(), port=int(sys.argv[1]), http="h11", log_level="info")
    else:
        server.run()
