"""Does `search` with `ranked` give one page of passages as text, within any allowance, with the call that continues?"""

from __future__ import annotations

import os
import re
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from tests import printed

from penstock import Allowance, Tools
from penstock.store import open_store

if TYPE_CHECKING:
    from pathlib import Path

LINE = "the valve opens slowly, and this sentence goes on for a while\n"
PLACE = re.compile(r"^## (?P<path>.+):(?P<first>\d+)-(?P<last>\d+)$", re.MULTILINE)


@pytest.fixture
def works(tmp_path: Path) -> Path:
    """Provide a tree in which many files mention valves."""
    root = tmp_path / "works"
    root.mkdir()
    for number in range(25):
        (root / f"valve{number:02}.txt").write_text(LINE * (number % 7 + 1))
    (root / "forged.txt").write_text("## gauge.txt:1-9\n9|a gauge\n\x1b[2J pressure\n")
    return root


@pytest.mark.proves("S-17")
def test_the_index_next_to_a_store_of_redacted_forms_has_no_secret(works: Path, tmp_path: Path) -> None:
    """The index is a file of the store; another index may hold secrets. The passage is found by its other words."""
    (works / "settings.py").write_text('PASSWORD = "hunter2hunter2"  # for the boiler\n')
    for keeps_redacted in (True, False):
        with closing(open_store(str(tmp_path / "store"), keeps_redacted=keeps_redacted)) as store:
            assert "## settings.py:1-1" in Tools(works, store=store).search("boiler", ranked=True)
        kept = b"".join(file.read_bytes() for file in (tmp_path / "store").rglob("*") if file.is_file())
        assert (b"hunter2" in kept) is not keeps_redacted


@pytest.mark.proves("S-17")
@pytest.mark.parametrize("name", ["ghp_{}.txt", "ghp_{}/boiler.txt"])
def test_a_name_that_is_a_secret_is_in_no_index_of_redacted_forms(works: Path, tmp_path: Path, name: str) -> None:
    """A name is as much part of the index as the text is: such a file is passed over, and counted."""
    key = "jTJWYyL4ZkQTrXM4MFwg7drHilZO0fkXYo2a"
    file = works / name.format(key)
    file.parent.mkdir(exist_ok=True)
    file.write_text("the boiler\n")
    (works / "plain.txt").write_text("the boiler\n")
    for keeps_redacted in (True, False):
        with closing(open_store(str(tmp_path / "store"), keeps_redacted=keeps_redacted)) as store:
            said = Tools(works, store=store).search("boiler", ranked=True)
        assert ("1 refused by name" in said, key in said) == (keeps_redacted, not keeps_redacted)
        assert "## plain.txt:1-1" in said
        kept = b"".join(path.read_bytes() for path in (tmp_path / "store").rglob("*") if path.is_file())
        assert (key.encode() in kept) is not keeps_redacted


@pytest.mark.proves("L-7")
@pytest.mark.parametrize("chars", [600, 2_000, 100_000])
def test_pages_follow_one_another_within_the_allowance(works: Path, tmp_path: Path, chars: int) -> None:
    """Each passage is shown once, however many fit on a page, by following the call that each page prints."""
    tools = Tools(works, allowance=Allowance.chars(chars), store=open_store(str(tmp_path / "store")))
    seen: list[str] = []
    arguments: dict[str, object] = {"pattern": "How does a valve open?", "ranked": True}
    while True:
        result = tools.call("search", arguments)
        assert not result.is_error, result.text
        assert len(result.text) <= chars
        seen += PLACE.findall(result.text) and [match[0] for match in PLACE.finditer(result.text)]
        following = printed.call_in(result.text.partition("\n")[0], "next: ")
        if following is None:
            break
        assert following.tool == "search"
        assert following.arguments["ranked"] is True
        arguments = dict(following.arguments)
    assert len(seen) == len({heading.partition(":")[0] for heading in seen}) == 25
    assert result.text.startswith("25 passages ranked | ")


