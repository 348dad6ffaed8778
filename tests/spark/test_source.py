"""The data source `weft`: its options, how files become partitions and rows, and reading with Spark."""

import gzip
import io
import os
import pickle
import tarfile
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StringType, StructField, StructType

from weft.errors import ConfigurationError
from weft.inputs.files import File, Piece
from weft.spark.partitions import ReadOptions, partition_files, read_options, weight
from weft.spark.paths import local_path
from weft.spark.source import SCHEMA, ArrivalReader, FolderReader, Offset, WeftSource

pytestmark = pytest.mark.spark
KB, MB = 1024, 1024 * 1024


def put(file: Path, data: bytes | str = "<a/>", time: float | None = None) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())
    if time is not None:
        os.utime(file, (time, time))


def options(root: Path, **given: object) -> ReadOptions:
    return read_options({"path": str(root), **{name: str(value) for name, value in given.items()}})


def batches(root: Path, **given: object) -> list[pa.RecordBatch]:
    reader = pickle.loads(pickle.dumps(FolderReader(options(root, **given))))
    parts = pickle.loads(pickle.dumps(reader.partitions()))
    return [batch for part in parts for batch in reader.read(part)]


# --- options


def test_limits_are_kept_where_archives_are_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for number in range(3):
            archive.writestr(f"{number}.xml", "<a/>")

    rows = [row for batch in batches(tmp_path, limits="max_members=2") for row in batch.to_pylist()]

    assert [row["error"]["reason"] for row in rows if row["error"]] == ["broken archive: more than 2 members"]
    with pytest.raises(ConfigurationError, match="limit: expected NAME=VALUE with one of max_bytes"):
        options(tmp_path, limits="max_member=2")


@pytest.mark.parametrize("given", ["/a/b c", "file:/a/b c", "file:///a/b c", "FILE:/a/b c"])
def test_a_path_may_have_file_before_it(given: str) -> None:
    assert local_path(given) == Path("/a/b c")


def test_a_relative_path_is_made_absolute_where_the_query_is_planned() -> None:
    assert local_path("a:b") == Path.cwd() / "a:b"


@pytest.mark.parametrize("given", ["", "s3://bucket/a", "hdfs:/a", "file://host/a", "file:"])
def test_another_file_system_is_refused(given: str) -> None:
    with pytest.raises(ConfigurationError, match="expected a local path"):
        local_path(given)


def test_options_are_taken_in_any_case_and_those_of_a_table_are_left_alone() -> None:
    found = read_options(
        {
            "PATH": "file:/feed",
            "rowtag": "item",
            "MaxFilesPerTrigger": "7",
            "owner": "me",
            "provider": "weft",
            "option.rowtag": "item",
        }
    )

    assert (found.root, found.row_tag, found.max_files) == (Path("/feed"), "item", 7)
    assert found.log == Path("/feed/_weft/arrivals.jsonl")
    assert found.stream is None


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("rowtags", "item", "option rowtags: expected one of path, rowTag, stream, maxFilesPerTrigger"),
        ("maxFilesPerTrigger", "0", "option maxFilesPerTrigger: expected a whole number from 1 on, found '0'"),
        ("maxPartitionBytes", "16m", "option maxPartitionBytes: expected a whole number"),
        ("minPartitions", "-1", "option minPartitions: expected a whole number"),
        ("rowTag", "a b", "row tag: expected the name of an element"),
        ("path", "", "option path: expected a folder or a file"),
        ("log", "s3://bucket/log", "expected a local path"),
    ],
)
def test_a_wrong_option_is_named(name: str, value: str, told: str) -> None:
    with pytest.raises(ConfigurationError) as error:
        read_options({"path": "/feed", name: value})

    assert told in str(error.value)


def test_another_schema_is_refused(tmp_path: Path) -> None:
    source = WeftSource({"path": str(tmp_path)})

    with pytest.raises(ConfigurationError, match="schema: expected struct<document:string"):
        source.reader(StructType([StructField("value", StringType())]))


# --- partitions


