"""Which statements read and write each item: the operands of every statement, by the roles that its verb gives them?

`roles` determines the roles; this module is a loop over words.

Leaves to others: the bytes that groups and redefinitions share (`layout`). Law: a reference counts for every item that its name may
mean; subscripts, lengths and conditions are read.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ..program import key
from ..reserved import INTRINSIC, is_reserved
from ..verbs import NETWORK, STRANGE
from .code import is_inline, performed_at
from .data import ItemPart
from .execs import body, tokens
from .files import TERMINAL
from .grouping import Closed, parentheses
from .host_variables import host_variables
from .moving import Moving
from .naming import past_qualifiers, qualifiers
from .pairing import CORRESPONDING, Mention
from .roles import BOTH, NONE, PASS, READ, ROLES_BEHIND, WRITE, role_of_option, roles_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .code import Block, Code, ReadStatement
    from .data import DataItem, Given
    from .layout import ShownItem
    from .naming import DataNames, Meaning

TRANSFORMS = frozenset({"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "COMPUTE", "STRING", "UNSTRING", "INSPECT"})
"""The verbs that calculate or compose; their operands are also listed by statement."""

_MEASURES = {"READ": WRITE, "RETURN": WRITE, "WRITE": READ, "REWRITE": READ, "RELEASE": READ}
# The names in IDMS statements are declared in a schema, and those in a shop's own statements (`#NAME`) in its preprocessor: they
# are not missing from the sources. Nor are the properties of controls.
_ELSEWHERE = frozenset({*NETWORK, STRANGE, "ON STATUS", "INQUIRE"})
_ANSWERED = {"DISPLAY AND READ": "ON", "READ": "READ"}
"""The statements that end an input from a workstation, and the word before its file."""
_CURSOR = re.compile(r"EXEC(?:UTE)?\s+SQL\s+DECLARE\s+([^\s:]+)\s(?=[^:]*\bCURSOR\b)", re.IGNORECASE)
_OPENED = re.compile(r"EXEC(?:UTE)?\s+SQL\s+OPEN\s+([^\s:]+)", re.IGNORECASE)
_SHOWN_BY = frozenset({"READ", "WRITE", "REWRITE"})
_SHOWS = frozenset({"ACCEPT", "DISPLAY", "DISPLAY AND READ", "GENERATE"})
# GnuCOBOL moves these before each input, as the code that it generates shows; of the VALUE of a control it is not known.
_FILLED = frozenset({"FROM", "USING", "("})
_CONDITIONS = frozenset({"DFHRESP", "DFHVALUE"})
_GIVES = {
    **dict.fromkeys(("UPPER-CASE", "LOWER-CASE"), "characters"),
    "TRIM": "trimmed",
    "REVERSE": "reversed",
    **dict.fromkeys(("LENGTH", "BYTE-LENGTH"), "length"),
}
"""What functions take from their argument, if that relates to its length."""
_MARKS = re.compile("[():]")
_MEASURED = {"LENGTH": "length", "ADDRESS": ""}
_TEXT = re.compile("[XANGU]", re.IGNORECASE)  # a picture with one of these is not a number
_NUMBERS = frozenset({"COMP-1", "COMP-2", *(f"BINARY-{size}" for size in ("CHAR", "SHORT", "LONG", "DOUBLE"))})


class Undefined(NamedTuple):
    """A name used as data that is not declared, as spelled, with its line."""

    name: str
    line: int


class References:
    """Collects the lines on which every item and condition is read, written and passed.

    Args:
        names: The declared names.
        records: The indexes of the records of each file, by its name in capitals; READ writes them.
        functions: The names of the functions that REPOSITORY declares, in capitals.
    """

    def __init__(self, names: DataNames, records: dict[str, list[int]], functions: Iterable[str] = ()) -> None:
        self._names = names
        self._functions = INTRINSIC.union(functions).difference(names.known)
        self._records = records
        self._read: defaultdict[tuple[int, int | None], set[int]] = defaultdict(set)
        self._written: defaultdict[tuple[int, int | None], set[int]] = defaultdict(set)
        self._passed: defaultdict[int, set[int]] = defaultdict(set)
        self.undefined: list[Undefined] = []
        self._is_elsewhere = False
        self.operands: dict[int, tuple[dict[str, None], dict[str, None]]] = {}
        """By statement, the names that it writes, and those that it reads."""
        self._current: tuple[dict[str, None], dict[str, None]] | None = None
        self.moving = Moving(records)
        self._mentions: list[Mention] = []
        self._closed: dict[int, Closed] = {}  # the parentheses of the statement
        self._lengths: dict[str, tuple[int, ...]] = {}
        """By file for READ, and by record for WRITE, the items that hold the record length."""
        self._formats: dict[str, tuple[int, ...]] = {}
        """By the file of a display for READ, and by its records for WRITE, the items that name what is shown."""
        self._answers: dict[str, tuple[int, ...]] = {}
        """By the file of a workstation, or TERMINAL, the items that say how an input ended."""
        self._shown: dict[int, list[tuple[ShownItem, tuple[int, ...]]]] = {}
        """By item of a screen or report, including groups, what it shows and fills."""

    def take(self, said: ReadStatement) -> None:
        """Record the operands of one statement; for EXEC blocks, see `exec`."""
        keys = said.keys
        first = 1 if said.verb != "PERFORM" else _behind_names(keys)
        if (
            first >= len(keys) and said.verb not in TRANSFORMS
        ):  # like half of all statements, which are a single word or a PERFORM
            return
        if said.verb.startswith("EXEC "):
            return
        self._is_elsewhere = said.verb in _ELSEWHERE or said.verb.startswith("#")
        start, switches = roles_of(said)
        self._mentions = []
        self._closed = parentheses(keys) if "(" in keys else {}
        self._current = ({}, {}) if said.verb in TRANSFORMS and said.copybook is None else None
        self._operands(said, first, start, switches)
        if self._current is not None:
            self.operands[said.start] = self._current
        if said.verb in _SHOWS and self._shown:
            self._through(said)
        if said.verb in _MEASURES and len(keys) > 1 and keys[1] in self._lengths:
            self._beside(self._lengths[keys[1]], _MEASURES[said.verb], said, 1)
        if said.verb in _SHOWN_BY and len(keys) > 1 and keys[1] in self._formats:
            self._beside(self._formats[keys[1]], READ, said, 1)
        if self._answers and said.verb in _ANSWERED:
            at = keys.index(_ANSWERED[said.verb]) + 1 if _ANSWERED[said.verb] in keys[:-1] else 0
            if keys[at] in self._answers:
                self._beside(self._answers[keys[at]], WRITE, said, at)
        if TERMINAL in self._answers and said.verb == "ACCEPT" and "FROM" not in keys:
            self._beside(self._answers[TERMINAL], WRITE, said, 0)
        if self._mentions:
            self.moving.take(said, self._mentions)
        if said.verb in {"READ", "RETURN"} and len(keys) > 1:
            self._file(said.operand, WRITE, said)
            self.moving.file_read(said, said.operand, self._mentions)
        if said.verb in {"SORT", "MERGE"}:
            self.moving.sorted(said)
        if said.verb in {"MOVE", "ADD", "SUBTRACT"} and len(keys) > 1 and keys[1] in CORRESPONDING:
            self._corresponding(said)
        if said.verb == "INITIALIZE" and "REPLACING" in keys:
            self._initialized(said)

    def exec(self, block: Block) -> None:
        """Record the data that an EXEC block names: arguments of CICS and DL/I options, host variables of SQL."""
        kind = block.exec.kind
        if kind in {"CICS", "DLI"}:
            for option, argument in block.command.options:
                if argument:
                    # The program called by LINK uses the same storage.
                    shared = PASS if block.command.name == "LINK" and option == "COMMAREA" else NONE
                    self._argument(argument, role_of_option(block.command, option), block, shared)
        elif kind.startswith("SQL"):
            reads, writes_ = host_variables(block.exec.text)
            # A stored procedure may change its arguments.
            shared = PASS if body(block.exec.text)[:5].upper() == "CALL " else NONE
            for names, role in ((reads, READ), (writes_, WRITE)):
                for name in names:
                    self._argument(" IN ".join(reversed(name.split("."))), role, block, shared)
        else:
            # The grammar is a vendor's own: any name in it may be an operand, in parentheses or behind a colon, too.
            doubt = f"what EXEC {kind} does with it is not known"
            self._argument(_MARKS.sub(" ", body(block.exec.text)), PASS, block, doubt=doubt)

    def present(self, shown: Iterable[ShownItem]) -> None:
        """Record the items that reports and screens show and fill, as reads and writes at the lines that declare these."""
        for one in shown:
            means = tuple(dict.fromkeys(item for item, _ in self._names.mean(one.names[0], one.names[1:])))
            for item in means:
                for lines, used in ((self._read, one.is_read), (self._written, one.is_written)):
                    if used:
                        lines[item, None].add(one.line)
            if means:
                if not one.is_property and any(
                    self._names.items[at].name != "FILLER" for at in (one.item, *self._names.above(one.item))
                ):
                    self.moving.shown(one, means)
                for holder in (one.item, *self._names.above(one.item)):
                    self._shown.setdefault(holder, []).append((one, means))

    def measure(self, lengths: Mapping[str, tuple[str, ...]]) -> None:
        """Record the items that hold the lengths of records."""
        for file, names in lengths.items():
            items = tuple(dict.fromkeys(item for item, _ in self._names.mean(names[0], names[1:])))
            if items:
                self._lengths[file] = items
                self._lengths.update(
                    (key(self._names.items[record].name), items) for record in self._records.get(file, ())
                )

    def format(self, formats: Mapping[str, tuple[str, ...]]) -> None:
        """Record the items that name the screen format of the display of each file."""
        for file, names in formats.items():
            records = (key(self._names.items[record].name) for record in self._records.get(file, ()))
            items = tuple(dict.fromkeys(item for name in names for item, _ in self._names.mean(name)))
            self._formats.update(dict.fromkeys((file, *records), items))

    def answer(self, answers: Mapping[str, tuple[str, ...]]) -> None:
        """Record the items that say how an input from the workstation of each file, or from the terminal, ended."""
        for file, names in answers.items():
            self._answers[file] = tuple(dict.fromkeys(item for name in names for item, _ in self._names.mean(name)))

    def applied(self, items: Iterable[DataItem]) -> tuple[DataItem, ...]:
        """Return the items with the lines that were collected for them and for their conditions."""
        found = list(items)
        # Whoever uses a condition uses its item, too.
        for index in {item for item, _ in (*self._read, *self._written)} | self._passed.keys():
            found[index] = found[index]._replace(
                conditions=tuple(
                    condition._replace(
                        read_lines=_lines(self._read, (index, number)),
                        written_lines=_lines(self._written, (index, number)),
                    )
                    for number, condition in enumerate(found[index].conditions)
                ),
                read_lines=_lines(self._read, (index, None)),
                written_lines=_lines(self._written, (index, None)),
                passed_lines=tuple(sorted(self._passed.get(index, ()))),
            )
        return tuple(found)

    def _through(self, said: ReadStatement) -> None:
        """Record what a statement reads and writes through an item of a screen or report that it names.

        An ACCEPT first moves what FROM and USING name to the screen, as a DISPLAY does.
        """
        is_input = said.verb in {"ACCEPT", "DISPLAY AND READ"}
        for mention in list(self._mentions):
            for one, means in (pair for item in mention.items for pair in self._shown.get(item, ())):
                if one.clause in _FILLED if said.verb == "ACCEPT" else one.is_read:
                    self._beside(means, READ, said, mention.at)
                if one.is_written and is_input:
                    self._beside(means, WRITE, said, mention.at)

    def _beside(self, items: tuple[int, ...], role: int, said: ReadStatement, at: int) -> None:
        """Record items that a statement reads or writes without naming them, because of the word at an index."""
        self._mentions.append(Mention(items, role, at, said.lines[at], True, "", False, _SOME, False))
        for item in items:
            lines = self._written if role == WRITE else self._read
            lines[item, None].add(said.line_at(at))

    def _operands(self, said: ReadStatement, at: int, role: int, switches: dict[str, int]) -> None:
        """Record the data among the words of a statement.

        Args:
            said: The statement.
            at: The index of its first operand.
            role: The role of that operand.
            switches: The words that change the role, with the role of what follows each.
        """
        keys, kinds = said.keys, said.phrase.kinds
        known, size = self._names.known, len(keys)
        depth = 0
        # The contents of each open parenthesis: arguments of a function, subscripts or a length, or an expression.
        within: list[str] = []
        while at < size:
            word, is_word = keys[at], kinds[at] == "word"
            if word == "(":
                depth += 1
                within.append(self._opened(said, at))
            elif word == ")":
                depth -= 1
                del within[-1:]
            end = at + 1
            # A word that the program declares is a name even if it is a switch, except as the first operand: dialects reserve
            # different words. Subscripts and lengths in parentheses are read, whatever the role of the item.
            if depth <= 0 and word in switches and (word not in known or at == 1):
                role = switches[word]
            elif word == "\\" and said.verb == "CALL":  # HP's BY VALUE: \A\
                role = READ if role == PASS else PASS
            elif is_word:
                acts = role if depth <= 0 else READ
                if word in known or (
                    end < size
                    and keys[end] in {"OF", "IN"}
                    and word not in {"LENGTH", "ADDRESS"}
                    and said.verb != "INQUIRE"
                ):
                    # Qualifiers belong to the name: `A OF G` is a reference to A, and not to G.
                    while end + 1 < size and keys[end] in {"OF", "IN"} and kinds[end + 1] == "word":
                        end += 2
                    # INSPECT A TALLYING N FOR: N is incremented.
                    if said.verb == "INSPECT" and end < size and keys[end] == "FOR":
                        acts = BOTH
                    self._mention(said, at, end, acts, within)
                    if depth <= 0:
                        role = ROLES_BEHIND.get(said.verb, role)
                # The names of functions and methods and the conditions in DFHRESP(NOTFND) are not data.
                elif acts and keys[at - 1] not in {"FUNCTION", ":"} and keys[max(0, at - 2)] not in _CONDITIONS:
                    self._unknown(word, said.texts[at], said.line_at(at), acts)
            at = end

    def _opened(self, said: ReadStatement, at: int) -> str:
        """Return what is in a parenthesis, by what is before it: what a function takes from its arguments, `subscript`, or ""."""
        if said.keys[at - 1] == ")":
            return "subscript" if self._closed[at].colon is not None else ""
        name = said.keys[at - 1]
        if said.kinds[at - 1] != "word" or at < 2:
            return ""
        # With functions in REPOSITORY, FUNCTION is omitted. Any other name that is not declared may be a table of a copybook that
        # is missing, unless it is a method.
        if said.keys[at - 2] == "FUNCTION" or (name not in self._names.known and name in _GIVES):
            return _GIVES.get(name, "calculated")
        if name not in self._names.known and is_reserved(name):
            return ""
        return "calculated" if name in self._functions or said.keys[at - 2] == ":" else "subscript"

    def _mention(self, said: ReadStatement, at: int, end: int, role: int, within: Sequence[str]) -> None:
        """Record that the words from `at` to `end` name an item, with its qualifiers."""
        if not role:
            return
        if self._current is not None:
            self._operand(" ".join(said.texts[at:end]), role)
        keys = said.keys
        measured = keys[at - 2] if at > 1 and keys[at - 1] == "OF" and keys[at - 2] in _MEASURED else ""
        if measured and role == PASS:
            # Only the length or address is passed; through the address, the called program may change the item.
            role = READ | (PASS if measured == "ADDRESS" else NONE)
        meanings = self._note(keys[at], keys[at + 2 : end : 2], role, said.line_at(at))
        if meanings:
            is_opened = end < len(keys) and keys[end] == "("
            self._mentions.append(
                Mention(
                    (meanings[0].item,) if len(meanings) == 1 else tuple(dict.fromkeys([one.item for one in meanings])),
                    role,
                    at,
                    said.lines[at],
                    bool(measured) or "subscript" in within,
                    _given(keys, end, [*within, _MEASURED[measured]] if measured else within)
                    if within or measured
                    else "",
                    not is_opened,
                    item_part(keys, end, self._closed) if is_opened else None,
                    meanings[0].condition is not None,
                )
            )

    def _operand(self, name: str, role: int) -> None:
        """Record an operand of a calculation, even one that is not declared because a copybook is missing."""
        for side, bit in zip(self._current or (), (WRITE, READ), strict=False):
            if role & bit:
                side.setdefault(name)

    def _unknown(self, name: str, spelling: str, line: int, role: int = 0) -> None:
        """Record a name that is not declared, unless it is an index, a file or a word of the language."""
        if self._is_elsewhere:
            return
        if name not in self._names.indexes and name not in self._records and not is_reserved(name):
            self.undefined.append(Undefined(spelling, line))
            self._operand(spelling, role)

    def _note(self, name: str, qualifiers: Sequence[str], role: int, line: int) -> Sequence[Meaning]:
        """Record a reference for every item and condition that a name may mean, and return these."""
        meanings = self._names.mean(name, qualifiers)
        if not meanings:
            self._unknown(name, name, line)
        for item, condition in meanings:
            if role & READ:
                self._read[item, None].add(line)
                if condition is not None:
                    self._read[item, condition].add(line)
            if role & WRITE:
                self._written[item, None].add(line)
                if condition is not None:
                    self._written[item, condition].add(line)
            if role & PASS:
                self._passed[item].add(line)
        return meanings

    def _file(self, name: str, role: int, said: ReadStatement) -> None:
        """Record that a file is read into its records."""
        for record in self._records.get(key(name), ()):
            if role & WRITE:
                self._written[record, None].add(said.line)

    def _argument(self, text: str, role: int, block: Block, shared: int = NONE, doubt: str = "") -> None:
        """Record the data in the argument of an option; anything in parentheses is read.

        Args:
            text: The argument.
            role: The role of what is outside of parentheses.
            block: The block.
            shared: PASS if what runs may change the data; otherwise NONE.
            doubt: Why it is not known whether the data are used; "" if it is.
        """
        words = tokens(text)
        keys = [word.upper() for word in words]
        depth = at = 0
        while at < len(words):
            word = keys[at]
            at += 1
            if word in "()":
                depth += (word == "(") - (word == ")")
            elif key(word) in self._names.known:
                behind = past_qualifiers(keys, at)
                acts = role if depth == 0 else READ
                found = self._note(word, words[at + 1 : behind : 2], acts, block.line)
                at = behind
                whole = at >= len(words) or words[at] != "("
                self.moving.exec(
                    block, dict.fromkeys([item for item, _ in found]), acts | shared, whole=whole, doubt=doubt
                )

    def _corresponding(self, said: ReadStatement) -> None:
        """Record a MOVE, ADD or SUBTRACT CORRESPONDING: each pair of items with the same names in both groups."""
        keys = said.keys
        to = next((at for at in range(3, len(keys) - 1) if keys[at] in {"TO", "FROM"}), 0)
        if not to:
            return
        sources = self._names.mean(keys[2], keys[4:to:2])
        targets = self._names.mean(keys[to + 1], qualifiers(keys, to + 2))
        for source in sources[:1]:
            for target in targets[:1]:
                for one, other in self._pairs(source.item, target.item, said.verb):
                    self._read[one, None].add(said.line)
                    self._written[other, None].add(said.line)
                    if said.verb != "MOVE":
                        self._read[other, None].add(said.line)
                    self.moving.corresponding(said, one, other)

    def _initialized(self, said: ReadStatement) -> None:
        """Record what an INITIALIZE REPLACING assigns to each item of a category, including items in groups."""
        keys = said.keys
        replacing = keys.index("REPLACING")
        tops = [one.items[0] for one in self._mentions if one.at < replacing and not one.beside]
        for one in self._mentions:
            if one.at > replacing and not one.beside and keys[one.at - 1] == "BY":
                category = keys[one.at - (3 if keys[one.at - 2] == "DATA" else 2)]
                for index in (index for top in tops for index in (top, *self._names.below(top))):
                    item = self._names.items[index]
                    if item.redefines is None and _category(item) == category:
                        self.moving.initialized(said, one, index)

    def _pairs(self, source: int, target: int, verb: str) -> Iterator[tuple[int, int]]:
        """Yield the pairs of corresponding items of two groups, by the rules of the verb.

        A group corresponds to an elementary item, but of two groups with the same name, the items in them correspond. Tables,
        redefinitions and FILLERs never do, and in arithmetic only numbers do.
        """
        items, children = self._names.items, self._names.children
        waiting = [(source, target)]
        while waiting:
            one, other = waiting.pop()
            wanted = {
                key(items[index].name): index for index in children.get(other, ()) if _may_correspond(items[index])
            }
            for index in children.get(one, ()):
                found = wanted.get(key(items[index].name)) if _may_correspond(items[index]) else None
                if found is None:
                    continue
                groups = (index in children) + (found in children)
                if groups == 2:
                    waiting.append((index, found))
                elif verb == "MOVE" or (not groups and _is_number(items[index]) and _is_number(items[found])):
                    yield index, found


def _may_correspond(item: DataItem) -> bool:
    """Return whether an item may correspond to another in CORRESPONDING."""
    return item.name != "FILLER" and item.occurs is None and item.redefines is None and item.level != 66


def _is_number(item: DataItem) -> bool:
    """Return whether an item is numeric or numeric-edited."""
    return not _TEXT.search(item.picture) if item.picture else item.usage in _NUMBERS


def _category(item: DataItem) -> str:
    """Return the category of an item, as INITIALIZE names it; "" for a group."""
    if not item.picture:
        return "NUMERIC" if item.usage in _NUMBERS else ""
    symbols = set(re.sub(r"\(\d*\)", "", item.picture.upper()))
    if not _TEXT.search(item.picture):
        return "NUMERIC" if symbols <= set("9SVP") else "NUMERIC-EDITED"
    if symbols & set("B0/"):
        return "ALPHANUMERIC-EDITED"
    return {"A": "ALPHABETIC", "N": "NATIONAL", "G": "DBCS"}.get("".join(symbols), "ALPHANUMERIC")


def references(
    code: Code,
    names: DataNames,
    records: dict[str, list[int]],
    *,
    shown: Iterable[ShownItem] = (),
    lengths: Mapping[str, tuple[str, ...]] | None = None,
    formats: Mapping[str, tuple[str, ...]] | None = None,
    answers: Mapping[str, tuple[str, ...]] | None = None,
    functions: Iterable[str] = (),
) -> References:
    """Return all references in the code of a program, including copybooks.

    Args:
        code: The statements and EXEC blocks.
        names: The declared names.
        records: The indexes of the records of each file, by its name in capitals.
        shown: The items that reports and screens show and fill.
        lengths: The item that holds the length of the records of each file, by its name in capitals.
        formats: The items that name the screen format of each display, by the name of its file in capitals.
        answers: The items that say how an input from each workstation ended, by the name of its file in capitals.
        functions: The names of the functions that REPOSITORY declares, in capitals.
    """
    found = References(names, records, functions)
    found.present(shown)
    found.measure(lengths or {})
    found.format(formats or {})
    found.answer(answers or {})
    for said in code.said:
        found.take(said)
    opened: dict[str, list[Block]] = {}
    for block in code.blocks:
        if cursor := _OPENED.match(block.exec.text):
            opened.setdefault(key(cursor[1]), []).append(block)
    for block in code.blocks:
        # What a cursor that is declared among the data names is read where it is opened.
        declared = _CURSOR.match(block.exec.text) if block.paragraph < 0 else None
        places = opened.get(key(declared[1])) if declared else None
        for place in places or [block]:
            found.exec(place._replace(exec=block.exec, command=block.command))
    return found


def _behind_names(keys: Sequence[str]) -> int:
    """Return the index of the first word of a PERFORM that may be data: after the names of paragraphs."""
    if is_inline(keys):
        return 1
    at = performed_at(keys) + 1
    while at + 1 < len(keys) and keys[at] in {"OF", "IN", "THRU", "THROUGH"}:
        at += 2
    return at


def _given(keys: Sequence[str], end: int, within: Sequence[str]) -> Given:
    """Return what the functions around an item take from it, given the contents of the parentheses open there."""
    functions = {one for one in within if one and one != "subscript"}
    if not functions or "subscript" in within:
        return "" if not functions else "calculated"
    depth = len(within)
    while end < len(keys) and depth > 0:
        depth += (keys[end] == "(") - (keys[end] == ")")
        end += 1
    if "calculated" in functions or keys[end : end + 1] == ("(",):
        return "calculated"  # or only a part of the result
    if "length" in functions:
        return "length"
    # Without its room, a value begins at the first character in either order.
    return "reversed" if within.count("reversed") % 2 and "trimmed" not in functions else "characters"


_SOME = ItemPart(None, None, is_open=False)


def item_part(keys: Sequence[str], at: int, closed: Mapping[int, Closed]) -> ItemPart | None:
    """Return the part of an item selected by the parentheses after its name, as in `A(I)(1:2)`; None for mere subscripts.

    Args:
        keys: The words.
        at: Where the first parenthesis after the name is opened.
        closed: `parentheses(keys)`.
    """
    end, colon = closed[at]
    while colon is None and end + 1 in closed:
        at = end + 1
        end, colon = closed[at]
    if colon is None:
        return None
    length = keys[colon + 1 : end]
    return ItemPart(_number(keys[at + 1 : colon]), _number(length), is_open=not length)


def _number(words: Sequence[str]) -> int | None:
    """Return a number written as such; None if it is data or calculated."""
    return int(words[0]) if len(words) == 1 and re.fullmatch(r"\d{1,9}", words[0]) else None


def _lines(found: dict[tuple[int, int | None], set[int]], place: tuple[int, int | None]) -> tuple[int, ...]:
    """Return the lines that were collected for an item or condition, in order."""
    return tuple(sorted(found.get(place, ())))
