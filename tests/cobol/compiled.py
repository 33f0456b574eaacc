"""What does a program do once GnuCOBOL has compiled it, and how are the items declared that it moves?"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

BINARY = {2: 4, 4: 9, 8: 18}
"""The most digits that a binary item can have, by its bytes."""
TEXTS = frozenset({"text", "right", "group"})
NUMBERS = frozenset(
    {
        "digits", "signed", "apart", "decimals", "scaled", "packed", "binary", "native", "long", "edited", "money", "minus",
        "date",
    }
)  # fmt: skip


class Item(NamedTuple):
    """A declaration: the kind of item and its places, which are characters or digits before the point."""

    kind: str
    places: int
    decimals: int = 2
    """The digits after the point, for the kinds that have some."""

    def declared(self, name: str) -> str:
        """Return the data description entry."""
        n = self.places
        if self.kind == "group":
            return f"01 {name}. 05 FILLER PIC X. 05 FILLER PIC X({n - 1})."
        clauses = {
            "text": f"PIC X({n})",
            "right": f"PIC X({n}) JUSTIFIED",
            "spaced": f"PIC XXBX({n - 2})",
            "digits": f"PIC 9({n})",
            "signed": f"PIC S9({n})",
            "apart": f"PIC S9({n}) SIGN TRAILING SEPARATE",
            "decimals": f"PIC S9({n})V9({self.decimals})",
            "scaled": f"PIC 9({n - 1})P",
            "packed": f"PIC S9({n}) COMP-3",
            "binary": f"PIC S9({n}) COMP",
            "native": f"PIC S9({n}) COMP-5",
            "long": "BINARY-LONG",
            "edited": f"PIC Z({n - 1})9",
            "money": f"PIC $({n})9.{'9' * self.decimals}",
            "minus": f"PIC -({n})9",
            "date": f"PIC 99/99/9({n - 4})",
        }
        return f"01 {name} {clauses[self.kind]}."

    def bytes(self) -> int:
        """Return the length of the item."""
        n = self.places
        if self.kind in {"binary", "native"}:
            return next(size for size, most in BINARY.items() if n <= most)
        more = {
            "spaced": 1,
            "apart": 1,
            "decimals": self.decimals,
            "scaled": -1,
            "money": 2 + self.decimals,
            "minus": 1,
            "date": 2,
        }
        return 4 if self.kind == "long" else n // 2 + 1 if self.kind == "packed" else n + more.get(self.kind, 0)

    def grown_behind_point(self, more: int) -> Item:
        """Return the item with this many more digits after its point."""
        return self._replace(decimals=self.decimals + more)

    def grown(self, more: int) -> tuple[Item, Item]:
        """Return the smallest and the largest item that is this many bytes longer."""
        if self.kind in {"binary", "native"}:
            below = max((most for size, most in BINARY.items() if size < self.bytes() + more), default=0)
            most = next(most for size, most in BINARY.items() if size >= self.bytes() + more)
            return self._replace(places=max(self.places, below + 1)), self._replace(places=most)
        longer = self._replace(places=self.places + more * (2 if self.kind == "packed" else 1))
        return longer, longer


def ran(lines: Iterable[str], folder: Path, name: str) -> str:
    """Return what a program in free format displays.

    Args:
        lines: The source of the program.
        folder: The folder in which it is compiled.
        name: The name of its files there.
    """
    source, program = folder / f"{name}.cob", folder / f"x-{name}"
    source.write_text("".join(f"{line}\n" for line in lines))
    options = ("-x", "-free", "-w", "-std=default", "-fbinary-size=2-4-8", "-I", str(folder), "-o", str(program))
    done = subprocess.run(["cobc", *options, str(source)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    # The bytes that a program shows of a number need not be characters in any other encoding.
    shown = subprocess.run([str(program)], capture_output=True, timeout=60, check=True)
    return shown.stdout.decode("latin-1")
