"""What does a language with braces look like to the engine of `braces`? One row of patterns for each language.

Every pattern is possessive or bounded, so that the cost of a file is proportional to its length.
"""

from __future__ import annotations

from typing import NamedTuple


class BraceRules(NamedTuple):
    """What a language looks like to the engine.

    Patterns are for a flat header (its parentheses emptied) or, for `statements`, for a gap between braces. Kinds
    are those of `Symbol.kind`; the kind `=` takes its text from the group `kind`.
    """

    tokens: str
    """What is skipped besides comments: strings, and what looks like one, as alternatives of an expression.
    """
    definitions: tuple[tuple[str, str], ...]
    """Headers that define something anywhere, as (kind, pattern)."""
    members: tuple[tuple[str, str], ...] = ()
    """Headers that define something only directly within a type or, with `top_level`, outside of everything, as (kind,
    pattern)."""
    statements: tuple[tuple[str, str], ...] = ()
    """Definitions without a body, as (kind, pattern); each pattern begins at a newline and has a group `name`."""
    skip: str = ""
    """What precedes a definition and is not shown: annotations, attributes, labels."""
    continues: str = ""
    """A header that continues after the braces that follow it, because they hold a type or a pattern."""
    top_level: bool = False
    """Whether `members` also count outside of everything."""
    by_line: bool = False
    """Whether statements end at line ends: the header is then searched for backwards, line by line."""
    long_strings: bool = False
    """Whether plain strings may contain line ends."""
    nested: bool = True
    """Whether functions are searched for definitions."""
    preprocessor: bool = False
    """Whether branches of a preprocessor may leave the braces unbalanced."""
    raw_backticks: bool = False
    """Whether a backslash is plain text between backticks, as in Go."""
    outside: bytes = b""
    """What ends the part of the file before the code, as in PHP; empty if everything is code."""


# An unclosed string ends with its line, so that one stray quote does not hide the rest of the file.
_STRINGS = r""""(?>(?:[^"\\\n]|\\[\s\S])*)"?|'(?>(?:[^'\\\n]|\\.)*)'?"""
_PREPROCESSOR = r"(?<=\n)[ \t]*+\#(?>(?:[^\\\n/]++|\\[\s\S]|/(?!\*))*)"
# An apostrophe between digits is a separator in C++ (1'000), not the beginning of a character.
_CPP_STRINGS = r"""(?<![0-9A-Za-z_])R"[^()\\\s"]{0,16}\(|(?<![0-9A-Fa-f])'(?>(?:[^'\\\n]|\\.)*)'?|'|"(?>(?:[^"\\\n]|\\[\s\S])*)"?"""

_C_TEMPLATE = r"(?>(?:template\s*+<(?>(?:[^<>]++|<[^<>]*+>)*)>\s*+)*)"
_C_TYPE = (
    r"\A" + _C_TEMPLATE + r"(?>(?:(?:typedef|static|const|extern|volatile|export|inline|constexpr)\s++)*)"
    r"(?P<kind>struct|union|enum|class|namespace)\b(?!.*[()=])(?!.*\boperator\b)"
)
# A name with empty parentheses that is not a control keyword, with no = or ; after it; what comes between them and the
# brace is a qualifier or the list of initializers.
_C_FUNCTION = (
    r"\A" + _C_TEMPLATE + r"(?!(?:if|for|while|switch|do|else|return|catch|case|goto)\b|[,:.=])"
    r"[^()=]*+(?:(?<=operator)(?:\(\)|==?)\s?)?\(\)(?>(?:\s?\(\))*)[^=;]*\Z"
)

_JS_NAME = r"[A-Za-z_$\x80-\xff#][\w$.\x80-\xff]*+"
_JS_EXPORT = r"(?:export\s++)?(?:default\s++)?(?:declare\s++)?"
_JS_DEFINITIONS = (
    ("function", rf"{_JS_EXPORT}(?:async\s++)?function\s*+\*?\s*+(?:{_JS_NAME})?[^()=]*+\(\)[^=\n]*+\Z"),
    ("class", rf"{_JS_EXPORT}(?:abstract\s++)?class\b[^()=]*+(?>(?:\(\)[^()=]*+)*)\Z"),
    ("interface", rf"{_JS_EXPORT}interface\s++{_JS_NAME}"),
    ("enum", rf"{_JS_EXPORT}(?:const\s++)?enum\s++{_JS_NAME}"),
    ("namespace", rf"{_JS_EXPORT}(?:namespace|module)\s++[\w$.'\"]+\s*\Z"),
    ("type", rf"{_JS_EXPORT}type\s++{_JS_NAME}[^=]*+=\s*\Z"),
    (
        "function",
        (
            rf"{_JS_EXPORT}(?:(?:const|let|var)\s++)?{_JS_NAME}\s*+(?::[^=]*+(?:=>[^=]*+)?)?="
            rf"\s*+(?:async\b\s*+)?(?:function\b[^()=]*+\(\)\s*+(?::[^=]*+)?|(?:<[^=]*>)?\(\)\s*+(?::[^=]*+)?=>|{_JS_NAME}\s*+=>)\s*\Z"
        ),
    ),
)
_JS_MEMBERS = (
    (
        "method",
        (
            r"(?>(?:(?:public|private|protected|static|async|get|set|readonly|override|abstract|declare)\s++)*)"
            r"\*?\s*+[\w$#\[\].'\"\x80-\xff]+\s*+(?:<[^()]*>)?\(\)(?:\s*+:[^=]*+)?\s*\Z"
        ),
    ),
)
_JS_STATEMENTS = (
    (
        "function",
        (
            rf"\n{_JS_EXPORT}(?P<name>(?:const|let|var)[ \t]++{_JS_NAME}[ \t]*+(?::[^=\n;]*+)?=[ \t]*+(?:async[ \t]*+)?"
            rf"(?:\([^()\n]*+\)|{_JS_NAME})[ \t]*+(?::[^=\n;]*+)?=>)[ \t]*+(?=[^\s{{])"
        ),
    ),
)
_TS_STATEMENTS = (
    *_JS_STATEMENTS,
    ("type", rf"\n{_JS_EXPORT}(?P<name>type[ \t]++{_JS_NAME}[^=;\n{{}}]*+)=[ \t]*+(?=[^\s{{])"),
)

