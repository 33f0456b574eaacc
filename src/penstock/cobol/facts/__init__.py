"""What is known of a program without a model? Data, files, operations, control, rules and errors, each with its lines.

One module answers each question; `facts` asks them in order. Values in, values out: copybooks are given, not looked for.
Law: any source that was scanned has facts, in time linear in it and its copybooks; what cannot be known is None, never guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ..program import key
from .values import Facts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..program import Program
    from ..source import ScannedSource
    from .code import Code
    from .expanding import EntryRow
    from .flow import Flow
    from .references import References
    from .shape import Shape
    from .values import ParagraphFacts, Transform, Undeclared

__all__ = ["Copybooks", "Facts", "call_diagram", "facts", "flow_diagram"]

Copybooks: TypeAlias = "Mapping[str, ScannedSource] | Callable[[str, str | None], ScannedSource | None]"
"""Copybooks by name in capitals, or a lookup by name and library."""


_CONFIGURATION = frozenset({"CONFIGURATION", "SOURCE-COMPUTER", "OBJECT-COMPUTER", "SPECIAL-NAMES", "REPOSITORY"})


def facts(source: ScannedSource, program: Program, *, copybooks: Copybooks | None = None) -> Facts:
    """Everything that `program`, one of those in `source`, says."""
    from . import calls, cics, failing, files, ims, interface, mq, rules, sql, wording
    from .code import Code
    from .expanding import expand
    from .flow import flow
    from .layout import layout
    from .naming import DataNames
    from .references import references
    from .resolving import Values
    from .shape import counts, shape, trees

    expanded = expand(source, program, _lookup(copybooks))
    code = Code(expanded.pieces)
    described = layout(expanded.rows)
    names = DataNames(described.items)
    records = files.record_names(expanded.rows, described.items)
    referred = references(code, names, records)
    items = referred.applied(described.items)
    names = DataNames(items)
    values = Values(code, names)
    called = calls.callings(code)
    commands = cics.operations(code, values)
    found = interface.InterfaceOperations(
        files=files.files(expanded.rows, items, records, code, values.of),
        sql=sql.operations(code),
        cics=commands,
        dli=ims.operations(code, names, values, called),
        mq=mq.operations(code, values, called),
    )
    nested = trees(code)
    shapes = [shape(nodes) for nodes in nested]
    graph = flow(code, expanded.pieces, nested, expanded.uses)
    checks = rules.Checks(code, names, found.files, commands, found.mq)
    decided = rules.rules(code, nested, names, checks, program.name)
    accesses = interface.crud(found)
    inputs, outputs = interface.channels(code, found, accesses, names)
    kind, reason = interface.type_of(program, code, found, names)
    kinds = source.kinds[program.start_line - 1 : program.end_line]
    return Facts(
        program=program.name,
        type=kind,
        type_reason=reason,
        lines=len(kinds),
        code_lines=sum(map(kinds.count, ("code", "directive", "debug"))),
        comment_lines=kinds.count("comment"),
        statements=sum(one.statements for one in shapes),
        complexity=1 + sum(one.decisions for one in shapes),
        depth=max((one.depth for one in shapes), default=0),
        items=items,
        constants=wording.constants(items, described.constants, names),
        messages=wording.messages(code, names),
        transforms=_transforms(code, referred),
        undeclared=_undeclared(referred, source, program, expanded.rows),
        files=found.files,
        sql=found.sql,
        cics=commands,
        dli=found.dli,
        mq=found.mq,
        crud=accesses,
        inputs=inputs,
        outputs=outputs,
        calls=calls.calls(code, called, commands, values),
        using=program.using,
        linkage=tuple(item.name for item in items if item.section == "LINKAGE" and item.level in {1, 77}),
        entry_points=program.entry_points,
        paragraphs=_paragraphs(program, graph, shapes),
        edges=graph.edges,
        outside=graph.outside,
        rules=decided,
        errors=failing.sites(code, nested, decided, commands, found.sql, called),
        copybooks=expanded.uses,
        verbs=tuple(counts(code).items()),
        notes=(*expanded.notes, *graph.notes),
    )


def flow_diagram(found: Facts) -> str:
    """The control flow of its paragraphs, as Mermaid text."""
    from .diagrams import flow_diagram as draw

    return draw(found)


def call_diagram(found: Facts) -> str:
    """What it calls and uses, as Mermaid text."""
    from .diagrams import call_diagram as draw

    return draw(found)


def _lookup(copybooks: Copybooks | None) -> Callable[[str, str | None], ScannedSource | None]:
    if copybooks is None:
        return lambda name, library: None  # noqa: ARG005
    if callable(copybooks):
        return copybooks
    known = {key(name): source for name, source in copybooks.items()}
    return lambda name, library: known.get(key(name))  # noqa: ARG005


def _paragraphs(program: Program, graph: Flow, shapes: list[Shape]) -> tuple[ParagraphFacts, ...]:
    from .flow import label
    from .values import ParagraphFacts

    found = []
    for at, paragraph in enumerate(program.paragraphs):
        following = graph.falls_into[at]
        dead = graph.dead.get(at)
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
                falls_into=label(program.paragraphs[following]) if following is not None else None,
                ends_range=at in graph.ends_range,
                dead=dead,
                doubts=(*doubts, "it holds no more than one statement") if dead and empty else doubts,
            )
        )
    return tuple(found)


def _transforms(code: Code, referred: References) -> tuple[Transform, ...]:
    from .code import text_of
    from .values import Transform

    found = []
    for said in code.own:
        operands = referred.operands.get(said.start)
        if operands is not None:
            targets, sources = operands
            found.append(
                Transform(
                    verb=said.verb,
                    targets=tuple(targets),
                    sources=tuple(sources),
                    text=text_of(said.words, 400),
                    line=said.line,
                    end_line=said.end_line,
                    paragraph=code.name(said.paragraph),
                )
            )
    return tuple(found)


def _undeclared(
    referred: References, source: ScannedSource, program: Program, rows: Iterable[EntryRow]
) -> tuple[Undeclared, ...]:
    from .values import Undeclared

    declared = _declared(source, program, rows) if referred.undefined else set()
    lines: dict[str, tuple[str, set[int]]] = {}
    for name, line in referred.undefined:
        if key(name) not in declared:
            lines.setdefault(key(name), (name, set()))[1].add(line)
    return tuple(Undeclared(name, tuple(sorted(at))) for name, at in lines.values())


def _declared(source: ScannedSource, program: Program, rows: Iterable[EntryRow]) -> set[str]:
    """Names that are declared and are no data of this program: paragraphs, constants, special names, data of what is around it."""
    from .layout import pieces

    found = {key(one.name) for one in program.paragraphs} | {key(one.name) for one in program.sections}
    for row in rows:
        if row.section in _CONFIGURATION:
            found.update(map(key, pieces(row.code)))
        elif row.entry.level is None or row.entry.level == 78:
            found.add(key(row.entry.name))
    outer, seen = program.parent, {program.name}
    around = {one.name: one for one in source.programs} if outer is not None else {}
    while outer is not None and outer in around and outer not in seen:
        seen.add(outer)
        found.update(key(entry.name) for entry in around[outer].entries)
        outer = around[outer].parent
    return found
