"""Which files lie beneath a folder? A walk by descriptors, in the order of their paths.

No path is resolved twice and no link is followed, so there are no loops and nothing outside the root is reached. Nothing grows with
the depth or size of the tree: there is no Python recursion, at most `_OPEN` descriptors are open, and a folder keeps only the
smallest `_HELD` of its names (when they are used up, it is read again for the next ones).

Law: the files come in the byte order of their `/`-joined paths, each once; what is left out is counted. Leaves to others: what to
do with a file (listing, counting, searching), and sizes: nothing here calls `stat`, except for links.

How the order is produced. A folder is listed with `/` appended to its name, so that sorting the names of one folder sorts the
paths: `a.txt` comes before `a/b`, since `.` (0x2E) is below `/` (0x2F), and `a0` after both. Frames on a stack then yield the files
before the next folder as one batch, descend into it, and continue with the rest on return.

How memory stays bounded. `_scan` reads a folder in chunks and keeps the `_HELD` smallest names, cutting back whenever twice as many
have arrived: linear time apart from the sorting, whatever the order on disk. `after` remembers the last name kept, and the next
scan of the same folder takes only larger ones. So a folder of a million files is read sixteen times, and holds some 140,000 names
at most.
"""

from __future__ import annotations

import errno
import os
import stat
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.workspace.ignore import MAX_RULE_BYTES, IgnoreRules
from penstock.workspace.paths import MAX_PATH_BYTES
from penstock.workspace.similar import naming_similar
from penstock.workspace.system import close_folder, scan_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.workspace.deadline import Deadline
    from penstock.workspace.globs import Selection
    from penstock.workspace.root import Root
    from penstock.workspace.system import Folder

_OPEN = 48  # folder descriptors open on the way down; a process may have 1,024
# Names of one folder in memory, and entries read of it between two checks of the clock.
_HELD = 1 << 16
_CHUNK = 1 << 13
_REPORT = 1000  # files between two reports of progress

_VANISHED = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ESTALE}


class Omitted(NamedTuple):
    """Entries that were left out; a folder counts once. Files count if the pattern would have selected them."""

    hidden: int = 0
    """Names that begin with a dot."""
    ignored: int = 0
    """Excluded by ignore rules."""
    vanished: int = 0
    """Gone between the listing and the check."""
    denied: int = 0
    """Unreadable entries, and paths that are too long."""
    special: int = 0
    """FIFOs, sockets and devices."""
    links: int = 0
    """Links that do not lead to a regular file beneath the root (ADR 7)."""


class Batch(NamedTuple):
    """Files directly in the folder `prefix` (`a/b/`, from the root); `folder` is open until the next batch."""

    prefix: str
    folder: Folder
    names: list[str]


class _Frame:
    """A folder on the way down, with its remaining names, the next one last."""

    __slots__ = ("after", "descriptor", "files_done", "pending", "prefix_length", "read", "rules")

    def __init__(self, descriptor: Folder, prefix_length: int, rules: IgnoreRules | None) -> None:
        self.descriptor: Folder | None = descriptor
        self.prefix_length = prefix_length
        self.rules = rules
        self.pending: list[str] = []
        self.read = False  # at least once: what it omits has been counted
        self.after: bytes | None = None  # names up to here have been held; None: all
        self.files_done = False


