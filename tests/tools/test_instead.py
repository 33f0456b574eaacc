"""Does every refusal that a model can correct name a call, and does the call work?"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests import printed

from penstock import Tools
from penstock.tools.arguments import ECHOED_CHARS

if TYPE_CHECKING:
    from pathlib import Path

_REFUSED: list[tuple[str, dict[str, object], str]] = [
    ("search", {"pattern": "f(x"}, "bad_pattern"),
    ("search", {"pattern": "a(?=b)", "ignore_case": True}, "bad_pattern"),
    ("search", {"pattern": "x", "glob": "{a,b}" * 40}, "bad_pattern"),
    ("search", {"pattern": "f(x", "glob": "{a,b}" * 40}, "bad_pattern"),
    ("list_files", {"pattern": "[", "use_regex": True}, "bad_pattern"),
    ("list_files", {"pattern": "", "limit": 5}, "bad_pattern"),
    ("list_files", {"pattern": "(" * 2000, "use_regex": True}, "bad_pattern"),
    ("list_files", {"pattern": "(" * 200, "use_regex": True}, "bad_pattern"),
    ("count_files", {"pattern": "{a,b}" * 40}, "bad_pattern"),
    ("list_files", {"path": "nowhere"}, "not_found"),
    ("list_files", {"path": "sub/a.py"}, "not_directory"),
    ("count_files", {"path": ".."}, "outside_root"),
    ("search", {"pattern": "x", "path": "nowhere"}, "not_found"),
    ("view", {"file_path": "nowhere"}, "not_found"),
    ("view", {"file_path": "sub/b.py"}, "not_found"),
    ("view", {"file_path": "sup/a.py"}, "not_found"),
    ("view", {"file_path": "sub/a.py/deeper"}, "not_found"),
    ("view", {"file_path": "sub/zzzzzzzzzzz"}, "not_found"),
    ("view", {"file_path": "pipes"}, "not_found"),
    ("view", {"file_path": "/etc/passwd"}, "outside_root"),
    ("view", {"file_path": "out"}, "outside_root"),
    ("view", {"file_path": "loop"}, "link_loop"),
    ("outline", {"path": "sub"}, "is_directory"),
    ("view", {"file_path": "sub/a.py", "offset": 1, "version": "made up"}, "bad_argument"),
    ("read_file", {"path": "sub/a.py", "start_line": 2, "version": "made up"}, "bad_argument"),
    ("read_file", {"path": "sub/a.py", "encoding": "utf-8"}, "bad_argument"),
    ("view", {}, "bad_argument"),
    ("read_file", {"path": 5, "start_line": 3}, "bad_argument"),
    ("outline", {"path": ""}, "bad_argument"),
    ("view", {"file_path": "sub\0a.py"}, "bad_argument"),
    ("search", {"pattern": "x", "path": "\ud800"}, "bad_argument"),
    ("count_files", {"path": "a/" * 40_000}, "path_too_long"),
    ("view", {"file_path": ".env"}, "secret"),
    ("list_files", {"path": ".env"}, "not_directory"),
    ("count_files", {"path": "pipe"}, "not_directory"),
]


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    """Return tools over a folder with a file in a subfolder, and links that lead nowhere good."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("f(x\na(?=b)\nx\n")
    (tmp_path / ".env").write_text("TOKEN=1\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "out").symlink_to(os.pardir)
    return Tools(tmp_path)


@pytest.mark.proves("L-8", "L-9", "V-11")
@pytest.mark.parametrize(("tool", "arguments", "code"), _REFUSED)
def test_a_refusal_names_a_call_that_works(tools: Tools, tool: str, arguments: dict[str, object], code: str) -> None:
    """Arguments are literal; an invalid pattern is taken as literal text, if possible."""
    refused = tools.call(tool, arguments)
    assert (refused.is_error, refused.code) == (True, code)
    call = printed.calls_in(refused.text)[0]
    assert max((len(value) for value in call.arguments.values() if isinstance(value, str)), default=0) <= ECHOED_CHARS
    answered = tools.call(call.tool, call.arguments)
    assert not answered.is_error, answered.text


@pytest.mark.proves("L-8")
def test_an_invalid_expression_is_searched_literally(tools: Tools) -> None:
    """A model that wrote `f(x` meant the text; the other arguments stay."""
    refused = tools.call("search", {"pattern": "f(x", "path": "sub", "limit": 7})
    call = printed.calls_in(refused.text)[0]
    assert call.arguments == {"pattern": "f(x", "path": "sub", "literal": True, "limit": 7}
    assert "1|f(x" in tools.call(call.tool, call.arguments).text
    (one,) = printed.calls_in(tools.call("list_files", {"pattern": "a(", "use_regex": True}).text)
    assert one.arguments == {"pattern": "a\\(", "use_regex": True}


@pytest.mark.proves("B-8")
def test_a_stale_first_page_names_its_call_once(tools: Tools, tmp_path: Path) -> None:
    """On the first page, starting again and taking the same place as it is now are the same call."""
    version = printed.header(tools.call("view", {"file_path": "sub/a.py", "limit": 1}).text).version
    (tmp_path / "sub" / "a.py").write_text("other\n" * 9)
    stale = tools.call("view", {"file_path": "sub/a.py", "version": version})
    assert stale.code == "stale"
    assert len(printed.calls_in(stale.text)) == 1
