"""How does an independent reader see a page? By the standard library's parser alone."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "input", "br", "hr"}


class Node:
    """An element."""

    def __init__(self, tag: str, attributes: dict[str, str], parent: Node | None) -> None:
        self.tag, self.attributes, self.parent = tag, attributes, parent
        self.children: list[Node | str] = []

    @property
    def text(self) -> str:
        """Return all words in it."""
        return " ".join("".join(one if isinstance(one, str) else f" {one.text} " for one in self.children).split())

    def all(self, tag: str, **attributes: str) -> list[Node]:
        """Return the elements below it with a name and these attributes; `class_` is one of several."""
        found: list[Node] = []
        for one in self.children:
            if isinstance(one, Node):
                if one.tag == tag and all(one.has(key, value) for key, value in attributes.items()):
                    found.append(one)
                found += one.all(tag, **attributes)
        return found

    def has(self, key: str, value: str) -> bool:
        """Return whether an attribute has a value."""
        if key == "class_":
            return value in self.attributes.get("class", "").split()
        return self.attributes.get(key) == value


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.at = Node("", {}, None)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {key: value or "" for key, value in attrs}, self.at)
        self.at.children.append(node)
        if tag not in VOID:
            self.at = node

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.at.children.append(Node(tag, {key: value or "" for key, value in attrs}, self.at))

    def handle_endtag(self, tag: str) -> None:
        assert self.at.tag == tag, (self.at.tag, tag)
        assert self.at.parent is not None
        self.at = self.at.parent

    def handle_data(self, data: str) -> None:
        self.at.children.append(data)


def read(page: str) -> Node:
    """Return the page as a tree; each element has to be closed separately."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.at is reader.root
    return reader.root


def tags(node: Node) -> list[tuple[str, tuple[str, ...]]]:
    """Return all elements in order, each with the names of its attributes."""
    return [
        made
        for one in node.children
        if isinstance(one, Node)
        for made in ((one.tag, tuple(sorted(one.attributes))), *tags(one))
    ]


def figure(text: str) -> int:
    """Return a number from the form in which pages write it; an empty text is 0."""
    return int(re.sub(r"[,\s]", "", text) or 0)


def island(page: Node) -> list[Any]:
    """Return what the script is given."""
    (data,) = page.all("script", id="data")
    made: list[Any] = json.loads("".join(str(one) for one in data.children))
    return made


def listings(page: Node) -> list[tuple[str, list[Node], Node | None]]:
    """Return the listings of all tables: heading, rows, and the row of sums."""
    made = []
    for body in page.all("tbody"):
        rows = body.all("tr")
        heading = next((row.text for row in rows if row.has("class_", "sort")), "")
        plain = [row for row in rows if not row.attributes.get("class")]
        made.append((heading, plain, next((row for row in rows if row.has("class_", "sum")), None)))
    return made


def cells(row: Node) -> list[str]:
    """Return the words of a row's cells."""
    return [one.text for one in row.children if isinstance(one, Node)]
