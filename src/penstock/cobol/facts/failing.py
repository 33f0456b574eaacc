"""Where does a program handle or raise errors: status checks, condition phrases, handlers, abends and return codes?

Leaves to others: whether the handling is sufficient.
"""

from __future__ import annotations

import re
from itertools import accumulate, zip_longest
from typing import TYPE_CHECKING

from ..reserved import is_reserved
from .code import clipped, text_of
from .control import ErrorSite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .calls import WrittenCall
    from .code import Code, Node, ReadStatement
    from .control import Branch, BranchRule
    from .resources import CicsOperation, SqlOperation

_PHRASES = {
    "AT END": "AT END",
    "INVALID KEY": "INVALID KEY",
    "ON SIZE ERROR": "SIZE ERROR",
    "ON OVERFLOW": "OVERFLOW",
    "ON EXCEPTION": "EXCEPTION",
    "ON STATUS": "IDMS STATUS",
}
_HANDLING = {"ABEND": "ABEND", "HANDLE ABEND": "HANDLE", "HANDLE CONDITION": "HANDLE"}
"""The CICS commands that handle or raise an error, and the kinds of their sites."""
_ABENDS = frozenset({"CEE3ABD", "CEE3AB2", "ILBOABN0", "ABEND", "CBLABN0"})
_FINE = frozenset({"ZERO", "ZEROS", "ZEROES", "SPACES", "SPACE", "", "NORMAL", "MQCC-OK"})
_NO_MORE = frozenset({"10", "100", "+100"})  # a file status and the SQLCODEs that say that there is no further record
_ZERO = re.compile(r"[+-]?0+")
_NAME = re.compile(r"[A-Z][\w-]*", re.IGNORECASE)
_NEGATED = frozenset({"NOT", "<>", "UNEQUAL"})
_ORDERED = frozenset({"<", ">"})
_JOINED = re.compile(r"\b(?:AND|OR)\b")
_LITERAL = re.compile(r"'[^']*'|\"[^\"]*\"")
_DENIED = re.compile(r"(?>(?:(?>NOT\s*+|)\()*)")
_OTHER = "OTHER"
"""What stands for a comparison of something else."""
_ACTION_CHARS = 200
_NOT_ALL = re.compile(r"NOT\b(.*)", re.DOTALL)
_MOST_NEGATIONS = 8  # that are read one within another: each takes the time of the whole condition
_VALUE = re.compile(r"'([^']*)'|\"([^\"]*)\"|([A-Za-z0-9+-]+)")


def sites(
    code: Code,
    walks: Sequence[Iterable[tuple[Node, int]]],
    rules: Sequence[BranchRule],
    cics: Sequence[CicsOperation],
    sql: Sequence[SqlOperation],
    calls: Sequence[WrittenCall],
) -> tuple[ErrorSite, ...]:
    """Return every place where an error is handled or raised, in source order.

    Args:
        code: The statements.
        walks: The statements of each paragraph as `walk` yields them, indexed by its key.
        rules: The conditions; those with a `check` test an outcome.
        cics: The CICS commands, for ABEND and HANDLE.
        sql: The SQL operations, for WHENEVER.
        calls: The CALLs, for the routines that end a program abnormally.
    """
    found = list(_checks(rule for rule in rules if rule.check))
    for at, nodes in enumerate(walks):
        for node, _ in nodes:
            if node.branches or node.said.verb in {"MOVE", "USE"}:
                name = code.name(at, node.said.header)
                found += _phrases(node, name)
                found += _error_sites(node.said, name) if node.said.verb in {"MOVE", "USE"} else ()
    for command in cics:
        if (kind := _HANDLING.get(command.command)) is not None:
            options = " ".join(name + (f"({argument})" if argument else "") for name, argument in command.options)
            said = f"EXEC CICS {command.command} {options}".strip()
            found.append(_site(kind, said, command, command.paragraph))
    for statement in sql:
        if statement.operation.startswith("WHENEVER"):
            found.append(_site("WHENEVER", statement.text, statement, statement.paragraph))
    for call in calls:
        if call.name in _ABENDS:
            found.append(_site("ABEND", f"CALL {call.target}", call, code.name(call.paragraph, call.header)))
    return tuple(sorted(found, key=lambda site: (site.line, site.kind)))


def _site(kind: str, said: str, at: CicsOperation | SqlOperation | WrittenCall, paragraph: str) -> ErrorSite:
    """Return the site of a statement that is handling by itself, with no statements of its own."""
    return ErrorSite(kind, said, None, at.line, at.end_line, paragraph, at.copybook)


