"""What do real agent frameworks send to their provider with an adapter in place? Each scene ran in its framework's driver."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.adapters.conftest import DRIVERS, PINS, run_in
from tests.testing.conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

    Seen = Callable[[str], dict[str, Any]]

pytestmark = pytest.mark.timeout(900)  # the first builds an environment
WIRES = {
    "pydantic_ai": {"openai-chat", "openai-responses", "anthropic"},
    "openai_agents": {"openai-chat", "openai-responses"},
    "langchain": {"openai-chat", "openai-responses", "anthropic", "deepagents"},
    "strands": {"openai-chat", "anthropic"},
}
MODES = {"plain", "streamed"}
FORMS = {
    "pydantic_ai": {"tool", "native", "prompted"},
    "openai_agents": {"native"},
    "langchain": {"tool", "native", "either"},
    "strands": {"tool"},
}


def played(cases: dict[str, Any], scene: str, framework: str, *more_modes: str) -> dict[str, Any]:
    """Return a scene on every wire, in every mode; assert that requests break no invariant, and that each holds the task."""
    found = {name.split("/", 1)[1]: case for name, case in cases.items() if name.startswith(f"{scene}/")}
    assert set(found) == {f"{wire}/{mode}" for wire in WIRES[framework] for mode in {*MODES, *more_modes}}
    for name, case in found.items():
        assert case["violations"] == [], name
        assert case["task"], name
        assert "invalid" not in case["outcomes"], name
    return found


@pytest.mark.parametrize("framework", PINS)
@pytest.mark.proves("G-3")
def test_a_flood_is_cut_and_the_model_reads_on_by_its_handle(seen: Seen, framework: str) -> None:
    """The provider receives at most what the guard allows of a tool's megabyte, and then the page that the model asks for."""
    for name, case in played(seen(framework), "flood", framework).items():
        assert (case["answer"], case["raised"]) == ("row 33000 was seen", ""), name
        assert case["outcomes"] == ["answered"] * 3, name
        assert 20_000 < case["longest"] <= 28_000, name
        assert case["handles"] == 1, name


@pytest.mark.parametrize("framework", PINS)
def test_a_flood_that_is_no_text_is_cut_too(seen: Seen, framework: str) -> None:
    """A list of records goes to the model as the framework writes it, within the same limit."""
    for name, case in played(seen(framework), "listing", framework).items():
        assert (case["answer"], case["raised"]) == ("done", ""), name
        assert 20_000 < case["longest"] <= 28_000, name
        assert case["handles"] == 1, name


@pytest.mark.parametrize("framework", PINS)
def test_thirty_turns_in_a_window_of_twelve_end_without_a_refusal(seen: Seen, framework: str) -> None:
    """Every result is in the last request or behind a handle in it, and all of them are in the framework's own history."""
    for name, case in played(seen(framework), "long", framework).items():
        assert (case["answer"], case["raised"]) == ("done", ""), name
        assert case["outcomes"] == ["answered"] * 31, name
        assert case["had"] == case["whole"] == list(range(1, 31)), name


@pytest.mark.parametrize("framework", PINS)
def test_forty_results_at_once_are_cut_before_they_are_sent(seen: Seen, framework: str) -> None:
    """By our own count they then fit; a provider that counts more refuses once. All can be had from the answered request."""
    for name, case in played(seen(framework), "together", framework).items():
        assert (case["answer"], case["raised"]) == ("done", ""), name
        assert case["outcomes"] in (["answered"] * 2, ["answered", "refused", "answered"]), name
        assert case["had"] == case["whole"] == list(range(1, 41)), name


@pytest.mark.parametrize("framework", PINS)
def test_a_refusal_is_recovered_and_its_window_is_kept_to_from_then_on(seen: Seen, framework: str) -> None:
    """The window is a twentieth of what was promised: one refusal, plain or within a stream, and none after it."""
    for name, case in played(seen(framework), "refused", framework, "in stream").items():
        assert (case["answer"], case["raised"]) == ("done", ""), name
        assert sorted(case["outcomes"]) == ["answered"] * 21 + ["refused"], name
        assert case["had"] == case["whole"] == list(range(1, 21)), name