class Walk:
    """An iterator of batches of files. It opens its folder when it begins: a walk that is not taken holds nothing.

    Set `ordered` to False once the order no longer matters, as when a page is full and the rest is only counted: files then come as
    they are read, and nothing is sorted. Afterwards `complete` says whether it finished before the deadline, and `omitted` what was
    left out.

    Args:
        root: The root that opens everything.
        path: The folder to begin with.
        selection: Which files are wanted, and how deep.
        include_hidden: Whether names that begin with a dot are included.
        include_ignored: Whether files that ignore rules exclude are included.
        deadline: When it stops, incomplete.
        progress: Called with the number of files so far, every thousand.

    Raises:
        ToolError: `path` is outside the root; when the walk begins, it is not a readable folder.
    """

    def __init__(
        self,
        root: Root,
        path: str,
        selection: Selection,
        *,
        include_hidden: bool,
        include_ignored: bool,
        deadline: Deadline,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self.ordered = True
        self.complete = True
        self.vanished = self.denied = 0
        self._hidden = self._ignored = self._special = self._links = 0
        self._root = root
        self.selection = selection
        self._include_hidden = include_hidden
        self._include_ignored = include_ignored
        self._deadline = deadline
        self._progress = progress
        self._seen = self._reported = 0
        self._start = start = root.relative(path)
        self.prefix = "" if start == b"." else os.fsdecode(start) + "/"
        self._start_length = len(self.prefix)
        self._stack: list[_Frame] = []

    @property
    def omitted(self) -> Omitted:
        """Return what has been left out so far."""
        return Omitted(self._hidden, self._ignored, self.vanished, self.denied, self._special, self._links)

    def __iter__(self) -> Iterator[Batch]:
        with naming_similar(self._root, self._start):
            folder = self._root.open_folder(self._start)
        top = _Frame(folder, len(self.prefix), None)
        self._stack.append(top)
        try:
            if not self._include_ignored:
                top.rules = self._rules_above(self._start)
            yield from self._batches()
        finally:
            for frame in self._stack:
                if frame.descriptor is not None:
                    close_folder(frame.descriptor)
            self._stack.clear()

    def _batches(self) -> Iterator[Batch]:
        """Yield the batches; every folder is on the stack from its first name to its last."""
        stack = self._stack
        while stack:
            frame = stack[-1]
            # Either never read, or read only for its smallest names, which are used up; else it is done.
            if not frame.pending:
                if not frame.read or frame.after is not None:
                    descriptor = self._descriptor(frame)
                    if descriptor is not None:
                        for names in self._scan(frame, descriptor):
                            yield self._batch(descriptor, names)
                    if not self.complete:
                        return
                if not frame.pending:
                    self._leave()
                continue
            if frame.pending[-1][-1] == "/":
                self._enter(frame, frame.pending.pop())
            else:
                names = _run_of_files(frame.pending)
                descriptor = self._descriptor(frame)
                if descriptor is not None:
                    yield self._batch(descriptor, names)
            # After the yield: time that the caller took counts too.
            if self._deadline.passed:
                self.complete = False
                return

    def _batch(self, descriptor: Folder, names: list[str]) -> Batch:
        self._seen += len(names)
        if self._progress is not None and self._seen - self._reported >= _REPORT:
            self._reported = self._seen
            self._progress(self._seen)
        return Batch(self.prefix, descriptor, names)

    # ── descending and ascending ────────────────────────────────────────────────────────────────────────

    def _enter(self, frame: _Frame, name: str) -> None:
        """Descend into a folder; what cannot be entered is counted."""
        length = len(self.prefix) + len(name)
        if length > MAX_PATH_BYTES:
            self.denied += 1
            return
        parent = self._descriptor(frame)
        if parent is None:
            return
        try:
            descriptor = self._root.open_subfolder(parent, name[:-1])
        except OSError as error:
            self._lost(error)
            return
        # A tree a thousand levels deep has more folders on the way than a process has descriptors. The folder 48 levels up closes
        # its descriptor and is opened again, by its path, on the way up.
        if len(self._stack) >= _OPEN:
            oldest = self._stack[-_OPEN]
            if oldest.descriptor is not None:
                close_folder(oldest.descriptor)
                oldest.descriptor = None
        self.prefix += name
        self._stack.append(_Frame(descriptor, length, frame.rules))

    def _leave(self) -> None:
        """Ascend: the folder on top is done."""
        frame = self._stack.pop()
        if frame.descriptor is not None:
            close_folder(frame.descriptor)
        if self._stack:
            self.prefix = self.prefix[: self._stack[-1].prefix_length]

    def _descriptor(self, frame: _Frame) -> Folder | None:
        """Return the frame's folder, reopened if the way down was long; None if it is gone, with its pending names."""
        if frame.descriptor is None:
            try:
                frame.descriptor = self._root.open_folder(os.fsencode(self.prefix[:-1]) or b".")
            except ToolError as error:
                if error.code in {"not_found", "not_directory"}:
                    self.vanished += 1
                else:
                    self.denied += 1
                frame.pending.clear()
                frame.read, frame.after = True, None
        return frame.descriptor

    def _lost(self, error: OSError) -> None:
        """Count what could not be opened: gone since it was listed, or not permitted."""
        if error.errno in _VANISHED:
            self.vanished += 1
        else:
            self.denied += 1

    # ── one folder ──────────────────────────────────────────────────────────────────────────────────────

    def _scan(self, frame: _Frame, descriptor: Folder) -> Iterator[list[str]]:
        """Read the folder: `pending` gets the next names. If order does not matter, files are yielded at once."""
        held: list[str] = []
        ordered, after, more = self.ordered, frame.after, False
        needs_rules = not frame.read and not self._include_ignored
        try:
            with scan_folder(descriptor) as entries:
                while True:
                    files, folders, odd = _sorted_out(islice(entries, _CHUNK))
                    got = len(files) + len(folders) + len(odd)
                    # The rules must be known before the first name is judged. `.gitignore` may be anywhere in a folder, so if the
                    # first chunk is full and lacks it, it is looked up by name. That settles it: repeated at a later chunk, the
                    # folder's rules would become their own parent.
                    if needs_rules and (".gitignore" in files or got == _CHUNK):
                        frame.rules = self._rules_in(descriptor, frame.rules)
                    needs_rules = False
                    if odd and not frame.files_done:
                        files += self._links_among(frame, odd)
                    # Files came out unsorted in an earlier scan: this one is for folders.
                    if files and not frame.files_done:
                        files = self._kept(frame, files)
                        if after is not None:
                            files = [name for name in files if os.fsencode(name) > after]
                        if ordered:
                            held += files
                        elif files:
                            yield files
                    if folders and self.selection.recursive:
                        named = [name + "/" for name in self._kept(frame, folders, folders=True)]
                        held += named if after is None else [name for name in named if os.fsencode(name) > after]
                    # Cut back only at twice the size: each name is sorted a few times in all, not once a chunk.
                    if len(held) > 2 * _HELD:
                        _order(held)
                        del held[_HELD:]
                        more = True
                    if got < _CHUNK:
                        break
                    frame.read = frame.read or after is not None
                    if self._deadline.passed:
                        self.complete = False
                        return
        except OSError as error:
            self._lost(error)
        if ordered or more:
            _order(held)
        if more:  # names beyond the smallest are missing
            del held[_HELD:]
        frame.after = os.fsencode(held[-1]) if more else None
        frame.read = True
        frame.files_done = frame.files_done or not ordered
        held.reverse()
        frame.pending = held

    def _kept(self, frame: _Frame, names: list[str], *, folders: bool = False) -> list[str]:
        """Return the names that the caller wants; the others are counted when the folder is first read."""
        # The pattern comes first, so that `hidden` and `ignored` count requested files, and folders that may contain them.
        pick = self.selection.enters if folders else self.selection.takes
        if pick is not None:
            names = pick(self.prefix[self._start_length :], names)
        total = len(names)
        # One search in the joined names is quicker than checking each.
        if not self._include_hidden and ("/." in "/" + "/".join(names)):
            names = [name for name in names if name[0] != "."]
        visible = len(names)
        if not self._include_ignored:
            if self._include_hidden:
                names = [name for name in names if name != ".git"]
            if frame.rules is not None and names:
                names = frame.rules.kept(self.prefix, names, folders=folders)
        # A folder that is read again must not be counted again.
        if not frame.read:
            self._hidden += total - visible
            self._ignored += visible - len(names)
        return names

    def _links_among(self, frame: _Frame, odd: list[os.DirEntry[str]]) -> list[str]:
        """Return links to regular files beneath the root; other links, FIFOs, sockets and devices are counted."""
        regular = []
        for entry in odd:
            link = entry.is_symlink()
            mode = self._mode_of_target(entry.name) if link else 0
            if stat.S_ISREG(mode):
                regular.append(entry.name)
                continue
            if frame.read or (stat.S_ISDIR(mode) and not self.selection.recursive):
                continue
            # A link to a folder is counted whatever the pattern says: matching files may be in it.
            wanted = self._kept(frame, [entry.name], folders=stat.S_ISDIR(mode))
            self._links += bool(wanted) and link
            self._special += bool(wanted) and not link
        return regular

    def _mode_of_target(self, name: str) -> int:
        """Return the mode of a link's target beneath the root; 0 if it leads out, dangles or loops."""
        try:
            return self._root.look(os.fsencode(self.prefix + name)).st_mode
        except OSError:
            return 0

    # ── ignore files ────────────────────────────────────────────────────────────────────────────────────

    def _rules_in(
        self, descriptor: Folder, above: IgnoreRules | None, name: bytes = b".gitignore"
    ) -> IgnoreRules | None:
        """Return the rules in force in an open folder: those of its ignore file take precedence over those `above`."""
        try:
            file = self._root.open_entry(descriptor, name)
        except OSError:
            return above
        try:
            source = os.read(file, MAX_RULE_BYTES)
        except OSError:
            return above
        finally:
            os.close(file)
        return IgnoreRules(source, len(self.prefix), above) if source else above

    def _rules_above(self, start: bytes) -> IgnoreRules | None:
        """Return the rules already in force at `start`: `.git/info/exclude`, and the ignore files above it."""
        # `IgnoreRules` takes its position from `prefix`, which is therefore set to each folder above in turn, and then restored.
        whole, rules = self.prefix, None
        folders = [b".git/info"]
        parts = start.split(b"/") if start != b"." else []
        folders += [b"/".join(parts[:depth]) or b"." for depth in range(len(parts))]
        for relative in folders:
            try:
                descriptor = self._root.open_folder(relative)
            except ToolError:
                continue
            info = relative == b".git/info"
            self.prefix = "" if info or relative == b"." else os.fsdecode(relative) + "/"
            try:
                rules = self._rules_in(descriptor, rules, b"exclude" if info else b".gitignore")
            finally:
                close_folder(descriptor)
        self.prefix = whole
        return rules


def _sorted_out(entries: Iterator[os.DirEntry[str]]) -> tuple[list[str], list[str], list[os.DirEntry[str]]]:
    """Return entries as names of files, names of folders, and the rest; types come with the listing, without `stat`."""
    files, folders, odd = [], [], []
    for entry in entries:
        if entry.is_file(follow_symlinks=False):
            files.append(entry.name)
        elif entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
        else:
            odd.append(entry)
    return files, folders, odd


def _order(names: list[str]) -> None:
    """Sort names by their bytes. For ASCII that is the order of the text; surrogates (invalid bytes) sort differently."""
    if "".join(names).isascii():
        names.sort()
    else:
        names.sort(key=os.fsencode)


def _run_of_files(pending: list[str]) -> list[str]:
    """Return the files before the next folder, removed from the end of `pending`, in order."""
    at = len(pending)
    while at and pending[at - 1][-1] != "/":
        at -= 1
    names = pending[at:]
    del pending[at:]
    names.reverse()
    return names
