"""Which files does this session know, and how well? Read, modified, created, deleted, and the lines that were really
shown (S-5).

A ledger is a value: every act gives a new one, and every act can be written down as JSON and fed in again (`after`).
Checks come before an act and are values too: `ok`, `advised`, or `refused` with what would work and how to do it all
the same.

Laws: replaying its acts gives an equal ledger; counts never fall; a line counts as seen only in the version that showed
it. Leaves to others: disks, what a session does about a refusal, and whether a file is still the same after a pause
(`agent.file_check`).
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from penstock.errors import CallerError
from penstock.text import escape, stand_ins
from penstock.text.calls import PYTHON, Call

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.text.calls import Dialect
    from penstock.text.json_access import Json
    from penstock.text.window import Window

Role = Literal["read", "modified", "created", "deleted"]
"""What was done to a file: it was read, modified, created or deleted."""
Ranges = tuple[tuple[int, int], ...]
"""Lines as ranges, 1-based and inclusive, in order, with a gap between any two."""

ROLES: tuple[Role, ...] = get_args(Role)
"""All roles, in the order in which a file's roles are kept."""
Level = Literal["ok", "advised", "refused"]
"""What is thought of an act before it is done."""
_LEVELS: tuple[Level, ...] = get_args(Level)
# Stands for the last line of a file whose length nobody knows.
_ENDLESS = 1 << 62
# The lines of a page that is recommended where no limit says so.
_PAGE_LINES = 500


class ActVerdict(NamedTuple):
    """What is thought of an act before it is done."""

    level: Level
    text: str = ""
    """What the model is told: what is wrong, what would work, how to do it all the same. Empty where there is nothing
    to say.
    """


class Limit(NamedTuple):
    """A number that is recommended, and the most that is let through without an override."""

    recommended: int
    maximum: int

    def level(self, count: int) -> Level:
        """Return what is thought of a count; both numbers may be reached."""
        return "ok" if count <= self.recommended else "advised" if count <= self.maximum else "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """How many distinct files a session may touch, and how many lines it may read at once (S-5).

    Each field takes two whole numbers, also as a list from a file of settings; None switches a limit off.

    Raises:
        CallerError: for a field that is not two numbers in order.
    """

    files_read: Limit | None = field(default=Limit(50, 75))
    files_modified: Limit | None = field(default=Limit(15, 25))
    files_created: Limit | None = field(default=Limit(10, 20))
    # `view` shows 100 by default and is far below; this is for reads that name their lines.
    lines_per_read: Limit | None = field(default=Limit(500, 1000))
    """Lines of one explicit read."""

    def __post_init__(self) -> None:
        for known in fields(self):
            given = getattr(self, known.name)
            if given is not None:
                object.__setattr__(self, known.name, _limit(given, known.name))


def _limit(given: Json, name: str) -> Limit:
    """Return a limit from two numbers, or an error that names the field."""
    if isinstance(given, list | tuple) and len(given) == 2 and all(type(number) is int for number in given):
        limit = Limit(*given)
        if 0 <= limit.recommended <= limit.maximum:
            return limit
    raise CallerError(f"{name}: what is recommended and, not below it, the most, like [50, 75]; or None for no limit")


NO_LIMITS = FileLimits(files_read=None, files_modified=None, files_created=None, lines_per_read=None)
"""Limits that let everything through without a word."""


# ── classes of files ─────────────────────────────────────────────────────────────────────────────────────────────


class Advice(NamedTuple):
    """How a file of some length is best read and edited, for the model in `text`."""

    read: Literal["whole", "sections", "windows"]
    edit: Literal["whole", "sections"]
    text: str


_IN_WINDOWS = "Long: search or take the outline, then view windows of it; edit it in sections."


def advice(total_lines: int) -> Advice:
    """Return how a file of so many lines is best read and edited (S-5).

    Below 200 lines in full; to 500 read in full and edited in sections; to 1,000 in sections; above that in windows
    only.
    """
    if total_lines < 200:
        return Advice("whole", "whole", "Short: read and edit it in full.")
    if total_lines <= 500:
        return Advice("whole", "sections", "Read it in full, edit it in sections.")
    if total_lines <= 1000:
        return Advice("sections", "sections", "Read and edit it in sections: take the outline first.")
    return Advice("windows", "sections", _IN_WINDOWS)


# ── ranges and versions ──────────────────────────────────────────────────────────────────────────────────────────


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the same lines as few ranges: what touches becomes one, what is empty goes. O(n log n) in the ranges."""
    made: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if last < first:
            continue
        if made and first <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(last, made[-1][1]))
        else:
            made.append((first, last))
    return tuple(made)


