"""What is the outcome of a chunk? It is asked about, the answer is verified, and what was not true is asked for once more.

An answer is kept under the hash of what was shown, with its lines counted within the chunk: wherever the chunk is next time, the
same answer is verified against the source again. Law: every chunk has an outcome, and an outcome without an answer says why; no
claim leaves here that was not verified against this source. Leaves to others: which chunks there are (`documenting`), and how a
request is sent (`pool`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from penstock.chunk.template import Grade, Template, TemplateRecord, Value
from penstock.scribe import prompts
from penstock.scribe.answers import PROGRAM, ParsedAnswer, claim_of, read_answer
from penstock.scribe.filling import SECTIONS
from penstock.scribe.prompts import Prompt
from penstock.scribe.results import key_of
from penstock.scribe.verification import REASONS, ClaimVerdict, same_claims, verify
from penstock.text.json_access import field, objects, string

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from penstock.chunk.chunks import Chunk
    from penstock.chunk.template import Origin
    from penstock.scribe.pool import ModelPool
    from penstock.scribe.results import Results
    from penstock.scribe.verification import ClaimSubject, Shown
    from penstock.text.json_access import Json

_UNREADABLE_TRIES = 2  # one broken answer may be bad luck; a second one is a reason
# A rejected claim is asked for only once more: a model that was told why and sends another wrong one is guessing.


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A chunk as it is asked about: what is sent for it, and what claims about it are verified against.

    `body` is the chunk's text with its line numbers, `notes` what is known about it for certain. `fits` says whether a text fits in
    place of the notes.
    """

    chunk: Chunk
    body: str
    notes: str
    held: Shown
    fits: Callable[[str], bool]

    def prompt(self, notes: str | None = None) -> Prompt:
        """Return what is sent: the instructions, the chunk, and its notes or those given in their place."""
        return Prompt(prompts.SYSTEM, f"{self.body}\n{self.notes if notes is None else notes}")

    def key(self, model: str) -> str:
        """Return the key of the chunk's answer."""
        return answer_key(self.chunk, model)


def answer_key(chunk: Chunk, model: str) -> str:
    """Return the key of an answer on a chunk: a hash of the text and what it refers to, the model, and the instructions.

    Notes are not part of it: they are made from the same text, and name lines, which change whenever a program grows above.
    """
    return key_of("answer", str(prompts.VERSION), prompts.SYSTEM, model, chunk.digest)


class Answered(NamedTuple):
    """The outcome of a chunk: the verdicts on its claims, how many requests they took, or why there are no verdicts."""

    outcome: Literal["answered", "too_large", "failed", "stopped"]
    verdicts: tuple[ClaimVerdict, ...] = ()
    calls: int = 0
    reason: str = ""
    fitting_tokens: int = 0
    """How many tokens a prompt may have instead, if the chunk is too large."""
    was_kept: bool = False
    """Whether the answer was kept from before, so that nobody was asked."""
    retried: int = 0
    """How many claims were asked for again."""
    unmended: str = ""
    """Why the second request got no answer, so that the first answer is all there is."""


def asked(question: Question, desk: ModelPool, model: str, results: Results | None) -> Answered:
    """Return the verified answer on a chunk: the kept one, else the model's, which is then kept.

    A refusal for size is kept too, with the size that was refused: the next run makes smaller chunks without asking, but a chunk
    that has shrunk in the meantime is asked about again.

    Args:
        question: The chunk.
        desk: The model, shared by all threads.
        model: The name of the model, wire included: answers of other models are not taken.
        results: Where answers are kept; None to keep none.
    """
    key = question.key(model)
    size_tokens = question.chunk.prompt_tokens or 0
    kept = results.get(key) if results is not None else None
    # What is kept is either a refusal for size or an answer; both are read as untrusted input, field by field.
    if type(refused := field(kept, "refused_tokens")) is int:
        if size_tokens >= refused and type(tokens := field(kept, "fitting_tokens")) is int:
            return Answered("too_large", reason=string(field(kept, "reason")), fitting_tokens=tokens, was_kept=True)
    elif kept is not None:
        retried = again if type(again := field(kept, "retried")) is int else 0
        verdicts, unmended = tuple(_restored(kept, question)), string(field(kept, "unmended"))
        return Answered("answered", verdicts, was_kept=True, retried=retried, unmended=unmended)
    made = _asked(question, desk)
    if results is not None and made.outcome == "answered":
        results.put(key, _to_keep(made, question))
    elif results is not None and made.outcome == "too_large":
        too_large = {"refused_tokens": size_tokens, "fitting_tokens": made.fitting_tokens, "reason": made.reason}
        results.put(key, too_large)
        # Another worker may have been refused first, and kept a smaller size: both must make the same smaller chunks.
        if type(tokens := field(results.get(key), "fitting_tokens")) is int:
            return made._replace(fitting_tokens=tokens)
    elif results is not None and made.outcome == "failed":
        return _broken(made, question, key_of("broken", key), results)
    return made


