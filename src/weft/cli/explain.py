"""`weft explain`: queries in, the plan that answers them all out."""

from __future__ import annotations

from typing import Annotated

import typer

from weft.cli.options import IgnoreNamespaces, Namespaces, Queries, naming
from weft.cli.queries import load_broker
from weft.cli.sources import Rejected, SomeDocuments, find_documents, read_batches
from weft.documents import Limits
from weft.errors import ConfigurationError


def explain(
    queries: Queries,
    documents: SomeDocuments = None,
    id: Annotated[str | None, typer.Option("--id", help="Explain this subscription alone.")] = None,
    namespace: Namespaces = None,
    ignore_namespaces: IgnoreNamespaces = False,
) -> None:
    """Show how the queries are answered together, and what they share.

    Documents are matched first, if any are given: then the plan also tells which label paths (the names from the root
    down to an element) they have, how often each was seen, and how many queries' paths end there.

    \b
      weft explain subscriptions.xpath
      weft explain --id 7 subscriptions.xpath news/
    """
    broker = load_broker(queries, naming(namespace, ignore_namespaces))
    if id is not None and id not in broker:
        raise ConfigurationError(f"--id: expected the id of a subscription in {queries}, found {id!r}")
    rejected = Rejected()
    for batch in read_batches(find_documents(documents or []), Limits(), rejected):
        broker.matches(batch)
        rejected.tell_new(broker)
    typer.echo(broker.explain(id))
    if rejected.any:
        raise typer.Exit(1)
