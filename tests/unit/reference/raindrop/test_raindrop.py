"""The paper's equations on worked examples, computed by hand from its text, and its model under the searches."""

from __future__ import annotations

from math import prod

import pytest

from optimizer_plans import all_places
from weft.documents.build import read
from weft.documents.document import Document
from weft.languages import parse
from weft.optimizer.algebra import all_in, pull_out
from weft.optimizer.pattern_tree import PatternTree, pattern_tree
from weft.optimizer.search import fast_prune, greedy_basic, min_exhaust
from weft.plans.plan import Pattern
from weft.reference.raindrop.calibration import stack_costs
from weft.reference.raindrop.equations import StackCosts, extract, node_nav, token_nav, token_navs
from weft.reference.raindrop.model import StackModel
from weft.reference.raindrop.stack_automaton import ELEMENT, StackCounts, count_states, own_states

COSTS = StackCosts(non_empty=40, empty=10, backtrack=5, visit=3, compose=100)
#: Figure 3's kind of stream: what nobody asks for, and a deep pattern below another one.
AUCTION = "<auction><annotation><emph/></annotation><seller><profile/><n><profile/></n></seller></auction>"
DEEP = "/auction[seller[.//profile]]"


def tree_of(query: str) -> PatternTree:
    plan = parse(query)
    assert isinstance(plan, Pattern)
    return pattern_tree(plan)


def counts_of(query: str, *documents: str) -> StackCounts:
    return count_states(tree_of(query), read([Document(each, each) for each in documents]))


def equation_1(counts: StackCounts) -> float:
    return token_navs(counts.active, counts.starts, counts.ends, COSTS)


def test_states_are_counted_as_the_stack_has_them() -> None:
    """As in Figure 3: below what is not asked for the stack is empty, and the loop of a deep pattern stays active."""
    counts = counts_of(DEEP, AUCTION)

    assert counts.starts == counts.ends == 6  # annotation, emph, seller, profile, n, profile
    # On top when they come: the element's state for annotation and seller; seller's for its two children; the loop for
    # all three below it.
    assert counts.active == {ELEMENT: 2, (0, 1): 2, (1, 0): 3}
    assert counts.begun == {ELEMENT: 1, (0, 1): 1, (1, 0): 4, (1, 1): 2}
    assert counts.nodes == {ELEMENT: 7, (0, 1): 4, (1, 0): 2, (1, 1): 1}


def test_patterns_of_one_parent_begin_at_its_state_and_only_deep_ones_have_one_of_their_own() -> None:
    document = "<a><b/><n/><c/><d/></a>"

    one, four, deep = (counts_of(query, document) for query in ("/a[b]", "/a[b][n][c][d]", "/a[.//b]"))

    assert equation_1(one) == equation_1(four) == 4 * 40 + 4 * 5  # four start tags at one state, four end tags
    assert equation_1(deep) == (4 + 4) * 40 + (4 - 8) * 10 + 4 * 5  # and four at the loop


def test_equation_1_is_the_cost_of_each_tag_by_what_is_on_top() -> None:
    counts = counts_of("/a[b/c]", "<a><n><m/></n><b><c/></b></a>")
    by_tag = {"n": 40, "m": 10, "b": 40, "c": 40}  # the element's state is on top for n and b, b's for c, none for m

    assert equation_1(counts) == sum(by_tag.values()) + 4 * 5


def test_equation_1_adds_up_all_states_on_top() -> None:
    assert equation_1(counts_of(DEEP, AUCTION)) == 7 * 40 + (6 - 7) * 10 + 6 * 5


def test_equation_2_is_what_an_automaton_costs_more_with_a_pattern_than_without() -> None:
    counts, tree = counts_of(DEEP, AUCTION), tree_of(DEEP)
    seller = {state: number for state, number in counts.active.items() if state[0] != 1}
    nothing = {ELEMENT: counts.active[ELEMENT]}

    found = [token_nav(counts.active, own_states(tree, each), COSTS) for each in (0, 1)]

    assert found == [2 * 30, 3 * 30]
    assert token_navs(nothing, 6, 6, COSTS) == 2 * 40 + 4 * 10 + 6 * 5
    assert token_navs(seller, 6, 6, COSTS) - token_navs(nothing, 6, 6, COSTS) == found[0]
    assert equation_1(counts) - token_navs(seller, 6, 6, COSTS) == found[1]


def test_what_extracting_takes_depends_on_what_is_extracted() -> None:
    """n_active(q) C_extract(q): a seller has four nodes, a profile one."""
    counts = counts_of(DEEP, AUCTION)
    at = {name: (counts.begun[state], counts.nodes[state]) for name, state in (("seller", (0, 1)), ("profile", (1, 1)))}

    assert extract(*at["seller"], COSTS) == 1 * 4 * 100
    assert extract(*at["profile"], COSTS) == 2 * 1 * 100


def test_navigation_visits_the_children_of_what_each_step_has_matched() -> None:
    assert node_nav([1, 2], [4, 3], COSTS) == (1 * 4 + 2 * 3) * 3
    model = model_of(DEEP, (0.5, 0.5), AUCTION)
    # To sellers: the two children of the auction. To profiles: `//` at the two children of the seller, and then the
    # children of it and of all three below it.
    assert [model.outside_cost(each) for each in (0, 1)] == [2 * 3, (2 + 3) * 3]


