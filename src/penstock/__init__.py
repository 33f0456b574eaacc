"""The context-window layer for LLM agents: read anything, never overflow, lose nothing.

    >>> from penstock import Tools
    >>> Tools("src").view("penstock/__init__.py", limit=1).splitlines()[1]
    '1|\"\"\"The context-window layer for LLM agents: read anything, never overflow, lose nothing.'

This is the public interface: a test pins the names in `__all__`.

- Reading: `Tools` and `TOOLS`, the tools that a model calls; `Workspace`, the same as values for a program.
- Sending: `execute`, `aexecute` and `Carrier`, which get a request out of an overflow; `ways_back`, for what was cut.
- Results of other tools: `guard_output` and `wrap_tool`.
- Parts, for your own program: the modules `tokens`, `bill`, `transcript`, `compaction`, `overflow`, `recovery`,
  `handoff`, `guard`, `session`, `models`, `cobol` and `chunk`; `testing`, for your tests.

Names are loaded when they are first used: `import penstock` itself loads nothing else.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; `typing` would be most of what this import costs

if TYPE_CHECKING:
    from penstock import (
        chunk,
        cobol,
        compaction,
        guard,
        handoff,
        models,
        overflow,
        recovery,
        session,
        testing,
        tokens,
        transcript,
    )
    from penstock.call import Call
    from penstock.carrier.carrier import Carrier
    from penstock.carrier.execution import aexecute, execute
    from penstock.carrier.result import RecoveryResult
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

# Where each name is defined. A table and `__getattr__` (PEP 562) instead of imports: a command that counts tokens must not pay for
# the tools, the wires and the store. Type checkers see the imports above; a test asks for every name of `__all__`.
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
    "RecoveryResult": "carrier.result",
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
    "chunk": "chunk",
    "cobol": "cobol",
    "compaction": "compaction",
    "guard": "guard",
    "handoff": "handoff",
    "models": "models",
    "overflow": "overflow",
    "recovery": "recovery",
    "session": "session",
    "testing": "testing",
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
    "chunk",
    "cobol",
    "compaction",
    "execute",
    "guard",
    "guard_output",
    "handoff",
    "models",
    "overflow",
    "recovery",
    "session",
    "testing",
    "tokens",
    "transcript",
    "ways_back",
    "wrap_tool",
]


def __getattr__(name: str) -> object:
    """Load a public name on first use.

    Raises:
        AttributeError: for a name that is not public.
    """
    from importlib import import_module

    if name in _HOMES:
        return getattr(import_module(f"penstock.{_HOMES[name]}"), name)
    if name in _ROOMS:
        return import_module(f"penstock.{_ROOMS[name]}")
    raise AttributeError(f"module 'penstock' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, for completion, without loading any of them."""
    return sorted([*__all__, "__version__"])
