"""Are the tokens of a file, counted in blocks, those of the whole, in memory that does not grow with the file?"""

from __future__ import annotations

import sysconfig
import tracemalloc
from pathlib import Path

import pytest

from penstock import ToolError, Workspace
from penstock.text import tokens
from penstock.workspace import folder

STDLIB = Path(sysconfig.get_path("stdlib"))


@pytest.mark.parametrize("mode", ["exact", "estimate"])
def test_a_file_of_many_blocks_counts_as_the_text_does(tmp_path: Path, mode: tokens.Mode) -> None:
    """Blocks are cut at token starts, so exact counts add up; features of blocks, and so estimates, always do."""
    text = "".join((STDLIB / name).read_text("utf-8") for name in ("argparse.py", "typing.py", "inspect.py")) * 8
    (tmp_path / "big.py").write_text(text)
    assert len(text) > 2 << 20
    counted = Workspace(tmp_path).count_file("big.py", mode=mode)
    exact = tokens.count(text, mode="exact").tokens
    assert counted.low <= exact <= counted.high
    assert counted == tokens.count(text, mode=mode)


def test_the_estimate_of_one_long_line_holds_a_block_of_it(tmp_path: Path) -> None:
    """A line has no place where it could be cut, and the estimate needs none."""
    line = b'{"id": 1234, "tags": ["x", "y"]}, ' * 250_000
    (tmp_path / "line.json").write_bytes(line)
    tracemalloc.start()
    try:
        counted = Workspace(tmp_path).count_file("line.json", mode="estimate")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 << 20 < len(line)  # a block of 1 MiB, and the 2 MiB that the estimator remembers
    assert counted == tokens.count(line)


class _Block(bytes):
    """A block that notes how many bytes are copied to append it to others."""

    copied = 0

    def __radd__(self, before: bytes) -> bytes:
        _Block.copied += len(before) + len(self)
        return before + bytes(self)


class _Line:
    """A source of one line."""

    def blocks(self, size_bytes: int) -> list[bytes]:
        return [_Block(b"a" * 16)] * 64


def test_a_line_of_many_blocks_is_not_copied_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exact count needs the whole line; it is put together once."""
    monkeypatch.setattr(_Block, "copied", 0)
    assert list(folder._token_blocks(_Line())) == [b"a" * 16 * 64]  # type: ignore[arg-type]
    assert _Block.copied <= 16 * 64


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
