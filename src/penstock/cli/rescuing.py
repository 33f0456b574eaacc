"""How does a stuck session of another agent continue? `penstock rescue` (X-3)."""

from __future__ import annotations

import os
import shlex
import string
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.cli.keeping import opened
from penstock.cli.terminal import ProgressLine
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.hosts.rescue import Rescue
    from penstock.store import Store

_PLANNED = "HANDLE"
_PLAIN = string.ascii_letters + string.digits + "/-_.+,=:@ "


@command("rescue")
@click.argument("file", type=options.OWN_FILE, metavar="FILE")
@click.option(
    "--window", "window_tokens", type=options.Whole(min=1), metavar="TOKENS", help="The model's context window."
)
@click.option("--model", metavar="NAME", help="The model whose tokenizer to count with; by default the session's own.")
@click.option("--append", is_flag=True, help="Append a compaction to FILE itself instead of writing a new session.")
@click.option("--dry-run", is_flag=True, help="Only show why it is stuck, and what would be cut.")
@options.store_option
def rescue_command(
    file: str,
    window_tokens: int | None,
    model: str | None,
    append: bool,
    dry_run: bool,
    store_url: str | None,
    as_json: bool,
) -> int:
    """Revive another agent's session that has grown too long for it.

    FILE is the session file of Claude Code, Codex, Gemini CLI, qwen-code, Copilot CLI or pi, its ID as `penstock inspect` lists
    it, or the file that `opencode export` printed. A new session whose next request fits is written next to it: oversized
    results are cut to their two ends, and each is kept under a handle that the model can read. The old session is left
    untouched, unless --append asks for a single append to it, which truncating the file undoes. If the session is not stuck,
    nothing is written and the exit status is 1; the status is 3 if its host has it open, and 7 if the part that must stay is
    too large.

    Examples:
      penstock rescue stuck.jsonl --dry-run
        why it is stuck, and what would be cut
      penstock rescue stuck.jsonl --window 200000
        the same for a model of that size, done
    """
    from penstock.hosts.rescue import APPENDERS, rescue
    from penstock.hosts.sessions.finding import session_named
    from penstock.hosts.sessions.known_hosts import KNOWN_HOSTS

    host, named = session_named(file, os.environ)
    path = os.path.realpath(named)
    if append and host not in APPENDERS:
        takers = " and ".join(KNOWN_HOSTS[name].title for name in APPENDERS)
        message = f"{KNOWN_HOSTS[host].title} does not accept a compaction written by others; {takers} do. Leave out --append."
        return answer.fail("usage", message, None, answer.USAGE, as_json=as_json)
    with (
        _Shelf(None if dry_run else store_url, is_planned=dry_run) as shelf,
        ProgressLine(is_logged=True, is_beating=True) as progress,
    ):
        done = rescue(
            host,
            path,
            window_tokens=window_tokens,
            keep=shelf.keep,
            dialect=answer.dialect_of(store_url=store_url),
            model=model,
            form="plan" if dry_run else "append" if append else "new",
            tell=progress.tell,
        )
    answer.give(_object(done), _words(done, file, is_append=append), as_json)
    if not done.is_stuck:
        return answer.NOTHING
    if done.irreducible is not None:
        return answer.OVER_BUDGET
    return 0 if done.path or dry_run else answer.REFUSED


class _Shelf:
    """The store, opened when the first item is kept: a session that is not stuck leaves none behind."""

    def __init__(self, url: str | None, *, is_planned: bool) -> None:
        self._url = url
        self._is_planned = is_planned
        self._open = ExitStack()
        self._store: Store | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def keep(self, content: str | bytes, name: str) -> str:
        """Keep what is removed, and return its handle: text as it may be kept, with marks in place of secrets."""
        from penstock.store import as_kept
        from penstock.store.texts import put_text

        if self._is_planned:
            return _PLANNED
        if self._store is None:
            self._store = self._open.enter_context(opened(self._url, may_begin=True))
        if isinstance(content, bytes):  # an image: anything in it that looks like a secret is not one
            return str(self._store.put(content, name=name))
        kept = b"".join(as_kept([content.encode("utf-8", "surrogatepass")]))
        return put_text(self._store, kept.decode("utf-8", "surrogatepass"), name)


