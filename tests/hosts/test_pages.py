"""Does each agent's page say what `penstock install` does there?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.hosts import HOOK_NAMES, hook_host
from penstock.hosts.catalogue import HOST_CONFIGS, HostSurroundings

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "hosts").glob("*.md"))
AROUND = HostSurroundings(home="~", project="", environment={}, platform="linux")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_the_files_that_change(page: Path) -> None:
    """It covers all projects and one, the variable that moves the files, and where results are cut."""
    text, host = page.read_text("utf-8"), HOST_CONFIGS[page.stem]
    assert f"penstock install {page.stem}" in text
    assert f"penstock uninstall {page.stem}" in text
    for file in [host.servers.file, *([host.hooks.file] if host.hooks else [])]:
        for scope in ("user", "project"):
            path = file.path(scope, AROUND)
            assert path is not None
            assert f"`{path}`" in text, path
        assert file.user is None or f"`{file.user.variable}`" in text
    if page.stem in HOOK_NAMES:
        hooked = hook_host(page.stem)
        assert f"{hooked.budget:,}" in text or page.stem == "claude"
        version = re.search(r"\((\d+\.\d+\.\d+)\)", hooked.measured)
        assert version
        assert f"Measured with {version[1]}" in text
        assert (DOCS / "pictures" / f"host-{page.stem}.svg").exists()


def test_each_agent_of_the_command_line_has_a_page() -> None:
    """Those that run here have pages; the editors are in docs/install.md."""
    assert {page.stem for page in PAGES} == {"claude", "codex", "gemini", "opencode", "qwen", "copilot"}


@pytest.mark.parametrize("name", HOOK_NAMES)
def test_what_is_installed_is_what_the_hook_answers(name: str) -> None:
    """Every configured event is one that the host sends, and every one that it sends is answered."""
    config = HOST_CONFIGS[name].hooks
    assert config is not None
    events = (config.event, *config.around)
    assert hook_host(name).result_event == config.event
    if config.around:
        assert sorted(events) == sorted(hook_host(name).events)
