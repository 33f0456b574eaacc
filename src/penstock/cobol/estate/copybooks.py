"""Which file is the copybook of that name? A case-blind shelf, and maps as CICS would make them.

Keeps out: opening files: their bytes are given. Law: the same files give the same answer in any order; a copybook comes before a
program of the same name, a file before what a map source makes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..program import key
from .members import stem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..source import ScannedSource
    from .bms import Mapset
    from .kinds import Kind

_ORDER: dict[Kind, int] = {"copybook": 0, "dclgen": 1, "cobol": 3}


class Copybooks:
    """A lookup for `facts`. Each copybook is scanned when it is first asked for."""

    def __init__(self, files: Iterable[tuple[str, Kind, bytes]], mapsets: Iterable[tuple[str, Mapset]] = ()) -> None:
        self._found: dict[str, list[tuple[int, str, bytes | Mapset]]] = {}
        for path, kind, data in files:
            if kind in _ORDER:
                self._found.setdefault(key(stem(path)), []).append((_ORDER[kind], path, data))
        for path, mapset in mapsets:
            for name in {key(mapset.name), key(stem(path))} - {""}:
                self._found.setdefault(name, []).append((2, path, mapset))
        for rows in self._found.values():
            rows.sort(key=lambda row: row[:2])
        self._scanned: dict[str, ScannedSource] = {}

    def __call__(self, name: str, library: str | None) -> ScannedSource | None:
        """The copybook, scanned; None where there is none."""
        row = self._row(name, library)
        if row is None:
            return None
        _, path, content = row
        if path not in self._scanned:
            self._scanned[path] = _scanned(content)
        return self._scanned[path]

    def path(self, name: str, library: str | None = None) -> str | None:
        """Where it stands; for a map that CICS would make, the map's source."""
        row = self._row(name, library)
        return row[1] if row else None

    @property
    def ambiguous(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Names that more than one file answers to, the one that is taken first."""
        found = {name: [path for order, path, _ in rows if order == rows[0][0]] for name, rows in self._found.items()}
        return tuple((name, tuple(paths)) for name, paths in sorted(found.items()) if len(paths) > 1)

    def _row(self, name: str, library: str | None) -> tuple[int, str, bytes | Mapset] | None:
        rows = self._found.get(key(stem(name)), [])
        if library is not None:
            within = [row for row in rows if key(library) in map(key, row[1].split("/")[:-1])]
            rows = within or rows
        return rows[0] if rows else None


def _scanned(content: bytes | Mapset) -> ScannedSource:
    from .. import scan
    from .bms import copybook

    return scan(content) if isinstance(content, bytes) else scan(copybook(content), source_format="fixed")
