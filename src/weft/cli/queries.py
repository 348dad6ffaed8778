"""A file of queries in, a broker that holds them out; or all that is wrong with them on standard error."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from weft.broker.broker import Broker
from weft.broker.reading import add_all
from weft.cli.options import Naming


def load_broker(queries: Path, naming: Naming, broker: Broker | None = None) -> Broker:
    """A broker with every subscription of the file. If one is wrong all errors are told, and the command ends.

    Where a subscription's messages go is for those who run it: here they are printed.
    """
    broker = Broker() if broker is None else broker
    errors = add_all(
        broker.subscribe,
        queries,
        lambda subscription: replace(
            subscription,
            to=None,
            namespaces={**naming.namespaces, **subscription.namespaces},
            ignore_namespaces=naming.ignore_namespaces or subscription.ignore_namespaces,
        ),
    )
    for text in errors:
        typer.echo(text, err=True)
    if errors:
        raise typer.Exit(2)
    return broker
