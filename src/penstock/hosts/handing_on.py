"""How does a session get its open ends and pinned rules back after its host has compacted it (H-4)?

A handoff is made from the host's own file before the compaction, without a model: what the file does not show is left out. It is
kept as two files in a folder of the user's: the document, and the measured text to give back. Laws: the text given is within the
budget, and its first line states its size; if there is nothing to give, nothing is said. Leaves to others: how a host's file is
read (`sessions`), and how a host takes a text (`results`).
"""

from __future__ import annotations

import os
import re
import time
import zlib
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.errors import CallerError
from penstock.workspace import own_files

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from penstock.context.handoff import Handoff
    from penstock.hosts.results import Event, HookHost
    from penstock.text.calls import Dialect

BUDGET_TOKENS = 800
"""The limit for the text given back, by the upper bound: half a percent of a common window, paid once after each compaction."""
PINNED = os.path.join(".penstock", "pinned.md")
"""Where a project keeps its pinned rules: in the session's folder, or in one above it up to the root of the repository."""
_PINNED_PART = 0.6  # of the budget, if the open ends need the rest
_HEAD_TOKENS = 60
_MAX_PINNED_BYTES = 64 << 10
_MAX_FILES = 400
_FRESH_SECONDS = 86_400.0  # a new session gets the open ends of one compacted within the last day
_LINES_PART = 0.8  # of what fits, as in every result of ours: if whole lines come to less, a line is cut
_LONGEST_PART = 5  # of the budget: the limit for one thing that the person said
_REWRITTEN = b'"$set":{"messages":'  # Gemini CLI, when it rewrites its history
_MAX_LOOK_BYTES = 64 << 20


def folder_for(environment: Mapping[str, str]) -> str:
    """Return the folder of handoffs, next to the user's store.

    Args:
        environment: the variables to look at: `XDG_STATE_HOME`, else `HOME`.
    """
    return os.path.join(own_files.state_folder(environment), "penstock-handoffs")


