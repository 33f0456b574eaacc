"""How is the next call written? One call, in the syntax of the interface that shows it.

A call is a tool with the arguments that are not their default; every interface prints it ready to copy: Python and MCP as
`view(file_path="a.py", offset=100)`, the command line as `penstock view a.py --offset 100`. Law: what is printed is
inert, and parsing it back gives the same call. Leaves to others: which call is the right one.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Protocol

from penstock.call import Call, Value

__all__ = [
    "PYTHON",
    "Call",
    "CommandLine",
    "Dialect",
    "Function",
    "Value",
    "handle_in",
    "mcp",
    "quoted",
    "shown_address",
]


# Between a name and @, where either may contain anything if it was typed without escapes, or as a parameter, as libpq takes it.
_PASSWORD = re.compile(r"(?i)postgres(?:ql)?://.*(?::.*@|[?&][a-z_]*(?:password|secret|client_key)=)", re.DOTALL)


def shown_address(url: str) -> str:
    """Return the address of a database as a command may show it: "URL" if a password may be in it.

    Commands are read by models and written to logs. Whoever typed the address knows it.
    """
    return "URL" if _PASSWORD.match(url) else url


def quoted(text: str) -> str:
    """Return an inert text as a string literal of Python and of JSON: only quotes and backslashes are left to escape."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class Dialect(Protocol):
    """How one interface writes calls."""

    def write(self, call: Call) -> str:
        """Return a call, ready to copy."""
        ...

    def mention(self, tool: str) -> str:
        """Return a tool as a sentence names it."""
        ...

    def name(self, call: Call, *arguments: str) -> str:
        """Return only some arguments of a call, for a hint that has no room for the whole."""
        ...


class Function(NamedTuple):
    """Calls as a function with keyword arguments: of Python (`True`), or of MCP (`true`)."""

    prefix: str = ""
    """The prefix of every tool's name: `ctx_`."""
    true: str = "True"
    """How a true value is written."""
    false: str = "False"

    def write(self, call: Call) -> str:
        """Return a call with its arguments by name."""
        written = ", ".join(f"{name}={self._value(value)}" for name, value in call.arguments.items())
        return f"{self.prefix}{call.tool}({written})"

    def mention(self, tool: str) -> str:
        """Return a tool as a sentence names it: `count_files()`, with the prefix by which its reader calls it."""
        return f"{self.prefix}{tool}()"

    def name(self, call: Call, *arguments: str) -> str:
        """Return the given arguments that the call has, as `name=value`."""
        return " ".join(f"{name}={self._value(call.arguments[name])}" for name in arguments if name in call.arguments)

    def _value(self, value: Value) -> str:
        if isinstance(value, bool):
            return self.true if value else self.false
        return quoted(value) if isinstance(value, str) else str(value)


PYTHON = Function()
"""Calls as a Python program makes them; the default if no interface is named."""
_PAGE = r"(?:\b|_)page[ (](?:handle=)?[\"']?([\w-]{16,64})"


def handle_in(text: str) -> str:
    """Return the handle in the first call of `page` in a text, in any dialect; empty if there is none."""
    found = re.search(_PAGE, text)
    return found[1] if found else ""


def mcp(prefix: str = "ctx_") -> Function:
    """Return the syntax of MCP tools whose names begin with a prefix."""
    return Function(prefix=prefix, true="true", false="false")


# For commands or flags that differ from the tool's or the argument's own name.
_COMMANDS = {"list_files": "list", "count_files": "count", "read_file": "read"}
_POSITIONAL = {
    "view": ("file_path",),
    "read_file": ("path",),
    "outline": ("path",),
    "list_files": ("pattern",),
    "count_files": ("pattern",),
    "search": ("pattern", "path"),
    "page": ("handle",),
    "find": ("handle", "pattern"),
    **dict.fromkeys(("show", "resume", "undo", "handoff"), ("session_id",)),
    "queue retry": ("run",),
}
_BOUNDED = frozenset({"page", "find"})
_OF_STORE = _BOUNDED | {"sessions", "show", "resume", "undo", "handoff", "store list", "store check", "store gc"}
"""Commands that address the store; all others address files under a root, or a queue."""
_OF_QUEUE = frozenset({"queue status", "queue migrate", "queue retry"})
_FLAGS = {
    "use_regex": "--regex",
    "include_hidden": "--hidden",
    "include_ignored": "--no-ignore",
    "context_lines": "--context",
}


class CommandLine(NamedTuple):
    """Calls as commands: `penstock COMMAND …`."""

    root: str | None = None
    """The root to name, if it is not the current directory; None for that."""
    store: str | None = None
    """The store to name, if it is not the user's own; None for that."""
    program: str = "penstock"
    """What is typed for `penstock`, quoted for a shell: a path, if it is not found by its name."""
    queue: str | None = None
    """The queue to name, if it is not the one of the environment; None for that."""
    budget: int | None = None
    """The bytes that a page of kept text, or of matches in it, may take; None for the command line's own default."""

    def write(self, call: Call) -> str:
        """Return a call as a command line for a POSIX shell."""
        import shlex

        command = [self.program, _COMMANDS.get(call.tool, call.tool)]
        positional = _POSITIONAL.get(call.tool, ())
        names = [str(call.arguments[name]) for name in positional if name in call.arguments]
        flags: list[str] = []
        for name, value in call.arguments.items():
            if name in positional:
                continue
            flag = _FLAGS.get(name) or "--" + name.replace("_", "-")
            if isinstance(value, bool):
                flags.append(flag if value else "--no-" + flag[2:])
            else:
                flags += [flag, shlex.quote(str(value))]
        if self.queue is not None and call.tool in _OF_QUEUE:
            flags += ["--queue", shlex.quote(shown_address(self.queue))]
        if self.root is not None and call.tool not in _OF_STORE | _OF_QUEUE:
            flags += ["--root", shlex.quote(self.root)]
        if self.store is not None and call.tool in _OF_STORE:
            flags += ["--store", shlex.quote(shown_address(self.store))]
        if self.budget is not None and call.tool in _BOUNDED:
            flags += ["--budget", str(self.budget)]
        quoted = [shlex.quote(name) for name in names]
        # A file named `-rf` is an argument, not a flag: it comes last, after `--`.
        if any(name.startswith("-") for name in names):
            return " ".join([*command, *flags, "--", *quoted])
        return " ".join([*command, *quoted, *flags])

    def mention(self, tool: str) -> str:
        """Return a tool as a sentence names it: `penstock count`."""
        return f"{self.program} {_COMMANDS.get(tool, tool)}"

    def name(self, call: Call, *arguments: str) -> str:
        """Return the given arguments that the call has, as `--name value`."""
        return " ".join(
            f"--{name.replace('_', '-')} {call.arguments[name]}" for name in arguments if name in call.arguments
        )
