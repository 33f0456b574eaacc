"""Sections as HTML: one static page each, rendered by the Jinja2 templates beside this file.

Law: whatever a program is called or says, it can only be read (`text.html`), and a page names no address but those of its own
site. Keeps out: what is said (`program`, `index`), how it is coloured and searched (`static`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, get_args

from penstock.scribe.pages import drawing
from penstock.scribe.pages.blocks import Block, Piece
from penstock.scribe.pages.estate import paragraph_anchor, program_path
from penstock.text import escape, html

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.scribe.pages.blocks import PageSection

# Only files beside the page: no address of anywhere else is ever asked, whatever a page should come to hold.
_POLICY = "default-src 'none'; script-src 'self' file:; style-src 'self' file:; base-uri 'none'; form-action 'none'"


def page(
    title: str,
    site: str,
    sections: Sequence[PageSection],
    *,
    tabs: Sequence[tuple[str, str]],
    here: str,
    lead: str = "",
    listing: Sequence[tuple[int, str]] = (),
) -> str:
    """Return a whole page of the site as HTML.

    Args:
        title: The heading, and with the name of the site the title of the window.
        site: The name of the estate, shown on every page.
        sections: What the page says, in this order.
        tabs: Path and name of each page of the estate as a whole.
        here: The path of this page beneath the root of the site: links are relative, so that the site opens from disk.
        lead: A line beneath the heading; none where it is empty.
        listing: Numbers and texts of the source's lines, shown at the end; citations of lines that are not in it are no links.
    """
    return (
        environment()
        .get_template("page.html")
        .render(
            title=title,
            site=site,
            sections=sections,
            tabs=tabs,
            here=here,
            up="../" * here.count("/"),
            lead=lead,
            listing=listing,
            listed_lines=frozenset(number for number, _ in listing),
            policy=_POLICY,
        )
    )


@cache
def environment() -> html.Environment:
    """Return the one environment of the package's templates: it escapes everything, and knows the classes of `blocks` as tests.

    Templates ask `piece is CodeSpan`. Both lists of classes are taken from the types themselves: a new kind of piece that no
    template knows fails where it is first shown.
    """
    made = html.environment("penstock.scribe.pages")
    made.globals["HEIGHT"] = drawing.HEIGHT
    made.filters |= {
        "curve": drawing.curve,
        "draw": drawing.draw,
        "paragraph_anchor": paragraph_anchor,
        "percent": "{:.0%}".format,
        "program_path": program_path,
        "px": "{:.0f}".format,
        "show_name": escape.show_name,
    }
    made.tests |= {kind.__name__: _test_for(kind) for kind in (*get_args(Block), *get_args(Piece))}
    return made


def _test_for(kind: type) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)
