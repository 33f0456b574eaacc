"""Find the copybook of a name among the files of an estate, maps included as CICS would make them.

Keeps out opening files: their bytes are given. Law: the same files give the same answer in any order; a copybook
comes before a program of the same name, a file before what a map source makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..program import key
from .members import stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..source import ScannedSource
    from .bms import Mapset
    from .kinds import Kind

    CopybookText = bytes | Callable[[], bytes]

_ORDER: dict[Kind, int] = {"copybook": 0, "dclgen": 1, "cobol": 3}


class Copybooks:
    """A lookup of copybooks by name, to be given to `facts`. Each one is scanned when it is first asked for, and kept.

    Args:
        files: Path, kind and bytes of every file, or what gives the bytes when they are asked for; those that are no
            copybooks are passed over.
        mapsets: Path and mapset of every map source.
    """

    def __init__(
        self, files: Iterable[tuple[str, Kind, CopybookText]], mapsets: Iterable[tuple[str, Mapset]] = ()
    ) -> None:
        self._found: dict[str, list[tuple[int, str, CopybookText | Mapset]]] = {}
        for path, kind, data in files:
            if kind in _ORDER:
                self._found.setdefault(key(stem(path)), []).append((_ORDER[kind], path, data))
        for path, mapset in mapsets:
            # A program copies a mapset by its name or by that of the member that held its copybook.
            for name in {key(mapset.name), key(stem(path))} - {""}:
                self._found.setdefault(name, []).append((2, path, mapset))
        for rows in self._found.values():
            rows.sort(key=lambda row: row[:2])
        self._scanned: dict[str, ScannedSource] = {}

    def __call__(self, name: str, library: str | None) -> ScannedSource | None:
        """Return a copybook, scanned; None where there is none."""
        row = self._row(name, library)
        if row is None:
            return None
        _, path, content = row
        if path not in self._scanned:
            self._scanned[path] = _scanned(content)
        return self._scanned[path]

    def path(self, name: str, library: str | None = None) -> str | None:
        """Return where a copybook stands, None where there is none; for a map that CICS would make, the map's source."""
        row = self._row(name, library)
        return row[1] if row else None

    @property
    def ambiguous(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names that more than one file of the same rank answers to, with their paths, the one that is taken first."""
        found = {name: [path for order, path, _ in rows if order == rows[0][0]] for name, rows in self._found.items()}
        return tuple((name, tuple(paths)) for name, paths in sorted(found.items()) if len(paths) > 1)

    def _row(self, name: str, library: str | None) -> tuple[int, str, CopybookText | Mapset] | None:
        """Return the rank, path and content for a name; a library chooses between folders where one is called so."""
        rows = self._found.get(key(stem(name)), [])
        if library is not None:
            within = [row for row in rows if key(library) in map(key, row[1].split("/")[:-1])]
            rows = within or rows
        return rows[0] if rows else None


def _scanned(content: CopybookText | Mapset) -> ScannedSource:
    """Scan a copybook, or the one that a map makes."""
    from .. import scan
    from .bms import copybook

    if callable(content):
        content = content()
    return scan(content) if isinstance(content, bytes) else scan(copybook(content), source_format="fixed")
