"""Is the next call printed in the syntax of every interface, ready to copy?"""

from __future__ import annotations

import pytest

from penstock.text.calls import PYTHON, Call, CommandLine, Dialect, handle_in, mcp

CALL = Call("view", {"file_path": 'a "b".py', "offset": 100})


@pytest.mark.proves("V-4")
@pytest.mark.parametrize(
    ("dialect", "written"),
    [
        (PYTHON, 'view(file_path="a \\"b\\".py", offset=100)'),
        (mcp(), 'ctx_view(file_path="a \\"b\\".py", offset=100)'),
        (mcp("x_"), 'x_view(file_path="a \\"b\\".py", offset=100)'),
        (CommandLine(), "penstock view 'a \"b\".py' --offset 100"),
        (CommandLine("my root"), "penstock view 'a \"b\".py' --offset 100 --root 'my root'"),
    ],
)
def test_each_face_prints_its_own_syntax(dialect: object, written: str) -> None:
    """Python, MCP under any prefix, and the command line are supported."""
    assert dialect.write(CALL) == written  # type: ignore[attr-defined]


def test_a_command_names_only_what_it_takes() -> None:
    """A call to a store has no root, and one to a file no store: either flag would be refused."""
    both = CommandLine("my root", "my store")
    assert both.write(Call("list_files")) == "penstock list --root 'my root'"
    assert both.write(Call("page", {"handle": "h"})) == "penstock page h --store 'my store'"
    assert both.write(Call("sessions")) == "penstock sessions --store 'my store'"


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:word@host/db", "URL"),
        ("postgres://me:wo/rd?x@host/db", "URL"),
        ("postgresql://me@corp:word@host/db", "URL"),
        ("postgresql://me@host:5432/db?sslmode=require&password=word", "URL"),
        ("POSTGRESQL:///db?sslpassword=word", "URL"),
        ("postgresql:///db?oauth_client_secret=word", "URL"),
        ("postgresql:///db?scram_client_key=word", "URL"),
        ("postgresql://me@host:5432/db", "postgresql://me@host:5432/db"),
        ("postgresql://me@[::1]:5432/db", "'postgresql://me@[::1]:5432/db'"),
        ("postgresql:///penstock?sslmode=require", "'postgresql:///penstock?sslmode=require'"),
        ("sqlite:///a:b@c", "sqlite:///a:b@c"),
    ],
)
def test_a_command_shows_no_password_of_a_database(address: str, shown: str) -> None:
    """Notices with commands are read by models, and end in logs; so did `?password=`."""
    command = CommandLine(store=address, queue=address)
    assert command.write(Call("page", {"handle": "h"})) == f"penstock page h --store {shown}"
    assert command.write(Call("queue status")) == f"penstock queue status --queue {shown}"


@pytest.mark.parametrize("dialect", [PYTHON, CommandLine(), CommandLine("my root"), mcp(), mcp("x_")])
def test_the_handle_of_a_printed_call_is_found(dialect: Dialect) -> None:
    """It is found in a notice and in the stub of a cleared result; other text has none."""
    handle = "abcdefghij0123456789AB"
    assert handle_in(f"[cleared: view; the whole: {dialect.write(Call('page', {'handle': handle}))}]") == handle
    assert handle_in("the first page of it") == ""
    assert handle_in("ctx_page(nothing=1)") == ""


def test_truth_is_spelt_as_the_face_spells_it() -> None:
    """True is `True` in Python, `true` in JSON, a flag on the command line."""
    call = Call("list_files", {"pattern": "*", "recursive": True, "use_regex": True, "include_ignored": True})
    assert PYTHON.write(call).endswith("recursive=True, use_regex=True, include_ignored=True)")
    assert mcp().write(call).endswith("recursive=true, use_regex=true, include_ignored=true)")
    assert CommandLine().write(call) == "penstock list '*' --recursive --regex --no-ignore"


@pytest.mark.parametrize(
    ("call", "written"),
    [
        (Call("read_file", {"path": "a", "start_byte": 7}), "penstock read a --start-byte 7"),
        (Call("count_files", {"path": "d", "sizes": False}), "penstock count --path d --no-sizes"),
        (Call("search", {"pattern": "-x", "path": "a", "context_lines": 2}), "penstock search --context 2 -- -x a"),
        (Call("search", {"pattern": "$(id)", "include_hidden": True}), "penstock search '$(id)' --hidden"),
    ],
)
def test_commands_are_those_of_the_contract(call: Call, written: str) -> None:
    """Names and flags are those of the command line, with nothing that a shell would take for an option or a command."""
    assert CommandLine().write(call) == written


def test_a_hint_names_only_the_arguments_that_change() -> None:
    """`previous` has no room for the whole call."""
    call = Call("read_file", {"path": "a", "start_byte": 7, "version": "1.2.3"})
    assert PYTHON.name(call, "start_byte", "version", "max_bytes") == 'start_byte=7 version="1.2.3"'
    assert CommandLine().name(call, "start_byte") == "--start-byte 7"


def test_a_call_is_changed_by_making_another() -> None:
    """`but` replaces and adds arguments, and removes them with None."""
    call = Call("view", {"file_path": "a", "offset": 5})
    assert call.but(offset=None, limit=2).arguments == {"file_path": "a", "limit": 2}
    assert call.arguments == {"file_path": "a", "offset": 5}


def test_a_sentence_names_a_tool_as_its_reader_calls_it() -> None:
    """A model calls what it reads: over MCP a tool has a prefix."""
    named = [dialect.mention("count_files") for dialect in (PYTHON, mcp(), CommandLine())]
    assert named == ["count_files()", "ctx_count_files()", "penstock count"]
