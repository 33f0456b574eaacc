"""Does a second run ask only for what changed?"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import threading
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from tests.forks import COMMANDS, warm
from tests.scribe.author import Author, is_code, shown_in
from tests.scribe.lines import Text
from tests.scribe.programs import program

from penstock.chunk import Chunk
from penstock.models import ScriptedModel, fail, refuse, say, sizes
from penstock.scribe import prompts
from penstock.scribe.asking import Question
from penstock.scribe.asking import asked as question_asked
from penstock.scribe.documenting import DocumentingRun, run, subject
from penstock.scribe.pool import ModelPool
from penstock.scribe.results import Folder
from penstock.scribe.verification import ClaimSubject, Known, shown
from penstock.testing import LoopbackProvider

if TYPE_CHECKING:
    from pathlib import Path

    from penstock.models import ScriptStep
    from penstock.text.json_access import Json

pytestmark = pytest.mark.proves("C-13")

BUDGET = 3_000
SIZE = 50


def again(folder: Path, text: str | bytes, author: Author | None = None, **more: Any) -> tuple[DocumentingRun, Author]:
    """Return a run that keeps its results in a folder, and its author."""
    author = author or Author(wrong=True, shift=1)
    provider = LoopbackProvider("anthropic", 200_000, policy=author)
    results = Folder(str(folder), fresh=more.pop("fresh", False))
    found = subject(text, "ledger.cbl")
    return run([found], model=provider, results=results, max_prompt_tokens=BUDGET, **more), author


def told(made: DocumentingRun) -> dict[str, Any]:
    """Return the document of a run."""
    return made.documents[0][1][0]


def test_nothing_changed_is_nothing_asked(tmp_path: Path) -> None:
    """The second run makes no call and gives the same document."""
    first, _ = again(tmp_path, program(SIZE))
    second, author = again(tmp_path, program(SIZE))
    assert first.chunks > 4
    assert first.calls > 0
    assert first.resent == 0
    assert (second.calls, second.resent, second.reused, author.requests) == (0, 0, second.chunks, [])
    assert told(second) == told(first)
    assert (second.accepted, second.relocated, second.rejected) == (first.accepted, first.relocated, first.rejected)


@pytest.mark.parametrize(
    "changed",
    [
        program(SIZE, numbered=True),
        program(SIZE).replace("\n", "\r\n"),
        "\n".join(f"{line:<80}" for line in program(SIZE).splitlines()),
        program(SIZE).encode("utf-8").removesuffix(b"\n"),
    ],
    ids=["sequence numbers", "line ends", "padding", "no last line end"],
)
def test_what_is_no_code_changes_nothing(tmp_path: Path, changed: str | bytes) -> None:
    """Columns 1 to 6 and 73 to 80, trailing blanks and CRLF do not matter: no call, and the same text on the same lines."""
    first, _ = again(tmp_path, program(SIZE))
    second, _ = again(tmp_path, changed)
    assert (second.calls, second.failed) == (0, 0)
    assert told(second)["paragraphs"] == told(first)["paragraphs"]
    assert told(second)["business_rules"] == told(first)["business_rules"]


@pytest.mark.parametrize("changed", [1, 2, SIZE // 2, SIZE - 1, SIZE])
def test_one_edited_paragraph_is_asked_about_with_one_neighbour_at_most(tmp_path: Path, changed: int) -> None:
    """With one statement more in a paragraph, all lines after it move, and the text about them moves along."""
    author = Author(shift=1)
    again(tmp_path, program(SIZE), author)
    before = len(author.requests)
    second, _ = again(tmp_path, program(SIZE, changed=changed), author)
    assert 1 <= len(author.requests) - before <= 2
    assert second.resent == second.chunks - second.reused <= 2
    document = told(second)
    assert document["coverage"]["paragraphs_described"] == SIZE + 1
    lines = [line[6:72].rstrip() for line in program(SIZE, changed=changed).splitlines()]
    for item in document["paragraphs"]:
        for citation in item["citations"]:
            assert citation["evidence"] == " ".join(lines[citation["first_line"] - 1].split())
        own = [line for line in (proof["first_line"] for proof in item["citations"]) if line >= item["start_line"]]
        assert own


def test_all_that_was_cited_is_kept(tmp_path: Path) -> None:
    """Repeats with other lines, in any order, contradictions and corrections survive: the second document is the first.

    So do citations that begin with a line that proves nothing alone, such as a header or an ELSE.
    """
    text = program(3)
    lines = {number: line.strip() for number, line in enumerate(text.splitlines(), 1)}
    late, early = (text.splitlines().index(f"       {name}.") + 1 for name in ("0002-STEP", "0001-STEP"))

    def claim(of: int, said: str, cited: list[int], evidence: str) -> dict[str, Any]:
        return {"of": f"P{of}", "field": "summary", "claim": said, "lines": cited, "evidence": evidence, "names": []}

    def policy(request: dict[str, Any]) -> ScriptStep:
        if "You answered before" in sizes.text_of(request):
            return say(json.dumps({"claims": [claim(early, "Right in the end.", [early + 2], lines[early + 2])]}))
        claims = [
            claim(late, said, [at], lines[at])
            for said in ("Right.", "It calls PAYROLL.")
            for at in (late + 3, late + 2)
        ]
        claims += [claim(late, "Right.", [late + 3, late + 5], lines[late + 3])]
        beside = claim(late, "Right beside an ELSE.", [late + 2, late + 4], lines[late + 2])
        named = claim(late, "Right from its name on.", [late], f"{lines[late]} {lines[late + 2]}")
        claims += [{**one, "field": "purpose"} for one in (beside, named)]
        return say(json.dumps({"claims": [*claims, claim(early, "Wrong at first.", [early], "MOVE NEVER TO NOWHERE")]}))

    documents = []
    for _ in range(2):
        provider = LoopbackProvider("openai-chat", 200_000, policy=policy)
        made = run([subject(text, "ledger.cbl")], model=provider, results=Folder(str(tmp_path)))
        documents.append((told(made), made.calls))
    (first, asked), (second, asked_again) = documents
    assert (asked, asked_again) == (2, 0)
    assert second == first
    item = next(item for item in first["paragraphs"] if item["summary"] == "Right.")
    assert item["purpose"] == "Right beside an ELSE. Right from its name on."
    own = [(proof["first_line"], proof["last_line"]) for proof in item["citations"]]
    assert {(late + at, late + at) for at in (2, 3, 4, 5)} | {(late, late + 2)} <= set(own)
    clarified = next(ticket for ticket in first["tickets"] if ticket["type"] == "clarification")
    assert clarified["lines"] == [[late + 2, late + 2], [late + 3, late + 3]]
    assert next(ticket["state"] for ticket in first["tickets"] if ticket["type"] == "validation") == "done"


def test_that_nobody_answered_what_was_asked_again_is_told(tmp_path: Path) -> None:
    """Only the first answer is then there for the chunk, in this run and the next, and both say why."""
    text = program(3)
    line = text.splitlines().index("       0000-MAIN.") + 1
    wrong = {"of": f"P{line}", "field": "summary", "claim": "Wrong.", "lines": [line], "evidence": "MOVE NEVER TO X"}

    def policy(request: dict[str, Any]) -> ScriptStep:
        if "You answered before" in sizes.text_of(request):
            return refuse(99_000, of=9_000)
        return say(json.dumps({"claims": [{**wrong, "names": []}]}))

    reasons = []
    for _ in range(2):
        provider = LoopbackProvider("openai-chat", 200_000, policy=policy)
        made = run([subject(text, "ledger.cbl")], model=provider, results=Folder(str(tmp_path)))
        reasons += [ticket["reason"] for ticket in told(made)["tickets"] if ticket["type"] == "validation"]
    first, second = reasons
    assert first == second
    assert first.startswith("1 of 1 claims were not borne out; nobody answered when they were asked for again: ")


def test_fresh_asks_for_everything(tmp_path: Path) -> None:
    """Kept answers are not used, and are replaced."""
    first, _ = again(tmp_path, program(SIZE))
    second, _ = again(tmp_path, program(SIZE), fresh=True)
    third, _ = again(tmp_path, program(SIZE))
    assert (second.calls, second.reused) == (first.calls, 0)
    assert third.calls == 0


def test_a_plan_of_another_kind_is_a_plan_of_its_own(tmp_path: Path) -> None:
    """Smaller chunks exist only for the runs that ask for them; other runs have the larger ones as before."""
    plain, _ = again(tmp_path, program(SIZE))
    adaptive, _ = again(tmp_path, program(SIZE), adaptive=True)
    assert adaptive.chunks == again(tmp_path / "new", program(SIZE), adaptive=True)[0].chunks > plain.chunks
    once_more, author = again(tmp_path, program(SIZE))
    assert (once_more.chunks, author.requests) == (plain.chunks, [])


def test_another_model_is_asked_itself(tmp_path: Path) -> None:
    """An answer belongs to one model."""
    again(tmp_path, program(5))
    other = LoopbackProvider("anthropic", 200_000, policy=Author(), model="other")
    found = subject(program(5), "ledger.cbl")
    assert run([found], model=other, results=Folder(str(tmp_path)), max_prompt_tokens=BUDGET).calls > 0


def test_other_instructions_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New instructions of a newer version are sent, whatever was answered to the old ones."""
    again(tmp_path, program(5))
    monkeypatch.setattr(prompts, "SYSTEM", f"{prompts.SYSTEM} Be brief.")
    assert again(tmp_path, program(5))[0].calls > 0


