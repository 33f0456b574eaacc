"""Where is HOME for a command? In a new folder for this user alone, among temporary files; it is removed with its process.

Leaves to others: what may be done in it (`sandbox`), and how it is removed (`penstock.workspace.own_files`).
"""

from __future__ import annotations

import os

from penstock.errors import CallerError
from penstock.workspace.scratch import PrivateFolder


def make_home() -> PrivateFolder:
    """Return a folder that serves as HOME until it is closed, or until its process ends.

    Raises:
        CallerError: It cannot be made.
    """
    given = os.environ.get("TMPDIR", "")
    above = os.path.realpath(given if os.path.isabs(given) else "/tmp")  # noqa: S108 - made exclusively
    try:
        return PrivateFolder(above, "penstock-home-")
    except OSError as error:
        raise CallerError(f"The HOME of commands cannot be made in {above}: {error.strerror}") from error
