"""Networks for tests: topologies, subscriptions in all languages, documents with headers of all kinds; one broker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import flwr_strategies
import xscl_strategies
from weft import Broker, Document
from weft.broker.subscriptions import Subscription
from weft.headers.configuration import Configuration, configure
from weft.headers.producer import attach
from weft.network.generators import chain, mesh, tree
from weft.network.passage import Delivered
from weft.network.topology import Topology

VIEWS = ("/a", "/a/b", "/a/@k", "/a/c", "//b", "/a/b/c", "//b/@k", "/a/b[1]", "/a/b[2]", "/a/b/text()", "/b", "//c")
XPATHS = (
    "/a/b",
    "/a[b = '1']",
    "/a[b = '2']/c",
    "/a[@k > 1]",
    "//b",
    "//b[c]",
    "/a[b = '1' and c = 'x']",
    "/a[not(b)]",
    "/b",
    "/a/b[2]",
    "//*[@k = '1']",
    "/a[contains(b, '1')]",
    "/a[count(b) > 1]",
    "//b | //c",
    "/a/c[. = 'x']",
    "/a/b/text()",
    "//e",
    "/a[b = '1' or c = '2']",
    "/a[c >= xs:date('2024-01-02')]",
    "/a[c > xs:date('2024-01-02')]",
    "//b[. = '2024-01-10']",
)
FOREIGN = configure("elsewhere", ["/a/b", "/a/c"])


def one_broker(topology: Topology, documents: Sequence[Document]) -> list[Delivered]:
    """What a single broker delivers that has the subscriptions of all servers."""
    broker = Broker()
    for server in topology.servers:
        for subscription in server.subscriptions:
            broker.subscribe(replace(subscription, id=f"{server.name} {subscription.id}"))
    found = []
    for message in [*broker.publish(documents), *broker.advance()]:
        server_name, _, id = message.subscription.partition(" ")
        found.append(Delivered(server_name, id, message.document, message.documents))
    return sorted(found)


@st.composite
def topologies(draw: DrawFn) -> Topology:
    """Chains, trees and meshes, with few servers; some attach headers of their own."""
    configuration = draw(st.none() | configurations("network"))
    shared = [configuration] if configuration is not None else []
    number = draw(st.integers(1, 7))
    kind = draw(st.sampled_from(("chain", "tree", "mesh", "mesh")))
    if kind == "chain":
        found = chain(number, shared)
    elif kind == "tree":
        found = tree(number, draw(st.integers(1, 3)), shared)
    else:
        degree, seed, paths = draw(st.integers(1, 4)), draw(st.integers(0, 99)), draw(st.integers(1, 3))
        sources = draw(st.integers(1, min(number, 3)))
        found = mesh(number, degree, seed, paths=paths, sources=sources, configurations=shared)
    servers = [
        replace(server, configurations=(draw(configurations(server.name)),)) if draw(st.integers(0, 3)) == 0 else server
        for server in found.servers
    ]
    return replace(found, servers=tuple(servers))


@st.composite
def configurations(draw: DrawFn, name: str) -> Configuration:
    return configure(name, draw(st.lists(st.sampled_from(VIEWS), min_size=1, max_size=5, unique=True)))


def subscriptions(joins: bool = True) -> st.SearchStrategy[Subscription]:
    """A query in any language, without an id."""
    xpath = st.sampled_from(XPATHS).map(lambda text: Subscription("", text, "xpath"))
    flwr = flwr_strategies.queries().map(lambda text: Subscription("", text, "xquery"))
    xscl = xscl_strategies.queries().map(lambda text: Subscription("", text, "xscl"))
    return st.one_of(xpath, xpath, flwr, *([xscl] if joins else []))


@st.composite
def networks(draw: DrawFn, joins: bool = True) -> Topology:
    """A topology with subscriptions."""
    topology = draw(topologies())
    some = st.lists(subscriptions(joins), max_size=3)
    given = {
        server.name: [replace(each, id=str(number)) for number, each in enumerate(draw(some))]
        for server in topology.servers
    }
    return topology.with_subscriptions(given)


@st.composite
def document_lists(draw: DrawFn, topology: Topology) -> list[Document]:
    """Documents one after the other in time; some come with headers, sound or damaged, foreign or of others."""
    sources = draw(st.lists(xscl_strategies.trees() | st.sampled_from((b"<a><b></a>", b"", b"<b>1</b>")), min_size=1))
    found: list[Document] = []
    for number in range(draw(st.integers(1, 8))):
        stream = draw(st.sampled_from(("S", "S", "T", "")))
        found.append(Document(draw(st.sampled_from(sources)), f"d{number}", stream, number))
    return [draw(with_header(document, found, topology)) for document in found]


@st.composite
def with_header(draw: DrawFn, document: Document, others: Sequence[Document], topology: Topology) -> Document:
    """A document with a header, or what may be left of one; mostly with none, so that the source attaches it."""
    kind = draw(st.sampled_from(("none", "none", "none", "sound", "cut", "changed", "foreign", "of another")))
    if kind == "none":
        return document
    known = topology.configurations or (FOREIGN,)
    about = draw(st.sampled_from(others)) if kind == "of another" else document
    header = attach(about, FOREIGN if kind == "foreign" else known)[0].header or b"WV"
    if kind == "cut":
        header = header[: draw(st.integers(0, len(header)))]
    if kind == "changed":
        at = draw(st.integers(0, len(header) - 1))
        header = header[:at] + bytes([header[at] ^ draw(st.integers(1, 255))]) + header[at + 1 :]
    return replace(document, header=header)
