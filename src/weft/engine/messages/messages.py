"""The messages of FLWR queries for a batch, as columns: whose, of which document, and texts that are made when read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from weft.columns.integers import Ints
from weft.engine.messages.texts import ListedTexts, Texts


@dataclass(frozen=True, slots=True)
class Messages:
    """A row for each message."""

    document: Ints
    subscription: Ints
    texts: Texts

    def __len__(self) -> int:
        return int(self.document.size)

    def __iter__(self) -> Iterator[tuple[int, int, str]]:
        """(document, subscription, message)."""
        return zip(self.document.tolist(), self.subscription.tolist(), self.texts, strict=True)

    @classmethod
    def listed(cls, made: Iterable[tuple[int, int, str]]) -> Messages:
        """Messages that are written already, in any order."""
        rows = sorted(made, key=itemgetter(0, 1))
        document, subscription = (np.fromiter((row[at] for row in rows), np.int32, len(rows)) for at in (0, 1))
        number = np.arange(len(rows), dtype=np.int32)
        return cls(document, subscription, Texts.of(ListedTexts([text for *_, text in rows]), number))

    @classmethod
    def together(cls, parts: Sequence[Messages]) -> Messages:
        """All of several, sorted by document, then subscription."""
        none = np.zeros(0, np.int32)
        document = np.concatenate([none, *(part.document for part in parts)])
        subscription = np.concatenate([none, *(part.subscription for part in parts)])
        order = np.lexsort((subscription, document))
        return cls(document[order], subscription[order], Texts.together([part.texts for part in parts]).take(order))
