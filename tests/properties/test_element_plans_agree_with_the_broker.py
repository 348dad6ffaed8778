"""Random queries over random elements: every plan, and every way from plan to plan, gives the answers of a broker."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flwr_strategies import World, worlds
from flwr_strategies import queries as flwr_queries
from optimizer_plans import all_passes, all_places, all_plans, broker_answers
from profiles import examples
from strategies import absolute_paths, documents, namespaced_documents
from weft import Document, Dtd
from weft.optimizer import ElementMatcher, ElementPlan
from weft.optimizer.pattern_tree import PatternTree

pytestmark = pytest.mark.filterwarnings("ignore::weft.QueryWarning")
#: XPath that begins with its element, so that there are patterns.
xpaths = absolute_paths().map(lambda query: "/" + query.weft.lstrip("./"))
CONJUNCTIONS = (
    *(
        "/a[b][c]",
        "/a[b/c][.//a = '1']",
        "/a[b[c][@x]][@y]",
        "/a[.//b//c]",
        "/a/b[a]/c",
        "/a[b = 1][c = 'foo'][@x > 0]",
    ),
    *("/a[contains(b, 'fo')][.//@x]", "/a[b/text() = '1']//c", "/*[a[b]][.//c[@x = '1']]", "/a[.//text()][b]"),
)


def elements_of(sources: list[Any]) -> list[Document]:
    return [Document(source, str(number)) for number, source in enumerate(sources)]


def answers_of(matcher: ElementMatcher, elements: list[Document]) -> list[tuple[str, tuple[str, ...]]]:
    return [(answer.element, answer.nodes) for answer in matcher.answers(elements)]


@st.composite
def plans_of(draw: st.DrawFn, tree: PatternTree, dtd: Dtd | None) -> ElementPlan:
    """Any places, any order with parents first, any first pass that they allow."""
    inside = draw(st.sampled_from(list(all_places(tree)))) if len(tree.required) < 8 else frozenset[int]()
    left, order = [each for each in tree.required if each not in inside], list[int]()
    while left:
        ready = [each for each in left if not set(tree.ancestors(each)) & set(left)]
        order.append(draw(st.sampled_from(ready)))
        left.remove(order[-1])
    return ElementPlan(tree, inside, tuple(order), draw(st.sampled_from(all_passes(tree, inside, dtd))))


@examples(400)
@given(st.sampled_from(CONJUNCTIONS) | xpaths, st.lists(documents(size=20), min_size=1, max_size=8), st.data())
def test_a_plan_swapped_at_every_batch_changes_no_answer(query: str, sources: list[bytes], data: st.DataObject) -> None:
    elements, matcher = elements_of(sources), ElementMatcher(query, optimizer="fixed")
    expected = broker_answers(query, elements)

    found, at = [], 0
    while at < len(elements):
        size = data.draw(st.integers(1, 3))
        matcher.plan = data.draw(plans_of(matcher.tree, None))
        found += answers_of(matcher, elements[at : at + size])
        at += size

    assert found == expected
    assert matcher.matches(elements) == [element for element, _ in expected]


@examples(100)
@given(flwr_queries(), worlds(least=1, most=4), st.data())
def test_messages_are_the_same_by_every_plan(query: str, world: World, data: st.DataObject) -> None:
    elements = elements_of(list(world.documents))
    matcher = ElementMatcher(query, optimizer="fixed", dtd=world.dtd)
    matcher.plan = data.draw(plans_of(matcher.tree, world.dtd))

    assert answers_of(matcher, elements) == broker_answers(query, elements)


@examples(60)
@given(st.sampled_from(CONJUNCTIONS), st.lists(documents(size=20), min_size=1, max_size=6))
def test_every_plan_of_a_small_query_gives_the_same_answers(query: str, sources: list[bytes]) -> None:
    elements, matcher = elements_of(sources), ElementMatcher(query, optimizer="fixed")
    expected = broker_answers(query, elements)

    for plan in all_plans(matcher.tree):
        matcher.plan = plan
        assert answers_of(matcher, elements) == expected, plan


@examples(60)
@given(st.sampled_from(("/*:a[*:b]", "/*[*:a][.//*:b]", "/a[*]")), st.lists(namespaced_documents(), max_size=4))
def test_fragments_carry_their_namespaces(query: str, sources: list[bytes]) -> None:
    elements, matcher = elements_of(sources), ElementMatcher(query)

    assert answers_of(matcher, elements) == broker_answers(query, elements)


@examples(60)
@given(
    st.sampled_from(("greedy", "fast-prune", "min-exhaust")),
    st.sampled_from(CONJUNCTIONS),
    st.lists(documents(size=20), min_size=1, max_size=12),
)
def test_an_optimizer_changes_plans_and_no_answer(optimizer: Any, query: str, sources: list[bytes]) -> None:
    elements, matcher = elements_of(sources), ElementMatcher(query, optimizer=optimizer)

    found = [answer for element in elements for answer in answers_of(matcher, [element])]

    assert found == broker_answers(query, elements)
