"""Kafka for real: a broker of Apache's own jars, a client that nobody here wrote, and streams between topics."""

import doctest
import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from uuid import uuid4

import pytest
from kafka_server import Kafka, Record, as_record, jars, why_not
from pyspark.sql import SparkSession
from weft_process import embedded, kill_all, start_weft

from weft import Document
from weft.delivery.job import Job
from weft.delivery.prometheus import JobCollector, prometheus_text
from weft.delivery.results import read_results
from weft.delivery.topics import read_topics
from weft.errors import ConfigurationError
from weft.headers.configuration import configure, write_configurations
from weft.headers.producer import attach, bytes_of
from weft.network.delivered_files import read_deliveries
from weft.network.generators import chain
from weft.network.simulate import simulate
from weft.network.topology_file import write_topology
from weft.spark import deduplicate, run_batch, run_stream
from weft.spark.network import NetworkJob, check_network, run_network_stream

pytestmark = [pytest.mark.slow, pytest.mark.skipif(why_not() is not None, reason=f"no Kafka: {why_not()}")]
QUERIES = {
    "large": "/order[total > 500]/customer",
    "items": "/order/item",
    "digest": "<few>{ for $o in /order where $o/total < 300 return <n>{ $o/@number }{ $o/item/@name }</n> }</few>",
}
KILLS = 10 if os.environ.get("WEFT_NIGHTLY") else 2
AWAY = 60 if os.environ.get("WEFT_NIGHTLY") else 3  # seconds


@pytest.fixture(scope="module")
def kafka() -> Iterator[Kafka]:
    server = Kafka()
    yield server
    server.close()


@pytest.fixture
def subscriptions(tmp_path: Path) -> Path:
    file = tmp_path / "subscriptions.jsonl"
    file.write_text("".join(json.dumps({"id": id, "query": query}) + "\n" for id, query in QUERIES.items()))
    return file


def order(number: int, filling: str = "") -> bytes:
    if number % 10 == 9:
        return f"<order number='{number}'><total>1</order>".encode()
    items = "".join(f"<item name='{number}-{at}'>{filling}</item>" for at in range(number % 4))
    return (
        f"<order number='{number}'><total>{number * 7 % 1000}</total><customer n='{number}'/>{items}</order>".encode()
    )


def topics_job(kafka: Kafka, subscriptions: Path, folder: Path, sources: Sequence[str], out: str) -> Job:
    target = read_topics(kafka.url(out))
    return Job(subscriptions, read_topics(kafka.url(*sources)), folder / "out", target=target)


def stream(spark: SparkSession, job: Job) -> Job:
    """Run a job over all that is there."""
    with run_stream(spark, job, available_now=True) as query:
        query.awaitTermination()
    return job


def wanted(topic: str, sent: Sequence[Record]) -> Counter[tuple[str, ...]]:
    """What the broker delivers of these records: place, subscription, position and message."""
    documents = {f"{topic}/{each.partition}/{each.offset}": each.value for each in sent if each.value}
    return Counter((name, id, str(at), text) for name, id, at, text in embedded(QUERIES, documents))


def told(record: Record) -> tuple[str, ...]:
    """The same of a message's record."""
    about = json.loads(record.header("weft-message-id") or "")
    place = f"{about['topic']}/{about['partition']}/{about['offset']}"
    assert record.header("weft-subscription") == about["subscription"]
    return place, about["subscription"], str(about["position"]), (record.value or b"").decode()


