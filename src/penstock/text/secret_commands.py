"""What is secret because of what is said about it? By a command, an SQL statement, a call, or a block of YAML.

`sshpass -p …`, `IDENTIFIED BY '…'`, `put("password", "…")`. A value that reads as a name, without digit or sign, stands in for a
password in programs and documents, and is kept. Law: what a shape reads before and after its hint is bounded. Leaves to others:
headers, addresses and settings files (`secret_places`), and assignments (`secret_names`).
"""

from __future__ import annotations

import re
from base64 import b64decode
from typing import TYPE_CHECKING

from penstock.text.secret_placeholders import NO_SECRET
from penstock.text.secret_shape import Shape, Spans, compiled, later, to_end
from penstock.text.secret_values import PASSWORDS_ABROAD, is_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Also with a number in it, if it is a constant's; of a language or a region: `en_001`, `eu-west-1`; and with dots.
_IS_NAME = later(
    r"[A-Za-z_.:*/?=@-]++|(?:[A-Z]{1,16}\d{0,2}_){1,8}[A-Z]{2,24}|[a-z]{2,3}[_-](?:\d{3}|[a-z]{2,8}-\d)"
    r"|(?=[a-z0-9_]*\.)(?:[a-z]{1,24}\d{0,3}[._]){1,8}[A-Za-z]{2,24}"
)

# ── commands ─────────────────────────────────────────────────────────────────────────────────────────────────────

# Any other arguments of such a command, on its line and in its part of it.
_MORE = r"(?:[^\n|;&]{0,200}?[ \t])?"
_VALUE = r"(?:'([^'\n$]{4,128}+)'|\"([^\"\n$]{4,128}+)\"|([^\s\"'$<>|;&{}()%*-][^\s\"'<>|;&]{3,128}+))"
_LOGIN = ("docker", "podman", "nerdctl", "buildah", "skopeo", "crane", "oras", "registry", "az", "oc", "cf", "argocd")
# The beginning of each, and the whole pattern: combined into one they took three milliseconds to compile at first use.
_COMMANDS = (
    (("sshpass",), rf"sshpass[ \t]{_MORE}-p[ \t]?{_VALUE}"),
    (("redis-cli",), rf"redis-cli[ \t]{_MORE}(?:-a|--pass)[ \t]{{1,4}}{_VALUE}"),
    (_LOGIN, rf"(?:{'|'.join(_LOGIN)})[ \t]login[ \t]{_MORE}(?:-p|--password)[ \t=]{{1,4}}{_VALUE}"),
    (
        ("htpasswd",),
        rf"htpasswd[ \t]{{1,4}}-\w{{0,8}}b\w{{0,8}}[ \t]{_MORE}[^\s-]\S{{0,200}}[ \t]{{1,4}}\S{{1,64}}[ \t]{{1,4}}{_VALUE}",
    ),
    (("ldap",), rf"ldap(?:search|add|modify|delete|passwd|whoami|compare)[ \t]{_MORE}-w[ \t]{{1,4}}{_VALUE}"),
    (("zip", "unzip"), rf"(?:un)?zip[ \t]{_MORE}-P[ \t]{{1,4}}{_VALUE}"),
    (("7z",), rf"7z[ar]?[ \t]{_MORE}-p{_VALUE}"),
    (("smbclient",), rf"smbclient[ \t]{_MORE}-U[ \t]?[^\s%]{{1,64}}%{_VALUE}"),
    (("sqlcmd", "bcp"), rf"(?:sqlcmd|bcp)[ \t]{_MORE}-P[ \t]{{0,4}}{_VALUE}"),
    (
        ("mongo", "cqlsh"),
        rf"(?:mongo(?:sh|dump|restore|import|export)?|cqlsh)[ \t]{_MORE}-p[ \t]{{1,4}}{_VALUE}",
    ),
    (("openssl enc",), rf"openssl[ \t]enc[ \t]{_MORE}-k[ \t]{{1,4}}{_VALUE}"),
    (("net use",), rf"net[ \t]use[ \t]{_MORE}/user:\S{{1,64}}[ \t]{{1,4}}{_VALUE}"),
    (("echo",), rf"echo[ \t]{{1,4}}{_VALUE}[ \t]{{0,4}}\|[ \t]{{0,4}}sudo[ \t]{_MORE}-S"),
    (("sqlplus",), rf"sqlplus[ \t]{_MORE}[\w$]{{1,64}}/{_VALUE}@"),
    (("bindpw",), rf"bindpw[ \t]{{1,8}}{_VALUE}"),
)
_COMMAND_HINT = (
    rf"(?:sshpass|redis-cli|htpasswd|ldap[a-z]+|(?:un)?zip|7z[ar]?|smbclient|sqlcmd|bcp|mongo[a-z]*|cqlsh|sqlplus)[ \t]+[-\w/\\\\]"
    rf"|openssl[ \t]enc[ \t]|(?:{'|'.join(_LOGIN)})[ \t]login[ \t]|net[ \t]use[ \t]"
    r"|echo[ \t]+[^\s|]{4,40}[ \t]*\|[ \t]*sudo|bindpw[ \t]"
)
_ARGUMENT = r"(?:-pass(?:in|out|word)?[ \t]{1,4}[\"']?pass:|::add-mask::)([^\s\"'$<>|;&{}()%]{4,256}+)"
_ARGUMENT_HINT = r"-pass[a-z]*[ \t]+[\"']?pass:|::add-mask::"

