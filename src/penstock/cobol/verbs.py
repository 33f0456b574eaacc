"""Which words begin a statement, a branch of one, or a phrase, and which do so only in some dialect?

The words of the language are sets; a verb of several words has an expression, and a phrase the statements that may have it. What a
single source adds, because it calls a network database or has a preprocessor of its own, is found in its text (`verbs_of`).

Leaves to others: whether a word in its context is a verb (`procedure`). Law: every expression is possessive or bounded.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .lexing import NAME, PERIOD
from .words import SENTENCES, TERMINATORS, vocabulary

SIMPLE = vocabulary(
    "ACCEPT ADD ALTER CALL CANCEL CLOSE COMPUTE CONTINUE DELETE DIVIDE GOBACK INITIALISE INITIALIZE INSPECT INVOKE MERGE "
    "MOVE MULTIPLY OPEN READ RELEASE RETURN REWRITE SET SORT START STRING SUBTRACT UNSTRING USE WRITE"
)
"""The verbs that are one word, and open nothing that a later word closes."""
DIALECT = vocabulary(
    "ALLOCATE CHAIN COMMIT DESTROY DISABLE ENABLE ENTER ENTRY EXAMINE EXHIBIT FREE GENERATE INITIATE INQUIRE MODIFY "
    "PURGE RAISE RECEIVE RESUME ROLLBACK SEND SERVICE SUPPRESS TERMINATE TRANSFORM UNLOCK VALIDATE"
)
"""The verbs that some dialects do not reserve, so that data items may have these names."""
NAVIGATION = vocabulary(
    "BIND READY OBTAIN FIND GET STORE MODIFY ERASE CONNECT DISCONNECT FINISH COMMIT ROLLBACK KEEP ATTACH DEQUEUE "
    "ENQUEUE PUT POST SNAP TRANSFER WAIT"
)
"""The statements that IDMS adds to the language. In a program that does not mention IDMS, they are names."""
NETWORK = NAVIGATION | vocabulary(
    "FETCH INSERT REMOVE FREE LOCK SECURE CREATE RECREATE IMPART DEPART BEGIN-TRANSACTION END-TRANSACTION ABORT-TRANSACTION"
)
"""The verbs of any network database for which a program has a section, including IDMS."""
STRANGE = "NOT UNDERSTOOD"
"""The verb of an unknown statement that is recognized by the phrase after it: what follows is done only in that case."""
OPENING = frozenset({"IF", "EVALUATE", "SEARCH"})
"""The verbs whose statements contain those that follow."""
GONE = frozenset({"GOBACK", "STOP RUN", "STOP THREAD", "EXIT PROGRAM", "EXIT METHOD", "EXIT FUNCTION"})
"""The verbs with which control leaves a program or thread for good."""
FORMS = {
    # On Wang's VS a screen is shown and read at once.
    "DISPLAY": re.compile(r"DISPLAY(?>\s++AND\s++READ(?![\w-])|)"),
    "EXIT": re.compile(r"EXIT(?>\s++(?:PROGRAM|PARAGRAPH|SECTION|FUNCTION|METHOD|PERFORM(?>\s++CYCLE|))(?![\w-])|)"),
    # STOP THREAD without a handle ends the thread that runs it, so that nothing behind it is done.
    "STOP": re.compile(rf"STOP(?>\s++RUN(?![\w-])|\s++THREAD(?=\s*+{PERIOD}|\s++(?:END-[A-Z]|ELSE\s|WHEN\s))|)"),
    "LOCK": re.compile(r"LOCK\s++THREAD(?![\w-])"),
    "WAIT": re.compile(r"WAIT(?=\s++(?>FOR\s++|)(?>(?:ANY|LAST)\s++|)THREAD(?![\w-]))"),
    "GO": re.compile(r"GO(?>\s++TO(?![\w-])|)"),
    "NEXT": re.compile(r"NEXT\s++SENTENCE(?![\w-])"),
    "READY": re.compile(r"READY\s++TRACE(?![\w-])"),
    "RESET": re.compile(r"RESET\s++TRACE(?![\w-])"),
    "XML": re.compile(r"XML\s++(?:PARSE|GENERATE)(?![\w-])"),
    "JSON": re.compile(r"JSON\s++(?:PARSE|GENERATE)(?![\w-])"),
}
"""Verbs of more than one word: the other words belong to the verb, so that EXIT PERFORM is not a PERFORM."""

# Letters come first, as in `lexing`, and then what may not be before them.
_IDMS = re.compile(
    r"(?:IDMS(?<![\w-]IDMS)-CONTROL|COPY(?<![\w-]COPY)\s++IDMS|SUBSCHEMA(?<![\w-]SUBSCHEMA)-CTRL"
    r"|SCHEMA(?<![\w-]SCHEMA)\s++SECTION)(?![\w-])"
)
_SETS = re.compile(r"(?:SUB(?<![\w-]SUB)-?SCHEMA|DATA(?<![\w-]DATA)-BASE)\s++SECTION(?![\w-])")
_TRANSACTION = re.compile(r"(?<![\w-])(?:BEGIN|END|ABORT|RESTART)-TRANSACTION(?![\w-])")
_NAMED_SO = re.compile(
    rf"(?<![\w-])(?:PERFORM|GO|TO|THRU|THROUGH|0?[1-9]|[1-4]\d|66|77|78|88)\s++(?={_TRANSACTION.pattern})(?P<name>[\w-]++)"
)
"""A paragraph or item with the name of a statement of NonStop's screen programs: then that is not a statement."""
_SHOP = re.compile(r"#(?<![\w-]#)[A-Z][\w-]*+")
_DECLARED_SHOP = re.compile(r"(?<![\w#-])(?:0?[1-9]|[1-4]\d|66|77|78|88)\s++(#[A-Z][\w-]*+)")
"""Words with a # are not in the language: unless an item has such a name, they are statements of a shop's own preprocessor
(`#ERROR code text`), of which only the beginning is known."""

