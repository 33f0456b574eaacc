"""How are the answers of several servers merged into one: what they can do, and lists of what they offer?

Law: entries of lists stay as their servers wrote them, except for a name that two of them share and the `outputSchema` of tools.
Leaves to others: who is asked (`switchboard`).
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import chain, count
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.relay.messages import text_in
from penstock.relay.own_tools import entries
from penstock.text.json_slices import Array, Edit, Object, Value, splice, without
from penstock.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from penstock.relay.listing import Names

LISTS = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
    "tasks/list": ("tasks", "taskId"),
}
"""The list methods: the key of the entries in the answer, and the key that identifies an entry."""


class ServerAnswer(NamedTuple):
    """What one server answered."""

    server: int
    raw: bytes
    result: Value | None


class MergedEntry(NamedTuple):
    """One entry of a merged list."""

    server: int
    name: str
    """The name of an entry for the host."""
    own_name: str
    """The name of an entry for its own server."""
    raw: bytes


def list_entries(method: str, answers: Sequence[ServerAnswer], server_names: Sequence[str]) -> list[MergedEntry]:
    """Return the entries of all servers, in their order; a name that two servers share is prefixed with the server's name.

    Law: each tool and prompt of each server is there, under a name of its own; a name that only one server has stays.

    Args:
        method: one of `LISTS`.
        answers: the pages of all servers.
        server_names: the servers' names, by number.
    """
    key, called = LISTS[method]
    found = [
        (answer, item, name)
        for answer in sorted(answers, key=lambda answer: answer.server)
        for item in _items(answer.result, key)
        if (name := text_in(answer.raw, item, called)) is not None
    ]
    # Counted by server and name: a server that lists a tool twice does not share its name with another.
    having = Counter(name for _, name in {(answer.server, name) for answer, _, name in found})
    # Only names that a single server has are taken from the start. If two share a name, neither keeps it: which one did would
    # depend on the order of a file, and a model could not tell which one it calls.
    taken = {name for name in having if having[name] == 1}
    merged: dict[tuple[int, str], MergedEntry] = {}
    for answer, item, name in found:
        # A resource has one address wherever it is offered: the first server that has it is asked for it.
        place = (answer.server if called == "name" else 0, name)
        if place not in merged:
            is_shared = called == "name" and having[name] > 1
            shown = _free(f"{server_names[answer.server]}_{name}", taken) if is_shared else name
            raw = _entry(answer.raw, item, called, shown if is_shared else None)
            merged[place] = MergedEntry(answer.server, shown, name, raw)
    return list(merged.values())


def _free(name: str, taken: set[str]) -> str:
    """Return a free name, and take it: `a_x` may be a tool of a third server, and two servers may have the same name."""
    free = next(one for one in chain([name], (f"{name}_{number}" for number in count(2))) if one not in taken)
    taken.add(free)
    return free


def _items(result: Value | None, key: str) -> Iterator[Object]:
    listed = result.get(key) if isinstance(result, Object) else None
    if isinstance(listed, Array):
        yield from (item for item in listed.items or () if isinstance(item, Object))


def _entry(raw: bytes, item: Object, called: str, name: str | None) -> bytes:
    """Return an entry, renamed if necessary, and without its output schema."""
    edits = list(without(item.members, "outputSchema"))
    at = item.get(called)
    if name is not None and at is not None:
        edits.append(Edit(at.start, at.end, json.dumps(name).encode()))
    moved = [Edit(edit.start - item.start, edit.end - item.start, edit.new) for edit in edits]
    return splice(raw[item.start : item.end], moved)


def merge_list(method: str, found: Sequence[MergedEntry], answers: Sequence[ServerAnswer], names: Names) -> bytes:
    """Return the merged list of all servers, with ours after their tools."""
    written = [entry.raw for entry in found]
    if method == "tools/list":
        for entry in found:
            names.take(entry.name)
        written.append(entries(names.prefix))
    rest = json.dumps(_hints([_decoded(answer) for answer in answers]), separators=(",", ":")).encode()[1:]
    return (
        b'{"' + LISTS[method][0].encode() + b'":[' + b",".join(written) + b"]" + (b"}" if rest == b"}" else b"," + rest)
    )


def merge_introductions(answers: Sequence[ServerAnswer], server_names: Sequence[str]) -> bytes:
    """Return one answer to `initialize` or `server/discover`: everything that any server can do, in a version that all speak."""
    results = [(server_names[answer.server], _decoded(answer)) for answer in answers]
    merged: dict[str, Any] = dict(_hints([result for _, result in results]))
    versions = [str(result["protocolVersion"]) for _, result in results if "protocolVersion" in result]
    if versions:
        # Versions are dates, so the least is the oldest: all of them speak it, because newer servers also answer older clients.
        merged["protocolVersion"] = min(versions)
    supported = [
        result["supportedVersions"] for _, result in results if isinstance(result.get("supportedVersions"), list)
    ]
    if supported:
        merged["supportedVersions"] = [one for one in supported[0] if all(one in other for other in supported)]
    merged["capabilities"] = {"tools": {"listChanged": True}}  # changed when a silent server appears
    for _, result in results:
        merged["capabilities"] = _united(merged["capabilities"], result.get("capabilities"))
    merged["serverInfo"] = {"name": "penstock relay", "version": __version__}
    said = [f"{name}: {result['instructions']}" for name, result in results if result.get("instructions")]
    if said:
        merged["instructions"] = "\n\n".join(said)
    return json.dumps(merged).encode()


def _decoded(answer: ServerAnswer) -> dict[str, Any]:
    """Return the members of a result that are not lists of entries."""
    if not isinstance(answer.result, Object):
        return {}
    listed = {key for key, _ in LISTS.values()}
    return {
        member.name: json.loads(answer.raw[member.value.start : member.value.end])
        for member in answer.result.members
        if member.name not in listed
    }


def _hints(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the metadata of results of the modern era: kept for the shortest time, shared with the fewest."""
    merged: dict[str, Any] = {}
    if any("resultType" in result for result in results):
        merged["resultType"] = "complete"
    times = [result["ttlMs"] for result in results if isinstance(result.get("ttlMs"), int | float)]
    if times:
        merged["ttlMs"] = min(times)
    scopes = {result["cacheScope"] for result in results if isinstance(result.get("cacheScope"), str)}
    if scopes:
        merged["cacheScope"] = "private" if "private" in scopes else min(scopes)
    return merged


def _united(first: Any, second: Any) -> Any:
    """Return what either of two values allows."""
    if isinstance(first, dict) and isinstance(second, dict):
        return {**first, **{name: _united(first.get(name), value) for name, value in second.items()}}
    if isinstance(first, bool) and isinstance(second, bool):
        return first or second
    return first if second is None else second
