"""Which methods are invoked, whose data do they use, and what does a function, a method or a CALL return?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests.growth import BOUND, growth

from penstock.cobol import scan
from penstock.cobol.facts import facts
from penstock.cobol.facts.calls import is_interface
from penstock.cobol.graph import nodes_named

from .linked import LinkedEstate

if TYPE_CHECKING:
    from collections.abc import Callable

CLASSES = """\
CLASS-ID. Account INHERITS Base.
ENVIRONMENT DIVISION.
CONFIGURATION SECTION.
REPOSITORY.
    CLASS Base IS "Base"
    CLASS Logger AS "com.acme.Logger"
    CLASS Account IS "Account".
FACTORY.
DATA DIVISION.
WORKING-STORAGE SECTION.
01 Made PIC 9(5).
PROCEDURE DIVISION.
METHOD-ID. open-one.
DATA DIVISION.
LINKAGE SECTION.
01 Result OBJECT REFERENCE Account.
PROCEDURE DIVISION RETURNING Result.
    INVOKE Account "NEW" RETURNING Result
    ADD 1 TO Made Balance
    EXIT METHOD.
END METHOD open-one.
END FACTORY.
OBJECT.
DATA DIVISION.
WORKING-STORAGE SECTION.
01 Balance PIC S9(7)V99 COMP-3.
PROCEDURE DIVISION.
METHOD-ID. deposit.
DATA DIVISION.
LOCAL-STORAGE SECTION.
01 Log-Ref OBJECT REFERENCE Logger.
LINKAGE SECTION.
01 Amount PIC S9(7)V99 COMP-3.
PROCEDURE DIVISION USING Amount.
    ADD Amount TO Balance
    INVOKE SELF "audit" USING Amount
    INVOKE SUPER "audit" USING Amount
    INVOKE Log-Ref "write" USING Amount
    CALL "AUDITPGM" USING Amount.
END METHOD deposit.
END OBJECT.
END CLASS Account.
CLASS-ID. Base.
OBJECT.
PROCEDURE DIVISION.
METHOD-ID. audit.
DATA DIVISION.
LINKAGE SECTION.
01 Seen PIC S9(7)V99 COMP-3.
PROCEDURE DIVISION USING Seen.
    DISPLAY Seen.
END METHOD audit.
END OBJECT.
END CLASS Base.
FUNCTION-ID. RATE.
DATA DIVISION.
LINKAGE SECTION.
01 L-IN PIC 9(5).
01 L-OUT PIC 9(7).
PROCEDURE DIVISION USING L-IN RETURNING L-OUT.
    COMPUTE L-OUT = L-IN * 2
    GOBACK.
END FUNCTION RATE.
"""
MAIN = """\
PROGRAM-ID. Main.
ENVIRONMENT DIVISION.
CONFIGURATION SECTION.
REPOSITORY.
    CLASS Account IS "Account" FUNCTION RATE.
DATA DIVISION.
WORKING-STORAGE SECTION.
01 Acc OBJECT REFERENCE Account.
01 Amt PIC S9(7)V99 COMP-3.
01 Meth PIC X(10) VALUE "deposit".
01 Any-Ref OBJECT REFERENCE.
01 G.
   05 Got PIC 9(7).
01 More PIC 9(7).
PROCEDURE DIVISION.
    INVOKE Account "open-one" RETURNING Acc
    INVOKE Acc "deposit" USING BY VALUE Amt
    INVOKE Acc Meth USING Amt
    INVOKE Any-Ref "deposit" USING Amt
    SET Acc TO Account::"open-one"
    INVOKE Acc::audit(Amt)
    MOVE RATE(More) TO Got OF G
    COMPUTE More = FUNCTION RATE(Got) + 1
    CALL "GIVES" RETURNING Got
    GOBACK.
END PROGRAM Main.
PROGRAM-ID. GIVES.
DATA DIVISION.
LINKAGE SECTION.
01 Given PIC 9(7).
PROCEDURE DIVISION RETURNING Given.
    MOVE 3 TO Given
    GOBACK.
