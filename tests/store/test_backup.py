"""Is a store copied whole while others write to it, by the lines in docs/store.md?"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from penstock.store import open_store

DOCS = Path(__file__).parents[2] / "docs" / "store.md"
WRITER = """
import sys
from penstock.store import open_store
store = open_store(sys.argv[1])
for n in range(10**6):
    handle = store.put(b"%d " % n * 40_000)  # a file of its own
    store.append("s", n, "kept", {"handle": handle})
    print(n, flush=True)
"""


@pytest.mark.needs("flock")
def test_a_store_that_is_written_to_is_copied_whole(tmp_path: Path) -> None:
    """The copy is sound and has everything acknowledged before it began, while the writer continues."""
    (command,) = re.findall(r"^(flock .*)$", DOCS.read_text(), re.MULTILINE)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path / "my-store")], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        for _ in range(2):
            last = int(writer.stdout.readline())
            shutil.rmtree(tmp_path / "my-store.copy", ignore_errors=True)
            subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
            with closing(open_store(str(tmp_path / "my-store.copy"))) as copy:
                assert copy.check() == []
                records = list(copy.events("s"))
                assert len(records) > last
                newest = f"{len(records) - 1} ".encode()
                assert copy.read(str(records[-1].data["handle"]), 0, len(newest)) == newest
            assert int(writer.stdout.readline()) > last
        writer.kill()
