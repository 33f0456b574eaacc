"""Which name beneath a root does a path give, before anything is opened?

Names only: the answer does not depend on the disk. Leaves to others: every open (`root`), and which names suggest secrets
(`secret_names`).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from penstock.errors import ToolError
from penstock.text import escape
from penstock.workspace.refusals import listing, outside

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_PATH_BYTES = 1 << 16
"""The longest path that is accepted, in bytes: deep trees are read, a megabyte of path is a mistake."""
HAS_BACKSLASHES = os.sep == "\\"
# On Windows: streams and drives, devices, and what it strips from the end of a name.
_OTHER_NAME = rb"(?i)[:\x00-\x1f]|[. ]\Z|\A(?:con|prn|aux|nul|conin\$|conout\$|com[0-9]|lpt[0-9])(?:\.|\Z)"


def encoded(path: str) -> bytes:
    """Return a path as the bytes by which the disk knows it.

    Raises:
        ToolError: It is empty, too long, or holds a NUL or a lone UTF-16 surrogate.
    """
    if not path:
        reason = 'The path is empty. Give a path relative to the root, or "." for the root.'
        raise ToolError("bad_argument", reason, listing())
    if "\0" in path:
        raise ToolError("bad_argument", "A path cannot hold a NUL character.", listing())
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        reason = f"Not a path: {escape.clip(path)} holds half of a UTF-16 pair."
        raise ToolError("bad_argument", reason, listing()) from None
    if len(raw) > MAX_PATH_BYTES:
        reason = f"A path has at most {MAX_PATH_BYTES} bytes; this one has {len(raw)}."
        raise ToolError("path_too_long", reason, listing())
    return raw


def beneath(raw: bytes, roots: Iterable[bytes], path: str) -> bytes:
    """Return a path relative to a root, without `.` and `..`.

    Args:
        raw: The path as bytes, relative or absolute.
        roots: The names of the root: as given, and as resolved.
        path: The path as it was given, for the refusal.

    Raises:
        ToolError: It leads out of the root, or Windows gives it another meaning than a file's.
    """
    if HAS_BACKSLASHES:
        raw = raw.replace(b"\\", b"/")
    if raw.startswith(b"/") or (HAS_BACKSLASHES and raw[1:2] == b":"):
        # Both forms: a person names the root as it was given, listings of other programs as resolved.
        for prefix in roots:
            base = (prefix.replace(b"\\", b"/") if HAS_BACKSLASHES else prefix).rstrip(b"/") + b"/"
            if _same_case(raw + b"/").startswith(_same_case(base)):
                raw = raw[len(base) :]
                break
        else:
            raise outside(path)
    parts: list[bytes] = []
    for part in raw.split(b"/"):
        if part == b"..":
            if not parts:
                raise outside(path)
            parts.pop()
        elif part not in {b"", b"."}:
            if HAS_BACKSLASHES and re.search(_OTHER_NAME, part):
                reason = f"{escape.clip(path)} names no file: Windows gives it another meaning."
                raise ToolError("not_found", reason, listing())
            parts.append(part)
    return b"/".join(parts) or b"."


def _same_case(path: bytes) -> bytes:
    """Return a path in a form in which two paths that Windows considers the same are equal; unchanged elsewhere."""
    return os.fsencode(os.fsdecode(path).casefold()) if HAS_BACKSLASHES else path
