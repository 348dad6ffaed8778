"""`weft header` and `weft views select`: what is printed and written, what is refused, and with which exit code."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from weft.cli import app
from weft.headers.configuration import read_configurations
from weft.headers.header import decode

Write = Callable[[str, str | bytes], str]


def run(*arguments: object, stdin: str | bytes | None = None) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes a file into a folder of its own, which is also where the command runs."""
    monkeypatch.chdir(tmp_path)

    def make(name: str, content: str | bytes) -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return name

    return make


# -- weft header


def test_a_header_is_shown_with_its_offsets_and_reasons(write: Write) -> None:
    views = write("views.xpath", "/a/b\n/a/@x\n/a/c\n/a/d\n/a/d[1]\n")
    document = write("one.xml", "<a x='1'><b/><d/><d/></a>")

    result = run("header", "--views", views, document)

    (line,) = lines(result)
    assert result.exit_code == 0
    assert line["document"] == "one.xml"
    assert line["configuration"] == "views/1"
    assert line["views"] == {"/a/b": 9, "/a/@x": 3, "/a/c": "absent", "/a/d": "several", "/a/d[1]": 13}
    assert len(decode(line["header"]).encode()) == line["bytes"]


def test_hidden_views_are_shown_as_such(write: Write) -> None:
    views = write("views.xpath", "/a/b\n")
    document = write("one.xml", "<!DOCTYPE a [<!ENTITY e 'x'>]><a><b>&e;</b></a>")

    assert lines(run("header", "--views", views, document))[0]["views"] == {"/a/b": "hidden"}


def test_headers_are_also_written_in_their_binary_form(write: Write, tmp_path: Path) -> None:
    views = write("views.xpath", "/a/b\n")
    write("in/one.xml", "<a><b/></a>")
    write("in/two.xml", "<a/>")

    result = run("header", "--views", views, "--output", "out", "in")

    shown = {line["document"]: line["header"] for line in lines(result)}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["one.xml.views", "two.xml.views"]
    for name, text in shown.items():
        assert decode((tmp_path / "out" / f"{Path(name).name}.views").read_bytes()) == decode(text)


def test_a_document_that_no_configuration_is_for_has_none(write: Write) -> None:
    views = write("views.toml", "name = 'v'\nviews = ['/a']\nroot = 'a'\n")
    write("in/1.xml", "<a/>")
    write("in/2.xml", "<b/>")

    first, second = lines(run("header", "--views", views, "in"))

    assert first["configuration"] == "v/1"
    assert second == {"document": second["document"], "header": None}


def test_the_first_configuration_that_is_for_a_document_is_used(write: Write) -> None:
    table = "[[configuration]]\nname = '{0}'\nviews = ['/{0}/x']\nroot = '{0}'\n"
    views = write("views.toml", table.format("a") + table.format("b"))
    write("in/1.xml", "<a/>")
    write("in/2.xml", "<b/>")

    assert [line["configuration"] for line in lines(run("header", "--views", views, "in"))] == ["a/1", "b/1"]


def test_a_document_that_cannot_be_read_is_told_and_the_others_have_theirs(write: Write) -> None:
    views = write("views.xpath", "/a\n")
    write("in/1.xml", "<a>")
    write("in/2.xml", "<a/>")

    result = run("header", "--views", views, "in")

    assert result.exit_code == 1
    assert "1.xml" in result.stderr
    assert [Path(line["document"]).name for line in lines(result)] == ["2.xml"]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("views.xpath", "/a[\n", "XPath 1:4"),
        ("views.toml", "name = 'a'", "expected a name, and views as a list of XPaths"),
        ("views.toml", "name = [", "views.toml: "),
        ("views.toml", b"\xff", "not UTF-8 text"),
    ],
)
def test_views_that_cannot_be_read_are_told(write: Write, name: str, content: str | bytes, told: str) -> None:
    document = write("one.xml", "<a/>")

    result = run("header", "--views", write(name, content), document)

    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stdout == ""


def test_views_and_documents_must_be_there(write: Write) -> None:
    document = write("one.xml", "<a/>")

    missing, nothing = run("header", "--views", "none.toml", document), run("header", document)

    assert (missing.exit_code, nothing.exit_code) == (2, 2)
    assert "none.toml: No such file" in missing.stderr
    assert "--views" in nothing.stderr