def test_what_is_said_of_a_program_is_said_of_that_program(tmp_path: Path) -> None:
    """Two programs have the same paragraphs: neither gets an answer that names the other."""

    def policy(request: dict[str, Any]) -> ScriptStep:
        text = sizes.text_of(request)
        (name,) = set(re.findall("^COBOL program (\\w+),", text, re.MULTILINE))
        line, evidence = next((number, line) for number, line in shown_in(request).items() if is_code(line))
        said = {"of": "program", "field": "summary", "claim": f"It is {name}.", "lines": [line], "evidence": evidence}
        return say(json.dumps({"claims": [said]}))

    provider = LoopbackProvider("openai-chat", 200_000, policy=policy)
    found = [subject(program(SIZE, name=name), f"{name}.cbl") for name in ("LEDGER", "PAYROLL")]
    for _ in range(2):
        made = run(found, model=provider, results=Folder(str(tmp_path)), max_prompt_tokens=BUDGET)
        purposes = {documents[0]["purpose"]["summary"] for _, documents in made.documents}
        assert made.chunks > 4
        assert purposes == {"It is LEDGER.", "It is PAYROLL."}


def test_what_was_damaged_is_asked_for_again(tmp_path: Path) -> None:
    """A result that differs from what was written is ignored, and none of it reaches the document."""
    first, _ = again(tmp_path, program(SIZE))
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    for path in files:
        path.write_bytes(path.read_bytes().replace(b"Right", b"Wrong"))
    second, _ = again(tmp_path, program(SIZE))
    assert second.calls >= first.chunks
    assert "Wrong" not in json.dumps(told(second))


