"""Write a session's handoff before its host compacts, and give its open ends back afterwards, with the pinned rules (H-4).

A handoff is made from the host's own file, without a model: what the file does not show is not said. It lies as two files in a
folder of the user's own: the document, and the text that is given back, measured. Laws: what is given is at most the budget, and
its first line says what it takes; where there is nothing to give, nothing is said. Keeps out: how a host's file is read
(`sessions`), and how a host takes a text (`results`).
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
"""What is given back may take, by the upper bound: half a percent of a common window, paid once after each compaction."""
PINNED = os.path.join(".penstock", "pinned.md")
"""Where a project has its pinned rules: in the folder of the session, or in one above it up to the root of the repository."""
_PINNED_PART = 0.6  # of the budget, where the open ends need the rest
_HEAD_TOKENS = 60
_MAX_PINNED_BYTES = 64 << 10
_MAX_FILES = 400
_FRESH_SECONDS = 86_400.0  # a new session is told of one that was compacted within a day before
_LINES_PART = 0.8  # of what fits, as in every result of ours: where whole lines are less, one is cut
_LONGEST_PART = 5  # of the budget: what one thing that the person said may take
_REWRITTEN = b'"$set":{"messages":'  # Gemini CLI, when its history has become another
_MAX_LOOK_BYTES = 64 << 20


def folder_for(environment: Mapping[str, str]) -> str:
    """Return the folder of handoffs, beside the user's store.

    Args:
        environment: the variables to look at: `XDG_STATE_HOME`, else `HOME`.
    """
    state = environment.get("XDG_STATE_HOME") or ""
    if not os.path.isabs(state):  # the XDG specification: relative ones are to be ignored
        state = os.path.join(own_files.home_folder(environment), ".local", "state")
    return os.path.join(state, "penstock-handoffs")


@dataclass(frozen=True, kw_only=True)
class HandingOn:
    """Where handoffs lie, and how much of one is given back."""

    folder: str
    budget_tokens: int = BUDGET_TOKENS
    pinned: str | None = None
    """A file of pinned rules that the person named; None looks for the project's own."""

    def write(self, host: HookHost, event: Event, dialect: Callable[[], Dialect]) -> None:
        """Write the handoff of the session that is about to be compacted.

        Args:
            host: whose session it is.
            event: what the host says: its session, folder and file.
            dialect: called for how the calls are written that read what was kept.

        Raises:
            OSError: The host's file cannot be read, or the handoff not written.
            CallerError: The folder of handoffs is another's.
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
        # A session is compacted many times, and a host that writes its history anew shows the newest part of it alone:
        # what the person asked for in the beginning is known only to the handoff before.
        made = _with_earlier(made, self._earlier(host, event))
        # What is behind is in the host's own summary: given back is what is open, and the words of the person.
        still_open = replace(made, summary="", commands=(), failed_attempts=(), completed_tasks=())
        # One long line, a log that was pasted into a prompt, must not push out all that stands behind it.
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
                # Where no event comes after a compaction, the file tells: what is written behind this size is looked
                # through at each of the person's messages, until a history written anew is found there.
                files[".due"] = str(os.stat(path).st_size)
            for kind, text in files.items():
                own_files.replace_own(os.path.join(self.folder, name + kind), _kept(text))
            _forget_oldest(own)

    def _earlier(self, host: HookHost, event: Event) -> Handoff | None:
        """Return the handoff that was written at an earlier compaction of a session, None for none."""
        from penstock.context.handoff import decode

        at = self._newest(self._names(_anywhere(host, event), f"-{_own_part(event)}.json"))
        raw = own_files.read_own(at) if at else None
        with suppress(CallerError):
            return decode(raw.decode("utf-8", "replace")) if raw else None
        return None

    def given(self, host: HookHost, event: Event) -> str:
        """Return what a session is given at its start or after its compaction, empty for nothing.

        Args:
            host: whose session it is.
            event: what the host says: its session, its folder, and whether it is new.
        """
        rules, at = self._rules(host.name, _folder(event))
        ends = self._open_ends(host, event)
        if not rules and not ends:
            return ""
        title = f"Pinned rules ({at}):\n" if rules else ""
        if _tokens(title) > self.budget_tokens // 4:  # the rules come first, and the model knows its own folder
            title = f"Pinned rules ({os.path.join('…', *at.split(os.sep)[-2:])}):\n"
        room = self.budget_tokens - _HEAD_TOKENS - _tokens(title)
        # Rules are a person's standing orders, open ends are derived: at least three fifths for the rules, and all that
        # the ends leave.
        rules = _fitted(rules, max(int(room * _PINNED_PART), room - _tokens(ends)), "… the rest is in the file.")
        ends = _fitted(ends, room - _tokens(rules), "… the rest is left out.")
        parts = (("pinned rules", title + rules if rules else ""), ("open ends", ends))
        named = ", ".join(f"{name} {_tokens(text)}" for name, text in parts if text)
        if not named:
            return ""
        body = "\n\n".join(text for _, text in parts if text)
        # The price is of all that is given, its own line too.
        price = _tokens(f"[penstock: {self.budget_tokens} tokens: {named}]\n{body}")
        return f"[penstock: {price} tokens: {named}]\n{body}"

    def is_due(self, host: HookHost, event: Event) -> bool:
        """Return whether a session was compacted since its handoff was written, once: for hosts that say nothing afterwards."""
        due = os.path.join(self.folder, _name(host, event) + ".due")
        try:
            marked = own_files.read_own(due)
            if marked is None:
                return False
            with own_files.open_regular(str(event.get("transcript_path"))) as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(int(marked) if size >= int(marked) else 0)  # a file that is shorter now was written anew
                is_done = _REWRITTEN in file.read(_MAX_LOOK_BYTES)
            if is_done:
                os.unlink(due)
        except (OSError, CallerError, ValueError):
            return False
        return is_done

    def stamp(self, host: HookHost, event: Event) -> str:
        """Return what tells this handoff of a session from its others."""
        name = _name(host, event)
        return f"given {name} {_changed(self.folder, name + '.txt')}"

    def _rules(self, host: str, folder: str) -> tuple[str, str]:
        """Return the pinned rules of a folder and where they are, both empty for none; of those that are not read why."""
        for at in (self.pinned,) if self.pinned else _above(folder) if folder else ():
            # A link that leads out of its project could have any file of the person's read to a model.
            if self.pinned is None and os.path.realpath(at) != os.path.join(
                os.path.realpath(os.path.dirname(at)), "pinned.md"
            ):
                return f"[Not read: it is a link; `penstock hook {host} --pinned FILE` names a file elsewhere.]", at
            try:
                with own_files.open_regular(at) as file:
                    text = file.read(_MAX_PINNED_BYTES).decode("utf-8-sig", "replace").strip()
                return (_shown(text), at) if text else ("", "")
            except (OSError, ValueError) as error:
                # Rules that somebody wrote and nobody reads would be missed by no one.
                if self.pinned or os.path.lexists(at):
                    return f"[Not read: {getattr(error, 'strerror', None) or error}.]", at
        return "", ""

    def _open_ends(self, host: HookHost, event: Event) -> str:
        """Return the open ends of the session; of a new one those of the last that was compacted in its folder."""
        # Three cases: after `clear` nothing, at `startup` what another session of this folder left open, else the
        # session's own.
        source = event.get("source")
        if source == "clear":  # the person wants to begin anew
            return ""
        is_new = source == "startup"
        # A session that goes on is known by its id alone, for its model may have changed the folder since; a new one
        # has only the folder.
        start, end = (_project(host, event), ".txt") if is_new else (_anywhere(host, event), f"-{_own_part(event)}.txt")
        try:
            found = self._newest(self._names(start, end), _FRESH_SECONDS if is_new else None)
            return (own_files.read_own(found) or b"").decode("utf-8", "replace") if found else ""
        except (OSError, CallerError):
            return ""

    def _names(self, start: str, end: str) -> list[str]:
        """Return the names in the folder of handoffs that begin and end so; none where it is not there."""
        with suppress(OSError):
            return [name for name in os.listdir(self.folder) if name.startswith(start) and name.endswith(end)]
        return []

    def _newest(self, names: list[str], max_seconds: float | None = None) -> str:
        """Return the path of the handoff that was written last, empty where there is none, or none within so long."""
        ages = {os.path.join(self.folder, name): time.time() - _changed(self.folder, name) for name in names}
        fresh = [path for path, age in ages.items() if max_seconds is None or age < max_seconds]
        return min(fresh, key=ages.__getitem__, default="")


def _with_earlier(made: Handoff, earlier: Handoff | None) -> Handoff:
    """Return a handoff with what an earlier one of the session knew: Gemini CLI forgets in its file what it has compacted."""
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
    # Up to the root of the repository, as with `AGENTS.md`; beyond it, or without any, whoever can write to a folder
    # above, such as /tmp, could give rules to every session beneath it.
    while not os.path.exists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if above == at:  # it is in no repository: a folder above may be anybody's
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
    """Return how the names of all handoffs of a folder begin."""
    return f"{host.name}-{zlib.crc32(os.path.realpath(_folder(event)).encode('utf-8', 'surrogatepass')):08x}-"


def _anywhere(host: HookHost, event: Event) -> str:
    """Return how the names of a session's handoffs begin, in whatever folder its model was; without an id in this one."""
    return f"{host.name}-" if _session(event) else _project(host, event)


