"""Which programs may a program reach by CALL, LINK, XCTL, START, RETURN TRANSID or SQL CALL of a literal or a data item?

Leaves to others: methods (`objects`), and the callers of this program (`estate`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..program import key, unquoted
from ..words import vocabulary
from .arguments import copied, given, parameters
from .control import ProgramCall
from .execs import body, tokens
from .grouping import closed, listed
from .item_clauses import pieces
from .naming import past_qualifiers
from .objects import call_in, invocations
from .resources import DLI_INTERFACES, CicsOperation, Resolved
from .returning import around, behind
from .translated import is_translated

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .code import Code, ReadStatement, Site
    from .expanding import EntryRow
    from .naming import DataNames
    from .objects import ClassNames
    from .reaching import Reaching
    from .returning import Receiver
    from .values import UnknownStatement

_BY_COMMAND: dict[str, Literal["link", "xctl", "start", "return_transid", "invoke"]] = {
    "LINK": "link",
    "XCTL": "xctl",
    "START": "start",
    "RUN": "start",
    "RETURN": "return_transid",
    "INVOKE SERVICE": "invoke",
    "INVOKE WEBSERVICE": "invoke",
    "INVOKE APPLICATION": "invoke",
}
_OF_THE_SYSTEM = "SYSTEM "
"""The prefix for CALL SYSTEM and a name: a service of the operating system, identified by both words."""
# Prefixes, as vendors reserve them: the routines are too many to list.
_OF_SYSTEMS_WORDS = (
    "MQ CEE DSN DFH IGZ IGY ILB EZA BPX1 BPX4 CSNB HWTH HWTJ BAQC IRX ISPLINK ISPEXEC IKJEFT "  # z/OS
    "CBL_ PC_ C$ W$ M$ I$ R$ P$ S$IO WIN$ $WINHELP REG_ @[DISPLAY]: COB_ COBW3_ COBCI_ OCESQL MYSQL_ ADABAS DBNTRY "  # elsewhere
    "SYS$ LIB$ SMG$ STR$ OTS$ COB$ RDB$"  # OpenVMS
)
_NAMED_BY_SYSTEMS = frozenset({"SYSTEM", "ASCII2HEX", "ASCII2OCTAL", "HEX2ASCII", "OCTAL2ASCII"})
"""Their routines without a prefix, as far as no program is likely to have the name."""
_OF_PLATFORMS = ("SYSTEM.", "MICROSOFT.", "JAVA.")
_OF_SYSTEMS = (*_OF_SYSTEMS_WORDS.split(), *_OF_PLATFORMS, _OF_THE_SYSTEM)
_FUNCTION = re.compile(r"(?<![\w-])FUNCTION(?![\w-])", re.IGNORECASE)
_OTHERS = re.compile(r"(?<![\w-])(?:CLASS|INTERFACE|PROGRAM|PROPERTY)(?![\w-])", re.IGNORECASE)
"""The words that begin the other entries of a REPOSITORY."""
_LANGUAGES = frozenset({"C", "COBOL", "COBOL85", "FORTRAN", "LINKAGE", "MACRO", "PASCAL", "PTAL", "TAL"})
"""The languages that may precede the routine after ENTER; without a routine they name none."""
_HOW = vocabulary("STATIC DYNAMIC LINKAGE TYPE IS PROGRAM PROCEDURE CONTROL TO IN THREAD RUN CLIENT")
"""The words that may precede the program after CALL and TRANSFER and say how it is called."""
_BEHIND_TARGET = frozenset({"OF", "IN", "USING", "GIVING", "RETURNING", "ON", "OVERFLOW", "EXCEPTION", "NOT"})
_QUOTES = "'\""
_OF_A_SHOP = re.compile(r"(?i)[#%@&][a-z]*CALL\s++([\w#@$-]++)")


class WrittenCall(NamedTuple):
    """A CALL as written: a literal keeps its quotes, a name its qualifiers."""

    target: str
    parameters: tuple[str, ...]
    line: int
    end_line: int
    paragraph: int
    copybook: str | None
    site: Site
    returned: Receiver
    copied: tuple[int, ...]
    header: str

    @property
    def name(self) -> str:
        """The called program in capitals, without quotes; that of a data item if the CALL names one."""
        return key(unquoted(self.target))


def callings(code: Code) -> tuple[WrittenCall, ...]:
    """Return every CALL, including those in copybooks, every ENTER of a routine in another language, every CHAIN, and every
    TRANSFER CONTROL of IDMS.
    """
    said = [one for one in code.of("CALL", "CHAIN", "ENTER", "TRANSFER") if len(one.keys) > 1]
    return tuple(_calling(one) for one in said if one.verb != "ENTER" or one.keys[-1] not in _LANGUAGES)


def functions(rows: Sequence[EntryRow]) -> dict[str, str]:
    """Return the user-defined functions that a REPOSITORY names, in capitals, each with its external name."""
    found = {}
    for row in rows:
        if row.section != "REPOSITORY" or "FUNCTION" not in row.code.upper():
            continue
        # FUNCTION A B AS 'EXT' FUNCTION ALL INTRINSIC: names before INTRINSIC belong to the language.
        for part in _FUNCTION.split(row.code)[1:]:
            words = pieces(_OTHERS.split(part, maxsplit=1)[0])
            if any(key(word) == "INTRINSIC" for word in words):
                continue
            for at, word in enumerate(words):
                if word[0] in "'\"" and at >= 2:
                    found[key(words[at - 2])] = word.strip("'\"")
                elif key(word) != "AS":
                    found[key(word)] = word
    return found


def _used_functions(code: Code, known: Mapping[str, str]) -> Iterator[ProgramCall]:
    """Yield the uses of user-defined functions, each as the call of a program."""
    for said in code.said if known else ():
        uses = ((word, given(said, at), around(said, at)) for at, word in enumerate(said.keys) if word in known)
        for name, passed, returned in dict.fromkeys(uses):
            yield call_in(code, said, known[name], passed, returned, call_type="static")


def _procedures(code: Code, reaching: Reaching) -> Iterator[ProgramCall]:
    """Yield the calls of stored procedures, each as the call of a program of the same name, which is the default."""
    for block in code.blocks:
        words = tokens(body(block.exec.text)) if block.exec.kind.startswith("SQL") else []
        if len(words) < 2 or words[0].upper() != "CALL":
            continue
        target = words[1] if words[1] != ":" else ":" + "".join(words[2:3])
        reached = reaching.at_block(_cobol_name(target), block) if target[0] == ":" else None
        # The program of SCHEMA.NAME is NAME.
        name = (
            f"'{target.strip(_QUOTES).rpartition('.')[2].strip(_QUOTES)}'" if reached is None else _cobol_name(target)
        )
        yield ProgramCall(
            target=name,
            call_type="sql",
            resolved=reached.values if reached is not None else (),
            parameters=tuple(_arguments(words)),
            line=block.line,
            end_line=block.end_line,
            paragraph=code.name(block.paragraph, block.header),
            copybook=block.copybook,
            is_sure=False,
            unknown=reached.unknown if reached is not None else "",
        )


def _arguments(words: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of an SQL CALL as COBOL names them, without the indicator variables after them."""
    start = words.index("(") if "(" in words else len(words)
    for part in listed(words[start + 1 : closed(words, start)]):
        if part and part[0] != "(":
            yield _cobol_name(part[0] if part[0] != ":" else "".join(part[:2]))