# -- weft views select

WORKLOAD = "\n".join(
    [
        '{"server": "desk", "documents": 5000, "queries": ["/a[b = 1 and c = 2]"]}',
        '{"server": "archive", "documents": 10, "queries": ["/a[d = 1]", "/a/b"]}',
        '{"queries": ["/a[c = 3]"]}',
    ]
)


@pytest.mark.parametrize("method", ["ours", "greedy", "optimum"])
def test_views_are_chosen_and_written(write: Write, tmp_path: Path, method: str) -> None:
    workload, document = write("servers.jsonl", WORKLOAD), write("one.xml", "<a><b>1</b><c>2</c><d>3</d></a>")

    result = run(
        *("views", "select", "--workload", workload, "--size", 2, "--documents", document),
        *("--method", method, "--name", "news", "--version", 4, "--output", "views.toml"),
    )

    (found,) = read_configurations(tmp_path / "views.toml")
    assert result.exit_code == 0
    assert found.tag == "news/4"
    assert {view.text for view in found.views} == {"/a/b", "/a/c"}
    assert "2 views; 2 of 3 expressions have their own" in result.stdout


def test_without_bounds_as_many_views_are_chosen_as_pay(write: Write) -> None:
    workload, document = write("servers.jsonl", WORKLOAD), write("one.xml", "<a><b>1</b><c>2</c><d>3</d></a>")

    result = run("views", "select", "--workload", workload, "--documents", document)

    assert result.exit_code == 0
    assert "3 views; 3 of 3 expressions have their own" in result.stdout


def test_bytes_bound_the_views_too(write: Write) -> None:
    workload, document = write("servers.jsonl", WORKLOAD), write("one.xml", "<a><b>1</b><c>2</c><d>3</d></a>")

    result = run("views", "select", "--workload", workload, "--documents", document, "--max-bytes", 5)

    assert "2 views; 2 of 3 expressions have their own" in result.stdout


@pytest.mark.parametrize(("bandwidth", "views"), [("125MB", 3), ("400kB/s", 2), ("100B", 0)])
def test_the_slower_the_links_the_fewer_views_pay(write: Write, bandwidth: str, views: int) -> None:
    workload, document = write("servers.jsonl", WORKLOAD), write("one.xml", "<a><b>1</b><c>2</c><d>3</d></a>")

    result = run("views", "select", "--workload", workload, "--documents", document, "--bandwidth", bandwidth)

    assert f"{views} views; {views} of 3 expressions have their own" in result.stdout


NETWORK = """
links = ["one -> two"]
source = [{ name = "in", server = "one" }]
server = [{ name = "one" }, { name = "two", subscriptions = ["/a[b = 1]"] }]
"""


@pytest.mark.parametrize(
    ("told", "options", "views"), [("", [], 1), ("bandwidth = 1\n", [], 0), ("", ["--bandwidth", "1B"], 0)]
)
def test_views_are_chosen_for_all_that_the_servers_of_a_network_ask(
    write: Write, told: str, options: list[str], views: int
) -> None:
    """The server inside asks for what is behind it: that is what two servers ask for, over one link."""
    topology, document = write("net.toml", told + NETWORK), write("one.xml", "<a><b>1</b></a>")

    result = run("views", "select", "--topology", topology, "--documents", document, *options)

    assert result.exit_code == 0
    assert f"{views} views; {views} of 1 expressions" in result.stdout
    assert ("/a/b  2" in " ".join(result.stdout.split(" ")).replace("   ", " ")) is bool(views)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "expected --workload or --topology, found neither"),
        (["--workload", "servers.jsonl", "--topology", "net.toml"], "expected --workload or --topology, found both"),
        (["--topology", "net.toml"], "--topology: expected --documents"),
        (["--workload", "servers.jsonl", "--bandwidth", "fast"], "--bandwidth: expected a size"),
        (["--workload", "servers.jsonl", "--bandwidth", "0"], "--bandwidth: expected a size"),
    ],
)
def test_whom_views_are_for_must_be_clear(write: Write, options: list[str], told: str) -> None:
    write("servers.jsonl", WORKLOAD)
    write("net.toml", NETWORK)

    result = run("views", "select", *options)

    assert result.exit_code == 2
    assert told in result.stderr


