"""How is a model's answer shown to a person? As Markdown by rich, block by block, without losing a character.

Law: every character of an answer that is not Markdown syntax is on the screen; quoted file text stays as it is. Leaves to others:
answers that nobody watches, which are printed as they come.
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from typing import Any

import click

from penstock.cli.terminal import console_for

_FENCE = re.compile(r" {0,3}(`{3,}(?!.*`)|~{3,})(.*)")
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_CITATION = re.compile(r"[ \t]*(?:[-*][ \t]+)?`?([^\s:`]+):(\d+)`?:[ \t]?(.*)")


def citations_in(text: str) -> list[tuple[str, int, str]]:
    """Return the lines `path:number: text` that an answer quotes, in order."""
    cited = filter(None, map(_CITATION.fullmatch, text.split("\n")))
    return [(match[1], int(match[2]), match[3]) for match in cited]


class MarkdownWriter:
    """An answer that comes in pieces, written to standard output block by block as Markdown.

    A block is written once it is whole and never again: redrawing makes terminals flash and fills their history with copies. A
    block ends at a blank line that is outside any fence and not followed by an indented line; so a list, a quotation and a
    program each stay one block.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        """The finished lines of the newest block."""
        self._rest = ""
        self._fence = ""
        """The opening marker of the fence that the next line is in; empty if it is in none."""
        self._has_written = False

    def write(self, piece: str) -> None:
        """Take the next piece, and write the blocks that are now complete."""
        *lines, self._rest = (self._rest + piece).split("\n")
        for line in lines:
            self._end_before(line)
            self._lines.append(line)
            self._fence = _fence_behind(line, self._fence)
        self._end_before(self._rest)

    def finish(self) -> None:
        """Write what is left: the answer is over, or a status line comes in between."""
        text = "\n".join([*self._lines, self._rest])
        if text.strip():
            self._block(text)
        self._lines, self._rest, self._fence, self._has_written = [], "", "", False

    def _end_before(self, line: str) -> None:
        """Write the block if a line, of which the first character is enough, begins the next one."""
        if not self._fence and self._lines and not self._lines[-1].strip() and line[:1].strip():
            self._block("\n".join(self._lines))
            self._lines = []

    def _block(self, text: str) -> None:
        console = console_for(sys.stdout)
        with console.capture() as captured:
            console.print(_rendered(text))
        # rich puts blank lines around some kinds of blocks; between two of ours there is always one.
        lines = _BLANK_LINES.sub("", captured.get()).rstrip()
        click.echo(f"\n{lines}" if self._has_written else lines, file=sys.stdout)
        self._has_written = True


def _fence_behind(line: str, fence: str) -> str:
    """Return the marker of the fence that is open after a line, given the one open before it."""
    found = _FENCE.match(line)
    if not fence:
        return found[1] if found else ""
    is_end = found is not None and found[1].startswith(fence) and not found[2].strip()
    return "" if is_end else fence


def _rendered(text: str) -> Any:
    """Return one block as rich shows it.

    Lines that quote a file stay as they are: in `src/a.py:3: def __init__` nothing is bold. In the rest a line end stays a line
    end, and `<T>` is text: what a model says about code must not lose a character to HTML.
    """
    from markdown_it import MarkdownIt
    from rich.console import Group
    from rich.markdown import Markdown
    from rich.text import Text

    # rich's own parser takes `<T>` as HTML and shows nothing of it.
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parts: list[Any] = []
    is_code = _FENCE.match(text) is not None  # a program contains no citations

    def is_citation(line: str) -> bool:
        return not is_code and _CITATION.fullmatch(line) is not None

    for is_cited, lines in groupby(text.strip("\n").split("\n"), is_citation):
        if is_cited:
            parts += [Text(line, style="cyan") for line in lines]
            continue
        shown = Markdown("", hyperlinks=False)  # the target of a link is shown, not hidden behind its words
        shown.parsed = parser.parse("\n".join(lines))
        for token in shown.parsed:
            for child in token.children or ():
                # A model that begins a line means a line: lists of files, addresses and verses must not run together.
                if child.type == "softbreak":
                    child.type = "hardbreak"
        parts.append(shown)
    return Group(*parts)
