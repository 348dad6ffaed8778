"""Configurations of views: as TOML, as plain lists, what is refused and how it is told, and the way back to a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.errors import ConfigurationError, QueryError
from weft.headers.configuration import (
    Configuration,
    as_configurations,
    configure,
    read_configurations,
    write_configurations,
)
from weft.headers.producer import attach

ONE = """
name = "news"
version = 3
root = "{urn:n}news"
doctype = "-//N//NEWS"
stream = "wire"
views = ["/n:news/n:agency", "/n:news/@date", "//n:topic/text()"]
namespaces = { n = "urn:n" }
"""
SEVERAL = """
[[configuration]]
name = "news"
views = ["/news/agency"]
root = "news"

[[configuration]]
name = "all"
views = ["/*/@id"]
"""


def written(folder: Path, text: str, name: str = "views.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# -- what is read


def test_a_configuration_is_read_with_all_it_has(tmp_path: Path) -> None:
    (found,) = read_configurations(written(tmp_path, ONE))

    assert (found.tag, found.root, found.doctype, found.stream) == ("news/3", "{urn:n}news", "-//N//NEWS", "wire")
    assert [view.text for view in found.views] == ["/n:news/n:agency", "/n:news/@date", "//n:topic/text()"]
    assert found.namespaces == {"n": "urn:n"}


def test_several_configurations_are_tables(tmp_path: Path) -> None:
    found = read_configurations(written(tmp_path, SEVERAL))

    assert [(each.tag, each.root) for each in found] == [("news/1", "news"), ("all/1", None)]


def test_a_file_of_another_kind_is_an_xpath_a_line(tmp_path: Path) -> None:
    text = "\ufeff# what the desk asks for\r\n/news/agency\r\n\n   //topic[1]  \n/news/agency\n"

    (found,) = read_configurations(written(tmp_path, text, "desk.xpath"))

    assert (found.tag, [view.text for view in found.views]) == ("desk/1", ["/news/agency", "//topic[1]"])


@pytest.mark.parametrize("form", [str, Path, read_configurations, lambda path: [*read_configurations(path)]])
def test_configurations_are_given_in_many_forms(tmp_path: Path, form: object) -> None:
    path = written(tmp_path, SEVERAL)

    assert callable(form)
    assert [each.tag for each in as_configurations(form(path))] == ["news/1", "all/1"]
    assert as_configurations(configure("one", [])) == (configure("one", []),)


def test_a_view_that_is_there_twice_is_one() -> None:
    assert len(configure("v", ["/a", "/b", "/a"]).views) == 2


def test_which_documents_a_configuration_is_for() -> None:
    news = configure("v", [], root="news", doctype="NEWS", stream="wire")

    assert news.is_for("news", ("news", "NEWS"), "wire")
    assert not news.is_for("note", ("NEWS",), "wire")
    assert not news.is_for("news", (), "wire")
    assert not news.is_for("news", ("NEWS",), "")
    assert configure("v", []).is_for("any", (), "thing")


# -- what is refused


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name = 'a'\nviews = [", "Invalid value|Unclosed"),
        ("name = " + "[" * 100_000, "maximum recursion depth exceeded"),
        ("views = ['/a']", "expected a name, and views as a list of XPaths"),
        ("name = 'a'", "expected a name, and views as a list of XPaths"),
        ("name = 'a'\nviews = [1]", "expected a name, and views as a list of XPaths"),
        ("name = 'a'\nviews = '/a'", "views: expected list, found '/a'"),
        ("name = 'a'\nveiws = ['/a']", "expected one of name, version, .*, found 'veiws'"),
        ("name = 'a'\nviews = []\nversion = '1'", "version: expected int, found '1'"),
        ("name = 'a'\nviews = []\nversion = true", "version: expected int, found True"),
        ("name = 'a'\nviews = []\nversion = 0", "expected a name without / and a version, found 'a', 0"),
        ("name = 'a/b'\nviews = []", "expected a name without / and a version, found 'a/b', 1"),
        ("name = ''\nviews = []", "expected a name without / and a version, found '', 1"),
        ("name = 'a'\nviews = ['/a[']", "XPath 1:4"),
        ("name = 'a'\nviews = ['/p:a']", "XPath 1:2"),
        ("name = 'a'\nviews = ['/']", "the document itself as a result is not supported"),
        ("name = 'a'\nviews = ['/a | /b']", r"view /a \| /b: expected one path, found several put together"),
        ("name = 'a'\nviews = []\nnamespaces = { p = 5 }", "namespaces: expected a URI for 'p', found 5"),
        ("configuration = 5", r"expected tables \[\[configuration\]\], found something else"),
        ("configuration = []", r"expected tables \[\[configuration\]\], found something else"),
        ("configuration = [5]", r"expected tables \[\[configuration\]\], found something else"),
        ("name = 'a'\n[[configuration]]\nname = 'b'\nviews = []", "alone, found 'name' beside them"),
        (
            "[[configuration]]\nname = 'b'\nviews = []\n[[configuration]]\nname = 'b'\nviews = ['/a']",
            "expected each tag once, found b/1 twice",
        ),
    ],
)
def test_what_is_wrong_is_told_with_the_file(tmp_path: Path, text: str, told: str) -> None:
    path = written(tmp_path, text)

    with pytest.raises(ConfigurationError, match=told) as found:
        read_configurations(path)

    assert str(found.value).startswith(f"{path}: ")


def test_a_line_that_is_no_xpath_is_told_with_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "/a\n/b[\n", "views.xpath")

    with pytest.raises(ConfigurationError, match=r"views\.xpath: XPath 1:4"):
        read_configurations(path)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\xff")

    with pytest.raises(ConfigurationError, match=r"no\.toml: No such file"):
        read_configurations(tmp_path / "no.toml")
    with pytest.raises(ConfigurationError, match=r"binary\.toml: not UTF-8 text"):
        read_configurations(tmp_path / "binary.toml")
    with pytest.raises(ConfigurationError, match="directory"):
        read_configurations(tmp_path)


@pytest.mark.parametrize("views", [[f"/a/b{at}" for at in range(10_001)], [f"/a/b{at}[1]" for at in range(5_001)]])
def test_more_entries_than_a_header_may_have_are_refused(views: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="configuration v: expected at most 10000 views, with one more"):
        configure("v", views)


@pytest.mark.slow
def test_as_many_entries_as_a_header_may_have_are_told() -> None:
    configuration = configure("v", [f"/a/b{at}[1]" for at in range(5_000)])

    (document,) = attach(b"<a><b7/></a>", configuration)

    assert document.header is not None


@pytest.mark.parametrize(
    "view", ["<r>{ for $v in /a return <i/> }</r>", "//a->x JOIN{x = y, infinite} //b->y", "1", ""]
)
def test_what_is_no_xpath_is_no_view(view: str) -> None:
    with pytest.raises((QueryError, ConfigurationError)):
        configure("v", [view])


# -- the way back


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(
    name=TEXTS.filter(lambda name: name != "" and "/" not in name),
    version=st.integers(1, 1 << 40),
    others=st.tuples(*[st.none() | TEXTS] * 3),
    constants=st.lists(TEXTS.filter(lambda text: "'" not in text), max_size=3),
    uri=TEXTS,
)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    version: int,
    others: tuple[str | None, str | None, str | None],
    constants: list[str],
    uri: str,
) -> None:
    views = ["/p:a/@p:x", *(f"/p:a[. = '{text}']" for text in constants)]
    root, doctype, stream = others
    path = tmp_path_factory.mktemp("written") / "views.toml"
    try:
        configuration = configure(
            name, views, version=version, namespaces={"p": uri, "": "u"}, root=root, doctype=doctype, stream=stream
        )
    except QueryError:
        return  # a character that no query may have

    write_configurations([configuration, configure("second", [])], path)

    first, second = read_configurations(path)
    assert first == configuration
    assert first.namespaces == configuration.namespaces
    assert second == configure("second", [])
    assert isinstance(first, Configuration)
