"""Numbers of queries in; for each construct of FLWR documents and that many queries, all driven by one constant, out.

The documents are like those of an auction site. A constant of the first thousand queries stands in some documents;
those of the others in none, so that more queries deliver nothing more.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

TOUCHING = 1_000  # queries whose constants stand in documents
_AUCTIONS, _BIDS = 16, 3

_ONE = "for $a in /site/auction"
_TWO = f"{_ONE}, $b in $a/bid"
_OF_ONE, _OF_TWO = "<item>{ $a/name }{ $a/ends }</item>", "<item>{ $a/name }{ $b/by }</item>"
#: By construct what stands between the braces of a query, `KEY` in the place of its constant, `BEYOND` in that of a
#: number that no count or position comes to. An item has two nodes.
CONSTRUCTS: dict[str, str] = {
    "one": f"{_ONE} where $a/bid/price = 'KEY' return {_OF_ONE}",
    "two_variables": f"{_TWO} where $b/price = 'KEY' return {_OF_TWO}",
    "order": f"{_ONE} where $a/bid/price = 'KEY' order by $a/ends return {_OF_ONE}",
    "return_predicate": f"{_ONE} where $a/bid/price = 'KEY' return "
    "<item>{ $a/name }{ $a/bid[price = 'KEY']/by }</item>",
    "or": f"{_TWO} where $a/reserve = 'KEY' or $b/price = 'KEY' return {_OF_TWO}",
    "count": f"{_ONE} where count($a/bid[price = 'KEY']) = 1 return {_OF_ONE}",
    "position": f"for $a in /site/auction[bid/price = 'KEY'][1] return {_OF_ONE}",
    "untouched": f"{_TWO} where $b/price = 'never KEY' return {_OF_TWO}",
    "untouched_count": f"{_ONE} where count($a/bid) > BEYOND return {_OF_ONE}",
    "untouched_count_of": f"{_ONE} where count($a/bid[price = 'never KEY']) > 1 return {_OF_ONE}",
    "untouched_position": f"for $a in /site/auction[BEYOND] return {_OF_ONE}",
}


def construct_queries(construct: str, number: int) -> list[str]:
    """So many queries that differ in their constants alone."""
    query = f"<r>{{ {CONSTRUCTS[construct]} }}</r>"
    return [query.replace("KEY", f"k{place}").replace("BEYOND", str(100 + place)) for place in range(number)]


def auction_documents(number: int, seed: int = 0) -> Iterator[bytes]:
    """Documents of 16 auctions with three bids each; one auction in eight has a reserve."""
    for place in range(number):
        random = Random(f"{seed}/{place}")
        auctions = "".join(_auction(random, at) for at in range(_AUCTIONS))
        yield f"<site>{auctions}</site>".encode()


def _auction(random: Random, at: int) -> str:
    bids = "".join(
        f"<bid><by>person {random.randrange(10_000)}</by><price>{_constant(random)}</price></bid>" for _ in range(_BIDS)
    )
    reserve = f"<reserve>{_constant(random)}</reserve>" if random.random() < 1 / 8 else ""
    ends = f"<ends>2026-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}</ends>"
    return f"<auction id='a{at}'><name>lot {random.randrange(10_000)}</name>{ends}{reserve}{bids}</auction>"


def _constant(random: Random) -> str:
    return f"k{random.randrange(TOUCHING)}"
