"""`weft explain`: queries in, the plan that answers them all out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from weft.broker.broker import Broker
from weft.cli.match_elements import OneQuery, OptimizerOption, match_all
from weft.cli.options import DtdName, IgnoreNamespaces, LimitSettings, Namespaces, QueriesFile, RowTag, naming, read_dtd
from weft.cli.queries import load_broker
from weft.cli.sources import Rejected, SomeDocuments, find_documents, read_batches
from weft.documents.document import read_limits
from weft.errors import ConfigurationError
from weft.optimizer import draw_runs, explain_costs

GraphForm = Annotated[
    Literal["dot", "svg"] | None, typer.Option(help="With --id: the plan as a graph, for Graphviz or drawn.")
]
ServingViews = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Configurations of views: tell which subscriptions their headers serve."),
]

Costs = Annotated[
    bool,
    typer.Option(
        "--costs",
        help="Tell what each group of tests costs, where it is retrieved, and why; with --optimizer, of one query.",
    ),
]
PlotFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE.svg", help="With --optimizer: draw the plans, and what an element took, over time."),
]


# Long: nearly all of it is options and the text of --help.
def explain(
    queries: QueriesFile,
    documents: SomeDocuments = None,
    id: Annotated[str | None, typer.Option("--id", help="Explain this subscription alone.")] = None,
    graph: GraphForm = None,
    views: ServingViews = None,
    costs: Costs = False,
    optimizer: OptimizerOption = None,
    plot: PlotFile = None,
    limit: LimitSettings = None,
    row_tag: RowTag = None,
    dtd: DtdName = None,
    namespace: Namespaces = None,
    ignore_namespaces: IgnoreNamespaces = False,
) -> None:
    """Show how the queries are answered together, and what they share.

    Documents are matched first, if any are given: then the plan also tells which label paths (the names from the root
    down to an element) they have, how often each was seen, and how many queries' paths end there; of joins, how much
    they hold.

    \b
      weft explain subscriptions.xpath
      weft explain --id 7 subscriptions.xpath news/
      weft explain --id 7 --graph svg --dtd book subscriptions.jsonl > plan.svg
      weft explain --views views.toml subscriptions.jsonl
      weft explain --costs subscriptions.xpath news/
      weft explain --costs --optimizer greedy --row-tag auction --plot plans.svg query.xpath auctions.xml
    """
    limits = read_limits(limit or ())
    if optimizer is not None:
        if not costs:
            raise ConfigurationError("--optimizer: expected --costs with it")
        graph_of = read_dtd(dtd) if dtd is not None else None
        names = naming(namespace, ignore_namespaces)
        _explain_costs(OneQuery(queries, names, optimizer, limits, graph_of), documents, row_tag, plot)
        return
    if plot is not None:
        raise ConfigurationError("--plot: expected --costs and --optimizer with it")
    broker = Broker(limits, dtd=read_dtd(dtd) if dtd is not None else None, headers=views or (), profile=costs)
    load_broker(queries, naming(namespace, ignore_namespaces), broker)
    if graph and id is None:
        raise ConfigurationError("--graph: expected --id with it, to name the subscription")
    if id is not None and id not in broker:
        raise ConfigurationError(f"--id: expected the id of a subscription in {queries}, found {id!r}")
    rejected = Rejected()
    for batch in read_batches(find_documents(documents or [], rejected), row_tag, limits, rejected):
        broker.publish(batch)  # joins remember only what is published
        rejected.tell_new(broker)
    typer.echo(broker.explain_graph(id, graph) if graph and id is not None else broker.explain(id, costs))
    if rejected.any:
        raise typer.Exit(1)


def _explain_costs(query: OneQuery, documents: list[str] | None, row_tag: str | None, plot: Path | None) -> None:
    """What runs for one query after the documents, if there are any."""
    rejected = Rejected()
    match_all(query, find_documents(documents or [], rejected), row_tag, rejected)
    typer.echo(explain_costs(query.matcher))
    if plot is not None:
        plot.write_text(draw_runs(query.matcher), encoding="utf-8")
    if rejected.any:
        raise typer.Exit(1)
