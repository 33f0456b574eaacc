"""Are documents complete as Markdown, JSON and HTML, does every link lead somewhere, and is all shown text inert?"""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cobol import sources
from tests.cobol.test_dds import FILES as DESCRIBED
from tests.cobol.test_dds import PROGRAM as COPYING
from tests.growth import BOUND, growth
from tests.scribe.pages.conftest import HOSTILE, estate_at, hostile
from tests.scribe.pages.rendered import page_of, rendered, scripted

from penstock.cli import main
from penstock.scribe import document as documented
from penstock.scribe import pages
from penstock.scribe.filling import NAME_IS_DATA
from penstock.scribe.pages import graphs, html, markdown
from penstock.scribe.pages.blocks import DocumentLink, Graph, GraphNode, PageSection, TextBlock
from penstock.scribe.pages.packing import unpacked
from penstock.scribe.pages.summary import Summaries, summary_of
from penstock.text import escape
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.scribe.pages.conftest import Made

    from penstock.scribe.pages import EstateView


def put_out(text: str) -> str:
    """Return what any template makes of a text."""
    return html.environment().from_string("{{ text }}").render(text=text)


OURS = frozenset(
    re.findall(
        r"\w+",
        "html head meta title link script body a header span nav div input button ol li main h1 h2 p section dl dt dd table thead "
        "tbody tr th td code br figure figcaption svg g rect details summary noscript template",
    )
)


