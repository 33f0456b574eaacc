"""Are values found in place, whatever JSON is around them?"""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.relay.traffic import objects_json, texts_json, values_json

from penstock.text import json_slices
from penstock.text.json_slices import Edit, JsonReader, NotJson, Object, Slice, pieces_of, read, splice, without

ALL = frozenset({"a", "id", "result", "method", "content", "tools", "text", "", "jsonrpc"})


@given(values_json, st.sampled_from([b"", b" ", b",", b"]", b'"x"']))
def test_a_value_ends_where_it_ends(value: bytes, behind: bytes) -> None:
    """This holds whether or not the value is parsed, and whatever follows; a scalar needs a delimiter after it."""
    reader = JsonReader(value + b" " + behind)
    assert reader.skip() == Slice(0, len(value))
    inside = JsonReader(value + b" " + behind, ALL)
    inside.value()
    assert inside.at == len(value)


@given(st.lists(st.sampled_from([b'\\"', b"\\\\", b"\\n", b"a", b"]", b"{"])), st.integers(0, 2))
@example([b'\\"', b"]"], 1)
@example([b"\\\\"], 1)
@example([b"\\\\", b'\\"', b"]"], 1)
def test_a_text_ends_at_the_first_quote_that_is_not_escaped(parts: list[bytes], levels: int) -> None:
    """Any row of escapes, and brackets that mean nothing, at any depth, even if the text may hold only a few quotes in one go."""
    raw = b"[" * levels + b'"' + b"".join(parts) + b'"' + b"]" * levels
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_slices, "_QUOTES", len(parts) % 3)
        assert JsonReader(raw + b',"').skip() == Slice(0, len(raw))


@given(objects_json)
def test_the_value_of_a_name_is_what_python_reads(raw: bytes) -> None:
    """Of repeated names the last one counts."""
    value, expected = read(raw, frozenset()), json.loads(raw)
    assert isinstance(value, Object)
    assert {member.name for member in value.members} == expected.keys()
    for name in expected:
        where = value.get(name)
        assert where is not None
        assert json.dumps(json.loads(raw[where.start : where.end])) == json.dumps(expected[name])


@given(texts_json, st.integers(1, 9))
@example(b'"\\\\\\\\uD83D\\\\uDE00\\\\"', 3)
@example(b'"' + 9 * b"\\\\" + b"\\ud83d\\ude00" + b'"', 5)
def test_a_text_in_pieces_is_the_text(raw: bytes, piece_bytes: int) -> None:
    """No escape, pair or character is split. A piece is no shorter than its longest escape."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_slices, "_PIECE_BYTES", piece_bytes + 12)
        pieces = list(pieces_of(raw, Slice(0, len(raw))))
    assert b"".join(pieces) == json.loads(raw).encode("utf-8", "surrogatepass")


@given(objects_json)
def test_what_is_taken_out_is_gone_and_the_rest_is_as_it_was(raw: bytes) -> None:
    """The commas that belong to it are removed too, wherever it is and however often it occurs."""
    value = read(raw, frozenset())
    assert isinstance(value, Object)
    left = splice(raw, without(value.members, "id"))
    pairs = json.loads(raw, object_pairs_hook=list)
    assert json.loads(left, object_pairs_hook=list) == [pair for pair in pairs if pair[0] != "id"]
    kept = [member for member in value.members if member.name != "id"]
    assert all(raw[member.at : member.value.end] in left for member in kept)


@given(
    st.lists(st.tuples(st.binary(max_size=9), st.binary(max_size=3), st.binary(max_size=3)), max_size=5), st.binary()
)
def test_a_splice_changes_nothing_else(parts: list[tuple[bytes, bytes, bytes]], end: bytes) -> None:
    """Text between edits stays in order, whatever replaces the other text."""
    raw, expected, edits = b"", b"", []
    for kept, old, new in parts:
        raw, expected = raw + kept + old, expected + kept + new
        edits.append(Edit(len(raw) - len(old), len(raw), new))
    if len({edit.start for edit in edits}) == len(edits):  # the caller decides the order of edits at one place
        assert splice(raw + end, reversed(edits)) == expected + end


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"[", b'"', b"{]", b"[}", b'{"a"}', b'{"a":}', b'{"a":1', b'{"a":1}}', b"{1:2}", b'["a" "b"', b"}", b",",
     b'{"a":"\\', b'[{"a":[1,2}]'],
)  # fmt: skip
def test_what_is_no_value_is_refused(raw: bytes) -> None:
    """The error is `NotJson`, wherever the value breaks off."""
    with pytest.raises(NotJson):
        read(raw, ALL)


def test_deep_nesting_takes_no_stack_and_no_time() -> None:
    """A million brackets are skipped, and names that are followed too deep are refused."""
    deep = b"[" * 500_000 + b"]" * 500_000
    assert JsonReader(deep).skip() == Slice(0, len(deep))
    with pytest.raises(NotJson, match="deep"):
        read(b'{"result":' * 100_000 + b"1" + b"}" * 100_000, ALL)


@pytest.mark.parametrize("unit", [b'\\"', b"[],", b'{"a":1},', b'"ab",', b"{[", b'[["', b"\\\\"])
def test_hostile_values_are_passed_over_in_linear_time(unit: bytes) -> None:
    """Twice the size takes about twice the time, whatever the content."""
    import time

    def seconds(count: int) -> float:
        raw = (b'["' if unit.startswith(b"\\") else b"[") + unit * count
        start = time.process_time()
        for _ in range(3):
            try:
                JsonReader(raw).skip()
            except NotJson:
                continue
        return time.process_time() - start

    assert seconds(80_000) < 12 * seconds(20_000) + 0.02


@pytest.mark.parametrize("around", ["%s", '{"text": %s}', '[[{"a": {"b": %s}}]]'])
def test_memory_does_not_grow_with_the_escapes_of_a_text(around: str) -> None:
    """A log on one line is a text with as many escapes as it has lines and quotes."""
    raw = (around % ('"' + r"a \"line\"\n" * 100_000 + '"')).encode()
    tracemalloc.start()
    try:
        whole = JsonReader(raw).skip()
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
    assert whole == Slice(0, len(raw))


@pytest.mark.parametrize("part", ['{"id": 1, "tags": ["a", "b"]}', '"a"'])
def test_memory_does_not_grow_with_the_parts_of_what_is_passed_over(part: str) -> None:
    """A value with many parts at any depth needs only a few megabytes, whatever its size."""
    for around in ("%s", '{"rows": %s}', '[{"a": {"b": %s}}]'):
        raw = (around % f"[{part}{f', {part}' * 60_000}]").encode()
        tracemalloc.start()
        try:
            whole = JsonReader(raw).skip()
            assert tracemalloc.get_traced_memory()[1] < 4_000_000
        finally:
            tracemalloc.stop()
        assert whole == Slice(0, len(raw))
        with pytest.raises(NotJson, match="cut short"):
            JsonReader(raw[: -len(around) - 3]).skip()
