"""What a query may cost: its size, nesting and steps, and the time to read it."""

from pathlib import Path
from time import thread_time

import pytest

import weft
from weft.languages import parse
from weft.plans.plan import Among
from weft.plans.walk import walk

LONG = 64 * 1024


def repeated(head: str, unit: str, tail: str, between: str = "", most: int = 9_000) -> str:
    """As many units as a query may have; `#` in one is its number."""
    units: list[str] = []
    room = LONG - len(head) - len(tail)
    while room > 0 and len(units) < most:
        units.append(unit.replace("#", str(len(units))))
        room -= len(units[-1]) + len(between)
    return head + between.join(units[:-1]) + tail


def nested(before: str, inner: str, after: str, times: int) -> str:
    return before * times + inner + after * times


LONG_QUERIES = {
    "a long path": repeated("", "//a", ""),
    "many alternatives": repeated("//a[", "b#='x'", "]", " or "),
    "many conditions": repeated("//a[", "b#", "]", " and "),
    "many conditions, negated": repeated("//a[not(", "b#", ")]", " and "),
    "many paths": repeated("", "//a#", "", " | "),
    "many exceptions": repeated("//a except ", "a#", "", " except "),
    "many predicates": repeated("//a", "[b#]", ""),
    "many steps that stay": repeated("//a", "/self::a", ""),
    "many guards": repeated("//a[contains(.", "[b]", "/c,'x')]"),
    "many counts": repeated("//a[", "count(b#)=0", "]", " or "),
    "many regular expressions": repeated("//a[", "matches(b,'x#')", "]", " or "),
    "many positions": "//a[" + " or ".join(f"b{n}" for n in range(4_000)) + "]"
    "[" + " or ".join(f"position()={n}" for n in range(40)) + "]",
    "positions behind positions": "//a[" + " or ".join(f"b{n}" for n in range(4_000)) + "]" + "[position()=1 or c]" * 5,
    "nested negations": "//a[" + nested("not(", "b or c and d", ")", 45) + "]",
    "nested counts": "//a[" + nested("count(b[", "b", "])=0", 24) + "]",
    "nested counts of the node": "//a[" + nested("count(.[", "b", "])>=0", 24) + "]",
    "nested functions": "//a[" + nested("contains(b[", "b", "],'')", 24) + "]",
    "nested expressions that match nothing": "//a[" + nested("matches(b[", "b", "],'^a*$')", 24) + "]",
    "nested expressions on the node": "//a[" + nested("matches(.[", "b", "],'^a*$')", 24) + "]",
    "many hopeless conditions": repeated("//a[", "count(b#)<0", "]", " or "),
    "many attributes": repeated("<r>{for $a in //a return <x ", " a#='{$a/@b}'", "/>}</r>"),
    "many variables": repeated("<r>{for $v in //a", ", $v# in $v/b", " return $v1}</r>"),
    "many names": repeated("<r>{for $v in //a ", " let $l# := $v/a", " return $l1}</r>"),
    "many copies": repeated("<r>{for $a in //a return <x>", "{$a}", "</x>}</r>"),
    "many conditions on variables": repeated(
        "<r>{for $a in //a, $b in $a//a where ", "($a/b#='x' or $b='y')", " return $a}</r>", " and "
    ),
    "many blocks": "S//a->u0" + "".join(f" FOLLOWED BY{{u{n}=u{n + 1}, 1 day}} S//a->u{n + 1}" for n in range(49)),
    "many joined paths": "S//a->u JOIN{" + " AND ".join(f"u/b{n}=w" for n in range(3_000)) + ", 1 day} S//b->w",
    "many bound predicates": repeated("S//a->u", "[b->v#]", " JOIN{u=w, 1 day} S//b->w", most=3_000),
}


@pytest.mark.timed
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::weft.QueryWarning")
@pytest.mark.parametrize("name", LONG_QUERIES)
def test_a_query_within_the_limits_is_subscribed_and_answered_quickly(name: str) -> None:
    broker = weft.Broker()
    assert len(LONG_QUERIES[name].encode()) <= LONG
    start = thread_time()

    broker.subscribe(LONG_QUERIES[name])

    assert thread_time() - start < 1.0
    assert len(broker.matches("<a><b>x</b><a><c/></a></a>")) == 1


