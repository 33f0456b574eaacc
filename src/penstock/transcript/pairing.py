"""Which call has which result? A message list looked at once for all checks: calls without results, results without calls.

Each wire pairs in its own way: chat by what stands next, responses by id from anywhere behind, Anthropic by the message that
follows. Law: any JSON can be looked at. Keeps out: what is said about it (`invariants`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from penstock.transcript.openai_responses import CALLS, OUTPUTS, call_id, kind_of
from penstock.transcript.shapes import Json, blocks, field, objects, role_of, string, type_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Found: TypeAlias = tuple[int, str]
"""Where, and the detail that a finding names."""


@dataclass(slots=True)
class Pairs:
    """What does not pair: places and ids."""

    orphans: list[Found]
    missing: list[Found]
    twice: list[Found]
    calls_twice: list[Found]

    @classmethod
    def none(cls) -> Pairs:
        return cls([], [], [], [])

    def answer(self, place: int, call: str, asked: dict[str, int], answered: set[str]) -> None:
        """A result for `call`, where the calls in `asked` can be answered."""
        if call not in asked:
            self.orphans.append((place, call))
        elif call in answered:
            self.twice.append((place, call))
        else:
            answered.add(call)

    def ask(self, place: int, call: str, asked: dict[str, int]) -> None:
        if call in asked:
            self.calls_twice.append((place, call))
        else:
            asked[call] = place

    def close(self, asked: dict[str, int], answered: set[str]) -> None:
        """No result can come any more."""
        self.missing += [(place, call) for call, place in asked.items() if call not in answered]


class Scene:
    """A message list and what several checks want to know about it."""

    def __init__(self, messages: list[Json], continues: bool) -> None:
        self.messages = messages
        self.continues = continues

    def of(self, *roles: str) -> Iterator[tuple[int, dict[str, Json]]]:
        """The messages of these roles, with their places."""
        for index, message in enumerate(self.messages):
            if isinstance(message, dict) and role_of(message) in roles:
                yield index, message

    def of_type(self, kind: str) -> Iterator[tuple[int, dict[str, Json]]]:
        for index, message in enumerate(self.messages):
            if isinstance(message, dict) and kind_of(message) == kind:
                yield index, message

    @property
    def last(self) -> tuple[int, dict[str, Json]] | None:
        """The last message, when the assistant speaks in it."""
        if self.messages and role_of(self.messages[-1]) == "assistant":
            return len(self.messages) - 1, self.messages[-1]
        return None

    @cached_property
    def chat_pairs(self) -> Pairs:
        """Results follow the message with their calls, and nothing stands between."""
        pairs, asked, answered = Pairs.none(), dict[str, int](), set[str]()
        legacy = ""
        for index, message in enumerate(self.messages):
            role = role_of(message)
            if role == "tool":
                if call := string(message.get("tool_call_id")):
                    pairs.answer(index, call, asked, answered)
                continue
            pairs.close(asked, answered)
            asked, answered = {}, set()
            if role == "function" and legacy != string(message.get("name")):
                pairs.orphans.append((index, f"function {string(message.get('name'))}"))
            legacy = string(field(message, "function_call", "name")) if role == "assistant" else ""
            for made in objects(message.get("tool_calls")) if role == "assistant" else ():
                if string(made.get("id")):
                    pairs.ask(index, made["id"], asked)
        pairs.close(asked, answered)
        return pairs

    @cached_property
    def response_pairs(self) -> Pairs:
        """An output stands somewhere behind its call, and is of its kind."""
        pairs, asked, answered = Pairs.none(), dict[str, int](), set[str]()
        elsewhere = self.continues
        optional: set[str] = set()
        for index, item in enumerate(self.messages):
            kind, call = kind_of(item), call_id(item)
            elsewhere = elsewhere or kind == "item_reference"
            if kind in CALLS and call:
                pairs.ask(index, f"{kind} {call}", asked)
                if not CALLS[kind].must_answer:
                    optional.add(f"{kind} {call}")
            elif kind in OUTPUTS and call:
                name = f"{OUTPUTS[kind]} {call}"
                if name in asked or name in answered or not elsewhere:
                    pairs.answer(index, name, asked, answered)
                else:
                    asked[name] = index
                    answered.add(name)
        pairs.close({call: place for call, place in asked.items() if call not in optional}, answered)
        return pairs

    @cached_property
    def anthropic_pairs(self) -> Pairs:
        """Results are in the user message behind their calls; ids of calls are never used again."""
        pairs, ever = Pairs.none(), dict[str, int]()
        asked: dict[str, int] = {}
        answered: set[str] = set()
        turn = ""
        for index, message in enumerate(self.messages):
            role = role_of(message)
            if role == "assistant":
                if turn != role:
                    pairs.close(asked, answered)
                    asked, answered = {}, set()
                for block in objects(message.get("content")):
                    call = string(block.get("id"))
                    if type_of(block) == "tool_use" and call:
                        pairs.ask(index, call, ever)
                        if ever[call] == index:
                            asked[call] = index
            elif role == "user":
                for block in objects(message.get("content")):
                    if type_of(block) == "tool_result" and string(block.get("tool_use_id")):
                        pairs.answer(index, block["tool_use_id"], asked, answered)
            turn = role if role in {"user", "assistant"} else turn
        pairs.close(asked, answered)
        return pairs

    @cached_property
    def server_pairs(self) -> Pairs:
        """Calls of the provider's own tools stand before their results; what the newest tool loop began may still run."""
        pairs, asked, answered = Pairs.none(), dict[str, int](), set[str]()
        for index, message in self.of("assistant"):
            for block in objects(message.get("content")):
                if type_of(block) in SERVER_CALLS and string(block.get("id")):
                    pairs.ask(index, block["id"], asked)
                elif is_server_result(block):
                    pairs.answer(index, string(block.get("tool_use_id")), asked, answered)
        loop = newest_loop(self.messages)
        pairs.close({call: place for call, place in asked.items() if place < loop}, answered)
        return pairs


def newest_loop(messages: list[Json]) -> int:
    """Where the newest tool loop begins: behind the last message of the user that holds more than results, if one answers it."""
    spoken = -1
    for index, message in enumerate(messages):
        others = [block for block in blocks(field(message, "content")) if type_of(block) != "tool_result"]
        if role_of(message) == "user" and others:
            spoken = index
    return spoken + 1


SERVER_CALLS = {"server_tool_use", "mcp_tool_use"}


def is_server_result(block: dict[str, Json]) -> bool:
    """Whether a block is what one of the provider's own tools returned."""
    return string(type_of(block)).endswith("_tool_result")
