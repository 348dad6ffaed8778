"""`weft query` and `weft serve-queries`: XPath over the sources of a query server in, nodes out."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from weft.cli.libraries import libraries
from weft.cli.options import Namespaces, naming
from weft.cli.quantities import read_size
from weft.cli.source import STORE, StoreFolder
from weft.errors import ConfigurationError


class Form(StrEnum):
    """How nodes are written."""

    JSON = "json"
    XML = "xml"


# Long: nearly all of it is options and the text of --help.
def query(
    xpath: Annotated[str, typer.Argument(metavar="XPATH", show_default=False, help="What to select.")],
    store: StoreFolder = STORE,
    explain: Annotated[bool, typer.Option(help="Tell which views or sources answered, and what it took.")] = False,
    fresh: Annotated[bool, typer.Option(help="Ask sources whether they have changed since views were stored.")] = False,
    form: Annotated[Form, typer.Option("--format", help="A JSON object a node, or its XML.")] = Form.JSON,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds that a source may take.")] = 60.0,
    namespace: Namespaces = None,
) -> None:
    """Select nodes from all sources: from stored views where these have them, else at the sources.

    Nodes come by source and in document order, a line each. Where a source does not answer, what there is without
    it is told, with a warning for it, and the exit code is 1.

    \b
      weft sources add shop.xml
      weft query '/shop/item[price > 10]/name' --format xml
      weft query '//name' --explain
    """
    with libraries():
        from weft.views.server import QueryServer  # noqa: PLC0415

    with QueryServer(store, timeout=timeout) as server:
        if not server.registry.entries():
            raise ConfigurationError(f"{store}: expected sources, found none; add them with weft sources add")
        found = server.query(xpath, naming(namespace, False).namespaces, fresh=fresh)
    if server.record.damage is not None:
        typer.echo(f"warning: {server.record.damage}: this query is not recorded", err=True)
    for row in found.rows.to_pylist():
        if form is Form.XML:
            typer.echo(row["fragment"])
        else:
            shown = {key: row[key] for key in ("source", "document", "version", "offset", "path", "value", "fragment")}
            typer.echo(json.dumps(shown, ensure_ascii=False))
    if explain or not (found.ways or found.missing):
        typer.echo(found.explain(), err=True)
    for damaged in found.damaged:
        typer.echo(f"warning: {damaged}: it was asked instead", err=True)
    for error in found.rejected:
        typer.echo(str(error), err=True)
    partly = {way.source for way in found.ways}
    for missing in found.missing:
        told = "not all of its nodes are" if missing.source in partly else "its nodes are not"
        typer.echo(f"warning: {missing}: {told} among these", err=True)
    if found.missing or found.rejected:
        raise typer.Exit(1)


def serve_queries(
    store: StoreFolder = STORE,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8322,
    host: Annotated[str, typer.Option(help="Where to listen; other machines reach 0.0.0.0.")] = "127.0.0.1",
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds that a query may take.")] = 30.0,
    max_nodes: Annotated[int, typer.Option(min=1, help="Nodes of an answer at most.")] = 100_000,
    max_bytes: Annotated[str, typer.Option(metavar="SIZE", help="Bytes of its XML at most.")] = "100MB",
) -> None:
    """Answer queries of other programs over HTTP.

    GET /query?xpath=… gives {"nodes": […], "ways": […], "missing": […]}; GET /views and GET /sources tell what there
    is. An answer that is not whole has the status 206, one that takes too long 504, one that is too large 413.

    \b
      weft serve-queries --port 8322
      curl 'http://127.0.0.1:8322/query?xpath=//name'
    """
    with libraries():
        from weft.views.service import QueryLimits, run_service  # noqa: PLC0415
        from weft.views.sources.registry import SourceRegistry  # noqa: PLC0415

    def tell(address: str) -> None:
        typer.echo(f"queries are answered at {address}/query?xpath=… (end with Ctrl-C)", err=True)

    if not SourceRegistry(store).entries():
        typer.echo(f"no sources in {store} yet; weft sources add LOCATION --store {store} adds one", err=True)
    limits = QueryLimits(timeout, max_nodes, int(read_size("--max-bytes", max_bytes)))
    run_service(store, host, port, limits, tell)