END PROGRAM GIVES.
"""
TYPED = """\
class-id Shop.Till inherits type System.Windows.Forms.Form.
working-storage section.
01 Panel type Shop.Help.
01 Box type System.Windows.Forms.TextBox.
01 Code-Of pic 9(4).
method-id ShowIt final private.
procedure division.
"""
_FILES = {"classes.cbl": CLASSES, "main.cbl": MAIN}


@cache
def _read() -> LinkedEstate:
    return LinkedEstate([], _FILES.items(), "free")


def _sentences(*verbs: str) -> set[str]:
    return {
        f"{edge.source} {edge.verb} {edge.target} {edge.certainty}"
        for edge in _read().graph.edges()
        if edge.verb in verbs
    }


@pytest.mark.proves("C-16")
def test_a_method_is_reached_by_the_class_of_its_object() -> None:
    """A class has its own method or inherits it; an object may belong to a subclass of the declared class."""
    assert _sentences("calls", "inherits") == {
        "ACCOUNT inherits BASE is",
        "ACCOUNT::OPEN-ONE calls ACCOUNT is",  # NEW is part of the language
        "ACCOUNT::DEPOSIT calls BASE::AUDIT is",  # by SUPER, and by SELF, which has no method of its own
        "ACCOUNT::DEPOSIT calls COM.ACME.LOGGER may",
        "ACCOUNT::DEPOSIT calls AUDITPGM is",
        "MAIN calls ACCOUNT::OPEN-ONE is",
        "MAIN calls ACCOUNT::DEPOSIT may",
        "MAIN calls BASE::AUDIT may",
        "MAIN calls MAIN.ANY-REF unknown",
        "MAIN calls RATE is",
        "MAIN calls GIVES is",
    }
    estate = _read()
    assert [node.name for node in nodes_named(estate.graph, "deposit")] == ["ACCOUNT::DEPOSIT"]
    assert estate.callers("Base::audit") == ["Account::deposit", "Main"]
    assert [one.name for one in estate.inventory.missing] == ["AUDITPGM"]
    assert not [one for _, said in estate.programs for one in (*said.undeclared, *said.unread) if one[0] != "Balance"]


@pytest.mark.proves("C-16")
def test_a_method_uses_the_data_of_its_object_or_factory() -> None:
    """A factory method does not see the data of objects."""
    assert {one for one in _sentences("writes") if "ACCOUNT." in one} == {
        "ACCOUNT::OPEN-ONE.(MAIN) writes ACCOUNT.MADE is",
        "ACCOUNT::DEPOSIT.(MAIN) writes ACCOUNT.BALANCE is",
    }
    assert "ACCOUNT::DEPOSIT.AMOUNT computes ACCOUNT.BALANCE is" in _sentences("computes")


@pytest.mark.proves("C-16")
def test_what_is_returned_is_followed() -> None:
    """Returned values are followed, whether unchanged or calculated with; arguments go in the other direction."""
    assert _sentences("passes to") == {
        "ACCOUNT::OPEN-ONE.RESULT passes to MAIN.ACC is",
        "ACCOUNT::DEPOSIT.AMOUNT passes to AUDITPGM is",
        "ACCOUNT::DEPOSIT.AMOUNT passes to BASE::AUDIT.SEEN is",
        "ACCOUNT::DEPOSIT.AMOUNT passes to COM.ACME.LOGGER may",
        "MAIN.AMT passes to ACCOUNT::DEPOSIT.AMOUNT may",
        "MAIN.AMT passes to BASE::AUDIT.SEEN may",
        "MAIN.MORE passes to RATE.L-IN is",
        "MAIN.GOT passes to RATE.L-IN is",
        "RATE.L-OUT passes to MAIN.GOT is",
        "GIVES.GIVEN passes to MAIN.GOT is",
    }
    assert "RATE.L-OUT computes MAIN.MORE is" in _sentences("computes")


@pytest.mark.proves("C-16")
def test_class_control_names_classes_with_or_without_is() -> None:
    """Micro Focus names the file of each class, and IS may be left out."""
    control = 'ENVIRONMENT DIVISION.\nCLASS-CONTROL.\n    Opened IS CLASS "account"\n    Basis class "base".\n'
    body = 'PROCEDURE DIVISION.\n    INVOKE Opened "open-one"\n    INVOKE Basis "audit"\n    GOBACK.\n'
    estate = LinkedEstate([], {"classes.cbl": CLASSES, "m.cbl": f"PROGRAM-ID. M.\n{control}{body}"}.items(), "free")
    calls = {(edge.target.name, edge.certainty) for edge in estate.graph.edges() if edge.source.name == "M"}
    assert calls == {("ACCOUNT::OPEN-ONE", "is"), ("BASE::AUDIT", "is")}


@pytest.mark.proves("C-16")
@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("set Panel to new Shop.Help(Code-Of)", 8),
        ("set Box::Text to type System.Convert::ToString(Code-Of)", 8),
        ("invoke type Shop.Help::Reset(Code-Of)", 8),
    ],
)
def test_the_name_of_a_type_is_one_word(statement: str, line: int) -> None:
    """The periods in `Shop.Help` end no sentence, so that what follows the name is used, and nothing is unknown."""
    source = scan(f"{TYPED}    {statement}\nend method.\nend class.\n", source_format="free")
    (*_, method) = source.programs
    assert not facts(source, method).unread
    assert not source.warnings
    estate = LinkedEstate([], [("till.cbl", source.code)], "free")
    uses = [edge for edge in estate.graph.edges() if edge.verb == "reads" and edge.target.name.endswith("CODE-OF")]
    assert [place.line for edge in uses for place in edge.citations] == [line]


@pytest.mark.proves("C-16")
def test_a_type_in_the_code_is_the_class_of_that_name() -> None:
    """`type X::m`, `new X` and an item of `type X` need no REPOSITORY: what the object's own class is stays open."""
    code = "    invoke type Shop.Help::Reset()\n    set Panel to new Shop.Help\n    invoke Panel::Load()\n"
    methods = "".join(
        f"method-id {name}.\nprocedure division.\n    goback.\nend method.\n" for name in ("new", "Load", "Reset")
    )
    helped = f"class-id Shop.Help.\n{methods}end class.\n"
    files = [("till.cbl", f"{TYPED}{code}end method.\nend class.\n"), ("help.cbl", helped)]
    edges = LinkedEstate([], files, "free").graph.edges()
    assert {(edge.target.name, edge.certainty) for edge in edges if edge.verb == "calls"} == {
        ("SHOP.HELP::RESET", "is"),
        ("SHOP.HELP::NEW", "is"),
        ("SHOP.HELP::LOAD", "may"),
    }
    assert is_interface("System.Convert::ToString")
    assert not is_interface("Shop.Help::Load")


