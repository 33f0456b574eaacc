"""Which values can an item have at a statement: the definitions that reach it on some path through the program?

`CALL WS-PGM`, `EXEC CICS XCTL PROGRAM(WS-PGM)` and an ASSIGN to an item name their target by a value. `resolving` gives the values
that the item has anywhere; here only those count that reach the statement on a path without another write of the whole item.
Leaves to others: conditions; every branch may be taken.

Law: a value that some path brings to the statement is never missing, and `is_sure` is set only if exactly one value can be
there (`tests/laws/test_law_reaching.py`, against an interpreter of all paths).

All items are analysed at once (`solving`): a set of definitions is a bit mask.
"""

from __future__ import annotations

from collections import deque
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..clauses import FIGURATIVE
from .arguments import parameters
from .naming import qualifiers
from .pairing import CORRESPONDING
from .resolving import literal
from .resources import DLI_INTERFACES, IMAGE_INTRINSICS, RUNNING, ReachedValues, Resolved
from .solving import Solution
from .storage import Storage
from .unseen import UNDECLARED, Unseen
from .ways import Ways

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .code import Block, Code, Node, ReadStatement, Site
    from .expanding import CodePiece
    from .naming import DataNames
    from .pairing import Mention
    from .references import References
    from .resolving import Values
    from .solving import Transfer
    from .storage import Sharing

MAX_ITEMS = 120
"""The maximum number of items whose values are followed in one program; the values of others are not determined."""
MAX_VALUES = 64
"""The maximum number of values of an item at one place."""
_WHOLE = frozenset({"MOVE", "SET", "INITIALIZE", "ACCEPT"})
"""The verbs that certainly write their items; an AT END or SIZE ERROR may prevent the others from it."""
_STRAIGHT = frozenset({"MOVE", "DISPLAY", "ADD", "SUBTRACT", "COMPUTE", "CANCEL", "CONTINUE"})
"""The verbs after which the next statement runs, with nothing in between."""
_BLANK = ""
_GIVEN_BY: dict[str, Literal["VALUE", "MOVE", "SET"]] = {"VALUE": "VALUE", "SET": "SET"}
"""How a known value was given: by a MOVE, unless it is one of these."""


class _Definition(NamedTuple):
    """One way that an item gets a value: a text, another item's value, or something unknown."""

    item: int
    text: str | None
    """The value; "" for a blank one, None if it is unknown or that of `source`."""
    source: int | None
    node: int | None
    """The node of the statement; None at the start of the program, and in copied code that may run anywhere."""
    line: int
    how: str
    """VALUE, MOVE or SET, or what else writes it: READ, CALL, the caller and so on."""
    copybook: str | None
    kills: bool


_NOTHING = ReachedValues((), False, "")