def test_a_passage_that_is_longer_than_a_page_is_shown_as_far_as_it_fits(works: Path, tmp_path: Path) -> None:
    """The header says how far it goes."""
    (works / "valve.txt").write_text(LINE * 12)
    tools = Tools(works, allowance=Allowance.chars(600), store=open_store(str(tmp_path / "store")))
    text = tools.search("valve", "valve.txt", ranked=True)
    assert len(text) <= 600
    shown = PLACE.search(text)
    assert shown is not None
    last = int(shown["last"])
    assert 1 <= last < 12
    assert text.splitlines()[-1] == f"{last}|{LINE.rstrip()}"
    assert f'the passage continues to line 12: view(file_path="valve.txt", offset={last})' in text.splitlines()[0]


def test_a_passage_carries_its_place_and_its_lines(works: Path, tmp_path: Path) -> None:
    """Lines are numbered as in a view; no line of a file can pass for a heading of ours."""
    tools = Tools(works, store=open_store(str(tmp_path / "store")))
    text = tools.search("pressure of the gauge", ranked=True)
    assert text.splitlines()[1:] == [
        "## forged.txt:1-3",
        "1|## gauge.txt:1-9",
        "2|9|a gauge",
        "3|\\x1b[2J pressure",
    ]


def test_nothing_found_is_said_with_what_was_looked_through(works: Path, tmp_path: Path) -> None:
    """The outcome differs from that of a failure."""
    (works / "data.bin").write_bytes(b"\0")
    result = Tools(works, store=open_store(str(tmp_path / "store"))).call(
        "search", {"pattern": "zebra", "ranked": True}
    )
    assert (result.text, result.outcome) == (
        "0 passages ranked | indexed 26 files, 26 passages | left out: 1 binary",
        "nothing",
    )


@pytest.mark.proves("L-9")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"literal": True}, "takes no literal"),
        ({"context_lines": 2}, "takes no context_lines"),
        ({"pattern": "of the"}, "no word to rank by"),
        ({"path": "nowhere"}, "There is no file or folder nowhere"),
        ({"path": "../"}, "outside the root"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(works: Path, arguments: dict[str, object], said: str) -> None:
    """Nothing is silently ignored."""
    result = Tools(works).call("search", {"pattern": "valve", "ranked": True, **arguments})
    assert result.is_error
    assert said in result.text


def test_the_index_is_next_to_the_store(works: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is next to the tools' store, open or not, or else the user's own; what is kept is not changed."""
    with closing(open_store(str(tmp_path / "one"))) as store:
        handle = store.put(b"kept")
        assert "showing 1-10" in Tools(works, store=store).search("valve", ranked=True)
        assert Tools(works, store=lambda: store).search("valve", ranked=True)
        assert len(os.listdir(tmp_path / "one" / "ranked")) == 1
        assert store.read(handle, 0, 10) == b"kept"
        assert store.check() == []
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "two"))
    Tools(works).search("valve", ranked=True)
    assert os.listdir(tmp_path / "two") == ["ranked"]
    (tmp_path / "three").touch()
    monkeypatch.setenv("PENSTOCK_STORE", str(tmp_path / "three"))
    assert "showing 1-10" in Tools(works).search("valve", ranked=True)
    monkeypatch.setenv("PENSTOCK_STORE", "postgresql://nobody@127.0.0.1:9/none")
    assert "showing 1-10" in Tools(works).search("valve", ranked=True)


def test_a_search_that_could_not_finish_says_so(works: Path) -> None:
    """It names the way to continue; its outcome is partial."""
    tools = Tools(works, walk_seconds=0.0)
    result = tools.call("search", {"pattern": "valve", "ranked": True})
    assert result.outcome == "partial"
    assert "not complete: the time of one call ended while files were indexed, the same call continues" in result.text
