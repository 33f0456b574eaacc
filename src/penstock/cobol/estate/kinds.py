"""What kind is a file of a mainframe estate, by its content, or by its name if the content does not say?

Leaves to others: reading it. Law: any bytes have an answer, from their first few thousand.
"""

from __future__ import annotations

import re
from typing import Literal

from ..facts.commands import RUNTIMES
from ..words import vocabulary
from .csd import TABLE

Kind = Literal[
    "cobol",
    "copybook",
    "dclgen",
    "jcl",
    "proc",
    "bms",
    "csd",
    "ddl",
    "psb",
    "dbd",
    "dds",
    "cl",
    "script",
    "jsl",
    "control",
    "pli",
    "hlasm",
]
"""What a file can be. `pli` and `hlasm` are recognized but not read; `dclgen` is a copybook with the declaration of its
table; `control` has what a program of the system reads from SYSIN or SYSTSIN.
"""

COBOL_KINDS: frozenset[str] = frozenset({"cobol", "copybook", "dclgen"})
"""The kinds whose text is COBOL."""
DOCUMENTED_KINDS = COBOL_KINDS | {"dds"}
"""The kinds whose files have a page of their own: COBOL, and DDS, from which the compiler makes copybooks."""
HEAD_BYTES = 32_768
"""How many bytes at the beginning of a file decide its kind."""

