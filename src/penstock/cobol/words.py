"""Which words divide a source into parts, both for this room and for the outline of a stream of any length?

Leaves to others: the other words of the language (`reserved`), and the meaning of these in context.
"""

from __future__ import annotations


def vocabulary(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


DIVISIONS = "IDENTIFICATION|ID|ENVIRONMENT|DATA|PROCEDURE"
"""The divisions, as alternatives of an expression; ID is short for the first."""
UNITS = "PROGRAM|FUNCTION|CLASS|METHOD|INTERFACE"
"""What a paragraph such as PROGRAM-ID names, as alternatives."""
CLASS_PARTS = vocabulary("FACTORY OBJECT STATIC")
"""What a class is divided into; STATIC is NetCOBOL's for .NET."""
ENDED = f"{UNITS}|{'|'.join(sorted(CLASS_PARTS))}"
"""What END ends: units, and the parts of a class."""
TERMINATORS = frozenset(
    f"END-{verb}"
    for verb in vocabulary(
        "ACCEPT ADD CALL CHAIN COMPUTE DELETE DISPLAY DIVIDE EVALUATE IF INVOKE JSON MODIFY MULTIPLY PERFORM READ RECEIVE RETURN "
        "REWRITE SEARCH SEND START STRING SUBTRACT UNSTRING WRITE XML"
    )
)
"""The words that end a statement."""
SENTENCES = vocabulary("EXIT GOBACK CONTINUE STOP GO ELSE COMMIT ROLLBACK SUPPRESS END-EXEC") | TERMINATORS
"""The words that are a sentence when they are alone with a period, rather than the header of a paragraph.

A list and not the prefix END-, because a paragraph may well be called END-PROGRAM.
"""
