"""Joins in, a file out from which other joins with the same queries go on; and back.

Witnesses are not in it: they are made again from the documents, so that a file serves whatever queries there are then.
Queries are told by their ids, and what they wait for by their joins, whatever variables are called there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from weft.durable import Seal, open_sealed, write_sealed
from weft.errors import ConfigurationError
from weft.joins.compile.shapes import CompiledJoin
from weft.joins.joins import Joins
from weft.joins.match.state import Numbered
from weft.joins.saved import Saved, read_saved, write_saved

_SEAL = Seal("joins", 3, "restore an older checkpoint, or begin without one and publish the documents again")


def save(joins: Joins, file: Path, ids: Mapping[str, int], position: Any = None) -> None:
    """Write all that joins remember; `ids` has the numbers of queries by their ids, `position` is anything JSON has."""
    digests = {each.shape: digest(each) for each in joins.registered.compiled()}
    entries = joins.queries.shared
    waiting = [one for one in joins.absences if entries.get(one[0].shape) is one[0]]
    kept = {one.sequence: one for one in joins.state}
    kept.update((one.sequence, one) for _, documents in waiting for one in documents)
    saved = Saved(
        position,
        replace(joins.arrivals.progress),
        joins.state.sequence,
        joins.published,
        joins.state.history.columns(),
        {id: joins.registered.since(number) for id, number in ids.items()},
        [(digests[entry.shape], tuple(one.sequence for one in documents)) for entry, documents in waiting],
        [Numbered(*one.numbered) for _, one in sorted(kept.items())],
        [Numbered(one.document, one.timestamp, -1, one.number) for one in joins.arrivals],
    )
    try:
        write_sealed(file, _SEAL, write_saved(saved))
    except (ValueError, TypeError) as error:
        raise ConfigurationError(f"{file}: this cannot be kept in a checkpoint: {error}") from None


def load(joins: Joins, file: Path, ids: Mapping[str, int]) -> Any:
    """Go on where the joins that wrote the file were; the position that was given then comes back.

    The joins must be new but for their queries. One that the file does not know sees the documents from now on. A file
    that cannot be used raises ConfigurationError, and the joins are as they were.
    """
    if joins.arrivals.progress.number:
        raise ConfigurationError(f"{file}: expected joins that no document has come to yet")
    try:
        with open_sealed(file, _SEAL) as (opened, size):
            saved = read_saved(opened, size)
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(f"{file}: not a checkpoint of joins: {error}; {_SEAL.advice}") from None
    try:
        _restore(joins, saved)
    except ConfigurationError as error:
        raise ConfigurationError(f"{file}: {error}; {_SEAL.advice}") from None
    for id, number in ids.items():
        joins.registered.set_since(number, saved.since.get(id, saved.progress.number))
    return saved.position


def digest(compiled: CompiledJoin) -> str:
    """What tells a join from others, in any process: its shape, with what variables are in place of their numbers."""
    shape = compiled.shape
    sides = [
        (side.stream, defined, side.parents, side.output)
        for side, defined in zip(shape.sides, compiled.definitions, strict=True)
    ]
    joins = [
        (
            one.operator,
            one.window,
            one.span,
            [(each.left, each.operator, each.right, each.derived) for each in one.conditions],
        )
        for one in shape.joins
    ]
    return blake2b(repr((sides, joins)).encode(), digest_size=16).hexdigest()


def _restore(joins: Joins, saved: Saved) -> None:
    """Everything that may fail comes first, and changes nothing."""
    kept = list(joins.witness(saved.kept))
    arriving = joins.witness_waiting(saved.arriving)
    joins.state.history.restore(saved.sequence, saved.history)
    for made, witnesses in kept:
        joins.joining.hold_again(made, witnesses)
    joins.published = saved.published
    held_again = {one.sequence: one for made, _ in kept for one in made}
    shapes = {digest(each): each.shape for each in joins.registered.compiled()}
    for key, sequences in saved.waiting:
        if key in shapes:
            joins.absences.wait(joins.queries.shared[shapes[key]], tuple(held_again[at] for at in sequences))
    joins.arrivals.restore(saved.progress, arriving)
