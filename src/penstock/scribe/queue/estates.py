"""What does a worker see of an estate? A list of its files, their bytes on demand, and the work on each file once it is planned.

Workers share no disk with whoever started a run. Law: the same files give the same plans on every worker, and where the site is
made: each plan keeps to the one that was made first. Leaves to others: what is asked (`work`).
"""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from penstock.cobol.estate import Copybooks, Member, member
from penstock.cobol.facts import data, hosted
from penstock.cobol.graph import EstateGraph, ProgramPart
from penstock.scribe import Around, Surroundings, is_copybook, says_anything, situated, subject_of
from penstock.scribe.asking import answer_key
from penstock.scribe.columns import Column, column
from penstock.scribe.estate_reading import graph_part
from penstock.scribe.file_work import FileWork, assignment_key
from penstock.scribe.gathering import GatheredFile
from penstock.scribe.pages.wiring import calling_part
from penstock.scribe.queue.accepted import Accepted, Planning, UnansweredKeys
from penstock.scribe.queue.contents import MISSING, unpacked
from penstock.store import StoreFault
from penstock.text import escape
from penstock.text.json_access import field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from penstock.cobol.estate import Kind
    from penstock.scribe.documenting import ScannedFile
    from penstock.scribe.queue.database import Database
    from penstock.scribe.queue.runs import Run
    from penstock.text.json_access import Json

# The work on a file takes 50 times the bytes of its source.
_KEPT_BYTES = 8 << 20
"""The most bytes of sources whose files' work is kept in memory: a slice of eight chunks is seldom the last of its file."""


class _ListedFile(NamedTuple):
    path: str
    kind: Kind
    digest: bytes


class Surveyed(NamedTuple):
    """The result of surveying a file: its programs with what they call, None without any, and the chunks of its plan."""

    programs: Json
    assignment: Json
    chunks: list[tuple[int, str, int]]
    """For each chunk to ask about: its place in the plan, the key of its answer, and the tokens of its prompt."""


class FetchedFile(NamedTuple):
    """What the work on a file is made from: its bytes or the result of a survey here, its plan, and what surrounds it."""

    content: bytes | None
    surveyed: FileWork | None
    assignment: Json
    neighbours: Any


class _Kept:
    """The work on recently used files, as long as their sources together are not too large."""

    def __init__(self) -> None:
        self._works: OrderedDict[int, FileWork] = OrderedDict()
        self._bytes = 0

    def put(self, number: int, file: FileWork) -> None:
        self.take(number)
        self._works[number] = file
        self._bytes += len(file.subject.source.data)
        while self._bytes > _KEPT_BYTES and len(self._works) > 1:
            self.take(next(iter(self._works)))

    def get(self, number: int) -> FileWork | None:
        if number in self._works:
            self._works.move_to_end(number)
        return self._works.get(number)

    def take(self, number: int) -> FileWork | None:
        """Return the work on a file, and stop keeping it."""
        found = self._works.pop(number, None)
        if found is not None:
            self._bytes -= len(found.subject.source.data)
        return found


