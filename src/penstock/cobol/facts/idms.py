"""Which statements of a program use IDMS or another network database: OBTAIN, FETCH, STORE, MODIFY, ERASE and so on?

Leaves to others: where a record or set is defined (in the schema, which is not among the estate's members).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..program import key
from ..verbs import NETWORK
from ..words import vocabulary
from .resources import NetworkOperation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .code import Code, ReadStatement

# The words that may come between the verb and the record that it names.
_BEFORE = vocabulary("KEEP EXCLUSIVE CALC ANY DUPLICATE FIRST LAST NEXT PRIOR OWNER CURRENT RECORD ALL")
_BEHIND = vocabulary("WITHIN TO FROM DB-KEY IS USING INTO PERMANENT SELECTIVE MEMBERS ON FOR USAGE-MODE")
_OF_RECORDS = vocabulary(
    "OBTAIN FETCH FIND GET STORE MODIFY ERASE DELETE CONNECT DISCONNECT INSERT REMOVE BIND KEEP FREE LOCK SECURE CREATE RECREATE"
)
_NO_RECORD = vocabulary("RUN-UNIT PROCEDURE TRANSACTION MAP TASK TABLE QUEUE SCRATCH TIME")
_TELLING = vocabulary("OBTAIN BIND FINISH ERASE STORE FIND CONNECT FETCH LOCK SECURE CREATE IMPART")


def operations(code: Code, files: Iterable[str]) -> tuple[NetworkOperation, ...]:
    """Return the statements of a network database in source order, those of copybooks included.

    A DELETE is one of them unless it names one of the files.
    """
    # The scanner reads most of these verbs as statements only in a program that uses such a database. COMMIT, MODIFY and the like
    # exist elsewhere, too, but those of SQL are in EXEC blocks, and those of the communication module name no record.
    if not code.of(*_TELLING):
        return ()
    of_files = {key(name) for name in files} | {"FILE"}
    return tuple(
        _operation(said, code)
        for said in code.of(*NETWORK, "DELETE")
        if said.verb != "DELETE" or of_files.isdisjoint(said.keys[1:2])
    )


def _operation(said: ReadStatement, code: Code) -> NetworkOperation:
    """Return one statement with the record and the set that it names."""
    keys = said.keys
    texts = list(said.texts)
    record = None
    # Statements about scratch areas, queues and maps name neither records nor sets.
    of_records = said.verb in _OF_RECORDS and _NO_RECORD.isdisjoint(keys[1:2])
    if of_records:
        at = next((n for n, word in enumerate(keys[1:], start=1) if word not in _BEFORE and not word.isdecimal()), 0)
        if at and keys[at] not in _BEHIND:
            record = texts[at]
    return NetworkOperation(
        verb=said.verb,
        record=record,
        within=_behind(keys, texts, "WITHIN", "TO", "FROM", "INTO") if of_records and said.verb != "BIND" else None,
        text=said.text(),
        line=said.line,
        end_line=said.end_line,
        paragraph=code.name(said.paragraph, said.header),
        copybook=said.copybook,
    )


def _behind(keys: Sequence[str], texts: Sequence[str], *words: str) -> str | None:
    """Return the word after the first of some words: the set or the area."""
    at = next((n for n, word in enumerate(keys) if word in words), len(keys))
    return texts[at + 1] if at + 1 < len(texts) else None
