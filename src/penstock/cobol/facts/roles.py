"""Which operands does a verb read, which does it write, and which words change the role of those that follow?

A verb gives its first operands a role, and each of its words may change the role of the next ones: in `ADD A TO B GIVING C`, A is
read, the operands after TO are read and written, and those after GIVING are written. The roles are in a table (`_ROLES`), and so
are the options of CICS commands. Leaves to others: which items the operands are (`references`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..verbs import STRANGE
from ..words import vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .code import ReadStatement
    from .execs import ExecCommand

# Bits: BOTH is READ | WRITE. An item passed by reference may be written by another program, but this one does not write it.
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
_OF_THREADS = {**dict.fromkeys(("SIZE", "STATUS"), WRITE), "BEFORE": READ}
# By verb: the role of its first operands, and of the operands after each of its words. A verb not listed here only reads; operands
# with NONE are not data (files, paragraphs, procedures).
_ROLES: dict[str, tuple[int, dict[str, int]]] = {
    "MOVE": (READ, {"TO": WRITE}),
    "ADD": (READ, {"TO": BOTH, "GIVING": WRITE, "SIZE": NONE}),
    "SUBTRACT": (READ, {"FROM": BOTH, "GIVING": WRITE, "SIZE": NONE}),
    "MULTIPLY": (READ, {"BY": BOTH, "GIVING": WRITE, "SIZE": NONE}),
    "DIVIDE": (READ, {"INTO": BOTH, "BY": READ, "GIVING": WRITE, "REMAINDER": WRITE, "SIZE": NONE}),
    "COMPUTE": (WRITE, {"=": READ, "EQUAL": READ, "EQUALS": READ, "SIZE": NONE}),
    "SET": (WRITE, {"TO": READ, "BY": READ}),
    "INITIALIZE": (WRITE, {"REPLACING": READ, "VALUE": READ, "DEFAULT": READ}),
    # Controls of a screen: MODIFY sets properties, INQUIRE gets them, DISPLAY may return the handle of a new one.
    "INQUIRE": (READ, {"IN": WRITE}),
    "DISPLAY": (READ, {"HANDLE": WRITE, "POP-UP": WRITE}),
    # The screen is an operand, the workstation's file is not; what the screen shows and takes is known by its description.
    "DISPLAY AND READ": (
        READ,
        {
            **dict.fromkeys(("AND", "READ", "ALTERED", "PFKEY", "PFKEYS"), READ),
            **dict.fromkeys(("ON", "ONLY", "NO-MOD"), NONE),
        },
    ),
    "ACCEPT": (
        WRITE,
        {
            **dict.fromkeys(("FROM", "LINE", "COLUMN", "COL", "POSITION", "AT", "SIZE", "CONTROL", "TIME"), READ),
            "CURSOR": BOTH,
            "KEY": WRITE,  # CONTROL KEY IN item
        },
    ),
    # RM/COBOL and ACUCOBOL put the key that ended the input into the item of ON EXCEPTION, if there is one.
    "ON EXCEPTION": (WRITE, {}),
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
    "EXAMINE": (READ, {"TALLYING": READ, "REPLACING": READ}),
    "TRANSFORM": (BOTH, {"FROM": READ, "TO": READ}),
    "INSPECT": (READ, {"TALLYING": BOTH, "FOR": READ, "REPLACING": READ, "CONVERTING": READ}),
    "PERFORM": (
        READ,
        {"VARYING": BOTH, "AFTER": BOTH, "FROM": READ, "BY": READ, "UNTIL": READ, "TIMES": READ, "HANDLE": WRITE},
    ),
    "CALL": (READ, {**_PASSING, "HANDLE": WRITE}),
    "CHAIN": (READ, _PASSING),
    # A communication description, or a message of a thread (`roles_of`).
    "RECEIVE": (READ, {"INTO": WRITE}),
    "WAIT": (READ, _OF_THREADS),
    "ENTER": (NONE, _PASSING),
    "INVOKE": (READ, {"USING": PASS, "REFERENCE": PASS, "CONTENT": READ, "VALUE": READ, "RETURNING": WRITE}),
    "SEARCH": (READ, {"VARYING": BOTH, "AT": NONE}),
    "SORT": (
        BOTH,
        {
            **dict.fromkeys(("ASCENDING", "DESCENDING", "KEY"), READ),
            **dict.fromkeys(("USING", "GIVING", "INPUT", "OUTPUT"), NONE),
        },
    ),
    "MERGE": (NONE, {"KEY": READ, "USING": NONE, "GIVING": NONE, "OUTPUT": NONE}),
    "GO TO": (NONE, {"ON": READ, "DEPENDING": READ}),
    "XML GENERATE": (WRITE, {"FROM": READ, "COUNT": WRITE}),
    "XML PARSE": (READ, {"PROCESSING": NONE}),
    "JSON GENERATE": (WRITE, {"FROM": READ, "COUNT": WRITE}),
    "JSON PARSE": (READ, {"INTO": WRITE}),
    # Network databases: OBTAIN and GET read a record into storage, STORE and MODIFY send it, the others only identify one.
    **dict.fromkeys(("OBTAIN", "FETCH", "GET", "LOCK", "SECURE", "CREATE"), (WRITE, _NAVIGATING)),
    "STORE": (READ, _NAVIGATING),
    "MODIFY": (READ, {**_NAVIGATING, "GIVING": WRITE}),
    **dict.fromkeys(
        ("FIND", "ERASE", "CONNECT", "DISCONNECT", "INSERT", "REMOVE", "BIND", "READY", "KEEP"), (NONE, _NAVIGATING)
    ),
    STRANGE: (NONE, {}),
    "ALLOCATE": (WRITE, {"RETURNING": WRITE}),
    "FREE": (WRITE, {}),
    "CLOSE": (NONE, {"WINDOW": READ}),  # the handle that DISPLAY gave; else files
    **dict.fromkeys(vocabulary("ALTER OPEN USE ENTRY COPY EXIT CONTINUE NEXT REPLACE NOTE"), (NONE, {})),
}
_INDICATORS = frozenset({"INDICATOR", "INDICATORS", "INDIC"})
ROLES_BEHIND = {
    **dict.fromkeys(("MODIFY", "DISPLAY", "ON EXCEPTION", "XML GENERATE", "JSON GENERATE"), READ),
    "INQUIRE": WRITE,
}
"""By verb: the role of what follows an operand, regardless of the role of that operand."""

# Options of CICS commands that return data; the argument of any other is read.
_CICS_WRITES_ALWAYS = frozenset({"INTO", "SET", "RESP", "RESP2", "NUMITEMS", "NUMREC", "RETCODE", "STATE"})
_CICS_WRITES = {
    "ASKTIME": {"ABSTIME"},
    "FORMATTIME": vocabulary("""
    YYMMDD YYYYMMDD MMDDYY MMDDYYYY DDMMYY DDMMYYYY YYDDD YYYYDDD YYDDMM YYYYDDMM DATE TIME DAYCOUNT DAYOFMONTH DAYOFWEEK
    MONTHOFYEAR YEAR DATESTRING STRINGFORMAT FULLDATE DATEFORM MILLISECONDS
