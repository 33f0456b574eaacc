"""What does a person do with what is kept? `penstock page`, `find`, `store`, and the filter `guard`."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer
from penstock.errors import CallerError, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.budget import Allowance
    from penstock.calls import Dialect
    from penstock.store import Store

_READ_BYTES = 256 * 1024
_F_SETPIPE_SZ = 1031
_PIPE_BYTES = 1 << 20


def store_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--store` and `--json`, which every command over what is kept takes."""
    function = click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")(function)
    return click.option(
        "--store",
        "store_url",
        metavar="URL",
        help="A folder (sqlite:///path) or a database (postgresql://…); else PENSTOCK_STORE, else the user's own.",
    )(function)


def _answering(as_json: bool, work: Callable[[], int]) -> int:
    """Runs a command; what it raises becomes a line or an object, and an exit status."""
    from penstock.store import StoreFault

    try:
        return work()
    except ToolError as error:
        ways = " or ".join(_dialect(None).write(call) for call in error.calls) or None
        status = answer.MISSING if error.code == "expired" else answer.status_of(error.code)
        return answer.fail(error.code, error.message, ways, status, as_json=as_json)
    except StoreFault as error:
        return answer.fail(error.code, error.message, None, answer.FAULT, as_json=as_json)
    except CallerError as error:
        return answer.fail("usage", str(error), None, answer.USAGE, as_json=as_json)


@contextmanager
def opened(url: str | None) -> Iterator[Store]:
    from penstock.store import open_store

    store = open_store(url)
    try:
        yield store
    finally:
        store.close()


class _WithStore:
    """The syntax of commands, with `--store` where it was given."""

    def __init__(self, dialect: Dialect, url: str) -> None:
        import shlex

        self._dialect = dialect
        self._flag = f" --store {shlex.quote(url)}"

    def write(self, call: Any) -> str:
        return self._dialect.write(call) + self._flag

    def name(self, call: Any, *arguments: str) -> str:
        return self._dialect.name(call, *arguments)


def _dialect(url: str | None) -> Dialect:
    from penstock.calls import CommandLine

    return CommandLine() if url is None else _WithStore(CommandLine(), url)


# ── page and find ────────────────────────────────────────────────────────────────────────────────────────────────


