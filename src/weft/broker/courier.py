"""Hands messages to their destinations; one that raises, exits or blocks costs only itself.

Destinations are called in a thread of the courier's own, one after the other, in the order of the messages. What a
destination publishes itself is handed over right behind it, each message by a call of its own. If a call takes too long
the thread is left behind with it, and another one goes on. A destination that blocked, or whose failures
cost time, gets a rest that doubles; what is meant for it meanwhile comes back undelivered, at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from time import monotonic
from weakref import finalize

from weft.broker.destinations import Destination, Message
from weft.errors import DeliveryError, without_frames

Delivery = tuple[Message, Destination]
_Errand = Callable[[], bool]
_PATIENCE = 1.0  # seconds that failures in a row may cost before a destination gets a rest
_SHORTEST, _LONGEST = 1.0, 60.0  # seconds of rest
_DEEPEST = 100  # destinations that publish to destinations that publish
_MOST_ADDED = 10_000  # messages that destinations publish while one batch is handed over
_MOST_BLOCKED = 256  # threads that may be left behind
_MOST_TROUBLED = 10_000  # destinations whose failures are remembered


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A message that its destination did not take, and why; one that took too long may have arrived all the same."""

    message: Message
    error: BaseException
    to: Destination


@dataclass(slots=True)
class _Trouble:
    """A destination whose last call failed."""

    to: Destination  # held, so that nothing else gets its identity
    cost: float = 0.0  # seconds that its failures in a row have taken
    rest: float = 0.0  # how long its last rest was
    until: float = 0.0  # when that is over
    is_blocked: bool = False  # a call has not returned yet


@dataclass(slots=True)
class _Round:
    """Deliveries that a thread works through; `at` is the one that it is busy with, since `begun`."""

    deliveries: list[Delivery]  # grows where destinations publish
    depths: list[int]  # of each: how many destinations published for it to come about
    most: int  # deliveries that there may be in the end
    at: int
    begun: float
    failed: list[Undelivered]
    added: int = 0  # deliveries that the present call has brought about
    is_left: bool = False  # its thread was left behind: another round goes on
    lock: threading.Lock = field(default_factory=threading.Lock)
    is_done: threading.Event = field(default_factory=threading.Event)


