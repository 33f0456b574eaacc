"""Which programs are in a source? Walks over its sentences and notes, by offset, what belongs to which program.

Keeps out how sentences are read (`entries`, `procedure`) and how offsets become lines (`assembly`).

Law: every sentence is read once, by the reader of the division that it stands in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from .entries import CLAUSES, DECLARED, DECLARING, ENTRY, PARAGRAPHS, REMARK, REMARK_ENDS, SECOND, SECTIONS, USING, WORD
from .lexing import fold, spelled
from .procedure import VERBS, Procedure

if TYPE_CHECKING:
    import re

Kind = Literal["program", "function", "class", "copybook"]

_KINDS: dict[str, Kind] = {
    "PROGRAM-ID": "program",
    "FUNCTION-ID": "function",
    "METHOD-ID": "function",
    "CLASS-ID": "class",
    "INTERFACE-ID": "class",
}


@dataclass(slots=True)
class Draft:
    """A program while it is being read, by offsets."""

    start: int
    kind: Kind
    parent: Draft | None
    name: str = ""
    identified: bool = False
    closed: bool = False  # END PROGRAM was seen
    end: int = -1  # behind END PROGRAM, or where another begins
    using: tuple[str, ...] = ()
    divisions: list[tuple[str, int, int]] = field(default_factory=list)  # name, start, end
    entries: list[tuple[str, str, int | None, str, int, int]] = field(default_factory=list)
    procedure: Procedure | None = None
    blocks: list[tuple[int, int]] = field(default_factory=list)

    def is_preamble(self) -> bool:
        """Nothing but COPY, REPLACE and the unknown was there: the program that follows begins with it."""
        return self.kind == "copybook" and self.procedure is None and all(entry[2] is None for entry in self.entries)

    def close_division(self, end: int) -> None:
        """The last division ends, unless it has ended."""
        if self.divisions and self.divisions[-1][2] < 0:
            name, start, _ = self.divisions[-1]
            self.divisions[-1] = (name, start, end)


def drafts(code: str, folded: str) -> list[Draft]:
    """All programs, in the order in which they begin."""
    return _Walk(code, folded).drafts()


class _Walk:
    def __init__(self, code: str, folded: str) -> None:
        self._code = code
        self._folded = folded
        self._drafts: list[Draft] = []
        self._stack: list[Draft] = []
        self._open_names: dict[str, int] = {}  # how many of the stack are called so
        self._division = ""
        self._section = ""

    def drafts(self) -> list[Draft]:
        at, procedural = 0, False
        while at < len(self._folded):
            if procedural:
                at, procedural = self._procedure(at), False
            else:
                at, procedural = self._entries(at)
        while self._stack:
            self._close(len(self._folded), len(self._folded))
        for draft, following in pairwise(self._drafts):
            # one that has no END PROGRAM holds no others: what follows stands beside it
            if not draft.closed:
                draft.end = min(draft.end, following.start)
            while following.parent is not None and not following.parent.closed:
                following.parent = following.parent.parent
        return self._drafts

    def _procedure(self, at: int) -> int:
        draft = self._draft(at)
        if draft.procedure is None:
            draft.procedure = Procedure(self._folded, mixed=draft.kind == "copybook")
        return draft.procedure.read(at)

    def _entries(self, at: int) -> tuple[int, bool]:
        """Read entries up to where statements begin; whether they do."""
        folded, match = self._folded, ENTRY.match
        while True:
            entry = match(folded, at)
            if entry is None:
                return len(folded), False
            at = entry.end()
            word = entry[WORD]
            if word is None:
                if entry["exec"] is not None and not self._division and self._is_executed(entry):
                    return entry.start("block"), True
                if self._part(entry):
                    return at, True
                continue
            start, second = entry.start(WORD), entry[SECOND]
            level = int(word) if len(word) < 3 and word.isdecimal() else None
            if not self._division and level is None and word not in DECLARING:
                if self._is_procedural(word, second, entry):
                    return start, True
                if not self._stack and self._drafts:
                    continue  # behind END PROGRAM, and nothing that is known
            if second == "SECTION" or word in PARAGRAPHS:
                self._section = word
            elif second is None and REMARK.match(word):
                ends = REMARK_ENDS.search(folded, at - 1)
                at = ends.start() if ends else len(folded)
            name = "" if second is None else spelled(self._code, *entry.span(SECOND))
            if level is not None and second in CLAUSES:
                name = "FILLER"
            self._draft(start).entries.append((word, name, level, self._section, start, at))

    def _is_procedural(self, word: str, second: str | None, entry: re.Match[str]) -> bool:
        """Whether a sentence outside of all divisions is one of a PROCEDURE DIVISION."""
        if self._stack and self._stack[-1].kind != "copybook":
            return False
        if second == "SECTION":
            return word not in SECTIONS
        return word in VERBS or (second is None and entry[0].endswith(".") and not REMARK.match(word))

    def _is_executed(self, block: re.Match[str]) -> bool:
        """Whether an EXEC block outside of all divisions is a statement."""
        is_copybook = not self._stack or self._stack[-1].kind == "copybook"
        return is_copybook and DECLARED.match(self._folded, block.start("block")) is None

    def _part(self, entry: re.Match[str]) -> bool:
        """A block, or where a program or division begins or ends; whether that is the PROCEDURE DIVISION."""
        if entry["block"] is not None:
            start, end = entry.span("block")
            words = spelled(self._code, start, end).split(None, 3)
            word, name = fold(words[0]), words[1]
            if entry["exec"] is not None:
                word, name = f"EXEC {entry['exec']}", words[2]
            draft = self._draft(start)
            draft.blocks.append((start, end))
            draft.entries.append((word, name, None, self._section, start, entry.end()))
        elif entry["division"] is not None:
            return self._begin_division(entry)
        elif entry["unit"] is not None:
            self._end_unit(entry)
        elif entry["id"] is not None:
            self._identify(entry)
        return False

    def _begin_division(self, entry: re.Match[str]) -> bool:
        start, name = entry.start("division"), entry["division"].split(None, 1)[0]
        if name == "ID":
            name = "IDENTIFICATION"
        draft = self._begin(start) if name == "IDENTIFICATION" else self._draft(start)
        draft.close_division(start)
        draft.divisions.append((name, start, -1))
        self._division, self._section = name, ""
        if name != "PROCEDURE":
            return False
        if draft.kind == "copybook":
            draft.kind = "program"
        if entry["using"] is not None:
            words = [self._code[slice(*found.span())] for found in USING.finditer(self._folded, *entry.span("using"))]
            returning = next((n for n, word in enumerate(words) if fold(word) in {"RETURNING", "GIVING"}), len(words))
            draft.using = tuple(word for word in words[:returning] if not word.isdecimal())
        return True

    def _identify(self, entry: re.Match[str]) -> None:
        start, kind = entry.start("id"), _KINDS[entry["id"]]
        draft = self._stack[-1] if self._stack else None
        if draft is None or draft.identified or [division[0] for division in draft.divisions] != ["IDENTIFICATION"]:
            draft = self._begin(start)
            self._division, self._section = "IDENTIFICATION", ""
        draft.kind = kind
        draft.identified = True
        if entry["name"] is not None:
            self._count(draft, -1)
            draft.name = self._name(entry, "name").strip("'\"")
            self._count(draft, 1)
        draft.entries.append((entry["id"], draft.name, None, "", start, entry.end()))

    def _end_unit(self, entry: re.Match[str]) -> None:
        if not self._stack or entry["unit"] in {"FACTORY", "OBJECT"}:
            return
        self._division = self._section = ""
        start = entry.start("ends")
        name = (entry["ended"] or "").strip("'\"")
        if self._open_names.get(name):
            while fold(self._stack[-1].name) != name:
                self._close(start, start)
        self._close(start, entry.end()).closed = True

    def _draft(self, start: int) -> Draft:
        """The program that is open; code that is in none opens a copybook."""
        return self._stack[-1] if self._stack else self._open(start, "copybook")

    def _begin(self, start: int) -> Draft:
        if self._stack:
            top = self._stack[-1]
            if top.is_preamble():
                top.kind = "program"
                return top
            if top.kind == "copybook":
                self._close(start, start)
            else:
                top.close_division(start)
        return self._open(start, "program")

    def _open(self, start: int, kind: Kind) -> Draft:
        draft = Draft(start, kind, self._stack[-1] if self._stack else None)
        self._drafts.append(draft)
        self._stack.append(draft)
        self._count(draft, 1)
        return draft

    def _close(self, start: int, end: int) -> Draft:
        """The innermost program ends: its last division where END PROGRAM begins, the program behind it."""
        draft = self._stack.pop()
        self._count(draft, -1)
        draft.close_division(start)
        draft.end = end
        return draft

    def _count(self, draft: Draft, change: int) -> None:
        name = fold(draft.name)
        self._open_names[name] = self._open_names.get(name, 0) + change

    def _name(self, entry: re.Match[str], group: str) -> str:
        return spelled(self._code, *entry.span(group))
