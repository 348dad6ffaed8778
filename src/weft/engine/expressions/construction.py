"""Constructors: what they are made of in, elements and their like out, as XML that is written once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from weft.documents.escaping import escape_attribute, escape_text
from weft.documents.fragment import declaration
from weft.engine.expressions.atomics import atom, joined_text, string_of, text_of
from weft.engine.expressions.items import BuiltNode, DynamicError, Item, Items, TreeNode, is_attribute, is_node
from weft.engine.expressions.scope import Run, Scope, evaluates, value
from weft.engine.expressions.trees import NodeKinds
from weft.plans.constructions import BuiltAttribute, BuiltElement, BuiltLeaf
from weft.plans.expressions import ConstantValue, QueryExpression

_NAME = re.compile(r"[^\W\d][\w.\-·]*(?::[^\W\d][\w.\-·]*)?")
_START = re.compile(r"""<[^\s/>]+((?:\s+[^\s=>]+\s*=\s*(?:"[^"]*"|'[^']*'))*)""")
_DEFAULT = re.compile(r"\sxmlns\s*=")
_NO_NAMESPACE = ' xmlns=""'


@dataclass(slots=True)
class _Content:
    """What an element is made of, piece by piece."""

    attributes: dict[str, str] = field(default_factory=dict)  # as written, by name
    declared: dict[str, None] = field(default_factory=dict)
    pieces: list[str] = field(default_factory=list)
    has_content: bool = False


@evaluates(BuiltElement)
def built_element(expression: BuiltElement, scope: Scope) -> Items:
    """An element."""
    run = scope.run
    name, declared = expression.name, dict(expression.declared)
    if not isinstance(name, str):
        name = _checked(string_of(value(name, scope), run, "the name of an element"))
        declared |= _looked_up(name, dict(expression.namespaces))
    content = _Content()
    for prefix, uri in declared.items():
        content.declared[declaration(prefix or None, uri)] = None
    for attribute in expression.attributes:
        _add_attribute(_attribute(attribute, scope), content)
    is_direct = isinstance(expression.name, str)
    default = dict(expression.namespaces).get("", "") if is_direct else declared.get("", "")
    for part in expression.content:
        is_inside = isinstance(part, BuiltElement) and "" in dict(part.namespaces)
        _add(part, scope, content, bool(default) and not is_inside)
    start = "".join([f"<{name}", *content.declared, *(f" {each}" for each in content.attributes.values()), ">"])
    return [BuiltNode("element", name, run.write("".join([start, *content.pieces, f"</{name}>"])))]


def _looked_up(name: str, namespaces: dict[str, str]) -> dict[str, str]:
    """The namespace of a name that is worked out."""
    prefix = name.rpartition(":")[0]
    if prefix and prefix not in namespaces:
        raise DynamicError(f"the name {name!r}: expected a declared prefix")
    uri = namespaces.get(prefix, "")
    return {prefix: uri} if uri else {}


def _checked(name: str) -> str:
    name = name.strip(" \t\r\n")
    if not _NAME.fullmatch(name) or name.startswith("xmlns"):
        raise DynamicError(f"expected a name, found {name[:60]!r}")
    return name


# -- attributes


@evaluates(BuiltAttribute)
def built_attribute(expression: BuiltAttribute, scope: Scope) -> Items:
    """An attribute by itself."""
    return [_attribute(expression, scope)]


def _attribute(expression: BuiltAttribute, scope: Scope) -> BuiltNode:
    run, name = scope.run, expression.name
    if not isinstance(name, str):
        name = _checked(string_of(value(name, scope), run, "the name of an attribute"))
        if ":" in name:
            raise DynamicError(f"the name {name!r}: a prefix in the name of an attribute that is worked out")
    parts = [
        text_of(part.value) if isinstance(part, ConstantValue) else joined_text(value(part, scope), run)
        for part in expression.parts
    ]
    declared = "".join(declaration(prefix, uri) for prefix, uri in expression.declared)
    return BuiltNode("attribute", name, run.write("".join(parts)), declared)


def _add_attribute(item: Item, content: _Content) -> None:
    if isinstance(item, TreeNode):
        name, written = item.tree.expanded(item.number), item.tree.xml(item.number)
        declared, shown = _split(written)
    else:
        assert isinstance(item, BuiltNode)
        name, declared = item.name, item.declared
        shown = f'{item.name}="{escape_attribute(item.text)}"'
    if content.has_content:
        raise DynamicError(f"the attribute {name!r} behind other content of its element")
    if name in content.attributes:
        raise DynamicError(f"the attribute {name!r} twice in an element")
    if declared:
        content.declared[declared] = None
    content.attributes[name] = shown


def _split(written: str) -> tuple[str, str]:
    """The declaration of an attribute's prefix, and the attribute."""
    if not written.startswith(" xmlns:"):
        return "", written.lstrip(" ")
    end = written.index('"', written.index('"') + 1) + 1
    return written[:end], written[end:].lstrip(" ")


# -- content


def _add(part: QueryExpression, scope: Scope, content: _Content, undeclares: bool) -> None:
    """What one part of an element's content comes to; values next to each other have a space between them."""
    run = scope.run
    if isinstance(part, BuiltLeaf) and part.kind == "text" and isinstance(part.content, ConstantValue):
        content.pieces.append(run.write(escape_text(text_of(part.content.value))))
        content.has_content = True
        return
    after_value = False
    for item in value(part, scope):
        run.spend(1)
        if is_attribute(item):
            _add_attribute(item, content)
            after_value = False
            continue
        is_value = not is_node(item)
        if is_value:
            text = (" " if after_value else "") + escape_text(text_of(atom(item, run)))
        else:
            text = _copied(item, undeclares)
        after_value = is_value
        content.has_content |= bool(text) or is_value
        content.pieces.append(run.write(text))


def _copied(item: Item, undeclares: bool) -> str:
    """A node as it stands in an element; where that has a default namespace, what is in none says so."""
    if isinstance(item, TreeNode):
        text, is_element = item.tree.xml(item.number), item.kind in (NodeKinds.ELEMENT, NodeKinds.DOCUMENT)
    else:
        assert isinstance(item, BuiltNode)
        text, is_element = written_node(item), item.kind == "element"
    if undeclares and is_element and (start := _START.match(text)) is not None and not _DEFAULT.search(start[1]):
        text = f"{text[: start.start(1)]}{_NO_NAMESPACE}{text[start.start(1) :]}"
    return text


def written_node(item: BuiltNode) -> str:
    """A node that was built as it stands in an element."""
    match item.kind:
        case "text":
            return escape_text(item.text)
        case "comment":
            return f"<!--{item.text}-->"
        case "instruction":
            return f"<?{item.name} {item.text}?>" if item.text else f"<?{item.name}?>"
        case _:
            return item.text


# -- texts, comments, instructions


@evaluates(BuiltLeaf)
def built_leaf(expression: BuiltLeaf, scope: Scope) -> Items:
    """A text, a comment, an instruction; a document is the one element in it."""
    run = scope.run
    items = value(expression.content, scope)
    if expression.kind == "document":
        if len(items) != 1 or not isinstance(items[0], BuiltNode) or items[0].kind != "element":
            raise DynamicError("document { }: expected one element that is built in it")
        return items
    if expression.kind == "text" and not items:
        return []
    text = run.write(joined_text(items, run))
    if expression.kind == "comment" and ("--" in text or text.endswith("-")):
        raise DynamicError("a comment with -- in it")
    return [BuiltNode(expression.kind, expression.target, text)]


def shown(item: Item, run: Run) -> str:
    """An item as a result by itself is shown: XML for an element, `name="value"` for an attribute, a text as it is."""
    if isinstance(item, TreeNode):
        return run.write(item.tree.shown(item.number))
    if isinstance(item, BuiltNode):
        if item.kind == "attribute":
            return f'{item.name}="{escape_attribute(item.text)}"'
        return item.text if item.kind == "text" else written_node(item)
    return text_of(atom(item, run))
