"""The searches explore what the paper says, and find what costs least."""

from itertools import pairwise, permutations
from math import prod
from random import Random

import pytest

from optimizer_plans import all_places, deep_tree, wide_tree
from weft.errors import ConfigurationError
from weft.optimizer.algebra import all_in, change_mode, pull_out
from weft.optimizer.cost import CostModel, PassCost, PatternCost
from weft.optimizer.pattern_tree import PatternTree, TreePattern
from weft.optimizer.ranking import Ranked, migrate
from weft.optimizer.search import fast_prune, greedy_basic, min_exhaust, rewrite_sets, search
from weft.plans.plan import Value

PASSES = PassCost(narrow=1_500, whole=3_000, labels=300, call=20, check=1_300, cut=1_000)


def model_of(tree: PatternTree, seed: int) -> CostModel:
    """Costs and selectivities at random."""
    random = Random(seed)
    patterns = tuple(
        PatternCost(random.uniform(10, 900), random.uniform(10, 1_500), random.choice((0.02, 0.1, 0.5, 0.9, 1.0)))
        for _ in tree.patterns
    )
    return CostModel(tree, patterns, PASSES)


def with_tests(tree: PatternTree, seed: int) -> PatternTree:
    """The same tree, in which some patterns ask for values."""
    random = Random(seed)
    return PatternTree(
        tree.label,
        tuple(
            TreePattern(each.parent, each.path, (Value("=", "x"),) if random.random() < 0.5 else ())
            for each in tree.patterns
        ),
    )


def random_tree(seed: int, patterns: int) -> PatternTree:
    """A tree of any shape."""
    random = Random(seed)
    parents = [None if not at or random.random() < 0.3 else random.randrange(at) for at in range(patterns)]
    return with_tests(
        PatternTree("e", tuple(TreePattern(parent, deep_tree(1).patterns[0].path) for parent in parents)), seed
    )


@pytest.mark.parametrize(("number", "plans"), [(5, 32), (10, 1_024)])
def test_min_exhaust_explores_each_wide_and_simple_plan_once(number: int, plans: int) -> None:
    tree = wide_tree(number)

    assert min_exhaust(model_of(tree, 1), all_in(tree)).explored == plans


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "plans"), [(3, 147), (4, 595), (5, 2_387), (6, 9_555)])
def test_min_exhaust_explores_each_deep_and_complex_plan_once(levels: int, plans: int) -> None:
    tree = deep_tree(levels)

    assert min_exhaust(model_of(tree, 1), all_in(tree)).explored == plans + 1  # beside the initial plan


@pytest.mark.parametrize("seed", range(20))
def test_rewrite_sets_lead_to_all_plans_and_to_each_once_from_any_plan(seed: int) -> None:
    tree = random_tree(seed, 6)
    start = Random(seed).choice(list(all_places(tree)))

    reached = []
    for changes in rewrite_sets(tree, frozenset(tree.required)):
        for order in permutations(changes):  # Lemma 2
            places = start
            for pattern in order:
                places = change_mode(tree, places, pattern)
            if order == changes:
                reached.append(places)
            assert places == reached[-1]

    assert len(set(reached)) == len(reached)  # Lemma 1
    assert set(reached) == set(all_places(tree))


@pytest.mark.parametrize("seed", range(30))
def test_min_exhaust_finds_the_plan_that_costs_least(seed: int) -> None:
    tree = random_tree(seed, 7)
    model = model_of(tree, seed)

    found = min_exhaust(model, all_in(tree))

    assert found.best.total == pytest.approx(min(model.cost(places).total for places in all_places(tree)))


@pytest.mark.parametrize("seed", range(60))
def test_fast_prune_finds_the_plan_of_greedy_basic_and_explores_no_more(seed: int) -> None:
    tree = random_tree(seed, 9)
    model = model_of(tree, seed)
    start = Random(seed).choice([all_in(tree), frozenset[int]()])

    greedy, pruned = greedy_basic(model, start), fast_prune(model, start)

    assert pruned.best == greedy.best
    assert pruned.explored <= greedy.explored
    assert greedy.best.total <= model.cost(start).total


