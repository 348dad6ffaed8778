"""Messages and rejected documents become files, each once, wherever a job is killed between two steps."""

import json
import os
import pickle
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StringType, StructField, StructType

from damage import damage, refused
from weft.delivery import outbox
from weft.delivery.outbox import Staged
from weft.durable import write_sealed
from weft.errors import ConfigurationError
from weft.spark.sink import MessageStreamWriter, MessageWriter, quoted

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


class Killed(BaseException):
    """Not an Exception: no code may handle the end of its process."""


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


@contextmanager
def kill_at(step: int) -> Iterator[None]:
    """Die before the call that changes something on the disk for the n-th time, counted from 0."""
    steps = count()

    def dying(call: Callable[..., object]) -> Callable[..., object]:
        def step_or_die(*args: object, **kwargs: object) -> object:
            if next(steps) >= step:
                raise Killed
            return call(*args, **kwargs)

        return step_or_die

    with ExitStack() as patches:
        for name in ("replace", "unlink", "mkdir", "fsync", "rmdir"):
            patches.enter_context(patch.object(os, name, dying(getattr(os, name))))
        yield


def killed_at(step: int, run: Callable[[], object]) -> bool:
    try:
        with kill_at(step):
            run()
    except Killed:
        return True
    return False


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


def test_the_same_document_twice_is_two_messages(tmp_path: Path) -> None:
    save(tmp_path, [row("1"), row("1")], [row("1")], batch_id=0)

    assert delivered(tmp_path) == expected(row("1"), row("1"), row("1"))
    assert [name.removesuffix(".xml")[-2:] for name in names(tmp_path)][:2] == ["-2", "-3"]


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
@settings(max_examples=100)
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


def test_a_write_without_a_batch_takes_the_next_number(tmp_path: Path) -> None:
    save(tmp_path, [row("1")])
    save(tmp_path, [row("1")], batch_id=7)

    save(tmp_path, [row("1")])

    assert [name[5:15] for name in names(tmp_path)] == ["0000000000", "0000000007", "0000000008"]


def test_appends_at_the_same_time_all_arrive(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: save(tmp_path, [row(str(n))]), range(24)))

    assert delivered(tmp_path) == expected(*(row(str(n)) for n in range(24)))


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


def test_what_killed_jobs_staged_is_removed_after_an_hour_but_never_what_is_being_committed(tmp_path: Path) -> None:
    made = writer(tmp_path, 0)
    old, fresh, ours = (made.write(iter([batch(row("1"))])) for _ in range(3))
    for task in (old, ours):
        os.utime(task.folder, (0, 0))

    made.commit([ours])

    assert [folder.name for folder in (tmp_path / "_weft" / "staging").iterdir()] == [fresh.folder.name]
    assert delivered(tmp_path) == expected(row("1"))


def test_records_stay_few_and_old_batches_stay_committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "KEPT", 3)
    for number in range(10):
        stream(tmp_path, number, [row(str(number))])

    for number in range(10):
        stream(tmp_path, number, [row("again")])
    save(tmp_path, [row("next")])

    assert delivered(tmp_path) == expected(*(row(str(number)) for number in range(10)), row("next"))
    assert sorted(record.name for record in (tmp_path / "_weft" / "commits").iterdir()) == ["10", "8", "9"]
    assert (tmp_path / "_weft" / "committed").read_text().startswith("weft delivered 1\n7")
    assert list((tmp_path / "_weft" / "intents").iterdir()) == []


# Killed


ROWS = [row("1"), row("1"), row("2", to="a/b"), row("3", to=None), row("3", position=2)]
DELIVERED = expected(
    row("1"), row("1"), ("2", "s", "a%2Fb", "<m>2 s 1</m>", "1"), row("3", to=None), row("3", position=2)
)


def test_a_batch_killed_at_any_step_and_replayed_is_there_once(tmp_path: Path) -> None:
    for step in count():
        path = tmp_path / str(step)
        stream(path, 0, [row("before")])

        killed = killed_at(step, partial(stream, path, 1, ROWS[:2], ROWS[2:]))
        stream(path, 1, ROWS[1:], ROWS[:1])
        stream(path, 2, [row("after")])

        assert delivered(path) == sorted(expected(row("before"), row("after")) + DELIVERED), step
        assert list((path / "_weft" / "intents").iterdir()) == []
        if not killed:
            break
    assert step > 20  # it went through all steps


@pytest.mark.parametrize("batch_id", [None, 1, 2])
def test_an_overwrite_killed_at_any_step_and_run_again_leaves_only_the_new(
    tmp_path: Path, batch_id: int | None
) -> None:
    for step in count():
        path = tmp_path / str(step)
        stream(path, 0, [row("before"), row("1")])
        stream(path, 1, [row("before", to="old"), row("1")])

        killed = killed_at(step, partial(save, path, ROWS[:2], ROWS[2:], batch_id=batch_id, overwrite=True))
        save(path, ROWS, batch_id=batch_id, overwrite=True)

        assert delivered(path) == DELIVERED, step
        if not killed:
            break
    assert step > 20