def _cobol_name(host: str) -> str:
    """Return a host variable as COBOL names it: `:GROUP.ITEM` is ITEM OF GROUP; anything else is returned unchanged."""
    return " OF ".join(reversed(host[1:].partition(":")[0].split("."))) if host[:1] == ":" else host


def calls_of_a_shop(unread: Sequence[UnknownStatement], names: DataNames) -> Iterator[ProgramCall]:
    """Yield the unknown statements whose first word ends in CALL: `#DYCALL PROGRAM AREA` of a shop's own preprocessor."""
    for part in unread:
        found = _OF_A_SHOP.match(part.text)
        if found is not None and names.one(found[1]) is None:
            yield ProgramCall(
                target=f"'{found[1]}'",
                call_type="preprocessor",
                resolved=(),
                parameters=(),
                line=part.line,
                end_line=part.end_line,
                paragraph=part.paragraph,
                is_sure=False,
            )


def calls(
    code: Code,
    found: Sequence[WrittenCall],
    cics: Sequence[CicsOperation],
    reaching: Reaching,
    constants: Mapping[str, Resolved],
    known_functions: Mapping[str, str],
    known_classes: ClassNames | None = None,
) -> tuple[ProgramCall, ...]:
    """Return every transfer to another program, in source order.

    Args:
        code: The statements.
        found: The CALLs, as `callings` returns them.
        cics: The CICS commands, some of which transfer control.
        reaching: The values that data items can have at a statement, for calls by name.
        constants: The text of each level 78, by its name in capitals: a CALL may name one instead of a literal.
        known_functions: The functions of the REPOSITORY, as `functions` returns them.
        known_classes: The classes that the program knows; None if it knows none.
    """
    reached = [_called(call, code, reaching, constants) for call in found]
    reached += _used_functions(code, known_functions)
    reached += _procedures(code, reaching)
    reached += invocations(code, known_classes, reaching)
    for operation in cics:
        call_type = _BY_COMMAND.get(operation.command)
        if call_type is not None and operation.resource and operation.kind in {"program", "transaction", "service"}:
            passed = operation.option("COMMAREA", "CHANNEL", "FROM")
            reached.append(
                ProgramCall(
                    target=operation.resource,
                    call_type=call_type,
                    resolved=operation.resolved,
                    parameters=(passed,) if passed else (),
                    line=operation.line,
                    end_line=operation.end_line,
                    paragraph=operation.paragraph,
                    copybook=operation.copybook,
                    is_sure=operation.is_sure,
                    unknown=operation.unknown,
                )
            )
    return tuple(sorted(reached, key=lambda call: call.line))


