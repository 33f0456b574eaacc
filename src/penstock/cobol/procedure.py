"""Where do statements, paragraphs and sections begin? By the state of the sentence, never by the line.

Keeps out lines and names of targets: offsets out. A header is a word, or a word and SECTION, with a period, where a
sentence has just ended; the one-word sentences are a list, for a paragraph may well be called END-PROGRAM.

Law: one pass, linear in the code, however deep the statements nest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from .lexing import COPY, EXEC, PERIOD, QUOTED, REPLACE, RUN, vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = r"[^\s.'\"(),;]++"
_HEADER = rf"(?P<head>{_NAME})(?>\s++(?P<section>SECTION)(?>\s++(?P<segment>\d++)|)|)(?=\s*+{PERIOD})"
_BEGUN = re.compile(rf"[\s,;]*+{_HEADER}")
_TOKEN = re.compile(
    rf"(?:[\s(),;]++|{QUOTED})*+"
    rf"(?:(?P<block>{EXEC}|{COPY}|{REPLACE})|(?P<word>{RUN})|(?P<period>{PERIOD})(?>[\s,;]*+{_HEADER}|)|\Z)"
)
_BLOCK, _WORD, _PERIOD, _HEAD = (_TOKEN.groupindex[name] for name in ("block", "word", "period", "head"))

_SIMPLE = vocabulary(
    "ACCEPT ADD ALTER CALL CANCEL CLOSE COMPUTE CONTINUE DELETE DISPLAY DIVIDE GOBACK INITIALISE INITIALIZE INSPECT INVOKE MERGE "
    "MOVE MULTIPLY OPEN READ RELEASE RETURN REWRITE SET SORT START STRING SUBTRACT UNSTRING USE WRITE"
)
# words that some dialects do not reserve, so that data items may be called by them
_DIALECT = vocabulary(
    "ALLOCATE CHAIN COMMIT DESTROY DISABLE ENABLE ENTER ENTRY EXAMINE EXHIBIT FREE GENERATE INITIATE INQUIRE MODIFY "
    "PURGE RAISE RECEIVE RESUME ROLLBACK SEND SERVICE SUPPRESS TERMINATE TRANSFORM UNLOCK VALIDATE"
)
_OPENING = frozenset({"IF", "EVALUATE", "SEARCH"})
_FORMS = {
    "EXIT": re.compile(r"EXIT(?>\s++(?:PROGRAM|PARAGRAPH|SECTION|FUNCTION|METHOD|PERFORM(?>\s++CYCLE|))(?![\w-])|)"),
    "STOP": re.compile(r"STOP(?>\s++RUN(?![\w-])|)"),
    "GO": re.compile(r"GO(?>\s++TO(?![\w-])|)"),
    "NEXT": re.compile(r"NEXT\s++SENTENCE(?![\w-])"),
    "READY": re.compile(r"READY\s++TRACE(?![\w-])"),
    "RESET": re.compile(r"RESET\s++TRACE(?![\w-])"),
    "XML": re.compile(r"XML\s++(?:PARSE|GENERATE)(?![\w-])"),
    "JSON": re.compile(r"JSON\s++(?:PARSE|GENERATE)(?![\w-])"),
}
_TERMINATORS = frozenset(
    f"END-{verb}"
    for verb in vocabulary(
        "ACCEPT ADD CALL CHAIN COMPUTE DELETE DISPLAY DIVIDE EVALUATE IF INVOKE JSON MODIFY MULTIPLY PERFORM READ RECEIVE RETURN "
        "REWRITE SEARCH SEND START STRING SUBTRACT UNSTRING WRITE XML"
    )
)
_ONE_WORD = vocabulary("EXIT GOBACK CONTINUE STOP GO ELSE COMMIT ROLLBACK END-EXEC") | _TERMINATORS
_UNITS = r"(?:PROGRAM|FUNCTION|CLASS|METHOD|INTERFACE|FACTORY|OBJECT)"
_IDS = frozenset({"PROGRAM-ID", "FUNCTION-ID", "CLASS-ID", "METHOD-ID", "INTERFACE-ID"})

_PHRASE = re.compile(
    r"(?>(?P<not>NOT\s++)|)(?:(?>AT\s++|)(?P<AT_END>END)|(?>AT\s++|)(?P<AT_END_OF_PAGE>END-OF-PAGE|EOP)|(?P<INVALID_KEY>INVALID(?>\s++KEY|))"
    r"|(?>ON\s++|)(?P<ON_SIZE_ERROR>SIZE\s++ERROR)|(?>ON\s++|)(?P<ON_OVERFLOW>OVERFLOW)|(?>ON\s++|)(?P<ON_EXCEPTION>EXCEPTION))(?![\w-])"
)
_OWNERS = {
    "AT_END": frozenset({"READ", "RETURN", "SEARCH"}),
    "AT_END_OF_PAGE": frozenset({"WRITE"}),
    "INVALID_KEY": frozenset({"READ", "WRITE", "REWRITE", "DELETE", "START"}),
    "ON_SIZE_ERROR": frozenset({"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "COMPUTE"}),
    "ON_OVERFLOW": frozenset({"STRING", "UNSTRING", "CALL"}),
    "ON_EXCEPTION": frozenset({"CALL", "ACCEPT", "DISPLAY", "XML", "JSON", "INVOKE"}),
}
_PHRASES = frozenset({"AT", "ON", "NOT", "INVALID", "SIZE", "OVERFLOW", "EXCEPTION", "EOP", "END-OF-PAGE"})

_DIVISION = re.compile(r"(?<![\w-])(?:IDENTIFICATION|ID|ENVIRONMENT|DATA|PROCEDURE)\s++\Z")
_END = re.compile(rf"END\s++(?:(?P<unit>{_UNITS})|(?P<declaratives>DECLARATIVES))(?![\w-])")
_OPERAND_FOLLOWS = re.compile(
    r"(?<![\w-])(?:TO|OF|IN|FROM|BY|INTO|GIVING|USING|FOR|WITH|AND|OR|NOT|THAN|UNTIL|UPON|=|<|>|\+|\*|/)\s*+\Z"
)
_NO_VERB = re.compile(
    r"[\s]*+(?:[=<>+*/)(]|-\s|(?:TO|OF|IN|BY|FROM|IS|EQUAL|GREATER|LESS|NOT|THRU|THROUGH|DELIMITED|GIVING)(?![\w-]))"
)
_LOOP = re.compile(
    rf"PERFORM[\s,;]++(?:(?P<loop>(?:UNTIL(?>\s++EXIT|)|VARYING|WITH|TEST|FOREVER|FUNCTION)(?![\w-]))|(?P<first>{_NAME})"
    rf"(?>(?P<times>(?>(?:\s++(?:OF|IN)\s++{_NAME})*)(?>\s*+\([^()]*+\)|)\s++TIMES(?![\w-]))|))"
)
_DATA_BEGINS = re.compile(
    r"[\s,;]*+(?:(?:0?[1-9]|[1-4]\d|66|77|78|88)\s++(?!(?:SECTION|TIMES)\b)[A-Z:]|(?:FD|SD|SELECT)\s)"
)

VERBS = _SIMPLE | _DIALECT | _OPENING | frozenset(_FORMS) | {"PERFORM", "EXEC"}
MARKERS = (
    _TERMINATORS
    | {"ELSE", "WHEN", "COPY", "REPLACE"}
    | {
        prefix + phrase.replace("_", " ").replace("END OF", "END-OF").replace("OF PAGE", "OF-PAGE")
        for phrase in _OWNERS
        for prefix in ("", "NOT ")
    }
)
"""The entries of a program's statements that are no statements: branches, ends and phrases of one, COPY and REPLACE."""


