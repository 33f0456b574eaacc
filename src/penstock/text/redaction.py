"""Which words are secrets? Keys in shapes that are known, and what an assignment calls a password (S-17).

A secret becomes `[redacted: KIND, N characters]`, all else stays as it stands. It is for what leaves a session:
journals, handoffs, summaries, logs, and results that a model sees. What has no known shape and no name is not found:
nothing here makes it safe to publish a text.

Laws: redacting twice changes nothing; lines stay lines; the time grows with the text and not faster. Leaves to others:
where a text goes, and which files are not opened at all (`workspace.paths`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MARK = re.compile(r"\[redacted: [A-Za-z ]{1,20}, \d{1,9} characters\]")


def redacted(text: str) -> str:
    """Return a text without what looks like a secret."""
    lower = text.lower()
    for shape in _SHAPES:
        # Most texts hold no hint at all, and a search for a plain word costs a fraction of a pattern.
        if any(hint in lower for hint in shape.hints):
            text = _without(text, shape)
    return text


def mark_in(text: str) -> str:
    """Return the first mark of ours in a text; empty for none."""
    found = _MARK.search(text)
    return found.group() if found else ""


Spans = tuple[tuple[int, int], ...]
"""Places in a text as (start, end), in order, end exclusive."""


def _groups(match: re.Match[str]) -> Spans:
    """Return all that the pattern captured."""
    return tuple(span for span in (match.span(group) for group in range(1, match.re.groups + 1)) if span[0] >= 0)


class _Shape(NamedTuple):
    """What a kind of secret looks like.

    Every repetition in a pattern is possessive or short, so that no place is looked at again and again: texts come from
    strangers, and a pattern that backtracks can be made to take quadratic time.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    """Lower-case words one of which stands in every text with such a secret."""
    spans: Callable[[re.Match[str]], Spans] = _groups
    """Gives the parts to take out of a match, in order; none where it only looked like a secret."""


def _without(text: str, shape: _Shape) -> str:
    """Return a text with a mark for each secret of one shape, and the line ends that the secret had."""
    made: list[str] = []
    kept = 0
    for start, end in _found(text, shape):
        secret = text[start:end]
        made += (text[kept:start], f"[redacted: {shape.kind}, {len(secret)} characters]", "\n" * secret.count("\n"))
        kept = end
    return "".join((*made, text[kept:])) if made else text


def _found(text: str, shape: _Shape) -> Iterator[tuple[int, int]]:
    """Yield the places of one shape in a text; the next search begins behind the last, so that places never overlap."""
    at = 0
    while match := shape.pattern.search(text, at):
        spans = shape.spans(match)
        yield from spans
        at = max(match.end(), spans[-1][1]) if spans else match.end()


# ── keys that say what they are ──────────────────────────────────────────────────────────────────────────────────

# What is glued to a key goes with it, so that what follows a mark is never a part of a word.
_TAIL = r"[A-Za-z0-9_-]*+"
_WORD = "".join(map(chr, (*range(48, 58), *range(65, 91), *range(97, 123)))) + "_-"
# Of a JWT: no server takes a longer one.
_HEAD_CHARS = 1 << 14


def _key(kind: str, pattern: str, *hints: str) -> _Shape:
    """Return the shape of keys that begin with a prefix of their own."""
    return _Shape(kind, re.compile(f"({pattern}{_TAIL})"), hints)


def _with_digit(match: re.Match[str]) -> Spans:
    """Return the parts of a key that holds a digit: of two dozen random letters and digits one is a digit.

    `sk-` also begins names of classes in CSS, which hold none.
    """
    return _groups(match) if any(character.isdigit() for character in match[1]) else ()


def _jwt(match: re.Match[str]) -> Spans:
    """Return a token from the header that ends where the match begins; without a header it is no token."""
    # The pattern begins at the first dot and looks back from there. One that began at every `eyJ` would read on to the
    # next dot each time: quadratic in a text of nothing but `eyJeyJ…`.
    text, end = match.string, match.start()
    before = text[max(0, end - _HEAD_CHARS) : end]
    head = before[len(before.rstrip(_WORD)) :]
    at = head.find("eyJ")
    return ((end - len(head) + at, match.end(1)),) if at >= 0 else ()


# ── private keys ─────────────────────────────────────────────────────────────────────────────────────────────────

_PEM = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_EDGE = re.compile(rf"-----(?:BEGIN|(END)) {_PEM}")
# Between lines of a key: line ends, also written as \n, quotes, the number of a line on a page.
_GAP = r"(?:\\[nr]|[\s\"'+,|\d]){0,40}+"
_CUT_OFF = re.compile(
    rf"(?>(?:{_GAP}[A-Z][A-Za-z-]{{3,20}}+: [^\n\\]{{1,100}}+){{0,9}})"  # headers: Proc-Type, Version
    rf"(?>(?:{_GAP}[A-Za-z0-9+/=]{{16,}}+)*)(?:{_GAP}[A-Za-z0-9+/]{{0,15}}+=)?"
)
_BODY = re.compile(r"[A-Za-z0-9+/]{20}")


def _private_key(match: re.Match[str]) -> Spans:
    """Return a key to its end, or as far as it goes where that was cut off. A line that only speaks of keys has no body."""
    text = match.string
    edge = _EDGE.search(text, match.end())
    if edge is not None and edge[1]:
        end = edge.end()
    else:
        cut_off = _CUT_OFF.match(text, match.end())
        end = cut_off.end() if cut_off else match.end()
    return ((match.start(), end),) if _BODY.search(text, match.end(), end) else ()


# ── secrets that are called so ───────────────────────────────────────────────────────────────────────────────────

