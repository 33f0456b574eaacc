"""How does a stuck session of another agent go on? `penstock rescue` (X-3)."""

from __future__ import annotations

import os
import shlex
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer, options
from penstock.cli.commands import command
from penstock.cli.keeping import opened
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.hosts.rescue import Rescue

_PLANNED = "HANDLE"


@command("rescue")
@click.argument("file", type=options.OWN_FILE, metavar="FILE")
@click.option("--window", "window_tokens", type=click.IntRange(min=1), metavar="TOKENS", help="What the model holds.")
@click.option("--model", metavar="NAME", help="Whose tokens are counted; else the session's own model.")
@click.option("--dry-run", is_flag=True, help="Only say why, and what would go.")
@options.store_option
def rescue_command(
    file: str, window_tokens: int | None, model: str | None, dry_run: bool, store_url: str | None, as_json: bool
) -> int:
    """Bring back a session of another agent that is too long for it.

    FILE is the session's file of Claude Code, Codex, Gemini CLI, qwen-code or Copilot CLI. A new session is written beside
    it, whose next request fits: results that flood it are cut to their ends, and each is kept under a handle that the model can
    read. The old session is not touched. Where a session is not stuck nothing is written, and the exit status is 1; 7 where what
    has to stay is too much.

    Examples:
      penstock rescue stuck.jsonl --dry-run
        why it is stuck, and what would go
      penstock rescue stuck.jsonl --window 200000
        the same for a model of that size, done
    """
    from penstock.hosts.rescue import WRITERS, rescue
    from penstock.hosts.sessions import host_of
    from penstock.store import as_kept
    from penstock.store.texts import put_text

    host = host_of(file)
    if host not in WRITERS:
        known = "Claude Code, Codex, Gemini CLI, qwen-code or Copilot CLI"
        message = f"{escape.clip(file)} is no session of {known}" + (f", but of {host}." if host else ".")
        return answer.fail("usage", message, None, answer.USAGE, as_json=as_json)
    with ExitStack() as stack:
        store = None if dry_run else stack.enter_context(opened(store_url))

        def keep(content: str, name: str) -> str:
            if store is None:
                return _PLANNED
            kept = b"".join(as_kept([content.encode("utf-8", "surrogatepass")]))
            return put_text(store, kept.decode("utf-8", "surrogatepass"), name)

        done = rescue(
            host,
            os.path.abspath(file),
            window_tokens=window_tokens,
            keep=keep,
            dialect=answer.dialect_of(store_url=store_url),
            model=model,
            is_dry_run=dry_run,
        )
    answer.give(_object(done), _words(done, file, is_dry_run=dry_run), as_json)
    if not done.is_stuck:
        return answer.NOTHING
    return answer.OVER_BUDGET if done.irreducible is not None else 0


def _object(done: Rescue) -> dict[str, Any]:
    """Return what came of a session as contracts.md has it."""
    return {
        "stuck": [finding.code for finding in done.findings if finding.is_stuck],
        "findings": [answer.fields_of(finding, "code", "sentence", "is_stuck") for finding in done.findings],
        "written": done.path or None,
        "session": done.session or None,
        "resume": shlex.join(done.resume) or None,
        "window_tokens": done.limit_tokens,
        "tokens_before": done.tokens_before,
        "tokens_after": done.tokens_after,
        "cut": [answer.fields_of(cut, "what", "handle", "tokens") for cut in done.cuts],
    }


def _words(done: Rescue, file: str, *, is_dry_run: bool) -> str:
    """Return what came of a session for a person."""
    lines = [f"{finding.code}: {escape.show(finding.sentence)[0]}" for finding in done.findings]
    if not done.is_stuck:
        limit = "" if done.limit_tokens is None else f" of {done.limit_tokens}, {done.limit_source}"
        return "\n".join([f"Not stuck: about {done.tokens_before} tokens{limit}. Nothing was written.", *lines])
    if done.irreducible is not None:
        return "\n".join(["Stuck, and nothing more can go:", *lines, str(done.irreducible)])
    head = "Would be cut" if is_dry_run else "Stuck, and brought back as a new session"
    size = f"about {done.tokens_before} -> {done.tokens_after} tokens, at most {done.limit_tokens}, {done.limit_source}"
    lines = [f"{head}: {size}.", *lines]
    lines += [
        f"  cut {escape.clip(cut.what, 60)}: {cut.tokens} tokens"
        + ("" if is_dry_run else f", whole at penstock page {cut.handle}")
        for cut in done.cuts
    ]
    if not is_dry_run:
        lines += [f"Written: {escape.clip(done.path, 400)}", f"{escape.clip(file, 400)} is as it was.", "Go on with:"]
        lines.append(f"  {shlex.join(done.resume)}")
    return "\n".join(lines)
