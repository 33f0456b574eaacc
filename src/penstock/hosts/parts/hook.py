"""How is the hook put behind each call of a host, and which hooks are ours (H-3)?

It is an entry in lists by event, alone or in a group with a matcher; or, in a host that has plugins instead, a whole file of ours.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

from penstock.hosts import catalogue, nested_values
from penstock.hosts.documents import CannotEditError
from penstock.hosts.entries import filled, our_command
from penstock.hosts.parts import plugin
from penstock.hosts.parts.part import StartLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from penstock.hosts.catalogue import ConfigFile, Hooks, HostConfig
    from penstock.hosts.documents import Document
    from penstock.hosts.nested_values import Path, Remembered
    from penstock.hosts.parts.part import Reach


def hook_command(host: HostConfig, program: Sequence[str]) -> str:
    """Return the shell command line that a host starts after each call."""
    return shlex.join([*program, "hook", host.name])


def events(document: Document) -> set[str]:
    """Return the events of a configuration that start our hook."""
    return {str(path[1]) for path in _own_hooks(document.value)}


def file_of(host: HostConfig) -> ConfigFile | None:
    """Return the host's file of hooks; None if it has none that can give its model another text."""
    return None if host.hooks is None else host.hooks.file


def containers(host: HostConfig) -> list[Path]:
    """Return the paths of the lists of hooks."""
    return [("hooks", event) for event in _events_of(host)]


def add(document: Document, host: HostConfig, reach: Reach, known: Remembered, *, is_renewed: bool) -> list[str]:
    """Add our hook to each of its events; in a list, after what is there."""
    hooks = _of(host)
    if hooks.file.form == "whole":
        if document.text and not plugin.is_plugin(document.text):
            return ["it is not ours: it stays as it is"]
        if not document.text or is_renewed:
            document.text = plugin.plugin(reach.program)
        return []
    for path in _installed_hooks(document, known) if is_renewed else ():
        words = _split(document.get(path))
        ours = our_command(words, "hook")
        # Renewed in place: removing and re-adding an entry would lose its matcher, its timeout and its position.
        if ours is not None and (renewed := ours.started_by(reach.program)) != words:
            document.replace(path, shlex.join(renewed))
    # Event by event: an older version of ours knew fewer events, and a person may have removed one of our hooks or written one by
    # hand: a duplicate would cut what the first has cut.
    there = events(document)
    missing = [event for event in _events_of(host) if event not in there]
    for key, value in hooks.beside.items() if missing else ():
        if document.get((key,)) is nested_values.MISSING:
            document.put((key,), value)
    entry: dict[str, Any] = filled(hooks.entry, {catalogue.COMMAND_LINE: hook_command(host, reach.program)})
    for event in missing:
        others = document.get(("hooks", event))
        at = 0 if others is nested_values.MISSING else len(others) if isinstance(others, list) else None
        if at is None:
            raise CannotEditError(f"hooks.{event} is no list")
        document.put(("hooks", event, at), entry)
    return []


def take(document: Document, _host: HostConfig, known: Remembered) -> bool:
    """Remove what `install` wrote: entries, or the whole file. Returns whether any was there."""
    if plugin.is_plugin(document.text):
        document.text = ""
        return True
    # From last to first, so that earlier indexes stay valid.
    ours = _installed_hooks(document, known)
    for path in reversed(ours):
        # A group is a matcher with hooks under it. If ours is the only one, the group is ours too; next to one of the person's,
        # only our line goes, and their matcher stays.
        hook = path[:-1]
        is_grouped = len(hook) > 3
        document.remove(hook[:-2] if is_grouped and len(document.get(hook[:-1])) == 1 else hook)
    return bool(ours)


def has(document: Document, _host: HostConfig, _known: Remembered) -> bool:
    """Return whether any event starts our hook, whoever wrote that."""
    return plugin.is_plugin(document.text) or bool(events(document))


def start_lines(document: Document, _host: HostConfig) -> list[StartLine]:
    """Return the command lines of all our hooks, whoever wrote them."""
    of_plugin = plugin.command_of(document.text)
    if of_plugin is not None:
        return [StartLine((*of_plugin.program, of_plugin.command, *of_plugin.arguments))]
    return [StartLine(tuple(_split(document.get(path)))) for path in _own_hooks(document.value)]


def _of(host: HostConfig) -> Hooks:
    assert host.hooks is not None  # noqa: S101 - otherwise no file has a place for it
    return host.hooks


def _events_of(host: HostConfig) -> tuple[str, ...]:
    return (_of(host).event, *_of(host).around)


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
    by_event = nested_values.get(value, ("hooks",))
    for event, entries in by_event.items() if isinstance(by_event, dict) else ():
        for at, entry in enumerate(entries if isinstance(entries, list) else ()):
            inner = entry.get("hooks") if isinstance(entry, dict) else None
            ways: list[tuple[Path, Any]] = [(("hooks", event, at), entry)]
            if isinstance(inner, list):
                ways = [(("hooks", event, at, "hooks", place), hook) for place, hook in enumerate(inner)]
            for way, hook in ways:
                # Copilot's key is `bash`, every other host's `command`. Both are checked everywhere, because files are copied from
                # host to host.
                for key in ("command", "bash") if isinstance(hook, dict) else ():
                    if isinstance(hook.get(key), str) and our_command(_split(hook[key]), "hook") is not None:
                        yield (*way, key)


def _split(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # an unterminated quote: not ours
        return []
