"""What does Penstock put into a host's configuration, and how does it recognize its own again (H-3)?

Law: `take` of a part removes only what `add` of it can have put there; adding twice equals adding once. Leaves to others: where
configurations are (`catalogue`), and what was there before (`records`).
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.hosts import base_url, catalogue, nested_values, relaying
from penstock.hosts.documents import CannotEditError
from penstock.hosts.entries import command_line, filled, is_ours, server_entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.catalogue import ConfigFile, HostConfig
    from penstock.hosts.documents import Document
    from penstock.hosts.nested_values import Path, Remembered

PARTS = ("mcp", "hook", "relay", "rules", "gateway")
"""What can be installed, in the order of installation."""
NAME = "penstock"
"""The name of our MCP server in every host."""
_RULES = """\
## Output that is too long (Penstock)
- Where a result says `[OUTPUT TRUNCATED]`, all of it is kept: read on with the call that the notice names, do not run it again.
- Read large files in pages (`ctx_view`, `ctx_read_file`) and search them (`ctx_search`); `ctx_outline` says what is where.
- Run what may print much as `{penstock} guard -- COMMAND`: its exit status stays, and what it prints is kept whole.
- Look for something in what was kept with `ctx_find HANDLE PATTERN`, or `{penstock} find HANDLE PATTERN` in a shell.
"""
_PLUGIN_COMMAND = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)


def rules(program: Sequence[str]) -> str:
    """Return the lines for AGENTS.md and similar files: the first five of a session that has Penstock.

    Args:
        program: The words that start Penstock in a shell of the host.
    """
    return _RULES.format(penstock=shlex.join(program))


def file_of(host: HostConfig, part: str) -> ConfigFile | None:
    """Return the host's file that a part goes into; None if the host has no place for it."""
    if part == "hook":
        return None if host.hooks is None else host.hooks.file
    if part == "gateway":
        return None if host.base_url is None else host.base_url.file
    return host.rules if part == "rules" else host.servers.file


def add(
    document: Document,
    host: HostConfig,
    part: str,
    program: Sequence[str],
    *,
    is_renewed: bool,
    address: str = base_url.GATEWAY_ADDRESS,
    known: Remembered = nested_values.NOTHING_REMEMBERED,
) -> list[str]:
    """Add a part to a configuration if it is not there yet.

    Args:
        document: The configuration; it is changed.
        host: Whose it is.
        part: One of `PARTS`.
        program: The words that start Penstock.
        is_renewed: Whether the existing part is ours, and is to start Penstock from its present location.
        address: Where the gateway listens.
        known: The configuration's earlier values.

    Returns:
        What a person should know: that something of theirs is in the way.

    Raises:
        CannotEditError: It has no place for the part.
    """
    match part:
        case "mcp":
            return _add_server(document, host, program, is_renewed=is_renewed)
        case "hook":
            return _add_hook(document, host, program, known, is_renewed=is_renewed)
        case "relay":
            return relaying.add(document, host, program, is_renewed=is_renewed)
        case "gateway":
            return base_url.add(document, host, address, is_renewed=is_renewed)
        case _:
            if is_renewed or document.block is None:
                document.put_block(rules(program))
            return []


def take(
    document: Document,
    host: HostConfig,
    part: str,
    known: Remembered = nested_values.NOTHING_REMEMBERED,
) -> bool:
    """Take a part out of a configuration.

    Args:
        document: The configuration; it is changed.
        host: Whose it is.
        part: One of `PARTS`.
        known: The configuration's earlier values.

    Returns:
        Whether the part was there.

    Raises:
        CannotEditError: It cannot be removed safely.
    """
    found = False
    match part:
        case "mcp":
            if found := has(document, host, "mcp"):
                document.remove((*host.servers.key, NAME))
        case "hook":
            # From last to first, so that earlier indexes stay valid.
            for path in reversed(_installed_hooks(document, known)):
                found, hook = True, path[:-1]
                # A group is a matcher with hooks under it. If ours is the only one, the group is ours too; next to one of the
                # person's, only our line goes, and their matcher stays.
                is_grouped = len(hook) > 3
                document.remove(hook[:-2] if is_grouped and len(document.get(hook[:-1])) == 1 else hook)
            if is_plugin(document.text):
                found, document.text = True, ""
        case "relay":
            found = relaying.take(document, host, known.before)
        case "gateway":
            found = base_url.take(document, host, known)
        case _:
            if found := document.block is not None:
                document.remove_block()
    return found