# ── statements, calls, blocks ────────────────────────────────────────────────────────────────────────────────────

_SQL = (
    r"(?i:identified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,40}[ \t]{1,4})?(?:by|as)|password)[ \t]{1,4}(?:(?i:password)[ \t]{1,4})?"
    r"(?:'([^'\s]{4,128})'|\"([^\"\s]{4,128})\"|(?<=(?i:\bby )) ?([^\s\"'`();,<>{}\[\]$%\\]{6,128}+))"
)
_SQL_HINT = r"(?i:identified[ \t]+(?:with|by)[ \t]|password[ \t]+['\"][^\s'\"]{4})"
_OF_SQL = later(r"(?i:identified|encrypted|with|user|role|login|define|set)\b")
_SQL_CHARS = 100
_NAMES = r"(?i:passw(?:or)?d|passphrase|pwd|secret)"
_NAMED_ARGUMENT = (
    rf"{_NAMES}[\"']?[\])]?[ \t]{{0,4}}(?:,|\|\||\?\?)\s{{0,8}}[bBrR]?(?:'([^'\s]{{8,128}})'|\"([^\"\s]{{8,128}})\")"
)
_VARIABLE, _NAME_CHARS = later(r"\$[\w>-]*\Z"), 40  # it is passed, and the next argument says something else
# A variable that is passed among others: `encode(name, password, "ISO-8859-1")`.
_IS_PASSED, _IN_CALL = later(r"[a-z]+,"), later(r",\s{0,8}[a-z_]*\Z")
_OF_MAIL = later(r"[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}")
_SAYS_SECRET = later(r"_secret\Z")
_ITEM = later(r"[\w-]+(?:\.[\w-]+)+=")  # the next item of a list of settings
_SETTER = rf"{_NAMES}\((?:'([^'\s]{{6,128}})'|\"([^\"\s]{{6,128}})\")\)"
_OWNERS = ("db", "user", "root", "admin", "smtp", "mail", "ftp", "sql")  # joined: `dbpass`
_SHORT = rf"(?:{'|'.join(_OWNERS)})?pass|pw|psw"
_SHORT_SIGN = r"[\"'\])]{0,2}[ \t]{0,4}[:=]{1,2}>?[ \t]{0,4}"
_SHORT_NAME = rf"(?i:{_SHORT}){_SHORT_SIGN}(?:'([^'\s$]{{6,64}})'|\"([^\"\s$]{{6,64}})\")"
# Without quotes if it has a letter, a digit and one of these.
_BARE_SHORT = (
    r"(?i:pass|pwd?|psw)[:=][ \t]?(?=[^\s,;/]{0,64}[!@#^&*+?~])([^\s\"'`,;/()<>{}\[\]$%\\]{6,64}+)(?![\w(\[{./@])"
)
_BARE_SHORT_HINT = r"(?:\b|_)(?i:pass|pwd?|psw)[:=][ \t]?[^\s\"'`,;/()<>{}\[\]$%\\]{6}"
_SHORT_BEGINS = rf"(?i:(?:\b|_)(?:pass|pw|psw)|(?:{'|'.join(_OWNERS)})pass)"
_SHORT_HINT = _SHORT_BEGINS + _SHORT_SIGN + r"[\"'][^\s\"']{6}"
# What other languages call a password; its value has a digit.
_SIGN = "[\"']?[ \\t]{0,4}(?:[:=]|\uff1a)[ \\t]{0,4}[\"']?"
_ANY_CASE = rf"(?i:{'|'.join((*PASSWORDS_ABROAD, 'Пароль', 'ПАРОЛЬ'))})"  # bytes fold only the letters of ASCII
_ABROAD = rf"{_ANY_CASE}{_SIGN}([^\s\"'`,;(){{}}\[\]<>$%\\]{{6,64}}+)(?![(\[{{])"
_ABROAD_HINT = rf"{_ANY_CASE}{_SIGN}"
_SETTER_HINT = r"(?i:passw(?:or)?d|passphrase|pwd|secret)\([\"'][^\s\"']{6}"
_SETS = later(r"(?:[sS]et_?|[wW]ith_?|\.)\Z")
_BLOCK = (
    r"(?i:passw(?:or)?d|passphrase|pwd|secret|token|(?:private|api|access|secret)[_-]?key)[\"']?:[ \t]{0,4}[|>][+-]?\d?"
    r"[ \t]{0,8}\r?\n[ \t]{1,64}(\S{8,1024}+)[ \t]{0,8}(?=\r?\n|$)"
)
_NETWORK = r"psk[ \t]?=[ \t]?\"([^\"\n]{8,63})\""
_CURLOPT = (
    r"CURLOPT_\w{0,16}(?:PWD|PASSWORD|PASSWD),\s{0,8}"
    r"(?:'(?:[^':\n]{0,64}:)?([^'\n]{4,128})'|\"(?:[^\":\n]{0,64}:)?([^\"\n]{4,128})\")"
)
_PGPASS = r":(?:5432|5433|6432|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}:([^\s:\"']{6,128}+)[ \t]{0,4}(?=\r?\n|$)"
_ORACLE = r"(?i:jdbc:oracle:)\w{2,8}:[\w$]{1,64}/([^\s@/\"']{4,64}+)@"
_BASIC = r"(?i:basic)[ \t]([A-Za-z0-9+/]{8,512}+={0,2})(?![\w+/=])"
_WALLET = r"(?i:mnemonic|seed[ _-]?phrase|recovery[ _-]?phrase)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
_WORDS = rf"{_WALLET}((?:[a-z]{{3,8}}[ \t]){{11,23}}[a-z]{{3,8}})\b"
_WORDS_HINT = rf"{_WALLET}[a-z]{{3,8}}[ \t][a-z]{{3,8}}[ \t]"
_SENTENCE = (
    r"(?:PASSWORD|PASSPHRASE|PASSWD|SECRET)=(?:\"([^\"\n$]{8,128}+)\"|'([^'\n$]{8,128}+)')[ \t]{0,8}(?=#|\r?\n|$)"
)
_OPTION = r"(?i:-password)[ \t]{1,4}(?:'([^'\s$]{6,64})'|\"([^\"\s$]{6,64})\")"


