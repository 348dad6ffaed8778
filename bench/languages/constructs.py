"""The constructs that are measured: of each a query, and the nearest one without it; both are driven by one constant.

`KEY` stands for the constant, which is another one in each of the queries, and `NUMBER` for its number.
"""

from __future__ import annotations

from dataclasses import dataclass

_AUCTION = "for $a in /site/auction where $a/reserve = 'KEY'"
_RETURN = "<item>{ $a/name }{ $a/ends }</item>"
_BASE = f"<r>{{ {_AUCTION} return {_RETURN} }}</r>"
_PATH = "/site/auction[reserve = 'KEY']/name"


@dataclass(frozen=True, slots=True)
class MeasuredConstruct:
    """A construct, a query that has it, and the nearest one that has not."""

    name: str
    language: str
    query: str
    base: str

    def queries(self, number: int) -> list[str]:
        """So many queries that differ in their constants."""
        return [_with_constant(self.query, place) for place in range(number)]

    def bases(self, number: int) -> list[str]:
        """So many of the others."""
        return [_with_constant(self.base, place) for place in range(number)]


def _with_constant(query: str, place: int) -> str:
    return query.replace("KEY", f"k{place}").replace("NUMBER", str(place))


_FLWR = {
    "no enclosing element, elements": f"{_AUCTION} return {_RETURN}",
    "nested FLWR in return": f"<r>{{ {_AUCTION} return <item>{{ for $b in $a/bid return <b>{{ $b/by }}</b> }}</item> "
    "}</r>",
    "nested FLWR in let": f"{_AUCTION} let $b := (for $x in $a/bid return $x/price) return <item>{{ $b }}</item>",
    "two FLWRs in one element": f"<r>{{ {_AUCTION} return {_RETURN} }}{{ {_AUCTION} return count($a/bid) }}</r>",
    "if in return": f"<r>{{ {_AUCTION} return if (count($a/bid) > 2) then {_RETURN} else () }}</r>",
    "let of a value": f"{_AUCTION} let $n := count($a/bid) + 1 return <item n='{{ $n }}'>{{ $a/name }}</item>",
    "some of two variables": f"{_AUCTION} and (some $x in $a/bid, $y in $a/bid satisfies $x/price != $y/price) "
    f"return {_RETURN}",
    "distinct-values": f"{_AUCTION} return <item>{{ distinct-values($a/bid/by) }}</item>",
    "group by": f"{_AUCTION} group by $e := string($a/ends) return <item e='{{ $e }}'>{{ count($a) }}</item>",
    "at": "for $a at $i in /site/auction where $a/reserve = 'KEY' return <item n='{ $i }'>{ $a/name }</item>",
    "order by with types": f"{_AUCTION} order by number(substring($a/ends, 1, 4)) descending empty greatest "
    f"return {_RETURN}",
    "comparison of two paths": f"{_AUCTION} and $a/name != $a/bid/by return {_RETURN}",
    "join of two variables": "for $a in /site/auction, $b in /site/auction where $a/reserve = 'KEY' and "
    "$a/ends = $b/ends return <item>{ $a/name }{ $b/name }</item>",
    "string functions in return": f"{_AUCTION} return <item>{{ concat(upper-case($a/name), '; ') }}"
    "{ string-join($a/bid/by, ',') }</item>",
    "arithmetic in return": f"{_AUCTION} return <item>{{ 2 * count($a/bid) - 1 }}</item>",
    "aggregates in return": f"{_AUCTION} return <item>{{ max($a/bid/string-length(by)), sum((1, 2)) }}</item>",
    "exists, empty, data in return": f"{_AUCTION} return <item>{{ exists($a/bid), empty($a/x), data($a/@id) }}</item>",
    "prefixes in constructors": f'{_AUCTION} return <p:item xmlns:p="urn:p">{{ $a/name }}{{ $a/ends }}</p:item>',
    "computed constructors": f"{_AUCTION} return element item {{ attribute n {{ $a/@id }}, text {{ $a/name }} }}",
    "absolute path in return": f"{_AUCTION} return <item>{{ $a/name, count(/site/auction) }}</item>",
    "parent path in return": f"{_AUCTION} return <item>{{ $a/name, count($a/../auction) }}</item>",
    "siblings": f"{_AUCTION} return <item>{{ $a/following-sibling::auction[1]/name }}</item>",
    "predicate on a variable": f"{_AUCTION} return <item>{{ ($a/bid)[last()]/by }}</item>",
    "to, subsequence, reverse": f"{_AUCTION} return <item>{{ reverse(subsequence($a/bid/by, 1, 2)), 1 to 2 }}</item>",
    "casts": f"{_AUCTION} return <item>{{ xs:integer(substring($a/ends, 1, 4)) }}</item>",
    "switch": f"{_AUCTION} return switch (count($a/bid)) case 1 return 'one' default return 'more'",
    "union, except": f"{_AUCTION} return <item>{{ $a/(* except bid) }}</item>",
    "functions of the query": "declare function local:f($a as element()) as element() { <item>{ $a/name }</item> }; "
    f"{_AUCTION} return local:f($a)",
    "declare variable": f"declare variable $more := 2; {_AUCTION} return <item>{{ count($a/bid) * $more }}</item>",
    "a comment and CDATA": f"{_AUCTION} return <item><!-- c --><![CDATA[<]]>{{ $a/name }}</item>",
}
_XPATH = {
    "count()": "/site/auction[reserve = 'KEY'][count(bid) > 1]/name",
    "contains()": "/site/auction[reserve = 'KEY'][contains(ends, '2026')]/name",
    "position": "/site/auction[reserve = 'KEY']/bid[2]/by",
    "parent": "/site/auction/reserve[. = 'KEY']/../name",
    "not()": "/site/auction[reserve = 'KEY'][not(x)]/name",
    "string()": "/site/auction[string(reserve) = 'KEY']/name",
    "exists()": "/site/auction[exists(reserve[. = 'KEY'])]/name",
    "a list of constants": "/site/auction[reserve = ('KEY', 'never NUMBER')]/name",
}
CONSTRUCTS = (
    *(MeasuredConstruct(name, "xpath", query, _PATH) for name, query in _XPATH.items()),
    *(MeasuredConstruct(name, "xquery", query, _BASE) for name, query in _FLWR.items()),
)
