"""Messages in Delta tables: one transaction a batch, and a batch that runs again is there once."""

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from weft.delivery.results import read_results
from weft.spark import Job, run_batch, run_stream

pytestmark = pytest.mark.slow


def write(folder: Path, *names: str) -> None:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.xml").write_text(f"<o id='{name}'><t>1.5</t></o>" if name != "bad" else "<o>")


def subscribe(file: Path, *queries: dict[str, object]) -> None:
    other = file.with_name("next")
    other.write_text("".join(json.dumps(query) + "\n" for query in queries))
    other.replace(file)


def test_a_batch_is_one_transaction_with_its_types(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "in", "1", "2", "bad")
    subscribe(tmp_path / "s.jsonl", {"id": "o", "query": "/o", "columns": {"id": "@id", "t": "decimal(t)"}})
    job = Job(tmp_path / "s.jsonl", tmp_path / "in", tmp_path / "out", format="delta")

    run_batch(spark, job)

    table = DeltaTable(tmp_path / "out" / "messages")
    rows = table.to_pyarrow_table().to_pylist()
    assert table.version() == 0
    assert sorted(row["columns"]["id"] for row in rows) == ["1", "2"]
    assert {str(row["columns"]["t"]) for row in rows} == {"1.500000000000000000"}
    assert sorted(row["document"] for row in read_results(tmp_path / "out", "o")) == ["1.xml", "2.xml"]
    assert [row["document"] for row in read_results(tmp_path / "out", only_rejected=True)] == ["bad.xml"]


def test_a_stream_that_runs_a_batch_again_has_its_messages_once(spark: SparkSession, tmp_path: Path) -> None:
    subscribe(tmp_path / "s.jsonl", {"id": "o", "query": "/o"})
    job = Job(tmp_path / "s.jsonl", tmp_path / "in", tmp_path / "out", format="delta")
    messages = tmp_path / "out" / "messages"

    def run() -> None:
        with run_stream(spark, job, available_now=True) as query:
            query.awaitTermination()

    write(tmp_path / "in", "1", "2")
    run()
    write(tmp_path / "in", "3")
    subscribe(tmp_path / "s.jsonl", {"id": "o", "query": "/o", "columns": {"id": "@id"}})
    run()
    for file in (tmp_path / "out" / "checkpoint" / "commits").glob("*1*"):
        file.unlink()  # as if it had been killed behind the transaction, before the end of the batch
    before = DeltaTable(messages).file_uris()
    run()

    table = DeltaTable(messages)
    assert table.file_uris() == before
    assert sorted(row["document"] for row in table.to_pyarrow_table().to_pylist()) == ["1.xml", "2.xml", "3.xml"]
    assert sorted(row["document"] for row in read_results(tmp_path / "out")) == ["1.xml", "2.xml", "3.xml"]
    assert {entry.get("weft.batch") for entry in table.history()} - {None} == {"0", "1"}
