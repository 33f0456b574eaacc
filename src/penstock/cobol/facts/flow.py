"""How does control flow between paragraphs: edges, fall-through, and code that is never reached?

Leaves to others: conditions; both branches may be taken. A PERFORM returns at the end of its range; a jump does not return.

Law: code called dead is reached by no PERFORM, jump, fall-through, entry or declarative in the source; whatever could still
reach it is reported as a doubt, and if the paths are too many to follow, nothing is called dead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..program import Warned, hyphened, key
from .control import ControlEdge, Outside
from .leaving import open_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..program import Paragraph, Program
    from .code import Code, Node
    from .events import EventProcedure
    from .expanding import CodePiece
    from .leaving import Ends
    from .values import CopybookUse

MAIN = "(main)"
"""The label of code that is in no section and before any paragraph header."""

EVENT = "EVENT"
"""The `via` of an edge to a paragraph that a screen control names."""

# A state is a pair of a paragraph and the end of a range: a thousand paragraphs with overlapping ranges could have a million
# states. The search stops after this many per paragraph.
_STATES_PER_PARAGRAPH = 60
_WIDE = 200  # a range of more paragraphs is represented by its ends


class Flow(NamedTuple):
    """The control flow of a program: its edges, and for every paragraph, indexed by key, what it calls, jumps to and falls into."""

    edges: tuple[ControlEdge, ...]
    outside: tuple[Outside, ...]
    calls: list[dict[str, None]]
    """The names that each paragraph performs, as an ordered set."""
    jumps: list[dict[str, None]]
    """The names that each paragraph jumps to."""
    called_by: list[dict[str, None]]
    """The labels of the callers of each paragraph; the caller of a range counts for each paragraph in it."""
    falls_into: list[str | None]
    """The label of the paragraph that control falls through to from each one, which may be a copied one; None if it cannot."""
    ends_range: set[int]
    """The keys of the paragraphs at which a THRU ends."""
    dead: dict[int, str]
    """Why control never reaches a paragraph, by its key."""
    doubts: tuple[str, ...]
    """Why dead code might be reached after all."""
    notes: tuple[Warned, ...]
    run_over: set[int]
    """The keys of the paragraphs past whose end control may run, rather than return there."""


def label(paragraph: Paragraph) -> str:
    """Return the label of a paragraph: its name, that of its section, or `MAIN`."""
    return paragraph.name or paragraph.section or MAIN


def is_jump(via: str) -> bool:
    """Return whether an edge of this kind transfers control without returning."""
    return via in {"GO TO", "ALTER", "WHENEVER"} or via.startswith("HANDLE")


def flow(
    code: Code,
    pieces: Sequence[CodePiece],
    nodes: Sequence[Sequence[Node]],
    copybooks: Sequence[CopybookUse],
    events: Sequence[EventProcedure] = (),
) -> Flow:
    """Return the graph of a program.

    Args:
        code: The statements of the program.
        pieces: The program and its procedure copybooks; paragraphs that a copybook performs are alive.
        nodes: The statements of each paragraph as trees, indexed by its key.
        copybooks: The copybooks used; copied code that was not found is a doubt.
        events: The procedures that the controls of its screens run.
    """
    program = code.program
    places = Places(program)
    drawing = _Drawing(code, places, pieces, events)
    edges = tuple(sorted(drawing.edges, key=lambda edge: edge.line))
    ends = open_ends(code, nodes, edges)
    falls = [_next(program, at) if ends.opens(at) else None for at in range(len(program.paragraphs))]
    calls, jumps, called_by = _led(edges, program.paragraphs)
    found = drawing.found()
    missing = _missing(program, copybooks)
    # What a copybook names may be anywhere, and what is named may be in a copybook that was not found.
    is_whole = program.kind != "copybook" and not missing
    nowhere = [one for one in found if one.copybook is None and one.vias[0] != EVENT] if is_whole else []
    doubts = _doubts(code, missing, nowhere)
    into = _entered(code, pieces, falls, ends.own)
    # A copybook has no beginning: other files perform its paragraphs, so none of them can be called dead.
    if program.kind == "copybook":
        return Flow(edges, found, calls, jumps, called_by, into, drawing.range_ends, {}, doubts, (), set())
    reached = _reached(code, drawing, edges, ends, ())
    # What is performed is not said to run over its end because of code that is not here.
    if entered := [at for at in _behind_missing(code, copybooks, ends) if at not in reached.live]:
        reached = _reached(code, drawing, edges, ends, entered)
    live, run_over, complete = reached
    notes = [Warned(one.lines[0], f"{one.vias[0]} {one.name}: nothing has this name") for one in nowhere]
    if complete:
        dead = _dead(program, edges, falls, live)
        for at in _unwritten(code, copybooks):
            dead.pop(at, None)
        # Only from paragraphs whose end control passes, not from those that are only performed.
        into = [following if at in run_over else None for at, following in enumerate(into)]
    else:
        dead, run_over = {}, set(range(len(program.paragraphs)))
        said = "the ways through this program are too many to follow: no code is called dead"
        notes.append(Warned(program.start_line, said))
    return Flow(edges, found, calls, jumps, called_by, into, drawing.range_ends, dead, doubts, tuple(notes), run_over)


def _led(
    edges: Sequence[ControlEdge], paragraphs: Sequence[Paragraph]
) -> tuple[list[dict[str, None]], list[dict[str, None]], list[dict[str, None]]]:
    """Return the names that each paragraph calls and jumps to, and those of its callers."""
    calls: list[dict[str, None]] = [{} for _ in paragraphs]
    jumps: list[dict[str, None]] = [{} for _ in paragraphs]
    called_by: list[dict[str, None]] = [{} for _ in paragraphs]
    for edge in edges:
        if edge.via in {"USE", EVENT}:
            continue  # the system runs declaratives and event procedures: no paragraph calls them, least of all their own
        source = label(paragraphs[edge.source]) if edge.source >= 0 else edge.copybook or ""
        jumping = is_jump(edge.via)
        if edge.source >= 0 and not (edge.copybook or edge.header):
            (jumps if jumping else calls)[edge.source].setdefault(edge.name)
        if edge.target is not None and not jumping:
            for at in _span(edge):
                called_by[at].setdefault(edge.copybook or edge.header or source)
    return calls, jumps, called_by


def _entered(
    code: Code, pieces: Sequence[CodePiece], falls: Sequence[int | None], own: Sequence[bool]
) -> list[str | None]:
    """Return the label of what follows each paragraph whose end control may reach: that of the first paragraph of a COPY in its
    lines, or of the next one.
    """
    paragraphs = code.program.paragraphs
    found = [label(paragraphs[at]) if at is not None else None for at in falls]
    for one in reversed(pieces[0].headed):
        if (at := code.paragraph(one.end_line)) >= 0:
            found[at] = one.first if own[at] else None
    return found


class Places:
    """The paragraphs that names of paragraphs and sections mean; a section is the span from its first to its last paragraph."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._first: dict[str, int] = {}  # the first paragraph of a name,
        self._within: dict[tuple[str, str], int] = {}  # and the first in a section
        self._hyphened: dict[str, str] = {}  # the names with - for _, once a name is not found
        for at, paragraph in enumerate(program.paragraphs):
            if paragraph.name:
                self._first.setdefault(key(paragraph.name), at)
                self._within.setdefault((key(paragraph.name), key(paragraph.section or "")), at)
        self.sections: dict[str, tuple[int, int] | None] = {}
        paragraphs = program.paragraphs
        at = 0
        for section in program.sections:
            # Both lists are in order of lines, so one pass through the paragraphs serves all sections.
            while at < len(paragraphs) and paragraphs[at].start_line < section.start_line:
                at += 1
            last = at
            while last < len(paragraphs) and paragraphs[last].start_line <= section.end_line:
                last += 1
            self.sections.setdefault(key(section.name), (at, last - 1) if last > at else None)
            at = last

    def knows(self, name: str) -> bool:
        """Return whether there is a paragraph or section of that name."""
        return key(name) in self._first or key(name) in self.sections or self._alike(name) is not None

    def find(self, name: str, section: str | None, source: int) -> tuple[int, int] | None:
        """Return the keys of the first and last paragraph that a name means; None if it means none.

        An unqualified name means the paragraph in the enclosing section, as the standard says, or else the first paragraph of
        that name anywhere, or else a section.

        Args:
            name: The name as written.
            section: The section that qualifies it; None if none does.
            source: The key of the paragraph that contains the name; -1 for none.
        """
        home = section
        if section is None and source >= 0:
            home = self._program.paragraphs[source].section
        # A paragraph of the enclosing section hides one of the same name elsewhere.
        at = self._within.get((key(name), key(home or "")))
        if at is None and section is None:
            at = self._first.get(key(name))
        if at is not None:
            return at, at
        if key(name) in self.sections:
            return self.sections[key(name)]
        other = self._alike(name)
        return self.find(other, section, source) if other else None

    def _alike(self, name: str) -> str | None:
        """Return the name that differs from one in - and _ alone, which to ACUCOBOL are one character; None if there is none."""
        if not self._hyphened:
            self._hyphened = {hyphened(known): known for known in (*self.sections, *self._first)}
        other = self._hyphened.get(hyphened(key(name)))
        return other if other != key(name) else None


