"""Programs in which a field grows, made from a seed, and what each of their items holds in several forms of them.

A program moves, compares, takes apart and calculates what a field holds, in kinds of items that behave differently. It is
compiled with the field as it is and grown, with a value that fills the field of today or the grown one, and with what receives
it as it is or with room for anything. Leaves to others: what `penstock impact --grow` says of it, and who is right (`grown`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tests.cobol.compiled import NUMBERS, TEXTS, Item, ran

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from random import Random

FIELD, GROUP, OTHER = "S", "G", "H"
"""What grows, the group that holds it, and what that group is moved to and from."""
_FIELDS = (
    *("text",) * 3, *("digits",) * 2, "signed", "packed", "binary", "decimals", "apart", "right", "edited", "native", "money",
    "minus",
)  # fmt: skip
_NUMBERS = ("digits", "signed", "apart", "decimals", "packed", "binary", "edited", "native", "money", "minus")
_TEXTS = ("text", "right", "text")
_EDITED = frozenset({"edited", "money", "minus"})
_DIGITS, _FRACTION, _LETTERS = "987654321987654321", "25874", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ROOM = {"text": 60, "right": 60}
"""The places of an item with room for anything; of a number, 16."""
PARTS = {GROUP: ("GA", FIELD, "GB"), OTHER: ("HA", "HS", "HB"), "R": ("RA", "RB")}
"""What the groups hold."""


class Template(NamedTuple):
    """A statement without its names: `a` is what it gives, `b` what gets that, and `c` a third item, a text."""

    kind: str
    may_be: Callable[[Item, Item], bool]
    """Whether it stands with such an `a` and `b`."""
    text: str
    reads: str = "a"
    writes: str = "b"
    fills: bool = False
    """Whether others give on what `b` then holds."""


def _is_number(one: Item) -> bool:
    return one.kind in NUMBERS


def _is_plain(one: Item) -> bool:
    return _is_number(one) and one.kind not in _EDITED


def _moves(one: Item, other: Item) -> bool:
    return _is_number(one) or not _is_number(other) if one.kind != "decimals" else _is_number(other)


def _shows(one: Item, other: Item) -> bool:
    return one.kind in {"digits", "text", "right", "edited"} and not _is_number(other)


def _texts(one: Item, other: Item) -> bool:
    return one.kind in TEXTS and not _is_number(other)


def _takes_apart(one: Item, other: Item) -> bool:
    return one.kind == "text" and not _is_number(other)


def _by_place(one: Item, other: Item) -> bool:
    return one.kind in {"digits", "text", "right"} and not _is_number(other)


def _only_text(one: Item, other: Item) -> bool:
    return one.kind == other.kind == "text"


def _calculates(one: Item, other: Item) -> bool:
    return _is_plain(one) and _is_number(other)


def _plainly(one: Item, other: Item) -> bool:
    return _is_plain(one) and _is_plain(other)


def _compares(one: Item, other: Item) -> bool:
    return _is_number(one) == _is_number(other) and not {one.kind, other.kind} & {"right", *_EDITED}


def _counts(one: Item, other: Item) -> bool:
    integers = {"digits", "packed", "signed"}
    return one.kind in integers and other.kind in {*integers, "binary"}


def _is_highest(one: Item, _: Item) -> bool:
    return one.kind in {"digits", "signed", "packed"}


def _to_text(_: Item, other: Item) -> bool:
    return not _is_number(other)


def _from_text(one: Item, _: Item) -> bool:
    return one.kind == "text"


def _always(_: Item, __: Item) -> bool:
    return True


_FLAGGED = "MOVE 'N' TO {{flag}} {} MOVE 'Y' TO {{flag}} END-{}"
TEMPLATES = (
    *(Template("move", _moves, "MOVE {a} TO {b}", fills=True),) * 3,
    Template("string", _shows, "MOVE SPACES TO {b} STRING {a} DELIMITED BY SIZE INTO {b}", fills=True),
    Template("string of two", _shows, "MOVE SPACES TO {b} STRING {a} '-' {c} DELIMITED BY SIZE INTO {b}", "ac"),
    Template("unstring", _takes_apart, "UNSTRING {a} DELIMITED BY '*' INTO {b}"),
    Template("unstring to two", _takes_apart, "UNSTRING {a} DELIMITED BY 'C' INTO {b} {c}", writes="bc"),
    Template("replacing", _takes_apart, "INSPECT {b} REPLACING ALL 'A' BY {a}(1:1)"),
    Template("sent part", _by_place, "MOVE {a}({in_a}) TO {b}"),
    Template("taken part", _by_place, "MOVE {a} TO {b}({in_b})"),
    Template("compute", _calculates, "COMPUTE {b} = {a} + 0"),
    Template("add", _calculates, "ADD 0 {a} GIVING {b}"),
    Template("rounded", _calculates, "COMPUTE {b} ROUNDED = {a} * 1"),
    Template("subtract", _plainly, "MOVE 0 TO {b} SUBTRACT {a} FROM {b}", fills=True),
    Template("multiply", _plainly, "MOVE 1 TO {b} MULTIPLY {a} BY {b}", fills=True),
    Template("add to", _plainly, "MOVE 0 TO {b} ADD {a} TO {b}", fills=True),
    Template("if", _compares, f"MOVE {{value}} TO {{b}} {_FLAGGED.format('IF {a} = {b}', 'IF')}", "ab"),
    Template(
        "evaluate", _compares, f"MOVE {{value}} TO {{b}} {_FLAGGED.format('EVALUATE {a} WHEN {b}', 'EVALUATE')}", "ab"
    ),
    Template("trim", _takes_apart, "MOVE FUNCTION TRIM({a}) TO {b}", fills=True),
    Template("concatenate", _texts, "MOVE FUNCTION CONCATENATE({a} '*') TO {b}", fills=True),
    Template("upper case", _texts, "MOVE FUNCTION UPPER-CASE({a}) TO {b}", fills=True),
    Template("reverse", _texts, "MOVE FUNCTION REVERSE({a}) TO {b}", fills=True),
    Template("substitute", _texts, "MOVE FUNCTION SUBSTITUTE({a} 'Q' 'R') TO {b}", fills=True),
    Template("initialize", _only_text, "INITIALIZE {b} REPLACING ALPHANUMERIC DATA BY {a}", fills=True),
    Template("perform", _counts, "PERFORM VARYING {b} FROM {a} BY 1 UNTIL 1 = 1 CONTINUE END-PERFORM"),
    *(Template("highest", _is_highest, _FLAGGED.format("IF {a} {highest}", "IF"), writes=""),) * 2,
)
_OF_GROUPS = (
    Template("group to other", _always, "MOVE {g} TO {h}", "g", "h"),
    Template("other to group", _always, "MOVE {h} TO {g}", "h", "g"),
    Template("group if other", _always, _FLAGGED.format("IF {g} = {h}", "IF"), "gh", ""),
    Template("part of group", _to_text, "MOVE {g}({in_g}) TO {b}", "g"),
    Template("part to group", _from_text, "MOVE {a} TO {g}({in_g})", "a", "g"),
    Template("string of group", _to_text, "MOVE SPACES TO {b} STRING {g} DELIMITED BY SIZE INTO {b}", "g"),
    Template("unstring of group", _to_text, "UNSTRING {g} DELIMITED BY '*' INTO {b}", "g"),
    Template("group to item", _to_text, "MOVE {g} TO {b}", "g", fills=True),
    Template("item to group", _to_text, "MOVE '{letters}' TO {b} MOVE {b} TO {g}", "b", "g"),
)


class Statement(NamedTuple):
    """A statement of a program."""

    kind: str
    text: str
    """With `{value}` for what fills the field."""
    reads: tuple[str, ...]
    writes: tuple[str, ...]


class Group(NamedTuple):
    """A group that holds the field between two others, and what shares its bytes or is moved to and from it."""

    before: Item
    behind: Item
    other: Item | None
    """What the group is moved to and from; None for another group of the same form."""
    over: str
    """What redefines it: `whole`, `parts`, or nothing."""

    def bytes(self, field: Item) -> int:
        """Return how long it is."""
        return self.before.bytes() + field.bytes() + self.behind.bytes()


class Form(NamedTuple):
    """How a program is compiled."""

    is_grown: bool = False
    is_filled: bool = False
    """Whether the field has a value that fills it when it is grown, rather than one that fills it today."""
    has_room: bool = False
    """Whether all that the field may be given to has room for anything."""


class GrowingProgram:
    """A program made by a seed.

    Args:
        draw: The source of chance.
        number: What its names end with, so that several are compiled as one.
    """

    def __init__(self, draw: Random, number: int) -> None:
        self._draw, self.number = draw, number
        kind = draw.choice(_FIELDS)
        is_binary = kind in {"binary", "native"}
        self.field = Item(kind, draw.randint(3, 4) if is_binary else draw.randint(4, 8))
        self.more_bytes = 1 if is_binary else draw.randint(1, 3)
        self.is_behind_point = kind == "decimals" and draw.random() < 0.5
        """Whether the field grows behind its point."""
        self.items = {
            f"T{at}": Item(draw.choice(_TEXTS if draw.random() < 0.6 else _NUMBERS), draw.randint(4, 12))
            for at in range(draw.randint(2, 4))
        }
        self.group = self._grouped() if draw.random() < 0.4 else None
        self.statements: list[Statement] = []
        self.compared: dict[str, tuple[str, ...]] = {}
        """What is compared for each flag."""
        self._filled = [FIELD, FIELD]
        templates = [*TEMPLATES, *(_OF_GROUPS * 2 if self.group else ())]
        for _ in range(draw.randint(6, 14)):
            self._add(draw.choice(templates))

    def name(self, item: str) -> str:
        """Return the name of an item in the source."""
        return f"{item}-{self.number}"

    def declared(self, form: Form, tight: str = "") -> list[str]:
        """Return the entries of the program.

        Args:
            form: How it is compiled.
            tight: An item that has no more room than it has, whatever the form says.
        """
        field = self._grown_field() if form.is_grown else self.field
        lines = [] if self.group else [field.declared(self.name(FIELD))]
        for name, item in self.items.items():
            roomy = (
                item._replace(places=_ROOM.get(item.kind, 16), decimals=6) if form.has_room and name != tight else item
            )
            lines.append(roomy.declared(self.name(name)))
        if self.group:
            lines += self._held(GROUP, (self.group.before, field, self.group.behind))
            length = self.group.bytes(self.field)
            if self.group.over == "whole":
                lines.append(f"01 {self.name('R')} REDEFINES {self.name(GROUP)} PIC X({length}).")
            elif self.group.over == "parts":
                lines += [
                    f"01 {self.name('R')} REDEFINES {self.name(GROUP)}.",
                    f"05 {self.name('RA')} PIC X({length - 2}).",
                    f"05 {self.name('RB')} PIC XX.",
                ]
            if self.group.other is None:
                lines += self._held(OTHER, (self.group.before, self.field, self.group.behind))
            else:
                lines.append(self.group.other.declared(self.name(OTHER)))
        return [*lines, *(f"01 {self.name(flag)} PIC X." for flag in self.compared)]

    def code(self, form: Form) -> list[str]:
        """Return the statements, those that fill the items before them, and those that show them."""
        value = _value(self._grown_field() if form.is_filled else self.field)
        lines = [f"MOVE {value} TO {self.name(FIELD)}", *self._group_filled(value)]
        for name, item in self.items.items():
            lines.append(f"MOVE {'0' if _is_number(item) else 'SPACES'} TO {self.name(name)}")
        lines += [one.text.format(value=value) for one in self.statements]
        return [*lines, *(self._shown(*one) for one in self._watched())]

    def source(self) -> list[str]:
        """Return the statements as a person would have them, without those that show anything."""
        return [one.text.format(value=_value(self.field)) for one in self.statements]

    def _grown_field(self) -> Item:
        """Return the field as it is when it has grown, by the most that it may be."""
        if self.is_behind_point:
            return self.field.grown_behind_point(self.more_bytes)
        return self.field.grown(self.more_bytes)[1]

    def _watched(self) -> list[tuple[str, Item]]:
        """Return what is shown in the end: all but the field itself."""
        watched = list(self.items.items())
        letter = Item("text", 1)
        if self.group:
            watched += [("GA", self.group.before), ("GB", self.group.behind)]
            same = [("HA", self.group.before), ("HS", self.field), ("HB", self.group.behind)]
            watched += [(OTHER, letter)] if self.group.other else same
            watched += [(name, letter) for name in {"whole": ("R",), "parts": ("RA", "RB")}.get(self.group.over, ())]
        return [*watched, *((flag, letter) for flag in self.compared)]

    def _shown(self, name: str, item: Item) -> str:
        """Return the statement that shows an item: a number in digits, whatever its usage."""
        shown = f"DISPLAY '{self.number}|{name}|' {{}} '|'"
        if _is_plain(item):
            return f"MOVE {self.name(name)} TO WIDE {shown.format('WIDE')}"
        return shown.format(self.name(name))

    def _grouped(self) -> Group:
        draw = self._draw
        before = draw.choice([Item("text", 3), Item("digits", 2)])
        behind = draw.choice([Item("text", 3), Item("digits", 4), Item("packed", 5)])
        length = before.bytes() + self.field.bytes() + behind.bytes()
        form = draw.choice(["same", "whole", "short", "long"])
        more = {"short": -draw.randint(1, 3), "long": draw.randint(1, 6)}.get(form, 0)
        other = None if form == "same" else Item("text", length + more)
        return Group(before, behind, other, draw.choice(["", "", "whole", "parts"]))

    def _held(self, group: str, items: Iterable[Item]) -> list[str]:
        """Return the entries of a group."""
        held = [
            one.declared(self.name(name)).replace("01", "05", 1) for name, one in zip(PARTS[group], items, strict=True)
        ]
        return [f"01 {self.name(group)}.", *held]

    def _group_filled(self, value: str) -> list[str]:
        """Return the statements that fill the groups."""
        if not self.group:
            return []
        before = "42" if _is_number(self.group.before) else "'KLM'"
        behind = "1357" if _is_number(self.group.behind) else "'UVW'"
        filled = [("GA", before), ("GB", behind)]
        filled += [(OTHER, "'KLMNOPQRST'")] if self.group.other else [("HS", value), ("HA", before), ("HB", behind)]
        return [f"MOVE {what} TO {self.name(name)}" for name, what in filled]

    def _add(self, template: Template) -> None:
        """Add a statement, if the items that are drawn for it may stand in it."""
        draw, items = self._draw, {FIELD: self.field, **self.items}
        a, b, c = draw.choice(self._filled), draw.choice([*self.items]), draw.choice([*self.items])
        if a == b or not template.may_be(items[a], items[b]):
            return
        if "{in_a}" in template.text and a != FIELD and _is_number(items[a]):
            return  # with room a number begins with more zeros, so that the same places have others
        if "{value}" in template.text and self.field.kind == "decimals" and not _is_number(items[b]):
            return  # a number with a fraction is no text
        if "{c}" in template.text and (c in {a, b} or items[c].kind not in TEXTS):
            return
        of = {"a": a, "b": b, "c": c, "g": GROUP, "h": OTHER, "flag": f"F{len(self.compared)}"}
        places = {"in_a": self._part(items[a].places), "in_b": self._part(items[b].places)}
        # As many as the item has room for: more room would otherwise give the group more than it gets today.
        places["letters"] = _LETTERS[10 : 10 + items[b].places]
        if self.group:
            places["in_g"] = self._part(self.group.bytes(self.field))
        most = 10 ** items[a].places - 1
        highest = draw.choice([f"> {most}", f"<= {most}", f"< {most + 1}", f"NOT < {most + 1}", f">= {most + 1}"])
        names = {key: self.name(name) for key, name in of.items()}
        text = template.text.format(value="{value}", highest=highest, **places, **names)
        reads, writes = (tuple(of[key] for key in keys) for keys in (template.reads, template.writes))
        if "{flag}" in template.text:
            self.compared[of["flag"]] = reads
        if template.fills:
            self._filled.append(b)
        if draw.random() < 0.3:
            text = f"IF RETURN-CODE = 0 {text} END-IF"
        self.statements.append(Statement(template.kind, text, reads, writes))

    def _part(self, places: int) -> str:
        """Return a part of an item by its place: from a character on, up to another or to its end."""
        first = self._draw.randint(1, places)
        return f"{first}:{self._draw.choice(['', self._draw.randint(1, places - first + 1)])}"


def _value(item: Item) -> str:
    """Return a literal that fills all places of an item."""
    if not _is_number(item):
        return f"'{_LETTERS[: item.places]}'"
    fraction = f".{_FRACTION[: item.decimals]}" if item.kind == "decimals" else ""
    return f"{'-' if item.kind == 'minus' else ''}{_DIGITS[: item.places]}{fraction}"


def source_of(programs: Sequence[GrowingProgram]) -> bytes:
    """Return programs as one, as a person would have written them: nothing fills their items first, or shows them."""
    code = [line for one in programs for line in one.source()]
    return "".join(f"{line}\n" for line in _program(programs, Form(), {}, code)).encode()


def held(
    programs: Sequence[GrowingProgram], form: Form, folder: Path, tight: Mapping[int, str] | None = None
) -> dict[tuple[int, str], str]:
    """Return what each item of some programs holds in the end, by the number of its program and its name.

    Args:
        programs: The programs, which are compiled as one.
        form: How they are compiled.
        folder: Where they are compiled.
        tight: An item of each program that has no more room than it has, by the number of the program.
    """
    code = [line for one in programs for line in one.code(form)]
    found = {}
    for line in ran(_program(programs, form, tight or {}, code), folder, "grown").split("\n"):
        number, _, rest = line.partition("|")
        if number.isdigit():
            name, _, value = rest.partition("|")
            found[int(number), name] = value.removesuffix("|")
    return found


def _program(
    programs: Iterable[GrowingProgram], form: Form, tight: Mapping[int, str], code: Iterable[str]
) -> Iterator[str]:
    """Yield the lines of one program that holds others."""
    yield from ("IDENTIFICATION DIVISION.", "PROGRAM-ID. P.", "DATA DIVISION.", "WORKING-STORAGE SECTION.")
    yield "01 WIDE PIC -(19)9.9(6)."
    for one in programs:
        yield from one.declared(form, tight.get(one.number, ""))
    yield "PROCEDURE DIVISION."
    for line in code:
        yield f"    {line}."
    yield "    STOP RUN."
