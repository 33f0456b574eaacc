"""How good and how fast are the counts? Prints Markdown tables, ours and the peers in one run.

    python bench/tokens.py [--data DIR]        (or PENSTOCK_DATA=DIR)

`DIR/<kind>/<file>` as `bench/fit_tokens.py collect` creates it; without one, a corpus is collected from the running Python and the
system's documentation. Only files held out of the fit are judged. `tiktoken` needs its vocabulary in `TIKTOKEN_CACHE_DIR`, because
it downloads it otherwise; the table says if it is missing. Counts of the Claude families are judged if `ctok` is installed or
`measured.jsonl` next to the data holds them.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bench import fit_tokens
else:
    sys.path.insert(0, str(Path(__file__).parent))
    import fit_tokens

SHARES = (50, 90, 99)


def share(values: list[float], percent: float) -> float:
    """The percentile, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The best processor time of a few runs: other programs of the machine do not count."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A Markdown table."""
    head = list(head)
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def _judged(rows: list[fit_tokens.Measured], family: str) -> list[object]:
    errors, plain, above, over = [], [], [], []
    below = 0
    for row in rows:
        truth = row.truth[family]
        counted = tokens.count(row.data, model=family)
        errors.append(abs(counted.tokens - truth) / truth * 100)
        plain.append(abs(len(row.data.decode()) / 4 - truth) / truth * 100)
        above.append(counted.high / truth)
        over.append(truth > counted.high)
        below += truth < counted.low
    return [
        len(rows),
        f"{share(errors, 50):.1f} / {share(errors, 90):.1f}",
        f"{share(plain, 50):.1f} / {share(plain, 90):.1f}",
        f"{100 * sum(over) / len(rows):.2f}",
        f"{share(above, 50):.2f} / {share(above, 90):.2f}",
        f"{100 * below / len(rows):.2f}",
    ]


JUDGED = ("windows", "error p50 / p90, %", "chars/4, %", "above `high`, %", "`high` / true p50 / p90", "below `low`, %")


def estimates(rows: list[fit_tokens.Measured]) -> None:
    """Accuracy of the estimator on held-out files: each family, then each kind."""
    held = [row for row in rows if row.held_out]
    natural = [row for row in held if row.kind not in fit_tokens.MADE]
    families = [name for name in ("o200k", "cl100k", "claude3", "claude") if name in held[0].truth]
    print("## Estimates, on files that the fit has not seen\n")
    table(
        ("family", "texts", *JUDGED),
        [
            (name, label, *_judged(some, name))
            for name in families
            for label, some in (("found", natural), ("found and made", held))
        ],
    )
    kinds = defaultdict(list)
    for row in held:
        kinds[row.kind].append(row)
    for name in families:
        if name in ("o200k", "claude"):
            print(f"### {name}, by kind\n")
            table(("kind", *JUDGED), [(kind, *_judged(kinds[kind], name)) for kind in sorted(kinds)])


