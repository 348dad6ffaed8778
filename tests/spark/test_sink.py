"""Rows of messages and of rejected documents become files: what each is called, what it holds, and each batch once."""

import json
import pickle
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from profiles import examples
from weft.delivery.file_names import quoted
from weft.errors import ConfigurationError
from weft.spark.sink import MessageStreamWriter, MessageWriter

pytestmark = pytest.mark.spark
MESSAGES = "document string, subscription string, destination string, message string, position int"
SCHEMA = pa.schema(
    [
        ("document", pa.string()),
        ("subscription", pa.string()),
        ("destination", pa.string()),
        ("message", pa.string()),
        ("position", pa.int32()),
    ]
)
PLACE = pa.struct([("error", pa.string()), ("line", pa.int32()), ("column", pa.int32()), ("source", pa.binary())])
REJECTED = pa.schema([("offset", pa.int64()), ("rejected", PLACE)])
Row = tuple[object, ...]


def row(document: str, to: str | None = "desk", subscription: str = "s", position: int = 1) -> Row:
    return (document, subscription, to, f"<m>{document} {subscription} {position}</m>", position)


def batch(*rows: Row, schema: pa.Schema = SCHEMA) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([dict(zip(schema.names, each, strict=True)) for each in rows], schema)


def writer(
    path: Path, batch_id: int | None = None, *, overwrite: bool = False, schema: pa.Schema = SCHEMA
) -> MessageWriter:
    options = {"path": str(path)} | ({} if batch_id is None else {"batchId": str(batch_id)})
    return MessageWriter(options, from_arrow_schema(schema), overwrite)


def save(path: Path, *tasks: list[Row], batch_id: int | None = None, overwrite: bool = False) -> None:
    """A batch write, or the same in a stream: each list of rows is a task."""
    made = writer(path, batch_id, overwrite=overwrite)
    made.commit([made.write(iter([batch(*rows)])) for rows in tasks])


def stream(path: Path, batch_id: int, *tasks: list[Row]) -> None:
    made = MessageStreamWriter({"path": str(path)}, from_arrow_schema(SCHEMA))
    made.commit([made.write(iter([batch(*rows)])) for rows in tasks], batch_id)


def _files(path: Path) -> list[Path]:
    return [file for file in path.rglob("*") if file.is_file() and "_weft" not in file.parts]


def delivered(path: Path) -> list[tuple[str, str]]:
    """Folder and content of all files but our records."""
    return sorted((str(file.parent.relative_to(path)), file.read_text()) for file in _files(path))


def names(path: Path) -> list[str]:
    return sorted(str(file.relative_to(path)) for file in _files(path))


def expected(*rows: Row) -> list[tuple[str, str]]:
    return sorted((str(to if to is not None else subscription), f"{text}\n") for _, subscription, to, text, _ in rows)


# What is written where


def test_each_message_is_a_file_in_the_folder_of_its_destination_or_subscription(tmp_path: Path) -> None:
    rows = [row("1"), row("1", position=2), row("2", to=None, subscription="sports"), row("3", to="öl")]

    save(tmp_path, rows[:2], [], rows[2:], batch_id=12)

    assert delivered(tmp_path) == expected(*rows[:3], ("3", "s", "%C3%B6l", "<m>3 s 1</m>", "1"))
    assert all(name.split("/")[1].startswith("0000000012-s") for name in names(tmp_path))
    assert list((tmp_path / "_weft" / "staging").iterdir()) == []


def test_the_name_of_a_file_comes_from_subscription_position_and_key_columns(tmp_path: Path) -> None:
    rows = [row("1"), row("2"), row("1", position=2), row("1", subscription="t")]

    save(tmp_path / "a", rows, batch_id=3)
    save(tmp_path / "b", *([each] for each in reversed(rows)), batch_id=3)

    assert names(tmp_path / "a") == names(tmp_path / "b")
    assert len(set(names(tmp_path / "a"))) == 4
    assert names(tmp_path / "a")[0].startswith("desk/0000000003-s-")


@pytest.mark.parametrize(
    "to", ["a/b", "..", "../..", "/etc", ".", "_weft", "", "a\x00b", "ä" * 300, "x" * 5000, " ", "%"]
)
def test_a_destination_is_one_folder_below_the_path_whatever_its_name(tmp_path: Path, to: str) -> None:
    path = tmp_path / "out"

    stream(path, 10**18, [row("1", to), row("2", to=None, subscription=to)])

    assert {file.name for file in tmp_path.iterdir()} == {"out"}
    assert {folder.name for folder in path.iterdir()} == {"_weft", quoted(to)}
    assert len(names(path)) == 2


@given(st.lists(st.text(min_size=0, max_size=300), unique=True, max_size=8))
@examples(100)
def test_no_two_destinations_share_a_folder(texts: list[str]) -> None:
    texts += [text + "x" * 300 for text in texts]

    folders = [quoted(text) for text in texts]

    assert len(set(folders)) == len(set(texts))
    assert all(0 < len(folder) < 200 and "/" not in folder and folder[0] not in "._" for folder in folders)


