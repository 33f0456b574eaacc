"""Where do statements, paragraphs and sections begin, judging by the state of the sentence and never by the line?

COBOL has no statement separator: a statement begins at a verb and ends at the next verb, phrase, terminator or period. So the
reader passes over words and only checks whether each begins an entry; operands are never parsed.

What is open (IF, EVALUATE, inline PERFORM, a phrase such as AT END) is on a stack that a period empties. A header is a word, or a
word and SECTION, with a period, directly after the end of a sentence; the one-word sentences are a list and not a prefix, because
a paragraph may well be called END-PROGRAM. If a sentence lacks its period, `headers` decides whether a name in area A is a header
nevertheless.

Leaves to others: lines (`assembly`) and the names of targets (`edges`). Law: one pass, linear in the code, however deep the
statements nest.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from .embedded import EMBEDDED, is_embedded
from .headers import Unended
from .lexing import COPY, EXEC, NAME, PERIOD, QUOTED, REPLACE, RUN
from .verbs import (
    DIALECT,
    FORMS,
    NETWORK,
    OPENING,
    OWNERS,
    PHRASE,
    PHRASES,
    PLAIN,
    SIMPLE,
    STRANGE,
    VERBS,
    verbs_of,
)
from .words import DIVISIONS, ENDED, TERMINATORS, UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_HEADER = rf"(?P<head>{NAME})(?>\s++(?P<section>SECTION)(?>\s++(?P<segment>\d++)|)|)(?=\s*+{PERIOD})"
_BEGUN = re.compile(rf"[\s,;]*+{_HEADER}")
_DOTTED = rf"{NAME}\.(?=[A-Z])"
"""Text between two periods without a blank: part of a foreign name such as `java.time.LocalDate`, and not a header."""
# A period takes the header after it into the same match: only there can one be, so that no other word is ever
# examined.
_TOKEN = re.compile(
    rf"(?>(?:[\s(),;]++|{QUOTED})*)"
    rf"(?:(?P<block>{EXEC}|{COPY}|{REPLACE})|(?P<word>{RUN})|(?P<period>{PERIOD})(?>(?!{_DOTTED})[\s,;]*+{_HEADER}|)|\Z)"
)
_BLOCK, _WORD, _PERIOD, _HEAD = (_TOKEN.groupindex[name] for name in ("block", "word", "period", "head"))

_EXECS = ("EXEC CICS", "EXEC SQL", "EXEC DLI", "EXEC ORACLE")
"""The blocks that are read, or that do not execute anything; what others do is not known."""
_NESTED = frozenset({"IF", "EVALUATE", "PERFORM"})
_PART_OF = {"ELSE": "IF", "END-IF": "IF", "WHEN": "EVALUATE", "END-EVALUATE": "EVALUATE", "END-PERFORM": "PERFORM"}
"""The words that continue or end a statement around them, and the name of that statement."""
_IDS = frozenset(f"{unit}-ID" for unit in UNITS.split("|"))

_DIVISION = re.compile(rf"(?<![\w-])(?:{DIVISIONS})\s++\Z")
_END = re.compile(rf"END\s++(?:(?P<unit>{ENDED})|(?P<declaratives>DECLARATIVES))(?![\w-])")
# A word of a dialect is a name after one of the first words or before one of the second, as in MOVE COMMIT TO FREE or
# IF SEND > 2. Among the first are verbs that mean nothing without an operand: ACCEPT ENTER.
_OPERAND_FOLLOWS = re.compile(
    r"(?<![\w-])(?:TO|OF|IN|FROM|BY|INTO|GIVING|USING|FOR|WITH|AND|OR|NOT|THAN|UNTIL|UPON|=|<|>|\+|\*|/"
    r"|ACCEPT|ADD|COMPUTE|DISPLAY|DIVIDE|EVALUATE|IF|INITIALIZE|INSPECT|MOVE|MULTIPLY|SET|SUBTRACT)\s*+\Z"
)
_NO_VERB = re.compile(
    r"[\s]*+(?:[=<>+*/)(]|-\s|(?:TO|OF|IN|BY|FROM|IS|EQUAL|GREATER|LESS|NOT|THRU|THROUGH|DELIMITED|GIVING|INVALID|AT\s++END)(?![\w-]))"
)
_BEGINS_SENTENCE = re.compile(r"(?:\.|\A)\s*+\Z")
_NOTED = re.compile(PERIOD)
_NOTED_ALL = re.compile(
    rf"{PERIOD}(?=(?>(?:[^\S\n]*+\n)+) {{0,3}}"
    rf"(?:{NAME}(?>\s++SECTION(?>\s++\d++|)|)\s*+{PERIOD}|(?:{DIVISIONS})\s++DIVISION|END\s++(?:{ENDED}|DECLARATIVES)))"
)
"""The end of a NOTE that is the first sentence of a paragraph: before the next header, which begins a line. Any other NOTE ends
with its sentence."""
_MOST_NOTED = 20_000
"""How many characters of a NOTE are searched for that header."""
_LOOP = re.compile(
    rf"PERFORM[\s,;]++(?:(?P<loop>(?:UNTIL(?>\s++EXIT(?![\w-])|)|VARYING|WITH|TEST|FOREVER|FUNCTION)(?![\w-]))|(?P<first>{NAME})"
    rf"(?>(?P<times>(?>(?:\s++(?:OF|IN)\s++{NAME})*)(?>\s*+\([^()]*+\)|)\s++TIMES(?![\w-]))|))"
)
_DATA_BEGINS = re.compile(
    r"[\s,;]*+(?:(?:0?[1-9]|[1-4]\d|66|77|78|88)\s++(?!(?:SECTION|TIMES)\b)(?:[^\W\d_]|:)|(?:FD|SD|SELECT)\s)"
)

_UNREAD = re.compile(r"[\s,;.]*+[^\s,;.]")
_LAST = re.compile(r"[\s,;.]*+END[\s.]*+\Z")
"""The card that ends a source on NEC's systems and other old ones."""

