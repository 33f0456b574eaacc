"""What was done? The calls of a transcript as actions on files: read, changed, searched, run, and how each ended.

The tools are foreign. What a call is about is read from its name, its arguments and its result, in the ways that the
known agents write them; anything unrecognised is `other`, never a guess. Laws: any transcript is accepted, in linear
time; content forgotten since is still counted, because the originals are read. Leaves to others: what should be
forgotten (`compaction`), and disk access.
"""

from __future__ import annotations

import math
import posixpath
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.text import escape, notices, stand_ins
from penstock.text.json_access import field, objects, parsed, string, type_of
from penstock.wires.entries import ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from penstock.text.json_access import Json
    from penstock.wires import Transcript

Kind = Literal["read", "write", "create", "delete", "search", "run", "other"]
"""What a call does to its target, in one word."""

# The most characters of an error, and of one item of a summary.
_HEAD_CHARS = 200
# A result of at most this many characters may be an error and nothing else; a longer one that starts with "Error:" is a
# log.
_SHORT_CHARS = 1000
# A traceback ends a result and is searched for in this many of its last characters.
_TRACE_CHARS = 20_000
# Tools say what they show and how it ended at the beginning or the end of a result. Patterns are tried only there, so
# that a result of megabytes costs no more than a short one.
_LOOK_CHARS = 400
# How many lines Claude Code and pi show of a file if no range was asked for.
_FULL_PAGE = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What one call did to one target: a call that names several files becomes several actions with one result."""

    index: int
    """The index of the call's entry."""
    call_id: str
    name: str
    kind: Kind
    path: str | None
    """The file as the call names it, with `.` and `..` resolved lexically; None if the call names none."""
    first_line: int | None
    """The first line of a read; lines are 1-based and inclusive. From 1 to None is the whole file; None and None is an
    unknown part.
    """
    last_line: int | None
    """The last line of a read, inclusive; None for the end of the file."""
    command: str | None
    """What was run, or what was searched for; None for other kinds."""
    result_index: int | None
    """The index of the entry that holds the result; None while there is none."""
    result_chars: int
    """The original length of the result."""
    failed: bool
    exit_code: int | None
    """The exit code that the result states; None if it states none."""
    error_head: str
    """The line of a failed result that says what failed, clipped; empty otherwise."""
    asked: str = ""
    """The arguments as written, clipped, if the call names neither a file nor a command; else empty."""

    @property
    def changes(self) -> bool:
        """Whether the call changed the file."""
        return self.kind in {"write", "create", "delete"} and not self.failed

    @property
    def is_whole(self) -> bool:
        """Whether the file is read from its first line to its last."""
        return self.kind == "read" and (self.first_line, self.last_line) == (1, None)


def actions(transcript: Transcript) -> tuple[Action, ...]:
    """Return every call of a transcript as actions, in order, read from the original entries."""
    asked: list[tuple[int, ToolCall]] = []
    answered: dict[int, tuple[int, ToolResult, Json]] = {}
    waiting: dict[str, list[int]] = {}
    for entry in transcript.entries:
        for part in entry.parts:
            if isinstance(part, ToolCall):
                waiting.setdefault(part.id, []).append(len(asked))
                asked.append((entry.index, part))
            elif isinstance(part, ToolResult) and (places := waiting.get(part.call_id)):
                # The newest open call with that id: local servers restart the numbering of calls in every turn.
                answered[places.pop()] = (entry.index, part, entry.raw)
    made: list[Action] = []
    for place, (index, call) in enumerate(asked):
        targets, ended, result_index, size = _targets(call), _Ended(), None, 0
        if place in answered:
            result_index, result, raw = answered[place]
            ended, size = _ended(call, result, raw), len(result.text)
            if len(targets) == 1 and not ended.failed:
                targets = [_seen(targets[0], result.text)]
            elif ended.was_refused:
                targets = [target._replace(kind="other") if target.kind == "run" else target for target in targets]
        for kind, path, first_line, last_line, command in targets:
            made.append(
                Action(
                    index=index,
                    call_id=call.id,
                    name=call.name,
                    kind="other" if kind == "read" and path is None else kind,
                    path=path,
                    first_line=first_line,
                    last_line=last_line,
                    command=command,
                    result_index=result_index,
                    result_chars=size,
                    failed=ended.failed,
                    exit_code=ended.exit_code,
                    error_head=ended.error_head,
                    asked="" if path or command else _inert(call.arguments),
                )
            )
    return tuple(made)


