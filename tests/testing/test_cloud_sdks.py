"""Do google-genai and boto3 accept the double as the provider, and does Penstock carry them? Each ran in `cloud_sdk_driver.py`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

# The first builds an environment of 121 MB: 50 s once, then 9 s for all cases.
pytestmark = [pytest.mark.timeout(600), pytest.mark.proves("R-8")]

FORMS = {"gemini": ("plain", "streamed", "async", "async streamed"), "bedrock": ("plain", "streamed")}
SENDS = [(wire, form) for wire, forms in FORMS.items() for form in forms]
MODES = [
    f"{wire}/{form}{late}" for wire, form in SENDS for late in ("", "/in stream") if not late or "streamed" in form
]
ERRORS = {"gemini": "ClientError", "bedrock": "ValidationException"}


@pytest.mark.parametrize(("wire", "form"), SENDS)
def test_a_conversation_over_the_client_is_read_whole_and_the_next_request_is_valid(
    cloud_seen: dict[str, Any], wire: str, form: str
) -> None:
    """There are parallel calls with words; Gemini's responses go back without ids, as its SDK makes them."""
    case = cloud_seen[f"conversation/{wire}/{form}"]
    (said, asked, usage), (last, none, last_usage) = case["turns"]
    assert said == "Looking at both: naïve “quotes”, 漢字, a line\nand another. " * 3
    assert [call[1:] for call in asked] == [["read_file", {"path": "alpha.py"}], ["read_file", {"path": "b/β.py"}]]
    assert (last, none) == ("done", [])
    assert [usage[0], last_usage[0]] == case["counted"]
    assert usage[1] > last_usage[1] > 0
    assert (case["outcomes"], case["faults"]) == (["answered", "answered"], [])


@pytest.mark.parametrize("mode", MODES)
def test_the_clients_own_exception_is_read_with_the_numbers_that_it_has(cloud_seen: dict[str, Any], mode: str) -> None:
    """Google states both, Bedrock none; it is raised at once, on the first read of a stream, or by an event in it."""
    wire, case = mode.partition("/")[0], cloud_seen[f"refused/{mode}"]
    late = wire == "bedrock" and mode.endswith("in stream")
    assert case["raised"] == ("EventStreamError" if late else ERRORS[wire])
    stated = {"limit": 2_000, "input": case["input"], "excess": case["input"] - 2_000} if wire == "gemini" else {}
    assert case["overflow"] == {
        "kind": "context_input", "limit": None, "input": None, "output": None, "total": None, "excess": None,
        "bound": "exact", "unit": "tokens", **stated,
    }  # fmt: skip
    assert (case["kind"], case["requests"]) == ("context_input", 1)


@pytest.mark.parametrize("mode", MODES)
def test_a_refused_request_is_carried_to_its_answer(cloud_seen: dict[str, Any], mode: str) -> None:
    """The window is assumed twelve times too large: refused, sent smaller, and answered by the object that the caller expects."""
    case = cloud_seen[f"recovered/{mode}"]
    assert case["said"] == "At most 250."
    *refusals, last = case["outcomes"]
    assert (last, set(refusals)) == ("answered", {"refused"})
    assert len(refusals) <= 3
    assert all(smaller < larger for larger, smaller in pairwise(case["sizes"]))
    assert case["signature"], "what the model signed went out byte for byte"


def test_the_count_of_tokens_and_the_models_are_where_the_clients_look(cloud_seen: dict[str, Any]) -> None:
    """Both APIs count; only Gemini's lists models on the same host."""
    assert cloud_seen["counted/gemini"] == [len("role user parts text x"), ["models/m-1"], "models/m-1"]
    assert cloud_seen["counted/bedrock"] == [len("role user content text x")]


def test_our_own_client_sends_what_boto3_sends_and_signs_as_botocore_does(cloud_seen: dict[str, Any]) -> None:
    """There is one body and one answer, plain and streamed; the signature of the same second is the same."""
    assert cloud_seen["remote"] == {"same": True, "pieces": True, "bodies": True, "signed": True}
