"""What do secrets look like that are given away by their beginning, middle, end or place? And all shapes in order.

Leaves to others: formats as data (`secret_formats`), what is secret by its name (`secret_names`), searching and marking
(`redaction`).
"""

from __future__ import annotations

import re
import sys
from base64 import b64decode, urlsafe_b64decode
from typing import TYPE_CHECKING

from penstock.text.secret_commands import by_what_is_said
from penstock.text.secret_formats import ANYWHERE, AT_WORDS
from penstock.text.secret_names import by_names
from penstock.text.secret_places import by_places
from penstock.text.secret_services import by_services
from penstock.text.secret_shape import (
    REACH_CHARS,
    WORD_BEGINS,
    WORD_END,
    Shape,
    Spans,
    alternatives,
    compiled,
    later,
    to_tail,
)
from penstock.text.secret_values import count_changes, is_strong, mixes_cases, reads_as_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The beginning of a word, for RE2; what it includes before that is skipped by the code that tries the shape.
_EDGE_OF_WORD = r"(?:\b|_|\\[nrt])"
_WORD = "".join(map(chr, (*range(48, 58), *range(65, 91), *range(97, 123)))) + "_-"


def _look_back(pattern: str, most: int) -> Callable[[str, int, int], int]:
    """Return a function that says where the word before a place begins, -1 if it does not match the pattern."""
    whole = rf"(?<![\w-])(?:{pattern})\Z"

    def begin(text: str, at: int, floor: int) -> int:
        found = compiled(whole).search(text, max(floor, at - most), at)
        return found.start() if found else -1

    return begin


# ── keys that say what they are ──────────────────────────────────────────────────────────────────────────────────

# Of a key's beginning and a little more; the pattern of its format is tried there.
_MORE = r"[\w.+/=$:%#*~-]{8}"
_RARE_CHARS = 5
_HEX8 = "[0-9a-fA-F]{8}"
_FREQUENT = {  # beginnings that are common in programs
    "pat": r"[A-Za-z0-9]{14}\.",
    **dict.fromkeys(("key-", "live_", "test_", "live_pub_", "test_pub_", "pri_", "web_", "server_"), _HEX8),
    **dict.fromkeys(("api-", "sdk-", "mob-"), "[0-9a-z]{8}-[0-9a-z]{4}-"),
    "MII": "[A-Za-z0-9+/]{3}IBA",
}


def _own_formats() -> Iterable[Shape]:
    """Yield a shape for each format with a beginning of its own."""
    for formats, edge in ((ANYWHERE, ""), (AT_WORDS, _EDGE_OF_WORD)):
        hints = (_beginnings((word for row in formats for word in row.prefixes.split()), edge),)
        for kind, prefixes, body in formats:
            words = tuple(prefixes.split())
            spans = _own(words, body, begins_a_word=bool(edge))
            yield Shape(kind, words, hints, spans, reach_chars=REACH_CHARS)


def _beginnings(words: Iterable[str], edge: str) -> str:
    """Return one hint for the beginnings of many keys."""
    # What comes before and after them is written once: as separate hints they had twice the states, and the search ran at
    # half the speed until it had built them.
    by_rest: dict[str, list[str]] = {}
    for word in words:
        by_rest.setdefault(_more(word), []).append(word)
    return f"{edge}(?:{'|'.join(f'(?:{alternatives(some)}){rest}' for rest, some in by_rest.items())})"


def _more(word: str) -> str:
    """Return what a hint requires after the beginning of a key: the rarer that is, the less."""
    return _FREQUENT.get(word, "" if len(word) >= _RARE_CHARS else _MORE)


def _own(words: tuple[str, ...], body: str, *, begins_a_word: bool) -> Callable[[str, int, int], Spans]:
    """Return the function for a format with a beginning of its own."""
    pattern = rf"(?:{alternatives(words)})(?:{body})"

    def spans(text: str, at: int, floor: int) -> Spans:
        if begins_a_word and at != floor and (not WORD_BEGINS.match(text, at) or _is_in_base64(text, at, _SHORT_CHARS)):
            return ()
        match = compiled(pattern).match(text, at)
        if match is None or _is_placeholder(match[0]):
            return ()
        ((start, end),) = to_tail(text, at, match.end())
        return () if _MEDIUM.match(text, end) and text.endswith("/", 0, at) else ((start, end),)

    return spans


# Fonts and pictures whose addresses end in random letters.
_MEDIUM = later(r"\.(?:ttf|otf|woff2?|png|jpe?g|gif|svg|webp|ico|css|js)\b")
_MIN_CROSSES = 12


