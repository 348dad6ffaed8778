"""Several threads publish, subscribe and unsubscribe: every batch sees one set, every subscriber one order."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import count
from typing import TypeVar

import pytest

from weft import Broker, Document, Message
from weft.workload import generate_documents, generate_queries, shipped

T = TypeVar("T")
SECONDS = 60  # far more than any of this takes: a deadlock fails instead of hanging


@pytest.fixture(autouse=True)
def _threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def run_together(*jobs: Callable[[], T]) -> list[T]:
    """Run jobs in threads that begin at the same moment; what they give comes back, what they raise is raised."""
    barrier = threading.Barrier(len(jobs))

    def run(job: Callable[[], T]) -> T:
        barrier.wait(SECONDS)
        return job()

    pool = ThreadPoolExecutor(len(jobs))
    futures: list[Future[T]] = [pool.submit(run, job) for job in jobs]
    _, late = wait(futures, SECONDS)
    pool.shutdown(wait=False, cancel_futures=True)
    assert not late, "a thread did not come to its end"
    return [future.result() for future in futures]


def documents(thread: int, number: int) -> list[Document]:
    return [Document(f"<a thread='{thread}'><b>{at}</b></a>", f"{thread}/{at}") for at in range(number)]


class Change:
    """A thread's own subscriptions: it makes one, and takes it back some turns later."""

    def __init__(self, broker: Broker, name: str, stop: threading.Event) -> None:
        self._broker, self._name, self._stop = broker, name, stop

    def __call__(self) -> int:
        turn = 0
        while not self._stop.is_set():
            self._broker.subscribe(f"/a[b or @n{turn % 7}]", id=f"{self._name}/{turn}")
            if turn >= 5:
                self._broker.unsubscribe(f"{self._name}/{turn - 5}")
            turn += 1
        return turn


@pytest.mark.slow
def test_all_documents_of_a_batch_see_the_same_subscriptions() -> None:
    broker, stop = Broker(), threading.Event()
    broker.subscribe("//b", id="always")
    batch = documents(0, 150)  # more than are matched at once
    found: list[Sequence[Sequence[str]]] = []

    def watch() -> int:
        for _ in range(15):
            found.append(broker.matches(batch))
            by_document: dict[str, list[str]] = {document.id: [] for document in batch}
            for message in broker.publish(batch):
                by_document[message.document].append(message.subscription)
            found.append(list(by_document.values()))
        stop.set()
        return len(found)

    _, *turns = run_together(watch, *(Change(broker, f"changing {name}", stop) for name in range(3)))

    assert min(turns) > 5
    for batch_found in found:
        assert "always" in batch_found[0]
        assert all(names == batch_found[0] for names in batch_found)


@pytest.mark.slow
def test_a_subscription_counts_from_when_it_is_made_until_it_is_taken_back() -> None:
    broker, stop = Broker(), threading.Event()

    def check(thread: int) -> None:
        for turn in range(100):
            name = f"mine {thread}/{turn}"
            broker.subscribe(f"/a[@thread = {thread}]", id=name)
            assert name in broker.matches(f"<a thread='{thread}'/>")[0]
            broker.unsubscribe(name)
            assert name not in broker.matches(f"<a thread='{thread}'/>")[0]

    def check_all() -> None:
        run_together(*(partial(check, thread) for thread in range(3)))
        stop.set()

    others: Callable[[], object] = Change(broker, "others", stop)
    run_together(check_all, others)

    assert all(not name.startswith("mine") for name in broker.matches("<a thread='1'><b/></a>")[0])


def test_every_subscriber_gets_documents_in_the_order_of_publication() -> None:
    broker = Broker()
    received: dict[str, list[Message]] = {name: [] for name in ("one", "two", "three")}
    for name, got in received.items():
        broker.subscribe("//b", id=name, to=got.append)
    publishers = [documents(thread, 90) for thread in range(4)]

    def publish(mine: list[Document]) -> None:
        for at in range(0, len(mine), 3):
            broker.publish(mine[at : at + 3])

    run_together(*(partial(publish, mine) for mine in publishers))

    orders = [[message.document for message in got] for got in received.values()]
    assert orders[0] == orders[1] == orders[2]
    for thread, mine in enumerate(publishers):
        assert [name for name in orders[0] if name.startswith(f"{thread}/")] == [document.id for document in mine]
    assert len(orders[0]) == sum(map(len, publishers))


