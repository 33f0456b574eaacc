"""An estate is read and drawn, in one process or in several."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest
from tests.scribe.pages.conftest import MILLWATER

from penstock.scribe import graphing
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.cobol.graph import ProgramPart


class _Ending(graphing._Reader):
    """One whose process the system ends at the first file."""

    def __call__(self, number: int) -> list[ProgramPart]:
        if number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(number)


@pytest.mark.proves("C-16")
def test_the_graph_is_the_same_in_one_process_and_in_two() -> None:
    """Parts come in the order of their files, whoever drew them."""
    one, two = (graphing.draw(Root(str(MILLWATER)), ["."], processes=count) for count in (1, 2))
    assert one.graph.parts == two.graph.parts
    assert len(one.graph.parts) > 20
    assert list(one.graph.drawn) == list(two.graph.drawn)


def test_a_file_that_ends_every_process_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn is of the others, and the answer is told to be less than all."""
    for name in ("ONE", "TWO"):
        (tmp_path / f"{name}.cbl").write_text(
            f"       PROGRAM-ID. {name}.\n       PROCEDURE DIVISION.\n           STOP RUN.\n"
        )
    monkeypatch.setattr(graphing, "_Reader", _Ending)
    estate = graphing.draw(Root(str(tmp_path)), ["."], processes=2)
    assert [part.name for part in estate.graph.parts] == ["TWO"]
    reason = "the process that read it ended twice: signal 9, then signal 9"
    assert [(one.path, one.reason) for one in estate.skipped] == [("ONE.cbl", reason)]
