"""How are many values of one type written as JSON, and read again? Column by column, by the type that is declared for each field.

A program's part is some ten thousand named tuples within each other. By column, the interpreter makes them in a few hundred calls,
as fast as `pickle` does, and the text is plain JSON: reading it makes the declared types and runs nothing. Equal texts, and equal
rows of plain values such as cited lines, are written once.

Law: what is read equals what was written, in value and in type; a value that is not of its declared type is refused when written.
Leaves to others: where the text is kept (`kept`), and that it is what was written.
"""

from __future__ import annotations

import types
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from penstock.text.json_access import Json

_NONE = type(None)
_PLAIN = (str, int, bool, _NONE)
_SHARED = 0.7
"""Up to this share of different values among all, each is written once."""


class Column(Protocol):
    """The values of one field, or of one type."""

    def pack(self, values: Sequence[Any], /) -> Json:
        """Return values as JSON. Raises TypeError for one that is not of the column's type."""
        ...

    def unpack(self, packed: Any, /) -> Sequence[Any]:
        """Return the values that were packed."""
        ...


def column(hint: Any, names: Mapping[str, Any]) -> Column:
    """Return the column of a type: plain values, tuples, frozen sets, named tuples, and any of them or None.

    Args:
        hint: The type.
        names: The types that fields name, by their names, in addition to what the module of a named tuple has when it runs.

    Raises:
        TypeError: The type is none of these.

    Example:
        >>> pairs = column(tuple[str, tuple[int, ...]], {})
        >>> pairs.pack([("a", (1, 2)), ("b", ())])
        [None, [['a', 'b'], [[2, 0], [1, 2]]]]
        >>> pairs.unpack([None, [["a", "b"], [[2, 0], [1, 2]]]])
        [('a', (1, 2)), ('b', ())]
    """
    made: dict[Any, Column] = {}

    def of(one: Any) -> Column:
        if one not in made:
            made[one] = _column(one, names, of)
        return made[one]

    return of(hint)


def _column(hint: Any, names: Mapping[str, Any], of: Callable[[Any], Column]) -> Column:
    """Return the column of a type; `of` returns those of the types within it."""
    origin, within = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return _Plain({hint})
    if origin is Literal:
        return _Plain(set(map(type, within)))
    if origin in {Union, types.UnionType}:
        columns = [of(one) for one in within if one is not _NONE]
        if all(isinstance(one, _Plain) for one in columns):
            return _Plain({_NONE for one in within if one is _NONE}.union(*(one.types for one in columns)))  # type: ignore[attr-defined]
        if len(columns) == 1:
            return _Maybe(columns[0])
    elif (origin is tuple and len(within) == 2 and within[1] is ...) or origin is frozenset:
        return _Many(origin, of(within[0]))
    elif origin is tuple and within:
        return _Rows(tuple, tuple, [of(one) for one in within])
    elif isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        hints = get_type_hints(hint, localns=dict(names))
        # The type's own `__new__` is a function in Python; this one is not.
        return _Rows(hint, partial(tuple.__new__, hint), [of(hints[name]) for name in hint._fields])
    raise TypeError(f"{hint} has no column")


def _expect(values: Iterable[object], types_: set[Any]) -> None:
    """Raise TypeError unless all values are of some types."""
    others = set(map(type, values)) - types_
    if others:
        raise TypeError(f"{others} where {types_} is declared")


def _shared(values: Sequence[Hashable]) -> tuple[list[Any], list[int]] | None:
    """Return the different values and the number of each; None if there are hardly fewer of them."""
    numbers: dict[Hashable, int] = {}
    at = [numbers.setdefault(value, len(numbers)) for value in values]
    return (list(numbers), at) if len(numbers) <= len(values) * _SHARED else None


class _Plain:
    """Texts, numbers, truths and None."""

    def __init__(self, types_: set[Any]) -> None:
        self.types = types_
        # A number is no longer than its index. A truth and a number may be equal, so a column that has both is not shared.
        self._is_shared = str in types_ and not {int, bool} <= types_

    def pack(self, values: Sequence[Any]) -> Json:
        """Return a list, or an object with the different texts and their numbers."""
        _expect(values, self.types)
        shared = _shared(values) if self._is_shared else None
        return list(values) if shared is None else {"all": shared[0], "at": shared[1]}

    def unpack(self, packed: Any) -> Sequence[Any]:
        """Return the values."""
        return packed if isinstance(packed, list) else list(map(packed["all"].__getitem__, packed["at"]))


class _Maybe:
    """Values of another column, or None."""

    def __init__(self, column: Column) -> None:
        self._column = column

    def pack(self, values: Sequence[Any]) -> Json:
        """Return which are there, and these."""
        return [[int(one is not None) for one in values], self._column.pack([one for one in values if one is not None])]

    def unpack(self, packed: Any) -> Sequence[Any]:
        """Return the values."""
        are_there, values = packed
        there = iter(self._column.unpack(values))
        return [next(there) if is_there else None for is_there in are_there]


class _Many:
    """Tuples or sets of any length."""

    def __init__(self, make: Any, column: Column) -> None:
        self._make, self._column = make, column

    def pack(self, values: Sequence[Any]) -> Json:
        """Return their lengths, and all that they hold."""
        _expect(values, {self._make})
        return [list(map(len, values)), self._column.pack(list(chain.from_iterable(values)))]

    def unpack(self, packed: Any) -> Sequence[Any]:
        """Return the values."""
        lengths, values = packed
        make, held = self._make, iter(self._column.unpack(values))
        none = make()
        return [make(islice(held, length)) if length else none for length in lengths]


class _Rows:
    """Tuples of a length, with or without names: a column each."""

    def __init__(self, type_: type, make: Callable[[Any], Any], columns: Sequence[Column]) -> None:
        self._type, self._make, self._columns = type_, make, columns
        # Finding the equal ones among rows that hold rows would take longer than writing them.
        self._plain = [one for one in columns if isinstance(one, _Plain)]
        self._is_shared = len(self._plain) == len(columns) and not any({int, bool} <= one.types for one in self._plain)

    def pack(self, values: Sequence[Any]) -> Json:
        """Return the numbers of the rows, None for each once and in order, and their columns."""
        _expect(values, {self._type})
        shared = None
        if self._is_shared:
            # Before equal rows are one: a truth where a number is declared is equal to a number.
            for plain, held in zip(self._plain, self._held(values), strict=True):
                _expect(held, plain.types)
            shared = _shared(values)
        rows, at = (values, None) if shared is None else shared
        return [at, [column.pack(held) for column, held in zip(self._columns, self._held(rows), strict=True)]]

    def unpack(self, packed: Any) -> Sequence[Any]:
        """Return the values."""
        at, held = packed
        unpacked = [column.unpack(one) for column, one in zip(self._columns, held, strict=True)]
        rows = list(map(self._make, zip(*unpacked, strict=True)))
        return rows if at is None else list(map(rows.__getitem__, at))

    def _held(self, rows: Sequence[Any]) -> Iterable[Sequence[Any]]:
        """Return what rows hold, by column."""
        return zip(*rows, strict=True) if rows else ((),) * len(self._columns)