"""),
    "CONVERTTIME": {"ABSTIME"},
    "READNEXT": {"RIDFLD", "LENGTH", "TOKEN"},
    "READPREV": {"RIDFLD", "LENGTH", "TOKEN"},
    "READ": {"LENGTH", "TOKEN"},
    "READQ TS": {"LENGTH"},
    "READQ TD": {"LENGTH"},
    "RECEIVE": {"LENGTH", "FLENGTH"},
    "CONVERSE": {"TOLENGTH", "TOFLENGTH"},
    "RETRIEVE": {"LENGTH", "RTRANSID", "RTERMID", "QUEUE"},
    "GET CONTAINER": {"FLENGTH", "CCSID"},
    "GET COUNTER": {"VALUE"},
    "GET DCOUNTER": {"VALUE"},
    "QUERY": {"VALUE", "MINIMUM", "MAXIMUM", "READ", "UPDATE", "CONTROL", "ALTER"},
    "BIF DEEDIT": {"FIELD"},
    "BIF DIGEST": {"RESULT"},
    "DOCUMENT CREATE": {"DOCTOKEN", "DOCSIZE"},
    "DOCUMENT INSERT": {"DOCSIZE"},
    "DOCUMENT RETRIEVE": {"LENGTH"},
    "DUMP": {"DUMPID"},
    "GETNEXT": {"ACTIVITY", "CONTAINER", "EVENT", "PROCESS"},
    "LOAD": {"ENTRY", "FLENGTH", "LENGTH"},
    "SPOOLREAD": {"TOFLENGTH"},
    "STARTBROWSE": {"BROWSETOKEN"},
    "WEB CONVERSE": {"BODYCHARSET", "MEDIATYPE", "STATUSCODE", "STATUSLEN", "STATUSTEXT", "TOLENGTH"},
    "WEB EXTRACT": vocabulary("""
    HOST HOSTLENGTH HOSTTYPE HTTPMETHOD HTTPVERSION METHODLENGTH PATH PATHLENGTH PORTNUMBER QUERYSTRING QUERYSTRLEN REALM REALMLEN
    REQUESTTYPE SCHEME URIMAP VERSIONLEN
