"""Which words say little? Those of every question, those of every program; and how programs write the others.

English and the customs of programs only: nothing here knows any tree. Keeps out: what is asked (`question`).
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["value", "number", "error", "place", "code", "meaning", "parts", "result", "call", "detail"]


def stem_of(word: str) -> str:
    """Without the end that inflects it, as long as four letters stay."""
    if word.endswith("ies") and len(word) > 5:
        return word[:-3]
    if word.endswith("y") and len(word) > 4 and word[-2] not in "aeioul":
        return word[:-1]
    for end in ("ing", "ed", "ly", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= 4 and not word.endswith(("ss", "us")):
            stem = word[: -len(end)]
            return stem[:-1] if end in ("ing", "ed") and stem[-1] == stem[-2] and stem[-1] not in "sl" else stem
    return word


def root_of(word: str) -> str:
    """What a word that names a doer, or what is done, shares with its kin: `logger`, logging."""
    stem = stem_of(word)
    for end in ("ations", "ation", "ers", "er", "ors", "or"):
        if stem.endswith(end) and len(stem) - len(end) >= 4:
            return stem[: -len(end)]
    return stem


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP = _listed(
    """
    a about after all also an and any anything are as at be been before being between both but by call called
    calls can could did do does doing done during each either else ever every for from get gets give given gives
    go goes had has have having he her here his how i if in inside into is it its itself just kind let like
    likely made make makes many may me might more most much must my name named names need needs next no none nor not nothing
    now of off on once one only or other our out over own per please put same say says see shall she should show
    so some such take takes tell than that the their them then there these they thing things this those through
    to too under until up upon us use used uses user using very via want was way we were what whatever when
    where whether which while who whom whose why will with within without would you your out happens happen
    exactly actually really work works long often large big deep far first mean means meant codebase file files
    folder repository project python tree stdlib implemented implementation implement defined define defines
    definition located live lives find found written contain contains come comes kept keep keeps belong provide
    provides provided answer question continue resume proceed go again yes ok okay thanks thank hello hi help
    """
)
"""Words of every question."""

_GENERIC = frozenset(
    map(
        stem_of,
        _listed(
            """
            default value number error library standard type string object raise return set program maximum minimum size limit
            message text byte data list result input output time line code read write
            """
        ),
    )
)
_KIND_OF_NAME = re.compile(
    r"(?:module|package|class|function|method|constant|exception|variable|parameter|argument|attribute|decorator|keyword|flag|"
    r"option)(?:s|es)?"
)

SHORT = {  # how programs shorten a word, or what else they call it
    "abort": "fail|raise|exit",
    "address": "addr",
    "argument": "arg",
    "attempt": "retr(?:y|ies)",
    "attribute": "attr",
    "broken": "bad|corrupt|invalid",
    "buffer": "buf",
    "calculate": "comput",
    "certificate": "cert",
    "character": "char",
    "child": "subprocess|proc",
    "column": "col",
    "command": "cmd",
    "compare": "cmp|equal|diff",
    "compute": "calculat",
    "configuration": "conf|cfg",
    "connection": "conn",
    "convert": "coerce|translat|parse",
    "copy": "dup|clone",
    "corrupt": "bad|broken|invalid",
    "create": "make|new",
    "damaged": "bad|corrupt|invalid",
    "database": "db",
    "default": "initial",
    "delay": "sleep|interval|wait",
    "delete": "remove|unlink|del",
    "delimiter": "delim|sep",
    "depth": "level|recurs|nest",
    "destination": "dst|dest",
    "detect": "guess|sniff",
    "digest": "hash|sha|md5",
    "directory": "dir",
    "duplicate": "dup|already|twice",
    "early": "incomplete|premature|eof",
    "ending": "terminat|eol|newline",
    "environment": "env",
    "exceed": "max|limit|too (?:many|long|large)",
    "exception": "exc|error",
    "execute": "exec",
    "expression": r"pattern|regexp?|re\b",
    "extension": "ext|suffix",
    "function": "func",
    "guess": "detect|sniff|infer",
    "hash": "digest|sha|md5",
    "ignore": "skip|exclude",
    "indentation": "indent",
    "initial": "init|default",
    "interval": "delay|period",
    "invalid": "bad|illegal|wrong",
    "keep": "retain|cache",
    "killed": "terminat|abort|abrupt",
    "largest": "max",
    "length": "len",
    "limit": "max",
    "longest": "max",
    "malformed": "bad|invalid|illegal",
    "maps": "mapping|dict|table",
    "maximum": "max|limit",
    "message": "msg",
    "minimum": "min",
    "missing": "not found|no such|unknown|required",
    "nested": "depth|level|recurs",
    "number": "num",
    "old": "backup|prev",
    "package": "pkg",
    "parameter": "param",
    "password": "passw",
    "pause": "delay|sleep|interval",
    "pending": "backlog|queue",
    "position": "pos",
    "precise": r"prec\b",
    "precision": r"prec\b",
    "previous": "prev",
    "protocol": "proto",
    "recursive": "walk|nest|depth",
    "remove": "delete|unlink|discard",
    "retry": "attempt",
    "second": "sec",
    "seconds": "timeout|delay|interval",
    "separator": "sep|delim",
    "signal": "sig",
    "skip": "ignore|exclude",
    "smallest": "min",
    "source": "src",
    "standard": "std",
    "startup": "init",
    "stop": "end|quit|halt",
    "table": "map|dict",
    "temporary": "te?mp",
    "throw": "raise",
    "turn": "translat|convert",
    "twice": "duplicate|already",
    "unknown": "unrecognized|invalid|no such",
    "variable": "var",
    "wait": "timeout|delay|sleep",
    "whitespace": "space|blank",
    "width": "col",
    "worker": "proc|thread",
    "wrap": "fold|fill|width",
    "wrong": "invalid|bad|illegal",
}


def is_generic(word: str) -> bool:
    """Whether a word stands on lines of every program."""
    return stem_of(word) in _GENERIC


def is_kind_of_name(word: str) -> bool:
    """Whether it only says what kind of name is meant: `class`, `module`."""
    return _KIND_OF_NAME.fullmatch(word) is not None


def short_of(word: str) -> str | None:
    """How programs shorten it, as a pattern."""
    stem = stem_of(word)
    return next((SHORT[form] for form in (word, stem, f"{stem}y", f"{stem}e") if form in SHORT), None)


KINDS: dict[Kind, str] = {
    "value": (
        r"defaults?|values?|equals?|maximum|minimum|max|min|how (?:many|much|long|large|big|often|deep|far|wide|small)|what size|"
        r"limits?|timeout|constant|threshold|port|version|code|number|size|length|set to|initial|when (?:none|nothing) is given|"
        r"do not pass|is not given|(?:which|what) (?:regular expression|regex|pattern)"
    ),
    "number": r"how (?:many|much|long|large|big|often|deep|far|wide|small|old)|maximum|minimum|at most|at least",
    "error": r"exceptions?|errors?|rais\w+|thrown?|throws|fails?|messages?|complain\w*|warn\w*",
    "place": (
        r"where|(?:which|what) (?:file|module|function|method|class|script|package|header|section|paragraph)|"
        r"defined|implemented|located|lives?"
    ),
    "code": r"^(?:in )?(?:which|what) (?:\w+ ){0,2}(?:function|method|class|decorator)",
    "meaning": r"what (?:does|is|are|do)|purpose|describes?|mean(?:s|ing|t)?|stands? for|how (?:does|is|are|do)|why",
    "result": r"(?<!a )returns?|gives? back|yields?|what type|calls? when|which function does",
    "detail": (
        r"^(?:with|from|into?|by|to|at|for|on) (?:which|what)|"
        r"(?:which|what) (?!exception|error|warning|message|class|function|method)\w+ (?:\w+ )?(?:do|does|did)"
    ),
    "call": r"(?:which|what) (?:\w+ ){0,2}calls?|who calls|where is .* called|callers?",
    "parts": r"(?:what|which) (?:\w+ ){0,2}(?:classes|functions|methods|sections|headings|paragraphs|members|keys)",
}
"""How a question shows what kind of line would answer it."""
