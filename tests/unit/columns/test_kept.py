"""A kept property is worked out once for an object, and two objects' at the same time."""

from __future__ import annotations

import threading

from weft.columns.kept import kept_property

SECONDS = 30


class Thing:
    def __init__(self, both: threading.Barrier) -> None:
        self.both, self.times = both, 0

    @kept_property
    def value(self) -> int:
        """What it is."""
        self.both.wait(SECONDS)
        self.times += 1
        return 7


def test_threads_work_out_the_values_of_their_objects_beside_each_other() -> None:
    both = threading.Barrier(2)
    things = [Thing(both), Thing(both)]

    threads = [threading.Thread(target=lambda thing=thing: thing.value) for thing in things]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)

    assert not both.broken
    assert [(thing.value, thing.value, thing.times) for thing in things] == [(7, 7, 1)] * 2
    assert Thing.value.__doc__ == "What it is."
