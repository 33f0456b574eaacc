"""What is known, and from where? Sections of records; each section declares the fields that identify a record.

    Template.of({"paragraphs": (("name",), [Record.of({"name": "MAIN", "calls": ["READ", "WRITE"]})])})

A field holds values in the order in which they were found, each with its origin (`code` or `model`), the lines that prove it, and
the grades of the answers that contained it. Nothing here knows what a section is about.
Law: names are compared case-insensitively, literals exactly; a value is never changed. Leaves to others: how templates become one
(`merging`), and how a document looks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Origin = Literal["code", "model"]
Plain: TypeAlias = Any
"""A text, a number, a truth value, or a tuple of such: comparable and immutable."""


class Citation(NamedTuple):
    """The lines that prove something, and the text of the first of them."""

    first_line: int
    last_line: int
    evidence: str = ""


class Grade(NamedTuple):
    """How one answer fared: of its claims in that field, how many the source confirmed."""

    chunk: str
    accepted: int
    rejected: int


class Value(NamedTuple):
    """One thing that was found or said. Citations and grades are sorted and without duplicates."""

    said: Plain
    origin: Origin = "code"
    citations: tuple[Citation, ...] = ()
    grades: tuple[Grade, ...] = ()

    @property
    def least(self) -> float:
        """The confidence of the worst answer that contained it; 1 for what the code says."""
        return min((_share(grade.accepted, grade.rejected) for grade in self.grades), default=1.0)

    @property
    def mean(self) -> float:
        """The confidence over all of them, each weighted by its claims."""
        return _share(sum(grade.accepted for grade in self.grades), sum(grade.rejected for grade in self.grades))


def _share(accepted: int, rejected: int) -> float:
    # Without claims nothing was wrong: what the code says has no grades.
    return accepted / (accepted + rejected) if accepted + rejected else 1.0


class TemplateRecord:
    """One item of a section: its fields by name, and its lines.

    What only the code says stays as it was given (`said`), and `fields` are made from it on demand: most records of most
    documents are never merged with another. Two records are equal if their fields and citations are.
    """

    __slots__ = ("_fields", "citations", "said")

    def __init__(self, fields: Mapping[str, tuple[Value, ...]], citations: tuple[Citation, ...] = ()) -> None:
        self._fields: Mapping[str, tuple[Value, ...]] | None = fields
        self.citations = citations
        self.said: Mapping[str, Plain | list[Plain]] | None = None
        """The plain values of its fields, if all are the code's and none has a proof of its own: a list is several values,
        None is unknown. None if anybody else contributed."""

    @classmethod
    def of(
        cls,
        fields: Mapping[str, Plain | Sequence[Plain]],
        citations: Iterable[Citation] = (),
        origin: Origin = "code",
    ) -> TemplateRecord:
        """Return the record of plain values: a list is several, a tuple is one, a `Value` is itself; `None` is unknown."""
        made = {name: _values(given, origin) for name, given in fields.items() if given is not None}
        return cls(MappingProxyType(made), _sorted(citations))

    @classmethod
    def of_code(cls, said: Mapping[str, Plain | list[Plain]], citations: Iterable[Citation] = ()) -> TemplateRecord:
        """Return the record of what the code says: like `of` for plain values, but in a fraction of the time."""
        made = cls.__new__(cls)
        made._fields, made.said = None, said
        made.citations = citations if type(citations) is tuple and len(citations) < 2 else _sorted(citations)
        return made

    @property
    def fields(self) -> Mapping[str, tuple[Value, ...]]:
        """The values of each field."""
        if self._fields is None:
            made = {name: _values(given, "code") for name, given in (self.said or {}).items() if given is not None}
            self._fields = MappingProxyType(made)
        return self._fields

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TemplateRecord):
            return NotImplemented
        return (self.fields, self.citations) == (other.fields, other.citations)

    __hash__ = None  # type: ignore[assignment]  # its fields are a mapping

    def __repr__(self) -> str:
        return f"TemplateRecord({dict(self.fields)!r}, {self.citations!r})"

    def every(self, name: str) -> list[Plain]:
        """Return the values of a field, in order; none if it is missing."""
        if self.said is None:
            return [value.said for value in self.fields.get(name, ())]
        given = self.said.get(name)
        return given if isinstance(given, list) else [] if given is None else [given]

    def first(self, name: str) -> Plain:
        """Return the first value of a field, `None` if it has none."""
        return next(iter(self.every(name)), None)

    def all_citations(self) -> tuple[Citation, ...]:
        """Return every citation that proves any of it, in order."""
        # What the code says is cited by its record: values have citations of their own only if a model said them.
        if self.said is not None:
            return self.citations
        of_values = [value.citations for values in self.fields.values() for value in values if value.citations]
        if not of_values:
            return self.citations
        return tuple(sorted({*self.citations, *(one for each in of_values for one in each)}))


def _sorted(citations: Iterable[Citation]) -> tuple[Citation, ...]:
    found = tuple(citations)
    return found if len(found) < 2 else tuple(sorted(set(found)))


def _values(given: Plain | Sequence[Plain], origin: Origin) -> tuple[Value, ...]:
    if isinstance(given, list):
        return tuple([_tidy(said) if isinstance(said, Value) else Value(said, origin) for said in given])
    return (_tidy(given) if isinstance(given, Value) else Value(given, origin),)


def _tidy(value: Value) -> Value:
    return value._replace(citations=tuple(sorted(set(value.citations))), grades=tuple(sorted(set(value.grades))))


class TemplateSection(NamedTuple):
    """Records of one kind, and the fields that identify them; no field at all means that there is a single record."""

    key: tuple[str, ...]
    records: tuple[TemplateRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """Sections by name, in order."""

    sections: Mapping[str, TemplateSection] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, sections: Mapping[str, tuple[Sequence[str], Iterable[TemplateRecord]]]) -> Template:
        """Return the template of these sections, each given as its key and its records."""
        made = {name: TemplateSection(tuple(key), tuple(records)) for name, (key, records) in sections.items()}
        return cls(MappingProxyType(made))

    def __getitem__(self, name: str) -> tuple[TemplateRecord, ...]:
        """Return the records of a section, none if it is missing."""
        section = self.sections.get(name)
        return () if section is None else section.records

    def atoms(self) -> Iterator[tuple[Plain, ...]]:
        """Yield everything that the template says, one fact at a time: what must not be lost."""
        for name, section in self.sections.items():
            for record in section.records:
                key = key_of(record, section.key)
                yield from ((name, key, citation) for citation in record.citations)
                for field_name, values in record.fields.items():
                    for value in values:
                        said = (name, key, field_name, folded(value.said))
                        yield said
                        yield from ((*said, proof) for proof in (*value.citations, *value.grades))


def key_of(record: TemplateRecord, key: tuple[str, ...]) -> tuple[Plain, ...]:
    """Return what identifies a record: the folded values of its key fields, regardless of order and repetition."""
    # A set, because merging adds values to key fields, too: a key that depended on their order or number would turn one
    # record into another.
    return tuple([frozenset(map(folded, record.every(name))) for name in key])


# The last alternative is an unclosed quote: every letter is in some piece, so that two texts never become equal by losing
# something.
_PIECE = re.compile(r"'[^']*'|\"[^\"]*\"|[^'\"]+|['\"]")


def folded(said: Plain) -> Plain:
    """Return the form in which values are compared: ignoring case and blanks, except within quotes."""
    if isinstance(said, tuple):
        return tuple(map(folded, said))
    if not isinstance(said, str):
        return (type(said).__name__, said)  # 1, 1.0 and True are not the same
    if "'" not in said and '"' not in said:
        return " ".join(said.upper().split())
    pieces = [piece if len(piece) > 1 and piece[0] in "'\"" else _loose(piece) for piece in _PIECE.findall(said)]
    return "".join(pieces).strip()


def _loose(text: str) -> str:
    return re.sub(r"\s+", " ", text.upper())
