"""What is secret because of its name? Passwords and tokens in assignments, and keys next to the name of their service.

Entropy decides only here, where a name says that a value is a secret.
"""

from __future__ import annotations

import re
from string import digits
from typing import TYPE_CHECKING

from penstock.text.secret_formats import BY_SERVICE, DJANGO_CHARS
from penstock.text.secret_placeholders import (
    ACTION,
    ATTRIBUTE,
    IDENTIFIER,
    MACRO,
    MEMBER,
    NO_KEY,
    NO_SECRET,
    NUMBERED_NAME,
    QUOTED_NAME,
    STANDS_FOR,
    VARIABLE,
    is_class,
    is_member,
)
from penstock.text.secret_shape import PUBLIC, SERVICES, WORD_END, Shape, Spans, alternatives, compiled, later, to_end
from penstock.text.secret_values import (
    changes_case,
    is_called_abroad,
    is_key,
    is_named,
    is_random,
    is_said_abroad,
    is_strong,
    reads_as_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_OF_KEYS = (
    *("api", "access", "private", "signing", "account", "auth", "secret", "encryption", "master", "service", "admin"),
    *("license", "consumer", "client", "application", "app", "webhook", "storage", "subscription", "shared"),
)
_PLAIN_KEYS = ("api", "access", "private", "signing", "account")
_ISSUED = frozenset((*(f"{word}key" for word in _PLAIN_KEYS), "secretaccesskey"))
_OF_TOKENS = ("_", "-", "access", "auth", "refresh", "api", "session", "bot")
_IS_TOKEN = f"(?:{'|'.join(f'(?<={word})' for word in _OF_TOKENS)})"
_NAMES = (
    rf"pa?ss?wo?r?d|passphrase|passcode|pwd|secret(?:[_-]?access)?(?:[_-]?key)?|(?:{'|'.join(_PLAIN_KEYS)})[_-]?key"
    rf"|{_IS_TOKEN}token"
)
_LINE_ENDS = r"[ \t]{0,80}+(?:#|\r?\n|$)"
# Quotes, also as they are written in HTML.
_ENTITY = r"(?:&(?:quot|apos|#3[49]);)?"
_TYPE_OF = r"[A-Za-z][\w.<>|?\[\]]{0,40}+[ \t]?"  # `password: str = "…"`
_ASSIGNED = (
    rf"(?i:(?:(?<!:)|(?<=\[:)|(?=\w{{1,32}}[ \t]{{0,16}}=>[ \t]{{0,4}}[\"'][^\"'\s]{{0,64}}\d))({_NAMES}))"
    rf"\d{{0,2}}\\{{0,7}}[\"']?(?:\[\w{{0,16}})?\]?[ \t]{{0,8}}+(?::=|=>|->(?=[ \t]?[\"'])|[!=]==?|:(?!:)|=|value[ \t]{{0,2}}="
    rf"|,?\s{{1,64}}+[\"']?value[\"']?[ \t]{{0,4}}[:=]|:[ \t]?{_TYPE_OF}=|%3[dD])[ \t]{{0,8}}+"
    r"(?:(?:\(\s{0,64}+)?[bBrR]?\\{0,7}\"([^\s\"]{6,}+)\"|(?:\(\s{0,64}+)?[bBrR]?\\{0,7}'([^\s']{6,}+)'|`([^\s`]{6,}+)`|"
    rf"{_ENTITY}"
    r"((?:\d{13,17}\|(?=[\w-]{20}))?[^\s\"'`,;&|<>(){}\[\]$%\\]{8,160}+)(?![(\[{])"
    rf"|(?<==)([^\s\"'`;|<>(){{}}\[\]\\]{{6,160}}+)(?={_LINE_ENDS}))"
)
# A name that ends in KEY, or one of these, followed by at most a blank or a sign, before a random value.
_KEYED_LEADS = ("key", "token", "secret", "access", "private")
_KEYED_BETWEEN = (
    r"[\"'\])]{0,2}(?:[ \t]{0,4}(?:=>|:=?|[=?][:=?]?|\|)[ \t]{0,4}|[ \t._-]{1,3}|[ \t]is:?[ \t])"
    r"(?:[\"'`]|&(?:quot|#3[49]);)?"
)
_KEYED = rf"(?i:{'|'.join(_KEYED_LEADS)}){_KEYED_BETWEEN}([\w+/=.~-]{{11,160}}+)(?![(\[{{]|::)"
# Whether a value is random, as far as a search can tell: letters and digits that alternate often, or capitals inside words;
# sequences that count up or down, a UUID, and groups as people type them.
_MIXED = (
    r"(?:[A-Za-z]*[0-9]+-?[A-Za-z]+-?[0-9]|(?:[A-Za-z]+[0-9]{2,}){2}"
    r"|[A-Za-z0-9]*(?:[0-9][A-Z]{0,3}[a-z]{1,4}[A-Z]|[a-z][A-Z][A-Z]"
    r"|[aA][bB][cC]|[zZ][yY][xX]|123|987|098|321|567)"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-|(?:[0-9A-Z]{4,8}-){2}[0-9A-Z]{4})"
)
_KEYED_HINT = rf"(?i:{'|'.join(_KEYED_LEADS)}){_KEYED_BETWEEN}(?:[A-Za-z0-9]{{0,12}}[_+/=.~-]){{0,3}}{_MIXED}"
# A variable in a template stands for any name; and a program calls an item of a list by its `key`, of letters and digits at random.
_ANY_NAME = later(r"[\"']\$\w{1,24}[\"']")
_OF_ITEM, _ALONE = later(r"key[\"']?:[ \t]{0,4}[\"'][a-z0-9]{11,12}"), later(r"(?:^|[^\w-])\Z")
# A printed object has a key that tells it from others: `<Future: pending, key: inc-b8aa…>`.
_PRINTED = later(r"<(?!\w*(?:Key|Token|Secret|Cred|Auth))[A-Z]\w*[: ][^<>\n]*[ ,]\Z")
# An argument passed as a variable ends there, and the next says something else; the name of a type, an error, an identifier or a
# challenge says nothing of a secret.
_PASSED = later(r"\w*\),|\w*,\s*\n\s*\Z")
_OTHER = later(r"(?i:type|error|identifier|challenge)[\s\"':=>|,.`]*\Z")
_SETTING = (
    r"[_-](?i:pass)(?:\\?[\"'])?[ \t]{0,8}[:=]{1,2}[ \t]{0,8}[\"']?([^\s\"'`,;&|<>(){}\[\]$%\\]{8,160}+)(?![(\[{.])"
)
_SETTING_HINT = r"[_-](?i:pass)(?:\\?[\"'])?[ \t]{0,8}[:=]{1,2}[ \t]{0,8}[\"']?[^\s\"'`,;&|<>(){}\[\]$%\\]{8}"
_SAID = r"(?i:password|passphrase|secret)[ \t](?:is|was)[ \t]{1,3}[\"'`]([^\s\"'`<>]{6,64})[\"'`]"
_SAID_HINT = r"(?i:password|passphrase|secret)[ \t](?:is|was)[ \t]{1,3}[\"'`][^\s\"'`<>]{6}"
_BEFORE_CHARS, _PRINTED_CHARS = 24, 80  # of the name before its last word; of an object before its key
# What an ARN names after the number of an account, a file of the system, a digest, where the next page of a list begins, or the
# class of an element.
_NOT_ITSELF = later(
    r":(?:\d{12}|[x*]{8,12}):\Z|/etc/\Z"
    r"|(?i:(?:hash|digest|checksum|fingerprint)[_-]?of[_-](?:\w{1,12}[_-])?|(?:\b|[_\d])page[_-]?|\bclass=[\"'])\Z|[a-z]Page\Z"
)
# Also the key of who sends, and what is encrypted: in the name itself, since another value before it may be called so.
_PUBLIC_NAME = later(rf"(?:{PUBLIC.pattern}|(?i:sender|encrypted))[\w-]*\Z")
_OF_PASSWORDS = later(r"(?i:pass|pwd|pswd)")
_SAYS = later(r"(?i:(?<![a-z])(?:secret|key|token|passw(?:or)?d)(?![a-z]))")
_SHORT = later(r"(?=[^A-Za-z]*+[A-Za-z])[^\s_.:/-]*[^\sA-Za-z_.:*/?=(){}\[\]<>-][^\s_.:/-]*")
_INDEXED = later(r"(?<=\[)[a-z]\w{1,24}\][ \t]=[ \t]")  # `ids[token] = …`: what a variable stands for
# A message that something is missing says for what, and holds no secret.
_SCHEME = later(r"(?i:auth(?![_-]?(?:key|token))|login)")  # by which one logs in, or as whom
_CHOICE, _CHOICE_CHARS = later(r"\?[ \t]{0,2}[\"']\w*\Z"), 32  # `isCode ? "passcode" : "recovery"` names both
_MISSING, _MISSING_CHARS = later(r"(?i:missing|no|empty)[ \t]\Z"), 9
_ADDRESS, _ADDRESS_CHARS = later(r"://[\w.+:-]*\Z"), 48
# Whose key finds something, and opens nothing.
_LOOKED_UP = later(
    r"(?:(?i:foreign|primary|partition|sort|natural|composite|cache|lookup|index|schema|sequence|idempotency)"
    r"[_ -]?|first_|second_|third_|Identifier|Repository)\Z"
)
# A password that only looks like a member: `Hunter2.Horse9`.
_CHOSEN = later(r"[A-Z][a-z]+\d+(?:\.[A-Z][a-z]+\d+)+")
_COMPARED = later(r"[A-Za-z_.]+\d{1,2}:?")  # `if password1 == password2:`
_PUBLIC_TOKEN = ("publickey", "public_key", "public-key", "pubkey", "pub_key", "pub-key")
_LINE_OF_SETTINGS = later(r"(?:\d{1,9}[|\t])?[ \t]{0,40}(?:# ?)?(?:export )?(?:[A-Za-z0-9_]*|[a-z0-9.-]{1,64})")
_LINE_OF_CAPITALS, _LINE_CHARS = later(r"(?:# ?)?(?:export )?[A-Z0-9_]*"), 80
_MAX_ESCAPING = 7  # backslashes before a quote: of a string in a string in a string
_NEXT_PART = later(r"[ \t]{0,8}[+.\\]?\s{0,64}+[\"']([\w+/=.~-]{8,512}+)[\"']")
_PARTS_CHARS = 1_024  # after which no part begins
_BARE, _WITH_SIGNS = 5, 6  # groups of an assignment: a bare value, and one with signs that end it in programs
# Names after which a random value may come, with anything in between; and what that may be.
_LOOSE_NAMES = (
    rf"pa?ss?w|passphrase|passcode|pwd|secret|token|credential|creds?\b|auth|login|(?:{'|'.join(_OF_KEYS)})[_.-]?key"
)
_NAMED_LEADS = (
    "passw",
    "pasw",
    "pssw",
    "psw",
    "passphrase",
    "passcode",
    "pwd",
    "secret",
    "token",
    "credential",
    "cred",
    "auth",
    "login",
    *_OF_KEYS,
)
_BETWEEN = (
    r"[\w .\t-]{0,32}\\?[\"'\])]{0,2}(?:,?\s{1,24}[\"']?value[\"']?)?"
    r"[ \t]{0,4}(?:[:?.+]{0,3}=>?|->|\|\|?|[:>,]|%3[dD])[\s\"'`=\\]{0,40}"
)
_LOOSE = rf"(?i:{_LOOSE_NAMES})({_BETWEEN})([\w+/=.~-]{{11,160}}+)(?![(\[{{])"
_CALLED = later(r"(?i:key|token|secret)[\"'\])]{0,2}[ \t]{0,4}[:=]{1,2}>?[ \t]{0,4}[\"']\Z")
_DJANGO = rf"(?i:secret_key)({_BETWEEN}(?:default=[\"'])?)({DJANGO_CHARS}{{50,60}}+)(?![\w-])"
# Values encrypted by Jenkins are in braces, with blanks.
_ELEMENT = r"<([\w.:-]{1,64}+)(?:\s[^<>]{0,200}+)?>\s{0,64}+([^\s<>]{6,512}+|\{[^<>{}\n]{12,512}+\})\s{0,64}+</\1>"
_ENCRYPTED_HINT = r"(?i:passw(?:or)?d|passphrase|secret|token|key)>\{"
# The name of a type of resource, such as `"AWS::KMS::Key"`, whose value is a resource or a digest.
_TYPE, _TYPE_CHARS = later(r"[\"']\w+::[\w:]*\Z"), 64


