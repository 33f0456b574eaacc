"""How is copied text read in which a sentence continues: operands (`MOVE A TO COPY TARGETS.`), or an IF that one copybook opens
and another ends?

Such text means nothing by itself, and the code around it means something else without it. It is inserted before its COPY, on the
same line: the code keeps its lines, one for one, so that each citation refers to the program's file. Text that stands alone, whole
statements, paragraphs and data, is not touched: `facts.expanding` reads it from its copybook and reports it under that name.

Leaves to others: where copybooks come from. Law: a source that copies no such text is unchanged.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from .assembly import CodeLines, assemble
from .headers import areas
from .joining import joined as joined_code
from .lexing import COPIED, GAP, LITERAL, fold, spelled_tokens
from .procedure import Procedure, dialect
from .program import key
from .reading import BREAK
from .replacing import around_statements, in_effect, line_starts, named, pairs_in, rewritten
from .structure import drafts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .program import Joining, Replacing
    from .replacing import Replaced
    from .source import Lookup, ScannedSource

MOST_CHARS = 2_000
"""Longer text is read by itself."""

_COPY = re.compile(rf"(?<![\w:-])(?:{COPIED.pattern})")
_LITERALS = re.compile(LITERAL)
_NOT_WITHIN = re.compile(
    r"\s*+(?:\d++\s|(?:FD|SD|SELECT)\s|[\w-]++\s++(?:SECTION|DIVISION)\b)|.*\b(?:COPY|REPLACE|-INC|\+\+INCLUDE|EXEC)\s",
    re.DOTALL,
)
"""Data and headers, and text with further copies."""
_BEFORE = re.compile(
    r"(?:\.|\bEND-EXEC|\A|(?:\bCOPY|-INC|\+\+INCLUDE)\s++[^\s.]++(?:\s++(?:OF|IN)\s++[^\s.]++|\s++SUPPRESS)?)\s*+\Z"
)
"""What precedes the beginning of a sentence, or another copy without a period of its own."""
_PARAMETERS = re.compile(r"\bDIVISION\s++(?:USING|CHAINING)(?![\w-])[^.]*+\Z")
"""A header without its end: the period of copied parameters and that of their COPY are the same one."""
_FAR = 400
"""How many characters before a COPY are examined: blanks and comments may come between."""
_PERIOD = re.compile(rf"{GAP}\.")
_AFTER = "CONTINUE "
"""Put before text from the middle of a sentence to read it: no header can follow it."""
_HOLDS = {"ELSE": ("IF",), "END-IF": ("IF",), "WHEN": ("EVALUATE", "SEARCH"), "END-EVALUATE": ("EVALUATE",)} | {
    "END-SEARCH": ("SEARCH",),
    "END-PERFORM": ("PERFORM",),
}


class Spliced(NamedTuple):
    """Code with copied text inserted, where each of its lines begins, and the COPYs it came from, by line and name in capitals."""

    code: str
    starts: tuple[int, ...]
    copies: frozenset[tuple[int, str]] = frozenset()


class _Fragment(NamedTuple):
    """How a text joins the code around it."""

    opens: bool
    """Whether it leaves a statement open."""


def spliced(made: Replaced, folded: str, find: Lookup | None) -> Spliced:
    """Return code with those texts inserted that its copybooks supply for the middle of a sentence.

    Args:
        made: The code of a source after REPLACE.
        folded: `fold(made.code)`.
        find: Returns the copybook of a name and library; None if copybooks are not available.
    """
    unchanged = Spliced(made.code, made.starts)
    if find is None or "COPY" not in folded:
        return unchanged
    code = made.code
    parts: list[str] = []
    copies: set[tuple[int, str]] = set()
    at = 0
    # A COPY within a literal is text; this is checked only once there is something to insert.
    literals: list[tuple[int, int]] | None = None
    for statement in _statements(folded):
        book = find(*named(code, statement))
        if book is None or book.has_unit or len(book.code) > MOST_CHARS:
            continue
        start, end = statement.span()
        line = bisect_right(made.starts, start)
        copying = (pairs_in(code, folded, *statement.span("pairs")),) if statement["pairs"] else ()
        text = _text(book.code, copying, in_effect(made.effects, line))
        found = _fragment(text, _BEFORE.search(folded[max(0, start - _FAR) : start]) is None)
        if found is None:
            continue
        if literals is None:
            literals = [one.span() for one in _LITERALS.finditer(folded)]
        if (around := bisect_right(literals, (start, end)) - 1) >= 0 and start < literals[around][1]:
            continue
        if (
            text.endswith(".")
            and _PERIOD.match(folded, end)
            and _PARAMETERS.search(folded[max(0, start - _FAR) : start])
        ):
            text = text[:-1]
        parts += (code[at:start], text, " ", code[start:end])
        period = _PERIOD.match(folded, end) if found.opens else None
        if period is not None:  # it ends the COPY, and not the sentence that is open
            parts += (code[end : period.end() - 1], " ")
        at = end if period is None else period.end()
        copies.add((line, key(named(code, statement)[0])))
    if not copies:
        return unchanged
    whole = "".join((*parts, code[at:]))
    starts = line_starts(whole)
    return Spliced(whole, starts, frozenset(copies)) if len(starts) == len(made.starts) else unchanged


def copied(book: ScannedSource, copying: Replacing, replacing: Replacing) -> ScannedSource:
    """Return a copybook as it is copied: its code replaced, line for line, and read again.

    Args:
        book: A copybook that was scanned.
        copying: The pairs of REPLACING: those of the COPY itself, then those of the COPYs around it, which apply to nested ones
            too. As in GnuCOBOL, the nearest ones are tried first at each word, and their result is not compared with the others.
        replacing: The pairs of REPLACE in effect at the COPY, which apply to the result of REPLACING.
    """
    return _reread(book, around_statements(around_statements(book.code, copying), replacing))


def joined(book: ScannedSource, joining: Joining) -> ScannedSource:
    """Return a copybook as JOINING makes it, read again."""
    return _reread(book, joined_code(book, joining))


def _reread(book: ScannedSource, code: str) -> ScannedSource:
    """Return a copybook with other code on the same lines; unchanged if the code does not keep them."""
    starts = line_starts(code)
    if code == book.code or len(starts) != len(book.starts):
        return book
    folded = fold(code)
    found = drafts(code, folded, areas=areas(book.switches, starts))
    programs, _, _ = assemble(found, CodeLines(code, starts), folded)
    return replace(book, code=code, starts=starts, programs=tuple(programs))


def _statements(folded: str) -> Iterator[re.Match[str]]:
    """Yield the COPY statements of some code; the search for the plain word is all that most code costs."""
    at = folded.find("COPY")
    while at >= 0:
        statement = _COPY.match(folded, at)
        if statement is not None and not statement["resource"] and not statement["dictionary"]:
            yield statement
        at = folded.find("COPY", at + 1 if statement is None else statement.end())


def _text(code: str, copying: Replacing, replacing: Replacing) -> str:
    """Return the text of a copybook on one line, as its COPY and REPLACE make it."""
    return rewritten(rewritten(code, copying), replacing).replace(BREAK, "").replace("\n", " ").strip()


@lru_cache(1 << 10)
def _fragment(text: str, is_within: bool) -> _Fragment | None:
    """Return how a text joins the code around it; None if it stands alone.

    It joins if it starts in the middle of a statement, continues or ends one that it does not begin, or leaves one open.
    """
    folded = fold(text)
    if not folded or _NOT_WITHIN.match(folded):
        return None
    begin = len(_AFTER) if is_within else 0
    folded = _AFTER[:begin] + folded
    reader = Procedure(folded, dialect(folded))
    if reader.read(0) < len(folded) or any(header.kind != "end" for header in reader.headers):
        return None
    rows = [row for row in reader.rows if row[0] and row[1] >= begin]
    open_: list[str] = []
    closes, sentence = False, -1
    for verb, start, _, number in rows:
        if number != sentence:
            open_, sentence = [], number
        if verb in {"IF", "EVALUATE", "SEARCH"} or start in reader.loops:
            open_.append(verb)
        elif (holders := _HOLDS.get(verb)) is not None:
            while open_ and open_[-1] not in holders:
                open_.pop()
            closes = closes or not open_
            if verb.startswith("END-"):
                del open_[-1:]
            elif not open_:
                open_.append(holders[0])
    periods = [at for _, kind, at in spelled_tokens(folded) if kind == "period"]
    is_one = not periods or periods == [len(folded) - 1]
    continues = is_within and is_one and (not rows or rows[0][1] > begin)
    opens = bool(open_) and not folded.endswith(".")
    return _Fragment(opens) if continues or closes or opens else None
