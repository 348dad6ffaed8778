"""FLWR subscriptions are kept as numbers, which the collector does not walk, and can be told of as they came."""

from __future__ import annotations

import gc
from collections.abc import Iterable

import pytest

from weft.engine import Engine
from weft.engine.index import Index
from weft.languages.xquery import parse_flwr
from weft.plans.flwr import Flwr

QUERIES = [
    "<r>{ for $a in //a[b = '%d'] return <i>{ $a/c, $a/d[e] }</i> }</r>",
    "<r>{ for $a in //a, $b in $a/b where $a/@k = '%d' or $b/c > 2 return <i>{ $b }</i> }</r>",
    "<r>{ for $a in //a, $b in $a/b where not($b) or $a/c = 'x' return <i>{ $b, $a/c }</i> }</r>",
    "<r>{ for $a in //a order by $a/b return <i>{ count($a/c) }</i> }</r>",
]


@pytest.mark.parametrize("query", QUERIES)
def test_a_building_comes_back_as_it_came(query: str) -> None:
    index = Index()
    made = [parse_flwr(each % 7 if "%d" in each else each) for each in (*QUERIES, query)]

    entries = [index.append(plan) for plan in made]
    for number, entry in enumerate(entries):
        index.enter(number, entry)

    assert [index.built.building(number) for number in range(len(made))] == [entry.building for entry in entries]


def test_removing_one_tells_whether_its_results_were_its_answer() -> None:
    index = Index()
    for number, query in enumerate(QUERIES):
        index.enter(number, index.append(parse_flwr(query % 7 if "%d" in query else query)))
    exact = [index.built.building(number).is_exact for number in range(len(QUERIES))]

    assert [index.built.remove(number) for number in range(len(QUERIES))] == exact
    assert len(index.built) == 0


def walked() -> int:
    for _ in range(4):
        gc.collect()
    return len(gc.get_objects())


def added(plans: Iterable[Flwr]) -> Engine:
    engine = Engine(plan_of=lambda number: parse_flwr(QUERIES[0] % number))
    for number, plan in enumerate(plans):
        engine.add(number, plan)
    return engine


def test_the_collector_has_no_more_to_walk_where_queries_are_many() -> None:
    before = walked()
    few = added(parse_flwr(QUERIES[0] % number) for number in range(50))
    middle = walked()
    many = added(parse_flwr(QUERIES[0] % number) for number in range(1_000))
    after = walked()

    assert (len(few), len(many)) == (50, 1_000)
    assert after - middle < middle - before + 100
