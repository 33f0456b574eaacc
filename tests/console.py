"""What a page tells a reader to type, typed: files saved, commands run in order in one folder, their output held against the page.

A page has blocks that begin with three backquotes and
- `py title=NAME`: a file that the reader saves as NAME;
- `sh`: commands, of which only the exit status is looked at;
- `console`: lines `$ COMMAND`, and below each what it prints, error messages included. There `…` stands for any text, a line of
  it for any lines. Handles and names of sessions differ with each run: what the page has stands for what came.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tests.forks import COMMANDS, warm_path

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = re.compile(r"^```(py title=(?P<file>\S+)|sh|console)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"\b(?:(?=[A-Za-z]*[0-9])[A-Za-z0-9]{22}|(?=[a-f]*[0-9])[0-9a-f]{12})\b")
TIME = re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\dZ)?")
GAP = "…"


class Typed(NamedTuple):
    """A command, and what the page says that it prints; None where nothing is said."""

    command: str
    expected: list[str] | None


@dataclass
class Reader:
    """A reader in a folder of their own, who has what `pip install 'penstock[all]'` gives."""

    folder: Path
    names: dict[str, str] = field(default_factory=dict)
    """Handles and sessions of the page, and those that came in their place."""

    def follow(self, page: str) -> int:
        """Do all that a page says; returns the number of commands."""
        done = 0
        for block in BLOCK.finditer(page):
            if block["file"]:
                (self.folder / block["file"]).write_text(block["text"])
                continue
            typed = commands(block["text"]) if block[1] == "console" else [Typed(block["text"], None)]
            for one in typed:
                self.type(one)
            done += len(typed)
        return done

    def type(self, typed: Typed) -> None:
        """Run a command, and hold what it prints against the page."""
        command = NAME.sub(lambda found: self.names.get(found[0], found[0]), typed.command)
        environment = {
            **os.environ,
            "PATH": warm_path(*COMMANDS),
            "PENSTOCK_STORE": str(self.folder / ".store"),
            "HOME": str(self.folder),
        }
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=100,
            check=False,
        )
        if typed.expected is None:
            assert done.returncode == 0, f"$ {command}\n{done.stdout}"
            return
        self.names |= matched(typed, done.stdout)


def commands(text: str) -> list[Typed]:
    """The commands of a block, each with the lines below it."""
    found: list[Typed] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Typed(line[2:], []))
        elif found[-1].command.endswith("\\"):
            found[-1] = Typed(f"{found[-1].command}\n{line}", [])
        else:
            assert found[-1].expected is not None
            found[-1].expected.append(line)
    return found


def matched(typed: Typed, printed: str) -> dict[str, str]:
    """The names that came for those of the page. An `AssertionError` shows both where they differ in anything else."""
    assert typed.expected is not None
    pattern, names = "", []
    for line in typed.expected:
        if line.strip() == GAP:
            pattern += r"(?:.*\n)*?"
            continue
        told = line.lstrip() if line.lstrip().startswith(GAP) else line  # numbers stand flush right
        for text, name in _parts(TIME.sub(GAP, told)):
            pattern += r"(\w+)" if name else re.escape(text).replace(re.escape(GAP), ".*?")
            names += [name] if name else []
        pattern += r"[ ]*\n"
    found = re.fullmatch(pattern, printed.strip("\n") + "\n" if printed.strip("\n") else "")
    expected = "\n".join(typed.expected)
    assert found, f"$ {typed.command}\n{printed}\nis not what the page says:\n{expected}"
    return dict(zip(names, found.groups(), strict=True))


def _parts(line: str) -> list[tuple[str, str]]:
    """A line as texts and the names between them."""
    parts, at = [], 0
    for name in NAME.finditer(line):
        parts += [(line[at : name.start()], ""), ("", name[0])]
        at = name.end()
    return [*parts, (line[at:], "")]
