"""Does what is installed work? The configured command lines are run for a real round trip, bounded in time (H-3).

A hook gets a small result, which it must leave alone, and a large one, which must come back complete through the call named in its
reply; a server must answer `initialize` and `tools/list`, behind a relay too; a gateway must report its metrics. What is kept on
the way goes into a folder that is removed.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.errors import CallerError
from penstock.hosts import hook_host
from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.entries import our_command

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from penstock.hosts.installed import Installed

PROBE_SECONDS = 30.0
"""The time limit of one program: on a busy machine a host's own start was seen to take five seconds, and a server's fourteen."""
_AT_ONCE = 2
_METRICS_BYTES = 1 << 20
_FLOOD = "".join(f"line {number} of what is too long\n" for number in range(1, 4_001))
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


class Probe(NamedTuple):
    """Whether an installed part `works`, None if that was not tried, and what was seen."""

    works: bool | None
    seen: str


def probe_all(installed: Sequence[Installed]) -> list[Probe]:
    """Return the outcome for each part, in order. Each command line is tried once, however many hosts share it."""

    def key(part: Installed) -> Installed:
        # A hook is tried for each host, because its answer differs; a server is the same whoever starts it.
        return replace(part, host=part.host if part.part == "hook" else "", scope="user", path="")

    different = [*dict.fromkeys(map(key, installed))]
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        seen = dict(zip(different, pool.map(probe, different), strict=True))
    return [seen[key(part)] for part in installed]


def versions(hosts: Sequence[str]) -> dict[str, str]:
    """Return the versions that hosts report, `not found` for one that is not on the path."""
    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        return dict(zip(hosts, pool.map(_version, hosts), strict=True))


def probe(part: Installed) -> Probe:
    """Try one part."""
    if part.fault:
        return Probe(works=False, seen=part.fault)
    if not part.words:
        return Probe(works=None, seen="there")
    if not part.is_known:
        return Probe(works=None, seen="there, with a command that was not installed from here: it was not run")
    started = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="penstock-doctor-") as folder:
            store = os.path.join(folder, "store")
            seen = _PROBES[part.part](part, store)
    except subprocess.TimeoutExpired:
        return Probe(works=False, seen=f"no answer within {PROBE_SECONDS:g} seconds")
    except OSError as error:
        return Probe(works=False, seen=f"{part.words[0]}: {error.strerror}")
    except ImportError as error:
        return Probe(works=None, seen=f"there; to try it takes pip install 'penstock[mcp]' ({error})")
    except _DoesNotWork as error:
        return Probe(works=False, seen=str(error))
    return Probe(works=True, seen=f"{seen}, {time.monotonic() - started:.1f} s")


class _DoesNotWork(Exception):
    """What a program did instead of its job."""


def _version(host: str) -> str:
    program = shutil.which(HOST_CONFIGS[host].program)
    if program is None:
        return "not found"
    try:
        said = _run([program, "--version"], "").stdout
    except (OSError, subprocess.TimeoutExpired):
        return "does not say"
    found = _VERSION.search(said)
    return found[0].rstrip(".") if found else "does not say"


def _server(part: Installed, store: str) -> str:
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "penstock", "version": "0"}}
    messages = (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    )
    given = "".join(f"{json.dumps(message)}\n" for message in messages)
    done = _run(part.words, given, {**dict(part.variables), "PENSTOCK_STORE": store})
    answers = [value for line in done.stdout.splitlines() if (value := _json(line)) is not None]
    tools = next(
        (value["result"].get("tools") for value in answers if value.get("id") == 2 and "result" in value), None
    )
    if not isinstance(tools, list) or not tools:
        raise _DoesNotWork(f"it lists no tools: {_last_words(done)}")
    return f"answers with {len(tools)} tools"


def _hook(part: Installed, store: str) -> str:
    at = {"PENSTOCK_STORE": store}
    # The small one first: a hook that changes everything would pass the second test, and spoil all of the person's results.
    small = _run(part.words, json.dumps(_event(part.host, "small")), at)
    if small.returncode or small.stdout:
        raise _DoesNotWork(f"it changes a small result: {_last_words(small)}")
    large = _run(part.words, json.dumps(_event(part.host, _FLOOD)), at)
    from penstock.text.calls import handle_in

    handle = handle_in(json.dumps(_json(large.stdout), ensure_ascii=False))
    if large.returncode or not handle:
        raise _DoesNotWork(f"it leaves a large result as it is: {_last_words(large)}")
    hook = our_command(part.words, "hook")
    program = part.words[:1] if hook is None else hook.program
    whole = _run([*program, "page", handle, "--raw", "--store", store], "", at).stdout
    if whole != _FLOOD:
        raise _DoesNotWork("what it kept of a large result is not all of it")
    return f"cuts {len(_FLOOD)} characters to {len(large.stdout)} and keeps all of them"


def _relay(part: Installed, store: str) -> str:
    # The server behind it may be slow, and some servers end with their input: this needs a real client.
    from penstock.hosts.servers import ConfiguredServer, with_variables
    from penstock.hosts.tool_definitions import ask_servers
    from penstock.text.tokens import Tokens

    name = next((word for flag, word in pairwise(part.words) if flag == "--name"), "the server")
    own = {key: f"%{{{key}}}" for key, _ in part.variables}  # their values must not appear in a command line
    try:
        words = tuple(with_variables(word, {**own, **os.environ}) for word in part.words)
        variables = {key: with_variables(text, os.environ) for key, text in part.variables}
    except CallerError as error:
        raise _DoesNotWork(f"{name}: {error}") from error
    server = ConfiguredServer(name=name, words=words, variables=(*variables.items(), ("PENSTOCK_STORE", store)))
    (asked,) = ask_servers([server], Tokens(), "anthropic", seconds=PROBE_SECONDS)
    if asked.fault:
        raise _DoesNotWork(f"{name}: {asked.fault}")
    return f"{name} answers with {len(asked.tools)} tools"


def _gateway(part: Installed, _store: str) -> str:
    # Asked directly: a gateway is on this machine or near it, and a proxy would answer for one that is not there.
    from urllib.error import HTTPError, URLError
    from urllib.request import ProxyHandler, build_opener

    address = part.words[0].removesuffix("/v1")
    try:
        with build_opener(ProxyHandler({})).open(f"{address}/penstock/metrics", timeout=PROBE_SECONDS) as reply:
            said = reply.read(_METRICS_BYTES).decode("utf-8", "replace")
    except HTTPError as error:
        error.close()  # releases the connection
        raise _DoesNotWork(f"{address} answers, but is not a gateway: status {error.code}") from error
    except (URLError, ValueError) as error:
        reason = error.reason if isinstance(error, URLError) else error
        raise _DoesNotWork(f"no gateway answers at {address} ({reason}): `penstock gateway` starts one") from error
    if "penstock_gateway_requests_total" not in said:
        raise _DoesNotWork(f"{address} answers, but is not a gateway")
    return f"a gateway answers at {address}"


_PROBES: dict[str, Callable[[Installed, str], str]] = {
    "mcp": _server,
    "hook": _hook,
    "relay": _relay,
    "gateway": _gateway,
}


def _event(host: str, text: str) -> dict[str, Any]:
    """Return a host's event after a call of an MCP tool, whose result hosts hand over whole."""
    blocks = [{"type": "text", "text": text}]
    if host == "copilot":
        result = {"resultType": "success", "textResultForLlm": text}
        return {"sessionId": f"doctor-{os.getpid()}", "toolName": "doctor-flood", "toolArgs": {}, "toolResult": result}
    response = {
        "claude": blocks,
        "codex": {"content": blocks},
        "gemini": {"llmContent": text, "returnDisplay": "…"},
        "opencode": {"content": blocks},
    }[host]
    return {
        "session_id": f"doctor-{os.getpid()}",
        "cwd": os.getcwd(),
        "hook_event_name": hook_host(host).result_event,
        "tool_name": "mcp__doctor__flood",
        "tool_input": {},
        "tool_response": response,
    }


def _run(
    words: Sequence[str], given: str, variables: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end within the time limit; raises OSError or TimeoutExpired."""
    return subprocess.run(
        [*words],
        input=given,
        env={**os.environ, **(variables or {})},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=PROBE_SECONDS,
        check=False,
    )


def _json(line: str) -> Any:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    """Return a program's exit status and the last line that it printed."""
    said = (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2][-200:]
    return f"exit status {done.returncode}{f', {said}' if said else ''}"