class _Leading(NamedTuple):
    """A statement that leads control to another paragraph."""

    via: str
    """The kind of transfer."""
    line: int
    """Its line, or that of the COPY that includes it."""
    copybook: str | None
    """The copybook that contains it; None if the program does."""
    header: str
    """The enclosing paragraph in that copybook."""
    source: int
    """The key of the paragraph that control leaves; -1 for none."""


class _Drawing:
    """The edges of a program, and the targets outside of it."""

    def __init__(
        self, code: Code, places: Places, pieces: Sequence[CodePiece], events: Sequence[EventProcedure]
    ) -> None:
        self.edges: list[ControlEdge] = []
        self.range_ends: set[int] = set()
        self.run_out: list[tuple[int, int | None]] = []
        """The paragraphs of the program from whose copied ones control may run out, which did not fall into them: each with the end
        of the range that is performed."""
        self._code = code
        self._places = places
        self._outside: dict[tuple[str, str], list[tuple[int, str, str, str | None]]] = {}
        self._spelling: dict[str, str] = {}
        # By name, and by name and section: the copybook that contains it, the paragraph that runs first, and the one of the program
        # in whose lines its COPY is.
        self._elsewhere: dict[tuple[str, str], tuple[str, str, int]] = {}
        self._last_sections: set[str] = set()  # of copied code, in which paragraphs of the program follow
        for piece in pieces:
            if piece.copybook is not None:
                firsts: dict[str, str] = {}  # the paragraph of each section that runs first
                around = code.paragraph(piece.line)
                for paragraph in piece.program.paragraphs:
                    called = piece.copied_name(paragraph)
                    firsts.setdefault(paragraph.section or "", called)
                    for within in {"", key(paragraph.section or "")}:
                        self._elsewhere.setdefault((key(paragraph.name), within), (piece.copybook, called, around))
                self._last_sections.update(key(section.name) for section in piece.program.sections[-1:])
                for section in piece.program.sections:
                    first = firsts.get(section.name) or section.name
                    self._elsewhere.setdefault((key(section.name), ""), (piece.copybook, first, around))
        for piece in pieces:
            self._draw(piece)
        for event in events:
            by = _Leading(EVENT, event.line, event.copybook, "", code.paragraph(event.line))
            self._edge((event.name, None), (event.thru, None), by)

    def found(self) -> tuple[Outside, ...]:
        """Return the targets that are not in this file, each with the copybook that contains it, if one does."""
        found = []
        for (name, within), places in self._outside.items():
            lines, headers, vias, sources = zip(*places, strict=True)
            copybook, first, _ = self._elsewhere.get((name, within), (None, self._spelling[name], -1))
            found.append(Outside(self._spelling[name], lines, copybook, headers, first, vias, sources))
        return tuple(found)

    def _draw(self, piece: CodePiece) -> None:
        """Add the PERFORMs and jumps of one piece; those of a copybook have the line of its COPY."""
        for perform in piece.program.performs:
            first = self._qualified(piece, perform.line, (perform.target, perform.section))
            end = perform.thru, perform.thru_section or perform.section
            self._edge(first, end, self._leading(piece, perform.line, perform.via))
        for jump in piece.program.gotos:
            by = self._leading(piece, jump.line, jump.via)
            # Control leaves from the paragraph whose GO TO is altered, not from the one that alters it.
            if jump.altered and (altered := self._places.find(jump.altered, None, by.source)) is not None:
                by = by._replace(source=altered[0])
            for target in jump.places():
                self._edge(self._qualified(piece, jump.line, target), (None, None), by)

    def _leading(self, piece: CodePiece, line: int, via: str) -> _Leading:
        """Return the statement on a line of a piece that leads control elsewhere."""
        cited = piece.line if piece.copybook else line
        return _Leading(via, cited, piece.copybook, piece.header_at(line), self._code.paragraph(cited))

    def _qualified(self, piece: CodePiece, line: int, named: tuple[str, str | None]) -> tuple[str, str | None]:
        """Return a name with its section: in copied code, the enclosing section takes precedence over others."""
        name, section = named
        here = piece.program.paragraph_at(line) if piece.copybook and section is None else None
        is_own = here is not None and here.section and (key(name), key(here.section)) in self._elsewhere
        return (name, here.section) if here is not None and is_own else named

    def _edge(self, first: tuple[str, str | None], end: tuple[str | None, str | None], by: _Leading) -> None:
        """Add one edge; a target in copied code is outside of this file.

        Args:
            first: The target, and the section that qualifies it.
            end: The end of a range, with its section; None if there is none.
            by: The statement.
        """
        (name, section), (thru, thru_section) = first, end
        via, line, copybook, header, source = by
        found = self._places.find(name, section, source)
        last = self._places.find(thru, thru_section, source) if thru else found
        end_around = -1
        if thru and last is None:  # a range that ends in copied code: through the paragraph that holds it
            _, _, end_around = self._elsewhere.get((key(thru), ""), ("", "", -1))
            last = (end_around, end_around) if end_around >= 0 else None
        within = key(section or "") if (key(name), key(section or "")) in self._elsewhere else ""
        if found is None and (within or not self._places.knows(name)):
            self._spelling.setdefault(key(name), name)
            self._outside.setdefault((key(name), within), []).append((line, header, via, copybook))
        if found is None:
            self._run_out((name, within), via, last if end_around < 0 else None, source if copybook or header else -1)
        until = last[1] if last is not None and found is not None else None
        if thru and until is not None and end_around < 0:
            self.range_ends.add(until)
        if found is not None or copybook is None:
            ranged = found is not None and until is not None and until != found[0]
            target, last_target = found[0] if found else None, until if ranged else None
            self.edges.append(ControlEdge(source, target, name, via, line, last_target, copybook, header))

    def _run_out(self, named: tuple[str, str], via: str, last: tuple[int, int] | None, region: int) -> None:
        """Record that control may run out of the copied code that it is led into.

        Args:
            named: The target, and its section in capitals.
            via: The kind of transfer.
            last: The paragraphs at the end of a range, if they are in the program.
            region: The paragraph whose copied code the statement is in; -1 if it is in none.
        """
        name, within = named
        _, _, around = self._elsewhere.get((key(name), within), ("", "", -1))
        if around < 0:
            return
        if is_jump(via):
            # A jump within copied code stays within the range that is performed there.
            self.run_out += [(around, None)] if region != around else []
        elif last is not None:
            self.run_out.append((around, last[1]))
        elif key(name) in self._last_sections:
            paragraphs = self._code.program.paragraphs
            until = around
            while until + 1 < len(paragraphs) and paragraphs[until + 1].section == paragraphs[around].section:
                until += 1
            self.run_out += [(around, until)] if until > around else []


