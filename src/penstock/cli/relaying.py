"""What passes another MCP server? `penstock relay`."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from penstock.cli.commands import command
from penstock.errors import CallerError

if TYPE_CHECKING:
    from penstock.store import Store


@command("relay")
@click.argument("program", nargs=-1, metavar="[-- COMMAND…]", type=click.UNPROCESSED)
@click.option(
    "--budget",
    type=click.IntRange(min=1_000),
    metavar="CHARS",
    help="Characters of a result; else what the host shows.",
)
@click.option("--name", default="", metavar="NAME", help="What notices call the server.")
@click.option(
    "--hold-bytes",
    type=click.IntRange(min=1 << 16),
    default=128 << 20,
    show_default=True,
    help="What is longer passes uncut.",
)
@click.option(
    "--store", "store_url", metavar="URL", help="Where the whole is kept; else PENSTOCK_STORE, else the user's own."
)
def relay_command(
    program: tuple[str, ...], budget: int | None, name: str, hold_bytes: int, store_url: str | None
) -> int:
    """Stand before another MCP server and cut what is too large.

    COMMAND is the server as its host starts it. All passes byte for byte but results of tools that are larger than the host
    shows: they are kept whole and cut, and two more tools, ctx_page and ctx_find, read the rest. Ends as COMMAND ends.

    Examples:
      echo '{"id": 1, "method": "ping"}' | penstock relay -- cat
        put a server's command in place of `cat`, and both into its host
      echo '{"id": 1}' | penstock relay --budget 12000 -- cat
        the same with less of each result
    """
    if not program:
        raise CallerError("Name the server: penstock relay -- COMMAND…")
    # The watch over the program is forked before anything makes a thread.
    from penstock.relay import child

    try:
        server = child.start(program)
    except OSError as error:
        return _not_started(program[0], error)
    from penstock.relay.conversation import Conversation
    from penstock.relay.guarding import Guard
    from penstock.relay.own_tools import OwnTools
    from penstock.relay.stdio import Relay

    store = _OneStore(store_url)
    talk = Conversation(Guard(store, budget, _say), server=name)
    status = Relay(server, talk, OwnTools(store, budget), hold_bytes, _say).run()
    sys.stdout.flush()
    if status < 0:
        # As the program ended, so do we: who waits for this process sees the same signal.
        with suppress(OSError):  # nobody can handle a kill, so nobody does
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status if status >= 0 else 128 - status)  # a thread still waits for the host's next word


relay_command.allow_interspersed_args = False  # the flags behind a COMMAND are its own


class _OneStore:
    """The store of a relay, opened by whoever needs it first."""

    def __init__(self, url: str | None) -> None:
        self._url = url
        self._store: Store | None = None
        self._opening = threading.Lock()

    def __call__(self) -> Store:
        from penstock.store import open_store

        with self._opening:
            if self._store is None:
                self._store = open_store(self._url)
            return self._store


def _say(sentence: str) -> None:
    """Print a sentence for the person: standard output belongs to the protocol."""
    click.echo(f"penstock relay: {sentence}", err=True)


def _not_started(name: str, error: OSError) -> int:
    from penstock.guard.program import NOT_FOUND, NOT_RUN

    click.echo(f"penstock relay: {name}: {error.strerror}", err=True)
    return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_RUN
