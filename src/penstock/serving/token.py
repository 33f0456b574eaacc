"""Where is the token of HTTP kept? 256 random bits in a file that only its owner can read.

Law: a token leaves this process in no URL and no log. Leaves to others: which requests need it, namely all (`http`).
"""

from __future__ import annotations

import os
import secrets
import stat
import sys

from penstock.errors import CallerError
from penstock.workspace.own_files import OwnFolder, create_own, is_own, read_own, state_folder

_MIN_CHARACTERS = 32


def default_file() -> str:
    """Return where the token is kept by default: in the user's state folder."""
    return os.path.join(state_folder(), "penstock", "token")


def load(path: str | None) -> tuple[bytes, str]:
    """Return the token and its file.

    Args:
        path: An existing file, or one to create with a new token; None for `default_file()`, whose folder is created too.

    Raises:
        CallerError: The file cannot be created, is another user's, can be read by others, or holds no token of at least 32 ASCII
            characters.
    """
    at = path or default_file()
    content = read_own(at)
    if content is None:
        try:
            if path is None:
                OwnFolder(os.path.dirname(at)).close()
            create_own(at, secrets.token_urlsafe(32).encode("ascii") + b"\n")  # a second process reads the first's
        except OSError as error:
            raise CallerError(f"{at} cannot be made: {error.strerror}") from error
        content = read_own(at) or b""
    # Checked after reading, also for our own file: its mode may have been changed since it was created.
    status = os.stat(at)
    if not is_own(status) or (sys.platform != "win32" and stat.S_IMODE(status.st_mode) & 0o077):
        raise CallerError(f"{at} can be read by others. The token has to be its owner's alone: chmod 600 {at}")
    token = content.strip()
    if len(token) < _MIN_CHARACTERS or not token.isascii() or len(token.split()) != 1:
        raise CallerError(f"{at} holds no token: one line of at least {_MIN_CHARACTERS} ASCII characters")
    return token, at
