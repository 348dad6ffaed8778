"""Who changes something is alone; who only looks does so beside others."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from weft.broker.change_lock import ChangeLock

PATIENCE = 20.0  # seconds, far more than anything here takes


def test_two_share_it_at_places_of_their_own() -> None:
    lock, met, places = ChangeLock(2), threading.Barrier(2), []

    def look() -> None:
        with lock.shared() as place:
            places.append(place)
            met.wait(PATIENCE)  # raises if only one is inside

    with ThreadPoolExecutor(2) as threads:
        for each in [threads.submit(look), threads.submit(look)]:
            each.result(PATIENCE)

    assert sorted(places) == [0, 1]


def test_no_more_share_it_than_there_are_places() -> None:
    lock, inside, most, counting = ChangeLock(2), 0, 0, threading.Lock()

    def look() -> None:
        nonlocal inside, most
        with lock.shared():
            with counting:
                inside += 1
                most = max(most, inside)
            threading.Event().wait(0.01)
            with counting:
                inside -= 1

    with ThreadPoolExecutor(6) as threads:
        for each in [threads.submit(look) for _ in range(12)]:
            each.result(PATIENCE)

    assert most == 2


def test_who_changes_is_alone() -> None:
    lock, log = ChangeLock(2), []

    def look() -> None:
        with lock.shared():
            log.append("look")

    with ThreadPoolExecutor(2) as threads:
        with lock:
            looking = [threads.submit(look), threads.submit(look)]
            threading.Event().wait(0.05)
            log.append("change")
        for each in looking:
            each.result(PATIENCE)

    assert log == ["change", "look", "look"]


def test_who_waits_to_change_comes_before_those_who_would_look() -> None:
    lock, log, is_inside, go_on = ChangeLock(2), [], threading.Event(), threading.Event()

    def first() -> None:
        with lock.shared():
            is_inside.set()
            go_on.wait(PATIENCE)

    def change() -> None:
        with lock:
            log.append("change")

    def look() -> None:
        with lock.shared():
            log.append("look")

    with ThreadPoolExecutor(3) as threads:
        tasks = [threads.submit(first)]
        is_inside.wait(PATIENCE)
        tasks.append(threads.submit(change))
        while not lock._waiting:
            threading.Event().wait(0.001)
        tasks.append(threads.submit(look))
        threading.Event().wait(0.05)
        go_on.set()
        for each in tasks:
            each.result(PATIENCE)

    assert log == ["change", "look"]


def test_who_is_alone_may_be_so_again_and_may_look() -> None:
    lock = ChangeLock(1)

    with lock, lock, lock.shared() as place:
        assert place == 0

    with lock.shared() as place:
        assert place == 0
