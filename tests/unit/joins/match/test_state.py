"""What joins remember: postings, sets of predicates, and a state that does not grow for ever."""

from __future__ import annotations

from itertools import combinations
from random import Random
from unittest.mock import patch

import numpy as np
import pytest

from weft.documents.build import read
from weft.documents.document import Document
from weft.joins.compile.predicates import Predicates, WindowColumns
from weft.joins.compile.queries import Queries
from weft.joins.compile.reach import ANY_LENGTH, TIME
from weft.joins.joins import Joins
from weft.joins.match import lookups
from weft.joins.match.lookups import Lookups
from weft.joins.match.nearness import Nearness
from weft.joins.match.postings import Occurrences, Postings
from weft.joins.match.state import State
from weft.languages.xscl import parse

WINDOW = TIME, ANY_LENGTH


def occurrences(*rows: tuple[int, int, int]) -> Occurrences:
    value, document, variable = zip(*rows, strict=True)
    columns = np.array(value, np.int64), np.array(document, np.int32), np.array(variable, np.int32)
    return Occurrences(*columns).sorted()


def test_postings_find_all_occurrences_of_a_value_however_they_came() -> None:
    random, postings = Random(1), Postings()
    rows = [(random.randrange(20), document, random.randrange(3)) for document in range(300)]
    for start in range(0, len(rows), 7):
        postings.add(occurrences(*rows[start : start + 7]))
    assert len(postings) == 300
    assert sorted(postings.documents(3, 1).tolist()) == [row[1] for row in rows if row[0] == 3 and row[2] == 1]


@pytest.mark.parametrize("few", [0, 4, 1_000])
def test_occurrences_meet_those_that_a_predicate_equates_and_no_others(few: int) -> None:
    random, postings, predicates = Random(2), Postings(), Predicates()
    for opening, pair in enumerate([(0, 1), (2, 1), (1, 2)]):
        predicates.add(opening, [pair], WINDOW)
    rows = [(random.randrange(20), document, random.randrange(4)) for document in range(300)]
    for start in range(0, 280, 7):
        postings.add(occurrences(*rows[start : start + 7]))
    batch = occurrences(*rows[280:])

    with patch.multiple(lookups, _FEW=few, PIECE=10, _MANY=1_000):
        looked_up = Lookups(predicates, batch, [*postings.runs, batch], Nearness(Queries(), State()))
        pieces = [piece for part in looked_up.parts() for piece in looked_up.find(part)]

    found = [pair for each in pieces for pair in zip(each.earlier.tolist(), each.later.tolist(), strict=True)]
    assert sorted(found) == sorted(
        (one[1], other[1])
        for other in rows[280:]
        for one in rows[: other[1]]
        if one[0] == other[0] and (one[2], other[2]) in [(0, 1), (2, 1), (1, 2)]
    )


def test_postings_keep_what_is_kept() -> None:
    postings = Postings()
    postings.add(occurrences((1, 0, 5), (1, 1, 5), (2, 2, 6)))
    postings.compact(np.array([True, False, True]), np.array([0, 0, 1], np.int32))
    assert postings.documents(1, 5).tolist() == [0]
    assert postings.documents(2, 6).tolist() == [1]


@pytest.mark.parametrize("number", [6, 100], ids=["masks", "numbers"])
def test_the_seeds_of_a_set_are_those_whose_predicates_are_all_in_it(number: int) -> None:
    random, predicates = Random(2), Predicates()
    pairs = [(at, at + 1_000) for at in range(number)]
    needed = [frozenset(random.sample(pairs, random.randint(1, 3))) for _ in range(200)]
    needed += [frozenset([pair]) for pair in pairs]  # so that all of them are known
    for seed, each in enumerate(needed):
        predicates.add(seed, each, WINDOW)
    windows = WindowColumns(np.zeros(len(needed), np.int32), np.zeros(len(needed), np.int64))
    gone = set(range(0, 200, 3))
    for seed in gone:
        predicates.remove(seed, needed[seed], WINDOW)
    for held in [*combinations(pairs[:5], 3), tuple(pairs), (pairs[0],)]:
        numbers = np.sort(predicates.of_pairs(*(np.array(column, np.int32) for column in zip(*held, strict=True))))
        answers, of_group = predicates.satisfied(np.array([0]), numbers.astype(np.int32), windows)
        expected = [seed for seed, each in enumerate(needed) if seed not in gone and each <= set(held)]
        assert answers[of_group[0]].openings.tolist() == expected
    assert predicates.of_pairs(np.array([5], np.int32), np.array([5], np.int32)).tolist() == [-1]


QUERIES = {
    "seconds": "S//i->x[a->a][b->c] FOLLOWED BY{a = b AND c = d, 60 seconds} S//i->y[a->b][b->d]",
    "documents": "S//i->x[a->a] JOIN{a = b, 100 documents} T//i->y[a->b]",
    "absence": "S//i->x[a->a] NOT FOLLOWED BY{a = b, 30 seconds} S//i->y[a->b]",
    "chain": "S//i->x FOLLOWED BY{x/a = y/a, 20 seconds} S//i->y FOLLOWED BY{y/a = z/a, 50 documents} S//i->z",
}


@pytest.mark.slow
@pytest.mark.parametrize("names", [*([name] for name in QUERIES), list(QUERIES)], ids="-".join)
def test_the_state_of_a_long_stream_stays_small(names: list[str]) -> None:
    joins, random = Joins(), Random(3)
    for number, name in enumerate(names):
        joins.add(number, parse(QUERIES[name]))
    sizes = []
    for batch in range(120):
        documents = [
            Document(
                f"<i><a>{random.randrange(300)}</a><b>{random.random()}</b></i>",
                str(at),
                random.choice("ST"),
                float(at) / 5,
            )
            for at in range(batch * 50, batch * 50 + 50)
        ]
        joins.process(read(documents))
        counted = sum(len(numbers) for numbers, _ in joins.state.history.columns().values())
        values = len(joins.stage.values.codes) + len(joins.stage.values.texts)
        sizes.append((len(joins.state), len(joins.state.held), len(joins.state.postings), counted, values))
    early, late = (np.max(sizes[start : start + 60], axis=0) for start in (0, 60))
    assert (late <= 1.5 * early).all()
    assert late[0] < 1_500


def test_what_nobody_asks_for_any_more_goes() -> None:
    joins = Joins()
    joins.add(1, parse(QUERIES["seconds"]))
    joins.add(2, parse(QUERIES["seconds"]))
    joins.remove(1)
    assert len(joins.stage) > 0
    joins.remove(2)
    assert len(joins.stage) == len(joins) == len(joins.queries.shared) == 0
    assert joins.process(read([Document("<i><a>1</a></i>", "1")])).count == 0
