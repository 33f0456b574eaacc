"""What tests of hooks lean on: turns that are counted for each test alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _turns_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test took of a turn is not counted here."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
