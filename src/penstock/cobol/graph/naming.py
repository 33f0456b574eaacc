"""What is the unique name of each field, paragraph and file that is private to a program?

Law: two items of a program have two names: `PROG.ITEM`, or the whole path if that is ambiguous.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from ..estate.members import copied_as
from ..facts.flow import label
from ..program import key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..facts.control import ParagraphFacts
    from ..facts.data import DataItem
    from ..program import Program

_GENERATION = re.compile(r"\([+-]?\d+\)\Z")


def plain_path(path: str) -> str:
    """Return a file name in the form that all programs share: with slashes, and without a leading `./`."""
    return path.replace("\\", "/").removeprefix("./")


def copybook_name(name: str) -> str:
    """Return the name of a copybook's node, from what COPY names: the member without folders and suffix."""
    return key(copied_as(name.strip("'\" ").replace("\\", "/")))


def program_name(name: str) -> str:
    """Return the name of the node of a program or transaction, from what a source calls it: in capitals, without quotes.

    A number in hexadecimal, as in X"91", keeps them.
    """
    said = key(name).strip()
    return said if said[:2] in {'X"', "X'"} else said.strip("'\" ")


def field_names(program: str, items: Sequence[DataItem]) -> tuple[str, ...]:
    """Return the names of the nodes of some items, "" for a FILLER.

    A FILLER with level 88s is called as the first of them: it is used by their names alone.

    `PROG.ITEM`; if several items have that name, the whole path, `PROG.RECORD.GROUP.ITEM`; if even that is ambiguous, as
    when one record is copied below two files, the name of the file precedes it, and after that a number is appended.
    """
    names = [key(item.conditions[0].name if item.name == "FILLER" and item.conditions else item.name) for item in items]
    count = Counter(names)
    found: list[str] = []
    taken: set[str] = set()
    numbers: Counter[str] = Counter()  # how many were appended to each name: n items of one path take n steps
    for item, own in zip(items, names, strict=True):
        if own == "FILLER":
            found.append("")
            continue
        name = own
        if count[own] > 1:
            path = [own]
            parent = item.parent
            while parent is not None:
                path.append(key(items[parent].name))
                parent = items[parent].parent
            name = ".".join(reversed([one for one in path if one != "FILLER"]))
            if name in taken and item.file:
                name = f"{key(item.file)}.{name}"
            plain = name.partition("#")[0]
            while name in taken:
                numbers[plain] += 1
                name = f"{plain}#{numbers[plain] + 1}"
        taken.add(name)
        found.append(f"{program}.{name}")
    return tuple(found)


def paragraph_names(program: str, paragraphs: Sequence[ParagraphFacts], scanned: Program) -> tuple[str, ...]:
    """Return the names of the nodes of a program's paragraphs, by their keys."""
    labels = [key(label(paragraph)) for paragraph in scanned.paragraphs]
    count = Counter(labels)
    found = []
    for own, paragraph in zip(labels, paragraphs, strict=True):
        section = key(paragraph.section or "")
        found.append(
            f"{program}.{section}.{own}" if count[own] > 1 and section and section != own else f"{program}.{own}"
        )
    return tuple(found)


def data_set(name: str, job: str) -> str:
    """Return the name of a data set's node: without its generation; a temporary one is prefixed with its job."""
    bare = _GENERATION.sub("", key(name.strip()))
    return f"{job}.{bare}" if bare.startswith("&&") else bare
