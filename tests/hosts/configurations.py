"""How do people and programs write configurations? In odd order, with comments, any indentation and any line end."""

from __future__ import annotations

import json
from random import Random
from typing import Any

MARKER = '"fontMarker"'
"""A key that every file has once, followed by 14, which a user changes."""
_WORDS = ["theme", "model", "env", "apiKey", "path with space", "ünï", "editor.tabSize", "permissions", "$schema", "x"]
_STRINGS = [
    "dark",
    'a "quoted" one',
    "C:\\dir\\",
    "// no comment",
    "/* nor this */",
    "{",
    "]",
    "é\u2028",
    "tab\there",
    "",
    ",",
]


def _value(random: Random, depth: int) -> Any:
    kind = random.randrange(9 if depth < 3 else 5)
    if kind < 2:
        return random.choice(_STRINGS)
    if kind < 5:
        return random.choice([True, False, None, 0, -12, 3.5, 10**25])
    size = random.choice([0, 0, 1, 1, 2, 3])
    if kind < 7:
        return [_value(random, depth + 1) for _ in range(size)]
    return {random.choice(_WORDS): _value(random, depth + 1) for _ in range(size)}


def settings(random: Random) -> dict[str, Any]:
    """Return what a settings file may say, including servers and hooks of others."""
    value: dict[str, Any] = {word: _value(random, 1) for word in random.sample(_WORDS, random.randrange(5))}
    if random.random() < 0.5:
        servers = {"docs": {"command": "npx", "args": ["-y", "docs"], "env": {"KEY": "v"}}, "web": {"url": "http://x"}}
        value["mcpServers"] = dict(random.sample([*servers.items()], random.randrange(3)))
    if random.random() < 0.5:
        mine = {"matcher": "Bash", "hooks": [{"type": "command", "command": "say 'done'"}]}
        event = random.choice(["AfterTool", "BeforeTool"])
        value["hooks"] = random.choice([{}, {event: []}, {event: [mine]}, {event: [mine], "SessionEnd": []}])
    items = [*value.items(), (json.loads(MARKER), 14)]
    random.shuffle(items)
    return dict(items)