@pytest.mark.parametrize("framework", PINS)
def test_an_error_that_is_no_overflow_is_the_frameworks_own(seen: Seen, framework: str) -> None:
    """It is sent once, and raised as it would be without an adapter."""
    for name, case in played(seen(framework), "failed", framework).items():
        assert case["outcomes"] == ["answered", "failed"], name
        assert "short and stout" in case["raised"], name
        assert "penstock.errors" not in case["raised"], name


@pytest.mark.parametrize("framework", PINS)
def test_what_cannot_shrink_is_asked_once_and_named(seen: Seen, framework: str) -> None:
    """A question ten times the window ends the run with its bill; deepagents keeps such a question in a file."""
    for name, case in played(seen(framework), "hopeless", framework).items():
        if name.startswith("deepagents"):
            assert case["answer"] == "never", name
            continue
        assert case["outcomes"] == ["refused"], name
        assert "TooLarge" in case["raised"], name
        assert "newest user message" in case["raised"] or "task" in case["raised"], name


@pytest.mark.parametrize("framework", PINS)
def test_the_form_of_an_answer_is_within_the_window(seen: Seen, framework: str) -> None:
    """However the framework asks for it, each request leaves the room for a reply, counted at our upper bound."""
    found = {name: case for name, case in seen(framework).items() if name.startswith("formed/")}
    wires = WIRES[framework] - {"deepagents"}
    assert set(found) == {f"formed/{wire}/{way}" for wire in wires for way in FORMS[framework]}
    for name, case in found.items():
        assert (case["outcomes"], case["raised"]) == (["answered"] * 16, ""), name
        assert "seen" in case["answer"], name
        assert 6_000 < max(case["tokens"]) <= 7_500, name


EXAMPLE = re.compile(r"^```py (\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("framework", PINS)
def test_the_example_of_the_page_runs(framework: str) -> None:
    """The code that docs/adapters.md gives the reader works, against a provider on loopback."""
    examples = EXAMPLE.findall((REPOSITORY / "docs" / "adapters.md").read_text("utf-8"))
    codes = [code for name, code in examples if name == framework]
    assert codes
    for code in codes:
        assert run_in(framework, DRIVERS / "example.py", code) == "done\n"


@pytest.mark.parametrize("framework", PINS)
def test_an_adapter_without_its_framework_says_which_package_is_missing(framework: str) -> None:
    """The framework is not installed here, so importing an adapter names the package to install."""
    package = re.split(r"[\[=]", PINS[framework][0])[0].removesuffix("-slim")
    with pytest.raises(ImportError, match=rf"needs the package {package}: No module named"):
        __import__(f"penstock.adapters.{framework}")
    assert f"penstock.adapters.{framework}" not in sys.modules


@pytest.mark.parametrize("framework", PINS)
@pytest.mark.proves("R-6")
def test_a_request_above_the_tokens_of_a_minute_is_cut_to_below_them(seen: Seen, framework: str) -> None:
    """The framework would wait for ever, or end; the request is made smaller once instead."""
    for name, case in played(seen(framework), "minute", framework).items():
        assert (case["answer"], case["raised"]) == ("done", ""), name
        assert 1 <= case["outcomes"].count("refused") <= 2, name


@pytest.mark.parametrize("framework", PINS)
@pytest.mark.proves("R-6")
def test_a_server_that_cuts_without_a_word_is_kept_below(seen: Seen, framework: str) -> None:
    """Plain answers are checked before the framework has them: the same is asked again with a smaller request."""
    for name, case in played(seen(framework), "silent", framework).items():
        assert (case["answer"], case["raised"]) == ("done", ""), name
        if name.endswith("/plain") and framework != "strands":  # strands always streams
            assert len(case["outcomes"]) > 21, name
            assert case["had"] == list(range(1, 21)), name