def _is_placeholder(key: str) -> bool:
    """Return whether the random part of a key is replaced by crosses."""
    return len(key) - len(key.rstrip("xX_-")) >= _MIN_CROSSES


# The 40 characters that belong to the 20 of an AWS key are often next to it, as are those of an Alibaba key.
_AWS = r"(?:(?:AKIA|ASIA)[A-Z0-9]{16}|(?<![A-Za-z0-9])(?:ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}(?![A-Za-z0-9]))"
_AWS_OTHER = "[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"
_ALIBABA = rf"(?:{WORD_BEGINS.pattern})LTAI(?=[A-Za-z]{{0,24}}+[0-9])[A-Za-z0-9]{{12}}"
_ALIBABA_OTHER = r"[A-Za-z0-9]{30}(?!\w)"


# In the middle of a program or picture in base64, any four letters occur somewhere.
_LONG_RUN, _LONG_CHARS = later(r"[A-Za-z0-9+/]*"), 120
_SHORT_CHARS = 24  # before a sign of base64, which begins a word as any sign does: in the digests of lock files


def _is_in_base64(text: str, at: int, chars: int = _LONG_CHARS) -> bool:
    return at >= chars and _LONG_RUN.fullmatch(text, at - chars, at) is not None


def _pair(key: str, secret: str) -> Callable[[str, int, int], Spans]:
    """Return the function for a key and the secret that belongs to it."""
    both = rf"{key}[\w-]{{0,64}}+[\s:;,|\"']{{1,24}}+({secret})"

    def spans(text: str, at: int, _floor: int) -> Spans:
        match = None if _is_in_base64(text, at) else compiled(key).match(text, at)
        if match is None:
            return ()
        other = compiled(both).match(text, at)
        return (*to_tail(text, at, match.end()), *([other.span(1)] if other else ()))

    return spans


# ── keys whose middle or end says what they are ──────────────────────────────────────────────────────────────────

_HEAD_CHARS = REACH_CHARS  # of a JWT: no server accepts a longer one
# In base64 `{` is `e`, and what follows it, a quote or a blank, gives the next two characters.
_JWT_HEAD = later("ey[A-Z]")
_JWT_REST = r"\.ey[A-Z][\w-]{5,}+(?:\.[\w-]*+)?"


def _jwt(text: str, at: int, floor: int) -> Spans:
    """Return a token from the header that ends where the hint matches; without a header it is not a token."""
    # The hint is the first dot, and the header is searched for backwards. A pattern that began at every `eyJ` would read on to
    # the next dot each time: quadratic in a text of nothing but `eyJeyJ…`.
    match = compiled(_JWT_REST).match(text, at)
    if match is None:
        return ()
    before = text[max(floor, at - _HEAD_CHARS) : at]
    head = before[len(before.rstrip(_WORD)) :]
    begins = _JWT_HEAD.search(head)
    return ((at - len(head) + begins.start(), match.end()),) if begins else ()


def _around(head: str, most: int, rest: str) -> Callable[[str, int, int], Spans]:
    """Return the function for a key whose hint is its middle: `head` ends there, `rest` begins there."""
    begin = _look_back(head, most)

    def spans(text: str, at: int, floor: int) -> Spans:
        match = None if _is_in_base64(text, at) else compiled(rest).match(text, at)
        start = begin(text, at, floor) if match else -1
        if match is None or start < 0 or _DIGEST.search(text, max(0, at - _DIGEST_CHARS), at):
            return ()
        if _LINE_BEFORE.search(text, max(0, start - _LINE_CHARS), start):
            return ()
        return to_tail(text, start, match.end())

    return spans


