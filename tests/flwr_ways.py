"""Every way that Weft has to the messages of FLWR queries: all must lead to the same ones.

A message is known by the place of its document in the batch and the number of its query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from lxml import etree

from weft.documents import NodeTable
from weft.documents.dtd import Dtd
from weft.engine import Engine
from weft.languages import parse
from weft.reference.pathsharing.engine import PathSharingEngine
from weft.reference.pathsharing.optimize import Approach
from weft.reference.pathsharing.pathsharing import PathSharing
from weft.reference.pathsharing.plan_sharing import PlanSharing

Messages = dict[tuple[int, int], str]
Way = Callable[[Dtd | None], Any]


def as_it_is(approach: Approach) -> PathSharing:
    """An approach of the paper without any optimization."""
    return PlanSharing(optimized=False) if approach == "PlanSharing" else PathSharing(approach, optimized=False)


#: The shared plan, and each approach of the paper; without any optimization, by the query alone, and with the DTD.
WAYS: dict[str, Way] = {
    "shared plan": lambda _: Engine(),
    "shared plan, with DTD": lambda dtd: Engine(dtd=dtd),
    **{
        f"{approach if approach == 'PlanSharing' else f'PathSharing-{approach}'}{told}": way
        for approach in get_args(Approach)
        for told, way in (
            (", as it is", lambda _, approach=approach: as_it_is(approach)),
            ("", lambda _, approach=approach: PathSharingEngine(approach)),
            (", with DTD", lambda dtd, approach=approach: PathSharingEngine(approach, dtd=dtd)),
        )
    },
}


def with_queries(engine: Any, queries: Mapping[int, str]) -> Any:
    """The engine once it has taken the queries in."""
    for number, query in queries.items():
        engine.add(number, parse(query, "xquery"))
    return engine


def messages(engine: Any, table: NodeTable, first: int = 0) -> Messages:
    """The messages of a batch whose documents are numbered from `first`; whoever has one is among the matches."""
    matches = engine.match(table)
    made = {(at, number): text for at, number, text in matches.messages()}
    matched = [(at, number) for at, found in enumerate(matches.subscriptions()) for number in found.tolist()]
    assert sorted(matched) == sorted(made)
    return {(at + first, number): text for (at, number), text in made.items()}


def canonical(text: str) -> bytes:
    """A message in canonical XML, so that two are equal if they mean the same."""
    made: bytes = etree.tostring(etree.fromstring(text), method="c14n")
    return made
