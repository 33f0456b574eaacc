"""How is Penstock put into a host's configurations, and taken out again: plan, show, then apply (H-3)?

A plan writes nothing; `apply` writes each file only if it still holds what the plan was made from, and records each change before
making it. A link is followed to its target; in a project only if the target is within it. Leaves to others: what a file is to hold
(`planning`), and questions to a person.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.hosts import planning
from penstock.hosts.documents import CannotEditError, Document
from penstock.hosts.nested_values import NOTHING_REMEMBERED
from penstock.hosts.parts import PARTS
from penstock.hosts.parts.part import GATEWAY_ADDRESS, Reach
from penstock.hosts.records import Record
from penstock.workspace import own_files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from penstock.hosts.catalogue import ConfigFile, HostConfig, HostSurroundings, Scope
    from penstock.hosts.planning import EditedText
    from penstock.hosts.records import InstallRecords

    Decide = Callable[[str | None, Record], EditedText]

_MAX_BYTES = 64 << 20
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_PRIVATE, _SHARED = 0o600, 0o666  # files in a home folder, and files in a project next to its sources


@dataclass(frozen=True, kw_only=True)
class FileEdit:
    """The change to one file.

    Attributes:
        path: The file as the host names it.
        target: The file, links followed.
        before: Its present content; None if there is no file.
        after: Its new content; None for no file.
        record: What to remember about it; None for nothing.
        earlier: What is remembered about it so far.
    """

    path: str
    target: str
    before: str | None
    after: str | None
    record: Record | None
    earlier: Record

    def diff(self) -> str:
        """Return the change as a unified diff; empty where the file stays as it is."""
        from penstock.hosts.differences import unified

        if self.before == self.after:
            return ""
        # Not `splitlines`: a JSON string may contain characters that Python takes for line ends.
        old, new = _LINE.findall(self.before or ""), _LINE.findall(self.after or "")
        name = self.path if self.path == self.target else f"{self.path} ({self.target})"
        ends = ("/dev/null" if self.before is None else name, "/dev/null" if self.after is None else name)
        lines = unified(old, new, *ends)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


@dataclass(frozen=True, kw_only=True)
class InstallPlan:
    """The changes to all files of a host.

    Attributes:
        changes: One for each file whose content or record changes.
        notes: What a person should know, one sentence each.
        refused: What cannot be done, one sentence each: then nothing is.
        instead: A command that works in place of what was refused; None if none is known.
    """

    changes: tuple[FileEdit, ...]
    notes: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    instead: str | None = None

    @property
    def visible(self) -> list[FileEdit]:
        """Edits that change a file."""
        return [change for change in self.changes if change.before != change.after]


def plan_install(
    host: HostConfig,
    wanted: Sequence[str],
    scope: Scope,
    around: HostSurroundings,
    records: InstallRecords,
    reach: Reach,
) -> InstallPlan:
    """Return what installing parts of Penstock in a host would change.

    Args:
        host: The host.
        wanted: The parts.
        scope: For all projects of the user, or for the current one.
        around: Where the host's files are.
        records: What was installed so far.
        reach: How the host is to reach Penstock.
    """
    draft = _Draft(scope, around, records)
    typed = reach._replace(program=_typed(reach.program, around))
    found = _by_file(host, wanted, scope, around)
    placed = {part for _, _, here in found for part in here}
    for part in (part for part in PARTS if part in wanted and part not in placed):
        if part == "gateway":  # asked for by name: a refusal, not a note
            draft.refused.append(_no_gateway(host, scope, reach.address))
            draft.instead = _instead(host, wanted, scope, reach.address)
        else:
            draft.notes.append(_no_place(host, part, scope))
    for file, path, here in found:
        words = typed if file is host.rules else reach
        by_hand = "".join(_by_hand(host, part, words) for part in here)
        draft.add(path, partial(planning.install, host, here, words, file.form), by_hand)
    if "hook" in wanted and host.hooks is not None and not draft.refused:
        draft.notes += [host.hooks.note] if host.hooks.note else []
        draft.notes += switched_off(host, scope, around)
    if _is_root_elsewhere(around.home):
        draft.notes.append(
            "This is root in another user's home: what is made here their agents may not read. Leave out `sudo`."
        )
    return draft.plan()


def plan_uninstall(
    host: HostConfig, wanted: Sequence[str], scope: Scope, around: HostSurroundings, records: InstallRecords
) -> InstallPlan:
    """Return what uninstalling parts of Penstock from a host would change; arguments as for `plan_install`."""
    draft = _Draft(scope, around, records)
    for file, path, here in _by_file(host, wanted, scope, around):
        draft.add(path, partial(planning.uninstall, host, here, file.form))
    draft.notes += _left(host, wanted, scope, around, records)
    return draft.plan()


def apply(plan: InstallPlan, scope: Scope, records: InstallRecords) -> list[str]:
    """Carry out a plan, file by file.

    Args:
        plan: The plan; nothing in it is refused.
        scope: The scope that it was made for.
        records: Where changes are recorded.

    Returns:
        What could not be carried over from an old file to its new one (an owner, an attribute), in words.

    Raises:
        ToolError: `stale`: a file changed after the plan was made. It is untouched; the files before it are done.
        OSError: A file could not be written. It is unchanged.
        CannotRememberError: The previous content could not be kept. The file is unchanged.
        CallerError: The folder of records cannot be trusted.
    """
    lost: list[str] = []
    if not plan.changes and not records.remains():
        return lost
    made: list[str] = []
    with records.lock():
        records.tidy()
        for change in plan.changes:
            lost += _apply(change, scope, records, made)
        for change in plan.changes:  # after all of them: files share folders
            if change.record is None and change.after is None:
                own_files.remove_empty_folders(change.earlier.folders)
    return lost


def _apply(change: FileEdit, scope: Scope, records: InstallRecords, made: list[str]) -> list[str]:
    """Apply one change. `made` lists the folders created so far; those for this file are added."""
    known, new = (None if text is None else text.encode() for text in (change.before, change.after))
    if known is None and new is not None:
        made += own_files.make_folders(os.path.dirname(change.target))
    if change.record is not None:
        folders = [folder for folder in made if _is_beneath(change.target, folder)]
        # Recorded first. If this process ends in between, a record of something absent harms nobody; an unrecorded change could
        # never be reverted to the byte.
        records.keep(replace(change.record, folders=(*change.record.folders, *folders)))
    lost: list[str] = []
    if change.before != change.after:
        # Only for a new file: an existing one keeps its mode. A user's settings may later hold tokens.
        mode = _PRIVATE if scope == "user" else _SHARED
        lost = [f"{change.path}: {what}" for what in own_files.change_own(change.target, new, known, mode)]
    if change.record is None and change.earlier.parts:
        records.forget(change.target)
    return lost


@dataclass
class _Draft:
    """A plan under construction."""

    scope: Scope
    around: HostSurroundings
    records: InstallRecords
    changes: list[FileEdit] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    instead: str | None = None

    def add(self, path: str, decide: Decide, by_hand: str = "") -> None:
        """Add the outcome for one file, or the reason for its refusal."""
        # Settings files are often links into a repository of dotfiles. The target is written: a rename over the link would separate
        # the two, and the person would edit a file that nothing reads.
        target = os.path.realpath(path)
        try:
            text = _read(path, target, self.scope, self.around)
            earlier = self._recorded(target) or Record(path=target, base=text, last=None, parts={})
            outcome = decide(text, earlier)
            if outcome.text != text:
                _expect_writable(target)
        except (CannotEditError, CallerError) as error:
            what = str(error) if path in str(error) else f"{path}: {error}"
            by_hand = (error.by_hand if isinstance(error, CannotEditError) else "") or by_hand
            self.refused.append(f"{what}.{f' To add by hand:{chr(10)}{by_hand}' if by_hand else ''}")
            return
        self.notes += [f"{path}: {note}." for note in outcome.notes]
        # A file that already has the right content still counts as a change if no record says that it is ours: uninstalling would
        # leave it.
        is_remembered = outcome.record == (earlier if earlier.parts else None)
        if outcome.text != text or not is_remembered:
            self.changes.append(
                FileEdit(
                    path=path, target=target, before=text, after=outcome.text, record=outcome.record, earlier=earlier
                )
            )

    def _recorded(self, target: str) -> Record | None:
        """Return the record of a file. Raises CallerError if it names what only a newer version could take out."""
        record = self.records.find(target)
        if record and (unknown := ", ".join(sorted(record.parts.keys() - PARTS.keys()))):
            raise CallerError(f"a newer Penstock has put there what this one does not know ({unknown}): use that one")
        return record

    def plan(self) -> InstallPlan:
        return InstallPlan(
            changes=tuple(self.changes), notes=tuple(self.notes), refused=tuple(self.refused), instead=self.instead
        )


def _by_file(
    host: HostConfig, wanted: Sequence[str], scope: Scope, around: HostSurroundings
) -> list[tuple[ConfigFile, str, list[str]]]:
    """Return the files that parts go into, each with its path and parts; a part without a place is in none."""
    found: dict[str, tuple[ConfigFile, str, list[str]]] = {}
    for part in (part for part in PARTS if part in wanted):
        file = PARTS[part].file_of(host)
        path = None if file is None else file.path(scope, around)
        if file is not None and path is not None:
            found.setdefault(path, (file, path, []))[2].append(part)
    return list(found.values())


def _left(
    host: HostConfig, wanted: Sequence[str], scope: Scope, around: HostSurroundings, records: InstallRecords
) -> list[str]:
    """Return a note on the parts that stay in a host because they were not named."""
    others = [part for part in PARTS if part not in wanted]
    left = [
        f"--{part}"
        for file, path, here in _by_file(host, others, scope, around)
        for part in here
        if (record := records.find(os.path.realpath(path))) is not None and host.name in record.parts.get(part, ())
    ]
    return (
        [f"What stays: {' '.join(left)}, which `penstock uninstall {host.name} {' '.join(left)}` takes out."]
        if left
        else []
    )


def _no_place(host: HostConfig, part: str, scope: Scope) -> str:
    if part == "hook":
        return (
            f"{host.title} has no hook that can give its model another text: what its shell prints is guarded by "
            "`penstock guard -- COMMAND`, which --rules tells its model."
        )
    other = "project" if scope == "user" else "user"
    return f"{host.title} has no file for {part} with --scope {scope}; --scope {other} has one."


def _no_gateway(host: HostConfig, scope: Scope, address: str) -> str:
    if host.base_url is not None:
        return _no_place(host, "gateway", scope)
    by_hand = host.base_url_help.substitute(address=address.rstrip("/"))
    return f"{host.title} has to be told about the gateway by hand: {by_hand}."


def _instead(host: HostConfig, wanted: Sequence[str], scope: Scope, address: str) -> str | None:
    """Return a command that works although this host has no place for the gateway's address in this scope."""
    others = [f"--{part}" for part in wanted if part != "gateway"]
    commands = [shlex.join(["penstock", "install", host.name, *others, "--scope", scope])] if others else []
    if host.base_url is not None:
        elsewhere = [] if address == GATEWAY_ADDRESS else ["--address", address]
        commands.append(shlex.join(["penstock", "install", host.name, "--gateway", "--scope", "user", *elsewhere]))
    elif host.base_url_command is not None:
        commands.append(host.base_url_command.substitute(address=shlex.quote(address.rstrip("/"))))
    elif not others and address == GATEWAY_ADDRESS:
        # What remains to be done in a shell when the host's own settings have the address.
        commands.append("penstock gateway")
    return " && ".join(commands) or None


