"""Streams made to hurt: what is remembered stays within its bounds, answers stay right, and nothing takes long."""

import gc
import sys
import time
from array import array
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice, product
from multiprocessing import get_context
from random import Random
from types import FunctionType, ModuleType

import numpy as np
import psutil
import pytest

from oracle import Oracle, assert_same, lxml_answer, table_of, weft_answer
from weft import Bounds, Broker
from weft.engine import Engine
from weft.languages.xpath import parse

pytestmark = pytest.mark.slow

QUERIES = dict(
    enumerate(
        [
            "//a//b",
            "//a[@x = 2]/c",
            "//*[b]/a",
            "//a[.//c = 1]//b",
            "//@*",
            "//a//a[@x]//@x",
            "//c[1]/text()",
            "//a[count(b) > 1]",
            "/*/*/*[not(a)]",
            "//a[.//b[c or @x]]//c[last()]",
            "//b//text()",
            "//*[contains(., '11')]",
        ]
    )
)


def strange_documents(rng: Random) -> Iterator[bytes]:
    """Without an end: every third name has never been seen before, nor have most label paths."""

    def element(depth: int) -> str:
        name = rng.choice("aabc") if rng.random() < 0.65 else f"n{rng.getrandbits(48):x}"
        attributes = f' k{rng.getrandbits(48):x}="1" x="{rng.randint(1, 3)}"' if rng.random() < 0.4 else ""
        content = "".join(element(depth + 1) for _ in range(rng.randint(0, 3))) if depth < 6 else "1"
        return f"<{name}{attributes}>{content}</{name}>"

    while True:
        yield f"<a>{element(1)}1{element(1)}</a>".encode()


def usual_documents(rng: Random) -> Iterator[bytes]:
    """Without an end: few label paths, which come again and again."""
    while True:
        kinds = rng.choices(("<a x='2'><c>1</c><b>1</b></a>", "<b><c/>11</b>", "<c>1</c>"), k=4)
        yield f"<a>{''.join(kinds)}</a>".encode()


def engine_for(queries: dict[int, str], bounds: Bounds | None = None) -> Engine:
    engine = Engine(bounds)
    for number, query in queries.items():
        engine.add(number, parse(query))
    return engine


def resident() -> float:
    """Megabytes of memory that this process has."""
    gc.collect()
    held: int = psutil.Process().memory_info().rss
    return held / 2**20


# -- label paths that do not converge


@pytest.mark.parametrize("memory", [4 << 20, 400_000, 100_000, 0])
def test_label_paths_stay_within_their_bound_and_answers_right(memory: int) -> None:
    engine = engine_for(QUERIES, Bounds(memory))
    strange, usual = strange_documents(Random(1)), usual_documents(Random(2))
    plans, most = engine.large.plans, 0

    for _ in range(40):
        batch = [*islice(strange, 10), *islice(usual, 10)]
        found = weft_answer(engine, table_of(batch))

        assert_same(found, lxml_answer(map(Oracle, batch), QUERIES), QUERIES, batch)
        plans.begin_batch()
        most = max(most, plans.paths.memory)

    assert most <= max(memory, 50_000)  # what is empty takes that