class Parsed(HTMLParser):
    """What a browser would make of a page: elements, ids, addresses, and the text between them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            self.attributes.add(name)
            if name == "id":
                self.ids.append(value or "")
            if name in {"href", "src"}:
                self.addresses.append(value or "")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def site(millwater: Made) -> dict[str, str]:
    """Return all files of the site."""
    return rendered(dict(pages.site(*millwater)))


def cited(value: Any) -> Iterator[tuple[int, int]]:
    """Yield all citations in a document."""
    if isinstance(value, list):
        for one in value:
            yield from cited(one)
    elif isinstance(value, dict):
        if "first_line" in value:
            yield value["first_line"], value["last_line"]
        for one in value.values():
            yield from cited(one)


@pytest.mark.proves("C-12")
def test_markdown_has_every_paragraph_and_every_citation(millwater: Made) -> None:
    """A document from code alone is complete: its citations are there, and it says what is missing."""
    names = pages.NameIndex(millwater.estate["programs"])
    for page, document in millwater.estate["programs"].items():
        text = pages.program_markdown(document, page, names)
        said = set(re.findall(r"\blines? \d+(?:–\d+)?", text))
        expected = set(cited({**document, "data_flow": document["data_flow"]["transforms"]}))
        assert {f"line {first}" if first == last else f"lines {first}–{last}" for first, last in expected} <= said
        for paragraph in document["paragraphs"]:
            assert f"`{paragraph['paragraph_name']}`" in text
        assert "*Not generated: no model described this program." in text
        assert "Not generated, because only a model can say it: purpose" in text


def test_words_of_a_model_are_told_apart(told: dict[str, Any]) -> None:
    """They are shown with the share of claims that held; failures, open questions and tasks are listed."""
    text = pages.program_markdown(told)
    assert "Bills the readings of the day. *(model, 75%)*" in text
    assert "| Opens, bills, closes. *(model, 50%)* |" in text
    assert "Who is gone gets no bill. *(model, 100%)*" in text
    assert "| Which tariff? | no line proves it | lines 1–3, line 7 |" in text
    assert "| lines 100–120 | the provider timed out |" in text
    assert "| `t1` | chunk synthesis | **failed** | lines 100–120 | late |" in text
    assert "| paragraphs | 50% | 75% |" in text
    assert "80% of what was claimed held" in text
    assert "**note** line 3: odd" in text
    assert "Not generated: no model described" not in text
    shown = page_of(html.page("T", "S", tuple(_sections(told)), tabs=(), here="programs/T.html"), "programs/T.html")
    assert (
        '<span class="said" title="The words of a model">Opens, bills, closes. <span class="held">50%</span></span>'
        in shown
    )


def _sections(document: dict[str, Any]) -> Any:
    from penstock.scribe.pages import program

    return program.sections("T", document, pages.NameIndex({"T": document}))


def test_what_is_said_of_many_lines_is_said_once(millwater: Made) -> None:
    """A hundred missing periods are one note with a hundred places; a few keep a line each."""
    assumed = [(line, f"a period is assumed before the paragraph P-{line}", f"P-{line}") for line in (4, 6, 8, 9)]
    marked = [(line, f"column 7 holds '{mark}': read as a comment", "") for line, mark in enumerate("00F0000", 1)]
    warnings = [dict(zip(("line", "text", "name"), said, strict=True)) for said in [*assumed, *marked]]
    document = {**millwater.estate["programs"]["MWRATE"], "warnings": warnings}
    told = [line for line in pages.program_markdown(document).splitlines() if line.startswith("**note**")]
    assert told == [
        "**note** a period is assumed before the paragraphs P-4 (line 4), P-6 (line 6), P-8 (line 8), P-9 (line 9)",
        "**note** line 1, line 2, line 4, line 5, line 6, line 7: column 7 holds '0': read as a comment",
        "**note** line 3: column 7 holds 'F': read as a comment",
    ]


@pytest.mark.proves("C-12")
def test_the_index_lists_everything_once(millwater: Made) -> None:
    """Programs, jobs, transactions, maps, copybooks and tables are listed, who uses each resource, and what is missing."""
    index = json.loads(pages.index_json(millwater.estate))
    assert {one["program_id"] for one in index["programs"]} >= {"MWB010", "MWC010", "MWRATE", "MWS011", "MWS030"}
    assert len(index["programs"]) == len(millwater.estate["programs"])
    assert {one["name"]: one["runs"] for one in index["jobs"] if one["kind"] == "job"} == {
        "MWARCH": ["MWI010"],
        "MWDAILY": ["MWB010", "MWB020", "MWB030", "MWB040", "MWB050"],
    }
    assert [one["name"] for one in index["transactions"]] == ["MW01", "MW02", "MW03"]
    assert [(one["name"], sorted(one["used_by"])) for one in index["maps"]] == [("MWSET1", ["MWC010", "MWC020"])]
    copybooks = {one["name"]: one for one in index["copybooks"]}
    assert (copybooks["MWDATES"]["path"], copybooks["MWLETTER"]["path"]) == ("cpy/mwdates.cpy", None)
    assert (copybooks["MWLETTER"]["system"], copybooks["DFHAID"]["system"]) == (False, True)
    bill = next(one for one in index["crud"] if one["resource"] == "MW.BILL")
    assert (bill["read"], bill["update"], bill["create"], bill["delete"]) == (["MWB040"], ["MWB040"], [], [])
    assert "MW.BILL" in {one["name"] for one in index["tables"]}
    assert {(one["kind"], one["name"]) for one in index["missing"]} >= {("copybook", "MWLETTER"), ("program", "MWS021")}
    sorted_readings = [one for one in index["data_sets"] if one["dataset"].endswith("READINGS.SORTED(+1)")]
    assert {one["program"] for one in sorted_readings} == {"MWB010", "MWB020"}
    customer = next(one for one in index["data_dictionary"] if one["name"] == "CU-NUMBER")
    assert set(customer["programs"]) == {"MWB020", "MWB050", "MWC010"}
    text = dict(pages.estate_markdown(millwater.estate))["index.md"]
    assert "```mermaid\nflowchart LR\n" in text
    for page, document in millwater.estate["programs"].items():
        name = markdown.escaped(document["header"]["program_id"])
        assert text.count(f"\n| [{name}](programs/{page}.md) | ") == 1


def test_every_link_of_the_site_leads_to_something(site: dict[str, str], millwater: Made) -> None:
    """No link leaves the site or is dead, and no id is there twice."""
    parsed = {path: Parsed(text) for path, text in site.items() if path.endswith(".html")}
    for path, page in parsed.items():
        assert len(page.ids) == len(set(page.ids)), path
        for address in page.addresses:
            parts = urlsplit(address)
            assert (parts.scheme, parts.netloc) == ("", ""), address
            target = normpath(join(dirname(path), unquote(parts.path))) if parts.path else path
            if target.endswith(".md"):  # the same as text, for readers without scripts
                is_own = path.startswith(("programs/", "copybooks/", "data"))
                assert target == (f"{path.removesuffix('.html')}.md" if is_own else "index.md")
                continue
            assert target in site, (path, address)
            if parts.fragment:
                assert unquote(parts.fragment) in parsed[target].ids, (path, address)
    index = scripted(site["search.js"], "index")
    for place, anchor in zip(index["pageOf"], index["anchors"], strict=True):
        target = index["pages"][place][0]
        assert target in parsed
        assert not anchor or anchor in parsed[target].ids, (target, anchor)
    assert {path for path in parsed if path.startswith("copybooks/")} == {
        f"copybooks/{page}.html" for page in millwater.estate["layouts"]
    }


def test_every_link_of_the_markdown_leads_to_something(millwater: Made) -> None:
    """Every file that the index, programs and copybooks link to is written."""
    estate = millwater.estate
    names = pages.NameIndex(estate["programs"], estate["layouts"])
    texts = dict(pages.estate_markdown(estate))
    for page, document in estate["programs"].items():
        texts[f"programs/{page}.md"] = pages.program_markdown(document, page, names)
    for page, document in estate["layouts"].items():
        texts[f"copybooks/{page}.md"] = pages.copybook_markdown(document, page, names)
    found = {path: set(re.findall(r"(?<!\\)\]\(([^)]*)\)", text)) for path, text in texts.items()}
    assert {normpath(join(dirname(path), unquote(link))) for path, links in found.items() for link in links} == {
        *texts
    } - {"index.md"}


def test_a_long_dictionary_has_pages_in_both_forms(millwater: Made) -> None:
    """Each name is on one page, pages link to each other in their own format, and the index stays short."""
    term: dict[str, Any] = {"declared": [], "bytes": [], "copybooks": [], "programs": [], "conditions": []}
    names = [f"NAME-{number}" for number in range(3_001)]
    estate: EstateView = {**millwater.estate, "terms": [{**term, "name": name} for name in names]}
    texts = dict(pages.estate_markdown(estate))
    assert [*texts] == ["index.md", "data.md", "data-2.md", "data-3.md"]
    assert "[3001 names](data.md)" in texts["index.md"]
    assert [name for text in texts.values() for name in re.findall(r"(?m)^\| `(NAME-\d+)`", text)] == names
    assert "Pages: [1](data.md) · 2 · [3](data-3.md)" in texts["data-2.md"]
    made = dict(pages.site(estate, {}))
    assert '<a href="data.html">1</a> · 2 · <a href="data-3.html">3</a>' in page_of(made["data-2.html"])


# ── copybooks ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_copybook_has_a_page_of_its_own(site: dict[str, str], millwater: Made) -> None:
    """The page has the layout with offsets, lengths, pictures and conditions, its COPYs, its users, and its source."""
    page = site["copybooks/MWCUST.html"]
    assert _headings(page) == ["At a glance", "Used by", "Layout", "What it copies", "What touches what", "Source"]
    used = '<a href="../programs/MWB020.html">MWB020</a></td><td>batch</td><td><a class="at" href="../programs/MWB020.html#L35"'
    assert used in page
    assert '<td><a href="../copybooks/MWADDR.html">MWADDR</a></td><td>COPY</td>' in page
    row = re.search(r'<tr id="d18">(.*?)</tr>', page)
    assert row
    cells = ["05 CU-BALANCE", "S9(07)V99", "COMP-3", "", "103", "5", "", "", "18"]
    assert re.sub(r"<[^>]*>", "", row[1].replace("</td>", "|")).split("|")[:-1] == cells
    assert "<code class=\"w\">CU-ACTIVE = 'A'</code><br>" in unescape(page)
    assert '<li id="L18" data-line="18"><code>     05  CU-BALANCE' in page
    names = pages.NameIndex(millwater.estate["programs"], millwater.estate["layouts"])
    text = pages.copybook_markdown(millwater.estate["layouts"]["MWADDR"], "MWADDR", names)
    assert text.startswith("# MWADDR\n")
    assert "| [MWB020](../programs/MWB020.md) | batch | `MWCUST` | `:TAG: BY CU` | line 35 |" in text
    assert "| [MWCUST](../copybooks/MWCUST.md) | copybook |  | `:TAG: BY CU` | line 8 |" in text
    assert "| `05 :TAG:-TOWN` | `X(24)` |" in text
    assert "model" not in text


def test_a_name_leads_to_the_program_of_the_same_file_before_that_of_another(millwater: Made) -> None:
    """If several have a name, the one in the file that uses it is meant, else the first."""
    told = millwater.estate["programs"]["MWB020"]
    programs = {
        page: {**told, "header": {**told["header"], "program_id": "INNER", "file_name": file}}
        for page, file in (("INNER", "a.cbl"), ("INNER.1", "b.cbl"))
    }
    names = pages.NameIndex(programs)
    assert names.program("inner").page == names.program("INNER", "a.cbl").page == "INNER"
    assert names.program("inner", "b.cbl").page == "INNER.1"
    assert names.program("INNER", "c.cbl").page == "INNER"
    assert names.piece("INNER", "b.cbl") == DocumentLink("INNER", "programs/INNER.1")


def test_programs_of_one_name_are_told_apart_by_their_folders(millwater: Made) -> None:
    """A table names them side by side: what all of their paths have in common tells nothing. Two of one file stay alike."""
    told = millwater.estate["programs"]["MWB020"]
    programs = {
        page: {**told, "header": {**told["header"], "program_id": name, "file_name": file}}
        for page, name, file in (
            ("PAY", "PAY", "sys/prod/cbl/pay.cbl"),
            ("pay.1", "pay", "sys/test/new/cbl/pay.cbl"),
            ("OWN", "OWN", "sys/prod/cbl/own.cbl"),
            ("TWO", "TWO", "two.cbl"),
            ("TWO.1", "TWO", "two.cbl"),
        )
    }
    names = pages.NameIndex(programs)
    shown = [names.piece_of(page) for page in programs]
    assert [one.name for one in shown if isinstance(one, DocumentLink)] == [
        "PAY@prod",
        "pay@test/new",
        "OWN",
        "TWO",
        "TWO",
    ]
    assert names.own("PAY").label == "PAY@prod"
    users = names.users(next(one["path"] for one in told["copybooks_used"] if one["path"]))
    assert [user.document.name for user in users] == [one.name for one in shown if isinstance(one, DocumentLink)]


def test_of_many_programs_of_one_name_the_nearest_is_found_in_linear_time(millwater: Made) -> None:
    """Each of hundreds of folders may have a copy of a program: the candidates are put in order once."""
    told = millwater.estate["programs"]["MWB020"]

    def work(size: int) -> Callable[[], object]:
        files = [f"d/{at % 7}/{at}/a.cbl" for at in range(size)]
        programs = {
            file: {**told, "called_programs": [], "copybooks_used": [], "header": {**told["header"], "file_name": file}}
            for file in files
        }

        def found() -> None:
            names = pages.NameIndex(programs)
            name = told["header"]["program_id"]
            assert [names.piece(name, file.replace("a.cbl", "b.jcl")) for file in files] == [
                DocumentLink(name, f"programs/{file}") for file in files
            ]

        return found

    assert growth(work, 100) < BOUND


def test_an_entry_of_two_programs_leads_to_the_nearer_one(millwater: Made) -> None:
    """A program of that name is nearer than both."""
    told = millwater.estate["programs"]["MWB020"]
    entry = {"entry_points": [{"name": "'IN'", "line": 9}]}
    programs = {
        page: {
            **told,
            "header": {**told["header"], "program_id": page, "file_name": f"{page}/p.cbl"},
            "calling_context": {**told["calling_context"], **entry},
        }
        for page in ("A", "B")
    }
    assert [pages.NameIndex(programs).program("IN", f"{folder}/x.cbl").page for folder in "ABC"] == ["A", "B", "A"]
    own = {**told, "header": {**told["header"], "program_id": "IN", "file_name": "C/p.cbl"}}
    assert pages.NameIndex({**programs, "IN": own}).program("IN", "B/x.cbl").page == "IN"


def test_a_program_is_linked_by_its_file(millwater: Made) -> None:
    """A job means the one of two programs of a name whose file has it, and the program whose file alone has it."""
    told = millwater.estate["programs"]["MWB020"]
    programs = {
        page: {**told, "header": {**told["header"], "program_id": "PAY", "file_name": f"src/{file}"}}
        for page, file in (("NEW", "PROG PAYNEW.txt"), ("PAY", "PROG PAY.txt"))
    }
    names = pages.NameIndex(programs)
    assert names.piece("PAY", "jcl/J.jcl") == DocumentLink("PAY", "programs/PAY")
    assert names.piece("PAYNEW", "jcl/J.jcl") == DocumentLink("PAYNEW", "programs/NEW")


def test_whatever_names_a_copybook_leads_to_it(site: dict[str, str], millwater: Made) -> None:
    """Programs, parts, their Markdown and the data dictionary link to the copybook's line; copied paragraphs are linked too."""
    assert '<td><a href="copybooks/MWCUST.html">MWCUST</a></td>' in site["parts.html"]
    program = site["programs/MWB020.html"]
    assert '<td><a href="../copybooks/MWCUST.html">MWCUST</a></td><td>COPY</td>' in program
    assert '<td><a href="../copybooks/MWADDR.html#d3">MWADDR</a></td>' in program
    assert '<a class="name" href="../copybooks/MWPABND.html#p5">9900-ABEND</a>' in program
    names = pages.NameIndex(millwater.estate["programs"], millwater.estate["layouts"])
    text = pages.program_markdown(millwater.estate["programs"]["MWB020"], "MWB020", names)
    assert "| [MWCUST](../copybooks/MWCUST.md) | COPY |" in text
    row = next(row for row in site["data.html"].split("<tr ") if ">CU-BALANCE<" in row)
    assert '<a href="copybooks/MWCUST.html#d18">MWCUST</a>' in row
    terms = {one["name"]: one["copybooks"] for one in json.loads(pages.index_json(millwater.estate))["data_dictionary"]}
    assert terms["CU-BALANCE"] == [{"copybook": "MWCUST", "path": "cpy/MWCUST.cpy", "line": 18}]
    found = _searched(site)
    assert found["MWCUST"] == [("copybook", "copybooks/MWCUST.html", "")]
    assert found["9900-ABEND"] == [("paragraph", "copybooks/MWPABND.html", "p5")]
    assert found["CU-BALANCE"][0][:2] == ("data", "data.html")
    assert found[":TAG:-TOWN"] == [("data", "copybooks/MWADDR.html", "d3")]


