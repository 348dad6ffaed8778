"""The rows of parts in, tables to be written out: small parts share one, since a file takes space by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from weft.views.store.manifest import FileEntry

_SMALL = 128 << 10  # bytes in memory
_MOST = 256 << 10  # of those that share one, since each of them is read with the others


def is_small(rows: pa.Table) -> bool:
    """Whether a part with these rows shares a file with others."""
    return bool(rows.nbytes < _SMALL)


def pools(parts: Mapping[str, pa.Table], times: int = 1) -> Iterator[dict[str, pa.Table]]:
    """The same parts, those that share a file together; `times` as large as usual."""
    shared: dict[str, pa.Table] = {}
    size = 0
    for part, rows in parts.items():
        if rows.nbytes >= times * _SMALL:
            yield {part: rows}
            continue
        if size + rows.nbytes > times * _MOST and shared:
            yield shared
            shared, size = {}, 0
        shared[part] = rows
        size += rows.nbytes
    if shared:
        yield shared


def entries_of(
    file: FileEntry, groups: Sequence[Mapping[str, pa.Table]], in_groups: bool = False
) -> dict[str, FileEntry]:
    """By part its entry of a file that has such groups of parts, each group by itself in a row group or not."""
    is_shared = in_groups or sum(map(len, groups)) > 1
    return {
        part: replace(file, own=rows.num_rows if is_shared else None, group=at if in_groups else None)
        for at, group in enumerate(groups)
        for part, rows in group.items()
    }


def pooled(parts: Mapping[str, pa.Table], field: pa.Field) -> pa.Table:
    """The rows of parts, with the part of each in this field: by region, and there as they come in the document."""
    tables = [
        rows.append_column(field, [pa.array([part] * rows.num_rows, pa.string())]) for part, rows in parts.items()
    ]
    joined = pa.concat_tables(tables)
    if len(tables) == 1:
        return joined
    return joined.take(np.lexsort((joined["offset"].to_numpy(), joined["region"].to_numpy())))
