"""Which programs does a script of a shell or of a batch file run, and which files do its variables name for them?

`DD_CUSTFILE=/data/cust.dat` is to GnuCOBOL and Micro Focus what a DD is to JCL, and `cobcrun PAY01` what a step is.
Leaves to others: conditions; commands are taken in the order of the text, and a program that is found by its name alone is not
recognized. Law: any text has an answer in linear time.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..facts.commands import RUNTIMES
from .jcl import OF_A_VARIABLE, Dd, Job, JobStep

if TYPE_CHECKING:
    from collections.abc import Iterator

_COMMENT = re.compile(r"(?im)^[ \t]*(?:#|::|@?rem(?:[ \t]|$)).*$")
_WORD = re.compile(r"""(?>[^\s;&|'"\\()<>]|'[^'\n]*'?|"(?>[^"\\\n]|\\.)*"?|\\.?)+|&&|\|\||<<<|<<-?|[;&|()<>\n]""")
_HERE = frozenset({"<<", "<<-"})
"""What precedes the word that ends a text in the following lines."""
_APART = frozenset({"&&", "||", ";", "&", "|", "(", ")", "\n"})
_OPENING = frozenset({"if", "case", "for", "while", "until", "select", "foreach", "switch"})
_CLOSING = frozenset({"fi", "esac", "done", "endif", "end", "endsw"})
_TESTS = frozenset({"[", "[[", "test"})
_LEADING = frozenset(
    {
        "if",
        "then",
        "else",
        "elif",
        "while",
        "until",
        "do",
        "!",
        "{",
        "time",
        "exec",
        "nohup",
        "call",
        "start",
        "env",
        "sudo",
    }
)
_SETTING = frozenset({"export", "set", "setenv", "declare", "typeset", "readonly"})
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VALUE = re.compile(r"\$\{(\w+)(?::?-[^}]*)?\}|\$(\w+)|%(\w+)%|\$\([^)]*\)|`[^`]*`|\$\S")
_WITH_ARGUMENT = frozenset({"-M", "-m", "-c", "-e", "-o", "-i", "--module", "--config"})
"""The options of runtimes that have an argument of their own."""
_OF_THE_SYSTEM = re.compile(r"(?i)/(?:usr|bin|sbin|etc|opt)/.*|.*:[/\\]windows[/\\].*")
"""Folders of commands that no estate has in COBOL."""
_PROGRAM = re.compile(r"(?i)(?P<folder>.*[/\\])?(?P<name>[a-z][\w$#@-]*)(?:\.(?:exe|acu|cob|cbx|int|gnt|so|dll))?")
_OF_A_FILE = re.compile(r"(?i)(?:DD_)?(?=[A-Z])([\w-]+)")
_SAYS_WHICH = re.compile(r"[^\W_]{2}[^/\\]*\Z")
"""The last part of the name of a file, which identifies it."""
_BY_ITS_FILE = "the program of that file is taken to have its name"
_DOUBTS = {"run": "run may be another command or a function"}
"""Why a command may not be that of a runtime."""
_MOST_CHARS = 1_000
"""The maximum length of a word that is looked into, and of a value; the rest is left out."""
_MOST_VARIABLES = 100
"""The maximum number of variables that are kept at one time; further ones are left out."""


class _Variable(NamedTuple):
    """A variable of a script."""

    values: tuple[str, ...]
    line: int
    is_exported: bool
    is_conditional: bool
    """Whether a condition decides about the value."""


def script(text: str, *, is_batch: bool) -> Job | None:
    """Return a script as a job: each program that it runs is a step, and the variables that it exports until then are its DDs.

    Args:
        text: The script.
        is_batch: Whether it is a batch file of Windows, where parentheses are around what a condition decides about.

    Returns:
        The job; None if the script runs no program that is recognized.
    """
    variables: dict[str, _Variable] = {}
    steps: dict[str, JobStep] = {}
    for line, depth, words in _commands(text, is_batch=is_batch):
        own = dict(variables)
        at = 0
        while at < len(words) and (said := _ASSIGNED.fullmatch(words[at])):
            _assign(own, said[1], _unquoted(said[2], variables), line, depth, is_exported=True)
            at += 1
        if at == len(words):
            # An assignment alone is not exported, unless its variable is already.
            for name, variable in own.items():
                if variable is not variables.get(name):
                    known = variables.get(name)
                    variables[name] = variable._replace(is_exported=known is not None and known.is_exported)
        elif words[at].lower().lstrip("@") in _SETTING:
            _export(variables, words[at:], line, depth)
        elif (found := _program(words[at:], own)) is not None:
            name, doubt = found
            step = name if name.upper() not in steps else f"{name}-{line}"
            dds = tuple(_dds(own))
            steps[step.upper()] = JobStep(step, name, None, (name.upper(),), None, dds, line, line, doubt=doubt)
    return Job("", "job", tuple(steps.values()), (), 1, text.count("\n") + 1) if steps else None