def test_memory_does_not_grow_with_what_has_never_been_seen_before() -> None:
    engine = engine_for(QUERIES, Bounds(4 << 20))
    strange = strange_documents(Random(3))

    def publish(documents: int) -> None:
        for _ in range(documents // 50):
            engine.match(table_of(islice(strange, 50))).nodes()

    publish(1_000)
    before = resident()
    publish(2_000)

    assert resident() - before < 20  # without the bounds it is several times that


def test_what_is_counted_is_what_the_process_takes() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:  # this one may have room left to use again
        grown, counted = fresh.submit(growth).result()

    assert counted > 10
    assert 0.5 < grown / counted < 2


def growth() -> tuple[float, float]:
    """By how many megabytes a process grows with what has never been seen before, and what is counted."""
    engine = engine_for(QUERIES | {100 + at: f"//*[@x = {at}]//n{at}/*//b" for at in range(500)})
    strange = strange_documents(Random(4))

    def publish(documents: int) -> tuple[float, float]:
        for _ in range(documents // 50):
            engine.match(table_of(islice(strange, 50)), whether=True).subscriptions()
        return resident(), engine.memory / 2**20

    first, more = publish(300), publish(3_000)
    return more[0] - first[0], more[1] - first[1]


# -- deep recursion

DEPTH = 900


def nested(depth: int) -> bytes:
    """Elements `a` in each other; a third has an attribute, a fifth a text, a seventh another child."""
    tags = [
        "<a" + (f' x="{at % 4}"' if at % 3 == 0 else "") + ">" + ("1" if at % 5 == 0 else "") + "<b/>" * (at % 7 == 0)
        for at in range(depth)
    ]
    return "".join([*tags, "</a>" * depth]).encode()


def assert_quick_and_right(queries: dict[int, str], document: bytes, seconds: float, every: int = 1) -> None:
    """All answers come quickly; lxml, which takes longer, checks every so-many-th of them."""
    engine, table = engine_for(queries), table_of([document])

    began = time.process_time()
    found = weft_answer(engine, table)
    took = time.process_time() - began

    checked = {number: query for number, query in queries.items() if number % every == 0}
    expected = lxml_answer([Oracle(document)], checked)
    assert expected.size
    assert_same(found[np.isin(found[:, 1], list(checked))], expected, checked, [document])
    assert took < seconds


@pytest.mark.timed
@pytest.mark.parametrize(
    "query",
    [
        "//a//a//a//a",
        "//a//a//a//a[@x = 1]",
        "//a[@x = 1]//a[@x = 2]//a[b]//a[text() = 1]",
        "//a[.//a[@x = 3]/a[b]]//a[not(@x)]",
        "//a[a//a[text()]]//a[.//b]//a[position() = 1]//a[@x]",
        "//a[not(.//a[@x = 0])]//a",
        "//a[contains(@x, '2')]//a//@x",
        "//a[.//a[.//a[.//a[@x = 2]]]]//b",
    ],
)
def test_deep_recursion_stays_cheap(query: str) -> None:
    document = nested(DEPTH)

    assert_quick_and_right({0: query}, document, seconds=10)


@pytest.mark.timed
def test_counts_and_first_nodes_over_deep_recursion_stay_cheap() -> None:
    document = nested(300)  # lxml is slow here

    queries = {0: "//a[count(.//a) > 100]//a[count(a) = 1]", 1: "//a[contains(.//b, '1')]//a", 2: "//a[.//a[2]]"}
    queries[3] = "//a[starts-with(., '1')]//a[count(.//a[@x]//b) >= 3]"

    assert_quick_and_right(queries, document, seconds=10)


@pytest.mark.timed
def test_many_different_queries_over_deep_recursion_stay_cheap() -> None:
    tests = ["@x = 0", "@x = 1", "@x > 1", "b", "not(b)", "text()", "text() = 1", "a/b", "a[@x]", "not(@x)"]
    pairs = list(product(tests, tests))
    queries = [f"//a[{one}]//a[{two}]" for one, two in pairs]
    queries += [f"//a[{one}]//a[{two}]//b" for one, two in pairs]
    queries += [f"//a[{one}][.//a[{two}]]/a" for one, two in pairs]

    assert_quick_and_right(dict(enumerate(queries)), nested(DEPTH), seconds=30, every=4)


# -- subscriptions that come and go


def reachable_bytes(thing: object) -> int:
    """The memory of all that a thing holds, whatever its parts are called."""
    seen, total, ahead = {id(thing)}, 0, [thing]
    while ahead:
        entry = ahead.pop()
        total += sys.getsizeof(entry)
        for held in gc.get_referents(entry):
            if id(held) not in seen and not isinstance(held, type | ModuleType | FunctionType):
                seen.add(id(held))
                ahead.append(held)
    return total


def test_the_measure_sees_what_a_thing_holds() -> None:
    small, large = {"a": [array("i", [1])]}, {"a": [array("i", range(10_000)), np.zeros(10_000)]}

    assert reachable_bytes(large) - reachable_bytes(small) > 100_000


def test_a_broker_does_not_grow_while_subscriptions_come_and_go() -> None:
    broker, sizes = Broker(), []
    for number in range(100):
        broker.subscribe(f"/a/b[@x = {number}]", id=f"stays {number}")
    document = "<a><b x='7' y='3'><c>text 12</c></b></a>"

    for number in range(50_000):
        query = ("/a/b[@y = {0}]", "//b[c = 'text {0}']", "/a/n{0}//c", "//b[n{0}]/c[2]", "//b/@x{0}")[number % 5]
        broker.subscribe(query.format(number), id=str(number))
        if number >= 50:
            broker.unsubscribe(str(number - 50))
        if number % 500 == 0:
            assert broker.matches(document) == [["stays 7"]]
        if number % 5_000 == 4_999:
            sizes.append(reachable_bytes(broker))

    assert len(broker) == 150
    assert max(sizes[5:]) < 1.5 * max(sizes[:5])
    assert [message.subscription for message in broker.publish(document)] == ["stays 7"]
