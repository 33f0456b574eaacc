"""Are files that other programs run unasked recognised by their names, however those are written?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from penstock.workspace.unasked import (
    can_be_guarded,
    hooks_elsewhere,
    set_aside,
    unasked_places,
    why_unasked,
    why_unasked_at,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("S-16")


def guarded_places(root: Path, *allowed: bytes) -> list[str]:
    """Return what a wall makes read-only, as the shell asks for it."""
    return list(filter(can_be_guarded, unasked_places(str(root), allowed)))


def words(text: str) -> list[str]:
    """Return the paths in a text; none of them has a space."""
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
    """The reason names the program that runs it."""
    assert " run" in why_unasked(path.encode())


@pytest.mark.parametrize("path", NOT)
def test_other_files_are_not(path: str) -> None:
    """These are similar names, what a person starts, and what runs elsewhere."""
    assert why_unasked(path.encode()) == ""


def test_what_is_allowed_is_named_whole() -> None:
    """A folder allows what is in it, a file only itself; the beginning of a name allows nothing."""
    path = b".git/hooks/pre-commit"
    for allowed in (b".git", b".git/", b".git/hooks", path):
        assert why_unasked(path, [allowed]) == ""
    for allowed in (b".gi", b".git/hook", b".git/hooks/pre-commit/x", b"sub"):
        assert why_unasked(path, [allowed])


def test_hooks_are_where_the_configuration_says(tmp_path: Path) -> None:
    """The configuration is that of the repository that a root is, or is in; what leads out of the root is not relevant."""
    root = tmp_path / "root"
    (root / ".git").mkdir(parents=True)
    (root / "scripts/hooks").mkdir(parents=True)
    config = root / ".git/config"
    config.write_text('[core]\n\tbare = false\n\thooksPath = "scripts/hooks" # ours\n[user]\n\tname = me\n')
    assert hooks_elsewhere(str(root)) == (b"scripts/hooks",)
    assert hooks_elsewhere(str(root / "scripts")) == (b"hooks",)
    assert "hooks" in why_unasked(b"scripts/hooks/pre-commit", hooks=hooks_elsewhere(str(root)))
    assert why_unasked(b"scripts/hooks2/x", hooks=hooks_elsewhere(str(root))) == ""
    assert guarded_places(root)[0] == str(root / "scripts/hooks")
    assert str(root / "scripts/hooks") not in guarded_places(root, b"scripts")
    for other in ("[core]\n\thookspath = /etc/hooks\n", "[core]\n\thooksPath =\n", "", "hooksPath = ../x\n"):
        config.write_text(other)
        assert hooks_elsewhere(str(root)) == ()
    config.unlink()
    assert hooks_elsewhere(str(root)) == ()


def repository(folder: Path) -> Path:
    """Make a folder that git takes for a repository, with a configuration and a hook."""
    for part in ("objects", "refs", "hooks"):
        (folder / part).mkdir(parents=True)
    for part in ("HEAD", "config", "hooks/pre-commit"):
        (folder / part).write_text("")
    return folder


def guarded(root: Path, *allowed: bytes) -> set[str]:
    """Return what a wall makes read-only, relative to the root."""
    return {os.path.relpath(path, root) for path in guarded_places(root, *allowed) if not path.endswith("/")}


def test_hooks_are_also_there_by_another_spelling(tmp_path: Path) -> None:
    """On a disk that ignores case, it is the same file."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text(
        '[core]\n hooksPath = tools/Hooks\n[filter "x"]\n clean = ./tools/cl\u00e9an.sh\n'
    )
    (tmp_path / "sub/.git").mkdir(parents=True)
    (tmp_path / "sub/.git/config").write_text("[core]\n hooksPath = checks\n")
    for path in ("TOOLS/hooks/pre-commit", "tools/hooks./pre-commit", "tools/cle\u0301an.SH", "sub/CHECKS/pre-commit"):
        assert "git's configuration names it" in why_unasked_at(str(tmp_path), path.encode())
    assert why_unasked_at(str(tmp_path), b"tools/hook/pre-commit") == ""