def _named(text: str, at: int, _floor: int) -> Spans:
    """Return the value that a name calls a secret: any value if it is assigned, only a random one if more comes between."""
    # What rejects most values comes first, here and in `_keyed`: what is before the name is asked of one in fifty places.
    if (match := compiled(_ASSIGNED).match(text, at)) and (spans := _assigned(match)):
        return () if _is_not_itself(text, at) else spans
    match = compiled(_LOOSE).match(text, at)
    if (
        match is None
        or not is_key(match[2])
        or _is_not_itself(text, at)
        or PUBLIC.search(match[1])
        or _PUBLIC_NAME.search(text, max(0, at - _BEFORE_CHARS), at)
        or _PASSED.match(match[1])
        or _OTHER.search(match[1])
        or is_class(match[2])
        or is_member(match[2])
        or NO_SECRET.fullmatch(match[2])
        or NO_KEY.fullmatch(match[2])
        or _INDEXED.match(text, at)
    ):
        return ()
    if _TYPE.search(text, max(0, at - _TYPE_CHARS), at) or text[max(0, at - 10) : at].lower().endswith(_PUBLIC_TOKEN):
        return ()
    if match[1] == ":" and match[2].startswith("//"):
        return ()  # the scheme of an address
    return to_end(text, match.span(2))


