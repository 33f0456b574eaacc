"""How does a shell ask for completions? bash, zsh and fish through click, whose scripts are patched where they fall short.

Leaves to others: what is offered (`completion`). Imported only when a shell asks, or its script is printed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from click.shell_completion import (
    BashComplete,
    FishComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from penstock.errors import CallerError

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_PENSTOCK_COMPLETE"
"""The variable by which a shell's script says that it asks; click derives its name from that of the program."""


class BashLine(BashComplete):
    """Completion for bash that takes the whole line, because bash cuts words at the colons of `openai-chat:NAME`.

    Rationale: readline ends a word at each character of `COMP_WORDBREAKS`, which contains `:` and `=`. It passes `scripted:a` to
    a completer as three words, and replaces only the last one, `a`, by the completion. So the words are taken from the line as
    the shell would split it, and what precedes the last colon is left out of the completions. Changing `COMP_WORDBREAKS`
    instead, as many scripts do, changes it for every other program of the user's.
    """

    name: ClassVar[str] = "bash"
    source_template: ClassVar[str] = """\
%(complete_func)s() {
    local IFS=$'\\n' response type value completion
    response=$(env PENSTOCK_LINE="${COMP_LINE:0:COMP_POINT}" PENSTOCK_BREAKS="$COMP_WORDBREAKS" \\
%(complete_var)s=bash_complete "$1" 2>/dev/null)
    COMPREPLY=()
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        if [[ $type == dir ]]; then
            compopt -o dirnames
        elif [[ $type == file ]]; then
            compopt -o default
        else
            COMPREPLY+=("$value")
            [[ $value == *[:/] ]] && compopt -o nospace
        fi
    done
    return 0
}
complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is completed, without the program's own name, and that one."""
        # Up to the cursor: what follows it is not completed.
        line = os.environ.get("PENSTOCK_LINE", "")
        words = split_arg_string(line)
        incomplete = words.pop() if words and not line[-1:].isspace() else ""
        # In `--model=scripted:a` the flag is not part of the word that readline replaces.
        value = incomplete.partition("=")[2] if incomplete.startswith("--") and "=" in incomplete else incomplete
        self._kept = value.rfind(":") + 1 if ":" in os.environ.get("PENSTOCK_BREAKS", ":") else 0
        return words[1:], incomplete

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return the type of a completion, and the part of its value that bash replaces."""
        return f"{item.type},{item.value[self._kept :]}"


class ZshWords(ZshComplete):
    """Completion for zsh that adds no blank after `openai-chat:` and `src/`, where a word continues."""

    source_template: ClassVar[str] = ZshComplete.source_template.replace(
        '        elif [[ "$type" == "dir" ]]; then',
        """\
        elif [[ "$type" == "open" ]]; then
            local -a opened=("$key":"$descr")
            _describe -V unsorted opened -U -S ''
        elif [[ "$type" == "dir" ]]; then""",
        1,
    )

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return type, value and explanation on a line each; `open` is the type of a word that continues."""
        shown = super().format_completion(item)
        return shown.replace("plain\n", "open\n", 1) if item.value.endswith((":", "/")) and item.help else shown


class FishWords(FishComplete):
    """Completion for fish whose explanations may contain a comma: click's script takes only what precedes the first one."""

    source_template: ClassVar[str] = FishComplete.source_template.replace('split ","', 'split --max 1 ","')


for found in (BashLine, ZshWords, FishWords):
    add_completion_class(found)


def script_for(shell: str, cli: click.Command) -> str:
    """Return what a shell runs once to complete our command lines from then on."""
    found = get_completion_class(shell)
    if found is None:
        raise CallerError(f"there is no completion for {shell}; there is for {', '.join(SHELLS)}")
    return found(cli, {}, "penstock", VARIABLE).source()
