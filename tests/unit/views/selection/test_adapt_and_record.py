"""Workloads that change: the record fades and stays small, views follow what lasts and do not flap."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from space_problems import random_problem, some_budget
from weft.documents.document import Document
from weft.errors import ConfigurationError
from weft.views.nodes import select
from weft.views.parts import part_id
from weft.views.selection.adapt import adapt, carried
from weft.views.selection.candidates import Estimates, problem_of_parts
from weft.views.selection.costs import Seconds, SourceCosts
from weft.views.selection.minimal import Parts, find_parts
from weft.views.selection.ours import choose
from weft.views.selection.problem import QueryLoad, Request, SpaceProblem, Storable
from weft.views.selection.record import QueryRecord, query_name
from weft.views.workload import Workload, read_lines

HALF_LIFE = 1_000.0


def two_views(first: float, second: float) -> SpaceProblem:
    """Two views of which only one fits, and how often each is asked for."""
    candidates = tuple(Storable(str(number), 10, (number,), building=1.1) for number in range(2))
    loads = (QueryLoad(str(at), each, (Request("s", 1.0, 0.01, (at,)),)) for at, each in enumerate((first, second)))
    return SpaceProblem((10, 10), candidates, tuple(loads))


def parts_of(workload: Workload, text: str) -> Parts:
    selections = [query.selection for query in workload.queries]
    return find_parts(workload, {"s": select("s", [Document(text, id="d")], selections).rows})


def test_a_view_is_not_built_unless_it_pays_within_the_horizon() -> None:
    problem = two_views(0.01, 0.0)

    assert adapt((), problem, 10, horizon=50).numbers == ()
    assert adapt((), problem, 10, horizon=1_000).numbers == (0,)


def test_a_view_gives_way_only_to_one_that_is_better_by_the_margin() -> None:
    assert adapt([0], two_views(1.0, 1.2), 10, horizon=1e6).numbers == (0,)
    assert adapt([0], two_views(1.0, 1.3), 10, horizon=1e6).numbers == (1,)
    assert adapt([0], two_views(1.0, 1.2), 10, horizon=1e6, margin=0.1).numbers == (1,)
    assert adapt([0], two_views(0.0, 1.0), 20, horizon=1e6).numbers == (0, 1)  # there is room: nothing need go


def test_a_smaller_budget_is_kept_and_what_costs_more_than_it_saves_goes() -> None:
    costly = SpaceProblem(
        (10,), (Storable("a", 10, (0,), maintenance=5.0),), (QueryLoad("q", 1.0, (Request("s", 1, 0, (0,)),)),)
    )

    assert adapt([0, 1], two_views(1.0, 2.0), 10, horizon=10).numbers == (1,)
    assert adapt([0], costly, 10, horizon=10).numbers == ()


class Served:
    """A server with two queries, of which the view of one fits: what it stores follows its record."""

    def __init__(self) -> None:
        self.record, self.now, self.stored = QueryRecord(None, HALF_LIFE), 0.0, frozenset[str]()

    def ask(self, text: str, seconds: float) -> None:
        """Ask a query for a while, and adapt."""
        for _ in range(20):
            self.now += seconds / 20
            self.record.note(text, self.now)
        workload = self.record.workload(self.now)
        estimates = Estimates({"s": SourceCosts(Seconds(1.0))})
        problem = problem_of_parts(parts_of(workload, "<s><a/><b/></s>"), workload, estimates)
        current = [number for number, each in enumerate(problem.candidates) if each.key in self.stored]
        self.stored = frozenset(adapt(current, problem, 4, horizon=HALF_LIFE).keys)


@pytest.mark.slow
@given(st.floats(1, 0.3 * HALF_LIFE), st.booleans())
@examples(12)
def test_workloads_that_take_turns_do_not_flap_and_one_that_lasts_is_followed(turn: float, is_second: bool) -> None:
    server, seen = Served(), []
    for _ in range(5):  # both have been asked for a while
        server.ask("/s/a", turn)
        server.ask("/s/b", turn)

    for _ in range(10):
        for text in ("/s/a", "/s/b"):
            server.ask(text, turn)
            seen.append(server.stored)
    lasting = "/s/b" if is_second else "/s/a"
    for _ in range(5):
        server.ask(lasting, HALF_LIFE)
        seen.append(server.stored)

    assert len(set(seen[4 * 2 : 20])) == 1
    assert sum(before != after for before, after in pairwise(seen)) <= 2
    assert server.stored == {part_id("s", [query_name(lasting)])}


@given(st.integers(0, 10_000), st.sampled_from([0.1, 0.5]))
@examples(25)
def test_adapting_again_changes_nothing_and_a_lasting_change_comes_near_the_best(seed: int, share: float) -> None:
    problem = random_problem(Random(seed), queries=8, parts=10, most=3)
    budget = some_budget(problem, share)
    old = choose(random_problem(Random(seed + 1), queries=8, parts=10, most=3), budget).numbers
    stored = [number for number in old if number < len(problem.candidates)]

    once = adapt(stored, problem, budget, horizon=1e9)
    again = adapt(once.numbers, problem, budget, horizon=1e9)

    assert once.size <= budget
    assert again.numbers == once.numbers
    if problem.size(stored) <= budget:
        assert once.benefit >= problem.chosen(stored).benefit - 1e-9
    assert adapt((), problem, budget, horizon=1e9).benefit >= 0.99 * choose(problem, budget).benefit


def test_parts_of_a_new_workload_are_there_if_all_they_hold_is_stored() -> None:
    text = "<s><a><b/></a><a/><b/><c/></s>"
    old, new = read_lines(["x: /s/a", "y: /s/b"]), read_lines(["x: /s/a", "z: /s/a[b]", "w: /s/c"])
    before, after = parts_of(old, text), parts_of(new, text)
    stored = [part for part in before.sizes if part in before.required("x")]

    found = carried(before, stored, after, {"x"})

    assert found == after.required("x") > after.required("z")
    assert not carried(before, (), after, {"x"})


def test_a_query_that_is_no_longer_asked_fades_by_its_half_life() -> None:
    record = QueryRecord(None, HALF_LIFE)
    for second in range(5_000):
        record.note("/s/a", float(second))

    now, later = (record.workload(at).queries[0].frequency for at in (5_000.0, 5_000.0 + HALF_LIFE))

    assert now == pytest.approx(1.0, rel=0.05)  # once a second
    assert later == pytest.approx(now / 2)


def test_the_record_is_bounded_and_what_counts_least_leaves_first() -> None:
    record = QueryRecord(None, HALF_LIFE, most=3)
    for text, times in (("/a", 5), ("/b", 1), ("/c", 3), ("/d", 1)):
        for _ in range(times):
            record.note(text, 0.0)

    assert [query.text for query in record.workload(0.0).queries] == ["/a", "/c", "/d"]


def test_the_record_outlives_its_server_and_names_stay(tmp_path: Path) -> None:
    file = tmp_path / "queries"
    first = QueryRecord(file, HALF_LIFE, save_every=2)
    for text in ("/p:a", "/p:a", "/b ∪ /c"):
        first.note(text, 5.0, {"p": "urn:x"})

    assert len(QueryRecord(file, HALF_LIFE).workload(5.0).queries) == 1
    first.save()
    assert QueryRecord(file, HALF_LIFE).workload(9.0) == first.workload(9.0)


def test_a_damaged_record_is_told_and_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "queries"
    before = QueryRecord(file, HALF_LIFE, save_every=2)
    before.note("/a", 1.0)
    file.write_text("nothing")

    for record in (QueryRecord(file, HALF_LIFE), before):
        record.note("/b", 2.0)
        record.save()

        with pytest.raises(ConfigurationError, match="delete it"):
            record.workload(2.0)
    assert file.read_text() == "nothing"


def test_a_record_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="expected a half-life"):
        QueryRecord(None, 0)
    with pytest.raises(ConfigurationError, match="expected a horizon"):
        adapt((), two_views(1, 1), 10, horizon=0)
