"""Claims held against the lines that they cite, before anything else sees them.

Its lines must have been shown, its evidence must stand there; where it stands elsewhere the citation is moved to it; every name in
it must be one of the program's; and it must not know of a call, a table or a copybook that the code does not have. Law: what is
accepted cites lines of code that were shown, the first of which begins its evidence. Keeps out: how a claim was asked for
(`prompts`) and read (`answers`).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.chunk.template import Citation, folded
from penstock.scribe.filling import evidence_of, text_of
from penstock.text import notices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock.chunk.template import Plain
    from penstock.scribe.answers import Claim
    from penstock.scribe.filling import SourceLines

Outcome = Literal["accepted", "relocated", "rejected", "contradicted"]
Reason = Literal["", "item", "range", "evidence", "elsewhere", "name", "call", "table", "copybook"]

MIN_CHARS = 3
"""The fewest letters of evidence, unless it is all of a line: less stands anywhere."""
NEAR_LINES = 20
"""How near the evidence has to stand to a cited line that was not shown: then it is a slip, else it was invented."""
_MAX_PLACES = 10_000  # where a fragment stands


class ClaimSubject(NamedTuple):
    """Something that claims may be about: how a prompt calls it, the fields that a claim may fill, and where its record is.

    `section` and `key` find the record in the template, `first_line` and `last_line` are its place in the source.
    """

    id: str
    section: str
    fields: tuple[str, ...]
    key: Mapping[str, Plain]
    first_line: int
    last_line: int
    kind: str
    name: str
    program: int = 0
    """Which program of the file it is of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the code says there is: names in upper case, by what each may be."""

    names: frozenset[str]
    """every word of the program, of its copybooks and of its surroundings;"""
    callable: frozenset[str]
    """what may be called: programs, transactions, paragraphs;"""
    tables: frozenset[str]
    """SQL tables, and data items, of which some are tables;"""
    copybooks: frozenset[str]
    declared: frozenset[str]
    """what the program declares, of any kind: the rest of `names` are words of the language, and of literals."""


class ClaimVerdict(NamedTuple):
    """What became of a claim: whether it may be said, with which citations, and if not, why."""

    claim: Claim
    outcome: Outcome
    citations: tuple[Citation, ...] = ()
    reason: Reason = ""

    @property
    def holds(self) -> bool:
        """Return whether it may be said."""
        return self.outcome in {"accepted", "relocated"}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a prompt shows, as far as claims are held against it. Made by `shown`."""

    source: SourceLines
    spans: tuple[tuple[int, int], ...]
    items: Mapping[str, ClaimSubject]
    known: Known
    text: str = field(repr=False)
    """All lines of code that were shown, folded and joined by a blank;"""
    numbers: tuple[int, ...] = field(repr=False)
    """their line numbers,"""
    starts: tuple[int, ...] = field(repr=False)
    """and where each begins in `text`."""

    def has(self, line: int) -> bool:
        """Return whether a line was shown, code or not."""
        return any(first <= line <= last for first, last in self.spans)

    def places(self, fragment: str) -> Iterator[tuple[int, int]]:
        """Yield the first and the last line of each place where a folded fragment stands.

        The text is one string, so that evidence which runs over line ends is found as it is; where a line begins in it is a search
        among the starts.
        """
        at = self.text.find(fragment)
        for _ in range(_MAX_PLACES):
            if at < 0:
                return
            last = bisect_right(self.starts, at + len(fragment) - 1) - 1
            yield self.numbers[bisect_right(self.starts, at) - 1], self.numbers[last]
            at = self.text.find(fragment, at + 1)

    def is_line(self, fragment: str, line: int) -> bool:
        """Return whether a fragment is all of a line."""
        return text_of(self.source, line) == fragment


def shown(source: SourceLines, spans: Iterable[tuple[int, int]], items: Iterable[ClaimSubject], known: Known) -> Shown:
    """Return what a prompt shows, as far as claims are held against it.

    Args:
        source: The whole file.
        spans: First and last line of each stretch that was shown, 1-based and inclusive.
        items: What claims may be about.
        known: What the whole program has: a name that was not shown is no invention.
    """
    sorted_spans = tuple(sorted(spans))
    pieces: dict[int, str] = {}
    for first, last in sorted_spans:
        for line in range(max(1, first), min(last, source.lines) + 1):
            if source.is_code(line):
                pieces[line] = text_of(source, line)
    # One text of all lines that were shown, joined by blanks, and where each begins in it: evidence that is copied over a line
    # end is found as easily as within one, and a search of Python's own is what looks for it.
    starts, at = [], 0
    for piece in pieces.values():
        starts.append(at)
        at += len(piece) + 1
    by_id = {item.id: item for item in items}
    return Shown(source, sorted_spans, by_id, known, " ".join(pieces.values()), tuple(pieces), tuple(starts))


