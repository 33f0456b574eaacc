"""Does every right statement of a model reach the documents, and no wrong one?"""

from __future__ import annotations

import gc
import json
import re
import signal
import threading
import weakref
from itertools import cycle, product
from typing import TYPE_CHECKING, Any
from zlib import crc32

import pytest
from tests.scribe.author import Author, is_code, shown_in, wanted_in
from tests.scribe.programs import program

from penstock.cobol.estate import Copybooks
from penstock.errors import CallerError
from penstock.models import fail, load_model, refuse, say, sizes
from penstock.scribe import says_anything, subject_of
from penstock.scribe.documenting import DocumentingRun, ScannedFile, planned, run, subject
from penstock.scribe.gathering import GatheredFile
from penstock.scribe.graphing import drawn_file
from penstock.testing import LoopbackProvider
from penstock.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from penstock.cobol.estate import Kind
    from penstock.models import ScriptStep
    from penstock.scribe.filling import Part
    from penstock.scribe.pool import Progress

WIRES = ["openai-chat", "openai-responses", "anthropic"]
WIDE = 200_000
BUDGET = 2_400


def asked(
    policy: Callable[[dict[str, Any]], ScriptStep],
    text: str | list[ScannedFile],
    *,
    wire: str = "openai-chat",
    window: int = WIDE,
    **more: Any,
) -> tuple[DocumentingRun, LoopbackProvider]:
    """Return a run over one source with a model in this process, on a clock that waiting moves forward."""
    subjects = [subject(text, "ledger.cbl")] if isinstance(text, str) else text
    provider = LoopbackProvider(wire, window, policy=policy)
    waits: list[float] = more.pop("waits", [])
    given = {"max_prompt_tokens": BUDGET, "pause": waits.append, "clock": lambda: sum(waits), **more}
    return run(subjects, model=Unsized(provider), **given), provider


class Unsized:
    """A model of unknown size, as most are."""

    window_tokens = None

    def __init__(self, provider: LoopbackProvider) -> None:
        self.wire, self.name, self.send = provider.wire, provider.name, provider.send


def document(made: DocumentingRun) -> dict[str, Any]:
    """Return the first document of a run."""
    return made.documents[0][1][0]


def citations_of(value: Any) -> list[dict[str, Any]]:
    """Return every citation anywhere in a document."""
    found: list[dict[str, Any]] = []
    if isinstance(value, dict):
        found += value.get("citations", [])
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            found += citations_of(inner)
    return found


def test_without_a_model_nothing_is_kept_of_a_program_that_is_done() -> None:
    """If documents are taken one by one, an estate of any size needs the memory of one program."""
    taken: list[weakref.ref[Part]] = []
    alive: list[int] = []

    def read() -> Iterator[ScannedFile]:
        for number in range(5):
            one = subject(program(5, name=f"PROG{number}"), f"{number}.cbl")
            taken.append(weakref.ref(one.parts[0]))
            yield one
            del one
            gc.collect()
            alive.append(sum(ref() is not None for ref in taken))

    done: list[str] = []
    made = run(read(), finished=lambda _, documents: done.append(documents[0]["header"]["program_id"]))
    assert done == [f"PROG{number}" for number in range(5)]
    assert not made.documents
    assert made.chunks == 0  # nobody is asked, so nothing is cut
    assert max(alive) <= 1  # the last one, which the loop still holds


def test_without_a_model_the_document_says_what_is_missing() -> None:
    """Everything from the code is there; missing text is null and named; the program becomes a ticket."""
    made = document(run([subject(program(40), "ledger.cbl")], max_prompt_tokens=BUDGET))
    assert made["purpose"] is None
    assert made["header"]["final_status"] == "code only"
    assert {"purpose", "paragraph_summaries", "rule_descriptions"} <= set(made["not_generated"])
    assert len(made["paragraphs"]) == 41
    assert all(item["summary"] is None and item["origin"] == "code" for item in made["paragraphs"])
    assert made["called_programs"][0]["program_name"] == "AUDITLOG"
    assert made["coverage"]["lines_documented"] == 0
    kinds = [(ticket["type"], ticket["state"]) for ticket in made["tickets"]]
    assert kinds == [("documentation", "open")]
    assert made["tickets"][0]["lines"] == [[1, made["header"]["lines"]]]
    assert made["coverage"]["chunks_total"] == 0
    assert json.loads(json.dumps(made)) == made