def _span(edge: ControlEdge) -> Sequence[int]:
    """Return the keys of the paragraphs that an edge runs.

    A range of more than `_WIDE` is represented by its ends: a thousand PERFORMs of a thousand paragraphs each would make
    a million callers.
    """
    first = edge.target or 0
    last = first if edge.thru is None else edge.thru
    if last < first or last - first > _WIDE:
        return (first, last)
    return range(first, last + 1)


def _next(program: Program, at: int) -> int | None:
    """Return the key of the next paragraph; None after the last one, and after a section of the declaratives, which returns
    to what it was run for.
    """
    following = at + 1
    if following >= len(program.paragraphs):
        return None
    this, behind = program.paragraphs[at], program.paragraphs[following]
    if this.declarative != behind.declarative or (this.declarative and this.section != behind.section):
        return None
    return following


def _missing(program: Program, copybooks: Sequence[CopybookUse]) -> list[str]:
    """Return the copybooks that were not found and may hold paragraphs; none for a copybook."""
    if program.kind == "copybook":
        return []
    used = (use for use in copybooks if not use.found and use.division in {"PROCEDURE", ""})
    return list(dict.fromkeys(use.name for use in used if not use.system or use.via == "COPY IDMS"))


def _doubts(code: Code, missing: Sequence[str], nowhere: Sequence[Outside]) -> tuple[str, ...]:
    """Return the reasons why dead code may be alive: ALTER, copied code that was not found, and names that mean no paragraph."""
    found = []
    if code.of("ALTER"):
        found.append("ALTER changes where a GO TO leads")
    if missing:
        found.append(f"copied code that was not found may perform it: {_listed(missing)}")
    if nowhere:
        named = [f"{one.name} (line {one.lines[0]})" for one in nowhere]
        found.append(f"nothing has a name that control is to go to: {_listed(named)}")
    return tuple(found)


