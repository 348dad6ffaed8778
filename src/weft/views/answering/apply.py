"""A rewriting and the rows of its views in, the query's rows out, as nodes.select would give them at the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from weft.columns.integers import Flags, Longs
from weft.documents.document import Document, Limits
from weft.documents.escaping import escape_attribute
from weft.documents.kind import Kind
from weft.plans.names import passes
from weft.plans.plan import Link, Path, Step
from weft.views.answering.prefixes import pattern_of
from weft.views.answering.rewriting import CompensatedRows, Compensation, MergedRows, Rewriting, RowsPlan, ViewRows
from weft.views.nodes import REFERENCE, SCHEMA, select, select_places

#: What has been read from a source within its limits is read again, whatever these were.
_MOST = 1 << 62
_UNLIMITED = Limits(
    max_bytes=_MOST,
    max_depth=_MOST,
    max_attributes=_MOST,
    max_nodes=_MOST,
    max_output_bytes=_MOST,
    max_query_nesting=_MOST,
    max_query_states=_MOST,
    max_messages=_MOST,
    max_message_bytes=_MOST,
)
_OPENING, _CLOSING = b"<r>", b"</r>"  # around fragments that are parsed together
_AT_ONCE = 8 << 20  # bytes of them
_ROOT: Path = (Step("*"), Step("*"))
_LEAF: Path = (
    Step("*"),
    Step("*"),
    Step("v", kind=Kind.ATTRIBUTE),
)  # where the value of an attribute or a text is put to be tested


def apply(rewriting: Rewriting, rows: Mapping[str, pa.Table]) -> pa.Table:
    """The rows of a query, given those of the views that its rewriting names.

    Sources and documents come in the order in which the rows have them, and nodes in document order, each once.
    """
    if isinstance(rewriting.plan, ViewRows):
        return rows[rewriting.plan.view]
    return _in_order(_rows(rewriting.plan, rows))


def _rows(plan: RowsPlan, rows: Mapping[str, pa.Table]) -> pa.Table:
    match plan:
        case ViewRows(view):
            return rows[view]
        case MergedRows("union", parts):
            return pa.concat_tables([_rows(part, rows) for part in parts])
        case MergedRows(operator, (first, *others)):
            kept = _rows(first, rows)
            for other in others:
                mine, theirs = _references([kept, _rows(other, rows)])
                is_kept = np.isin(mine, theirs, invert=operator == "except")
                kept = kept.filter(pa.array(is_kept))
            return kept
        case CompensatedRows(inner, compensation):
            return compensate(_rows(inner, rows), compensation)
    raise AssertionError(f"expected a plan of rows, found {plan}")


# -- references


def _columns(table: pa.Table) -> list[Longs]:
    """References as columns of numbers, those of texts in the order in which they come."""
    texts = [table[name].combine_chunks().dictionary_encode() for name in REFERENCE[:-1]]
    codes = [(each.chunk(0) if isinstance(each, pa.ChunkedArray) else each).indices.to_numpy() for each in texts]
    return [*(code.astype(np.int64) for code in codes), table[REFERENCE[-1]].to_numpy()]


def _references(tables: Sequence[pa.Table]) -> list[Longs]:
    """For each table a number for each row; equal ones are of the same reference."""
    together = pa.concat_tables([table.select(REFERENCE) for table in tables])
    if not together.num_rows:
        return [np.empty(0, np.int64) for _ in tables]
    _, numbers = np.unique(np.stack(_columns(together), axis=1), axis=0, return_inverse=True)
    ends = np.cumsum([table.num_rows for table in tables])
    return np.split(numbers.reshape(-1), ends[:-1])


def _in_order(table: pa.Table) -> pa.Table:
    """Sorted, and each reference once."""
    if table.num_rows < 2:
        return table
    columns = _columns(table)
    order = np.lexsort(columns[::-1])
    is_new = np.ones(order.size, bool)
    is_new[1:] = np.any([column[order[1:]] != column[order[:-1]] for column in columns], axis=0)
    return table.take(pa.array(order[is_new]))


# -- compensations


def compensate(table: pa.Table, compensation: Compensation) -> pa.Table:
    """What a compensation makes of rows; nested rows may bring a node more than once."""
    if compensation.path is not None:
        table = table.filter(pa.array(_passing(table["path"].combine_chunks(), compensation.path)))
    if not compensation.needs_fragments or not table.num_rows:
        return table
    found = [_within(part, compensation) for part in _portions(table)]
    return pa.concat_tables(found)


def _portions(table: pa.Table) -> Iterator[pa.Table]:
    """Rows in runs whose fragments are parsed at once."""
    ends = np.cumsum(pc.binary_length(table["fragment"]).to_numpy())
    first = 0
    while first < table.num_rows:
        before = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, before + _AT_ONCE, side="right")), first + 1)
        yield table.slice(first, last - first)
        first = last


def _within(table: pa.Table, compensation: Compensation) -> pa.Table:
    """What a compensation makes of few rows: their fragments are read as one document, side by side."""
    if compensation.kind is Kind.ELEMENT:
        texts, path = [text.encode() for text in table["fragment"].to_pylist()], _ROOT
    else:
        values = table["value"].to_pylist()
        texts, path = [f'<r v="{escape_attribute(value)}"/>'.encode() for value in values], _LEAF
    starts = np.cumsum([len(_OPENING), *map(len, texts)])[:-1]
    wanted = pattern_of([Link(path, compensation.test), *compensation.links])
    document = Document(b"".join([_OPENING, *texts, _CLOSING]))
    if not compensation.links:
        found = select_places(document, wanted, _UNLIMITED)
        return table.take(pa.array(np.searchsorted(starts, found, side="right") - 1))
    selected = select("", [document], [wanted], _UNLIMITED)
    assert not selected.rejected, "fragments are well-formed"
    rows = selected.rows[0]
    at = np.searchsorted(starts, rows["offset"].to_numpy(), side="right") - 1
    sizes = np.array([len(text) for text in texts], np.int64)
    return _at_source(table.take(pa.array(at)), rows, rows["offset"].to_numpy() - starts[at], sizes[at])


def _at_source(rows: pa.Table, found: pa.Table, places: Longs, size: Longs) -> pa.Table:
    """Nodes that were found in fragments, each with the row of its fragment, as they are at the source.

    `places` tells where in the fragments they stand, `size` what the fragments have.
    """
    # Declarations that were put into a fragment stand behind its first name, before all that lies inside.
    declared = size - rows["length"].to_numpy()
    offsets = rows["offset"].to_numpy() + places - declared
    around, inside = rows["path"].to_pylist(), found["path"].to_pylist()
    paths = [[*above, *below[2:]] for above, below in zip(around, inside, strict=True)]
    changed = {
        **{name: rows[name] for name in REFERENCE[:-1]},
        "offset": pa.array(offsets, pa.int64()),
        "path": pa.array(paths, SCHEMA.field("path").type),
    }
    return pa.table([changed.get(name, found[name]) for name in SCHEMA.names], schema=SCHEMA)


def _passing(paths: pa.ListArray, path: Path) -> Flags:
    """Which paths pass: few are distinct, and only these are looked at."""
    starts, sizes = paths.offsets.to_numpy()[:-1], np.diff(paths.offsets.to_numpy())
    names = paths.values.dictionary_encode()
    codes, known = names.indices.to_numpy(), names.dictionary.to_pylist()
    found = np.zeros(len(paths), bool)
    for size in np.unique(sizes).tolist():
        own = np.flatnonzero(sizes == size)
        distinct, which = np.unique(codes[starts[own][:, None] + np.arange(size)], axis=0, return_inverse=True)
        passes_it = np.array([_leads(path, [known[code] for code in each]) for each in distinct.tolist()], bool)
        found[own] = passes_it[which.reshape(-1)]
    return found


def _leads(path: Path, names: Sequence[str]) -> bool:
    """Whether a path leads along these names, from the root to the last of them."""
    reached = {0}  # how many names the steps so far may have come by
    for step in path:
        starts = range(min(reached, default=len(names)), len(names)) if step.deep else reached
        reached = {at + 1 for at in starts if at < len(names) and _is_for(step, names[at])}
    return len(names) in reached


def _is_for(step: Step, name: str) -> bool:
    if step.kind is Kind.TEXT:
        return name == "text()"
    if step.kind is Kind.ATTRIBUTE:
        return name[0] == "@" and passes(step.label, name[1:])
    return passes(step.label, name)