def _found(pattern: str, text: str, at: int, *, has_digit: bool = False) -> tuple[int, int] | None:
    """Return where the value is that a pattern groups; None if there is none, or it stands in for a password or names one.

    Args:
        pattern: What begins at the place; one of its groups is the value.
        text: The text.
        at: The place.
        has_digit: Whether only a value with a digit counts.
    """
    match = compiled(pattern).match(text, at)
    if match is None:
        return None
    value = match[match.lastindex or 0]
    if NO_SECRET.fullmatch(value) or _IS_NAME.fullmatch(value) or (has_digit and not any(map(str.isdigit, value))):
        return None
    return match.span(match.lastindex or 0)


def _said(pattern: str, before: re.Pattern[str] | None = None) -> Callable[[str, int, int], Spans]:
    """Return the function for a value that a pattern groups.

    Args:
        pattern: What begins at the lead; one of its groups is the value.
        before: What comes somewhere before the lead on its line, or ends there; None for anything.
    """

    def spans(text: str, at: int, _floor: int) -> Spans:
        found = _found(pattern, text, at)
        # The words before it may come before another secret of the same line.
        if found is None or (
            before and not before.search(text[max(0, at - _SQL_CHARS) : found[0]].rpartition("\n")[2])
        ):
            return ()
        return (found,)

    return spans


def _setter(text: str, at: int, _floor: int) -> Spans:
    """Return the value that `setPassword("…")` or `.password("…")` sets; a call that only reads one has no value there."""
    found = _found(_SETTER, text, at, has_digit=True)
    return (found,) if found and _SETS.search(text, max(0, at - 5), at) else ()


def _short(text: str, at: int, _floor: int) -> Spans:
    """Return the value of a short name of a password, at the beginning of a word."""
    if text[max(0, at - 1) : at].isalnum():
        return ()
    found = _found(_SHORT_NAME, text, at, has_digit=True) or _found(_BARE_SHORT, text, at, has_digit=True)
    return (found,) if found and any(map(str.isalpha, text[slice(*found)])) else ()


def _abroad(text: str, at: int, _floor: int) -> Spans:
    """Return the value of what other languages call a password."""
    found = _found(_ABROAD, text, at, has_digit=True)
    return (found,) if found and any(map(str.isalpha, text[slice(*found)])) else ()


