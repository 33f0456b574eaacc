"""Programs of others, which tests run beside ours: where each lives, and what happens where it cannot be had."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from platform import python_version
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS_CACHE = Path(os.environ.get("PENSTOCK_TOOLS") or Path.home() / ".cache" / "penstock-tools")
"""Where they are kept from one run to the next."""
_INSTALL_SECONDS = 300


def miss(what: str) -> NoReturn:
    """Skip the test for want of something; fail it where all is required."""
    if os.environ.get("PENSTOCK_TEST_REQUIRE") == "all":
        pytest.fail(what)
    pytest.skip(what)


@contextmanager
def one_at_a_time(lock: Path) -> Iterator[None]:
    """Several workers may want the same thing: the first makes it, the others find it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def python_with(name: str, *pins: str) -> Path:
    """A Python that has these packages, installed once; without them the test is missing something.

    Each version of Python has its own, since two suites may run at once, and what one builds anew is in use by the other.
    """
    folder = TOOLS_CACHE / f"{name}-{python_version()}"
    python, built = folder / "bin" / "python", folder / ".pins"
    wanted = " ".join((*pins, sys.version))
    with one_at_a_time(folder.with_name(f"{folder.name}.lock")):
        if not built.exists() or built.read_text() != wanted:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
            install = [str(python), "-m", "pip", "install", "-qq", "--retries", "1", "--only-binary", ":all:", *pins]
            done = subprocess.run(install, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
            if done.returncode != 0:
                miss(f"{' and '.join(pins)} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
            built.write_text(wanted)
    return python
