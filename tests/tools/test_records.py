"""Is a tool one record, whose offer, function and Python signature agree?"""

from __future__ import annotations

import inspect

import pytest

from penstock import TOOLS, CallerError, Tools
from penstock.tools import REQUIRED, Parameter, Tool

BY_NAME = {tool.name: tool for tool in TOOLS}
KINDS = {"string": "str", "integer": "int", "boolean": "bool"}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_record_and_its_function_take_the_same_arguments(tool: Tool) -> None:
    """Order and types are the same, so that what is checked is what is taken."""
    _, *taken = inspect.signature(tool.answer).parameters.values()
    assert [parameter.name for parameter in taken] == [parameter.name for parameter in tool.parameters]
    for parameter, offered in zip(taken, tool.parameters, strict=True):
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        optional = " | None" if offered.default is None else ""
        assert parameter.annotation == KINDS[offered.kind] + optional


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_record_and_its_method_have_the_same_defaults(tool: Tool) -> None:
    """Python fills in what the schema says."""
    _, *taken = inspect.signature(getattr(Tools, tool.name)).parameters.values()
    given = {parameter.name: parameter.default for parameter in taken}
    assert given.keys() == {parameter.name for parameter in tool.parameters}
    for name, default in given.items():
        offered = BY_NAME[tool.name].parameter(name)
        assert offered is not None
        assert offered.default == (REQUIRED if default is inspect.Parameter.empty else default)


def test_a_method_leads_to_the_reading_in_one_step(tmp_path: object) -> None:
    """Between `Tools.view` and the reader are only the check of arguments and the record's own function, no table of names."""
    seen: list[str] = []
    tools = Tools(str(tmp_path))

    def read(*_: object, **__: object) -> None:
        seen.extend(frame.function for frame in inspect.stack()[1:8])
        raise CallerError("seen")

    tools.workspace.view = read  # type: ignore[assignment]
    with pytest.raises(CallerError, match="seen"):
        tools.view("f")
    assert seen[seen.index("_view") :][:3] == ["_view", "_answer", "view"]


def test_a_record_without_an_answer_says_who_answers() -> None:
    """A tool that an agent runs itself is offered like the others, and cannot be called through the table."""
    record = Tool("todo", "Keep a list", "Keep it.", (Parameter("title", "string", REQUIRED, "the item"),))
    with pytest.raises(CallerError, match="answered by the room that offers it"):
        record.answer(None, title="x")
