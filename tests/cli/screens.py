"""A person's terminal: a command runs on a pseudo-terminal of a given size, in a shell, or in this process.

A separate process costs the import of everything. It is for what needs a process: signals, terminals, pipes, and what a command
must import by itself, for which one example of each help page has its own process.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING
from unittest.mock import patch

from tests.forks import COMMANDS, warm_path

from penstock.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][AB0])")


def on_terminal(
    command: Sequence[str],
    *,
    cwd: Path,
    columns: int = 80,
    streams: tuple[str, ...] = ("stdout", "stderr"),
    environment: Mapping[str, str] = {},
) -> tuple[int, str]:
    """Run a command whose `streams` are a terminal and the others unread pipes; return its exit status and what it drew."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    known = {name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES"}}
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=follower if "stdout" in streams else subprocess.DEVNULL,
        stderr=follower if "stderr" in streams else subprocess.DEVNULL,
        env={**known, "TERM": "xterm-256color", **environment},
    ) as child:
        os.close(follower)
        drawn = b""
        with contextlib.suppress(OSError):  # the other end is closed
            while part := os.read(leader, 65_536):
                drawn += part
        status = child.wait(60)
    os.close(leader)
    return status, drawn.decode().replace("\r\n", "\n")


def plain(drawn: str) -> str:
    """Return drawn text without cursor movements and colours."""
    return _ESCAPES.sub("", drawn)


def typed(
    *arguments: str, cwd: Path, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `penstock` in this process, and return what it printed, also below Python, and its exit status.

    Args:
        arguments: The arguments of `penstock`.
        cwd: The current folder of the command.
        stdin: The bytes on its standard input.
        environment: Its whole environment; by default that of this process.
    """
    assert arguments[:1] != ("mcp",), "it confines its process for good"
    known = os.environ if environment is None else environment
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        with contextlib.chdir(cwd), patch.dict(os.environ, dict(known), clear=True), _standard_streams(given, out, err):
            status = main(list(arguments))
        printed = []
        for file in (out, err):
            file.seek(0)
            printed.append(file.read().decode())
    return subprocess.CompletedProcess(arguments, status, *printed)


@contextlib.contextmanager
def _standard_streams(*files: IO[bytes]) -> Iterator[None]:
    """Use files as standard input, output and error, for Python and for anything that writes to the descriptors."""
    earlier = sys.stdin, sys.stdout, sys.stderr
    for stream in earlier[1:]:
        stream.flush()
    saved = [os.dup(number) for number in range(3)]
    try:
        for number, file in enumerate(files):
            os.dup2(file.fileno(), number)
        with (
            open(0, encoding="utf-8", closefd=False) as sys.stdin,
            open(1, "w", encoding="utf-8", closefd=False) as sys.stdout,
            open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False) as sys.stderr,
        ):
            yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = earlier
        for number, descriptor in enumerate(saved):
            os.dup2(descriptor, number)
            os.close(descriptor)


def store_of(root: Path) -> dict[str, str]:
    """Return an environment with the tested `penstock`, started warm, and with a store and a home in the folder."""
    return {
        **os.environ,
        "PATH": warm_path(*COMMANDS),
        "PENSTOCK_STORE": str(root / "kept"),
        "HOME": str(root),
        "OPENAI_API_KEY": "none",
    }


def shell_line(root: Path, line: str, *, check: bool = False, shell: str = "bash") -> subprocess.CompletedProcess[str]:
    """Type a line into a shell whose `penstock` is the one under test."""
    return subprocess.run(
        [shell, "-c", line],
        cwd=root,
        env=store_of(root),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=check,
    )
