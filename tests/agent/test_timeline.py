"""Is the story of a session what happened in it, and does it end where the next request begins?"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest
from tests.inspection.reading import read

from penstock.agent.figures import stats_of
from penstock.agent.loop import Agent
from penstock.agent.timeline import happenings, story_of
from penstock.agent.toolbox import Toolbox
from penstock.errors import ToolError
from penstock.inspection.page import story_page
from penstock.inspection.story import Story
from penstock.inspection.timeline import Answered, Compacted, Refused, Said
from penstock.models import ScriptedModel, call, refuse, say
from penstock.session import Session
from penstock.session.limits import PROFILES, Pressure, Rung
from penstock.store.sqlite import SqliteStore
from penstock.wires import tool_definitions
from penstock.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from penstock.models import ScriptStep
    from penstock.store import JournalRecord

WIRES = ("openai-chat", "openai-responses", "anthropic")
WINDOW = 16_000
RUNGS = (Rung(Pressure.COMPACT, 75_000), Rung(Pressure.RESET, turns=8))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """Make a store."""
    made = SqliteStore(str(tmp_path / "store"))
    yield made
    made.close()


def worked(folder: Path, store: SqliteStore, steps: Sequence[ScriptStep], wire: str = "openai-chat") -> Session:
    """Run a session `one` in that store, which reads a file in pages."""
    (folder / "a.txt").write_text("".join(f"a has {n} in this line\n" for n in range(400)))
    tools = Toolbox(Workspace(folder), store, window_tokens=WINDOW)
    limits = PROFILES["default"].scaled(WINDOW)
    session = Session(
        limits=type(limits)(window_tokens=WINDOW, reserve_tokens=limits.reserve_tokens, rungs=RUNGS),
        wire=wire,
        system="Answer." if wire == "anthropic" else None,
        tools=tool_definitions(tools.tools, wire),
        session_id="one",
    )
    agent = Agent(session, ScriptedModel(list(steps), wire=wire), tools, store)
    agent.begin(about={"root": str(folder), "model": "gpt-5"})
    agent.run("Look.")
    return session


def page(offset: int) -> ScriptStep:
    return call("view", file_path="a.txt", offset=offset, limit=90)


def eventful() -> list[ScriptStep]:
    """Return a script with cuts, a refusal, a fresh start, and the same page read again after each."""
    pages = [page(offset) for offset in (0, 90, 180, 270)]
    return [*pages, refuse(17_000, of=WINDOW), page(0), *pages, *pages, say("So it is.")]


def told(store: SqliteStore) -> Story:
    """Return the story of the session."""
    (info,) = store.sessions()
    return story_of(store, info)[1]


@pytest.mark.parametrize("wire", WIRES)
def test_what_is_said_at_last_is_what_the_next_request_shows(tmp_path: Path, store: SqliteStore, wire: str) -> None:
    """The last state of the story is the next request, message by message, whatever was cut and handed on before."""
    session = worked(tmp_path, store, eventful(), wire)
    held: list[Any] = []
    kinds = set()
    for one in happenings(store, "one"):
        kinds.add(type(one))
        if isinstance(one, Compacted):
            held = []
        elif isinstance(one, Said):
            held.append(one.message)
    assert kinds >= {Said, Compacted, Answered, Refused}
    assert held == [entry.raw for entry in session.state.transcript.visible()]


@pytest.mark.parametrize("wire", WIRES)
def test_the_story_is_what_the_figures_say(tmp_path: Path, store: SqliteStore, wire: str) -> None:
    """Story and figures agree on turns, cuts, handoffs, refusals and the sizes that the provider reported."""
    worked(tmp_path, store, eventful(), wire)
    figures, story = stats_of(store, "one"), told(store)
    answered = [turn for turn in story.turns if not turn.is_refused]
    assert [turn.tokens for turn in answered] == [one.request_tokens for one in figures.answers]
    assert len(story.refusals) == len(figures.refusals) == 1
    assert sum(cut.is_handoff for cut in story.compactions) == len(figures.handoffs) >= 1
    assert sum(not cut.is_handoff for cut in story.compactions) == len(figures.cuts) >= 1
    assert story.window_tokens == WINDOW
    assert story.model == "gpt-5"
    assert story.state == "open"


def test_a_refusal_says_what_the_provider_said(tmp_path: Path, store: SqliteStore) -> None:
    """The story has the kind, the limit and the size of a refusal, although the journal holds none of its words."""
    worked(tmp_path, store, eventful())
    (refused,) = told(store).refusals
    (kept,) = [one.overflow for one in happenings(store, "one") if isinstance(one, Refused)]
    assert kept is not None
    assert asdict(kept)["limit"] == WINDOW
    assert (refused.kind, refused.limit_tokens, refused.input_tokens) == (kept.kind, kept.limit, kept.input)


def test_a_page_that_was_cleared_and_read_again_was_needed_again(tmp_path: Path, store: SqliteStore) -> None:
    """The line that replaces a cleared result is not an answer, so reading the page again counts as needing it again."""
    worked(tmp_path, store, eventful())
    story = told(store)
    cleared = [cut for cut in story.compactions if not cut.is_handoff and cut.by_kind.get("results")]
    again = [one for cut in cleared for one in cut.needed_again]
    assert again
    assert {one.name for one in again} == {"view"}
    assert all(one.tokens > 300 for one in again)  # a page, not the line that replaced it


def test_the_handoff_is_a_summary_of_ours(tmp_path: Path, store: SqliteStore) -> None:
    """The handoff at a fresh start fills the window under its own kind, and the user's words remain the user's."""
    worked(tmp_path, store, eventful())
    story = told(store)
    (cut,) = [one for one in story.compactions if one.is_handoff]
    behind = story.turns[cut.turn]
    assert behind.by_kind["summary"] > 50
    assert behind.by_kind["user"] < 50


def test_a_journal_that_ends_early_is_told_to_there(tmp_path: Path, store: SqliteStore) -> None:
    """An unknown record ends the story and leaves what came before it; one at the beginning leaves no story."""
    worked(tmp_path, store, [page(0), say("So.")])
    turns = len(told(store).turns)
    store.append("one", store.sessions()[0].records, "Unheard", {"of": 1})
    assert len(told(store).turns) == turns == 2
    store.append("two", 0, "Unheard", {"of": 1})
    subject, story = story_of(store, store.sessions()[0])
    assert (subject.session, story) == ("two", Story())
    read(story_page(subject, story))


def test_a_session_that_is_removed_while_it_is_told_is_told_to_there(
    tmp_path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read of it stays, as where a record is damaged."""
    worked(tmp_path, store, [page(0), say("So.")])
    whole, events = told(store), store.events

    def removed(session: str, from_seq: int = 0) -> Iterator[JournalRecord]:
        yield from events(session, from_seq)
        raise ToolError("not_found", "Session one was removed while it was read.")

    monkeypatch.setattr(store, "events", removed)
    assert told(store) == whole
    assert whole.turns


def test_the_subject_says_where_it_works(tmp_path: Path, store: SqliteStore) -> None:
    """The subject has the host, the session, the folder, and the time of the last record."""
    worked(tmp_path, store, [say("So.")])
    (info,) = store.sessions()
    subject, _ = story_of(store, info)
    assert (subject.host, subject.session, subject.project) == ("penstock", "one", str(tmp_path))
    assert subject.updated.startswith("20")
    assert subject.updated.endswith("Z")
