"""Where do the estimator's weights come from? Collect texts, count them exactly, fit, print the tables.

    python bench/fit_tokens.py collect --data DIR [--sources DIR]
    python bench/fit_tokens.py measure --data DIR
    python bench/fit_tokens.py fit     --data DIR

The layout is `DIR/<kind>/<file>`, as `bench/tokens.py` reads it. `collect` fills it from the running Python, the documentation and
locales of the system and, under `--sources`, unpacked public repositories, each in a folder `owner+name` (see `RECIPE`). Texts are
never committed: only the numbers that `fit` prints are, in `penstock/text/token_estimate.py`. Files are split by a digest of their
content, so a text is in the fit or held out, never both.

`measure` needs `toktok-rs` and, for the Claude families, `ctok`; `fit` needs `numpy` and `scipy`. None of the last three is a
dependency of the product.
"""

from __future__ import annotations

import argparse
import base64
import gettext
import gzip
import hashlib
import importlib
import json
import math
import subprocess
import sys
import sysconfig
import textwrap
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.text import token_estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FILES_PER_KIND = 240
FILE_BYTES = 200_000
WINDOWS_PER_KIND = 320
WINDOW_BYTES = (300, 16_384)
HELD_OUT = 2  # one file in this many is held out of the fit

STDLIB = sysconfig.get_paths()["stdlib"]
SITE = sysconfig.get_paths()["purelib"]

# kind -> (root, glob) pairs. A root without a leading slash is a repository under --sources.
RECIPE: dict[str, tuple[tuple[str, str], ...]] = {
    "python": ((STDLIB, "*.py"), (STDLIB, "*/*.py")),
    "go": (("gin-gonic+gin", "**/*.go"),),
    "java": (("google+gson", "**/*.java"),),
    "c": (("jqlang+jq", "**/*.[ch]"), ("/usr/include", "*.h"), ("/usr/include", "linux/*.h")),
    "rust": (("BurntSushi+ripgrep", "**/*.rs"),),
    "typescript": (("vuejs+core", "**/*.ts"),),
    "javascript": (("lodash+lodash", "**/*.js"), ("/usr/lib/node_modules", "**/lib/**/*.js")),
    "cobol": (
        ("aws-samples+aws-mainframe-modernization-carddemo", "**/*.cbl"),
        ("aws-samples+aws-mainframe-modernization-carddemo", "**/*.CBL"),
        ("aws-samples+aws-mainframe-modernization-carddemo", "**/*.cpy"),
        ("aws-samples+aws-mainframe-modernization-carddemo", "**/*.CPY"),
    ),
    "jcl": (
        ("aws-samples+aws-mainframe-modernization-carddemo", "**/*.jcl"),
        ("aws-samples+aws-mainframe-modernization-carddemo", "**/*.JCL"),
        ("aws-samples+aws-mainframe-modernization-carddemo", "**/*.bms"),
    ),
    "perl": (("/usr/share/perl", "**/*.pm"), ("/usr/share/perl5", "**/*.pm")),
    "shell": (("/etc", "**/*.sh"), ("/usr/lib", "git-core/*"), ("/usr/bin", "*")),
    "sql": (("/usr/share", "**/*.sql"), ("/usr/lib", "**/*.sql")),
    "json": (("/usr/lib/node_modules", "**/*.json"), ("/usr/share", "**/*.json"), ("vuejs+core", "**/*.json")),
    "yaml": (("vuejs+core", "**/*.y*ml"), (".", "**/*.yml"), ("/usr/lib", "**/*.yaml")),
    "markdown": (("/usr/lib/node_modules", "**/*.md"), ("jqlang+jq", "**/*.md"), (".", "*/*.md")),
    "prose": (("/usr/share/doc", "**/README*"), ("/usr/share/doc", "**/*.txt"), ("/usr/share/doc", "**/copyright")),
    "man": (("/usr/share/man/man1", "*.gz"), ("/usr/share/man/man7", "*.gz")),
    "html": (("/usr/share/doc", "**/*.html"),),
    "xml": (("/usr/share", "**/*.xml"), ("/usr/share", "**/*.svg")),
    "css": (("/usr/share", "**/*.css"), ("vuejs-translations+docs-ja", "**/*.css"), (SITE, "**/*.css")),
    "csv": (("fivethirtyeight+data", "**/*.csv"),),
    "log": (("logpai+loghub", "**/*.log"), ("/var/log", "*.log")),
    "chinese": (("vuejs-translations+docs-zh-cn", "**/*.md"),),
    "japanese": (("vuejs-translations+docs-ja", "**/*.md"),),
    "pem": (("/usr/share/ca-certificates", "**/*.crt"),),
    "minified": ((".", "**/*.js"), ("/usr/share", "**/*.js"), ("/usr/lib", "**/*.js"), ("/usr/share", "**/*.css")),
}
LOCALES = (
    *("ru", "uk", "bg", "el", "de", "fr", "es", "pl", "cs", "tr", "vi", "fi", "hu"),
    *("ar", "he", "fa", "hi", "ta", "th", "ka", "ko", "zh_CN", "zh_TW", "ja"),
)
SCRIPTS = {"cyrillic": LOCALES[:3], "greek": LOCALES[3:4], "latin": LOCALES[4:13], "semitic": LOCALES[13:16],
           "brahmic": LOCALES[16:20], "cjk": LOCALES[20:]}  # fmt: skip