def test_a_rejected_document_is_its_source_and_a_file_that_tells_why(tmp_path: Path) -> None:
    rows = [(7, {"error": "no element", "line": 1, "column": 2, "source": b"<\xff"}), (8, None)]
    made = writer(tmp_path, 4, schema=REJECTED)

    made.commit([made.write(iter([batch(*rows, schema=REJECTED)]))])

    why, source = names(tmp_path)
    assert source == why.removesuffix("json") + "xml"
    assert source.startswith("0000000004-rejected-")
    assert (tmp_path / source).read_bytes() == b"<\xff"
    assert json.loads((tmp_path / why).read_text()) == {"offset": 7, "error": "no element", "line": 1, "column": 2}


def test_messages_and_rejected_documents_may_come_in_one_frame(tmp_path: Path) -> None:
    schema = pa.schema([*SCHEMA, ("rejected", PLACE)]).append(pa.field("key", pa.binary()))
    bad = ("2", None, None, None, None, {"error": "e", "line": 1, "column": 1, "source": b"<"}, b"k\xff")
    made = writer(tmp_path, 0, schema=schema)

    made.commit([made.write(iter([batch((*row("1"), None, b"k"), bad, schema=schema)]))])

    assert [text for folder, text in delivered(tmp_path) if folder == "desk"] == ["<m>1 s 1</m>\n"]
    (why,) = tmp_path.glob("*.json")
    assert json.loads(why.read_text()) == {"document": "2", "key": "k\\xff", "error": "e", "line": 1, "column": 1}


def test_columns_of_any_type_can_be_keys(tmp_path: Path) -> None:
    at = datetime(2024, 5, 1, 12, tzinfo=UTC)
    extra = [("at", pa.timestamp("us", "UTC")), ("tags", pa.list_(pa.string())), ("raw", pa.binary())]
    schema = pa.schema([*SCHEMA, *(pa.field(*each) for each in extra)])
    made = writer(tmp_path, 0, schema=schema)

    made.commit([made.write(iter([batch((*row("1"), at, ["a"], b"1"), (*row("1"), at, ["b"], b"1"), schema=schema)]))])

    assert len(names(tmp_path)) == 2
    assert not any(name.endswith("-2.xml") for name in names(tmp_path))


def test_many_thousand_messages_of_a_task_return_a_small_answer(tmp_path: Path) -> None:
    made = writer(tmp_path, 0)
    batches = [
        batch(*(row(str(n), to=f"desk {n % 7}") for n in range(start, start + 1000))) for start in range(0, 5000, 1000)
    ]

    staged = made.write(iter(batches))
    sent = pickle.dumps(staged)
    made.commit([pickle.loads(sent)])

    assert len(sent) < 50 * 5000
    assert len(names(tmp_path)) == 5000


# Once


def test_a_batch_that_comes_again_is_dropped(tmp_path: Path) -> None:
    stream(tmp_path, 0, [row("1")])
    stream(tmp_path, 1, [row("2")])

    stream(tmp_path, 0, [row("1")])
    save(tmp_path, [row("other")], batch_id=1)

    assert delivered(tmp_path) == expected(row("1"), row("2"))
    assert list((tmp_path / "_weft" / "staging").iterdir()) == []


def test_aborting_leaves_nothing(tmp_path: Path) -> None:
    made = writer(tmp_path, 0)
    streaming = MessageStreamWriter({"path": str(tmp_path)}, from_arrow_schema(SCHEMA))

    made.abort([made.write(iter([batch(row("1"))])), None])
    streaming.abort([None, streaming.write(iter([batch(row("1"))]))], 0)

    assert list((tmp_path / "_weft" / "staging").iterdir()) == []
    assert names(tmp_path) == []


def test_a_task_that_fails_leaves_nothing(tmp_path: Path) -> None:
    made = writer(tmp_path, 0)

    with pytest.raises(ConfigurationError, match=r"expected a subscription and a message.*'position': 4"):
        made.write(iter([batch(row("1"), ("1", "s", None, None, 4))]))

    assert list((tmp_path / "_weft" / "staging").iterdir()) == []


# Overwriting


def test_overwriting_removes_rejected_documents_too(tmp_path: Path) -> None:
    for number, source in enumerate([b"<", b">"]):
        made = writer(tmp_path, number, schema=REJECTED, overwrite=True)
        rejected = (1, {"error": "e", "line": 1, "column": 1, "source": source})
        made.commit([made.write(iter([batch(rejected, schema=REJECTED)]))])

    assert [name[:10] for name in names(tmp_path)] == ["0000000001"] * 2


# What is wrong


