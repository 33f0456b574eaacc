"""The context-window layer for LLM agents: read anything, overflow never, lose nothing.

    >>> from penstock import Tools
    >>> Tools("src").view("penstock/__init__.py", limit=1).splitlines()[1]
    '1|\"\"\"The context-window layer for LLM agents: read anything, overflow never, lose nothing.'

Names are loaded when they are first used: `import penstock` itself loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock import compaction, guard, handoff, overflow, recovery, tokens, transcript
    from penstock.call import Call
    from penstock.carrier.carrier import Carrier
    from penstock.carrier.course import RecoveryResult
    from penstock.carrier.execution import aexecute, execute
    from penstock.carrier.ways_back import ways_back
    from penstock.context import bill
    from penstock.errors import CallerError, Ended, PenstockError, Refusal, ToolError
    from penstock.guard.output import guard_output, wrap_tool
    from penstock.text.allowance import Allowance, Budget
    from penstock.text.page import Page
    from penstock.text.window import Window
    from penstock.tools import NAVIGATION, TOOLS, Result, Tools
    from penstock.version import __version__ as __version__
    from penstock.workspace import Workspace
    from penstock.workspace.reading import DEFAULT_VIEW_LINES, OutlinePage

_HOMES = {
    "Allowance": "text.allowance",
    "Budget": "text.allowance",
    "Call": "call",
    "CallerError": "errors",
    "Carrier": "carrier.carrier",
    "DEFAULT_VIEW_LINES": "workspace.reading",
    "Ended": "errors",
    "NAVIGATION": "tools",
    "OutlinePage": "workspace.reading",
    "Page": "text.page",
    "PenstockError": "errors",
    "RecoveryResult": "carrier.course",
    "Refusal": "errors",
    "Result": "tools",
    "TOOLS": "tools",
    "ToolError": "errors",
    "Tools": "tools",
    "Window": "text.window",
    "Workspace": "workspace",
    "__version__": "version",
    "aexecute": "carrier.execution",
    "execute": "carrier.execution",
    "ways_back": "carrier.ways_back",
    "guard_output": "guard.output",
    "wrap_tool": "guard.output",
}
_ROOMS = {
    "bill": "context.bill",
    "compaction": "compaction",
    "guard": "guard",
    "handoff": "handoff",
    "overflow": "overflow",
    "recovery": "recovery",
    "tokens": "tokens",
    "transcript": "transcript",
}

__all__ = [
    "DEFAULT_VIEW_LINES",
    "NAVIGATION",
    "TOOLS",
    "Allowance",
    "Budget",
    "Call",
    "CallerError",
    "Carrier",
    "Ended",
    "OutlinePage",
    "Page",
    "PenstockError",
    "RecoveryResult",
    "Refusal",
    "Result",
    "ToolError",
    "Tools",
    "Window",
    "Workspace",
    "aexecute",
    "bill",
    "compaction",
    "execute",
    "guard",
    "guard_output",
    "handoff",
    "overflow",
    "recovery",
    "tokens",
    "transcript",
    "ways_back",
    "wrap_tool",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"penstock.{_HOMES[name]}"), name)
    if name in _ROOMS:
        return import_module(f"penstock.{_ROOMS[name]}")
    raise AttributeError(f"module 'penstock' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