@pytest.mark.proves("C-7", "C-8")
@pytest.mark.parametrize(("wire", "shift"), [*product(WIRES, [1]), *zip(cycle(WIRES), [-3, -1, 2, 7])])
def test_every_right_fact_survives_and_nothing_false_is_told(wire: str, shift: int) -> None:
    """Claims are right, shifted, repeated, out of range or invented: the first two kinds appear once, the others nowhere."""
    author = Author(wrong=True, shift=shift)
    made, _ = asked(author, program(40), wire=wire)
    told = json.dumps(document(made))
    assert made.chunks > 3
    assert len(author.right) > 80
    assert [right for right in sorted(author.right) if right not in told] == []
    assert "Wrong" not in told
    assert "INVENTED" not in told
    assert "NEVER" not in told
    assert made.relocated > 50
    assert made.rejected > 0


@pytest.mark.proves("C-7")
def test_every_citation_is_a_line_of_code_with_its_evidence() -> None:
    """Whatever was cited, the document's citations are lines with the evidence."""
    text = program(40)
    made, _ = asked(Author(wrong=True, shift=2), text)
    lines = [line[6:72].rstrip() for line in text.splitlines()]
    found = citations_of(document(made))
    assert len(found) > 200
    for citation in found:
        first, last = citation["first_line"], citation["last_line"]
        assert 1 <= first <= last <= len(lines)
        assert is_code(lines[first - 1])
        assert is_code(lines[last - 1])
        assert citation["evidence"] == " ".join(lines[first - 1].split())


@pytest.mark.proves("C-8")
def test_no_item_is_told_twice() -> None:
    """Paragraphs, rules and calls have one entry each, however often they were mentioned."""
    made = document(asked(Author(shift=1), program(40))[0])
    for section, key in [("paragraphs", "start_line"), ("business_rules", "rule_id"), ("inputs", "name")]:
        keys = [item[key] for item in made[section]]
        assert keys
        assert len(keys) == len(set(keys))


@pytest.mark.proves("C-5")
@pytest.mark.parametrize("budget", [1_500, 2_400, 4_000, 15_000])
def test_no_prompt_is_larger_than_its_budget(budget: int) -> None:
    """Instructions, schema, context, source, notes and the second question are counted as they are sent."""
    author = Author(wrong=True)
    made, _ = asked(author, program(60), max_prompt_tokens=budget)
    assert made.failed == 0
    counts = [tokens.count(sizes.text_of(body["messages"]), mode="exact").tokens for body in author.requests]
    assert max(counts) <= budget


@pytest.mark.proves("C-5", "C-8", "C-10")
def test_a_program_that_just_fits_has_room_for_its_notes_or_is_cut() -> None:
    """Whatever the budget, no prompt exceeds it, each has notes with ids, and a program that fits with its notes is one piece."""
    found = subject(program(5), "ledger.cbl")
    whole, prompt_of = planned(found)
    (chunk,) = whole.chunks
    assert chunk.prompt_tokens is not None
    notes = prompt_of(chunk.id).user.partition("Notes (")[2]
    least = chunk.prompt_tokens + tokens.count(f"Notes ({notes}", model="o200k").high
    pieces = set()
    for budget in range(chunk.prompt_tokens, least + 40, 40):
        made, prompt_of = planned(found, max_prompt_tokens=budget)
        for one in made.chunks:
            sent = prompt_of(one.id)
            assert sum(tokens.count(text, mode="exact").tokens for text in sent) <= budget
            assert re.search(r"^Paragraphs: P\d", sent.user, re.MULTILINE)
        pieces.add(len(made.chunks))
    assert max(pieces) > 1, "none of these budgets is too small for the program with its notes"
    assert len(made.chunks) == 1


