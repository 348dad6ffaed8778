"""A server: headers answer, else it parses once; it attaches headers, lets copies go, and confines what fails."""

from dataclasses import replace
from unittest.mock import Mock

import pytest

from weft import Document
from weft.broker.subscriptions import Subscription
from weft.documents.build import read
from weft.documents.table import NodeTable
from weft.engine.engine import Engine
from weft.engine.matches import Matches
from weft.headers.configuration import configure
from weft.headers.producer import attach
from weft.languages import parse
from weft.network import parsing
from weft.network.generators import chain, mesh, tree
from weft.network.passage import Handled, Passage
from weft.network.questions import Asked, Questions
from weft.network.routing import Routing
from weft.network.seen import SeenDocuments
from weft.network.server import Server
from weft.network.server_plan import plan_servers
from weft.network.simulate import Simulation, simulate
from weft.network.topology import Topology
from weft.plans.plan import Pattern

VIEWS = configure("views", ["/a/b", "/a/c"])


def server(network: Topology, name: str) -> Server:
    return Server(plan_servers(Routing(network))[name])


def passage(data: str, number: int = 0, views: bool = True) -> Passage:
    document = Document(data, f"d{number}")
    return Passage("source0", number, attach(document, VIEWS)[0] if views else document)


def plan(query: str) -> Pattern:
    found = parse(query)
    assert isinstance(found, Pattern)
    return found


def told(handled: list[Handled]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(each.subscriptions, each.receivers) for each in handled]


def test_a_header_answers_and_nothing_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    network = chain(2, [VIEWS]).with_subscriptions({"s0": ["/a[b = '1']"], "s1": ["/a[c = '2']"]})
    first = server(network, "s0")
    monkeypatch.setattr(parsing, "read", None)

    handled = first.take([passage("<a><b>1</b></a>"), passage("<a><b>2</b><c>2</c></a>"), passage("<a/>")])

    assert told(handled) == [(("1",), ()), ((), ("s1",)), ((), ())]
    assert (first.traffic.hits, first.traffic.misses.total(), first.questions.is_resting) == (3, 0, True)


def test_at_a_miss_the_document_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    network = chain(2, [VIEWS]).with_subscriptions({"s0": ["/a[d = '1']", "//b"], "s1": ["//d"]})
    first, counted = server(network, "s0"), Mock(side_effect=read)
    monkeypatch.setattr(parsing, "read", counted)

    handled = first.take([passage("<a><d>1</d></a>"), passage("<a><b/></a>", views=False)])

    assert told(handled) == [(("1",), ("s1",)), (("2",), ())]
    assert counted.call_count == 1
    assert first.traffic.misses == {"not known from the header": 1, "no header": 1}
    assert first.traffic.parse_seconds > 0
    assert first.traffic.parsed_bytes == len("<a><d>1</d></a><a><b/></a>")


