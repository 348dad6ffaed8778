"""A network on Spark delivers what a simulated one does, also when servers are killed; so does a simulation there."""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from weft_process import kill_all, start_weft

from weft import Document
from weft.headers.configuration import configure
from weft.network.delivered_files import read_deliveries
from weft.network.generators import chain, mesh, tree
from weft.network.output import read_output
from weft.network.report import Report
from weft.network.simulate import simulate
from weft.network.topology import Topology
from weft.network.topology_file import write_topology
from weft.spark.network import NetworkJob, check_network, run_network_once
from weft.spark.network_simulate import simulate_on_spark

VIEWS = configure("orders", ["/order/total", "/order/customer", "/order/@number"])
QUERIES = (
    "/order[total > 500]",
    "/order[total > 800]",
    "/order/item",
    "/order[customer = 'Ada']/total",
    "<few>{ for $o in /order where $o/total < 300 return <n>{ $o/@number }</n> }</few>",
    "/order[item/@name = '7-1']",
)


def order(number: int) -> bytes:
    if number % 17 == 16:
        return f"<order number='{number}'><total>1</order>".encode()
    items = "".join(f"<item name='{number % 9}-{at}'/>" for at in range(number % 3))
    customer = ("Ada", "Grace", "Edsger")[number % 3]
    about = f"<total>{number * 37 % 1000}</total><customer>{customer}</customer>"
    return f"<order number='{number}'>{about}{items}</order>".encode()


def documents(number: int) -> dict[str, bytes]:
    return {f"{at:04d}.xml": order(at) for at in range(number)}


def with_queries(topology: Topology, seed: int = 1) -> Topology:
    chance = random.Random(seed)
    return topology.with_subscriptions({server.name: chance.sample(QUERIES, 2) for server in topology.servers})


def write(inbox: Path, given: dict[str, bytes]) -> None:
    """Each file is written under a hidden name and then gets its own, as a whole."""
    inbox.mkdir(exist_ok=True)
    for name, data in given.items():
        hidden = inbox / f".{name}"
        hidden.write_bytes(data)
        hidden.replace(inbox / name)


def expected(topology: Topology, given: dict[str, bytes]) -> list[tuple[str, ...]]:
    report = simulate(topology, [Document(data, name) for name, data in given.items()])
    return sorted(each[:3] for each in report.deliveries)


def found(output: Path) -> list[tuple[str, ...]]:
    return sorted(each[:3] for each in read_deliveries(output))


