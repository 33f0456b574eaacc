"""Which configuration files of which hosts does Penstock edit: path by scope and system, format, shape of an entry (H-3)?

Measured with Claude Code 2.1.332, Codex 0.171.0, Gemini CLI 0.61.0, opencode 1.18.33, qwen-code 0.24.4 and Copilot CLI 1.0.102;
Cursor, VS Code, Zed and Cline follow their documentation. Leaves to others: what is written there (`parts`), and how (`documents`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from string import Template
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from penstock.hosts.documents import Format

COMMAND, ARGUMENTS, COMMAND_LINE, URL = "{command}", "{arguments}", "{command line}", "{url}"
"""Placeholders in an entry for the words that start a part."""

Scope = Literal["user", "project"]
"""Whether a configuration applies to all of the user's projects or only to the one in the current folder."""


class UserPath(NamedTuple):
    """The path of a user's file: `beneath` the folder that `variable` names, otherwise `otherwise`, relative to the home folder."""

    variable: str
    beneath: str
    otherwise: str

    def path(self, surroundings: HostSurroundings) -> str:
        """Return the path of the file."""
        folder = surroundings.environment.get(self.variable) or ""
        return os.path.join(folder, self.beneath) if folder else os.path.join(surroundings.home, self.otherwise)


@dataclass(frozen=True, kw_only=True)
class HostSurroundings:
    """Where to look for configurations.

    Attributes:
        home: The user's home folder.
        project: The project's folder.
        environment: The environment variables, some of which move a host's files.
        platform: The value of `sys.platform`.
    """

    home: str
    project: str
    environment: Mapping[str, str]
    platform: str


@dataclass(frozen=True, kw_only=True)
class ConfigFile:
    """One file of a host.

    Attributes:
        user: Its path for all projects; None if the host has none.
        project: Its path in a project; empty if the host has none.
        platforms: Its path for all projects on other systems, by `sys.platform`.
        form: Its format.
        alternatives: Other names that the host also reads: an existing file of such a name is used before a new one is created.
    """

    user: UserPath | None
    project: str
    form: Format = "json"
    platforms: Mapping[str, UserPath] = field(default_factory=dict)
    alternatives: tuple[str, ...] = ()

    def path(self, scope: Scope, surroundings: HostSurroundings) -> str | None:
        """Return the file's path in a scope, existing or as it would be created; None if the host has no such file."""
        if scope == "project":
            path = os.path.join(surroundings.project, self.project) if self.project else None
        else:
            place = self.platforms.get(surroundings.platform, self.user)
            path = None if place is None else place.path(surroundings)
        if path is None or os.path.lexists(path):
            return path
        others = (os.path.join(os.path.dirname(path), name) for name in self.alternatives)
        return next((other for other in others if os.path.lexists(other)), path)


class Switch(NamedTuple):
    """A setting with which a user turns off all hooks of a host: the value `off` at `path` in `file`."""

    file: ConfigFile
    path: tuple[str, ...]
    off: bool