def has(document: Document, host: HostConfig, part: str, known: Remembered = nested_values.NOTHING_REMEMBERED) -> bool:
    """Return whether a configuration has a part.

    Args:
        document: The configuration.
        host: Whose it is.
        part: One of `PARTS`.
        known: Its earlier values: the one that we left is the only evidence of whose an address is.
    """
    match part:
        case "mcp":
            return is_ours(command_line(document.get((*host.servers.key, NAME))), "mcp")
        case "hook":
            return is_plugin(document.text) or any(True for _ in _own_hooks(document.value))
        case "relay":
            return relaying.has(document, host)
        case "gateway":
            return base_url.has(document, host, known)
        case _:
            return document.block is not None


class StartLine(NamedTuple):
    """How a host starts a part: the words of a command line, and its environment variables."""

    words: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()


def start_lines(document: Document, host: HostConfig, part: str) -> list[StartLine]:
    """Return how a host starts a part: nothing for rules, one line per server behind a relay, the gateway's address."""
    match part:
        case "mcp" | "relay":
            found = [(path[-1], entry) for path, entry in relaying.servers(document, host)]
            return [
                StartLine(tuple(words), tuple(relaying.variables_of(host, entry).items()))
                for name, entry in found
                if is_ours(words := command_line(entry), part) and (part == "relay" or name == NAME)
            ]
        case "hook":
            plugin = _plugin_command(document.text)
            lines = [plugin] if plugin else [shlex.split(document.get(path)) for path in _own_hooks(document.value)]
            return [StartLine(tuple(words)) for words in lines]
        case "gateway" if host.base_url is not None:
            return [StartLine((str(document.get(host.base_url.key)),))]
        case _:
            return []


def hook_events(document: Document) -> set[str]:
    """Return the events of a configuration that start our hook."""
    return {str(path[1]) for path in _own_hooks(document.value)}


def prune(document: Document, before: object, paths: Sequence[Path]) -> None:
    """Remove objects and lists that are empty now and were not there before.

    Args:
        document: The configuration; it is changed.
        before: Its value before anything was added.
        paths: Where something was removed, the innermost last.
    """
    for path in paths:
        for depth in range(len(path), 0, -1):
            at = path[:depth]
            # An object that was already there, empty, was somebody's choice, and stays.
            if nested_values.get(before, at) is nested_values.MISSING and document.is_blank(at):
                document.remove(at)


def containers(host: HostConfig, part: str) -> list[Path]:
    """Return the paths of the objects and lists that a part goes into."""
    if part == "hook" and host.hooks is not None:
        return [("hooks", event) for event in (host.hooks.event, *host.hooks.around)]
    if part == "gateway" and host.base_url is not None:
        return [host.base_url.key[:-1]]
    return [] if part == "rules" else [host.servers.key]


# ── the MCP server ───────────────────────────────────────────────────────────────────────────────────────────────


def hook_entry(host: HostConfig, program: Sequence[str]) -> dict[str, Any]:
    """Return our hook as a host writes it."""
    assert host.hooks is not None  # noqa: S101 - callers check this
    entry: dict[str, Any] = filled(host.hooks.entry, {catalogue.COMMAND_LINE: hook_command(host, program)})
    return entry


def _add_server(document: Document, host: HostConfig, program: Sequence[str], *, is_renewed: bool) -> list[str]:
    path = (*host.servers.key, NAME)
    entry = document.get(path)
    words = command_line(entry)
    if entry is nested_values.MISSING:
        document.put(path, server_entry(host, [*program, "mcp"]))
    elif not is_ours(words, "mcp"):
        return [f"there is a server of the name {NAME} that is not ours: it stays as it is, and ours was not added"]
    elif is_renewed and (renewed := _renewed(words, "mcp", program)) != words:
        if isinstance(entry["command"], list):
            document.replace((*path, "command"), renewed)
        else:
            document.replace((*path, "command"), renewed[0])
            document.replace((*path, "args"), renewed[1:])
    return []


def _renewed(words: Sequence[str], command: str, program: Sequence[str]) -> list[str]:
    """Return our command line with the running program; whatever the person added after the command stays."""
    return [*program, *words[words.index(command) :]]


# ── the hook ─────────────────────────────────────────────────────────────────────────────────────────────────────


def hook_command(host: HostConfig, program: Sequence[str]) -> str:
    """Return the shell command line that a host starts after each call."""
    return shlex.join([*program, "hook", host.name])