def same_target(one: Action, other: Action) -> bool:
    """Whether both actions name the same file."""
    return one.path is not None and one.path == other.path


def covers(newer: Action, older: Action) -> bool:
    """Whether a newer read shows all lines that the older one did; an unknown part counts as not shown."""
    if not newer.kind == older.kind == "read" or newer.failed or newer.result_index is None:
        return False
    if not same_target(newer, older) or newer.first_line is None:
        return False
    if newer.is_whole:
        return True
    if older.first_line is None or newer.first_line > older.first_line:
        return False
    return newer.last_line is None or (older.last_line is not None and older.last_line <= newer.last_line)


# ── a summary ────────────────────────────────────────────────────────────────────────────────────────────────────

_ITEM_BYTES = 160  # of one item: a path, a command, an error
_STEPS = (1 << 30, 100, 50, 25, 12, 6, 3, 2, 1, 0)  # how many items a row shows, until all rows fit


def summary(done: Sequence[Action], *, max_chars: int) -> str:
    """Return the actions as rows of data: changed, read, run, failed, searched.

    A row without room for all its items shows the newest and says how many came before.

    Args:
        done: the actions, in order.
        max_chars: the most characters; the text is inert and never longer.
    """
    rows = [(title, items) for title, items in _rows(done) if items]
    for most in _STEPS:
        text = "\n".join(f"{title}: {row(items, most)}" for title, items in rows)
        if len(text) <= max_chars:
            return text
    return text[: max(0, max_chars)]


def row(items: list[str], most: int) -> str:
    """Return the newest items of a row and how many are left out; if none is shown, only their number.

    Args:
        items: the items, oldest first.
        most: how many of them may be shown.
    """
    if len(items) <= most:
        return "; ".join(items)
    left_out = f"… {len(items) - most} earlier"
    return "; ".join([left_out, *items[-most:]]) if most else str(len(items))


def _rows(done: Sequence[Action]) -> list[tuple[str, list[str]]]:
    """Return the rows with their titles and items, those that changed something first."""
    ok = [action for action in done if not action.failed]
    commands = [f"{_inert(a.command)} → {_ending(a)}" for a in done if a.kind == "run" and a.command]
    failures = [f"{a.name} {a.path or ''}".strip() + f": {a.error_head}" for a in done if a.failed and a.kind != "run"]
    return [
        *(
            (title, _counted(_inert(a.path or "the open file") for a in ok if a.kind == kind))
            for title, kind in _CHANGES
        ),
        ("read", _reads(ok)),
        ("ran", _counted(commands)),
        ("called", _counted(_inert(f"{a.name} {a.asked}") for a in ok if a.asked and not a.changes)),
        ("failed", _counted(map(_inert, failures))),
        ("searched", _counted(_inert(f"{a.command or '*'} in {a.path or '.'}") for a in ok if _searches(a))),
    ]


def _searches(action: Action) -> bool:
    """Whether an action says what was searched for or where; `search_flights` with its own arguments is just a call."""
    return action.kind == "search" and not action.asked


_CHANGES: tuple[tuple[str, Kind], ...] = (("modified", "write"), ("created", "create"), ("deleted", "delete"))


def _inert(text: str) -> str:
    """Return one item of a row, clipped and without control characters."""
    return escape.clip(text, _ITEM_BYTES)


def _ending(action: Action) -> str:
    """Return how a command ended."""
    if action.failed:
        code = f"exit {action.exit_code}, " if action.exit_code is not None else ""
        return f"{code}{_inert(action.error_head)}" if action.error_head else f"{code}failed"
    return "no result" if action.result_index is None else "ok"


def _counted(items: Iterable[str]) -> list[str]:
    """Return each item once, at its last position, with its number of occurrences."""
    counts: Counter[str] = Counter()
    order: dict[str, None] = {}
    for item in items:
        counts[item] += 1
        order.pop(item, None)
        order[item] = None
    return [item if counts[item] == 1 else f"{item} (×{counts[item]})" for item in order]


