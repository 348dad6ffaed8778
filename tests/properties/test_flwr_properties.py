"""Random FLWR queries over random documents: no claim, rule, batch size or history changes a message."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weft.reference.pathsharing.optimize
from flwr_strategies import World, queries, worlds
from flwr_ways import WAYS, Messages, messages, with_queries
from oracle import table_of
from profiles import examples
from weft.engine import Engine
from weft.reference.pathsharing import claims, pathsharing
from weft.reference.pathsharing.optimize import RULES
from weft.reference.pathsharing.pathsharing import PathSharing

CLAIMS = [f"_claim_{number}" for number in (1, 2, 4, 5)]  # claim 3 is claims 1 and 2, for each part of a path
several_queries = st.lists(queries(), min_size=1, max_size=4).map(lambda texts: dict(enumerate(texts)))


# -- the optimizer


@contextmanager
def rules(*chosen: Any) -> Iterator[None]:
    """An optimizer with these rules alone."""
    with patch.object(weft.reference.pathsharing.optimize, "RULES", chosen):
        yield


@contextmanager
def paths_as_they_are() -> Iterator[None]:
    """An optimizer that does not make paths canonical."""
    with ExitStack() as stack:
        for module in (weft.reference.pathsharing.optimize, pathsharing):
            stack.enter_context(patch.object(module, "canonical_paths", lambda plan, _: plan))
        yield


@contextmanager
def without_claim(name: str) -> Iterator[None]:
    """An optimizer that never succeeds with a claim."""
    with patch.object(claims, name, lambda *_: False):
        yield


VARIATIONS: dict[str, Any] = {
    "everything": lambda: rules(*RULES),
    "no rule": rules,
    "paths as they are": paths_as_they_are,
    **{f"only {rule.__name__}": lambda rule=rule: rules(rule) for rule in RULES},
    **{f"without {rule.__name__}": lambda rule=rule: rules(*(r for r in RULES if r is not rule)) for rule in RULES},
    **{f"without{name.replace('_', ' ')}": lambda name=name: without_claim(name) for name in CLAIMS},
}


def shared_messages(documents: tuple[str, ...], wanted: dict[int, str]) -> Messages:
    """The messages of the shared plan, which knows no DTD."""
    return messages(with_queries(Engine(), wanted), table_of(documents))


@pytest.mark.slow
@pytest.mark.parametrize("variation", VARIATIONS)
@examples(50)
@given(worlds(), several_queries)
def test_a_plan_gives_the_same_messages_with_and_without_a_rule_or_claim(
    variation: str, world: World, wanted: dict[int, str]
) -> None:
    table = table_of(world.documents)

    with VARIATIONS[variation]():
        found = [messages(with_queries(PathSharing(way, world.dtd), wanted), table) for way in ("F", "FW", "FWR")]

    assert found == [shared_messages(world.documents, wanted)] * 3


@pytest.mark.slow
@examples(100)
@given(worlds(), several_queries)
def test_without_a_dtd_every_way_gives_the_same_messages(world: World, wanted: dict[int, str]) -> None:
    table = table_of(world.documents)

    found = [messages(with_queries(way(None), wanted), table) for way in WAYS.values()]

    assert found == [found[0]] * len(WAYS)


@examples(150)
@given(worlds(), several_queries)
def test_a_dtd_changes_no_message_of_the_shared_plan(world: World, wanted: dict[int, str]) -> None:
    found = messages(with_queries(Engine(dtd=world.dtd), wanted), table_of(world.documents))

    assert found == shared_messages(world.documents, wanted)


# -- batches


@pytest.mark.slow
@pytest.mark.parametrize("way", ["shared plan", "shared plan, with DTD", "PathSharing-FWR, with DTD"])
@examples(40)
@given(worlds(least=8, most=10, size=20), several_queries)
def test_batches_of_any_size_give_the_same_messages(way: str, world: World, wanted: dict[int, str]) -> None:
    found: list[Messages] = []

    for size in (1, 7, 100):
        engine = with_queries(WAYS[way](world.dtd), wanted)
        whole: Messages = {}
        for first in range(0, len(world.documents), size):
            whole |= messages(engine, table_of(world.documents[first : first + size]), first)
        found.append(whole)

    assert found[1:] == found[:1] * 2


#: A query that comes, the place of one that goes among those that are there, or the documents that come.
turns = st.lists(queries() | queries() | st.integers(0, 20) | st.just("documents"), min_size=4, max_size=12)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@examples(30)
@given(worlds(), turns)
def test_queries_that_come_and_go_between_batches_leave_what_a_fresh_engine_has(
    way: str, world: World, life: list[str | int]
) -> None:
    table = table_of(world.documents)
    engine, there = WAYS[way](world.dtd), dict[int, str]()

    for number, turn in enumerate([*life, "documents"]):
        if isinstance(turn, int):
            if there:
                gone = sorted(there)[turn % len(there)]
                del there[gone]
                engine.remove(gone)
        elif turn == "documents":
            assert messages(engine, table) == messages(with_queries(WAYS[way](world.dtd), there), table)
        else:
            there[number] = turn
            with_queries(engine, {number: turn})
