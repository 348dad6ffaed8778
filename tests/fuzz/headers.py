"""Headers: whatever a header tells, whole or damaged, of its document or of another, is what parsing tells.

It is the same byte by byte whether the document was read for it no further than its views ask, or as a node table.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from random import Random

from fuzz.case import Case
from fuzz.grammar import document, flwr, xpath
from weft.documents.build import read
from weft.documents.document import Document
from weft.documents.table import NodeTable
from weft.engine import Engine
from weft.engine.messages.first_bindings import binding_pattern
from weft.errors import WeftError
from weft.headers.asked import Writer, asked
from weft.headers.configuration import Configuration, View
from weft.headers.expressions import expression_of
from weft.headers.header import HeaderError, decode
from weft.headers.matcher import HeaderMatcher
from weft.headers.producer import Producer
from weft.languages import Plan, parse
from weft.plans.plan import Pattern
from weft.plans.xscl import Xscl

_BETWEEN = b"\n====\n"  # views, queries, what happens to the header, the document
_NAMESPACES = {"p": "urn:p", "q": "urn:q", "d": "urn:d", "o": "urn:o"}
_MOST = 12  # views or queries that are tried
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-be", "iso-8859-1", "shift_jis", "iso-2022-jp")
_DOCTYPES = (
    "<!DOCTYPE r>",
    "<!DOCTYPE r SYSTEM 'r.dtd'>",
    "<!DOCTYPE r [<!ENTITY e 'foo'><!ATTLIST a x CDATA '1'>]>",
    "<!DOCTYPE r [<!ATTLIST a x NMTOKENS #IMPLIED y CDATA 'foo'>]>",
    "<!DOCTYPE r [<!ENTITY e '<a>1</a>'><!-- ]> --><?p ]>?>]>",
)
_WORDS = r"""
/|//|*|@x|@*|.|[1]|[2]|[3]|[last()]|[.='1']|[@x=1]|[not(b)]|[b and c]|[b or c]|text()|/a|/b|p:a|p:b|d:a|*:a|p:*|/r
/text()|position()|count(b) = 1|contains(b, '')|starts-with(., 'f')|matches(., '^f')|ends-with(., 'o')|!= 1|< 2|>= '1'
 or | and |not(|<a>|</a>|<b/>|<p:a>| xmlns="urn:d"| xmlns=""| xmlns:p="urn:o"| x="1"| p:x='2'| y='foo'|&amp;|&#65;|&e;
<![CDATA[|]]>|<![CDATA[]]>|<!--|-->|<?p x?>|1|2|foo|NaN| 1 |&#10;|&#13;|<!DOCTYPE r [<!ENTITY e "x">]>|====
<!DOCTYPE r [<!ATTLIST a x NMTOKEN "c">]>| union | except | intersect |for $v in |where |return |$v|{|}|<i>|</i>
JOIN{x = y, 3 documents}|->x|//a[b->x]|self::a|[self::a]
""".strip().replace("\n", "|")


class Headers:
    """Mutated views, queries, headers and documents."""

    words = (*(word.encode() for word in _WORDS.split("|")), b"\r\n", b"\r", b"\t", b"\xc3\xa9", b"\xef\xbb\xbf", b"\0")
    most_memory = 1_000

    def seeds(self) -> list[Case]:
        chance = Random(2)
        return [self.fresh(chance) for _ in range(300)]

    def fresh(self, chance: Random) -> Case:
        queries = [_query(chance) for _ in range(chance.randint(1, 4))]
        views = [view for query in queries for view in _views(query, chance)] or ["//a"]
        chance.shuffle(views)
        made = _encoded(document(chance).decode(), chance)
        parts = "\n".join(views[:_MOST]).encode(), "\n".join(queries).encode(), chance.randbytes(4).hex().encode(), made
        return Case(_BETWEEN.join(parts), ".txt")

    def check(self, case: Case) -> None:
        parts = case.data.split(_BETWEEN, 3)
        if len(parts) < 4:
            return
        configuration = Configuration("fuzzed", 1, tuple(_read_views(parts[0])))
        plans = dict(enumerate(_read_queries(parts[1])))
        chance = Random(parts[2])
        data: bytes | str = parts[3]
        if isinstance(data, bytes) and chance.random() < 0.1:
            with suppress(UnicodeDecodeError):
                data = data.decode()
        given = Document(data, "it", chance.choice(("", "S", "T")))
        producer, table = Producer(configuration), read([given])
        made = producer.attach([given])[0]
        by_nodes = producer.headers(table).get(id(given)) if table.documents else None
        assert made.header == by_nodes, f"the header is {made.header!r}, by nodes {by_nodes!r}"
        self._compare(made, table, configuration, plans, chance)

    def _compare(
        self, made: Document, table: NodeTable, configuration: Configuration, plans: dict[int, Plan], chance: Random
    ) -> None:
        if not table.documents:
            assert made.header is None, "a document that cannot be read has a header"
            return
        expected = _expected(table, plans)
        known = _ask(made, made, configuration, plans, expected)
        if made.header is None:
            assert known == 0, "without a header something is known"
            return
        damaged = _damaged(made.header, chance)
        if damaged != made.header:
            try:
                decode(damaged)
            except HeaderError:
                assert not _ask(replace(made, header=damaged), made, configuration, plans, expected)
        other = _other(made, chance)
        assert not _ask(other, made, configuration, plans, {}), "a header of another document is trusted"


def _ask(
    document: Document,
    before: Document,
    configuration: Configuration,
    plans: dict[int, Plan],
    expected: dict[int, bool],
) -> int:
    """What each query alone, and all together, are told of a document is as expected; how often something was told.

    The header of the document before it is read field by field; the next one at a glance, where it is plain.
    """
    known = 0
    for some in (*({number: plan} for number, plan in plans.items()), plans):
        matcher = HeaderMatcher(configuration)
        for number, plan in some.items():
            matcher.add(number, plan)
        first = matcher.answer(before)
        found = matcher.answer(document)
        assert before is not document or found == first, f"told {first}, then {found}"
        if found is None:
            continue
        known += 1
        assert found == sorted(set(found)), f"told twice or out of order: {found}"
        for number, plan in some.items():
            is_may = isinstance(plan, Xscl)  # a join may want more than what takes part in the end
            told, right = number in found, expected.get(number)
            assert told == right or (is_may and told), f"query {number}: the header tells {told}, parsing {right}"
    return known


def _expected(table: NodeTable, plans: dict[int, Plan]) -> dict[int, bool]:
    """What parsing tells: whether each query matches, a join: whether the document can be bound."""
    expected: dict[int, bool] = {}
    for number, plan in plans.items():
        engine = Engine()
        if isinstance(plan, Xscl):
            for at, block in enumerate(plan.blocks):
                stream = table.documents[0].stream
                if not block.stream or not stream or block.stream == stream:
                    engine.add(at, binding_pattern(block.variables))
        else:
            engine.add(number, plan)
        expected[number] = bool(len(engine.match(table).subscriptions()[0]))
    return expected


def _damaged(header: bytes, chance: Random) -> bytes:
    data = bytearray(header)
    at = chance.randrange(len(data))
    match chance.randrange(4):
        case 0:
            data[at] ^= 1 << chance.randrange(8)
        case 1:
            del data[at:]
        case 2:
            data[at:at] = chance.randbytes(chance.randrange(1, 9))
        case _:
            data[at : at + 4] = chance.randbytes(4)
    return bytes(data)


def _other(made: Document, chance: Random) -> Document:
    """Another document with the same header."""
    data = made.data
    at = chance.randrange(len(data))
    if isinstance(data, str):
        return replace(made, data=data[:at] + chance.choice(" a<") + data[at:])
    return replace(made, data=data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :])


# -- what is tried


def _read_views(text: bytes) -> list[View]:
    views: dict[str, View] = {}
    for line in text.decode("utf-8", "replace").split("\n")[:_MOST]:
        with suppress(WeftError):
            plan = parse(line, "xpath", _NAMESPACES)
            if isinstance(plan, Pattern) and expression_of(plan):
                views[line] = View(line, plan)
    return list(views.values())


def _read_queries(text: bytes) -> list[Plan]:
    plans = []
    for line in text.decode("utf-8", "replace").split("\n")[:_MOST]:
        with suppress(WeftError):
            plan = parse(line, None, _NAMESPACES)
            if not isinstance(plan, Xscl):
                Engine().add(0, plan)
            plans.append(plan)
    return plans


def _query(chance: Random) -> str:
    kind = chance.random()
    if kind < 0.1:
        name, key = chance.choice("abr"), chance.choice(("b", "@x", "a"))
        return f"//{name}[{key}->x] FOLLOWED BY{{x = y, 3 documents}} {chance.choice(('', 'S'))}//b[.->y]"
    text = flwr(chance) if kind < 0.25 else xpath(chance)
    if kind > 0.6 and text.startswith(("/", "//")):
        text = "/r" + text
    for plain in ("a", "b"):
        if chance.random() < 0.2:
            text = text.replace(f"/{plain}", f"/{chance.choice(('p:', 'd:', '*:'))}{plain}")
    return text


def _views(query: str, chance: Random) -> list[str]:
    """The views that a query asks for, some cut off, some by position."""
    writer, views = Writer(dict(_NAMESPACES)), []
    try:
        expressions = asked(parse(query, None, _NAMESPACES))
    except WeftError:
        return []
    for expression in expressions:
        size = chance.choice((len(expression), len(expression), chance.randint(1, len(expression))))
        text = writer.write(expression[:size])
        if text is None or "*[" in text:
            continue
        first, slash, last = text.rpartition("/")
        if chance.random() < 0.3 and first and not last.startswith(("@", "text()")) and "[" not in last:
            views += [f"{first}{slash}{last}[{at}]" for at in range(1, chance.randint(2, 4))]
        elif chance.random() < 0.9:
            views.append(text)
    return views


def _encoded(text: str, chance: Random) -> bytes:
    encoding = chance.choice(_ENCODINGS)
    text = text.removeprefix("\ufeff") if encoding != "utf-8" else text
    if chance.random() < 0.15:
        place = text.find("<r ")
        text = text[:place] + chance.choice(_DOCTYPES) + text[place:]
    if encoding.startswith("utf-8"):
        return text.encode(encoding)
    text = text.removeprefix("<?xml version='1.0'?>")
    declared = "utf-16" if encoding.startswith("utf-16") else encoding
    head = "" if encoding == "utf-16" else f"<?xml version='1.0' encoding='{declared}'?>"
    return (head + text.replace("\n", "\r\n")).encode(encoding, "xmlcharrefreplace")
