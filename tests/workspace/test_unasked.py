"""What other programs run by themselves is known by its name, however that is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.workspace.unasked import guarded_places, hooks_elsewhere, why_unasked

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("S-16")


def words(text: str) -> list[str]:
    """The paths in a text; none of them has a blank."""
    return text.split()


RUN = words(
    """
    .git/hooks/pre-commit  .git/config  .git  sub/.git  sub/.git/info/attributes  .GIT/config  .Git/hooks/x  .git./config
    .git::$INDEX_ALLOCATION/config  git~1/hooks/pre-commit  GIT~1/config  .g‌it/config  .gi\ufefft/hooks/x  .hg/hgrc
    .svn/x  .jj/x  .husky/pre-commit  .husky/_/husky.sh  .githooks/pre-push  lefthook.yml  .lefthook-local.yml
    .pre-commit-config.yaml  .pre-commit-config.yml  .envrc  sub/.envrc  .ENVRC  mise.toml  .mise.toml  .mise.local.toml
    .mise/tasks/x  .vscode/tasks.json  .vscode/settings.json  .idea/workspace.xml  .devcontainer/devcontainer.json
    .devcontainer.json  a.code-workspace  .exrc  .vimrc  .nvimrc  .nvim.lua  .dir-locals.el  .zed/tasks.json
    .claude/settings.json  .claude/hooks/x.sh  .mcp.json  .gemini/settings.json  .codex/config.toml  .cursor/mcp.json
    opencode.json  .github/hooks/x.json  .bashrc  .profile  .bash_profile  .zshrc  .zshenv  .config/fish/config.fish
    .config/autostart/x.desktop  .config/systemd/user/x  sitecustomize.py  lib/usercustomize.py
    venv/lib/site-packages/x.pth  sub/HEAD  Head  .gitconfig  .config/git/config  .windsurf/hooks.json  .kiro/hooks/x  .roo/mcp.json
    crush.json  .Rprofile  Library/LaunchAgents/x.plist  .local/share/systemd/user/x.service
    """
)
NOT = words(
    """
    git/hooks.py  .gitignore  .gitattributes  .gitmodules  .gitkeep  src/git.py  agit  .github/workflows/ci.yml  Makefile
    package.json  conftest.py  .env.example  .editorconfig  docs/.vscodeish  vscode/tasks.json  bashrc  profile.py
    x.bashrc.md  husky/pre-commit  README.md  lefthook.md  my.mise.toml.txt  claude/settings.json  .claudeignore  pth
    templates/head  head/x.html  HEAD.md  x.path  .vimrc.md  .config/app/config.toml
    """
)


@pytest.mark.parametrize("path", [*RUN, ".git /config"])
def test_it_is_known(path: str) -> None:
    """With the reason, which names who runs it."""
    assert " run" in why_unasked(path.encode())


@pytest.mark.parametrize("path", NOT)
def test_other_files_are_not(path: str) -> None:
    """Names that look alike, what a person starts, and what runs elsewhere."""
    assert why_unasked(path.encode()) == ""


def test_what_is_allowed_is_named_whole() -> None:
    """A folder allows what is in it, a file itself; the beginning of a name is none."""
    path = b".git/hooks/pre-commit"
    for allowed in (b".git", b".git/", b".git/hooks", path):
        assert why_unasked(path, [allowed]) == ""
    for allowed in (b".gi", b".git/hook", b".git/hooks/pre-commit/x", b"sub"):
        assert why_unasked(path, [allowed])


def test_hooks_lie_where_the_configuration_says(tmp_path: Path) -> None:
    """Of the repository that a root is, or stands in; what leads out of the root is no matter of ours."""
    root = tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    (root / "scripts/hooks").mkdir(parents=True)
    config = root / ".git/config"
    config.write_text('[core]\n\tbare = false\n\thooksPath = "scripts/hooks" # ours\n[user]\n\tname = me\n')
    assert hooks_elsewhere(str(root)) == (b"scripts/hooks",)
    assert hooks_elsewhere(str(root / "scripts")) == (b"hooks",)
    assert "hooks" in why_unasked(b"scripts/hooks/pre-commit", hooks=hooks_elsewhere(str(root)))
    assert why_unasked(b"scripts/hooks2/x", hooks=hooks_elsewhere(str(root))) == ""
    assert guarded_places(str(root))[0] == str(root / "scripts/hooks")
    assert str(root / "scripts/hooks") not in guarded_places(str(root), [b"scripts"])
    for other in ("[core]\n\thookspath = /etc/hooks\n", "[core]\n\thooksPath =\n", "", "hooksPath = ../x\n"):
        config.write_text(other)
        assert hooks_elsewhere(str(root)) == ()
    config.unlink()
    assert hooks_elsewhere(str(root)) == ()
