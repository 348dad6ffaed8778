"""A DTD and the parameters of a workload in, random documents that conform to it out."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from weft.documents.dtd import Dtd
from weft.workload.document_writer import DocumentWriter, compile_slots
from weft.workload.growth import grow
from weft.workload.options import check_least
from weft.workload.parts import Repeats, compile_parts


def generate_documents(
    dtd: Dtd,
    *,
    number: int,
    depth: int = 8,
    repeats: Repeats = 3,
    values: int = 100,
    words: int = 4,
    elements: int | None = None,
    seed: int = 0,
) -> Iterator[bytes]:
    """Documents that conform to the DTD, made one by one; each depends on the seed and its place alone.

    depth     levels of elements; deeper ones stand only where the DTD requires them (the paper's DocDepth)
    repeats   the most times an element repeats in its parent (MaxRepeats): for all, or by element
              ("section"), by parent and element ("book/section"), and "*" for the others
    values    how many values a text or an attribute can take (MaxValue)
    words     the words of a text
    elements  about how many elements a document has, as far as depth and repeats allow; None: as it comes

    News of 70 elements and 4 KB: `generate_documents(shipped("news"), number=500, elements=70, words=8)`.
    """
    check_least(number=(number, 0), depth=(depth, 1), values=(values, 1), words=(words, 1))
    check_least(elements=(1 if elements is None else elements, 1))
    parts, slots = compile_parts(dtd, repeats), compile_slots(dtd)

    def document(index: int) -> bytes:
        rng = Random(f"{seed}/{index}")
        aim = None if elements is None else round(elements * rng.uniform(0.8, 1.2))
        return DocumentWriter(slots, values, words, rng).write(grow(parts, dtd.root, depth, aim, rng))

    return map(document, range(number))
