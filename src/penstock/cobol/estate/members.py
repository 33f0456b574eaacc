"""What does a file of an estate that is not COBOL define, according to its kind?

Leaves to others: COBOL programs, which `scan` and `facts` read. Law: any bytes are a member, without an exception and in
linear time.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ..reading import read
from . import bms, cl, csd, ddl, dds, ims, jcl, jsl, shell
from .kinds import decoded

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from .bms import Mapset
    from .cl import ClCall, ClCopy, ClVariables
    from .csd import Resource
    from .ddl import SqlProcedure, Table
    from .dds import Description
    from .ims import Dbd, Psb
    from .jcl import Job
    from .kinds import Kind
    from .shell import Script

_Of = TypeVar("_Of")


class Member(NamedTuple):
    """A file of an estate, by its path; of the tuples of definitions, only those of its kind are filled."""

    path: str
    kind: Kind
    lines: int
    """How many lines a file has."""
    jobs: tuple[Job, ...] = ()
    mapsets: tuple[Mapset, ...] = ()
    resources: tuple[Resource, ...] = ()
    tables: tuple[Table, ...] = ()
    psbs: tuple[Psb, ...] = ()
    dbds: tuple[Dbd, ...] = ()
    procedures: tuple[SqlProcedure, ...] = ()
    """The database procedures that a source creates."""
    calls: tuple[ClCall, ...] = ()
    """The calls of a CL program."""
    copies: tuple[ClCopy, ...] = ()
    """The files that a CL program copies."""
    variables: ClVariables | None = None
    """The variables of a CL program."""
    described: Description | None = None
    """The records that a DDS source describes."""
    control: tuple[str, ...] = ()
    """The first lines of control statements, and of SQL, which a DD of a step may read."""
    script: Script | None = None
    """The commands of a script."""

    @property
    def name(self) -> str:
        """The member name, by its file."""
        return stem(self.path)


_CARD = re.compile(r"^/[/*][^\n]*+", re.MULTILINE)
"""A card of a job, or the end of a stream, which would begin a comment of SQL."""
_OF_LIBRARY = re.compile(r"'?[\w$#@-]+(?:\.[\w$#@-]+)+\(([A-Z$#@][A-Z0-9$#@]{0,7})\)", re.IGNORECASE)
"""The beginning of a file's name that has the whole name of a data set member, perhaps in the quotes of TSO."""


def stem(path: str) -> str:
    """Return the name of the data set member that a file is: its own without folders and suffix; `PAY` of `PROD.LIB(PAY).txt`."""
    name = path.rpartition("/")[2]
    whole = _OF_LIBRARY.match(name) if "(" in name else None
    return whole[1] if whole else name.partition(".")[0]


def copied_as(path: str) -> str:
    """Return the name by which a file is copied: that of its member, without a remark behind it; `RATE` of `RATE(COPY).txt`."""
    name = stem(path)
    return name.partition("(")[0].rstrip() or name


def shared_folders(path: str, other: str) -> int:
    """Return how many folders, from the outermost on, two paths have in common."""
    return sum(map(path.startswith, _folders(other)))


# Cached, because one path is compared with those of all files of one name, of which each folder may have one.
@lru_cache(maxsize=16)
def _folders(path: str) -> tuple[str, ...]:
    """Return the folders of a path from the outermost on, each with those around it and a slash behind."""
    return tuple(accumulate(f"{folder}/" for folder in path.split("/")[:-1]))


class Nearest(Generic[_Of]):
    """Finds the nearest of several files: the file itself, else the first of those that share most folders with it.

    Args:
        files: The paths of the files, each with what it is looked up for.
    """

    def __init__(self, files: Iterable[tuple[str, _Of]]) -> None:
        self._first: dict[str, _Of] = {}
        for path, of in files:
            for place in ("", *_folders(path), path):
                self._first.setdefault(place, of)

    def to(self, path: str) -> _Of | None:
        """Return what the file nearest to a path is looked up for; None if there is no file."""
        places = (path, *reversed(_folders(path)), "")
        return next((self._first[place] for place in places if place in self._first), None)


def declaring(path: str, kind: Kind, code: str, operations: Container[str]) -> Member | None:
    """Return a file of programs as a member that declares tables, as a DCLGEN does; None if it declares none.

    Args:
        path: The path of the file.
        kind: Its kind: a copybook that declares tables is a member already.
        code: Its code, without comments, each line in its place.
        operations: The SQL operations of its programs.
    """
    tables = ddl.tables(code) if kind == "cobol" and "DECLARE TABLE" in operations else ()
    return Member(path, "dclgen", code.count("\n") + 1, tables=tables) if tables else None


def member(path: str, kind: Kind, data: bytes) -> Member:
    """Return a file as a member of the estate.

    Args:
        path: Its path, with "/" between folders.
        kind: Its kind, from `kind_of`.
        data: Its bytes; encoding and line ends are determined here.
    """
    end = b"\n" if b"\n" in data else b"\r"
    lines = data.count(end) + (not data.endswith(end) and bool(data))
    found = Member(path, kind, lines)
    if kind in {"jcl", "proc"}:
        text = decoded(data)
        # A job that passes definitions to DFHCSDUP, or tables to the assembler, has them in its in-stream data.
        return found._replace(
            jobs=jcl.jobs(text),
            resources=csd.resources(text) if csd.IN_STREAM.search(text) else (),
            tables=ddl.tables(_CARD.sub("", text)) if "TABLE" in text.upper() else (),
            procedures=ddl.procedures(text) if "PROCEDURE" in text else (),
        )
    if kind == "bms":
        return found._replace(mapsets=bms.mapsets(decoded(data)))
    if kind == "csd":
        return found._replace(resources=csd.resources(decoded(data)))
    if kind in {"ddl", "dclgen"}:
        text = decoded(data)
        control = jcl.stream(text) if kind == "ddl" else ()
        # A declaration is code in COBOL, and its lines may be numbered; one in another language may be cut by such columns.
        tables = ddl.tables(read(data).code) if kind == "dclgen" else ()
        return found._replace(tables=tables or ddl.tables(text), procedures=ddl.procedures(text), control=control)
    if kind == "control":
        return found._replace(control=jcl.stream(decoded(data)))
    if kind == "dds":
        return found._replace(described=dds.description(decoded(data)))
    if kind == "cl":
        text = decoded(data)
        return found._replace(calls=cl.calls(text), copies=cl.copies(text), variables=cl.variables(text))
    if kind == "script":
        script = shell.script(path, decoded(data))
        job = shell.job(script)
        return found._replace(jobs=() if job is None else (job,), script=script)
    if kind == "jsl":
        job = jsl.job(decoded(data))
        return found._replace(jobs=() if job is None else (job,))
    if kind == "psb":
        return found._replace(psbs=ims.psbs(decoded(data)))
    if kind == "dbd":
        return found._replace(dbds=ims.dbds(decoded(data)))
    return found