def verify(claim: Claim, held: Shown) -> ClaimVerdict:
    """Return whether the source bears out a claim, and where.

    The order of the checks is that of what is worth telling: a claim about nothing cannot be placed, one without a place cannot be
    cited, and only one that has citations can contradict the code, which is another thing than to name what is not there.
    """
    item = held.items.get(claim.of)
    if item is None or claim.field not in item.fields:
        return ClaimVerdict(claim, "rejected", reason="item")
    # Lines outside of the program are invented. Lines that were not shown may be a slip, which the place of the evidence decides.
    far = [line for line in claim.lines if not held.has(line)]
    if any(not 1 <= line <= held.source.lines for line in far):
        return ClaimVerdict(claim, "rejected", reason="range")
    placed = _placed(claim, item, held)
    if placed is None:
        return ClaimVerdict(claim, "rejected", reason="evidence")
    lines, is_moved = placed
    if far and (not is_moved or max(abs(line - lines[0]) for line in far) > NEAR_LINES + len(claim.lines)):
        return ClaimVerdict(claim, "rejected", reason="elsewhere")
    # A contradiction keeps its citations: it becomes a question for a person, who wants to see the lines (clarification).
    citations = tuple(_runs(lines, held))
    if (reason := _contradiction(claim, held.known)) is not None:
        return ClaimVerdict(claim, "contradicted", citations, reason)
    if not _names(claim) <= held.known.names:
        return ClaimVerdict(claim, "rejected", reason="name")
    return ClaimVerdict(claim, "relocated" if is_moved else "accepted", citations)


def may_say(claim: Claim, known: Known) -> bool:
    """Return whether the words of a claim name nothing that the program does not have, whatever they cite."""
    return _contradiction(claim, known) is None and _names(claim) <= known.names


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _placed(claim: Claim, item: ClaimSubject, held: Shown) -> tuple[list[int], bool] | None:
    """Return the lines that the evidence bears out, and whether they are others than those cited; None where it stands nowhere.

    Where the evidence begins within the cited lines, those before it are not borne out. Where it stands elsewhere, all lines move
    with it: to the place within the item, else to the nearest, else to the first.
    """
    # Models count lines badly and copy well: the evidence decides, the numbers only choose between places where it stands.
    fragment = _fragment(claim.evidence)
    found = list(held.places(fragment)) if fragment else []
    if len("".join(fragment.split())) < MIN_CHARS:
        found = [(first, last) for first, last in found if first == last and held.is_line(fragment, first)]
    if not found:
        return None
    cited = set(claim.lines)
    here = next(((first, last) for first, last in found if first in cited), None)
    if here is not None:
        return _code([line for line in claim.lines if line >= here[0]], here, held), False
    start = claim.lines[0]
    within = [place for place in found if item.first_line <= place[0] <= item.last_line]
    there = min(within or found, key=lambda place: (abs(place[0] - start), place[0]))
    return _code([line + there[0] - start for line in claim.lines], there, held), True


def _fragment(evidence: str) -> str:
    """Return evidence as it is looked for: without the line numbers that a prompt puts before the lines, blanks folded."""
    lines = [notices.without_number(line) for line in evidence.splitlines()]
    return " ".join(" ".join(lines).split())


def _code(lines: Sequence[int], place: tuple[int, int], held: Shown) -> list[int]:
    """Return those lines that were shown and are code, with all that the evidence covers."""
    wanted = {*lines, *range(place[0], place[1] + 1)}
    return sorted(line for line in wanted if held.has(line) and held.source.is_code(line))


def _runs(lines: Sequence[int], held: Shown) -> Iterator[Citation]:
    """Yield citations of lines: what has nothing but blanks and comments between it is one."""
    run: list[int] = []
    for line in lines:
        if run and any(held.source.is_code(between) for between in range(run[-1] + 1, line)):
            yield Citation(run[0], run[-1], evidence_of(held.source, run[0]))
            run = []
        run.append(line)
    yield Citation(run[0], run[-1], evidence_of(held.source, run[0]))


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────