def _object(done: Rescue) -> dict[str, Any]:
    """Return the outcome for a session in the form of contracts.md."""
    return {
        "stuck": [finding.code for finding in done.findings if finding.is_stuck],
        "findings": [answer.fields_of(finding, "code", "sentence", "is_stuck") for finding in done.findings],
        "written": done.path or None,
        "session": done.session or None,
        "resume": done.command or None,
        "undo": _undo(done),
        "window_tokens": done.limit_tokens,
        "tokens_before": done.tokens_before,
        "likely_tokens_before": done.likely_tokens_before,
        "tokens_after": done.tokens_after,
        "overhead_tokens": done.overhead_tokens,
        "overhead_basis": done.overhead_basis,
        "cut": [answer.fields_of(cut, "what", "handle", "tokens") for cut in done.cuts],
    }


def _undo(done: Rescue) -> str | None:
    """Return the command that reverts an append."""
    return None if done.undo_bytes is None else shlex.join(["truncate", "-s", str(done.undo_bytes), done.path])


def _quoted(path: str) -> str:
    """Return a path as a shell reads it, on one line and inert, whatever is in it."""
    if escape.show_argument(path) == path:
        return shlex.quote(path)
    # Every byte that is not a plain character as its octal number, as POSIX has printf read it.
    return (
        "\"$(printf '" + "".join(chr(b) if chr(b) in _PLAIN else f"\\{b:03o}" for b in os.fsencode(path)) + "')" + '"'
    )


def _words(done: Rescue, file: str, *, is_append: bool) -> str:
    """Return the outcome for a session, for a person."""
    lines = [f"{finding.code}: {escape.show(finding.sentence)[0]}" for finding in done.findings]
    if not done.is_stuck:
        if done.limit_tokens is None:
            way = "If it is refused nevertheless, give the model's window: --window TOKENS"
            size = f"about {done.likely_tokens_before} tokens"
            head = f"No refusal is recorded, and the model's window is not known: {size}. {way}"
        else:
            limit = f"{done.limit_tokens}, {done.limit_source}"
            head = f"Not stuck: about {done.likely_tokens_before} tokens of {limit}. Nothing was written."
        return "\n".join([head, *lines])
    if done.irreducible is not None:
        return "\n".join(["Stuck, and nothing more can be cut:", *lines, str(done.irreducible)])
    if not done.is_planned:
        sign = f"It shows that by {escape.clip(done.live_sign, 400)}."
        return "\n".join(["Stuck, and its host has it open: nothing was written.", *lines, sign])
    return "\n".join(
        [*_head(done, is_append=is_append), *lines, *_cuts(done), *_written(done, file, is_append=is_append)]
    )


def _head(done: Rescue, *, is_append: bool) -> list[str]:
    """Return what was done, in numbers, and their basis."""
    form = "by an append to it" if is_append else "as a new session"
    head = f"Stuck; revived {form}" if done.path else f"Stuck; would be revived {form}"
    limit = "" if done.limit_tokens is None else f" of {done.limit_tokens}, {done.limit_source}"
    beside = {
        "measured": "as the provider counted",
        "recorded": "as the file holds it",
        "assumed": "assumed: the file does not say it",
    }[done.overhead_basis]
    return [
        f"{head}: at most {done.tokens_before} -> {done.tokens_after} tokens{limit}.",
        f"Instructions and tools are {done.overhead_tokens} of them, {beside}.",
    ]


def _cuts(done: Rescue) -> list[str]:
    """Return a line for everything that was removed."""
    rows = []
    for cut in done.cuts:
        whole = f", whole at penstock page {cut.handle}" if done.path and cut.handle else ""
        rows.append(f"  cut {escape.clip(cut.what, 60)}: {cut.tokens} tokens{whole}")
    return rows


def _written(done: Rescue, file: str, *, is_append: bool) -> list[str]:
    """Return where it is, and how to continue it."""
    if not done.path:
        return []
    place = f", in {escape.clip(done.folder, 400)}" if done.folder else ""
    if is_append:
        lines = [
            f"Appended to {escape.clip(done.path, 400)}. As it was: truncate -s {done.undo_bytes} {_quoted(done.path)}"
        ]
    else:
        lines = [f"Written: {escape.clip(done.path, 400)}", f"{escape.clip(file, 400)} is unchanged."]
    return [*lines, f"Continue with{place}:", f"  {done.command}"]
