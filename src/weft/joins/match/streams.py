"""Rows of variables in documents in, those whose variable is of the document's stream out."""

from __future__ import annotations

import numpy as np

from weft.columns.integers import Ints
from weft.documents.table import NodeTable

_ANY = 0  # the number of no stream: of a document it is in every one, of a variable it is for every one


class StreamsOfVariables:
    """The stream of each variable, by its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": _ANY}
        self._of: Ints = np.zeros(64, np.int32)

    def add(self, variable: int, stream: str) -> None:
        """A variable comes; numbers are never given again."""
        if variable >= self._of.size:
            self._of = np.concatenate([self._of, np.zeros(max(variable, self._of.size), np.int32)])
        self._of[variable] = self._numbers.setdefault(stream, len(self._numbers))

    def select(self, table: NodeTable, document: Ints, number: Ints, *columns: Ints) -> tuple[Ints, ...]:
        """The rows of variables whose stream the document is in."""
        if not number.size or len(self._numbers) == 1:
            return document, number, *columns
        names = [one.stream for one in table.documents]
        if not any(names):
            return document, number, *columns
        of_number = self._of[number]
        if names.count(names[0]) == len(names):
            wanted = self._numbers.get(names[0], -1)
            keep = (of_number == wanted) | (of_number == _ANY)
        else:
            of_document = np.array([self._numbers.get(name, -1) for name in names], np.int32)[document]
            keep = (of_number == _ANY) | (of_document == _ANY) | (of_number == of_document)
        if keep.all():
            return document, number, *columns
        return document[keep], number[keep], *(column[keep] for column in columns)
