"""The kinds of nodes that a document has."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What a node is, and what a step selects."""

    ELEMENT = 0
    ATTRIBUTE = 1
    TEXT = 2
