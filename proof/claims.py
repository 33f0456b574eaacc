"""R18: do the documents contain everything true that a model says, on the right lines, and nothing else?

A model that plants claims (`planting`) documents every file, in prompts of 2,000, 8,000 and 30,000 tokens. Then, in the documents:
every citation names lines of the file that are code, and its evidence is the text of the first of them (M5); no two records of a
section have one key; every true claim is where it belongs, once, with a citation of exactly its lines, and what comes from the code
is the same as without a model (M6); nothing wrong is anywhere; each line is documented or listed as failed. A second run over the
kept results, which returns them in reverse order to four threads, asks for nothing and gives the same bytes.
Which lines are code, and their text, is determined by a second reader, by columns (`columns` says how far that is independent);
keys are compared by the product's own rule. With verification switched off the rig must find wrong claims, otherwise it proves
nothing.
The short form generates its own programs, in every format, and reads those of examples/cobol; the long one also reads everything
below PENSTOCK_DATA, copybooks included.
"""

from __future__ import annotations

import codecs
import json
import os
import random
import signal
import sys
import threading
from collections import Counter, defaultdict
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

from proof.chunks import generated, programs
from proof.figure import MEMORY, REPOSITORY, Figure, folder, forked, main, told_each_minute
from proof.planting import DERIVED, EVERYWHERE, INVENTED, RIGHT, WRONG, Extents, Planter
from tests.scribe.programs import program

from penstock.chunk.merging import merge
from penstock.chunk.template import Citation, folded
from penstock.cobol.estate import kind_of
from penstock.scribe import asking, subjects
from penstock.scribe.documenting import run
from penstock.scribe.documents import document_of
from penstock.scribe.estate_reading import FileReader, ReadSetup, members_of
from penstock.scribe.filling import SECTIONS
from penstock.scribe.gathering import HEAD_BYTES, GatheredFile
from penstock.scribe.results import Folder
from penstock.scribe.verification import ClaimVerdict
from penstock.text import escape
from proof import columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from proof.columns import Page
    from proof.planting import Fact

    from penstock.scribe.answers import Claim
    from penstock.scribe.documenting import DocumentingRun, ScannedFile
    from penstock.scribe.verification import Shown

BUDGETS = (2_000, 8_000, 30_000)
EVIDENCE_CHARS = 200  # of a line, in a citation
_SHORT_BUDGETS = {"generated": BUDGETS[:1], "examples": BUDGETS[1:2]}
_SHORT_BYTES, _LONG_BYTES = 60_000, 1_000_000  # the largest generated program; R17 has larger ones
_JOBS = 4
_PATIENCE_SECONDS = 60.0  # a later answer counts as missing
_TOO_LARGE = "one statement that is larger than a prompt may be"
_WORDS = {  # words that a model may add to the code's own
    "inputs": ("description",),
    "outputs": ("description",),
    "business_rules": ("description", "logic_summary"),
    "paragraphs": ("summary", "purpose"),
    "error_handling": ("description",),
    "call_semantics": ("purpose",),
    "open_questions": ("question",),
}
_SECTION_OF = {
    "I": "inputs",
    "O": "outputs",
    "R": "business_rules",
    "P": "paragraphs",
    "E": "error_handling",
    "C": "call_semantics",
}
_OF_THE_MODEL = {"purpose", "call_semantics", "open_questions"}

Document = dict[str, Any]


class Looked(NamedTuple):
    """Observations about a file."""

    name: str
    lines: int
    faults: tuple[str, ...]
    planted: Counter[str]
    facts: int
    told: int
    calls: int