def _name(host: HookHost, event: Event) -> str:
    """Return the name of a session's handoff: that of its folder and its own."""
    return _project(host, event) + _own_part(event)


def _own_part(event: Event) -> str:
    """Return what the name of a session's handoff ends with: a host's id is made safe, and never read back."""
    session = _session(event)
    safe = re.sub(r"[^A-Za-z0-9-]", "", session)[:80]
    return f"{safe}-{zlib.crc32(session.encode('utf-8', 'surrogatepass')):08x}"


def _kept(text: str) -> bytes:
    """Return a text as it is kept: by the store's rules on secrets."""
    from penstock.store import as_kept

    return b"".join(as_kept([text.encode("utf-8", "backslashreplace")]))


def _changed(folder: str, name: str) -> float:
    try:
        return os.stat(os.path.join(folder, name)).st_mtime
    except OSError:  # another process has just forgotten it
        return 0.0


def _forget_oldest(own: own_files.OwnFolder) -> None:
    """Remove the handoffs that are one too many."""
    names = own.names()
    for name in sorted(names, key=lambda name: _changed(own.path, name))[: max(0, len(names) - _MAX_FILES)]:
        own.remove(name)


def _shown(text: str) -> str:
    """Return a person's text without what acts on a terminal."""
    from penstock.text import escape

    return escape.show_text(text)


