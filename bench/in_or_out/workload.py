"""The paper's streams and queries, drawn anew: auctions wide, listings as on Ebay, and elements nested deep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from weft import Document, Dtd

_TEXT = (
    "lorem ipsum dolor sit amet consetetur sadipscing elitr sed diam nonumy eirmod tempor invidunt ut labore et "
    "dolore magna aliquyam erat voluptua at vero eos accusam justo duo dolores ea rebum stet clita"
)
_WORDS = _TEXT.split()
#: Table 4: the share of listings whose seller, bids, auction and item pass the query's filters.
EBAY_STREAMS = ((0.1, 0.5, 0.7, 0.9), (0.9, 0.1, 0.5, 0.7), (0.7, 0.9, 0.1, 0.5), (0.5, 0.7, 0.9, 0.1))


@dataclass(frozen=True, slots=True)
class Workload:
    """A query and the elements of a stream, as many as fill so many bytes."""

    query: str
    elements: list[Document]


def make_workload(query: str, element: Callable[[Random], str], size: int, seed: int) -> Workload:
    """Draw elements until they are enough."""
    random, elements, filled = Random(seed), list[Document](), 0
    while filled < size:
        data = element(random).encode()
        elements.append(Document(data, str(len(elements))))
        filled += len(data)
    return Workload(query, elements)


def _text(random: Random, words: int) -> str:
    return " ".join(random.choices(_WORDS, k=words))


# -- Figure 8 (a): wide and simple


def wide(patterns: int, stream: int, size: int, seed: int) -> Workload:
    """Auctions with children of which four fifths are in a tenth of them, or, in stream 2, in nine tenths."""
    usual, other = (0.1, 0.9) if stream == 1 else (0.9, 0.1)
    shares = [other if at % 5 == 4 else usual for at in range(patterns)]

    def element(random: Random) -> str:
        children = [f"<p{at}>{_text(random, 3)}</p{at}>" for at, share in enumerate(shares) if random.random() < share]
        told = f"<seller>{_text(random, 2)}</seller><annotation><text>{_text(random, 40)}</text></annotation>"
        bids = "".join(f"<bidder><increase>{random.randrange(90)}</increase></bidder>" for _ in range(6))
        return f"<auction>{''.join(children)}{told}{bids}</auction>"

    query = "/auction" + "".join(f"[p{at}]" for at in range(patterns))
    return make_workload(query, element, size, seed)


# -- Figure 9: wide and complex, on listings as the DTD of Ebay's data has them


@dataclass(frozen=True, slots=True)
class Filter:
    """A leaf of a listing and the condition on it; how a value that passes is drawn, and one that does not."""

    path: str
    condition: str
    passing: Callable[[Random], str]
    failing: Callable[[Random], str]


def _number(path: str, least: int) -> Filter:
    return Filter(
        path, f"[{path} > {least}]", lambda random: str(random.randint(least + 1, 999)), lambda _: str(least - 1)
    )


def _contains(path: str, word: str, words: int) -> Filter:
    def failing(random: Random) -> str:
        return _text(random, words)

    return Filter(path, f'[contains({path}, "{word}")]', lambda random: f"{failing(random)} {word}", failing)


#: The paper's $b, $c, $d and $e with 2, 2, 12 and 5 filters.
GROUPS: dict[str, tuple[Filter, ...]] = {
    "seller_info": (_contains("seller_name", "SF", 3), _number("seller_rating", 4)),
    "auction_info": (
        *(_number(name, 3) for name in ("current_bid", "num_items", "num_bids", "bid_increment", "id_num")),
        *(_number(f"high_bidder/{name}", 3) for name in ("bidder_rating", "bidder_bids")),
        *(_contains(name, "CET", 3) for name in ("time_left", "started_at", "location", "opened")),
        _contains("notes", "new", 20),
    ),
    "bid_history": (_number("highest_bid_amount", 10), _number("quantity", 1)),
    "item_info": (
        *(_contains(name, "MB", 3) for name in ("memory", "hard_drive")),
        *(_contains(name, "GHz", 2) for name in ("cpu", "brand")),
        _contains("description", "warranty", 40),
    ),
}
#: In which order Table 4 names the groups.
_NAMED = ("seller_info", "bid_history", "auction_info", "item_info")
EBAY_QUERY = "/listing" + "".join(
    f"[{group}{''.join(each.condition for each in filters)}]" for group, filters in GROUPS.items()
)


def listing(random: Random, shares: dict[str, float]) -> str:
    """A listing of which each group passes with its share; each of its filters as often as another."""
    parts = []
    for group, filters in GROUPS.items():
        each_share = shares[group] ** (1 / len(filters))
        values = {
            each.path: (each.passing if random.random() < each_share else each.failing)(random) for each in filters
        }
        parts.append(f"<{group}>{_nested(values)}</{group}>")
        if group == "seller_info":
            parts.append(f"<payment_types>{_text(random, 4)}</payment_types>")
            parts.append(f"<shipping_info>{_text(random, 6)}</shipping_info>")
    return f"<listing>{''.join(parts)}</listing>"


def _nested(values: dict[str, str]) -> str:
    """Values by their paths of one or two names as XML."""
    inner: dict[str, list[str]] = {}
    for path, value in values.items():
        outer, _, name = path.rpartition("/")
        inner.setdefault(outer, []).append(f"<{name}>{value}</{name}>")
    return "".join(
        "".join(leaves) if not outer else f"<{outer}>{''.join(leaves)}</{outer}>" for outer, leaves in inner.items()
    )


def ebay(stream: int, size: int, seed: int) -> Workload:
    """Figure 9's query on one of the streams of Table 4."""
    shares = dict(zip(_NAMED, EBAY_STREAMS[stream - 1], strict=True))
    return make_workload(EBAY_QUERY, lambda random: listing(random, shares), size, seed)


