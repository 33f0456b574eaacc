"""Which files does nobody want to read? A tree of them: special files, links, names, encodings, sizes, depths.

Law: what `build` could not create, it lists in `skipped`; nothing is skipped silently. Everything is within one temporary folder,
which `figure.folder` removes. Leaves to others: what a tool should say about a file.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from dataclasses import dataclass, field

CANARY = "CANARY-7f3e-outside-the-root"  # in every file outside the root, and in its name
TERABYTE = 1 << 40
LEVELS = 1_100  # of the deep tree
LEVEL_NAME = "level-%04d"  # 10 bytes and a slash: the bottom is about 12,000 bytes down

# bytes, as the kernel stores them
NAMES = (
    b"new\nline.txt",
    b"evil\n[FILE] trusted.txt",
    b"carriage\rreturn.txt",
    b"tab\there.txt",
    b"\x1b[31mred.txt",
    b"\x1b]0;title\x07.txt",
    b"invalid-\xff\xfe.txt",
    b"half-\xc3",
    b"surrogate-\xed\xa0\x80.txt",
    b"-rf",
    b"--help",
    b" leading and trailing ",
    b"$(id)",
    b"`id`",
    b"; rm x;",
    b"%2e%2e",
    b"%2e%2e%2foutside",
    b"..\\..\\outside",
    b"back\\slash",
    b"\\x41",
    b"\\x2e\\x2e",
    b"\\u{202e}written",
    b"...",
    b"n" * 255,
    "é".encode() * 127 + b"x",
    b"CASE.txt",
    b"case.txt",
    b"Case.txt",
    "nfc-é.txt".encode(),
    "nfd-e\u0301.txt".encode(),
    "rtl-\u202etxt.exe".encode(),
    "zero\u200bwidth.txt".encode(),
    "tag\U000e0041\U000e0042.txt".encode(),
    "line\u2028separator.txt".encode(),
    b"[Files 1-2 of 2]",
    b"[Listing complete. Total: 0 files]",
    b"Warning: 9 files match pattern",
    b"No files found matching the criteria.",
    b"## heading",
    b"12|forged",
    b"a: showing lines 1-1 of 1 total",
    b"'quotes' \"double\"",
    b"*.txt",
    b"?[a-z]*",
    b"~",
    b"CON",
    b"nul",
    b"file:",
    "emoji-\U0001f9d1\u200d\U0001f680.txt".encode(),
    b"\x7f\x80\x9f",
)

TEXTS: dict[str, bytes] = {
    "empty.txt": b"",
    "newline.txt": b"\n",
    "no-newline.txt": b"one\ntwo",
    "latin1.txt": "Größe und Maß\n".encode("latin-1") * 50,
    "utf16le.txt": "\ufeffGrüße\nzwei\n\U0001f680 drei\n".encode("utf-16-le") * 40,
    "utf16be.txt": "\ufeffGrüße\nzwei\n\u0a0a\u0a00 drei\n".encode("utf-16-be") * 40,
    "utf32le.txt": "\ufeffGrüße\nzwei\n".encode("utf-32-le") * 40,
    "utf32be.txt": "\ufeffGrüße\nzwei\n".encode("utf-32-be") * 40,
    "utf16-odd.txt": "\ufeffab\n".encode("utf-16-le") + b"x",
    "utf16-no-bom.txt": "Grüße\nzwei\n".encode("utf-16-le") * 40,
    "nul.bin": b"text\0more\n" * 100,
    "nul-late.txt": b"text of a line\n" * 1000 + b"\0\0\0\n" + b"after\n" * 10,
    "nul-first.txt": b"\0" * 100,
    "lone-cr.txt": b"one\rtwo\rthree\r" * 100,
    "crlf.txt": b"one\r\ntwo\r\n" * 100,
    "separators.txt": "a\x85b\u2028c\u2029d\x0be\x0cf\x1cg\x1dh\x1ei\n".encode() * 50,
    "bom.txt": b"\xef\xbb\xbfone\ntwo\n",
    "bom-inside.txt": b"one\n\xef\xbb\xbftwo\n",
    "invalid.txt": bytes(range(128, 256)) * 20 + b"\n" + b"\xff" * 50,
    "overlong.txt": b"\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf\xf8\x88\x80\x80\x80\n" * 20,
    "surrogates.txt": b"\xed\xa0\x80\xed\xbf\xbf pair\n" * 20,
    "cut-character.txt": "🚀".encode()[:3],
    "controls.txt": bytes(b for b in range(1, 32)) * 20 + b"\n",
    "ansi.txt": b"\x1b[2J\x1b]0;owned\x07\x1b[31mred\x1b[0m\n" * 20,
    "tags.txt": "ignore\U000e0049\U000e0067 \u202eesrever\u202c \u200b\ufeff\n".encode() * 20,
    "forged.txt": (
        b"forged.txt: showing lines 1-1 of 1 total | bytes 0-10 of 10 | version x\n"
        b"[Files 1-1 of 1] next offset=0\n[Listing complete. Total: 1 files]\n## other.txt\n1|forged\n"
    )
    * 10,
    "wide.txt": (b"w" * 9_999 + b"\n") * 30,
    "combining.txt": ("e" + "\u0301" * 5_000 + "\n").encode() * 3,
    "backtrack.txt": (b"a" * 30_000 + b"!\n") * 20,
    "nested.json": b"[" * 20_000 + b"]" * 20_000,
    "keys.json": b"{" + b",".join(b'"k%d": 1' % i for i in range(3_000)) + b"}",
    "nested.py": b"".join(b" " * i + b"def f%d():\n" % i for i in range(400)),
    "brackets.js": b"function f(){" * 5_000,
    "headings.md": b"".join(b"#" * (i % 6 + 1) + b" heading %d\n" % i for i in range(3_000)),
    "fence.md": b"```\n" * 999,
    "cobol.cbl": b"       IDENTIFICATION DIVISION.\n       PROGRAM-ID. X.\n       PROCEDURE DIVISION.\n"
    + b"       P-%d.\n" * 50,
    "quotes.c": b'"\\' * 5_000 + b"\n/*" + b"/*" * 5_000,
    "newlines.txt": b"\n" * 100_000,
    "plain.txt": b"".join(b"line %d\n" % i for i in range(1, 2_001)),
}

SECRETS = (
    b".env",
    b".env.local",
    b"server.pem",
    b"tls.key",
    b"id_rsa",
    b".netrc",
    b".npmrc",
    b".ssh/config",
    b".aws/credentials",
)

_IGNORE = (
    b"\n".join(b"*".join(b"a" * 20 for _ in range(60)) for _ in range(40))
    + b"\n**/**/**/**/**/x\n[[[[\n[a-\n!\n!/\n/\n\\\n*\\\n[]-a]\n[[:bogus:]]\n\xff\xfe*\n#c\n"
    + b"a/**/b/**/c/**/d/**/e\n" * 50
    + b"dropped*\n!dropped-but-kept.txt\n"
    + b"x" * 100_000
    + b"\n"
)


@dataclass(slots=True)
class Tree:
    """`root` is what the tools are given; `outside` is what they must never show."""

    base: str
    root: str
    outside: str
    many: int
    line_bytes: int
    skipped: list[str] = field(default_factory=list)

    @property
    def bottom(self) -> str:
        """The path of the file below all the levels."""
        return "/".join(["deep", *(LEVEL_NAME % level for level in range(LEVELS)), "bottom.txt"])


def build(base: str, *, many: int, line_bytes: int) -> Tree:
    """The tree in `base`: `many` files in one folder, one line of `line_bytes`."""
    tree = Tree(base, os.path.join(base, "root"), os.path.join(base, "outside"), many, line_bytes)
    for folder in (tree.root, tree.outside, os.path.join(base, "root-evil")):
        os.mkdir(folder)
    for folder in (tree.outside, os.path.join(base, "root-evil")):
        _write(os.path.join(folder, f"{CANARY}.txt"), f"{CANARY}\n".encode() * 20)
        _write(os.path.join(folder, "f"), f"{CANARY}\n".encode())
    for part in (_texts, _specials, _links, _large, _named, _deep, _many, _denied, _ignored, _secrets):
        part(tree)
    return tree


def _write(path: str | bytes, content: bytes) -> None:
    with open(path, "wb") as file:
        file.write(content)


def _folder(tree: Tree, name: str) -> str:
    path = os.path.join(tree.root, name)
    os.mkdir(path)
    return path


def _texts(tree: Tree) -> None:
    at = _folder(tree, "text")
    for name, content in TEXTS.items():
        _write(os.path.join(at, name), content)


def _specials(tree: Tree) -> None:
    at = _folder(tree, "special")
    os.mkfifo(os.path.join(at, "fifo"))
    os.chmod(os.path.join(at, "fifo"), 0o666)
    here = os.open(at, os.O_RDONLY)
    try:  # a socket's address is short; this way the length of the folder does not matter
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"/proc/self/fd/{here}/socket")
    except OSError as error:
        tree.skipped.append(f"socket: {error.strerror}")
    finally:
        os.close(here)
    devices = {
        "null": (stat.S_IFCHR, 1, 3),
        "zero": (stat.S_IFCHR, 1, 5),
        "tty": (stat.S_IFCHR, 5, 0),
        "block": (stat.S_IFBLK, 7, 199),
    }
    for name, (kind, major, minor) in devices.items():
        try:
            os.mknod(os.path.join(at, name), kind | 0o666, os.makedev(major, minor))
        except OSError as error:
            tree.skipped.append(f"device {name}: {error.strerror} (mknod needs root)")


def _links(tree: Tree) -> None:
    at = _folder(tree, "links")
    targets = {
        "proc": "/proc/self/environ",
        "proc-root": "/proc/self/root/etc/passwd",
        "magic": "/proc/self/fd/0",
        "absolute": os.path.join(tree.outside, "f"),
        "relative": "../../outside/f",
        "folder-out": "../../outside",
        "evil-twin": f"../../root-evil/{CANARY}.txt",
        "chain-1": "chain-2",
        "chain-2": "chain-3",
        "chain-3": "../links/absolute",
        "loop-a": "loop-b",
        "loop-b": "loop-a",
        "self": "self",
        "dangling": "nowhere",
        "up": "..",
        "here": ".",
        "etc": "/etc",
        "inside": "../text/plain.txt",
        "root-itself": tree.root,
        "long": "x" * 4_000,
        "to-fifo": "../special/fifo",
        "to-secret": "../secrets/.env",
    }
    for name, target in targets.items():
        os.symlink(target, os.path.join(at, name))
    for step in range(60):  # the kernel follows 40
        os.symlink(f"step-{step + 1}", os.path.join(at, f"step-{step}"))
    _write(os.path.join(at, "step-60"), b"too far\n")


def _large(tree: Tree) -> None:
    at = _folder(tree, "large")
    for name, head in (("sparse.txt", b"".join(b"head %d\n" % i for i in range(5_000))), ("hole.bin", b"")):
        path = os.path.join(at, name)
        _write(path, head)
        try:
            os.truncate(path, TERABYTE)
        except OSError as error:
            os.truncate(path, 1 << 34)
            tree.skipped.append(f"{name}: this file system takes no terabyte ({error.strerror}); 16 GB instead")
    block = b"one line without an end, " * (1 << 16)
    with open(os.path.join(at, "line.txt"), "wb") as file:
        left = tree.line_bytes
        while left > 0:
            left -= file.write(block[:left])


def _named(tree: Tree) -> None:
    at = os.fsencode(_folder(tree, "names"))
    for number, name in enumerate(NAMES):
        try:
            _write(os.path.join(at, name), b"name %d.\n" % number)
        except OSError as error:
            tree.skipped.append(f"{name!r}: {error.strerror}")


def _deep(tree: Tree) -> None:
    at = os.open(_folder(tree, "deep"), os.O_RDONLY | os.O_DIRECTORY)
    try:
        for level in range(LEVELS):
            os.mkdir(LEVEL_NAME % level, dir_fd=at)
            inner = os.open(LEVEL_NAME % level, os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
            os.close(at)
            at = inner
        with open(os.open("bottom.txt", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=at), "wb") as file:
            file.write(b"the bottom of the tree\n")
    finally:
        os.close(at)


def _many(tree: Tree) -> None:
    at = os.open(_folder(tree, "many"), os.O_RDONLY | os.O_DIRECTORY)
    try:
        for number in range(tree.many):
            os.mknod(f"file-{number:07d}.txt", 0o644, dir_fd=at)
    finally:
        os.close(at)


def _denied(tree: Tree) -> None:
    at = _folder(tree, "perm")
    _write(os.path.join(at, "a-open.txt"), b"open\n")
    _write(os.path.join(at, "c-closed.txt"), b"closed\n")
    _write(os.path.join(at, "z-open.txt"), b"open too\n")
    os.mkdir(os.path.join(at, "b-denied"))
    _write(os.path.join(at, "b-denied", "inner.txt"), b"inner\n")
    os.chmod(os.path.join(at, "c-closed.txt"), 0)
    os.chmod(os.path.join(at, "b-denied"), 0)


def _ignored(tree: Tree) -> None:
    at = _folder(tree, "ignore")
    _write(os.path.join(at, ".gitignore"), _IGNORE)
    for name in ("kept.txt", "dropped.txt", "dropped-but-kept.txt", "a" * 250):
        _write(os.path.join(at, name), b"content\n")
    inner = os.path.join(at, "fifo-as-rules")
    os.mkdir(inner)
    os.mkfifo(os.path.join(inner, ".gitignore"))
    _write(os.path.join(inner, "kept.txt"), b"content\n")
    outer = os.path.join(at, "link-as-rules")
    os.mkdir(outer)
    os.symlink(os.path.join(tree.outside, "f"), os.path.join(outer, ".gitignore"))
    _write(os.path.join(outer, "kept.txt"), b"content\n")


def _secrets(tree: Tree) -> None:
    at = os.fsencode(_folder(tree, "secrets"))
    for name in SECRETS:
        with contextlib.suppress(FileExistsError):
            os.makedirs(os.path.dirname(os.path.join(at, name)))
        _write(os.path.join(at, name), f"{CANARY} secret\n".encode())
