"""Which values are not secrets, whatever they are called? Placeholders, expressions, references, names and public keys.

Law: a pattern here is bounded or possessive. Leaves to others: where such a value does not count (`secret_names`,
`secret_places`, `secret_commands`), and what reads as random (`secret_values`).
"""

from __future__ import annotations

import re

from penstock.text.secret_shape import later
from penstock.text.secret_values import count_changes, mixes_cases, reads_as_key

# What people write where a secret will be.
_PLACEHOLDERS = (
    r"\*+|\.+|~[a-z]{1,2}|x+|X+|█+|•+|[0-]{8,}|[+-]+|(?:[A-Za-z]{2,6}[_-]?)?[xX]{4}[xX_-]*|(?P<letter>[A-Za-z])(?P=letter){4,}",
    r".{1,24}(?:\.\.\.|…)|.{1,24}-{5}.{0,24}|-----BEGIN|[\w.+-]{1,64}@example\.(?:com|net|org)|_*(?:TODO|FIXME)\b.*",
    r"(?i:redacted|change[_-]me|replace[_-][a-z_-]+|your[_-][a-z_-]+|[a-z_-]+[_-]here|[a-z_-]*placeholder)|(?P<sign>[!@#|~^])[A-Z]{2,24}(?:_[A-Z]{2,24}){0,6}(?P=sign)",
)
# What a template or a program makes of something else, the program between two strings, and patterns.
_EXPRESSIONS = (
    r"/\^.*|&lt;.*|(?:[.#'\"]{1,2}|\\[0-9a-z]{1,3})?[<\[{$%(].*|.*(?:[$#]\{|\{\{|%\(\w+\)|%s|\{\w*\}|\(\)|\\\().*|\.\w+\(.*",
    r"[^$]{0,24}\$[A-Z]+(?:_[A-Z]+)+|\+.*\+=?|\)[,;.?:].*|(?:(?:process|import\.meta)\.)?env\.\w+!?|[A-Z][a-z]\w*\[[\w, .|\[\]]+\]",
)
# Where a secret is kept, or what it opens; and the name of a user with a token.
_REFERENCES = (
    r"[a-z][a-z0-9+.-]{1,15}://[\w.-]+(?::\d{1,5})?(?:/[a-z0-9_.-]{0,19})*|(?:urn|arn):[\w-]+:.*|op://.*|#/[\w/.-]+|projects/[\w-]+/secrets/.*",
    r"x-oauth-basic\b.*",
)
# What a form requires of a field, and a model of a column.
_RULES = (r"(?i:required|nullable|sometimes|present|confirmed|encrypted|hashed)(?:[|:].*)?",)
NO_SECRET = later("|".join((*_PLACEHOLDERS, *_EXPRESSIONS, *_REFERENCES, *_RULES)), re.DOTALL)
"""A value that stands in for a secret wherever it occurs."""

# As X.509 writes a public key, with its type, in base64: of elliptic curves, and of RSA by the bytes that its length takes.
_X509 = (
    r"M(?:FkwEwYHKoZIzj0CAQ|HYwEAYHKoZIzj0CAQ|IGbMBAGByqGSM49AgEG|CowBQYDK2V|[E-H][A-Za-z0-9+/]wDQYJKoZIhvcNAQEBBQAD"
    r"|IG[A-Za-z0-9+/]MA0GCSqGSIb3DQEBAQUAA4|I[A-Za-z0-9+/]{3,5}ANBgkqhkiG9w0BAQEFAAO)[\w+/]*=*"
)
NO_KEY = later(
    # Names of build artifacts and of other things that end in a digest.
    r"(?:[A-Za-z0-9.]{1,24}[-/]){1,8}(?:[0-9a-f]{40}|[0-9a-f]{64})|(?:\w{1,24}\.){2,8}[0-9a-f]{40}"
    # Public keys: of NATS, whose seeds begin with S, of SSH, and of X.509, also its modulus in hexadecimal.
    rf"|[ACNOU][A-Z2-7]{{55}}|AAAA[BE][\w+/]{{20,}}=*|{_X509}|3082[0-9a-f]{{4}}0282[0-9a-f]*"
    r"|LS0tLS1CRUdJTiB(?:DRVJU|QVUJM)[\w+/]*=*"  # certificates and public keys in base64
    # A token that Datadog's pages show, how a request is signed or a connection encrypted, a path, a truncated key, its beginning.
    r"|pub[0-9a-f]{32}|(?:[A-Za-z0-9]{2,16}-){1,2}HMAC-SHA\d{1,3}|(?:[A-Z][A-Z0-9]{1,15}-){1,5}SHA\d{0,3}"
    r"|(?:[\w.-]{1,48}/){2,12}[\w.@-]{1,64}\.[a-z]{1,8}|(?i:sha\d{1,3}|md5)[A-Za-z]?[:-].*"
    r"|.{1,24}\.\.\.|(?:[a-z]{1,16}\d{0,2}[._-]){2,6}"
)
"""A value that reads as a key but is public, or only names or begins one."""

