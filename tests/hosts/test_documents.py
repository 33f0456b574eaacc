"""Is each edit of a configuration verified before it is kept, independently of others (H-3)?"""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.hosts import documents, jsonc, nested_values, toml_text
from penstock.hosts.documents import CannotEditError, Document
from tests.growth import BOUND, growth
from tests.hosts import configurations

pytestmark = pytest.mark.proves("H-3")
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@pytest.mark.parametrize("verb", ["put", "replace", "remove"])
@pytest.mark.parametrize("form", ["json", "toml"])
def test_an_edit_that_changes_anything_else_is_refused(monkeypatch: pytest.MonkeyPatch, form: str, verb: str) -> None:
    """Whatever is wrong with an editor, the text stays as it was."""
    text = '{"a": 1, "b": {"c": "x"}}' if form == "json" else "a = 1\n[b]\nc = 'x'\n"
    wrong = text.replace("1", "2")
    monkeypatch.setattr(jsonc if form == "json" else toml_text, verb, lambda *_: wrong)
    document = Document(text, "json" if form == "json" else "toml")
    with pytest.raises(CannotEditError, match="cannot be edited safely"):
        document.remove(("b", "c")) if verb == "remove" else getattr(document, verb)(("b", "c"), "y")
    assert document.text == text


@given(VALUES)
def test_json_says_what_the_standard_reader_reads(value: object) -> None:
    """This holds for all JSON, whatever is in it."""
    for text in (json.dumps(value), json.dumps(value, indent=3, ensure_ascii=False)):
        assert read(jsonc.to_value(jsonc.parse(text))) == json.loads(text)


def read(value: object) -> object:
    """Return a value with its numbers as numbers."""
    match value:
        case jsonc.Number(text):
            return json.loads(text)
        case dict():
            return {key: read(inner) for key, inner in value.items()}
        case list():
            return [read(inner) for inner in value]
        case _:
            return value


@given(st.text(alphabet='{}[]",:/*\\ \n\ttruefalsn01-.eE+x', max_size=30))
def test_invalid_json_is_refused_with_its_place(text: str) -> None:
    """Only comments and trailing commas are read beyond the standard reader; no other error is raised."""
    said = "line "
    try:
        jsonc.parse(text)
        is_read = True
    except jsonc.JsonSyntaxError as error:
        said, is_read = str(error), False
    assert said.startswith("line ")
    try:
        json.loads(text)
    except ValueError:
        assert not is_read or "//" in text or "/*" in text or "," in text or not text.strip()
    else:
        assert is_read


@given(st.dictionaries(st.text(min_size=1), st.text() | st.booleans() | st.lists(st.text()), min_size=1))
def test_toml_that_is_written_is_read_again(table: dict[str, object]) -> None:
    """Keys and strings may have any characters."""
    assert tomllib.loads(toml_text.put("", ("a b", "c"), table)) == {"a b": {"c": table}}


@pytest.mark.parametrize("text", ['{"a": 1e400, "b": {}}', '{"a": 1.0e2}', '{"a": 123456789012345678901234567890.5}'])
def test_a_number_is_never_written_in_another_way(text: str) -> None:
    """An object that holds one is not replaced as a whole; one next to it can still be edited."""
    document = Document(f'{{"o": {text}}}', "json")
    with pytest.raises(CannotEditError):
        document.replace(("o",), {**document.get(("o",)), "c": "x"})
    document.put(("o", "c"), "x")
    assert document.text.startswith(f'{{"o": {text[:-1]}')


