"""Batches that are answered beside each other, each at a place of its own."""

from __future__ import annotations

from unittest.mock import patch

from oracle import table_of
from weft.documents.document import Document, Limits
from weft.documents.scan import DocumentPaths, scan_paths
from weft.engine import Engine
from weft.engine import index as index_module
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

    (beside,) = asked.large._plans_beside
    assert [sorted(ids.tolist()) for (ids,) in found] == [[0, 1, 2]] * 2
    assert len(beside.paths) == len(first) == 1 + 1 + 2 * 50 + 1
    assert {tuple(first.names_of(path)) for path in range(1, len(first))} == {
        tuple(beside.paths.names_of(path)) for path in range(1, len(first))
    }


def test_a_new_place_learns_with_what_is_to_be_done_on_values() -> None:
    asked = engine("//n3[k = 'x']", "//n4[k]", "//k[not(.)]")

    found = asked.match(table_of([SMALL.replace("<k/>", "<k>x</k>"), WIDE]), whether=True, place=1).subscriptions()

    assert [sorted(ids.tolist()) for ids in found] == [[0], [1]]
    assert len(asked.large._plans_beside[0].paths) == len(asked.large.plans.paths) + 1


def test_a_new_place_waits_for_so_many_label_paths_and_no_more() -> None:
    asked = engine("//k")

    with patch.object(index_module, "_LEARNED", 10):
        asked.match_paths(paths_of("<r/>"), 1)

    assert len(asked.large._plans_beside[0].paths) == 1 + 10


def test_who_forgets_meanwhile_is_learned_from_no_longer() -> None:
    asked, other = engine("//k"), engine("//k")
    known = asked.large.plans.paths
    learning = other.large.plans.paths.learn(known)
    next(learning)

    known.clear()

    assert list(learning) == []
