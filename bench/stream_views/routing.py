"""A tree of 100 servers with news queries: what routing by covering forwards beside flooding, what headers answer."""

from __future__ import annotations

from dataclasses import dataclass

from bench.measure import timed
from bench.stream_views.selection import BANDWIDTHS
from weft.broker.subscriptions import Subscription
from weft.documents import Document
from weft.headers import Configuration, configure
from weft.headers.selection.ours import select_views
from weft.headers.selection.workload import make_problem
from weft.network.drawing import draw
from weft.network.generators import tree
from weft.network.simulate import Simulation, simulate
from weft.network.topology import Topology
from weft.network.view_workload import view_workload
from weft.workload import generate_documents, generate_queries, shipped

_SERVERS, _FANOUT, _EACH, _VALUES, _SEED = 100, 3, 3, 20, 5
_PARSE = 0.5e-3  # seconds to parse and match such a document, about: measured, the choice would change from run to run
_SAMPLE = 60  # documents by which views are chosen; none of them is sent


@dataclass(frozen=True, slots=True)
class Routed:
    """Documents forwarded over those that flooding forwards; queries in routing tables; share of hits; a picture.

    `header_bytes` are those of a header, `document_bytes` those of a document, on average over the links.
    """

    covering_saves: float
    entries: int
    entries_without: int
    hit_rate: float
    views: int
    header_bytes: float
    document_bytes: float
    by_bandwidth: tuple[tuple[float, int], ...]  # bytes a second of a link, and how many views pay
    drawing: str


def route(documents: int) -> Routed:
    """Send news through the tree; its headers have the views that our selection takes for all that servers ask."""
    texts = generate_queries(
        shipped("news"),
        number=_SERVERS * _EACH,
        predicates=1,
        predicate_probability=0.8,
        values=_VALUES,
        skew=1.0,
        distinct=False,
        seed=_SEED,
    )
    given = {f"s{at}": texts[at * _EACH : (at + 1) * _EACH] for at in range(_SERVERS)}
    bare = tree(_SERVERS, _FANOUT).with_subscriptions(given)
    sample = _documents(_SAMPLE, _SEED + 1)
    chosen = {bandwidth: _choose(bare, sample, bandwidth) for bandwidth in BANDWIDTHS}
    views = chosen[bare.bandwidth]
    network = tree(_SERVERS, _FANOUT, [views]).with_subscriptions(given)
    report = simulate(network, _documents(documents, _SEED))
    entries, total = report.entries or (0, 0), report.total
    return Routed(
        report.forwarded / report.flooded,
        *entries,
        total.hit_rate or 0.0,
        len(views.views),
        total.header_bytes_in / total.documents,
        total.bytes_in / total.documents,
        tuple((bandwidth, len(each.views)) for bandwidth, each in chosen.items()),
        draw(network, report),
    )


@dataclass(frozen=True, slots=True)
class Churn:
    """Milliseconds: to change a subscription at the edge, and for a document behind each change, or behind none."""

    queries: int
    subscribe_ms: float
    unsubscribe_ms: float
    document_ms: float
    undisturbed_ms: float


def churn(each: int, changes: int) -> Churn:
    """Subscriptions come and go at the last server of the tree, while documents flow; no two of them are alike."""
    given = {f"s{at}": [f"/news[@lang = 'x{at} {of}']" for of in range(each)] for at in range(_SERVERS)}
    simulation = Simulation(tree(_SERVERS, _FANOUT).with_subscriptions(given))
    documents = _documents(2 * changes, _SEED)
    simulation.publish(documents[:1])
    last = f"s{_SERVERS - 1}"
    spent = {"subscribe": 0.0, "unsubscribe": 0.0, "document": 0.0}
    for at in range(changes):
        subscription = Subscription(f"new{at}", f"/news[@lang = 'new {at}']")
        spent["subscribe"] += timed(lambda one: simulation.subscribe(last, one), subscription)[0]
        spent["document"] += timed(simulation.publish, documents[at : at + 1])[0]
        spent["unsubscribe"] += timed(lambda id: simulation.unsubscribe(last, id), subscription.id)[0]
        spent["document"] += timed(simulation.publish, documents[at : at + 1])[0]
    undisturbed = sum(timed(simulation.publish, [document])[0] for document in documents)
    subscribe, unsubscribe, document = (1e3 * seconds / changes for seconds in spent.values())
    return Churn(each * _SERVERS, subscribe, unsubscribe, document / 2, 1e3 * undisturbed / len(documents))


def _documents(number: int, seed: int) -> list[Document]:
    made = generate_documents(shipped("news"), number=number, values=_VALUES, seed=seed)
    return [Document(data, f"{at:06}.xml") for at, data in enumerate(made, start=1)]


def _choose(network: Topology, sample: list[Document], bandwidth: float) -> Configuration:
    """The views that pay on links of this bandwidth."""
    asked = view_workload(network, sample)
    found = make_problem(asked.servers, sample, parse_seconds=_PARSE, bandwidth=bandwidth, links=asked.links)
    return configure("news", found.texts(select_views(found.problem).views), namespaces=found.namespaces)
