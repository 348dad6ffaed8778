"""Plans that are merged as the paper's section 5 says: by signatures, with an output for each pair of constants."""

import pytest

import weft
from flwr_ways import messages, with_queries
from oracle import table_of
from weft.plans.comparisons import holds
from weft.plans.plan import Value
from weft.reference.pathsharing.constants import ConstantIndex
from weft.reference.pathsharing.engine import PathSharingEngine
from weft.reference.pathsharing.plan_sharing import PlanSharing

BOOK = "<book year='{0}'><price>{1}</price><t>{0}</t></book>"
BOOKS = "<bib>" + "".join(BOOK.format(year, year % 7) for year in range(9)) + "</bib>"


def query(where: str, path: str = "/bib/book", returned: str = "$b/t") -> str:
    return f"<r>{{ for $b in {path} where {where} return <i>{{ {returned} }}</i> }}</r>"


def sharing(*queries: str) -> PlanSharing:
    made: PlanSharing = with_queries(PlanSharing(), dict(enumerate(queries)))
    return made


def sizes(made: PlanSharing) -> tuple[int, int, int]:
    """Shared joins, shared selections and the outputs of these."""
    joins = made.operators.joins.values()
    return len(joins), sum(map(len, joins)), sum(len(each.outputs) for some in joins for each in some.values())


def test_queries_that_differ_in_constants_share_a_join_and_a_selection() -> None:
    made = sharing(*(query(f"$b/price = {price}") for price in range(5)))

    assert sizes(made) == (1, 1, 5)


def test_queries_with_one_constant_read_one_output() -> None:
    made = sharing(query("$b/price = 1"), query("$b/price = 1", returned="$b/price"))

    assert sizes(made) == (1, 1, 1)


def test_another_operator_or_level_is_another_selection_above_the_same_join() -> None:
    made = sharing(
        query("$b/price = 1"),
        query("$b/price < 1"),
        query("$b/price = 1", "/bib/book[@year = 3]"),
        query("$b/price = 1", "/bib/book[@year = 4]"),
    )

    assert sizes(made) == (1, 3, 4)


@pytest.mark.parametrize("where", ["$b/price = 1 and $b/t = '1'", "contains($b/t, '1')", "not($b/price = 1)"])
def test_what_has_several_predicate_paths_or_none_that_is_simple_keeps_its_own_plan(where: str) -> None:
    made = sharing(query(where))

    assert sizes(made) == (0, 0, 0)
    assert messages(made, table_of([BOOKS]))


def test_a_query_that_goes_takes_what_only_it_had() -> None:
    made = sharing(query("$b/price = 1"), query("$b/price = 2"), query("$b/price < 2"))

    for number, left in ((0, (1, 2, 2)), (2, (1, 1, 1)), (1, (0, 0, 0))):
        made.remove(number)
        assert sizes(made) == left


def test_return_paths_are_grouped_once_for_all_that_return_them() -> None:
    made = sharing(*(query(f"$b/price = {price}") for price in range(5)))
    made.profile.enabled = True

    run = made.match(table_of([BOOKS]))

    assert len(run._group_bys) == 1  # type: ignore[attr-defined]
    assert len(run.groups) == 5


@pytest.mark.parametrize("operator", ["=", "!=", "<", "<=", ">", ">=", "contains"])
@pytest.mark.parametrize("kind", [str, float])
def test_an_index_finds_the_constants_that_each_comparison_alone_finds(operator: str, kind: type) -> None:
    if operator == "contains" and kind is float:
        pytest.skip("texts only")
    constants = [kind(number) for number in (3, 1, 2, 10)]
    made = ConstantIndex(Value(operator, constants[0]))  # type: ignore[arg-type]
    for constant in (*constants, constants[0]):
        made.add(constant)
    made.remove(constants[1])
    made.remove(constants[0])  # one test more has it

    for text in ("1", "2", "3", "03", "2.5", "x", ""):
        tests = [Value(operator, one) for one in constants if one != constants[1]]  # type: ignore[arg-type]
        expected = [test.constant for test in tests if holds(test, text)]
        assert sorted(made.passed(text), key=str) == sorted(expected, key=str)


def test_it_is_explained_what_is_shared() -> None:
    broker = weft.Broker(approach="PlanSharing")
    for price in range(3):
        broker.subscribe(query(f"$b/price = {price}"), id=f"q{price}")
    broker.subscribe(query("count($b/price) = 1"), id="own")

    assert "by PlanSharing: an output of 3 of a shared selection, above a join that 1 share" in broker.explain("q1")
    assert "by PlanSharing: operators of its own" in broker.explain("own")
    assert "4 FLWR queries, by merged plans: PlanSharing" in broker.explain()
    assert isinstance(broker._matcher.engine, PathSharingEngine)
