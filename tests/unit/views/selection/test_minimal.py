"""The minimal view set: parts are disjoint, rebuild every answer exactly, and never take more than the answers do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles import examples
from weft.documents.document import Document
from weft.views.nodes import select
from weft.views.parts import classify, part_id
from weft.views.selection.candidates import Estimates, problem_of_parts, problem_of_views
from weft.views.selection.costs import Explained, Seconds, SourceCosts, costs_of, seconds_per_byte
from weft.views.selection.minimal import Parts, definition, definition_text, find_parts, join_parts
from weft.views.selection.ours import choose
from weft.views.workload import Workload, read_lines

QUERIES = [
    "//a",
    "//b",
    "/s/a",
    "/s/a/*",
    "//{a}",
    "//a[b]",
    "//a[!b]",
    "//b ∪ /s/c",
    "//* − //a",
    "//a//b",
    "/s/*[c]/b",
    "/s",
]
COSTS = SourceCosts(Seconds(0.05), Seconds(1e-5), Seconds(1e-4))


def elements(labels: str = "abc") -> st.SearchStrategy[str]:
    leaf = st.sampled_from([f"<{label}>{label}x</{label}>" for label in labels])
    return st.recursive(
        leaf,
        lambda inner: st.tuples(st.sampled_from(labels), st.lists(inner, max_size=3)).map(
            lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0]}>"
        ),
        max_leaves=8,
    )


def answers_of(workload: Workload, documents: Mapping[str, str]) -> dict[str, Sequence[pa.Table]]:
    selections = [query.selection for query in workload.queries]
    return {source: select(source, [Document(text, id="d")], selections).rows for source, text in documents.items()}


def found(workload: Workload, documents: Mapping[str, str]) -> Parts:
    return find_parts(workload, answers_of(workload, documents))


@given(st.lists(elements(), max_size=5), st.lists(st.sampled_from(QUERIES), min_size=1, max_size=5, unique=True))
@examples(60)
def test_parts_of_documents_add_up_to_those_of_all_of_them(inner: list[str], queries: list[str]) -> None:
    workload = read_lines(queries)
    documents = [Document(f"<s>{text}</s>", id=str(number)) for number, text in enumerate(inner)]
    selections = [query.selection for query in workload.queries]

    together = find_parts(workload, {"s": select("s", documents, selections).rows})
    joined = join_parts(find_parts(workload, {"s": select("s", [each], selections).rows}) for each in documents)

    assert frozenset(joined.pieces) == frozenset(together.pieces)
    assert len(joined.pieces) == len(together.pieces)
    assert joined.sizes == together.sizes


@given(st.lists(elements(), max_size=4), st.lists(st.sampled_from(QUERIES), min_size=1, max_size=5, unique=True))
@examples(120)
def test_every_answer_is_exactly_the_union_of_what_its_parts_hold_of_it(inner: list[str], queries: list[str]) -> None:
    workload = read_lines(queries)
    answers = answers_of(workload, {"s": f"<s>{''.join(inner)}</s>"})
    parts = find_parts(workload, answers)
    rows = {query.name: table for query, table in zip(workload.queries, answers["s"], strict=True)}
    classes = classify("s", rows)
    held = {part_id("s", home): classes.rows(places) for home, places in classes.homes().items()}

    for name, answer in rows.items():
        mine = [row for part in parts.required(name) for row in held[part].to_pylist() if name in row["views"]]
        assert sorted(row["offset"] for row in mine) == answer["offset"].to_pylist()
        tops = {row["offset"]: row["fragment"] for part in held.values() for row in part.to_pylist() if row["fragment"]}
        fragments = dict(zip(answer["offset"].to_pylist(), answer["fragment"].to_pylist(), strict=True))
        for row in mine:  # a nested one is cut out of the topmost one around it
            assert fragments[row["offset"]] in tops[row["offset"] if row["inside"] is None else row["inside"]]
    offsets = [row["offset"] for part in held.values() for row in part.to_pylist()]
    assert len(offsets) == len(set(offsets))
    assert set(parts.sizes) == set(held)
    total = sum(len(text) for table in rows.values() for text in table["fragment"].to_pylist())
    assert sum(parts.sizes.values()) <= total
    assert sum(piece.bytes * len(piece.signature) for piece in parts.pieces) == total


@given(st.lists(elements(), max_size=4), st.lists(st.sampled_from(QUERIES), min_size=1, max_size=5, unique=True))
@examples(60)
def test_the_definition_of_a_part_gives_its_nodes(inner: list[str], queries: list[str]) -> None:
    workload, documents = read_lines(queries), {"s": f"<s>{''.join(inner)}</s>"}
    parts = found(workload, documents)
    signatures = sorted({piece.signature for piece in parts.pieces}, key=sorted)
    selections = [definition(signature, workload, parts) for signature in signatures]

    rows = select("s", [Document(documents["s"], id="d")], selections).rows

    nodes = [sum(piece.nodes for piece in parts.pieces if piece.signature == signature) for signature in signatures]
    assert [table.num_rows for table in rows] == nodes


def test_frequencies_are_split_as_in_figure_6() -> None:
    workload = read_lines(["0.3 /s/a ∪ /s/b", "0.5 /s/b ∪ /s/c"])
    parts = found(workload, {"s": "<s><a/><b/><c/></s>"})

    frequencies = parts.frequencies(workload)

    first, both, second = (part_id("s", names) for names in (["q1"], ["q1", "q2"], ["q2"]))
    assert frequencies == {first: 0.3 / 2, both: 0.3 / 2 + 0.5 / 2, second: 0.5 / 2}
    assert definition_text(frozenset({"q1"}), workload, parts) == "(/s/a ∪ /s/b) except (/s/b ∪ /s/c)"


def test_the_introductions_workload_has_these_parts_and_a_choice_among_them() -> None:
    workload = read_lines(
        [
            *("/s1/a/* (0.1)", "/s1/a/b (0.15)", "/s2/a/b[c] (0.05)", "/s2/a/b[d] (0.12)"),
            *("/s3/a/b ∪ /s3/a/c (0.2)", "/s3/a/b (0.08)", "/s4/a/{b} (0.1)", "/s4/a/{c} (0.07)"),
            *("/s5/a/b/c (0.05)", "/s5/a/*/c (0.08)"),
        ]
    )
    record = "<a><b><c>1</c></b><b><d>2</d></b><b><c/><d/></b><c>3</c><d><c>4</c></d></a>"
    parts = found(workload, {source: f"<{source}>{record * 3}</{source}>" for source in ("s1", "s2", "s3", "s4", "s5")})
    signatures: dict[str, set[str]] = {source: set() for source in ("s1", "s2", "s3", "s4", "s5")}
    for piece in parts.pieces:
        signatures[piece.source].add("+".join(sorted(piece.home)))

    assert signatures == {
        "s1": {"q1", "q1+q2"},
        "s2": {"q3", "q4", "q3+q4"},
        "s3": {"q5", "q5+q6"},
        "s4": {"q7", "q8", "q7+q8"},
        "s5": {"q10", "q10+q9"},
    }
    estimates = Estimates(dict.fromkeys(signatures, COSTS))
    everything = choose(problem_of_parts(parts, workload, estimates), sum(parts.sizes.values()))
    assert set(everything.keys) == set(parts.sizes)
    assert everything.time == 0


def test_without_transformation_what_is_common_is_stored_twice_and_a_larger_view_answers_smaller_queries() -> None:
    workload = read_lines(["/s/a ∪ /s/b", "/s/b ∪ /s/c", "/s/b"])
    parts = found(workload, {"s": "<s><a/><b/><c/></s>"})
    estimates = Estimates({"s": COSTS})

    views = problem_of_views(parts, workload, estimates)
    apart = problem_of_views(parts, workload, estimates, matches={})

    assert sum(each.size for each in views.candidates) == 20 > sum(parts.sizes.values()) == 12
    assert views.time(()) == pytest.approx(problem_of_parts(parts, workload, estimates).time(()))
    assert [len(each.pieces) for each in views.candidates] == [2, 2, 1]
    assert [len(each.pieces) for each in apart.candidates] == [1, 1, 1]


def test_changes_of_a_source_cost_maintenance_and_keep_views_out() -> None:
    workload = read_lines(["/s/a", "/t/a"])
    parts = found(workload, {"s": "<s><a>x</a></s>", "t": "<t><a>x</a></t>"})
    restless = SourceCosts(COSTS.latency, COSTS.processing, COSTS.transmission, changes=1e6, changed_share=0.5)
    problem = problem_of_parts(parts, workload, Estimates({"s": COSTS, "t": restless}))

    assert choose(problem, 1_000).keys == (part_id("s", ["q1"]),)
    assert problem.candidates[1].maintenance == pytest.approx(1e6 * 0.5 * 8 * 1.1e-4)


def test_views_of_a_source_whose_rates_are_known_well_come_first_if_risk_counts() -> None:
    workload = read_lines(["/s/a", "/t/a"])
    parts = found(workload, {"s": "<s><a>x</a></s>", "t": "<t><a>x</a></t>"})
    known, vague = SourceCosts(Seconds(0.10, 0.001)), SourceCosts(Seconds(0.12, 0.05))

    chosen = [
        choose(problem_of_parts(parts, workload, Estimates({"s": known, "t": vague}, risk=risk)), 10).keys
        for risk in (0.0, 1.0)
    ]

    assert chosen == [(part_id("t", ["q2"]),), (part_id("s", ["q1"]),)]


def test_a_source_that_explains_itself_is_believed() -> None:
    workload = read_lines(["/s/a", "/s/b"])
    parts = found(workload, {"s": "<s><a>x</a><b>x</b></s>"})
    explained = {("q2", "s"): Explained(Seconds(9.0))}

    problem = problem_of_parts(parts, workload, Estimates({"s": COSTS}, explained=explained))

    assert choose(problem, 10).keys == (part_id("s", ["q2"]),)
    assert problem.time(()) == pytest.approx(0.05 + 8 * 1.1e-4 + 0.05 + 9 + 8 * 1e-4)


def test_rates_become_times_with_their_spread() -> None:
    assert seconds_per_byte(100.0, 50.0) == Seconds(1.25 / 100, 0.5 / 100)
    assert costs_of(None, None, None) == SourceCosts()
    assert Seconds(1.0, 0.4).cautious(2) == pytest.approx(0.2)
    assert Seconds(1.0, 0.4).cautious(3) == 0
