"""Which calls of the MQ interface (MQI) does a program make, and which queue does each use?

The queue is found in three steps: MQGET names a handle, the MQOPEN that filled the handle names a descriptor, and a
MOVE to the object name of that descriptor names the queue. Leaves to others: which queue manager.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..program import key
from .resources import MqOperation

if TYPE_CHECKING:
    from .calls import WrittenCall
    from .code import Code
    from .resolving import Values

_CALL = re.compile(
    r"MQ(?:CONN|CONNX|DISC|OPEN|CLOSE|GET|PUT|PUT1|INQ|SET|BEGIN|CMIT|BACK|SUB|SUBRQ|CB|CTL|STAT|CRTMH|DLTMH)"
)
_NAMES = frozenset({"MQOD-OBJECTNAME"})


def operations(code: Code, values: Values, calls: tuple[WrittenCall, ...]) -> tuple[MqOperation, ...]:
    """Return the calls of MQI in source order.

    Args:
        code: The statements, for the MOVEs to descriptors.
        values: The values of data items, for queues named by an item.
        calls: The CALLs.
    """
    asked = [call for call in calls if _CALL.fullmatch(call.target.strip("'\"").strip().upper())]
    if not asked:
        return ()
    described = _described(code)
    # Handles come first, because a PUT may precede the paragraph that opens its queue.
    handles: dict[str, str] = {}
    for call in asked:
        if _name(call) == "MQOPEN" and len(call.parameters) > 3:
            queue = described.get(key(call.parameters[1]))
            # The first MQOPEN of a handle decides: a handle used for two queues in turn cannot be resolved here.
            if queue is not None:
                handles.setdefault(key(call.parameters[3]), queue)
    found = []
    for call in asked:
        queue = None
        if len(call.parameters) > 1:
            about = key(call.parameters[1])
            queue = described.get(about) if _name(call) in {"MQOPEN", "MQPUT1"} else handles.get(about)
        found.append(
            MqOperation(
                call=_name(call),
                queue=queue,
                resolved=values.of(queue) if queue and queue[0] not in "'\"" else (),
                parameters=call.parameters,
                line=call.line,
                end_line=call.end_line,
                paragraph=code.name(call.paragraph, call.header),
                copybook=call.copybook,
            )
        )
    return tuple(found)


def _name(call: WrittenCall) -> str:
    """Return the name of a called program in capitals, without quotes."""
    return call.target.strip("'\"").strip().upper()


def _described(code: Code) -> dict[str, str]:
    """Return the queue moved to the object name of each descriptor (MOVE queue TO MQOD-OBJECTNAME OF descriptor)."""
    found: dict[str, str] = {}
    for said in code.of("MOVE"):
        if "TO" in said.keys:
            to = said.keys.index("TO")
            for at in range(to + 1, len(said.keys)):
                if said.keys[at] in _NAMES and at + 2 < len(said.keys) and said.keys[at + 1] in {"OF", "IN"}:
                    found.setdefault(said.keys[at + 2], " ".join(said.texts[1:to]))
    return found
