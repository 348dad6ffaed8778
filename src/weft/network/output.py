"""The folder of a network that runs: where everything is in it, its topology, and what its servers have counted.

OUTPUT/_weft/topology.toml               the topology, sealed: it stays the same
OUTPUT/_weft/lock                        held while a process claims the output
OUTPUT/_weft/arrivals.jsonl              the log of arriving documents
OUTPUT/links/FROM/TO/BATCH/              documents on their way
OUTPUT/deliveries/SERVER/BATCH/          what a server delivers
OUTPUT/rejected/SERVER/BATCH/            documents that could not be read
OUTPUT/staged/…                          what is being written
OUTPUT/checkpoints/SERVER/               how far a server is
OUTPUT/traffic/SERVER/BATCH.json         what it counted in a batch
OUTPUT/seen/SERVER/BATCH.json            which documents came then, where they may come again
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.durable import Seal, in_turn, read_sealed, write_atomically, write_sealed
from weft.errors import ConfigurationError
from weft.network.report import Report
from weft.network.routing import Routing
from weft.network.topology import Topology
from weft.network.topology_file import as_topology, topology_text
from weft.network.traffic import Latency, LinkTraffic, ServerTraffic

_ADVICE = "bring it back as it was, or begin with another output"
_TOPOLOGY = Seal("topology", 1, _ADVICE)


def is_output(path: Path) -> bool:
    """Whether a path is the output of a network."""
    return _topology_file(path).exists()


def claim_output(output: Path, topology: Topology) -> None:
    """Write down whose output a folder is; raises ConfigurationError if it is that of another topology."""
    file, text = _topology_file(output), topology_text(topology)
    try:
        with in_turn(file.parent):  # servers of one network may be started at once
            if not file.exists():
                write_sealed(file, _TOPOLOGY, text)
            elif read_sealed(file, _TOPOLOGY).decode("utf-8") != text:
                advice = "the topology of a network that runs stays the same; begin with another output"
                raise ConfigurationError(f"{output}: has the documents of another topology; {advice}")
    except OSError as error:
        raise ConfigurationError(f"{output}: cannot write there: {error.strerror}") from None


def read_output(output: Path) -> tuple[Topology, Report]:
    """The topology of an output, and what has happened in it so far."""
    file = _topology_file(output)
    if not file.exists():
        raise ConfigurationError(f"{output}: expected the output of weft network run, found no {file.name} in it")
    topology = as_topology(tomllib.loads(read_sealed(file, _TOPOLOGY).decode("utf-8")), file)
    report = Report.of(topology)
    entered: dict[str, int] = {}
    for record in sorted((output / "traffic").glob("*/*.json")):
        _add(report, record, entered)
    routing = Routing(topology)
    report.documents, report.entries = sum(entered.values()), routing.entries
    report.flooded = sum(number * routing.routes[source].links for source, number in entered.items())
    return topology, report


def write_traffic(
    output: Path,
    server: str,
    batch: int,
    traffic: ServerTraffic,
    links: Mapping[str, LinkTraffic],
    entered: Mapping[str, int],
    producing: ServerTraffic,
    latency: Latency,
) -> None:
    """Write down what a server counted in a batch; one that runs again replaces it."""
    record = {
        "server": traffic.as_json(),
        "links": {receiver: [flow.documents, flow.bytes, flow.header_bytes] for receiver, flow in links.items()},
        "entered": dict(entered),
        "producing": producing.as_json(),
        "latency": latency.as_json(),
    }
    write_atomically(output / "traffic" / server / f"{batch:08d}.json", json.dumps(record))


def _add(report: Report, file: Path, entered: dict[str, int]) -> None:
    server = file.parent.name
    try:
        record: dict[str, Any] = json.loads(file.read_bytes())
        report.servers[server].join(ServerTraffic.from_json(record["server"]))
        for receiver, (documents, size, header_bytes) in record["links"].items():
            report.links[server, receiver].join(LinkTraffic(documents, size, header_bytes))
        report.producing.join(ServerTraffic.from_json(record["producing"]))
        report.latency.join(Latency.from_json(record["latency"]))
        for source, number in record["entered"].items():
            entered[source] = entered.get(source, 0) + number
    except (ValueError, TypeError, KeyError):
        raise ConfigurationError(f"{file}: expected what a server of the network counted; {_ADVICE}") from None


def _topology_file(output: Path) -> Path:
    return output / "_weft" / "topology.toml"
