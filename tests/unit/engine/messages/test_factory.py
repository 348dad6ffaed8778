"""Messages written by recipes made by hand: copies, atomic values, attributes, order, and the room for them."""

from typing import Any
from unittest.mock import patch

import pytest

from oracle import table_of
from weft.documents.document import Limits
from weft.documents.fragment import Fragments
from weft.documents.table import NodeTable
from weft.engine.messages.budget import Budget
from weft.engine.messages.factory import Factory, Lists
from weft.plans.recipe import Atom, Break, Fill, Recipe, RecipePiece

#: Elements first, in document order (r is 0, the `a` are 1 and 2, b is 3), then the attributes, then the texts.
DOCUMENT = """<r xmlns:p="u"><a k="1" p:k="&lt;" l="x">one</a><a k="2">two &amp; more</a><b/></r>"""
TABLE = table_of([DOCUMENT])
K1, P1, L1, K2 = range(TABLE.elements, TABLE.elements + 4)
ONE, TWO = range(TABLE.first_text, TABLE.first_text + 2)


def recipe(*pieces: RecipePiece, keys: tuple[tuple[int, bool], ...] = ()) -> Recipe:
    is_plain = all(isinstance(piece, str) or (isinstance(piece, tuple) and piece[0] is Fill.COPY) for piece in pieces)
    return Recipe("<m>", pieces, "</m>", keys, is_plain)


def message(made: Recipe, *groups: Lists, table: NodeTable = TABLE) -> str:
    return Factory(table).message(made, list(groups))


def test_the_nodes_of_the_document_are_numbered_as_these_tests_say() -> None:
    assert [TABLE.string_value(node) for node in (1, 2, K1, P1, L1, K2, ONE, TWO)] == [
        *("one", "two & more", "1", "<", "x", "2", "one", "two & more")
    ]


def test_what_is_copied_stands_between_constants_once_for_each_group() -> None:
    made = recipe("<i>", (Fill.COPY, 0), "|", (Fill.COPY, 1), "</i>")

    text = message(made, [[2], [TWO, 3]], [[], [ONE]])

    assert text == '<m><i><a k="2">two &amp; more</a>|two &amp; more<b/></i><i>|one</i></m>'


def test_a_copy_carries_the_declarations_that_it_uses() -> None:
    assert message(recipe((Fill.COPY, 0)), [[1]]) == ('<m><a xmlns:p="u" k="1" p:k="&lt;" l="x">one</a></m>')


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ((Atom("a"), Atom("b")), "a b"),
        (((Fill.COUNT, 0), (Fill.COUNT, 1)), "2 0"),
        ((Atom("a"), (Fill.COUNT, 0)), "a 2"),
        ((Atom("a"), Break(), Atom("b")), "ab"),
        ((Atom("a"), "-", Atom("b")), "a-b"),
        ((Atom("a"), (Fill.COPY, 1), Atom("b")), "a b"),  # nothing was copied in between
        ((Atom("a"), (Fill.COPY, 0), Atom("b")), "aone<b/>b"),
    ],
)
def test_a_space_stands_between_atomic_values_that_nothing_stands_between(
    pieces: tuple[RecipePiece, ...], text: str
) -> None:
    assert message(recipe(*pieces), [[ONE, 3], []]) == f"<m>{text}</m>"


def test_an_atomic_value_at_the_end_of_a_group_keeps_its_distance_from_the_next_group() -> None:
    assert message(recipe((Fill.COUNT, 0)), [[1]], [[1, 2]], [[]]) == "<m>1 2 0</m>"


def test_the_values_of_an_attribute_are_escaped_and_a_space_stands_between_them() -> None:
    made = recipe('<i v="', (Fill.ATTRIBUTE_VALUE, 0), '" n="', (Fill.ATTRIBUTE_COUNT, 0), '"/>')

    assert message(made, [[P1, 2]], [[]]) == '<m><i v="&lt; two &amp; more" n="2"/><i v="" n="0"/></m>'


def test_copied_attributes_stand_in_the_start_tag_and_of_two_with_one_name_the_first() -> None:
    made = recipe("<i", (Fill.ATTRIBUTES, 0), ">", (Fill.COUNT, 0), "</i>")

    assert message(made, [[K1, K2, L1]], [[]]) == '<m><i k="1" l="x">3</i><i>0</i></m>'


