"""The shapes of generated queries that lxml and Saxon judge, and that run on Spark too."""

from typing import Any

# Few values everywhere, so that tests on them hold now and then.
XPATH_SHAPES: tuple[dict[str, Any], ...] = (
    {"descendant": 0.3},
    {"predicates": 2, "values": 5, "words": 2},
    {"nested": 2, "descendant": 0.3},
    {"predicates": 2, "nested": 2, "predicate_probability": 0.6, "values": 5, "words": 2, "wildcard": 0.4},
    {"depth": 3, "predicates": 1, "nested": 1, "values": 5, "words": 2, "skew": 1.0},
)

FLWR_VALUES: dict[str, Any] = {"values": 4, "words": 2}
#: By DTD the shapes of documents and of queries; sections lie in sections, down to depth 7.
FLWR_SHAPES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "bibliography": ({"elements": 30}, {"depth": 2}),
    "book": ({"depth": 7, "repeats": {"book/section": 2, "*": 3}, "elements": 60}, {"depth": 3}),
    "auction": ({"elements": 120, "repeats": 2}, {"depth": 3}),
}
#: What generated FLWR queries have beyond those of the paper.
FLWR_EXTRAS: dict[str, Any] = {
    "binding_predicates": 0.3,
    "where_or": 0.4,
    "second_variable": 0.4,
    "let": 0.4,
    "order_by": 0.4,
    "attributes": 0.5,
    "texts": 0.5,
    "counts": 0.5,
    "comparison": "mixed",
}
