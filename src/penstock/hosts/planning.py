"""What becomes of one configuration when parts are put into it or taken out: text in, text out (H-3)?

Three texts of a file are known: `base`, its content without us; `last`, what we left; and the present one. If the last two are
equal, taking out everything gives `base`, byte for byte. If others have changed the file since, our pieces are cut out of their
text if they are as we wrote them; otherwise our entries are found by their meaning, and removed by that.
Laws: install and uninstall give back every byte; anyone else's change stays; both are idempotent.
Leaves to others: files (`installing`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from penstock.hosts import merging, nested_values
from penstock.hosts.catalogue import HOST_CONFIGS
from penstock.hosts.documents import CannotEditError, Document
from penstock.hosts.nested_values import NOTHING_REMEMBERED, Remembered
from penstock.hosts.parts import PARTS, plugin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from penstock.hosts.catalogue import HostConfig
    from penstock.hosts.documents import Format
    from penstock.hosts.nested_values import Path
    from penstock.hosts.parts.part import Reach
    from penstock.hosts.records import Record


@dataclass(frozen=True, kw_only=True)
class EditedText:
    """The outcome for one file.

    Attributes:
        text: Its new content; None for no file.
        record: What to remember about it; None for nothing.
        notes: What a person should know.
    """

    text: str | None
    record: Record | None
    notes: tuple[str, ...] = ()


def install(
    host: HostConfig,
    wanted: Sequence[str],
    reach: Reach,
    form: Format,
    present: str | None,
    record: Record,
) -> EditedText:
    """Put parts of Penstock into a configuration, after what is there.

    Args:
        host: Whose it is.
        wanted: The parts; all go into this file.
        reach: How the host is to reach Penstock.
        form: The file's format.
        present: Its content; None for no file.
        record: What is remembered about it: without parts if nothing is.

    Raises:
        CannotEditError: It cannot be read, or has no place for a part.
    """
    base = record.base if present == record.last and record.parts else _stripped(form, present, record)
    document = Document(present or "", form)
    known = _remembered(record, form)
    notes: list[str] = []
    held: dict[str, tuple[str, ...]] = {
        part: hosts for part, hosts in record.parts.items() if PARTS[part].has(document, _one(hosts), known)
    }
    for part in wanted:
        was_there, text = PARTS[part].has(document, host, known), document.text
        renewed = part in held
        notes += PARTS[part].add(document, host, reach, known, is_renewed=renewed)
        # If a person wrote a hook for one event by hand, those for the other events are ours.
        was_there = was_there and (part != "hook" or document.text == text)
        if renewed or (not was_there and PARTS[part].has(document, host, known._replace(left=document.value))):
            held[part] = tuple(dict.fromkeys((*held.get(part, ()), host.name)))
    if not held:
        return EditedText(text=present, record=None, notes=tuple(notes))
    is_same = present is not None and document.text == present
    return EditedText(
        text=present if is_same else document.text,
        record=replace(record, base=base, last=document.text, parts=held),
        notes=tuple(notes),
    )


def uninstall(host: HostConfig, wanted: Sequence[str], form: Format, present: str | None, record: Record) -> EditedText:
    """Take parts of Penstock out of a configuration, and nothing else.

    In a file without a record, entries are removed that start a command of Penstock the way `install` writes it; empty objects
    around them stay.

    Args:
        host: Whose it is.
        wanted: The parts.
        form: The file's format.
        present: Its content; None for no file.
        record: What is remembered about it: without parts if nothing is.

    Raises:
        CannotEditError: It cannot be read, or a part cannot be removed safely.
    """
    if present is None:
        return EditedText(text=None, record=None)
    document = Document(present, form)
    if not record.parts:
        if form == "whole" and any(PARTS[part].has(document, host, NOTHING_REMEMBERED) for part in wanted):
            _expect_as_written(present)
            return EditedText(text=None, record=None)
        for part in wanted:
            # `install` writes full paths; a bare name was typed by a person. Hooks are checked one by one.
            lines = PARTS[part].start_lines(document, host)
            if part == "hook" or all(os.path.isabs(line.words[0]) for line in lines):
                PARTS[part].take(document, host, NOTHING_REMEMBERED)
        return EditedText(text=document.text, record=None)
    left = dict(record.parts)
    notes: list[str] = []
    for part in wanted:
        others = tuple(name for name in left.pop(part, ()) if name != host.name)
        if others:
            left[part] = others
            notes.append(f"{part} stays for {', '.join(others)}")
    if set(left) == set(record.parts):
        return EditedText(text=present, record=replace(record, parts=left), notes=tuple(notes))
    is_ours = present == record.last
    base = record.base if is_ours else _stripped(form, present, record)
    if not left:
        return EditedText(text=base, record=None, notes=tuple(notes))
    _take(document, {part: hosts for part, hosts in record.parts.items() if part not in left}, record, form)
    return EditedText(
        text=document.text, record=replace(record, base=base, last=document.text, parts=left), notes=tuple(notes)
    )


def _stripped(form: Format, present: str | None, record: Record) -> str | None:
    """Return a file's content without what a record says is ours; None if no file is left.

    Raises:
        CannotEditError: It cannot be read, or something of ours cannot be removed safely.
    """
    if present is None or not record.parts:
        return present
    document = Document(present, form)
    known = _remembered(record, form)
    if not any(PARTS[part].has(document, _one(hosts), known) for part, hosts in record.parts.items()):
        return present  # somebody has removed all of ours: the rest is theirs
    if form == "whole":
        _expect_as_written(present)
        return None
    _take(document, record.parts, record, form)
    if record.base is None and not document.value and document.text.strip("\ufeff \t\r\n{}") == "":
        return None
    exact = None if record.last is None else merging.undo(record.base or "", record.last, present)
    if exact is not None:
        try:
            undone = Document(exact, form)
        except CannotEditError:
            return document.text
        if undone.value == document.value and undone.block is None:
            return exact
    return document.text


def _take(document: Document, held: Mapping[str, tuple[str, ...]], record: Record, form: Format) -> None:
    """Remove parts, and the objects that were created for them if nothing else is in them."""
    known = _remembered(record, form)
    for part, hosts in held.items():
        host = _one(hosts)
        if PARTS[part].take(document, host, known):
            _prune(document, known.before, PARTS[part].containers(host))


def _prune(document: Document, before: object, paths: Sequence[Path]) -> None:
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


def _remembered(record: Record, form: Format) -> Remembered:
    """Return the earlier values of a file."""
    texts = record.base, record.last if record.parts else None
    return Remembered(*(nested_values.MISSING if text is None else Document(text, form).value for text in texts))


def _one(hosts: Sequence[str]) -> HostConfig:
    """Return one of the hosts of a part: hosts that share a file write it alike."""
    return HOST_CONFIGS[hosts[0]]


def _expect_as_written(text: str) -> None:
    """Raise CannotEditError for a plugin of ours that somebody has changed: removing it would lose the change."""
    if not plugin.is_as_written(text):
        raise CannotEditError("it was changed since we wrote it: remove it yourself, or take that change out")
