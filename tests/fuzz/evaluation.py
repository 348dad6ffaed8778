"""Queries of all forms on batches: whatever comes in one batch, comes for each document alone, and from a column too.

Nothing here needs another processor of XML, so it runs where memory and bounds are watched. Headers spare some
documents from being parsed: where queries join documents, these are in the batch without nodes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from random import Random

import numpy as np

from fuzz.case import Case
from fuzz.grammar import document, flwr, xpath
from weft.broker.broker import Broker
from weft.documents.document import Document
from weft.errors import QueryWarning, WeftError
from weft.headers.configuration import Configuration, configure
from weft.headers.producer import attach

_BETWEEN = b"\n====\n"  # the queries, a line each; then the documents
_MOST = 12  # queries, and documents, that are tried
_VIEWS = ("//a", "//a/b", "//b/@x", "/section", "//section/title")
_WORDS = r"""
/|//|*|@x|@*|.|[1]|[last()]|[.='1']|[@x=1]|[not(b)]|[b and c]|[b or c]|text()|position()|count(b) = 1|contains(b, 'f')
starts-with(., 'f')|matches(., '^f')|ends-with(., 'o')|!= 1|< 2|>= '1'| > 1e0|xs:date('2026-01-01')| or | and |not(
<a>|</a>|<b/>| xmlns="urn:d"| x="1"|&amp;|<![CDATA[|]]>|<!--|-->|1|.5|foo| union | except | intersect |for $v in
$v|where |return | order by $v/@x|JOIN{x = y, 3 documents}|FOLLOWED BY{x = y, 3 documents}|->x|//a[b->x]|====
<section>|</section>|<!DOCTYPE a [<!ENTITY e "x">]>
""".strip().replace("\n", "|")
_JOINS = (
    "//a->o[b->x] FOLLOWED BY{x = y, 3 documents} //a[b->y]",
    "//a[@x = '1']->o[b->x] FOLLOWED BY{x = y, 3 documents} //section[title->y]",
    "//a[b->x] JOIN{x = y, 4 documents} //section[title->y]",
)
Found = list[tuple[str, str, tuple[str, ...]]]


class Evaluation:
    """Mutated queries and batches of documents."""

    words = tuple(word.encode() for word in _WORDS.split("|"))
    most_memory = 1_000

    def seeds(self) -> list[Case]:
        chance = Random(3)
        return [self.fresh(chance) for _ in range(200)]

    def fresh(self, chance: Random) -> Case:
        queries = [(flwr if chance.random() < 0.2 else xpath)(chance) for _ in range(chance.randint(1, 8))]
        queries += [chance.choice(_JOINS)] if chance.random() < 0.5 else []
        documents = [document(chance) for _ in range(chance.randint(1, 8))]
        return Case(_BETWEEN.join(["\n".join(queries).encode(), *documents]), ".txt")

    def check(self, case: Case) -> None:
        queries, documents = parts_of(case)
        views = configure("fuzzed", _VIEWS)
        alone, together, column = _broker(queries), _broker(queries), _broker(queries)
        spared, spared_alone = _broker(queries, [views]), _broker(queries, [views])

        matches = [list(alone.matches([each])[0]) for each in documents]

        _check("a batch", matches, [list(ids) for ids in together.matches(documents)])
        _check("a column", matches, _of_column(column, documents))
        attached = list(attach(documents, views))
        _check("with headers", matches, [list(ids) for ids in spared.matches(attached)])
        messages = _sorted(each for one in documents for each in _messages(alone, [one]))
        _check("messages of a batch", messages, _sorted(_messages(together, documents)))
        _check("messages with headers", messages, _sorted(_messages(spared, attached)))
        found = _sorted(each for one in attached for each in _messages(spared_alone, [one]))
        _check("messages with headers, one by one", messages, found)


def parts_of(case: Case) -> tuple[list[str], list[Document]]:
    """The queries and the documents of a case."""
    given, *sources = case.data.split(_BETWEEN)[: _MOST + 1]
    queries = given.decode("utf-8", "replace").splitlines()[:_MOST]
    return queries, [Document(source, str(number)) for number, source in enumerate(sources)]


def brought(case: Case) -> tuple[list[list[str]], list[list[str]], Found]:
    """What a case brings: the matches of its batch as a list and as a column, and the messages."""
    queries, documents = parts_of(case)
    broker = _broker(queries)
    matches = [list(ids) for ids in broker.matches(documents)]
    return matches, _of_column(broker, documents), _sorted(_messages(broker, documents))


def _of_column(broker: Broker, documents: list[Document]) -> list[list[str]]:
    sources = [each.data for each in documents if isinstance(each.data, bytes)]
    ends = np.cumsum([len(each) for each in sources], dtype=np.int64)
    return [list(ids) for ids in broker.matches((b"".join(sources), ends))]


def _broker(queries: list[str], headers: Sequence[Configuration] = ()) -> Broker:
    broker = Broker(headers=headers)
    for query in queries:
        with suppress(WeftError), warnings.catch_warnings():
            warnings.simplefilter("ignore", QueryWarning)
            broker.subscribe(query)
    return broker


def _messages(broker: Broker, documents: list[Document]) -> Found:
    return [(each.subscription, each.document, each.nodes) for each in broker.publish(documents)]


def _sorted(found: Iterable[tuple[str, str, tuple[str, ...]]]) -> Found:
    return sorted(found)


def _check(what: str, expected: object, found: object) -> None:
    assert found == expected, f"{what}:\n one by one {expected}\n found {found}"
