"""Which programs does a script of a shell or of a batch file run, and which files do its variables name for them?

`DD_CUSTFILE=/data/cust.dat` is to GnuCOBOL and Micro Focus what a DD is to JCL, and `cobcrun PAY01` what a step is.
A script that another one sources (`. ./env.sh`) changes the variables of that one.

Leaves to others: conditions; commands are taken in the order of the text; which file a sourced script is, and which programs
there are (`scripts`). Law: any text has an answer in linear time.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from ..facts.commands import RUNTIMES
from ..words import vocabulary
from .jcl import OF_A_VARIABLE, Dd, Job, JobStep

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

_COMMENT = re.compile(r"(?im)^[ \t]*(?:#|::|@?rem(?:[ \t]|$)).*$")
_WORD = re.compile(
    r"""(?>\$\([ ]*dirname\b[^()\n]*\)|[^\s;&|'"\\()<>]|'[^'\n]*'?|"(?>[^"\\\n]|\\.)*"?|\\.?)+|"""
    r"""&&|\|\||<<<|<<-?|[;&|()<>\n]"""
)
_HERE = frozenset({"<<", "<<-"})
"""What precedes the word that ends a text in the following lines."""
_APART = frozenset({"&&", "||", ";", "&", "|", "(", ")", "\n"})
_OPENING = frozenset({"if", "case", "for", "while", "until", "select", "foreach", "switch"})
_LISTING = frozenset({"for", "case", "select", "foreach", "switch"})
"""The words before what is no command."""
_CLOSING = frozenset({"fi", "esac", "done", "endif", "end", "endsw"})
_TESTS = frozenset({"[", "[[", "test"})
_LEADING = vocabulary("if then else elif while until do ! { time exec nohup call start env sudo")
_SETTING = frozenset({"export", "set", "setenv", "declare", "typeset", "readonly"})
_UNSETTING = frozenset({"unset", "unsetenv"})
_SOURCING = frozenset({".", "source"})
_LOCAL = "setlocal"
"""The command of a batch file whose variables its caller does not get."""
_FUNCTION = "function"
"""The word before the name of a function, which is put there if only parentheses say so."""
_COMMON = vocabulary("""
    basename break cat cd chmod clear cls cmp color comm command compare continue copy cp cut date del dir dirname echo
    env erase errorlevel eval exist exit false find ftp goto grep head help history id join kill let link list ln local
    login logout look ls mail make mkdir mode more move mv nice not paste path pause popd print printf ps pushd pwd read
    rem ren replace return rm rmdir sed shift sleep sort split start tail tee test time title touch tr trap tree true
    type umask uniq ver wait wc who write xcopy
""")
"""Commands of systems and shells, whatever programs have their names."""
_TOOLS = vocabulary("""
    ant cbllink cc ccbl ccbl32 cob cob32 cobc cobol db2 gcc gmake isql java javac ld link mvn mysql node npm nmake osql perl php
    procob psql python python3 rmcobol sqlcmd sqlldr sqlplus
""")
"""Compilers and other tools that scripts run from the folder of an installation: `%ACUCOBOL%/bin/ccbl32`."""
_OF_ONE = frozenset({"exist", "defined", "errorlevel", "cmdextversion"})
"""The conditions of a batch file that have one word after them."""
_COMPARING = frozenset({"equ", "neq", "lss", "leq", "gtr", "geq"})
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_VALUE = re.compile(r"\$\{(\w+)(?::?-[^}]*)?\}|\$(\w+)|%(\w+)%|%~[a-z]*\d|\$\([^)]*\)|`[^`]*`|\$\S")
_WITH_ARGUMENT = frozenset({"-M", "-m", "-c", "-e", "-o", "-i", "--module", "--config"})
"""The options of runtimes that have an argument of their own."""
_WRAPPERS = frozenset({"nice", "ionice", "timeout", "stdbuf", "setsid", "start", "cmd", "sudo", "time"})
"""Commands that run the one after their own options."""
_WITH_WORD = frozenset({"-n", "-u", "-g", "-k", "-s", "-c", "-a"})
"""The options of those that have an argument of their own."""
_BEFORE_PROGRAM = re.compile(r"(?i)-.*|/[a-z]+|\d+(?:\.\d+)?[smhd]?|[^/\\]* [^/\\]*|")
"""What may stand between them and the program: options, the time of `timeout 60`, the title of `start "" PROGRAM`."""
_OF_THE_SYSTEM = re.compile(r"(?i)/(?:usr|bin|sbin|etc|opt)/.*|.*:[/\\]windows[/\\].*")
"""Folders of commands that no estate has in COBOL."""
_PROGRAM = re.compile(
    r"(?i)(?P<folder>.*[/\\])?(?P<name>[a-z][\w$#@-]*)(?P<suffix>\.(?:exe|acu|cob|cbx|int|gnt|so|dll))?"
)
_OF_A_FILE = re.compile(r"(?i)(?:DD_)?(?=[A-Z])([\w-]+)")
_SAYS_WHICH = re.compile(r"[^\W_]{2}[^/\\]*\Z")
"""The last part of the name of a file, which identifies it."""
_BY_ITS_FILE = "the program of that file is taken to have its name"
_BY_ITS_NAME = "another command may have the name of the program"
_DECIDED = "a condition of the script decides which file it is"
_DOUBTS = {"run": "run may be another command or a function", "anim": "anim may be another command"}
"""Why a command may not be that of a runtime."""
_MOST_CHARS = 1_000
"""The maximum length of a word that is looked into, and of a value; the rest is left out."""
_MOST_VARIABLES = 100
"""The maximum number of variables that are kept at one time; further ones are left out."""


