"""Would a provider accept it? A saved request checked against the rules of its wire, repaired, itemised, and made to fit.

`penstock violations`, `penstock repair`, `penstock bill`, `penstock fit`.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.cli.keeping import opened
from penstock.errors import CallerError
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.context.bill import Bill
    from penstock.context.compaction import Plan

MAX_REQUEST_BYTES = 256 << 20
"""The largest saved request that is read: JSON takes several times its size in memory, and standard input may be endless."""


def _wires() -> Iterable[str]:
    """Return the names of the APIs."""
    from penstock.wires import WIRES

    return WIRES


_WIRE = options.LateChoice(_wires)
_request_argument = click.argument("file", type=options.OWN_FILE, metavar="FILE|-")
_wire_option = click.option("--wire", type=_WIRE, help="The API that the request is for, if the body does not show it.")
_model_option = click.option(
    "--model", metavar="NAME", help="The model whose tokenizer to count with; by default the one named in the body."
)


@command("violations")
@_request_argument
@_wire_option
@options.json_option
def violations_command(file: str, wire: str | None, as_json: bool) -> int:
    """List what a provider would reject in a saved request.

    FILE, or standard input, holds the request body as it is sent, or just its list of messages. With --json the result is a
    list, empty if the request is valid. The exit status is 1 if anything is found.

    Examples:
      penstock violations request.json
        a call without its result, a role out of turn, and the like
      penstock violations - --wire anthropic --json < messages.json
        the same for a list of messages, for a script
    """
    from penstock.wires import continues, messages_of, violations

    request = saved_request(file)
    spoken = wire or _wire_of(request)
    found = violations(messages_of(request, spoken), spoken, continues=continues(request, spoken))
    lines = [f"message {v.index}: {v.code}: {escape.show(v.message)[0]}" for v in found]
    text = "\n".join(lines) or f"No violations: a valid request for {spoken}."
    answer.give([answer.fields_of(v, "index", "code", "message") for v in found], text, as_json)
    return answer.NOTHING if found else 0


@command("repair")
@_request_argument
@_wire_option
@options.json_option
def repair_command(file: str, wire: str | None, as_json: bool) -> int:
    """Repair what a provider would reject in a saved request.

    A result without its call gets one or becomes user text, a call without its result gets one that says so, and roles are made
    to alternate. What is valid stays byte for byte. The repaired request is printed, ready to send; the list of repairs goes to
    standard error. The exit status is 1 if something cannot be repaired.

    Examples:
      penstock repair request.json > mended.json
        a session that its provider rejects as malformed, made valid
      penstock repair - --wire anthropic --json < messages.json
        the same for a list of messages, with the list of repairs, for a script
    """
    from penstock.wires import continues, messages_of, repair, with_messages

    request = saved_request(file)
    named = wire or _wire_of(request)
    made = repair(messages_of(request, named), named, continues=continues(request, named))
    mended = with_messages(request, named, made.messages) if made.actions else request
    if as_json:
        left = [answer.fields_of(violation, "index", "code", "message") for violation in made.left]
        answer.print_json({"request": mended, "repaired": list(made.actions), "violations": left})
    else:
        click.echo(json.dumps(mended, ensure_ascii=False, indent=2))
        done = [f"repaired: {action}" for action in made.actions] or ["nothing to repair"]
        left_over = [f"left: message {v.index}: {v.code}: {v.message}" for v in made.left]
        click.echo("\n".join(escape.show(line)[0] for line in (*done, *left_over)), err=True)
    return answer.NOTHING if made.left else 0


@command("bill")
@click.argument("file", type=options.OWN_FILE, metavar="[FILE|-]", required=False)
@_wire_option
@_model_option
@click.option(
    "--mcp", "is_mcp", is_flag=True, help="Itemise the tools of your hosts' MCP servers, or of those in FILE."
)
@options.json_option
def bill_command(file: str | None, wire: str | None, model: str | None, is_mcp: bool, as_json: bool) -> int:
    """Itemise what a saved request takes up in the model's window.

    The items are instructions, tools, messages, results, media and the reserve for the reply. FILE, or standard input, holds
    the request body as it is sent, or just its list of messages. Large items are listed by name, the others are totalled by
    kind; sizes are upper bounds. With --mcp, each server in your hosts' configurations, or in FILE, is started or called, and
    the tokens that its tool definitions add to every request are shown; the exit status is 6 if a server does not answer.

    Examples:
      penstock bill request.json
        the tokens of each item, largest first
      penstock bill servers.json --mcp
        what the tools of each MCP server in the file add to every request
    """
    from penstock.context.bill import bill
    from penstock.text.tokens import best_counter

    if is_mcp:
        from penstock.cli.servers import bill_of_servers

        return bill_of_servers(file, wire or "openai-chat", model or "o200k", as_json=as_json)
    if file is None:
        raise click.UsageError("Name the FILE of a saved request, - for standard input, or --mcp.")
    request = saved_request(file)
    made = bill(request, wire or _wire_of(request), counter=best_counter(model) if model else None)
    answer.give(_bill_json(made), str(made), as_json)
    return 0


@command("fit")
@_request_argument
@_wire_option
@click.option(
    "--tokens",
    "limit_tokens",
    type=options.Whole(min=0),
    required=True,
    help="Largest size of the request, in tokens.",
)
@_model_option
@click.option("--plan", "only_plan", is_flag=True, help="Show what would be done, and do nothing.")
@options.store_option
def fit_command(
    file: str,
    wire: str | None,
    limit_tokens: int,
    model: str | None,
    only_plan: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Make a saved request fit into a number of tokens.

    The reserve for the reply is not counted against --tokens. The request is printed, valid and ready to send; the plan goes to
    standard error. What is taken out goes to the store, and its handle takes its place. If the request cannot be made to fit,
    the exit status is 7 and it is as small as it can get.

    Examples:
      penstock fit request.json --tokens 8000 --plan
        what would be taken out, and what that frees
      penstock fit request.json --tokens 8000 > smaller.json
        the request itself, made to fit
    """
    from penstock.carrier.ways_back import call_syntax
    from penstock.context.bill import counter_for
    from penstock.context.compaction import RECOVERY, apply, plan
    from penstock.store.texts import put_texts
    from penstock.text.allowance import Budget
    from penstock.wires import dump_valid, load_request

    request = saved_request(file)
    spoken = wire or _wire_of(request)
    transcript = load_request(request, spoken)
    syntax = call_syntax(request, spoken, store_url)
    # `low_water=1.0`: only what does not fit is removed. A session that continues would make room for more turns.
    budget = Budget(limit_tokens, counter=counter_for(request, model))
    made = plan(transcript, budget, RECOVERY, low_water=1.0, dialect=syntax)
    cleared: list[dict[str, object]] = []
    if made.steps and not only_plan:
        with opened(store_url, may_begin=True) as store:
            transcript = apply(transcript, made, keep_all=partial(put_texts, store))
        # Each step stored one item, in order: so handles and steps correspond.
        steps = zip(transcript.handles(), made.steps, strict=True)
        cleared = [{"handle": handle, "tokens": step.before_tokens} for handle, step in steps]
    fitted = dump_valid(transcript, request)  # repaired, too, even if nothing had to shrink
    if as_json:
        shown = {"request": None if only_plan else fitted, "plan": _plan_json(made), "cleared": cleared}
        answer.print_json({**shown, "outcome": made.outcome})
    elif only_plan:
        click.echo(str(made))
    else:
        click.echo(json.dumps(fitted, ensure_ascii=False, indent=2))
        click.echo(str(made), err=True)
    return answer.OVER_BUDGET if made.outcome == "cannot" else 0


