"""Which files do other programs run unasked? Whoever may write them may do anything, at the next commit or `cd` (S-16).

The list is short: what acts by itself on a developer's machine, at a commit, when a folder is entered or opened, when a shell or an
agent starts. What a person starts knowingly (`make`, `npm test`, a test run) is not on it, nor is what runs elsewhere (CI). Only
names are checked, compared as the laxest file system does: case, ignorable characters, and trailing dots and blanks do not count.
Leaves to others: who asks (`agent.editing`, `agent.shell`).

Sources: githooks(5), gitattributes(5) on filters that `.git/config` names; direnv; husky; the documentation of each editor and
agent; the names that git itself refuses in trees (`.git` on HFS+ and NTFS, CVE-2014-9390, CVE-2019-1352).
"""

from __future__ import annotations

import os
import re
import secrets
import unicodedata
from contextlib import suppress
from typing import TYPE_CHECKING

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Collection

# A folder with a HEAD, `objects` and `refs` is a repository under any name, and its `config` names programs that the next `git
# status` runs, including that of a shell prompt (git-config(1), safe.bareRepository). HEAD, the smallest of the three, decides.
_REPOSITORY = "git takes a folder with it for a repository, and runs what its configuration names"
_OF_REPOSITORY = (b"HEAD", b"objects", b"refs")
_NAMED_BY_GIT = "git's configuration names it, so that git reads or runs it, as it does hooks"
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


_SECTION = re.compile(rb"^[ \t]*\[[ \t]*([\w.-]+)[^\]\r\n]*\]", re.MULTILINE)
_SETTING = re.compile(
    rb"^[ \t]*(?:\[[^\]\r\n]*\][ \t]*)?([a-z][a-z0-9-]*)[ \t]*=[ \t]*([^\r\n]{1,4096})", re.IGNORECASE | re.MULTILINE
)
_CONTINUED = re.compile(rb"\\\r?\n")
_FOLDERS_RUN = {b"hookspath", b"templatedir"}
# git-config(1): settings whose value is a command line, whatever their section.
_COMMANDS = {
    *(
        b"alternaterefscommand",
        b"askpass",
        b"clean",
        b"cmd",
        b"command",
        b"difffilter",
        b"driver",
        b"editor",
        b"external",
    ),
    *(b"fsmonitor", b"gitproxy", b"helper", b"packobjectshook", b"pager", b"process", b"program", b"receivepack"),
    *(b"smudge", b"sshcommand", b"textconv", b"update", b"uploadpack"),
}
_OF_COMMANDS = {b"alias", b"pager"}  # sections in which every value may be one
_WORD = re.compile(rb"[^\s\"'`;|&()<>{}$=!\\]+")
_MAX_CONFIGS = 20  # configuration files that include one another
_OF_GIT = ("hooks", "config", "config.worktree", "commondir")
_OF_WORKTREE = ("commondir", "gitdir", "config.worktree")
_DATA_OF_GIT = {"objects", "refs", "logs", "lfs"}
_INSTALLED = {"node_modules", "site-packages", ".venv", "venv", ".tox", ".nox"}
_MAX_ENTRIES = 20_000


def standing(root: str | bytes) -> bytes:
    """Return the path of a root from the top of its project, ending in `/`, which `why_unasked` prepends to names.

    A root may itself be a `.git`, or lie in one: then names beneath it say nothing. The top is the nearest folder upwards that has
    a `.git`, the root included: a work tree that an agent keeps in `.claude/worktrees` is a project of its own. If there is none,
    the top is the file system root. A repository folder counts as `.git`, whatever its name.

    Args:
        root: The folder, absolute and without links in its path.
    """
    folder, parts = os.fsencode(root), [b""]
    while not os.path.lexists(os.path.join(folder, b".git")):
        above, name = os.path.split(folder)
        if above == folder:
            break
        # gitrepository-layout(5): a bare repository has these three at its top, under any name.
        parts.append(b".git" if _is_repository(folder) else name)
        folder = above
    return b"/".join(reversed(parts))


def _is_repository(folder: bytes) -> bool:
    return all(os.path.lexists(os.path.join(folder, part)) for part in _OF_REPOSITORY)


