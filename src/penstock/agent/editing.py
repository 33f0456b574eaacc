"""What may be written? One exact text in a file for another, or a whole file; and never text that is not the model's own (S-16).

A text is replaced only if it occurs exactly once; all other bytes stay as they are, with the encoding, the byte order mark and
the line ends of the file. What a page or a result shows in place of text is never written. A file holds the old or the new
content at any instant, and is left alone if somebody else has changed it meanwhile. Law: what an edit reports as changed is what
changed. Leaves to others: how a file is replaced beneath the root (`workspace.root`), and what a model must have seen before
(the ledger decides, asked by `guard`).
"""

from __future__ import annotations

import re
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from penstock.errors import REFUSALS, CallerError, ToolError
from penstock.session.effects import Acted, Change, Intent
from penstock.text import escape, notices, redaction, stand_ins
from penstock.text import fitting as guards
from penstock.text.calls import PYTHON
from penstock.text.window import UTF8
from penstock.tools import REQUIRED, Parameter, Tool, check
from penstock.workspace import refusals, texts, writing
from penstock.workspace.replacing import NotTakenBack
from penstock.workspace.unasked import why_unasked_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from penstock.session.effects import Settled
    from penstock.session.verdicts import ActVerdict
    from penstock.text.json_access import Json
    from penstock.text.window import Encoding
    from penstock.workspace.root import Root
    from penstock.workspace.source import FileSource

    Act = Literal["create", "modify", "replace"]
    Guard: TypeAlias = Callable[[Act, str, str, str], ActVerdict]
    """Judges an act before it is done: called with the path, the present version ("" for none) and the new text.

    It is built from `Ledger.may_create`, `may_modify` and `may_replace`.
    """

# Larger files are generated, not edited by hand.
MAX_BYTES = 8 << 20
"""The most bytes of a file, before and after an edit."""
KIND = "edit"
"""The kind of these tools' intents in a journal."""
_LINES_NAMED = 10
"""How many places are named for a text that occurs more than once."""

_PATH = Parameter("path", "string", REQUIRED, "path of the file, relative to the root")
_OVERRIDE = Parameter("override", "boolean", False, "do it although it was refused; the refusal says when")
TOOLS = (
    Tool(
        "edit_file",
        "Replace text in a file",
        "Replace one exact piece of text in a file. old must occur in the file exactly once: copy it from a page without the line "
        "numbers, with its indentation, and with enough lines around it to be the only one. Everything else stays as it is.",
        (
            _PATH,
            Parameter("old", "string", REQUIRED, "the text that is there now, exactly"),
            Parameter("new", "string", REQUIRED, "the text to put in its place; empty removes it"),
            _OVERRIDE,
        ),
    ),
    Tool(
        "write_file",
        "Write a whole file",
        "Create a file with the given content, and the folders above it, or replace all of a file that is there. To change a part "
        "of a file, use edit_file.",
        (_PATH, Parameter("content", "string", REQUIRED, "all of the text that the file shall hold"), _OVERRIDE),
    ),
)
"""The tools that write: `edit_file` and `write_file`."""