class _Writer:
    """One person's way of writing JSON."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.newline = random.choice(["\n", "\n", "\r\n"])
        self.indent = random.choice(["  ", "    ", "\t", " ", "   ", ""])
        self.is_flat = random.random() < 0.2
        self.trailing = random.random() < 0.3
        self.comments = 0.0 if self.is_flat else random.choice([0.0, 0.2, 0.5])
        self.colon = random.choice([": ", ": ", ":", " : "])

    def comment(self, *, is_line: bool = True) -> str:
        if self.random.random() >= self.comments:
            return ""
        return self.random.choice(["// note: {", "// }", "/* a, b */"] if is_line else ["/* , */", "/* } */"])

    def write(self, value: Any, depth: int = 0) -> str:
        if not isinstance(value, (dict, list)):
            return json.dumps(value, ensure_ascii=self.random.random() < 0.5)
        begin, end = "{}" if isinstance(value, dict) else "[]"
        is_flat = self.is_flat or (depth > 1 and self.random.random() < 0.4)
        items = [
            (json.dumps(key) + self.colon if isinstance(value, dict) else "")
            + self.write(value[key] if isinstance(value, dict) else key, depth + 1)
            for key in value
        ]
        if is_flat or (not items and self.random.random() < 0.6):
            inner = ", ".join(items) or self.comment(is_line=False)
            return f"{begin}{inner}{',' if items and self.trailing and self.random.random() < 0.3 else ''}{end}"
        pad = self.newline + self.indent * (depth + 1)
        text = begin
        for at, item in enumerate(items):
            is_last = at == len(items) - 1
            if self.random.random() < self.comments / 2:
                text += pad + "// about the next"
            own_line = "" if self.random.random() < 0.03 and at else pad
            if own_line or "//" not in text.rpartition("\n")[2]:
                text += own_line + item + self.comment(is_line=False)
            else:
                text += pad + item
            text += "" if is_last and not self.trailing else ","
            if remark := self.comment():
                text += " " + remark
            if self.random.random() < 0.05:
                text += self.newline
        if self.random.random() < self.comments / 2:
            text += pad + '// "old": 1,'
        return text + self.newline + self.indent * depth + end


def json_text(seed: int) -> str:
    """Return a file of JSON with comments."""
    random = Random(seed)
    writer = _Writer(random)
    value = settings(random)
    text = writer.write(value)
    if random.random() < 0.05 and not writer.is_flat:  # a duplicate key: the last one counts
        text = text.replace("{", '{ "mcpServers": 1,', 1) if "mcpServers" in value else text
    before = random.choice(["", "", "", f"// mine{writer.newline}", f"{writer.newline}"])
    return (
        random.choice(["", "", "", "\ufeff"]) + before + text + random.choice(["", writer.newline, writer.newline * 3])
    )


def toml_text(seed: int) -> str:
    """Return a file of TOML, as Codex has it."""
    random = Random(seed)
    newline = random.choice(["\n", "\n", "\r\n"])
    lines = [f"fontMarker = 14{random.choice(['', '  # size', ' # [not.a.table]'])}"]
    for key in random.sample(["model", "approval_policy", '"odd key"', "a.b.c", "notify"], random.randrange(5)):
        lines.append(f"{key} = {random.choice(_TOML_VALUES)}".replace("\n", newline))
        if random.random() < 0.3:
            lines.append(random.choice(["", "# = [", "\t# mcp_servers", "   "]))
    random.shuffle(lines)
    tables = [
        ["[features]", "hooks = true", "  foo=false # [x]"],
        ["[mcp_servers.docs]", 'command = "npx"', 'args = ["-y", "docs"]', "[mcp_servers.docs.env]", "KEY = 'v'"],
        ["[[profiles]]", "name = 'a'", "", "[[profiles]]", "name = 'b'"],
        ["# a comment before", '[projects."/home/me/x y"] # why', 'trust_level = "trusted"'],
        ["[mcp_servers.web]", 'url = "http://x/y"', "headers = { a = 1, b = [1, 2] }"],
        ["[ tui ]", "x.y = 1", "  z = '''", "[mcp_servers.penstock]", "'''"],
    ]
    for table in random.sample(tables, random.randrange(len(tables) + 1)):
        lines += [*random.choice([[""], [], ["", ""]]), *table]
    return random.choice(["", "", "", "\ufeff"]) + newline.join(lines) + random.choice(["", newline, newline * 2])


_TOML_VALUES = [
    '"o3"',
    "'C:\\dir'",
    '"""\nmany = 1\n[lines]\n\\""" # no end\n"""',
    "'''\n# kept\n'''",
    "[1, # one ]\n  2,\n]",
    "{ a = 1, b = { c = 'x' } }",
    "1979-05-27T07:32:00Z",
    "-1_000",
    '""""four"""'[0:3] + 'x"""',
]


def markdown_text(seed: int) -> str:
    """Return a file of instructions."""
    random = Random(seed)
    newline = random.choice(["\n", "\r\n"])
    lines = [
        random.choice(["# Rules", "- be kind", "", "fontMarker = 14", "<!-- note -->", "```", "é"]) for _ in range(9)
    ]
    return newline.join(lines[: random.randrange(10)]) + random.choice(["", newline])


def env_text(seed: int) -> str:
    """Return a file of variables, as Gemini CLI reads it."""
    random = Random(seed)
    newline = random.choice(["\n", "\n", "\r\n"])
    lines = [
        "GEMINI_API_KEY=AIza-not-a-key",
        "export EDITOR=vi",
        "# fontMarker 14",
        "",
        "   ",
        "  PADDED = a value of words  # and why",
        "EMPTY=",
        'QUOTED="a # b = c"',
        "SINGLE='x \" y'",
        "TWICE=1",
        "TWICE=2",
        "\t# GOOGLE_GEMINI_BASE_URL=http://a.comment",
        "URL=https://user@host:8080/a?b=c",
        "UNI=é\u2028x",
    ]
    if random.random() < 0.3:
        address = random.choice(["https://proxy.example", '"https://proxy.example"', "'https://proxy.example'  # ours"])
        lines.append(f"{random.choice(['', 'export '])}GOOGLE_GEMINI_BASE_URL={address}")
    random.shuffle(lines)
    chosen = lines[: random.randrange(len(lines) + 1)]
    return random.choice(["", "", "", "\ufeff"]) + newline.join(chosen) + random.choice(["", newline, newline * 2])
