"""On what do the tests of hooks rely? On turns that are counted for each test separately."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _turns_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep another test's use of a turn from counting here."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
