"""A file larger than any memory it is given: read row by row, in pieces, by workers that stay small."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from weft_process import kill_all, peak_memory, start_weft

from weft.delivery.results import read_results

pytestmark = pytest.mark.slow
KB, MB, GB = 1024, 1024**2, 1024**3
ROW = 100 * KB
MOST = 400 * MB  # what a worker may take; the file is more than twice as large as all workers together


def write_large(file: Path) -> int:
    """A gigabyte of rows of 100 KB each; the number of rows."""
    text = b"<p>" + b"some words of text " * (ROW // 19) + b"</p>"
    rows = GB // len(text) + 1
    with file.open("wb") as out:
        out.write(b"<?xml version='1.0'?>\n<items xmlns='urn:items'>\n")
        for number in range(rows):
            out.write(b"<item n='%d'>%b</item>\n" % (number, text))
        out.write(b"</items>\n")
    return rows


def watch(process: subprocess.Popen[bytes]) -> dict[str, int]:
    """The most memory that each process of a job ever had, until it ends."""
    peaks: dict[str, int] = {}
    try:
        while process.poll() is None:
            peaks |= peak_memory(process.pid)
            time.sleep(0.1)
    finally:
        kill_all(process)
    return peaks


def test_a_gigabyte_of_rows_is_delivered_by_small_workers(tmp_path: Path) -> None:
    if shutil.disk_usage(tmp_path).free < 5 * GB:
        pytest.skip("needs 5 GB of free disk")
    file, output, subscriptions = tmp_path / "large.xml", tmp_path / "out", tmp_path / "subscriptions.jsonl"
    rows = write_large(file)
    assert file.stat().st_size > GB
    subscriptions.write_text('{"id": "all", "query": "/i:item/@n", "namespaces": {"i": "urn:items"}}\n')
    options = ["--subscriptions", subscriptions, "--documents", file, "--output", output, "--row-tag", "item"]

    process = start_weft(
        *["run", *options, "--master", "local[2]", "--conf", "spark.driver.memory=1g"], stderr=tmp_path / "stderr"
    )
    peaks = watch(process)
    file.unlink()

    assert process.returncode == 0, (tmp_path / "stderr").read_text()
    assert sorted(row["message"] for row in read_results(output)) == sorted(f'n="{number}"' for number in range(rows))
    assert not (output / "rejected").exists()
    workers = {name: peak for name, peak in peaks.items() if "java" not in name}
    assert len(workers) > 2
    assert {name: peak // MB for name, peak in workers.items() if peak > MOST} == {}
