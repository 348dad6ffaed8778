"""What can match no more is passed over: checked, or trusted, and right where an element does not keep to the DTD."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer_plans import all_places, broker_answers
from weft import Broker, Document, Dtd
from weft.errors import ConfigurationError
from weft.optimizer import ElementMatcher, ElementPlan

DTD = Dtd.parse(
    "<!ELEMENT e (b?, c?, d?)><!ELEMENT b (#PCDATA | x)*><!ELEMENT c (#PCDATA)><!ELEMENT d (#PCDATA)>"
    "<!ELEMENT x (#PCDATA)><!ATTLIST e k CDATA #IMPLIED>",
    root="e",
)
QUERIES = ("/e[b = 1]", "/e[b][c = 'x']", "/e[b[x = 1]][d]", "/e[b[x]]/c", "/e[c = 1][b]", "/e[contains(b, '1')]")
CHILDREN = (
    *("<b>1</b>", "<b><x>1</x></b>", "<b>2</b>", "<c>x</c>", "<c>1</c>", "<d>1</d>", "<d/>", "<b/>"),
    *("<!--</b>-->", "<![CDATA[</b></c>]]>", "<?p </b>?>", "text", "<c><b>1</b></c>", "<d><c>x</c></d>"),
)
BROKEN = ("<c>", "</d>", "&no;", "<d k='1' k='2'/>", "<b")
children = st.lists(st.sampled_from(CHILDREN) | st.sampled_from((*CHILDREN, *BROKEN)), max_size=6)
elements_of = st.lists(st.tuples(st.sampled_from(("<e>", "<e k='</b>'>", "<e k='1'>")), children), max_size=8)
valid = st.tuples(*(st.sampled_from(("", *(each for each in CHILDREN if each[1] == name))) for name in "bcd"))


def leading(matcher: ElementMatcher, inside: frozenset[int]) -> ElementPlan:
    order = tuple(each for each in matcher.tree.required if each not in inside)
    return ElementPlan(matcher.tree, inside, order, "lead")


@pytest.mark.slow
@given(st.sampled_from(QUERIES), elements_of)
def test_an_element_that_does_not_keep_to_the_dtd_is_answered_like_any_other(
    query: str, drawn: list[tuple[str, list[str]]]
) -> None:
    elements = [Document(f"{tag}{''.join(inner)}</e>".encode(), str(at)) for at, (tag, inner) in enumerate(drawn)]
    broker = Broker()
    broker.subscribe(query)
    expected = [(each.document, each.nodes) for each in broker.publish(elements)]

    for inside in all_places(ElementMatcher(query).tree):
        matcher = ElementMatcher(query, optimizer="fixed", dtd=DTD)
        matcher.plan = leading(matcher, inside)

        assert [(each.element, each.nodes) for each in matcher.answers(elements)] == expected
        assert sorted(map(str, matcher.rejected)) == sorted(map(str, broker.rejected))


@pytest.mark.slow
@given(st.sampled_from(QUERIES), st.lists(valid, min_size=1, max_size=8))
def test_trusted_elements_that_keep_to_the_dtd_have_the_same_answers(query: str, drawn: list[tuple[str, ...]]) -> None:
    elements = [Document(f"<e>{''.join(inner)}</e>".encode(), str(at)) for at, inner in enumerate(drawn)]

    for inside in all_places(ElementMatcher(query).tree):
        matcher = ElementMatcher(query, optimizer="fixed", dtd=DTD, trusted=True)
        matcher.plan = leading(matcher, inside)

        assert [(each.element, each.nodes) for each in matcher.answers(elements)] == broker_answers(query, elements)


def test_the_rest_of_an_element_is_checked_unless_it_is_trusted() -> None:
    broken = Document(b"<e><b>2</b><c>1</b></e>", "broken")
    checked, trusted = (ElementMatcher("/e[b = 1]", optimizer="fixed", dtd=DTD, trusted=way) for way in (False, True))
    for matcher in (checked, trusted):
        matcher.plan = leading(matcher, frozenset({0}))

        assert matcher.matches([broken]) == []

    assert [error.document for error in checked.rejected] == ["broken"]
    assert not trusted.rejected


def test_only_with_a_dtd_documents_can_be_trusted() -> None:
    with pytest.raises(ConfigurationError, match="trusted: expected a DTD that elements keep to, found none"):
        ElementMatcher("/e[b]", trusted=True)


@pytest.mark.parametrize(
    ("content", "lead"),
    [
        ("(b, c, d)", True),
        ("(b?, c, d)", True),
        ("(c*, b, d*)", True),
        ("(b*, c)", False),
        ("(b, c, b)", False),
        ("(b | c)", False),
        ("(b, (c | d))", True),
        ("((b | c), d)", False),
    ],
)
def test_a_lead_is_there_where_each_child_comes_at_most_once_and_in_order(content: str, lead: bool) -> None:
    dtd = Dtd.parse(f"<!ELEMENT e {content}><!ELEMENT b EMPTY><!ELEMENT c EMPTY><!ELEMENT d EMPTY>", root="e")
    matcher = ElementMatcher("/e[b]", dtd=dtd)

    assert (matcher._leads.share(frozenset({0})) is not None) is lead


def test_the_last_child_decides_only_at_the_end_of_an_element() -> None:
    matcher = ElementMatcher("/e[b][d]", dtd=DTD)

    assert matcher._leads.share(frozenset({0})) == pytest.approx(1 / 3)
    assert matcher._leads.share(frozenset({0, 1})) is None


def test_an_element_without_the_child_that_decides_counts_as_one_that_fails() -> None:
    matcher = ElementMatcher("/e[b = 1]", optimizer="fixed", dtd=DTD)
    matcher.plan = leading(matcher, frozenset({0}))

    matcher.matches(
        [Document(f"<e>{'<b>1</b>' if at % 4 == 0 else ''}<c>x</c></e>".encode(), str(at)) for at in range(40)]
    )

    assert matcher.model().patterns[0].selectivity == pytest.approx(0.25)
