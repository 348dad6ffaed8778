"""A DTD and the parameters of a workload in, random XPath queries that its documents can match out."""

from __future__ import annotations

from random import Random

from weft.documents.dtd import Dtd
from weft.workload.distinct import draw_distinct
from weft.workload.options import check_least
from weft.workload.query_writer import QueryShape, QueryWriter
from weft.workload.walks import zipf

_ADVICE = "allow more by depth, descendant, wildcard, predicates, nested or values"


# Long: half of it says what the options mean.
def generate_queries(
    dtd: Dtd,
    *,
    number: int,
    depth: int = 6,
    descendant: float = 0.2,
    wildcard: float = 0.2,
    predicates: int = 0,
    predicate_probability: float = 1.0,
    nested: int = 0,
    nested_probability: float = 1.0,
    values: int = 100,
    words: int = 4,
    skew: float = 0.0,
    distinct: bool = True,
    seed: int = 0,
) -> list[str]:
    """XPath queries along random walks from the root of the element graph.

    depth       how deep a walk goes (the paper's D1); less only where the DTD ends before
    descendant  how likely a step is `//` (DSProb), which may leave out elements of the walk
    wildcard    how likely a step is `*`
    predicates  the most tests on values (PP), each there with `predicate_probability`
    nested      the most tests that a path exists, each there with `nested_probability`
    values      how many values there are, and `words` their length, as for the documents to be matched
    skew        Zipf's exponent for the choice among children and, unless distinct, among whole queries
    distinct    that no text comes twice
    """
    check_least(number=(number, 0))
    shape = QueryShape(
        depth=depth,
        descendant=descendant,
        wildcard=wildcard,
        predicates=predicates,
        predicate_probability=predicate_probability,
        nested=nested,
        nested_probability=nested_probability,
        values=values,
        words=words,
        skew=skew,
    )
    rng = Random(f"{seed}/queries")
    writer = QueryWriter(dtd, shape, rng)
    if distinct:
        return draw_distinct(writer.query, number, _ADVICE)
    drawn = [writer.query() for _ in range(number)]
    if not skew or not drawn:
        return drawn
    pool = list(dict.fromkeys(drawn))
    return rng.choices(pool, cum_weights=zipf(len(pool), skew), k=number)
