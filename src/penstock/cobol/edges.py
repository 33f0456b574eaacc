"""Which names do statements refer to: PERFORM, GO TO, CALL, COPY, and whatever else transfers control?

Leaves to others: what the names resolve to; a target may be in this program, in a copybook or nowhere (`facts.flow`).
Names are spelled as in the code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .joining import joining_in
from .lexing import COPIED, LITERAL, WORD, spelled
from .program import DESCRIBED, WHENEVER_PERFORM, CallStatement, Copy, Exec, GoTo, Perform, Statement, unquoted
from .reading import BREAK
from .replacing import pairs_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .program import CopyVia

_VIAS: dict[str, CopyVia] = {
    "COPY": "COPY",
    "-INC": "-INC",
    "++INCLUDE": "++INCLUDE",
    "IDMS": "COPY IDMS",
    "MAID": "COPY MAID",
}
_SEP = r"[\s,;]++"
_TARGET = (
    rf"({WORD})(?>\s++(?:OF|IN)\s++({WORD})|)(?>{_SEP}(?:THRU|THROUGH){_SEP}({WORD})(?>\s++(?:OF|IN)\s++({WORD})|)|)"
)
_PERFORM = re.compile(rf"PERFORM{_SEP}{_TARGET}")
# ACUCOBOL can run a paragraph or program in a thread of its own; in other dialects THREAD may be the name of one.
_NOT_BEHIND = r"(?!(?:OF|IN|THRU|THROUGH|UNTIL|VARYING|WITH|TEST|USING|GIVING|RETURNING|ON|NOT)(?![\w-]))"
_THREAD = rf"(?>(?:IN{_SEP})?THREAD{_SEP}){_NOT_BEHIND}"
_RUN = rf"(?:RUN|CLIENT){_SEP}{_NOT_BEHIND}"  # a run unit of its own, or one on the client's machine
_PERFORM_THREAD = re.compile(rf"PERFORM{_SEP}{_THREAD}(?!{WORD}{_SEP}TIMES(?![\w-])){_TARGET}")
# In screen programs: one of several paragraphs, chosen by a number.
_ONE_OF = re.compile(r"PERFORM\s++ONE\s++OF\s++(?P<names>(?>[^D]++|(?<=[\w-])D|D(?!EPENDING\s))*)DEPENDING\s")
_PROCEDURE = re.compile(rf"(?:INPUT|OUTPUT|PROCESSING){_SEP}PROCEDURE{_SEP}(?:IS{_SEP})?{_TARGET}")
# A call convention (`STDCALL`) may precede a literal; a prefix (Z, N, X) directly precedes its quote.
_CALL = re.compile(
    rf"CALL{_SEP}(?>STATIC{_SEP}|{_RUN}|{_THREAD}|)(?>{WORD}{_SEP}(?=['\"])|)(?:[ZNX](?=['\"]))?({LITERAL}|{WORD})"
)
_ENTRY = re.compile(rf"ENTRY(?:\s*+({LITERAL})|\s++({WORD}))")
# The lookbehind keeps the name from being tried from each of its letters: a name of a megabyte would take quadratic
# time.
_ALTER = re.compile(
    rf"(?<!{WORD[:-2]})({WORD})(?>\s++(?:OF|IN)\s++{WORD}|){_SEP}TO{_SEP}(?>PROCEED{_SEP}TO{_SEP}|)({WORD})(?>\s++(?:OF|IN)\s++({WORD})|)"
)
_WORDS = re.compile(WORD)
_HANDLE = re.compile(r"EXEC(?:UTE)?\s++CICS\s++HANDLE\s++(CONDITION|AID|ABEND)(?![\w-])")
_LABEL = re.compile(r"(?<![\w-])([\w-]++)\s*+\(\s*+([\w#@$-]++)\s*+\)")
_WHENEVER = re.compile(
    r"EXEC\s++SQL\s++WHENEVER\s++[\w\s]+?\s(?:GO\s*+TO|(DO\s++PERFORM|DO(?!\s++(?:PERFORM|CALL)\s)|PERFORM))\s++:?+([\w#@$-]++)"
)
_EXEC = re.compile(r"EXEC(?:UTE)?\s++(\w++)")
_INCLUDE = re.compile(r"EXEC\s++SQL\s++INCLUDE\s++('[^']*+'|[^\s.']++)\s++END-EXEC")


class Edges:
    """The names that the statements of one program refer to, by their effect on control."""

    def __init__(self, code: str, folded: str, loops: set[int]) -> None:
        self.performs: list[Perform] = []
        self.gotos: list[GoTo] = []
        self.calls: list[CallStatement] = []
        self.entry_points: list[tuple[str, int]] = []
        self._code = code
        self._folded = folded
        self._loops = loops
        self._readers: dict[str, Callable[[Statement], None]] = {
            "PERFORM": self._perform,
            "GO TO": self._goto,
            "CALL": self._call,
            "ENTRY": self._entry,
            "SORT": self._procedures,
            "MERGE": self._procedures,
            "XML PARSE": self._procedures,
            "ALTER": self._alter,
            "EXEC CICS": self._handle,
            "EXEC SQL": self._whenever,
        }

    def read(self, statements: list[Statement]) -> None:
        """Read all statements; those without names are skipped."""
        readers = self._readers
        for statement in statements:
            reader = readers.get(statement.verb)
            if reader:
                reader(statement)

    def _name(self, match: re.Match[str], group: int) -> str:
        """Return what a group matched, spelled as in the code, continuations joined."""
        return spelled(self._code, *match.span(group))

    def _to(self, match: re.Match[str], line: int, via: str) -> Perform:
        """Return the edge of a match of `_TARGET`: name, section, and the end of a range."""
        section = self._name(match, 2) if match[2] else None
        thru, of = (self._name(match, group) if match[group] else None for group in (3, 4))
        return Perform(line, self._name(match, 1), thru, section, via, of)

    def _perform(self, statement: Statement) -> None:
        """Record a PERFORM of paragraphs; an inline one (`loops`) names nothing."""
        if statement.start in self._loops:
            return
        chosen = _ONE_OF.match(self._folded, statement.start, statement.end)
        if chosen:
            names = [self._name(word, 0) for word in _WORDS.finditer(self._folded, *chosen.span("names"))]
            self.performs += [Perform(statement.line, name) for name in names]
            return
        for pattern, via in ((_PERFORM_THREAD, "PERFORM THREAD"), (_PERFORM, "PERFORM")):
            perform = pattern.match(self._folded, statement.start, statement.end)
            if perform:
                self.performs.append(self._to(perform, statement.line, via))
                return

    def _procedures(self, statement: Statement) -> None:
        """Record the INPUT, OUTPUT and PROCESSING PROCEDUREs of SORT, MERGE and XML PARSE."""
        for procedure in _PROCEDURE.finditer(self._folded, statement.start, statement.end):
            self.performs.append(self._to(procedure, statement.line, statement.verb.split()[0]))

    def _goto(self, statement: Statement) -> None:
        """Record a GO TO: its targets with their sections, and the item that it depends on."""
        targets: list[str] = []
        sections: list[str | None] = []
        depending = None
        # Targets are read as words rather than by one expression: their number is unbounded, and OF, IN and commas
        # come between them.
        words = _WORDS.finditer(self._folded, statement.start + 2, statement.end)
        for word in words:
            if word[0] == "DEPENDING":
                named = [word for word in words if word[0] != "ON"]
                depending = self._name(named[0], 0) if named else None
            elif word[0] in {"OF", "IN"}:
                section = next(words, None)
                if section is not None and sections:
                    sections[-1] = self._name(section, 0)
            elif word[0] != "TO":
                targets.append(self._name(word, 0))
                sections.append(None)
        qualified = tuple(sections) if any(sections) else ()
        self.gotos.append(GoTo(statement.line, tuple(targets), depending, sections=qualified))

    def _alter(self, statement: Statement) -> None:
        """Record an ALTER: each second name is a possible new target of a GO TO."""
        for pair in _ALTER.finditer(self._folded, statement.start + len("ALTER"), statement.end):
            sections = (self._name(pair, 3),) if pair[3] else ()
            target, altered = self._name(pair, 2), self._name(pair, 1)
            self.gotos.append(GoTo(statement.line, (target,), via="ALTER", sections=sections, altered=altered))

    def _call(self, statement: Statement) -> None:
        """Record a CALL by its first operand."""
        call = _CALL.match(self._folded, statement.start, statement.end)
        if call:
            # The breaks of a continued literal are removed here, so that a name across two cards is one.
            name = self._name(call, 1)
            static = name[0] in "'\""
            self.calls.append(
                CallStatement(statement.line, unquoted(name) if static else name, "static" if static else "dynamic")
            )

    def _entry(self, statement: Statement) -> None:
        """Record an ENTRY by its literal, or by the name of a constant."""
        entry = _ENTRY.match(self._folded, statement.start, statement.end)
        if entry:
            self.entry_points.append((unquoted(self._name(entry, 1 if entry[1] else 2)), statement.line))

    def _handle(self, statement: Statement) -> None:
        """Record the labels of HANDLE CONDITION, HANDLE AID and HANDLE ABEND; HANDLE ABEND PROGRAM names no paragraph."""
        handle = _HANDLE.match(self._folded, statement.start, statement.end)
        if handle:
            for label in _LABEL.finditer(self._folded, handle.end(), statement.end):
                if handle[1] != "ABEND" or label[1] == "LABEL":
                    self.gotos.append(GoTo(statement.line, (self._name(label, 2),), via=f"HANDLE {handle[1]}"))

    def _whenever(self, statement: Statement) -> None:
        """Record the paragraph that a WHENEVER jumps to or performs; its colon is optional."""
        whenever = _WHENEVER.match(self._folded, statement.start, statement.end)
        if whenever and whenever[1]:
            self.performs.append(Perform(statement.line, self._name(whenever, 2), via=WHENEVER_PERFORM))
        elif whenever:
            self.gotos.append(GoTo(statement.line, (self._name(whenever, 2),), via="WHENEVER"))


def blocks(
    code: str, folded: str, spans: list[tuple[int, int]], line_at: Callable[[int], int]
) -> Iterator[Exec | Copy]:
    """Yield each EXEC block and COPY statement as a value; an EXEC SQL INCLUDE is both a block and a copy.

    Args:
        code: The code, for spelling.
        folded: `fold(code)`, for searching.
        spans: The blocks, as (start, end) offsets in order.
        line_at: The line of an offset.
    """
    for start, end in spans:
        line, end_line = line_at(start), line_at(end - 1)
        copied = COPIED.match(folded, start, end)
        block = _EXEC.match(folded, start, end)
        if copied and copied["resource"]:
            continue
        if copied:
            at = copied.start("pairs")
            replacing = pairs_in(code, folded, at, copied.end("pairs")) if at >= 0 else ()
            library = copied["library"]
            name, of = (spelled(code, *copied.span(group)) for group in ("name", "library"))
            via = _VIAS[copied["dictionary"] or copied["via"]]
            named = (unquoted(name), unquoted(of) if library else None)
            if library and DESCRIBED.fullmatch(name):
                # `COPY DDS-ALL-FORMATS OF FILE`: what is copied is the file, and the first word says what of it.
                named = (named[1] or "", named[0])
            yield Copy(line, end_line, *named, replacing, via, joining_in(copied))
        elif block:
            yield Exec(line, end_line, block[1], " ".join(code[start:end].replace(BREAK, "").split()))
            include = _INCLUDE.match(folded, start, end)
            if include:
                yield Copy(line, end_line, unquoted(code[slice(*include.span(1))]), via="INCLUDE")
