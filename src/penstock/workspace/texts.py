"""Which text does a path name? It is opened, its encoding detected and its version checked; or refused, with the right call to
make.

Leaves to others: which part of the text is shown (`reading`).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import ToolError
from penstock.text import escape, window
from penstock.text.calls import Call
from penstock.workspace import refusals
from penstock.workspace import version as versions
from penstock.workspace.similar import naming_similar
from penstock.workspace.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.text.window import Encoding
    from penstock.workspace.root import Root


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
    with naming_similar(root, relative):
        file = root.open_file(relative)
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
