"""A real browser for tests: Debian's Chromium, driven by Playwright, which has its own environment."""

from __future__ import annotations

import shutil

from tests.environments import miss, python_with


def python_of_playwright() -> str:
    """Return a Python that has Playwright."""
    return str(python_with("browser"))


def path_of_chromium() -> str:
    """Return the browser's path; without Chromium the test is skipped, or fails if everything is required."""
    return shutil.which("chromium") or miss("chromium is not installed (Debian package chromium)")
