"""A broker that reads headers says and delivers exactly what one that parses every document does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import Mock

import pytest

from profiles import rounds
from weft import Broker, ConfigurationError, Document, QueryError
from weft.broker import answers as answers_module
from weft.broker import matcher as matcher_module
from weft.broker import publisher as publisher_module
from weft.documents.build import read
from weft.headers.configuration import configure, write_configurations
from weft.headers.producer import Producer, attach

KEYED = configure("keyed", ["//a", "//a/k", "//b", "//b/k", "//z", "//p"])
PRODUCER = Producer(KEYED)
UNKNOWN = Producer(configure("keyed", ["//a"], version=7))


def both(queries: dict[str, str], **settings: object) -> tuple[Broker, Broker]:
    """A broker with headers, and one without."""
    brokers = Broker(headers=KEYED, **settings), Broker(**settings)  # type: ignore[arg-type]
    for broker in brokers:
        for id, query in queries.items():
            broker.subscribe(query, id=id)
    return brokers


@pytest.mark.parametrize("order", [[1, 0, 0, 2], [0, 1, 0, 2], [1, 2, 1, 0, 0], [0, 0, 1, 2]])
def test_a_document_that_is_twice_in_a_batch_is_joined_twice(order: list[int]) -> None:
    texts = {"first": b"<a><k>1</k></a>", "unwanted": b"<c/>", "second": b"<a><k>1</k></a>"}
    documents = attach([Document(data, id) for id, data in texts.items()], KEYED)
    batch = [documents[place] for place in order]
    with_headers, without = both({"j": "//a->o[k->x] FOLLOWED BY{x = y, 3 documents} //a[k->y]"})

    assert with_headers.publish(batch) == without.publish(batch)


def test_explain_leaves_out_what_is_suspended() -> None:
    broker, _ = both({"s": "//a[k = 1]", "t": "//b[k = 1]"})
    broker._matcher.suspend({broker._matcher.numbers["s"]: "it failed"})

    assert "keyed/1: 6 views serve 1 subscriptions in full" in broker.explain()


# -- the same matches and messages, whatever comes of the headers

QUERIES = {
    "path": "//a[k = 1]",
    "all": "//a",
    "not": "//b[not(k = 2)]/k",
    "two": "//a[k = 1]/k | //b",
    "unserved": "//z",
    "flwr": "<r>{ for $v in //a where $v/k = 1 return <i>{ $v/k }</i> }</r>",
    "ordered": "<r>{ for $v in //b for $w in $v/k order by $w return <i>{ $w }</i> }</r>",
    "followed": "S//a->o[k->x] FOLLOWED BY{x = y, 3 documents} S//b[k->y]",
    "seconds": "S//a->o[k->x] JOIN{x = y, 4 seconds} S//b[k->y]",
    "absent": "S//a->o[k->x] NOT FOLLOWED BY{x = y, 3 seconds} S//b[k->y]",
    "absent-documents": "S//a->o[k->x] NOT FOLLOWED BY{x = y, 2 documents} S//b[k->y]",
    "published": "SELECT <p>{ $x }</p> FROM S//a->o[k->x] FOLLOWED BY{x = y, 5 seconds} S//b[k->y] PUBLISH P",
    "of-published": "P//p->x FOLLOWED BY{x = y, 9 seconds} S//b[k->y]",
}


def drawn(chance: Random, number: int, at: float) -> Document:
    data = chance.choice(
        [
            f"<a><k>{chance.randrange(12)}</k></a>",
            f"<b><k>{chance.randrange(12)}</k></b>",
            "<c/>",
            "<c/>",
            f"<r><a><k>{chance.randrange(12)}</k></a><b><k>1</k></b></r>",
            "<a><k>1</k><k>2</k></a>",
            "<r xmlns='urn:d'><a><k>1</k></a></r>",
            "<a><k>1</k>",
        ]
    )
    return Document(data.encode(), f"d{number}", chance.choice(("S", "S", "", "T")), at)


def good(document: Document, _: Random) -> Document:
    return PRODUCER.attach([document])[0]


def missing(document: Document, _: Random) -> Document:
    return document


def damaged(document: Document, chance: Random) -> Document:
    header = bytearray(good(document, chance).header or b"none")
    header[chance.randrange(len(header))] ^= 1 << chance.randrange(8)
    return replace(document, header=bytes(header))


def foreign(document: Document, chance: Random) -> Document:
    other = Document(f"<a><k>{chance.randrange(9)}</k></a> ".encode())
    return replace(document, header=good(other, chance).header)


def unknown(document: Document, _: Random) -> Document:
    return UNKNOWN.attach([document])[0]


def any_of_them(document: Document, chance: Random) -> Document:
    return chance.choice([good, good, missing, damaged, foreign, unknown])(document, chance)


Make = Callable[[Document, Random], Document]


@pytest.mark.parametrize("size", [1, 7, 64])
@pytest.mark.parametrize("make", [good, missing, damaged, foreign, unknown, any_of_them])
def test_matches_and_messages_are_the_same(make: Make, size: int) -> None:
    chance = Random(f"{make.__name__}/{size}")
    with_headers, without = both(QUERIES)
    at = 1_700_000_000.0

    for number in range(rounds({1: 100, 7: 15, 64: 2}[size])):
        at += chance.choice((0, 1, 1, 5))
        documents = [drawn(chance, number * size + place, at + place / 100) for place in range(size)]
        batch = [make(document, chance) for document in documents]
        assert with_headers.matches(batch) == without.matches(documents)
        assert with_headers.publish(batch) == without.publish(documents)
    assert with_headers.advance() == without.advance()
    assert [str(error) for error in with_headers.rejected] == [str(error) for error in without.rejected]
    assert with_headers._matcher.headers.hits > 0 or make not in (good, any_of_them)
    assert with_headers._matcher.headers.hits == 0 or make in (good, any_of_them)


def test_subscriptions_come_and_go_between_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matcher_module, "_SWEEP", 10)  # so that engines are built anew often
    chance, at = Random(3), 1_700_000_000.0
    brokers = both({})
    living: list[str] = []

    for number in range(rounds(120)):
        at += 1
        for broker in brokers:
            broker.subscribe((*QUERIES.values(), "//q")[number % (len(QUERIES) + 1)], id=f"s{number}")
        living.append(f"s{number}")
        if len(living) > 8:
            gone = living.pop(chance.randrange(len(living)))
            for broker in brokers:
                broker.unsubscribe(gone)
        if number == rounds(60):
            brokers[0].configure(configure("more", ["//a/k"]))
        if number % rounds(40) == rounds(30):
            for broker in brokers:
                broker._matcher.sweep()
        documents = [drawn(chance, number * 5 + place, at + place / 10) for place in range(5)]
        batch = [any_of_them(document, chance) for document in documents]
        assert brokers[0].matches(batch) == brokers[1].matches(documents)
        assert brokers[0].publish(batch) == brokers[1].publish(documents)
    assert [each.tag for each in brokers[0]._matcher.headers.configurations] == ["keyed/1", "more/1"]


def test_what_is_suspended_takes_part_no_more() -> None:
    broker, _ = both({"s": "//a[k = 1]", "t": "//a"})
    (document,) = attach(b"<a><k>1</k></a>", KEYED)

    broker._matcher.suspend({broker._matcher.numbers["s"]: "it failed"})
    broker._matcher.sweep()

    assert broker.matches(document) == [["t"]]
    broker.unsubscribe("s")
    assert broker.matches(document) == [["t"]]


def test_a_query_that_is_refused_leaves_nothing_behind() -> None:
    broker, _ = both({"s": "//a[k = 1]"})

    with pytest.raises(QueryError):
        broker.subscribe("//a[", id="broken")
    with pytest.raises(ConfigurationError):
        broker.subscribe("//a", id="s")
    broker.subscribe("//a", id="t")

    assert broker.matches(attach(b"<a><k>1</k></a>", KEYED)) == [["s", "t"]]


def test_documents_in_text_are_answered_like_those_in_bytes() -> None:
    broker, _ = both({"s": "//a[k = 'é']"})
    text = "<a><k>é</k></a>"

    found = broker.matches(attach([text, text.encode(), text.encode("utf-16")], KEYED))

    assert found == [["s"]] * 3
    assert broker._matcher.headers.counts == {"hit": 3}


def test_a_document_that_a_header_answers_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    broker, _ = both({"s": "//a[k = 1]", "j": "//a[k->x] FOLLOWED BY{x = y, 3 documents} //b[k->y]"})
    (unwanted,) = attach(b"<c/>", KEYED)
    scanned = Mock(wraps=read)
    for module in (answers_module, publisher_module):
        monkeypatch.setattr(module, "read", scanned)

    broker.matches(unwanted)
    broker.publish(unwanted)

    assert [call.args[0] for call in scanned.call_args_list] == [[]]  # by `publish`; `matches` reads nothing at all


def test_headers_are_given_by_a_file(tmp_path: Path) -> None:
    write_configurations([KEYED], tmp_path / "views.toml")

    broker = Broker(headers=tmp_path / "views.toml")
    broker.subscribe("//a[k = 1]", id="s")

    assert broker.matches(attach(b"<a><k>1</k></a>", KEYED)) == [["s"]]
    assert broker._matcher.headers.hits == 1


def test_two_configurations_under_one_tag_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="expected each tag once, found keyed/1 twice"):
        Broker(headers=[KEYED, KEYED])


def test_a_broker_goes_on_after_what_it_remembered_is_loaded(tmp_path: Path) -> None:
    brokers = both(QUERIES)
    chance = Random(8)
    first = [drawn(chance, number, 1_700_000_000.0 + number) for number in range(20)]
    second = [drawn(chance, number, 1_700_000_000.0 + number) for number in range(20, 40)]

    for broker, name in zip(brokers, ("with", "without"), strict=True):
        broker.publish(attach(first, KEYED))
        broker.checkpoint(tmp_path / name)
    again = both(QUERIES)
    for broker, name in zip(again, ("with", "without"), strict=True):
        broker.restore(tmp_path / name)

    assert again[0].publish(attach(second, KEYED)) == again[1].publish(second)


# -- explain


def test_explain_says_which_subscriptions_a_configuration_serves() -> None:
    broker, without = both({"full": "//a[k = 1]", "part": "//a[k = 1] except //q", "none": "//q"})
    broker.configure(configure("empty", []))

    told = broker.explain()

    assert "keyed/1: 6 views serve 1 subscriptions in full, 1 in part, 1 not at all" in told
    assert "empty/1: 0 views serve 3 not at all" in told
    assert (
        "    nothing of what it asks for: none\n    some of what it asks for: part\n    all of what it asks for: full"
        in told
    )
    assert "headers: keyed/1 has all of what it asks for" in broker.explain("full")
    assert "headers: keyed/1 has some of what it asks for" in broker.explain("part")
    assert "headers: keyed/1 has nothing of what it asks for" in broker.explain("none")
    assert "headers" not in without.explain()
    assert "keyed/1: 6 views serve nobody" in Broker(headers=KEYED).explain()


def test_explain_names_the_first_subscriptions_where_they_are_many() -> None:
    broker = Broker(headers=configure("empty", []))
    for number in range(22):
        broker.subscribe("//q", id=f"q{number}")

    told = broker.explain()

    assert told.endswith("q18, q19 and 2 more")


@pytest.mark.parametrize("given", [5, [KEYED, "views.toml"], [None]])
def test_what_is_no_configuration_is_refused(given: Any) -> None:
    with pytest.raises(ConfigurationError, match="expected a configuration, several of them, or the path of a file"):
        Broker(headers=given)


def test_where_headers_tell_all_the_engine_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it does even for no document takes longer than looking up; at the first miss it has its upkeep again."""
    broker, _ = both({"a": "//a", "p": "//p[. = 'x']", "other": "//other"})
    sent = attach([b"<r><a/></r>", b"<r><b/></r>"], KEYED)
    broker.unsubscribe("other")
    kept_up, read_to_match = Mock(wraps=broker._matcher.keep_up), Mock(wraps=answers_module.read_to_match)
    monkeypatch.setattr(broker._matcher, "keep_up", kept_up)
    monkeypatch.setattr(publisher_module, "read_to_match", read_to_match)

    assert broker.matches(sent) == [["a"], []]
    assert (kept_up.call_count, read_to_match.call_count) == (0, 0)

    assert broker.matches([*sent, b"<r><p>x</p></r>"]) == [["a"], [], ["p"]]
    assert (kept_up.call_count, read_to_match.call_count) == (1, 1)


@pytest.mark.parametrize("batch", [["no"], ["no", "no"], ["yes", "no"], ["no", "yes"], ["yes", "no", "other"]])
def test_what_joins_test_on_values_is_not_looked_for_in_documents_that_nobody_wants(batch: list[str]) -> None:
    texts = {"no": b"<c/>", "yes": b"<a><k>x</k></a>", "other": b"<a><k>1</k></a>"}
    documents = attach([Document(texts[id], id) for id in batch], KEYED)
    with_headers, without = both(
        {"j": "//a[k = 'x']->o[k->x] FOLLOWED BY{x = y, 3 documents} //a[k->y]", "s": "//a[k = 1]"}
    )

    assert with_headers.publish(documents) == without.publish(documents)
