"""One query on a stream of elements: answers, migration, what is told, and memory."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from optimizer_plans import broker_answers
from weft import Document, Dtd, Limits
from weft.engine.paths.bounds import Bounds
from weft.errors import ConfigurationError, DocumentError, QueryError, UnsupportedError
from weft.optimizer import ElementMatcher
from weft.optimizer.aged_mean import AgedMean
from weft.optimizer.cost import CostModel
from weft.optimizer.executor import ElementExecutor
from weft.optimizer.leads import Leads
from weft.optimizer.migration import Migration
from weft.optimizer.search import Optimizer
from weft.optimizer.statistics import Statistics
from weft.optimizer.unit_costs import UnitCosts, unit_costs

UNITS = UnitCosts(narrow_byte=1, whole_byte=2.2, row=0.5, visit=90, test=140, call=30_000, cut=1_000, observe=1_500)
FIELDS = 6


def element(random: Random, rare: int) -> bytes:
    """All fields are 1 most of the time, but for one."""
    fields = "".join(
        f"<g{at}>{'<x>text</x>' * 5}<f>{int(random.random() < (0.02 if at == rare else 0.95))}</f></g{at}>"
        for at in range(FIELDS)
    )
    return f"<e>{fields}</e>".encode()


QUERY = "/e" + "".join(f"[g{at}/f = 1]" for at in range(FIELDS))


def shifting(number: int, seed: int = 1) -> list[Document]:
    """Elements of which first the fields of g1 are rare, and then those of g4."""
    random = Random(seed)
    return [Document(element(random, 1 if at < number // 2 else 4), str(at)) for at in range(number)]


class Ticking:
    """A clock on which every look takes the same: what costs a call does not depend on this machine."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        self.now += 100_000
        return self.now


def test_the_first_of_several_nodes_decides_where_a_function_reads_it() -> None:
    elements = [Document("<a><b>y</b><b>x</b></a>", "second"), Document("<a><b>x</b><b>y</b></a>", "first")]

    assert ElementMatcher("/a[contains(b, 'x')]").matches(elements) == ["first"]


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["min-exhaust", "greedy", "fast-prune", "fixed"])
def test_answers_are_those_of_a_broker_while_selectivities_shift(optimizer: Optimizer) -> None:
    elements = shifting(6_000)
    matcher = ElementMatcher(QUERY, optimizer=optimizer, units=UNITS)

    found = [(each.element, each.nodes) for each in matcher.stream(elements)]

    assert found == broker_answers(QUERY, elements)
    assert (matcher.migrations > 0) is (optimizer != "fixed")


def test_a_plan_follows_the_selectivities() -> None:
    matcher = ElementMatcher(QUERY, units=UNITS)
    rare = dict(zip(matcher.tree.required, range(FIELDS), strict=True))
    random = Random(3)

    for group in (1, 4):
        for _ in range(500):  # searches have a share of the time, so that some batches run before the next
            matcher.matches([Document(element(random, group), str(at)) for at in range(256)])
            asked_first = [*sorted(matcher.plan.inside), *matcher.plan.order][0]
            if matcher.plan.order and rare[asked_first] == group:
                break

        assert rare[asked_first] == group


def test_a_plan_that_promises_little_is_not_taken() -> None:
    """Hysteresis: where all patterns are alike, small differences do not change the plan again and again."""
    random = Random(5)
    matcher = ElementMatcher(QUERY, units=UNITS, clock=Ticking())  # on which all take the same
    batches = [[Document(element(random, -1), str(at)) for at in range(256)] for _ in range(4)]

    for at in range(1_500):
        matcher.matches(batches[at % 4])

    assert matcher._migration.searches > 5
    assert matcher.migrations <= 1


def test_a_migration_is_taken_between_batches_and_told() -> None:
    matcher = ElementMatcher(QUERY, optimizer="fixed", units=UNITS)
    elements = shifting(64)
    before = matcher.matches(elements)

    matcher.migrate(frozenset({1}))

    assert matcher.matches(elements) == before
    assert [run.plan.inside for run in matcher.runs] == [frozenset(range(FIELDS)), frozenset({1})]
    assert [(run.first, run.elements) for run in matcher.runs] == [(0, 64), (64, 64)]


