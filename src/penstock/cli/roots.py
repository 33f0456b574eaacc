"""Where does a session work? In the folder that it was started in, known by device and inode, or where a person moved it to.

Leaves to others: what is done there (`running`).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from penstock.agent.record_types import MOVED
from penstock.errors import ToolError
from penstock.text import escape
from penstock.text.calls import Call

if TYPE_CHECKING:
    from penstock.agent.loop import Agent


def move(agent: Agent, root: str) -> None:
    """Record that a session works in another folder from now on, so that the next resume need not be told.

    Args:
        agent: the agent that continues.
        root: the folder.
    """
    real = os.path.realpath(root)
    agent.record(MOVED, {"root": real, "root_id": identity_of(real)})


def expect_own_root(begun: dict[str, Any], session_id: str, command: str = "resume") -> str:
    """Return the folder of a session, after checking that it exists and is the one that the session worked in.

    Args:
        begun: what it was begun with.
        session_id: the session.
        command: the command that takes `--root` for another folder.

    Raises:
        ToolError: It does not exist, or is another by now.
    """
    root = str(begun["about"]["root"])
    _expect_same(root, begun.get("root_id"), Call(command, {"session_id": session_id, "root": "DIR"}))
    return root


def identity_of(root: str) -> list[int]:
    """Return what distinguishes a folder from any other that may be at its path: device and inode.

    Args:
        root: the folder.

    Raises:
        OSError: it does not exist.
    """
    status = os.stat(root)
    return [status.st_dev, status.st_ino]


def _expect_same(root: str, known: list[int] | None, way: Call) -> None:
    """Raise `ToolError` if the folder of a session does not exist, or is another by now; `way` is the call that takes another."""
    try:
        now = identity_of(root)
    except OSError as error:
        said = f"The session's folder {escape.clip(root)} is not there: {error.strerror}."
        raise ToolError("not_found", f"{said} If it was moved, name the folder where it is now.", way) from error
    if known is not None and now != known:
        said = (
            f"The folder at {escape.clip(root)} is not the one that the session worked in: it is a copy or another one."
        )
        raise ToolError("stale", f"{said} Name the folder where the project is now.", way)
    if known is None and not os.path.isabs(root):  # an older journal, which has the path as it was typed
        said = f"The session does not record the folder in which it began, only {escape.clip(root)}."
        raise ToolError("stale", f"{said} Name the folder.", way)
