"""Which texts do people see, and which values never change: messages and constants?

Leaves to others: what a message is about.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..program import key
from .data import Constant, Message
from .resolving import literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .code import Code, ReadStatement
    from .data import DataItem
    from .naming import DataNames
    from .resources import ProgramFile

# Texts for people are recognized by the name of the item: a literal moved to any other item is a code.
_MESSAGE_NAME = re.compile(
    r"(?:^|-)(?:\w*MSG\w*|\w*MESSAGE\w*|\w*MESG\w*|ERR(?:OR)?-?TE?XT|TITLE\w*|HEADING\w*|PROMPT\w*)(?:-|$)"
)
_WORDS = re.compile(r"[A-Za-z]{2}")


def constants(
    items: Sequence[DataItem],
    named: Sequence[tuple[str, str, int, str | None]],
    names: DataNames,
    files: Sequence[ProgramFile],
    registers: Iterable[str] = (),
) -> tuple[Constant, ...]:
    """Return level 78s, and items with a VALUE that are written neither directly nor through a group, redefinition or item in them.

    Args:
        items: The data items with their references.
        named: The level 78s: name, value, line, copybook.
        names: The declared names.
        files: The files; each of their statements writes the FILE STATUS, and a READ the RELATIVE KEY.
        registers: The items that the system writes whether or not a statement names them.
    """
    found = [Constant(*row) for row in named]
    of_files = [
        name for file in files for name in (*file.status, *(file.keys if file.organization == "RELATIVE" else ()))
    ]
    told = {at for name in (*of_files, *registers) if (at := names.one(name)) is not None}
    shared = _shared(items, names) | told
    for index, item in enumerate(items):
        if (
            item.value is not None
            and item.name != "FILLER"
            and item.section != "LINKAGE"
            and item.occurs is None
            and not any(_touched(items[at]) or at in shared for at in (index, *names.above(index)))
            and (item.usage != "GROUP" or not any(_touched(items[at]) or at in told for at in names.below(index)))
        ):
            found.append(Constant(item.name, item.value, item.line, item.copybook))
    return tuple(found)


def messages(code: Code, names: DataNames) -> tuple[Message, ...]:
    """Return the texts of DISPLAYs, those moved or composed into messages, and the values of messages; each once per line."""
    found: dict[tuple[int, str], Message] = {}
    for said in code.of("DISPLAY", "MOVE", "STRING"):
        for message in _messages(said) if said.copybook is None else ():
            found.setdefault((message.line, message.text), message)
    for item in names.items[: names.own]:
        for message in _valued(item):
            found.setdefault((message.line, message.text), message)
    return tuple(sorted(found.values(), key=lambda message: message.line))


def _shared(items: Sequence[DataItem], names: DataNames) -> set[int]:
    """Return the indexes of items that are written through a redefinition."""
    found: set[int] = set()
    for index, item in enumerate(items):
        if item.redefines is not None and any(_touched(items[at]) for at in (index, *names.below(index))):
            found |= {m.item for m in names.mean(item.redefines) if items[m.item].parent == item.parent}
    return found


def _touched(item: DataItem) -> bool:
    """Return whether an item is written, or passed to another program, which may write it."""
    return bool(item.written_lines or item.passed_lines)


def _messages(said: ReadStatement) -> Iterator[Message]:
    """Yield the messages of a statement: its literals with two letters in a row."""
    target = ""
    if said.verb == "DISPLAY":
        target = "DISPLAY"
    else:
        into = "TO" if said.verb == "MOVE" else "INTO"
        if into in said.keys:
            names = said.keys[said.keys.index(into) + 1 :]
            target = next((name for name in names if _MESSAGE_NAME.search(name)), "")
    if target:
        for at, (word, kind) in enumerate(zip(said.texts, said.kinds, strict=True)):
            # RM/COBOL says behind CONTROL how to show what it shows.
            if kind == "literal" and said.keys[at - 1] != "CONTROL":
                text = literal(word)
                # A text without two letters in a row is a code, a mask or a line of dashes.
                if text and _WORDS.search(text):
                    yield Message(text, target, said.line_at(at), said.copybook)


def _valued(item: DataItem) -> Iterator[Message]:
    """Yield the messages among the values of an item and its conditions; a value that is the item's own name is a program's."""
    if _MESSAGE_NAME.search(key(item.name)):
        values = [
            (item.value or "", item.line),
            *((value, one.line) for one in item.conditions for value in one.values),
        ]
        for value, line in values:
            text = literal(value)
            if text and _WORDS.search(text) and key(text) != key(item.name):
                yield Message(text, item.name, line, item.copybook)
