"""An engine and a batch in, what each document brings to whom out: what a broker and Spark share.

Whatever fails on the way is confined; documents that do not keep to the DTD are matched without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from weft.broker.confinement import Answered, Confined, Registry, confined
from weft.columns.integers import Ints
from weft.documents.build import read
from weft.documents.document import Document, Limits
from weft.documents.document_column import Columns, DocumentColumn
from weft.documents.scan import DocumentPaths, scan_paths
from weft.documents.table import NodeTable
from weft.engine.deliveries import Deliveries, deliveries, in_order
from weft.engine.engine import Engine
from weft.engine.messages.texts import Texts
from weft.headers.matcher import HeaderMatcher

_CHUNK = 64  # documents that are matched at once: larger is not faster


_CHUNK_BYTES = 8 * 1024 * 1024


Weighed = TypeVar("Weighed")


@dataclass(slots=True)
class Matched:
    """For each document of a batch the subscriptions that match it, in no order; nothing where it is rejected.

    `refused` tells which messages could not be looked for (place of the document, subscription, reason), `rejected`
    which documents could not be matched at all (place, reason).
    """

    subscriptions: list[Ints]
    refused: list[tuple[int, int, str]]
    rejected: list[tuple[int, str]]


def deliver(engine: Engine, table: NodeTable, plans: Registry | None = None) -> Deliveries:
    """What the documents bring: the nodes that XPath selects, the messages that FLWR builds.

    Whatever fails on the way is confined to its document or, if there are plans, to its subscription. A document that
    does not keep to the DTD is matched without it if there are plans, else rejected.
    """
    found = _answers(engine, table, deliveries, plans)
    refused = found.refused + [
        (places[at], number, reason) for places, answer in found.answers for at, number, reason in answer.refused
    ]
    if len(found.answers) == 1:
        places, answer = found.answers[0]
        if len(places) == len(table.documents):
            return replace(answer, refused=sorted(refused), rejected=found.rejected)
    none = np.zeros(0, np.int32)
    document = [np.array(places, np.int32)[answer.document] for places, answer in found.answers]
    subscription = [answer.subscription for _, answer in found.answers]
    text = Texts.together([answer.text for _, answer in found.answers])
    made = in_order(np.concatenate([none, *document]), np.concatenate([none, *subscription]), text, refused)
    return replace(made, rejected=sorted(found.rejected))


def read_to_match(engine: Engine, documents: Iterable[Document], limits: Limits) -> NodeTable | DocumentPaths:
    """Read a batch for `match`, of which nobody asks for nodes: no more of it than the engine looks at."""
    if engine.asks_only_paths:
        return scan_paths(documents, limits, **engine.kinds_in_paths)
    return read(documents, limits)


def match(engine: Engine, batch: NodeTable | DocumentPaths, plans: Registry | None = None) -> Matched:
    """Which subscriptions match each document; what fails is confined as in `deliver`."""
    if isinstance(batch, DocumentPaths):
        try:
            return Matched(engine.match_paths(batch), [], [])
        except Exception:  # who is at fault is found out with nodes
            table = read(batch.documents, engine.limits)
    else:
        table = batch
    found = _answers(engine, table, _matches, plans)
    parts: list[list[Ints]] = [[] for _ in range(len(table.documents))]
    refused = found.refused
    for places, (subscriptions, told) in found.answers:
        for place, numbers in zip(places, subscriptions, strict=True):
            parts[place].append(numbers)
        refused += [(places[at], number, reason) for at, number, reason in told]
    none = np.zeros(0, np.int32)
    return Matched(
        [part[0] if len(part) == 1 else np.concatenate([none, *part]) for part in parts],
        sorted(refused),
        sorted(found.rejected),
    )


def _matches(engine: Engine, table: NodeTable) -> tuple[list[Ints], list[tuple[int, int, str]]]:
    matches = engine.match(table, whether=True)
    return matches.subscriptions(), matches.refused


def _answers(
    engine: Engine, table: NodeTable, answer: Callable[[Engine, NodeTable], Answered], plans: Registry | None
) -> Confined[Answered]:
    """The answers to a batch, those to documents that do not keep to the DTD without it."""
    faults = engine.faults(table)
    if not faults:
        return confined(engine, table, answer, plans)
    parts: list[tuple[list[int], Registry | None]] = [
        ([place for place in range(len(table.documents)) if place not in faults], plans)
    ]
    found: Confined[Answered] = Confined()
    if plans is None:
        found.rejected += faults.items()
    else:
        parts.append((list(faults), plans.without_dtd(len(faults))))
    for places, with_plans in parts:
        documents = [table.documents[place] for place in places]
        part = table if len(places) == len(table.documents) else read(documents, engine.limits)
        made = confined(with_plans.engine if with_plans else engine, part, answer, with_plans)
        found.answers += [([places[at] for at in inside], each) for inside, each in made.answers]
        found.refused += [(places[at], number, reason) for at, number, reason in made.refused]
        found.rejected += [(places[at], reason) for at, reason in made.rejected]
    return found


def answered(documents: Iterable[Document], headers: HeaderMatcher, limits: Limits) -> dict[int, list[int]]:
    """By the identity of a document what its header tells: the subscriptions that match it. The others must be read."""
    if not headers.configurations or isinstance(documents, DocumentColumn):
        return {}
    found = {id(each): headers.answer(each) for each in documents if len(each.data) <= limits.max_bytes}
    return {place: numbers for place, numbers in found.items() if numbers is not None}


def placed(chunk: Sequence[Document], read: Sequence[Document]) -> list[int]:
    """Where in a chunk the documents stand that could be read."""
    known = {id(document): place for place, document in enumerate(chunk)}
    return [known[id(document)] for document in read]


def chunks(documents: Iterable[Document] | Columns) -> Iterator[Sequence[Document]]:
    """Batches as they are matched: few enough documents to stay in the caches, and few enough bytes."""
    if isinstance(documents, Columns):
        return (chunk for column in documents.parts for chunk in column.portions(_CHUNK, _CHUNK_BYTES))
    if isinstance(documents, list) and len(documents) <= _CHUNK and _bytes_of(documents) <= _CHUNK_BYTES:
        return iter([documents] if documents else [])  # as it mostly is
    return portions(documents, lambda document: len(document.data), _CHUNK, _CHUNK_BYTES)


def _bytes_of(documents: list[Document]) -> int:
    return sum([len(document.data) for document in documents])


def portions(
    entries: Iterable[Weighed], weigh: Callable[[Weighed], int], most: int, heavy: int
) -> Iterator[list[Weighed]]:
    """Entries in lists of at most so many; one that has become heavy ends."""
    portion: list[Weighed] = []
    weight = 0
    for entry in entries:
        portion.append(entry)
        weight += weigh(entry)
        if len(portion) == most or weight > heavy:
            yield portion
            portion, weight = [], 0
    if portion:
        yield portion
