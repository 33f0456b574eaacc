"""What is a call of a foreign tool about: which file, which lines, which command?

It is read from the call's name and arguments, and from what its result says of itself, in the ways that the known agents write
them; anything unrecognised is `other`, never a guess. Leaves to others: how the call ended (`call_outcomes`).
"""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.text import notices, stand_ins
from penstock.text.json_access import field, string

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.text.json_access import Json
    from penstock.wires.entries import ToolCall

Kind = Literal["read", "write", "create", "delete", "search", "run", "other"]
"""What a call does to its target, in one word."""

# Tools say what they show and how it ended at the beginning or the end of a result. Patterns are tried only there, so
# that a result of megabytes costs no more than a short one.
LOOK_CHARS = 400
"""How many characters at either end of a result are searched."""
# How many lines Claude Code and pi show of a file if no range was asked for.
_FULL_PAGE = 2000


class CallTarget(NamedTuple):
    """What a call is about: one file, or what is run or searched for."""

    kind: Kind
    path: str | None = None
    """The file as the call names it, with `.` and `..` resolved lexically; None if the call names none."""
    first_line: int | None = None
    """The first line of a read; lines are 1-based and inclusive. From 1 to None is the whole file; None and None is an
    unknown part."""
    last_line: int | None = None
    command: str | None = None
    """What is run, or what is searched for."""

    def as_shown_by(self, text: str) -> CallTarget:
        """Return the target, corrected by what the text of a successful result says about itself."""
        head, tail = text[:LOOK_CHARS], text[-LOOK_CHARS:]
        opened = (_OPENED.search(head) or _OPENED.search(tail)) if "[File: " in head or "[File: " in tail else None
        # The result names the full path, while the call had part of it or none.
        target = self._replace(path=_path(opened[1])) if opened else self
        if target.kind == "write" and _CREATED.search(head[:60]):
            return target._replace(kind="create")
        if target.kind == "read":
            first, last = _shown(target, head, tail, int(opened[2]) if opened else None)
            return target._replace(first_line=first, last_line=last)
        return target


_VERBS: dict[str, Kind] = {
    **dict.fromkeys(("write", "edit", "replace", "apply", "patch", "insert", "append", "update", "modify"), "write"),
    **dict.fromkeys(("overwrite", "multiedit", "diff", "undo"), "write"),
    **dict.fromkeys(("delete", "remove", "rm", "unlink"), "delete"),
    **dict.fromkeys(("create", "touch"), "create"),
    **dict.fromkeys(("bash", "shell", "run", "exec", "execute", "command", "terminal", "powershell", "python"), "run"),
    **dict.fromkeys(("cmd", "sh", "ipython", "script"), "run"),
    **dict.fromkeys(("search", "grep", "find", "glob", "list", "ls", "rg", "tree", "count", "outline"), "search"),
    **dict.fromkeys(("read", "view", "cat", "open", "show", "goto", "scroll", "get", "head", "tail"), "read"),
}
# A name may hold several verbs: `search_replace` writes, so writing is checked first.
_RANK: tuple[Kind, ...] = ("write", "delete", "create", "run", "search", "read")
# The `command` argument of `str_replace_based_edit_tool` and its kin: one tool with several operations.
_EDITOR: dict[str, Kind] = {
    "view": "read",
    "create": "create",
    "str_replace": "write",
    "insert": "write",
    "undo_edit": "write",
    "delete": "delete",
}
_OPERATIONS: dict[str, Kind] = {"create_file": "create", "update_file": "write", "delete_file": "delete"}