def rewritten(folder: Path, **claimed: Json) -> None:
    """Give every claim that is kept in a folder other members, as somebody could by hand."""
    for path in (path for path in folder.rglob("*") if path.is_file()):
        value = json.loads(path.read_bytes().split(b"\n", 1)[1])
        for claim in value.get("claims", []):
            claim.update(claimed)
        text = json.dumps(value)
        path.write_text(f"{sha256(text.encode()).hexdigest()}\n{text}")


def test_what_was_kept_is_held_against_the_source_again(tmp_path: Path) -> None:
    """A claim from a result that somebody wrote by hand is still checked against the lines that it cites."""
    again(tmp_path, program(5))
    rewritten(tmp_path, claim="Wrong", evidence="MOVE NEVER TO NOWHERE", outcome="accepted")
    second, _ = again(tmp_path, program(5))
    assert second.calls == 0
    assert "Wrong" not in json.dumps(told(second))


@pytest.mark.parametrize("reason", [["name"], {"a": 1}, None, 7, "no reason of ours"])
def test_a_kept_reason_that_is_none_of_ours_is_not_told(tmp_path: Path, reason: Json) -> None:
    """A rejected claim stays rejected, whatever a result says of why."""
    again(tmp_path, program(5))
    rewritten(tmp_path, outcome="rejected", reason=reason)
    second, _ = again(tmp_path, program(5))
    assert (second.calls, second.accepted) == (0, 0)
    assert second.rejected > 0
    assert "it was not borne out" in json.dumps(told(second))


