"""What is secret because of its place? In headers, addresses, commands, lists, manifests and settings files.

Law: what a shape reads before and after its hint is bounded. Leaves to others: what is secret by its own form
(`secret_shapes`) and by its name alone (`secret_names`).
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING

from penstock.text.secret_placeholders import NO_KEY, NO_SECRET, is_member, is_pair_of_names
from penstock.text.secret_shape import PUBLIC, REACH_CHARS, WORD_BEGINS, Shape, Spans, compiled, later, to_end
from penstock.text.secret_values import count_changes, is_key, is_random, is_said_abroad, is_strong, reads_as_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# ── headers, addresses, commands ──────────────────────────────────────────────────────────────────────────

_HEADER = (
    r"(?i:authorization)\\?[\"']?[ \t]{0,4}[:=,][ \t]{0,4}[bf]?\\?[\"']?"
    r"(?:(?i:bearer|basic|token|digest|api-?key|api-?token|splunk|genie-?key|sso-key|ssws|key)[ \t]{1,4})?"
)
# `Bearer secret-token`, `Bearer forbidden`; a name and password in base64 have no sign, and capitals within.
_WORDS = r"(?=[A-Za-z]*[_.-])[A-Za-z_.-]+|[A-Za-z]?[a-z]+|[a-z]*token\d{1,4}"
_FIELD = r"[a-z_-]{1,32}=\\{0,3}[\"'][\w%]"  # of a header that has several
_OTHER_SCHEME = r"(?:[A-Za-z][A-Za-z0-9-]{1,20}[ \t]{1,4})"
_HEADER_HINT = r"(?i:authorization)\\?[\"']?[ \t]{0,4}[:=,]"
_HEADER_VALUE = r"([^\s\"',;<>{}()\[\]$%\\]{8,160}+)"
_BEARER = r"(?i:bearer):?[ \t]{1,4}([A-Za-z0-9._~+/-]{16,}+=*+)"
# A password written by hand may contain an @, and a % that escapes nothing; a name may be a variable's.
_URL = (
    r"://((?>(?:[^\s/@:\"'<>{}$%(]|%[0-9A-Fa-f]{2}|@(?=[\w.-]{1,64}:[^\s/@:\"'<>{}$(]{1,64}@)){0,256})|\{\w{1,64}\})"
    r"(?::(?:(?i:pass(?:w(?:or)?d)?|pwd|x-oauth-basic)(?=@)"
    r"|((?!\d{1,5}\\{1,8}@)(?>(?:[^\s/@\"'<>{}$%\[(]|%(?=\w)|\$(?![\w{(])|@(?=[^\s/@:\"'<>{}$\[(]{1,64}@)){1,256}))))?@"
)
_HOST_AND_PORT = r"://[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}:\d{1,5}[?#]?@"
_SENTRY = r"(?i:[\w.-]{0,64}\bsentry\b[\w.-]{0,64}(?::\d{1,5})?/)"
_CURL_USER = r"(?:-u[ \t=]{0,4}|--user[ \t=]{1,4})[\"']?[^\s:\"'<>]{0,64}[\"']?:[\"']?"
_CURL_ALONE = r"(?:-u[ \t=]{0,4}|--user[ \t=]{1,4})[\"']?([^\s:\"'<>{}$]{8,128}+):(?=[\"'\s])"  # without a password
_CURL = rf"{_CURL_USER}([^\s\"'<>$:{{}}\[\]]{{3,128}}+|\{{[^\s\"'<>${{}}]{{3,128}}+\}})|{_CURL_ALONE}"
# What a document writes for a password next to a name: `user:pass`, `some_name:some_password`.
_SAYS_PASSWORD = later(r"(?i:(?:[a-z]{2,8}[_-])?(?:pass(?:w(?:or)?d)?|pwd|pw))")
_COMMAND_CHARS = 400
_LIST_CHARS = 4_096  # after which no item begins


def _header(text: str, at: int, _floor: int) -> Spans:
    """Return what follows the name of a header; without a known scheme only what looks random."""
    match = compiled(_HEADER + _HEADER_VALUE).match(text, at)
    if match is not None:
        has_scheme = compiled(_HEADER).match(text, at, match.start(1))
        known = has_scheme is not None and has_scheme.end() == match.start(1) and text[match.start(1) - 1] in " \t"
        is_named = known and not text[at : match.start(1)].rstrip().endswith((":", "=", ",", '"', "'"))
        if _is_credential(match[1]) or (
            is_named
            and not NO_SECRET.fullmatch(match[1])
            and not compiled(_WORDS).fullmatch(match[1])
            and not _decoded(match[1]).isalpha()  # a word in base64, where a name and a password are expected
            and not compiled(_FIELD).match(text, match.start(1))
        ):
            return to_end(text, match.span(1))
    match = compiled(_HEADER + _OTHER_SCHEME + _HEADER_VALUE).match(text, at)
    return to_end(text, match.span(1)) if match and _is_credential(match[1]) else ()


def _decoded(value: str) -> bytes:
    """Return what a value is in base64; nothing if it is none."""
    try:
        return b64decode(value, validate=True)
    except ValueError:
        return b""


def _is_credential(value: str) -> bool:
    """Return whether a value after the name of a header is one by itself: random, and neither public nor an expression."""
    return is_random(value) and not NO_KEY.fullmatch(value) and not is_member(value)


def _bearer(text: str, at: int, _floor: int) -> Spans:
    match = compiled(_BEARER).match(text, at) if WORD_BEGINS.match(text, at) else None
    return (match.span(1),) if match and any(map(str.isdigit, match[1])) else ()


def _url(text: str, at: int, _floor: int) -> Spans:
    """Return the password of an address, and a name that is really a token."""
    match = compiled(_URL).match(text, at)
    if match is None:
        return ()
    if match[2] and match[2].endswith("]") and text.startswith("[:", match.start(2) - 2):
        return ()  # how an address is written, with optional parts in brackets
    if match[2] and compiled(_HOST_AND_PORT).fullmatch(match[0]) and not is_strong(match[1]):
        return ()  # the address where a proxy listens comes after the one where it leads
    # A token may take the place of a name, with a password that says so or without one; but the one of a Sentry DSN is public.
    is_public = match[2] is None and compiled(_SENTRY).match(text, match.end())
    is_told = {
        1: is_strong(match[1]) and not is_public,
        2: match[2] and not (NO_SECRET.fullmatch(match[2]) or is_pair_of_names(match[1], match[2])),
    }
    return tuple(match.span(part) for part in (1, 2) if is_told[part])


# Anyone who knows the address of a hook may call it; some services accept their key as the end of a path.
_HOOKS = ("/hook/", "/hooks/", "/webhook/", "/webhooks/", *(f"/v{number}/" for number in range(1, 10)))
_HOOK = r"(?i:/(?:web)?hooks?/)((?:[\w-]{1,40}+/){0,2}[\w@-]{20,128}+)|/v[1-9]/([0-9a-f]{32}|[\w-]{26,64}+)(?![\w/.-])"
_HOOK_HINT = r"(?i:/(?:web)?hooks?/)[\w@/-]{20}|/v[1-9]/[\w-]{26}"


def _hook(text: str, at: int, floor: int) -> Spans:
    """Return the end of an address that grants access to what it names."""
    match = compiled(_HOOK).match(text, at)
    if match is None or "://" not in text[max(floor, at - _COMMAND_CHARS) : at].rpartition(" ")[2]:
        return ()
    key = match[match.lastindex or 0]
    if PUBLIC.search(key):
        return ()
    return (match.span(match.lastindex or 0),) if reads_as_key(key) or is_random(key) else ()


# WordPress' keys, of any signs and blanks; a placeholder is shorter.
_SALT_NAMES = r"(?:AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)[\"'],"
_SALT = rf"{_SALT_NAMES}\s{{0,32}}(?:'([^'\n]{{60,70}})'|\"([^\"\n]{{60,70}})\")"


def _salt(text: str, at: int, _floor: int) -> Spans:
    """Return a key that WordPress generates."""
    match = compiled(_SALT).match(text, at)
    return (match.span(match.lastindex or 0),) if match else ()


def _signature(text: str, at: int, _floor: int) -> Spans:
    """Return what lets anyone open an address that somebody has signed."""
    match = compiled(r"(?:[?&]sig|(?i:x-(?:amz|goog)-signature))=([\w%+/-]{16,512}+=*+)").match(text, at)
    return (match.span(1),) if match and is_key(match[1]) else ()


def _curl(text: str, at: int, _floor: int) -> Spans:
    """Return the password of `curl -u NAME:PASSWORD`; other programs mean other things by `-u`."""
    match = compiled(_CURL).match(text, at) if WORD_BEGINS.match(text, at) else None
    # The word may come before another secret of the same command, or at its end.
    if match is None or "curl" not in text[max(0, at - _COMMAND_CHARS) : at]:
        return ()
    if match[2]:
        return (match.span(2),) if count_changes(match[2]) >= _MIN_CHANGES else ()
    is_one = not _SAYS_PASSWORD.fullmatch(match[1]) and not NO_SECRET.fullmatch(match[1].strip("{}"))
    is_one = is_one and (match[1][0] != "{" or any(map(str.isdigit, match[1])))
    return to_end(text, match.span(1)) if is_one else ()


_MIN_CHANGES = 2  # from letters to digits and back
_OPTIONS = ("-password", "-passwd", "-passphrase", "-token", "-secret", "-key", "-bearer")
_OPTION = (
    rf"(?i:({'|'.join(_OPTIONS)}))[ \t]{{1,4}}\\?[\"']?([^\s\"'$<>{{}}()\[\]%*-][^\s\"'`<>{{}}()\\]{{5,160}}+)"
    r"(?!(?<=\$)[{(])"
)
_OPTION_HINT = rf"(?i:{'|'.join(_OPTIONS)})[ \t]{{1,4}}\\?[\"']?[^\s\"'$<>{{}}()\[\]%*-][^\s\"'<>{{}}()]{{5}}"
# The option may be the end of a longer one, `--db-password`, but not of a word: `base-passwd 3.5.44`. The end of a line before it
# may be written as `\n`.
_OPTION_BEGINS, _OPTION_CHARS = later(r"(?:^|[^\w-]|\\[nrt])(?:-[\w-]*)?\Z"), 40
# Programs that take a password as `-p`: MySQL's, with the value attached, and PsExec.
_LETTER_P = (
    r"(?i:mysql(?:dump|admin|import|show|sh)?[ \t](?:[^\n|;&]{0,200}?[ \t])?-p([^\s\"'$<%-][^\s\"'$<>;|]{3,64}+)"
    r"|psexec(?:\.exe)?[ \t][^\n|;&]{0,200}?[ \t]-p[ \t]{1,4}([^\s\"'$<%-][^\s\"'$<>;|]{3,64}+))"
)
_LETTER_P_HINT = r"(?i:mysql(?:dump|admin|import|show|sh)?[ \t]+-|psexec(?:\.exe)?[ \t])"
# Both sides of `;` name settings, which never happens in a program.
_CONNECTION = r"(?i:password|pwd)[ \t]?=[ \t]?([^\s\"'=;&|<>{}()\[\]$%]{4,128}+);"
_CONNECTION_HINT = r"(?i:password|pwd)[ \t]?=[ \t]?[^\s\"'=;&|<>(){}\[\]$%]{4,128};"
_CONNECTION_NAMES = later(r"(?i:\b(?:user id|uid|server|data source|initial catalog|provider|driver)[ \t]?=)")
_UNSEAL = r"(?i:unseal|recovery)(?: [Kk]ey)?(?: \d{1,2})?:?[ \t]{1,4}([A-Za-z0-9+/]{43,64}+=?)"
_COOKIE = later(r"([\w.-]{1,64}+)=([^\s;\"',=]{6,1024}+=*+)")
_OF_SESSION = later(r"(?i:sess|sid|auth|token|jwt|remember|login)")  # whose value grants access, whatever it is
_COOKIES = r"(?i:cookie)\\?[\"']?[ \t]{0,4}[:,][ \t]{0,4}\\?[\"']?(?=[\w.-]{1,64}+=)"
_COOKIES_CHARS = 2_000
_DOCKER = r"auth\"[ \t]{0,4}:[ \t]{0,4}\"([A-Za-z0-9+/]{8,512}+={0,2})\""
# The same file, in base64, in a manifest of Kubernetes.
_DOCKER_FILE = (
    r"\.docker(?:configjson|cfg)[\"']?:[ \t]{0,4}[|>]?[+-]?\s{0,64}+[\"']?(e[wy][A-Za-z0-9+/]{8,16000}+={0,2})"
)
_LIST = r"(?i:passwords|passphrases)[\"']?[ \t]{0,4}[:=][ \t]{0,4}\s{0,64}+(?:\[|-[ \t])"
_QUOTED = r"\"([^\"\n]{4,128}+)\"|'([^'\n]{4,128}+)'"
# Bare words in brackets are names in programs; in YAML those without a digit may be.
_LIST_ITEM = later(
    rf"^[ \t]{{0,80}}-[ \t]{{1,16}}(?:{_QUOTED}|(?=\S{{0,128}}\d)([^\s\"',\[\]]{{4,128}}+))|(?:\[|,)\s{{0,64}}+(?:{_QUOTED})",
    re.MULTILINE,
)


_COOKIES_HINT = r"(?i:cookie)\\?[\"']?[ \t]{0,4}[:,][ \t]{0,4}\\?[\"']?[\w.-]+="
_NAME = later(r"[A-Za-z_.:*/?=-]++")
_UNSEAL_HINT = r"(?i:unseal|recovery)(?: [Kk]ey)?(?: \d{1,2})?:?[ \t]{1,4}[A-Za-z0-9+/]{16}"


def _option(text: str, at: int, _floor: int) -> Spans:
    """Return the value of `-Password` unless it reads as a name, and of `--token` and its kin if it reads as random."""
    match = compiled(_OPTION).match(text, at)
    if match is None or NO_SECRET.fullmatch(match[2]) or is_said_abroad(match[2]):
        return ()
    is_password = match[1][1:5].lower() == "pass"
    begins = _OPTION_BEGINS.search(text, max(0, at - _OPTION_CHARS), at)
    is_one = begins and not _NAME.fullmatch(match[2]) if is_password else is_key(match[2])
    return (match.span(2),) if is_one else ()


def _letter_p(text: str, at: int, _floor: int) -> Spans:
    """Return the password of a command that takes it as `-p`."""
    match = compiled(_LETTER_P).match(text, at)
    return (match.span(match.lastindex or 0),) if match and not NO_SECRET.fullmatch(match[match.lastindex or 0]) else ()


def _connection(text: str, at: int, floor: int) -> Spans:
    """Return the password of a connection string, next to the names of other things that such a string sets."""
    match = compiled(_CONNECTION).match(text, at)
    if match is None or NO_SECRET.fullmatch(match[1]):
        return ()
    around = (
        text[max(floor, at - _COMMAND_CHARS) : at].rpartition("\n")[2]
        + text[match.end() : match.end() + 100].partition("\n")[0]
    )
    return (match.span(1),) if _CONNECTION_NAMES.search(around) else ()


def _cookies(text: str, at: int, _floor: int) -> Spans:
    """Return the values of cookies that look random, or have a session's name."""
    match = compiled(_COOKIES).match(text, at)
    if match is None:
        return ()
    # It ends with the line or where another begins, so that a text of nothing but such names is not read again and again.
    last = match.end() + _COOKIES_CHARS
    ends = [text.find(edge, match.end(), last) for edge in ("\n", "ookie:")]
    found = _COOKIE.finditer(text, match.end(), min([last, *(place for place in ends if place >= 0)]))
    return tuple(cookie.span(2) for cookie in found if is_random(cookie[2]) or _opens(cookie[1], cookie[2]))


