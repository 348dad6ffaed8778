"""What drives, and what is in, follows what documents bring; it changes between batches, and only where that pays."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from weft import Broker
from weft.engine.access import Access, fixed_access, group_parts
from weft.engine.engine import Engine
from weft.engine.index import Index
from weft.engine.shared.nodes import NOTHING
from weft.engine.shared.plan import SharedPlan
from weft.engine.statistics import GroupStatistics
from weft.errors import ConfigurationError
from weft.optimizer.adapting import Adapting, new_choice
from weft.optimizer.group_costs import GroupUnitCosts
from weft.optimizer.group_explain import group_name
from weft.optimizer.groups import AccessChoice

UNITS = GroupUnitCosts()


def broker_of(queries: list[str], optimizer: str = "greedy") -> Broker:
    broker = Broker(optimizer=optimizer, profile=True)  # type: ignore[arg-type]
    for query in queries:
        broker.subscribe(query)
    return broker


def large(broker: Broker) -> Index:
    engine = broker._matcher.engine
    assert isinstance(engine, Engine)
    return engine.large


def choice_of(broker: Broker) -> AccessChoice:
    statistics = large(broker).statistics
    assert statistics is not None
    assert statistics.groups is not None
    assert statistics.counts is not None
    return new_choice(large(broker), statistics.groups, statistics.counts, UNITS)


def drivers(broker: Broker, choice: AccessChoice) -> set[str]:
    """The groups that a choice lets drive."""
    shared = large(broker).shared
    return {group_name(shared, node) for node in choice.access.driver.tolist() if node != NOTHING}


def ranges(number: int, seed: int = 1) -> list[str]:
    chance = random.Random(seed)
    return [f"/m[p > {chance.randrange(10)}][q > {990 + chance.randrange(9)}]" for _ in range(number)]


def document(p: Callable[[], int], q: Callable[[], int]) -> bytes:
    return f"<m><p>{p()}</p><q>{q()}</q></m>".encode()


def documents(number: int, seed: int = 2, rare: str = "q") -> list[bytes]:
    """All values of one pass nearly all tests, those of the other hardly any."""
    chance = random.Random(seed)
    often, seldom = (lambda: 900 + chance.randrange(60)), (lambda: chance.randrange(5))
    return [document(often, seldom) if rare == "q" else document(seldom, often) for _ in range(number)]


def test_the_part_that_hardly_ever_holds_is_to_drive() -> None:
    broker = broker_of(ranges(200))
    broker.matches(documents(64))

    assert drivers(broker, choice_of(broker)) == {"/m[q > …]"}


def test_nothing_is_chosen_anew_where_the_driver_is_the_best_part() -> None:
    broker = broker_of([f"/m[k = 'v{at}'][p > {at}]" for at in range(200)])
    broker.matches([b"<m><k>x</k><p>1000</p></m>"] * 64)

    choice = choice_of(broker)

    assert choice.access.driver.tolist() == fixed_access(large(broker).shared).driver.tolist()
    assert not choice.access.is_in.any()


def test_a_part_of_which_nothing_is_known_does_not_drive() -> None:
    broker = broker_of([f"/m[p > {at}][not(z)][q > {at}]" for at in range(100)])
    broker.matches([b"<other/>"] * 64)

    assert choice_of(broker).access.driver.tolist() == fixed_access(large(broker).shared).driver.tolist()


def test_what_candidates_ask_for_again_and_again_among_many_values_is_in() -> None:
    chance = random.Random(1)
    broker = broker_of([f"/m[p > {chance.randrange(100)}][q = {at}]" for at in range(400)])
    values = "".join(f"<q>{5000 + at}</q>" for at in range(60))
    fixed = fixed_access(large(broker).shared)
    pairs = zip(fixed.driver.tolist(), fixed.check.tolist(), strict=True)
    swapped = [(check, driver) for driver, check in pairs]  # the equalities are asked for, not in the order of kinds
    fixed.driver[:], fixed.check[:] = [new for new, _ in swapped], [old for _, old in swapped]
    broker.matches([b"<m/>"])
    engine = broker._matcher.engine
    engine.retrieve(fixed)
    engine.settle()
    broker.matches([f"<m><p>500</p>{values}</m>".encode() for _ in range(64)])

    choice = choice_of(broker)

    names = {group_name(large(broker).shared, node) for node in choice.access.is_in.nonzero()[0].tolist()}
    assert names | drivers(broker, choice) >= {"/m[q = …]"}


def test_checks_that_seldom_hold_come_first() -> None:
    chance = random.Random(3)
    queries = [f"/m[a = 'x'][p > {chance.randrange(10)}][not(q < {990 + chance.randrange(9)})]" for _ in range(100)]
    broker = broker_of(queries)
    broker.matches([document.replace(b"<m>", b"<m><a>x</a>") for document in documents(64)])

    access, shared = choice_of(broker).access, large(broker).shared

    order = {tuple(group_name(shared, node) for node in row) for row in access.check.reshape(-1, 2).tolist()}
    assert order == {("/m[q < …]", "/m[p > …]")}


def publish_until(broker: Broker, batches: Callable[[int], list[bytes]], is_done: Callable[[], bool]) -> bool:
    for at in range(4_000):
        broker.matches(batches(at))
        if is_done():
            return True
    return False


@pytest.mark.slow
def test_a_change_is_made_while_documents_come_and_back_when_they_change() -> None:
    chance = random.Random(5)
    queries = [f"/m[p > {chance.randrange(5, 900)}][q > {chance.randrange(5, 900)}]" for _ in range(2_000)]
    adaptive, fixed = Broker(), Broker(optimizer="fixed")
    for query in queries:
        adaptive.subscribe(query)
        fixed.subscribe(query)
    adapting = adaptive._matcher.adapting
    assert isinstance(adapting, Adapting)
    batches = {rare: [documents(16, seed, rare) for seed in range(8)] for rare in "pq"}

    def agree(at: int, rare: str) -> list[bytes]:
        some = batches[rare][at % 8]
        assert [list(ids) for ids in adaptive.matches(some)] == [list(ids) for ids in fixed.matches(some)]
        return some

    assert publish_until(adaptive, lambda at: agree(at, "q"), lambda: adapting.changes == 1)
    adaptive._matcher.engine.settle()
    assert {"/m[q > …]"} <= drivers_now(adaptive)
    statistics = large(adaptive).statistics
    assert statistics is not None
    assert statistics.spent / statistics.matching < 0.03

    assert publish_until(adaptive, lambda at: agree(at, "p"), lambda: adapting.changes > 1)
    adaptive._matcher.engine.settle()
    assert {"/m[p > …]"} <= drivers_now(adaptive)

    def now() -> GroupStatistics:
        statistics = large(adaptive).statistics
        assert statistics is not None
        return statistics

    publish_until(adaptive, lambda at: batches["p"][at % 8], lambda: now().matching > 1.0)
    assert now().share <= 0.03


def drivers_now(broker: Broker) -> set[str]:
    access = large(broker).access
    assert access is not None
    return {group_name(large(broker).shared, node) for node in access.driver.tolist() if node != NOTHING}


def test_a_broker_that_is_told_to_stay_as_it_is_counts_nothing() -> None:
    broker = broker_of(ranges(50), "fixed")
    broker.matches(documents(64))

    assert large(broker).statistics is None
    assert broker.explain(costs=True) == "costs: not known, as nothing is counted"


@pytest.mark.parametrize("name", ["nonsense", "min-exhaust", "fast-prune"])
def test_what_a_broker_cannot_retrieve_by_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"optimizer: expected 'greedy' or 'fixed', found '{name}'"):
        Broker(optimizer=name)  # type: ignore[arg-type]


def test_costs_are_told_for_each_group_with_what_was_rejected_and_why() -> None:
    broker = broker_of(ranges(200))
    assert broker.explain(costs=True) == "costs: not known, as no batch was counted since the plan was made"
    broker.matches(documents(64))

    told = broker.explain(costs=True).splitlines()

    assert told[0] == "costs of 2 test groups, by 64 documents that were counted"
    assert any(f"/m[q > …]; drives {len(large(broker).shared.conjunctions.node)}" in line for line in told)
    assert any("/m[p > …]; in is rejected" in line for line in told)


@pytest.mark.slow
def test_threads_that_match_beside_each_other_agree_while_it_changes() -> None:
    chance = random.Random(7)
    queries = [f"/m[p > {chance.randrange(5, 900)}][q > {chance.randrange(5, 900)}]" for _ in range(2_000)]
    adaptive, fixed = Broker(), Broker(optimizer="fixed")
    for query in queries:
        adaptive.subscribe(query)
        fixed.subscribe(query)
    batches = [documents(16, seed, "q" if seed % 8 else "p") for seed in range(16)]
    expected = [[list(ids) for ids in fixed.matches(batch)] for batch in batches]
    adapting = adaptive._matcher.adapting
    assert adapting is not None

    def match(first: int) -> bool:
        for at in range(1_500):
            place = (first + at) % len(batches)
            if [list(ids) for ids in adaptive.matches(batches[place])] != expected[place]:
                return False
            if adapting.changes and at > 100:
                break
        return True

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(match, range(3)))
    assert adapting.changes


def test_the_time_of_a_change_counts_with_that_of_choosing() -> None:
    broker = broker_of(ranges(300))
    broker.matches(documents(64))
    statistics, engine = large(broker).statistics, broker._matcher.engine
    assert statistics is not None
    assert statistics.migrating == 0
    before = statistics.share

    engine.retrieve(choice_of(broker).access)
    engine.settle()

    statistics = large(broker).statistics
    assert statistics is not None
    assert statistics.migrating > 0
    assert statistics.share == pytest.approx(before + statistics.migrating / statistics.matching)


def test_what_was_chosen_outlasts_a_sweep() -> None:
    chance = random.Random(11)
    queries = ranges(300) + [f"/m[p > {at % 10}][not(q < {at})][k = 'v{chance.randrange(3)}']" for at in range(300)]
    broker, fixed = broker_of(queries), broker_of(queries, "fixed")
    some = [document.replace(b"<m>", b"<m><k>v1</k>") for document in documents(64)]
    broker.matches(some)
    engine, old = broker._matcher.engine, large(broker)
    choice = choice_of(broker)
    access = choice.access
    by_kind = drivers_of(old.shared, fixed_access(old.shared))
    assert drivers_of(old.shared, access) != by_kind
    access.is_in[choice.can[group_parts(old.shared).of_node]] = True
    chosen = set(drivers_of(old.shared, access))
    inside = {group_name(old.shared, node) for node in access.is_in.nonzero()[0].tolist()}
    size = len(old.shared)
    engine.retrieve(access)
    engine.settle()
    for number in range(1, 400, 2):  # other nodes have the same queries then
        broker.unsubscribe(str(number))
        fixed.unsubscribe(str(number))

    engine.sweep(broker._matcher.plan)
    engine.settle()

    new = large(broker)
    assert new is not old
    assert len(new.shared) < size
    assert new.access is not None
    assert set(drivers_of(new.shared, new.access)) == chosen
    assert {group_name(new.shared, node) for node in new.access.is_in.nonzero()[0].tolist()} == inside
    assert [list(ids) for ids in broker.matches(some)] == [list(ids) for ids in fixed.matches(some)]


def drivers_of(shared: SharedPlan, access: Access) -> Counter[tuple[str, ...]]:
    """The groups of each conjunction, the driver's first and then the checks in their order."""
    found: Counter[tuple[str, ...]] = Counter()
    for row in range(access.driver.size):
        driver, checks = access.conjunction(shared, row)
        found[(group_name(shared, driver), *(group_name(shared, check) for check, _ in checks))] += 1
    return found
