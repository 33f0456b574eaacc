"""Would a provider take it? A saved request held against the rules of its wire, itemised, and made to fit.

`penstock violations`, `penstock bill`, `penstock fit`.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from penstock import inert
from penstock.cli import answer
from penstock.cli.keeping import opened, store_option
from penstock.errors import CallerError
from penstock.store import StoreFault

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.bill import Bill
    from penstock.compaction import Plan

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

    def work() -> int:
        request = saved_request(file)
        found = violations(messages_of(request, wire), wire, continues=continues(request, wire))
        if as_json:
            click.echo(json.dumps([{"index": v.index, "code": v.code, "message": v.message} for v in found]))
        else:
            lines = [f"message {v.index}: {v.code}: {inert.show(v.message)[0]}" for v in found]
            click.echo("\n".join(lines) or f"No violations: a valid request for {wire}.")
        return answer.NOTHING if found else 0

    return _answering(file, as_json, work)


@click.command("bill")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--wire", type=click.Choice(_WIRES), help="The API that the request is for, where the body does not show it."
)
@click.option("--model", metavar="NAME", help="Whose tokens are counted; else the model that the body names.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def bill_command(file: str, wire: str | None, model: str | None, as_json: bool) -> int:
    """Itemise what a saved request takes: instructions, tools, messages, results, media, the reply's reserve.

    FILE, or standard input, holds the body as it is sent, or its list of messages alone. Large items are named, the others added
    up by kind; sizes are upper bounds.
    """
    from penstock.bill import bill
    from penstock.tokens import best_counter

    def work() -> int:
        made = bill(saved_request(file), wire, counter=best_counter(model) if model else None)
        click.echo(json.dumps(_bill_object(made)) if as_json else str(made))
        return 0

    return _answering(file, as_json, work)


@click.command("fit")
@click.argument("file", metavar="FILE|-")
@click.option(
    "--wire", type=click.Choice(_WIRES), help="The API that the request is for, where the body does not show it."
)
@click.option("--tokens", "limit_tokens", type=click.IntRange(min=0), required=True, help="What the request may take.")
@click.option("--model", metavar="NAME", help="Whose tokens are counted; else the model that the body names.")
@click.option("--plan", "only_plan", is_flag=True, help="Say what would be done, and do nothing.")
@store_option
def fit_command(
    file: str,
    wire: str | None,
    limit_tokens: int,
    model: str | None,
    only_plan: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Make a saved request fit into so many tokens, beside the reply's reserve.

    The request is printed, valid and ready to send; the plan goes to standard error. What is taken from it goes to the store, under
    handles that stand in its place. Exit status 7 where it cannot be made to fit: then it is as small as it gets.
    """
    from penstock.bill import counter_for
    from penstock.budget import Budget
    from penstock.compaction import RECOVERY, apply, plan
    from penstock.transcript import dump_valid, load_request, wire_of

    def work() -> int:
        request = saved_request(file)
        transcript = load_request(request, wire or wire_of(request))
        made = plan(transcript, Budget(limit_tokens, counter=counter_for(request, model)), RECOVERY, low_water=1.0)
        cleared: list[dict[str, object]] = []
        fitted = request
        if made.steps and not only_plan:
            with opened(store_url) as store:
                transcript = apply(
                    transcript,
                    made,
                    lambda content, name: str(store.put(content.encode("utf-8", "surrogatepass"), name=name)),
                )
            steps = zip(transcript.handles(), made.steps, strict=True)
            cleared = [{"handle": handle, "tokens": step.before_tokens} for handle, step in steps]
            fitted = dump_valid(transcript, request)
        if as_json:
            shown = {"request": None if only_plan else fitted, "plan": _plan_object(made), "cleared": cleared}
            click.echo(json.dumps({**shown, "outcome": made.outcome}))
        elif only_plan:
            click.echo(str(made))
        else:
            click.echo(json.dumps(fitted, ensure_ascii=False, indent=2))
            click.echo(str(made), err=True)
        return answer.OVER_BUDGET if made.outcome == "cannot" else 0

    return _answering(file, as_json, work)


def _bill_object(made: Bill) -> dict[str, object]:
    """A bill for scripts; `message` is the place in the list of messages."""
    count = made.input
    return {
        "tokens": made.tokens,
        "input": {"tokens": count.tokens, "low": count.low, "high": count.high, "method": count.method},
        "reserve_tokens": made.reserve_tokens,
        "items": [
            {
                "kind": item.kind,
                "name": item.name,
                "message": item.index,
                "tokens": item.count.tokens,
                "low": item.count.low,
                "high": item.count.high,
            }
            for item in made.items
        ],
    }


def _plan_object(made: Plan) -> dict[str, object]:
    """A plan for scripts."""
    return {
        "limit_tokens": made.limit_tokens,
        "before_tokens": made.before_tokens,
        "after_tokens": made.after_tokens,
        "rewritten_tokens": made.rewritten_tokens,
        "repaid_after_calls": made.repaid_after_calls,
        "steps": [
            {
                "strategy": step.strategy,
                "what": step.what,
                "message": step.first,
                "last_message": step.last,
                "before_tokens": step.before_tokens,
                "after_tokens": step.after_tokens,
            }
            for step in made.steps
        ],
        "irreducible": None if made.irreducible is None else _bill_object(made.irreducible),
    }


def _answering(file: str, as_json: bool, work: Callable[[], int]) -> int:
    """Runs a command over a saved request; what it raises becomes a line or an object, and an exit status."""
    try:
        return work()
    except StoreFault as error:
        return answer.fail(error.code, error.message, None, answer.FAULT, as_json=as_json)
    except FileNotFoundError as error:
        return answer.fail("not_found", f"There is no file {error.filename!r}.", None, answer.MISSING, as_json=as_json)
    except OSError as error:
        message = f"{error.filename or file}: {error.strerror}"
        return answer.fail("io_error", message, None, answer.FAULT, as_json=as_json)
    except CallerError as error:
        return answer.fail("usage", str(error), None, answer.USAGE, as_json=as_json)


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