def _typed(program: Sequence[str], around: HostSurroundings) -> Sequence[str]:
    """Return how a host's shell starts Penstock: by name if every shell finds it, otherwise by its full path."""
    folder, name = os.path.split(program[0])
    is_found = len(program) == 1 and folder in around.environment.get("PATH", "").split(os.pathsep)
    # A virtual environment's programs are found only while it is active, and a host is started elsewhere.
    return [name] if is_found and not os.path.exists(os.path.join(folder, "..", "pyvenv.cfg")) else program


def _is_root_elsewhere(home: str) -> bool:
    """Return whether this runs as root in somebody else's home, as under a `sudo` that keeps HOME."""
    if sys.platform == "win32" or os.geteuid() != 0:
        return False
    try:
        return os.stat(home).st_uid != 0
    except OSError:
        return False


def _by_hand(host: HostConfig, part: str, reach: Reach) -> str:
    """Return what a person can write if we cannot."""
    file = PARTS[part].file_of(host)
    document = Document("", "json" if file is None else file.form)
    PARTS[part].add(document, host, reach, NOTHING_REMEMBERED, is_renewed=False)
    return document.text


def switched_off(host: HostConfig, scope: Scope, around: HostSurroundings) -> list[str]:
    """Return a note for each file in which a user has turned off all of a host's hooks: that stays, and our hooks do not run."""
    if host.hooks is None or host.hooks.switch is None:
        return []
    file, way, off = host.hooks.switch
    notes: list[str] = []
    # A switch in the user's file also turns off a project's hooks, but not the other way round.
    for each in dict.fromkeys((scope, "user")):
        path = file.path("user" if each == "user" else "project", around)
        try:
            text = None if path is None else text_of(os.path.realpath(path))
            is_off = text is not None and Document(text, file.form).get(way) is off
        except (CannotEditError, CallerError):
            continue
        if is_off:
            said = f"{'.'.join(way)} is {str(off).lower()}, which turns all hooks off"
            notes.append(f"{path}: {said}. Ours runs when that is changed.")
    return notes