def ebay_dtd() -> Dtd:
    """What listings keep to."""
    declared = []
    for group, filters in GROUPS.items():
        paths = [each.path for each in filters]
        outer = list(dict.fromkeys(path.split("/")[0] for path in paths))
        declared.append(f"<!ELEMENT {group} ({', '.join(outer)})>")
        for name in outer:
            below = [path.split("/")[1] for path in paths if path.startswith(f"{name}/")]
            declared.append(f"<!ELEMENT {name} ({', '.join(below) or '#PCDATA'})>")
            declared += [f"<!ELEMENT {each} (#PCDATA)>" for each in below]
    order = "seller_info, payment_types, shipping_info, auction_info, bid_history, item_info"
    text = f"<!ELEMENT listing ({order})><!ELEMENT payment_types (#PCDATA)><!ELEMENT shipping_info (#PCDATA)>"
    return Dtd.parse(text + "".join(declared), root="listing")


# -- Figure 8 (d): deep and complex


def deep(levels: int, size: int, seed: int) -> Workload:
    """Two leaves and an inner element a level, each there in most elements, with other content around them."""

    def inner(random: Random, level: int) -> str:
        if level == levels:
            return ""
        parts = [f"<note>{_text(random, 6)}</note>"]
        parts += [f"<{side}{level}>{_text(random, 2)}</{side}{level}>" for side in "ab" if random.random() < _SHARE]
        if random.random() < _SHARE:
            parts.append(f"<c{level}>{inner(random, level + 1)}</c{level}>")
        return "".join(parts)

    query = ""
    for level in reversed(range(levels)):
        query = f"[a{level}][b{level}][c{level}{query}]"
    return make_workload("/e" + query, lambda random: f"<e>{inner(random, 0)}</e>", size, seed)


_SHARE = 0.8


# -- selectivities that shift

SHIFT_GROUPS = 6
_RARE, _USUAL = 0.15, 0.98


def shifting(size: int, seed: int) -> Workload:
    """Reports whose parts are searched with regular expressions: first half of them let few pass, then the others."""
    halves = [make_workload("", _report(rare), size // 2, seed + rare).elements for rare in (0, 1)]
    elements = [Document(each.data, str(at)) for at, each in enumerate(halves[0] + halves[1])]
    conditions = "".join(rf"[matches(g{at}, 'code[0-9]+ (red|green) [a-z]+{at}')]" for at in range(SHIFT_GROUPS))
    return Workload(f"/report{conditions}", elements)


def _report(rare: int) -> Callable[[Random], str]:
    """Parts whose numbers are even are rare, or those whose numbers are odd."""

    def element(random: Random) -> str:
        parts = []
        for at in range(SHIFT_GROUPS):
            passes = random.random() < (_RARE if at % 2 == rare else _USUAL)
            code = f"code{random.randrange(100)} {random.choice(('red', 'green'))}"
            parts.append(f"<g{at}>{_text(random, 12)} {code} {_text(random, 1)}{at if passes else 'x'}</g{at}>")
        return f"<report>{''.join(parts)}</report>"

    return element


def halves_of(workload: Workload) -> Iterator[list[Document]]:
    """The elements before the shift, and those behind it."""
    middle = len(workload.elements) // 2
    yield workload.elements[:middle]
    yield workload.elements[middle:]


# -- elements of which little decides

AUCTION_QUERY = (
    '/auction[reserve > 650][bidder/increase > 5][seller/@person][annotation[contains(text, "dolor")]][quantity > 1]'
)
_BIDDERS = 40


def auctions(size: int, seed: int) -> Workload:
    """Auctions with long lists of bidders behind a reserve that every other one has, and that few have so high."""

    def element(random: Random) -> str:
        reserve = f"<reserve>{random.randrange(1, 700)}</reserve>" if random.random() < 1 / 2 else ""
        bidders = "".join(
            f"<bidder><date>{random.randrange(28)}/10/2026</date><personref person='p{random.randrange(9_999)}'/>"
            f"<increase>{random.randrange(1, 40)}</increase></bidder>"
            for _ in range(_BIDDERS)
        )
        told = f"<seller person='p{random.randrange(9_999)}'/><annotation><text>{_text(random, 20)}</text></annotation>"
        rest = f"{told}<quantity>{random.randrange(1, 9)}</quantity>"
        return f"<auction><initial>{random.randrange(99)}</initial>{reserve}{bidders}{rest}</auction>"

    return make_workload(AUCTION_QUERY, element, size, seed)


def auction_dtd() -> Dtd:
    """What they keep to: a reserve comes at most once, and before all bidders."""
    leaves = "".join(f"<!ELEMENT {name} (#PCDATA)>" for name in ("initial", "reserve", "date", "increase", "text"))
    return Dtd.parse(
        "<!ELEMENT auction (initial, reserve?, bidder*, seller, annotation, quantity)>"
        "<!ELEMENT bidder (date, personref, increase)><!ELEMENT personref EMPTY><!ELEMENT seller EMPTY>"
        f"<!ELEMENT annotation (text)><!ELEMENT quantity (#PCDATA)>{leaves}"
        "<!ATTLIST personref person CDATA #REQUIRED><!ATTLIST seller person CDATA #REQUIRED>",
        root="auction",
    )
