"""A server's queries and configurations: what it answers by headers, and how that follows what comes and goes."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from random import Random
from time import process_time
from typing import Any

import pytest

from fuzz.grammar import document as fuzzed
from fuzz.grammar import xpath
from profiles import rounds
from weft.documents.build import read
from weft.documents.document import Document
from weft.engine import Engine
from weft.errors import ConfigurationError, WeftError
from weft.headers import driving as driving_module
from weft.headers import matcher as matcher_module
from weft.headers import served as served_module
from weft.headers.conditions import AllOf, LookUp
from weft.headers.configuration import Configuration, configure
from weft.headers.evaluate import ConditionTable
from weft.headers.header import decode
from weft.headers.looked_up import LookedUp
from weft.headers.matcher import HeaderMatcher
from weft.headers.producer import attach, bytes_of
from weft.headers.selection.feedback import Feedback
from weft.languages import Plan, parse
from weft.plans.plan import Pattern, Value
from weft.plans.xscl import Xscl


def matcher_of(configuration: Any, *queries: str) -> HeaderMatcher:
    matcher = HeaderMatcher(configuration)
    for number, query in enumerate(queries):
        matcher.add(number, parse(query))
    return matcher


def made(data: bytes | str, *views: str) -> Document:
    return attach(data, configure("v", views))[0]


@pytest.mark.parametrize("form", [lambda data: decode(data).to_text(), bytearray, memoryview])
def test_a_header_in_another_form_is_read_too(form: Any) -> None:
    document = made(b"<a><b>1</b></a>", "/a/b")
    assert document.header is not None

    found = matcher_of(configure("v", ["/a/b"]), "/a[b = 1]").answer(replace(document, header=form(document.header)))

    assert found == [0]


@pytest.mark.parametrize("header", [5, object(), "not base64 é", "", b"", b"WV", ["x"]])
def test_what_is_no_header_is_a_miss(header: Any) -> None:
    matcher = matcher_of(configure("v", ["/a/b"]), "/a[b = 1]")

    found = matcher.answer(Document(b"<a><b>1</b></a>", header=header))

    assert found is None
    assert matcher.counts == {"a damaged header": 1}


# -- queries that come and go


def test_conditions_of_queries_that_went_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matcher_module, "_SWEEP", 50)
    matcher = matcher_of(configure("v", ["/a/b"]), "/a[b = 1]")

    for number in range(1, 1_000):
        matcher.add(number, parse(f"/a[b = 'x{number}']"))
        matcher.remove(number)

    assert len(matcher._served["v/1"]._table) < 100
    assert matcher.answer(made(b"<a><b>1</b></a>", "/a/b")) == [0]


@pytest.mark.timed
@pytest.mark.slow
def test_queries_with_the_same_constant_go_as_fast_as_others() -> None:
    matcher = matcher_of(configure("v", ["/a/b", "/a/c"]), *(f"/a[b = 'x' and c = {at}]" for at in range(10_000)))
    start = process_time()

    for number in range(9_999):
        matcher.remove(number)

    assert process_time() - start < 2
    assert matcher.answer(made(b"<a><b>x</b><c>9999</c></a>", "/a/b", "/a/c")) == [9_999]


# -- configurations that come


def test_other_views_under_the_same_tag_are_refused() -> None:
    matcher = matcher_of(configure("v", ["/a/b"]), "/a[b = 1]")

    matcher.configure(configure("v", ["/a/b"]))
    with pytest.raises(ConfigurationError, match="configuration v/1: expected the views and the documents"):
        matcher.configure(configure("v", ["/a/c"]))

    assert matcher.answer(made(b"<a><b>1</b><c>2</c></a>", "/a/b")) == [0]


# -- what is reported


OTHERS = {
    "in another order": configure("v", ["/a/c", "/a/b"]),
    "others": configure("v", ["/a/b", "/a/d"]),
    "of another namespace": configure("v", ["/a/b", "/p:a/p:c"], namespaces={"p": "urn:p"}),
    "for one root": configure("v", ["/a/b", "/a/c"], root="a"),
    "for a stream": configure("v", ["/a/b", "/a/c"], stream="s"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_headers_of_other_views_under_the_same_tag_are_not_trusted(other: Configuration) -> None:
    """As where a file of views was changed at the producer alone, under its old version."""
    document, own = (
        attach(Document(b"<a><b>1</b><c>2</c></a>", stream="s"), configuration)[0]
        for configuration in (other, configure("v", ["/a/b", "/a/c"]))
    )
    matcher = HeaderMatcher(configure("v", ["/a/b", "/a/c"]))
    for number, query in enumerate(["/a[b = 1]", "/a[c = 1]"]):
        matcher.add(number, parse(query))

    assert [matcher.answer(each) for each in (document, own, document, own)] == [None, [0], None, [0]]
    assert matcher.counts == {"hit": 2, "a header of another document or of other views": 2}


def test_the_same_views_under_other_prefixes_are_the_same() -> None:
    one, two = (configure("v", [f"/{each}:a/{each}:b"], namespaces={each: "urn:p"}) for each in ("p", "q"))

    assert one.seed == two.seed


def test_reports_use_the_prefixes_of_the_configuration() -> None:
    """Whoever chose the views knows expressions by these; a server that made up its own might mean others by them."""
    namespaces = {"n1": "urn:one", "n2": "urn:two"}
    configuration = configure("v", ["/n1:a/n1:b", "/n2:a/n2:b"], namespaces=namespaces)
    matcher, feedback = HeaderMatcher(configuration), Feedback()
    matcher.add(0, parse("/x:a[x:b = 1]", None, {"x": "urn:two"}))
    matcher.add(1, parse("/x:a[x:b = 1]", None, {"x": "urn:three"}))
    matcher.answer(attach(b"<a xmlns='urn:two'><b>1</b></a>", configuration)[0])

    matcher.report(feedback, "desk", 0.0)

    assert feedback.times_asked("/n2:a/n2:b", 0.0) == 1
    assert feedback.times_asked("/n1:a/n1:b", 0.0) == 0
    assert feedback.times_asked("/n3:a/n3:b", 0.0) == 1


# -- answers while everything changes

VIEWS = ["/a/b", "/a/@x", "/a/c[1]", "/a/c[2]", "/a/d"]
DATA = [
    b"<a x='1'><b>1</b><c>2</c><d><e>3</e></d></a>",
    b"<a x='2'><b>1</b><b>2</b></a>",
    b"<a><c>1</c><c>2</c><c>3</c></a>",
    b"<z/>",
    b"<a x='1'><b>2</b></a>",
]
QUERIES = [
    "/a[b = 1]",
    "/a[b = 2 and @x = 1]",
    "/a[c = 2]",
    "/a[d/e = 3]",
    "/a[not(b)]",
    "/a/b | /z",
    "/a[@x > 1]",
    "/a[contains(b, '1')]",
    "<r>{ for $v in /a where $v/b = 1 return <i/> }</r>",
    "/a[b != 1]",
    "/a[matches(b, '^[12]$')]",
    "/a[b = 'no' or @x = 1]",
]


def right(document: Document, plans: dict[int, Plan]) -> list[int]:
    engine = Engine()
    for number, plan in plans.items():
        assert not isinstance(plan, Xscl)
        engine.add(number, plan)
    found: list[int] = sorted(engine.match(read([document])).subscriptions()[0].tolist())
    return found


@pytest.mark.slow
def test_queries_and_configurations_change_while_documents_flow() -> None:
    chance = Random(1)
    configurations = [configure("v", VIEWS[: 2 + number], version=number + 1) for number in range(4)]
    documents = [document for configuration in configurations for document in attach(DATA, configuration)]
    matcher, plans = HeaderMatcher(configurations[:1]), dict[int, Plan]()
    known = 0

    for step in range(rounds(3_000)):
        if chance.random() < 0.1:
            plans[step] = parse(chance.choice(QUERIES))
            matcher.add(step, plans[step])
        if plans and chance.random() < 0.1:
            gone = chance.choice(list(plans))
            del plans[gone]
            matcher.remove(gone)
        if step % rounds(200) == 0:
            matcher.configure(configurations[step // rounds(200) % 4])
        document = chance.choice(documents)
        found = matcher.answer(document)
        known += found is not None
        assert found is None or found == right(document, plans)

    assert known > 100 * rounds(3_000) // 3_000
    assert sum(matcher.counts.values()) == rounds(3_000)


def test_headers_of_old_versions_stay_readable() -> None:
    old, new = configure("v", ["/a/b"]), configure("v", ["/a/@x"], version=2)
    matcher = matcher_of(old, "/a[b = 1]")
    matcher.configure(new)

    assert [each.tag for each in matcher.configurations] == ["v/1", "v/2"]
    assert matcher.answer(attach(DATA[0], old)[0]) == [0]
    assert matcher.answer(attach(DATA[0], new)[0]) is None


def test_a_query_that_is_not_there_is_let_go_in_peace() -> None:
    matcher = matcher_of(configure("v", VIEWS), "/a[b = 1]")

    matcher.remove(7)
    matcher.remove(0)
    matcher.remove(0)

    assert matcher.answer(made(DATA[0], *VIEWS)) == []


def test_without_queries_nothing_is_asked() -> None:
    assert HeaderMatcher(configure("v", VIEWS)).answer(made(DATA[0], *VIEWS)) == []
    assert HeaderMatcher().answer(made(DATA[0], *VIEWS)) is None


def test_counts_say_why_a_document_is_parsed() -> None:
    matcher = matcher_of(configure("v", ["/a/b"]), "/a[b = 1]")
    good = made(b"<a><b>1</b></a>", "/a/b")
    assert good.header is not None

    for document in (
        good,
        replace(good, header=None),
        replace(good, header=good.header[:-1]),
        replace(good, data=b"<a><b>2</b></a>"),
        attach(good, configure("w", ["/a/b"]))[0],
        made(b"<a><b>1</b><b>1</b></a>", "/a/b"),
        replace(good, header=decode(good.header)._replace(entries=(1,)).encode()),
    ):
        matcher.answer(document)

    assert matcher.counts == {
        "hit": 1,
        "no header": 1,
        "a damaged header": 1,
        "a header of another document or of other views": 1,
        "an unknown configuration": 1,
        "not known from the header": 1,
        "a value that could not be read": 1,
    }


def test_queries_for_another_stream_do_not_match_nor_make_anybody_parse() -> None:
    configuration = configure("v", ["/a/b"])
    matcher = HeaderMatcher(configuration)
    matcher.add(0, parse("<r>{ for $v in stream('S')/a where $v/b = 1 return <i/> }</r>"))
    matcher.add(1, parse("S//a[b->x] FOLLOWED BY{x = y, 3 documents} S//b->y"))
    one, none, other = (
        attach(Document(b"<a><b>1</b></a>", "it", stream), configuration)[0] for stream in ("S", "", "T")
    )

    assert matcher.answer(one) is None
    assert matcher.answer(none) is None
    assert matcher.answer(other) == []
    matcher.remove(1)
    assert [matcher.answer(each) for each in (one, none, other)] == [[0], [0], []]


def test_what_a_configuration_serves_is_told() -> None:
    matcher = matcher_of([configure("v", ["/a/b"]), configure("w", [])], "/a[b = 1]", "/a[b = 1 and c]", "//c", "/a")

    assert [matcher.serves(number) for number in range(4)] == [
        {"v/1": "all", "w/1": "nothing"},
        {"v/1": "some", "w/1": "nothing"},
        {"v/1": "nothing", "w/1": "nothing"},
        {"v/1": "all", "w/1": "all"},
    ]


# -- what is reported


def test_reports_say_what_was_asked_and_what_came_of_it() -> None:
    matcher, feedback = matcher_of(configure("v", ["/a/b", "/a/c"]), "/a[b = 1]", "/a[d = 1]"), Feedback()
    for data in (b"<a><b>1</b></a>", b"<a><b>1</b><b>2</b></a>", b"<a><b>3</b></a>"):
        matcher.answer(made(data, "/a/b", "/a/c"))

    matcher.report(feedback, "desk", 0.0)

    assert feedback.documents("desk", 0.0) == 3
    assert feedback.times_asked("/a/b", 0.0) == feedback.times_asked("/a/d", 0.0) == 3
    assert feedback.times_asked("/a/c", 0.0) == 0
    for _ in range(3):
        feedback.asked("/a/b", "hit", 0.0)  # so that there is enough to say a share
    assert feedback.hit_rate("/a/b", 0.0) == pytest.approx((5 + 0.5) / 7)


def test_a_report_tells_only_what_is_new() -> None:
    matcher, feedback = matcher_of(configure("v", ["/a/b"]), "/a[b = 1]"), Feedback()
    matcher.report(feedback, "desk", 0.0)
    matcher.answer(made(b"<a><b>1</b></a>", "/a/b"))

    matcher.report(feedback, "desk", 0.0)
    matcher.report(feedback, "desk", 0.0)

    assert feedback.documents("desk", 0.0) == 1


# -- what it costs


def test_the_order_in_which_conditions_are_asked_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = matcher_of(configure("v", VIEWS), *QUERIES)
    monkeypatch.setattr(served_module, "_AGAIN", 1)
    monkeypatch.setattr(driving_module, "_OFTEN", 1)
    documents = attach(DATA, configure("v", VIEWS))
    before = [usual.answer(document) for document in documents * 20]

    eager = matcher_of(configure("v", VIEWS), *QUERIES)

    assert [eager.answer(document) for document in documents * 20] == before
    assert any(found for found in before)


def test_conjunctions_are_asked_in_the_order_that_ends_soonest() -> None:
    """What is nearly always false comes first, once it was seen to be."""
    table = ConditionTable()
    often, seldom = LookUp(0, Value("!=", "x")), LookUp(1, Value("!=", "y"))
    both = table.add(AllOf((often, seldom)))
    configuration = configure("v", ["/a/b", "/a/c"])
    for at in range(50):
        (document,) = attach(f"<a><b>{at}</b><c>y</c></a>".encode(), configuration)
        looked_up = LookedUp(document, bytes_of(document), decode(document.header or b""), b"\0\0")
        assert table.ask(both, looked_up, {}) is False

    table.reorder(both)

    assert [table.conditions[at] for at in table.parts(both)] == [seldom, often]
    assert table.selectivity(table.add(often)) == pytest.approx(1, abs=0.02)
    assert table.selectivity(table.add(seldom)) == table.selectivity_of(seldom) == pytest.approx(0, abs=0.02)
    assert table.selectivity(table.add(LookUp(5))) is None


@pytest.mark.slow
def test_what_a_document_costs_follows_what_it_touches_not_the_number_of_queries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Counter[str]()
    ask = ConditionTable.ask

    def counted(self: ConditionTable, number: int, document: LookedUp, known: dict[int, bool | None]) -> bool | None:
        asked["conditions"] += 1
        return ask(self, number, document, known)

    monkeypatch.setattr(ConditionTable, "ask", counted)
    matcher = HeaderMatcher(configure("v", ["/a/b", "/a/@x", "/a/c"]))
    for number in range(10_000):
        matcher.add(number, parse(f"/a[b = 'v{number}' and @x = {number % 7}]"))

    found = matcher.answer(made(b"<a x='3'><b>v17</b></a>", "/a/b", "/a/@x", "/a/c"))

    assert found == [17]
    assert asked["conditions"] < 10


@pytest.mark.slow
@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">="])
def test_ten_thousand_comparisons_find_the_same_as_one_by_one(operator: str) -> None:
    matcher = HeaderMatcher(configure("v", ["/a/b"]))
    for number in range(10_000):
        matcher.add(number, parse(f"/a[b {operator} {number}]"))

    found = matcher.answer(made(b"<a><b>5000</b></a>", "/a/b"))

    numbers = {"=": [5_000], "<": range(5_001, 10_000), "<=": range(5_000, 10_000), ">": range(5_000)}
    numbers |= {">=": range(5_001), "!=": [number for number in range(10_000) if number != 5_000]}
    assert found == list(numbers[operator])


@pytest.mark.timed
@pytest.mark.slow
def test_huge_values_are_read_in_linear_time() -> None:
    views = ["/a/@x", "/a/b", "/a/b/text()", "/a/c"]
    matcher = matcher_of(
        configure("v", views), "/a[@x = 1]", "/a[b = 1]", "/a[b/text() = 1]", "/a[c = 1 and not(b = 2)]"
    )
    data = f"<a x='{'v' * 5_000_000}'><b>{'&amp;' * 1_000_000}</b><c>{'<d>x</d>' * 100_000}</c></a>".encode()
    document = made(data, *views)
    start = process_time()

    found = matcher.answer(document)

    assert found == []
    assert process_time() - start < 5


def test_any_document_and_any_query_are_answered_without_an_exception() -> None:
    chance = Random(9)
    for _ in range(rounds(300)):
        plans = dict(enumerate(plan for _ in range(5) if (plan := read_plan(xpath(chance))) is not None))
        views = [view for _ in range(5) if isinstance(read_plan(view := xpath(chance)), Pattern)]
        configuration = configure("v", views)
        matcher = HeaderMatcher(configuration)
        for number, plan in plans.items():
            matcher.add(number, plan)
        for document in attach([fuzzed(chance) for _ in range(3)], configuration):
            found = matcher.answer(document)
            assert found is None or found == right(document, plans)


def read_plan(text: str) -> Plan | None:
    with suppress(WeftError):
        return parse(text)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("function", ["contains", "starts-with", "ends-with", "matches"])
def test_functions_of_ten_thousand_queries_are_found_by_the_value_too(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    matcher = HeaderMatcher(configure("v", ["/a/b"]))
    for number in range(10_000):
        matcher.add(number, parse(f"/a[{function}(b, 'v{number}')]"))
    monkeypatch.setattr(ConditionTable, "ask", None)  # nothing is asked one by one

    found = matcher.answer(made(b"<a><b>v4321</b></a>", "/a/b"))

    others = {"contains": [4, 43, 432], "starts-with": [4, 43, 432], "ends-with": [], "matches": [4, 43, 432]}
    assert found == [*others[function], 4_321]


def test_a_query_that_no_header_answers_costs_no_look_at_the_document_until_it_goes() -> None:
    document = made(b"<a><b>1</b></a>", "/a/b")
    matcher = matcher_of(configure("v", ["/a/b"]), "/a[b = 1]", "/a/c")

    assert matcher.answer(document) is None
    assert matcher.counts == {"not known from the header": 1}
    matcher.remove(1)
    assert matcher.answer(document) == [0]


def test_a_query_of_another_stream_that_no_header_answers_is_not_asked() -> None:
    document = replace(made(b"<a><b>1</b></a>", "/a/b"), stream="here")
    matcher = HeaderMatcher(configure("v", ["/a/b"]))
    matcher.add(0, parse("/a[b = 1]"))
    for number, stream in ((1, "elsewhere"), (2, "here")):
        matcher.add(number, parse(f"<r>{{ for $c in stream('{stream}')/a/c return <i/> }}</r>"))

    assert matcher.answer(document) is None
    matcher.remove(2)
    assert matcher.answer(document) == [0]


def test_a_document_is_told_the_same_at_a_glance_as_at_a_closer_look() -> None:
    """The first header of a configuration is read field by field, the next ones at once where they are plain."""
    documents = attach(DATA, configure("v", VIEWS))
    for query in QUERIES:
        for document in documents:
            matcher = matcher_of(configure("v", VIEWS), query)
            assert matcher.answer(document) == matcher.answer(document), query
            assert sum(matcher.counts.values()) == 2
            assert matcher._served["v/1"].documents == 2


def test_after_a_header_that_was_right_wrong_ones_are_noticed_all_the_same() -> None:
    configuration = configure("v", ["/a/b"])
    document, other = attach([b"<a><b>1</b></a>", b"<a><b>2</b></a>"], configuration)
    matcher = matcher_of(configuration, "/a[b = '1']")
    assert document.header is not None
    assert matcher.answer(document) == matcher.answer(document) == [0]

    assert matcher.answer(replace(document, header=other.header)) is None
    for at in range(len(document.header)):
        changed = bytearray(document.header)
        changed[at] ^= 1
        assert matcher.answer(replace(document, header=bytes(changed))) is None
        assert matcher.answer(replace(document, header=document.header[:at])) is None
    assert matcher.answer(replace(document, data=b"<a><b>9</b></a>")) is None
    assert matcher.answer(document) == [0]


def test_what_is_unknown_is_left_open_where_the_rest_suffices() -> None:
    matcher = matcher_of(configure("v", ["/a/b"]), "/a[b = 1]", "/a[c = 1]", "/a[b = 2]", "//d")
    document = made(b"<a><b>1</b><c>1</c></a>", "/a/b")
    asked: list[tuple[list[int], list[int]]] = []

    def suffices(matched: Any, unknown: Any) -> bool:
        asked.append((list(matched), sorted(unknown)))
        return len(asked) > 1

    answers = [matcher.answer(document), matcher.answer(document, suffices), matcher.answer(document, suffices)]

    assert answers == [None, None, [0]]
    assert asked == [([0], [1, 3])] * 2
    assert matcher.counts == {"hit": 1, "not known from the header": 2}


def test_right_headers_are_read_at_a_glance_again_behind_wrong_ones() -> None:
    matcher = matcher_of(configure("v", ["/a/b"]), "/a[b = 1]")
    right, other = made(b"<a><b>1</b></a>", "/a/b"), made(b"<a><b>12</b></a>", "/a/b")
    wrong = replace(right, header=other.header)

    answers = [matcher.answer(each) for each in (right, wrong, wrong, right, right)]

    assert answers == [[0], None, None, [0], [0]]
    assert matcher.counts == {"hit": 3, "a header of another document or of other views": 2}


def test_a_document_with_the_header_of_its_kind_is_answered_though_most_queries_are_for_others() -> None:
    """Dynamic headers: each kind of document has views of its own, and one server has queries for all of them."""
    kinds = [f"r{number}" for number in range(20)]
    configurations = [configure(kind, [f"/{kind}/key"], root=kind) for kind in kinds]
    matcher = HeaderMatcher(configurations)
    for number, kind in enumerate(kinds):
        matcher.add(number, parse(f"/{kind}[key = 'x']"))
        matcher.add(100 + number, parse(f"/{kind}[key = 'y'][other]"))
    documents = [f"<{kind}><key>{value}</key></{kind}>".encode() for kind in kinds for value in ("x", "y", "z")]

    found = [matcher.answer(document) for document in attach(documents, configurations)]

    assert found == [answer for number in range(20) for answer in ([number], None, [])]


def test_a_tag_stands_for_its_documents_too() -> None:
    matcher = HeaderMatcher(configure("v", ["/a"], root="a"))

    with pytest.raises(ConfigurationError, match="a new version"):
        matcher.configure(configure("v", ["/a"], root="b"))
    matcher.configure(configure("v", ["/a"], root="a"))
