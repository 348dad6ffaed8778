"""Containment of small patterns is as it comes out by enumeration, and nothing about them is left open."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from lxml import etree

from canonical_models import (
    PatternStep,
    Spine,
    TreeNode,
    counterexample,
    is_contained,
    patterns,
    selected,
    small_documents,
    write,
)
from weft.languages.xpath import parse
from weft.plans.containment import contains, decide


def some_pairs(most: int, labels: str, number: int, with_not: bool = False) -> list[tuple[Spine, Spine]]:
    """All pairs of patterns of up to two nodes, where these are so many, and pairs of larger ones."""
    random = Random(7)
    small = [each for nodes in (1, 2) for each in patterns(nodes, labels, with_not)]
    large = [each for nodes in range(1, most + 1) for each in patterns(nodes, labels, with_not)]
    pairs = list(product(small, small))
    chosen = random.sample(pairs, min(number, len(pairs)))
    return chosen + [(random.choice(large), random.choice(large)) for _ in range(number)]


def read(text: str) -> TreeNode:
    """A document as its text tells it."""

    def grown(element: etree._Element) -> TreeNode:
        return TreeNode(str(element.tag), [grown(each) for each in element])

    return TreeNode("", [grown(etree.fromstring(text))])


def text_of(document: TreeNode) -> str:
    return "".join(f"<{each.label}>{text_of(each)}</{each.label}>" for each in document.children)


def test_the_oracle_selects_what_lxml_selects() -> None:
    random = Random(3)
    documents = [random.choice(small_documents(4, "abz")) for _ in range(12)]
    asked = [random.choice(patterns(nodes, "ab*", with_not=True)) for nodes in (1, 2, 3) for _ in range(40)]
    asked.append((PatternStep("a", True, ((True, (PatternStep("b", True),)),)),))
    for document, pattern in product(documents, asked):
        tree = etree.fromstring(text_of(document)).getroottree()
        assert len(tree.xpath(write(pattern))) == len(selected(document, pattern)), (text_of(document), write(pattern))


@pytest.mark.slow
def test_positive_patterns_contain_each_other_where_canonical_models_say_so() -> None:
    held = 0
    for narrow, wide in some_pairs(4, "ab*", 4_000):
        expected = is_contained(narrow, wide)
        held += expected

        assert contains(parse(write(wide)), parse(write(narrow))) is expected, (write(narrow), write(wide))

    assert held > 400


@pytest.mark.slow
def test_where_homomorphism_is_not_enough_canonical_models_say_so_too() -> None:
    """Miklau and Suciu's figures: stars beside descendants."""
    step = PatternStep
    narrow = (step("a", False, ((False, (step("b", True), step("*", False), step("c", False))),)),)
    wide = (step("a", False, ((False, (step("b", False), step("*", True), step("c", False))),)),)
    both = (step("a", False), step("*", False), step("b", True)), (step("a", False), step("*", True), step("b", False))

    for one, other in (both, both[::-1], (narrow, wide), (wide, narrow)):
        assert contains(parse(write(other)), parse(write(one))) is is_contained(one, other)
    assert is_contained(*both)
    assert is_contained(*both[::-1])


@pytest.mark.slow
def test_patterns_with_not_are_decided_as_small_documents_say() -> None:
    """What holds has no counterexample among all small documents; what does not has one, which is given."""
    held = refuted = 0
    for narrow, wide in some_pairs(4, "ab*", 1_200, with_not=True):
        verdict = decide(parse(write(wide)), parse(write(narrow)), True)
        told = write(narrow), write(wide)

        assert verdict.holds is not None, told
        if verdict.holds:
            held += 1
            assert counterexample(narrow, wide, 4, "abz") is None, told
        else:
            refuted += 1
            assert verdict.document is not None
            document = read(verdict.document.decode() if isinstance(verdict.document, bytes) else verdict.document)
            assert not selected(document, narrow) <= selected(document, wide), told

    assert held > 50
    assert refuted > 50
