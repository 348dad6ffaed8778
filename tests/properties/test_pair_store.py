"""Documents in any order, kept once and in several shards: they are joined as they would be in order and together."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from change_stores import Memory
from profiles import examples
from weft import Document
from weft.documents.build import read
from weft.documents.moment import END
from weft.joins import changes
from weft.joins.changes import ChangeLog
from weft.joins.joins import Joins
from weft.joins.pair_change import PairChange
from weft.joins.pair_store import PairStore
from weft.joins.pair_ways import Come
from weft.joins.pairs import PairJoins
from weft.languages import parse
from weft.plans.xscl import Xscl
from xscl_strategies import document_lists, queries

SHARDS = 2
Row = tuple[int, tuple[str, ...], str, int]


def is_pairwise(plan: Xscl) -> bool:
    join = plan.joins[-1]
    return len(plan.blocks) == 2 and join.operator != "NOT FOLLOWED BY" and join.window.documents is None


def new_joins(texts: list[str]) -> Joins:
    joins = Joins()
    for number, text in enumerate(texts):
        plan = parse(text, "xscl")
        assert isinstance(plan, Xscl)
        if is_pairwise(plan):
            joins.add(number, plan)
    return joins


def in_order(texts: list[str], documents: list[Document]) -> list[Row]:
    joins = new_joins(texts)
    ordered = sorted(documents, key=lambda one: (one.nanoseconds or 0, one.id))
    found = [joins.process(read(ordered)), joins.advance()]
    return sorted(
        (each.number, tuple(one.id for one in each.documents), each.text, each.timestamp)
        for one in found
        for each in joins.messages(one)
    )


class Shard:
    """A shard whose steps are done by whoever is there."""

    def __init__(self, texts: list[str], lateness: int) -> None:
        self._texts, self._lateness = texts, lateness
        self.changes, self.sources = Memory(), Memory()
        self._workers: dict[str, tuple[PairStore, ChangeLog[PairChange]]] = {}
        self._upto = 0

    def step(self, name: str, come: list[Come]) -> list[Row]:
        if name not in self._workers or not self._workers[name][1].catch_up(self.changes, self._upto):
            fresh = PairStore(PairJoins(new_joins(self._texts)), self.sources, self._lateness)
            self._workers[name] = fresh, ChangeLog(fresh, self.changes, self._upto)
        store, mine = self._workers[name]
        candidates = list(store.take_in(come, self._upto))
        rows = [
            (each.number, tuple(one.id for one in each.documents), each.text, each.timestamp)
            for each in store.pairs.messages(candidates, {})
        ]
        store.advance(store.latest)
        mine.write(self.changes)
        self._upto = mine.next
        if name == "new":
            del self._workers[name]
        return rows


@pytest.mark.slow
@examples(60)
@given(
    st.lists(queries(2, 2), min_size=1, max_size=4),
    document_lists(6, 12, late=True),
    st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["a", "b", "new"])), min_size=12, max_size=12),
    st.randoms(use_true_random=False),
)
def test_shards_that_take_turns_find_what_is_found_in_order(
    texts: list[str], documents: list[Document], turns: list[tuple[int, str]], chance: Random
) -> None:
    pairs = PairJoins(new_joins(texts))
    shards = [Shard(texts, END) for _ in range(SHARDS)]
    found: list[Row] = []
    left, often = chance.sample(documents, len(documents)), changes._OFTEN
    changes._OFTEN = 2
    try:
        for size, name in turns:
            some, left = left[:size], left[size:]
            for number, shard in enumerate(shards):
                found += shard.step(name, come(pairs, some, number, SHARDS))
    finally:
        changes._OFTEN = often

    assert sorted(found) == in_order(texts, documents)


TWO = ["S//o[c->x] FOLLOWED BY{x = y, 3 seconds} S//o[c->y]", "S//p[c->x] FOLLOWED BY{x = y, infinite} S//p[c->y]"]


def orders(number: int) -> list[Document]:
    return [
        Document(f"<{'op'[at % 10 == 0]}><c>{at % 7}</c></{'op'[at % 10 == 0]}>", f"d{at}", "S", float(at))
        for at in range(number)
    ]


def come(pairs: PairJoins, some: list[Document], shard: int = 0, shards: int = 1) -> list[Come]:
    """What a shard gets of some documents."""
    table = read(some)
    values: dict[int, tuple[list[int], list[int]]] = {}
    for at, variable, key in zip(*(column.tolist() for column in pairs.occurrences(table)), strict=True):
        variables, keys = values.setdefault(at, ([], []))
        variables.append(variable)
        keys.append(key)
    return [
        Come(table.documents[at], *given, int(table.documents[at].id[1:]) % shards == shard)
        for at, given in values.items()
    ]


def test_what_only_short_windows_can_use_goes_and_each_document_is_written_about_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(changes, "_OFTEN", 100)
    shard, given = Shard(TWO, 0), orders(2_000)
    pairs = PairJoins(new_joins(TWO))

    rows = [row for at in range(0, 2_000, 50) for row in shard.step("a", come(pairs, given[at : at + 50]))]

    assert len(shard.sources.kept) <= 200 + 4  # every tenth for ever, the others for seconds
    kept = sum(map(len, shard.changes.kept.values()))
    assert kept < shard.changes.written / 3
    assert {row[0] for row in rows} == {1}
