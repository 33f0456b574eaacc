"""Would a provider take it? `penstock violations`: a saved request held against the rules of its wire."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from penstock import inert
from penstock.cli import answer
from penstock.errors import CallerError

_WIRES = (
    "openai-chat",
    "openai-responses",
    "anthropic",
)  # those of the transcript, which is imported only when it works


@click.command("violations")
@click.argument("file", metavar="FILE|-")
@click.option("--wire", type=click.Choice(_WIRES), required=True, help="The API that the request is for.")
@click.option(
    "--json", "as_json", is_flag=True, help="A JSON list on standard output, empty when the request is valid."
)
def violations_command(file: str, wire: str, as_json: bool) -> int:
    """List what a provider would refuse in a saved request.

    FILE, or standard input, holds the body as it is sent, or its list of messages alone. Exit status 1 where something is
    found.
    """
    from penstock.transcript import continues, messages_of, violations

    try:
        request = saved_request(file)
        found = violations(messages_of(request, wire), wire, continues=continues(request, wire))
    except FileNotFoundError as error:
        return answer.fail("not_found", f"There is no file {error.filename!r}.", None, answer.MISSING, as_json=as_json)
    except OSError as error:
        message = f"{error.filename or file}: {error.strerror}"
        return answer.fail("io_error", message, None, answer.FAULT, as_json=as_json)
    except CallerError as error:
        return answer.fail("usage", str(error), None, answer.USAGE, as_json=as_json)
    if as_json:
        click.echo(json.dumps([{"index": v.index, "code": v.code, "message": v.message} for v in found]))
    else:
        lines = [f"message {v.index}: {v.code}: {inert.show(v.message)[0]}" for v in found]
        click.echo("\n".join(lines) or f"No violations: a valid request for {wire}.")
    return answer.NOTHING if found else 0


def saved_request(file: str) -> Any:
    """The JSON in a file that the user named, `-` being standard input. Raises `CallerError` where it is none, and `OSError`."""
    from penstock.workspace.root import open_own

    if file == "-":
        content = sys.stdin.buffer.read()
    else:
        with open_own(file) as stream:
            content = stream.read()
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise CallerError(f"{file} holds no JSON that can be read{where}") from error
