"""What does each statement say: which words, in which paragraph, and nested in which other statements?

Leaves to others: what the words mean. Laws: time is linear in the code; a statement that is never closed ends with its sentence,
as in COBOL.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ..lexing import spelled_tokens
from ..reading import BREAK
from ..reserved import is_reserved
from ..verbs import OPENING
from .execs import ExecCommand, command
from .translated import commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..program import Exec, TokenKind
    from .expanding import CodePiece

_BEFORE_OPERAND = frozenset({"(", ":"})
_BEHIND_OPERAND = frozenset({")", ":", ","})
_GLUED = _BEFORE_OPERAND | _BEHIND_OPERAND
_NESTING = OPENING | {"PERFORM"}
_LOOPS = frozenset({"UNTIL", "VARYING", "WITH", "TEST", "FOREVER"})
_BEHIND_NAMES = _LOOPS | {"OF", "IN", "THRU", "THROUGH"}
_SPELLINGS = {"INITIALISE": "INITIALIZE"}
"""Verbs that GnuCOBOL and others spell in two ways: facts know them by one."""
PHRASES = frozenset(
    negation + phrase
    for phrase in ("AT END", "AT END-OF-PAGE", "INVALID KEY", "ON SIZE ERROR", "ON OVERFLOW", "ON EXCEPTION")
    for negation in ("", "NOT ")
) | {"ON STATUS"}
"""The condition phrases, with and without NOT: the statements after one run if the preceding statement meets its condition."""
BRANCHES = PHRASES | {"ELSE", "WHEN"}


_CACHED = 1 << 14
"""The number of statement texts whose words are cached, some 15 MB: half of an estate's statements repeat another one."""
_LONG = 500
"""A text of this many characters or more is not cached: it is hardly ever repeated, and may be a megabyte long."""


class Phrase:
    """The words of a statement without their places; statements with the same text share one.

    Args:
        text: The code of the statement; periods in it are not words.
    """

    __slots__ = ("_text", "begins", "keys", "kinds", "texts")

    def __init__(self, text: str) -> None:
        found = [word for word in spelled_tokens(text) if word[1] != "period"]
        self.texts: tuple[str, ...] = tuple([word for word, _, _ in found])
        self.kinds: tuple[TokenKind, ...] = tuple([kind for _, kind, _ in found])
        # Literals keep their case: they are values. Everything else is case-insensitive.
        self.keys: tuple[str, ...] = tuple([word if kind == "literal" else word.upper() for word, kind, _ in found])
        is_one_line = BREAK not in text and "\n" not in text.rstrip()
        self.begins: tuple[int, ...] = () if is_one_line else tuple([at for _, _, at in found])
        """The offset of each word in the text; empty if all are on one line, as in most statements."""
        self._text: str | None = None

    @property
    def text(self) -> str:
        """The statement on one line, as a person writes it."""
        if self._text is None:
            self._text = text_of(self.texts, self.kinds)
        return self._text


_remembered = lru_cache(_CACHED)(Phrase)


class Site(NamedTuple):
    """The identity of a statement in a program; copied code has one for each COPY that includes it."""

    copybook: str | None
    start: int
    """The offset of the statement in the code of its own source."""
    line: int
    """The line of the statement in the program; for copied code, that of the COPY."""


_BEHIND_FILES = {(), ("NEXT",), ("INTO",), ("FROM",), ("AT",), ("INVALID",), ("RECORD",)}
"""What follows the name of a file or record, so that one may be called SUBFILE."""


class ReadStatement(NamedTuple):
    """A statement with its words: the input of every module that collects facts.

    The `line` and `end_line` of a statement in a copybook are those of the COPY that includes it, so that they are always in
    the program's file; `start` is an offset into the code of its own source.
    """

    verb: str
    keys: tuple[str, ...]
    """The words in capitals, literals unchanged; the first one is the verb."""
    phrase: Phrase
    """The words as spelled, parallel to `keys`."""
    lines: tuple[int, ...]
    """The line of each word in the file that contains it, parallel to `keys`."""
    line: int
    end_line: int
    depth: int
    """The number of open statements around it in its sentence."""
    sentence: int
    paragraph: int
    """The key of the paragraph of the program that contains it, or its COPY; -1 for none."""
    copybook: str | None
    """The copybook that contains it; None if the program does."""
    start: int
    header: str = ""
    """The copied paragraph that contains it; "" if that is one of the program."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the words as spelled, parallel to `keys`."""
        return self.phrase.texts

    @property
    def kinds(self) -> tuple[TokenKind, ...]:
        """Return the kinds of the words, parallel to `keys`."""
        return self.phrase.kinds

    @property
    def operand(self) -> str:
        """Return the first operand in capitals, "" if there is none: of READ and WRITE, the file or record, also after SUBFILE."""
        at = 2 if self.keys[1:2] == ("SUBFILE",) and self.keys[2:3] not in _BEHIND_FILES else 1
        return self.keys[at] if len(self.keys) > at else ""

    def line_at(self, at: int) -> int:
        """Return the line of the program for the word at an index: its own, or that of the COPY that includes the statement."""
        return self.line if self.copybook else self.lines[at]

    def text(self, most: int = 0) -> str:
        """Return the statement on one line, shortened to `most` characters including the ellipsis; 0 for no limit."""
        return clipped(self.phrase.text, most) if most else self.phrase.text

    @property
    def site(self) -> Site:
        """Return the identity of the statement."""
        return Site(self.copybook, self.start, self.line)