def missing(ranges: Ranges, first: int, last: int) -> Ranges:
    """Return the lines from `first` to `last` that are not in `ranges`, as few ranges."""
    gaps: list[tuple[int, int]] = []
    for start, end in ranges:
        gaps.append((first, min(last, start - 1)))
        first = max(first, end + 1)
    return merged([*gaps, (first, last)])


def file_version(version: str) -> str:
    """Return what the page tokens of one version of a file have in common.

    A page's token also says where the page ended, and has a hash of the bytes before that place; without both it is the
    size and the hashes of identity and times. Any other text is returned as it is.
    """
    # The form is that of `workspace.version`: size, cursor, then 5 digits of identity, 6 of times and 10 of the anchor.
    return re.sub(r"\A([0-9]+)\.[0-9]+\.([0-9]{11})[0-9]{10}\Z", r"\1.\2", version)


# ── what is known of one file ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """One file as the session knows it: the newest version that it met, and which lines of that were shown."""

    path: str
    """The path that pages show, relative to the root."""
    roles: tuple[Role, ...] = ()
    """All that the file has been in this session, in the order of `ROLES`; this is what counts are made of."""
    role: Role = "read"
    """What the file is to be taken for now: a change outranks a read, a deletion what was before it."""
    version: str = ""
    """The newest version that was met, as `file_version` gives it; empty for none, and after a deletion."""
    total_lines: int | None = None
    """How many lines that version has; None where nobody knows."""
    size_bytes: int | None = None
    digest: str = ""
    """SHA-256 of the content, where somebody computed it; else empty."""
    seen: Ranges = ()
    """The lines of that version that were shown in full, or written by the model."""
    reads: int = 0
    """How often any page of it was read, in any version."""
    repeated_reads: int = 0
    """Reads that showed nothing that had not been seen of the same version."""
    read_turn: int | None = None
    """The turn of the last read; None where no read said its turn."""
    changed_turn: int | None = None
    """The turn of the last change or deletion; None where none said its turn."""

    def holds(self, version: str, digest: str | None = None) -> bool:
        """Whether this is the content that is known: the same version, or the same digest.

        Equal digests carry what was seen over to new time stamps, as after a checkout that wrote the same bytes.
        """
        return bool((version and file_version(version) == self.version) or (digest and digest == self.digest))

    def contradicts(self, shown: Ranges, total_lines: int | None) -> bool:
        """Whether lines that were shown, now or before, lie behind the known end: then it was not this content."""
        total = self.total_lines if total_lines is None else total_lines
        return total is not None and any(ranges[-1][1] > total for ranges in (self.seen, shown) if ranges)

    @property
    def unseen(self) -> Ranges | None:
        """The lines that were not shown; None where nobody knows how many there are."""
        return None if self.total_lines is None else missing(self.seen, 1, self.total_lines)

    def to_dict(self) -> dict[str, Json]:
        """Return the file as JSON; fields that have their default are left out."""
        made = {known.name: (getattr(self, known.name), known.default) for known in fields(self)}
        return {name: _listed(value) for name, (value, default) in made.items() if value != default}

    @classmethod
    def from_dict(cls, value: Mapping[str, Json]) -> KnownFile:
        """Return the file that `to_dict` wrote.

        Raises:
            CallerError: for anything else: a checkpoint that was edited or damaged.
        """
        try:
            roles, seen = tuple(value.get("roles", ())), tuple((first, last) for first, last in value.get("seen", ()))
            made = cls(**{**value, "path": _name(value["path"]), "roles": roles, "seen": seen})
            is_sound = {made.role, *roles} <= set(ROLES) and seen == merged(seen)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CallerError(f"this is no file of a ledger: {error}") from error
        given = {known.name: getattr(made, known.name) for known in fields(made)}
        _check(**{name: item for name, item in given.items() if name not in {"path", "roles", "role", "seen"}})
        _check(**{f"seen[{place}]": number for place, part in enumerate(seen) for number in part})
        if not is_sound or (seen and not seen[0][0]):
            raise CallerError(f"this is no file of a ledger: {escape.clip(repr(value))}")
        return made