@pytest.mark.proves("C-16")
def test_a_program_without_a_repository_uses_types_by_their_names() -> None:
    """An item may be called TYPE: what it is follows that name."""
    source = scan(
        "program-id. Till.\nworking-storage section.\n01 Panel type Shop.Help.\n01 type pic x.\n01 type-2 type Shop.Till.\n"
        "procedure division.\n    set Panel to new Shop.Help\n    invoke type Shop.Help::Reset()\n    invoke type-2::Load()\n"
        "    display type::Load().\n",
        source_format="free",
    )
    found = facts(source, source.programs[0])
    assert [(call.target, call.is_sure) for call in found.calls] == [
        ("SHOP.HELP::NEW", True),
        ("SHOP.HELP::RESET", True),
        ("SHOP.TILL::LOAD", False),
    ]


@pytest.mark.proves("C-16")
def test_a_class_has_a_static_part() -> None:
    """NetCOBOL for .NET has STATIC where others have FACTORY; END STATIC is no statement, and a method uses its own data."""
    method = "METHOD-ID. A.\nPROCEDURE DIVISION.\n    MOVE 1 TO Made.\nEND METHOD A.\n"
    parts = [
        f"{part}.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n01 {group}.\n   05 Made PIC 9.\n"
        f"PROCEDURE DIVISION.\n{methods}END {part}.\n"
        for part, group, methods in (("OBJECT", "Own", method), ("STATIC", "Shared", ""))
    ]
    text = f"CLASS-ID. C.\n{''.join(parts)}END CLASS C.\n"
    assert not scan(text, source_format="free").warnings
    edges = LinkedEstate([], [("c.cbl", text)], "free").graph.edges()
    assert [str(edge.target) for edge in edges if edge.verb == "writes"] == ["C.OWN.MADE"]


