"""Is the tree still the one that the session left? Files as they were known, compared by content when the session resumes (S-10).

`snapshot` is taken at a checkpoint, `verify` when a session is resumed, perhaps days later and on another machine. Everything is
opened beneath the root, by the root; nothing but a regular file is opened at all. Laws: a file is `same` only if its content is,
or if neither its size nor any of its times changed since they were old enough to tell; what cannot be determined is
`unreadable`. Leaves to others: where snapshots are stored, and what a session does about a change.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from penstock.errors import CallerError, ToolError
from penstock.session.known_files import ROLES, KnownFile, Ranges, Role, merged
from penstock.text import escape, notices
from penstock.text.calls import PYTHON, Call
from penstock.workspace import refusals
from penstock.workspace import version as versions
from penstock.workspace.deadline import WALK_SECONDS, Deadline
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.session.ledger import Ledger
    from penstock.text.calls import Dialect
    from penstock.text.json_access import Json
    from penstock.workspace.root import OpenFile, Root

Kind = Literal["file", "missing", "other", "unreadable"]
"""What is at a path; `other` is anything but a regular file: a folder, a FIFO, a device."""
State = Literal["same", "changed", "missing", "new", "unreadable"]
"""What happened to a file since the snapshot."""
STATES: tuple[State, ...] = get_args(State)
"""All states, in the order in which a report counts them."""

# FAT stores times in steps of 2 s, ext3 and HFS+ of 1 s, a Linux kernel of 1 to 10 ms.
GRANULARITY_NS = 2_000_000_000
"""How old a file's times have to be so that any later write must change them, in nanoseconds."""
_BLOCK_BYTES = 1 << 20
_ATTEMPTS = 3
"""How often a file that is being written meanwhile is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """One file as the session knew it; the entry in a checkpoint.

    Raises:
        CallerError: from `from_dict`, for anything that `to_dict` did not write.
    """

    path: str
    role: Role = "read"
    """What the session did with a file, as its ledger says."""
    kind: Kind = "file"
    reason: str = ""
    """Why a file was not read; empty if it was."""
    size_bytes: int | None = None
    mtime_ns: int | None = None
    ctime_ns: int | None = None
    """When a file's inode changed: nobody can set this time, so it reveals a file whose other times were reset."""
    mode: int | None = None
    """The file's permissions."""
    sha256: str = ""
    """The digest of its content; empty if it was not read."""
    unix_sha256: str = ""
    """The digest of the content with LF for every CRLF; empty if there is no carriage return."""
    target: str = ""
    """The file's real location, relative to the root, if a link leads there; else empty."""
    is_settled: bool = False
    """Whether a file's times were old enough, when it was read, that any later write had to change them."""
    is_known: bool = True
    """Whether the file was found in the version that the session knew last."""
    seen: Ranges = ()
    """The lines that were shown of this version, 1-based and inclusive."""

    def to_dict(self) -> dict[str, Json]:
        """Return the file as JSON; fields that have their default are left out."""
        made = {known.name: (getattr(self, known.name), known.default) for known in fields(self)}
        said: dict[str, Json] = {name: value for name, (value, default) in made.items() if value != default}
        return said | ({"seen": [list(part) for part in self.seen]} if self.seen else {})

    @classmethod
    def from_dict(cls, value: Mapping[str, Json]) -> Tracked:
        """Return the file that `to_dict` wrote.

        Raises:
            CallerError: for anything else.
        """
        try:
            made = cls(**{**value, "seen": tuple((first, last) for first, last in value.get("seen", ()))})
            is_sound = (
                made.role in ROLES
                and made.kind in get_args(Kind)
                and made.seen == merged(made.seen)
                and all(_fits(getattr(made, known.name), str(known.type)) for known in fields(made))
                and (made.kind != "file" or len(made.sha256) == 64)
            )
        except (AttributeError, TypeError, ValueError) as error:
            raise CallerError(f"this is not a tracked file: {error}") from error
        if not is_sound:
            raise CallerError(f"this is not a tracked file: {escape.clip(repr(value))}")
        return made


