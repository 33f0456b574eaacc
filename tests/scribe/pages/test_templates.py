"""Do all templates of the site escape what they show, and does an installed package have them?"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import nodes
from tests.scribe.pages.rendered import scripted

import penstock
from penstock.inspection import page
from penstock.scribe.pages import html
from penstock.scribe.pages.blocks import (
    BELOW,
    CellKind,
    CitedLines,
    CodeSpan,
    DocumentLink,
    FactBlock,
    Graph,
    GraphBlock,
    GraphNode,
    ModelWords,
    PageSection,
    ParagraphLink,
    TableBlock,
    TableColumn,
    Tag,
    TextBlock,
)
from penstock.scribe.pages.packing import packed, unpacked
from penstock.text import escape

if TYPE_CHECKING:
    from penstock.scribe.pages.blocks import Cell

PACKAGE = Path(penstock.__file__).parent
MAKER = PACKAGE / "text" / "html.py"
"""The only module that makes an environment."""
ENVIRONMENTS = {
    PACKAGE / "scribe" / "pages": (html.environment, ["base.css", "blocks.html", "page.html"]),
    PACKAGE / "inspection": (
        page._environment,
        ["base.css", "frame.html", "overview.html", "renewed.js", "story.html", "story.js", "style.css", "table.html"],
    ),
}
"""The modules that write pages, how each makes its environment, and its templates."""
MARKUP = "<i>\u202e\x1b"
SHOWN = "&lt;i&gt;\\u{202e}\\x1b"
FILTERS = {
    "curve",
    "draw",
    "length",
    "min",
    "paragraph_anchor",
    "percent",
    "program_path",
    "px",
    "show_name",
    "urlencode",
}
"""The filters and functions that templates may use. None makes markup of text, unlike `safe`, `tojson`, `xmlattr` and `urlize`."""
WAYS_AROUND = {"Markup", "from_string", "__html__"}
"""Python names that could bring in markup past the environment."""


def around_in(source: str) -> set[str]:
    """Return the ways around escaping in a Python module."""
    found: set[str] = set()
    if not any(word in source for word in (*WAYS_AROUND, "jinja2", "markupsafe")):
        return found  # every way has one of these words; parsing the whole package takes seconds
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name for alias in node.names} | {getattr(node, "module", None) or ""}
            found |= {name for name in names if name.split(".")[0] in {"jinja2", "markupsafe"}} | (names & WAYS_AROUND)
        elif isinstance(node, ast.Name | ast.Attribute | ast.FunctionDef):
            name = (
                node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else node.name
            )
            found |= {name} & WAYS_AROUND
    return found


def around_in_template(source: str) -> set[str]:
    """Return the ways around escaping in a template: filters that may make markup, and switches for escaping."""
    tree = jinja2.Environment(extensions=["jinja2.ext.do"]).parse(source)
    found = {
        one.name for one in tree.find_all((nodes.Filter, nodes.FilterBlock)) if isinstance(one, nodes.Filter)
    } - FILTERS
    switches = (nodes.ScopedEvalContextModifier, nodes.EvalContextModifier, nodes.MarkSafe, nodes.MarkSafeIfAutoescape)
    return (
        found
        | {type(one).__name__ for one in tree.find_all(switches)}
        | {one.attr for one in tree.find_all(nodes.Getattr) if one.attr.startswith("__")}
    )


def test_no_template_can_leave_out_escaping() -> None:
    """One environment escapes in all templates; no filter marks text as safe, no block is exempt, and Python makes no markup."""
    for folder, (made, names) in ENVIRONMENTS.items():
        environment = made()
        assert environment.autoescape is True
        assert sorted(environment.list_templates()) == names
        for name in environment.list_templates():
            template = (MAKER.parent if name == "base.css" else folder) / "templates" / name
            assert around_in_template(template.read_text()) == set(), name
    for path in PACKAGE.rglob("*.py"):
        found = around_in(path.read_text())
        assert found == ({"jinja2"} if path == MAKER else set()), path


@pytest.mark.parametrize(
    "source",
    [
        "{{ text|safe }}",
        "{% autoescape false %}{{ text }}{% endautoescape %}",
        "{% filter safe %}{{ text }}{% endfilter %}",
        "{{ text|tojson }}",
        "{{ text|xmlattr }}",
        "{{ text.__html__() }}",
    ],
)
def test_each_way_around_in_a_template_is_seen(source: str) -> None:
    """The check above would fail."""
    assert around_in_template(source)


@pytest.mark.parametrize(
    "source",
    [
        "from markupsafe import Markup",
        "import markupsafe as m",
        "import jinja2",
        "from jinja2.utils import markupsafe",
        "def __html__(self): return self",
        "environment().from_string(text)",
    ],
)
def test_each_way_around_in_python_is_seen(source: str) -> None:
    """The check above would fail for a module."""
    assert around_in(source)


def page_of(word: str) -> tuple[str, str]:
    """Return a page that has a word wherever a page can have one, and what it gives to its script as JSON.

    The word is in headings, tabs, each kind of block and piece, boxes, and the listing.
    """
    cell: Cell = (
        word,
        CodeSpan(word),
        CitedLines(1, 2, "p"),
        DocumentLink(word, "p"),
        ParagraphLink(word, 1),
        ModelWords(word, 0.5),
        Tag(word),
    )
    short = PageSection(word, (TextBlock(cell), FactBlock(((word, cell),))))
    graph = GraphBlock(Graph((GraphNode("a", word),), ()), word)
    told: dict[CellKind, Any] = {
        "pieces": cell,
        "code": word,
        "codes": [word],
        "plain": word,
        "lines": [1, (1, 2), word],
    }
    assert told.keys() == set(get_args(CellKind))
    table = TableBlock(tuple(TableColumn(word, kind, (one,)) for kind, one in told.items()))
    long = PageSection(word, (TextBlock(cell), FactBlock(((word, cell),)), table, graph))
    made = html.page(word, word, (short, long), tabs=(("p", word),), here="index.html", lead=word, lines=(1,))
    data = re.search('<template id="data">([^<]*)</template>', made)
    assert data
    source = scripted(html.source_script(((1, word),)), "source")
    return made, json.dumps([unpacked(data[1]), source], ensure_ascii=False)


def test_every_place_of_a_page_is_escaped() -> None:
    """Markup with a bidirectional and a control character is shown as text wherever a page can show a word."""
    made, data = page_of(MARKUP)
    plain, plain_data = page_of("§§")
    assert "<i>" not in made
    assert not set("\u202e\x1b") & set(made + data)
    assert made.count(SHOWN) == plain.count("§§") > 15
    inert = json.dumps(escape.show_text(MARKUP))[1:-1]
    assert data.count(inert) == plain_data.count("§§") > 15


def test_the_script_makes_no_markup_of_a_text() -> None:
    """The script uses nothing that parses text as markup, runs it, or sets an active attribute."""
    acting = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|\beval\b|Function\("
        r"|setTimeout|javascript:"
    )
    for name in ("site.js", "graph.js"):
        text = (PACKAGE / "scribe" / "pages" / "static" / name).read_text()
        assert re.findall(acting, text) == [], name
        # The only addresses that it sets begin with the path to the site's root, or are places in the page.
        assert set(re.findall(r"(?:href|src): ([^,})]+?) ?[,})]", text)) <= {
            "isLink ? address(path",
            "address(path",
            'address(start.isOwn ? "" : node.page',
            "up + encode(path",
            "up + encode(page",
            "link",
            '"#used-by"',
        }


@given(
    st.recursive(
        st.text() | st.integers() | st.none() | st.booleans(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=20,
    )
)
def test_what_is_packed_is_unpacked_inert(value: Any) -> None:
    """Any value comes back with each text in its shown form; the page has only base64 letters."""
    text = packed(value)
    assert re.fullmatch("[A-Za-z0-9+/=]*", text)
    assert unpacked(text) == _shown(value)


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return value if value == BELOW else escape.show_text(value)
    if isinstance(value, list):
        return [_shown(one) for one in value]
    return {_shown(name): _shown(one) for name, one in value.items()} if isinstance(value, dict) else value


def test_a_piece_of_no_known_kind_fails() -> None:
    """An unknown kind of piece fails and is not left out silently."""
    unknown: Cell = (GraphNode("a", "b"),)  # type: ignore[assignment]
    with pytest.raises(jinja2.UndefinedError):
        html.page("T", "S", (PageSection("A", (TextBlock(unknown),)),), tabs=(), here="index.html")


def test_dark_colours_are_for_screens() -> None:
    """A page that was dark on the screen was printed in grey, without its backgrounds, on white paper."""
    styles = "\n".join(path.read_text() for path in sorted(PACKAGE.rglob("*.css")))
    dark = re.findall(r".*(?:prefers-color-scheme: dark|data-theme=\"dark\").*", styles)
    assert len(dark) == 3
    assert all(rule.startswith("@media screen") for rule in dark)


def test_a_wheel_has_the_templates(tmp_path: Path) -> None:
    """A wheel contains what the package reads at run time."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=PACKAGE.parents[1], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    shipped = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("text/templates", "inspection/templates", "scribe/pages/templates", "scribe/pages/static"):
        for file in (PACKAGE / folder).iterdir():
            assert str(file.relative_to(PACKAGE.parent)) in shipped


def test_only_who_writes_pages_pays_for_the_engine() -> None:
    """Importing the room, as the command line does, loads no template engine."""
    rooms = "penstock.scribe.pages, penstock.inspection.page"
    said = f"import sys, {rooms}; print({{'jinja2', 'markupsafe'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