def _reads(done: Iterable[Action]) -> list[str]:
    """Return the files that were read, with their merged lines if known."""
    spans: dict[str, list[tuple[int, float]]] = {}
    for action in done:
        if action.kind == "read" and action.path is not None:
            known = spans.pop(action.path, [])
            spans[action.path] = known
            if action.first_line is not None:
                known.append((action.first_line, action.last_line or math.inf))
    return [f"{_inert(path)} {_merged(known)}".rstrip() for path, known in spans.items()]


def _merged(spans: list[tuple[int, float]]) -> str:
    """Return lines as `1-40, 60-`; empty for a whole file."""
    made: list[tuple[int, float]] = []
    for first, last in sorted(spans):
        if made and first <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(made[-1][1], last))
        else:
            made.append((first, last))
    if made == [(1, math.inf)]:
        return ""
    return ", ".join(f"{first}-{'' if last == math.inf else int(last)}" for first, last in made)


# ── what a call is about ─────────────────────────────────────────────────────────────────────────────────────────


class _Target(NamedTuple):
    """What a call says it is about, before its result is examined."""

    kind: Kind
    path: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    command: str | None = None


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


def _targets(call: ToolCall) -> list[_Target]:
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
        return [_Target(kind, _path(place), command=string(values.get("query")) or None)]
    if kind == "read":
        first, last = _lines(values, skips=is_view)
        return [_Target(kind, _path(path), first, last) for path in paths] or [_Target(kind)]
    if not paths and not is_bare:
        return [_Target("other")]  # `edit` changes the open file; `update_plan` changes none
    return [_Target(kind, _path(path)) for path in paths] or [_Target(kind)]


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


def _patched(texts: Iterable[Json]) -> list[_Target]:
    """Return the files that a patch in one of these texts names (Codex's `apply_patch`)."""
    patch = next((text for text in texts if isinstance(text, str) and "*** Begin Patch" in text), "")
    return [_Target(_PATCHES[done], _path(path)) for done, path in _PATCHED.findall(patch)]


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


def _ran(command: str | None) -> list[_Target]:
    """Return what a command does: one that only shows a file is a read of it; everything else is a run."""
    plain = _PLAIN.fullmatch(command) if command and len(command) < 1000 else None
    if plain:
        folder = (plain[1] or "").strip("'\"")
        program, *rest = (word.strip("'\"") for word in _SPLIT.findall(plain[2]))
        if span := _shown_by(program, rest):
            first, last, files = span
            return [_Target("read", _path(posixpath.join(folder, name)), first, last, command) for name in files] or [
                _Target("run", command=command)
            ]
    return [_Target("run", command=command)]


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


def _seen(target: _Target, text: str) -> _Target:
    """Return the target, corrected by what a successful result says about itself."""
    head, tail = text[:_LOOK_CHARS], text[-_LOOK_CHARS:]
    opened = (_OPENED.search(head) or _OPENED.search(tail)) if "[File: " in head or "[File: " in tail else None
    # The result names the full path, while the call had part of it or none.
    if opened:
        target = target._replace(path=_path(opened[1]))
    if target.kind == "write" and _CREATED.search(head[:60]):
        return target._replace(kind="create")
    if target.kind == "read":
        first, last = _shown(target, head, tail, int(opened[2]) if opened else None)
        return target._replace(first_line=first, last_line=last)
    return target


def _shown(target: _Target, head: str, tail: str, total: int | None) -> tuple[int | None, int | None]:
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


# ── how it ended ─────────────────────────────────────────────────────────────────────────────────────────────────