def _commands(text: str, *, is_batch: bool) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the commands of a script: the line, how many conditions and loops are around it, and the words."""
    depth, line = 0, 1
    begun: list[str] = []
    until: list[str] = []  # the words that end the texts which begin here
    for number, last in enumerate(_COMMENT.sub("", text).split("\n"), start=1):
        if until:
            if last.strip() == until[0]:
                del until[0]
            continue
        line = line if begun else number
        if last.endswith("^" if is_batch else "\\"):
            begun.append(last[:-1])
            continue
        written = "".join((*begun, last))
        begun = []
        words: list[str] = []
        tested = 0
        code = _WORD.findall(written)
        code = code[: next((at for at, word in enumerate(code) if word[0] == "#"), None)]
        if not is_batch and "((" not in written:  # in arithmetic, << shifts
            ends = (word for mark, word in pairwise(code) if mark in _HERE and not word[0].isdigit())
            until = [re.sub(r"['\"\\]", "", word) for word in ends]
        for word in [*code, "\n"]:
            if word not in _APART:
                words.append(word)
                continue
            while words and words[0].lower().lstrip("@") in _LEADING | _OPENING | _CLOSING:
                first = words.pop(0).lower().lstrip("@")
                if is_batch:
                    tested |= first in _OPENING
                else:
                    depth = max(0, depth + (first in _OPENING) - (first in _CLOSING))
                if first in {"for", "case", "select", "foreach", "switch"}:
                    words = []
            if is_batch and tested:  # IF EXIST X SET A=B
                words = words[next((at for at, one in enumerate(words) if one.lower() in _SETTING), 0) :]
            if words:
                yield line, depth + tested, words
            # `[ -f x ] && …` and `… || …` are conditions, too.
            tested |= word == "||" or (word == "&&" and words[:1] != [] and words[0] in _TESTS)
            depth = max(0, depth + (word == "(") - (word == ")")) if is_batch else depth
            words = []


def _export(variables: dict[str, _Variable], words: list[str], line: int, depth: int) -> None:
    """Record the variables of an export, a set or a setenv."""
    verb, *rest = words
    if verb.lower() == "setenv" and len(rest) > 1:
        rest = [f"{rest[0]}={rest[1]}"]
    for one in rest:
        said = _ASSIGNED.fullmatch(one.strip('"'))
        if said is not None:
            _assign(variables, said[1], _unquoted(said[2], variables), line, depth, is_exported=True)
        elif one in variables and verb.lower() != "set":
            variables[one] = variables[one]._replace(is_exported=True)


def _assign(
    variables: dict[str, _Variable], name: str, value: str, line: int, depth: int, *, is_exported: bool
) -> None:
    """Give a variable a value; below a condition it may keep those that it had."""
    known = variables.get(name)
    if known is not None or len(variables) < _MOST_VARIABLES:
        before = known.values if known is not None and depth else ()
        variables[name] = _Variable(tuple(dict.fromkeys((*before[-8:], value))), line, is_exported, depth > 0)


def _unquoted(text: str, variables: dict[str, _Variable]) -> str:
    """Return a value without quotes, with the values of variables; `*` stands for what is not known."""

    def value(found: re.Match[str]) -> str:
        known = variables.get(found[1] or found[2] or found[3] or "")
        return known.values[0] if known is not None and len(known.values) == 1 else "*"

    text = text[:_MOST_CHARS]
    bare = text if text[:1] == "'" else _VALUE.sub(value, text)
    return re.sub(r"['\"]", "", bare)[:_MOST_CHARS]


def _program(words: list[str], variables: dict[str, _Variable]) -> tuple[str, str] | None:
    """Return the program that a command runs, with the reason if it is not certain; None if it runs none that is known."""
    said = [_unquoted(word, variables) for word in words]
    runner = _PROGRAM.fullmatch(said[0])
    command = runner["name"].lower() if runner is not None else ""
    if command in RUNTIMES:
        rest = iter(said[1:])
        for one in rest:
            if one in _WITH_ARGUMENT:
                next(rest, None)
            elif one[:1] not in {"-", "/"} or one.count("/") > 1:
                found = _PROGRAM.fullmatch(one)
                return (found["name"], _DOUBTS.get(command, "")) if found is not None else None
        return None
    if runner is not None and runner["folder"] and not _OF_THE_SYSTEM.fullmatch(said[0]):
        return runner["name"], _BY_ITS_FILE
    return None


def _dds(variables: dict[str, _Variable]) -> Iterator[Dd]:
    """Yield the exported variables as DDs; of several that name one file, the one that the runtime looks up first."""
    found: dict[str, Dd] = {}
    for name in sorted(variables, key=lambda name: (not name.startswith("DD_"), name[:3].upper() != "DD_")):
        one, file = variables[name], _OF_A_FILE.fullmatch(name)
        places = tuple(value for value in one.values if _SAYS_WHICH.search(value))
        if one.is_exported and file is not None and places:
            other = "a condition of the script decides" if one.is_conditional else ""
            found.setdefault(file[1].upper(), Dd(file[1].upper(), places, OF_A_VARIABLE, (), other, one.line, one.line))
    yield from found.values()