_MOST_AROUND = 15
"""How deep scripts that source each other are followed."""
_MOST_SOURCED = 20_000
"""How many commands of other scripts are followed for one script."""


class ShellCommand(NamedTuple):
    """A command of a script."""

    line: int
    depth: int
    """How many conditions, loops and shells of their own are around it."""
    words: tuple[str, ...]


class Script(NamedTuple):
    """The commands of a script."""

    path: str
    commands: tuple[ShellCommand, ...]
    lines: int
    doubt: str = ""
    """Why another script may be meant by a name; "" if none can."""
    is_local: bool = False
    """Whether a caller does not get the variables of the script (SETLOCAL)."""


class _Variable(NamedTuple):
    """A variable of a script."""

    values: tuple[str, ...]
    path: str
    """The script that sets it."""
    line: int
    is_exported: bool
    doubt: str
    """Why the value may be another one; "" if it cannot."""


class _Given(NamedTuple):
    """A value as a script gives it, and where."""

    value: str
    doubt: str
    path: str
    line: int
    is_conditional: bool


def script(path: str, text: str) -> Script:
    """Return a script.

    Args:
        path: Its path; in a batch file of Windows, parentheses are around what a condition decides about.
        text: Its text.
    """
    is_batch = path.lower().endswith((".bat", ".cmd"))
    commands = tuple(_commands(text, is_batch=is_batch))
    is_local = any(command.words[0].lower().lstrip("@") == _LOCAL for command in commands)
    return Script(path, commands, text.count("\n") + 1, is_local=is_local)


def job(
    one: Script, find: Callable[[str, str], Script | None] = lambda _name, _path: None, names: Collection[str] = ()
) -> Job | None:
    """Return a script as a job: each program that it runs is a step, and the variables that it exports until then are its DDs.

    Args:
        one: The script.
        find: Returns the script that a name means in the script of a path, if that is here.
        names: The programs of the estate, in capitals: one of them may be run by its name alone.

    Returns:
        The job; None if the script runs no program that is recognized, or only files that are none of the estate's programs.
    """
    steps: dict[str, JobStep] = {}
    others = {command.words[1] for command in one.commands if command.words[0] == _FUNCTION and len(command.words) > 1}
    known = {name for name in names if name.lower() not in _COMMON} - {name.upper() for name in others}
    for line, words, variables in _Running(find).run(one):
        found = _program(words, variables, known)
        if found is not None:
            name, doubt = found
            step = name if name.upper() not in steps else f"{name}-{line}"
            dds = tuple(_dds(variables, one.path))
            steps[step.upper()] = JobStep(step, name, None, (name.upper(),), None, dds, line, line, doubt=doubt)
    # Any script runs files (`./configure`): one that gives a program files, runs one of the estate, or by a runtime, is a job.
    if any(step.dds or step.doubt != _BY_ITS_FILE or step.name.upper() in known for step in steps.values()):
        return Job("", "job", tuple(steps.values()), (), 1, one.lines)
    return None


