"""Batches that are answered beside each other, each at a place of its own."""

from __future__ import annotations

import pickle
from unittest.mock import patch

import pytest

from oracle import table_of
from weft.documents.document import Document, Limits
from weft.documents.scan import DocumentPaths, scan_paths
from weft.engine import Engine
from weft.engine import places as places_module
from weft.languages.xpath import parse

WIDE = "<r>" + "".join(f"<n{number}><k/></n{number}>" for number in range(50)) + "</r>"
SMALL = "<r><other/><n3><k/></n3></r>"


def paths_of(document: str) -> DocumentPaths:
    return scan_paths([Document(document)], Limits(), attributes=True, texts=True)


def engine(*queries: str) -> Engine:
    made = Engine()
    for number, query in enumerate(queries):
        made.add(number, parse(query))
    made.match(table_of([WIDE]), whether=True)
    return made


def test_a_new_place_knows_what_the_first_one_knows_and_answers_as_it_does() -> None:
    asked = engine("//k", "/r/n3/*", "//other", "/r//n4")
    first = asked.large.plans.paths

    found = [asked.match_paths(paths_of(SMALL), place) for place in (0, 1)]

    (beside,) = asked.large.places.beside
    assert [sorted(ids.tolist()) for (ids,) in found] == [[0, 1, 2]] * 2
    assert len(beside.paths) == len(first) == 1 + 1 + 2 * 50 + 1
    assert {tuple(first.names_of(path)) for path in range(1, len(first))} == {
        tuple(beside.paths.names_of(path)) for path in range(1, len(first))
    }


def test_a_new_place_learns_with_what_is_to_be_done_on_values() -> None:
    asked = engine("//n3[k = 'x']", "//n4[k]", "//k[not(.)]")

    found = asked.match(table_of([SMALL.replace("<k/>", "<k>x</k>"), WIDE]), whether=True, place=1).subscriptions()

    assert [sorted(ids.tolist()) for ids in found] == [[0], [1]]
    assert len(asked.large.places.beside[0].paths) == len(asked.large.plans.paths) + 1


def test_a_new_place_waits_for_so_many_label_paths_and_no_more() -> None:
    asked = engine("//k")

    with patch.object(places_module, "_LEARNED", 10):
        asked.match_paths(paths_of("<r/>"), 1)

    assert len(asked.large.places.beside[0].paths) == 1 + 10


def test_who_forgets_meanwhile_is_learned_from_no_longer() -> None:
    asked, other = engine("//k"), engine("//k")
    known = asked.large.plans.paths
    learning = other.large.plans.paths.learn(known)
    next(learning)

    known.clear()

    assert list(learning) == []


def wide(*names: str) -> str:
    return f"<r>{''.join(f'<{name}><k>x</k></{name}>' for name in names)}</r>"


@pytest.mark.parametrize("queries", [("//k", "/r/*/k", "//n7"), ("//n7[k = 'x']", "//k[not(.)]", "/r/*[k]", "//k")])
def test_a_place_that_was_prepared_goes_on_by_itself(queries: tuple[str, ...]) -> None:
    asked = engine(*queries)
    known = [f"n{number}" for number in range(400)]
    asked.match(table_of([wide(*known)]), whether=True)
    more = [wide("n7", *(f"at{place}n{number}" for number in range(600))) for place in (0, 1)]

    is_ready = asked.has_place(1)
    asked.prepare_places()

    assert not is_ready
    assert asked.has_place(1)
    (beside,) = asked.large.places.beside
    assert len(beside.paths) == len(asked.large.plans.paths)
    for place in (1, 0, 1):
        for documents in ([more[place]], [more[1 - place], wide(*known[5:9])], [wide("n7"), wide("n8")]):
            found = asked.match(table_of(documents), whether=True, place=place).subscriptions()
            fresh = engine(*queries).match(table_of(documents), whether=True).subscriptions()
            assert [sorted(ids.tolist()) for ids in found] == [sorted(ids.tolist()) for ids in fresh]


def test_a_place_that_knows_much_less_than_the_first_is_prepared_again() -> None:
    asked = engine("//k")
    asked.match(table_of([wide(*(f"n{number}" for number in range(400)))]), whether=True)
    assert not asked.has_place(1)
    asked.prepare_places()

    asked.match(table_of([wide(*(f"m{number}" for number in range(2_000)))]), whether=True)

    assert not asked.has_place(1)
    asked.prepare_places()
    assert len(asked.large.places.beside[0].paths) == len(asked.large.plans.paths)


def test_what_is_sent_elsewhere_has_no_places() -> None:
    asked = engine("//k")
    asked.match(table_of([SMALL]), whether=True, place=1)

    sent = pickle.loads(pickle.dumps(asked))

    assert (len(asked.large.places.beside), len(sent.large.places.beside)) == (1, 0)
    assert sent.match(table_of([SMALL]), whether=True, place=1).subscriptions()[0].tolist() == [0]