class Editing:
    """The tools that write beneath a root.

    Args:
        root: nothing outside it is touched, and no link is followed to write.
        guard: may refuse changes to what the session does not know well enough; None lets all pass.
        allow_write_to: paths beneath the root that may be written although other programs run their content unasked, such as
            `.git`; a folder allows everything in it.

    Raises:
        ToolError: for a path in `allow_write_to` that is empty or leads out of the root.
    """

    tools = TOOLS

    def __init__(self, root: Root, *, guard: Guard | None = None, allow_write_to: Iterable[str] = ()) -> None:
        self.root = root
        self._guard = guard
        self._allowed = tuple(root.relative(path) for path in allow_write_to)

    def intent(self, name: str, arguments: Mapping[str, Json]) -> Intent:
        """Return what a call would change, for the journal. A call that will be refused changes nothing, and its result says so.

        Args:
            name: `edit_file` or `write_file`.
            arguments: as the model gave them.

        Returns:
            The intent; its digest is `BEFORE>AFTER`, SHA-256 of the file as it is (empty for none) and as it would be.

        Raises:
            CallerError: for a tool that is not here.
        """
        try:
            change = self._planned(name, arguments)
        except ToolError:
            return Intent(KIND, escape.clip(str(arguments.get("path", ""))))
        return Intent(KIND, change.file.path, f"{change.file.digest}>{change.digest}")

    def change(self, name: str, arguments: Mapping[str, Json]) -> Change | None:
        """Return the file that a call would change, as it is and as it would be; None for a call that will be refused.

        Args:
            name: `edit_file` or `write_file`.
            arguments: as the model gave them.

        Raises:
            CallerError: for a tool that is not here.
        """
        try:
            return self._planned(name, arguments).whole
        except ToolError:
            return None

    def run(self, name: str, arguments: Mapping[str, Json]) -> Acted:
        """Do what a call asks for. A mistake of the model is a result that says how to do better.

        Args:
            name: `edit_file` or `write_file`.
            arguments: as the model gave them.

        Raises:
            CallerError: for a tool that is not here.
        """
        change = None
        try:
            # No other edit of ours comes between reading and writing: each is made in what the previous one left.
            with writing.alone_with(self.root, self.root.relative(str(arguments.get("path", ".")))):
                change = self._planned(name, arguments)
                advice = self._asked(change, override=bool(arguments.get("override")))
                lost = writing.replace_file(self.root, change.file.relative, change.after, change.file.known)
                return self._done(name, change, advice, lost)
        except ToolError as error:
            text = notices.with_ways(error.message, [PYTHON.write(call) for call in error.calls])
            failed = Acted(
                guards.bounded(text), failed=True, what=f"{name}: {error.code}", is_refusal=error.code in REFUSALS
            )
            # What was written nevertheless belongs to the session: a handoff names it, and an undo restores it.
            if change is not None and isinstance(error, NotTakenBack) and error.is_there:
                return failed._replace(before=change.file.digest, after=change.digest, change=change.whole)
            return failed

    def settled(self, kind: str, what: str, digest: str) -> Settled:
        """Return the outcome of an intent: the file is as it was before, or as it was to be, or neither.

        Args:
            kind: the kind of the intent.
            what: the path.
            digest: that of the intent; or that of the result alone, once it is in the journal.
        """
        before, sign, after = digest.partition(">")
        if kind != KIND or not digest:
            return "unknown"
        if not sign:
            return "done"
        try:
            with texts.open_file(self.root, what) as (source, _):
                now = _digest(content_of(source))
        except ToolError as error:
            if error.code != "not_found":
                return "unknown"
            now = ""
        return "done" if now == after else "not done" if now == before else "unknown"

    # ── plans ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _planned(self, name: str, arguments: Mapping[str, Json]) -> _Change:
        """Return what a call would do, before anything is done. Raises `ToolError` for what cannot be done."""
        tool = next((tool for tool in self.tools if tool.name == name), None)
        if tool is None:
            raise CallerError(f"There is no tool {escape.clip(name)} here.")
        given = {name: str(value) for name, value in check(tool, arguments).items()}
        if name == "edit_file":
            return self._edited(given["path"], given["old"], given["new"])
        return self._written(given["path"], given["content"])

    def _edited(self, path: str, old: str, new: str) -> _Change:
        """Return the change of one exact text for another."""
        # Models write line feeds, whatever the file has: the search uses the text with line feeds, the change is made in the text
        # as it is, with the file's own line ends.
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
        if not old:
            raise ToolError(
                "bad_argument", "old is empty. Give the text that is to be replaced; write_file makes a new file."
            )
        if old == new:
            raise ToolError("bad_argument", "old and new are the same: there is nothing to change.")
        file = self._read(path)
        _check_text("new", new, file)
        plain = file.text.replace("\r\n", "\n")
        at = plain.find(old)
        if at < 0:
            raise ToolError("bad_argument", _not_there(file.path, plain, old))
        # Search from the next character, not from the end of the first match: `aa` occurs twice in `aaa`, and either place could be
        # meant.
        if plain.find(old, at + 1) >= 0:
            raise ToolError("bad_argument", _not_once(file.path, plain, old))
        start, end = _places(file.text, plain, (at, at + len(old)))
        after = file.encoded(file.text[:start] + new.replace("\n", file.newline) + file.text[end:])
        first, last, count = edit = _lines_changed(plain, at, at + len(old), new)
        before, behind = _range(first, last), _range(first, first + count - 1)
        said = f"{before} changed" if before == behind else f"{before} became {behind}"
        act: dict[str, Json] = {"did": "modified", "before": file.version, "edits": [edit]}
        return _Change(file, after, "modify", new, said, act)

    def _written(self, path: str, content: str) -> _Change:
        """Return the change of a whole file, or of a new one."""
        try:
            file = self._read(path)
        except ToolError as error:
            if error.code != "not_found":
                raise
            relative = self.root.relative(path)
            if self.root.is_secret(relative):
                raise refusals.secret(relative) from None
            file = _File(relative, escape.show_name(relative))
        _check_text("content", content, file)
        if file.known is None:
            new = writing.missing_folders(self.root, file.relative)
            return _Change(file, file.encoded(content), "create", content, "created", {"did": "created"}, new)
        # A model that read the mark as a character may write it back; `encoded` adds the file's own mark again.
        text = content.removeprefix("\ufeff") if file.mark else content
        if file.text:
            text = text.replace("\r\n", "\n").replace("\n", file.newline)
        return _Change(file, file.encoded(text), "replace", content, "replaced", {"did": "modified", "is_whole": True})

    def _read(self, path: str) -> _File:
        """Return the text at a path, with everything about it that must stay the same.

        Raises:
            ToolError: for what is not text, is too large, is reached by a link, or changes while it is read.
        """
        with texts.open_text(self.root, path) as opened:
            source, relative = opened.source, self.root.relative(path)
            # Reading through a link is fine; writing would change a file that the call did not name.
            real = self.root.resolved(source.file.descriptor)
            if real is not None and real != relative:
                leads = f"{escape.clip(path)} leads to {escape.show_name(real)} by a link, and no link is followed to write."
                raise ToolError("bad_argument", f"{leads} Give that path.")
            _check_size(opened.path, source.size_bytes)
            data = source.read(0, source.size_bytes)
            if len(data) < source.size_bytes:
                raise ToolError("stale", f"{escape.shorten(opened.path)} is being changed. Read it again.")
            version = texts.token(source, len(data))
            return _File.of(relative, opened.path, data, opened.encoding, version)

    # ── deeds ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _asked(self, change: _Change, *, override: bool) -> str:
        """Return the advice on a change that may be made.

        Raises:
            ToolError: for one that may not, with the verdict's own text.
        """
        # No override: a model that may write there may do anything, at the next commit of whoever trusts it with a file.
        if why := why_unasked_at(self.root.path, change.file.relative, self._allowed):
            said = f"Refused: {change.file.path} is not written, because {why}. Only the user can allow it, with"
            raise ToolError("denied", f"{said} --allow-write-to {shlex.quote(change.file.path)}.")
        if override:
            return ""
        if said := _mixed(change):
            raise ToolError("denied", said)
        if self._guard is None:
            return ""
        verdict = self._guard(change.kind, change.file.path, change.file.version, change.content)
        if verdict.level == "refused":
            raise ToolError("denied", verdict.text)
        return verdict.text

    def _done(self, name: str, change: _Change, advice: str, lost: tuple[str, ...]) -> Acted:
        """Return the result of a change that was made, with what a ledger records of it."""
        file = change.file
        total = file.lines_in(change.after)
        act = {**change.act, "path": file.path, "total_lines": total, "size_bytes": len(change.after)}
        act |= {"version": self._version(change), "digest": change.digest}
        said = [change.said, f"{notices.counted(total, 'line')}, {notices.counted(len(change.after), 'byte')}"]
        said += [notices.CRLF] if file.newline != "\n" else []
        said += [f"encoding {file.encoding.name}"] if file.encoding.name != "UTF-8" else []
        said += [f"it lost {', '.join(lost)}"] if lost else []
        text = f"{notices.title(file.path)}: " + " | ".join(said) + (f"\n{advice}" if advice else "")
        what = f"{name} {escape.shorten(file.path)}: {change.said}"
        return Acted(guards.bounded(text), False, what, file.digest, change.digest, (act,), change.whole)

    def _version(self, change: _Change) -> str:
        """Return the token of what was written; empty if somebody has already changed it again."""
        with suppress(ToolError), texts.open_file(self.root, change.file.path) as (source, _):
            if content_of(source) == change.after:
                return texts.token(source, source.size_bytes)
        return ""


