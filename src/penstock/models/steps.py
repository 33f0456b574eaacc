"""What does the model do next? One step: it says something, calls tools, or the provider refuses or fails.

    [call("read_file", path="a.py"), refuse(996_201, of=200_000), say("done", requires="def area")]

A step may require texts in the request that it answers, or forbid them: a test of an agent then states what the model must be
shown, not how. Laws: the content of a step is JSON and does not change; an invalid step is refused when it is made. Leaves to
others: the order of steps (`scripted`), and how a wire writes them (`provider`, `refusals`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from penstock.errors import CallerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from penstock.text.json_access import Json

Patterns: TypeAlias = "str | Iterable[str]"
"""A regular expression, or several of them."""


class ScriptedCall(NamedTuple):
    """A call of a tool that a scripted model makes."""

    name: str
    arguments: str
    """JSON text, as models write arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptStep:
    """One step of a script: the answer to one request, and what that request must show."""

    requires: tuple[str, ...] = ()
    """Regular expressions that each have to match somewhere in the texts of the request."""
    forbids: tuple[str, ...] = ()
    """Regular expressions of which none may match there."""

    def mismatch(self, text: str) -> str | None:
        """Say how a request with that text violates this step; None if it does not."""
        for pattern in self.requires:
            if re.search(pattern, text) is None:
                return f"requires {pattern!r}, which is not in the request"
        for pattern in self.forbids:
            if re.search(pattern, text) is not None:
                return f"forbids {pattern!r}, which is in the request"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedReply(ScriptStep):
    """A step in which the model answers."""

    text: str = ""
    """The words of a scripted answer, before any calls."""
    calls: tuple[ScriptedCall, ...] = ()
    """The calls of a scripted answer, in order; none if the model is done."""

    def __str__(self) -> str:
        if not self.calls:
            return f"say({self.text[:60]!r})"
        return f"call{'s' * (len(self.calls) > 1)}({', '.join(repr(call.name) for call in self.calls)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse(ScriptStep):
    """A step in which the provider finds the input too large, in its own words."""

    input_tokens: int
    """The input size that the refusal states."""
    limit_tokens: int
    """The window size that the refusal states."""

    def __str__(self) -> str:
        return f"refuse({self.input_tokens}, of={self.limit_tokens})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail(ScriptStep):
    """A step in which the provider answers with a status and a body of any kind."""

    status: int
    """The HTTP status; below 400 the body is taken as an answer."""
    body: Json
    """JSON, or a text that is sent as it is."""

    def __str__(self) -> str:
        return f"fail({self.status})"


def say(text: str, *, requires: Patterns = (), forbids: Patterns = ()) -> ScriptStep:
    """Return the step in which the model says `text`, and is done.

    Args:
        text: what it says.
        requires: regular expressions that must match in the request that it answers.
        forbids: regular expressions of which none may match there.

    Raises:
        CallerError: for anything but a text, or an invalid regular expression.
    """
    return ScriptedReply(text=_a(str, text, "text"), requires=_patterns(requires), forbids=_patterns(forbids))