Row = tuple[str, int, int, int]
"""An entry: its verb, where it begins, what is open around it, its sentence. A header's has no verb."""


class Header(NamedTuple):
    """Where a section or paragraph begins, or the declaratives do or end."""

    kind: Literal["section", "paragraph", "declaratives", "end declaratives", "end"]
    start: int
    end: int  # of the name
    segment: int | None
    row: int


class Procedure:
    """Reads one PROCEDURE DIVISION from a period on; `rows` and `headers` are what it found."""

    def __init__(self, folded: str, *, mixed: bool = False) -> None:
        self.rows: list[Row] = []
        self.headers: list[Header] = []
        self.blocks: list[tuple[int, int]] = []
        self.loops: set[int] = set()  # where each PERFORM of statements begins
        self._folded = folded
        self._mixed = mixed  # data may follow: a copybook
        self._open: list[str] = []  # the statements around the next one; an IF that has its ELSE is called ELSE
        self._often: dict[str, int] = {}  # how many of them have that name
        self._last = ""  # the statement that a phrase may follow
        self._sentence = -1
        self._until = 0  # up to where the code is read
        self._ended = -1  # where something begins that is none of this division
        self._handlers: dict[str, Callable[[str, int], None]] = {}
        self._handlers |= dict.fromkeys(_OPENING, self._opening)
        self._handlers |= dict.fromkeys(_FORMS, self._form)
        self._handlers |= dict.fromkeys(_TERMINATORS, self._terminator) | dict.fromkeys(_PHRASES, self._phrase)
        self._handlers |= dict.fromkeys(_DIALECT, self._dialect) | dict.fromkeys(_IDS, self._id)
        self._handlers |= {
            "PERFORM": self._perform,
            "ELSE": self._else,
            "WHEN": self._when,
            "END": self._end,
            "DIVISION": self._division,
            "EXEC": self._row,
        }

    def read(self, at: int) -> int:
        """Read on from where a sentence begins to where the division ends; that ends what is open, too."""
        self._ended = -1
        self._end_sentence()
        begun = _BEGUN.match(self._folded, at)
        if begun:
            at = begun.end()
            self._head(begun)
        end = self._tokens(at) if self._ended < 0 else self._ended
        self._header("end", end, end)
        return end

    def _tokens(self, at: int) -> int:
        rows, simple, handlers = self.rows, _SIMPLE, self._handlers
        for token in _TOKEN.finditer(self._folded, at):
            word = token[_WORD]
            if word is None:
                if token[_PERIOD] is not None:
                    self._period(token)
                elif token[_BLOCK] is not None:
                    self._block(token)
            elif word in simple:
                rows.append((word, token.start(_WORD), len(self._open), self._sentence))
                self._last = word
                continue
            elif word in handlers and token.start(_WORD) >= self._until:
                handlers[word](word, token.start(_WORD))
            else:
                continue
            if self._ended >= 0:
                return self._ended
        return len(self._folded)

    def _period(self, token: re.Match[str]) -> None:
        self._end_sentence()
        if token[_HEAD] is not None:
            self._head(token)
        elif self._mixed and _DATA_BEGINS.match(self._folded, token.end()):
            self._ended = token.end()

    def _end_sentence(self) -> None:
        self._sentence += 1
        self._last = ""
        if self._open:
            self._open.clear()
            self._often.clear()

    def _head(self, token: re.Match[str]) -> None:
        """A word with a period, where a sentence begins."""
        word, (start, end) = token["head"], token.span("head")
        if word in _ONE_WORD:  # EXIT SECTION is one, too
            self._handlers.get(word, self._row)(word, start)
            return
        kind: Literal["section", "paragraph", "declaratives"] = "paragraph"
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

    def _header(
        self,
        kind: Literal["section", "paragraph", "declaratives", "end declaratives", "end"],
        start: int,
        end: int,
        segment: int | None = None,
    ) -> None:
        self.headers.append(Header(kind, start, end, segment, len(self.rows)))
        self.rows.append(("", start, 0, self._sentence))

    def _block(self, token: re.Match[str]) -> None:
        start, end = token.span(_BLOCK)
        self.blocks.append((start, end))
        if token["exec"]:
            self._row(f"EXEC {token['exec']}", start)
        else:
            self.rows.append(
                (
                    "COPY" if self._folded.startswith("COPY", start) else "REPLACE",
                    start,
                    len(self._open),
                    self._sentence,
                )
            )

    def _row(self, verb: str, start: int) -> None:
        self.rows.append((verb, start, len(self._open), self._sentence))
        self._last = verb

    def _push(self, name: str) -> None:
        self._open.append(name)
        self._often[name] = self._often.get(name, 0) + 1
        self._last = ""

    def _pop_to(self, *names: str) -> str:
        """Close what is open up to the innermost of these, itself too; its name, or "" where none is open."""
        if not any(map(self._often.get, names)):
            return ""
        while True:
            name = self._open.pop()
            self._often[name] -= 1
            if name in names:
                return name

    def _opening(self, verb: str, start: int) -> None:
        self._row(verb, start)
        self._push(verb)

    def _form(self, verb: str, start: int) -> None:
        form = _FORMS[verb].match(self._folded, start)
        if form:
            self._until = form.end()
            self._row("GO TO" if verb == "GO" else " ".join(form[0].split()), start)
            self._last = verb

    def _dialect(self, verb: str, start: int) -> None:
        folded = self._folded
        if not _OPERAND_FOLLOWS.search(folded[max(start - 80, 0) : start]) and not _NO_VERB.match(
            folded, start + len(verb)
        ):
            self._row(verb, start)

    def _perform(self, verb: str, start: int) -> None:
        self._row(verb, start)
        loop = _LOOP.match(self._folded, start)
        if loop and (loop["loop"] or loop["times"] or loop["first"] in VERBS):
            self.loops.add(start)
            self._push(verb)
            self._until = loop.end("loop")

    def _terminator(self, word: str, start: int) -> None:
        verb = word[4:]
        if self._last != verb:
            self._pop_to(*(("IF", "ELSE") if verb == "IF" else (verb,)))
        self._row(word, start)

    def _else(self, word: str, start: int) -> None:
        self._pop_to("IF")
        self._row(word, start)
        self._push("ELSE")

    def _when(self, word: str, start: int) -> None:
        owner = self._pop_to("EVALUATE", "SEARCH")
        self._row(word, start)
        if owner:
            self._push(owner)

    def _phrase(self, _: str, start: int) -> None:
        phrase = _PHRASE.match(self._folded, start)
        if phrase is None or phrase.lastgroup is None:
            return
        owners = _OWNERS[phrase.lastgroup]
        owner = self._last if self._last in owners else self._pop_to(*owners)
        if owner:
            name = phrase.lastgroup.replace("_", " ").replace("END OF PAGE", "END-OF-PAGE")
            self._row(f"NOT {name}" if phrase["not"] else name, start)
            self._push(owner)
            self._until = phrase.end()

    def _end(self, word: str, start: int) -> None:
        end = _END.match(self._folded, start)
        if end is None:
            self._phrase(word, start)
        elif end["unit"]:
            self._ended = start
        else:
            self._until = end.end()
            self._header("end declaratives", start, end.end())

    def _division(self, _: str, start: int) -> None:
        before = self._folded[max(start - 400, 0) : start]
        division = _DIVISION.search(before)
        if division:
            self._ended = start - len(before) + division.start()

    def _id(self, _: str, start: int) -> None:
        self._ended = start
