"""Which definitions are in a source with braces? The engine; a row of `brace_rules` says what a language looks like to it.

What comes between the last `;`, `{` or `}` and a `{` is a header; the rules of the language say whether it defines
something; the matching `}` ends it. Strings and comments are skipped. If branches of a preprocessor leave the braces
unbalanced, a `}` in the first column ends the definition that began there. No grammar is needed: a header is recognised
by its shape, which a broken or unfinished source has, too.

Law: linear in the bytes: a header is at most `HEADER_BYTES`, its parentheses are emptied before it is examined, and
patterns are possessive or bounded.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import NamedTuple

from .blocks import find_line
from .brace_rules import RULES
from .symbols import Collector

HEADER_BYTES = 2048
"""The longest header, in bytes, that is examined: of a longer one only its end."""
_STATEMENT_LINES = 12  # how far back a header without semicolons is searched for
_SCOPES = 200
_TYPES = frozenset({"class", "interface", "struct", "union", "enum", "record", "trait", "impl", "namespace", "module"})


_TOKENS = r"[{}]|//[^\n]*+|/\*|"
_GROUP = re.compile(rb"[()]")
_BLANKS = re.compile(rb"\s+")
_REGEX_LITERAL = re.compile(rb"/(?>(?:[^\\/\[\n]|\\.|\[(?>(?:[^\]\\\n]|\\.)*)\])+)/")
# After one of these signs or words, a slash begins a regular expression; after anything else it divides. That needs no
# grammar. A parenthesis ends a value, `(a + b) / 2`, or the head of a statement, `if (a) /x/.test(b)`: the word before it
# decides, unless it is a method's name, as in `list.with(0, a) / 2`.
_BEFORE_REGEX = frozenset(b"=(,:[!&|?{};\n+-*%~^")
_WORD_BEFORE_REGEX = re.compile(rb"\b(?:return|typeof|case|in|of|do|else|void|delete)\Z")
# The head is read forwards from its word, so that a parenthesis in a string does not count; more than three nested ones,
# or a head longer than `_STATEMENT_HEAD_BYTES`, are taken for a value.
_STATEMENT_HEAD_BYTES = 256
_INSIDE = r"""[^()"'`]|"(?>(?:[^"\\\n]|\\.)*)"|'(?>(?:[^'\\\n]|\\.)*)'|`(?>(?:[^`\\]|\\.)*)`"""
_INNER_PARENTHESES = rf"\((?>(?:{_INSIDE}|\((?>(?:{_INSIDE})*)\))*)\)"
# The lookbehind follows a letter: an expression that begins with letters is searched for several times as fast.
_HEAD_BEFORE_REGEX = re.compile(
    rb"(?:i(?<![\w$.#]i)f|w(?<![\w$.#]w)(?:hile|ith)|f(?<![\w$.#]f)or(?:\s+await)?)\s*"
    + rf"\((?>(?:{_INSIDE}|{_INNER_PARENTHESES})*)\)\Z".encode()
)
_HEREDOC = re.compile(rb"<<<[ \t]*[\"']?(\w+)")


class _Compiled(NamedTuple):
    """The rules of a language as compiled expressions; the fields are those of `BraceRules`."""

    token: re.Pattern[bytes]
    definitions: tuple[tuple[str, re.Pattern[bytes]], ...]
    members: tuple[tuple[str, re.Pattern[bytes]], ...]
    statements: tuple[tuple[str, re.Pattern[bytes]], ...]
    skip: re.Pattern[bytes] | None
    continues: re.Pattern[bytes] | None


_compiled: dict[str, _Compiled] = {}


def _compile(language: str) -> _Compiled:
    """Return the expressions of a language, compiled when they are first needed."""
    if language not in _compiled:
        rules = RULES[language]

        def each(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[bytes]], ...]:
            return tuple((kind, re.compile(pattern.encode())) for kind, pattern in pairs)

        _compiled[language] = _Compiled(
            re.compile((_TOKENS + rules.tokens).encode()),
            each(rules.definitions),
            each(rules.members),
            each(rules.statements),
            re.compile(f"(?:{rules.skip})+".encode()) if rules.skip else None,
            re.compile(rules.continues.encode()) if rules.continues else None,
        )
    return _compiled[language]


