"""How do a wire's checks see a message list? Which call has which result, and whether content is well formed.

Several checks need the same facts about a list (who answers whom), so a `MessageList` remembers what was found once. A check is a
function of the list that yields where it is broken; an `Invariant` adds a code and a sentence; a wire's rules are a tuple of them.

Law: any JSON can be checked, whatever takes the place of a message: null, a number, a role that is a list. Leaves to others: what a
wire demands (its `rules` module).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from penstock.text.json_access import Json, role_of, type_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Found = TypeVar("Found")

Finding: TypeAlias = tuple[int, str]
"""The position of a message that breaks an invariant, and the detail that the violation names."""


class MessageList:
    """A message list under check.

    Args:
        messages: the original list; its items may be anything.
        continues: whether the provider holds a conversation before it, so that an output may answer a call that is not here.
    """

    def __init__(self, messages: list[Json], *, continues: bool) -> None:
        self.messages = messages
        self.roles = [role_of(message) for message in messages]
        """The role of each message; empty for what has none."""
        self.continues = continues
        self._found: dict[object, object] = {}

    def once(self, look: Callable[[MessageList], Found]) -> Found:
        """Return what `look` finds in this list; `look` is called only the first time."""
        if look not in self._found:
            self._found[look] = look(self)
        return self._found[look]  # type: ignore[return-value]  # what `look` returned

    def with_role(self, *roles: str) -> Iterator[tuple[int, dict[str, Json]]]:
        """Yield the messages of these roles with their positions."""
        for index, role in enumerate(self.roles):
            if role in roles:
                yield index, self.messages[index]


class Invariant(NamedTuple):
    """One rule of a wire: a stable code, the sentence that says what has to hold, and the check that finds violations."""

    code: str
    """The rule's name for programs, the same on every wire that has it; several invariants of a wire may share one."""
    sentence: str
    """What has to hold, without a full stop: the detail of a finding may follow."""
    check: Callable[[MessageList], Iterable[Finding]]


class Pairs:
    """Calls matched with results; what does not pair becomes findings.

    A wire's own function walks the list and reports what it meets: `ask` for a call, `answer` for a result, `close` when no
    more results can come. Which calls may be answered at a given moment is the walker's business, and the only difference between
    wires: on OpenAI's chat nothing may come between a call and its results, on Anthropic's the user's next message holds them, and
    in the responses API they come at any time. So the walker owns `asked` (open calls with their positions) and `answered`.
    """

    def __init__(self) -> None:
        self.calls: list[Finding] = []
        """Every call, also under a taken id."""
        self.orphan_results: list[Finding] = []
        """Results without a call that they could answer."""
        self.missing_results: list[Finding] = []
        """Calls without a result, at the position of the call."""
        self.duplicate_results: list[Finding] = []
        """Further results of calls that already have one."""
        self.duplicate_calls: list[Finding] = []
        """Calls under an id that is already taken."""

    def ask(self, place: int, call: str, asked: dict[str, int]) -> None:
        """Note a call under the id `call`, which must be new among `asked`."""
        self.calls.append((place, call))
        if call in asked:
            self.duplicate_calls.append((place, call))
        else:
            asked[call] = place

    def answer(self, place: int, call: str, asked: dict[str, int], answered: set[str]) -> None:
        """Note a result for `call`; the calls in `asked` can be answered, and those in `answered` already were."""
        if call not in asked:
            self.orphan_results.append((place, call))
        elif call in answered:
            self.duplicate_results.append((place, call))
        else:
            answered.add(call)

    def close(self, asked: dict[str, int], answered: set[str]) -> None:
        """Note every call of `asked` that has no result by now as one that will never have one."""
        self.missing_results += [(place, call) for call, place in asked.items() if call not in answered]


def pair_invariants(look: Callable[[MessageList], Pairs]) -> tuple[Invariant, ...]:
    """Return the four rules on calls and results for a wire that pairs them as `look` does."""
    return (
        Invariant("orphan_result", "A result needs its call before it", lambda seen: seen.once(look).orphan_results),
        Invariant("missing_result", "Every call needs its result", lambda seen: seen.once(look).missing_results),
        Invariant("duplicate_result", "A call has one result", lambda seen: seen.once(look).duplicate_results),
        Invariant("duplicate_call", "Ids of calls differ", lambda seen: seen.once(look).duplicate_calls),
    )


def shape_check(fault_of: Callable[[Json], str]) -> Callable[[MessageList], Iterator[Finding]]:
    """Return the check that finds every message in which `fault_of` sees a fault."""

    def check(seen: MessageList) -> Iterator[Finding]:
        for index, message in enumerate(seen.messages):
            if fault := fault_of(message):
                yield index, fault

    return check


def _nothing(seen: MessageList) -> Iterator[Finding]:
    """Find a list without messages; one that goes on with what the provider keeps may add nothing to it."""
    if not seen.messages and not seen.continues:
        yield 0, ""


NOT_EMPTY = Invariant("empty", "A request needs a message", _nothing)
"""The invariant of wires that refuse a request without messages."""


def content_fault(content: Json) -> str:
    """Return what is wrong with content, which has to be a string or a list of blocks; empty if nothing is."""
    # Only the form that all wires share. Blocks of an unknown type pass: future types are not faults.
    if isinstance(content, str):
        return ""
    if not isinstance(content, list):
        return "content is neither text nor a list of parts"
    return "a part of content is not an object with a type" if any(map(is_bad_block, content)) else ""


def is_bad_block(block: Json) -> bool:
    """Whether a value cannot be a block: it is not an object, has no type, or is a text block without text."""
    kind = type_of(block)
    return not kind or (kind in {"text", "input_text", "output_text"} and not isinstance(block.get("text"), str))