@pytest.mark.parametrize(
    "query",
    [
        "//a[" + nested("(", "b", ")", 60) + "]",
        "//a" + nested("[b", "", "]", 60),
        "//a[" + "b[x]/" * 60 + "b]",
        "a" + " except a intersect a" * 60,
        "//a" + "/self::a/b" * 60,
        "<r>{for $v0 in //a" + "".join(f", $v{n + 1} in $v{n}//a" for n in range(60)) + " return $v1}</r>",
        "<r>{for $a in //a return " + nested("<x>", "{$a}", "</x>", 60) + "}</r>",
        "S//a" + "".join(f"/b->v{n}" for n in range(60)) + " JOIN{v1=w, 1 day} S//b->w",
        "S//a->u" + nested("[b", "->x", "]", 60) + " JOIN{u=w, 1 day} S//b->w",
    ],
)
def test_a_query_that_is_nested_too_deep_is_refused_in_every_language(query: str) -> None:
    with pytest.raises(weft.UnsupportedError, match="nesting deeper than 50"):
        parse(query)


@pytest.mark.parametrize("query", ["//a[1][1][1][1][1][1]", "//a" + "[position() = 1 or b]" * 6])
def test_positions_behind_many_positions_are_worked_out_for_each_document(query: str) -> None:
    plan = parse(query)

    assert any(isinstance(part, Among) for part in walk(plan))


def test_all_limits_on_queries_can_be_set_and_are_told_with_what_was_found() -> None:
    limits = weft.Limits(max_query_bytes=40, max_query_nesting=2, max_query_states=5)
    broker = weft.Broker(limits)
    broker.subscribe("/a[b[c]]")

    for query, told in (
        ("/" + "é" * 20, "a query of 41 bytes, more than 40"),
        ("x" * 1_000, "a query of 1000 bytes, more than 40"),
        ("/a[b[c[d]]]", "nesting deeper than 2"),
        ("/a/a/a[b/b/b]", "6 steps in the paths of a query, more than 5"),
    ):
        with pytest.raises(weft.QueryError, match=told):
            broker.subscribe(query)
    assert len(broker) == 1


@pytest.mark.parametrize(
    "query",
    [
        "<r>{for $a in /a/b/c return ($a/d/e/f, $a/g)}</r>",
        "S/a/b/c->x JOIN{x = y, 1 day} S/a/b/c->y",
    ],
)
def test_steps_are_counted_in_every_language(query: str) -> None:
    limits = weft.Limits(max_query_states=5)

    with pytest.raises(weft.QueryError, match=r"[67] steps in the paths of a query, more than 5"):
        parse(query, limits=limits)


def test_the_regular_expressions_of_a_query_have_a_budget_together() -> None:
    one = r"matches(., '\w{0,50}a')"
    parse(f"//a[{one}]")

    with pytest.raises(weft.UnsupportedError, match="so much in regular expressions"):
        parse("//a[" + " or ".join([one] * 5) + "]")


def test_larger_limits_hold_for_as_long_as_the_subscription_does() -> None:
    limits = weft.Limits(max_query_nesting=70)
    broker = weft.Broker(limits)
    query = "//a" + nested("[b", "", "]", 60)
    broker.subscribe(query, id="deep")

    broker._matcher.sweep()

    assert broker.matches("<a/>") == [[]]
    assert "deep" in broker


def test_whatever_else_goes_wrong_with_a_query_is_told_as_its_own_fault() -> None:
    limits = weft.Limits(max_query_nesting=100_000)

    with pytest.raises(weft.QueryError, match="a query that cannot be read: RecursionError"):
        parse("//a[" + nested("(", "b", ")", 20_000) + "]", limits=limits)


LANGUAGES = ["/a[{}]", "S/a[{}]->x JOIN{{x = y, 1 day}} S/b->y", "<r>{{ for $x in /a[{}] return $x }}</r>"]


@pytest.mark.parametrize("query", LANGUAGES)
def test_positions_in_positions_are_refused_before_they_double_without_end(query: str) -> None:
    nested = "b"
    for _ in range(24):
        nested = f"*[{nested}][last()]"

    with pytest.raises(weft.QueryError, match="positions behind predicates with positions"):
        weft.Broker().subscribe(query.format(nested))


@pytest.mark.timed
def test_positions_in_positions_within_the_limit_are_subscribed_explained_and_saved_quickly(tmp_path: Path) -> None:
    nested, broker = "b", weft.Broker()
    for _ in range(10):
        nested = f"*[{nested}][last()]"
    start = thread_time()

    broker.subscribe(f"S/a[{nested}]->x JOIN{{x = y, 1 day}} S/b->y", id="joined")
    broker.subscribe(f"/a[{nested}]", id="selected")
    broker.checkpoint(tmp_path / "joins")

    assert len(broker.explain("joined")) + len(broker.explain("selected")) < 1_000_000
    assert thread_time() - start < 2