def _opens(name: str, value: str) -> bool:
    """Return whether a cookie has a session's name and a value that is not a word."""
    is_word = not (any(map(str.isdigit, value)) and any(map(str.isalpha, value)))
    return bool(_OF_SESSION.search(name)) and not is_word and "(" not in value  # a call makes it


def _docker(text: str, at: int, _floor: int) -> Spans:
    """Return the name and password in base64 that Docker's `config.json` holds."""
    match = compiled(_DOCKER).match(text, at)
    return (match.span(1),) if match and b":" in _decoded(match[1]) else ()


def _list(text: str, at: int, _floor: int) -> Spans:
    """Return the items of a list of passwords, in brackets on one line or with one on each line."""
    match = compiled(_LIST).match(text, at)
    if match is None:
        return ()
    found: list[tuple[int, int]] = []
    place = match.end() - 1
    if text[place] != "[":
        place = text.rfind("\n", at, place) + 1 or place
    while place < at + _LIST_CHARS and (item := _LIST_ITEM.match(text, place)):
        group = item.lastindex or 0
        if not NO_SECRET.fullmatch(item[group]):
            found.append(item.span(group))
        place = item.end()
        place += 1 if text[place : place + 1] == "\n" else 0
    return tuple(found)


# ── Kubernetes: values in base64, whatever they are called ───────────────────────────────────────────────────────