@pytest.mark.proves("C-5")
def test_what_is_fixed_takes_at_most_900_tokens() -> None:
    """Instructions and schema are counted together, with an exact tokenizer."""
    made, prompt_of = planned(subject(program(3), "ledger.cbl"))
    assert tokens.count(prompt_of(made.chunks[0].id).system, mode="exact").tokens <= 900
    assert made.overhead_tokens <= 900


def test_whoever_asks_for_no_chunk_is_told_of_those_that_can_be_sent() -> None:
    """Those that are larger than a prompt may be are not among them, however many precede the others."""
    literals = "".join("               'A TEXT THAT IS SO LONG THAT FEW OF ITS KIND FIT'\n" for _ in range(120))
    string = f"           STRING\n{literals}               DELIMITED BY SIZE INTO A.\n"
    large = "".join(f"       LARGE-{at}.\n{string}" for at in range(7))
    small = "       SMALL.\n" + "           MOVE SPACES TO A.\n" * 60
    head = "       PROGRAM-ID. P.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n       01 A PIC X.\n"
    found = subject(f"{head}       PROCEDURE DIVISION.\n{large}{small}", "p.cbl")
    plan, prompt_of = planned(found, max_prompt_tokens=1_500)
    sendable = [chunk.id for chunk in plan.chunks if chunk.id in plan.prompts]
    assert plan.chunks[-1].id in sendable[:5]
    with pytest.raises(CallerError, match=f"the first of them: {', '.join(sendable[:5])}$"):
        prompt_of("x")


@pytest.mark.proves("C-10")
def test_a_program_that_fits_is_asked_about_once() -> None:
    """There is one call, whose prompt is the whole numbered file."""
    text = program(5)
    author = Author()
    found = subject(text, "ledger.cbl")
    made, _ = asked(author, [found], max_prompt_tokens=15_000)
    assert (made.calls, made.chunks) == (1, 1)
    plan, prompt_of = planned(found)
    (body,) = author.requests
    assert body["messages"][1]["content"] == prompt_of(plan.chunks[0].id).user
    shown = [f"{number}|{line[6:72].rstrip()}" for number, line in enumerate(text.splitlines(), 1)]
    assert "\n".join(shown) in body["messages"][1]["content"]
    assert document(made)["tickets"][0]["type"] == "documentation"
    assert document(made)["header"]["final_status"] == "complete"


@pytest.mark.proves("C-11")
def test_there_are_few_calls() -> None:
    """There are less than twice as many as the source needs at least, and none has more than forty paragraphs."""
    found = subject(program(120), "ledger.cbl")
    made, provider = asked(Author(), [found], max_prompt_tokens=4_000)
    plan, _ = planned(found, model=provider, max_prompt_tokens=4_000)
    assert made.calls == made.chunks == len(plan.chunks) < 2 * plan.minimum_calls
    starts = [paragraph.start_line for paragraph in found.parts[0].program.paragraphs]
    assert max(sum(start in chunk for start in starts) for chunk in plan.chunks) <= 40


@pytest.mark.proves("C-7")
def test_what_was_rejected_is_asked_once_more_with_the_reason() -> None:
    """A corrected claim is accepted; an uncorrected one leaves a question in our words."""
    text = program(3)
    line = text.splitlines().index("       0000-MAIN.") + 1

    def policy(request: dict[str, Any]) -> ScriptStep:
        shown = sizes.text_of(request)
        if "You answered before" in shown:
            assert "the evidence is not in the lines that were shown" in shown
            return told_by(claim(f"P{line}", "Mended: opens the file.", [line + 1], "OPEN INPUT DAY-FILE"))
        return told_by(
            claim(f"P{line}", "Wrong at first.", [line + 1], "OPEN OUTPUT DAY-FILE"),
            claim(f"P{line}", "Wrong for good.", [line + 1], "CLOSE", field="purpose"),
        )

    made, provider = asked(policy, text, max_prompt_tokens=15_000)
    told = document(made)
    assert len(provider.requests) == 2
    main = next(item for item in told["paragraphs"] if item["paragraph_name"] == "0000-MAIN")
    assert (main["summary"], main["purpose"]) == ("Mended: opens the file.", None)
    assert [(item["question"], item["origin"]) for item in told["open_questions"]] == [
        ("What is paragraph 0000-MAIN for?", "code")
    ]
    assert [ticket["state"] for ticket in told["tickets"] if ticket["type"] == "validation"] == ["failed"]
    assert told["confidence"]["overall"] == 0.5


