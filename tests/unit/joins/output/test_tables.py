"""A document is scanned once, as long as its node table is among those that are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from unittest.mock import patch

import pytest

from weft import Broker, Document, Limits
from weft.documents import build
from weft.documents.scan import Scanned, scan
from weft.joins.output import tables

JOIN = "SELECT <p>{ $x/n }{ $y/n }</p> FROM S/r[k->a]->x JOIN{a = b, 1 day} S/s[k->b]->y"


@pytest.fixture
def scanned() -> Iterator[Counter[str]]:
    """How often each document is scanned."""
    seen: Counter[str] = Counter()

    def count(documents: Iterable[Document], limits: Limits) -> Scanned:
        batch = list(documents)
        seen.update(document.id for document in batch)
        return scan(batch, limits)

    with patch.object(build, "scan", count):
        yield seen


def documents(number: int) -> list[Document]:
    return [
        Document(f"<{root}><k>{at}</k><n>{root}{at}</n></{root}>", f"{root}{at}", "S", at + 1)
        for at in range(number)
        for root in "rs"
    ]


def test_a_joined_document_is_scanned_once_also_if_others_came_in_between(scanned: Counter[str]) -> None:
    broker = Broker()
    broker.subscribe(JOIN, id="q")

    made = [message.text for document in documents(5) for message in broker.publish(document)]

    assert made == [f"<p><n>r{at}</n><n>s{at}</n></p>" for at in range(5)]
    assert set(scanned.values()) == {1}


def test_so_is_one_that_is_published(scanned: Counter[str]) -> None:
    broker = Broker()
    broker.subscribe(f"{JOIN} PUBLISH T", id="q")
    broker.subscribe("T/p->x JOIN{x/n = y/n, 1 day} S/s->y", id="again")
    broker.subscribe("/p/n", id="selects")

    made = Counter(message.subscription for message in broker.publish(documents(4)))

    assert made == {"q": 4, "again": 4, "selects": 4}
    assert set(scanned.values()) == {1}


def test_one_that_is_kept_no_longer_is_scanned_again_and_gives_the_same(scanned: Counter[str]) -> None:
    broker = Broker()
    broker.subscribe(JOIN, id="q")
    first, *others = documents(1)

    with patch.object(tables, "_KEPT_BYTES", 10):
        broker.publish(first)
        made = [message.text for document in others for message in broker.publish(document)]

    assert made == ["<p><n>r0</n><n>s0</n></p>"]
    assert scanned["r0"] == 2
