"""A batch of rows in, a folder or a Delta table with them out, once however often the batch runs."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame

from weft.delivery.formats import delta_tables
from weft.delivery.job import Job
from weft.delivery.output import MESSAGES, REJECTED, read_record

_TIMESTAMPS = "spark.sql.parquet.outputTimestampType"  # as Delta has them


def write_batch(frame: DataFrame, job: Job, name: str, batch: int) -> None:
    """Write the rows of a batch; those of a Delta table count from `finish_batch` on."""
    folder = job.output.absolute() / name
    match job.format:
        case "files":
            frame.write.format("weft").mode("append").option("batchId", str(batch)).save(str(folder))
        case "delta":
            _write_for_delta(frame, folder, _run(job), batch)
        case _:
            frame.write.format(job.format).mode("overwrite").save(str(folder / f"batch={batch}"))


def finish_batch(job: Job, batch: int) -> None:
    """What a batch has written is there now, for all who read."""
    if job.format == "delta" and job.target is None:
        for name in (MESSAGES, REJECTED):
            delta_tables().commit(job.output.absolute() / name, _run(job), batch)


def check_format(job: Job) -> None:
    """Raise ConfigurationError if what a format needs is not installed."""
    if job.format == "delta":
        delta_tables()


def _write_for_delta(frame: DataFrame, folder: Path, run: str, batch: int) -> None:
    """Files in the table's folder, which nobody reads before they are committed; a batch that was is only counted."""
    if delta_tables().is_committed(folder, run, batch):
        frame.write.format("noop").mode("overwrite").save()
        return
    conf = frame.sparkSession.conf
    before = conf.get(_TIMESTAMPS)
    conf.set(_TIMESTAMPS, "TIMESTAMP_MICROS")
    try:
        frame.write.format("parquet").mode("overwrite").save(str(folder / f"batch={batch}"))
    finally:
        if before is not None:
            conf.set(_TIMESTAMPS, before)


def _run(job: Job) -> str:
    """What tells the batches of this run from those of others in a table: its checkpoint's name."""
    record = read_record(job.output)
    return f"weft-{record.stream or 'batch'}" if record is not None else "weft"
