"""Does a value read as a key? By its characters alone: long runs of mixed letters and digits, or examples that count up.

Law: a value is judged by its first 512 characters. Leaves to others: whether a name or a place makes it a secret
(`secret_names`, `secret_places`); nothing is a secret just because it is random.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from string import ascii_lowercase, digits
from unicodedata import normalize

from penstock.text.secret_shape import later

_RUN = later(r"[A-Za-z0-9]+")
_CHANGE = later(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_UUID = later(r"(?=[A-Za-z-]*+[0-9])(?=[0-]*+[^0-])[0-9a-zA-Z]{8}(?:-[0-9a-zA-Z]{4}){3}-[0-9a-zA-Z]{12}")
_GROUPS = later(
    r"(?=(?:[A-Z-]*+[0-9]){2})[0-9A-Z]{4,8}(?:-[0-9A-Z]{4,8}){2,7}|[0-9A-Z]{5}(?:-[0-9A-Z]{5}){3,7}"
)  # as people type them
_DIGITS = later(r"[0-9]{17,}")
# A time to the millisecond or finer, as migrations are numbered.
_TIME = later(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])(?:[0-5]\d){2}\d{3,6}")
_MIN_DIGITS = 5  # different ones
_MIN_RUN = 11
_MIN_ENTROPY = 2.9  # bits a character, in the longest run: 16 random hexadecimal digits have 3.1 on average
_PIECE = later(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Words joined with capitals have more letters each than random letters between two changes: of 5,299 such names in installed
# packages 9 have fewer than 3 on average, seven of them base64; of random letters 84 in a hundred.
_PIECE_CHARS, _MIN_PIECED = 3, 20
_SHORT_PIECE_CHARS, _MIN_SHORT_PIECED = 2.5, 15
# But a name with an abbreviation is words for the most part: `K8SAuthRoleName`.
_WORD_LETTERS, _MAX_OF_WORDS = 4, 0.75
# Of a name; without this, 1,300 names in 34 MB of an authentication framework were taken for keys.
_MAX_NAME_NUMBERS, _MAX_NAME_DIGITS, _NAME_WORD_CHARS = 2, 4, 3.5
_CURVE = "25519"  # of Ed25519 and X25519, a longer number in names


def is_random(value: str) -> bool:
    """Return whether a value reads as random: a long mixed run of letters and digits, or of both cases. UUIDs count."""
    if (
        _UUID.fullmatch(value)
        or _GROUPS.fullmatch(value)
        or (_DIGITS.fullmatch(value) and len(set(value)) >= _MIN_DIGITS and not _TIME.fullmatch(value))
    ):
        return True
    run = max(_RUN.findall(value[:512]), key=len, default="")
    if mixes_cases(run) or _is_joined(value):
        return True
    if len(run) < _MIN_RUN or count_changes(run) < 2 or _is_name(run):
        return False
    counts = Counter(run).values()
    return -sum(n / len(run) * math.log2(n / len(run)) for n in counts) >= _MIN_ENTROPY


def _is_name(run: str) -> bool:
    """Return whether words are joined with capitals and a number or two: `OAuth2ParameterNames`, `x509Filter`."""
    pieces = _PIECE.findall(run)
    numbers = [piece for piece in pieces if piece.isdigit()]
    words = len(pieces) - len(numbers)
    is_few = len(numbers) <= _MAX_NAME_NUMBERS and all(
        len(number) <= _MAX_NAME_DIGITS or number == _CURVE for number in numbers
    )
    return is_few and not run.islower() and not run.isupper() and len(run) >= _NAME_WORD_CHARS * words


def count_changes(run: str) -> int:
    """Return how often a run alternates between letters and digits."""
    return sum(1 for _ in _CHANGE.finditer(run))


def mixes_cases(run: str) -> bool:
    """Return whether capitals occur where no word begins."""
    if len(run) < _MIN_SHORT_PIECED or run.islower() or run.isupper():
        return False
    chars = _PIECE_CHARS if len(run) >= _MIN_PIECED else _SHORT_PIECE_CHARS
    pieces = _PIECE.findall(run)
    words = sum(len(piece) for piece in pieces if piece.isalpha() and len(piece) >= _WORD_LETTERS)
    return len(pieces) * chars >= len(run) and words < _MAX_OF_WORDS * len(run)


# Letters of other alphabets or with diacritics, and what occurs in a sentence; or kana.
_SAID_ABROAD = later(r".*[\u3040-\u30ff]{2}.*|(?=[\x00-\x7f]*[^\x00-\x7f])\d?(?:[^\W\d_]|[ '?!,.:;/-]|[^\w\x00-\x7f])+")
_ESCAPED = later(r"\\u([0-9a-fA-F]{4})")  # as JSON may write them


PASSWORDS_ABROAD = (
    *(
        "passwort",
        "kennwort",
        "wachtwoord",
        "adgangskode",
        "lösenord",
        "passord",
        "contraseña",
        "contrasenya",
        "contrasinal",
    ),
    *(
        "senha",
        "palavra-passe",
        "mot de passe",
        "hasło",
        "heslo",
        "parool",
        "salasana",
        "lozinka",
        "jelszó",
        "kata sandi",
    ),
    *("cyfrinair", "pasahitza", "fjalëkalimi", "пароль", "密码", "密碼", "パスワード", "비밀번호"),
)
"""What other languages call a password, in lower case."""
# Words for a key or a secret, and for a word.
_SECRETS_ABROAD = (
    "clave",
    "palavra-chave",
    "parola",
    "geslo",
    "şifre",
    "hemmelighet",
    "geheimnis",
    "secreto",
    "segreto",
)


def _plain(word: str) -> str:
    """Return a word as a program writes it: in ASCII letters only, empty if it has none."""
    letters = normalize("NFD", word.replace("ł", "l")).encode("ascii", "ignore").decode()
    return "".join(filter(str.isalpha, letters))


# Some languages join words: `benutzerpasswort`.
_CALLED_ABROAD = later(
    rf"[a-z]{{0,16}}(?:{'|'.join(filter(None, map(_plain, (*PASSWORDS_ABROAD, *_SECRETS_ABROAD))))})"
)


def is_called_abroad(value: str) -> bool:
    """Return whether a value, in lower case and without signs, is another language's word for a password."""
    return _CALLED_ABROAD.fullmatch(value) is not None


