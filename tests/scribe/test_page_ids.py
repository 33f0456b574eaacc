"""Ids of pages: two are never one file, and each is a file name on any system."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from penstock.scribe.page_ids import PageIds

_DEVICES = ["CON", "prn", "AUX", "NUL", "CONIN$", "CONOUT$", "COM1", "LPT9"]
_NAMES = st.sampled_from([*_DEVICES, "CON_", "'NUL'", "PAY", "pay", "A.B", "A/B", ""]) | st.text(max_size=70)


@given(st.lists(st.tuples(_NAMES, st.sampled_from(["a.cbl", "x/CON.cbl", "ü"]))))
def test_every_id_is_a_file_name_of_its_own_on_any_system(programs: list[tuple[str, str]]) -> None:
    """Windows has no file `CON.html`, ignores case, and drops a period at the end."""
    ids = PageIds()
    made = [ids.of(program, path) for program, path in programs]
    assert len({one.lower() for one in made}) == len(made)
    devices = {device.lower() for device in _DEVICES}
    for one in made:
        assert re.fullmatch(r"[\w#@$.-]{1,70}", one, re.ASCII), one
        assert one.partition(".")[0].lower() not in devices
        assert not one.endswith(".")