@dataclass(frozen=True, kw_only=True)
class Servers:
    """Where a host's MCP servers are configured, and the form of an entry.

    Attributes:
        file: The file.
        key: The path to the object whose members are servers.
        entry: A local server: `COMMAND`, `ARGUMENTS` and `COMMAND_LINE` stand for its command, the remaining words, and all of
            them.
        remote: A server over HTTP: `URL` stands for its address.
        headers: The name of the object that holds the headers sent with every request to that address.
        variables: The name of the object that holds a program's environment variables.
        by_project: The user's file may list servers per project, by folder: the key of the object of folders, and the key of the
            servers in each; None for a host without such a list.
    """

    file: ConfigFile
    key: tuple[str, ...]
    entry: Mapping[str, object]
    remote: Mapping[str, object] = field(default_factory=lambda: {"url": URL})
    headers: str = "headers"
    variables: str = "env"
    by_project: tuple[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Where a host's hooks are configured, and the form of an entry.

    Attributes:
        file: The file: lists by event under `hooks`, or, if its form is `whole`, a plugin that starts the hook.
        event: The event after a call.
        around: The events before and after a compaction, and at a start.
        entry: An element of a list: `COMMAND_LINE` stands for the shell's command line.
        beside: What the file must contain besides `hooks`.
        switch: What turns off all hooks; None if nothing does.
        note: What a person must do or know after an installation.
    """

    file: ConfigFile
    event: str
    around: tuple[str, ...] = ()
    entry: Mapping[str, object] = field(
        default_factory=lambda: {"hooks": [{"type": "command", "command": COMMAND_LINE}]}
    )
    beside: Mapping[str, object] = field(default_factory=dict)
    switch: Switch | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class BaseUrl:
    """Where a host's setting for the address of its model's API is.

    Attributes:
        file: The file.
        key: The path to the address.
        path: What the host needs appended to the gateway's address.
    """

    file: ConfigFile
    key: tuple[str, ...]
    path: str = ""


_OWN_SETTINGS = Template("its own settings for a model's provider have a base URL, if it takes another one at all")


@dataclass(frozen=True, kw_only=True)
class HostConfig:
    """One host.

    Attributes:
        name: Its name for `penstock install`.
        title: Its name for people.
        program: Its executable.
        servers: Its MCP servers.
        hooks: Its hooks; None if it has none that can give its model another text.
        rules: The instructions that its model reads first, by scope.
        base_url: Where it is told about the gateway; None if no file of its holds that.
        base_url_help: What a person can do if that is None; `$address` is the gateway's.
        base_url_command: The command that starts it with the gateway's `$address`; None if it takes none from its environment.
    """

    name: str
    title: str
    program: str
    servers: Servers
    hooks: Hooks | None = None
    rules: ConfigFile
    base_url: BaseUrl | None = None
    base_url_help: Template = _OWN_SETTINGS
    base_url_command: Template | None = None


# An entry has only the members that its host's documentation names: a host that is strict about unknown members would cost the
# person all servers of that file.
_PLAIN = {"command": COMMAND, "args": ARGUMENTS}
_STDIO = {"type": "stdio", **_PLAIN}
_AGENTS_MD = "AGENTS.md"

_CLAUDE_SETTINGS = ConfigFile(
    user=UserPath("CLAUDE_CONFIG_DIR", "settings.json", ".claude/settings.json"), project=".claude/settings.json"
)
_CODEX_CONFIG = ConfigFile(
    user=UserPath("CODEX_HOME", "config.toml", ".codex/config.toml"), project=".codex/config.toml", form="toml"
)
_QWEN_SETTINGS = ConfigFile(
    user=UserPath("QWEN_HOME", "settings.json", ".qwen/settings.json"), project=".qwen/settings.json"
)
_GEMINI_SETTINGS = ConfigFile(
    user=UserPath("GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json"), project=".gemini/settings.json"
)


def _markdown(user: UserPath | None, project: str) -> ConfigFile:
    return ConfigFile(user=user, project=project, form="markdown")


def _code(name: str) -> dict[str, UserPath]:
    """Return where VS Code keeps a user's file on systems other than Linux."""
    mac = f"Library/Application Support/Code/User/{name}"
    return {
        "darwin": UserPath("", "", mac),
        "win32": UserPath("APPDATA", f"Code/User/{name}", f"AppData/Roaming/Code/User/{name}"),
    }


_ALL = (
    HostConfig(
        name="claude",
        title="Claude Code",
        program="claude",
        servers=Servers(
            # Servers are not in the settings file: Claude Code itself writes them to `.claude.json`, in the home folder and not
            # under `.claude`, unless the variable moves both.
            file=ConfigFile(user=UserPath("CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json"), project=".mcp.json"),
            key=("mcpServers",),
            entry=_STDIO,
            remote={"type": "http", "url": URL},
            by_project=("projects", "mcpServers"),  # `claude mcp add` without a scope
        ),
        hooks=Hooks(
            file=_CLAUDE_SETTINGS,
            event="PostToolUse",
            around=("PreCompact", "SessionStart"),
            switch=Switch(_CLAUDE_SETTINGS, ("disableAllHooks",), off=True),
        ),
        rules=_markdown(UserPath("CLAUDE_CONFIG_DIR", "CLAUDE.md", ".claude/CLAUDE.md"), "CLAUDE.md"),
        base_url=BaseUrl(file=_CLAUDE_SETTINGS, key=("env", "ANTHROPIC_BASE_URL")),
    ),
    HostConfig(
        name="codex",
        title="Codex",
        program="codex",
        servers=Servers(file=_CODEX_CONFIG, key=("mcp_servers",), entry=_PLAIN, headers="http_headers"),
        hooks=Hooks(
            file=ConfigFile(
                user=UserPath("CODEX_HOME", "hooks.json", ".codex/hooks.json"), project=".codex/hooks.json"
            ),
            event="PostToolUse",
            around=("PreCompact", "SessionStart"),
            switch=Switch(_CODEX_CONFIG, ("features", "hooks"), off=False),
            note="Codex asks once whether the hook is to be trusted: until then it does not run.",
        ),
        rules=_markdown(UserPath("CODEX_HOME", _AGENTS_MD, ".codex/AGENTS.md"), _AGENTS_MD),
        # Only in the user's scope: an address in a repository could send the user's key to somebody else's server.
        base_url=BaseUrl(file=replace(_CODEX_CONFIG, project=""), key=("openai_base_url",), path="/v1"),
    ),
    HostConfig(
        name="gemini",
        title="Gemini CLI",
        program="gemini",
        servers=Servers(file=_GEMINI_SETTINGS, key=("mcpServers",), entry=_PLAIN, remote={"httpUrl": URL}),
        hooks=Hooks(
            file=_GEMINI_SETTINGS,
            event="AfterTool",
            around=("PreCompress", "SessionStart", "BeforeAgent"),
            switch=Switch(_GEMINI_SETTINGS, ("hooksConfig", "enabled"), off=False),
        ),
        rules=_markdown(UserPath("GEMINI_CLI_HOME", ".gemini/GEMINI.md", ".gemini/GEMINI.md"), "GEMINI.md"),
        base_url=BaseUrl(
            # Its settings have no member for an address. It loads `.env` into its environment at each start.
            file=ConfigFile(user=UserPath("GEMINI_CLI_HOME", ".gemini/.env", ".gemini/.env"), project="", form="env"),
            key=("GOOGLE_GEMINI_BASE_URL",),
        ),
    ),
    HostConfig(
        name="opencode",
        title="opencode",
        program="opencode",
        servers=Servers(
            file=ConfigFile(
                user=UserPath("XDG_CONFIG_HOME", "opencode/opencode.json", ".config/opencode/opencode.json"),
                project="opencode.json",
                # A second file next to an existing one would be read as well, and opencode decides which of the two wins for a key.
                alternatives=("opencode.jsonc",),
            ),
            key=("mcp",),
            entry={"type": "local", "command": COMMAND_LINE, "enabled": True},
            remote={"type": "remote", "url": URL},
            variables="environment",
        ),
        hooks=Hooks(
            file=ConfigFile(
                user=UserPath(
                    "XDG_CONFIG_HOME", "opencode/plugins/penstock.js", ".config/opencode/plugins/penstock.js"
                ),
                project=".opencode/plugins/penstock.js",
                form="whole",
            ),
            event="tool.execute.after",
        ),
        rules=_markdown(UserPath("XDG_CONFIG_HOME", "opencode/AGENTS.md", ".config/opencode/AGENTS.md"), _AGENTS_MD),
        base_url_help=Template(
            "in opencode.json, each provider that you use has its own: "
            '{"provider": {"anthropic": {"options": {"baseURL": "$address/v1"}}}}'
        ),
    ),
    HostConfig(
        name="qwen",
        title="qwen-code",
        program="qwen",
        servers=Servers(
            file=_QWEN_SETTINGS,
            key=("mcpServers",),
            entry=_PLAIN,
            remote={"httpUrl": URL},
        ),
        rules=_markdown(UserPath("QWEN_HOME", "QWEN.md", ".qwen/QWEN.md"), "QWEN.md"),
        base_url=BaseUrl(file=_QWEN_SETTINGS, key=("env", "OPENAI_BASE_URL"), path="/v1"),
    ),
    HostConfig(
        name="copilot",
        title="Copilot CLI",
        program="copilot",
        servers=Servers(
            file=ConfigFile(
                user=UserPath("COPILOT_HOME", "mcp-config.json", ".copilot/mcp-config.json"), project=".mcp.json"
            ),
            key=("mcpServers",),
            # `tools` lists the tools that its model may call.
            entry={"type": "local", **_PLAIN, "tools": ["*"]},
            remote={"type": "http", "url": URL},
        ),
        hooks=Hooks(
            file=ConfigFile(
                user=UserPath("COPILOT_HOME", "hooks/penstock.json", ".copilot/hooks/penstock.json"),
                project=".github/hooks/penstock.json",
            ),
            event="postToolUse",
            entry={"type": "command", "bash": COMMAND_LINE},
            beside={"version": 1},
        ),
        rules=_markdown(
            UserPath("COPILOT_HOME", "copilot-instructions.md", ".copilot/copilot-instructions.md"), _AGENTS_MD
        ),
        base_url_help=Template("it takes one from its environment only: COPILOT_PROVIDER_BASE_URL=$address/v1"),
        base_url_command=Template("COPILOT_PROVIDER_BASE_URL=$address/v1 copilot"),
    ),
    HostConfig(
        name="cursor",
        title="Cursor",
        program="cursor",
        servers=Servers(
            file=ConfigFile(user=UserPath("", "", ".cursor/mcp.json"), project=".cursor/mcp.json"),
            key=("mcpServers",),
            entry=_PLAIN,
        ),
        rules=_markdown(None, _AGENTS_MD),
    ),
    HostConfig(
        name="vscode",
        title="VS Code",
        program="code",
        servers=Servers(
            file=ConfigFile(
                user=UserPath("XDG_CONFIG_HOME", "Code/User/mcp.json", ".config/Code/User/mcp.json"),
                project=".vscode/mcp.json",
                platforms=_code("mcp.json"),
            ),
            key=("servers",),
            entry=_STDIO,
            remote={"type": "http", "url": URL},
        ),
        rules=_markdown(None, _AGENTS_MD),
    ),
    HostConfig(
        name="zed",
        title="Zed",
        program="zed",
        servers=Servers(
            file=ConfigFile(
                user=UserPath("XDG_CONFIG_HOME", "zed/settings.json", ".config/zed/settings.json"),
                project=".zed/settings.json",
                platforms={
                    "darwin": UserPath("", "", ".config/zed/settings.json"),
                    "win32": UserPath("APPDATA", "Zed/settings.json", "AppData/Roaming/Zed/settings.json"),
                },
            ),
            key=("context_servers",),
            entry=_PLAIN,
        ),
        rules=_markdown(None, _AGENTS_MD),
    ),
    HostConfig(
        name="cline",
        title="Cline",
        program="cline",
        servers=Servers(
            file=ConfigFile(
                user=UserPath(
                    "CLINE_DIR",
                    "data/settings/cline_mcp_settings.json",
                    ".cline/data/settings/cline_mcp_settings.json",
                ),
                project="",
            ),
            key=("mcpServers",),
            entry=_PLAIN,
        ),
        rules=_markdown(None, _AGENTS_MD),
    ),
)
HOST_CONFIGS: dict[str, HostConfig] = {host.name: host for host in _ALL}
"""All hosts by their names."""