def hooks_elsewhere(root: str | bytes) -> tuple[bytes, ...]:
    """Return the places beneath a root that its git configuration names, relative to the root, for `why_unasked`.

    These are the folder of hooks (`core.hooksPath`), included configuration files (`include.path`), and what its command lines name
    (`filter.*.clean`, `core.fsmonitor` and the like).

    Args:
        root: The folder, absolute and without links in its path.
    """
    folder = os.fsencode(root)
    # `.git/hooks` itself, or a path in it, is recognised by name; what lies outside the root does not concern us.
    below = folder.rstrip(b"/") + b"/"
    return tuple(
        os.path.relpath(place, folder) for place in _named_by_git(_work_tree(folder)) if place.startswith(below)
    )


def _named_by_git(top: bytes) -> list[bytes]:
    """Return the absolute paths that the configuration of a work tree, and that of the user, names.

    These are folders of hooks, included files, and what its command lines run.
    """
    git = os.path.join(top, b".git")
    # A `.git` file names the folder, as for a submodule or an additional work tree; `commondir` names what these share.
    if pointer := _content(git).partition(b"gitdir:")[2].strip():
        git = os.path.normpath(os.path.join(top, pointer))
    shared = os.path.normpath(os.path.join(git, _content(os.path.join(git, b"commondir")).strip()))
    of_user = _configs_of_user()
    configs = [os.path.join(shared, b"config"), os.path.join(git, b"config.worktree"), *of_user]
    # The user's own file may be a link to a file beneath the root, if they keep such files there.
    found = [os.path.realpath(config) for config in of_user]
    for config in configs:  # the list grows meanwhile
        content = _CONTINUED.sub(b"", _content(config))
        sections = [(section.start(), section[1].lower()) for section in _SECTION.finditer(content)]
        for setting in _SETTING.finditer(content):
            key, text = setting[1].lower(), setting[2]
            section = next((name for at, name in reversed(sections) if at <= setting.start()), b"")
            if key in _COMMANDS or section in _OF_COMMANDS:
                found += _files_in(text, top)
                continue
            value = os.path.expanduser(text.split(b" #")[0].split(b" ;")[0].strip().strip(b'"'))
            if not value:
                continue
            if key in _FOLDERS_RUN:
                found.append(os.path.normpath(os.path.join(top, value)))
            elif key == b"path" and section in {b"include", b"includeif"} and len(configs) < _MAX_CONFIGS:
                configs.append(os.path.normpath(os.path.join(os.path.dirname(config), value)))
                found.append(configs[-1])
    return found


def _configs_of_user() -> list[bytes]:
    """Return the git configuration files that apply to every repository (git-config(1), FILES)."""
    if named := os.environ.get("GIT_CONFIG_GLOBAL"):
        own = [named]
    else:
        own = [os.path.join(os.environ.get("XDG_CONFIG_HOME") or "~/.config", "git", "config"), "~/.gitconfig"]
    return [os.fsencode(os.path.expanduser(path)) for path in ("/etc/gitconfig", *own)]


def _files_in(command: bytes, top: bytes) -> list[bytes]:
    """Return the paths that a command line may run or read, seen from where git starts it.

    These are words with a `/`, and names of existing files.
    """
    paths = [(word, os.path.normpath(os.path.join(top, os.path.expanduser(word)))) for word in _WORD.findall(command)]
    return [
        path
        for word, path in paths
        if b"\0" not in word and (b"/" in word or os.path.lexists(path)) and not os.path.isdir(path)
    ]


def _content(path: bytes) -> bytes:
    """Return the content of a small file of the user's; nothing for a folder, or for what is missing or unreadable."""
    from penstock.workspace.own_files import read_own

    try:
        return read_own(os.fsdecode(path), _MAX_CONFIG_BYTES) or b""
    except (CallerError, OSError, ValueError):  # the last if a stranger's file names a path with a NUL in it
        return b""


def why_unasked_at(root: str | bytes, relative: bytes, allowed: Collection[bytes] = ()) -> str:
    """Return what runs the file at a path beneath a root unasked, judged by its name and by what is there now.

    A repository may have any name (`git init --bare`, `--separate-git-dir`), and each says itself where its hooks are.

    Args:
        root: The folder, absolute and without links in its path.
        relative: The path relative to it.
        allowed: As for `why_unasked`.
    """
    if _is_among(relative, allowed):
        return ""
    path = os.path.join(os.fsencode(root), relative)
    folder, name = os.path.split(path)
    return (
        why_unasked(relative, above=standing(root), hooks=hooks_elsewhere(root))
        or _listed(name, standing(folder))
        or (_REPOSITORY if _completes_repository(os.fsencode(root), relative) else "")
        or (_NAMED_BY_GIT if _is_named(path, _named_by_git(_work_tree(folder))) else "")
    )


