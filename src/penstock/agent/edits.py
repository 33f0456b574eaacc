"""Which edits did a session make? Each with both contents of its file, so that an undo can restore them (S-16).

They are kept in the store before the edit is made, as artifacts that live as long as the session, and recorded next to its
events. Law: an undo changes a file only while it is, to the byte, what the edit left. Leaves to others: how a file is replaced
(`workspace.root`), and when an edit is made (`loop`).
"""

from __future__ import annotations

import os
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.agent.disk_changes import UNKNOWN, ChangedFile, changed_since
from penstock.agent.editing import content_of
from penstock.agent.record_types import BEGUN, CHANGED, CHILD, EDITED, MOVED, UNDONE
from penstock.errors import ToolError
from penstock.session import Effected, Intended
from penstock.store import Conflict, StoreFault
from penstock.store.marks import parts_of
from penstock.text import escape
from penstock.text.calls import Call
from penstock.text.redaction import redacted
from penstock.workspace import refusals, writing
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Collection

    from penstock.session.effects import Change
    from penstock.store import JournalRecord, Store
    from penstock.text.json_access import Json
    from penstock.workspace.root import Root


UNTOLD = "What it changed cannot be told: it began in another folder, and files have other times here. Look before you rely on any."
"""What people and the model read if `left_by` cannot tell everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEdit:
    """An edit of a session; contents are handles, and digests of what was kept under them."""

    effect_id: str
    """The id of the edit's effect: if a file changed before it could be edited, the last record counts."""
    path: str
    before: str = ""
    """The handle of the old content; empty if there was no file."""
    after: str
    """The handle of the new content."""
    before_sha256: str = ""
    after_sha256: str
    new_folders: int = 0
    """How many of the folders above a new file the edit made: the innermost ones."""

    @property
    def turn(self) -> int | None:
        """The turn in which an edit was made; None if its id does not say."""
        turn = self.effect_id.split(":")[1:2]
        return int(turn[0]) if turn and turn[0].isdecimal() else None

    @property
    def handles(self) -> tuple[str, ...]:
        """Handles that must live as long as the session."""
        return tuple(handle for handle in (self.before, self.after) if handle)

    def to_dict(self) -> dict[str, Json]:
        """Return the edit as a journal holds it."""
        return asdict(self)


def kept_edit(store: Store, effect_id: str, change: Change) -> KeptEdit:
    """Keep both contents of a change, and return the edit that names them.

    Args:
        store: where they are kept.
        effect_id: the effect that the change is.
        change: the file, as it was and as it is to be.
    """
    before, name = change.before, redacted(change.path)
    return KeptEdit(
        effect_id=effect_id,
        path=change.path,
        before="" if before is None else store.put(before, name=f"{name} (before)"),
        after=store.put(change.after, name=f"{name} (after)"),
        before_sha256="" if before is None else sha256(before).hexdigest(),
        after_sha256=sha256(change.after).hexdigest(),
        new_folders=change.new_folders,
    )


def edits_of(store: Store, session_id: str) -> list[KeptEdit]:
    """Return the edits of a session, oldest first: the first is number 1."""
    found: dict[str, KeptEdit] = {}
    for record in store.events(session_id):
        if record.type == EDITED:
            data: Any = record.data
            edit = KeptEdit(**data)
            if found and _is_announced_again(latest := next(reversed(found.values())), edit):
                del found[latest.effect_id]
                # The kill may have come after the folders were made.
                edit = replace(edit, new_folders=max(edit.new_folders, latest.new_folders))
            found[edit.effect_id] = edit
        elif effect_id := _came_to_nothing(record):
            found.pop(effect_id, None)
    return list(found.values())


def changes_of(store: Store, session_id: str) -> list[ChangedFile]:
    """Return the files that the journal of a session reports as changed, oldest first.

    An edit is recorded before it is made, its change after it: if a kill came in between, the edit reports the file. If the edit
    was not made either, the file is as it was found, as a look at the disk shows.
    """
    found: list[ChangedFile] = []
    for record in store.events(session_id):
        if record.type == CHANGED:
            data: Any = record.data
            found += [ChangedFile(**file) for file in data["files"]]
    told = {file.path for file in found}
    cut_off = [edit for edit in edits_of(store, session_id) if edit.path not in told]
    return [*found, *(ChangedFile(path=edit.path, found=edit.before_sha256, turn=edit.turn) for edit in cut_off)]


class CutOff(NamedTuple):
    """When and where a command began that a kill cut off: seconds since 1970, and device and inode of the root, if recorded."""

    at: float
    root_id: list[int] | None


