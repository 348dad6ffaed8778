"""The workloads of the experiment on materialized views: the same for a seed, and with overlaps as told."""

from __future__ import annotations

from bench.materialized_views.workload import Overlap, make_setting

from weft.views.nodes import select
from weft.views.selection.minimal import find_parts


def overlap_of(overlap: Overlap) -> float:
    """How much of the answers is in others too."""
    setting = make_setting(1, overlap, (8_000,) * 5)
    selections = [query.selection for query in setting.workload.queries]
    answers = {name: select(name, [each], selections).rows for name, each in setting.documents.items()}
    parts = find_parts(setting.workload, answers)
    return 1 - sum(parts.sizes.values()) / sum(piece.bytes * len(piece.signature) for piece in parts.pieces)


def test_a_seed_gives_the_same_setting_every_time() -> None:
    assert make_setting(3, "many") == make_setting(3, "many") != make_setting(4, "many")


def test_sources_are_as_large_as_told_and_frequencies_add_up() -> None:
    setting = make_setting(1, "few", (5_000, 5_000, 5_000, 5_000, 20_000), queries=30)

    assert [len(each.data) // 5_000 for each in setting.documents.values()] == [1, 1, 1, 1, 4]
    assert abs(sum(query.frequency for query in setting.workload.queries) - 1) < 1e-9


def test_answers_overlap_more_in_the_workload_with_many_intersections() -> None:
    assert overlap_of("many") > 2 * overlap_of("few")
