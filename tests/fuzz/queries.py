"""Queries: each is read or refused in time; what is read gives what lxml, or Saxon, gives on small documents."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from random import Random

from lxml import etree
from saxonche import PySaxonApiError, PySaxonProcessor

from flwr_ways import canonical
from fuzz.case import ROOT, Case
from fuzz.grammar import flwr, xpath
from oracle import Oracle, assert_subscriptions_are_those_with_nodes, places, table_of
from weft.engine import Engine
from weft.errors import WeftError
from weft.languages import parse, recognize
from weft.plans.flwr import Flwr
from weft.plans.lone_query import LoneQuery
from weft.plans.xscl import Xscl
from weft.workload import generate_flwr, generate_queries, shipped

_DOCUMENTS = (
    b'<a x="1"><b>1</b><b y="foo">2<a><b>3.5</b><c/></a></b>foo<c x="2">bar</c><!--z-->1</a>',
    b"<book id='1'><title>XML</title><author>Ann</author><section><title>One</title><section id='2'><title>Two</title>"
    b"<figure width='1'><title>F</title></figure></section><p>text</p></section></book>",
    b"<or><and>1e0</and><div>-1</div> <mod>.5</mod><or x=' 2 '/></or>",
)
_WORDS = r"""
/|//|*|@|.|..|[|]|(|)|=|!=|<|<=|>|>=| and | or | div | mod | \| |,|1|2|0|-1|1.5|.5|1e1|'1'|"foo"|''|a|b|c|x|or|text()
node()|position()|last()|count(|not(|contains(|starts-with(|ends-with(|matches(|boolean(|true()|false()|self::|child::
descendant::|attribute::|descendant-or-self::| union | intersect | except |for $v in |let $l := |where |order by
 descending|return |$v|$w|{|}|<r>|</r>|<i>|</i>|{{|}}|&lt;|:=|JOIN{|FOLLOWED BY{|NOT FOLLOWED BY{|, 10 seconds}
, infinite}|, 3 documents}|->x|->y|SELECT| FROM | AS x| PUBLISH p|x = y|x != y|S//a|*:a|p:a|comment()|parent::|\w{0,200}
(a+)+$|[A-Z]{2}|[^a]|\p{L}|$|^|*[not(self::a)]
""".strip().replace("\n", "|")
# XPath 1 lacks these, or means something else by them.
_NOT_IN_LXML = re.compile(
    r"matches|ends-with|intersect|except|union|\*:|\(:|\b(?:eq|ne|lt|le|gt|ge|idiv|to|is)\b|[0-9]e|\"\"|''|:\*|\+|\bINF\b|NaN"
)
_INSIDE = re.compile(r"'[^']*'|\"[^\"]*\"|\[[^\[\]]*\]")
_MOST_STEPS = 100  # Saxon takes very long to compile more
_BOUNDARY = "declare boundary-space strip; "


class Queries:
    """Mutated queries of all three languages."""

    words = tuple(word.encode() for word in re.split(r"(?<!\\)\|", _WORDS))
    most_memory = 2_000

    def __init__(self) -> None:
        self._oracles = [Oracle(document) for document in _DOCUMENTS]
        self._table = table_of(_DOCUMENTS)
        self._places = places(self._table)
        self._saxon = PySaxonProcessor(license=False)
        self._nodes = [self._saxon.parse_xml(xml_text=document.decode()) for document in _DOCUMENTS]

    def seeds(self) -> list[Case]:
        return [Case(text.encode(), ".txt") for text in _seed_texts()]

    def fresh(self, chance: Random) -> Case:
        return Case((flwr if chance.random() < 0.2 else xpath)(chance).encode(), ".txt")

    def check(self, case: Case) -> None:
        text = case.data.decode("utf-8", "replace")
        try:
            plan = parse(text)
            engine = Engine()
            if not isinstance(plan, Xscl):
                engine.add(0, plan)
        except WeftError:
            return
        if isinstance(plan, Xscl):
            return
        matches = engine.match(self._table)
        if isinstance(plan, LoneQuery):
            made = {at for at, _, _ in matches.messages()}
            again = engine.match(self._table, whether=True)  # answered anew, without nodes
            assert made == {at for at, found in enumerate(again.subscriptions()) if found.size}, text
        elif isinstance(plan, Flwr):
            self._compare_with_saxon(text, {at: made for at, _, made in matches.messages()})
        else:
            document, subscription, node = matches.nodes()
            assert_subscriptions_are_those_with_nodes(matches, document, subscription)
            found = [self._places[node[document == at]].tolist() for at in range(len(_DOCUMENTS))]
            self._compare_with_lxml(text, found)

    def _compare_with_lxml(self, text: str, found: list[list[int]]) -> None:
        if recognize(text) != "xpath" or _NOT_IN_LXML.search(text) or not _is_absolute(text):
            return
        try:
            expected = [oracle.nodes(text) for oracle in self._oracles]
        except (etree.XPathError, ValueError, TypeError, KeyError):
            return  # what only Weft reads, or what is no selection there
        assert found == expected, f"{text}\n lxml finds {expected}, Weft {found}"

    def _compare_with_saxon(self, text: str, found: dict[int, str]) -> None:
        if "document(" in text or "doc(" in text or text.count("/") > _MOST_STEPS:
            return  # it would look for the file
        processor = self._saxon.new_xquery_processor()
        for at, node in enumerate(self._nodes):
            processor.set_context(xdm_item=node)
            try:
                processor.set_query_content(_BOUNDARY + text)
                made = processor.run_query_to_string()
            except PySaxonApiError:
                return  # an error of types where Weft finds nothing, or what only Weft reads
            expected = etree.tostring(etree.fromstring(made.encode()), method="c14n") if made else b""
            if at in found:
                assert canonical(found[at]) == expected, f"{text}\n Saxon: {expected!r}\n Weft: {found[at]}"
            else:
                root = etree.fromstring(expected)
                assert len(root) == 0, f"{text}\n Saxon: {expected!r}\n Weft: nothing"


def _is_absolute(text: str) -> bool:
    """Whether all its paths are: others begin at the document for Weft, and at the root element for lxml."""
    outside = _INSIDE.sub("", text)
    while (shorter := _INSIDE.sub("", outside)) != outside:
        outside = shorter
    return all(part.lstrip(" \t\r\n(").startswith("/") for part in outside.split("|"))


def _seed_texts() -> Iterator[str]:
    chance = Random(1)
    yield from (xpath(chance) for _ in range(600))
    yield from (flwr(chance) for _ in range(300))
    for name in ("book", "news", "bibliography"):
        yield from generate_queries(shipped(name), number=40, predicates=2, nested=1, values=3, depth=3)
        yield from generate_flwr(shipped(name), number=20, let=0.3, order_by=0.3, second_variable=0.3, texts=0.3)
    yield from ("/a//b[. = 1]/@y", "//b[not(c)][1]", "//a[b > 1 or c]/text()", "//*[count(b) = 2]", "/a/b[last()]")
    yield from ("//b[matches(., '^[A-Z]{2}-[0-9]{1,10}-N$')]", "//b[ends-with(., 'o')]/c", "//*:a[@x] except //a/a")
    yield from ("<r>{ for $v in //b return <i>{ $v/@y }{ $v/text() }</i> }</r>",)
    yield from ("<r>{ for $v in /a let $l := $v/b where $l > 1 order by $v/@x return <i>{ count($l) }</i> }</r>",)
    for path in sorted((ROOT / "tests" / "golden").glob("*/*.txt")):
        yield path.read_text().split("=== ")[1].removeprefix("query\n").strip()
    for path in sorted((ROOT / "examples").glob("*.jsonl")):
        yield from (json.loads(line)["query"] for line in path.read_text().splitlines())
    for path in sorted((ROOT / "examples").glob("*/*.x[qs]*")):
        yield path.read_text()
