"""What do results of tools say that Anthropic itself runs, and which text may take their place?

They are in the assistant's own message after their calls, each in its own format. Source: the request types of the SDK
(`BetaRequestMCPToolResultBlockParam`, `BetaCodeExecutionResultBlockParam` and their neighbours). Law: a cut result is valid by
these types, and cutting it again changes nothing. The API checks each citation against the result that it names: if a search or a
page goes that the answer cites, the citations are removed from the words next to it, which stay. Leaves to others: whether calls
and results pair (`rules`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.text.json_access import blocks, field, objects, string, type_of
from penstock.wires.entries import Opaque, ToolResult

if TYPE_CHECKING:
    from penstock.text.json_access import Json

_RUNS = {"code_execution_result", "bash_code_execution_result"}
_VIEW = "text_editor_code_execution_view_result"
_PAGE = "web_fetch_result"
# A search result has no place for a text, and an empty list would say that nothing was found.
_GONE = {"type": "web_search_tool_result_error", "error_code": "unavailable"}


def hosted_result(block: Json, *, is_cited: bool) -> ToolResult | None:
    """Return a block as a result; None if its format cannot be cut.

    Args:
        block: a block of the assistant's message.
        is_cited: whether the message cites what its tools found.
    """
    kind, content = type_of(block), field(block, "content")
    call_id = string(field(block, "tool_use_id"))
    if kind == "web_search_tool_result":
        is_found = isinstance(content, list)
        return ToolResult(call_id=call_id, text="", parts=(Opaque(block),), is_clearable=is_found, is_cited=is_cited)
    if kind == "mcp_tool_result":
        said = [string(held.get("text")) for held in blocks(content)]
        return ToolResult(call_id=call_id, text="\n".join(said), is_error=field(block, "is_error") is True)
    if not kind.endswith("_tool_result"):
        return None
    form = type_of(content)
    if form in _RUNS:
        printed = [string(field(content, name)) for name in ("stdout", "stderr")]
        return ToolResult(call_id=call_id, text="\n".join(filter(None, printed)))
    if form == _VIEW:
        return ToolResult(call_id=call_id, text=string(field(content, "content")))
    if form == _PAGE:
        source = field(content, "content", "source")
        shown = string(field(source, "data")) if field(source, "type") == "text" else ""
        parts = () if shown else (Opaque(block),)
        return ToolResult(call_id=call_id, text=shown, parts=parts, is_cited=is_cited)
    return None


def with_hosted_text(block: dict[str, Json], text: str) -> Json:
    """Return a result's block with `text` in it, if its format has a place for one; everything else in it stays."""
    content: Any = block.get("content")
    form = type_of(content)
    if type_of(block) == "web_search_tool_result":
        return {**block, "content": _GONE}
    if form in _RUNS:
        return {**block, "content": {**content, "stdout": text, "stderr": ""}}
    if form == _VIEW:
        return {**block, "content": {**content, "content": text}}
    if form == _PAGE:
        page = {**content["content"], "source": {"type": "text", "media_type": "text/plain", "data": text}}
        return {**block, "content": {**content, "content": page}}
    # The model has only those of the tools that it searches for that results refer to.
    offers = [held for held in objects(content) if type_of(held) == "tool_reference"]
    words = [{"type": "text", "text": text}] if text.strip() else []  # the API refuses a blank block
    return {**block, "content": [*offers, *words] if offers else text}


def is_citable(block: Json) -> bool:
    """Whether a block is a result that the words next to it may cite: what a search found, or a page."""
    return type_of(block) == "web_search_tool_result" or type_of(field(block, "content")) == _PAGE


def cites(message: Json) -> bool:
    """Whether a message cites what its tools found; the API checks each citation against the result that it names."""
    return any(block.get("citations") for block in objects(field(message, "content")))


def without_citations(block: Json) -> Json:
    """Return a text block without its citations; any other block unchanged."""
    return {key: held for key, held in block.items() if key != "citations"} if type_of(block) == "text" else block
