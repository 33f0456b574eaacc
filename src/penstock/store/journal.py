"""Is this record what was written? Payloads as canonical text, and the hash that chains one record to the next.

Law: a changed bit in any field of a record, or a record taken out, is seen. Keeps out: where records lie.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import CallerError
from penstock.store.kept import Damaged, JournalRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

FIRST_HASH = "0" * 64
_LONGEST_NAME = 200


class JournalRow(NamedTuple):
    """A record as the tables hold it: `payload` is JSON, in ASCII."""

    session: str
    seq: int
    type: str
    schema_version: int
    at: float
    prev_hash: str
    sha256: str
    payload: str

    def sealed(self) -> str:
        """The hash that belongs to the other fields."""
        head = repr((self.schema_version, self.session, self.seq, self.type, self.at, self.prev_hash))
        return hashlib.sha256(f"{head}\n{self.payload}".encode("utf-8", "surrogatepass")).hexdigest()

    def record(self) -> JournalRecord:
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
    """The JSON of an event's data; keys keep their order. Raises `CallerError` for what JSON cannot hold."""
    try:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CallerError(f"An event holds what JSON can hold: {error}") from error
    if not text.startswith("{"):
        raise CallerError("The data of an event is an object.")
    return text


def same(one: str, other: str) -> bool:
    """Whether two payloads say the same, whatever the order of their keys."""
    return one == other or _sorted(one) == _sorted(other)


def _sorted(text: str) -> str:
    return json.dumps(json.loads(text), sort_keys=True)


def name(text: str, what: str) -> str:
    """A name of a session or a type that every backend can hold. Raises `CallerError`."""
    if not isinstance(text, str) or not text or len(text) > _LONGEST_NAME or not text.isprintable():
        raise CallerError(f"{what} is named by 1 to {_LONGEST_NAME} printable characters, not {text!r}")
    return text


def verified(
    rows: Iterable[JournalRow], session: str, from_seq: int, prev_hash: str | None, lost_seq: int = -1
) -> Iterator[JournalRecord]:
    """The records of `rows`, each checked against its hash and the one before; raises `Damaged` at the first that is not.

    `prev_hash` is that of the record before `from_seq`, None when it is not known. `lost_seq` was written and is not there.
    """
    seq = from_seq
    for row in rows:
        reason = ""
        if row.seq != seq:
            reason = f"record {seq} is missing"
        elif row.sealed() != row.sha256:
            reason = f"record {seq} is not what was written: its SHA-256 differs"
        elif prev_hash is not None and row.prev_hash != prev_hash:
            reason = f"record {seq} does not follow the one before it"
        if reason:
            raise _damaged(session, seq, reason)
        yield row.record()
        seq, prev_hash = seq + 1, row.sha256
    if seq <= lost_seq:
        what = f"record {seq}" if seq == lost_seq else f"records {seq} to {lost_seq}"
        raise _damaged(session, seq, f"{what} and whatever was written after are gone: the log has lost its end")


def _damaged(session: str, seq: int, reason: str) -> Damaged:
    sound = seq - 1 if seq > 0 else None
    usable = f"Records up to {sound} are sound." if sound is not None else "No record before it."
    return Damaged(f"Session {session}: {reason}. {usable}", sound)
