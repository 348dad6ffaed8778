"""Checkpoints of joins: every damage is refused and changes nothing, and what waits is told by joins, not by names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from weft import Broker, ConfigurationError, Document, Limits, Message
from weft.durable import Seal, read_sealed, write_sealed
from weft.joins import checkpoint

SEAL = Seal("joins", 3, "restore an older checkpoint, or begin without one and publish the documents again")
QUERIES = {
    "followed": "S//a->x FOLLOWED BY{x = y, infinite} S//b->y",
    "counted": "S//a->x FOLLOWED BY{x = y, 3 documents} S//b->y",
    "absent": "S//a->x NOT FOLLOWED BY{x = y, 10 seconds} S//b->y",
    "made": "SELECT <t>{ $x/text() }</t> FROM S//a->x FOLLOWED BY{x = y, 1 day} S//b->y PUBLISH T",
}
DOCUMENTS = [
    Document(f"<{name}>{value}</{name}>", f"{name}{at}", "S", at)
    for at, (name, value) in enumerate([("a", 1), ("a", "é"), ("b", 1), ("a", 2), ("z", 0), ("a", 3)])
]
REST = [Document("<b>3</b>", "b6", "S", 6), Document("<b>é</b>", "b7", "S", 7), Document("<z/>", "z30", "S", 30)]


def new_broker(limits: Limits | None = None) -> Broker:
    broker = Broker(limits=limits, lateness=2)
    for id, query in QUERIES.items():
        broker.subscribe(query, id=id)
    return broker


def finish(broker: Broker) -> list[Message]:
    return broker.publish(REST) + broker.advance()


@pytest.fixture
def good(tmp_path: Path) -> Path:
    broker = new_broker()
    broker.publish(DOCUMENTS)
    broker.checkpoint(tmp_path / "good", {"next": 6})
    return tmp_path / "good"


def expected(good: Path) -> list[Message]:
    broker = new_broker()
    assert broker.restore(good) == {"next": 6}
    return finish(broker)


# -- damage


def damages(content: bytes, other: bytes, random: Random) -> Iterator[bytes]:
    """Hundreds of ways to be another file: flipped bits, cuts, ranges twice, gone or swapped, and another's head."""
    for _ in range(200):
        changed, at = bytearray(content), random.randrange(len(content))
        changed[at] ^= 1 << random.randrange(8)
        yield bytes(changed)
    for _ in range(100):
        yield content[: random.randrange(len(content))]
        yield content[random.randrange(1, len(content)) :]
    for _ in range(100):
        one, two, three = sorted(random.sample(range(len(content) + 1), 3))
        yield content[:two] + content[one:]
        yield content[:one] + content[two:]
        yield content[:one] + content[two:three] + content[one:two] + content[three:]
    for _ in range(50):
        at = random.randrange(1, min(len(content), len(other)))
        yield other[:at] + content[at:]
    yield from (b"", content + b"\n", b"weft outbox 2\n" + content.partition(b"\n")[2], b"\0" * len(content))


def test_every_damage_is_refused_with_what_to_do_and_changes_nothing(good: Path, tmp_path: Path) -> None:
    messages, content = expected(good), good.read_bytes()
    fuller = new_broker()
    fuller.publish([*DOCUMENTS, *REST])
    fuller.checkpoint(tmp_path / "other", {"next": 9})
    broker, tried = new_broker(), 0

    for damaged in damages(content, (tmp_path / "other").read_bytes(), Random(10)):
        if damaged == content:
            continue
        tried += 1
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(ConfigurationError, match=r"damaged: .*restore an older checkpoint"):
            broker.restore(tmp_path / "damaged")

    assert tried > 600
    assert broker.restore(good) == {"next": 6}
    assert finish(broker) == messages


Change = Callable[[dict[str, Any], dict[str, Any]], object]


@pytest.mark.parametrize(
    "change",
    [
        lambda head, _: head.pop("progress"),
        lambda head, _: head.pop("waiting"),
        lambda head, _: head.update(progress=[1]),
        lambda head, _: head["progress"].update(watermark=1.5),
        lambda head, _: head["progress"].update(latest="now"),
        lambda head, _: head["progress"].pop("seen"),
        lambda head, _: head.update(sequence=None),
        lambda head, _: head.update(sequence=True),
        lambda head, _: head.update(published=-1),
        lambda head, _: head.update(history={"S": [[0, 1], [0.5, 1.5]]}),
        lambda head, _: head.update(history={"S": [[0, 1], [1]]}),
        lambda head, _: head.update(history={"S": [[1, 0], [0, 1]]}),
        lambda head, _: head.update(history={"S": [[0, 2**70], [0, 1]]}),
        lambda head, _: head.update(history=[]),
        lambda head, _: head.update(since={"followed": "0"}),
        lambda head, _: head.update(since=[["followed", 0]]),
        lambda head, _: head.update(waiting=[["x", [99]]]),
        lambda head, _: head.update(waiting=[["x", []]]),
        lambda head, _: head.update(waiting=[[5, [0]]]),
        lambda head, _: head.update(documents=head["documents"] + 1),
        lambda head, _: head.update(documents=10**12),
        lambda head, _: head.update(arriving=0),
        lambda _, record: record.update(id=7),
        lambda _, record: record.update(id=None),
        lambda _, record: record.update(stream=["S"]),
        lambda _, record: record.update(at=0.5),
        lambda _, record: record.update(at=2**62),
        lambda _, record: record.update(dated="2026-01-01"),
        lambda _, record: record.update(text="yes"),
        lambda _, record: record.update(sequence=-1),
        lambda _, record: record.update(sequence=1),
        lambda _, record: record.update(size=1),
        lambda _, record: record.update(size=-1),
        lambda _, record: record.pop("arrival"),
    ],
)
def test_wrong_parts_in_a_sound_file_are_refused_and_change_nothing(good: Path, tmp_path: Path, change: Change) -> None:
    head, _, rest = read_sealed(good, SEAL).partition(b"\n")
    record, _, tail = rest.partition(b"\n")
    header, first = json.loads(head), json.loads(record)
    change(header, first)
    lines = json.dumps(header).encode(), json.dumps(first).encode(), tail
    write_sealed(tmp_path / "skewed", SEAL, b"\n".join(lines).decode())
    broker = new_broker()

    with pytest.raises(ConfigurationError, match=r"skewed: not a checkpoint of joins: .*restore an older checkpoint"):
        broker.restore(tmp_path / "skewed")

    broker.restore(good)
    assert finish(broker) == expected(good)


