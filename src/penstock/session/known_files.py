"""What does a session know of one file? The newest version that it met, and which lines of that version were shown (S-5).

Law: a line counts as seen only in the version that showed it; when in doubt, a line counts as unseen.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, get_args

from penstock.errors import CallerError
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.text.json_access import Json

Role = Literal["read", "modified", "created", "deleted"]
"""What was done to a file: it was read, modified, created or deleted."""
Ranges = tuple[tuple[int, int], ...]
"""Lines as ranges, 1-based and inclusive, in order, with a gap between any two."""
ROLES: tuple[Role, ...] = get_args(Role)
"""All roles, in the order in which a file's roles are kept."""
# The last line of a file of unknown length.
ENDLESS = 1 << 62


def merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """Return the same lines as few ranges: touching ranges are joined, empty ones dropped. O(n log n) in the ranges."""
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

    A page's token also says where the page ended, and has a hash of the bytes before that place; without both it is the size and
    the hashes of identity and times. Any other text is returned as it is.
    """
    # The form is that of `workspace.version`: size, cursor, then 5 digits of identity, 6 of times and 10 of the anchor.
    return re.sub(r"\A([0-9]+)\.[0-9]+\.([0-9]{11})[0-9]{10}\Z", r"\1.\2", version)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFile:
    """One file as the session knows it: the newest version that it met, and which lines of that version were shown."""

    path: str
    """The path that pages show, relative to the root."""
    roles: tuple[Role, ...] = ()
    """Every role the file has had in this session, in the order of `ROLES`; counts are made from these."""
    role: Role = "read"
    """The present role of the file: a change outranks a read, a deletion everything before it."""
    version: str = ""
    """The newest version that was met, as `file_version` returns it; empty for none, and after a deletion."""
    total_lines: int | None = None
    """How many lines that version has; None if nobody knows."""
    size_bytes: int | None = None
    digest: str = ""
    """SHA-256 of the content, if somebody computed it; else empty."""
    seen: Ranges = ()
    """The lines of that version that were shown in full, or written by the model."""
    reads: int = 0
    """How often any page of a file was read, in any version."""
    repeated_reads: int = 0
    """Reads that showed nothing new of the same version."""
    read_turn: int | None = None
    """The turn of the last read; None if no read gave its turn."""
    changed_turn: int | None = None
    """The turn of the last change or deletion; None if none gave its turn."""

    def holds(self, version: str, digest: str | None = None) -> bool:
        """Whether this is the known content: the same version, or the same digest.

        Equal digests carry what was seen over to new time stamps, as after a checkout that wrote the same bytes.
        """
        return bool((version and file_version(version) == self.version) or (digest and digest == self.digest))

    def contradicts(self, shown: Ranges, total_lines: int | None) -> bool:
        """Whether lines that were shown, now or before, are beyond the known end: then it was not this content."""
        total = self.total_lines if total_lines is None else total_lines
        return total is not None and any(ranges[-1][1] > total for ranges in (self.seen, shown) if ranges)

    @property
    def unseen(self) -> Ranges | None:
        """The lines that were not shown; None if nobody knows how many there are."""
        return None if self.total_lines is None else missing(self.seen, 1, self.total_lines)

    def to_dict(self) -> dict[str, Json]:
        """Return the file as JSON; fields that have their default are left out."""
        made = {known.name: (getattr(self, known.name), known.default) for known in fields(self)}
        return {name: as_lists(value) for name, (value, default) in made.items() if value != default}

    @classmethod
    def from_dict(cls, value: Mapping[str, Json]) -> KnownFile:
        """Return the file that `to_dict` wrote.

        Raises:
            CallerError: for anything else: a checkpoint that was edited or damaged.
        """
        try:
            roles, seen = tuple(value.get("roles", ())), tuple((first, last) for first, last in value.get("seen", ()))
            made = cls(**{**value, "path": plain_path(value["path"]), "roles": roles, "seen": seen})
            is_sound = {made.role, *roles} <= set(ROLES) and seen == merged(seen)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CallerError(f"this is not a file of a ledger: {error}") from error
        given = {known.name: getattr(made, known.name) for known in fields(made)}
        check_values(**{name: item for name, item in given.items() if name not in {"path", "roles", "role", "seen"}})
        check_values(**{f"seen[{place}]": number for place, part in enumerate(seen) for number in part})
        if not is_sound or (seen and not seen[0][0]):
            raise CallerError(f"this is not a file of a ledger: {escape.clip(repr(value))}")
        return made


def as_lists(value: Json) -> Json:
    """Return a value with tuples as lists, at any depth."""
    return [as_lists(item) for item in value] if isinstance(value, tuple) else value


def plain_path(path: str) -> str:
    """Return a path with `.` and `..` resolved by name alone: a ledger never looks at a disk, not even at links."""
    if not isinstance(path, str) or not path:
        raise CallerError(f"path: a path relative to the root, not {escape.clip(repr(path), 64)}")
    return posixpath.normpath(path)


def check_values(**given: Json) -> None:
    """Raise `CallerError` for an invalid text or number; `version` and `digest` are texts, all others whole numbers."""
    for name, value in given.items():
        if name in {"version", "digest"}:
            if not isinstance(value, str) and (name == "version" or value is not None):
                raise CallerError(f"{name}: a text, not {escape.clip(repr(value), 64)}")
        elif value is not None and (type(value) is not int or value < 0):
            raise CallerError(f"{name}: a whole number from 0 on, not {escape.clip(repr(value), 64)}")


def all_lines(total_lines: int | None) -> Ranges:
    """Return all lines of a content that the model wrote."""
    if total_lines is None:
        raise CallerError("total_lines: has to be known of content that the model gave")
    return merged([(1, total_lines)])


def lines_in_full(first: int | None, last: int | None, total: int | None, clipped: Iterable[int]) -> Ranges:
    """Return the lines of a page that were shown from their beginning to their end."""
    check_values(first_line=first, last_line=last)
    if not first or last is None:  # nothing, or nobody knows what; a page beyond the end begins with line 0
        return ()
    if last < first - 1 or (total is not None and last > total):
        raise CallerError(f"lines {first} to {last} of {'some' if total is None else total} cannot have been shown")
    return missing(merged((number, number) for number in clipped), first, last)


def seen_after(known: KnownFile, edits: Iterable[tuple[int, int, int]], total: int | None) -> tuple[Ranges, int | None]:
    """Return what is seen of a file, and how long it is, once each edit is made; nothing is seen if that does not add up.

    Lines that replaced unseen lines are not seen either: an edit may have left a part of the old ones in place.
    """
    # From the last edit upwards: an edit shifts only what is below it, so the line numbers of those still to come hold. `behind` is
    # where the edit below begins; an edit that reaches it overlaps. If the length does not add up in the end, nothing counts as
    # seen, which is safer than a guess.
    seen, grown, behind = known.seen, 0, ENDLESS
    for first, last, lines in sorted(edits, reverse=True):
        if not (1 <= first <= last + 1 and last < behind and lines >= 0):
            raise CallerError(f"edits: {lines} lines for lines {first} to {last} is not an edit, or overlaps another")
        shift = lines - (last - first + 1)
        # For an insertion `last` is `first - 1`: the range is empty, nothing of it is missing, and the new lines are seen.
        new = () if missing(known.seen, first, last) else ((first, first + lines - 1),)
        above = ((start, min(end, first - 1)) for start, end in seen)
        below = ((max(start, last + 1) + shift, end + shift) for start, end in seen)
        seen = merged((*above, *new, *below))
        behind, grown = first, grown + shift
    expected = None if known.total_lines is None else known.total_lines + grown
    if expected is not None and expected < 0:  # lines were removed that the file, as it was known, does not have
        return (), total
    total = expected if total is None else total
    adds_up = expected in {None, total} and (not seen or total is None or seen[-1][1] <= total)
    return (seen if adds_up else ()), total
