"""Who may call over HTTP? Whoever holds the token: 256 random bits in a file that only its owner can read.

Law: a token leaves this process in no URL and no log. Keeps out: which requests need it (all of them).
"""

from __future__ import annotations

import os
import secrets
import stat
import sys

from penstock.errors import CallerError
from penstock.workspace.root import create_own, is_own, read_own

_MIN_CHARACTERS = 32


def default_file() -> str:
    """Where the token is kept when nobody names a file: the user's state folder."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "penstock", "token")


def load(path: str | None) -> tuple[bytes, str]:
    """The token and its file, made at the first start. Raises `CallerError`."""
    at = path or default_file()
    if path is None:
        os.makedirs(os.path.dirname(at), mode=0o700, exist_ok=True)
    content = read_own(at)
    if content is None:
        create_own(at, secrets.token_urlsafe(32).encode("ascii") + b"\n")  # whoever comes second reads the first's
        content = read_own(at) or b""
    status = os.stat(at)
    if not is_own(status) or (sys.platform != "win32" and stat.S_IMODE(status.st_mode) & 0o077):
        raise CallerError(f"{at} can be read by others. The token has to be its owner's alone: chmod 600 {at}")
    token = content.strip()
    if len(token) < _MIN_CHARACTERS or not token.isascii() or len(token.split()) != 1:
        raise CallerError(f"{at} holds no token: one line of at least {_MIN_CHARACTERS} ASCII characters")
    return token, at
