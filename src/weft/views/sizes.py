"""Rows in, the bytes that they take on disk out: what counts against a budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from weft.views.nodes import SCHEMA
from weft.views.parts import classify, part_id
from weft.views.selection.problem import SpaceProblem
from weft.views.sources.source import size_of
from weft.views.store.files import encoded
from weft.views.store.places import STORED_SCHEMA
from weft.views.store.pools import is_small, pooled, pools
from weft.views.workload import Workload

_MOST_ROWS = 20_000  # of a part that are written to see what it takes
_OF_A_FILE = 1_600  # bytes that a file takes whatever is in it: columns, its end


def part_sizes(workload: Workload, answers: Mapping[str, Sequence[pa.Table]]) -> dict[str, int]:
    """By part the bytes that it takes on disk: rows compress so differently that each part is written to see it.

    Small parts of a source share files (see weft.views.store.pools): what a file takes in any case is split.
    """
    names = [query.name for query in workload.queries]
    found: dict[str, int] = {}
    for source, rows in answers.items():
        classes = classify(source, dict(zip(names, rows, strict=True)))
        sizes, small = dict[str, int](), dict[str, pa.Table]()
        for signature, places in classes.homes().items():
            part, sample = part_id(source, signature), classes.rows(places[:_MOST_ROWS])
            sizes[part] = _size({part: sample}, places.size)
            if is_small(sample):
                small[part] = sample
        if len(small) > 1:
            together = sum(_size(pool) for pool in pools(small))
            alone = {part: max(sizes[part] - _OF_A_FILE, 1) for part in small}
            sizes |= {part: max(size * together // sum(alone.values()), 1) for part, size in alone.items()}
        found |= sizes
    return found


def bytes_per_byte(tables: Iterable[pa.Table]) -> float:
    """How many bytes on disk one byte of a fragment takes."""
    rows = pa.concat_tables([SCHEMA.empty_table(), *(each.slice(0, _MOST_ROWS) for each in tables)])
    rows = rows.slice(0, _MOST_ROWS)
    if not (size := size_of(rows)):
        return 1.0
    return float(max(encoded(rows).size - _OF_A_FILE, 0.05 * size)) / size


def by_ratio(sizes: Mapping[str, int], ratio: float, of_a_file: int = _OF_A_FILE) -> dict[str, int]:
    """By part about the bytes that it takes on disk, from those of its fragments, and what a file takes in any case."""
    return {part: of_a_file + int(ratio * size) for part, size in sizes.items()}


def _size(samples: Mapping[str, pa.Table], rows: int | None = None) -> int:
    """What parts take in one file, of which these are the first rows, or all."""
    known = sum(sample.num_rows for sample in samples.values())
    stored = {
        part: sample.append_column(STORED_SCHEMA.field("region"), [pa.array(np.arange(sample.num_rows))])
        for part, sample in samples.items()  # a region for each row, at worst
    }
    size = encoded(pooled(stored, STORED_SCHEMA.field("part"))).size
    return int(size if rows is None else size * rows / max(known, 1))


def on_disk(problem: SpaceProblem, sizes: Mapping[str, int]) -> SpaceProblem:
    """The same choice among parts, each with its size on disk."""
    candidates = (replace(each, size=sizes[each.key]) for each in problem.candidates)
    return replace(problem, candidates=tuple(candidates))
