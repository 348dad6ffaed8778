"""Comparisons that leave the document no choice: they are right, so they are taken, and told."""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import weft
from weft.cli import app
from weft.languages import parse

NEVER = {
    "//a[date >= 'May 2026']": (13, "'May 2026' is none; FLWR compares texts"),
    "//a[total > '1,000']": (13, "write 1000"),
    "//a['+0.5' < b]": (5, "write 0.5"),
    "//a[@a < 'abc']": (10, "'abc' is none"),
    "//a[b[c > 'x'] and d]": (11, "'x' is none"),
    "//a[count(b) < 0]": (16, "a count is a whole number from 0 on"),
    "//a[count(b) = 1.5]": (16, "a count is a whole number from 0 on"),
    "//a[count(b) = 'x']": (16, "a count is a whole number from 0 on"),
    "//a[0]": (5, "a position is a whole number from 1 on"),
    "//a[position() < 1]": (5, "a position is a whole number from 1 on"),
    "<r>{for $a in //a[count(b) < 0] return $a}</r>": (30, "a count is a whole number from 0 on"),
    "S//a[b > 'x']->v JOIN{v = w, 1 day} S//b->w": (10, "'x' is none"),
}
ALWAYS = {
    "//a[count(b) >= 0]": (17, "a count is a whole number from 0 on"),
    "//a[count(b) != 'x']": (17, "a count is a whole number from 0 on"),
    "//a[position() != 1.5]": (5, "a position is a whole number from 1 on"),
}
FINE = [
    "//a[date = '2026-01-01']",
    "//a[date != 'x']",
    "//a[date >= xs:date('2026-01-01')]",
    "//a[total > '1e3']",
    "//a[total > 1000]",
    "//a[count(b) = 0]",
    "//a[count(b) > 0]",
    "//a[count(b) <= 0]",
    "//a[1]",
    "//a[position() <= 1]",
    "//a[position() != last()]",
    "//a[contains(b, 'x')]",
    "<r>{for $a in //a where $a/date >= '2026-01-01' return $a}</r>",
    "<r>{for $a in //a[date >= '2026-01-01'] return $a}</r>",
]


def told(query: str) -> list[weft.QueryWarning]:
    found: list[weft.QueryWarning] = []
    parse(query, on_warning=found.append)
    return found


@pytest.mark.parametrize("query", [*NEVER, *ALWAYS])
def test_a_comparison_that_leaves_no_choice_is_told_with_its_place(query: str) -> None:
    column, reason = (NEVER | ALWAYS)[query]

    (warning,) = told(query)

    assert warning.reason.startswith("never true" if query in NEVER else "always true")
    assert reason in warning.reason
    assert str(warning).splitlines()[2] == "  " + " " * (column - 1) + "^"


@pytest.mark.parametrize("query", FINE)
def test_a_comparison_that_the_document_decides_is_not_told(query: str) -> None:
    assert told(query) == []


def test_what_is_told_is_so() -> None:
    documents = ["<a><date>2026-05-05</date><total>2,000</total><b>x</b><b/></a>", "<a a='1'/>", "<r><a/><a/></r>"]
    xpath = [query for query in NEVER | ALWAYS if query.startswith("//")]
    broker = weft.Broker()
    with warnings.catch_warnings(record=True):
        for query in xpath:
            broker.subscribe(query, id=query)

    assert broker.matches(documents) == [[query for query in xpath if query in ALWAYS]] * 3


def test_subscribing_warns_and_subscribes() -> None:
    broker = weft.Broker()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        broker.subscribe("//a[b >= 'x']", id="mine")

    (warning,) = caught
    assert warning.category is weft.QueryWarning
    assert str(warning.message).startswith("mine: XPath 1:10: never true")
    assert "mine" in broker


def test_a_query_that_is_read_again_does_not_warn_again(recwarn: pytest.WarningsRecorder) -> None:
    broker = weft.Broker()
    broker.subscribe("//a[b >= 'x']", id="mine")

    broker.explain("mine")
    broker._matcher.sweep()

    assert len(recwarn) == 1


def test_a_query_has_few_warnings_however_many_there_could_be() -> None:
    query = "//a[" + " or ".join(["b > 'x'"] * 1_000) + "]"

    assert len(told(query)) == 10


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], str]:
    monkeypatch.chdir(tmp_path)

    def make(name: str, content: str) -> str:
        Path(name).write_text(content)
        return name

    return make


def test_check_and_match_tell_warnings_once_on_standard_error(write: Callable[[str, str], str]) -> None:
    queries, document = write("q.xpath", "//a\n//a[total > '1,000']\n"), write("d.xml", "<a><total>5</total></a>")
    expected = "warning: q.xpath:2: XPath 1:13: never true: > compares numbers here, and '1,000' is none; write 1000\n"
    expected += "  //a[total > '1,000']\n              ^\n"

    checked = CliRunner().invoke(app, ["check", queries])
    matched = CliRunner().invoke(app, ["match", queries, document])

    assert (checked.exit_code, checked.stdout, checked.stderr) == (0, "2 subscriptions are fine: 2 XPath\n", expected)
    assert (matched.exit_code, matched.stderr) == (0, expected)


def test_a_warning_names_the_caller_and_is_not_remembered() -> None:
    broker = weft.Broker()

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("default")
        for number in range(20):
            broker.subscribe(f"/o[t > 'x{number}']", id="q")
            broker.unsubscribe("q")

    assert len(told) == 20
    assert {warning.filename for warning in told} == {__file__}
    registries = [vars(module).get("__warningregistry__", {}) for module in list(sys.modules.values())]
    assert not any("x1'" in str(key) for registry in registries for key in registry)