_OF_MANIFEST = r"\bkind[\"']?:[ \t]{0,4}[\"']?Secret\b"
_MANIFEST_CHARS = 4_096  # on either side of its kind: data comes before it if a program printed it
_DATA = later(
    r"^([ \t]*)(?:- )?[\"']?(?:data|stringData)[\"']?:[ \t]*\{?[ \t]*\n((?:\1[ \t]+[\"']?[\w.-]+[\"']?:[ \t]*[^\n]*\n?)+)",
    re.MULTILINE,
)
_DATUM = later(r"^[ \t]*[\"']?([\w.-]+)[\"']?:[ \t]*[\"']?([^\s\"',{}|>][^\s\"',{}]{5,}+)", re.MULTILINE)
# Certificates; and, by the convention for service bindings, what a service is and where.
_OF_PUBLIC = later(r"(?:[\w.-]*[.-])?(?:crt|cert|ca)|type|provider|host|hostname|port|database|dbname|namespace|region")
_PUBLIC_HEADS = (
    "LS0tLS1CRUdJTiBDRVJU",
    "LS0tLS1CRUdJTiBQVUJM",
    "-----BEGIN CERT",
    "-----BEGIN PUBL",
)  # the first two in base64


def _manifest(text: str, at: int, floor: int) -> Spans:
    """Return the values under `data` and `stringData` of the manifest around `kind: Secret`."""
    if not compiled(_OF_MANIFEST).match(text, at):
        return ()
    # It begins and ends where another does, so that a text of nothing but kinds is not read again and again.
    first, last = max(floor, at - _MANIFEST_CHARS), at + _MANIFEST_CHARS
    begin = max(first, *(text.rfind(edge, first, at) for edge in ("\n---", "apiVersion", "kind")))
    ends = [text.find(edge, at + len("kind"), last) for edge in ("\n---", "\n- ", "kind")]
    end = min([last, *(place for place in ends if place >= 0)])
    found: list[tuple[int, int]] = []
    for block in _DATA.finditer(text, begin, end):
        found += [
            datum.span(2) for datum in _DATUM.finditer(text, *block.span(2)) if not _is_public(datum[1], datum[2])
        ]
    return tuple(span for span in found if not text.startswith("[redacted: ", span[0]))