def claim(of: str, text: str, lines: list[int], evidence: str, field: str = "summary") -> dict[str, Any]:
    """Return one claim as a model sends it."""
    return {"of": of, "field": field, "claim": text, "lines": lines, "evidence": evidence, "names": []}


def told_by(*claims: dict[str, Any]) -> ScriptStep:
    """Return an answer with these claims."""
    return say(json.dumps({"claims": claims}))


# ── what goes wrong on the way ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.proves("C-5", "C-9")
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("window", [2_500, 9_000])
def test_a_provider_with_a_smaller_window_gets_smaller_chunks(wire: str, window: int) -> None:
    """Chunks refused for their size are asked about in pieces or with a shorter reply; in the end every line is documented."""
    text = program(60)
    author = Author()
    made, provider = asked(author, text, wire=wire, max_prompt_tokens=7_000, window=window)
    told = document(made)
    assert provider.refused > 0 or wire == "openai-responses"  # it does not count the reply
    assert told["coverage"]["chunks_failed"] == []
    assert told["coverage"]["lines_documented"] == len(text.splitlines())
    assert told["coverage"]["paragraphs_described"] == 61
    assert made.calls < 2 * provider.refused + 2 * told["coverage"]["chunks_total"]


@pytest.mark.proves("C-9", "C-11")
@pytest.mark.parametrize(("window", "budget", "paragraphs"), [(3_000, 9_000, 120), (9_000, 15_000, 150)])
def test_what_has_to_be_cut_is_asked_about_once(window: int, budget: int, paragraphs: int) -> None:
    """Chunks that are too large are cut one by one, and no line is in two answered chunks."""
    made, provider = asked(Author(), program(paragraphs), max_prompt_tokens=budget, window=window, jobs=1)
    tickets = [ticket for ticket in document(made)["tickets"] if ticket["type"] == "chunk_continuation"]
    lines = [line for ticket in tickets for first, last in ticket["lines"] for line in range(first, last + 1)]
    assert provider.refused > 1
    assert sorted(lines) == list(range(1, document(made)["header"]["lines"] + 1))
    assert len({ticket["id"] for ticket in tickets}) == len(tickets)


def test_a_prompt_that_no_cut_makes_fit_is_listed() -> None:
    """If a provider accepts next to nothing, each chunk is listed with its lines and the reason, after few requests."""
    made, provider = asked(Author(), program(20), window=1_200)
    told = document(made)
    failed = told["coverage"]["chunks_failed"]
    assert sum(last - first + 1 for one in failed for first, last in one["lines"]) == told["header"]["lines"]
    assert all(one["reason"].startswith("context") for one in failed)
    assert told["header"]["final_status"] == "partial"
    assert {ticket["state"] for ticket in told["tickets"]} == {"failed", "open"}
    assert len(provider.requests) < 10


@pytest.mark.proves("C-9")
@pytest.mark.parametrize(
    ("step", "reason", "max_requests"),
    [
        (fail(500, {"error": {"message": "boom"}}), "server error", 5),
        (fail(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}), "rate limit", 5),
        (fail(401, {"error": {"message": "bad key", "code": "invalid_api_key"}}), "auth", 1),
        (fail(400, {"error": {"message": "no such parameter"}}), "bad request", 1),
        (say("I would rather not."), "no claims", 2),
        (say('{"claims": [' * 10_000), "no claims", 2),
        (say(json.dumps({"claims": [7, None, {"of": []}]})), "no claims", 2),
    ],
    ids=["500", "429", "401", "400", "refusal", "deep", "types"],
)
def test_a_chunk_that_fails_for_good_is_reported(step: ScriptStep, reason: str, max_requests: int) -> None:
    """The chunk is tried again if that may help, then listed with lines and reason; the rest of the document is there."""
    made, provider = asked(lambda _: step, program(5), max_prompt_tokens=15_000)
    told = document(made)
    (failed,) = told["coverage"]["chunks_failed"]
    assert reason in failed["reason"]
    assert failed["lines"] == [[1, told["header"]["lines"]]]
    assert len(provider.requests) == max_requests
    assert told["header"]["final_status"] == "partial"
    assert len(told["paragraphs"]) == 6
    assert told["purpose"] is None


