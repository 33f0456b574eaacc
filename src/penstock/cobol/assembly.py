"""Which lines are the parts of a program on? Offsets become lines, and parts are put together.

Keeps out reading: what comes in was read. What ends in front of a header ends on the line before it, unless both are
on one line.

Law: the outermost programs partition the lines; divisions, sections, paragraphs and statements stand in order and nest.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from .edges import Edges, blocks
from .lexing import spelled
from .program import Copy, DeclarationEntry, Division, Exec, Paragraph, Perform, Program, Section, Statement, Warned

if TYPE_CHECKING:
    from .procedure import Header, Procedure
    from .structure import Draft


class CodeLines:
    """The lines of code, by offset."""

    def __init__(self, code: str, starts: tuple[int, ...]) -> None:
        self.code = code
        self.starts = starts
        ends = (*starts[1:], len(code))[: len(starts)]
        # of each line's code
        self._begins = [end - len(code[start:end].lstrip()) for start, end in zip(starts, ends, strict=True)]
        last = 0
        coded = map(int.__lt__, self._begins, ends)
        self._last = [0, *((last := number) if has else last for number, has in enumerate(coded, start=1))]

    def __len__(self) -> int:
        return len(self.starts)

    def at(self, offset: int) -> int:
        """The line that an offset is on."""
        return bisect_right(self.starts, offset)

    def before(self, offset: int) -> int:
        """The last line of what ends at an offset, comments and blank lines included."""
        line = bisect_right(self.starts, offset)
        return line if self._begins[line - 1] < offset else line - 1

    def last_code(self, offset: int) -> int:
        """The last line with code in front of an offset."""
        return self._last[self.before(offset)]

    def spans(self, starts: list[int], ends: list[int]) -> list[tuple[int, int]]:
        """The first and last lines of many parts at once."""
        lines, begins, last = self.starts, self._begins, self._last
        after = [bisect_right(lines, end) for end in ends]
        return [
            (bisect_right(lines, start), last[line if begins[line - 1] < end else line - 1])
            for start, end, line in zip(starts, ends, after, strict=True)
        ]


def assemble(drafts: list[Draft], lines: CodeLines, folded: str) -> tuple[list[Program], set[int], list[Warned]]:
    """The programs, the lines that cannot be parted from the line before, and what was odd."""
    joined: set[int] = set()
    warnings: list[Warned] = []
    programs: list[Program] = []
    end_line = 0
    outermost = [draft for draft in drafts if draft.parent is None]
    for draft in drafts:
        start_line = lines.at(draft.start)
        if draft.parent is None:
            start_line = min(end_line + 1, start_line)
            end_line = len(lines) if draft is outermost[-1] else max(lines.last_code(draft.end), start_line)
            last = end_line
        else:
            last = max(lines.last_code(draft.end), start_line)
        program = _program(draft, lines, folded, start_line, last)
        programs.append(program)
        for start, end in draft.blocks + (draft.procedure.blocks if draft.procedure else []):
            joined.update(range(lines.at(start) + 1, lines.at(end - 1) + 1))
        unclosed = [statement.line for statement in program.statements if statement.verb == "EXEC"]
        unclosed += [entry.line for entry in program.entries if entry.word == "EXEC"]
        warnings += [Warned(line, "EXEC without END-EXEC") for line in unclosed]
    return programs, joined, warnings


def _program(draft: Draft, lines: CodeLines, folded: str, start_line: int, end_line: int) -> Program:
    edges = Edges(lines.code, folded, draft.procedure.loops if draft.procedure else set())
    sections: list[Section] = []
    paragraphs: list[Paragraph] = []
    statements: list[Statement] = []
    spans = draft.blocks
    if draft.procedure is not None:
        statements = _statements(draft.procedure, lines)
        sections, paragraphs = _Units(draft.procedure, lines, statements, end_line).units()
        edges.read(statements)
        spans = sorted(spans + draft.procedure.blocks)
    found = list(blocks(lines.code, folded, spans, lines.at))
    uses = [
        Perform(statement.line, paragraph.section or paragraph.name, via="USE")
        for paragraph in paragraphs
        if paragraph.declarative
        for statement in statements[paragraph.first : paragraph.last]
        if statement.verb == "USE"
    ]
    return Program(
        name=draft.name,
        kind=draft.kind,
        start_line=start_line,
        end_line=end_line,
        parent=draft.parent.name if draft.parent else None,
        using=draft.using,
        divisions=tuple(
            Division(name, lines.at(start), _clamp(lines.before(end), lines.at(start), end_line))
            for name, start, end in draft.divisions
        ),
        entries=tuple(_entries(draft, lines)),
        sections=tuple(sections),
        paragraphs=tuple(paragraphs),
        statements=tuple(statements),
        performs=tuple(sorted(edges.performs + uses, key=lambda perform: perform.line)),
        gotos=tuple(edges.gotos),
        calls=tuple(edges.calls),
        entry_points=tuple(edges.entry_points),
        copies=tuple(part for part in found if isinstance(part, Copy)),
        execs=tuple(part for part in found if isinstance(part, Exec)),
    )


def _clamp(line: int, low: int, high: int) -> int:
    return max(low, min(line, high))


def _statements(procedure: Procedure, lines: CodeLines) -> list[Statement]:
    rows = [(*row, after[1]) for row, after in pairwise(procedure.rows) if row[0]]
    spans = lines.spans([row[1] for row in rows], [row[4] for row in rows])
    return [
        Statement(verb, line, end_line, depth, sentence, start, end)
        for (verb, start, depth, sentence, end), (line, end_line) in zip(rows, spans, strict=True)
    ]


def _entries(draft: Draft, lines: CodeLines) -> list[DeclarationEntry]:
    spans = lines.spans([entry[4] for entry in draft.entries], [entry[5] for entry in draft.entries])
    return [
        DeclarationEntry(word, name, level, section, line, end_line, start, end)
        for (word, name, level, section, start, end), (line, end_line) in zip(draft.entries, spans, strict=True)
    ]


class _Units:
    """Sections and paragraphs from the headers between the statements."""

    def __init__(self, procedure: Procedure, lines: CodeLines, statements: list[Statement], end_line: int) -> None:
        self._headers = procedure.headers
        self._lines = lines
        self._statements = statements
        self._end_line = end_line
        self._section: str | None = None
        self._declarative = False

    def units(self) -> tuple[list[Section], list[Paragraph]]:
        sections: list[Section] = []
        paragraphs: list[Paragraph] = []
        headers = self._headers
        ends = [0] * len(headers)  # of the section that begins there
        end = headers[-1].start
        for index in range(len(headers) - 1, -1, -1):
            ends[index] = end
            if headers[index].kind != "paragraph":
                end = headers[index].start
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
        return _clamp(self._lines.before(end), line, self._end_line)

    def _name(self, header: Header) -> str:
        return spelled(self._lines.code, header.start, header.end)
