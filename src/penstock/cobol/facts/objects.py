"""Which methods does a program invoke, by INVOKE, `object::method` and NEW, and in which class is each looked up?

A method is identified as `CLASS::METHOD`, with the external name that REPOSITORY gives the class. The estate determines whether
the class has the method, itself or by inheritance (`scope`).

Leaves to others: the class of an object at run time, which is that of its reference or one that inherits from it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..program import METHOD, key
from .arguments import copied, given, parameters
from .around import programs_around
from .control import ProgramCall
from .returning import Receiver, around, behind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..program import Program
    from ..source import ScannedSource
    from .code import Code, ReadStatement
    from .expanding import EntryRow
    from .reaching import Reaching

_CLASS = re.compile(
    r"(?<![\w-])CLASS\s++(?P<name>[^\s.'\"(),;]++)(?>\s++(?:AS|IS)\s++(?P<quote>['\"])(?P<outside>[^'\"]++)(?P=quote)|)"
    r"|(?<![^\s.,;])(?P<local>[^\s.'\"(),;]++)\s++(?>IS\s++|)CLASS\s++(?P<mark>['\"])(?P<named>[^'\"]++)(?P=mark)",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"OBJECT\s++REFERENCE(?>\s++(?:FACTORY\s++(?:OF|IN)\s++|)(?P<class>(?!(?:VALUE|ONLY|OCCURS|GLOBAL|EXTERNAL)\b)[^\s.,;]++)|)"
    r"|(?<![\w-])TYPE\s++(?P<type>[A-Z_]\w*+(?>(?:\.[A-Z_]\w*+)*))",
    re.IGNORECASE,
)
_MADE = re.compile(r"NEW(?<![\w-]NEW)\s++[A-Z_]\w*+\.[A-Z_]")
_INHERITS = re.compile(r"INHERITS\s++(?>FROM\s++|)(?>TYPE\s++|)(['\"]?)([^\s.'\"]++)", re.IGNORECASE)
_NAMED = frozenset({"REPOSITORY", "CLASS-CONTROL"})
_ANY_CLASS = "the reference may be to an object of any class"


class ClassNames(NamedTuple):
    """The classes and object references that a program declares, with names in capitals."""

    outside: dict[str, str]
    """The external name of each class, by its name in the program."""
    references: dict[str, set[str]]
    """The classes, by their names in the program, of each object reference; "" for any."""
    own: str
    """The class that the program is or belongs to; "" if there is none."""
    inherits: tuple[str, ...]
    """The external names of the classes that `own` inherits from."""


def class_names(source: ScannedSource, program: Program, rows: Sequence[EntryRow]) -> ClassNames | None:
    """Return the classes that a program declares; None if it declares none and names none by a type, as almost always."""
    if program.kind not in {"class", "method"} and not (
        any(row.section in _NAMED and "CLASS" in row.code.upper() for row in rows) or _names_types(source.code)
    ):
        return None
    around = programs_around(source, program)
    declared = [(row.section, row.code) for row in rows]
    declared += [(entry.section, source.code[entry.start : entry.end]) for one in around for entry in one.entries]
    outside: dict[str, str] = {}
    references: dict[str, set[str]] = {}
    for section, code in declared:
        for found in _CLASS.finditer(code) if section in _NAMED else ():
            name = found["name"] or found["local"]
            outside.setdefault(key(name), key(found["outside"] or found["named"] or name))
        words = code.split(None, 2)
        # What an item is follows its name, which may be TYPE.
        reference = _REFERENCE.search(words[2]) if len(words) > 2 else None
        if reference:
            references.setdefault(key(words[1]), set()).add(key(reference["class"] or reference["type"] or ""))
    whole = next((one for one in (program, *around) if one.kind == "class"), None)
    if whole is None:
        return ClassNames(outside, references, key(program.parent or "") if program.kind == "method" else "", ())
    outside.setdefault(key(whole.name), key(whole.name))
    headers = [source.code[entry.start : entry.end] for entry in whole.entries if entry.word == "CLASS-ID"]
    above = [found[2] for header in headers for found in _INHERITS.finditer(header)]
    return ClassNames(
        outside, references, key(whole.name), tuple(outside.get(key(name), key(name)) for name in dict.fromkeys(above))
    )


# Cached for the programs of one file, which are read one after the other.
@lru_cache(maxsize=1)
def _names_types(code: str) -> bool:
    """Return whether the code of a source uses types by their own names: `type Shop.Help::Load()`, `new Shop.Help`."""
    return "::" in code or (
        any(word in code for word in ("new ", "NEW ", "New ")) and _MADE.search(code.upper()) is not None
    )


def invocations(code: Code, known: ClassNames | None, reaching: Reaching) -> Iterator[ProgramCall]:
    """Yield the invocations of methods, each as a call of a program with its name."""
    if known is None:
        return
    for said in code.said:
        if said.verb == "INVOKE" and len(said.keys) > 2 and ":" not in said.keys[2:4]:
            yield from _invoked(code, said, known, reaching)
        for at, word in enumerate(said.keys):
            if word == ":" and said.keys[at + 1 : at + 2] == (":",) and at + 2 < len(said.keys):
                yield from _inline(code, said, at, known)
            elif word == "NEW" and at + 1 < len(said.keys):
                made = said.keys[at + 1]
                if made in known.outside or "." in made:  # a name with periods is that of a type itself
                    name = f"{known.outside.get(made, made)}{METHOD}NEW"
                    yield call_in(code, said, name, given(said, at + 1), Receiver(), is_sure=True)


def _invoked(code: Code, said: ReadStatement, known: ClassNames, reaching: Reaching) -> Iterator[ProgramCall]:
    """Yield the calls that one INVOKE may be."""
    at = 2
    while at + 2 < len(said.keys) and said.keys[at] in {"OF", "IN"}:
        at += 2
    method = said.texts[at]
    passed, back = parameters(said), behind(said)
    classes, is_sure = _classes(said.keys[1], known)
    if not classes:
        yield call_in(code, said, said.texts[1], passed, back, is_sure=False, unknown=_ANY_CLASS)
    for name in classes:
        if method[0] in "'\"":
            yield call_in(code, said, f"{name}{METHOD}{key(method.strip(_QUOTES))}", passed, back, is_sure=is_sure)
            continue
        reached = reaching.at(method, said.site)
        resolved = tuple(one._replace(value=f"{name}{METHOD}{key(one.value.strip())}") for one in reached.values)
        yield call_in(code, said, method, passed, back, is_sure=False)._replace(
            resolved=resolved, unknown=reached.unknown
        )


_QUOTES = "'\""


def _inline(code: Code, said: ReadStatement, at: int, known: ClassNames) -> Iterator[ProgramCall]:
    """Yield the calls that `object::method` at its first colon may be; of chained methods, only the first is known."""
    target = said.keys[at - 1]
    is_type = at > 1 and said.keys[at - 2] == "TYPE"
    classes, is_sure = ((known.outside.get(target, target),), True) if is_type else _classes(target, known)
    method = key(said.texts[at + 2].strip(_QUOTES))
    passed, back = given(said, at + 2), around(said, at - 1)
    for name in classes:
        yield call_in(code, said, f"{name}{METHOD}{method}", passed, back, is_sure=is_sure)
    if not classes and target in known.references:
        yield call_in(code, said, said.texts[at - 1], passed, back, is_sure=False, unknown=_ANY_CLASS)


def _classes(target: str, known: ClassNames) -> tuple[tuple[str, ...], bool]:
    """Return the classes in which a method of an object or class is looked up, and whether it is certainly the method found there.

    It is for a named class; an object may belong to a class that inherits from the one of its reference.
    """
    if target == "SUPER":
        return known.inherits, len(known.inherits) == 1
    if target == "SELF":
        return ((known.own,) if known.own else ()), False
    if target in known.references:
        of = known.references[target]
        return (() if "" in of else tuple(sorted(known.outside.get(one, one) for one in of))), False
    return ((known.outside[target],) if target in known.outside else ()), True


def call_in(
    code: Code,
    said: ReadStatement,
    target: str,
    passed: tuple[str, ...],
    back: Receiver,
    *,
    call_type: Literal["method", "static"] = "method",
    is_sure: bool = True,
    unknown: str = "",
) -> ProgramCall:
    """Return the use of a method or function by a statement as a call.

    Args:
        code: The code of the program.
        said: The statement.
        target: The method or function, as `ProgramCall` names it.
        passed: The arguments, as written.
        back: The items that receive the value.
        call_type: "method", or "static" for a function, which is a program called by its name.
        is_sure: Whether the target is certain.
        unknown: Why there may be other targets; "" if there are none.
    """
    return ProgramCall(
        target=target,
        call_type=call_type,
        resolved=(),
        parameters=passed,
        copied=copied(said) if said.verb == "INVOKE" else (),
        line=said.line,
        end_line=said.end_line,
        paragraph=code.name(said.paragraph, said.header),
        copybook=said.copybook,
        is_sure=is_sure,
        unknown=unknown,
        returned=back.names,
        is_returned_whole=back.is_whole,
    )
