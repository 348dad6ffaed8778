"""What people run jobs with: logs as lines or JSON, settings from a file, a job's status, completion, a version."""

import json
import logging
import os
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import weft
from weft.cli import app
from weft.delivery.job import Job
from weft.delivery.metrics import BatchMetrics
from weft.delivery.output import RECORDS, alone
from weft.delivery.status import StatusFile, read_status


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.xpath").write_text("//b")
    (tmp_path / "a.xml").write_text("<a><b/></a>")
    (tmp_path / "bad.xml").write_text("<a>")
    yield tmp_path
    log = logging.getLogger("weft")
    log.handlers.clear()
    log.propagate = True
    log.setLevel(logging.NOTSET)


def test_the_version_is_that_of_the_package() -> None:
    assert weft.__version__ == version("weft")


@pytest.mark.usefixtures("folder")
def test_verbose_logs_what_happens() -> None:
    quiet, verbose = run("match", "q.xpath", "bad.xml"), run("--verbose", "match", "q.xpath", "bad.xml")

    assert quiet.stderr == "bad.xml:1:4: no element found (byte 3)\n"
    assert "debug weft.broker.broker: subscribed: 1\n" in verbose.stderr
    assert "debug weft.broker.counts: rejected: bad.xml:1:4: no element found (byte 3)\n" in verbose.stderr
    assert verbose.stdout == quiet.stdout


@pytest.mark.usefixtures("folder")
def test_logs_are_json_for_machines() -> None:
    result = run("--verbose", "--log-format", "json", "match", "q.xpath", "a.xml")

    records = [json.loads(line) for line in result.stderr.splitlines()]
    assert {"time", "level", "logger", "message"} <= set(records[0])
    assert ("weft.broker.broker", "DEBUG", "subscribed: 1") in {
        (each["logger"], each["level"], each["message"]) for each in records
    }
    assert records[0]["time"].endswith("Z")


@pytest.mark.usefixtures("folder")
def test_what_is_wrong_is_json_too() -> None:
    rejected = run("--log-format", "json", "match", "q.xpath", "bad.xml")
    failed = run("--log-format", "json", "match", "none.xpath", "a.xml")

    (told,) = map(json.loads, rejected.stderr.splitlines())
    assert (told["document"], told["line"], told["column"], told["reason"]) == ("bad.xml", 1, 4, "no element found")
    assert json.loads(failed.stderr)["message"] == "weft: none.xpath: no such file or folder of subscriptions"


def test_a_file_says_what_options_say(folder: Path) -> None:
    (folder / "weft.toml").write_text('[match]\nids = true\nlimit = ["max_depth=1"]\n[weft]\nlog-format = "json"\n')
    (folder / "other.toml").write_text("[match]\nids = true\n")

    assert "nested deeper than 1" in run("match", "q.xpath", "a.xml").stderr
    assert json.loads(run("--config", "other.toml", "match", "q.xpath", "a.xml").stdout)["matches"] == ["1"]
    assert "nested" not in run("match", "q.xpath", "a.xml", "--limit", "max_depth=9").stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[match", "weft.toml: "),
        ("[mach]\nids = true", "weft.toml: expected one of"),
        ("[match]\nid_s = true", "weft.toml: [match]: expected one of"),
        ("[match]\nlimit = 'a=1'", "expected a list for 'limit', found 'a=1'"),
        ("[match]\nids = [true]", "expected one value for 'ids'"),
        ("match = 1", "expected a table [match], found 1"),
        ("[network]\nrun = 1", "weft.toml: [network]: expected a table [run]"),
    ],
)
def test_what_is_wrong_with_the_file_is_told(folder: Path, text: str, told: str) -> None:
    (folder / "weft.toml").write_text(text)

    result = run("match", "q.xpath", "a.xml")

    assert result.exit_code == 2
    assert told in result.stderr


def test_a_file_of_settings_that_is_named_must_be_there(folder: Path) -> None:
    result = run("--config", folder / "none.toml", "check", "q.xpath")

    assert (result.exit_code, "No such file" in result.stderr) == (2, True)


def test_a_shell_can_complete() -> None:
    assert "--install-completion" in run("--help").stdout


# -- weft status


@pytest.fixture
def job(folder: Path) -> Job:
    return Job(folder / "q.xpath", folder, folder / "out")


def test_a_job_is_told_while_it_runs_and_when_it_has_ended(job: Job) -> None:
    file = StatusFile(job, is_stream=False)
    with alone(job.output / RECORDS, "taken"):
        file.tell("running")
        file.add(BatchMetrics(0, 1_000, 3, 40, 1.5, 2))
        running = run("status", job.output)
    file.tell("done")
    done = json.loads(run("status", "--json", job.output).stdout)

    assert running.exit_code == 0
    assert running.stdout.startswith(f"the batch is running\nprocess {os.getpid()}, started 2")
    assert running.stdout.endswith("\n1 batch: 1,000 documents, 3 rejected, 40 messages, subscriptions version 2\n")
    assert (done["state"], done["documents"], done["messages"]) == ("done", 1_000, 40)


def test_a_job_that_was_killed_is_told(job: Job) -> None:
    file = StatusFile(job, is_stream=True)
    file.tell("running")

    result = run("status", job.output)

    assert result.exit_code == 1
    assert result.stdout.startswith("the stream ended without a word: it was killed")
    assert read_status(job.output).state == "killed"


def test_a_job_that_failed_tells_why(job: Job) -> None:
    StatusFile(job, is_stream=False).tell("failed", "the disk is full")

    result = run("status", job.output)

    assert (result.exit_code, result.stdout.splitlines()[0]) == (1, "the batch failed: the disk is full")


def test_what_is_no_output_is_told(folder: Path) -> None:
    assert "expected the output of weft run" in run("status", folder).stderr
    (folder / RECORDS).mkdir()
    (folder / RECORDS / "status.json").write_text("{}")
    assert "expected the status of a job" in run("status", folder).stderr
