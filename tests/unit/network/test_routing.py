"""Routing: what is wanted behind a link, as few queries as suffice, also when subscriptions come and go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from networks import XPATHS
from profiles import examples
from weft.broker.subscriptions import Subscription
from weft.documents.document import Document
from weft.errors import ConfigurationError
from weft.languages import parse
from weft.network.covering import Covering, members
from weft.network.generators import chain, mesh, tree
from weft.network.routes import find_routes
from weft.network.routing import Routing
from weft.network.simulate import simulate
from weft.network.wanted import ROOT, RoutingQuery, routing_queries
from weft.plans.containment import covers
from weft.plans.plan import Pattern
from weft.workload import generate_documents, generate_queries, shipped


def queries(*texts: str) -> tuple[Covering, int]:
    covering, found = Covering(), 0
    for text in texts:
        for query in routing_queries(parse(text)):
            found |= 1 << covering.number(query)
    return covering, found


def kept(*texts: str) -> list[int]:
    covering, found = queries(*texts)
    return list(members(covering.reduce(found)))


def test_what_another_query_covers_is_left_out() -> None:
    assert kept("/a/b", "//b", "/a/b[c = 1]", "/a/c") == [1, 3]
    assert kept("/a[b > 7]", "/a[b > 5]", "/a[b = 6]") == [1]


def test_of_queries_that_cover_each_other_one_stays() -> None:
    assert kept("/a[b and c]", "/a[c and b]", "/a[c][b]") == [0]


def test_a_query_of_a_stream_covers_none_of_another() -> None:
    covering = Covering()
    pattern = parse("/a")
    assert isinstance(pattern, Pattern)
    numbers = [covering.number(RoutingQuery(pattern, stream)) for stream in ("S", "T", "")]

    assert covering.reduce(0b011) == 0b011
    assert covering.reduce(0b111) == 1 << numbers[2]


@examples(100)
@given(st.lists(st.sampled_from(XPATHS), unique=True, max_size=10))
def test_everything_left_out_is_covered_by_something_that_stays(texts: list[str]) -> None:
    covering, found = queries(*texts)

    reduced = covering.reduce(found)

    staying = [covering.queries[number].selection for number in members(reduced)]
    for number in members(found & ~reduced):
        assert any(covers(wide, covering.queries[number].selection) for wide in staying)
    for at, wide in enumerate(staying):
        assert not any(covers(wide, narrow) for narrow in staying[at + 1 :])


def test_a_covered_query_comes_back_when_its_coverer_goes() -> None:
    network = chain(3).with_subscriptions({"s2": ["/a/b[c]", "/a/b"]})
    routing = Routing(network)
    wide, narrow = routing.wanted("source0", "s2"), 0b01
    assert wide == 0b10

    changed = routing.unsubscribe("s2", "2")

    assert routing.wanted("source0", "s2") == routing.wanted("source0", "s1") == narrow
    assert changed == {"s0", "s1"}
    assert routing.subscribe("s2", Subscription("new", "//b")) == {"s0", "s1"}
    assert routing.subscribe("s1", Subscription("same", "/a/b[c]")) == set()  # it is covered by what goes there anyway


def test_what_is_not_there_cannot_be_removed() -> None:
    routing = Routing(chain(2).with_subscriptions({"s1": ["/a"]}))

    with pytest.raises(ConfigurationError, match="found none with id '9'"):
        routing.unsubscribe("s1", "9")
    with pytest.raises(ConfigurationError, match="is there already"):
        routing.subscribe("s1", Subscription("1", "/b"))
    with pytest.raises(ConfigurationError, match="found 's9'"):
        routing.subscribe("s9", Subscription("1", "/b"))


def test_a_query_that_cannot_be_read_is_told_with_its_server() -> None:
    with pytest.raises(ConfigurationError, match=r"server 's1', subscription '1': XPath 1:"):
        Routing(chain(2).with_subscriptions({"s1": ["/a["]}))


def test_what_publishes_documents_is_refused() -> None:
    text = "S//a->x FOLLOWED BY{x = y, 1 hour} S//b->y PUBLISH T"

    with pytest.raises(ConfigurationError, match="expected a query that publishes nothing, found PUBLISH T"):
        Routing(chain(1).with_subscriptions({"s0": [Subscription("1", text, "xscl")]}))


def test_xscl_wants_what_may_take_part_and_all_documents_if_it_counts_them() -> None:
    by_time = routing_queries(parse("S//a->x FOLLOWED BY{x = y, 1 hour} T//b->y", "xscl"))
    by_number = routing_queries(parse("S//a->x FOLLOWED BY{x = y, 5 documents} T//b->y", "xscl"))

    assert [query.stream for query in by_time] == ["S", "T"]
    assert ROOT not in [query.selection for query in by_time]
    assert by_number == (RoutingQuery(ROOT, "S"), RoutingQuery(ROOT, "T"))


def test_windows_that_count_documents_count_those_that_match_nothing() -> None:
    text = "S//a->x FOLLOWED BY{x = y, 2 documents} S//b->y"
    network = chain(2).with_subscriptions({"s1": [Subscription("1", text, "xscl")]})
    given = ["<a>1</a>", "<other/>", "<other/>", "<b>1</b>", "<a>2</a>", "<other/>", "<b>2</b>"]
    documents = [Document(data, f"d{at}", "S", at) for at, data in enumerate(given)]

    found = [each.documents for each in simulate(network, documents).deliveries]

    assert found == [("d4", "d6")]


def test_routes_never_lead_in_a_circle_and_reach_everybody() -> None:
    network = mesh(30, 4, seed=7, paths=3, sources=3)

    for routes in find_routes(network).values():
        place = {server: at for at, server in enumerate(routes.order)}
        assert len(place) == 30
        for server, senders in routes.senders.items():
            assert len(senders) <= 3
            assert all(place[sender] < place[server] for sender in senders)


def test_covering_saves_and_tables_are_smaller() -> None:
    shape = shipped("news")
    texts = generate_queries(shape, number=60, predicates=1, predicate_probability=0.8, values=20, distinct=False)
    wanted = {f"s{at}": texts[3 * at : 3 * at + 3] for at in range(20)}

    report = simulate(tree(20, 3).with_subscriptions(wanted), generate_documents(shape, number=20, values=20))

    assert report.covering_saves is not None
    assert report.covering_saves < 0.5
    assert report.entries is not None
    assert report.entries[0] <= report.entries[1]


def test_a_tree_forwards_only_what_is_wanted_behind_a_link() -> None:
    network = tree(7, 2).with_subscriptions({"s5": ["/a"], "s4": ["/b"]})

    report = simulate(network, ["<a/>", "<b/>", "<c/>"])

    busy = {link: flow.documents for link, flow in report.links.items() if flow.documents}
    assert busy == {("s0", "s1"): 1, ("s0", "s2"): 1, ("s1", "s4"): 1, ("s2", "s5"): 1}
    assert report.flooded == 18