def test_a_copybook_that_is_missing_stays_unlinked(site: dict[str, str]) -> None:
    """A missing copybook is plain text that says so, wherever it is named; one that comes with the system is plain text too."""
    assert '<code class="w">MWLETTER</code></td><td><span class="tag doubt">not here</span>' in site["parts.html"]
    assert re.search(r">MWLETTER</code></td>.*?<td><span [^>]*>not found</span>", site["programs/MWB050.html"])
    assert '<code class="w">DFHAID</code></td><td><span class="tag plain">of the system</span>' in site["parts.html"]
    assert _searched(site)["MWLETTER"] == [("copybook", "parts.html", "copybooks")]
    for path, page in site.items():
        assert ">MWLETTER</a>" not in page, path


def test_a_link_leads_to_the_copybook_that_was_taken(tmp_path: Path) -> None:
    """Of two with one name each program links to its own, the search tells them apart, and an unused one is found as well."""
    program = "       ID DIVISION.\n       PROGRAM-ID. {0}.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n"
    for name, library, picture in (("ONE", "old", "X(3)"), ("TWO", "new", "X(9)")):
        (tmp_path / library).mkdir()
        (tmp_path / library / "REC.cpy").write_text(f"       01  REC-{name}.\n           05  A-{name} PIC {picture}.\n")
        (tmp_path / f"{name}.cbl").write_text(program.format(name) + f"       COPY REC OF {library}.\n")
    (tmp_path / "old" / "IDLE.cpy").write_text("       01  IDLE PIC X.\n")
    made = estate_at(tmp_path)
    site = rendered(dict(pages.site(*made)))
    assert '<a href="../copybooks/REC.old.html">REC</a>' in site["programs/ONE.html"]
    assert '<a href="../copybooks/REC.html#d2">REC</a>' in site["programs/TWO.html"]
    assert ">ONE</a>" in site["copybooks/REC.old.html"]
    assert ">TWO</a>" not in site["copybooks/REC.old.html"]
    listed = [(one["name"], one["id"], one["used_by"]) for one in made.estate["copybooks"]]
    assert listed == [("IDLE", "IDLE", []), ("REC", "REC", ["TWO"]), ("REC", "REC.old", ["ONE"])]
    assert "Nothing here copies it." in site["copybooks/IDLE.html"]
    assert "<td>nothing here</td>" in site["parts.html"]
    found = _searched(site)
    assert found["REC"] == [("copybook", "copybooks/REC.html", ""), ("copybook", "copybooks/REC.old.html", "")]
    assert ["copybooks/REC.old.html", "old/REC.cpy"] in scripted(site["search.js"], "index")["pages"]
    assert ("data", "copybooks/IDLE.html", "d1") in found["IDLE"]


def test_programs_of_one_name_are_told_apart_by_their_files(tmp_path: Path) -> None:
    """The search tells them apart; a single one has just its name."""
    for path, name in (("old/one.cbl", "ONE"), ("new/one.cbl", "ONE"), ("two.cbl", "TWO")):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(f"       ID DIVISION.\n       PROGRAM-ID. {name}.\n      * {path}\n")
    assert main(["document", str(tmp_path), "--out", str(tmp_path / "site")]) == 0
    index = scripted((tmp_path / "site" / "search.js").read_text(), "index")
    told = [of for page, of in index["pages"] if page.startswith("programs/")]
    assert sorted(told) == ["TWO", "new/one.cbl", "old/one.cbl"]


def test_what_is_behind_the_end_of_a_program_is_found(tmp_path: Path) -> None:
    """It has a page of its own among the programs, and its data is in the dictionary as that of any other."""
    (tmp_path / "pay.cbl").write_text(
        "       PROGRAM-ID. PAY.\n       PROCEDURE DIVISION.\n           GOBACK.\n       END PROGRAM PAY.\n"
        "       01  BEHIND-DATA PIC 9.\n       BEHIND-IT.\n           MOVE 1 TO BEHIND-DATA.\n"
    )
    assert main(["document", str(tmp_path), "--out", str(tmp_path / "site")]) == 0
    found = _searched({"search.js": (tmp_path / "site" / "search.js").read_text()})
    assert found["BEHIND-DATA"] == [("data", "data.html", "n0")]
    assert [(kind, anchor) for kind, _, anchor in found["BEHIND-IT"]] == [("paragraph", "p6")]