def is_interface(target: str) -> bool:
    """Return whether a called name is a system interface rather than a program of the estate: DL/I, MQ, Language Environment,
    the stubs of an SQL precompiler, other databases, or the routines of a COBOL runtime or an operating system.
    """
    name = key(unquoted(target))
    named = name in _NAMED_BY_SYSTEMS or name in DLI_INTERFACES or is_translated(name)
    return named or name.startswith(_OF_SYSTEMS)


def _called(call: WrittenCall, code: Code, reaching: Reaching, constants: Mapping[str, Resolved]) -> ProgramCall:
    """Return a CALL as a transfer to another program."""
    # A number in hexadecimal, as in X"91", is that of a routine of the runtime; it keeps its quotes.
    is_number = call.target[1:2] in {"'", '"'} and call.target[:1] in {"X", "x"}
    static = is_number or call.target[:1] in "'\""
    constant = None if static else constants.get(key(call.target))
    reached = None if static or constant is not None else reaching.at(call.target, call.site)
    name = call.target.upper() if is_number else unquoted(call.target) if static else ""
    return ProgramCall(
        target=name or call.target,
        call_type="static" if static else "dynamic",
        resolved=reached.values if reached else (constant,) if constant is not None else (),
        parameters=call.parameters,
        line=call.line,
        end_line=call.end_line,
        paragraph=code.name(call.paragraph, call.header),
        copybook=call.copybook,
        is_sure=reached is None or reached.is_sure,
        unknown=reached.unknown if reached else "the name is blank" if static and not name else "",
        returned=call.returned.names,
        copied=call.copied,
    )


def _calling(said: ReadStatement) -> WrittenCall:
    """Return a CALL as written, its target with qualifiers; the target of ENTER is a literal, quoted or not."""
    texts = said.texts
    at = 1
    how = _LANGUAGES if said.verb == "ENTER" else _HOW
    while at + 1 < len(texts) and said.keys[at] in how and said.keys[at + 1] not in _BEHIND_TARGET:
        at += 1
    if at == 1 and said.kinds[1] != "literal" and said.kinds[2:3] == ("literal",):
        at = 2  # CALL WINAPI 'SLEEP': a mnemonic name for the call convention precedes the target
    # The qualifier of a literal is the library of the program.
    end = past_qualifiers(said.keys, at + 1) if said.kinds[at] != "literal" else at + 1
    target = " ".join(texts[at:end]) if said.verb != "ENTER" else f"'{texts[at].strip(_QUOTES)}'"
    if said.keys[1:2] == ("SYSTEM",) and said.kinds[2:3] == ("word",) and said.keys[2] not in _BEHIND_TARGET:
        target = f"'{_OF_THE_SYSTEM}{texts[2]}'"
    return WrittenCall(
        target=target,
        parameters=parameters(said),
        line=said.line,
        end_line=said.end_line,
        paragraph=said.paragraph,
        copybook=said.copybook,
        site=said.site,
        returned=behind(said),
        copied=copied(said),
        header=said.header,
    )
