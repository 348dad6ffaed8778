"""The parameters of the brokering paper in; its queries as plans, and its documents as batches of node tables, out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from weft.documents import Document, Dtd, NodeTable, read
from weft.languages.xquery import parse_flwr
from weft.plans.flwr import Flwr
from weft.reference.pathsharing.optimize import canonical_paths
from weft.workload import generate_documents, generate_flwr, shipped

BATCH = 20
FEW = 5  # documents that warm up a way which takes a time for each query
_SHIPPED = {"Bib": "bibliography", "Book": "book"}
_BINDING_DEPTH = {"Bib": 2, "Book": 3}  # the paper's D1


@dataclass(frozen=True, slots=True)
class Setting:
    """What the paper calls MaxValue, PP and RP; D1 follows from the DTD, D2 is 2 and DSProb is 0.2."""

    dtd: Literal["Bib", "Book"]
    values: int = 10
    predicate_paths: int = 1
    return_paths: int = 2


@dataclass(frozen=True, slots=True)
class Feed:
    """Batches that share no document: what is measured is new to the engine, whatever it got before."""

    warm_up: NodeTable
    few: NodeTable  # the first documents of the warm-up
    batches: tuple[tuple[int, NodeTable], ...]  # each with its number
    profiled: tuple[NodeTable, ...]
    singles: tuple[NodeTable, ...]  # of one document each

    def part(self, at: int, parts: int) -> Feed:
        """One of several parts that share the warm-up alone, for what is slow: less of everything.

        So an engine can be measured, grow, be measured again, and still see no document twice.
        """
        some = slice(at, at + 1)
        return Feed(self.few, self.few, self.batches[at::parts], self.profiled[some], self.singles[some])


def dtd_of(setting: Setting) -> Dtd:
    """The DTD of a workload."""
    return shipped(_SHIPPED[setting.dtd])


def make_documents(setting: Setting, number: int) -> Iterator[bytes]:
    """The paper's documents: 149 elements that are not recursive, or 83 with up to four levels of sections."""
    dtd, values = dtd_of(setting), setting.values
    if setting.dtd == "Bib":
        return generate_documents(
            dtd, number=number, depth=4, repeats={"book": 20, "*": 5}, elements=149, values=values
        )
    return generate_documents(
        dtd, number=number, depth=5, repeats={"book/section": 12, "*": 4}, elements=83, values=values
    )


def make_feed(setting: Setting, measured: int, profiled: int, singles: int) -> Feed:
    """So many documents of each sort, after those of the warm-up."""
    made = make_documents(setting, BATCH + measured + profiled + singles)
    warm_up = list(islice(made, BATCH))
    return Feed(
        as_table(warm_up),
        as_table(warm_up[:FEW]),
        tuple(enumerate(_tables(islice(made, measured)))),
        tuple(_tables(islice(made, profiled))),
        tuple(as_table([document]) for document in made),
    )


def as_table(documents: list[bytes]) -> NodeTable:
    """A batch, parsed."""
    return read(Document(document, id=str(number)) for number, document in enumerate(documents))


def _tables(documents: Iterator[bytes]) -> Iterator[NodeTable]:
    while batch := list(islice(documents, BATCH)):
        yield as_table(batch)


def make_queries(setting: Setting, number: int) -> list[str]:
    """Distinct queries; fewer are a prefix of more."""
    return generate_flwr(
        dtd_of(setting),
        number=number,
        depth=_BINDING_DEPTH[setting.dtd],
        predicate_paths=setting.predicate_paths,
        return_paths=setting.return_paths,
        values=setting.values,
    )


def make_plans(setting: Setting, number: int) -> list[Flwr]:
    """A plan for each of so many distinct queries."""
    return [parse_flwr(query) for query in make_queries(setting, number)]


def make_distinct_plans(setting: Setting, sizes: tuple[int, ...]) -> tuple[list[Flwr], list[int]]:
    """As many plans as the largest size, all different once their paths are canonical, and for each size how many
    queries they come from: queries with the same plan cost nothing more."""
    dtd = dtd_of(setting)
    plans: dict[Flwr, None] = {}
    needed: dict[int, int] = {}
    for place, query in enumerate(make_queries(setting, max(sizes) * 5 // 4), 1):
        plans[canonical_paths(parse_flwr(query), dtd)] = None
        if len(plans) in sizes:
            needed.setdefault(len(plans), place)
        if len(plans) == max(sizes):
            break
    return list(plans), [needed[size] for size in sizes]
