"""Which files has a session changed, whichever tool did it? Those whose content is not what was found (S-9).

Found means by this session, or by the first of the sessions that it continues. An edit reports what it replaced. A command reports
nothing: the tree is compared before and after it, and the difference is attributed to it. In the end only the disk counts: a file
that again holds what the session found was not changed. Law: what was refused or failed is never named, nor what somebody did
before the session. Leaves to others: when a tool runs (`toolbox`), and what is handed on.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from penstock.context.activity import row
from penstock.context.handoff import FileEvent
from penstock.errors import ToolError
from penstock.text import escape
from penstock.text.redaction import mark_in
from penstock.workspace.deadline import Deadline
from penstock.workspace.globs import Selection
from penstock.workspace.source import FileSource
from penstock.workspace.version import FileStamp
from penstock.workspace.walk import Walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from penstock.context.handoff import Handoff
    from penstock.text.json_access import Json
    from penstock.workspace.root import Root

UNKNOWN = "?"
"""The digest of content that nobody read before it was changed, or that nobody can read now."""
_BLOCK_BYTES = 1 << 20
# Files that a package manager or a cache puts there are nobody's work, and there are tens of thousands of them.
_LEFT_OUT = frozenset(
    {
        *(".git", "node_modules", "site-packages", ".venv", "venv", ".tox", ".nox", "__pycache__"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".gradle"),
    }
)
_WORKED_ON = Selection(None, lambda _, names: [name for name in names if name not in _LEFT_OUT], recursive=True)
_LOOK_SECONDS = 2.0
"""How long the tree is scanned before a command, and after it."""
_TOLD = 12  # how many restored files a summary names
# A second of reading, once: a file with the same stamp at the next look is not read again.
_MAX_HASHED_BYTES = 256 << 20
"""How much content is read before a command, so that a file of which only the times change is recognised. Small files come
first.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that was changed, and what the session had found there before."""

    path: str
    found: str
    """SHA-256 of the content, empty for no file, `UNKNOWN` if nobody looked."""
    turn: int | None = None
    """The turn of the newest change."""

    def to_dict(self) -> dict[str, Json]:
        """Return the file as a journal holds it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TreeSnapshot:
    """A tree at one moment: the stamp of each file, and digests as far as contents were read."""

    stamps: dict[str, FileStamp]
    digests: dict[str, str]
    is_whole: bool


def look(root: Root, *, with_digests: bool, known: TreeSnapshot | None = None) -> TreeSnapshot:
    """Return the present state of the files beneath a root, including ignored ones; installed packages and caches are left out.

    Args:
        root: the root.
        with_digests: whether contents are read.
        known: an earlier look: a file with the same stamp since is not read again.
    """
    stamps: dict[str, FileStamp] = {}
    try:
        # Ignored files too: what a command makes is usually ignored, such as build output.
        walk = Walk(
            root,
            ".",
            _WORKED_ON,
            include_hidden=True,
            include_ignored=True,
            deadline=Deadline(_LOOK_SECONDS),
        )
        for batch in walk:
            for name in batch.names:
                try:
                    stamps[f"{batch.prefix}{name}"] = FileStamp.of(root.status_in(batch.folder, name))
                except OSError:
                    continue
    except ToolError:
        return TreeSnapshot({}, {}, is_whole=False)
    if known is None:
        known = TreeSnapshot({}, {}, is_whole=False)
    same = {path: known.digests[path] for path in known.digests if known.stamps[path] == stamps.get(path)}
    return TreeSnapshot(stamps, same | (_digests(root, stamps, same) if with_digests else {}), walk.complete)


def _digests(root: Root, stamps: Mapping[str, FileStamp], known: Mapping[str, str]) -> dict[str, str]:
    """Return digests of files that are not known, the small ones first, as far as may be read before a command."""
    made: dict[str, str] = {}
    left_bytes, deadline = _MAX_HASHED_BYTES, Deadline(_LOOK_SECONDS)
    for size, path in sorted((stamp.size_bytes, path) for path, stamp in stamps.items() if path not in known):
        left_bytes -= size
        if left_bytes < 0 or deadline.passed:
            break
        made[path] = digest_of(root, path)
    return made


