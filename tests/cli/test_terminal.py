"""Does a person at a terminal get rich output, and a script plain text from the same commands?"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from itertools import cycle
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.screens import on_terminal, plain
from tests.forks import warm_penstock
from tests.growth import BOUND, growth

from penstock.cli import terminal
from penstock.cli.markdown import MarkdownWriter
from penstock.models import say
from penstock.store import open_store
from penstock.testing import LoopbackProvider
from penstock.text import escape

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ANSWER = """# Found

It is **8443**, in `List<T>` and a<T>b.
A second line.

- one

  still one
- two

```python
def f():

    return __doc__

x = f()
```

ports.ini:2: port = **8443**   __init__ <b>
"""


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def written(*pieces: str) -> str:
    """Return what a person sees of an answer in these pieces, on a terminal of 60 columns with colour."""
    screen = Screen()
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("NO_COLOR", raising=False)
        patch.setenv("TERM", "xterm-256color")
        patch.setenv("COLUMNS", "60")
        patch.setattr(sys, "stdout", screen)
        writer = MarkdownWriter()
        for piece in pieces:
            writer.write(piece)
        writer.finish()
    return screen.getvalue()


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Make a store with artifacts whose names are long and hostile."""
    store = open_store(str(tmp_path / "store"))
    store.put(b"line\n" * 7, name="make [bold]all[/bold] :smile: " + "long " * 12)
    store.put(b"other\n", name="log")
    store.close()
    return tmp_path


def where(folder: Path) -> dict[str, str]:
    return {"PENSTOCK_STORE": str(folder / "store")}


def test_a_table_is_drawn_for_the_width_of_the_terminal(kept: Path) -> None:
    """It has a header, fits any width, keeps every letter, and takes no text for markup."""
    letters: set[str] = set()
    for columns in (60, 80, 200):
        status, drawn = on_terminal(
            (*warm_penstock(), "store", "list"), cwd=kept, columns=columns, environment=where(kept)
        )
        lines = plain(drawn).splitlines()
        assert (status, lines[0]) == (0, "2 artifacts")
        assert re.match(r"handle\s+size\s+lines\s+kept\s+name", lines[1])
        assert max(map(len, lines)) <= columns
        assert len(re.findall(r"^\w{22} ", "\n".join(lines), re.MULTILINE)) == 2, "a handle can be copied"
        letters.add("".join(sorted(plain(drawn).replace("─", ""))).strip())
    assert len(letters) == 1
    assert "make [bold]all[/bold] :smile:" in plain(drawn)
    assert "\x1b[1m" in drawn


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_can_be_switched_off(kept: Path, environment: dict[str, str]) -> None:
    """NO_COLOR leaves the table without colours; a dumb terminal gets the output of a pipe."""
    drawn = on_terminal((*warm_penstock(), "store", "list"), cwd=kept, environment=where(kept) | environment)[1]
    assert "\x1b" not in drawn
    assert ("handle" in drawn) == ("NO_COLOR" in environment)


