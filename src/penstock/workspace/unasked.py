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

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Iterable

# A folder with a HEAD, `objects` and `refs` is a repository of any name, and its `config` names programs that the next `git status`
# runs, also that of a prompt (git-config(1), safe.bareRepository). The smallest of the three decides.
_REPOSITORY = "git takes a folder with it for a repository, and runs what its configuration names"
_OF_REPOSITORY = (b"HEAD", b"objects", b"refs")
_HOOKS_ELSEWHERE = "git runs what lies there as hooks, as its configuration says"
_MAX_CONFIG_BYTES = 1 << 20
_PLACES = {
    "git runs its hooks, and what its configuration names": (
        r"\.git",
        r"git~\d",
        r"\.githooks",
        r"\.gitconfig",
        r"\.config/git",
    ),
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
        r"\.autoenv(?:\.zsh)?",
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
        r"\.(?:windsurf|roo|kiro|continue|amazonq|trae|factory|crush)",
        r"\.?crush\.json",
    ),
    "every new shell runs it": (
        r"\.(?:bash_profile|bash_login|bash_logout|bashrc|profile|zshenv|zprofile|zshrc|zlogin|zlogout|kshrc|cshrc|tcshrc|login)",
        r"\.config/fish",
        r"\.bash_aliases",
    ),
    "the system runs it when somebody logs in": (
        r"\.config/autostart",
        r"\.config/systemd",
        r"\.local/share/systemd",
        r"library/launchagents",
        r"\.pam_environment",
        r"\.xinitrc",
        r"\.xprofile",
        r"\.xsession",
    ),
    "Python runs it whenever it starts here": (r"sitecustomize\.py", r"usercustomize\.py", r"[^/]*\.pth"),
    "R runs it whenever it starts here": (r"\.rprofile",),
}
_WHY = {why: re.compile(rf"(?:^|/)(?:{'|'.join(places)})(?:/|\Z)", re.DOTALL) for why, places in _PLACES.items()}


_HOOKS_PATH = re.compile(rb"^[ \t]*hookspath[ \t]*=[ \t]*([^\r\n]{1,4096})", re.IGNORECASE | re.MULTILINE)
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
        parts.append(b".git" if _is_repository(folder) else name)
        folder = above
    return b"/".join(reversed(parts))


def _is_repository(folder: bytes) -> bool:
    return all(os.path.lexists(os.path.join(folder, part)) for part in _OF_REPOSITORY)


def hooks_elsewhere(root: str | bytes) -> tuple[bytes, ...]:
    """Return where git looks for the hooks of a root's project by its `core.hooksPath`, relative to the root, for `why_unasked`.

    Args:
        root: The folder, absolute and without links in its path.
    """
    from penstock.workspace.own_files import read_own

    folder = os.fsencode(root)
    top = folder
    while not os.path.lexists(os.path.join(top, b".git")) and os.path.dirname(top) != top:
        top = os.path.dirname(top)
    try:
        content = read_own(os.fsdecode(os.path.join(top, b".git", b"config")), _MAX_CONFIG_BYTES) or b""
    except (CallerError, OSError):  # a file `.git`, as of a work tree: its configuration lies elsewhere
        return ()
    found = []
    for line in _HOOKS_PATH.finditer(content):
        value = line[1].split(b" #")[0].split(b" ;")[0].strip().strip(b'"')
        place = os.path.normpath(os.path.join(top, value))
        # `.git/hooks` itself, or a place in it, is known by its name.
        if value and place.startswith(folder.rstrip(b"/") + b"/"):
            found.append(os.path.relpath(place, folder))
    return tuple(found)


def why_unasked(
    relative: bytes, allowed: Iterable[bytes] = (), *, above: bytes = b"", hooks: Iterable[bytes] = ()
) -> str:
    """Return what runs the file at a path without being asked; empty where nothing is known to.

        >>> why_unasked(b"app/.GIT/hooks/pre-commit")
        'git runs its hooks, and what its configuration names'

    Args:
        relative: A path relative to a root.
        allowed: Paths of files and folders that may be written all the same, relative to the root too; `.` is all of it.
        above: Where the root stands, as `standing` says it.
        hooks: Where hooks lie elsewhere, as `hooks_elsewhere` says it.
    """
    if _is_among(relative, allowed):
        return ""
    name = relative.rpartition(b"/")[2]
    if name.upper() == b"HEAD" and not name.islower():  # a folder of templates may be called `head`
        return _REPOSITORY
    return _HOOKS_ELSEWHERE if _is_among(relative, hooks) else _listed(relative, above)


def _is_among(relative: bytes, places: Iterable[bytes]) -> bool:
    """Return whether a path is one of these places, or lies in one."""
    return any(one in {b".", relative} or relative.startswith(one.rstrip(b"/") + b"/") for one in places)


def _listed(relative: bytes, above: bytes = b"") -> str:
    """Return what runs the file at a path by the list; empty where nothing does."""
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
    found: list[str] = [os.fsdecode(path) for path in hooks_elsewhere(root) if not _is_among(path, allowed)]
    found = [
        path
        for path in found
        if os.path.lexists(os.path.join(root, path)) and not os.path.islink(os.path.join(root, path))
    ]
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
                    inner = [name for name in inner if not _is_among(os.fsencode(name), allowed)]
                    found += [f"{path}/", *inner] if inner else []
                elif not _is_among(os.fsencode(path), allowed) and _listed(os.fsencode(path)):
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