def _is_not_itself(text: str, at: int) -> bool:
    """Return whether what comes before a name makes it the name of something else."""
    return _NOT_ITSELF.search(text, max(0, at - _BEFORE_CHARS), at) is not None


def _element(text: str, at: int, floor: int) -> Spans:
    """Return the content of an XML element that is called a secret, unless it reads as a name."""
    begin = text.rfind("<", max(floor, at - _BEFORE_CHARS), at)
    match = compiled(_ELEMENT).match(text, begin) if begin >= 0 and not _NOT_ITSELF.search(text, begin, at) else None
    if match is None or match.start(2) <= at or NO_SECRET.fullmatch(match[2].strip("{}")):
        return ()
    if IDENTIFIER.fullmatch(match[2]) or STANDS_FOR.fullmatch(match[2]) or is_said_abroad(match[2]):
        return ()
    return (match.span(2),) if not _SCHEME.match(text, at) or is_key(match[2]) else ()


def _keyed(text: str, at: int, floor: int) -> Spans:
    """Return a random value after a name that ends in a word for such values, even without a sign between."""
    match = compiled(_KEYED).match(text, at)
    if match is None or not is_key(match[1]):
        return ()
    before = text[max(floor, at - _BEFORE_CHARS) : at]
    if PUBLIC.search(before) or _PUBLIC_NAME.search(before) or _NOT_ITSELF.search(before):
        return ()
    if text[at : at + 3].lower() == "key" and _LOOKED_UP.search(before):
        return ()
    if _ANY_NAME.match(text, max(0, at - 2)) or (_OF_ITEM.fullmatch(match[0]) and _ALONE.search(before)):
        return ()
    if match[0].startswith("key") and _PRINTED.search(text, max(floor, at - _PRINTED_CHARS), at):
        return ()
    if (
        is_class(match[1])
        or is_member(match[1])
        or _TYPE.search(text, max(0, at - _TYPE_CHARS), at)
        or NO_KEY.fullmatch(match[1])
    ):
        return ()
    name, sign, _ = match[1].rstrip("=").partition("=")
    if _INDEXED.match(text, at) or (sign and (PUBLIC.search(name) or _OTHER.search(name))):  # `KEY_FINGERPRINT=…`
        return ()
    between = text[at : match.start(1)]
    if not any(sign in between for sign in ":=|") and not is_strong(match[1]) and between[-1] not in "\"'":
        return ()
    if between.endswith("_") and not reads_as_key(match[1]):
        return ()
    ((start, end),) = to_end(text, match.span(1))
    return ((start, start + len(text[start:end].rstrip(".-~"))),)  # a sentence may end there


