"""The report of a network: what it works out, how parts add up, what is drawn, and the folder of one that runs."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from xml.etree import ElementTree

import pytest

from weft.errors import ConfigurationError
from weft.headers.configuration import configure
from weft.network.drawing import draw
from weft.network.generators import chain, mesh, tree
from weft.network.links import BatchFolder
from weft.network.output import claim_output, is_output, read_output, write_traffic
from weft.network.report import Report
from weft.network.seen_files import SeenFiles
from weft.network.simulate import simulate
from weft.network.topology import Topology
from weft.network.traffic import Latency, LinkTraffic, ServerTraffic

VIEWS = configure("views", ["/a/b"])
NETWORK = tree(7, 2, [VIEWS]).with_subscriptions({"s4": ["/a[b = '1']"], "s6": ["//c"]})
DOCUMENTS = ["<a><b>1</b></a>", "<a><c/></a>", "<a/>"]


def test_a_report_tells_hits_bytes_and_seconds() -> None:
    report = simulate(NETWORK, DOCUMENTS)

    record = json.loads(json.dumps(report.as_json()))

    assert record["delivered"] == 2
    assert (record["forwarded"], record["flooded"]) == (4, 18)
    assert 0 < record["covering_saves"] < 1
    assert record["wire_bytes"] > record["wire_bytes_without_headers"] > 0
    assert record["hit_rate"] == report.total.hit_rate
    assert record["latency"]["median"] > 0
    assert next(each for each in record["links"] if each["from"] == "s0")["documents"] == 1


def test_what_is_not_known_is_none() -> None:
    report = Report.of(NETWORK)

    assert report.total.hit_rate is None
    assert report.parse_seconds_saved is None
    assert report.covering_saves is None
    assert (report.latency.mean, report.latency.quantile(0.5)) == (None, None)


def test_latencies_are_told_to_a_twentieth_and_add_up() -> None:
    latency, other = Latency(), Latency()
    for milliseconds in range(1, 100):
        latency.add(milliseconds / 1000)
    other.add(0.5, times=901)
    latency.join(Latency.from_json(json.loads(json.dumps(other.as_json()))))

    assert latency.quantile(0.05) == pytest.approx(0.05, rel=0.06)
    assert latency.quantile(0.95) == pytest.approx(0.5, rel=0.06)
    assert latency.mean == pytest.approx((4.95 + 450.5) / 1000)


@pytest.mark.parametrize("network", [chain(1), chain(40), tree(50, 4), mesh(12, 4, 3, sources=2)])
def test_a_network_is_drawn_with_all_its_servers(network: Topology) -> None:
    network = network.with_subscriptions({network.servers[-1].name: ["/a"]})
    drawn = ElementTree.fromstring(draw(network, simulate(network, DOCUMENTS)))

    boxes = drawn.findall("{http://www.w3.org/2000/svg}rect")
    assert len(boxes) == len(network.servers)
    assert len({(box.get("x"), box.get("y")) for box in boxes}) == len(boxes)
    ElementTree.fromstring(draw(network))


def test_too_many_servers_are_not_drawn() -> None:
    with pytest.raises(ConfigurationError, match="expected at most 2000 servers, found 2001"):
        draw(chain(2001))


def test_an_output_belongs_to_one_topology_and_tells_what_happened(tmp_path: Path) -> None:
    claim_output(tmp_path, NETWORK)
    claim_output(tmp_path, NETWORK)
    traffic, latency = ServerTraffic(documents=3, hits=2, misses={"no header": 1}), Latency()  # type: ignore[arg-type]
    for _ in range(2):  # a batch that runs again replaces itself
        flows = {"s1": LinkTraffic(2, 30, 4)}
        write_traffic(tmp_path, "s0", 7, traffic, flows, {"source0": 3}, ServerTraffic(), latency)

    topology, report = read_output(tmp_path)

    assert is_output(tmp_path)
    assert topology.links == NETWORK.links
    assert (report.documents, report.flooded, report.forwarded) == (3, 18, 2)
    assert report.servers["s0"].hit_rate == 2 / 3
    with pytest.raises(ConfigurationError, match="has the documents of another topology"):
        claim_output(tmp_path, chain(3))
    (tmp_path / "traffic" / "s0" / "00000007.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="expected what a server of the network counted"):
        read_output(tmp_path)
    with pytest.raises(ConfigurationError, match="expected the output of weft network run"):
        read_output(tmp_path / "nowhere")


def test_of_processes_that_claim_an_output_at_once_those_of_one_topology_have_it(tmp_path: Path) -> None:
    """Each round in a new folder; a file descriptor of its own has a lock of its own, so threads are enough."""
    networks = [NETWORK, NETWORK, NETWORK, chain(3)]
    for number in range(20):
        output, start = tmp_path / str(number), Barrier(len(networks))

        def claim(network: Topology, output: Path = output, start: Barrier = start) -> str:
            start.wait()
            try:
                claim_output(output, network)
            except ConfigurationError as error:
                return str(error)
            return ""

        with ThreadPoolExecutor(len(networks)) as pool:
            told = list(pool.map(claim, networks))

        owner = read_output(output)[0]
        refused = [len(network.servers) != len(owner.servers) for network in networks]
        assert ["has the documents of another topology" in each for each in told] == refused
        assert [bool(each) for each in told] == refused


def test_a_batch_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    folder = BatchFolder(tmp_path / "links", tmp_path / "staged")
    staged = folder.stage(3)
    staged.mkdir()
    (staged / "left").write_text("by a process that was killed")

    again = folder.stage(3)
    again.mkdir()
    (again / "part").write_text("x")
    assert not folder.has(3)
    folder.publish(3)

    assert folder.has(3)
    assert [file.name for file in (tmp_path / "links" / "00000003").iterdir()] == ["part"]
    assert list((tmp_path / "links").parent.glob(folder.pattern.removeprefix(f"{tmp_path}/")))


def test_a_batch_that_runs_again_finds_the_same_documents_new(tmp_path: Path) -> None:
    seen = SeenFiles(tmp_path, latest=3)
    assert seen.new(0, [("in", "a"), ("in", "b")]) == {("in", "a"), ("in", "b")}
    assert seen.new(1, [("in", "b"), ("in", "c")]) == {("in", "c")}

    restarted = SeenFiles(tmp_path, latest=3)

    assert restarted.new(1, [("in", "b"), ("in", "c")]) == {("in", "c")}
    assert restarted.new(2, [("in", "a"), ("other", "a"), ("in", "d")]) == {("other", "a"), ("in", "d")}
    restarted.new(3, [("in", "e")])
    restarted.new(4, [("in", "f"), ("in", "g")])
    assert len(list(tmp_path.glob("*.json"))) < 5  # the oldest are forgotten
    assert restarted.new(5, [("in", "g")]) == set()
    next(iter(sorted(tmp_path.glob("*.json")))).write_text("damaged")
    with pytest.raises(ConfigurationError, match="damaged"):
        SeenFiles(tmp_path, latest=3).new(6, [])
