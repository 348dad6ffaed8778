"""What servers report of tests: how many documents passed them, and how that changes which views are chosen."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from weft import Broker
from weft.cli import app
from weft.documents.document import Document
from weft.errors import ConfigurationError
from weft.headers.adaptive import AdaptiveViews
from weft.headers.configuration import configure, read_configurations
from weft.headers.producer import attach
from weft.headers.selection.feedback import Feedback
from weft.headers.selection.feedback_file import read_feedback, write_feedback
from weft.headers.selection.online import learn
from weft.headers.selection.workload import ServerQueries, make_problem
from weft.languages import parse

ENGLISH, SEVEN = 'value = "en"', 'value = "7"'
QUERY = "/m[lang = 'en'][id = '7']"


def messages(number: int, english: float, seed: int = 1) -> list[Document]:
    chance = Random(seed)
    data = (
        f"<m><lang>{'en' if chance.random() < english else 'fr'}</lang><id>{chance.randrange(10)}</id></m>"
        for _ in range(number)
    )
    return [Document(each, str(at)) for at, each in enumerate(data)]


def asked(documents: Sequence[Document], *queries: str, views: Sequence[str] = ("/m/lang", "/m/id")) -> Feedback:
    broker = Broker(headers=configure("v", views))
    for query in queries:
        broker.subscribe(query)
    broker.matches(attach(documents, configure("v", views)))
    return broker.header_feedback("desk", 0.0)


def share(documents: Sequence[Document], part: bytes) -> float:
    return sum(part in bytes(str(each.data), "utf-8") for each in documents) / len(documents)


@pytest.mark.parametrize("query", [QUERY, "/m[id = '7'][lang = 'en']"])
def test_the_share_of_documents_that_pass_is_reported(query: str) -> None:
    """Of the test that drives for all documents, though it is asked of none that fail it; of the other where asked."""
    documents = messages(1_000, english=0.3)

    found = asked(documents, query)

    assert found.documents("desk", 0.0) == 1_000
    assert found.selectivity("/m/lang", ENGLISH, 0.0) == pytest.approx(share(documents, b">en<"), abs=0.07)
    assert found.selectivity("/m/id", SEVEN, 0.0) == pytest.approx(share(documents, b">7<"), abs=0.07)


def test_documents_with_several_nodes_or_none_pass_no_test_that_is_not_known() -> None:
    several = Document("<m><lang>en</lang><lang>fr</lang><id>7</id></m>", "several")
    none = Document("<m><id>7</id></m>", "none")

    found = asked([several] * 20 + [none] * 20, QUERY)

    tests = {key: count for key, count, _ in found._tests.items()}
    assert tests["/m/lang", ENGLISH, "failed"] == 20
    assert ("/m/lang", ENGLISH, "passed") not in tests or tests["/m/lang", ENGLISH, "passed"] == 0


def test_a_report_tells_of_tests_only_what_is_new() -> None:
    broker = Broker(headers=configure("v", ["/m/lang", "/m/id"]))
    broker.subscribe(QUERY)
    sent = attach(messages(100, english=0.5), configure("v", ["/m/lang", "/m/id"]))
    broker.matches(sent)
    first, again = broker.header_feedback("desk", 0.0), broker.header_feedback("desk", 0.0)
    broker.matches(sent[:50])
    last = broker.header_feedback("desk", 0.0)

    totals = [sum(count for key, count, _ in each._tests.items() if key[1] == ENGLISH) for each in (first, again, last)]
    assert totals[1] == 0
    assert totals[0] >= totals[2] > 0
    assert (first.documents("desk", 0.0), last.documents("desk", 0.0)) == (100, 50)


def test_what_is_reported_is_learned() -> None:
    """The documents by which views were chosen were all English; those that came were not."""
    problem = make_problem([ServerQueries("desk", (parse(QUERY),))], messages(50, english=1.0), parse_seconds=1e-3)
    before = [part.selectivity for part in problem.problem.servers[0].queries[0]]

    learned = learn(problem.problem, problem.expressions, asked(messages(2_000, english=0.02), QUERY), 0.0)

    after = [part.selectivity for part in learned.servers[0].queries[0]]
    assert before[0] == pytest.approx(1, abs=0.02)
    assert after[0] == pytest.approx(0.02, abs=0.02)
    assert after[1] == pytest.approx(0.1, abs=0.05)


def test_the_view_of_a_test_that_documents_begin_to_fail_takes_over() -> None:
    """Room for one view: at first few documents have the id, then hardly any is English."""
    servers = [ServerQueries("desk", (parse(QUERY),))]
    views = AdaptiveViews("v", servers, messages(200, english=1.0), size=1, parse_seconds=1e-3)
    before = [view.text for view in views.configuration.views]

    views.feedback.merge(asked(messages(2_000, english=0.001), QUERY))
    changed = views.adapt(0.0)

    assert before == ["/m/id"]
    assert changed is not None
    assert [view.text for view in changed.views] == ["/m/lang"]


# -- files


def test_feedback_is_written_and_read_back(tmp_path: Path) -> None:
    found = asked(messages(100, english=0.5), QUERY)
    write_feedback(found, tmp_path / "one.json", 5.0)
    write_feedback(found, tmp_path / "two.json", 3.0)

    one, now = read_feedback([tmp_path / "one.json"])
    both, latest = read_feedback([tmp_path / "one.json", tmp_path / "two.json"])

    assert (now, latest) == (5.0, 5.0)
    assert one.as_json(5.0) == found.as_json(5.0)
    assert both.documents("desk", 5.0) == pytest.approx(200, rel=0.01)


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        '{"now": 1, "servers": [["a", -1]], "outcomes": [], "tests": []}',
        '{"now": 1, "servers": [["a", "b", 1]], "outcomes": [], "tests": []}',
        '{"now": 1, "servers": [[1, 1]], "outcomes": [], "tests": []}',
        '{"now": 1, "servers": [], "outcomes": []}',
    ],
)
def test_what_is_no_feedback_is_told(tmp_path: Path, content: str) -> None:
    (tmp_path / "it.json").write_text(content)

    with pytest.raises(ConfigurationError, match=r"it.json: expected what servers reported"):
        read_feedback([tmp_path / "it.json"])
    with pytest.raises(ConfigurationError, match=r"no.json: No such file"):
        read_feedback([tmp_path / "no.json"])


def run(*arguments: object) -> Any:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


NETWORK = f"""
views = ["/m/lang", "/m/id"]
source = [{{ name = "in", server = "desk" }}]
server = [{{ name = "desk", subscriptions = ["{QUERY}"] }}]
"""


def test_views_are_chosen_again_by_what_a_network_saw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("net.toml").write_text(NETWORK)
    for folder, english in (("begun", 1.0), ("came", 0.001)):
        Path(folder).mkdir()
        for document in messages(100, english):
            Path(folder, f"{document.id}.xml").write_text(str(document.data))
    select = [
        "views",
        "select",
        "--topology",
        "net.toml",
        "--documents",
        "begun",
        "--size",
        1,
        "--output",
        "views.toml",
    ]

    run(*select)
    before = read_configurations("views.toml")[0]
    seen = run("network", "simulate", "net.toml", "--documents", "came", "--feedback", "seen.json")
    again = run(*select, "--feedback", "seen.json", "--version", 2)

    after = read_configurations("views.toml")[0]
    assert (seen.exit_code, again.exit_code) == (0, 0)
    assert json.loads(Path("seen.json").read_text())["servers"] == [["desk", 100.0]]
    assert [view.text for view in before.views] == ["/m/id"]
    assert (after.tag, [view.text for view in after.views]) == ("views/2", ["/m/lang"])


def test_feedback_of_other_servers_is_told(tmp_path: Path) -> None:
    write_feedback(asked(messages(10, english=0.5), QUERY), tmp_path / "seen.json", 0.0)
    (tmp_path / "servers.jsonl").write_text('{"server": "archive", "queries": ["/m/id"]}')

    result = run("views", "select", "--workload", tmp_path / "servers.jsonl", "--feedback", tmp_path / "seen.json")

    assert result.exit_code == 2
    assert "--feedback: expected reports of the servers archive, found none" in result.stderr
