"""What is on disk? One root, the only opens in the package.

`Workspace` answers with values (`Window`, `Page`, counts) and raises `ToolError`; `penstock.Tools` words them for a model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.workspace.reading import DEFAULT_VIEW_LINES, Reader
from penstock.workspace.root import Root

if TYPE_CHECKING:
    import os

__all__ = ["Workspace"]


class Workspace:
    """One folder and bounded ways to read what lies beneath it. Nothing outside it is ever named or read (L-8).

    `root` is the folder. `allow_mounts` lets paths cross into other file systems, `allow_secrets` reads files that look
    like keys by their names, `view_lines` is the default page of `view`. Raises `CallerError` when there is no such folder.
    """

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        *,
        allow_mounts: bool = False,
        allow_secrets: bool = False,
        view_lines: int = DEFAULT_VIEW_LINES,
        caps_line_ranges: bool = True,
        confinement: str = "auto",
    ) -> None:
        self.root = Root(root, allow_mounts=allow_mounts, allow_secrets=allow_secrets, confinement=confinement)
        reader = Reader(self.root, view_lines=view_lines, caps_line_ranges=caps_line_ranges)
        self.view = reader.view
        self.read_file = reader.read_file
        self.outline = reader.outline