class _Running:
    """A script and those that it sources, command by command, with the variables that there are at each.

    Args:
        find: Returns the script that a name means in the script of a path.
    """

    def __init__(self, find: Callable[[str, str], Script | None]) -> None:
        self.variables: dict[str, _Variable] = {}
        self._find = find
        self._left = _MOST_SOURCED

    def run(self, one: Script) -> Iterator[tuple[int, Sequence[str], dict[str, _Variable]]]:
        """Yield the commands of a script that set no variables: the line, the words, and the variables which there are then."""
        for command in one.commands:
            yield from self._do(one, command, (one.path,))

    def _do(
        self, one: Script, command: ShellCommand, around: tuple[str, ...]
    ) -> Iterator[tuple[int, Sequence[str], dict[str, _Variable]]]:
        """Yield a command if it sets no variables; if it does, change them.

        Args:
            one: The script that has it.
            command: The command.
            around: The paths of the script and of those that source it.
        """

        def given(text: str) -> _Given:
            value, doubt = _unquoted(text, self.variables)
            return _Given(value, one.doubt or doubt, one.path, command.line, command.depth > 0)

        words = command.words
        own = dict(self.variables)
        at = 0
        while at < len(words) and (said := _ASSIGNED.fullmatch(words[at])):
            _assign(own, said[1], given(said[2]), is_exported=True)
            at += 1
        verb = words[at].lower().lstrip("@") if at < len(words) else ""
        if not verb:
            # An assignment alone is not exported, unless its variable is already.
            for name, variable in own.items():
                known = self.variables.get(name)
                if variable is not known:
                    self.variables[name] = variable._replace(is_exported=known is not None and known.is_exported)
        elif verb in _SETTING:
            _export(self.variables, words[at:], given)
        elif verb in _UNSETTING:
            _unset(self.variables, words[at + 1 :], is_conditional=command.depth > 0)
        else:
            is_call = verb == "call"
            named = given(words[at + 1]).value if (verb in _SOURCING or is_call) and at + 1 < len(words) else ""
            other = self._find(named, one.path) if named else None
            if other is not None and other.path not in around and len(around) <= _MOST_AROUND:
                self._source(other._replace(doubt=one.doubt or other.doubt), command.depth, around)
            elif verb not in _SOURCING and at + is_call < len(words):
                yield command.line, words[at + is_call :], own

    def _source(self, other: Script, depth: int, around: tuple[str, ...]) -> None:
        """Change the variables as a sourced script does, at a depth of conditions; what that runs is in its own job."""
        for inner in islice(other.commands if not other.is_local else (), self._left):
            self._left -= 1
            deque(self._do(other, inner._replace(depth=inner.depth + depth), (*around, other.path)), maxlen=0)


