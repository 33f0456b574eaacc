"""Which path was meant, if the one given does not exist? The refusal then names up to three similar ones, and a call (V-11).

Law: nothing outside the root is looked at, and a folder of any size costs a bounded look. Leaves to others: who opens the path.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import escape
from penstock.text.calls import Call, quoted
from penstock.workspace import refusals
from penstock.workspace.system import close_folder, scan_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from penstock.workspace.root import Root

_NAMES_COMPARED = 10_000  # of one folder, if a name is not found
_NAMES_MEASURED = 50  # of those, by the slow comparison


@contextmanager
def naming_similar(root: Root, relative: bytes) -> Iterator[None]:
    """Add what may have been meant to a refusal of a path that does not exist; any other passes as it is.

    Raises:
        ToolError: What the block raises.
    """
    try:
        yield
    except ToolError as error:
        if error.code != "not_found":
            raise
        hint, way = _instead(root, relative)
        raise ToolError(error.code, f"{error.message} {hint}".rstrip(), way) from error


def is_folder(root: Root, relative: bytes) -> bool:
    """Return whether a path leads to a folder.

    Raises:
        ToolError: It does not exist (with up to three similar paths), or leads out of the root.
    """
    with naming_similar(root, relative):
        return root.is_folder(relative)


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
