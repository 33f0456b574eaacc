"""Which files does this session know, and how well? Read, modified, created, deleted, and the lines that were really shown.

A ledger is a value: every act gives a new one, and every act can be written down as JSON and fed in again (`after`). Checks come
before an act and are values too: `ok`, `advised`, or `refused` with what would work and how to do it all the same (S-5).
Laws: replaying its acts gives an equal ledger; counts never fall; a line counts as seen only in the version that showed it.
Keeps out: disks, what a session does about a refusal, and whether a file is still the same after a pause (`verifying`).
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
Ranges = tuple[tuple[int, int], ...]
"""Lines, 1-based and inclusive, in order, with a gap between any two."""

ROLES: tuple[Role, ...] = get_args(Role)
Level = Literal["ok", "advised", "refused"]
_LEVELS: tuple[Level, ...] = get_args(Level)
_ENDLESS = 1 << 62  # lines of a file whose length nobody knows
_PAGE_LINES = 500  # of a call that is recommended where no limit says so


class ActVerdict(NamedTuple):
    """What is thought of an act before it is done; `text` is for the model, empty when there is nothing to say."""

    level: Level
    text: str = ""


class Limit(NamedTuple):
    """What is recommended, and the most that is let through without an override."""

    recommended: int
    maximum: int

    def level(self, count: int) -> Level:
        return "ok" if count <= self.recommended else "advised" if count <= self.maximum else "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """How many distinct files, and how many lines at once; None switches one off. Two numbers do for a `Limit`."""

    files_read: Limit | None = field(default=Limit(50, 75))
    files_modified: Limit | None = field(default=Limit(15, 25))
    files_created: Limit | None = field(default=Limit(10, 20))
    lines_per_read: Limit | None = field(default=Limit(500, 1000))  # `view` shows 100; these are for one explicit read

    def __post_init__(self) -> None:
        for known in fields(self):
            given = getattr(self, known.name)
            if given is not None:
                object.__setattr__(self, known.name, _limit(given, known.name))


def _limit(given: Json, name: str) -> Limit:
    if isinstance(given, list | tuple) and len(given) == 2 and all(type(number) is int for number in given):
        limit = Limit(*given)
        if 0 <= limit.recommended <= limit.maximum:
            return limit
    raise CallerError(f"{name}: what is recommended and, not below it, the most, like [50, 75]; or None for no limit")


NO_LIMITS = FileLimits(files_read=None, files_modified=None, files_created=None, lines_per_read=None)


# ── classes of files ─────────────────────────────────────────────────────────────────────────────────────────────


class Advice(NamedTuple):
    """How a file of some length is best read and edited."""

    read: Literal["whole", "sections", "windows"]
    edit: Literal["whole", "sections"]
    text: str


_IN_WINDOWS = "Long: search or take the outline, then view windows of it; edit it in sections."


def advice(total_lines: int) -> Advice:
    """Below 200 lines in full; to 500 in full, edited in sections; to 1,000 in sections; above that in windows only (S-5)."""
    if total_lines < 200:
        return Advice("whole", "whole", "Short: read and edit it in full.")
    if total_lines <= 500:
        return Advice("whole", "sections", "Read it in full, edit it in sections.")
    if total_lines <= 1000:
        return Advice("sections", "sections", "Read and edit it in sections: take the outline first.")
    return Advice("windows", "sections", _IN_WINDOWS)


# ── ranges and versions ──────────────────────────────────────────────────────────────────────────────────────────


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The same lines as few ranges; what touches becomes one, what is empty goes."""
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
    """The lines from `first` to `last` that are not in `ranges`."""
    gaps: list[tuple[int, int]] = []
    for start, end in ranges:
        gaps.append((first, min(last, start - 1)))
        first = max(first, end + 1)
    return merged([*gaps, (first, last)])


def file_version(version: str) -> str:
    """What the tokens of all pages of one version of a file have in common: a page's own token also says where it ended."""
    return re.sub(r"\A([0-9]+)\.[0-9]+\.([0-9]{11})[0-9]{10}\Z", r"\1.\2", version)


