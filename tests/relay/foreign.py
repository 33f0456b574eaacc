"""How is each MCP server of others started on a project, and what is asked of it? `scripts/tools servers` installs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.environments import TOOLS_CACHE

if TYPE_CHECKING:
    from pathlib import Path

Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """A server; `{folder}` in its arguments, its environment and its calls is the project."""

    name: str
    program: str
    words: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    asked: tuple[Call, ...] = ()
    floods: int = 0
    """The least number of calls that return more than a host shows."""

    def installed(self) -> list[str] | None:
        """Return the command that starts it; None if it is not installed."""
        for at in (f"node_modules/.bin/{self.program}", f"bin/{self.program}"):
            path = TOOLS_CACHE / f"server-{self.name}" / at
            if path.exists():
                return [str(path)]
        return None

    def arguments(self, folder: Path) -> list[str]:
        """Return what follows the program."""
        return [word.replace("{folder}", str(folder)) for word in self.words]

    def environment(self, folder: Path) -> dict[str, str]:
        """Return its own variables."""
        return {name: value.replace("{folder}", str(folder)) for name, value in self.variables}

    def calls(self, folder: Path) -> list[Call]:
        """Return what is asked of it."""
        return [(tool, _filled(arguments, str(folder))) for tool, arguments in self.asked]


def _filled(value: Any, folder: str) -> Any:
    if isinstance(value, dict):
        return {key: _filled(one, folder) for key, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, folder) for one in value]
    return value.replace("{folder}", folder) if isinstance(value, str) else value


_CHROMIUM = "/usr/bin/chromium"
_FLOOD = "() => 'a line of a page\\n'.repeat(20000)"
SERVERS = (
    Foreign(
        name="filesystem",
        program="mcp-server-filesystem",
        words=("{folder}",),
        asked=(
            ("read_text_file", {"path": "{folder}/poem.txt"}),
            ("read_text_file", {"path": "{folder}/flood.log"}),
            ("search_files", {"path": "{folder}", "pattern": "**/*.txt"}),
            ("edit_file", {"path": "{folder}/poem.txt", "edits": [{"oldText": "three", "newText": "3"}]}),
            ("read_text_file", {"path": "/etc/passwd"}),
        ),
        floods=1,
    ),
    Foreign(
        name="memory",
        program="mcp-server-memory",
        variables=(("MEMORY_FILE_PATH", "{folder}/memory.jsonl"),),
        asked=(
            (
                "create_entities",
                {"entities": [{"name": f"e{n}", "entityType": "t", "observations": ["o " * 900]} for n in range(60)]},
            ),
            ("create_relations", {"relations": [{"from": "e1", "to": "e2", "relationType": "knows"}]}),
            ("search_nodes", {"query": "e59"}),
            ("read_graph", {}),
        ),
        floods=1,
    ),
    Foreign(
        name="everything",
        program="mcp-server-everything",
        asked=(
            ("echo", {"message": "hello"}),
            ("echo", {"message": "a line\n" * 20_000}),
            ("get-structured-content", {"location": "New York"}),
            ("get-annotated-message", {"messageType": "error", "includeImage": True}),
            ("get-tiny-image", {}),
            ("get-resource-links", {"count": 3}),
            ("trigger-long-running-operation", {"duration": 1, "steps": 4}),
            ("get-sum", {"a": 1, "b": "two"}),
        ),
        floods=1,
    ),
    Foreign(
        name="sequential-thinking",
        program="mcp-server-sequential-thinking",
        asked=tuple(
            (
                "sequentialthinking",
                {"thought": f"step {n}", "nextThoughtNeeded": n < 3, "thoughtNumber": n, "totalThoughts": 3},
            )
            for n in (1, 2, 3)
        ),
    ),
    Foreign(
        name="playwright",
        program="playwright-mcp",
        words=("--headless", "--isolated", "--no-sandbox", "--executable-path", _CHROMIUM),
        asked=(
            ("browser_navigate", {"url": "data:text/html,<title>T</title><h1>Head</h1><p>words</p>"}),
            ("browser_evaluate", {"function": "() => document.title"}),
            ("browser_evaluate", {"function": _FLOOD}),
            ("browser_click", {"target": "e999"}),
            ("browser_close", {}),
        ),
        floods=1,
    ),
    Foreign(
        name="chrome-devtools",
        program="chrome-devtools-mcp",
        words=(
            "--headless",
            "--isolated",
            "--chromeArg=--no-sandbox",
            "--executablePath",
            _CHROMIUM,
            "--no-usage-statistics",
        ),
        asked=(
            ("list_pages", {}),
            ("navigate_page", {"pageId": 1, "url": "data:text/html,<title>T</title><h1>Head</h1>"}),
            ("evaluate_script", {"pageId": 1, "function": "() => document.title"}),
            ("evaluate_script", {"pageId": 1, "function": _FLOOD}),
            ("click", {"pageId": 1, "uid": "9_9"}),
        ),
        floods=1,
    ),
    Foreign(
        name="ripgrep",
        program="mcp-ripgrep",
        asked=(
            ("search", {"pattern": "^[0-9]*7: a line", "path": "{folder}"}),
            ("search", {"pattern": "two", "path": "{folder}/page.html"}),
            ("count-matches", {"pattern": "line", "path": "{folder}/flood.log"}),
            ("search", {"pattern": "(", "path": "{folder}"}),
        ),
        floods=1,
    ),
    Foreign(
        name="commands",
        program="mcp-server-commands",
        asked=(
            ("run_command", {"command": "seq 1 30000"}),
            ("run_command", {"command": "cat poem.txt", "workdir": "{folder}"}),
            ("run_command", {"command": "no-such-command"}),
        ),
        floods=1,
    ),
    Foreign(
        name="sqlite-npx",
        program="mcp-server-sqlite-npx",
        words=("{folder}/base.db",),
        asked=(
            ("list_tables", {}),
            ("read_query", {"query": "select * from numbers"}),
            ("read_query", {"query": "select count(*) as all_of_them from numbers"}),
            ("read_query", {"query": "select * from nothing"}),
        ),
        floods=1,
    ),
    Foreign(
        name="git",
        program="mcp-server-git",
        asked=(
            ("git_status", {"repo_path": "{folder}"}),
            ("git_diff_unstaged", {"repo_path": "{folder}"}),
            ("git_show", {"repo_path": "{folder}", "revision": "HEAD"}),
            ("git_log", {"repo_path": "{folder}"}),
            ("git_checkout", {"repo_path": "{folder}", "branch_name": "none"}),
        ),
        floods=1,
    ),
    Foreign(
        name="sqlite",
        program="mcp-server-sqlite",
        words=("--db-path", "{folder}/base.db"),
        asked=(
            ("list_tables", {}),
            ("read_query", {"query": "select * from numbers"}),
            ("append_insight", {"insight": "there are many"}),
            ("read_query", {"query": "select * from nothing"}),
        ),
        floods=1,
    ),
    Foreign(
        name="time",
        program="mcp-server-time",
        words=("--local-timezone", "UTC"),
        asked=(
            ("convert_time", {"source_timezone": "UTC", "time": "16:30", "target_timezone": "Asia/Tokyo"}),
            ("get_current_time", {"timezone": "Europe/Paris"}),
            ("get_current_time", {"timezone": "Nowhere/At all"}),
        ),
    ),
    Foreign(
        name="calculator",
        program="mcp-server-calculator",
        asked=(
            ("calculate", {"expression": "2 + 2 * 20"}),
            ("calculate", {"expression": "7 ** 2"}),
            ("calculate", {"expression": "x"}),
        ),
    ),
    Foreign(
        name="text-editor",
        program="mcp-text-editor",
        asked=(
            ("get_text_file_contents", {"files": [{"file_path": "{folder}/poem.txt", "ranges": [{"start": 1}]}]}),
            ("get_text_file_contents", {"files": [{"file_path": "{folder}/flood.log", "ranges": [{"start": 1}]}]}),
            ("get_text_file_contents", {"files": [{"file_path": "{folder}/none", "ranges": [{"start": 1}]}]}),
        ),
        floods=1,
    ),
    Foreign(
        name="motherduck",
        program="mcp-server-motherduck",
        words=("--db-path", ":memory:", "--read-write"),
        asked=(("execute_query", {"sql": "select 1"}), ("execute_query", {"sql": "select * from range(20000)"})),
        floods=1,
    ),
    Foreign(
        name="alchemy",
        program="mcp-alchemy",
        variables=(("DB_URL", "sqlite:///{folder}/base.db"),),
        asked=(
            ("all_table_names", {}),
            ("schema_definitions", {"table_names": ["numbers"]}),
            ("execute_query", {"query": "select * from numbers limit 5"}),
        ),
    ),
    Foreign(
        name="excel",
        program="excel-mcp-server",
        words=("stdio",),
        variables=(("EXCEL_FILES_PATH", "{folder}"),),
        asked=(
            ("create_workbook", {"path": "{folder}/w.xlsx"}),
            ("describe_workbook", {"path": "{folder}/w.xlsx"}),
            ("describe_workbook", {"path": "{folder}/none.xlsx"}),
        ),
    ),
    Foreign(
        name="repomix",
        program="repomix",
        words=("--mcp",),
        asked=(
            ("file_system_read_file", {"path": "{folder}/poem.txt"}),
            ("file_system_read_file", {"path": "{folder}/flood.log"}),
            ("file_system_read_directory", {"path": "{folder}"}),
            ("file_system_read_file", {"path": "{folder}/none"}),
        ),
        floods=1,
    ),
)
