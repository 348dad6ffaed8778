"""One query and documents in, its answers out by plans that are chosen by cost: what --optimizer is for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from weft.broker.subscriptions import Subscription, load_subscriptions
from weft.cli.options import Naming
from weft.cli.sources import MANY, GivenDocument, Rejected, read_batches
from weft.documents import Document, Dtd, Limits
from weft.errors import ConfigurationError
from weft.optimizer import ElementMatcher, Optimizer

OptimizerOption = Annotated[
    Optimizer | None,
    typer.Option(
        help="Answer one query by plans that follow what they cost, as these searches find them. "
        "Without it very many queries are followed as greedy does, condition by condition."
    ),
]


class OneQuery:
    """The only query of a file, on the elements of documents."""

    def __init__(
        self,
        queries: Path,
        naming: Naming,
        optimizer: Optimizer,
        limits: Limits,
        dtd: Dtd | None,
        *,
        trusted: bool = False,
    ) -> None:
        self.subscription = _only(queries)
        self.matcher = ElementMatcher(
            self.subscription.query,
            optimizer=optimizer,
            language=self.subscription.language,
            namespaces={**naming.namespaces, **self.subscription.namespaces},
            ignore_namespaces=naming.ignore_namespaces or self.subscription.ignore_namespaces,
            limits=limits,
            dtd=dtd,
            trusted=trusted,
        )
        self._told = 0

    def lines(self, batch: list[Document], rejected: Rejected) -> Iterator[dict[str, Any]]:
        """What the query has of each element that it matches."""
        for answer in self.matcher.answers(batch):
            yield {"document": answer.element, "subscription": self.subscription.id, "nodes": answer.nodes}
        self._tell(rejected)

    def ids(self, batch: list[Document], rejected: Rejected) -> Iterable[dict[str, Any]]:
        """For each element that was not rejected, whether the query matches it."""
        found = set(self.matcher.matches(batch))
        bad = self._tell(rejected)
        for document in batch:
            if document.id not in bad:
                yield {"document": document.id, "matches": [self.subscription.id] if document.id in found else []}

    def _tell(self, rejected: Rejected) -> set[str]:
        new = self.matcher.take_rejected()
        for error in new:
            rejected.tell(error)
        return {error.document for error in new}


def match_all(query: OneQuery, found: list[GivenDocument], row_tag: str | None, rejected: Rejected) -> None:
    """Only to learn: what is answered is not printed."""
    for batch in read_batches(found, row_tag, query.matcher.limits, rejected, MANY):
        query.matcher.matches(batch)
        for error in query.matcher.take_rejected():
            rejected.tell(error)


def _only(queries: Path) -> Subscription:
    found = load_subscriptions(queries)
    if len(found) != 1:
        raise ConfigurationError(f"--optimizer: expected one query in {queries}, found {len(found)}")
    return found[0]
