"""What surrounds the programs, as pages show it? The linked estate as plain values, with programs by the ids of their pages.

The analysis of an estate knows files and names; pages have ids, which are made later and only for what has a document. Here one is
translated into the other. Law: a user of something is named once, by the id of its page if there is one.
Leaves to others: reading and linking (`penstock.cobol`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.cobol.estate.jcl import OF_A_VARIABLE
from penstock.cobol.estate.members import copied_as
from penstock.cobol.graph.jobs import FOLDER
from penstock.cobol.program import key
from penstock.scribe.pages.columns import DEEDS
from penstock.scribe.pages.terms import Terms, namings_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from penstock.cobol.estate.jcl import JobStep as LinkedStep
    from penstock.cobol.graph import DataSet, Inventory, User
    from penstock.scribe.pages.estate import (
        ControlView,
        CopybookView,
        DataSetView,
        DbTableView,
        EstateView,
        JobView,
        MapsetView,
        MissingView,
        StepView,
    )
    from penstock.text.json_access import Json


def estate_of(
    name: str,
    programs: Mapping[str, Json],
    layouts: Mapping[str, Json],
    linked: Inventory,
    terms: Sequence[Json] | None = None,
) -> EstateView:
    """Return an estate as its pages show it.

    Args:
        name: The name of the estate.
        programs: The documents of programs, by the ids of their pages.
        layouts: The documents of copybooks, by the ids of their pages.
        linked: The analysis of all files: who runs and uses what.
        terms: The data dictionary; None if the documents are complete and it can be taken from them.
    """
    if terms is None:
        found = Terms()
        for page, document in programs.items():
            found.add(page, namings_of(document))
        terms = found.listed()
    whose = _Whose(programs)
    return {
        "name": name,
        "programs": programs,
        "layouts": layouts,
        "jobs": list(_jobs(linked, whose)),
        "control_programs": list(_control_programs(linked)),
        "maps": list(_maps(linked, whose)),
        "copybooks": _copybooks(programs, layouts),
        "tables": list(_tables(linked, whose)),
        "crud": _resources(programs),
        "transactions": [
            {"name": one.name, "program": one.attributes.get("PROGRAM"), "path": member.path, "line": one.line}
            for member in linked.members
            for one in member.resources
            if one.kind == "TRANSACTION"
        ],
        "data_sets": [*_data_sets(linked, whose), *_data_sets_of_cics(linked, whose)],
        "missing": [_missing(one.kind, one.name, one.users, whose) for one in linked.missing],
        "terms": terms,
    }


class _Whose:
    """The ids of pages by the file and the name of a program.

    Neither alone is enough: a file may hold several programs, and two files may hold programs of the same name.
    """

    def __init__(self, programs: Mapping[str, Json]) -> None:
        self._pages: dict[tuple[str, str], str] = {}
        self._files: dict[str, list[str]] = {}
        for page, document in programs.items():
            header = document["header"]
            self._pages[header["file_name"], key(header["program_id"])] = page
            self._files.setdefault(header["file_name"], []).append(page)

    def pages(self, users: Sequence[User]) -> list[str]:
        """Return the pages of users, each once; a user without a page is given by the name of its program."""
        return list(dict.fromkeys(self.page(user.program, user.path) for user in users))

    def page(self, program: str, path: str) -> str:
        """Return the page of a program of a file; the name itself if it has none."""
        return self._pages.get((path, key(program)), program)

    def of_file(self, path: str) -> str:
        """Return the page of the only program in a file; the path if it holds several, or none."""
        found = self._files.get(path, ())
        return found[0] if len(found) == 1 else path


def _jobs(linked: Inventory, whose: _Whose) -> Iterator[JobView]:
    """Yield jobs and procedures, each with all programs that it reaches."""
    asked = {FOLDER, *_names_of_files(linked)}
    for member in linked.members:
        for job in member.jobs:
            name = job.name or member.name
            yield {
                "name": name,
                "title": linked.title(member.path, name),
                "kind": "job" if linked.is_job(member.path, name) else "procedure",
                "path": member.path,
                "steps": [_step(step, asked) for step in job.steps],
                "runs": [whose.page(one.facts.program, one.part.path) for one in linked.run_by(member.path, name)],
            }


def _names_of_files(linked: Inventory) -> Iterator[str]:
    """Yield the names by which programs ask for their files."""
    for located in linked.programs:
        for file in located.facts.files:
            yield key(file.dd or "")
            yield from (key(one.value) for one in file.named_by)


def _step(step: LinkedStep, asked: Container[str]) -> StepView:
    """Return a step as its row shows it.

    Args:
        step: The step.
        asked: The names by which programs ask for their files: a script exports many variables that have none (`LD_PRELOAD`).
    """
    return {
        "name": step.name,
        "programs": list(step.programs),
        "procedure": step.procedure,
        "line": step.line,
        "dds": [
            {"name": dd.name, "datasets": list(dd.dsns)}
            for dd in step.dds
            if dd.disp != OF_A_VARIABLE or dd.name in asked
        ],
    }


def _control_programs(linked: Inventory) -> Iterator[ControlView]:
    for member in linked.members:
        if member.variables is not None:
            yield {
                "name": member.name.upper(),
                "path": member.path,
                "line": member.variables.line,
                "calls": [
                    {"program": call.program, "line": call.line, "is_sure": call.is_sure} for call in member.calls
                ],
                "copies": [{"source": copy.source, "target": copy.target, "line": copy.line} for copy in member.copies],
                "variables": [one.name for one in member.variables.declared],
            }


def _maps(linked: Inventory, whose: _Whose) -> Iterator[MapsetView]:
    for member in linked.members:
        for mapset in member.mapsets:
            names = [one.name for one in mapset.maps]
            # A map is sent by its own name alone if its mapset is uncertain.
            known = [name for one in names for name in (f"{mapset.name or member.name}.{one}", one)]
            users = [user for one in known for user in linked.users("map", one)]
            yield {
                "name": mapset.name or member.name,
                "path": member.path,
                "maps": names,
                "used_by": whose.pages(users),
            }


def _copybooks(programs: Mapping[str, Json], layouts: Mapping[str, Json]) -> list[CopybookView]:
    """Return each file that is copied or could be, and each name without a file, by name and path.

    Two files of the same name are two copybooks: which of them a program takes was decided when it was read.
    """
    ids: dict[str, str] = {}
    for page, document in layouts.items():
        ids.setdefault(document["header"]["file_name"], page)
    # By name and path. A path of "" is a name without a file; every file is there from the start, even if nobody copies it.
    users: dict[tuple[str, str], dict[str, None]] = {(key(copied_as(path)), path): {} for path in ids}
    system: set[str] = set()
    for page, document in programs.items():
        for used in document["copybooks_used"]:
            name = key(copied_as(used["copybook_name"]))
            users.setdefault((name, used["path"] or ""), {})[page] = None
            if used["system"]:
                system.add(name)
    return [
        {
            "name": name,
            "id": ids.get(path),
            "path": path or None,
            "system": not path and name in system,
            "used_by": list(used_by),
        }
        for (name, path), used_by in sorted(users.items())
    ]


def _resources(programs: Mapping[str, Json]) -> list[dict[str, Json]]:
    """Return the CRUD matrix of the estate: resources by kind and name, each with the programs that do each of `DEEDS`.

    A name is the same in any case, as in a program, and is spelled as where it is first.
    """
    found: dict[tuple[str, str], tuple[str, dict[str, dict[str, None]]]] = {}
    for page, document in programs.items():
        for item in document["crud"]:
            named = (item["kind"] or "", key(item["resource"]))
            _, deeds = found.setdefault(named, (item["resource"], {deed: {} for deed in DEEDS}))
            for deed, users in deeds.items():
                # A program may have the resource twice, as a file and under the name of its data set.
                if item[deed]:
                    users[page] = None
    return [
        {"resource": name, "kind": kind, **{deed: list(users) for deed, users in deeds.items()}}
        for (kind, _), (name, deeds) in sorted(found.items())
    ]


def _tables(linked: Inventory, whose: _Whose) -> Iterator[DbTableView]:
    """Yield the tables of databases by name: those that a file defines, and those that only programs name."""
    # Of several definitions the first file's wins: in reverse order it is inserted last.
    defined = {key(table.name): (member, table) for member in reversed(linked.members) for table in member.tables}
    alike: dict[str, list[str]] = {}
    for name in defined:
        alike.setdefault(name.rpartition(".")[2], []).append(name)
    for name in sorted({*defined, *map(key, linked.used("table"))}):
        used_by = whose.pages(linked.users("table", name))
        schema, _, bare = name.rpartition(".")
        # A statement without a schema gets one when it is bound: DB2 takes it from the plan, and no source says which.
        others = [other for other in alike.get(bare, ()) if not (schema and "." in other)]
        found = defined.get(name) or (defined[others[0]] if len(others) == 1 else None)
        if found is None:
            yield {"name": name, "path": None, "defined_as": None, "columns": [], "used_by": used_by}
        else:
            member, table = found
            yield {
                "name": table.name if name in defined else name,
                "path": member.path,
                "defined_as": None if name in defined else table.name,
                "columns": [column.name for column in table.columns],
                "used_by": used_by,
            }


def _data_sets(linked: Inventory, whose: _Whose) -> Iterator[DataSetView]:
    """Yield the data sets behind the files of programs.

    A SELECT names a DD; each step that runs the program may have a DD statement of that name, with its own data sets.
    """
    seen: set[tuple[str, DataSet, str]] = set()
    for located, one in linked.data_sets():
        page = whose.page(located.facts.program, located.part.path)
        for dataset in one.dsns:
            if (page, one, dataset) not in seen:  # a step may have it twice
                seen.add((page, one, dataset))
                yield {
                    "dataset": dataset,
                    "program": page,
                    "file": one.file,
                    "dd": one.dd,
                    "job": one.job,
                    "step": one.step,
                }


def _data_sets_of_cics(linked: Inventory, whose: _Whose) -> Iterator[DataSetView]:
    """Yield the data sets of the files that a CSD defines, for each program that uses the file, or once if none does."""
    # Several regions may define the same file.
    files = {
        (one.name, dataset): None
        for member in linked.members
        for one in member.resources
        if one.kind == "FILE" and (dataset := one.attributes.get("DSNAME"))
    }
    for name, dataset in files:
        programs: list[str | None] = [*whose.pages(linked.users("file", name))]
        for program in programs or [None]:
            yield {"dataset": dataset, "program": program, "file": name, "dd": None, "job": None, "step": None}


def _missing(kind: str, name: str, users: Sequence[str], whose: _Whose) -> MissingView:
    return {"name": name, "kind": kind, "named_by": [whose.of_file(path) for path in users]}
