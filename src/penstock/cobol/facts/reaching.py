"""Which values can an item have at a statement: the definitions that reach it on some path through the program?

`CALL WS-PGM`, `EXEC CICS XCTL PROGRAM(WS-PGM)` and an ASSIGN to an item name their target by a value. `resolving`
says which values the item has anywhere; only those count here that reach the statement on a path without another write of
the whole item. Leaves to others: conditions; every branch may be taken.

Law: a value that some path brings to the statement is never absent, and `is_sure` is set only if exactly one value can be
there (`tests/laws/test_law_reaching.py`, against an interpreter of all paths).

The performed ranges are the procedures of this analysis. For each, its transfer function is computed first (the definitions it
kills and adds), then the definitions at its start; so a PERFORM from one place does not bring what another place left. All
items are followed at once: a set of definitions is the bits of one number.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from ..clauses import FIGURATIVE
from .resolving import literal
from .storage import Storage
from .values import ReachedValues, Resolved
from .ways import EXIT, Ways

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .code import Block, Code, Node, ReadStatement, Site
    from .expanding import CodePiece
    from .naming import DataNames
    from .pairing import Mention
    from .references import References
    from .resolving import Values
    from .ways import Range

MAX_ITEMS = 120
"""How many items are followed in one program; beyond that their values are not looked for."""
MAX_VALUES = 64
"""How many values one item is taken to have at one place."""
_STEPS_PER_NODE = 40  # beyond so many visits for each statement the ways are too many to be followed
_WHOLE = frozenset({"MOVE", "SET", "INITIALIZE", "ACCEPT"})
"""The verbs that certainly write what they name: an AT END or a SIZE ERROR may leave the others undone."""
_STRAIGHT = frozenset({"MOVE", "DISPLAY", "ADD", "SUBTRACT", "COMPUTE", "CANCEL", "CONTINUE"})
"""Verbs behind which the next statement runs, and nothing else before it."""
_CORRESPONDING = frozenset({"CORR", "CORRESPONDING"})
_BLANK = ""


class _Definition(NamedTuple):
    """One way in which an item gets a value: a text, another item's value, or something that is not known."""

    item: int
    text: str | None
    """The value; "" for a blank one, None where it is not known or is that of `source`."""
    source: int | None
    node: int | None
    """Where it happens; None at the start of the program, and in copied code that may run anywhere."""
    line: int
    how: str
    """VALUE, MOVE or SET; what writes it otherwise: READ, CALL, the caller."""
    copybook: str | None
    kills: bool


# A step is not applied to a set of definitions but kept as a function of it, `added | (before & ~gone)`. So what a
# PERFORM does is worked out once, with whatever it begins, and put to use wherever it is performed: without that, a
# value that one caller leaves would seem to come out at every other one.
_Function = tuple[int, int]
"""What becomes of a set of definitions: the bits that are added, and those that are gone on every way."""


