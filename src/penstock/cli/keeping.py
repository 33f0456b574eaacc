"""What does a person do with what is kept? `penstock page`, `find` and `store`."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options, terminal
from penstock.cli.commands import HelpPage, command, group
from penstock.cli.completion import complete_handle
from penstock.errors import ToolError
from penstock.text import escape
from penstock.text.calls import Call
from penstock.text.notices import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.store import Removal, Store, StoreFault
    from penstock.text.allowance import Allowance

_READ_BYTES = 256 * 1024
_TOLD = 5  # names of removed items, on one line

_handle_argument = click.argument("handle", shell_complete=complete_handle)
_budget_option = click.option(
    "--budget",
    type=options.Whole(min=1_000),
    metavar="BYTES",
    help="Largest size of the answer; by default 28000 characters, and no limit on a terminal.",
)


@contextmanager
def opened(url: str | None, wait_seconds: float | None = None, *, may_begin: bool = False) -> Iterator[Store]:
    """Open the store at `url`, or the user's own, for as long as this lasts.

    Args:
        url: The store; None for the user's own, which is created if there is none. If it cannot be created, a caller that keeps
            nothing reads an empty one.
        wait_seconds: As in `open_store`.
        may_begin: Whether a named folder that does not exist is a new store, for a caller that keeps something, and not a typo: a
            check of it would find that all is well.

    Raises:
        ToolError: There is no such folder.
    """
    from penstock.store import open_store

    if not may_begin and (folder := absent_folder(url)) is not None:
        raise ToolError("not_found", f"There is no store {escape.clip(folder)}.")
    store = open_store(url, wait_seconds=wait_seconds, may_be_missing=not may_begin)
    try:
        yield store
    finally:
        _tell(store.taken)
        store.close()


def absent_folder(url: str | None) -> str | None:
    """Return the folder of a store that is named but does not exist; else None: opening the store reports any other fault."""
    from penstock.store import folder_of

    folder = None if url is None else folder_of(url)
    try:
        if folder is not None:
            os.lstat(folder)
    except OSError as error:
        return folder if isinstance(error, FileNotFoundError) else None
    return None


@contextmanager
def _opened_for_handle(url: str | None) -> Iterator[Store]:
    """Open a store for a command that names a handle: if nothing is kept under it, the error suggests `store list`."""
    with opened(url) as store:
        try:
            yield store
        except ToolError as error:
            if error.code not in {"not_found", "expired"} or error.calls:
                raise
            raise ToolError(error.code, error.message, Call("store list")) from error


def _tell(taken: Sequence[Removal]) -> None:
    """Report on standard error what the retention rules removed meanwhile."""
    if taken:
        named = ", ".join(one.name for one in taken[:_TOLD])
        more = f" and {len(taken) - _TOLD} more" if len(taken) > _TOLD else ""
        size = sum(one.bytes for one in taken)
        click.echo(f"penstock: PENSTOCK_STORE_KEEP_… removed {named}{more}: {size} bytes", err=True)


# ── page and find ────────────────────────────────────────────────────────────────────────────────────────────────


@command("page")
@_handle_argument
@click.option("--start-byte", type=int, help="Byte to start at; the page begins exactly there.")
@click.option("--max-bytes", type=int, help="Size of the page (default 65536, at most 262144).")
@click.option("--offset", type=int, help="Lines to skip (records, if it is JSON on one line).")
@click.option("--limit", type=int, help="Lines or records to show (default 100).")
@click.option("--raw", is_flag=True, help="The exact bytes and nothing else; all of them, unless --max-bytes is given.")
@_budget_option
@options.store_option
def page_command(handle: str, raw: bool, budget: int | None, store_url: str | None, as_json: bool, **place: Any) -> int:
    """Show a page of what was kept under HANDLE.

    The notice on a cut result names its handle, and the command that shows what follows the visible part.

    Examples:
      penstock page HANDLE
        its first 100 lines
      penstock page HANDLE --raw > output.txt
        all of it, byte for byte
    """
    from penstock.store import pages

    with _opened_for_handle(store_url) as store:
        if raw:
            return _raw(store, handle, **place)
        if as_json:
            answer.print_json(answer.page_json(pages.cut(store, handle, **place)))
            return 0
        dialect, allowance = (
            answer.dialect_of(store_url=store_url, budget=budget),
            _allowance(budget, place["max_bytes"]),
        )
        page = pages.page(store, handle, **place, allowance=allowance, dialect=dialect)
        click.echo(page.text, nl=not page.text.endswith("\n"))
        return answer.PARTIAL if page.outcome == "partial" else 0


def _allowance(budget: int | None, max_bytes: int | None = None) -> Allowance | None:
    """Return what an answer may take: the flag, else the usual result size if a model may be the reader.

    The shell of an agent's host shows only so much of what a command prints and cuts the rest: a page of 64 KiB was seen as one
    of 2 KiB, and the next one began after it.
    """
    from penstock.text.allowance import Allowance

    if budget is not None:
        return Allowance.bytes(budget)
    if max_bytes is not None or sys.stdout.isatty():
        return None
    from penstock.guard.output import default_allowance

    return default_allowance()


def _raw(
    store: Store, handle: str, start_byte: int | None, max_bytes: int | None, offset: int | None, limit: int | None
) -> int:
    """Write bytes as they are, piece by piece: a gigabyte goes through in little memory."""
    from penstock.store import pages

    size = store.info(handle).bytes
    # As lenient as for a page: a position before the beginning is the beginning, one beyond the end shows nothing.
    at = max(0, start_byte or 0)
    end = size if max_bytes is None else min(size, at + max(0, max_bytes))
    if offset is not None or limit is not None:
        page = pages.cut(store, handle, offset=offset, limit=limit)
        at, end = page.start_byte, page.end_byte
    out = sys.stdout.buffer
    while at < end and (part := store.read(handle, at, min(_READ_BYTES, end - at))):
        out.write(part)
        at += len(part)
    out.flush()
    return 0


@command("find")
@_handle_argument
@click.argument("pattern")
@click.option("--limit", type=int, default=50, show_default=True, help="Matching lines to show, up to 500.")
@_budget_option
@options.store_option
def find_command(
    handle: str, pattern: str, limit: int, budget: int | None, store_url: str | None, as_json: bool
) -> int:
    """Find lines in what was kept under HANDLE.

    PATTERN is an RE2 regular expression. The exit status is 1 if no line matches.

    Examples:
      penstock find HANDLE "error|warning"
        the lines that contain either word, with their numbers
      penstock find HANDLE "line 7" --limit 5 --json
        the first five, for a script
    """
    from penstock.store import finding

    with _opened_for_handle(store_url) as store:
        if as_json:
            found = finding.scan(store, handle, pattern, limit)
            answer.print_json(finding.found_json(found))
            complete, is_found = found.complete, bool(found.total)
        else:
            dialect, allowance = answer.dialect_of(store_url=store_url, budget=budget), _allowance(budget)
            answered = finding.find(store, handle, pattern, limit, allowance=allowance, dialect=dialect)
            click.echo(answered.text)
            complete, is_found = answered.outcome != "partial", answered.outcome == "done"
    return answer.PARTIAL if not complete else 0 if is_found else answer.NOTHING


# ── store ────────────────────────────────────────────────────────────────────────────────────────────────────────


@group("store")
def store_command() -> None:
    """Manage what is kept: outputs and session journals.

    Examples:
      penstock store list
        what is kept, newest first
      penstock store gc --older-than 90
        remove what nobody has used for three months
    """


@store_command.command("list", cls=HelpPage)
@click.option("--offset", type=options.Whole(min=0), default=0, help="Artifacts to skip.")
@click.option("--limit", type=options.Whole(min=1), default=100, show_default=True, help="Artifacts to show.")
@click.option("--secrets", "with_secrets", is_flag=True, help="Show which kinds of secrets each holds, or had hidden.")
@options.store_option
def list_command(offset: int, limit: int, with_secrets: bool, store_url: str | None, as_json: bool) -> int:
    """List the artifacts that can be read, newest first.

    Examples:
      penstock store list
        handle, size, lines, expiry, and which tool produced it
      penstock store list --limit 5 --secrets
        the newest five, with the number of keys and passwords of each kind
    """
    from penstock.store.marks import secrets_of

    with opened(store_url) as store:
        page = store.newest(offset, limit)  # the wanted handle is usually the one that was just printed
        marks = {one.handle: secrets_of(store, one.handle) for one in page.items} if with_secrets else {}
    next_offset, there = page.next_offset, options.store_words(store_url)
    if as_json:
        items = [
            {
                **answer.fields_of(artifact, "handle", "name", "kind", "bytes", "lines", "digest"),
                "created": _moment(artifact.created),
                "expires": _moment(artifact.expires),
                "referenced": artifact.is_referenced,
                **({"secrets": marks[artifact.handle], "hidden": artifact.hidden} if with_secrets else {}),
            }
            for artifact in page.items
        ]
        following = None if next_offset is None else {"offset": next_offset, "limit": limit}
        answer.print_json({"items": items, "offset": offset, "total": page.total, "next": following})
        return 0 if page.total else answer.NOTHING
    more = "" if next_offset is None else f" | next: penstock store list --offset {next_offset} --limit {limit}{there}"
    click.echo(f"{counted(page.total or 0, 'artifact')}{more}")
    rows = []
    for one in page.items:
        until = "kept by a session" if one.is_referenced else f"until {_moment(one.expires)}"
        found = [f"{count} {kind}" for kind, count in marks.get(one.handle, {}).items()]
        held = ", ".join([*found, *([f"{one.hidden} hidden"] if one.hidden else [])]) or "none"
        told = (held,) if with_secrets else ()
        rows.append((one.handle, f"{one.bytes:>12} bytes", f"{one.lines:>9} lines", until, *told, one.name))
    _echo_rows(("handle", "size", "lines", "kept", *(("secrets",) if with_secrets else ()), "name"), rows)
    return 0 if page.total else answer.NOTHING


def _echo_rows(head: tuple[str, ...], rows: Sequence[Sequence[object]]) -> None:
    """Print a table without a plain head; nothing if there are no rows."""
    if rows:
        click.echo(terminal.render_table(head, rows, has_plain_head=False))


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


@store_command.command("size", cls=HelpPage)
@options.store_option
def size_command(store_url: str | None, as_json: bool) -> int:
    """Show how full the store is.

    Examples:
      penstock store size
        where it is, what it holds, and how much it may hold
      penstock store size --json
        the same for a script
    """
    with opened(store_url) as store:
        size, url = store.size(), store.url
    kept = f"{counted(size.artifacts, 'artifact')} of {counted(size.bytes, 'byte')}"
    kept += f" in {size.stored_bytes} of at most {size.limit_bytes}"
    journals = f"{counted(size.records, 'record')} of {counted(size.sessions, 'session')} in {counted(size.journal_bytes, 'byte')}"
    beside = f"; of that {size.object_bytes} in the object store" if size.object_bytes else ""
    beside += f"; besides that {size.index_bytes} bytes of indexes and summaries" if size.index_bytes else ""
    text = f"{url}: {kept}; {journals}; {size.used_bytes} bytes in all{beside}"
    answer.give({"store": url, **dataclasses.asdict(size), "used_bytes": size.used_bytes}, text, as_json)
    return 0


@store_command.command("prune", cls=HelpPage)
@options.store_option
def prune_command(store_url: str | None, as_json: bool) -> int:
    """Remove what has expired, and compress the rest.

    Outputs of a session that still exists are kept; what compression would not shrink is left as it is.

    Examples:
      penstock store prune
        how many bytes were freed
      penstock store prune --json
        the same for a script
    """
    with opened(store_url) as store:
        done = store.prune()
    counts = f"{done.expired} expired, {done.dropped} dropped, {done.compressed} compressed"
    answer.give(dataclasses.asdict(done), f"{counts}: {done.freed_bytes} bytes freed", as_json)
    return 0


@store_command.command("gc", cls=HelpPage)
@click.option(
    "--older-than",
    "max_days",
    type=options.DAYS,
    metavar="DAYS",
    help="Remove what has not been used for this many days.",
)
@click.option(
    "--max-bytes",
    type=options.Whole(min=1),
    metavar="N",
    help="Remove the least recently used until the rest takes at most N bytes.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and change nothing.")
@click.option(
    "--reset-clock",
    is_flag=True,
    help="First set the store's time back to the present, after a clock that was ahead has moved it.",
)
@options.store_option
def gc_command(
    max_days: float | None,
    max_bytes: int | None,
    dry_run: bool,
    reset_clock: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Remove old sessions and outputs, or those beyond a size limit.

    Without flags it applies PENSTOCK_STORE_KEEP_DAYS, _BYTES and _SESSIONS, where set. A running session is never removed.
    Freed space is returned to the disk.

    Examples:
      penstock store gc --older-than 90 --dry-run
        what nobody has used for three months
      penstock store gc --max-bytes 500000000
        the least recently used, until the rest takes 500 MB
    """
    from penstock.store import Retention, default_retention

    rules = Retention(max_days=max_days, max_bytes=max_bytes) or default_retention()
    with opened(store_url) as store:
        times = store.reset_clock(is_dry_run=dry_run) if reset_clock else None
        found = store.collect(rules, is_dry_run=dry_run)
        left = store.size().used_bytes
        fault = None if dry_run else _scrubbed(store)
    rows = [(one.what, one.name, f"{one.bytes:>12} bytes", _moment(one.at), one.why) for one in found]
    if as_json:
        removed = [answer.fields_of(one, "what", "name", "bytes", "at", "why") for one in found]
        set_to = {} if times is None else {"clock": {"from": times[0], "to": times[1]}}
        told = {} if fault is None else {"fault": {"code": fault.code, "message": str(fault)}}
        answer.print_json({"removed": removed, "dry_run": dry_run, "used_bytes": left, **set_to, **told})
        return answer.FAULT if fault else 0
    size = sum(one.bytes for one in found)
    if times is not None:
        # Only a person can tell whether the clock is right, and what is dated too early does not live as long as it was to.
        before, now = map(_moment, times)
        click.echo(f"The store's time {'would be' if dry_run else 'was'} set from {before} to {now}.")
    click.echo(f"{len(found)} {'would be removed' if dry_run else 'removed'}: {size} bytes | {left} bytes are in use")
    _echo_rows(("what", "name", "size", "used", "why"), rows)
    if fault is not None:  # reported after the removals, which are done whatever failed then
        raise fault
    return 0