def test_fast_prune_leaves_out_what_lemma_3_excludes() -> None:
    tree = wide_tree(8)
    tree = PatternTree(tree.label, tuple(TreePattern(None, each.path, (Value("=", "x"),)) for each in tree.patterns))
    patterns = tuple(PatternCost(50.0, 4_000.0, 0.9) for _ in tree.patterns)
    model = CostModel(tree, patterns, PASSES)

    greedy, pruned = greedy_basic(model, all_in(tree)), fast_prune(model, all_in(tree))

    assert pruned.explored == 1 < greedy.explored
    assert {each.reason for each in pruned.rejected.values()} == {"Lemma 3: it costs more out than it saves"}


@pytest.mark.parametrize("seed", range(40))
def test_lemma_3_never_tells_more_than_a_plan_costs(seed: int) -> None:
    tree = random_tree(seed, 7)
    model = model_of(tree, seed)

    for places in all_places(tree):
        for pattern in places:
            cut = model.cost(pull_out(tree, places, pattern)).total - model.cost(places).total
            assert model.least_cut(places, pattern) <= cut + 1e-6


def test_a_pattern_of_which_nothing_is_known_stays_where_it_is() -> None:
    tree = wide_tree(3)
    known = PatternCost(10.0, 5_000.0, 0.1)
    model = CostModel(tree, (known, PatternCost(900.0, None, None), known), PASSES)

    for optimizer in ("min-exhaust", "greedy", "fast-prune"):
        assert 1 in search(optimizer, model, all_in(tree)).best.plan.inside
    assert greedy_basic(model, all_in(tree)).rejected[1].reason == "its costs are not known yet"


def test_min_exhaust_refuses_a_query_with_too_many_plans() -> None:
    tree = wide_tree(20)

    with pytest.raises(ConfigurationError, match=r"at most 65536 plans.*found one with 1048576"):
        search("min-exhaust", model_of(tree, 1), all_in(tree))


def test_an_unknown_optimizer_is_refused() -> None:
    tree = wide_tree(2)

    with pytest.raises(ConfigurationError, match="expected one of 'min-exhaust', 'greedy'"):
        search("best", model_of(tree, 1), all_in(tree))  # type: ignore[arg-type]


# -- the order of what is out


def cost_of(order: tuple[int, ...], cost: list[float], selectivity: list[float]) -> float:
    return sum(cost[each] * prod(selectivity[before] for before in order[:at]) for at, each in enumerate(order))


@pytest.mark.parametrize("seed", range(60))
def test_migration_by_rank_finds_the_cheapest_order_with_parents_first(seed: int) -> None:
    tree = random_tree(seed, 6)
    random = Random(seed)
    cost = [random.uniform(1, 100) for _ in tree.patterns]
    selectivity = [random.uniform(0, 1) for _ in tree.patterns]

    order = migrate(tree, tree.required, cost.__getitem__, selectivity.__getitem__)

    allowed = [
        each
        for each in permutations(tree.required)
        if all(each.index(above) < at for at, one in enumerate(each) for above in tree.ancestors(one))
    ]
    least = min(cost_of(each, cost, selectivity) for each in allowed)
    assert cost_of(order, cost, selectivity) == pytest.approx(least)


def test_side_by_side_the_order_is_that_of_the_ranks() -> None:
    groups = [Ranked((0,), 10, 0.5), Ranked((1,), 1, 0.9), Ranked((2,), 100, 0.01)]

    order = migrate(wide_tree(3), {0, 1, 2}, lambda at: groups[at].cost, lambda at: groups[at].selectivity)

    ranks = [groups[at].rank for at in order]
    assert all(first <= second for first, second in pairwise(ranks))
    assert order == (1, 0, 2)
