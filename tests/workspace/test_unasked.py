"""What other programs run by themselves is known by its name, however that is written."""

from __future__ import annotations

import pytest

from penstock.workspace.unasked import why_unasked

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
    venv/lib/site-packages/x.pth
    """
)
NOT = words(
    """
    git/hooks.py  .gitignore  .gitattributes  .gitmodules  .gitkeep  src/git.py  agit  .github/workflows/ci.yml  Makefile
    package.json  conftest.py  .env.example  .editorconfig  docs/.vscodeish  vscode/tasks.json  bashrc  profile.py
    x.bashrc.md  husky/pre-commit  README.md  lefthook.md  my.mise.toml.txt  claude/settings.json  .claudeignore  pth
    x.path  .vimrc.md  .config/app/config.toml
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
