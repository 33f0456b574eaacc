"""Which program does a CALL mean, given the names of programs, their files, and which programs contain the caller and others?

A contained program is visible to the program that directly contains it, a COMMON one to everything in that program; programs that
nothing contains are visible to all, and so are methods, by their class. Nearer ones hide others. Of several programs of one name,
a CALL means those to which AS gives no other name, if there are any, and of these those whose file has it, too: systems that find
programs by their files never reach a copy under another name. A name that no program has may be that of a file, with or
without a suffix, or its last word: whoever saves members one by one may put a remark in front of them, `PROG PAY01`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from .estate.members import stem
from .program import METHOD, key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_Of = TypeVar("_Of")


class ProgramPlace(NamedTuple):
    """Where a program is: its file, its name and the programs that contain it."""

    path: str
    name: str
    """The name of a program in capitals."""
    around: tuple[str, ...] = ()
    """The programs that contain a program, in capitals, from the inside out."""
    is_common: bool = False
    has_external_name: bool = False
    """Whether AS gives the program another name, for calls."""


class NamedEntry(NamedTuple, Generic[_Of]):
    """An entry of a program, by the name that a CALL uses."""

    name: str
    """The name of a program, or of an ENTRY, in capitals."""
    place: ProgramPlace
    of: _Of
    """What whoever looks for the name wants to find."""

    @property
    def file_names(self) -> tuple[str, str]:
        """The name of the program's file, in capitals and without folders and suffix, and that without a remark in front."""
        whole = key(stem(self.place.path))
        return whole, whole.rpartition(" ")[2]


class ProgramNames(Generic[_Of]):
    """The programs of an estate, by the names that calls use.

    Args:
        entries: The entries of all programs; the first one of a file is that of its first program.
        above: What each class inherits from, by its name in capitals.
    """

    def __init__(self, entries: Iterable[NamedEntry[_Of]], above: Mapping[str, Sequence[str]]) -> None:
        self._above = above
        self._named: dict[str, list[NamedEntry[_Of]]] = {}
        self._filed: dict[str, list[NamedEntry[_Of]]] = {}
        self._remarked: dict[str, list[NamedEntry[_Of]]] = {}
        self._by_file: dict[str, dict[str, list[NamedEntry[_Of]]]] = {}
        """The entries of a name by their files, for names that several have and that were called."""
        self._outside: dict[str, list[NamedEntry[_Of]]] = {}
        """What such a name means to callers in other files."""
        paths: set[str] = set()
        for entry in entries:
            self._named.setdefault(entry.name, []).append(entry)
            if entry.place.path not in paths:
                paths.add(entry.place.path)
                whole, bare = entry.file_names
                self._filed.setdefault(whole, []).append(entry)
                self._remarked.setdefault(bare, []).append(entry)

    def names(self) -> set[str]:
        """Return the names of all entries, and of the files that have programs."""
        return {*self._named, *self._filed}

    def called(self, name: str, caller: ProgramPlace | None = None) -> list[_Of]:
        """Return what a called name may mean; nothing if it means a program that is not here.

        Args:
            name: The name, in capitals.
            caller: The program that calls; None for a job or a transaction.
        """
        name = self.reached(name)
        found = self._named.get(name)
        if found is None:
            meant = self._filed.get(name) or self._remarked.get(name, [])
        elif len(found) == 1 and not found[0].place.around:
            meant = found
        else:
            meant = self._in_file(name, found, caller) or self._in_others(name, found)
        return [one.of for one in meant]

    def _in_file(
        self, name: str, found: Sequence[NamedEntry[_Of]], caller: ProgramPlace | None
    ) -> list[NamedEntry[_Of]]:
        """Return which of the entries of a name are meant in the caller's own file, which come first."""
        if caller is None:
            return []
        if name not in self._by_file:
            # Once for each name: an estate may have a program of the same name in each of hundreds of folders.
            files = self._by_file[name] = {}
            for one in found:
                files.setdefault(one.place.path, []).append(one)
        return _filed(name, _meant(self._by_file[name].get(caller.path, ()), caller))

    def _in_others(self, name: str, found: Sequence[NamedEntry[_Of]]) -> list[NamedEntry[_Of]]:
        """Return which of the entries of a name are meant if none in the caller's own file is."""
        if name not in self._outside:
            self._outside[name] = _filed(name, _meant(found, None))
        return self._outside[name]

    def run(self, name: str) -> list[_Of]:
        """Return what a command of the system may run by a name in capitals: a program of that name, or the first one of a file."""
        named = (one for one in self._named.get(name, ()) if not one.place.around)
        return [one.of for one in (*named, *self._filed.get(name, ()))]

    def is_file(self, name: str) -> bool:
        """Return whether a called name leads to programs only because their files have it."""
        name = self.reached(name)
        return name not in self._named and (name in self._filed or name in self._remarked)

    def outside(self, name: str) -> str:
        """Return the program that contains the first program of a name; "" if no program has the name, or nothing contains it."""
        around = self._named[name][0].place.around if name in self._named else ()
        return around[0] if around else ""

    def reached(self, name: str) -> str:
        """Return the name that a called name resolves to: for a method, that of the class which has it; for a compiled file
        of any suffix, that of the program or source file.

        Args:
            name: `CLASS::METHOD`; if no source has the method, the class is returned. `NAME.SUFFIX`; if no source is called
                NAME, the whole is returned. Any other name is returned as it is.
        """
        first, colons, method = name.partition(METHOD)
        if not colons:
            # Of what is called, only a file and a type have a period in their name; a shop chooses the suffix of files.
            bare = name.partition(".")[0]
            return name if self._is_known(name) or not self._is_known(bare) else bare
        waiting, seen = [first], set()
        while waiting:
            one = waiting.pop(0)
            if f"{one}{METHOD}{method}" in self._named:
                return f"{one}{METHOD}{method}"
            if one not in seen:
                seen.add(one)
                waiting += self._above.get(one, ())
        return first

    def _is_known(self, name: str) -> bool:
        """Return whether a program or its file has a name."""
        return name in self._named or name in self._filed


