"""What does the product say of an estate? Its graph as exported and the documents of its code, as JSON, from files in memory.

Judges and laws (`estate_graph`, `estate_code`, `estate_laws`) see only this JSON and the files. Leaves to others: whether it is
right.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.cobol.estate import COBOL_KINDS, DOCUMENTED_KINDS, Copybooks, kind_of
from penstock.cobol.graph import EstateGraph
from penstock.cobol.graph.export import as_json
from penstock.scribe.estate_reading import FileReader, ReadSetup, members_of, says_anything
from penstock.scribe.file_work import documents_of_code
from penstock.scribe.gathering import HEAD_BYTES, GatheredFile, gather
from penstock.scribe.graphing import drawn_file
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.cobol import ScannedSource
    from penstock.scribe.file_work import ScannedFile

Json = dict[str, Any]

JAPANESE = "\u3001-\uffef"
"""The letters and signs of Japanese names, for a set in a pattern."""
LITERAL = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
"""A literal in COBOL, on one line."""
_RUNS = re.compile(f"[{JAPANESE}]+")


class EstateView(NamedTuple):
    """What is said of an estate: the rows of its graph, and the documents of each file that has any, by path."""

    graph: EstateGraph
    nodes: list[Json]
    edges: list[Json]
    documents: dict[str, list[Json]]
    subjects: dict[str, ScannedFile]


def gathered(folder: str) -> list[GatheredFile]:
    """Return the files of an estate on disk."""
    with closing(Root(folder)) as root:
        return list(gather(root, (".",), kind_of).files)


def named(files: Iterable[tuple[str, bytes]]) -> list[GatheredFile]:
    """Return files in memory as an estate, in the order of their paths; one that only a COPY makes a copybook is one."""
    return [GatheredFile(path, kind_of(path, data[:HEAD_BYTES]) or "copybook", data) for path, data in sorted(files)]


def view(files: Sequence[GatheredFile]) -> EstateView:
    """Return what is said of some files."""
    members = members_of(files)
    shelf = Copybooks(files, members)
    sources = [file for file in files if file.kind in DOCUMENTED_KINDS]
    drawn = [drawn_file(file, shelf) for file in sources]
    around = [
        *members,
        *(member for file, one in zip(sources, drawn, strict=True) for member in one.declaring(file.path)),
    ]
    graph = EstateGraph([part for one in drawn for part in one.parts], around)
    told = json.loads("".join(as_json(graph)))
    reader = FileReader(ReadSetup(files=files, members=members))
    documents: dict[str, list[Json]] = {}
    subjects: dict[str, ScannedFile] = {}
    for number, file in enumerate(files):
        if file.kind in COBOL_KINDS and says_anything(one := reader.subject(number)):
            subjects[file.path] = one
            documents[file.path] = json.loads(json.dumps(documents_of_code(one)))
    return EstateView(graph, told["nodes"], told["edges"], documents, subjects)


def texts(data: bytes) -> list[str]:
    """Return the lines of a file: in EBCDIC if most blanks are, in UTF-16 by its mark, else in UTF-8, Shift-JIS or Latin-1."""
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        text = data.decode("utf-16", "replace")
    elif data.count(b"\x40") > len(data) // 10 and b"\n" not in data and data.count(b" ") < data.count(b"\x40") // 4:
        text = data.decode("cp037").replace("\x85", "\n")
        if "\n" not in text:
            return [text[at : at + 80] for at in range(0, len(text), 80)]
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = _of_pairs(data) or data.decode("latin-1")
    lines = text.replace("\r\n", "\n").split("\n") if "\n" in text else text.split("\r")
    return [line.rstrip("\r") for line in (lines if lines[-1] else lines[:-1])]


def is_plain(data: bytes) -> bool:
    """Return whether a file is ASCII in lines that end in LF, without NUL, form feed and the end mark of CP/M."""
    return data.isascii() and not set(data) & set(b"\0\f\r\x1a")


def is_tabular(data: bytes, source: ScannedSource) -> bool:
    """Return whether a plain file has fixed columns on every line."""
    return (
        is_plain(data)
        and source.format == "fixed"
        and {form for _, form in source.switches} <= {"fixed"}
        and b"\t" not in data
    )


def filled(data: bytes, source: ScannedSource) -> bytes | None:
    """Return a file with numbers in columns 1 to 6 and marks in 73 to 80; None if it is not tabular or uses 1 to 6."""
    lines = data.split(b"\n")
    if not is_tabular(data, source) or any(line[:6].strip() for line in lines):
        return None
    made = [
        b"%06d%-66sREV%05d" % (at * 10 % 1_000_000, line[6:72], at % 100_000) if line.strip() else line
        for at, line in enumerate(lines, 1)
    ]
    return b"\n".join(made)


def _of_pairs(data: bytes) -> str:
    """Return the text of bytes in Shift-JIS; "" if they are not: taken for it, letters of Latin-1 become single ideographs."""
    try:
        text = data.decode("cp932")
    except UnicodeDecodeError:
        return ""
    runs = [len(run) for run in _RUNS.findall(text)]
    return text if 2 * sum(length for length in runs if length > 1) > sum(runs) else ""


def estate_folders(data: str) -> list[tuple[str, str]]:
    """Return the estates below a folder, by name: each folder in its `cobol`, or else each folder in it."""
    within = os.path.join(data, "cobol")
    above = within if os.path.isdir(within) else data
    with os.scandir(above) as found:
        return sorted((one.name, one.path) for one in found if one.is_dir())
