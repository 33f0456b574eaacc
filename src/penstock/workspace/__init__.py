"""What is on disk beneath one root? The only room of the package that opens files.

`Workspace` returns values (`Window`, `Page`, counts) and raises `ToolError`; `penstock.Tools` words them for a model.

    >>> workspace = Workspace(".")
    >>> workspace.view("pyproject.toml", limit=2).last_line
    2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.workspace.folder import Workspace

__all__ = ["Workspace"]


def __getattr__(name: str) -> object:
    """Load `Workspace` on first use: a store needs this room's locks but none of its reading.

    Raises:
        AttributeError: for any other name.
    """
    if name != "Workspace":
        raise AttributeError(f"module 'penstock.workspace' has no attribute {name!r}")
    from penstock.workspace.folder import Workspace

    return Workspace
