"""Does work in a small window end as well as in a large one, and does it fail if one invariant of compaction is removed?

A policy is a function of what one request shows. The agent calls it over HTTP, with a real tree and a real store: it combines the
values of 40 files, keeps a wish of the second message to the end, and continues an edit after a kill. Each mutant removes one
invariant and names the work that then fails; mutants run in one process, which is faster.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.forks import COMMANDS, warm

from penstock.agent import asking
from penstock.agent.calling import Calling
from penstock.agent.editing import Editing
from penstock.agent.loop import Agent
from penstock.agent.toolbox import INSTRUCTIONS
from penstock.context.compaction import GROWN, plans, spans, views
from penstock.models import RemoteModel, call, calls, say
from penstock.session import decisions
from penstock.session.limits import PROFILES
from penstock.store import open_store
from penstock.store.texts import put_texts
from penstock.testing import LoopbackProvider
from penstock.tools import NAVIGATION
from penstock.wires import Transcript, history, load_request
from penstock.wires.anthropic import codec
from penstock.workspace.root import Root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from penstock.models import ScriptStep
    from penstock.wires import Entry, Turn

    Begin = Callable[..., Agent]

pytestmark = pytest.mark.timeout(300)  # two processes, one of them killed, on any machine

SMALL, LARGE = 32_000, 1_000_000
MAX_TURNS = 80


class Shown:
    """The text that a request shows, which is all that a policy knows."""

    def __init__(self, request: dict[str, Any], wire: str) -> None:
        entries = load_request(request, wire).visible()
        last = max((place for place, entry in enumerate(entries) if entry.role == "assistant"), default=-1)
        texts = [[entry.text, *(part.text for part in entry.results)] for entry in entries]
        told = str(request.get("system") or request.get("instructions") or "")
        self.text = "\n".join([told, *(text for row in texts for text in row)])
        """The whole text of the request."""
        self.came = "\n".join(text for row in texts[last + 1 :] for text in row)
        """The text after the model's last message."""


class Ended(NamedTuple):
    """The outcome of a task."""

    right: bool
    cuts: int
    said: str
    """The last answer, or why there is none."""


def served(wire: str, window: int, policy: Callable[[Shown], ScriptStep]) -> LoopbackProvider:
    """Return a provider with that window, whose model sees only what the request shows."""
    return LoopbackProvider(wire, window, policy=lambda request: policy(Shown(request, wire)))


def over_http(begin: Begin) -> Begin:
    """Wrap `begin` so that the model is called over HTTP, not in process."""

    def begun(provider: LoopbackProvider, **about: Any) -> Agent:
        model = RemoteModel(provider.wire, provider.name, base_url=provider.base_url, environment={})
        return begin(model, **about)

    return begun


def value(number: int) -> int:
    """Return the value that a file holds, which cannot be guessed."""
    return 10_007 * (number + 3) % 99_991


