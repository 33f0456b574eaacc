"""In what order are the facts of a program collected, each with what the earlier ones found?

Everything that collects facts is imported here and nowhere on the way, because an import statement inside a function takes as long
as reading a statement of COBOL, and sixty of them ran for each program.
Law: values in, values out; the order of the steps is the only thing decided here. Leaves to others: every single fact.
"""

from __future__ import annotations

import re
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ..lexing import LITERAL
from ..program import key
from ..reserved import CONFIGURATION, INTRINSIC
from . import calls, cics, failing, files, idms, image, ims, interface, mq, objects, rules, sql, wording
from .apart import apart
from .arguments import parameters
from .around import declared_around, outer_data, programs_around
from .code import Code, clipped, text_of, walk
from .commands import commands
from .comparing import comparisons
from .control import ParagraphFacts
from .data import Transform, Undeclared
from .dynamic_sql import DynamicSql
from .events import events
from .expanding import expand
from .file_names import FileNames
from .flow import flow
from .interface import InterfaceOperations
from .item_clauses import pieces
from .layout import layout
from .naming import DataNames
from .reaching import Reaching
from .references import TRANSFORMS, references
from .resolving import Values, literal
from .resources import Resolved
from .shape import copied_statements, shape, trees
from .stating import stated_lengths
from .translated import generator
from .unreached import unreached
from .values import Facts, UnknownStatement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..program import Program, Statement
    from ..source import Lookup, ScannedSource
    from .calls import WrittenCall
    from .data import DataItem, OuterData
    from .expanding import EntryRow
    from .flow import Flow
    from .layout import ShownItem
    from .references import References
    from .shape import Complexity

_LITERAL = re.compile(LITERAL)


def collected(
    source: ScannedSource,
    program: Program,
    find: Lookup,
    *,
    tells_apart: bool,
) -> Facts:
    """Return the facts of a program.

    Args:
        source: The scanned file.
        program: One of the programs in it.
        find: Returns the copybook of a name and a library; None if there is none.
        tells_apart: Whether to collect what only the analysis of field growth needs.
    """
    expanded = expand(source, program, find)
    outer = outer_data(source, program, find, expanded)
    code = Code(expanded.pieces)
    data = _data(code, expanded.rows, outer)
    constants = {key(name): value for name, value, _, _ in data.constants}
    literals = _literals(data)
    values = Values(code, data.names, literals)
    # CALLs are read once: DL/I, MQ and operating system commands are called as well.
    called = calls.callings(code)
    nested = trees(code)  # shared by everything that needs nested statements
    reaching = Reaching(code, nested, expanded.pieces, data.names, data.referred, values, data.filled, literals)
    file_names = FileNames(code, data.names, values, reaching, literals)  # for ASSIGN, CICS and system commands
    found = _operations(code, data, values, reaching, file_names, expanded.rows, called)
    walks = [list(walk(nodes)) for nodes in nested]  # once for shapes, rules and errors
    shapes = [shape(nodes) for nodes in walks]
    # What stands behind a copied paragraph in the lines of one of the program is of the copied one.
    own_shapes = [
        shape(one for one in nodes if not one[0].said.header) if nodes and nodes[-1][0].said.header else whole
        for nodes, whole in zip(walks, shapes, strict=True)
    ]
    graph = flow(code, expanded.pieces, nested, expanded.uses, events(expanded.rows, code))
    found = found._replace(files=files.run_alone(found.files, unreached(code, expanded.pieces, graph.run_over)))
    checks = rules.Checks(code, data.names, found.files, found.cics, found.mq)
    decided = rules.rules(code, walks, data.names, checks, program.name)
    accesses = interface.crud(found)
    inputs, outputs = interface.channels(code, found, accesses, data.names)
    unread = _unread(source, program, code)
    kind, reason = interface.type_of(program, code, found, data.names)
    classes = objects.class_names(source, program, expanded.rows)
    reached = calls.calls(code, called, found.cics, reaching, literals, calls.functions(expanded.rows), classes)
    # Lines are counted in the file, not in the expanded program: those of a copybook count in its own file.
    kinds = source.kinds[program.start_line - 1 : program.end_line]
    return Facts(
        program=program.called,
        type=kind,
        type_reason=reason,
        lines=len(kinds),
        code_lines=sum(map(kinds.count, ("code", "directive", "debug"))),
        comment_lines=kinds.count("comment"),
        statements=sum(one.statements for one in shapes),
        copied_statements=copied_statements(code),
        complexity=1 + sum(one.decisions for one in shapes),
        depth=max((one.depth for one in shapes), default=0),
        items=data.items,
        outer=outer,
        outer_files=files.outer_files(code, data.names, outer, data.outer_records),
        around=tuple(one.name for one in programs_around(source, program)),
        is_common=program.is_common,
        has_external_name=program.has_external_name,
        constants=wording.constants(
            data.items, data.constants, data.names, found.files, rules.SQL_REGISTERS if found.sql else ()
        ),
        messages=wording.messages(code, data.names),
        transforms=_transforms(code, data.referred),
        undeclared=_undeclared(data, source, program, expanded.rows),
        files=found.files,
        commands=tuple(commands(called, file_names)),
        sql=found.sql,
        cics=found.cics,
        dli=found.dli,
        mq=found.mq,
        network=found.network,
        crud=accesses,
        inputs=inputs,
        outputs=outputs,
        calls=tuple(sorted([*reached, *calls.calls_of_a_shop(unread, data.names)], key=attrgetter("line"))),
        inherits=classes.inherits if classes is not None and program.kind == "class" else (),
        using=program.using,
        linkage=tuple(item.name for item in data.items if item.section == "LINKAGE" and item.level in {1, 77}),
        entry_points=tuple(
            (literals[key(name)].value if key(name) in literals else name, line) for name, line in program.entry_points
        ),
        entry_parameters=_entry_parameters(code),
        paragraphs=_paragraphs(program, graph, own_shapes),
        edges=graph.edges,
        outside=graph.outside,
        rules=decided,
        errors=failing.sites(code, walks, decided, found.cics, found.sql, called),
        copybooks=expanded.uses,
        unread=unread,
        notes=(*generator(source, program), *expanded.notes, *files.selected_again(expanded.rows), *graph.notes),
        uses=data.referred.moving.uses(),
        moves=data.referred.moving.moves(),
        parts=data.referred.moving.parts(),
        apart=apart(data.referred.moving.flows, reaching) if tells_apart else (),
        comparisons=comparisons(code, data.names, constants) if tells_apart else (),
        lengths=stated_lengths(code, data.names, constants) if tells_apart else (),
    )