def _completes_repository(root: bytes, relative: bytes) -> bool:
    """Return whether writing a file would make a folder a repository.

    A `head` counts as `HEAD`, because some file systems treat them as the same.
    """
    parts = relative.split(b"/")
    return any(
        part.lower() == one.lower()
        and all(os.path.lexists(os.path.join(root, *parts[:at], other)) for other in _OF_REPOSITORY if other != one)
        for at, part in enumerate(parts)
        for one in _OF_REPOSITORY
    )


def _work_tree(folder: bytes) -> bytes:
    """Return the nearest folder upwards, including this one, that has a `.git`; the file system root if none has."""
    while not os.path.lexists(os.path.join(folder, b".git")) and os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
    return folder


def why_unasked(
    relative: bytes, allowed: Collection[bytes] = (), *, above: bytes = b"", hooks: Collection[bytes] = ()
) -> str:
    """Return what runs the file at a path unasked; empty if nothing is known to.

        >>> why_unasked(b"app/.GIT/hooks/pre-commit")
        'git runs its hooks, and what its configuration names'

    Args:
        relative: A path relative to a root.
        allowed: Paths of files and folders, also relative to the root, that may be written nevertheless; `.` is all of it.
        above: Where the root is, as `standing` returns it.
        hooks: Other places of hooks, as `hooks_elsewhere` returns them.
    """
    if _is_among(relative, allowed):
        return ""
    name = relative.rpartition(b"/")[2]
    if name.upper() == b"HEAD" and not name.islower():  # a folder of templates may be called `head`
        return _REPOSITORY
    return _NAMED_BY_GIT if _is_named(relative, hooks) else _listed(relative, above)


def _is_among(relative: bytes, places: Collection[bytes]) -> bool:
    """Return whether a path is one of these places, or lies in one."""
    return any(one in {b".", relative} or relative.startswith(one.rstrip(b"/") + b"/") for one in places)


def _is_named(path: bytes, places: Collection[bytes]) -> bool:
    """Return whether some file system takes a path for one of these places, or for one in them."""
    return _is_among(_comparable(path), [_comparable(place) for place in places])


def _listed(relative: bytes, above: bytes = b"") -> str:
    """Return what runs the file at a path according to the list; empty if nothing does."""
    path = above + (b"" if relative == b"." else relative)
    plain = _comparable(path).decode("utf-8", "surrogateescape")
    return next((why for why, places in _WHY.items() if places.search(plain)), "")


def can_be_guarded(place: str) -> bool:
    """Return whether a wall can guard a place that `unasked_places` found.

    A link cannot be guarded, except for those of a repository, by what they name.
    """
    return os.path.basename(place) in _OF_GIT or not os.path.islink(place)


def unasked_places(root: str, allowed: Collection[bytes] = ()) -> list[str]:
    """Return the places in a folder of the user's that other programs run unasked.

    Of a repository, whatever its name, these are the hooks and the configuration, so that commits still work, and those of its
    submodules and work trees; the folder itself comes first, with a trailing `/`: it may be written but not moved away. Folders of
    installed packages are skipped, and at most 20,000 entries are examined, from the top down. A root that itself lies in such a
    place is the only result.

    Args:
        root: The folder, without links in its path.
        allowed: As for `why_unasked`.
    """
    if why_unasked(b".", allowed, above=standing(root)):
        return [root]
    found = _hooks_named(root, "")
    seen = 0
    level = [""]
    while level and seen < _MAX_ENTRIES:
        below: list[str] = []
        for folder in level:
            entries = _entries(os.path.join(root, folder))
            seen += len(entries)
            is_repository = {entry.name for entry in entries} >= set(map(os.fsdecode, _OF_REPOSITORY))
            if is_repository and folder:
                found += _of_repository(root, folder)
            for entry in entries:
                path, is_folder = folder + entry.name, entry.is_dir(follow_symlinks=False)
                if entry.name == ".git" and folder:
                    found += _hooks_named(root, folder)
                if entry.name == ".git" and is_folder:
                    found += _of_repository(root, f"{path}/")
                elif _listed(os.fsencode(path)):
                    found.append(path)
                elif is_folder and entry.name not in (_DATA_OF_GIT if is_repository else _INSTALLED):
                    below.append(f"{path}/")
        level = below
    kept = [path for path in dict.fromkeys(found) if not _is_among(os.fsencode(path.rstrip("/")), allowed)]
    # A folder that may not be moved is listed only for the sake of what is guarded in it.
    inner = [path for path in kept if not path.endswith("/")]
    return [
        os.path.join(root, path)
        for path in kept
        if not path.endswith("/") or any(one.startswith(path) for one in inner)
    ]


