"""Tables of findings that a person has reviewed, one case per line."""

from __future__ import annotations

import os
from difflib import unified_diff
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WRITE = "WRITE_TABLES"


def check_table(path: Path, rows: Sequence[str]) -> None:
    """Compare the lines with those of a table; if the variable is set, rewrite the table for review."""
    if os.environ.get(WRITE):
        path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    table = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    different = list(unified_diff(table, list(rows), "the table", "now", lineterm="", n=0))
    assert not different, "\n".join([f"{path.name}; {WRITE}=1 writes it anew", *different[:40]])
