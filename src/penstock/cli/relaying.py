"""What does another MCP server send? `penstock relay`."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.relay.guarding import Guard
    from penstock.relay.own_tools import OwnTools
    from penstock.relay.upstream import Upstream
    from penstock.serving.signals import Serving
    from penstock.store import Store


@command("relay")
@click.argument("program", nargs=-1, metavar="[-- COMMAND…]", type=click.UNPROCESSED)
@click.option(
    "--budget",
    type=options.Whole(min=1_000),
    metavar="CHARS",
    help="Largest size of a result, in characters; by default what the host shows.",
)
@click.option("--url", type=options.URL, metavar="URL", help="A server reached over HTTP; ${VAR} is expanded.")
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header to send to the server; ${VAR} is expanded. Repeatable.",
)
@click.option(
    "--config", type=options.OWN_FILE, metavar="FILE", help='A file with several servers: {"mcpServers": {…}}.'
)
@click.option("--http", metavar="HOST:PORT", help="Serve the host over HTTP on a loopback address instead of stdio.")
@click.option("--i-know", is_flag=True, help="Allow --http to bind an address that other machines can reach.")
@click.option("--name", default="", metavar="NAME", help="The name that notices use for the server.")
@click.option(
    "--hold-bytes",
    type=options.Whole(min=1 << 16),
    default=128 << 20,
    show_default=True,
    help="Results longer than this pass uncut.",
)
@options.kept_option
@options.served_json_option
def relay_command(
    program: tuple[str, ...],
    budget: int | None,
    url: str | None,
    headers: tuple[str, ...],
    config: str | None,
    http: str | None,
    i_know: bool,
    name: str,
    hold_bytes: int,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Relay other MCP servers, and cut oversized tool results.

    COMMAND is the server as its host would start it, --url a server reached over HTTP, and --config a file with several
    servers, which the host then sees as one. Everything passes byte for byte except tool results larger than the host shows:
    these are kept whole and cut, and two more tools, ctx_page and ctx_find, read the rest. The relay exits when COMMAND does.
    --url needs penstock[mcp].

    Examples:
      penstock relay -- npx -y @modelcontextprotocol/server-filesystem .
        in a host's configuration, in place of the server's own command
      echo '{"id": 1, "method": "ping"}' | penstock relay --budget 12000 -- cat
        to try it: what a server says (here `cat`) comes back unchanged
    """
    ways = [
        way for way, is_given in (("-- COMMAND…", program), ("--url URL", url), ("--config FILE", config)) if is_given
    ]
    if not ways:
        raise CallerError("Name the server to relay: -- COMMAND…, --url URL, or --config FILE.")
    if len(ways) > 1:
        raise CallerError(
            f"{' and '.join(ways)}: give one of them; --config FILE takes several servers of either kind."
        )
    if headers and url is None:
        wanted = '"headers": {"NAME": "VALUE"} of the server in the file' if config else "its own variables or flags"
        raise CallerError(f"--header is for a server that --url names: here write {wanted}.")
    if http is not None and url is None:
        raise CallerError(
            "--http serves a server that --url names. To publish a program, let a gateway start the relay: "
            "supergateway --outputTransport streamableHttp --stateful --stdio 'penstock relay -- COMMAND'"
        )
    if as_json and http is None:
        raise CallerError(answer.PROTOCOL_ONLY)
    how = _How(budget, hold_bytes, name, _OneStore(store_url), as_json)
    if config is not None:
        return _before_several(config, how)
    if url is None:
        return _before_program(program, how)
    from penstock.hosts.servers import with_variables
    from penstock.relay.config import read_header

    url = with_variables(url, os.environ)
    return _before_url(url, dict(read_header(text, os.environ) for text in headers), http, how, i_know=i_know)


class _How(NamedTuple):
    """Settings that every relay shares."""

    budget: int | None
    hold_bytes: int
    name: str
    store: _OneStore
    tells_url: bool
    """Whether standard output gets the address it serves on, over HTTP."""

    def guard(self) -> Guard:
        from penstock.relay.guarding import Guard

        return Guard(self.store, self.budget, _say)

    def own_tools(self) -> OwnTools:
        from penstock.relay.own_tools import OwnTools

        return OwnTools(self.store, self.budget)


def _before_program(program: tuple[str, ...], how: _How) -> int:
    """Relay a program, and end as it ends."""
    # The watchdog of the program is forked before anything creates a thread.
    from penstock.relay import child

    try:
        server = child.start(program)
    except OSError as error:
        return _not_started(program[0], error)
    from penstock.relay.conversation import Conversation
    from penstock.relay.stdio import Relay

    talk = Conversation(how.guard(), server=how.name, say=_say)
    status = Relay(server, talk, how.own_tools(), how.hold_bytes, _say).run()
    from penstock.guard.program import end_as

    os._exit(end_as(status))  # a thread still waits for the host's next message


def _before_several(path: str, how: _How) -> NoReturn:
    """Relay all servers of a configuration."""
    from penstock.relay.config import read_servers
    from penstock.relay.several import Several

    servers = read_servers(path, os.environ)
    status = Several(servers, how.guard(), how.own_tools(), how.hold_bytes, _say).run()
    os._exit(status)  # a thread still waits for the host's next message


def _before_url(url: str, headers: dict[str, str], http: str | None, how: _How, *, i_know: bool) -> int:
    """Relay a server that is reached over HTTP, until a signal or the end of input ends it."""
    try:
        import asyncio

        from penstock.relay.upstream import Upstream
        from penstock.serving.signals import until_signal

        async def serve(serving: Callable[[Upstream], Serving]) -> int:
            return await until_signal(serving(Upstream(url, headers)))

        return asyncio.run(serve(partial(_over_stdio, how) if http is None else partial(_over_http, how, http, i_know)))
    except ImportError as error:
        raise CallerError(f"penstock relay --url needs the extra: pip install 'penstock[mcp]' ({error})") from error


def _over_stdio(how: _How, upstream: Upstream) -> Serving:
    from penstock.relay.bridge import Bridge
    from penstock.relay.conversation import Conversation

    talk = Conversation(how.guard(), server=how.name)
    return Bridge(upstream, talk, how.own_tools(), how.hold_bytes, _say).run


def _over_http(how: _How, address: str, i_know: bool, upstream: Upstream) -> Serving:
    from penstock.mcp_server.http import PATH
    from penstock.relay.proxy import Proxy
    from penstock.serving.listening import ServedNames, listen, serve_app, served_url

    socket = listen(address, i_know=i_know)
    host, port = socket.getsockname()[:2]
    proxy = Proxy(upstream, how.guard(), how.own_tools(), how.hold_bytes, ServedNames(host, port), _say)
    url = served_url(socket, PATH)
    _say(f"serving {upstream.url} at {url}")
    if how.tells_url:
        answer.print_url(url)
    return partial(serve_app, proxy, socket)


relay_command.allow_interspersed_args = False  # flags after a COMMAND are its own


class _OneStore:
    """The store of a relay, opened on first use."""

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
