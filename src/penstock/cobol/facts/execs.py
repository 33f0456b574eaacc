"""What does an EXEC block say: its command and options (CICS, DLI), or its words (SQL)?

Leaves to others: what the resources are. Law: any text can be read; unclosed parentheses and literals end with the text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..lexing import WIDE
from ..words import vocabulary
from .grouping import closed

_QUOTED = r'"(?>(?:[^"]|"")*)"'
_QUALIFIED = rf"(?>(?:[\w$#@]+\.)*){_QUOTED}(?:\.(?:{_QUOTED}|[\w$#@]+))*"
_TOKEN = re.compile(rf"""'(?>(?:[^']|'')*)'?|{_QUALIFIED}|"[^"]*|[\w$#@:.{WIDE}\-]+|\(|\)|[^\s\w$#@:.{WIDE}\-()'"]""")
_LONE = re.compile(rf'{_QUOTED}|"[^"]*')
_BEFORE_OPERAND = vocabulary(", ( FROM JOIN INTO UPDATE TABLE INVOKE SELECT ON WHERE AND OR NOT BY")
"""What may precede an operand in SQL, so that a = behind it compares nothing."""
# The second words of commands, which may be anywhere among the options.
_SECOND = {
    "SEND": {"MAP", "TEXT", "CONTROL", "PAGE", "PARTNSET"},
    "RECEIVE": {"MAP", "PARTN"},
    "READQ": {"TS", "TD"},
    "WRITEQ": {"TS", "TD"},
    "DELETEQ": {"TS", "TD"},
    "HANDLE": {"CONDITION", "ABEND", "AID"},
    "IGNORE": {"CONDITION"},
    "PUSH": {"HANDLE"},
    "POP": {"HANDLE"},
    "GET": {"CONTAINER", "COUNTER", "DCOUNTER"},
    "PUT": {"CONTAINER"},
    "DELETE": {"CONTAINER", "CHANNEL", "COUNTER", "DCOUNTER"},
    "MOVE": {"CONTAINER"},
    "SYNCPOINT": {"ROLLBACK"},
    "WRITE": {"OPERATOR", "JOURNALNAME"},
    "INVOKE": {"SERVICE", "WEBSERVICE", "APPLICATION"},
    "PURGE": {"MESSAGE"},
    "START": {"ATTACH", "BREXIT"},
    "SPOOLOPEN": {"INPUT", "OUTPUT"},
    "WEB": {"OPEN", "CLOSE", "CONVERSE", "SEND", "RECEIVE", "READ", "READNEXT", "WRITE", "EXTRACT", "PARSE"},
    "DOCUMENT": {"CREATE", "INSERT", "RETRIEVE", "SET", "DELETE"},
    "TRANSFORM": {"DATATOXML", "XMLTODATA", "DATATOJSON", "JSONTODATA"},
    "BIF": {"DEEDIT", "DIGEST"},
    "WAIT": {"EVENT", "TERMINAL", "JOURNALNAME", "EXTERNAL", "CICS"},
}
_ALIASES = {"RECV": "RECEIVE"}
_HANDLED = re.compile(r"(?i)(?<![\w-])(?:RESP|NOHANDLE)(?![\w-])")


class ExecCommand(NamedTuple):
    """A CICS or DL/I command (`SEND MAP`, `READ` and so on) with its options in order; the argument of a flag is ""."""

    name: str
    options: tuple[tuple[str, str], ...]

    def get(self, *names: str) -> str | None:
        """Return the argument of the first of `names` that the command has; None if it has none of them, "" for a flag."""
        for name in names:
            for option, argument in self.options:
                if option == name:
                    return argument
        return None

    def has(self, name: str) -> bool:
        """Return whether an option is present, with or without an argument."""
        return any(option == name for option, _ in self.options)


def body(text: str) -> str:
    """Return the text between EXEC, its kind, and END-EXEC, without a period at its end."""
    words = text.split(None, 2)
    inner = words[2] if len(words) > 2 else ""
    end = inner.upper().rfind("END-EXEC")
    return (inner[:end] if end >= 0 else inner).strip().removesuffix(".").strip()


def tokens(text: str) -> list[str]:
    """Return the tokens of a block, literals whole with their quotes, a qualified name of SQL without those of its parts.

    NonStop SQL names a table by a DEFINE, whose name begins with =.

    Example:
        >>> tokens('SELECT "A b" FROM "X"."T", =ORDERS')
        ['SELECT', '"A b"', 'FROM', 'X.T', ',', '=ORDERS']
    """
    found: list[str] = _TOKEN.findall(text)
    for at in range(len(found) - 2, 0, -1):
        if found[at] == "=" and found[at - 1].upper() in _BEFORE_OPERAND and found[at + 1][0].isalpha():
            found[at : at + 2] = ["=" + found[at + 1]]
    if '"' not in text:
        return found
    return [word if word[0] == "'" or _LONE.fullmatch(word) else word.replace('"', "") for word in found]


def command(text: str) -> ExecCommand:
    """Return the command of an EXEC CICS or EXEC DLI.

    Example:
        >>> command("EXEC CICS SEND MAP('MENU1') ERASE END-EXEC")
        ExecCommand(name='SEND MAP', options=(('MAP', "'MENU1'"), ('ERASE', '')))
    """
    words = tokens(body(text))
    options: list[tuple[str, str]] = []
    at = 0
    # Options may be in any order, each with an argument in parentheses or without one.
    while at < len(words):
        name = words[at].upper()
        at += 1
        if name in "()":
            continue
        argument = ""
        if at < len(words) and words[at] == "(":
            start, close = at + 1, closed(words, at)
            argument = joined(words[start:close])
            at = close + 1
        options.append((name, argument))
    if not options:
        return ExecCommand("", ())
    first = options[0][0]
    first = _ALIASES.get(first, first)
    second = next((name for name, _ in options[1:] if name in _SECOND.get(first, ())), None)
    # CICS assumes temporary storage if neither TS nor TD is given.
    if first in {"READQ", "WRITEQ", "DELETEQ"} and second is None:
        second = "TS"
    rest = [option for option in (options if options[0][1] else options[1:]) if option != (second, "")]
    return ExecCommand(f"{first} {second}" if second else first, tuple(rest))


def comes_back(text: str) -> bool:
    """Return whether the next statement runs if a CICS command fails, because of RESP or NOHANDLE."""
    return _HANDLED.search(text) is not None


def joined(words: list[str]) -> str:
    """Return tokens joined as a person writes them, with no blanks inside or before parentheses, or before a comma."""
    text = " ".join(words)
    return text.replace("( ", "(").replace(" )", ")").replace(" (", "(").replace(" ,", ",")