@dataclass(frozen=True, kw_only=True)
class HandingOn:
    """Where handoffs are kept, and how much of one is given back."""

    folder: str
    budget_tokens: int = BUDGET_TOKENS
    pinned: str | None = None
    """A file of pinned rules named by the person; None looks for the project's own."""

    def write(self, host: HookHost, event: Event, dialect: Callable[[], Dialect]) -> None:
        """Write the handoff of a session that is about to be compacted.

        Args:
            host: whose session it is.
            event: the host's event: its session, folder and file.
            dialect: returns how the calls that read kept output are written.

        Raises:
            OSError: The host's file cannot be read, or the handoff cannot be written.
            CallerError: The folder of handoffs belongs to somebody else.
        """
        from dataclasses import replace

        from penstock.context.handoff import encode, render
        from penstock.hosts.sessions import read_session
        from penstock.hosts.sessions.handoffs import handed_on

        path = event.get("transcript_path")
        if not isinstance(path, str) or not path:
            return
        read = read_session(host.name, path)
        names = {"session_id": _session(event), "folder": _folder(event), "path": path}
        made = handed_on(read, host=host.name, agent=host.title, **names)
        # A session is compacted many times, and a host that rewrites its history shows only the newest part: the person's first
        # request is known only to the previous handoff.
        made = _with_earlier(made, self._earlier(host, event))
        # The host's own summary covers what is done; what is given back is what is open, and the person's words.
        still_open = replace(made, summary="", commands=(), failed_attempts=(), completed_tasks=())
        # One long line, such as a log pasted into a prompt, must not push out everything after it.
        room = self.budget_tokens // _LONGEST_PART
        still_open = replace(
            still_open,
            goal=_shortened(made.goal, room),
            next_step=_shortened(made.next_step, room),
            constraints=tuple(_shortened(words, room) for words in made.constraints),
        )
        written = (
            ""
            if not read.transcript.entries
            else render(still_open, max_chars=5 * self.budget_tokens, dialect=dialect())
        )
        own = own_files.OwnFolder(self.folder)
        with closing(own):
            name = _name(host, event)
            files = {".json": encode(made), ".txt": written}
            if host.after_compaction not in {"", host.start}:
                # If the host sends no event after a compaction, its file shows it: at each of the person's messages, what was
                # written after this size is searched for a rewritten history.
                files[".due"] = str(os.stat(path).st_size)
            for kind, text in files.items():
                own_files.replace_own(os.path.join(self.folder, name + kind), _kept(text))
            _forget_oldest(own)

    def _earlier(self, host: HookHost, event: Event) -> Handoff | None:
        """Return the handoff written at an earlier compaction of a session; None if there is none."""
        from penstock.context.handoff import decode

        at = self._newest(self._names(_anywhere(host, event), f"-{_own_part(event)}.json"))
        raw = own_files.read_own(at) if at else None
        with suppress(CallerError):
            return decode(raw.decode("utf-8", "replace")) if raw else None
        return None

    def given(self, host: HookHost, event: Event) -> str:
        """Return the text for a session at its start or after its compaction; empty if there is none.

        Args:
            host: whose session it is.
            event: the host's event: its session, its folder, and whether it is new.
        """
        rules, at = self._rules(host.name, _folder(event))
        ends = self._open_ends(host, event)
        if not rules and not ends:
            return ""
        title = f"Pinned rules ({at}):\n" if rules else ""
        if _tokens(title) > self.budget_tokens // 4:  # the rules come first, and the model knows its own folder
            title = f"Pinned rules ({os.path.join('…', *at.split(os.sep)[-2:])}):\n"
        room = self.budget_tokens - _HEAD_TOKENS - _tokens(title)
        # Rules are a person's standing orders, open ends are derived: the rules get at least three fifths, and whatever the open
        # ends leave.
        rules = _fitted(rules, max(int(room * _PINNED_PART), room - _tokens(ends)), "… the rest is in the file.")
        ends = _fitted(ends, room - _tokens(rules), "… the rest is left out.")
        parts = (("pinned rules", title + rules if rules else ""), ("open ends", ends))
        named = ", ".join(f"{name} {_tokens(text)}" for name, text in parts if text)
        if not named:
            return ""
        body = "\n\n".join(text for _, text in parts if text)
        # The price covers the whole text, this line included.
        price = _tokens(f"[penstock: {self.budget_tokens} tokens: {named}]\n{body}")
        return f"[penstock: {price} tokens: {named}]\n{body}"

    def is_due(self, host: HookHost, event: Event) -> bool:
        """Return whether a session was compacted since its handoff was written, once: for hosts that send no event afterwards."""
        due = os.path.join(self.folder, _name(host, event) + ".due")
        try:
            marked = own_files.read_own(due)
            if marked is None:
                return False
            with own_files.open_regular(str(event.get("transcript_path"))) as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(int(marked) if size >= int(marked) else 0)  # a shorter file was rewritten
                is_done = _REWRITTEN in file.read(_MAX_LOOK_BYTES)
            if is_done:
                os.unlink(due)
        except (OSError, CallerError, ValueError):
            return False
        return is_done

    def stamp(self, host: HookHost, event: Event) -> str:
        """Return a key that distinguishes this handoff of a session from its others."""
        name = _name(host, event)
        return f"given {name} {_changed(self.folder, name + '.txt')}"

    def _rules(self, host: str, folder: str) -> tuple[str, str]:
        """Return the pinned rules of a folder and their path, both empty if there are none; for rules that are not read, the
        reason.
        """
        for at in (self.pinned,) if self.pinned else _above(folder) if folder else ():
            # A link out of the project could have any of the person's files read to a model.
            if self.pinned is None and os.path.realpath(at) != os.path.join(
                os.path.realpath(os.path.dirname(at)), "pinned.md"
            ):
                return f"[Not read: it is a link; `penstock hook {host} --pinned FILE` names a file elsewhere.]", at
            try:
                with own_files.open_regular(at) as file:
                    text = file.read(_MAX_PINNED_BYTES).decode("utf-8-sig", "replace").strip()
                return (_shown(text), at) if text else ("", "")
            except (OSError, ValueError) as error:
                # Rules that were written but are not read would go unnoticed.
                if self.pinned or os.path.lexists(at):
                    return f"[Not read: {getattr(error, 'strerror', None) or error}.]", at
        return "", ""

    def _open_ends(self, host: HookHost, event: Event) -> str:
        """Return the session's open ends; for a new session, those of the last one compacted in its folder."""
        # Three cases: nothing after `clear`; at `startup` what another session of this folder left open; otherwise the session's
        # own.
        source = event.get("source")
        if source == "clear":  # the person wants to start over
            return ""
        is_new = source == "startup"
        # A continued session is identified by its id alone, because its model may have changed the folder since; a new one has only
        # its folder.
        start, end = (_project(host, event), ".txt") if is_new else (_anywhere(host, event), f"-{_own_part(event)}.txt")
        try:
            found = self._newest(self._names(start, end), _FRESH_SECONDS if is_new else None)
            return (own_files.read_own(found) or b"").decode("utf-8", "replace") if found else ""
        except (OSError, CallerError):
            return ""

    def _names(self, start: str, end: str) -> list[str]:
        """Return the names in the folder of handoffs with this beginning and end; none if the folder does not exist."""
        with suppress(OSError):
            return [name for name in os.listdir(self.folder) if name.startswith(start) and name.endswith(end)]
        return []

    def _newest(self, names: list[str], max_seconds: float | None = None) -> str:
        """Return the path of the newest handoff; empty if there is none, or none that recent."""
        ages = {os.path.join(self.folder, name): time.time() - _changed(self.folder, name) for name in names}
        fresh = [path for path, age in ages.items() if max_seconds is None or age < max_seconds]
        return min(fresh, key=ages.__getitem__, default="")


