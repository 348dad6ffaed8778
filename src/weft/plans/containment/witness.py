"""A tree in, the XML of a document like it out."""

from __future__ import annotations

from weft.documents.kind import Kind
from weft.plans.containment.models import Tree


def write_tree(tree: Tree, around: str = "") -> str:
    """The document; texts are all alike, and so are the values of attributes. `around` is the default namespace.

    >>> from weft.plans.containment.automaton import Symbol
    >>> write_tree(Tree(Symbol(Kind.ELEMENT, "{urn:p}a"), False, (Tree(Symbol(Kind.TEXT, "text()"), True, ()),)))
    '<a xmlns="urn:p">text</a>'
    """
    uri, local = _split(tree.symbol.name)
    names = {child.symbol.name for child in tree.children if child.symbol.kind is Kind.ATTRIBUTE}
    tag = [local] if uri == around else [local, f'xmlns="{uri}"']
    for at, name in enumerate(sorted(names)):
        tag.append(_attribute(*_split(name), f"n{at}"))
    inside = [write_tree(child, uri) for child in tree.children if child.symbol.kind is Kind.ELEMENT]
    has_text = any(child.symbol.kind is Kind.TEXT for child in tree.children)  # several would be one
    return f"<{' '.join(tag)}>{'text' if has_text else ''}{''.join(inside)}</{local}>"


def _split(name: str) -> tuple[str, str]:
    uri, brace, local = name.rpartition("}")
    return uri[1:] if brace else "", local


def _attribute(uri: str, local: str, prefix: str) -> str:
    return f'xmlns:{prefix}="{uri}" {prefix}:{local}="value"' if uri else f'{local}="value"'
