"""What does a document say before a model is asked? The facts of a program as a template, every record with its lines.

`SECTIONS` declares the sections of a document and the fields that tell two of its records apart; a model's claims come under the
same keys, so that `merge` adds words to facts. Law: every citation is on a line of code, and its evidence is that line. Leaves to
others: words (`prompts`), and what a document looks like (`documents`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from penstock.chunk.template import Citation, Template, TemplateRecord, folded
from penstock.cobol.program import in_library
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from penstock.chunk.template import Plain
    from penstock.cobol.facts.control import BranchRule, ErrorSite, ProgramCall
    from penstock.cobol.facts.data import DataItem, Transform
    from penstock.cobol.facts.resources import (
        Channel,
        CicsOperation,
        DliOperation,
        MqOperation,
        NetworkOperation,
        ProgramFile,
        Resolved,
        SqlOperation,
    )
    from penstock.cobol.facts.values import CopybookUse, Facts
    from penstock.cobol.program import Program

    _Operation = Transform | ErrorSite | SqlOperation | CicsOperation | DliOperation | NetworkOperation | MqOperation

# Chunks and a model's words are merged by the fields that tell two records apart. A line is among them if one statement may be
# written twice; a name alone is enough for things that exist once, however often they appear.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "purpose": (),
    "inputs": ("name", "io_type"),
    "outputs": ("name", "io_type"),
    "called_programs": ("program_name", "call_type", "parameters"),
    "business_rules": ("rule_id",),
    "reads_from": ("name", "kind"),
    "writes_to": ("name", "kind"),
    "transforms": ("line", "text"),
    "copybooks_used": ("copybook_name", "library"),
    "paragraphs": ("program", "section", "paragraph_name", "start_line"),
    "error_handling": ("kind", "condition", "line"),
    "sql_operations": ("line", "text"),
    "cics_operations": ("line", "command", "resource"),
    "dli_operations": ("line", "function"),
    "mq_operations": ("line", "call"),
    "idms_operations": ("line", "text"),
    "files": ("name",),
    "crud": ("resource", "kind"),
    # Only its number: a line of free format, or what a screen puts on its last line, may have many items of one name.
    "data_items": ("number",),
    "constants": ("name", "line"),
    "messages": ("text", "target", "line"),
    "call_semantics": ("callee", "line"),
    "open_questions": ("question",),
}
EVIDENCE_CHARS = 200
"""The most characters of a line that a citation shows: enough to find it by, however long a line of free format is."""
_MAIN = "(main)"
"""The name of the code before the first paragraph header."""

NAME_IS_DATA = "the name is data, and nothing here says it"
"""The `resolved_from` of a call whose `program_name` is the item that holds the name."""


class SourceLines(Protocol):
    """What a source says about its lines."""

    @property
    def lines(self) -> int:
        """Return how many lines there are."""
        ...

    def shown(self, line: int, /) -> str:
        """Return a line as a prompt shows it: columns that are not code are blank."""
        ...

    def is_code(self, line: int, /) -> bool:
        """Return whether a line is code: neither blank nor a comment."""
        ...


def cite(source: SourceLines, first_line: int, last_line: int | None = None) -> tuple[Citation, ...]:
    """Return the citation of some lines, from the first to the last of them that is code; none if no line is.

    Comments and blanks at the ends are left out, because a comment proves nothing about what the program does (C-7).
    """
    last = min(first_line if last_line is None else last_line, source.lines)
    first = max(1, first_line)
    while first <= last and not source.is_code(first):
        first += 1
    if first > last:
        return ()
    while last > first and not source.is_code(last):
        last -= 1
    return (Citation(first, last, evidence_of(source, first)),)


def evidence_of(source: SourceLines, line: int) -> str:
    """Return the text of a line as a citation shows it: blanks folded, and cut to `EVIDENCE_CHARS`."""
    return text_of(source, line)[:EVIDENCE_CHARS]


def text_of(source: SourceLines, line: int) -> str:
    """Return a line as it is compared: inert, as a prompt shows it, with blanks folded."""
    return " ".join(escape.show_text(source.shown(line)).split())


def paragraph_name(name: str) -> str:
    """Return the name of a paragraph in a document; the code before the first one has a name too."""
    return name or _MAIN


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """One program of a file: its extent, and what is known of it; `paths` are where copybooks were found, by name."""

    program: Program
    facts: Facts
    source: SourceLines
    paths: Mapping[str, str] | None = None

    @cached_property
    def template(self) -> Template:
        """Return what is known, filled in on first use: it takes more time than all the rest."""
        return filled(self.facts, self.source, paths=self.paths)


def filled(facts: Facts, source: SourceLines, *, paths: Mapping[str, str] | None = None) -> Template:
    """Return everything that the code says about a program, section by section.

    Args:
        facts: What the analysis of the program found.
        source: The lines that citations are taken from.
        paths: Where copybooks were found, by name.
    """
    fill = _Filling(facts, source, {name.upper(): path for name, path in (paths or {}).items()})
    return Template.of({name: (key, getattr(fill, f"_{name}", tuple)()) for name, key in SECTIONS.items()})


class _Filling:
    """One method for each section that the code can fill; `purpose`, `call_semantics` and `open_questions` it cannot."""

    def __init__(self, facts: Facts, source: SourceLines, paths: Mapping[str, str]) -> None:
        self._facts, self._paths = facts, paths
        self._begins = min((one.start_line for one in facts.paragraphs), default=0)  # where statements begin
        self._cite = cache(partial(cite, source))  # a line may hold thousands of items, and be a megabyte long

    def _record(self, fields: Mapping[str, Plain], first: int, last: int | None = None) -> TemplateRecord:
        return TemplateRecord.of_code(fields, self._cite(first, last))

    def _scattered(self, fields: Mapping[str, Plain], lines: Iterable[int]) -> TemplateRecord:
        return TemplateRecord.of_code(fields, [proof for line in lines for proof in self._cite(line)])

    def _operation(self, found: _Operation, fields: Mapping[str, Plain]) -> TemplateRecord:
        """Return the record of a statement with its paragraph, which is None for what is declared among data."""
        is_declared = not found.paragraph and found.line < self._begins
        place = {"line": found.line, "paragraph": None if is_declared else paragraph_name(found.paragraph)}
        return self._record({**fields, **place}, found.line, found.end_line)

    # ── ways in and out ──────────────────────────────────────────────────────────────────────────────────────────

    def _inputs(self) -> Iterator[TemplateRecord]:
        return map(self._channel, self._facts.inputs)

    def _outputs(self) -> Iterator[TemplateRecord]:
        return map(self._channel, self._facts.outputs)

    def _channel(self, found: Channel) -> TemplateRecord:
        fields = {"name": found.name, "io_type": found.io_type, "copybook": found.copybook}
        return self._scattered(fields, found.lines)

    def _called_programs(self) -> Iterator[TemplateRecord]:
        found = [(call, name, resolved) for call in self._facts.calls for name, resolved in _reached(call)]
        # The line of a COPY stands for every call that it brings in, and equal calls are one record: `places` counts them all.
        places = Counter(_alike(call, name) for call, name, _ in found)
        for call, name, resolved in found:
            fields = {
                "program_name": name,
                "call_type": call.call_type,
                "resolved_from": resolved,
                "parameters": call.parameters,
                "places": places[_alike(call, name)],
            }
            yield self._record(fields, call.line, call.end_line)

    def _reads_from(self) -> Iterator[TemplateRecord]:
        for found in self._facts.crud:
            if found.read:
                yield self._scattered({"name": found.resource, "kind": found.kind}, found.read)

    def _writes_to(self) -> Iterator[TemplateRecord]:
        for found in self._facts.crud:
            if lines := (*found.create, *found.update, *found.delete):
                yield self._scattered({"name": found.resource, "kind": found.kind}, lines)

    def _transforms(self) -> Iterator[TemplateRecord]:
        for found in self._facts.transforms:
            fields = {
                "verb": found.verb,
                "targets": list(found.targets),
                "sources": list(found.sources),
                "text": found.text,
            }
            yield self._operation(found, fields)

    def _files(self) -> Iterator[TemplateRecord]:
        for file in self._facts.files:
            yield self._record(_file(file), file.line, file.end_line)

    def _crud(self) -> Iterator[TemplateRecord]:
        for found in self._facts.crud:
            deeds = {name: list(getattr(found, name)) for name in ("create", "read", "update", "delete")}
            lines = [line for deed in deeds.values() for line in deed]
            yield self._scattered({"resource": found.resource, "kind": found.kind, **deeds}, lines)

    # ── control ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _paragraphs(self) -> Iterator[TemplateRecord]:
        for found in self._facts.paragraphs:
            fields = {
                "program": self._facts.program,
                "paragraph_name": paragraph_name(found.name or found.section or ""),
                "section": found.section,
                "start_line": found.start_line,
                "end_line": found.end_line,
                "calls": list(map(paragraph_name, found.calls)),
                "jumps": list(map(paragraph_name, found.jumps)),
                "called_by": list(map(paragraph_name, found.called_by)),
                "falls_into": found.falls_into,
                "statements": found.statements,
                "complexity": found.complexity,
                "is_dead_code": found.dead is not None,
                "dead_code_reason": found.dead,
                "doubts": list(found.doubts),
            }
            yield self._record(fields, found.line, found.end_line)

    def _business_rules(self) -> Iterator[TemplateRecord]:
        for rule in self._facts.rules:
            if not rule.check:  # a rule that checks for errors is error handling
                yield self._record(_rule(rule), rule.line, rule.end_line)

    def _error_handling(self) -> Iterator[TemplateRecord]:
        for found in self._facts.errors:
            fields = {
                "kind": found.kind,
                "condition": found.condition,
                "action": found.action,
            }
            yield self._operation(found, fields)

    # ── operations ───────────────────────────────────────────────────────────────────────────────────────────────

    def _sql_operations(self) -> Iterator[TemplateRecord]:
        for found in self._facts.sql:
            fields = {
                "operation": found.operation,
                "table": list(found.tables),
                "cursor": found.cursor,
                "host_variables": [*found.reads, *found.writes],
                "text": found.text,
            }
            yield self._operation(found, fields)

    def _cics_operations(self) -> Iterator[TemplateRecord]:
        for found in self._facts.cics:
            fields = {
                "command": found.command,
                "resource": found.resource,
                "kind": found.kind,
                "resp": found.resp,
                "response": found.response or None,
                "resolved_from": list(map(_from, found.resolved)),
            }
            yield self._operation(found, fields)

    def _dli_operations(self) -> Iterator[TemplateRecord]:
        for found in self._facts.dli:
            fields = {
                "function": found.function,
                "segments": list(found.segments),
                "pcb": found.pcb,
                "area": found.area,
            }
            yield self._operation(found, fields)

    def _mq_operations(self) -> Iterator[TemplateRecord]:
        for found in self._facts.mq:
            fields = {
                "call": found.call,
                "queue": found.queue,
                "resolved_from": list(map(_from, found.resolved)),
            }
            yield self._operation(found, fields)

    def _idms_operations(self) -> Iterator[TemplateRecord]:
        for found in self._facts.network:
            fields = {"verb": found.verb, "record": found.record, "set": found.within, "text": found.text}
            yield self._operation(found, fields)

    # ── data ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def _copybooks_used(self) -> Iterator[TemplateRecord]:
        for used in self._facts.copybooks:
            path = self._paths.get(in_library(used.name, used.library)) or self._paths.get(used.name.upper())
            # A program that has the name of a missing copybook is a file of that name, but it was not copied.
            yield self._record(_copybook(used, path if used.found else None), used.line, used.end_line)

    def _data_items(self) -> Iterator[TemplateRecord]:
        for number, item in enumerate(self._facts.items):
            yield self._record(_item(item, number), item.line, item.end_line)

    def _constants(self) -> Iterator[TemplateRecord]:
        for found in self._facts.constants:
            fields = {"name": found.name, "value": found.value, "line": found.line, "copybook": found.copybook}
            yield self._record(fields, found.line)

    def _messages(self) -> Iterator[TemplateRecord]:
        for found in self._facts.messages:
            fields = {"text": found.text, "target": found.target, "line": found.line, "copybook": found.copybook}
            yield self._record(fields, found.line)


def _reached(call: ProgramCall) -> Sequence[tuple[str, str | None]]:
    """Return the programs that a call may reach, each with the reason; the data item's own name if nothing gives it a value."""
    # Reversed, so that of several statements that give the item the same value the first is named.
    by_value = {found.value: found for found in reversed(call.resolved)}
    known = [(name, _from(by_value[name]) if name in by_value else None) for name in call.names]
    is_program = call.call_type in {"dynamic", "link", "xctl"} and call.target[:1] not in "'\""
    return known or [(call.target, NAME_IS_DATA if is_program else None)]