def test_what_is_unknown_of_a_link_does_not_matter_where_the_document_goes_over_it_anyway(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = tree(3, 2, [VIEWS]).with_subscriptions({"s1": ["/a[b = '1']", "//d"], "s2": ["/a[c = '2']"]})
    first = server(network, "s0")
    monkeypatch.setattr(parsing, "read", None)

    handled = first.take([passage("<a><b>1</b><d/></a>"), passage("<a><b>1</b><c>2</c></a>", 1)])

    assert told(handled) == [((), ("s1",)), ((), ("s1", "s2"))]
    assert (first.traffic.hits, first.traffic.misses.total()) == (2, 0)


def test_what_is_unknown_of_a_link_or_a_subscription_is_parsed_where_it_decides() -> None:
    network = tree(3, 2, [VIEWS]).with_subscriptions({"s1": ["/a[b = '1']", "//d"], "s2": ["/a[c = '2']"]})
    inner, own = server(network, "s0"), server(network, "s1")

    handled = inner.take([passage("<a><d/></a>"), passage("<a><c>2</c></a>", 1)])

    assert told(handled) == [((), ("s1",)), ((), ("s2",))]
    assert inner.traffic.misses == {"not known from the header": 2}
    assert told(own.take([passage("<a><b>1</b><d/></a>")])) == [(("1", "2"), ())]
    assert own.traffic.misses == {"not known from the header": 1}


def test_counts_begin_anew() -> None:
    first = server(chain(1, [VIEWS]).with_subscriptions({"s0": ["//d", "/a/b"]}), "s0")
    first.take([passage("<a><b/></a>"), passage("<a/>", views=False)])

    before = first.count_anew()
    first.take([passage("<a><d/></a>")])

    assert before.misses == {"not known from the header": 1, "no header": 1}
    assert first.traffic.misses == {"not known from the header": 1}


def test_a_server_that_had_to_parse_attaches_another_header_for_those_behind_it() -> None:
    network = chain(3, [VIEWS]).with_subscriptions({"s1": ["/a[d = '1']"], "s2": ["/a[d = '1']"]})
    middle = replace(network.servers[1], configurations=(configure("other", ["/a/d"]),))
    network = replace(network, servers=(network.servers[0], middle, network.servers[2]))

    report = simulate(network, ["<a><d>1</d></a>", "<a><d>2</d></a>"])

    assert [report.servers[name].hits for name in ("s0", "s1", "s2")] == [0, 0, 1]
    assert report.servers["s1"].attached == 1
    assert [each.server for each in report.deliveries] == ["s1", "s2"]


def test_a_document_that_cannot_be_read_goes_no_further() -> None:
    network = chain(2).with_subscriptions({"s0": ["/a"], "s1": ["/a"]})

    report = simulate(network, [Document("<a><b></a>", "bad"), Document("<a/>", "good")])

    assert [str(each).split(":")[0] for each in report.rejected] == ["bad"]
    assert [(each.server, each.document) for each in report.deliveries] == [("s0", "good"), ("s1", "good")]
    assert report.servers["s1"].documents == 1


def test_copies_over_redundant_paths_are_let_go() -> None:
    network = mesh(3, 2, 1, paths=2).with_subscriptions({"s2": ["/a"]})

    report = simulate(network, ["<a/>"] * 5)

    assert len(report.deliveries) == 5
    assert report.servers["s2"].duplicates == 5
    assert report.forwarded == 15


def test_what_is_remembered_of_documents_is_bounded() -> None:
    seen = SeenDocuments(3)

    assert [seen.is_new("a", key) for key in (1, 2, 3, 1, 4, 5, 1)] == [True, True, True, False, True, True, True]
    assert seen.is_new("b", 5)
    assert len(seen) == 4


class Failing(Engine):
    """An engine that cannot answer the second of its queries."""

    def match(self, table: NodeTable, whether: bool = False, place: int | None = None) -> Matches:
        if 1 in self.large.results:
            raise RuntimeError("no")
        return super().match(table, whether, place)


def test_a_query_that_fails_is_confined_and_what_it_may_want_is_forwarded(monkeypatch: pytest.MonkeyPatch) -> None:
    network = chain(2).with_subscriptions({"s0": ["/a"], "s1": ["//b"]})
    first = server(network, "s0")
    monkeypatch.setattr(parsing, "Engine", Failing)

    handled = first.take([passage("<a/>", views=False), passage("<c/>", views=False)])

    assert told(handled) == [(("1",), ("s1",)), ((), ("s1",))]


def test_subscriptions_with_joins_come_and_go() -> None:
    text = "S//a->x FOLLOWED BY{x = y, 1 hour} S//b->y"
    simulation = Simulation(chain(2))
    documents = [Document(data, f"d{at}", "S", at) for at, data in enumerate(["<a>1</a>", "<b>1</b>"])]
    simulation.publish(documents)

    simulation.subscribe("s1", Subscription("join", text, "xscl"))
    simulation.publish(documents)
    simulation.unsubscribe("s1", "join")
    simulation.publish(documents)

    assert [each.documents for each in simulation.end().deliveries] == [("d0", "d1")]


def test_an_engine_takes_changes_in_and_is_made_anew_only_when_much_of_it_is_unused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = Mock(side_effect=parsing._Running)
    monkeypatch.setattr(parsing, "_Running", made)
    monkeypatch.setattr(parsing, "_SWEEP", 3)
    plans = {number: plan(f"/a[d = '{number}']") for number in range(8)}
    questions = Questions([])

    def matched(data: str) -> list[Asked]:
        return questions.answer([Document(data, "it")])[0].matched

    questions.add(("subscription", "0"), plans[0])
    assert matched("<a><d>0</d></a>") == [("subscription", "0")]
    for number in range(1, 8):
        questions.add(("subscription", str(number)), plans[number])
        assert matched(f"<a><d>{number}</d></a>") == [("subscription", str(number))]
    assert made.call_count == 1
    for number in range(7):
        questions.remove(("subscription", str(number)))
        assert matched(f"<a><d>{number}</d><d>7</d></a>") == [("subscription", "7")]
    assert 1 < made.call_count < 7


def test_a_plan_that_the_engine_cannot_take_in_leaves_the_others_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    questions = Questions([])
    questions.add(("subscription", "good"), plan("/a"))
    assert questions.answer([Document("<a/>", "it")])[0].matched
    other = plan("/b")
    with monkeypatch.context() as patched:
        patched.setattr(Engine, "add", Mock(side_effect=MemoryError))
        with pytest.raises(MemoryError):
            questions.add(("subscription", "bad"), other)

    assert questions.is_resting
    assert questions.answer([Document("<a/>", "it")])[0].matched == [("subscription", "good")]