def test_documents_of_topics_become_messages_of_another(
    spark: SparkSession, kafka: Kafka, tmp_path: Path, subscriptions: Path
) -> None:
    first, second, out = kafka.topic(), kafka.topic(1), kafka.topic()
    values: list[bytes | None] = [order(number) for number in range(40)]
    kafka.send(first, values, [f"k{number}".encode() for number in range(40)], (("trace", b"1-2"), ("none", None)))
    kafka.send(first, [None, b"", None], [b"gone", b"empty", b"gone"])
    kafka.send(second, [order(number) for number in range(100, 120)])
    job = topics_job(kafka, subscriptions, tmp_path, (first, second), out)

    stream(spark, job)

    sent = {topic: kafka.read(topic) for topic in (first, second)}
    made = kafka.read(out)
    assert Counter(map(told, made)) == wanted(first, sent[first]) + wanted(second, sent[second])
    by_place = {f"{topic}/{each.partition}/{each.offset}": each for topic, given in sent.items() for each in given}
    for record in made:
        origin = by_place[told(record)[0]]
        assert (record.key, int(record.header("weft-timestamp") or 0)) == (origin.key, origin.timestamp)
        assert [header for header in record.headers if not header[0].startswith("weft-")] == list(origin.headers)
    broken = {place: each for place, each in by_place.items() if each.value and b"</total>" not in each.value}
    dead = {record.header("weft-document"): record for record in kafka.read(f"{out}.rejected")}
    assert dead.keys() == broken.keys()
    for place, record in dead.items():
        origin = broken[place or ""]
        assert (record.key, record.value) == (origin.key, origin.value)
        assert record.headers[: len(origin.headers)] == origin.headers
        column = len(origin.value or b"") - len("order>") + 1
        assert [record.header(f"weft-{name}") for name in ("error", "line", "column")] == [
            "mismatched tag",
            "1",
            str(column),
        ]
    metrics = job.metrics
    counted = (metrics.documents, metrics.rejected, metrics.messages, metrics.tombstones, metrics.empty)
    assert counted == (60, len(broken), len(made), 2, 1)
    assert "weft_tombstones_total 2" in prometheus_text(JobCollector(metrics))


def test_files_go_to_a_topic_and_topics_into_tables_and_files(
    spark: SparkSession, kafka: Kafka, tmp_path: Path, subscriptions: Path
) -> None:
    inbox, out = tmp_path / "inbox", kafka.topic()
    (inbox / "orders").mkdir(parents=True)
    documents = {f"orders/{number:02d}.xml": order(number) for number in range(12)}
    for name, data in documents.items():
        (inbox / name).write_bytes(data)

    run_batch(spark, Job(subscriptions, inbox, tmp_path / "sent", target=read_topics(kafka.url(out))))

    made = kafka.read(out)
    ids = [json.loads(record.header("weft-message-id") or "") for record in made]
    found = sorted((each["document"], each["subscription"], each["position"]) for each in ids)
    assert found == [row[:3] for row in embedded(QUERIES, documents)]
    assert {record.key for record in made} == {row["document"].encode() for row in ids}
    assert [record.key for record in kafka.read(f"{out}.rejected")] == [b"orders/09.xml"]

    back = Job(subscriptions, read_topics(kafka.url(out)), tmp_path / "table")
    run_batch(spark, back)
    rows = list(read_results(tmp_path / "table"))
    whole = [record for record in made if (record.value or b"").startswith(b"<few")]
    assert (back.metrics.documents, len(rows)) == (len(made), 0), "messages are no orders"
    assert whole
    again = kafka.topic(1)
    kafka.send(again, documents.values())
    files = Job(subscriptions, read_topics(kafka.url(again)), tmp_path / "files", format="files")
    assert run_batch(spark, files).messages == len(made)
    texts = [row["message"].rstrip("\n") for row in read_results(tmp_path / "files")]
    assert sorted(texts) == sorted((record.value or b"").decode() for record in made)


SOON = "SELECT <pair>{{ $x }}</pair> FROM {0}//order[customer->x] FOLLOWED BY{{x = y, 1 hour}} {1}//order[customer->y]"


def test_joined_documents_of_two_topics_are_named_in_the_id_and_an_empty_topic_has_none(
    spark: SparkSession, kafka: Kafka, tmp_path: Path
) -> None:
    first, second, empty, out = kafka.topic(1), kafka.topic(1), kafka.topic(1), kafka.topic(1)
    subscriptions = tmp_path / "soon.jsonl"
    subscriptions.write_text(json.dumps({"id": "soon", "query": SOON.format(first, second)}))
    ada, grace = (f"<order><customer>{name}</customer></order>".encode() for name in ("Ada", "Grace"))
    kafka.send(first, [ada, grace])
    time.sleep(0.01)  # records are dated in milliseconds, and the second must follow the first
    kafka.send(second, [grace, None])
    expected = [(["soon", [f"{first}/0/1", f"{second}/0/0"]], b"<pair><customer>Grace</customer></pair>")]

    run_batch(spark, topics_job(kafka, subscriptions, tmp_path / "batch", (first, second), out))
    nothing = run_batch(spark, topics_job(kafka, subscriptions, tmp_path / "empty", (empty,), out))

    assert [(joined(record), record.value) for record in kafka.read(out)] == expected
    assert (nothing.documents, nothing.messages, nothing.tombstones) == (0, 0, 0)
    streamed = kafka.topic(1)
    stream(spark, topics_job(kafka, subscriptions, tmp_path / "stream", (first, second), streamed))
    assert [(joined(record), record.value) for record in kafka.read(streamed)] == expected