def _fits(value: Any, annotation: str) -> bool:
    """Return whether a value is valid for a field with that annotation."""
    match annotation:
        case "int | None":
            return value is None or (type(value) is int and value >= 0)
        case "bool":
            return isinstance(value, bool)
        case "Ranges":
            return all(type(number) is int and number > 0 for part in value for number in part)
        case _:
            return isinstance(value, str)


class Verified(NamedTuple):
    """The outcome for one file, with the reason."""

    tracked: Tracked
    state: State
    reason: str = ""
    """What differs in a file, or why that cannot be determined; empty if there is nothing to say."""

    @property
    def must_be_read(self) -> bool:
        """Whether the session was changing the file and no longer knows what it holds (S-10)."""
        return self.state in {"changed", "new"} and self.tracked.role != "read"


# ── at a checkpoint, and when a session resumes ──────────────────────────────────────────────────────────────────


def snapshot(
    root: Root, paths: Iterable[str], ledger: Ledger, *, deadline: Deadline | None = None
) -> tuple[Tracked, ...]:
    """Return the files as they are now, with what the ledger knows of them.

    Args:
        root: the root.
        paths: which files; `ledger.files` are all that it has.
        ledger: what the session knows.
        deadline: when to stop reading; None is that of one walk. What was not read by then is `unreadable`, and will still be when
            it is verified.

    Returns:
        A file for each path, in the order of the paths.
    """
    until = deadline or Deadline(WALK_SECONDS)
    known = {file.path: file for file in map(ledger.file, paths)}
    # The smallest first: one large file must not use up the time of all the others.
    smallest_first = sorted(known.values(), key=lambda file: file.size_bytes or 0)
    made = {file.path: _tracked(file, *_look(root, file.path, until)) for file in smallest_first}
    return tuple(made[path] for path in known)


def _tracked(file: KnownFile, found: Tracked, version: str) -> Tracked:
    """Return what was found, combined with what the session knows of it."""
    if file.role == "deleted" or found.kind == "missing":
        is_known = (file.role == "deleted" or not file.version) and found.kind == "missing"
    elif file.digest:
        is_known = file.digest == found.sha256
    else:
        is_known = not file.version or file.holds(version)
    return replace(found, role=file.role, is_known=is_known, seen=file.seen if is_known else ())


def verify(
    root: Root, tracked: Iterable[Tracked], *, strict: bool = False, deadline: Deadline | None = None
) -> tuple[Verified, ...]:
    """Return the outcome for each file since the snapshot, in the same order.

    A file whose size and times are those of the snapshot is not read, if they were old enough then.

    Args:
        root: the root; it may be another folder than at the snapshot.
        tracked: the snapshot.
        strict: whether every file is read, which also finds a write through a memory map.
        deadline: when to stop reading; None is that of one walk. What was not read by then is `unreadable`.
    """
    until, files = deadline or Deadline(WALK_SECONDS), list(tracked)
    smallest_first = sorted(range(len(files)), key=lambda number: files[number].size_bytes or 0)
    made = {number: _verified(root, files[number], strict, until) for number in smallest_first}
    return tuple(made[number] for number in range(len(files)))


def _verified(root: Root, was: Tracked, strict: bool, deadline: Deadline) -> Verified:
    """Return the outcome for one file, compared with what the session knew of it and not only with the checkpoint."""
    now, _ = _look(root, was.path, deadline, None if strict else was)
    state, reason = _compared(was, now)
    if state == "same" and not was.is_known:
        before: State = "missing" if was.kind == "missing" else "new" if was.role == "deleted" else "changed"
        return Verified(was, before, _CHANGED_BEFORE)
    return Verified(was, state, reason)