class Reaching:
    """The values of items at statements of one program, found on demand.

    Args:
        code: The statements.
        trees: Those of each paragraph as trees, at its key.
        pieces: The program and its procedure copybooks.
        names: The items.
        referred: What each statement writes.
        values: What items hold when the program begins.
        records: The records of each file, by its name in capitals.
    """

    def __init__(
        self,
        code: Code,
        trees: Sequence[Sequence[Node]],
        pieces: Sequence[CodePiece],
        names: DataNames,
        referred: References,
        values: Values,
        records: dict[str, list[int]],
    ) -> None:
        self._code, self._trees, self._pieces = code, trees, pieces
        self._names, self._values, self._referred = names, values, referred
        self._records = records
        self._storage = Storage(names)
        self._items: dict[int, int] = {}  # the items that are followed, with the bits of all their definitions
        self._definitions: list[_Definition] = []
        self._execs: dict[tuple[str | None, int, int], Site] | None = None
        self._ways: Ways | None = None
        self._solved: _Solution | None = None
        self._known: dict[tuple[int, int | None], ReachedValues] = {}

    def follow(self, texts: Iterable[str]) -> None:
        """Follow the items that some texts name, so that one pass through the program answers for all of them."""
        wanted = [index for text in texts if (index := self._names.one(text)) is not None]
        # A solution is for all items that are followed: one more begins it anew, which is why callers name theirs
        # together. Where there are as many as may be, another solution would leave out the same ones.
        if len(self._items) < MAX_ITEMS and not self._items.keys() >= set(wanted):
            self._collect([*self._items, *wanted])

    def at(self, text: str, site: Site | None) -> ReachedValues:
        """Return the values that an item can have where a statement begins.

        Args:
            text: The item as it is written, with qualifiers and subscripts.
            site: The statement; None for any place in the program.
        """
        index = self._names.one(text)
        if index is None:
            return ReachedValues((), False, "the name is not declared here, or means several items")
        self.follow([text])
        node = None if site is None or self._ways is None else self._ways.node_of.get(site)
        if node is None and site is not None and site.copybook is not None and (moved := self._just_moved(index, site)):
            return ReachedValues((moved,), True, "")
        return self._reached(index, node)

    def at_block(self, text: str, block: Block) -> ReachedValues:
        """Return the values that an item can have where an EXEC block begins."""
        if self._execs is None:
            self._execs = {
                (said.copybook, said.lines[0], said.line): said.site
                for said in self._code.said
                if self._code.is_exec(said)
            }
        return self.at(text, self._execs.get((block.copybook, block.exec.line, block.line)))

    def alone(self, items: Iterable[int]) -> Reaching:
        """Return what can be asked about some items, and not about what is moved to them."""
        other = Reaching(
            self._code, self._trees, self._pieces, self._names, self._referred, self._values, self._records
        )
        other._ways = self._ways = self._ways or Ways(self._code, self._trees, self._pieces)
        other._collect(items, is_traced=False)
        return other

    @property
    def is_known(self) -> bool:
        """Whether the ways through the program are few enough to be followed."""
        return self._solved is not None

    def stays(self, item: int, filled: Site, used: Site) -> bool:
        """Return whether what a statement leaves in an item may be there where another begins; True where that is not known."""
        if self._ways is None or self._solved is None or item not in self._items:
            return True
        node, use = self._ways.node_of.get(filled), self._ways.node_of.get(used)
        mine = [bit for bit in _bits(self._items[item]) if self._definitions[bit].node == node]
        mask = None if node is None or use is None or not mine else self._solved.at(use)
        return mask is None or any(mask >> bit & 1 for bit in mine)

    def _reached(self, index: int, node: int | None) -> ReachedValues:
        """Return the values of an item at a node, those of the items moved to it looked up where they are moved."""
        if index not in self._items:
            return ReachedValues((), False, "too many items would have to be followed")
        known = self._known.get((index, node))
        if known is not None:
            return known
        values: dict[str, Resolved] = {}
        unknown = ""
        strung: set[tuple[int, str | None]] = set()
        # Breadth first over definitions: `MOVE A TO B` in a loop with `MOVE B TO A` brings nothing new the second time.
        queue: deque[tuple[int, int | None, tuple[int | None, ...]]] = deque([(index, node, ())])
        seen = {(index, node)}
        is_blank = False
        while queue and len(values) <= MAX_VALUES:
            item, place, sizes = queue.popleft()
            for definition in self._reaching(item, place):
                if definition.source is not None and definition.source not in self._items:
                    unknown = unknown or "too many items would have to be followed"
                elif definition.source is not None:
                    way = (definition.source, definition.node)
                    if way not in seen:
                        seen.add(way)
                        # The sizes on the way are kept, for a MOVE to a short item cuts what later reaches a long one.
                        queue.append((*way, (*sizes, self._text_bytes(item))))
                elif definition.text is None:
                    unknown = unknown or f"line {definition.line}: {definition.how} may give it any value"
                    if definition.how == "STRING":
                        strung.add((definition.line, definition.copybook))
                elif definition.text == _BLANK:
                    is_blank = True
                else:
                    value = _cut(definition.text, (*sizes, self._text_bytes(item)))
                    how = definition.how if definition.how in {"VALUE", "MOVE", "SET"} else "MOVE"
                    values.setdefault(value, Resolved(value, how, definition.line, definition.copybook))  # type: ignore[arg-type]
        # ReadStatement rather than guessed: which of many values were met first depends on the order of the walk.
        if len(values) > MAX_VALUES:
            unknown = unknown or f"more than {MAX_VALUES} values can be there"
        found = tuple(values.values())[:MAX_VALUES]
        result = ReachedValues(found, len(found) == 1 and not unknown and not is_blank, unknown, frozenset(strung))
        self._known[index, node] = result
        return result

    def _just_moved(self, item: int, site: Site) -> Resolved | None:
        """Return the literal that copied code moves to an item right before a statement; None where that is not sure.

        Copied code below a header of its own may run anywhere, but its paragraphs are entered at their tops: what stands in a
        row there runs in a row, however the paragraph is come to.
        """
        row = [
            said
            for said in self._code.said
            if (said.copybook, said.line) == (site.copybook, site.line) and said.start <= site.start
        ]
        here = row.pop()
        root = self._storage.root
        for said in reversed(row):
            if said.header != here.header or said.verb not in _STRAIGHT:
                return None
            mentions = self._referred.moving.mentions.get((said.copybook, said.start), ())
            if any(one.role & ~1 and root(at) == root(item) for one in mentions for at in one.items):
                keys = said.keys
                is_sure = said.depth == 0 or (said.depth, said.sentence) == (here.depth, here.sentence)
                is_all = said.verb == "MOVE" and keys[2] == "TO" and self._names.one(" ".join(said.texts[3:])) == item
                text = _text(keys[1]) if is_sure and is_all else None
                value = _cut(text, (self._text_bytes(item),)) if text else _BLANK
                return Resolved(value, "MOVE", said.line, said.copybook) if value else None
        return None

    def _shared(self, item: int) -> str:
        """Return whether the storage of an item is GLOBAL or EXTERNAL; "" for neither."""
        items = self._names.items
        return items[items[item].record].shared

    def _text_bytes(self, item: int) -> int | None:
        """Return how much of a text an item keeps; None for all of it: a pointer holds an address and not a name."""
        one = self._names.items[item]
        return None if one.usage.endswith("POINTER") else one.bytes

    def _reaching(self, item: int, node: int | None) -> list[_Definition]:
        """Return the definitions of an item that reach a node; all of them where ways cannot be told."""
        bits = self._items.get(item, 0)
        if node is not None and self._solved is not None and (mask := self._solved.at(node)) is not None:
            bits &= mask
        return [self._definitions[at] for at in _bits(bits)]

    # ── which definitions there are ──

    def _collect(self, wanted: Iterable[int], *, is_traced: bool = True) -> None:
        """Find every definition of some items, and follow them.

        Args:
            wanted: The items.
            is_traced: Whether the items that are moved to them are followed as well.
        """
        if self._ways is None:
            self._ways = Ways(self._code, self._trees, self._pieces)
        self._definitions, self._items, self._known = [], {}, {}
        writes = self._writes()
        calls = self._code.of("CALL", "ENTER")
        waiting = deque(dict.fromkeys(wanted))
        effects: dict[int, list[int]] = {}
        # Items are followed backwards: who is asked about, then whatever is moved into it, and so on until nothing new
        # is moved.
        while waiting and len(self._items) < MAX_ITEMS:
            item = waiting.popleft()
            if item in self._items:
                continue
            found = [*self._initial(item)]
            root = self._storage.root(item)
            # What is GLOBAL or EXTERNAL may have any value when another program was called.
            called = [(said, (), _Writing(root, False, True)) for said in calls] if self._shared(item) else ()
            for said, mentions, writing in (*writes.get(root, ()), *called):
                if (definition := self._defines(item, said, mentions, writing)) is not None:
                    # What a part gets leaves no more of the text that the whole had, though the other parts keep theirs.
                    is_part = is_traced and definition.text is None and definition.source is None
                    is_part = is_part and writing.whole and self._is_sent(said, writing)
                    found.append(definition._replace(kills=True) if is_part else definition)
            self._items[item] = 0
            for definition in found:
                bit = len(self._definitions)
                self._definitions.append(definition)
                self._items[item] |= 1 << bit
                if definition.node is not None:
                    effects.setdefault(definition.node, []).append(bit)
                if is_traced and definition.source is not None and definition.source not in self._items:
                    waiting.append(definition.source)
        self._solved = self._solve(effects)

    def _writes(self) -> dict[int, list[tuple[ReadStatement, Sequence[Mention], _Writing]]]:
        """Return what is written, by the storage it lies in: the statement, its mentions, and which one."""
        found: dict[int, list[tuple[ReadStatement, Sequence[Mention], _Writing]]] = {}
        moving = self._referred.moving
        root = self._storage.root
        for said in self._code.said:
            if self._code.is_exec(said):
                for write in moving.blocks.get((said.copybook, said.lines[0]), ()):
                    writing = _Writing(write.item, write.whole, write.is_passed)
                    found.setdefault(root(write.item), []).append((said, (), writing))
                continue
            mentions = moving.mentions.get((said.copybook, said.start), ())
            for one in mentions:
                # Bit 0 of a role is reading. What only reads the item defines nothing.
                if one.role & ~1:
                    for item in one.items:
                        # A name that may mean two items writes one of them, and nobody knows which: neither loses what
                        # it had.
                        whole = one.whole and len(one.items) == 1
                        writing = _Writing(item, whole, not one.role & 2, one.is_cut, one)
                        found.setdefault(root(item), []).append((said, mentions, writing))
            # No item is named here, and all records of the file are overwritten, one beneath the other in the same
            # storage.
            if said.verb in {"READ", "RETURN"} and len(said.keys) > 1:
                for item in self._records.get(said.keys[1], ()):
                    found.setdefault(root(item), []).append((said, (), _Writing(item, True, False)))
        return found

    def _initial(self, index: int) -> list[_Definition]:
        """Return what an item holds when the program begins."""
        item = self._names.items[index]
        # What a caller passes is unknown, whatever VALUE stands there: VALUE counts only for level 88s in that section.
        if item.section == "LINKAGE" or index >= self._names.own or self._shared(index) == "EXTERNAL":
            other = "the caller" if item.section == "LINKAGE" else "another program"
            return [_Definition(index, None, None, None, item.line, other, item.copybook, False)]
        return [
            _Definition(index, value.value, None, None, value.line, "VALUE", value.copybook, False)
            for value in self._values.initial(index)
        ] or (
            []
            if item.value is None
            else [_Definition(index, _BLANK, None, None, item.line, "VALUE", item.copybook, False)]
        )

    def _defines(
        self, item: int, said: ReadStatement, mentions: Sequence[Mention], writing: _Writing
    ) -> _Definition | None:
        """Return what a statement that writes some item does to one that is followed; None where the two lie apart."""
        ways = self._ways
        covers = self._storage.covers(writing.item, item)
        if covers is None or ways is None:
            return None
        node = ways.node_of.get(said.site)
        # Only what surely writes all of the item kills its other definitions. A READ at the end of its file, or an ADD
        # with a SIZE ERROR, leaves the old value; a definition too many makes an answer less sure, one too few makes it
        # wrong.
        is_sent = covers and self._is_sent(said, writing)
        # One occurrence of a table gets the value, and the others keep theirs.
        is_whole = is_sent and writing.whole
        text, source = (None, None)
        if is_sent and (is_whole or writing.item == item):
            text, source = self._value(item, said, mentions, writing)
        how = (
            said.verb
            if said.verb in {"MOVE", "SET"}
            else " ".join(said.keys[:2])[:40]
            if said.verb in {"CALL", "ENTER"}
            else said.verb
        )
        return _Definition(item, text, source, node, said.line, how, said.copybook, is_whole)

    @staticmethod
    def _is_sent(said: ReadStatement, writing: _Writing) -> bool:
        """Return whether a statement certainly writes all of what it names."""
        is_pair = said.verb == "MOVE" and said.keys[1] in _CORRESPONDING
        return said.verb in _WHOLE and not (is_pair or writing.is_passed or writing.is_cut)

    def _value(
        self, item: int, said: ReadStatement, mentions: Sequence[Mention], writing: _Writing
    ) -> tuple[str | None, int | None]:
        """Return what a statement gives an item that it writes whole: a text, or the item whose value it gets."""
        offset = self._storage.within(writing.item, item)
        if said.verb == "INITIALIZE":
            return (_BLANK, None) if len(said.keys) == 2 or "REPLACING" not in said.keys else (None, None)
        if said.verb == "SET" and said.keys[-3:-1] == ("TO", "ENTRY") and said.kinds[-1] == "literal":
            return (_text(said.keys[-1]), None) if writing.item == item else (None, None)
        if said.verb == "SET" and writing.mention is not None:
            return self._condition(said, writing.mention, item, offset), None
        if said.verb != "MOVE" or "TO" not in said.keys:
            return None, None
        to = said.keys.index("TO")
        if to == 2:
            word = said.keys[1]
            if word in FIGURATIVE:
                return _BLANK, None
            if said.kinds[1] == "literal":
                return self._sliced(_text(word), writing.item, item, offset), None
        # Exactly one sender, and all of it: a sum, a function or part of an item gives a value that no item has.
        sender = [one for one in mentions if one.at < to and not one.beside]
        if len(sender) != 1 or len(sender[0].items) != 1 or sender[0].function or sender[0].is_cut:
            return None, None
        source = sender[0].items[0]
        if writing.item == item:
            return None, source
        # A group is moved to a group: what lies at the same place in the one comes to lie here.
        return None, self._storage.inside(source, offset, self._names.items[item].bytes)

    def _condition(self, said: ReadStatement, mention: Mention, item: int, offset: int | None) -> str | None:
        """Return the value that SET … TO TRUE gives; None for any other SET."""
        if "TRUE" not in said.keys or not mention.is_condition:
            return None
        qualifiers = []
        at = mention.at + 1
        while at + 1 < len(said.keys) and said.keys[at] in {"OF", "IN"}:
            qualifiers.append(said.keys[at + 1])
            at += 2
        for found in self._names.mean(said.keys[mention.at], qualifiers):
            if found.condition is not None and found.item == mention.items[0]:
                values = self._names.items[found.item].conditions[found.condition].values
                return self._sliced(_text(values[0]), found.item, item, offset) if values else None
        return None

    def _sliced(self, text: str | None, whole: int, item: int, offset: int | None) -> str | None:
        """Return the part of a text that comes to lie in an item when the text is moved to something that holds it."""
        if text is None or whole == item:
            return text
        size = self._names.items[item].bytes
        if offset is None or size is None:
            return None
        return text[offset : offset + size].rstrip()

    # ── what reaches what ──

    def _solve(self, effects: dict[int, list[int]]) -> _Solution | None:
        """Return which definitions reach which node; None where the ways are too many."""
        ways = self._ways
        if ways is None:
            return None
        start = sum(
            1 << bit
            for bit, definition in enumerate(self._definitions)
            if definition.node is None and not _moves(definition)
        )
        # Two kinds have no place of their own: what is there when the program begins, and what copied code does
        # wherever it runs.
        anywhere = sum(
            1 << bit
            for bit, definition in enumerate(self._definitions)
            if definition.node is None and _moves(definition)
        )
        functions: dict[int, _Function] = {}
        for node, bits in effects.items():
            gone = 0
            for bit in bits:
                if self._definitions[bit].kills:
                    gone |= self._items[self._definitions[bit].item]
            # A node may define several items and give one item several values, as SET of two conditions does: it kills
            # first, then adds.
            functions[node] = (sum(1 << bit for bit in bits), gone)
        if anywhere:
            for node in ways.outside:
                added, gone = functions.get(node, (0, 0))
                functions[node] = (added | anywhere, gone)
        return _Solution.of(ways, functions, start | anywhere, _is_entered_again(self._code))