def _commands(text: str, *, is_batch: bool) -> Iterator[ShellCommand]:
    """Yield the commands of a script."""
    # IF (%1)==() PROG: its condition is three commands here.
    leading = _LEADING - {"call", "start"} | {"=="} if is_batch else _LEADING
    is_listed = False  # whether what follows is in a list, as in FILES=(A B)
    depth, line = 0, 1
    apart = 0  # how many shells of their own are around, as in `(export X=1; prog)`, whose variables end with them
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
        code, is_listed = _without_lists(
            code if is_batch or is_listed else code[_after_pattern(code) :], is_listed=is_listed
        )
        for at, word in enumerate([*code, "\n"]):
            if word not in _APART:
                words.append(word)
                continue
            if len(words) == 1 and code[at : at + 2] == ["(", ")"]:
                words.insert(0, _FUNCTION)
            while words and words[0].lower().lstrip("@") in leading | _OPENING | _CLOSING:
                first = words.pop(0).lower().lstrip("@")
                if is_batch:
                    tested |= first in _OPENING
                else:
                    depth = max(0, depth + (first in _OPENING) - (first in _CLOSING))
                if first in _LISTING:  # FOR %%f IN (A B) DO PROG is one command of a batch file
                    begun_at = next(
                        (at for at, one in enumerate(words) if is_batch and one.lower() == "do"), len(words)
                    )
                    words = words[begun_at:]
                elif is_batch and first == "if":
                    words = words[_after_condition(words) :]
            if words:
                yield ShellCommand(line, depth + apart + tested, tuple(words))
            # `[ -f x ] && …` and `… || …` are conditions, too.
            tested |= word == "||" or (word == "&&" and words[:1] != [] and words[0] in _TESTS)
            opened = (word == "(") - (word == ")")
            if is_batch:
                depth = max(0, depth + opened)
            else:
                apart = max(0, apart + opened)
            words = []


def _after_condition(words: Sequence[str]) -> int:
    """Return where the command begins after the words of an IF of a batch file: `NOT EXIST X PROG`, `"%1" == "x" PROG`."""
    lowered = [one.lower() for one in words[:6]]
    at = next((at for at, one in enumerate(lowered) if one not in {"/i", "not"}), 0)
    operator = next((place for place in (at, at + 1) if lowered[place : place + 1] and "==" in lowered[place]), None)
    if operator is not None:  # IF ERRORLEVEL == 1, too
        return operator + (2 if lowered[operator].endswith("==") else 1)
    if lowered[at : at + 1] and lowered[at] in _OF_ONE:
        return at + 2
    return at + (3 if lowered[at + 1 : at + 2] and lowered[at + 1] in _COMPARING else 1)


def _after_pattern(code: Sequence[str]) -> int:
    """Return where the commands begin after a pattern of a case (`A | B)`); 0 if a line begins with none."""
    end = next((at for at, word in enumerate(code) if word in {"(", ")"}), 0)
    is_pattern = code[end : end + 1] == [")"] and all((word == "|") == at % 2 for at, word in enumerate(code[:end]))
    return end + 1 if is_pattern else 0


def _without_lists(code: Sequence[str], *, is_listed: bool) -> tuple[list[str], bool]:
    """Return words without lists of texts in parentheses, `FILES=(A B)`, and whether one goes on in the next line.

    Args:
        code: The words of a line.
        is_listed: Whether the line begins in a list.
    """
    found: list[str] = []
    for word in code:
        if is_listed:
            is_listed = word != ")"
        elif word == "(" and found and (found[-1].endswith("=") or {"in", *_LISTING} & set(found[-2:])):
            is_listed = True
        else:
            found.append(word)
    return found, is_listed


def _export(variables: dict[str, _Variable], words: Sequence[str], given: Callable[[str], _Given]) -> None:
    """Record the variables of an export, a set or a setenv."""
    verb, *rest = words
    if verb.lower() == "setenv" and len(rest) > 1:
        rest = [f"{rest[0]}={rest[1]}"]
    for one in rest:
        said = _ASSIGNED.fullmatch(one.strip('"'))
        if said is not None:
            _assign(variables, said[1], given(said[2]), is_exported=True)
        elif one in variables and verb.lower() != "set":
            variables[one] = variables[one]._replace(is_exported=True)


def _unset(variables: dict[str, _Variable], names: Sequence[str], *, is_conditional: bool) -> None:
    """Remove variables; one below a condition may keep its value."""
    for name in names:
        if is_conditional and name in variables:
            variables[name] = variables[name]._replace(doubt=_DECIDED)
        else:
            variables.pop(name, None)


