"""Destinations that raise, exit, block or take long: each costs only itself, and nothing is lost or out of order."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from itertools import count, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import Broker, ConfigurationError, DeliveryError, Document, Message
from weft.broker.courier import Courier

LIMIT = 0.2


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def documents(*names: str) -> list[Document]:
    return [Document("<a/>", id=name) for name in names]


def messages(number: int) -> list[Message]:
    return [Message("s", str(at), ("<a/>",)) for at in range(number)]


def raises(error: BaseException) -> Callable[[Message], None]:
    def destination(_: Message) -> None:
        raise error

    return destination


@pytest.mark.parametrize("seconds", [LIMIT, None])
@pytest.mark.parametrize(
    "error", [OSError("no room"), SystemExit(3), GeneratorExit(), MemoryError(), RecursionError("deep")], ids=repr
)
def test_whatever_a_destination_raises_costs_only_itself(error: BaseException, seconds: float | None) -> None:
    received: list[Message] = []
    broker = Broker(destination_seconds=seconds)
    broker.subscribe("/a", id="bad", to=raises(error))
    broker.subscribe("/a", id="good", to=received.append)

    broker.publish(documents("1", "2"))

    assert [message.document for message in received] == ["1", "2"]
    assert [(each.message.document, each.error) for each in broker.undelivered] == [("1", error), ("2", error)]


def test_a_destination_that_exits_does_not_end_the_process() -> None:
    broker = Broker(destination_seconds=None)
    broker.subscribe("/a", to=lambda _: sys.exit(1))

    broker.publish("<a/>")

    assert isinstance(broker.undelivered[0].error, SystemExit)


def test_an_interrupt_of_the_publisher_passes_through() -> None:
    broker = Broker(destination_seconds=None)
    broker.subscribe("/a", to=raises(KeyboardInterrupt()))

    with pytest.raises(KeyboardInterrupt):
        broker.publish("<a/>")


def test_a_destination_that_blocks_is_left_behind_and_the_others_go_on() -> None:
    release, received = threading.Event(), list[Message]()
    broker = Broker(destination_seconds=LIMIT)
    broker.subscribe("/a", id="blocks", to=lambda _: release.wait(20))
    broker.subscribe("/a", id="good", to=received.append)

    begun = time.monotonic()
    broker.publish(documents("1", "2", "3"))
    took = time.monotonic() - begun

    assert took < 15  # the limit is waited for, not the destination
    assert [message.document for message in received] == ["1", "2", "3"]
    reasons = [str(each.error) for each in broker.undelivered]
    assert reasons == ["the destination took longer than 0.2 seconds", *[reasons[1]] * 2]
    assert reasons[1] == "not tried: an earlier message still blocks the destination"
    assert all(isinstance(each.error, DeliveryError) for each in broker.undelivered)
    release.set()


def test_a_destination_that_blocked_is_asked_again_after_a_rest() -> None:
    clock, release, received = Clock(), threading.Event(), list[str]()
    courier = Courier(LIMIT, clock)

    def blocks_once(message: Message) -> None:
        if message.document == "0":
            clock.now += 1  # longer than the limit
            release.wait(20)
        received.append(message.document)

    first, second, third = ([(message, blocks_once)] for message in messages(3))

    assert len(courier.deliver(first)) == 1
    release.set()
    while not received:  # the call that was left behind returns
        time.sleep(0.01)
    time.sleep(0.05)
    assert [str(each.error) for each in courier.deliver(second)] == [
        "not tried: the destination failed, and is tried again in 1.0 seconds"
    ]
    clock.now += 1.5
    assert courier.deliver(third) == []
    assert received == ["0", "2"]


def test_a_destination_whose_failures_cost_time_gets_a_rest_that_doubles() -> None:
    clock, asked = Clock(), list[float]()
    courier = Courier(None, clock)

    def slow_failure(_: Message) -> None:
        asked.append(clock.now)
        clock.now += 1.1
        raise OSError("no answer")

    for message in messages(200):
        courier.deliver([(message, slow_failure)])
        clock.now += 0.1

    rests = [later - before - 1.1 for before, later in pairwise(asked)]
    assert rests == pytest.approx([1, 2, 4, 8][: len(rests)], abs=0.2)
    assert 4 <= len(asked) < 10


def test_a_destination_that_fails_quickly_is_asked_for_every_message() -> None:
    asked = list[str]()
    courier = Courier(None, Clock())

    def fails(message: Message) -> None:
        asked.append(message.document)
        raise ValueError(message.document)

    failed = courier.deliver([(message, fails) for message in messages(1000)])

    assert len(asked) == len(failed) == 1000


def test_what_was_not_delivered_is_delivered_again_in_order() -> None:
    received, is_up = list[str](), False

    def line(message: Message) -> None:
        if not is_up:
            raise OSError("down")
        received.append(message.document)

    broker = Broker()
    broker.subscribe("/a", to=line)
    broker.publish(documents("1", "2", "3"))

    first = broker.redeliver()
    is_up = True
    second = broker.redeliver()

    assert (first, second) == (0, 3)
    assert received == ["1", "2", "3"]
    assert broker.undelivered == ()


def test_a_destination_may_publish_while_another_thread_publishes() -> None:
    broker, seen, numbers = Broker(destination_seconds=5), list[str](), count()
    broker.subscribe("/inner", to=lambda message: seen.append(message.document))
    broker.subscribe("/a", to=lambda _: broker.publish(Document("<inner/>", f"inner-{next(numbers)}")))

    threads = [threading.Thread(target=broker.publish, args=(documents(*map(str, range(20))),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert broker.undelivered == ()
    assert seen == [f"inner-{at}" for at in range(60)]


def test_nothing_of_a_failure_is_kept_but_what_it_tells() -> None:
    broker = Broker()

    def fails(_: Message) -> None:
        large = bytearray(10)  # noqa: F841 - it would live in the frame
        try:
            raise ValueError("first")
        except ValueError as error:
            raise OSError("second") from error

    broker.subscribe("/a", to=fails)
    broker.publish("<a/>")

    error = broker.undelivered[0].error
    assert (str(error), str(error.__cause__)) == ("second", "first")
    assert error.__traceback__ is None
    assert error.__cause__ is not None
    assert error.__cause__.__traceback__ is None


def test_the_thread_ends_with_its_broker() -> None:
    before = set(threading.enumerate())
    broker = Broker()
    broker.subscribe("/a", to=lambda _: None)
    broker.publish("<a/>")
    (thread,) = (each for each in set(threading.enumerate()) - before if each.name == "weft-courier")

    del broker
    gc.collect()
    thread.join(5)

    assert not thread.is_alive()


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan")])
def test_a_limit_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ConfigurationError, match="destination_seconds: expected a number of seconds above 0"):
        Broker(destination_seconds=seconds)


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=30), st.sampled_from([5.0, None]))
def test_each_destination_gets_its_messages_in_order_whatever_fails(
    plan: list[tuple[int, bool]], seconds: float | None
) -> None:
    received: list[list[str]] = [[] for _ in range(4)]
    failing = {str(at) for at, (_, fails) in enumerate(plan) if fails}

    def make(number: int) -> Callable[[Message], None]:
        def destination(message: Message) -> None:
            if message.document in failing:
                raise RuntimeError(message.document)
            received[number].append(message.document)

        return destination

    destinations = [make(number) for number in range(4)]
    deliveries = [(message, destinations[to]) for message, (to, _) in zip(messages(len(plan)), plan, strict=True)]

    failed = Courier(seconds).deliver(deliveries)

    assert [each.message.document for each in failed] == [str(at) for at, (_, fails) in enumerate(plan) if fails]
    for number in range(4):
        wanted = [str(at) for at, (to, fails) in enumerate(plan) if to == number and not fails]
        assert received[number] == wanted