def _read(path: str, target: str, scope: Scope, around: HostSurroundings) -> str | None:
    """Return the content of a configuration; None if there is no file. Raises CannotEditError or CallerError if it cannot be
    edited.
    """
    if scope == "project" and os.path.islink(path):
        root = os.path.realpath(around.project)
        if not _is_beneath(target, root):
            raise CannotEditError(f"it is a link to {target}, out of the project")
    return text_of(target)


def _is_beneath(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def text_of(target: str) -> str | None:
    """Return a file's content; None if there is no file. Raises CannotEditError or CallerError if it cannot be edited."""
    raw = own_files.read_own(target, _MAX_BYTES)
    if raw is not None and len(raw) >= _MAX_BYTES:
        raise CannotEditError(f"it is larger than {_MAX_BYTES >> 20} MiB")
    try:
        return None if raw is None else raw.decode()
    except UnicodeDecodeError as error:
        raise CannotEditError(f"byte {error.start + 1} is not UTF-8") from error


def _expect_writable(target: str) -> None:
    """Raise CannotEditError for a file that its owner has made read-only, which a rename would silently replace, or whose folder is
    not writable.
    """
    try:
        status = os.stat(target)
    except FileNotFoundError:
        status = None
    except OSError as error:
        raise CannotEditError(f"it cannot be looked at: {error.strerror}") from error
    # Both are checked: root may write everything, and for anyone else the owner's mode bit ignores access lists.
    if status is not None and (not status.st_mode & 0o200 or not os.access(target, os.W_OK)):
        is_ours = sys.platform == "win32" or status.st_uid == os.geteuid()
        way = f"`chmod u+w {shlex.quote(target)}` makes it writable" if is_ours else "it belongs to another user"
        raise CannotEditError(f"it is read-only; {way}")
    folder = os.path.dirname(target)
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    # Checked for all files before the first is written, so that no installation is left half done.
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CannotEditError(f"{folder} takes no file: it is read-only, or belongs to another user")
