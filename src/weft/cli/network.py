"""`weft network`: a topology and documents in, what each server delivers and what goes over the links out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from time import time
from typing import Annotated

import typer
from rich.console import Console

from weft.cli.interrupts import Interrupts
from weft.cli.network_report import print_deliveries, tell_report, tell_topology
from weft.cli.options import LimitSettings, RowTag
from weft.cli.places import Jars, KafkaOptions, LinkPlace, read_links
from weft.cli.sources import Rejected, find_documents, read_batches
from weft.documents.document import Document, Limits, read_limits
from weft.durable import write_atomically
from weft.errors import ConfigurationError
from weft.headers.selection.feedback import Feedback
from weft.headers.selection.feedback_file import write_feedback
from weft.network.drawing import draw
from weft.network.embedded import run_embedded
from weft.network.output import is_output, read_output
from weft.network.passage import Delivered
from weft.network.report import Report
from weft.network.simulate import Simulation
from weft.network.topology import Topology
from weft.network.topology_file import read_topology

network = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

TopologyFile = Annotated[
    Path, typer.Argument(metavar="TOPOLOGY.toml", show_default=False, help="Servers, links, sources and views.")
]
DocumentsOption = Annotated[
    Path, typer.Option(metavar="PATH", help="A folder of *.xml, *.gz, *.zip and *.tar at any depth, or one file.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")]
SvgFile = Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Draw the network with its traffic.")]
Master = Annotated[str, typer.Option(metavar="URL", help="Where Spark runs.")]


@network.callback()
def _network() -> None:
    """Route documents through a network of servers, with headers that save parsing.

    A topology is a TOML file:

    \b
      name = "news"
      views = ["/news/head/envelope/sender/agency", "/news/@edition"]
      links = ["press -> europe", "press -> asia"]
    \b
      [[source]]
      name = "agencies"
      server = "press"
    \b
      [[server]]
      name = "press"
    \b
      [[server]]
      name = "europe"
      subscriptions = ["/news[@edition = 'evening']", {id = "economy", query = "//subject[topic = 'economy']"}]
    \b
      [[server]]
      name = "asia"
      subscriptions = "asia.jsonl"      # a file as for weft match
      views = ["/news/head/title"]      # attached anew when it had to parse

    Documents enter at sources, which attach headers with the places of the views. A server answers by the header where
    it tells enough, and passes on over a link only what some subscription behind it wants. `stream` at a source
    takes the documents of a stream only, `paths = 2` sends documents over two ways where there are.

    \b
      weft network show news.toml --svg news.svg
      weft network simulate news.toml --documents inbox/
      weft network run news.toml --documents inbox/ --output out/
      weft network show out/
    """


# Long: nearly all of it is options and the text of --help.
@network.command()
def simulate(
    topology: TopologyFile,
    documents: DocumentsOption,
    spark: Annotated[bool, typer.Option("--spark", help="Divide the servers among Spark's tasks.")] = False,
    embedded: Annotated[
        bool, typer.Option("--embedded", help="Run the servers at the same time, with queues between them.")
    ] = False,
    deliveries: Annotated[
        bool, typer.Option("--deliveries", help="Print what is delivered as JSON Lines, instead of the report.")
    ] = False,
    as_json: AsJson = False,
    svg: SvgFile = None,
    feedback: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what servers asked of headers, for weft views select.")
    ] = None,
    row_tag: RowTag = None,
    limit: LimitSettings = None,
    master: Master = "local[*]",
) -> None:
    """Send documents through a network in this process, and tell what happened.

    Every server evaluates all that reaches it, as it would alone. The report has the share of documents that headers
    answered, what went over links and what flooding would have sent, the time that parsing took and that headers saved,
    and how long documents took to their subscribers: what the servers on the way took for them, or with --embedded by
    the clock.

    \b
      weft network simulate news.toml --documents inbox/
      weft network simulate news.toml --documents inbox/ --json --svg traffic.svg
      weft network simulate large.toml --documents inbox/ --spark

    The exit code is 1 if a document was rejected, 2 if the topology or a query is wrong.
    """
    if spark and embedded:
        raise ConfigurationError("expected one of --spark and --embedded, found both")
    if feedback is not None and (spark or embedded):
        raise ConfigurationError("--feedback: expected neither --spark nor --embedded, found one of them")
    network, limits, rejected = read_topology(topology), read_limits(limit or ()), Rejected()
    if spark:
        report = _simulate_on_spark(network, documents, row_tag, tuple(limit or ()), master)
    else:
        report = _simulate(network, _batches(documents, row_tag, limits, rejected), limits, embedded, feedback)
    for error in report.rejected:
        rejected.tell(error)
    if deliveries:
        print_deliveries(report.deliveries)
    else:
        _tell(report, as_json)
    _draw(svg, network, report)
    if rejected.any:
        raise typer.Exit(1)


# Long: nearly all of it is options and the text of --help.
@network.command()
def run(
    topology: TopologyFile,
    documents: DocumentsOption,
    output: Annotated[Path, typer.Option(metavar="DIR", help="Where links, deliveries and checkpoints are.")],
    stream: Annotated[bool, typer.Option("--stream", help="Go on with what comes, until interrupted.")] = False,
    server: Annotated[
        list[str] | None,
        typer.Option("--server", metavar="NAME", help="Run only this server here. Can be repeated."),
    ] = None,
    max_files_per_trigger: Annotated[int, typer.Option(min=1, help="Files of one micro-batch, at most.")] = 1000,
    as_json: AsJson = False,
    svg: SvgFile = None,
    row_tag: RowTag = None,
    master: Master = "local[*]",
    limit: LimitSettings = None,
    links: LinkPlace = None,
    option: KafkaOptions = None,
    jars: Jars = None,
) -> None:
    """Run a network on Spark: each server is a streaming query, each link a folder that the next one reads, or a topic.

    DIR/links has the documents on their way, with their headers; DIR/deliveries what each server delivers, as Parquet
    with the columns subscription and document; DIR/rejected what could not be read. A server can be stopped, or
    killed, and started again: every document arrives everywhere it should, once.

    \b
      weft network run news.toml --documents inbox/ --output out/
      weft network run news.toml --documents inbox/ --output out/ --stream
      weft network show out/ --svg traffic.svg

    With --server the servers of one network run in several processes, or on several machines that share DIR:

    \b
      weft network run news.toml --documents inbox/ --output out/ --stream --server press &
      weft network run news.toml --documents inbox/ --output out/ --stream --server europe --server asia

    The topology of an output stays the same from beginning to end. XSCL, which joins documents, is for
    `weft network simulate`. Spark's own log is DIR/spark.log.
    """
    given = read_topology(topology)
    with Interrupts() as interrupts:
        try:
            # Here, not above: the other commands are there at once, and work without Spark.
            from weft.cli.network_on_spark import run_network  # noqa: PLC0415
            from weft.spark.network import NetworkJob  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise _no_spark(error) from None
        here, limits = tuple(server or ()), tuple(limit or ())
        topics = read_links(links, option)
        job = NetworkJob(given, documents, output, here, max_files_per_trigger, limits, row_tag, topics)
        try:
            run_network(job, interrupts, stream=stream, master=master, jars=jars)
        except KeyboardInterrupt:
            typer.echo(f"weft: interrupted; {output}: the same command goes on", err=True)
            raise typer.Exit(130) from None
    _, report = read_output(output)
    _tell(report, as_json)
    _draw(svg, given, report)


@network.command()
def show(
    network: Annotated[
        Path, typer.Argument(metavar="TOPOLOGY.toml|DIR", help="A topology, or the --output of weft network run.")
    ],
    deliveries: Annotated[
        bool, typer.Option("--deliveries", help="Print what was delivered as JSON Lines, instead of the report.")
    ] = False,
    as_json: AsJson = False,
    svg: SvgFile = None,
) -> None:
    """Show a network: what it is, or what has happened in it.

    Behind each server to which documents go on stands the number of queries that decide which.

    \b
      weft network show news.toml
      weft network show out/ --svg traffic.svg
      weft network show out/ --deliveries
    """
    if is_output(network):
        topology, report = read_output(network)
        if deliveries:
            print_deliveries(_read_deliveries(network))
        else:
            _tell(report, as_json)
        _draw(svg, topology, report)
        return
    if network.is_dir():
        raise ConfigurationError(f"{network}: expected a topology, or the output of weft network run, found a folder")
    topology = read_topology(network)
    if deliveries:
        raise ConfigurationError(f"--deliveries: expected the output of weft network run, found the topology {network}")
    _draw(svg, topology, None)
    if as_json:
        _tell(Report.of(topology), as_json)
    else:
        tell_topology(topology, Console())


def _simulate(
    topology: Topology, batches: Iterable[list[Document]], limits: Limits, embedded: bool, feedback: Path | None
) -> Report:
    if embedded:
        return run_embedded(topology, (document for batch in batches for document in batch), limits=limits)
    simulation = Simulation(topology, limits=limits)
    for batch in batches:
        simulation.publish(batch)
    report = simulation.end()
    if feedback is not None:
        found, now = Feedback(), time()
        simulation.network.tell(found, now)
        write_feedback(found, feedback, now)
    return report


def _simulate_on_spark(
    topology: Topology, documents: Path, row_tag: str | None, limits: tuple[str, ...], master: str
) -> Report:
    try:
        # Here, not above: the other commands are there at once, and work without Spark.
        from weft.cli.network_on_spark import simulate_network  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _no_spark(error) from None
    return simulate_network(topology, documents, row_tag, limits, master)


def _no_spark(error: ModuleNotFoundError) -> ConfigurationError:
    return ConfigurationError(f"this command needs Spark (no module {error.name}): pip install 'weft[spark]'")


def _batches(path: Path, row_tag: str | None, limits: Limits, rejected: Rejected) -> Iterable[list[Document]]:
    """Documents by their paths below the folder, as `run` and --spark have them: all ways tell the same."""
    return read_batches(find_documents([str(path)], rejected, is_below=True), row_tag, limits, rejected)


def _draw(svg: Path | None, topology: Topology, report: Report | None) -> None:
    if svg is not None:
        write_atomically(svg, draw(topology, report))


def _tell(report: Report, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(report.as_json()) + "\n")
    else:
        tell_report(report, Console())


def _read_deliveries(output: Path) -> Iterable[Delivered]:
    try:
        # Here, not above: the other commands are there at once, and work without pyarrow.
        from weft.network.delivered_files import read_deliveries  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ConfigurationError(f"this command needs pyarrow ({error}): pip install 'weft[spark]'") from None
    return read_deliveries(output)
