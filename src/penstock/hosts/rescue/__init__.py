"""Bring a session back that its host cannot go on with: a new one beside it, whose next request fits (X-3).

Law: the session's own file is never changed; what is not in the new one is in our store, under the handle that stands in its place;
nothing is written that was not counted again as it was written. Keeps out: which command asks for it.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, replace
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any

from penstock import overflow
from penstock.errors import CallerError, PenstockError
from penstock.hosts.rescue.copies import without_copies
from penstock.hosts.rescue.diagnosis import Finding, findings
from penstock.hosts.rescue.projection import Projection, project
from penstock.hosts.rescue.shrinking import MARGIN, Cut, Size, TooLarge, measure, shrink
from penstock.hosts.sessions import joined, reader_of, whole_messages
from penstock.hosts.sessions.records import SessionFile, opened
from penstock.text.tokens import best_counter
from penstock.workspace.own_files import replace_own

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.context.bill import Bill
    from penstock.hosts.rescue.shrinking import Line
    from penstock.text.calls import Dialect

WRITERS = ("claude", "codex", "gemini", "qwen", "copilot")
"""The hosts whose sessions can be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescue:
    """What came of a session."""

    findings: tuple[Finding, ...]
    """What is the matter with it, what keeps it from going on first."""
    tokens_before: int
    """About what its next request takes."""
    limit_tokens: int | None
    """What the provider takes at most."""
    limit_source: str = ""
    """Who said so."""
    tokens_after: int | None = None
    """About what the next request of the new session takes; None where none was planned."""
    session: str = ""
    """The id of the new session; empty where none was written."""
    path: str = ""
    """Its file."""
    resume: tuple[str, ...] = ()
    """The host's command that goes on with it."""
    cuts: tuple[Cut, ...] = ()
    """What is no longer in it."""
    irreducible: Bill | None = None
    """What remains where nothing more can go and it still does not fit."""

    @property
    def is_stuck(self) -> bool:
        """Whether the session cannot go on."""
        return any(finding.is_stuck for finding in self.findings)


def rescue(
    host: str,
    path: str,
    *,
    window_tokens: int | None,
    keep: Callable[[str, str], str],
    dialect: Dialect,
    model: str | None = None,
    is_dry_run: bool = False,
) -> Rescue:
    """Find out why a session is stuck, and write a new one that is not; nothing where it is not stuck.

    Args:
        host: whose session it is, one of `WRITERS`.
        path: its file.
        window_tokens: what the model holds; None takes what refusals and the host say.
        keep: keeps what goes, given its content and a name, and returns its handle.
        dialect: how the call is written that reads it.
        model: whose tokens are counted; None takes the session's.
        is_dry_run: whether only the plan is made.

    Raises:
        OSError: The file cannot be read, or the new one not written.
        CallerError: Nobody says what the model holds, and the session was refused for its size; or the host goes on writing to it.
    """
    reader, writer = reader_of(host), import_module(f"penstock.hosts.rescue.{host}")
    with opened(path) as file:
        projection = project(reader.happenings(file))
        counter = best_counter(model or projection.model or "o200k")
        size = measure(projection, reader.WIRE, counter)
        limit, source = _limit(projection, window_tokens)
        found = findings(projection, reader.WIRE, size, limit, file.counts)
        done = Rescue(findings=tuple(found), tokens_before=size.tokens, limit_tokens=limit, limit_source=source)
        if not done.is_stuck:
            return done
        if limit is None:
            raise CallerError(
                "Nobody says how much the model holds: not the host, and the refusal names no number. Say it: --window TOKENS"
            )
        room = _room(projection, size, limit)
        made = shrink(
            without_copies(projection.said, reader.WIRE), reader.WIRE, room, counter=counter, keep=keep, dialect=dialect
        )
        if isinstance(made, TooLarge):
            why = Finding("irreducible", f"What has to stay takes more than {room} tokens.", is_stuck=True)
            return replace(done, findings=(*done.findings, why), irreducible=made.bill)
        lines, cuts, tokens = made
        done = replace(done, tokens_after=tokens + size.fixed_tokens, cuts=cuts)
        if is_dry_run:
            return done
        session, new_path = writer.new_session(path)
        now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        content = "".join(
            json.dumps(record, ensure_ascii=False) + "\n" for record in writer.records(file, lines, session, now)
        ).encode("utf-8", "surrogatepass")
        if os.stat(path).st_size != file.size_bytes:
            raise CallerError(f"The host goes on writing to {path}. End it first, and try again.")
    if not _holds(reader, content, lines):
        raise PenstockError("The new session does not read as it was planned; nothing was written. Please report this.")
    os.makedirs(
        os.path.dirname(new_path), 0o700, exist_ok=True
    )  # Copilot CLI keeps each session in a folder of its own
    replace_own(new_path, content)
    return replace(done, session=session, path=new_path, resume=tuple(writer.resume(session)))


def _limit(projection: Projection, window_tokens: int | None) -> tuple[int | None, str]:
    """Return what the model holds, and who says so: what a refusal names is surer than what a host believes."""
    if window_tokens is not None:
        return window_tokens, "as you said"
    if projection.limits:
        return min(projection.limits), "as the provider said"
    if projection.window_tokens is not None:
        return projection.window_tokens, "as the host notes"
    return None, ""


def _room(projection: Projection, size: Size, limit_tokens: int) -> int:
    """Return what the messages may take, in our count.

    A provider that refused counts more than we do where by our count there was room. What it stated says how much more; without a
    number half of what there is has to go.
    """
    refused = [one for one in map(overflow.parse, (one.words for one in projection.refused)) if one is not None]
    stated = max((one.input or one.total or 0 for one in refused if one.unit == "tokens"), default=0)
    most = limit_tokens - limit_tokens // MARGIN
    if stated > size.tokens:
        most = most * size.tokens // stated
    room = most - size.fixed_tokens
    if refused and not stated and size.tokens <= limit_tokens:
        room = min(room, size.messages_tokens // 2)
    return max(0, room)


def _holds(reader: Any, content: bytes, lines: Sequence[Line]) -> bool:
    """Return whether the records of a new session say what was planned, and nothing else."""
    said = project(reader.happenings(SessionFile(BytesIO(content), len(content)))).said
    planned = [joined(line.said) if line.message is None else line.message for line in lines]
    return whole_messages(said) == planned
