"""How does a job see the files of a program: by which names, and whether they are read or written?

Leaves to others: which data sets jobs bind to those names (`jobs`, `binding`). Law: whatever a compiler may take as a file's own
name is listed; a name that can only be a DD name is not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..facts.interface import deed_of
from ..program import key
from .naming import plain_path
from .operations import verb_of
from .values import CitedLine, FileBinding, FileName

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..facts.resources import FileUse, ProgramFile
    from .values import Verb

_PATH = re.compile(r"(?!.*:\Z)(?=.*\w)(?:.*[./\\].*)")
"""The name of a file on systems without JCL, which cannot be a DD name; `LPT1:` is a device."""
_DEVICE = re.compile(
    r"(?i).*:|CON|PRN|AUX|NUL|LPT\d|COM\d|PRINTER|KEYBOARD|DISPLAY|SYS\w*|(?:[A-Z]+-)*(?:UT|UR|DA|AS|S)-.*"
)
_NAME = re.compile(r"[\w$#@*-]+")
"""A file name without folder and suffix."""


def file_binding(file: ProgramFile, records: tuple[int, ...], program: str, path: str) -> FileBinding:
    """Return a file of a program as a job sees it.

    Args:
        file: The file.
        records: The indexes of its records among the items of the program.
        program: The name of the program's node.
        path: The file that holds the program.
    """
    uses = [use for use in file.uses if use.is_run]
    does = {verb for use in uses for verb in done_by(use)}
    reads = [use.line for use in uses if "reads" in done_by(use)]
    writes = [use.line for use in uses if "writes" in done_by(use)]
    opens = [use for use in uses if use.verb == "OPEN"]
    reads += [use.line for use in opens if use.mode in {"INPUT", "I-O"}]
    writes += [use.line for use in opens if use.mode in {"OUTPUT", "EXTEND", "I-O"}]
    return FileBinding(
        name=f"{program}.{key(file.name)}",
        dds=tuple(dict.fromkeys(key(one.value) for one in file.named_by)) or ((key(file.dd),) if file.dd else ()),
        records=records,
        is_read="reads" in does,
        is_written="writes" in does,
        is_opened_for=tuple(dict.fromkeys(use.mode for use in opens if use.mode)),
        line=file.line,
        read_line=reads[0] if reads else 0,
        write_line=writes[0] if writes else 0,
        own_names=tuple(_own_names(file, path)),
        is_key_described=any(key(name) == "EXTERNALLY-DESCRIBED-KEY" for name in file.keys),
        record_bytes=file.record_bytes,
        described=None if file.description_line is None else CitedLine(path, file.description_line, file.copybook),
    )


def done_by(use: FileUse) -> tuple[Verb, ...]:
    """Return what a statement does with its file."""
    if use.verb == "OPEN":
        return ("opens",)
    deed = deed_of(use)
    return () if deed is None else (verb_of(deed),)


def _own_names(file: ProgramFile, path: str) -> Iterator[FileName]:
    """Yield the names that a file may have in the file system."""
    for found in file.named_by:
        is_path = bool(_PATH.fullmatch(found.value))
        if is_path or (_NAME.fullmatch(found.value) and not _DEVICE.fullmatch(found.value)):
            yield FileName(plain_path(found.value), CitedLine(path, found.line, found.copybook), is_path)
    if file.dd and not file.named_by:
        # On IBM i, DATABASE-NAME is the file NAME itself, and no other name than a file's own is in its description.
        is_path = (
            bool(_PATH.fullmatch(file.dd))
            or any(word.upper().startswith("DATABASE-") for word in file.assign)
            or (file.is_titled and bool(_NAME.fullmatch(file.dd)) and not _DEVICE.fullmatch(file.dd))
        )
        is_name = file.is_named_by_select or any(word[0] in "'\"" or word.upper() == "EXTERNAL" for word in file.assign)
        if is_path or (is_name and not _DEVICE.fullmatch(file.dd)):
            yield FileName(plain_path(file.dd), None, is_path, file.is_named_by_select)