def _listed(value: Json) -> Json:
    """Return a value with tuples as lists, at any depth."""
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


class LedgerCounts(NamedTuple):
    """Distinct files by what was done to them, and how often one was read."""

    files_read: int
    """Distinct files that were read; a file counts once in each role that it had."""
    files_modified: int
    files_created: int
    files_deleted: int
    reads: int
    """Pages that were read, of any file."""
    repeated_reads: int
    """Pages that showed nothing new of the same version."""


# ── the ledger ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The files of a session, by path. Every act gives a new ledger.

    Paths are those that pages show, relative to the root; `.` and `..` in them are resolved by name.

    >>> ledger = Ledger().read("a.py", "v1", 1, 100, total_lines=250)
    >>> ledger.file("a.py").unseen
    ((101, 250),)
    """

    limits: FileLimits = field(default_factory=FileLimits)
    """What `may_…` hold an act against."""
    files: Mapping[str, KnownFile] = field(default_factory=dict)
    """What is known of each file, by path, in the order in which they came."""

    # ── acts ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def read(
        self,
        path: str,
        version: str,
        first_line: int | None = None,
        last_line: int | None = None,
        total_lines: int | None = None,
        size_bytes: int | None = None,
        digest: str | None = None,
        turn: int | None = None,
        clipped: Iterable[int] = (),
    ) -> Ledger:
        """Return the ledger after lines of a file were shown.

        Without lines it is a read of which nobody knows what it showed.

        Args:
            path: the file, relative to the root.
            version: a page's token, or any text that names the content.
            first_line: the first line shown, 1-based; None or 0 for none.
            last_line: the last line shown, inclusive; None for none.
            total_lines: how many the file has; None keeps what is known of this version.
            size_bytes: its size; None keeps what is known of this version.
            digest: SHA-256 of its content, where somebody computed it.
            turn: the turn of the session; None leaves it open.
            clipped: numbers of lines of which only a part was shown.

        Raises:
            CallerError: for lines that cannot have been shown, or a text or number that cannot be.
        """
        _check(version=version, digest=digest, total_lines=total_lines, size_bytes=size_bytes, turn=turn)
        in_full = _in_full(first_line, last_line, total_lines, clipped)
        file = self.file(path)
        # Of another version nothing is known any more. Nor is it where the lines contradict the known end: two files
        # can share a version by chance, and what cannot be of one content is not put together.
        known = file if file.holds(version, digest) else KnownFile(path=path)
        if known.contradicts(in_full, total_lines):
            known = KnownFile(path=path)
        return self._with(
            file,
            "read",
            turn,
            version=version,
            total_lines=known.total_lines if total_lines is None else total_lines,
            size_bytes=known.size_bytes if size_bytes is None else size_bytes,
            digest=digest or known.digest,
            seen=merged((*known.seen, *in_full)),
            reads=file.reads + 1,
            repeated_reads=file.repeated_reads
            # A page that shows nothing in full (a fragment, an end of file) repeats nothing.
            + (bool(in_full) and all(not missing(known.seen, *part) for part in in_full)),
        )

    def modified(
        self,
        path: str,
        version: str,
        *,
        before: str = "",
        edits: Iterable[tuple[int, int, int]] = (),
        is_whole: bool = False,
        total_lines: int | None = None,
        size_bytes: int | None = None,
        digest: str | None = None,
        turn: int | None = None,
    ) -> Ledger:
        """Return the ledger after a file became `version`; what is seen of it follows from how it was changed.

        With neither `is_whole` nor `edits` that explain the change, nothing of this version has been seen.

        Args:
            path: the file, relative to the root.
            version: what it is now.
            before: the version that the edits were made on.
            edits: `(first, last, lines)`: lines `first` to `last` of the version before gave way to so many; `last` is
                `first - 1` for an insertion. What was seen around them is still seen, shifted.
            is_whole: whether the model gave all of the content, and so has seen it.
            total_lines: how many lines there are now; needed with `is_whole`, else None takes what the edits add up to.
            size_bytes: the size now; None where nobody knows.
            digest: SHA-256 of the content now, where somebody computed it.
            turn: the turn of the session; None leaves it open.

        Raises:
            CallerError: for edits that overlap, or a text or number that cannot be.
        """
        _check(version=version, digest=digest, total_lines=total_lines, size_bytes=size_bytes, turn=turn)
        file = self.file(path)
        if is_whole:
            seen = _all(total_lines)
        else:
            known = file if file.holds(before) else KnownFile(path=path)
            seen, total_lines = _edited(known, edits, total_lines)
        return self._with(
            file,
            "modified",
            turn,
            version=version,
            total_lines=total_lines,
            size_bytes=size_bytes,
            digest=digest or "",
            seen=seen,
        )

    def created(
        self,
        path: str,
        version: str,
        *,
        total_lines: int,
        size_bytes: int | None = None,
        digest: str | None = None,
        turn: int | None = None,
    ) -> Ledger:
        """Return the ledger after the model wrote a file where there was none, and so knows all of it.

        Args:
            path: the file, relative to the root.
            version: what it is now.
            total_lines: how many lines it has.
            size_bytes: its size; None where nobody knows.
            digest: SHA-256 of its content, where somebody computed it.
            turn: the turn of the session; None leaves it open.

        Raises:
            CallerError: for a text or number that cannot be.
        """
        _check(version=version, digest=digest, total_lines=total_lines, size_bytes=size_bytes, turn=turn)
        return self._with(
            self.file(path),
            "created",
            turn,
            version=version,
            total_lines=total_lines,
            size_bytes=size_bytes,
            digest=digest or "",
            seen=_all(total_lines),
        )

    def deleted(self, path: str, *, turn: int | None = None) -> Ledger:
        """Return the ledger after a file is gone. It still counts for what it was; one that comes back is another file."""
        _check(turn=turn)
        file = self.file(path)
        return self._with(file, "deleted", turn, version="", total_lines=None, size_bytes=None, digest="", seen=())

    def after(self, *acts: Mapping[str, Json]) -> Ledger:
        """Return the ledger after acts as a journal holds them.

        Args:
            acts: each a JSON object whose `did` is a role; the rest are the arguments of that role's method (`read`,
                `modified`, …).

        Raises:
            CallerError: for an act that is none: a damaged journal.
        """
        ledger = self
        for act in acts:
            arguments = {name: value for name, value in act.items() if name != "did"}
            did = act.get("did")
            if did not in ROLES:
                raise CallerError(f"did: one of {', '.join(ROLES)}, not {did!r}")
            try:
                ledger = getattr(ledger, did)(**arguments)
            except (TypeError, ValueError) as error:
                raise CallerError(f"{did}: {error}") from error
        return ledger

    def _with(self, file: KnownFile, did: Role, turn: int | None, *, version: str, **changes: Json) -> Ledger:
        """Return the ledger with one file changed by an act."""
        # A read does not take the rank of a change, nor a modification that of a creation: the file is still new to
        # whoever asks. A read of a deleted file says that somebody made it again.
        role: Role = did
        if (did == "read" and file.role != "deleted") or (did == "modified" and file.role == "created"):
            role = file.role
        if turn is not None:
            changes["read_turn" if did == "read" else "changed_turn"] = turn
        roles = tuple(known for known in ROLES if known == did or known in file.roles)
        changed = replace(file, roles=roles, role=role, version=file_version(version), **changes)
        return replace(self, files={**self.files, file.path: changed})

    # ── what is known ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def counts(self) -> LedgerCounts:
        """How many files were read, modified, created and deleted; each counts once for each of these. Counts never fall."""
        files = self.files.values()
        return LedgerCounts(
            **{f"files_{role}": sum(role in file.roles for file in files) for role in ROLES},
            reads=sum(file.reads for file in files),
            repeated_reads=sum(file.repeated_reads for file in files),
        )

    def file(self, path: str) -> KnownFile:
        """Return what is known of a file; of one that nobody met, a `KnownFile` with its path alone."""
        name = _name(path)
        return self.files.get(name) or KnownFile(path=name)

    def seen(self, path: str, version: str) -> Ranges:
        """Return the lines of a version that were shown.

        Args:
            path: the file, relative to the root.
            version: a page's token, or `file_version` of it. Of another version than the newest nothing is kept: the
                answer is empty.
        """
        file = self.file(path)
        return file.seen if file.holds(version) else ()

    def is_wholly_seen(self, path: str, version: str) -> bool:
        """Whether every line of that version was shown, or written by the model itself. Never where its length is not
        known.
        """
        file = self.file(path)
        return file.holds(version) and file.unseen == ()

    # ── checks before an act ─────────────────────────────────────────────────────────────────────────────────────

    def may_read(self, path: str, lines: int | None = None, *, dialect: Dialect | None = None) -> ActVerdict:
        """Return what is thought of another read. A file that was read before is no new one.

        Args:
            path: the file, relative to the root.
            lines: how many lines the read would show; None where that is not known, which leaves lines unjudged.
            dialect: how the recommended call is written; None is Python's.
        """
        said = [self._room("read", path, dialect)]
        limit = self.limits.lines_per_read
        if limit is not None and lines is not None:
            way = _read_in_windows(_view(_name(path), {"limit": self._page_lines}, dialect))
            said.append(_verdict(limit.level(lines), _many_lines(lines, *limit), way, dialect))
        return _worst(said)

    def may_modify(self, path: str, content: str = "", *, dialect: Dialect | None = None) -> ActVerdict:
        """Return what is thought of an edit.

        Args:
            path: the file, relative to the root.
            content: the new text of the edit; a notice of ours in it, such as a truncation mark, is refused.
            dialect: how the override is written; None is Python's.
        """
        return _worst([_clean(content, dialect), self._room("modified", path, dialect)])

    def may_create(self, path: str, content: str = "", *, dialect: Dialect | None = None) -> ActVerdict:
        """Return what is thought of a new file.

        Args:
            path: the file, relative to the root.
            content: its text; a notice of ours in it, such as a truncation mark, is refused.
            dialect: how the override is written; None is Python's.
        """
        return _worst([_clean(content, dialect), self._room("created", path, dialect)])

    def may_replace(self, path: str, version: str, content: str = "", *, dialect: Dialect | None = None) -> ActVerdict:
        """Return what is thought of replacing all that a file holds: refused where the model has not seen every line of
        it.

        Args:
            path: the file, relative to the root.
            version: what it is now on disk.
            content: the new text; a notice of ours in it, such as a truncation mark, is refused.
            dialect: how the recommended call and the override are written; None is Python's.
        """
        return _worst(
            [
                _clean(content, dialect),
                self._known(path, version, dialect),
                self._room("modified", path, dialect),
            ]
        )

    def _room(self, did: Role, path: str, dialect: Dialect | None) -> ActVerdict:
        """Return what is thought of one more distinct file: whether that is within its limit."""
        limit: Limit | None = getattr(self.limits, f"files_{did}")
        if limit is None or did in self.file(path).roles:
            return ActVerdict("ok")
        count = sum(did in file.roles for file in self.files.values()) + 1
        level = limit.level(count)
        return _verdict(level, _many_files(did, count, *limit), _WAYS[did], dialect)

    def _known(self, path: str, version: str, dialect: Dialect | None) -> ActVerdict:
        """Return what is thought of replacing a file, by whether the model knows all of what is there."""
        file = self.file(path)
        if self.is_wholly_seen(path, version):
            return ActVerdict("ok")
        is_this = file.holds(version)
        seen, total = (file.seen, file.total_lines) if is_this else ((), None)
        unseen = missing(seen, 1, _ENDLESS if total is None else total)
        if not seen:
            why = _CHANGED_SINCE_SHOWN if file.version and not is_this else _NOTHING_SHOWN
        else:
            why = _LENGTH_NOT_KNOWN if total is None else _not_shown(unseen, total)
        # The call shows the first gap only, at most a page of it: one literal call that works is better than a list.
        # With it the refusal of the next try names the next gap.
        first, last = unseen[0]
        arguments = {"offset": first - 1} if first > 1 else {}
        arguments["limit"] = min(last - first + 1, self._page_lines)
        way = _show_first(_view(file.path, arguments, dialect))
        return _verdict("refused", _would_replace(escape.show_argument(file.path), why), way, dialect)

    @property
    def _page_lines(self) -> int:
        """The lines of a page that a verdict recommends: what one read is advised to have, at least 1."""
        limit = self.limits.lines_per_read
        return _PAGE_LINES if limit is None else max(1, limit.recommended)

    # ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def to_dict(self) -> dict[str, Json]:
        """Return the ledger as JSON, for a checkpoint; `from_dict` gives an equal one."""
        limits = {known.name: _listed(getattr(self.limits, known.name)) for known in fields(self.limits)}
        return {"limits": limits, "files": [file.to_dict() for file in self.files.values()]}

    @classmethod
    def from_dict(cls, value: Mapping[str, Json]) -> Ledger:
        """Return the ledger that `to_dict` wrote.

        Raises:
            CallerError: for anything else: a checkpoint that was edited or damaged.
        """
        try:
            files = [KnownFile.from_dict(item) for item in value["files"]]
            limits = FileLimits(**value["limits"])
        except (KeyError, TypeError) as error:
            raise CallerError(f"this is no ledger: {error}") from error
        return cls(limits=limits, files={file.path: file for file in files})


def shown(page: Window, turn: int | None = None) -> dict[str, Json]:
    """Return, as an act for `Ledger.after` and for the journal, that a page was shown.

    A line of which a part was hidden, or shown as escapes, was not shown in full: whoever writes it back would change
    it.

    Args:
        page: a window of a file, as `view` and `read_file` give it.
        turn: the turn of the session; None leaves it open.

    Returns:
        JSON with `did: "read"` and the arguments of `Ledger.read`; without lines where the page shows none, as one of
        base64.
    """
    act: dict[str, Json] = {"did": "read", "path": page.path, "version": page.version, "size_bytes": page.total_bytes}
    if page.total_lines_exact:
        act["total_lines"] = page.total_lines
    if turn is not None:
        act["turn"] = turn
    if not page.first_line or page.last_line is None:
        return act
    act |= {"first_line": page.first_line, "last_line": page.last_line}
    texts = [line.text for line in page.lines] or page.text.split("\n")
    # `escape.show` says whether it had to change anything. A page by bytes has no `lines`; its text is split as lines
    # of files end.
    clipped = {number for number, text in enumerate(texts, page.first_line) if escape.show(text)[1]}
    clipped |= {line.number for line in page.lines if line.hidden_bytes or line.invalid_bytes}
    # Part of a line is no line. Where bytes of a page without lines were invalid, nobody knows in which of them they
    # stood.
    if page.fragment is not None or (page.invalid_bytes and not page.lines):
        clipped = set(range(page.first_line, page.last_line + 1))
    if clipped:
        act["clipped"] = sorted(clipped)
    return act


# ── what an act may say, and what is said of it ──────────────────────────────────────────────────────────────────


def _name(path: str) -> str:
    """Return a path with `.` and `..` resolved by name alone: a ledger never looks at a disk, not even at links."""
    if not isinstance(path, str) or not path:
        raise CallerError(f"path: a path relative to the root, not {escape.clip(repr(path), 64)}")
    return posixpath.normpath(path)


def _check(**given: Json) -> None:
    """Raise `CallerError` for a text or a number that cannot be; `version` and `digest` are texts, all others whole
    numbers.
    """
    for name, value in given.items():
        if name in {"version", "digest"}:
            if not isinstance(value, str) and (name == "version" or value is not None):
                raise CallerError(f"{name}: a text, not {escape.clip(repr(value), 64)}")
        elif value is not None and (type(value) is not int or value < 0):
            raise CallerError(f"{name}: a whole number from 0 on, not {escape.clip(repr(value), 64)}")


def _all(total_lines: int | None) -> Ranges:
    """Return all lines of a content that the model gave."""
    if total_lines is None:
        raise CallerError("total_lines: has to be known of content that the model gave")
    return merged([(1, total_lines)])


def _in_full(first: int | None, last: int | None, total: int | None, clipped: Iterable[int]) -> Ranges:
    """Return the lines of a page that were shown from their beginning to their end."""
    _check(first_line=first, last_line=last)
    if not first or last is None:  # nothing, or nobody knows what; a page behind the end begins with line 0
        return ()
    if last < first - 1 or (total is not None and last > total):
        raise CallerError(f"lines {first} to {last} of {'some' if total is None else total} cannot have been shown")
    return missing(merged((number, number) for number in clipped), first, last)


def _edited(known: KnownFile, edits: Iterable[tuple[int, int, int]], total: int | None) -> tuple[Ranges, int | None]:
    """Return what is seen of a file, and how long it is, once each edit is made; nothing is seen where that does not
    add up.

    Lines that took the place of lines not seen are not seen either: an edit may have left a part of the old ones
    standing.
    """
    # From the last edit upwards: an edit shifts only what is below it, so the line numbers of those still to come hold.
    # `behind` is where the edit below begins; one that reaches it overlaps. Without a length that adds up in the end,
    # nothing is seen: rather nothing than what may be wrong.
    seen, grown, behind = known.seen, 0, _ENDLESS
    for first, last, lines in sorted(edits, reverse=True):
        if not (1 <= first <= last + 1 and last < behind and lines >= 0):
            raise CallerError(f"edits: {lines} lines for lines {first} to {last} is no edit, or overlaps another")
        shift = lines - (last - first + 1)
        # For an insertion `last` is `first - 1`: the range is empty, nothing of it is missing, and the new lines are
        # seen.
        new = () if missing(known.seen, first, last) else ((first, first + lines - 1),)
        above = ((start, min(end, first - 1)) for start, end in seen)
        below = ((max(start, last + 1) + shift, end + shift) for start, end in seen)
        seen = merged((*above, *new, *below))
        behind, grown = first, grown + shift
    expected = None if known.total_lines is None else known.total_lines + grown
    if expected is not None and expected < 0:  # lines were taken out that the file, as it was known, does not have
        return (), total
    total = expected if total is None else total
    adds_up = expected in {None, total} and (not seen or total is None or seen[-1][1] <= total)
    return (seen if adds_up else ()), total


def _clean(content: str, dialect: Dialect | None) -> ActVerdict:
    """Return whether content is free of what stands for text that is elsewhere."""
    line = stand_ins.find_stand_in(content)
    return _verdict("refused" if line else "ok", stand_ins.would_write(line), stand_ins.WRITE_THE_TEXT, dialect)


def _view(path: str, arguments: Mapping[str, int], dialect: Dialect | None) -> str:
    """Return the call that shows lines of a file, ready to copy."""
    return (dialect or PYTHON).write(Call("view", {"file_path": escape.show_argument(path), **arguments}))


def _verdict(level: Level, what: str, way: str, dialect: Dialect | None) -> ActVerdict:
    """Return a verdict in words: what it is about, the way that works, and for a refusal the override."""
    if level == "ok":
        return ActVerdict("ok")
    if level == "advised":
        return ActVerdict(level, _advised(what, way))
    override = (dialect or PYTHON).name(Call("", {"override": True}), "override")
    return ActVerdict(level, _refused(what, way, override))


def _worst(said: Sequence[ActVerdict]) -> ActVerdict:
    """Return one verdict for several: that of the highest level, with all that was said at it.

    An override is of everything that is refused, so everything refused is told; advice is left for later.
    """
    level = max((verdict.level for verdict in said), key=_LEVELS.index)
    return ActVerdict(level, "\n".join(verdict.text for verdict in said if verdict.level == level and verdict.text))


# ── the words of a verdict (S-5) ─────────────────────────────────────────────────────────────────────────────────

_WAYS = {
    "read": "Search finds a place without reading files, and files that were read before can be read again.",
    "modified": "Finish and check what is begun, then hand off; files that were modified before can be edited further.",
    "created": "Add to a file that is there, or finish what is begun, then hand off.",
}
_CHANGED_SINCE_SHOWN = "it was changed since it was last shown"
_NOTHING_SHOWN = "nothing of this version was shown"
_LENGTH_NOT_KNOWN = "its end was not shown"


def _advised(what: str, way: str) -> str:
    """Return what is advised against, and the way that works."""
    return f"Advice: {what}. {way}"


def _refused(what: str, way: str, override: str) -> str:
    """Return a refusal in words: what is not done, what would work, and how to have it done all the same."""
    return f"Refused: {what}. {way} To do it all the same, make the same call with {override}."


def _many_files(did: Role, count: int, recommended: int, maximum: int) -> str:
    """Return why one more file is too much, with the numbers."""
    return f"this would be file {count} {did} in this session; {recommended} are recommended, {maximum} the most"


def _many_lines(lines: int, recommended: int, maximum: int) -> str:
    """Return why one read of so many lines is too much, with the numbers."""
    return f"{lines} lines in one read; {recommended} are recommended, {maximum} the most"


def _read_in_windows(call: str) -> str:
    """Return the way on for a read that is too long."""
    return f"Search for the place, or read in windows: {call}"


def _would_replace(path: str, why: str) -> str:
    """Return why a file is not replaced."""
    return f"{escape.shorten(path)} would be replaced, but {why}"


def _not_shown(ranges: Sequence[tuple[int, int]], total: int) -> str:
    """Return which lines of a file were not shown from beginning to end: the first three ranges, and how many more
    there are.
    """
    said = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges[:3])
    more = f" and {len(ranges) - 3} more ranges" if len(ranges) > 3 else ""
    is_one = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
    return f"{'line' if is_one else 'lines'} {said}{more} of {total} {'was' if is_one else 'were'} not shown in full"


def _show_first(call: str) -> str:
    """Return the way on for a write over lines that were not shown."""
    return f"Show that first: {call}; or edit only lines that were shown."