def _pass(text: str, at: int, _floor: int) -> Spans:
    """Return the value of a setting `…_PASS`, unless it reads as a name; in a settings file any word counts."""
    match = compiled(_SETTING).match(text, at)
    if match is None or NO_SECRET.fullmatch(match[1]):
        return ()
    begin = text.rfind("\n", max(0, at - _LINE_CHARS), at) + 1
    is_line = (begin or at < _LINE_CHARS) and _LINE_OF_CAPITALS.fullmatch(text, begin, at)
    is_setting = is_line and text[match.start(1) - 1] == "="
    is_password = is_setting and compiled(_LINE_ENDS).match(text, match.end()) and match[1].isalpha()
    if IDENTIFIER.fullmatch(match[1].lstrip("@")) and not is_password:
        return ()
    return to_end(text, match.span(1))


def _said(text: str, at: int, _floor: int) -> Spans:
    """Return a password that a sentence states, unless it is a plain word."""
    match = compiled(_SAID).match(text, at)
    return (match.span(1),) if match and any(map(str.isdigit, match[1])) and not NO_SECRET.fullmatch(match[1]) else ()


def _assigned(match: re.Match[str]) -> Spans:
    """Return the value of an assignment, unless it is a placeholder, repeats the field's name, or is bare and reads as a
    name.
    """
    group = match.lastindex or 0
    is_setting = group >= _BARE and _is_setting(match)
    if (group == _WITH_SIGNS and not is_setting) or not _is_assignment(match, group):
        return ()
    start, end = match.span(group)
    # The quote that ends a string within a quoted text has backslashes before it.
    escaping = len(match[group]) - len(match[group].rstrip("\\"))
    end -= escaping if escaping <= _MAX_ESCAPING else 0
    value = match.string[start:end]
    # A shorter password counts if it is not a word, that is, if it has letters and something else.
    is_short = (group < _BARE or is_setting) and _OF_PASSWORDS.match(match[1]) and _SHORT.fullmatch(value)
    if len(value) < (6 if is_short else 8):
        return ()
    if NO_SECRET.fullmatch(value) or STANDS_FOR.fullmatch(value) or NO_KEY.fullmatch(value) or is_said_abroad(value):
        return ()
    if match[1].lower() == "pwd" and value[0] in "/~.":
        return ()
    if _is_name(match, group, value, is_setting=is_setting):
        return ()
    return to_end(match.string, (start, end)) if group == _BARE else ((start, end), *_going_on(match))