def _checks(rules: Iterable[BranchRule]) -> Iterator[ErrorSite]:
    """Yield the sites of the conditions that test an outcome, in source order.

    An IF that is the first thing after a failure, and about the same item, asks which failure it is (`ELSE IF SQLCODE = 100`):
    what its ELSE does is for all others. So does a WHEN of an EVALUATE (`WHEN DFHRESP(NOTFND)`).
    """
    failed: dict[int, set[str]] = {}  # by the line of the first statement after a failure, what was tested
    for rule in rules:
        tested = _tested(rule)
        has_failed = not tested.isdisjoint(failed.get(rule.line, ()))
        branch = _failing(rule, has_failed=has_failed)
        if rule.verb == "EVALUATE":
            yield from (_checked(rule, one) for one in _outcomes(rule) if one is not branch)
        yield _checked(rule, branch)
        handling = [branch] if branch else []
        if handling == [*rule.branches[:1]] and has_failed:
            handling += rule.branches[1:]
            for other in rule.branches[1:]:
                yield _checked(rule, other)
        for one in handling:
            failed.update((action.line, tested) for action in one.actions[:1])


def _outcomes(rule: BranchRule) -> Iterator[Branch]:
    """Yield the branches of an EVALUATE that handle an outcome by its name, other than success, and do something.

    In `EVALUATE TRUE`, those that look at what the WHEN of success looks at: `WHEN SQLCODE = 0`, `WHEN SQLCODE = 100`.
    """
    meanings = {name.upper(): meaning for name, meaning in rule.meanings}
    said = {
        branch: [text, *(meanings[word] for word in text.split() if word in meanings)]
        for branch in rule.branches
        if (text := branch.label.upper().removeprefix("WHEN ")) != "OTHER"
    }
    fine = {branch for branch, texts in said.items() if _is_fine(texts, texts[0])}
    if not fine:
        # Of names whose values are not known here (`WHEN SQL-OK`), the first means success.
        fine = {branch for branch, texts in [*said.items()][:1] if len(texts) == 1 and _NAME.fullmatch(texts[0])}
    first = {word for branch in fine for text in said[branch] for word in text.split()[:1]}
    is_truth = rule.condition.upper() in {"TRUE", "FALSE"}
    for branch, texts in said.items():
        is_asked = not is_truth or any(word in first for text in texts for word in text.split()[:1])
        if branch not in fine and is_asked and any(one.text.upper() != "CONTINUE" for one in branch.actions):
            yield branch


def _tested(rule: BranchRule) -> set[str]:
    """Return the names that the conditions of a rule begin with, and the items of its level 88s."""
    said = [rule.condition, *(meaning for _, meaning in rule.meanings)]
    words = ([word for word in text.upper().replace("(", " ").split() if word != "NOT"] for text in said)
    return {found[0] for found in words if found}


def _checked(rule: BranchRule, branch: Branch | None) -> ErrorSite:
    """Return the site of a condition that tests an outcome, with the statements of the branch that handles a failure."""
    action = _done(one.text for one in branch.actions if one.text.upper() != "CONTINUE") if branch else None
    # The action needs the label of its branch: without it, `IF STATUS = '00'` would say the opposite.
    within = f" … {branch.label}" if branch and branch.label != "THEN" else ""
    said = f"{rule.verb} {rule.condition}{within}"
    return ErrorSite(rule.check, said, action, rule.line, rule.end_line, rule.paragraph)


def _failing(rule: BranchRule, *, has_failed: bool) -> Branch | None:
    """Return the branch that is taken after a failure; None if the condition leaves failures to what follows it.

    `IF STATUS = '00'` fails in its ELSE, `IF STATUS NOT = '00'` and `IF SQLCODE < 0` in their THEN, an EVALUATE in
    WHEN OTHER or, without it, in the last WHEN.
    """
    if not rule.branches:
        return None
    # An EVALUATE lists the expected outcomes: the rest is failure.
    if rule.verb != "IF":
        return next((branch for branch in rule.branches if branch.label.upper() == "WHEN OTHER"), rule.branches[-1])
    condition = _of_outcome(rule)
    said = [condition, *(meaning for name, meaning in rule.meanings if name.upper() in rule.checked)]
    # After a failure, `IF SQLCODE NOT = 100` asks for the true errors; elsewhere, the work goes on if the data has not ended.
    if _is_fine(said, condition) or (not has_failed and _goes_on(condition, rule.meanings)):
        return rule.branches[1] if len(rule.branches) > 1 else None
    return rule.branches[0]


def _is_fine(said: Iterable[str], condition: str) -> bool:
    """Return whether a condition holds after success: it compares with a value that means that, without a negation.

    Args:
        said: The condition, and the meanings of its level 88s.
        condition: The condition in capitals.
    """
    return any(map(_is_success, _values(said))) and not _is_negated(condition)


def _of_outcome(rule: BranchRule) -> str:
    """Return the condition of a rule in capitals, with a word in place of each comparison that is not about an outcome.

    The `I NOT = 10` of `SQLCODE = -811 AND I NOT = 10` says nothing of success; `200` in `SQLCODE = 100 OR 200` is about SQLCODE.
    """
    conditions = {name.upper() for name, _ in rule.meanings}
    parts, is_other = [], False
    for part in _JOINED.split(rule.condition.upper()):
        words = [word for word in _LITERAL.sub("", part).replace("(", " ").replace(")", " ").split() if word != "NOT"]
        if not rule.checked.isdisjoint(words):
            is_other = False
        elif conditions.issuperset(words[:1]) or (
            len(words) > 1 and _NAME.fullmatch(words[0]) and not is_reserved(words[0])
        ):
            is_other = True
        parts.append(_in_parentheses(part.strip(), _OTHER) if is_other and words else part.strip())
    joining = _JOINED.findall(rule.condition.upper())
    return " ".join(word for pair in zip_longest(parts, joining) for word in pair if word)


