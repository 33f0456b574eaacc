"""What are pages called? By the names of programs, with a hash of the path if two share a name.

Law: the same files have the same ids whenever they are documented; no two ids are the same file name on any system.
Leaves to others: what a page says, and in which folder it is.
"""

from __future__ import annotations

import re
from hashlib import sha256

from penstock.cobol.estate.members import stem
from penstock.cobol.program import key

# Characters that a file name keeps on every system; `#`, `@` and `$` are letters on the host. Names are cut at sixty characters, so
# that with hash and suffix they are valid anywhere.
_UNSAFE = re.compile(r"[^\w#@$-]+", re.ASCII)
_MOST_LETTERS = 60
_HASH_LETTERS = 6
_DEVICE = re.compile(r"CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)\d", re.IGNORECASE)
"""What Windows takes for a device, whatever suffix is behind it: `CON.html` cannot be written there."""


class PageIds:
    """Ids, given in the order of the files.

    Names are told apart regardless of case, because the file systems of Windows and macOS ignore it.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._digests: dict[tuple[str, str], str] = {}  # the last one of each name and path

    def of(self, program: str, path: str) -> str:
        """Return the id of a program in a file."""
        name = (_UNSAFE.sub("_", program.strip("'\"")) or _UNSAFE.sub("_", stem(path)) or "UNNAMED")[:_MOST_LETTERS]
        if _DEVICE.fullmatch(name):
            name += "_"
        made, digest = name, self._digests.get((key(name), path), path)
        while key(made) in self._taken:
            # A hash of the hash, and so on: two programs of the same name in one file have the same path.
            digest = sha256(digest.encode("utf-8", "surrogateescape")).hexdigest()
            made = f"{name}.{digest[:_HASH_LETTERS]}"
        self._digests[key(name), path] = digest
        self._taken.add(key(made))
        return made