# What may look like a name in a sentence of English has to look like one of COBOL beyond doubt: what is taken for a name wrongly
# throws a true claim away. What is missed here is found where the model lists it among the claim's names.
_LETTERS = r"\w#@$"
_LIKE_A_NAME = re.compile(  # a word and a number (COMP-3, ISO-8601, R120) may be anything
    rf"(?<![{_LETTERS}-])(?![A-Z]+-?\d+(?![{_LETTERS}-]))"
    r"(?:(?=[A-Z0-9#@$_-]*[A-Z])[A-Z0-9#@$]+(?:[-_][A-Z0-9#@$]+)+"  # in capitals, with a hyphen,
    rf"|(?=[A-Z0-9]*\d)[A-Z][A-Z0-9]{{5,7}})(?![{_LETTERS}-])"  # or as long as the name of a program, with a digit in it,
    rf"|(?<=`)[{_LETTERS}-]+(?=`)"  # or in backquotes
)
_COMMON = frozenset(  # look like names, and are words of the trade
    {
        *("OF", "IN", "THRU", "I-O", "INPUT-OUTPUT", "FILE-CONTROL", "FILE-STATUS", "RETURN-CODE"),
        *("WORKING-STORAGE", "LOCAL-STORAGE", "END-OF-FILE", "END-OF-DATA", "YES-NO", "ISO-8859-1"),
        *("YYYY-MM-DD", "DD-MM-YYYY", "MM-DD-YYYY", "YY-MM-DD", "HH-MM-SS"),
    }
)


def names_in(text: str) -> frozenset[str]:
    """Return every word of a text that could be a name, in upper case."""
    return frozenset(word.upper() for word in re.findall(rf"[{_LETTERS}-]+", text))


def _names(claim: Claim) -> set[str]:
    """Return what a claim names and what looks like a name in it, in upper case, but for the words of the trade."""
    given = {
        word.upper()
        for name in claim.names
        for word in re.findall(rf"[{_LETTERS}-]+", re.sub(r"\([^()]*\)", " ", name))
    }
    seen = {match.group().upper() for match in _LIKE_A_NAME.finditer(claim.claim)}
    return {name for name in given | seen if any(map(str.isalpha, name))} - _COMMON


# A name stands in capitals; the words around it in any case. The patterns know the few ways in which English says these three
# things. What they miss is held against all names of the program, which is less strict; what they find must be of the right
# kind.
_NAME = r"['\"`]?(?<![\w-])([A-Z0-9#@$][A-Z0-9_#@$.-]*[A-Z0-9#@$])(?![\w-])['\"`]?"
_SAYS: tuple[tuple[Reason, str, re.Pattern[str]], ...] = (
    (
        "call",
        "callable",
        re.compile(
            r"(?<![\w-])(?i:calls?|called|calling|invokes?|invoking|links? to|linking to|xctls?(?: to)?|transfers? control to)\s+"
            rf"(?i:(?:by|the|a|sub-?program|program|module|routine|transaction|paragraph|section|service)\s+)*{_NAME}"
        ),
    ),
    ("copybook", "copybooks", re.compile(rf"(?<![\w-])(?i:copybooks?|copy member)\s+{_NAME}")),
    ("copybook", "copybooks", re.compile(rf"{_NAME}\s+(?i:copybook|copy member)(?![\w-])")),
    ("table", "tables", re.compile(rf"(?<![\w-])(?i:tables?|views?)\s+{_NAME}")),
    ("table", "tables", re.compile(rf"{_NAME}\s+(?i:tables?|view)(?![\w-])")),
)


def _contradiction(claim: Claim, known: Known) -> Reason | None:
    """Return what kind of thing a claim says the program calls, reads or copies that the code does not have; None for none.

    Only a name that is certainly no word of the language or of a literal counts, in the place of a sentence where the thing stands:
    "calls PAYROLL" against a program that has no such call.
    """
    for reason, kind, pattern in _SAYS:
        there: frozenset[str] = getattr(known, kind)
        for match in pattern.finditer(claim.claim):
            name = match[1].upper()
            is_thing = name in known.declared or name not in known.names
            is_name = is_thing and name not in _TRADE and any(map(str.isalpha, name))
            if is_name and name not in there and name.rpartition(".")[2] not in there:
                return reason
    return None


_TRADE = frozenset({"CICS", "SQL", "EXEC", "DLI", "IMS", "MQ", "DB2", "VSAM", "KSDS", "SORT", "COBOL", "JCL"})
"""Words in capitals beside a call or a table that are no names of any."""


def same_claims(verdicts: Iterable[ClaimVerdict]) -> list[ClaimVerdict]:
    """Return each claim once: what is said twice about one thing, in other blanks or case, is one, and holds if any of it holds.

    Overlapping context makes models repeat themselves; the citations of both are kept, because each proves it.
    """
    kept: dict[Plain, ClaimVerdict] = {}
    for verdict in verdicts:
        claim = verdict.claim
        said = (claim.of, claim.field, folded(claim.claim))
        before = kept.get(said)
        if before is None or (verdict.holds and not before.holds):
            kept[said] = verdict
        elif verdict.holds or verdict.outcome == before.outcome:
            proofs = tuple(sorted({*before.citations, *verdict.citations}))
            kept[said] = before._replace(citations=proofs)
    return list(kept.values())