def _listed(names: Sequence[str]) -> str:
    """Return the first five names, and how many more there are."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


class _Transfers(NamedTuple):
    """The transfers of control by paragraph, and the states in which it may begin: a paragraph, and the end of its range."""

    performs: list[list[tuple[int, int]]]
    jumps: list[list[int]]
    roots: list[tuple[int, int | None]]


def _transfers(code: Code, edges: Sequence[ControlEdge]) -> _Transfers:
    """Return the transfers of control that the edges are."""
    count = len(code.program.paragraphs)
    found = _Transfers([[] for _ in range(count)], [[] for _ in range(count)], [])
    for edge in edges:
        if edge.target is None:
            continue
        end = edge.target if edge.thru is None else edge.thru
        jumping = is_jump(edge.via)
        # Copied code may run at any time, and code outside of paragraphs is assumed to run, too.
        if edge.copybook is not None or edge.header or edge.source < 0:
            found.roots.append((edge.target, None if jumping else end))
        elif jumping:
            found.jumps[edge.source].append(edge.target)
        else:
            found.performs[edge.source].append((edge.target, end))
    found.roots.extend(_roots(code))
    return found


class _Reached(NamedTuple):
    """The paragraphs that control may reach."""

    live: set[int]
    run_over: set[int]
    """Those past whose end it may run at all."""
    is_complete: bool
    """Whether all paths were followed."""


def _unwritten(code: Code, copybooks: Sequence[CopybookUse]) -> set[int]:
    """Return the sections that hold nothing before a COPY that was not found: the paragraphs that are performed are in there."""
    lines = {use.line for use in copybooks if not use.found and use.division == "PROCEDURE" and use.copybook is None}
    written: dict[int, int] = {}  # the line of the first statement
    for said in code.said:
        if said.verb != "COPY":
            written[said.paragraph] = min(said.line, written.get(said.paragraph, said.line))
    held = ((code.paragraph(line), line) for line in lines)
    paragraphs = code.program.paragraphs
    return {at for at, line in held if at >= 0 and not paragraphs[at].name and line <= written.get(at, line)}


def _behind_missing(code: Code, copybooks: Sequence[CopybookUse], ends: Ends) -> list[int]:
    """Return the paragraphs behind a COPY that was not found and that no control reaches, as in `GOBACK. COPY X. NEXT-ONE.`.

    Nobody copies code that is never run, so it has a way in of its own, an ENTRY or a paragraph, and may run into the next one.
    """
    lines = [use.line for use in copybooks if not use.found and use.division == "PROCEDURE" and use.copybook is None]
    if not lines:
        return []
    last: dict[int, int] = {}
    for said in code.said:
        if said.verb != "COPY":
            last[said.paragraph] = max(said.line, last.get(said.paragraph, 0))
    held = {code.paragraph(line): line for line in lines}
    behind = (
        _next(code.program, at)
        for at, line in held.items()
        if at >= 0 and line > last.get(at, line) and not ends.own[at]
    )
    return [at for at in behind if at is not None]


def _reached(
    code: Code, drawing: _Drawing, edges: Sequence[ControlEdge], ends: Ends, entered: Sequence[int]
) -> _Reached:
    """Return the paragraphs that control may reach, from those that are `entered` in ways that are not here, too.

    A state is a paragraph and the end of the range being performed, at which control returns.
    """
    # The paragraph alone is not enough. In `PERFORM A THRU B` control falls from A into B and then returns; if the same B is
    # reached by falling through from the start, control continues into C. So the search is over pairs (paragraph, end of
    # range), with None for the main line, where nothing returns:
    #
    # - A PERFORM in a live paragraph starts the state (target, its own end). This is done once per paragraph, not once per
    #   state, because it does not depend on the range around it.
    # - A jump leads to (target, the same end): a GO TO out of a range does not end the PERFORM; if control ever reaches the
    #   end of the range, it returns.
    # - Falling through keeps the end, too, unless this paragraph is that end; EXIT SECTION falls through from the end of the
    #   section.
    #
    # Copied paragraphs have no state. Control falls through those of a COPY like through the paragraph that holds it, whose own end
    # is before them; what else may run out of them, into the next paragraph of the program, begins there.
    #
    # The paragraph that a THRU names counts as live even if every path leaves before it: `X-EXIT` is the target of a GO TO
    # that may have been removed, and is not a finding.
    program = code.program
    performs, jumps, stack = _transfers(code, edges)
    behind = ((_next(program, at), last) for at, last in drawing.run_out if ends.behind[at])
    stack += [(at, last) for at, last in behind if at is not None]
    stack += [(at, None) for at in entered]
    seen: set[tuple[int, int | None]] = set()
    live: set[int] = set()
    run_over: set[int] = set()
    limit = _STATES_PER_PARAGRAPH * len(program.paragraphs) + 1_000
    while stack and len(seen) <= limit:
        state = stack.pop()
        if state in seen:
            continue
        seen.add(state)
        at, last = state
        if at not in live:
            live.add(at)
            stack += performs[at]
            stack += [(end, end) for _, end in performs[at] if end in drawing.range_ends]
        stack += [(target, last) for target in jumps[at]]
        if at in ends.skips and ends.skips[at] != last and (skipped := _next(program, ends.skips[at])) is not None:
            stack.append((skipped, last))
        if at != last and ends.own[at]:
            run_over.add(at)
            if ends.opens(at) and (following := _next(program, at)) is not None:
                stack.append((following, last))
    return _Reached(live, run_over, not stack)


def _roots(code: Code) -> list[tuple[int, int | None]]:
    """Return the states in which control may begin: the first paragraph, ENTRY statements, sections of the declaratives,
    IDMS-ABORT.
    """
    program = code.program
    first = next((at for at, paragraph in enumerate(program.paragraphs) if not paragraph.declarative), None)
    found: list[tuple[int, int | None]] = [] if first is None else [(first, None)]
    found += [(at, None) for _, line in program.entry_points if (at := code.paragraph(line)) >= 0]
    # The code that COPY IDMS IDMS-STATUS includes performs the IDMS-ABORT of the program, and is in no source.
    if any(copy.via == "COPY IDMS" for copy in program.copies):
        aborts = [at for at, one in enumerate(program.paragraphs) if key(one.section or one.name) == "IDMS-ABORT"]
        found += [(at, aborts[-1]) for at in aborts[:1]]
    before: Paragraph | None = None
    for at, paragraph in enumerate(program.paragraphs):
        # In front of the first section there is only a COPY, of sections that the system runs.
        if paragraph.declarative and (before is None or paragraph.section != before.section):
            found.append((at, None))
        before = paragraph if paragraph.declarative else None
    return found


def _dead(
    program: Program, edges: Sequence[ControlEdge], falls: Sequence[int | None], live: set[int]
) -> dict[int, str]:
    """Return why each paragraph that is not live is dead: nothing leads to it, or only dead code does, whose names are given."""
    paragraphs = program.paragraphs
    unreached = {at for at in range(len(paragraphs)) if at not in live}
    by: dict[int, dict[str, None]] = {at: {} for at in unreached}
    for edge in edges:
        # A live PERFORM of a range need not reach all of it, because control may leave earlier; so only dead sources count.
        if edge.target is not None and edge.source in unreached:
            for at in (edge.target,) if is_jump(edge.via) else _span(edge):
                if at in by and edge.source != at:
                    by[at].setdefault(label(paragraphs[edge.source]))
    for at, following in enumerate(falls):
        if following in by and at in unreached:
            by[following].setdefault(label(paragraphs[at]))
    found = {}
    for at in sorted(unreached):
        names = list(by[at])
        if not names:
            found[at] = "no PERFORM, GO TO or fall-through reaches it"
        else:
            found[at] = f"only code that is never reached leads to it: {_listed(names)}"
    return found