def page(name: str, line: str, lines: int = 60) -> str:
    """Return the text of a file of about 1,500 tokens with one line that matters."""
    filler = [f"{name}.{number}: nothing to see in this line, whichever way one looks at it" for number in range(lines)]
    return "\n".join([*filler[: lines // 2], line, *filler[lines // 2 :], ""])


# ── (a) the values of 40 files ───────────────────────────────────────────────────────────────────────────────────

PARTS = 40
UNNOTED = {7, 15, 23, 31, 39}
"""The parts whose values are not noted: they are read again by their handles."""


def combining(shown: Shown) -> ScriptStep:
    """Read each part once, note most values, and page back to the others; no file is opened twice."""
    known = {int(part): int(found) for part, found in re.findall(r"the value of part (\d\d) is (\d+)", shown.text)}
    listed = [int(part) for part in re.findall(r"\bpart_(\d\d)\.txt", shown.text)]
    arrived = re.search(r"the value of part (\d\d) is (\d+)", shown.came)
    note = f"I note: {arrived[0]}." if arrived and (int(arrived[1]) not in UNNOTED or max(listed) == PARTS - 1) else ""
    if not listed:
        return call("view", file_path="part_00.txt")
    if max(listed) < PARTS - 1:
        if not arrived:
            return say("I did not see what I asked for.")
        return calls(call("view", file_path=f"part_{max(listed) + 1:02d}.txt"), text=note)
    missing = [part for part in range(PARTS) if part not in known]
    if not missing:
        return say(f"The sum is {sum((part + 1) * known[part] for part in known)}.")
    if set(missing) <= UNNOTED:
        part = missing[0]
        stub = re.search(rf"\[cleared[^\]]*view part_{part:02d}\.txt[^\]]*page\(handle=\W*(\w{{22}})", shown.text)
        if stub:
            return calls(call("page", handle=stub[1]), text=note)
        if span := re.search(r"Left out here[^\]]*page\(handle=\W*(\w{22})", shown.text):
            pattern = rf"cleared: view part_{part:02d}|value of part {part:02d} is \d+"
            return calls(call("find", handle=span[1], pattern=pattern), text=note)
    return say(f"I do not know {missing}.")


def combines(begin: Begin, tree: Path, wire: str, window: int) -> Ended:
    """Ask for the sum of the values of 40 files, each weighted by its number."""
    for part in range(PARTS):
        (tree / f"part_{part:02d}.txt").write_text(page(str(part), f"the value of part {part:02d} is {value(part)}"))
    with served(wire, window, combining) as provider:
        run = begin(provider, window=window).run("Sum up the values of all parts.", max_turns=MAX_TURNS)
    right = sum((part + 1) * value(part) for part in range(PARTS))
    return Ended(run.answer == f"The sum is {right}.", run.cuts, run.answer or run.message)


# ── (b) a wish of the second message ─────────────────────────────────────────────────────────────────────────────

SYSTEM = f"{INSTRUCTIONS}\n{NAVIGATION}\nSign every answer with quorum."
GOAL = "The harbour is at port 8443: remember it. Read pages 0 to 5."
WISH = "Never touch README.md, and answer in French."
CHORES = [
    f"chore {number}: tell ward {value(number)} that the boats of pier {value(number + 50)} leave at dawn, and wait for an answer"
    for number in range(6)
]
PAGES = 46
PROMPTS = [
    GOAL,
    WISH,
    "Look at plan.txt, and put its chores on your list.",
    *(f"Read pages {first} to {first + 5}." for first in range(6, 18, 6)),
    f"Read pages 18 to {PAGES - 1}, then make README.md better, and say where the harbour is, the tide of 18, and your list.",
]


def serving(shown: Shown) -> ScriptStep:
    """Do what the last message says, within what earlier messages said."""
    french, harbour = WISH in shown.text, re.search(r"harbour is at port (\d+)", shown.text)
    signed = re.search(r"Sign every answer with (\w+)", shown.text)
    arrived = re.search(r"page_(\d\d)\.txt: ", shown.came)
    if "Look at plan.txt" in shown.came:
        return call("view", file_path="plan.txt")
    if chores := re.findall(r"\|(chore \d: .+)$", shown.came, re.MULTILINE):
        return calls(*(call("todo", action="add", title=chore) for chore in chores))
    asked = re.findall(r"Read pages (\d+) to (\d+)", shown.text if arrived else shown.came)
    if asked and (not arrived or int(arrived[1]) < int(asked[-1][1])):
        following = int(arrived[1]) + 1 if arrived else int(asked[-1][0])
        tide = re.search(r"the tide of 18 is at \d+", shown.came)
        return calls(call("view", file_path=f"page_{following:02d}.txt"), text=f"I note: {tide[0]}." if tide else "")
    if not asked or "README" not in shown.text[shown.text.rindex("Read pages") :].split("\n")[0]:
        return say("D'accord." if french else "Yes.")
    if not french:
        written = "README.md: " in shown.came
        return say("It is better.") if written else call("write_file", path="README.md", content="Better.\n")
    open_items = dict.fromkeys(re.findall(r"^(?:\[ \] \d|-) (chore .+)$", shown.text, re.MULTILINE))
    tide = re.search(r"the tide of 18 is at (\d+)", shown.text)
    port, height, name = (found[1] if found else "?" for found in (harbour, tide, signed))
    return say("\n".join(["Je laisse README.md.", f"Port {port}, tide {height}.", *open_items, name]))


def keeps(begin: Begin, tree: Path, wire: str, window: int) -> Ended:
    """Hold a conversation of many turns whose earlier wishes govern the last answer."""
    (tree / "README.md").write_text("As it was.\n")
    (tree / "plan.txt").write_text("\n".join([*CHORES, ""]))
    for number in range(PAGES):
        (tree / f"page_{number:02d}.txt").write_text(page(str(number), f"the tide of {number} is at {value(number)}"))
    root = Root(tree)
    try:
        with served(wire, window, serving) as provider:
            agent = begin(provider, window=window, system=SYSTEM, acting=[Editing(root)])
            runs = [agent.run(prompt, max_turns=MAX_TURNS) for prompt in PROMPTS]
    finally:
        root.close()
    right = "\n".join(["Je laisse README.md.", f"Port 8443, tide {value(18)}.", *CHORES, "quorum"])
    is_left = (tree / "README.md").read_text() == "As it was.\n"
    return Ended(
        is_left and runs[-1].answer == right, sum(run.cuts for run in runs), runs[-1].answer or runs[-1].message
    )


# ── (c) an edit that goes on after a kill ────────────────────────────────────────────────────────────────────────

RULES = 16
KILLED_AFTER = 10
"""The number of effects that are done and recorded before the kill; the result of the tenth is lost."""


def setting(shown: Shown) -> ScriptStep:
    """Read a rule, set the rate that it names and add a line to a log; look again only if a result says so."""
    rules = [int(rule) for rule in re.findall(r"rule_(\d\d)\.txt", shown.text)]
    if not rules:
        return calls(call("view", file_path="rates.ini"), call("view", file_path="rule_00.txt"))
    rule = max(rules)
    if "Begun before the stop" in shown.came or "does not stand" in shown.came:
        return calls(*(call("view", file_path=name) for name in ("rates.ini", "log.txt", f"rule_{rule:02d}.txt")))
    target = re.findall(rf"rule {rule:02d}: rate_{rule:02d} becomes (\d+)", shown.text)
    rates = re.findall(rf"^\d+\|rate_{rule:02d} = (\d+)$", shown.text, re.MULTILINE)
    if not target or not rates:
        return say(f"I do not see what I need for rule {rule}.")
    missing = []
    if "rule_" in shown.came or "log.txt: showing" in shown.came:
        if rates[-1] != target[-1]:
            old, new = (f"rate_{rule:02d} = {number}" for number in (rates[-1], target[-1]))
            missing.append(call("edit_file", path="rates.ini", old=old, new=new))
        if f"|rate_{rule:02d} was set" not in shown.came:
            missing.append(call("edit_file", path="log.txt", old="the end", new=f"rate_{rule:02d} was set\nthe end"))
    if missing:
        return calls(*missing)
    if rule + 1 < RULES:
        return call("view", file_path=f"rule_{rule + 1:02d}.txt")
    return say("All rates are set.")


def resumes(tree: Path, wire: str, window: int, mutant: str = "") -> Ended:
    """Run two real processes: the first is killed when an edit is done and its result is not recorded, the second continues."""
    old = [f"rate_{rule:02d} = {value(rule)}" for rule in range(2 * RULES)]
    new = [f"rate_{rule:02d} = {value(rule + 100)}" for rule in range(RULES)] + old[RULES:]
    (tree / "rates.ini").write_text("\n".join([*old, ""]))
    (tree / "log.txt").write_text("the end\n")
    for rule in range(RULES):
        line = f"rule {rule:02d}: rate_{rule:02d} becomes {value(rule + 100)}"
        (tree / f"rule_{rule:02d}.txt").write_text(page(str(rule), line))
    store = f"sqlite://{tree.parent}/store-of-{window}"
    with served(wire, window, setting) as provider:
        begin = ["run", "Set the rates.", "--root", str(tree), "--model", f"{wire}:loopback", "--allow-edit", "--json"]
        begin += ["--base-url", provider.base_url, "--window", str(window)]
        killed = penstock(mutant, KILLED_AFTER, store, *begin)
        journal = open_store(store)
        session = journal.sessions()[0].session
        journal.close()
        ended = penstock(mutant, 0, store, "resume", session, "--json")
    done = json.loads(ended.stdout)
    logged = [f"rate_{rule:02d} was set" for rule in range(RULES)]
    right = killed.returncode == -signal.SIGKILL and done["answer"] == "All rates are set."
    right = right and (tree / "rates.ini").read_text() == "\n".join([*new, ""])
    right = right and (tree / "log.txt").read_text() == "\n".join([*logged, "the end", ""])
    return Ended(right, done["cuts"], done["answer"] or done["message"])


def penstock(mutant: str, effects: int, store: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in its own process, which kills itself after so many effects."""
    driver = f"from tests.agent.test_policy_tasks import driven; driven({mutant!r}, {effects})"
    environment = {**os.environ, "PENSTOCK_STORE": store}
    command = [*warm(*COMMANDS, __name__), "-c", driver, *arguments]
    return subprocess.run(
        command,
        env=environment,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def driven(mutant: str, effects: int) -> None:
    """Do what that process does."""
    from penstock.cli import main

    done = 0
    feed = Agent.feed

    def dying(agent: Agent, event: Any, handles: tuple[str, ...] = ()) -> None:
        nonlocal done
        feed(agent, event, handles)
        done += type(event).__name__ == "Effected"
        if effects and done == effects:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Agent, "feed", dying)
        if mutant:
            MUTANTS[mutant].take(patch)
        sys.exit(main())


# ── the invariants that each task depends on ─────────────────────────────────────────────────────────────────────


def without_the_way(patch: pytest.MonkeyPatch, *, of_spans: bool) -> None:
    """Leave the handle out of the text that replaces a result, or of the note that replaces steps."""
    edit = plans.PlanStep.edit

    def nameless(step: plans.PlanStep, handle: str | None) -> Any:
        made = edit(step, handle)
        return edit(step, None) if (step.call_id is None) is of_spans else made

    patch.setattr(plans.PlanStep, "edit", nameless)


def without_the_whole(patch: pytest.MonkeyPatch) -> None:
    """Keep only the beginning of what is cleared."""

    def beginnings(store: Any, texts: Iterable[tuple[str, str]]) -> list[str]:
        return put_texts(store, [(text[:500], name) for text, name in texts])

    patch.setattr("penstock.agent.loop.put_texts", beginnings)


def without_remarks(patch: pytest.MonkeyPatch, *, of_notes: bool) -> None:
    """Leave out of a note what the model said, or what an older note in its span repeats."""
    remarks = spans._remarks
    patch.setattr(
        spans,
        "_remarks",
        lambda entry: [] if entry.is_note is of_notes else remarks(entry),
    )


class Unseen:
    """A strategy that first clears what no model has seen yet."""

    name = "unseen"

    def steps(self, view: views.View) -> list[plans.PlanStep]:
        return [view.short_stub(self.name, found, "cleared") for found in view.results if not found.age_turns]


class Newest:
    """A strategy that first removes the newest steps."""

    name = "newest"

    def steps(self, view: views.View) -> list[plans.PlanStep]:
        newest = [turn for turn in view.transcript.turns() if turn.kind == "assistant"][-2:]
        return [spans.span_step(view, self.name, newest)]


def without_protection(patch: pytest.MonkeyPatch, *, goes: Callable[[Transcript, Entry], bool]) -> None:
    """Let some messages be removed with the steps around them, and quote them in no note."""
    finished, protected, remarks = spans.finished_turns, Transcript.protected, spans._remarks

    def also(view: views.View, keep_turns: int, *, users: bool = False) -> list[Turn]:
        places = {turn.first for turn in finished(view, keep_turns, users=users)}
        return [
            turn
            for turn in view.transcript.turns()
            if turn.first in places
            or (turn.first < max(places, default=0) and any(goes(view.transcript, entry) for entry in turn))
        ]

    patch.setattr(spans, "finished_turns", also)
    patch.setattr(spans, "_remarks", lambda entry: [] if entry.speaks else remarks(entry))
    patch.setattr(
        Transcript, "protected", lambda said: protected(said) - {e.index for e in said.entries if goes(said, e)}
    )


def is_between(said: Transcript, entry: Entry) -> bool:
    return entry.speaks and not is_task(said, entry) and not is_newest(said, entry)


def is_task(said: Transcript, entry: Entry) -> bool:
    task = said.task()
    return task is not None and entry.index == task.index


def is_newest(said: Transcript, entry: Entry) -> bool:
    newest = said.newest_user()
    return newest is not None and entry.index == newest.index


def without_neighbours(patch: pytest.MonkeyPatch) -> None:
    """Let a cleared result take the other results of its message with it."""
    with_result = codec.with_result

    def all_of_them(raw: Any, call_id: str, *rest: Any) -> Any:
        del call_id
        for block in raw["content"]:
            raw = with_result(raw, block.get("tool_use_id", ""), *rest)
        return raw

    patch.setattr(codec, "with_result", all_of_them)


def without_whole_turns(patch: pytest.MonkeyPatch) -> None:
    """Let a span end with a call and leave its result."""
    note = spans.note_step

    def cut(view: views.View, strategy: str, turns: Sequence[Turn], said: Sequence[str]) -> plans.PlanStep:
        return dataclasses.replace(note(view, strategy, turns, said), last=turns[-1].first)

    patch.setattr(spans, "note_step", cut)
    patch.setattr(Transcript, "drop_span", lambda said, *_: said)


def without_handing_on(patch: pytest.MonkeyPatch, **nothing: Any) -> None:
    """Leave something out of a handoff."""
    handoff = decisions.Decider.handoff
    patch.setattr(
        decisions.Decider, "handoff", lambda decider, reason: dataclasses.replace(handoff(decider, reason), **nothing)
    )


def without_newest_words(patch: pytest.MonkeyPatch) -> None:
    """Begin a fresh transcript without the user's newest words."""
    afresh = Transcript.afresh
    patch.setattr(Transcript, "afresh", lambda said, text: afresh(said, text, newest=False))


def without_its_id(patch: pytest.MonkeyPatch) -> None:
    """Give a cleared result the id of another call."""
    with_result = codec.with_result
    patch.setattr(
        codec,
        "with_result",
        lambda raw, call_id, *rest: json.loads(
            json.dumps(with_result(raw, call_id, *rest)).replace(call_id, "another")
        ),
    )


class Mutant(NamedTuple):
    """The task that fails without an invariant, the answer it then gives, and the function that removes the invariant."""

    task: str
    said: str
    take: Callable[[pytest.MonkeyPatch], object]


INVALID, LOST, STUCK = "bad_request", r"I do not know \[", "no progress|I do not know"
MUTANTS = {
    "a stub names its handle": Mutant("combines", LOST, partial(without_the_way, of_spans=False)),
    "a note names its handle": Mutant("combines", LOST, partial(without_the_way, of_spans=True)),
    "a handle leads to the whole": Mutant("combines", STUCK, without_the_whole),
    "a stub says what it was": Mutant(
        "combines", STUCK, lambda patch: patch.setattr(views, "_label", lambda _: "result")
    ),
    "a note repeats what was said": Mutant("combines", LOST, partial(without_remarks, of_notes=False)),
    "a note repeats what older notes do": Mutant("keeps", r"tide \?", partial(without_remarks, of_notes=True)),
    "what no model has seen stays": Mutant(
        "combines", "I did not see", lambda patch: patch.setattr(decisions, "GROWN", (Unseen(), *GROWN))
    ),
    "the newest steps stay": Mutant(
        "combines", LOST, lambda patch: patch.setattr(decisions, "GROWN", (Newest(), *GROWN))
    ),
    "a result has its call": Mutant("combines", INVALID, without_whole_turns),
    "a call has its result": Mutant(
        "combines", INVALID, lambda patch: patch.setattr(Transcript, "_cleared", lambda *_: None)
    ),
    "a result keeps its id": Mutant("combines", INVALID, without_its_id),
    "roles take turns around a note": Mutant(
        "combines", INVALID, lambda patch: patch.setattr(history, "_speaker", lambda _: "assistant")
    ),
    "the user's words stay": Mutant("keeps", r"^Yes\.", partial(without_protection, goes=is_between)),
    "the task stays": Mutant("keeps", r"Port \?", partial(without_protection, goes=is_task)),
    "the newest words of the user stay": Mutant("keeps", r"^D'accord", partial(without_protection, goes=is_newest)),
    "instructions stay": Mutant(
        "keeps", r"\n\?$", partial(without_protection, goes=lambda _, entry: entry.role == "system")
    ),
    "the newest todo list stays": Mutant(
        "keeps", r"tide \d+\.\nquorum", lambda patch: patch.setattr(decisions.Decider, "kept", frozenset())
    ),
    "what is due is forgotten": Mutant(
        "keeps", "To continue", lambda patch: patch.setattr(decisions.Decider, "_plan", lambda *_: None)
    ),
    "a reset hands on the goal": Mutant("hands on", r"Port \?", partial(without_handing_on, goal="")),
    "a reset hands on what the user said": Mutant("hands on", r"^Yes\.", partial(without_handing_on, constraints=())),
    "a reset hands on what is open": Mutant(
        "hands on", r"tide \d+\.\nquorum", partial(without_handing_on, pending_tasks=())
    ),
    "the newest words are said again after a reset": Mutant("hands on", "^D'accord", without_newest_words),
    "the newest view of a modified file stays": Mutant(
        "resumes", "do not see", lambda patch: patch.setattr(views.View, "active", frozenset())
    ),
    "what is cleared takes no neighbour with it": Mutant("resumes", "do not see", without_neighbours),
    "what was done before a kill is not done again": Mutant(
        "resumes", "All rates are set", lambda patch: patch.setattr(Calling, "_left", lambda *_: None)
    ),
}
"""The mutants, by the invariant that each removes."""


@pytest.fixture
def work(begun: Begin, tree: Path) -> Callable[..., Ended]:
    """Return a function that runs a task by its name: `work("combines", window)`."""

    def do(task: str, window: int, mutant: str = "") -> Ended:
        if task == "resumes":
            return resumes(tree, "anthropic", window, mutant)
        with pytest.MonkeyPatch.context() as patch:
            begin = over_http(begun)
            if mutant:
                # The repair of requests would hide the faults that a mutant makes.
                patch.setattr(asking, "dump_mended", lambda _, composed: (composed, ()))
                MUTANTS[mutant].take(patch)
                begin = begun
            if task == "combines":
                return combines(begin, tree, "anthropic", window)
            if task == "keeps":
                return keeps(begin, tree, "openai-chat", window)
            return keeps(partial(begin, limits=PROFILES["swe-1.5"]), tree, "openai-responses", window)

    return do


@pytest.mark.proves("S-4", "S-10")
@pytest.mark.parametrize("task", ["combines", "keeps", "resumes"])
def test_work_ends_in_a_small_window_as_in_a_large_one(work: Callable[..., Ended], task: str) -> None:
    """The small window needs many cuts, the large one none."""
    small, large = work(task, SMALL), work(task, LARGE)
    assert (small.right, large.right) == (True, True), (small.said, large.said)
    assert small.cuts > 3
    assert large.cuts == 0


@pytest.mark.proves("S-3", "S-9")
@pytest.mark.parametrize("window", [SMALL, LARGE])
def test_a_wish_of_the_second_message_outlives_a_reset(work: Callable[..., Ended], window: int) -> None:
    """The profile starts afresh after so many turns, whatever the window."""
    assert work("hands on", window).right


@pytest.mark.parametrize("mutant", MUTANTS)
def test_without_any_one_invariant_some_work_fails(work: Callable[..., Ended], mutant: str) -> None:
    """The task fails for the reason that the mutant states: its success before was not an accident."""
    ended = work(MUTANTS[mutant].task, SMALL, mutant)
    assert not ended.right
    assert re.search(MUTANTS[mutant].said, ended.said), ended.said