def joined(record: Record) -> list[object]:
    about = json.loads(record.header("weft-message-id") or "")
    assert about.pop("position") == 1
    assert list(about) == ["subscription", "documents"]
    return list(about.values())


def test_headers_of_records_save_parsing_and_change_nothing(
    spark: SparkSession, kafka: Kafka, tmp_path: Path, subscriptions: Path
) -> None:
    views = [configure("orders", ["/order/total", "/order/@number"])]
    file = tmp_path / "views.toml"
    write_configurations(views, file)
    topic, out = kafka.topic(1), kafka.topic(1)
    orders = attach([Document(order(number), str(number)) for number in range(30)], views)
    for document in orders:
        brought = (("weft-views", document.header),) if document.header is not None else ()
        kafka.send(topic, [bytes_of(document)], None, brought)
    assert sum(document.header is not None for document in orders) == 27
    job = replace(topics_job(kafka, subscriptions, tmp_path, (topic,), out), views=file)

    stream(spark, job)

    made = kafka.read(out)
    assert Counter(map(told, made)) == wanted(topic, kafka.read(topic))
    assert not [record for record in made if record.header("weft-views")], "it is the document's, not the message's"


def test_messages_that_came_again_are_dropped_in_a_batch_and_in_a_stream(
    spark: SparkSession, kafka: Kafka, tmp_path: Path
) -> None:
    topic = kafka.topic(2)
    ids = [f'{{"subscription":"a","offset":{number}}}'.encode() for number in range(6)]
    for id in (*ids, *ids[2:], ids[5]):
        kafka.send(topic, [id], None, (("weft-message-id", id),))
    kafka.send(topic, [b"without an id", b"without an id"])
    options = {"kafka.bootstrap.servers": kafka.address, "subscribe": topic, "includeHeaders": "true"}

    once = spark.read.format("kafka").options(**options).load().transform(deduplicate())
    assert sorted(bytes(row.value) for row in once.collect()) == sorted([*ids, b"without an id", b"without an id"])

    def run() -> None:
        frame = spark.readStream.format("kafka").options(**options, startingOffsets="earliest").load()
        writer = frame.transform(deduplicate(3600)).select("value").writeStream.format("parquet")
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        writer.start(str(tmp_path / "once")).awaitTermination()

    run()
    kafka.send(topic, [ids[0]], None, (("weft-message-id", ids[0]),))
    kafka.send(topic, [b"new"], None, (("weft-message-id", b"new"),))
    run()
    kept = [bytes(row.value) for row in spark.read.parquet(str(tmp_path / "once")).collect()]
    assert sorted(kept) == sorted([*ids, b"new", b"without an id", b"without an id"])
    with pytest.raises(ConfigurationError, match="expected a column 'headers'"):
        spark.createDataFrame([(1,)], "a int").transform(deduplicate())


def test_members_of_a_group_that_change_read_each_message_once_by_its_id(
    spark: SparkSession, kafka: Kafka, tmp_path: Path, subscriptions: Path
) -> None:
    """A rebalance: one reader takes some and goes without a word, and another gets the same again."""
    topic, out = kafka.topic(), kafka.topic(4)
    kafka.send(topic, [order(number) for number in range(40)], [str(number).encode() for number in range(40)])
    stream(spark, topics_job(kafka, subscriptions, tmp_path, (topic,), out))

    first = kafka.member("readers", out)
    taken = [as_record(message) for message in first.consume(9, 30)]
    second = kafka.member("readers", out)
    while not second.assignment():  # now both have some of the partitions
        for each in (first, second):
            taken += [as_record(message) for message in each.consume(1, 0.2)]
    first.close()
    expected = wanted(topic, kafka.read(topic))
    end = time.monotonic() + 60
    while len({told(record) for record in taken}) < len(expected) and time.monotonic() < end:
        taken += [as_record(message) for message in second.consume(50, 1)]
    second.close()

    once = {record.header("weft-message-id"): told(record) for record in taken}
    assert len(taken) > len(once), "nothing came again: nothing was tested"
    assert Counter(once.values()) == expected


