"""How often sources change is learned from looks at them, fades, and weighs on what is stored of them."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from query_servers import queries
from weft.errors import ConfigurationError
from weft.views.server import DAY, QueryServer
from weft.views.sources.changes import HALF_LIFE, Changes, changes_from_json
from weft.views.sources.rates import Rate, Rates

HOUR = 3_600.0
SLOW = Rates(Rate(1e4), Rate(1e4), Rate(0.1))


class Clock:
    now = 1e9

    def __call__(self) -> float:
        return self.now


def items(number: int, text: str = "text") -> str:
    return "<s>" + "".join(f"<a>{at} {text if at == 7 else 'the same'}</a>" for at in range(number)) + "</s>"


def test_a_source_that_was_looked_at_once_changes_nobody_knows_how_often() -> None:
    assert Changes().look({"d": "1"}, 5.0).rate is None


def test_changes_are_counted_by_the_time_between_looks() -> None:
    changes = Changes().look({"d": "0"}, 0.0)
    for hour in range(1, 9):
        changes = changes.look({"d": str(hour // 4)}, hour * HOUR, share=0.25 if hour % 4 == 0 else 0.0)

    assert changes.rate == pytest.approx(2 / (8 * HOUR), rel=0.01)
    assert changes.share == pytest.approx(0.25)
    assert changes_from_json(changes.to_json()) == changes


def test_one_change_in_the_first_minute_is_not_one_every_minute() -> None:
    changes = Changes().look({"d": "0"}, 0.0).look({"d": "1"}, 60.0)

    assert changes.rate == pytest.approx(1 / 60)
    assert changes.rate_over(10 * DAY) == pytest.approx(1 / (10 * DAY))
    assert changes.rate_over(1.0) == changes.rate
    assert Changes().rate_over(0.0) == 0.0


def test_what_was_seen_long_ago_counts_little() -> None:
    changes = Changes().look({"d": "0"}, 0.0).look({"d": "1"}, HOUR)

    later = changes.look({"d": "1"}, HOUR + 10 * HALF_LIFE)

    assert later.rate is not None
    assert 0 < later.rate < 1e-3 / (10 * HALF_LIFE)


def test_a_look_at_a_change_that_was_seen_before_tells_its_share_alone() -> None:
    seen = Changes().look({"d": "0"}, 0.0).look({"d": "1"}, HOUR)

    weighed = seen.look({"d": "1"}, HOUR, share=0.1)

    assert weighed.rate == seen.rate
    assert (seen.share, weighed.share) == (None, 0.1)


@pytest.mark.parametrize("values", [[], ["a", "b"], 7])
def test_what_is_damaged_is_told(values: object) -> None:
    with pytest.raises(ConfigurationError, match="changes: expected"):
        changes_from_json(values)


@pytest.mark.slow
def test_a_server_learns_from_refreshing_and_stores_less_of_what_changes_all_the_time(tmp_path: Path) -> None:
    clock = Clock()
    server = QueryServer(tmp_path / "store", clock=clock)
    for name in ("s.xml", "t.xml"):
        (tmp_path / name).write_text(items(2_000).replace("s>", f"{name[0]}>"))
        server.add_source(tmp_path / name, rates=SLOW)
    workload = queries("/s/a", "/t/a")
    for text in ("/s/a", "/t/a"):
        server.query(text)
    before = server.recommend(workload, inf)
    server.materialize(before)
    for number in range(40):
        clock.now += DAY / 2
        (tmp_path / "s.xml").write_text(items(2_000, f"text {number}"))
        server.refresh()

    restless, calm = server.registry.entries()
    after = QueryServer(tmp_path / "store", clock=clock).recommend(workload, inf)

    assert len(before.choice.keys) == 2
    assert restless.changes.rate == pytest.approx(2 / DAY, rel=0.01)
    assert restless.changes.share is not None
    assert 0 < restless.changes.share < 0.1
    assert calm.changes.rate == 0.0
    assert list(after.definitions().values()) == ["/t/a"]


def test_a_first_change_does_not_outweigh_queries_that_are_asked_more_often(tmp_path: Path) -> None:
    clock = Clock()
    server = QueryServer(tmp_path / "store", clock=clock)
    (tmp_path / "s.xml").write_text(items(200))
    server.add_source(tmp_path / "s.xml", rates=SLOW)
    for _ in range(3):
        server.query("/s/a")
    server.materialize("/s/a")
    clock.now += 20
    (tmp_path / "s.xml").write_text(items(200, "new"))
    server.refresh()

    assert list(server.recommend(queries("/s/a"), inf).definitions().values()) == ["/s/a"]
    assert len(server.adapt(inf, horizon=7 * DAY).choice.keys) == 1


@pytest.mark.slow
def test_adapting_lets_go_of_what_changes_more_often_than_it_is_asked(tmp_path: Path) -> None:
    clock = Clock()
    server = QueryServer(tmp_path / "store", clock=clock)
    file = tmp_path / "s.xml"
    file.write_text(items(2_000))
    server.add_source(file, rates=SLOW)
    for _ in range(20):
        server.query("/s/a")
    assert len(server.adapt(inf, horizon=7 * DAY).choice.keys) == 1
    for number in range(30):
        clock.now += 1
        file.write_text(items(2_000, f"text {number}").replace("the same", str(number)))
        server.refresh()

    adapted = server.adapt(inf, horizon=7 * DAY)

    assert adapted.choice.keys == ()
    assert server.query("/s/a").rows.num_rows == 2_000


def test_a_source_that_has_another_root_is_asked_by_that(tmp_path: Path) -> None:
    server = QueryServer(tmp_path / "store")
    file = tmp_path / "d.xml"
    file.write_text("<s><a>1</a></s>")
    server.add_source(file)
    server.materialize("/s/a")
    file.write_text("<t><a>2</a></t>")

    server.refresh()

    assert server.registry.entry("s").root == "t"
    assert server.query("/t/a").fragments() == ["<a>2</a>"]
    assert server.query("/s/a").fragments() == []


def test_a_check_tells_that_the_root_is_another(tmp_path: Path) -> None:
    server = QueryServer(tmp_path / "store")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "d.xml").write_text("<s/>")
    server.add_source(folder)
    (folder / "e.xml").write_text("<t/>")

    found = server.registry.check("s")

    assert (found.root_before, found.entry.root) == ("s", None)
    assert server.query("/t").fragments() == ["<t/>"]
