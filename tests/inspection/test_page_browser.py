"""Do the pages of stories work in a real browser: by keyboard, by pointer, in four shapes, without scripts or requests?

`python -m tests.inspection.test_page_browser` takes the pictures for the docs, of the session of `sample`.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from penstock.inspection import drawing, words
from penstock.inspection.page import OverviewRow, overview_page, row_of, story_page
from penstock.inspection.story import KINDS, Story, Subject
from tests.browser import path_of_chromium, python_of_playwright
from tests.inspection.reading import figure
from tests.inspection.sample import sample
from tests.inspection.strategies import HOSTILE
from tests.inspection.test_page import SUBJECT, eventful, turn
from tests.testing.conftest import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = [pytest.mark.proves("X-2"), pytest.mark.timeout(300)]  # the first builds an environment
PICTURES = [REPOSITORY / "docs" / "pictures" / f"story-{scheme}.png" for scheme in ("light", "dark")]
TURNS = 5_000
LOUD = f"</script><script>window.acted = 1</script><img src=x onerror='window.acted = 2'>{''.join(HOSTILE)}"


def large() -> Story:
    """Return the promised number of turns, of all kinds, whose sizes differ at every turn; the 2,500th is the fullest."""
    random = Random(5)
    sizes = [{kind: random.randint(1_000, 17_000) for kind in KINDS} for _ in range(TURNS)]
    sizes[2_499]["results"] = 190_000
    return Story(turns=tuple(turn(at, **kinds) for at, kinds in enumerate(sizes, 1)), window_tokens=200_000)


def pages(folder: Path) -> dict[str, Story]:
    """Write the pages to check to a folder, and return the stories of some of them."""
    subject, told = sample(folder)
    hostile = Subject(LOUD, LOUD, LOUD, LOUD, LOUD, LOUD)
    rows = [row_of(subject, told), row_of(SUBJECT, eventful()), OverviewRow(Subject("codex", "c"), None, None, "empty")]
    stories = {"story": told, "hostile": eventful(LOUD, LOUD), "large": large()}
    written = {
        "story": story_page(subject, told),
        "hostile": story_page(hostile, stories["hostile"]),
        "large": story_page(SUBJECT, stories["large"]),
        "overview": overview_page(rows),
        "hostile-overview": overview_page([row_of(hostile, stories["hostile"])] * 3),
    }
    for name, text in written.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return stories


def driven(folder: Path, *pictures: str) -> tuple[dict[str, Any], dict[str, Story]]:
    """Return what the browser saw, and the stories of what it was shown."""
    stories = pages(folder)
    command = [python_of_playwright(), str(Path(__file__).with_name("drive_page.py")), path_of_chromium(), str(folder)]
    done = subprocess.run([*command, *pictures], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), stories


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Story]]:
    """Return what the browser saw: it runs once for all tests of this file."""
    return driven(tmp_path_factory.mktemp("stories"))


Shown = tuple[dict[str, Any], dict[str, Story]]


def shows(seen: Mapping[str, Any], story: Story, number: int) -> bool:
    """Return whether the page shows that turn: the sentence, the figures and the bar, as Python would have drawn them."""
    at = story.turns[number - 1]
    there = {kind for one in story.turns for kind in one.by_kind}
    pieces = drawing.slices(at.by_kind, [kind for kind in KINDS if kind in there])
    assert seen["told"] == words.told(at, len(story.turns), story.window_tokens)
    assert [figure(text) for text in seen["kinds"]] == [piece.tokens for piece in pieces]
    assert seen["shares"] == [words.percent(piece.tokens, at.tokens) for piece in pieces]
    assert seen["bar"] == [[piece.x, piece.width] for piece in pieces]
    return True


@pytest.mark.parametrize("name", ["story", "large"])
def test_the_keys_go_from_turn_to_turn(seen: Shown, name: str) -> None:
    """Tab leads to the turn; arrows, Home, End and the page keys change it, and what is shown is that turn."""
    typed, story = seen[0][f"typed {name}"], seen[1][name]
    last = len(story.turns)
    assert typed["left"]["focused"] == "turn"
    for key, number in (("begun", last), ("left", last - 1), ("home", 1), ("right", 4), ("up", 5), ("end", last)):
        assert shows(typed[key], story, number), key
    turned = figure(re.findall(r"Turn ([\d,]+)", typed["page"]["told"])[0])
    assert turned > 5 + last // 20
    assert shows(typed["page"], story, turned)
    assert typed["home"]["here"] < typed["page"]["here"] < typed["end"]["here"]


@pytest.mark.parametrize("name", ["story", "large"])
def test_the_pointer_shows_the_turn_that_is_drawn_under_it(seen: Shown, name: str) -> None:
    """Of several in one column the fullest is shown; after a click the keys continue from there."""
    pointed, story = seen[0][f"pointed {name}"], seen[1][name]
    columns = drawing.fullest(story.turns)
    box = pointed["box"]
    for key in ("first", "tenth", "last", "pressed"):
        column = int((pointed[key]["x"] - box["x"]) / box["width"] * len(columns))
        assert shows(pointed[key], story, columns[column].number), key
        width = box["width"] / len(columns)
        assert abs(pointed[key]["here"] - box["x"] - (column + 0.5) * width) <= width / 2 + 1
    assert pointed["pressed"]["focused"] == "turn"
    assert shows(pointed["then"], story, columns[column].number + 1)


def test_the_fullest_of_5000_turns_is_found_by_the_pointer(seen: Shown) -> None:
    """The peak is one turn of five thousand, in the middle."""
    assert seen[1]["large"].fullest == seen[1]["large"].turns[2_499]
    assert seen[0]["pointed large"]["pressed"]["told"].startswith("Turn 2,500 of 5,000: ")


def test_no_page_asks_for_anything_and_nothing_complains(seen: Shown) -> None:
    """The only requests were the pages themselves; the console stayed empty, so the policy allows the page's own script."""
    assert [Path(url.removeprefix("file://")).suffix for url in seen[0]["requests"]] == [".html"] * 5
    assert seen[0]["complaints"] == []


