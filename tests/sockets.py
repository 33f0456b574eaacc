"""Sockets in the file system, for roots that contain one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from pathlib import Path


def bind_in(folder: Path, listening: socket.socket) -> None:
    """Bind a socket named `socket` in a folder, however long its path is: an address has at most 107 bytes."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        listening.bind(f"/proc/self/fd/{descriptor}/socket")
    finally:
        os.close(descriptor)
