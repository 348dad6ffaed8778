"""`weft check`: queries in, all that is wrong with them out."""

from __future__ import annotations

import typer

from weft.cli.options import IgnoreNamespaces, Namespaces, QueriesFile, naming
from weft.cli.queries import load_broker


def check(queries: QueriesFile, namespace: Namespaces = None, ignore_namespaces: IgnoreNamespaces = False) -> None:
    """Check a file of queries without matching anything.

    Tells every error, not just the first: its file and line, its line and column in the query, what was expected and
    what was found, with a caret under the place. The exit code is 2 if there is any; otherwise the number of
    subscriptions is printed. A condition that can never be true, or always is, is told as a warning in the same way.

    \b
      weft check subscriptions.xpath
      weft check --namespace p=urn:example:payments payments.jsonl
    """
    number = len(load_broker(queries, naming(namespace, ignore_namespaces)))
    typer.echo("1 subscription is fine" if number == 1 else f"{number} subscriptions are fine")
