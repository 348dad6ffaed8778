"""A DTD and the parameters of a workload in, random FLWR queries that its documents can match out."""

from __future__ import annotations

from random import Random

from weft.documents.dtd import Dtd
from weft.workload.distinct import draw_distinct
from weft.workload.flwr_shape import ComparisonMix, FlwrShape
from weft.workload.flwr_writer import FlwrWriter
from weft.workload.options import check_least

_ADVICE = "allow more by depth, path_depth, predicate_paths, return_paths, descendant or values"


# Long: half of it says what the options mean.
def generate_flwr(
    dtd: Dtd,
    *,
    number: int,
    depth: int = 2,
    predicate_paths: int = 1,
    return_paths: int = 2,
    path_depth: int = 2,
    descendant: float = 0.2,
    values: int = 10,
    words: int = 4,
    binding_predicates: float = 0.0,
    where_or: float = 0.0,
    second_variable: float = 0.0,
    let: float = 0.0,
    order_by: float = 0.0,
    attributes: float = 0.0,
    texts: float = 0.0,
    counts: float = 0.0,
    comparison: ComparisonMix = "equal",
    distinct: bool = True,
    seed: int = 0,
) -> list[str]:
    """FLWR queries after table 1 of the brokering paper, the probabilities 0; each of these adds what is not there.

    depth               steps of the binding path (D1); less only where no such walk ends at an element with
                        enough paths below, or where `//` leaves elements of the walk out
    predicate_paths     how many different paths the where clause compares (PP)
    return_paths        how many different paths the message has (RP)
    path_depth          the most steps of these paths (D2)
    descendant          how likely a step is `//` (DSProb)
    values              how many values there are (MaxValue), and `words` their length, as for the documents
    binding_predicates  a predicate at a step of the binding path
    where_or            or, not(), existence, count() and contains() in the where clause
    second_variable     a variable that starts from the first
    let                 a name for a path
    order_by            an order by an attribute
    attributes          an attribute copied into the item, an attribute made of values, or both
    texts               text() of some elements, and constant text
    counts              count() of some paths
    comparison          "mixed" also compares by != and, attributes that are numbers, by < and >
    distinct            that no text comes twice
    """
    check_least(number=(number, 0))
    shape = FlwrShape(
        depth=depth,
        predicate_paths=predicate_paths,
        return_paths=return_paths,
        path_depth=path_depth,
        descendant=descendant,
        values=values,
        words=words,
        binding_predicates=binding_predicates,
        where_or=where_or,
        second_variable=second_variable,
        let=let,
        order_by=order_by,
        attributes=attributes,
        texts=texts,
        counts=counts,
        comparison=comparison,
    )
    writer = FlwrWriter(dtd, shape, Random(f"{seed}/flwr"))
    if distinct:
        return draw_distinct(writer.query, number, f"the DTD with root {dtd.root!r} limits them; {_ADVICE}")
    return [writer.query() for _ in range(number)]