def test_what_is_chosen_is_what_weft_header_reads(write: Write) -> None:
    workload = write("servers.jsonl", '{"queries": ["/p:a[p:b = 1]"]}')
    document = write("one.xml", "<a xmlns='urn:p'><b>1</b></a>")

    chosen = run(
        *("views", "select", "--workload", workload, "--documents", document),
        *("--output", "views.toml", "--namespace", "p=urn:p"),
    )
    (line,) = lines(run("header", "--views", "views.toml", document))

    assert chosen.exit_code == 0
    assert line["configuration"] == "views/1"
    assert set(line["views"].values()) == {17}


def test_a_workload_without_queries_needs_no_views(write: Write, tmp_path: Path) -> None:
    result = run("views", "select", "--workload", write("servers.jsonl", ""), "--output", "views.toml")

    assert result.exit_code == 0
    assert read_configurations(tmp_path / "views.toml")[0].views == ()


@pytest.mark.parametrize("method", ["greedy", "optimum"])
def test_methods_of_the_paper_need_a_size(write: Write, method: str) -> None:
    result = run("views", "select", "--workload", write("servers.jsonl", WORKLOAD), "--method", method)

    assert result.exit_code == 2
    assert f"--method {method}: expected --size, found none" in result.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "servers.jsonl:1: expected a JSON object"),
        ('{"queries": ["/a["]}', "servers.jsonl:1: XPath 1:4"),
        ('{"queries": 1}', 'servers.jsonl:1: expected "queries" as a list of texts'),
    ],
)
def test_a_workload_that_cannot_be_read_is_told(write: Write, content: str, told: str) -> None:
    result = run("views", "select", "--workload", write("servers.jsonl", content))

    assert result.exit_code == 2
    assert told in result.stderr


@pytest.mark.parametrize(
    "options",
    [["--size", "-1"], ["--max-bytes", "-1"], ["--version", "0"], ["--method", "best"], ["--name", "a/b"], []],
)
def test_options_that_make_no_sense_are_refused(write: Write, options: list[str]) -> None:
    workload = [] if not options else ["--workload", write("servers.jsonl", WORKLOAD)]

    result = run("views", "select", *workload, *options)

    assert result.exit_code == 2


def test_documents_that_cannot_be_read_are_left_out(write: Write) -> None:
    workload = write("servers.jsonl", WORKLOAD)
    write("in/1.xml", "<a>")
    write("in/2.xml", "<a><b/></a>")

    result = run("views", "select", "--workload", workload, "--documents", "in")

    assert result.exit_code == 0


# -- weft explain --views


def test_it_is_told_which_subscriptions_a_configuration_serves(write: Write) -> None:
    views = write("views.xpath", "/a/b\n")
    queries = write("queries.xpath", "/a[b = 1]\n/a[b = 1]/c\n//c\n")

    told = run("explain", "--views", views, queries).stdout
    alone = run("explain", "--views", views, "--id", "2", queries).stdout

    assert "views/1: 1 views serve 1 subscriptions in full, 1 in part, 1 not at all" in told
    assert "nothing of what it asks for: 3\n" in told
    assert "headers: views/1 has some of what it asks for" in alone
    assert "headers" not in run("explain", queries).stdout


def test_a_file_of_views_that_cannot_be_read_is_told(write: Write) -> None:
    result = run("explain", "--views", "nowhere.toml", write("queries.xpath", "/a\n"))

    assert result.exit_code == 2
    assert "nowhere.toml" in result.stderr


def test_headers_of_documents_with_the_same_name_do_not_replace_each_other(write: Write) -> None:
    views = write("views.xpath", "/a/b\n")
    write("one/x.xml", "<a><b/></a>")
    write("two/x.xml", "<a><c/><b/></a>")

    result = run("header", "--views", views, "--output", "made", "one", "two")

    assert result.exit_code == 2
    assert "expected one document of this name, found one/x.xml and two/x.xml" in result.stderr
    assert decode(Path("made/x.xml.views").read_bytes()).entries == (3,)


def test_views_that_are_selected_without_the_documents_asked_for_exit_with_1(write: Write) -> None:
    workload = write("servers.jsonl", '{"queries": ["/a[b = 1]"]}\n')

    result = run("views", "select", "--workload", workload, "--documents", "nowhere")

    assert result.exit_code == 1
    assert "nowhere" in result.stderr