def between(root: Root, before: TreeSnapshot, after: TreeSnapshot) -> tuple[ChangedFile, ...]:
    """Return the files that differ between two looks, with what they held before.

    Args:
        root: the root.
        before: the tree before a command, with digests.
        after: the tree after it.
    """
    changed = []
    for path in sorted(before.stamps.keys() | after.stamps.keys()):
        known, now = before.stamps.get(path), after.stamps.get(path)
        # An incomplete look says nothing of files that it does not have.
        if known == now or (known is None and not before.is_whole) or (now is None and not after.is_whole):
            continue
        found = "" if known is None else before.digests.get(path, UNKNOWN)
        if found == UNKNOWN or found != digest_of(root, path):
            changed.append(ChangedFile(path=path, found=found))
    return tuple(changed)


def changed_since(root: Root, seconds: float) -> tuple[ChangedFile, ...]:
    """Return the files that were made, written or moved since a time: the visible effects of a command that a kill cut off.

    Nobody compared the tree after it, so files that it removed are missing, and what people did since then is included.

    Args:
        root: the root.
        seconds: the time, since 1970.
    """
    seen = look(root, with_digests=False)
    since = [path for path, stamp in seen.stamps.items() if stamp.ctime_ns >= seconds * 1e9]
    return tuple(ChangedFile(path=path, found=UNKNOWN) for path in sorted(since))


def handed_on(root: Root, handoff: Handoff) -> tuple[ChangedFile, ...]:
    """Return the files that earlier sessions of a handoff had changed, if they are beneath its root.

    Args:
        root: the root.
        handoff: what the session begins with.
    """
    # Events come first, then bare paths, as other writers have them.
    events = (*handoff.file_history, *(FileEvent(path=path) for path in handoff.modified_files))
    found: dict[str, ChangedFile] = {}
    for event in events:
        if mark_in(event.path):  # a name that held a secret, which nobody knows any more
            continue
        try:
            path = escape.show_name(root.relative(event.path))
        except ToolError:
            continue
        # A file that does not exist and of which nothing is known is left out: its path may be one of another folder.
        if path not in found and (event.digest or event.action == "deleted" or digest_of(root, path)):
            before = "" if event.action == "created" else event.found or UNKNOWN
            found[path] = ChangedFile(path=path, found=before)
    return tuple(found.values())


def digest_of(root: Root, path: str) -> str:
    """Return SHA-256 of a file as it is; empty if there is none or it is refused, `UNKNOWN` if the system fails to read it."""
    try:
        with closing(root.open_file(root.relative(path))) as file:
            made = sha256()
            for block in FileSource(file).blocks(_BLOCK_BYTES):
                made.update(block)
            return made.hexdigest()
    except ToolError as error:
        return UNKNOWN if error.code in {"denied", "io_error"} else ""
    except OSError:
        return UNKNOWN


class DiskChanges:
    """All that a session changed beneath its root."""

    def __init__(self, root: Root, files: Iterable[ChangedFile] = ()) -> None:
        """Begin with what a journal holds.

        Args:
            root: the root.
            files: what was noted before, oldest first.
        """
        self._root = root
        self._files: dict[str, ChangedFile] = {}
        self.note(*files)

    def note(self, *files: ChangedFile) -> None:
        """Record changes; for each file, the content found before the first change counts."""
        for file in files:
            first = self._files.pop(file.path, file)
            self._files[file.path] = replace(first, turn=file.turn)

    def events(self) -> tuple[FileEvent, ...]:
        """Return the files whose content is not what was found, in the order of their newest changes."""
        made = []
        for file in self._files.values():
            now = digest_of(self._root, file.path)
            if now != file.found or now == UNKNOWN:
                action = "deleted" if not now else "modified" if file.found else "created"
                digest, found = ("" if content == UNKNOWN else content for content in (now, file.found))
                made.append(FileEvent(path=file.path, turn=file.turn, action=action, digest=digest, found=found))
        return tuple(made)

    def corrected(self, handoff: Handoff) -> Handoff:
        """Return a handoff whose files are those on the disk, instead of those that calls mentioned.

        Its summary begins with the files that are as they were found although calls changed them: an undo is not a call.
        """
        events = self.events()
        paths = tuple(event.path for event in events)
        active = tuple(path for path in paths if path in handoff.active_files)
        back = [escape.clip(path) for path in self._files if path not in paths]
        kept = f"unchanged in the end: {row(back, _TOLD)}\n" if back else ""
        summary = kept + handoff.summary.removeprefix(kept)
        return replace(handoff, modified_files=paths, file_history=events, active_files=active, summary=summary)
