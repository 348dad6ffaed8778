"""`weft views`: servers with their queries in, the views worth telling in headers out, as a configuration."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from weft.cli.options import Namespaces, naming
from weft.cli.quantities import read_size
from weft.cli.sources import Rejected, find_documents, read_batches
from weft.documents.document import Document, Limits
from weft.errors import ConfigurationError
from weft.headers.configuration import configure, write_configurations
from weft.headers.selection.feedback_file import read_feedback
from weft.headers.selection.greedy import select_greedy
from weft.headers.selection.instance import hits
from weft.headers.selection.online import learn
from weft.headers.selection.ours import select_views
from weft.headers.selection.problem import BANDWIDTH
from weft.headers.selection.workload import ViewProblem, make_problem, read_workload
from weft.network.topology_file import read_topology
from weft.network.view_workload import view_workload

views = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
_SAMPLE = 200  # documents that are looked at


class Method(StrEnum):
    """How views are chosen."""

    OURS = "ours"
    GREEDY = "greedy"
    OPTIMUM = "optimum"


@views.callback()
def _views() -> None:
    """Views: of streams, whose offsets producers put into headers; and of sources, which a query server stores.

    \b
      weft views select --workload servers.jsonl --documents news/ --output views.toml
      weft header --views views.toml news/

    \b
      weft views recommend --workload queries.txt --budget 10MB
      weft views materialize --workload queries.txt --budget 10MB
      weft views list
    """


# Long: nearly all of it is options and the text of --help.
@views.command()
def select(
    workload: Annotated[
        Path | None, typer.Option(metavar="FILE", show_default=False, help="Servers and their queries.")
    ] = None,
    topology: Annotated[
        Path | None, typer.Option(metavar="TOPOLOGY.toml", show_default=False, help="Or the network that they are in.")
    ] = None,
    size: Annotated[int | None, typer.Option(min=0, help="At most so many views.", show_default=False)] = None,
    max_bytes: Annotated[
        float | None, typer.Option(min=0, help="At most so many bytes of views in a header.", show_default=False)
    ] = None,
    documents: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="Documents of the stream, a file or folder.")
    ] = None,
    method: Annotated[
        Method, typer.Option(help="By cost, by the paper's Algorithm 1, or exactly (SciPy).")
    ] = Method.OURS,
    feedback: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="What servers reported of headers; several add up.")
    ] = None,
    bandwidth: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Bytes a second of a link: 125MB, or the topology's.", show_default=False),
    ] = None,
    name: Annotated[str, typer.Option(help="The name of the configuration.")] = "views",
    version: Annotated[int, typer.Option(min=1, help="Its version: a changed list is a new one.")] = 1,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the configuration, as TOML.")] = None,
    namespace: Namespaces = None,
) -> None:
    """Choose views for the queries of all servers.

    FILE has a server a line: {"server": "desk", "documents": 5000, "queries": ["/news[head/title = 'x']"]}, where
    documents is how many reach it, and weighs it. With --topology the servers are those of a network, which also ask
    for what is wanted behind them; the --documents are sent through it, to count how many reach each and go over links.

    Method ours looks at documents of the stream: which expressions have one node, how large elements are, what parsing
    takes. It chooses as many views as pay, or as many as the bounds allow: one pays where what it saves of parsing is
    more than what its bytes take on all links. A view may be an element around several expressions, which is parsed
    alone, or a position. With --feedback (of weft network simulate, or Broker.header_feedback) what servers saw counts
    instead: how many documents reached each, and how many passed each test. greedy and optimum choose among the
    expressions themselves and need --size.

    \b
      weft views select --workload servers.jsonl --documents news/ --max-bytes 40
      weft views select --workload servers.jsonl --size 15 --method greedy --output views.toml
      weft views select --topology network.toml --documents news/ --bandwidth 1MB --output views.toml
      weft views select --topology network.toml --documents news/ --feedback seen.json --version 2 --output views.toml

    The exit code is 1 if --documents could not be found or opened.
    """
    rejected = Rejected()
    if (workload is None) == (topology is None):
        raise ConfigurationError(f"expected --workload or --topology, found {'both' if workload else 'neither'}")
    given = _read(documents or [], rejected)
    if topology is not None:
        found = _problem_of_network(topology, given, bandwidth)
    else:
        assert workload is not None, "it was given"
        servers = read_workload(workload, naming(namespace, False).namespaces)
        found = make_problem(servers, given, bandwidth=_bandwidth(bandwidth, BANDWIDTH))
    if feedback:
        found = _learned(found, feedback)
    if method is not Method.OURS and size is None:
        raise ConfigurationError(f"--method {method}: expected --size, found none")
    texts = _choose(found, method, size, max_bytes)
    configuration = configure(name, texts, version=version, namespaces=found.namespaces)
    if output is not None:
        write_configurations([configuration], output)
    _show(found, texts)
    if rejected.any:
        raise typer.Exit(1)


def _problem_of_network(path: Path, documents: list[Document], bandwidth: str | None) -> ViewProblem:
    if not documents:
        raise ConfigurationError("--topology: expected --documents to send through the network, found none")
    topology = read_topology(path)
    asked = view_workload(topology, documents)
    rate = _bandwidth(bandwidth, topology.bandwidth)
    return make_problem(asked.servers, documents, bandwidth=rate, links=asked.links)


def _learned(found: ViewProblem, files: list[Path]) -> ViewProblem:
    reports, now = read_feedback(files)
    problem = learn(found.problem, found.expressions, reports, now)
    if not any(server.weight for server in problem.servers):
        names = ", ".join(server.name for server in problem.servers[:5])
        raise ConfigurationError(f"--feedback: expected reports of the servers {names}, found none")
    return replace(found, problem=problem)


def _bandwidth(given: str | None, usual: float) -> float:
    return usual if given is None else read_size("--bandwidth", given)


def _choose(found: ViewProblem, method: Method, size: int | None, max_bytes: float | None) -> list[str]:
    if method is Method.OURS:
        return found.texts(select_views(found.problem, size, max_bytes).views)
    instance = found.instance()
    assert size is not None, "it was asked for"
    if method is Method.GREEDY:
        chosen = select_greedy(instance, size)
    else:
        from weft.headers.selection.optimum import select_optimum  # noqa: PLC0415 it loads SciPy

        chosen = select_optimum(instance, size).chosen
    return [found.expressions[at] for at in chosen]


def _read(paths: list[str], rejected: Rejected) -> list[Document]:
    made: list[Document] = []
    for batch in read_batches(find_documents(paths, rejected), None, Limits(), rejected) if paths else ():
        made += batch
        if len(made) >= _SAMPLE:
            break
    return made[:_SAMPLE]


def _show(found: ViewProblem, texts: list[str]) -> None:
    instance = found.instance()
    asked = Counter(at for server in instance.servers for at in server)
    table = Table("view", "servers that ask for it", box=None)
    for text in texts:
        number = asked[found.expressions.index(text)] if text in found.expressions else None
        table.add_row(text, "by what is inside, or by position" if number is None else f"{number:,}")
    console = Console()
    console.print(table)
    exact = [found.expressions.index(text) for text in texts if text in found.expressions]
    share = hits(instance, exact) / (sum(map(instance.weight, range(len(instance.servers)))) or 1.0)
    console.print(
        f"\n{len(texts)} views; {len(exact)} of {len(found.expressions)} expressions have their own, which is all that "
        f"is asked for in {share:.1%} of the cases in which a document reaches a server.",
        markup=False,
    )
