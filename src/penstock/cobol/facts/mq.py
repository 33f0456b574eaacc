"""Which calls of the MQ interface (MQI) does a program make, and which queue does each use?

The queue is found in three steps: MQGET names a handle, which may be moved from another one; the MQOPEN that filled the handle
names a descriptor; and a MOVE to the object name of that descriptor names the queue. What is nearest before in the same paragraph
counts; without that, whatever the program has anywhere, which may be several queues. Leaves to others: which queue manager.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from ..program import key
from .resolving import literal
from .resources import MqOperation, Resolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .calls import WrittenCall
    from .code import Code, ReadStatement
    from .resolving import Values

_CALL = re.compile(
    r"MQ(?:CONN|CONNX|DISC|OPEN|CLOSE|GET|PUT|PUT1|INQ|SET|BEGIN|CMIT|BACK|SUB|SUBRQ|CB|CTL|STAT|CRTMH|DLTMH)"
)
_NAME = "MQOD-OBJECTNAME"
_MOST_QUEUES = 8
"""The maximum number of queues that one call may use; if there are more, none is told."""
_MOST_MOVES = 5
"""How many MOVEs from handle to handle are followed."""


class _Queue(NamedTuple):
    """A queue as a program names it."""

    text: str
    """The literal or data item."""
    line: int
    copybook: str | None
    """The place of the MOVE that names it."""


class _Step(NamedTuple):
    """A statement that gives an item a value: a descriptor its queue, a handle its queue or that of another handle."""

    order: tuple[int, int]
    place: tuple[int, str]
    """The paragraph, and the one in its copybook."""
    said: str | WrittenCall
    """The text of the sender, or the MQOPEN."""
    line: int
    copybook: str | None


class _Steps:
    """The statements that give items values, by item."""

    def __init__(self) -> None:
        self._of: dict[str, dict[tuple[int, str], list[_Step]]] = {}

    def add(self, name: str, step: _Step) -> None:
        """Add a statement; those of a paragraph come in their order."""
        self._of.setdefault(name, {}).setdefault(step.place, []).append(step)

    def sort(self) -> None:
        """Put the statements of each paragraph in their order."""
        for places in self._of.values():
            for steps in places.values():
                steps.sort(key=lambda step: step.order)

    def before(self, name: str, at: _Step) -> _Step | None:
        """Return the statement that gives an item its value nearest before another in the same paragraph."""
        steps = self._of.get(name, {}).get(at.place, ())
        number = bisect_left(steps, at.order, key=lambda step: step.order)
        return steps[number - 1] if number else None

    def anywhere(self, name: str) -> Iterator[_Step]:
        """Yield all statements that give an item a value."""
        for steps in self._of.get(name, {}).values():
            yield from steps


class _Found:
    """The queues of the calls of a program.

    Args:
        code: The statements, for the MOVEs to descriptors and handles.
        asked: The calls.
    """

    def __init__(self, code: Code, asked: Iterable[WrittenCall]) -> None:
        self._described, self._handles = _Steps(), _Steps()
        self._all_described: dict[str, Sequence[_Queue]] = {}
        self._all_handles: dict[str, Sequence[_Queue]] = {}
        for said in code.of("MOVE"):
            self._move(said)
        for call in asked:
            if _name(call) == "MQOPEN" and len(call.parameters) > 3:
                self._handles.add(key(call.parameters[3]), _opening(call))
        self._described.sort()
        self._handles.sort()

    def of(self, call: WrittenCall) -> Sequence[_Queue]:
        """Return the queues that a call may use; none if there are too many."""
        if len(call.parameters) < 2:
            return ()
        is_opening = _name(call) in {"MQOPEN", "MQPUT1"}
        at = _opening(call)
        found = self._of_descriptor(at, call) if is_opening else self._of_handle(key(call.parameters[1]), at, 0)
        return found if len(found) <= _MOST_QUEUES else ()

    def _move(self, said: ReadStatement) -> None:
        """Record a MOVE that names a queue, or may give a handle to another item."""
        if "TO" not in said.keys:
            return
        to = said.keys.index("TO")
        step = _Step(
            (said.line, said.start),
            (said.paragraph, said.header),
            " ".join(said.texts[1:to]),
            said.line,
            said.copybook,
        )
        for at in range(to + 1, len(said.keys)):
            if said.keys[at] == _NAME:
                # Without a descriptor behind it, the program has only one.
                is_qualified = at + 2 < len(said.keys) and said.keys[at + 1] in {"OF", "IN"}
                self._described.add(said.keys[at + 2] if is_qualified else "", step)
            elif to == 2 and said.kinds[1] == "word" and said.kinds[at] == "word":
                self._handles.add(said.keys[at], step)

    def _of_descriptor(self, at: _Step, call: WrittenCall) -> Sequence[_Queue]:
        """Return the queues that the descriptor of a call may name, at a place that may be that of the call."""
        descriptor = key(call.parameters[1])
        for name in (descriptor, ""):
            near = self._described.before(name, at)
            if near is not None:
                return [_named(near)]
        if descriptor not in self._all_described:
            steps = (*self._described.anywhere(descriptor), *self._described.anywhere(""))
            self._all_described[descriptor] = _distinct(map(_named, steps))
        return self._all_described[descriptor]

    def _of_handle(self, handle: str, at: _Step, moves: int) -> Sequence[_Queue]:
        """Return the queues that a handle may be of at a place, to which some moves lead."""
        near = self._handles.before(handle, at)
        if near is not None:
            return self._of_step(near, moves)
        if handle not in self._all_handles:
            self._all_handles[handle] = ()  # for handles that are moved in a circle
            steps = self._handles.anywhere(handle)
            self._all_handles[handle] = _distinct(queue for step in steps for queue in self._of_step(step, moves))
        return self._all_handles[handle]

    def _of_step(self, step: _Step, moves: int) -> Sequence[_Queue]:
        """Return the queues of the handle that a statement gives, to which some moves lead."""
        if not isinstance(step.said, str):
            return self._of_descriptor(step, step.said)
        return self._of_handle(key(step.said), step, moves + 1) if moves < _MOST_MOVES else ()


def _named(step: _Step) -> _Queue:
    """Return the queue that a MOVE to a descriptor names."""
    return _Queue(step.said if isinstance(step.said, str) else "", step.line, step.copybook)


def _distinct(queues: Iterable[_Queue]) -> Sequence[_Queue]:
    """Return the first queues that differ, one more than a call may use."""
    found: dict[str, _Queue] = {}
    for queue in queues:
        found.setdefault(key(queue.text), queue)
        if len(found) > _MOST_QUEUES:
            break
    return tuple(found.values())


def operations(code: Code, values: Values, calls: tuple[WrittenCall, ...]) -> tuple[MqOperation, ...]:
    """Return the calls of MQI in source order.

    Args:
        code: The statements, for the MOVEs to descriptors.
        values: The values of data items, for queues named by an item.
        calls: The CALLs.
    """
    asked = [call for call in calls if _CALL.fullmatch(_name(call))]
    if not asked:
        return ()
    found = _Found(code, asked)
    return tuple(_operation(call, found.of(call), code, values) for call in asked)


def _operation(call: WrittenCall, queues: Sequence[_Queue], code: Code, values: Values) -> MqOperation:
    """Return one call: with the literal or item that names its queue, or with the item of the descriptor if there are several."""
    queue = _NAME if len(queues) > 1 else queues[0].text if queues else None
    resolved = [value for one in queues for value in _values(one, values)]
    return MqOperation(
        call=_name(call),
        queue=queue,
        resolved=tuple({value.value: value for value in resolved}.values()),
        parameters=call.parameters,
        line=call.line,
        end_line=call.end_line,
        paragraph=code.name(call.paragraph, call.header),
        copybook=call.copybook,
    )


def _values(queue: _Queue, values: Values) -> tuple[Resolved, ...]:
    """Return the names that a queue may have."""
    said = literal(queue.text)
    return values.of(queue.text) if said is None else (Resolved(said, "MOVE", queue.line, queue.copybook),)


def _opening(call: WrittenCall) -> _Step:
    """Return a call as what gives a handle its value."""
    return _Step((call.line, call.site.start), (call.paragraph, call.header), call, call.line, call.copybook)


def _name(call: WrittenCall) -> str:
    """Return the name of a called program in capitals, without quotes."""
    return call.target.strip("'\"").strip().upper()