"""),
    "WEB OPEN": {"HTTPRNUM", "HTTPVNUM", "SESSTOKEN"},
    "WEB PARSE": vocabulary("HOST HOSTLENGTH HOSTTYPE PATH PATHLENGTH PORTNUMBER QUERYSTRING QUERYSTRLEN SCHEMENAME"),
    "WEB READ": {"VALUE", "VALUELENGTH"},
    "WEB READNEXT": {"HTTPHEADER", "FORMFIELD", "QUERYPARM", "NAMELENGTH", "VALUE", "VALUELENGTH"},
    "WEB RECEIVE": {"BODYCHARSET", "LENGTH", "MEDIATYPE", "STATUSCODE", "STATUSLEN", "STATUSTEXT", "TYPE"},
    "WRITE OPERATOR": {"REPLY", "REPLYLENGTH"},
    **dict.fromkeys(
        ("VERIFY", "CHANGE", "SIGNON"),
        vocabulary("CHANGETIME DAYSLEFT ESMREASON ESMRESP EXPIRYTIME INVALIDCOUNT LANGINUSE LASTUSETIME NATLANGINUSE"),
    ),
    "RUN": {"CHILD"},
    "FETCH": {"ANY", "CHANNEL", "COMPSTATUS", "ABCODE"},
    "WRITEQ TS": {"ITEM"},
    "SPOOLOPEN INPUT": {"TOKEN"},
    "SPOOLOPEN OUTPUT": {"TOKEN"},
}
_CICS_WRITES_ALL = frozenset({"ASSIGN", "ADDRESS", "EXTRACT", "INQUIRE"})
_CICS_ASKS = frozenset({"CONVID", "MAXPROCLEN", "SESSION", "SESSTOKEN", "USING"})
"""What the commands that return everything else read: the conversation of EXTRACT, the source of ADDRESS SET."""
_CICS_CHANGES = frozenset(
    {
        *("LENGTH", "FLENGTH", "TOLENGTH", "TOFLENGTH", "NAMELENGTH", "VALUELENGTH", "RIDFLD", "FIELD"),
        *("HOSTLENGTH", "METHODLENGTH", "PATHLENGTH", "QUERYSTRLEN", "REALMLEN", "STATUSLEN", "VERSIONLEN"),
    }
)
"""Of the options that return data, those that also pass it: lengths, the key of a browse, what BIF DEEDIT edits."""


def roles_of(said: ReadStatement) -> tuple[int, dict[str, int]]:
    """Return the role of the first operands of a statement, and that of the operands after each of its words."""
    start, switches = _ROLES.get(said.verb, (READ, {}))
    keys = said.keys
    if said.verb in {"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE"} and "GIVING" in keys:
        # With GIVING, the item after TO, FROM or INTO is only read; only the items of GIVING are written.
        switches = {word: READ if role == BOTH else role for word, role in switches.items()}
    elif said.verb == "SET" and keys[1:2] == ("ENVIRONMENT",) and keys[2:3] != ("TO",):
        # The name of a variable of the environment, and its value.
        start = READ
    elif said.verb == "ALLOCATE" and "CHARACTERS" in keys:
        start = READ
    elif said.verb == "EXAMINE" and "REPLACING" in keys:
        start = BOTH
    elif said.verb == "SET" and ("UP" in keys or "DOWN" in keys):
        # SET IX UP BY 1 reads the old value.
        start = BOTH
    elif said.verb == "MODIFY" and keys[2:3] not in ((), ("ON",)):
        # A control, whose properties are set; in IDMS, MODIFY has only the record.
        start = WRITE
    elif said.verb == "INSPECT" and ("REPLACING" in keys or "CONVERTING" in keys):
        start = BOTH
        switches = {**switches, "TALLYING": BOTH}
    elif said.verb in {"RECEIVE", "WAIT"} and "THREAD" in keys:
        # RECEIVE item FROM THREAD handle, or FROM ANY THREAD; a THREAD behind that gets the handle of the one that sent it.
        at = keys.index("THREAD")
        role = READ if "THREAD" not in keys[at + 1 :] else WRITE if keys[at - 1] in {"ANY", "LAST"} else BOTH
        start = WRITE if said.verb == "RECEIVE" else READ
        switches = {**_OF_THREADS, "FROM": READ, "THREAD": role}
    elif "THREAD" in keys and said.verb in {"CALL", "LOCK THREAD", "SEND", "STOP", "UNLOCK"}:
        behind = keys[keys.index("THREAD") + 1 :][:1]
        if said.verb != "CALL" or (behind and behind[0] not in _PASSING):  # CALL THREAD USING: the item THREAD
            switches = {**switches, "THREAD": READ}
    # WRITE record FROM area moves the area to the record, and writes the record.
    elif said.verb in {"WRITE", "REWRITE", "RELEASE"} and "FROM" in keys:
        start = BOTH
    if said.verb in {"READ", "WRITE", "REWRITE"} and (at := indicators_at(keys)) < len(keys):
        switches = {**switches, keys[at]: WRITE if said.verb == "READ" else READ}
    return start, switches


def indicators_at(keys: Sequence[str]) -> int:
    """Return where the indicators begin that a READ or WRITE of a display file gets or sends; the number of words for none."""
    places = (at for at in range(2, len(keys) - 1) if keys[at] in _INDICATORS and keys[at - 1] not in {"FROM", "INTO"})
    return next(places, len(keys))


def role_of_option(command: ExecCommand, option: str) -> int:
    """Return the role of the argument of an option of a CICS or DL/I command; anything in its parentheses is read."""
    verb = command.name.partition(" ")[0]
    is_any = verb in _CICS_WRITES_ALL and option not in _CICS_ASKS
    if verb == "INQUIRE" and option == command.options[0][0]:
        # The name of the resource; with NEXT, the place for the name of the next one.
        is_any = command.has("NEXT")
    if option == "ITEM" and command.has("REWRITE"):
        return READ
    if not is_any and option not in _CICS_WRITES_ALWAYS and option not in _CICS_WRITES.get(command.name, ()):
        return READ
    return BOTH if option in _CICS_CHANGES and verb not in {"LOAD", "SPOOLREAD"} else WRITE
