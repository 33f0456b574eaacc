"""Which words say little? Those of every question, those of every program; and how programs write the others.

English and the customs of programs only: nothing here knows any tree. Keeps out: what is asked (`question`).
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal[
    "value", "number", "error", "place", "code", "meaning", "parts", "result", "call", "detail", "environment", "file"
]


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
    because already instead against somewhere someone somebody anybody everybody everything itself none cannot down two
    turns turned tell try tries look looks found find happening since without always
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
    "allow": "permit|enable|accept",
    "append": "add|extend",
    "argument": "arg",
    "attempt": "retr(?:y|ies)",
    "attribute": "attr",
    "backlog": "queue|pending",
    "begin": "start|init",
    "bigger": "exceed|limit|overflow|max|too (?:large|long|big)",
    "broken": "bad|corrupt|invalid",
    "buffer": "buf",
    "calculate": "comput",
    "certificate": "cert",
    "character": "char",
    "check": "valid|verif|test",
    "child": "subprocess|proc",
    "choose": "choice|select|prefer",
    "circular": "cycl|recurs|loop",
    "clean": "purge|clear|flush|remove",
    "clear": "reset|purge|flush",
    "close": "shutdown|shut|end",
    "collect": "gather",
    "column": "col",
    "command": "cmd",
    "common": "popular|frequent",
    "compare": "cmp|equal|diff",
    "compress": "zip|deflate|zlib",
    "compute": "calculat",
    "configuration": "conf|cfg",
    "connection": "conn",
    "convert": "coerce|translat|parse",
    "copy": "dup|clone",
    "corrupt": "bad|broken|invalid",
    "create": "make|new",
    "current": "cur|now",
    "cycle": "circular|loop",
    "damaged": "bad|corrupt|invalid",
    "database": "db",
    "decode": "unescape|unquote",
    "decrease": "decrement|lower",
    "default": "initial",
    "delay": "sleep|interval|wait",
    "delete": "remove|unlink|del",
    "delimiter": "delim|sep",
    "deny": "reject|disallow|refus",
    "deprecated": "obsolete|removed",
    "depth": "level|recurs|nest",
    "destination": "dst|dest",
    "detect": "guess|sniff",
    "different": "differ|mismatch",
    "digest": "hash|sha|md5",
    "directory": "dir",
    "disable": "off|suppress|inhibit",
    "discard": "drop|remove|ignore",
    "display": "show|print|format",
    "duplicate": "dup|already|twice",
    "early": "incomplete|premature|eof",
    "element": "elem|item",
    "empty": "blank|null",
    "enable": "activate",
    "encode": "escape|quote",
    "ending": "terminat|eol|newline",
    "environment": "env",
    "exceed": "max|limit|too (?:many|long|large)",
    "exceeded": "max|limit|too (?:many|long|large)",
    "exception": "exc|error",
    "execute": "exec",
    "exit": "quit|terminat|shutdown",
    "expression": r"pattern|regexp?|re\b",
    "extension": "ext|suffix",
    "extract": "unpack",
    "failed": "error|fail",
    "fallback": "default|otherwise",
    "fetch": "get|download|retriev|open",
    "forbid": "disallow|deny|prohibit|forbidden",
    "frequent": "common|popular",
    "function": "func",
    "guess": "detect|sniff|infer",
    "hash": "digest|sha|md5",
    "identifier": "id",
    "ignore": "skip|exclude",
    "illegal": "invalid|bad",
    "indentation": "indent",
    "index": "idx|offset",
    "information": "info",
    "initial": "init|default",
    "interval": "delay|period",
    "introduce": "greet|hello",
    "invalid": "bad|illegal|wrong",
    "item": "entr(?:y|ies)|elem",
    "join": "concat|merge",
    "keep": "retain|cache",
    "killed": "terminat|abort|abrupt",
    "large": "big|max|size",
    "largest": "max",
    "leak": "unreleased|unclosed",
    "length": "len",
    "limit": "max",
    "link": "symlink|readlink",
    "load": "import|read",
    "locale": "lang",
    "lock": "mutex|acquire",
    "log": "logg",
    "longest": "max",
    "lowest": "min",
    "malformed": "bad|invalid|illegal",
    "maps": "mapping|dict|table",
    "match": "regex|equal",
    "maximum": "max|limit",
    "memory": "mem",
    "merge": "join|combine|update",
    "message": "msg",
    "minimum": "min",
    "missing": "not found|no such|unknown|required",
    "mode": "flag",
    "modification": "mtime|modif|change",
    "modify": "change|alter|mtime",
    "multiple": "mult|many",
    "nested": "depth|level|recurs",
    "number": "num",
    "often": "freq|interval",
    "old": "backup|prev",
    "open": "fopen",
    "option": "opt",
    "optional": "opt",
    "order": "sort",
    "overwrite": "exist|replace|clobber",
    "package": "pkg",
    "parameter": "param",
    "password": "passw",
    "path": "dir",
    "pause": "delay|sleep|interval",
    "pending": "backlog|queue",
    "popular": "common|frequent",
    "position": "pos",
    "precise": r"prec\b",
    "precision": r"prec\b",
    "prefix": "startswith",
    "prevent": "guard|refus|reject|disallow",
    "previous": "prev",
    "process": "proc|pid",
    "protocol": "proto",
    "qualified": "fqdn|qualname",
    "random": "rand",
    "readable": "permission|mode|chmod|access",
    "reconnect": "retry|connect",
    "recursive": "walk|nest|depth",
    "reference": "ref",
    "refuse": "reject|not allowed|disallow|invalid",
    "regular": "regex",
    "reject": "refus|not allowed|disallow|invalid",
    "release": "unlock|free|clos",
    "remove": "delete|unlink|discard",
    "replace": "subst|sub",
    "request": "req",
    "response": "resp|reply",
    "result": "res|ret",
    "retry": "attempt",
    "second": "sec",
    "seconds": "timeout|delay|interval",
    "separator": "sep|delim",
    "sequence": "seq",
    "server": "srv|daemon",
    "share": "shm",
    "signal": "sig",
    "size": "len|length|bytes|threshold",
    "skip": "ignore|exclude",
    "sleep": "delay|wait|pause",
    "slow": "duration|delay",
    "smallest": "min",
    "source": "src",
    "special": "magic",
    "split": "partition|chunk",
    "standard": "std",
    "startup": "init",
    "stop": "end|quit|halt",
    "store": "save|keep|cache",
    "stored": "save|keep|cache",
    "string": "str",
    "subclass": "inherit|extend|bases?",
    "suffix": "endswith|ext",
    "symbolic": "sym|symlink",
    "table": "map|dict",
    "temp": "tmp",
    "temporary": "te?mp",
    "terminal": "tty|console",
    "threshold": "limit|min|max",
    "throw": "raise",
    "tmp": "temp",
    "trailing": "rstrip|end|suffix",
    "translation": "trans|locale|gettext",
    "truncate": "cut|short|limit",
    "turn": "translat|convert",
    "twice": "duplicate|already",
    "unknown": "unrecognized|invalid|no such",
    "unpack": "extract",
    "uppercase": "upper",
    "validate": "check|verif",
    "variable": "var",
    "version": "ver",
    "wait": "timeout|delay|sleep",
    "weight": "wt",
    "whitespace": "space|blank",
    "width": "col",
    "window": "win",
    "worker": "proc|thread",
    "wrap": "fold|fill|width",
    "write": "dump|output|save",
    "wrong": "invalid|bad|illegal|error",
    "zone": "tz|zoneinfo",
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


_NUMBER = (
    "how (?:many|much|long|large|big|often|deep|far|wide|small|old|slow|fast|soon|high|low|late|near)|max(?:imum)?|min(?:imum)?|"
    "at most|at least|the most|longest|shortest|largest|smallest|biggest|highest|lowest|oldest|fewest|deepest"
)
KINDS: dict[Kind, str] = {
    "value": (
        rf"defaults?|values?|equals?|{_NUMBER}|what size|"
        r"limits?|timeout|constant|threshold|port|version|number|size|length|set to|initial|when (?:none|nothing) is given|"
        r"do not pass|is not given|(?:which|what) (?:regular expression|regex|pattern)"
    ),
    "number": _NUMBER,
    "error": (
        r"exceptions?|errors?|rais\w+|thrown?|throws|fails?|messages?|complain\w*|warn\w*|refus\w+|reject\w*|forbid\w*|"
        r"prevents?|stops? (?:me|you|us|someone|somebody|it|them)|goes wrong|bl[oe]ws? up|turned down|(?:not |dis)allow\w*|crash\w*"
    ),
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
    "call": r"(?:which|what) (?:\w+ ){0,2}calls?\b|which (?:\w+ ){0,4}calls\b|who calls|where is .* called|callers?",
    "environment": r"environment variables?|environ|env vars?",
    "file": r"(?:which|what) (?:\w+ ){0,2}(?:files?|file ?names?|paths?|director(?:y|ies)|folders?)",
    "parts": r"(?:what|which) (?:\w+ ){0,2}(?:classes|functions|methods|sections|headings|paragraphs|members|keys)",
}
"""How a question shows what kind of line would answer it."""
