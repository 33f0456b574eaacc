"""Does the source bear out a claim? Claims are checked against the lines that they cite before anything else sees them.

The cited lines must have been shown; the evidence must be a statement within what the claim is about, a paragraph or a rule's
lines; if it is elsewhere within that, the citation is moved to it; every name in the claim must be one of the program's; its
numbers must be those of the code, or are marked; and it must not mention a call, a table or a copybook that the code does not have.
Law: an accepted claim cites lines of code that were shown, within what it is about, the first of which begins its evidence. Leaves
to others: how a claim was asked for (`prompts`) and read (`answers`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import chain, count, takewhile
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from penstock.chunk.template import Citation, folded
from penstock.cobol.reserved import is_reserved
from penstock.cobol.verbs import VERBS
from penstock.cobol.words import vocabulary
from penstock.scribe.filling import evidence_of, text_of
from penstock.scribe.numbers import judged
from penstock.text import notices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock.chunk.template import Plain
    from penstock.scribe.answers import Claim
    from penstock.scribe.filling import SourceLines

Outcome = Literal["accepted", "relocated", "rejected", "contradicted"]
Reason = Literal[
    "", "item", "range", "evidence", "statement", "outside", "elsewhere", "name", "number", "call", "table", "copybook"
]
REASONS: tuple[Reason, ...] = get_args(Reason)
"""Why a claim may be rejected or contradict the code; empty for one that holds."""

MIN_WORDS = 2
"""The fewest whole words of evidence, unless it is a complete line: fewer occur anywhere."""
NEAR_LINES = 20
"""How near the evidence must be to a cited line that was not shown to count as a slip; otherwise the line was invented."""
_MAX_PLACES = 10_000  # where a fragment occurs


class ClaimSubject(NamedTuple):
    """Something that claims may be about: its name in a prompt, the fields that a claim may fill, and where its record is.

    `section` and `key` find the record in the template, `first_line` and `last_line` are its place in the source. `reach` is where
    evidence for it may be: the paragraph around a call, the whole program for inputs and outputs.
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
    """Which program of the file it belongs to."""
    reach: tuple[int, int] = (0, 0)
    """The first and last line of what can prove something about it; (0, 0) for its own place."""

    @property
    def stretch(self) -> tuple[int, int]:
        """Return the first and last line of what can prove something about it."""
        return self.reach if self.reach[1] else (self.first_line, self.last_line)

    def holds(self, line: int) -> bool:
        """Return whether a line is within `stretch`."""
        first, last = self.stretch
        return first <= line <= last


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What exists according to the code: names in upper case, by what each may be."""

    names: frozenset[str]
    """Every word of the program, of its copybooks and of its surroundings."""
    callable: frozenset[str]
    """What may be called: programs, transactions, paragraphs."""
    tables: frozenset[str]
    """SQL tables, and data items, some of which are tables."""
    copybooks: frozenset[str]
    declared: frozenset[str]
    """What the program declares, of any kind: the rest of `names` are words of the language, and of literals."""
    numbers: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)
    """The numbers that each name is declared with: values, sizes and occurrences."""


class ClaimVerdict(NamedTuple):
    """The outcome for a claim: whether it may be said, with which citations, and if not, why."""

    claim: Claim
    outcome: Outcome
    citations: tuple[Citation, ...] = ()
    reason: Reason = ""
    derived: tuple[str, ...] = ()
    """The numbers in it that are not in the code: the model's own."""

    @property
    def holds(self) -> bool:
        """Return whether the claim may be said."""
        return self.outcome in {"accepted", "relocated"}


