"""Where do tests run the command line? In a home and a project of their own."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.hosts.catalogue import HostSurroundings
from penstock.hosts.records import InstallRecords
from tests.cli.screens import typed

if TYPE_CHECKING:
    import subprocess


class Machine:
    """A home and a project in which commands are run."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"]}

    def write(self, name: str, text: str, *, beneath: str = "home") -> Path:
        path = Path(getattr(self, beneath), name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def type(self, *words: str) -> subprocess.CompletedProcess[str]:
        return typed(*words, cwd=self.project, environment=self.environment)

    def done(self, *words: str) -> str:
        done = self.type(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def files(self) -> dict[str, bytes]:
        """Return every file except Penstock's own records."""
        found = (path for path in self.home.parent.rglob("*") if ".local" not in path.parts)
        return {str(path): path.read_bytes() if path.is_file() else b"/" for path in found}

    @property
    def around(self) -> tuple[HostSurroundings, InstallRecords]:
        around = HostSurroundings(
            home=str(self.home), project=str(self.project), environment=self.environment, platform="linux"
        )
        return around, InstallRecords.of(self.environment)
