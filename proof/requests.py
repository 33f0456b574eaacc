"""R4: is every bad request answered, by an error or a result, and does the server survive?

Inputs come from a seeded generator: valid frames, then broken in the ways that readers disagree about; arguments made from our own
schemas, then bent; version tokens with other characters. Every answer is read by a strict decoder. Four entry points: the frame
parser, the tools and the tokens in this process, a server over standard input and output (every readable id gets exactly one
answer), and a server over HTTP (every request gets a status).
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proof.faces import Http, Silent, Stdio, resident, tool_call
from proof.figure import Figure, folder, main
from proof.hostile import _RAW

from penstock.errors import CODES, ToolError
from penstock.mcp_server import frames
from penstock.text.allowance import Allowance
from penstock.tools import TOOLS, Tools
from penstock.workspace import version

if TYPE_CHECKING:
    from collections.abc import Callable

_RESIDENT_BYTES = 64 << 20


@dataclass(slots=True)
class Tally:
    """What was tried, and what went wrong."""

    tried: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


# ── the generator ────────────────────────────────────────────────────────────────────────────────────────────────

_STRINGS = (
    "",
    "a.txt",
    "folder",
    ".",
    "..",
    "../x",
    "*",
    "*.txt",
    "(a+)+$",
    "[",
    "é",
    "\U0001f680",
    "\x00",
    "\x1b[2J",
    "\u202e",
    "\\x41",
    "a" * 300,
    "/etc/passwd",
    "base64",
    "line",
    "1.1.abc",
)
_NUMBERS: tuple[object, ...] = (
    0,
    1,
    -1,
    2,
    7,
    100,
    2**31,
    2**53 + 1,
    2**63 - 1,
    2**63,
    2**64,
    -(2**63),
    10**30,
    0.5,
    5.0,
    -0.0,
    1e308,
    True,
    False,
)
_METHODS = (
    "tools/call",
    "tools/list",
    "ping",
    "initialize",
    "resources/list",
    "notifications/cancelled",
    "notifications/initialized",
    "",
    "\x00",
    "server/discover",
    "completion/complete",
    "logging/setLevel",
)


def value(generator: random.Random, depth: int = 0) -> object:
    """Any small JSON value."""
    kind = generator.randrange(8 if depth < 3 else 6)
    if kind < 3:
        return generator.choice(_STRINGS)
    if kind < 5:
        return generator.choice(_NUMBERS)
    if kind == 5:
        return None
    if kind == 6:
        return [value(generator, depth + 1) for _ in range(generator.randrange(4))]
    return {generator.choice(_STRINGS): value(generator, depth + 1) for _ in range(generator.randrange(4))}


def arguments(generator: random.Random) -> tuple[str, dict[str, object]]:
    """A tool and arguments from its schema, some of them bent."""
    tool = generator.choice(TOOLS)
    given: dict[str, object] = {}
    for parameter in tool.parameters:
        if generator.random() < 0.5:
            right: dict[str, tuple[object, ...]] = {
                "string": _STRINGS,
                "integer": (0, 1, 2, 50, 2**40),
                "boolean": (True, False),
            }
            bent = generator.random() < 0.25
            given[parameter.name] = value(generator) if bent else generator.choice(right[parameter.kind])
    if generator.random() < 0.1:
        given[generator.choice(_STRINGS) or "x"] = value(generator)
    return tool.name, given


_BREAKS: tuple[Callable[[random.Random, bytearray], None], ...] = (
    lambda g, d: d.__setitem__(g.randrange(len(d)), g.randrange(256)),
    lambda g, d: d.__delitem__(slice(g.randrange(len(d)), None)),
    lambda g, d: d.__delitem__(g.randrange(len(d))),
    lambda g, d: d.insert(g.randrange(len(d)), g.choice(b'{}[]",:\\\x00\xff\xed\xa0 0')),
    lambda g, d: d.__setitem__(slice(0, 0), g.choice((b"\xef\xbb\xbf", b"[", b"\x00", b" ", b"\xff\xfe"))),
    lambda g, d: d.extend(g.choice((b"}", b"]", b" {}", b"\x00", b",", b"\\u0000"))),
    lambda g, d: _swap(d, b'"id"', g.choice((b'"id":1,"id"', b'"ID"', b'"\\u0069d"', b'""'))),
    lambda g, d: _swap(d, b'"arguments":{', g.choice((b'"arguments":{"\\ud800":1,', b'"arguments":[{'))),
    lambda g, d: _swap(d, b'"arguments":{', g.choice((b'"arguments":{"a":NaN,', b'"arguments":{"a":1e999,'))),
    lambda g, d: _swap(d, b'"2.0"', g.choice((b'"1.0"', b"2.0", b"null", b'"2.0","jsonrpc":"2.0"'))),
    lambda g, d: _swap(d, b'"params":', b'"params":' + b"[" * g.choice((5, 150, 3_000))),
    lambda g, d: _swap(d, b'"method":', g.choice((b'"method":null,"x":', b'"method":[],"y":', b'"Method":'))),
)  # fmt: skip


def _swap(data: bytearray, old: bytes, new: bytes) -> None:
    at = data.find(old)
    if at >= 0:
        data[at : at + len(old)] = new


def frame(generator: random.Random, number: int | str) -> bytes:
    """A message, broken about half of the time; never with a line end inside."""
    kind = generator.random()
    if kind < 0.55:
        tool, given = arguments(generator)
        message: Any = tool_call(number, tool, given)
    elif kind < 0.75:
        message = {"jsonrpc": "2.0", "id": number, "method": generator.choice(_METHODS), "params": value(generator)}
    elif kind < 0.85:
        message = {"jsonrpc": "2.0", "id": number, "result": value(generator)}
    else:
        message = value(generator)
    data = bytearray(
        json.dumps(message, separators=(",", ":"), ensure_ascii=generator.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )
    )
    if generator.random() < 0.5 and data:
        for _ in range(generator.randint(1, 3)):
            if data:
                generator.choice(_BREAKS)(generator, data)
    return bytes(data).replace(b"\n", b" ").replace(b"\r", b" ")


# ── a strict decoder ─────────────────────────────────────────────────────────────────────────────────────────────


def strictly(raw: bytes) -> dict[str, Any]:
    """The message that `raw` is to every reader: JSON in UTF-8, no duplicate name, no NaN, no lone surrogate. Raises ValueError."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in pairs}) != len(pairs):
            raise ValueError("a name twice")
        return dict(pairs)

    def refuse(name: str) -> None:
        raise ValueError(name)

    message = json.loads(raw.decode("utf-8"), object_pairs_hook=unique, parse_constant=refuse)
    json.dumps(message, ensure_ascii=False).encode("utf-8")
    if (
        not isinstance(message, dict)
        or message.get("jsonrpc") != "2.0"
        or ("result" in message) == ("error" in message)
    ):
        raise ValueError("not an answer of JSON-RPC 2.0")
    return message