_LINE_BEFORE, _LINE_CHARS = later(r"[A-Za-z0-9+/]{60,76}\r?\n\Z"), 78  # of a certificate
_DIGEST, _DIGEST_CHARS = later(r"sha\d{3}-[A-Za-z0-9+/]*\Z"), 96  # of a lock file, which may contain it
_AZURE = ("AzFu", "AzSe", "+ACR", "+ASt", "ACDb", "AIoT", "+AEh", "+ABa")
# But not a picture or document, which begin this way in base64.
_AZURE_PARTS = (
    r"(?!iVBORw0K|/9j/|R0lGOD|JVBERi|UEsDB)[\w+/-]{33,76}",
    76,
    r"(?:\w{4}|\+\w{3})[\w+/-]{5,6}+(?:[\w+/-]{0,2}==?)?",
)
# Newer ones, which are told by what follows the mark, so that a path such as `management/APIMGateway` is none.
_AZURE_SHORT, _AZURE_LONG = ("AzCa", "AZEG", "+ASb", "+ARm"), "APIM"
_AZURE_END = rf"(?:{_AZURE_LONG}[\w+/]{{5}}[AQgw]=|(?:{alternatives(_AZURE_SHORT)})[A-P][\w+/]{{5}})="
# The first part is the digits of a number in base64, which has few beginnings.
_DISCORD = "[MNO][DTjz][AEIMQUYcgk][w-z0-5]"
_DISCORD_LEADS = tuple(first + second for first in "MNO" for second in "DTjz")
_DISCORD_TOKEN = rf"{_DISCORD}[\w-]{{18,24}}+\.[\w-]{{6}}\.[\w-]{{27,40}}+"

# Services put the kind of a key between their name and the random part.
_KINDS = ("live", "test", "prod", "production", "sandbox", "pat", "sk", "pw", "oauth", "api")
_KIND_LEADS = tuple(f"{one}{kind}{other}" for kind in _KINDS for one in "_-" for other in "_-")
_OF_KIND = _look_back(r"[A-Za-z]{2,16}(?:[_-][A-Za-z]{2,12}){0,2}", 48)
_KIND = rf"[_-](?:{'|'.join(_KINDS)})[_-]([A-Za-z0-9]{{20,}}+)"


def _of_kind(text: str, at: int, floor: int) -> Spans:
    match = compiled(_KIND).match(text, at)
    start = _OF_KIND(text, at, floor) if match and reads_as_key(match[1]) and is_strong(match[1]) else -1
    return to_tail(text, start, match.end()) if match and start >= 0 else ()


# A short word or two, a sign, and a long run of capitals, small letters and digits: this is how most services make keys now. Ids
# are made this way too, but have 24 letters (`call_…`, `toolu_…`, `msg_…`), or hexadecimal ones.
_SIGN_LEADS = tuple(f"{letter}{sign}" for letter in "abcdefghijklmnopqrstuvwxyz" for sign in "_-")
_OWN_WORDS = _look_back(r"[A-Za-z][a-z0-9]{1,11}(?:[_-][a-z0-9]{1,10}){0,3}", 56)
_OWN_RUN = r"[a-z][_-](?=[A-Z0-9]*+[a-z])(?=[a-z0-9]*+[A-Z])(?=[A-Za-z]*+[0-9])([A-Za-z0-9]{30,200}+)(?![\w/+=.-]|\[redacted: )"
_COORDINATE, _COORDINATE_CHARS = later(r"\"[xyn]\\?\"\s{0,4}:\s{0,4}\\?\"\Z"), 16  # of a public key in JSON
_MIN_OWN_CHANGES = 4  # from letters to digits and back: `xXF86VidModeGetAllModeLinesReq` has two
# Not how much more follows: counting that in every name with an underscore made a third of the states of its search.
_OWN_HINT = r"[a-z][_-][A-Za-z0-9]*(?:[0-9][A-Z]|[0-9][a-z]{1,3}[A-Z])[A-Za-z0-9]{4}"


def _of_its_own(text: str, at: int, floor: int) -> Spans:
    match = compiled(_OWN_RUN).match(text, at)
    if match is None or not mixes_cases(match[1]) or count_changes(match[1]) < _MIN_OWN_CHANGES:
        return ()
    start = _OWN_WORDS(text, at + 1, floor)
    is_public = start >= 0 and _COORDINATE.search(text, max(0, start - _COORDINATE_CHARS), start)
    return ((start, match.end()),) if start >= 0 and not is_public else ()


# The number of a row, and what its table holds as a digest; lines of pages have numbers too, with text after them.
_NUMBERED = r"\d\|([A-Za-z0-9]{40}(?:[0-9a-f]{8})?)(?![\w|])"


def _numbered(text: str, at: int, _floor: int) -> Spans:
    match = compiled(_NUMBERED).match(text, at)
    return (match.span(1),) if match and mixes_cases(match[1]) and is_strong(match[1]) else ()


# ── private keys ─────────────────────────────────────────────────────────────────────────────────────────────────