_JAVA_MODIFIERS = (
    r"(?>(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed|strictfp|default|synchronized|native"
    r"|internal|partial|readonly|unsafe|virtual|override|async|extern|new|file|ref)\s++)*)"
)
_RUST_MODIFIERS = (
    r"(?>(?:pub(?:\s*\(\))?\s++|unsafe\s++|async\s++|const\s++(?=\w*\s*(?:fn|unsafe|extern|async)\b)|default\s++"
    r"|extern\s*+(?:\"[^\"]*+\")?\s++)*)"
)

# The patterns of a row are tried in order: the first one that matches determines the kind.
RULES: dict[str, BraceRules] = {
    "javascript": BraceRules(
        tokens=_STRINGS + r"|`|/(?![/*])",
        definitions=_JS_DEFINITIONS,
        members=_JS_MEMBERS,
        statements=_JS_STATEMENTS,
        skip=r"@[\w.$]++\s*+(?:\([^()]*+\)\s*+|(?!\())",
        by_line=True,
    ),
    "typescript": BraceRules(
        tokens=_STRINGS + r"|`|/(?![/*])",
        definitions=_JS_DEFINITIONS,
        members=_JS_MEMBERS,
        statements=_TS_STATEMENTS,
        skip=r"@[\w.$]++\s*+(?:\([^()]*+\)\s*+|(?!\())",
        continues=r"(?:\)\s*:|[|&<])\s*\Z",
        by_line=True,
    ),
    "go": BraceRules(
        tokens=_STRINGS + "|`",
        definitions=(
            ("function", r"func\s++[A-Za-z_]\w*[^\n]*\Z"),
            ("method", r"func\s*+\(\)\s*+[A-Za-z_]\w*[^\n]*\Z"),
            ("=", r"(?:type\s++)?[A-Za-z_]\w*(?:\[[^\n]*\])?\s++(?P<kind>struct|interface)\s*\Z"),
        ),
        statements=(
            (
                "type",
                r"\n(?P<name>type[ \t]++[A-Za-z_]\w*(?![^\n]*(?:struct|interface)[ \t]*+\Z)[^\n(]*+)(?=\n)",
            ),
        ),
        by_line=True,
        raw_backticks=True,
        nested=False,
    ),
    "java": BraceRules(
        tokens=r'"""|' + _STRINGS,
        definitions=(
            (
                "=",
                r"\A" + _JAVA_MODIFIERS + r"(?P<kind>class|interface|enum|record|@interface)\s++[A-Za-z_$]",
            ),
        ),
        members=(("method", r"\A(?!(?:static|new)\s*\Z)[^=(]*[\w$]\s*\(\)(?:\s*\[\])*\s*(?:throws\s[^=(]*)?\Z"),),
        statements=(
            (
                "method",
                (
                    r"\n[ \t]*+(?P<name>(?!return\b|throw\b|new\b|assert\b)(?>(?:[\w$<>\[\],.?&]++[ \t]++)+)[\w$]++[ \t]*+"
                    r"\([^;{}()=]{0,500}+\)(?:[ \t\n]++throws[ \t][\w$., \t\n]{1,200})?)[ \t\n]*;"
                ),
            ),
        ),
        skip=r"@(?!interface\b)[\w.]++\s*+(?:\([^()]*+\)\s*+|(?!\())",
        nested=False,
    ),
    "csharp": BraceRules(
        tokens=r'\$*"""+|(?:@\$?|\$@)"[^"]*+(?>(?:""[^"]*+)*)"?|' + _STRINGS + "|" + _PREPROCESSOR,
        definitions=(
            (
                "=",
                r"\A" + _JAVA_MODIFIERS + r"(?P<kind>class|interface|enum|record|struct|namespace)\s++[A-Za-z_@]",
            ),
        ),
        members=(
            ("method", r"\A[^=(]*[\w>]\s*\(\)\s*(?::\s*(?:base|this)\s*\(\)\s*)?(?:where\s[^=]*)?\Z"),
            ("property", r"\A(?:[\w<>\[\],.?()]+\s+)+(?:\w+|this\[[^=]*\])\s*\Z"),
        ),
        statements=(
            ("namespace", r"\n(?P<name>namespace[ \t]++[\w.]++)[ \t]*+;"),
            (
                "method",
                (
                    r"\n[ \t]*+(?P<name>(?!return\b|throw\b|new\b|await\b|using\b)(?>(?:[\w<>\[\],.?]++[ \t]++)+)[\w<>]++[ \t]*+"
                    r"\([^;{}()=]{0,500}+\))\s*+(?:;|=>)"
                ),
            ),
        ),
        skip=r"\[[^\]]*\]\s*",
        long_strings=True,
        nested=False,
    ),
    "c": BraceRules(
        tokens=_CPP_STRINGS + "|" + _PREPROCESSOR,
        definitions=(),
        members=(("=", _C_TYPE), ("namespace", r'\Aextern\s*"[^"]*"\s*\Z'), ("function", _C_FUNCTION)),
        statements=(
            (
                "prototype",
                r"\n(?P<name>(?!return\b|typedef\b)[A-Za-z_][\w \t*]{0,200}+\([^;{}=]{0,500}?\))[^;{}=()\n]{0,80}+;",
            ),
            ("type", r"\n(?P<name>typedef\b[^;{}]{0,300}+);"),
        ),
        top_level=True,
        preprocessor=True,
        nested=False,
    ),
    "rust": BraceRules(
        tokens=r"""(?<!\w)b?r\#*"|'(?:\\[^\n][^'\n]{0,10}+|[^\\'\n\x80-\xff]|[\x80-\xff]{2,4}+)'|"(?>(?:[^"\\]|\\[\s\S])*)"?""",
        definitions=(
            ("function", r"\A" + _RUST_MODIFIERS + r"fn\s++\w"),
            ("=", r"\A" + _RUST_MODIFIERS + r"(?P<kind>struct|enum|union|trait|impl|mod)\b"),
            ("macro", r"\Amacro_rules!\s*\w"),
        ),
        statements=(
            (
                "=",
                (
                    r"\n[ \t]*+(?P<name>(?:pub(?:\([^()\n]*\))?[ \t]++)?(?P<kind>struct|type|static|mod)[ \t]++"
                    r"\w[^;={}\n]{0,300}+)[;=]"
                ),
            ),
            (
                "function",
                r"\n[ \t]*+(?P<name>(?>(?:(?:pub|async|unsafe|const)[ \t]++)*)fn[ \t]++\w[^;{}]{0,500}+);",
            ),
            (
                "const",
                r"\n[ \t]*+(?P<name>(?:pub(?:\([^()\n]*\))?[ \t]++)?const[ \t]++[A-Z_]\w*+[ \t]*+:[^;={}\n]{0,300}+)=",
            ),
        ),
        skip=r"#!?\[[^\]]*\]\s*",
        long_strings=True,
    ),
    "php": BraceRules(
        tokens=r"""\?>|<<<[ \t]*["']?\w+["']?|(?:\#(?!\[)[^\n]*+)|"(?>(?:[^"\\]|\\[\s\S])*)"?|'(?>(?:[^'\\]|\\[\s\S])*)'?""",
        definitions=(
            (
                "=",
                r"\A(?>(?:(?:abstract|final|readonly)\s++)*)(?P<kind>class|interface|trait|enum|namespace)\s++[\w\\]",
            ),
            (
                "function",
                r"\A(?>(?:(?:public|protected|private|static|abstract|final)\s++)*)function\s++&?\s*+\w",
            ),
        ),
        statements=(
            ("namespace", r"\n[ \t]*+(?P<name>namespace[ \t]++[\w\\]++)[ \t]*+;"),
            (
                "method",
                (
                    r"\n[ \t]*+(?P<name>(?>(?:(?:public|protected|private|static|abstract)[ \t]++)+)"
                    r"function[ \t]++\w++[^;{}]{0,500}+);"
                ),
            ),
        ),
        skip=r"#\[[^\]]*\]\s*|php\b\s*",
        long_strings=True,
        outside=b"<?",
    ),
}
"""The rules by language, as named by `language_of`."""
RULES["tsx"] = RULES["typescript"]
RULES["cpp"] = RULES["c"]._replace(
    skip=r"(?:public|private|protected|signals|(?:public|private|protected)?\s*slots)\s*:(?!:)\s*|\[\[[^\]]*\]\]\s*",
    continues=r"\)[^()]*(?<!:):(?!:)[^?]*[\w>]\s*\Z",
)
