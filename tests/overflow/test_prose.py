"""Is a text that only talks about errors, such as a page, chat or question, told apart from an error by a machine?"""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.overflow import diagnose, parse, read_rules
from penstock.overflow.prose import is_prose

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])

CHATS = [
    "The context window of one model is 8192 tokens, of another 200000. I would take the larger one if the prompt is too long.",
    "My agent says that the input exceeds the maximum context length of 4096 tokens, what should I do?",
    "What does 'prompt is too long: 213462 tokens > 200000 maximum' mean?",
    "How do I get past 'maximum context length is 8192 tokens'? We send 9000 tokens.",
    "Our model supports a maximum context length of 128000 tokens, and our example uses 1024 tokens of it.",
    "For example, with a context length of 4096 and a message of 1000 tokens, max_tokens of 4096 exceeds the context length.",
    (
        "A request is refused where its input exceeds the context window. The limit is 8192 tokens. Clear old results first. "
        "Then send it again. The rest stays as it is."
    ),
]
STATEMENTS = [
    "X's context window is 200000 tokens.",
    "Claude Opus 4 has a context window of 200,000 tokens.",
    "The maximum context length is 8192 tokens.",
    "GPT-4o supports a maximum context length of 128000 tokens and a maximum output of 16384 tokens.",
    "llama-3 models have a context length of 8192 tokens",
    "Requests that exceed the context window are refused.",
    "Prompts longer than 200,000 tokens are charged at a higher rate.",
    "Messages with more than 200000 tokens are truncated.",
    "A request may not exceed 32 MB.",
]
MACHINES = [
    "This model's maximum context length is 8192 tokens",
    "context_length_exceeded: the context window is 8192 tokens",
    "Your input exceeds the context window of this model.",
    "Input is too long for requested model.",
    "prompt is too long: 213462 tokens > 200000 maximum",
    "Sorry, I couldn't complete that request: prompt is too long: 213462 tokens > 200000 maximum",
    "I'm sorry, the prompt is too long: 213462 tokens > 200000 maximum",
    "input length and max_tokens exceed context limit (i.e 156321 + 48384 > 200000)",
    "Is it you? RuntimeError: prompt is too long: 213462 tokens > 200000 maximum",
    "2026-01-05 10:11:12 ERROR model - I sent it, and: prompt is too long: 213462 tokens > 200000 maximum",
    '# run 7\n\n{"error": {"message": "prompt is too long: 213462 tokens > 200000 maximum"}}',
    "The number of tokens to keep from the initial prompt is greater than the context length. Load the model with a larger one.",
]


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_of_our_own_is_a_refusal(page: Path) -> None:
    """README, changelog and documentation quote refusals of every kind, and are not refusals."""
    found = diagnose(page.read_text("utf-8"))
    assert (found.kind, found.recovery, found.overflow) == ("unknown", "none", None)


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("text", CHATS)
def test_a_chat_about_refusals_is_not_a_refusal(text: str) -> None:
    """These are questions, suppositions and explanations in the exact words of providers."""
    assert is_prose(text)
    assert diagnose(text).kind == "unknown"
    assert parse(text) is None


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("text", STATEMENTS)
def test_what_a_page_states_of_a_model_is_not_a_refusal(text: str) -> None:
    """Nothing exceeds, nothing was counted, nobody is asked to shorten anything; with a status or a code somebody did refuse."""
    assert diagnose(text).kind == "unknown"
    assert diagnose({"error": {"message": text, "code": "context_length_exceeded"}}).overflow is not None


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("text", MACHINES)
def test_what_a_machine_wrote_is_read_whatever_surrounds_it(text: str) -> None:
    """Apologies of programs, loggers and names of exceptions are not chat."""
    assert not is_prose(text)
    assert parse(text) is not None


@pytest.mark.proves("O-2")
def test_a_status_or_a_rule_outranks_how_a_text_looks() -> None:
    """A caller that knows of a refusal gives its status; a user's rule knows its own sentence."""
    asked = "How long is it? The input exceeds the maximum context length of 4096 tokens."
    assert parse(asked) is None
    assert parse(asked, 400) is not None
    rules = read_rules('[[rule]]\ntext = "how long is it?"\nkind = "context_input"\n')
    assert parse(asked, rules=rules) is not None