def files(*sizes: int) -> list[File]:
    return [File(f"/feed/{at:05}.xml", f"{at:05}.xml", "", 0.0, size) for at, size in enumerate(sizes)]


def weights(parts: list[list[Piece]]) -> list[int]:
    return [sum(weight(piece) for piece in part) for part in parts]


def test_one_huge_file_and_thousands_of_tiny_ones_keep_all_cores_busy() -> None:
    parts = partition_files(files(100 * MB, *[KB] * 5_000), options(Path("/feed"), minPartitions=4))

    assert [len(parts[0]), len(parts) > 4] == [1, True]  # what takes longest begins first, and alone
    rest = weights(parts[1:])
    assert max(rest) - min(rest) <= 17 * KB
    assert Counter(piece.file.id for part in parts for piece in part) == Counter(f"{at:05}.xml" for at in range(5_001))


def test_few_small_files_still_make_a_partition_for_each_core() -> None:
    parts = partition_files(files(*[10] * 100), options(Path("/feed"), minPartitions=4))

    assert [len(part) for part in parts] == [25] * 4


def test_there_are_never_more_partitions_than_pieces_and_none_is_empty() -> None:
    assert len(partition_files(files(1, 2), options(Path("/feed"), minPartitions=8))) == 2
    assert partition_files([], options(Path("/feed"), minPartitions=8)) == []


def test_much_data_makes_more_partitions_than_cores() -> None:
    parts = partition_files(files(*[MB] * 64), options(Path("/feed"), minPartitions=2, maxPartitionBytes=8 * MB))

    assert len(parts) == 9  # opening costs a little too
    assert max(weights(parts)) <= 1.2 * 8 * MB


def test_inside_a_partition_files_stay_in_order() -> None:
    parts = partition_files(files(3, 1, 9, 2, 8, 7, 5), options(Path("/feed"), minPartitions=2))

    assert all([piece.file.id for piece in part] == sorted(piece.file.id for piece in part) for part in parts)


# --- rows


def test_a_batch_has_few_documents_and_few_bytes(tmp_path: Path) -> None:
    for number in range(100):
        put(tmp_path / f"{number:03}.xml")
    large = "<a>" + "x" * (3 * MB) + "</a>"
    for number in range(100, 104):
        put(tmp_path / f"{number}.xml", large)
    put(tmp_path / "huge.xml", large * 3)

    found = batches(tmp_path, minPartitions=1, maxPartitionBytes=1 << 40)

    assert [batch.num_rows for batch in found] == [64, 38, 2, 1]


def test_a_row_has_the_file_s_time_and_the_stream_of_the_option(tmp_path: Path) -> None:
    put(tmp_path / "a.xml", "<a>é</a>", time=1_700_000_000.25)

    (row,) = batches(tmp_path, stream="news")[0].to_pylist()

    assert row["value"] == "<a>é</a>".encode()
    assert row["timestamp"] == datetime.fromtimestamp(1_700_000_000.25, UTC)
    assert (row["stream"], row["error"]) == ("news", None)


def test_a_file_whose_name_is_no_text_is_read_all_the_same(tmp_path: Path) -> None:
    put(tmp_path / os.fsdecode(b"\xff.xml"))

    (row,) = batches(tmp_path)[0].to_pylist()

    assert (row["value"], row["document"]) == (b"<a/>", "\ufffd.xml")


def test_a_file_that_has_vanished_is_a_row_without_a_time(tmp_path: Path) -> None:
    odd = tmp_path / "news" / os.fsdecode(b"\xff.xml")
    put(odd)
    reader = ArrivalReader(options(tmp_path))
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    odd.unlink()

    (part,) = ArrivalReader(options(tmp_path)).partitions(reader.initialOffset(), end)
    (row,) = next(reader.read(part)).to_pylist()

    assert (row["stream"], row["timestamp"], row["value"], row["error"]["line"]) == ("news", None, None, 1)


def test_an_empty_folder_has_no_rows(tmp_path: Path) -> None:
    reader = FolderReader(options(tmp_path))

    assert reader.partitions() == []
    assert list(reader.read(InputPartition(None))) == []  # what Spark makes of no partitions


# --- offsets


