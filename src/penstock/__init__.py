"""The context-window layer for LLM agents: read anything, overflow never, lose nothing.

    >>> from penstock import Tools
    >>> Tools("src").view("penstock/__init__.py", limit=1).splitlines()[1]
    '1|\"\"\"The context-window layer for LLM agents: read anything, overflow never, lose nothing.'

Names are loaded when they are first used: `import penstock` itself loads nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from penstock import guard, overflow, tokens, transcript
    from penstock.budget import Allowance
    from penstock.calls import Call
    from penstock.errors import CallerError, Ended, PenstockError, Refusal, ToolError
    from penstock.guarding import guard_output, wrap_tool
    from penstock.notices import NAVIGATION
    from penstock.page import Page
    from penstock.tools import TOOLS, Result, Tools
    from penstock.window import Window
    from penstock.workspace import Workspace
    from penstock.workspace.reading import DEFAULT_VIEW_LINES, OutlinePage

_HOMES = {
    "Allowance": "budget",
    "Call": "calls",
    "CallerError": "errors",
    "DEFAULT_VIEW_LINES": "workspace.reading",
    "Ended": "errors",
    "NAVIGATION": "notices",
    "OutlinePage": "workspace.reading",
    "Page": "page",
    "PenstockError": "errors",
    "Refusal": "errors",
    "Result": "tools",
    "TOOLS": "tools",
    "ToolError": "errors",
    "Tools": "tools",
    "Window": "window",
    "Workspace": "workspace",
    "guard_output": "guarding",
    "wrap_tool": "guarding",
}
_ROOMS = frozenset({"guard", "overflow", "tokens", "transcript"})

__all__ = [
    "DEFAULT_VIEW_LINES",
    "NAVIGATION",
    "TOOLS",
    "Allowance",
    "Call",
    "CallerError",
    "Ended",
    "OutlinePage",
    "Page",
    "PenstockError",
    "Refusal",
    "Result",
    "ToolError",
    "Tools",
    "Window",
    "Workspace",
    "guard",
    "guard_output",
    "overflow",
    "tokens",
    "transcript",
    "wrap_tool",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"penstock.{_HOMES[name]}"), name)
    if name in _ROOMS:
        return import_module(f"penstock.{name}")
    raise AttributeError(f"module 'penstock' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
