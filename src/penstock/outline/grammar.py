"""How are outlines made from syntax trees? With tree-sitter, if the grammar of a language is installed.

A table says which nodes are landmarks and which may hold some; nothing else is visited, so the walk costs a fraction of
the parse. Leaves to others: the line scanners and every decision about size.

A parser written in C gets arbitrary bytes, so it is guarded: long lines and deep nesting are refused before it starts,
and its steps are counted while it runs.

Law: a language without a grammar gets None, and so does a source in which only errors were found, or for which the
parser takes too long.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from .symbols import Collector, Outline

if TYPE_CHECKING:
    from tree_sitter import Language, Node

_NAME_BYTES = 500
_TYPES = frozenset({"class", "interface", "struct", "union", "enum", "record", "trait", "impl"})
_FUNCTIONS = frozenset(
    {"arrow_function", "function_expression", "function", "generator_function", "class", "func_literal"}
)


class Grammar(NamedTuple):
    """Where a grammar is installed and what its nodes mean."""

    module: str
    """The module of the grammar, imported when it is first needed."""
    definitions: dict[str, str]
    """The kind of landmark, by node type."""
    holders: str
    """The types of nodes that may hold landmarks without being one, separated by blanks."""
    assigned: str = ""
    """The types of nodes that are landmarks if their value is a function or class, separated by blanks."""
    function: str = "language"
    """The function of the module that returns the language."""
    bodiless: bool = True
    """Whether a definition without a body counts, too."""


_JS = Grammar(
    "tree_sitter_javascript",
    {
        "function_declaration": "function",
        "generator_function_declaration": "function",
        "class_declaration": "class",
        "class": "class",
        "method_definition": "method",
    },
    "program export_statement lexical_declaration variable_declaration expression_statement class_body "
    "statement_block if_statement else_clause try_statement catch_clause finally_clause for_statement for_in_statement "
    "while_statement return_statement call_expression arguments parenthesized_expression arrow_function "
    "function_expression function unary_expression await_expression",
    "variable_declarator assignment_expression field_definition public_field_definition",
)
_TS = _JS._replace(
    module="tree_sitter_typescript",
    function="language_typescript",
    definitions=_JS.definitions
    | {
        "interface_declaration": "interface",
        "type_alias_declaration": "type",
        "enum_declaration": "enum",
        "abstract_class_declaration": "class",
        "internal_module": "namespace",
        "module": "namespace",
        "function_signature": "function",
        "abstract_method_signature": "method",
    },
    holders=_JS.holders + " ambient_declaration",
)
_C = Grammar(
    "tree_sitter_c",
    {
        "function_definition": "function",
        "struct_specifier": "struct",
        "union_specifier": "union",
        "enum_specifier": "enum",
        "type_definition": "type",
        "linkage_specification": "namespace",
    },
    "translation_unit declaration declaration_list field_declaration_list field_declaration preproc_if preproc_ifdef "
    "preproc_else preproc_elif preproc_elifdef",
    bodiless=False,
)

GRAMMARS: dict[str, Grammar] = {
    "python": Grammar(
        "tree_sitter_python",
        {"class_definition": "class", "function_definition": "function"},
        "module block decorated_definition if_statement else_clause elif_clause try_statement except_clause "
        "except_group_clause finally_clause with_statement for_statement while_statement match_statement case_clause",
    ),
    "javascript": _JS,
    "typescript": _TS,
    "tsx": _TS._replace(function="language_tsx"),
    "go": Grammar(
        "tree_sitter_go",
        {
            "function_declaration": "function",
            "method_declaration": "method",
            "type_spec": "type",
            "type_alias": "type",
        },
        "source_file type_declaration",
    ),
    "java": Grammar(
        "tree_sitter_java",
        {
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "record",
            "annotation_type_declaration": "interface",
            "method_declaration": "method",
            "constructor_declaration": "method",
            "compact_constructor_declaration": "method",
        },
        "program class_body interface_body enum_body enum_body_declarations annotation_type_body record_body",
    ),
    "c": _C,
    "cpp": _C._replace(
        module="tree_sitter_cpp",
        definitions=_C.definitions | {"class_specifier": "class", "namespace_definition": "namespace"},
        holders=_C.holders + " template_declaration",
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        {
            "class_declaration": "class",
            "interface_declaration": "interface",
            "struct_declaration": "struct",
            "record_declaration": "record",
            "enum_declaration": "enum",
            "namespace_declaration": "namespace",
            "file_scoped_namespace_declaration": "namespace",
            "method_declaration": "method",
            "constructor_declaration": "method",
            "destructor_declaration": "method",
            "operator_declaration": "method",
            "property_declaration": "property",
            "indexer_declaration": "property",
        },
        "compilation_unit declaration_list global_statement",
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        {
            "function_item": "function",
            "function_signature_item": "function",
            "struct_item": "struct",
            "enum_item": "enum",
            "union_item": "union",
            "trait_item": "trait",
            "impl_item": "impl",
            "mod_item": "module",
            "type_item": "type",
            "const_item": "const",
            "static_item": "static",
            "macro_definition": "macro",
        },
        "source_file declaration_list foreign_mod_item block expression_statement",
    ),
    "ruby": Grammar(
        "tree_sitter_ruby",
        {
            "class": "class",
            "module": "module",
            "method": "method",
            "singleton_method": "method",
            "singleton_class": "class",
        },
        "program body_statement begin if then else unless do_block call argument_list",
    ),
    "php": Grammar(
        "tree_sitter_php",
        {
            "class_declaration": "class",
            "interface_declaration": "interface",
            "trait_declaration": "trait",
            "enum_declaration": "enum",
            "function_definition": "function",
            "method_declaration": "method",
            "namespace_definition": "namespace",
        },
        "program declaration_list compound_statement if_statement enum_declaration_list",
        function="language_php",
    ),
    # not shell: the scanner finds its functions, and its parser takes 5 GB and 50 s for a megabyte of `<a>`
}
"""The grammars by language, as named by `language_of`."""

_BODIES = frozenset(
    {
        "block",
        "body_statement",
        "class_body",
        "compound_statement",
        "declaration_list",
        "enum_body",
        "enum_declaration_list",
        "field_declaration_list",
        "enumerator_list",
        "field_initializer_list",
        "accessor_list",
        "arrow_expression_clause",
        "macro_rule",
        "statement_block",
        "subshell",
        "try_statement",
    }
)
_PREFIXES = frozenset(
    {"decorator", "annotation", "marker_annotation", "attribute_list", "attribute_item", "attribute_declaration"}
)

_READ_BYTES = 1 << 16
# The parser reports its offset every hundred operations. Measured in reports per KiB: headers of C 1 to 9, the standard
# library of Python 5, the densest samples 14; hostile bytes 20 to several hundred, which can cost megabytes each. So its
# steps are paid from a credit that its progress refills.
_CREDIT = 150
_STEPS_PER_KIB = 16
# 50,000 open brackets crash the process: the parser is recursive. Code nests a dozen deep.
_NESTING = 1_000
_SLICE_BYTES = 1024
_COMPARISONS = 2  # a slice: how often `<` opens nothing; 6,500 of them that do cost the parser of C# 3 GB
_LONG_LINE_BYTES = 16 * 1024

_ENDED_BY_WORD = frozenset({"class", "module", "method", "singleton_method", "singleton_class"})  # Ruby

_languages: dict[str, Language | None] = {}


def _language(name: str) -> Language | None:
    """Return the language of a grammar, None if it is not installed or has another ABI; kept once known."""
    if name not in _languages:
        grammar = GRAMMARS[name]
        try:
            from tree_sitter import Language

            _languages[name] = Language(getattr(import_module(grammar.module), grammar.function)())
        except (ImportError, AttributeError, ValueError):  # not installed, or of another ABI
            _languages[name] = None
    return _languages[name]


def parse(data: bytes, language: str) -> Outline | None:
    """Return the outline of a source by its syntax tree, or None if no grammar can provide one.

    Args:
        data: The source.
        language: A language; one without a row in `GRAMMARS` gives None.
    """
    grammar = GRAMMARS.get(language)
    if grammar is None or (parser_language := _language(language)) is None:
        return None
    from tree_sitter import Parser

    if _has_long_lines(data) or _nests_deeply(data):
        return None
    credit, seen = float(_CREDIT), 0
    end = len(data.rstrip())

    def give_up(offset: int, _has_error: bool) -> bool:
        """Pay one step from the credit that progress refills; return whether the credit is spent."""
        nonlocal credit, seen
        if offset < end:  # at the end the tree is only put in order
            credit = min(credit + (offset - seen) * _STEPS_PER_KIB / 1024, _CREDIT) - 1
        seen = offset
        return credit < 0

    def read(offset: int, _point: object) -> bytes:
        """Return the bytes at an offset, a page at a time."""
        return data[offset : offset + _READ_BYTES]

    try:
        root = Parser(parser_language).parse(read, progress_callback=give_up).root_node
    except ValueError:  # given up
        return None
    found = Collector()
    _walk(root, data, grammar, found)
    # An empty outline of a tree of errors would look like a fact; the line scanner may find something in the source.
    if not found.entries and root.has_error:
        return None
    found.close_to(0, 0)
    total = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return Outline(found.symbols(total), language, "tree-sitter", total, found.complete)


def _has_long_lines(data: bytes) -> bool:
    """Return whether a source is generated or minified: there line ranges say little, and parsers are slowest."""
    # A line of twice that length covers a whole stretch between two steps, so checking at every step is enough to find
    # it.
    return any(
        data.find(b"\n", start, start + _LONG_LINE_BYTES) < 0
        for start in range(0, len(data) - _LONG_LINE_BYTES, _LONG_LINE_BYTES)
    )


def _nests_deeply(data: bytes) -> bool:
    """Return whether more brackets are open anywhere than in any real code.

    Brackets are counted by slices, ignoring strings and comments: too many is only a reason to let the scanner answer.
    """
    depth = angles = 0
    for start in range(0, len(data), _SLICE_BYTES):
        piece = data[start : start + _SLICE_BYTES]
        depth += piece.count(b"(") + piece.count(b"[") + piece.count(b"{")
        depth -= piece.count(b")") + piece.count(b"]") + piece.count(b"}")
        angles += piece.count(b"<") - piece.count(b">") - _COMPARISONS
        if depth > _NESTING or angles > _NESTING:
            return True
        depth = max(depth, 0)
        angles = max(angles, 0)
    return False


def _walk(root: Node, data: bytes, grammar: Grammar, found: Collector) -> None:
    """Collect the landmarks of a tree with a list of nodes still to be visited, because trees are deeper than the
    interpreter's stack.

    Children go on the list backwards, so that they come off it in source order, which `Collector` needs.
    """
    holders = frozenset(grammar.holders.split()) | {"ERROR"}
    assigned = frozenset(grammar.assigned.split())
    definitions = grammar.definitions
    # what is still to be visited: a node, the node at which its text begins, its depth, the kind around it
    waiting: list[tuple[Node, Node, int, str]] = [(root, root, 0, "")]
    while waiting:
        node, first, depth, around = waiting.pop()
        kind = definitions.get(node.type)
        if kind is None and node.type in assigned:
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            if value is None:
                continue
            if value.type not in _FUNCTIONS:
                waiting.append((value, value, depth, around))
                continue
            kind = "class" if value.type == "class" else "function"
        elif kind is None and _is_prototype(node, grammar):
            kind = "prototype"
        if kind is not None:
            body = _body(node)
            if body is not None or (grammar.bodiless or kind in {"type", "prototype"}):
                if kind == "function" and around in _TYPES:
                    kind = "method"
                start = _start(first)
                found.close_to(depth, 0)
                name = _name(node, start, body, data)
                entry = found.open(name, kind, start.start_point.row + 1, depth)
                end = node.end_point
                entry.end_line = max(entry.start_line, end.row + (end.column > 0))
                if body is None:
                    continue
                depth, around = depth + 1, kind
                node = first = body
        elif node.type not in holders:
            continue
        # `export const f = () => 1` is named from `export` on: a wrapper around one definition lends it its beginning. One
        # around several does not, or each would have the name of the first.
        keep = node.type in {"export_statement", "lexical_declaration", "variable_declaration", "ambient_declaration"}
        keep = keep or node.type in {"expression_statement", "template_declaration", "type_declaration"}
        children = node.named_children
        single = keep and sum(child.type not in _PREFIXES for child in children) <= 1 + (
            node.type == "template_declaration"
        )
        waiting.extend(
            (child, first if single and child.type not in _PREFIXES else child, depth, around)
            for child in reversed(children)
        )


def _name(node: Node, start: Node, body: Node | None, data: bytes) -> bytes:
    """Return the text of a definition from `start` to its body, without comments and what joins the two (`=`, `=>`,
    `{`).

    Args:
        node: The definition.
        start: The node at which its text begins, after decorators, or the `export` in front of it.
        body: Its body; None if it has none and the text ends with the node.
        data: The source.
    """
    begin = start.start_byte
    stop = min(body.start_byte if body else node.end_byte, begin + _NAME_BYTES)
    name = data[begin:stop]
    if b"#" in name or b"/" in name:
        for child in reversed(node.children):
            for inner in reversed(child.children if "comment" not in child.type else [child]):
                if "comment" in inner.type and begin <= inner.start_byte < stop:
                    name = name[: inner.start_byte - begin] + b" " + name[inner.end_byte - begin :]
    if body is None and node.type in _ENDED_BY_WORD:
        name = name.partition(b"\n")[0].partition(b";")[0]
    return name.rstrip(b" \t\r\n;=,{").removesuffix(b"=>").removesuffix(b":")


def _body(node: Node) -> Node | None:
    """Return the node that holds the body of a definition; None if it has none."""
    body = node.child_by_field_name("body")
    if body is not None:
        return body
    value = node.child_by_field_name("value") or node.child_by_field_name("right")
    if value is not None:
        return _body(value)
    for child in node.named_children:
        if child.type in _BODIES:
            return child
    return None


def _start(node: Node) -> Node:
    """Return where the text of a definition begins: after its decorators, annotations and attributes."""
    for child in node.children:
        if child.type == "modifiers":
            for modifier in child.children:
                if modifier.type not in _PREFIXES:
                    return modifier
        elif child.type not in _PREFIXES and child.type != "comment":
            return child
    return node


def _is_prototype(node: Node, grammar: Grammar) -> bool:
    """Return whether a declaration of C declares a function, perhaps after pointers and references."""
    if grammar.bodiless or node.type not in {"declaration", "field_declaration"}:
        return False
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type in {"pointer_declarator", "reference_declarator"}:
        declarator = declarator.child_by_field_name("declarator")
    return declarator is not None and declarator.type == "function_declarator"
