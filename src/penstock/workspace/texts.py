"""Which text does a path name? It is opened, its encoding detected and its version checked; or refused, with the right call to
make.

Leaves to others: which part of the text is shown (`reading`).
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.text import escape, window
from penstock.text.calls import Call, quoted
from penstock.workspace import refusals
from penstock.workspace import version as versions
from penstock.workspace.source import FileSource
from penstock.workspace.system import close_folder, scan_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.window import Encoding
    from penstock.workspace.root import Root

_NAMES_COMPARED = 10_000  # of one folder, if a name is not found
_NAMES_MEASURED = 50  # of those, by the slow comparison


class TextFile(NamedTuple):
    """An open file whose bytes are text, with its encoding."""

    source: FileSource
    encoding: Encoding
    path: str
    """The file, inert, relative to the root; it opens the file again."""


@contextmanager
def open_file(root: Root, path: str) -> Iterator[tuple[FileSource, str]]:
    """Give the regular file at `path` and its inert name for the block.

    Raises:
        ToolError: It does not exist (with up to three similar paths), is a folder (with the call that lists it) or may not be read,
            or the disk fails within the block.
    """
    relative = root.relative(path)
    try:
        file = root.open_file(relative)
    except ToolError as error:
        if error.code != "not_found":
            raise
        hint, way = _instead(root, relative)
        raise ToolError(error.code, f"{error.message} {hint}".rstrip(), way) from error
    try:
        yield FileSource(file), escape.show_name(relative)
    except OSError as error:
        raise refusals.refusal(error, relative) from error
    finally:
        file.close()


@contextmanager
def open_text(root: Root, path: str) -> Iterator[TextFile]:
    """Give a text file for the block.

    Raises:
        ToolError: As for `open_file`; and for a binary file, with its kind and the call that reads it as base64 (B-7).
    """
    with open_file(root, path) as (source, shown):
        encoding = source.encoding()
        if encoding is None:
            message = _binary(escape.shorten(shown), window.kind_of(source.read(0, 512)), source.size_bytes)
            raise ToolError("binary", message, Call("read_file", {"path": shown, "encoding": "base64"}))
        yield TextFile(source, encoding, shown)


def token(source: FileSource, cursor_byte: int, before: bytes | None = None) -> str:
    """Return the version of an open file for a page that ends at `cursor_byte`; `before` are the bytes that end there."""
    return str(versions.of(source, cursor_byte, before=before))


def same_version(source: FileSource, path: str, earlier: versions.Version | None, asked: Call) -> list[str]:
    """Return the notices about how a file has changed since an earlier page (B-8).

    Args:
        source: The file.
        path: Its name, inert.
        earlier: The version of that page; None if there was none.
        asked: The call without its version: it accepts the position as it is now.

    Raises:
        ToolError: `stale`: the file is no longer that version. It offers the call from the start and the call as asked.
    """
    if earlier is None:
        return []
    change = versions.compare(earlier, source)
    if change is versions.VersionChange.SAME:
        return []
    if change is versions.VersionChange.GREW:
        return [_grew(source.size_bytes - earlier.size_bytes)]
    # Restarting keeps to lines or bytes, whichever was requested.
    if asked.tool == "view":
        restart = asked.but(offset=None)
    elif {"start_line", "end_line"} & asked.arguments.keys():
        restart = asked.but(start_line=1, end_line=None)
    else:
        restart = asked.but(start_byte=0)
    size = f" ({earlier.size_bytes} to {source.size_bytes} bytes)" if earlier.size_bytes != source.size_bytes else ""
    ways = (asked,) if restart == asked else (restart, asked)
    raise ToolError("stale", _stale(escape.shorten(path), change.value + size), *ways)


def no_longer_records(path: str, asked: Call) -> ToolError:
    """Return the refusal of a page by lines after pages by record: its numbers would mean different things.

    Args:
        path: The file's name, inert.
        asked: The call without its version.
    """
    change = "has more than one line now, and is not viewed by record any more"
    return ToolError("stale", _stale(escape.shorten(path), change), asked.but(offset=None), asked)


def _grew(by_bytes: int) -> str:
    """Return the notice about a file that only grew: what was read is still valid."""
    return f"the file grew by {by_bytes} bytes since that page; the text just before this place is the same"


def _stale(path: str, change: str) -> str:
    """Return the refusal of a page whose file has changed."""
    return (
        f"stale: {path} {change}. A page of it would not belong to the page before. "
        "Start again, or take this place as it is now."
    )


def _binary(path: str, kind: str, size_bytes: int) -> str:
    """Return the refusal of a file that is not text."""
    return f"{path} is binary ({kind}, {size_bytes} bytes) and is not shown as text."


# ── similar names ────────────────────────────────────────────────────────────────────────────────────────────────


def _instead(root: Root, relative: bytes) -> tuple[str, Call]:
    """Return a hint for a path that does not exist, and the call to make instead.

    The hint is up to three similarly spelled paths (V-11), or says that a link leads to nothing; the call shows the likeliest path,
    or lists the last existing folder on the way.
    """
    known = b"."
    # Descend to the first part that is missing: its folder exists, and the right name may be in it.
    for missing in relative.split(b"/"):
        inner = missing if known == b"." else known + b"/" + missing
        try:
            status = root.look(inner)
        except OSError:
            break
        if not stat.S_ISDIR(status.st_mode):
            return "", _way_to(root, inner)
        known = inner
    else:
        return "", refusals.listing()
    listing = refusals.listing(known)
    try:
        folder = root.open_folder(known)
    except ToolError:
        return "", refusals.listing()
    try:
        with scan_folder(folder) as entries:
            names = [entry.name for entry in islice(entries, _NAMES_COMPARED)]
        wanted = os.fsdecode(missing)
        is_link = wanted in names and stat.S_ISLNK(root.status_in(folder, wanted).st_mode)
    except OSError:
        return "", refusals.listing()
    finally:
        close_folder(folder)
    prefix = "" if known == b"." else escape.show_name(known) + "/"
    if is_link:
        return f"{quoted(prefix + escape.show_name(missing))} is a link that leads to nothing.", listing
    if wanted in names:  # created since somebody asked for it
        return "", _way_to(root, relative)
    near = [prefix + escape.show_name(os.fsencode(name)) for name in _closest(wanted, names)]
    if not near:
        return "", listing
    return f"Similar: {', '.join(map(quoted, near))}.", _way_to(root, root.relative(near[0]))


def _way_to(root: Root, relative: bytes) -> Call:
    """Return the call that shows a file, or lists a folder; for anything else it lists the root."""
    try:
        mode = root.look(relative).st_mode
    except OSError:
        return refusals.listing()
    if stat.S_ISREG(mode):
        return Call("view", {"file_path": escape.show_name(relative)})
    return refusals.listing(relative if stat.S_ISDIR(mode) else b".")


def _closest(wanted: str, names: list[str]) -> list[str]:
    """Return the names nearest in spelling to `wanted`, at most three.

    Names with the longest common beginning and end come first, a quick measure for thousands of names; of the best fifty, the
    nearest by `difflib`, which is slow.
    """
    import heapq  # not needed for a name that is found
    from difflib import get_close_matches

    def alike(name: str) -> tuple[int, str]:
        begins = _same(name.lower(), wanted.lower())
        ends = _same(name[begins:][::-1].lower(), wanted[begins:][::-1].lower())
        return begins + ends - abs(len(name) - len(wanted)), name

    nearest = sorted(heapq.nlargest(_NAMES_MEASURED, names, alike))
    close = [name for name in nearest if name.lower() == wanted.lower()]
    close += [name for name in get_close_matches(wanted, nearest, 3, 0.6) if name not in close]
    return close[:3]


def _same(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