def test_a_filler_is_found_by_its_first_condition(tmp_path: Path) -> None:
    """The code uses it by its conditions alone; one without any has no name."""
    switch = "       01  FILLER PIC 9.\n           88  IS-{0} VALUE 1.\n           88  NO-{0} VALUE 0.\n"
    data = f"       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n{switch.format('OPEN')}       01  FILLER PIC X.\n"
    (tmp_path / "pay.cbl").write_text(f"       PROGRAM-ID. PAY.\n{data}")
    (tmp_path / "idle.cpy").write_text(switch.format("IDLE"))
    assert main(["document", str(tmp_path), "--out", str(tmp_path / "site")]) == 0
    found = _searched({"search.js": (tmp_path / "site" / "search.js").read_text()})
    assert found["IS-OPEN"] == [("data", "data.html", "n0")]
    assert found["IS-IDLE"] == [("data", "copybooks/idle.html", "d1")]
    assert not {"FILLER", "NO-OPEN", "NO-IDLE", ""} & set(found)
    (term,) = json.loads((tmp_path / "site" / "index.json").read_text())["data_dictionary"]
    assert (term["name"], term["conditions"]) == ("IS-OPEN", ["IS-OPEN = 1", "NO-OPEN = 0"])


def test_a_job_leads_to_the_program_in_the_nearest_folder(tmp_path: Path) -> None:
    """Several folders of an estate may each have a job and a program MENU."""
    for shop in ("one", "two"):
        (tmp_path / shop).mkdir()
        (tmp_path / shop / "menu.cbl").write_text("       ID DIVISION.\n       PROGRAM-ID. MENU.\n")
        (tmp_path / shop / f"{shop}.jcl").write_text(f"//{shop.upper()} JOB\n//S1 EXEC PGM=MENU\n")
    assert main(["document", str(tmp_path), "--out", str(tmp_path / "out")]) == 0
    index = (tmp_path / "out" / "index.md").read_text()
    rows = re.findall(r"(?m)^\|.*S1.*\((programs/MENU[^)]*)\).*\b(one|two)/", index)
    of = {shop: json.loads((tmp_path / "out" / page.replace(".md", ".json")).read_text()) for page, shop in rows}
    assert {shop: document["header"]["file_name"] for shop, document in of.items()} == {
        "one": "one/menu.cbl",
        "two": "two/menu.cbl",
    }


def _headings(page: str) -> list[str]:
    return re.findall(r"<h2 id=[^>]*>([^<]*)</h2>", page)


def _searched(site: dict[str, str]) -> dict[str, list[tuple[str, str, str]]]:
    """Return what the search finds by each name: its kind, its page, and its place there."""
    index = scripted(site["search.js"], "index")
    found: dict[str, list[tuple[str, str, str]]] = {}
    columns = (index[name] for name in ("names", "kindOf", "pageOf", "anchors"))
    for name, kind, place, anchor in zip(*columns, strict=True):
        found.setdefault(name, []).append((index["kinds"][kind], index["pages"][place][0], anchor))
    return found


@pytest.mark.proves("C-12")
def test_every_citation_is_a_link_to_its_line(site: dict[str, str], millwater: Made) -> None:
    """A link leads to exactly the line that the document cites."""
    document, page = millwater.estate["programs"]["MWB020"], site["programs/MWB020.html"]
    for first, _ in cited(document["error_handling"]):
        assert f'href="#L{first}"' in page
    at = document["error_handling"][0]["citations"][0]
    line = re.search(rf'<li id="L{at["first_line"]}"[^>]*><code>(.*?)</code>', page)
    assert line
    assert " ".join(unescape(line[1]).split()).startswith(at["evidence"][:40])


@pytest.mark.proves("C-19")
def test_a_large_program_is_a_small_page(millwater: Made) -> None:
    """4,900 lines with tables of 900 items take less than 150 kB, with the source in its own file; Markdown folds its flow."""
    site = dict(pages.site(*millwater))
    assert len(site["programs/MWRATE.html"]) < 100_000
    assert len(site["programs/MWRATE.js"]) < 50_000
    assert rendered(site)["programs/MWRATE.html"].count("<li id=") > 4_000
    names = pages.NameIndex(millwater.estate["programs"])
    text = pages.program_markdown(millwater.estate["programs"]["MWRATE"], "MWRATE", names)
    assert "130 paragraphs are folded into their sections." in text


def test_nothing_that_is_shown_can_act(millwater: Made) -> None:
    """Every text of an estate is made hostile: markup, the end of a script, an address, controls. None becomes an element."""
    made = hostile(millwater, HOSTILE)
    estate = made.estate
    for path, text in pages.site(*made):
        assert escape.show(text)[1] == 0, path
        if path.endswith(".html"):
            parsed = Parsed(text)
            assert parsed.tags <= OURS, parsed.tags - OURS
            assert not {name for name in parsed.attributes if name.startswith("on") or name == "style"}
            assert not [address for address in parsed.addresses if address.startswith("//") or ":" in address]
            assert text.count("<script") == 2
            rest = Parsed(page_of(text, path))
            assert rest.tags <= OURS, rest.tags - OURS
            assert not [address for address in rest.addresses if address.startswith("//") or ":" in address]
        elif path.endswith(".js") and path not in {"site.js", "graph.js"}:
            assert re.fullmatch(r'penstock\.\w+\("[A-Za-z0-9+/=]*"\);\n', text)
    names = pages.NameIndex(estate["programs"], estate["layouts"])
    texts = [pages.program_markdown(document, page, names) for page, document in estate["programs"].items()]
    texts += [pages.copybook_markdown(document, page, names) for page, document in estate["layouts"].items()]
    for text in texts:
        assert escape.show(text)[1] == 0
        assert not _active(text)
    for _, text in pages.estate_markdown(estate):
        assert not _active(text)


@given(st.text(max_size=60))
def test_any_text_can_only_be_read(text: str) -> None:
    """For any text Markdown shows no markup, and HTML gives back what `inert` shows of it."""
    for written in (markdown.escaped(text), markdown.code(text)):
        assert not _active(written)
        assert "\n" not in written
        assert not re.search(r"(?<!\\)\|", written)
    assert "".join(Parsed(f"<p>{put_out(text)}</p>").texts) == escape.show(text)[0]
    label = graphs.mermaid(Graph((GraphNode("a", text),), ())).split('["', 1)[1].rsplit('"]', 1)[0]
    assert not set(label) & set('"[](){}<>|`\n')


def test_a_literal_keeps_its_blanks_in_markdown() -> None:
    """The function GU of DL/I has two behind it; a tab or a new line would end the row."""
    assert markdown.code("MOVE  'GU  '\tTO\n F") == "`MOVE  'GU  ' TO  F`"


@given(st.from_regex(r"\A(?:[-+*=#>~.]{1,4}|[0-9]{1,9}[.)])(?: [a-z]*)?\Z"))
def test_words_that_begin_a_line_begin_no_list(text: str) -> None:
    """A model's words are paragraphs and nothing else: no list, rule, heading or quotation."""
    page = markdown.page("T", [PageSection("S", (TextBlock((text,)),))], "")
    assert not re.search(r"^(?:[-+*=#>~]|[0-9]+[.)])", page.splitlines()[-1])


