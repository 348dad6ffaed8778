"""`weft match`: queries and documents in, matches as JSON Lines out."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from weft.broker.broker import Broker
from weft.broker.destinations import Message
from weft.broker.subscriptions import load_subscriptions
from weft.cli.event_time import DocumentId, SchemaFile, Timestamp, given_times
from weft.cli.match_elements import OneQuery, OptimizerOption
from weft.cli.options import DtdName, IgnoreNamespaces, LimitSettings, Namespaces, QueriesFile, RowTag, naming, read_dtd
from weft.cli.queries import load_broker
from weft.cli.sources import MANY, WAIT, Documents, Rejected, find_documents, read_batches
from weft.documents import Document, Limits
from weft.documents.document import DoctypePolicy, read_limits
from weft.errors import ConfigurationError
from weft.languages import recognize
from weft.reference.pathsharing.approaches import Approach

_LIMITS = Limits()


# Long: nearly all of it is options and the text of --help.
def match(
    queries: QueriesFile,
    documents: Documents,
    ids: Annotated[bool, typer.Option("--ids", help="One line a document: the ids of what matches it.")] = False,
    max_bytes: Annotated[int, typer.Option(min=1, help="Reject larger documents.")] = _LIMITS.max_bytes,
    max_depth: Annotated[int, typer.Option(min=1, help="Reject documents nested deeper.")] = _LIMITS.max_depth,
    doctype: Annotated[
        DoctypePolicy, typer.Option(help="Reject documents with a DOCTYPE, or read it but fetch nothing.")
    ] = _LIMITS.doctype,
    limit: LimitSettings = None,
    row_tag: RowTag = None,
    dtd: DtdName = None,
    approach: Annotated[
        Approach | None, typer.Option(help="Answer FLWR queries one by one, as in the paper, instead of together.")
    ] = None,
    optimizer: OptimizerOption = None,
    trusted: Annotated[
        bool, typer.Option("--trusted", help="With --optimizer and --dtd: what cannot match any more is not checked.")
    ] = False,
    profile: Annotated[bool, typer.Option("--profile", help="Tell what each operator cost.")] = False,
    namespace: Namespaces = None,
    ignore_namespaces: IgnoreNamespaces = False,
    timestamp: Timestamp = None,
    id: DocumentId = None,
    lateness: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0,
            help="With times of documents: how long they wait for earlier ones; else to the end.",
        ),
    ] = None,
    schema: SchemaFile = None,
) -> None:
    """Match documents against all queries at once.

    Prints one JSON object a line for each query that matches a document, with the nodes that it selects: elements as
    XML, attributes as name="value", text as it is; for a FLWR query the one message that it builds. With --ids there
    is one line a document instead.

    A folder stands for the files in it, at any depth and sorted by name, and an archive for the XML files in it; names
    that begin with . or _ are left out. Each folder right below one that is given is a stream of its own name.

    An XSCL query joins documents: they come in the order given, and the time is the clock's, unless --timestamp says
    where documents have theirs: then they are joined in the order of these. Each message has a line with all documents
    that it joins. Where the input ends all windows close, and what nothing followed is told.

    With --optimizer there is one XPath or FLWR query, and what it asks for is retrieved in the scan or navigated to,
    whichever costs less on these documents; the answers are the same.

    A document that cannot be read is rejected: its place and reason go to standard error, the others go on, and the
    exit code is 1; so it is if a message is not made because it would break a limit. If a query is wrong nothing is
    matched, and the exit code is 2.

    \b
      weft match subscriptions.xpath news/ more/extra.xml
      weft match --ids --namespace dc=http://purl.org/dc/elements/1.1/ subscriptions.xpath news/
      weft match joins/ payments/ refunds/
      weft match --ids --row-tag item subscriptions.xpath dump.xml.gz
      weft match --row-tag auction --optimizer greedy query.xpath auctions.xml
      weft match --row-tag auction --optimizer greedy query.xpath - < auctions.xml
      curl -s https://example.org/item.xml | weft match subscriptions.xpath -
    """
    settings = [f"max_bytes={max_bytes}", f"max_depth={max_depth}", f"doctype={doctype}", *(limit or ())]
    limits = read_limits(settings)
    graph = read_dtd(dtd) if dtd is not None else None
    if optimizer is not None:
        if timestamp or id or schema:
            raise ConfigurationError("--optimizer: expected no --timestamp, --id or --schema with it")
        one = OneQuery(queries, naming(namespace, ignore_namespaces), optimizer, limits, graph, trusted=trusted)
        _match_one(one, documents, row_tag, ids)
        return
    if trusted:
        raise ConfigurationError("--trusted: expected --optimizer and --dtd with it")
    names = naming(namespace, ignore_namespaces)
    times = given_times(queries, timestamp, id, names, lateness)
    broker = Broker(
        limits,
        dtd=graph,
        approach=approach,
        profile=profile,
        lateness=times.lateness,
        ahead=times.ahead,
        streams=times.rules,
        schema=schema,
    )
    load_broker(queries, names, broker)
    if ids:
        _tell_left_out(queries)
    rejected = Rejected()
    lines = _match_ids if ids else _match_nodes
    found = find_documents(documents, rejected)
    for batch in read_batches(found, row_tag, limits, rejected, with_times=times.needs_files):
        _print(lines(broker, batch, rejected))
    _print(map(_line, broker.advance()))
    if profile:
        _tell_profile(broker)
    _tell_refused(broker)
    if rejected.any or broker.refused_count:
        raise typer.Exit(1)


def _match_one(query: OneQuery, documents: list[str], row_tag: str | None, ids: bool) -> None:
    """One query by plans that are chosen by cost."""
    rejected = Rejected()
    lines = query.ids if ids else query.lines
    for batch in read_batches(find_documents(documents, rejected), row_tag, query.matcher.limits, rejected, MANY, WAIT):
        _print(lines(batch, rejected))
    for refused in query.matcher.refused:
        typer.echo(f"weft: not made: {refused}", err=True)
    if rejected.any or query.matcher.refused:
        raise typer.Exit(1)


def _tell_refused(broker: Broker) -> None:
    """The messages that were not made, on standard error, and who gets none any more."""
    for refused in broker.refused:
        typer.echo(f"weft: not made: {refused}", err=True)
    for subscription, reason in broker.suspended.items():
        typer.echo(f"weft: suspended: {subscription}: {reason}", err=True)


def _tell_left_out(queries: Path) -> None:
    """Joins have no place in lines of single documents."""
    subscriptions = load_subscriptions(queries)
    joins = [one.id for one in subscriptions if (one.language or recognize(one.query)) == "xscl"]
    if joins:
        typer.echo(f"weft: --ids leaves out XSCL, which joins several documents: {', '.join(joins)}", err=True)


def _print(lines: Iterable[dict[str, Any]]) -> None:
    for line in lines:
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def _tell_profile(broker: Broker) -> None:
    """The cost of each operator, on standard error."""
    seconds = broker.operator_seconds
    table = Table("operator", "ms", "share", box=None)
    for operator, spent in sorted(seconds.items(), key=lambda entry: -entry[1]):
        table.add_row(operator, f"{spent * 1e3:.1f}", f"{spent / sum(seconds.values()):.0%}")
    Console(stderr=True).print(table)


def _match_ids(broker: Broker, batch: list[Document], rejected: Rejected) -> Iterable[dict[str, Any]]:
    found = broker.matches(batch)
    bad = rejected.tell_new(broker)
    for document, matches in zip(batch, found, strict=True):
        if document.id not in bad:
            yield {"document": document.id, "matches": matches.tolist()}


def _match_nodes(broker: Broker, batch: list[Document], rejected: Rejected) -> Iterable[dict[str, Any]]:
    messages = broker.publish(batch)
    rejected.tell_new(broker)
    yield from map(_line, messages)


def _line(message: Message) -> dict[str, Any]:
    line = {"document": message.document, "subscription": message.subscription, "nodes": message.nodes}
    return {**line, "documents": message.documents} if message.documents else line