def _is_assignment(match: re.Match[str], group: int) -> bool:
    """Return whether what comes before a value and its name makes it the value of that name."""
    text, start = match.string, match.start()
    between = text[match.end(1) : match.start(group)]
    if between == ":" and _ADDRESS.search(text, max(0, start - _ADDRESS_CHARS), start):
        return False  # the name in an address, whose password is judged there
    if between.startswith("]") and text.endswith("=", 0, start):
        return False  # of a selector: `input[type=password]:focus`
    if group >= _BARE and between.rstrip()[-1:] == "=" and any(map(str.isalpha, between)):
        return False  # a call, or a name, of that type
    if between.startswith(": ") and _MISSING.search(text, max(0, start - _MISSING_CHARS), start):
        return False
    return not (between[0] in "\"'" and _CHOICE.search(text, max(0, start - _CHOICE_CHARS), start))


def _is_name(match: re.Match[str], group: int, value: str, *, is_setting: bool) -> bool:
    """Return whether the value of an assignment reads as a name, where it is none for a secret to be a name.

    Args:
        match: The assignment.
        group: The group of its value.
        value: The value, without what escapes the quote that ends it.
        is_setting: Whether the assignment is a line of a settings file, where any word may be a password.
    """
    between = match.string[match.end(1) : match.start(group)]
    name, words = (re.sub(r"[_-]", "", part).lower() for part in (match[1], value))
    # The text may be what a field is called.
    is_told = name in words or (name.startswith("pass") and any(word in words for word in ("passwd", "password")))
    # A value in quotes may be a password of letters alone; tokens and the keys that services issue are random, and a bare
    # word in a program is a name: `password = get_password`.
    is_issued = name.endswith("token") or name in _ISSUED
    is_bare = group >= _BARE and not is_setting
    # Or the text is what such a thing is worth; a table may hold names of anything.
    is_worth = "]" in between or between.lstrip().startswith(("==", "!=")) or "value" in between
    looks_random = is_issued or is_bare or is_worth
    # A value of several words that says what it is stands for one: `test-secret`. People choose such passwords, so that behind
    # the name of one only a variable does: `password = access_token_2`.
    is_variable = is_bare and value.isidentifier()
    says = _SAYS.search(value) is not None and (is_variable or not _OF_PASSWORDS.match(match[1]))
    if is_called_abroad(words) or ((is_issued or says) and is_named(value)):
        return True
    if (looks_random or is_told) and (IDENTIFIER.fullmatch(value) or NUMBERED_NAME.fullmatch(value)):
        return True
    if name.endswith("key") and MEMBER.fullmatch(value):
        return True
    if is_told and is_issued and value.isidentifier() and not is_key(value):
        return True
    of_name = ATTRIBUTE if group == _BARE and not is_setting else QUOTED_NAME
    if is_told and (ACTION.fullmatch(value) or of_name.fullmatch(value.lstrip("*&"))):  # of Go: `*one.Secret`
        return True
    return group == _BARE and _is_code(match, value, between, looks_random=looks_random)


