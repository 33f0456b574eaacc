"""Is an act on a file acceptable? A verdict before it is done, in numbers and in words: `ok`, `advised` or `refused` (S-5).

A refusal says what would work and how to override it. Leaves to others: what is known of the files (`ledger`), and what a
session does about a refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from penstock.errors import CallerError
from penstock.session.known_files import ENDLESS, missing
from penstock.text import escape, stand_ins
from penstock.text.calls import PYTHON, Call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.session.known_files import KnownFile, Role
    from penstock.text.json_access import Json

Level = Literal["ok", "advised", "refused"]
"""Possible verdicts on an act before it is done."""
_LEVELS: tuple[Level, ...] = get_args(Level)


class ActVerdict(NamedTuple):
    """A verdict on an act before it is done: `ok`, `advised` or `refused`, and the words for the model."""

    level: Level
    text: str = ""
    """What the model is told: what is wrong, what would work, how to override it. Empty if there is nothing to say."""


class Limit(NamedTuple):
    """A number that is recommended, and the most that is accepted without an override."""

    recommended: int
    maximum: int

    def level(self, count: int) -> Level:
        """Return the verdict on a count; a count equal to a limit is within it."""
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
    # `view` shows 100 by default, far fewer; this is for reads that name their lines.
    lines_per_read: Limit | None = field(default=Limit(500, 1000))
    """Lines of one explicit read."""

    def __post_init__(self) -> None:
        for known in fields(self):
            given = getattr(self, known.name)
            if given is not None:
                object.__setattr__(self, known.name, _limit(given, known.name))


def _limit(given: Json, name: str) -> Limit:
    """Return a limit from two numbers; raise an error that names the field for anything else."""
    if isinstance(given, list | tuple) and len(given) == 2 and all(type(number) is int for number in given):
        limit = Limit(*given)
        if 0 <= limit.recommended <= limit.maximum:
            return limit
    raise CallerError(f"{name}: what is recommended and, not below it, the most, like [50, 75]; or None for no limit")


NO_LIMITS = FileLimits(files_read=None, files_modified=None, files_created=None, lines_per_read=None)
"""Limits that accept everything silently."""


class Advice(NamedTuple):
    """How a file of some length is best read and edited; `text` is for the model."""

    read: Literal["whole", "sections", "windows"]
    edit: Literal["whole", "sections"]
    text: str


_IN_WINDOWS = "Long: search or take the outline, then view windows of it; edit it in sections."


def advice(total_lines: int) -> Advice:
    """Return how a file of that many lines is best read and edited (S-5).

    Below 200 lines in full; up to 500 read in full and edited in sections; up to 1,000 in sections; above that in windows only.
    """
    if total_lines < 200:
        return Advice("whole", "whole", "Short: read and edit it in full.")
    if total_lines <= 500:
        return Advice("whole", "sections", "Read it in full, edit it in sections.")
    if total_lines <= 1000:
        return Advice("sections", "sections", "Read and edit it in sections: take the outline first.")
    return Advice("windows", "sections", _IN_WINDOWS)


def content_verdict(content: str) -> ActVerdict:
    """Return whether content is free of stand-ins for text that is elsewhere."""
    line = stand_ins.find_stand_in(content)
    return _verdict("refused" if line else "ok", stand_ins.would_write(line), stand_ins.WRITE_THE_TEXT)


def files_verdict(did: Role, count: int, limit: Limit) -> ActVerdict:
    """Return the verdict on an act that makes a file number `count` of its role."""
    what = f"this would be file {count} {did} in this session; {limit.recommended} are recommended, {limit.maximum} the most"
    return _verdict(limit.level(count), what, _WAYS[did])


def lines_verdict(path: str, lines: int, limit: Limit, page_lines: int) -> ActVerdict:
    """Return the verdict on reading that many lines at once; a page of the recommended call has `page_lines`."""
    what = f"{lines} lines in one read; {limit.recommended} are recommended, {limit.maximum} the most"
    way = f"Search for the place, or read in windows: {_view(path, {'limit': page_lines})}"
    return _verdict(limit.level(lines), what, way)


def replacing_verdict(file: KnownFile, version: str, page_lines: int) -> ActVerdict:
    """Return the verdict on replacing a whole file, depending on whether the model knows all of its content.

    Args:
        file: what is known of it.
        version: its present version on disk.
        page_lines: the lines of a page of the recommended call.
    """
    is_this = file.holds(version)
    seen, total = (file.seen, file.total_lines) if is_this else ((), None)
    unseen = missing(seen, 1, ENDLESS if total is None else total)
    if total is not None and not unseen:
        return ActVerdict("ok")
    if seen:
        why = "its end was not shown" if total is None else _not_shown(unseen, total)
    elif file.version and not is_this:
        why = "it was changed since it was last shown"
    else:
        why = "nothing of this version was shown"
    # The call shows only the first gap, and at most a page of it: one literal call that works is better than a list. After it, the
    # refusal of the next attempt names the next gap.
    first, last = unseen[0]
    arguments = {"offset": first - 1} if first > 1 else {}
    arguments["limit"] = min(last - first + 1, page_lines)
    what = f"{escape.shorten(escape.show_argument(file.path))} would be replaced, but {why}"
    way = f"Show that first: {_view(file.path, arguments)}; or edit only lines that were shown."
    return _verdict("refused", what, way)


def worst(said: Sequence[ActVerdict]) -> ActVerdict:
    """Return one verdict for several: that of the highest level, with all texts of that level.

    An override covers everything that is refused, so every refusal is listed; advice is left out then.
    """
    level = max((verdict.level for verdict in said), key=_LEVELS.index)
    return ActVerdict(level, "\n".join(verdict.text for verdict in said if verdict.level == level and verdict.text))


def _view(path: str, arguments: Mapping[str, int]) -> str:
    """Return the call that shows lines of a file, ready to copy."""
    return PYTHON.write(Call("view", {"file_path": escape.show_argument(path), **arguments}))


def _verdict(level: Level, what: str, way: str) -> ActVerdict:
    """Return a verdict in words: what it is about, the way that works, and for a refusal the override."""
    if level == "ok":
        return ActVerdict("ok")
    if level == "advised":
        return ActVerdict(level, f"Advice: {what}. {way}")
    override = PYTHON.name(Call("", {"override": True}), "override")
    return ActVerdict(level, f"Refused: {what}. {way} To do it all the same, make the same call with {override}.")


_WAYS = {
    "read": "Search finds a place without reading files, and files that were read before can be read again.",
    "modified": "Finish and check what is begun, then hand off; files that were modified before can be edited further.",
    "created": "Add to a file that is there, or finish what is begun, then hand off.",
}


def _not_shown(ranges: Sequence[tuple[int, int]], total: int) -> str:
    """Return which lines of a file were not shown from beginning to end: the first three ranges, and how many more there are."""
    said = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges[:3])
    more = f" and {len(ranges) - 3} more ranges" if len(ranges) > 3 else ""
    is_one = len(ranges) == 1 and ranges[0][0] == ranges[0][1]
    return f"{'line' if is_one else 'lines'} {said}{more} of {total} {'was' if is_one else 'were'} not shown in full"
