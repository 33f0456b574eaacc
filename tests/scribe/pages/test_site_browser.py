"""Does the site work in a real browser? Debian's Chromium opens it from disk, searches, sorts and draws, and requests nothing else.

Playwright has its own environment. If it or Chromium is missing the tests are skipped, or fail if everything is required.

`python -m tests.scribe.pages.test_site_browser` takes the picture for the docs.
"""

from __future__ import annotations

import json
import os
import subprocess
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.browser import path_of_chromium, python_of_playwright
from tests.scribe.pages.conftest import HOSTILE, MILLWATER, Made, estate_at, hostile
from tests.testing.conftest import REPOSITORY

from penstock.cli import main
from penstock.scribe import pages

if TYPE_CHECKING:
    from penstock.scribe.pages import EstateView

pytestmark = pytest.mark.timeout(300)  # the first test builds an environment
PICTURE = REPOSITORY / "docs" / "pictures" / "site.png"
EVERY_PAGE = os.environ.get("PENSTOCK_EVERY_CELL") == "1"
"""Whether all pages are opened, not only a few of each kind."""


def driven(python: str, made: Made, folder: Path, *picture: str) -> dict[str, Any]:
    """Return what the browser saw of the estate, and of the same with hostile texts."""
    chromium = path_of_chromium()
    for name, shown in (("site", made), ("hostile", hostile(made, HOSTILE))):
        for path, text in pages.site(*shown):
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_text(text, encoding="utf-8")
    command = [python, str(Path(__file__).with_name("drive_site.py")), chromium, f"{folder}/site", f"{folder}/hostile"]
    done = subprocess.run([*command, *picture], capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen


def with_a_fan(made: Made) -> Made:
    """Return the same estate with a program whose picture has empty corners: one paragraph performs forty. Its path is long."""
    document = deepcopy(made.estate["programs"]["MWB020"])
    document["header"]["program_id"] = "MWFAN"
    document["header"]["file_name"] = f"cbl/{'FAN' * 80}.cbl"
    names = [f"{at}-PARAGRAPH-OF-A-LONG-NAME" for at in range(41)]
    alone: dict[str, Any] = {
        "section": None,
        "calls": [],
        "jumps": [],
        "called_by": [],
        "falls_into": None,
        "is_dead_code": False,
    }
    document["paragraphs"] = [
        {**document["paragraphs"][0], **alone, "paragraph_name": name, "start_line": line}
        for line, name in enumerate(names, 1)
    ]
    document["paragraphs"][0]["calls"] = names[1:]
    estate: EstateView = {**made.estate, "programs": {**made.estate["programs"], "MWFAN": document}}
    return Made(estate, {**made.listings, "programs/MWFAN": made.listings["programs/MWB020"]}, made.flows, made.inner)


@pytest.fixture(scope="module")
def seen(millwater: Made, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what the browser saw; it runs once for all tests of this file."""
    return driven(python_of_playwright(), with_a_fan(millwater), tmp_path_factory.mktemp("pages"))


def test_a_search_finds_a_paragraph_and_opens_it(seen: dict[str, Any]) -> None:
    """By keyboard alone the search leads to the row of the paragraph, in view; equal matches are sorted by name."""
    found = seen["searched"]
    assert found["programs"] == sorted(found["programs"])
    assert len(found["programs"]) > 3
    assert found["first"].split("\n")[0] == "2000-BILL-ONE"
    assert "MWB020" in found["first"]
    assert found["row"].startswith("2000-BILL-ONE ◎\t115–")
    assert found["in_view"]


def test_a_search_finds_a_copybook_and_opens_its_page(seen: dict[str, Any]) -> None:
    """By keyboard alone the search finds a copybook and an item that no program has; its users link to the line of their COPY."""
    copied = seen["copied"]
    assert copied["page_first"] == "MWCUST\ncopybook"
    assert copied["page"] == "MWCUST"
    assert copied["item_first"] == ":TAG:-TOWN\ndata · MWADDR"
    assert copied["item"].startswith("05 :TAG:-TOWN ◎\tX(24)\t")
    assert copied["line"].strip() == "COPY MWCUST."
    assert copied["in_view"]


def test_a_citation_opens_the_folded_source_at_its_line(seen: dict[str, Any]) -> None:
    """The listing was folded; now the line is in view and marked."""
    assert seen["cited"] == {"folded": True, "in_view": True, "marked": 1}


def test_diagrams_draw(seen: dict[str, Any]) -> None:
    """Boxes have a size and are inside their drawing, arrows lead somewhere, and the first arrow is in view."""
    for name, graphs in (("index", 1), ("program", 2), ("large", 2)):
        drawn = seen[f"drawn_{name}"]
        assert len(drawn) == graphs, name
        for graph in drawn:
            assert graph.pop("boxes") >= 2, name
            assert graph == {"within": True, "sized": True, "arrows": True, "seen": True}, name


def test_boxes_of_programs_of_one_name_show_what_differs(seen: dict[str, Any]) -> None:
    """The folders that all of them have would fill the box, and the cut would leave two the same label. A file of one is none."""
    assert seen["alike"] == ["P@A-1", "P@A-2", "P@A-2/old", "P@LIBS/A-1/pgm/p.cbl.FILE", "Q@Q/only.cbl", "X"]


def test_no_request_leaves_the_disk_and_nothing_complains(seen: dict[str, Any]) -> None:
    """Pages request nothing but files, and the console stays empty."""
    assert seen["requests"] == ["file"]
    assert seen["complaints"] == []


def test_hostile_names_stay_text(seen: dict[str, Any]) -> None:
    """No page of any kind runs anything or loads a picture, even while the hostile estate is searched."""
    assert len(seen["acted"]) == 11 or EVERY_PAGE
    assert set(map(tuple, seen["acted"])) == {(None, 0)}


@pytest.mark.proves("C-19")
def test_any_box_can_be_gone_around(seen: dict[str, Any]) -> None:
    """Deeper shows more, without a kind fewer, and what touches a field is a list of sentences whose citations open."""
    explored = seen["explored"]
    near, deeper, fewer = explored["boxes"]
    assert near < deeper
    assert 1 < fewer < deeper
    assert explored["larger"]
    assert any(
        said.startswith("2800-WRITE reads, writes CU-BALANCE") or "CU-BALANCE" in said for said in explored["said"]
    )
    assert any(said.startswith("BO-GROSS computes CU-BALANCE") for said in explored["said"])
    assert explored["line"].strip()


def test_what_touches_a_field_of_a_copybook_is_on_the_pages_of_its_users(seen: dict[str, Any]) -> None:
    """A copybook has no statement that could: its page leads to those that do."""
    assert seen["untouched"]["said"].endswith("What programs do with it is on their pages.")
    assert seen["untouched"]["place"] == "#used-by"


@pytest.mark.proves("C-19")
@pytest.mark.parametrize(
    ("jobs", "said", "drawn"), [(25, "75 boxes", 75), (51, "153 boxes, 3 not drawn: fewer kinds show them", 150)]
)
def test_an_estate_in_small_parts_is_drawn_whole(tmp_path: Path, jobs: int, said: str, drawn: int) -> None:
    """Of 25 jobs, each with a program that calls none, all 75 boxes are drawn: around one of them there are three.

    Of 51 there are too many, and without a box in the middle there is no depth that could be less.
    """
    for at in range(jobs):
        text = f"       PROGRAM-ID. PAY{at}.\n       PROCEDURE DIVISION.\n           GOBACK.\n"
        (tmp_path / f"PAY{at}.cbl").write_text(text)
        (tmp_path / f"JOB{at}.jcl").write_text(f"//JOB{at}  JOB 1\n//RUN  EXEC PGM=PAY{at}\n")
    assert main(["document", str(tmp_path), "--out", str(tmp_path / "site")]) == 0
    browser = [path_of_chromium(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/user"]
    page = f"file://{tmp_path}/site/index.html"
    command = [*browser, "--virtual-time-budget=10000", "--dump-dom", page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert f'<span role="status">{said}</span>' in done.stdout
    assert done.stdout.count('<rect class="box ') == drawn


@pytest.mark.proves("C-19")
def test_long_tables_turn_pages(seen: dict[str, Any]) -> None:
    """A hundred rows are shown at a time, then the rest; a word filters rows; an address finds its row on any page."""
    first, rest, only = seen["turned"]["said"]
    assert (first, rest) == ("1–100 of 130", "101–130 of 130")
    assert only.startswith("1–")
    assert int(only.split(" of ")[1]) < 130
    assert seen["turned"]["row"] == 1


def test_tables_sort_by_number(seen: dict[str, Any]) -> None:
    """Rows sort up, then down, and the heading says which."""
    ordered = seen["ordered"]
    assert ordered["up"] == sorted(ordered["up"])
    assert ordered["down"] == ordered["up"][::-1]
    assert (ordered["up"][0] < 100, ordered["up"][-1] > 4_000) == (True, True)
    assert ordered["says"] == "descending"


def test_blanks_in_a_row_are_seen(seen: dict[str, Any]) -> None:
    """The function GU and the name of a segment are as long as they are: a browser makes one blank of several unless told."""
    assert {"'GU  '", "'METER   '"} <= set(seen["values"])


def test_light_and_dark_are_remembered(seen: dict[str, Any]) -> None:
    """The button switches the colours, and they stay."""
    light, dark, again = seen["coloured"]
    assert light == "rgb(255, 255, 255)"
    assert dark == again != light


def test_the_facts_can_be_read_without_scripts(seen: dict[str, Any]) -> None:
    """A link also leads to the file with everything as text."""
    assert seen["plain"] == {"search": False, "facts": True, "leads_to": "../programs/MWB020.md"}


def test_boxes_lie_apart_and_within(seen: dict[str, Any]) -> None:
    """In 200 graphs with cycles and loops all boxes are drawn, none overlaps, and every arrow starts and ends at its boxes."""
    assert seen["apart"] == []


def test_a_telephone_is_wide_enough(seen: dict[str, Any]) -> None:
    """No page is wider than a phone's screen, and no drawing begins with an empty corner."""
    narrow = seen["narrow"]
    drawings = narrow.pop("drawings")
    assert set(drawings) == {True}
    assert len(drawings) > 8
    assert len(narrow) == 11 or EVERY_PAGE
    assert set(narrow.values()) == {True}


def test_the_picture_of_the_docs_is_small() -> None:
    """The picture exists, is a PNG, and is small enough not to slow the docs down."""
    picture = PICTURE.read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) < 300_000


if __name__ == "__main__":
    import tempfile

    WANTED = True
    with tempfile.TemporaryDirectory() as made_in:
        driven(python_of_playwright(), estate_at(MILLWATER), Path(made_in), str(PICTURE))