def _is_public(name: str, value: str) -> bool:
    """Return whether a manifest's value is not a secret, by its name or its beginning."""
    return bool(_OF_PUBLIC.fullmatch(name) or value.startswith(_PUBLIC_HEADS) or NO_SECRET.fullmatch(value))


# ── arguments: a name, and a password behind it ──────────────────────────────────────────────────────────────────

_CALLS = (
    "NetworkCredential(",
    "PasswordAuthentication(",
    "PasswordCredentials(",
    "PasswordCredential(",
    "HTTPBasicAuth(",
)
_SECURE = (
    r"ConvertTo-SecureString[ \t]{1,4}(?>(?:-(?:String|AsPlainText|Force)[ \t]{1,4}){0,3})"
    r"(?:\\?[\"']([^\s\"'$\\][^\s\"'\\]{5,127})\\?[\"']|([^\s\"'$(-][^\s\"')]{5,128}))"
)
# `.netrc`, on one line or several; its password counts, but not what a sentence or a structure of Go calls one.
_NETRC = (
    r"login\s{1,8}(?!(?:with|by|using|via|and|or)\s)[^\s\"']{1,64}\s{1,8}password[ \t]{1,8}(?!string\s)"
    r"([^\s\"'<>${}\\]{6,128}+)"
)
# Gradle's block of credentials; and what Jenkins prints when it first starts.
_CREDENTIALS = r"(?i:username)\s{1,8}[\"'][^\"'\n]{1,64}[\"']\s{1,64}password\s{1,8}[\"']([^\"'\n$]{4,128})[\"']"
_UNLOCKING = r"password to proceed to installation:\s{1,16}([0-9a-f]{32})"
# FileZilla's list of servers, a message to TrueNAS, and the parameters of an address.
_FILEZILLA = r"<Pass(?: encoding=\"base64\")?>([^<>\s]{4,512}+)</Pass>"
_LOGIN_BY_KEY = (
    r"auth\.login_with_api_key\"\s{0,16},?\s{0,16}\"params\"\s{0,8}:\s{0,8}\[\s{0,16}\"(\d{1,4}-[A-Za-z0-9]{32,80})\""
)
_PARAMETER = r"[?&;](?i:password|passwd|pwd)=([^\s\"'`&;<>{}()\[\]$%\\]{4,128}+)"
_VARIABLE = (
    r"variable[ \t]{1,4}\"([\w-]{0,64}(?i:passw(?:or)?d|secret|token|_key)[\w-]{0,64})\"[ \t]{0,4}\{[^{}]{0,400}?"
    r"\bdefault[ \t]{0,16}=[ \t]{0,16}\"(?=[^\"\d]{0,64}\d)([^\s\"$]{6,512})\""
)  # Terraform's
_SAYS_SECRET = later(r"(?i:passw(?:or)?d|secret|token)")
# What Azure's `NewUsernamePasswordCredential` takes first is no password: two more follow.
_PAIR = (
    r"\w+\(\s{0,8}[\"'][^\"'\n]{1,64}[\"'],\s{0,8}[\"']([^\s\"']{6,64})[\"'](?!(?:,\s{0,8}[\"'][^\"'\n]{0,64}[\"']){2})"
)

