"""How does a coding agent's shell send each of its commands through the guard? By a file that this module writes (H-2).

Two ways lead into it. A bash started with `-c` first reads the file that `BASH_ENV` names: the shells of Codex, Gemini CLI and
opencode. Claude Code removes that variable and runs `FILE COMMAND` if `CLAUDE_CODE_SHELL_PREFIX` names one. Law: exit status, both
outputs and working directory are those of the command; without Penstock it runs as ever; a shell that the command itself starts,
and one whose input is a pipe, are left alone: Codex 0.171.0, Gemini CLI 0.61.0 and opencode 1.18.33 give their models' commands
`/dev/null`. Leaves to others: what the guard does (`program`).
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# The prefix also precedes hooks and MCP servers, whose outputs are protocols. Only a command of the model's ends by recording the
# folder that it ended in; the file of aliases and functions that it begins with shows which shell it was written for.
_FILE = """\
#!/usr/bin/env bash
# Commands of a coding agent go through `penstock guard`: what is too long is cut and kept whole.
# Made by `penstock guard --shell-file`; read by BASH_ENV, run by CLAUDE_CODE_SHELL_PREFIX.
if [ ! -x {program} ]; then
  penstock_guard=
else
  penstock_guard=yes
fi
if [ -n "${{BASH_EXECUTION_STRING-}}" ]; then
  # A host talks through a pipe to servers and hooks, which answer by a protocol; a command of its model's has nothing to read.
  if [ -p /dev/stdin ] || [ -S /dev/stdin ]; then penstock_guard=; fi
  if [ -n "$penstock_guard" ] && [ -z "${{PENSTOCK_GUARDED-}}" ] && [ ! -t 1 ]; then
    penstock_flags="${{-//[!aefuvx]/}}"
    penstock_flags="${{penstock_flags:+-$penstock_flags}}"
    if shopt -q login_shell; then penstock_flags="$penstock_flags -l"; fi
    if shopt -qo pipefail; then penstock_flags="$penstock_flags -o pipefail"; fi
    export PENSTOCK_GUARDED=1
    {room}exec {guard} -- "$BASH" $penstock_flags -c "$BASH_EXECUTION_STRING" "$0" "$@"
  fi
elif [ "${{BASH_SOURCE[0]}}" = "$0" ]; then
  penstock_shell=bash
  case "$1" in *"/shell-snapshots/snapshot-zsh-"*) penstock_shell=zsh ;; esac
  case "$penstock_guard$1" in
    yes*" && pwd -P >| "*)
      export PENSTOCK_GUARDED=1
      {room}exec {guard} -- "$penstock_shell" -c "$1" ;;
  esac
  exec "$penstock_shell" -c "$1"
fi
unset penstock_guard
"""


_FRAME_CHARS = 100
"""What is kept free around a result within a result: its first bracket is shown as an escape."""


def write(program: Sequence[str], flags: Sequence[str]) -> str:
    """Return the text of the file.

    Args:
        program: how Penstock is run, its first word an absolute path.
        flags: those of `penstock guard`.
    """
    guard = shlex.join([*program, "guard", *flags])
    chars = next((int(flag.removeprefix("--chars=")) for flag in flags if flag.startswith("--chars=")), 0)
    # Anything cut or paged inside has no more room than that: cut twice, it would lead from one handle to another.
    room = f"PENSTOCK_MAX_TOOL_OUTPUT={max(1, chars - _FRAME_CHARS)} " if chars else ""
    return _FILE.format(program=shlex.quote(program[0]), guard=guard, room=room)