def test_an_append_killed_at_any_step_and_run_again_without_a_batch_is_there_once_or_as_a_second_batch(
    tmp_path: Path,
) -> None:
    for step in count():
        path = tmp_path / str(step)
        save(path, [row("before")])

        killed = killed_at(step, partial(save, path, ROWS))
        committed = (path / "_weft" / "commits" / "1").exists()
        save(path, ROWS)

        assert delivered(path) == sorted(expected(row("before")) + DELIVERED * (2 if committed else 1)), step
        if not killed:
            break


def test_an_append_after_a_killed_overwrite_of_the_same_batch_is_not_taken_for_delivered(tmp_path: Path) -> None:
    save(tmp_path, [row("1")], batch_id=5)
    with patch.object(outbox.Outbox, "_remove_earlier", side_effect=Killed), pytest.raises(Killed):
        save(tmp_path, [row("1"), row("2")], batch_id=5, overwrite=True)

    save(tmp_path, [row("3")], batch_id=5)

    assert delivered(tmp_path) == expected(row("3"))


def test_a_replay_that_differs_leaves_nothing_of_the_killed_attempt(tmp_path: Path) -> None:
    for step in count():
        path = tmp_path / str(step)

        killed = killed_at(step, partial(stream, path, 0, ROWS))
        committed = (path / "_weft" / "commits" / "0").exists()
        stream(path, 0, [row("other")])

        assert delivered(path) == (DELIVERED if committed else expected(row("other"))), step
        if not killed:
            break


def test_an_append_after_a_killed_overwrite_leaves_nothing_of_the_killed_attempt(tmp_path: Path) -> None:
    old, new, more = (expected(row(name)) for name in ("old", "new", "more"))
    for step in count():
        path = tmp_path / str(step)
        save(path, [row("old")], batch_id=5)

        killed = killed_at(step, partial(save, path, [row("new")], overwrite=True))
        committed = (path / "_weft" / "commits" / "6").exists()
        save(path, [row("more")])

        assert delivered(path) in ([sorted(new + more)] if committed else [sorted(old + more), more]), step
        if not killed:
            break
    assert delivered(path) == sorted(new + more)


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 60), max_size=3), st.lists(st.sampled_from(ROWS), max_size=6)),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=60)
def test_any_number_of_kills_in_any_batches_leaves_each_message_once(
    batches: list[tuple[list[int], list[Row]]],
) -> None:
    with TemporaryDirectory() as folder, patch.object(outbox, "KEPT", 2):
        path = Path(folder)
        for number, (steps, rows) in enumerate(batches):
            for step in steps:
                killed_at(step, lambda: stream(path, number, rows[:2], rows[2:]))  # noqa: B023
            stream(path, number, rows[::-1])
            assert len(list((path / "_weft" / "commits").iterdir())) <= 2

        found = Counter(text for _, text in delivered(path))
        assert found == Counter(f"{each[3]}\n" for _, rows in batches for each in rows)


# Overwriting


def test_overwriting_removes_files_of_all_batches_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outbox, "KEPT", 1)
    for number in range(3):
        stream(tmp_path, number, [row(str(number)), row("x", to="old")])
    mine = [
        "desk/notes.xml",
        "desk/0000000001-s.xml",
        "0000000001-report.xml",
        ".hidden/0000000001-s-0123456789abcdef.xml",
    ]
    for name in mine:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    stream(tmp_path / "another", 0, [row("another")])

    save(tmp_path, [row("new")], overwrite=True)

    kept = [name for name in names(tmp_path) if not name.startswith("another/")]
    assert set(mine) <= set(kept)
    assert len(kept) == len(mine) + 1
    assert delivered(tmp_path / "another") == expected(row("another"))
    assert [record.name for record in (tmp_path / "_weft" / "commits").iterdir()] == ["3"]


def test_after_overwriting_a_folder_is_as_new(tmp_path: Path) -> None:
    for _ in range(2):
        save(tmp_path, [row("1")], batch_id=1, overwrite=True)
        save(tmp_path, [row("2")], batch_id=2)

    assert delivered(tmp_path) == expected(row("1"), row("2"))


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


def test_a_folder_that_is_not_shared_between_machines_is_told(tmp_path: Path) -> None:
    made = writer(tmp_path, 0)
    staged = made.write(iter([batch(row("1"))]))
    shutil.rmtree(staged.folder)

    with pytest.raises(ConfigurationError, match="expected a folder that all machines share"):
        made.commit([staged])

    assert isinstance(staged, Staged)
    assert list((tmp_path / "_weft" / "intents").iterdir()) == []


# Damaged


def everything(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()}


def half_delivered(path: Path) -> None:
    """A batch whose commit was killed after all of its files were moved into place, beside batches that are whole."""
    for number in range(4):
        stream(path, number, [row(str(number), to="news")])
    with patch.object(Path, "replace", killing_the_record(Path.replace)), pytest.raises(Killed):
        stream(path, 4, [row("4", to="news"), row("5", to="news")])


