"""Which edges do the files around the programs add: jobs with their steps and data sets, and the resources of a CICS region?

Leaves to others: what the programs do with their files. Law: a step of a procedure is cited both in the job that runs it and in
the procedure.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ..estate.jcl import OF_A_VARIABLE
from ..estate.running import MAX_STEPS, JobSteps
from ..facts.sql import statement
from ..program import key
from ..words import vocabulary
from .naming import data_set, plain_path
from .operations import sql_edges
from .values import CitedLine, EstateEdge, NodeId

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..estate.jcl import Dd, JobStep
    from ..estate.members import Member
    from ..estate.running import RunningStep
    from .values import Certainty, FileBinding, Verb

SORTS = frozenset({"SORT", "DFSORT", "ICEMAN", "ICETOOL", "SYNCSORT", "SYNCTOOL", "SORTD"})
COPIES = frozenset({"IEBGENER", "ICEGENER"})
_COPIED: dict[str, Verb] = {"SYSUT1": "reads", "SYSUT2": "writes"}
_BINDERS = frozenset({"IEWL", "IEWBLINK", "IEWBLDGO", "IEWBODEF", "HEWL", "HEWLH096", "LINKEDIT"})
_BOUND: dict[str, Verb] = {"SYSLIN": "reads", "SYSLMOD": "writes"}
_COMPILERS = vocabulary("IGYCRCTL IKFCBL00 IEL0AA IBMZPLI ASMA90 IEV90 IFOX00 DFHECP1$ DFHEAP1$ DFHEPP1$ DSNHPC")
_MADE = frozenset({"SYSLIN", "SYSPUNCH", "SYSCIN", "SYSGO", "SYSADATA", "SYSDEBUG"})
"""The DDs that compilers, assemblers and translators write."""
_SYSTEM = re.compile(
    r"STEPLIB|JOBLIB|JOBCAT|STEPCAT|SYSPRINT|SYSOUT|SYSUDUMP|SYSABEND|SYSMDUMP|CEEDUMP|CEEOPTS|SYSTSPRT|SYSDBOUT|"
    r"SYSTERM|SORTLIB|SORTWK\w+|SORTDIAG|IMS|DFSRESLB|RESLIB|IMSACB\w?|PROCLIB|DFSESL|DBRMLIB|STEPLIB\w|SYSLIB|DFSSTAT"
)
SORT_IN = re.compile(r"SORTIN(?:\d\d?)?|SORTJNF\d")
SORT_OUT = re.compile(r"SORTOUT|SORTOF\w+|OUTFIL\w*")
FNAMES = re.compile(r"FNAMES=\(?([A-Z0-9$#@,]+)\)?", re.IGNORECASE)
# INFILE and OUTFILE, INDATASET and OUTDATASET, or IFILE and OFILE, IDS and ODS; the first letter gives the direction.
REPRO_FILES = re.compile(r"\b(I|O)(?:N|UT)?FILE[ ]*\([ ]*([A-Z0-9$#@]+)", re.IGNORECASE)
REPRO_SETS = re.compile(r"\b(I|O)(?:(?:N|UT)DATASET|DS)[ ]*\([ ]*([^\s()]+(?:\([^\s()]*\))?)", re.IGNORECASE)
# DISCONNECT reads nothing: it forgets where a catalog is.
_EXPORTED = re.compile(r"(?im)^[ ]*EXPORT[ ]+(?![^\n]*\b(?:DISCONNECT|DCON)\b)([^\s()]+(?:\([^\s()]*\))?)")
# A name may hold variables that a scheduler or a template fills in: PROD.CUST.D%%ODATE, ${HLQ}.CUST.
_NAME = r"'[^'\n]*'|[^\s()',;]+(?:\([^\s()]*\))?"
_DSN = re.compile(_NAME)
_CONTROL_COMMENT = re.compile(r"(?s)/\*.*?\*/")
_CONTINUED = re.compile(r"[-+][ ]*\n")
# DELETE NAME, DELETE (NAME NAME), DEFINE CLUSTER (NAME(NAME) …; the components of a cluster belong to it.
_CATALOGUED = re.compile(
    r"(?im)^[ ]*(?:(?:IF[^\n]*?THEN|DO)[ ]+)?(?:(?:DELETE|DEL)[ ]+"
    rf"(?P<deleted>\([^()]*\)|{_NAME})"
    r"|(?:DEFINE|DEF)[ ]+(?:CLUSTER|CL|ALTERNATEINDEX|AIX|PATH|GENERATIONDATAGROUP|GDG|NONVSAM|NVSAM|ALIAS|PAGESPACE|PGSPC|"
    r"USERCATALOG|UCAT)\s*\([^\n]*?\bNAME\s*\(\s*(?P<made>[^\s()]+))"
)
ICETOOL_FILES = re.compile(r"\b(FROM|TO)[ ]*\([ ]*([A-Z0-9$#@,]+)[ ]*\)", re.IGNORECASE)
# The tables that a DB2 utility loads and unloads, and the DB2 programs that run the SQL in their SYSIN. Other vendors'
# utilities (UNLOAD PLUS, LOADPLUS, High Performance Unload) unload what a SELECT says, and the system's own loads from the
# SELECT of a cursor.
_DB2_LOADS = re.compile(r"\b(INTO|FROM)\s+TABLE\s+((?:\"[^\"\n]*\"|[\w$#@.])+)", re.IGNORECASE)
_SELECTED = re.compile(r"(?is)\bSELECT\b.*?(?=\bSELECT\b|\bENDEXEC\b|;|\Z)")
_DB2_UTILITIES = frozenset({"DSNUTILB", "DSNUTILS", "DSNUPROC", "DSNUTILX", "ADUUMAIN", "AMUUMAIN", "INZUTILB"})
_RUN_SQL = frozenset({"DSNTEP2", "DSNTEP4", "DSNTIAD", "DSNTIAUL"})
_SQL_COMMENT = re.compile(r"(?m)--[^\n]*$|^\*[^\n]*$")
# &OWNER..T, %%OWNER..T, ${OWNER}.T, {{ owner }}.T, <OWNER>.T
_SCHEMA_VARIABLE = re.compile(r"(?:(?:&|%%)[\w$#@]+\.\.|(?:\$\{[^{}\s]+\}|\{\{[^{}\n]*\}\}|<[\w-]+>)\.)(?=[\w\"])")
_VARIABLE = frozenset("&*%{<")
"""What makes the name of a program a variable, or that of a data set (`PGM=*.STEP.DD`)."""
_UNUSED = "no job here runs the procedure, and one may override what it says"
FOLDER = "COB_FILE_PATH"
"""The variable of GnuCOBOL that names the folder of all files without one."""
_BACK = re.compile(r"\*\.(?:([A-Z0-9$#@]+(?:\.[A-Z0-9$#@]+)?)\.)?([A-Z0-9$#@]+)\Z", re.IGNORECASE)


class EstateJob(NamedTuple):
    """A job, or a procedure that no job runs, with its steps in the order in which they run."""

    node: NodeId
    path: str
    name: str
    """The name as its card says it, or that of its member."""
    steps: tuple[StepOfJob, ...]

    @property
    def title(self) -> str:
        """The name, and after an @ the member if several jobs have it: what `impact` is asked for."""
        return f"{self.name}{self.node.name.removeprefix(key(self.name))}"


class StepOfJob(NamedTuple):
    """A step as it runs in a job; a step of a procedure includes the overrides of the job."""

    node: NodeId
    job: NodeId
    """The job, or the procedure that no job runs."""
    running: RunningStep
    citations: tuple[CitedLine, ...]

    @property
    def step(self) -> JobStep:
        """The step as it is written."""
        return self.running.step

    @property
    def dds(self) -> tuple[tuple[str, Dd], ...]:
        """Each DD statement, with the path of the member that holds it."""
        return self.running.dds

    @property
    def is_expanded(self) -> bool:
        """Whether the step runs a procedure that is here, whose steps come after it and have its DDs."""
        return self.step.procedure is not None and not self.running.is_missing


class StepDataSet(NamedTuple):
    """The use of one data set by a step."""

    step: StepOfJob
    dd: str
    data_set: NodeId
    citations: tuple[CitedLine, ...]
    disposition: tuple[str, ...]
    record_bytes: int = 0
    """LRECL; 0 if the DD has none."""
    is_variable: bool = False
    """Whether RECFM says that records vary in length."""
    is_ignored: bool = False
    """Whether the data set follows a DUMMY in its concatenation: the system allocates it, but does not read it."""
    may_be_another: str = ""
    """Why a variable of a script may name another file; "" if it cannot."""

    @property
    def doubt(self) -> str:
        """Why the step may not use the data set; "" if it does."""
        if self.is_ignored:
            return "it follows a DUMMY, which ends what the system reads"
        if self.may_be_another:
            return self.may_be_another
        if "*" in self.data_set.name:
            return "its name is data: * stands for what is not known of it"
        return self.step.step.doubt


def region(members: Iterable[Member]) -> Iterator[EstateEdge]:
    """Yield what the definitions of a region say: which program a transaction runs, which data set a file is."""
    for member in members:
        for resource in member.resources:
            cited = (CitedLine(member.path, resource.line),)
            program, name = resource.attributes.get("PROGRAM"), resource.attributes.get("DSNAME")
            if resource.kind == "TRANSACTION" and program:
                yield EstateEdge(
                    NodeId("transaction", key(resource.name)), "runs", NodeId("program", key(program)), "is", cited
                )
            elif resource.kind == "FILE" and name:
                target = NodeId("dataset", data_set(name, ""))
                yield EstateEdge(NodeId("file", key(resource.name)), "bound to", target, "is", cited)


def jobs_of(members: Sequence[Member]) -> list[EstateJob]:
    """Return all jobs, and the procedures that no job runs, with their steps.

    Args:
        members: The members of the estate, ordered by path.
    """
    running = JobSteps(members)
    found = [(member, job, key(job.name or member.name)) for member, job in running.jobs()]
    # Many members may begin with the same JOB card, copied from one to the next: they are separate jobs.
    alike = {(name, key(member.name), member.path) for member, _, name in found}
    paths = Counter(name for name, _, _ in alike)
    members_alike = Counter((name, called) for name, called, _ in alike)
    made = []
    for member, job, name in found:
        by = key(member.name) if members_alike[name, key(member.name)] == 1 else member.path
        head = NodeId("job", f"{name}@{by}" if paths[name] > 1 else name)
        steps = _steps(head, running.steps(member, job))
        made.append(EstateJob(head, member.path, job.name or member.name, steps))
    # A step has the name of its procedure in front, as that of a job, and must not be taken for one of a job of that name.
    left = list(running.procedures())
    taken = Counter([*paths, *(name for name, _, _ in left)])
    for name, member, procedure in left:
        head = NodeId("procedure", f"{name}@{member.path}" if taken[name] > 1 else name)
        in_doubt = (
            one._replace(step=one.step._replace(doubt=one.step.doubt or _UNUSED))
            for one in running.steps(member, procedure)
        )
        made.append(EstateJob(head, member.path, name, _steps(head, in_doubt)))
    return made


def _steps(head: NodeId, running: Iterable[RunningStep]) -> tuple[StepOfJob, ...]:
    """Return the steps of a job or procedure as nodes."""
    return tuple(
        StepOfJob(
            NodeId("step", ".".join((head.name, *one.names))),
            head,
            one,
            tuple(CitedLine(path, line) for path, line in one.places),
        )
        for one in running
    )


def runs(one: StepOfJob) -> Iterator[EstateEdge]:
    """Yield that a step is part of its job, and what it runs."""
    node, step, cited = one.node, one.step, one.citations
    more = f"more than {MAX_STEPS} steps: what comes after this one is not followed" if one.running.is_cut else ""
    yield EstateEdge(node, "part of", one.job, "is", cited, more)
    if step.procedure is not None:
        yield EstateEdge(node, "runs", NodeId("procedure", key(step.procedure)), "is", cited)
        return
    for program in step.programs:
        # PGM=&NAME if nothing sets NAME, and PGM=*.STEP.DD, which is a data set that another step created.
        is_named = _VARIABLE.isdisjoint(program)
        why = step.doubt if is_named else "its name is a symbol that nothing here sets, or that of a data set"
        certainty: Certainty = "unknown" if not is_named else "may" if why else "is"
        yield EstateEdge(node, "runs", NodeId("program", key(program)), certainty, cited, why)


def data_uses(steps_of_job: Sequence[StepOfJob]) -> Iterator[StepDataSet]:
    """Yield the data sets that some steps of one job use; `*.STEP.DD` is looked up in the steps before it."""
    first: dict[tuple[str, str], str | None] = {}
    for one in steps_of_job:
        own = one.node.name.rpartition(".")[2]
        # A step of a procedure has its own name within that, and is called STEP.PROCSTEP from the job.
        whole = one.node.name.removeprefix(f"{one.job.name}.")
        for path, as_written in one.dds:
            # Of a concatenation, the system takes the first DD. Source: z/OS MVS JCL Reference, "References to
            # Concatenated Data Sets".
            dd = as_written._replace(
                places=tuple(first.get(_referred(at, own)) if at and at[:2] == "*." else at for at in as_written.places)
            )
            first[own, key(dd.name)] = first[whole, key(dd.name)] = dd.places[0]
            read = len(dd.read_dsns)
            for at, (name, file, line) in enumerate(dd.named):
                is_path = dd.disp == OF_A_VARIABLE
                target = NodeId("dataset", plain_path(name) if is_path else data_set(name, one.job.name))
                # Of a concatenation, and of what a job overrides, the DD that has the name is another one.
                cited = tuple(dict.fromkeys([CitedLine(file or path, line), CitedLine(path, dd.line)]))
                yield StepDataSet(
                    one,
                    key(dd.name),
                    target,
                    cited,
                    dd.disp,
                    dd.record_bytes,
                    dd.is_variable,
                    is_ignored=at >= read,
                    may_be_another=dd.other if is_path else "",
                )


def _referred(text: str, own: str) -> tuple[str, str]:
    """Return the step and DD that `*.STEP.DD` or `*.STEP.PROCSTEP.DD` refers to; `*.DD` is a DD of the step itself."""
    found = _BACK.match(text)
    return (key(found[1] or own), key(found[2])) if found else ("", "")


def direction(use: StepDataSet, files: Sequence[FileBinding]) -> Iterator[tuple[Verb, str]]:
    """Yield what a step does with a data set, with the reason if that is not certain.

    Args:
        use: The data set in its step.
        files: The files of the step's programs that have its DD name; empty if no program is here.
    """
    # In an IMS region, a program reads by DL/I calls what it need not open.
    is_opened = any(file.is_read or file.is_written or file.is_opened_for for file in files)
    if files and (is_opened or use.step.step.psb is None):
        reads = any(file.is_read for file in files)
        writes = any(file.is_written for file in files)
        if not reads and not writes:
            modes = {mode for file in files for mode in file.is_opened_for}
            reads, writes = bool(modes & {"INPUT", "I-O"}), bool(modes & {"OUTPUT", "EXTEND"})
        if reads:
            yield "reads", use.doubt
        if writes:
            yield "writes", use.doubt
        return
    # What the system and its utilities do with their own DDs is no flow of data. A program may have a file of such a name.
    if use.disposition == OF_A_VARIABLE or _SYSTEM.fullmatch(use.dd):
        return
    verb = _utility(use)
    if verb is not None:
        yield verb, use.doubt
    elif use.step.step.procedure is not None and use.dd in {"SYSLMOD", "SYSPUNCH"}:
        yield "writes", "by its DD name alone: the procedure is not here"
    elif key((*use.disposition, "NEW")[0]) not in {
        "OLD",
        "SHR",
    }:  # NEW is the default of DISP, and of its first part
        yield "writes", use.doubt or "by its DISP alone: what the program does with it is not here"
    else:
        yield "reads", use.doubt or "by its DISP alone: what the program does with it is not here"


def _utility(use: StepDataSet) -> Verb | None:
    """Return what a utility does with a DD, by the name of the DD or by the control statements."""
    program = key(use.step.step.program or "")
    control = "\n".join(line for _, dd in use.step.dds for line in dd.in_stream)
    if program in SORTS:
        if SORT_OUT.fullmatch(use.dd) or use.dd in listed(FNAMES.findall(control)):
            return "writes"
        for way, names in ICETOOL_FILES.findall(control):
            if use.dd in listed([names]):
                return "writes" if way.upper() == "TO" else "reads"
        return "reads" if SORT_IN.fullmatch(use.dd) else None
    if program in _BINDERS:
        return _BOUND.get(use.dd)
    if program in _COMPILERS:
        return "reads" if use.dd == "SYSIN" else "writes" if use.dd in _MADE else None
    if program in COPIES:
        return _COPIED.get(use.dd)
    if program == "IDCAMS":
        for way, name in REPRO_FILES.findall(control):
            if key(name) == use.dd:
                return "writes" if way.upper() == "O" else "reads"
    return None


def repro(step: StepOfJob) -> Iterator[EstateEdge]:
    """Yield the data sets that an IDCAMS step copies or exports by name."""
    if key(step.step.program or "") != "IDCAMS":
        return
    for path, dd in step.dds:
        for way, name in REPRO_SETS.findall("\n".join(dd.in_stream)):
            target = NodeId("dataset", data_set(name.strip("'"), step.job.name))
            verb: Verb = "writes" if way.upper() == "O" else "reads"
            yield _controlled(step, verb, target, path, dd)
        for name in _EXPORTED.findall(idcams_control(dd)) if key(dd.name) == "SYSIN" else ():
            target = NodeId("dataset", data_set(name.strip("'"), step.job.name))
            yield _controlled(step, "reads", target, path, dd)


def catalogued(step: StepOfJob) -> Iterator[EstateEdge]:
    """Yield the data sets that an IDCAMS step defines or deletes by name, which writes nothing into them."""
    if key(step.step.program or "") != "IDCAMS":
        return
    for path, dd in step.dds:
        if key(dd.name) != "SYSIN" or not dd.in_stream:
            continue
        for said in _CATALOGUED.finditer(idcams_control(dd)):
            names = _DSN.findall(said["deleted"]) if said["deleted"] else [said["made"]]
            for name in names:
                if "*" not in name:
                    target = NodeId("dataset", data_set(name.strip("'"), step.job.name))
                    verb: Verb = "deletes" if said["deleted"] else "creates"
                    yield _controlled(step, verb, target, path, dd)


def _controlled(step: StepOfJob, verb: Verb, target: NodeId, path: str, dd: Dd) -> EstateEdge:
    """Return what a control statement in a DD, which is in the file of a path, has a step do."""
    doubt = step.step.doubt
    return EstateEdge(step.node, verb, target, "may" if doubt else "is", stated_at(path, dd), doubt)


def stated_at(path: str, dd: Dd) -> tuple[CitedLine, ...]:
    """Return where a control statement of a DD is: in its stream, or in the members that it reads; its own line is not known."""
    here = CitedLine.spanning(path, dd.line, dd.end_line)
    return (here, *(CitedLine.spanning(member, 1, lines) for member, lines in dd.members))


def idcams_control(dd: Dd) -> str:
    """Return the IDCAMS control statements in a stream, without comments and with continued lines joined."""
    return _CONTINUED.sub(" ", _uncommented("\n".join(line[:72] for line in dd.in_stream)))


def _uncommented(control: str) -> str:
    """Return control statements without comments; one that does not end is none."""
    end = control.rfind("*/") + 2  # behind it, each of many that do not end would be searched for its end
    return _CONTROL_COMMENT.sub(" ", control[:end]) + control[end:] if end > 1 else control


def tables(step: StepOfJob) -> Iterator[EstateEdge]:
    """Yield the tables that a step reads and writes according to its SYSIN: SQL, or the LOAD and UNLOAD of a utility."""
    programs = {key(name) for name in (*step.step.programs, step.step.program, step.step.procedure) if name}
    for path, dd in step.dds if programs & (_RUN_SQL | _DB2_UTILITIES) else ():
        if key(dd.name) != "SYSIN" or not dd.in_stream:
            continue
        cited, doubt = stated_at(path, dd), step.step.doubt
        control = _SQL_COMMENT.sub("", _uncommented("\n".join(dd.in_stream)))
        control = _SCHEMA_VARIABLE.sub("", control)
        if programs & _DB2_UTILITIES:
            for way, name in _DB2_LOADS.findall(control):
                table = NodeId("table", key(name.replace('"', "")))
                yield _controlled(step, "writes" if way.upper() == "INTO" else "reads", table, path, dd)
            texts = _SELECTED.findall(control)
        else:
            texts = control.split(";")
        for text in texts:
            operation, named = statement(text)
            names = [NodeId("table", key(name)) for name in named]
            yield from sql_edges(step.node, operation, names, "may" if doubt else "is", cited, doubt)


def listed(found: Iterable[str]) -> set[str]:
    """Return the names in some comma-separated lists, in capitals."""
    return {key(name) for names in found for name in names.split(",")}
