"""Are secrets removed from JSON, and is the rest the same JSON?"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.text.secret_examples import OWN, described, written

from penstock.text.json_redaction import redacted_json
from penstock.text.redaction import first_hint, redacted

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "ghp_" + "aB3dE5fG7h" * 3 + "123456"
MARK = redacted(KEY)
_KEYS = st.sampled_from([written(line, random.Random(3)) for _, line in described(OWN)])
_TEXTS = st.one_of(st.text(max_size=30), _KEYS, st.tuples(st.text(max_size=9), _KEYS, st.text(max_size=9)).map("".join))
_NAMES = st.one_of(
    st.sampled_from(
        ["password", "arguments", "token", "text", "content", "id", "signature", "data", "type", "input", "name"]
    ),
    st.text(max_size=5),
)
_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), _TEXTS, _TEXTS.map(lambda text: json.dumps({"text": text}))),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_NAMES, inner, max_size=4)),
    max_leaves=12,
)


def _shape(value: Any) -> Any:
    """Return a value without its strings."""
    if isinstance(value, dict):
        return {key: _shape(item) for key, item in value.items()}
    return [_shape(item) for item in value] if isinstance(value, list) else None if isinstance(value, str) else value


@pytest.mark.proves("S-17")
@given(_VALUES)
@example({"a": "DB_PASSWORD=correcthorse", "b": "next"})
@example({"arguments": '{"password": "correcthorse1"}'})
def test_law_one_search_through_all_strings_misses_no_secret(value: Any) -> None:
    """The check that JSON has no secret sees each string as redaction does, edges included."""
    with mock.patch("penstock.text.json_redaction.first_hint", return_value=0):
        one_by_one = redacted_json(value)
    assert redacted_json(value) == one_by_one


def test_strings_without_a_hint_are_not_searched_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A journal has many short strings, and each search would cost a call."""
    if first_hint(b"nothing") == 0:
        pytest.skip("needs google-re2")
    monkeypatch.setattr("penstock.text.json_redaction.redacted", mock.Mock(side_effect=AssertionError))
    value = {
        "role": "tool",
        "content": [{"type": "text", "text": "some words of a text"}],
        "arguments": '{"a": "words"}',
    }
    assert redacted_json(value) is value


@given(_VALUES)
def test_law_twice_is_once_and_only_strings_change(value: Any) -> None:
    """Replaying what was written gives the same; keys, numbers and order stay."""
    clean = redacted_json(value)
    assert redacted_json(clean) is clean
    assert json.dumps(_shape(clean)) == json.dumps(_shape(value))
    assert clean is value or clean != value


@given(_VALUES, _KEYS)
def test_law_a_planted_key_is_gone_and_arguments_stay_json(value: Any, key: str) -> None:
    """This holds even if a wire has JSON inside a string."""
    clean: Any = redacted_json(
        {"content": [{"text": f"see {key}"}], "arguments": json.dumps({"value": value, "text": key})}
    )
    assert key not in json.dumps(clean)
    assert _shape(json.loads(clean["arguments"])) == _shape({"value": value, "text": key})


@pytest.mark.parametrize(
    "whole",
    [
        {"type": "thinking", "thinking": f"The key is {KEY}.", "signature": "c2lnbmVk"},
        {"type": "redacted_thinking", "data": KEY},
        {"type": "reasoning", "encrypted_content": KEY, "summary": []},
        {"text": KEY, "thoughtSignature": "c2lnbmVk"},
        {"reasoningContent": {"reasoningText": {"text": KEY, "signature": "c2lnbmVk"}}},
        {"type": "base64", "media_type": "image/png", "data": KEY},
        {"id": KEY, "tool_use_id": KEY, "call_id": KEY, "digest": KEY},
    ],
    ids=lambda whole: str(next(iter(whole))),
)
def test_what_is_signed_a_picture_or_an_id_stays_whole(whole: dict[str, Any]) -> None:
    """A provider refuses changed signed content, and a result without its call's id has no call."""
    assert redacted_json(whole) is whole


@pytest.mark.proves("S-17")
@pytest.mark.parametrize(
    ("name", "left"),
    [
        (KEY, "redacted"),
        (f"search_{KEY}", "search_redacted"),
        (f"{KEY}_search", "redacted"),
        (f"read.{KEY}.a", "read.redacted.a"),
    ],
)
def test_a_name_that_a_model_has_made_up_of_a_secret_stays_a_name(name: str, left: str) -> None:
    """Every wire accepts it, in the call and in its result; a name without a secret is the same object."""
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    clean: Any = redacted_json({"tool_calls": [call], "functionResponse": {"name": name, "response": {}}})
    assert clean["tool_calls"][0]["function"]["name"] == clean["functionResponse"]["name"] == left
    plain = {"name": "get_api_key_of_the_2nd_service", "arguments": "{}"}
    assert redacted_json(plain) is plain


