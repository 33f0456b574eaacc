"""Which sessions are there, how full is each, and what is its story? The files of other agents, told by `inspection` (X-2).

Leaves to others: how a host's file is read (the readers), and how a story is shown.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.hosts.sessions import reader_of
from penstock.hosts.sessions.records import opened
from penstock.inspection.counting import NoCounter
from penstock.inspection.story import Subject, Waste
from penstock.inspection.telling import tell
from penstock.models.prices import priced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from penstock.hosts.sessions.records import SessionFile
    from penstock.inspection.replaying import Replayed
    from penstock.inspection.story import FillTurn, Story

GLANCED_BYTES = 1 << 20
"""How much of a session's file a first look reads; all of it if that contains no request."""

_LAST_SECOND = 253_402_300_799.0  # in the year 9999: a file's time can be any number


def glance_at(host: str, path: str, *, is_whole: bool = False) -> tuple[Subject, Story]:
    """Return whose session a file is, and its story as far as its figures show it: nothing is counted.

    Args:
        host: whose session it is, one of `READERS`.
        path: its file.
        is_whole: whether a long file is read completely, and not only its two ends.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    reader = reader_of(host)
    for max_bytes in (None,) if is_whole else (GLANCED_BYTES, None):
        with opened(path, max_bytes=max_bytes) as file:
            subject = _subject(host, file, path)
            story = tell(reader.happenings(file), reader.WIRE, counter=NoCounter())
            if story.turns or not file.counts.skipped_bytes:
                break
    return subject, replace(story, turns=tuple(_as_measured(story.turns)), items=(), waste=Waste())


def _as_measured(turns: Iterable[FillTurn]) -> Iterator[FillTurn]:
    """Yield turns with measured sizes alone: one without takes that of the turn before, which is 0 as long as none is known."""
    tokens = 0
    for turn in turns:
        tokens = turn.tokens if turn.is_measured else tokens
        yield turn._replace(tokens=tokens)


def story_of(
    host: str, path: str, *, window_tokens: int | None = None, model: str | None = None
) -> tuple[Subject, Story]:
    """Return whose session a file is, where its context went, and its approximate cost.

    Args:
        host: whose session it is, one of `READERS`.
        path: its file.
        window_tokens: the model's window; None takes it from the record.
        model: whose tokens are counted; None takes the session's.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
    """
    reader = reader_of(host)
    with opened(path) as file:
        subject = _subject(host, file, path)
        story = tell(reader.happenings(file), reader.WIRE, window_tokens=window_tokens, model=model)
        counts = file.counts
        unsent = {kind: size for kind, size in counts.unsent_bytes.most_common() if size}
    story = replace(
        story,
        torn=counts.torn,
        too_large=counts.too_large,
        unknown=dict(counts.unknown),
        waste=replace(story.waste, unsent_bytes=unsent),
    )
    return subject, priced(story)


def replay_of(
    host: str, path: str, *, window_tokens: int | None = None, model: str | None = None
) -> tuple[Subject, Replayed]:
    """Return whose session a file is, and what our policy would have sent for it.

    Args:
        host: whose session it is, one of `READERS`.
        path: its file.
        window_tokens: the model's window; None takes it from the record.
        model: whose tokens are counted; None takes the session's.

    Raises:
        OSError: It cannot be opened, or is not a regular file.
        CallerError: Neither the caller nor the record gives the model's window.
    """
    from penstock.inspection.replaying import replay

    if window_tokens is None:
        window_tokens = glance_at(host, path, is_whole=True)[1].window_tokens
    if window_tokens is None:
        raise CallerError("The record does not say how much the model holds. Give it with --window TOKENS")
    reader = reader_of(host)
    with opened(path) as file:
        subject = _subject(host, file, path)
        made = replay(reader.happenings(file), reader.WIRE, window_tokens, model=model)
        counts = file.counts
        return subject, replace(made, story=replace(made.story, torn=counts.torn, too_large=counts.too_large))


def _subject(host: str, file: SessionFile, path: str) -> Subject:
    head = reader_of(host).head(file, path)
    file.counts.torn = file.counts.too_large = 0  # reading the head counted separately
    return Subject(
        host=host,
        session=head.session,
        project=head.folder,
        path=path,
        updated=rfc_3339(os.stat(path).st_mtime),
        version=head.version,
        size_bytes=file.size_bytes,
    )


def rfc_3339(seconds: float) -> str:
    """Return a file's time as RFC 3339 in UTC, clamped to the calendar."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(min(max(0.0, seconds), _LAST_SECOND)))
