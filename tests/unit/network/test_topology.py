"""Topologies: what they must be, how they are read and written, and those that are generated."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given

from networks import networks
from profiles import examples
from weft import Document
from weft.broker.subscriptions import Subscription
from weft.errors import ConfigurationError
from weft.headers.configuration import configure
from weft.headers.selection.problem import BANDWIDTH
from weft.network.generators import chain, mesh, tree
from weft.network.routes import find_routes
from weft.network.routing import Routing
from weft.network.simulate import simulate
from weft.network.topology import NetworkSource, ServerSetup, Topology
from weft.network.topology_file import read_topology, write_topology

SMALL = """
name = "small"
views = ["/a/b"]
links = ["one -> two", "two <-> three"]
paths = 2

[[source]]
name = "in"
server = "one"
stream = "news"

[[server]]
name = "one"

[[server]]
name = "two"
subscriptions = ["/a", {id = "mine", query = "//p:b", namespaces = {p = "urn:p"}, language = "xpath"}]
views = {name = "own", version = 3, views = ["/a/c"]}

[[server]]
name = "three"
subscriptions = "three.xpath"
"""


def write(folder: Path, text: str) -> Path:
    (folder / "three.xpath").write_text("/a/b\n//c\n")
    (folder / "small.toml").write_text(text)
    return folder / "small.toml"


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("0", "more than none, found 0.0"),
        ("'1MB'", "expected number, found '1MB'"),
        ("true", "expected number, found True"),
    ],
)
def test_a_bandwidth_that_makes_no_sense_is_told(tmp_path: Path, told: str, found: str) -> None:
    with pytest.raises(ConfigurationError, match=f"small.toml: .*bandwidth: .*{found}"):
        read_topology(write(tmp_path, f"bandwidth = {told}\n{SMALL}"))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            '"/a", {',
            '"/a[", {',
            r"small.toml: server 2 \(two\): subscriptions 1: server 'two', subscription '1': XPath 1:4",
        ),
        ('query = "//p:b"', 'query = "//p:b["', r"small.toml: server 2 \(two\): subscriptions 2: .* 'mine': XPath 1:7"),
        ("//c", "//c[", r"three.xpath:2: server 'three', subscription '2': XPath 1:5"),
    ],
)
def test_a_query_that_cannot_be_read_is_told_with_its_file_and_place(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    file = write(tmp_path, SMALL.replace(old, new, 1))
    (tmp_path / "three.xpath").write_text("/a/b\n//c\n".replace(old, new, 1))

    with pytest.raises(ConfigurationError, match=told):
        Routing(read_topology(file))


def test_what_links_carry_is_read_and_written_and_headers_take_their_time_on_them(tmp_path: Path) -> None:
    network = read_topology(write(tmp_path, "bandwidth = 2_000\n" + SMALL))
    write_topology(network, tmp_path / "again.toml")
    report = simulate(network, [Document("<a><b/></a>", "1", "news")])

    assert read_topology(tmp_path / "again.toml").bandwidth == network.bandwidth == 2_000
    assert read_topology(write(tmp_path, SMALL)).bandwidth == BANDWIDTH
    assert sum(flow.header_bytes for flow in report.links.values()) == 2_000 * report.header_seconds > 0
    assert report.as_json()["header_seconds"] == report.header_seconds


def test_a_topology_is_read_from_toml(tmp_path: Path) -> None:
    network = read_topology(write(tmp_path, SMALL))

    assert network.links == (("one", "two"), ("two", "three"), ("three", "two"))
    assert network.sources == (NetworkSource("in", "one", "news"),)
    assert (network.name, network.paths, network.configurations[0].tag) == ("small", 2, "small/1")
    assert [each.query for each in network.by_name["three"].subscriptions] == ["/a/b", "//c"]
    two = network.by_name["two"]
    assert [(each.id, each.query) for each in two.subscriptions] == [("1", "/a"), ("mine", "//p:b")]
    assert two.configurations[0].tag == "own/3"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"one -> two"', '"one to two"', "links: expected 'FROM -> TO' or 'ONE <-> OTHER', found 'one to two'"),
        (
            '"one -> two"',
            '"one -> four"',
            "link one -> four: expected one of the servers one, two, three, found 'four'",
        ),
        ('server = "one"', 'server = "ten"', "source 'in': expected one of the servers one, two, three, found 'ten'"),
        ('server = "one"\n', "", "source 1: expected 'server', found name, stream"),
        ('name = "three"', 'name = "two"', "server 'two': expected each name once, found it twice"),
        ('name = "three"', 'name = "a/b"', "server: expected a name of letters, digits, _ . and -, found 'a/b'"),
        ('"three.xpath"', '"four.xpath"', "four.xpath: no such file or folder of subscriptions"),
        ('"three.xpath"', "5", "server 3 (three): subscriptions: expected a list of queries, or a file, found 5"),
        ('"/a", {', '["/a"], {', "server 2 (two): subscriptions 1: expected a table, found ['/a']"),
        ("paths = 2", "paths = 0", "paths: expected a number from 1 to 16, found 0"),
        ("paths = 2", 'paths = "2"', "network: paths: expected int, found '2'"),
        ("paths = 2", "path = 2", "network: expected one of name, views, paths, bandwidth, links, server"),
        ('views = ["/a/b"]', 'views = ["/a/b["]', "views: XPath 1:"),
        ('views = ["/a/b"]', "views = 3", "views: expected XPaths, tables, or a file, found 3"),
        ("paths = 2", "paths = ", "Invalid value"),
        ("paths = 2", f"paths = {'[' * 100_000}", "maximum recursion depth exceeded"),
        ('"two <-> three"', '"three -> two"', "server 'three': expected a way from a source to it, found none"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    file = write(tmp_path, SMALL.replace(old, new, 1))

    with pytest.raises(ConfigurationError) as caught:
        read_topology(file)

    assert str(caught.value).startswith(str(file))
    assert told in str(caught.value)


@examples(50)
@given(networks())
def test_a_topology_that_is_written_reads_back(network: Topology) -> None:
    with TemporaryDirectory() as folder:
        write_topology(network, Path(folder) / "again.toml")
        again = read_topology(Path(folder) / "again.toml")

    assert again.links == network.links
    assert again.sources == network.sources
    assert again.configurations == network.configurations
    for server in network.servers:
        same = again.by_name[server.name]
        assert [(e.id, e.query, e.language) for e in same.subscriptions] == [
            (e.id, e.query, e.language) for e in server.subscriptions
        ]
        assert same.configurations == server.configurations


def test_generated_networks_are_what_they_are_called() -> None:
    assert chain(3).links == (("s0", "s1"), ("s1", "s2"))
    assert tree(7, 2).links[-1] == ("s2", "s6")
    meshed = mesh(20, 3, seed=4)
    assert mesh(20, 3, seed=4) == meshed
    assert set(meshed.links) == {(receiver, sender) for sender, receiver in meshed.links}
    assert len(find_routes(meshed)["source0"].order) == 20
    with pytest.raises(ConfigurationError, match="expected 1 servers or more, found 0"):
        chain(0)
    with pytest.raises(ConfigurationError, match="expected a fanout of 1 or more, found 0"):
        tree(3, 0)
    with pytest.raises(ConfigurationError, match="expected sources from 1 to 3, found 4"):
        mesh(3, 2, sources=4)


def test_documents_enter_at_the_source_of_their_stream() -> None:
    servers = (ServerSetup("a"), ServerSetup("b"), ServerSetup("c"))
    sources = (NetworkSource("news", "a", "news"), NetworkSource("one", "b"), NetworkSource("two", "c"))
    network = Topology("n", servers, (), sources)

    found = {(source := network.source_of(Document("<a/>", f"{at}"))) and source.name for at in range(20)}

    assert network.source_of(Document("<a/>", "1", "news")) == sources[0]
    assert found == {"one", "two"}
    assert Topology("n", servers, (), sources[:1]).source_of(Document("<a/>", "1", "sport")) is None


def test_a_tag_means_the_same_at_all_servers() -> None:
    own = ServerSetup("b", (), (configure("x", ["/b"]),))

    with pytest.raises(ConfigurationError, match="configuration x/1: expected one, found two that differ"):
        Topology("n", (ServerSetup("a"), own), (), (NetworkSource("in", "a"),), (configure("x", ["/a"]),))


def test_an_id_is_there_once_at_a_server() -> None:
    with pytest.raises(ConfigurationError, match="server 's0': id '1' is there twice"):
        chain(1).with_subscriptions({"s0": [Subscription("1", "/a"), Subscription("1", "/b")]})
    with pytest.raises(ConfigurationError, match="expected one of the servers s0, found 's9'"):
        chain(1).with_subscriptions({"s9": ["/a"]})