_PEM_BEGINS = "-----BEGIN "
_PEM = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_EDGE = later(rf"-----(?:BEGIN|(END)) {_PEM}")
# Between lines of a key: line ends, also written as \n, quotes, the number of a line on a page.
_GAP = r"(?>(?:\\[nr]|[\s\"'+,|\d]){0,40})"
_CUT_OFF = later(
    rf"(?>(?:{_GAP}[A-Z][A-Za-z-]{{3,20}}+: [^\n\\]{{1,100}}+){{0,9}})"  # headers: Proc-Type, Version
    rf"(?>(?:{_GAP}[A-Za-z0-9+/=]{{16,}}+)*)(?:{_GAP}[A-Za-z0-9+/]{{0,15}}+=)?"
)
_BODY = later(r"([A-Za-z0-9+/])(?!\1{19})[A-Za-z0-9+/]{19}")  # of several letters: those of an example are one


def _private_key(text: str, at: int, _floor: int) -> Spans:
    """Return a key to its end, or as far as it goes if it was cut off. A line that only mentions keys has no body."""
    match = _EDGE.match(text, at)
    if match is None or match[1]:
        return ()
    edge = _EDGE.search(text, match.end())
    if edge is not None and edge[1]:
        end = edge.end()
    else:
        cut_off = _CUT_OFF.match(text, match.end())
        end = cut_off.end() if cut_off else match.end()
    return ((at, end),) if _BODY.search(text, match.end(), end) else ()


_PUTTY = r"Private-Lines: \d{1,4}(?>(?:\r?\n[A-Za-z0-9+/=]{16,80}+){1,400})"


def _putty(text: str, at: int, _floor: int) -> Spans:
    match = compiled(_PUTTY).match(text, at)
    return (match.span(),) if match else ()


# A key in base64, as kubeconfig and manifests hold it.
_PEM_IN_BASE64 = r"(?<![A-Za-z0-9+/])LS0tLS1CRUdJTi[A-Za-z0-9+/]{40,65536}+=*+"
_PEM_HEAD_CHARS = 80  # of 60 bytes, which say what begins there