# ── the doors ────────────────────────────────────────────────────────────────────────────────────────────────────


def parser(generator: random.Random, count: int, tally: Tally) -> None:
    """`frames.parse` returns a message or raises `BadFrame`, whose answer can be written."""
    for number in range(count):
        raw = frame(generator, number)
        try:
            message = frames.parse(raw)
        except frames.BadFrame as bad:
            try:
                strictly(frames.write(bad.answer))
            except ValueError as error:
                tally.wrong.append(f"parser: the answer to {raw[:80]!r} is {error}")
        except BaseException as error:
            tally.wrong.append(f"parser: {raw[:120]!r} raised {error!r}")
        else:
            try:
                json.dumps(message, ensure_ascii=False, allow_nan=False).encode("utf-8")
            except (ValueError, RecursionError) as error:
                tally.wrong.append(f"parser: {raw[:120]!r} was taken, and cannot be written: {error}")
    tally.tried["frames"] += count


def tools(generator: random.Random, root: str, count: int, tally: Tally) -> None:
    """`Tools.call` returns a result that fits and is inert, or an error of the closed list."""
    table = Tools(root)
    for _ in range(count):
        name, given = arguments(generator)
        allowance = generator.choice((Allowance.bytes(400), Allowance.chars(1_000), Allowance.bytes(65_536)))
        try:
            result = table.call(name, given, allowance=allowance)
        except BaseException as error:
            tally.wrong.append(f"tools: {name}({given!r:.200}) raised {error!r}")
            continue
        if not allowance.holds(result.text):
            tally.wrong.append(
                f"tools: {name}({given!r:.200}) gave {allowance.measure(result.text)}, allowed were {allowance}"
            )
        if result.is_error and result.code not in CODES:
            tally.wrong.append(f"tools: {name}({given!r:.200}) has the code {result.code!r}")
        if _RAW.search(result.text):
            tally.wrong.append(f"tools: {name}({given!r:.200}) gave raw characters")
    table.workspace.root.close()
    tally.tried["calls"] += count


