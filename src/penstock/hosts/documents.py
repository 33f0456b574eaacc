"""How is a configuration edited so that its text and its value keep agreeing (H-3)?

Each edit of the text is read back and compared with the same edit of the value: if anything differs besides the one requested
change, the edit is refused and the text stays as it was. Leaves to others: which edits are made (`parts`), and files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from penstock.errors import PenstockError
from penstock.hosts import env_text, jsonc, nested_values, toml_text
from penstock.hosts.nested_values import MemberEdit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.hosts.nested_values import Path

Format = Literal["json", "toml", "env", "markdown", "whole"]
"""How a configuration is written. JSON may contain comments; `env` is lines of `KEY=value`; Markdown, and a file that is entirely
ours, have no value.
"""

_EDITORS: dict[Format, Any] = {"json": jsonc, "toml": toml_text, "env": env_text, "markdown": None, "whole": None}
"""The module that edits a text in place, by format."""
BEGIN, END = "<!-- penstock:begin -->", "<!-- penstock:end -->"
"""The marks around our lines in instructions for agents."""
_FENCE = re.compile(r" {0,3}(?:(?P<ticks>(?>`{3,}))(?=[^`]*$)|(?P<tildes>(?>~{3,})))")
_FENCE_END = re.compile(r" {0,3}(?:(?P<ticks>(?>`{3,}))|(?P<tildes>(?>~{3,})))[`~]*[ \t\r]*$")


class CannotEditError(PenstockError):
    """A configuration that is left untouched: it cannot be read, or has no place for the addition.

    Attributes:
        by_hand: What a person can write there, if that differs from the usual.
    """

    def __init__(self, said: str, by_hand: str = "") -> None:
        self.by_hand = by_hand
        super().__init__(said)


class Document:
    """The text of a configuration, with edits that are verified before they are kept.

    Attributes:
        text: All of it, a byte order mark included.
        value: Its parsed value; empty for Markdown.
    """

    def __init__(self, text: str, form: Format) -> None:
        """Read a text.

        Raises:
            CannotEditError: It cannot be read, or is not an object.
        """
        self.text = text
        self._format = form
        self._editor = _EDITORS[form]
        self.value: Any = self._read(text)

    def get(self, path: Path) -> Any:
        """Return the value at a path, or `nested_values.MISSING` if there is none."""
        return nested_values.get(self.value, path)

    def is_blank(self, path: Path) -> bool:
        """Return whether the object or list at a path exists and contains nothing, not even a comment."""
        if self.get(path) not in ({}, []):
            return False
        return self._format != "json" or jsonc.is_blank(self.text, path)

    def put(self, path: Path, value: Any) -> None:
        """Add a value where there is none; an index equal to the list's length appends. Raises CannotEditError."""
        edit = self._editor.put
        self._keep(
            lambda: edit(self.text, path, value), lambda: [nested_values.put(self.value, path, self._as_read(value))]
        )

    def replace(self, path: Path, value: Any) -> None:
        """Replace the existing value at a path. Raises CannotEditError."""
        edit = self._editor.replace
        self._keep(
            lambda: edit(self.text, path, value), lambda: [nested_values.put(self.value, path, self._as_read(value))]
        )

    def remove(self, path: Path) -> None:
        """Remove the value at a path. Raises CannotEditError."""
        edit = self._editor.remove
        self._keep(lambda: edit(self.text, path), lambda: self._without(path))

    def rewrite(self, objects: Mapping[Path, Mapping[str, Any]]) -> dict[Path, str]:
        """Give objects other members, member by member, so that the surrounding text stays.

        Args:
            objects: What each object is to hold; none of them is within another.

        Returns:
            For each object that cannot be edited, the reason; it stays as it is.
        """
        # All are read and verified once: a file of some megabytes may have a thousand servers. If that fails, bisection finds the
        # culprit.
        try:
            self._rewrite(objects)
        except CannotEditError:
            if len(objects) > 1:
                items, half = [*objects.items()], len(objects) // 2
                return {**self.rewrite(dict(items[:half])), **self.rewrite(dict(items[half:]))}
            try:
                for path, new in objects.items():
                    self.replace(path, dict(new))  # an inline table of TOML
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
            return [nested_values.put_all(self.value, values)]

        self._keep(edited, expected)

    def _as_read(self, value: Any) -> Any:
        """Return a value as it is read back: numbers of JSON keep their spelling."""
        return jsonc.to_value(jsonc.parse(jsonc.dump(value))) if self._format == "json" else value

    def _without(self, path: Path) -> list[object]:
        values = [nested_values.remove(self.value, path)]
        if self._format == "toml":  # an implicit table disappears with the last table below it
            for depth in range(len(path) - 1, 0, -1):
                if nested_values.get(values[-1], path[:depth]) == {}:
                    values.append(nested_values.remove(values[-1], path[:depth]))
        return values

    def _keep(self, edit: Callable[[], str], expect: Callable[[], list[object]]) -> None:
        try:
            text, expected = edit(), expect()
        except (ValueError, KeyError) as error:
            by_hand = error.line if isinstance(error, toml_text.InlineTableError) else ""
            raise CannotEditError(f"it has no place for that: {error}", by_hand) from error
        try:
            read = self._read(text)
        except CannotEditError:  # the old text was readable, so the edit broke it
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
            raise CannotEditError("it is not an object")
        return value

    # ── Markdown ─────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def block(self) -> str | None:
        """The text between our marks, marks included; None if there are none, or only in a code block."""
        found = self._found_block()
        return None if found is None else self.text[slice(*found)]

    def put_block(self, lines: str) -> None:
        """Put lines between our marks: after the last line, or in place of the existing ones."""
        newline = "\r\n" if "\r\n" in self.text else "\n"
        block = newline.join([BEGIN, *lines.splitlines(), END])
        if (there := self._found_block()) is not None:
            start, end = there
            self.text = self.text[:start] + block + self.text[end:]
            return
        ended = self.text if not self.text or self.text.endswith("\n") else self.text + newline
        self.text = ended + (newline if ended.strip() else "") + block + newline

    def remove_block(self) -> None:
        """Remove our marks, the text between them, and the blank line before them."""
        if (there := self._found_block()) is not None:
            start, end = there
            before = self.text[:start].removesuffix("\n").removesuffix("\r")
            self.text = before + self.text[end:].removeprefix("\r").removeprefix("\n")

    def _found_block(self) -> tuple[int, int] | None:
        """Return the span of our block, without the end of its last line."""
        lines = self.text.split("\n")
        first_and_last = _our_lines(lines)
        if first_and_last is None:
            return None
        first, last = first_and_last
        start = sum(len(line) + 1 for line in lines[:first])
        end = start + sum(len(line) + 1 for line in lines[first:last]) + len(END)
        return start, end