def _assign(variables: dict[str, _Variable], name: str, given: _Given, *, is_exported: bool) -> None:
    """Give a variable a value; below a condition it may keep those that it had."""
    known = variables.get(name)
    if known is not None or len(variables) < _MOST_VARIABLES:
        before = known.values if known is not None and given.is_conditional else ()
        values = tuple(dict.fromkeys((*before[-8:], given.value)))
        doubt = _DECIDED if given.is_conditional else given.doubt
        variables[name] = _Variable(values, given.path, given.line, is_exported, doubt)


def _unquoted(text: str, variables: dict[str, _Variable]) -> tuple[str, str]:
    """Return a value without quotes, with the values of variables, and what is in doubt; `*` stands for what is not known."""
    doubts: list[str] = []

    def value(found: re.Match[str]) -> str:
        known = variables.get(found[1] or found[2] or found[3] or "")
        if known is None or len(known.values) != 1:
            return "*/" if found[0][:2] == "%~" else "*"
        doubts.append(known.doubt)
        return known.values[0]

    text = text[:_MOST_CHARS]
    bare = text if text[:1] == "'" else _VALUE.sub(value, text)
    return re.sub(r"['\"]", "", bare)[:_MOST_CHARS], next(filter(None, doubts), "")


def _program(words: Sequence[str], variables: dict[str, _Variable], names: Collection[str]) -> tuple[str, str] | None:
    """Return the program that a command runs, with the reason if it is not certain; None if it runs none that is known."""
    said = _started([_unquoted(word, variables)[0] for word in words])
    if not said:
        return None
    runner = _PROGRAM.fullmatch(said[0])
    command = runner["name"].lower() if runner is not None else ""
    if command in RUNTIMES:
        rest = iter(said[1:])
        for one in rest:
            if one in _WITH_ARGUMENT:
                next(rest, None)
            elif one[:1] not in {"-", "+", "/"} or one.count("/") > 1:
                found = _PROGRAM.fullmatch(one)
                return (found["name"], _DOUBTS.get(command, "")) if found is not None else None
        return None
    if runner is None:
        return None
    if runner["folder"]:
        is_tool = command in _TOOLS and runner["name"].upper() not in names
        return (runner["name"], _BY_ITS_FILE) if not (is_tool or _OF_THE_SYSTEM.fullmatch(said[0])) else None
    is_run = (runner["suffix"] or ".exe").lower() == ".exe" and runner["name"].upper() in names
    return (runner["name"], _BY_ITS_NAME) if is_run else None


def _started(words: Sequence[str]) -> Sequence[str]:
    """Return a command without those that only run it, as in `sudo -u batch timeout 60 PROGRAM` or `@start /wait PROGRAM`."""
    at = 0
    while at < len(words):
        is_option = (at > 0 or words[at].startswith("-")) and _BEFORE_PROGRAM.fullmatch(words[at])
        if not is_option and words[at].lower().lstrip("@") not in _WRAPPERS:
            break
        at += 2 if is_option and words[at] in _WITH_WORD else 1
    return [words[at].lstrip("@"), *words[at + 1 :]] if at < len(words) else ()


def _dds(variables: dict[str, _Variable], path: str) -> Iterator[Dd]:
    """Yield the exported variables as DDs; of several that name one file, the one that the runtime looks up first.

    Args:
        variables: The variables.
        path: The script that runs the program.
    """
    found: dict[str, Dd] = {}
    for name in sorted(variables, key=lambda name: (not name.startswith("DD_"), name[:3].upper() != "DD_")):
        one, file = variables[name], _OF_A_FILE.fullmatch(name)
        places = tuple(value for value in one.values if _SAYS_WHICH.search(value))
        if one.is_exported and file is not None and places:
            where = one.path if one.path != path else ""
            said_at = (("", one.line),) * len(places)
            dd = Dd(
                file[1].upper(), places, OF_A_VARIABLE, (), one.doubt, one.line, one.line, path=where, said_at=said_at
            )
            found.setdefault(dd.name, dd)
    yield from found.values()
