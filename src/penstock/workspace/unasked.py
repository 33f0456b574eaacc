"""Files that other programs run without being asked: whoever may write them may do anything, at the next commit or `cd` (S-16).

The short list is of what acts by itself on a developer's machine: at a commit, when a folder is entered or opened, when a shell
or an agent begins. What a person starts knowingly (`make`, `npm test`, a test run) is not on it, nor what runs elsewhere (CI).
Names only, compared as the laxest file system does: case, ignorable characters, dots and blanks at the end do not count. Keeps
out: who asks (`agent.editing`, `agent.shell`).

Sources: githooks(5), gitattributes(5) of filters that `.git/config` names; direnv; husky; the documents of each editor and agent;
the names that git itself refuses in trees (`.git` on HFS+ and NTFS, CVE-2014-9390, CVE-2019-1352).
"""

from __future__ import annotations

import os
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_PLACES = {
    "git runs its hooks, and what its configuration names": (r"\.git", r"git~\d", r"\.githooks"),
    "another version control runs its hooks": (r"\.hg", r"\.svn", r"\.jj"),
    "git hooks run it at the next commit": (
        r"\.husky",
        r"\.lefthook(?:-local)?\.(?:ya?ml|toml|json)",
        r"lefthook(?:-local)?\.(?:ya?ml|toml|json)",
        r"\.pre-commit-config\.ya?ml",
        r"\.overcommit\.yml",
        r"\.simple-git-hooks\.(?:c?js|json)",
    ),
    "direnv or mise runs it when a shell enters the folder": (
        r"\.envrc",
        r"\.direnv",
        r"\.?mise(?:\.local)?\.toml",
        r"\.mise",
    ),
    "an editor runs it when the folder is opened": (
        r"\.vscode",
        r"\.idea",
        r"\.zed",
        r"\.fleet",
        r"\.devcontainer",
        r"\.devcontainer\.json",
        r"[^/]*\.code-workspace",
        r"\.exrc",
        r"\.n?vimrc",
        r"\.nvim\.lua",
        r"\.vim",
        r"\.dir-locals(?:-2)?\.el",
    ),
    "an agent runs the hooks and servers that it names": (
        r"\.claude",
        r"\.codex",
        r"\.gemini",
        r"\.qwen",
        r"\.cursor",
        r"\.opencode",
        r"opencode\.jsonc?",
        r"\.mcp\.json",
        r"\.github/hooks",
    ),
    "every new shell runs it": (
        r"\.(?:bash_profile|bash_login|bash_logout|bashrc|profile|zshenv|zprofile|zshrc|zlogin|zlogout|kshrc|cshrc|tcshrc|login)",
        r"\.config/fish",
        r"\.bash_aliases",
    ),
    "the system runs it when somebody logs in": (
        r"\.config/autostart",
        r"\.config/systemd",
        r"\.xinitrc",
        r"\.xprofile",
        r"\.xsession",
    ),
    "Python runs it whenever it starts here": (r"sitecustomize\.py", r"usercustomize\.py", r"[^/]*\.pth"),
}
_WHY = {why: re.compile(rf"(?:^|/)(?:{'|'.join(places)})(?:/|\Z)", re.DOTALL) for why, places in _PLACES.items()}


_OF_GIT = ("hooks", "config", "config.worktree")
_INSTALLED = {"node_modules", "site-packages", ".venv", "venv", ".tox", ".nox"}
_MAX_ENTRIES = 20_000


def standing(root: str | bytes) -> bytes:
    """Return the path of a root from the top of its project, with a `/` at its end, for `why_unasked` to begin names with.

    A root may be a `.git` itself, or stand in one: names beneath it say nothing then. The top is the nearest folder above that
    has a `.git`, the root included: a work tree that an agent keeps in `.claude/worktrees` is a project of its own. Where there is
    none it is the root of the system. A folder that git uses is `.git`, whatever its name.

    Args:
        root: The folder, absolute and without links in its path.
    """
    folder, parts = os.fsencode(root), [b""]
    while not os.path.lexists(os.path.join(folder, b".git")):
        above, name = os.path.split(folder)
        if above == folder:
            break
        # gitrepository-layout(5): a bare repository has these three at its top, and any name.
        is_git = all(os.path.lexists(os.path.join(folder, part)) for part in (b"HEAD", b"objects", b"refs"))
        parts.append(b".git" if is_git else name)
        folder = above
    return b"/".join(reversed(parts))


def why_unasked(relative: bytes, allowed: Iterable[bytes] = (), *, above: bytes = b"") -> str:
    """Return what runs the file at a path without being asked; empty where nothing is known to.

        >>> why_unasked(b"app/.GIT/hooks/pre-commit")
        'git runs its hooks, and what its configuration names'

    Args:
        relative: A path relative to a root.
        allowed: Paths of files and folders that may be written all the same, relative to the root too; `.` is all of it.
        above: Where the root stands, as `standing` says it.
    """
    if any(one in {b".", relative} or relative.startswith(one.rstrip(b"/") + b"/") for one in allowed):
        return ""
    path = above + (b"" if relative == b"." else relative)
    plain = "/".join(map(_plain, path.decode("utf-8", "surrogateescape").split("/")))
    return next((why for why, places in _WHY.items() if places.search(plain)), "")


def guarded_places(root: str, allowed: Iterable[bytes] = ()) -> list[str]:
    """Return what stands in a folder of the user's that other programs run unasked, for a wall that lets it be read alone.

    Of a `.git` that is a folder it is the hooks and the configuration, so that commits go on; the folder itself comes first, with
    a `/` at its end: it may be written and not moved away. Links are left out: what they name is not theirs to guard. Folders
    of installed packages are not looked into, nor more than 20,000 entries in all, from the top down. A root that stands in such
    a place itself is all that there is.

    Args:
        root: The folder, without links in its path.
        allowed: As for `why_unasked`.
    """
    if why_unasked(b".", allowed, above=standing(root)):
        return [root]
    found: list[str] = []
    seen = 0
    level = [""]
    while level and seen < _MAX_ENTRIES:
        below: list[str] = []
        for folder in level:
            for entry in _entries(os.path.join(root, folder)):
                seen += 1
                path = folder + entry.name
                if entry.name == ".git" and entry.is_dir(follow_symlinks=False):
                    inner = [f"{path}/{name}" for name in _OF_GIT if os.path.lexists(os.path.join(root, path, name))]
                    inner = [name for name in inner if why_unasked(os.fsencode(name), allowed)]
                    found += [f"{path}/", *inner] if inner else []
                elif why_unasked(os.fsencode(path), allowed):
                    found += [] if entry.is_symlink() else [path]
                elif entry.is_dir(follow_symlinks=False) and entry.name not in _INSTALLED:
                    below.append(f"{path}/")
        level = below
    return [os.path.join(root, path) for path in found]


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder, by name; nothing for one that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _plain(name: str) -> str:
    """Return a name as the laxest file system compares it."""
    # HFS+ ignores characters of no width, NTFS what stands behind a colon and dots and blanks at the end; both, and others,
    # ignore case.
    visible = "".join(
        character for character in unicodedata.normalize("NFC", name) if unicodedata.category(character) != "Cf"
    )
    return visible.casefold().partition(":")[0].rstrip(". ")
