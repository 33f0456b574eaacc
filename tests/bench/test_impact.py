"""The benchmark of impact asks about the part of a checkout that its questions name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.impact import copy_part

if TYPE_CHECKING:
    from pathlib import Path


def test_a_part_is_copied_from_the_deepest_folder_that_has_all_of_it(tmp_path: Path) -> None:
    """A pattern crosses folders, a later one with an exclamation mark takes files out; folders above all are not kept."""
    for name in ("README.md", "src/old/A.cbl", "src/cbl/A.cbl", "src/cpy/A.cpy", "src/cpy/A.bak"):
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, "utf-8")
    copy = tmp_path / "copy"
    copy_part(tmp_path / "checkout", ["src/*.c??", "!src/old/*"], copy)
    assert {path.relative_to(copy).as_posix() for path in copy.rglob("*.*")} == {"cbl/A.cbl", "cpy/A.cpy"}