def test_a_number_is_not_a_string() -> None:
    """`1` in place of `"1"` is a difference."""
    assert Document('{"a": 1}', "json").value != Document('{"a": "1"}', "json").value


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{}", '{\n  "k": 1\n}'),
        ("{ }\n", '{\n  "k": 1\n }\n'),
        ("{\n}\n", '{\n  "k": 1\n}\n'),
        ("", '{\n  "k": 1\n}\n'),
        ("// only\n", '// only\n{\n  "k": 1\n}\n'),
        ('{"a":1}', '{"a":1,"k":1}'),
        ('{"a": 1}', '{"a": 1, "k": 1}'),
        ('{"a": 1,}', '{"a": 1, "k": 1,}'),
        ('{\n    "a": 1 // x\n}', '{\n    "a": 1, // x\n    "k": 1\n}'),
        ('{\r\n\t"a": 1\r\n}', '{\r\n\t"a": 1,\r\n\t"k": 1\r\n}'),
        ('{\n  "a": 1, // x\n  // y\n}', '{\n  "a": 1, // x\n  "k": 1,\n  // y\n}'),
        ("{\n  // none\n}", '{\n  // none\n  "k": 1\n}'),
        ("{/* none */}", '{/* none */ "k": 1}'),
    ],
)
def test_what_is_added_looks_like_what_is_there(text: str, after: str) -> None:
    """Indentation, line ends, commas and comments match."""
    document = Document(text, "json")
    document.put(("k",), 1)
    assert document.text == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ('{\n  "a": 1,\n  "k": 1\n}', '{\n  "a": 1\n}'),
        ('{\n  "k": 1, // x\n  "a": 1\n}', '{\n  // x\n  "a": 1\n}'),
        (
            '{\n  // of k\n  "k": {"x": 1, /* within */ "y": 2},\n  // of a\n  "a": 1\n}',
            '{\n  // of k\n  // of a\n  "a": 1\n}',
        ),
        ('{ // x\n "k": 1}', "{ // x\n}"),
        ('{"a": 1, "k": 1, "b": 2}', '{"a": 1, "b": 2}'),
        ('{"k": 0, "a": 1, "k": 1}', '{"k": 0, "a": 1}'),
        ('{"k": 1 /* x */, "a": 1}', '{/* x */ "a": 1}'),
        ('{\n  "a": 1,\n  "k": 1 // x\n  , "b": 1\n}', '{\n  "a": 1,\n  // x\n   "b": 1\n}'),
        ('{\n  "a": 1,\n  "k": 1 /* x */,\n}', '{\n  "a": 1,\n  /* x */\n}'),
        ('{\n  "k": 1\n  ,\n  "a": 1\n}', '{\n  "a": 1\n}'),
    ],
)
def test_what_is_removed_leaves_what_is_next_to_it(text: str, after: str) -> None:
    """Its comma and line are removed; comments around it stay. Of a duplicate key, the one that counts is removed."""
    assert jsonc.remove(text, ("k",)) == after


@pytest.mark.parametrize("text", ['{"a": {"x": "\\udfff"}}', '{\n  "a": {\n    "x": "\\udfff"\n  }\n}'])
def test_half_a_pair_stays_the_escape_that_it_was(text: str) -> None:
    """UTF-8 cannot hold it: a file with one once caused an error of ours. Letters stay letters."""
    document = Document(text, "json")
    document.replace(("a",), {"x": "é\udfff"})
    document.put(("\ud800",), 1)
    assert '"é\\udfff"' in document.text
    assert '"\\ud800": 1' in document.text
    document.text.encode()


def test_nan_is_equal_to_itself() -> None:
    """Python's NaN is not: a Codex configuration with one could not be edited."""
    text = "n = nan\nl = [-nan, inf]\n"
    document = Document(text, "toml")
    document.put(("m",), {"k": "v"})
    assert document.text.startswith(text)
    document.remove(("m",))
    assert document.text == text


@given(st.integers(0, 199), st.data())
def test_many_objects_are_edited_as_one_after_another(seed: int, data: st.DataObject) -> None:
    """For any content, reading it once gives the text that reading it before each edit gives."""
    text = one_by_one = configurations.json_text(seed)
    value: Any = Document(text, "json").value
    objects = {(key,): inner for key, inner in value.items() if isinstance(inner, dict)}
    edits: dict[nested_values.Path, list[nested_values.MemberEdit]] = {}
    for path, inner in objects.items():
        gone = data.draw(st.sets(st.sampled_from([*inner]))) if inner else set()
        changed = data.draw(st.sets(st.sampled_from([*inner]))) - gone if inner else set()
        added = data.draw(st.dictionaries(st.sampled_from(["one", "two"]), st.just({"a": [1, {"b": "c"}]})))
        steps = [nested_values.MemberEdit("replace", key, data.draw(SCALARS)) for key in changed]
        steps += [nested_values.MemberEdit("put", key, new) for key, new in added.items()]
        steps += [nested_values.MemberEdit("remove", key) for key in gone]
        edits[path] = steps = data.draw(st.permutations(steps))
        for verb, key, new in steps:
            write = getattr(jsonc, verb)
            one_by_one = write(one_by_one, (*path, key), *(() if verb == "remove" else (new,)))
    assert jsonc.edit_objects(text, edits) == one_by_one


