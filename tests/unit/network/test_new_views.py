"""Views that change while documents flow: a new version takes over by its tag, and nothing stops or is lost."""

from __future__ import annotations

import asyncio

from weft import Document
from weft.headers.adaptive import AdaptiveViews
from weft.headers.configuration import Configuration, configure
from weft.headers.header import decode
from weft.headers.producer import attach
from weft.headers.selection.workload import ServerQueries
from weft.network.embedded import EmbeddedNetwork
from weft.network.generators import chain
from weft.network.simulate import Simulation, simulate
from weft.network.topology import Topology

ASKED = {"s1": ["/a[b = '1']", "/a[b = '2']"], "s2": ["/a[c = '1']"]}


def network(*configurations: Configuration) -> Topology:
    return chain(3, configurations).with_subscriptions(ASKED)


def documents(number: int, first: int = 0) -> list[Document]:
    made = (f"<a><b>{at % 4}</b><c>{at % 3}</c><d/></a>" for at in range(first, first + number))
    return [Document(data, f"d{at}") for at, data in enumerate(made, start=first)]


def test_a_new_version_takes_over_and_old_headers_stay_readable() -> None:
    old, new = configure("v", ["/a/b"]), configure("v", ["/a/b", "/a/c"], version=2)
    simulation = Simulation(network(old))
    simulation.publish(documents(12))
    before = simulation.network.report().total.misses.total()
    simulation.configure(new)
    simulation.publish(documents(12, first=12))
    behind = simulation.network.report().total.misses.total()
    simulation.publish(attach(documents(4, first=24), old))  # who sends them does not know the new one yet

    report = simulation.end()

    assert 0 < before == behind < report.total.misses.total()
    assert "an unknown configuration" not in report.total.misses
    assert sorted(report.deliveries) == sorted(simulate(network(), documents(28)).deliveries)


def test_documents_on_their_way_are_delivered_while_it_takes_over() -> None:
    async def run() -> EmbeddedNetwork:
        async with EmbeddedNetwork(network(configure("v", ["/a/b"])), queue=2) as running:
            for at in range(10):
                await running.publish(documents(6, first=6 * at))
                running.network.configure(configure("v", ["/a/c", "/a/b"][: 1 + at % 2], version=at + 2))
        return running

    report = asyncio.run(run()).report()

    assert sorted(report.deliveries) == sorted(simulate(network(), documents(60)).deliveries)
    assert set(report.total.misses) <= {"not known from the header"}


def test_other_configurations_are_chosen_in_the_same_order_as_before() -> None:
    first, last = configure("first", ["/a/b"], root="a"), configure("last", ["/*"])
    simulation = Simulation(network(first, last))
    simulation.configure(configure("first", ["/a/c"], version=2, root="a"))
    simulation.configure(configure("more", ["/a/d"]))

    passages = simulation.network.entrance.enter([Document("<a/>", "1"), Document("<b/>", "2")])

    assert [decode(each.document.header or b"").tag for each in passages] == ["first/2", "last/1"]


def test_what_servers_tell_makes_views_follow_what_they_ask() -> None:
    """Room for one view only: the one that the servers asked for, and the network has, is not the one it began with."""
    plans = Simulation(network()).network.routing.plans
    servers = [ServerQueries(name, tuple(plans[name].values()), 1.0) for name in ("s1", "s2")]
    guessed = [ServerQueries("s1", servers[0].plans, 0.001), servers[1]]
    views = AdaptiveViews("v", guessed, documents(12), size=1, parse_seconds=1e-3)
    simulation = Simulation(chain(3, [views.configuration]).with_subscriptions({"s1": ASKED["s1"]}))
    before = [view.text for view in views.configuration.views]
    simulation.publish(documents(400))

    simulation.network.tell(views.feedback, now=10.0)
    changed = views.adapt(now=10.0)
    assert changed is not None
    simulation.configure(changed)
    misses = simulation.network.report().total.misses.total()
    simulation.publish(documents(100, first=400))

    assert (before, [view.text for view in changed.views]) == (["/a/c"], ["/a/b"])
    assert misses == simulation.end().total.misses.total()