class EvidencePlace(NamedTuple):
    """Where evidence occurs: its lines, how many words with a letter or digit are whole, and whether it is a complete line."""

    first_line: int
    last_line: int
    words: int
    is_line: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """What a prompt shows, as needed to check claims. Made by `shown`."""

    source: SourceLines
    spans: tuple[tuple[int, int], ...]
    items: Mapping[str, ClaimSubject]
    known: Known
    text: str = field(repr=False)
    """All lines of code that were shown, folded and joined by blanks."""
    numbers: tuple[int, ...] = field(repr=False)
    """The line numbers of those lines."""
    starts: tuple[int, ...] = field(repr=False)
    """Where each of those lines begins in `text`."""

    def has(self, line: int) -> bool:
        """Return whether a line was shown, code or not."""
        return any(first <= line <= last for first, last in self.spans)

    def places(self, fragment: str) -> Iterator[EvidencePlace]:
        """Yield each place where a folded fragment occurs.

        The text is one string, so that evidence across line ends is found like any other; the line at a position is found by
        bisecting the starts.
        """
        text, starts = self.text, self.starts
        words = sum(any(map(str.isalnum, word)) for word in fragment.split())
        at = text.find(fragment)
        for _ in range(_MAX_PLACES):
            if at < 0:
                return
            end = at + len(fragment)
            # A cut word proves nothing: `RATE` does not occur in SEPARATE.
            is_cut = _is_letter(fragment[0]) and _is_letter(text[at - 1 : at])
            is_cut_behind = _is_letter(fragment[-1]) and _is_letter(text[end : end + 1])
            if not is_cut or " " in fragment:
                first, last = bisect_right(starts, at) - 1, bisect_right(starts, end - 1) - 1
                ends = starts[last + 1] - 1 if last + 1 < len(starts) else len(text)
                yield EvidencePlace(
                    self.numbers[first],
                    self.numbers[last],
                    words - is_cut - is_cut_behind,
                    is_line=(starts[first], ends) == (at, end),
                )
            at = text.find(fragment, at + 1)

    def code_of(self, item: ClaimSubject) -> str:
        """Return the shown lines of code that a claim is about: they are contiguous in the text."""
        first, last = item.stretch
        begin, end = bisect_left(self.numbers, first), bisect_right(self.numbers, last)
        if begin >= end:
            return ""
        return self.text[self.starts[begin] : self.starts[end] - 1 if end < len(self.starts) else None]


def shown(source: SourceLines, spans: Iterable[tuple[int, int]], items: Iterable[ClaimSubject], known: Known) -> Shown:
    """Return what a prompt shows, as needed to check claims.

    Args:
        source: The whole file.
        spans: First and last line of each stretch that was shown, 1-based and inclusive.
        items: What claims may be about.
        known: What the whole program has: a name that was not shown is not necessarily invented.
    """
    sorted_spans = tuple(sorted(spans))
    pieces: dict[int, str] = {}
    for first, last in sorted_spans:
        for line in range(max(1, first), min(last, source.lines) + 1):
            if source.is_code(line):
                pieces[line] = text_of(source, line)
    # One text of all lines that were shown, joined by blanks, and where each begins in it: evidence copied across a line end is
    # found as easily as within one, by Python's own string search.
    starts, at = [], 0
    for piece in pieces.values():
        starts.append(at)
        at += len(piece) + 1
    by_id = {item.id: item for item in items}
    return Shown(source, sorted_spans, by_id, known, " ".join(pieces.values()), tuple(pieces), tuple(starts))


