"""How is a session recovered that its host cannot continue? By a new one next to it, whose next request fits (X-3).

Law: the session's own file is never changed, except for one append that is explicitly requested; what is not in the new session is
in our store, under the handle in its place; nothing is written that was not read back and counted in its final form. Leaves to
others: which command asks for it.
"""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, TypeVar

from penstock import overflow
from penstock.errors import CallerError
from penstock.hosts.rescue import writing
from penstock.hosts.rescue.cutting import OfferedTools
from penstock.hosts.rescue.diagnosis import Finding, findings, media_places, newest_refusal, unusable_reasoning
from penstock.hosts.rescue.living import find_live_sign
from penstock.hosts.rescue.projection import project
from penstock.hosts.rescue.shrinking import StillTooLarge, shrink
from penstock.hosts.rescue.sizes import MARGIN, Room, measure, room
from penstock.hosts.rescue.writers import APPENDERS, WRITERS
from penstock.hosts.sessions import reader_of, whole_messages
from penstock.hosts.sessions.known_hosts import KNOWN_HOSTS
from penstock.hosts.sessions.records import opened
from penstock.text.tokens import best_counter
from penstock.wires import load

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from penstock.context.bill import Bill
    from penstock.hosts.rescue.cutting import RescueCut
    from penstock.hosts.rescue.projection import Projection
    from penstock.hosts.rescue.shrinking import Smaller
    from penstock.hosts.rescue.sizes import Basis, RecordSize
    from penstock.hosts.sessions.head import Head
    from penstock.hosts.sessions.records import SessionFile
    from penstock.text.calls import Dialect

    Tell: TypeAlias = Callable[[str, int, int], None]
    """What is being done, how much of it, and of how many (0: unknown)."""

__all__ = ["APPENDERS", "MARGIN", "WRITERS", "Form", "Rescue", "rescue"]

Form = Literal["new", "append", "plan"]
"""What is made of a session: a new one next to it, an append to its own file, or only a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescue:
    """The outcome for a session."""

    findings: tuple[Finding, ...]
    """Findings about a session, those that block it first."""
    tokens_before: int
    """The size of its next request, as an upper bound."""
    likely_tokens_before: int
    """The likely size of its next request: the figure that is compared with the limit."""
    overhead_tokens: int
    """Tokens of a request apart from its messages: instructions and tools."""
    overhead_basis: Basis
    """Where the overhead's number comes from; if it is assumed, so is the fit."""
    limit_tokens: int | None
    """The provider's limit."""
    limit_source: str = ""
    """Where the limit comes from."""
    folder: str = ""
    """The working folder of the session; empty if the host does not record it."""
    live_sign: str = ""
    """The file by which the host shows that it has the session open; empty if it has not."""
    tokens_after: int | None = None
    """The size of the new session's next request, as an upper bound; None if none was planned."""
    session: str = ""
    """The id of the session to resume; empty if nothing was written."""
    path: str = ""
    """The file of the session."""
    undo_bytes: int | None = None
    """The length of the file before the append; None if there was none."""
    prepare: tuple[str, ...] = ()
    """The host's command that imports the file first; empty for a host that reads the file itself."""
    resume: tuple[str, ...] = ()
    """The host's command that resumes the session."""
    cuts: tuple[RescueCut, ...] = ()
    """Contents that are no longer in the session."""
    irreducible: Bill | None = None
    """What remains if nothing more can be removed and it still does not fit."""

    @property
    def is_stuck(self) -> bool:
        """Whether the session cannot continue."""
        return any(finding.is_stuck for finding in self.findings)

    @property
    def command(self) -> str:
        """The shell command that resumes the session; empty if nothing was written."""
        return " && ".join(shlex.join(words) for words in (self.prepare, self.resume) if words)

    @property
    def is_planned(self) -> bool:
        """Whether a way out was found."""
        return self.tokens_after is not None


class _Read(NamedTuple):
    """A session as read."""

    host: str
    head: Head
    projection: Projection
    size: RecordSize