@pytest.mark.parametrize("uri", ["file:{}", "file://{}", "FILE:{}"])
def test_a_path_may_be_a_file_uri(tmp_path: Path, uri: str) -> None:
    made = MessageWriter({"path": uri.format(tmp_path / "out")}, from_arrow_schema(SCHEMA), False)

    made.commit([made.write(iter([batch(row("1"))]))])

    assert delivered(tmp_path / "out") == expected(row("1"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "path: expected the folder to write messages to, found none"),
        ({"path": "s3://bucket/x"}, "found 's3://bucket/x'; .* local or mounted folder; .* parquet or json"),
        ({"path": "hdfs:/x"}, "found 'hdfs:/x'; .* local or mounted"),
        ({"path": "{tmp}", "batchId": "-1"}, "batchId: expected a whole number from 0 on, found '-1'"),
        ({"path": "{tmp}", "batchId": "two"}, "batchId: .* found 'two'"),
        ({"path": "{tmp}/file/out"}, "can be written to, found .*file/out/_weft: Not a directory"),
    ],
)
def test_wrong_options_are_told(tmp_path: Path, options: dict[str, str], message: str) -> None:
    (tmp_path / "file").write_text("")
    options = {name: value.format(tmp=tmp_path) for name, value in options.items()}

    with pytest.raises(ConfigurationError, match=message):
        MessageWriter(options, from_arrow_schema(SCHEMA), False)


@pytest.mark.parametrize("columns", [["message"], ["subscription", "destination", "message"], ["rejected"], []])
def test_missing_columns_are_told(tmp_path: Path, columns: list[str]) -> None:
    schema = StructType([StructField(name, StringType()) for name in columns])

    with pytest.raises(ConfigurationError) as raised:
        MessageStreamWriter({"path": str(tmp_path)}, schema)

    assert "expected columns subscription: string, destination: string, message: string" in str(raised.value)
    assert f"found {schema.simpleString()}" in str(raised.value)


# In Spark


@pytest.fixture(scope="module")
def registered(spark: SparkSession) -> SparkSession:
    class SinkSource(DataSource):  # inside a function: so it is pickled by value, workers cannot import tests
        @classmethod
        def name(cls) -> str:
            return "weft_sink_test"

        def writer(self, schema: StructType, overwrite: bool) -> MessageWriter:
            return MessageWriter(self.options, schema, overwrite)

        def streamWriter(self, schema: StructType, overwrite: bool) -> MessageStreamWriter:  # noqa: ARG002, N802
            return MessageStreamWriter(self.options, schema)

    spark.dataSource.register(SinkSource)
    return spark


@pytest.mark.slow
def test_spark_writes_a_batch_once(registered: SparkSession, tmp_path: Path) -> None:
    rows = [row(str(n), to=f"desk {n % 3}") for n in range(20)]
    frame = registered.createDataFrame(rows, MESSAGES).repartition(3).write.format("weft_sink_test")
    path = f"file:{tmp_path / 'out'}"

    frame.mode("append").option("batchId", "12").save(path)
    first = names(tmp_path / "out")
    frame.mode("append").option("batchId", "12").save(path)
    assert names(tmp_path / "out") == first
    frame.mode("overwrite").option("batchId", "13").save(path)

    assert [name.replace("/0000000013", "/0000000012") for name in names(tmp_path / "out")] == first
    assert len(first) == 20
    with pytest.raises(Exception, match=r"expected columns subscription.*found struct<id:bigint>"):
        registered.range(3).write.format("weft_sink_test").mode("append").save(path)


@pytest.mark.slow
def test_spark_streams_each_message_once_though_it_replays(registered: SparkSession, tmp_path: Path) -> None:
    feed, out, checkpoint = tmp_path / "feed", tmp_path / "out", tmp_path / "checkpoint"
    feed.mkdir()

    def arrive(name: str, *rows: Row) -> None:
        text = "".join(json.dumps(dict(zip(SCHEMA.names, each, strict=True))) + "\n" for each in rows)
        (feed / name).write_text(text)

    def run() -> None:
        frame: DataFrame = registered.readStream.schema(MESSAGES).option("maxFilesPerTrigger", 1).json(str(feed))
        query = frame.writeStream.format("weft_sink_test").option("checkpointLocation", str(checkpoint))
        query.trigger(availableNow=True).start(str(out)).awaitTermination()

    arrive("1.json", row("1"), row("1"))
    arrive("2.json", row("2", to=None))
    run()
    first = names(out)
    (checkpoint / "commits" / "1").unlink()  # Spark was killed after our commit and before its own
    (checkpoint / "commits" / ".1.crc").unlink(missing_ok=True)
    run()
    assert names(out) == first
    arrive("3.json", row("3"))
    run()

    assert delivered(out) == expected(row("1"), row("1"), row("2", to=None), row("3"))
    assert sorted(record.name for record in (out / "_weft" / "commits").iterdir()) == ["0", "1", "2"]