def set_aside(root: str, before: Collection[str], allowed: Collection[bytes] = ()) -> dict[str, str]:
    """Rename what has newly appeared in a repository and git would take for its hooks or its configuration.

    A wall guards only what exists, and git takes all of its configuration from where a `commondir` in `.git` leads.

    Args:
        root: The folder, without links in its path.
        before: What `unasked_places` returned.
        allowed: As for `why_unasked`.

    Returns:
        The new names by the old ones, relative to the root; what cannot be renamed stays.
    """
    known, moved = set(before), {}
    for folder in (path for path in known if path.endswith("/")):
        # Somebody may have put a link in place of a folder above: its target belongs to somebody else.
        if not _is_repository(os.fsencode(folder)) or os.path.realpath(folder) != folder.rstrip("/"):
            continue
        for path in (f"{folder}{name}" for name in _OF_GIT):
            name = os.path.relpath(path, root)
            if path in known or not os.path.lexists(path) or _is_among(os.fsencode(name), allowed):
                continue
            aside = f"{name}.penstock-{secrets.token_hex(4)}"
            with suppress(OSError):  # gone again, or the disk is read-only by now
                os.rename(path, os.path.join(root, aside))
                moved[name] = aside
    return moved


def _hooks_named(root: str, folder: str) -> list[str]:
    """Return what the configuration of a work tree in a root names within that work tree."""
    top = os.path.join(root, folder)
    named = [os.path.join(top, os.fsdecode(path)) for path in hooks_elsewhere(top.rstrip("/"))]
    return [os.path.relpath(path, root) for path in named if os.path.lexists(path)]


def _of_repository(root: str, folder: str) -> list[str]:
    """Return what is guarded of a repository, relative to the root: its own, of its work trees and of its submodules."""
    found = [folder, *(f"{folder}{name}" for name in _OF_GIT)]
    for entry in _folders(root, f"{folder}worktrees/"):
        found += [f"{entry}{name}" for name in _OF_WORKTREE]
    # The name of a submodule may contain a `/`: its repository is then that much deeper.
    level = [f"{folder}modules/"] if os.path.isdir(os.path.join(root, folder, "modules")) else []
    while level and len(found) < _MAX_ENTRIES:
        below: list[str] = []
        for path in level:
            if _is_repository(os.fsencode(os.path.join(root, path))):
                found += _of_repository(root, path)
            else:
                found.append(path)
                below += _folders(root, path)
        level = below
    return [path for path in found if path.endswith("/") or os.path.lexists(os.path.join(root, path))]


def _folders(root: str, folder: str) -> list[str]:
    """Return the subfolders of a folder in a root, each with a trailing `/`."""
    entries = _entries(os.path.join(root, folder))
    return [f"{folder}{entry.name}/" for entry in entries if entry.is_dir(follow_symlinks=False)]


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, by name; nothing if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _comparable(path: bytes) -> bytes:
    """Return a path with each of its names as the laxest file system compares it."""
    names = path.decode("utf-8", "surrogateescape").split("/")
    # None is empty: else `:/`, which git takes for the whole work tree, would be the folder that it is in.
    return "/".join(_plain(name) or name for name in names).encode("utf-8", "surrogateescape")


def _plain(name: str) -> str:
    """Return a name as the laxest file system compares it."""
    # HFS+ ignores zero-width characters; NTFS ignores what follows a colon, and trailing dots and blanks; both, and others, ignore
    # case.
    visible = "".join(
        character for character in unicodedata.normalize("NFC", name) if unicodedata.category(character) != "Cf"
    )
    return visible.casefold().partition(":")[0].rstrip(". ")