def test_places_that_no_plan_has_are_refused() -> None:
    matcher = ElementMatcher("/e[b[c]]")

    with pytest.raises(ConfigurationError, match=r"expected patterns with their ancestors, found \[1\]"):
        matcher.migrate(frozenset({1}))


def test_searches_keep_to_their_share_of_the_time() -> None:
    matcher = ElementMatcher(QUERY, units=UNITS, clock=Ticking())

    for _ in range(200):
        matcher.matches(shifting(4))

    overhead = matcher.overhead
    assert overhead.share is not None
    assert overhead.searching / overhead.running < 0.02


@pytest.mark.timed
@pytest.mark.slow
def test_all_that_is_beside_the_plans_keeps_to_its_share_of_the_time() -> None:
    """Statistics with all that is counted for them alone, probing, unit costs, searches and migrations."""
    unit_costs.cache_clear()
    matcher = ElementMatcher(QUERY)
    elements = shifting(4_000)

    while matcher.overhead.running < 2_000_000_000:
        matcher.matches(elements)

    overhead = matcher.overhead
    assert min(overhead.statistics, overhead.probing, overhead.searching, overhead.migrating) > 0
    assert overhead.share is not None
    assert overhead.share <= 0.03
    assert matcher.statistics.units is unit_costs()


def test_the_first_batch_of_a_plan_tells_shares_and_not_what_it_takes() -> None:
    """It learns names and label paths: by its time the first pass would look so dear that it is never tried again."""
    matcher = ElementMatcher(QUERY, units=UNITS)
    elements = shifting(200)

    matcher.matches(elements)
    assert matcher.migrations == 0
    assert matcher.statistics.selectivity[0].value is not None
    assert matcher.statistics.inside[0].value is None

    matcher.matches(elements)
    assert matcher.statistics.inside[0].value is not None


def test_a_batch_that_is_not_observed_changes_nothing_that_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    matcher = ElementMatcher(QUERY, units=UNITS)
    monkeypatch.setattr(Migration, "is_due", False)
    elements = shifting(500)
    for _ in range(20):
        matcher.matches(elements)
        if not matcher._migration.may_observe:
            break
    before, taken = matcher.model().patterns, matcher.statistics.taken

    assert not matcher._migration.may_observe
    matcher.matches([Document("<e/>")] * 500)

    assert matcher.model().patterns == before
    assert matcher.statistics.taken == taken
    matcher.migrate(frozenset({1}))  # a plan that is new is observed at once
    matcher.matches(elements)
    assert matcher.statistics.taken > taken
    taken, cost = matcher.statistics.taken, matcher.statistics.outside[0].value
    matcher.matches(elements)
    assert matcher.statistics.taken > taken
    assert matcher.statistics.outside[0].value != cost


def test_what_cannot_be_read_is_rejected_and_the_others_go_on() -> None:
    sources = [Document("<e><b>1</b>", "open"), Document("<e><b>1</b></e>", "right"), Document("<e><b>", "also")]
    outside = DocumentError("file", 1, 1, 0, "more than 5 bytes")
    matcher = ElementMatcher("/e[b = 1]")

    found = list(matcher.stream([outside, *sources]))

    assert [each.element for each in found] == ["right"]
    assert [each.document for each in matcher.rejected] == ["file", "open", "also"]


def test_a_message_that_breaks_a_limit_is_refused() -> None:
    matcher = ElementMatcher("/e[b]", limits=Limits(max_message_bytes=20))

    found = matcher.answers([Document("<e><b/></e>", "small"), Document(f"<e><b>{'x' * 50}</b></e>", "large")])

    assert [each.element for each in found] == ["small"]
    assert [each.document for each in matcher.refused] == ["large"]