def _compared(was: Tracked, now: Tracked) -> tuple[State, str]:
    """Return the state of a file and its reason, from two looks."""
    if now.kind == "missing":
        return "same" if was.kind == "missing" else "missing", ""
    if was.kind == "missing":
        return "unreadable" if now.kind == "unreadable" else "new", now.reason
    if was.kind == "file" and now.kind == "other":
        return "changed", now.reason
    if now.size_bytes is None or (was.size_bytes is None and not was.sha256):  # one of them could not even be opened
        return "unreadable", now.reason or _NOT_READ_THEN
    # For a file named by a foreign handoff, possibly nothing but its digest is known.
    if was.size_bytes is not None and was.target != now.target:
        return "changed", _lies_at(was.target, now.target)
    if was.sha256 and now.sha256:
        if was.sha256 == now.sha256:
            return "same", "" if was.mode in {None, now.mode} else _other_mode(was.mode or 0, now.mode or 0)
        # Content without a carriage return is its own LF form, so either digest may represent it.
        if (was.unix_sha256 or was.sha256) == (now.unix_sha256 or now.sha256):
            return "changed", _OTHER_LINE_ENDS
    if was.size_bytes is not None and was.size_bytes != now.size_bytes:
        return "changed", _other_size(was.size_bytes, now.size_bytes)
    if was.sha256 and now.sha256:
        return "changed", _OTHER_CONTENT if was.size_bytes is not None else ""
    return "unreadable", now.reason or _NOT_READ_THEN


_CHANGED_BEFORE = "when the session stopped it was already not what had been shown of it"
_OTHER_LINE_ENDS = "only its line ends changed"
_OTHER_CONTENT = "its content changed, its size did not"
_NOT_READ_THEN = "it had not been read, so that there is nothing to compare it with"


def _other_size(then_bytes: int, now_bytes: int) -> str:
    return f"it had {then_bytes} bytes and has {now_bytes}"


def _other_mode(then: int, now: int) -> str:
    return f"only its mode changed, from {then:o} to {now:o}"


def _lies_at(then: str, now: str) -> str:
    """Return the message about a link that was swapped in, now leads elsewhere, or was replaced by a file."""
    if not now:
        return f"it was a link to {escape.shorten(then)} and is a file of its own"
    return f"it is a link to {escape.shorten(now)}" + (f" and was one to {escape.shorten(then)}" if then else "")


# ── one look at one file ─────────────────────────────────────────────────────────────────────────────────────────

_NO_TIME_TO_READ = "the time was up before all of it was read"
_BEING_WRITTEN = "it is being written to"
_OTHERS: dict[str, Kind] = {"not_found": "missing", "is_directory": "other", "not_regular_file": "other"}


def _look(root: Root, path: str, deadline: Deadline, was: Tracked | None = None) -> tuple[Tracked, str]:
    """Return the file as it is now, and its version; if nothing was written since `was`, its digests are reused."""
    relative, now = b"", Tracked(path=path, kind="unreadable")
    try:
        relative = root.relative(path)
        for _ in range(_ATTEMPTS):
            # Taken before the look: anything written after it has a later time, or was not settled.
            at_ns = time.time_ns()
            file = root.open_file(relative)
            try:
                now = _opened(root, path, file, at_ns)
                if was is not None and was.sha256 and was.is_settled and _stamp(was) == _stamp(now):
                    return replace(now, kind="file", sha256=was.sha256, unix_sha256=was.unix_sha256), ""
                source = FileSource(file)
                digests = _digests(source, deadline)
                if digests is None:
                    return replace(now, reason=_NO_TIME_TO_READ), ""
                # The size and times must be the same before and after: otherwise the digest would mix two contents, and the file is
                # read again.
                if _stamp(now) == _stamp(_opened(root, path, file._replace(status=os.fstat(file.descriptor)), at_ns)):
                    found = replace(now, kind="file", sha256=digests[0], unix_sha256=digests[1])
                    return found, str(versions.of(source, source.size_bytes))
            finally:
                file.close()
        return replace(now, reason=_BEING_WRITTEN), ""
    except OSError as error:
        refused = refusals.refusal(error, relative)
    except ToolError as error:
        refused = error
    kind: Kind = _OTHERS.get(refused.code, "unreadable")
    return Tracked(path=path, kind=kind, reason=refused.message), ""