def verify(claim: Claim, held: Shown, *, is_kept: bool = False) -> ClaimVerdict:
    """Return whether the source bears out a claim, and where.

    The order of the checks is that of usefulness: a claim about nothing cannot be placed, one without a place cannot be cited, and
    only one that has citations can contradict the code, which is different from naming what does not exist.

    Args:
        claim: The claim.
        held: What was shown.
        is_kept: Whether the claim held before, and this is one of its citations, with the first line's text as evidence.
    """
    item = held.items.get(claim.of)
    if item is None or claim.field not in item.fields:
        return ClaimVerdict(claim, "rejected", reason="item")
    # Lines outside of the program are invented. Lines that were not shown may be a slip, which the place of the evidence decides.
    far = [line for line in claim.lines if not held.has(line)]
    if any(not 1 <= line <= held.source.lines for line in far):
        return ClaimVerdict(claim, "rejected", reason="range")
    meant = _meant(claim, item, held)
    placed = _placed(claim, meant, held, is_kept=is_kept)
    if isinstance(placed, str):
        return ClaimVerdict(claim, "rejected", reason=placed)
    lines, is_moved = placed
    if far and (not is_moved or max(abs(line - lines[0]) for line in far) > NEAR_LINES + len(claim.lines)):
        return ClaimVerdict(claim, "rejected", reason="elsewhere")
    if meant is not item:
        claim, is_moved = claim._replace(of=meant.id), True
    # A contradiction keeps its citations: it becomes a question for a person, who wants to see the lines (clarification).
    citations = tuple(_runs(lines, held))
    if (reason := _contradiction(claim, held.known)) is not None:
        return ClaimVerdict(claim, "contradicted", citations, reason)
    if not _names(claim) <= held.known.names:
        return ClaimVerdict(claim, "rejected", reason="name")
    cited = " ".join(text_of(held.source, line) for line in lines)
    number = judged(claim.claim, held.code_of(meant), cited, held.known.numbers)
    if number.is_contradicted:
        return ClaimVerdict(claim, "rejected", reason="number")
    return ClaimVerdict(claim, "relocated" if is_moved else "accepted", citations, derived=number.derived)


def may_say(claim: Claim, known: Known) -> bool:
    """Return whether the words of a claim name only what the program has, whatever they cite."""
    return _contradiction(claim, known) is None and _names(claim) <= known.names


# ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _meant(claim: Claim, item: ClaimSubject, held: Shown) -> ClaimSubject:
    """Return what a claim is about if several have the same name: the one whose lines it cites, if its evidence is there.

    Two programs of a file may have the same name. Their ids, and those of their inputs and outputs, then differ only by a number at
    the end, which a model easily leaves out; what it says about the second would be attributed to the first. A line that ends one
    and begins the other belongs to both: there the id decides, or a claim moved once would be moved back when it is verified again.
    """
    base, _, number = item.id.rpartition(".")
    base = base if number.isdecimal() and base in held.items else item.id
    start = claim.lines[0]
    if f"{base}.2" not in held.items or item.holds(start):
        return item
    ids = takewhile(held.items.__contains__, chain([base], (f"{base}.{number}" for number in count(2))))
    around = [one for one in map(held.items.__getitem__, ids) if one.program != item.program and one.holds(start)]
    _, places = _found(claim.evidence, held) if around else ("", [])
    return next((one for one in around if any(one.holds(place.first_line) for place in places)), item)


def _placed(claim: Claim, item: ClaimSubject, held: Shown, *, is_kept: bool) -> tuple[list[int], bool] | Reason:
    """Return the lines that the evidence bears out, and whether they differ from those cited; a reason if it bears out none.

    If the evidence begins within the cited lines, those before it are not borne out. If it is elsewhere, all lines move with it, to
    the nearest place within the item. Other lines that a claim cites besides its evidence count only within the item.
    """
    # Models count lines badly and copy well: the evidence decides, and the numbers only choose between its places.
    fragment, anywhere = _found(claim.evidence, held)
    if not anywhere:
        return "evidence"
    # A kept citation may begin with a header or a word (ELSE): next to its evidence, or if that ran over several lines.
    first = claim.lines[0] if is_kept else 0
    statements = [place for place in anywhere if place.first_line == first or _is_statement(fragment, place)]
    if not statements:
        return "statement"
    found = [place for place in statements if item.holds(place.first_line)]
    if not found:
        return "outside"
    cited = set(claim.lines)
    here = next((place for place in found if place.first_line in cited), None)
    if here is not None:
        return _code([line for line in claim.lines if line >= here.first_line], here, item, held), False
    start = claim.lines[0]
    there = min(found, key=lambda place: (abs(place.first_line - start), place.first_line))
    return _code([line + there.first_line - start for line in claim.lines], there, item, held), True


_HEADER = re.compile(r"[\w#@$-]+(?:\s+SECTION(?:\s+\d+)?)?\s*\.?", re.IGNORECASE)


