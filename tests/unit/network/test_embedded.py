"""A network of tasks: queues are bounded, who sends waits, all arrives in the end, and what fails is told."""

import asyncio
from collections.abc import Sequence

import pytest

from weft.network.embedded import EmbeddedNetwork, run_embedded
from weft.network.generators import chain, mesh, tree
from weft.network.passage import Passage
from weft.network.simulate import simulate

DOCUMENTS = [f"<a><b>{number % 7}</b></a>" for number in range(100)]


class Stuck(EmbeddedNetwork):
    """The last server takes nothing until the gate opens."""

    gate: asyncio.Event

    async def _take(self, source: str, server: str, passages: Sequence[Passage]) -> None:
        if server == "s2":
            await self.gate.wait()
        await super()._take(source, server, passages)


def test_a_server_that_is_stuck_makes_the_source_wait() -> None:
    async def run() -> tuple[int, dict[tuple[str, str], int], int]:
        async with Stuck(chain(3).with_subscriptions({"s2": ["/a"]}), queue=4) as network:
            network.gate = asyncio.Event()
            publishing = asyncio.create_task(network.publish(DOCUMENTS))
            await asyncio.sleep(0.2)
            entered = network.network.entrance.entered["source0"]
            waiting, is_done = network.waiting, publishing.done()
            assert not is_done
            network.gate.set()
            await publishing
        return entered, waiting, len(network.report().deliveries)

    entered, waiting, delivered = asyncio.run(run())

    assert max(waiting.values()) == 4
    assert entered <= 4 * 3 + 4 * 3 + 1  # in queues, in the hands of servers, and in the publisher's
    assert delivered == 100


@pytest.mark.parametrize("queue", [1, 5, 64])
def test_everything_arrives_whatever_the_size_of_queues(queue: int) -> None:
    network = tree(10, 3).with_subscriptions({"s9": ["/a[b = '1']"], "s4": ["/a"], "s0": ["//b[. > 3]"]})

    report = run_embedded(network, DOCUMENTS, queue=queue)

    simulated = simulate(network, DOCUMENTS)
    key = [(each.server, each.subscription) for each in simulated.deliveries]
    assert sorted((each.server, each.subscription) for each in report.deliveries) == sorted(key)
    assert report.forwarded == simulated.forwarded
    assert report.latency.mean is not None


def test_sources_that_send_against_each_other_do_not_wait_for_each_other() -> None:
    network = mesh(6, 3, 2, paths=2, sources=3)
    network = network.with_subscriptions({server.name: ["/a"] for server in network.servers})

    report = run_embedded(network, DOCUMENTS, queue=1)

    assert len(report.deliveries) == 600


def test_what_fails_in_a_server_ends_the_network_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        async with EmbeddedNetwork(chain(3).with_subscriptions({"s2": ["/a"]}), queue=1) as network:
            monkeypatch.setattr(network.network.servers["s1"], "take", None)
            await network.publish(DOCUMENTS)

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(run())

    assert isinstance(caught.value.exceptions[0], TypeError)