def _scrubbed(store: Store) -> StoreFault | None:
    """Rewrite what a store keeps, without traces of what was removed; return why that failed, or None."""
    from penstock.store import StoreFault

    try:
        store.scrub()
    except StoreFault as fault:
        return fault
    return None


@store_command.command("rm", cls=HelpPage)
@_handle_argument
@options.store_option
def remove_command(handle: str, store_url: str | None, as_json: bool) -> int:
    """Remove for good what was kept under HANDLE, and its other handles.

    Afterwards no file of the store contains a byte of it. Sessions that refer to it may quote it in their journals; their IDs
    are printed, and `penstock sessions rm` removes them.

    Examples:
      penstock store rm HANDLE
        how many bytes were freed, and which sessions may quote it
      penstock store rm HANDLE --json
        the same for a script
    """
    with _opened_for_handle(store_url) as store:
        gone = store.remove_artifact(handle)
    text = f"{gone.name} removed for good: {gone.bytes} bytes"
    if gone.named_by:
        text += f"\nSessions that may quote it: penstock sessions rm {' '.join(gone.named_by)}{options.store_words(store_url)}"
    answer.give({**answer.fields_of(gone, "name", "bytes"), "sessions": list(gone.named_by)}, text, as_json)
    return 0


@store_command.command("check", cls=HelpPage)
@options.store_option
def check_command(store_url: str | None, as_json: bool) -> int:
    """Read everything, and report whatever is not as it was written.

    Nothing is changed. The exit status is 1 if something is damaged.

    Examples:
      penstock store check
        that all is well, or what is damaged and how far it can be read
      penstock store check --json
        the same for a script
    """
    with opened(store_url) as store:
        found, facts = store.check(), store.facts()
    lines = [f"{len(found)} damaged:" if found else "Everything is as it was written."]
    lines += [f"{damage.what} {damage.name}: {damage.reason}" for damage in found]
    lines.append(" | ".join(f"{name} {value}" for name, value in facts.items()))
    value = {"sound": not found, "damage": [dataclasses.asdict(damage) for damage in found], "facts": facts}
    answer.give(value, "\n".join(lines), as_json)
    return answer.NOTHING if found else 0