_OF_KEYS = ("api", "access", "private", "signing", "account")
_OF_TOKENS = ("_", "-", "access", "auth", "refresh", "api", "session", "bot")
_NAMES = (
    rf"passw(?:or)?d|passphrase|pwd|secret(?:[_-]?access)?(?:[_-]?key)?|(?:{'|'.join(_OF_KEYS)})[_-]?key"
    rf"|(?:{'|'.join(_OF_TOKENS)})token"
)
_NAMED = (
    *("passw", "passphrase", "pwd", "secret"),
    *(f"{word}{sign}key" for word in _OF_KEYS for sign in ("", "_", "-")),
    *(f"{word}token" for word in _OF_TOKENS),
)
_ASSIGNED = re.compile(
    rf"(?i:(?<!:)({_NAMES}))\d{{0,2}}\\?[\"']?[ \t]{{0,8}}+(?::=|=>|[:=])[ \t]{{0,8}}+"
    r"(?:[bBrR]?\\?\"([^\s\"]{8,}+)\"|[bBrR]?\\?'([^\s']{8,}+)'|([^\s\"'`,;&|<>(){}\[\]$%\\]{8,}+)(?![(\[{]))"
)
_NO_SECRET = re.compile(r"\*+|\.+|x+|X+|[<\[{$%(].*|.*(?:\$\{|\{\{|%\(|%s|\{\w*\}).*", re.DOTALL)
_IDENTIFIER = re.compile(r"[A-Za-z_.:*/?-]++")
_LINE_OF_SETTINGS = re.compile(r"(?:\d{1,9}[|\t])?(?:export )?[A-Za-z0-9_]*")


def _assigned(match: re.Match[str]) -> Spans:
    """Return the value of an assignment, unless it is a placeholder, names the field once more, or is bare and reads as
    a name.
    """
    group = match.lastindex or 0
    start, end = match.span(group)
    # The quote that ends a string within a quoted text has a backslash before it.
    end -= len(match[group]) - len(match[group].rstrip("\\"))
    value = match.string[start:end]
    if len(value) < 8 or _NO_SECRET.fullmatch(value) or (match[1].lower() == "pwd" and value[0] in "/~."):
        return ()
    name, words = (re.sub(r"[_-]", "", part).lower() for part in (match[1], value))
    # A value in quotes may be a password of letters alone; tokens are random, and a bare word in a program is a name:
    # `password = get_password`.
    is_random = name.endswith("token") or (group == 4 and not _is_setting(match))
    if (is_random or name in words) and _IDENTIFIER.fullmatch(value):
        return ()
    return ((start, end),)


def _is_setting(match: re.Match[str]) -> bool:
    """Return whether a line begins with `NAME=value`, as in files of settings; programs have blanks around the sign, or
    indent it.
    """
    text, start = match.string, match.start()
    begin = text.rfind("\n", max(0, start - 80), start) + 1
    is_first = (begin or start < 80) and _LINE_OF_SETTINGS.fullmatch(text, begin, start)
    is_last = text[match.end() : match.end() + 1] in {"", "\r", "\n"}
    return bool(is_first) and is_last and text[match.end(1) : match.start(4)].lstrip("0123456789") == "="


# The order matters where shapes overlap: what says most of itself first, what only has a telling name last.
_SHAPES = (
    _Shape("private key", re.compile(rf"-----BEGIN {_PEM}"), ("private key",), _private_key),
    _key("Anthropic key", r"sk-ant-[A-Za-z0-9_-]{16,}+", "sk-ant-"),
    _Shape(
        "API key",
        re.compile(r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))((?:sk-|[sr]k_(?:live|test)_)[A-Za-z0-9_-]{20,}+)"),
        ("sk-", "k_live_", "k_test_"),
        _with_digit,
    ),
    _key("GitHub token", r"(?:gh[pousr]_[A-Za-z0-9]{30}|github_pat_[A-Za-z0-9_]{30})", "gh", "github_pat_"),
    _key("GitLab token", r"glpat-[A-Za-z0-9_-]{20}", "glpat-"),
    _key("Slack token", r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10}", "xox", "xapp-"),
    _key("Google key", r"AIza[A-Za-z0-9_-]{35}", "aiza"),
    _Shape(
        "AWS key",
        re.compile(
            rf"((?:AKIA|ASIA)[A-Z0-9]{{16}}{_TAIL})(?:[\s:;,|\"']{{1,8}}+([A-Za-z0-9/+]{{40}}(?![A-Za-z0-9/+=])))?"
        ),
        ("akia", "asia"),
    ),
    _Shape("JWT", re.compile(rf"\.(?=eyJ[A-Za-z0-9_-]{{5,}}+\.({_TAIL}))"), (".eyj",), _jwt),
    _Shape(
        "credential",
        re.compile(
            r"(?i:authorization[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[bf]?\\?[\"']?(?:bearer|basic|token|digest)[ \t]{1,4})"
            r"([^\s\"',;<>{}()\[\]$%\\]{8,}+)"
        ),
        ("authorization",),
    ),
    _Shape("credential", re.compile(r"(?i:\bbearer[ \t]{1,4})([A-Za-z0-9._~+/-]{16,}+=*+)"), ("bearer",), _with_digit),
    _Shape(
        "URL password",
        re.compile(r"://[^\s/@:\"'<>{}$%(]{0,256}+:(?!(?i:pass(?:w(?:or)?d)?|pwd)@)([^\s/@\"'<>{}$%\[(]{1,256}+)@"),
        ("://",),
    ),
    _Shape("secret", _ASSIGNED, _NAMED, _assigned),
)
