"""What every shape of a secret is: hints where to look, and a function that says what is secret there.

Law: hints are rare in ordinary text and short, or their search would make many states; a function looks at a bounded part
of the text, or at a part that no other looks at again. Leaves to others: the shapes (`secret_shapes`, `secret_names`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Spans = tuple[tuple[int, int], ...]
"""Places in a text as (start, end), in order, end exclusive."""


REACH_CHARS = 1 << 14
"""No shape looks further before its place or behind it; but a private key ends where the next edge of one is."""
PRIVATE_KEY_BEGINS = "-----BEGIN "
SERVICES = "services"
"""The search for names of services, of which there are a thousand."""


class Shape(NamedTuple):
    """What a kind of secret looks like."""

    kind: str
    leads: tuple[str, ...]
    """How the text begins at a place where a secret of this kind may be found, two characters at least."""
    hints: tuple[str, ...]
    """Patterns in RE2's syntax, one of which matches at every such place, and at few others; none where another shape has
    them.
    """
    spans: Callable[[str, int, int], Spans]
    """Gives what is secret from a text, such a place, and the end of the secret before; none where it only looked so."""
    is_folded: bool = False
    """Whether the leads are in lower case and stand for any case."""
    engine: str = ""
    """Which search its hints belong to; empty for that of all that is in lower case, or of all that is not.

    The states of a search are the product of what its hints can be in the midst of.
    """


WORD_BEGINS = re.compile(r"(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=\x1b\[[\d;]m)|(?<=\x1b\[[\d;]{2}m)|(?<=\x1b\[[\d;]{4}m)")
"""Where a word begins, also behind a line end that is written as `\\n`, and behind a colour of a terminal."""
BEFORE_WORD = re.compile(r"_|\\[nrt]?|\x1b\[[\d;]*+m")
"""What a hint of a key that begins a word may take with it."""
# What is glued to a key goes with it, so that what follows a mark is never a part of a word.
_TAIL = re.compile(r"[\w-]*+", re.ASCII)
WORD_END = r"(?![\w-]|\[redacted: )"
"""Where a word ends. A mark that is glued to it counts as its rest: it was that, before it was redacted."""


PUBLIC = re.compile(
    r"(?i:sha\d|md5|hash|digest|checksum|commit|revision|version|etag|public|pub[_-]?(?:key|\Z)|fingerprint"
    r"|gpg[ _-]?(?:key|\Z)|integrity|websocket)|\bh1:"
)
"""Words of names whose values are random and no secrets: digests, revisions, public keys, what a handshake shows."""


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern compiled when it is first needed: most formats never are, and all of them take 50 ms."""
    return re.compile(pattern, re.ASCII)


def to_tail(text: str, start: int, end: int) -> Spans:
    """Return the place of a key with what is glued to it."""
    tail = _TAIL.match(text, end)
    return ((start, tail.end() if tail else end),)


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern of several plain words."""
    return "|".join(re.escape(word) for word in sorted(set(words)))


# A value is judged by its first 160 characters, or a text could be made where each name is followed by all the others.
_BARE_REST = re.compile(r"(?>(?:[^\s\"'`,;&|<>(){}\[\]$%\\]|%(?=[\w%]))*)")


def to_end(text: str, span: tuple[int, int]) -> Spans:
    """Return a place that reaches to the end of the bare word."""
    rest = _BARE_REST.match(text, span[1])
    return ((span[0], rest.end() if rest else span[1]),)
