"""Workloads: servers with their queries and documents of the stream in, the problem of choosing views out."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.documents.document import Document
from weft.errors import ConfigurationError
from weft.headers.configuration import configure
from weft.headers.selection.ours import select_views
from weft.headers.selection.workload import ServerQueries, ViewProblem, make_problem, read_workload
from weft.languages import parse


def problem(queries: list[str], *documents: bytes, namespaces: dict[str, str] | None = None) -> ViewProblem:
    server = ServerQueries("desk", tuple(parse(query, None, namespaces) for query in queries))
    given = [Document(data, str(number)) for number, data in enumerate(documents)]
    return make_problem([server], given, parse_seconds=1e-3)


def texts(found: ViewProblem) -> list[str]:
    return [view.expression for view in found.problem.views]


# -- candidates


def test_candidates_are_what_queries_ask_for() -> None:
    found = problem(["/a[b = 1 and @x = 2]", "//c/text()", "/a"], b"<a x='2'><b>1</b></a>")

    assert list(found.expressions) == ["/a/b", "/a/@x", "//c/text()"]
    assert texts(found) == ["/a/b", "/a/@x", "//c/text()"]


def test_an_element_around_several_of_them_is_a_candidate() -> None:
    found = problem(["/a[b/c = 1 and b/d = 2]", "/a[e/f = 1]"], b"<a><b><c>1</c><d>2</d></b><e><f/></e></a>")

    assert texts(found) == ["/a/b/c", "/a/b/d", "/a/e/f", "/a/b"]
    around = [service for service in found.problem.services if service.views == (3,)]
    assert [service.expression for service in around] == [0, 1]
    assert all(service.cost > other.cost for service in around for other in found.problem.services[:3])


def test_positions_are_candidates_of_what_comes_a_few_times() -> None:
    two, four = b"<a><b><c>1</c></b><b><c>2</c></b></a>", b"<a><b>" + b"<d/>" * 4 + b"</b></a>"

    found = problem(["/a[b/c = 1]", "/a/b/d"], two, four)

    assert texts(found) == ["/a/b/c", "/a/b/d", "/a/b", "/a/b/c[1]", "/a/b/c[2]"]
    family = next(service for service in found.problem.services if len(service.views) == 2)
    assert family.expression == 0


def test_how_often_a_view_hits_is_counted_in_the_documents() -> None:
    found = problem(["/a[b = 1]"], b"<a><b>1</b></a>", b"<a/>", b"<a><b>1</b><b>2</b></a>", b"<a><b/><b/><b/></a>")

    exact = found.problem.services[0]

    assert exact.hit == 0.5
    assert found.problem.views[0].bytes == 1.0 + 0.25 * 1.5


def shares(found: ViewProblem) -> dict[str, float | None]:
    """Of one query the share of documents that pass the tests on each expression, in tenths."""
    ((query,),) = [server.queries for server in found.problem.servers]
    of = {found.expressions[part.expression]: part.selectivity for part in query}
    return {text: share if share is None else round(share, 1) for text, share in of.items()}


NINE_AND_ONE = [b"<a x='1'><b>1</b><c>often</c></a>"] * 90 + [b"<a><b>2</b><b>3</b><c>often</c></a>"] * 10


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("/a[b = 2][c = 'often']", {"/a/b": 0.1, "/a/c": 1.0}),
        ("/a[b > 1 and b < 3][@x]", {"/a/b": 0.1, "/a/@x": 0.9}),
        ("/a[b = 2 or c = 'never'][@x = 1]", {"/a/b": None, "/a/c": None, "/a/@x": 0.9}),
        ("/a[not(b = 2)][c = 'never']", {"/a/b": None, "/a/c": 0.0}),
        ("/a[c = 'often']/b", {"/a/c": 1.0, "/a/b": 1.0}),
        ("<r>{ for $v in /a where $v/b = 1 and $v/c = 'never' return $v }</r>", {"/a/b": 0.9, "/a/c": 0.0}),
        ("/a[b = 2]", {"/a/b": None}),
    ],
)
def test_the_share_of_documents_that_pass_the_tests_of_a_query_is_counted(
    query: str, expected: dict[str, float | None]
) -> None:
    assert shares(problem([query], *NINE_AND_ONE)) == expected


@pytest.mark.parametrize("query", ["/a[b = 2][c = 'often']", "/a[c = 'often'][b = 2]"])
def test_of_two_tests_the_view_of_the_one_that_ends_more_documents_is_chosen(query: str) -> None:
    found = problem([query], *NINE_AND_ONE[80:], *NINE_AND_ONE[:9])

    assert found.texts(select_views(found.problem, 1, None).views) == ["/a/b"]


def test_without_documents_every_view_is_thought_to_hit() -> None:
    found = problem(["/a[b = 1]"])

    assert [service.hit for service in found.problem.services] == [1.0]
    assert found.problem.parse_cost == 1e-3


def test_documents_that_cannot_be_read_are_left_out() -> None:
    found = problem(["/a[b = 1]"], b"<a>", b"<a><b/></a>")

    assert found.problem.services[0].hit == 1.0


def test_names_in_namespaces_are_written_with_prefixes_that_the_configuration_has() -> None:
    found = problem(
        ["/p:a[q:b = 1]", "/a/c"],
        b"<a xmlns='urn:p'><b xmlns='urn:q'>1</b></a>",
        namespaces={"p": "urn:p", "q": "urn:q"},
    )
    configuration = configure("v", found.texts(range(len(found.problem.views))), namespaces=found.namespaces)

    assert texts(found) == ["/n1:a/n2:b", "/a/c"]
    assert found.namespaces == {"n1": "urn:p", "n2": "urn:q"}
    assert len(configuration.views) == 2


@pytest.mark.parametrize(
    "query",
    [
        "/a/*[b = 1]",
        "/a/b[last()]",
        "/*[not(self::a)]/b",
        "//a[.//b]",
        "/a | /b/c",
        "<r>{ for $v in /a for $w in $v/b where $v/c = 1 or $w/d = 2 return <i>{ $w }</i> }</r>",
        "//a[b->x] FOLLOWED BY{x = y, 3 documents} //c->y",
        "/a[position() > 1]",
        "/a[b[2]/c = 1 and b[1]/c = 2]",
        "/a/b[c][2]/d",
        "/a[count(b) > 2]",
        "//text()",
        "/a//@*",
        "/a/*:b",
    ],
)
def test_every_query_can_be_part_of_a_workload(query: str) -> None:
    found = problem([query], b"<a><b>1</b><b><c>1</c><c>2</c></b></a>", b"<c/>")

    chosen = select_views(found.problem, None, None).views
    configure("v", found.texts(range(len(found.problem.views))), namespaces=found.namespaces)
    assert set(chosen) <= set(range(len(found.problem.views)))


def test_the_paper_s_instance_is_the_same_without_what_lies_around() -> None:
    servers = [
        ServerQueries("one", (parse("/a[b = 1]"), parse("/a[c = 1]")), 5.0),
        ServerQueries("two", (parse("/a[c = 1]"),), 7.0),
    ]

    instance = make_problem(servers, []).instance()

    assert instance.expressions == ("/a/b", "/a/c")
    assert instance.servers == (frozenset({0, 1}), frozenset({1}))
    assert [instance.weight(number) for number in range(2)] == [5.0, 7.0]


# -- files


def test_a_workload_is_a_server_a_line(tmp_path: Path) -> None:
    path = tmp_path / "servers.jsonl"
    path.write_text(
        '\ufeff{"server": "desk", "documents": 5000, "queries": ["/a[b = 1]", "//c"]}\n\n{"queries": ["/p:a"]}\r\n',
        encoding="utf-8",
    )

    desk, other = read_workload(path, {"p": "urn:p"})

    assert (desk.name, desk.documents, len(desk.plans)) == ("desk", 5000.0, 2)
    assert (other.name, other.documents, len(other.plans)) == (f"{path}:3", 1.0, 1)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "expected a JSON object, found"),
        ("5", 'expected "queries" as a list of texts, found 5'),
        ("[]", 'expected "queries" as a list of texts, found'),
        ("{}", 'expected "queries" as a list of texts, found {}'),
        ('{"queries": "/a"}', 'expected "queries" as a list of texts, found'),
        ('{"queries": [5]}', 'expected "queries" as a list of texts, found'),
        ('{"queries": [], "documents": "many"}', "expected a number of \"documents\", found 'many'"),
        ('{"queries": [], "documents": -1}', 'expected a number of "documents", found -1'),
        ('{"queries": [], "documents": NaN}', 'expected a number of "documents", found nan'),
        ('{"queries": [], "documents": Infinity}', 'expected a number of "documents", found inf'),
        (f'{{"queries": [], "documents": 1{"0" * 400}}}', 'expected a number of "documents", found 1000'),
        ('{"queries": [], "document": 5}', "expected the keys server, documents, queries, found 'document'"),
        ("[" * 100_000, "expected a JSON object, found"),
        ('{"queries": [], "documents": true}', 'expected a number of "documents", found True'),
        ('{"queries": ["/a["]}', "XPath 1:4"),
        ('{"queries": ["/p:a"]}', "XPath 1:2"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, line: str, told: str) -> None:
    path = tmp_path / "servers.jsonl"
    path.write_text(f'{{"queries": []}}\n{line}\n')

    with pytest.raises(ConfigurationError) as found:
        read_workload(path)

    assert str(found.value).startswith(f"{path}:2: ")
    assert told in str(found.value)


def test_a_workload_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xff")

    with pytest.raises(ConfigurationError, match="missing: No such file"):
        read_workload(tmp_path / "missing")
    with pytest.raises(ConfigurationError, match="binary: not UTF-8 text"):
        read_workload(tmp_path / "binary")
