"""Is each record of a chain what was written, after the one before it, with none missing?"""

from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import CallerError
from penstock.store import journal
from penstock.store.journal import FIRST_HASH, JournalRow, verified
from penstock.store.kept import Damaged

pytestmark = pytest.mark.proves("S-12")


def chain(number: int, first: int = 0) -> list[JournalRow]:
    """Return that many records, numbered from `first`."""
    rows: list[JournalRow] = []
    for seq in range(first, first + number):
        before = rows[-1].sha256 if rows else FIRST_HASH
        row = JournalRow("run", seq, "Ticked", 1, 1.5, before, "", f'{{"n":{seq}}}')
        rows.append(row._replace(sha256=row.sealed()))
    return rows


def test_the_hash_of_a_record_is_what_it_was_in_every_version() -> None:
    """A journal from an earlier version is still sound."""
    assert FIRST_HASH == "0" * 64
    assert chain(1)[0].sha256 == "fc2158ec3e3df236d12316bde09b5dd600304b4706cff9d1b818c6f138db08e6"


@pytest.mark.parametrize("field", [*JournalRow._fields[:-3], "prev_hash", "payload"])
def test_no_field_of_a_record_can_be_another(field: str) -> None:
    """Swapping values between fields, of any type, changes the hash."""
    (row,) = chain(1)
    value: Any = getattr(row, field)
    other: Any = value + "x" if isinstance(value, str) else value + 1
    assert row._replace(**{field: other}).sealed() != row.sha256


_END = "and whatever was written after are gone: the log has lost its end"


@pytest.mark.parametrize(
    ("change", "from_seq", "sound", "says"),
    [
        (lambda rows: rows, 0, [0, 1, 2], ""),
        (lambda rows: rows[1:], 1, [1, 2], ""),
        (lambda rows: rows[1:], 0, [], "record 0 is missing"),
        (lambda rows: [rows[0], rows[2]], 0, [0], "record 1 is missing"),
        (lambda rows: rows[:2], 0, [0, 1], f"record 2 {_END}"),
        (lambda rows: rows[:1], 0, [0], f"records 1 to 2 {_END}"),
        (lambda rows: [], 0, [], f"records 0 to 2 {_END}"),
        (lambda rows: [rows[0], rows[1]._replace(payload="{}")], 0, [0], "record 1 is not what was written: its SHA-256 differs"),
        (lambda rows: [rows[0], chain(1, 1)[0], rows[2]], 0, [0], "record 1 does not follow the one before it"),
        # Of several faults the first one found is reported.
        (lambda rows: [rows[0], rows[2]._replace(payload="{}")], 0, [0], "record 1 is missing"),
        (lambda rows: [rows[0]._replace(prev_hash="x")], 0, [], "record 0 is not what was written: its SHA-256 differs"),
    ],
)  # fmt: skip
def test_the_sound_part_of_a_chain_comes_before_its_fault(
    change: Any, from_seq: int, sound: list[int], says: str
) -> None:
    """The error names the newest usable record."""
    seen: list[int] = []

    def read() -> None:
        before = FIRST_HASH if from_seq == 0 else None
        seen.extend(record.seq for record in verified(change(chain(3)), "run", from_seq, before, lost_seq=2))

    if says:
        with pytest.raises(Damaged) as caught:
            read()
        usable = f"Records up to {sound[-1]} are sound." if sound else "No record before it."
        assert caught.value.message == f"Session run: {says}. {usable}"
        assert caught.value.newest_sound == (sound[-1] if sound else None)
    else:
        read()
    assert seen == sound


def test_the_hash_before_is_held_against_the_first_where_it_is_known() -> None:
    """If it is unknown, the first record is trusted, and those after it are not."""
    first, second = chain(2)
    assert [one.seq for one in verified([second], "run", 1, first.sha256)] == [1]
    assert [one.seq for one in verified([second], "run", 1, None)] == [1]
    with pytest.raises(Damaged, match="does not follow"):
        list(verified([second], "run", 1, FIRST_HASH))
    assert list(verified([], "run", 3, None)) == []


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ({"b": 1, "a": [None, True, 1.5, "ä"]}, '{"b":1,"a":[null,true,1.5,"\\u00e4"]}'),
        ({}, "{}"),
        ({"a": float("nan")}, None),
        ({"a": float("inf")}, None),
        ({"a": {1, 2}}, None),
        ({"a": object()}, None),
    ],
)
def test_the_data_of_an_event_is_what_json_can_hold(data: dict[str, Any], text: str | None) -> None:
    """The data is JSON in ASCII, with keys in their order."""
    if text is None:
        with pytest.raises(CallerError, match="An event holds what JSON can hold"):
            journal.payload(data)
    else:
        assert journal.payload(data) == text


def test_two_payloads_are_the_same_whatever_the_order_of_their_keys() -> None:
    """This holds at any depth; lists are ordered."""
    assert journal.same('{"a":{"b":1,"c":2}}', '{"a": {"c": 2, "b": 1}}')
    assert not journal.same('{"a":[1,2]}', '{"a":[2,1]}')


@pytest.mark.parametrize("text", ["a", "x" * 200, "Größe 3", 7, None, "", "x" * 201, "a\nb", "\x1b"])
def test_a_name_is_1_to_200_characters_that_can_be_printed(text: Any) -> None:
    """This holds for names of sessions and types, on every backend."""
    if text in {"a", "x" * 200, "Größe 3"}:
        assert journal.name(text, "A session") == text
    else:
        with pytest.raises(CallerError, match="A session is named by 1 to 200 printable characters, not "):
            journal.name(text, "A session")


@pytest.mark.parametrize(
    ("payload_bytes", "stored"),
    [(0, 259), (821, 1_080), (822, 4_596), (4_413, 4_596), (4_414, 8_692), (8_505, 8_692), (8_506, 12_788)],
)
def test_a_record_counts_about_what_it_takes(payload_bytes: int, stored: int) -> None:
    """A record longer than a quarter of a page also counts whole pages in addition to its beginning."""
    row = JournalRow("run", 0, "Ticked", 1, 1.5, "", "", "x" * payload_bytes)
    assert row.stored_bytes == stored