def _active(text: str) -> str | None:
    """Return what a Markdown viewer would act on, an element or an external link; code spans may hold anything."""
    text = re.sub(r"```mermaid\n.*?\n```", "", text, flags=re.DOTALL)
    text = re.sub(r"(?<![`\\])(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
    found = re.search(r"(?<!\\)<|(?<!\\)\]\((?!(?:\.\./)?(?:(?:programs|copybooks)/[^/:]*|data(?:-\d+)?)\.md)", text)
    return found and text[max(0, found.start() - 40) : found.end() + 40]


def test_an_estate_without_programs_says_so() -> None:
    """An empty estate has a page too."""
    empty: EstateView = {
        "name": "Nothing",
        "programs": {},
        "layouts": {},
        "jobs": [],
        "control_programs": [],
        "maps": [],
        "copybooks": [],
        "tables": [],
        "crud": [],
        "transactions": [],
        "data_sets": [],
        "missing": [],
        "terms": [],
    }
    made = dict(pages.site(empty, {}))
    assert set(made) == {"style.css", "site.js", "graph.js", "search.js", "index.html"}
    assert "There is no program." in page_of(made["index.html"])
    [(path, text)] = pages.estate_markdown(empty)
    assert (path, "There is no program" in text) == ("index.md", True)


# ── diagrams ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_flow_that_is_too_large_is_folded(millwater: Made) -> None:
    """A diagram has at most as many boxes as can be read; the omitted ones are counted."""
    document = {**millwater.estate["programs"]["MWB020"]}
    paragraph = {
        **document["paragraphs"][0],
        "section": None,
        "is_dead_code": False,
        "falls_into": None,
        "called_by": [],
    }
    document["paragraphs"] = [
        {**paragraph, "paragraph_name": f"P{at}", "start_line": at + 1, "calls": [f"P{at + 1}"]} for at in range(200)
    ]
    picture = graphs.flow(document)
    assert picture is not None
    assert len(picture.graph.nodes) == 200  # a page has all of it
    graph, said = graphs.folded(picture.graph)
    assert [node.label for node in graph.nodes] == [f"P{at}" for at in range(graphs.MAX_FLOW_BOXES)]
    assert len(graph.edges) == graphs.MAX_FLOW_BOXES - 1
    assert f"{200 - graphs.MAX_FLOW_BOXES} further boxes are left out" in said


def test_the_ends_of_ranges_go_first(millwater: Made) -> None:
    """Paragraphs that are only fallen into and lead nowhere are left out before anything else."""
    document = {**millwater.estate["programs"]["MWB020"]}
    item = {**document["paragraphs"][0], "section": None, "is_dead_code": False, "calls": [], "called_by": ["P0"]}
    document["paragraphs"] = [
        paragraph
        for at in range(40)
        for paragraph in (
            {**item, "paragraph_name": f"P{at}", "calls": [f"P{at + 1}"], "falls_into": f"P{at}-EXIT"},
            {**item, "paragraph_name": f"P{at}-EXIT", "falls_into": None},
        )
    ]
    picture = graphs.flow(document)
    assert picture is not None
    graph, said = graphs.folded(picture.graph)
    assert [node.label for node in graph.nodes] == [f"P{at}" for at in range(40)]
    assert said == "40 paragraphs that only end a range are left out."


def test_the_flow_knows_where_control_comes_back(millwater: Made) -> None:
    """A performed paragraph does not continue into the next; one within a performed range does."""
    picture = graphs.flow(millwater.estate["programs"]["MWB020"])
    assert picture is not None
    labels = {node.id: node.label for node in picture.graph.nodes}
    edges = {(labels[edge.source], labels[edge.target]): edge.is_weak for edge in picture.graph.edges}
    assert edges["(main)", "1000-OPEN"] is False
    assert edges["1000-OPEN", "1000-OPEN-EXIT"] is True
    assert ("1100-READ", "2000-BILL-ONE") not in edges
    assert ("2950-LOST-CUSTOMER", "2960-OLD-TARIFF") not in edges


def test_code_right_after_the_header_of_a_section_has_its_name(tmp_path: Path) -> None:
    """If a section has no paragraphs, the table, rules, operations and flow use its name."""
    (tmp_path / "one.cbl").write_text(
        "       ID DIVISION.\n       PROGRAM-ID. ONE.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n"
        "       01  A PIC 9.\n       PROCEDURE DIVISION.\n           PERFORM READS.\n           STOP RUN.\n"
        "       READS SECTION.\n           IF A > 1 ADD 1 TO A ON SIZE ERROR STOP RUN.\n"
        "           PERFORM WRITES.\n       READS-EXIT.\n           EXIT.\n"
        "       WRITES SECTION.\n           EXEC SQL COMMIT END-EXEC.\n"
    )
    document = estate_at(tmp_path).estate["programs"]["ONE"]
    told = [(one["paragraph_name"], one["section"], one["called_by"]) for one in document["paragraphs"]]
    reads = ("READS", "READS", ["(main)"])
    assert told == [("(main)", None, []), reads, ("READS-EXIT", "READS", ["(main)"]), ("WRITES", "WRITES", ["READS"])]
    assert [rule["paragraph"] for rule in document["business_rules"]] == ["READS"]
    assert [site["paragraph"] for site in document["error_handling"]] == ["READS"]
    assert [one["paragraph"] for one in document["sql_operations"]] == ["WRITES"]
    picture = graphs.flow(document)
    assert picture is not None
    labels = {node.id: node.label for node in picture.graph.nodes}
    performed = {(labels[edge.source], labels[edge.target]) for edge in picture.graph.edges if not edge.is_weak}
    assert performed == {("(main)", "READS"), ("READS", "WRITES")}


def test_what_is_not_understood_is_counted_where_a_first_look_falls(tmp_path: Path) -> None:
    """They are counted on the program's page, in its row, above all rows and in the JSON; a possible call gives a caller."""
    cursor = "           EXEC SQL DECLARE C1 CURSOR FOR SELECT A FROM T END-EXEC.\n"
    (tmp_path / "one.cbl").write_text(
        f"       ID DIVISION.\n       PROGRAM-ID. ONE.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n{cursor}"
        "       PROCEDURE DIVISION.\n           #DYCALL TWO AREA.\n           #DYCALL THREE AREA.\n"
        "       DONE.\n           EXEC SQL OPEN C1 END-EXEC.\n"
    )
    (tmp_path / "two.cbl").write_text("       PROGRAM-ID. TWO.\n       PROCEDURE DIVISION.\n           GOBACK.\n")
    made = estate_at(tmp_path)
    document = made.estate["programs"]["ONE"]
    assert document["complexity"]["not_understood"] == 2
    # A cursor declared among data is in no paragraph.
    assert [(one["operation"], one["paragraph"]) for one in document["sql_operations"]] == [
        ("DECLARE CURSOR", None),
        ("OPEN", "DONE"),
    ]
    files = dict(pages.site(*made))
    site = rendered(files)
    assert "2 statements</span>" in site["programs/ONE.html"]
    assert "1 way at decisions" in site["programs/ONE.html"]
    assert "2 statements not understood</span>" in site["index.html"]
    assert "2 statements in 1 program" in site["index.html"]
    assert [one["not_understood"] for one in json.loads(pages.index_json(made.estate))["programs"]] == [2, 0]
    assert made.estate["programs"]["TWO"]["calling_context"]["called_by"] == ["ONE"]
    assert not made.estate["missing"]


def test_a_program_whose_code_is_copied_does_not_look_small(tmp_path: Path) -> None:
    """A generator of screens writes its code into copybooks; they are counted as if they were written where they are copied."""
    head = "       PROGRAM-ID. {}.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n       01 X PIC 9.\n"
    begun = "       PROCEDURE DIVISION.\n       MAIN.\n           PERFORM WORK.\n           GOBACK.\n"
    work = (
        "       WORK.\n           EVALUATE X WHEN 1 CONTINUE WHEN OTHER\n               IF X = 2 MOVE 3 TO X ELSE STOP RUN END-IF\n"
        "           END-EVALUATE.\n           READ-ON. ADD 1 TO X ON SIZE ERROR STOP RUN END-ADD.\n"
    )
    (tmp_path / "work.cpy").write_text(work)
    (tmp_path / "copies.cbl").write_text(head.format("COPIES") + begun + "           COPY WORK.\n")
    (tmp_path / "writes.cbl").write_text(head.format("WRITES") + begun + work)
    made = estate_at(tmp_path)
    copies, writes = (made.estate["programs"][name]["complexity"] for name in ("COPIES", "WRITES"))
    assert (copies["statements"], writes["copied_statements"]) == (2, 0)
    assert copies["statements"] + copies["copied_statements"] == writes["statements"]
    site = rendered(dict(pages.site(*made)))
    assert "2 statements, and 7 in what it copies" in site["programs/COPIES.html"]
    assert (
        "None found: calls, files, SQL, CICS, IMS, MQ. None found in its own lines: error handling, dead code."
        in site["programs/COPIES.html"]
    )
    assert "in what it copies" not in site["programs/WRITES.html"]
    assert "None found: calls, files, SQL, CICS, IMS, MQ, copybooks" in site["programs/WRITES.html"]


def test_a_resource_is_one_row_however_it_is_spelled(tmp_path: Path) -> None:
    """One program says EMPLOYEE, another employee: of the estate it is one table."""
    for name, said in (("A", "INSERT INTO EMPLOYEE VALUES (1)"), ("B", "DELETE FROM employee")):
        lines = (
            "ID DIVISION.",
            f"PROGRAM-ID. {name}.",
            "PROCEDURE DIVISION.",
            f"    EXEC SQL {said} END-EXEC.",
            "    GOBACK.",
        )
        (tmp_path / f"{name}.cbl").write_text("".join(f"       {line}\n" for line in lines))
    (row,) = json.loads(pages.index_json(estate_at(tmp_path).estate))["crud"]
    assert (row["resource"], row["kind"], row["create"], row["delete"]) == ("EMPLOYEE", "table", ["A"], ["B"])


def test_a_map_of_one_mapset_does_not_belong_to_another(tmp_path: Path) -> None:
    """In many estates each mapset has one map, and all maps have one name."""
    for name in ("ORDERS", "STOCK"):
        macros = [
            f"{name:<8}DFHMSD TYPE=MAP",
            "MAP     DFHMDI SIZE=(24,80)",
            "        DFHMSD TYPE=FINAL",
            "        END",
        ]
        (tmp_path / f"{name}.bms").write_text("\n".join(macros))
    send = "           EXEC CICS SEND MAP('MAP') MAPSET('{0}') END-EXEC.\n           CALL 'CBL_OPEN_FILE'.\n"
    (tmp_path / "own.cbl").write_text(
        "       PROGRAM-ID. OWN.\n       PROCEDURE DIVISION.\n           EXEC CICS RECEIVE MAP('MAP') END-EXEC.\n"
    )
    for name in ("ORDERS", "STOCK"):
        text = f"       PROGRAM-ID. {name}1.\n       PROCEDURE DIVISION.\n{send.format(name)}"
        (tmp_path / f"{name}1.cbl").write_text(text)
    estate = estate_at(tmp_path).estate
    assert [(one["name"], one["maps"], one["used_by"]) for one in estate["maps"]] == [
        ("ORDERS", ["MAP"], ["ORDERS1"]),
        ("STOCK", ["MAP"], ["STOCK1"]),
    ]
    assert [one["name"] for one in estate["programs"]["STOCK1"]["outputs"]] == ["STOCK.MAP"]
    assert [one["name"] for one in estate["programs"]["OWN"]["inputs"]] == ["MAP.MAP"]
    assert not estate["missing"]  # a routine of the compiler's own library is not missing


def test_equal_calls_behind_one_copy_say_how_many_they_are(tmp_path: Path) -> None:
    """All that a COPY brings is cited at its line, so a row of three calls with one line says three."""
    head = "       PROGRAM-ID. LEDGER.\n       PROCEDURE DIVISION.\n"
    call = "           CALL 'AUDIT' USING 1.\n"
    (tmp_path / "LEDGER.cbl").write_text(f"{head}           COPY CALLS.\n           CALL 'AUDIT' USING 2.\n")
    (tmp_path / "CALLS.cpy").write_text(call * 3)
    made = estate_at(tmp_path)
    calls = made.estate["programs"]["LEDGER"]["called_programs"]
    assert [(one["parameters"], one["places"], len(one["citations"])) for one in calls] == [
        (["1"], 3, 1),
        (["2"], 1, 1),
    ]
    page = rendered(dict(pages.site(*made)))["programs/LEDGER.html"]
    assert "<th>Places</th>" in page
    assert "<td>3</td>" in page


def test_a_call_by_an_item_of_no_known_value_leads_to_no_program(tmp_path: Path) -> None:
    """The row says that the name is data, and the line is dashed: the item is no program that is missing."""
    head = "       PROGRAM-ID. LEDGER.\n       DATA DIVISION.\n       LINKAGE SECTION.\n       01 NEXT-PGM PIC X(8).\n"
    lines = ("EXEC CICS XCTL PROGRAM(NEXT-PGM) END-EXEC.", "EXEC CICS LINK PROGRAM('AUDIT') END-EXEC.", "CALL LNK-PGM.")
    code = "".join(f"           {line}\n" for line in lines)
    (tmp_path / "LEDGER.cbl").write_text(f"{head}       PROCEDURE DIVISION.\n{code}")
    made = estate_at(tmp_path)
    calls = made.estate["programs"]["LEDGER"]["called_programs"]
    said = {call["program_name"]: call["resolved_from"] for call in calls}
    assert said == {"NEXT-PGM": NAME_IS_DATA, "AUDIT": None, "LNK-PGM": NAME_IS_DATA}
    page = rendered(dict(pages.site(*made)))["programs/LEDGER.html"]
    tags = re.findall(r'<code class="w">([\w-]+)</code> <span class="tag doubt">([\w ]+)</span>', page)
    assert sorted(tags) == [("AUDIT", "not here"), ("LNK-PGM", "data"), ("NEXT-PGM", "data")]


def test_the_arrow_from_a_caller_is_dashed_if_its_call_is_by_data(tmp_path: Path) -> None:
    """On the page of what is called as on the caller's own; one certain call among them makes it solid."""
    head = "       PROGRAM-ID. {0}.\n       DATA DIVISION.\n       WORKING-STORAGE SECTION.\n       01 PGM PIC X(8).\n"
    by_data = "           MOVE 'AUDIT' TO PGM.\n           CALL PGM.\n"
    codes = {"SOMETIMES": by_data, "SURELY": "           CALL 'AUDIT'.\n" + by_data, "AUDIT": "           GOBACK.\n"}
    for name, code in codes.items():
        text = f"{head.format(name)}       PROCEDURE DIVISION.\n{code}"
        (tmp_path / f"{name}.cbl").write_text(text)
    programs = estate_at(tmp_path).estate["programs"]
    names = pages.NameIndex(programs)
    picture = graphs.neighbours(names.own("AUDIT"), programs["AUDIT"], names)
    assert picture is not None
    drawn = {edge.source: edge.is_weak for edge in picture.graph.edges}
    assert drawn == {"program SOMETIMES": True, "program SURELY": False}


def test_a_call_leads_to_a_contained_program_where_that_is_known(millwater: Made) -> None:
    """The containing program may call it, for a COMMON one all inside may; elsewhere the name is not a link."""
    told = millwater.estate["programs"]["MWB020"]
    programs = {
        name: {
            **told,
            "header": {**told["header"], "program_id": name, "file_name": file, "within": within, "is_common": common},
        }
        for name, file, within, common in (
            ("OUTER", "a.cbl", [], False),
            ("INNER", "a.cbl", ["OUTER"], False),
            ("SHARED", "a.cbl", ["OUTER"], True),
            ("OTHER", "b.cbl", [], False),
        )
    }
    names = pages.NameIndex(programs)
    led = {caller: [names.called_page(name, programs[caller]["header"]) for name in programs] for caller in programs}
    assert led == {
        "OUTER": ["OUTER", "INNER", "SHARED", "OTHER"],
        "INNER": ["OUTER", None, "SHARED", "OTHER"],
        "SHARED": ["OUTER", None, "SHARED", "OTHER"],
        "OTHER": ["OUTER", None, None, "OTHER"],
    }
    # A name that no program has may be that of a file, whose first program is then meant.
    assert [names.called_page(name, programs["OTHER"]["header"]) for name in ("a", "B", "C")] == [
        "OUTER",
        "OTHER",
        None,
    ]


def test_a_call_leads_away_from_a_program_to_which_as_gives_another_name(tmp_path: Path) -> None:
    """An ENTRY, even as the first statement, does not rename its program; summaries of documents know as much as these."""
    documents: dict[str, Any] = {}
    summaries = Summaries()
    for page, text in {
        "CALLER": sources.program("    CALL 'ONE'.", "    CALL 'TWO'.", name="CALLER"),
        "TWO": sources.program("    GOBACK.", name='ONE\n           AS "TWO"'),
        "ONE": sources.program("    ENTRY 'IN-ONE'.", "    GOBACK.", name="ONE"),
    }.items():
        folder = tmp_path / page
        folder.mkdir()
        (folder / f"{page}.cbl").write_text(text)
        (documents[page],) = estate_at(folder).estate["programs"].values()
        summaries.put(page, summary_of(documents[page]))
    for programs in (documents, summaries):
        names = pages.NameIndex(programs)
        led = [names.called_page(name, documents["CALLER"]["header"]) for name in ("ONE", "TWO", "IN-ONE")]
        assert led == ["ONE", "TWO", "ONE"]


EMPTY = b"""\
     A          R HEADING
     A                                  1  2'Customers'
"""
"""A display file with a text and no field."""


@pytest.mark.proves("C-19")
def test_dds_has_pages_that_the_search_finds(tmp_path: Path) -> None:
    """A DDS has the page of a copybook: its layout by its own lines, who copies it, and its source; without fields it has none."""
    there, out = tmp_path / "estate", tmp_path / "out"
    there.mkdir()
    for name, data in {**DESCRIBED, "PAY.cbl": COPYING, "EMPTY.dspf": EMPTY}.items():
        (there / name).write_bytes(data)
    made = documented((".",), root=Root(str(there)), out=str(out), processes=1)
    assert sorted(made.copybooks) == ["CUSTD", "CUSTL1", "CUSTL2", "CUSTPF", "FLDREF"]
    assert [(one.path, one.reason) for one in made.empty] == [("EMPTY.dspf", "its records have no fields")]

    layout = json.loads((out / "copybooks" / "CUSTPF.json").read_text())
    assert (layout["header"]["format"], layout["header"]["lines"], layout["header"]["comment_lines"]) == ("DDS", 10, 1)
    places = {item["name"]: item["citations"][0] for item in layout["data_items"]}
    assert places["CUSNO"] == {
        "first_line": 4, "last_line": 4, "evidence": "CUSNO 6S 0 ALIAS(CUSTOMER_NUMBER)",
    }  # fmt: skip
    told = (out / "copybooks" / "CUSTPF.md").read_text()
    assert "[PAY](../programs/PAY.md)" in told
    assert "K CUSNO" in str(unpacked((out / "copybooks" / "CUSTPF.js").read_text().split('"')[1]))

    found = unpacked((out / "search.js").read_text().split('"')[1])
    pages_of = {
        (name, found["kinds"][kind]): found["pages"][place][0]
        for name, kind, place in zip(found["names"], found["kindOf"], found["pageOf"], strict=True)
    }
    assert pages_of["CUSTL1", "copybook"] == "copybooks/CUSTL1.html"
    assert pages_of["NAM", "data"] == "copybooks/FLDREF.html"  # which no program copies
    drawn = unpacked((out / "estate.js").read_text().split('"')[1])
    assert "copybooks/CUSTPF" in [path for _, _, path in drawn["nodes"]]


CONTROL = """\
             PGM        PARM(&MONTH)
             DCL        VAR(&MONTH) TYPE(*CHAR) LEN(2)
             DCL        VAR(&NEXT) TYPE(*CHAR) LEN(10) VALUE('LATER')
             CHGVAR     VAR(&NEXT) VALUE(&MONTH)
             CALL       PGM(PAY) PARM(&MONTH)
             CALL       PGM(&NEXT)
             CPYF       FROMFILE(DAY) TOFILE(MONTH)
             ENDPGM
"""
CALLED = """\
       PROGRAM-ID. PAY.
       PROCEDURE DIVISION.
           CALL 'GONE'.
           CALL 'NIGHT'.
           GOBACK.
"""
SORTED = "//PAYJOB   JOB\n//ONE      EXEC PGM=SORT\n//SORTIN   DD DSN=PAY.DAY,DISP=SHR\n//TWO      EXEC NOPROC\n"


@pytest.mark.proves("C-19")
def test_programs_in_cl_have_a_place_that_the_search_and_the_graph_lead_to(tmp_path: Path) -> None:
    """A table lists each with its calls, copies and variables; data sets and what is not here are found, too."""
    there, out = tmp_path / "estate", tmp_path / "out"
    there.mkdir()
    for name, text in {"PAY.cbl": CALLED, "night.clp": CONTROL, "PAYJOB.jcl": SORTED}.items():
        (there / name).write_text(text)
    documented((".",), root=Root(str(there)), out=str(out), processes=1)
    site = {path.name: path.read_text() for path in out.iterdir() if path.is_file()}

    told = (out / "index.md").read_text()
    assert (
        "| `NIGHT` | [PAY](programs/PAY.md) line 5 · `LATER` line 6, perhaps | `DAY to MONTH` line 7 "
        "| `&MONTH`, `&NEXT` | `night.clp` line 1 |"
    ) in told
    assert "1 program in CL" in told
    assert "| `NIGHT` **in CL** |" in (out / "programs" / "PAY.md").read_text()
    assert '["NIGHT"]' in told  # and not the frame of what is not here
    (listed,) = json.loads(site["index.json"])["control_programs"]
    assert (listed["name"], listed["path"], listed["line"]) == ("NIGHT", "night.clp", 1)
    assert [call["program"] for call in listed["calls"]] == ["PAY", "LATER"]

    found = _searched(site)
    assert found["NIGHT"] == [("program", "parts.html", "programs-in-cl")]
    assert found["&NEXT"] == [("data", "parts.html", "programs-in-cl")]
    assert found["PAY.DAY"] == [("data set", "flows.html", "jobs-and-data-sets")]
    assert found["MONTH"] == [("data set", "parts.html", "programs-in-cl")]
    assert found["GONE"] == [("program", "index.html", "not-here")]
    assert found["NOPROC"] == [("job", "index.html", "not-here")]
    drawn = scripted(site["estate.js"], "estate")
    assert ["NIGHT", drawn["kinds"].index("program"), "parts"] in drawn["nodes"]


@pytest.mark.proves("C-19")
def test_a_job_is_found_once_where_its_steps_are(tmp_path: Path) -> None:
    """Jobs of one name lead to one table, in which those without steps are not."""
    for path, text in {"A.jcl": SORTED, "B.jcl": SORTED, "C.jcl": "//BARE     JOB\n"}.items():
        (tmp_path / path).write_text(text)
    found = _searched(dict(pages.site(estate_at(tmp_path).estate, {})))
    assert found["PAYJOB"] == [("job", "parts.html", "jobs")]
    assert found["ONE"] == [("step", "parts.html", "jobs")]
    assert "BARE" not in found


READING = """\
       PROGRAM-ID. PAY.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT DAYS ASSIGN TO DAYIN.
           SELECT WORK ASSIGN TO WORKOUT.
       DATA DIVISION.
       FILE SECTION.
       FD  DAYS.
       01  DAYS-RECORD PIC X(80).
       FD  WORK.
       01  WORK-RECORD PIC X(80).
       PROCEDURE DIVISION.
           OPEN INPUT DAYS OUTPUT WORK.
           READ DAYS.
           WRITE WORK-RECORD FROM DAYS-RECORD.
           GOBACK.
"""
FED = """\
//DAILY    JOB
//ONE      EXEC PGM=PAY
//DAYIN    DD DSN=PAY.DAY(0),DISP=SHR
//WORKOUT  DD DSN=&&WORK,DISP=(NEW,PASS)
//TWO      EXEC PGM=SORT
//SORTIN   DD DSN=&&WORK,DISP=(OLD,DELETE)
"""
REGION = "DEFINE FILE(CARDS) GROUP(PAY)\n       DSNAME(CARD.KSDS)\n"


@pytest.mark.proves("C-19")
def test_a_data_set_is_found_once(tmp_path: Path) -> None:
    """A generation, and what a job keeps only for itself, are found where jobs feed each other; a file of CICS in its table."""
    for path, text in {"PAY.cbl": READING, "DAILY.jcl": FED, "REGION.csd": REGION, "OTHER.csd": REGION}.items():
        (tmp_path / path).write_text(text)
    made = estate_at(tmp_path)
    site = rendered(dict(pages.site(made.estate, {}, made.flows)))
    found = {name: hits for name, hits in _searched(site).items() if any(kind == "data set" for kind, _, _ in hits)}
    flows, table = ("data set", "flows.html", "jobs-and-data-sets"), ("data set", "resources.html", "data-sets")
    assert found == {"PAY.DAY": [flows], "DAILY.&&WORK": [flows], "CARD.KSDS": [table]}
    assert "<td>CARD.KSDS</td>" in re.sub("</?code[^>]*>", "", site["resources.html"])
    (cards,) = [one for one in made.estate["data_sets"] if one["dataset"] == "CARD.KSDS"]
    assert (cards["file"], cards["program"], cards["job"]) == ("CARDS", None, None)


ASKING = """\
ENVIRONMENT DIVISION.
INPUT-OUTPUT SECTION.
FILE-CONTROL.
    SELECT CUST ASSIGN TO CUSTFILE.
DATA DIVISION.
FILE SECTION.
FD  CUST.
COPY REC.
PROCEDURE DIVISION.
    OPEN INPUT CUST.
    STOP RUN.
"""


@pytest.mark.proves("C-12")
def test_of_what_a_script_exports_only_names_of_files_are_dd_names(tmp_path: Path) -> None:
    """The paths of libraries, and whatever else no program calls a file, say nothing of data sets."""
    (tmp_path / "PAY.cob").write_text(f"PROGRAM-ID. PAY.\n{ASKING}".replace("\n", "\n       "))
    exported = "LD_PRELOAD=/lib/sql.so JAVA_HOME=/opt/java COB_FILE_PATH=/data DD_CUSTFILE=/data/cust"
    (tmp_path / "run.sh").write_text(f"export {exported}\ncobcrun PAY\n")
    told = dict(pages.estate_markdown(estate_at(tmp_path).estate))["index.md"]
    assert "| `PAY` | [PAY](programs/PAY.md) | `CUSTFILE = /data/cust` · `COB_FILE_PATH = /data` |" in told


def test_two_copybooks_of_one_name_are_told_apart_where_both_declare_a_name(tmp_path: Path) -> None:
    """The data dictionary shows their paths, lines if one declares it twice, and the file's name alone where that is enough."""
    there, out = tmp_path / "estate", tmp_path / "out"
    for name in ("a", "b"):
        (there / name).mkdir(parents=True)
        (there / name / "REC.cpy").write_text(
            f"       01  C-REC.\n           05  C-NO PIC X.\n           05  {name} PIC X.\n"
            + f"           05  {name}-TWICE PIC X.\n" * 2
        )
        (there / name / f"{name}.cob").write_text(f"PROGRAM-ID. {name}.\n{ASKING}".replace("\n", "\n       "))
    documented((".",), root=Root(str(there)), out=str(out), processes=1)
    told = (out / "data.md").read_text()
    found = dict(re.findall(r"^\| `(\S+)` \| .*? \| \d* \| (.*?) \|", told, re.MULTILINE))
    assert re.fullmatch(r"\[a/REC\.cpy\]\(\S+\), \[b/REC\.cpy\]\(\S+\)", found["C-NO"])
    assert found["a"] == "[REC](copybooks/REC.md)"
    assert re.findall(r"\[(.*?)\]", found["a-TWICE"]) == ["REC:4", "REC:5"]


@pytest.mark.proves("C-18")
def test_a_program_in_cl_behind_a_transaction_is_here_and_has_no_page_of_its_own(tmp_path: Path) -> None:
    """Its box among the screens leads nowhere, its name to the table of programs in CL."""
    there, out = tmp_path / "estate", tmp_path / "out"
    there.mkdir()
    region = "DEFINE TRANSACTION(NITE) GROUP(PAY)\n       PROGRAM(NIGHT)\n"
    for name, text in {"PAY.cbl": CALLED, "NIGHT.clp": "PGM\nCALL PGM(PAY)\nENDPGM\n", "R.csd": region}.items():
        (there / name).write_text(text)
    documented((".",), root=Root(str(there)), out=str(out), processes=1)
    (data,) = re.findall(r'<template id="data">([^<]*)', (out / "flows.html").read_text())
    (blocks,) = [blocks for title, _, blocks in unpacked(data)["sections"] if title == "Screens and transactions"]
    pages_of = {label: (kind, page) for _, label, kind, page, *_ in blocks[0][0][0]}
    assert (pages_of["NIGHT"], pages_of["NITE"]) == (("program", ""), ("transaction", ""))
    assert blocks[1][0][0][2][0] == [["NIGHT", "parts", "", "d"]]
    assert "| `NITE` | transaction | `NIGHT` **in CL** |" in (out / "index.md").read_text()


def test_the_box_of_a_program_in_cl_without_variables_leads_to_it(tmp_path: Path) -> None:
    """It is listed like any other."""
    there, out = tmp_path / "estate", tmp_path / "out"
    there.mkdir()
    for name, text in {"PAY.cbl": CALLED, "NIGHT.clp": "PGM\nCALL PGM(PAY)\nENDPGM\n"}.items():
        (there / name).write_text(text)
    documented((".",), root=Root(str(there)), out=str(out), processes=1)
    drawn = scripted((out / "estate.js").read_text(), "estate")
    assert ["NIGHT", drawn["kinds"].index("program"), "parts"] in drawn["nodes"]


@pytest.mark.proves("C-19")
def test_scripts_of_one_name_are_boxes_of_their_own(tmp_path: Path) -> None:
    """Two folders have a run.sh each, and two jobs one JOB card: each says which it is, and runs its own program."""
    for name in ("PAY", "TAX"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.cbl").write_text(f"       PROGRAM-ID. {name}.\n       PROCEDURE DIVISION.\n")
        (tmp_path / name / "run.sh").write_text(f"cobcrun {name}\n")
        (tmp_path / f"{name}.jcl").write_text(f"//NIGHT    JOB\n//ONE      EXEC PGM={name}\n")
    told = dict(pages.estate_markdown(estate_at(tmp_path).estate))["index.md"]
    for title in ("run@PAY#47;run.sh", "run@TAX#47;run.sh", "NIGHT@PAY", "NIGHT@TAX"):
        assert told.count(f'[["{title}"]]') == 1
    assert told.count(" --> n") == 4