class _Data(NamedTuple):
    """The data of a program, and the statements that read and write it."""

    items: tuple[DataItem, ...]
    constants: tuple[tuple[str, str, int, str | None], ...]
    names: DataNames
    records: dict[str, list[int]]
    """The records of each file, as indexes of items."""
    outer_records: dict[str, list[int]]
    filled: dict[str, list[int]]
    """The records that a READ of each file fills, including those of containing programs."""
    referred: References


def _data(code: Code, rows: tuple[EntryRow, ...], outer: tuple[OuterData, ...]) -> _Data:
    """Return the items that the entries declare, each with the lines that use it; names include those of containing programs."""
    described = layout(rows)
    records = files.record_names(rows, described.items)
    # Names are built twice: first from bare items, to find the references, then from the items with their lines, for
    # everything after that.
    names = DataNames(described.items, outer)
    if any("_" in piece.source.code for piece in code.pieces) or any("_" in name for name in names.known):
        names.take_alike(_words(code, rows, described.shown))
    around = files.outer_records(names, outer, records)
    filled = files.filled(around, records)
    referred = references(
        code,
        names,
        filled,
        shown=described.shown,
        lengths=files.lengths(rows),
        formats=files.formats(rows),
        answers=files.answers(rows),
        functions=calls.functions(rows),
    )
    items = referred.applied(names.items)
    return _Data(items[: names.own], described.constants, names.naming(items), records, around, filled, referred)


def _words(code: Code, rows: Iterable[EntryRow], shown: Iterable[ShownItem]) -> Iterator[str]:
    """Yield the words of statements, SELECTs and screens that may be names of data, in capitals; not those of EXEC blocks, where
    columns of tables differ from host variables in - and _ alone.
    """
    for said in code.said:
        if not said.verb.startswith("EXEC "):
            yield from said.keys
    for row in rows:
        if row.entry.word == "SELECT":
            yield from row.code.upper().replace(",", " ").rstrip(". ").split()
    for one in shown:
        yield from map(key, one.names)


def _literals(data: _Data) -> dict[str, Resolved]:
    """Return the text of each level 78 that has one, by its name in capitals."""
    return {
        key(name): Resolved(said, "VALUE", line, copybook)
        for name, value, line, copybook in data.constants
        if _LITERAL.fullmatch(value) and (said := literal(value)) is not None
    }


