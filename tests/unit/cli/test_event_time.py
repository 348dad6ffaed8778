"""`weft match` with times and ids inside documents, and with a schema."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from payment_files import ID, SETTLED, TIMESTAMP, UNANSWERED, papers, right_answers, write_papers
from weft.cli import app

Found = dict[str, set[tuple[str, ...]]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_papers(tmp_path / "in", papers())
    queries = {"settled": SETTLED, "unanswered": UNANSWERED}
    lines = [json.dumps({"id": name, "query": query, "language": "xscl"}) for name, query in queries.items()]
    (tmp_path / "q.jsonl").write_text("\n".join(lines))
    rules = [json.dumps({"stream": name, "timestamp": TIMESTAMP, "id": ID}) for name in ("payments", "answers")]
    (tmp_path / "rules.jsonl").write_text("\n".join([*rules, *lines]))
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def found(result: Result) -> Found:
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    return {
        name: {tuple(row["documents"]) for row in rows if row["subscription"] == name}
        for name in ("settled", "unanswered")
    }


def test_without_times_all_is_unanswered(folder: Path) -> None:
    made = found(run("match", folder / "q.jsonl", folder / "in"))

    assert (len(made["settled"]), len(made["unanswered"])) == (0, 30)


def test_match_goes_by_the_times_inside(folder: Path) -> None:
    right = right_answers(papers())

    assert found(run("match", folder / "q.jsonl", folder / "in", "--timestamp", TIMESTAMP, "--id", ID)) == right
    assert found(run("match", folder / "rules.jsonl", folder / "in")) == right


def test_documents_wait_no_longer_than_the_lateness(folder: Path) -> None:
    result = run("match", folder / "rules.jsonl", folder / "in", "--lateness", "0")

    assert found(result) != right_answers(papers())


def test_the_times_of_files_count_if_they_are_asked_for(tmp_path: Path) -> None:
    some = papers()
    write_papers(tmp_path / "in", some)
    by_name = {f"{each.stream}/{each.name}": each for each in some}
    for name, paper in by_name.items():
        file = tmp_path / "in" / name
        moment = round(paper.moment.timestamp() * 10**9)
        os.utime(file, ns=(moment, moment))
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "settled", "query": SETTLED}))

    result = run("match", tmp_path / "q.jsonl", tmp_path / "in", "--timestamp", "file", "--id", ID)

    assert found(result)["settled"] == right_answers(some)["settled"]


def test_a_document_without_its_time_or_not_valid_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.xpath").write_text("//n")
    Path("a.xml").write_text("<a>\n<n>x</n></a>")
    element = '<xs:element name="a"><xs:complexType><xs:sequence><xs:element name="n" type="xs:int"/></xs:sequence>'
    Path("a.xsd").write_text(
        f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{element}</xs:complexType></xs:element></xs:schema>'
    )

    untimed = run("match", "q.xpath", "a.xml", "--timestamp", "//n")
    invalid = run("match", "q.xpath", "a.xml", "--schema", "a.xsd")
    wrong = run("match", "q.xpath", "a.xml", "--timestamp", "//n[")

    assert (untimed.exit_code, untimed.stderr) == (1, "a.xml:2:1: expected a time at //n, found 'x' (byte 4)\n")
    assert invalid.exit_code == 1
    assert invalid.stderr.startswith("a.xml:2:1: not valid: Element 'n'")
    assert wrong.exit_code == 2
    assert "XPath 1:5" in wrong.stderr
