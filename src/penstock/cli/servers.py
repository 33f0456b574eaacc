"""What do the MCP servers of other agents cost? `penstock bill --mcp`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer
from penstock.cli.installing import surroundings
from penstock.errors import CallerError
from penstock.text import escape
from penstock.text.notices import counted

if TYPE_CHECKING:
    from penstock.hosts.tool_definitions import ServerTools

_NAMED_TOOLS = 3


def bill_of_servers(file: str | None, wire: str, model: str, *, as_json: bool) -> int:
    """Print what the tools of each server take of every request; the exit status says whether each was read and has answered.

    Args:
        file: a configuration that names servers; None for those of the user's hosts.
        wire: the API whose form of definitions is counted.
        model: the model whose tokens are counted.
        as_json: print it for a script.
    """
    try:
        from penstock.hosts.tool_definitions import ask_servers
    except ImportError as error:
        raise CallerError(f"penstock bill --mcp needs the extra: pip install 'penstock[mcp]' ({error})") from error
    from penstock.hosts.servers import configured_servers, servers_in
    from penstock.text.tokens import best_counter

    servers, unread = configured_servers(surroundings()[0]) if file is None else (servers_in(file, os.environ), [])
    if not servers and not unread:
        value: dict[str, Any] = {"servers": [], "tokens": 0, "unread": []}
        answer.give(value, "No MCP server is configured for this user.", as_json)
        return answer.NOTHING
    asked = ask_servers(
        servers, best_counter(model), wire, tell=lambda line: click.echo(escape.show_argument(line), err=True)
    )
    asked.sort(key=lambda each: -each.tokens)
    total = sum(each.tokens for each in asked)
    lines = [_line(each) for each in asked]
    lines += [escape.show_argument(f"        ?  {each.path}: {each.fault}") for each in unread]
    lines.append(
        f"{total:>9}  in all, at most, in each request of a host that has them all ({wire}, counted for {model})"
    )
    rows = [_row(each) for each in asked]
    said = [{"path": each.path, "error": each.fault} for each in unread]
    answer.give({"servers": rows, "tokens": total, "unread": said}, "\n".join(lines), as_json)
    return answer.PARTIAL if unread or any(each.fault for each in asked) else 0


def _line(each: ServerTools) -> str:
    hosts = f"; {', '.join(each.server.hosts)}" if each.server.hosts else ""
    if each.fault:
        return escape.show_argument(f"        ?  {each.server.name}{hosts}: {each.fault}")
    largest = ", ".join(f"{name} {tokens}" for name, tokens in each.tools[:_NAMED_TOOLS])
    tools = counted(len(each.tools), "tool")
    return escape.show_argument(f"{each.tokens:>9}  {each.server.name} ({tools}{hosts}): {largest}")


def _row(each: ServerTools) -> dict[str, Any]:
    tools = [{"name": name, "tokens": tokens} for name, tokens in each.tools]
    row: dict[str, Any] = {"name": each.server.name, "hosts": list(each.server.hosts), "tokens": each.tokens}
    return {**row, "tools": tools, "error": each.fault or None}