# For any other call whose name says that it takes a name and a password, a password that is not a word.
_LETS_IN = r"(?i:(?:credentials?|basic_?auth|getconnection|directoryentry)[ \t]?|auth[ \t]?=[ \t]?)"
_CALL = (
    rf"{_LETS_IN}\((?:[^()\n]{{0,80}},)?\s{{0,64}}+\\?[\"'][^\"'\n]{{1,64}}[\"']"
    r"[ \t]{0,2},\s{0,64}+\\?[\"']([^\s\"'\\]{6,64})\\?[\"'](?!,[ \t]?[\"'])"  # and no other after it
)
_CALL_HINT = rf"{_LETS_IN}\([^()\n\"']*\s*\\?[\"']"


def _call(text: str, at: int, _floor: int) -> Spans:
    """Return the password that a call takes next to a name, unless it is a word."""
    match = compiled(_CALL).match(text, at)
    if match is None or NO_SECRET.fullmatch(match[1]) or _NAME.fullmatch(match[1]) or "://" in match[1]:
        return ()
    return (match.span(1),) if any(map(str.isdigit, match[1])) and any(map(str.isalpha, match[1])) else ()


def _variable(text: str, at: int, _floor: int) -> Spans:
    """Return the default of a variable of Terraform if it has a digit; that of what is only called a key must be random."""
    match = compiled(_VARIABLE).match(text, at)
    if match is None or NO_SECRET.fullmatch(match[2]):
        return ()
    return (match.span(2),) if _SAYS_SECRET.search(match[1]) or is_key(match[2]) else ()


