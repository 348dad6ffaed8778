"""Elements in, batches of them out: by number, by bytes, and by time where somebody waits for answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic

from weft.documents.document import Document
from weft.inputs.arriving import arriving

MOST, _BYTES = 1_024, 2 * 1024 * 1024  # which stay in the caches from pass to pass


def batches(elements: Iterable[Document], most: int = MOST, wait: float | None = None) -> Iterator[list[Document]]:
    """Elements as they are worked on: so many that an operator's call costs little, and few enough bytes.

    The first have at most so many, and the next ones twice as many each. With `wait` a batch is ended when its first
    element has waited so many seconds, or when none has come for half of that.
    """
    batch: list[Document] = []
    size, began = 0, 0.0
    for element in elements if wait is None else arriving(elements, wait / 2):
        if element is not None:
            began = monotonic() if wait is not None and not batch else began
            batch.append(element)
            size += len(element.data)
        is_late = wait is not None and (element is None or monotonic() - began >= wait)
        if batch and (is_late or len(batch) >= most or size > _BYTES):
            most = most if is_late else min(2 * most, MOST)
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