def cut_off_of(store: Store, session_id: str) -> dict[str, CutOff]:
    """Return the commands that a kill cut off and whose changes nobody has checked, by their effects."""
    begun: dict[str, CutOff] = {}
    root_id = None
    for record in store.events(session_id):
        kind, data = _told(record)
        if kind in {BEGUN, MOVED}:
            root_id = data.get("root_id", root_id)
        elif kind == Intended.__name__:
            begun[data["effect_id"]] = CutOff(record.at, root_id)
        elif kind in {Effected.__name__, EDITED}:  # an edit itself records what it replaced
            begun.pop(data["effect_id"], None)
        elif kind == CHANGED:
            for effect_id in data.get("cut_off", ()):
                begun.pop(effect_id, None)
    return begun


def left_by(cut_off: Collection[CutOff], root: Root) -> tuple[tuple[ChangedFile, ...], bool]:
    """Return the visible effects of commands that a kill cut off, and whether all of them can be told.

    A folder that was renamed is the same one. The files of a copy have the times of the copying, which say nothing.

    Args:
        cut_off: the commands.
        root: where the project is now.
    """
    status = os.stat(root.path)
    here = [one.at for one in cut_off if one.root_id in (None, [status.st_dev, status.st_ino])]
    return changed_since(root, min(here)) if here else (), len(here) == len(cut_off)


def looked_into(store: Store, session_id: str) -> set[str]:
    """Return the effects that a kill cut off and that an earlier resume has looked into and reported."""
    told = map(_told, store.events(session_id))
    return {effect_id for kind, data in told if kind == CHANGED for effect_id in data.get("cut_off", ())}


def _told(record: JournalRecord) -> tuple[str, Any]:
    """Return the type and the data of a record; those of a child's record, which the journal of its parent wraps."""
    data: Any = record.data
    return (data["type"], data["data"]) if record.type == CHILD else (record.type, data)


def _came_to_nothing(record: JournalRecord) -> str:
    """Return the id of an effect that was announced and then refused; empty for any other record."""
    kind, data = _told(record)
    # What was made has a digest: an edit without one left the file as it was, and the same content appearing later is somebody
    # else's.
    return str(data["effect_id"]) if kind == Effected.__name__ and not data.get("digest") else ""


def _is_announced_again(earlier: KeptEdit, edit: KeptEdit) -> bool:
    """Return whether an edit is one that was announced and not made before a kill: the same call with the same contents."""

    def told(of: KeptEdit) -> tuple[str, ...]:
        return of.effect_id.partition(":")[2], of.path, of.before_sha256, of.after_sha256

    return told(earlier) == told(edit)


def undo(root: Root, store: Store, session_id: str, number: int | None = None) -> str:
    """Restore a file's content from before an edit; return what was done, in a sentence.

    Args:
        root: the root of the session.
        store: where the session is.
        session_id: the session.
        number: the edit, 1 for the first; None is the last that was not undone, so that each further call goes one back.

    Raises:
        ToolError: there is no such edit, the file cannot be read or is not what the edit left, or its earlier content is not kept
            any more.
    """
    made = edits_of(store, session_id)
    if not 1 <= (len(made) if number is None else number) <= len(made):
        known = f"it has {len(made)}" if made else "it has made none"
        raise ToolError("not_found", f"Session {escape.clip(session_id)} has no such edit: {known}.")
    at = _last_standing(root, store, session_id, made) if number is None else number - 1
    edit = made[at]
    name = escape.show_argument(edit.path)
    relative = root.relative(edit.path)
    with writing.alone_with(root, relative):
        # What the edit left is taken from the disk: a store that keeps no secrets may not have all of it.
        after = _on_disk(root, relative)
        if after is None or _digest(after) != edit.after_sha256:
            is_undone = _digest(after) == edit.before_sha256
            stands = f"is what it was before edit {at + 1}" if is_undone else f"is not what edit {at + 1} left"
            said = f"{name} {stands}: it is left alone.{_others(root, made, at)}"
            if is_undone or not edit.before:
                raise ToolError("stale", said, *_next_undo(root, store, session_id, made, number))
            raise ToolError("stale", f"{said} Its earlier content is kept.", Call("page", {"handle": edit.before}))
        if edit.before:
            writing.replace_file(root, relative, _content(store, edit.before, edit.before_sha256), after)
        else:
            writing.remove_file(root, relative, after)
    if not edit.before:
        _remove_made_folders(root, made)
    _note_undone(store, session_id, edit)
    became = "is what it was before" if edit.before else "which it had made, is removed"
    return f"Edit {at + 1} is undone: {name}{' ' if edit.before else ', '}{became}."