# Names of arguments without `_`, `-` and case: `filePath` and `file_path` are `filepath`.
_MEANINGS = {
    **dict.fromkeys(("path", "filepath", "file", "filename", "targetfile", "absolutepath", "relativepath"), "path"),
    **dict.fromkeys(("notebookpath", "uri"), "path"),
    **dict.fromkeys(("paths", "files", "filepaths", "filenames"), "paths"),
    **dict.fromkeys(("directory", "dir", "folder", "dirpath", "directorypath", "targetdirectory"), "place"),
    **dict.fromkeys(("command", "cmd", "commands", "script", "code", "input"), "command"),
    **dict.fromkeys(("pattern", "query", "regex", "searchterm", "search", "globpattern"), "query"),
    **dict.fromkeys(("startline", "linestart", "firstline", "fromline", "startlineoneindexed", "start"), "first"),
    **dict.fromkeys(("endline", "lineend", "lastline", "toline", "endlineoneindexedinclusive", "end"), "last"),
    **dict.fromkeys(("startbyte", "maxbytes", "byteoffset"), "bytes"),
    **{name: name for name in ("offset", "limit", "type")},
    "viewrange": "span",
}

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PATCHED = re.compile(r"^\*\*\* (?:(Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_PATCHES: dict[str, Kind] = {"Add": "create", "Update": "write", "Delete": "delete", "": "create"}


def kind_of(call: ToolCall) -> Kind:
    """Return what a call does, by the name of its tool alone."""
    return _named(call.name)[0]


@lru_cache(maxsize=256)
def _named(name: str) -> tuple[Kind, bool, bool]:
    """Return what a tool is for by its name, whether the name is only the verb, and whether it is a `view`."""
    # The last part of the name: `mcp__server__read_file` and `functions.shell` start with a server or a namespace.
    own = re.split(r"__|[./:]", name.strip("_./:"))[-1]
    words = [word.lower() for word in re.split(r"[_\-\s]+", _CAMEL.sub("_", own)) if word]
    found = {_VERBS[word] for word in words if word in _VERBS}
    return next((kind for kind in _RANK if kind in found), "other"), len(words) == 1, words[-1:] == ["view"]


@lru_cache(maxsize=256)
def _meaning(name: str) -> str:
    """Return the common name of an argument; the given name if there is none."""
    return _MEANINGS.get(name.replace("_", "").replace("-", "").lower(), name)


def targets_of(call: ToolCall) -> list[CallTarget]:
    """Return what a call says it is about: one target for each file, or one without a path."""
    kind, is_bare, is_view = _named(call.name)
    values: dict[str, Json] = {}
    for name, value in call.values.items():
        if value not in (None, "", []):
            values.setdefault(_meaning(name), value)
    command = _command(values.get("command")) or (call.arguments if call.kind == "custom" else None)
    paths = [path] if (path := string(values.get("path"))) else _listed(values.get("paths"))
    if not paths and (patched := _patched([command, *values.values()])):
        return patched
    # An argument that names the operation outranks the tool's name; only then does a tool that runs commands run one.
    if paths and (done := _EDITOR.get(command or "") or _OPERATIONS.get(string(values.get("type")))):
        kind = done
    elif kind == "run":
        return _ran(command)
    if kind == "search":
        place = paths[0] if paths else string(values.get("place"))
        return [CallTarget(kind, _path(place), command=string(values.get("query")) or None)]
    if kind == "read":
        first, last = _lines(values, skips=is_view)
        return [CallTarget(kind, _path(path), first, last) for path in paths] or [CallTarget(kind)]
    if not paths and not is_bare:
        return [CallTarget("other")]  # `edit` changes the open file; `update_plan` changes none
    return [CallTarget(kind, _path(path)) for path in paths] or [CallTarget(kind)]


def _listed(given: Json) -> list[str]:
    """Return the paths in an argument that takes several: strings, or objects with a `path`."""
    items = given if isinstance(given, list) else [given]
    named = [item if isinstance(item, str) else string(field(item, "path")) for item in items]
    return [path for path in named if path]


def _path(path: str) -> str | None:
    """Return a path with `.` and `..` resolved lexically, from a path or a `file://` URI."""
    return posixpath.normpath(path.removeprefix("file://")) if path else None


def _command(given: Json) -> str | None:
    """Return a command as one text; for an argument list that only starts a shell, what the shell is given."""
    if isinstance(given, str):
        return given
    if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
        return None
    if len(given) == 3 and posixpath.basename(given[0]) in {"bash", "sh", "zsh"} and given[1].startswith("-"):
        return str(given[2])
    return " ".join(given)


def _patched(texts: Iterable[Json]) -> list[CallTarget]:
    """Return the files that a patch in one of these texts names (Codex's `apply_patch`)."""
    patch = next((text for text in texts if isinstance(text, str) and "*** Begin Patch" in text), "")
    return [CallTarget(_PATCHES[done], _path(path)) for done, path in _PATCHED.findall(patch)]


def _number(value: Json) -> int | None:
    """Return a whole number from a number or its digits; None for anything else, and for what cannot be a line number."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 10:
        return int(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return int(value) if is_number and abs(value) < 1e9 else None


def _lines(values: dict[str, Json], *, skips: bool) -> tuple[int | None, int | None]:
    """Return the lines that a read asks for, 1-based and inclusive."""
    if "bytes" in values:
        return None, None
    span = values.get("span")
    if not isinstance(span, list) or len(span) != 2:
        span = [values.get("first"), values.get("last")]
    first, last = _number(span[0]), _number(span[1])
    if first is not None or last is not None:
        return max(1, first or 1), last if last is not None and last > 0 else None
    # `view` skips `offset` lines; elsewhere the offset is a line number, counted from 1: Claude Code, Codex, pi, Cursor.
    start = max(1, (_number(values.get("offset")) or 0) + skips)
    limit = _number(values.get("limit"))
    return start, start + limit - 1 if limit is not None and limit > 0 else None


# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────────

_WORD = r"(?:'[^'\n]*'|\"[^\"\n$`\\]*\"|[\w./,:=@%+-]+)"
# Only words without expansion, globs, pipes or redirection: what the shell would make of anything else is unknown here.
_PLAIN = re.compile(rf"(?:cd +({_WORD}) *&& *)?((?:cat|head|tail|sed|nl)(?: +{_WORD})+) *")
_SPLIT = re.compile(_WORD)
_SED = re.compile(r"(\d{1,9})(?:,(\d{1,9}|\$))?p")


def _ran(command: str | None) -> list[CallTarget]:
    """Return what a command does: one that only shows a file is a read of it; everything else is a run."""
    plain = _PLAIN.fullmatch(command) if command and len(command) < 1000 else None
    if plain:
        folder = (plain[1] or "").strip("'\"")
        program, *rest = (word.strip("'\"") for word in _SPLIT.findall(plain[2]))
        if span := _shown_by(program, rest):
            first, last, files = span
            return [
                CallTarget("read", _path(posixpath.join(folder, name)), first, last, command) for name in files
            ] or [CallTarget("run", command=command)]
    return [CallTarget("run", command=command)]


def _shown_by(program: str, words: Sequence[str]) -> tuple[int | None, int | None, list[str]] | None:
    """Return the lines and the files that a program shows; None if that cannot be determined."""
    flags = [word for word in words if word.startswith("-")]
    plain = [word for word in words if not word.startswith("-")]
    match program:
        case "cat" | "nl":
            return (1, None, plain) if all(flag in {"-n", "-A", "-b", "-ba"} for flag in flags) else None
        case "sed":
            asked = _SED.fullmatch(plain[0]) if flags == ["-n"] and plain else None
            if asked is None:
                return None
            last = asked[2] or asked[1]
            return int(asked[1]), None if last == "$" else int(last), plain[1:]
        case _:
            return _end_of_file(program, flags, plain)


def _end_of_file(
    program: str, flags: Sequence[str], plain: list[str]
) -> tuple[int | None, int | None, list[str]] | None:
    """Return what `head` or `tail` shows: the first lines are known; the last are a part whose numbers are unknown."""
    count = "10"
    if flags == ["-n"] and plain:
        count, plain = plain[0], plain[1:]
    elif len(flags) == 1:
        count = flags[0].removeprefix("-").removeprefix("n")
    elif flags:
        return None
    if program == "head":
        return (1, int(count), plain) if count.isdecimal() and len(count) < 10 else None
    if count.startswith("+") and count[1:].isdecimal() and len(count) < 10:
        return max(1, int(count[1:])), None, plain
    return (None, None, plain) if count.isdecimal() else None


# ── what a result shows ──────────────────────────────────────────────────────────────────────────────────────────

_SHOWING = re.compile(r"(?i)\blines (\d{1,9})-(\d{1,9}) of (at least )?(\d{1,9})")
_OPENED = re.compile(r"\[File: (.+?) \((\d{1,9}) lines total\)\]")
_ABOVE = re.compile(r"\((\d{1,9}) more lines above\)")
_BELOW = re.compile(r"\((\d{1,9}) more lines below\)")
_GUTTER = re.compile(r"^ *L?(\d{1,9})(?:\t|→|:| ?\|)")
_CREATED = re.compile(r"(?i)\bcreated\b")


def _shown(target: CallTarget, head: str, tail: str, total: int | None) -> tuple[int | None, int | None]:
    """Return the lines that a result says it shows; the lines asked for if it says nothing."""
    first, last = target.first_line, target.last_line
    top, bottom = head.partition("\n")[0], tail.rstrip().rpartition("\n")[2]
    if stand_ins.is_truncated(top) or notices.shows_no_lines(top):
        return None, None
    if total is not None:
        above, below = _ABOVE.search(head), _BELOW.search(tail)
        first, last = 1 + (int(above[1]) if above else 0), total - (int(below[1]) if below else 0)
        return (1, None) if (first, last) == (1, total) else (first, last)
    if said := _SHOWING.search(top) or _SHOWING.search(bottom):
        first, last = int(said[1]), int(said[2])
        return (1, None) if first == 1 and last == int(said[4]) and not said[3] else (first, last)
    if first is None:
        return first, last
    if (gutter := _GUTTER.match(head)) and abs(shift := int(gutter[1]) - first) == 1:
        # A gutter that starts one line off: this tool's offset is based on the other number, 0 or 1. A number farther off
        # is text of the file.
        return first + shift, last + shift if last is not None else None
    if last is None and gutter and re.search(rf"^ *0*{_FULL_PAGE + first - 1}\D", tail, re.MULTILINE):
        return first, _FULL_PAGE + first - 1
    return first, last