class _Model:
    """The model for one planter, in this process."""

    wire, name, window_tokens = "openai-chat", "o200k", None

    def __init__(self, planter: Planter) -> None:
        self._planter = planter

    def send(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer of a model asked over that wire."""
        said = json.dumps({"claims": self._planter.claims(request)})
        return {"choices": [{"message": {"role": "assistant", "content": said}}]}


class Backwards:
    """Results in a folder. Once turned, it returns answers in groups of four, the most recently requested first."""

    def __init__(self, path: str) -> None:
        self._folder = Folder(path)
        self._home = threading.get_ident()  # requests from this thread are not for answers
        self._turn = threading.Condition()
        self._is_turned = False
        self._answers = self._asked = self._given = 0
        self.late = 0

    def turn(self) -> None:
        """From now on, return answers in reverse."""
        self._is_turned, self._answers, self._asked = True, self._asked, 0

    def get(self, key: str, /) -> Any:
        """The value of a key, when it is its turn."""
        kept = self._folder.get(key)
        if threading.get_ident() == self._home:
            return kept
        with self._turn:
            at = self._asked
            self._asked += 1
            if self._is_turned:
                first = at - at % _JOBS
                last = min(first + _JOBS, self._answers) - 1
                self._turn.notify_all()
                mine = first + last - at  # how many are returned before this one
                self.late += not self._turn.wait_for(
                    lambda: self._asked > last and self._given >= mine, _PATIENCE_SECONDS
                )
                self._given += 1
                self._turn.notify_all()
        return kept

    def put(self, key: str, value: Any, /) -> None:
        """Keeps a value."""
        self._folder.put(key, value)


# ── one file ─────────────────────────────────────────────────────────────────────────────────────────────────────


def look(one: ScannedFile, budgets: Sequence[int], within: str | None = MEMORY) -> Looked:
    """Faults in the documents of a file, for all budgets; results are kept in a new folder within another."""
    page = columns.page(one.source)
    extents = _extents(one)
    plain = [document_of(merge([part.template]), part.facts, one.source, one.about) for part in one.parts]
    faults = [f"without a model: {fault}" for made in plain for fault in _false_citations(made, page)]
    faults += [f"without a model: {fault}" for made in plain for fault in _one_key(made)]
    outside = page.code.difference(_lines_of(one)) if plain else ()
    faults += [f"line {line} is in no program" for line in sorted(outside)]
    planted: Counter[str] = Counter()
    facts = told = calls = 0
    for budget in budgets if plain else ():
        planter, again = (Planter(page, extents, has_one_program=len(plain) == 1) for _ in range(2))
        with folder("claims", within) as path:
            kept = Backwards(path)
            first = _run(one, planter, kept, budget, jobs=1)
            kept.turn()
            second = _run(one, again, kept, budget, jobs=_JOBS)
        documents = first.documents[0][1]
        lost = list(_lost(planter.facts, documents, first.reused))
        found = [*planter.odd, *lost, *_changed(first, second, kept)]
        for part, document, before in zip(one.parts, documents, plain, strict=True):
            found += [*_false_citations(document, page), *_wrong(document), *_same_code(before, document)]
            found += _not_covered(document, part.program.start_line, part.program.end_line)
        faults += [f"prompts of {budget}: {fault}" for fault in found]
        planted += planter.planted
        facts, told, calls = facts + len(planter.facts), told + len(planter.facts) - len(lost), calls + first.calls
    return Looked(one.file_name, one.source.lines, tuple(faults), planted, facts, told, calls)


def _extents(one: ScannedFile) -> Extents:
    """The extents of a file's paragraphs and programs; a single program needs no name."""
    programs = [part.program for part in one.parts]
    paragraphs = [paragraph for program in programs for paragraph in program.paragraphs]
    return Extents(
        {paragraph.line: paragraph.end_line for paragraph in reversed(paragraphs)},  # if two share a line, the first
        tuple(
            (escape.show_name(part.facts.program), part.program.start_line, part.program.end_line) for part in one.parts
        )
        if len(programs) > 1
        else (),
    )


def _run(one: ScannedFile, planter: Planter, kept: Backwards, budget: int, *, jobs: int) -> DocumentingRun:
    return run([one], model=_Model(planter), results=kept, jobs=jobs, max_prompt_tokens=budget)


def _lines_of(one: ScannedFile) -> set[int]:
    return {line for part in one.parts for line in range(part.program.start_line, part.program.end_line + 1)}


def _changed(first: DocumentingRun, second: DocumentingRun, kept: Backwards) -> Iterator[str]:
    """Faults of a second run over the same results."""
    if second.calls or second.resent:
        yield f"the second run asked {second.calls} times"
    if kept.late:
        yield f"{kept.late} answers that were kept were not asked for again"
    for before, after in zip(first.documents[0][1], second.documents[0][1], strict=True):
        if json.dumps(before) != json.dumps(after):
            names = [name for name in before if json.dumps(before[name]) != json.dumps(after[name])]
            yield f"answers that were kept and come backwards give another {', '.join(names)}"


# ── what documents must not have ─────────────────────────────────────────────────────────────────────────────────


def _false_citations(value: Any, page: Page) -> Iterator[str]:
    """Citations, anywhere, of lines that are not in the file, are not code, or have another text."""
    if isinstance(value, list):
        for inner in value:
            yield from _false_citations(inner, page)
    elif isinstance(value, dict):
        for proof in value.get("citations", ()):
            first, last = proof["first_line"], proof["last_line"]
            if not 1 <= first <= last <= len(page.texts):
                yield f"the citation {first}-{last} is out of range"
            elif not page.code.issuperset((first, last)):
                yield f"the citation {first}-{last} is not of code"
            elif proof["evidence"] != page.text(first)[:EVIDENCE_CHARS]:
                yield f"the citation {first}-{last} says {proof['evidence']!r:.60}, and not {page.text(first)!r:.60}"
        for inner in value.values():
            yield from _false_citations(inner, page)


def _wrong(told: Document) -> Iterator[str]:
    text = json.dumps(told)
    if WRONG in text or INVENTED in text:
        at = text.find(WRONG if WRONG in text else INVENTED)
        yield f"{text.count(WRONG)} wrong claims are told: {text[at : at + 80]}"
    if (said := text.count(f"{DERIVED} of them.")) != (own := text.count(f"in the code: {DERIVED}.")):
        yield f"of {said} numbers that the code does not have {own} are marked"


def _listed(told: Document) -> Iterator[tuple[str, list[Document]]]:
    for name in SECTIONS:
        items = told["data_flow"][name] if name in told["data_flow"] else told[name]
        if isinstance(items, list):
            yield name, items


def _one_key(told: Document) -> Iterator[str]:
    """Records with equal keys. A record's line is that of its first citation, as long as no model has added any."""
    for name, items in _listed(told):
        if SECTIONS[name] == ("number",):
            continue  # told apart by their place in the list alone
        keys = Counter(tuple(_value(item, part) for part in SECTIONS[name]) for item in items)
        yield from (f"{name}: {count} records are {key}" for key, count in keys.items() if count > 1)


def _value(item: Document, name: str) -> Any:
    if name == "line":
        return item["citations"][0]["first_line"] if item["citations"] else None
    return folded(tuple(value) if isinstance(value := item.get(name), list) else value)


def _same_code(before: Document, after: Document) -> Iterator[str]:
    """Faults where a model changed a record that comes from the code, or removed its proof, or asked a question twice."""
    plain = dict(_listed(before))
    for name, items in _listed(after):
        if name in _OF_THE_MODEL:
            continue
        if list(map(_of_code, items, [name] * len(items))) != list(
            map(_of_code, plain[name], [name] * len(plain[name]))
        ):
            yield f"{name} are not what the code says"
        for item, known in zip(items, plain[name], strict=False):
            if lost := [proof for proof in known["citations"] if proof not in item["citations"]]:
                yield f"{name} lost {lost[:2]}"
    asked = Counter(folded(item["question"]) for item in after["open_questions"])
    yield from (f"asked {count} times: {question}" for question, count in asked.items() if count > 1)


def _of_code(item: Document, section: str) -> Document:
    return {
        name: value for name, value in item.items() if name not in {"citations", "confidence", *_WORDS.get(section, ())}
    }


def _not_covered(told: Document, first_line: int, last_line: int) -> Iterator[str]:
    """Lines of a program that are neither documented nor failed, or both; and failures without a valid reason."""
    documented = Counter(
        line
        for ticket in told["tickets"]
        if ticket["type"] in {"documentation", "chunk_continuation"} and ticket["state"] == "done"
        for first, last in ticket["lines"]
        for line in range(first, last + 1)
    )
    failed = told["coverage"]["chunks_failed"]
    listed = Counter(line for one in failed for first, last in one["lines"] for line in range(first, last + 1))
    if documented + listed != Counter(range(first_line, last_line + 1)):
        yield f"{told['header']['program_id']}: not each line is documented or listed once"
    if told["coverage"]["lines_documented"] != documented.total():
        yield f"{told['coverage']['lines_documented']} lines are said to be documented, {documented.total()} are"
    yield from (f"{one['lines']} failed: {one['reason']}" for one in failed if one["reason"] != _TOO_LARGE)


# ── what documents must have ─────────────────────────────────────────────────────────────────────────────────────


class _Told(NamedTuple):
    """The place of a fact."""

    program: str
    section: str
    field: str
    item: Document


def _lost(facts: Sequence[Fact], documents: Sequence[Document], reused: int) -> Iterator[str]:
    """Facts that are not told exactly once, in the right place, with their own lines; as often as equal parts share an answer."""
    told = _told(documents)
    for fact in facts:
        if fact.said == EVERYWHERE:
            continue
        found = told[_key(fact.said)]
        placed = [one for one in found if _belongs(fact, one)]
        cited = [one for one in placed if _is_cited(fact.lines, one.item["citations"])]
        if not 1 <= len(cited) <= len(found) <= 1 + reused:
            where = f"told {len(found)} times, {len(placed)} where it belongs, {len(cited)} with its lines"
            yield f"{where}: {fact.said} ({fact.of} {fact.field}, lines {fact.lines})"
    calls, records = (
        {fact.of for fact in facts if fact.of[0] == "C"},
        sum(len(one["call_semantics"]) for one in documents),
    )
    if len(calls) != records and not reused:
        yield f"{len(calls)} calls are told in {records} records"
    yield from _not_united([fact for fact in facts if fact.said == EVERYWHERE], documents)


def _not_united(facts: Sequence[Fact], documents: Sequence[Document]) -> Iterator[str]:
    """Statements that every part makes but that are not merged into one, with the lines of all."""
    for of in sorted({fact.of for fact in facts}):
        mine = [one for one in documents if _is_of_program(of, _name_of(one))]
        said = [(one["purpose"] or {}).get("business_context") or "" for one in mine]
        proofs = [proof for one in mine for proof in (one["purpose"] or {}).get("citations", ())]
        for fact in facts:
            if fact.of == of and not _is_cited(fact.lines, proofs):
                yield f"what every part says is not cited: {of}, lines {fact.lines}"
        if not any(said) or any(text.count(EVERYWHERE) > 1 for text in said):
            yield f"what every part says is told {[text.count(EVERYWHERE) for text in said]} times: {of}"


def _told(documents: Iterable[Document]) -> dict[str, list[_Told]]:
    """Every planted fact by its words."""
    told: dict[str, list[_Told]] = defaultdict(list)
    for document in documents:
        items = [(name, item) for name in _WORDS for item in document[name]]
        if document["purpose"]:
            items.append(("purpose", document["purpose"]))
        for section, item in items:
            for field in _WORDS.get(section, ("summary", "business_context")):
                for sentence in f"{_key(item[field] or '')} ".split(". "):
                    if sentence.startswith(_key(RIGHT)):
                        told[f"{sentence}."].append(_Told(_name_of(document), section, field, item))
    return told


def _key(said: str) -> str:
    return " ".join(said.lower().split())


def _name_of(document: Document) -> str:
    return escape.show_name(document["header"]["program_id"] or "")


def _is_of_program(of: str, name: str) -> bool:
    return of == "program" or _is_of(of, f"program-{name}")


def _is_of(of: str, name: str) -> bool:
    """Whether an id stands for that name; if two items share a name, a number follows it."""
    return of == name or (of.rpartition(".")[0] == name and of.rpartition(".")[2].isdecimal())


def _belongs(fact: Fact, told: _Told) -> bool:
    """Whether a fact is at the item that its id means, judging by the document alone."""
    letter, item = fact.of[0], told.item
    if letter == "p":
        section = "open_questions" if fact.field == "question" else "purpose"
        return told.section == section and _is_of_program(fact.of, told.program)
    if (told.section, told.field) != (_SECTION_OF[letter], fact.field):
        return False
    if letter in "IO":
        name = f"{letter}:{item['name']}"
        return _is_of(fact.of, name) or _is_of(fact.of, f"{name}.{told.program}")
    if letter == "C":
        return True
    line = int(fact.of[1:].partition(".")[0])
    if letter == "P":
        return (item["start_line"] or line) <= line <= (item["end_line"] or line)
    return any(proof["first_line"] == line for proof in item["citations"])


def _is_cited(lines: Sequence[int], citations: Iterable[Document]) -> bool:
    """Whether there are citations of exactly these lines."""
    own = [
        (proof["first_line"], proof["last_line"])
        for proof in citations
        if proof["first_line"] in lines and proof["last_line"] in lines
    ]
    return all(any(first <= line <= last for first, last in own) for line in lines)


# ── estates ──────────────────────────────────────────────────────────────────────────────────────────────────────


def estate(files: Iterable[tuple[str, bytes]]) -> list[GatheredFile]:
    """Files that may be copybooks of each other. Compiled programs are left out: nothing in them can be quoted."""
    return [
        GatheredFile(name, kind_of(name, data[:HEAD_BYTES]) or "cobol", data)
        for name, data in files
        if not _is_compiled(data)
    ]


def _is_compiled(data: bytes) -> bool:
    """Whether a tenth of the bytes are NUL, and not because its characters have two bytes."""
    return 10 * data.count(0) > len(data) and not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def dressed(data: bytes, form: int) -> bytes:
    """A generated program in another form: records of EBCDIC, debug lines, options, a wide page, changing formats."""
    if data.startswith(b">>"):
        return data
    lines = data.decode().splitlines()
    match form % 6:
        case 0:
            return b"".join(f"{line:<80.80}".encode("cp037") for line in lines)
        case 1 | 2:
            lines = [text for line in lines for text in _debugged(line, is_on=form % 6 == 1)]
        case 3:
            lines = ["       CBL APOST,NODYNAM", " PROCESS LIST", *lines]
        case 4:
            wide = [line if "'" in line or line[6:7] != " " else f"{line:<90}*> wide" for line in lines]
            lines = ["       >>SOURCE FORMAT IS VARIABLE", *wide]
        case _:
            free = [line.strip() if line[6:7] == " " else f"*> {line[7:]}" for line in lines if line[6:7] != "-"]
            lines = [*lines, "       >>SOURCE FORMAT FREE", *free, ">>SOURCE FORMAT FIXED", *lines]
    return "\n".join(lines).encode()


def _debugged(line: str, *, is_on: bool) -> Iterator[str]:
    text = line[6:72].strip()
    if text == "DATA DIVISION." and is_on:
        yield "       ENVIRONMENT DIVISION."
        yield "       CONFIGURATION SECTION."
        yield "       SOURCE-COMPUTER. HOST WITH DEBUGGING MODE."
    yield line
    if text == "CONTINUE.":
        yield "      D    DISPLAY 'AT THE END'."


def estates(*, long: bool, seed: int) -> dict[str, list[GatheredFile]]:
    """All inputs: generated programs, our examples, and the corpora."""
    generator = random.Random(seed)
    made = (dressed(generated(generator, long=long), at) for at in count())
    sized = ((f"{at}.cbl", data) for at, data in enumerate(made) if len(data) < (_LONG_BYTES if long else _SHORT_BYTES))
    found = {
        "generated": estate(islice(sized, 100 if long else 2)),
        "examples": estate(programs(os.path.join(REPOSITORY, "examples", "cobol"))),
    }
    if long and "PENSTOCK_DATA" in os.environ:
        with os.scandir(os.path.join(os.environ["PENSTOCK_DATA"], "cobol")) as corpora:
            found |= {corpus.name: estate(programs(corpus.path)) for corpus in corpora if corpus.is_dir()}
    return found


class _Task(NamedTuple):
    estate: str
    number: int
    path: str
    budgets: tuple[int, ...]


class _Place:
    """Where a process finds its inputs, and keeps results."""

    readers: Mapping[str, FileReader]
    within: str


def _begin(found: Mapping[str, Sequence[GatheredFile]], within: str) -> None:
    # One reader for all files of an estate: its jobs and maps, and the parsed copybooks, are shared.
    _Place.readers = {
        name: FileReader(ReadSetup(files=members, members=members_of(members))) for name, members in found.items()
    }
    _Place.within = within


def _begin_apart(found: Mapping[str, Sequence[GatheredFile]], within: str) -> None:
    """Set up a forked process whose end nobody cleans up after: what it leaves is within its parent's folder."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _begin(found, within)


def _looked(task: _Task) -> Looked:
    """Faults of a file; that nobody can document it is also a fault."""
    try:
        seen = look(_Place.readers[task.estate].subject(task.number), task.budgets, _Place.within)
    except Exception as error:
        seen = Looked(task.path, 0, (f"raised {error!r:.200}",), Counter(), 0, 0, 0)
    return seen._replace(name=f"{task.estate}/{task.path}")


def _each(asked: Sequence[_Task], found: Mapping[str, Sequence[GatheredFile]], *, long: bool) -> Iterator[Looked]:
    with folder("claims", MEMORY) as within:
        if not long:
            _begin(found, within)
            yield from map(_looked, asked)
            return
        with forked(2, partial(_begin_apart, found, within)) as pool:
            for seen in told_each_minute("R18", pool.map(_looked, asked), len(asked)):
                for fault in seen.faults[:3]:
                    print(f"R18: {seen.name}: {fault}", file=sys.stderr, flush=True)
                yield seen


# ── the rig ──────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def unverified() -> Iterator[None]:
    """The product without verification: everything said of an item is accepted, with the lines that were given."""

    def believe(claim: Claim, _: Shown, **_kept: bool) -> ClaimVerdict:
        return ClaimVerdict(claim, "accepted", tuple(Citation(line, line, claim.evidence) for line in claim.lines))

    with patch.object(asking, "verify", believe):
        yield


def _control() -> list[str]:
    """Faults found in unverified documents."""
    files = estate([("CONTROL.cbl", program(30).encode())])
    with unverified():
        return [fault for one in subjects(files, ["CONTROL.cbl"]) for fault in look(one, BUDGETS[:1]).faults]


def tasks(found: Mapping[str, Sequence[GatheredFile]], *, long: bool) -> list[_Task]:
    """All inputs, the largest first."""
    files = sorted(
        (-len(one.data), name, number, one.path)
        for name, members in found.items()
        for number, one in enumerate(members)
    )
    return [_Task(name, number, path, BUDGETS if long else _SHORT_BUDGETS[name]) for _, name, number, path in files]


def figure(seen: Sequence[Looked], seed: int) -> Figure:
    """The combined result, next to the control."""
    planted = sum((one.planted for one in seen), Counter[str]())
    facts, told = sum(one.facts for one in seen), sum(one.told for one in seen)
    notes = [f"{one.name}: {fault}" for one in sorted(seen, key=attrgetter("name")) for fault in one.faults]
    control = _control()
    wrong, cited = (sum(said in fault for fault in control) for said in ("wrong claims are told", "the citation"))
    return Figure(
        rig="R18",
        name="claims of a model",
        value=(
            f"{len(notes)} faults, {told} of {facts} true claims told and {planted.total() - facts} wrong ones planted, in "
            f"{sum(one.calls for one in seen)} calls about {len(seen)} files of {sum(one.lines for one in seen)} lines; "
            f"without verification {wrong} documents are wrong, and {cited} citations"
        ),
        target="0 faults, all told; the control is wrong",
        met=not notes and facts == told > 0 and wrong > 0 and cited > 0,
        seed=seed,
        notes=(*notes, f"planted: {dict(sorted(planted.items()))}"),
    )


def measure(*, long: bool, seed: int) -> Figure:
    """R18: documents that contain everything true, and nothing else."""
    found = estates(long=long, seed=seed)
    return figure(list(_each(tasks(found, long=long), found, long=long)), seed)


if __name__ == "__main__":
    raise SystemExit(main(measure))