def _add_hook(
    document: Document, host: HostConfig, program: Sequence[str], known: Remembered, *, is_renewed: bool
) -> list[str]:
    if host.hooks is None:
        return []
    if host.hooks.file.form == "whole":
        if document.text and not is_plugin(document.text):
            return ["it is not ours: it stays as it is"]
        if not document.text or is_renewed:
            document.text = plugin(program)
        return []
    for path in _installed_hooks(document, known) if is_renewed else ():
        words = shlex.split(document.get(path))
        # Renewed in place: removing and re-adding an entry would lose its matcher, its timeout and its position.
        if (renewed := _renewed(words, "hook", program)) != words:
            document.replace(path, shlex.join(renewed))
    there = {path[1] for path in _own_hooks(document.value)}
    if there.issuperset((host.hooks.event, *host.hooks.around)):
        return []
    for key, value in host.hooks.beside.items():
        if document.get((key,)) is nested_values.MISSING:
            document.put((key,), value)
    for event in (host.hooks.event, *host.hooks.around):
        entries = document.get(("hooks", event))
        at = 0 if entries is nested_values.MISSING else len(entries) if isinstance(entries, list) else None
        if at is None:
            raise CannotEditError(f"hooks.{event} is no list")
        # Event by event: an older version of ours knew fewer events, and a person may have removed one of our hooks or written one
        # by hand: a duplicate would cut what the first has cut.
        if event not in there:
            document.put(("hooks", event, at), hook_entry(host, program))
    return []


def _installed_hooks(document: Document, known: Remembered) -> list[Path]:
    """Return the paths of the command lines that `install` wrote: those that we left and that were not there before.

    If one is no longer as we left it, the person has changed its words: the next of our hooks there stands for it.
    In a file without a record, ours are those that start a program by its full path and have no further arguments: a bare name, or
    a flag, was typed by a person.
    """
    own = [*_own_hooks(document.value)]
    if known.left is nested_values.MISSING:
        lines = {path: _split(document.get(path)) for path in own}
        return [path for path, words in lines.items() if os.path.isabs(words[0]) and words[-2] == "hook"]
    wrote = Counter((path[1], nested_values.get(known.left, path)) for path in _own_hooks(known.left))
    wrote -= Counter((path[1], nested_values.get(known.before, path)) for path in _own_hooks(known.before))
    found: list[Path] = []
    for is_as_left in (True, False):
        for path in own:
            event = str(path[1])
            words = document.get(path) if is_as_left else next((line for at, line in wrote if at == event), None)
            if path not in found and wrote[event, words] > 0:
                wrote -= Counter([(event, words)])
                found.append(path)
    return [path for path in own if path in found]


def _own_hooks(value: object) -> Iterator[Path]:
    """Yield the paths of all command lines in a configuration that start our hook, whoever wrote them, alone or in a group."""
    events = nested_values.get(value, ("hooks",))
    for event, entries in events.items() if isinstance(events, dict) else ():
        for at, entry in enumerate(entries if isinstance(entries, list) else ()):
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            ways: list[tuple[Path, Any]] = [(("hooks", event, at), entry)]
            if isinstance(inner, list):
                ways = [(("hooks", event, at, "hooks", place), hook) for place, hook in enumerate(inner)]
            for way, hook in ways:
                # Copilot's key is `bash`, every other host's `command`. Both are checked everywhere, because files are copied from
                # host to host.
                for key in ("command", "bash") if isinstance(hook, dict) else ():
                    if isinstance(hook.get(key), str) and is_ours(_split(hook[key]), "hook"):
                        yield (*way, key)


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # an unterminated quote: not ours
        return []


def plugin(program: Sequence[str]) -> str:
    """Return the plugin for opencode that starts our hook."""
    text = resources.files("penstock.hosts").joinpath("opencode_plugin.js").read_text("utf-8")
    words = json.dumps([*program, "hook", "opencode"], ensure_ascii=False)
    return _PLUGIN_COMMAND.sub(lambda _: f"const COMMAND = {words}", text, count=1)


def is_plugin(text: str) -> bool:
    """Return whether a text is our plugin for opencode, whatever it starts."""
    return _plugin_command(text) != []


def is_plugin_as_written(text: str) -> bool:
    """Return whether a text is exactly our plugin for opencode, except for what it starts."""
    words = _plugin_command(text)
    return bool(words) and text == plugin(words[: words.index("hook")])


def _plugin_command(text: str) -> list[str]:
    found = _PLUGIN_COMMAND.search(text)
    try:
        words = json.loads(found[1]) if found is not None else []
    except ValueError:
        return []
    return words if is_ours(words, "hook") else []