# ── what is known of one file ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """One file as the session knows it: the newest version that it met, and which lines of that were shown."""

    path: str
    roles: tuple[Role, ...] = ()
    """All that it has been, in the order of `ROLES`."""
    role: Role = "read"
    """What it is to be taken for: a change outranks a read, a deletion what was before it."""
    version: str = ""
    total_lines: int | None = None
    size_bytes: int | None = None
    digest: str = ""
    """SHA-256 of the content, where somebody computed it."""
    seen: Ranges = ()
    reads: int = 0
    repeated_reads: int = 0
    """Reads that showed nothing that had not been seen of that version."""
    read_turn: int | None = None
    changed_turn: int | None = None

    def holds(self, version: str, digest: str | None = None) -> bool:
        """Whether this is the content that is known: the same version, or the same digest."""
        return bool((version and file_version(version) == self.version) or (digest and digest == self.digest))

    def contradicts(self, shown: Ranges, total_lines: int | None) -> bool:
        """Whether lines that were shown, now or before, lie behind an end that is known: then it was not this content."""
        total = self.total_lines if total_lines is None else total_lines
        return total is not None and any(ranges[-1][1] > total for ranges in (self.seen, shown) if ranges)

    @property
    def unseen(self) -> Ranges | None:
        """The lines that were not shown; None where nobody knows how many there are."""
        return None if self.total_lines is None else missing(self.seen, 1, self.total_lines)

    def to_dict(self) -> dict[str, Json]:
        """As JSON; what says nothing is left out."""
        made = {known.name: (getattr(self, known.name), known.default) for known in fields(self)}
        return {name: _listed(value) for name, (value, default) in made.items() if value != default}

    @classmethod
    def from_dict(cls, value: Mapping[str, Json]) -> KnownFile:
        """What `to_dict` wrote. Raises `CallerError` for anything else."""
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
    return [_listed(item) for item in value] if isinstance(value, tuple) else value


class LedgerCounts(NamedTuple):
    """Distinct files, and beside them how often one was read."""

    files_read: int
    files_modified: int
    files_created: int
    files_deleted: int
    reads: int
    repeated_reads: int


