"""Is foreign text inert: what is escaped, what is not, and do names come back?"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest

from penstock import Tools
from penstock.text import escape, notices

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.proves("L-10")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("\x00\x07\x7f", "\\x00\\x07\\x7f"),
        ("\x0b\x0c\x1c", "\\x0b\\x0c\\x1c"),
        ("\x85\x9b", "\\u{85}\\u{9b}"),
        ("a\u202eb\u2066c", "a\\u{202e}b\\u{2066}c"),
        ("\u200b\u200d\u2028\ufeff", "\\u{200b}\\u{200d}\\u{2028}\\u{feff}"),
        ("\U000e0049\U000e0101", "\\u{e0049}\\u{e0101}"),
        ("\u3164\u115f\u034f\u2065", "\\u{3164}\\u{115f}\\u{34f}\\u{2065}"),
        ("lone\rreturn", "lone\\x0dreturn"),
        ("\udcff", "\\xff"),
        ("\ud800", "\\u{d800}"),
    ],
)
def test_what_acts_or_hides_is_shown_as_an_escape(text: str, shown: str) -> None:
    """Controls, bidirectional and invisible characters are visible and counted, even those that Unicode calls printable."""
    result, count = escape.show(text)
    assert result == shown
    assert count == result.count("\\")
    assert escape.show("plain " + text) == ("plain " + shown, count)


@pytest.mark.parametrize("text", ["tab\there", "line\nline", "ü é 漢字 عربي עברית", "👍️ 🇩🇪", "a\\x1b", "\u00a0"])
def test_what_is_printable_stays_as_it_is(text: str) -> None:
    """Tabs, line ends, every script, emoji with their presentation, and backslashes are never changed (V-7)."""
    assert escape.show(text) == (text, 0)


def test_every_control_and_format_character_that_unicode_has_is_escaped_or_known_to_be_visible() -> None:
    """The list is complete: the rest of the categories Cc and Cf draws a visible mark."""
    left = {
        chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) in {"Cc", "Cf"} and escape.show(chr(c))[1] == 0
    }
    visible = {
        "\t",
        "\n",
        *map(chr, range(0x600, 0x606)),
        "\u06dd",
        "\u070f",
        "\u0890",
        "\u0891",
        "\u08e2",
        "\U000110bd",
        "\U000110cd",
    }
    egyptian = set(map(chr, range(0x13430, 0x13440)))
    assert left <= visible | egyptian


def test_crlf_is_a_line_end() -> None:
    """A carriage return before a line feed is not content (H11)."""
    assert escape.show("a\r\nb\r\r\n") == ("a\nb\\x0d\n", 1)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"a\nb", "a\\x0ab"),
        (b"tab\t", "tab\\x09"),
        (b"\xff\xfe", "\\xff\\xfe"),
        (b"back\\slash", "back\\x5cslash"),
        ("e\u202e".encode(), "e\\u{202e}"),
        (b"-rf $(id) %2e%2e", "-rf $(id) %2e%2e"),
        ("ü".encode(), "ü"),
    ],
)
def test_a_name_is_one_line_and_comes_back(name: bytes, shown: str) -> None:
    """The shown form of a name is inert, and gives the name when it is sent back (H13)."""
    assert escape.show_name(name) == shown
    assert escape.parse_name(shown) == name


def test_no_two_names_are_shown_alike() -> None:
    """A name that looks like an escape differs from the name that the escape is for."""
    assert escape.show_name(b"a\\x0ab") != escape.show_name(b"a\nb")


def test_an_echo_is_short_and_never_cuts_an_escape() -> None:
    """An error repeats at most 256 bytes of its input, with whole escapes only (G3)."""
    for name in ("x" * 300, "é" * 300, "\n" * 300, "ab\u202e" * 100, "x" * 253 + "\n", "x" * 254 + "\u202e"):
        shown = escape.clip(name)
        assert len(shown.encode()) <= 256 + len("…".encode())
        assert shown.endswith("…")
        assert escape.show_name(name).startswith(shown[:-1])
        assert escape.parse_name(shown[:-1]) == name.encode()[: len(escape.parse_name(shown[:-1]))]
    assert escape.clip("short") == "short"


def test_an_argument_that_is_already_inert_is_repeated_as_it_was_sent() -> None:
    """A printed call shows escapes that a model sent once, not twice."""
    assert escape.show_argument("a\\x0ab") == "a\\x0ab"
    assert escape.show_argument("a\nb") == "a\\x0ab"


@pytest.mark.proves("L-10")
@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("a\ufe00\ufe01b", r"a\u{fe00}\u{fe01}b"),
        ("\u2764\ufe0f\ufe0f", "\u2764\ufe0f\\u{fe0f}"),
        ("a\ufe0fb\ufe0e", r"a\u{fe0f}b\u{fe0e}"),
        ("x\U000e0100y\U000e01ef", r"x\u{e0100}y\u{e01ef}"),
        ("\u1820\u180b", "\u1820\\u{180b}"),
        ("a\u2800b", r"a\u{2800}b"),
    ],
)
def test_what_is_written_in_variation_selectors_is_shown_and_counted(hidden: str, shown: str, tmp_path: Path) -> None:
    """Sixteen selectors encode a byte: an instruction that nobody sees and a model reads."""
    text, count = escape.show(hidden)
    assert (text, count) == (shown, shown.count("\\"))
    (tmp_path / "a.txt").write_text(hidden + "\n")
    page = Tools(tmp_path).view("a.txt")
    assert f"| {notices.counted(count, 'character')} escaped" in page
    assert page.rstrip("\n").endswith(f"1|{shown}")


@pytest.mark.proves("L-10")
@pytest.mark.parametrize("text", ["\u2764\ufe0f", "1\ufe0f\u20e3", "\u2603\ufe0e", "\U0001f3f3\ufe0f", "\u00a9\ufe0f"])
def test_the_look_of_an_emoji_stays(text: str) -> None:
    """A character with two presentations, and the selector of one, is ordinary text."""
    assert escape.show(text) == (text, 0)
