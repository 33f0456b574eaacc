"""How is a file beneath a root written, removed or held? What `root` is for readers, this is for those who change a tree.

The folder of a file is opened part by part, and no link is followed on the way: what is written through a link is not what was read
at the path. In that folder `replacing` does the work, which knows what others may do at the same time.
"""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.workspace import replacing, system
from penstock.workspace.refusals import made_meanwhile, secret, unwritten, with_notes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from penstock.workspace.root import Root


def replace_file(
    root: Root,
    relative: bytes,
    content: bytes,
    known: bytes | None,
    *,
    flushes: bool = True,
    folder: system.Folder | None = None,
) -> tuple[str, ...]:
    """Durably replace the content of the file at `relative`: after a crash at any instant it holds the old or the new.

    No link is followed on the way, and a file that is no longer `known` is left alone, whoever wrote it (`replacing`). Hold
    `alone_with` from reading to here, so that other Penstock processes wait.

    Args:
        root: The root that it lies beneath.
        relative: The path, as `relative` returns it.
        content: All of the new content.
        known: All of the content that `content` was made from; the file keeps its mode, its owner and its attributes. None
            creates a new file, and the folders above it.
        flushes: Whether it also survives a power cut, and not only the end of this process.
        folder: The folder of the file, as `alone_with` gave it; None to open it again.

    Returns:
        Which metadata of the old file could not be copied to the new one, in words; empty if none is lost.

    Raises:
        ToolError: It is a secret, has changed (`stale`), or cannot be written; everything is then as it was, except for folders
            that were created.
    """
    if root.is_secret(relative):
        raise secret(relative)
    name = relative.rpartition(b"/")[2]
    try:
        opening = _folder_of(root, relative, make=known is None) if folder is None else nullcontext(folder)
        with opening as inside:
            if known is None:
                try:
                    replacing.create(inside, name, content, flushes=flushes)
                except FileExistsError:
                    _expect_no_link(root, inside, name)
                    raise
                return ()
            return replacing.replace_known(inside, name, content, known, relative, flushes=flushes)
    except FileExistsError as error:
        raise with_notes(made_meanwhile(relative), error) from None
    except ToolError as error:
        raise with_notes(error, error) from error.__cause__
    except OSError as error:
        raise unwritten(error, relative) from error


def remove_file(root: Root, relative: bytes, known: bytes) -> None:
    """Remove the file at `relative` if it holds, to the byte, the known content. Hold `alone_with` around it.

    Raises:
        ToolError: It has changed (`stale`), or cannot be removed; it is as it was.
    """
    try:
        with _folder_of(root, relative, make=False) as folder:
            replacing.remove_known(folder, relative.rpartition(b"/")[2], known, relative)
    except OSError as error:
        raise unwritten(error, relative) from error


def missing_folders(root: Root, relative: bytes) -> int:
    """Return how many of the folders above a path do not exist: those that a new file there would need."""
    count, above = 0, relative.rpartition(b"/")[0]
    while above:
        try:
            root.look(above)
            break
        except FileNotFoundError:
            count, above = count + 1, above.rpartition(b"/")[0]
        except OSError:  # whoever writes there reports what is wrong with the path
            break
    return count


def remove_empty_folder(root: Root, relative: bytes) -> None:
    """Remove the folder at `relative` if nothing is in it; the system looks and removes in one step. No link is followed."""
    with suppress(OSError), _folder_of(root, relative, make=False) as folder:
        path, at = system.entry_path(folder, relative.rpartition(b"/")[2])
        os.rmdir(path, dir_fd=at)
        system.flush_folder(folder)


@contextmanager
def alone_with(root: Root, relative: bytes) -> Iterator[system.Folder | None]:
    """Hold a file against other Penstock processes and threads, from reading it to writing it.

    The folder is held, with all files directly in it. If it does not exist yet, nothing is held: of two who create a file, one
    is refused.

    Yields:
        The folder, open; None if there is none.

    Raises:
        ToolError: `busy`: others hold it too long.
    """
    with ExitStack() as held:
        folder = None
        with suppress(OSError):  # whoever reads or writes there reports what is wrong with the path
            folder = held.enter_context(_folder_of(root, relative, make=False))
            held.enter_context(replacing.alone_in(folder))
        yield folder


def clear_left(root: Root, relative: bytes, digests: Collection[str]) -> list[bytes]:
    """Remove the temporary files that a killed edit of a file left, if they hold what is kept elsewhere.

    Args:
        root: The root that it lies beneath.
        relative: The file.
        digests: The SHA-256 of the contents that are kept elsewhere, in hexadecimal.

    Returns:
        The paths of those that hold something else, or cannot be read, which are left.

    Raises:
        ToolError: `busy`: others hold the folder too long.
    """
    above, slash, name = relative.rpartition(b"/")
    with alone_with(root, relative) as folder, suppress(OSError):
        left = [] if folder is None else replacing.clear_left(folder, name, digests)
        return [above + slash + os.fsencode(one) for one in left]
    return []  # nothing is held in a folder that is gone


@contextmanager
def _folder_of(root: Root, relative: bytes, *, make: bool) -> Iterator[system.Folder]:
    """Open the folder of a file that is to be written, creating it if it is missing and `make` is set. Raises OSError."""
    # By descriptors and never by `openat2`, which would follow links inside the root: what is written through a link is not
    # what was read at the path.
    folder = root.open_folder(b".")
    try:
        for part in relative.split(b"/")[:-1]:
            inner = _subfolder(root, folder, part, make=make)
            system.close_folder(folder)
            folder = inner
        yield folder
    finally:
        system.close_folder(folder)


def _subfolder(root: Root, folder: system.Folder, name: bytes, *, make: bool) -> system.Folder:
    """Return a folder in an open folder, creating it if it is missing and `make` is set. Raises OSError."""
    try:
        return root.open_subfolder(folder, name)
    except FileNotFoundError:
        if not make:
            raise
    except NotADirectoryError:
        _expect_no_link(root, folder, name)
        raise
    path, at = system.entry_path(folder, name)
    with suppress(FileExistsError):
        os.mkdir(path, dir_fd=at)
    system.flush_folder(folder)
    return root.open_subfolder(folder, name)


def _expect_no_link(root: Root, folder: system.Folder, name: bytes) -> None:
    """Raise OSError for a link in an open folder, which explains more than "not a folder" or "already exists"."""
    if system.is_link(root.status_in(folder, name)):
        raise OSError(errno.EXDEV, "a link or a mount")