def killing_the_record(call: Callable[[Path, Path], Path]) -> Callable[[Path, Path], Path]:
    def replace(self: Path, target: Path) -> Path:
        if "commits" in Path(target).parts:
            raise Killed
        return call(self, target)

    return replace


@pytest.mark.parametrize("record", ["intents/4", "commits/3", "committed"])
@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_record_is_refused_or_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str, seed: int
) -> None:
    monkeypatch.setattr(outbox, "KEPT", 2)
    chance = random.Random(seed)
    whole, out = tmp_path / "whole", tmp_path / "n" / "out"
    half_delivered(whole)
    again = [(1, [row("1", to="news")]), (3, [row("3", to="news")]), (4, [row("4", to="news"), row("6", to="news")])]
    shutil.copytree(whole, tmp_path / "expected")
    for number, rows in again:
        stream(tmp_path / "expected", number, rows)
    (tmp_path / "n").mkdir()
    (tmp_path / "n" / "mine.xml").write_text("mine")

    for _ in range(60):
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(whole, out)
        file = out / "_weft" / record
        file.write_bytes(damage(file.read_bytes(), chance))
        done = 0
        for number, rows in again:
            with refused(file, "remove it, and what it stands for is delivered anew"):
                stream(out, number, rows)
                done += 1
        if done == len(again):
            assert delivered(out) == delivered(tmp_path / "expected")
        else:
            assert set(delivered(out)) >= set(delivered(whole)) & set(delivered(tmp_path / "expected"))
        assert {name for name in everything(tmp_path / "n") if not name.startswith("out/")} == {"mine.xml"}


OUTSIDE = ["../mine.xml", "/etc/passwd", "a/../../mine.xml", "..", "_weft/committed", "_weft/0000000000-s-{}.xml", 7]
OUTSIDE += ["../0000000000-s-{}.xml", "news/../0000000000-s-{}.xml", "./0000000000-s-{}.xml", "0000000000-s-{}.xml"]
OUTSIDE += ["news/0000000001-s-{}.xml", "a/b/0000000000-s-{}.xml", "news/0000000000-s-\0{}.xml", None, {}]


@pytest.mark.parametrize("name", OUTSIDE, ids=repr)
def test_a_name_that_is_not_a_file_of_the_batch_is_refused_though_the_checksum_fits(
    tmp_path: Path, name: object
) -> None:
    path = tmp_path / "out"
    stream(path, 3, [row("1")])
    shown = name.format("0" * 16) if isinstance(name, str) else name
    names_of_the_batch = [shown] if name is not None else shown
    write_sealed(path / "_weft" / "intents" / "0", outbox._NAMES, json.dumps(names_of_the_batch))
    (tmp_path / "mine.xml").write_text("mine")
    before = everything(tmp_path)

    with pytest.raises(ConfigurationError, match=r"intents/0: expected names of files of batch 0, found "):
        stream(path, 0, [row("1")])

    after = everything(tmp_path)
    assert {key: text for key, text in after.items() if "/staging/" not in key} == {**before, "out/_weft/lock": b""}


@pytest.mark.parametrize("link", ["desk", "_weft", "_weft/staging", "_weft/intents", "_weft/commits"])
def test_a_folder_that_is_a_link_is_refused_and_nothing_behind_it_is_touched(tmp_path: Path, link: str) -> None:
    path, outside = tmp_path / "out", tmp_path / "outside"
    stream(path, 0, [row("1")])
    (path / link).rename(outside)
    (path / link).symlink_to(outside)
    before = everything(outside)

    for run in (partial(stream, path, 1, [row("2")]), partial(save, path, [row("3")], overwrite=True)):
        with pytest.raises(ConfigurationError, match=f"{link}: expected a folder, found a link"):
            run()

    assert everything(outside) == before


def test_overwriting_leaves_what_is_behind_a_link(tmp_path: Path) -> None:
    path, outside = tmp_path / "out", tmp_path / "outside"
    stream(path, 0, [row("1")])
    (path / "desk").rename(outside)
    (path / "desk").symlink_to(outside)

    save(path, [row("2", to="other")], overwrite=True)

    assert len(everything(outside)) == 1


def test_a_lock_that_is_a_link_leads_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "out"
    stream(path, 0, [row("1")])
    (tmp_path / "mine").write_text("mine")
    (path / "_weft" / "lock").unlink()
    (path / "_weft" / "lock").symlink_to(tmp_path / "mine")

    with pytest.raises(OSError, match="symbolic links"):
        stream(path, 1, [row("2")])

    assert (tmp_path / "mine").read_text() == "mine"


def test_a_batch_that_is_taken_back_is_delivered_anew(tmp_path: Path) -> None:
    stream(tmp_path, 0, [row("1")])
    stream(tmp_path, 1, [row("2"), row("3")])

    outbox.Outbox(tmp_path).take_back(1)
    stream(tmp_path, 1, [row("3"), row("4")])

    assert delivered(tmp_path) == expected(row("1"), row("3"), row("4"))


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