def _is_statement(fragment: str, place: EvidencePlace) -> bool:
    """Return whether evidence says something at a place: several whole words that are not a header, or a complete line.

    A paragraph's header precedes whatever is in it, and a word or a few letters occur anywhere: the `, C` of `, COLUMN_1` is a
    comma and a piece of a word. A line of one word says something if it is a verb.
    """
    pieces = fragment.split()
    if len(pieces) >= MIN_WORDS and _HEADER.fullmatch(fragment) is None:
        return place.words >= MIN_WORDS or place.is_line
    return len(pieces) == 1 and pieces[0].strip(".").upper() in VERBS and place.is_line


def _is_letter(char: str) -> bool:
    """Return whether a character may be part of a name; the empty string before and after all text may not."""
    return char.isalnum() or char in {"-", "_", "#", "@", "$"}


def _found(evidence: str, held: Shown) -> tuple[str, list[EvidencePlace]]:
    """Return evidence, blanks folded, and where it occurs: as it was quoted, else without line numbers.

    Quoted code may begin with a number and look like a numbered line: `01 :TAG:-RECORD.` has a level.
    """
    lines = evidence.splitlines()
    for quoted in (lines, map(notices.without_number, lines)):
        fragment = " ".join(" ".join(quoted).split())
        if fragment and (places := list(held.places(fragment))):
            return fragment, places
    return "", []


def _code(lines: Sequence[int], place: EvidencePlace, item: ClaimSubject, held: Shown) -> list[int]:
    """Return those lines that were shown, are code and belong to the item, with all that the evidence covers."""
    wanted = {*filter(item.holds, lines), *range(place.first_line, place.last_line + 1)}
    return sorted(line for line in wanted if held.has(line) and held.source.is_code(line))


def _runs(lines: Sequence[int], held: Shown) -> Iterator[Citation]:
    """Yield citations of lines: lines with only blanks and comments between them share one."""
    run: list[int] = []
    for line in lines:
        if run and any(held.source.is_code(between) for between in range(run[-1] + 1, line)):
            yield Citation(run[0], run[-1], evidence_of(held.source, run[0]))
            run = []
        run.append(line)
    yield Citation(run[0], run[-1], evidence_of(held.source, run[0]))


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────