def _filed(name: str, meant: list[NamedEntry[_Of]]) -> list[NamedEntry[_Of]]:
    """Return those to which AS gives no other name, and of these those whose file has the name, if there are any."""
    meant = [one for one in meant if not _is_replaced(one)] or meant
    filed = ([one for one in meant if one.file_names[way] == name] for way in (0, 1))
    return next(filter(None, filed), meant)


def _is_replaced(entry: NamedEntry[_Of]) -> bool:
    """Return whether an entry has the name of its program although AS gives the program another one."""
    return entry.place.has_external_name and entry.name == entry.place.name


def _meant(entries: Sequence[NamedEntry[_Of]], caller: ProgramPlace | None) -> list[NamedEntry[_Of]]:
    """Return the entries that a call by their name may mean; none if it means a program that is not here.

    Args:
        entries: Those that have the name that is called.
        caller: The program that calls; None for a job or a transaction.
    """
    ranks = [_rank(one.place, caller) for one in entries]
    best = min(ranks, default=_UNKNOWN)
    return [one for one, rank in zip(entries, ranks, strict=True) if rank == best < _UNKNOWN]


_UNKNOWN = 4


def _rank(place: ProgramPlace, caller: ProgramPlace | None) -> int:
    """Return how near a program is to its caller: 0 contained in it, 1 COMMON around it, 2 in its file, 3 anywhere."""
    here = caller is not None and caller.path == place.path
    if not place.around or METHOD in place.name:
        return 2 if here else 3
    if caller is None or not here:
        return _UNKNOWN
    chain = (caller.name, *caller.around)
    if place.around == chain:
        return 0
    return 1 if place.is_common and chain[-len(place.around) :] == place.around else _UNKNOWN
