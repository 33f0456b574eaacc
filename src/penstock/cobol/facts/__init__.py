"""What is known of one program without a model: data, files, operations, control flow, rules and errors (C-12)?

Each module answers one question; `collecting` asks them in order, each with what the earlier ones found:

1. `expanding` puts copybooks in place; `code` reads what statements say.
2. `layout` lays out the data, as `item_clauses` says; `naming` finds the item that a name means; `references` finds the
   statements that read and write it, by the `roles` of verbs.
3. `resolving` finds the values that an item may have, so that dynamic calls, queues and files get names.
4. `files`, `sql`, `cics`, `ims`, `idms`, `mq` and `calls` list operations; `interface` groups them by resource.
5. `flow` follows control, `shape` counts decisions, `rules` lists conditions, `failing` lists where errors are handled.

Values in, values out: copybooks are passed in, not searched for. Laws: any scanned source has facts, in time linear in it
and its copybooks; what cannot be known is None, never guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ..program import in_library, key
from .values import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..program import Program
    from ..source import Lookup, ScannedSource

__all__ = ["Copybooks", "Facts", "call_diagram", "facts", "flow_diagram", "lookup"]

Copybooks: TypeAlias = "Mapping[str, ScannedSource] | Lookup"
"""The forms in which copybooks are given: a mapping from name, or `LIBRARY/NAME`, to scanned source (names are case-insensitive),
or a function of name and library.

The function receives the library that OF or IN names, or None; it returns None if there is no such copybook.
"""


def facts(
    source: ScannedSource, program: Program, *, copybooks: Copybooks | None = None, tells_apart: bool = False
) -> Facts:
    r"""Return the facts of a program, each with its lines.

    Args:
        source: The scanned file.
        program: One of the programs in it; nested programs are read separately.
        copybooks: The copybooks for COPY and EXEC SQL INCLUDE, None for none; `Facts.copybooks` lists what is missing.
        tells_apart: Whether to collect unrelated uses of one item (`Facts.apart`), comparisons (`Facts.comparisons`) and
            lengths (`Facts.lengths`), which only the analysis of field growth needs.

    Example:
        >>> from penstock.cobol import scan
        >>> source = scan("PROGRAM-ID. A.\nPROCEDURE DIVISION.\n    CALL 'TAX' USING B.\n    GOBACK.\n", source_format="free")
        >>> [(call.target, call.call_type, call.line) for call in facts(source, source.programs[0]).calls]
        [('TAX', 'static', 3)]
    """
    # Imported here, so that importing the types does not compile the expressions; one module imports all the others.
    from .collecting import collected

    return collected(source, program, lookup(copybooks), tells_apart=tells_apart)


def lookup(copybooks: Copybooks | None) -> Lookup:
    """Return copybooks as a function, in whichever form they are given; one result serves all programs of a file."""
    if copybooks is None:
        return _nowhere
    if callable(copybooks):
        return copybooks
    known = {key(name): source for name, source in copybooks.items()}
    return lambda name, library: known.get(in_library(name, library)) or known.get(key(name))


def _nowhere(_name: str, _library: str | None) -> ScannedSource | None:
    """Find no copybook."""
    return None


def flow_diagram(found: Facts) -> str:
    """Return the control flow among the paragraphs of a program as Mermaid text.

    The diagram is bounded, and says how much was left out.
    """
    from .diagrams import flow_diagram as draw

    return draw(found)


def call_diagram(found: Facts) -> str:
    """Return the programs that a program calls and the resources that it uses as Mermaid text, bounded."""
    from .diagrams import call_diagram as draw

    return draw(found)