_SUFFIXES: dict[str, Kind] = {
    **dict.fromkeys(("cbl", "cob", "cobol", "ccp", "pco", "sqb", "cblle"), "cobol"),
    **dict.fromkeys(("cpy", "copy", "cpb", "cbk", "cobcpy"), "copybook"),
    "dcl": "dclgen",
    "dclgen": "dclgen",
    **dict.fromkeys(("jcl", "job"), "jcl"),
    **dict.fromkeys(("prc", "proc"), "proc"),
    "bms": "bms",
    **dict.fromkeys(("csd", "rdo"), "csd"),
    "ddl": "ddl",
    "psb": "psb",
    "dbd": "dbd",
    **dict.fromkeys(("pf", "lf", "dspf", "prtf", "dds"), "dds"),
    **dict.fromkeys(("clp", "clle", "cl"), "cl"),
    **dict.fromkeys(("sh", "ksh", "bash", "csh", "bat", "cmd"), "script"),
    **dict.fromkeys(("pli", "pl1"), "pli"),
    **dict.fromkeys(("asm", "hlasm", "assemble", "mac"), "hlasm"),
}
_LEVEL = r"^(?:.{6} )?[ ]*(?:01|05|10|77)[ ]+[A-Z0-9][A-Z0-9-]*"
_CLAUSE = r"(?:[ ]*\.(?!\S)|[ ]+(?:PIC|PICTURE|REDEFINES|OCCURS|COMP|VALUE|USAGE)\b)"
_DIVISION = r"^(?:.{6} )?[ ]*(?:(?:IDENTIFICATION|ID)[ ]+DIVISION|(?:PROGRAM|FUNCTION|CLASS)-ID)[ ]*\."
# Tried in this order, because a job may have COBOL in its stream and COBOL may declare a table; `.{6} ` is the sequence
# area.
_PATTERNS: dict[Kind, str] = {
    "jcl": r"^//[A-Z$#@][A-Z0-9$#@]{0,7}[ ]+JOB(?:[ ]|$)",
    "proc": r"^//[A-Z$#@]?[A-Z0-9$#@]{0,7}[ ]+(?:PROC(?:[ ]|$)|EXEC[ ]+\S)",
    "bms": r"^(?!\*)[A-Z0-9$#@]*[ ]+DFHM(?:SD|DI)[ ]",
    "dbd": r"^(?!\*)[A-Z0-9$#@]*[ ]+DBD[ ]+NAME=",
    "psb": r"^(?!\*)[A-Z0-9$#@]*[ ]+(?:PCB[ ]+TYPE=|PSBGEN[ ])",
    "csd": r"^[ ]*DEFINE[ ]+(?:TRANSACTION|PROGRAM|FILE|MAPSET|LIBRARY|TDQUEUE|DB2ENTRY|DB2TRAN)[ ]*\(|<cicsdefinition\w+[ \t\r\n]|"
    + TABLE,
    "jsl": r"^/RUN[ ]+#?[A-Z][A-Z0-9@#-]*[ ]*(?:,[^;\n]*)?;",
    "cobol": _DIVISION,
    "dclgen": r"EXEC[ ]+SQL[ ]+DECLARE[ ]+\S+[ ]+TABLE",
    "ddl": r"^[ ]*CREATE[ ]+(?:(?:GLOBAL[ ]+TEMPORARY[ ]+)?TABLE|(?:OR[ ]+REPLACE[ ]+)?PROCEDURE)[ ]",
    "copybook": _LEVEL + _CLAUSE,
    "control": (
        r"^[ ]*(?:RUN[ ]+PROG(?:RAM)?[ ]*\(|DSN[ ]+SYSTEM[ ]*\(|REPRO[ ]+[IO]\w+[ ]*\(|(?:SORT|MERGE)[ ]+FIELDS=|"
        r"(?:DEFINE|DEF)[ ]+(?:CLUSTER|CL|ALTERNATEINDEX|AIX|PATH|GENERATIONDATAGROUP|GDG|NONVSAM)[ ]*\(|"
        r"(?:DELETE|DEL)[ ]+[('A-Z0-9$#@&%{<-]+\.\S|LOAD[ ]+(?:DATA|REPLACE|RESUME)\b|UNLOAD[ ]+(?:DATA|TABLESPACE|SHRLEVEL)\b|"
        r"(?:INSERT[ ]+INTO|DELETE[ ]+FROM)[ ]+[\w$#@.\"]+)"
    ),
    "dds": r"^(?:.{5}A|[ ]{6})[ ]{10}R[ ][A-Z#$@][A-Z0-9#$@_.]*[ ]*(?:$|[A-Z]+(?:\(|[ ]*$))",
}
_SIGNS = {kind: re.compile(pattern, re.IGNORECASE | re.MULTILINE) for kind, pattern in _PATTERNS.items()}
_WITHIN = {
    "jcl": ("//",),
    "proc": ("//",),
    "bms": ("DFHM",),
    "dbd": ("DBD",),
    "psb": ("PCB",),
    "csd": ("DEFIN", "DFHPCT", "DFHFCT", "KIKPCT", "KIKFCT"),
    "jsl": ("/RUN",),
    "dclgen": ("EXEC",),
    "ddl": ("CREATE",),
}
"""Words of which each match has one: searching for a word takes a hundredth of the time of a pattern, and most texts have none."""
_PGM = re.compile(
    r"(?im)^[ ]*(?:\w+:[ ]*)?PGM(?:[ ]+(?:PARM[ ]*)?[(&]|[ ]*\+?[ ]*(?:/\*.*)?$)|^[ ]*DCL[ ]+(?:VAR\()?&\w"
)
"""The command that begins a CL program, or a declaration if it has none; OpenCL and Lisp use the suffix, too."""
_TOOLS = "|".join(sorted({"cobc"} | RUNTIMES - {"anim", "run"}))
_SCRIPT = re.compile(
    rf"(?im)(?<![\w-])(?:{_TOOLS})(?![\w-])|(?<!\w)DD_\w+=|(?<!\w)setenv[ \t]+DD_\w|^[ \t]*\.[/\\][\w-]+(?:\.exe)?(?!\S)"
)
"""What a script has that runs programs in COBOL, or names their files; other commands are named `anim` and `run`, too.

The last form, `./prog`, may be anything: `shell.job` keeps it if it is a program of the estate.
"""
_SETS = re.compile(r"(?i)(?:(?:export|set|setenv|declare|typeset)[ \t]|[a-z_]\w*=)")
"""A command that sets a variable."""
_CARD = re.compile("^//", re.MULTILINE)
_PROC = re.compile(r"^//\S*[ ]+PROC(?:[ ]|$)", re.MULTILINE | re.IGNORECASE)
_MARGIN = re.compile(r"(?:[ ]*\n)*([ ]+)//[\w$#@*]")
"""Blanks before the first card: a job pasted from a screen or an editor brings the margin along, before every card."""
_CONTROLS = frozenset({"", "ctl", "cntl", "ctc", "parm", "parms", "sysin", "card", "cards"})
"""Suffixes of control statements, and that of members."""
_TEXTS = _CONTROLS | {"txt", "jsl", "inc", "src", "sql", "mbr", "pds"}
"""Suffixes that say nothing: the content decides."""
_USUAL = _TEXTS.union(_SUFFIXES)
_CERTAIN = frozenset({"cobol", "bms", "jcl", "dclgen", "csd"})
_OTHERS = vocabulary("""
    md rst adoc tex html htm xml json jsonl yaml yml toml csv tsv ini cfg conf properties py java kt scala c h cpp hpp
    cs js ts jsx tsx go rs rb php pl sh bat cmd ps1 rexx rex vue css scss sass less svg lst lis list listing trc log out rpt
    bak old orig rej diff patch idy int gnt lbr exe dll so zip gz tar pdf doc docx xls xlsx ppt pptx png jpg jpeg gif
    ico lock at
""")
"""Suffixes of other languages and formats, of the tests of compilers (Autotest), of compiler output, and of backups."""