class _Scope(NamedTuple):
    """A relevant pair of open braces: that of a definition, or one inside of a header."""

    depth: int
    """How many braces are open inside of it."""
    kind: str
    """The kind of the definition; "" for braces after which their header continues."""
    head: bytes
    """The header, if it continues."""
    head_line: int
    in_first_column: bool


class BraceScanner:
    """Scans a language with braces; feed blocks, then the landmarks are in `found`.

    Args:
        language: A key of `RULES`.
    """

    def __init__(self, language: str) -> None:
        self.found = Collector()
        self.line = 0  # newlines before the block, and before the gap while it is scanned
        self._rules = RULES[language]
        self._compiled = _compile(language)
        # Braces are counted in `_depth`; only those of definitions and of continuing headers are kept in `_scopes`. So
        # the stack is as deep as definitions nest, not as deep as braces do.
        self._depth = 0
        self._scopes: list[_Scope] = []
        self._head = b""  # code since the last `;`, `{` or `}`
        self._head_line = 0
        self._head_in_first_column = False
        self._reported_line = 0
        self._closer = (self._rules.outside, False)  # what ends the string or comment that is open

    def feed(self, block: bytes) -> None:
        """Scan one block of whole lines, each with its newline in front."""
        # The scan jumps from token to token: a brace, a comment or a string. What is between two of them is a gap, which
        # `_gap` adds to the header that may be growing. A string is part of its gap (a default value); a comment ends the
        # gap and is dropped. What is open at the end of the block is remembered by what would close it.
        search = self._compiled.token.search
        size = len(block)
        start = position = 0  # the gap begins at `start`; everything before `position` has been seen
        if self._closer[0]:
            start = position = self._skip(block, 0, *self._closer)
            self.line += block.count(b"\n", 0, start)
        while position < size:
            token = search(block, position)
            if token is None:
                break
            begin, end = token.span()
            mark = block[begin]
            if mark == 123:  # {
                self._gap(block, start, begin)
                self._open()
            elif mark == 125:  # }
                self._gap(block, start, begin)
                self._close(in_first_column=block[begin - 1] == 10)
            elif mark == 47 and end == begin + 1:  # / is division or begins a regular expression
                position = _after_slash(block, begin)
                continue
            elif mark in b"/#?" or token[0].lstrip()[:1] == b"#":  # a comment, or not code
                self._gap(block, start, begin)
                if token[0] in {b"/*", b"?>"}:
                    end = self._skip(block, end, b"*/" if mark == 47 else b"<?", escapes=False)
            else:
                position = self._after_string(block, begin, end)
                continue
            self.line += block.count(b"\n", begin, end)
            start = position = end
        if start < size:
            self._gap(block, start, size)

    def close(self) -> None:
        """Leave open what is open: it ends with the stream."""

    def _skip(self, block: bytes, position: int, closer: bytes, escapes: bool) -> int:
        """Return where the scan continues after `closer`, or the end of the block: then the next block begins inside.

        Args:
            block: The block.
            position: An offset inside of the string or comment.
            closer: What ends it; one that begins with a newline is a line of its own, as of a here-document.
            escapes: Whether a backslash escapes it.
        """
        self._closer = (b"", False)
        if closer[:1] == b"\n":
            found = find_line(block, position, closer[1:])
            if found >= 0:
                return found
        else:
            while (found := block.find(closer, position)) >= 0:
                slashes = found
                while escapes and slashes > position and block[slashes - 1] == 92:
                    slashes -= 1
                if (found - slashes) % 2 == 0:
                    return found + len(closer)
                position = found + 1
        self._closer = (closer, escapes)
        return len(block)

    def _after_string(self, block: bytes, begin: int, end: int) -> int:
        """Return the end of the string that begins with the token at `begin`."""
        token = block[begin:end] if end - begin < 32 else block[begin : begin + 32]
        if token == b"`":
            return self._skip(block, end, b"`", escapes=not self._rules.raw_backticks)
        if token[:1] == b"<":
            heredoc = _HEREDOC.match(token)
            return self._skip(block, end, b"\n" + heredoc[1], escapes=False) if heredoc else end
        if token[:2] == b'R"' and token[-1:] == b"(":
            return self._skip(block, end, b")" + token[2:-1] + b'"', escapes=False)
        if token.lstrip(b"$")[:3] == b'"""':
            return self._skip(block, end, token.lstrip(b"$"), escapes=token == b'"""')
        if token.lstrip(b"b")[:1] == b"r":
            return self._skip(block, end, b'"' + token.strip(b'br"'), escapes=False)
        # The expression took everything there was of it: the string continues in the next block.
        if self._rules.long_strings and end == len(block):
            quote = token.lstrip(b"@$b")[:1]
            return self._skip(block, begin + token.index(quote) + 1, quote, escapes=b"@" not in token[:2])
        return end

    def _gap(self, block: bytes, start: int, end: int) -> None:
        """Take code without braces and comments: report statements, hold what may be a header.

        Args:
            block: The block.
            start: The beginning of the code in it.
            end: Where a brace, a comment or the end of the block ends it.
        """
        text = block[start:end]
        line = self.line
        self.line += text.count(b"\n")
        scope = self._scopes[-1] if self._scopes else None
        direct = self._depth == (scope.depth if scope else 0)
        # The body of a function, if functions are not searched: nothing in it can be a header, so nothing is kept.
        if not self._rules.nested and scope and scope.kind not in _TYPES and scope.kind:
            self._head = b""
            return
        at_first = self._head_in_first_column
        if self._head:
            text = self._head + text
            line = self._head_line
        else:
            at_first = False
        if direct and (scope is None or scope.kind in _TYPES) and (self._compiled.statements):
            self._statements(text, line)
        cut = text.rfind(b";") + 1
        rest = text[cut:].lstrip()
        skipped = len(text) - len(rest)
        if self._compiled.skip and (prefix := self._compiled.skip.match(rest)):
            rest = rest[prefix.end() :]
            skipped += prefix.end()
        # Only the end of a long header is kept, so that appending gap by gap stays linear; a definition is at its end.
        if len(rest) > HEADER_BYTES:
            skipped += len(rest) - HEADER_BYTES
            rest = rest[-HEADER_BYTES:]
        if skipped:
            line += text.count(b"\n", 0, skipped)
            at_first = text[skipped - 1] == 10
        self._head, self._head_line, self._head_in_first_column = rest, line, at_first

    def _statements(self, text: bytes, line: int) -> None:
        """Report the definitions without a body in a text, in order, each line once."""
        text = b"\n" + text
        matches = [
            (match.start("name"), kind, match)
            for kind, pattern in self._compiled.statements
            for match in pattern.finditer(text)
        ]
        for begin, kind, match in sorted(matches, key=itemgetter(0)):
            name = match["name"]
            first = line + text.count(b"\n", 1, begin)
            # A growing gap is examined again with what came before it: what was already reported must not be repeated.
            if first > self._reported_line:
                self._reported_line = first
                self.found.open(name, self._named(kind, match), first, self._depth)
                self.found.close_to(self._depth, first + name.rstrip().count(b"\n"))

    def _open(self) -> None:
        """Take a `{`: with the header before it, it opens a definition, or a part of a header, or nothing relevant."""
        depth = self._depth
        self._depth = depth + 1
        head, line = self._head, self._head_line
        self._head = b""
        scopes = self._scopes
        if not head or len(scopes) >= _SCOPES:
            return
        flat, cuts = _flatten(head)
        if self._compiled.continues and self._compiled.continues.search(flat):
            scopes.append(_Scope(depth + 1, "", head, line, self._head_in_first_column))
            return
        kind, offset = self._definition(flat, cuts)
        if kind:
            line += head.count(b"\n", 0, offset)
            name = head[offset:].rstrip(b" \t\r\n,").removesuffix(b"=>").removesuffix(b"=")
            self.found.open(name, kind, line, depth)
            scopes.append(_Scope(depth + 1, kind, b"", 0, self._head_in_first_column))
        # Inside of parentheses, as in a default value `({a = 1})`: the header continues after the brace.
        elif flat.rfind(b"(") > flat.rfind(b")"):
            scopes.append(_Scope(depth + 1, "", head, line, self._head_in_first_column))

    def _close(self, *, in_first_column: bool) -> None:
        """Take a `}`: close the definition that it ends, or resume the header that continues after it."""
        self._head = b""
        scopes = self._scopes
        # Both branches of an #if may open a brace that only one `}` closes. A `}` in the first column is trusted more
        # than the count: what began in the first column ends there, with everything in it.
        if in_first_column and self._rules.preprocessor:
            while scopes and not scopes[-1].in_first_column:
                self._depth = scopes.pop().depth
            if scopes:
                self._depth = scopes[-1].depth
        self._depth = depth = max(self._depth - 1, 0)
        if scopes and scopes[-1].depth > depth:
            scope = scopes.pop()
            if scope.kind:
                self.found.close_to(depth, self.line)
            else:
                self._head = scope.head + b"{...}"
                self._head_line = scope.head_line
                self._head_in_first_column = scope.in_first_column

    def _definition(self, flat: bytes, cuts: list[tuple[int, int]]) -> tuple[str, int]:
        """Return the kind of what a header defines, "" for nothing, and the offset where that begins.

        Args:
            flat: The header with its parentheses emptied.
            cuts: What was taken out of it, as returned by `_flatten`: the offset refers to the original header.
        """
        scope = self._scopes[-1] if self._scopes else None
        direct = self._depth - 1 == (scope.depth if scope else 0)
        rules = self._compiled.definitions
        if direct and ((scope is None and self._rules.top_level) or (scope and scope.kind in _TYPES)):
            rules += self._compiled.members
        if not self._rules.by_line:
            flat = _BLANKS.sub(b" ", flat).strip()
            for kind, pattern in rules:
                if match := pattern.match(flat):
                    return self._named(kind, match), 0
            return "", 0
        begin = len(flat)
        # Without semicolons the header begins at some line end: the last line is tried, then the last two, and so on, up
        # to a bound.
        for _ in range(_STATEMENT_LINES):
            begin = flat.rfind(b"\n", 0, begin)
            text = flat[begin + 1 :].strip()
            if text:
                for kind, pattern in rules:
                    if match := pattern.match(text):
                        offset = flat.index(text[:1], begin + 1)
                        offset += sum(length for at, length in cuts if at <= offset)
                        return self._named(kind, match), offset
            if begin < 0:
                break
        return "", 0

    def _named(self, kind: str, match: re.Match[bytes]) -> str:
        """Return the kind of a match.

        For the kind `=` the match itself determines it (Rust's `mod` is a module); a function directly within a type is a
        method.
        """
        if kind == "=":
            kind = match["kind"].decode()
            return {"mod": "module", "@interface": "interface"}.get(kind, kind)
        if kind == "function" and self._scopes and self._scopes[-1].kind in _TYPES - {"namespace", "module"}:
            return "method"
        return kind


