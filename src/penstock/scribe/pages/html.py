"""How do sections become an HTML page? Short content is in the page itself; long content is data from which its script makes
elements.

A page opens from disk. Its frame and short facts are rendered by the Jinja2 templates in this folder; tables and diagrams are
packed (`packing`), because as elements they would be ten times as large and take half of the time of a run; all of them are also in
the Markdown next to the page. The source is a separate file, which is read when somebody wants to see it.

Law: whatever a program is called or says, it can only be read (`text.html`, `packing`, and a script that inserts text as text), and
a page names no address outside its own site. Leaves to others: the content (`program`, `index`), how it is coloured and searched
(`static`).
"""

from __future__ import annotations

from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, get_args

from penstock.scribe.pages.blocks import Block, FactBlock, Graph, GraphBlock, Piece, TextBlock
from penstock.scribe.pages.estate import paragraph_anchor
from penstock.scribe.pages.graphs import ESTATE
from penstock.scribe.pages.packing import packed
from penstock.text import html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from penstock.scribe.pages.blocks import PageSection
    from penstock.text.json_access import Json

# Only files next to the page: no other address is ever requested, whatever a page may come to contain.
_POLICY = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; base-uri 'none'; form-action 'none'"


def page(
    title: str,
    site: str,
    sections: Sequence[PageSection],
    *,
    tabs: Sequence[tuple[str, str]],
    here: str,
    lead: str = "",
    lines: Iterable[int] = (),
    markdown: str = "index.md",
) -> str:
    """Return a complete HTML page of the site.

    Args:
        title: The heading, which with the name of the site is also the title of the window.
        site: The name of the estate, shown on every page.
        sections: The content of the page, in this order.
        tabs: Path and name of each page of the estate as a whole.
        here: The path of this page below the root of the site: links are relative, so that the site opens from disk.
        lead: A line below the heading; none if it is empty.
        lines: The numbers of the source's lines, in their order; citations of other lines are not links.
        markdown: The path of the file that says the same without scripts.
    """
    numbers = tuple(lines)
    short = tuple(takewhile(_is_short, sections))
    rest = [(one.title, one.slug, tuple(map(_as_loaded, one.blocks))) for one in sections[len(short) :]]
    return (
        environment()
        .get_template("page.html")
        .render(
            title=title,
            site=site,
            # No more than is shown: what a template was given stays in memory until the cycle collector runs.
            contents=[(one.title, one.slug) for one in sections],
            short=short,
            data=packed({"sections": rest, "spans": spans_of(numbers)}) if rest or numbers else "",
            tabs=tabs,
            here=here,
            up="../" * here.count("/"),
            lead=lead,
            has_source=bool(numbers),
            listed_lines=frozenset(numbers),
            markdown=markdown,
            policy=_POLICY,
        )
    )


def source_script(listing: Sequence[tuple[int, str]], inner: Json = None) -> str:
    """Return the script that loads the lines of a source into its page, and the graph of its fields and paragraphs.

    It is a script because a browser lets a page from disk load nothing else.
    """
    spans = spans_of([number for number, _ in listing])
    told = {"spans": spans, "lines": [text for _, text in listing], "graph": inner}
    return f'penstock.source("{packed(told)}");\n'


def spans_of(numbers: Sequence[int]) -> list[list[int]]:
    """Return ascending, distinct numbers as spans, each with its first and last."""
    if numbers and numbers[-1] - numbers[0] == len(numbers) - 1:  # as the lines of nearly all programs are
        return [[numbers[0], numbers[-1]]]
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return spans


def _as_loaded(block: Block) -> Block:
    """Return a block as a page has it: the graph of the estate is a separate file, which all pages share."""
    if isinstance(block, GraphBlock) and block.around == ESTATE:
        return block._replace(graph=Graph((), ()))
    return block


def _is_short(section: PageSection) -> bool:
    """Return whether a section has only text and facts, which a reader sees first, and without scripts."""
    return all(isinstance(block, TextBlock | FactBlock) for block in section.blocks)


@cache
def environment() -> html.Environment:
    """Return the one environment of the package's templates: it escapes everything, and has the classes of `blocks` as tests.

    Templates ask `piece is CodeSpan`. The classes are taken from the types themselves, so a new kind of piece that no template
    knows fails where it is first shown.
    """
    made = html.environment("penstock.scribe.pages")
    made.filters |= {"paragraph_anchor": paragraph_anchor, "percent": "{:.0%}".format}
    made.tests |= {kind.__name__: _test_for(kind) for kind in (*get_args(Block), *get_args(Piece))}
    return made


def _test_for(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)
