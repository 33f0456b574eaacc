"""What is the shape of a secret? Hints where to look, and a function that says what is secret there.

Law: hints are rare in ordinary text and short, or their search would have many states; a function reads a bounded part of the
text, or a part that no other call reads again. Leaves to others: the shapes (`secret_shapes`, `secret_names`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Spans = tuple[tuple[int, int], ...]
"""Places in a text as (start, end), in order, end exclusive."""


REACH_CHARS = 1 << 14
"""How far a shape reads before and after its place at most; except that a private key ends where the next edge of one is."""
NEAR_CHARS = 1 << 11
"""How far most shapes read, at most."""
SERVICES = "services"
"""The search for names of services, of which there are a thousand."""


class Shape(NamedTuple):
    """What a kind of secret looks like."""

    kind: str
    leads: tuple[str, ...]
    """How the text begins at a place where a secret of this kind may be found, at least two characters."""
    hints: tuple[str, ...]
    """Patterns in RE2's syntax, one of which matches at every such place and at few others; none if another shape has
    them.
    """
    spans: Callable[[str, int, int], Spans]
    """Returns what is secret, given a text, such a place, and the end of the previous secret; nothing if it only looked so."""
    is_folded: bool = False
    """Whether the leads are in lower case and match any case."""
    engine: str = ""
    """Which search its hints belong to; if empty, that of all lower-case hints, or of all others.

    The states of a search are the product of the states that its hints can be in.
    """
    reach_chars: int = NEAR_CHARS
    """How far `spans` reads before and after its place at most."""


class _Uncompiled:
    """A pattern that is compiled when one of its methods is first used, and from then on has those of the compiled one."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a copy asks for these before it has a pattern
            raise AttributeError(name)
        made = getattr(re.compile(self.pattern, self._flags), name)
        setattr(self, name, made)
        return made


def later(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled when first used: all of them take 30 ms, and most texts need none."""
    return cast("re.Pattern[str]", _Uncompiled(pattern, flags))


WORD_BEGINS = later(r"(?<![A-Za-z0-9])|(?<=\\[nrt])")
"""Where a word begins, also after a line end written as `\\n`."""
BEFORE_WORD = later(r"_|\\[nrt]?")
"""What a hint of a key that begins a word may include before it."""
# What is attached to a key goes with it, so that what follows a mark is never part of a word.
_TAIL = later(r"[\w-]*+", re.ASCII)
WORD_END = r"(?![\w-]|\[redacted: )"
"""Where a word ends. A mark attached to it counts as its rest, because it was that before it was redacted."""


PUBLIC = later(
    r"(?i:sha\d|md5|hash|digest|checksum|commit|revision|version|etag|public|pub[_-]?(?:key|\Z)|fingerprint"
    r"|gpg[ _-]?(?:key|\Z)|integrity|websocket|(?:[_-]signature|nonce)(?![ _-]?\Z))|\bh1:"
)
"""Words of names whose values are random but not secret: digests, revisions, public keys, handshake data."""


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern, compiled when first needed: most formats never are, and all of them take 50 ms."""
    return re.compile(pattern, re.ASCII)


def to_tail(text: str, start: int, end: int) -> Spans:
    """Return the place of a key including what is attached to it."""
    tail = _TAIL.match(text, end)
    return ((start, tail.end() if tail else end),)


def alternatives(words: Iterable[str]) -> str:
    """Return a pattern of several plain words."""
    return "|".join(re.escape(word) for word in sorted(set(words)))


# A value is judged by its first 160 characters; otherwise a text could be made in which each name is followed by all others.
_BARE_REST = later(r"(?>(?:[^\s\"'`,;&|<>(){}\[\]$%\\]|%(?=[\w%]))*)")


def to_end(text: str, span: tuple[int, int]) -> Spans:
    """Return a place extended to the end of the bare word."""
    rest = _BARE_REST.match(text, span[1])
    return ((span[0], rest.end() if rest else span[1]),)
