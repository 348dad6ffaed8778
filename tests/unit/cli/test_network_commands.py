"""`weft network`: what it prints, what it draws, and with which exit code."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from weft.cli import app
from weft.network.generators import chain
from weft.network.topology_file import write_topology

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NEWS, DOCUMENTS = EXAMPLES / "network" / "news.toml", EXAMPLES / "news"


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, ["network", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_simulation_tells_what_happened_and_draws_it(tmp_path: Path) -> None:
    drawing = tmp_path / "news.svg"

    result = run("simulate", NEWS, "--documents", DOCUMENTS, "--svg", drawing)

    assert result.exit_code == 0
    assert "answered by headers" in result.stdout
    assert "europe" in result.stdout
    assert ElementTree.parse(drawing).getroot().tag.endswith("svg")


def test_the_report_is_json_for_programs() -> None:
    result = run("simulate", NEWS, "--documents", DOCUMENTS, "--json")

    (report,) = lines(result)
    assert (report["documents"], report["flooded"]) == (40, 80)
    assert report["forwarded"] < 40
    assert report["hit_rate"] > 0.5


@pytest.mark.parametrize("way", [[], ["--embedded"]])
def test_deliveries_are_lines(way: list[str]) -> None:
    result = run("simulate", NEWS, "--documents", DOCUMENTS, "--deliveries", *way)

    found = lines(result)
    assert {"server": "press", "subscription": "flash"}.items() <= found[0].items()
    assert {each["server"] for each in found} == {"press", "europe", "asia"}
    assert {each["document"] for each in found} <= {path.name for path in Path(DOCUMENTS).iterdir()}  # as on Spark


@pytest.mark.parametrize("way", [[], ["--embedded"]])
def test_documents_are_told_by_their_paths_below_the_folder_as_on_spark(way: list[str], tmp_path: Path) -> None:
    write_topology(chain(2).with_subscriptions({"s1": ["/a"]}), tmp_path / "chain.toml")
    (tmp_path / "inbox" / "late").mkdir(parents=True)
    for name in ("one.xml", "late/two.xml"):
        (tmp_path / "inbox" / name).write_text("<a/>")
    told = []

    for path in ("inbox", "inbox/one.xml"):
        result = run("simulate", tmp_path / "chain.toml", "--documents", tmp_path / path, "--deliveries", *way)
        told.append(sorted(each["document"] for each in lines(result)))

    assert told == [["late/two.xml", "one.xml"], ["one.xml"]]


def test_a_topology_is_shown() -> None:
    result = run("show", NEWS)

    assert result.exit_code == 0
    assert "europe (2)" in result.stdout  # of three queries one is covered
    assert "source agencies: enters at press" in result.stdout


def test_a_picture_that_cannot_be_written_costs_no_report() -> None:
    result = run("simulate", NEWS, "--documents", DOCUMENTS, "--json", "--svg", "/proc/traffic.svg")

    assert result.exit_code == 2
    assert "traffic.svg" in result.stderr
    assert lines(result)[0]["network"] == "news"


def test_a_folder_that_no_network_ran_in_is_told() -> None:
    result = run("show", DOCUMENTS)

    assert result.exit_code == 2
    assert "expected a topology, or the output of weft network run, found a folder" in result.stderr


def test_a_topology_has_no_deliveries_to_show() -> None:
    result = run("show", NEWS, "--deliveries")

    assert result.exit_code == 2
    assert "--deliveries: expected the output of weft network run, found the topology" in result.stderr


def test_a_rejected_document_is_told_and_the_exit_code_is_one(tmp_path: Path) -> None:
    write_topology(chain(2).with_subscriptions({"s1": ["/a"]}), tmp_path / "chain.toml")
    (tmp_path / "bad.xml").write_text("<a><b></a>")

    result = run("simulate", tmp_path / "chain.toml", "--documents", tmp_path / "bad.xml")

    assert result.exit_code == 1
    assert "bad.xml:1:" in result.stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name = ", "Invalid value"),
        ("[[server]]\nname = 'a'", "network: expected 'source', found server"),
        ("[[source]]\nname = 'in'\nserver = 'a'\n[[server]]\nname = 'a'\nsubscriptions = ['/a[']", "XPath 1:"),
    ],
)
def test_a_topology_that_is_wrong_ends_with_exit_code_two(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "bad.toml").write_text(text)

    result = run("simulate", tmp_path / "bad.toml", "--documents", DOCUMENTS)

    assert result.exit_code == 2
    assert told in result.stderr


def test_ways_that_exclude_each_other_are_refused() -> None:
    result = run("simulate", NEWS, "--documents", DOCUMENTS, "--spark", "--embedded")

    assert (result.exit_code, result.stderr) == (2, "weft: expected one of --spark and --embedded, found both\n")


@pytest.mark.parametrize("command", ["simulate", "run", "show"])
def test_help_teaches_with_examples(command: str) -> None:
    result = run(command, "--help")

    assert result.exit_code == 0
    assert f"weft network {command}" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", [["simulate", "--spark"], ["run", "--output", "nowhere"]])
def test_without_spark_it_is_told_in_one_line(command: list[str]) -> None:
    program = "import sys; sys.modules.update(dict.fromkeys(('pyspark', 'py4j'))); from weft.cli import main; main()"
    arguments = ["network", command[0], str(NEWS), "--documents", str(DOCUMENTS), *command[1:]]

    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120, check=False
    )

    assert done.returncode == 2
    assert "this command needs Spark" in done.stderr
    assert done.stderr.count("\n") == 1
