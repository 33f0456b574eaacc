"""How does a program run? Calls of others, paragraphs and the edges between them, decisions and errors: types alone.

The laws are those of `values`. Leaves to others: how control is followed (`flow`), and which programs a name means (`graph`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..program import METHOD

if TYPE_CHECKING:
    from .resources import Resolved


_ENTRY = re.compile(r"(?i)\S+\s+(?:OF|IN)\s+(?P<library>\S+)")
"""An entry of a library of Unisys' A Series, and the title of the library."""
_OBJECT = re.compile(r"(?i)\.(?:acu|acx|cbl|cob|dll|dylib|exe|gnt|int|so)$")
"""The suffixes of a program's object file."""


class ProgramCall(NamedTuple):
    """A transfer to another program: CALL, LINK, XCTL, START, RETURN TRANSID, INVOKE, an SQL procedure call, a method, or
    a statement that a shop's own preprocessor turns into a call.
    """

    target: str
    """The name given by a literal, or else the data item that holds it, or the resource of a CICS command with its
    quotes; `CLASS::METHOD` for a method."""
    call_type: Literal[
        "static", "dynamic", "link", "xctl", "start", "return_transid", "invoke", "sql", "method", "preprocessor"
    ]
    resolved: tuple[Resolved, ...]
    """The names that the data item may hold; empty if none is known."""
    parameters: tuple[str, ...]
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None
    is_sure: bool = True
    """Whether the call can only reach `names`, and that is a single name."""
    unknown: str = ""
    """Why the call may reach another, unknown program; "" if it cannot."""
    returned: tuple[str, ...] = ()
    """The items that receive what the other program returns, as written."""
    is_returned_whole: bool = True
    """Whether the returned value arrives unchanged rather than as part of a calculation."""
    copied: tuple[int, ...] = ()
    """The positions, from 0 on, of the arguments that are passed as copies."""

    @property
    def names(self) -> tuple[str, ...]:
        """The programs (or transactions) that it may reach; empty if that is not known, or the name is blank."""
        literal = (
            self.call_type == "static" or METHOD in self.target or (not self.resolved and self.target[:1] in "'\"")
        )
        said = (
            self.target.strip("'\"") if self.target[:1] in "'\"" else self.target
        )  # the quotes of X"91" are part of it
        names = (said.strip(),) if literal else tuple(found.value for found in self.resolved)
        return tuple(dict.fromkeys(filter(None, map(self._program, names))))

    def _program(self, name: str) -> str:
        """Return the program that a name means: a CALL may name its file, `../o/TAX.acu`, or an entry of a library, `TAX OF A/B`.

        Such a library is known by its whole title.
        """
        if self.call_type not in {"static", "dynamic"} or METHOD in name:
            return name
        if entry := _ENTRY.fullmatch(name):
            return entry["library"]
        file = name.replace("\\", "/").rpartition("/")[2]
        return _OBJECT.sub("", file) or name


class ControlEdge(NamedTuple):
    """A transfer of control from one paragraph to another; `source`, `target` and `thru` are keys of paragraphs.

    An edge in copied code has the line of its COPY, the paragraph around the COPY as its source, and the enclosing copied paragraph
    in `header`, as has one of a statement of the program that belongs to a copied paragraph.
    """

    source: int
    """The paragraph that control leaves; -1 for code outside of any."""
    target: int | None
    """The first paragraph that control enters; None if it is not in the file."""
    name: str
    """The target as written."""
    via: str
    """PERFORM, GO TO, ALTER, SORT, MERGE, XML, USE, WHENEVER, WHENEVER PERFORM, HANDLE CONDITION and so on."""
    line: int
    thru: int | None = None
    """The last paragraph of a range or section; None if the target is the only one."""
    copybook: str | None = None
    header: str = ""


class Outside(NamedTuple):
    """A paragraph that is performed or jumped to but is not in this file, with the lines that name it."""

    name: str
    lines: tuple[int, ...]
    copybook: str | None = None
    """The copybook in which it was found; None if it was not found."""
    headers: tuple[str, ...] = ()
    """For each line, the copied paragraph that names it; "" if one of the program does."""
    first: str = ""
    """The paragraph that runs first: the one with this name, or the first of the section with this name."""
    vias: tuple[str, ...] = ()
    """For each line, the kind of transfer, as in `ControlEdge.via`."""
    sources: tuple[str | None, ...] = ()
    """For each line, the copybook that names it; None if the program itself does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphFacts:
    """The facts of one paragraph; `key` is its index in `Facts.paragraphs` and in `Program.paragraphs`.

    Complexity is 1 plus the number of IFs, WHENs (except OTHER), loops, condition phrases (AT END, INVALID KEY and the
    like) and additional targets of GO TO DEPENDING.
    """

    key: int
    name: str
    """The name of the paragraph, "" for the code before the first header."""
    section: str | None
    line: int
    start_line: int
    end_line: int
    statements: int
    complexity: int
    depth: int
    """The deepest nesting of IF, EVALUATE, SEARCH and loops."""
    calls: tuple[str, ...] = ()
    """The names that PERFORM and the like run from here."""
    called_by: tuple[str, ...] = ()
    """The paragraphs that run it, alone or as part of a range."""
    jumps: tuple[str, ...] = ()
    """The names that GO TO, ALTER, WHENEVER and HANDLE lead to from here."""
    falls_into: str | None = None
    """The paragraph that control falls through to, which may be a copied one; None if it cannot, or there is none."""
    ends_range: bool = False
    """Whether a PERFORM … THRU ends with it."""
    dead: str | None = None
    """Why control never reaches the paragraph; None if it does, or this is not known."""
    doubts: tuple[str, ...] = ()
    """Why dead code might be reached after all."""


class BranchAction(NamedTuple):
    """One statement of a branch, joined to one line."""

    text: str
    line: int


class Branch(NamedTuple):
    """One outcome of a decision, with its statements."""

    label: str
    """THEN, ELSE, or the WHEN as written."""
    line: int
    end_line: int
    actions: tuple[BranchAction, ...]


class BranchRule(NamedTuple):
    """An IF, EVALUATE or SEARCH that may be a business rule."""

    rule_id: str
    """An identifier derived from the program, the paragraph and the words of the condition, not from lines."""
    verb: Literal["IF", "EVALUATE", "SEARCH"]
    condition: str
    meanings: tuple[tuple[str, str], ...]
    """The meanings of its level 88s, as (name, "ITEM = 'Y'")."""
    branches: tuple[Branch, ...]
    check: str
    """The kind of outcome that it tests (FILE STATUS, SQLCODE, RESP and so on); "" if it decides on data."""
    checked: frozenset[str]
    """The names in its conditions that hold an outcome, in capitals."""
    line: int
    end_line: int
    paragraph: str


class ErrorSite(NamedTuple):
    """A place in a program where an error is handled or raised."""

    kind: str
    """FILE STATUS, SQLCODE, RESP, DLI STATUS, MQ REASON, AT END, INVALID KEY, SIZE ERROR, EXCEPTION, OVERFLOW, ABEND,
    RETURN-CODE, HANDLE, USE, WHENEVER or IDMS STATUS."""
    condition: str
    action: str | None
    """The statements that handle it, cut to 200 characters; None if there are none, or they are not known."""
    line: int
    end_line: int
    paragraph: str
    copybook: str | None = None
