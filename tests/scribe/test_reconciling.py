"""Is one wording for several statements accepted only if it states all of them and nothing else?"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.scribe.author import Author, groups_in, is_code, shown_in, worded
from tests.scribe.programs import program

from penstock.models import say, sizes
from penstock.scribe.documenting import DocumentingRun, run, subject
from penstock.testing import LoopbackProvider
from penstock.text import tokens

if TYPE_CHECKING:
    from penstock.models import ScriptStep

pytestmark = pytest.mark.proves("C-8")


def asked(text: str, covers: Any = None, source: str | None = None) -> tuple[DocumentingRun, list[dict[str, Any]]]:
    """Return a run whose model words every group as `text` and claims that it covers that many statements."""
    author, asked_to_word = Author(), []

    def policy(request: dict[str, Any]) -> ScriptStep:
        groups = groups_in(request)
        if not groups:
            return author(request)
        asked_to_word.append(request)
        return worded(groups, text, covers)

    model = LoopbackProvider("openai-chat", 200_000, policy=policy)
    found = subject(source or program(30), "x.cbl")
    return run([found], model=model, max_prompt_tokens=3_000, reconcile=True, jobs=1), asked_to_word


def purpose(made: DocumentingRun) -> dict[str, Any]:
    """Return the purpose in the document."""
    told: dict[str, Any] = made.documents[0][1][0]["purpose"]
    return told


def test_one_text_stands_for_all_with_every_citation() -> None:
    """The text is shorter, and the lines that prove it are the same."""
    plain, _ = asked("Uses WS-NEVER-THERE.")
    made, requests = asked("It posts the day's records.")
    assert purpose(made)["summary"] == "It posts the day's records."
    assert purpose(made)["citations"] == purpose(plain)["citations"]
    assert len(purpose(made)["citations"]) >= 3  # one for each chunk
    assert len(requests) == 1


@pytest.mark.parametrize(
    ("text", "covers"),
    [
        ("It posts.", [1]),
        ("It posts.", "all"),
        ("It posts.", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 99]),
        ("", None),
        ("x" * 5_000, None),
        ("It uses WS-NEVER-THERE.", None),
        ("It calls PAYROLL.", None),
    ],
)
def test_the_union_stays_where_the_text_does_not_hold(text: str, covers: Any) -> None:
    """A statement is left out, a name does not exist, or the text is empty."""
    made, _ = asked(text, covers)
    assert "Right about program" in purpose(made)["summary"]
    assert not text or text not in purpose(made)["summary"]


def test_a_program_of_one_chunk_is_not_asked_about_twice() -> None:
    """A single chunk has nothing to reconcile."""
    made, requests = asked("It posts.", source=program(3))
    assert (made.calls, requests) == (1, [])


@pytest.mark.proves("C-5")
def test_the_question_is_within_the_budget_with_its_frame() -> None:
    """The question is counted like any other prompt, with what the provider puts around it."""
    said = itertools.cycle(f"It is said at length that {'word ' * 300}{name}." for name in ("one", "two", "three"))

    def policy(request: dict[str, Any]) -> ScriptStep:
        if "are to become fewer" in sizes.text_of(request):
            asked_to_word.append(request)
            return say("{}")
        line, text = next((line, text) for line, text in shown_in(request).items() if is_code(text))
        claim = {"of": "program", "field": "summary", "claim": next(said), "lines": [line], "evidence": text.strip()}
        return say(json.dumps({"claims": [claim]}))

    def worded(budget: int) -> int:
        asked_to_word.clear()
        model = LoopbackProvider("anthropic", 200_000, policy=policy)
        made = run([subject(program(60), "x.cbl")], model=model, max_prompt_tokens=budget, reconcile=True, jobs=1)
        assert made.chunks > 2
        return len(asked_to_word)

    asked_to_word: list[dict[str, Any]] = []
    assert worded(4_000) == 1
    (request,) = asked_to_word
    texts = request["system"], request["messages"][0]["content"]
    size = sum(tokens.best_counter(request["model"]).count(text).high for text in texts)
    assert (worded(size + 5), worded(size + 20)) == (0, 1)
