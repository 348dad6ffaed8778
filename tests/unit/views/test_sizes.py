"""The bytes that parts take on disk, as they are told before they are stored, beside what they take."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.materialized_views.workload import make_setting

from query_servers import queries, server_over
from weft.documents.document import Document
from weft.languages.xpath import parse
from weft.views.nodes import SCHEMA, select
from weft.views.server import QueryServer
from weft.views.sizes import bytes_per_byte
from weft.views.sources.rates import Rate, Rates


@pytest.mark.slow
def test_parts_take_on_disk_about_what_was_told(tmp_path: Path) -> None:
    setting = make_setting(1, "many", (40_000,) * 5)
    server = QueryServer(tmp_path / "server")
    for name, document in setting.documents.items():
        assert isinstance(document.data, str)
        (tmp_path / f"{name}.xml").write_text(document.data, encoding="utf-8")
        server.add_source(tmp_path / f"{name}.xml", rates=Rates(Rate(1e6), Rate(1e6), Rate(0.01)))

    found = server.recommend(setting.workload, 1e9)
    stored = {part.id: part.bytes for part in server.materialize(found).parts if part.files is not None}

    told = {each.key: each.size for each in found.problem.candidates}
    assert set(stored) == set(told)
    assert abs(sum(told.values()) - sum(stored.values())) < 0.05 * sum(stored.values())


def test_nothing_takes_as_much_as_it_is() -> None:
    assert bytes_per_byte([]) == bytes_per_byte([SCHEMA.empty_table()]) == 1.0


def test_what_repeats_takes_less_than_what_does_not() -> None:
    same = "<s>" + "<a>the same</a>" * 2_000 + "</s>"
    other = "<s>" + "".join(f"<a>{at * 7919 % 104729:x}</a>" for at in range(2_000)) + "</s>"

    ratios = [bytes_per_byte(select("s", [Document(text)], [parse("//a")]).rows) for text in (same, other)]

    assert ratios[0] < ratios[1]


def test_the_estimate_is_near_to_what_is_written(tmp_path: Path) -> None:
    rows = "".join(f"<a><b>{at * 7919 % 104729}</b><c>{at}</c></a>" for at in range(3_000))
    server = server_over(tmp_path, {"s.xml": f"<s>{rows}</s>"})

    found = server.recommend(queries("/s/a"), 1e9)
    manifest = server.materialize(found)

    on_disk = sum(part.bytes for part in manifest.parts)
    assert 0.5 * on_disk < found.choice.size < 2 * on_disk
