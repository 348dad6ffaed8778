"""`weft query` and the commands for stored views: what they print, what they refuse, and with which exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from weft.cli import app
from weft.views.server import QueryServer

SHOP = "<shop><item><name>A</name><price>5</price></item><item><name>B</name><price>15</price></item></shop>"
WORKLOAD = "/shop/item (0.5)\n/shop/item/name (0.3)\n//price (0.2)\n"


def run(*arguments: object) -> Result:
    result = CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WEFT_STORE", raising=False)
    (tmp_path / "shop.xml").write_text(SHOP)
    (tmp_path / "queries.txt").write_text(WORKLOAD)
    run("sources", "add", "shop.xml")
    return tmp_path / "shop.xml"


def test_a_query_prints_a_node_a_line(shop: Path) -> None:
    as_json, as_xml = run("query", "//name"), run("query", "//name", "--format", "xml")

    nodes = [json.loads(line) for line in as_json.stdout.splitlines()]
    assert (as_json.exit_code, as_json.stderr) == (0, "")
    assert [node["fragment"] for node in nodes] == ["<name>A</name>", "<name>B</name>"]
    assert nodes[0] | {"version": ""} == {
        "source": "shop",
        "document": "shop.xml",
        "version": "",
        "offset": SHOP.index("<name>"),
        "path": ["shop", "item", "name"],
        "value": "A",
        "fragment": "<name>A</name>",
    }
    assert (as_xml.exit_code, as_xml.stdout) == (0, "<name>A</name>\n<name>B</name>\n")
    assert shop.exists()


@pytest.mark.usefixtures("shop")
def test_explain_tells_views_compensation_and_costs() -> None:
    at_source = run("query", "/shop/item[price > 10]", "--explain")
    run("views", "materialize", "/shop/item")
    from_view = run("query", "/shop/item[price > 10]", "--explain", "--format", "xml")

    assert "shop: from the source; 1 nodes" in at_source.stderr
    assert "estimated" in at_source.stderr
    assert "taken" in at_source.stderr
    assert from_view.stdout == "<item><name>B</name><price>15</price></item>\n"
    assert "from views: compensation" in from_view.stderr
    assert "view q-" in from_view.stderr


def test_a_fresh_query_passes_over_views_that_are_old(shop: Path) -> None:
    run("views", "materialize", "//name")
    shop.write_text("<shop><name>new</name></shop>")

    assert run("query", "//name", "--format", "xml").stdout == "<name>A</name>\n<name>B</name>\n"
    assert run("query", "//name", "--format", "xml", "--fresh").stdout == "<name>new</name>\n"


def test_with_a_source_down_the_rest_is_told_with_a_warning(shop: Path) -> None:
    (shop.parent / "bank.xml").write_text("<bank><name>C</name></bank>")
    run("sources", "add", "bank.xml")
    shop.unlink()

    found = run("query", "//name", "--format", "xml")

    assert (found.exit_code, found.stdout) == (1, "<name>C</name>\n")
    assert found.stderr == "warning: shop: No such file or directory: its nodes are not among these\n"


@pytest.mark.usefixtures("shop")
def test_parts_are_told_with_their_source() -> None:
    told = run("views", "recommend", "--workload", "queries.txt").stdout.splitlines()

    assert told[0].split()[0] == "source"
    assert told[1].split()[0] == "shop"


def test_with_a_source_down_the_parts_that_are_stored_are_told_with_a_warning(shop: Path) -> None:
    (shop.parent / "queries.txt").write_text("/shop/item\n/shop/item[price > 10]\n")
    server = QueryServer(shop.parent / "weft-views")
    found = server.recommend(shop.parent / "queries.txt", 1e9)
    dear = [at for at in range(2) if "intersect" in [*found.definitions().values()][at]]
    server.materialize(replace(found, choice=found.problem.chosen(dear)))
    shop.unlink()

    told = run("query", "/shop/item", "--format", "xml")

    assert (told.exit_code, told.stdout) == (1, "<item><name>B</name><price>15</price></item>\n")
    assert told.stderr == "warning: shop: No such file or directory: not all of its nodes are among these\n"


def test_damaged_views_are_warned_of_and_the_source_answers(shop: Path) -> None:
    run("views", "materialize", "/shop/item")
    for file in (shop.parent / "weft-views" / "files").iterdir():
        file.write_bytes(b"")

    found = run("query", "/shop/item/name", "--format", "xml")

    assert (found.exit_code, found.stdout) == (0, "<name>A</name>\n<name>B</name>\n")
    assert found.stderr.startswith("warning: shop: weft-views/files/documents-")
    assert found.stderr.endswith("all others can be read: it was asked instead\n")


@pytest.mark.usefixtures("shop")
def test_a_query_that_no_source_is_for_is_told_as_such() -> None:
    none, empty = run("query", "/shpo/item"), run("query", "/shop/itme")

    assert (none.exit_code, none.stdout) == (0, "")
    assert none.stderr == "no source is for this query: none has a root element that it asks for\n"
    assert (empty.exit_code, empty.stdout, empty.stderr) == (0, "", "")


@pytest.mark.usefixtures("shop")
def test_a_damaged_record_of_queries_costs_no_answer() -> None:
    run("query", "//name")
    Path("weft-views/queries.record").write_text("nothing")

    found, adapted = run("query", "//price", "--format", "xml"), run("views", "adapt")

    assert (found.exit_code, found.stdout) == (0, "<price>5</price>\n<price>15</price>\n")
    assert found.stderr.startswith("warning: weft-views/queries.record: ")
    assert found.stderr.endswith("the server begins a new one: this query is not recorded\n")
    assert run("views", "list").exit_code == 0
    assert adapted.exit_code == 2
    assert adapted.stderr.startswith("weft: weft-views/queries.record: ")


@pytest.mark.usefixtures("shop")
def test_namespaces_are_options() -> None:
    Path("s.xml").write_text("<s xmlns='urn:s'><a/></s>")
    run("sources", "add", "s.xml")

    assert run("query", "//p:a", "--namespace", "p=urn:s", "--format", "xml").stdout == '<a xmlns="urn:s"/>\n'


def test_views_are_recommended_materialized_listed_refreshed_and_dropped(shop: Path) -> None:
    recommended = run("views", "recommend", "--workload", "queries.txt", "--budget", "1MB")
    empty = run("views", "list")
    made = run("views", "materialize", "--workload", "queries.txt", "--budget", "1MB")
    listed = run("views", "list")
    shop.write_text(SHOP.replace("15", "25"))
    refreshed = run("views", "refresh")
    names = [line.split()[0] for line in listed.stdout.splitlines()[1:]]
    dropped = [run("views", "drop", name).exit_code for name in names]

    assert "3 of 3 queries without asking a source" in recommended.stdout
    assert "/shop/item" not in empty.stdout
    assert made.exit_code == 0
    assert made.stderr.endswith("bytes on disk\n")
    assert all(text in listed.stdout for text in ("/shop/item/name", "//price", "1 of 1"))
    assert refreshed.stdout == f"shop: 1 changed, 0 gone, {len(SHOP)} bytes read again\n"
    assert dropped == [0, 0, 0]
    assert "q-" not in run("views", "list").stdout


@pytest.mark.usefixtures("shop")
def test_it_is_told_what_was_stored_and_what_the_budget_left_out() -> None:
    made = run("views", "materialize", "--workload", "queries.txt", "--budget", "2kB")

    assert "\n0 of " in made.stdout  # how many there are depends on rates, which are measured
    assert "more were recommended, but take more than the budget on disk" in made.stderr


def test_a_refresh_tells_of_a_source_that_is_down(shop: Path) -> None:
    run("views", "materialize", "//name")
    shop.unlink()

    refreshed = run("views", "refresh")

    assert refreshed.exit_code == 1
    assert refreshed.stderr == "warning: shop: No such file or directory: its views are as they were\n"
    assert run("query", "//name").exit_code == 0


def test_with_a_source_down_the_commands_for_views_go_on_with_the_others_and_warn(shop: Path) -> None:
    (shop.parent / "bank.xml").write_text("<bank><name>C</name><price>1</price></bank>")
    run("sources", "add", "bank.xml")
    run("query", "//price")
    run("views", "materialize", "//name")
    shop.unlink()

    found = {
        command: run("views", *command.split())
        for command in (
            "recommend --workload queries.txt",
            "adapt --budget 1MB",
            "refresh",
            "materialize //price",
            "materialize --workload queries.txt",
        )
    }
    checked = run("sources", "check")

    warning = "warning: shop: No such file or directory: "
    assert {result.exit_code for result in (*found.values(), checked)} == {1}
    assert found.pop("recommend --workload queries.txt").stderr == f"{warning}its answers are not weighed\n"
    assert all(each.stderr.endswith(f"{warning}its views are as they were\n") for each in found.values())
    assert [line.split()[1] for line in checked.stdout.splitlines()[1:]] == ["down", "up"]
    assert run("query", "//name", "--format", "xml").stdout == "".join(f"<name>{each}</name>\n" for each in "ABC")


@pytest.mark.usefixtures("shop")
def test_adapt_follows_what_was_asked() -> None:
    for _ in range(3):
        run("query", "//name")

    options = "--horizon", "1000000s", "--margin", "0.5", "--risk", "1"
    adapted = run("views", "adapt", "--budget", "1MB", *options)

    assert adapted.exit_code == 0
    assert "queries without asking a source" in adapted.stdout
    assert " s a day that the workload takes" in adapted.stdout.replace("\n", " ")


@pytest.mark.parametrize(
    ("rate", "told"), [("9999999GB", "nothing is worth its space: the sources are as fast"), ("1kB", "")]
)
def test_it_is_told_why_nothing_is_stored_though_there_is_space(shop: Path, rate: str, told: str) -> None:
    run("sources", "remove", "shop")
    run("sources", "add", shop, "--processing-rate", rate, "--transmission-rate", rate, "--latency", "0.001us")

    recommended = run("views", "recommend", "--workload", "queries.txt", "--budget", "1MB")
    made = run("views", "materialize", "--workload", "queries.txt", "--budget", "1MB")

    assert recommended.stderr.startswith(told)
    assert bool(recommended.stderr) == bool(told)
    assert (told in made.stderr, "0 of " in made.stdout) == (True, bool(told))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["query", "//a", "--store", "nowhere"], "weft: nowhere: expected sources, found none; add them with"),
        (
            ["views", "list", "--store", "queries.txt"],
            "weft: queries.txt: expected the folder of a query server, found",
        ),
        (["query", "//a", "--store", "queries.txt"], "weft: queries.txt: expected the folder of a query server, "),
        (["views", "recommend"], "weft: expected --workload, found none"),
        (["views", "recommend", "--workload", "gone.txt"], "weft: gone.txt: No such file or directory"),
        (["views", "recommend", "--workload", "empty.txt"], "weft: weft-views: expected queries, found none"),
        (["views", "recommend", "--workload", "bad.txt"], "weft: bad.txt:1: expected a frequency from 0 on, found -1"),
        (["views", "recommend", "--workload", "other.txt"], "weft: weft-views: expected a source that the queries are"),
        (["views", "recommend", "--workload", "queries.txt", "--budget", "much"], "weft: --budget: expected a size"),
        (["views", "recommend", "--workload", "queries.txt", "--budget", "0"], "weft: --budget: expected a size"),
        (["views", "recommend", "--workload", "queries.txt", "--method", "best"], "weft: --method: expected ours, "),
        (["views", "materialize"], "weft: expected either XPATH or --workload"),
        (["views", "materialize", "//a", "--workload", "queries.txt"], "weft: expected either XPATH or --workload"),
        (["views", "materialize", "/bank/a"], "weft: weft-views: expected a source that the queries are for, found"),
        (["views", "refresh", "--store", "nowhere"], "weft: nowhere: expected a store, found no sources and no views"),
        (["views", "drop", "gone"], "weft: weft-views: expected a view, of which there are none, found 'gone'"),
        (["views", "adapt"], "weft: weft-views: expected queries that were asked before, found none"),
        (["views", "adapt", "--horizon", "10MB"], "weft: --horizon: expected a time"),
    ],
)
@pytest.mark.usefixtures("shop")
def test_what_is_wrong_is_told_in_one_line(arguments: list[str], told: str) -> None:
    Path("empty.txt").write_text("# nothing\n")
    Path("bad.txt").write_text("/shop/item (-1)\n")
    Path("other.txt").write_text("/bank/a\n")

    result = run(*arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(told)
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("shop")
def test_a_query_that_cannot_be_read_is_shown_with_its_place() -> None:
    for arguments in (["query", "/shop/["], ["views", "materialize", "/shop/["]):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("XPath 1:")
