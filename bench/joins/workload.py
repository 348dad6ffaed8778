"""Parameters of the joins paper in; its documents as XML, and its queries (figure 17) as XSCL texts and plans, out.

The paper's feeds are not to be had, so feed items are generated: five leaf fields, 418 channels of unequal popularity,
and items that are posted again now and then, so that there is something to join.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import accumulate, groupby
from random import Random

from weft.documents import Document
from weft.languages.xscl import parse
from weft.plans.xscl import Xscl

ZIPF = 0.8  # table 5
CHANNELS = 418
_START = datetime(2006, 6, 1)
_GAP = 60  # mean seconds between two items: 225,000 from June to October
_WORDS = 2_000


@dataclass(frozen=True, slots=True)
class Schema:
    """The leaves of a kind of document, each by its tags below the root; all tags are different."""

    root: str
    leaves: tuple[tuple[str, ...], ...]


FEED = Schema("item", (("item_url",), ("channel_url",), ("title",), ("timestamp",), ("description",)))


def two_level(leaves: int = 6) -> Schema:
    """All leaves are children of the root."""
    return Schema("root", tuple((f"leaf{number}",) for number in range(1, leaves + 1)))


def three_level(branches: int = 4) -> Schema:
    """The root and the nodes below it have as many children each."""
    places = range(1, branches + 1)
    return Schema("root", tuple((f"node{above}", f"leaf{above}{below}") for above in places for below in places))


# -- queries


@dataclass(frozen=True, slots=True)
class Queries:
    """Standing queries, equal ones by one plan: `plans` has each once, `order` says which one every query is."""

    plans: tuple[Xscl, ...]
    order: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.order)

    def first(self, number: int) -> Queries:
        """The first so many, and the plans that they have."""
        places: dict[int, int] = {}
        order = tuple(places.setdefault(at, len(places)) for at in self.order[:number])
        return Queries(tuple(self.plans[at] for at in places), order)

    def copies(self) -> list[int]:
        """How many queries each plan is."""
        counts = [0] * len(self.plans)
        for at in self.order:
            counts[at] += 1
        return counts


def make_queries(schema: Schema, number: int, seed: int, zipf: float = ZIPF, most: int | None = None) -> Queries:
    """Random queries: k value joins, at most `most`, small k more often, each between any leaf and any other."""
    random, places = Random(seed), range(len(schema.leaves))
    sizes = range(1, (most or len(places)) + 1)
    weights = list(accumulate(size**-zipf for size in sizes))
    met: dict[tuple[tuple[int, int], ...], int] = {}
    order = tuple(
        met.setdefault(tuple(sorted(zip(random.sample(places, k), random.sample(places, k), strict=True))), len(met))
        for k in random.choices(sizes, cum_weights=weights, k=number)
    )
    return Queries(tuple(parse(query_text(schema, joins)) for joins in met), order)


def query_text(schema: Schema, joins: tuple[tuple[int, int], ...]) -> str:
    """The query that joins these pairs of leaves.

    Every node above a leaf is a variable too, as in the paper; the window is infinite.
    """
    predicates = " AND ".join(f"x{number} = y{number}" for number in range(1, len(joins) + 1))
    left, right = (
        _block(schema, name, {place: number for number, place in enumerate(side, start=1)})
        for name, side in zip("xy", zip(*joins, strict=True), strict=True)
    )
    return f"{left} FOLLOWED BY{{{predicates}, infinite}} {right}"


def _block(schema: Schema, name: str, numbers: dict[int, int]) -> str:
    leaves = sorted((schema.leaves[place], number) for place, number in numbers.items())
    inner = ""
    for above, below in groupby(leaves, key=lambda leaf: leaf[0][:-1]):
        ends = "".join(f"[.//{path[-1]}->{name}{number}]" for path, number in below)
        inner += f"[.//{above[0]}->{name}_{above[0]}{ends}]" if above else ends
    return f"S//{schema.root}->{name}0{inner}"


# -- documents


def make_pair(schema: Schema, number: int) -> tuple[Document, Document]:
    """Two documents whose leaves in one place have one value, and no other leaves of any pair have it."""
    values = [f"{number} {place}" for place in range(len(schema.leaves))]
    data = _xml(schema, values)
    return Document(data, f"first {number}", timestamp=2.0 * number), Document(
        data, f"second {number}", timestamp=2.0 * number + 1
    )


def make_items(number: int, seed: int) -> Iterator[Document]:
    """Feed items in the order of time, no two of one moment.

    One in twenty is posted again with the title of an earlier one, half of them with its description too, and one in
    fifty has its title as its description. One in ten has the time of the one before it in its text.
    """
    random = Random(seed)
    popularity = list(accumulate((rank + 1) ** -ZIPF for rank in range(CHANNELS)))
    words = [f"word{at}" for at in range(_WORDS)]
    known: list[tuple[str, str]] = []
    seconds = 0.0
    for at in range(number):
        channel = f"http://channel{random.choices(range(CHANNELS), cum_weights=popularity)[0]}.example.org/feed"
        title = " ".join(random.choices(words, k=6))
        description = " ".join(random.choices(words, k=20))
        chance = random.random()
        if known and chance < 0.05:
            old = random.choice(known)
            title, description = old[0], old[1] if chance < 0.025 else description
        elif chance > 0.98:
            description = title
        known.append((title, description))
        seconds += 0 if random.random() < 0.1 else random.expovariate(1 / _GAP)
        shown = (_START + timedelta(seconds=int(seconds))).isoformat()
        values = (f"{channel}/{at}", channel, title, shown, description)
        yield Document(_xml(FEED, values), f"item {at}", timestamp=float(at))


def _xml(schema: Schema, values: tuple[str, ...] | list[str]) -> bytes:
    inner = ""
    for above, below in groupby(zip(schema.leaves, values, strict=True), key=lambda leaf: leaf[0][:-1]):
        ends = "".join(f"<{path[-1]}>{value}</{path[-1]}>" for path, value in below)
        inner += f"<{above[0]}>{ends}</{above[0]}>" if above else ends
    return f"<{schema.root}>{inner}</{schema.root}>".encode()
