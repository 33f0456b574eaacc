"""A configuration as text and as what it says, edited so that both agree (H-3).

Every edit of the text is read again and compared with the same edit of the value: what differs in anything but the one thing that
was asked for is refused, and the text stays as it was. Keeps out: which edits are made (`parts`), and files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from penstock.errors import PenstockError
from penstock.hosts import env_text, jsonc, toml_text, trees
from penstock.hosts.trees import MemberEdit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.hosts.trees import Path

Format = Literal["json", "toml", "env", "markdown", "whole"]
"""How a configuration is written. JSON may have comments; `env` is lines of `KEY=value`; Markdown, and a file
that is ours as a whole, say only themselves."""

_EDITORS: dict[Format, Any] = {"json": jsonc, "toml": toml_text, "env": env_text, "markdown": None, "whole": None}
"""What edits a text where it stands, by how it is written."""
BEGIN, END = "<!-- penstock:begin -->", "<!-- penstock:end -->"
"""What stands around our lines in instructions for agents."""
_FENCE = re.compile(r" {0,3}(?:(?P<ticks>(?>`{3,}))(?=[^`]*$)|(?P<tildes>(?>~{3,})))")
_FENCE_END = re.compile(r" {0,3}(?:(?P<ticks>(?>`{3,}))|(?P<tildes>(?>~{3,})))[`~]*[ \t\r]*$")


class CannotEditError(PenstockError):
    """A configuration that is not touched: it cannot be read, or has no place for what was to be added.

    Attributes:
        by_hand: What a person can write there, where that is something else than elsewhere.
    """

    def __init__(self, said: str, by_hand: str = "") -> None:
        self.by_hand = by_hand
        super().__init__(said)


class Document:
    """The text of a configuration, with edits that are proved before they are kept.

    Attributes:
        text: All of it, a byte order mark included.
        value: What it says; of Markdown nothing.
    """

    def __init__(self, text: str, form: Format) -> None:
        """Read a text.

        Raises:
            CannotEditError: It cannot be read, or is no object.
        """
        self.text = text
        self._format = form
        self._editor = _EDITORS[form]
        self.value: Any = self._read(text)

    def get(self, path: Path) -> Any:
        """Return what stands at a path, `trees.MISSING` where nothing does."""
        return trees.get(self.value, path)

    def is_blank(self, path: Path) -> bool:
        """Return whether an object or a list stands at a path that holds nothing, not even a comment."""
        if self.get(path) not in ({}, []):
            return False
        return self._format != "json" or jsonc.is_blank(self.text, path)

    def put(self, path: Path, value: Any) -> None:
        """Add a value where nothing stands; an index as long as its list appends. Raises CannotEditError."""
        edit = self._editor.put
        self._keep(lambda: edit(self.text, path, value), lambda: [trees.put(self.value, path, self._as_read(value))])

    def replace(self, path: Path, value: Any) -> None:
        """Put another value where one stands. Raises CannotEditError."""
        edit = self._editor.replace
        self._keep(lambda: edit(self.text, path, value), lambda: [trees.put(self.value, path, self._as_read(value))])

    def remove(self, path: Path) -> None:
        """Take away what stands at a path. Raises CannotEditError."""
        edit = self._editor.remove
        self._keep(lambda: edit(self.text, path), lambda: self._without(path))

    def rewrite(self, objects: Mapping[Path, Mapping[str, Any]]) -> dict[Path, str]:
        """Give objects other members, member by member, so that what stands around them in the text stays.

        Args:
            objects: What each object is to hold; none of them is within another.

        Returns:
            Why those that cannot be edited stay as they are.
        """
        # All of them with one reading and one proof: a file of some megabytes may have a thousand servers. Where that fails one
        # of them is at fault, and is looked for by halves.
        try:
            self._rewrite(objects)
        except CannotEditError:
            if len(objects) > 1:
                items, half = [*objects.items()], len(objects) // 2
                return {**self.rewrite(dict(items[:half])), **self.rewrite(dict(items[half:]))}
            try:
                for path, new in objects.items():
                    self.replace(path, dict(new))  # one that stands in one line of TOML
            except CannotEditError as error:
                return dict.fromkeys(objects, str(error))
        return {}

    def _rewrite(self, objects: Mapping[Path, Mapping[str, Any]]) -> None:
        edits = {path: _member_edits(self.get(path), new) for path, new in objects.items()}

        def edited() -> str:
            if self._format == "json":
                return jsonc.edit_objects(self.text, edits)
            text = self.text
            for path, edit in ((path, edit) for path, steps in edits.items() for edit in steps):
                value = () if edit.verb == "remove" else (edit.value,)
                text = getattr(self._editor, edit.verb)(text, (*path, edit.key), *value)
            return text

        def expected() -> list[object]:
            values = {}
            for path, steps in edits.items():
                put = {edit.key: self._as_read(edit.value) for edit in steps if edit.verb != "remove"}
                left = {key: value for key, value in self.get(path).items() if key in objects[path]}
                values[path] = {**left, **put}
            return [trees.put_all(self.value, values)]

        self._keep(edited, expected)

    def _as_read(self, value: Any) -> Any:
        """Return a value as it is read again: numbers of JSON keep how they are written."""
        return jsonc.to_value(jsonc.parse(jsonc.dump(value))) if self._format == "json" else value

    def _without(self, path: Path) -> list[object]:
        values = [trees.remove(self.value, path)]
        if self._format == "toml":  # a table that only those below it name goes with the last of them
            for depth in range(len(path) - 1, 0, -1):
                if trees.get(values[-1], path[:depth]) == {}:
                    values.append(trees.remove(values[-1], path[:depth]))
        return values

    def _keep(self, edit: Callable[[], str], expect: Callable[[], list[object]]) -> None:
        try:
            text, expected = edit(), expect()
        except (ValueError, KeyError) as error:
            by_hand = error.line if isinstance(error, toml_text.InlineTableError) else ""
            raise CannotEditError(f"it has no place for that: {error}", by_hand) from error
        try:
            read = self._read(text)
        except CannotEditError:  # what was read before can be read: it is the edit that breaks it
            read = None
        if read not in expected:
            raise CannotEditError("it is written in a way that cannot be edited safely")
        self.text, self.value = text, read

    def _read(self, text: str) -> Any:
        try:
            if self._format in {"markdown", "whole"}:
                return {}
            value = jsonc.to_value(jsonc.parse(text)) if self._format == "json" else self._editor.parse(text)
        except (ValueError, RecursionError) as error:
            raise CannotEditError(f"it cannot be read: {error}") from error
        if not isinstance(value, dict):
            raise CannotEditError("it is no object")
        return value

    # ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def block(self) -> str | None:
        """What stands between our marks, marks included; None where none do, and for those in a code block."""
        found = self._found_block()
        return None if found is None else self.text[slice(*found)]

    def put_block(self, lines: str) -> None:
        """Put lines between our marks: behind the last line, or in place of those that are there."""
        newline = "\r\n" if "\r\n" in self.text else "\n"
        block = newline.join([BEGIN, *lines.splitlines(), END])
        if (there := self._found_block()) is not None:
            start, end = there
            self.text = self.text[:start] + block + self.text[end:]
            return
        ended = self.text if not self.text or self.text.endswith("\n") else self.text + newline
        self.text = ended + (newline if ended.strip() else "") + block + newline

    def remove_block(self) -> None:
        """Take our marks and what stands between them away, with the blank line before them."""
        if (there := self._found_block()) is not None:
            start, end = there
            before = self.text[:start].removesuffix("\n").removesuffix("\r")
            self.text = before + self.text[end:].removeprefix("\r").removeprefix("\n")

    def _found_block(self) -> tuple[int, int] | None:
        """Return where our block stands, without the end of its last line."""
        lines = self.text.split("\n")
        first_and_last = _our_lines(lines)
        if first_and_last is None:
            return None
        first, last = first_and_last
        start = sum(len(line) + 1 for line in lines[:first])
        end = start + sum(len(line) + 1 for line in lines[first:last]) + len(END)
        return start, end


def _member_edits(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[MemberEdit]:
    """Return what turns the members of an object into others."""
    gone = [MemberEdit("remove", key) for key in old if key not in new]
    tables = [edit for edit in gone if isinstance(old[edit.key], dict)]
    changed = [
        MemberEdit("replace" if key in old else "put", key, value)
        for key, value in new.items()
        if key not in old or old[key] != value
    ]
    # Tables go first, because in TOML what is put behind a table is in it.
    return [*tables, *changed, *(edit for edit in gone if edit not in tables)]


def _our_lines(lines: list[str]) -> tuple[int, int] | None:
    """Return the lines of our first mark and of our last; None where none stand outside of a code block.

    Marks within somebody's code block, as one who explains them writes them, are that person's text: such blocks are passed over.
    One that does not end would take in what we put behind it, and is none.
    """
    ends = [number for number, line in enumerate(lines) if _is_mark(line, END)]
    longest_behind = _longest_fence_ends(lines)
    number = 0
    while number < len(lines):
        line = lines[number]
        if _is_mark(line, BEGIN) and ends and ends[-1] > number:
            return number, next(end for end in ends if end > number)
        fence = _FENCE.match(line)
        kind = fence.lastgroup if fence else None
        if fence and kind and longest_behind[number][kind] >= len(fence[kind]):
            number += 1
            while not ((end := _FENCE_END.match(lines[number])) and len(end[kind] or "") >= len(fence[kind])):
                number += 1
        number += 1
    return None


def _longest_fence_ends(lines: list[str]) -> list[dict[str, int]]:
    """Return for each line how long the longest fences behind it are that can end a code block: one look, however many begin."""
    longest, found = {"ticks": 0, "tildes": 0}, []
    for line in reversed(lines):
        found.append(longest)
        if end := _FENCE_END.match(line):
            kind = str(end.lastgroup)
            longest = {**longest, kind: max(longest[kind], len(end[kind]))}
    return found[::-1]


def _is_mark(line: str, mark: str) -> bool:
    return line.removesuffix("\r") == mark
