"""Are the tokens of a file, counted in blocks, those of the whole, in memory that does not grow with the file?"""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from penstock import ToolError, Workspace
from penstock.text import tokens

STDLIB = Path(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize("mode", ["exact", "estimate"])
def test_a_file_of_many_blocks_counts_as_the_text_does(tmp_path: Path, mode: tokens.Mode) -> None:
    """Blocks are cut at token starts, so exact counts add up, and estimates keep their bounds."""
    text = "".join((STDLIB / name).read_text("utf-8") for name in ("argparse.py", "typing.py", "inspect.py")) * 8
    (tmp_path / "big.py").write_text(text)
    assert len(text) > 2 << 20
    counted = Workspace(tmp_path).count_file("big.py", mode=mode)
    exact = tokens.count(text, mode="exact").tokens
    assert counted.low <= exact <= counted.high
    assert mode == "estimate" or counted.tokens == exact


def test_an_empty_file_has_no_tokens(tmp_path: Path) -> None:
    """This holds in every mode."""
    (tmp_path / "empty").write_bytes(b"")
    modes: tuple[tokens.Mode, ...] = ("exact", "estimate", "sampled")
    assert [Workspace(tmp_path).count_file("empty", mode=mode).tokens for mode in modes] == [0, 0, 0]


@pytest.mark.proves("L-8")
def test_a_file_outside_the_root_is_not_counted(tmp_path: Path) -> None:
    """Counting opens files in the same way as reading."""
    with pytest.raises(ToolError, match="outside the root"):
        Workspace(tmp_path).count_file("../x")
