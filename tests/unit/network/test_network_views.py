"""What the servers of a network ask, counted by documents that are sent through it."""

from __future__ import annotations

import pytest

from weft.documents.document import Document
from weft.headers.selection.ours import select_views
from weft.headers.selection.workload import make_problem
from weft.network.generators import chain, mesh
from weft.network.simulate import simulate
from weft.network.view_workload import view_workload

DOCUMENTS = [Document(f"<a><b>{at % 4}</b><c>{at % 2}</c></a>", f"d{at}") for at in range(40)]


def test_servers_ask_for_what_is_behind_them_as_often_as_documents_reach_them() -> None:
    network = chain(3).with_subscriptions({"s1": ["/a[b = '1']"], "s2": ["/a[c = '1']"]})

    found = view_workload(network, DOCUMENTS)

    assert [(each.name, len(each.plans), each.documents) for each in found.servers] == [
        ("s0", 2, 40),
        ("s1", 2, 20),
        ("s2", 1, 20),
    ]
    assert found.links == 40 / 40
    report = simulate(network, DOCUMENTS)
    assert found.links * 40 == report.forwarded


def test_links_are_those_over_which_documents_go_again_in_a_mesh() -> None:
    network = mesh(8, 3, 2).with_subscriptions({"s7": ["/a"]})

    found = view_workload(network, DOCUMENTS)

    assert found.links * 40 == simulate(network, DOCUMENTS).forwarded


def test_without_documents_nothing_goes_over_links() -> None:
    assert view_workload(chain(3).with_subscriptions({"s2": ["/a"]}), []).links == 0


@pytest.mark.parametrize(("bandwidth", "views"), [(1e12, 2), (1e4, 1), (10.0, 0)])
def test_how_many_views_pay_follows_what_links_carry(bandwidth: float, views: int) -> None:
    """A hundred servers in a row hand on what the last one asks for; one beside the source asks for something else."""
    network = chain(100).with_subscriptions({"s0": ["/a[b = '1']"], "s99": ["/a[c >= 0]"]})
    asked = view_workload(network, DOCUMENTS)

    found = make_problem(asked.servers, DOCUMENTS, parse_seconds=1e-3, bandwidth=bandwidth, links=asked.links)

    assert asked.links == 99
    assert len(select_views(found.problem).views) == views
