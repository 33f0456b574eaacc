"""How is a record made tamper-evident? Payloads become canonical text, and each record is chained to the previous one by a hash.

Law: a changed bit in any field of a record, or a record removed from the middle, is detected. A record removed from the end leaves
a valid chain: a caller who knows the newest record passes it as `lost_seq`. Leaves to others: where records lie (the tables).

The chain protects against damage, not against an adversary: whoever can write the database can compute new hashes.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.store.kept import Damaged, JournalRecord
from penstock.text.json_redaction import redacted_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FIRST_HASH = "0" * 64
"""The predecessor hash of the first record of a session."""
_LONGEST_NAME = 200
# Sizes of a row in SQLite, as `JournalRow.stored_bytes` counts it; an overflow page carries four bytes of its own.
_ROW_BYTES, _BESIDE_BYTES, _IN_PLACE_BYTES, _HEAD_BYTES = 170, 80, 1_000, 500
_PAGE_BYTES, _CARRIED_BYTES = 4_096, 4_092


class JournalRow(NamedTuple):
    """A record as the tables hold it; `payload` is JSON, in ASCII."""

    session: str
    seq: int
    type: str
    schema_version: int
    at: float
    prev_hash: str
    sha256: str
    payload: str

    def sealed(self) -> str:
        """Return the hash that belongs to the other fields."""
        # `repr` of a tuple shows types and lengths: ("ab", "c") and ("a", "bc") differ, a float is written so that it reads back
        # the same, and a line feed in a name is escaped, so that the one before the payload cannot be forged.
        head = repr((self.schema_version, self.session, self.seq, self.type, self.at, self.prev_hash))
        return hashlib.sha256(f"{head}\n{self.payload}".encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def stored_bytes(self) -> int:
        """Return what the record counts towards the size of its store: roughly what it takes on disk."""
        # Two hashes, numbers and headers are some 170 bytes. SQLite keeps a row of up to a quarter of a page of 4,096 bytes next to
        # its key, with some spare room; of a longer one an eighth of a page, and the rest in whole pages.
        size = len(self.payload) + len(self.session) + len(self.type) + _ROW_BYTES
        if size <= _IN_PLACE_BYTES:
            return size + _BESIDE_BYTES
        return _HEAD_BYTES + (size - _HEAD_BYTES + _CARRIED_BYTES - 1) // _CARRIED_BYTES * _PAGE_BYTES

    def record(self) -> JournalRecord:
        """Return the record as callers see it, its payload decoded."""
        return JournalRecord(
            session=self.session,
            seq=self.seq,
            type=self.type,
            data=json.loads(self.payload),
            prev_hash=self.prev_hash,
            sha256=self.sha256,
            at=self.at,
            schema_version=self.schema_version,
        )


def payload(data: Mapping[str, object]) -> str:
    """Return the JSON of an event's data without secrets (S-17); keys keep their order.

    Raises:
        CallerError: JSON cannot hold it (this includes NaN and infinities), or it is not an object.
    """
    try:
        # The only way into a journal, so that no caller can forget to redact.
        text = json.dumps(redacted_json(dict(data)), separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CallerError(f"An event holds what JSON can hold: {error}") from error
    if not text.startswith("{"):
        raise CallerError("The data of an event is an object.")
    return text


def same(one: str, other: str) -> bool:
    """Return whether two payloads say the same, whatever the order of their keys."""
    return one == other or _sorted(one) == _sorted(other)


def _sorted(text: str) -> str:
    """Return a payload with the keys of all its objects sorted."""
    return json.dumps(json.loads(text), sort_keys=True)


def name(text: str, what: str) -> str:
    """Return the name of a session or a type, checked so that every backend can hold it.

    Args:
        text: The name, 1 to 200 printable characters.
        what: What it names, for the refusal.

    Raises:
        CallerError: It is not such a text.
    """
    if not isinstance(text, str) or not text or len(text) > _LONGEST_NAME or not text.isprintable():
        raise CallerError(f"{what} is named by 1 to {_LONGEST_NAME} printable characters, not {text!r}")
    return text


def verified(
    rows: Iterable[JournalRow], session: str, from_seq: int, prev_hash: str | None, lost_seq: int = -1
) -> Iterator[JournalRow]:
    """Yield `rows`, each checked against its hash and the one before.

    Args:
        rows: Rows in order of `seq`.
        session: Their session, for the error.
        from_seq: The `seq` that the first must have.
        prev_hash: The hash of the record before `from_seq`; None if it is unknown.
        lost_seq: A record that was certainly written; -1 if none is known. It counts as lost if the rows end before it.

    Raises:
        Damaged: At the first record that is missing or not what was written, after the valid ones were yielded.
    """
    seq = from_seq
    for row in rows:
        reason = ""
        # In this order: the first difference found is the one that a person can act on.
        if row.seq != seq:
            reason = f"record {seq} is missing"
        elif row.sealed() != row.sha256:
            reason = f"record {seq} is not what was written: its SHA-256 differs"
        elif prev_hash is not None and row.prev_hash != prev_hash:
            reason = f"record {seq} does not follow the one before it"
        if reason:
            raise _damaged(session, seq, reason)
        yield row
        seq, prev_hash = seq + 1, row.sha256
    if seq <= lost_seq:
        what = f"record {seq}" if seq == lost_seq else f"records {seq} to {lost_seq}"
        raise _damaged(session, seq, f"{what} and whatever was written after are gone: the log has lost its end")


def _damaged(session: str, seq: int, reason: str) -> Damaged:
    """Return the fault of a session at `seq`, with the newest record that can be used."""
    sound = seq - 1 if seq > 0 else None
    usable = f"Records up to {sound} are sound." if sound is not None else "No record before it."
    return Damaged(f"Session {session}: {reason}. {usable}", sound)
