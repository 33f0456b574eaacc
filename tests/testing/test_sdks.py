"""Do the official clients accept the double as the provider: answers, streams, refusals? Each case ran in `sdk_driver.py`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from tests.models.stated import FORMS, WIRES, stated

WINDOW = 2_000

pytestmark = pytest.mark.timeout(600)  # the first builds an environment


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_a_client_reads_words_calls_and_usage_and_the_next_request_is_valid(
    seen: dict[str, Any], wire: str, streamed: bool
) -> None:
    """A conversation of parallel calls and an answer, plain or gathered from a stream, is the same on every wire."""
    case = seen[f"conversation/{wire}/{streamed}"]
    (said, asked, usage), (last, none, last_usage) = case["turns"]
    assert said == "Looking at both: naïve “quotes”, 漢字, a line\nand another. " * 3
    assert [call[1:] for call in asked] == [["read_file", {"path": "alpha.py"}], ["read_file", {"path": "b/β.py"}]]
    assert asked[0][0] != asked[1][0]
    assert (last, none) == ("done", [])
    assert [usage[0], last_usage[0]] == case["counted"]
    assert usage[1] > last_usage[1] > 0
    assert case["outcomes"] == ["answered", "answered"]


@pytest.mark.proves("O-2")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wire", WIRES)
def test_the_exception_of_a_refusal_has_exactly_the_numbers_that_were_counted(
    seen: dict[str, Any], wire: str, form: str
) -> None:
    """Plain, streamed or refused within a stream; by input, by tools, by the requested reply; it is sent only once."""
    cases = {name: case for name, case in seen.items() if name.startswith(f"refused/{wire}/{form}/")}
    assert len(cases) == 7 - (form == "openai" and wire == "openai-responses")
    for name, case in cases.items():
        assert case["overflow"] == stated(form, wire, tuple(case["size"]), WINDOW), name
        assert case["kind"] == case["overflow"]["kind"], name
        in_stream = "/in stream/" in name
        assert case["statuses"] == [200 if in_stream else 400], name
        late = "APIStatusError" if wire == "anthropic" else "APIError"
        assert case["raised"] == (late if in_stream else "BadRequestError"), name
        assert case["refused"] == 1, name


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wire", WIRES)
def test_a_refused_conversation_ends_well_over_the_client(seen: dict[str, Any], wire: str, form: str) -> None:
    """Plain, streamed or refused within a stream, each request is smaller, all are valid, and the goal is still known."""
    (case,) = (case for name, case in seen.items() if name.startswith(f"recovered/{wire}/{form}/"))
    assert case["said"] == "At most 250."
    *refusals, last = case["outcomes"]
    assert (last, set(refusals)) == ("answered", {"refused"})
    assert len(refusals) <= 2  # the first, and at most two calls for one overflow
    assert case["attempts"] == len(case["outcomes"])
    assert all(smaller < larger for larger, smaller in pairwise(case["sizes"]))


def test_every_form_of_a_refusal_comes_in_every_mode_and_over_every_wire(seen: dict[str, Any]) -> None:
    """Conversations cover all pairs of two of these, though not all of three."""
    tried = [tuple(name.split("/")[1:]) for name in seen if name.startswith("recovered/")]
    modes = {mode for _, _, mode in tried}
    assert {(wire, form) for wire, form, _ in tried} == {(wire, form) for wire in WIRES for form in FORMS}
    assert {(form, mode) for _, form, mode in tried} == {(form, mode) for form in FORMS for mode in modes}
    assert {(wire, mode) for wire, _, mode in tried} == {(wire, mode) for wire in WIRES for mode in modes}
    assert len(modes) == 3


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_that_breaks_an_invariant_is_refused_by_name(seen: dict[str, Any], wire: str) -> None:
    """It is a bad request, not an overflow, and says which message breaks what."""
    kind, words, diagnosed, overflow, outcome = seen[f"invalid/{wire}"]
    assert (kind, diagnosed, overflow, outcome) == ("BadRequestError", "bad_request", None, "invalid")
    assert "messages.0: orphan_result: A result needs its call before it" in words


@pytest.mark.parametrize("wire", WIRES)
def test_a_status_and_a_body_of_the_script_arrive_as_they_are(seen: dict[str, Any], wire: str) -> None:
    """A failing step is seen with its status and words, even if a stream was requested."""
    assert seen[f"failed/{wire}"] == [418, True, "failed"]


@pytest.mark.parametrize("wire", WIRES)
def test_a_request_outside_the_script_fails_the_test_not_only_the_client(seen: dict[str, Any], wire: str) -> None:
    """The client's exception has nothing that looks like an overflow; the mismatch is raised when `with` ends."""
    client_saw, overflow, mismatch = seen[f"left/{wire}"]
    assert (client_saw, overflow) == ("BadRequestError", None)
    assert mismatch.startswith("step 1 of 1, say('x'), requires 'prompt is too long', which is not in the request.")
    assert mismatch.endswith("hello")


@pytest.mark.parametrize("wire", WIRES)
def test_models_are_listed_and_tokens_counted_without_a_request_for_an_answer(seen: dict[str, Any], wire: str) -> None:
    """Clients look up models, and count tokens where the API has it; `requests` holds neither."""
    counted = {"anthropic": len("role\nuser\ncontent\nx"), "openai-responses": len("x")}.get(wire)
    assert seen[f"beside/{wire}"] == [["m-1"], "m-1", counted, 0]


@pytest.mark.parametrize("wire", WIRES)
def test_forty_requests_at_once_get_each_their_own_answer(seen: dict[str, Any], wire: str) -> None:
    """They use the asynchronous client, and a third are refused; every one is in `requests`."""
    assert seen[f"at_once/{wire}"] == [True, 40, 14]


@pytest.mark.parametrize("streamed", [False, True])
def test_anthropics_own_loop_of_tools_goes_on_without_a_thread(seen: dict[str, Any], streamed: bool) -> None:
    """It asks the server to keep the conversation; told in the API's own words that it cannot, it sends all of it each time."""
    said, requests = seen[f"tool_runner/{streamed}"]
    assert said == "done"
    assert requests == [["invalid", 1], ["answered", 1], ["answered", 3], ["answered", 5]]