def rescue(
    host: str,
    path: str,
    *,
    window_tokens: int | None,
    keep: Callable[[str | bytes, str], str],
    dialect: Dialect,
    model: str | None = None,
    form: Form = "new",
    tell: Tell | None = None,
) -> Rescue:
    """Find out why a session is stuck, and write a new one that is not.

    Nothing is written if it is not stuck, or if its host has it open.

    Args:
        host: whose session it is, one of `WRITERS`.
        path: its file, not a link to it: a new one is written next to it.
        window_tokens: the model's window; None takes it from refusals and the host.
        keep: keeps removed content, given that and a name, and returns its handle.
        dialect: how the call that reads it is written.
        model: whose tokens are counted; None takes the session's.
        form: what is made of it; `append` only for one of `APPENDERS`.
        tell: receives what is being done, how much of it and of how many (0: unknown); None if nobody watches.

    Raises:
        OSError: The file cannot be read, or the new one cannot be written.
        CallerError: The model's window is unknown, and the session was refused for its size; or the host is still writing to it.
    """
    reader = reader_of(host)
    known = writing.identity_of(path)
    with opened(path) as file:
        head = reader.head(file, path)
    with opened(path) as file:
        tell = tell or (lambda *_: None)
        projection = project(_counted(reader.happenings(file), tell))
        tell("Counting tokens of messages", 0, len(projection.said))
        counter = best_counter(model or projection.model or "o200k")
        limit, source = _limit(projection, window_tokens)
        assumed = KNOWN_HOSTS[host].overhead_tokens
        # Nobody uses a model that its host's own words fill by more than half.
        size = measure(projection, reader.WIRE, counter, assumed if limit is None else min(assumed, limit // 2))
        read = _Read(host, head, projection, size)
        found = findings(projection, reader.WIRE, size, limit, file.counts)
        done = Rescue(
            findings=(*found, *_of_the_host(host, head)),
            tokens_before=max(size.tokens, _stated_tokens(projection)),
            likely_tokens_before=size.likely_tokens,
            overhead_tokens=size.fixed_tokens,
            overhead_basis=size.basis,
            limit_tokens=limit,
            limit_source=source,
            folder=head.folder,
        )
        if not done.is_stuck:
            return done
        done = _with_live_sign(done, read, path)
        if done.live_sign and form != "plan":
            return done
        tell("Looking for what can go", 0, 0)
        tools = OfferedTools(reader.WIRE, counter, _kept_count(keep, tell), dialect)
        made = _smaller(read, limit, tools)
        least = size.least_fixed_tokens
        if isinstance(made, StillTooLarge) and least is not None and least < size.fixed_tokens:
            # The messages and the overhead cannot both be at their maximum: a provider counted them together.
            size = size._replace(fixed_tokens=least)
            read = read._replace(size=size)
            done = replace(done, overhead_tokens=least, overhead_basis="measured")
            made = _smaller(read, limit, tools)
        if isinstance(made, StillTooLarge):
            why = Finding("irreducible", "What has to stay takes more than there is room for.", True)
            return replace(done, findings=(*done.findings, why), irreducible=made.bill)
        done = replace(done, tokens_after=made.tokens, cuts=made.cuts)
        if form == "plan":
            return done
        tell("Writing the new session", 0, 0)
        return _written(done, read, file, made, known=known, path=path, form=form)


_H = TypeVar("_H")


def _counted(happenings: Iterable[_H], tell: Tell) -> Iterator[_H]:
    """Yield a session's happenings, and report how many were read."""
    for number, happening in enumerate(happenings, 1):
        tell("Records read", number, 0)
        yield happening


def _kept_count(keep: Callable[[str | bytes, str], str], tell: Tell) -> Callable[[str | bytes, str], str]:
    """Return a function that keeps removed content and reports how many pieces."""
    numbers = count(1)

    def kept(content: str | bytes, name: str) -> str:
        tell("Results kept", next(numbers), 0)
        return keep(content, name)

    return kept


def _written(
    done: Rescue, read: _Read, file: SessionFile, made: Smaller, *, known: writing.Identity, path: str, form: Form
) -> Rescue:
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
    if form == "append":
        tokens = done.tokens_before, done.tokens_after or 0
        length = writing.append(read.host, path, file, made.lines, tokens, known=known, now=now)
        session, new_path = read.head.session, path
        done = replace(done, undo_bytes=length)
    else:
        session, new_path = writing.write_new(read.host, path, file, made.lines, known=known, now=now)
        done = replace(done, prepare=tuple(writing.prepare(read.host, new_path)))
    return replace(done, session=session, path=new_path, resume=tuple(writing.resume(read.host, session)))


def _smaller(read: _Read, limit: int | None, tools: OfferedTools) -> Smaller | StillTooLarge:
    """Return the part of the session that fits, and its size as its provider counts.

    Raises:
        CallerError: It was refused for its size, and the model's window is unknown.
    """
    projection, newest, size = read.projection, newest_refusal(read.projection), read.size
    by_bytes = newest is not None and newest.is_of_bytes
    is_size = (newest is not None and newest.is_overflow) or (limit is not None and size.likely_tokens > limit)
    if is_size and limit is None:
        raise CallerError(
            "The size of the model's window is not known: neither the host nor the refusal states it. Give it with --window TOKENS"
        )
    # A session is too large if a provider said so, or if the count exceeds a known limit. Only then is content removed for its
    # size; a session that was refused for a picture keeps all its words.
    space = _room(read, limit) if is_size and limit is not None else None
    transcript = load(whole_messages(projection.said), tools.wire)
    refused = [entry.index for entry in unusable_reasoning(transcript, projection)]
    is_all = by_bytes or (space is not None and space.is_without_media)
    refused_media = None
    if is_all or (newest is not None and newest.is_of_images):
        refused_media = media_places(projection, transcript, is_all=is_all)
    room_tokens = None if space is None else space.tokens
    if by_bytes and not refused_media:
        room_tokens = size.messages_tokens // 2  # no picture is to blame, and the limit in bytes is unknown
    made = shrink(projection.said, room_tokens, tools, refused_reasoning=refused, refused_media=refused_media or ())
    if isinstance(made, StillTooLarge):
        return made
    return made._replace(tokens=(space or Room(0, fixed_tokens=size.fixed_tokens)).provider_tokens(made.tokens))


def _of_the_host(host: str, head: Head) -> list[Finding]:
    """Return the findings about the host's version."""
    known = KNOWN_HOSTS[host]
    if not head.version or head.version in known.versions:
        return []
    tried = ", ".join(known.versions)
    sentence = (
        f"Written by {known.title} {head.version[:40]}; tried with {tried}. Look at what it shows before you go on."
    )
    return [Finding("version_untried", sentence, False)]


def _with_live_sign(done: Rescue, read: _Read, path: str) -> Rescue:
    sign = find_live_sign(read.host, path, read.head.session)
    if sign is None:
        return done
    title = KNOWN_HOSTS[read.host].title
    why = Finding("live_session", f"{title} has this session open. End it first, and try again.", False)
    return replace(done, live_sign=sign, findings=(*done.findings, why))


def _limit(projection: Projection, window_tokens: int | None) -> tuple[int | None, str]:
    """Return the model's window, and its source: a refusal's number is more reliable than a host's."""
    if window_tokens is not None:
        return window_tokens, "as you said"
    if projection.limits:
        # The smallest of several: a session may have changed its model, and the result must fit whichever resumes it.
        return min(projection.limits), "as the provider said"
    if projection.window_tokens is not None:
        return projection.window_tokens, "as the host notes"
    return None, ""


def _room(read: _Read, limit_tokens: int) -> Room:
    """Return the room for the messages."""
    is_refused = any(overflow.parse(one.words) is not None for one in read.projection.refused)
    return room(read.size, limit_tokens, _stated_tokens(read.projection), is_refused=is_refused)


def _stated_tokens(projection: Projection) -> int:
    """Return the provider's count of a refused request; 0 if it stated none."""
    refused = [one for one in map(overflow.parse, (one.words for one in projection.refused)) if one is not None]
    return max((one.input or one.total or 0 for one in refused if one.unit == "tokens"), default=0)
