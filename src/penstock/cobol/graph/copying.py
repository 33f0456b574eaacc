"""What do the steps of a job say about records: which data sets they copy, and which bytes of a record they address by number?

SORT, IEBGENER and REPRO copy the records of one data set to another; DD statements say how long a record is (`LRECL=80`), and
the control statements of a SORT where its parts are (`SORT FIELDS=(1,8,CH,A)`). Leaves to others: the layout of the records,
which programs declare.

Law: only a byte-for-byte copy of records is certain (`is`); a statement gives every place as numbers.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ..facts.code import clipped
from ..program import key
from .jobs import (
    COPIES,
    FNAMES,
    ICETOOL_FILES,
    REPRO_FILES,
    REPRO_SETS,
    SORT_IN,
    SORT_OUT,
    SORTS,
    idcams_control,
    listed,
    stated_at,
)
from .naming import data_set
from .values import CitedLine, NodeId, less_sure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..estate.members import Member
    from .jobs import StepDataSet, StepOfJob
    from .values import Certainty

_BUILDS = re.compile(r"\b(?:INREC|OUTREC|BUILD|REFORMAT|JOINKEYS|IFTHEN|OVERLAY|FINDREP|SPLICE)\b|\bRECORD\s+FIELD\b")
_MOVES = re.compile(r"\b(?:INREC|JOINKEYS|REFORMAT|SPLICE)\b")
_QUOTED = re.compile(r"'[^'\n]*'")
_PLACE = re.compile(r"(?<![\w.:+-])(?:\d+:)?(\d{1,5}),(\d{1,5})(?=[,)])")
_COMMENT = re.compile(r"(?m)^\*[^\n]*$")
_GOES_ON = re.compile(r"(?m),[ ]*\n[ ]*|-[ ]*\n")
_REPRO = re.compile(r"(?s)\bREPRO\b(.*?)(?=\bREPRO\b|\Z)", re.IGNORECASE)
_DEFINED = re.compile(
    r"(?is)(?<!\S)(?:DEFINE|DEF)\s+([A-Z]+)\s*(\(.*?)"
    r"(?=(?<!\S)(?:DEFINE|DEF|DELETE|DEL|REPRO|BLDINDEX|LISTCAT|ALTER|SET|IF)\s|\Z)"
)
_CLUSTERS, _INDEXES = frozenset({"CLUSTER", "CL"}), frozenset({"ALTERNATEINDEX", "AIX"})
_NAMED = re.compile(r"\bNAME\s*\(\s*([^\s()]+)", re.IGNORECASE)
_RELATED = re.compile(r"\b(?:RELATE|REL)\s*\(\s*([^\s()]+)", re.IGNORECASE)
_RECORDS = re.compile(r"\b(?:RECORDSIZE|RECSZ)\s*\(\s*(\d{1,5})\s*[\s,]\s*(\d{1,5})\s*\)", re.IGNORECASE)
_KEYS = re.compile(r"\bKEYS\s*\(\s*(\d{1,5})\s*[\s,]\s*(\d{1,5})\s*\)", re.IGNORECASE)
_MAX_TEXT = 60
_RDW = 4
"""The bytes of the record descriptor word, which precedes the first field of a variable-length record."""


class CopiedRecords(NamedTuple):
    """A copy of the records of one data set to another by a step or a CL program."""

    source: NodeId
    target: NodeId
    step: NodeId
    certainty: Certainty
    why: str
    """Why a copy is not certain; "" if it is."""
    is_rebuilt: bool
    """Whether the step reformats the records, so that their bytes are elsewhere."""
    citations: tuple[CitedLine, ...]


class LinkedStore(NamedTuple):
    """A data set whose records are copied from another one, or to it, by one or several steps."""

    store: NodeId
    certainty: Certainty
    is_rebuilt: bool
    why: str
    citations: tuple[CitedLine, ...]


class WrittenPlace(NamedTuple):
    """Some bytes in the records of a data set, or the length of the records, as a step states them in numbers."""

    data_set: NodeId
    step: NodeId
    text: str
    """The text that states it."""
    start: int | None
    """The first byte, from 1 on; None for the length of a record."""
    length: int
    is_sure: bool
    """Whether a place refers to the records as they are read, or a length is fixed."""
    citations: tuple[CitedLine, ...]


def linked(
    copies: Mapping[NodeId, Sequence[CopiedRecords]], start: NodeId, *, back: bool = False
) -> Iterator[LinkedStore]:
    """Yield the data sets that the records of one are copied to, the nearest first; with `back`, those that they come from.

    Args:
        copies: The copies in the estate, by source and by target.
        start: The data set.
        back: Whether to follow the copies from target to source.
    """
    waiting = deque([LinkedStore(start, "is", False, "", ())])
    seen = {start}
    while waiting:
        here = waiting.popleft()
        for one in copies.get(here.store, ()):
            other = one.source if back else one.target
            if (one.target if back else one.source) == here.store and other not in seen:
                seen.add(other)
                said = f"{one.step} copies {one.source} to {one.target}" + (f"; {one.why}" if one.why else "")
                found = LinkedStore(
                    other,
                    less_sure(here.certainty, one.certainty),
                    here.is_rebuilt or one.is_rebuilt,
                    f"{here.why}; {said}" if here.why else said,
                    (*here.citations, *one.citations),
                )
                waiting.append(found)
                yield found


def copied(step: StepOfJob, uses: Sequence[StepDataSet]) -> Iterator[CopiedRecords]:
    """Yield which data sets a step copies to which.

    Args:
        step: The step.
        uses: The data sets that it uses.
    """
    program = key(step.step.program or "")
    control = _control(step)
    certainty, why = _sure(step)
    is_rebuilt = _BUILDS.search(control) is not None
    if is_rebuilt:
        certainty, why = "may", "its control statements rebuild the records"
    elif program in SORTS and not control:
        certainty, why = "may", "its control statements are not here"
    if program in SORTS:
        outs = {use.dd for use in uses if SORT_OUT.fullmatch(use.dd)} | listed(FNAMES.findall(control))
        pairs = [({use.dd for use in uses if SORT_IN.fullmatch(use.dd)}, outs)]
        given: set[str] = set()
        for way, names in ICETOOL_FILES.findall(control):
            if way.upper() == "FROM":
                given = listed([names])
            else:
                pairs.append((given, listed([names])))
    elif program in COPIES:
        pairs = [({"SYSUT1"}, {"SYSUT2"})]
    elif program == "IDCAMS":
        yield from _reproduced(step, uses)
        return
    else:
        return
    for pair in pairs:
        for one, other in product(*([use for use in uses if use.dd in names] for names in pair)):
            if one.data_set != other.data_set:
                cited = tuple(dict.fromkeys((*one.citations, *other.citations)))
                yield CopiedRecords(one.data_set, other.data_set, step.node, certainty, why, is_rebuilt, cited)


def _sure(step: StepOfJob) -> tuple[Certainty, str]:
    """Return whether what a step says of data sets is certain, and why not."""
    return ("may", step.step.doubt) if step.step.doubt else ("is", "")


def _reproduced(step: StepOfJob, uses: Sequence[StepDataSet]) -> Iterator[CopiedRecords]:
    """Yield what each REPRO of an IDCAMS step copies, by DD names or by the names of the data sets."""
    for path, dd in step.dds:
        cited, (certainty, why) = stated_at(path, dd), _sure(step)
        for said in _REPRO.findall(idcams_control(dd)):
            ends: dict[str, list[NodeId]] = {"I": [], "O": []}
            for way, name in REPRO_FILES.findall(said):
                ends[way.upper()] += [use.data_set for use in uses if use.dd == key(name)]
            for way, name in REPRO_SETS.findall(said):
                ends[way.upper()].append(NodeId("dataset", data_set(name.strip("'"), step.job.name)))
            for one in ends["I"]:
                for other in ends["O"]:
                    if one != other:
                        yield CopiedRecords(one, other, step.node, certainty, why, False, cited)


def copied_by_cl(member: Member, me: NodeId) -> Iterator[tuple[CopiedRecords, str]]:
    """Yield which files a CL program, whose node is `me`, copies to which (CPYF), with the reason if one may be another file."""
    for copy in member.copies:
        source, target = NodeId("dataset", copy.source), NodeId("dataset", copy.target)
        command = CitedLine.spanning(member.path, copy.line, copy.end_line)
        cited = (command, *(CitedLine(member.path, line) for line in copy.said_lines))
        doubt = "" if copy.is_sure else "a variable or an OVRDBF of CL says which files"
        why = doubt or ("its FMTOPT lays the records anew" if copy.is_rebuilt else "")
        yield CopiedRecords(source, target, me, "may" if why else "is", why, copy.is_rebuilt, cited), doubt


def written(step: StepOfJob, uses: Sequence[StepDataSet]) -> Iterator[WrittenPlace]:
    """Yield the places and lengths that a step states in numbers about the records of its data sets.

    Args:
        step: The step.
        uses: The data sets that it uses.
    """
    for use in uses:
        if use.record_bytes:
            # The LRECL of variable-length records is a maximum that includes the record descriptor word.
            text = f"LRECL={use.record_bytes}"
            length = use.record_bytes - _RDW * use.is_variable
            yield WrittenPlace(use.data_set, step.node, text, None, length, not use.is_variable, use.citations)
    if key(step.step.program or "") == "IDCAMS":
        yield from _defined(step)
    if key(step.step.program or "") not in SORTS:
        return
    read = {use.data_set: use for use in uses if SORT_IN.fullmatch(use.dd)}
    for path, dd in step.dds:
        if not _is_control(key(dd.name)):
            continue
        whole, cited = _text(dd.in_stream), stated_at(path, dd)
        is_sure = len(read) == 1 and not _MOVES.search(whole)
        for said in whole.split("\n"):
            for start, length in _PLACE.findall(_QUOTED.sub("''", said)):
                text = clipped(" ".join(said.split()), _MAX_TEXT)
                for use in read.values():
                    first = int(start) - _RDW * use.is_variable
                    if first > 0:
                        yield WrittenPlace(use.data_set, step.node, text, first, int(length), is_sure, cited)


def _defined(step: StepOfJob) -> Iterator[WrittenPlace]:
    """Yield the record lengths, key lengths and key places of the data sets that an IDCAMS step defines.

    The key of an alternate index is in the records of its cluster; its own records are different ones.
    """
    for path, dd in step.dds:
        cited = stated_at(path, dd)
        for kind, said in _DEFINED.findall(idcams_control(dd)):
            is_cluster = key(kind) in _CLUSTERS
            named = (_NAMED if is_cluster else _RELATED).search(said)
            if named is None or (not is_cluster and key(kind) not in _INDEXES):
                continue
            store = NodeId("dataset", data_set(named[1].strip("'"), step.job.name))
            lengths, place = _RECORDS.search(said), _KEYS.search(said)
            if lengths is not None and is_cluster:
                most, text = int(lengths[2]), " ".join(lengths[0].split())
                yield WrittenPlace(store, step.node, text, None, most, most == int(lengths[1]), cited)
            if place is not None:
                text = " ".join(place[0].split())
                yield WrittenPlace(store, step.node, text, int(place[2]) + 1, int(place[1]), True, cited)


def _control(step: StepOfJob) -> str:
    """Return the control statements of a step."""
    return "\n".join(_text(dd.in_stream) for _, dd in step.dds if _is_control(key(dd.name)))


def _is_control(name: str) -> bool:
    """Return whether a DD holds control statements."""
    return name in {"SYSIN", "TOOLIN"} or name.endswith("CNTL")


def _text(lines: Sequence[str]) -> str:
    """Return control statements, one per line, without comments."""
    text = _COMMENT.sub("", "\n".join(line[:71] for line in lines))
    return _GOES_ON.sub(lambda found: "," * found[0].startswith(","), text)