_ITEMS = re.compile(
    rf"\.\s++(?:0?[1-9]|[1-4]\d|77)\s++(?P<name>{'|'.join(sorted(DIALECT))})(?![\w-])"  # an entry follows a period
)

PHRASE = re.compile(
    r"(?>(?P<not>NOT\s++)|)(?:(?>AT\s++|)(?P<AT_END>END)|(?>AT\s++|)(?P<AT_END_OF_PAGE>END-OF-PAGE|EOP)|(?P<INVALID_KEY>INVALID(?>\s++KEY|))"
    r"|(?>ON\s++|)(?P<ON_SIZE_ERROR>SIZE\s++ERROR)|(?>ON\s++|)(?P<ON_OVERFLOW>OVERFLOW)|(?P<ON_EXCEPTION>(?>ON\s++|)EXCEPTION|ON\s++ERROR))(?![\w-])"
)
PLAIN = re.compile(r"(?>NOT\s++|)(?:AT|ON|INVALID)\s")
"""The beginning of a phrase that cannot be anything else: END alone may be a name."""
OWNERS = {
    "AT_END": frozenset({"READ", "RETURN", "SEARCH"}),
    "AT_END_OF_PAGE": frozenset({"WRITE"}),
    "INVALID_KEY": frozenset({"READ", "WRITE", "REWRITE", "DELETE", "START"}),
    "ON_SIZE_ERROR": frozenset({"ADD", "SUBTRACT", "MULTIPLY", "DIVIDE", "COMPUTE"}),
    "ON_OVERFLOW": frozenset({"STRING", "UNSTRING", "CALL"}),
    "ON_EXCEPTION": frozenset({"CALL", "ACCEPT", "DISPLAY", "XML", "JSON", "INVOKE"}),
}
"""The statements that may have each phrase: it belongs to the nearest before it. In `READ F AT END ADD 1 TO C ON SIZE ERROR`, the
AT END belongs to READ, the SIZE ERROR to ADD."""
PHRASES = frozenset({"AT", "ON", "NOT", "INVALID", "SIZE", "OVERFLOW", "EXCEPTION", "EOP", "END-OF-PAGE"})
"""The words with which a phrase may begin; END, which may be a name, is not among them."""