def _broken(made: Answered, question: Question, key: str, results: Results) -> Answered:
    """Keep what holds in an answer that broke off, or return what held in the previous one with the failure.

    A broken answer does not count, and the chunk stays failed; but what holds is reported, also to a process that only makes the
    documents.
    """
    if made.verdicts:
        results.put(key, {**_to_keep(made, question), "is_broken": True})
    elif (kept := results.get(key)) is not None:
        return made._replace(verdicts=tuple(_restored(kept, question)))
    return made


def _asked(question: Question, desk: ModelPool) -> Answered:
    """Ask the model until an answer can be read, then once more about the claims that were rejected."""
    size_tokens = question.chunk.prompt_tokens or 0
    calls, notes, answer = 0, question.notes, ParsedAnswer()
    for _ in range(_UNREADABLE_TRIES):
        reply = desk.ask(question.prompt(notes), size_tokens)
        calls += reply.sent
        if reply.outcome != "answered":
            return Answered(reply.outcome, calls=calls, reason=reply.reason, fitting_tokens=reply.fitting_tokens)
        read = read_answer(reply.words)
        # Of two broken answers the longer one is kept: what holds in it is true, although the chunk counts as failed.
        if read.claims and (read.is_whole or len(read.claims) > len(answer.claims)):
            answer = read
        if answer.is_whole:
            break
        longer = f"{question.notes}\n{prompts.UNREADABLE}"
        notes = longer if question.fits(longer) else question.notes
    verdicts = same_claims(verify(claim, question.held) for claim in answer.claims)
    if not answer.is_whole:
        reason = "the answers broke off" if answer.claims else "the answers had no claims that can be read"
        return Answered("failed", tuple(verdicts), calls, reason)
    wrong = [verdict for verdict in verdicts if verdict.outcome == "rejected"]
    ask_again = prompts.again(wrong, question.fits)
    if not ask_again:
        return Answered("answered", tuple(verdicts), calls)
    reply = desk.ask(question.prompt(ask_again), size_tokens)
    second = [verify(claim, question.held) for claim in read_answer(reply.words).claims]
    unmended = "" if reply.outcome == "answered" else reply.reason or "stopped before it was asked"
    mended = tuple(_mended(verdicts, second))
    return Answered("answered", mended, calls + reply.sent, retried=len(wrong), unmended=unmended)


def _mended(first: Sequence[ClaimVerdict], second: Iterable[ClaimVerdict]) -> list[ClaimVerdict]:
    """Return the first answer, its rejected claims replaced by what the second one proves, by item and field.

    A question replaces rejected claims about the program as a whole: the model was told to ask where it cannot prove.
    """
    better = [verdict for verdict in second if verdict.outcome != "rejected"]
    # By item and field, not by position: the second answer may list its corrections in any order, and leave some out.
    cured = {(verdict.claim.of, verdict.claim.field) for verdict in better}
    asks = any(verdict.claim.field == "question" for verdict in better)
    rest = [
        verdict
        for verdict in first
        if verdict.outcome != "rejected"
        or not ((verdict.claim.of, verdict.claim.field) in cured or (asks and verdict.claim.of == PROGRAM))
    ]
    return same_claims([*rest, *better])


# ── what is kept ─────────────────────────────────────────────────────────────────────────────────────────────────


def _to_keep(made: Answered, question: Question) -> dict[str, Json]:
    """Return an answer as it is kept: one entry per citation, with its lines as positions in the chunk, and its evidence.

    Line numbers of the file would be wrong as soon as anything above the chunk changes; positions within it change only with its
    text, and then its key changes too.
    """
    places = {line: place for place, line in enumerate(_lines(question.chunk))}
    ids = {item.id: _relative(item, places) for item in question.held.items.values()}
    code = frozenset(question.held.numbers)
    kept: list[Json] = []
    for verdict in made.verdicts:
        of = ids.get(verdict.claim.of, f"?{verdict.claim.of}")  # what is not an id now must not become one later
        said = {**verdict.claim._asdict(), "of": of, "outcome": verdict.outcome, "reason": verdict.reason}
        proofs = [
            {
                "lines": [places[line] for line in range(proof.first_line, proof.last_line + 1) if line in code],
                "evidence": proof.evidence,
            }
            for proof in verdict.citations
        ]
        kept += [{**said, **proof} for proof in proofs or [{"lines": [0]}]]
    return {"claims": kept, "retried": made.retried, **({"unmended": made.unmended} if made.unmended else {})}


