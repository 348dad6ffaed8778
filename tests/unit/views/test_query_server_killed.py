"""A process that is killed while it writes views, and two that write at once: views answer as before or as after."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from math import log
from pathlib import Path
from random import Random

import pytest

from processes import end_of, start
from query_servers import queries, server_over
from weft.views.selection.record import QueryRecord
from weft.views.server import DAY, QueryServer
from weft.views.store.locks import StoreBusyError

QUERIES = ("//a", "/s/a", "//b", "/s/a/b")


def document(number: int) -> str:
    return "<s>" + "".join(f"<a>{number}<b>{at}</b></a><c><a>x{at}</a></c>" for at in range(120)) + "</s>"


def answers(server: QueryServer) -> dict[str, list[str]]:
    return {query: server.query(query, record=False).fragments() for query in QUERIES}


def forget_all(server: QueryServer) -> None:
    for view in server.views():
        server.drop(view.name)
    server.materialize("//b")


def opened(store: Path) -> QueryServer:
    return QueryServer(store, clock=lambda: 1_000.0)


def act_on(act: Callable[[QueryServer], None], store: Path) -> None:
    act(opened(store))


def act_until(act: Callable[[QueryServer], None], store: Path, step: int) -> None:
    """Killed right before the step with this number that changes a file."""
    count = 0

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        is_written = event == "open" and any(mark in str(arguments[1]) for mark in "wa+")
        if is_written or event in ("os.rename", "os.remove", "os.truncate"):
            count += 1
            if count > step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
    act_on(act, store)


def materialize(server: QueryServer) -> None:
    server.materialize(server.recommend(queries(*QUERIES), 1e9))


def refresh(server: QueryServer) -> None:
    server.refresh()


def adapt(server: QueryServer) -> None:
    for query in QUERIES:
        server.query(query)
    server.adapt(1e9, 1e12)


KILLS = 20


@pytest.mark.slow
@pytest.mark.parametrize("act", [materialize, refresh, adapt])
def test_killed_at_any_point_views_answer_as_before_or_as_after(
    tmp_path: Path, act: Callable[[QueryServer], None]
) -> None:
    random = Random(7)
    server = server_over(tmp_path, {"s.xml": document(0)})
    server.materialize("//b")
    known = {0: answers(server)}
    started = time.perf_counter()
    act_on(act, tmp_path / "store")
    taken = time.perf_counter() - started

    landed = number = 0
    while landed < KILLS and number < 5 * KILLS:
        number += 1
        if act is adapt:  # else there is nothing left to store
            forget_all(server)
        (tmp_path / "s.xml").write_text(document(number))
        process = start(act_on, act, tmp_path / "store")
        time.sleep(random.uniform(0, taken))
        process.kill()
        if end_of(process) == -signal.SIGKILL:
            landed += 1  # in the middle of its work: it has begun, and was not done
        else:
            taken *= 0.8  # the first time takes longest

        known[number] = {query: server.query(query, fresh=True, record=False).fragments() for query in QUERIES}
        assert known[number]["/s/a"][0] == f"<a>{number}<b>0</b></a>"
        assert server.store.check() == []
        for query, found in answers(server).items():
            assert found in [each[query] for each in known.values()], "of one version, and all of it"
    assert landed == KILLS
    server.refresh()
    assert answers(server) == known[number]


@pytest.mark.slow
@pytest.mark.parametrize("act", [materialize, refresh, adapt])
def test_killed_before_each_step_on_the_disk_no_half_view_is_read(
    tmp_path: Path, act: Callable[[QueryServer], None]
) -> None:
    server = server_over(tmp_path, {"s.xml": document(0)})
    server.materialize("//b")
    before, ends = answers(server), []
    (tmp_path / "s.xml").write_text(document(1))
    expected = {query: server.query(query, fresh=True, record=False).fragments() for query in QUERIES}

    for step in range(60):
        ends.append(end_of(start(act_until, act, tmp_path / "store", step)))
        assert server.store.check() == []
        for query, found in answers(server).items():
            assert found in (before[query], expected[query]), (step, query)
        if ends[-1] == 0:
            break

    assert ends[-1] == 0
    assert len(ends) > 5
    assert set(ends[:-1]) == {-signal.SIGKILL}


def store_view(store: Path, text: str) -> None:
    QueryServer(store).materialize(text)


def test_of_two_processes_that_store_at_once_both_are_heeded(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"s.xml": document(0)})

    processes = [start(store_view, tmp_path / "store", text) for text in QUERIES]
    ends = [end_of(process) for process in processes]

    assert ends == [0] * len(QUERIES)
    assert {view.text for view in server.views()} == set(QUERIES)
    assert all("from views" in server.query(query).explain() for query in QUERIES)


def ask_often(store: Path, text: str) -> None:
    for _ in range(25):
        with opened(store) as server:
            server.query(text)


def store_often(store: Path) -> None:
    for at in range(20):
        store_view(store, f"/s/*[{at}]")


@pytest.mark.slow
def test_what_processes_ask_at_once_is_all_remembered(tmp_path: Path) -> None:
    """While another writes views, too: it clears away only what is the store's own."""
    server_over(tmp_path, {"s.xml": "<s><a/></s>"}).close()
    store = tmp_path / "store"

    processes = [start(ask_often, store, "/s/a"), start(ask_often, store, "/s/b"), start(store_often, store)]
    ends = [end_of(process) for process in processes]

    assert ends == [0, 0, 0]
    record = QueryRecord(tmp_path / "store" / "queries.record", 7 * DAY)
    found = {query.text: query.frequency for query in record.workload(1_000.0).queries}
    assert found == {text: pytest.approx(25 * log(2) / (7 * DAY)) for text in ("/s/a", "/s/b")}


def write_often(store: Path) -> None:
    other = QueryServer(store)
    for _ in range(4):
        materialize(other)
        other.materialize("//b")


@pytest.mark.slow
def test_readers_go_on_while_another_process_writes(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"s.xml": document(0)})
    server.materialize("//b")
    expected = server.query("//b").fragments()

    process = start(write_often, tmp_path / "store")
    asked = 0
    while process.is_alive():
        assert server.query("//b", record=False).fragments() == expected
        asked += 1

    assert end_of(process) == 0
    assert asked > 1
    assert server.query("//b").fragments() == expected


def hold_store(store: Path) -> None:
    with QueryServer(store).store.writing():
        (store.parent / "held").touch()
        time.sleep(60)


def test_a_store_that_is_written_to_for_long_is_refused_clearly(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"s.xml": document(0)})
    process = start(hold_store, tmp_path / "store")
    while not (tmp_path / "held").exists():
        time.sleep(0.01)
    try:
        with pytest.raises(StoreBusyError, match=r"is writing, and waited 0\.1 s"), server.store.writing(0.1):
            pass
        assert server.query("/s/a").rows.num_rows == 120
    finally:
        process.kill()
        process.join()
    server.materialize("/s/a")
    assert "from views" in server.query("/s/a").explain()