def _is_code(match: re.Match[str], value: str, between: str, *, looks_random: bool) -> bool:
    """Return whether a bare value is an expression of a program."""
    if between.strip(f"{digits} ") in {"==", "!="} and _COMPARED.fullmatch(value):
        return True
    if not looks_random or (_OF_PASSWORDS.match(match[1]) and _CHOSEN.fullmatch(value)):
        return False
    # `!name` is a condition, or a tag in YAML, `name!` a macro, `@name` an object's attribute, and `= name_1;` a statement.
    start, end = match.span(_BARE)
    return bool(
        IDENTIFIER.fullmatch(value.lstrip("!@"))
        or MACRO.match(match.string, start)
        or (between.strip() == "=" and match.string.startswith(";", end) and VARIABLE.fullmatch(value))
        or is_class(value)
        # A password that YAML does not quote may have a dot, too: `hunter.2x`.
        or (("::" in value or value[0].isupper() or between.lstrip(digits) == " = ") and is_member(value))
    )


def _going_on(match: re.Match[str]) -> Spans:
    """Return the further parts of a quoted value that is written in several, if they are random too."""
    found: list[tuple[int, int]] = []
    end, last = match.end(), match.start() + _PARTS_CHARS
    while end < last and (part := _NEXT_PART.match(match.string, end)):
        if is_random(part[1]):
            found.append(part.span(1))
        end = part.end()
    return tuple(found)


def _is_setting(match: re.Match[str]) -> bool:
    """Return whether a line begins with `NAME=value`, as in settings files; programs have blanks around the sign, or
    indent it.
    """
    text, start = match.string, match.start()
    begin = text.rfind("\n", max(0, start - 80), start) + 1
    is_first = (begin or start < 80) and _LINE_OF_SETTINGS.fullmatch(text, begin, start)
    is_last = compiled(_LINE_ENDS).match(text, match.end())
    sign = text[match.end(1) : match.start(match.lastindex or 0)]
    return bool(is_first) and bool(is_last) and sign.lstrip("0123456789") == "="