def test_hostile_words_do_nothing(seen: Shown) -> None:
    """Nothing ran, no picture was loaded, and each page has the scripts that we gave it: the data and its reader, or none."""
    assert {(acted, images) for acted, images, _ in seen[0]["acted"]} == {(None, 0)}
    assert {scripts for *_, scripts in seen[0]["acted"]} == {0, 2}


def test_each_shape_has_room_for_the_page(seen: Shown) -> None:
    """No page is wider than its screen and no table is cut off, even with hostile words and on a phone; dark is dark."""
    for name, shape in seen[0]["shapes"].items():
        assert (shape["wide"], shape["cut"], shape["drawn"]) == (False, 0, True), name
        light, *_ = (int(one) for one in re.findall(r"\d+", shape["paper"]))
        assert (light < 40) == name.endswith("dark"), name
    columns = {name: shape["columns"] for name, shape in seen[0]["shapes"].items() if name.startswith("story ")}
    assert columns == {"story light": 6, "story dark": 6, "story narrow": 2, "story narrow dark": 2}


def test_on_a_telephone_turns_go_before_refusals(seen: Shown) -> None:
    """The overview keeps what matters most."""
    shapes = seen[0]["shapes"]
    assert shapes["overview light"]["heads"] == ["Session", "Fill", "Newest", "Turns", "Cuts", "Refused", "State"]
    assert shapes["overview narrow"]["heads"] == ["Session", "Fill", "Newest", "Refused", "State"]


def test_the_pages_are_accessible(seen: Shown) -> None:
    """It has names, ordered headings, unique ids, tables with scopes, and text in contrast to its background."""
    assert {name: faults for name, faults in seen[0]["faults"].items() if faults} == {}


def test_all_of_it_is_there_without_scripts(seen: Shown) -> None:
    """It has the drawing, the newest turn's bill and the tables; only the way to other turns is not offered."""
    story = seen[1]["story"]
    plain = seen[0]["plain"]
    assert plain.pop("rows") > 20
    told = words.told(story.turns[-1], len(story.turns), story.window_tokens)
    assert plain == {"told": told, "slider": False, "chart": True}


def test_5000_turns_are_painted_at_once(seen: Shown) -> None:
    """This takes less than a fifth of a second from the request, or, on a busy machine, twice what a small page takes."""
    is_at_once, loads = seen[0]["painted"]
    assert is_at_once, loads


def test_the_pictures_of_the_docs_are_small() -> None:
    """They exist, are PNGs, and do not make the docs slow."""
    for path in PICTURES:
        picture = path.read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) < 150_000


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made_in:
        driven(Path(made_in), *map(str, PICTURES))