def _tokens(text: str) -> int:
    """Return how many tokens a text surely does not exceed."""
    from penstock.text.tokens import Tokens

    return Tokens().count(text).high if text else 0


def _shortened(text: str, tokens: int) -> str:
    """Return both ends of a text within about so many tokens; a mark says that there was more.

    A person pastes a log and says below it what is to be done, or says it first: both stay.
    """
    if len(text) <= _most_chars(tokens) and _tokens(text) <= tokens:
        return text
    last = tokens // 3
    return f"{_within(text, tokens - last)} … {_within(text, last, is_end=True)}"


def _within(text: str, tokens: int, *, is_end: bool = False) -> str:
    """Return the longest beginning of a text that takes at most so many tokens, or the longest end."""
    fewest, most = 0, min(len(text), _most_chars(tokens))
    # Halved, although counts are not sums of those of parts: a longer text never counts less (`text.tokens`), which is all
    # this needs.
    while fewest < most:
        middle = (fewest + most + 1) // 2
        fits = _tokens(text[-middle:] if is_end else text[:middle]) <= tokens
        fewest, most = (middle, most) if fits else (fewest, middle - 1)
    return text[len(text) - fewest :] if is_end else text[:fewest]


def _most_chars(tokens: int) -> int:
    """Return more characters than so many tokens of prose ever have: a log of a million is not counted to its end."""
    return max(0, 8 * tokens)


def _fitted(text: str, tokens: int, more: str) -> str:
    """Return a text within so many tokens; `more` stands for what is not shown.

    Cut at the end of a line where that leaves four fifths of it, else within one: a paragraph may be one line.
    """
    if _tokens(text) <= tokens:
        return text
    shown = _within(text, tokens - _tokens(f"…\n{more}"))
    at = shown.rfind("\n")
    if at >= _LINES_PART * len(shown):
        return f"{shown[:at]}\n{more}" if at > 0 else ""
    return f"{shown}…\n{more}" if shown else ""
