"""How is foreign text shown on an HTML page? Made inert, then escaped, by templates that cannot weaken this.

Law: whatever a text says, on a page it can only be read. Two steps ensure it, and both belong to the environment, so that no
template can forget them: output is made inert first (`_inert`), then escaped (autoescape). No template can weaken this: a test
reads all of them and rejects every filter or switch that could. Leaves to others: what is said, and how pages look beyond
`templates/base.css`, the colours and fonts that all pages share.
"""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, TypeAlias

from penstock.text import escape

if TYPE_CHECKING:
    import jinja2

Environment: TypeAlias = "jinja2.Environment"
"""Where templates are looked up; code that writes pages uses this name, and nothing else of the engine."""


def environment(package: str) -> Environment:
    """Return an environment for the templates of a package, in which everything is escaped.

    Args:
        package: the name of a package with a folder `templates`; the shared `base.css` can be included from it too.
    """
    import jinja2  # 40 ms, and only code that writes pages needs it

    # Templates are files of the package, also in wheels and archives; none comes from anywhere else.
    loaders = [jinja2.PackageLoader(package), jinja2.PackageLoader("penstock.text")]
    return jinja2.Environment(
        loader=jinja2.ChoiceLoader(loaders),
        autoescape=True,
        auto_reload=False,  # the templates of a package do not change while it runs
        finalize=_inert,
        undefined=jinja2.StrictUndefined,  # an unknown kind of piece, or a misspelt word, fails instead of showing nothing
        # Lines that hold only a statement leave nothing behind: the templates are indented for their readers.
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def sealed_policy(style: str, *scripts: str, asks_own: bool = False) -> str:
    """Return a content security policy for a page that loads nothing: only these texts act on it.

    A page that is opened from disk has no headers, so the policy is in a `<meta>`; with it neither `style=` nor `on…=` attributes
    work. Source: Content Security Policy Level 3, 2.3.1, hash-source.

    Args:
        style: the text of its one style, exact to the byte.
        scripts: the texts of its scripts.
        asks_own: whether they may contact the server that the page came from, and no other.
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
    """Return a template's output without anything that acts on a viewer: controls, bidirectional and invisible characters.

    Numbers have none. What a macro has rendered is `Markup`, not a plain string: it went through here piece by piece, and a second
    pass would escape its escapes.
    """
    return escape.show_text(value) if type(value) is str else value