class Reaching:
    """The values of items at statements of one program, computed on demand.

    Args:
        code: The statements.
        trees: The statements of each paragraph as trees, by its key.
        pieces: The program and its procedure copybooks.
        names: The declared names.
        referred: The references, for the items that each statement writes.
        values: The values of items when the program begins.
        records: The records of each file, by its name in capitals.
        constants: The text of each level 78 that has one, by its name in capitals.
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
        constants: Mapping[str, Resolved],
    ) -> None:
        self._code, self._trees, self._pieces = code, trees, pieces
        self._names, self._values, self._referred = names, values, referred
        self._records, self._constants = records, constants
        self._storage = Storage(names)
        self._unseen = Unseen(code, names)
        # By record: its writes, by the items that they name.
        self._near: dict[int, tuple[dict[int, list[int]], Sharing]] = {}
        self._items: dict[int, int] = {}  # the followed items, with the bits of all their definitions
        self._definitions: list[_Definition] = []
        self._execs: dict[tuple[str | None, int, int], Site] | None = None
        self._solved: Solution | None = None  # None as well if there are too many paths
        self._known: dict[tuple[int, int | None], ReachedValues] = {}

    def follow(self, texts: Iterable[str]) -> None:
        """Follow the items that some texts name, so that one pass through the program serves all of them."""
        wanted = [index for text in texts if (index := self._names.one(text)) is not None]
        # A solution covers all followed items, and another item requires a new one, so callers pass all theirs at once. With
        # `MAX_ITEMS` reached, another solution would omit the same ones.
        if len(self._items) < MAX_ITEMS and not self._items.keys() >= set(wanted):
            self._collect([*self._items, *wanted])

    def at(self, text: str, site: Site | None) -> ReachedValues:
        """Return the values that an item can have before a statement.

        Args:
            text: The item as written, with qualifiers and subscripts.
            site: The statement; None for any place in the program.
        """
        index = self._names.one(text)
        if index is None:
            return self._unseen.at(text, site, self.at) if site is not None else ReachedValues((), False, UNDECLARED)
        self.follow([text])
        node = None if site is None else self._ways.node_of.get(site)
        if node is None and site is not None and site.copybook is not None and (moved := self._just_moved(index, site)):
            return ReachedValues((moved,), True, "")
        reached = self._reached(index, node)
        if reached == _NOTHING and self._code.of("ENTRY"):
            # What is called by one entry may use what another left in storage.
            return self._reached(index, None)._replace(is_sure=False)
        return reached

    def at_block(self, text: str, block: Block) -> ReachedValues:
        """Return the values that an item can have before an EXEC block."""
        if self._execs is None:
            self._execs = {
                (said.copybook, said.lines[0], said.line): said.site
                for said in self._code.said
                if self._code.is_exec(said)
            }
        return self.at(text, self._execs.get((block.copybook, block.exec.line, block.line)))

    def alone(self, items: Iterable[int]) -> Reaching:
        """Return an analysis of some items only, without those that are moved to them."""
        other = Reaching(
            self._code,
            self._trees,
            self._pieces,
            self._names,
            self._referred,
            self._values,
            self._records,
            self._constants,
        )
        other._ways, other._writes, other._near = self._ways, self._writes, self._near
        other._collect(items, is_traced=False)
        return other

    @property
    def is_known(self) -> bool:
        """Whether the program has few enough paths to be followed."""
        return self._solved is not None

    def stays(self, item: int, filled: Site, used: Site) -> bool:
        """Return whether the value that a statement assigns to an item may still be there before another; True if not known."""
        if self._solved is None or item not in self._items:
            return True
        node, use = self._ways.node_of.get(filled), self._ways.node_of.get(used)
        mine = [bit for bit in _bits(self._items[item]) if self._definitions[bit].node == node]
        mask = None if node is None or use is None or not mine else self._solved.at(use)
        return mask is None or any(mask >> bit & 1 for bit in mine)

    def _reached(self, index: int, node: int | None) -> ReachedValues:
        """Return the values of an item at a node, looking up items that are moved to it where they are moved."""
        if index not in self._items:
            return ReachedValues((), False, "too many items would have to be followed")
        known = self._known.get((index, node))
        if known is not None:
            return known
        values: dict[str, Resolved] = {}
        unknown = ""
        is_running = False
        strung: set[tuple[int, str | None]] = set()
        # Breadth first over definitions: `MOVE A TO B` in a loop with `MOVE B TO A` brings nothing new the second time.
        queue: deque[tuple[int, int | None, tuple[int | None, ...]]] = deque([(index, node, ())])
        seen = {(index, node)}
        is_blank = False
        while queue and max(len(values), len(strung)) <= MAX_VALUES:
            item, place, sizes = queue.popleft()
            for definition in self._reaching(item, place):
                if max(len(values), len(strung)) > MAX_VALUES:
                    break
                if definition.source is not None and definition.source not in self._items:
                    unknown = unknown or "too many items would have to be followed"
                elif definition.source is not None:
                    if self._names.items[definition.source].usage == "GROUP":
                        strung.add((definition.line, definition.copybook))
                    way = (definition.source, definition.node)
                    if way not in seen:
                        seen.add(way)
                        # The sizes on the way are kept, because a MOVE to a short item truncates the value for later ones.
                        queue.append((*way, (*sizes, self._text_bytes(item))))
                elif definition.how == RUNNING:
                    is_running = True
                    unknown = unknown or f"line {definition.line}: {RUNNING} is the transaction that runs the program"
                elif definition.text is None:
                    unknown = unknown or f"line {definition.line}: {definition.how} may give it any value"
                    if definition.how == "STRING":
                        strung.add((definition.line, definition.copybook))
                elif definition.text == _BLANK:
                    is_blank = True
                else:
                    value = _cut(definition.text, (*sizes, self._text_bytes(item)))
                    how = _GIVEN_BY.get(definition.how, "MOVE")
                    values.setdefault(value, Resolved(value, how, definition.line, definition.copybook))
        # Reported rather than guessed: which values were found first depends on the order of the walk.
        if max(len(values), len(strung)) > MAX_VALUES:
            unknown = f"more than {MAX_VALUES} values are possible"
        found = tuple(values.values())[:MAX_VALUES]
        is_sure = len(found) == 1 and not unknown and not is_blank
        result = ReachedValues(found, is_sure, unknown, frozenset(strung), is_running)
        self._known[index, node] = result
        return result

    def _just_moved(self, item: int, site: Site) -> Resolved | None:
        """Return the literal that copied code moves to an item right before a statement; None if that is not certain.

        Copied code below its own headers may run anywhere, but its paragraphs are entered at their first statement, so consecutive
        statements run one after the other, however the paragraph is reached.
        """
        at = self._code.places[site]
        here = self._code.said[at]
        root = self._storage.root
        for said in (self._code.said[before] for before in range(at - 1, -1, -1)):
            is_apart = (said.copybook, said.line, said.header) != (here.copybook, here.line, here.header)
            if is_apart or said.verb not in _STRAIGHT:
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
        """Return how many bytes of a text an item keeps; None for all, as for a pointer, which holds an address."""
        one = self._names.items[item]
        return None if one.usage.endswith("POINTER") else one.bytes

    def _reaching(self, item: int, node: int | None) -> Iterable[_Definition]:
        """Yield the definitions of an item that reach a node; all of them if paths are not known."""
        bits = self._items.get(item, 0)
        if node is not None and self._solved is not None and (mask := self._solved.at(node)) is not None:
            bits &= mask
        return (self._definitions[at] for at in _bits(bits))

    # ── collecting definitions ──

    def _collect(self, wanted: Iterable[int], *, is_traced: bool = True) -> None:
        """Find every definition of some items, and follow them.

        Args:
            wanted: The items.
            is_traced: Whether to follow the items that are moved to them as well.
        """
        self._definitions, self._items, self._known = [], {}, {}
        calls = self._code.of("CALL", "ENTER")
        waiting = deque(dict.fromkeys(wanted))
        effects: dict[int, list[int]] = {}
        # Items are followed backwards: the wanted ones, then those moved to them, and so on until there are no new ones.
        while waiting and (len(self._items) < MAX_ITEMS or not is_traced):
            item = waiting.popleft()
            if item in self._items:
                continue
            found = [*self._initial(item)]
            root = self._storage.root(item)
            # A GLOBAL or EXTERNAL item may have any value after a call of another program.
            called = [(said, (), _Writing(root, False, True)) for said in calls] if self._shared(item) else ()
            for said, mentions, writing in (*self._writes_near(item, root), *called):
                if (definition := self._defines(item, said, mentions, writing)) is not None:
                    # A write of a part destroys the text of the whole, although the other parts keep theirs.
                    is_part = is_traced and definition.text is None and definition.source is None
                    is_part = (
                        is_part and writing.whole and (self._is_sent(said, writing) or _begins(item, said, writing))
                    )
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

    @cached_property
    def _ways(self) -> Ways:
        """The ways through the program."""
        return Ways(self._code, self._trees, self._pieces)

    @cached_property
    def _writes(self) -> dict[int, list[tuple[ReadStatement, Sequence[Mention], _Writing]]]:
        """The writes by the record whose storage they change: each with its statement and the mentions in it."""
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
            kept = self._function(said)
            for one in mentions:
                # Bit 0 of a role is reading; a statement that only reads the item defines nothing.
                if one.role & ~1:
                    for item in one.items:
                        if item in kept:
                            continue
                        # A write of a name that may mean two items changes one of them, but which is unknown: both keep their
                        # old definitions.
                        whole = one.whole and len(one.items) == 1
                        writing = _Writing(item, whole, not one.role & 2, one.is_cut, one)
                        found.setdefault(root(item), []).append((said, mentions, writing))
            # The statement names no item, and overwrites all records of the file, which share storage.
            if said.verb in {"READ", "RETURN"} and len(said.keys) > 1:
                for item in self._records.get(said.operand, ()):
                    found.setdefault(root(item), []).append((said, (), _Writing(item, True, False)))
        return found

    def _writes_near(self, item: int, root: int) -> list[tuple[ReadStatement, Sequence[Mention], _Writing]]:
        """Return the writes of a record, in order, that may change an item of it."""
        writes = self._writes.get(root, [])
        if root not in self._near:
            by_item: dict[int, list[int]] = {}
            for at, (_, _, writing) in enumerate(writes):
                by_item.setdefault(writing.item, []).append(at)
            self._near[root] = by_item, self._storage.sharing(by_item)
        by_item, sharing = self._near[root]
        return [writes[at] for at in sorted(at for one in sharing.near(item) for at in by_item[one])]

    def _function(self, said: ReadStatement) -> frozenset[int]:
        """Return the items by which a call tells DL/I its function, and their count, or IMAGE its data set: they are only read."""
        called = {word.strip("'\"").upper() for word in said.keys[1:3]} if said.verb == "CALL" else set()
        if not called.isdisjoint(IMAGE_INTRINSICS):
            return frozenset(item for name in parameters(said)[1:2] if (item := self._names.one(name)) is not None)
        if called.isdisjoint(DLI_INTERFACES):
            return frozenset()
        first, *others = [*map(self._names.one, parameters(said)[:2]), None]
        is_count = first is not None and (self._names.items[first].picture or "X").upper().lstrip("S").startswith("9")
        return frozenset(item for item in (first, *others[: int(is_count)]) if item is not None)

    def _initial(self, index: int) -> list[_Definition]:
        """Return the definitions of an item when the program begins."""
        item = self._names.items[index]
        # The value of a parameter is unknown, even with a VALUE: in the LINKAGE SECTION, VALUE is only for level 88s.
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
        """Return the effect on a followed item of a statement that writes some item; None if the two do not overlap."""
        covers = self._storage.covers(writing.item, item)
        if covers is None:
            return None
        node = self._ways.node_of.get(said.site)
        # Only a certain write of the whole item kills its other definitions. A READ at the end of its file, or an ADD with a
        # SIZE ERROR, leaves the old value. A definition too many makes an answer less certain, one too few makes it wrong.
        is_sent = covers and self._is_sent(said, writing)
        # One occurrence of a table is assigned, and the others keep their values.
        is_whole = is_sent and writing.whole
        text, source = (None, None)
        if is_sent and (is_whole or writing.item == item):
            text, source = self._value(item, said, mentions, writing)
            if said.verb == "MOVE" and said.keys[1] == RUNNING:
                return _Definition(item, None, None, node, said.line, RUNNING, said.copybook, is_whole)
        how = " ".join(said.keys[:2])[:40] if said.verb in {"CALL", "ENTER"} else said.verb
        return _Definition(item, text, source, node, said.line, how, said.copybook, is_whole)

    @staticmethod
    def _is_sent(said: ReadStatement, writing: _Writing) -> bool:
        """Return whether a statement certainly writes all of the item that it names."""
        is_pair = said.verb == "MOVE" and said.keys[1] in CORRESPONDING
        return said.verb in _WHOLE and not (is_pair or writing.is_passed or writing.is_cut)

    def _value(
        self, item: int, said: ReadStatement, mentions: Sequence[Mention], writing: _Writing
    ) -> tuple[str | None, int | None]:
        """Return what a statement assigns to an item that it writes as a whole: a text, or the item whose value is moved."""
        offset = self._storage.within(writing.item, item)
        if said.verb == "INITIALIZE":
            return (_BLANK, None) if len(said.keys) == 2 or "REPLACING" not in said.keys else (None, None)
        if said.verb == "SET" and (
            said.keys[-3:-1] == ("TO", "ENTRY") or said.keys[-4:-1] == ("ADDRESS", "OF", "PROGRAM")
        ):
            text = self._literal(said.keys[-1])
            source = self._names.one(said.keys[-1]) if text is None else None
            return (text, source) if writing.item == item else (None, None)
        if said.verb == "SET" and writing.mention is not None:
            return self._condition(said, writing.mention, item, offset), None
        if said.verb != "MOVE" or "TO" not in said.keys:
            return None, None
        to = said.keys.index("TO")
        if to == 2:
            word = said.keys[1]
            if word in FIGURATIVE:
                return _BLANK, None
            if said.kinds[1] == "literal" or word in self._constants:
                return self._sliced(self._literal(word), writing.item, item, offset), None
        # The only sender must be a whole item: the value of a function or of a part of an item is not that of any item.
        sender = [one for one in mentions if one.at < to and not one.beside]
        if len(sender) != 1 or len(sender[0].items) != 1 or sender[0].function or sender[0].is_cut:
            return None, None
        source = sender[0].items[0]
        if writing.item == item:
            return None, source
        # A move to the group around it: the item at the same offset in the sender is moved here.
        return None, self._storage.inside(source, offset, self._names.items[item].bytes)

    def _literal(self, word: str) -> str | None:
        """Return the text of a literal, or of the level 78 that stands for one; None if the word is no text."""
        named = self._constants.get(word)
        return _text(word) if named is None else named.value

    def _condition(self, said: ReadStatement, mention: Mention, item: int, offset: int | None) -> str | None:
        """Return the value that SET … TO TRUE assigns; None for any other SET."""
        if "TRUE" not in said.keys or not mention.is_condition:
            return None
        for found in self._names.mean(said.keys[mention.at], qualifiers(said.keys, mention.at + 1)):
            if found.condition is not None and found.item == mention.items[0]:
                values = self._names.items[found.item].conditions[found.condition].values
                return self._sliced(_text(values[0]), found.item, item, offset) if values else None
        return None

    def _sliced(self, text: str | None, whole: int, item: int, offset: int | None) -> str | None:
        """Return the part of a text that an item receives when the text is moved to an item around it."""
        if text is None or whole == item:
            return text
        size = self._names.items[item].bytes
        if offset is None or size is None:
            return None
        return text[offset : offset + size].rstrip()

    # ── solving ──

    def _solve(self, effects: dict[int, list[int]]) -> Solution | None:
        """Return which definitions reach which node; None if there are too many paths."""
        # Two kinds of definitions have no node: those at the start of the program, and those in copied code, which may run at any
        # node in `outside`.
        start = anywhere = 0
        for bit, definition in enumerate(self._definitions):
            if definition.node is None and _is_statement(definition):
                anywhere |= 1 << bit
            elif definition.node is None:
                start |= 1 << bit
        functions: dict[int, Transfer] = {}
        for node, bits in effects.items():
            gone = 0
            for bit in bits:
                if self._definitions[bit].kills:
                    gone |= self._items[self._definitions[bit].item]
            # A node may define several items, and one item several times, like a SET of two conditions: it kills first, then adds.
            functions[node] = (sum(1 << bit for bit in bits), gone)
        if anywhere:
            for node in self._ways.outside:
                added, gone = functions.get(node, (0, 0))
                functions[node] = (added | anywhere, gone)
        return Solution.of(self._ways, functions, start | anywhere, _is_entered_again(self._code))


class _Writing(NamedTuple):
    """An item that a statement writes, and how."""

    item: int
    whole: bool
    is_passed: bool
    is_cut: bool = False
    mention: Mention | None = None


def _begins(item: int, said: ReadStatement, writing: _Writing) -> bool:
    """Return whether a STRING certainly begins an item anew: with all of its first sender, which is not that item."""
    if said.verb != "STRING" or writing.item != item or "POINTER" in said.keys or "INTO" not in said.keys:
        return False
    into = said.keys.index("INTO")
    sent = said.keys[1:into]
    ends = sent[sent.index("DELIMITED") + 1 :] if "DELIMITED" in sent else ("SIZE",)
    return "SIZE" in ends[:2] and said.keys[into + 1] not in sent


def _is_statement(definition: _Definition) -> bool:
    """Return whether a definition is a statement, rather than a value at the start."""
    return definition.how not in {"VALUE", "the caller", "another program"}


def _is_entered_again(code: Code) -> bool:
    """Return whether a program may be called again and find its old values: it has parameters, or EXIT PROGRAM."""
    program = code.program
    return bool(program.using) or any(said.copybook is None for said in code.of("EXIT PROGRAM"))


def _text(word: str) -> str | None:
    """Return the text of a literal, "" for a blank one; None if it is not a text."""
    if len(word) < 2 or word[0] not in "'\"":
        return None
    return literal(word) or _BLANK


def _cut(text: str, sizes: Sequence[int | None]) -> str:
    """Return a text as truncated by moves through items of some sizes."""
    for size in sizes:
        if size:
            text = text[:size]
    return text.rstrip()


def _bits(mask: int) -> Iterable[int]:
    """Yield the positions of the bits that are set, from the lowest."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
