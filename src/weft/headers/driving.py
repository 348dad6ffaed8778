"""Which look-up drives each condition: by its kind and its constant at first, then by how often it is seen to hold.

A condition is looked at anew whenever its driver has brought it up often enough, twice as often each time up to a
bound: its parts are put in order, and where another look-up holds much more seldom, that is to drive it. Such changes
are made between documents, some at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from weft.headers.conditions import AllOf, FirstKnown, HeaderCondition, LookUp, OneNode
from weft.headers.drivers import Drivers
from weft.headers.evaluate import ConditionTable

_OFTEN = 16  # times that a driver brings a condition up before it is looked at, at first
_MOST_OFTEN = 256  # and in the end: what looking takes is little beside what asking so often did
_LESS = 0.5  # of how often a driver holds: another that holds no more often takes its place
_SLICE = 256  # conditions that get another driver between two documents, at first


@dataclass(slots=True)
class _Seen:
    """How often something was the case, since so many documents had been seen."""

    since: int
    times: int = 0
    often: int = _OFTEN  # times that are enough to tell a share

    def once_more(self, documents: int) -> float | None:
        """One more time: the share of documents in which it was so, when there is enough to tell, and begin anew."""
        self.times += 1
        if self.times < self.often:
            return None
        share = self.times / max(1, documents - self.since)
        self.since, self.times, self.often = documents, 0, min(2 * self.often, _MOST_OFTEN)
        return share


@dataclass(slots=True)
class _Driven:
    """A condition that must be asked where its driver holds."""

    choices: tuple[LookUp, ...]  # the look-ups that it needs, any of which could drive it
    driver: LookUp
    held: _Seen
    told: int  # documents in which the driver's value was known, when it was told last how many pass
    passed: int = 0  # and those in which it held since then


class Driving:
    """The drivers of one configuration's conditions, and the choice among them."""

    def __init__(self, table: ConditionTable) -> None:
        self.drivers = Drivers()
        self.sure: set[int] = set()  # conditions that are nothing but their driver
        self.changing: dict[int, LookUp] = {}  # conditions that are to have another driver
        self._changed = 0  # how many have it, since there was nothing to change
        self._table = table
        self._driven: dict[int, _Driven] = {}  # those that are not sure
        self._blocked: dict[int, _Seen] = {}  # by entry: documents in which too much depended on it

    def add(self, at: int, condition: HeaderCondition) -> bool:
        """Find a driver for a condition; whether there is one.

        Of equal kinds it is the look-up that drives the fewest so far: what very many queries have in common is true
        for many documents, or else brings up very many.
        """
        choices = tuple(dict.fromkeys(_choices(condition)))
        if not choices:
            return False
        driver = min(choices, key=self._rank)
        self.drivers.add(at, driver)
        if driver in (condition, condition.parts[0] if isinstance(condition, FirstKnown) else None):
            self.sure.add(at)
        else:
            self._driven[at] = _Driven(
                choices, driver, _Seen(self.drivers.probed, often=_OFTEN), self.drivers.known(driver.entry)
            )
        return True

    def remove(self, at: int) -> None:
        """A condition that nobody asks for any more."""
        self.drivers.remove(at)
        self.sure.discard(at)
        self.changing.pop(at, None)
        self._driven.pop(at, None)

    def held(self, conditions: Iterable[int]) -> None:
        """The drivers of these conditions, none of them sure, held for one more document."""
        for at in conditions:
            one = self._driven[at]
            one.passed += 1
            share = one.held.once_more(self.drivers.probed)
            if share is not None:
                self._look_at(at, share)

    def blocked(self, entry: int) -> None:
        """One more document must be parsed since it is unknown whether very many conditions hold, by this entry.

        Where that is so for most documents, they are driven by what they ask of others.
        """
        seen = self._blocked.setdefault(entry, _Seen(self.drivers.unprobed + self.drivers.probed - 1, often=_OFTEN))
        share = seen.once_more(self.drivers.unprobed + self.drivers.probed)
        if share is not None and share >= _LESS:
            for at in self._driven.keys() & self.drivers.conditions(entry):
                others = [each for each in self._driven[at].choices if each.entry != entry]
                if others:
                    self.changing[at] = min(others, key=self._rank)

    def tested(self) -> dict[LookUp, tuple[int, int]]:
        """In how many documents each driver held, and in how many it did not, since this was asked last.

        Tests that alone are a query are left out: it does not matter to views how many documents pass them.
        """
        found: dict[LookUp, tuple[int, int]] = {}
        for one in self._driven.values():
            found[one.driver] = max(found.get(one.driver, (0, 0)), self._tested(one), key=sum)
            one.told, one.passed = self.drivers.known(one.driver.entry), 0
        return found

    def _tested(self, one: _Driven) -> tuple[int, int]:
        return one.passed, self.drivers.known(one.driver.entry) - one.told - one.passed

    def keep_up(self) -> None:
        """Make some of the changes: more each time, as indexes are made anew after each."""
        number = max(_SLICE, self._changed)
        for at in list(islice(self.changing, number)):
            one, driver = self._driven[at], self.changing.pop(at)
            self._table.correct(one.driver, *self._tested(one))
            self.drivers.remove(at)
            self.drivers.add(at, driver)
            one.driver, one.held.since, one.held.times = driver, self.drivers.probed, 0
            one.told, one.passed = self.drivers.known(driver.entry), 0
        self._changed = self._changed + number if self.changing else 0

    def _look_at(self, at: int, share: float) -> None:
        """A driver that held for this share of documents."""
        self._table.reorder(at)
        one = self._driven[at]
        known = [(seen, each) for each in one.choices if (seen := self._table.selectivity_of(each)) is not None]
        seldom, driver = min(known, key=lambda each: each[0], default=(1.0, one.driver))
        if driver != one.driver and seldom <= _LESS * share:
            self.changing[at] = driver

    def _rank(self, look_up: LookUp) -> tuple[int, int]:
        """Equality first; `!=` last, which nearly everything passes."""
        assert look_up.test is not None
        return {"=": 0, "!=": 2}.get(look_up.test.operator, 1), self.drivers.driven_by(look_up)


def _choices(condition: HeaderCondition) -> Iterator[LookUp]:
    """The look-ups of values without which a condition is false."""
    match condition:
        case LookUp(test=test) if test is not None:
            yield condition
        case OneNode(part=part):
            yield from _choices(part)
        case FirstKnown(parts):
            yield from _choices(parts[0])
        case AllOf(parts):
            for part in parts:
                yield from _choices(part)
