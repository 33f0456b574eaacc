"""Is a value that waits between reading and writing returned as it was, whichever process stored it?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.scribe.spool import Spool, spooled

if TYPE_CHECKING:
    from pathlib import Path


def test_what_is_taken_is_what_was_put(tmp_path: Path) -> None:
    """Any process that shares the folder finds each value in its place, and all are removed with the run."""
    values = [{"name": "A", "lines": [1, 2]}, ["x" * 70_000, ("y", None)], "", {"é": 1.5}]
    with spooled(str(tmp_path)) as one:
        other = Spool(one.folder)
        places = [spool.put(value) for value in values for spool in (one, other)]
        assert [one.take(place) for place in places] == [value for value in values for _ in range(2)]
        assert other.take(places[2]) == values[1]
    assert list(tmp_path.iterdir()) == []