def test_large_records_pass_and_what_no_record_can_hold_is_a_dead_letter(
    spark: SparkSession, kafka: Kafka, tmp_path: Path, subscriptions: Path
) -> None:
    """20 MB in, and messages of 10 MB out of it: refused one by one, or sent if the option says so."""
    topic, config = kafka.topic(1), {"max.message.bytes": "33554432"}
    large = order(2, "x" * 10_000_000)
    broken = b"<order>" + b" " * 20_000_000
    kafka.send(topic, [order(1), large, broken, order(5)], [b"1", b"2", b"broken", b"5"])

    for largest, limits in ((1_048_576, ()), (33_554_432, ("max_bytes=30000000",))):
        out = kafka.topic(1, config=config)
        options = {"kafka.max.request.size": str(largest)}
        target = read_topics(kafka.url(out), options)
        job = Job(subscriptions, read_topics(kafka.url(topic)), tmp_path / out, target=target, limits=limits)
        stream(spark, job)
        made, dead = kafka.read(out), kafka.read(f"{out}.rejected")
        expected = wanted(topic, kafka.read(topic))
        fits = Counter({row: number for row, number in expected.items() if len(row[3]) < largest})
        assert Counter(map(told, made)) == fits
        refused = [record for record in dead if record.header("weft-subscription")]
        assert len(refused) == expected.total() - fits.total()
        for record in refused:
            assert record.value == b""
            assert f"bytes, and its record at most {largest}" in (record.header("weft-error") or "")
        (whole,) = (record for record in dead if record.key == b"broken")
        omitted = str(len(broken)) if largest < len(broken) else None
        assert (whole.header("weft-omitted"), len(whole.value or b"")) == (omitted, 0 if omitted else len(broken))


def test_what_is_not_there_is_told_in_one_line_and_partitions_may_come_later(
    spark: SparkSession, kafka: Kafka, tmp_path: Path, subscriptions: Path
) -> None:
    late, out = f"{kafka.topic()}-late", kafka.topic()
    job = topics_job(kafka, subscriptions, tmp_path, (late,), out)
    with pytest.raises(ConfigurationError, match=f"there is no topic '{late}'; make it first"):
        stream(spark, job)

    kafka.topic(1, late)
    kafka.send(late, [order(number) for number in range(8)])
    stream(spark, job)
    kafka.widen(late, 3)
    kafka.send(late, [order(number) for number in range(10, 30)], [str(number).encode() for number in range(20)])
    stream(spark, job)

    sent = kafka.read(late)
    assert {record.partition for record in sent} == {0, 1, 2}
    assert Counter(map(told, kafka.read(out))) == wanted(late, sent)


def test_a_server_that_is_away_for_a_while_is_waited_for(
    spark: SparkSession, kafka: Kafka, tmp_path: Path, subscriptions: Path
) -> None:
    topic, out = kafka.topic(), kafka.topic()
    job = topics_job(kafka, subscriptions, tmp_path, (topic,), out)
    kafka.send(topic, [order(number) for number in range(5)])
    with run_stream(spark, job) as query:
        wait_for(lambda: bool(job.metrics.messages))
        kafka.say("stop")
        time.sleep(AWAY)
        kafka.say("start")
        kafka.send(topic, [order(number) for number in range(5, 25)])
        expected = wanted(topic, kafka.read(topic))
        wait_for(lambda: not query.isActive or len(set(map(told, kafka.read(out)))) == len(expected))
        assert query.isActive, query.exception()
    assert set(map(told, kafka.read(out))) == set(expected)


class Running:
    """A command that streams, and how far it is, from outside."""

    def __init__(self, options: Sequence[object], checkpoint: Path, stderr: Path) -> None:
        self._checkpoint, self._stderr = checkpoint, stderr
        self.before = self._last("offsets")
        self.process = start_weft(*options, stderr=stderr)

    def is_in_a_batch(self) -> bool:
        return self._last("offsets") > max(self.before, self._last("commits"))

    def must_live(self) -> None:
        assert self.process.poll() is None, self._stderr.read_text()

    def _last(self, folder: str) -> int:
        records = (self._checkpoint / folder).glob("[0-9]*")
        return max((int(record.name) for record in records), default=-1)


def killed_in_a_batch(running: Running, wait: float) -> bool:
    """Wait for a batch of its own, and a while; whether the kill came in the middle of one."""
    end = time.monotonic() + 120
    while not running.is_in_a_batch() and time.monotonic() < end:
        running.must_live()
        time.sleep(0.02)
    time.sleep(wait)
    cut_off = running.is_in_a_batch()
    kill_all(running.process)
    return cut_off