def model_of(query: str, shares: tuple[float, ...], *documents: str, returned: bool = True) -> StackModel:
    tree, alone = tree_of(query), frozenset[int | None]([None] if returned else [])
    return StackModel(tree, counts_of(query, *documents), COSTS, shares, (0.0,) * len(tree.patterns), alone)


def test_equation_3_with_an_extract_that_is_introduced() -> None:
    """Profiles are pulled out: then sellers must be made elements to navigate into, which nobody else asked for."""
    model = model_of(DEEP, (0.5, 0.25), AUCTION)
    everything = all_in(model.tree)

    cut = model.cost_cut(everything, 1)

    assert (cut.introduced, cut.is_introduced) == (400, True)
    assert (cut.token_nav, cut.node_nav, cut.others, cut.gone) == (90, 0.5 * 15, 0, 0)
    assert cut.total == 400 - 90 + 7.5
    assert model.cost(everything).total == 300 + 700  # equation 1, and Extract of the auction, which is returned
    assert model.cost(frozenset([0])).total == 210 + 700 + 400 + 7.5


@pytest.mark.parametrize(("returned", "introduced"), [(True, False), (False, True)])
def test_equation_3_introduces_no_extract_that_is_there(returned: bool, introduced: bool) -> None:
    """Sellers are pulled out, and what is below them follows: they are navigated to from the auction."""
    model = model_of(DEEP, (0.5, 0.25), AUCTION, returned=returned)
    everything = all_in(model.tree)

    cut = model.cost_cut(everything, 0)

    assert (cut.introduced, cut.is_introduced) == (700, introduced)
    assert (cut.token_nav, cut.node_nav, cut.others) == (60 + 90, 6, 0.5 * 15)
    assert cut.total == 700 * introduced - 150 + 6 + 7.5
    assert model.cost(frozenset()).total == 150 + 700 + 6 + 7.5


def test_equation_3_counts_what_other_operators_take_more() -> None:
    """With b in, half of the elements come to c outside; with b out they all do."""
    tree, shares, tests = tree_of("/a[b][c = 1]"), (0.5, 0.1), (0.0, 2.0)
    counts = counts_of("/a[b][c = 1]", "<a><b/><c>1</c></a>", "<a><n/><n/></a>")
    model = StackModel(tree, counts, COSTS, shares, tests)
    assert counts.active[ELEMENT] == 2  # children of an element, on average

    cut = model.cost_cut(frozenset([0]), 0)

    # Outside c comes first, as its rank (0.1 - 1) / (2 visits and a test) is below that of b, (0.5 - 1) / 2 visits; a
    # tenth is left for b. Before, half of the visits and tests for c; after, all of them.
    assert [cut.node_nav, cut.others] == pytest.approx([0.1 * 2 * 3, 0.5 * (6 + 2)])
    assert cut.token_nav == 0  # no start tag comes while a b is open
    assert cut.total == pytest.approx(0.6 + 4)


@pytest.mark.parametrize("query", ["/a[b][c][d]", "/a[b = 1][c[d][e = 2]]", "/a[.//b[c]][d]"])
@pytest.mark.parametrize("returned", [True, False])
def test_equation_3_is_the_difference_of_two_plans_and_never_below_lemma_3(query: str, returned: bool) -> None:
    documents = (
        "<a><b>1<c/></b><c><d/><e>2</e></c><d/></a>",
        "<a><b/></a>",
        "<a><n><b><c/></b></n><c><e>2</e></c></a>",
    )
    tree = tree_of(query)
    number = len(tree.patterns)
    shares, tests = (0.5, 0.7, 0.4, 0.6)[:number], (0.0, 10.0, 90.0, 5.0)[:number]
    alone = frozenset[int | None]([None] if returned else [])
    model = StackModel(tree, counts_of(query, *documents), COSTS, shares, tests, alone)

    for inside in all_places(tree):
        for pattern in inside:
            cut = model.cost_cut(inside, pattern).total

            assert cut == pytest.approx(model.cost(pull_out(tree, inside, pattern)).total - model.cost(inside).total)
            assert model.least_cut(inside, pattern) <= cut + 1e-9


def test_the_searches_run_on_the_papers_model() -> None:
    tree = tree_of("/a[b][c][d/e]")
    counts = counts_of("/a[b][c][d/e]", "<a><b/><c/><d><e/></d></a>", "<a><b/><n/><n/></a>")
    model = StackModel(tree, counts, COSTS, (0.9, 0.1, 0.5), (0.0, 0.0, 500.0))

    best, greedy, pruned = (find(model, all_in(tree)) for find in (min_exhaust, greedy_basic, fast_prune))

    assert best.best.total <= greedy.best.total < model.cost(all_in(tree)).total
    assert best.best.total == min(model.cost(inside).total for inside in all_places(tree))
    assert best.best.survivors == prod((0.9, 0.1, 0.5)[each] for each in best.best.plan.inside)
    assert pruned.best == greedy.best


def test_unit_costs_are_of_this_machine() -> None:
    costs = stack_costs()

    assert min(costs.empty, costs.backtrack, costs.visit, costs.compose) > 0
    assert costs.non_empty > costs.empty  # states on top are looked up