def test_a_micro_batch_takes_as_many_files_as_its_limit_allows(tmp_path: Path) -> None:
    for number in range(5):
        put(tmp_path / f"{number}.xml")
    reader = ArrivalReader(options(tmp_path, maxFilesPerTrigger=2))

    assert reader.getDefaultReadLimit() == ReadMaxFiles(2)
    assert reader.reportLatestOffset() is None
    start = reader.initialOffset()
    two = reader.latestOffset(start, ReadMaxFiles(2))
    four = reader.latestOffset(two, ReadMaxFiles(2))
    five = reader.latestOffset(four, ReadMaxFiles(2))
    assert [offset["files"] for offset in (start, two, four, five)] == [0, 2, 4, 5]
    assert reader.latestOffset(two, ReadAllAvailable()) == five
    assert reader.reportLatestOffset() == five
    assert reader.partitions(five, five) == []


def test_available_now_ends_where_it_began_to_look(tmp_path: Path) -> None:
    put(tmp_path / "a.xml")
    reader = ArrivalReader(options(tmp_path))
    reader.prepareForTriggerAvailableNow()

    put(tmp_path / "b.xml")

    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    assert end["files"] == 1
    assert reader.latestOffset(end, ReadAllAvailable()) == end


def test_a_checkpoint_whose_log_is_lost_does_not_wait_for_ever(tmp_path: Path) -> None:
    put(tmp_path / "a.xml")

    with pytest.raises(ConfigurationError, match="not the log that the checkpoint was made with"):
        ArrivalReader(options(tmp_path)).latestOffset({"files": 3, "mark": "0" * 16}, ReadAllAvailable())


def test_an_offset_is_for_the_log_that_it_was_made_with(tmp_path: Path) -> None:
    for name in ("a.xml", "b.xml"):
        put(tmp_path / name)
    reader = ArrivalReader(options(tmp_path))
    start = reader.initialOffset()
    end = reader.latestOffset(start, ReadAllAvailable())

    wrongs: list[Offset] = [{**end, "mark": "0" * 16}, {"files": 2}, {**end, "files": "2"}, {**end, "files": -1}]
    for wrong in wrongs:
        with pytest.raises(ConfigurationError, match=r"made with|expected an offset of files and their mark"):
            ArrivalReader(options(tmp_path)).partitions(start, wrong)
        with pytest.raises(ConfigurationError, match=r"made with|expected an offset of files and their mark"):
            ArrivalReader(options(tmp_path)).latestOffset(wrong, ReadAllAvailable())


# --- what changes while it is read


