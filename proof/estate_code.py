"""Does the document of a program have what its text evidently has, and say what it does not understand (C-12, C-14)?

The judge reads the code of a program by columns (`columns`), without literals, and looks for words: each EXEC, COPY, SELECT, CALL
of a literal and record has to be in the document. Leaves to others: what cannot be seen by words alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from proof.estate_views import JAPANESE, LITERAL

from proof import columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proof.columns import Page
    from proof.estate_views import EstateView, Json

    from penstock.scribe.file_work import ScannedFile

_REMARK = re.compile(r"\*>.*")
_EXEC = re.compile(r"(?i)(?<![\w-])EXEC(?:UTE)?\s+(SQL|CICS)\s+([\w-]+)")
_COPY = re.compile(r"(?im)^\s*(?:\d\d\s+[\w-]+\s*\.\s*)?COPY\s+(?!DDS?R?-|RESOURCE\s+')([\w$#@-]+)")
_SELECT = re.compile(rf"(?im)^\s*SELECT\s+(?:OPTIONAL\s+)?([\w$#@{JAPANESE}-]+)")
_CALL = re.compile(r"(?im)^\s*CALL\s+['\"]([\w$#@-]+)['\"]")
_CLAUSES = "REDEFINES|PIC|USAGE|VALUE|EXTERNAL|GLOBAL|COPY|OCCURS|LINE|TYPE"
_RECORD = re.compile(rf"(?im)^\s*(?:01|77)\s+(?!(?:{_CLAUSES})\b)([A-Z][\w$#@-]*)")
_PROCEDURE = re.compile(r"(?i)\bPROCEDURE\s+DIVISION\b")
_ENVIRONMENT = re.compile(r"(?i)\bENVIRONMENT\s+DIVISION\b")
_DATA = re.compile(r"(?i)\bDATA\s+DIVISION\b")
_REPLACES = re.compile(r"(?i)\bREPLAC(?:E|ING)\b")
_NOT_OPERATIONS = frozenset({"INCLUDE", "BEGIN", "END"})
"""EXEC SQL INCLUDE is a copybook; a declare section says nothing to the database."""
_PROGRAMS = frozenset({"program", "function"})  # the statements of a class are in its methods
_ALL_KEYS = """
    header purpose inputs outputs called_programs calling_context business_rules data_flow copybooks_used
    copybooks_not_found paragraphs error_handling sql_operations cics_operations dli_operations mq_operations
    idms_operations files crud data_items constants messages dead_code not_understood call_semantics flow_diagram
    call_graph complexity open_questions coverage confidence tickets not_generated warnings
"""
_KEYS = frozenset(_ALL_KEYS.split())
_NAMES = {"name", "program_name", "copybook_name", "paragraph_name", "resource", "record", "queue", "table"}


def faults(view: EstateView) -> Iterator[str]:
    """Yield what is wrong in the documents of an estate."""
    for path, documents in view.documents.items():
        subject = view.subjects[path]
        page = columns.page(subject.source)
        for at, document in enumerate(documents):
            name, is_program = document["header"]["program_id"], subject.parts[at].program.kind in _PROGRAMS
            yield from (f"{fault} ({path}, {name})" for fault in _odd(document, path, is_program=is_program))
            if subject.parts[at].program.parent is None and len(subject.parts) == 1 and not subject.source.replacing:
                yield from (f"{fault} ({path})" for fault in _missing(document, _code(subject, page, at)))


def _odd(document: Json, path: str, *, is_program: bool) -> Iterator[str]:
    """Faults that can be seen in a document alone."""
    if lost := _KEYS - document.keys():
        yield f"C-12: the document has no {', '.join(sorted(lost))}"
    if (said := document["complexity"]["not_understood"]) != (listed := len(document["not_understood"])):
        yield f"C-14: {said} statements are said not to be understood, {listed} are listed"
    if is_program and not document["complexity"]["statements"] and not document["warnings"]:
        yield "C-14: a program without a statement, and no warning"
    for one in document["copybooks_used"]:
        if one["path"] == path:
            yield f"C-14: {one['copybook_name']} is its own copybook"
    for one in document["paragraphs"]:
        if one["start_line"] and not 1 <= one["start_line"] <= one["end_line"]:
            yield f"C-12: {one['paragraph_name']} is on lines {one['start_line']} to {one['end_line']}"
    named = {key: value for key, value in document.items() if key != "warnings"}  # most warnings are about no name
    yield from (f"C-14: {key} is {name!r}" for key, name in _names(named) if name != name.strip() or not name)
    if document["purpose"] is not None or any(one["summary"] for one in document["paragraphs"]):
        yield "C-12: words that nobody said"
    if "purpose" not in document["not_generated"]:
        yield "C-12: a purpose is missing, and that is not said"


def _names(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, list):
        for inner in value:
            yield from _names(inner)
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in _NAMES and isinstance(inner, str):
                yield key, inner
            else:
                yield from _names(inner)


def _code(subject: ScannedFile, page: Page, at: int) -> str:
    """Return the code of a program as its lines are shown, blanks folded, without remarks and debug lines."""
    program = subject.parts[at].program
    lines = range(program.start_line, program.end_line + 1)
    shown = subject.source.all_shown()
    return "\n".join(
        _REMARK.sub("", _body(shown[line - 1], subject.source.format_at(line)))
        for line in lines
        if line in page.code and line not in page.debug
    )


def _body(text: str, form: str) -> str:
    """Return a shown line without its indicator."""
    return text if form == "free" else text[1:]


def _missing(document: Json, code: str) -> Iterator[str]:
    """Faults where the text of a program has what the document has not."""
    begun = _PROCEDURE.search(code)
    data, procedure = (code[: begun.start()], code[begun.start() :]) if begun else (code, "")
    declared = _DATA.search(data)
    bare = LITERAL.sub("''", procedure)
    for kind, section in (("SQL", "sql_operations"), ("CICS", "cics_operations")):
        there = [
            verb for name, verb in _EXEC.findall(bare) if name.upper() == kind and verb.upper() not in _NOT_OPERATIONS
        ]
        if len(there) > (here := len(document[section])):
            yield f"C-12: {len(there)} EXEC {kind}, and {here} in {section}"
    have = {one["copybook_name"].upper().rpartition("/")[2].partition(".")[0] for one in document["copybooks_used"]}
    for name in _different(_COPY.findall(LITERAL.sub("''", code)), have):
        yield f"C-12: COPY {name} is not in copybooks_used"
    if declared is None:
        return
    have = {one["name"].upper() for one in document["files"]}
    environment = _ENVIRONMENT.search(data)
    begin = environment.start() if environment else 0  # remarks before it may have the word, too
    for name in _different(_SELECT.findall(data[begin : declared.start()]), have):
        yield f"C-12: SELECT {name} is not in files"
    have = {one["program_name"].strip("'\"").upper() for one in document["called_programs"]}
    for name in _different(_CALL.findall(procedure), have):
        yield f"C-12: CALL {name} is not in called_programs"
    if _REPLACES.search(data):
        return
    have = {one["name"].upper() for one in (*document["data_items"], *document["constants"])}
    for name in _different(_RECORD.findall(data[declared.start() :]), have | {"FILLER"}):
        yield f"C-12: the record {name} is not in data_items"


def _different(names: list[str], have: set[str]) -> list[str]:
    return sorted({name.upper() for name in names} - have)