class _Writing(NamedTuple):
    """Which item a statement writes, and how."""

    item: int
    whole: bool
    is_passed: bool
    is_cut: bool = False
    mention: Mention | None = None


def _moves(definition: _Definition) -> bool:
    """Return whether a definition is a statement, rather than what is there from the start."""
    return definition.how not in {"VALUE", "the caller", "another program"}


def _is_entered_again(code: Code) -> bool:
    """Return whether a program may be called again and then find what it left: it has parameters, or EXIT PROGRAM."""
    program = code.program
    return bool(program.using) or any(said.copybook is None for said in code.of("EXIT PROGRAM"))


def _text(word: str) -> str | None:
    """Return the text of a literal, "" for a blank one; None for what is no text."""
    if len(word) < 2 or word[0] not in "'\"":
        return None
    return literal(word) or _BLANK


def _cut(text: str, sizes: Sequence[int | None]) -> str:
    """Return a text as it is after moves through items of some sizes."""
    for size in sizes:
        if size:
            text = text[:size]
    return text.rstrip()


def _bits(mask: int) -> Iterable[int]:
    """Yield the numbers of the bits that are set, from the lowest."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


class _Solution:
    """Which definitions reach which node, over all ranges that are performed."""

    def __init__(self, ways: Ways, functions: dict[int, _Function]) -> None:
        self._ways = ways
        self._functions = functions
        self._ranges: dict[Range | None, int] = {None: 0}
        self._ends: list[int | None] = [None]  # the last paragraph of each range; None for the main line
        self._states: list[dict[int, _Function]] = [{}]  # by range: what was done to the definitions up to a node
        self._results: list[_Function | None] = [None]
        self._callers: list[set[tuple[int, int]]] = [set()]
        self._entries: list[int] = [0]
        self._queue: deque[tuple[int, int]] = deque()
        self._left: list[tuple[int, _Function]] = []

    @classmethod
    def of(cls, ways: Ways, functions: dict[int, _Function], start: int, is_entered_again: bool) -> _Solution | None:
        """Return the solution; None where there are too many ways to follow.

        Args:
            ways: The ways through the program.
            functions: What each node does to the definitions, for the nodes that do something.
            start: The definitions that are there when the program begins.
            is_entered_again: Whether what is there when the program is left may be there when it begins.
        """
        solution = cls(ways, functions)
        for root in ways.roots():
            solution._flow(0, root, (0, 0))
        if not solution._run():
            return None
        solution._enter(start, is_entered_again)
        return solution

    def at(self, node: int) -> int | None:
        """Return the bits of the definitions that may be there when a node begins; None where no way leads there."""
        found: int | None = None
        for number, state in enumerate(self._states):
            function = state.get(node)
            if function is not None:
                added, gone = function
                found = (found or 0) | added | (self._entries[number] & ~gone)
        return found

    def _run(self) -> bool:
        """Follow all ways until nothing changes; return whether that was possible."""
        # The sets only grow, so that this ends by itself. The limit is for programs of GO TOs in which it would take
        # minutes.
        limit = _STEPS_PER_NODE * len(self._ways.after) + 10_000
        while self._queue:
            limit -= 1
            if limit < 0:
                return False
            self._step(*self._queue.popleft())
        return True

    def _step(self, number: int, node: int) -> None:
        """Take one node of one range: what it does, what it runs, and what may follow."""
        function = self._states[number][node]
        done = self._functions.get(node)
        if done is not None:
            function = _then(function, done)
        ways = self._ways
        ran = ways.runs.get(node)
        if ran is not None:
            callee = self._range(ran)
            self._callers[callee].add((number, node))
            result = self._results[callee]
            # Whoever called is looked at again when it does (`_return`). Taking nothing for the result would let
            # definitions through that the range kills.
            if result is None:  # it has not come back yet, or never does
                return
            function = _then(function, result)
        if (following := ways.falls(node)) is not None:
            # The end of a paragraph is where its range returns, in this range; the same paragraph falls through when it
            # is run in another.
            if self._ends[number] is not None and ways.ends(node) == self._ends[number]:
                self._return(number, function)
            else:
                self._flow(number, following, function)
            return
        for after in ways.after[node]:
            self._flow(number, after, function)

    def _range(self, ran: Range) -> int:
        """Return the number of a range, which begins to be followed when it is first met."""
        number = self._ranges.get(ran)
        if number is None:
            number = self._ranges[ran] = len(self._states)
            self._ends.append(ran[1])
            self._states.append({})
            self._results.append(None)
            self._callers.append(set())
            self._entries.append(0)
            self._flow(number, self._ways.start(ran[0]), (0, 0))
        return number

    def _flow(self, number: int, node: int, function: _Function) -> None:
        """Bring what was done so far to a node; look at it again where that is news."""
        state = self._states[number]
        known = state.get(node)
        # Where ways meet, what any of them adds is there, and only what all of them kill is gone.
        joined = function if known is None else (known[0] | function[0], known[1] & function[1])
        if joined != known:
            state[node] = joined
            if node != EXIT:
                self._queue.append((number, node))

    def _return(self, number: int, function: _Function) -> None:
        """Come back from a range: whoever performs it goes on, with all that any way through it does."""
        known = self._results[number]
        joined = function if known is None else (known[0] | function[0], known[1] & function[1])
        if joined != known:
            self._results[number] = joined
            self._queue.extend(self._callers[number])

    def _enter(self, start: int, is_entered_again: bool) -> None:
        """Find the definitions that are there when each range begins, from the main line down."""
        self._entries[0] = start
        calls = [
            (caller, node, callee) for callee, callers in enumerate(self._callers) for caller, node in sorted(callers)
        ]
        by_caller: dict[int, list[tuple[int, int]]] = {}
        for caller, node, callee in calls:
            by_caller.setdefault(caller, []).append((node, callee))
        waiting = deque([0])
        while waiting:
            caller = waiting.popleft()
            entry = self._entries[caller]
            if is_entered_again and (left := self._states[caller].get(EXIT)) is not None:
                # WORKING-STORAGE keeps its values from one call to the next: what one left is there when the next
                # begins.
                again = self._entries[0] | left[0] | (entry & ~left[1])
                if again != self._entries[0]:
                    self._entries[0] = again
                    waiting.append(0)
            for node, callee in by_caller.get(caller, ()):
                function = self._states[caller][node]
                done = self._functions.get(node)
                added, gone = function if done is None else _then(function, done)
                joined = self._entries[callee] | added | (entry & ~gone)
                if joined != self._entries[callee]:
                    self._entries[callee] = joined
                    waiting.append(callee)


def _then(first: _Function, second: _Function) -> _Function:
    """Return what two steps do, one after the other."""
    return (first[0] & ~second[1]) | second[0], first[1] | second[1]