STANDS_FOR = later(
    # When it was issued or expires; the number of a program, a version or an object (OID); paths to what holds the secret;
    # what a shell substitutes for a variable that is set.
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.Z+-]*|0[xX][0-9A-Fa-f]{1,8}|\d{1,20}[iu](?:8|16|32|64|128)|v?\d{1,4}(?:\.\d{1,7}){2,12}"
    r"|(?:~|\.{1,2})?(?:/[a-z._-][\w.-]{0,15}){3,8}|[+?][a-z-]+|\?[A-Z][A-Z0-9_]+|(?:[\w.-]{1,48}/){1,12}[\w.@-]{1,64}\.[a-z]{2,8}"
    # What such a thing is called by a program: `newSecretValue`.
    r"|(?i:[a-z]{0,8}[_-]?(?:secret|token|password)[_-]?(?:value|option|field|name))"
    # What such a thing is called where it is sent: `client_secret`.
    r"|(?:api|access|refresh|client|consumer)_(?:key|token|secret)"
    # What a program writes for one in a test: `SHOULD_BE_STRIPPED`.
    r"|[A-Z]{2,16}(?:_[A-Z]{2,16}){2,8}|(?:Big)?(?:Ui|I)nt\d{1,2}(?:Clamped)?Array"  # or a type of JavaScript
    r"|#[0-9A-Fa-f]{6}"  # or a colour, whose name has such a word in it
)
"""What is assigned to a name that calls it a secret, and stands for one."""

# ── names in programs ────────────────────────────────────────────────────────────────────────────────────────────

IDENTIFIER = later(r"[A-Za-z_.:*/?=-]++(?:(?<=/)\d\.?)?")
"""A name without a digit, or a function and how many arguments it takes."""
NUMBERED_NAME = later(r"(?:[A-Za-z]{2,16}[-_.]){1,6}v?\d{1,2}")
"""A name such as `etcd-cluster-1`."""
MEMBER = later(r"(?=[a-z-]*\.)[a-z-]{0,24}(?:\.[a-z-]{2,24}){1,4}")
"""A name such as `api.organization` or `.data-api`."""
ACTION = later(r"[a-z_]{1,40}#[a-z_]{1,40}")
"""An action of Rails."""
ATTRIBUTE = later(r"(?=[A-Za-z0-9]*+(?:[_.#]|[!?]\.))(?:[A-Za-z_.#]++\d{0,3}+(?:[!?](?=\.))?){1,8}[!?]{0,2}")
"""A bare attribute, such as `token1.refresh_token`, `issuer.issue_token!`, `config!.key` or `this.#auth.loginPassword`."""
QUOTED_NAME = later(
    r"[a-z]{2,16}\d{1,3}(?:_[a-z]{1,16}){1,3}|(?=[A-Z_]*\d)[A-Z]{2,16}\d{0,3}(?:_[A-Z]{1,16}\d{0,3}){1,7}"
)
"""What is a name even in quotes, such as `sha256_password` or `JWT_SHA512_PRIVATE_KEY`."""
VARIABLE = later(r"(?:[A-Za-z]{2,16}_){1,6}[A-Za-z]{1,16}\d{1,2}")
"""A variable such as `libtest_arg4`."""
MACRO = later(r"[a-z_]{2,40}![ \t]?[{(\[]")
"""The beginning of a call to a macro of Rust."""

# A name and password in an address that only say what belongs there: `accountSid:authToken`, `API_KEY:DOMAIN`.
_CREDENTIAL = later(
    r"(?i:(?:(?:api|auth|app|access|user|client|account|bot|your)[_-]?)(?:key|token|secret|pass(?:word|wd)?)|key|token)"
)
_OF_CREDENTIAL = later(r"(?i:[a-z_]{0,16}(?:key|token|secret|sid|login))")
_PARTS = later(r"(?i:(?:user|username|password|auth|login)(?::(?!\Z)|\Z)){2,4}")
_CAPITALS = later(r"\[?[A-Z]+(?:[_:.-]+[A-Z]+)*\]?")
_LETTERS = later(r"[A-Za-z_]+")
_CONSTANT = later(r"[A-Z]+(?:_[A-Z]+)+")


def is_pair_of_names(name: str, value: str) -> bool:
    """Return whether a name and password in an address say only what belongs there.

    Args:
        name: What comes before the colon.
        value: What comes after it.
    """
    if _CREDENTIAL.fullmatch(value) or _CONSTANT.fullmatch(value) or _PARTS.fullmatch(value):
        return True
    of_credential = _OF_CREDENTIAL.fullmatch(name) is not None and _LETTERS.fullmatch(value) is not None
    return of_credential or (_CAPITALS.fullmatch(name) is not None and _CAPITALS.fullmatch(value) is not None)


_OF_MEMBER = later(r"(?>[+&*!@]?)([A-Za-z_]\w*+[!?]?(?>(?:(?:\??\.|::|->)#?[A-Za-z_]\w*+[!?]?)+))", re.ASCII)
_NAME, _MAX_CHANGES = later(r"\w+", re.ASCII), 4  # from letters to digits and back: two numbers in a name


def is_member(value: str) -> bool:
    """Return whether a bare value is what an object, a module or a type has: `params.eip7702signer.sign`, `v3::Code::InvalidToken`.

    Its names may have a number or two, and none reads as random.
    """
    match = _OF_MEMBER.fullmatch(value)
    if match is None:
        return False
    names = _NAME.findall(match[1])
    return sum(map(count_changes, names)) <= _MAX_CHANGES and not any(map(reads_as_key, names))


_WORD = later(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|_")
_MAX_NUMBERS = 3  # of the name of a class


def is_class(value: str) -> bool:
    """Return whether a bare value is a class name, including the numbers that occur in one: `ed25519.Ed25519PrivateKey`."""
    last = value.rpartition(".")[2]
    words = _WORD.findall(last)
    capitalised = [word for word in words if word[0].isupper() and word[1:].islower()]
    is_path = all(map(str.isidentifier, value.split(".")))
    is_few = not mixes_cases(last) and sum(map(str.isdigit, words)) <= _MAX_NUMBERS
    needed = 1 if "." in value else 2 if words[-1:] == ["Key"] else 3
    return (
        is_path
        and is_few
        and len(capitalised) >= needed
        and sum(map(len, capitalised)) * 2 >= len(last)
        and (words[-1] in capitalised or re.fullmatch("[A-Z]{2,4}", words[-1]) is not None)
    )
