"""Which calls of the MQ interface (MQI) does a program make, and which queue does each use?

The queue is found in three steps: MQGET names a handle, which may be moved from another one; the MQOPEN that filled the handle
names a descriptor; and a MOVE to the object name of that descriptor names the queue. What is nearest before in the same paragraph
counts, if it certainly runs and nothing performed in between may do it anew; without that, whatever the program has anywhere,
which may be several queues. Leaves to others: which queue manager.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from ..program import key
from .code import is_inline
from .resolving import literal
from .resources import MqOperation, ReachedValues, Resolved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .calls import WrittenCall
    from .code import Code, ReadStatement, Site
    from .reaching import Reaching
    from .resolving import Values

_CALL = re.compile(
    r"MQ(?:CONN|CONNX|DISC|OPEN|CLOSE|GET|PUT|PUT1|INQ|SET|BEGIN|CMIT|BACK|SUB|SUBRQ|CB|CTL|STAT|CRTMH|DLTMH)"
)
_NAME = "MQOD-OBJECTNAME"
_MOST_QUEUES = 8
"""The maximum number of queues that one call may use; if there are more, none is told."""
_MOST_BEFORE = 50
"""How many statements of a paragraph that may give an item its value are looked at, from the last on."""
_MOST_MOVES = 5
"""How many MOVEs from handle to handle are followed."""


class _Queue(NamedTuple):
    """A queue as a program names it."""

    text: str
    """The literal or data item."""
    line: int
    copybook: str | None
    """The place of the MOVE that names it."""
    site: Site | None
    """The MOVE; None if others may name the queue, too."""


class _Step(NamedTuple):
    """A statement that gives an item a value: a descriptor its queue, a handle its queue or that of another handle."""

    order: tuple[int, int]
    place: tuple[int, str]
    """The paragraph, and the one in its copybook."""
    said: str | WrittenCall
    """The text of the sender, or the MQOPEN."""
    line: int
    copybook: str | None
    site: Site


class _Steps:
    """The statements that give items values, by item.

    Args:
        runs: What certainly runs before what.
    """

    def __init__(self, runs: _Runs) -> None:
        self._of: dict[str, dict[tuple[int, str], list[_Step]]] = {}
        self._runs = runs

    def add(self, name: str, step: _Step) -> None:
        """Add a statement; those of a paragraph come in their order."""
        self._of.setdefault(name, {}).setdefault(step.place, []).append(step)

    def sort(self) -> None:
        """Put the statements of each paragraph in their order."""
        for places in self._of.values():
            for steps in places.values():
                steps.sort(key=lambda step: step.order)

    def before(self, name: str, at: _Step) -> Sequence[_Step]:
        """Return the statements of which one gave an item its value before another in the same paragraph; none if that may have
        been done elsewhere.
        """
        places = self._of.get(name, {})
        steps = places.get(at.place, ())
        number = bisect_left(steps, at.order, key=lambda step: step.order)
        # Back to the one that certainly runs: those behind it may be in branches that are not taken.
        for first in range(number - 1, max(-1, number - 1 - _MOST_BEFORE), -1):
            if self._runs.is_certain(steps[first], at):
                is_done_again = len(places) > 1 and self._runs.performs_between(steps[first], at)
                return () if is_done_again else steps[first:number]
        return ()

    def anywhere(self, name: str) -> Iterator[_Step]:
        """Yield all statements that give an item a value."""
        for steps in self._of.get(name, {}).values():
            yield from steps


class _Runs:
    """Which statements of a paragraph certainly run before others.

    Args:
        code: The statements.
    """

    def __init__(self, code: Code) -> None:
        self._ends: dict[Site, tuple[int, int]] = {}
        """Where the branch ends that has a statement; none for those that are in no branch."""
        self._performs: dict[tuple[int, str], list[tuple[int, int]]] = {}
        """Where each paragraph performs others."""
        opened: list[ReadStatement] = []
        last: ReadStatement | None = None
        for said in code.said:
            order = said.line, said.start
            if last is not None and _piece(last) != _piece(said):
                self._ends.update((one.site, (last.line, last.start + 1)) for one in opened)
                opened = []
            while opened and (opened[-1].depth > said.depth or opened[-1].sentence != said.sentence):
                self._ends[opened.pop().site] = order
            if said.depth and said.verb in {"MOVE", "CALL"}:
                opened.append(said)
            elif said.verb == "PERFORM" and not is_inline(said.keys):
                self._performs.setdefault((said.paragraph, said.header), []).append(order)
            last = said
        for orders in self._performs.values():
            orders.sort()

    def is_certain(self, one: _Step, other: _Step) -> bool:
        """Return whether a statement before another in its paragraph runs whenever that does."""
        return one.site not in self._ends or other.order < self._ends[one.site]

    def performs_between(self, one: _Step, other: _Step) -> bool:
        """Return whether something is performed between two statements of a paragraph."""
        orders = self._performs.get(one.place, ())
        at = bisect_left(orders, one.order)
        return at < len(orders) and orders[at] < other.order


class _Found:
    """The queues of the calls of a program.

    Args:
        code: The statements, for the MOVEs to descriptors and handles.
        asked: The calls.
    """

    def __init__(self, code: Code, asked: Iterable[WrittenCall]) -> None:
        runs = _Runs(code)
        self._described, self._handles = _Steps(runs), _Steps(runs)
        self._all_described: dict[str, Sequence[_Queue]] = {}
        self._all_handles: dict[str, Sequence[_Queue]] = {}
        for said in code.of("MOVE"):
            self._move(said)
        for call in asked:
            if call.name == "MQOPEN" and len(call.parameters) > 3:
                self._handles.add(key(call.parameters[3]), _opening(call))
        self._described.sort()
        self._handles.sort()

    def of(self, call: WrittenCall) -> Sequence[_Queue]:
        """Return the queues that a call may use; none if there are too many."""
        if len(call.parameters) < 2:
            return ()
        is_opening = call.name in {"MQOPEN", "MQPUT1"}
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
            said.site,
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
            if near:
                return _distinct(_named(step) for step in near)
        if descriptor not in self._all_described:
            steps = (*self._described.anywhere(descriptor), *self._described.anywhere(""))
            self._all_described[descriptor] = _distinct(_named(step)._replace(site=None) for step in steps)
        return self._all_described[descriptor]

    def _of_handle(self, handle: str, at: _Step, moves: int) -> Sequence[_Queue]:
        """Return the queues that a handle may be of at a place, to which some moves lead."""
        near = self._handles.before(handle, at)
        if near:
            return _distinct(queue for step in near for queue in self._of_step(step, moves))
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
    return _Queue(step.said if isinstance(step.said, str) else "", step.line, step.copybook, step.site)


def _piece(said: ReadStatement) -> tuple[str | None, int, str]:
    """Return the paragraph of a statement, and the copybook that has it."""
    return said.copybook, said.paragraph, said.header


def _distinct(queues: Iterable[_Queue]) -> Sequence[_Queue]:
    """Return the first queues that differ, one more than a call may use."""
    found: dict[tuple[str, Site | None], _Queue] = {}
    for queue in queues:
        found.setdefault((key(queue.text), None if literal(queue.text) is not None else queue.site), queue)
        if len(found) > _MOST_QUEUES:
            break
    return tuple(found.values())


def operations(
    code: Code, values: Values, reaching: Reaching, calls: tuple[WrittenCall, ...]
) -> tuple[MqOperation, ...]:
    """Return the calls of the MQ interface, each with its queue if the program names it.

    Args:
        code: The statements, for the MOVEs to object descriptors.
        values: The values that items may have anywhere, for queues named by an item whose values are not followed.
        reaching: The values that items can have at a statement, for queues named by an item.
        calls: The CALLs.
    """
    asked = [call for call in calls if _CALL.fullmatch(call.name)]
    if not asked:
        return ()
    found = _Found(code, asked)
    used = [found.of(call) for call in asked]
    reaching.follow(queue.text for queues in used for queue in queues if literal(queue.text) is None)
    return tuple(_operation(call, queues, code, values, reaching) for call, queues in zip(asked, used, strict=True))


def _operation(
    call: WrittenCall, queues: Sequence[_Queue], code: Code, values: Values, reaching: Reaching
) -> MqOperation:
    """Return one call: with the literal or item that names its queue, or with the item of the descriptor if there are several."""
    named = [_values(one, values, reaching) for one in queues]
    texts = dict.fromkeys(one.text for one in queues)
    resolved = {value.value: value for one in named for value in one.values}
    return MqOperation(
        call=call.name,
        queue=_NAME if len(texts) > 1 else next(iter(texts), None),
        resolved=tuple(resolved.values()),
        is_sure=len(resolved) == 1 and all(one.is_sure for one in named),
        unknown=next((one.unknown for one in named if one.unknown), ""),
        parameters=call.parameters,
        line=call.line,
        end_line=call.end_line,
        paragraph=code.name(call.paragraph, call.header),
        copybook=call.copybook,
    )


def _values(queue: _Queue, values: Values, reaching: Reaching) -> ReachedValues:
    """Return the names that a queue may have."""
    said = literal(queue.text)
    if said is not None:
        return ReachedValues((Resolved(said, "MOVE", queue.line, queue.copybook),), True, "")
    reached = reaching.at(queue.text, queue.site)
    # The values of a table's elements are not followed.
    return reached if reached.values or "(" not in queue.text else reached._replace(values=values.of(queue.text))


def _opening(call: WrittenCall) -> _Step:
    """Return a call as what gives a handle its value."""
    return _Step((call.line, call.site.start), (call.paragraph, call.header), call, call.line, call.copybook, call.site)
