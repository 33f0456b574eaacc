"""A person's terminal: a command is run on a pseudo-terminal of a size, and what it drew is given back."""

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
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PENSTOCK = (sys.executable, "-m", "penstock")
_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[()][AB0])")


def on_terminal(
    command: tuple[str, ...],
    *,
    cwd: Path,
    columns: int = 80,
    streams: tuple[str, ...] = ("stdout", "stderr"),
    environment: Mapping[str, str] = {},
) -> tuple[int, str]:
    """Runs a command whose `streams` are a terminal, the others a pipe that nobody reads; its exit status, and what it drew."""
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
    """What was drawn, without what moves and colours."""
    return _ESCAPES.sub("", drawn)


def shell_line(root: Path, line: str, *, check: bool = False, shell: str = "bash") -> subprocess.CompletedProcess[str]:
    """Types a line into a shell in which `penstock` is the one that is tested."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PENSTOCK_STORE": str(root / "kept"),
        "HOME": str(root),
        "OPENAI_API_KEY": "none",
    }
    return subprocess.run(
        [shell, "-c", line],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=check,
    )