# ── files as text ────────────────────────────────────────────────────────────────────────────────────────────────


class _File(NamedTuple):
    """A file as text, with what must stay the same about it; empty for a new one."""

    relative: bytes
    path: str
    text: str = ""
    mark: bytes = b""
    newline: str = "\n"
    encoding: Encoding = UTF8
    known: bytes | None = None
    version: str = ""

    @classmethod
    def of(cls, relative: bytes, path: str, data: bytes, encoding: Encoding, version: str) -> _File:
        """Return a file from its bytes.

        Raises:
            ToolError: for bytes that are not valid in the encoding that the file's mark promises.
        """
        mark = data[: encoding.bom_bytes]
        try:
            text = data[len(mark) :].decode(encoding.codec, _LOSSLESS[encoding.unit == 1])
        except UnicodeDecodeError:
            raise ToolError(
                "binary", f"{escape.shorten(path)} is not valid {encoding.name}: it cannot be edited."
            ) from None
        # The majority's: a file with mixed line ends keeps each, and new lines get the usual one.
        newline = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"
        return cls(relative, path, text, mark, newline, encoding, data, version)

    @property
    def digest(self) -> str:
        """SHA-256 of the content; empty for a file that does not exist."""
        return "" if self.known is None else _digest(self.known)

    def encoded(self, text: str) -> bytes:
        """Return the bytes of the whole file with another text, its byte order mark in front."""
        data = self.mark + text.encode(self.encoding.codec, _LOSSLESS[self.encoding.unit == 1])
        _check_size(self.path, len(data))
        return data

    def lines_in(self, data: bytes) -> int:
        """Return how many lines such content has; a last one without an end counts, a mark alone does not."""
        return self.encoding.count(data) + (len(data) > len(self.mark) and not self.encoding.ends_line(data))


