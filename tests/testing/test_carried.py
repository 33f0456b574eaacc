"""Are requests carried over every real client, in every way of asking and in many wordings? Each ran in `carried_driver.py`.

`PENSTOCK_EVERY_CELL=1` tries every pair of form and wording, which takes minutes; otherwise each is in some pair.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

CLIENTS = ("openai", "anthropic", "google", "amazon", "litellm")
pytestmark = [pytest.mark.timeout(900), pytest.mark.proves("R-4")]  # the first of each builds an environment


def of_kind(cases: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the cases of a kind, at least one."""
    found = {name: case for name, case in cases.items() if name.startswith(f"{kind}/")}
    assert found
    return found


@pytest.mark.parametrize("client", CLIENTS)
def test_a_refused_request_is_carried_to_its_answer_whatever_came_back(
    carried_cases: Callable[[str], dict[str, Any]], client: str
) -> None:
    """The result is an object, an unread stream, or a manager that sends when it is entered; sync or async; in any wording."""
    for name, case in of_kind(carried_cases(client), "carried").items():
        assert case["said"].strip() == "At most 250.", name
        *refusals, last = case["outcomes"]
        assert (last, set(refusals)) == ("answered", {"refused"}), name
        assert len(refusals) <= 3, name
        assert all(smaller < larger for larger, smaller in pairwise(case["sizes"])), name
        assert (case["statuses"][0] == 200) == name.endswith("/in stream"), name
        assert (case["attempts"], case["warnings"]) == (len(case["outcomes"]), []), name


@pytest.mark.parametrize("client", CLIENTS)
def test_an_error_in_http_200_is_a_refusal_whatever_the_client_makes_of_it(
    carried_cases: Callable[[str], dict[str, Any]], client: str
) -> None:
    """OpenAI and Anthropic keep it next to their fields; Google and AWS drop it, and return an empty answer."""
    for name, case in of_kind(carried_cases(client), "error in 200").items():
        assert (case["said"].strip(), case["attempts"]) == ("At most 250.", 2), name
        first, second = case["sizes"]
        assert second < first, name


@pytest.mark.parametrize("client", CLIENTS)
def test_a_refusal_in_mid_stream_ends_with_what_came_and_is_named(
    carried_cases: Callable[[str], dict[str, Any]], client: str
) -> None:
    """Nothing is sent again without the caller: what was said is there, and the error says what it was."""
    for name, case in of_kind(carried_cases(client), "midway").items():
        assert case["said"] == "At most 250.", name
        assert (case["kind"], case["is ours"]) == ("context_input", True), name
        assert case["named"].startswith("The provider ended the stream with a refusal after "), name