def _by(pattern: str) -> Callable[[str, int, int], Spans]:
    """Return the function for a value that a pattern groups, unless it is a placeholder."""

    def spans(text: str, at: int, _floor: int) -> Spans:
        match = compiled(pattern).match(text, at)
        group = (match.lastindex or 0) if match else 0
        return (match.span(group),) if match and not NO_SECRET.fullmatch(match[group]) else ()

    return spans


def _parameter(text: str, at: int, floor: int) -> Spans:
    """Return the password among the parameters of an address; what reads as a name is a placeholder."""
    match = compiled(_PARAMETER).match(text, at)
    if match is None or "://" not in text[max(floor, at - _COMMAND_CHARS) : at].rpartition(" ")[2]:
        return ()
    return (match.span(1),) if not NO_SECRET.fullmatch(match[1]) and any(map(str.isdigit, match[1])) else ()


# Where a word begins, before a sign: `pr-url: …` would be a place otherwise.
_EDGE_OF_OPTION = r"(?:\B|_|\\[nrt])"
_CURL_HINT = rf"{_EDGE_OF_OPTION}{_CURL_USER}(?:[^\s\"'<>$:}}\[\]]{{3}}|[\s\"'])"


def by_places() -> Iterable[Shape]:
    """Yield the shapes of everything that its place gives away."""
    yield Shape("credential", ("authorization",), (_HEADER_HINT,), _header, is_folded=True)
    yield Shape("credential", ("bearer",), (r"(?i:bearer):?[ \t]{1,4}[\w.~+/-]{8}",), _bearer, is_folded=True)
    yield Shape(
        "URL password", ("://",), (r"://(?:[^\s/@:\"'<>$%(]|%[0-9A-Fa-f])*(?::(?:[^\s/@\"'<>{}%\[(]|%\w)+)?@",), _url
    )
    yield Shape("URL key", _HOOKS, (_HOOK_HINT,), _hook, is_folded=True)
    yield Shape("URL signature", ("?sig=", "&sig="), (r"[?&]sig=[\w%+/-]{16}",), _signature)
    signed = ("x-amz-signature=", "x-goog-signature=")
    yield Shape("URL signature", signed, (r"(?i:x-(?:amz|goog)-signature)=\w",), _signature, is_folded=True)
    yield Shape("password", ("-u", "--user"), (_CURL_HINT,), _curl)
    yield Shape("password", _OPTIONS, (_OPTION_HINT,), _option, is_folded=True)
    yield Shape("password", ("mysql", "psexec"), (_LETTER_P_HINT,), _letter_p, is_folded=True)
    yield Shape("password", ("password", "pwd"), (_CONNECTION_HINT,), _connection, is_folded=True)
    lists = ("passwords", "passphrases")
    yield Shape("password", lists, (_LIST.replace("}+", "}"),), _list, is_folded=True, reach_chars=REACH_CHARS)
    yield Shape("cookie", ("cookie",), (_COOKIES_HINT,), _cookies, is_folded=True, reach_chars=REACH_CHARS)
    yield Shape("credential", ("auth",), (), _docker, is_folded=True)
    docker_file = r"\.docker(?:configjson|cfg)[\"']?:"
    yield Shape("credential", (".dockerc",), (docker_file,), _by(_DOCKER_FILE), reach_chars=REACH_CHARS)
    yield Shape("Vault key", ("unseal", "recovery"), (_UNSEAL_HINT,), _by(_UNSEAL), is_folded=True)
    yield Shape("secret", ("kind",), (_OF_MANIFEST,), _manifest, reach_chars=REACH_CHARS)
    yield Shape("password", _CALLS, tuple(rf"{re.escape(name)}\s{{0,8}}[\"']" for name in _CALLS), _by(_PAIR))
    calls = ("credential", "basic", "auth", "getconnection", "directoryentry")
    yield Shape("password", calls, (_CALL_HINT,), _call, is_folded=True)
    yield Shape("password", ("ConvertTo-SecureString",), (r"ConvertTo-SecureString[ \t]",), _by(_SECURE))
    credentials = r"(?i:username)\s{1,8}[\"'][^\"'\n]+[\"']\s+password\s"
    yield Shape("password", ("username",), (credentials,), _by(_CREDENTIALS), is_folded=True)
    yield Shape("password", ("<Pass",), (r"<Pass[ >]",), _by(_FILEZILLA))
    yield Shape("Okta token", ("SSWS 00",), (r"SSWS 00[\w-]{20}",), _by(r"SSWS (00[\w-]{40})"))
    login = "auth.login_with_api_key"
    yield Shape("TrueNAS key", (login,), (r"auth\.login_with_api_key",), _by(_LOGIN_BY_KEY))
    parameters = tuple(f"{sign}{name}=" for sign in "?&;" for name in ("password", "passwd", "pwd"))
    yield Shape("URL password", parameters, (r"[?&;](?i:password|passwd|pwd)=",), _parameter, is_folded=True)
    variable = r"variable[ \t]+\"[\w-]*(?i:passw(?:or)?d|secret|token|_key)[\w-]*\"[ \t]*\{"
    yield Shape("secret", ("variable",), (variable,), _variable)
    salts = tuple(f"{name}_{kind}" for name in ("AUTH", "LOGGED_IN", "NONCE") for kind in ("KEY", "SALT"))
    yield Shape("WordPress key", salts, (_SALT_NAMES,), _salt)
    yield Shape("password", ("password to proceed",), (r"password to proceed",), _by(_UNLOCKING))
    yield Shape("password", ("login",), (r"\blogin\s{1,8}[^\s\"']{1,64}\s{1,8}password\s",), _by(_NETRC))