def _mixed(change: _Change) -> str:
    """Return the refusal of text that would be written as UTF-8 among bytes that are not UTF-8; empty if nothing is mixed.

    A file in Latin-1 or a Japanese code page has no mark of its encoding. ASCII is the same in all of them.
    """
    file = change.file
    if change.content.isascii() or file.encoding.unit != 1 or not _NO_TEXT.search(file.text):
        return ""
    odd = escape.show_text(next(character for character in change.content if not character.isascii()))
    return (
        f"Refused: {file.path} holds bytes that are not UTF-8, as a file of an older encoding does, and {odd} would be written as "
        "UTF-8 among them. Write ASCII alone, or change the file by a command; override=true writes it all the same."
    )


# Bytes that are not text are represented by these while a file is edited.
_NO_TEXT = re.compile("[\udc80-\udcff]")
# Bytes that are not text survive unchanged: the handlers of UTF-16 and UTF-32, and of UTF-8.
_LOSSLESS = ("surrogatepass", "surrogateescape")


class _Change(NamedTuple):
    """What a call would do: a file, its new content, and how that is reported to a ledger and to the model."""

    file: _File
    after: bytes
    kind: Act
    content: str
    said: str
    act: dict[str, Json]
    new_folders: int = 0

    @property
    def digest(self) -> str:
        return _digest(self.after)

    @property
    def whole(self) -> Change:
        return Change(self.file.path, self.file.known, self.after, self.new_folders)


def content_of(source: FileSource) -> bytes:
    """Return what a file holds, or its beginning if it is larger than any edit may leave it."""
    return source.read(0, MAX_BYTES + 1)