def _in_parentheses(part: str, word: str) -> str:
    """Return a word with the parentheses that a comparison has in common with those around it, and what denies them."""
    before = _DENIED.match(part)[0]  # type: ignore[index]  # it matches any text
    rest = part[len(before) :]
    return before + word + ")" * (rest.count(")") - rest.count("("))


def _goes_on(condition: str, meanings: Sequence[tuple[str, str]]) -> bool:
    """Return whether a condition denies the end of the data and compares with no success: `IF NOT END-OF-FILE`.

    `IF SQLCODE = 100 AND NOT FIRST-TIME` asks for that end, and denies something else.

    Args:
        condition: The condition in capitals.
        meanings: The meanings of its level 88s.
    """
    is_denied_whole = (found := _NOT_ALL.fullmatch(condition)) is not None and _is_one(found[1].strip())
    ends = False
    for part in [condition] if is_denied_whole else _JOINED.split(condition):
        words = part.replace("(", " ").replace(")", " ").split()
        values = _values([part, *(meaning for name, meaning in meanings if name.upper() in words)])
        if any(map(_is_success, values)):
            return False
        ends = ends or (_is_negated(part) and not values.isdisjoint(_NO_MORE))
    return ends


def _values(said: Iterable[str]) -> set[str]:
    """Return the literals and words of conditions, in capitals."""
    return {"".join(found).strip().upper() for text in said for found in _VALUE.findall(text)}


def _is_success(value: str) -> bool:
    """Return whether a status or return code, in capitals, means success."""
    return value in _FINE or _ZERO.fullmatch(value) is not None


def _is_negated(condition: str) -> bool:
    """Return whether a comparison is negated; a NOT before all of it negates it once more, as in `NOT (STATUS NOT = "00")`.

    `SQLCODE < 0` negates success; the `<` of `STATUS = "00" AND LAST < KEY` compares other things.
    """
    negations = 0
    while (
        negations < _MOST_NEGATIONS and (found := _NOT_ALL.fullmatch(condition)) and _is_one(inner := found[1].strip())
    ):
        condition, negations = inner, negations + 1
    is_negated = not _NEGATED.isdisjoint(condition.replace("(", " ").split()) or any(
        not _ORDERED.isdisjoint(part.split()) and any(map(_is_success, _values([part])))
        for part in _JOINED.split(condition)
    )
    return (negations + is_negated) % 2 == 1


def _is_one(condition: str) -> bool:
    """Return whether what follows a NOT is one condition: one without AND or OR, or one in parentheses from end to end."""
    if not condition.startswith("("):
        return {"AND", "OR"}.isdisjoint(condition.split())
    depths = list(accumulate((letter == "(") - (letter == ")") for letter in condition))
    return depths.index(0) == len(depths) - 1 if 0 in depths else False


def _phrases(node: Node, paragraph: str) -> Iterator[ErrorSite]:
    """Yield the condition phrases of a statement (AT END, INVALID KEY and the like) with their statements."""
    for label, opener, inner in node.branches:
        kind = _PHRASES.get(label)
        if kind is not None:
            of = opener.text() if label in {"ON STATUS", "ON EXCEPTION"} else label
            if label == "ON STATUS" and opener.keys[1:2] == ("EXCEPTION",):
                kind = "EXCEPTION"  # only IDMS has statuses by name
            # The operand of most verbs is enough; a MOVE has none that tells it apart.
            words = len(node.said.texts) if node.said.verb == "MOVE" else 2
            condition = f"{of} of {text_of(node.said.texts[:words], node.said.kinds[:words])}"
            action = _done(one.said.text(_ACTION_CHARS) for one in inner)
            end = inner[-1].end_line if inner else opener.end_line
            yield ErrorSite(kind, condition, action, opener.line, end, paragraph)


def _done(actions: Iterable[str]) -> str | None:
    """Return the statements of an action, joined and shortened; None if there are none."""
    return clipped("; ".join(actions), _ACTION_CHARS) or None


def _error_sites(said: ReadStatement, paragraph: str) -> Iterator[ErrorSite]:
    """Yield a MOVE to RETURN-CODE of anything but success, and a USE AFTER ERROR."""
    keys = said.keys
    if said.verb == "MOVE" and "TO" in keys and "RETURN-CODE" in keys[keys.index("TO") :]:
        if not _is_success(keys[1]):
            yield ErrorSite("RETURN-CODE", said.text(200), None, said.line, said.end_line, paragraph)
    elif said.verb == "USE" and {"ERROR", "EXCEPTION"} & set(keys):
        yield ErrorSite("USE", said.text(200), None, said.line, said.end_line, paragraph)
