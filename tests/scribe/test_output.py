"""Documents go beneath one folder, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from penstock.errors import CallerError
from penstock.scribe.output import Output
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from pathlib import Path


def test_what_says_the_same_is_left_alone(tmp_path: Path) -> None:
    """A file is written once for each text that it is given."""
    output = Output(str(tmp_path / "out"))
    for text, written in [("one", 1), ("one", 1), ("two", 2), ("three, which is longer", 3)]:
        output.write("programs/A.json", text)
        assert output.written == written
        assert (tmp_path / "out" / "programs" / "A.json").read_text() == text


@pytest.mark.parametrize("before", [None, "what an earlier run wrote"])
def test_two_runs_may_write_one_file_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """Whoever comes second writes over what the first wrote between its look and its writing."""
    output, other = Output(str(tmp_path)), Output(str(tmp_path))
    if before is not None:
        other.write("A.json", before)
    replace = Root.replace_file

    def interrupted(self: Root, *given: Any) -> None:
        monkeypatch.setattr(Root, "replace_file", replace)
        other.write("A.json", "what the other run writes")
        replace(self, *given)

    monkeypatch.setattr(Root, "replace_file", interrupted)
    output.write("A.json", "ours")
    assert (tmp_path / "A.json").read_text() == "ours"


def test_no_link_is_followed(tmp_path: Path) -> None:
    """A folder or a file that leads elsewhere is an error, and stays as it was."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "programs").symlink_to(tmp_path / "outside")
    (tmp_path / "out" / "index.md").symlink_to(tmp_path / "outside.md")
    for path in ("programs/A.json", "index.md"):
        with pytest.raises(CallerError, match=path):
            Output(str(tmp_path / "out")).write(path, "text")
    assert not (tmp_path / "outside.md").exists()
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """With its name, and what the disk says."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(CallerError, match="file/out: Not a directory"):
        Output(str(tmp_path / "file" / "out"))
