"""Which file of an estate is the copybook of a given name, including what CICS generates from maps and a compiler makes of DDS?

Leaves to others: opening files; their bytes are given. Laws: the same files give the same answer in any order; a copybook
is preferred to a program of the same name, and a layout to what is generated from a map; of several, the one nearest to the
file with the COPY is taken; no file is its own copybook.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..program import ALL_FORMATS, DESCRIBED, key
from . import dds
from .kinds import decoded, is_of_a_shop
from .members import copied_as, shared_folders, stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ..program import Format, LineKind
    from ..source import Lookup, ScannedSource
    from .bms import Mapset
    from .kinds import Kind
    from .members import Member

    CopybookText = bytes | Callable[[], bytes]

_ORDER: dict[Kind, int] = {"copybook": 0, "dclgen": 1, "cobol": 3}
_MADE = 2
"""The order of what we generate from a map source or a DDS, between the two."""

_MEMBER_LETTERS = 8
"""The maximum length of a member name: a compiler on a host ignores the rest of a longer one."""
# NonStop's COBOL keeps many members in one file, each from such a line to the next; COPY names the file after OF.
_SECTION = re.compile(rb"(?mi)^(?:[^\n]{6})?\?SECTION[ \t]+([\w-]+)")


class Copybooks:
    """A lookup of copybooks by name, to be given to `facts`. Each one is scanned when it is first requested, and kept.

    Args:
        files: Path, kind and bytes of every file, or a function that returns the bytes when needed; files that are not
            copybooks are skipped.
        members: The other files, for the map sources and the DDS among them.
    """

    def __init__(self, files: Iterable[tuple[str, Kind, CopybookText]], members: Iterable[Member] = ()) -> None:
        self._found: dict[str, list[_Shelved]] = {}
        self._described: dict[str, list[tuple[str, dds.Description]]] = {}
        """The paths of the DDS sources and what they describe, by the names of their files."""
        self._of_maps: dict[str, list[_Shelved]] = {}
        """The map sources by the names of their maps."""
        for path, kind, data in files:
            if kind in _ORDER:
                self._found.setdefault(key(copied_as(path)), []).append(_shelved(_ORDER[kind], path, data))
        for member in members:
            # A program copies a mapset by its name or by that of the member that contained its copybook.
            for mapset in sorted(member.mapsets, key=lambda one: key(one.name) != key(member.name)):
                for name in {key(mapset.name), key(member.name)} - {""}:
                    self._found.setdefault(name, []).append(_shelved(_MADE, member.path, mapset))
                for name in {key(one.name) for one in mapset.maps}:
                    self._of_maps.setdefault(name, []).append(_shelved(_MADE, member.path, mapset))
            if member.described is not None:
                self._described.setdefault(key(member.name), []).append((member.path, member.described))
        for rows in self._found.values():
            # At equal distance, a file with a source suffix is preferred to a `.txt` file.
            rows.sort(key=lambda row: (*row.rank, row.path.lower().endswith(".txt"), row.path))
        self._scanned: dict[tuple[str, str], ScannedSource] = {}
        self._identities: dict[tuple[str, str], str] = {}
        self._sections: dict[str, list[_Shelved]] | None = None

    def __call__(self, name: str, library: str | None) -> ScannedSource | None:
        """Return a copybook, scanned; None if there is none."""
        return self.beside("")(name, library)

    def beside(self, path: str) -> Lookup:
        """Return the lookup of the file at a path: the same, except that a file is never its own copybook."""

        @cache  # a COPY is looked up at each step of reading, and there may be a copybook of the name in each folder
        def found(name: str, library: str | None) -> ScannedSource | None:
            row = self._row(name, library, path)
            return None if row is None else self._read(row)

        return found

    def path(self, name: str, library: str | None = None, beside: str = "") -> str | None:
        """Return the path of a copybook, None if there is none; for a map that CICS would generate, the map's source.

        Args:
            name: The name that COPY gives, with or without a suffix.
            library: The name after OF or IN; what a COPY takes from a DDS (`DDS-ALL-FORMATS`) if the name is that of the file.
            beside: The path of the file that copies it, which is never its own copybook.
        """
        row = self._row(name, library, beside)
        return row.path if row else None

    def identity(self, name: str, library: str | None = None, beside: str = "") -> str:
        """Return what is the same only for the same copybook at the same path, "" if there is none. Arguments as for `path`."""
        row = self._row(name, library, beside)
        return self._identity(row) if row else ""

    def identity_of_described(self, path: str) -> str:
        """Return a text that is the same only if the records that a DDS describes are, with what they take from other files."""
        return self._identity(_Shelved(_MADE, path, b"", ALL_FORMATS))

    def _identity(self, row: _Shelved) -> str:
        """Return a hash of all that scanning a copybook depends on."""
        at = row.place
        if at not in self._identities:
            content = self._text(row) if row.is_made and row.section else _content(row)
            told = f"{row.order} {row.format} {row.path!r} {row.section!r} {type(content).__name__}\n"
            self._identities[at] = sha256(_bytes(told) + _bytes(content)).hexdigest()
        return self._identities[at]

    def _row(self, name: str, library: str | None, beside: str) -> _Shelved | None:
        """Return the copybook of a name; a suffix, a library or the folder in front of the name chooses among several."""
        if library is not None and DESCRIBED.fullmatch(library):
            found = self._description(name, beside)
            return _Shelved(_MADE, found[0], b"", library) if found else None
        folders, _, name = name.replace("\\", "/").rpartition("/")
        library = library or folders.rpartition("/")[2] or None
        member = key(copied_as(name))
        rows = self._found.get(member) or self._found.get(member[:_MEMBER_LETTERS]) or self._of_map(member)
        rows = [row for row in rows if row.path != beside]
        # `COPY "rates.sel"` and `COPY "rates.fd"` are two files, the SELECT and the FD of one: if there is no `rates.fd`, the
        # `rates.sel` of the same shop is not meant, but `rates.cpy` may be.
        written = key(name)
        if "." in written:
            named = [row for row in rows if key(row.path.rpartition("/")[2]) == written]
            rows = named or [row for row in rows if self._may_be(row, name)]
        elif written != member:
            rows = [row for row in rows if key(stem(row.path)) == written] or rows
        if library is not None:
            rows = [row for row in rows if key(library) in map(key, row.path.split("/")[:-1])] or rows
            rows = rows or [row for row in self._section(member) if row.path != beside]
        rows.sort(key=lambda row: (row.order, row.is_remarked, -shared_folders(row.path, beside)))
        if rows and rows[0].is_made:
            # A shop may name its copybooks like its programs: what the compiler was given is preferred to what we generate.
            return next((row for row in rows[1:] if not row.is_made and self._is_layout(row)), rows[0])
        return rows[0] if rows else None

    def _of_map(self, name: str) -> list[_Shelved]:
        """Return the only mapset with a map of this name: some shops call its copybook so."""
        found = self._of_maps.get(name, [])
        return found if len(found) == 1 else []

    def _may_be(self, row: _Shelved, name: str) -> bool:
        """Return whether a file may be a copybook that is named with another suffix; a program is none with that of a shop."""
        if row.is_made or is_of_a_shop(row.path):
            return row.is_made
        return row.order < _ORDER["cobol"] or not is_of_a_shop(name) or self._is_layout(row)

    def _is_layout(self, row: _Shelved) -> bool:
        """Return whether a file with the suffix of programs holds none."""
        return all(program.kind == "copybook" for program in self._read(row).programs)

    def _read(self, row: _Shelved) -> ScannedSource:
        """Scan a copybook when it is first requested."""
        at = row.place
        if at not in self._scanned:
            self._scanned[at] = self._generated(row) if row.order == _MADE and row.section else _scanned(row)
        return self._scanned[at]

    def described(self, path: str, data: bytes) -> ScannedSource:
        """Return all records that a DDS describes, as a copybook that has and shows the lines of the DDS.

        Args:
            path: The path of the DDS.
            data: Its bytes.
        """
        lines = decoded(data).removesuffix("\n").split("\n")
        made = self._generated(_Shelved(_MADE, path, b"", ALL_FORMATS), len(lines))
        shown = [line[6:80].rstrip() for line in lines]  # without the sequence number, as of COBOL
        kinds: list[LineKind] = [
            "blank" if not line.strip() else "comment" if line[:1] == "*" else "code" for line in shown
        ]
        return replace(made, kinds=tuple(kinds), _shown=shown)

    def _generated(self, row: _Shelved, lines: int = 0) -> ScannedSource:
        """Scan what the compiler makes of a DDS, as at least so many lines."""
        from .. import scan

        text = self._text(row)
        return scan((text + "\n" * (lines - text.count("\n"))).encode(), source_format="free")

    def _text(self, row: _Shelved) -> str:
        """Return what the compiler makes of a DDS; what that refers to is taken from the file that is nearest to it."""
        name = stem(row.path)

        def find(wanted: str) -> dds.Description | None:
            own = (said for path, said in self._described.get(key(name), ()) if path == row.path and wanted == name)
            found = self._description(wanted, row.path)
            return next(own, found[1] if found else None)

        return dds.copybook(name, row.section, find)

    def _description(self, name: str, beside: str) -> tuple[str, dds.Description] | None:
        """Return the path of the DDS of a file and what it describes; of several, those nearest to another file."""
        # A COPY puts a hyphen between a library and a file; neither has one in its name.
        rows = self._described.get(key(name.rpartition("/")[2].rpartition("-")[2]), ())
        return min(rows, key=lambda row: (-shared_folders(row[0], beside), row[0]), default=None)

    def _section(self, name: str) -> list[_Shelved]:
        """Return the members of that name within files, which are searched at the first call."""
        if self._sections is None:
            self._sections = {}
            files = {row.path: row for rows in self._found.values() for row in rows}
            for _, row in sorted(files.items()):
                for member in _members(row):
                    self._sections.setdefault(key(member.section), []).append(member)
        return self._sections.get(name, [])


class _Shelved(NamedTuple):
    """A file, a map source, a DDS or a member within a file, as a copybook: a lower order is preferred."""

    order: int
    path: str
    content: CopybookText | Mapset
    section: str = ""
    format: Format | None = None
    is_remarked: bool = False
    """Whether its name has a remark, as a copy of a file beside it has."""

    @property
    def rank(self) -> tuple[int, bool]:
        """The order, and whether its name has a remark: a lower rank is preferred."""
        return self.order, self.is_remarked

    @property
    def place(self) -> tuple[str, str]:
        """The path, and which mapset, record or member of the file it is, "" for all of it."""
        if isinstance(self.content, bytes) or callable(self.content):
            return self.path, self.section
        return self.path, self.content.name

    @property
    def is_made(self) -> bool:
        """Whether it is not the text of a file, but generated from a map source or a DDS."""
        return self.order == _MADE


def _shelved(order: int, path: str, content: CopybookText | Mapset) -> _Shelved:
    """Return a file of the estate as a copybook."""
    return _Shelved(order, path, content, is_remarked=copied_as(path) != stem(path))


def _members(row: _Shelved) -> Iterator[_Shelved]:
    """Yield the members of a file that has several; each keeps the line numbers of its file."""
    data = row.content() if callable(row.content) else row.content
    if not isinstance(data, bytes) or b"?" not in data or not (begins := list(_SECTION.finditer(data))):
        return
    from .. import scan

    form = scan(data).format
    for name, (begin, end) in zip(
        [begin[1] for begin in begins], pairwise([*(begin.start() for begin in begins), len(data)]), strict=True
    ):
        yield row._replace(
            content=b"\n" * data.count(b"\n", 0, begin) + data[begin:end], section=name.decode(), format=form
        )


def _scanned(row: _Shelved) -> ScannedSource:
    """Scan a copybook, or the one generated from a map."""
    from .. import scan

    content = _content(row)
    return scan(content, source_format=row.format if isinstance(content, bytes) else "free")


def _content(row: _Shelved) -> bytes | str:
    """Return the bytes of a copybook, or the text of the one generated from a map."""
    from .bms import copybook

    content = row.content() if callable(row.content) else row.content
    return content if isinstance(content, bytes) else copybook(content)


def _bytes(text: bytes | str) -> bytes:
    """Return bytes that are the same only for the same text, whatever it holds."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