@click.command("page")
@click.argument("handle")
@click.option("--start-byte", type=int, help="Byte to start at: a page begins exactly there.")
@click.option("--max-bytes", type=int, help="Size of the page (default 65536, at most 262144).")
@click.option("--offset", type=int, help="Lines to skip; records, where it is JSON on one line.")
@click.option("--limit", type=int, help="Lines or records to show (default 100).")
@click.option("--raw", is_flag=True, help="The exact bytes and nothing else; all of them unless --max-bytes says less.")
@store_option
def page_command(
    handle: str,
    start_byte: int | None,
    max_bytes: int | None,
    offset: int | None,
    limit: int | None,
    raw: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Show a page of the artifact HANDLE, which the notice of a cut result names."""

    def work() -> int:
        from penstock import paging

        with opened(store_url) as store:
            if raw:
                return _raw(store, handle, start_byte, max_bytes, offset, limit)
            if as_json:
                shown = paging.cut(store, handle, start_byte, max_bytes, offset, limit)
                click.echo(json.dumps(answer.page_json(shown)))
                return 0
            page = paging.page(store, handle, start_byte, max_bytes, offset, limit, dialect=_dialect(store_url))
            click.echo(page.text, nl=not page.text.endswith("\n"))
            return answer.PARTIAL if page.outcome == "partial" else 0

    return _answering(as_json, work)


def _raw(
    store: Store, handle: str, start_byte: int | None, max_bytes: int | None, offset: int | None, limit: int | None
) -> int:
    """Bytes as they are, piece by piece: a gigabyte goes through in little memory."""
    from penstock import paging

    size = store.info(handle).bytes
    at = max(0, start_byte or 0)
    end = size if max_bytes is None else min(size, at + max(0, max_bytes))
    if offset is not None or limit is not None:
        page = paging.cut(store, handle, offset=offset, limit=limit)
        at, end = page.start_byte, page.end_byte
    out = sys.stdout.buffer
    while at < end and (part := store.read(handle, at, min(_READ_BYTES, end - at))):
        out.write(part)
        at += len(part)
    out.flush()
    return 0


@click.command("find")
@click.argument("handle")
@click.argument("pattern")
@click.option("--limit", type=int, default=50, show_default=True, help="Matching lines to show, up to 500.")
@store_option
def find_command(handle: str, pattern: str, limit: int, store_url: str | None, as_json: bool) -> int:
    """Find the lines of the artifact HANDLE that match PATTERN, a regular expression (RE2)."""

    def work() -> int:
        from penstock import paging

        with opened(store_url) as store:
            if as_json:
                found = paging.scan(store, handle, pattern, limit)
                click.echo(json.dumps(paging.found_json(found)))
                complete, total = found.complete, found.total
            else:
                answered = paging.find(store, handle, pattern, limit, dialect=_dialect(store_url))
                click.echo(answered.text)
                complete, total = answered.outcome != "partial", answered.outcome == "done"
        return answer.PARTIAL if not complete else 0 if total else answer.NOTHING

    return _answering(as_json, work)


# ── store ────────────────────────────────────────────────────────────────────────────────────────────────────────


@click.group("store", context_settings={"help_option_names": ["-h", "--help"]})
def store_command() -> None:
    """Look after what is kept: artifacts and the journals of sessions."""


@store_command.command("list")
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Artifacts to skip.")
@click.option("--limit", type=click.IntRange(min=1), default=100, show_default=True, help="Artifacts to show.")
@store_option
def list_command(offset: int, limit: int, store_url: str | None, as_json: bool) -> int:
    """List the artifacts that can be read, the newest first."""

    def work() -> int:
        with opened(store_url) as store:
            kept = store.artifacts()[::-1]
        shown = kept[offset : offset + limit]
        following = offset + limit if offset + limit < len(kept) else None
        if as_json:
            items = [
                {
                    "handle": artifact.handle,
                    "name": artifact.name,
                    "kind": artifact.kind,
                    "bytes": artifact.bytes,
                    "lines": artifact.lines,
                    "digest": artifact.digest,
                    "created": _moment(artifact.created),
                    "expires": _moment(artifact.expires),
                    "referenced": artifact.is_referenced,
                }
                for artifact in shown
            ]
            following_json = None if following is None else {"offset": following, "limit": limit}
            click.echo(json.dumps({"items": items, "offset": offset, "total": len(kept), "next": following_json}))
            return 0 if kept else answer.NOTHING
        more = "" if following is None else f" | next: penstock store list --offset {following} --limit {limit}"
        click.echo(f"{len(kept)} artifacts{more}")
        for artifact in shown:
            until = "kept by a session" if artifact.is_referenced else f"until {_moment(artifact.expires)}"
            click.echo(
                f"{artifact.handle}  {artifact.bytes:>12} bytes  {artifact.lines:>9} lines  {until}  {artifact.name}"
            )
        return 0 if kept else answer.NOTHING

    return _answering(as_json, work)


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@store_command.command("size")
@store_option
def size_command(store_url: str | None, as_json: bool) -> int:
    """Say how full the store is."""

    def work() -> int:
        with opened(store_url) as store:
            size, url = store.size(), store.url
        if as_json:
            said: dict[str, object] = {
                "store": url,
                "artifacts": size.artifacts,
                "bytes": size.bytes,
                "stored_bytes": size.stored_bytes,
                "limit_bytes": size.limit_bytes,
                "records": size.records,
            }
            click.echo(json.dumps(said))
        else:
            click.echo(
                f"{url}: {size.artifacts} artifacts of {size.bytes} bytes in {size.stored_bytes} of at most "
                f"{size.limit_bytes}; {size.records} records of sessions"
            )
        return 0

    return _answering(as_json, work)


@store_command.command("prune")
@store_option
def prune_command(store_url: str | None, as_json: bool) -> int:
    """Take away what has expired, and compress the rest where that pays."""

    def work() -> int:
        with opened(store_url) as store:
            done = store.prune()
        if as_json:
            said = {
                "expired": done.expired,
                "dropped": done.dropped,
                "compressed": done.compressed,
                "freed_bytes": done.freed_bytes,
            }
            click.echo(json.dumps(said))
        else:
            click.echo(
                f"{done.expired} expired, {done.dropped} dropped, {done.compressed} compressed: {done.freed_bytes} bytes freed"
            )
        return 0

    return _answering(as_json, work)


@store_command.command("check")
@store_option
def check_command(store_url: str | None, as_json: bool) -> int:
    """Read everything and name whatever is not what was written; nothing is changed."""

    def work() -> int:
        with opened(store_url) as store:
            found, facts = store.check(), store.facts()
        if as_json:
            damage = [
                {"what": d.what, "name": d.name, "reason": d.reason, "newest_sound": d.newest_sound} for d in found
            ]
            click.echo(json.dumps({"sound": not found, "damage": damage, "facts": facts}))
        else:
            click.echo("Everything is as it was written." if not found else f"{len(found)} damaged:")
            for d in found:
                click.echo(f"{d.what} {d.name}: {d.reason}")
            click.echo(" | ".join(f"{name} {value}" for name, value in facts.items()))
        return answer.NOTHING if found else 0

    return _answering(as_json, work)


# ── guard ────────────────────────────────────────────────────────────────────────────────────────────────────────


@click.command("guard")
@click.option("--tokens", type=click.IntRange(min=1), help="At most so many tokens, by their upper bound.")
@click.option("--chars", type=click.IntRange(min=1), help="At most so many characters (default 28000).")
@click.option("--keep", type=click.Choice(["head", "tail", "ends"]), default="head", show_default=True)
@click.option("--name", default="command", show_default=True, metavar="TOOL", help="What the notice calls the program.")
@click.option(
    "--seconds", type=click.FloatRange(min=0, min_open=True), help="Print after so long, if it has not ended."
)
@click.option(
    "--keep-bytes",
    type=click.IntRange(min=0),
    default=2 << 30,
    show_default=True,
    help="Keep at most so many bytes: of more, the first and the last half.",
)
@click.option("--model", default="o200k", show_default=True, help="Whose tokens are counted.")
@store_option
def guard_command(
    tokens: int | None,
    chars: int | None,
    keep: str,
    name: str,
    seconds: float | None,
    keep_bytes: int,
    model: str,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Pass on standard input as far as it fits, and keep the whole: COMMAND | penstock guard --tokens 2000.

    Prints at the end of input, at an interrupt, or after --seconds; memory does not grow with what comes.
    """

    def work() -> int:
        from penstock import guarding, piping
        from penstock.guard import Keep
        from penstock.store import open_store

        if tokens is not None and chars is not None:
            raise CallerError("Give --tokens or --chars, not both.")
        opened: list[Store] = []

        def store() -> Store:
            opened.append(open_store(store_url))
            return opened[0]

        source = _Input(sys.stdin.fileno(), seconds)
        try:
            with source.listening():
                passed = piping.drain(
                    source,
                    _allowance(tokens, chars, model),
                    Keep(keep),
                    name=name,
                    open_store=store,
                    keep_bytes=keep_bytes,
                    dialect=_dialect(store_url),
                    chars_per_token=guarding.chars_per_token(),
                )
        finally:
            for one in opened:
                one.close()
        result = passed.result
        if as_json:
            said = {
                "text": result.text,
                "is_cut": result.is_cut,
                "shown_tokens": result.shown_tokens,
                "whole_tokens": result.whole_tokens,
                "whole_bytes": result.whole_bytes,
                "whole_lines": result.whole_lines,
                "handles": list(passed.handles),
                "lost_bytes": passed.lost_bytes,
                "fault": passed.fault,
                "ended": source.ended,
            }
            click.echo(json.dumps(said))
        else:
            click.echo(result.text, nl=sys.stdout.isatty() and not result.endswith("\n"))
        if source.ended == "interrupt":
            return answer.INTERRUPTED
        return answer.FAULT if passed.fault else 0

    return _answering(as_json, work)


def _allowance(tokens: int | None, chars: int | None, model: str) -> Allowance:
    from penstock import guarding
    from penstock.budget import Allowance
    from penstock.tokens import Tokens

    if tokens is not None:
        return Allowance.tokens(tokens, Tokens(model=model))
    return Allowance.chars(chars) if chars is not None else guarding.default_allowance()


class _Input:
    """A descriptor as parts of bytes, until it ends, an interrupt comes, or time is up; `ended` says which."""

    def __init__(self, descriptor: int, seconds: float | None) -> None:
        self.ended = "input"
        self._descriptor = descriptor
        self._until = None if seconds is None else time.monotonic() + seconds
        self._woken, self._waker = -1, -1

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While this lasts, an interrupt ends the input and not the process; a second one ends the process."""
        self._woken, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        earlier = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def interrupt(*_: object) -> None:
            self.ended = "interrupt"
            restore()
            with suppress(OSError):
                os.write(self._waker, b"!")

        def restore() -> None:
            for number, handler in earlier.items():
                signal.signal(number, handler)

        for number in earlier:
            signal.signal(number, interrupt)
        try:
            yield
        finally:
            restore()
            os.close(self._woken)
            os.close(self._waker)

    def __iter__(self) -> Iterator[bytes]:
        import fcntl

        with suppress(OSError):  # it is no pipe, or the user's pipes are many already
            fcntl.fcntl(self._descriptor, _F_SETPIPE_SZ, _PIPE_BYTES)
        buffer = bytearray(_READ_BYTES)
        view, filled = memoryview(buffer), 0
        while self._ready():
            got = os.readv(self._descriptor, [view[filled:]])
            filled += got
            if not got or filled == len(buffer):
                yield bytes(view[:filled])
                filled = 0
            if not got:
                return
        if filled:
            yield bytes(view[:filled])

    def _ready(self) -> bool:
        """Waits for input; False when it is time to stop."""
        left = None if self._until is None else max(0.0, self._until - time.monotonic())
        if self.ended != "input" or left == 0.0:
            self.ended = self.ended if self.ended != "input" else "seconds"
            return False
        ready, _, _ = select.select([self._descriptor, self._woken], [], [], left)
        if self._woken in ready:
            return False
        if not ready:
            self.ended = "seconds"
            return False
        return True