@pytest.mark.parametrize("content", ["5\n", "[]\n", "{}\n", "\n", "", "[" * 100_000])
def test_a_sound_file_of_something_else_is_refused(tmp_path: Path, content: str) -> None:
    write_sealed(tmp_path / "sealed", SEAL, content)

    with pytest.raises(ConfigurationError, match="sealed: not a checkpoint of joins"):
        new_broker().restore(tmp_path / "sealed")


@pytest.mark.parametrize("seal", [Seal("joins", 2, ""), Seal("joins", 4, ""), Seal("outbox", 2, "")])
def test_another_version_or_kind_is_refused(good: Path, tmp_path: Path, seal: Seal) -> None:
    write_sealed(tmp_path / "another", seal, read_sealed(good, SEAL).decode())

    with pytest.raises(ConfigurationError, match=rf"another: .*expected 'weft joins 3', found 'weft {seal.name}"):
        new_broker().restore(tmp_path / "another")


@pytest.mark.parametrize("at", [0, 5], ids=["held", "waiting"])
def test_a_document_that_breaks_today_s_limits_is_told_and_changes_nothing(good: Path, tmp_path: Path, at: int) -> None:
    long = Document(f"<a>{'1' * 100}</a>", "long", "S", at)
    broker = new_broker()
    broker.publish([*DOCUMENTS[:at], long, *DOCUMENTS[at:]])
    broker.checkpoint(tmp_path / "long")
    small = new_broker(Limits(max_bytes=50))

    with pytest.raises(
        ConfigurationError, match=r"long: a document that is held breaks the limits: .*restore an older"
    ):
        small.restore(tmp_path / "long")

    small.restore(good)
    assert finish(small) == expected(good)


def test_an_id_that_is_no_text_is_refused_when_the_checkpoint_is_made(good: Path) -> None:
    broker, before = new_broker(), good.read_bytes()
    broker.publish(Document("<a>1</a>", 7, "S", 1))  # type: ignore[arg-type]

    with pytest.raises(ConfigurationError, match="document 7: expected its id to be text"):
        broker.checkpoint(good)

    assert good.read_bytes() == before


@pytest.mark.parametrize("when", [datetime(2026, 1, 2, 3, 4, 5, 678_901, UTC), Decimal("1.000000001"), 0.1, 7, None])
def test_times_come_back_to_the_nanosecond(tmp_path: Path, when: datetime | Decimal | float | None) -> None:
    broker = new_broker()
    broker.publish(Document("<a>1</a>", "a", "S", when))
    broker.checkpoint(tmp_path / "first")

    again = new_broker()
    again.restore(tmp_path / "first")
    again.checkpoint(tmp_path / "second")

    assert (tmp_path / "second").read_bytes() == (tmp_path / "first").read_bytes()


# -- what waits


def renamed(name: str) -> str:
    return f"S//a->{name}[@k->{name}k] NOT FOLLOWED BY{{{name} = {name}y, 10 seconds}} S//b->{name}y"


@pytest.mark.parametrize("kept", ["one", "two"])
def test_what_waits_is_kept_for_each_query_with_the_same_join(tmp_path: Path, kept: str) -> None:
    broker = Broker()
    broker.subscribe(renamed("x"), id="one")
    broker.subscribe(renamed("other"), id="two")
    broker.publish(Document("<a k='1'>1</a>", "a", "S", 1))
    broker.checkpoint(tmp_path / "state")

    again = Broker()
    again.subscribe(renamed("x" if kept == "one" else "other"), id=kept)
    again.restore(tmp_path / "state")

    assert [message.subscription for message in again.advance()] == [kept]


def test_what_waited_for_a_query_that_was_gone_does_not_come_back(tmp_path: Path) -> None:
    broker = Broker()
    broker.subscribe(QUERIES["absent"], id="gone")
    broker.publish(Document("<a>1</a>", "a", "S", 1))
    broker.unsubscribe("gone")
    broker.subscribe(QUERIES["absent"], id="new", from_state=True)
    broker.checkpoint(tmp_path / "state")

    again = Broker()
    again.subscribe(QUERIES["absent"], id="new", from_state=True)
    again.restore(tmp_path / "state")

    assert again.advance() == broker.advance() == []


def test_a_join_has_one_digest_in_every_process_whatever_stands_beside_it() -> None:
    alone, beside = Broker(), Broker()
    beside.subscribe("S//z->q[b->r] JOIN{r = s, 1 day} S//b->s", id="first")
    for broker in (alone, beside):
        broker.subscribe(QUERIES["absent"], id="absent")

    digests = [
        {checkpoint.digest(each) for each in broker._matcher.joins.registered.compiled()} for broker in (alone, beside)
    ]

    assert digests[0] < digests[1]
    assert len(digests[1]) == 2
