"""`weft run` in each format, and `weft show` of what it wrote."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner, Result
from weft_process import embedded, weft

from weft.cli import app
from weft.delivery.output import Format
from weft.delivery.results import read_results
from weft.spark import Job, run_batch

pytestmark = pytest.mark.slow
FORMATS = ("parquet", "json", "files")
QUERIES = {
    "titles": "/item/title",
    "_late": "/item[@n > 8]/title/text()",
    "[/red]": "/item[@n = 3]/@n",  # which is markup to rich, and a pattern to a shell
    "x" * 200: "/item[@n = 4]/@n",
    "built": "<new>{ for $i in /item where $i/@n = 5 return <i>{ $i/title }</i> }</new>",
    "nobody": "//missing",
}
DESTINATIONS = {"titles": "desk/one", "_late": "desk two"}
DOCUMENTS = {f"news/{n:02d}.xml": f"<item n='{n}'><title>No.\r\n {n}: é</title></item>".encode() for n in range(12)}
BROKEN = {"news/broken.xml": b"<item>\n<title></item>", "text.xml": b"\xff no XML"}
EXPECTED = embedded(QUERIES, DOCUMENTS)


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("feed")
    (folder / "inbox" / "news").mkdir(parents=True)
    for name, data in {**DOCUMENTS, **BROKEN}.items():
        (folder / "inbox" / name).write_bytes(data)
    entries = [{"id": name, "query": query, "to": DESTINATIONS.get(name)} for name, query in QUERIES.items()]
    (folder / "subscriptions.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return folder


@pytest.fixture(scope="module", params=FORMATS)
def finished(request: pytest.FixtureRequest, spark: SparkSession, feed: Path) -> tuple[str, Path, Result]:  # noqa: ARG001
    """`weft run` in one format, in the session that is running: its output and what it said."""
    output = feed / request.param
    options = ["--subscriptions", feed / "subscriptions.jsonl", "--documents", feed / "inbox", "--output", output]
    return request.param, output, run("run", *options, "--format", request.param)


def test_a_job_ends_with_a_summary(finished: tuple[str, Path, Result]) -> None:
    _, output, done = finished
    lines = [line.strip(" │").replace("│", " ").split() for line in done.stdout.splitlines()]

    assert done.exit_code == 0, done.stderr
    assert output.name in done.stdout
    for name, number in {"documents": 14, "rejected": 2, "messages": len(EXPECTED), "batches": 1}.items():
        assert [name, str(number)] in lines
    assert ["titles", "12"] in lines
    assert ["_late", "3"] in lines
    assert ["[/red]", "1"] in lines
    assert "nobody" not in done.stdout
    assert "weft show" in done.stdout


def test_all_messages_are_there_to_read(finished: tuple[str, Path, Result]) -> None:
    format, output, _ = finished
    rows = list(read_results(output))

    if format == "files":  # a file has no document, but a digest of it in its name
        assert sorted((row["subscription"][:180], row["message"]) for row in rows) == sorted(
            (row[1][:180], row[3]) for row in EXPECTED
        )
        assert {row["destination"] for row in rows if row["subscription"] == "titles"} == {"desk/one"}
    else:
        found = [(row["document"], row["subscription"], row["position"], row["message"]) for row in rows]
        assert sorted(found) == EXPECTED
        assert {row.get("destination") for row in rows if row["subscription"] in DESTINATIONS} == {
            "desk/one",
            "desk two",
        }
        assert {row["stream"] for row in rows} == {"news"}


def test_show_prints_messages_and_says_that_there_are_more(finished: tuple[str, Path, Result]) -> None:
    _, output, _ = finished

    few, all_of_them = run("show", output, "--limit", 3), run("show", output, "-n", 0)

    assert [few.exit_code, all_of_them.exit_code] == [0, 0]
    assert few.stdout.count("-- ") == 3
    assert few.stderr == "weft: the first 3; --limit 0 shows all\n"
    assert all_of_them.stdout.count("-- ") == len(EXPECTED)
    assert all_of_them.stderr == ""
    assert "-- titles to desk/one" in all_of_them.stdout


@pytest.mark.parametrize("name", QUERIES, ids=lambda name: name[:10])
def test_show_prints_the_messages_of_one_subscription(finished: tuple[str, Path, Result], name: str) -> None:
    format, output, _ = finished
    expected = [row for row in EXPECTED if row[1] == name]

    done = run("show", output, "--subscription", name)

    assert done.exit_code == 0
    heads = [line for line in done.stdout.splitlines() if line.startswith("-- ")]
    assert [line.startswith(f"-- {name}") for line in heads] == [True] * len(expected)
    assert [row for row in expected if row[3].replace("\r\n", "\n") not in done.stdout.replace("\r\n", "\n")] == []
    if not expected:
        assert done.stderr == f"weft: no messages of subscription '{name}' in {output}\n"
    elif format != "files":
        assert f"from {expected[0][0]} 1" in done.stdout


def test_show_prints_the_rejected_documents(finished: tuple[str, Path, Result]) -> None:
    _, output, _ = finished

    done = run("show", output, "--rejected")

    lines = sorted(done.stdout.splitlines())
    assert lines[0] == "news/broken.xml:2:10: mismatched tag"
    assert lines[1].startswith("text.xml:1:1: ")
    assert len(lines) == 2
    found = {row["document"]: row["source"] for row in read_results(output, only_rejected=True)}
    assert found == BROKEN


def test_a_job_without_documents_has_nothing_to_show(spark: SparkSession, feed: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    done = run_batch(spark, Job(feed / "subscriptions.jsonl", tmp_path / "empty", tmp_path / "out"))

    assert (done.documents, done.rejected, done.messages, done.skew) == (0, 0, 0, None)
    assert run("show", tmp_path / "out").stderr == f"weft: no messages in {tmp_path / 'out'}\n"
    assert run("show", tmp_path / "out", "-s", "titles").exit_code == 0
    assert "no rejected documents" in run("show", tmp_path / "out", "--rejected").stderr


def test_a_stream_to_json_can_be_shown_while_a_batch_is_half_written(
    spark: SparkSession, feed: Path, tmp_path: Path
) -> None:
    run_batch(spark, Job(feed / "subscriptions.jsonl", feed / "inbox" / "news", tmp_path, format="json"))
    half = tmp_path / "messages" / "batch=1"
    half.mkdir()
    (half / "part-0.json").write_text('{"subscription": "ti')

    assert run("show", tmp_path, "-n", 0).stdout.count("-- ") == len(EXPECTED)


@pytest.mark.parametrize("format", FORMATS)
def test_show_leaves_out_what_others_have_put_there(
    spark: SparkSession, feed: Path, tmp_path: Path, format: Format
) -> None:
    run_batch(spark, Job(feed / "subscriptions.jsonl", feed / "inbox", tmp_path, format=format))
    for folder in (tmp_path / "messages", tmp_path / "rejected"):
        (folder / "batch=mine").mkdir()
        (folder / "notes.json").write_text("mine")
        (folder / "notes").mkdir()
        (folder / "notes" / "notes.xml").write_text("mine")

    assert run("show", tmp_path, "-n", 0).stdout.count("-- ") == len(EXPECTED)
    assert len(run("show", tmp_path, "--rejected").stdout.splitlines()) == len(BROKEN)


def test_show_of_what_is_no_output_is_told(tmp_path: Path) -> None:
    done = run("show", tmp_path)

    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"weft: {tmp_path}: expected the output of weft run, found no _weft/job.json\n"


def test_wrong_options_are_told_before_spark_is_started(feed: Path, tmp_path: Path) -> None:
    options = ["run", "--subscriptions", feed / "subscriptions.jsonl", "--documents", feed / "inbox"]
    options += ["--output", tmp_path / "out"]
    wrong = tmp_path / "wrong.xpath"
    wrong.write_text("/a[\n/b\n]\n")

    conf = run(*options, "--conf", "spark.ui.enabled")
    queries = run(*options, "--subscriptions", wrong)

    assert (conf.exit_code, conf.stderr) == (2, "weft: --conf: expected KEY=VALUE, found 'spark.ui.enabled'\n")
    assert queries.exit_code == 2
    assert queries.stderr.count("XPath 1:") == 2
    for option in (["--format", "csv"], ["--mode", "permissive!"], ["--max-files-per-trigger", 0]):
        assert run(*options, *option).exit_code == 2


def test_the_help_of_run_tells_its_options() -> None:
    done = weft("run", "--help")

    assert done.returncode == 0
    for option in ("--stream", "--available-now", "--format", "--mode", "--row-tag", "--checkpoint", "--metrics-port"):
        assert option in done.stdout
    assert "weft run --subscriptions subs.jsonl --documents inbox/ --output out/ --stream" in done.stdout


def test_limits_hold_for_reading_and_for_matching(spark: SparkSession, feed: Path) -> None:  # noqa: ARG001
    output = feed / "limited"
    options = ["--subscriptions", feed / "subscriptions.jsonl", "--documents", feed / "inbox", "--output", output]

    done = run("run", *options, "--limit", "max_depth=1", "--limit", "max_bytes=45")

    reasons = {row["error"] for row in read_results(output, only_rejected=True)}
    assert done.exit_code == 0, done.stderr
    assert {"nested deeper than 1", "more than 45 bytes"} <= reasons