@pytest.mark.slow
def test_a_mesh_with_redundant_paths_delivers_what_the_simulation_does(spark: SparkSession, tmp_path: Path) -> None:
    """In two runs, so that the second goes on where the first ended, and copies come in later batches too."""
    network = with_queries(mesh(3, 2, 1, paths=2, configurations=[VIEWS]))
    first = replace(network.servers[0], configurations=(configure("late", ["/order/item"]),))
    network = replace(network, servers=(first, *network.servers[1:]))
    given = documents(60)
    job = NetworkJob(network, tmp_path / "inbox", tmp_path / "out", max_files_per_trigger=25)
    write(job.documents, dict(list(given.items())[:40]))
    check_network(job)

    run_network_once(spark, job)
    write(job.documents, given)
    run_network_once(spark, job)

    assert found(job.output) == expected(network, given)
    _, report = read_output(job.output)
    simulated = simulate(network, [Document(data, name) for name, data in given.items()])
    assert (report.documents, report.forwarded, report.flooded) == (60, simulated.forwarded, simulated.flooded)
    assert (report.total.hits, report.total.misses) == (simulated.total.hits, simulated.total.misses)
    assert report.latency.mean is not None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_networks_that_are_drawn_deliver_what_the_simulation_does(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    network, given = drawn(random.Random(seed)), documents(24)
    job = NetworkJob(network, tmp_path / "inbox", tmp_path / "out", max_files_per_trigger=16)
    write(job.documents, given)
    check_network(job)

    run_network_once(spark, job)

    simulated = simulate(network, [Document(data, name) for name, data in given.items()])
    _, report = read_output(job.output)
    assert found(job.output) == expected(network, given) != []
    assert {link: flow.documents for link, flow in report.links.items()} == {
        link: flow.documents for link, flow in simulated.links.items()
    }
    assert (report.total.hits, report.total.misses) == (simulated.total.hits, simulated.total.misses)


def drawn(chance: random.Random) -> Topology:
    """Two to four servers in any form, with any views at the sources, and at some servers."""
    number, views = chance.randint(2, 4), ["/order/total", "/order/customer", "/order/@number", "/order/item"]
    configuration = configure("drawn", chance.sample(views, chance.randint(1, 4)))
    form = chance.choice(["chain", "tree", "mesh", "mesh"])
    if form == "mesh":
        paths, sources = chance.randint(1, 2), chance.randint(1, 2)
        network = mesh(number, 2, chance.randrange(9), paths=paths, sources=sources, configurations=[configuration])
    else:
        network = chain(number, [configuration]) if form == "chain" else tree(number, 2, [configuration])
    servers = [
        replace(server, configurations=(configure(server.name, chance.sample(views, 2)),))
        if chance.random() < 0.3
        else server
        for server in network.servers
    ]
    return with_queries(replace(network, servers=tuple(servers)), chance.randrange(99))


def test_each_row_of_a_file_is_a_document_if_it_is_told_so(spark: SparkSession, tmp_path: Path) -> None:
    network = chain(1).with_subscriptions({"s0": ["/order[total > 500]"]})
    rows = b"".join(order(number) for number in range(16))
    write(tmp_path / "inbox", {"orders.xml": b"<orders>" + rows + b"</orders>"})
    job = NetworkJob(network, tmp_path / "inbox", tmp_path / "out", row_tag="order")
    check_network(job)

    run_network_once(spark, job)

    large = [number for number in range(16) if number * 37 % 1000 > 500]
    begins = [len("<orders>") + sum(len(order(each)) for each in range(number)) for number in large]
    assert found(job.output) == sorted(("s0", "1", f"orders.xml@{begin}") for begin in begins)


def test_a_simulation_on_spark_tells_what_one_here_does(spark: SparkSession) -> None:
    network = with_queries(tree(40, 3, [VIEWS]))
    given = documents(50)
    frame = spark.createDataFrame(
        [(name, "", data) for name, data in given.items()], "document string, stream string, value binary"
    )

    report = simulate_on_spark(spark, network, frame, parts=5)

    here = simulate(network, [Document(data, name) for name, data in given.items()])
    assert sorted(report.deliveries) == sorted(here.deliveries)
    assert {link: flow.documents for link, flow in report.links.items()} == {
        link: flow.documents for link, flow in here.links.items()
    }
    assert (report.documents, report.flooded, report.entries) == (here.documents, here.flooded, here.entries)
    assert report.total.misses == here.total.misses
    assert sorted(map(str, report.rejected)) == sorted(map(str, here.rejected))


@pytest.mark.parametrize("network", [tree(400, 3, [VIEWS]), mesh(200, 3, 2, sources=2, configurations=[VIEWS])])
def test_hundreds_of_servers_in_a_few_parts_tell_the_same_one_by_one(spark: SparkSession, network: Topology) -> None:
    network = with_queries(network)
    given = documents(24)
    frame = spark.createDataFrame(
        [(name, "", data) for name, data in given.items()], "document string, stream string, value binary"
    )

    report = simulate_on_spark(spark, network, frame)

    here = simulate(network, [Document(data, name) for name, data in given.items()])
    assert sorted(report.deliveries) == sorted(here.deliveries)
    assert counted(report) == counted(here)
    assert report.links == here.links
    assert (report.documents, report.flooded, report.entries) == (here.documents, here.flooded, here.entries)


def counted(report: Report) -> dict[str, tuple[object, ...]]:
    """What each server counts, without what differs from run to run: seconds."""
    return {
        name: (each.documents, each.duplicates, each.hits, each.misses, each.delivered, each.forwarded, each.bytes_in)
        for name, each in report.servers.items()
    }


#: For each kill: so many micro-batches begin after the restart, where 0 is the one that is run again.
KILLS = (0, 1, 0, 2, 1)
SHARE = 12  # documents that arrive in each run


class Process:
    """Servers of a network as a process, and the checkpoint of one of them, from outside."""

    def __init__(
        self, options: list[object], output: Path, server: str, stderr: Path, beside: "Process | None" = None
    ) -> None:
        self._checkpoint, self._stderr = output / "checkpoints" / server, stderr
        self._beside = beside  # a process that must live too
        self.before = self.begun()
        self.process = start_weft(*options, stderr=stderr)

    def begun(self) -> int:
        return self._last("offsets")

    def is_in_a_batch(self) -> bool:
        return self.begun() > self._last("commits")

    def wait_for(self, condition: Callable[[], bool], seconds: float = 240, pause: float = 0.03) -> bool:
        end = time.monotonic() + seconds
        while not condition():
            self.must_live()
            if time.monotonic() > end:
                return False
            time.sleep(pause)
        return True

    def must_live(self) -> None:
        assert self.process.poll() is None, self._stderr.read_text()
        if self._beside is not None:
            self._beside.must_live()

    def is_streaming(self) -> bool:
        return "streaming" in self._stderr.read_text()

    def is_in_a_batch_from(self, batch: int) -> bool:
        return self.begun() >= batch and self.is_in_a_batch()

    def _last(self, folder: str) -> int:
        records = (self._checkpoint / folder).glob("[0-9]*")
        return max((int(record.name) for record in records), default=-1)


@pytest.mark.slow
def test_the_middle_of_a_chain_is_killed_again_and_again_and_everything_arrives_once(tmp_path: Path) -> None:
    chance = random.Random(5)
    network = with_queries(chain(3, [VIEWS]))
    given, inbox, output, file = documents(SHARE * 6), tmp_path / "inbox", tmp_path / "out", tmp_path / "network.toml"
    write_topology(network, file)
    inbox.mkdir()
    options: list[object] = ["network", "run", file, "--documents", inbox, "--output", output]
    options += ["--stream", "--master", "local[1]"]
    ends: list[object] = ["--server", "s0", "--server", "s2", "--max-files-per-trigger", 4]
    around = Process([*options, *ends], output, "s0", tmp_path / "around.stderr")
    middle, cut_off, wanted = None, 0, expected(network, given)
    try:
        for run, batches in enumerate((*KILLS, None)):
            at_once = 100 if batches is None else 1  # so that there are several batches to be killed in
            alone: list[object] = ["--server", "s1", "--max-files-per-trigger", at_once]
            middle = Process([*options, *alone], output, "s1", tmp_path / f"{run}.stderr", around)
            arriving = dict(list(given.items())[run * SHARE : (run + 1) * SHARE])
            feeder = threading.Thread(target=feed, args=(inbox, arriving))
            feeder.start()
            assert middle.wait_for(middle.is_streaming)
            if batches is None:
                middle.wait_for(lambda: len(found(output)) >= len(wanted), 60, pause=0.5)
            else:
                middle.wait_for(partial(middle.is_in_a_batch_from, middle.before + batches), 60)
                time.sleep(chance.random() * 0.7)
                cut_off += middle.is_in_a_batch()
                kill_all(middle.process)
            feeder.join()
        assert cut_off, "no kill came in the middle of a batch"
        assert found(output) == wanted
    finally:
        for each in (around, middle):
            if each is not None:
                kill_all(each.process)
    assert found(output) == wanted


def feed(inbox: Path, given: dict[str, bytes]) -> None:
    """Documents arrive one after the other."""
    for name, data in given.items():
        write(inbox, {name: data})
        time.sleep(0.1)
