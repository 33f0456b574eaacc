"""What does a verb do with its operands: which does it read, which does it write, and which words change that on the way?

A verb gives its first operands a role, and each of its words may change the role of what follows: in `ADD A TO B
GIVING C`, A is read, TO begins what is read and written, GIVING what is written. This is a table (`_ROLES`), and so are
the options of CICS commands. Leaves to others: which items the operands are (`references`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..procedure import STRANGE

if TYPE_CHECKING:
    from .code import ReadStatement

# Bits: BOTH is READ | WRITE. What is passed by reference may be written by another program, which is no write of
# this one.
READ, WRITE, BOTH, PASS, NONE = 1, 2, 3, 4, 0

_NAVIGATING = {
    **dict.fromkeys(("WITHIN", "TO", "FROM"), NONE),
    **dict.fromkeys(("DBNAME", "NODENAME", "DICTNAME", "DICTNODE", "DB-KEY", "USING", "AT"), READ),
}
_PASSING = {
    **dict.fromkeys(("USING", "REFERENCE"), PASS),
    **dict.fromkeys(("CONTENT", "VALUE"), READ),
    **dict.fromkeys(("RETURNING", "GIVING"), WRITE),
    "ON": NONE,
}
# By verb: the role of its first operands, and the role that begins at each of its words. A verb that is missing here
# only reads; one with NONE names no data (files, paragraphs, procedures).
_ROLES: dict[str, tuple[int, dict[str, int]]] = {
    "MOVE": (READ, {"TO": WRITE}),
    "ADD": (READ, {"TO": BOTH, "GIVING": WRITE, "SIZE": NONE}),
    "SUBTRACT": (READ, {"FROM": BOTH, "GIVING": WRITE, "SIZE": NONE}),
    "MULTIPLY": (READ, {"BY": BOTH, "GIVING": WRITE, "SIZE": NONE}),
    "DIVIDE": (READ, {"INTO": BOTH, "BY": READ, "GIVING": WRITE, "REMAINDER": WRITE, "SIZE": NONE}),
    "COMPUTE": (WRITE, {"=": READ, "EQUAL": READ, "EQUALS": READ, "SIZE": NONE}),
    "SET": (WRITE, {"TO": READ, "BY": READ}),
    "INITIALIZE": (WRITE, {"REPLACING": READ, "VALUE": READ, "DEFAULT": READ}),
    # Of the controls of a screen: MODIFY sets properties of one, INQUIRE gets them, DISPLAY may give a new one's handle.
    "INQUIRE": (READ, {"IN": WRITE}),
    "DISPLAY": (READ, {"HANDLE": WRITE, "POP-UP": WRITE}),
    "ACCEPT": (WRITE, {"FROM": READ, "LINE": READ, "COLUMN": READ, "AT": READ}),
    "READ": (NONE, {"INTO": WRITE, "KEY": READ, "AT": NONE, "INVALID": NONE}),
    "RETURN": (NONE, {"INTO": WRITE, "AT": NONE}),
    "WRITE": (READ, {"FROM": READ, "INVALID": NONE}),
    "REWRITE": (READ, {"FROM": READ, "INVALID": NONE}),
    "RELEASE": (READ, {"FROM": READ}),
    "DELETE": (NONE, {}),
    "START": (NONE, {"KEY": READ, "INVALID": NONE}),
    "STRING": (READ, {"INTO": WRITE, "POINTER": BOTH, "OVERFLOW": NONE}),
    "UNSTRING": (
        READ,
        {"INTO": WRITE, "DELIMITER": WRITE, "COUNT": WRITE, "POINTER": BOTH, "TALLYING": BOTH, "OVERFLOW": NONE},
    ),
    "INSPECT": (READ, {"TALLYING": BOTH, "FOR": READ, "REPLACING": READ, "CONVERTING": READ}),
    "PERFORM": (
        READ,
        {"VARYING": BOTH, "AFTER": BOTH, "FROM": READ, "BY": READ, "UNTIL": READ, "TIMES": READ},
    ),
    "CALL": (READ, _PASSING),
    "CHAIN": (READ, _PASSING),
    "ENTER": (NONE, _PASSING),
    "INVOKE": (READ, {"USING": PASS, "REFERENCE": PASS, "CONTENT": READ, "VALUE": READ, "RETURNING": WRITE}),
    "SEARCH": (READ, {"VARYING": BOTH, "AT": NONE}),
    "SORT": (READ, {"KEY": READ, "USING": NONE, "GIVING": NONE, "INPUT": NONE, "OUTPUT": NONE}),
    "MERGE": (NONE, {"KEY": READ, "USING": NONE, "GIVING": NONE, "OUTPUT": NONE}),
    "GO TO": (NONE, {"ON": READ, "DEPENDING": READ}),
    "XML GENERATE": (WRITE, {"FROM": READ, "COUNT": WRITE}),
    "XML PARSE": (READ, {"PROCESSING": NONE}),
    "JSON GENERATE": (WRITE, {"FROM": READ, "COUNT": WRITE}),
    "JSON PARSE": (READ, {"INTO": WRITE}),
    # Of IDMS and its kin: OBTAIN and GET bring the record, STORE and MODIFY send it, the others only say which one is meant.
    **dict.fromkeys(("OBTAIN", "FETCH", "GET", "LOCK", "SECURE", "CREATE"), (WRITE, _NAVIGATING)),
    "STORE": (READ, _NAVIGATING),
    "MODIFY": (READ, {**_NAVIGATING, "GIVING": WRITE}),
    **dict.fromkeys(
        ("FIND", "ERASE", "CONNECT", "DISCONNECT", "INSERT", "REMOVE", "BIND", "READY", "KEEP"), (NONE, _NAVIGATING)
    ),
    STRANGE: (NONE, {}),
    "ALLOCATE": (WRITE, {"RETURNING": WRITE}),
    "FREE": (WRITE, {}),
    **{
        verb: (NONE, {})
        for verb in (
            "ALTER",
            "OPEN",
            "CLOSE",
            "USE",
            "ENTRY",
            "COPY",
            "EXIT",
            "CONTINUE",
            "NEXT",
            "CANCEL",
            "REPLACE",
            "NOTE",
        )
    },
}
ROLES_BEHIND = {"MODIFY": READ, "INQUIRE": WRITE, "DISPLAY": READ}
"""By verb: the role of what follows an operand, whatever that had."""

_FORMATS = """
    YYMMDD YYYYMMDD MMDDYY MMDDYYYY DDMMYY DDMMYYYY YYDDD YYYYDDD YYDDMM YYYYDDMM DATE TIME DAYCOUNT DAYOFMONTH DAYOFWEEK
    MONTHOFYEAR YEAR DATESTRING STRINGFORMAT FULLDATE DATEFORM MILLISECONDS