def _restored(kept: Json, question: Question) -> list[ClaimVerdict]:
    """Return kept verdicts: what held is verified again against the present source, what was rejected stays rejected.

    What is kept is not trusted: the folder may come from another version or be damaged by hand, and the rest of the program, which
    names are checked against, may have changed.
    """
    lines = _lines(question.chunk)
    places = {line: place for place, line in enumerate(lines)}
    ids = {_relative(item, places): item.id for item in question.held.items.values()}
    made = []
    for value in objects(field(kept, "claims")):
        claim = claim_of(value)
        if claim is None:
            continue
        cited = tuple(lines[place] for place in claim.lines if 0 <= place < len(lines))
        claim = claim._replace(of=ids.get(claim.of, claim.of), lines=cited or (lines[0],))  # lines no longer shown
        if value.get("outcome") == "rejected":
            reason = value.get("reason")
            made.append(ClaimVerdict(claim, "rejected", reason=reason if reason in REASONS else ""))
            continue
        verdict = verify(claim, question.held, is_kept=True)
        is_moved = verdict.holds and value.get("outcome") == "relocated"
        made.append(verdict._replace(outcome="relocated") if is_moved else verdict)
    return same_claims(made)


def _lines(chunk: Chunk) -> list[int]:
    """Return the lines that a chunk shows, its own first: a line has the same position in it wherever the chunk is."""
    return [line for first, last in (*chunk.spans, *chunk.context_spans) for line in range(first, last + 1)]


def _relative(item: ClaimSubject, places: Mapping[int, int]) -> str:
    """Return the id of an item with its line number replaced by the position in the chunk; ids made of names stay."""
    line = str(item.first_line)
    if item.id[1:].partition(".")[0] != line:
        return item.id
    return f"{item.id[0]}@{places.get(item.first_line)}{item.id[1 + len(line) :]}"


# ── what is reported ─────────────────────────────────────────────────────────────────────────────────────────────


class Told(NamedTuple):
    """The result of the verdicts on a chunk for one program.

    `template` has the words under the keys of the program's facts, so that merging attaches each to its fact; `grades` counts the
    claims that held and those that did not, by section.
    """

    template: Template
    grades: Mapping[str, tuple[int, int]]


_OF_THE_MODEL = frozenset({"purpose", "call_semantics", "open_questions"})
"""The sections that exist only because a model said something: their records come from the model, those of the others from code."""


def told(verdicts: Sequence[ClaimVerdict], held: Shown, chunk: str, program: int) -> Told:
    """Return what may be said about a program, and what is open.

    A rejected claim leaves a question in our own words: its text is not repeated, or it would be read as true. The share of claims
    on one field of one section that held is the confidence of every word in it.
    """
    grades: dict[tuple[str, str], list[int]] = {}
    of_program = [
        (verdict, item)
        for verdict in verdicts
        if (item := held.items.get(verdict.claim.of)) is not None and item.program == program
    ]
    for verdict, item in of_program:
        counts = grades.setdefault((item.section, verdict.claim.field), [0, 0])
        counts[0 if verdict.holds else 1] += 1
    records: dict[str, list[TemplateRecord]] = {name: [] for name in SECTIONS}
    for verdict, item in of_program:
        grade = Grade(chunk, *grades[item.section, verdict.claim.field])
        section, record = _record(verdict, item, grade)
        records[section].append(record)
    by_section: dict[str, tuple[int, int]] = {}
    for (section, _), (good, bad) in grades.items():
        before = by_section.get(section, (0, 0))
        by_section[section] = (before[0] + good, before[1] + bad)
    return Told(Template.of({name: (SECTIONS[name], found) for name, found in records.items()}), by_section)


def _record(verdict: ClaimVerdict, item: ClaimSubject, grade: Grade) -> tuple[str, TemplateRecord]:
    """Return the section and record for a verdict: words on an item, the model's question, or one about a rejected claim."""
    name, citations = verdict.claim.field, verdict.citations
    if not verdict.holds:
        fields = {
            "question": prompts.question_of(item, name),
            "reason": prompts.reason_of(verdict.reason),
            "lines": sorted({item.first_line, item.last_line}),
        }
        return "open_questions", TemplateRecord.of(fields)
    said = Value(prompts.marked(verdict.claim.claim, verdict.derived), "model", citations, (grade,))
    if name == "question":
        lines = [line for proof in citations for line in (proof.first_line, proof.last_line)]
        fields = {"question": said, "reason": prompts.ASKED, "lines": sorted(set(lines))}
        return "open_questions", TemplateRecord.of(fields, origin="model")
    origin: Origin = "model" if item.section in _OF_THE_MODEL else "code"
    return item.section, TemplateRecord.of({**item.key, name: said}, origin=origin)
