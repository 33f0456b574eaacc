"""In which language is a source? The extension, the file name, the interpreter line, or the first bytes decide.

Leaves to others: scanning. Law: any name and any bytes have an answer; what is not known is `text`.
"""

from __future__ import annotations

import re

_EXTENSIONS = {
    "python": "py pyi pyw",
    "javascript": "js mjs cjs jsx",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "java": "java",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp tpp inl cu cuh",
    "csharp": "cs csx",
    "rust": "rs",
    "ruby": "rb rake gemspec ru",
    "php": "php php5 php7 phtml inc",
    "shell": "sh bash zsh ksh bats",
    "sql": "sql ddl pls pks pkb plsql psql",
    "cobol": "cob cbl cobol cpy cpb ccp pco sqb",
    "markdown": "md markdown mdx mkd",
    "json": "json jsonc json5 geojson ipynb webmanifest avsc har",
    "yaml": "yaml yml",
    "toml": "toml",
    "ini": "ini cfg conf properties editorconfig desktop service",
    "text": "txt log jsonl ndjson csv tsv",
}
_BY_EXTENSION = {extension: language for language, words in _EXTENSIONS.items() for extension in words.split()}

# Files whose names decide, with or without an extension; these come before the table of extensions.
_BY_NAME = {
    "rakefile": "ruby",
    "gemfile": "ruby",
    "vagrantfile": "ruby",
    "podfile": "ruby",
    "sconstruct": "python",
    "pipfile": "toml",
    "poetry.lock": "toml",
    "cargo.lock": "toml",
    "uv.lock": "toml",
    ".bashrc": "shell",
    ".bash_profile": "shell",
    ".bash_aliases": "shell",
    ".profile": "shell",
    ".zshrc": "shell",
    "pkgbuild": "shell",
    ".gitconfig": "ini",
    ".editorconfig": "ini",
    ".clang-format": "yaml",
    ".eslintrc": "json",
    ".prettierrc": "json",
    ".babelrc": "json",
}

_INTERPRETERS = (
    (re.compile(rb"python|pypy"), "python"),
    (re.compile(rb"node|deno|bun\b"), "javascript"),
    (re.compile(rb"ruby"), "ruby"),
    (re.compile(rb"php"), "php"),
    (re.compile(rb"(?:ba|da|z|k|a)?sh\b"), "shell"),
)

_HEAD_BYTES = 4096
_CPP = re.compile(rb"\n[ \t]{0,16}(?:class[ \t]+\w|namespace\b|template[ \t]{0,4}<|using[ \t]|public:|private:)")
_COBOL = re.compile(rb"(?i)\n[^\n]{0,12}\b(?:IDENTIFICATION|ID|PROCEDURE|DATA)[ \t]{1,9}DIVISION\b")
_YAML = re.compile(rb"---(?:[ \t\r]{0,9}\n|[ \t])|%YAML ")
_JSON = re.compile(rb'[\[{][ \t\r\n]{0,99}["\[{\]}]')


def language_of(name: str, head: bytes = b"") -> str:
    r"""Return the language of a source; `text` if nothing shows it.

    Args:
        name: Its file name or path, with either slash.
        head: Its first bytes; no more than 4 KiB are examined. They decide if the name does not, and between C and C++
            for a header.

    Example:
        >>> language_of("src/main.rs"), language_of("run", b"#!/usr/bin/env python3\n"), language_of("notes")
        ('rust', 'python', 'text')
    """
    base = name.replace("\\", "/").rsplit("/", 1)[-1].lower()
    stem, _, extension = base.rpartition(".")
    language = _BY_NAME.get(base) or (_BY_EXTENSION.get(extension) if stem else None)
    head = head[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")
    if language is None:
        return _by_content(head)
    if language == "c" and extension == "h" and _CPP.search(b"\n" + head):
        return "cpp"
    return language


def _by_content(head: bytes) -> str:
    """Return the language that the first bytes indicate."""
    if head.startswith(b"#!"):
        command = head.partition(b"\n")[0][:200]
        for pattern, language in _INTERPRETERS:
            if pattern.search(command):
                return language
        return "text"
    if head.startswith((b"<?php", b"<?=")):
        return "php"
    if _YAML.match(head):
        return "yaml"
    if _JSON.match(head.lstrip()):
        return "json"
    if _COBOL.search(b"\n" + head):
        return "cobol"
    return "text"