def _with_earlier(made: Handoff, earlier: Handoff | None) -> Handoff:
    """Return a handoff completed by an earlier one of the session: Gemini CLI drops from its file what it has compacted."""
    from dataclasses import replace

    if earlier is None or not earlier.goal or earlier.goal == made.goal:
        return made
    return replace(
        made,
        goal=earlier.goal,
        next_step=made.next_step or made.goal or earlier.next_step,
        constraints=tuple(dict.fromkeys((*earlier.constraints, *made.constraints))),
        modified_files=tuple(dict.fromkeys((*earlier.modified_files, *made.modified_files))),
    )


def _above(folder: str) -> list[str]:
    """Return where the pinned rules of a folder may be, the nearest first."""
    at, found = os.path.abspath(folder), [os.path.join(os.path.abspath(folder), PINNED)]
    # Up to the root of the repository, as with `AGENTS.md`; beyond it, or outside a repository, anyone who can write to a folder
    # above, such as /tmp, could give rules to every session below it.
    while not os.path.exists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if above == at:  # not in a repository: a folder above may be anybody's
            return found[:1]
        at = above
        found.append(os.path.join(at, PINNED))
    return found


def _session(event: Event) -> str:
    return str(event.get("session_id", ""))[:200]


def _folder(event: Event) -> str:
    folder = event.get("cwd")
    return folder if isinstance(folder, str) else ""


def _project(host: HookHost, event: Event) -> str:
    """Return the prefix of the names of all handoffs of a folder."""
    return f"{host.name}-{zlib.crc32(os.path.realpath(_folder(event)).encode('utf-8', 'surrogatepass')):08x}-"


def _anywhere(host: HookHost, event: Event) -> str:
    """Return the prefix of the names of a session's handoffs, whatever folder its model was in; without an id, in this folder."""
    return f"{host.name}-" if _session(event) else _project(host, event)


def _name(host: HookHost, event: Event) -> str:
    """Return the name of a session's handoff: its folder's prefix and its own part."""
    return _project(host, event) + _own_part(event)


def _own_part(event: Event) -> str:
    """Return the end of the name of a session's handoff: the host's id is sanitized, and never read back."""
    session = _session(event)
    safe = re.sub(r"[^A-Za-z0-9-]", "", session)[:80]
    return f"{safe}-{zlib.crc32(session.encode('utf-8', 'surrogatepass')):08x}"


def _kept(text: str) -> bytes:
    """Return a text as it is kept, with secrets redacted by the store's rules."""
    from penstock.store import as_kept

    return b"".join(as_kept([text.encode("utf-8", "backslashreplace")]))


def _changed(folder: str, name: str) -> float:
    try:
        return os.stat(os.path.join(folder, name)).st_mtime
    except OSError:  # another process has just removed it
        return 0.0


def _forget_oldest(own: own_files.OwnFolder) -> None:
    """Remove the oldest handoffs beyond the limit."""
    names = own.names()
    for name in sorted(names, key=lambda name: _changed(own.path, name))[: max(0, len(names) - _MAX_FILES)]:
        own.remove(name)


def _shown(text: str) -> str:
    """Return a person's text without terminal control characters."""
    from penstock.text import escape

    return escape.show_text(text)


def _tokens(text: str) -> int:
    """Return an upper bound of a text's tokens."""
    from penstock.text.tokens import Tokens

    return Tokens().count(text).high if text else 0


def _shortened(text: str, tokens: int) -> str:
    """Return both ends of a text within about so many tokens; a mark shows that there was more.

    A person pastes a log and says below it what to do, or says it first: both stay.
    """
    if len(text) <= _most_chars(tokens) and _tokens(text) <= tokens:
        return text
    last = tokens // 3
    return f"{_within(text, tokens - last)} … {_within(text, last, is_end=True)}"


def _within(text: str, tokens: int, *, is_end: bool = False) -> str:
    """Return the longest beginning, or the longest end, of a text that takes at most so many tokens."""
    fewest, most = 0, min(len(text), _most_chars(tokens))
    # Bisected although counts do not add up over parts: a longer text never counts less (`text.tokens`), which is all that this
    # needs.
    while fewest < most:
        middle = (fewest + most + 1) // 2
        fits = _tokens(text[-middle:] if is_end else text[:middle]) <= tokens
        fewest, most = (middle, most) if fits else (fewest, middle - 1)
    return text[len(text) - fewest :] if is_end else text[:fewest]


def _most_chars(tokens: int) -> int:
    """Return more characters than so many tokens of prose ever have, so that a log of a million is not counted to its end."""
    return max(0, 8 * tokens)


def _fitted(text: str, tokens: int, more: str) -> str:
    """Return a text within so many tokens; `more` says that something is left out.

    Cut at the end of a line if that leaves four fifths of it, otherwise within a line: a paragraph may be one line.
    """
    if _tokens(text) <= tokens:
        return text
    shown = _within(text, tokens - _tokens(f"…\n{more}"))
    at = shown.rfind("\n")
    if at >= _LINES_PART * len(shown):
        return f"{shown[:at]}\n{more}" if at > 0 else ""
    return f"{shown}…\n{more}" if shown else ""