def is_of_a_shop(name: str) -> bool:
    """Return whether the suffix of a file is a convention of a shop: neither one of sources nor one that says nothing."""
    return _suffix(name) not in _USUAL


def _suffix(name: str) -> str:
    """Return what is behind the last period of a file's name, in small letters; "" for none, as in `PROD.LIB(PAY)`."""
    last = name.rpartition("/")[2].rpartition(")")[2]
    return last.rpartition(".")[2].lower() if "." in last else ""


def kind_of(name: str, head: bytes) -> Kind | None:
    r"""Return the kind of a file; None if it does not belong to an estate.

    Args:
        name: Its path or name; only the suffix counts, and members of data sets have none.
        head: Its first bytes; no more than `HEAD_BYTES` are examined.

    Example:
        >>> kind_of("PAYJOB", b"//PAYJOB   JOB (ACCT)\n"), kind_of("notes.pdf", b"%PDF")
        ('jcl', None)
    """
    suffix = _suffix(name)
    by_name = _SUFFIXES.get(suffix)
    if by_name in {"pli", "hlasm"} and not (by_name == "hlasm" and _kind_of_text(head) in {"bms", "psb", "dbd", "csd"}):
        return by_name
    if by_name == "script":
        text = decoded(head[:HEAD_BYTES])
        return by_name if _SCRIPT.search(text) or _is_of_variables(text) else None
    # A file with a suffix of another world is not a member, whatever it contains: a manual quotes JCL, a listing a
    # program. An unknown suffix may be the convention of a shop; then only patterns count that hardly any other text matches.
    said = None if by_name is None and suffix in _OTHERS else _kind_of_text(head)
    if by_name is None:
        is_known = _is_control(suffix, head) if said == "control" else suffix in _TEXTS
        return said if is_known or said in _CERTAIN else None
    if said == "control":
        said = None
    if said is None and by_name in {"jcl", "proc"} and _CARD.search(decoded(head[:HEAD_BYTES])) is None:
        return None  # some shops use PRC for their procedures in COBOL or SQL
    if by_name == "cl":
        return by_name if _PGM.search(decoded(head[:HEAD_BYTES])) else None
    if by_name == "dds" and said not in {"cobol", "dds"}:
        return None  # other systems use these suffixes for anything
    if said is None or said == "ddl":
        return by_name
    if by_name == "jcl" and said == "proc" and _PROC.search(decoded(head[:HEAD_BYTES])) is None:
        return by_name  # steps alone: the card of their job is added when they are submitted
    if by_name == "cobol":
        return said if said not in {"copybook", "dclgen"} else by_name  # a header may follow the first bytes
    if by_name in {"copybook", "dclgen"} and said not in {"cobol", "copybook", "dclgen"}:
        return by_name
    return said


def _is_control(suffix: str, head: bytes) -> bool:
    """Return whether a text with control statements is made of them: a `.txt` file may tell of some, unless it begins with one."""
    begins = suffix == "txt" and _SIGNS["control"].match(decoded(head[:HEAD_BYTES]).lstrip("\n"))
    return suffix in _CONTROLS or bool(begins)


def decoded(data: bytes) -> str:
    """Return the text of a file that is not COBOL: EBCDIC if most blanks are EBCDIC's, or else UTF-8, or else Latin-1; lines
    end with a newline, and cards begin in their first column.
    """
    if data[:HEAD_BYTES].count(b"\x40") > max(len(data[:HEAD_BYTES]) // 10, 4 * data[:HEAD_BYTES].count(b"\x20")):
        text = data.decode("cp037").replace("\x85", "\n").replace("\x8e", "\n")
        if "\n" not in text and len(data) % 80 == 0:
            return "\n".join(text[at : at + 80] for at in range(0, len(text), 80))
        return text
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = text.replace("\r", "" if "\n" in text else "\n")
    margin = _MARGIN.match(text)
    return re.sub(f"(?m)^{margin[1]}", "", text) if margin else text


def _is_of_variables(text: str) -> bool:
    """Return whether a script does little but set variables, so that another one may source it."""
    lines = [line.strip() for line in text.split("\n")]
    said = [line for line in lines if line and not line.startswith(("#", "::", "@", "echo", "REM", "rem"))]
    return 2 * sum(_SETS.match(line) is not None for line in said) > len(said)


def _kind_of_text(head: bytes) -> Kind | None:
    """Return the first kind whose pattern matches a text; None for binary files."""
    text = decoded(head[:HEAD_BYTES])
    if "\0" in text:
        return None
    upper = text.upper()
    likely = (kind for kind in _SIGNS if kind not in _WITHIN or any(word in upper for word in _WITHIN[kind]))
    return next((kind for kind in likely if _SIGNS[kind].search(text)), None)