def _encoded_key(text: str, at: int, _floor: int) -> Spans:
    match = compiled(_PEM_IN_BASE64).match(
        text, at
    )  # at the beginning of a word: otherwise each of many would be read to the end of all
    if match is None:
        return ()
    head = match[0][: min(_PEM_HEAD_CHARS, len(match[0]) // 4 * 4)]
    return (
        (match.span(),) if b" PRIVATE KEY" in b64decode(head.rstrip("=") + "=" * (-len(head.rstrip("=")) % 4)) else ()
    )


# A token in base64, as manifests hold it; other JSON in base64 begins in this way, too, but has no dot.
_JWT_IN_BASE64 = r"(?<![\w+/-])ZXlK[\w+/-]{40,16000}+=*+"


def _encoded_jwt(text: str, at: int, _floor: int) -> Spans:
    match = compiled(_JWT_IN_BASE64).match(text, at)
    if match is None:
        return ()
    whole = match[0].rstrip("=")
    return (match.span(),) if b".ey" in urlsafe_b64decode(whole[: len(whole) // 4 * 4]) else ()


# ── keys in JSON: JWK, and Tink's ────────────────────────────────────────────────────────────────────────────────

_JWK_HINT = r"\"kty\\?\"[ \t]{0,4}:"
_JWK, _TINK = '"kty', "type.googleapis.com/google.crypto.tink."
_OBJECT_CHARS = 8_192  # on either side; a private key of 4,096 bits has 3,300
_PRIVATE_MEMBER = later(r"\"(?:d|k|p|q|dp|dq|qi)\\?\"\s{0,16}:\s{0,16}\\?\"([\w-]{16,4096}+=*)")
_TINK_VALUE = later(r"\"value\\?\"\s{0,16}:\s{0,16}\\?\"([\w+/-]{16,8192}+=*)")


def _in_object(lead: str, member: re.Pattern[str]) -> Callable[[str, int, int], Spans]:
    """Return the function for members of the JSON object around a lead."""

    def spans(text: str, at: int, floor: int) -> Spans:
        # It begins and ends where another does, so that a text of nothing but such leads is not read again and again.
        first, last = max(floor, at - _OBJECT_CHARS), at + _OBJECT_CHARS
        begin = max(first, *(text.rfind(edge, first, at) for edge in ("{", "}", lead)))
        ends = (text.find(edge, at + len(lead), last) for edge in ("}", lead))
        found = member.finditer(text, begin, min([last, *(place for place in ends if place >= 0)]))
        return tuple(match.span(1) for match in found)

    return spans


# The order matters if shapes begin at the same place: the most specific comes first, one with only a telling name last.
SHAPES = (
    Shape("private key", (_PEM_BEGINS,), (f"{_PEM_BEGINS}{_PEM}",), _private_key, reach_chars=sys.maxsize),
    *(
        Shape("private key", (lead,), (hint,), spans, reach_chars=REACH_CHARS)
        for lead, hint, spans in (
            ("Private-Lines: ", r"Private-Lines: \d", _putty),
            ("LS0tLS1CRUdJTi", "LS0tLS1CRUdJTi", _encoded_key),
            (_JWK, _JWK_HINT, _in_object(_JWK, _PRIVATE_MEMBER)),
            (_TINK, re.escape(_TINK), _in_object(_TINK, _TINK_VALUE)),
        )
    ),
    Shape("Alibaba key", ("LTAI",), (r"LTAI[A-Za-z0-9]{8}",), _pair(_ALIBABA, _ALIBABA_OTHER)),
    *_own_formats(),
    Shape("API key", _KIND_LEADS, (rf"[_-](?:{'|'.join(_KINDS)})[_-][A-Za-z0-9]{{8}}",), _of_kind),
    Shape("API key", _SIGN_LEADS, (_OWN_HINT,), _of_its_own),
    Shape("Laravel token", tuple(f"{digit}|" for digit in range(10)), (r"\d\|[A-Za-z0-9]{30}",), _numbered),
    Shape(
        "AWS key",
        ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"),
        (r"(?:A3T[A-Z0-9]|A[KSBC][IC]A)[A-Z0-9]{8}",),
        _pair(_AWS, _AWS_OTHER),
    ),
    Shape("JWT", ("ZXlK",), ("ZXlK",), _encoded_jwt, reach_chars=REACH_CHARS),
    Shape("JWT", (".ey",), (r"\.ey[A-Z][\w-]{5}",), _jwt, reach_chars=REACH_CHARS),
    Shape("Azure secret", ("Q~",), (r"Q~[\w.~-]{8}",), _around(r"[\w~.]{3}\d", 4, r"Q~[\w.~-]{31,34}+")),
    Shape("Azure key", _AZURE, tuple(rf"{re.escape(word)}[\w+/-]{{5}}" for word in _AZURE), _around(*_AZURE_PARTS)),
    Shape(
        "Azure key",
        (*_AZURE_SHORT, _AZURE_LONG),
        tuple(rf"{re.escape(word)}[\w+/]{{6}}=" for word in (*_AZURE_SHORT, _AZURE_LONG)),
        _around(*_AZURE_PARTS[:2], _AZURE_END),
    ),
    Shape("Azure key", ("JQQJ9",), (r"JQQJ9[9DH]\w",), _around("[A-Za-z0-9]{52}", 52, "JQQJ9[9DH][A-Za-z0-9]{26}")),
    Shape("Azure DevOps token", ("AZDO",), (r"AZDO\w{4}",), _around("[A-Za-z0-9]{76}", 76, "AZDO[A-Za-z0-9]{4}")),
    Shape(
        "Terraform token",
        (".atlasv1.",),
        (r"\.atlasv1\.",),
        _around("[A-Za-z0-9]{14}", 14, r"\.atlasv1\.[\w=-]{60,70}+"),
    ),
    Shape(
        "Discord token",
        _DISCORD_LEADS,
        (rf"{_EDGE_OF_WORD}{_DISCORD}[\w-]{{8}}",),
        _own(("",), _DISCORD_TOKEN, begins_a_word=True),
    ),
    Shape("Telegram token", (":A",), (r":A[\w-]{16}",), _around(r"(?:bot)?\d{5,16}", 19, r":A[\w-]{32,34}+")),
    Shape(
        "Mailgun key",
        tuple(f"-{digit}" for digit in "0123456789abcdef"),
        (r"-[0-9a-f]{8}-[0-9a-f]{8}\b",),
        _around("[0-9a-f]{32}", 32, r"-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])"),
    ),
    Shape("Mailchimp key", ("-us",), (r"-us\d",), _around("[0-9A-Za-z]{32}", 32, rf"-us\d{{1,12}}+{WORD_END}")),
    Shape("MaxMind key", ("_mmk",), (r"_mmk\b",), _around("[A-Za-z0-9]{6}_[A-Za-z0-9]{29}", 36, "_mmk")),
    Shape("New Relic key", ("NRAL",), (r"NRAL\b",), _around("[A-Za-z0-9]{36}", 36, "NRAL")),
    *by_places(),
    *by_names(),
    *by_what_is_said(),
    *by_services(),
)
"""All shapes, the most specific first."""
