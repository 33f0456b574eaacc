"""The law of shown text: it is inert, whatever it was, and names can be recovered from their shown form."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import printed

from penstock.text import escape
from penstock.text.calls import Call, CommandLine, Function

pytestmark = pytest.mark.proves("L-10")

_ACTS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\u2028\u2029\ufeff\U000e0000-\U000e01ef\ud800-\udfff]"
)
_ODD = st.sampled_from("\x1b\r\n\t\0nrtx\x85\u202e\u200b\u3164\ufeff\\x\u034f\U000e0041\udcff")
_TEXT = st.lists(st.one_of(st.text(max_size=8), st.text(alphabet=st.characters(), max_size=4), _ODD)).map("".join)
_ASCII = st.one_of(  # escaped in a different way from the rest
    st.text(st.characters(max_codepoint=0x7F), max_size=40), st.text(st.sampled_from("\t\n\r\\nrtx\0\x1b"), max_size=12)
)
_NAMES = st.one_of(
    st.binary(min_size=1, max_size=40), _TEXT.map(lambda text: text.encode("utf-8", "ignore")).filter(bool)
)


@given(_TEXT)
def test_no_character_that_acts_or_hides_is_ever_shown(text: str) -> None:
    """The shown form has no such character, and showing it again changes nothing."""
    shown, count = escape.show(text)
    assert not _ACTS.search(shown)
    assert escape.show(shown) == (shown, 0)
    assert (shown == text.replace("\r\n", "\n")) == (count == 0)


@given(st.one_of(_TEXT, _ASCII), st.one_of(_TEXT, _ASCII))
def test_a_text_is_shown_line_by_line(head: str, tail: str) -> None:
    """The first lines of a text are shown the same with or without the rest, so they need not be shown again."""
    whole = escape.show_text(f"{head}\n{tail}")
    assert whole == escape.show_text(head + "\n") + escape.show_text(tail)
    assert whole.count("\n") == head.count("\n") + tail.count("\n") + 1


@given(st.one_of(_TEXT, _ASCII))
def test_each_character_is_escaped_by_itself(text: str) -> None:
    """Neighbours do not change how a character is escaped, except a line feed after a carriage return."""
    alone = "".join(escape.show_text(character) for character in text.replace("\r\n", "\n"))
    assert escape.show(text) == (alone, sum(escape.show(c)[1] for c in text.replace("\r\n", "\n")))


@given(_NAMES)
def test_a_shown_name_is_the_name(name: bytes) -> None:
    """`parse_name(show_name(n)) == n`, on one line."""
    shown = escape.show_name(name)
    assert "\n" not in shown
    assert not _ACTS.search(shown)
    assert escape.parse_name(shown) == name


@given(st.text(max_size=600), st.integers(1, 300))
def test_an_echo_is_within_its_bytes(text: str, limit: int) -> None:
    """An echo has at most the limit and one ellipsis, whatever the text."""
    shown = escape.clip(text, limit)
    assert len(shown.encode()) <= limit + len("…".encode())
    assert not _ACTS.search(shown)


_VALUES = st.one_of(st.integers(0, 2**63), st.booleans(), _NAMES.map(escape.show_name))


@given(st.dictionaries(st.sampled_from(["path", "offset", "literal", "glob"]), _VALUES, max_size=4))
def test_a_printed_call_is_the_call(arguments: dict[str, str | int | bool]) -> None:
    """Parsing a printed call gives the same call, and it is one inert line."""
    call = Call("search", arguments)
    written = Function().write(call)
    assert "\n" not in written
    assert not _ACTS.search(written)
    assert printed.parse(written + " | version X) | next: view()") == call


@given(st.lists(_NAMES.map(escape.show_name), min_size=1, max_size=2), st.integers(0, 9))
def test_a_printed_command_is_the_command(names: list[str], offset: int) -> None:
    """A shell reads a printed command's words as intended: no name becomes an option or a command."""
    import shlex

    call = Call("search", dict(zip(("pattern", "path"), names, strict=False)) | {"offset": offset})
    words = shlex.split(CommandLine(root="a b").write(call))
    assert words[:2] == ["penstock", "search"]
    rest = words[2:]
    if any(name.startswith("-") for name in names):
        assert rest[rest.index("--") + 1 :] == names
    else:
        assert rest[: len(names)] == names
    assert rest[rest.index("--offset") + 1] == str(offset)
    assert rest[rest.index("--root") + 1] == "a b"