def tokens(generator: random.Random, count: int, tally: Tally) -> None:
    """A version token is either valid or refused."""
    alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABC-_.é\x00 ٣"
    for _ in range(count):
        token = list("4.4.prRRhQ7EOdAxpsHB") if generator.random() < 0.7 else []
        for _ in range(generator.randrange(5)):
            token.insert(generator.randrange(len(token) + 1), generator.choice(alphabet))
            if token and generator.random() < 0.5:
                token.pop(generator.randrange(len(token)))
        try:
            parsed = version.parse("".join(token))
        except ToolError:
            continue
        except BaseException as error:
            tally.wrong.append(f"tokens: {''.join(token)!r} raised {error!r}")
        else:
            if parsed.size_bytes < 0 or parsed.cursor_byte < 0:
                tally.wrong.append(f"tokens: {''.join(token)!r} has a size below 0")
    tally.tried["tokens"] += count


def _expected(raw: bytes) -> object:
    """The id whose answer must come; None if there is no answer or no readable id."""
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or "method" not in message or not isinstance(message.get("method"), str):
        return None
    try:
        frames.parse(raw)
    except frames.BadFrame:
        return None
    number = message.get("id")
    return (
        number
        if isinstance(number, int | str) and not isinstance(number, bool) and message.get("jsonrpc") == "2.0"
        else None
    )


def over_stdio(generator: random.Random, root: str, count: int, tally: Tally) -> None:
    """Every readable id is answered once, unreadable messages get an error, and the process survives."""
    with Stdio(root) as face:
        face.call("view", {"file_path": "a.txt"})
        before = resident(face.process.pid)
        waiting: dict[object, bytes] = {}
        sent = answered = 0
        end = time.monotonic() + 30 + count / 20
        while (sent < count or waiting) and time.monotonic() < end:
            while sent < count and len(waiting) < 40:
                sent += 1
                raw = frame(generator, f"n{sent}")
                if b'"notifications/cancelled"' in raw:  # a cancelled request gets no answer, by the protocol
                    continue
                if (number := _expected(raw)) is not None:
                    if number in waiting:
                        continue
                    waiting[number] = raw
                try:
                    face.send(raw)
                except Silent as silence:
                    tally.wrong.append(f"stdio: after {raw[:120]!r}: {silence}")
                    return
            try:
                _, line = face.line(15)
            except Silent as silence:
                if face.process.poll() is not None or waiting:
                    tally.wrong.append(
                        f"stdio: {silence}; unanswered: {[raw[:120] for raw in list(waiting.values())[:3]]}"
                    )
                return
            try:
                message = strictly(line)
            except ValueError as error:
                if b'"method":' not in line:
                    tally.wrong.append(f"stdio: {error}: {line[:200]!r}")
                continue
            answered += 1
            if (
                message.get("id") is not None
                and waiting.pop(message["id"], None) is None
                and str(message["id"])[:1] != "n"
            ):
                tally.tried["answers to ids that were broken"] += 1
        if waiting:
            tally.wrong.append(f"stdio: unanswered: {[raw[:120] for raw in list(waiting.values())[:3]]}")
        if face.call("view", {"file_path": "a.txt"}).is_error:
            tally.wrong.append("stdio: a good call fails afterwards")
        grown = resident(face.process.pid) - before
        if grown > _RESIDENT_BYTES:
            tally.wrong.append(f"stdio: {grown >> 20} MiB more than before")
        tally.tried["over stdio"] += sent