# ── the ledger ───────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The files of a session, by path. Paths are those that pages show, relative to the root; `.` and `..` are resolved by name."""

    limits: FileLimits = field(default_factory=FileLimits)
    files: Mapping[str, KnownFile] = field(default_factory=dict)
    """In the order in which they came."""

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
        """Lines `first_line` to `last_line` were shown, but for those of which only a part was (`clipped`).

        Without lines it is a read of which nobody knows what it showed.
        """
        _check(version=version, digest=digest, total_lines=total_lines, size_bytes=size_bytes, turn=turn)
        in_full = _in_full(first_line, last_line, total_lines, clipped)
        file = self.file(path)
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
        """The file is now `version`. What the model knows of it follows from how it was changed.

        `is_whole`: the model gave all of the content. `edits`: in the version `before`, lines `first` to `last` gave way to so
        many (`first, last, lines`; `last` is `first - 1` for an insertion); what was seen around them is still seen. Neither:
        nothing of this version has been seen.
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
        """The model wrote a file where there was none, and so knows all of it."""
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
        """The file is gone. It still counts for what it was."""
        _check(turn=turn)
        file = self.file(path)
        return self._with(file, "deleted", turn, version="", total_lines=None, size_bytes=None, digest="", seen=())

    def after(self, *acts: Mapping[str, Json]) -> Ledger:
        """The ledger after acts as a journal holds them: `did` is a role, the rest are the arguments of that method.

        Raises `CallerError` for anything else.
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
        """How many files were read, modified, created, deleted; each counts once for each of these."""
        files = self.files.values()
        return LedgerCounts(
            **{f"files_{role}": sum(role in file.roles for file in files) for role in ROLES},
            reads=sum(file.reads for file in files),
            repeated_reads=sum(file.repeated_reads for file in files),
        )

    def file(self, path: str) -> KnownFile:
        """What is known of it; of a file that nobody met, its path."""
        name = _name(path)
        return self.files.get(name) or KnownFile(path=name)

    def seen(self, path: str, version: str) -> Ranges:
        """The lines of that version that were shown; a page's token or `file_version` of it."""
        file = self.file(path)
        return file.seen if file.holds(version) else ()

    def is_wholly_seen(self, path: str, version: str) -> bool:
        """Whether every line of that version was shown, or written by the model itself."""
        file = self.file(path)
        return file.holds(version) and file.unseen == ()

    # ── checks before an act ─────────────────────────────────────────────────────────────────────────────────────

    def may_read(self, path: str, lines: int | None = None, *, dialect: Dialect | None = None) -> ActVerdict:
        """Whether another read is fine, of so many lines where that is known. A file that was read before is no new one."""
        said = [self._room("read", path, dialect)]
        limit = self.limits.lines_per_read
        if limit is not None and lines is not None:
            way = _read_in_windows(_view(_name(path), {"limit": self._page_lines}, dialect))
            said.append(_verdict(limit.level(lines), _many_lines(lines, *limit), way, dialect))
        return _worst(said)

    def may_modify(self, path: str, content: str = "", *, dialect: Dialect | None = None) -> ActVerdict:
        """Whether an edit is fine that puts `content` into the file."""
        return _worst([_clean(content, dialect), self._room("modified", path, dialect)])

    def may_create(self, path: str, content: str = "", *, dialect: Dialect | None = None) -> ActVerdict:
        """Whether a new file with `content` is fine."""
        return _worst([_clean(content, dialect), self._room("created", path, dialect)])

    def may_replace(self, path: str, version: str, content: str = "", *, dialect: Dialect | None = None) -> ActVerdict:
        """Whether `content` may take the place of all that the file holds, which is `version` now."""
        return _worst(
            [
                _clean(content, dialect),
                self._known(path, version, dialect),
                self._room("modified", path, dialect),
            ]
        )

    def _room(self, did: Role, path: str, dialect: Dialect | None) -> ActVerdict:
        """Whether one more distinct file is within its limit."""
        limit: Limit | None = getattr(self.limits, f"files_{did}")
        if limit is None or did in self.file(path).roles:
            return ActVerdict("ok")
        count = sum(did in file.roles for file in self.files.values()) + 1
        level = limit.level(count)
        return _verdict(level, _many_files(did, count, *limit), _WAYS[did], dialect)

    def _known(self, path: str, version: str, dialect: Dialect | None) -> ActVerdict:
        """Whether the model knows what it is about to replace."""
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
        first, last = unseen[0]
        arguments = {"offset": first - 1} if first > 1 else {}
        arguments["limit"] = min(last - first + 1, self._page_lines)
        way = _show_first(_view(file.path, arguments, dialect))
        return _verdict("refused", _would_replace(escape.show_argument(file.path), why), way, dialect)

    @property
    def _page_lines(self) -> int:
        limit = self.limits.lines_per_read
        return _PAGE_LINES if limit is None else max(1, limit.recommended)

    # ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def to_dict(self) -> dict[str, Json]:
        """As JSON for a checkpoint."""
        limits = {known.name: _listed(getattr(self.limits, known.name)) for known in fields(self.limits)}
        return {"limits": limits, "files": [file.to_dict() for file in self.files.values()]}

    @classmethod
    def from_dict(cls, value: Mapping[str, Json]) -> Ledger:
        """What `to_dict` wrote. Raises `CallerError` for anything else."""
        try:
            files = [KnownFile.from_dict(item) for item in value["files"]]
            limits = FileLimits(**value["limits"])
        except (KeyError, TypeError) as error:
            raise CallerError(f"this is no ledger: {error}") from error
        return cls(limits=limits, files={file.path: file for file in files})