def _by_service() -> Iterable[Shape]:
    """Yield a shape for each format that is recognised by its service's name."""
    for kind, names, body in BY_SERVICE:
        words = tuple(names.split())
        pattern = rf"(?i:{alternatives(words)})({_BETWEEN})((?i:{body})){WORD_END}"
        yield Shape(kind, words, (_SERVICE_HINT,), _of_service(pattern), is_folded=True, engine=SERVICES)


def _of_service(pattern: str) -> Callable[[str, int, int], Spans]:
    def spans(text: str, at: int, _floor: int) -> Spans:
        match = compiled(pattern).match(text, at)
        if match is None or PUBLIC.search(match[1]) or not (_is_mixed(match[2]) or _is_called(match[1], match[2])):
            return ()
        return (match.span(2),)

    return spans


def _is_called(between: str, value: str) -> bool:
    """Return whether a value in quotes is called a key, and its capitals and small letters may be one, even without a digit."""
    return _CALLED.search(between) is not None and value not in (value.lower(), value.upper())


def _is_mixed(value: str) -> bool:
    """Return whether a value is a pair (it has a colon), reads as random, or has both digits and letters."""
    if ":" in value or is_random(value) or changes_case(value.rpartition("_")[2]):
        return True
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


# For everything found by a name. Longer gaps would create more search states than are kept for diverse text, which makes it
# three times as slow; unbounded gaps would allow a text for which it is quadratic. A bare value counts if it does not read as
# a name: including all others gave six times as many places to examine.
_BEHIND_NAME = (
    r"[\w.-]{0,20}(?:[ \t][\w.-]{0,10})?(?:\[\w*)?[\"'\])\\]{0,9}(?:,?\s*[\"']?value[\"']?)?[ \t]{0,8}"
    r"(?:[:?.+|=>,!]{1,4}|->|%3[dD])"
)
_TYPE_OF_HINT = r"(?:[A-Za-z][\w.<>|?\[\]]*[ \t]?=)?"
_NAMED_HINT = (
    rf"(?i:{_LOOSE_NAMES}){_BEHIND_NAME}"
    rf"[\s=]*(?:{_TYPE_OF_HINT}[ \t]*[bBrRfF]?[`(\\]*(?:\"[^\s\"]{{6}}|'[^\s']{{6}}|[`(\\][^\s\"'`]{{6}})"
    r"|[A-Za-z_.*/?-]*(?:[^A-Za-z_.*/?\s\"'`,;(){}\[\]=-]|[a-z][A-Z][A-Z]))"
)
_SERVICE_HINT = (
    rf"(?i:{alternatives(word for row in BY_SERVICE for word in row.names.split())})"
    rf"{_BEHIND_NAME}[\s\"'`=\\(]*[\w+/=:.-]{{12}}"
)
# In a settings file it may read as one.
_LINE_HINT = r"(?i:passw(?:or)?d|passphrase|pwd|secret|key)\d{0,2}=[A-Za-z_.*/?-]+[ \t]*(?:[\r\n#]|$)"


def by_names() -> Iterable[Shape]:
    """Yield the shapes of everything that a name gives away, services' first."""
    yield from _by_service()
    yield Shape("Django key", ("secret_key",), (), _of_service(_DJANGO), is_folded=True)
    yield Shape("secret", _NAMED_LEADS, (_NAMED_HINT, _LINE_HINT), _named, is_folded=True)
    yield Shape("secret", _NAMED_LEADS, (_ENCRYPTED_HINT,), _element, is_folded=True)
    yield Shape("secret", _KEYED_LEADS, (_KEYED_HINT,), _keyed, is_folded=True)
    yield Shape("secret", ("_pass", "-pass"), (_SETTING_HINT,), _pass, is_folded=True)
    yield Shape("secret", ("password", "passphrase", "secret"), (_SAID_HINT,), _said, is_folded=True)
