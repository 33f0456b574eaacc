"""What does each statement say? Its words, the paragraph it is in, and what stands within what.

Keeps out: what its words mean. Law: linear; a nest that is never closed ends with its sentence.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from .execs import ExecCommand, command
from .vocabulary import is_reserved

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..program import Exec, Word
    from .expanding import CodePiece

_OPENING = frozenset({"(", ":"})
_CLOSING = frozenset({")", ":", ","})
_NESTING = frozenset({"IF", "EVALUATE", "SEARCH", "PERFORM"})
_LOOPS = frozenset({"UNTIL", "VARYING", "WITH", "TEST", "FOREVER"})
PHRASES = frozenset(
    negation + phrase
    for phrase in ("AT END", "AT END-OF-PAGE", "INVALID KEY", "ON SIZE ERROR", "ON OVERFLOW", "ON EXCEPTION")
    for negation in ("", "NOT ")
)
"""The entries that begin what is done in a condition of the statement before them."""
_BRANCHES = PHRASES | {"ELSE", "WHEN"}


class Said(NamedTuple):
    """A statement with its words; `keys` are those in capitals, literals as they are. Its lines are those of the program's file."""

    verb: str
    keys: tuple[str, ...]
    words: tuple[Word, ...]
    line: int
    end_line: int
    depth: int
    sentence: int
    paragraph: int  # key of a paragraph of the program: the one it is in, or that copies it; -1 for none
    copybook: str | None
    start: int


class Block(NamedTuple):
    """An EXEC block and where it stands; the command of CICS and DLI."""

    exec: Exec
    command: ExecCommand
    line: int
    end_line: int
    paragraph: int
    copybook: str | None


class Node:
    """A statement with the branches that it holds: (label, the entry that opens the branch, its statements)."""

    __slots__ = ("branches", "end_line", "said")

    def __init__(self, said: Said) -> None:
        self.said = said
        self.branches: list[tuple[str, Said, list[Node]]] = []
        self.end_line = said.end_line  # of it and of what it holds


class Code:
    """All statements of a program and its procedure copybooks."""

    def __init__(self, pieces: Sequence[CodePiece]) -> None:
        self.program = pieces[0].program
        self._starts = [paragraph.start_line for paragraph in self.program.paragraphs]
        self.said: list[Said] = []
        self.blocks: list[Block] = []
        for piece in pieces:
            self.said += self._read(piece)
            self.blocks += self._blocks(piece)
        self.own = [said for said in self.said if said.copybook is None]

    def paragraph(self, line: int) -> int:
        """The key of the paragraph that a line of the program is in; -1 for none."""
        at = bisect_right(self._starts, line) - 1
        return at if at >= 0 and line <= self.program.paragraphs[at].end_line else -1

    def name(self, paragraph: int) -> str:
        """What a paragraph is called; "" for none."""
        return self.program.paragraphs[paragraph].name if paragraph >= 0 else ""

    def _read(self, piece: CodePiece) -> Iterator[Said]:
        source = piece.source
        for statement in piece.program.statements:
            words = tuple(word for word in source.words(statement.start, statement.end) if word.kind != "period")
            keys = tuple(word.text if word.kind == "literal" else word.text.upper() for word in words)
            line, end_line = (piece.line, piece.end_line) if piece.copybook else (statement.line, statement.end_line)
            yield Said(
                verb=statement.verb,
                keys=keys,
                words=words,
                line=line,
                end_line=end_line,
                depth=statement.depth,
                sentence=statement.sentence,
                paragraph=self.paragraph(line),
                copybook=piece.copybook,
                start=statement.start,
            )

    def _blocks(self, piece: CodePiece) -> Iterator[Block]:
        for found in piece.program.execs:
            line, end_line = (piece.line, piece.end_line) if piece.copybook else (found.line, found.end_line)
            parsed = command(found.text) if found.kind in {"CICS", "DLI"} else ExecCommand("", ())
            yield Block(found, parsed, line, end_line, self.paragraph(line), piece.copybook)


def nests(said: Sequence[Said]) -> list[Node]:
    """The statements as a tree: what an IF or a phrase holds is within it."""
    top: list[Node] = []
    order: list[Node] = []
    lists = [top]  # where a statement of each depth goes
    sentence: int | None = None
    for one in said:
        if one.sentence != sentence:
            sentence = one.sentence
            del lists[1:]
        del lists[one.depth + 1 :]
        here = lists[-1]
        if one.verb.startswith("END-"):
            if here:
                here[-1].end_line = max(here[-1].end_line, one.end_line)
            continue
        if is_branch(one.verb):
            if here:
                inner: list[Node] = []
                here[-1].branches.append((_label(one), one, inner))
                lists.append(inner)
            continue
        node = Node(one)
        here.append(node)
        order.append(node)
        if one.verb in {"IF", "PERFORM"}:
            inner = []
            if one.verb == "IF" or is_inline(one.keys):
                node.branches.append(("THEN" if one.verb == "IF" else "", one, inner))
            lists.append(inner)
        elif one.verb in {"EVALUATE", "SEARCH"}:
            lists.append([])
    for node in reversed(order):
        for _, opener, inner in node.branches:
            node.end_line = max(node.end_line, opener.end_line, *(held.end_line for held in inner[-1:]))
    return top


def text_of(words: Sequence[Word], most: int = 0) -> str:
    """Words as a person writes them, on one line, literals as they are; with `most`, at most so many characters."""
    parts: list[str] = []
    before = "("
    for word in words:
        text = " ".join(word.text.split()) if word.kind == "exec" else word.text
        glued = before in _OPENING or text in _CLOSING or (text == "(" and _takes_arguments(before))
        parts.append(text if glued else " " + text)
        before = text
    line = "".join(parts)
    return line[: most - 1] + "…" if most and len(line) > most else line


def _takes_arguments(word: str) -> bool:
    upper = word.upper()
    return word[0].isalnum() and (upper.startswith("DFH") or not is_reserved(upper))


def walk(top: Sequence[Node]) -> Iterator[tuple[Node, int]]:
    """All nodes in order, with how many decisions and loops stand around each."""
    stack = [(node, 0) for node in reversed(top)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        within = depth + (node.said.verb in _NESTING)
        stack += [(inner, within) for _, _, branch in reversed(node.branches) for inner in reversed(branch)]


def is_branch(verb: str) -> bool:
    """Is this entry a branch of the statement before it: ELSE, WHEN, AT END …?"""
    return verb in _BRANCHES


def _label(said: Said) -> str:
    return text_of(said.words) if said.verb == "WHEN" else said.verb


def is_inline(keys: Sequence[str]) -> bool:
    """Is this PERFORM a loop around statements, rather than one of a paragraph?"""
    rest = keys[1:3]
    return (
        not rest
        or rest[0] in _LOOPS
        or rest[0] == "."
        or ((len(rest) > 1 and rest[1] == "TIMES") or rest[0] == "TIMES")
    )
