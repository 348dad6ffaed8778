"""A network that runs in one process: a task for each server, bounded queues between them, and back-pressure.

A full queue makes who sends wait, back to the source: `publish` returns when its documents have entered. Each source
has queues and tasks of its own, and its ways never lead in a circle; so servers cannot wait for each other in one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from weft.documents.document import Document, Limits, as_documents
from weft.network.passage import Passage
from weft.network.report import Report
from weft.network.running import RunningNetwork
from weft.network.seen import LATEST
from weft.network.topology import Topology

_QUEUE = 64  # documents
_LATENESS = 60.0  # seconds that documents of different sources may come to joins out of their order


def run_embedded(
    topology: Topology,
    documents: Iterable[Document | bytes | str],
    *,
    queue: int = _QUEUE,
    limits: Limits | None = None,
) -> Report:
    """Send documents through a network of tasks, let all come to its end, and tell what happened."""

    async def run() -> Report:
        async with EmbeddedNetwork(topology, queue=queue, limits=limits) as network:
            await network.publish(documents)
        return network.report()

    return asyncio.run(run())


class EmbeddedNetwork:
    """All servers of a network in one process, while the context is open; its end waits until all has arrived.

    `queue` is how many documents wait before a server, at most, for each source.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        queue: int = _QUEUE,
        limits: Limits | None = None,
        latest: int = LATEST,
        lateness: float = _LATENESS,
    ) -> None:
        self.network = RunningNetwork(topology, limits=limits, latest=latest, lateness=lateness, is_measured=True)
        self._most = queue
        self._queues: dict[tuple[str, str], asyncio.Queue[Passage | None]] = {}
        self._entries = {source.name: source.server for source in topology.sources}
        self._tasks = asyncio.TaskGroup()

    @property
    def waiting(self) -> dict[tuple[str, str], int]:
        """By source and server: the documents that wait there."""
        return {key: queue.qsize() for key, queue in self._queues.items()}

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        for source, routes in self.network.routing.routes.items():
            for server in routes.order:
                self._queues[source, server] = asyncio.Queue(self._most)
        for source, server in self._queues:
            self._tasks.create_task(self._serve(source, server), name=f"{source} at {server}")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            for source, server in self._entries.items():
                await self._queues[source, server].put(None)  # behind it nothing comes
        await self._tasks.__aexit__(kind, error, trace)
        if error is None:
            for server in self.network.servers:
                self.network.settle(server, at_end=True)

    async def publish(self, documents: Iterable[Document | bytes | str]) -> None:
        """Documents enter, one after the other; while the first queue is full this waits."""
        for document in documents:
            for passage in self.network.entrance.enter(as_documents(document)):
                await self._queues[passage.source, self._entries[passage.source]].put(passage)

    def report(self) -> Report:
        """What has happened so far."""
        return self.network.report()

    async def _serve(self, source: str, server: str) -> None:
        """Take what waits and pass it on, until all who send have ended."""
        routes, queue = self.network.routing.routes[source], self._queues[source, server]
        senders = max(1, len(routes.senders[server]))  # into the first server the source itself sends
        while senders:
            arrived = [await queue.get()]
            while not queue.empty():
                arrived.append(queue.get_nowait())
            senders -= arrived.count(None)
            await self._take(source, server, [passage for passage in arrived if passage is not None])
        for receiver in routes.receivers[server]:
            await self._queues[source, receiver].put(None)

    async def _take(self, source: str, server: str, passages: Sequence[Passage]) -> None:
        onward = self.network.take(server, passages)
        self.network.settle(server)
        for receiver, passed in onward.items():
            for passage in passed:
                await self._queues[source, receiver].put(passage)
        await asyncio.sleep(0)  # the others have their turn