_EXIT = re.compile(
    r"(?i)(?:\b(?:exit(?:ed)?(?: with)?(?: exit)?[ _-]?(?:code|status)|return[ _]?code)|exitcode)"
    r"[\"'>]{0,2}\s{0,2}[:=]?\s{0,2}[\"']?(-?\d{1,6})\b"
)
_ERROR = re.compile(r"\s{0,4}(?:<[\w-]{1,30}>)?\[?(?i:error|fatal|exception)\b[^\n]{0,40}?:")
# SWE-agent shows this above the file as it would have been: long, but still a failure. Codex gives no other sign on its wire.
_REFUSED = (
    "Your proposed edit has introduced",
    "apply_patch verification failed",
    "patch rejected by user",
    "exec command rejected by user",
    "command aborted by user",
    "aborted by user after",
    "aborted before dispatch",
)
# What agents answer in place of a command that never started: there is no such tool, or a person did not allow it.
_NOT_BEGUN = re.compile(
    r"(?i)(?:<\w{1,30}>|error:|\s){0,4}(?:there is no tool\b|no such tool\b|unknown tool\b|unsupported call\b|"
    r"tool [^\s]{1,80} (?:was |is )?(?:not (?:found|available)|unknown)|[\w-]{1,64} is not allowed in this session|"
    r"exec command rejected by user|aborted before dispatch|the user doesn't want to (?:proceed|take))"
)
_RAISED = re.compile(r"[A-Za-z_][\w.]{0,200}(?::|$)")
_TRACEBACK = "Traceback (most recent call last)"
_SAYS_NOTHING = re.compile(
    r"(?i)\W*|</?[\w-]{1,30}>|.{0,40}(?:exit(?:ed)?|return).{0,20}(?:code|status).{0,20}"
    # Codex, before the output of a command.
    r"|Chunk ID: \w{1,20}|Wall time: [\d.]{1,20} seconds|Original token count: \d{1,20}|Output:"
)


class _Ended(NamedTuple):
    """How a call ended."""

    failed: bool = False
    exit_code: int | None = None
    error_head: str = ""
    was_refused: bool = False
    """Whether nothing was done at all, in the words of the agent."""


def _ended(call: ToolCall, result: ToolResult, raw: Json) -> _Ended:
    """Return how a call ended. Errors that a file's text mentions do not count as the end of reading it."""
    kind, text, code = _named(call.name)[0], result.text, None
    if kind == "run" or text.startswith("Exit code: "):  # Codex runs its patches, too
        text, code = _exit(text, raw)
    last = text[-_LOOK_CHARS:].rstrip().rpartition("\n")[2]
    is_raised = kind in {"run", "other"} and _TRACEBACK in text[-_TRACE_CHARS:] and _RAISED.match(last) is not None
    is_told = (kind == "run" or len(text) < _SHORT_CHARS) and _ERROR.match(text) is not None
    is_told = is_told or text[:_LOOK_CHARS].lstrip().startswith(_REFUSED)
    # The wire's own flag comes first, then a stated exit code, which outranks words; words count only without a code.
    if not (result.is_error or (is_raised or is_told if code is None else code)):
        return _Ended(exit_code=code)
    lines = (line.strip() for line in text[:_TRACE_CHARS].splitlines())
    said = last if is_raised else next((line for line in lines if not _SAYS_NOTHING.fullmatch(line)), text.strip())
    was_refused = code is None and _NOT_BEGUN.match(text[:_LOOK_CHARS]) is not None
    return _Ended(failed=True, exit_code=code, error_head=said[:_HEAD_CHARS], was_refused=was_refused)


def _exit(text: str, raw: Json) -> tuple[str, int | None]:
    """Return the output of a command and the exit code stated before, after or around it."""
    if type_of(raw) == "shell_call_output":
        codes = [field(run, "outcome", "exit_code") for run in objects(raw.get("output"))]
        stated = [code for code in codes if isinstance(code, int)]
        return text, next((code for code in stated if code), stated[0] if stated else None)
    if text.startswith('{"') and _EXIT.search(
        text[-_LOOK_CHARS:]
    ):  # Codex: {"output": "…", "metadata": {"exit_code": 1}}
        output = field(parsed(text)[1], "output")
        if isinstance(output, str):
            return output, _code(text[-_LOOK_CHARS:])
    code = _code(text[:_LOOK_CHARS].partition("\n\n")[0])
    return text, code if code is not None else _code(text[-_LOOK_CHARS:])


def _code(text: str) -> int | None:
    """Return the last exit code that a text states; None if it states none."""
    if "code" not in (lower := text.lower()) and "status" not in lower:
        # Most output, including a program's `return`: the pattern costs ten times as much as these two searches.
        return None
    found = _EXIT.findall(text)
    return int(found[-1]) if found else None
