"""Queries in, a loaded broker out; and what a broker tells of itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

from weft import Broker


def load(queries: Mapping[str, str]) -> Broker:
    """A broker with these subscriptions, each read, planned and added."""
    broker = Broker()
    for name, query in queries.items():
        broker.subscribe(query, id=name)
    return broker


def numbered(queries: list[str]) -> dict[str, str]:
    """The queries under the ids 0, 1, …."""
    return {str(number): query for number, query in enumerate(queries)}


def label_paths(broker: Broker) -> int | None:
    """How many label paths the broker has seen, as it tells itself."""
    found = re.search(r"label paths +(\d+)", broker.explain())
    return int(found[1]) if found else None
