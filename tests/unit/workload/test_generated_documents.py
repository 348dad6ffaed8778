"""Documents made from a DTD conform to it and follow the parameters."""

import io
from collections import Counter
from collections.abc import Iterable
from importlib import resources
from statistics import mean
from typing import Any

import pytest
from lxml import etree

from weft.documents.dtd import Dtd
from weft.errors import ConfigurationError
from weft.workload import SHIPPED, generate_documents, shipped, value_text

PARAMETERS: list[dict[str, Any]] = [
    {},
    {"depth": 1, "repeats": 0},
    {"depth": 4, "repeats": 6, "seed": 3},
    {"depth": 12, "elements": 300, "values": 10, "words": 1},
    {"repeats": {"*": 2}, "elements": 70, "words": 8},
]


def trees(documents: Iterable[bytes]) -> list[Any]:
    return [etree.fromstring(document) for document in documents]


def height(element: Any) -> int:
    return 1 + max(map(height, element), default=0)


def size(element: Any) -> int:
    return sum(1 for _ in element.iter())


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@pytest.mark.parametrize("name", SHIPPED)
def test_every_document_conforms_to_its_dtd(name: str, parameters: dict[str, Any]) -> None:
    path = resources.files("weft.workload") / "dtds" / f"{name}.dtd"
    dtd = etree.DTD(io.StringIO(path.read_text(encoding="utf-8")))
    for document in trees(generate_documents(shipped(name), number=60, **parameters)):
        assert dtd.validate(document), dtd.error_log


HARD = {
    "any": "<!ELEMENT a ANY><!ELEMENT b (#PCDATA)><!ELEMENT c (c)>",
    "references first": "<!ELEMENT a (b+, c)><!ELEMENT b EMPTY><!ATTLIST b of IDREF #REQUIRED>"
    "<!ELEMENT c EMPTY><!ATTLIST c id ID #REQUIRED>",
    "all types": "<!NOTATION n SYSTEM 'n'><!ELEMENT a (b?)><!ELEMENT b EMPTY><!ATTLIST a "
    't NMTOKENS #REQUIRED n NOTATION (n) #REQUIRED d CDATA "&#34;&lt;" f CDATA #FIXED "&#34;&lt;&amp;&#39;" '
    "e ENTITY #IMPLIED i ID #REQUIRED r IDREFS #IMPLIED>",
    "required recursion with a way out": "<!ELEMENT a (b | (a, a))><!ELEMENT b (#PCDATA)>",
    "groups": "<!ELEMENT a ((b, c?)+, (d | (e, f))*, (g?, h)?, (i | (j, (k | l)+))+)>"
    + "".join(f"<!ELEMENT {name} (#PCDATA)>" for name in "bcdefghij")
    + "<!ELEMENT k (a?)><!ELEMENT l (#PCDATA | a | k)*>",
    "an undeclared alternative": "<!ELEMENT a (b | c)*><!ELEMENT b EMPTY>",
}


@pytest.mark.parametrize("parameters", PARAMETERS[:3], ids=str)
@pytest.mark.parametrize("text", HARD.values(), ids=HARD.keys())
def test_every_document_of_a_hard_dtd_conforms_to_it(text: str, parameters: dict[str, Any]) -> None:
    validating = etree.XMLParser(dtd_validation=True)
    for document in generate_documents(Dtd.parse(text, root="a"), number=60, **parameters):
        etree.fromstring(f"<!DOCTYPE a [{text}]>".encode() + document, validating)


def test_a_document_depends_on_seed_and_place_alone() -> None:
    few = list(generate_documents(shipped("news"), number=3, seed=5))
    many = list(generate_documents(shipped("news"), number=9, seed=5))
    other = list(generate_documents(shipped("news"), number=9, seed=6))
    assert many[:3] == few
    assert len(set(many + other)) == 18


def test_documents_are_made_when_they_are_asked_for() -> None:
    endless = generate_documents(shipped("news"), number=10**12)
    assert next(endless).startswith(b"<news ")


def test_depth_bounds_the_levels() -> None:
    heights = [height(tree) for tree in trees(generate_documents(shipped("book"), number=200, depth=5))]
    assert max(heights) == 5
    deeper = [height(tree) for tree in trees(generate_documents(shipped("book"), number=200, depth=9))]
    assert 5 < max(deeper) <= 9


def test_a_document_can_be_very_deep() -> None:
    dtd = Dtd.parse("<!ELEMENT a (a | b)+><!ELEMENT b EMPTY>")
    (document,) = generate_documents(dtd, number=1, depth=5000, elements=20_000, seed=1)
    assert document.count(b"<a>") == document.count(b"</a>")


