"""R2: how many hostile inputs does every tool survive, in every face?

Each case is one call on the tree of `hostile_tree`. Checked for each (G1 to G7 of reliability.md): an answer or a named error
within limits of time, memory and size; nothing is cut or skipped silently; the error's code; another call is answered meanwhile;
the same call gives the same answer; and no answer holds a raw control character or a byte from outside the root.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proof.faces import BUDGET, Answer, Direct, Face, Http, Silent, Stdio, forget_peak, resident
from proof.figure import Figure, folder, main
from proof.hostile_tree import CANARY, NAMES, TEXTS, Tree

from penstock.errors import CODES
from penstock.tools import MAX_INTEGER, REQUIRED, TOOLS
from proof import hostile_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

READ_SECONDS, WALK_SECONDS = 10.0, 30.0  # G1
SLACK_SECONDS = 1.0  # for this machine's other work: the deadline is checked between blocks
RESIDENT_BYTES = 64 << 20  # G2
HARD_BYTES = 256 << 10  # G3
SLOW = frozenset(tool.name for tool in TOOLS if tool.slow)
# The characters that `inert` never shows; listed here again, so that a slip there is detected.
_RAW = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f"
    "\U000e0100-\U000e01ef\u2028\u2029\ud800-\udfff]"
)
_SHOWING = re.compile(r"showing lines (\d+)-(\d+) of (at least )?(\d+) total")
_BYTES = re.compile(r"bytes (\d+)-(\d+) of (\d+)")
_FILES = re.compile(r"\[Files (\d+)-(\d+) of (?:at least )?(\d+)\]")
_MATCHES = re.compile(r"(?:at least )?(\d+) matching lines in .*?showing (\d+)-(\d+)")


@dataclass(frozen=True, slots=True)
class Case:
    """`code` is the expected error: None for an answer, a set of codes, or any of the closed list (`CODES`).

    An answer is always allowed if `code` is `CODES` or contains "answer". `says` must be found in the text.
    """

    what: str
    tool: str
    arguments: Mapping[str, object]
    code: frozenset[str] | None = None
    says: str = ""
    steady: bool = True  # the same call gives the same answer; otherwise more of a huge file is known by then
    slow: bool = False  # runs to its tool's deadline: once per face is enough


ANY = CODES | {"answer"}


@dataclass(slots=True)
class Tally:
    """What a run of cases found."""

    tried: int = 0
    failed: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    largest: tuple[int, str] = (0, "")
    resident: tuple[int, str] = (0, "")
    notes: list[str] = field(default_factory=list)


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────


def _codes(*codes: str) -> frozenset[str]:
    return frozenset(codes)


def cases(tree: Tree) -> list[Case]:
    """The whole table."""
    parts = (_files, _large, _folders, _names, _deep, _patterns, _numbers, _strings, _mistakes)
    return [case for part in parts for case in part(tree)]


def _one_file(
    what: str, path: str, code: frozenset[str] | None, says: str = "", *, binary: bool = False
) -> Iterator[Case]:
    """Every tool on one path. `code` is the refusal, None for text."""
    text = _codes("binary") if binary else code
    reason = says
    yield Case(what, "view", {"file_path": path}, text, reason)
    yield Case(what, "view", {"file_path": path, "offset": 10**12, "limit": 7}, text)
    yield Case(what, "view", {"file_path": path, "offset": 1, "limit": 2}, text)
    yield Case(what, "read_file", {"path": path}, text, reason)
    yield Case(what, "read_file", {"path": path, "start_byte": 0}, text)
    yield Case(what, "read_file", {"path": path, "start_byte": 3, "max_bytes": 1}, text)
    yield Case(what, "read_file", {"path": path, "start_byte": 10**15}, text)
    yield Case(what, "read_file", {"path": path, "start_line": 2, "end_line": 4}, text)
    yield Case(what, "read_file", {"path": path, "start_byte": 0, "encoding": "base64"}, code)
    yield Case(what, "outline", {"path": path}, text, reason)
    yield Case(what, "search", {"pattern": "e", "path": path}, code or None, reason if code else "")
    yield Case(what, "search", {"pattern": "\u00e9|\\x1b|^$", "path": path, "context_lines": 2}, code)
    for tool in ("list_files", "count_files"):
        yield Case(what, tool, {"path": path}, _codes("not_directory") | (code or frozenset()))


def _files(tree: Tree) -> Iterator[Case]:
    for name, content in TEXTS.items():
        what = "text: " + name
        marked = content.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"))
        yield from _one_file(what, "text/" + name, None, binary=not marked and b"\0" in content[:8192])
    for name in sorted(os.listdir(os.path.join(tree.root, "special"))):
        yield from _one_file("special: " + name, "special/" + name, _codes("not_regular_file"), r"not_regular_file: \w")
    out, loop, missing = (
        _codes("outside_root"),
        _codes("link_loop", "outside_root"),
        _codes("not_found", "outside_root"),
    )
    links: dict[str, frozenset[str]] = {
        **dict.fromkeys(
            ("proc", "proc-root", "absolute", "relative", "evil-twin", "chain-1", "etc", "folder-out"), out
        ),
        **dict.fromkeys(("folder-out/f", "etc/passwd", "root-itself", "root-itself/text/plain.txt"), out),
        "magic": _codes("outside_root", "link_loop"),
        **dict.fromkeys(("loop-a", "self", "loop-a/x", "step-0"), loop),
        "dangling": missing,
        "long": missing | _codes("path_too_long"),
        "to-fifo": _codes("not_regular_file", "outside_root"),
        "to-secret": _codes("secret", "outside_root"),
    }
    for name, code in links.items():
        yield from _one_file("link: " + name, "links/" + name, code)
    yield from _one_file("link inside", "links/inside", None)
    for secret in hostile_tree.SECRETS:
        yield from _one_file("secret", "secrets/" + secret.decode(), _codes("secret"))
    yield from _one_file("closed file", "perm/c-closed.txt", _codes("denied"))
    yield from _one_file("closed folder", "perm/b-denied/inner.txt", _codes("denied"))


def _large(tree: Tree) -> Iterator[Case]:
    size = tree.line_bytes
    for name in ("large/sparse.txt", "large/line.txt"):
        what = "1 TB" if "sparse" in name else f"one line of {size >> 20} MB"
        yield Case(what, "view", {"file_path": name}, None, "total", steady=False)
        yield Case(what, "read_file", {"path": name, "start_byte": 0}, None, "next: ")
        yield Case(what, "read_file", {"path": name, "start_byte": size // 2, "max_bytes": 1_000}, None, "fragment")
        yield Case(what, "read_file", {"path": name, "start_byte": size - 100}, None)
        yield Case(what, "read_file", {"path": name, "start_line": 1, "end_line": 1}, None, steady=False)
        yield Case(what, "read_file", {"path": name, "start_byte": 5, "max_bytes": 10, "encoding": "base64"}, None)
        yield Case(what, "read_file", {"path": name}, ANY, steady=False, slow=True)
        yield Case(what, "outline", {"path": name}, ANY, steady=False, slow=True)
        yield Case(what, "view", {"file_path": name, "offset": 10**9}, ANY, steady=False, slow=True)
        yield Case(what, "search", {"pattern": "no such text", "path": name}, None, "searched", slow=True)
        yield Case(what, "search", {"pattern": "end|head", "path": name}, None, "searched", slow=True)
    yield Case(
        "search says how much",
        "search",
        {"pattern": "zzz", "path": "large/sparse.txt"},
        None,
        "not complete",
        slow=True,
    )
    yield Case("hole", "view", {"file_path": "large/hole.bin"}, _codes("binary"))
    yield Case("hole", "read_file", {"path": "large/hole.bin", "encoding": "base64", "start_byte": 1 << 39}, None)
    yield Case("hole", "outline", {"path": "large/hole.bin"}, _codes("binary"))
    yield Case("hole", "search", {"pattern": "x", "path": "large/hole.bin"}, None, "binary")
    for tool in ("search", "count_files"):
        yield Case(
            "folder",
            tool,
            {"path": "large", "pattern": "*" if tool == "count_files" else "nothing"},
            None,
            slow=True,
        )


def _folders(tree: Tree) -> Iterator[Case]:
    folders = (
        "special",
        "links",
        "names",
        "perm",
        "ignore",
        "secrets",
        "text",
        "links/up",
        "links/here",
        ".",
        "many",
        "deep",
    )
    for path in folders:
        slow = path in {"many", ".", "links/up"}
        is_link = path.startswith("links/")
        code = _codes("answer", "link_loop", "outside_root") if is_link else None
        for recursive in (False, True):
            for hidden in (recursive,) if slow else (False, True):
                both = {"path": path, "recursive": recursive, "include_hidden": hidden, "include_ignored": hidden}
                yield Case("folder " + path, "list_files", both, code, slow=slow)
                yield Case("folder " + path, "list_files", {**both, "limit": 100}, code, slow=slow)
                yield Case("folder " + path, "count_files", both, code, slow=slow)
        yield Case(
            "folder " + path,
            "list_files",
            {"path": path, "recursive": True, "limit": 1, "offset": 10**15},
            code,
            slow=slow,
        )
        yield Case(
            "folder " + path,
            "search",
            {"path": path, "pattern": "line", "context_lines": 1},
            code,
            slow=slow,
            steady=not slow,
        )
        for tool in ("view", "read_file", "outline"):
            argument = "file_path" if tool == "view" else "path"
            # A file named `secrets` is refused, before its content is read.
            refused = _codes("is_directory", *(["secret"] if path == "secrets" else []))
            yield Case("folder " + path, tool, {argument: path}, refused | (code or frozenset()) - {"answer"})
    yield Case(
        "many", "list_files", {"path": "many", "limit": 100}, None, rf"\[Files 1-100 of {tree.many}\]", slow=True
    )
    yield Case(
        "many", "list_files", {"path": "many", "limit": 100, "offset": tree.many - 50}, None, r"\[Files ", slow=True
    )
    yield Case("many", "count_files", {"path": "many"}, None, f"{tree.many} files", slow=True)
    yield Case("many", "list_files", {"path": "many"}, None, f"Warning: {tree.many} files", slow=True)
    yield Case("skipped and counted", "list_files", {"path": "special"}, None, "special files")
    yield Case("skipped and counted", "search", {"path": "special", "pattern": "x"}, None, "special files")
    yield Case("counted", "list_files", {"path": "links", "limit": 100}, None, "links not followed")
    for tool in ("list_files", "count_files", "search"):
        extra = {"recursive": True} if tool == "list_files" else {"pattern": "open"} if tool == "search" else {}
        yield Case("goes on and counts", tool, {"path": "perm", **extra}, None, "permission denied")
    yield Case("closed folder", "list_files", {"path": "perm/b-denied"}, _codes("denied"))
    yield Case(
        "secrets in a search",
        "search",
        {"path": "secrets", "pattern": ".", "include_hidden": True},
        None,
        "refused by name",
    )


def _names(tree: Tree) -> Iterator[Case]:
    from penstock.text import escape

    kept = set(os.listdir(os.path.join(os.fsencode(tree.root), b"names")))
    for number, name in enumerate(NAMES):
        if name not in kept:
            continue
        shown = escape.show_name(name)
        what = f"name {shown[:40]}"
        for path in (f"names/{shown}", f"./names//{shown}"):
            yield Case(what, "view", {"file_path": path}, None, rf"1\|name {number}\.")
            yield Case(what, "read_file", {"path": path}, None, rf"name {number}\.")
        yield Case(what, "search", {"pattern": "name", "path": f"names/{shown}"}, None, rf"1\|name {number}\.")
        yield Case(what, "outline", {"path": f"names/{shown}"}, None)
    for twin in ("CASE.txt", "case.txt", "Case.txt"):
        yield Case("twins", "view", {"file_path": f"names/{twin}"}, None, rf"1\|name {NAMES.index(twin.encode())}\.")


def _deep(tree: Tree) -> Iterator[Case]:
    yield Case("deep", "view", {"file_path": tree.bottom}, None, r"1\|the bottom")
    yield Case("deep", "read_file", {"path": tree.bottom}, None, "the bottom")
    yield Case("deep", "outline", {"path": tree.bottom}, None)
    yield Case("deep", "search", {"path": "deep", "pattern": "bottom"}, None, r"1\|the bottom")
    yield Case("deep", "search", {"path": tree.bottom, "pattern": "bottom"}, None, r"1\|the bottom")
    yield Case("deep", "list_files", {"path": "deep", "recursive": True}, None, r"bottom\.txt")
    yield Case("deep", "list_files", {"path": os.path.dirname(tree.bottom)}, None, r"bottom\.txt")
    yield Case("deep", "count_files", {"path": "deep"}, None, "1 file ")
    for missing in (tree.bottom + "x", tree.bottom + "/x", tree.bottom.replace("level-0500", "level-x")):
        yield Case("missing below", "view", {"file_path": missing}, _codes("not_found"))
    for path in ("a/" * 30_000, "a" * 300, "a" * 5_000, "a/" * 300_000, "../" * 2_000 + "etc/passwd"):
        for tool, argument in (
            ("view", "file_path"),
            ("read_file", "path"),
            ("outline", "path"),
            ("list_files", "path"),
        ):
            refused = _codes("not_found", "path_too_long", "outside_root")
            yield Case(f"a path of {len(path)} bytes", tool, {argument: path}, refused)


_EXPRESSIONS = (
    ("(a+)+$", None),
    ("(a|a)*b", None),
    ("(x+x+)+y", None),
    ("(.*)(.*)(.*)(.*)(.*)=", None),
    ("^(([a-z])+.)+[A-Z]([a-z])+$", None),
    ("(a?){50}a{50}", None),
    ("a{1000}", None),
    ("a{1001}", "bad_pattern"),
    ("(a{1000}){1000}", "bad_pattern"),
    ("((((a{100}){100}){100}){100})", "bad_pattern"),
    (r"(a)\1", "bad_pattern"),
    ("(?=a)", "bad_pattern"),
    ("(?<!a)b", "bad_pattern"),
    ("(?>a)", "bad_pattern"),
    ("a++", "bad_pattern"),
    ("[", "bad_pattern"),
    ("(", "bad_pattern"),
    ("*", "bad_pattern"),
    ("\\", "bad_pattern"),
    ("(" * 400 + ")" * 400, "any"),
    ("(?P<n", "bad_pattern"),
    ("\\x{110000}", "bad_pattern"),
    ("a" * 1_025, "bad_pattern"),
    ("a" * 1_000_000, "bad_pattern"),
    ("", "bad_pattern"),
    ("a\nb", "bad_pattern"),
    ("\x00", None),
    ("\u202e", None),
    (r"\p{Greek}", None),
    (r"[^\n]*", None),
    ("^", None),
    ("$", None),
    (r"\C", None),
    ("(?i)É", None),
    (r"\xff", None),
    ("|" * 1_000, None),
    (r"\b" * 300, None),
)
_GLOBS = (
    "*a" * 30 + "b",
    "[",
    "[!",
    "[]",
    "[!]",
    "**/**/**/x",
    "*" * 1_000,
    "?" * 255,
    "{a,b}",
    "\\",
    "[a-",
    "[z-a]",
    "",
    "a" * 1_025,
    "../*",
)


def _patterns(tree: Tree) -> Iterator[Case]:
    del tree
    for number, (expression, refused) in enumerate(_EXPRESSIONS):
        what = f"expression {number} {expression[:20]!r}"
        code = ANY if refused == "any" else _codes(refused) if refused else None
        yield Case(what, "search", {"pattern": expression, "path": "text/backtrack.txt"}, code)
        yield Case(
            what, "search", {"pattern": expression, "path": "text", "ignore_case": True, "context_lines": 3}, code
        )
        plain = _codes("bad_pattern") if not expression or "\n" in expression or len(expression) > 1_024 else None
        yield Case(what, "search", {"pattern": expression, "path": "text", "literal": True}, plain)
        names = code if expression != "a\nb" else None
        yield Case(what, "list_files", {"pattern": expression, "path": "names", "use_regex": True}, names)
        yield Case(what, "count_files", {"pattern": expression, "path": "names", "use_regex": True}, names)
    for glob in _GLOBS:
        code = _codes("bad_pattern") if not glob or len(glob) > 1_024 else None
        yield Case(f"glob {glob[:20]!r}", "list_files", {"pattern": glob, "path": "names"}, code)
        yield Case(f"glob {glob[:20]!r}", "count_files", {"pattern": glob, "path": "names"}, code)
        yield Case(f"glob {glob[:20]!r}", "search", {"pattern": "name", "path": "names", "glob": glob}, code)


_BASE: dict[str, dict[str, object]] = {
    "view": {"file_path": "text/plain.txt"},
    "read_file": {"path": "text/plain.txt"},
    "outline": {"path": "text/headings.md"},
    "list_files": {"path": "text"},
    "count_files": {"path": "text"},
    "search": {"path": "text/plain.txt", "pattern": "line"},
    "page": {"handle": "0" * 22},
    "find": {"handle": "0" * 22, "pattern": "line"},
}
_INTEGERS = (-(2**63), -1, 0, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**400)
_NO_INTEGERS: tuple[object, ...] = (1.5, 5.0, -0.0, 1e308, "5", "", True, False, [], [1], {}, {"a": 1})


def _numbers(tree: Tree) -> Iterator[Case]:
    del tree
    for tool in TOOLS:
        for parameter in tool.parameters:
            base = _BASE.get(tool.name)
            if base is None or parameter.kind != "integer":
                continue
            for value in (*_INTEGERS, *_NO_INTEGERS, None):
                fits = type(value) is int and parameter.minimum <= value <= parameter.maximum
                fits = fits or (value is None and parameter.default is not REQUIRED)
                found = _codes("not_found") if "handle" in base else None
                code = found if fits else _codes("bad_argument")
                shown = "10^400" if value == 10**400 else repr(value)
                yield Case(
                    f"{parameter.name}={shown}",
                    tool.name,
                    {**base, parameter.name: value},
                    code,
                    "" if fits else parameter.name,
                )
    for maximum in (MAX_INTEGER,):
        yield Case(
            "all at once",
            "read_file",
            {**_BASE["read_file"], **dict.fromkeys(("start_line", "end_line", "start_byte", "max_bytes"), maximum)},
        )
        yield Case("lines win", "read_file", {**_BASE["read_file"], "start_line": 1, "start_byte": 5}, None, "ignored")


def _strings(tree: Tree) -> Iterator[Case]:
    del tree
    values: tuple[object, ...] = (
        5,
        True,
        None,
        1.5,
        [],
        {},
        "",
        "\x00",
        "a\x00b",
        "a" * 1_000_000,
        "\x1b[2J",
        "~",
        "file:///etc/passwd",
        "\\x00",
        "\\u{110000}",
        "\\x",
    )
    no_booleans: tuple[object, ...] = (0, 1, "true", "yes", "", [], 1.0)
    for tool in TOOLS:
        base = _BASE.get(tool.name)
        for parameter in tool.parameters if base is not None else ():
            if parameter.kind == "boolean":
                for value in no_booleans:
                    yield Case(
                        f"{parameter.name}={value!r}",
                        tool.name,
                        {**(base or {}), parameter.name: value},
                        _codes("bad_argument"),
                        parameter.name,
                    )
            elif parameter.kind == "string":
                for value in values:
                    allowed = value is None and parameter.default is not REQUIRED
                    code = ANY if allowed or isinstance(value, str) else _codes("bad_argument")
                    yield Case(
                        f"{parameter.name}={str(value)[:12]!r}",
                        tool.name,
                        {**(base or {}), parameter.name: value},
                        code,
                    )
                yield Case(
                    f"{parameter.name}=half of a pair", tool.name, {**(base or {}), parameter.name: "\ud800x"}, ANY
                )


def _mistakes(tree: Tree) -> Iterator[Case]:
    del tree
    for tool in TOOLS:
        base = _BASE.get(tool.name)
        if base is None:
            continue
        for unknown in ("offest", "", "\x1b[31m", "x" * 100_000, "__class__", "self", "room", "deadline"):
            yield Case(
                f"unknown {unknown[:10]!r}",
                tool.name,
                {**base, unknown: 1},
                _codes("bad_argument"),
                "has no argument",
            )
        for parameter in tool.parameters:
            if parameter.default is REQUIRED:
                rest = {name: value for name, value in base.items() if name != parameter.name}
                yield Case("missing", tool.name, rest, _codes("bad_argument"), "is required")
        yield Case("many unknown", tool.name, {**base, **{f"x{i}": i for i in range(500)}}, _codes("bad_argument"))
    for path in ("text/plain.tx", "text/Plain.txt", "txet/plain.txt", "names/case.TXT"):
        yield Case("missing", "view", {"file_path": path}, _codes("not_found"))
    for token in ("", "x", "a.b.c", "1.1." + "a" * 16, "-1.-1." + "a" * 16, "1.1." + "é" * 16, "\x00", "z" * 100_000):
        yield Case(
            "a forged version",
            "read_file",
            {"path": "text/plain.txt", "start_byte": 0, "version": token},
            _codes("bad_argument", "stale"),
        )
    for encoding in ("utf-8", "BASE64", "rot13", ""):
        yield Case(
            "another encoding", "read_file", {"path": "text/plain.txt", "encoding": encoding}, _codes("bad_argument")
        )


# ── the checks ───────────────────────────────────────────────────────────────────────────────────────────────────


def _limit_seconds(case: Case) -> float:
    return (WALK_SECONDS if case.tool in SLOW else READ_SECONDS) + SLACK_SECONDS


def _silently_cut(text: str, arguments: Mapping[str, object]) -> str | None:
    """G4: a page that ends early must say how to continue, unless it holds everything that was asked for."""
    head = text.partition("\n")[0]
    if (
        (page := _SHOWING.search(head))
        and int(page[2])
        and (page[3] or int(page[2]) < int(page[4]))
        and "next: " not in head
    ):
        ends, last = _BYTES.search(head), arguments.get("end_line")
        whole = isinstance(last, int) and int(page[2]) >= max(last, 1)
        if not whole and not (ends and ends[2] == ends[3]):
            return "lines cut without a next call"
    if (
        (part := re.search(r"showing bytes (\d+)-(\d+) of (\d+)", head))
        and int(part[2]) < int(part[3])
        and "next: " not in head
    ):
        return "bytes cut without a next call"
    if (files := _FILES.search(head)) and int(files[2]) < int(files[3]) and "next offset=" not in head:
        return "a listing cut without a next offset"
    if (found := _MATCHES.search(head)) and int(found[3]) < int(found[1]) and "next: " not in head:
        return "matches cut without a next call"
    return None


def _wrong(case: Case, answer: Answer, limit_bytes: int, limit_characters: int | None) -> str | None:
    """The first fault of an answer."""
    size = len(answer.text.encode("utf-8", "surrogatepass"))
    if answer.seconds > _limit_seconds(case):
        return f"G1 {answer.seconds:.1f} s"
    if size > limit_bytes or (limit_characters is not None and len(answer.text) > limit_characters):
        return f"G3 {size} bytes"
    if raw := _RAW.search(answer.text):
        return f"L-10 raw U+{ord(raw.group()):04X}"
    if CANARY in answer.text:
        return "L-8 something from outside the root"
    if (answer.code or "").startswith("protocol"):
        sent = json.dumps(case.arguments)
        return None if "\\ud800" in sent else f"G5 {answer.code}: a mistake of a model is a result"
    if answer.is_error:
        if case.slow and answer.code == "deadline":
            return None  # on a busy machine a walk of a million files may end so: in time, and with a named error
        if case.code is None:
            return f"G1 refused: {answer.text[:160]}"
        if answer.code not in CODES:
            return f"G5 code {answer.code}: {answer.text[:160]}"
        if answer.code not in case.code:
            return f"G5 code {answer.code}, not {sorted(case.code)}: {answer.text[:160]}"
        if not answer.text.strip():
            return "G5 an error without words"
    else:
        if case.code is not None and "answer" not in case.code:
            return f"G5 answered, should be {sorted(case.code)}: {answer.text[:160]}"
        if cut := _silently_cut(answer.text, case.arguments):
            return f"G4 {cut}: {answer.text[:160]}"
    if case.says and not re.search(case.says, answer.text):
        return f"G4 does not say {case.says!r}: {answer.text[:200]}"
    return None


def run(face: Face, table: list[Case], tally: Tally, *, twice: Callable[[Case], bool], neighbour: bool) -> None:
    """Every case of the table through one face. `neighbour` sends another call meanwhile (G6)."""
    process = face.process.pid
    for name, arguments in _BASE.items():  # imports at the first use do not count against the input
        face.call(name, arguments)
    face.call("list_files", {"path": "names", "use_regex": True, "pattern": "a"})
    idle = resident(process)
    for number, case in enumerate(table):
        tally.tried += 1
        where = f"{face.name}: {case.what}: {case.tool}({str(dict(case.arguments))[:120]})"
        limit = (4_000, 65_536, None)[number % 3] if isinstance(face, Direct) else None
        if limit == 4_000 and case.says:
            limit = 65_536  # the required words may come after a cut at 4,000
        limit_bytes = limit or HARD_BYTES
        forget_peak(process)
        try:
            if neighbour and isinstance(face, Stdio):
                posted = face.post(case.tool, case.arguments)
                other = face.call("view", {"file_path": "text/plain.txt", "limit": 1})
                answer = face.await_(posted, _limit_seconds(case) + 10)
                if other.is_error or other.seconds > 5:
                    tally.failed.append(f"G6 {where}: another call took {other.seconds:.1f} s")
            else:
                answer = face.call(case.tool, case.arguments, limit_bytes=limit, seconds=_limit_seconds(case) + 10)
        except Silent as silence:
            tally.failed.append(f"G1 {where}: {silence}")
            if face.process.poll() is not None:
                tally.failed.append(f"{face.name}: the process ended; {len(table) - number - 1} cases were not tried")
                return
            continue
        grown = resident(process, "VmHWM") - idle
        tally.slowest = max(tally.slowest, (answer.seconds, where))
        tally.largest = max(tally.largest, (len(answer.text.encode("utf-8", "surrogatepass")), where))
        tally.resident = max(tally.resident, (grown, where))
        if wrong := _wrong(case, answer, limit_bytes, None if isinstance(face, Direct) else BUDGET):
            tally.failed.append(f"{where}: {wrong}")
        elif grown > RESIDENT_BYTES:
            tally.failed.append(f"{where}: G2 {grown >> 20} MiB above idle")
        elif case.steady and twice(case):
            try:
                again = face.call(case.tool, case.arguments, limit_bytes=limit, seconds=_limit_seconds(case) + 10)
            except Silent as silence:
                tally.failed.append(f"G7 {where}: {silence}")
            else:
                if _settled(again.text) != _settled(answer.text) or again.is_error != answer.is_error:
                    tally.failed.append(f"G7 {where}: another answer: {answer.text[:150]!r} then {again.text[:150]!r}")


def _settled(text: str) -> str:
    """A page by bytes numbers its lines once they are known: that counts as the same answer."""
    head, line_end, body = text.partition("\n")
    head = re.sub(r"showing (lines \d+-\d+( of \d+ total)? \| )?bytes", "showing bytes", head)
    return re.sub(r"fragment of (line \d+|one line)", "fragment", head) + line_end + body


def round_trip(face: Face, tree: Tree, tally: Tally) -> None:
    """Everything that a listing shows can be opened; every file of the folder once, whatever its name."""
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = face.call(
            "list_files",
            {"path": "names", "include_hidden": True, "include_ignored": True, "limit": 20, "offset": offset},
        )
        lines = page.text.split("\n")
        seen += [line for line in lines[1:-1] if line]
        following = re.search(r"next offset=(\d+)", lines[0])
        offset = int(following[1]) if following else None
    kept = len(os.listdir(os.path.join(tree.root, "names")))
    tally.tried += 1
    if len(seen) != kept:
        tally.failed.append(f"{face.name}: {len(seen)} entries for {kept} files")
    numbers = set()
    for entry in seen:
        tally.tried += 1
        answer = face.call("view", {"file_path": entry})
        found = re.search(r"\n1\|name (\d+)\.", answer.text)
        if found is None:
            tally.failed.append(f"{face.name}: the entry {entry!r} does not open: {answer.text[:120]}")
        else:
            numbers.add(found[1])
    if len(numbers) != kept:
        tally.failed.append(f"{face.name}: {len(numbers)} of {kept} files were reached from their entries")


def measure(*, long: bool, seed: int) -> Figure:
    """Hostile inputs survived, by every tool in every face."""
    tally = Tally()
    with folder("hostile") as base, ExitStack() as stack:
        start = time.monotonic()
        tree = hostile_tree.build(base, many=1_000_000 if long else 2_000, line_bytes=(1 << 30) if long else (16 << 20))
        tally.notes += tree.skipped
        built = time.monotonic() - start
        table = cases(tree)
        random.Random(seed).shuffle(table)
        if not long:
            table = _sample(table)
        faces: list[Face] = [stack.enter_context(Direct(tree.root, read_seconds=READ_SECONDS if long else 1.0))]
        faces.append(stack.enter_context(Stdio(tree.root)))
        faces.append(stack.enter_context(Http(tree.root, os.path.join(base, "token"))))
        for turn, face in enumerate(faces):
            if isinstance(face, Direct):
                part = table
            elif long:  # cases that run to a deadline are slow: half of them in each
                part = [case for number, case in enumerate(table) if not case.slow or number % 2 == turn % 2]
            else:
                part = table[::6]
            run(face, part, tally, twice=lambda case: not case.slow, neighbour=isinstance(face, Stdio))
            round_trip(face, tree, tally)
    failed = len(tally.failed)
    notes = [*tally.failed, *(f"not tried: {note}" for note in tally.notes)]
    notes.append(f"{len(table)} cases in the table; the tree took {built:.1f} s to build")
    notes.append(f"slowest: {tally.slowest[1]}; largest: {tally.largest[1]}; memory: {tally.resident[1]}")
    return Figure(
        rig="R2",
        name="hostile inputs survived",
        value=(
            f"{tally.tried - failed}/{tally.tried}, slowest {tally.slowest[0]:.2f} s, largest answer {tally.largest[0]} bytes, "
            f"RSS above idle {tally.resident[0] / (1 << 20):.1f} MiB"
        ),
        target="all, 10 s (walks 30 s), 262144 bytes, 64 MiB",
        met=failed == 0,
        seed=seed,
        notes=tuple(notes),
    )


def _sample(table: list[Case]) -> list[Case]:
    """For the suite: the first cases of every kind, none that runs to a deadline by design."""
    from collections import Counter

    taken: Counter[tuple[str, str]] = Counter()
    sample = []
    for case in table:
        key = (case.what.split("=")[0].split(" ")[0], case.tool)
        if not case.slow and taken[key] < 2:
            taken[key] += 1
            sample.append(case)
    return sample


if __name__ == "__main__":
    raise SystemExit(main(measure))