def _flatten(head: bytes) -> tuple[bytes, list[tuple[int, int]]]:
    """Return a header without the content of its parentheses, and what was taken out, as (offset in the result, number of
    bytes).

    Parameters hold anything: commas, equals signs, further headers. Without them a pattern for a function is short and
    cannot run away.
    """
    opened: list[int] = []
    inside: list[tuple[int, int]] = []
    for mark in _GROUP.finditer(head):
        if mark[0] == b"(":
            opened.append(mark.start())
        elif opened:
            begin = opened.pop() + 1
            # Parentheses within these go with them; only the outermost pairs are cut.
            while inside and inside[-1][0] > begin:
                inside.pop()
            inside.append((begin, mark.start()))
    pieces: list[bytes] = []
    cuts: list[tuple[int, int]] = []
    at = length = 0
    for begin, end in inside:
        pieces.append(head[at:begin])
        length += begin - at
        cuts.append((length, end - begin))
        at = end
    pieces.append(head[at:])
    return b"".join(pieces), cuts


def _after_slash(block: bytes, position: int) -> int:
    """Return the offset after the regular expression that begins at `position`, or after the sign of a division.

    Otherwise a brace or quote in a regular expression would open something that nothing closes.
    """
    before = position - 1
    while block[before] in b" \t":
        before -= 1
    if block[before] == 41:  # )
        begins = _HEAD_BEFORE_REGEX.search(block, max(before - _STATEMENT_HEAD_BYTES, 0), before + 1)
    else:
        begins = _WORD_BEFORE_REGEX.search(block, max(before - 10, 0), before + 1)
    if begins or block[before] in _BEFORE_REGEX:
        literal = _REGEX_LITERAL.match(block, position)
        if literal:
            return literal.end()
    return position + 1