def over_http(generator: random.Random, base: str, root: str, count: int, tally: Tally) -> None:
    """Every request has a status; what is served is one strictly valid message."""
    with Http(root, os.path.join(base, "token")) as face:
        for number in range(count):
            raw = frame(generator, number)
            try:
                parsed = json.loads(raw)
                method = parsed.get("method") if isinstance(parsed, dict) else None
                name = parsed["params"]["name"] if method == "tools/call" else None
            except (ValueError, TypeError, KeyError, RecursionError):
                method, name = "tools/call", "ctx_view"
            headers = face.headers(
                *(
                    text if isinstance(text, str) and text.isascii() and text.isprintable() else "x"
                    for text in (method, name)
                )
            )
            try:
                status, content = face.exchange(raw, headers, 20)
            except Silent as silence:
                tally.wrong.append(f"HTTP: {raw[:160]!r}: {silence}")
                if face.process.poll() is not None:
                    return
                continue
            tally.tried[f"HTTP {status}"] += 1
            if status >= 500 or (status == 200 and not _is_strict(content)):
                tally.wrong.append(f"HTTP: {raw[:160]!r}: {status} {content[:120]!r}")
        if face.call("view", {"file_path": "a.txt"}).is_error:
            tally.wrong.append("HTTP: a good call fails afterwards")
    tally.tried["over HTTP"] += count


def _is_strict(content: bytes) -> bool:
    try:
        strictly(content)
    except ValueError:
        return False
    return True


def _plant(root: str) -> None:
    os.makedirs(os.path.join(root, "folder"))
    for name in ("a.txt", "folder/b.txt", "\U0001f680", "é"):
        with open(os.path.join(root, name), "wb") as file:
            file.write(b"line\n" * 300)


def measure(*, long: bool, seed: int) -> Figure:
    """Bad requests, each answered."""
    tally = Tally()
    with folder("requests") as base:
        root = os.path.join(base, "root")
        _plant(root)
        generator = random.Random(seed)
        parser(generator, 2_000_000 if long else 4_000, tally)
        tools(generator, root, 200_000 if long else 300, tally)
        tokens(generator, 500_000 if long else 2_000, tally)
        over_stdio(generator, root, 40_000 if long else 120, tally)
        over_http(generator, base, root, 10_000 if long else 40, tally)
    doors = ("frames", "calls", "tokens", "over stdio", "over HTTP")
    tried = sum(tally.tried[door] for door in doors)
    statuses = ", ".join(f"{count} {label}" for label, count in sorted(tally.tried.items()) if label not in doors)
    return Figure(
        rig="R4",
        name="bad requests tried",
        value=f"{tried}: {len(tally.wrong)} crashed, hung, unanswered or out of bounds",
        target="0",
        met=not tally.wrong and all(tally.tried[door] for door in doors),
        seed=seed,
        notes=(*tally.wrong[:30], ", ".join(f"{tally.tried[door]} {door}" for door in doors), statuses),
    )


if __name__ == "__main__":
    raise SystemExit(main(measure))
