"""However the parts of conditions are retrieved, and counted or not, FLWR and XSCL say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import xscl_strategies
from accesses import all_in, by_chance, retrieve
from flwr_strategies import World, worlds
from flwr_strategies import queries as flwr_queries
from profiles import examples
from weft import Broker, Document
from weft.engine.engine import Engine
from weft.engine.paths.bounds import Bounds
from weft.engine.statistics import GroupStatistics

pytestmark = pytest.mark.filterwarnings("ignore::weft.QueryWarning")
seeds = st.lists(st.one_of(st.none(), st.integers(0, 1 << 30)), min_size=1, max_size=4)


def broker_of(wanted: list[str], optimizer: str) -> Broker:
    broker = Broker(optimizer=optimizer, profile=optimizer == "greedy")  # type: ignore[arg-type]
    for query in wanted:
        broker.subscribe(query)
    return broker


def told(broker: Broker, documents: list[Document]) -> list[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    return [
        (message.subscription, message.document, message.documents, message.nodes)
        for message in broker.publish(documents)
    ]


def change(engine: Engine, seed: int | None) -> None:
    """Everything in, or as chance has it."""
    if engine.large.is_frozen:
        shared = engine.large.shared
        retrieve(engine, all_in(shared) if seed is None else by_chance(shared, seed))


@pytest.mark.slow
@examples(60)
@given(st.lists(flwr_queries(), min_size=1, max_size=5), worlds(least=1, most=4), seeds)
def test_messages_of_flwr_are_the_same_however_conditions_are_retrieved(
    wanted: list[str], world: World, changes: list[int | None]
) -> None:
    fixed, forced = broker_of(wanted, "fixed"), broker_of(wanted, "greedy")
    documents = [Document(text, str(number)) for number, text in enumerate(world.documents)]
    expected = told(fixed, documents)
    ids = [list(found) for found in fixed.matches(documents)]
    assert told(forced, documents) == expected

    for seed in changes:
        change(forced._matcher.engine, seed)
        assert told(forced, documents) == expected
        assert [list(found) for found in forced.matches(documents)] == ids
    statistics = forced._matcher.engine.large.statistics
    assert statistics is not None
    assert statistics.failures == 0


@pytest.mark.slow
@examples(60)
@given(
    st.lists(xscl_strategies.queries(), min_size=1, max_size=4),
    xscl_strategies.document_lists(),
    st.lists(st.one_of(st.none(), st.integers(0, 1 << 30)), min_size=7, max_size=7),
)
def test_joins_are_the_same_however_conditions_are_retrieved_and_counted(
    wanted: list[str], documents: list[Document], changes: list[int | None]
) -> None:
    fixed, forced = broker_of(wanted, "fixed"), broker_of(wanted, "fixed")
    engine = forced._matcher.joins.stage._engine
    engine.large.statistics = GroupStatistics(engine.large.shared, Bounds(), always=True)

    for document, seed in zip(documents, changes, strict=False):
        expected = told(fixed, [document])
        change(engine, seed)
        assert told(forced, [document]) == expected
    assert told_at_the_end(forced) == told_at_the_end(fixed)
    assert engine.large.statistics.failures == 0


def told_at_the_end(broker: Broker) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return [(message.subscription, message.documents, message.nodes) for message in broker.advance()]