@pytest.mark.proves("C-16")
@pytest.mark.parametrize("heading", ["IDENTIFICATION DIVISION.\n", "ID DIVISION.", ""])
def test_a_part_of_a_class_may_have_an_identification_division(heading: str) -> None:
    """`ID DIVISION. OBJECT.` begins no program of its own: what the part declares belongs to the class, whose methods use it."""
    method = "ID DIVISION.\nMETHOD-ID. A.\nPROCEDURE DIVISION.\n    MOVE 1 TO Made.\nEND METHOD A.\n"
    parts = (
        f"{heading} {part}.\nDATA DIVISION.\nWORKING-STORAGE SECTION.\n01 {item} PIC 9.\nPROCEDURE DIVISION.\n{code}END {part}.\n"
        for part, item, code in (("FACTORY", "Other", ""), ("OBJECT", "Made", method))
    )
    source = scan(f"ID DIVISION.\nCLASS-ID. C.\n{''.join(parts)}END CLASS C.\n", source_format="free")
    assert [(one.kind, one.called) for one in source.programs] == [("class", "C"), ("method", "C::A")]
    edges = LinkedEstate([], [("c.cbl", source.code)], "free").graph.edges()
    assert [str(edge.target) for edge in edges if edge.verb == "writes"] == ["C.MADE"]


@pytest.mark.proves("C-16")
def test_a_method_may_have_a_source_of_its_own() -> None:
    """NetCOBOL compiles `METHOD-ID. M OF C` alone; the class has a prototype of it, which is no method, and SELF is the class."""
    begun = "METHOD-ID. Store PROTOTYPE.\nPROCEDURE DIVISION.\nEND METHOD Store.\n"
    told = "METHOD-ID. Tell.\nPROCEDURE DIVISION.\n    GOBACK.\nEND METHOD Tell.\n"
    files = [
        ("c.cbl", f"CLASS-ID. C.\nOBJECT.\nPROCEDURE DIVISION.\n{begun}{told}END OBJECT.\nEND CLASS C.\n"),
        ("store.cbl", 'METHOD-ID. Store OF C.\nPROCEDURE DIVISION.\n    INVOKE SELF "Tell".\nEND METHOD Store.\n'),
    ]
    edges = [edge for edge in LinkedEstate([], files, "free").graph.edges() if edge.verb in {"part of", "calls"}]
    assert {f"{edge.source} {edge.verb} {edge.target} {edge.citations[0].path}" for edge in edges} == {
        "C::STORE part of C store.cbl",
        "C::TELL part of C c.cbl",
        "C::STORE calls C::TELL store.cbl",
    }


def test_programs_of_a_file_that_says_new_take_time_by_their_number_alone() -> None:
    """Whether a file uses types by their own names is looked for once, and not for each of its programs."""

    def work(size: int) -> Callable[[], object]:
        said = "    DISPLAY 'a new year'.\n" * 50
        text = "".join(f"PROGRAM-ID. P{at}.\nPROCEDURE DIVISION.\n{said}END PROGRAM P{at}.\n" for at in range(size))
        source = scan(text, source_format="free")
        return lambda: [facts(source, one) for one in source]

    assert growth(work, 100) < BOUND
