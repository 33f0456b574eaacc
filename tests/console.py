"""Does a page of the docs work as written? Saves its files, runs its commands in order in one folder, and compares their output.

A page has blocks that begin with three backquotes and
- `py title=NAME`: a file that the reader saves as NAME;
- `sh`: commands, of which only the exit status is checked;
- `console`: lines `$ COMMAND`, and below each what it prints, including error messages. There `…` matches any text, and a line
  with only `…` any lines. Handles and session names differ in each run: those on the page are mapped to the real ones.
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
    """A command, and the lines that the page says it prints; None if the page shows no output."""

    command: str
    expected: list[str] | None


@dataclass
class Reader:
    """A reader in a folder of their own, with everything that `pip install 'penstock[all]'` installs."""

    folder: Path
    names: dict[str, str] = field(default_factory=dict)
    """The handles and sessions on the page, and the real ones that replace them."""

    def follow(self, page: str) -> int:
        """Do everything that a page says, and return the number of commands."""
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
        """Run a command, and compare what it prints with the page."""
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
    """Return the commands of a block, each with the lines below it."""
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
    """Map the names on the page to those in the output; an `AssertionError` shows both if they differ in anything else."""
    assert typed.expected is not None
    pattern, names = "", []
    for line in typed.expected:
        if line.strip() == GAP:
            pattern += r"(?:.*\n)*?"
            continue
        told = line.lstrip() if line.lstrip().startswith(GAP) else line  # numbers are right-aligned
        for text, name in _parts(TIME.sub(GAP, told)):
            pattern += r"(\w+)" if name else re.escape(text).replace(re.escape(GAP), ".*?")
            names += [name] if name else []
        pattern += r"[ ]*\n"
    found = re.fullmatch(pattern, printed.strip("\n") + "\n" if printed.strip("\n") else "")
    expected = "\n".join(typed.expected)
    assert found, f"$ {typed.command}\n{printed}\nis not what the page says:\n{expected}"
    return dict(zip(names, found.groups(), strict=True))


def _parts(line: str) -> list[tuple[str, str]]:
    """Split a line into texts and the names between them."""
    parts, at = [], 0
    for name in NAME.finditer(line):
        parts += [(line[at : name.start()], ""), ("", name[0])]
        at = name.end()
    return [*parts, (line[at:], "")]
