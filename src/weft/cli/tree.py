"""The node table of one document in, an indented line for each node out, with a mark before those that are selected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

import numpy as np

from weft.documents import NodeTable

MARK = "▶"
_WIDTH = 100  # characters of a text or a value that are shown
_TAG = re.compile(rb"<([^\s/>]+)")
_CONTROLS = re.compile("[\x7f-\x9f]")  # allowed in XML, and orders to some terminals


def tree(table: NodeTable, marked: Set[int]) -> Iterator[tuple[int, str]]:
    """Each node that is worth a line, in document order.

    Attributes stand in their element's tag, and the text of an element that has nothing else beside it; they have a
    line of their own if they are marked. White space between elements is left out.
    """
    owned: dict[int, list[str]] = {}
    for row, prefix, uri in table.namespaces:
        owned.setdefault(row, []).append(f'{"xmlns:" if prefix else "xmlns"}{prefix or ""}="{_short(uri or "")}"')
    for node in range(table.elements, table.first_text):
        owned.setdefault(int(table.parent[node]), []).append(_attribute(table, node))
    for node in np.argsort(table.order, kind="stable").tolist():
        line = _line(table, node, marked, owned)
        if line is not None:
            owner = node if node < table.elements else int(table.parent[node])
            level = int(table.depth[owner]) - (node < table.elements)
            yield node, f"{MARK if node in marked else ' '} {'  ' * level}{line}"


def _line(table: NodeTable, node: int, marked: Set[int], owned: dict[int, list[str]]) -> str | None:
    if node < table.elements:
        tag = _TAG.match(table.sources[0], int(table.start[node]))
        assert tag is not None, "an element starts with its tag"
        only = _only_text(table, node)
        beside = "" if only is None or only in marked else f" {_text(table, only)}"
        return f"<{' '.join([tag[1].decode(), *owned.get(node, [])])}>{beside}"
    if node < table.first_text:
        return f"@{_attribute(table, node)}" if node in marked else None
    text = table.string_value(node)
    if node in marked:
        return _text(table, node)
    return None if not text.strip() or _only_text(table, int(table.parent[node])) == node else _text(table, node)


def _only_text(table: NodeTable, row: int) -> int | None:
    """The text of an element that has one text and nothing else in it."""
    first, last = int(table.text_first[row]), int(table.text_last[row])
    return table.first_text + first if table.last[row] == row and last - first == 1 else None


def _attribute(table: NodeTable, node: int) -> str:
    tag = table.tags[int(table.attribute_tag[node - table.elements])]
    return f'{tag}="{_short(table.string_value(node))}"'


def _text(table: NodeTable, node: int) -> str:
    return f'"{_short(table.string_value(node))}"'


def _short(text: str) -> str:
    text = _CONTROLS.sub("\ufffd", " ".join(text.split()))
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"
