"""Is a changed value written into the bytes of the old one, with nothing else changed?"""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.text.json_edits import edits_between
from penstock.text.json_slices import Slice, splice

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**25), 10**25),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=5),
    max_leaves=20,
)


def odd(value: object, dice: random.Random) -> str:
    """Return JSON as no library writes it: blanks anywhere, needless escapes, numbers in other forms."""
    blank = "".join(dice.choice(" \n\t\r") for _ in range(dice.choice((0, 0, 1, 2))))
    if isinstance(value, dict):
        members = [f"{odd(name, dice)}:{odd(inner, dice)}" for name, inner in value.items()]
        return blank + "{" + ",".join(members) + blank + "}" + blank
    if isinstance(value, list):
        return blank + "[" + ",".join(odd(item, dice) for item in value) + blank + "]" + blank
    if isinstance(value, str):
        escaped = "".join(
            f"\\u{ord(c):04x}" if ord(c) < 0x10000 and dice.random() < 0.3 else json.dumps(c)[1:-1] for c in value
        )
        return f'{blank}"{escaped}"{blank}'
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return f"{blank}{int(value)}.000{blank}"
    return blank + json.dumps(value) + blank


def changed(value: object, dice: random.Random) -> object:
    """Return a value in which some things are changed, removed or added."""
    if isinstance(value, dict):
        made = {name: changed(inner, dice) for name, inner in value.items() if dice.random() < 0.85}
        return made | ({"new": "member"} if dice.random() < 0.2 else {})
    if isinstance(value, list):
        made_items = [changed(item, dice) for item in value if dice.random() < 0.85]
        if dice.random() < 0.2:
            made_items.insert(dice.randint(0, len(made_items)), {"role": "user", "content": "a note"})
        return made_items
    return "changed" if dice.random() < 0.15 else value


def same(one: object, other: object) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@pytest.mark.proves("W-1")
@given(VALUES, st.integers(0, 2**32))
def test_the_bytes_hold_the_new_value(value: object, seed: int) -> None:
    """This holds for any change, however oddly the old value is written."""
    dice = random.Random(seed)
    raw = odd(value, dice).encode()
    old = json.loads(raw)
    new = changed(old, dice)
    assert same(json.loads(splice(raw, edits_between(raw, old, new))), new)


@pytest.mark.proves("W-1")
@given(VALUES, st.integers(0, 2**32))
def test_equal_values_are_not_touched(value: object, seed: int) -> None:
    """A value that stays has no edit, and neither has its container except for what changed."""
    dice = random.Random(seed)
    raw = odd({"before": value, "cut": "x" * 10, "behind": value}, dice).encode()
    old = json.loads(raw)
    edits = list(edits_between(raw, old, {**old, "cut": "y"}))
    assert [raw[edit.start : edit.end] for edit in edits] == [
        b'"' + raw[edit.start + 1 : edit.end - 1] + b'"' for edit in edits
    ]
    assert len(edits) == 1
    assert edits[0].new == b'"y"'


@pytest.mark.proves("W-1")
@given(st.lists(VALUES, min_size=1, max_size=8), st.integers(0, 2**32))
def test_items_that_stay_are_written_as_they_were(items: list[object], seed: int) -> None:
    """This holds for a list if the origin of each new item is known."""
    dice = random.Random(seed)
    raw = odd({"messages": items}, dice).encode()
    old = json.loads(raw)
    kept = [place for place in range(len(items)) if dice.random() < 0.6]
    sources: list[int | None] = list(kept)
    for _ in range(dice.randint(0, 2)):
        sources.insert(dice.randint(0, len(sources)), None)
    new = [{"note": 1} if source is None else old["messages"][source] for source in sources]
    edits = list(edits_between(raw, old, {"messages": new}, sources={"messages": sources}))
    made = splice(raw, edits)
    assert same(json.loads(made), {"messages": new})
    if kept and kept != list(range(len(items))):
        assert all(edit.new.replace(b'{"note":1}', b"").strip(b",") == b"" for edit in edits)


def test_only_a_cut_text_differs() -> None:
    """Numbers, escapes, order, and unknown and repeated names around it stay as sent."""
    raw = (
        rb'{ "x":1.0,"big":12345678901234567890,"e":1e3, "s":"\u00e9\/", "x_unknown":{"b":1,"a":2},'
        rb'"messages":[{"role":"user","content":[{"type":"tool_result","content":"long text","tool_use_id":"t1"}]}],"x":2.50}'
    )
    old = json.loads(raw)
    new = json.loads(raw)
    new["messages"][0]["content"][0]["content"] = "short"
    assert splice(raw, edits_between(raw, old, new)) == raw.replace(b'"long text"', b'"short"')


def test_of_a_repeated_name_the_last_is_changed() -> None:
    """The last one is the one that readers use."""
    raw = b'{"a":1,"a":2}'
    assert splice(raw, edits_between(raw, {"a": 2}, {"a": 3})) == b'{"a":1,"a":3}'


def test_half_a_pair_is_written_as_an_escape() -> None:
    """UTF-8 has no bytes for half a surrogate pair."""
    assert splice(b'"a"', edits_between(b'"a"', "a", "\ud800")) == rb'"\ud800"'


def test_items_of_an_array_are_told_without_being_read() -> None:
    """They have the form that `edits_between` needs."""
    from penstock.text.json_slices import JsonReader

    assert list(JsonReader(b'[1, {"a": [2]} ,"x"]').items()) == [Slice(1, 2), Slice(4, 14), Slice(16, 19)]
