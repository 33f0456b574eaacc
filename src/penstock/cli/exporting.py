"""How does a session become one document? Its journal and what was kept for it, as JSON lines with secrets redacted.

Law: every text in it has passed the redaction; what is not text is listed with its size and digest, and not written. Leaves to
others: how it is printed (`sessions`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import ToolError
from penstock.text import escape
from penstock.text.calls import Call
from penstock.text.json_redaction import redacted_json
from penstock.text.redaction import redacted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.store import Store

FORMAT = 1
"""The version of the document, for those who read old ones."""
MAX_TEXT_BYTES = 64 << 20
"""A larger output is named and not written: all of it must be searched for secrets at once."""


def lines_of(store: Store, session_id: str) -> Iterator[dict[str, Any]]:
    """Yield the lines of a session's document: a head, its records in order, and the outputs that they refer to.

    Args:
        store: Where it is kept.
        session_id: The session.

    Raises:
        ToolError: There is no session of that name.
        Damaged: At the first record that is not sound, after the lines of those before it.
    """
    info = next((one for one in store.sessions() if one.session == session_id), None)
    if info is None:
        raise ToolError("not_found", f"There is no session {escape.clip(session_id)}.", Call("sessions"))
    yield {"penstock_session": FORMAT, "session": session_id, "count": info.records, "updated": info.at}
    for record in store.events(session_id):
        # First by the names of its members, as journals are redacted; then every text alone, since an export need not be valid
        # again.
        data = hidden(redacted_json(record.data))
        yield {"record": {"seq": record.seq, "type": record.type, "at": record.at, "data": data}}
    for handle in store.handles_of(session_id):
        yield {"artifact": _artifact(store, handle)}


def hidden(value: Any) -> Any:
    """Return a JSON value whose texts, including names, have passed the redaction."""
    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return {redacted(name): hidden(item) for name, item in value.items()}
    return [hidden(item) for item in value] if isinstance(value, list) else value


def _artifact(store: Store, handle: str) -> dict[str, Any]:
    """Return an output as a line of the document; without text, the reason why there is none."""
    try:
        info = store.info(handle)
    except ToolError as error:
        return {"handle": handle, "left_out": error.message}
    row: dict[str, Any] = {"handle": handle, "name": redacted(info.name), "kind": info.kind, "bytes": info.bytes}
    if info.bytes > MAX_TEXT_BYTES:
        return {**row, "left_out": f"larger than {MAX_TEXT_BYTES} bytes"}
    try:
        return {**row, "text": redacted(store.read(handle, 0, info.bytes).decode())}
    except ToolError as error:  # it was removed meanwhile
        return {**row, "left_out": error.message}
    except UnicodeDecodeError:
        return {**row, "left_out": "not text in UTF-8"}
