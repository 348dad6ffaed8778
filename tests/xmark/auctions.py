"""Small auction sites, with the structure of XMark's documents: people, items, auctions, and what refers to what."""

from __future__ import annotations

from random import Random

_REGIONS = ("africa", "asia", "australia", "europe", "namerica", "samerica")
_WORDS = ("gold", "silver", "duteous", "the", "of", "ring", "letter", "honour & fear", "<sea>")
_INCOMES = (9876.5, 30000, 45230.75, 99999.99, 100000, 250000)
_PLACES = ("United States", "Germany", "Peru", "Ghana")


def auction_site(seed: int, people: int = 6, items: int = 8, auctions: int = 5) -> str:
    """A document; the same for a seed. `person20` and `person51` bid for some things."""
    return _Site(Random(seed), people, items, auctions).text()


class _Site:
    def __init__(self, random: Random, people: int, items: int, auctions: int) -> None:
        self._random, self._people, self._items, self._auctions = random, people, items, auctions
        self._persons = [f"person{number}" for number in range(people)]
        if random.random() < 0.7:
            self._persons[-2:] = ["person20", "person51"]

    def text(self) -> str:
        """The whole site."""
        placed: dict[str, list[str]] = {region: [] for region in _REGIONS}
        for number in range(self._items):
            placed[self._random.choice(_REGIONS)].append(self._item(number))
        regions = "".join(f"<{region}>{''.join(each)}</{region}>" for region, each in placed.items())
        categories = "".join(f'<category id="category{at}"><name>c{at}</name></category>' for at in range(3))
        people = "".join(map(self._person, self._persons))
        opened = "".join(self._open(number) for number in range(self._auctions))
        closed = "".join(self._closed() for _ in range(self._auctions))
        return (
            f"<site><regions>{regions}</regions><categories>{categories}</categories><catgraph/>"
            f"<people>{people}</people><open_auctions>{opened}</open_auctions>"
            f"<closed_auctions>{closed}</closed_auctions></site>"
        )

    def _maybe(self, text: str, chance: float = 0.5) -> str:
        return text if self._random.random() < chance else ""

    def _words(self, most: int = 4) -> str:
        words = (self._random.choice(_WORDS) for _ in range(self._random.randint(1, most)))
        return " ".join(words).replace("&", "&amp;").replace("<", "&lt;")

    def _rich(self) -> str:
        inner = f"{self._words()} <keyword>{self._words(1)}</keyword>"
        return f"<text>{self._words()} <emph>{inner}</emph>{self._maybe(' <bold>b</bold>')}</text>"

    def _description(self) -> str:
        inner = f"<parlist><listitem>{self._rich()}</listitem><listitem>{self._rich()}</listitem></parlist>"
        deep = f"<parlist><listitem>{inner}</listitem></parlist>"
        return f"<description>{self._random.choice((self._rich(), inner, deep))}</description>"

    def _item(self, number: int) -> str:
        location = self._maybe(f"<location>{self._random.choice(_PLACES)}</location>", 0.8)
        mail = f"<mail><from>a</from><to>b</to><date>01/02/2000</date>{self._rich()}</mail>"
        return (
            f'<item id="item{number}"{self._maybe(""" featured="yes" """, 0.2)}>{location}<quantity>1</quantity>'
            f"<name>{self._words(2)}</name><payment>Cash</payment>{self._description()}"
            f'<incategory category="category{self._random.randint(0, 2)}"/>'
            f"<mailbox>{self._maybe(mail)}</mailbox></item>"
        )

    def _person(self, id: str) -> str:
        income = self._maybe(
            f' income="{self._random.choice((9876.5, 30000, 45230.75, 99999.99, 100000, 250000))}"', 0.7
        )
        interests = "".join(
            f'<interest category="category{self._random.randint(0, 2)}"/>' for _ in range(self._random.randint(0, 2))
        )
        profile = (
            f"<profile{income}>{interests}{self._maybe('<education>College</education>')}"
            f"{self._maybe('<gender>female</gender>')}<business>No</business>{self._maybe('<age>31</age>')}</profile>"
        )
        address = (
            "<address><street>1 Way</street><city>Rome</city><country>Italy</country><zipcode>1</zipcode></address>"
        )
        return (
            f'<person id="{id}"><name>{self._words(2)}</name><emailaddress>mailto:{id}@x.org</emailaddress>'
            f"{self._maybe(address)}{self._maybe('<homepage>http://x.org/</homepage>')}"
            f"{self._maybe('<creditcard>1 2 3</creditcard>')}{self._maybe(profile, 0.8)}</person>"
        )

    def _money(self, most: int) -> str:
        return f"{self._random.randint(1, most)}.{self._random.randint(0, 99):02d}"

    def _open(self, number: int) -> str:
        bidders = "".join(
            "<bidder><date>01/02/2000</date><time>10:00:00</time>"
            f'<personref person="{self._random.choice(self._persons)}"/>'
            f"<increase>{self._money(30)}</increase></bidder>"
            for _ in range(self._random.randint(0, 4))
        )
        reserve = self._maybe(f"<reserve>{self._money(300)}</reserve>")
        return (
            f'<open_auction id="open_auction{number}"><initial>{self._money(40)}</initial>{reserve}{bidders}'
            f"<current>{self._money(90)}</current>{self._maybe('<privacy>Yes</privacy>')}{self._parties()}</open_auction>"
        )

    def _parties(self) -> str:
        one, other = self._random.choice(self._persons), self._random.choice(self._persons)
        return (
            f'<itemref item="item{self._random.randrange(self._items)}"/><seller person="{one}"/>'
            f'<annotation><author person="{other}"/>{self._description()}</annotation><quantity>1</quantity>'
        )

    def _closed(self) -> str:
        buyer = self._random.choice(self._persons)
        return (
            f'<closed_auction><buyer person="{buyer}"/>{self._parties()}<price>{self._money(80)}</price>'
            f"<date>05/06/2000</date><type>Regular</type></closed_auction>"
        )
