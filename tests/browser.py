"""A real browser for tests: Debian's Chromium, driven by Playwright, which lives in an environment of its own.

Where one of them cannot be had the tests are skipped, or fail where all is required.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import NoReturn

import pytest

from tests.testing.conftest import TOOLS_CACHE, one_at_a_time

PIN = "playwright==1.65.2"


def python_of_playwright() -> str:
    """A Python that has Playwright, built once; where it cannot be had the tests are skipped, or fail where all is required."""
    folder = TOOLS_CACHE / "browser"
    python, pins = folder / "bin" / "python", folder / ".pins"
    wanted = f"{PIN} {sys.version}"
    with one_at_a_time(TOOLS_CACHE / "browser.lock"):
        if not pins.exists() or pins.read_text() != wanted:
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True, capture_output=True)
            command = [str(python), "-m", "pip", "install", "-qq", "--retries", "1", "--only-binary", ":all:", PIN]
            done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
            if done.returncode != 0:
                _miss(f"{PIN} cannot be installed: {done.stderr.strip().splitlines()[-1:]}")
            pins.write_text(wanted)
    return str(python)


def path_of_chromium() -> str:
    """The browser; where there is none the tests are skipped, or fail where all is required."""
    return shutil.which("chromium") or _miss("chromium is not installed (Debian package chromium)")


def _miss(what: str) -> NoReturn:
    if os.environ.get("PENSTOCK_TEST_REQUIRE") == "all":
        pytest.fail(what)
    pytest.skip(what)