def test_a_stream_between_topics_that_is_killed_sends_every_message_and_ids_tell_which_came_again(
    spark: SparkSession, kafka: Kafka, tmp_path: Path, subscriptions: Path
) -> None:
    chance, output = random.Random(3), tmp_path / "out"
    topic, out = kafka.topic(), kafka.topic()
    options = ["run", "--subscriptions", subscriptions, "--from", kafka.url(topic), "--to", kafka.url(out)]
    options += ["--output", output, "--stream", "--jars", jars(), "--option", "maxOffsetsPerTrigger=20"]
    options += ["--master", "local[1]"]
    cut_off = 0
    for run in range(KILLS):
        kafka.send(topic, [order(run * 60 + number) for number in range(60)])
        running = Running(options, output / "checkpoint", tmp_path / f"{run}.stderr")
        try:
            cut_off += killed_in_a_batch(running, run and chance.random() * 1.5)
        finally:
            kill_all(running.process)
    expected = wanted(topic, kafka.read(topic))
    stream(spark, topics_job(kafka, subscriptions, tmp_path, (topic,), out))

    made = kafka.read(out)
    once = {record.header("weft-message-id"): told(record) for record in made}
    assert Counter(once.values()) == expected, f"{len(made)} records, {cut_off} kills in a batch"
    assert set(map(told, made)) == set(expected)
    assert cut_off, "no kill came in the middle of a batch"


VIEWS = configure("orders", ["/order/total", "/order/@number"])


def test_the_middle_of_a_chain_whose_links_are_topics_is_killed_and_everything_arrives_once(
    spark: SparkSession, kafka: Kafka, tmp_path: Path
) -> None:
    chance, inbox, output, file = random.Random(9), tmp_path / "inbox", tmp_path / "out", tmp_path / "network.toml"
    network = chain(3, [VIEWS]).with_subscriptions({f"s{at}": list(QUERIES.values())[at:] for at in range(3)})
    write_topology(network, file)
    inbox.mkdir()
    given = {f"{number:04d}.xml": order(number) for number in range(12 * (KILLS + 1))}
    prefix, names = f"net{uuid4().hex[:8]}", iter(sorted(given))
    links = read_topics(kafka.url(prefix), {"maxOffsetsPerTrigger": "5"})
    options = ["network", "run", file, "--documents", inbox, "--output", output, "--stream", "--master", "local[1]"]
    options += ["--links", kafka.url(prefix), "--option", "maxOffsetsPerTrigger=5", "--jars", jars(), "--server", "s1"]
    ends = NetworkJob(network, inbox, output, ("s0", "s2"), links=links)
    check_network(ends)
    simulated = simulate(network, [Document(data, name) for name, data in given.items()])
    expected, cut_off = sorted(each[:3] for each in simulated.deliveries), 0
    with run_network_stream(spark, ends) as queries:
        for run in range(KILLS):
            arrive(inbox, {name: given[name] for name in islice(names, 12)})
            middle = Running(options, output / "checkpoints" / "s1", tmp_path / f"{run}.stderr")
            try:
                cut_off += killed_in_a_batch(middle, run and chance.random() * 1.5)
            finally:
                kill_all(middle.process)
        arrive(inbox, {name: given[name] for name in names})
        with run_network_stream(spark, replace(ends, servers=("s1",))):
            wait_for(lambda: len(list(read_deliveries(output))) >= len(expected))
        assert all(query.isActive for query in queries)

    assert sorted(each[:3] for each in read_deliveries(output)) == expected
    sent = kafka.read(f"{prefix}.s0.s1")
    assert {record.header("weft-document") for record in sent} <= set(given)
    assert any(dict(record.headers).get("weft-views") for record in sent), "headers go with the documents"
    assert cut_off, "no kill came in the middle of a batch"


def arrive(inbox: Path, given: dict[str, bytes]) -> None:
    for name, data in given.items():
        (inbox / f".{name}").write_bytes(data)
        (inbox / f".{name}").replace(inbox / name)


def test_the_page_on_kafka_says_what_is_true(spark: SparkSession, kafka: Kafka) -> None:
    for name in ("orders", "alerts", "alerts.rejected"):
        kafka.topic(1, name)
    texts = (
        "<order><total>1200</total><customer name='Ada'/></order>",
        "<order><total>80</total><customer name='Grace'/></order>",
        "<order><total>oops</order>",
    )
    kafka.send("orders", [text.encode() for text in texts])

    page = Path(__file__).parents[2] / "docs" / "kafka.md"
    names = {"spark": spark, "server": kafka.address}
    result = doctest.testfile(str(page), module_relative=False, globs=names)

    assert (result.failed, result.attempted > 5) == (0, True)


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.2)