def _operations(
    code: Code,
    data: _Data,
    values: Values,
    reaching: Reaching,
    file_names: FileNames,
    rows: tuple[EntryRow, ...],
    called: tuple[WrittenCall, ...],
) -> InterfaceOperations:
    """Return what the program does with files, databases, terminals and queues."""
    # All CALLs by name are followed together, in one pass through the program.
    targets = (call.target for call in called if call.target[:1] not in "'\"")
    reaching.follow((*targets, *(call.parameters[1] for call in image.asked(called))))
    found = files.files(rows, data.items, data.records, data.names.known, code, file_names.of)
    return InterfaceOperations(
        files=found,
        sql=sql.operations(code, DynamicSql(code, data.names, reaching)),
        cics=cics.operations(code, reaching, file_names),
        dli=ims.operations(code, data.names, values, reaching, called),
        mq=mq.operations(code, values, reaching, called),
        network=(*idms.operations(code, [file.name for file in found]), *image.operations(code, reaching, called)),
    )


def _entry_parameters(code: Code) -> tuple[tuple[str, ...], ...]:
    """Return the parameters of each entry point: those of its ENTRY, or else those of the PROCEDURE DIVISION."""
    said = {one.line: one for one in code.of("ENTRY") if one.copybook is None}
    using = code.program.using
    return tuple(parameters(said[line]) if line in said else using for _, line in code.program.entry_points)


def _paragraphs(program: Program, graph: Flow, shapes: list[Complexity]) -> tuple[ParagraphFacts, ...]:
    """Return the facts of each paragraph, in order, from the flow graph and the shapes."""
    found = []
    for at, paragraph in enumerate(program.paragraphs):
        dead = graph.dead.get(at)
        # An EXIT paragraph that no PERFORM names is not a finding: it is the target of a GO TO that may have been removed.
        empty = shapes[at].statements <= 1 and shapes[at].decisions == 0
        doubts = graph.doubts if dead else ()
        found.append(
            ParagraphFacts(
                key=at,
                name=paragraph.name,
                section=paragraph.section,
                line=paragraph.line,
                start_line=paragraph.start_line,
                end_line=paragraph.end_line,
                statements=shapes[at].statements,
                complexity=1 + shapes[at].decisions,
                depth=shapes[at].depth,
                calls=tuple(graph.calls[at]),
                called_by=tuple(graph.called_by[at]),
                jumps=tuple(graph.jumps[at]),
                falls_into=graph.falls_into[at],
                ends_range=at in graph.ends_range,
                dead=dead,
                doubts=(*doubts, "it holds no more than one statement") if dead and empty else doubts,
            )
        )
    return tuple(found)


def _transforms(code: Code, referred: References) -> tuple[Transform, ...]:
    """Return the calculations and compositions of the program itself, with what each writes and reads."""
    found = []
    for said in code.of(*TRANSFORMS):
        operands = referred.operands.get(said.start) if said.copybook is None else None
        if operands is not None:
            targets, sources = operands
            found.append(
                Transform(
                    verb=said.verb,
                    targets=tuple(targets),
                    sources=tuple(sources),
                    text=said.text(400),
                    line=said.line,
                    end_line=said.end_line,
                    paragraph=code.name(said.paragraph, said.header),
                )
            )
    return tuple(found)


def _unread(source: ScannedSource, program: Program, code: Code) -> tuple[UnknownStatement, ...]:
    """Return the parts of the program itself that are not known statements."""

    def text(part: Statement) -> str:
        words = source.words(part.start, part.end)
        return clipped(text_of([word.text for word in words], [word.kind for word in words]), 400).strip(" .")

    return tuple(
        UnknownStatement(
            text=text(part),
            line=part.line,
            end_line=part.end_line,
            paragraph=code.name(code.paragraph(part.line), code.pieces[0].header_at(part.line)),
        )
        for part in program.unread
    )


def _undeclared(
    data: _Data, source: ScannedSource, program: Program, rows: Iterable[EntryRow]
) -> tuple[Undeclared, ...]:
    """Return the names that are used as data but declared neither by the program nor by one that contains it."""
    referred = data.referred
    if not referred.undefined:
        return ()

    declared = _declared(program, rows) | {key(name) for name, *_ in data.constants}
    around = declared_around(source, program)
    lines: dict[str, tuple[str, set[int]]] = {}
    for name, line in referred.undefined:
        if key(name) not in declared and not any(key(name) in names for names in around):
            lines.setdefault(key(name), (name, set()))[1].add(line)
    return tuple(Undeclared(name, tuple(sorted(at))) for name, at in lines.values())


def _declared(program: Program, rows: Iterable[EntryRow]) -> set[str]:
    """Return the declared names that are not data of this program, in capitals.

    They are paragraphs, sections, constants, file names, and mnemonic names of the CONFIGURATION SECTION.
    """
    found = {key(one.name) for one in program.paragraphs} | {key(one.name) for one in program.sections}
    for row in rows:
        if row.section in CONFIGURATION:
            words = {key(word) for word in pieces(row.code)}
            found |= words
            if "INTRINSIC" in words:
                found |= INTRINSIC
        elif row.entry.level is None or row.entry.level == 78:
            found.add(key(row.entry.name))
    return found
