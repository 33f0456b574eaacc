"""How is foreign text shown on a page of HTML? Made inert, then escaped, by templates that cannot ask for less.

Law: whatever a text says, on a page it can only be read. Two steps keep it, and both belong to the environment, so that no
template can forget them: what is put out is made inert first (`_inert`), then escaped (autoescape). No template can ask for less: a
test reads all of them, and lets no filter or switch in that could. Leaves to others: what is said, and how their pages look beyond
`templates/base.css`, the colours and letters that all pages share.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, TypeAlias

from penstock.text import escape

if TYPE_CHECKING:
    import jinja2

Environment: TypeAlias = "jinja2.Environment"
"""Where templates are looked up; whoever writes pages names it so, and nothing else of the engine."""


def environment(package: str) -> Environment:
    """Return an environment for the templates of a package, in which everything is escaped.

    Args:
        package: the name of a package with a folder `templates`; the shared `base.css` can be included beside them.
    """
    import jinja2  # 40 ms, and only who writes pages needs it

    # Templates are files of the package, wheels and archives included; none comes from anywhere else.
    loaders = [jinja2.PackageLoader(package), jinja2.PackageLoader("penstock.text")]
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        finalize=_inert,
        undefined=jinja2.StrictUndefined,  # a piece of no known kind, or a word misspelt, fails instead of showing nothing
        # Lines that only hold a statement leave nothing: the templates are indented for who reads them.
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def sealed_policy(style: str, *scripts: str, asks_own: bool = False) -> str:
    """Return a content security policy for a page that asks for nothing: only these texts act on it.

    A page that opens from disk has no headers, so the policy stands in a `<meta>`; with it neither `style=` nor `on…=` attributes
    work. Source: Content Security Policy Level 3, 2.3.1, hash-source.

    Args:
        style: the text of its one style, to the byte.
        scripts: the texts of its scripts.
        asks_own: whether they may ask the server that the page came from, and no other.
    """
    allowed = [f"style-src {_hash_source(style)}"]
    if scripts:
        allowed.append(f"script-src {' '.join(map(_hash_source, scripts))}")
    if asks_own:
        allowed.append("connect-src 'self'")
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])


def _hash_source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _inert(value: object) -> object:
    """Return what a template puts out without anything that acts on a viewer: controls, bidirectional and invisible letters.

    Numbers have none. What a macro has rendered is `Markup`, no plain string: it went through here piece by piece, and a second
    time would escape its escapes.
    """
    return escape.show_text(value) if type(value) is str else value