class Block(NamedTuple):
    """An EXEC block with its place, and its CICS or DL/I command parsed; for SQL the command is empty."""

    exec: Exec
    command: ExecCommand
    line: int
    end_line: int
    paragraph: int
    copybook: str | None
    header: str = ""
    """The copied paragraph that contains it; "" if that is one of the program."""


class Node:
    """A statement with its branches, each as its label, the entry that opens it, and its statements."""

    __slots__ = ("branches", "end_line", "said")

    def __init__(self, said: ReadStatement) -> None:
        self.said = said
        self.branches: list[tuple[str, ReadStatement, list[Node]]] = []
        self.end_line = said.end_line  # including its branches


class Code:
    """All statements and EXEC blocks of a program and of the copybooks in its PROCEDURE DIVISION, in order.

    Args:
        pieces: The program itself first, then its procedure copybooks, as `expanding` returns them.
    """

    def __init__(self, pieces: Sequence[CodePiece]) -> None:
        self.pieces = pieces
        self.program = pieces[0].program
        self._starts = [paragraph.start_line for paragraph in self.program.paragraphs]
        self.said: list[ReadStatement] = []
        self.blocks: list[Block] = []
        self._translated: set[tuple[str | None, int]] = set()
        for piece in pieces:
            self.said += self._read(piece)
            self.blocks += self._blocks(piece)
        self.own = [said for said in self.said if said.copybook is None]
        self._at: dict[str, list[int]] = {}  # the indexes in `said` of the statements of each verb
        for at, said in enumerate(self.said):
            self._at.setdefault(said.verb, []).append(at)

    def of(self, *verbs: str) -> list[ReadStatement]:
        """Return the statements of some verbs, in order: most facts concern few verbs, and need not search all statements."""
        found = [at for verb in verbs for at in self._at.get(verb, ())]
        return [self.said[at] for at in (sorted(found) if len(verbs) > 1 else found)]

    @cached_property
    def places(self) -> dict[Site, int]:
        """The index of each statement in `said`."""
        return {said.site: at for at, said in enumerate(self.said)}

    def is_exec(self, said: ReadStatement) -> bool:
        """Return whether a statement is an EXEC block, or the CALL that a translator made of one.

        The arguments are then those of the command, which says how they are used.
        """
        return said.verb.startswith("EXEC ") or (
            said.verb == "CALL" and (said.copybook, said.lines[0]) in self._translated
        )

    def paragraph(self, line: int) -> int:
        """Return the key of the paragraph that contains a line of the program; -1 for none."""
        at = bisect_right(self._starts, line) - 1
        return at if at >= 0 and line <= self.program.paragraphs[at].end_line else -1

    def name(self, paragraph: int, header: str = "") -> str:
        """Return the name of a paragraph, by its key: that of the section for code directly after a section header; "" for code
        before any header, and for -1.

        Args:
            paragraph: Its key.
            header: The copied paragraph, which comes first: its code is cited at or behind the COPY, in the lines of another one.
        """
        if header or paragraph < 0:
            return header
        found = self.program.paragraphs[paragraph]
        return found.name or found.section or ""

    def _read(self, piece: CodePiece) -> Iterator[ReadStatement]:
        """Yield the statements of one piece with their words."""
        source, copybook = piece.source, piece.copybook
        is_headed = copybook is not None or bool(piece.headed)
        for verb, line, end_line, depth, sentence, start, end in piece.program.statements:
            phrase = (_remembered if end - start < _LONG else Phrase)(source.code[start:end])
            keys, begins = phrase.keys, phrase.begins
            lines = tuple([source.line_at(start + at) for at in begins]) if begins else (line,) * len(keys)
            header = piece.header_at(line) if is_headed else ""
            if copybook:
                line, end_line = piece.line, piece.end_line  # noqa: PLW2901
            place = self.paragraph(line)
            known = _SPELLINGS.get(verb, verb)
            yield ReadStatement(
                known, keys, phrase, lines, line, end_line, depth, sentence, place, copybook, start, header
            )

    def _blocks(self, piece: CodePiece) -> Iterator[Block]:
        """Yield the EXEC blocks of one piece, and the commands that a translator left as comments, in order."""
        translated = commands(piece.source, piece.program)
        self._translated.update((piece.copybook, line) for line in translated.lines)
        execs = piece.program.execs
        if translated.execs:  # sorted stably: on one line, a cursor is declared before it is opened
            execs = tuple(sorted((*execs, *translated.execs), key=attrgetter("line")))
        for found in execs:
            line, end_line = (piece.line, piece.end_line) if piece.copybook else (found.line, found.end_line)
            parsed = command(found.text) if found.kind in {"CICS", "DLI"} else ExecCommand("", ())
            header = piece.header_at(found.line)
            yield Block(found, parsed, line, end_line, self.paragraph(line), piece.copybook, header)


