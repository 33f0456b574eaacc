"""Which lines do the parts of a program have, given their offsets?

A part that ends before a header ends on the line before it, unless both are on one line; so comments before a header belong to
the part above. Leaves to others: reading the code (`structure`, `procedure`).

Law: the outermost programs partition the lines; divisions, sections, paragraphs and statements are in order and nest (C-2).
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, count, pairwise
from typing import TYPE_CHECKING

from .edges import Edges, blocks
from .lexing import spelled
from .program import Copy, DeclarationEntry, Division, Exec, Paragraph, Perform, Program, Section, Statement, Warned

if TYPE_CHECKING:
    from .procedure import Header, Procedure
    from .structure import Draft


_MOST_WARNINGS = 20
"""The maximum number of unknown statements in a program that are warned of one by one; the rest are counted."""
_MOST_SHOWN = 60


class CodeLines:
    """The lines of the code, by offset.

    Three questions about an offset are answered, from tables made once: which line it is on, which line ends before it
    (comments included), and which line before it has code.
    """

    def __init__(self, code: str, starts: tuple[int, ...]) -> None:
        self.code = code
        self.starts = starts
        ends = (*starts[1:], len(code))[: len(starts)]
        # Where the code of each line begins, after its blanks; the end of a line that has none.
        self._begins = [end - len(code[start:end].lstrip()) for start, end in zip(starts, ends, strict=True)]
        # The last line with code up to each line, after a 0, so that the index is the line number.
        coded = map(int.__lt__, self._begins, ends)
        self._last = [0, *accumulate(map(int.__mul__, coded, count(1)), max)]

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, offset: int) -> int:
        """Return the line that an offset is on."""
        return bisect_right(self.starts, offset)

    def before(self, offset: int) -> int:
        """Return the last line of what ends at an offset, including comments and blank lines.

        That is the offset's own line if there is code on it before the offset, as in `A. ADD 1 TO B. C. EXIT.`,
        otherwise the line before.
        """
        line = bisect_right(self.starts, offset)
        return line if self._begins[line - 1] < offset else line - 1

    def last_code(self, offset: int) -> int:
        """Return the last line with code before an offset."""
        return self._last[self.before(offset)]

    def spans(self, starts: list[int], ends: list[int]) -> list[tuple[int, int]]:
        """Return the first and the last line with code of many parts at once.

        Args:
            starts: The offset at which each part begins.
            ends: The offset after each part.
        """
        # The same as `at` and `last_code`, but without a call for each of a million statements.
        lines, begins, last = self.starts, self._begins, self._last
        after = [bisect_right(lines, end) for end in ends]
        return [
            (bisect_right(lines, start), last[line if begins[line - 1] < end else line - 1])
            for start, end, line in zip(starts, ends, after, strict=True)
        ]


def assemble(drafts: list[Draft], lines: CodeLines, folded: str) -> tuple[list[Program], set[int], list[Warned]]:
    """Return the programs, the lines that cannot be separated from the line before, and warnings.

    Args:
        drafts: What `structure` found, in order, by offset.
        lines: The lines of the same code.
        folded: `fold(code)`.
    """
    joined: set[int] = set()
    warnings: list[Warned] = []
    programs: list[Program] = []
    end_line = 0
    outermost = [draft for draft in drafts if draft.parent is None]
    for draft in drafts:
        # Nested programs have the lines of their own code; only outermost ones are extended to tile the file.
        start_line = lines.at(draft.start)
        if draft.parent is None:
            # An outermost program begins where the one before ended, so that the comments and options before it belong
            # to it; the last one extends to the end.
            start_line = min(end_line + 1, start_line)
            end_line = len(lines) if draft is outermost[-1] else max(lines.last_code(draft.end), start_line)
            last = end_line
        else:
            last = max(lines.last_code(draft.end), start_line)
        program = _program(draft, lines, folded, start_line, last)
        programs.append(program)
        for start, end in draft.blocks + (draft.procedure.blocks if draft.procedure else []):
            joined.update(range(lines.at(start) + 1, lines.at(end - 1) + 1))
        # The reader takes an EXEC without END-EXEC for a plain verb or entry, by which it is recognized here.
        unclosed = [statement.line for statement in program.statements if statement.verb == "EXEC"]
        unclosed += [entry.line for entry in program.entries if entry.word == "EXEC"]
        warnings += [Warned(line, "EXEC without END-EXEC") for line in unclosed]
        warnings += _doubts(draft, program, lines)
    return programs, joined, warnings


def _doubts(draft: Draft, program: Program, lines: CodeLines) -> list[Warned]:
    """Return warnings about the PROCEDURE DIVISION: what was not understood, what is missing, or that nothing was found.

    A program without any statement is nearly always one that was not understood, so it is never silently accepted.
    """
    unread = [
        Warned(
            part.line,
            f"not a known statement: {' '.join(lines.code[part.start : part.end].split())[:_MOST_SHOWN]}",
        )
        for part in program.unread[:_MOST_WARNINGS]
    ]
    if len(program.unread) > _MOST_WARNINGS:
        more = program.unread[_MOST_WARNINGS]
        unread.append(Warned(more.line, f"{len(program.unread) - _MOST_WARNINGS} more that are not known statements"))
    return unread + _unended(draft, lines) + _crowded(program) + _headless(draft, program, lines)


def _crowded(program: Program) -> list[Warned]:
    """Return warnings where a paragraph ends on the line of the next one: what a statement does is known by its line alone."""
    found = [
        Warned(
            other.line,
            f"{other.name} begins where {one.name} ends: what this line does is shown as done by {other.name}",
        )
        for one, other in pairwise(program.paragraphs)
        if one.first < one.last and program.statements[one.last - 1].line == other.line and one.name and other.name
    ]
    return found[:_MOST_WARNINGS]


def _unended(draft: Draft, lines: CodeLines) -> list[Warned]:
    """Return a warning for each header that lacks a period before it."""
    found = draft.procedure.assumed if draft.procedure is not None else ()
    named = [(header, spelled(lines.code, header.start, header.end)) for header in found]
    return [
        Warned(lines.at(header.start), f"a period is assumed before the {header.kind} {name}", name)
        for header, name in named
    ]


def _headless(draft: Draft, program: Program, lines: CodeLines) -> list[Warned]:
    """Return a warning if the PROCEDURE DIVISION has no header, or no statement."""
    if draft.assumed >= 0:
        said = "there are statements in the DATA DIVISION: the header of the PROCEDURE DIVISION is missing or comes from COPY"
        return [Warned(lines.at(draft.assumed), said)]
    if program.statements or program.kind not in {"program", "function"} or not draft.identified:
        return []
    if draft.bringing is not None:
        start, name = draft.bringing
        return [
            Warned(lines.at(start), f"the PROCEDURE DIVISION comes from COPY {name}: its statements are cited here")
        ]
    named = ", ".join(dict.fromkeys(copy.name for copy in program.copies[-3:]))
    copied = f"; it copies {named}" if named else ""
    return [Warned(program.start_line, f"program {program.name or '(unnamed)'} has no statement{copied}")]


def _program(draft: Draft, lines: CodeLines, folded: str, start_line: int, end_line: int) -> Program:
    """Return one program with all its parts, by line."""
    edges = Edges(lines.code, folded, draft.procedure.loops if draft.procedure else set())
    sections: list[Section] = []
    paragraphs: list[Paragraph] = []
    statements: list[Statement] = []
    unread: list[tuple[int, int]] = []
    spans = draft.blocks
    if draft.procedure is not None:
        unread = draft.procedure.unread()
        statements = _statements(draft.procedure, lines, [start for start, _ in unread])
        sections, paragraphs = _Units(draft.procedure, lines, statements, end_line).units()
        edges.read(statements)
        spans = sorted(spans + draft.procedure.blocks)
    found = list(blocks(lines.code, folded, spans, lines.at))
    # The system runs a declarative section whenever what its USE names occurs: it performs itself.
    uses = [
        Perform(statement.line, paragraph.section or paragraph.name, via="USE")
        for paragraph in paragraphs
        if paragraph.declarative
        for statement in statements[paragraph.first : paragraph.last]
        if statement.verb == "USE"
    ]
    external = [(draft.external[0], lines.at(draft.external[1]))] if draft.external is not None else []
    return Program(
        name=draft.name,
        kind=draft.kind,
        start_line=start_line,
        end_line=end_line,
        parent=draft.parent.name if draft.parent else draft.of or None,
        is_common=draft.parent is not None and _is_common(draft, folded),
        has_external_name=draft.external is not None,
        using=draft.using,
        returning=draft.returning,
        divisions=tuple(
            Division(name, lines.at(start), _clamp(lines.before(end), lines.at(start), end_line))
            for name, start, end in draft.divisions
        ),
        entries=tuple(_entries(draft, lines)),
        sections=tuple(sections),
        paragraphs=tuple(paragraphs),
        statements=tuple(statements),
        unread=tuple(_unread(unread, lines)),
        performs=tuple(sorted(edges.performs + uses, key=lambda perform: perform.line)),
        gotos=tuple(edges.gotos),
        calls=tuple(edges.calls),
        entry_points=(*external, *edges.entry_points),
        copies=tuple(part for part in found if isinstance(part, Copy)),
        execs=tuple(part for part in found if isinstance(part, Exec)),
    )


def _is_common(draft: Draft, folded: str) -> bool:
    """Return whether PROGRAM-ID says COMMON."""
    start, end = next(((entry[4], entry[5]) for entry in draft.entries if entry[0] == "PROGRAM-ID"), (0, 0))
    return "COMMON" in folded[start:end].replace(".", " ").split()[2:]


def _clamp(line: int, low: int, high: int) -> int:
    """Return a line, or the nearer of the two bounds if it is outside of them."""
    return max(low, min(line, high))


def _statements(procedure: Procedure, lines: CodeLines, unread: list[int]) -> list[Statement]:
    """Return the statements of a PROCEDURE DIVISION; each ends where the next row or what is not understood begins.

    Args:
        procedure: What was read; headers are among its rows.
        lines: The lines of the code.
        unread: The offsets at which code begins that is not understood, in order.
    """
    # The last row is the header "end", so that every statement has a row after it.
    unread = [*unread, len(lines.code)]
    rows = [
        (*row, min(after[1], unread[bisect_right(unread, row[1])])) for row, after in pairwise(procedure.rows) if row[0]
    ]
    spans = lines.spans([row[1] for row in rows], [row[4] for row in rows])
    return [
        Statement(verb, line, end_line, depth, sentence, start, end)
        for (verb, start, depth, sentence, end), (line, end_line) in zip(rows, spans, strict=True)
    ]


def _unread(found: list[tuple[int, int]], lines: CodeLines) -> list[Statement]:
    """Return what is not a known statement, each with its first word as the verb."""
    spans = lines.spans([start for start, _ in found], [end for _, end in found])
    return [
        Statement(lines.code[start:end].split(None, 1)[0].upper(), line, end_line, 0, -1, start, end)
        for (start, end), (line, end_line) in zip(found, spans, strict=True)
    ]


def _entries(draft: Draft, lines: CodeLines) -> list[DeclarationEntry]:
    """Return the entries of all divisions except the PROCEDURE DIVISION."""
    spans = lines.spans([entry[4] for entry in draft.entries], [entry[5] for entry in draft.entries])
    return [
        DeclarationEntry(word, name, level, section, line, end_line, start, end)
        for (word, name, level, section, start, end), (line, end_line) in zip(draft.entries, spans, strict=True)
    ]


class _Units:
    """The sections and paragraphs of a program, made from the headers between its statements."""

    def __init__(self, procedure: Procedure, lines: CodeLines, statements: list[Statement], end_line: int) -> None:
        self._headers = procedure.headers
        self._lines = lines
        self._statements = statements
        self._end_line = end_line
        self._section: str | None = None
        self._declarative = False

    def units(self) -> tuple[list[Section], list[Paragraph]]:
        """Return the sections and paragraphs in order.

        The statements of a header are those between its row and the next header's. Headers are in `rows` but not in
        `statements`: subtracting a header's number from its row therefore gives the index of its first statement.
        """
        sections: list[Section] = []
        paragraphs: list[Paragraph] = []
        headers = self._headers
        # A section ends where the next section or the declaratives begin or end; reading backwards finds that in one
        # pass.
        ends = [0] * len(headers)  # by header, the end of the section that begins there
        end = headers[-1].start
        for index in range(len(headers) - 1, -1, -1):
            ends[index] = end
            if headers[index].kind != "paragraph":
                end = headers[index].start
        # Code before the first header is a paragraph without a name, and performs and calls like any other.
        first = 0
        if headers[0].row:
            paragraphs.append(self._unnamed(0, headers[0].row, headers[0].start))
        for index, (header, after) in enumerate(pairwise(headers)):
            first, last = header.row - index, after.row - index - 1
            line = self._lines.at(header.start)
            if header.kind == "paragraph":
                paragraphs.append(
                    Paragraph(
                        name=self._name(header),
                        section=self._section,
                        line=line,
                        start_line=line,
                        end_line=self._until(after.start, line),
                        first=first,
                        last=last,
                        declarative=self._declarative,
                    )
                )
                continue
            # A section leaves the declarative state unchanged; END DECLARATIVES ends it.
            self._declarative = header.kind == "declaratives" or (header.kind == "section" and self._declarative)
            self._section = self._name(header) if header.kind == "section" else None
            if self._section is not None:
                sections.append(
                    Section(
                        name=self._section,
                        line=line,
                        start_line=line,
                        end_line=self._until(ends[index], line),
                        segment=header.segment,
                        declarative=self._declarative,
                    )
                )
            if last > first:
                paragraphs.append(self._unnamed(first, last, after.start))
        return sections, paragraphs

    def _unnamed(self, first: int, last: int, end: int) -> Paragraph:
        """Return the paragraph of code without a header: at the beginning, or directly after a section header."""
        line = self._statements[first].line
        return Paragraph(
            name="",
            section=self._section,
            line=line,
            start_line=line,
            end_line=self._until(end, line),
            first=first,
            last=last,
            declarative=self._declarative,
        )

    def _until(self, end: int, line: int) -> int:
        """Return the last line of what ends at an offset and begins on a line."""
        return _clamp(self._lines.before(end), line, self._end_line)

    def _name(self, header: Header) -> str:
        """Return the name of a header, spelled as in the code."""
        return spelled(self._lines.code, header.start, header.end)
