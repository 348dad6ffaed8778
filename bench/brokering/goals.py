"""What constructs and delivery cost in, the figures of brokering that have goals, and their tables, out."""

from __future__ import annotations

from collections.abc import Sequence

from bench.brokering.beside_constructs import ConstructCost
from bench.brokering.constructs import CONSTRUCTS
from bench.brokering.delivering import Delivering
from bench.brokering.standing import Standing
from bench.goals import Goal
from bench.report import Figure, Table
from bench.table import compact

_RATIOS = {
    "two_variables": "two variables, `where $b/price = …`",
    "order": "one variable and `order by`",
    "return_predicate": "a predicate in the return path",
    "or": "two variables, `where … or …`",
    "count": "a count, `where count($a/bid[price = …]) = 1`",
    "position": "a position, `for $a in /site/auction[bid/price = …][1]`",
}
_BATCH, _ALONE = "a document in batches of 64", "a document alone"
#: By key each figure in words, with its goal.
GOALS: dict[str, Goal] = {
    **{
        f"{construct}_over_one{end}": Goal(f"{text}: over one variable, {how}", most=2)
        for construct, text in _RATIOS.items()
        for end, how in (("", _BATCH), ("_alone", _ALONE))
    },
    "untouched_us": Goal(f"µs for queries that the data does not touch, {_BATCH}"),
    "untouched_us_alone": Goal(f"the same, {_ALONE}"),
    "constructs_growth": Goal("the most that a row above grows with the queries, what is delivered staying", most=2),
    "speedup_vs_saxon_constructs": Goal("Saxon over Weft, until all is text, the least of all constructs", least=5),
    "speedup_vs_saxon_messages_1k": Goal("Saxon over Weft, until all is text, Book", least=20),
    "speedup_vs_saxon_messages_1k_bib": Goal("Saxon over Weft, until all is text, Bib", least=20),
    "publish_us_per_message": Goal("µs a message that nobody reads as text", most=1.5),
    "buffer_us_per_message": Goal("µs a message that is written into Arrow's buffer", most=5),
    "unsubscribe_longest_ms": Goal("the longest `unsubscribe`, ms", most=20),
    "subscribe_longest_ms": Goal("the longest `subscribe` where no document has come, ms", most=20),
    "merge_longest_ms": Goal("the longest `subscribe` while documents flow, ms", most=20),
    "first_document_ms": Goal("the longest `publish` of a document after many came or went, ms"),
    "plansharing_over_ours": Goal("PlanSharing over the shared plan, the most plans", least=1),
}


def goal_figures(
    costs: Sequence[ConstructCost], delivering: Delivering, standing: Standing | None
) -> dict[str, Figure]:
    """The figures of all of them."""
    sizes = sorted({cost.queries for cost in costs})
    by_place = {(cost.construct, cost.queries): cost for cost in costs}
    one = by_place["one", sizes[-1]]
    figures: dict[str, float | None] = {}
    for construct in _RATIOS:
        cost = by_place[construct, sizes[-1]]
        figures[f"{construct}_over_one"] = cost.batch_us / one.batch_us
        figures[f"{construct}_over_one_alone"] = cost.alone_us / one.alone_us
    untouched = by_place["untouched", sizes[-1]]
    figures |= {"untouched_us": untouched.batch_us, "untouched_us_alone": untouched.alone_us}
    figures["constructs_growth"] = max(
        max(many.batch_us / few.batch_us, many.alone_us / few.alone_us)
        for construct in CONSTRUCTS
        for few, many in [(by_place[construct, sizes[0]], by_place[construct, sizes[-1]])]
    )
    speedups = [cost.saxon_us / cost.alone_us for cost in costs if cost.saxon_us is not None]
    figures["speedup_vs_saxon_constructs"] = min(speedups, default=None)
    figures |= {
        "publish_us_per_message": delivering.publish_us,
        "read_us_per_message": delivering.read_us,
        "buffer_us_per_message": delivering.buffer_us,
        "unsubscribe_longest_ms": standing and standing.unsubscribe_ms,
        "subscribe_longest_ms": standing and standing.subscribe_ms,
        "merge_longest_ms": standing and standing.merge_ms,
        "first_document_ms": standing and standing.document_ms,
    }
    return {
        **{key: None if value is None else float(f"{value:.4g}") for key, value in figures.items()},
        "construct_queries": sizes[-1],
        "delivering_queries": delivering.queries,
        "standing_queries": None if standing is None else standing.queries,
    }


def constructs_table(costs: Sequence[ConstructCost]) -> Table:
    """A row for each construct and size."""
    columns = ("construct", "queries", "batch of 64", "alone", "Saxon", "× Saxon / alone", "messages a document")
    rows = tuple(
        (
            cost.construct.replace("_", " "),
            f"{cost.queries:,}",
            compact(cost.batch_us),
            compact(cost.alone_us),
            cost.reason or compact(cost.saxon_us),
            compact(None if cost.saxon_us is None else cost.saxon_us / cost.alone_us),
            compact(cost.messages),
        )
        for cost in costs
    )
    return Table("Constructs, from a parsed document until all messages are text, µs a document", columns, rows)


def delivering_table(found: Delivering) -> Table:
    """What a message costs."""
    rows = (
        ("published, nobody reads texts", compact(found.publish_us)),
        ("published, and each text read", compact(found.read_us)),
        ("from the node table into one buffer", compact(found.buffer_us)),
    )
    title = f"Delivery: Book, {found.queries:,} queries, {compact(found.messages)} messages a document, µs a message"
    return Table(title, ("", "µs"), rows)