class QueuedEstate:
    """The files of one run. Threads share it; if two need the same file at once, it is planned once.

    Args:
        database: The queue.
        run: The run whose files they are.
    """

    def __init__(self, database: Database, run: Run) -> None:
        self._database, self.run = database, run
        self.budget = run.budget()
        rows = database.rows("SELECT number, path, kind, digest FROM files WHERE run = %(run)s", run=run.id)
        self._files = {
            number: _ListedFile(os.fsdecode(bytes(path)), cast("Kind", kind), bytes(digest))
            for number, path, kind, digest in sorted(rows)
        }
        copied = [one for one in self._files.values() if one.kind in {"bms", "dds"}]
        contents = self._all_contents(copied)
        self._shelf = Copybooks(
            [(one.path, one.kind, partial(self._content, one.digest, one.path)) for one in self._files.values()],
            [member(one.path, one.kind, contents[one.digest]) for one in copied],
        )
        self._lock = threading.Lock()
        self._planning: dict[int, threading.Lock] = {}
        self._works = _Kept()
        self._surveyed = _Kept()
        self.unanswered = UnansweredKeys()
        """The keys that this run's questions have just been seen to have no answer for."""

    def _contents(self, digests: Iterable[bytes]) -> dict[bytes, bytes]:
        rows = self._database.rows("SELECT digest, data FROM contents WHERE digest = ANY(%(all)s)", all=list(digests))
        found = ((bytes(digest), unpacked(digest, data)) for digest, data in rows)
        return {digest: data for digest, data in found if data is not None}

    def _all_contents(self, files: Iterable[_ListedFile]) -> dict[bytes, bytes]:
        """Return the contents of files that no document of the estate can do without."""
        wanted = {one.digest: one.path for one in files}
        found = self._contents(wanted)
        if missing := sorted(path for digest, path in wanted.items() if digest not in found):
            raise StoreFault("io_error", f"{escape.clip(missing[0])}: {MISSING}.")
        return found

    def _content(self, digest: bytes, path: str) -> bytes:
        found = self._contents([digest])
        if not found:
            raise LookupError(f"{path}: {MISSING}")
        return found[digest]

    def _subject(self, number: int, content: bytes) -> ScannedFile:
        one = self._files[number]
        return subject_of(GatheredFile(one.path, one.kind, content), self._shelf, self.run.source_format)

    def contents(self, numbers: Iterable[int]) -> dict[int, bytes]:
        """Return the bytes of some files, as far as the queue has them, with one query."""
        digests = {number: self._files[number].digest for number in numbers}
        held = self._contents(set(digests.values()))
        return {number: held[digest] for number, digest in digests.items() if digest in held}

    def survey(self, number: int, content: bytes | None) -> Surveyed:
        """Return what a file contains, and the plan of its chunks.

        Raises:
            LookupError: Its content is not in the queue, or not as it was put in.
        """
        if content is None:
            raise LookupError(MISSING)
        one = self._subject(number, content)
        if not says_anything(one) or is_copybook(one):
            return Surveyed(None, None, [])
        caught = Planning()
        file = FileWork(one, self.budget, caught, self.run.model_id)
        with self._lock:  # this worker may be the one that asks, and then neither reads nor plans it again
            self._surveyed.put(number, file)
        # A statement larger than a prompt is never sent, and in a chunk of comments alone nothing can be proved: neither is asked.
        chunks = [
            (number, answer_key(task.chunk, self.run.model_id), task.chunk.prompt_tokens or 0)
            for number, task in enumerate(file.tasks)
            if task.chunk.id in task.plan.prompts
            and any(
                one.source.is_code(line)
                for first, last in (*task.chunk.spans, *task.chunk.context_spans)
                for line in range(first, last + 1)
            )
        ]
        # A program without a name has that of its file, whose path may be no text for a database.
        path = os.fsencode(self._files[number].path).decode("utf-8", "backslashreplace")
        parts = [calling_part(graph_part(part, path)) for part in one.parts]
        names = [part.facts.program for part in one.parts]
        return Surveyed({"names": names, "parts": _column().pack(parts)}, caught.assignment, chunks)

    def fetch(self, numbers: Sequence[int]) -> dict[int, FetchedFile]:
        """Return what the work on some files is made from, with one query for all that are not in memory."""
        with self._lock:
            missing = [number for number in numbers if self._works.get(number) is None]
            surveyed = {number: file for number in missing if (file := self._surveyed.take(number)) is not None}
        if not missing:
            return {}
        rows = self._database.rows(
            "SELECT number, assignment, around FROM files WHERE run = %(run)s AND number = ANY(%(numbers)s)",
            run=self.run.id,
            numbers=missing,
        )
        contents = self.contents(number for number in missing if number not in surveyed)
        return {
            number: FetchedFile(contents.get(number), surveyed.get(number), assignment, neighbours)
            for number, assignment, neighbours in rows
        }

    def work(self, number: int, fetched: dict[int, FetchedFile]) -> FileWork:
        """Return the work on a file, planned as it was surveyed.

        Files are planned on demand: planning all files of a job at once would delay its first question, and keep the processors
        busy when every worker begins at the same time. Each is planned once: the first jobs of an estate may all be of one large
        file, and sixteen plans of it at once take sixteen times the time and memory.

        Args:
            number: The file.
            fetched: The result of `fetch`, from which what is used is removed; what is missing is fetched.

        Raises:
            LookupError: Its content is not in the queue, or not as it was put in.
        """
        with self._lock:
            planning = self._planning.setdefault(number, threading.Lock())
        with planning:
            with self._lock:
                found = self._works.get(number)
            return found if found is not None else self._planned(number, fetched)

    def _planned(self, number: int, fetched: dict[int, FetchedFile]) -> FileWork:
        """Return the work on a file that is not in memory, and keep it."""
        one = fetched.pop(number, None) or self.fetch([number]).get(number)
        if one is None or (one.content is None and one.surveyed is None):
            raise LookupError(MISSING)
        subject = one.surveyed.subject if one.surveyed is not None else self._subject(number, one.content or b"")
        around_each = [Around(*map(tuple, each)) for each in one.neighbours or [((), (), ())] * len(subject.parts)]
        key = assignment_key(subject.file_name, self.budget, self.run.model_id)
        results = Accepted(
            self._database,
            self.run.id,
            since=self.run.fresh_since,
            assignments={key: one.assignment or {}},
            unanswered=self.unanswered,
        )
        before = one.surveyed.plan if one.surveyed is not None else None
        made = FileWork(situated(subject, around_each), self.budget, results, self.run.model_id, planned=before)
        if len(made.plan.chunks) > 1:  # otherwise this question is the last
            with self._lock:
                self._works.put(number, made)
        return made

    def linked(self, programs: Mapping[int, str]) -> dict[int, list[Around]]:
        """Return what surrounds the programs of each file, from the surveys of all of them.

        Args:
            programs: What the survey of each file says of its programs, as the text of JSON: read, it takes 50 KB a program.
        """
        beside = [(number, one) for number, one in self._files.items() if one.kind != "cobol"]
        members = [member_of for part in _parts(beside) for member_of in self._members(part)]
        parts: dict[int, list[ProgramPart]] = {}
        names: dict[tuple[str, int], str] = {}
        for number, text in sorted(programs.items()):
            found, path = json.loads(text), self._files[number].path
            parts[number] = [part._replace(path=path) for part in _column().unpack(field(found, "parts"))]
            names |= {(path, part.line): name for part, name in zip(parts[number], field(found, "names"), strict=True)}
        surroundings = Surroundings(EstateGraph(chain.from_iterable(parts.values()), members), names)
        return {number: [surroundings.of(part.path, part.line) for part in each] for number, each in parts.items()}

    def _members(self, files: Sequence[tuple[int, _ListedFile]]) -> list[Member]:
        contents = self._all_contents(one for _, one in files)
        return [member(one.path, one.kind, contents[one.digest]) for _, one in files]


def _parts(files: Sequence[tuple[int, _ListedFile]], size: int = 200) -> Iterable[Sequence[tuple[int, _ListedFile]]]:
    for at in range(0, len(files), size):
        yield files[at : at + size]


@cache
def _column() -> Column:
    """Return how the parts of programs are written."""
    return column(ProgramPart, {**vars(data), **vars(hosted)})