Row = tuple[str, int, int, int]
"""An entry: its verb, the offset where it begins, how many statements are open around it, and its sentence. The verb of a header
is ""."""


HeaderKind = Literal["section", "paragraph", "declaratives", "end declaratives", "end"]
"""The kind of a header; `end` is that of the last one of a division."""


class Header(NamedTuple):
    """The beginning of a section or paragraph, or the beginning or end of the declaratives."""

    kind: HeaderKind
    start: int
    end: int
    """The offset after the name."""
    segment: int | None
    """The number after SECTION; None if there is none."""
    row: int
    """The index of the row of a header."""


class Dialect(NamedTuple):
    """The words that begin a statement in a source, with their handlers; those that are a sentence alone, and those of a shop's
    preprocessor; and the recognition of headers after a sentence without its period.
    """

    handlers: Mapping[str, Callable[[Procedure, str, int], None]]
    one_word: frozenset[str]
    shop: frozenset[str]
    unended: Unended


class Procedure:
    """Reads one PROCEDURE DIVISION; `rows` and `headers` hold what it found, `blocks` the places of EXEC and COPY.

    `begun` holds the beginning of each sentence without a header: text there before the first row is not a known statement
    (`unread`). `assumed` holds the headers after a sentence without its period.

    Every word that may begin an entry has a handler; a word without one is an operand and is skipped. Handlers set
    `_until` to the end of what they took, so that the words of a phrase are not read again, and `_ended` to where
    something begins that does not belong to this division.

    Args:
        folded: The whole code, folded.
        dialect: `dialect(folded)`.
        mixed: Whether data entries may follow the statements, as they may in a copybook.
    """

    def __init__(self, folded: str, dialect: Dialect, *, mixed: bool = False) -> None:
        self.rows: list[Row] = []
        self.headers: list[Header] = []
        self.blocks: list[tuple[int, int]] = []
        self.begun: list[int] = []
        self.loops: set[int] = set()  # where each inline PERFORM begins
        self.assumed: list[Header] = []
        self._folded = folded
        self._mixed = mixed  # data may follow: a copybook
        self._open: list[str] = []  # the statements around the next one; an IF that has its ELSE is called ELSE
        # How many of the open statements have each name. Without it, a terminator that matches none of them would
        # search the whole stack: n IFs and n END-READs would take n * n steps.
        self._often: dict[str, int] = {}
        self._last = ""  # the statement that a phrase may follow
        self._sentence = -1
        self._until = 0  # up to where the code is read
        self._ended = -1  # where something begins that does not belong to this division
        self._noted = -1  # where code continues after the text of a NOTE
        self._handlers, self._one_word, self._shop, self._unended = dialect

    def read(self, at: int) -> int:
        """Read from the beginning of a sentence to the end of the division, and return the offset of that.

        May be called again for the same division: in a copybook, statements and data alternate.
        """
        self._ended = -1
        self._end_sentence()
        begun = _BEGUN.match(self._folded, at)
        if begun:
            at = begun.end()
            self._head(begun)
        else:
            self.begun.append(at)
        end = self._tokens(at) if self._ended < 0 else self._ended
        while self._noted >= 0:
            at, self._noted, self._ended = self._noted, -1, -1
            end = self._tokens(at)
        self._header("end", end, end)
        return end

    def unread(self) -> list[tuple[int, int]]:
        """Return what is not a known statement, as (start, end) offsets in order: unknown beginnings of sentences, the
        statements of a shop's own preprocessor, and EXEC blocks that are not read or have an unknown command.

        A sentence that begins with an unknown verb and continues with a known one is unread up to that one. Unknown words
        after a known statement are taken for its operands: only an undeclared name would show otherwise.
        """
        starts = [row[1] for row in self.rows]
        found = []
        blocks = {row[0] for row in self.rows if row[0].startswith("EXEC ") and not row[0].startswith(_EXECS)}
        unknown = self._shop | blocks | {STRANGE}
        rows = {
            row[1]
            for row in self.rows
            if row[0] in unknown or (row[0] in EMBEDDED and not is_embedded(self._folded, row[1]))
        }
        if rows:
            sentences = [*self.begun, *(header.start for header in self.headers)]
            sentences.sort()
            for row, after in pairwise([*self.rows, ("", len(self._folded), 0, 0)]):
                if row[1] in rows:
                    ended = bisect_left(sentences, row[1] + 1)
                    found.append((row[1], min(after[1], *sentences[ended : ended + 1], len(self._folded))))
        for begun, end in pairwise([*self.begun, len(self._folded)]):
            following = bisect_left(starts, begun)
            before = min(end, starts[following]) if following < len(starts) else end
            words = _UNREAD.match(self._folded, begun, before)
            if words is not None and not (end == len(self._folded) and _LAST.match(self._folded, begun)):
                found.append((words.end() - 1, before))
        return sorted(found)

    def _tokens(self, at: int) -> int:
        """Read words up to the end of the division. The loop itself processes the plain verbs, because they are the most
        frequent.
        """
        rows, simple, handlers = self.rows, SIMPLE, self._handlers
        # Blanks, punctuation and literals are skipped inside the expression: nothing in them can begin an entry, and
        # each would cost a step of this loop.
        for token in _TOKEN.finditer(self._folded, at):
            word = token[_WORD]
            if word is None:
                if token[_PERIOD] is not None:
                    self._period(token)
                elif token[_BLOCK] is not None:
                    self._block(token)
            elif word in simple and token.start(_WORD) >= self._until:
                rows.append((word, token.start(_WORD), len(self._open), self._sentence))
                self._last = word
                continue
            # What a handler took as one entry (AT END, EXIT PERFORM) is not processed again, word by word.
            elif word in handlers and token.start(_WORD) >= self._until:
                handlers[word](self, word, token.start(_WORD))
            else:
                continue
            if self._ended >= 0:
                return self._ended
        return len(self._folded)

    def _period(self, token: re.Match[str]) -> None:
        """End the sentence; after its period, a header may follow or, in a copybook, data."""
        # No sentence has begun at the period of a header.
        if self.begun and (not self.headers or self.headers[-1].start <= self.begun[-1]):
            lone = self._unended.header(self.begun[-1], token.start(_PERIOD))
            if lone is not None and lone["head"] not in self._handlers:
                self._end_sentence()
                self._head(lone)
                self.assumed.append(self.headers[-1])
        if self._open and token[_HEAD] is None and self._is_of_copy(token):
            return
        if token[_HEAD] is not None and self._is_operand(token):
            return
        self._end_sentence()
        if token[_HEAD] is not None:
            self._head(token)
            return
        self.begun.append(token.end())
        if self._mixed and _DATA_BEGINS.match(self._folded, token.end()):
            self._ended = token.end()

    def _is_of_copy(self, token: re.Match[str]) -> bool:
        """Return whether a period only ends a COPY: `IF A COPY X. MOVE B TO C END-IF` is one statement.

        The copied text replaces the COPY with its period, and it is not known here whether that text ends with one. If a
        part of an open statement follows before the next period, it does not.
        """
        if self.rows[-1][0] != "COPY" or self.blocks[-1][1] > token.start():
            return False
        if self._folded[self.blocks[-1][1] : token.start(_PERIOD)].strip():
            return False  # operands of the statement around the COPY
        opened: dict[str, int] = {}
        for following in _TOKEN.finditer(self._folded, token.end()):
            word = following[_WORD]
            if following[_PERIOD] is not None or (word is None and following[_BLOCK] is None):
                return False
            if word in _NESTED and (word != "PERFORM" or self._loop(following.start(_WORD)) is not None):
                opened[word] = opened.get(word, 0) + 1
            elif word is not None and (around := _PART_OF.get(word)) is not None:
                if not opened.get(around):
                    return around in self._open or (around == "IF" and "ELSE" in self._open)
                opened[around] -= word.startswith("END-")
        return False

    def _is_operand(self, token: re.Match[str]) -> bool:
        """Return whether a period only ends a COPY, and the word behind it is an operand, as in `INITIALIZE COPY X. Y.`.

        The copied text replaces the COPY with its period. The word is in area B, and either it is an item, or the COPY is within a
        statement and nothing performs the word.
        """
        rows, word = self.rows, token["head"]
        if not rows or rows[-1][0] != "COPY" or token["section"] is not None:
            return False
        if word in self._handlers or word in self._one_word:
            return False
        if self._folded[self.blocks[-1][1] : token.start(_PERIOD)].strip():
            return False  # operands of the statement around the COPY
        is_within = len(rows) > 1 and rows[-2][0] != "" and rows[-2][3] == self._sentence
        return self._unended.is_in_area_b(token.start(_HEAD)) and self._unended.is_operand(word, is_within=is_within)

    def _end_sentence(self) -> None:
        """Count a sentence and close everything that is open: nothing extends over a period."""
        self._sentence += 1
        self._last = ""
        if self._open:
            self._open.clear()
            self._often.clear()

    def _head(self, token: re.Match[str]) -> None:
        """Process a word with a period at the beginning of a sentence."""
        word, (start, end) = token["head"], token.span("head")
        if word in self._one_word:  # including EXIT SECTION
            self._handlers.get(word, Procedure._row)(self, word, start)
            return
        kind: HeaderKind = "paragraph"
        segment = None
        if token["section"]:
            kind = "section"
            segment = int(token["segment"][:9]) if token["segment"] else None
        elif word in _IDS:
            self._ended = start
            return
        elif word == "DECLARATIVES":
            kind = "declaratives"
        self._header(kind, start, end, segment)

    def _header(self, kind: HeaderKind, start: int, end: int, segment: int | None = None) -> None:
        """Record a header, and a row without a verb that ends the statement before it."""
        self.headers.append(Header(kind, start, end, segment, len(self.rows)))
        self.rows.append(("", start, 0, self._sentence))

    def _block(self, token: re.Match[str]) -> None:
        """Record an EXEC block, which is a statement, or a COPY or REPLACE, which is not and may be inside one."""
        start, end = token.span(_BLOCK)
        self.blocks.append((start, end))
        if token["exec"]:
            self._row(f"EXEC {token['exec']}", start)
        else:
            is_alone = not self.rows or self.rows[-1][3] != self._sentence or self.rows[-1][0] in {"", "COPY"}
            verb = "REPLACE" if self._folded.startswith("REPLACE", start) else "COPY"
            self.rows.append((verb, start, len(self._open), self._sentence))
            # The include of a librarian is a line without a period, so a header may directly follow it.
            if is_alone and self._folded.startswith(("-INC", "++INCLUDE"), start):
                begun = _BEGUN.match(self._folded, end)
                if begun and begun["head"] not in self._one_word and begun["head"] not in self._handlers:
                    self._end_sentence()
                    self._head(begun)

    def _row(self, verb: str, start: int) -> None:
        """Record an entry that a phrase may follow."""
        self.rows.append((verb, start, len(self._open), self._sentence))
        self._last = verb

    def _push(self, name: str) -> None:
        """Open a statement or a branch of one, which contains what follows."""
        self._open.append(name)
        self._often[name] = self._often.get(name, 0) + 1
        self._last = ""

    def _pop_to(self, *names: str) -> str:
        """Close what is open up to and including the innermost of these; return its name, or "" if none is open."""
        # Checked first, so that nothing is closed if nothing fits: a stray END-READ leaves the IFs around it open.
        if not any(map(self._often.get, names)):
            return ""
        while True:
            name = self._open.pop()
            self._often[name] -= 1
            if name in names:
                return name

    def _opening(self, verb: str, start: int) -> None:
        """Process IF, EVALUATE or SEARCH, which contain the statements that follow."""
        self._row(verb, start)
        self._push(verb)

    def _form(self, verb: str, start: int) -> None:
        """Process a verb of several words; without those that it requires, it is a name."""
        form = FORMS[verb].match(self._folded, start)
        if form:
            self._until = form.end()
            self._row("GO TO" if verb == "GO" else " ".join(form[0].split()), start)
            self._last = verb

    def _dialect(self, verb: str, start: int) -> None:
        """Process a word that is a verb only in some dialects, unless its context shows that it is a name."""
        folded = self._folded
        # Eighty characters back are enough for a word and its blanks; going back to the beginning of the sentence would
        # be quadratic.
        if not _OPERAND_FOLLOWS.search(folded[max(start - 80, 0) : start]) and not _NO_VERB.match(
            folded, start + len(verb)
        ):
            self._row(verb, start)

    def _note(self, verb: str, start: int) -> None:
        """Process the NOTE of old compilers, whose words are only text, including verbs and one-word sentences."""
        if _BEGINS_SENTENCE.search(self._folded, max(start - 400, 0), start) is None:
            return
        is_first = not self.rows or self.rows[-1][0] == ""
        ends = (_NOTED_ALL.search(self._folded, start, start + _MOST_NOTED) if is_first else None) or _NOTED.search(
            self._folded, start
        )
        self._row(verb, start)
        self._noted = self._ended = ends.start() if ends is not None else len(self._folded)

    def _perform(self, verb: str, start: int) -> None:
        """Process a PERFORM, and open it if it is inline.

        It is if UNTIL, VARYING or the like follows, or a verb, or a count with TIMES. `PERFORM 200 3 TIMES` names a
        paragraph 200; `PERFORM 3 TIMES` none.
        """
        self._row(verb, start)
        if (loop := self._loop(start)) is not None:
            self.loops.add(start)
            self._push(verb)
            self._until = loop.end("loop")
        else:
            self._last = ""  # an END-PERFORM after it ends a loop around it: PERFORM of paragraphs has none

    def _loop(self, start: int) -> re.Match[str] | None:
        """Return the words that make a PERFORM inline; None for one of paragraphs."""
        loop = _LOOP.match(self._folded, start)
        return loop if loop and (loop["loop"] or loop["times"] or loop["first"] in VERBS) else None

    def _terminator(self, word: str, start: int) -> None:
        """Process END-IF and the like, and close the innermost statement that it ends."""
        verb = word[4:]
        # A READ without phrases opened nothing: its END-READ must not close a READ further out.
        if self._last != verb:
            self._pop_to(*(("IF", "ELSE") if verb == "IF" else (verb,)))
        self._row(word, start)

    def _else(self, word: str, start: int) -> None:
        """Process an ELSE, which belongs to the innermost IF that has none yet."""
        # From here on the IF is called ELSE, so that a second ELSE finds the IF around it.
        self._pop_to("IF")
        self._row(word, start)
        self._push("ELSE")

    def _otherwise(self, _: str, start: int) -> None:
        """Process the OTHERWISE of old compilers, which is an ELSE; if no IF is open, it is a name."""
        if self._often.get("IF"):
            self._else("ELSE", start)

    def _when(self, word: str, start: int) -> None:
        """Process a WHEN: it closes the branch before it, and reopens its EVALUATE or SEARCH for its own branch."""
        owner = self._pop_to("EVALUATE", "SEARCH")
        self._row(word, start)
        if owner:
            self._push(owner)

    def _phrase(self, _: str, start: int) -> None:
        """Process AT END, INVALID KEY and the like, with or without NOT, and reopen the statement that may have it; if there
        is none, it is not a phrase.
        """
        phrase = PHRASE.match(self._folded, start)
        if phrase is None or phrase.lastgroup is None:
            return
        owners = OWNERS[phrase.lastgroup]
        # The statement directly before comes first; otherwise the phrase is the second one of an open statement (AT END
        # ... NOT AT END).
        owner = self._last if self._last in owners else self._pop_to(*owners) or self._other_owner(phrase)
        if owner:
            name = phrase.lastgroup.replace("_", " ").replace("END OF PAGE", "END-OF-PAGE")
            self._row(f"NOT {name}" if phrase["not"] else name, start)
            self._push(owner)
            self._until = phrase.end()

    def _other_owner(self, phrase: re.Match[str]) -> str:
        """Return the statement that has a phrase only in some dialect; "" if it is not a phrase.

        That is the statement directly before, known or not: `LOCK ORDERS ON EXCEPTION GO TO DONE.` jumps only on that
        exception, whatever LOCK may be.
        """
        if not PLAIN.match(phrase[0]):
            return ""
        if self._often.get(STRANGE):
            return self._pop_to(STRANGE)
        if self.rows and self.rows[-1][0] and self.rows[-1][3] == self._sentence:
            return self._last
        unknown = _UNREAD.match(self._folded, self.begun[-1], phrase.start()) if self.begun else None
        if unknown is None:
            return ""
        self.rows.append((STRANGE, unknown.end() - 1, 0, self._sentence))
        return STRANGE

    def _status(self, word: str, start: int) -> None:
        """Process the ON of a database statement: what follows is done on that status, up to the period."""
        if self._last in NETWORK:
            owner = self._last
            self._row("ON STATUS", start)
            self._push(owner)
        else:
            self._phrase(word, start)

    def _end(self, word: str, start: int) -> None:
        """Process END: of a unit, which ends the division, of the declaratives, or of the phrase AT END."""
        end = _END.match(self._folded, start)
        if end is None:
            self._phrase(word, start)
        elif end["unit"]:
            self._ended = start
        else:
            self._until = end.end()
            self._header("end declaratives", start, end.end())

    def _division(self, _: str, start: int) -> None:
        """End at a division header. Only its second word has a handler, so the first is found backwards."""
        # Only as far back as blanks and line ends between the two words may reach, because this runs at every word
        # DIVISION.
        before = self._folded[max(start - 400, 0) : start]
        division = _DIVISION.search(before)
        if division:
            self._ended = start - len(before) + division.start()

    def _id(self, _: str, start: int) -> None:
        """End at PROGRAM-ID and the like: another program begins without a division header."""
        self._ended = start