def _opened(root: Root, path: str, file: OpenFile, at_ns: int) -> Tracked:
    """Return what is known of an open file before it is read."""
    status, real = file.status, root.resolved(file.descriptor)
    return Tracked(
        path=path,
        kind="unreadable",
        size_bytes=status.st_size,
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        mode=stat.S_IMODE(status.st_mode),
        target="" if real in {None, file.relative} else escape.show_name(real or b""),
        is_settled=at_ns - max(status.st_mtime_ns, status.st_ctime_ns) > GRANULARITY_NS,
    )


def _stamp(of: Tracked) -> tuple[object, ...]:
    """Return what any write must change about a file."""
    return of.size_bytes, of.mtime_ns, of.ctime_ns, of.target


def _digests(source: FileSource, deadline: Deadline) -> tuple[str, str] | None:
    """Return SHA-256 of the content, and of the same with LF for every CRLF (empty if there is no CR); None when time is up."""
    from hashlib import sha256

    whole, unix, held = sha256(), None, b""
    for block in source.blocks(_BLOCK_BYTES):
        if deadline.passed:
            return None
        # Up to here both forms are the same, so the second digest continues from a copy of the first; most files never need it.
        if unix is None and b"\r" in block:
            unix = whole.copy()
        whole.update(block)
        if unix is not None:
            text = held + block
            # The line feed of a carriage return at the end may begin the next block.
            held = b"\r" if text.endswith(b"\r") else b""
            unix.update(text[: len(text) - len(held)].replace(b"\r\n", b"\n"))
    if unix is None:
        return whole.hexdigest(), ""
    unix.update(held)
    return whole.hexdigest(), unix.hexdigest()


# ── the report ───────────────────────────────────────────────────────────────────────────────────────────────────


_READ_AGAIN = "Read these again before you continue: you were changing them, and they are not what you knew:"
_NOT_AS_THEY_WERE = "Not as they were either:"


def report(
    verified: Sequence[Verified],
    *,
    max_chars: int = 4000,
    dialect: Dialect | None = None,
) -> str:
    """Return the report to a person and a model when a session resumes.

    First what has to be read again, then what else has changed. Inert, and at most `max_chars`; what does not fit is counted.

    Args:
        verified: what `verify` found.
        max_chars: the most characters.
        dialect: how the calls that read a file again are written; None is Python's.
    """
    rows: list[tuple[str, list[str]]] = [(_READ_AGAIN, []), (_NOT_AS_THEY_WERE, [])]
    for item in sorted(verified, key=lambda item: item.tracked.role == "read"):
        if item.state == "same" and not item.reason:
            continue
        path = escape.show_argument(item.tracked.path)
        call = (dialect or PYTHON).write(Call("view", {"file_path": path})) if item.must_be_read else ""
        reason = escape.shorten(escape.show_argument(item.reason))
        rows[not item.must_be_read][1].append(_verified_row(path, item.state, reason, call))
    lines = [notices.all_verified([(state, sum(item.state == state for item in verified)) for state in STATES])]
    for title, items in rows:
        if items:
            lines += _as_fits([title, *items], max_chars - len("\n".join(lines)) - 1)
    return "\n".join(lines)[: max(0, max_chars)]


def _as_fits(lines: list[str], max_chars: int) -> list[str]:
    """Return a title and as many rows as fit, with the number of the others; nothing if not even one row fits."""
    for shown in range(len(lines), 1, -1):
        kept = lines[:shown] + ([_more_files(len(lines) - shown)] if shown < len(lines) else [])
        if len("\n".join(kept)) <= max_chars:
            return kept
    return []


def _verified_row(path: str, state: State, reason: str, call: str) -> str:
    return f"- {notices.title(path)}: {state}" + (f", {reason}" if reason else "") + (f" | {call}" if call else "")


def _more_files(count: int) -> str:
    return f"- … {count} more"