def test_a_folder_that_vanishes_ends_the_reading_instead_of_rejecting_all(tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    put(inbox / "a.xml")
    reader = FolderReader(options(inbox))
    (part,) = reader.partitions()
    inbox.rename(tmp_path / "elsewhere")

    with pytest.raises(ConfigurationError, match="no such file or folder of documents any more; bring it back"):
        list(reader.read(part))

    (tmp_path / "elsewhere").rename(inbox)
    assert [row["value"] for row in next(reader.read(part)).to_pylist()] == [b"<a/>"]


ROWS_OF_A_FILE = "".join(f"<row n='{number}'>{'x' * 4_000}</row>" for number in range(1_000))


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_file_that_is_read_in_parts_and_changes_is_told(tmp_path: Path, when: str) -> None:
    file = tmp_path / "large.xml"
    put(file, f"<rows>{ROWS_OF_A_FILE}</rows>".encode())
    reader = FolderReader(options(tmp_path, rowTag="row", minPartitions=4))
    parts = reader.partitions()
    assert len(parts) > 1

    def change() -> None:
        put(file, f"<rows><row/>{ROWS_OF_A_FILE}</rows>".encode())

    if when == "before":
        change()
    read = reader.read(parts[0])
    rows = next(read).to_pylist()
    change()
    rows += [row for batch in read for row in batch.to_pylist()]

    told = [row["error"]["reason"] for row in rows if row["error"] is not None]
    assert "changed while it was read in parts" in told
    assert (when == "before") == (len(rows) == 1)


def test_whatever_is_wrong_with_a_file_is_told_of_that_file_alone(tmp_path: Path) -> None:
    for name in ("a.xml", "b.xml", "c.xml"):
        put(tmp_path / name)
    os.utime(tmp_path / "b.xml", (2**40, 2**40))  # no document can be dated so

    rows = [row for batch in batches(tmp_path) for row in batch.to_pylist()]

    found = {row["document"]: row for row in rows}
    assert [found[name]["value"] for name in ("a.xml", "c.xml")] == [b"<a/>"] * 2
    assert found["b.xml"]["error"]["reason"].startswith("ConfigurationError: timestamp:")
    assert found["b.xml"]["timestamp"] is None


# --- with Spark


def read(spark: SparkSession, path: Path | str, **given: Any) -> DataFrame:
    return spark.read.format("weft").options(**given).load(str(path))


def tar(*members: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in members:
            entry = tarfile.TarInfo(name)
            entry.size = 4
            archive.addfile(entry, io.BytesIO(b"<a/>"))
    return file.getvalue()


def packed(*members: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in members:
            archive.writestr(name, "<a/>")
    return file.getvalue()


@pytest.mark.slow
def test_spark_reads_plain_and_packed_files_of_all_folders(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "one.xml", time=1_700_000_000)
    put(tmp_path / "deep" / "er" / "two.xml.gz", gzip.compress(b"<a/>"))
    put(tmp_path / "three.zip", packed("3.xml", "4.xml"))
    put(tmp_path / "four.tar", tar("5.xml", "6.xml", "7.xml"))
    put(tmp_path / "_weft" / "left.xml", "<out/>")

    frame = read(spark, f"file:{tmp_path}")
    rows = frame.collect()

    assert frame.schema == SCHEMA
    assert [bytes(row.value) for row in rows] == [b"<a/>"] * 7
    assert len({row.document for row in rows}) == 7
    assert [row.error for row in rows] == [None] * 7
    assert [row.timestamp.timestamp() for row in rows if row.document.endswith("one.xml")] == [1_700_000_000]


@pytest.mark.slow
def test_spark_reads_the_rows_of_a_large_file_in_several_partitions(spark: SparkSession, tmp_path: Path) -> None:
    items = "".join(f"<item><n>{number}</n></item>\n" for number in range(2_000))
    put(tmp_path / "all.xml", f"<items>{items}</items>")

    frame = read(spark, tmp_path / "all.xml", rowTag="item", maxPartitionBytes=8 * KB)

    assert frame.rdd.getNumPartitions() >= 6
    assert frame.where("error is null").count() == 2_000
    assert frame.selectExpr("count(distinct document)", "count(distinct value)").first() == (2_000, 2_000)


@pytest.mark.slow
def test_what_cannot_be_read_is_a_row_that_tells_why(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "good.xml")
    put(tmp_path / "bad.xml.gz", b"this is not gzip")

    good, bad = read(spark, tmp_path).orderBy("value", ascending=False).collect()

    assert (bytes(good.value), good.error) == (b"<a/>", None)
    assert (bad.value, "bad.xml.gz" in bad.document, bad.error.line, bad.error.column) == (None, True, 1, 1)
    assert bad.error.reason


@pytest.mark.slow
def test_load_tells_what_is_wrong_and_an_empty_folder_is_no_error(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(PySparkException, match="option rowtags: expected one of path, rowTag"):
        read(spark, tmp_path, rowTags="item")
    with pytest.raises(PySparkException, match="missing"):
        read(spark, tmp_path / "missing").collect()

    assert read(spark, tmp_path).collect() == []


@pytest.mark.slow
def test_a_temporary_view_reads_too(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "a.xml")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW feed USING weft OPTIONS (path '{tmp_path}', stream 'news')")

    assert spark.sql("SELECT stream, CAST(value AS string) FROM feed").collect() == [("news", "<a/>")]


@pytest.mark.slow
def test_messages_are_written_by_the_same_format(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("SELECT 'd' document, 's' subscription, 'desk' destination, '<m/>' message, 1 position")

    frame.write.format("weft").mode("append").save(f"file:{tmp_path}")

    assert [file.read_text().strip() for file in (tmp_path / "desk").glob("*.xml")] == ["<m/>"]


class Stream:
    """A query on a folder whose micro-batches are kept; starting it again goes on from its checkpoint."""

    def __init__(self, spark: SparkSession, folder: Path, checkpoint: Path, **given: Any) -> None:
        self._spark, self._folder, self._checkpoint, self._given = spark, folder, checkpoint, given
        self.batches: list[list[str]] = []

    def run(self, **trigger: Any) -> StreamingQuery:
        frame = self._spark.readStream.format("weft").options(**self._given).load(str(self._folder))
        writer = frame.writeStream.foreachBatch(self._keep).option("checkpointLocation", str(self._checkpoint))
        return writer.trigger(**trigger).start()

    def finish(self) -> list[list[str]]:
        """What a query on all that is there reads."""
        self.batches.clear()
        query = self.run(availableNow=True)
        assert query.awaitTermination(120)
        return list(self.batches)

    def _keep(self, frame: DataFrame, _: int) -> None:
        self.batches.append(sorted(Path(row.document).name for row in frame.select("document").collect()))


@pytest.mark.slow
def test_a_stream_reads_each_file_once_over_restarts(spark: SparkSession, tmp_path: Path) -> None:
    feed = tmp_path / "feed"
    for number in range(7):
        put(feed / f"{number}.xml", time=1_700_000_000 + number)
    stream = Stream(spark, feed, tmp_path / "checkpoint", maxFilesPerTrigger=2)

    query = stream.run(processingTime="0 seconds")
    query.processAllAvailable()
    query.stop()
    assert stream.batches == [["0.xml", "1.xml"], ["2.xml", "3.xml"], ["4.xml", "5.xml"], ["6.xml"]]

    put(feed / "new.xml")
    put(feed / "old.xml", time=1_000_000_000)
    put(feed / "newest.xml", time=2_000_000_000)
    assert stream.finish() == [["new.xml", "old.xml"], ["newest.xml"]]
    assert stream.finish() == []


@pytest.mark.slow
def test_a_micro_batch_that_was_not_finished_is_read_again_as_it_was(spark: SparkSession, tmp_path: Path) -> None:
    feed, checkpoint = tmp_path / "feed", tmp_path / "checkpoint"
    for name in ("a.xml", "b.xml"):
        put(feed / name)
    stream = Stream(spark, feed, checkpoint)
    assert stream.finish() == [["a.xml", "b.xml"]]
    for commit in (checkpoint / "commits").glob("*0*"):  # Spark was killed before it wrote this
        commit.unlink()

    put(feed / "0.xml", time=1_000_000_000)

    assert stream.finish() == [["a.xml", "b.xml"], ["0.xml"]]


@pytest.mark.slow
def test_a_new_checkpoint_reads_all_files_in_the_order_of_the_log(spark: SparkSession, tmp_path: Path) -> None:
    feed = tmp_path / "feed"
    for name, time in (("b.xml", 2_000_000_000), ("a.xml", 1_000_000_000)):
        put(feed / name, time=time)
        assert Stream(spark, feed, tmp_path / "first").finish() == [[name]]
    (feed / "b.xml").unlink()

    assert Stream(spark, feed, tmp_path / "second", maxFilesPerTrigger=1).finish() == [["b.xml"], ["a.xml"]]


@pytest.mark.slow
def test_two_streams_share_a_log_that_lies_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    feed, log = tmp_path / "feed", tmp_path / "logs" / "feed.jsonl"
    for number in range(3):
        put(feed / f"{number}.xml")
    streams = [Stream(spark, feed, tmp_path / f"checkpoint-{at}", log=log) for at in range(2)]

    queries = [stream.run(availableNow=True) for stream in streams]
    assert all(query.awaitTermination(120) for query in queries)

    assert [stream.batches for stream in streams] == [[["0.xml", "1.xml", "2.xml"]]] * 2
    assert log.read_text().count("\n") == 1 + 3  # a title, and a line for each file
    assert not (feed / "_weft").exists()
