"""Which files do `.gitignore` files exclude? The rules are read as git reads them.

Rules come from strangers, and none may hang us. Stars become atomic groups, which never backtrack; lengths and numbers are capped;
what git could not use is skipped. Names are matched byte by byte, as git does (`?` is one byte): a non-ASCII name goes through
Latin-1, one character per byte.

Law: for every tree and every set of rules, the files kept are those that `git ls-files -o --exclude-standard` lists (ADR 14 says
why this is written by hand, and what others get wrong). Leaves to others: where the rules are found (`walk`). Global excludes lie
outside the root and are not read; `core.ignorecase` is not supported.

The semantics, from gitignore(5) and git's dir.c: the last matching rule decides, rules of deeper files come after those above, `!`
takes a name back, and nothing below an excluded folder can be taken back, because the walk never enters it. The speed: nearly all
rules are literal names, `*.ext` or a path, so a whole folder of names is checked against sets and suffixes at once; rules are
tested one by one only where a `!` is in force.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import NamedTuple

MAX_RULE_BYTES = 1 << 20
"""How many bytes of ignore files are in force in one folder, including those above it; anything beyond is not read."""
_MAX_LINE = 4096  # PATH_MAX: nothing longer can match a real path
_FEW = 16
_MAX_GLOBS = 2000  # rules with wildcards in one file; GitHub's largest template has fewer than 300

CLASSES = {
    b"alnum": rb"[0-9A-Za-z]",
    b"alpha": rb"[A-Za-z]",
    b"blank": rb"[ \t]",
    b"cntrl": rb"[\x00-\x1f\x7f]",
    b"digit": rb"[0-9]",
    b"graph": rb"[!-~]",
    b"lower": rb"[a-z]",
    b"print": rb"[ -~]",
    b"punct": rb"[!-/:-@\[-`{-~]",
    b"space": rb"[ \t-\r]",
    b"upper": rb"[A-Z]",
    b"xdigit": rb"[0-9A-Fa-f]",
}
"""The named classes of bracket expressions, as byte classes of a regular expression."""
_WILD = frozenset("*?[\\")
STAR = "*"
"""A mark between two pieces of a pattern for any characters except a slash."""
FOLDERS = "**/"
"""A mark between two pieces of a pattern for any number of whole folders, including none."""
_REST = "**"  # everything


class _Rule(NamedTuple):
    """One line of an ignore file, taken apart."""

    text: str  # Latin-1, without `!`, without the slashes at its ends
    negated: bool
    folders_only: bool
    anchored: bool  # matched against the path below the ignore file, not against the name


class IgnoreRules:
    """The rules in force in a folder: those of its own ignore file take precedence over those of `parent`.

    Args:
        source: The content of the ignore file.
        prefix_length: The length of the folder's path with its final slash; paths given later begin with it.
        parent: The rules in force in the folder above.
    """

    __slots__ = ("_files", "_folders", "_negates", "_parent", "_prefix_length", "_rules", "size")

    def __init__(self, source: bytes, prefix_length: int = 0, parent: IgnoreRules | None = None) -> None:
        room = MAX_RULE_BYTES - (parent.size if parent else 0)
        # Cut after a whole line: half a rule may match more than the rule (`/build` for `/build-cache`).
        if len(source) > room:
            source = source[: source.rfind(b"\n", 0, max(room, 0)) + 1]
        self.size: int = len(source) + (parent.size if parent else 0)
        self._parent = parent
        self._prefix_length = prefix_length
        self._rules = _parsed(source)
        self._negates: bool = any(rule.negated for rule in self._rules) or (parent is not None and parent._negates)
        self._files = _Positives([rule for rule in self._rules if not rule.negated and not rule.folders_only])
        self._folders = _Positives([rule for rule in self._rules if not rule.negated])

    def kept(self, prefix: str, names: list[str], *, folders: bool) -> list[str]:
        r"""Return those of `names`, files or folders in the folder `prefix` (`a/b/`), that no rule excludes.

        >>> IgnoreRules(b"*.log\n!keep.log\n").kept("", ["a.log", "keep.log", "b.txt"], folders=False)
        ['keep.log', 'b.txt']
        """
        # First only excluding rules are tested, all at once. If no rule takes anything back, that is the answer; else the few names
        # that some rule excludes are tested one by one, the last rule first.
        clear = names
        rules: IgnoreRules | None = self
        while rules is not None:
            positives = rules._folders if folders else rules._files
            clear = positives.clear(prefix[rules._prefix_length :], clear)
            rules = rules._parent
        if len(clear) == len(names) or not self._negates:
            return clear
        spared = set(clear)  # no rule excludes these; for the others the last rule decides
        return [name for name in names if name in spared or not self._excludes(prefix, name, folders)]

    def _excludes(self, prefix: str, name: str, folder: bool) -> bool:
        """Return whether the last rule that matches a name excludes it."""
        rules: IgnoreRules | None = self
        name_raw = _raw(name)
        while rules is not None:
            path = _raw(prefix[rules._prefix_length :]) + name_raw
            for rule in reversed(rules._rules):
                if rule.folders_only and not folder:
                    continue
                pattern = _compiled(rule)
                if pattern is not None and pattern.match(path if rule.anchored else name_raw):
                    return not rule.negated
            rules = rules._parent
        return False


class _Positives:
    """The excluding rules of one ignore file, sorted by the cost of testing them."""

    __slots__ = ("_anchored", "_ends", "_extensions", "_globs", "_names", "_paths")

    def __init__(self, rules: list[_Rule]) -> None:
        self._names: set[str] = set()
        self._anchored: dict[str, set[str]] = {}
        self._paths: list[tuple[str, int, re.Pattern[str]]] = []
        extensions: set[str] = set()
        ends: list[str] = []
        globs: list[str] = []
        wild = 0
        # From cheap to expensive: a set of names, sets of names by folder, suffixes for one `endswith`, one expression for all
        # other globs on names, and finally one expression each for paths.
        for rule in rules:
            text = rule.text
            if (literal := _literal(text)) is not None:
                folder, slash, name = _shown(literal).rpartition("/")
                if rule.anchored:
                    self._anchored.setdefault(folder + slash, set()).add(name)
                else:
                    self._names.add(name)
            elif not rule.anchored and text[0] == "*" and len(text) > 1 and _plain(text[1:]):
                if text[1] == "." and "." not in text[2:]:
                    extensions.add(text[1:])
                else:
                    ends.append(text[1:])
            elif (pattern := _translated(rule)) is not None and (wild := wild + 1) <= _MAX_GLOBS:
                if rule.anchored:
                    fixed = text[: _prefix(text)]
                    folder = _shown(fixed[: fixed.rfind("/") + 1])
                    # How deep a matching path is: each slash of the rule is one of the path, except for those that `**` stands for
                    # and those in brackets (`[a/b]`), which make git treat the rule as anchored and then match nothing.
                    depth = -1 if "**" in text or "[" in text else text.count("/")
                    self._paths.append((folder, depth, re.compile(pattern)))
                else:
                    globs.append(pattern)
        few = len(extensions) <= _FEW  # one call for all of them is quicker than splitting the name
        self._extensions = set() if few else extensions
        self._ends = tuple(ends) + (tuple(extensions) if few else ())
        self._globs = re.compile("|".join(globs)) if globs else None

    def clear(self, inner: str, names: list[str]) -> list[str]:
        """Return those of `names` in the folder `inner`, a path below the ignore file, that no rule matches."""
        if not self._names.isdisjoint(names):
            excluded = self._names
            names = [name for name in names if name not in excluded]
        if self._anchored and (here := self._anchored.get(inner)):
            names = [name for name in names if name not in here]
        if self._ends:
            ends = self._ends
            names = [name for name in names if not name.endswith(ends)]
        if self._extensions:
            extensions = self._extensions
            names = [name for name in names if name[name.rfind(".") :] not in extensions]
        if self._globs:
            match = self._globs.match
            names = [name for name in names if not match(name if name.isascii() else _raw(name))]
        for folder, depth, pattern in self._paths:
            # Most rules with a path are about another folder: they cost one comparison.
            if inner.startswith(folder) and depth in {-1, inner.count("/")}:
                start = _raw(inner)
                names = [name for name in names if not pattern.match(start + _raw(name))]
        return names


def _raw(name: str) -> str:
    """Return a name with one character for each of its bytes."""
    return name if name.isascii() else os.fsencode(name).decode("latin-1")


def _shown(raw: str) -> str:
    """Return the name whose bytes these characters are: the inverse of `_raw`."""
    return raw if raw.isascii() else os.fsdecode(raw.encode("latin-1"))


def _parsed(source: bytes) -> list[_Rule]:
    """Return the rules of an ignore file, in order. What git skips (comments, blank lines, a lone `/`) is left out."""
    rules = []
    for line in source.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        # git reads lines as C strings: a NUL ends one, and then the carriage return before the line end is not at the string's end.
        text = line.partition(b"\0")[0] if b"\0" in line else line.removesuffix(b"\r")
        if text.endswith(b" "):
            text = text.rstrip(b" ")
            # Trailing blanks are dropped, except for one after a backslash (`name\ `).
            if (len(text) - len(text.rstrip(b"\\"))) % 2:
                text += b" "
        if not text or text.startswith(b"#") or len(text) > _MAX_LINE:
            continue
        negated = text.startswith(b"!")
        text = text[1:] if negated else text
        folders_only = text.endswith(b"/")
        text = text[:-1] if folders_only else text
        # A slash anywhere but at the end anchors a rule to the folder of its file.
        anchored = b"/" in text
        text = text.removeprefix(b"/")
        if text:
            rules.append(_Rule(text.decode("latin-1"), negated, folders_only, anchored))
    return rules


def _plain(text: str) -> bool:
    """Return whether a text matches itself alone, in any encoding."""
    return text.isascii() and _WILD.isdisjoint(text)


def _literal(text: str) -> str | None:
    """Return the one name that a rule matches; None if there may be several, or none at all."""
    if _WILD.isdisjoint(text):
        return text
    if _WILD.isdisjoint(text.replace("\\", "")) and not text.replace("\\\\", "").endswith("\\"):
        return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
    return None


def _prefix(text: str) -> int:
    """Return the length of the part of a rule before its first special character."""
    return next((at for at, character in enumerate(text) if character in _WILD), len(text))


@lru_cache(maxsize=1024)
def _compiled(rule: _Rule) -> re.Pattern[str] | None:
    """Return the expression for a rule; None if it can match nothing."""
    pattern = _translated(rule)
    return None if pattern is None else re.compile(pattern)


def _translated(rule: _Rule) -> str | None:
    """Return a rule as a regular expression for `match`; None if it can match nothing."""
    pieces = _pieces(rule.text, anchored=rule.anchored)
    return None if pieces is None else joined(pieces)


def joined(pieces: list[str]) -> str:
    """Return the pieces of a pattern as a regular expression for `match` that runs in at most quadratic time in the name's length.

    Args:
        pieces: `[fixed, kind, fixed, kind, fixed …]`: expressions of fixed length, and between them the kinds `STAR` and `FOLDERS`.
    """
    # FIXED (STAR FIXED)*: a star takes the nearest position where what follows it fits, and keeps it (an atomic group). That loses
    # nothing: a later position leaves less for the next star, and what contains a slash fits in one position only. The same holds
    # for whole folders. Only the last star and the last folders may backtrack: quadratic.
    first, groups = pieces[0], pieces[1:]
    pattern = [first]
    last_folders = max((at for at in range(0, len(groups), 2) if groups[at] == FOLDERS), default=-1)
    at = 0
    while at < len(groups):
        kind, fixed = groups[at], groups[at + 1]
        final = at + 2 >= len(groups)
        if kind == _REST:
            pattern.append(r"(?s:.*)" + fixed)
        elif kind == STAR:
            pattern.append(f"[^/]*{fixed}" if final else f"(?>[^/]*?{fixed})")
        elif at == last_folders:
            pattern.append(f"(?:[^/]*/)*?{fixed}")
        else:  # everything up to the next whole folders is one unit
            inner = [fixed]
            while groups[at + 2] != FOLDERS:
                at += 2
                inner.append(f"(?>[^/]*?{groups[at + 1]})")
            pattern.append(f"(?>(?:[^/]*/)*?{''.join(inner)})")
        at += 2
    return "".join(pattern) + r"\Z"


def _pieces(text: str, *, anchored: bool) -> list[str] | None:
    """Return a rule as [fixed, kind, fixed, kind, fixed …]: stars of three kinds between expressions of fixed length.

    None for a rule that git considers broken.
    """
    # git compares the literal prefix first and then looks only at the rest: `a**` has `**` at its start.
    at = start = _prefix(text)
    pieces = [re.escape(text[:start])]
    while at < len(text):
        character = text[at]
        at += 1
        if character == "*":
            opens = at - 1 == start or text[at - 2] == "/"
            stars = at - 1
            while at < len(text) and text[at] == "*":
                at += 1
            # `**` means folders only between slashes or at an end of a rule with a path; elsewhere it is a star.
            kind = STAR
            if anchored and at - stars > 1 and opens:
                if at == len(text):
                    kind = _REST
                elif text[at] == "/":
                    kind, at = FOLDERS, at + 1
            pieces += [kind, ""]
        elif character == "?":
            pieces[-1] += "[^/]"
        elif character == "[":
            parsed = _class(text.encode("latin-1"), at)
            if parsed is None:
                return None
            pieces[-1] += parsed[0]
            at = parsed[1]
        elif character == "\\":
            if at == len(text):
                return None
            pieces[-1] += re.escape(text[at])
            at += 1
        else:
            pieces[-1] += re.escape(character)
    return pieces


def _class(text: bytes, at: int) -> tuple[str, int] | None:
    """Return the bracket expression that begins before `at` as a class of bytes, and its end; None if git considers it broken.

    The order of the cases is that of git's wildmatch.c, because it decides what odd ones mean: a leading `]` is a member, `[a-]`
    contains a minus, a descending range is empty.
    """
    negated = text[at : at + 1] in {b"!", b"^"}
    at += negated
    members: set[int] = set()
    previous = 0
    first = True
    while True:
        if at >= len(text):
            return None
        code = text[at]
        if code == 0x5D and not first:  # ]
            break
        first = False
        if code == 0x5C:  # \
            at += 1
            if at >= len(text):
                return None
            code = text[at]
            members.add(code)
        elif code == 0x2D and previous and at + 1 < len(text) and text[at + 1] != 0x5D:  # -
            at += 1
            if text[at] == 0x5C:
                at += 1
                if at >= len(text):
                    return None
            members.update(range(previous, text[at] + 1))
            code = 0
        elif code == 0x5B and text[at + 1 : at + 2] == b":":  # [:
            end = text.find(b"]", at + 2)
            if end < 0:
                return None
            if end - at < 3 or text[end - 1] != 0x3A:
                members.add(code)
            else:
                named = CLASSES.get(text[at + 2 : end - 1])
                if named is None:
                    return None
                members.update(byte for byte in range(256) if re.match(named, bytes([byte])))
                at, code = end, 0
        else:
            members.add(code)
        previous = code
        at += 1
    if negated:
        members = set(range(1, 256)) - members
    # WM_PATHNAME: no class matches a slash, not even one that names it.
    members.discard(0x2F)
    return "[" + "".join(f"\\x{code:02x}" for code in sorted(members)) + "]" if members else "(?!)", at + 1