def _remove_made_folders(root: Root, made: list[KeptEdit]) -> None:
    """Remove the folders that the edits of a session made, as far as nothing is left in them.

    All of them and not only those of one edit: another edit may have been undone first, or an undo killed in between.
    """
    folders: set[bytes] = set()
    for edit in made:
        above = root.relative(edit.path)
        for _ in range(edit.new_folders):
            above = above.rpartition(b"/")[0]
            folders.add(above)
    for folder in sorted(folders, key=lambda path: path.count(b"/"), reverse=True):
        writing.remove_empty_folder(root, folder)


def _next_undo(root: Root, store: Store, session_id: str, made: list[KeptEdit], number: int | None) -> tuple[Call, ...]:
    """Return the call that undoes the last edit still in force, if another one was named; empty if there is none."""
    with suppress(ToolError):
        if number is not None and _last_standing(root, store, session_id, made) != number - 1:
            return (Call("undo", {"session_id": session_id}),)
    return ()


def _last_standing(root: Root, store: Store, session_id: str, made: list[KeptEdit]) -> int:
    """Return the place of the last edit that nobody has undone, by our command or otherwise.

    The disk alone is not enough: if edits led from one content to another and back again, it looks as before each of them.
    """
    noted = {str(record.data["effect_id"]) for record in store.events(session_id) if record.type == UNDONE}
    for at in reversed(range(len(made))):
        edit = made[at]
        if edit.effect_id not in noted and _digest_on_disk(root, edit.path) != edit.before_sha256:
            return at
    raise ToolError(
        "stale",
        f"All edits of session {escape.clip(session_id)} are taken back: each file is what it was before."
        if len(made) > 1
        else f"{escape.show_argument(made[0].path)} is what it was before edit 1: it is left alone.",
    )


def _note_undone(store: Store, session_id: str, edit: KeptEdit) -> None:
    """Record that an edit was undone, for the next undo.

    Not in the journal of a session that somebody works on or is just resuming: its own next record would be refused. Then, or if
    the store takes no more, the next undo uses the disk alone.
    """
    if store.is_worked_on(session_id):
        return
    last = max(record.seq for record in store.events(session_id))
    with suppress(Conflict, StoreFault):
        store.append(session_id, last + 1, UNDONE, {"effect_id": edit.effect_id})


def _digest(content: bytes | None) -> str:
    """Return SHA-256 of content, empty for no file."""
    return "" if content is None else sha256(content).hexdigest()


def _on_disk(root: Root, relative: bytes) -> bytes | None:
    """Return `content_of` a file; None if there is none. Raises `ToolError` for what is there and cannot be read."""
    try:
        with closing(root.open_file(relative)) as file:
            return content_of(FileSource(file))
    except ToolError as error:
        if error.code == "not_found":
            return None
        raise
    except OSError as error:
        raise refusals.refusal(error, relative) from error


def _digest_on_disk(root: Root, path: str) -> str:
    """Return the digest of a file as it is: empty if there is none, `UNKNOWN` if what is there cannot be read."""
    try:
        return _digest(_on_disk(root, root.relative(path)))
    except ToolError:
        return UNKNOWN


def _others(root: Root, made: list[KeptEdit], at: int) -> str:
    """Return which other edits can be undone now."""
    now = {edit.path: _digest_on_disk(root, edit.path) for edit in made}
    numbers = [
        f"{other} ({escape.show_argument(edit.path)})"
        for other, edit in enumerate(made, 1)
        if other != at + 1 and edit.after_sha256 == now[edit.path]
    ]
    return f" These can be undone: {', '.join(numbers)}." if numbers else ""


def _content(store: Store, handle: str, digest: str) -> bytes:
    """Return what was kept.

    Raises:
        ToolError: it is gone, or is not what the file held: the store removes secrets from what it keeps, if that is configured.
    """
    content = b"".join(parts_of(store, handle))
    if sha256(content).hexdigest() != digest and store.info(handle).hidden:
        raise ToolError(
            "expired",
            "What the file was held a secret, and the store keeps no secrets (PENSTOCK_STORE_REDACT=1): a mark would be put in "
            "its place, so the file is left alone. What is kept of it shows the rest.",
            Call("page", {"handle": handle}),
        )
    if sha256(content).hexdigest() != digest:
        raise ToolError(
            "expired", f"What the file was is not kept as it was under {handle}.", Call("page", {"handle": handle})
        )
    return content
