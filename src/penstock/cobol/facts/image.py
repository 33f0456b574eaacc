"""Which data sets of an IMAGE database does a program of the HP 3000 read and write, by the calls of its intrinsics?

The second parameter of each has the name of the data set, which ends in a blank or a semicolon, as in `"CUSTOMERS;"`; its number,
which the schema gives it, says nothing here. Source: HP, TurboIMAGE/XL Database Management System Reference Manual.
Law: a call counts only if it has the parameters of the intrinsic of its name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .resolving import literal
from .resources import NetworkOperation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .calls import WrittenCall
    from .code import Code
    from .reaching import Reaching

_PARAMETERS = {"DBFIND": 6, "DBGET": 7, "DBPUT": 6, "DBUPDATE": 6, "DBDELETE": 4}
_DATA_SET, _BUFFER = 1, 5
_WITHOUT_BUFFER = frozenset({"DBFIND", "DBDELETE"})
_NAME = re.compile(r"([A-Za-z][\w+\-*/?'#%&@]{0,15})[ ;,]*")


def asked(calls: Sequence[WrittenCall]) -> list[WrittenCall]:
    """Return the calls that use a data set."""
    return [call for call in calls if len(call.parameters) == _PARAMETERS.get(call.name)]


def operations(code: Code, reaching: Reaching, calls: Sequence[WrittenCall]) -> Iterator[NetworkOperation]:
    """Yield what calls do with data sets; those whose data set is not known are left out.

    Args:
        code: The statements.
        reaching: The values of items at a statement, which follows the second parameters of the calls.
        calls: The CALLs.
    """
    for call in asked(calls):
        said = call.parameters[_DATA_SET]
        known = literal(said)
        reached = None if known is not None else reaching.at(said, call.site)
        values = {known: None} if reached is None else {value.value: value for value in reached.values}
        names = {found[1].upper(): value for text, value in values.items() if (found := _NAME.fullmatch(text or ""))}
        for name, value in names.items():
            yield NetworkOperation(
                verb=call.name,
                record=name,
                within=None,
                text=f"CALL {call.name} {name}",
                line=call.line,
                end_line=call.end_line,
                paragraph=code.name(call.paragraph, call.header),
                copybook=call.copybook,
                area=None if call.name in _WITHOUT_BUFFER else call.parameters[_BUFFER],
                said_by=value,
                is_sure=reached is None or (reached.is_sure and len(names) == 1),
            )
