"""How does a command explain itself? Its docstring is its help page, and its mistakes name what works.

A docstring opens with a sentence that stands alone in the list of commands, adds whatever else there is to know, and may end with a
block `Examples:`, shown as written: a command indented by two blanks, its explanation by four. Whatever a command raises becomes
one line, or one object under `--json`, and an exit status.
Law: every name that the table of commands lists is found; a nearly correct name is answered with the right one. Leaves to others:
what the commands do, and how an error is printed (`answer`).
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from inspect import cleandoc
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from penstock.cli import answer
from penstock.errors import PenstockError
from penstock.text import escape
from penstock.text.notices import noun_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

HELP_WIDTH = 110  # columns that a help page uses at most; a narrower terminal makes it narrower
_NAMED = 2  # unexpected words that are named; more of them come from a shell
_SUGGESTED = 2  # "Did you mean" with more than two names does not help
_TYPED = 32  # words of a line that a person types


class UnknownCommand(click.UsageError):
    """A name that no command has. `way` is what was typed with the nearest name in its place."""

    def __init__(self, name: str, near: list[str], way: str | None, ctx: click.Context) -> None:
        asked = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
        super().__init__(f"There is no command '{escape.clip(name)}'.{asked}", ctx)
        self.way = way


class HelpPage(click.Command):
    """A command whose docstring is its whole help page.

    Attributes:
        examples: The block below `Examples:`, line by line, as it is written.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # click would rewrap the examples with the rest; a command to be typed must stay as it is.
        self.help, _, shown = cleandoc(self.help or "").partition("\n\nExamples:\n")
        self.examples = shown.splitlines()

    @property
    def example_commands(self) -> list[str]:
        """The examples that can be typed: lines indented by two blanks, without their explanations."""
        return [line.strip() for line in self.examples if not line.startswith("   ")]

    def get_short_help_str(self, limit: int = 0) -> str:
        """Return the whole first sentence: a cut sentence tells a stranger nothing."""
        del limit
        return (self.help or "").partition("\n")[0].removesuffix(".")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples below the options, unwrapped: a wrapped command cannot be copied."""
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"{line}\n" for line in self.examples))
        super().format_epilog(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments; if there are too many words, name the first: a shell expands a pattern to all matching names.

        Raises:
            click.UsageError: There are too many words, or for click's own reasons.
        """
        may_be_more, ctx.allow_extra_args = ctx.allow_extra_args, True
        try:
            super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click forgets it for an option without its value
            raise
        if ctx.args and not may_be_more and not ctx.resilient_parsing:
            said = f"Unexpected {noun_for(len(ctx.args), 'argument')}: {' '.join(map(escape.clip, ctx.args[:_NAMED]))}"
            if more := len(ctx.args[_NAMED:]):
                said += f" and {more} more. Put a pattern in quotes, or the shell expands it"
            raise click.UsageError(f"{said}.", ctx)
        return ctx.args

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what it raises on purpose, or meets on disk, becomes its answer."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # an OSError too, but the reader has gone: the table of commands ends silently
            raise
        except (PenstockError, OSError) as error:
            return answer.report(error, ctx.params, ctx.command_path)


class CommandGroup(HelpPage, click.Group):
    """Commands below one name.

    Attributes:
        elsewhere: What others call a command, with its name.
    """

    elsewhere: Mapping[str, str] = {}

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is meant; if there is none, name the nearest ones.

        Raises:
            UnknownCommand: No command has that name.
        """
        name, names = args[0], self.list_commands(ctx)
        # A word that begins with a dash is an option, which click refuses in its own words; a completing shell must not fail.
        if name in names or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        import shlex
        from difflib import get_close_matches

        # `penstock version`, `penstock help`: the word is a flag here, as it is a command elsewhere.
        flags = [param for param in self.get_params(ctx) if isinstance(param, click.Option) and param.is_flag]
        own = [option for flag in flags for option in flag.opts if option == f"--{name}"]
        meant = [self.elsewhere[name]] if name in self.elsewhere else []
        near = own or meant or get_close_matches(name, names, _SUGGESTED)
        way = shlex.join([*ctx.command_path.split(), near[0], *args[1:]]) if near and len(args) < _TYPED else None
        raise UnknownCommand(name, near, way, ctx)

    def sections(self, ctx: click.Context) -> Mapping[str, list[str]]:
        """Return the names of the commands by the heading that they are listed under."""
        return {"Commands": self.list_commands(ctx)}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each section with the first sentences of its commands, all in one column."""
        width = max(map(len, self.list_commands(ctx)))
        for heading, names in self.sections(ctx).items():
            # This loads every module of commands: the price of a list whose sentences are written in one place only.
            commands = [(name, self.get_command(ctx, name)) for name in names]
            with formatter.section(heading):
                formatter.write_dl([(n.ljust(width), c.get_short_help_str()) for n, c in commands if c is not None])


class CommandTable(CommandGroup):
    """The commands of the program by section, each imported on first use.

    Importing them all costs more than starting the interpreter; `penstock view` needs one.
    """

    def __init__(
        self,
        *args: Any,
        table: Mapping[str, Mapping[str, Sequence[str]]],
        elsewhere: Mapping[str, str],
        **options: Any,
    ) -> None:
        """Take a table of headings, each with modules of `penstock.cli` and the commands that each module holds."""
        super().__init__(*args, **options)
        self.elsewhere = elsewhere
        self._sections = {heading: list(chain(*modules.values())) for heading, modules in table.items()}
        self._modules = {
            name: module for modules in table.values() for module, names in modules.items() for name in names
        }

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Read the arguments; `--help` and `--version` print here, before anything is invoked."""
        with _quiet_pipe():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was named; it ends silently if the reader of its output has gone."""
        with _quiet_pipe():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all names, in the order of the table."""
        del ctx
        return list(self._modules)

    def sections(self, ctx: click.Context) -> Mapping[str, list[str]]:
        """Return the names by heading, as in the table."""
        del ctx
        return self._sections

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name; None if there is none."""
        del ctx
        if cmd_name not in self._modules:
            return None
        module = import_module(f"penstock.cli.{self._modules[cmd_name]}")
        found = getattr(module, f"{cmd_name.replace('-', '_')}_command")
        assert isinstance(found, click.Command)  # noqa: S101 - the table names commands; a test asks for each
        return found


@contextmanager
def _quiet_pipe() -> Iterator[None]:
    """End with 0 if the reader has gone: click itself would end with 1, which means that nothing was found."""
    try:
        yield
    except BrokenPipeError:
        raise click.exceptions.Exit(answer.quiet_pipe()) from None


def command(name: str) -> Callable[[Callable[..., Any]], HelpPage]:
    """Make a function the command of that name; its docstring is the help page."""
    return click.command(name, cls=HelpPage)


def group(name: str, **options: Any) -> Callable[[Callable[..., Any]], CommandGroup]:
    """Make a function a group of commands; its docstring is the help page."""
    return click.group(name, cls=CommandGroup, **options)