# Functions of the class and not methods of an instance: an instance that holds its own methods is a reference cycle, and all that
# it has found would stay in memory until the garbage collector runs.
_HANDLERS: dict[str, Callable[[Procedure, str, int], None]] = {
    **dict.fromkeys(OPENING, Procedure._opening),
    **dict.fromkeys(FORMS, Procedure._form),
    **dict.fromkeys(TERMINATORS, Procedure._terminator),
    **dict.fromkeys(PHRASES, Procedure._phrase),
    **dict.fromkeys(DIALECT, Procedure._dialect),
    **dict.fromkeys(_IDS, Procedure._id),
    "NOTE": Procedure._note,
    "PERFORM": Procedure._perform,
    "ELSE": Procedure._else,
    "OTHERWISE": Procedure._otherwise,
    "WHEN": Procedure._when,
    "END": Procedure._end,
    "DIVISION": Procedure._division,
    "EXEC": Procedure._row,
}


def dialect(folded: str, areas: tuple[int, ...] = ()) -> Dialect:
    """Return what begins a statement in a source; called once, because a file may contain thousands of programs.

    Args:
        folded: The whole code, folded.
        areas: The stretches of it that have an area A, as returned by `headers.areas`; empty if they are not known.
    """
    found = verbs_of(folded)
    handlers = _HANDLERS | dict.fromkeys(found.verbs, Procedure._dialect) if found.verbs else _HANDLERS
    if found.names:
        handlers = {verb: handler for verb, handler in handlers.items() if verb not in found.names}
    if found.has_status:
        handlers = handlers | {"ON": Procedure._status}
    return Dialect(handlers, found.one_word, found.shop, Unended(folded, areas))