def call(
    tool_name: str,
    arguments: Mapping[str, Json] | None = None,
    /,
    *,
    requires: Patterns = (),
    forbids: Patterns = (),
    **more_arguments: Json,
) -> ScriptStep:
    """Return the step in which the model calls a tool.

    Args:
        tool_name: the tool that it calls.
        arguments: arguments by name, as a mapping: for those that are named `requires` and `forbids`.
        requires: regular expressions that must each match somewhere in the texts of the request.
        forbids: regular expressions of which none may match there.
        more_arguments: arguments by name.

    Raises:
        CallerError: for arguments that are not JSON.
    """
    given = {**(arguments or {}), **more_arguments}
    try:
        written = json.dumps(given, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CallerError(f"the arguments of {tool_name!r} are not JSON: {error}") from error
    asked = ScriptedCall(_a(str, tool_name, "the name of a tool"), written)
    return ScriptedReply(calls=(asked,), requires=_patterns(requires), forbids=_patterns(forbids))


def calls(*made: ScriptStep, text: str = "", requires: Patterns = (), forbids: Patterns = ()) -> ScriptStep:
    """Return the step in which the model makes several calls at once.

    Args:
        made: what `call` made, at least one; their `requires` and `forbids` apply too.
        text: what the model says before them.
        requires: regular expressions that must each match somewhere in the texts of the request.
        forbids: regular expressions of which none may match there.

    Raises:
        CallerError: for no steps at all, and for steps that are not calls.
    """
    if not made:
        raise CallerError("calls() takes the steps that call() makes, one at least")
    asked: list[ScriptedCall] = []
    required, forbidden = list(_patterns(requires)), list(_patterns(forbids))
    for step in made:
        if not isinstance(step, ScriptedReply) or not step.calls:
            raise CallerError(f"calls() takes the steps that call() makes, not {step}")
        asked += step.calls
        required += step.requires
        forbidden += step.forbids
    return ScriptedReply(
        text=_a(str, text, "text"), calls=tuple(asked), requires=tuple(required), forbids=tuple(forbidden)
    )


def refuse(input_tokens: int, *, of: int, requires: Patterns = (), forbids: Patterns = ()) -> ScriptStep:
    """Return the step in which the provider refuses an input for its size, in its own words.

    Args:
        input_tokens: the input size that it states.
        of: the window size that it states, which is smaller.
        requires: regular expressions that must each match somewhere in the texts of the request.
        forbids: regular expressions of which none may match there.

    Raises:
        CallerError: if the first number is not above the second.
    """
    if not 0 < _a(int, of, "of") < _a(int, input_tokens, "input_tokens"):
        raise CallerError(f"refuse() takes more tokens than the limit, not {input_tokens} of {of}")
    return Refuse(input_tokens=input_tokens, limit_tokens=of, requires=_patterns(requires), forbids=_patterns(forbids))


def fail(status: int, body: Json, *, requires: Patterns = (), forbids: Patterns = ()) -> ScriptStep:
    """Return the step in which the provider answers with any status and body.

    Args:
        status: an HTTP status from 200 to 599; below 400 the body is taken as an answer.
        body: JSON, or a text that is sent as it is.
        requires: regular expressions that must each match somewhere in the texts of the request.
        forbids: regular expressions of which none may match there.

    Raises:
        CallerError: for another status, and for a body that is not JSON.
    """
    if not 200 <= _a(int, status, "status") <= 599:
        raise CallerError(f"an answer has a status from 200 to 599, not {status}")
    try:
        kept = body if isinstance(body, str) else json.loads(json.dumps(body, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise CallerError(f"the body of fail({status}) is not JSON: {error}") from error
    return Fail(status=status, body=kept, requires=_patterns(requires), forbids=_patterns(forbids))


def read_steps(content: bytes) -> list[ScriptStep]:
    """Return the steps of a script in JSON: a list of objects, each with the name of a step and its arguments next to it.

    Raises:
        CallerError: for anything else; it names the step by its number, from 1, and what is wrong with it.
    """
    try:
        listed = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CallerError(f"a script is a JSON list of steps; this is not JSON: {error}") from error
    if not isinstance(listed, list):
        raise CallerError(f"a script is a JSON list of steps, not {type(listed).__name__}")
    steps = []
    for place, value in enumerate(listed, 1):
        try:
            steps.append(_step(value))
        except CallerError as error:
            raise CallerError(f"step {place}: {error}") from error
    return steps


# Each step by its name in JSON: the function that makes it, and the fields it takes besides the value under its own name.
_FORMS: dict[str, tuple[Callable[..., ScriptStep], frozenset[str]]] = {
    "say": (say, frozenset()),
    "call": (call, frozenset({"arguments"})),
    "calls": (calls, frozenset({"text"})),
    "refuse": (refuse, frozenset({"of"})),
    "fail": (fail, frozenset({"body"})),
}


def _step(value: Json) -> ScriptStep:
    """Return the step of one object: `{"call": "read_file", "arguments": {"path": "a.py"}, "requires": "…"}`."""
    named = [name for name in _FORMS if isinstance(value, dict) and name in value]
    if len(named) != 1:
        raise CallerError(f"an object with one of {', '.join(_FORMS)}")
    make, fields = _FORMS[named[0]]
    given: dict[str, Any] = {key: field for key, field in value.items() if key != named[0]}
    if unknown := given.keys() - fields - {"requires", "forbids"}:
        raise CallerError(f"{named[0]} has no {' and no '.join(sorted(unknown))}")
    if missing := fields & {"of", "body"} - given.keys():
        raise CallerError(f"{named[0]} needs {' and '.join(missing)}")
    first = [value[named[0]]]
    if named[0] == "calls":
        first = [_step(inner) for inner in _a(list, first[0], "calls")]
    elif named[0] == "call":
        first.append(_a(dict, given.pop("arguments", {}), "arguments"))
    return make(*first, **given)


def _patterns(given: Patterns) -> tuple[str, ...]:
    """Return patterns as a tuple, compiled once here so that a bad one is reported at its place in the test."""
    try:
        patterns = (given,) if isinstance(given, str) else tuple(given)
        for pattern in patterns:
            re.compile(pattern)
    except (re.error, TypeError) as error:
        raise CallerError(f"{given!r} is not a regular expression, nor a list of them: {error}") from error
    return patterns


def _a(kind: type, value: Any, name: str) -> Any:
    """Return a value of that type; True does not count as an integer. Raises `CallerError` for any other."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise CallerError(f"{name} is of type {kind.__name__}, not {type(value).__name__}")
    return value
