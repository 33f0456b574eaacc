"""A real browser for tests: Debian's Chromium, driven by Playwright, which lives in an environment of its own."""

from __future__ import annotations

import shutil

from tests.environments import miss, python_with


def python_of_playwright() -> str:
    """A Python that has Playwright."""
    return str(python_with("browser"))


def path_of_chromium() -> str:
    """The browser; without it the test is missing something."""
    return shutil.which("chromium") or miss("chromium is not installed (Debian package chromium)")
