"""Random XPath over all that is worked out node by node: Weft finds the nodes that lxml finds."""

from __future__ import annotations

import warnings
from itertools import islice, permutations
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from formula_grammar import FormulaGrammar, random_document
from oracle import Oracle, assert_same, lxml_answer, table_of, weft_answer
from profiles import examples
from weft.engine import Engine
from weft.engine.evaluation import batch
from weft.errors import UnsupportedError
from weft.headers.asked import asked
from weft.headers.configuration import Configuration, View
from weft.headers.expressions import pattern_of
from weft.headers.matcher import HeaderMatcher
from weft.headers.producer import attach
from weft.languages import parse
from weft.languages.xpath import parse as parse_xpath
from weft.languages.xpath.formula_parser import DOCUMENT_ALONE, NOWHERE_AT_ALL
from weft.plans.containment import contains
from weft.plans.plan import Among, Derived, Selection
from weft.plans.walk import walk
from weft.plans.write import write_xpath

DOCUMENTS, QUERIES = 10, 30
SEEDS = st.integers(0, 2**32)

pytestmark = pytest.mark.filterwarnings("ignore::weft.QueryWarning")


def drawn(seed: int) -> tuple[list[bytes], dict[int, str]]:
    random, grammar = Random(seed), FormulaGrammar(seed)
    queries = (query for query in iter(grammar.query, None) if is_taken(query))
    return [random_document(random) for _ in range(DOCUMENTS)], dict(enumerate(islice(queries, QUERIES)))


def is_taken(query: str) -> bool:
    """Whether a query can have nodes at all; those that plainly have none, or the document alone, are refused."""
    try:
        parse_xpath(query)
    except UnsupportedError as error:
        if error.feature not in (NOWHERE_AT_ALL, DOCUMENT_ALONE):
            raise
        return False
    return True


def written_plan(plan: Selection) -> str | None:
    """A plan as XPath; nothing for positions that stand behind what is asked of nodes above."""
    try:
        return write_xpath(plan)[0]
    except ValueError:
        return None


def engine_for(plans: dict[int, Selection]) -> Engine:
    engine = Engine()
    for number, plan in plans.items():
        engine.add(number, plan)
    return engine


@pytest.mark.slow
@examples(40)
@given(SEEDS)
def test_formulas_find_what_lxml_finds(seed: int) -> None:
    documents, queries = drawn(seed)
    engine = engine_for({number: parse_xpath(query) for number, query in queries.items()})

    found = weft_answer(engine, table_of(documents))

    assert_same(found, lxml_answer(map(Oracle, documents), queries), queries, documents)


@pytest.mark.slow
@examples(8)
@given(SEEDS)
def test_one_document_at_a_time_and_subscriptions_that_matched_are_the_same(seed: int) -> None:
    documents, queries = drawn(seed)
    engine = engine_for({number: parse_xpath(query) for number, query in queries.items()})
    expected = lxml_answer(map(Oracle, documents), queries)

    for at, document in enumerate(documents):
        (matched,) = engine.match(table_of([document]), whether=True).subscriptions()

        assert sorted(matched.tolist()) == sorted({int(row[1]) for row in expected if row[0] == at})


@pytest.mark.slow
@examples(8)
@given(SEEDS)
def test_the_thorough_evaluation_finds_the_same(seed: int) -> None:
    documents, queries = drawn(seed)
    engine = engine_for({number: parse_xpath(query) for number, query in queries.items()})
    expected = lxml_answer(map(Oracle, documents), queries)

    with patch.object(batch, "_FEW_STEPS", 0), patch.object(batch, "_STEPS_A_NODE", 0):
        found = weft_answer(engine, table_of(documents))

    assert_same(found, expected, queries, documents)


@pytest.mark.slow
@examples(12)
@given(SEEDS)
def test_what_is_written_of_a_plan_finds_the_same(seed: int) -> None:
    documents, queries = drawn(seed)
    plans = {number: parse_xpath(query) for number, query in queries.items()}
    written = {number: text for number, plan in plans.items() if (text := written_plan(plan)) is not None}
    plans = {number: plans[number] for number in written}

    again = engine_for({number: parse_xpath(query) for number, query in written.items()})

    table = table_of(documents)
    assert_same(weft_answer(again, table), weft_answer(engine_for(plans), table), written, documents)


@pytest.mark.slow
def test_most_of_what_is_drawn_is_worked_out() -> None:
    _, queries = drawn(1)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plans = [parse(query) for query in queries.values()]

    assert sum(any(isinstance(part, Derived | Among) for part in walk(plan)) for plan in plans) > QUERIES // 2


@pytest.mark.slow
@examples(8)
@given(SEEDS)
def test_headers_tell_nothing_that_parsing_does_not(seed: int) -> None:
    documents, queries = drawn(seed)
    plans = {number: parse_xpath(query) for number, query in queries.items()}
    wanted = list(dict.fromkeys(each for plan in plans.values() for each in asked(plan)))[:12]
    configuration = Configuration("drawn", 1, tuple(View(f"v{at}", pattern_of(way)) for at, way in enumerate(wanted)))
    expected = lxml_answer(map(Oracle, documents), queries)

    for at, document in enumerate(attach(documents, configuration)):
        for number, plan in plans.items():
            matcher = HeaderMatcher(configuration)
            matcher.add(number, plan)
            is_match = bool(((expected[:, 0] == at) & (expected[:, 1] == number)).any())

            assert matcher.answer(document) in (None, [number] if is_match else []), queries[number]


@pytest.mark.slow
@examples(20)
@given(SEEDS)
def test_what_contains_another_has_all_that_it_has(seed: int) -> None:
    random, grammar = Random(seed), FormulaGrammar(seed)
    first, second = grammar.condition(2), grammar.condition(2)
    forms = (f"//a[{first}]", f"//a[{first}][{second}]", f"//*[{first}]", f"//a[({first}) or ({second})]")
    queries = dict(enumerate(form for form in forms if is_taken(form)))
    plans = {number: parse_xpath(query) for number, query in queries.items()}
    found = weft_answer(engine_for(plans), table_of([random_document(random) for _ in range(DOCUMENTS)])).tolist()

    for wide, narrow in permutations(plans, 2):
        if contains(plans[wide], plans[narrow]):
            has = {(row[0], row[2]) for row in found if row[1] == wide}

            assert {(row[0], row[2]) for row in found if row[1] == narrow} <= has, (queries[wide], queries[narrow])