@pytest.mark.parametrize("command", ["add :/", "log ./...", "!git grep x -- :/"])
def test_a_word_of_a_command_that_names_no_file_guards_none(tmp_path: Path, command: str) -> None:
    """No file system takes `:` or `...` for the folder that it is in."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config").write_text(f"[alias]\n x = {command}\n")
    assert why_unasked_at(str(tmp_path), b"src/a.py") == ""


def test_a_repository_may_have_any_name(tmp_path: Path) -> None:
    """It may be next to its work tree, bare, with submodules and work trees; a work tree within one is a separate project."""
    root = tmp_path / "root"
    data = repository(root / ".bare")
    (root / ".git").write_text("gitdir: ./.bare\n")
    repository(data / "modules/libs/sub")
    (data / "worktrees/main").mkdir(parents=True)
    for part in ("commondir", "gitdir"):
        (data / "worktrees/main" / part).write_text("")
    (data / "main/src").mkdir(parents=True)
    (data / "main/.git").write_text("gitdir: ../worktrees/main\n")
    for path in (".bare/hooks/pre-commit", ".bare/config", ".bare/hooks/new", ".bare/modules/libs/sub/config"):
        assert "git" in why_unasked_at(str(root), path.encode()), path
        assert not why_unasked_at(str(root), path.encode(), [b".bare"])
    assert not why_unasked_at(str(root), b".bare/main/src/new.py")
    assert not why_unasked_at(str(root), b"src/config")
    own = {".bare/config", ".bare/hooks", ".bare/worktrees/main/commondir", ".bare/worktrees/main/gitdir"}
    below = {".bare/modules/libs/sub/config", ".bare/modules/libs/sub/hooks"}
    assert guarded(root) == {".git", ".bare/main/.git", *own, *below}
    assert guarded(root, b".bare", b".git") == set()
    # A folder that holds any of it may not be moved away.
    held = {path for path in guarded_places(root) if path.endswith("/")}
    assert {str(data) + "/", f"{data}/modules/", f"{data}/modules/libs/", f"{data}/modules/libs/sub/"} == held


def test_the_configuration_of_a_work_tree_is_elsewhere(tmp_path: Path) -> None:
    """It is in the shared repository, with the files it includes; a project within the root has its own."""
    shared = repository(tmp_path / "main/.git")
    (shared / "worktrees/wt").mkdir(parents=True)
    (shared / "worktrees/wt/commondir").write_text("../..\n")
    (shared / "config").write_text(f"[include]\n\tpath = {tmp_path}/wt/tools/gitconfig\n[core] hooksPath=ci/hooks\n")
    root = tmp_path / "wt"
    for path in ("tools", "ci/hooks", "inner/.git", "inner/run"):
        (root / path).mkdir(parents=True)
    (root / ".git").write_text(f"gitdir: {shared}/worktrees/wt\n")
    (root / "tools/gitconfig").write_text("[core]\n\thooksPath = tools/hooks\n[submodule]\n\tpath = src\n")
    (root / "inner/.git/config").write_text("[core]\n\thooksPath = run\n")
    for path in ("ci/hooks/x", "tools/gitconfig", "tools/hooks/new", "inner/run/pre-commit"):
        assert "git" in why_unasked_at(str(root), path.encode()), path
    assert not why_unasked_at(str(root), b"src/x")
    assert not why_unasked_at(str(root), b"run/x")
    assert guarded(root) >= {"ci/hooks", "tools/gitconfig", "inner/run", "inner/.git/config", ".git"}
    (root / ".git").write_text("gitdir: \0\n")
    assert hooks_elsewhere(str(root)) == ()


def test_what_command_lines_of_the_configuration_name_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This covers the repository's and the user's configuration; words that lead to no file of the tree are ignored."""
    root = tmp_path / "root"
    for folder in (".git", "tools", "dotfiles", "src"):
        (root / folder).mkdir(parents=True)
    for file in ("mon.py", "dotfiles/gitconfig", "tools/there.sh"):
        (root / file).write_text("")
    (tmp_path / "home").mkdir()
    (tmp_path / "home/.gitconfig").symlink_to(root / "dotfiles/gitconfig")
    for name, value in (("HOME", str(tmp_path / "home")), ("XDG_CONFIG_HOME", ""), ("GIT_CONFIG_GLOBAL", "")):
        monkeypatch.setenv(name, value)
    (root / "dotfiles/gitconfig").write_text("[core]\n\thooksPath = ci/hooks\n")
    (root / ".git/config").write_text(
        "[core]\n\tfsmonitor = python3 mon.py\n\tsshCommand = ./ssh.sh -v\n\teditor = src\n"
        '[filter "x"]\n\tclean = tools/clean.sh %f\n\tsmudge = "sh -c \\"exec tools/smudge \\\\\n%f\\""\n\trequired = true\n'
        '[diff "p"]\n\ttextconv = "python3 tools/p.py"\n[alias]\n\tz = !tools/z.sh | cat\n\ts = status\n'
        '[credential]\n\thelper = ./helper\n[remote "origin"]\n\turl = src/a\n[user]\n\tname = tools/there.sh\n'
        "[init]\n\ttemplateDir = new\n"
        '[diff "q"]\n\ttextconv = python3 \\\n\t\ttools/q.py\n'  # which continues in the next line
    )
    run = "new/hooks/x mon.py ssh.sh tools/clean.sh tools/smudge tools/p.py tools/q.py tools/z.sh helper ci/hooks/x"
    for path in (*run.split(), "dotfiles/gitconfig"):
        assert "git" in why_unasked_at(str(root), path.encode()), path
    for path in ("src/x.py", "status", "src/a", "tools/there.sh", "tools/other.sh", "x"):
        assert not why_unasked_at(str(root), path.encode()), path
    assert "mon.py" in guarded(root)
    assert not why_unasked_at(str(root), b"mon.py", [b"mon.py"])


