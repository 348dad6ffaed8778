"""A tree of 100 servers with news queries: what routing by covering forwards beside flooding, what headers answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weft.documents import Document
from weft.headers import configure
from weft.headers.asked import Writer, asked
from weft.languages import parse
from weft.network.drawing import draw
from weft.network.generators import tree
from weft.network.simulate import simulate
from weft.workload import generate_documents, generate_queries, shipped

_SERVERS, _FANOUT, _EACH, _VALUES, _SEED, _VIEWS = 100, 3, 3, 20, 5, 40


@dataclass(frozen=True, slots=True)
class Routed:
    """Documents forwarded over those that flooding forwards; queries in routing tables; share of hits; a picture."""

    covering_saves: float
    entries: int
    entries_without: int
    hit_rate: float
    drawing: str


def route(documents: int) -> Routed:
    """Send news through the tree; its headers have the views that the most queries ask for."""
    texts = generate_queries(
        shipped("news"),
        number=_SERVERS * _EACH,
        predicates=1,
        predicate_probability=0.8,
        values=_VALUES,
        skew=1.0,
        distinct=False,
        seed=_SEED,
    )
    given = {f"s{at}": texts[at * _EACH : (at + 1) * _EACH] for at in range(_SERVERS)}
    views = configure("news", list(dict.fromkeys(_views(texts)))[:_VIEWS])
    network = tree(_SERVERS, _FANOUT, [views]).with_subscriptions(given)
    made = generate_documents(shipped("news"), number=documents, values=_VALUES, seed=_SEED)
    report = simulate(network, [Document(data, f"{at:06}.xml") for at, data in enumerate(made, start=1)])
    entries = report.entries or (0, 0)
    return Routed(report.forwarded / report.flooded, *entries, report.total.hit_rate or 0.0, draw(network, report))


def _views(queries: list[str]) -> Iterator[str]:
    writer = Writer()
    for query in queries:
        for expression in asked(parse(query)):
            if (text := writer.write(expression)) is not None:
                yield text