def _wire_of(request: Any) -> str:
    """Return the API that a body reveals; if it reveals none, the error names the flag."""
    from penstock.wires import wire_of

    try:
        return wire_of(request)
    except CallerError as error:
        raise CallerError(f"{error} (--wire)") from error


def _bill_json(made: Bill) -> dict[str, object]:
    """Return a bill for scripts; `message` is the index in the list of messages."""
    return {
        **answer.fields_of(made, "tokens", "reserve_tokens"),
        "input": answer.fields_of(made.input, "tokens", "low", "high", "method"),
        "items": [
            {
                **answer.fields_of(item, "kind", "name"),
                "message": item.index,
                **answer.fields_of(item.count, "tokens", "low", "high"),
            }
            for item in made.items
        ],
    }


def _plan_json(made: Plan) -> dict[str, object]:
    """Return a plan for scripts."""
    numbers = ("limit_tokens", "before_tokens", "after_tokens", "rewritten_tokens", "repaid_after_calls")
    return {
        **answer.fields_of(made, *numbers),
        "steps": [
            {
                **answer.fields_of(step, "strategy", "what", "before_tokens", "after_tokens"),
                "message": step.first,
                "last_message": step.last,
            }
            for step in made.steps
        ],
        "irreducible": None if made.irreducible is None else _bill_json(made.irreducible),
    }


def saved_request(file: str) -> Any:
    """Return the JSON in a file that the person named.

    Args:
        file: Its path, or `-` for standard input.

    Raises:
        CallerError: It is not JSON, or is larger than `MAX_REQUEST_BYTES`.
        OSError: It cannot be read.
    """
    from penstock.workspace.own_files import open_own

    if file == "-":
        content = sys.stdin.buffer.read(MAX_REQUEST_BYTES + 1)
    else:
        with open_own(file) as stream:
            content = stream.read(MAX_REQUEST_BYTES + 1)
    shown = escape.show_argument(file)
    if len(content) > MAX_REQUEST_BYTES:
        raise CallerError(f"{shown} has more than the {MAX_REQUEST_BYTES >> 20} MiB that are read of a request")
    try:
        return json.loads(content, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
        raise CallerError(f"{shown} contains no JSON that can be read{where}") from error


def _no_number(name: str) -> Any:
    """Refuse `NaN` and `Infinity`: Python reads and writes them, but providers and all other JSON readers do not."""
    raise ValueError(f"{name} is not JSON")
