"""The docs run: every Python example of every page, in order, page by page."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from penstock import settings
from penstock.workspace.root import Root

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
    """docs/cli.md is the `--help` of the commands, docs/configuration.md the records that are read, no name more or less."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/docs.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_profile_of_the_configuration_page_can_be_chosen(tmp_path: Path) -> None:
    """Its `penstock.toml` is understood, and says what the page says."""
    blocks = re.findall(
        r"^```toml\n(.*?)^```", (ROOT / "docs/configuration.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "penstock.toml").write_text("".join(blocks))
    with closing(Root(tmp_path)) as root:
        assert settings.load(root, {}).view_lines == 200
        limits = settings.profile_of(root, "careful")
    assert (limits.reserve_tokens, limits.loop_advice, limits.errors.total) == (12_000, 2, 3)


def test_the_picture_of_the_rooms_names_each_in_the_order_of_the_layers() -> None:
    """docs/architecture.md draws what there is under src/penstock, from the top down as .importlinter has it."""
    layers = (ROOT / ".importlinter").read_text("utf-8").split("layers =", 1)[1].split("[importlinter:", 1)[0]
    layer_of = {name: n for n, line in enumerate(layers.splitlines()) for name in re.findall(r"penstock\.(\w+)", line)}
    public_paths = {"tokens", "transcript", "compaction", "recovery", "handoff"}
    drawn = re.findall(r"^  (\w+)(?:/|\.py) ", (ROOT / "docs/architecture.md").read_text("utf-8"), re.MULTILINE)
    drawn.remove("__init__")
    assert sorted(drawn) == sorted(layer_of.keys() - public_paths - {"__main__"} - {"version"})
    assert [layer_of[name] for name in drawn] == sorted(layer_of[name] for name in drawn)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """A relative link names a file of the repository."""
    for target in re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
