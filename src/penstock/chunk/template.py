"""What is known, and from where? Sections of records; each section declares the fields that make two records the same.

    Template.of({"paragraphs": (("name",), [Record.of({"name": "MAIN", "calls": ["READ", "WRITE"]})])})

A field holds values in the order in which they were found, each with where it comes from (`code` or `model`), the lines that
prove it, and how the answers that it was in fared. Nothing here knows what a section is about.
Law: names are compared case-blind, literals to the letter; a value is never changed. Keeps out: how templates become one
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
"""A text, a number, a truth value, or a tuple of such: what can be compared and never changes."""


class Citation(NamedTuple):
    """The lines that prove something, and the text of the first of them."""

    first_line: int
    last_line: int
    evidence: str = ""


class Grade(NamedTuple):
    """How one answer fared: of its claims in that field, how many the source bore out."""

    chunk: str
    accepted: int
    rejected: int


class Value(NamedTuple):
    """One thing that was found or said. Citations and grades are sorted, none twice."""

    said: Plain
    origin: Origin = "code"
    citations: tuple[Citation, ...] = ()
    grades: tuple[Grade, ...] = ()

    @property
    def least(self) -> float:
        """The confidence of the worst answer that it was in; 1 for what the code says."""
        return min((_share(grade.accepted, grade.rejected) for grade in self.grades), default=1.0)

    @property
    def mean(self) -> float:
        """The confidence over all of them, each weighed by its claims."""
        return _share(sum(grade.accepted for grade in self.grades), sum(grade.rejected for grade in self.grades))


def _share(accepted: int, rejected: int) -> float:
    # Without claims nothing was wrong: what the code says has no grades.
    return accepted / (accepted + rejected) if accepted + rejected else 1.0


class TemplateRecord:
    """One item of a section: its fields by name, and the lines that it is at.

    What the code alone says stays as it was given (`said`), and `fields` are made of it when somebody asks: most records
    of most documents are never merged with any other. Equal are two with equal fields and citations.
    """

    __slots__ = ("_fields", "citations", "said")

    def __init__(self, fields: Mapping[str, tuple[Value, ...]], citations: tuple[Citation, ...] = ()) -> None:
        self._fields: Mapping[str, tuple[Value, ...]] | None = fields
        self.citations = citations
        self.said: Mapping[str, Plain | list[Plain]] | None = None
        """The plain values of its fields, where all are the code's and none has a proof of its own: a list is several,
        None is nothing known. None where somebody else has a part in it."""

    @classmethod
    def of(
        cls,
        fields: Mapping[str, Plain | Sequence[Plain]],
        citations: Iterable[Citation] = (),
        origin: Origin = "code",
    ) -> TemplateRecord:
        """The record of plain values: a list is several, a tuple is one, a `Value` is itself; `None` is nothing known."""
        made = {name: _values(given, origin) for name, given in fields.items() if given is not None}
        return cls(MappingProxyType(made), _sorted(citations))

    @classmethod
    def of_code(cls, said: Mapping[str, Plain | list[Plain]], citations: Iterable[Citation] = ()) -> TemplateRecord:
        """The record of what the code says: as `of` gives it, of values that are plain, in a fraction of the time."""
        made = cls.__new__(cls)
        made._fields, made.citations, made.said = None, _sorted(citations), said
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
        """What a field says, in order: nothing where it says nothing."""
        if self.said is None:
            return [value.said for value in self.fields.get(name, ())]
        given = self.said.get(name)
        return given if isinstance(given, list) else [] if given is None else [given]

    def first(self, name: str) -> Plain:
        """What a field says first, `None` where it says nothing."""
        return next(iter(self.every(name)), None)

    def all_citations(self) -> tuple[Citation, ...]:
        """Every line that proves any of it, in order."""
        # What the code says is cited by its record: values have citations of their own only where a model said them.
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
    """Records of one kind, and the fields that tell them apart; no field at all means that there is one record."""

    key: tuple[str, ...]
    records: tuple[TemplateRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """Sections by name, in order."""

    sections: Mapping[str, TemplateSection] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, sections: Mapping[str, tuple[Sequence[str], Iterable[TemplateRecord]]]) -> Template:
        """The template of these sections, each its key and its records."""
        made = {name: TemplateSection(tuple(key), tuple(records)) for name, (key, records) in sections.items()}
        return cls(MappingProxyType(made))

    def __getitem__(self, name: str) -> tuple[TemplateRecord, ...]:
        """The records of a section, none where it is missing."""
        section = self.sections.get(name)
        return () if section is None else section.records

    def atoms(self) -> Iterator[tuple[Plain, ...]]:
        """Everything that it says, one fact at a time: what must not be lost."""
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
    """What tells a record apart: the folded values of its key fields, in any order and however often they were said."""
    # A set, as merging adds values to key fields, too: a key that depended on their order or number would make
    # another record of the same one.
    return tuple([frozenset(map(folded, record.every(name))) for name in key])


# The last way is a quote that nobody closes: every letter is in some piece, so that two texts are never equal by what
# was lost.
_PIECE = re.compile(r"'[^']*'|\"[^\"]*\"|[^'\"]+|['\"]")


def folded(said: Plain) -> Plain:
    """How two values are compared: without regard to case and blanks, but for what stands in quotes."""
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