def test_a_message_is_delivered_once_and_comes_back_once() -> None:
    broker = Broker()
    received: list[Message] = []
    broker.subscribe("//b/text()", id="all", to=received.append)
    publishers = [documents(thread, 60) for thread in range(4)]

    returned = run_together(*(partial(broker.publish, mine) for mine in publishers))

    expected = {Message("all", document.id, (str(at),)) for mine in publishers for at, document in enumerate(mine)}
    assert set(received) == expected
    assert sorted(map(str, received)) == sorted(str(message) for messages in returned for message in messages)


def test_a_destination_that_raises_disturbs_nobody() -> None:
    broker = Broker()
    received: dict[str, list[Message]] = {"before": [], "after": []}

    def fail(message: Message) -> None:
        raise OSError(f"no room for {message.document}")

    broker.subscribe("//b", id="before", to=received["before"].append)
    broker.subscribe("//b", id="failing", to=fail)
    broker.subscribe("//b", id="after", to=received["after"].append)
    publishers = [documents(thread, 30) for thread in range(3)]

    run_together(*(partial(broker.publish, mine) for mine in publishers))

    ids = {document.id for mine in publishers for document in mine}
    assert {message.document for message in received["before"]} == ids
    assert {message.document for message in received["after"]} == ids
    assert {failed.message.document for failed in broker.undelivered} == ids
    assert {failed.message.subscription for failed in broker.undelivered} == {"failing"}
    assert all(str(failed.error) == f"no room for {failed.message.document}" for failed in broker.undelivered)


@pytest.mark.parametrize("inside", ["subscribe", "publish", "matches"])
def test_a_destination_may_use_the_broker(inside: str) -> None:
    broker, numbers = Broker(), count()
    seen: list[Message] = []
    broker.subscribe("/inner", id="inner", to=seen.append)

    def use(message: Message) -> None:
        if inside == "subscribe":
            broker.unsubscribe(broker.subscribe("//b", id=f"made {next(numbers)}"))
        elif inside == "publish":
            broker.publish(Document("<inner/>", f"for {message.document}"))
        else:
            assert broker.matches("<inner/>") == [["inner"]]

    broker.subscribe("//b", id="outer", to=use)
    publishers = [documents(thread, 20) for thread in range(3)]

    run_together(*(partial(broker.publish, mine) for mine in publishers))

    assert broker.undelivered == ()
    assert len(seen) == (60 if inside == "publish" else 0)


def test_ids_that_the_broker_gives_are_distinct() -> None:
    broker = Broker()

    def subscribe() -> list[str]:
        return [broker.subscribe(f"/a/b[{at + 1}]") for at in range(100)]

    given = run_together(*[subscribe] * 4)

    names = [name for some in given for name in some]
    assert len(set(names)) == len(names) == len(broker) == 400


def test_threads_that_match_at_the_same_time_find_what_one_alone_finds() -> None:
    queries = generate_queries(shipped("news"), number=300, depth=5, predicates=1, nested=1, words=8, seed=3)
    queries += ["//*[matches(., 'a+')]", "//title except //head/title", "<m>{for $p in //paragraph return $p}</m>"]
    batch = list(generate_documents(shipped("news"), number=96, elements=40, words=8, seed=4))
    brokers = Broker(), Broker()
    for broker in brokers:
        for number, query in enumerate(queries):
            broker.subscribe(query, id=str(number))
    alone = [ids.tolist() for ids in brokers[0].matches(batch)]
    brokers[1].matches(batch[:1])  # all is frozen

    def match() -> list[list[str]]:
        return [ids.tolist() for at in range(8) for ids in brokers[1].matches(batch[at::8])]

    for found in run_together(match, match, match):
        assert found == [ids for at in range(8) for ids in alone[at::8]]
    assert not brokers[1].refused


def test_threads_that_find_new_label_paths_at_the_same_time_find_what_one_alone_finds() -> None:
    queries = generate_queries(shipped("news"), number=2_000, depth=6, predicates=0, nested=0, seed=3)
    documents = list(generate_documents(shipped("news"), number=192, elements=60, words=2, seed=4))
    brokers = Broker(), Broker()
    for broker in brokers:
        for number, query in enumerate(queries):
            broker.subscribe(query, id=str(number))
    alone = [sorted(ids) for ids in brokers[0].matches(documents)]
    brokers[1].matches(documents[:1])  # all is frozen

    def match() -> list[list[str]]:
        return [sorted(ids) for at in range(0, 192, 6) for ids in brokers[1].matches(documents[at : at + 6])]

    for found in run_together(match, match, match, match):
        assert found == alone