def is_said_abroad(value: str) -> bool:
    """Return whether a value is words of a language that ASCII cannot write, as translations have next to `password`."""
    said = _ESCAPED.sub(lambda escaped: chr(int(escaped[1], 16)), value[:512])
    return _SAID_ABROAD.fullmatch(said) is not None


_MIN_COUNTED = 14
_KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_STEPS = {pair for row in (digits, ascii_lowercase, *_KEYBOARD) for pair in (*pairwise(row), *pairwise(row[::-1]))}
_MIN_LETTERS, _LETTERS_PIECE_CHARS = 40, 4
_MIN_LOOSE, _MIN_CHANGES = 15, 3  # of what is shorter, from letters to digits and back


def counts_up(value: str) -> bool:
    """Return whether a value goes through letters or digits in order, as examples of keys do: `abcDEF1234567890`.

    The order of a keyboard counts, too.
    """
    run = "".join(_RUN.findall(value[:512].lower()))
    if len(run) < _MIN_COUNTED:
        return False
    return sum(map(_STEPS.__contains__, pairwise(run))) * 4 >= len(run) * 3


def changes_case(run: str) -> bool:
    """Return whether capitals are so frequent in a long run of letters that it is not a name but may be a key without digits."""
    return len(run) >= _MIN_LETTERS and len(_PIECE.findall(run)) * _LETTERS_PIECE_CHARS >= len(run)


_JOINTS = later(r"[_+.-]")
_MIN_JOINED, _MIN_JOINED_CHANGES = 18, 4
_HEX = later(r"[0-9a-f]+|[0-9A-F]+")
_MIN_HEX, _MIN_HEX_CHANGES = 28, 6
_MIN_MIXED, _MIN_MIXED_CHANGES = 16, 4


def _is_joined(value: str) -> bool:
    """Return whether a value mixes capitals, small letters and digits throughout, although signs split it into short runs."""
    joined = _JOINTS.sub("", value[:512])
    return (
        len(joined) >= _MIN_JOINED
        and joined.isalnum()
        and count_changes(joined) >= _MIN_JOINED_CHANGES
        and mixes_cases(joined)
    )


def reads_as_key(value: str) -> bool:
    """Return whether a value, or part of it, is mixed so thoroughly that it is not a name, whatever it is called."""
    if _is_joined(value) or _UUID.search(value) or _GROUPS.search(value) or counts_up(value):
        return True
    return any(map(_is_mixed_run, _RUN.findall(value[:512])))


def _is_mixed_run(run: str) -> bool:
    """Return whether a long run often alternates between letters and digits, or capitals and small letters."""
    if mixes_cases(run):
        return True
    changes = count_changes(run)
    if _HEX.fullmatch(run):
        return len(run) >= _MIN_HEX and changes >= _MIN_HEX_CHANGES
    return len(run) >= _MIN_MIXED and changes >= _MIN_MIXED_CHANGES and (run.islower() or run.isupper())


_MIN_STRONG_RUN = 20


def is_strong(value: str) -> bool:
    """Return whether a value is certainly random: one long mixed run of letters and digits, or a UUID."""
    run = max(_RUN.findall(value[:512]), key=len, default="")
    return counts_up(value) or (
        is_random(value) and (len(run) >= _MIN_STRONG_RUN or _UUID.fullmatch(value) is not None)
    )


_PART = r"(?:[A-Za-z]+\d{0,5}|\d{1,5})"
_PARTS = later(rf"{_PART}(?:(?:[_./-]|::?){_PART})*")
_WORD_CHARS, _MIN_WORDS, _MAX_NUMBERS = 2.5, 2, 2


def is_named(value: str) -> bool:
    """Return whether a value is several words with a number or two, as people name things: `test-api-key-123`, `AtomicU64`."""
    if not _PARTS.fullmatch(value) or is_key(value):
        return False
    pieces = _PIECE.findall(value)
    words = [piece for piece in pieces if piece.isalpha()]
    are_long = sum(map(len, words)) >= _WORD_CHARS * len(words)
    return are_long and len(words) >= _MIN_WORDS and len(pieces) - len(words) <= _MAX_NUMBERS


def is_key(value: str) -> bool:
    """Return whether a value is what people call a key: random, or an example of one."""
    if len(value) < _MIN_LOOSE and count_changes(value) < _MIN_CHANGES:
        return False
    return is_random(value) or counts_up(value)
