"""Every network delivers exactly what one broker with all subscriptions would, however it runs."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from networks import document_lists, networks, one_broker, subscriptions
from profiles import examples
from weft.network.embedded import run_embedded
from weft.network.simulate import Simulation, simulate
from weft.network.topology import Topology


@pytest.mark.slow
@examples(300)
@given(data=st.data())
def test_a_simulated_network_delivers_what_one_broker_would(data: st.DataObject) -> None:
    network = data.draw(networks())
    documents = data.draw(document_lists(network))

    report = simulate(network, documents)

    assert sorted(report.deliveries) == one_broker(network, documents)
    assert report.forwarded <= report.flooded
    assert report.documents == len(documents)


@pytest.mark.slow
@examples(100)
@given(data=st.data())
def test_an_embedded_network_delivers_what_the_simulated_one_does(data: st.DataObject) -> None:
    network = data.draw(networks())
    documents = data.draw(document_lists(network))

    embedded = run_embedded(network, documents, queue=data.draw(st.integers(1, 3)))

    assert sorted(embedded.deliveries) == sorted(simulate(network, documents).deliveries)


@pytest.mark.slow
@examples(100)
@given(data=st.data())
def test_parts_of_a_simulation_are_the_whole(data: st.DataObject) -> None:
    network = data.draw(networks())
    documents = data.draw(document_lists(network))
    names = [server.name for server in network.servers]
    some = set(data.draw(st.lists(st.sampled_from(names), unique=True)))

    whole = simulate(network, documents)
    parts = [simulate(network, documents, only=part) for part in (some, set(names) - some)]

    assert sorted(whole.deliveries) == sorted(parts[0].deliveries + parts[1].deliveries)
    assert whole.forwarded == sum(part.forwarded for part in parts)
    hits = {name: traffic.hits for name, traffic in whole.servers.items()}
    assert {name: traffic.hits for part in parts for name, traffic in part.servers.items()} == hits


@pytest.mark.slow
@examples(100)
@given(data=st.data())
def test_subscriptions_come_and_go(data: st.DataObject) -> None:
    network = data.draw(networks(joins=False))
    documents = data.draw(document_lists(network))
    simulation = Simulation(network)
    simulation.publish(documents)
    before = len(simulation.network.report().deliveries)
    changed = data.draw(_changes(network, simulation))

    simulation.publish(documents)

    assert sorted(simulation.end().deliveries[before:]) == one_broker(changed, documents)


@st.composite
def _changes(draw: DrawFn, network: Topology, simulation: Simulation) -> Topology:
    """The network after some subscriptions have gone and others come, which the simulation is told one by one."""
    servers = list(network.servers)
    for number in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(servers) - 1))
        known = servers[at].subscriptions
        goes: bool = draw(st.booleans())
        if known and goes:
            gone = draw(st.sampled_from(known))
            simulation.unsubscribe(servers[at].name, gone.id)
            known = tuple(each for each in known if each != gone)
        else:
            new = replace(draw(subscriptions(joins=False)), id=f"new {number}")
            simulation.subscribe(servers[at].name, new)
            known = (*known, new)
        servers[at] = replace(servers[at], subscriptions=known)
    return replace(network, servers=tuple(servers))