def _argument(text: str, at: int, _floor: int) -> Spans:
    """Return the value after the name of a password in a call: a setting or an entry of a table."""
    found = _found(_NAMED_ARGUMENT, text, at, has_digit=True)
    if found is None or _OF_MAIL.fullmatch(text, *found):
        return ()
    if _IS_PASSED.match(text, at) and _IN_CALL.search(text, max(0, at - _NAME_CHARS), at):
        return ()
    if is_named(text[slice(*found)]) and _SAYS_SECRET.search(text, *found):
        return ()
    if _ITEM.match(text, *found) or _VARIABLE.search(text, max(0, at - _NAME_CHARS), at):
        return ()
    return (found,) if any(map(str.isalpha, text[slice(*found)])) else ()


def _basic(text: str, at: int, _floor: int) -> Spans:
    """Return a name and password in base64 that announce themselves."""
    match = compiled(_BASIC).match(text, at)
    try:
        name, sign, password = (
            b64decode(match[1], validate=True).decode("ascii").partition(":") if match else ("", "", "")
        )
    except ValueError:
        return ()
    is_pair = bool(sign) and f"{name}{password}".isprintable()
    return (match.span(1),) if match and is_pair else ()


def _words(text: str, at: int, _floor: int) -> Spans:
    """Return the words that open a wallet."""
    match = compiled(_WORDS).match(text, at)
    return (match.span(1),) if match else ()


def _sentence(text: str, at: int, floor: int) -> Spans:
    """Return a password of several words, with a digit, in a file of settings."""
    found = _found(_SENTENCE, text, at, has_digit=True)
    begin = text.rfind("\n", max(floor, at - _SQL_CHARS), at) + 1
    is_setting = re.fullmatch(r"(?:export )?[A-Z0-9_]{0,64}", text[max(begin, at - _SQL_CHARS) : at])
    return (found,) if found and is_setting else ()


def _command(pattern: str) -> Callable[[str, int, int], Spans]:
    """Return the function for a command that takes a password on its line."""

    def spans(text: str, at: int, _floor: int) -> Spans:
        found = _found(pattern, text, at)
        return to_end(text, found) if found and not text[max(0, at - 1) : at].isalnum() else ()

    return spans


def by_what_is_said() -> Iterable[Shape]:
    """Yield the shapes of everything that a command, a statement, a call or a block marks as a secret."""
    for leads, pattern in _COMMANDS:
        yield Shape("password", leads, (_COMMAND_HINT,), _command(pattern))
    yield Shape("password", ("-pass", "::add-mask::"), (_ARGUMENT_HINT,), _said(_ARGUMENT))
    yield Shape("password", ("identified", "password"), (_SQL_HINT,), _said(_SQL, _OF_SQL), is_folded=True)
    names = ("passw", "passphrase", "pwd", "secret")
    yield Shape("password", names, (_SETTER_HINT,), _setter, is_folded=True)
    yield Shape("password", names, (), _argument, is_folded=True)
    short = ("pass", "pw", "psw", *(f"{owner}pass" for owner in _OWNERS))
    yield Shape("password", short, (_SHORT_HINT, _BARE_SHORT_HINT), _short, is_folded=True)
    yield Shape("password", PASSWORDS_ABROAD, (_ABROAD_HINT,), _abroad, is_folded=True)
    blocks = (*names, "token", "private", "api", "access")
    yield Shape("secret", blocks, (), _said(_BLOCK), is_folded=True)
    yield Shape("password", ("psk",), (r"psk[ \t]?=[ \t]?\"[^\"\n]{8}",), _said(_NETWORK))
    yield Shape("password", ("CURLOPT_",), (r"CURLOPT_",), _said(_CURLOPT))
    ports = (":5432:", ":5433:", ":6432:", ":*:")
    yield Shape("password", ports, (r":(?:5432|5433|6432|\*):[\w.*-]+:[\w.*@-]+:",), _said(_PGPASS))
    yield Shape("password", ("jdbc:oracle:",), (r"(?i:jdbc:oracle:)",), _said(_ORACLE), is_folded=True)
    yield Shape("credential", ("basic",), (r"(?i:basic)[ \t][A-Za-z0-9+/]{8}",), _basic, is_folded=True)
    yield Shape("wallet", ("mnemonic", "seed", "recovery"), (_WORDS_HINT,), _words, is_folded=True)
    yield Shape("password", ("PASSWORD=", "PASSPHRASE=", "PASSWD=", "SECRET="), (), _sentence)
    yield Shape("password", ("-password",), (), _said(_OPTION), is_folded=True)
