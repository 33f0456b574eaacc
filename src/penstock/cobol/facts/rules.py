"""Which conditions may be business rules: IF, EVALUATE and SEARCH with their branches, and the meanings of their names?

Leaves to others: which of them a person would call a rule. A condition on the outcome of an operation is marked (`check`), to
distinguish error handling from business logic.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import TYPE_CHECKING, Literal

from ..program import key
from .code import text_of
from .control import Branch, BranchAction, BranchRule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .code import Code, Node, ReadStatement
    from .naming import DataNames
    from .resources import CicsOperation, MqOperation, ProgramFile

_VERBS: dict[str, Literal["IF", "EVALUATE", "SEARCH"]] = {"IF": "IF", "EVALUATE": "EVALUATE", "SEARCH": "SEARCH"}
MAX_ACTIONS = 40
"""The maximum number of statements listed for a branch; the rest are counted."""
_ACTION_CHARS = 200
# The status of a DL/I call is in its PCB, which every program declares itself: it is recognized only by its name.
_PCB = re.compile(r"[A-Z0-9-]*PCB[A-Z0-9-]*STAT[A-Z0-9-]*")
_DLI = frozenset({"DIBSTAT", "AIBRETRN", "AIBREASN"})
SQL_REGISTERS = ("SQLCODE", "SQLSTATE", "SQLERRD", "SQLWARN0")
"""The items that hold the outcome of each SQL statement."""
_REGISTERS = {
    **dict.fromkeys(SQL_REGISTERS, "SQLCODE"),
    **dict.fromkeys(("EIBRESP", "EIBRESP2", "EIBRCODE", "DFHRESP"), "RESP"),
    "RETURN-CODE": "RETURN-CODE",
    "XML-CODE": "EXCEPTION",
    "JSON-CODE": "EXCEPTION",
    "SORT-RETURN": "RETURN-CODE",
    "DMSTATUS": "EXCEPTION",
}


class Checks:
    """The names that hold the outcome of an operation: FILE STATUS, SQLCODE, RESP, MQ reason, DL/I status.

    Besides the registers, these are the items that files, commands and calls name for it, the items that they are moved to, their
    level 88s, and the items directly in them.
    """

    def __init__(
        self,
        code: Code,
        names: DataNames,
        files: Iterable[ProgramFile],
        cics: Iterable[CicsOperation],
        mq: Iterable[MqOperation],
    ) -> None:
        self._kinds: dict[str, str] = dict(_REGISTERS)
        for file in files:
            for name in file.status:
                self._kinds.setdefault(key(name), "FILE STATUS")
        for operation in cics:
            for option, argument in operation.options:
                if option in {"RESP", "RESP2"} and argument:
                    self._kinds.setdefault(key(argument.split()[0]), "RESP")
        for call in mq:
            # Every call of MQI ends with its completion code and its reason.
            for name in call.parameters[-2:]:
                self._kinds.setdefault(key(name.split()[0]), "MQ REASON")
        # A single pass in source order: a chain of MOVEs counts only if the statements follow in that order.
        for said in code.of("MOVE"):  # MOVE status TO item: the item holds it too
            if len(said.keys) == 4 and said.keys[2] == "TO":
                kind = self.of(said.keys[1])
                if kind:
                    self._kinds.setdefault(said.keys[3], kind)
        self._inside(names)

    def of(self, name: str) -> str:
        """Return the kind of outcome that a name in capitals holds; "" for none."""
        return self._kinds.get(name) or ("DLI STATUS" if _is_dli_status(name) else "")

    def any(self, keys: Iterable[str]) -> str:
        """Return the first kind of outcome that one of these names holds; "" for none."""
        return next(filter(None, map(self.of, keys)), "")

    def _inside(self, names: DataNames) -> None:
        """Add the level 88s of each such item, and the items directly in it, with the same kind of outcome."""
        for index, item in enumerate(names.items):
            kind = self.of(key(item.name)) if item.name != "FILLER" else ""
            if kind:
                for at in (index, *names.children.get(index, ())):
                    for condition in names.items[at].conditions:
                        self._kinds.setdefault(key(condition.name), kind)
                    if names.items[at].name != "FILLER":
                        self._kinds.setdefault(key(names.items[at].name), kind)


def rules(
    code: Code, walks: Sequence[Iterable[tuple[Node, int]]], names: DataNames, checks: Checks, program: str
) -> tuple[BranchRule, ...]:
    """Return every IF, EVALUATE and SEARCH of the program itself in source order, nested ones after the one that contains them.

    Args:
        code: The statements.
        walks: The statements of each paragraph as `walk` gives them, by its key.
        names: The declared names.
        checks: The names that hold the outcome of an operation.
        program: The name of the program, which is part of a rule's identity.
    """
    found: list[BranchRule] = []
    seen: Counter[tuple[str, str]] = Counter()
    for at, nodes in enumerate(walks):
        for node, _ in nodes:
            verb = _VERBS.get(node.said.verb)
            if verb is not None:
                paragraph = code.name(at, node.said.header)
                found.append(_rule(node, verb, paragraph, names, checks, program, seen))
    return tuple(found)


def _rule(
    node: Node,
    verb: Literal["IF", "EVALUATE", "SEARCH"],
    paragraph: str,
    names: DataNames,
    checks: Checks,
    program: str,
    seen: Counter[tuple[str, str]],
) -> BranchRule:
    """Return one rule."""
    said = node.said
    end = len(said.keys) - (len(said.keys) > 1 and said.keys[-1] == "THEN")
    condition = text_of(said.texts[1:end], said.kinds[1:end])
    openers = [opener for _, opener, _ in node.branches if opener is not said]
    used = _used([said, *openers], names)
    whole = key("\n".join([condition, *(opener.text() for opener in openers)]))
    # The id is derived from words, never from lines, so that documentation written about a rule finds it again after an edit
    # elsewhere. Rules with the same words in the same paragraph are distinguished only by their order.
    seen[paragraph, whole] += 1
    identity = "\0".join((key(program), key(paragraph), verb, whole, str(seen[paragraph, whole])))
    tested = [*used, *(word for one in (said, *openers) for word in one.keys if word in _REGISTERS)]
    return BranchRule(
        rule_id="R-" + hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:10],
        verb=verb,
        condition=condition,
        meanings=_meanings(used, names),
        branches=tuple(_branch(*branch) for branch in _grouped(node)),
        check=checks.any(tested),
        checked=frozenset(filter(checks.of, tested)),
        line=said.line,
        end_line=node.end_line,
        paragraph=paragraph,
    )


def _is_dli_status(name: str) -> bool:
    """Return whether a name in capitals is that of a DL/I status."""
    return name in _DLI or ("PCB" in name and _PCB.fullmatch(name) is not None)


def _grouped(node: Node) -> Iterator[tuple[str, ReadStatement, list[Node]]]:
    """Yield the branches, with consecutive WHENs that lead to the same statements as one branch."""
    labels: list[str] = []
    first: ReadStatement | None = None
    for at, (label, opener, inner) in enumerate(node.branches):
        following = node.branches[at + 1][1].verb if at + 1 < len(node.branches) else ""
        labels.append(label)
        first = first or opener
        if opener.verb == "WHEN" and not inner and following == "WHEN":
            continue
        yield " ".join(labels), first, inner
        labels, first = [], None


def _used(statements: Iterable[ReadStatement], names: DataNames) -> dict[str, str]:
    """Return the data names in some statements, in capitals and in order, with their spelling."""
    found: dict[str, str] = {}
    for said in statements:
        for word, kind, spelling in zip(said.keys[1:], said.kinds[1:], said.texts[1:], strict=True):
            if kind == "word" and (word in names.known or _is_dli_status(word)):
                found.setdefault(word, spelling)
    return found


def _meanings(used: Mapping[str, str], names: DataNames) -> tuple[tuple[str, str], ...]:
    """Return the meanings of the level 88s among some names, as (name, "ITEM = 'Y'")."""
    found: list[tuple[str, str]] = []
    for word, spelling in used.items():
        for item, condition in names.known.get(word, ())[:1]:
            if condition is not None:
                holder = names.items[item]
                found.append((spelling, f"{holder.name} = {' OR '.join(holder.conditions[condition].values)}"))
    return tuple(found)


def _branch(label: str, opener: ReadStatement, inner: Sequence[Node]) -> Branch:
    """Return one branch with its statements, each on one line, limited in number and length."""
    actions = tuple([BranchAction(node.said.text(_ACTION_CHARS), node.said.line) for node in inner[:MAX_ACTIONS]])
    if len(inner) > MAX_ACTIONS:
        actions += (BranchAction(f"… and {len(inner) - MAX_ACTIONS} more statements", inner[MAX_ACTIONS].said.line),)
    return Branch(label, opener.line, inner[-1].end_line if inner else opener.end_line, actions)
