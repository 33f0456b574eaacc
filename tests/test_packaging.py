"""What does a package index show, and what does an installer receive? The metadata as built."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
HOME = "https://github.com/penstock/penstock"
LINK = re.compile(r"\]\(([^)\s]+)|^\[[^\]]+\]:\s*(\S+)|(?:href|src)=[\"']([^\"']+)", re.MULTILINE)


@pytest.fixture(scope="module")
def metadata() -> dict[str, Any]:
    """Return the metadata of a distribution, made by the build backend itself."""
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "metadata"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_no_link_of_the_readme_is_relative_where_it_is_published(metadata: dict[str, Any]) -> None:
    """A package index shows only the README: every link is absolute, and links to the repository name existing files."""
    text = metadata["readme"]["text"]
    links = ["".join(groups) for groups in LINK.findall(text)]
    assert len(links) == len(LINK.findall((ROOT / "README.md").read_text())) > 20
    for link in links:
        assert link.startswith(("https://", "#")), link
        ours = re.match(rf"{HOME}/(?:blob|raw|tree)/main/([^#]+)", link)
        assert ours is None or (ROOT / ours[1]).exists(), link
    assert text.partition("\n")[0] == "# Penstock"
    assert metadata["readme"]["content-type"] == "text/markdown"


def test_a_package_index_links_to_the_project(metadata: dict[str, Any]) -> None:
    """The metadata links to the repository, the documentation, the issues and the changelog."""
    assert metadata["urls"].keys() == {"Homepage", "Documentation", "Issues", "Changelog"}
    assert all(url.startswith(HOME) for url in metadata["urls"].values())


def test_all_is_every_extra() -> None:
    """`penstock[all]` includes every extra."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (everything,) = extras.pop("all")
    assert everything == f"penstock[{','.join(extras)}]"