class Measured(NamedTuple):
    """One window: its kind, its file's digest, its bytes, and each family's true count."""

    kind: str
    file: int
    data: bytes
    truth: dict[str, int]

    @property
    def held_out(self) -> bool:
        """Whether the file is held out of the fit."""
        return self.file % HELD_OUT == 0


# --- collect -----------------------------------------------------------------------------------------------------


def _digest(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


def _stream(seed: str, size: int) -> bytes:
    """`size` bytes that look random and are the same on every machine."""
    return hashlib.shake_256(seed.encode()).digest(size)


def _long_lines(data: bytes) -> bool:
    return len(data) > 4_000 and len(data) / (data.count(b"\n") + 1) > 400


def _candidates(kind: str, sources: Path) -> Iterator[bytes]:
    for root, pattern in RECIPE[kind]:
        base = Path(root) if root.startswith("/") else sources / root
        paths = sorted(base.glob(pattern), key=lambda path: _digest(str(path.relative_to(base)).encode()))
        for path in paths[:4000]:
            try:
                if not path.is_file() or path.stat().st_size > 20_000_000:
                    continue
                data = path.read_bytes()
                data = gzip.decompress(data) if path.suffix == ".gz" else data
                data.decode()
            except (OSError, ValueError, EOFError):
                continue
            if b"\0" in data or (kind == "shell" and not data.startswith(b"#!/bin/")):
                continue
            if len(data) >= 300 and _long_lines(data) == (kind == "minified"):
                yield data[:FILE_BYTES]


def _locale(language: str) -> Iterator[bytes]:
    for path in sorted(Path("/usr/share/locale").glob(f"{language}/LC_MESSAGES/*.mo")):
        try:
            with path.open("rb") as handle:
                catalog = gettext.GNUTranslations(handle)._catalog  # type: ignore[attr-defined]
        except (OSError, UnicodeDecodeError):
            continue
        text = "\n".join(value for key, value in catalog.items() if key and isinstance(value, str)).encode()
        if len(text) > 3000:
            yield text[:FILE_BYTES]


def _made(kind: str) -> Iterator[bytes]:
    """Texts of which no repository holds enough: the output of failing tools."""
    for i in range(24):
        noise = _stream(f"{kind}{i}", 60_000)
        if kind == "base64":
            text = base64.b64encode(noise) if i % 2 else base64.encodebytes(noise)
        elif kind == "hex":
            text = noise.hex(*((" ",) if i % 3 == 1 else ())).encode()
            text = text.upper() if i % 3 == 2 else text
        elif kind == "digits":
            words = (noise[j] * 65_536 + noise[j + 1] * 256 + noise[j + 2] for j in range(0, 30_000, 3))
            text = (b",", b"\n", b" ", b"")[i % 4].join(b"%d" % (word % 10 ** (1 + i % 7)) for word in words)
        elif kind == "uuid":
            text = b"\n".join(str(uuid.UUID(bytes=noise[j : j + 16])).encode() for j in range(0, 30_000, 16))
        elif kind == "letters":
            span = (26, 26, 52, 62)[i % 4]
            alphabet = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
            text = bytes(alphabet[byte % span] for byte in noise)
            if i % 4 == 1:
                text = b" ".join(text[j : j + 3 + noise[j] % 9] for j in range(0, 40_000, 7))
        elif kind == "punctuation":
            marks = b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
            text = bytes(marks[byte % 32] for byte in noise)
        elif kind == "rules":
            text = b"".join(bytes([b"=-*#_~. \t\n|"[noise[j] % 11]]) * (1 + noise[j + 1]) for j in range(0, 2000, 2))
        elif kind == "table":
            text = b"\n".join(
                b"| " + b" | ".join(b"%-*d" % (4 + noise[j + k] % 12, noise[j + k]) for k in range(6)) + b" |"
                for j in range(0, 6000, 6)
            )
        elif kind == "binary":
            text = noise.decode("latin-1" if i % 2 else "utf-8", "replace").encode()
        elif kind == "emoji":
            text = "".join(
                chr(0x1F300 + noise[j] * 2 % 700) + " " * (noise[j] % 5 == 0) for j in range(12_000)
            ).encode()
        else:  # unicode: characters from everywhere
            text = "".join(
                chr(code) for j in range(0, 30_000, 2)
                if not 0xD800 <= (code := 0xA0 + noise[j] * 256 + noise[j + 1]) < 0xE000 and code < 0xFFF0
            ).encode()  # fmt: skip
        yield text


def _listings() -> Iterator[bytes]:
    for root in (STDLIB, "/usr/include", "/usr/share/doc", "/usr/lib/python3", "/etc", "/usr/share/perl"):
        for depth in ("1", "2", "6"):
            found = subprocess.run(["find", root, "-maxdepth", depth], capture_output=True, check=False).stdout
            yield b"\n".join(sorted(found.split(b"\n")))[:FILE_BYTES]
        yield subprocess.run(["ls", "-lR", root], capture_output=True, check=False).stdout[:FILE_BYTES]


MADE = ("base64", "hex", "digits", "uuid", "letters", "punctuation", "rules", "table", "binary", "emoji", "unicode")


def kinds() -> dict[str, Callable[[Path], Iterable[bytes]]]:
    """Every kind of text and what yields its files."""
    table: dict[str, Callable[[Path], Iterable[bytes]]] = {
        kind: lambda sources, kind=kind: _candidates(kind, sources)  # type: ignore[misc]
        for kind in RECIPE
    }
    for script, languages in SCRIPTS.items():
        table[script] = lambda _, languages=languages: (text for name in languages for text in _locale(name))  # type: ignore[misc]
    for kind in MADE:
        table[kind] = lambda _, kind=kind: _made(kind)  # type: ignore[misc]
    table["listing"] = lambda _: _listings()
    return table


def collect(data: Path, sources: Path) -> None:
    """Fill `data/<kind>/` with up to `FILES_PER_KIND` different files."""
    for kind, texts in kinds().items():
        pool: dict[int, bytes] = {}
        for text in texts(sources):
            pool[_digest(text)] = text
            if len(pool) >= 8 * FILES_PER_KIND:
                break
        for name in sorted(pool)[:FILES_PER_KIND]:
            (data / kind).mkdir(parents=True, exist_ok=True)
            (data / kind / f"{name:016x}").write_bytes(pool[name])
        print(f"{kind:12} {min(len(pool), FILES_PER_KIND):3} files", file=sys.stderr)


# --- measure -----------------------------------------------------------------------------------------------------


def windows(data: Path) -> Iterator[tuple[str, int, bytes]]:
    """(kind, digest of the file, bytes): 0.3 to 16 KB each, sizes spread evenly in the logarithm, cut at characters."""
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        files = sorted(path.read_bytes() for path in folder.iterdir() if path.is_file())
        files = [text for text in files if len(text) >= WINDOW_BYTES[0]]
        for index in range(WINDOWS_PER_KIND if files else 0):
            text = files[index % len(files)]
            noise = _stream(f"{folder.name}{index}{len(text)}", 16)
            share = int.from_bytes(noise[:8], "big") / 2**64
            size = int(math.exp(math.log(WINDOW_BYTES[0]) + share * math.log(WINDOW_BYTES[1] / WINDOW_BYTES[0])))
            start = int.from_bytes(noise[8:], "big") % max(1, len(text) - size + 1)
            window = text[start : start + size].decode(errors="ignore").encode()
            if len(window) >= WINDOW_BYTES[0] // 2:
                yield folder.name, _digest(text), window


def measure(data: Path) -> list[Measured]:
    """Count every window exactly, for every family whose tokenizer is installed; cached next to the data."""
    cache = data / "measured.jsonl"
    known: dict[str, dict[str, int]] = {}
    if cache.exists():
        known = {row["key"]: row["truth"] for row in map(json.loads, cache.open())}
    rows = list(windows(data))
    missing = [row for row in rows if f"{_digest(row[2]):x}" not in known]
    if missing:
        toktok = importlib.import_module("toktok")
        texts = [row[2].decode() for row in missing]
        columns: dict[str, list[int]] = {
            family: toktok.batch_count(texts, name, threads=1)
            for family, name in (("o200k", "o200k_base"), ("cl100k", "cl100k_base"), ("qwen", "qwen3.5"))
        }
        try:
            ctok = importlib.import_module("ctok")
        except ImportError:
            print("ctok is not installed: no Claude counts", file=sys.stderr)
        else:
            for family, version in (("claude3", "3.0"), ("claude", "4.8")):
                frame = ctok.token_count("", version)
                columns[family] = [ctok.token_count(text, version) - frame for text in texts]
        with cache.open("a") as handle:
            for i, row in enumerate(missing):
                truth = {family: column[i] for family, column in columns.items()}
                known[f"{_digest(row[2]):x}"] = truth
                handle.write(json.dumps({"key": f"{_digest(row[2]):x}", "truth": truth}) + "\n")
    return [Measured(kind, file, text, known[f"{_digest(text):x}"]) for kind, file, text in rows]


# --- fit ---------------------------------------------------------------------------------------------------------

MADE_WEIGHT = 0.4  # generated texts matter for the bounds, less for the middle
TAIL, FOLDS = 0.05, 4  # the best trade-off of width and safety between 0.004 and 0.05, when widened as in `_bounds`
EXCEEDED = 0.009  # the share of windows from held-out files that may exceed `high`


def _groups() -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """For each byte: the features that it always increments, and those that it may increment.

    Appending a byte adds one to `bytes` and to each single class that contains it, and at most one to each longer pattern that ends
    in its class. So no byte can lower a weighted sum if the weights that it always adds, plus the negative ones among the others,
    sum to at least zero. That makes `high` monotone.
    """
    patterns = [
        (table, pattern) for table, _, group in token_estimate.ASCII + token_estimate.BEYOND for pattern in group
    ]
    found = set()
    for byte in range(256):
        always, maybe = [0], list[int]()
        for index, (table, pattern) in enumerate(patterns, 1):
            if pattern[-1] == table[byte]:
                (maybe if len(pattern) > 1 else always).append(index)
        found.add((tuple(always), tuple(maybe)))
    return found


class Problem:
    """The weighted features of one family's windows, relative to their true counts."""

    def __init__(self, np: Any, rows: list[Measured], family: str) -> None:
        self.np = np
        width = 1 + sum(len(group) for _, _, group in token_estimate.ASCII + token_estimate.BEYOND)
        truth = np.array([row.truth[family] for row in rows], float)
        features = np.array([token_estimate.features(row.data)[:width] for row in rows], float)
        self.rows = features / truth[:, None]
        self.margin = 1 / truth[:, None]
        self.importance = np.array([MADE_WEIGHT if row.kind in MADE else 1.0 for row in rows])

    def likely(self) -> Any:
        """Least absolute relative error, by iteratively reweighted least squares."""
        np, scale = self.np, self.rows.mean(0) + 1e-9
        weight = self.importance.copy()
        for _ in range(25):
            rows = self.rows * weight[:, None] / scale
            ridge = 1e-5 * np.eye(rows.shape[1]) * len(rows)
            weights = np.linalg.solve(rows.T @ rows + ridge, rows.T @ weight) / scale
            weight = self.importance / np.sqrt(np.maximum(abs(self.rows @ weights - 1), 0.03))
        return weights

    def quantile(self, share: float, *, margin: bool) -> Any:
        """The weights under which `share` of the windows lies below; no byte below zero; the margin last."""
        np, sparse = self.np, importlib.import_module("scipy.sparse")
        rows = np.hstack([self.rows, self.margin]) if margin else self.rows
        count, width = rows.shape
        cost = [np.full(2 * width, 1e-6), self.importance * share, self.importance * (1 - share)]
        equal = sparse.hstack(
            [sparse.csr_matrix(rows), sparse.csr_matrix(-rows), sparse.identity(count), -sparse.identity(count)]
        )
        groups = sorted(_groups())
        falls = sparse.lil_matrix((len(groups), 2 * width + 2 * count))
        for i, (always, maybe) in enumerate(groups):
            for j in always:
                falls[i, j] -= 1
                falls[i, width + j] += 1
            for j in maybe:
                falls[i, width + j] += 1
        features = self.rows.shape[1]
        above = [(0, 30)] * features + [(0, 60)] * margin
        below = [(0, 3)] * features + [(0, 0)] * margin
        solved = importlib.import_module("scipy.optimize").linprog(
            np.concatenate(cost), A_ub=falls.tocsr(), b_ub=np.full(len(groups), -0.02), A_eq=equal.tocsr(),
            b_eq=np.ones(count), bounds=above + below + [(0, None)] * (2 * count), method="highs",
        )  # fmt: skip
        return solved.x[:width] - solved.x[width : 2 * width]


def _bounds(np: Any, rows: list[Measured], family: str) -> tuple[Any, Any]:
    """`most` and `least`, widened until they hold in folds of files that they were not fitted on."""
    above, below, importance = [], [], []
    for fold in range(FOLDS):
        inside = Problem(np, [row for row in rows if row.file // HELD_OUT % FOLDS != fold], family)
        outside = Problem(np, [row for row in rows if row.file // HELD_OUT % FOLDS == fold], family)
        most, least = inside.quantile(1 - TAIL, margin=True), inside.quantile(TAIL, margin=False)
        above.append(1 / (np.hstack([outside.rows, outside.margin]) @ most))
        below.append(1 / np.maximum(outside.rows @ least, 1e-9))
        importance.append(outside.importance)

    def share(values: list[Any], share: float) -> float:
        order = np.argsort(joined := np.concatenate(values))
        running = np.cumsum(np.concatenate(importance)[order])
        return float(joined[order][np.searchsorted(running, share * running[-1])])

    whole = Problem(np, rows, family)
    widen, narrow = max(1.0, share(above, 1 - EXCEEDED)), min(1.0, share(below, EXCEEDED))
    print(f"{family}: most x {widen:.3f}, least x {narrow:.3f}", file=sys.stderr)
    return whole.quantile(1 - TAIL, margin=True) * widen, whole.quantile(TAIL, margin=False) * narrow


def fit(data: Path) -> str:
    """The text of `_FAMILIES`: each family's weights in thousandths, from the files that are not held out."""
    np: Any = importlib.import_module("numpy")
    rows = [row for row in measure(data) if not row.held_out]
    text = "_FAMILIES: dict[str, _Weights] = {\n"
    for family in ("o200k", "cl100k", "claude3", "claude"):
        most, least = _bounds(np, rows, family)
        text += _lines(family, Problem(np, rows, family).likely(), most, least)
    return text + "}"


def _lines(family: str, likely: Any, most: Any, least: Any) -> str:
    rows = [
        [round(weight * 1000) for weight in likely],
        [math.ceil(weight * 1000) for weight in most[:-1]],
        [math.floor(weight * 1000) for weight in least],
    ]
    body = "".join(
        '        """' + "\n        ".join(textwrap.wrap(" ".join(map(str, row)), 95)) + '""",\n' for row in rows
    )
    return f'    "{family}": _weights(\n{body}        {math.ceil(most[-1] * 1000)},\n    ),\n'


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("collect", "measure", "fit"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sources", type=Path, default=Path())
    args = parser.parse_args()
    if args.what == "collect":
        collect(args.data, args.sources)
    elif args.what == "measure":
        print(len(measure(args.data)), "windows")
    else:
        print(fit(args.data))