"""
# Options of CICS commands by which data comes back; the argument of any other is read.
_CICS_WRITES_ALWAYS = frozenset({"INTO", "SET", "RESP", "RESP2", "NUMITEMS", "NUMREC", "RETCODE"})
_CICS_WRITES = {
    "ASKTIME": {"ABSTIME"},
    "FORMATTIME": set(_FORMATS.split()),
    "READNEXT": {"RIDFLD", "LENGTH"},
    "READPREV": {"RIDFLD", "LENGTH"},
    "READ": {"LENGTH"},
    "READQ TS": {"LENGTH"},
    "READQ TD": {"LENGTH"},
    "RECEIVE": {"LENGTH", "FLENGTH"},
    "RETRIEVE": {"LENGTH", "RTRANSID", "RTERMID", "QUEUE"},
    "GET CONTAINER": {"FLENGTH", "CCSID"},
    "RUN": {"CHILD"},
    "FETCH": {"ANY", "CHANNEL", "COMPSTATUS", "ABCODE"},
    "WRITEQ TS": {"ITEM"},
    "SPOOLOPEN INPUT": {"TOKEN"},
    "SPOOLOPEN OUTPUT": {"TOKEN"},
}
_CICS_WRITES_ALL = frozenset({"ASSIGN", "ADDRESS", "EXTRACT", "INQUIRE"})


def roles_of(said: ReadStatement) -> tuple[int, dict[str, int]]:
    """Return the role of the first operands of a statement, and the role that begins at each of its words."""
    start, switches = _ROLES.get(said.verb, (READ, {}))
    keys = said.keys
    if said.verb in {"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE"} and "GIVING" in keys:
        # With GIVING the item behind TO, FROM or INTO is an operand like the others: only what GIVING names is
        # written.
        switches = {word: READ if role == BOTH else role for word, role in switches.items()}
    elif said.verb == "SET" and ("UP" in keys or "DOWN" in keys):
        # SET IX UP BY 1 counts from what it was.
        start = BOTH
    elif said.verb == "MODIFY" and keys[2:3] not in ((), ("ON",)):
        # A control, which gets properties; the record of IDMS stands alone.
        start = WRITE
    elif said.verb == "INSPECT" and ("REPLACING" in keys or "CONVERTING" in keys):
        start = BOTH
        switches = {**switches, "TALLYING": BOTH}
    # WRITE record FROM area moves the area to the record and writes that.
    elif said.verb in {"WRITE", "REWRITE", "RELEASE"} and "FROM" in keys:
        start = BOTH
    return start, switches


def role_of_option(command: str, option: str) -> int:
    """Return what a command of CICS or DL/I does with the argument of an option; what stands in its parentheses is read."""
    is_any = command.partition(" ")[0] in _CICS_WRITES_ALL and option not in {"RESP", "NOHANDLE"}
    if not is_any and option not in _CICS_WRITES_ALWAYS and option not in _CICS_WRITES.get(command, ()):
        return READ
    # A length and the key of a browse are given, and come back.
    return BOTH if option in {"LENGTH", "FLENGTH", "RIDFLD"} else WRITE