# What may look like a name in an English sentence must look like a COBOL name beyond doubt: a word wrongly taken for a name rejects
# a true claim. Names missed here are found if the model lists them among the claim's names.
_LETTERS = r"\w#@$"
_LIKE_A_NAME = re.compile(  # a word and a number (COMP-3, ISO-8601, R120) may be anything
    rf"(?<![{_LETTERS}-])(?![A-Z]+-?\d+(?![{_LETTERS}-]))"
    r"(?:(?=[A-Z0-9#@$_-]*[A-Z])[A-Z0-9#@$]+(?:[-_][A-Z0-9#@$]+)+"  # in capitals, with a hyphen,
    rf"|(?=[A-Z0-9]*\d)[A-Z][A-Z0-9]{{5,7}})(?![{_LETTERS}-])"  # or as long as the name of a program, with a digit in it,
    rf"|(?<=`)[{_LETTERS}-]+(?=`)"  # or in backquotes
)
# What is called or invoked is a name in other forms too: in capitals in the passive, where four letters may be an abbreviation, and
# after the verb in quotes, or with a digit and as long as a program's name. Anything else may be English: "calls itself", "calls
# 'end-of-day' logic", "calls utf8 conversion".
_CALLED = re.compile(
    r"(?<![\w-])(?P<passive>[A-Z#@$][A-Z0-9#@$]{4,})['\"]?\s+(?:is|are|was|were|gets)\s+(?:[a-z]+\s+)?(?:called|invoked)(?![\w-])"
    r"|(?<![\w-])(?i:calls?|calling|invokes?|invoking)\s+(?:the\s+)?(?:(?:sub-?program|program|module)\s+)?"
    rf"(?:(?P<quote>['\"])(?P<quoted>[A-Za-z#@$][{_LETTERS}]+)(?P=quote)|(?P<numbered>(?=[a-z]+\d)\w{{7,8}})(?![{_LETTERS}-]))"
)
_COMMON = frozenset(  # look like names, but are technical terms
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
    """Return what a claim lists as names and what looks like a name in it, in upper case, without technical terms."""
    given = {
        word.upper()
        for name in claim.names
        for word in re.findall(rf"[{_LETTERS}-]+", re.sub(r"\([^()]*\)", " ", name))
    }
    seen = {match.group().upper() for match in _LIKE_A_NAME.finditer(claim.claim)}
    called = {
        (match["passive"] or match["quoted"] or match["numbered"]).upper() for match in _CALLED.finditer(claim.claim)
    }
    seen |= {name for name in called if not _is_term(name)}
    return {name for name in given | seen if any(map(str.isalpha, name))} - _COMMON


# A name is in capitals, the words around it in any case. The patterns know the few ways in which English says these three things.
# What they miss is checked against all names of the program, which is less strict; what they find must be of the right kind.
_NAME = r"['\"`]?(?<![\w-])([A-Z0-9#@$][A-Z0-9_#@$.-]*[A-Z0-9#@$])(?![\w-])['\"`]?"
_SAYS: tuple[tuple[Reason, str, re.Pattern[str]], ...] = (
    (
        "call",
        "callable",
        re.compile(
            r"(?<![\w-])(?i:calls?|called|calling|invokes?|invoking|links? to|linking to|xctls?(?: to)?"
            r"|(?:transfers?|passes) control to|control (?:is |was )?(?:passes|passed|transferred) to)\s+"
            rf"(?i:(?:by|the|a|sub-?program|program|module|routine|transaction|paragraph|section|service)\s+)*{_NAME}"
        ),
    ),
    ("copybook", "copybooks", re.compile(rf"(?<![\w-])(?i:copybooks?|copy member)\s+{_NAME}")),
    ("copybook", "copybooks", re.compile(rf"{_NAME}\s+(?i:copybook|copy member)(?![\w-])")),
    ("table", "tables", re.compile(rf"(?<![\w-])(?i:tables?|views?)\s+{_NAME}")),
    ("table", "tables", re.compile(rf"{_NAME}\s+(?i:tables?|view)(?![\w-])")),
)


def _contradiction(claim: Claim, known: Known) -> Reason | None:
    """Return the kind of thing that a claim says the program calls, reads or copies but the code does not have; None for none.

    Only a name that is certainly not a word of the language or of a literal counts, in the position of such a thing in the
    sentence: "calls PAYROLL" in a program that has no such call.
    """
    for reason, kind, pattern in _SAYS:
        there: frozenset[str] = getattr(known, kind)
        for match in pattern.finditer(claim.claim):
            name = match[1].upper()
            is_thing = name in known.declared or (name not in known.names and not _is_term(name))
            is_name = is_thing and name not in _TRADE and any(map(str.isalpha, name))
            if is_name and name not in there and name.rpartition(".")[2] not in there:
                return reason
    return None


_TRADE = frozenset({"CICS", "SQL", "EXEC", "DLI", "IMS", "MQ", "DB2", "VSAM", "KSDS", "SORT", "COBOL", "JCL"})
"""Words in capitals next to a call or a table that are not names of one."""
_TERMS = vocabulary(
    "API APIS BMS DB DBMS DLL EBCDIC FTP GUI HTTP HTTPS ID IDS IP JAVA JSON LE OK OS PC REST SOAP TCP TSO UI UNIX URL WEB XML "
    "ABEND ALWAYS EITHER EVERY MUST NEVER NEITHER NOBODY NOTHING ONCE ONLY SEVERAL TWICE"
)
"""Abbreviations, and English words that people stress by capitals."""


def _is_term(name: str) -> bool:
    """Return whether a word in capitals is one of the trade, of the language or of English unless a program declares it."""
    return name in _TRADE or name in _TERMS or is_reserved(name)


def same_claims(verdicts: Iterable[ClaimVerdict]) -> list[ClaimVerdict]:
    """Return each claim once: the same text about one thing, whatever its blanks or case, is one claim, which holds if either does.

    Overlapping context makes models repeat themselves; the citations of both are kept, because each proves the claim.
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
