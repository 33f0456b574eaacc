"""The docs run: every Python example of every page, in order, page by page."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [p for p in PAGES if EXAMPLE.search(p.read_text("utf-8"))], ids=lambda p: p.name)
def test_the_python_examples_of_a_page_run(page: Path, tmp_path: Path) -> None:
    """What a page tells a reader to type works, in a folder of its own."""
    code = "\n".join(EXAMPLE.findall(page.read_text("utf-8")))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_generated_pages_are_what_the_code_says() -> None:
    """docs/cli.md is the `--help` of the commands."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/docs.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """A relative link names a file of the repository."""
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