def test_repeats_bound_how_often_an_element_is_in_its_parent() -> None:
    repeats = {"book/section": 12, "section": 2, "*": 4}
    documents = trees(generate_documents(shipped("book"), number=300, depth=6, repeats=repeats))
    most: Counter[str] = Counter()
    for parent in (element for tree in documents for element in tree.iter()):
        for name, times in Counter(child.tag for child in parent).items():
            key = f"{parent.tag}/{name}"
            most[key] = max(most[key], times)
    assert most["book/section"] == 12
    assert most["section/section"] == 2
    assert most["section/p"] == 4
    assert most["book/author"] == 4


def test_values_and_words_bound_texts_and_attributes() -> None:
    documents = trees(generate_documents(shipped("bibliography"), number=200, values=7, words=3))
    texts = {element.text for tree in documents for element in tree.iter() if element.text}
    years = {book.get("year") for tree in documents for book in tree.iter("book")}
    assert texts == {value_text(value, 3) for value in range(7)}
    assert years == {str(value) for value in range(7)}


def test_text_next_to_elements_is_one_value_a_piece() -> None:
    documents = trees(generate_documents(shipped("news"), number=50, values=5, words=2))
    pieces = {piece for tree in documents for piece in tree.xpath("//text()")}
    assert pieces == {value_text(value, 2) for value in range(5)}


def test_an_enumerated_attribute_takes_all_its_values() -> None:
    documents = trees(generate_documents(shipped("news"), number=100))
    assert {tree.get("edition") for tree in documents} == {"morning", "midday", "evening", "night", None}


def test_ids_are_counted_in_document_order() -> None:
    (document,) = trees(generate_documents(shipped("auction"), number=1, elements=300))
    assert [item.get("id") for item in document.iter("item")][:3] == ["item-1", "item-2", "item-3"]


@pytest.mark.parametrize("name", ["news", "auction"])
def test_elements_are_about_as_many_as_asked_for(name: str) -> None:
    sizes = [size(tree) for tree in trees(generate_documents(shipped(name), number=300, elements=70))]
    assert 67 <= mean(sizes) <= 73
    assert 40 <= min(sizes) < max(sizes) <= 85


def test_the_papers_bibliographies_can_be_had() -> None:
    documents = generate_documents(
        shipped("bibliography"), number=200, depth=4, repeats={"book": 20, "*": 5}, values=10, elements=149
    )
    assert 135 <= mean(map(size, trees(documents))) <= 160


def test_the_recommended_call_gives_news_of_70_elements_and_4_kb() -> None:
    documents = list(generate_documents(shipped("news"), number=500, elements=70, words=8))
    assert 3700 <= mean(map(len, documents)) <= 4500
    assert 67 <= mean(map(size, trees(documents))) <= 73


def test_a_dtd_that_requires_itself_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"no finite document with the root 'a': see a, b$"):
        generate_documents(Dtd.parse("<!ELEMENT a (b, c)><!ELEMENT b (a+)><!ELEMENT c EMPTY>", root="a"), number=1)


def test_a_dtd_that_requires_what_is_not_declared_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="no finite document"):
        generate_documents(Dtd.parse("<!ELEMENT a (b)>"), number=1)


def test_a_required_reference_without_any_id_is_refused() -> None:
    dtd = Dtd.parse("<!ELEMENT a EMPTY><!ATTLIST a of IDREF #REQUIRED>")
    with pytest.raises(ConfigurationError, match="must refer to an ID, but has none"):
        list(generate_documents(dtd, number=1))


def test_a_required_entity_attribute_is_refused() -> None:
    dtd = Dtd.parse("<!ELEMENT a EMPTY><!ATTLIST a of ENTITY #REQUIRED>")
    with pytest.raises(ConfigurationError, match="a/@of: no value of type entity"):
        generate_documents(dtd, number=1)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"number": -1}, "number must be at least 0, found -1"),
        ({"depth": 0}, "depth must be at least 1, found 0"),
        ({"values": 0}, "values must be at least 1"),
        ({"words": 0}, "words must be at least 1"),
        ({"elements": 0}, "elements must be at least 1"),
        ({"repeats": -2}, "repeats of '\\*' must be at least 0, found -2"),
        (
            {"repeats": {"book/chapter": 2}},
            "repeats of 'book/chapter': the DTD declares no element 'chapter'",
        ),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_told_at_once(parameters: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason):
        generate_documents(shipped("book"), **{"number": 1, **parameters})