class Courier:
    """Delivers for one broker. `limit` is how many seconds a call may take; None calls in the publisher's thread."""

    def __init__(self, limit: float | None, clock: Callable[[], float] = monotonic) -> None:
        self._limit, self._clock = limit, clock
        self._troubled: dict[int, _Trouble] = {}  # by identity
        self._blocked = 0
        self._work: SimpleQueue[_Errand | None] | None = None
        self._local = threading.local()

    @property
    def is_inside(self) -> bool:
        """Whether this thread runs a destination that somebody waits for: the broker is in its hands."""
        current: _Round | None = getattr(self._local, "round", None)
        return current is not None and not current.is_left

    def deliver(self, deliveries: Sequence[Delivery]) -> list[Undelivered]:
        """Hand over all messages in their order; what failed comes back."""
        failed: list[Undelivered] = []
        if self.is_inside:
            return self._add(self._local.round, deliveries)
        if self._limit is None:
            for delivery in deliveries:
                self._try(*delivery, failed, through=(KeyboardInterrupt,))
            return failed
        growing, depths, start = list(deliveries), [0] * len(deliveries), 0
        most = len(growing) + _MOST_ADDED
        while start < len(growing):
            start = self._wait(self._begin(_Round(growing, depths, most, start, self._clock(), failed)))
        return failed

    def _add(self, round: _Round, deliveries: Sequence[Delivery]) -> list[Undelivered]:
        """Deliveries that a destination brings about come right behind it; what fails of them is told by the round."""
        with round.lock:
            depth, place = round.depths[round.at] + 1, round.at + 1 + round.added
            if depth > _DEEPEST or len(round.deliveries) + len(deliveries) > round.most:
                error = DeliveryError("not tried: destinations publish for each other without end")
                return [Undelivered(message, error, to) for message, to in deliveries]
            round.deliveries[place:place] = deliveries
            round.depths[place:place] = [depth] * len(deliveries)
            round.added += len(deliveries)
        return []

    # -- the publisher's side

    def _begin(self, round: _Round) -> _Round:
        if self._work is None:
            self._work = SimpleQueue()
            threading.Thread(target=_work_on, args=(self._work,), name="weft-courier", daemon=True).start()
            finalize(self, self._work.put, None)  # the thread ends with the courier, which it does not hold while idle
        self._work.put(partial(self._run, round))
        return round

    def _wait(self, round: _Round) -> int:
        """Wait for a round, as long as no call takes too long; the next delivery's place comes back."""
        assert self._limit is not None
        while not round.is_done.wait(max(0.0, round.begun + self._limit - self._clock())):
            with round.lock:
                if not round.is_done.is_set() and self._clock() - round.begun >= self._limit:
                    round.is_left = True
                    self._leave(round)
                    return round.at + 1
        return len(round.deliveries)

    def _leave(self, round: _Round) -> None:
        """The thread stays with the call; the next round has a new one."""
        message, to = round.deliveries[round.at]
        error = DeliveryError(f"the destination took longer than {self._limit:g} seconds")
        round.failed.append(Undelivered(message, error, to))
        trouble = self._trouble(to)
        trouble.is_blocked = True
        self._rest(trouble)
        self._blocked += 1
        self._work = None

    # -- the thread's side

    def _run(self, round: _Round) -> bool:
        """Work through a round; False if it was left behind meanwhile, and its thread is not needed any more."""
        self._local.round = round
        at = round.at - 1
        while (at := at + 1) < len(round.deliveries):
            with round.lock:
                round.at, round.begun, round.added = at, self._clock(), 0
            failed: list[Undelivered] = []
            self._try(*round.deliveries[at], failed, through=())
            with round.lock:
                if round.is_left:
                    self._blocked -= 1
                    self._trouble(round.deliveries[at][1]).is_blocked = False
                    return False
                round.failed += failed
        self._local.round = None
        round.is_done.set()
        return True

    def _try(
        self, message: Message, to: Destination, failed: list[Undelivered], through: tuple[type[BaseException], ...]
    ) -> None:
        trouble = self._troubled.get(id(to))
        if trouble is not None and (reason := self._resting(trouble)):
            failed.append(Undelivered(message, DeliveryError(reason), to))
            return
        begun = self._clock()
        try:
            to(message)
        except through:
            raise
        except BaseException as error:  # also sys.exit(): a destination ends nobody but itself
            failed.append(Undelivered(message, without_frames(error), to))
            trouble = self._trouble(to)
            trouble.cost += self._clock() - begun
            if trouble.cost > _PATIENCE:
                self._rest(trouble)
        else:
            if trouble is not None:
                self._troubled.pop(id(to), None)

    # -- destinations in trouble

    def _resting(self, trouble: _Trouble) -> str | None:
        """Why a destination is not asked now, if it is not."""
        if trouble.is_blocked:
            return "not tried: an earlier message still blocks the destination"
        if (left := trouble.until - self._clock()) > 0:
            return f"not tried: the destination failed, and is tried again in {left:.1f} seconds"
        if self._blocked >= _MOST_BLOCKED:
            return f"not tried: the destination failed before, and {self._blocked} others are blocked"
        return None

    def _rest(self, trouble: _Trouble) -> None:
        trouble.cost = 0.0
        trouble.rest = min(max(_SHORTEST, 2 * trouble.rest), _LONGEST)
        trouble.until = self._clock() + trouble.rest

    def _trouble(self, to: Destination) -> _Trouble:
        trouble = self._troubled.get(id(to))
        if trouble is None:
            if len(self._troubled) >= _MOST_TROUBLED:
                over = [key for key, each in self._troubled.items() if not each.is_blocked]
                for key in over[: len(over) // 2 + 1]:
                    del self._troubled[key]
            trouble = self._troubled[id(to)] = _Trouble(to)
        return trouble


def _work_on(queue: SimpleQueue[_Errand | None]) -> None:
    while (work := queue.get()) is not None and work():
        del work