@pytest.mark.proves("C-9")
@pytest.mark.parametrize("mended", [True, False])
def test_an_answer_that_breaks_off_is_asked_for_again_then_reported(mended: bool) -> None:
    """Whole claims are kept; the chunk is listed as failed unless the second answer is whole, which then replaces the first."""
    line = program(5).splitlines().index("       0000-MAIN.") + 1
    whole = told_by(claim(f"P{line}", "Whole.", [line + 1], "OPEN INPUT DAY-FILE"))
    broken = say(
        json.dumps({"claims": [claim(f"P{line}", "First.", [line + 1], "OPEN INPUT DAY-FILE")]})[:-1] + ', {"of": "P'
    )
    steps = [broken, whole if mended else say("")]
    made, provider = asked(lambda _: steps.pop(0), program(5), max_prompt_tokens=15_000)
    told = document(made)
    assert told["paragraphs"][0]["summary"] == ("Whole." if mended else "First.")
    assert [failed["reason"] for failed in told["coverage"]["chunks_failed"]] == (
        [] if mended else ["the answers broke off"]
    )
    assert told["header"]["final_status"] == ("complete" if mended else "partial")
    assert (steps, len(provider.requests)) == ([], 2)


@pytest.mark.proves("C-9")
@pytest.mark.parametrize("seed", range(3))
def test_every_line_is_documented_or_listed(seed: int) -> None:
    """Whatever fails, is refused or answered, each line of the program is either documented or listed."""
    author = Author(shift=1)

    def policy(request: dict[str, Any]) -> ScriptStep:
        fate = crc32(f"{seed}{sizes.text_of(request)}".encode()) % 5
        if fate == 0:
            return fail(400, {"error": {"message": "no such parameter"}})
        return refuse(9_000, of=6_000) if fate == 1 else say("no") if fate == 2 else author(request)

    told = document(asked(policy, program(60), jobs=3)[0])
    failed = {
        line
        for one in told["coverage"]["chunks_failed"]
        for first, last in one["lines"]
        for line in range(first, last + 1)
    }
    done = [
        ticket for ticket in told["tickets"] if ticket["type"] == "chunk_continuation" and ticket["state"] == "done"
    ]
    answered = {line for ticket in done for first, last in ticket["lines"] for line in range(first, last + 1)}
    assert failed | answered == set(range(1, told["header"]["lines"] + 1))
    assert len(answered) == told["coverage"]["lines_documented"]
    assert failed


@pytest.mark.proves("C-9")
@pytest.mark.parametrize("wire", WIRES)
def test_what_passes_by_itself_is_waited_for(wire: str) -> None:
    """Two faults of every kind before each chunk: everything is documented in the end, and each wait is shared."""
    author = Author()
    troubles = [fail(503, "down"), fail(429, {"error": {"message": "Rate limit reached, try again in 2s"}})]
    seen: dict[str, int] = {}

    def policy(request: dict[str, Any]) -> ScriptStep:
        asked_for = sizes.text_of(request)
        seen[asked_for] = seen.get(asked_for, 0) + 1
        return troubles[seen[asked_for] - 1] if seen[asked_for] <= 2 else author(request)

    waits: list[float] = []
    made, _ = asked(policy, program(30), wire=wire, waits=waits, jobs=1)
    assert document(made)["header"]["final_status"] == "complete"
    assert made.calls == 3 * made.chunks
    assert max(waits) >= 2


