"""What is known of the data of a program? Its items, and how they are used, moved and compared: types alone.

The laws are those of `values`. Leaves to others: how an item is laid out (`layout`), and which item a name means (`naming`).
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Condition(NamedTuple):
    """A level 88 of an item, with the lines that test it and the lines where SET makes it true."""

    name: str
    values: tuple[str, ...]
    """The values as written; a range is one value, as in `'A' THRU 'F'`."""
    line: int
    read_lines: tuple[int, ...] = ()
    written_lines: tuple[int, ...] = ()


class DataItem(NamedTuple):
    """A data description entry, in the order of the source with copybooks expanded.

    Lines are those of direct references: writing a group also writes the items in it, but this is not repeated at each
    of them.
    """

    level: int
    """1 to 49, 66 or 77; level 88s are `conditions`, level 78s constants."""
    name: str
    """The name of the item, "FILLER" if it has none."""
    line: int
    end_line: int
    section: str
    """FILE, WORKING-STORAGE, LOCAL-STORAGE, LINKAGE and so on; "" in a copybook read on its own."""
    parent: int | None = None
    """The group that contains it, as an index into `Facts.items`; None for a record."""
    record: int = 0
    """The level 01 or 77 above the item, as an index into `Facts.items`; for a record, its own index."""
    file: str | None = None
    """The FD or SD of its record; None outside the FILE SECTION."""
    picture: str | None = None
    """The character string of PICTURE as written; None for a group, and for an item whose usage needs none."""
    usage: str = "DISPLAY"
    """The usage of the item, or of its group: COMP, COMP-3, INDEX, POINTER and so on; GROUP for a group."""
    occurs: int | None = None
    """The maximum number of occurrences; None if the item is not a table or the number is not known."""
    depending: str | None = None
    """The item that holds the number of occurrences."""
    indexes: tuple[str, ...] = ()
    redefines: str | None = None
    renames: tuple[str, str | None] | None = None
    """The first and last item of a level 66; the last is None if only one is renamed."""
    value: str | None = None
    """The VALUE as written, literals with their quotes."""
    sign: str | None = None
    """LEADING or TRAILING, with SEPARATE; None if no SIGN clause applies."""
    offset: int | None = None
    """The bytes from the start of its record (the level 01), counting preceding tables at their maximum size. None if it
    cannot be known because a preceding copybook is missing."""
    bytes: int | None = None
    """The size of one occurrence in bytes; None if it cannot be known."""
    boundary: int = 1
    """The alignment in bytes by SYNCHRONIZED, for a group the widest of its items; 1 if there is none."""
    varies: bool = False
    """Whether the offset depends on a preceding OCCURS DEPENDING."""
    is_justified: bool = False
    """Whether a text is JUSTIFIED, so that what is moved to it is aligned at its end."""
    copybook: str | None = None
    copybook_line: int | None = None
    """The line of the item in its copybook; None if it is in the program."""
    shared: Literal["", "GLOBAL", "EXTERNAL"] = ""
    """Whether a record, or its file, is shared with nested programs (GLOBAL) or the whole run unit (EXTERNAL)."""
    conditions: tuple[Condition, ...] = ()
    read_lines: tuple[int, ...] = ()
    written_lines: tuple[int, ...] = ()
    passed_lines: tuple[int, ...] = ()
    """The lines where it is passed by reference to another program, which may write it."""


class OuterData(NamedTuple):
    """The GLOBAL items of a containing program that a nested program may name: those of the records that it does name, and of other
    records that share a name with them.
    """

    program: str
    items: tuple[DataItem, ...]


class SourcePlace(NamedTuple):
    """A line in the program, or in the named copybook."""

    line: int
    copybook: str | None = None
    end_line: int | None = None
    """The last line of the statement, if it is not known which of its lines has the word; None if `line` has it."""


class DataUse(NamedTuple):
    """The use of an item, by name, in a paragraph that reads or writes it, with the places of the name."""

    item: int
    """An index into `Facts.items` followed by the items of `Facts.outer`; a level 88 counts as its item."""
    is_write: bool
    paragraph: int
    """The key of the paragraph; -1 for code outside of any."""
    header: str
    """The enclosing paragraph in the copybook, if the code is copied; otherwise ""."""
    doubt: str
    """Why the statement may not use the item; "" if it does."""
    places: tuple[SourcePlace, ...]


class ItemPart(NamedTuple):
    """Some characters of an item, as given by a reference modification."""

    start: int | None
    """The first character, counted from 1; None if it is computed from data."""
    length: int | None
    is_open: bool
    """Whether the part extends to the end of the item."""


Given = Literal["", "characters", "reversed", "length", "calculated"]
"""What is taken from an item: its value, its characters (TRIM, UPPER-CASE), these and its room from the end to the beginning
(REVERSE), its length, or something computed."""


class MoveWay(NamedTuple):
    """Which part of one item is moved to which part of another; by default all to all."""

    sent: ItemPart | None = None
    taken: ItemPart | None = None
    is_piece: bool = False
    """Whether a delimiter ends what is sent, or the statement splits it: the length depends on the data, at most the whole."""
    string: int = 0
    """The line of the STRING that concatenates several items; 0 for any other statement."""
    literals: int = 0
    """The number of characters in the literals that such a STRING puts between them."""
    function: Given = ""
    """What a function sends of the item: its characters at other places, or their number; "" for the item itself."""
    is_copied: bool = False
    """Whether another program gets a copy, so that what it writes there is not returned."""


WHOLE = MoveWay()


class PartUse(NamedTuple):
    """The use of some characters of an item by position, without a move from or to another item."""

    item: int
    """An index into `Facts.items` followed by the items of `Facts.outer`."""
    part: ItemPart
    places: tuple[SourcePlace, ...]


class Comparison(NamedTuple):
    """A comparison of an item with another item or a literal, or a value that it has."""

    item: int
    """An index into `Facts.items` followed by the items of `Facts.outer`."""
    other: int | None
    """The other item; None for a literal."""
    literal: str
    """The literal as written, or a range as in `1 THRU 9999`; "" for an item."""
    places: tuple[SourcePlace, ...]


class StatedLength(NamedTuple):
    """A length that an item must have: that of another item or of a literal, or a stated number."""

    item: int
    """An index into `Facts.items` followed by the items of `Facts.outer`."""
    other: int | None
    """The other item; None if there is none."""
    characters: int
    """The characters of the literal, or the number; 0 if there is another item."""
    text: str
    """The literal, or what states the number, as written; "" for an item."""
    by: Literal["INSPECT", "CICS"]
    is_sure: bool
    """Whether the length cannot be anything else."""
    places: tuple[SourcePlace, ...]


class ApartUses(NamedTuple):
    """An item used for several purposes: what some statements put there is not what others pass on."""

    item: int
    """An index into `Facts.items` followed by the items of `Facts.outer`."""
    pairs: tuple[tuple[SourcePlace, SourcePlace], ...]
    """The places of each unrelated pair: the statement that fills the item, and the one that passes it on."""


class DataMove(NamedTuple):
    """A flow of the value of one item into another, by one or several statements."""

    source: int
    """An index into `Facts.items` followed by the items of `Facts.outer`, as is `target`."""
    target: int
    is_copy: bool
    """Whether the value is moved unchanged (MOVE, READ INTO, STRING) rather than used in a calculation."""
    is_sure: bool
    """Whether neither name can mean anything else."""
    places: tuple[SourcePlace, ...]
    way: MoveWay = WHOLE


class Constant(NamedTuple):
    """A level 78, or an item with a VALUE that nothing in the program writes; the value as written."""

    name: str
    value: str
    line: int
    copybook: str | None = None


class Message(NamedTuple):
    """A text meant for people, with its line."""

    text: str
    target: str
    """DISPLAY, or the item that it is moved to or is the value of."""
    line: int
    copybook: str | None = None


class Transform(NamedTuple):
    """A calculation or composition (COMPUTE, ADD, STRING, UNSTRING, INSPECT): what it writes, and from what."""

    verb: str
    targets: tuple[str, ...]
    sources: tuple[str, ...]
    text: str
    line: int
    end_line: int
    paragraph: str


class Undeclared(NamedTuple):
    """A name that is used as data but declared nowhere in the sources found, with its lines."""

    name: str
    lines: tuple[int, ...]