def test_a_flwr_query_of_a_stream_sees_its_elements_alone() -> None:
    query = "<r>{ for $a in stream('s')/e[b] return $a }</r>"
    elements = [Document("<e><b/></e>", "of s", "s"), Document("<e><b/></e>", "of t", "t")]

    assert ElementMatcher(query).matches(elements) == ["of s"]
    assert [each.nodes for each in ElementMatcher(query).answers(elements)] == [("<r><e><b/></e></r>",)]


def test_joins_and_what_cannot_be_read_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="a join of several documents is not supported"):
        ElementMatcher("S/a[@x->i] FOLLOWED BY{i = j, 1 hour} S/b[@x->j]")
    with pytest.raises(QueryError):
        ElementMatcher("/a[")
    with pytest.raises(ConfigurationError, match="optimizer: expected one of"):
        ElementMatcher("/a", optimizer="best")  # type: ignore[arg-type]


def test_a_query_with_too_many_plans_for_min_exhaust_is_refused_before_any_element() -> None:
    wide = "/e" + "".join(f"[p{at}]" for at in range(17))

    with pytest.raises(ConfigurationError, match="at most 65536 plans"):
        ElementMatcher(wide, optimizer="min-exhaust")
    assert ElementMatcher(wide, optimizer="greedy").matches("<e/>") == []


@pytest.mark.parametrize(
    ("where", "name"),
    [(CostModel, "cost_as_it_is"), (Statistics, "pattern_cost"), (ElementExecutor, "_try"), (Leads, "probe")],
)
def test_a_failure_of_the_optimizer_disturbs_no_answer(where: type, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise MemoryError("injected")

    elements = shifting(600)
    matcher = ElementMatcher(QUERY, units=UNITS)
    with monkeypatch.context() as patch:
        patch.setattr(where, name, failing)
        found = [(each.element, each.nodes) for each in matcher.stream(elements)]

    assert found == broker_answers(QUERY, elements)
    matcher.found = None
    for _ in range(400):  # a search has its share of the time
        matcher.matches(elements)
        if matcher.found:
            break
    assert matcher.found


def test_what_is_known_ages() -> None:
    mean = AgedMean()
    assert mean.value is None  # nothing is not zero

    mean.add(100, 0)
    assert mean.value == 0
    for _ in range(20):
        mean.add(100, 100)

    assert mean.value == pytest.approx(1, abs=0.01)


def test_a_pattern_that_nothing_came_to_is_not_known() -> None:
    matcher = ElementMatcher("/e[b = 1][c = 1]", optimizer="fixed", units=UNITS)
    matcher.migrate(frozenset({0}))

    matcher.matches([Document("<e><b>2</b><c>1</c></e>", "1")])

    model = matcher.model()
    assert model.patterns[0].selectivity == 0
    assert model.patterns[1].selectivity is None
    assert not model.is_known(1)


@pytest.mark.slow
def test_label_paths_without_end_are_bounded() -> None:
    def elements() -> Iterator[Document]:
        for number in range(20_000):
            yield Document(f"<e><b>1</b><n{number}/></e>", str(number))

    bound = 1 << 17
    matcher, most = ElementMatcher("/e[b = 1]", bounds=Bounds(bound)), 0
    without = ElementMatcher("/e[b = 1]")
    found = 0
    for one in matcher.stream(elements()):
        found += bool(one)
        most = max(most, matcher._executor._automaton._paths.memory)
    for _ in without.stream(elements()):
        pass

    assert found == 20_000
    assert most < 2 * bound
    assert without._executor._automaton._paths.memory > 2 * bound


def test_with_a_dtd_the_answers_are_the_same() -> None:
    groups = ", ".join(f"g{at}" for at in range(FIELDS))
    declared = "".join(f"<!ELEMENT g{at} (x*, f)>" for at in range(FIELDS))
    dtd = Dtd.parse(f"<!ELEMENT e ({groups})>{declared}<!ELEMENT x (#PCDATA)><!ELEMENT f (#PCDATA)>", root="e")
    elements = shifting(4_000)

    for trusted in (False, True):
        matcher = ElementMatcher(QUERY, dtd=dtd, trusted=trusted, units=UNITS)
        assert [(each.element, each.nodes) for each in matcher.stream(elements)] == broker_answers(QUERY, elements)
