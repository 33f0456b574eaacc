"""Is the tree still the one that the session left? Files as they were known, compared by content when the session resumes (S-10).

`snapshot` is taken at a checkpoint, `verify` when a session is resumed, perhaps days later and on another machine. Everything is
opened beneath the root, by the root; nothing but a regular file is opened at all. Laws: a file is `same` only if its content is,
or if neither its size nor any of its times changed since they were old enough to tell; what cannot be determined is
`unreadable`. Leaves to others: where snapshots are stored, and what a session does about a change.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import time
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from penstock.errors import CallerError, ToolError
from penstock.session.known_files import ROLES, KnownFile, Ranges, Role, merged
from penstock.text import escape, notices
from penstock.text.calls import PYTHON, Call
from penstock.workspace import Workspace, refusals
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
    place: Workspace | Root, paths: Iterable[str], ledger: Ledger, *, deadline: Deadline | None = None
) -> tuple[Tracked, ...]:
    """Return the files as they are now, with what the ledger knows of them.

    Args:
        place: the root.
        paths: which files; `ledger.files` are all that it has.
        ledger: what the session knows.
        deadline: when to stop reading; None is that of one walk. What was not read by then is `unreadable`, and will still be when
            it is verified.

    Returns:
        A file for each path, in the order of the paths.
    """
    root, until = _root(place), deadline or Deadline(WALK_SECONDS)
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
    place: Workspace | Root, tracked: Iterable[Tracked], *, strict: bool = False, deadline: Deadline | None = None
) -> tuple[Verified, ...]:
    """Return the outcome for each file since the snapshot, in the same order.

    A file whose size and times are those of the snapshot is not read, if they were old enough then.

    Args:
        place: the root; it may be another folder than at the snapshot.
        tracked: the snapshot.
        strict: whether every file is read, which also finds a write through a memory map.
        deadline: when to stop reading; None is that of one walk. What was not read by then is `unreadable`.
    """
    root, until, files = _root(place), deadline or Deadline(WALK_SECONDS), list(tracked)
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


def _root(place: Workspace | Root) -> Root:
    """Return the root of a workspace, or the root itself."""
    return place.root if isinstance(place, Workspace) else place


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

    whole, unix, held, at = sha256(), None, b"", 0
    while not deadline.passed:
        block = source.read(at, _BLOCK_BYTES)
        if not block:
            if unix is None:
                return whole.hexdigest(), ""
            unix.update(held)
            return whole.hexdigest(), unix.hexdigest()
        at += len(block)
        # Up to here both forms are the same, so the second digest continues from a copy of the first; most files never need it.
        if unix is None and b"\r" in block:
            unix = whole.copy()
        whole.update(block)
        if unix is not None:
            text = held + block
            # The line feed of a carriage return at the end may begin the next block.
            held = b"\r" if text.endswith(b"\r") else b""
            unix.update(text[: len(text) - len(held)].replace(b"\r\n", b"\n"))
    return None


# ── git ──────────────────────────────────────────────────────────────────────────────────────────────────────────

# Enough for an index of half a million files.
_MAX_GIT_BYTES = 64 << 20
_ENTRY = struct.Struct(">10I")


class Git(NamedTuple):
    """The state of a repository."""

    head: str
    """The commit, in hexadecimal; empty before the first."""
    branch: str = ""
    """The branch; empty if none is checked out."""
    is_dirty: bool | None = None
    """Whether a file of the index is changed or gone, by content, as `git diff` finds it; None if that cannot be determined."""


def git(place: Workspace | Root, *, deadline: Deadline | None = None) -> Git | None:
    """Return the state of the repository whose folder is the root, read from its files; None if there is none beneath the root.

    git itself is not run: it would read settings of a stranger's repository, and those can name programs.

    Args:
        place: the root.
        deadline: when to stop comparing; None is that of one walk.
    """
    root, until = _root(place), deadline or Deadline(WALK_SECONDS)
    text = _own(root, "HEAD")
    if text is None:
        return None
    head = text.decode("utf-8", "replace").strip()
    ref, branch = head.removeprefix("ref: "), ""
    if ref != head:
        branch = ref.removeprefix("refs/heads/")
        head = (_own(root, ref) or _packed(root, ref)).decode("ascii", "replace").strip()
    if re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", head) is None:
        head = ""
    return Git(head, escape.clip(branch), _is_dirty(root, len(head) // 2 or 20, until))


def _own(root: Root, name: str) -> bytes | None:
    """Return a file of the repository; None if there is none, or none that can be read."""
    try:
        file = root.open_file(root.relative(f".git/{name}"))
    except ToolError:
        return None
    try:
        return FileSource(file).read(0, _MAX_GIT_BYTES)
    except OSError:
        return None
    finally:
        file.close()


def _packed(root: Root, ref: str) -> bytes:
    """Return the commit of a reference that `git pack-refs` stored in one file; empty for none."""
    for line in (_own(root, "packed-refs") or b"").splitlines():
        commit, _, name = line.partition(b" ")
        if name == ref.encode("utf-8", "replace"):
            return commit
    return b""


class _Entry(NamedTuple):
    """A regular file of an index."""

    name: bytes
    mtime_ns: int
    size_bytes: int
    digest: bytes
    is_merged: bool
    """False for one side of a conflict."""


def _is_dirty(root: Root, digest_bytes: int, deadline: Deadline) -> bool | None:
    """Return whether a file is no longer what the index has; None if that cannot be determined. Links and submodules are
    ignored.
    """
    index = _own(root, "index")
    if index is None:
        return None
    try:
        written = root.look(b".git/index")
        for entry in _entries(index, digest_bytes):
            is_same = None if deadline.passed else _is_entry(root, entry, written.st_mtime_ns, deadline)
            if not is_same:
                return None if is_same is None else True
    except (struct.error, ValueError, OSError):
        return None
    return False


def _entries(index: bytes, digest_bytes: int) -> list[_Entry]:
    """Return the regular files of an index of version 2 or 3 (gitformat-index).

    Raises:
        ValueError: for an unknown form; what cannot be determined is not guessed.
    """
    signature, version, count = struct.unpack_from(">4sII", index)
    if signature != b"DIRC" or version not in {2, 3}:
        raise ValueError(f"version {version} of an index")
    made, at = [], 12
    for _ in range(count):
        _, _, seconds, nanoseconds, _, _, mode, _, _, size = _ENTRY.unpack_from(index, at)
        # gitformat-index: ten 32-bit numbers, the object's name, 16 bits of flags, 16 more if bit 14 is set (version 3), the path,
        # and NULs up to a multiple of eight.
        flags_at = at + _ENTRY.size + digest_bytes
        flags, more = struct.unpack_from(">HH", index, flags_at)
        name_at = flags_at + (4 if flags & 0x4000 else 2)
        name_end = index.index(b"\0", name_at)
        # Entries that git itself ignores: assume-unchanged, skip-worktree.
        is_left_alone = flags & 0x8000 or (flags & 0x4000 and more & 0x4000)
        if stat.S_ISDIR(mode):
            raise ValueError("a sparse index")
        if stat.S_ISREG(mode) and not is_left_alone:
            made.append(
                _Entry(
                    name=index[name_at:name_end],
                    mtime_ns=seconds * 10**9 + nanoseconds,
                    size_bytes=size,
                    digest=index[at + _ENTRY.size : flags_at],
                    is_merged=not flags & 0x3000,
                )
            )
        # Padded to eight bytes, with at least one NUL.
        at += (name_end - at + 8) & ~7
    if index[at : at + 4] == b"link":
        raise ValueError("a split index")
    return made


def _is_entry(root: Root, entry: _Entry, index_ns: int, deadline: Deadline) -> bool | None:
    """Return whether a file is what its entry says; None when time is up."""
    import hashlib

    try:
        # Beneath the root and by name: an index can say anything.
        file = root.open_file(root.relative(escape.show_name(entry.name)))
    except ToolError as error:
        return False if error.code in _OTHERS else None
    try:
        size = file.status.st_size
        if not entry.is_merged or (entry.size_bytes and entry.size_bytes != size & 0xFFFFFFFF):
            return False
        # Racy git: a file written in the same clock step as the index has the entry's size and time whatever it holds. The time is
        # trusted only for a file that is older than the index; others are read.
        if entry.size_bytes == size & 0xFFFFFFFF and entry.mtime_ns == file.status.st_mtime_ns < index_ns:
            return True
        made = (hashlib.sha1 if len(entry.digest) == 20 else hashlib.sha256)(b"blob %d\0" % size, usedforsecurity=False)
        source, at = FileSource(file), 0
        while not deadline.passed:
            block = source.read(at, _BLOCK_BYTES)
            if not block:
                return made.digest() == entry.digest
            made.update(block)
            at += len(block)
        return None
    finally:
        file.close()


# ── the report ───────────────────────────────────────────────────────────────────────────────────────────────────


_READ_AGAIN = "Read these again before you continue: you were changing them, and they are not what you knew:"
_NOT_AS_THEY_WERE = "Not as they were either:"


def report(
    verified: Sequence[Verified],
    *,
    max_chars: int = 4000,
    dialect: Dialect | None = None,
    git_then: Git | None = None,
    git_now: Git | None = None,
) -> str:
    """Return the report to a person and a model when a session resumes.

    First what has to be read again, then what else has changed. Inert, and at most `max_chars`; what does not fit is counted.

    Args:
        verified: what `verify` found.
        max_chars: the most characters.
        dialect: how the calls that read a file again are written; None is Python's.
        git_then: the earlier state of the repository; None if nobody knows.
        git_now: its present state; None leaves it out.
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
    if git_now is not None:
        lines.append(_repository(git_then or git_now, git_now))
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


def _repository(then: Git, now: Git) -> str:
    """Return the state of the repository, and its earlier state if that was different."""
    moved = f"{_stands(then)}, now " if (then.head, then.branch) != (now.head, now.branch) else ""
    work = {None: "", True: "; files differ from its index", False: "; files are as its index has them"}[now.is_dirty]
    return f"Git: {moved}{_stands(now)}{work}."


def _stands(git: Git) -> str:
    return (git.head[:12] or "no commit yet") + (f" on {git.branch}" if git.branch else ", no branch")
