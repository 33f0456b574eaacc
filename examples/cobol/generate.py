"""Writes the two members of this estate that nobody types: `cbl/MWRATE.cbl` and `host/MWS030.cbl`.

MWRATE rates the consumption of every class of customer. Offices like this one generate such programs from their tariff
sheets, and so does this: some 4,900 lines, with a table and a paragraph that are larger than many a prompt. MWS030 lies as it was
unloaded from the host: EBCDIC, records of 80 bytes, no line ends. The same output whenever it runs:

    python examples/cobol/generate.py
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent


class Tariff(NamedTuple):
    """One sheet: its class, what it is called, its blocks of consumption and what is special about it."""

    code: str
    name: str
    blocks: int
    winter: bool
    discount: bool
    sewage: bool


TARIFFS = (
    Tariff("H1", "HOUSEHOLDS", 4, winter=True, discount=True, sewage=True),
    Tariff("H2", "HOUSEHOLDS WITH A GARDEN METER", 6, winter=True, discount=True, sewage=True),
    Tariff("T1", "SMALL TRADE", 5, winter=False, discount=True, sewage=True),
    Tariff("T2", "LARGE TRADE", 9, winter=False, discount=True, sewage=True),
    Tariff("A1", "FARMS", 7, winter=True, discount=True, sewage=False),
    Tariff("P1", "SCHOOLS", 4, winter=True, discount=False, sewage=True),
    Tariff("P2", "HOSPITALS", 8, winter=False, discount=False, sewage=True),
    Tariff("P3", "FIRE BRIGADES", 3, winter=False, discount=False, sewage=False),
    Tariff("P4", "PARKS AND POOLS", 6, winter=True, discount=False, sewage=True),
    Tariff("N1", "NEIGHBOURING COMPANIES", 9, winter=False, discount=True, sewage=False),
)
DISTRICTS = range(101, 321)
QUARTERS = ("NORTH BANK", "SOUTH BANK", "OLD TOWN", "HARBOUR", "HILLS", "MOOR", "MILLS", "STATION", "MEADOWS", "FERRY")


def price(tariff: int, block: int) -> str:
    """Per cubic metre, falling from block to block."""
    return f"{0.4 + 0.11 * (tariff + 1) + 1.9 / (block + 1):.4f}"


def threshold(tariff: int, block: int) -> int:
    """Where a block ends, in cubic metres a year."""
    return (block + 1) ** 2 * (20 + 15 * tariff)


def comment(*lines: str) -> Iterator[str]:
    yield "      *" + "-" * 64
    yield from (f"      * {line}" for line in lines)
    yield "      *" + "-" * 64


def header() -> Iterator[str]:
    yield "       >>SOURCE FORMAT IS FIXED"
    yield from comment(
        "MILLWATER COMPANY            RATING                    MWRATE",
        "Generated from the tariff sheets by generate.py. Changes belong",
        "there: what is typed here is lost with the next sheet.",
    )
    yield "       IDENTIFICATION DIVISION."
    yield "       PROGRAM-ID. MWRATE."
    yield "       DATA DIVISION."
    yield "       WORKING-STORAGE SECTION."
    yield "       01  WS-WORK."
    for name, picture in (
        ("WS-REST-M3", "S9(07)V99 COMP-3"),
        ("WS-BLOCK-M3", "S9(07)V99 COMP-3"),
        ("WS-LIMIT-M3", "S9(07)V99 COMP-3"),
        ("WS-AMOUNT", "S9(07)V9(04) COMP-3"),
        ("WS-SEWAGE", "S9(07)V9(04) COMP-3"),
        ("WS-DISCOUNT", "S9(07)V9(04) COMP-3"),
        ("WS-SURCHARGE", "S9(03)V9(04) COMP-3"),
        ("WS-TAX-RATE", "S9(01)V9(04) COMP-3"),
        ("WS-DAYS-OF-YEAR", "S9(03) COMP-3"),
        ("WS-RELIEFS", "S9(03) COMP-3"),
    ):
        yield f"           05  {name:<24}PIC {picture}."
    yield "       01  WS-SEASON                       PIC X(01)."
    yield "           88  SEASON-WINTER                         VALUE 'W'."
    yield "           88  SEASON-SUMMER                         VALUE 'S'."
    yield "       01  WS-TODAY."
    yield "           05  WS-YEAR                     PIC 9(04)."
    yield "           05  WS-MONTH                    PIC 9(02)."
    yield "           05  WS-DAY                      PIC 9(02)."


def price_table() -> Iterator[str]:
    """Prices as the sheet has them: one row a class and block, class, block, limit and price in one literal."""
    rows = [(t, b, tariff) for t, tariff in enumerate(TARIFFS) for b in range(tariff.blocks)]
    yield "       01  PRICE-ROWS."
    for t, b, tariff in rows:
        value = f"{tariff.code}{b + 1:02d}{threshold(t, b):07d}{price(t, b).replace('.', ''):0>7}"
        yield f"           05  FILLER PIC X(18) VALUE '{value}'."
    yield "       01  PRICE-TABLE REDEFINES PRICE-ROWS."
    yield f"           05  PRICE-ROW OCCURS {len(rows)} TIMES INDEXED BY PRICE-IX."
    yield "               10  PRICE-CLASS             PIC X(02)."
    yield "               10  PRICE-BLOCK             PIC 9(02)."
    yield "               10  PRICE-LIMIT-M3          PIC 9(07)."
    yield "               10  PRICE-PER-M3            PIC 9(03)V9(04)."


def district_table() -> Iterator[str]:
    """Names, pressure zones and inspectors of the districts: larger than a small prompt, and never cut inside an item."""
    yield "       01  DISTRICT-ROWS."
    for n, district in enumerate(DISTRICTS):
        yield f"      * district {district}, sheet {n // 20 + 1}"
        yield f"           05  FILLER.                                 *> {QUARTERS[n % 10].lower()}"
        yield f"               10  FILLER PIC 9(03) VALUE {district}."
        yield f"               10  FILLER PIC X(16) VALUE '{QUARTERS[n % 10]} {n // 10 + 1}'."
        yield f"               10  FILLER PIC X(06) VALUE 'ZONE-{(n * 7) % 9 + 1}'."
    yield "       01  DISTRICT-TABLE REDEFINES DISTRICT-ROWS."
    yield f"           05  DISTRICT-ROW OCCURS {len(DISTRICTS)} TIMES"
    yield "                   ASCENDING KEY IS DISTRICT-NUMBER"
    yield "                   INDEXED BY DISTRICT-IX."
    yield "               10  DISTRICT-NUMBER         PIC 9(03)."
    yield "               10  DISTRICT-NAME           PIC X(16)."
    yield "               10  DISTRICT-ZONE           PIC X(06)."
    yield "       LINKAGE SECTION."
    yield "           COPY MWRATE."


def main_line() -> Iterator[str]:
    yield "       PROCEDURE DIVISION USING RATE-AREA."
    yield "       MAIN-LINE SECTION."
    yield "       0000-MAIN."
    yield "           MOVE 0 TO RATE-RETURN-CODE RATE-NET RATE-TAX RATE-STANDING"
    yield "           ACCEPT WS-TODAY FROM DATE YYYYMMDD"
    yield "           PERFORM 0100-SEASON"
    yield "           PERFORM 0200-DISTRICT THRU 0200-DISTRICT-EXIT"
    yield "           IF NOT RATE-OK"
    yield "               GOBACK"
    yield "           END-IF"
    yield "           EVALUATE RATE-CLASS"
    for tariff in TARIFFS:
        yield f"               WHEN '{tariff.code}'"
        yield f"                   PERFORM RATE-{tariff.code}"
    yield "               WHEN OTHER"
    yield "                   SET RATE-UNKNOWN-CLASS TO TRUE"
    yield "           END-EVALUATE"
    yield "           MOVE 0 TO WS-RELIEFS"
    yield "           PERFORM RELIEFS"
    yield "           PERFORM DISTRICT-SURCHARGE"
    yield "           PERFORM 0900-ROUND THRU 0900-ROUND-EXIT"
    yield "           GOBACK."
    yield "       0100-SEASON."
    yield "           IF WS-MONTH < 4 OR > 10"
    yield "               SET SEASON-WINTER TO TRUE"
    yield "           ELSE"
    yield "               SET SEASON-SUMMER TO TRUE"
    yield "           END-IF"
    yield "           MOVE 365 TO WS-DAYS-OF-YEAR"
    yield "           IF FUNCTION MOD (WS-YEAR 4) = 0"
    yield "               MOVE 366 TO WS-DAYS-OF-YEAR"
    yield "           END-IF."
    yield "       0200-DISTRICT."
    yield "           SEARCH ALL DISTRICT-ROW"
    yield "               AT END"
    yield "                   SET RATE-UNKNOWN-DISTRICT TO TRUE"
    yield "                   GO TO 0200-DISTRICT-EXIT"
    yield "               WHEN DISTRICT-NUMBER (DISTRICT-IX) = RATE-DISTRICT"
    yield "                   CONTINUE"
    yield "           END-SEARCH."
    yield "       0200-DISTRICT-EXIT."
    yield "           EXIT."
    yield "       0900-ROUND."
    yield "           IF NOT RATE-OK"
    yield "               GO TO 0900-ROUND-EXIT"
    yield "           END-IF"
    yield "           COMPUTE RATE-NET ROUNDED = RATE-NET * (1 + WS-SURCHARGE)"
    yield "           COMPUTE RATE-TAX ROUNDED = RATE-NET * WS-TAX-RATE."
    yield "       0900-ROUND-EXIT."
    yield "           EXIT."


def block(t: int, tariff: Tariff, b: int) -> Iterator[str]:
    """One block of consumption: what of it is used, and what it costs."""
    code, last = tariff.code, b + 1 == tariff.blocks
    yield f"       {code}-{20 + b}-BLOCK-{b + 1}."
    yield f"      * Block {b + 1} of {tariff.blocks}: " + (
        "all the rest" if last else f"up to {threshold(t, b)} m3 a year"
    )
    yield "           IF WS-REST-M3 NOT > 0"
    yield f"               GO TO {code}-30-BLOCKS-EXIT"
    yield "           END-IF"
    if last:
        yield "           MOVE WS-REST-M3 TO WS-BLOCK-M3"
    else:
        width = threshold(t, b) - (threshold(t, b - 1) if b else 0)
        yield "           COMPUTE WS-LIMIT-M3 ROUNDED ="
        yield f"               {width} * RATE-DAYS / WS-DAYS-OF-YEAR"
        yield "           IF WS-REST-M3 > WS-LIMIT-M3"
        yield "               MOVE WS-LIMIT-M3 TO WS-BLOCK-M3"
        yield "           ELSE"
        yield "               MOVE WS-REST-M3 TO WS-BLOCK-M3"
        yield "           END-IF"
    yield "           SUBTRACT WS-BLOCK-M3 FROM WS-REST-M3"
    yield f"           COMPUTE WS-AMOUNT = WS-BLOCK-M3 * {price(t, b)}"
    if tariff.winter and b % 2:
        yield "           IF SEASON-WINTER"
        yield f"               MULTIPLY 0.9{b} BY WS-AMOUNT"
        yield "           END-IF"
    yield "           ADD WS-AMOUNT TO RATE-NET."


def section(t: int, tariff: Tariff) -> Iterator[str]:
    """All of one sheet."""
    code = tariff.code
    yield from comment(f"Tariff {code}: {tariff.name}")
    yield f"       RATE-{code} SECTION."
    yield f"       {code}-00-START."
    yield "           MOVE RATE-CONSUMPTION-M3 TO WS-REST-M3"
    yield f"           MOVE 0.{7 if tariff.sewage else 19:02d} TO WS-TAX-RATE"
    yield f"           PERFORM {code}-10-STANDING"
    yield f"           PERFORM {code}-20-BLOCK-1 THRU {code}-30-BLOCKS-EXIT"
    if tariff.sewage:
        yield f"           PERFORM {code}-40-SEWAGE THRU {code}-40-SEWAGE-EXIT"
    if tariff.discount:
        yield f"           PERFORM {code}-50-DISCOUNT"
    yield f"           GO TO {code}-90-EXIT."
    yield f"       {code}-10-STANDING."
    yield "           COMPUTE RATE-STANDING ROUNDED ="
    yield f"               {30 + 12 * t}.40 * RATE-DAYS / WS-DAYS-OF-YEAR."
    for b in range(tariff.blocks):
        yield from block(t, tariff, b)
    yield f"       {code}-30-BLOCKS-EXIT."
    yield "           EXIT."
    if tariff.sewage:
        yield f"       {code}-40-SEWAGE."
        yield "           IF RATE-CONSUMPTION-M3 = 0"
        yield f"               GO TO {code}-40-SEWAGE-EXIT"
        yield "           END-IF"
        yield f"           COMPUTE WS-SEWAGE = RATE-CONSUMPTION-M3 * 0.{80 + t} * 1.{t}5"
        yield "           EVALUATE DISTRICT-ZONE (DISTRICT-IX)"
        for zone in range(1, 10):
            yield f"               WHEN 'ZONE-{zone}'"
            yield f"                   MULTIPLY 1.0{(zone * (t + 1)) % 10} BY WS-SEWAGE"
        yield "           END-EVALUATE"
        yield "           ADD WS-SEWAGE TO RATE-NET."
        yield f"       {code}-40-SEWAGE-EXIT."
        yield "           EXIT."
    if tariff.discount:
        yield f"       {code}-50-DISCOUNT."
        yield "           MOVE 0 TO WS-DISCOUNT"
        for step in range(1, 6):
            yield f"           IF RATE-CONSUMPTION-M3 > {threshold(t, step) * 3}"
            yield f"               COMPUTE WS-DISCOUNT = RATE-NET * 0.0{step}"
            yield "           END-IF"
        yield "           SUBTRACT WS-DISCOUNT FROM RATE-NET."
    yield f"       {code}-90-EXIT."
    yield "           EXIT."


def surcharge() -> Iterator[str]:
    """One sentence of a thousand lines: no prompt of 8,000 tokens holds it."""
    yield from comment(
        "What the districts add, by resolution of their councils.", "One EVALUATE: the sheet is one table."
    )
    yield "       DISTRICT-SURCHARGE SECTION."
    yield "       SURCHARGE-OF-DISTRICT."
    yield "           MOVE 0 TO WS-SURCHARGE"
    yield "           EVALUATE RATE-DISTRICT ALSO TRUE"
    for n, district in enumerate(DISTRICTS):
        if n % 20 == 0:
            yield f"      * sheet {n // 20 + 1}"
        yield f"               WHEN {district} ALSO SEASON-WINTER"
        yield f"                   MOVE 0.{(n * 13) % 97 + 2:04d} TO WS-SURCHARGE"
        yield f"               WHEN {district} ALSO ANY"
        yield f"                   MOVE 0.{(n * 29) % 89 + 1:04d} TO WS-SURCHARGE"
    yield "               WHEN OTHER"
    yield "                   SET RATE-UNKNOWN-DISTRICT TO TRUE"
    yield "           END-EVALUATE."


def reliefs() -> Iterator[str]:
    """A long paragraph of short sentences: what was granted, year by year, and never taken back."""
    yield from comment("Reliefs by decree. A decree is a sentence.")
    yield "       RELIEFS SECTION."
    yield "       RELIEF-BY-DECREE."
    for n, district in enumerate(DISTRICTS):
        code = TARIFFS[n % len(TARIFFS)].code
        yield f"      * Decree {1962 + n // 4}/{n % 4 + 1}: {QUARTERS[n % 10].lower()}"
        yield f"           IF RATE-DISTRICT = {district} AND RATE-CLASS = '{code}'"
        yield f"               IF WS-YEAR > {1963 + n // 4}"
        yield f"                   COMPUTE RATE-NET = RATE-NET * 0.9{n % 10}"
        yield "               END-IF"
        yield "               ADD 1 TO WS-RELIEFS."
    yield "       RELIEF-EXIT."
    yield "           EXIT."


def rating_program() -> str:
    """The whole of cbl/MWRATE.cbl."""
    lines = [*header(), *price_table(), *district_table(), *main_line()]
    for t, tariff in enumerate(TARIFFS):
        lines += section(t, tariff)
    lines += [*surcharge(), *reliefs()]
    lines.append("       END PROGRAM MWRATE.")
    return "\n".join(lines) + "\n"


HOST_MEMBER = """\
      * MWS030: the account number of a bank, checked by modulo 97.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. MWS030.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  WS-REST                         PIC 9(02).
       01  WS-SUM                          PIC 9(09) COMP.
       LINKAGE SECTION.
       01  LK-ACCOUNT                      PIC 9(12).
       01  LK-CHECK                        PIC 9(02).
       01  LK-ANSWER                       PIC X(01).
           88  ACCOUNT-RIGHT                         VALUE 'Y'.
           88  ACCOUNT-WRONG                         VALUE 'N'.
       PROCEDURE DIVISION USING LK-ACCOUNT LK-CHECK LK-ANSWER.
       CHECK-ACCOUNT.
           COMPUTE WS-SUM = FUNCTION MOD (LK-ACCOUNT 97)
           COMPUTE WS-REST = 98 - WS-SUM
           IF WS-REST = LK-CHECK
               SET ACCOUNT-RIGHT TO TRUE
           ELSE
               SET ACCOUNT-WRONG TO TRUE
           END-IF
           GOBACK.
"""


def host_member() -> bytes:
    """The whole of host/MWS030.cbl: code page 037, records of 80 bytes."""
    return b"".join(line.ljust(80).encode("cp037") for line in HOST_MEMBER.splitlines())


if __name__ == "__main__":
    (HERE / "cbl" / "MWRATE.cbl").write_text(rating_program(), encoding="ascii", newline="\n")
    (HERE / "host" / "MWS030.cbl").write_bytes(host_member())
