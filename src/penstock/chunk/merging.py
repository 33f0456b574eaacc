"""How do several accounts of one thing become one? Records with the same key are united, field by field.

    merge([first_chunk, second_chunk])        # what the first says comes first

What two templates both say is said once, with the citations and the grades of both; what they say differently is kept side by side.
Law: `merge` is associative, has an identity, ignores duplicates, and loses nothing of its input.
Leaves to others: which of two texts is the better one, and what a section is about.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from penstock.chunk.template import Template, TemplateRecord, TemplateSection, Value, folded, key_of
from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from penstock.chunk.template import Plain


_NUMBERS = {int, type(None)}


def merge(templates: Iterable[Template]) -> Template:
    """Return the one template of all. Raises `CallerError` if two declare different keys for a section."""
    # Sections, records and values keep the order in which they were first said: it does not depend on how templates are
    # grouped, which makes `merge` associative.
    keys: dict[str, tuple[str, ...]] = {}
    found: dict[str, list[TemplateRecord]] = {}
    for template in templates:
        for name, section in template.sections.items():
            if keys.setdefault(name, section.key) != section.key:
                raise CallerError(f"the section {name!r} has two keys: {keys[name]} and {section.key}")
            found.setdefault(name, []).extend(section.records)
    made = {name: TemplateSection(keys[name], _merged(keys[name], records)) for name, records in found.items()}
    return Template(MappingProxyType(made))


def _merged(key: tuple[str, ...], records: list[TemplateRecord]) -> tuple[TemplateRecord, ...]:
    """Return the records of a section, with those that have the same key united."""
    if _are_apart(key, records):
        return tuple([record if _says_all_once(record) else _united([record]) for record in records])
    groups: dict[Plain, list[TemplateRecord]] = {}
    for record in records:
        groups.setdefault(key_of(record, key), []).append(record)
    return tuple(map(_united, groups.values()))


def _are_apart(key: tuple[str, ...], records: list[TemplateRecord]) -> bool:
    """Return whether no two records have the same key, as far as whole numbers can tell.

    What the code says of one program has a line number in most keys, and folding the texts next to it takes many times as long.
    """
    said = [record.said for record in records if record.said is not None]
    if len(said) < len(records):
        return False
    # Texts need not be looked at: the first of a column tells which these are, and all of its kinds are checked below.
    columns = [[one.get(name) for one in said] for name in key if said and type(said[0].get(name)) in _NUMBERS]
    numbers = [column for column in columns if int in (kinds := {*map(type, column)}) and kinds <= _NUMBERS]
    return len(set(zip(*numbers, strict=True))) == len(records)


def _united(records: list[TemplateRecord]) -> TemplateRecord:
    """Return one record made of those with the same key."""
    if len(records) == 1 and _says_all_once(records[0]):
        return records[0]
    fields: dict[str, list[Value]] = {}
    # Citations are sorted sets: duplicates and order leave no trace.
    citations = set(records[0].citations)
    for record in records:
        citations.update(record.citations)
        for name, values in record.fields.items():
            fields.setdefault(name, []).extend(values)
    made = {name: tuple(values) if len(values) == 1 else _distinct(values) for name, values in fields.items()}
    return TemplateRecord(MappingProxyType(made), tuple(sorted(citations)))


def _says_all_once(record: TemplateRecord) -> bool:
    """Return whether no field of a record says the same twice, as far as a quick look can tell."""
    if record.said is None:
        return all(len(values) < 2 for values in record.fields.values())
    for given in record.said.values():
        if type(given) is list and len(given) > 1:
            # Line numbers, which most lists hold, are compared as they are.
            told = given if {*map(type, given)} == {int} else map(folded, given)
            if len(set(told)) < len(given):
                return False
    return True


def _distinct(values: list[Value]) -> tuple[Value, ...]:
    """Return an ordered set: what is said again adds its proof to what was said first."""
    # The first spelling stays. Which one is better is not known here, and a choice by anything but order would depend on
    # how the templates are grouped.
    first: dict[Plain, Value] = {}
    for value in values:
        said = folded(value.said)
        before = first.get(said)
        first[said] = value if before is None else _joined(before, value)
    return tuple(first.values())


def _joined(one: Value, other: Value) -> Value:
    return Value(
        one.said,
        # What the code says is proven, whoever else says it.
        "code" if "code" in (one.origin, other.origin) else "model",
        tuple(sorted({*one.citations, *other.citations})),
        tuple(sorted({*one.grades, *other.grades})),
    )
