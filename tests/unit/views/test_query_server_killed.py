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


def killed_at(act: Callable[[], object], step: int) -> int:
    """The exit code of a process that is killed right before its step with this number that changes a file."""
    count = 0

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        is_written = event == "open" and any(mark in str(arguments[1]) for mark in "wa+")
        if is_written or event in ("os.rename", "os.remove", "os.truncate"):
            count += 1
            if count > step:
                os.kill(os.getpid(), signal.SIGKILL)

    def watched() -> None:
        sys.addaudithook(watch)
        act()

    return os.waitstatus_to_exitcode(os.waitpid(child(watched), 0)[1])


def child(act: Callable[[], object]) -> int:
    """A process of its own, forked from this one, which has all loaded."""
    process = os.fork()
    if process == 0:
        try:
            act()
            os._exit(0)
        except StoreBusyError:
            os._exit(3)
        except BaseException:
            os._exit(4)
    return process


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
    act(QueryServer(tmp_path / "store", clock=lambda: 1_000.0))
    taken = time.perf_counter() - started

    for number in range(1, KILLS + 1):
        if act is adapt:  # else there is nothing left to store
            forget_all(server)
        (tmp_path / "s.xml").write_text(document(number))
        process = child(lambda: act(QueryServer(tmp_path / "store", clock=lambda: 1_000.0)))
        time.sleep(random.uniform(0, taken))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)

        known[number] = {query: server.query(query, fresh=True, record=False).fragments() for query in QUERIES}
        assert known[number]["/s/a"][0] == f"<a>{number}<b>0</b></a>"
        assert server.store.check() == []
        for query, found in answers(server).items():
            assert found in [each[query] for each in known.values()], "of one version, and all of it"
    server.refresh()
    assert answers(server) == known[KILLS]


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
        ends.append(killed_at(lambda: act(QueryServer(tmp_path / "store", clock=lambda: 1_000.0)), step))
        assert server.store.check() == []
        for query, found in answers(server).items():
            assert found in (before[query], expected[query]), (step, query)
        if ends[-1] == 0:
            break

    assert ends[-1] == 0
    assert len(ends) > 5
    assert set(ends[:-1]) == {-signal.SIGKILL}


def test_of_two_processes_that_store_at_once_both_are_heeded(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"s.xml": document(0)})

    def store(text: str) -> Callable[[], object]:
        return lambda: QueryServer(tmp_path / "store").materialize(text)

    processes = [child(store(text)) for text in QUERIES]
    ends = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]

    assert ends == [0] * len(QUERIES)
    assert {view.text for view in server.views()} == set(QUERIES)
    assert all("from views" in server.query(query).explain() for query in QUERIES)


@pytest.mark.slow
def test_what_processes_ask_at_once_is_all_remembered(tmp_path: Path) -> None:
    """While another writes views, too: it clears away only what is the store's own."""
    server_over(tmp_path, {"s.xml": "<s><a/></s>"}).close()

    def ask(name: str) -> Callable[[], object]:
        def act() -> None:
            for _ in range(25):
                with QueryServer(tmp_path / "store", clock=lambda: 1_000.0) as server:
                    server.query(f"/s/{name}")

        return act

    def write() -> None:
        for at in range(20):
            QueryServer(tmp_path / "store").materialize(f"/s/*[{at}]")

    processes = [child(act) for act in (ask("a"), ask("b"), write)]
    ends = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]

    assert ends == [0, 0, 0]
    record = QueryRecord(tmp_path / "store" / "queries.record", 7 * DAY)
    found = {query.text: query.frequency for query in record.workload(1_000.0).queries}
    assert found == {text: pytest.approx(25 * log(2) / (7 * DAY)) for text in ("/s/a", "/s/b")}


@pytest.mark.slow
def test_readers_go_on_while_another_process_writes(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"s.xml": document(0)})
    server.materialize("//b")
    expected = server.query("//b").fragments()

    def write() -> None:
        other = QueryServer(tmp_path / "store")
        for _ in range(4):
            materialize(other)
            other.materialize("//b")

    process = child(write)
    asked = 0
    while os.waitpid(process, os.WNOHANG) == (0, 0):
        assert server.query("//b", record=False).fragments() == expected
        asked += 1

    assert asked > 1
    assert server.query("//b").fragments() == expected


def test_a_store_that_is_written_to_for_long_is_refused_clearly(tmp_path: Path) -> None:
    server = server_over(tmp_path, {"s.xml": document(0)})
    reading, writing = os.pipe()

    def hold() -> None:
        with QueryServer(tmp_path / "store").store.writing():
            os.write(writing, b"x")
            time.sleep(60)

    process = child(hold)
    os.read(reading, 1)
    try:
        with pytest.raises(StoreBusyError, match=r"is writing, and waited 0\.1 s"), server.store.writing(0.1):
            pass
        assert server.query("/s/a").rows.num_rows == 120
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(reading)
        os.close(writing)
    server.materialize("/s/a")
    assert "from views" in server.query("/s/a").explain()
