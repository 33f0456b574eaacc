"""How is a changed value written into the bytes of the old one? Equal parts stay as they were written, to the byte.

Code that forwards somebody else's JSON may change a value in it and nothing else: numbers such as `1.0`, escapes, white space,
unknown names and their order are the sender's. Laws: the edited bytes hold the new value, with names in the sender's order; every
byte outside of the edits is the sender's; equal values get no edit. Leaves to others: what is changed, and why.
"""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

from penstock.text.json_slices import Edit, JsonMember, JsonReader, Slice, without

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.text.json_access import Json

    Sources = Sequence[int | None]

_SHORT_CHARS = 64


def written(value: Json) -> bytes:
    """Return a value as JSON without white space; half of a UTF-16 pair is written as the escape that it came as."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def edits_between(
    raw: bytes, old: Json, new: Json, *, at: int = 0, sources: Mapping[str, Sources] | None = None
) -> Iterator[Edit]:
    """Yield the edits that make some JSON hold another value.

    Args:
        raw: the bytes.
        old: the value that begins at `at`, as `json.loads` reads it.
        new: the value that is wanted in its place.
        at: where the value begins; blanks before it are skipped.
        sources: for members of an outermost object that are lists: what each item of the new list was made from, by its position in
            the old one, None for new items; positions only grow. For a list without them they are found by comparison.

    Raises:
        NotJson: for bytes that are not JSON.
    """
    if _is_same(old, new):
        return
    reader = JsonReader(raw, at=at)
    reader.blanks()
    begins = reader.at
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _in_object(reader, old, new, sources or {})
    elif isinstance(old, list) and isinstance(new, list):
        yield from _in_array(reader, old, new, _sources_of(old, new))
    else:
        end = reader.skip().end
        yield Edit(begins, end, written(new))


def _is_same(old: Json, new: Json) -> bool:
    # `1`, `1.0` and `True` are equal here: the new value was made from what was read, and nobody turns one of them into another.
    return old is new or bool(old == new)


def _in_object(
    reader: JsonReader, old: dict[str, Json], new: dict[str, Json], sources: Mapping[str, Sources]
) -> Iterator[Edit]:
    raw = reader.raw
    members = list(reader.members())
    # If a name occurs twice, the last one counts for most readers, and is what `old` holds.
    last: dict[str, JsonMember] = {member.name: member for member in members}
    gone = [name for name in old if name not in new]
    yield from without(members, *gone)
    for name, value in new.items():
        if name not in old or name not in last or _is_same(old[name], value):
            continue
        start = last[name].value.start
        if isinstance(value, list) and isinstance(old[name], list) and name in sources:
            yield from _in_array(JsonReader(raw, at=start), old[name], value, sources[name])
        else:
            yield from edits_between(raw, old[name], value, at=start)
    added = b",".join(written(name) + b":" + written(value) for name, value in new.items() if name not in old)
    if added:
        stays = len(members) > sum(member.name in gone for member in members)
        end = members[-1].value.end if members else reader.at - 1
        yield Edit(end, end, b"," + added if stays else added)


def _in_array(reader: JsonReader, old: list[Json], new: list[Json], sources: Sources) -> Iterator[Edit]:
    raw, begins = reader.raw, reader.at
    items = list(reader.items())
    kept = [(place, source) for place, source in enumerate(sources) if source is not None]
    if not kept:
        yield Edit(begins, reader.at, written(new))
        return
    for place, source in kept:
        if not _is_same(old[source], new[place]):
            yield from edits_between(raw, old[source], new[place], at=items[source].start)
    # Between two items that stay, the old content is replaced by the new one, commas included.
    bounds = [(-1, -1), *kept, (len(new), len(items))]
    for (place, source), (next_place, next_source) in pairwise(bounds):
        come = [written(value) for value in new[place + 1 : next_place]]
        if come or next_source - source > 1:
            yield _between(items, source, next_source, come)


def _between(items: list[Slice], source: int, next_source: int, come: list[bytes]) -> Edit:
    """Return the edit that puts other items between two that stay, given their positions; -1 and the length are the two ends."""
    if next_source - source > 1:  # from the first to the last that goes: white space around them stays
        start, end = items[source + 1].start, items[next_source - 1].end
        if come:
            return Edit(start, end, b",".join(come))
        if source >= 0:
            return Edit(items[source].end, end)
        return Edit(start, items[next_source].start)
    if source >= 0:
        return Edit(items[source].end, items[source].end, b"," + b",".join(come))
    return Edit(items[next_source].start, items[next_source].start, b",".join(come) + b",")


def _sources_of(old: list[Json], new: list[Json]) -> Sources:
    """Return what each item of a new list was made from, as far as it shows: equal items at both ends, then similar ones."""
    first, most = 0, min(len(old), len(new))
    while first < most and _is_kin(old[first], new[first]):
        first += 1
    last = 0
    while last < most - first and _is_kin(old[-1 - last], new[-1 - last]):
        last += 1
    come = len(new) - first - last
    return [*range(first), *[None] * come, *range(len(old) - last, len(old))]


def _is_kin(old: Json, new: Json) -> bool:
    """Return whether one value is the other, or was made from it: objects with the same names and the same short words."""
    if _is_same(old, new):
        return True
    if not (isinstance(old, dict) and isinstance(new, dict)) or old.keys() != new.keys():
        return False
    return all(
        new[name] == value for name, value in old.items() if isinstance(value, str) and len(value) <= _SHORT_CHARS
    )
