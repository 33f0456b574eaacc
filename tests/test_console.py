"""Does the runner of documentation pages notice a wrong page?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.console import Reader, Typed, commands, matched

if TYPE_CHECKING:
    from pathlib import Path

HANDLE, OTHER = "uMGSGJq0P1YNHAjdzx1eT4", "NLDSGKRoDJDhQldeJEBr1H"


def test_a_command_has_the_lines_below_it() -> None:
    """A command's lines end at the next command; a backslash continues the command."""
    assert commands("$ one\na\nb\n$ two \\\n  more\n") == [Typed("one", ["a", "b"]), Typed("two \\\n  more", [])]


def test_names_are_learned_and_dots_are_any_text() -> None:
    """A handle may differ, and `…` matches any text."""
    typed = Typed("x", [f"kept as {HANDLE}, until …", "…", "end"])
    assert matched(typed, f"kept as {OTHER}, until then\n1\n2\nend\n") == {HANDLE: OTHER}


@pytest.mark.parametrize("printed", ["", "one\n", "one\ntwo\nthree\n", "one\ntoo\n"])
def test_what_differs_is_shown(printed: str) -> None:
    """Missing lines, extra lines and other words are differences."""
    with pytest.raises(AssertionError, match="is not what the page says"):
        matched(Typed("x", ["one", "two"]), printed)


def test_a_page_is_followed(tmp_path: Path) -> None:
    """Files are saved, later commands use the names from earlier ones, and a failing command is reported."""
    page = f"```py title=a.py\nprint(1)\n```\n```console\n$ echo {OTHER}\n{HANDLE}\n$ echo {HANDLE} | cut -c1-3\nNLD\n```\n"
    assert Reader(tmp_path).follow(page + "```sh\npython3 a.py\n```\n") == 3
    with pytest.raises(AssertionError, match="exit 4"):
        Reader(tmp_path).follow("```sh\nexit 4\n```\n")