def test_an_object_that_cannot_be_edited_stays_and_the_others_do_not() -> None:
    """The one of a hundred that no edit fits is found and named."""
    value = {f"s{at}": {"url": "u", "keep": at} for at in range(100)}
    text = json.dumps({"s": value}, indent=2).replace('"keep": 61', '"keep": 61e0')
    document = Document(text, "json")
    # A number not written as Python writes it cannot be moved to another place.
    new: dict[nested_values.Path, dict[str, Any]]
    new = {("s", name): {"command": name, "moved": entry["keep"]} for name, entry in document.value["s"].items()}
    failed = document.rewrite(new)
    assert (list(failed), "61e0 cannot be written again" in failed["s", "s61"]) == ([("s", "s61")], True)
    assert document.value["s"]["s61"] == {"url": "u", "keep": jsonc.Number("61e0")}
    assert document.value["s"]["s62"] == {"command": "s62", "moved": jsonc.Number("62")}


def test_an_inline_table_is_said_to_be_one() -> None:
    """The file can be read, and the error names what would work."""
    text = 'm = { a = { command = "x" } }\n'
    document = Document(text, "toml")
    with pytest.raises(CannotEditError, match=r"m is an inline table, and .* make it a table, \[m\], or"):
        document.put(("m", "x"), {"k": "v"})
    assert document.text == text
    document = Document('[m]\na = { command = "x" }\n', "toml")
    document.put(("m", "x"), {"k": "v"})
    assert document.value["m"]["x"] == {"k": "v"}


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", '[m.x]\nk = "v"\n'),
        ("a = 1", 'a = 1\n\n[m.x]\nk = "v"\n'),
        ("a = 1\n", 'a = 1\n\n[m.x]\nk = "v"\n'),
        ("a = 1\r\n", 'a = 1\r\n\r\n[m.x]\r\nk = "v"\r\n'),
        ("[b]\nc = 1 # why", '[b]\nc = 1 # why\n\n[m.x]\nk = "v"\n'),
    ],
)
def test_a_table_begins_after_a_blank_line(text: str, after: str) -> None:
    """It is removed with the blank line; otherwise only a missing final line end may differ."""
    document = Document(text, "toml")
    document.put(("m", "x"), {"k": "v"})
    assert document.text == after
    document.remove(("m", "x"))
    assert document.text in {text, f"{text}\n"}


FENCED = "```html\n<!-- penstock:begin -->\nas an example\n<!-- penstock:end -->\n```\n"


@pytest.mark.parametrize(
    "theirs",
    [
        FENCED,
        FENCED.replace("\n", "\r\n"),
        FENCED.replace("```", "~~~~"),
        "".join(("````md\n", FENCED, "````\n")),
        f"A ```word``` first.\n\n{FENCED}",
        "Some words.\n\n```\na block without an end\n",
        "",
    ],
)
def test_our_marks_in_a_code_block_are_its_authors(theirs: str) -> None:
    """Documentation that shows our marks keeps them; ours are added and removed after it."""
    document = Document(theirs, "markdown")
    assert document.block is None
    document.remove_block()
    assert document.text == theirs
    for lines in ("one\n", "another\n"):
        document.put_block(lines)
        assert lines.strip() in str(document.block)
        assert document.text.startswith(theirs)
    document.remove_block()
    assert document.text == theirs


@pytest.mark.parametrize("line", [f"{documents.BEGIN}\n", "```a\n", "~~~\n```a\n"])
def test_marks_and_fences_that_do_not_end_take_linear_time(line: str) -> None:
    """3,000 marks without an end once took two seconds."""
    assert growth(lambda size: lambda: Document(line * size, "markdown").block, 1_000) < BOUND


def test_a_block_right_after_a_fence_is_removed_with_its_line_end() -> None:
    """A carriage return was once left over."""
    document = Document(f"```\r\n```\r\n{documents.BEGIN}\r\nx\r\n{documents.END}\r\n", "markdown")
    document.remove_block()
    assert document.text == "```\r\n```"