@pytest.mark.parametrize("command", [("store", "list"), ("sessions",), ("doctor",), ("stats",), ("view", "a.txt")])
def test_where_nobody_looks_rich_is_not_even_loaded(kept: Path, command: tuple[str, ...]) -> None:
    """A pipe gets plain text: no escapes, no frame, and no time spent on drawing."""
    (kept / "a.txt").write_text("text\n")
    code = "import sys; from penstock.cli import main; main(sys.argv[1:]); assert 'rich' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=kept,
        env=os.environ | where(kept) | {"FORCE_COLOR": "1", "TERM": "xterm"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\x1b" not in done.stdout + done.stderr
    assert "─" not in done.stdout


def test_plain_rows_are_what_scripts_have_always_read(kept: Path) -> None:
    """Columns are two blanks apart, numbers are right-aligned, and there is no header."""
    command = [*warm_penstock(), "store", "list"]
    done = subprocess.run(command, cwd=kept, env=os.environ | where(kept), capture_output=True, text=True, check=True)
    head, first, second = done.stdout.splitlines()
    assert head == "2 artifacts"
    assert re.fullmatch(r"\w{22}             6 bytes          1 lines  until \S+Z  log", first)
    assert re.match(r"\w{22}            35 bytes          7 lines  until \S+Z  make \[bold\]", second)


def test_a_table_has_numbers_to_the_right_and_is_nothing_without_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column of numbers is recognised by all its cells; a foreign cell cannot start a new row."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    rows = [("a\nb", 7, "2-5", "404 not found"), ("c", 1024, "10-12", "7 of 9")]
    assert terminal.render_table(("word", "number", "range", "text"), rows).splitlines() == [
        "word    number  range  text",
        "a\\x0ab       7    2-5  404 not found",
        "c         1024  10-12  7 of 9",
    ]
    assert terminal.render_table(("word",), []) == ""
    inert = escape.show_name("a\x1bb\\c")  # escaped already: escaping it again would give another name
    assert terminal.render_table(("word",), [(inert,)]).splitlines()[1] == inert


def test_markdown_is_drawn_without_losing_a_letter() -> None:
    """Bold is bold, code and quoted lines stay as they are, `<T>` is text, and a line end stays one."""
    drawn = written(ANSWER)
    lines = [line.rstrip() for line in plain(drawn).splitlines()]
    assert "\x1b[1m8443\x1b[0m" in drawn
    assert "It is 8443, in List<T> and a<T>b." in lines
    assert lines[lines.index("It is 8443, in List<T> and a<T>b.") + 1] == "A second line."
    assert "   still one" in lines
    assert "     return __doc__" in lines
    assert " x = f()" in lines
    assert "```" not in drawn
    assert "ports.ini:2: port = **8443**   __init__ <b>" in lines
    assert max(map(len, lines)) <= 60


@given(st.lists(st.integers(1, 40), min_size=1))
def test_an_answer_looks_the_same_in_whatever_pieces_it_comes(sizes: list[int]) -> None:
    """Blocks are found in the text, however it arrives."""
    pieces: list[str] = []
    for size in cycle(sizes):
        at = sum(map(len, pieces))
        if at == len(ANSWER):
            break
        pieces.append(ANSWER[at : at + size])
    assert written(*pieces) == written(ANSWER)


def test_a_program_ends_where_its_own_fence_does() -> None:
    """A page of Markdown shown in a fence has fences and blank lines of its own."""
    page = "```sh\nmake\n\n```\n\n~~~\nit\n\nends\n~~~"
    lines = [line.strip() for line in plain(written(f"````\n{page}\n````\n\nDone.")).splitlines()]
    assert page in "\n".join(lines)


def test_a_long_program_costs_no_more_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model writes a few letters at a time, and they must not cause everything to be parsed again."""
    monkeypatch.setattr(MarkdownWriter, "_block", lambda *_: None)

    def work(functions: int) -> Callable[[], object]:
        text = "```python\n" + "def f(x):\n    return x\n\n" * functions + "```\n"
        pieces = [text[at : at + 8] for at in range(0, len(text), 8)]

        def write() -> None:
            writer = MarkdownWriter()
            for piece in pieces:
                writer.write(piece)

        return write

    assert growth(work, 100) < BOUND


@given(st.text(st.sampled_from("ab<>/&;x1.,?!'\" \n"), max_size=200))
def test_no_word_of_an_answer_is_lost(text: str) -> None:
    """Text that looks like HTML, an entity or a link is kept like other text; only blanks may differ."""
    words = re.findall(r"[ab<>/&;x1?!]+", re.sub(r"^[ \d.>]*", "", text, flags=re.MULTILINE))
    drawn = re.sub(r"\s", "", plain(written(text)))
    at = 0
    for word in words:
        at = drawn.find(word, at)
        assert at >= 0, (word, drawn)
        at += len(word)


def test_a_model_answers_in_markdown_on_a_terminal_and_as_it_wrote_in_a_pipe(tmp_path: Path) -> None:
    """A whole run gives blocks on a screen, and exact bytes in a file."""
    (tmp_path / "ports.ini").write_text("[server]\nport = 8443\n")
    with LoopbackProvider("openai-chat", 32_000, policy=lambda _request: say(ANSWER)) as provider:
        command = (*warm_penstock(), "run", "Which port?", "--model", "openai-chat:x", "--base-url", provider.base_url)
        environment = where(tmp_path) | {"OPENAI_API_KEY": "none"}
        status, drawn = on_terminal(command, cwd=tmp_path, columns=60, streams=("stdout",), environment=environment)
        piped = subprocess.run(
            command, cwd=tmp_path, env=os.environ | environment, capture_output=True, text=True, check=True
        )
    assert status == 0
    assert "\x1b[1m8443\x1b[0m" in drawn
    assert "ports.ini:2: port = **8443**   __init__ <b>" in plain(drawn)
    assert "**" not in plain(drawn).replace("port = **8443**", "")
    assert piped.stdout.startswith(ANSWER.rstrip("\n"))


def test_the_local_model_is_shown_as_it_wrote(tmp_path: Path) -> None:
    """Its answers are lines of files, whose blanks and stars belong to the files."""
    (tmp_path / "ports.ini").write_text("[server]\nport = 8443  # *the*   port\n")
    command = (*warm_penstock(), "run", "Where is port?")
    drawn = on_terminal(command, cwd=tmp_path, streams=("stdout",), environment=where(tmp_path))[1]
    assert "port = 8443  # *the*   port   (ports.ini:2)" in drawn