def _alike(call: ProgramCall, name: str) -> Plain:
    """Return what makes calls equal, as the key of their records does."""
    return folded(name), call.call_type, folded(call.parameters)


def _from(found: Resolved) -> str:
    """Return the source of a name's value as a phrase: the verb, the value, and the line, with its copybook if it is in one."""
    place = f"line {found.line}" + (f" ({found.copybook})" if found.copybook else "")
    return f"{found.how} {found.value} at {place}"


def _file(file: ProgramFile) -> dict[str, Plain]:
    return {
        "name": file.name,
        "assign": " ".join(file.assign) or None,
        "dd": file.dd,
        "organization": file.organization,
        "access": file.access,
        "keys": list(file.keys),
        "status": " ".join(file.status) or None,
        "record": list(file.records),
        "opens": [(use.mode, use.line) for use in file.uses if use.verb == "OPEN"],
        "io": list(file.io),
        "copybook": file.copybook,
    }


def _rule(rule: BranchRule) -> dict[str, Plain]:
    """Return the fields of a decision: its conditions, including those of its branches, and what each branch does."""
    whens = [branch.label for branch in rule.branches if branch.label not in {"THEN", "ELSE"}]
    return {
        "rule_id": rule.rule_id,
        "paragraph": paragraph_name(rule.paragraph),
        "conditions": [rule.condition, *whens],
        "meanings": list(rule.meanings),
        # A tuple, not a set: what a branch does twice is listed twice.
        "actions": tuple([f"{branch.label}: {action.text}" for branch in rule.branches for action in branch.actions]),
    }


def _copybook(used: CopybookUse, path: str | None) -> dict[str, Plain]:
    return {
        "copybook_name": used.name,
        "library": used.library,
        "via": used.via,
        "replacing": list(used.replacing),
        "found": used.found,
        "system": used.system,
        "path": path,
        "copybook": used.copybook,
    }


# The fields of a data item that a record has under the same names.
_OF_ITEM = (
    *("level", "name", "picture", "usage", "occurs", "depending", "redefines", "value", "offset", "bytes"),
    *("section", "file", "copybook", "copybook_line", "line"),
)
_of_item = attrgetter(*_OF_ITEM)


def _item(item: DataItem, number: int) -> dict[str, Plain]:
    return {
        "number": number,
        **dict(zip(_OF_ITEM, _of_item(item), strict=True)),
        "conditions": [(found.name, found.values, found.line) for found in item.conditions],
        "read_lines": list(item.read_lines),
        "written_lines": list(item.written_lines),
    }