@pytest.mark.proves("C-9")
def test_an_answer_that_breaks_off_is_taken_as_far_as_it_goes() -> None:
    """A reply that ran out of tokens documents as far as it goes."""
    author = Author()

    def policy(request: dict[str, Any]) -> ScriptStep:
        whole = json.dumps({"claims": author.claims(request)})
        return say(whole[: len(whole) // 4])

    told = document(asked(policy, program(10), max_prompt_tokens=15_000)[0])
    assert 0 < told["coverage"]["paragraphs_described"] < 11


def test_the_order_of_answers_does_not_matter() -> None:
    """One question at a time or eight, the document is the same."""
    one, eight = (document(asked(Author(wrong=True, shift=1), program(40), jobs=jobs)[0]) for jobs in (1, 8))
    assert one == eight


def test_progress_is_told_with_the_time_that_is_left() -> None:
    """Progress is reported after every chunk, until no time is left."""
    told: list[Progress] = []
    made, _ = asked(Author(), program(40), progress=told.append)
    assert [step.done for step in told] == list(range(1, made.chunks + 1))
    assert told[-1].left_seconds == 0
    assert all(step.left_seconds >= 0 and step.total == made.chunks for step in told)


@pytest.mark.proves("C-9")
@pytest.mark.parametrize("at", ["an answer", "its counting"])
def test_an_interrupt_keeps_what_is_there(at: str) -> None:
    """After Ctrl-C answers so far are in the document, the rest is open, and nothing more is sent."""
    author = Author()

    def policy(request: dict[str, Any]) -> ScriptStep:
        step = author(request)
        if len(author.requests) == 3 and at == "an answer":
            signal.raise_signal(signal.SIGINT)
        return step

    def progress(told: Progress) -> None:  # on the interrupted thread, outside its wait for answers
        if told.done == 3 and at == "its counting":
            signal.raise_signal(signal.SIGINT)

    made, provider = asked(policy, program(60), jobs=1, progress=progress)
    told = document(made)
    assert made.was_interrupted
    assert len(provider.requests) == 3 < made.chunks
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert told["header"]["final_status"] == "interrupted"
    assert 0 < told["coverage"]["lines_documented"] < told["header"]["lines"]
    assert len(told["coverage"]["chunks_failed"]) == made.chunks - len(provider.requests)


def test_two_programs_of_a_file_have_a_document_each() -> None:
    """Names belong to their program: a claim about one is in that program's document only."""
    text = program(4, name="FIRST") + "       END PROGRAM FIRST.\n" + program(4, name="SECOND")
    author = Author(wrong=True)
    made, _ = asked(author, text, max_prompt_tokens=15_000)
    ((_, documents),) = made.documents
    assert [one["header"]["program_id"] for one in documents] == ["FIRST", "SECOND"]
    assert {"I:DAY-FILE.FIRST", "I:DAY-FILE.SECOND"} <= set(wanted_in(author.requests[0]))
    told = [json.dumps(one) for one in documents]
    for right in author.right:
        assert sum(right in one for one in told) == 1
    assert all(one["coverage"]["paragraphs_described"] == 5 for one in documents)


def test_a_file_without_a_program_is_not_asked_about() -> None:
    """Comments only, or an empty file, give no document and no call."""
    for text in ("      * Kept for its name.\n", ""):
        made, provider = asked(Author(), text)
        ((_, documents),) = made.documents
        assert (documents, provider.requests) == ([], ())


def test_comments_alone_are_not_asked_about() -> None:
    """A chunk in which nothing can be proved is done without a call."""
    comments = "      * A word about the licence, and who wrote it when.\n" * 400
    text = program(3).replace("       ENVIRONMENT DIVISION.\n", f"{comments}       ENVIRONMENT DIVISION.\n")
    author = Author()
    made, _ = asked(author, text)
    assert len(author.requests) < made.chunks
    assert all(any(map(is_code, shown_in(body).values())) for body in author.requests)
    assert document(made)["coverage"]["lines_documented"] == document(made)["header"]["lines"]


def test_a_contradiction_becomes_a_ticket() -> None:
    """A claimed call that the code does not have becomes a question, with the lines that should prove it."""
    text = program(3)
    line = text.splitlines().index("       0000-MAIN.") + 1
    wrong = told_by(claim(f"P{line}", "It calls PAYROLL.", [line + 1], "OPEN INPUT DAY-FILE"))
    made, provider = asked(lambda _: wrong, text, max_prompt_tokens=15_000)
    told = document(made)
    (ticket,) = [one for one in told["tickets"] if one["type"] == "clarification"]
    assert (ticket["state"], ticket["lines"]) == ("open", [[line + 1, line + 1]])
    assert "PAYROLL" not in json.dumps(told)
    assert len(provider.requests) == 1


def test_a_program_is_asked_about_over_http() -> None:
    """The same works over real HTTP, with a provider that sometimes fails."""
    author = Author(wrong=True, shift=2)
    troubles = [
        fail(500, "<html>"),
        say("```json\n{broken"),
        fail(429, {"error": {"message": "slow", "type": "rate_limit"}}),
    ]

    def policy(request: dict[str, Any]) -> ScriptStep:
        return troubles.pop() if troubles else author(request)

    with LoopbackProvider("anthropic", 20_000, policy=policy) as provider:
        model = load_model("anthropic:claude-test", base_url=provider.base_url, environment={})
        made = run([subject(program(30), "x.cbl")], model=model, max_prompt_tokens=BUDGET, **_no_waiting())
    told = document(made)
    assert [right for right in sorted(author.right) if right not in json.dumps(told)] == []
    assert "Wrong" not in json.dumps(told)
    assert told["header"]["final_status"] == "complete"


@pytest.mark.proves("C-9")
def test_a_provider_that_does_not_answer_is_given_up() -> None:
    """Time-outs are retried, then the chunk is listed."""
    release = threading.Event()

    def policy(_: dict[str, Any]) -> ScriptStep:
        release.wait(60)
        return say("{}")

    with LoopbackProvider("openai-chat", WIDE, policy=policy) as provider:
        model = load_model("openai-chat:x", base_url=provider.base_url, environment={}, timeout_seconds=0.2)
        made = run([subject(program(3), "x.cbl")], model=model, attempts=2, **_no_waiting())
        release.set()
    assert "connection" in document(made)["coverage"]["chunks_failed"][0]["reason"]
    assert made.calls == 2


def _no_waiting() -> dict[str, Any]:
    """Return a clock that waiting moves forward."""
    waits: list[float] = []
    return {"pause": waits.append, "clock": lambda: sum(waits)}


@pytest.mark.proves("C-14")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("           SELECT F ASSIGN TO D\n               FILE STATUS IS S.\n", True),
        ("       78  MOST VALUE 4.\n", True),
        ("       Some words of prose. And more.\n", False),
        ("       88  CEE000 VALUE X'00'.\n       88  CEE001 VALUE X'01'.\n", True),
        ("           MOVE A TO B.\n           FROBNICATE C.\n", True),
        ("         DS    12C .   START OF MAP\nAL       DS    CL2 .  LENGTH\nAF       DS    0C .   FLAG\n", False),
    ],
)
def test_a_copybook_of_files_or_constants_says_something(text: str, says: bool) -> None:
    """A copybook for FILE-CONTROL, or with only constants, has a page although it has no data; what has none is no node."""
    assert says_anything(subject(text, "f.cpy")) is says
    drawn = drawn_file(GatheredFile("f.cpy", "copybook", text.encode()), Copybooks((), ()))
    assert says or not drawn.parts


@pytest.mark.proves("C-14")
@pytest.mark.parametrize(("kind", "type_"), [("copybook", "copybook"), ("cobol", "batch")])
def test_a_header_without_a_name_is_a_program_only_if_its_file_is_one(kind: Kind, type_: str) -> None:
    """A copybook may begin the PROCEDURE DIVISION of whoever copies it: it has a page, and is no program of the graph."""
    file, shelf = GatheredFile("start.cpy", kind, b"       PROCEDURE DIVISION.\n"), Copybooks((), ())
    one = subject_of(file, shelf, None)
    assert says_anything(one)
    assert [part.facts.type for part in one.parts] == [type_]
    assert [part.kind for part in drawn_file(file, shelf).parts] == ([] if kind == "copybook" else ["program"])