@pytest.mark.parametrize("key", ["arguments", "args", "input"])
@pytest.mark.parametrize(
    "given_by_model",
    [{"path": KEY}, {"signature": "s", "content": KEY}, {"data": KEY, "format": "wav"}, {"files": [{"name": KEY}]}],
    ids=lambda given: str(next(iter(given))),
)
def test_what_a_model_gives_a_call_has_no_ids_and_no_signatures(key: str, given_by_model: dict[str, Any]) -> None:
    """Names in it are the tool's own: a field that is exempt elsewhere by its name may have a secret here."""
    assert KEY not in json.dumps(redacted_json({"id": "call_1", key: given_by_model}))
    assert KEY not in json.dumps(redacted_json({"id": "call_1", "arguments": json.dumps(given_by_model)}))


@pytest.mark.parametrize("key", ["arguments", "input"])
def test_what_a_model_calls_an_argument_is_its_own_words(key: str) -> None:
    """A secret there would be in the journal, and in every request after it; the key of any other object stays."""
    given_by_model: Any = {KEY: 1, "deep": [{f"a {KEY}": True}]}
    call = {"id": "1", key: json.dumps(given_by_model) if key == "arguments" else given_by_model, KEY: 2}
    made = redacted_json(call)
    left = json.loads(made[key]) if key == "arguments" else made[key]
    assert left == {"redacted": 1, "deep": [{"a redacted": True}]}
    assert made[KEY] == 2
    assert redacted_json(made) is made


def test_a_key_that_is_no_text_stays() -> None:
    """Python writes a number as a key, such as a token's in `logit_bias`, into JSON as a text."""
    request: Any = {"logit_bias": {50256: -100}, "input": {"arguments": {7: KEY}}}
    assert redacted_json(request)["logit_bias"] == {50256: -100}
    assert KEY not in json.dumps(redacted_json(request))
    plain: Any = {"logit_bias": {50256: -100}}
    assert redacted_json(plain) is plain


def test_a_key_that_names_a_password_makes_its_value_one() -> None:
    """This works as `"password": "…"` does in a text; a value with a quote or a line end is searched separately."""
    assert redacted_json({"password": "hunter2hunter2"}) == {"password": "[redacted: secret, 14 characters]"}
    assert redacted_json({"text": "hunter2hunter2"}) == {"text": "hunter2hunter2"}
    arguments = json.dumps({"password": "hunter2hunter2", "n": 1})
    assert json.loads(redacted_json({"arguments": arguments})["arguments"]) == {
        "password": "[redacted: secret, 14 characters]",
        "n": 1,
    }


@pytest.mark.parametrize("make", [object, lambda: b"bytes", lambda: 1.5], ids=["object", "bytes", "number"])
def test_what_is_no_json_is_left_to_who_refuses_it(make: Callable[[], object]) -> None:
    """Only strings are examined; other values are for the caller to refuse."""
    value = make()
    assert redacted_json(value) is value
    assert redacted_json({"arguments": f"no JSON: {KEY}"}) == {"arguments": f"no JSON: {MARK}"}


@pytest.mark.proves("S-17")
def test_what_a_key_names_is_seen_beside_what_the_value_gives_away() -> None:
    """The first half of this value is a secret because of the key, the other because of a name in it: both are removed at once."""
    value = {"password": "3gFQomDI5GXjxcimQCzX4Yewg5GhServer=db;User Id=me;Password=s3crettoken"}
    clean = redacted_json(value)
    assert "3gFQ" not in str(clean)
    assert redacted_json(clean) is clean


@pytest.mark.proves("S-17")
def test_a_key_that_one_string_gives_away_goes_from_all() -> None:
    """A result names it, and the model repeats it bare, in text before and in arguments after."""
    key = "7f3kQ9zL2mX8vB4nT6wY"
    value = [
        {"role": "assistant", "content": f"I try {key}."},
        {"role": "tool", "content": f"API_TOKEN={key}"},
        {"type": "function_call", "id": key, "arguments": json.dumps({"url": f"https://a.example.com/{key}"})},
    ]
    clean: Any = redacted_json(value)
    assert key not in json.dumps([clean[0], clean[1], clean[2]["arguments"]])
    assert clean[2]["id"] == key  # or no result would find its call
    assert redacted_json([f"I try {key}."]) == [f"I try {key}."]