def test_what_had_to_be_cut_is_not_refused_again(tmp_path: Path) -> None:
    """A refusal for size is kept too, so the second run sends nothing."""

    class Small:
        wire, name, window_tokens = "openai-chat", "small", None

        def __init__(self) -> None:
            self.provider = LoopbackProvider("openai-chat", 2_600, policy=Author())
            self.send = self.provider.send

    def asked() -> tuple[DocumentingRun, Small]:
        model = Small()
        found = subject(program(30), "ledger.cbl")
        return run([found], model=model, results=Folder(str(tmp_path)), max_prompt_tokens=4_000), model

    first, model = asked()
    assert model.provider.refused > 0
    second, model = asked()
    assert (second.calls, len(model.provider.requests)) == (0, 0)
    assert told(second) == told(first)


def question(number: int, size_tokens: int = 100, context: tuple[tuple[int, int], ...] = ()) -> Question:
    """Return a question about one line of a program, a paragraph of one statement."""
    text = Text("\n".join([" 01 A PIC 9.", *["*"] * (number - 2), " P. ADD 1 TO A."]))
    chunk = Chunk(
        id="c",
        kind="procedure",
        spans=((number, number),),
        context_spans=context,
        tokens=3,
        prompt_tokens=size_tokens,
        digest="d",
    )
    item = ClaimSubject(
        f"P{number}", "paragraphs", ("summary",), {}, number, number, "paragraph", "P", reach=(1, number)
    )
    none: frozenset[str] = frozenset()
    nothing = Known(names=none, callable=none, tables=none, copybooks=none, declared=none)
    held = shown(text, (*chunk.spans, *context), [item], nothing)
    return Question(chunk=chunk, body="", notes="", held=held, fits=lambda _: True)


def answering(*steps: ScriptStep) -> ModelPool:
    """Return a pool before a model with a script."""
    return ModelPool(ScriptedModel(steps, "openai-chat"))


CLAIM = {"of": "P2", "field": "summary", "claim": "Right.", "lines": [2], "evidence": "ADD 1 TO A."}


def claims(of: str, line: int, evidence: str) -> ScriptStep:
    """Return an answer of one claim."""
    claim = {**CLAIM, "of": of, "lines": [line], "evidence": evidence}
    return say(json.dumps({"claims": [claim]}))


def test_the_same_lines_with_less_around_them_are_tried(tmp_path: Path) -> None:
    """A refused prompt says nothing about a smaller one, and an answer holds for both."""
    desk = answering(refuse(9_000, of=6_000), claims("P2", 2, "ADD 1 TO A."))
    results = Folder(str(tmp_path))
    outcomes = []
    for size_tokens in (8_000, 8_000, 4_000, 8_000):
        made = question_asked(question(2, size_tokens), desk, "model", results)
        outcomes.append((made.outcome, made.calls))
    assert outcomes == [("too_large", 1), ("too_large", 0), ("answered", 1), ("answered", 0)]


def test_a_chunk_is_made_smaller_by_the_refusal_that_is_kept(tmp_path: Path) -> None:
    """Of two simultaneous refusals the first is kept, and both runs make the smaller chunks that it determines."""

    class Late(Folder):
        def put(self, key: str, value: Json, /) -> None:
            assert isinstance(value, dict)
            super().put(key, {**value, "fitting_tokens": 700})

    made = question_asked(question(2, 8_000), answering(refuse(9_000, of=6_000)), "model", Late(str(tmp_path)))
    assert (made.outcome, made.fitting_tokens) == ("too_large", 700)


def test_what_holds_in_an_answer_that_broke_off_is_told_until_there_is_a_whole_one(tmp_path: Path) -> None:
    """A later run that is refused still reports the claims, and asks again each time."""
    results, whole = Folder(str(tmp_path)), json.dumps({"claims": [CLAIM]})
    broken = say(whole[:-2] + ', {"of": "P2", "fi')
    refused = fail(400, {"error": {"message": "no"}})
    seen = []
    for steps in ([broken] * 2, [refused], [say(whole)], []):
        made = question_asked(question(2), answering(*steps), "model", results)
        seen.append((made.outcome, len(made.verdicts), made.calls))
    assert seen == [("failed", 1, 2), ("failed", 1, 1), ("answered", 1, 1), ("answered", 1, 0)]


