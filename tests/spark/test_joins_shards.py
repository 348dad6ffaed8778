"""All of XSCL in a stream, in shards whose states Spark keeps: as in a broker, whoever works, and after a crash."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

import weft
from shard_runs import MadeRow, ShardRun
from weft.broker.subscriptions import Subscription, write_subscription
from weft.delivery.job import Job
from weft.delivery.results import read_results
from weft.documents.moment import SECOND
from weft.errors import ConfigurationError
from weft.joins import changes
from weft.spark.compiled import compile_subscriptions
from weft.spark.job import run_stream
from weft.spark.shard_keys import shard_keys, spark_hash

PAIR = Subscription("pair", "S//a->x FOLLOWED BY{x = y, 1 day} S//b->y")
CHAIN = Subscription("chain", "S//a->x FOLLOWED BY{x = y, 1 day} S//b->y FOLLOWED BY{y = z, 1 day} S//c->z")
COUNTED = Subscription("counted", "S//a->x JOIN{x = y, 2 documents} S//c->y")
SUBSCRIPTIONS = [
    PAIR,
    Subscription("near", "S//c->x JOIN{x = y, 2 seconds} S//b->y"),
    CHAIN,
    Subscription("absence", "S//a->x NOT FOLLOWED BY{x = y, 3 seconds} S//b->y"),
    Subscription("third", "S//b->x NOT FOLLOWED BY{x = y, 3 documents} S//c->y"),
    COUNTED,
    Subscription("made", "SELECT <sum>{ $x/text() }</sum> FROM S//b->x JOIN{x = y, 1 day} S//c->y PUBLISH sums"),
    Subscription("of what was made", "sums/sum->s FOLLOWED BY{s = x, 1 day} S//a->x"),
    Subscription("filter", "/sum/text()"),
]


def documents(number: int = 14) -> list[weft.Document]:
    names = "abcabacbcabcca"
    return [
        weft.Document(
            f"<r><{names[at % 14]}>{at // 5 % 2}</{names[at % 14]}></r>", f"{at:04}.xml", "S", 1_000_000.0 + at
        )
        for at in range(number)
    ]


def embedded(
    given: Sequence[Subscription],
    parts: Sequence[Sequence[weft.Document]],
    added: Subscription | None = None,
    at: int = 0,
) -> list[MadeRow]:
    """What a broker gives, which another subscription comes to before a part."""
    broker = weft.Broker(lateness=2)
    for subscription in given:
        broker.subscribe(subscription)
    made: list[weft.Message] = []
    for number, part in enumerate(parts):
        if added is not None and number == at:
            broker.subscribe(added)
        made += broker.publish(part)
    return sorted(
        (message.subscription, message.documents or (message.document,), text)
        for message in made
        for text in message.nodes
        if message.subscription != "filter" or message.document.startswith("sums-")
    )


def cut(some: list[weft.Document], sizes: Sequence[int]) -> list[list[weft.Document]]:
    """In parts, and a last document long after the others: all windows in time have closed then."""
    some = [*some, weft.Document("<end/>", "end.xml", "S", 2_000_000.0)]
    parts = []
    for size in sizes:
        parts.append(some[:size])
        some = some[size:]
    return [part for part in (*parts, some) if part]


# -- without Spark


@pytest.mark.parametrize("seed", range(2))
def test_whoever_works_and_whatever_fails_the_messages_are_those_of_a_broker(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "_OFTEN", 4)
    chance = Random(seed)
    parts = cut(documents(45), [chance.randrange(1, 6) for _ in range(30)])
    stream = ShardRun(compile_subscriptions(SUBSCRIPTIONS), lateness=2 * SECOND)
    found: list[MadeRow] = []
    for part in parts:
        before = stream.handles
        made = stream.batch(part, chance.choice("abc"))
        if chance.random() < 0.4:  # it failed behind this: the state is as it was, and some worker is ahead of it
            stream.handles = before
            again = stream.batch(part, chance.choice(["a", "b", "c", f"new {len(found)}"]))
            assert sorted(again) == sorted(made)
        found += made

    assert sorted(found) == embedded(SUBSCRIPTIONS, parts)
    assert {row[0] for row in found} == {each.id for each in SUBSCRIPTIONS}


@pytest.mark.parametrize("added", [PAIR, CHAIN, COUNTED], ids=lambda each: each.id)
def test_a_subscription_that_comes_later_sees_the_documents_from_then_on(added: Subscription) -> None:
    before, parts = [each for each in SUBSCRIPTIONS if each != added], cut(documents(42), [10, 3, 8, 8])
    stream = ShardRun(compile_subscriptions(before), lateness=2 * SECOND)
    found: list[MadeRow] = []
    for number, part in enumerate(parts):
        if number == 2:
            stream.compiled = compile_subscriptions(SUBSCRIPTIONS)
        found += stream.batch(part, "ab"[number % 2])

    assert sorted(found) == embedded(before, parts, added, at=2)
    assert {row[0] for row in found} == {each.id for each in SUBSCRIPTIONS}


def test_subscriptions_that_go_and_come_again_keep_what_the_others_have() -> None:
    parts = cut(documents(42), [10, 3, 8, 8])
    stream = ShardRun(compile_subscriptions(SUBSCRIPTIONS), lateness=2 * SECOND)
    found: list[MadeRow] = []
    for number, part in enumerate(parts):
        some = SUBSCRIPTIONS if number != 2 else [each for each in SUBSCRIPTIONS if each not in (PAIR, CHAIN)]
        stream.compiled = compile_subscriptions(some)
        found += stream.batch(part)

    others = [each for each in SUBSCRIPTIONS if each not in (PAIR, CHAIN)]
    assert sorted(row for row in found if row[0] not in ("pair", "chain")) == embedded(others, parts)


def test_each_document_of_pairs_is_kept_once_however_many_values_and_queries_it_has() -> None:
    texts = [f"S/r[{one}->x] JOIN{{x = y, 1 day}} S/r[{other}->y]" for one in "abc" for other in "abc"]
    stream = ShardRun(compile_subscriptions(texts), keys=(1, 2, 3))
    some = [
        weft.Document(f"<r><a>1</a><b>{at}</b><c>{at % 3}</c><d>{'long ' * 200}</d></r>", f"{at}", "S", float(at))
        for at in range(60)
    ]
    size = sum(len(each.data) for each in some)

    for part in cut(some, [20, 20, 20])[:-1]:
        stream.batch(part)

    kept = [len(handle.states["documents"].kept) for handle in stream.handles.values()]
    assert sum(kept) == 60
    assert min(kept) > 10  # although all have the same value
    assert size < sum(handle.written for handle in stream.handles.values()) < 1.5 * size


def test_a_batch_writes_what_it_changed_however_much_is_held() -> None:
    stream = ShardRun(compile_subscriptions([each for each in SUBSCRIPTIONS if each.id in ("chain", "absence")]))
    given = [replace(each, data=f"<r><abc><a>{at}</a></abc></r>") for at, each in enumerate(documents(1_000))]
    written = []
    for part in cut(given, [50] * 20)[:-1]:
        before = sum(handle.written for handle in stream.handles.values())
        stream.batch(part, "a")
        written.append(sum(handle.written for handle in stream.handles.values()) - before)

    assert max(written[5:]) < 1.5 * min(written[5:])


def test_a_stream_goes_on_with_as_many_shards_as_it_began_with() -> None:
    stream = ShardRun(compile_subscriptions([PAIR]))
    stream.batch(documents())
    stream._keys = (10,)

    with pytest.raises(ConfigurationError, match="expected 2 shards, as when the stream began, found 1"):
        stream.batch(documents())


# -- with Spark


def test_shards_are_in_partitions_of_their_own(spark: SparkSession) -> None:
    keys = shard_keys(5, 16)
    found = spark.createDataFrame([(key,) for key in keys], "shard int").selectExpr("pmod(hash(shard), 5) AS at")

    assert [row["at"] for row in found.collect()] == [0, 1, 2, 3, 4]
    assert len(shard_keys(200, 16)) == 16
    assert spark_hash(0) == 933211791


def test_a_stream_takes_all_kinds_and_changes_them_while_it_runs(spark: SparkSession, tmp_path: Path) -> None:
    inbox, file = tmp_path / "inbox" / "S", tmp_path / "subscriptions.jsonl"
    inbox.mkdir(parents=True)
    job = Job(file, tmp_path / "inbox", tmp_path / "out", max_files_per_trigger=8, lateness=2)
    parts = cut(documents(28), [8, 8, 8, 4])
    parts[3:] = [[*parts[3], *parts[4]]]
    before = [each for each in SUBSCRIPTIONS if each not in (COUNTED, PAIR)]
    refused: list[str] = []

    for number, subscriptions in ((0, before), (2, SUBSCRIPTIONS)):
        file.write_text("\n".join(map(write_subscription, subscriptions)))
        for document in [*parts[number], *parts[number + 1]]:
            path = inbox / document.id
            path.write_bytes(str(document.data).encode())
            os.utime(path, ns=(document.nanoseconds or 0, document.nanoseconds or 0))
        tell = lambda error: refused.append(str(error))  # noqa: E731
        with run_stream(spark, job, available_now=True, on_refused=tell) as query:
            assert query.awaitTermination(240)

    found = [
        (row["subscription"], tuple(Path(each).name for each in row["documents"] or [row["document"]]), row["message"])
        for row in read_results(tmp_path / "out")
    ]
    found = [row for row in found if row[0] != "filter" or row[1][0].startswith("sums-")]
    added = [row for each in (COUNTED, PAIR) for row in embedded([], parts, each, at=2)]
    assert sorted(found) == sorted([*embedded(before, parts), *added])
    assert not refused
    assert {row["version"] for row in read_results(tmp_path / "out")} == {1, 2}
