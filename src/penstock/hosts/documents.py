"""A configuration as text and as what it says, edited so that both agree (H-3).

Every edit of the text is read again and compared with the same edit of the value: what differs in anything but the one thing that
was asked for is refused, and the text stays as it was. Keeps out: which edits are made (`parts`), and files.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from penstock.errors import PenstockError
from penstock.hosts import jsonc, toml_text, trees

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.hosts.trees import Path

Format = Literal["json", "toml", "markdown", "whole"]
"""How a configuration is written. JSON may have comments; Markdown, and a file that is ours as a whole, say only themselves."""

BEGIN, END = "<!-- penstock:begin -->", "<!-- penstock:end -->"
"""What stands around our lines in instructions for agents."""
# Marks within somebody's code block, as one who explains them writes them, are that person's text: such blocks are passed over. One
# that does not end would take in what we put behind it, and is none.
_CODE = r"^ {0,3}(?P<fence>(?>`{3,})(?=[^`\n]*$)|(?>~{3,}))[^\n]*\n.*?^ {0,3}(?P=fence)[`~]*[ \t\r]*$"
_OURS = rf"(?:\r?\n)?^(?P<ours>{re.escape(BEGIN)}\r?$.*?^{re.escape(END)})\r?$\n?"
_BLOCK = re.compile(rf"{_CODE}|{_OURS}", re.MULTILINE | re.DOTALL)


class CannotEditError(PenstockError):
    """A configuration that is not touched: it cannot be read, or has no place for what was to be added."""


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
        self.value: Any = self._read(text)

    def get(self, path: Path) -> Any:
        """Return what stands at a path, `trees.MISSING` where nothing does."""
        return trees.get(self.value, path)

    def is_blank(self, path: Path) -> bool:
        """Return whether an object or a list stands at a path that holds nothing, not even a comment."""
        if self.get(path) not in ({}, []):
            return False
        return self._format == "toml" or jsonc.is_blank(self.text, path)

    def put(self, path: Path, value: Any) -> None:
        """Add a value where nothing stands; an index as long as its list appends. Raises CannotEditError."""
        edit = toml_text.put if self._format == "toml" else jsonc.put
        self._keep(lambda: edit(self.text, path, value), lambda: [trees.put(self.value, path, self._as_read(value))])

    def replace(self, path: Path, value: Any) -> None:
        """Put another value where one stands. Raises CannotEditError."""
        edit = toml_text.replace if self._format == "toml" else jsonc.replace
        self._keep(lambda: edit(self.text, path, value), lambda: [trees.put(self.value, path, self._as_read(value))])

    def remove(self, path: Path) -> None:
        """Take away what stands at a path. Raises CannotEditError."""
        edit = toml_text.remove if self._format == "toml" else jsonc.remove
        self._keep(lambda: edit(self.text, path), lambda: self._without(path))

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
            raise CannotEditError(f"it has no place for that: {error}") from error
        read = self._read(text)
        if read not in expected:
            raise CannotEditError("it is written in a way that cannot be edited safely")
        self.text, self.value = text, read

    def _read(self, text: str) -> Any:
        try:
            if self._format in {"markdown", "whole"}:
                return {}
            value = toml_text.parse(text) if self._format == "toml" else jsonc.to_value(jsonc.parse(text))
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
        return None if found is None else found["ours"]

    def put_block(self, lines: str) -> None:
        """Put lines between our marks: behind the last line, or in place of those that are there."""
        newline = "\r\n" if "\r\n" in self.text else "\n"
        block = newline.join([BEGIN, *lines.splitlines(), END])
        if (there := self._found_block()) is not None:
            self.text = self.text[: there.start("ours")] + block + self.text[there.end("ours") :]
            return
        ended = self.text if not self.text or self.text.endswith("\n") else self.text + newline
        self.text = ended + (newline if ended.strip() else "") + block + newline

    def remove_block(self) -> None:
        """Take our marks and what stands between them away, with the blank line before them."""
        if (there := self._found_block()) is not None:
            self.text = self.text[: there.start()] + self.text[there.end() :]

    def _found_block(self) -> re.Match[str] | None:
        return next((found for found in _BLOCK.finditer(self.text) if found["ours"] is not None), None)