def test_a_claim_whose_lines_are_no_longer_shown_does_not_vanish(tmp_path: Path) -> None:
    """If a prompt shows fewer lines around a chunk, a claim proved there is reported as unproved."""
    results = Folder(str(tmp_path))
    before = question_asked(question(2, context=((1, 1),)), answering(claims("P2", 1, "01 A")), "model", results)
    after = question_asked(question(2), answering(), "model", results)
    assert [verdict.outcome for verdict in before.verdicts] == ["accepted"]
    assert [(verdict.outcome, verdict.reason) for verdict in after.verdicts] == [("rejected", "evidence")]


def test_an_id_that_was_invented_stays_invented(tmp_path: Path) -> None:
    """The id stays invalid even if lines have moved so that it would now exist."""
    results = Folder(str(tmp_path))
    question_asked(question(2), answering(*[claims("P3", 2, "ADD 1 TO A.")] * 2), "model", results)
    after = question_asked(question(3), answering(), "model", results)
    assert [verdict.reason for verdict in after.verdicts] == ["item"]
    assert after.verdicts[0].claim.of not in question(3).held.items


CHILD = """
import sys
from penstock.models import load_model
from penstock.scribe.documenting import run, subject
from penstock.scribe.results import Folder
from tests.scribe.programs import program

model = load_model("anthropic:loopback", base_url=sys.argv[1], environment={})
subjects = [subject(program(size, name=f"PROG{size}"), f"{size}.cbl") for size in (20, 30, 40)]
made = run(subjects, model=model, results=Folder(sys.argv[2]), max_prompt_tokens=3_000, jobs=1)
print(made.was_interrupted, len(made.documents), made.documents[0][1][0]["header"]["final_status"])
"""
WARM = (*COMMANDS, "penstock.scribe", "tests.scribe.programs")
"""The modules that such a run loads."""


@pytest.mark.parametrize("answered", [1, 9])
def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path: Path, answered: int) -> None:
    """After kill -9 in the middle of three programs, the second run sends only unanswered questions."""
    author = Author()
    reached, release = threading.Event(), threading.Event()

    def policy(request: dict[str, Any]) -> ScriptStep:
        step = author(request)
        if len(author.requests) == answered + 1:
            reached.set()
            release.wait(60)
        return step

    with LoopbackProvider("anthropic", 200_000, policy=policy) as provider:
        command = [*warm(*WARM), "-c", CHILD, provider.base_url, str(tmp_path)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert reached.wait(60)
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=60)  # the process is gone once its output has ended
        release.set()
        sent = len(author.requests)
        subprocess.run(command, check=True)
        everything = len(author.requests)
    total = sum(
        run([subject(program(size, name=f"PROG{size}"), "x")], max_prompt_tokens=3_000, model=_counted()).calls
        for size in (20, 30, 40)
    )
    assert sent == answered + 1
    assert everything - sent == total - answered


@pytest.mark.proves("C-9")
def test_an_interrupt_ends_a_request_under_way(tmp_path: Path) -> None:
    """After Ctrl-C during a silent request the run ends at once, with a document of each program."""
    author = Author()
    reached, release = threading.Event(), threading.Event()

    def policy(request: dict[str, Any]) -> ScriptStep:
        step = author(request)
        if len(author.requests) == 2:
            reached.set()
            release.wait(60)
        return step

    with LoopbackProvider("anthropic", 200_000, policy=policy) as provider:
        command = [*warm(*WARM), "-c", CHILD, provider.base_url, str(tmp_path)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert reached.wait(60)
        child.send_signal(signal.SIGINT)
        told, _ = child.communicate(timeout=60)
        release.set()
    assert told == "True 3 interrupted\n"
    assert child.returncode == 0
    assert len(author.requests) == 2


def _counted() -> LoopbackProvider:
    return LoopbackProvider("anthropic", 200_000, policy=Author())
