"""Views that follow the stream: reports come in, and a new version takes over by its tag when it pays."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from weft.documents.document import Document
from weft.errors import ConfigurationError
from weft.headers.adaptive import AdaptiveViews
from weft.headers.matcher import HeaderMatcher
from weft.headers.producer import attach
from weft.headers.selection.workload import ServerQueries
from weft.languages import parse

DOCUMENTS = [Document(b"<a><b>1</b><c>2</c><d>3</d></a>", "first")]


def server(
    name: str, *queries: str, documents: float = 1.0, namespaces: Mapping[str, str] | None = None
) -> ServerQueries:
    return ServerQueries(name, tuple(parse(query, None, namespaces) for query in queries), documents)


def texts(views: AdaptiveViews) -> set[str]:
    return {view.text for view in views.configuration.views}


def test_the_first_version_has_what_servers_ask_for() -> None:
    views = AdaptiveViews("news", [server("desk", "/a[b = 1 and c = 2]")], DOCUMENTS, parse_seconds=1e-3)

    assert views.configuration.tag == "news/1"
    assert texts(views) == {"/a/b", "/a/c"}


@pytest.mark.parametrize(
    ("bandwidth", "links", "views"), [(1e9, None, 2), (1e5, None, 1), (1e5, 0.0, 2), (1.0, None, 0)]
)
def test_as_many_views_are_chosen_as_pay_for_their_bytes_on_links(
    bandwidth: float, links: float | None, views: int
) -> None:
    servers = [server("desk", "/a[b = 1]", documents=1_000.0), server("archive", "/a[c = 1]", documents=10.0)]

    found = AdaptiveViews("news", servers, DOCUMENTS, parse_seconds=1e-3, bandwidth=bandwidth, links=links)

    assert len(found.configuration.views) == views


def test_a_bandwidth_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="bandwidth: expected bytes a second"):
        AdaptiveViews("news", [server("desk", "/a")], DOCUMENTS, bandwidth=0)


def test_what_is_heard_of_servers_is_what_headers_cost_on_the_way_to_them() -> None:
    servers = [server("desk", "/a[b = 1]", documents=1_000.0), server("archive", "/a[c = 1]", documents=1_000.0)]
    views = AdaptiveViews("news", servers, DOCUMENTS, parse_seconds=1e-3, bandwidth=1e5)
    before = texts(views)

    views.feedback.arrived("desk", 0.0, 10_000.0)
    views.feedback.arrived("archive", 0.0, 10.0)
    views.adapt(0.0)

    assert (before, texts(views)) == ({"/a/b", "/a/c"}, {"/a/b"})


def test_without_reports_nothing_changes() -> None:
    views = AdaptiveViews("news", [server("desk", "/a[b = 1]")], DOCUMENTS, parse_seconds=1e-3)

    assert views.adapt(0.0) is None
    assert views.configuration.tag == "news/1"


def test_a_server_that_most_documents_reach_decides_when_there_is_room_for_one() -> None:
    servers = [server("desk", "/a[b = 1]", documents=100.0), server("archive", "/a[c = 1]", documents=1.0)]
    views = AdaptiveViews("news", servers, DOCUMENTS, size=1, parse_seconds=1e-3)
    before = texts(views)

    views.feedback.arrived("desk", 10.0, 1.0)
    views.feedback.arrived("archive", 10.0, 5_000.0)
    found = views.adapt(10.0)

    assert before == {"/a/b"}
    assert found is views.configuration
    assert (found.tag, texts(views)) == ("news/2", {"/a/c"})
    assert views.adapt(10.0) is None


def test_headers_of_the_version_before_stay_readable() -> None:
    servers = [server("desk", "/a[b = 1]", documents=100.0), server("archive", "/a[c = 2]", documents=1.0)]
    views = AdaptiveViews("news", servers, DOCUMENTS, size=1, parse_seconds=1e-3)
    matcher = HeaderMatcher(views.configuration)
    matcher.add(0, parse("/a[b = 1]"))
    old = attach(DOCUMENTS, views.configuration)[0]

    views.feedback.arrived("archive", 10.0, 5_000.0)
    changed = views.adapt(10.0)
    assert changed is not None
    matcher.configure(changed)

    assert matcher.answer(old) == [0]
    assert matcher.answer(attach(DOCUMENTS, changed)[0]) is None


def test_reports_of_a_matcher_are_what_adapting_needs() -> None:
    servers = [server("desk", "/a[b = 1]", documents=1.0), server("archive", "/a[c = 2]", documents=1.0)]
    views = AdaptiveViews("news", servers, DOCUMENTS, size=1, parse_seconds=1e-3)
    archive = HeaderMatcher(views.configuration)
    archive.add(0, servers[1].plans[0])
    for _ in range(200):
        archive.answer(attach(DOCUMENTS, views.configuration)[0])

    archive.report(views.feedback, "archive", 5.0)

    changed = views.adapt(5.0)
    assert texts(views) == {"/a/c"}
    assert changed is None or changed.version == 2


def test_servers_that_ask_for_something_else_get_a_new_version() -> None:
    views = AdaptiveViews("news", [server("desk", "/a[b = 1]")], DOCUMENTS, parse_seconds=1e-3)

    same = views.change([server("desk", "/a[b = 2]")], DOCUMENTS)
    other = views.change([server("desk", "/a[d = 2]")], DOCUMENTS)

    assert same is None
    assert other is not None
    assert (other.tag, texts(views)) == ("news/2", {"/a/d"})


def test_the_same_words_in_another_namespace_are_other_views() -> None:
    """Prefixes are made up: what is written `/n1:a/n1:b` means what they stand for."""
    documents = [Document(b"<a xmlns='urn:one'><b>1</b></a>"), Document(b"<a xmlns='urn:two'><b>1</b></a>")]
    desk = [server("desk", "/p:a[p:b = 1]", namespaces={"p": uri}) for uri in ("urn:one", "urn:two")]
    views = AdaptiveViews("news", desk[:1], documents, parse_seconds=1e-3)

    changed = views.change(desk[1:], documents)

    assert changed is not None
    assert (changed.tag, changed.namespaces) == ("news/2", {"n1": "urn:two"})