def shown(page: Window, turn: int | None = None) -> dict[str, Json]:
    """That this page was shown, as an act for `Ledger.after` and for the journal.

    A line of which a part was hidden, or shown as escapes, was not shown in full: who writes it back would change it.
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
    clipped = {number for number, text in enumerate(texts, page.first_line) if escape.show(text)[1]}
    clipped |= {line.number for line in page.lines if line.hidden_bytes or line.invalid_bytes}
    if page.fragment is not None or (page.invalid_bytes and not page.lines):
        clipped = set(range(page.first_line, page.last_line + 1))
    if clipped:
        act["clipped"] = sorted(clipped)
    return act


# ── what an act may say, and what is said of it ──────────────────────────────────────────────────────────────────


def _name(path: str) -> str:
    if not isinstance(path, str) or not path:
        raise CallerError(f"path: a path relative to the root, not {escape.clip(repr(path), 64)}")
    return posixpath.normpath(path)


def _check(**given: Json) -> None:
    """Raises `CallerError` for a text or a number that cannot be."""
    for name, value in given.items():
        if name in {"version", "digest"}:
            if not isinstance(value, str) and (name == "version" or value is not None):
                raise CallerError(f"{name}: a text, not {escape.clip(repr(value), 64)}")
        elif value is not None and (type(value) is not int or value < 0):
            raise CallerError(f"{name}: a whole number from 0 on, not {escape.clip(repr(value), 64)}")


def _all(total_lines: int | None) -> Ranges:
    if total_lines is None:
        raise CallerError("total_lines: has to be known of content that the model gave")
    return merged([(1, total_lines)])


def _in_full(first: int | None, last: int | None, total: int | None, clipped: Iterable[int]) -> Ranges:
    """The lines of a page that were shown from their beginning to their end."""
    _check(first_line=first, last_line=last)
    if not first or last is None:  # nothing, or nobody knows what; a page behind the end begins with line 0
        return ()
    if last < first - 1 or (total is not None and last > total):
        raise CallerError(f"lines {first} to {last} of {'some' if total is None else total} cannot have been shown")
    return missing(merged((number, number) for number in clipped), first, last)


def _edited(known: KnownFile, edits: Iterable[tuple[int, int, int]], total: int | None) -> tuple[Ranges, int | None]:
    """What is seen of a file, and how long it is, once each edit is made; nothing is seen where that does not add up.

    Lines that took the place of lines not seen are not seen either: an edit may have left a part of the old ones standing.
    """
    seen, grown, behind = known.seen, 0, _ENDLESS
    for first, last, lines in sorted(edits, reverse=True):
        if not (1 <= first <= last + 1 and last < behind and lines >= 0):
            raise CallerError(f"edits: {lines} lines for lines {first} to {last} is no edit, or overlaps another")
        shift = lines - (last - first + 1)
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
    """Whether content is free of what stands for text that is elsewhere."""
    line = stand_ins.find_stand_in(content)
    return _verdict("refused" if line else "ok", stand_ins.would_write(line), stand_ins.WRITE_THE_TEXT, dialect)


def _view(path: str, arguments: Mapping[str, int], dialect: Dialect | None) -> str:
    """The call that shows lines of a file."""
    return (dialect or PYTHON).write(Call("view", {"file_path": escape.show_argument(path), **arguments}))


def _verdict(level: Level, what: str, way: str, dialect: Dialect | None) -> ActVerdict:
    if level == "ok":
        return ActVerdict("ok")
    if level == "advised":
        return ActVerdict(level, _advised(what, way))
    override = (dialect or PYTHON).name(Call("", {"override": True}), "override")
    return ActVerdict(level, _refused(what, way, override))


def _worst(said: Sequence[ActVerdict]) -> ActVerdict:
    """One verdict of several: an override is of all that is refused, so all of it is told."""
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
    return f"Advice: {what}. {way}"


def _refused(what: str, way: str, override: str) -> str:
    """What is not done, what would work, and how to have it done all the same."""
    return f"Refused: {what}. {way} To do it all the same, make the same call with {override}."


def _many_files(did: Role, count: int, recommended: int, maximum: int) -> str:
    return f"this would be file {count} {did} in this session; {recommended} are recommended, {maximum} the most"


def _many_lines(lines: int, recommended: int, maximum: int) -> str:
    return f"{lines} lines in one read; {recommended} are recommended, {maximum} the most"


def _read_in_windows(call: str) -> str:
    return f"Search for the place, or read in windows: {call}"


def _would_replace(path: str, why: str) -> str:
    return f"{escape.shorten(path)} would be replaced, but {why}"


def _not_shown(ranges: Sequence[tuple[int, int]], total: int) -> str:
    """Which lines of a file nobody was shown from beginning to end."""
    said = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges[:3])
    more = f" and {len(ranges) - 3} more ranges" if len(ranges) > 3 else ""
    is_one = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
    return f"{'line' if is_one else 'lines'} {said}{more} of {total} {'was' if is_one else 'were'} not shown in full"


def _show_first(call: str) -> str:
    return f"Show that first: {call}; or edit only lines that were shown."
