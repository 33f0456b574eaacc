"""Which files does this session know, and how well? Read, modified, created, deleted, and the lines that were actually shown (S-5).

A ledger is a value: every act gives a new one, and every act can be written as JSON and fed in again (`after`). Checks precede an
act and are values too: `ok`, `advised`, or `refused` with what would work and how to override.

Laws: replaying its acts gives an equal ledger; counts never fall; a line counts as seen only in the version that showed it.
Leaves to others: disks, what a session does about a refusal, and whether a file is still the same after a pause
(`agent.file_check`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.session.known_files import (
    ROLES,
    KnownFile,
    Ranges,
    Role,
    all_lines,
    as_lists,
    check_values,
    file_version,
    lines_in_full,
    merged,
    missing,
    plain_path,
    seen_after,
)
from penstock.session.verdicts import (
    NO_LIMITS,
    ActVerdict,
    FileLimits,
    Limit,
    advice,
    content_verdict,
    files_verdict,
    lines_verdict,
    replacing_verdict,
    worst,
)
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.text.json_access import Json
    from penstock.text.window import Window

__all__ = ["NO_LIMITS", "FileLimits", "Ledger", "LedgerCounts", "Limit", "advice", "shown"]

# The lines of a recommended page if no limit says so.
_PAGE_LINES = 500


class LedgerCounts(NamedTuple):
    """Distinct files by what was done to them, and how often they were read."""

    files_read: int
    """Distinct files that were read; a file counts once in each role that it had."""
    files_modified: int
    files_created: int
    files_deleted: int
    reads: int
    """Pages that were read, of any file."""
    repeated_reads: int
    """Pages that showed nothing new of the same version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """The files of a session, by path. Every act returns a new ledger.

    Paths are those that pages show, relative to the root; `.` and `..` in them are resolved by name.

    >>> ledger = Ledger().read("a.py", "v1", 1, 100, total_lines=250)
    >>> ledger.file("a.py").unseen
    ((101, 250),)
    """

    limits: FileLimits = field(default_factory=FileLimits)
    """The limits that `may_…` checks an act against."""
    files: Mapping[str, KnownFile] = field(default_factory=dict)
    """What is known of each file, by path, in the order in which the files were met."""

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

        Without lines, it is unknown what the read showed.

        Args:
            path: the file, relative to the root.
            version: a page's token, or any text that identifies the content.
            first_line: the first line shown, 1-based; None or 0 for none.
            last_line: the last line shown, inclusive; None for none.
            total_lines: how many the file has; None keeps what is known of this version.
            size_bytes: its size; None keeps what is known of this version.
            digest: SHA-256 of its content, if somebody computed it.
            turn: the turn of the session; None if unknown.
            clipped: numbers of lines that were shown only in part.

        Raises:
            CallerError: for lines that cannot have been shown, or an invalid text or number.
        """
        check_values(version=version, digest=digest, total_lines=total_lines, size_bytes=size_bytes, turn=turn)
        in_full = lines_in_full(first_line, last_line, total_lines, clipped)
        file = self.file(path)
        # Nothing known of another version carries over. Nor does it if the lines contradict the known end: two files can share a
        # version by chance, and what cannot be one content must not be merged.
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
            version: its present version.
            before: the version that the edits were made on.
            edits: `(first, last, lines)`: lines `first` to `last` of the previous version were replaced by so many; `last` is
                `first - 1` for an insertion. What was seen around them is still seen, shifted.
            is_whole: whether the model gave all of the content, and so has seen it.
            total_lines: how many lines there are now; required with `is_whole`, else None takes what the edits add up to.
            size_bytes: the size now; None if nobody knows.
            digest: SHA-256 of the content now, if somebody computed it.
            turn: the turn of the session; None if unknown.

        Raises:
            CallerError: for edits that overlap, or an invalid text or number.
        """
        check_values(version=version, digest=digest, total_lines=total_lines, size_bytes=size_bytes, turn=turn)
        file = self.file(path)
        if is_whole:
            seen = all_lines(total_lines)
        else:
            known = file if file.holds(before) else KnownFile(path=path)
            seen, total_lines = seen_after(known, edits, total_lines)
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
        """Return the ledger after the model wrote a new file, and so knows all of it.

        Args:
            path: the file, relative to the root.
            version: its present version.
            total_lines: how many lines it has.
            size_bytes: its size; None if nobody knows.
            digest: SHA-256 of its content, if somebody computed it.
            turn: the turn of the session; None if unknown.

        Raises:
            CallerError: for an invalid text or number.
        """
        check_values(version=version, digest=digest, total_lines=total_lines, size_bytes=size_bytes, turn=turn)
        return self._with(
            self.file(path),
            "created",
            turn,
            version=version,
            total_lines=total_lines,
            size_bytes=size_bytes,
            digest=digest or "",
            seen=all_lines(total_lines),
        )

    def deleted(self, path: str, *, turn: int | None = None) -> Ledger:
        """Return the ledger after a file was deleted. It keeps its counts; a file that comes back there is another one."""
        check_values(turn=turn)
        file = self.file(path)
        return self._with(file, "deleted", turn, version="", total_lines=None, size_bytes=None, digest="", seen=())

    def after(self, *acts: Mapping[str, Json]) -> Ledger:
        """Return the ledger after acts as a journal holds them.

        Args:
            acts: each a JSON object whose `did` is a role; the rest are the arguments of that role's method (`read`, `modified`,
                …).

        Raises:
            CallerError: for an invalid act: a damaged journal.
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
        # A read does not replace the role of a change, nor a modification that of a creation: the file is still new to the session.
        # A read of a deleted file shows that somebody made it again.
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
        """Return what is known of a file; for one that nobody met, a `KnownFile` with only its path."""
        name = plain_path(path)
        return self.files.get(name) or KnownFile(path=name)

    def seen(self, path: str, version: str) -> Ranges:
        """Return the lines of a version that were shown.

        Args:
            path: the file, relative to the root.
            version: a page's token, or `file_version` of it. Nothing is kept for any version but the newest: the answer is then
                empty.
        """
        file = self.file(path)
        return file.seen if file.holds(version) else ()

    def is_wholly_seen(self, path: str, version: str) -> bool:
        """Whether every line of that version was shown, or written by the model itself; never if its length is not known."""
        file = self.file(path)
        return file.holds(version) and file.unseen == ()

    # ── checks before an act ─────────────────────────────────────────────────────────────────────────────────────

    def may_read(self, path: str, lines: int | None = None) -> ActVerdict:
        """Return the verdict on another read. A file that was read before does not count as new.

        Args:
            path: the file, relative to the root.
            lines: how many lines the read would show; None if unknown, which leaves lines unjudged.
        """
        said = [self._room("read", path)]
        limit = self.limits.lines_per_read
        if limit is not None and lines is not None:
            said.append(lines_verdict(plain_path(path), lines, limit, self._page_lines))
        return worst(said)

    def may_modify(self, path: str, content: str = "") -> ActVerdict:
        """Return the verdict on an edit.

        Args:
            path: the file, relative to the root.
            content: the new text of the edit; one that contains a notice of ours, such as a truncation mark, is refused.
        """
        return worst([content_verdict(content), self._room("modified", path)])

    def may_create(self, path: str, content: str = "") -> ActVerdict:
        """Return the verdict on a new file.

        Args:
            path: the file, relative to the root.
            content: its text; one that contains a notice of ours, such as a truncation mark, is refused.
        """
        return worst([content_verdict(content), self._room("created", path)])

    def may_replace(self, path: str, version: str, content: str = "") -> ActVerdict:
        """Return the verdict on replacing a whole file: refused if the model has not seen every line of it.

        Args:
            path: the file, relative to the root.
            version: its present version on disk.
            content: the new text; one that contains a notice of ours, such as a truncation mark, is refused.
        """
        return worst(
            [
                content_verdict(content),
                replacing_verdict(self.file(path), version, self._page_lines),
                self._room("modified", path),
            ]
        )

    def _room(self, did: Role, path: str) -> ActVerdict:
        """Return the verdict on one more distinct file: whether that is within its limit."""
        limit: Limit | None = getattr(self.limits, f"files_{did}")
        if limit is None or did in self.file(path).roles:
            return ActVerdict("ok")
        count = sum(did in file.roles for file in self.files.values()) + 1
        return files_verdict(did, count, limit)

    @property
    def _page_lines(self) -> int:
        """The lines of a page that a verdict recommends: the advised length of one read, at least 1."""
        limit = self.limits.lines_per_read
        return _PAGE_LINES if limit is None else max(1, limit.recommended)

    # ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def to_dict(self) -> dict[str, Json]:
        """Return the ledger as JSON, for a checkpoint; `from_dict` restores an equal one."""
        limits = {known.name: as_lists(getattr(self.limits, known.name)) for known in fields(self.limits)}
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
            raise CallerError(f"this is not a ledger: {error}") from error
        return cls(limits=limits, files={file.path: file for file in files})


def shown(page: Window, turn: int | None = None) -> dict[str, Json]:
    """Return, as an act for `Ledger.after` and for the journal, that a page was shown.

    A line that was partly hidden, or shown with escapes, was not shown in full: writing it back would change it.

    Args:
        page: a window of a file, as `view` and `read_file` return it.
        turn: the turn of the session; None if unknown.

    Returns:
        JSON with `did: "read"` and the arguments of `Ledger.read`; without lines if the page shows none, as with base64.
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
    # `escape.show` says whether it had to change anything. A page by bytes has no `lines`; its text is split as lines of files end.
    clipped = {number for number, text in enumerate(texts, page.first_line) if escape.show(text)[1]}
    clipped |= {line.number for line in page.lines if line.hidden_bytes or line.invalid_bytes}
    # Part of a line does not count as a line. If bytes of a page without lines were invalid, nobody knows in which lines they were.
    if page.fragment is not None or (page.invalid_bytes and not page.lines):
        clipped = set(range(page.first_line, page.last_line + 1))
    if clipped:
        act["clipped"] = sorted(clipped)
    return act