def test_the_declaration_of_a_copied_attribute_stands_once_in_its_start_tag() -> None:
    table = table_of(["""<r xmlns:p="u"><a p:k="1"/><a p:l="2"/></r>"""])
    first, second = table.elements, table.elements + 1
    made = recipe("<i", (Fill.ATTRIBUTES, 0), (Fill.ATTRIBUTES, 1), ">", "</i>")

    text = message(made, [[first], [second]], [[second], []], table=table)

    assert text == '<m><i xmlns:p="u" p:k="1" p:l="2"></i><i xmlns:p="u" p:l="2"></i></m>'


def test_groups_are_ordered_by_text_the_last_key_counting_least_and_nothing_coming_first() -> None:
    table = table_of(["<r><n>b</n><n>a</n><n>10</n><n>9</n></r>"])
    b, a, ten, nine = 1, 2, 3, 4
    groups: list[Lists] = [[[b], [ten]], [[a], [nine]], [[], []], [[b], [nine]], [[a], [ten]]]
    shown = {True: "descending", False: "ascending"}
    text = {
        (shown[first], shown[second]): message(
            recipe((Fill.COPY, 0), (Fill.COPY, 1), ";", keys=((0, first), (1, second))), *groups, table=table
        )
        .replace("<n>", "")
        .replace("</n>", " ")
        for first in (False, True)
        for second in (False, True)
    }

    assert text == {
        ("ascending", "ascending"): "<m>;a 10 ;a 9 ;b 10 ;b 9 ;</m>",
        ("ascending", "descending"): "<m>;a 9 ;a 10 ;b 9 ;b 10 ;</m>",
        ("descending", "ascending"): "<m>b 10 ;b 9 ;a 10 ;a 9 ;;</m>",
        ("descending", "descending"): "<m>b 9 ;b 10 ;a 9 ;a 10 ;;</m>",
    }


def test_a_node_that_goes_into_many_messages_is_made_xml_once() -> None:
    factory = Factory(TABLE)
    plain, other = recipe((Fill.COPY, 0)), recipe((Fill.COUNT, 0), (Fill.COPY, 0))

    with patch.object(Fragments, "text", autospec=True, side_effect=Fragments.text) as made:
        for one in (plain, other, plain):
            factory.message(one, [[[1, 2]]])

    assert made.call_count == 2


# -- room


def budget(**limits: Any) -> Budget:
    return Budget(TABLE, Limits(**limits))


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_message_that_just_fits_is_made_and_one_byte_more_is_refused_and_told(is_plain: bool) -> None:
    pieces: tuple[RecipePiece, ...] = ("é", (Fill.COPY, 0)) if is_plain else ("é", (Fill.COUNT, 0), (Fill.COPY, 0))
    made = recipe(*pieces)
    size = len(message(made, [[2, 3]]).encode())

    enough, scarce = budget(max_message_bytes=size), budget(max_message_bytes=size - 1)

    assert Factory(TABLE, enough).make(0, 5, made, [[[2, 3]]], 2) == message(made, [[2, 3]])
    assert enough.refused == {}
    assert Factory(TABLE, scarce).make(0, 5, made, [[[2, 3]]], 2) is None
    assert scarce.refused == {(0, 5): f"more than {size - 1} bytes from one document"}


def test_what_a_document_has_brought_out_before_counts() -> None:
    made = recipe((Fill.COPY, 0))
    size = len(message(made, [[2]]))
    scarce = budget(max_output_bytes=2 * size + 1)
    factory = Factory(TABLE, scarce)

    texts = [factory.make(0, number, made, [[[2]]], 1) for number in range(3)]

    assert texts == [message(made, [[2]])] * 2 + [None]
    assert scarce.refused == {(0, 2): f"more than {2 * size + 1} bytes from one document in all"}


def test_what_is_brought_out_is_counted_in_bytes() -> None:
    table = table_of([f"<r>{'é' * 100}</r>"])
    counted = Budget(table, Limits(max_output_bytes=10_000))

    text = Factory(table, counted).make(0, 1, recipe((Fill.COPY, 0)), [[[0]]], 1)

    assert text is not None
    assert counted.left == [10_000 - len(text.encode())]


def test_too_many_groups_or_nodes_are_refused_before_anything_is_written() -> None:
    scarce = budget(max_messages=3, max_message_bytes=80)
    factory = Factory(TABLE, scarce)

    assert factory.has_room(0, 1, groups=3, entries=10)
    assert not factory.has_room(0, 2, groups=4, entries=10)
    assert not factory.has_room(0, 3, groups=3, entries=11)

    assert scarce.refused == {
        (0, 2): "4 nodes or bindings, more than 3",
        (0, 3): "11 nodes to return, more than 10",
    }