def nests(said: Sequence[ReadStatement]) -> list[Node]:
    """Return the statements of a paragraph as trees: an IF or a phrase contains its statements.

    Args:
        said: The statements in order, with ELSE, WHEN, phrases and terminators between them.

    Returns:
        The outermost statements, in order; the others are in their branches.
    """
    # The scanner has already determined the depths, so no stack of open statements is needed here: `lists[d]` is the list
    # that a statement of depth d belongs to, and lists deeper than the current entry are dropped. A branch opens the next
    # deeper list; so do IF and PERFORM for the statements directly after them. EVALUATE and SEARCH open one that their
    # first WHEN replaces. No recursion: ten thousand nested IFs are legal, and are tested.
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
                # Not its end line: a period on a line of its own may follow after comments.
                here[-1].end_line = max(here[-1].end_line, one.line)
            continue
        if one.verb in BRANCHES:
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
    # From the innermost outwards, because the end of a statement depends on the ends of those in it.
    for node in reversed(order):
        for _, opener, inner in node.branches:
            node.end_line = max(node.end_line, opener.end_line, inner[-1].end_line if inner else 0)
    return top


def text_of(words: Sequence[str], kinds: Sequence[TokenKind]) -> str:
    """Return words joined as a person writes them: on one line, with single blanks, none inside parentheses, literals unchanged.

    Args:
        words: The words in order.
        kinds: Their kinds.
    """
    texts = [" ".join(text.split()) if kind == "exec" else text for text, kind in zip(words, kinds, strict=True)]
    if _GLUED.isdisjoint(texts):  # as most statements are
        return " ".join(texts)
    parts: list[str] = []
    before = "("
    for text in texts:
        # As in `TABLE-X(IX)` and `NAME(1:2)`, but `IF (A = B)`.
        glued = before in _BEFORE_OPERAND or text in _BEHIND_OPERAND or (text == "(" and _takes_arguments(before))
        parts.append(text if glued else " " + text)
        before = text
    return "".join(parts)


def clipped(line: str, most: int) -> str:
    """Return a line shortened to `most` characters, including the ellipsis."""
    return line if len(line) <= most else line[: most - 1] + "…"


def _takes_arguments(word: str) -> bool:
    """Return whether a parenthesis after a word belongs to it: after a name, or DFHRESP and the like, but not after a reserved
    word.
    """
    upper = word.upper()
    return word[0].isalnum() and (upper.startswith("DFH") or not is_reserved(upper))


def walk(top: Sequence[Node]) -> Iterator[tuple[Node, int]]:
    """Yield all nodes in source order, each with the number of decisions and loops around it.

    The stack is explicit because the code may be nested deeper than the interpreter's recursion limit.
    """
    stack = [(node, 0) for node in reversed(top)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        if node.branches:
            within = depth + (node.said.verb in _NESTING)
            stack += [(inner, within) for _, _, branch in reversed(node.branches) for inner in reversed(branch)]


def _label(said: ReadStatement) -> str:
    """Return the label of a branch: the words of a WHEN, otherwise the verb."""
    return said.text() if said.verb == "WHEN" else said.verb


def performed_at(keys: Sequence[str]) -> int:
    """Return the index of the paragraph that a PERFORM with these words names: the first word, or the one after (IN) THREAD.

    Where THREAD is not a word of the language, it may itself be that paragraph.
    """
    thread = 2 if keys[1:2] == ("IN",) else 1
    behind = keys[thread + 1 : thread + 3]
    is_thread = keys[thread : thread + 1] == ("THREAD",) and behind and behind[0] not in _BEHIND_NAMES
    return thread + 1 if is_thread and behind[1:] != ("TIMES",) else 1


def is_inline(keys: Sequence[str]) -> bool:
    """Return whether a PERFORM with these words contains statements, rather than naming a paragraph."""
    rest = keys[1:3]
    return not rest or rest[0] in _LOOPS or "TIMES" in rest