def _digest(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


def _check_size(path: str, size_bytes: int) -> None:
    if size_bytes > MAX_BYTES:
        said = f"{escape.shorten(path)}: {size_bytes} bytes are more than the {MAX_BYTES} that are edited or written at once."
        raise ToolError("bad_argument", said)


def _check_text(name: str, content: str, file: _File) -> None:
    """Raise `ToolError` for text that is invalid or is ours: a stand-in for text elsewhere is not file content."""
    try:
        content.encode()
    except UnicodeEncodeError:
        raise ToolError("bad_argument", f"{name}: it holds half of a UTF-16 pair, which no file can hold.") from None
    if "\0" in content:
        raise ToolError("bad_argument", f"{name}: it holds a NUL character, and the file would no longer be text.")
    if not stand_ins.find_stand_in(content) and not redaction.mark_in(content):
        return
    there = set(file.text.splitlines())
    for line in content.splitlines():
        if line in there:
            # The file's own line, as in a page about such lines.
            continue
        if ours := stand_ins.find_stand_in(line):
            raise ToolError("bad_argument", f"Refused: {stand_ins.would_write(ours)}. {stand_ins.WRITE_THE_TEXT}")
        if mark := redaction.mark_in(line):
            said = f"Refused: {stand_ins.would_write(mark)}, a secret that is not shown."
            raise ToolError(
                "bad_argument", f"{said} Leave that line as it is, and edit those around it with edit_file."
            )


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _places(text: str, plain: str, at: tuple[int, int]) -> tuple[int, ...]:
    """Return the same places in a text with CRLF as in the one without."""
    if len(text) == len(plain):
        return at
    # Line by line, since only a CRLF makes the two differ: a place is the start of its line in the text as it is, plus its offset
    # in the line of the plain one.
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return tuple(starts[plain.count("\n", 0, place)] + place - plain.rfind("\n", 0, place) - 1 for place in at)


def _lines_changed(text: str, start: int, end: int, new: str) -> tuple[int, int, int]:
    """Return the first and the last line that an edit replaces, and the number of new lines."""
    begin = text.rfind("\n", 0, start) + 1
    # An edit within a line replaces that line. Only if it removes whole lines, and its replacement ends a line or is empty, is no
    # neighbour joined to it: removing "b\n" from "a\nb\nc" changes line 2 and not line 3.
    joins = text[begin:start] + new
    is_whole = text[end - 1 : end] == "\n" and (not joins or joins.endswith("\n"))
    stop = end if is_whole else text.find("\n", end) + 1 or len(text)
    first = text.count("\n", 0, begin) + 1
    return first, first - 1 + _lines(text[begin:stop]), _lines(joins + text[end:stop])


def _lines(text: str) -> int:
    """Return how many lines a text has; a last one without an end counts."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def _range(first: int, last: int) -> str:
    return "nothing" if last < first else f"line {first}" if first == last else f"lines {first}-{last}"


# ── what to say of a text that is not there, or not once ─────────────────────────────────────────────────────────


def _not_once(path: str, text: str, old: str) -> str:
    """Return the places of a text that occurs more than once, including overlaps."""
    places: list[int] = []
    at = text.find(old)
    while at >= 0 and len(places) <= _LINES_NAMED:
        places.append(text.count("\n", 0, at) + 1)
        at = text.find(old, at + 1)
    times = max(text.count(old), len(places))
    named = ", ".join(map(str, places[:_LINES_NAMED])) + (", …" if times > _LINES_NAMED else "")
    return (
        f"old stands {times} times in {escape.shorten(path)}, beginning on lines {named}. "
        "Nothing was changed. Give more of the lines around the one that is meant, so that it occurs only once."
    )


def _not_there(path: str, text: str, old: str) -> str:
    """Return that a text does not occur, and what was probably meant: the usual slips, the likeliest first."""
    said = f"old does not occur in {escape.shorten(path)}. Nothing was changed."
    if stand_ins.find_stand_in(old) or redaction.mark_in(old):
        return f"{said} It holds what a page or a result shows in place of text: leave that out."
    bare = notices.without_gutters(old)
    if bare != old and bare in text:
        return f"{said} Without the line numbers in front it does: leave them out."
    if old in escape.show_text(text):
        return f"{said} What a page shows as an escape, like \\x1b, is another character in the file: leave that out."
    loose, wanted = _loosened(text), _loosened(old).strip("\n")
    at = loose.find(wanted) if wanted.strip() else -1
    if at < 0:
        return f"{said} View the place, and copy the text from there."
    first = loose.count("\n", 0, at) + 1
    where = _range(first, first + wanted.count("\n"))
    return f"{said} It does with other blanks, on {where}: view that, and copy tabs, indentation and line ends as they are."


def _loosened(text: str) -> str:
    """Return a text with runs of blanks collapsed and none around a line; lines stay lines."""
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))