def _material(folder: Path, size: int) -> bytes:
    joined = b"".join(path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file())
    return (joined * (size // max(1, len(joined)) + 1))[:size].decode(errors="ignore").encode()


def _peer() -> Any:
    if "TIKTOKEN_CACHE_DIR" not in os.environ:
        return None
    try:
        import tiktoken

        return tiktoken.get_encoding("o200k_base")
    except (ImportError, OSError, ValueError):
        return None


def exact(data: Path) -> None:
    """Speed of exact counting compared with tiktoken, and whether both give the same."""
    print("## Exact counts, o200k, one thread\n")
    peer = _peer()
    if peer is None:
        print("No tiktoken with its vocabulary in TIKTOKEN_CACHE_DIR here, so nothing to compare with.\n")
    rows = []
    for kind in ("python", "go", "cobol", "json", "markdown", "chinese", "minified", "log", "base64"):
        if not (data / kind).is_dir():
            continue
        text = _material(data / kind, 2_000_000).decode()
        size = len(text.encode())
        ours = size / 1e6 / seconds(lambda text=text: tokens.count(text, mode="exact"))  # type: ignore[misc]
        estimate = size / 1e6 / seconds(lambda text=text: tokens.count(text))  # type: ignore[misc]
        theirs, same = "-", "-"
        ratio = "-"
        if peer is not None:
            speed = size / 1e6 / seconds(lambda text=text, peer=peer: peer.encode_ordinary(text), 2)  # type: ignore[misc]
            theirs, ratio = f"{speed:.0f}", f"{ours / speed:.1f}"
            same = "yes" if len(peer.encode_ordinary(text)) == tokens.count(text, mode="exact").tokens else "NO"
        rows.append((kind, f"{estimate:.0f}", f"{ours:.0f}", theirs, ratio, same))
    table(("2 MB of", "estimate, MB/s", "exact, MB/s", "tiktoken, MB/s", "exact : tiktoken", "same number"), rows)
    noise = fit_tokens._stream("letters", 1_000_000)
    odd = []
    for label, text in (
        ("`a`", "a" * 1_000_000), ("spaces", " " * 1_000_000), ("`=`", "=" * 1_000_000),
        ("random letters", bytes(97 + byte % 26 for byte in noise).decode()),
    ):  # fmt: skip
        took = seconds(lambda text=text: tokens.count(text, mode="exact"), 2)  # type: ignore[misc]
        quick = seconds(lambda text=text: tokens.count(text), 2)  # type: ignore[misc]
        counted, true = tokens.count(text), tokens.count(text, mode="exact").tokens
        odd.append((label, f"{took:.3f}", f"{quick:.3f}", true, f"{counted.low} to {counted.high}"))
    table(("1 MB of", "exact, s", "estimate, s", "tokens", "estimate says"), odd)


def sampled(data: Path, size: int) -> None:
    """The error and the speed of sampling a large file, compared with counting all of it."""
    print(f"## Sampled counts of {size // 1_000_000} MB\n")
    rows, errors, inside, speeds = [], [], 0, []
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        if folder.name in fit_tokens.MADE:
            continue
        whole = _material(folder, size)
        handle = io.BytesIO(whole)

        def read(offset: int, count: int, handle: io.BytesIO = handle) -> bytes:
            handle.seek(offset)
            return handle.read(count)

        start = time.process_time()
        true = tokens.count(whole, mode="exact").tokens
        took = time.process_time() - start
        counted = tokens.sample_count(read, len(whole))
        quick = seconds(lambda read=read, whole=whole: tokens.sample_count(read, len(whole)))  # type: ignore[misc]
        error = (counted.tokens - true) / true * 100
        errors.append(abs(error))
        inside += counted.low <= true <= counted.high
        speeds.append(took / quick)
        rows.append((folder.name, true, f"{error:+.1f}", f"{counted.low / true:.2f} to {counted.high / true:.2f}",
                     f"{took * 1e3:.0f}", f"{quick * 1e3:.2f}", f"{took / quick:.0f}"))  # fmt: skip
    table(("kind", "tokens", "error, %", "bounds : true", "exact, ms", "sampled, ms", "exact : sampled"), rows)
    print(f"Error p50 {share(errors, 50):.1f} %, p90 {share(errors, 90):.1f} %, largest {max(errors):.1f} %; "
          f"{inside} of {len(errors)} within the bounds; at least {min(speeds):.0f} times as fast.\n")  # fmt: skip


def main() -> None:
    """Collect what is missing, then the three tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("PENSTOCK_DATA"))
    parser.add_argument("--megabytes", type=int, default=50)
    args = parser.parse_args()
    data = args.data
    if data is None:
        data = Path(tempfile.gettempdir()) / "penstock-tokens"
        if not data.exists():
            fit_tokens.collect(data, data / "no-repositories")
    estimates(fit_tokens.measure(data))
    exact(data)
    sampled(data, args.megabytes * 1_000_000)


if __name__ == "__main__":
    main()