_CERTAIN = "|".join(sorted((SIMPLE - {"USE"}) | OPENING | {"DISPLAY", "PERFORM"}))
BEGINS = re.compile(
    rf"(?>(?:{NAME}(?>\s++SECTION(?>\s++\d++|)|)\s*+{PERIOD}[\s,;]*+){{0,2}})(?!INVOKE\s++SUB-?SCHEMA\s)(?:(?:{_CERTAIN}|STOP\s++RUN|GO\s++TO|EXIT)(?![\w-])"
    r"|EXEC\s++(?:CICS|SQL\s++(?!DECLARE|INCLUDE|BEGIN|END|WHENEVER))"
    r"|DECLARATIVES\s*+\.)"
)
"""Where statements certainly begin, even among data: at a verb, with the headers of a section and a paragraph before it, if any.
"""
VERBS = SIMPLE | DIALECT | OPENING | (frozenset(FORMS) - {"LOCK", "WAIT"}) | {"PERFORM", "EXEC"}
"""The words that begin a statement. LOCK and WAIT do so only before THREAD, and are names elsewhere, as in `PERFORM WAIT`."""
MARKERS = (
    TERMINATORS
    | {"ELSE", "WHEN", "COPY", "REPLACE", "ON STATUS"}
    | {
        prefix + phrase.replace("_", " ").replace("END OF", "END-OF").replace("OF PAGE", "OF-PAGE")
        for phrase in OWNERS
        for prefix in ("", "NOT ")
    }
)
"""The entries among a program's statements that are not statements: branches, ends and phrases of one, COPY and REPLACE.
"""


class SourceVerbs(NamedTuple):
    """What one source adds to the words of the language."""

    verbs: frozenset[str] = frozenset()
    """Words that begin a statement, unless their context shows that they are names."""
    one_word: frozenset[str] = SENTENCES
    """The words that are a sentence when they are alone, including those of the language."""
    shop: frozenset[str] = frozenset()
    """The words of a shop's own preprocessor among `verbs`."""
    names: frozenset[str] = frozenset()
    """The verbs of some dialects that are items here: a compiler that takes them as names does not reserve them."""
    has_status: bool = False
    """Whether ON begins the status of a database statement."""


def verbs_of(folded: str) -> SourceVerbs:
    """Return what a source adds to the words of the language.

    Args:
        folded: The whole code, folded.
    """
    found = SourceVerbs(names=frozenset(_ITEMS.findall(folded)))
    if ("IDMS" in folded or "SCHEMA" in folded) and _IDMS.search(folded):
        # FINISH alone ends the run unit, and is not a paragraph.
        found = found._replace(verbs=NAVIGATION, one_word=SENTENCES | NAVIGATION, has_status=True)
    elif ("SCHEMA" in folded or "DATA-BASE" in folded) and _SETS.search(folded):
        found = found._replace(verbs=NETWORK, one_word=SENTENCES | NETWORK, has_status=True)
    if "-TRANSACTION" in folded:
        said = {*_TRANSACTION.findall(folded)} - {*_NAMED_SO.findall(folded)}
        if len(said) > 1:  # one alone may be a paragraph that control falls into
            found = found._replace(verbs=found.verbs | said, one_word=found.one_word | said)
    shop = frozenset(_SHOP.findall(folded))
    if shop:
        shop -= frozenset(_DECLARED_SHOP.findall(folded))
    return found._replace(verbs=found.verbs | shop, one_word=found.one_word | shop, shop=shop) if shop else found