def test_a_project_within_a_root_does_not_bypass_it(tmp_path: Path) -> None:
    """What is run is also judged from the root: by its list, and by the configuration of its repository."""
    for folder in (".git", "inner/.git", "inner/run", ".husky/inner/.git"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / ".git/config").write_text("[core]\n\thooksPath = inner/run\n")
    for path in ("inner/run/pre-commit", ".husky/inner/pre-commit", "inner/HEAD"):
        assert "git" in why_unasked_at(str(tmp_path), path.encode()), path
    assert not why_unasked_at(str(tmp_path), b"inner/src/x")


def test_the_last_part_of_a_repository_is_refused(tmp_path: Path) -> None:
    """It may be any of the three if the other two exist; on a disk that takes `head` for `HEAD` that completes it."""
    for part in ("x/HEAD", "x/objects/a", "y/objects/a", "y/refs/a"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).write_text("")
    assert "repository" in why_unasked_at(str(tmp_path), b"x/refs/heads/main")
    assert "repository" in why_unasked_at(str(tmp_path), b"y/head")
    for path in (b"x/main.py", b"z/refs/a", b"head", b"y/heads/a"):
        assert not why_unasked_at(str(tmp_path), path)


def test_what_a_repository_did_not_have_is_set_aside_in_it_and_in_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link in place of the parent folder leads to somebody else's repository, in which nothing is renamed."""

    def refused(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    root, theirs = tmp_path / "root", tmp_path / "theirs"
    for top in (root / "work", theirs):
        for folder in ("objects", "refs"):
            (top / ".git" / folder).mkdir(parents=True)
        (top / ".git" / "HEAD").write_text("ref: refs/heads/main")
        (top / ".git" / "commondir").write_text("/elsewhere")
    before = [f"{root}/work/.git/"]
    (root / "work").rename(root / "was")
    (root / "work").symlink_to(theirs)
    assert set_aside(str(root), before) == {}
    (root / "work").unlink()
    (root / "was").rename(root / "work")
    assert set_aside(str(root), [*before, f"{root}/work/.git/commondir"]) == {}
    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refused)
        assert set_aside(str(root), before) == {}, "it stays, and whoever asks what is new is told of it"
    (moved,) = set_aside(str(root), before).items()
    assert moved[0] == "work/.git/commondir"
    assert (root / moved[1]).read_text() == (theirs / ".git" / "commondir").read_text()