def _member_edits(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[MemberEdit]:
    """Return the edits that turn an object's members into others."""
    gone = [MemberEdit("remove", key) for key in old if key not in new]
    tables = [edit for edit in gone if isinstance(old[edit.key], dict)]
    changed = [
        MemberEdit("replace" if key in old else "put", key, value)
        for key, value in new.items()
        if key not in old or old[key] != value
    ]
    # Tables are removed first, because in TOML whatever follows a table belongs to it.
    return [*tables, *changed, *(edit for edit in gone if edit not in tables)]


def _our_lines(lines: list[str]) -> tuple[int, int] | None:
    """Return the lines of our first and last mark; None if there are none outside a code block.

    Marks within a code block, as in somebody's explanation of them, are that person's text: code blocks are skipped. A code block
    without an end does not count as one, because it would include what we append.
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
    """Return for each line the length of the longest fences below it that can end a code block: one pass, however many blocks
    begin.
    """
    longest, found = {"ticks": 0, "tildes": 0}, []
    for line in reversed(lines):
        found.append(longest)
        if end := _FENCE_END.match(line):
            kind = str(end.lastgroup)
            longest = {**longest, kind: max(longest[kind], len(end[kind]))}
    return found[::-1]


def _is_mark(line: str, mark: str) -> bool:
    return line.removesuffix("\r") == mark
